"""Numbers of several kinds behind one face: floats here, Arb's real balls in `balls`, exact ones in `rationals`.

The operators are the numbers' own. An arithmetic adds what they lack: numbers from exact ones, elementary functions,
and what counts as zero. What can't be told with the terms or digits at hand is
`Undecided`, and `decided` asks again with more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Exact = int | float | Fraction
PI = "pi"
"""The name of the one exact number that is no rational."""

NEGLIGIBLE = 1e-9
"""Terms below this part of the others are errors of the parameters, not of the arithmetic."""
EXACT = 1e-25
"""Errors below this are those of exact parameters."""

FLOAT_FUNCTIONS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
                 "log", "sqrt")
}  # fmt: skip


class Undecided(ArithmeticError):
    """More terms of the series, or more digits, are needed to go on."""


class NearlyCritical(ArithmeticError):
    """Something is as small as the rounding of parameters: meant to be zero, it seems, and is not."""


class NotRationalError(Undecided):
    """A number is not rational, so that nothing exact can be said here."""


def decided(question: Callable[[int], Any], degrees: Sequence[int], *also: type[Exception]) -> Any:
    """Return the answer to a question that may need more terms: it is asked with one degree after the other.

    Examples
    --------
    >>> def first_term(degree):
    ...     if degree < 5:
    ...         raise Undecided(f"no term up to degree {degree}")
    ...     return degree
    >>> decided(first_term, (3, 5, 8))
    5
    """
    again: tuple[type[Exception], ...] = (Undecided, *also)
    for degree in degrees[:-1]:
        try:
            return question(degree)
        except again:
            continue
    return question(degrees[-1])


def as_fraction(value: Exact) -> Fraction:
    """Return a number as the rational that was meant: a float is the decimal that it is printed as.

    Examples
    --------
    >>> as_fraction(0.81), as_fraction(2)
    (Fraction(81, 100), Fraction(2, 1))
    """
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


class Arithmetic:
    """What numbers of one kind lack."""

    def number(self, exact: Any) -> Any:
        """Return the number that stands for a rational, a float, or for `PI`."""
        raise NotImplementedError

    def call(self, name: str, x: Any) -> Any:
        """Return an elementary function of a number."""
        raise NotImplementedError

    def power(self, x: Any, exponent: Fraction) -> Any:
        """Return a rational power of a number."""
        if exponent.denominator == 1:
            return self.whole(x, int(exponent)) if exponent >= 0 else self.inverse(self.whole(x, -int(exponent)))
        if exponent.denominator == 2:
            root = self.call("sqrt", x)
            return self.power(root, 2 * exponent)
        return self.call("exp", self.call("log", x) * self.number(exponent))

    def whole(self, x: Any, exponent: int) -> Any:
        """Return a natural power."""
        result = self.number(1)
        for _ in range(exponent):
            result = result * x
        return result

    def square(self, x: Any) -> Any:
        """Return the square."""
        return x * x

    def inverse(self, x: Any) -> Any:
        """Return 1/x."""
        return 1 / x

    def atan2(self, y: Any, x: Any) -> Any:
        """Return the angle of the point (x, y)."""
        raise NotImplementedError

    def vanishes(self, x: Any) -> bool:
        """Say whether a number is zero as far as can be told."""
        return bool(x == 0)

    def is_exactly_zero(self, x: Any) -> bool:
        """Say whether a number is zero and nothing else: products with it can be left out."""
        return bool(x == 0)

    def own_ring(self, variables: int) -> Any:
        """Return the ring of series that this arithmetic brings with it; None for the general one."""
        return None

    def sign(self, x: Any) -> int:
        """Return the sign of a number, 0 where it vanishes as far as can be told."""
        return 0 if self.vanishes(x) else (1 if x > 0 else -1)


class Floats(Arithmetic):
    """Double precision: zero is what is zero, and tolerances are those of the question."""

    def number(self, exact: Any) -> float:
        """Return a float."""
        if type(exact) is float:
            return exact
        return math.pi if exact == PI else float(exact)

    def call(self, name: str, x: Any) -> float:
        """Return an elementary function; where it has no value, not a number."""
        try:
            return FLOAT_FUNCTIONS[name](x)
        except (ValueError, OverflowError):
            return math.nan

    def power(self, x: Any, exponent: Fraction) -> float:
        """Return a rational power."""
        try:
            found = x ** (int(exponent) if exponent.denominator == 1 else float(exponent))
        except (ZeroDivisionError, OverflowError):
            return math.nan
        return found if isinstance(found, float) else math.nan

    def inverse(self, x: Any) -> float:
        """Return 1/x."""
        return 1.0 / x if x else math.nan

    def atan2(self, y: Any, x: Any) -> float:
        """Return the angle of the point (x, y)."""
        return math.atan2(y, x)


FLOATS = Floats()
