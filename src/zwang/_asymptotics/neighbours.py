"""Points next to s_eps on its perturbed curve: where they lie, how the curve bends, and which s_eps is nearest."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from zwang._asymptotics.approaches import WayIn
from zwang._asymptotics.mechanics import Mechanics, sign_of, vanishes
from zwang._asymptotics.point import ConstraintSet, Number
from zwang._numerics.series.balls import BALLS, largest, rounding
from zwang._numerics.series.field import dot, solve

STRAIGHT = 0.01
"""A turn of the tangent over which the curvature can be taken for constant."""
SETTLED = 1e-12
"""Corrections that no longer shrink are rounding errors if they are this part of the step."""
CLOSE = 1e-8
"""Part of the radius of curvature at which a law's slip has the sign it leaves zero with."""
WALK = 400
"""Steps after which a perturbed curve is given up."""
WIDE = 30
"""Times the distance of its start at which a perturbed curve has gone away."""


def unit(along: Sequence[Number], side: Sequence[Number]) -> list[Number]:
    """Return the unit vector along a direction, to the side of another."""
    length = dot(along, along).sqrt() * (sign_of(dot(along, side)) or 1)
    return [(item / length).mid() for item in along]


def neighbour(
    equations: ConstraintSet, mechanics: Mechanics, q: Sequence[Number], step: Number, side: Sequence[Number]
) -> list[Number]:
    """Return the point at a distance along the curve through q on which all equations keep their values."""
    along = unit(mechanics.tangent(q), side)
    kept = equations.value(q)
    here = [(a + step * b).mid() for a, b in zip(q, along, strict=True)]
    goal, last = dot(along, here), arb("inf")
    for _ in range(60):
        value = equations.value(here)
        miss = [*(a - b for a, b in zip(value, kept, strict=True)), dot(along, here) - goal]
        change = solve([*equations.jacobian(here), along], [miss], BALLS)[0]
        here = [(a - b).mid() for a, b in zip(here, change, strict=True)]
        length = largest(change)
        if length <= rounding() * 1e4 * (1 + largest(here)) or last <= length <= abs(step) * SETTLED:
            return here
        last = length
    raise ZeroDivisionError("the curve has no point at that distance")


def turning_signs(approach: WayIn, equations: ConstraintSet, q: Sequence[Number]) -> dict[str, int]:
    """Return, for each law whose slip vanishes at q while the mechanism moves, its sign just after q."""
    mechanics = approach.mechanics
    terms = mechanics.terms(q, approach.velocity(q))
    resting = [law for law in mechanics.laws if all(vanishes(terms.slips[k]) for k in law.slips)]
    resting = [law for law in resting if len(law.slips) == 1]
    if not resting:
        return {}
    step = reach_of(approach, equations, q) * CLOSE
    after = neighbour(equations, mechanics, q, step, approach.reference)
    moved = mechanics.terms(after, approach.velocity(after))
    return {law.name: sign_of(moved.slips[law.slips[0]]) for law in resting}


def reach_of(approach: WayIn, equations: ConstraintSet, q: Sequence[Number]) -> Number:
    """Return the radius of curvature of the perturbed curve at q, or the distance to the point where that is less."""
    away = largest([a - b for a, b in zip(q, approach.half.axes.point, strict=True)])
    step = away / 100
    for _ in range(25):
        turn = float(_turn(approach, equations, q, step))
        if turn < STRAIGHT:
            return min(away, step / turn) if turn else away
        # Where the tangent turns much, nothing is known of the radius but that it is far less than the step.
        step = step * (STRAIGHT / (3 * turn) if turn < 0.3 else 0.003)
    return step


def _turn(approach: WayIn, equations: ConstraintSet, q: Sequence[Number], step: Number) -> Number:
    """Return by how much the tangent turns over a step along the perturbed curve to either side."""
    ends = []
    for way in (1, -1):
        try:
            near = neighbour(equations, approach.mechanics, q, way * step, approach.reference)
            along = approach.mechanics.tangent(near)
        except ZeroDivisionError:
            return arb(1)
        ends.append(unit(along, approach.reference))
    return largest([a - b for a, b in zip(*ends, strict=True)]) / 2


def is_nearest(approach: WayIn, equations: ConstraintSet, q: Sequence[Number]) -> bool:
    """Return whether q is nearer to the singular point than its neighbours on the perturbed curve."""
    point = approach.half.axes.point
    step = reach_of(approach, equations, q) * 0.01

    def distance(place: Sequence[Number]) -> Number:
        return _squared(place, point)

    near = [neighbour(equations, approach.mechanics, q, way * step, approach.reference) for way in (1, -1)]
    return all(distance(item) >= distance(q) for item in near)


def meets_nearer(approach: WayIn, equations: ConstraintSet, q: Sequence[Number]) -> bool:
    """Return whether the perturbed curve through q comes nearer to the singular point elsewhere.

    It is followed to both sides until it has gone far away, in steps over which its tangent turns little.
    """
    point = approach.half.axes.point
    start = _squared(q, point).sqrt()
    first = reach_of(approach, equations, q) / 10
    for way in (1, -1):
        here, step = list(q), first
        ahead = [item * way for item in approach.reference]
        for _ in range(WALK):
            here, ahead, step = _onward(approach, equations, here, ahead, step)
            away = _squared(here, point).sqrt()
            if away < start * 0.99:
                return True
            if away > WIDE * start:
                break
    return False


def _squared(place: Sequence[Number], point: Sequence[Number]) -> Number:
    return sum(((a - b.mid()) * (a - b.mid()) for a, b in zip(place, point, strict=True)), arb(0))


def _onward(
    approach: WayIn, equations: ConstraintSet, q: list[Number], ahead: Sequence[Number], step: Number
) -> tuple[list[Number], list[Number], Number]:
    """Return the next point, the direction there, and the length of the next step."""
    for _ in range(60):
        try:
            near = neighbour(equations, approach.mechanics, q, step, ahead)
        except ZeroDivisionError:
            step = step / 4
            continue
        chord = [a - b for a, b in zip(near, q, strict=True)]
        ends = [approach.mechanics.tangent(place) for place in (q, near)]
        square = dot(chord, chord)
        turned = min(float(abs(dot(along, chord)) / (dot(along, along) * square).sqrt()) for along in ends)
        if turned > 0.98:
            return near, chord, step * (2 if turned > 0.999 else 1)
        step = step / 2
    raise ZeroDivisionError("the perturbed curve can't be followed")
