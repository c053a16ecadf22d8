"""Balls with their partial derivatives: a value over a box and how it changes there, for bounds of second order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Sloped:
    """A ball and the balls of its derivatives by the variables of a box.

    Examples
    --------
    >>> from flint import arb
    >>> x = Sloped(arb(3), [arb(1)])
    >>> square = x * x
    >>> float(square.value), float(square.slopes[0])
    (9.0, 6.0)
    """

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: Sequence[Any]) -> None:
        self.value, self.slopes = value, list(slopes)

    def __add__(self, other: Sloped) -> Sloped:
        return Sloped(self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes, strict=True)])

    def __sub__(self, other: Sloped) -> Sloped:
        return Sloped(self.value - other.value, [a - b for a, b in zip(self.slopes, other.slopes, strict=True)])

    def __neg__(self) -> Sloped:
        return Sloped(-self.value, [-a for a in self.slopes])

    def __mul__(self, other: Sloped) -> Sloped:
        a, b = self.value, other.value
        return Sloped(a * b, [x * b + a * y for x, y in zip(self.slopes, other.slopes, strict=True)])

    def __truediv__(self, other: Sloped) -> Sloped:
        quotient = self.value / other.value
        slopes = [(x - quotient * y) / other.value for x, y in zip(self.slopes, other.slopes, strict=True)]
        return Sloped(quotient, slopes)


Matrix = list[list[Sloped]]


class Singular(Exception):
    """A pivot may be zero somewhere in the box."""


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return a product of matrices."""
    columns = list(zip(*b, strict=True))
    return [[_dot(row, column) for column in columns] for row in a]


def _dot(a: Sequence[Sloped], b: Sequence[Sloped]) -> Sloped:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def transposed(a: Matrix) -> Matrix:
    """Return the transpose."""
    return [list(column) for column in zip(*a, strict=True)]


def solved(a: Matrix, b: Matrix) -> Matrix:
    """Return x of a x = b by elimination with the surest pivots; `Singular` where none is sure."""
    n = len(a)
    rows = [[*a[i], *b[i]] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: float(abs(rows[i][k].value).lower()))
        if not float(abs(rows[pivot][k].value).lower()) > 0:
            raise Singular
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [
                *rows[i][: k + 1],
                *(x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)),
            ]
    found: Matrix = [[] for _ in range(n)]
    for k in reversed(range(n)):
        right = rows[k][n:]
        for j in range(k + 1, n):
            right = [x - rows[k][j] * y for x, y in zip(right, found[j], strict=True)]
        found[k] = [x / rows[k][k] for x in right]
    return found


def determinant(a: Matrix) -> Sloped:
    """Return a determinant of few rows, by expansion."""
    if len(a) == 1:
        return a[0][0]
    total: Sloped | None = None
    for j, entry in enumerate(a[0]):
        minor = [[*row[:j], *row[j + 1 :]] for row in a[1:]]
        part = entry * determinant(minor)
        part = -part if j % 2 else part
        total = part if total is None else total + part
    assert total is not None
    return total
