"""How the loop calls a model whose functions are given by their addresses.

`model` is a tuple of four triples (address, table, workspace): accelerations, shift of the positions, landing of the
velocities, watched quantities; and of the number of coordinates. A module that is generated for one model has its own
versions of these, which call that model's code directly; everything else is the same source.

States are rows of `width(model)` numbers: positions, velocities, then zeros up to a multiple of `BLOCK`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.pointers import call_kernel

Floats = NDArray[np.float64]
BLOCK = 8


@njit
def coordinates(model: Any) -> int:
    """Return the number of coordinates."""
    return model[4]  # type: ignore[no-any-return]


@njit
def width(model: Any) -> int:
    """Return the length of the rows that hold a state."""
    return (2 * coordinates(model) + BLOCK - 1) // BLOCK * BLOCK


@njit
def motion(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the accelerations."""
    place, table, work = model[0]
    n = coordinates(model)
    return call_kernel(place, t, y[:n], y[n : 2 * n], params, table, work, out)  # type: ignore[no-any-return]


@njit
def shift(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the change of the positions, then the values of the held constraints on positions."""
    place, table, work = model[1]
    n = coordinates(model)
    return call_kernel(place, t, y[:n], y[n : 2 * n], params, table, work, out)  # type: ignore[no-any-return]


@njit
def land(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the velocities that satisfy what is held, the accelerations with them, then the rates found."""
    place, table, work = model[2]
    n = coordinates(model)
    return call_kernel(place, t, y[:n], y[n : 2 * n], params, table, work, out)  # type: ignore[no-any-return]


@njit
def watch(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the watched quantities."""
    place, table, work = model[3]
    n = coordinates(model)
    return call_kernel(place, t, y[:n], y[n : 2 * n], params, table, work, out)  # type: ignore[no-any-return]
