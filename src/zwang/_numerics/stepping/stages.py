"""One step of the method for any model: the stages, the error, and the coefficients of the dense output.

A state y holds the positions, then the velocities; row s of k is the derivative at stage s. `rhs` has the ABI of every
model's kernel and writes accelerations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.tableau import A, ALL_STAGES, B, C, DENSE, E3, E5, STAGES

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
def combine(y: Floats, h: float, weights: Floats, k: Floats, count: int, z: Floats) -> None:
    """Set z to y + h times the weighted sum of the first rows of k."""
    for i in range(y.size):
        z[i] = 0.0
    for s in range(count):
        weight = weights[s]
        if weight != 0.0:
            for i in range(y.size):
                z[i] += weight * k[s, i]
    for i in range(y.size):
        z[i] = y[i] + h * z[i]


@njit(fastmath={"contract"})
def stage(rhs: object, t: float, h: float, y: Floats, k: Floats, s: int, z: Floats, params: Floats, table: object,
          work: Floats) -> int:  # fmt: skip
    """Evaluate stage s."""
    n = y.size // 2
    combine(y, h, STAGE[s], k, s, z)
    status = rhs(t + PLACE[s] * h, z[:n], z[n:], params, table, work, k[s, n:])  # type: ignore[operator]
    for i in range(n):
        k[s, i] = z[n + i]
    return status  # type: ignore[no-any-return]


@njit(fastmath={"contract"})
def trial(rhs: object, t: float, h: float, y: Floats, k: Floats, y1: Floats, z: Floats, tol: float, params: Floats,
          table: object, work: Floats) -> float:  # fmt: skip
    """Make a step from y, whose derivative is k[0], to y1, and return its error relative to the tolerance.

    -1 where a stage was irregular, -2 where the result is not finite; z is room for a state.
    """
    for s in range(1, STAGES):
        if stage(rhs, t, h, y, k, s, y1, params, table, work) != 0:
            return -1.0
    combine(y, h, RESULT[0], k, STAGES, y1)
    sum5, sum3 = 0.0, 0.0
    for row in range(1, 3):
        for i in range(y.size):
            z[i] = 0.0
        for s in range(STAGES):
            for i in range(y.size):
                z[i] += RESULT[row, s] * k[s, i]
        total = 0.0
        for i in range(y.size):
            error = z[i] / (tol + tol * max(abs(y[i]), abs(y1[i])))
            total += error * error
        if row == 1:
            sum5 = total
        else:
            sum3 = total
    size = sum5 + 0.01 * sum3
    if not size < np.inf:
        return -2.0
    return 0.0 if size == 0.0 else abs(h) * sum5 / np.sqrt(size * y.size)


@njit(fastmath={"contract"})
def extend(rhs: object, t: float, h: float, y: Floats, k: Floats, y1: Floats, z: Floats, dense: Floats, params: Floats,
           table: object, work: Floats) -> int:  # fmt: skip
    """Make the coefficients of the dense output when k[12] is the derivative at y1; return 0, or 1 where irregular."""
    for s in range(STAGES + 1, ALL_STAGES):
        if stage(rhs, t, h, y, k, s, z, params, table, work) != 0:
            return 1
    for i in range(y.size):
        change = y1[i] - y[i]
        dense[0, i] = change
        dense[1, i] = h * k[0, i] - change
        dense[2, i] = 2.0 * change - h * (k[0, i] + k[STAGES, i])
    for j in range(3, 7):
        for i in range(y.size):
            dense[j, i] = 0.0
        for s in range(ALL_STAGES):
            weight = h * OUTPUT[j - 3, s]
            if weight != 0.0:
                for i in range(y.size):
                    dense[j, i] += weight * k[s, i]
    return 0
