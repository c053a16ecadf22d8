"""The command drive: the inputs that make a prescribed motion."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from zwang._drive import drive
from zwang._results.drive import Drive
from zwang.cli.option_values import in_radians, inputs_from, number, require_known, values_from
from zwang.cli.request import Request, command, plainly
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang drive arm.toml --motion "phi=t**2" --times 0:1:101 --plot torque.png
  zwang drive press.toml --motion "a=3*t" --start psi=0.2 --times 0:2:201 --json
"""


@command("drive", EXAMPLES, state="", inputs=True, out="the result", table=True, plot="the inputs")
@click.option(
    "--motion", multiple=True, required=True, metavar="NAME=VALUE ...",
    help="Coordinates: an expression of t, or a table FILE.csv:cubic; the others follow from the constraints.",
)  # fmt: skip
@click.option("--times", metavar="LOW:HIGH:COUNT", help="Instants [s]; by default 201 over the tables.")
@click.option("--start", multiple=True, metavar="NAME=NUMBER ...", help="Roughly where the others are at first.")
@click.option("--degrees", is_flag=True, help="Angles in --start are in degrees.")
def drive_(asked: Request, motion: tuple[str, ...], times: str | None, start: tuple[str, ...]) -> None:
    """The inputs that make a prescribed motion, with loops, redundancy and friction.

    Inputs that are not given by --input are looked for. Exit code 1: no input makes the motion, or a dead centre.
    """
    near: dict[str, Any] = values_from(start, "--start")
    require_known(asked.system, near, [item.name for item in asked.system.coordinates], "--start")
    answer = drive(
        asked.model, inputs_from(motion, "--motion") or {}, asked.params, times=_instants(times),
        start=in_radians(asked.system, near) if asked.degrees else near, inputs=asked.inputs, budget=asked.budget,
    )  # fmt: skip
    asked.end(answer, _plain, good=answer.status.name in ("UNIQUE", "UNIQUE_MOTION", "MULTIPLE", "FOUND"))


def _instants(text: str | None) -> Any:
    if text is None:
        return None
    parts = text.split(":")
    if len(parts) == 1:
        return [number(item, "--times") for item in text.split(",")]
    if len(parts) != 3 or not parts[2].strip().isdecimal() or int(parts[2]) < 1:
        raise DeclarationError(f"--times needs low:high:count, such as 0:1:101, or t,t,t; it was given '{text}'.")
    return np.linspace(number(parts[0], "--times"), number(parts[1], "--times"), int(parts[2]))


def _plain(answer: Drive) -> dict[str, Any]:
    """Return a drive as plain data for JSON."""
    found = plainly("name", "reason", "t", "coordinates", "q", "v", "a", "residual")(answer)
    found |= {name: dict(getattr(answer, name)) for name in ("inputs", "ranges", "reactions")}
    return found | {"statuses": [item.name for item in answer.statuses]}
