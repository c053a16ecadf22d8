"""The commands limit and realize: constraints made by springs or friction, of growing strength or of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._limit import limit, recommend
from zwang._plot import new_figure
from zwang._realize import REALIZATIONS, realize
from zwang._results.limit import LimitStatus, LimitStudy, Recommendation, RecommendationStatus
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.progress import progress
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    Words,
    budget_from,
    budget_option,
    in_radians,
    input_option,
    inputs_from,
    number,
    require_known,
    values_from,
)
from zwang.errors import DeclarationError, nearest

EXAMPLES = """\b
Examples:
  zwang limit kozlov_neishtadt --constraint floor --until 1
  zwang limit model.toml --constraint guide --until 2 --strengths 1e3,1e5,1e7 --weight "1 + x**2" --plot orders.png
  zwang limit circle_particle --constraint circle --until 1 --recommend 1e-4
"""
PERMILLE = 1000  # steps of a progress bar


@click.command("limit", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--constraint", "names", multiple=True, required=True, metavar="NAME", help="What is realized.")
@click.option("--until", default="1", show_default=True, metavar="TIME", help="End of the time that is studied [s].")
@click.option(
    "--by",
    "way",
    type=Words(["Stiffness", "Viscosity"]),
    help="By default what fits the constraint.",
)
@click.option("--weight", help="Of Stiffness: an expression in the coordinates.")
@click.option("--energy", help="Of Stiffness: W(q) in place of weight times the square, for all that are realized.")
@click.option("--damping", help="Of Stiffness.")
@click.option("--ratio", help="Of Stiffness: share of critical damping.")
@click.option("--other-side", "other", help="Of Viscosity: friction on the permitted side.")
@click.option("--strengths", metavar="N,N,N", help="At least three; by default decades that fit.")
@click.option("--recommend", "wanted", metavar="ERROR", help="Instead: the strength that keeps positions within this.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the study: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the study: .png, .svg or .pdf.")
@click.option(
    "--show",
    "shown",
    type=Words(["errors", "force", "motions"]),
    default="errors",
    show_default=True,
    help="What --plot draws.",
)
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def limit_(
    model: str,
    names: tuple[str, ...],
    until: str,
    way: str | None,
    weight: str | None,
    energy: str | None,
    damping: str | None,
    ratio: str | None,
    other: str | None,
    strengths: str | None,
    wanted: str | None,
    state: tuple[str, ...],
    params: tuple[str, ...],
    driving: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    shown: str,
    json_: bool,
) -> None:
    """Does a constraint made by a stiff spring, or by strong friction, tend to the ideal one, and how fast.

    Numbers may be expressions such as pi/3. Exit code 1: there is no limit, or none could be told.
    """
    if wanted is not None and picture is not None:
        raise DeclarationError("--plot draws a study; with --recommend there is none. Leave one of them out.")
    files = Files(out=out, picture=picture)
    found = find_model(model)
    system = found.system
    given, values = values_from(state, "--state"), values_from(params, "--param")
    require_known(system, given, ["t", *(item.name for item in (*system.coordinates, *system.velocities))], "--state")
    require_known(system, values, [item.name for item in system.parameters], "--param")
    given = in_radians(system, given) if degrees else given
    start, known = found.state | given, found.params | values
    options = {"weight": weight, "energy": energy, "damping": damping, "ratio": ratio, "other_side": other}
    by = _way(system, names, way, {key: item for key, item in options.items() if item is not None})
    asked = None if strengths is None else [number(item, "--strengths") for item in strengths.split(",")]
    end = number(until, "--until")
    chosen = names[0] if len(names) == 1 else names
    answer: LimitStudy | Recommendation
    if wanted is not None:
        answer = recommend(
            compile(system), chosen, start, known, error=number(wanted, "--recommend"), until=end, by=by,
            budget=budget_from(budget), inputs=inputs_from(driving),
        )  # fmt: skip
        good = answer.status is RecommendationStatus.VERIFIED
    else:
        with progress(f"limit of {system.name}", PERMILLE) as show:
            answer = limit(
                compile(system), chosen, start, known, by=by, until=end, strengths=asked, budget=budget_from(budget),
                progress=lambda share: show(int(PERMILLE * share), "strengths"), inputs=inputs_from(driving),
            )  # fmt: skip
        good = answer.status in (LimitStatus.CONVERGES, LimitStatus.CONVERGES_ELSEWHERE)
    files.write(out, answer.save)
    files.write(picture, lambda path: _draw(answer, path, shown))
    if json_:
        print_json(as_plain(answer))
    else:
        tell(repr(answer))
    files.end(0 if good else NO_ANSWER)


REALIZE = """\b
Examples:
  zwang realize kozlov_neishtadt --constraint floor --strength 1e4 --out soft.toml
  zwang realize sleigh --constraint blade --strength N --out soft.toml
