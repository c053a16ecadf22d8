"""Back to the constraints after a step: positions, then velocities, both by the shortest way in the mass metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import coordinates, land, shift

Floats = NDArray[np.float64]
CLOSE = 1e-9  # a correction this small leaves an error of the order of its square
ROUNDS = 6


@njit
def shifted(model: Any, positions: int, t: float, y: Floats, out: Floats, params: Floats, drift: Floats) -> int:
    """Move the positions back; return 0, 1 (no way back) or 2 (not finite)."""
    n = coordinates(model)
    for attempt in range(ROUNDS):
        if shift(model, t, y, params, out) != 0:
            return 1
        change, size, off = 0.0, 0.0, 0.0
        for i in range(n):
            y[i] += out[i]
            change, size = max(change, abs(out[i])), max(size, abs(y[i]))
        for j in range(positions):
            off = max(off, abs(out[n + j]))
        if not off < np.inf:
            return 2
        if attempt == 0:
            drift[0] = max(drift[0], off)
        if change <= CLOSE * size or off == 0.0:
            return 0
    return 1


@njit
def settle(model: Any, positions: int, rows: int, t: float, y: Floats, slope: Floats, out: Floats, params: Floats,
           drift: Floats) -> int:  # fmt: skip
    """Project the state y, set `slope` to its derivative; return 0, 1 (irregular, no way back) or 2 (not finite).

    `drift` keeps the largest violation found before projecting, of positions and of velocities.
    """
    n = coordinates(model)
    if positions > 0:
        status = shifted(model, positions, t, y, out, params, drift)
        if status != 0:
            return status
    if land(model, t, y, params, out) != 0:
        return 1
    total = 0.0
    for i in range(n):
        y[n + i] = out[i]
        slope[i] = out[i]
        slope[n + i] = out[n + i]
        total += abs(out[i]) + abs(out[n + i]) + abs(y[i])
    for j in range(rows):
        drift[1] = max(drift[1], abs(out[2 * n + j]))
    return 0 if total < np.inf else 2
