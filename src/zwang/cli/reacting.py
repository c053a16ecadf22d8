"""The command reactions: at one state, or as a map over ranges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from zwang._compile import Model, compile
from zwang._plot import new_figure
from zwang._plot.style import symbol
from zwang._reactions.holding import hold, slips_of
from zwang._reactions.verb import reactions
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.cli.completing import complete_model
from zwang.cli.files import Files, write_picture
from zwang.cli.models import find_model
from zwang.cli.progress import progress
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.values import (
    Assignments,
    angle_names,
    budget_from,
    budget_option,
    in_radians,
    input_option,
    inputs_from,
    ranges_from,
    require_known,
    values_from,
)
from zwang.errors import DeclarationError

NOT_ANSWERED = {ReactionsStatus.NONE, ReactionsStatus.UNDECIDED}
EXAMPLES = """\b
Examples:
  zwang reactions painleve_rod --param mu=1.4
  zwang reactions painleve_rod --hold tip --map mu=0:3:500 theta=1:89:500 --degrees --plot map.png
"""


@click.command("reactions", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help="Values of the state; override the model's.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option(
    "--map",
    "ranges",
    multiple=True,
    metavar="NAME=LOW:HIGH:COUNT ...",
    help="Count the solutions over ranges of parameters or of the state. Of two, the second runs to the right.",
)
@click.option("--degrees", is_flag=True, help="Angles in --state and --map are in degrees (their velocities in rad/s).")
@click.option(
    "--hold",
    "held",
    multiple=True,
    metavar="CONSTRAINT",
    help="Keep a constraint closed: coordinates that --map doesn't vary follow, by the least change in the kinetic "
    "metric; its slip stays as it was, unless --map varies a velocity. May be given several times.",
)
@click.option("--follow", multiple=True, metavar="COORDINATE", help="With --hold: only these coordinates follow.")
@click.option(
    "--slip", "slips", multiple=True, metavar="CONSTRAINT=NUMBER", help="With --hold: its slip velocity [m/s]."
)
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write a table of it: .csv.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the result: .png, .svg or .pdf.")
@click.option(
    "--what",
    type=click.Choice(["counts", "kinds"]),
    default="counts",
    show_default=True,
    help="What a map shows: how many solutions there are, or what happens (holds, slides, tips, none, several).",
)
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def reactions_(
    model: str,
    state: tuple[str, ...],
    params: tuple[str, ...],
    driving: tuple[str, ...],
    ranges: tuple[str, ...],
    degrees: bool,
    held: tuple[str, ...],
    follow: tuple[str, ...],
    slips: tuple[str, ...],
    budget: tuple[str, ...],
    out: Path | None,
    table: Path | None,
    picture: Path | None,
    what: str,
    json_: bool,
) -> None:
    """Every acceleration and reaction that the laws allow at a state, or their number over ranges.

    Numbers may be expressions such as pi/3. Exit code 1: no reaction satisfies the laws, none was found, or the state
    violates a constraint.
    """
    if (follow or slips) and not held:
        raise DeclarationError("--follow and --slip go with --hold, which names the constraints to keep closed.")
    files = Files(out=out, table=table, picture=picture)
    found = find_model(model)
    compiled = compile(found.system)
    asked = _Question(compiled, found.state, found.params, degrees, inputs_from(driving))
    asked.set(state, params, ranges)
    if held:
        asked.hold(held, follow, values_from(slips, "--slip"))
    result = asked.answer(budget_from(budget))
    files.write(out, result.save)
    files.write(table, result.to_csv)
    files.write(picture, lambda path: draw(result, path, angle_names(found.system) if degrees else set(), what))
    answered = _tell_map(result, asked, json_) if isinstance(result, ReactionsMap) else _tell_one(result, asked, json_)
    files.end(0 if answered else NO_ANSWER)


class _Question:
    """A model with values, some of which may be ranges."""

    def __init__(
        self,
        model: Model,
        state: dict[str, Any],
        params: dict[str, Any],
        degrees: bool,
        inputs: dict[str, Any] | None = None,
    ) -> None:
        self.inputs = inputs
        self.model, self.state, self.params, self.degrees = model, dict(state), dict(params), degrees
        self.ranges: dict[str, Any] = {}
        self.start: dict[str, Any] = {}

    def set(self, state: tuple[str, ...], params: tuple[str, ...], ranges: tuple[str, ...]) -> None:
        """Put the values of the command line in their places."""
        system = self.model.system
        of_state = ["t", *(item.name for item in (*system.coordinates, *system.velocities))]
        of_params = [item.name for item in system.parameters]
        given, numbers = values_from(state, "--state"), values_from(params, "--param")
        varied = ranges_from(ranges, "--map")
        require_known(system, given, of_state, "--state")
        require_known(system, numbers, of_params, "--param")
        require_known(system, varied, [*of_state, *of_params], "--map")
        if self.degrees:
            given, varied = in_radians(system, given), in_radians(system, varied)
        self.state |= given
        self.params |= numbers
        self.start = {
            name: varied[name][0] for name in varied if name in of_state and name not in self.state
        } | self.state
        for place, (name, values) in enumerate(varied.items()):
            self.ranges[name] = values
            spread = values.reshape(-1, *(1 for _ in range(len(varied) - place - 1)))
            (self.state if name in of_state else self.params)[name] = spread

    def hold(self, held: tuple[str, ...], follow: tuple[str, ...], slips: dict[str, float]) -> None:
        """Move the states onto constraints; the slips stay as they are at the start unless velocities are varied."""
        velocities = {item.name for item in self.model.system.velocities}
        if not velocities & set(self.ranges):
            params = {name: np.ravel(value)[0] for name, value in self.params.items()}
            slips = slips_of(self.model, self.start, params, held, self.inputs) | slips
        self.state = hold(
            self.model, self.state, self.params, held, fixed=set(self.ranges), follow=follow or None, slips=slips,
            inputs=self.inputs,
        )  # fmt: skip

    def answer(self, budget: float | dict[str, float] | None) -> Reactions | ReactionsMap:
        """Ask the verb, with a bar on stderr for a map."""
        if not self.ranges:
            return reactions(self.model, self.state, self.params, budget=budget, inputs=self.inputs)
        total = int(np.prod([len(values) for values in self.ranges.values()]))
        with progress(f"reactions of {self.model.system.name}", total) as show:
            result = reactions(
                self.model,
                self.state,
                self.params,
                budget=budget,
                report=lambda done: show(done, ""),
                inputs=self.inputs,
            )
            show(total, "")
        return result


def _tell_one(result: Any, asked: _Question, json_: bool) -> bool:
    """Print reactions and return whether they are an answer."""
    if json_:
        print_json({**as_plain(result), "state": asked.state, "params": asked.params})
    else:
        tell(repr(result))
    return result.status not in NOT_ANSWERED


def _tell_map(result: ReactionsMap, asked: _Question, json_: bool) -> bool:
    """Print a map and return whether it is an answer."""
    if json_:
        print_json(
            {
                "name": result.name,
                "axes": list(asked.ranges),
                "values": asked.ranges,
                "statuses": [status.name for status in ReactionsStatus],
                "codes": result.codes,
                "counts": result.counts,
                "kinds": result.kinds,
                "shares": result.shares(),
                "residual": result.residual,
                "digest": result.provenance.digest,
            },
            indent=None,
        )
    else:
        tell(repr(result))
    outside = result.shares().get("INADMISSIBLE", 0)
    if outside:
        named = ", ".join(asked.model.system.constraints.names[:6])
        tell(
            f"{outside} of {result.codes.size} states violate a constraint; --hold keeps one closed along the map "
            f"(constraints: {named}).",
            err=True,
        )
    return outside < result.codes.size


def as_plain(result: Reactions) -> dict[str, Any]:
    """Return what JSON shows of reactions."""
    return {
        "name": result.name,
        "status": result.status.name,
        "sentence": result.status.value,
        "contacts": result.contacts,
        "coordinates": result.coordinates,
        "complete": result.complete,
        "accelerations": result.accelerations,
        "accelerations_continuum": result.accelerations_continuum,
        "solutions": [
            {
                "modes": dict(zip(item.names, item.modes, strict=True)),
                "acceleration": item.acceleration,
                "acceleration_unique": item.acceleration_unique,
                "normal": item.normal,
                "tangential": item.tangential,
                "gap_acceleration": item.gap_acceleration,
                "dimension": item.dimension,
                "component": item.component,
                "ranges": {"normal": item.ranges.normal, "tangential": item.ranges.tangential},
                "residual": item.residual,
            }
            for item in result.solutions
        ],
        "rejected": [
            {"modes": result.rejected.key(row), **_rejection(result.rejected.at(row))}
            for row in range(len(result.rejected))
        ],
        "certificates": [
            {"kind": item.kind, "number": item.number, "scope": item.scope, "sentence": item.sentence}
            for item in result.certificates
        ],
        "note": result.note,
        "residual": result.residual,
        "digest": result.provenance.digest,
    }


def _rejection(item: Any) -> Mapping[str, Any]:
    return {"reason": item.reason, "value": item.value, "contact": item.contact}


def draw(result: Reactions | ReactionsMap, path: Path, degrees: set[str], what: str = "counts") -> None:
    """Write the picture of a result to a file; angles named in `degrees` are shown in degrees."""
    figure, ax = new_figure()
    if isinstance(result, ReactionsMap):
        names = result.along()[2]
        values = [np.degrees(result.values[name]) if name in degrees else result.values[name] for name in names]
        labels = [f"{symbol(name)} [°]" if name in degrees else symbol(name) for name in names]
        result.draw(values, labels, what=what, ax=ax)
    else:
        result.plot(ax=ax)
    write_picture(figure, path)
