"""The commands about nearby motions: linearize, sensitivity, fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._linearize import linearize
from zwang._plot import new_figure
from zwang._results.linearization import Linearization
from zwang._results.sensitivity import Fit, FitStatus, Sensitivity, SensitivityStatus
from zwang._sensitivity import fit, sensitivity
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import NamedModel, find_model
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    Words,
    budget_from,
    budget_option,
    in_radians,
    number,
    require_known,
    values_from,
)
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


def given(
    model: str, state: tuple[str, ...], params: tuple[str, ...], degrees: bool
) -> tuple[NamedModel, dict[str, Any], dict[str, Any]]:
    """Return the model with its state and parameters, those of the command line over its own."""
    found = find_model(model)
    system = found.system
    start, values = values_from(state, "--state"), values_from(params, "--param")
    require_known(system, start, ["t", *(item.name for item in (*system.coordinates, *system.velocities))], "--state")
    require_known(system, values, [item.name for item in system.parameters], "--param")
    start = in_radians(system, start) if degrees else start
    return found, found.state | start, found.params | values


@click.command("linearize", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@click.option("--steady", multiple=True, metavar="NAME", help="A cyclic coordinate that turns uniformly.")
@click.option("--output", "outputs", multiple=True, metavar="EXPRESSION", help="What is observed: a row of C.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the eigenvalues: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def linearize_(
    model: str,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    steady: tuple[str, ...],
    outputs: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Small motions about an equilibrium: frequencies, damping, modes.

    Numbers may be expressions such as pi/3. Exit code 1: the state is no equilibrium, or one without a linearization.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    answer = linearize(compile(found.system), start, values, steady=steady, outputs=outputs)
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        print_json(_plain(answer))
    else:
        tell(repr(answer))
        for mode in answer.eigenmodes:
            if mode.eigenvalue.imag >= 0:
                tell(f"  {mode!r}")
    files.end(0)


def draw(answer: Any, path: Path, *what: str) -> None:
    """Draw a result into a file."""
    figure, ax = new_figure()
    answer.plot(*what, ax=ax)
    write_picture(figure, path)


def _plain(answer: Linearization) -> dict[str, Any]:
    """Return a linearization as plain data for JSON; a complex number is a pair."""
    names = ("name", "M", "damping", "K", "A", "B", "C", "D", "basis", "state", "multipliers")
    return {
        "status": answer.status.name,
        **{name: getattr(answer, name) for name in names},
        "eigenvalues": [[value.real, value.imag] for value in answer.eigenvalues.tolist()],
        "eigenmodes": [dict(mode) for mode in answer.eigenmodes],
    }


@click.command("sensitivity", cls=Assignments, epilog=SENSITIVITY)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--until", required=True, metavar="TIME", help="End of the motion [s].")
@click.option("--wrt", multiple=True, required=True, metavar="NAME", help="What is varied: a parameter, a start.")
@click.option("--of", multiple=True, default=("end",), metavar="WHAT", help="end, events, reactions or an expression.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw it: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def sensitivity_(
    model: str,
    until: str,
    wrt: tuple[str, ...],
    of: tuple[str, ...],
    impact: str | None,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Derivatives of a motion by parameters and initial values, through its events.

    Exit code 1: the motion has no derivative, or does not come to its end.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    answer: Sensitivity = sensitivity(
        compile(found.system), start, values, until=number(until, "--until"), wrt=wrt, of=of, impact=impact,
        budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        names = ("name", "wrt", "values", "derivatives", "instant", "reason")
        print_json({"status": answer.status.name, **{name: getattr(answer, name) for name in names}})
    else:
        tell(repr(answer))
    files.end(0 if answer.status is SensitivityStatus.DIFFERENTIABLE else NO_ANSWER)


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


@click.command("fit", cls=Assignments, epilog=FIT)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option(
    "--data", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A .csv file."
)
@click.option("--free", multiple=True, required=True, metavar="NAME", help="What is fitted: a parameter, a start.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw data and fit: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def fit_(
    model: str,
    data: Path,
    free: tuple[str, ...],
    impact: str | None,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Parameters and initial values with which the motion passes nearest to data.

    Exit code 1: the data don't determine them, or no minimum was found.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    answer: Fit = fit(
        compile(found.system), _columns(data), state=start, params=values, free=free, impact=impact,
        budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        names = ("name", "free", "params", "state", "covariance", "intervals", "reason")
        print_json({"status": answer.status.name, **{name: getattr(answer, name) for name in names}})
    else:
        tell(repr(answer))
    files.end(0 if answer.status is FitStatus.CONVERGED else NO_ANSWER)
