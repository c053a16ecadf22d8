"""The loop compiled once per installation for any model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.stepping.loop import run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_DATA = (
    "float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, :, ::1]"
)
_PAIR = "int64[::1], float64[::1]"


@njit(f"int64({', '.join([f'{EVAL_TYPE}, {_PAIR}'] * 4)}, {_DATA})")
def advance(rhs: object, rhs_table: Ints, rhs_work: Floats, shift: object, shift_table: Ints, shift_work: Floats,
            land: object, land_table: Ints, land_work: Floats, watch: object, watch_table: Ints, watch_work: Floats,
            params: Floats, sides: Floats, bands: Floats, counts: Ints, reals: Floats, fired: Ints, times: Floats,
            states: Floats, accelerations: Floats, coefficients: Floats) -> int:  # fmt: skip
    """Make steps of a model whose functions are arguments; see `loop.run`."""
    return run(rhs, rhs_table, rhs_work, shift, shift_table, shift_work, land, land_table, land_work, watch,
               watch_table, watch_work, params, sides, bands, counts, reals, fired, times, states, accelerations,
               coefficients)  # fmt: skip
