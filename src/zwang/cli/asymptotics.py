"""The command asymptotics: what reactions do near a singular point."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click
import sympy as sp

from zwang._asymptotics import asymptotics
from zwang._expressions import parse
from zwang._plot import new_figure
from zwang._results.asymptotics import Asymptotics, AsymptoticsStatus, Growth
from zwang.cli.answer_files import write_picture
from zwang.cli.option_values import Assignments, assigned
from zwang.cli.request import Request, command, plainly
from zwang.errors import DeclarationError

NOT_ANSWERED = {AsymptoticsStatus.UNRESOLVED, AsymptoticsStatus.CONTRADICTED, AsymptoticsStatus.UNFINISHED}
EXAMPLES = """\b
Examples:
  zwang asymptotics ellipse_pendulum --at phi=0 psi=pi
  zwang asymptotics crossing --at x=0 y=0 --perturb curve
"""


class Approaching(Assignments):
    """Several values may follow --at as well."""

    several = (*Assignments.several, "--at")  # type: ignore[assignment]


@command("asymptotics", EXAMPLES, state="", inputs=True, out="the result", plot="the growth", cls=Approaching)
@click.option("--at", multiple=True, metavar="NAME=NUMBER ...", help="The singular point; by default the only one.")
@click.option("--perturb", metavar="CONSTRAINT", help="Set this constraint to eps, of both signs.")
@click.option(
    "--section",
    multiple=True,
    metavar="EXPRESSION",
    help="Picks the point on each perturbed curve: its zero. Given twice: for eps > 0, then for eps < 0.",
)
@click.option("--speed", default="1", show_default=True, metavar="NUMBER", help="Of the motion.")
@click.option("--speed-of", metavar="EXPRESSION", help="What has that speed; 'kinetic': in the kinetic metric.")
@click.option("--distance", metavar="EXPRESSION", help="Exponents along branches are in its size.")
def asymptotics_(asked: Request, at: tuple[str, ...], section: tuple[str, ...], speed: str, **options: Any) -> None:
    """How multipliers and numbers of solutions behave near a singular point, along its branches or as f = eps.

    Numbers may be expressions such as sqrt(2), and are taken exactly.
    """
    if len(section) > 2:
        raise DeclarationError("--section may be given once, or twice: for eps > 0 and for eps < 0.")
    result = asymptotics(
        asked.system,
        {**asked.found.params, **exact(asked.exact_params, "--param")},
        at=exact(at, "--at") or None,
        section=None if not section else section[0] if len(section) == 1 else {1: section[0], -1: section[1]},
        speed=parse(speed, {}, where="--speed"),
        budget=asked.budget,
        inputs=asked.inputs,
        **options,
    )
    asked.end(result, as_plain, good=result.status not in NOT_ANSWERED, drawn=draw)


def draw(result: Asymptotics, path: Path) -> None:
    """Write the picture of a result to a file."""
    figure, ax = new_figure((7.2, 4.6))
    result.plot(ax=ax)
    write_picture(figure, path)


def exact(texts: tuple[str, ...], option: str) -> dict[str, sp.Expr]:
    """Return name -> exact number from texts such as 'psi=pi'."""
    found = {}
    for name, text in assigned(texts, option).items():
        if not text.strip():
            raise DeclarationError(f"{option} {name}: a number is missing after the equals sign.")
        found[name] = parse(text, {}, where=f"{option} {name}")
    return found


def as_plain(result: Asymptotics) -> dict[str, Any]:
    """Return what JSON shows of a result."""
    hidden = ("x", "values")
    names = [item.name for item in dataclasses.fields(Growth) if item.name not in hidden]
    of_thresholds = ("eps", "approach", "branch", "point", "binds")
    return {
        **plainly("name", "kind", "point", "perturbed", "section", "speed", "speed_of", "residual")(result),
        "sentence": result.status.value,
        "rows": [{name: getattr(row, name) for name in names} for row in result.rows],
        "thresholds": [{name: getattr(item, name) for name in of_thresholds} for item in result.thresholds],
        "notes": list(result.notes),
        "digest": result.provenance.digest,
    }
