"""Steps of the kind that table 1 of paper 004 seems to be made with: Dormand and Prince, order 5(4), loose tolerances.

The table averages over steps, so its numbers depend on the sequence of steps. The paper names no integrator; this is
the pair with the defaults that are most common (relative tolerance 1e-3, absolute 1e-6, no step above a tenth of the
interval, four points for each step). That reading fits most of the printed digits and is no established fact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Dormand and Prince (1980), RK5(4)7M.
A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
ROWS = tuple(np.array(row) for row in A)
ERROR = np.array(E)
# The interpolant of order 4 that goes with it (Shampine), by powers of the part of the step.
DENSE = np.array(
    [
        [1.0, -183 / 64, 37 / 12, -145 / 128],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 1500 / 371, -1000 / 159, 1000 / 371],
        [0.0, -125 / 32, 125 / 12, -375 / 64],
        [0.0, 9477 / 3392, -729 / 106, 25515 / 6784],
        [0.0, -11 / 7, 11 / 3, -55 / 28],
        [0.0, 3 / 2, -4.0, 5 / 2],
    ]
)


def steps(
    right: Callable[[Array], Array], y: Array, until: float, *, rtol: float = 1e-3, atol: float = 1e-6, refine: int = 4
) -> tuple[Array, Array]:
    """Return the times and states that the integrator puts out, the start included, for y' = f(y)."""
    threshold, largest = atol / rtol, 0.1 * until
    t, f = 0.0, right(y)
    rate = np.abs(f / np.maximum(np.abs(y), threshold)).max() / (0.8 * rtol ** (1 / 5))
    h = min(largest, 1.0 / rate if rate * largest > 1.0 else largest)
    times, states = [t], [y]
    k = np.empty((7, len(y)))
    while t < until:
        h = min(largest, h)
        h = until - t if 1.1 * h >= until - t else h
        failed = False
        while True:
            k[0] = f
            for stage, row in enumerate(ROWS):
                k[stage + 1] = right(y + h * (row @ k[: stage + 1]))
            new = y + h * (ROWS[-1] @ k[:6])
            scale = np.maximum(np.maximum(np.abs(y), np.abs(new)), threshold)
            error = float(np.abs(h * (ERROR @ k) / scale).max())
            if error <= rtol:
                break
            h *= 0.5 if failed else max(0.1, 0.8 * (rtol / error) ** (1 / 5))
            failed = True
        for part in np.arange(1, refine) / refine:
            weights = DENSE @ part ** np.arange(1, 5)
            times.append(t + part * h)
            states.append(y + h * (weights @ k))
        t, y, f = (until if t + h >= until else t + h), new, k[6].copy()
        times.append(t)
        states.append(y)
        if not failed:
            growth = 1.25 * (error / rtol) ** (1 / 5)
            h = h / growth if growth > 0.2 else 5.0 * h
    return np.array(times), np.array(states)
