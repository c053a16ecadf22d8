"""One step of the method: the stages, the error, and the coefficients of the dense output.

A state y holds the positions, then the velocities; row s of k is the derivative at stage s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import half, motion
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
def combine(h: float, weights: Floats, k: Floats, count: int, z: Floats) -> None:
    """Add to z h times the weighted sum of the first rows of k."""
    m = 2 * half(z)
    for s in range(count):
        weight = h * weights[s]
        if weight != 0.0:
            for i in range(m):
                z[i] += weight * k[s, i]


@njit(fastmath={"contract"})
def stage(model: Any, t: float, h: float, y: Floats, k: Floats, s: int, z: Floats, params: Floats) -> int:
    """Evaluate stage s."""
    n = half(y)
    for i in range(2 * n):
        z[i] = y[i]
    combine(h, STAGE[s], k, s, z)
    status = motion(model, t + PLACE[s] * h, z, params, k[s, n:])
    for i in range(n):
        k[s, i] = z[n + i]
    return status


@njit(fastmath={"contract"})
def trial(model: Any, t: float, h: float, y: Floats, k: Floats, y1: Floats, z: Floats, tol: float,
          params: Floats) -> float:  # fmt: skip
    """Make a step from y, whose derivative is k[0], to y1, and return its error relative to the tolerance.

    -1 where a stage was irregular, -2 where the result is not finite; z is room for a state.
    """
    m = 2 * half(y)
    for s in range(1, STAGES):
        if stage(model, t, h, y, k, s, y1, params) != 0:
            return -1.0
    for i in range(m):
        y1[i] = y[i]
    combine(h, RESULT[0], k, STAGES, y1)
    sum5, sum3 = 0.0, 0.0
    for row in range(1, 3):
        for i in range(m):
            z[i] = 0.0
        combine(h, RESULT[row], k, STAGES, z)
        total = 0.0
        for i in range(m):
            error = z[i] / (tol + tol * max(abs(y[i]), abs(y1[i])))
            total += error * error
        sum5, sum3 = sum3, total
    size = sum5 + 0.01 * sum3
    if not size < np.inf:
        return -2.0
    return 0.0 if size == 0.0 else sum5 / np.sqrt(size * m)


@njit(fastmath={"contract"})
def extend(model: Any, t: float, h: float, y: Floats, k: Floats, y1: Floats, z: Floats, dense: Floats,
           params: Floats) -> int:  # fmt: skip
    """Make the coefficients of the dense output when k[12] is the derivative at y1; return 0, or 1 where irregular."""
    m = 2 * half(y)
    for s in range(STAGES + 1, ALL_STAGES):
        if stage(model, t, h, y, k, s, z, params) != 0:
            return 1
    for i in range(m):
        change = y1[i] - y[i]
        dense[0, i] = change
        dense[1, i] = h * k[0, i] - change
        dense[2, i] = 2.0 * change - h * (k[0, i] + k[STAGES, i])
    for j in range(3, 7):
        for i in range(m):
            dense[j, i] = 0.0
        combine(h, OUTPUT[j - 3], k, ALL_STAGES, dense[j])
    return 0
