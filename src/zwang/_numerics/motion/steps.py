"""One step of the method: stages, error, coefficients of the dense output, and the way back to the constraints.

After a step positions return first, then velocities, both by the shortest way in the mass metric. For arguments see
`calls`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import BLOCK, Y1, D, K, ModelCode, S, Y, Z, land, motion, shift, take, width
from zwang._numerics.motion.run_layout import DRIFT, DRIFT_RATE, POSITIONS, ROWS
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
CLOSE = 1e-9
"""A correction this small leaves an error of the order of its square."""
LEAST = 1e-6
"""Of the sizes, that corrections are compared with: where all positions are zero it would be rounding."""
ROUNDS = 6  # of projection onto the constraints; two are usual


@njit(_nrt=False, fastmath={"contract"}, forceinline=True)
def blend(
    model: ModelCode, room: Floats, weights: Floats, row: int, count: int, base: float, h: float, target: int
) -> None:
    """Set a row of `room` to base times Y plus h times a weighted sum of the first stages.

    Eight sums at a time stay in registers; written out, since a tuple of them would be taken apart by branches.
    """
    m = width(model)
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
def stage(model: ModelCode, room: Floats, t: float, h: float, s: int) -> int:
    """Evaluate stage s of a step from t with length h."""
    n, m, out = model.n, width(model), model.out
    blend(model, room, STAGE, s, s, 1.0, h, Z)
    status = motion(model, t + PLACE[s] * h)
    at = (K + s) * m
    for i in range(n):
        room[at + i] = room[Z * m + n + i]
        room[at + n + i] = out[i]
    return status


@njit(_nrt=False, fastmath={"contract"})
def trial(model: ModelCode, room: Floats, t: float, h: float, tol: float) -> float:
    """Make a step from Y, whose derivative is stage 0, to Y1, and return its error relative to the tolerance.

    -1 where a stage was irregular, -2 where the result is not finite.
    """
    m = width(model)
    for s in range(1, STAGES):
        if stage(model, room, t, h, s) != 0:
            return -1.0
    blend(model, room, RESULT, 0, STAGES, 1.0, h, Y1)
    blend(model, room, RESULT, 1, STAGES, 0.0, h, Z)
    blend(model, room, RESULT, 2, STAGES, 0.0, h, D)  # the dense output comes later
    sum5, sum3 = 0.0, 0.0
    for i in range(2 * model.n):
        scale = 1.0 / (tol * room[S * m + i] + tol * max(abs(room[Y * m + i]), abs(room[Y1 * m + i])))
        sum5 += (room[Z * m + i] * scale) ** 2
        sum3 += (room[D * m + i] * scale) ** 2
    size = sum5 + 0.01 * sum3
    if not size < np.inf:
        return -2.0
    return 0.0 if size == 0.0 else sum5 / np.sqrt(size * 2 * model.n)


@njit(_nrt=False, fastmath={"contract"})
def extend(model: ModelCode, room: Floats, t: float, h: float) -> int:
    """Make the coefficients of the dense output when stage 12 is the derivative at Y1; return 0, or 1: irregular."""
    m = width(model)
    for s in range(STAGES + 1, ALL_STAGES):
        if stage(model, room, t, h, s) != 0:
            return 1
    for i in range(2 * model.n):
        change = room[Y1 * m + i] - room[Y * m + i]
        begin, end = h * room[K * m + i], h * room[(K + STAGES) * m + i]
        room[D * m + i] = change
        room[(D + 1) * m + i] = begin - change
        room[(D + 2) * m + i] = 2.0 * change - begin - end
    for d in range(4):
        blend(model, room, OUTPUT, d, ALL_STAGES, 0.0, h, D + 3 + d)
    return 0


@njit(_nrt=False)
def shifted(model: ModelCode, t: float, counts: Ints, reals: Floats) -> int:
    """Move the positions q back; return 0, 1 (no way back) or 2 (not finite)."""
    n, q, out = model.n, model.q, model.out
    for attempt in range(ROUNDS):
        if shift(model, t) != 0:
            return 1
        change, size, off = 0.0, 0.0, 0.0
        for i in range(n):
            q[i] += out[i]
            change, size = max(change, abs(out[i])), max(size, abs(q[i]))
        for j in range(counts[POSITIONS]):
            off = max(off, abs(out[n + j]))
        if not off < np.inf:
            return 2
        if attempt == 0:
            reals[DRIFT] = max(reals[DRIFT], off)
        if change <= CLOSE * max(size, LEAST) or off == 0.0:
            return 0
    return 1


@njit(_nrt=False)
def settle(model: ModelCode, room: Floats, t: float, counts: Ints, reals: Floats) -> int:
    """Project the state in Y1 and set stage 12 to its derivative.

    Returns 0, 1 (irregular, or no way back) or 2 (not finite). The largest violation found before projecting is noted,
    of positions and of velocities.
    """
    n, m, q, v, out = model.n, width(model), model.q, model.v, model.out
    take(model, room, Y1)
    total, slope = 0.0, (K + 12) * m
    if counts[ROWS] == 0:  # nothing is held
        if motion(model, t) != 0:
            return 1
        for i in range(n):
            room[slope + i], room[slope + n + i] = v[i], out[i]
            total += abs(q[i]) + abs(v[i]) + abs(out[i])
        return 0 if total < np.inf else 2
    if counts[POSITIONS] > 0:
        status = shifted(model, t, counts, reals)
        if status != 0:
            return status
    if land(model, t) != 0:
        return 1
    for i in range(n):
        room[Y1 * m + i], room[Y1 * m + n + i] = q[i], out[i]
        room[slope + i], room[slope + n + i] = out[i], out[n + i]
        total += abs(out[i]) + abs(out[n + i]) + abs(q[i])
    for j in range(counts[ROWS]):
        reals[DRIFT_RATE] = max(reals[DRIFT_RATE], abs(out[2 * n + j]))
    return 0 if total < np.inf else 2
