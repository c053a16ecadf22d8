"""The commands limit, recommend and realize: constraints made by springs or friction, of growing strength or of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._limit import limit, recommend
from zwang._realize import REALIZATIONS, realize
from zwang._results.limit import LimitStatus, LimitStudy, Recommendation, RecommendationStatus
from zwang.cli.answer_files import Files
from zwang.cli.model_argument import find_model
from zwang.cli.option_values import Assignments, Words, number
from zwang.cli.output import tell, tell_mistakes
from zwang.cli.progress import progress
from zwang.cli.request import MODEL, PERMILLE, Request, command, draw, path_option, plainly
from zwang.errors import DeclarationError, nearest

EXAMPLES = """\b
Examples:
  zwang limit kozlov_neishtadt --constraint floor --until 1
  zwang limit model.toml --constraint guide --until 2 --strengths 1e3,1e5,1e7 --weight "1 + x**2" --plot orders.png
  zwang limit circle_particle --constraint circle --until 1 --recommend 1e-4
"""


def realized_options(asking: Any) -> Any:
    """Give a command the options that say what is realized, and of what it is made."""
    words = {
        "--other-side": "Of Viscosity: friction on the permitted side.",
        "--ratio": "Of Stiffness: share of critical damping.",
        "--damping": "Of Stiffness.",
        "--energy": "Of Stiffness: W(q) in place of weight times the square, for all that are realized.",
        "--weight": "Of Stiffness: an expression in the coordinates.",
    }
    for name, told in words.items():
        asking = click.option(name, help=told)(asking)
    kinds = Words(["Stiffness", "Viscosity"])
    asking = click.option("--by", "way", type=kinds, help="By default what fits the constraint.")(asking)
    return click.option(
        "--constraint", "names", multiple=True, required=True, metavar="NAME", help="What is realized."
    )(asking)


@command("limit", EXAMPLES, inputs=True, out="the study", plot="the study")
@realized_options
@click.option("--until", default="1", show_default=True, metavar="TIME", help="End of the time that is studied [s].")
@click.option("--strengths", metavar="N,N,N", help="At least three; by default decades that fit.")
@click.option("--recommend", "wanted", metavar="ERROR", help="Instead: the strength that keeps positions within this.")
@click.option(
    "--show", "shown", type=Words(["errors", "force", "motions"]), default="errors", show_default=True,
    help="What --plot draws.",
)  # fmt: skip
def limit_(
    asked: Request,
    names: tuple[str, ...],
    way: str | None,
    until: str,
    strengths: str | None,
    wanted: str | None,
    shown: str,
    **options: Any,
) -> None:
    """Does a constraint made by a stiff spring, or by strong friction, tend to the ideal one, and how fast.

    Numbers may be expressions such as pi/3. Exit code 1: there is no limit, or none could be told.
    """
    if wanted is not None:
        if asked.picture is not None:
            raise DeclarationError("--plot draws a study; with --recommend there is none. Leave one of them out.")
        _recommended(asked, names, way, until, number(wanted, "--recommend"), options)
        return
    by = _way(asked.system, names, way, options)
    strong = None if strengths is None else [number(item, "--strengths") for item in strengths.split(",")]
    with progress(f"limit of {asked.system.name}", PERMILLE) as show:
        answer = limit(
            asked.model, _chosen(names), asked.state, asked.params, by=by, until=number(until, "--until"),
            strengths=strong, budget=asked.budget, inputs=asked.inputs,
            progress=lambda share: show(int(PERMILLE * share), "strengths"),
        )  # fmt: skip
    good = answer.status in (LimitStatus.CONVERGES, LimitStatus.CONVERGES_ELSEWHERE)
    asked.end(answer, as_plain, good=good, drawn=lambda one, path: draw(one, path, shown))


RECOMMEND = """\b
Examples:
  zwang recommend circle_particle --constraint circle --error 1e-4
  zwang recommend sleigh_ahead --constraint blade --until 2 --error 1e-3 --json
