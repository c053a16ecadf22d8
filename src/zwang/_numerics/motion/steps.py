"""One step of the method: the stages, the error, the coefficients of the dense output. For arguments see `calls`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import BLOCK, Y1, D, K, Y, Z, coordinates, motion, width
from zwang._numerics.motion.tableau import ALL_STAGES, DENSE, E3, E5, STAGES, A, B, C

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _rows(rows: tuple[dict[int, float], ...]) -> Floats:
    """Return the weights of each row, one after the other."""
    matrix = np.zeros((len(rows), ALL_STAGES))
    for i, row in enumerate(rows):
        for s, weight in row.items():
            matrix[i, s] = weight
    return matrix.ravel()


STAGE = _rows(A)
PLACE = np.array(C)
RESULT = _rows((B, E5, E3))
OUTPUT = _rows(DENSE)


@njit(_nrt=False, fastmath={"contract"}, forceinline=True)
def blend(code: Any, room: Floats, weights: Floats, row: int, count: int, base: float, h: float, target: int) -> None:
    """Set a row of `room` to base times Y plus h times a weighted sum of the first stages.

    Eight sums at a time stay in registers; written out, since a tuple of them would be taken apart by branches.
    """
    m = width(code)
    for i in range(0, m, BLOCK):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        at = K * m + i
        for s in range(count):
            w = weights[ALL_STAGES * row + s]
            a0 += w * room[at]
            a1 += w * room[at + 1]
            a2 += w * room[at + 2]
            a3 += w * room[at + 3]
            a4 += w * room[at + 4]
            a5 += w * room[at + 5]
            a6 += w * room[at + 6]
            a7 += w * room[at + 7]
            at += m
        to, y = target * m + i, Y * m + i
        room[to] = base * room[y] + h * a0
        room[to + 1] = base * room[y + 1] + h * a1
        room[to + 2] = base * room[y + 2] + h * a2
        room[to + 3] = base * room[y + 3] + h * a3
        room[to + 4] = base * room[y + 4] + h * a4
        room[to + 5] = base * room[y + 5] + h * a5
        room[to + 6] = base * room[y + 6] + h * a6
        room[to + 7] = base * room[y + 7] + h * a7


@njit(_nrt=False, fastmath={"contract"}, forceinline=True)
def stage(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
          t: float, h: float, s: int) -> int:  # fmt: skip
    """Evaluate stage s of a step from t with length h."""
    n, m = coordinates(code), width(code)
    blend(code, room, STAGE, s, s, 1.0, h, Z)
    status = motion(code, table, work, params, t + PLACE[s] * h, q, v, out)
    at = (K + s) * m
    for i in range(n):
        room[at + i] = room[Z * m + n + i]
        room[at + n + i] = out[i]
    return status


@njit(_nrt=False, fastmath={"contract"})
def trial(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
          t: float, h: float, tol: float) -> float:  # fmt: skip
    """Make a step from Y, whose derivative is stage 0, to Y1, and return its error relative to the tolerance.

    -1 where a stage was irregular, -2 where the result is not finite.
    """
    m = width(code)
    for s in range(1, STAGES):
        if stage(code, table, work, params, room, q, v, out, t, h, s) != 0:
            return -1.0
    blend(code, room, RESULT, 0, STAGES, 1.0, h, Y1)
    blend(code, room, RESULT, 1, STAGES, 0.0, h, Z)
    blend(code, room, RESULT, 2, STAGES, 0.0, h, D)  # the dense output comes later
    sum5, sum3 = 0.0, 0.0
    for i in range(2 * coordinates(code)):
        scale = 1.0 / (tol + tol * max(abs(room[Y * m + i]), abs(room[Y1 * m + i])))
        sum5 += (room[Z * m + i] * scale) ** 2
        sum3 += (room[D * m + i] * scale) ** 2
    size = sum5 + 0.01 * sum3
    if not size < np.inf:
        return -2.0
    return 0.0 if size == 0.0 else sum5 / np.sqrt(size * 2 * coordinates(code))


@njit(_nrt=False, fastmath={"contract"})
def extend(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
           t: float, h: float) -> int:  # fmt: skip
    """Make the coefficients of the dense output when stage 12 is the derivative at Y1; return 0, or 1: irregular."""
    m = width(code)
    for s in range(STAGES + 1, ALL_STAGES):
        if stage(code, table, work, params, room, q, v, out, t, h, s) != 0:
            return 1
    for i in range(2 * coordinates(code)):
        change = room[Y1 * m + i] - room[Y * m + i]
        begin, end = h * room[K * m + i], h * room[(K + STAGES) * m + i]
        room[D * m + i] = change
        room[(D + 1) * m + i] = begin - change
        room[(D + 2) * m + i] = 2.0 * change - begin - end
    for d in range(4):
        blend(code, room, OUTPUT, d, ALL_STAGES, 0.0, h, D + 3 + d)
    return 0
