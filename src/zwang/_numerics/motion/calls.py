"""How the loop calls a model whose functions are given by their addresses.

`code` is a tuple of integers: the addresses of the functions for accelerations, shift of the positions, landing of the
velocities and watched quantities, and the number of coordinates. All share one table and one workspace. A module that
is generated for one model has its own versions of what stands here, which call that model's code directly; everything
else is the same source.

The arguments that nearly every function takes, in this order: code, table, work, params; room, an array that holds the
state at the start (Y) and at the end (Y1) of the step, room for a state (Z), the stages (K) and the dense output (D),
each a multiple of `width(code)` from its start; q and v, the parts of the state in Z, as arrays; out, where the model
writes. These functions don't count references to arrays (`_nrt=False`), which would take longer than a small model:
they make no arrays, and their callers keep the arrays alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 8

# Places in `room`, in rows; a state takes one row, positions first, then velocities, then zeros up to its end.
Y, Y1, Z, K, D = 0, 1, 2, 3, 19
ROOM = 26


@njit(_nrt=False)
def coordinates(code: Any) -> int:
    """Return the number of coordinates."""
    return code[4]  # type: ignore[no-any-return]


@njit(_nrt=False)
def width(code: Any) -> int:
    """Return the length of a row."""
    return (2 * coordinates(code) + BLOCK - 1) // BLOCK * BLOCK


@njit(_nrt=False)
def motion(code: Any, table: Ints, work: Floats, params: Floats, t: float, q: Floats, v: Floats, out: Floats) -> int:
    """Write the accelerations."""
    return call_kernel(code[0], t, q, v, params, table, work, out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def shift(code: Any, table: Ints, work: Floats, params: Floats, t: float, q: Floats, v: Floats, out: Floats) -> int:
    """Write the change of the positions, then the values of the held constraints on positions."""
    return call_kernel(code[1], t, q, v, params, table, work, out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def land(code: Any, table: Ints, work: Floats, params: Floats, t: float, q: Floats, v: Floats, out: Floats) -> int:
    """Write the velocities that satisfy what is held, the accelerations with them, then the rates found."""
    return call_kernel(code[2], t, q, v, params, table, work, out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def watch(code: Any, table: Ints, work: Floats, params: Floats, t: float, q: Floats, v: Floats, out: Floats) -> int:
    """Write the watched quantities."""
    return call_kernel(code[3], t, q, v, params, table, work, out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def take(code: Any, room: Floats, row: int) -> None:
    """Copy a state to Z, where q and v are parts of it."""
    m = width(code)
    for i in range(2 * coordinates(code)):
        room[Z * m + i] = room[row * m + i]
