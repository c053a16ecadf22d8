"""One step of the method: the stages, the error, and the coefficients of the dense output.

A state y holds the positions, then the velocities; row s of k is the derivative at stage s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import BLOCK, coordinates, motion, width
from zwang._numerics.stepping.tableau import ALL_STAGES, DENSE, E3, E5, STAGES, A, B, C

Floats = NDArray[np.float64]


def _matrix(rows: tuple[dict[int, float], ...]) -> Floats:
    matrix = np.zeros((len(rows), ALL_STAGES))
    for i, row in enumerate(rows):
        for s, weight in row.items():
            matrix[i, s] = weight
    return matrix


STAGE = _matrix(A)
PLACE = np.array(C)
RESULT = _matrix((B, E5, E3))
OUTPUT = _matrix(DENSE)


@njit(fastmath={"contract"})
def block(weights: Floats, k: Floats, count: int, i: int) -> Any:
    """Return eight entries, from i on, of the weighted sum of the first rows of k: sums that stay in registers."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for s in range(count):
        w, row = weights[s], k[s]
        a0 += w * row[i]
        a1 += w * row[i + 1]
        a2 += w * row[i + 2]
        a3 += w * row[i + 3]
        a4 += w * row[i + 4]
        a5 += w * row[i + 5]
        a6 += w * row[i + 6]
        a7 += w * row[i + 7]
    return a0, a1, a2, a3, a4, a5, a6, a7


@njit(fastmath={"contract"})
def combine(model: Any, y: Floats, h: float, weights: Floats, k: Floats, count: int, z: Floats) -> None:
    """Set z to y + h times the weighted sum of the first rows of k."""
    for i in range(0, width(model), BLOCK):
        a = block(weights, k, count, i)
        for j in range(BLOCK):
            z[i + j] = y[i + j] + h * a[j]


@njit(fastmath={"contract"})
def stage(model: Any, t: float, h: float, y: Floats, k: Floats, s: int, z: Floats, params: Floats) -> int:
    """Evaluate stage s."""
    n = coordinates(model)
    combine(model, y, h, STAGE[s], k, s, z)
    status = motion(model, t + PLACE[s] * h, z, params, k[s, n : 2 * n])
    for i in range(n):
        k[s, i] = z[n + i]
    return status


@njit(fastmath={"contract"})
def trial(model: Any, t: float, h: float, y: Floats, k: Floats, y1: Floats, tol: float, params: Floats) -> float:
    """Make a step from y, whose derivative is k[0], to y1, and return its error relative to the tolerance.

    -1 where a stage was irregular, -2 where the result is not finite.
    """
    for s in range(1, STAGES):
        if stage(model, t, h, y, k, s, y1, params) != 0:
            return -1.0
    sum5, sum3 = 0.0, 0.0
    for i in range(0, width(model), BLOCK):
        a, e5, e3 = block(RESULT[0], k, STAGES, i), block(RESULT[1], k, STAGES, i), block(RESULT[2], k, STAGES, i)
        for j in range(BLOCK):
            y1[i + j] = y[i + j] + h * a[j]
            scale = h / (tol + tol * max(abs(y[i + j]), abs(y1[i + j])))
            sum5 += (e5[j] * scale) ** 2
            sum3 += (e3[j] * scale) ** 2
    size = sum5 + 0.01 * sum3
    if not size < np.inf:
        return -2.0
    return 0.0 if size == 0.0 else sum5 / np.sqrt(size * 2 * coordinates(model))


@njit(fastmath={"contract"})
def extend(model: Any, t: float, h: float, y: Floats, k: Floats, y1: Floats, z: Floats, dense: Floats,
           params: Floats) -> int:  # fmt: skip
    """Make the coefficients of the dense output when k[12] is the derivative at y1; return 0, or 1 where irregular."""
    for s in range(STAGES + 1, ALL_STAGES):
        if stage(model, t, h, y, k, s, z, params) != 0:
            return 1
    for i in range(2 * coordinates(model)):
        change = y1[i] - y[i]
        dense[0, i] = change
        dense[1, i] = h * k[0, i] - change
        dense[2, i] = 2.0 * change - h * (k[0, i] + k[STAGES, i])
    for d in range(4):
        for i in range(0, width(model), BLOCK):
            a = block(OUTPUT[d], k, ALL_STAGES, i)
            for j in range(BLOCK):
                dense[3 + d, i + j] = h * a[j]
    return 0
