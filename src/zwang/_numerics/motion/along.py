"""One quantity of a model along the steps that were taken, on their dense output."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit
from zwang._numerics.motion.events import POINTS, SAMPLES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(
    "void(int64, int64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[:, :, ::1], "
    "float64[::1])"
)
def sampled_along(evaluate: int, table: Ints, work: Floats, params: Floats, times: Floats, states: Floats,
                  dense: Floats, found: Floats) -> None:  # fmt: skip
    """Write the first output of a kernel at the start and at six places of each step, the last one its end.

    Parameters
    ----------
    evaluate : int
        The address of the kernel.
    table, work, params : arrays
        As the kernel takes them.
    times, states, dense : (k + 1,), (k + 1, 2n), (k, 7, 2n) arrays
        The steps, as a `Stretch` has them.
    found : (6 k + 1,) array
        Receives the values.
    """
    n = states.shape[1] // 2
    y, out = np.empty(2 * n), np.empty(2)
    q, v = y[:n], y[n:]
    for i in range(2 * n):
        y[i] = states[0, i]
    call_kernel(evaluate, times[0], q, v, params, table, work, out)
    found[0] = out[0]
    for k in range(dense.shape[0]):
        h = times[k + 1] - times[k]
        for j in range(1, SAMPLES):
            x = POINTS[j]
            u = 1.0 - x
            for i in range(2 * n):
                inner = dense[k, 4, i] + u * (dense[k, 5, i] + x * dense[k, 6, i])
                inner = dense[k, 2, i] + u * (dense[k, 3, i] + x * inner)
                y[i] = states[k, i] + x * (dense[k, 0, i] + u * (dense[k, 1, i] + x * inner))
            if j == SAMPLES - 1:
                for i in range(2 * n):
                    y[i] = states[k + 1, i]
            call_kernel(evaluate, times[k] + x * h, q, v, params, table, work, out)
            found[k * (SAMPLES - 1) + j] = out[0]
