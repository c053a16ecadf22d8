"""Back to the constraints after a step: positions, then velocities, both by the shortest way in the mass metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import Y1, K, coordinates, land, motion, shift, take, width
from zwang._numerics.motion.places import DRIFT, DRIFT_RATE, POSITIONS, ROWS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CLOSE = 1e-9  # a correction this small leaves an error of the order of its square
LEAST = 1e-6  # of the size that corrections are compared with: where all positions are zero it would be rounding
ROUNDS = 6


@njit(_nrt=False)
def shifted(code: Any, table: Ints, work: Floats, params: Floats, q: Floats, v: Floats, out: Floats, t: float,
            counts: Ints, reals: Floats) -> int:  # fmt: skip
    """Move the positions q back; return 0, 1 (no way back) or 2 (not finite)."""
    n = coordinates(code)
    for attempt in range(ROUNDS):
        if shift(code, table, work, params, t, q, v, out) != 0:
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
def settle(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
           t: float, counts: Ints, reals: Floats) -> int:  # fmt: skip
    """Project the state in Y1 and set stage 12 to its derivative.

    Returns 0, 1 (irregular, or no way back) or 2 (not finite). The largest violation found before projecting is noted,
    of positions and of velocities.
    """
    n, m = coordinates(code), width(code)
    take(code, room, Y1)
    total, slope = 0.0, (K + 12) * m
    if counts[ROWS] == 0:  # nothing is held
        if motion(code, table, work, params, t, q, v, out) != 0:
            return 1
        for i in range(n):
            room[slope + i], room[slope + n + i] = v[i], out[i]
            total += abs(q[i]) + abs(v[i]) + abs(out[i])
        return 0 if total < np.inf else 2
    if counts[POSITIONS] > 0:
        status = shifted(code, table, work, params, q, v, out, t, counts, reals)
        if status != 0:
            return status
    if land(code, table, work, params, t, q, v, out) != 0:
        return 1
    for i in range(n):
        room[Y1 * m + i], room[Y1 * m + n + i] = q[i], out[i]
        room[slope + i], room[slope + n + i] = out[i], out[n + i]
        total += abs(out[i]) + abs(out[n + i]) + abs(q[i])
    for j in range(counts[ROWS]):
        reals[DRIFT_RATE] = max(reals[DRIFT_RATE], abs(out[2 * n + j]))
    return 0 if total < np.inf else 2
