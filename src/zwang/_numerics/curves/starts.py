"""Newton's method from many starts: for points of f = 0, and for the points where its rank drops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.curves.rows import ScaledSet, Slate, damped_step, load, rotate_rows, row_sizes
from zwang._numerics.jit import EVAL_TYPE, njit

LONGEST = 0.5  # of a step of Newton's method, in scaled coordinates: radians, or parts of the box
VECTOR, MATRIX = "float64[::1]", "float64[:, ::1]"


@njit(f"void({EVAL_TYPE}, ScaledSet, {MATRIX}, int64, {MATRIX}, {MATRIX})")
def project_many(evaluate: Any, given: ScaledSet, x: Any, most: int, values: Any, report: Any) -> None:
    """Move every row of x to f = 0; `values` gets its singular values, `report` the last step and the residual."""
    n, m, g, rows = given.sizes[0], given.sizes[1], given.sizes[2], given.mix.shape[0]
    slate = Slate(np.empty(n), np.empty((m + g) * (n + 1)), np.empty((rows, n + 1)), np.empty(n), np.empty(0))
    W, N, step = slate.W, np.empty((n, n)), slate.step
    for s in range(x.shape[0]):
        length = math.inf
        for turn in range(most):
            if not load(evaluate, given, slate, x[s]):
                length = math.inf
                break
            # Damped by the square of the residual: quadratic also where dependent equations leave a curve of solutions,
            # on which a plain Newton step would slide along.
            square = 0.0
            for i in range(rows):
                square += W[i, n] * W[i, n]
            if not damped_step(W, rows, n, 0.1 * min(square, 1.0) + 1e-16, N, step):
                length = math.inf
                break
            length, size = 0.0, 1.0
            for j in range(n):
                length = max(length, abs(step[j]))
                size = max(size, abs(x[s, j]))
            factor = 1.0 if length <= LONGEST else LONGEST / length
            for j in range(n):
                x[s, j] += factor * step[j]
            if length <= 1e-14 * size:
                break
            if turn == 40 and length > 0.05:
                break  # not on the way to a root
        residual = math.inf
        if load(evaluate, given, slate, x[s]):
            residual = 0.0
            for i in range(rows):
                residual = max(residual, abs(W[i, n]))
            rotate_rows(W, rows, n)
            row_sizes(W, rows, n, values[s])
        report[s, 0], report[s, 1] = length, residual


@njit(f"void({EVAL_TYPE}, ScaledSet, {MATRIX}, {MATRIX}, int64, {MATRIX})")
def singular_many(evaluate: Any, given: ScaledSet, x: Any, u: Any, most: int, report: Any) -> None:
    """Move every row of x to a point with f = 0 and f'^T u = 0, |u| = 1, in the least-squares sense.

    `evaluate` gives f, its rows and its second derivatives. `u` gets the null vector; `report` the last step and the
    residual of the whole system.
    """
    n, m, r, scale, mix = given.sizes[0], given.sizes[1], given.mix.shape[0], given.scale, given.mix
    unknowns, equations = n + r, n + r + 1
    slate = Slate(np.empty(n), np.empty(m * (1 + n + n * n)), np.empty((r, n + 1 + r)), np.empty(unknowns), np.empty(0))
    F, out, step = slate.W, slate.out, slate.step
    W, N = np.empty((equations, unknowns + 1)), np.empty((unknowns, unknowns))
    for s in range(x.shape[0]):
        length, residual = math.inf, math.inf
        for turn in range(most + 1):
            if not load(evaluate, given, slate, x[s]):
                length = math.inf
                break
            if turn == 0:
                _weakest(F, r, n, u[s])
                load(evaluate, given, slate, x[s])
            residual = _singular_rows(F, out, u[s], n, m, r, scale, mix, W)
            if turn == most:
                break
            # Levenberg and Marquardt's step with the square of the residual as damping: quadratic at simple roots.
            if not damped_step(W, equations, unknowns, 0.1 * min(residual * residual, 1.0) + 1e-15, N, step):
                length = math.inf
                break
            length, size = 0.0, 1.0
            for j in range(n):
                length = max(length, abs(step[j]))
                size = max(size, abs(x[s, j]))
            widest = length
            for j in range(n, unknowns):
                widest = max(widest, abs(step[j]))
            factor = 1.0 if widest <= LONGEST else LONGEST / widest
            for j in range(n):
                x[s, j] += factor * step[j]
            for i in range(r):
                u[s, i] += factor * step[n + i]
            if length <= 1e-12 * size or (turn == 25 and residual > 1e-2) or (turn == 40 and residual > 1e-5):
                residual = -1.0
                break
        if residual < 0.0 and load(evaluate, given, slate, x[s]):
            residual = _singular_rows(F, out, u[s], n, m, r, scale, mix, W)
        report[s, 0], report[s, 1] = length, residual


@njit(f"void({EVAL_TYPE}, float64, {MATRIX}, int64[::1], {VECTOR}, {VECTOR}, {MATRIX})")
def evaluate_many(evaluate: Any, t: float, q: Any, table: Any, params: Any, work: Any, out: Any) -> None:
    """Write what `evaluate` gives at every row of q to the rows of `out`."""
    for s in range(q.shape[0]):
        evaluate(t, q[s], q[s, :0], params, table, work, out[s])


@njit
def _weakest(F: Any, r: int, n: int, u: Any) -> None:
    """Write the unit combination of rows whose gradient is shortest."""
    for i in range(r):
        for k in range(r):
            F[i, n + 1 + k] = 1.0 if i == k else 0.0
    rotate_rows(F, r, n)
    best, least = 0, math.inf
    for i in range(r):
        size = 0.0
        for j in range(n):
            size += F[i, j] * F[i, j]
        if size < least:
            best, least = i, size
    for k in range(r):
        u[k] = F[best, n + 1 + k]


@njit
def _singular_rows(F: Any, out: Any, u: Any, n: int, m: int, r: int, scale: Any, mix: Any, W: Any) -> float:
    """Write gradients and values of f, f'^T u and (|u|^2 - 1)/2 by (x, u); return the largest value."""
    W[:] = 0.0
    last = n + r
    for i in range(r):
        for j in range(n):
            W[i, j] = F[i, j]
        W[i, last] = F[i, n]
    start = m * (1 + n)
    for j in range(n):
        value = 0.0
        for i in range(r):
            value += F[i, j] * u[i]
            W[r + j, n + i] = F[i, j]
        W[r + j, last] = value
    for k in range(m):
        weight = 0.0
        for i in range(r):
            weight += u[i] * mix[i, k]
        for j in range(n):
            for l in range(n):
                W[r + j, l] += weight * out[start + (k * n + j) * n + l] * scale[j] * scale[l]
    square = -1.0
    for i in range(r):
        W[n + r, n + i] = u[i]
        square += u[i] * u[i]
    W[n + r, last] = square / 2.0
    worst = 0.0
    for i in range(n + r + 1):
        worst = max(worst, abs(W[i, last]))
    return worst