"""


@command("recommend", RECOMMEND, inputs=True, out="the recommendation")
@realized_options
@click.option("--until", default="1", show_default=True, metavar="TIME", help="End of the time it is to hold for [s].")
@click.option("--error", required=True, metavar="ERROR", help="What positions may be off by.")
def recommend_(asked: Request, names: tuple[str, ...], way: str | None, until: str, error: str, **options: Any) -> None:
    """The stiffness, or the strength of friction, that keeps positions within an error, and what it costs.

    Numbers may be expressions such as pi/3. Exit code 1: none was verified.
    """
    _recommended(asked, names, way, until, number(error, "--error"), options)


def _recommended(
    asked: Request, names: tuple[str, ...], way: str | None, until: str, error: float, options: dict[str, Any]
) -> None:
    by = _way(asked.system, names, way, options)
    answer = recommend(
        asked.model, _chosen(names), asked.state, asked.params, error=error, until=number(until, "--until"), by=by,
        budget=asked.budget, inputs=asked.inputs,
    )  # fmt: skip
    asked.end(answer, as_plain, good=answer.status is RecommendationStatus.VERIFIED)


def _chosen(names: tuple[str, ...]) -> str | tuple[str, ...]:
    return names[0] if len(names) == 1 else names


REALIZE = """\b
Examples:
  zwang realize kozlov_neishtadt --constraint floor --strength 1e4 --out soft.toml
  zwang realize sleigh --constraint blade --strength N --out soft.toml
"""


@click.command("realize", cls=Assignments, epilog=REALIZE)
@MODEL
@realized_options
@click.option("--strength", required=True, metavar="TEXT", help="A number, an expression or the name of a parameter.")
@path_option("--out", "out", "Write the model file: .toml; else it is shown.")
@tell_mistakes
def realize_(
    model: str, names: tuple[str, ...], way: str | None, strength: str, out: Path | None, **options: Any
) -> None:
    """The same model with a constraint made by a stiff spring or strong friction: again a model, for every command."""
    files = Files(page=out)
    found = find_model(model)
    by = _way(found.system, names, way, options, strength)
    system = realize(found.system, names, by=by)
    files.write(out, lambda path: system.save(path, params=found.params, state=found.state))
    if out is None:
        tell(repr(system))
    files.end(0)


def _way(system: Any, names: tuple[str, ...], way: str | None, options: dict[str, Any], strength: str = "") -> Any:
    """Return the realization that the options describe: a class, or an instance where something is given."""
    known = {item: system.constraints[item].level for item in names if item in system.constraints.names}
    if way is None:
        way = "Viscosity" if "velocity" in known.values() else "Stiffness"
    if way not in REALIZATIONS:
        raise DeclarationError(f"--by: there is no realization '{way}'. {nearest(way, list(REALIZATIONS))}")
    kind = REALIZATIONS[way]
    options = {key: item for key, item in options.items() if item is not None}
    if not options and not strength:
        return kind
    try:
        return kind(*[strength] * bool(strength), **options)
    except TypeError:
        listed = ", ".join(f"--{key.replace('_', '-')}" for key in options)
        raise DeclarationError(f"{way} doesn't take all of {listed}: see zwang limit --help.") from None


def as_plain(answer: LimitStudy | Recommendation) -> dict[str, Any]:
    """Return a study or a recommendation as plain data for JSON."""
    if isinstance(answer, Recommendation):
        return plainly(
            "name", "way", "strength", "error", "achieved", "velocity_error", "reaction_error", "mean_reaction_error",
            "step", "steps", "frequency", "reason",
        )(answer)  # fmt: skip
    names = (
        "name",
        "way",
        "strengths",
        "errors",
        "energy",
        "energy_removed",
        "mean_force",
        "ideal_force",
        "t",
        "notes",
    )
    return {
        **plainly(*names, "residual")(answer),
        "verdict": answer.verdict.sentence,
        "orders": {
            name: {"value": order.value, "uncertainty": order.uncertainty} for name, order in answer.orders.items()
        },
    }
