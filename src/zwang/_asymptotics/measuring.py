"""Measurements: the equations solved with eighty digits at points that near the singular one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zwang._asymptotics.approaches import Approach, Case, counts, is_consistent, neighbour
from zwang._asymptotics.elimination import dot
from zwang._asymptotics.geometry import Equations
from zwang._asymptotics.growth import HALVINGS, Power, measured_power
from zwang._asymptotics.precision import Number, largest, mp

Values = dict[tuple[Case, str], Any]
APART = mp.mpf("0.05")
"""Neighbouring points lie this part of the radius of curvature, or of the distance, away."""


@dataclass(frozen=True)
class Measurement:
    """What was found at the points: tau, x, and every quantity at each; powers; solutions by direction and side."""

    x: list[Number]
    samples: list[Values]
    powers: dict[tuple[Case, str], Power]
    solutions: dict[tuple[int, str], int]
    consistent: dict[Case, bool]
    points: list[list[Number]]
    outer: list[tuple[Number, Values]]


def evaluate(approach: Approach, q: Sequence[Number]) -> Values:
    """Return every multiplier and reaction at one point, with eighty digits."""
    return approach.values(q)


def measure(approach: Approach, tau: Number) -> Measurement:
    """Return the leading behaviour of every quantity as tau is halved again and again."""
    x, samples, points = [], [], []
    for k in range(HALVINGS + 1):
        q = approach.half.at(tau / 2**k)
        points.append(q)
        x.append(approach.size(q))
        samples.append(evaluate(approach, q))
    powers = {key: measured_power(x, [item[key] for item in samples]) for key in samples[-1]}
    last = samples[-1]
    signs = {case: is_consistent(approach.mechanics, case, last) for case, _ in last}
    return Measurement(x, samples, powers, counts(approach.mechanics, last), signs, points, _outer(approach, tau))


def _outer(approach: Approach, tau: Number) -> list[tuple[Number, Values]]:
    """Return values further out, for pictures: from a tenth of the local length down to where measuring starts."""
    found: list[tuple[Number, Values]] = []
    here = mp.mpf("0.1")
    while here > 10 * tau:
        q = approach.half.at(here)
        size = approach.size(q)
        if not found or size < found[-1][0]:
            found.append((size, approach.values(q)))
        here /= 10
    return found


def persistence(approach: Approach, equations: Equations, measured: Measurement) -> dict[Case, bool]:
    """Return for each case whether exponents and numbers of solutions are the same at neighbouring points.

    The neighbours are as far along the perturbed curve as a twentieth of its radius of curvature, or of the distance to
    the singular point where that is less. Where the slip vanishes at the point itself, the neighbour before it is
    compared with the values before it.
    """
    mechanics = approach.mechanics
    found: dict[Case, bool] = dict.fromkeys(measured.consistent, True)
    for way in (1, -1):
        pair = []
        for q in measured.points[-2:]:
            step = APART * _reach(approach, equations, q) * way
            near = neighbour(equations, mechanics, q, step, approach.reference)
            pair.append((approach.size(near), _Neighbour(approach).values(near)))
        for case in measured.consistent:
            side = "" if not approach.turning else ("after" if way * case.direction > 0 else "before")
            if case.side and case.side != side:
                continue
            found[case] = found[case] and _same(mechanics, case, measured, pair)
    return found


class _Neighbour:
    """An approach at points where no slip vanishes."""

    def __init__(self, approach: Approach) -> None:
        from dataclasses import replace

        self.values = replace(approach, turning={}).values


def _same(mechanics: Any, case: Case, measured: Measurement, pair: Sequence[tuple[Number, Values]]) -> bool:
    here = Case(case.direction, case.friction)
    (x1, first), (x2, second) = pair
    if here not in {key for key, _ in second}:
        return False
    number = counts(mechanics, second).get((case.direction, ""), 0)
    if case.friction != "without" and number != measured.solutions.get((case.direction, case.side), 0):
        return False
    for (other, name), power in measured.powers.items():
        if other != case or power.exponent is None:
            continue
        above, below = first[here, name], second[here, name]
        if not above or not below:
            return False
        slope = mp.log(abs(below / above)) / mp.log(x2 / x1)
        if abs(slope - power.exponent) > mp.mpf("0.01"):
            return False
    return True


def _reach(approach: Approach, equations: Equations, q: Sequence[Number]) -> Number:
    """Return the radius of curvature of the perturbed curve at q, or the distance to the point where that is less."""
    mechanics = approach.mechanics
    away = largest([a - b for a, b in zip(q, approach.half.frame.point, strict=True)])
    step = away * mp.mpf(10) ** -25
    ends = []
    for way in (1, -1):
        near = neighbour(equations, mechanics, q, way * step, approach.reference)
        along = mechanics.tangent(near)
        length = mp.sqrt(dot(along, along))
        ends.append([item / length * (1 if dot(along, approach.reference) > 0 else -1) for item in along])
    bend = largest([a - b for a, b in zip(*ends, strict=True)]) / (2 * step)
    return min(away, 1 / bend) if bend else away


def is_nearest(approach: Approach, equations: Equations, q: Sequence[Number]) -> bool:
    """Return whether q is nearer to the singular point than its neighbours on the perturbed curve."""
    point = approach.half.frame.point
    step = _reach(approach, equations, q) * mp.mpf("0.01")

    def distance(place: Sequence[Number]) -> Number:
        return sum((a - b) ** 2 for a, b in zip(place, point, strict=True))

    near = [neighbour(equations, approach.mechanics, q, way * step, approach.reference) for way in (1, -1)]
    return all(distance(item) >= distance(q) for item in near)
