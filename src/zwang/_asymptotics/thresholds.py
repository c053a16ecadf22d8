"""The threshold: how far from the singular point the number of solutions stays what it is next to it.

For one guide the equation is a lam + b |lam| = c: two solutions or none where |b| > a, one where |b| < a. In general
the number changes where the determinant for a pattern of signs does. The points s_eps are followed outwards along
their curve until that happens, until eps turns back, or until the curve has gone far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from flint import arb

from zwang._asymptotics.approaches import WayIn, sides, signs_on
from zwang._asymptotics.mechanics import directions, stiffening
from zwang._asymptotics.neighbours import unit
from zwang._asymptotics.point import Number
from zwang._numerics.series.balls import BALLS, largest
from zwang._numerics.series.branches import CurveEquations
from zwang._numerics.series.field import dot, null_vector, solve

STEPS = 260
"""Steps after which no change is expected any more: each is a quarter of the distance, so they span any scale."""
CONVERGED = 1e-24
"""Corrections below this have found the curve: more digits than the value of eps is told with."""
NEAR = 1e-17
"""Part of a step to which a change is located."""


@dataclass(frozen=True)
class Crossover:
    """The value of eps at which a determinant changes its sign, and the point."""

    eps: Number
    point: list[Number]


def find_threshold(approach: WayIn, start: Sequence[Number], farthest: Number) -> Crossover | None:
    """Return the first point outwards from `start` at which the number of solutions changes, None without one."""
    if not any(law.normal is not None for law in approach.mechanics.laws):
        return None
    walk = _OutwardWalk(approach, list(start))
    before = _stiffness(approach, walk.q)
    for _ in range(STEPS):
        old, eps = walk.q, approach.size(walk.q)
        step = walk.forward()
        if step is None or walk.distance() > farthest or approach.size(walk.q) <= eps:
            return None
        after = _stiffness(approach, walk.q)
        if len(before) == len(after) and (changed := [k for k, a in enumerate(after) if a * before[k] < 0]):
            # The two directions of motion often give the same determinants in another order.
            distinct = {after[k].str(20): k for k in changed}.values()
            points = [walk.between(old, step, k, before[k], after[k]) for k in distinct]
            found = min(points, key=approach.size)
            return Crossover(approach.sign * approach.size(found), found)
        before = after
    return None


def _stiffness(approach: WayIn, q: Sequence[Number]) -> list[Number]:
    """Return 1 +- b/a, in general the determinants of all patterns; nothing where a slip vanishes."""
    mechanics = approach.mechanics
    forward = approach.velocity(q)
    coulomb = [law for law in mechanics.laws if law.normal is not None]
    found = []
    for way in (1, -1):
        terms = mechanics.terms(q, [item * way for item in forward])
        for side in sides(approach.turning):
            along = directions(terms, mechanics.laws, signs_on(side, approach.turning))
            if along is None:
                return []
            for signs in product((1, -1), repeat=len(coulomb)):
                found.append(stiffening(terms, mechanics.laws, signs, along))
    return found


class _OutwardWalk:
    """Steps along a curve, each a part of the distance to the singular point."""

    def __init__(self, approach: WayIn, q: list[Number]) -> None:
        self.approach, self.q = approach, q
        self.point = [item.mid() for item in approach.half.axes.point]
        self.equations: CurveEquations = approach.half.equations
        self.outwards = [a - b for a, b in zip(q, self.point, strict=True)]

    def distance(self) -> Number:
        return largest([a - b for a, b in zip(self.q, self.point, strict=True)])

    def forward(self) -> tuple[list[Number], Number] | None:
        """Go one step on; return the direction and length of the step."""
        along = unit(null_vector(self.equations.jacobian(self.q), BALLS), self.outwards)
        length = min(self.distance() / 4, arb("0.1").mid())
        for _ in range(8):
            found = self._corrected([(a + length * b).mid() for a, b in zip(self.q, along, strict=True)], along)
            if found is not None:
                self.outwards = [a - b for a, b in zip(found, self.q, strict=True)]
                self.q = found
                return along, length
            length = length / 2
        return None

    def _corrected(self, q: list[Number], along: Sequence[Number]) -> list[Number] | None:
        goal = dot(along, q)
        offset = self.approach.half.axes.offset
        for _ in range(12):
            value = [a - b for a, b in zip(self.equations.value(q), offset, strict=True)]
            try:
                step = solve([*self.equations.jacobian(q), list(along)], [[*value, dot(along, q) - goal]], BALLS)[0]
            except ZeroDivisionError:
                return None
            q = [(a - b).mid() for a, b in zip(q, step, strict=True)]
            if largest(step) <= CONVERGED * (1 + largest(q)):
                return q
        return None

    def between(
        self, old: list[Number], step: tuple[list[Number], Number], place: int, low: Number, high: Number
    ) -> list[Number]:
        """Return the point on the last step at which one of the determinants vanishes, by the Illinois method."""
        along, length = step
        a, b = arb(0), length
        found, last = self.q, 0
        for _ in range(60):
            middle = ((a * high - b * low) / (high - low)).mid()
            trial = self._corrected([(x + middle * y).mid() for x, y in zip(old, along, strict=True)], along)
            values = [] if trial is None else _stiffness(self.approach, trial)
            if trial is None or not values:
                break
            found, value = trial, values[place]
            if abs(value) < NEAR or b - a < NEAR * length:
                break
            # The end that stays twice is given half its value: else one end would never move.
            if value * low > 0:
                a, low, high, last = middle, value, high / (2 if last < 0 else 1), -1
            else:
                b, high, low, last = middle, value, low / (2 if last > 0 else 1), 1
        return found
