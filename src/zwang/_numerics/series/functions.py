"""Taylor coefficients of the elementary functions over any arithmetic, and their composition with series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from zwang._numerics.series.arithmetic import FLOATS, Arithmetic

HALF = Fraction(1, 2)
SLOPES: dict[str, tuple[tuple[int, int], Fraction, int]] = {
    "asin": ((1, -1), -HALF, 1),
    "acos": ((1, -1), -HALF, -1),
    "atan": ((1, 1), Fraction(-1), 1),
    "asinh": ((1, 1), -HALF, 1),
    "acosh": ((-1, 1), -HALF, 1),
    "atanh": ((1, -1), Fraction(-1), 1),
}
"""Of the inverse functions: their derivative is sign * (a + b x^2)^exponent."""


def taylor(A: Arithmetic, name: str | tuple[str, Fraction], c: Any, size: int) -> list[Any]:
    """Return the first coefficients of a function at c; `("power", exponent)` is a power.

    Examples
    --------
    >>> from zwang._numerics.series.arithmetic import FLOATS
    >>> from zwang._numerics.series.rationals import RATIONALS
    >>> taylor(FLOATS, "exp", 0.0, 4)
    [1.0, 1.0, 0.5, 0.16666666666666666]
    >>> [str(item) for item in taylor(RATIONALS, "asin", RATIONALS.number(0), 6)]
    ['0', '1', '0', '1/6', '0', '3/40']
    """
    if isinstance(name, tuple):
        return power_of([c, A.number(1)], name[1], size, A)
    if name in ("sin", "cos", "sinh", "cosh"):
        return _turning(A, name, c, size)
    if name == "exp":
        found = [A.call("exp", c)]
        for k in range(1, size):
            found.append(found[-1] * A.number(Fraction(1, k)))
        return found
    if name == "log":
        return _integral(A, A.call("log", c), power_of([c, A.number(1)], Fraction(-1), size, A), size)
    (constant, square), exponent, sign = SLOPES[name]
    quadratic = [c * c * square + constant, c * (2 * square), A.number(square)]
    slope = power_of(quadratic, exponent, size, A)
    return _integral(A, A.call(name, c), [item * sign for item in slope], size)


def power_of(a: Sequence[Any], exponent: Fraction, size: int, A: Arithmetic) -> list[Any]:
    """Return the first coefficients of a polynomial with nonzero constant term, raised to a rational power."""
    out = [A.power(a[0], exponent)]
    inverse = A.inverse(a[0])
    rows = (_float_weights if A is FLOATS else _weights)(exponent, size, len(a))
    for k, row in enumerate(rows, start=1):
        # Of (a^r)' a = r a' a^r.
        total = A.number(0)
        for i in range(1, len(row)):
            total = total + a[i] * out[k - i] * A.number(row[i])
        out.append(total * inverse * A.number(row[0]))
    return out


# What doesn't depend on the place is found once: fractions take longer than all the rest over floats.
@lru_cache(maxsize=256)
def _weights(exponent: Fraction, size: int, length: int) -> tuple[tuple[Any, ...], ...]:
    """Return for each coefficient of a power 1/k, and what a[i] out[k - i] counts."""
    return tuple(
        (Fraction(1, k), *(exponent * i - (k - i) for i in range(1, min(k, length - 1) + 1))) for k in range(1, size)
    )


@lru_cache(maxsize=256)
def _float_weights(exponent: Fraction, size: int, length: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(float(item) for item in row) for row in _weights(exponent, size, length))


@lru_cache(maxsize=256)
def _turns(name: str, size: int) -> tuple[Any, ...]:
    """Return the signs over factorials of sin, cos, sinh or cosh."""
    # sin -> cos -> -sin -> -cos; cos -> -sin -> -cos -> sin.
    signs = {"sin": (1, 1, -1, -1), "cos": (1, -1, -1, 1)}.get(name, (1, 1, 1, 1))
    return tuple(Fraction(signs[k % 4], math.factorial(k)) for k in range(size))


@lru_cache(maxsize=256)
def _float_turns(name: str, size: int) -> tuple[Any, ...]:
    return tuple(float(item) for item in _turns(name, size))


def _turning(A: Arithmetic, name: str, c: Any, size: int) -> list[Any]:
    """Return the coefficients of sin, cos, sinh or cosh: each the derivative of the other, up to its sign."""
    growing = name.endswith("h")
    odd, even = A.call("sinh" if growing else "sin", c), A.call("cosh" if growing else "cos", c)
    first, second = (odd, even) if name.startswith("s") else (even, odd)
    turns = (_float_turns if A is FLOATS else _turns)(name, size)
    return [(second if k % 2 else first) * A.number(item) for k, item in enumerate(turns)]


def _integral(A: Arithmetic, start: Any, slope: Sequence[Any], size: int) -> list[Any]:
    return [start, *(slope[k - 1] * A.number(Fraction(1, k)) for k in range(1, size))]


S = TypeVar("S")


def compose(coefficients: Sequence[Any], series: S) -> S:
    """Return sum of coefficients[k] * (series - its constant)^k, by Horner's rule."""
    whole: Any = series
    return whole.ring.horner(coefficients, whole - whole.constant, whole.end)  # type: ignore[no-any-return]
