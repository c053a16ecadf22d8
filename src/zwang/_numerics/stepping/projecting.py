"""Back to the constraints after a step: positions first, then velocities, both by the shortest way in the mass metric.

`shift` writes the change of the positions, then the values of the held constraints on positions; `land` writes the
velocities that satisfy every held row, the accelerations with them, then the rates that were found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
CLOSE = 1e-9  # a correction this small leaves an error of the order of its square
ROUNDS = 6


@njit
def settle(
    shift: object,
    shift_table: object,
    shift_work: object,
    land: object,
    land_table: object,
    land_work: object,
    positions: int,
    rows: int,
    t: float,
    y: Floats,
    slope: Floats,
    out: Floats,
    params: Floats,
    drift: Floats,
) -> int:
    """Project the state y, set `slope` to its derivative; return 0, 1 (irregular, no way back) or 2 (not finite).

    `drift` keeps the largest violation found before projecting, of positions and of velocities.
    """
    n = y.size // 2
    if positions > 0:
        done = False
        for round in range(ROUNDS):
            status = shift(t, y[:n], y[n:], params, shift_table, shift_work, out)  # type: ignore[operator]
            if status != 0:
                return 1
            change, size, off = 0.0, 0.0, 0.0
            for i in range(n):
                y[i] += out[i]
                change, size = max(change, abs(out[i])), max(size, abs(y[i]))
            for j in range(positions):
                off = max(off, abs(out[n + j]))
            if not off < np.inf:
                return 2
            if round == 0:
                drift[0] = max(drift[0], off)
            if change <= CLOSE * size or off == 0.0:
                done = True
                break
        if not done:
            return 1
    status = land(t, y[:n], y[n:], params, land_table, land_work, out)  # type: ignore[operator]
    if status != 0:
        return 1
    total = 0.0
    for i in range(n):
        if rows > 0:
            y[n + i] = out[i]
        slope[i] = y[n + i]
        slope[n + i] = out[n + i]
        total += abs(out[i]) + abs(out[n + i]) + abs(y[i])
    for j in range(rows):
        drift[1] = max(drift[1], abs(out[2 * n + j]))
    return 0 if total < np.inf else 2
