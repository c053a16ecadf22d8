"""Measurements: the equations solved with eighty digits at points that near the singular one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zwang._asymptotics.approaches import Approach, Case, counts, is_consistent
from zwang._asymptotics.geometry import Equations
from zwang._asymptotics.growth import HALVINGS, Power, measured_power
from zwang._asymptotics.neighbours import neighbour, reach_of
from zwang._asymptotics.precision import Number, mp

Values = dict[tuple[Case, str], Any]
APART = mp.mpf("0.05")
"""Neighbouring points lie this part of the radius of curvature, or of the distance, away."""

SETTLED = mp.mpf("1e-3")
"""Error of an exponent up to which it counts as measured."""


@dataclass(frozen=True)
class Measurement:
    """What was found at the points: tau, x, and every quantity at each; powers; solutions by direction and side."""

    x: list[Number]
    samples: list[Values]
    powers: dict[tuple[Case, str], Power]
    solutions: dict[tuple[int, str], int]
    consistent: dict[Case, bool]
    outer: list[tuple[Number, Values]]
    unsettled: frozenset[tuple[Case, str]] = frozenset()


def evaluate(approach: Approach, q: Sequence[Number]) -> Values:
    """Return every multiplier and reaction at one point, with eighty digits."""
    return approach.values(q)


def measure(approach: Approach, tau: Number) -> Measurement:
    """Return the leading behaviour of every quantity as tau is halved again and again."""
    x, samples = [], []
    for k in range(HALVINGS + 1):
        q = approach.half.at(tau / 2**k)
        x.append(approach.size(q))
        samples.append(evaluate(approach, q))
    powers = {key: measured_power(x, [item[key] for item in samples]) for key in samples[-1]}
    unsettled = frozenset(key for key, power in powers.items() if not _settled(power))
    nothing = mp.mpf("nan")
    powers |= {key: Power(nothing, nothing, powers[key].error) for key in unsettled}
    last = samples[-1]
    signs = {case: is_consistent(approach.mechanics, case, last) for case, _ in last}
    return Measurement(x, samples, powers, counts(approach.mechanics, last), signs, _outer(approach, tau), unsettled)


def _settled(power: Power) -> bool:
    """Say whether what was measured is a power: its exponent is known, and its coefficient is a number."""
    if power.exponent is None:
        return True
    return bool(mp.isfinite(power.exponent) and mp.isfinite(power.coefficient) and power.error <= SETTLED)


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


def persistence(approach: Approach, equations: Equations, measured: Measurement, tau: Number) -> dict[Case, bool]:
    """Return for each case whether exponents and numbers of solutions are the same at neighbouring points.

    The neighbours are as far along the perturbed curve as a twentieth of its radius of curvature, or of the distance to
    the singular point where that is less. Where the slip vanishes at the point itself, the neighbour before it is
    compared with the values before it.
    """
    mechanics = approach.mechanics
    found: dict[Case, bool] = dict.fromkeys(measured.consistent, True)
    moving = replace(approach, turning={})  # at a neighbour no slip vanishes
    points = [approach.half.at(tau / 2**k) for k in range(2)]
    reaches = [reach_of(approach, equations, q) for q in points]
    for way in (1, -1):
        pair = []
        for q, reach in zip(points, reaches, strict=True):
            near = neighbour(equations, mechanics, q, APART * reach * way, approach.reference)
            pair.append((approach.size(near), moving.values(near)))
        for case in measured.consistent:
            side = "" if not approach.turning else ("after" if way * case.direction > 0 else "before")
            if case.side and case.side != side:
                continue
            found[case] = found[case] and _same(mechanics, case, measured, pair)
    return found


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
        if abs(slope - power.exponent) > mp.mpf("0.02"):
            return False
    return True
