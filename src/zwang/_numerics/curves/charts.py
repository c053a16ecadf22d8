"""Arcs as rows of charts: on each, the curve is a polynomial over a piece of its tangent, exact to rounding.

A chart starts at a point x0 with unit tangent t0. At the Chebyshev points 0 = u_0 < ... < u_d = h the point of the
curve with t0 . (x - x0) = u is found by Newton's method. If the last Chebyshev coefficients are rounding the chart is
kept, and its end is the start of the next; else h is cut. So the step follows the curvature, and a jump to another
branch is seen because no polynomial goes through it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.curves.rows import ScaledSet, Slate, load, rotate_rows, row_sizes, shortest_step
from zwang._numerics.jit import njit

DEGREE = 20  # of a chart's polynomials; their last coefficients tell whether a piece is short enough
ARRIVED, CLOSED, LEFT, TOUCHED, STUCK, FULL = 1, 2, 3, 4, 5, 6
SMALLEST = 1e-7  # shortest step, in scaled coordinates: below it a singular point is near
VECTOR, MATRIX, CUBE = "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"

NODES = (1.0 - np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)) / 2.0


def _transform() -> Any:
    """Return the matrix from values at the nodes to Chebyshev coefficients."""
    k = np.arange(DEGREE + 1)
    # The nodes ascend: u = -cos(pi j/d), so T_k there is cos(k (pi - pi j/d)).
    matrix = np.cos(np.outer(k, np.pi - np.pi * k / DEGREE)) * 2.0 / DEGREE
    matrix[:, [0, -1]] /= 2.0
    matrix[[0, -1]] /= 2.0
    return matrix


TRANSFORM = _transform()


@njit(_nrt=False)
def on_plane(evaluate: Any, given: ScaledSet, slate: Slate, x: Any, x0: Any, t0: Any, u: float, rank: int) -> bool:
    """Move x to the point of the curve with t0 . (x - x0) = u; return whether it was reached."""
    n, rows, W, step = given.sizes[0], given.mix.shape[0], slate.W, slate.step
    before = math.inf
    for turn in range(12):
        if not load(evaluate, given, slate, x):
            return False
        along = -u
        for j in range(n):
            W[rows, j] = t0[j]
            along += t0[j] * (x[j] - x0[j])
        W[rows, n] = along
        rotate_rows(W, rows + 1, n)
        if shortest_step(W, rows + 1, n, 1e-9, step) < rank + 1:
            return False
        length, size = 0.0, 1.0
        for j in range(n):
            x[j] += step[j]
            length = max(length, abs(step[j]))
            size = max(size, abs(x[j]))
        if length <= 4e-16 * size or (turn >= 2 and length <= 1e-12 * size and length >= 0.3 * before):
            return True
        if length > 2.0:
            return False
        before = length
    return length <= 1e-13 * size


@njit(_nrt=False)
def tangent_at(evaluate: Any, given: ScaledSet, slate: Slate, x: Any, forward: Any, rank: int, found: Any) -> float:
    """Write the unit tangent nearest to `forward`; return the least singular value that counts for the rank."""
    n, rows, W, values = given.sizes[0], given.mix.shape[0], slate.W, slate.values
    load(evaluate, given, slate, x)
    rotate_rows(W, rows, n)
    row_sizes(W, rows, n, values)
    weakest = values[rank - 1] if rank > 0 else 1.0
    for j in range(n):
        found[j] = forward[j]
    for p in range(rows):
        size, dot = 0.0, 0.0
        for j in range(n):
            size += W[p, j] * W[p, j]
            dot += W[p, j] * forward[j]
        if size >= 0.25 * weakest * weakest and size > 1e-300:
            for j in range(n):
                found[j] -= dot / size * W[p, j]
    length = 0.0
    for j in range(n):
        length += found[j] * found[j]
    length = math.sqrt(length)
    for j in range(n):
        found[j] /= max(length, 1e-300)
    return weakest


@njit
def tail(nodes: Any, n: int) -> float:
    """Return the size of the last three Chebyshev coefficients."""
    worst = 0.0
    for k in range(DEGREE - 2, DEGREE + 1):
        for j in range(n):
            total = 0.0
            for i in range(DEGREE + 1):
                total += TRANSFORM[k, i] * nodes[i, j]
            worst = max(worst, abs(total))
    return worst
