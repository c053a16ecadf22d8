"""Truncated power series in k variables over any arithmetic; in one variable over balls, Laurent series.

A series is its coefficients of total degree start, start + 1, ..., end - 1, and nothing is said about what follows.
In several variables it starts at degree zero, and the coefficients stand in the order of `Monomials`; a lower degree
has the first of them. Over balls in one variable leading coefficients that may be zero are dropped: the order of such
a series is known and not guessed, and quotients of series that vanish at the point are series again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series.arithmetic import FLOATS, Arithmetic
from zwang._numerics.series.functions import compose, taylor
from zwang.errors import StateError

Row = Any
"""The coefficients of a series, in the form that its ring keeps them."""


class Monomials:
    """The monomials in `variables` unknowns up to a total `degree`, by degree; made by `monomials`."""

    def __init__(self, variables: int, degree: int) -> None:
        self.variables, self.degree = variables, degree
        rows = []
        for total in range(degree + 1):
            for chosen in combinations_with_replacement(range(variables), total):
                row = [0] * variables
                for item in chosen:
                    row[item] += 1
                rows.append(tuple(row))
        self.rows = rows
        self.exponents = np.array(rows, dtype=int).reshape(-1, variables)
        self.places = {row: place for place, row in enumerate(rows)}
        self.totals = self.exponents.sum(axis=1)
        self.size = len(rows)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Numbers (i, j, k) of monomials with x^i x^j = x^k among them."""
        left, right, target = [], [], []
        for i, a in enumerate(self.exponents):
            for j in np.flatnonzero(self.totals <= self.degree - self.totals[i]):
                left.append(i)
                right.append(int(j))
                target.append(self.places[tuple(int(e) for e in a + self.exponents[j])])
        return np.array(left), np.array(right), np.array(target)

    @cached_property
    def targets(self) -> list[list[int]]:
        """For each monomial, the places of its products with the first monomials, as many as fit."""
        found: list[list[int]] = [[] for _ in range(self.size)]
        for i, j, k in zip(*(item.tolist() for item in self.pairs), strict=True):
            assert j == len(found[i])
            found[i].append(k)
        return found


@lru_cache(maxsize=128)
def monomials(variables: int, degree: int) -> Monomials:
    """Return the monomials up to a degree, the same object for the same numbers.

    Examples
    --------
    >>> monomials(2, 2).exponents.tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    """
    return Monomials(variables, degree)


