"""Truncated power series in one or several variables, with the elementary functions.

A series is the row of its coefficients over all monomials up to a total degree, in the order of `Ring.exponents`.
Products are sums over a table of pairs of monomials, made once for each ring. The coefficients may be floats or numbers
of mpmath: an array of objects works the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

Coefficients = NDArray[Any]


class Ring:
    """Polynomials in `variables` unknowns up to a total `degree`; made by `ring`."""

    def __init__(self, variables: int, degree: int) -> None:
        self.variables, self.degree = variables, degree
        rows = []
        for total in range(degree + 1):
            for chosen in combinations_with_replacement(range(variables), total):
                row = [0] * variables
                for item in chosen:
                    row[item] += 1
                rows.append(tuple(row))
        self.exponents = np.array(rows, dtype=int).reshape(-1, variables)
        self.places = {row: place for place, row in enumerate(rows)}
        self.totals = self.exponents.sum(axis=1)
        self.size = len(rows)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Numbers (i, j, k) of monomials with x^i x^j = x^k inside the ring."""
        left, right, target = [], [], []
        for i, a in enumerate(self.exponents):
            for j in np.flatnonzero(self.totals <= self.degree - self.totals[i]):
                left.append(i)
                right.append(int(j))
                target.append(self.places[tuple(int(e) for e in a + self.exponents[j])])
        return np.array(left), np.array(right), np.array(target)

    def product(self, a: Coefficients, b: Coefficients) -> Coefficients:
        """Return the coefficients of a product, cut at the degree."""
        if self.variables == 1 and a.dtype != object and b.dtype != object:
            return np.convolve(a, b)[: self.size]
        i, j, k = self.pairs
        if a.dtype != object and b.dtype != object:
            return np.bincount(k, weights=a[i] * b[j], minlength=self.size)
        out = np.zeros(self.size, dtype=object)
        np.add.at(out, k, a[i] * b[j])
        return out

    def constant(self, value: Any) -> Series:
        """Return a number as a series."""
        c = np.zeros(self.size, dtype=float if isinstance(value, float) else object)
        c[0] = value
        return Series(self, c)

    def variable(self, place: int, value: float = 0.0) -> Series:
        """Return value + the unknown number `place`."""
        c = np.zeros(self.size)
        c[0] = value
        if self.degree:
            c[1 + place] = 1.0
        return Series(self, c)


@lru_cache(maxsize=64)
def ring(variables: int, degree: int) -> Ring:
    """Return the ring of truncated series, the same one for the same numbers.

    Examples
    --------
    >>> R = ring(2, 2)
    >>> R.exponents.tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    >>> x, y = R.variable(0), R.variable(1)
    >>> ((x + y) * (x - y)).c.tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, -1.0]
    """
    return Ring(variables, degree)


class Series:
    """A truncated power series: arithmetic by operators, functions by `FUNCTIONS`.

    Examples
    --------
    >>> x = ring(1, 4).variable(0)
    >>> FUNCTIONS.cos(x).c.tolist()
    [1.0, 0.0, -0.5, 0.0, 0.041666666666666664]
    >>> (1 / (1 - x)).c.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """

    __array_ufunc__ = None  # NumPy numbers leave arithmetic with a series to it
    __slots__ = ("c", "ring")

    def __init__(self, ring: Ring, c: Coefficients) -> None:
        self.ring, self.c = ring, c

    def _other(self, other: Any) -> Any:
        return other.c if isinstance(other, Series) else None

    def __add__(self, other: Any) -> Series:
        c = self._other(other)
        if c is not None:
            return Series(self.ring, self.c + c)
        found = self.c + 0 * other
        found[0] = found[0] + other
        return Series(self.ring, found)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series(self.ring, -self.c)

    def __sub__(self, other: Any) -> Series:
        found: Series = self + (-other)
        return found

    def __rsub__(self, other: Any) -> Series:
        found: Series = (-self) + other
        return found

    def __mul__(self, other: Any) -> Series:
        c = self._other(other)
        return Series(self.ring, self.c * other if c is None else self.ring.product(self.c, c))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Series:
        found: Series = self * (other**-1 if isinstance(other, Series) else 1 / other)
        return found

    def __rtruediv__(self, other: Any) -> Series:
        found: Series = self**-1 * other
        return found

    def __pow__(self, exponent: Any) -> Series:
        found: Series = power(self, exponent)
        return found

    def compose(self, taylor: Sequence[Any]) -> Series:
        """Return sum of taylor[k] * (self - its constant)^k."""
        inner = self.c.copy()
        inner[0] = 0 * inner[0]
        small = Series(self.ring, inner)
        found: Series = small * 0 + taylor[-1]
        for value in reversed(taylor[:-1]):
            found = found * small + value
        return found


def _library(value: Any) -> Any:
    if isinstance(value, (float, int, np.floating)):
        return math
    import mpmath

    return mpmath


