"""The threshold: how far from the singular point the number of solutions stays what it is next to it.

For one guide the equation is a lam + b |lam| = c: two solutions or none where |b| > a, by the sign of c, and one where
|b| < a. So the number changes where |b| = a, and where c changes its sign while |b| > a. In general it changes where
the determinant for a pattern of signs does, and where a multiplier vanishes in two patterns whose determinants have
opposite signs: those two solutions appear or disappear together. The points s_eps are followed outwards along their
curve until that happens, until eps turns back, or until the curve has gone far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from flint import arb

from zwang._asymptotics.approaches import WayIn, sides, signs_on
from zwang._asymptotics.mechanics import directions, forces, stiffening
from zwang._asymptotics.neighbours import unit
from zwang._asymptotics.point import Number
from zwang._numerics.series.balls import BALLS, largest
from zwang._numerics.series.field import dot, null_vector, solve
from zwang._numerics.series.half_branches import CurveEquations
from zwang._results.asymptotics import BINDS_FRICTION, BINDS_LOAD

STEPS = 260
"""Steps after which no change is expected any more: each is a quarter of the distance, so they span any scale."""
CONVERGED = 1e-24
"""Corrections below this have found the curve: more digits than the value of eps is told with."""
NEAR = 1e-17
"""Part of a step to which a change is located."""


@dataclass(frozen=True)
class Crossover:
    """The value of eps at which the number of solutions changes, the point, and the condition that ends there."""

    eps: Number
    point: list[Number]
    binds: str


@dataclass(frozen=True)
class Signal:
    """What changes its sign where the number of solutions may change.

    Attributes
    ----------
    value : number
        1 +- b/a of a pattern of signs (in general its determinant over that without friction), or c/a.
    partner : number or None
        For c/a: the product of the determinants of the two patterns that meet where it vanishes. Negative: the two
        solutions are there together or not at all.
    """

    value: Number
    partner: Number | None = None

    @property
    def binds(self) -> str:
        """The condition that ends where this vanishes."""
        return BINDS_FRICTION if self.partner is None else BINDS_LOAD

    @property
    def counts(self) -> bool:
        """Whether the number of solutions changes with the sign."""
        return self.partner is None or bool(self.partner < 0)


def find_threshold(approach: WayIn, start: Sequence[Number], farthest: Number) -> Crossover | None:
    """Return the first point outwards from `start` at which the number of solutions changes, None without one."""
    if not any(law.normal is not None for law in approach.mechanics.laws):
        return None
    walk = _OutwardWalk(approach, list(start))
    before = _signals(approach, walk.q)
    for _ in range(STEPS):
        old, eps = walk.q, approach.size(walk.q)
        step = walk.forward()
        if step is None or walk.distance() > farthest or approach.size(walk.q) <= eps:
            return None
        after = _signals(approach, walk.q)
        if found := _first_change(walk, old, step, before, after):
            return found
        before = after
    return None


def _first_change(
    walk: _OutwardWalk, old: list[Number], step: Step, before: Sequence[Signal], after: Sequence[Signal]
) -> Crossover | None:
    """Return the change nearest to the point on the last step, None where the number of solutions stays."""
    if len(before) != len(after):
        return None
    changed = [k for k, item in enumerate(after) if item.value * before[k].value < 0]
    # The two directions of motion, and patterns of signs, often give the same numbers in another order.
    distinct = {(after[k].binds, after[k].value.str(20)): k for k in changed}.values()
    found: list[Crossover] = []
    for k in distinct:
        point = walk.between(old, step, k, before[k].value, after[k].value)
        here = _signals(walk.approach, point)
        if here and here[k].counts:
            found.append(Crossover(walk.approach.sign * walk.approach.size(point), point, after[k].binds))
    return min(found, key=lambda item: abs(item.eps), default=None)


def _signals(approach: WayIn, q: Sequence[Number]) -> list[Signal]:
    """Return what may change its sign, for both directions, sides and all patterns; nothing where a slip vanishes."""
    mechanics = approach.mechanics
    forward = approach.velocity(q)
    coulomb = [law for law in mechanics.laws if law.normal is not None]
    found: list[Signal] = []
    for way in (1, -1):
        terms = mechanics.terms(q, [item * way for item in forward])
        for side in sides(approach.turning):
            along = directions(terms, mechanics.laws, signs_on(side, approach.turning))
            if along is None:
                return []
            patterns = list(product((1, -1), repeat=len(coulomb)))
            stiff = {signs: stiffening(terms, mechanics.laws, signs, along) for signs in patterns}
            found += [Signal(stiff[signs]) for signs in patterns]
            for signs in patterns:
                # Times its determinant a multiplier has no pole: c/a for one guide.
                lam = forces(terms, mechanics.laws, signs, along).lam if stiff[signs] != 0 else []
                for k, law in enumerate(coulomb):
                    assert law.normal is not None
                    other = tuple(-sign if j == k else sign for j, sign in enumerate(signs))
                    value = lam[law.normal] * stiff[signs] if lam else arb(0)
                    found.append(Signal(value, stiff[signs] * stiff[other]))
    return found


Step = tuple[list[Number], Number]
"""The direction and the length of a step."""


class _OutwardWalk:
    """Steps along a curve, each a part of the distance to the singular point."""

    def __init__(self, approach: WayIn, q: list[Number]) -> None:
        self.approach, self.q = approach, q
        self.point = [item.mid() for item in approach.half.axes.point]
        self.equations: CurveEquations = approach.half.equations
        self.outwards = [a - b for a, b in zip(q, self.point, strict=True)]

    def distance(self) -> Number:
        return largest([a - b for a, b in zip(self.q, self.point, strict=True)])

    def forward(self) -> Step | None:
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

    def between(self, old: list[Number], step: Step, place: int, low: Number, high: Number) -> list[Number]:
        """Return the point on the last step at which one of the signals vanishes, by the Illinois method."""
        along, length = step
        a, b = arb(0), length
        found, last = self.q, 0
        for _ in range(60):
            middle = ((a * high - b * low) / (high - low)).mid()
            trial = self._corrected([(x + middle * y).mid() for x, y in zip(old, along, strict=True)], along)
            values = [] if trial is None else _signals(self.approach, trial)
            if trial is None or not values:
                break
            found, value = trial, values[place].value
            if abs(value) < NEAR or b - a < NEAR * length:
                break
            # The end that stays twice is given half its value: else one end would never move.
            if value * low > 0:
                a, low, high, last = middle, value, high / (2 if last < 0 else 1), -1
            else:
                b, high, low, last = middle, value, low / (2 if last > 0 else 1), 1
        return found