class Ring:
    """Series in `variables` unknowns over an arithmetic; its rows are lists of numbers.

    `laurent`: leading coefficients that vanish are dropped.
    """

    laurent = False

    def __init__(self, arithmetic: Arithmetic, variables: int) -> None:
        self.arithmetic, self.variables = arithmetic, variables
        self.zero = arithmetic.number(0)
        self.one = arithmetic.number(1)

    def length(self, size: int) -> int:
        """Return the number of coefficients of `size` degrees."""
        return comb(size - 1 + self.variables, self.variables) if size > 0 else 0

    def row(self, items: Sequence[Any]) -> Row:
        """Return a row of coefficients."""
        return list(items)

    def items(self, row: Row, size: int) -> list[Any]:
        """Return the coefficients of a row."""
        return list(row[: self.length(size)])

    def item(self, row: Row, place: int) -> Any:
        """Return one coefficient."""
        return row[place]

    def cut(self, row: Row, size: int) -> Row:
        """Return the first degrees of a row."""
        return row[: self.length(size)]

    def add(self, a: Row, b: Row) -> Row:
        """Return a sum of rows of one length."""
        return [x + y for x, y in zip(a, b, strict=True)]

    def plus(self, a: Row, value: Any) -> Row:
        """Return a row with a number added to its first coefficient."""
        return [a[0] + value, *a[1:]]

    def scale(self, a: Row, factor: Any) -> Row:
        """Return a multiple."""
        return [x * factor for x in a]

    def multiply(self, a: Row, b: Row, size: int) -> Row:
        """Return a product, cut at `size` degrees."""
        vanishes = self.arithmetic.is_exactly_zero
        out = [self.zero] * self.length(size)
        factors = [(j, y) for j, y in enumerate(b) if not vanishes(y)]
        for x, targets in zip(a, monomials(self.variables, size - 1).targets, strict=False):
            if not vanishes(x):
                room = len(targets)
                for j, y in factors:
                    if j >= room:
                        break
                    out[targets[j]] = out[targets[j]] + x * y
        return out

    def trimmed(self, start: int, row: Row, size: int) -> tuple[int, Row, int]:
        """Return a row without the leading coefficients that may be zero, and where it starts then."""
        return start, row, size

    def inverse(self, series: Series) -> Series:
        """Return 1 over a series whose first coefficient is not zero."""
        return compose(taylor(self.arithmetic, ("power", Fraction(-1)), series.constant, series.size), series)

    def apply(self, name: str, series: Series) -> Series:
        """Return an elementary function of a series that starts at degree zero."""
        if name == "tan":
            return self.apply("sin", series) / self.apply("cos", series)
        if name == "tanh":
            return self.apply("sinh", series) / self.apply("cosh", series)
        if name == "sqrt":
            return compose(taylor(self.arithmetic, ("power", Fraction(1, 2)), series.constant, series.size), series)
        return compose(taylor(self.arithmetic, name, series.constant, series.size), series)

    def horner(self, coefficients: Sequence[Any], small: Series, end: int) -> Series:
        """Return sum of coefficients[k] * small^k, known up to `end`."""
        total = self.constant(coefficients[-1], end)
        for item in reversed(coefficients[:-1]):
            total = total * small + item
        return total

    def combined(self, columns: Sequence[Sequence[Any]], series: Sequence[Series], size: int) -> list[Series]:
        """Return sum of series[k] * columns[k], a vector of series, each known to `size` degrees."""
        found = []
        for entries in zip(*columns, strict=True):
            total = self.constant(self.zero, size)
            for entry, item in zip(entries, series, strict=True):
                if not self.arithmetic.is_exactly_zero(entry):
                    total = total + item * entry
            found.append(total)
        return found

    def constant(self, value: Any, size: int) -> Series:
        """Return a number as a series known to `size` degrees."""
        return Series(self, 0, self.row([value, *[self.zero] * (self.length(size) - 1)][: self.length(size)]), size)

    def variable(self, place: int, size: int, value: Any = None) -> Series:
        """Return value + the unknown number `place`."""
        items = [self.zero] * self.length(size)
        items[0] = self.zero if value is None else value
        if size > 1:
            items[1 + place] = self.one
        return Series(self, 0, self.row(items), size)

    def series(self, items: Sequence[Any], start: int = 0) -> Series:
        """Return the series with these coefficients, all of a degree or none."""
        size = 0
        while self.length(size) < len(items):
            size += 1
        return Series(self, start, self.row(items), size)


class FloatRing(Ring):
    """Series over floats: rows are arrays."""

    def row(self, items: Sequence[Any]) -> Row:
        """Return a row of coefficients."""
        return np.array(items, dtype=float)

    def items(self, row: Row, size: int) -> list[Any]:
        """Return the coefficients of a row."""
        return [float(x) for x in row[: self.length(size)]]

    def add(self, a: Row, b: Row) -> Row:
        """Return a sum of rows of one length."""
        return a + b

    def plus(self, a: Row, value: Any) -> Row:
        """Return a row with a number added to its first coefficient."""
        found = a.copy()
        found[0] += value
        return found

    def scale(self, a: Row, factor: Any) -> Row:
        """Return a multiple."""
        return a * factor

    def horner(self, coefficients: Sequence[Any], small: Series, end: int) -> Series:
        """Return sum of coefficients[k] * small^k; on the rows themselves, which are short."""
        size = small.size
        if not size or small.start or size != end:
            return super().horner(coefficients, small, end)
        row = np.zeros(self.length(size))
        row[0] = coefficients[-1]
        for item in reversed(coefficients[:-1]):
            row = self.multiply(row, small.c, size)
            row[0] += item
        return Series(self, 0, row, size)

    def combined(self, columns: Sequence[Sequence[Any]], series: Sequence[Series], size: int) -> list[Series]:
        """Return sum of series[k] * columns[k], a vector of series, each known to `size` degrees."""
        rows = np.array(columns).T @ np.array([self.cut(item.c, size) for item in series])
        return [Series(self, 0, row, size) for row in rows]

    def multiply(self, a: Row, b: Row, size: int) -> Row:
        """Return a product, cut at `size` degrees."""
        if self.variables == 1:
            return np.convolve(a[:size], b[:size])[:size]
        i, j, k = monomials(self.variables, size - 1).pairs
        return np.bincount(k, weights=a[i] * b[j], minlength=self.length(size))