def power(a: Any, exponent: Any) -> Any:
    """Return a ** exponent; the constant term must not vanish unless the exponent is a natural number."""
    if not isinstance(a, Series):
        return a**exponent
    if float(exponent) == int(exponent) and exponent >= 0:
        found = a * 0 + 1
        for _ in range(int(exponent)):
            found = found * a
        return found
    start = a.c[0]
    taylor = [start**exponent]
    for k in range(1, a.ring.degree + 1):
        taylor.append(taylor[-1] * (exponent - k + 1) / k / start)
    return a.compose(taylor)


def _quadratic_power(p: Sequence[Any], exponent: Any, degree: int) -> list[Any]:
    """Return the series of (p0 + p1 x + p2 x^2)^exponent."""
    found = [p[0] ** exponent]
    for n in range(1, degree + 1):
        total = sum((k * exponent - n + k) * p[k] * found[n - k] for k in range(1, min(n, 2) + 1))
        found.append(total / (n * p[0]))
    return found


def _turning(a: Any, degree: int, *, growing: bool) -> tuple[list[Any], list[Any]]:
    """Return the Taylor coefficients of sin and cos, or of sinh and cosh."""
    m = _library(a)
    s, c = (m.sinh(a), m.cosh(a)) if growing else (m.sin(a), m.cos(a))
    sign, first, second = (1 if growing else -1), [s], [c]
    for k in range(1, degree + 1):
        first, second = [*first, second[-1] / k], [*second, sign * first[-1] / k]
    return first, second


def _integral(start: Any, slope: Sequence[Any]) -> list[Any]:
    return [start, *(value / (k + 1) for k, value in enumerate(slope[:-1]))]


class _Functions:
    """The functions that NumPy has, under NumPy's names, for series and for plain numbers."""

    @staticmethod
    def _of(a: Any, name: str) -> list[Any]:
        value, degree = a.c[0], a.ring.degree
        m = _library(value)
        if name in ("sin", "cos"):
            return _turning(value, degree, growing=False)[name == "cos"]
        if name in ("sinh", "cosh"):
            return _turning(value, degree, growing=True)[name == "cosh"]
        if name == "exp":
            found = [m.exp(value)]
            for k in range(1, degree + 1):
                found.append(found[-1] / k)
            return found
        if name == "log":
            return _integral(m.log(value), _quadratic_power((value, 1, 0 * value), -1, degree))
        # The derivatives of the inverse functions are powers of quadratics.
        square, twice = value * value, 2 * value
        half = value * 0 - 0.5
        rules: dict[str, tuple[Any, Any, float]] = {
            "arcsin": ((1 - square, -twice, -1), half, 1),
            "arccos": ((1 - square, -twice, -1), half, -1),
            "arctan": ((1 + square, twice, 1), -1, 1),
            "arcsinh": ((1 + square, twice, 1), half, 1),
            "arccosh": ((square - 1, twice, 1), half, 1),
            "arctanh": ((1 - square, -twice, -1), -1, 1),
        }
        quadratic, exponent, sign = rules[name]
        slope = [sign * item for item in _quadratic_power(quadratic, exponent, degree)]
        return _integral(getattr(m, name.replace("arc", "a"))(value), slope)

    def __getattr__(self, name: str) -> Any:
        def apply(a: Any) -> Any:
            if not isinstance(a, Series):
                return getattr(_library(a), name.replace("arc", "a"))(a)
            return a.compose(self._of(a, name))

        return apply

    @staticmethod
    def sqrt(a: Any) -> Any:
        if not isinstance(a, Series):
            return _library(a).sqrt(a)
        return power(a, 0.5)

    def tan(self, a: Any) -> Any:
        return self.sin(a) / self.cos(a)

    def tanh(self, a: Any) -> Any:
        return self.sinh(a) / self.cosh(a)

    @staticmethod
    def abs(a: Any) -> Any:
        if not isinstance(a, Series):
            return abs(a)
        return -a if a.c[0] < 0 else a

    @staticmethod
    def sign(a: Any) -> Any:
        value = a.c[0] if isinstance(a, Series) else a
        return float(value > 0) - float(value < 0)

    def power(self, a: Any, b: Any) -> Any:
        if isinstance(b, Series):
            return self.exp(b * self.log(a))
        return power(a, b)

    def arctan2(self, a: Any, b: Any) -> Any:
        if not isinstance(a, Series) and not isinstance(b, Series):
            return _library(a).atan2(a, b)
        a0, b0 = (item.c[0] if isinstance(item, Series) else item for item in (a, b))
        return self.arctan((a * b0 - b * a0) / (b * b0 + a * a0)) + _library(a0).atan2(a0, b0)


FUNCTIONS = _Functions()
"""sin, cos, sqrt, ... for series and for numbers, under NumPy's names."""
