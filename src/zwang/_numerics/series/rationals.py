"""Exact numbers a + b pi with rationals a and b: what coordinates of mechanisms at their singular points often are."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import fmpq

from zwang._numerics.series.arithmetic import PI, Arithmetic, NotRationalError, as_fraction


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
        return RATIONALS.number(other).__truediv__(self)

    def __neg__(self) -> Turned:
        return Turned(-self.a, -self.turns)

    def __sub__(self, other: Any) -> Turned:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Turned:
        return self.__neg__().__add__(other)

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


RATIONALS = Rationals()
