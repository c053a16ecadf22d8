"""Taylor coefficients of the elementary functions over any arithmetic, and their composition with series."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

from zwang._numerics.series.arithmetic import Arithmetic

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
    for k in range(1, size):
        # Of (a^r)' a = r a' a^r.
        total = A.number(0)
        for i in range(1, min(k, len(a) - 1) + 1):
            total = total + a[i] * out[k - i] * A.number(exponent * i - (k - i))
        out.append(total * inverse * A.number(Fraction(1, k)))
    return out


def _turning(A: Arithmetic, name: str, c: Any, size: int) -> list[Any]:
    """Return the coefficients of sin, cos, sinh or cosh: each the derivative of the other, up to its sign."""
    growing = name.endswith("h")
    odd, even = A.call("sinh" if growing else "sin", c), A.call("cosh" if growing else "cos", c)
    first, second = (odd, even) if name.startswith("s") else (even, odd)
    found, factor = [], Fraction(1)
    for k in range(size):
        # sin -> cos -> -sin -> -cos; cos -> -sin -> -cos -> sin.
        sign = 1 if growing else (1, 1, -1, -1)[k % 4] if name == "sin" else (1, -1, -1, 1)[k % 4]
        found.append((first, second)[k % 2] * A.number(sign * factor))
        factor /= k + 1
    return found


def _integral(A: Arithmetic, start: Any, slope: Sequence[Any], size: int) -> list[Any]:
    return [start, *(slope[k - 1] * A.number(Fraction(1, k)) for k in range(1, size))]


S = TypeVar("S")


def compose(coefficients: Sequence[Any], series: S) -> S:
    """Return sum of coefficients[k] * (series - its constant)^k, by Horner's rule."""
    whole: Any = series
    small = whole - whole.constant
    total: Any = small.ring.constant(coefficients[-1], whole.end)
    for item in reversed(coefficients[:-1]):
        total = total * small + item
    return total  # type: ignore[no-any-return]
