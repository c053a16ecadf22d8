"""Sparse LDL^T of symmetric quasi-definite matrices with a fixed pattern: analyse once, factor many times.

K = L D L^T without pivoting exists for every ordering if K is quasi-definite, that is [[-A, H^T], [H, D]] with A
positive definite and D positive semidefinite once a little is added to D. The pattern, the ordering and where every
entry goes are worked out once (`analyse`); `factor` and `substitute` are compiled loops over those tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang.errors import ZwangError

Ints = NDArray[np.int64]
Indices = NDArray[np.uint32]  # unsigned: for a signed index, each access tests whether it counts from the end
Floats = NDArray[np.float64]


_MOST_FILL = 40_000_000  # entries of L: with indices half a gigabyte


class FillError(ZwangError):
    """A factorization would need more memory than it is given."""


class Analysis(NamedTuple):
    """The symbolic part of a factorization.

    Attributes
    ----------
    work : int
        Multiplications of one factorization.
    order : (n,) int
        order[k] is the row of K eliminated at step k.
    ptr, row : int
        The upper triangle of the permuted matrix by columns.
    place : (nnz,) int
        place[e] is where entry e of the given (row, column) list is added.
    l_ptr, l_row : int
        Pattern of L by columns.
    r_ptr, r_col : int
        Pattern of L by rows, in the order of elimination.
    """

    work: int
    order: Indices
    ptr: Indices
    row: Indices
    place: Indices
    l_ptr: Indices
    l_row: Indices
    r_ptr: Indices
    r_col: Indices


@njit("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _columns(low: Any, high: Any, start: Any, ptr: Any, row: Any, place: Any) -> int:
    """Fill the columns of the upper triangle with entries at (low, high), each once, and where each entry given goes.

    `start` says where the entries of a column begin when they are sorted by columns; it is overwritten.
    """
    n = ptr.size - 1
    sorted_by_column, seen = np.empty(low.size, np.int64), np.full(n, -1, np.int64)
    for e in range(low.size):
        sorted_by_column[start[high[e]]] = e
        start[high[e]] += 1
    total, at = 0, 0
    for k in range(n):
        ptr[k] = total
        while at < start[k]:
            e = sorted_by_column[at]
            if seen[low[e]] < ptr[k]:  # an earlier column's, or none
                seen[low[e]] = total
                row[total] = low[e]
                total += 1
            place[e] = seen[low[e]]
            at += 1
    ptr[n] = total
    return total


@njit("int64(int64[::1], int64[::1], int64[::1], int64[::1])")
def _row_counts(ptr: Any, row: Any, parent: Any, r_ptr: Any) -> int:
    """Fill the elimination tree and the number of entries of every row of L; return their sum."""
    n = ptr.size - 1
    mark = np.full(n, -1, np.int64)
    total = 0
    for k in range(n):
        parent[k] = -1
        mark[k] = k
        count = 0
        for e in range(ptr[k], ptr[k + 1]):
            i = row[e]
            while mark[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                mark[i] = k
                count += 1
                i = parent[i]
        r_ptr[k] = total
        total += count
    r_ptr[n] = total
    return total


@njit("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _fill_pattern(ptr: Any, row: Any, parent: Any, r_ptr: Any, r_col: Any, l_ptr: Any, l_row: Any) -> int:
    """Fill the pattern of L by rows (in topological order) and by columns; return the multiplications needed."""
    n = ptr.size - 1
    mark = np.full(n, -1, np.int64)
    path = np.empty(n, np.int64)
    count = np.zeros(n, np.int64)
    for k in range(n):
        mark[k] = k
        top = r_ptr[k + 1]
        for e in range(ptr[k], ptr[k + 1]):
            i = row[e]
            length = 0
            while mark[i] != k:
                path[length] = i
                length += 1
                mark[i] = k
                i = parent[i]
            for s in range(length):
                top -= 1
                r_col[top] = path[length - 1 - s]
        for e in range(r_ptr[k], r_ptr[k + 1]):
            count[r_col[e]] += 1
    work = 0
    l_ptr[0] = 0
    for k in range(n):
        l_ptr[k + 1] = l_ptr[k] + count[k]
        work += count[k] * (count[k] + 3) // 2
        count[k] = l_ptr[k]
    for k in range(n):
        for e in range(r_ptr[k], r_ptr[k + 1]):
            i = r_col[e]
            l_row[count[i]] = k
            count[i] += 1
    return work


class LowerFactor(NamedTuple):
    """L by columns, as the pattern says, and D; with room for a row (zeros) and for how far each column is filled."""

    low: Floats
    pivot: Floats
    row: Floats
    fill: Indices


@njit(_nrt=False)
def factor_into(pattern: Analysis, value: Floats, sign: Floats, tiny: float, factor: LowerFactor) -> int:
    """Factor; a pivot of the wrong sign or below `tiny` is replaced by sign * tiny. Return how many were."""
    ptr, row, l_ptr, l_row, r_ptr, r_col = (
        pattern.ptr,
        pattern.row,
        pattern.l_ptr,
        pattern.l_row,
        pattern.r_ptr,
        pattern.r_col,
    )
    low, pivot, y, fill = factor
    n = ptr.size - 1
    changed = 0
    for k in range(n):
        fill[k] = l_ptr[k]
    for k in range(n):
        d = 0.0
        for e in range(ptr[k], ptr[k + 1]):
            i = row[e]
            if i == k:
                d += value[e]
            else:
                y[i] += value[e]
        for e in range(r_ptr[k], r_ptr[k + 1]):
            i = r_col[e]
            yi = y[i]
            y[i] = 0.0
            end = fill[i]
            for f in range(l_ptr[i], end):
                y[l_row[f]] -= low[f] * yi
            lki = yi / pivot[i]
            d -= lki * yi
            low[end] = lki
            fill[i] = end + 1
        if d * sign[k] < tiny:
            d = sign[k] * tiny
            changed += 1
        pivot[k] = d
    return changed


@njit(_nrt=False)
def substitute(pattern: Analysis, factor: LowerFactor, x: Floats) -> None:
    """Overwrite x with the solution of L D L^T x = x (both in the permuted order)."""
    l_ptr, l_row, low, pivot = pattern.l_ptr, pattern.l_row, factor.low, factor.pivot
    n = pivot.size
    for k in range(n):
        xk = x[k]
        if xk != 0.0:
            for f in range(l_ptr[k], l_ptr[k + 1]):
                x[l_row[f]] -= low[f] * xk
    for k in range(n - 1, -1, -1):
        s = x[k] / pivot[k]
        for f in range(l_ptr[k], l_ptr[k + 1]):
            s -= low[f] * x[l_row[f]]
        x[k] = s


def analyse(n: int, rows: Ints, cols: Ints, order: Ints) -> Analysis:
    """Analyse the symmetric matrix with entries at (rows, cols), each pair given once, in the given order."""
    inverse = np.empty(n, np.int64)
    inverse[order] = np.arange(n)
    a, b = inverse[rows], inverse[cols]
    low, high = np.minimum(a, b), np.maximum(a, b)
    start = np.append(0, np.cumsum(np.bincount(high, minlength=n)))
    ptr, row, place = np.empty(n + 1, np.int64), np.empty(len(low), np.int64), np.empty(len(low), np.int64)
    row = row[: _columns(low, high, start, ptr, row, place)]
    parent, r_ptr = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    total = _row_counts(ptr, row, parent, r_ptr)
    if total > _MOST_FILL:
        raise FillError(
            f"a factorization of {n} unknowns would have {total:.2g} entries, more than {_MOST_FILL:.2g}. "
            f"Sweeps need no factorization."
        )
    r_col, l_row, l_ptr = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(n + 1, np.int64)
    work = _fill_pattern(ptr, row, parent, r_ptr, r_col, l_ptr, l_row)
    unsigned = [table.astype(np.uint32) for table in (order, ptr, row, place, l_ptr, l_row, r_ptr, r_col)]
    return Analysis(work, *unsigned)


@njit("int64(boolean[:,::1], int64[::1], int64[::1])")
def _eliminate(near: Any, size: Any, order: Any) -> int:
    """Fill the order of least degree of groups of unknowns; return the multiplications of a factorization in it.

    `near` says which groups are coupled, both ways round, no group with itself; what is left of them is kept in it.
    """
    n = order.size
    degree, alive, ring = np.zeros(n, np.int64), np.ones(n, np.bool_), np.empty(n, np.int64)
    for i in range(n):
        for k in range(n):
            if near[i, k]:
                degree[i] += size[k]
    work = 0
    for step in range(n):
        p, least = -1, 0
        for i in range(n):
            if alive[i] and (p < 0 or degree[i] < least):
                p, least = i, degree[i]
        order[step] = p
        alive[p] = False
        for column in range(least, least + size[p]):
            work += column * (column + 3) // 2
        length = 0
        for i in range(n):
            if near[p, i]:
                ring[length] = i
                length += 1
        for a in range(length):
            i = ring[a]
            near[i, p] = False
            degree[i] -= size[p]
            for b in range(a):
                k = ring[b]
                if not near[i, k]:
                    near[i, k] = near[k, i] = True
                    degree[i] += size[k]
                    degree[k] += size[i]
    return work


def least_degree(near: NDArray[np.bool_], size: Ints) -> tuple[Ints, int]:
    """Return an ordering of groups of unknowns with little fill, and the multiplications of a factorization in it.

    Each group is eliminated as a whole, next the one with the fewest unknowns left beside it.

    Parameters
    ----------
    near : (g, g) bool array
        Which groups are coupled; symmetric.
    size : (g,) int array
        The unknowns of each group.

    Examples
    --------
    Two points of a star go before its middle, which counts as two and is next to no more than they are by then.

    >>> near = np.zeros((5, 5), dtype=bool)
    >>> near[0, 1:] = near[1:, 0] = True
    >>> least_degree(near, np.array([2, 1, 1, 1, 1]))
    (array([1, 2, 0, 3, 4]), 26)
    """
    left = near.copy()
    np.fill_diagonal(left, False)
    order = np.empty(len(size), dtype=np.int64)
    return order, _eliminate(left, np.ascontiguousarray(size, dtype=np.int64), order)


def minimum_degree(n: int, rows: Ints, cols: Ints) -> Ints:
    """Return an ordering with little fill: the minimum degree ordering of SuperLU."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    keep = rows != cols
    pattern = coo_array((np.full(np.count_nonzero(keep), 1e-3), (rows[keep], cols[keep])), shape=(n, n)).tocsc()
    pattern = pattern + pattern.T
    pattern.data[:] = -1.0
    diagonal = np.asarray(-pattern.sum(axis=0)).ravel() + 1.0  # dominant: any ordering works without pivoting
    pattern = (pattern + coo_array((diagonal, (np.arange(n), np.arange(n))), shape=(n, n))).tocsc()
    options = {"SymmetricMode": True}
    perm = splu(pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).perm_c
    return np.argsort(perm).astype(np.int64)
