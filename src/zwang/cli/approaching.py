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
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import Assignments, assigned, budget_from, budget_option, input_option, inputs_from
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


@click.command("asymptotics", cls=Approaching, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--at", multiple=True, metavar="NAME=NUMBER ...", help="The singular point; by default the only one.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
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
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the growth: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def asymptotics_(
    model: str,
    at: tuple[str, ...],
    params: tuple[str, ...],
    driving: tuple[str, ...],
    perturb: str | None,
    section: tuple[str, ...],
    speed: str,
    speed_of: str | None,
    distance: str | None,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """How multipliers and numbers of solutions behave near a singular point, along its branches or as f = eps.

    Numbers may be expressions such as sqrt(2), and are taken exactly.
    """
    if len(section) > 2:
        raise DeclarationError("--section may be given once, or twice: for eps > 0 and for eps < 0.")
    files = Files(out=out, picture=picture)
    found = find_model(model)
    result = asymptotics(
        found.system,
        {**found.params, **exact(params, "--param")},
        at=exact(at, "--at") or None,
        perturb=perturb,
        section=None if not section else section[0] if len(section) == 1 else {1: section[0], -1: section[1]},
        speed=parse(speed, {}, where="--speed"),
        speed_of=speed_of,
        distance=distance,
        budget=budget_from(budget),
        inputs=inputs_from(driving),
    )
    files.write(out, result.save)
    files.write(picture, lambda path: draw(result, path))
    if json_:
        print_json(as_plain(result))
    else:
        tell(repr(result))
    files.end(NO_ANSWER if result.status in NOT_ANSWERED else 0)


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
    return {
        "name": result.name,
        "status": result.status.name,
        "sentence": result.status.value,
        "kind": result.kind,
        "point": result.point,
        "perturbed": result.perturbed,
        "section": result.section,
        "speed": result.speed,
        "speed_of": result.speed_of,
        "rows": [{name: getattr(row, name) for name in names} for row in result.rows],
        "thresholds": [
            {
                "eps": item.eps,
                "approach": item.approach,
                "branch": item.branch,
                "point": item.point,
                "binds": item.binds,
            }
            for item in result.thresholds
        ],
        "notes": list(result.notes),
        "residual": result.residual,
        "digest": result.provenance.digest,
    }
