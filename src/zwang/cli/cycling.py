"""The commands about cycles: periodic, lyapunov."""

from __future__ import annotations

from pathlib import Path

import click

from zwang._compile import compile
from zwang._cycles import lyapunov, periodic
from zwang._results.cycle import CycleStatus
from zwang._results.lyapunov import LyapunovStatus
from zwang.cli.files import Files
from zwang.cli.nearby import draw, given
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import Assignments, budget_from, budget_option, number

EXAMPLES = """\b
Examples:
  zwang periodic model.toml --period "2*pi/w"
  zwang periodic woodpecker.toml --steady y --impact newton --plot multipliers.png --show multipliers
"""


@click.command("periodic", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL")
@click.option("--period", help="A number, or an expression of the parameters; by default found.")
@click.option("--section", help="An expression that vanishes at the start of the cycle.")
@click.option("--steady", multiple=True, metavar="NAME", help="A coordinate that need not return.")
@click.option("--impact", help="newton, poisson or energetic.")
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


@click.command("lyapunov", cls=Assignments)
@click.argument("model", metavar="MODEL")
@click.option("--until", required=True, metavar="TIME", help="End of the motion [s].")
@click.option("--transient", default="0", show_default=True, metavar="TIME", help="From when on growth counts [s].")
@click.option("--exponents", type=int, help="How many of the largest; by default all.")
@click.option("--impact", help="newton, poisson or energetic.")
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
