"""Equations in the coordinates with their derivatives, over numbers and series; singular points to all digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from zwang._asymptotics.elimination import dot, times
from zwang._asymptotics.formulas import Formulas
from zwang._asymptotics.precision import Number, largest, mp

POLISHING = 60
POLISHING_DIGITS = 250


class Equations:
    """Equations g(q) = 0 with values of their parameters.

    Parameters
    ----------
    expressions : sequence of sympy expressions
        Of the coordinates and of symbols in `values`.
    coordinates : sequence of symbols
    values : mapping symbol -> mpf

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> circle = Equations([x**2 + y**2 - 1], [x, y], {})
    >>> [[int(item) for item in row] for row in circle.jacobian([mp.mpf(0), mp.mpf(1)])]
    [[0, 2]]
    """

    def __init__(self, expressions: Sequence[Any], coordinates: Sequence[Any], values: Mapping[Any, Number]) -> None:
        self.expressions = list(expressions)
        self.coordinates = list(coordinates)
        self.values = dict(values)
        self._value = Formulas(self.expressions).bound(self.values)
        slopes = [sp.diff(item, q) for item in self.expressions for q in self.coordinates]
        self._slope = Formulas(slopes).bound(self.values)

    def __len__(self) -> int:
        return len(self.expressions)

    def _at(self, q: Sequence[Any]) -> dict[Any, Any]:
        return dict(zip(self.coordinates, q, strict=True))

    def value(self, q: Sequence[Any]) -> list[Any]:
        """Return g(q)."""
        return self._value(self._at(q))

    def jacobian(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return dg/dq."""
        flat, n = self._slope(self._at(q)), len(self.coordinates)
        return [flat[i * n : (i + 1) * n] for i in range(len(self))]

    def chosen(self, places: Sequence[int]) -> Equations:
        """Return some of the equations."""
        return Equations([self.expressions[k] for k in places], self.coordinates, self.values)

    def joined(self, expression: Any, values: Mapping[Any, Number]) -> Equations:
        """Return these equations and one more, with the values of its own symbols."""
        return Equations([*self.expressions, expression], self.coordinates, {**self.values, **values})


class Subspaces:
    """The singular value decomposition of the rows at a point, split at the rank.

    Attributes
    ----------
    rank : int
    kernel : list of vectors
        Orthonormal; directions in which no row changes.
    across : list of vectors
        Orthonormal; the rest of the directions.
    left, left_null : list of vectors
        Combinations of rows that are independent, and those that vanish.
    sizes : list of mpf
        The singular values.
    """

    def __init__(self, rows: Sequence[Sequence[Number]], tol: Number, rank: int | None = None) -> None:
        m, n = len(rows), len(rows[0])
        u, self.sizes, v = _singular_values(mp.matrix([list(row) for row in rows]))
        bound = tol * max(*self.sizes, 1)
        self.rank = sum(1 for item in self.sizes if item > bound) if rank is None else rank
        self.across = [[v[k, j] for j in range(n)] for k in range(self.rank)]
        self.kernel = orthonormal_rest(self.across, n)
        self.left = [[u[i, k] for i in range(m)] for k in range(self.rank)]
        self.left_null = orthonormal_rest(self.left, m)


def orthonormal_rest(basis: Sequence[Sequence[Number]], n: int) -> list[list[Number]]:
    """Return an orthonormal basis of the orthogonal complement, along coordinate axes where it can be."""
    found: list[list[Number]] = []
    while len(basis) + len(found) < n:
        rests = []
        for axis in range(n):
            rest = [mp.mpf(int(axis == j)) for j in range(n)]
            for _ in range(2):
                for other in [*basis, *found]:
                    along = sum(a * b for a, b in zip(rest, other, strict=True))
                    rest = [a - along * b for a, b in zip(rest, other, strict=True)]
            rests.append((mp.sqrt(sum(a * a for a in rest)), rest))
        length, rest = max(rests, key=lambda pair: pair[0])
        found.append([a / length for a in rest])
    return found


def refine_singular_point(equations: Equations, q: Sequence[Number], rank: int) -> tuple[list[Number], Number, Number]:
    """Return the point near q where the rank is at most `rank`, its error, and the defect that is left.

    The conditions are g = 0 and u g' k = 0 for the left and right singular vectors u, k beyond the rank; they are met
    by the method of Gauss and Newton. Where branches touch, the point is a multiple solution and the steps shrink by a
    constant factor only; then they are multiplied by the multiplicity that this factor shows. The defect is how far the
    conditions are from holding: zero to all digits where the parameters are critical exactly.
    """
    here, previous, factor = list(q), mp.inf, 1
    found = (mp.inf, mp.inf, list(q))
    with mp.workdps(POLISHING_DIGITS):
        for _ in range(POLISHING):
            step, miss = _singular_step(equations, here, rank)
            length = largest(step)
            found = min(found, (miss, length, list(here)), key=lambda item: item[:2])
            if length <= mp.mpf(10) ** -(mp.dps // 3) * (1 + largest(here)):
                break
            ratio, previous = length / previous, length
            if factor == 1 and mp.mpf("0.4") < ratio < mp.mpf("0.95"):
                factor = int(mp.nint(1 / (1 - ratio)))
            elif ratio > 1:
                factor = 1
            here = [a + factor * b for a, b in zip(here, step, strict=True)]
    miss, length, here = found
    return here, 10 * length, miss


def _singular_step(equations: Equations, q: Sequence[Number], rank: int) -> tuple[list[Number], Number]:
    """Return the Gauss-Newton step for g = 0 and u g' k = 0, and how far both are from holding."""
    n, m = len(q), len(equations)
    rows, value = equations.jacobian(q), equations.value(q)
    split = Subspaces(rows, mp.mpf(0), rank)
    h = mp.mpf(10) ** -(mp.dps // 3)
    pairs = [(u, k) for u in split.left_null for k in split.kernel]
    conditions = [*value, *(dot(u, times(rows, k)) for u, k in pairs)]
    matrix = mp.zeros(m + len(pairs), n)
    for j in range(n):
        up = [item + (h if k == j else 0) for k, item in enumerate(q)]
        down = [item - (h if k == j else 0) for k, item in enumerate(q)]
        above, below = equations.jacobian(up), equations.jacobian(down)
        for i in range(m):
            matrix[i, j] = rows[i][j]
        for place, (u, k) in enumerate(pairs):
            matrix[m + place, j] = (dot(u, times(above, k)) - dot(u, times(below, k))) / (2 * h)
    return _least_squares(matrix, conditions), largest(conditions)


def _least_squares(matrix: Any, right: Sequence[Number]) -> list[Number]:
    """Return -(matrix)^+ right with directions that the matrix does not see left alone."""
    u, s, v = _singular_values(matrix)
    found = [mp.mpf(0)] * matrix.cols
    top = max(s, default=mp.mpf(0))
    for k, size in enumerate(s):
        if size > top * mp.mpf(10) ** -(mp.dps // 3) and size:
            amount = sum(u[i, k] * right[i] for i in range(matrix.rows)) / size
            for j in range(matrix.cols):
                found[j] -= amount * v[k, j]
    return found


def _singular_values(matrix: Any) -> tuple[Any, list[Number], Any]:
    """Return U, the singular values and V of a matrix, padded to a square: mpmath wants as many rows as columns."""
    size = max(matrix.rows, matrix.cols)
    square = mp.zeros(size, size)
    for i in range(matrix.rows):
        for j in range(matrix.cols):
            square[i, j] = matrix[i, j]
    u, s, v = mp.svd_r(square)
    return u, [s[k] for k in range(min(matrix.rows, matrix.cols))], v
