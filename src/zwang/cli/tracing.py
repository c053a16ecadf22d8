"""The commands trace and critical: the configuration space, and where a parameter makes it singular."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from zwang._plot import new_figure
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.configuration_text import summary
from zwang._results.critical import CriticalValue
from zwang._trace import critical, trace
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    assigned,
    budget_from,
    budget_option,
    input_option,
    inputs_from,
    number,
    values_from,
)
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang trace four_bar
  zwang trace ellipse_pendulum --param a=-0.4 --plot space.png
  zwang trace crossing --box x=-1:1 --box y=-1:1 --json
"""


@click.command("trace", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option("--box", "sides", multiple=True, metavar="NAME=LOW:HIGH", help="Bounds of a coordinate; several times.")
@click.option(
    "--search",
    type=click.Choice(["sampled", "exhaustive"]),
    default="sampled",
    show_default=True,
    help="Many starts, or subdivision of the box with proofs.",
)
@click.option(
    "--resolution", metavar="NUMBER", help="Of surfaces: the longest edge. Default: a fiftieth of the diameter."
)
@click.option("--time", "instant", metavar="NUMBER", help="The instant, for constraints with explicit time [s].")
@click.option("--seed", default=0, show_default=True, help="Of the random starts.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table of it: .csv.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the space: .png, .svg or .pdf.")
@click.option("--axes", "chosen", metavar="X,Y[,Z]", help="With --plot: the coordinates to draw, three for a surface.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def trace_(
    model: str,
    params: tuple[str, ...],
    driving: tuple[str, ...],
    sides: tuple[str, ...],
    search: str,
    resolution: str | None,
    instant: str | None,
    seed: int,
    budget: tuple[str, ...],
    out: Path | None,
    table: Path | None,
    picture: Path | None,
    chosen: str | None,
    json_: bool,
) -> None:
    """The configuration space: arcs or a surface, singular points with their kind, components.

    Exit code 1: no configuration satisfies the constraints, or not all could be resolved.
    """
    if chosen is not None and picture is None:
        raise DeclarationError("--axes goes with --plot, which draws coordinates over each other.")
    names = [name.strip() for name in chosen.split(",")] if chosen is not None else []
    if chosen is not None and len(names) not in (2, 3):
        raise DeclarationError(
            f"--axes needs two coordinates, such as --axes x,y, or three for a surface; it was given '{chosen}'."
        )
    files = Files(out=out, table=table, picture=picture)
    found = find_model(model)
    box = box_from(sides, "--box")
    t = None if instant is None else number(instant, "--time")
    values = found.params | values_from(params, "--param")
    space = trace(
        found.system,
        values,
        box=box or None,
        search=search,
        resolution=None if resolution is None else number(resolution, "--resolution"),
        t=t,
        seed=seed,
        budget=budget_from(budget),
        inputs=inputs_from(driving),
    )
    files.write(out, space.save)
    files.write(table, space.to_csv)
    files.write(picture, lambda path: _draw(space, path, names))
    if json_:
        print_json(summary(space))
    else:
        tell(repr(space))
    files.end(NO_ANSWER if space.status in (TraceStatus.EMPTY, TraceStatus.UNFINISHED) else 0)


def _draw(space: ConfigurationSpace, path: Path, names: list[str]) -> None:
    solid = space.surface is not None and len(space.coordinates) > 2
    if len(names) == 3 and not solid:
        raise DeclarationError(
            "--axes needs two coordinates here: three are for surfaces in at least three coordinates."
        )
    figure, ax = new_figure((6.4, 4.6), solid=solid)
    space.plot(*names, ax=ax)
    write_picture(figure, path)


CRITICAL = """\b
Examples:
  zwang critical ellipse_pendulum --vary a --within -0.8:-0.2
  zwang critical four_bar --vary l1 --within 0.5:2 --json
"""


@click.command("critical", cls=Assignments, epilog=CRITICAL)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--vary", required=True, metavar="NAME", help="The parameter.")
@click.option("--within", required=True, metavar="LOW:HIGH", help="The interval that is searched.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option("--box", "sides", multiple=True, metavar="NAME=LOW:HIGH", help="Bounds of a coordinate; several times.")
@click.option("--time", "instant", metavar="NUMBER", help="The instant, for constraints with explicit time [s].")
@click.option("--seed", default=0, show_default=True, help="Of the random starts.")
@budget_option
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def critical_(
    model: str,
    vary: str,
    within: str,
    params: tuple[str, ...],
    driving: tuple[str, ...],
    sides: tuple[str, ...],
    instant: str | None,
    seed: int,
    budget: tuple[str, ...],
    json_: bool,
) -> None:
    """Values of a parameter at which the configuration space becomes singular, and what changes there.

    Exit code 1: a budget was spent before the search had ended.
    """
    found = find_model(model)
    t = None if instant is None else number(instant, "--time")
    answer = critical(
        found.system, found.params | values_from(params, "--param"), vary=vary,
        within=_bounds(vary, within, "--within"), box=box_from(sides, "--box") or None, t=t, seed=seed,
        budget=budget_from(budget), inputs=inputs_from(driving),
    )  # fmt: skip
    if json_:
        print_json({"status": answer.status.name, "reason": answer.reason, "values": [_told(item) for item in answer]})
    else:
        tell("\n".join(repr(item) for item in answer) or f"{found.system.name}: no critical value of {vary} was found.")
        if answer.reason:
            tell(answer.reason)
    Files().end(NO_ANSWER if answer.reason else 0)


def _told(item: CriticalValue) -> dict[str, Any]:
    shapes = {side: getattr(item, side) for side in ("before", "at", "after")}
    return {
        "value": item.value,
        "kinds": list(item.kinds),
        "points": [dict(point) for point in item.points],
        "change": item.change,
        **{side: None if shape is None else asdict(shape) for side, shape in shapes.items()},
    }


def box_from(texts: tuple[str, ...], option: str) -> dict[str, tuple[float, float]]:
    """Return name -> (low, high) from texts such as 'x=-1:1'."""
    return {name: _bounds(name, text, option) for name, text in assigned(texts, option).items()}


def _bounds(name: str, text: str, option: str) -> tuple[float, float]:
    parts = text.split(":")
    if len(parts) != 2:
        raise DeclarationError(f"{option} {name} needs low:high, such as {option} {name}=-1:1; it was given '{text}'.")
    return number(parts[0], f"{option} {name}"), number(parts[1], f"{option} {name}")
