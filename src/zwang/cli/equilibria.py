"""The command equilibria: where a model can rest."""

from __future__ import annotations

from typing import Any

import click

from zwang._equilibria import equilibria
from zwang._results.equilibria import Equilibria, EquilibriaStatus
from zwang.cli.option_values import number
from zwang.cli.request import BOX, SEARCH, SEED, Request, command, pairs, plainly
from zwang.cli.trace import box_from
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang equilibria double_pendulum --search exhaustive
  zwang equilibria model.toml --vary w=0:6 --plot branches.png
"""


@command("equilibria", EXAMPLES, state="", inputs=True, out="the result", plot="the equilibria")
@BOX
@SEARCH
@click.option("--steady", multiple=True, metavar="NAME[=RATE]", help="A cyclic coordinate that turns uniformly.")
@click.option("--vary", metavar="NAME=LOW:HIGH", help="A parameter over which branches are followed.")
@SEED
def equilibria_(
    asked: Request, sides: tuple[str, ...], steady: tuple[str, ...], vary: str | None, **options: Any
) -> None:
    """Where a model can rest or turn uniformly, and whether that is stable.

    Numbers may be expressions such as pi/3. Exit code 1: there is no equilibrium, or none was found.
    """
    known = asked.params
    if vary is not None:
        ((name, pair),) = box_from((vary,), "--vary").items()
        options |= {"vary": name, "within": pair}
        known = {key: value for key, value in known.items() if key != name}
    answer = equilibria(
        asked.model, known, box=box_from(sides, "--box") or None, steady=_steady(steady), inputs=asked.inputs,
        budget=asked.budget, **options,
    )  # fmt: skip
    asked.end(answer, _plain, good=answer.status is EquilibriaStatus.FOUND)


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
    names = ("state", "reactions", "holds", "stability", "reason")
    points = [
        {**{name: getattr(point, name) for name in names}, "eigenvalues": pairs(point.eigenvalues)}
        for point in answer.points
    ]
    intervals = answer.intervals
    return {
        **plainly("name", "complete", "boundary")(answer),
        "points": points,
        "intervals": None if intervals is None else [{"ends": list(one), "holds": one.holds} for one in intervals],
        "branches": [
            {
                name: getattr(branch, name)
                for name in ("number", "names", "values", "positions", "stability", "holds", "reason")
            }
            for branch in answer.branches
        ],
        **{kind: [item.value for item in getattr(answer, kind)] for kind in ("folds", "crossings", "hopfs")},
    }
