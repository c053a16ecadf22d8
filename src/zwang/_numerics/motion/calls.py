"""How the loop calls a model whose functions are given by their addresses.

The functions here and in `steps`, `events` and `loop` take a `ModelCode` and `room`, an array that holds the state at
the start (Y) and at the end (Y1) of the step, room for a state (Z), the sizes that errors are compared with (S), the
stages (K) and the dense output (D), each a multiple of `width(model)` from its start. They don't count references to
arrays (`_nrt=False`), which would take longer than a small model: they make no arrays, and their callers keep the
arrays alive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 8  # doubles of a cache line

# Places in `room`, in rows; a state takes one row, positions first, then velocities, then zeros up to its end.
Y, Y1, Z, S, K, D = 0, 1, 2, 3, 4, 20
ROOM = 27  # rows: sixteen stages from K on, seven coefficients from D on


class ModelCode(NamedTuple):
    """A model as the loop calls it.

    Attributes
    ----------
    motion, shift, land, watch : int
        Addresses of the functions for accelerations, shift of the positions, landing of the velocities and watched
        quantities. All share one table and one workspace.
    n : int
        Number of coordinates.
    table, work, params : arrays
    q, v : (n,) arrays
        The parts of the state in Z.
    out : array
        Where the model writes.
    """

    motion: int
    shift: int
    land: int
    watch: int
    n: int
    table: Ints
    work: Floats
    params: Floats
    q: Floats
    v: Floats
    out: Floats


@njit(_nrt=False)
def width(model: ModelCode) -> int:
    """Return the length of a row."""
    return (2 * model.n + BLOCK - 1) // BLOCK * BLOCK


@njit(_nrt=False)
def motion(model: ModelCode, t: float) -> int:
    """Write the accelerations."""
    return call_kernel(model.motion, t, model.q, model.v, model.params, model.table, model.work, model.out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def shift(model: ModelCode, t: float) -> int:
    """Write the change of the positions, then the values of the held constraints on positions."""
    return call_kernel(model.shift, t, model.q, model.v, model.params, model.table, model.work, model.out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def land(model: ModelCode, t: float) -> int:
    """Write the velocities that satisfy what is held, the accelerations with them, then the rates found."""
    return call_kernel(model.land, t, model.q, model.v, model.params, model.table, model.work, model.out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def watch(model: ModelCode, t: float) -> int:
    """Write the watched quantities."""
    return call_kernel(model.watch, t, model.q, model.v, model.params, model.table, model.work, model.out)  # type: ignore[no-any-return]


@njit(_nrt=False)
def take(model: ModelCode, room: Floats, row: int) -> None:
    """Copy a state to Z, where q and v are parts of it."""
    m = width(model)
    for i in range(2 * model.n):
        room[Z * m + i] = room[row * m + i]
