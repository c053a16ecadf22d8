"""Forward and backward substitution, and the determinant, run by run: see `table_layout` for what is where."""

from __future__ import annotations

import math

from zwang._numerics.jit import njit
from zwang._numerics.linear.sparse_ldl.table_layout import (
    LEAF,
    PAIR,
    RUNS,
    SINGLE,
    Floats,
    Ints,
    get,
    get_run,
    index_of,
    value_of,
)


@njit("void(uint32[::1], float64[::1], float64[::1])", separate=True)
def ldl_solve(table: Ints, workspace: Floats, x: Floats) -> None:
    """Solve K x = b in place, with the factor that `ldl_factor` left in the workspace.

    With b = [Q; gamma] the result is [a; -lam] where M a - J^T lam = Q and J a = gamma.

    Parameters
    ----------
    table : uint32 array
        `SparsePattern.table`.
    workspace : float64 array
        As `ldl_factor` left it; it is not changed, and serves any number of right-hand sides.
    x : (n + m,) float64 array
        The right-hand side, replaced by the solution.
    """
    runs = get(table, RUNS + 1)
    for run in range(runs):
        kind, w, r, count, at, to = get_run(table, run)
        index, value = index_of(table, kind, w, r, count, at), value_of(workspace, kind, w, r, count, to)
        if kind == LEAF:
            _forward_leaves(index, value, w, r, x)
        else:
            _forward(index, value, kind, w, r, x)
    for run in range(runs - 1, -1, -1):
        kind, w, r, count, at, to = get_run(table, run)
        index, value = index_of(table, kind, w, r, count, at), value_of(workspace, kind, w, r, count, to)
        if kind == LEAF:
            _backward_leaves(index, value, w, r, x)
        else:
            _backward(index, value, kind, w, r, x)


@njit
def _forward_leaves(index: Ints, value: Floats, w: int, r: int, x: Floats) -> None:
    last = index.shape[1] - w
    if w == 2 and r == 2:
        for i in range(index.shape[0]):
            x0, x1 = x[index[i, 11]], x[index[i, 12]]
            x[index[i, 6]] -= value[i, 2] * x0 + value[i, 3] * x1
            x[index[i, 7]] -= value[i, 4] * x0 + value[i, 5] * x1
    elif w == 2:
        for i in range(index.shape[0]):
            x0, x1 = x[index[i, last]], x[index[i, last + 1]]
            for k in range(1, r + 1):
                x[index[i, 1 + 2 * r + k]] -= value[i, 2 * k] * x0 + value[i, 2 * k + 1] * x1
    else:
        for i in range(index.shape[0]):
            for k in range(r):
                change = 0.0
                for a in range(w):
                    change += value[i, w + k * w + a] * x[index[i, last + a]]
                x[index[i, w + w * r + k]] -= change


@njit
def _forward(index: Ints, value: Floats, kind: int, w: int, r: int, x: Floats) -> None:
    if kind == PAIR:
        for i in range(index.shape[0]):
            x[index[i, 1]] -= value[i, 1] * x[index[i, 0]]
    elif kind == SINGLE:
        for i in range(index.shape[0]):
            x0 = x[index[i, 0]]
            for j in range(1, r, 2):
                x[index[i, j]] -= value[i, j] * x0
                x[index[i, j + 1]] -= value[i, j + 1] * x0
    else:
        h = w + r
        for i in range(index.shape[0]):
            for k in range(w):
                x0 = x[index[i, k]]
                for j in range(k + 1, h):
                    x[index[i, j]] -= value[i, k * h + j] * x0


@njit
def _backward_leaves(index: Ints, value: Floats, w: int, r: int, x: Floats) -> None:
    last = index.shape[1] - w
    if w == 2 and r == 2:
        for i in range(index.shape[0]):
            y0, y1 = x[index[i, 6]], x[index[i, 7]]
            x[index[i, 11]] = x[index[i, 11]] * value[i, 0] - value[i, 2] * y0 - value[i, 4] * y1
            x[index[i, 12]] = x[index[i, 12]] * value[i, 1] - value[i, 3] * y0 - value[i, 5] * y1
    elif w == 2:
        for i in range(index.shape[0]):
            x0, x1 = x[index[i, last]] * value[i, 0], x[index[i, last + 1]] * value[i, 1]
            for k in range(1, r + 1):
                y = x[index[i, 1 + 2 * r + k]]
                x0 -= value[i, 2 * k] * y
                x1 -= value[i, 2 * k + 1] * y
            x[index[i, last]], x[index[i, last + 1]] = x0, x1
    else:
        for i in range(index.shape[0]):
            for a in range(w):
                result = x[index[i, last + a]] * value[i, a]
                for k in range(r):
                    result -= value[i, w + k * w + a] * x[index[i, w + w * r + k]]
                x[index[i, last + a]] = result


@njit
def _backward(index: Ints, value: Floats, kind: int, w: int, r: int, x: Floats) -> None:
    if kind == PAIR:
        for i in range(index.shape[0] - 1, -1, -1):
            x[index[i, 0]] = x[index[i, 0]] * value[i, 0] - value[i, 1] * x[index[i, 1]]
    elif kind == SINGLE:
        for i in range(index.shape[0] - 1, -1, -1):
            result = x[index[i, 0]] * value[i, 0]
            for j in range(1, r, 2):
                result -= value[i, j] * x[index[i, j]] + value[i, j + 1] * x[index[i, j + 1]]
            x[index[i, 0]] = result
    else:
        h = w + r
        for i in range(index.shape[0] - 1, -1, -1):
            for k in range(w - 1, -1, -1):
                result = x[index[i, k]] * value[i, k * h + k]
                for j in range(k + 1, h):
                    result -= value[i, k * h + j] * x[index[i, j]]
                x[index[i, k]] = result


@njit("float64(uint32[::1], float64[::1])", separate=True)
def ldl_log_determinant(table: Ints, workspace: Floats) -> float:
    """Return log |det K| from the pivots that `ldl_factor` left in the workspace; not finite where one is zero.

    det K = det M det(J M^-1 J^T) up to its sign, so it falls without bound where rows of J become dependent.
    """
    total = 0.0
    for run in range(get(table, RUNS + 1)):
        kind, w, r, count, _, to = get_run(table, run)
        value = value_of(workspace, kind, w, r, count, to)
        stride = 1 if kind == LEAF else w + r + 1
        for i in range(count):
            for k in range(w):
                total -= math.log(abs(value[i, k * stride]) + 1e-300)
    return total
