"""Building blocks: equations at a point in scaled units, and least-squares steps by rotating rows.

A matrix W has a row for each equation: its gradient in the first `width` columns, then the value, and whatever else
goes along. Jacobi rotations make the gradients orthogonal; a rank is then the number of rows that are not short, and
the shortest step that solves the equations in the least-squares sense is a sum over the long rows. Dependent equations,
and more equations than unknowns, need nothing special.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import backward, cholesky, forward

SWEEPS = 40  # of Jacobi's rotations, which converge quadratically
TURNED = 1e-30
"""Rows are orthogonal where the square of their product is below this part of that of their lengths: rounding."""

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]


class ScaledSet(NamedTuple):
    """Equations f(q) = 0 as compiled code takes them.

    Attributes
    ----------
    t : float
    sizes : (3,) int array
        n, m and the number of one-sided constraints.
    scale : (n,) array
        Positions are x = q/scale.
    mix : (rows, m) array
        The equations are mix @ f.
    params, work, table : arrays
        As the model's kernel takes them.
    """

    t: float
    sizes: Ints
    scale: Floats
    mix: Matrix
    params: Floats
    work: Floats
    table: Ints


class Slate(NamedTuple):
    """Room for the equations at one point: q, what the model writes, rows with their values, a step, sizes of rows."""

    q: Any
    out: Any
    W: Any
    step: Any
    values: Any


@njit(_nrt=False)
def rotate_rows(W: Any, rows: int, width: int) -> None:
    """Make the first `width` columns of the rows orthogonal to each other; the other columns go along."""
    columns = W.shape[1]
    for _ in range(SWEEPS):
        done = True
        for p in range(rows - 1):
            for q in range(p + 1, rows):
                a, b, c = 0.0, 0.0, 0.0
                for j in range(width):
                    a += W[p, j] * W[p, j]
                    b += W[q, j] * W[q, j]
                    c += W[p, j] * W[q, j]
                if c * c <= TURNED * a * b or c == 0.0:
                    continue
                done = False
                z = (b - a) / (2.0 * c)
                t = (1.0 if z >= 0.0 else -1.0) / (abs(z) + math.sqrt(1.0 + z * z))
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = cosine * t
                for j in range(columns):
                    first, second = W[p, j], W[q, j]
                    W[p, j] = cosine * first - sine * second
                    W[q, j] = sine * first + cosine * second
        if done:
            return


@njit(_nrt=False)
def shortest_step(W: Any, rows: int, width: int, cut: float, step: Any) -> int:
    """Write the least-squares step of rotated rows with values in column `width`; return the rank."""
    for j in range(width):
        step[j] = 0.0
    top = 0.0
    for p in range(rows):
        size = 0.0
        for j in range(width):
            size += W[p, j] * W[p, j]
        top = max(top, size)
    rank = 0
    for p in range(rows):
        size = 0.0
        for j in range(width):
            size += W[p, j] * W[p, j]
        if size > cut * cut * top and size > 1e-300:
            rank += 1
            factor = -W[p, width] / size
            for j in range(width):
                step[j] += factor * W[p, j]
    return rank


@njit(_nrt=False)
def damped_step(W: Any, rows: int, width: int, damping: float, N: Any, step: Any) -> bool:
    """Write -(A^T A + damping)^-1 A^T b for rows (A, b) of W; return whether the factorization went through."""
    for i in range(width):
        step[i] = 0.0
        for p in range(rows):
            step[i] -= W[p, i] * W[p, width]
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for p in range(rows):
                total += W[p, i] * W[p, j]
            N[i, j] = total
    if not cholesky(N, N, width, 0.0) > 0.0:
        return False
    forward(N, step, width)
    backward(N, step, width)
    return True


@njit(_nrt=False)
def row_sizes(W: Any, rows: int, width: int, sizes: Any) -> None:
    """Write the lengths of rotated rows, the longest first: the singular values."""
    for p in range(rows):
        size = 0.0
        for j in range(width):
            size += W[p, j] * W[p, j]
        sizes[p] = math.sqrt(size)
    for p in range(1, rows):
        value = sizes[p]
        k = p - 1
        while k >= 0 and sizes[k] < value:
            sizes[k + 1] = sizes[k]
            k -= 1
        sizes[k + 1] = value


@njit(_nrt=False)
def load(evaluate: Any, given: ScaledSet, slate: Slate, x: Any) -> bool:
    """Write gradients and values of the equations mix @ f, in units x = q/scale, to the first rows of W.

    The values go to column n. Return whether all is finite.
    """
    scale, mix, q, out, W = given.scale, given.mix, slate.q, slate.out, slate.W
    n, m, g = given.sizes[0], given.sizes[1], given.sizes[2]
    for j in range(n):
        q[j] = x[j] * scale[j]
    evaluate(given.t, q, q[:0], given.params, given.table, given.work, out)
    rows = mix.shape[0]
    start = m + g
    fine = True
    for i in range(rows):
        total = 0.0
        for k in range(m):
            total += mix[i, k] * out[k]
        W[i, n] = total
        fine = fine and math.isfinite(total)
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += mix[i, k] * out[start + k * n + j]
            W[i, j] = total * scale[j]
            fine = fine and math.isfinite(total)
    return fine
