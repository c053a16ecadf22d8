"""The commands about nearby motions: linearize, sensitivity, fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._linearize import linearize
from zwang._results.linearization import Linearization
from zwang._results.sensitivity import FitStatus, SensitivityStatus
from zwang._sensitivity import fit, sensitivity
from zwang.cli.option_values import number
from zwang.cli.output import tell
from zwang.cli.request import IMPACT, Request, command, pairs, plainly
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang linearize double_pendulum --state a=0 b=0
  zwang linearize model.toml --steady phi --output "l*sin(theta)" --plot eigenvalues.png
"""


SENSITIVITY = """\b
Examples:
  zwang sensitivity bouncing_ball --until 1 --wrt e --wrt y --of end --of events
  zwang sensitivity belt_block --until 1.5 --wrt mu --json
"""
FIT = """\b
Examples:
  zwang fit bouncing_ball --data heights.csv --free e --param e=0.9
The first column of the file is the time, the others are named by coordinates, velocities or expressions.
"""


@command("linearize", EXAMPLES, budget=False, out="the result", plot="the eigenvalues")
@click.option("--steady", multiple=True, metavar="NAME", help="A cyclic coordinate that turns uniformly.")
@click.option("--output", "outputs", multiple=True, metavar="EXPRESSION", help="What is observed: a row of C.")
def linearize_(asked: Request, steady: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    """Small motions about an equilibrium: frequencies, damping, modes.

    Numbers may be expressions such as pi/3. Exit code 1: the state is no equilibrium, or one without a linearization.
    """
    answer = linearize(asked.model, asked.state, asked.params, steady=steady, outputs=outputs)
    asked.write(answer)
    asked.tell(answer, _plain)
    for mode in () if asked.json else answer.eigenmodes:
        if mode.eigenvalue.imag >= 0:
            tell(f"  {mode!r}")
    asked.files.end(0)


def _plain(answer: Linearization) -> dict[str, Any]:
    """Return a linearization as plain data for JSON; a complex number is a pair."""
    told = plainly("name", "M", "damping", "K", "A", "B", "C", "D", "basis", "state", "multipliers")(answer)
    return {
        **told,
        "eigenvalues": pairs(answer.eigenvalues),
        "eigenmodes": [dict(mode) for mode in answer.eigenmodes],
    }


@command("sensitivity", SENSITIVITY, out="the result", plot="it")
@click.option("--until", required=True, metavar="TIME", help="End of the motion [s].")
@click.option("--wrt", multiple=True, required=True, metavar="NAME", help="What is varied: a parameter, a start.")
@click.option("--of", multiple=True, default=("end",), metavar="WHAT", help="end, events, reactions or an expression.")
@IMPACT
def sensitivity_(asked: Request, until: str, **options: Any) -> None:
    """Derivatives of a motion by parameters and initial values, through its events.

    Exit code 1: the motion has no derivative, or does not come to its end.
    """
    answer = sensitivity(
        asked.model, asked.state, asked.params, until=number(until, "--until"), budget=asked.budget, **options
    )
    plain = plainly("name", "wrt", "values", "derivatives", "instant", "reason")
    asked.end(answer, plain, good=answer.status is SensitivityStatus.DIFFERENTIABLE)


def _columns(path: Path) -> dict[str, Any]:
    """Return the columns of a file of numbers with names in its first line: name -> (times, values)."""
    import csv

    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    try:
        numbers = [[float(cell) for cell in row] for row in rows[1:] if row]
        columns = list(zip(*numbers, strict=True))
    except ValueError:
        columns = []
    if len(columns) < 2 or len(rows[0]) != len(columns):
        raise DeclarationError(
            f"--data {path.name}: needed a table of numbers with commas, names in its first line, the time in its "
            "first column."
        )
    return {name.strip(): (columns[0], column) for name, column in zip(rows[0][1:], columns[1:], strict=True)}


@command("fit", FIT, out="the result", plot="data and fit")
@click.option(
    "--data", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A .csv file."
)
@click.option("--free", multiple=True, required=True, metavar="NAME", help="What is fitted: a parameter, a start.")
@IMPACT
def fit_(asked: Request, data: Path, free: tuple[str, ...], impact: str | None) -> None:
    """Parameters and initial values with which the motion passes nearest to data.

    Exit code 1: the data don't determine them, or no minimum was found.
    """
    answer = fit(
        asked.model, _columns(data), state=asked.state, params=asked.params, free=free, impact=impact,
        budget=asked.budget,
    )  # fmt: skip
    plain = plainly("name", "free", "params", "state", "covariance", "intervals", "reason")
    asked.end(answer, plain, good=answer.status is FitStatus.CONVERGED)
