"""The loop compiled once per installation for any model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import Z, coordinates, width
from zwang._numerics.motion.loop import run
from zwang._numerics.motion.places import POSITIONS, ROWS, WATCHES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_DATA = (
    "float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], int64[::1], "
    "float64[::1], float64[:, ::1], float64[:, ::1], float64[:, :, ::1]"
)


@njit(f"int64(int64, int64, int64, int64, int64[::1], float64[::1], {_DATA})")
def advance(
    motion: int, shift: int, land: int, watch: int, table: Ints, work: Floats, params: Floats, room: Floats,
    samples: Floats, sides: Floats, bands: Floats, counts: Ints, reals: Floats, fired: Ints, times: Floats,
    states: Floats, accelerations: Floats, coefficients: Floats,
) -> int:  # fmt: skip
    """Make steps of a model whose functions are given by their addresses; see `loop.run`."""
    code = (motion, shift, land, watch, accelerations.shape[1])
    n, m, w = coordinates(code), width(code), counts[WATCHES]
    keep = np.zeros(w)
    q, v = room[Z * m : Z * m + n], room[Z * m + n : Z * m + 2 * n]
    out = np.empty(max(w, m + counts[ROWS] + counts[POSITIONS]) + 1)
    return run(code, table, work, params, room, q, v, out, samples, keep, sides, bands, counts, reals, fired, times,
               states, accelerations, coefficients)  # fmt: skip
