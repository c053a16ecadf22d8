"""Linear equations over numbers of an arithmetic, or over Laurent series.

The pivot is the largest entry that is left: over series the one of lowest order, so that as few orders as possible are
lost. Rows and columns are both searched: matrices here are singular at the point itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zwang._numerics.series.arithmetic import Arithmetic, Undecided
from zwang._numerics.series.power import Series

Matrix = list[list[Any]]
NOTHING = (1, 0, 0.0)


def _rank_of_size(value: Any, A: Arithmetic) -> tuple[int, int, Any]:
    """Return a key that is smallest for the largest value next to the point."""
    if isinstance(value, Series):
        return (0, value.start, -abs(value.leading)) if value.size else NOTHING
    return NOTHING if A.vanishes(value) else (0, 0, -abs(value))


def eliminate(matrix: Matrix, steps: int, A: Arithmetic, least: Any = None) -> tuple[Matrix, list[int], list[int], int]:
    """Bring the first `steps` columns that have pivots to triangular form by complete pivoting.

    Returns
    -------
    matrix, rows, columns, sign
        The reduced copy (its rows in the order of the pivots), which rows and columns the pivots stand in, then the
        others, and the sign of both permutations together; `rows` ends with the last pivot. Columns from `steps` on
        take no part in the choice of pivots, and pivots not above `least` in size are none.
    """
    rows = [list(row) for row in matrix]
    numbers, columns = list(range(len(rows))), list(range(steps))
    sign = done = 0
    for k in range(min(len(rows), steps)):
        best, i, j = min(
            (_rank_of_size(rows[i][columns[j]], A), i, j) for i in range(k, len(rows)) for j in range(k, steps)
        )
        if best[0] or (least is not None and not -best[2] > least):
            if any(isinstance(item, Series) for row in rows[k:] for item in row):
                raise Undecided("no pivot is known to differ from zero")
            break
        sign += (i != k) + (j != k)
        rows[k], rows[i], numbers[k], numbers[i] = rows[i], rows[k], numbers[i], numbers[k]
        columns[k], columns[j] = columns[j], columns[k]
        _sweep(rows, k, [columns[k], *columns[k + 1 :], *range(steps, len(rows[k]))], A)
        done = k + 1
    return rows, numbers[:done], columns, (-1) ** sign


def _sweep(rows: Matrix, k: int, columns: Sequence[int], A: Arithmetic) -> None:
    """Subtract multiples of row k from those below it, so that their first column is zero."""
    first, *others = columns
    pivot = rows[k][first]
    inverse = pivot.inverse() if isinstance(pivot, Series) else A.inverse(pivot)
    for row in rows[k + 1 :]:
        factor = row[first]
        if isinstance(factor, Series) or not A.is_exactly_zero(factor):
            factor = factor * inverse
            for column in others:
                row[column] = row[column] - factor * rows[k][column]


def solve(matrix: Matrix, right: Sequence[Sequence[Any]], A: Arithmetic) -> list[list[Any]]:
    """Return the solutions of square equations, one list for each right-hand side.

    Examples
    --------
    >>> from zwang._numerics.series.arithmetic import FLOATS
    >>> solve([[0.0, 2.0], [1.0, 1.0]], [[4.0, 5.0]], FLOATS)
    [[3.0, 2.0]]
    """
    n = len(matrix)
    joined = [[*row, *(side[i] for side in right)] for i, row in enumerate(matrix)]
    rows, pivots, columns, _ = eliminate(joined, n, A)
    if len(pivots) < n:
        raise ZeroDivisionError("the equations are singular")
    found = []
    for side in range(n, n + len(right)):
        values: list[Any] = [None] * n
        for k in reversed(range(n)):
            total = rows[k][side]
            for j in range(k + 1, n):
                total = total - rows[k][columns[j]] * values[columns[j]]
            values[columns[k]] = total / rows[k][columns[k]]
        found.append(values)
    return found


def determinant(matrix: Matrix, A: Arithmetic) -> Any:
    """Return the determinant."""
    rows, pivots, columns, sign = eliminate(matrix, len(matrix), A)
    if len(pivots) < len(matrix):
        return A.number(0)
    total: Any = A.number(sign)
    for k, column in enumerate(columns):
        total = rows[k][column] * total
    return total


def null_vector(rows: Matrix, A: Arithmetic) -> list[Any]:
    """Return a vector that n - 1 independent rows of length n annihilate, its largest component 1 or -1.

    Examples
    --------
    >>> from zwang._numerics.series.arithmetic import FLOATS
    >>> null_vector([[1.0, -1.0]], FLOATS)
    [1.0, 1.0]
    """
    n = len(rows[0])
    reduced, pivots, columns, _ = eliminate(rows, n, A)
    if len(pivots) < n - 1:
        raise ZeroDivisionError("the rows depend on each other")
    values: list[Any] = [None] * n
    values[columns[-1]] = A.number(1)
    for k in reversed(range(n - 1)):
        total = reduced[k][columns[k + 1]] * values[columns[k + 1]]
        for j in range(k + 2, n):
            total = total + reduced[k][columns[j]] * values[columns[j]]
        values[columns[k]] = -total / reduced[k][columns[k]]
    return values


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Return the sum of products; 0 of nothing."""
    total: Any = None
    for left, right in zip(a, b, strict=True):
        product = left * right
        total = product if total is None else total + product
    return 0 if total is None else total


def times(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    """Return a matrix times a vector."""
    return [dot(row, vector) for row in matrix]


def orthonormal(vectors: Sequence[Sequence[Any]], A: Arithmetic) -> list[list[Any]]:
    """Return an orthonormal basis of independent vectors, by Gram and Schmidt's method, twice."""
    found: list[list[Any]] = []
    for vector in vectors:
        rest = _without(vector, found)
        length = A.call("sqrt", dot(rest, rest))
        found.append([item / length for item in rest])
    return found


def orthonormal_rest(basis: Sequence[Sequence[Any]], n: int, A: Arithmetic) -> list[list[Any]]:
    """Return an orthonormal basis of the orthogonal complement, along coordinate axes where it can be."""
    found: list[list[Any]] = []
    while len(basis) + len(found) < n:
        rests = []
        for axis in range(n):
            rest = _without([A.number(int(axis == j)) for j in range(n)], [*basis, *found])
            rests.append((dot(rest, rest), rest))
        square, rest = max(rests, key=lambda pair: float(pair[0]))
        length = A.call("sqrt", square)
        found.append([a / length for a in rest])
    return found


def _without(vector: Sequence[Any], basis: Sequence[Sequence[Any]]) -> list[Any]:
    rest = list(vector)
    for _ in range(2):
        for other in basis:
            along = dot(rest, other)
            rest = [a - along * b for a, b in zip(rest, other, strict=True)]
    return rest
