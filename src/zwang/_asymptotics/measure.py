"""Measurements: the equations solved with eighty digits at points that near the singular one.

Exponents come from values at shrinking distances by Richardson's extrapolation; the number of solutions is compared
with what `reactions` counts, by enumeration of modes in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from zwang._asymptotics.approaches import Case, WayIn, counts, is_consistent, sides, signs_on
from zwang._asymptotics.mechanics import CurveTerms, SlidingLaw, directions
from zwang._asymptotics.neighbours import neighbour, reach_of
from zwang._asymptotics.point import ConstraintSet, Number
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.series.balls import BALLS
from zwang._reactions.enumerate import reactions_of_problem

Values = dict[tuple[Case, str], Any]
APART = 0.05
"""Neighbouring points lie this part of the radius of curvature, or of the distance, away."""
SETTLED = 1e-3
"""Error of an exponent up to which it counts as measured."""
NOTHING = 1e-45
"""What is smaller at the largest distance of a measurement is rounding: else its exponent would be above seven."""
NOISY = 10.0
"""Slopes that converge change by half as much each time; a change so many times the last one is no convergence."""
HALVINGS = 9
"""Times that tau is halved."""


@dataclass(frozen=True)
class Power:
    """y = coefficient * x^exponent to leading order; an exponent of None: y is zero."""

    exponent: Any
    coefficient: Number
    error: Any = 0.0


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


def evaluate(approach: WayIn, q: Sequence[Number]) -> Values:
    """Return every multiplier and reaction at one point, with eighty digits."""
    return approach.values(q)


def measure(approach: WayIn, tau: float) -> Measurement:
    """Return the leading behaviour of every quantity as tau is halved again and again."""
    x, samples = [], []
    for k in range(HALVINGS + 1):
        q = approach.half.at(tau / 2**k)
        x.append(approach.size(q))
        samples.append(evaluate(approach, q))
    powers = {key: measured_power(x, [item[key] for item in samples]) for key in samples[-1]}
    unsettled = frozenset(key for key, power in powers.items() if not _settled(power))
    powers |= {key: Power(float("nan"), float("nan"), powers[key].error) for key in unsettled}
    last = samples[-1]
    signs = {case: is_consistent(approach.mechanics, case, last) for case, _ in last}
    return Measurement(x, samples, powers, counts(approach.mechanics, last), signs, _outer(approach, tau), unsettled)


def _settled(power: Power) -> bool:
    """Say whether what was measured is a power: its exponent is known, and its coefficient is a number."""
    if power.exponent is None:
        return True
    finite = BALLS.number(power.exponent).is_finite() and BALLS.number(power.coefficient).is_finite()
    return bool(finite and power.error <= SETTLED)


def _outer(approach: WayIn, tau: float) -> list[tuple[Number, Values]]:
    """Return values further out, for pictures: from a tenth of the local length down to where measuring starts."""
    found: list[tuple[Number, Values]] = []
    here = 0.1
    while here > 10 * tau:
        q = approach.half.at(here)
        size = approach.size(q)
        if not found or size < found[-1][0]:
            found.append((size, approach.values(q)))
        here /= 10
    return found


def persistence(approach: WayIn, equations: ConstraintSet, measured: Measurement, tau: float) -> dict[Case, bool]:
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
        if BALLS.vanishes(above) or BALLS.vanishes(below):
            return False
        slope = abs(below / above).log() / (x2 / x1).log()
        if not abs(slope - power.exponent) <= 0.02:
            return False
    return True


def measured_power(x: Sequence[Number], y: Sequence[Number]) -> Power:
    """Return exponent and coefficient from values at tau, tau/2, tau/4, ...

    The slopes of log |y| over log x are p + c1 tau + c2 tau^2 + ...; Richardson's scheme removes one power of tau after
    the other. The error is the change of the last step.

    Examples
    --------
    >>> x = [arb(2) ** -k for k in range(12)]
    >>> found = measured_power(x, [3 * item**-2 * (1 + item) for item in x])
    >>> round(float(found.exponent), 8), round(float(found.coefficient), 8)
    (-2.0, 3.0)
    """
    if any(BALLS.vanishes(item) for item in y) or abs(y[0]) < NOTHING:
        return Power(None, arb(0))
    slopes = [abs(y[k + 1] / y[k]).log() / (x[k + 1] / x[k]).log() for k in range(len(x) - 1)]
    sound = _sound(slopes)
    exponent, error = _limit(slopes[:sound])
    near = rounded(exponent)
    coefficient, _ = _limit([b / a**near for a, b in zip(x[: sound + 1], y, strict=False)])
    return Power(exponent, coefficient, float(error))


def rounded(exponent: Number) -> Number:
    """Return the fraction with a small denominator that a measured exponent means, or itself where it means none."""
    for denominator in range(1, 25):
        above = round(float(exponent) * denominator) if exponent.is_finite() else 0
        if abs(exponent - arb(above) / denominator) < 1e-4 / denominator:
            return arb(above) / denominator
    return exponent


def _sound(slopes: Sequence[Number]) -> int:
    """Return how many slopes come before digits run out: from there on they change by more than they did.

    Where forces cancel in several orders, or the point is known to fewer digits, the nearest values are rounding.
    """
    changes = [abs(slopes[k + 1] - slopes[k]).mid() for k in range(len(slopes) - 1)]
    for k in range(2, len(changes)):
        if changes[k] > NOISY * changes[k - 1] > 0:
            return k + 1
    return len(slopes)


def _limit(values: Sequence[Number]) -> tuple[Number, Number]:
    """Return the limit of a sequence with an expansion in powers of tau, tau halved at each step, and its error."""
    row = [item.mid() for item in values]
    best, error = row[-1], abs(row[-1] - row[-2])
    for order in range(1, len(values)):
        factor = 2**order
        row = [((factor * row[k + 1] - row[k]) / (factor - 1)).mid() for k in range(len(row) - 1)]
        change = abs(row[-1] - best)
        if change > error and order > 2:
            break
        best, error = row[-1], change
    return best, error


def enumerated(approach: WayIn, q: Sequence[Number]) -> dict[tuple[int, str], int]:
    """Return the number of solutions for each direction of motion and each side of a turning point."""
    mechanics = approach.mechanics
    found: dict[tuple[int, str], int] = {}
    forward = approach.velocity(q)
    for way in (1, -1):
        terms = mechanics.terms(q, [item * way for item in forward])
        for side in sides(approach.turning):
            along = directions(terms, mechanics.laws, signs_on(side, approach.turning))
            if along is None:
                continue
            laws = {law.normal: (law, direction) for law, direction in zip(mechanics.laws, along, strict=True)}
            contacts = []
            for law, direction in zip(mechanics.laws, along, strict=True):
                if law.normal is None:
                    contacts.append(Contact(None, friction=1.0, **_rough(terms, law, direction, given=True)))
            for k, row in enumerate(terms.rows):
                rough = _rough(terms, *laws[k]) if k in laws else {}
                normal = np.array([float(x) for x in row])
                contacts.append(Contact(normal, bias=float(terms.gamma[k]), bilateral=True, **rough))
            mass = np.array([[float(x) for x in row] for row in terms.mass])
            problem = ContactProblem(mass, np.array([float(x) for x in terms.force]), contacts)
            result = reactions_of_problem(problem, certify=False, exact=False)
            found[way, side] = len(result.solutions)
    return found


def _rough(terms: CurveTerms, law: SlidingLaw, direction: Sequence[Any], *, given: bool = False) -> dict[str, Any]:
    """Return what a contact says of its friction; `given`: the bound is a force and no coefficient."""
    return {
        "tangent": np.array([[float(x) for x in terms.slip_rows[j]] for j in law.slips]),
        "normal_force" if given else "friction": float(law.size(terms, direction)),
        "slip": np.array([float(x) for x in direction]),
    }
