"""Several contacts at once as single impacts one after the other, in every order.

A contact that approaches strikes alone, the other contacts looking on; what approaches then strikes next. Contacts that
were closed and at rest take part as soon as another's impact makes them approach. Orders branch where several contacts
approach, and where the laws of a single impact differ. They are followed level by level, and states that several orders
come to are followed once. An order whose approaching speeds die out is at its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.impact_problem import CONTACT, ImpactOutcome, ImpactProblem, outcome_of

Array = NDArray[np.float64]

MOST_ORDERS = 1000  # beyond it outcomes are too many to be looked at one by one
MOST_IMPACTS = 1000  # of one order; an order that needs more goes on for ever, or as good
SETTLED = 1e-12
"""Rates above minus this, relative to the speed before all impacts, don't approach any more."""
SAME = 1e-10
"""Velocities in the kinetic metric that differ by less, relative to the speed before, are one state."""
NAMED = 6
"""Impacts of an order that are named one by one."""

Single = Callable[[ImpactProblem, int], "Sequence[ImpactOutcome] | str"]
"""From a problem and the contact that strikes alone to the outcomes of every law, or why there is none, in words."""


@dataclass(frozen=True, eq=False)
class Orders:
    """Where the orders lead: one outcome for each distinct end, and why not all of them count, or None."""

    outcomes: tuple[ImpactOutcome, ...]
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class _Way:
    """A state on the way: velocity, impulses so far, who struck, and how many orders lead here."""

    velocity: Array
    normal: Array
    tangential: Array
    struck: tuple[str, ...]
    count: int


def every_order(problem: ImpactProblem, single: Single) -> Orders:
    """Return the ends of all orders of single impacts.

    Examples
    --------
    Newton's cradle, three equal balls at rest in contact, the first comes in with speed 1:

    >>> from zwang._numerics.impacts.impact_problem import ImpactContact
    >>> from zwang._numerics.impacts.resolve import single_impacts
    >>> gaps = [ImpactContact(row, restitution=1.0, name=name) for row, name in (([-1, 1, 0], "a"), ([0, -1, 1], "b"))]
    >>> found = every_order(ImpactProblem(np.eye(3), [1.0, 0.0, 0.0], gaps), single_impacts)
    >>> [(one.law, (one.velocity + 0.0).tolist()) for one in found.outcomes]
    [("single impacts at 'a', 'b'", [0.0, 0.0, 1.0])]
    """
    factor = np.linalg.cholesky(problem.mass).T
    speed = float(np.linalg.norm(factor @ problem.velocity))
    k = len(problem.contacts)
    alive = [_Way(problem.velocity, np.zeros(k), np.zeros((k, 2)), (), 1)]
    ended: list[_Way] = []
    reason = None
    for _ in range(MOST_IMPACTS):
        spread = [(way, _approaching(problem, way.velocity, speed)) for way in alive]
        ended = _joined(factor, speed, [*ended, *(way for way, places in spread if not places)])
        spread = [(way, places) for way, places in spread if places]
        if not spread:
            break
        if sum(way.count * len(places) for way, places in spread) + sum(way.count for way in ended) > MOST_ORDERS:
            reason = f"more than {MOST_ORDERS} orders of single impacts are possible"
            break
        found = _next(problem, spread, single)
        if isinstance(found, str):
            reason = found
            break
        alive = _joined(factor, speed, found)
    else:
        reason = f"an order of single impacts does not end within {MOST_IMPACTS} of them"
    outcomes = (outcome_of(problem, way.velocity, way.normal, way.tangential, _name(way)) for way in ended)
    return Orders(tuple(outcomes), reason)


def _approaching(problem: ImpactProblem, velocity: Array, speed: float) -> list[int]:
    """Return the contacts that approach at a velocity."""
    rates = problem.rates_of(velocity)
    reach = np.sqrt(np.einsum("ij,jk,ik->i", problem.normals, problem.response, problem.normals))
    return [
        j
        for j, one in enumerate(problem.contacts)
        if one.kind == CONTACT and rates[j] < -SETTLED * (reach[j] * speed + abs(one.rate0))
    ]


def _next(problem: ImpactProblem, spread: list[tuple[_Way, list[int]]], single: Single) -> list[_Way] | str:
    """Return the ways after one more impact on each."""
    found = []
    for way, places in spread:
        for j in places:
            outcomes = single(replace(problem, velocity=way.velocity), j)
            if isinstance(outcomes, str):
                return outcomes
            for one in outcomes:
                law = "" if one.law == "any" else f" ({one.law})"
                found.append(
                    _Way(
                        one.velocity,
                        way.normal + one.normal,
                        way.tangential + one.tangential,
                        (*way.struck, f"'{problem.name_of(j)}'{law}"),
                        way.count,
                    )
                )
    return found


def _joined(factor: Array, speed: float, ways: list[_Way]) -> list[_Way]:
    """Return the ways with those of one velocity as one, which keeps the shortest order."""
    kept: list[_Way] = []
    for way in ways:
        for i, other in enumerate(kept):
            if np.linalg.norm(factor @ (way.velocity - other.velocity)) <= SAME * speed:
                kept[i] = replace(other, count=other.count + way.count)
                break
        else:
            kept.append(way)
    return kept


def _name(way: _Way) -> str:
    more = f" and so on, {len(way.struck)} in all" if len(way.struck) > NAMED else ""
    return f"single impacts at {', '.join(way.struck[:NAMED])}{more}"