"""


@click.command("realize", cls=Assignments, epilog=REALIZE)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--constraint", "names", multiple=True, required=True, metavar="NAME", help="What is realized.")
@click.option("--strength", required=True, metavar="TEXT", help="A number, an expression or the name of a parameter.")
@click.option("--by", "way", help="Stiffness or Viscosity; by default what fits the constraint.")
@click.option("--weight", help="Of Stiffness: an expression in the coordinates.")
@click.option("--energy", help="Of Stiffness: W(q) in place of weight times the square, for all that are realized.")
@click.option("--damping", help="Of Stiffness.")
@click.option("--ratio", help="Of Stiffness: share of critical damping.")
@click.option("--other-side", "other", help="Of Viscosity: friction on the permitted side.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the model file: .toml; else it is shown.")
@tell_mistakes
def realize_(
    model: str,
    names: tuple[str, ...],
    strength: str,
    way: str | None,
    weight: str | None,
    energy: str | None,
    damping: str | None,
    ratio: str | None,
    other: str | None,
    out: Path | None,
) -> None:
    """The same model with a constraint made by a stiff spring or strong friction: again a model, for every command."""
    files = Files(page=out)
    found = find_model(model)
    options = {"weight": weight, "energy": energy, "damping": damping, "ratio": ratio, "other_side": other}
    given = {key: item for key, item in options.items() if item is not None}
    by = _way(found.system, names, way, given, strength)
    system = realize(found.system, names, by=by)
    files.write(out, lambda path: system.save(path, params=found.params, state=found.state))
    if out is None:
        tell(repr(system))
    files.end(0)


def _way(system: Any, names: tuple[str, ...], way: str | None, options: dict[str, str], strength: str = "") -> Any:
    """Return the realization that the options describe: a class, or an instance where something is given."""
    known = {item: system.constraints[item].level for item in names if item in system.constraints.names}
    if way is None:
        way = "Viscosity" if "velocity" in known.values() else "Stiffness"
    if way not in REALIZATIONS:
        raise DeclarationError(f"--by: there is no realization '{way}'. {nearest(way, list(REALIZATIONS))}")
    kind = REALIZATIONS[way]
    if not options and not strength:
        return kind
    try:
        return kind(*[strength] * bool(strength), **options)
    except TypeError:
        listed = ", ".join(f"--{key.replace('_', '-')}" for key in options)
        raise DeclarationError(f"{way} doesn't take all of {listed}: see zwang limit --help.") from None


def _draw(answer: Any, path: Path, shown: str) -> None:
    figure, ax = new_figure()
    answer.plot(shown, ax=ax)
    write_picture(figure, path)


def as_plain(answer: LimitStudy | Recommendation) -> dict[str, Any]:
    """Return a study or a recommendation as plain data for JSON."""
    if isinstance(answer, Recommendation):
        names = ("name", "way", "strength", "error", "achieved", "velocity_error", "reaction_error",
                 "mean_reaction_error", "step", "steps", "frequency", "reason")  # fmt: skip
        return {"status": answer.status.name, **{name: getattr(answer, name) for name in names}}
    return {
        "name": answer.name,
        "status": answer.status.name,
        "verdict": answer.verdict.sentence,
        "way": answer.way,
        "strengths": answer.strengths,
        "errors": dict(answer.errors),
        "orders": {
            name: {"value": order.value, "uncertainty": order.uncertainty} for name, order in answer.orders.items()
        },
        "energy": answer.energy,
        "energy_removed": answer.energy_removed,
        "mean_force": dict(answer.mean_force),
        "ideal_force": dict(answer.ideal_force),
        "t": answer.t,
        "notes": list(answer.notes),
        "residual": answer.residual,
    }
