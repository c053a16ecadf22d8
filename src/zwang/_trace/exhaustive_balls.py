"""Sound enclosures: constraints and their Jacobian over boxes, in the ball arithmetic of Arb (python-flint).

A box has floats for corners. Every conversion between boxes and balls rounds outwards, so that what is said of a box
holds for all its points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._numerics.series.balls import Balls, precision
from zwang._trace.formulas import ExactEquations, Formulas

Array = NDArray[np.float64]
BITS = 64
"""More than floats have, so that the corners of boxes are exact balls."""


class Boxes(Balls):
    """Arb's real balls as boxes: as narrow as they can be told, and defined wherever some of their points are."""

    arb = arb

    def working(self) -> AbstractContextManager[None]:
        """Set the working precision, and put back what it was."""
        return precision(BITS)

    def square(self, x: Any) -> Any:
        """Return the square, which has no negative numbers."""
        return self.whole(x, 2)

    def whole(self, x: Any, exponent: int) -> Any:
        """Return a natural power; an even one of a ball round zero has no negative numbers."""
        round_zero = exponent and exponent % 2 == 0 and 0 in x
        found = super().whole(x.abs_upper() if round_zero else x, exponent)
        return arb(0).union(found) if round_zero else found

    def call(self, name: str, x: Any) -> Any:
        """Return an elementary function; the square root of those numbers in a ball that have one."""
        if name == "sqrt" and not x > 0 and x.upper() >= 0:
            return arb(0).union(x.upper().sqrt())
        return getattr(x, name)()

    def box(self, low: Sequence[float], high: Sequence[float]) -> list[Any]:
        """Return balls that contain the intervals."""
        up = math.inf
        found = []
        for a, b in zip(low, high, strict=True):
            middle = 0.5 * (a + b)
            radius = max(b - middle, middle - a)
            # One step up covers the rounding of the difference.
            found.append(arb(middle, math.nextafter(radius, up)) if radius else arb(middle))
        return found


def corners(ball: Any) -> tuple[float, float]:
    """Return floats that enclose a ball."""
    if not ball.is_finite():
        return -math.inf, math.inf
    middle, radius = float(ball.mid()), float(ball.rad())
    # The radius and both differences are rounded: two steps outwards cover all of it.
    slack = 4 * 2.3e-16 * (abs(middle) + radius) + 1e-300
    return middle - radius - slack, middle + radius + slack


class Enclosure:
    """Values and Jacobian of the constraints over boxes."""

    def __init__(self, equations: ExactEquations) -> None:
        self.balls = Boxes()
        self.equations = equations
        n, m = len(equations.coordinates), len(equations.values)
        self.n, self.m = n, m
        where = equations.name
        self.value = Formulas(equations.values, equations.coordinates, where)
        self.slope = Formulas(list(equations.jacobian), equations.coordinates, where)
        self.gap = Formulas(equations.gaps, equations.coordinates, where)

    def values(self, box: Sequence[Any]) -> list[Any]:
        """Return the constraints over balls."""
        return self.value(box, self.balls)

    def jacobian(self, box: Sequence[Any]) -> list[list[Any]]:
        """Return the rows of the Jacobian over balls."""
        flat = self.slope(box, self.balls)
        return [flat[i * self.n : (i + 1) * self.n] for i in range(self.m)]

    def gaps(self, box: Sequence[Any]) -> list[Any]:
        """Return the one-sided constraints over balls."""
        return self.gap(box, self.balls)
