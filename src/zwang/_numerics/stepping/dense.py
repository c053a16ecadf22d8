"""Dense output: a polynomial of degree 7 inside each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import coordinates

Floats = NDArray[np.float64]


@njit(fastmath={"contract"})
def interpolate(model: Any, y: Floats, dense: Floats, x: float, z: Floats) -> None:
    """Set z to the state at the part x of a step that starts at y."""
    u = 1.0 - x
    for i in range(2 * coordinates(model)):
        inner = dense[3, i] + x * (dense[4, i] + u * (dense[5, i] + x * dense[6, i]))
        z[i] = y[i] + x * (dense[0, i] + u * (dense[1, i] + x * (dense[2, i] + u * inner)))


def interpolated(y: Floats, dense: Floats, x: Floats) -> Floats:
    """Return the states (k, 2n) at parts x (k,) of steps that start at y (k, 2n) with coefficients (k, 7, 2n)."""
    x = x[:, None]
    u = 1.0 - x
    c = [dense[:, j] for j in range(7)]
    inner = c[3] + x * (c[4] + u * (c[5] + x * c[6]))
    return np.asarray(y + x * (c[0] + u * (c[1] + x * (c[2] + u * inner))))
