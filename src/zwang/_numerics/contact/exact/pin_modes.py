"""Modes of pins at ties, decided exactly: no pin slips, or one does.

Over the rationals the equations of a mode leave one number s where a pin slips, and the size of its friction is that of
its bearing force: a quadratic equation for s. What is affine or quadratic in s is then x + y sqrt(D) with rational x
and y, whose sign is decided by squaring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.exact.rational import fractions, matrix_of
from zwang._numerics.contact.mode_tables import BACKWARDS
from zwang._numerics.contact.pieces import conditions
from zwang._numerics.contact.scaled import Reduced

Fractions = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ExactBearing:
    """A pin over the rationals: where its friction stands, rows of its forces over (z, 1), c on both sides, its slip.

    `sign` is that of the slip in the modes asked for, 0 where it sticks.
    """

    tangent: int
    load: Fractions
    sides: tuple[Any, Any]
    sign: int


def sign_of(x: Any, y: Any, D: Any) -> int:
    """Return the sign of x + y sqrt(D), D >= 0.

    Examples
    --------
    >>> from flint import fmpq
    >>> sign_of(fmpq(3), fmpq(-2), fmpq(2)), sign_of(fmpq(-3), fmpq(2), fmpq(2)), sign_of(fmpq(-4), fmpq(2), fmpq(4))
    (1, -1, 0)
    """
    first, second = (x > 0) - (x < 0), ((y > 0) - (y < 0)) * (D > 0)
    if first * second >= 0:
        return int(first or second)
    gap = x * x - y * y * D
    return int(first * ((gap > 0) - (gap < 0)))


def exactly_solved(exact: Reduced, modes: tuple[int, ...], bearings: Sequence[ExactBearing], near: Any) -> bool | None:
    """Return whether a set of modes has a solution next to forces z; None where that is not decided here.

    Parameters
    ----------
    exact : Reduced
        Over the rationals.
    modes : tuple of int
    bearings : sequence of ExactBearing
    near : (m,) array
        Forces, in the units of `exact`.
    """
    slipping = [one for one in bearings if one.sign]
    equations, inequalities, owners = conditions(exact, modes)
    solved = _line(equations)
    if len(slipping) > 1 or solved is None:
        return None
    point, direction = solved
    if (direction is None) != (not slipping):
        return None
    zero = fractions(0.0)[()]
    direction = np.full(len(point), zero) if direction is None else direction
    root = (zero, zero, zero)
    if slipping:
        found = _root_near(slipping[0], point, direction, near)
        if found is None:
            return None
        root = found
    for row, (_, reason) in zip(inequalities, owners, strict=True):
        sign = _sign_along(row[:-1] @ point + row[-1], row[:-1] @ direction, zero, root)
        if sign < 0 or (sign == 0 and reason == BACKWARDS):
            return False
    return all(_inside(one, point, direction, root) for one in bearings if not one.sign)


def _line(equations: Fractions) -> tuple[Fractions, Fractions | None] | None:
    """Return the point that satisfies equations, and the direction in which they leave it free; None if more is."""
    size = equations.shape[1] - 1
    if not len(equations):
        return None
    reduced, rank = matrix_of(equations).rref()
    rows = reduced.tolist()[:rank]
    pivots = [next((j for j, x in enumerate(row) if x != 0), size) for row in rows]
    free = [j for j in range(size) if j not in pivots]
    if size in pivots or len(free) > 1:
        return None
    zero, one = fractions(0.0)[()], fractions(1.0)[()]
    point, direction = np.full(size, zero), np.full(size, zero)
    for row, pivot in zip(rows, pivots, strict=True):
        point[pivot] = -row[size]
        if free:
            direction[pivot] = -row[free[0]]
    if free:
        direction[free[0]] = one
    return point, direction if free else None


def _quadratic(size: tuple[Any, Any], load: Fractions, point: Fractions, direction: Fractions) -> tuple[Any, Any, Any]:
    """Return the coefficients, highest first, of size^2 - |F|^2 along a line."""
    at, along = load[:, :-1] @ point + load[:, -1], load[:, :-1] @ direction
    r0, r1 = size
    return r1 * r1 - along @ along, 2 * (r0 * r1 - at @ along), r0 * r0 - at @ at


def _root_near(pin: ExactBearing, point: Fractions, direction: Fractions, near: Any) -> tuple[Any, Any, Any] | None:
    """Return the root s = x + y sqrt(D) at which a pin slips, as (x, y, D), next to given forces."""
    c = pin.sides[0] if pin.sign > 0 else pin.sides[1]
    t = pin.tangent
    if c == 0:
        return None
    size = (-pin.sign * point[t] / c, -pin.sign * direction[t] / c)
    a, b, g = _quadratic(size, pin.load, point, direction)
    zero = fractions(0.0)[()]
    if a == 0:
        found = [] if b == 0 else [(-g / b, zero, zero)]
    else:
        D = b * b - 4 * a * g
        found = [] if D < 0 else [(-b / (2 * a), sign / (2 * a), D) for sign in (1, -1)]
    found = [root for root in found if _sign_along(size[0], size[1], zero, root) >= 0]
    if not found:
        return None
    k = int(np.argmax([abs(float(x)) for x in direction]))
    aim = (float(near[k]) - float(point[k])) / float(direction[k])
    return min(found, key=lambda one: abs(float(one[0]) + float(one[1]) * float(one[2]) ** 0.5 - aim))


def _sign_along(c0: Any, c1: Any, c2: Any, root: tuple[Any, Any, Any]) -> int:
    """Return the sign of c0 + c1 s + c2 s^2 at s = x + y sqrt(D)."""
    x, y, D = root
    return sign_of(c0 + c1 * x + c2 * (x * x + y * y * D), c1 * y + 2 * c2 * x * y, D)


def _inside(pin: ExactBearing, point: Fractions, direction: Fractions, root: tuple[Any, Any, Any]) -> bool:
    """Whether the friction of a pin that sticks is within its bound."""
    t, zero = pin.tangent, fractions(0.0)[()]
    pulls = _sign_along(point[t], direction[t], zero, root)
    c = pin.sides[1] if pulls > 0 else pin.sides[0]
    if pulls == 0:
        return True
    if c == 0:
        return False
    high, middle, low = _quadratic((point[t] / c, direction[t] / c), pin.load, point, direction)
    return _sign_along(low, middle, high, root) <= 0
