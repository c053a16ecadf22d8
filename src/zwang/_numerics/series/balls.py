"""Arb's real balls, which carry their error, and Laurent series over them.

Precision belongs to the process: whoever computes with balls does so inside `precision`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flint import arb, arb_series, ctx, fmpq

from zwang._numerics.series.arithmetic import PI, Arithmetic, as_fraction
from zwang._numerics.series.power import Ring, Row, Series


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with balls of so many bits, and put back what was before: Arb's precision belongs to the process."""
    before = ctx.prec, ctx.cap
    # Arb cuts every series at the cap; series here carry their own length.
    ctx.prec, ctx.cap = bits, max(ctx.cap, 1000)
    try:
        yield
    finally:
        ctx.prec, ctx.cap = before


class Balls(Arithmetic):
    """Arb's real balls, which carry their error; inside `precision`. Zero is every ball that contains it."""

    def number(self, exact: Any) -> Any:
        """Return the ball of an exact number."""
        if isinstance(exact, arb):
            return exact
        if exact == PI:
            return arb.pi()
        if isinstance(exact, float) and not math.isfinite(exact):
            return arb(exact)
        value = as_fraction(exact)
        return arb(fmpq(value.numerator, value.denominator))

    def call(self, name: str, x: Any) -> Any:
        """Return an elementary function of a ball."""
        return getattr(x, name)()

    def whole(self, x: Any, exponent: int) -> Any:
        """Return a natural power, by products: the library's own power of a ball round zero is not a number."""
        result, square = arb(1), x
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def atan2(self, y: Any, x: Any) -> Any:
        """Return the angle of the point (x, y)."""
        return arb.atan2(y, x)

    def vanishes(self, x: Any) -> bool:
        """Say whether a ball contains zero."""
        return 0 in x

    def is_exactly_zero(self, x: Any) -> bool:
        """Say whether a ball is the number zero."""
        return bool(x.is_zero())

    def own_ring(self, variables: int) -> Any:
        """Return the ring of Laurent series in one variable."""
        return LaurentRing(self, 1) if variables == 1 else None


class LaurentRing(Ring):
    """Laurent series in one variable over balls: rows are Arb's own series.

    Examples
    --------
    >>> from zwang._numerics.series.power import ring
    >>> tau = ring(BALLS).variable(0, 5)
    >>> quotient = (tau + tau * tau) / (tau * tau * tau)
    >>> quotient.start, quotient.end, [int(float(item)) for item in quotient.coefficients]
    (-2, 2, [1, 1, 0, 0])
    """

    laurent = True
    _OWN = frozenset({"sin", "cos", "tan", "exp", "log", "sqrt", "asin", "acos", "atan"})

    def length(self, size: int) -> int:
        """Return the number of coefficients."""
        return max(size, 0)

    def row(self, items: Sequence[Any]) -> Row:
        """Return a row of coefficients."""
        return arb_series(list(items), prec=len(items))

    def items(self, row: Row, size: int) -> list[Any]:
        """Return the coefficients of a row."""
        return [row[k] for k in range(size)]

    def item(self, row: Row, place: int) -> Any:
        """Return one coefficient."""
        return row[place]

    def cut(self, row: Row, size: int) -> Row:
        """Return the first degrees of a row."""
        return row if row.prec == size else arb_series([row[k] for k in range(size)], prec=size)

    def add(self, a: Row, b: Row) -> Row:
        """Return a sum of rows of one length."""
        return a + b

    def plus(self, a: Row, value: Any) -> Row:
        """Return a row with a number added to its first coefficient."""
        return a + value

    def scale(self, a: Row, factor: Any) -> Row:
        """Return a multiple."""
        return a * factor

    def multiply(self, a: Row, b: Row, size: int) -> Row:
        """Return a product, cut at `size` degrees."""
        return a * b

    def trimmed(self, start: int, row: Row, size: int) -> tuple[int, Row, int]:
        """Return a row without the leading balls that contain zero."""
        first = 0
        while first < size and 0 in row[first]:
            first += 1
        if first:
            row = arb_series([row[k] for k in range(first, size)], prec=size - first)
        return start + first, row, size - first

    def inverse(self, series: Series) -> Series:
        """Return 1 over a series whose first coefficient is not zero."""
        return Series(self, -series.start, series.c.inv(), series.size)

    def apply(self, name: str, series: Series) -> Series:
        """Return an elementary function of a series that starts at degree zero."""
        if name in self._OWN and series.size:
            return Series(self, 0, getattr(series.filled().c, name)(), series.end)
        return super().apply(name, series.filled())


BALLS = Balls()


def ball(value: Any) -> Any:
    """Return a number as a ball; a float is what it is, not the decimal that it is printed as."""
    return value if isinstance(value, arb) else arb(value)


def largest(values: Any) -> Any:
    """Return the largest absolute value, as a number without error; zero of nothing."""
    return max((abs(item).mid() for item in values), default=arb(0))


def rounding() -> Any:
    """Return the relative error of one operation."""
    return arb(2) ** -ctx.prec
