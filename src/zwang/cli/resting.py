"""The command equilibria: where a model can rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._equilibria import equilibria
from zwang._results.equilibria import Equilibria, EquilibriaStatus
from zwang.cli.completing import complete_model
from zwang.cli.files import Files
from zwang.cli.models import find_model
from zwang.cli.nearby import draw
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.tracing import box_from
from zwang.cli.values import (
    Assignments,
    budget_from,
    budget_option,
    input_option,
    inputs_from,
    number,
    require_known,
    values_from,
)
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang equilibria double_pendulum --search exhaustive
  zwang equilibria model.toml --vary w=0:6 --plot branches.png
"""


@click.command("equilibria", cls=Assignments, epilog=EXAMPLES)
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
@click.option("--steady", multiple=True, metavar="NAME[=RATE]", help="A cyclic coordinate that turns uniformly.")
@click.option("--vary", metavar="NAME=LOW:HIGH", help="A parameter over which branches are followed.")
@click.option("--seed", default=0, show_default=True, help="Of the random starts.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the equilibria: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def equilibria_(
    model: str,
    params: tuple[str, ...],
    driving: tuple[str, ...],
    sides: tuple[str, ...],
    search: str,
    steady: tuple[str, ...],
    vary: str | None,
    seed: int,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Where a model can rest or turn uniformly, and whether that is stable.

    Numbers may be expressions such as pi/3. Exit code 1: there is no equilibrium, or none was found.
    """
    files = Files(out=out, picture=picture)
    found = find_model(model)
    values = values_from(params, "--param")
    require_known(found.system, values, [item.name for item in found.system.parameters], "--param")
    known = found.params | values
    varied: dict[str, Any] = {}
    if vary is not None:
        ((name, pair),) = box_from((vary,), "--vary").items()
        varied = {"vary": name, "within": pair}
        known = {key: value for key, value in known.items() if key != name}
    answer = equilibria(
        compile(found.system), known, box=box_from(sides, "--box") or None, search=search, steady=_steady(steady),
        inputs=inputs_from(driving), seed=seed, budget=budget_from(budget), **varied,
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        print_json(_plain(answer))
    else:
        tell(repr(answer))
    files.end(0 if answer.status is EquilibriaStatus.FOUND else NO_ANSWER)


def _steady(texts: tuple[str, ...]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for text in texts:
        name, equals, rate = text.partition("=")
        if not name.strip():
            raise DeclarationError(f"--steady needs NAME or NAME=RATE; it was given '{text}'.")
        found[name.strip()] = number(rate, f"--steady {name}") if equals else None
    return found


def _plain(answer: Equilibria) -> dict[str, Any]:
    """Return equilibria as plain data for JSON; a complex number is a pair."""
    points = [
        {
            "state": dict(point.state),
            "reactions": dict(point.reactions),
            "holds": point.holds,
            "stability": point.stability,
            "reason": point.reason,
            "eigenvalues": None
            if point.eigenvalues is None
            else [[z.real, z.imag] for z in point.eigenvalues.tolist()],
        }
        for point in answer.points
    ]
    return {
        "name": answer.name,
        "status": answer.status.name,
        "complete": answer.complete,
        "points": points,
        "boundary": None if answer.boundary is None else list(answer.boundary),
        "intervals": None
        if answer.intervals is None
        else [{"ends": [dict(state) for state in item], "holds": item.holds} for item in answer.intervals],
        "folds": [item.value for item in answer.folds],
        "crossings": [item.value for item in answer.crossings],
        "hopfs": [item.value for item in answer.hopfs],
    }
