"""Dense output: a polynomial of degree 7 inside each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import D, ModelCode, Y, Z, width

Floats = NDArray[np.float64]


@njit(_nrt=False, fastmath={"contract"}, forceinline=True)
def interpolate(model: ModelCode, room: Floats, x: float) -> None:
    """Set Z to the state at the part x of the step."""
    m, u = width(model), 1.0 - x
    for i in range(2 * model.n):
        at = D * m + i
        inner = room[at + 4 * m] + u * (room[at + 5 * m] + x * room[at + 6 * m])
        inner = room[at + 2 * m] + u * (room[at + 3 * m] + x * inner)
        room[Z * m + i] = room[Y * m + i] + x * (room[at] + u * (room[at + m] + x * inner))


def interpolated(y: Floats, dense: Floats, x: Floats) -> Floats:
    """Return the states (k, 2n) at parts x (k,) of steps that start at y (k, 2n) with coefficients (k, 7, 2n)."""
    x = x[:, None]
    u = 1.0 - x
    c = [dense[:, j] for j in range(7)]
    inner = c[3] + x * (c[4] + u * (c[5] + x * c[6]))
    return np.asarray(y + x * (c[0] + u * (c[1] + x * (c[2] + u * inner))))


def basis(x: Floats) -> Floats:
    """Return the seven functions of the dense output at parts x (k,) of a step, (k, 7)."""
    u = 1.0 - x
    return np.stack([x, x * u, x**2 * u, (x * u) ** 2, x**3 * u**2, (x * u) ** 3, x**4 * u**3], axis=1)


def fitted(x: Floats, values: Floats) -> Floats:
    """Return the coefficients (7, 2n) of a step with these values (8, 2n) at its parts x (8,), the first of them 0."""
    return np.asarray(np.linalg.solve(basis(x[1:]), values[1:] - values[0]))
