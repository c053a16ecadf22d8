"""How the loop calls a model whose functions are arguments.

`model` is a tuple of four triples (function, table, workspace): accelerations, shift of the positions, landing of the
velocities, watched quantities. A module that is generated for one model has its own versions of these, which call that
model's code directly; everything else is the same source.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]


@njit
def half(y: Floats) -> int:
    """Return the number of coordinates."""
    return y.size // 2


@njit
def motion(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the accelerations."""
    function, table, work = model[0]
    n = half(y)
    return function(t, y[:n], y[n:], params, table, work, out)  # type: ignore[no-any-return]


@njit
def shift(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the change of the positions, then the values of the held constraints on positions."""
    function, table, work = model[1]
    n = half(y)
    return function(t, y[:n], y[n:], params, table, work, out)  # type: ignore[no-any-return]


@njit
def land(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the velocities that satisfy what is held, the accelerations with them, then the rates found."""
    function, table, work = model[2]
    n = half(y)
    return function(t, y[:n], y[n:], params, table, work, out)  # type: ignore[no-any-return]


@njit
def watch(model: Any, t: float, y: Floats, params: Floats, out: Floats) -> int:
    """Write the watched quantities."""
    function, table, work = model[3]
    n = half(y)
    return function(t, y[:n], y[n:], params, table, work, out)  # type: ignore[no-any-return]
