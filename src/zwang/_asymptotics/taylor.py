"""Taylor coefficients of the elementary functions, and their composition with whatever can be added and multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zwang._asymptotics.precision import Number, mp

Coefficients = list[Number]


def product(a: Coefficients, b: Coefficients, size: int) -> Coefficients:
    """Return the first `size` coefficients of a product.

    Examples
    --------
    >>> [int(item) for item in product([1, 1], [1, -1, 2], 4)]
    [1, 0, 1, 2]
    """
    out = [mp.mpf(0)] * size
    for i, left in enumerate(a[:size]):
        if left:
            for j, right in enumerate(b[: size - i]):
                out[i + j] += left * right
    return out


def power(a: Coefficients, exponent: Number, size: int) -> Coefficients:
    """Return the first coefficients of a series with nonzero constant term, raised to a real power."""
    a = [*a, *[mp.mpf(0)] * (size - len(a))]
    out = [a[0] ** exponent]
    for k in range(1, size):
        # Of (a^r)' a = r a' a^r.
        total = sum(((exponent * i - (k - i)) * a[i] * out[k - i] for i in range(1, k + 1)), mp.mpf(0))
        out.append(total / (k * a[0]))
    return out


def _cycle(signs: tuple[int, ...], first: Number, second: Number, size: int) -> Coefficients:
    """Return coefficients of a function whose derivatives are, in turn, signs times first and second."""
    out, factorial = [], mp.mpf(1)
    for k in range(size):
        out.append(signs[k % len(signs)] * (first, second)[k % 2] / factorial)
        factorial *= k + 1
    return out


def _integral(start: Number, slope: Coefficients, size: int) -> Coefficients:
    return [start, *(slope[k - 1] / k for k in range(1, size))]


def _quadratic(constant: int, square: int, c: Number) -> Coefficients:
    """Return the coefficients of constant + square x^2 at x = c + h."""
    return [constant + square * c * c, 2 * square * c, mp.mpf(square)]


def _sin(c: Number, n: int) -> Coefficients:
    return _cycle((1, 1, -1, -1), mp.sin(c), mp.cos(c), n)


def _cos(c: Number, n: int) -> Coefficients:
    return _cycle((1, -1, -1, 1), mp.cos(c), mp.sin(c), n)


def _sinh(c: Number, n: int) -> Coefficients:
    return _cycle((1, 1), mp.sinh(c), mp.cosh(c), n)


def _cosh(c: Number, n: int) -> Coefficients:
    return _cycle((1, 1), mp.cosh(c), mp.sinh(c), n)


def _over(above: Coefficients, below: Coefficients, n: int) -> Coefficients:
    return product(above, power(below, mp.mpf(-1), n), n)


def _by_slope(value: Any, sign: int, constant: int, square: int, exponent: float) -> Callable[..., Coefficients]:
    """Return the coefficients of a function with the derivative sign * (constant + square x^2)^exponent."""

    def coefficients(c: Number, n: int) -> Coefficients:
        slope = power(_quadratic(constant, square, c), mp.mpf(exponent), n)
        return _integral(value(c), [sign * item for item in slope], n)

    return coefficients


TAYLOR: dict[str, Callable[[Number, int], Coefficients]] = {
    "sin": _sin,
    "cos": _cos,
    "tan": lambda c, n: _over(_sin(c, n), _cos(c, n), n),
    "sec": lambda c, n: power(_cos(c, n), mp.mpf(-1), n),
    "csc": lambda c, n: power(_sin(c, n), mp.mpf(-1), n),
    "cot": lambda c, n: _over(_cos(c, n), _sin(c, n), n),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": lambda c, n: _over(_sinh(c, n), _cosh(c, n), n),
    "exp": lambda c, n: _cycle((1,), mp.exp(c), mp.exp(c), n),
    "log": lambda c, n: _integral(mp.log(c), power([c, mp.mpf(1)], mp.mpf(-1), n), n),
    "asin": _by_slope(mp.asin, 1, 1, -1, -0.5),
    "acos": _by_slope(mp.acos, -1, 1, -1, -0.5),
    "atan": _by_slope(mp.atan, 1, 1, 1, -1),
    "asinh": _by_slope(mp.asinh, 1, 1, 1, -0.5),
    "acosh": _by_slope(mp.acosh, 1, -1, 1, -0.5),
    "atanh": _by_slope(mp.atanh, 1, 1, -1, -1),
}
"""Name -> the first n Taylor coefficients of the function at a point."""


def compose(coefficients: Coefficients, small: Any) -> Any:
    """Return sum_k c_k small^k by Horner's rule, for `small` without constant term in any ring of series."""
    total = small * 0 + coefficients[-1]
    for item in reversed(coefficients[:-1]):
        total = total * small + item
    return total
