"""The commands about nearby motions: linearize."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._linearize import linearize
from zwang._plot import new_figure
from zwang._results.linearization import Linearization
from zwang.cli.files import Files, write_picture
from zwang.cli.models import NamedModel, find_model
from zwang.cli.telling import print_json, tell, tell_mistakes
from zwang.cli.values import Assignments, in_radians, require_known, values_from

EXAMPLES = """\b
Examples:
  zwang linearize double_pendulum --state a=0 b=0
  zwang linearize model.toml --steady phi --output "l*sin(theta)" --plot eigenvalues.png
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
@click.argument("model", metavar="MODEL")
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