@lru_cache(maxsize=64)
def ring(arithmetic: Arithmetic, variables: int = 1) -> Ring:
    """Return the ring of series in some variables over an arithmetic.

    Examples
    --------
    >>> R = ring(FLOATS, 2)
    >>> x, y = R.variable(0, 3), R.variable(1, 3)
    >>> ((x + y) * (x - y)).c.tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, -1.0]
    """
    if arithmetic is FLOATS:
        return FloatRing(arithmetic, variables)
    return arithmetic.own_ring(variables) or Ring(arithmetic, variables)


class Series:
    """A truncated series: arithmetic by operators, elementary functions by `apply`.

    Examples
    --------
    >>> x = ring(FLOATS).variable(0, 5)
    >>> x.apply("cos").c.tolist()
    [1.0, 0.0, -0.5, 0.0, 0.041666666666666664]
    >>> (1 / (1 - x)).c.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic with a series to it
    __slots__ = ("c", "ring", "size", "start")

    def __init__(self, ring: Ring, start: int, c: Row, size: int) -> None:
        if ring.laurent:
            start, c, size = ring.trimmed(start, c, size)
        self.ring, self.start, self.c, self.size = ring, start, c, size

    @property
    def end(self) -> int:
        """The first degree that is not known."""
        return self.start + self.size

    @property
    def is_zero(self) -> bool:
        """Whether no coefficient is known to differ from zero."""
        return all(self.ring.arithmetic.vanishes(item) for item in self.coefficients)

    @property
    def coefficients(self) -> list[Any]:
        """The numbers that are known."""
        return self.ring.items(self.c, self.size)

    @property
    def leading(self) -> Any:
        """The first coefficient, zero where none is known."""
        return self.ring.item(self.c, 0) if self.size else self.ring.zero

    @property
    def constant(self) -> Any:
        """The value at zero."""
        return self.coefficient(0)

    def coefficient(self, exponent: int) -> Any:
        """Return the coefficient of a power below the end; in several variables the one at that place."""
        place = exponent - self.start
        return self.ring.item(self.c, place) if 0 <= place < self.ring.length(self.size) else self.ring.zero

    def terms(self) -> dict[tuple[int, ...], Any]:
        """Return the coefficients that don't vanish by their exponents."""
        vanishes = self.ring.arithmetic.vanishes
        rows = monomials(self.ring.variables, max(self.size - 1, 0)).rows
        return {row: item for row, item in zip(rows, self.coefficients, strict=False) if not vanishes(item)}

    def at(self, tau: Any) -> Any:
        """Return the value, in one variable, of what is known."""
        total = self.ring.zero
        for item in reversed(self.coefficients):
            total = total * tau + item
        return total * self.ring.arithmetic.power(tau, Fraction(self.start))

    def filled(self) -> Series:
        """Return the series from degree zero on."""
        if self.start == 0:
            return self
        if self.start < 0:
            raise StateError("A function of a quantity that grows without bound on the way into the point is needed.")
        return _Untrimmed(self.ring, 0, self._padded(0, self.size), self.end)

    def _padded(self, start: int, size: int) -> Row:
        """Return the row with zeros before it, from a lower start."""
        return self.ring.row([self.ring.zero] * (self.start - start) + self.ring.items(self.c, size))

    def shifted(self, by: int) -> Series:
        """Return the series times tau^by."""
        return Series(self.ring, self.start + by, self.c, self.size)

    def stretched(self, rho: Any) -> Series:
        """Return the series of rho tau."""
        factor, items = self.ring.arithmetic.power(rho, Fraction(self.start)), []
        for item in self.coefficients:
            items.append(item * factor)
            factor = factor * rho
        return self.ring.series(items, self.start) if items else self

    def derivative(self) -> Series:
        """Return the derivative with respect to the one variable."""
        items = [item * (self.start + k) for k, item in enumerate(self.coefficients)]
        if self.start == 0:
            return self.ring.series(items[1:])
        return self.ring.series(items, self.start - 1) if items else Series(self.ring, self.start - 1, self.c, 0)

    def cut(self, end: int) -> Series:
        """Return the series with nothing said about the degrees from `end` on."""
        if end >= self.end:
            return self
        size = max(end - self.start, 0)
        return Series(self.ring, min(self.start, end), self.ring.cut(self.c, size), size)

    def __add__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            if self.end <= 0:
                return self
            if self.start == 0:
                return Series(self.ring, 0, self.ring.plus(self.c, other), self.size)
            other = self.ring.constant(other, self.end)
        first, second = (self, other) if self.start <= other.start else (other, self)
        end = min(first.end, second.end)
        if first.start >= end:
            return Series(self.ring, end, self.ring.cut(first.c, 0), 0)
        size = end - first.start
        c = self.ring.cut(first.c, size)
        if second.start < end:
            part = second.cut(end)
            more = part.c if part.start == first.start else part._padded(first.start, part.size)
            c = self.ring.add(c, more)
        return Series(self.ring, first.start, c, size)

    def __mul__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return Series(self.ring, self.start, self.ring.scale(self.c, other), self.size)
        size = min(self.size, other.size)
        if not size:
            return Series(self.ring, min(self.start + other.end, other.start + self.end), self.ring.cut(self.c, 0), 0)
        return Series(self.ring, self.start + other.start, self.ring.multiply(self.c, other.c, size), size)

    def __neg__(self) -> Series:
        return self * -1

    def __sub__(self, other: Any) -> Series:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Series:
        return self.__neg__().__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__

    def inverse(self) -> Series:
        """Return 1 over the series; one without a coefficient known to differ from zero has none."""
        if not self.size or self.ring.arithmetic.vanishes(self.leading):
            raise ZeroDivisionError(f"a series that vanishes to order {self.end} was to be inverted")
        return self.ring.inverse(self)

    def __truediv__(self, other: Any) -> Series:
        return self.__mul__(other.inverse() if isinstance(other, Series) else self.ring.arithmetic.inverse(other))

    def __rtruediv__(self, other: Any) -> Series:
        return self.inverse().__mul__(other)

    def power(self, exponent: Fraction) -> Series:
        """Return a rational power; the series must be positive next to zero unless the exponent is whole."""
        if exponent.denominator == 1:
            return self._natural(int(exponent)) if exponent >= 0 else self.inverse()._natural(-int(exponent))
        if not self.size or self.ring.arithmetic.vanishes(self.leading):
            raise ZeroDivisionError(f"a root of a series that vanishes to order {self.end} was to be taken")
        start = exponent * self.start
        if start.denominator != 1:
            raise StateError(
                f"A quantity behaves like distance^{float(start):g} at the point: its power has no series."
            )
        if self.ring.arithmetic.sign(self.leading) < 0:
            raise StateError("A root of a negative quantity occurs on the way into the point.")
        head = Series(self.ring, 0, self.c, self.size)
        if exponent == Fraction(1, 2):
            return self.ring.apply("sqrt", head).shifted(int(start))
        made = taylor(self.ring.arithmetic, ("power", exponent), head.constant, head.size)
        return compose(made, head).shifted(int(start))

    def _natural(self, exponent: int) -> Series:
        result: Series | None = None
        square = self
        while exponent:
            if exponent & 1:
                result = square if result is None else result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return self.ring.constant(self.ring.one, max(self.end, 1)) if result is None else result

    def apply(self, name: str) -> Series:
        """Return an elementary function of the series, which must be finite at zero."""
        if name == "sqrt":
            return self.power(Fraction(1, 2))
        return self.ring.apply(name, self.filled() if self.start else self)

    def sign(self) -> int:
        """Return the sign next to zero: in one variable of the first coefficient, in several of the value at zero."""
        if self.ring.laurent:
            return self.ring.arithmetic.sign(self.leading) if self.size else 0
        found = self.ring.arithmetic.sign(self.constant)
        if not found:
            raise StateError("An absolute value or a condition in the constraints changes at the point itself.")
        return found

    def __abs__(self) -> Series:
        return -self if self.sign() < 0 else self

    def __repr__(self) -> str:
        items = [f"{float(item):.8g}" for item in self.coefficients]
        return f"Series({self.start}, [{', '.join(items)}])"


class _Untrimmed(Series):
    """A series whose leading zeros are kept: what functions with a value at zero are computed from."""

    __slots__ = ()

    def __init__(self, ring: Ring, start: int, c: Row, size: int) -> None:
        self.ring, self.start, self.c, self.size = ring, start, c, size
