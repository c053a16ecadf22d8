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
from zwang.cli.answer_files import write_picture
from zwang.cli.option_values import assigned, number
from zwang.cli.output import NO_ANSWER, print_json, tell
from zwang.cli.request import BOX, SEARCH, SEED, TIME, Request, command, number_at
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang trace four_bar
  zwang trace ellipse_pendulum --param a=-0.4 --plot space.png
  zwang trace crossing --box x=-1:1 --box y=-1:1 --json
"""


@command("trace", EXAMPLES, state="", inputs=True, out="the result", table=True, plot="the space")
@BOX
@SEARCH
@click.option(
    "--resolution", metavar="NUMBER", help="Of surfaces: the longest edge. Default: a fiftieth of the diameter."
)
@TIME
@SEED
@click.option("--axes", "chosen", metavar="X,Y[,Z]", help="With --plot: the coordinates to draw, three for a surface.")
def trace_(
    asked: Request,
    sides: tuple[str, ...],
    search: str,
    resolution: str | None,
    instant: str | None,
    seed: int,
    chosen: str | None,
) -> None:
    """The configuration space: arcs or a surface, singular points with their kind, components.

    Exit code 1: no configuration satisfies the constraints, or not all could be resolved.
    """
    if chosen is not None and asked.picture is None:
        raise DeclarationError("--axes goes with --plot, which draws coordinates over each other.")
    names = [name.strip() for name in chosen.split(",")] if chosen is not None else []
    if chosen is not None and len(names) not in (2, 3):
        raise DeclarationError(
            f"--axes needs two coordinates, such as --axes x,y, or three for a surface; it was given '{chosen}'."
        )
    space = trace(
        asked.system, asked.params, box=box_from(sides, "--box") or None, search=search, seed=seed,
        resolution=number_at(resolution, "--resolution"), t=number_at(instant, "--time"), budget=asked.budget,
        inputs=asked.inputs,
    )  # fmt: skip
    good = space.status not in (TraceStatus.EMPTY, TraceStatus.UNFINISHED)
    asked.end(space, summary, good=good, drawn=lambda one, path: _draw(one, path, names))


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


@command("critical", CRITICAL, state="", inputs=True)
@click.option("--vary", required=True, metavar="NAME", help="The parameter.")
@click.option("--within", required=True, metavar="LOW:HIGH", help="The interval that is searched.")
@BOX
@TIME
@SEED
def critical_(asked: Request, vary: str, within: str, sides: tuple[str, ...], instant: str | None, seed: int) -> None:
    """Values of a parameter at which the configuration space becomes singular, and what changes there.

    Exit code 1: a budget was spent before the search had ended.
    """
    answer = critical(
        asked.system, asked.params, vary=vary, within=_bounds(vary, within, "--within"),
        box=box_from(sides, "--box") or None, t=number_at(instant, "--time"), seed=seed, budget=asked.budget,
        inputs=asked.inputs,
    )  # fmt: skip
    if asked.json:
        lasting = [asdict(item) | {"point": dict(item.point)} for item in answer.lasting]
        values = [_told(item) for item in answer]
        print_json({"status": answer.status.name, "reason": answer.reason, "values": values, "lasting": lasting})
    else:
        tell("\n".join(repr(item) for item in answer) or f"{asked.system.name}: no critical value of {vary} was found.")
        for item in answer.lasting:
            tell(f"{vary}: {item}")
        if answer.reason:
            tell(answer.reason)
    asked.files.end(NO_ANSWER if answer.reason else 0)


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
