"""Terms of a model that runs a tape, in the form that compiled loops call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_SIGNATURE, njit
from zwang._numerics.tape import WIDTH, run_tape

HEAD = 3


@njit(EVAL_SIGNATURE)
def tape_terms(t: float, q: Any, v: Any, params: Any, int_table: Any, workspace: Any, out: Any) -> int:
    """Run the tape in `int_table` with the registers in `workspace`."""
    n, lines, results = q.size, int_table[0], int_table[1]
    code = int_table[HEAD : HEAD + WIDTH * lines].reshape((lines, WIDTH))
    taken = int_table[HEAD + WIDTH * lines : HEAD + WIDTH * lines + results]
    moving, shared = np.empty((1 + 2 * n, 1)), np.empty((params.size, 1))
    moving[0, 0] = t
    for i in range(n):
        moving[1 + i, 0], moving[1 + n + i, 0] = q[i], v[i]
    for i in range(params.size):
        shared[i, 0] = params[i]
    run_tape(code, taken, moving, shared, workspace.reshape((workspace.size, 1)), out.reshape((out.size, 1)))
    return 0


def tape_tables(
    code: NDArray[np.int64], results: NDArray[np.int64], registers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the table of integers and the workspace of a tape."""
    head = np.array([len(code), len(results), len(registers)], dtype=np.int64)
    return np.concatenate([head, code.ravel(), results]).astype(np.int64), registers.astype(float).copy()
