"""The commands about cycles: periodic, cycles, lyapunov."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._compile import compile
from zwang._cycles import cycles, lyapunov, periodic
from zwang._results.cycle import CycleStatus
from zwang._results.cycles import KINDS, Cycles, CyclesStatus
from zwang._results.lyapunov import LyapunovStatus
from zwang.cli.completing import complete_model
from zwang.cli.files import Files
from zwang.cli.nearby import draw, given
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import Assignments, Words, budget_from, budget_option, number

EXAMPLES = """\b
Examples:
  zwang periodic model.toml --period "2*pi/w"
  zwang periodic woodpecker.toml --steady y --impact newton --plot multipliers.png --show multipliers
"""


@click.command("periodic", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--period", help="A number, or an expression of the parameters; by default found.")
@click.option("--section", help="An expression that vanishes at the start of the cycle.")
@click.option("--steady", multiple=True, metavar="NAME", help="A coordinate that need not return.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option("--tol", default="1e-12", show_default=True, help="Of the motions.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="The guess; overrides the model's state.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the cycle: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the cycle: .png, .svg or .pdf.")
@click.option("--show", "shown", help="What --plot draws: multipliers, or a coordinate against its velocity.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def periodic_(
    model: str,
    period: str | None,
    section: str | None,
    steady: tuple[str, ...],
    impact: str | None,
    tol: str,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    shown: str | None,
    json_: bool,
) -> None:
    """The periodic motion near a guess, and its multipliers.

    Exit code 1: no motion nearby returns to its start.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    answer = periodic(
        compile(found.system), start, values, period=period, section=section, steady=steady, impact=impact,
        tol=number(tol, "--tol"), budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path, *([] if shown is None else [shown])))
    if json_:
        told = None if answer.multipliers is None else [[one.real, one.imag] for one in answer.multipliers.tolist()]
        names = ("name", "period", "residual", "stable", "state", "families", "reason")
        plain = {name: getattr(answer, name) for name in names}
        print_json({"status": answer.status.name, **plain, "multipliers": told})
    else:
        tell(repr(answer))
    files.end(0 if answer.status in (CycleStatus.CLOSED, CycleStatus.NOT_DIFFERENTIABLE) else NO_ANSWER)


CYCLES = """\b
Examples:
  zwang cycles model.toml --vary A --within 0.09:0.16 --plot diagram.png
  zwang cycles woodpecker.toml --steady y --impact newton --vary mu --within 0.25:0.4 --json
"""


@click.command("cycles", cls=Assignments, epilog=CYCLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--vary", required=True, metavar="NAME", help="The parameter over which cycles are followed.")
@click.option("--within", required=True, metavar="LOW:HIGH", help="Its range, which has the model's value in it.")
@click.option("--no-switch", is_flag=True, help="Don't follow branches that leave at flips and crossings.")
@click.option("--doublings", type=int, default=2, show_default=True, help="How often the period may be doubled.")
@click.option("--period", help="A number, or an expression of the parameters; by default found.")
@click.option("--steady", multiple=True, metavar="NAME", help="A coordinate that need not return.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="The guess; overrides the model's state.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the branches: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the diagram: .png, .svg or .pdf.")
@click.option("--show", "shown", help="What --plot draws upwards: a coordinate, a velocity, or period.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def cycles_(
    model: str,
    vary: str,
    within: str,
    no_switch: bool,
    doublings: int,
    period: str | None,
    steady: tuple[str, ...],
    impact: str | None,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    shown: str | None,
    json_: bool,
) -> None:
    """Periodic motions over a parameter, from the one near the model's state, and where they change.

    Exit code 1: no motion nearby returns to its start, or a budget was spent.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    system = compile(found.system)
    first = periodic(system, start, values, period=period, steady=steady, impact=impact, budget=budget_from(budget))
    if first.status is not CycleStatus.CLOSED:
        tell(repr(first))
        files.end(NO_ANSWER)
        return
    ends = tuple(number(text, "--within") for text in within.split(":"))
    answer = cycles(
        system, first, values, vary=vary, within=ends, switch=not no_switch, doublings=doublings,
        impact=impact, budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path, *([] if shown is None else [shown])))
    if json_:
        print_json({"status": answer.status.name, **_plain(answer)})
    else:
        tell(repr(answer))
    files.end(0 if answer.status is CyclesStatus.FOUND else NO_ANSWER)


def _plain(answer: Cycles) -> dict[str, Any]:
    """Return branches and special points as plain numbers."""
    names = ("number", "origin", "values", "periods", "stable", "reason")
    told: dict[str, Any] = {"name": answer.name, "vary": answer.vary, "reason": answer.reason}
    told["branches"] = [{name: getattr(branch, name) for name in names} for branch in answer.branches]
    for kinds in KINDS:
        told[kinds] = [{"value": one.value, "branches": one.branches} for one in getattr(answer, kinds)]
    return told


@click.command("lyapunov", cls=Assignments)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--until", required=True, metavar="TIME", help="End of the motion [s].")
@click.option("--transient", default="0", show_default=True, metavar="TIME", help="From when on growth counts [s].")
@click.option("--exponents", type=int, help="How many of the largest; by default all.")
@click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@click.option("--degrees", is_flag=True, help="Angles in --state are in degrees (their velocities in rad/s).")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw how they settle: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def lyapunov_(
    model: str,
    until: str,
    transient: str,
    exponents: int | None,
    impact: str | None,
    state: tuple[str, ...],
    params: tuple[str, ...],
    degrees: bool,
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Lyapunov exponents of a motion, through its events.

    Exit code 1: the motion has no derivative all the way, or does not come to its end.
    """
    files = Files(out=out, picture=picture)
    found, start, values = given(model, state, params, degrees)
    answer = lyapunov(
        compile(found.system), start, values, until=number(until, "--until"), impact=impact, exponents=exponents,
        transient=number(transient, "--transient"), budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        names = ("name", "exponents", "uncertainty", "instant", "reason")
        print_json({"status": answer.status.name, **{name: getattr(answer, name) for name in names}})
    else:
        tell(repr(answer))
    files.end(0 if answer.status is LyapunovStatus.COMPUTED else NO_ANSWER)
