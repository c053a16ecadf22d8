"""The command reactions: at one state, or as a map over ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from zwang._plot import new_figure
from zwang._plot.style import symbol
from zwang._reactions.holding import hold, slips_of
from zwang._reactions.verb import reactions
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.cli.answer_files import write_picture
from zwang.cli.option_values import angle_names, in_radians, ranges_from, require_known, values_from
from zwang.cli.output import NO_ANSWER, print_json, tell
from zwang.cli.progress import progress
from zwang.cli.request import Request, command, plainly
from zwang.errors import DeclarationError

NOT_ANSWERED = {ReactionsStatus.NONE, ReactionsStatus.UNDECIDED}
EXAMPLES = """\b
Examples:
  zwang reactions painleve_rod --param mu=1.4
  zwang reactions painleve_rod --hold tip --map mu=0:3:500 theta=1:89:500 --degrees --plot map.png
"""


@command("reactions", EXAMPLES, inputs=True, out="the result", table=True, plot="the result")
@click.option(
    "--map",
    "ranges",
    multiple=True,
    metavar="NAME=LOW:HIGH:COUNT ...",
    help="Count the solutions over ranges of parameters or of the state. Of two, the second runs to the right; "
    "--degrees goes for them too.",
)
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
@click.option(
    "--what",
    type=click.Choice(["counts", "kinds"]),
    default="counts",
    show_default=True,
    help="What a map shows: how many solutions there are, or what happens (holds, slides, tips, none, several).",
)
def reactions_(
    asked: Request,
    ranges: tuple[str, ...],
    held: tuple[str, ...],
    follow: tuple[str, ...],
    slips: tuple[str, ...],
    what: str,
) -> None:
    """Every acceleration and reaction that the laws allow at a state, or their number over ranges.

    Numbers may be expressions such as pi/3. Exit code 1: no reaction satisfies the laws, none was found, or the state
    violates a constraint.
    """
    if (follow or slips) and not held:
        raise DeclarationError("--follow and --slip go with --hold, which names the constraints to keep closed.")
    places = _Places(asked, ranges)
    if held:
        places.hold(held, follow, values_from(slips, "--slip"))
    result = places.answer(asked.budget)
    degrees = angle_names(asked.system) if asked.degrees else set()
    asked.write(result, lambda one, path: draw(one, path, degrees, what))
    if isinstance(result, ReactionsMap):
        answered = _tell_map(result, places, asked.json)
    else:
        asked.tell(result, lambda one: {**as_plain(one), "state": places.state, "params": places.params})
        answered = result.status not in NOT_ANSWERED
    asked.files.end(0 if answered else NO_ANSWER)


class _Places:
    """States and parameters of a model, some of which may run over ranges."""

    def __init__(self, asked: Request, ranges: tuple[str, ...]) -> None:
        self.model, self.inputs = asked.model, asked.inputs
        self.state, self.params = asked.state, asked.params
        self.ranges: dict[str, Any] = ranges_from(ranges, "--map")
        of_state = asked.of_state
        require_known(asked.system, self.ranges, [*of_state, *asked.of_params], "--map")
        if asked.degrees:
            self.ranges = in_radians(asked.system, self.ranges)
        self.start = {name: values[0] for name, values in self.ranges.items() if name in of_state} | self.state
        for place, (name, values) in enumerate(self.ranges.items()):
            spread = values.reshape(-1, *(1 for _ in range(len(self.ranges) - place - 1)))
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


def _tell_map(result: ReactionsMap, asked: _Places, json_: bool) -> bool:
    """Print a map and return whether it is an answer."""
    if json_:
        print_json(
            {
                **{name: getattr(result, name) for name in ("name", "codes", "counts", "kinds", "residual")},
                "axes": list(asked.ranges),
                "values": asked.ranges,
                "statuses": [status.name for status in ReactionsStatus],
                "shares": result.shares(),
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
    numbers = ("acceleration", "acceleration_unique", "normal", "tangential", "gap_acceleration", "dimension",
               "component", "residual")  # fmt: skip
    names = ("name", "contacts", "coordinates", "complete", "accelerations", "accelerations_continuum", "note")
    rejected = [(result.rejected.key(row), result.rejected.at(row)) for row in range(len(result.rejected))]
    return {
        **plainly(*names, "residual")(result),
        "sentence": result.status.value,
        "solutions": [
            {
                "modes": dict(zip(item.names, item.modes, strict=True)),
                **{name: getattr(item, name) for name in numbers},
                "ranges": {"normal": item.ranges.normal, "tangential": item.ranges.tangential},
            }
            for item in result.solutions
        ],
        "rejected": [
            {"modes": modes, "reason": item.reason, "value": item.value, "contact": item.contact}
            for modes, item in rejected
        ],
        "certificates": [
            {name: getattr(item, name) for name in ("kind", "number", "scope", "sentence")}
            for item in result.certificates
        ],
        "digest": result.provenance.digest,
    }


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
