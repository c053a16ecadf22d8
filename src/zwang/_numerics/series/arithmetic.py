"""Numbers of three kinds behind one face: floats, Arb's real balls, and exact rationals with parts of pi.

The operators are the numbers' own. An arithmetic adds what they lack: numbers from exact ones, elementary functions,
what counts as zero, and the real roots of polynomials. What can't be told with the terms or digits at hand is
`Undecided`, and `decided` asks again with more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx, fmpq

Exact = int | float | Fraction
PI = "pi"
"""The name of the one exact number that is no rational."""

FLOAT_FUNCTIONS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
                 "log", "sqrt")
}  # fmt: skip


class Undecided(ArithmeticError):
    """More terms of the series, or more digits, are needed to go on."""


class NotRationalError(Undecided):
    """A number is not rational, so that nothing exact can be said here."""


def decided(question: Callable[[int], Any], degrees: Sequence[int], *also: type[ArithmeticError]) -> Any:
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
    for degree in degrees[:-1]:
        try:
            return question(degree)
        except (Undecided, *also):
            continue
    return question(degrees[-1])


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


def as_fraction(value: Exact) -> Fraction:
    """Return a number as the rational that was meant: a float is the decimal that it is printed as.

    Examples
    --------
    >>> as_fraction(0.81), as_fraction(2)
    (Fraction(81, 100), Fraction(2, 1))
    """
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


class Arithmetic:
    """What numbers of one kind lack: the base of `Floats`, `Balls` and `Rationals`."""

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

    def inverse(self, x: Any) -> Any:
        """Return 1/x."""
        return 1 / x

    def atan2(self, y: Any, x: Any) -> Any:
        """Return the angle of the point (x, y)."""
        raise NotImplementedError

    def vanishes(self, x: Any) -> bool:
        """Say whether a number is zero as far as can be told."""
        return bool(x == 0)

    def sign(self, x: Any) -> int:
        """Return the sign of a number, 0 where it vanishes as far as can be told."""
        return 0 if self.vanishes(x) else (1 if x > 0 else -1)


class Floats(Arithmetic):
    """Double precision: zero is what is zero, and tolerances are those of the question."""

    def number(self, exact: Any) -> float:
        """Return a float."""
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


class Rationals(Arithmetic):
    """Exact numbers a + b pi with rationals a, b; a result of another kind is a NotRationalError."""

    def number(self, exact: Any) -> Turned:
        """Return an exact number."""
        if isinstance(exact, Turned):
            return exact
        if exact == PI:
            return Turned(fmpq(0), fmpq(1))
        value = as_fraction(exact)
        return Turned(fmpq(value.numerator, value.denominator))

    def call(self, name: str, x: Any) -> Turned:
        """Return an elementary function where it is rational."""
        if name in ("sin", "cos", "tan") and x.a == 0:
            return _turn(name, x.turns)
        values = {"sinh": (0, 0), "cosh": (0, 1), "tanh": (0, 0), "exp": (0, 1), "log": (1, 0), "asin": (0, 0),
                  "atan": (0, 0), "asinh": (0, 0), "atanh": (0, 0), "acosh": (1, 0)}  # fmt: skip
        if name in values and x == values[name][0]:
            return Turned(fmpq(values[name][1]))
        if name == "sqrt":
            value = x.rational()
            if value >= 0:
                above, below = math.isqrt(int(value.p)), math.isqrt(int(value.q))
                if above * above == value.p and below * below == value.q:
                    return Turned(fmpq(above, below))
        raise NotRationalError(f"{name} of {x} is no rational number")

    def atan2(self, y: Any, x: Any) -> Turned:
        """Return the angle of the point (x, y) where it is a quarter turn or none."""
        down, right = y.rational(), x.rational()
        if down == 0 and right > 0:
            return Turned(fmpq(0))
        if right == 0 and down != 0:
            return Turned(fmpq(0), fmpq(1, 2) if down > 0 else fmpq(-1, 2))
        raise NotRationalError(f"the angle of ({right}, {down}) is no rational part of a turn")


class Turned:
    """An exact number a + b pi.

    Examples
    --------
    >>> third = RATIONALS.number(PI) * RATIONALS.number(Fraction(1, 3))
    >>> RATIONALS.call("cos", third) * 2 == 1
    True
    """

    __slots__ = ("a", "turns")

    def __init__(self, a: Any, turns: Any = fmpq(0)) -> None:  # noqa: B008 - rationals of flint don't change
        self.a, self.turns = a, turns

    def rational(self) -> Any:
        """Return the number if it has no part of pi."""
        if self.turns != 0:
            raise NotRationalError(f"{self} is no rational number")
        return self.a

    def __add__(self, other: Any) -> Turned:
        other = _exact(other)
        if other is NotImplemented:
            return NotImplemented
        return Turned(self.a + other.a, self.turns + other.turns)

    def __mul__(self, other: Any) -> Turned:
        other = _exact(other)
        if other is NotImplemented:
            return NotImplemented
        if self.turns != 0 and other.turns != 0:
            raise NotRationalError("pi squared")
        return Turned(self.a * other.a, self.a * other.turns + self.turns * other.a)

    def __truediv__(self, other: Any) -> Turned:
        other = _exact(other)
        if other is NotImplemented:
            return NotImplemented
        value = other.rational()
        if value == 0:
            raise ZeroDivisionError("an exact zero was to be inverted")
        return Turned(self.a / value, self.turns / value)

    def __rtruediv__(self, other: Any) -> Turned:
        return RATIONALS.number(other) / self

    def __neg__(self) -> Turned:
        return Turned(-self.a, -self.turns)

    def __sub__(self, other: Any) -> Turned:
        return self + (-other)

    def __rsub__(self, other: Any) -> Turned:
        return (-self) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __abs__(self) -> Turned:
        return -self if self.rational() < 0 else self

    def __eq__(self, other: object) -> bool:
        value = _exact(other)
        return value is not NotImplemented and bool(self.a == value.a and self.turns == value.turns)

    def __gt__(self, other: Any) -> bool:
        return bool((self - other).rational() > 0)

    def __lt__(self, other: Any) -> bool:
        return bool((self - other).rational() < 0)

    def __hash__(self) -> int:
        return hash((str(self.a), str(self.turns)))

    def __float__(self) -> float:
        return int(self.a.p) / int(self.a.q) + math.pi * (int(self.turns.p) / int(self.turns.q))

    def __str__(self) -> str:
        if self.turns == 0:
            return str(self.a)
        sign = "-" if self.turns.p < 0 else ""
        above = "pi" if abs(self.turns.p) == 1 else f"{abs(self.turns.p)}*pi"
        part = f"{sign}{above}" + ("" if self.turns.q == 1 else f"/{self.turns.q}")
        return part if self.a == 0 else f"{self.a} + {part}"


def _exact(value: Any) -> Any:
    if isinstance(value, (int, float, Fraction)):
        return RATIONALS.number(value)
    return value if isinstance(value, Turned) else NotImplemented


@lru_cache(maxsize=256)
def _turn(name: str, turns: Any) -> Turned:
    """Return the sine, cosine or tangent of a rational part of a half turn where it is rational (Niven's theorem)."""
    if name == "tan":
        quarter = {0: 0, 1: 1, 3: -1}
        place = (turns - turns.floor()) * 4
        if place.q == 1 and int(place.p) in quarter:
            return Turned(fmpq(quarter[int(place.p)]))
        raise NotRationalError(f"tan of {turns}*pi is no rational number")
    half = (turns if name == "sin" else turns + fmpq(1, 2)) / 2
    place = (half - half.floor()) * 12
    values = {0: 0, 1: 1, 3: 2, 5: 1, 6: 0, 7: -1, 9: -2, 11: -1}
    if place.q == 1 and int(place.p) in values:
        return Turned(fmpq(values[int(place.p)], 2))
    raise NotRationalError(f"{name} of {turns}*pi is no rational number")


FLOATS, BALLS, RATIONALS = Floats(), Balls(), Rationals()
