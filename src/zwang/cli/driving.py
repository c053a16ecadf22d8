"""The command drive: the inputs that make a prescribed motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from zwang._compile import compile
from zwang._drive import drive
from zwang._results.drive import Drive
from zwang.cli.completing import complete_model
from zwang.cli.files import Files
from zwang.cli.models import find_model
from zwang.cli.nearby import draw
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
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
  zwang drive arm.toml --motion "phi=t**2" --times 0:1:101 --plot torque.png
  zwang drive press.toml --motion "a=3*t" --start psi=0.2 --times 0:2:201 --json
"""


@click.command("drive", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option(
    "--motion", multiple=True, required=True, metavar="NAME=VALUE ...",
    help="Coordinates: an expression of t, or a table FILE.csv:cubic; the others follow from the constraints.",
)  # fmt: skip
@click.option("--times", metavar="LOW:HIGH:COUNT", help="Instants [s]; by default 201 over the tables.")
@click.option("--start", multiple=True, metavar="NAME=NUMBER ...", help="Roughly where the others are at first.")
@input_option
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --start are in degrees.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table of it: .csv.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the inputs: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def drive_(
    model: str,
    motion: tuple[str, ...],
    times: str | None,
    start: tuple[str, ...],
    driving: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    table: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """The inputs that make a prescribed motion, with loops, redundancy and friction.

    Inputs that are not given by --input are looked for. Exit code 1: no input makes the motion, or a dead centre.
    """
    files = Files(out=out, table=table, picture=picture)
    found = find_model(model)
    system = found.system
    values, near = values_from(params, "--param"), values_from(start, "--start")
    require_known(system, values, [item.name for item in system.parameters], "--param")
    require_known(system, near, [item.name for item in system.coordinates], "--start")
    answer = drive(
        compile(system), inputs_from(motion, "--motion") or {}, found.params | values, times=_instants(times),
        start=in_radians(system, near) if degrees else near, inputs=inputs_from(driving), budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(table, answer.to_csv)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        print_json(_plain(answer))
    else:
        tell(repr(answer))
    files.end(0 if answer.status.name in ("UNIQUE", "UNIQUE_MOTION", "MULTIPLE", "FOUND") else NO_ANSWER)


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
    names = ("name", "reason", "t", "coordinates", "q", "v", "a", "residual")
    found = {"status": answer.status.name, **{name: getattr(answer, name) for name in names}}
    found |= {name: dict(getattr(answer, name)) for name in ("inputs", "ranges", "reactions")}
    return found | {"statuses": [item.name for item in answer.statuses]}
