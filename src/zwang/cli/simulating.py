"""The command simulate: the motion of a model, its events, pictures and films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._declare import Event
from zwang._plot import new_figure
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_tree import MotionTree, MotionTreeStatus
from zwang._simulate import simulate
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.progress import progress
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    Words,
    budget_from,
    budget_option,
    in_radians,
    input_option,
    inputs_from,
    number,
    require_known,
    values_from,
)
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang simulate sleigh_ahead --until 3
  zwang simulate ellipse_pendulum --until 10 --at-singular straight --film pendulum.html
  zwang simulate model.toml --until 10 --out motion.nc --plot motion.png --show energy
"""
PERMILLE = 1000  # steps of a progress bar


@click.command("simulate", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--until", required=True, metavar="TIME", help="When to stop [s].")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@click.option("--tol", default=1e-10, show_default=True, help="Relative tolerance of the steps.")
@click.option(
    "--method",
    type=Words(["events", "timestepping", "auto"]),
    default="events",
    show_default=True,
    help="How it moves.",
)
@click.option("--step", type=float, help="Step of --method timestepping [s].")
@click.option("--project", is_flag=True, help="Move the state first onto its constraints, by the least change.")
@click.option("--event", "events", multiple=True, metavar="NAME=EXPRESSION", help="Log when an expression passes zero.")
@click.option("--stop-at", "stops", multiple=True, metavar="NAME=EXPRESSION", help="The same, and stop there.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option(
    "--at-paradox",
    type=Words(["stop", "impact", "realize", "every"]),
    default="stop",
    show_default=True,
    help="Where no reaction exists.",
)
@click.option(
    "--at-choice",
    type=Words(["stop", "keep mode", "realize", "every"]),
    default="stop",
    show_default=True,
    help="Where there are several.",
)
@click.option(
    "--at-singular",
    type=Words(["stop", "straight", "realize", "every"]),
    default="stop",
    show_default=True,
    help="At singular points.",
)
@click.option("--most", default=64, show_default=True, help="Motions of a tree at most, where every way is followed.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the motion: .npz, or .nc with the extra io.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table of it: .csv.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the motion: .png, .svg or .pdf.")
@click.option(
    "--show", "shown", multiple=True, help="What --plot draws: positions, velocities, energy, work, reactions, a name."
)
@click.option("--film", type=click.Path(path_type=Path), help="Write a film: .html (plays offline), .gif or .mp4.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout: events, the end, every row.")
@tell_mistakes
def simulate_(
    model: str,
    until: str,
    state: tuple[str, ...],
    params: tuple[str, ...],
    driving: tuple[str, ...],
    degrees: bool,
    tol: float,
    method: str,
    step: float | None,
    project: bool,
    events: tuple[str, ...],
    stops: tuple[str, ...],
    impact: str | None,
    at_paradox: str,
    at_choice: str,
    at_singular: str,
    most: int,
    budget: tuple[str, ...],
    out: Path | None,
    table: Path | None,
    picture: Path | None,
    shown: tuple[str, ...],
    film: Path | None,
    json_: bool,
) -> None:
    """How a model moves: its events, where it ends, and why it stopped.

    Numbers may be expressions such as pi/3. Exit code 1: the motion stopped before its time.
    """
    files = Files(out=out, table=table, picture=picture, film=film)
    found = find_model(model)
    system = found.system
    given, values = values_from(state, "--state"), values_from(params, "--param")
    of_state = ["t", *(item.name for item in (*system.coordinates, *system.velocities))]
    require_known(system, given, of_state, "--state")
    require_known(system, values, [item.name for item in system.parameters], "--param")
    if degrees:
        given = in_radians(system, given)
    start, last = found.state | given, number(until, "--until")
    asked = [_event(text, "--event", stop=False) for text in events]
    asked += [_event(text, "--stop-at", stop=True) for text in stops]
    options: dict[str, Any] = {"step": step} if step is not None else {}
    begin = float(start.get("t", 0.0))
    with progress(f"motion of {system.name}", PERMILLE) as show:
        motion = simulate(
            compile(system),
            start,
            found.params | values,
            until=last,
            tol=tol,
            method=method,
            start="project" if project else None,
            events=asked,
            impact=impact,
            at_paradox=at_paradox,
            at_choice=at_choice,
            at_singular=at_singular,
            most=most,
            budget=budget_from(budget),
            inputs=inputs_from(driving),
            progress=lambda time: show(int(PERMILLE * (time - begin) / (last - begin)), f"t = {time:.4g}"),
            **options,
        )
    files.write(out, motion.save)
    files.write(table, motion.to_csv)
    files.write(picture, lambda path: _draw(motion, path, shown))
    if isinstance(motion, MotionTree):
        if film is not None:
            raise DeclarationError("--film shows one motion; with 'every' there are several. Use --plot for the tree.")
        return _end_of_tree(motion, files, json_)
    files.write(film, motion.animate)
    if json_:
        print_json(as_plain(motion))
    else:
        tell(repr(motion))
    return files.end(0 if motion.status is MotionStatus.REACHED else NO_ANSWER)


def _end_of_tree(tree: MotionTree, files: Files, json_: bool) -> None:
    """Show a tree of motions: its list, or every motion as JSON."""
    if json_:
        each = [{**as_plain(one), "parent": one.parent, "taken": one.taken} for one in tree]
        print_json({"name": tree.name, "status": tree.status.name, "reason": tree.reason, "motions": each})
    else:
        tell(repr(tree))
    files.end(0 if tree.status is MotionTreeStatus.REACHED else NO_ANSWER)


def _event(text: str, option: str, *, stop: bool) -> Event:
    name, equals, expr = text.partition("=")
    if not equals or not name.strip() or not expr.strip():
        raise DeclarationError(f"{option} needs name=expression, such as {option} top=v_y; it was given '{text}'.")
    return Event(expr.strip(), stop=stop, name=name.strip())


def _draw(motion: Motion | MotionTree, path: Path, shown: tuple[str, ...]) -> None:
    figure, ax = new_figure()
    motion.plot(*shown, ax=ax)
    write_picture(figure, path)


def as_plain(motion: Motion) -> dict[str, Any]:
    """Return a motion as plain data for JSON."""
    return {
        "name": motion.name,
        "status": motion.status.name,
        "reason": motion.reason,
        "events": [
            {
                "time": event.time,
                "kind": event.kind,
                "constraint": event.constraint,
                "name": event.name,
                "energy": event.energy,
            }
            for event in motion.events
        ],
        "continuations": [item.sentence for item in motion.continuations],
        "end": motion.end,
        "t": motion.t,
        "q": dict(zip(motion.coordinates, motion.q.T, strict=True)),
        "v": dict(zip(motion.velocities, motion.v.T, strict=True)),
        "reactions": dict(motion.reactions),
        "energy": dict(motion.energy),
        "drift": motion.drift,
        "residual": motion.residual,
    }
