"""Linear equations over a field that may be numbers of eighty digits or Laurent series.

The pivot is the largest entry that is left: over series the one of lowest order, so that as few orders as possible are
lost. Rows and columns are both searched: matrices here are singular at the point itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import mp

Matrix = list[list[Any]]


class Undecided(ArithmeticError):
    """More terms of the series are needed to go on."""


def _rank_of_size(value: Any) -> tuple[int, Any]:
    """Return a key that is smallest for the largest value next to the point."""
    if isinstance(value, Laurent):
        return (0 if not value.is_zero else 1, (value.start, -abs(value.leading)))
    return (0 if value else 1, (0, -abs(value)))


def eliminate(matrix: Matrix, steps: int) -> tuple[Matrix, list[int], list[Any], int]:
    """Bring the first `steps` columns that have pivots to triangular form by complete pivoting.

    Returns
    -------
    matrix, columns, pivots, sign
        The reduced copy (its rows in the order of the pivots), the order of the columns, the pivots, and the sign of
        both permutations together. Columns from `steps` on take no part in the choice of pivots.
    """
    rows = [list(row) for row in matrix]
    columns = list(range(steps))
    pivots: list[Any] = []
    sign = 1
    for k in range(min(len(rows), steps)):
        best = min(
            ((i, j) for i in range(k, len(rows)) for j in range(k, steps)),
            key=lambda place: _rank_of_size(rows[place[0]][columns[place[1]]]),
        )
        i, j = best
        if _rank_of_size(rows[i][columns[j]])[0]:
            if any(isinstance(item, Laurent) for row in rows[k:] for item in row):
                raise Undecided("no pivot is known to differ from zero")
            break
        sign *= (-1) ** ((i != k) + (j != k))
        rows[k], rows[i] = rows[i], rows[k]
        columns[k], columns[j] = columns[j], columns[k]
        pivot = rows[k][columns[k]]
        pivots.append(pivot)
        for row in rows[k + 1 :]:
            factor = row[columns[k]]
            if _rank_of_size(factor)[0] and not isinstance(factor, Laurent):
                continue
            factor = factor / pivot
            for column in [*columns[k + 1 :], *range(steps, len(row))]:
                row[column] = row[column] - factor * rows[k][column]
    return rows, columns, pivots, sign


def solve(matrix: Matrix, right: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the solutions of square equations, one list for each right-hand side.

    Examples
    --------
    >>> found = solve([[mp.mpf(0), mp.mpf(2)], [mp.mpf(1), mp.mpf(1)]], [[mp.mpf(4), mp.mpf(5)]])
    >>> [int(item) for item in found[0]]
    [3, 2]
    """
    n = len(matrix)
    joined = [[*row, *(side[i] for side in right)] for i, row in enumerate(matrix)]
    rows, columns, pivots, _ = eliminate(joined, n)
    if len(pivots) < n:
        raise ZeroDivisionError("the equations are singular")
    found = []
    for side in range(n, n + len(right)):
        values: list[Any] = [None] * n
        for k in reversed(range(n)):
            total = rows[k][side]
            for j in range(k + 1, n):
                total = total - rows[k][columns[j]] * values[columns[j]]
            values[columns[k]] = total / pivots[k]
        found.append(values)
    return found


def determinant(matrix: Matrix) -> Any:
    """Return the determinant."""
    _, _, pivots, sign = eliminate(matrix, len(matrix))
    if len(pivots) < len(matrix):
        return mp.mpf(0)
    total: Any = mp.mpf(sign)
    for item in pivots:
        total = item * total
    return total


def null_vector(rows: Matrix) -> list[Any]:
    """Return a vector that n - 1 independent rows of length n annihilate, its largest component 1 or -1.

    Examples
    --------
    >>> [int(item) for item in null_vector([[mp.mpf(1), mp.mpf(-1)]])]
    [1, 1]
    """
    n = len(rows[0])
    reduced, columns, pivots, _ = eliminate(rows, n)
    if len(pivots) < n - 1:
        raise ZeroDivisionError("the rows depend on each other")
    values: list[Any] = [None] * n
    values[columns[-1]] = mp.mpf(1)
    for k in reversed(range(n - 1)):
        total: Any = mp.mpf(0)
        for j in range(k + 1, n):
            total = total - reduced[k][columns[j]] * values[columns[j]]
        values[columns[k]] = total / pivots[k]
    return values


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Return the sum of products."""
    total: Any = mp.mpf(0)
    for left, right in zip(a, b, strict=True):
        total = total + left * right
    return total


def times(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    """Return a matrix times a vector."""
    return [dot(row, vector) for row in matrix]
