"""The command simulate: the motion of a model, its events, pictures and films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._declare import Event
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_tree import MotionTree, MotionTreeStatus
from zwang._simulate import simulate
from zwang.cli.option_values import Words, number
from zwang.cli.output import NO_ANSWER
from zwang.cli.progress import progress
from zwang.cli.request import IMPACT, PERMILLE, Request, command, draw, path_option, plainly
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang simulate sleigh_ahead --until 3
  zwang simulate ellipse_pendulum --until 10 --at-singular straight --film pendulum.html
  zwang simulate model.toml --until 10 --out motion.nc --plot motion.png --show energy
"""


def policy_options(asking: Any) -> Any:
    """Give a command the options that say what to do where the laws leave a choice."""
    for name, second, words in (
        ("--at-singular", "straight", "At singular points."),
        ("--at-choice", "keep mode", "Where there are several."),
        ("--at-paradox", "impact", "Where no reaction exists."),
    ):
        kinds = Words(["stop", second, "realize", "every"])
        asking = click.option(name, type=kinds, default="stop", show_default=True, help=words)(asking)
    return asking


@command("simulate", EXAMPLES, inputs=True, out="the motion", table=True, plot="the motion")
@click.option("--until", required=True, metavar="TIME", help="When to stop [s].")
@click.option("--tol", default=1e-10, show_default=True, help="Relative tolerance of the steps.")
@click.option(
    "--method", type=Words(["events", "timestepping", "auto"]), default="events", show_default=True,
    help="How it moves.",
)  # fmt: skip
@click.option("--step", type=float, help="Step of --method timestepping [s].")
@click.option("--project", is_flag=True, help="Move the state first onto its constraints, by the least change.")
@click.option("--event", "events", multiple=True, metavar="NAME=EXPRESSION", help="Log when an expression passes zero.")
@click.option("--stop-at", "stops", multiple=True, metavar="NAME=EXPRESSION", help="The same, and stop there.")
@IMPACT
@policy_options
@click.option("--most", default=64, show_default=True, help="Motions of a tree at most, where every way is followed.")
@click.option(
    "--show", "shown", multiple=True, help="What --plot draws: positions, velocities, energy, work, reactions, a name."
)
@path_option("--film", "film", "Write a film: .html (plays offline), .gif or .mp4.")
def simulate_(
    asked: Request,
    until: str,
    project: bool,
    step: float | None,
    events: tuple[str, ...],
    stops: tuple[str, ...],
    shown: tuple[str, ...],
    film: Path | None,
    **options: Any,
) -> None:
    """How a model moves: its events, where it ends, and why it stopped.

    Numbers may be expressions such as pi/3. Exit code 1: the motion stopped before its time.
    """
    start, last = asked.state, number(until, "--until")
    watched = [_event(text, "--event", stop=False) for text in events]
    watched += [_event(text, "--stop-at", stop=True) for text in stops]
    options |= {"step": step} if step is not None else {}
    begin = float(start.get("t", 0.0))
    with progress(f"motion of {asked.system.name}", PERMILLE) as show:
        motion = simulate(
            asked.model,
            start,
            asked.params,
            until=last,
            start="project" if project else None,
            events=watched,
            budget=asked.budget,
            inputs=asked.inputs,
            progress=lambda time: show(int(PERMILLE * (time - begin) / (last - begin)), f"t = {time:.4g}"),
            **options,
        )
    asked.write(motion, lambda one, path: draw(one, path, *shown))
    if isinstance(motion, MotionTree):
        if film is not None:
            raise DeclarationError("--film shows one motion; with 'every' there are several. Use --plot for the tree.")
        good = motion.status is MotionTreeStatus.REACHED
    else:
        good = motion.status is MotionStatus.REACHED
        asked.files.write(film, motion.animate)
    asked.tell(motion, _plain)
    asked.files.end(0 if good else NO_ANSWER)


def _plain(found: Motion | MotionTree) -> dict[str, Any]:
    """Return a motion, or every motion of a tree, as plain data for JSON."""
    if isinstance(found, MotionTree):
        each = [{**as_plain(one), "parent": one.parent, "taken": one.taken} for one in found]
        return {**plainly("name", "reason")(found), "motions": each}
    return as_plain(found)


def _event(text: str, option: str, *, stop: bool) -> Event:
    name, equals, expr = text.partition("=")
    if not equals or not name.strip() or not expr.strip():
        raise DeclarationError(f"{option} needs name=expression, such as {option} top=v_y; it was given '{text}'.")
    return Event(expr.strip(), stop=stop, name=name.strip())


def as_plain(motion: Motion) -> dict[str, Any]:
    """Return a motion as plain data for JSON."""
    of_events = ("time", "kind", "constraint", "name", "energy")
    return {
        **plainly("name", "reason", "end", "t", "reactions", "energy", "drift", "residual")(motion),
        "events": [{name: getattr(event, name) for name in of_events} for event in motion.events],
        "continuations": [item.sentence for item in motion.continuations],
        "q": dict(zip(motion.coordinates, motion.q.T, strict=True)),
        "v": dict(zip(motion.velocities, motion.v.T, strict=True)),
    }
