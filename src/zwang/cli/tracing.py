"""The command trace: the configuration space with its singular points."""

from __future__ import annotations

from pathlib import Path

import click

from zwang._plot import new_figure
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.configuration_text import summary
from zwang._trace import trace
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    assigned,
    budget_from,
    budget_option,
    input_option,
    inputs_from,
    number,
    values_from,
)
from zwang.errors import DeclarationError

EXAMPLES = """\b
Examples:
  zwang trace four_bar
  zwang trace ellipse_pendulum --param a=-0.4 --plot space.png
  zwang trace crossing --box x=-1:1 --box y=-1:1 --json
"""


@click.command("trace", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL")
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
@click.option("--time", "instant", metavar="NUMBER", help="The instant, for constraints with explicit time [s].")
@click.option("--seed", default=0, show_default=True, help="Of the random starts.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table of it: .csv.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the space: .png, .svg or .pdf.")
@click.option("--axes", "chosen", metavar="X,Y", help="With --plot: the two coordinates to draw.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def trace_(
    model: str,
    params: tuple[str, ...],
    driving: tuple[str, ...],
    sides: tuple[str, ...],
    search: str,
    instant: str | None,
    seed: int,
    budget: tuple[str, ...],
    out: Path | None,
    table: Path | None,
    picture: Path | None,
    chosen: str | None,
    json_: bool,
) -> None:
    """The configuration space: arcs, singular points with their kind, components.

    Exit code 1: no configuration satisfies the constraints, or not all could be resolved.
    """
    if chosen is not None and picture is None:
        raise DeclarationError("--axes goes with --plot, which draws two coordinates over each other.")
    pair = [name.strip() for name in chosen.split(",")] if chosen is not None else []
    if chosen is not None and len(pair) != 2:
        raise DeclarationError(f"--axes needs two coordinates, such as --axes x,y; it was given '{chosen}'.")
    files = Files(out=out, table=table, picture=picture)
    found = find_model(model)
    box = box_from(sides, "--box")
    t = None if instant is None else number(instant, "--time")
    values = found.params | values_from(params, "--param")
    space = trace(
        found.system,
        values,
        box=box or None,
        search=search,
        t=t,
        seed=seed,
        budget=budget_from(budget),
        inputs=inputs_from(driving),
    )
    files.write(out, space.save)
    files.write(table, space.to_csv)
    files.write(picture, lambda path: _draw(space, path, pair))
    if json_:
        print_json(summary(space))
    else:
        tell(repr(space))
    files.end(NO_ANSWER if space.status in (TraceStatus.EMPTY, TraceStatus.UNFINISHED) else 0)


def _draw(space: ConfigurationSpace, path: Path, pair: list[str]) -> None:
    figure, ax = new_figure((6.4, 4.6))
    space.plot(*pair, ax=ax)
    write_picture(figure, path)


def box_from(texts: tuple[str, ...], option: str) -> dict[str, tuple[float, float]]:
    """Return name -> (low, high) from texts such as 'x=-1:1'."""
    return {name: _bounds(name, text, option) for name, text in assigned(texts, option).items()}


def _bounds(name: str, text: str, option: str) -> tuple[float, float]:
    parts = text.split(":")
    if len(parts) != 2:
        raise DeclarationError(f"{option} {name} needs low:high, such as {option} {name}=-1:1; it was given '{text}'.")
    return number(parts[0], f"{option} {name}"), number(parts[1], f"{option} {name}")
