"""Sound enclosures: constraints and their Jacobian over boxes, in the ball arithmetic of Arb (python-flint).

A box has floats for corners. Every conversion between boxes and balls rounds outwards, so that what is said of a box
holds for all its points.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._trace.formulas import Arithmetic, ExactEquations, Formulas

Array = NDArray[np.float64]
BITS = 64


class Balls(Arithmetic):
    """Arb's real balls."""

    def __init__(self) -> None:
        self.flint = importlib.import_module("flint")  # where it is used: `import zwang` stays quick
        self.arb = self.flint.arb

    @contextmanager
    def working(self) -> Iterator[None]:
        """Set the working precision, and put back what it was."""
        context = self.flint.ctx
        before = context.prec
        context.prec = BITS
        try:
            yield
        finally:
            context.prec = before

    def constant(self, value: Fraction) -> Any:
        """Return the ball of a rational."""
        return self.arb(self.flint.fmpq(value.numerator, value.denominator))

    def pi(self) -> Any:
        """Return the ball of pi."""
        return self.arb.pi()

    def call(self, name: str, x: Any) -> Any:
        """Return an elementary function of a ball."""
        return getattr(x, name)()

    def whole(self, x: Any, exponent: int) -> Any:
        """Return a positive whole power; an even one of a ball round zero has no negative numbers."""
        round_zero = exponent % 2 == 0 and 0 in x
        base = x.abs_upper() if round_zero else x
        # By products: the library's own power of a ball round zero is not a number.
        result = base
        for _ in range(exponent - 1):
            result = result * base
        return self.arb(0).union(result) if round_zero else result

    def root(self, x: Any) -> Any:
        """Return the square root of those numbers in a ball that have one."""
        if x > 0:
            return x.sqrt()
        top = x.upper()
        return self.arb(0).union(top.sqrt()) if top >= 0 else x.sqrt()

    def power(self, x: Any, exponent: Fraction) -> Any:
        """Return a rational power of a positive ball."""
        return (x.log() * self.constant(exponent)).exp()

    def box(self, low: Sequence[float], high: Sequence[float]) -> list[Any]:
        """Return balls that contain the intervals."""
        arb, up = self.arb, math.inf
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
        self.balls = Balls()
        self.equations = equations
        n, m = len(equations.coordinates), len(equations.values)
        self.n, self.m = n, m
        where = equations.name
        self.value = Formulas.of(equations.values, equations.coordinates, where)
        self.slope = Formulas.of(list(equations.jacobian), equations.coordinates, where)
        self.gap = Formulas.of(equations.gaps, equations.coordinates, where)

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
