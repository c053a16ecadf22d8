"""The commands about cycles: periodic, cycles, lyapunov."""

from __future__ import annotations

from typing import Any

import click

from zwang._cycles import cycles, lyapunov, periodic
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.cycles import KINDS, Cycles, CyclesStatus
from zwang._results.lyapunov import LyapunovStatus
from zwang.cli.option_values import number
from zwang.cli.output import NO_ANSWER, tell
from zwang.cli.request import IMPACT, Request, command, draw, pairs, plainly

EXAMPLES = """\b
Examples:
  zwang periodic model.toml --period "2*pi/w"
  zwang periodic woodpecker.toml --steady y --impact newton --plot multipliers.png --show multipliers
"""
GUESS = "The guess; overrides the model's state."
PERIOD = click.option("--period", help="A number, or an expression of the parameters; by default found.")
STEADY = click.option("--steady", multiple=True, metavar="NAME", help="A coordinate that need not return.")


@command("periodic", EXAMPLES, state=GUESS, out="the cycle", plot="the cycle")
@PERIOD
@click.option("--section", help="An expression that vanishes at the start of the cycle.")
@STEADY
@IMPACT
@click.option("--tol", default="1e-12", show_default=True, help="Of the motions.")
@click.option("--show", "shown", help="What --plot draws: multipliers, or a coordinate against its velocity.")
def periodic_(asked: Request, tol: str, shown: str | None, **options: Any) -> None:
    """The periodic motion near a guess, and its multipliers.

    Exit code 1: no motion nearby returns to its start.
    """
    answer = periodic(asked.model, asked.state, asked.params, tol=number(tol, "--tol"), budget=asked.budget, **options)
    good = answer.status in (CycleStatus.CLOSED, CycleStatus.NOT_DIFFERENTIABLE)
    asked.end(answer, _plain_cycle, good=good, drawn=lambda one, path: draw(one, path, *_chosen(shown)))


def _chosen(shown: str | None) -> tuple[str, ...]:
    return () if shown is None else (shown,)


def _plain_cycle(answer: Cycle) -> dict[str, Any]:
    told = plainly("name", "period", "residual", "stable", "state", "families", "reason")(answer)
    return {**told, "multipliers": pairs(answer.multipliers)}


CYCLES = """\b
Examples:
  zwang cycles model.toml --vary A --within 0.09:0.16 --plot diagram.png
  zwang cycles woodpecker.toml --steady y --impact newton --vary mu --within 0.25:0.4 --json
"""


@command("cycles", CYCLES, state=GUESS, out="the branches", plot="the diagram")
@click.option("--vary", required=True, metavar="NAME", help="The parameter over which cycles are followed.")
@click.option("--within", required=True, metavar="LOW:HIGH", help="Its range, which has the model's value in it.")
@click.option("--no-switch", is_flag=True, help="Don't follow branches that leave at flips and crossings.")
@click.option("--doublings", type=int, default=2, show_default=True, help="How often the period may be doubled.")
@PERIOD
@STEADY
@IMPACT
@click.option("--show", "shown", help="What --plot draws upwards: a coordinate, a velocity, or period.")
def cycles_(
    asked: Request,
    vary: str,
    within: str,
    no_switch: bool,
    doublings: int,
    impact: str | None,
    shown: str | None,
    **options: Any,
) -> None:
    """Periodic motions over a parameter, from the one near the model's state, and where they change.

    Exit code 1: no motion nearby returns to its start, or a budget was spent.
    """
    first = periodic(asked.model, asked.state, asked.params, impact=impact, budget=asked.budget, **options)
    if first.status is not CycleStatus.CLOSED:
        tell(repr(first))
        asked.files.end(NO_ANSWER)
        return
    ends = tuple(number(text, "--within") for text in within.split(":"))
    answer = cycles(
        asked.model, first, asked.params, vary=vary, within=ends, switch=not no_switch, doublings=doublings,
        impact=impact, budget=asked.budget,
    )  # fmt: skip
    good = answer.status is CyclesStatus.FOUND
    asked.end(answer, _plain, good=good, drawn=lambda one, path: draw(one, path, *_chosen(shown)))


def _plain(answer: Cycles) -> dict[str, Any]:
    """Return branches and special points as plain numbers."""
    names = ("number", "origin", "values", "periods", "stable", "reason")
    told = plainly("name", "vary", "reason")(answer)
    told["branches"] = [{name: getattr(branch, name) for name in names} for branch in answer.branches]
    for kinds in KINDS:
        told[kinds] = [{"value": one.value, "branches": one.branches} for one in getattr(answer, kinds)]
    return told


@command("lyapunov", out="the result", plot="how they settle")
@click.option("--until", required=True, metavar="TIME", help="End of the motion [s].")
@click.option("--transient", default="0", show_default=True, metavar="TIME", help="From when on growth counts [s].")
@click.option("--exponents", type=int, help="How many of the largest; by default all.")
@IMPACT
def lyapunov_(asked: Request, until: str, transient: str, exponents: int | None, impact: str | None) -> None:
    """Lyapunov exponents of a motion, through its events.

    Exit code 1: the motion has no derivative all the way, or does not come to its end.
    """
    answer = lyapunov(
        asked.model, asked.state, asked.params, until=number(until, "--until"), impact=impact, exponents=exponents,
        transient=number(transient, "--transient"), budget=asked.budget,
    )  # fmt: skip
    plain = plainly("name", "exponents", "uncertainty", "instant", "reason")
    asked.end(answer, plain, good=answer.status is LyapunovStatus.COMPUTED)
