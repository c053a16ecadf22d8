"""Powers of the strength fitted to errors: above the floor of rounding, without strengths that are still too small."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._results.limit import Order

Array = NDArray[np.float64]
FEWEST = 3  # points through which an order is fitted with an uncertainty
MARGIN = 12.0
"""An error must be this many times the floor to be fitted."""
SIGHT, LIFTED = 1e4, 1.25
"""Within how many floors an error may have been lifted by it, and by which factor above the power of those before."""


def fit_order(strengths: Array, errors: Array, floor: Array | float = 0.0) -> Order:
    """Return the power p of errors ~ strength^p, with its uncertainty.

    Points at the floor of rounding are left out. Of the rest, small strengths are left out as long as that makes the
    fit better: their errors still hold higher powers.

    Examples
    --------
    >>> N = np.array([1e2, 1e4, 1e6, 1e8, 1e10])
    >>> fit_order(N, 3 / N + 1 / N**2 + 1e-9, floor=1e-9)
    -0.998 +- 0.003
    """
    floors = np.broadcast_to(np.asarray(floor, dtype=float), errors.shape)
    good = np.isfinite(errors) & (errors > MARGIN * floors) & (errors > 0)
    # Above the floor means before the first strength that fell to it: beyond, points are there by luck.
    low = np.flatnonzero(np.isfinite(errors) & ~good)
    if low.size and good[: low[0]].sum() >= FEWEST:
        good[low[0] :] = False
    places = _above(np.log(strengths), errors, floors, np.flatnonzero(good))
    if len(places) < FEWEST:
        return Order(math.nan, math.nan)
    best: Order | None = None
    least = max(FEWEST, math.ceil(0.4 * len(places)))
    for first in range(len(places) - least + 1):
        found = _line(np.log(strengths), errors, places[first:])
        if best is None or found.uncertainty < 0.8 * best.uncertainty:
            best = found
    assert best is not None  # there is at least one start
    return best


def _above(logs: Array, errors: Array, floors: Array, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places without the last ones that the floor has lifted: it is known to a factor only.

    Errors that fall like a power and stop falling within `SIGHT` of the estimated floor have met it. Far above the
    floor a flatter end is another power, and stays.
    """
    while len(places) > FEWEST:
        last = int(places[-1])
        before = places[-1 - FEWEST : -1]
        slope, level = np.polyfit(logs[before], np.log(errors[before]), 1)
        expected = np.exp(level + slope * logs[last])
        if not (slope < 0.0 and errors[last] < SIGHT * floors[last] and errors[last] > LIFTED * expected):
            break
        places = places[:-1]
    return places


def _line(logs: Array, errors: Array, places: NDArray[np.intp]) -> Order:
    """Return the straight line through the logarithms of some points."""
    x, y = logs[places], np.log(errors[places])
    centre = x - x.mean()
    spread = float(centre @ centre)
    slope = float(centre @ y) / spread
    rest = y - y.mean() - slope * centre
    scatter = math.sqrt(float(rest @ rest) / max(len(x) - 2, 1) / spread)
    steps = np.diff(y) / np.diff(x)
    drift = abs(float(steps[-1] - steps[0])) / (2 * len(steps)) if len(steps) > 1 else 0.0
    offset = math.exp(float(y.mean()) - slope * float(x.mean()))
    return Order(slope, max(2 * scatter, drift), offset, tuple(int(k) for k in places))
