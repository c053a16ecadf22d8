"""Growth without bound in a finite time: x ~ C (t* - t)^-p, from values and rates along the way.

For such an x the quotient y = x/x' = (t* - t)/p is a straight line that reaches zero at t*. It is fitted over two
decades of y, each place with the same relative weight; the error of p is that of the fit, or what the two decades
differ by, if that is more. Exponential growth has a constant y, and growth like a logarithm a p that goes on falling:
neither passes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DECADES = 2.0  # of a quantity over which its growth must be seen
FEWEST = 6
"""Places that a fit needs."""
STRAIGHT = 0.05
"""How far a place may lie off the line, relative to its distance from the end."""
WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
SCATTER = 0.15
"""Root mean square of the relative distance from a power law of what oscillates about it."""
LATE = 0.02
"""Part of the time so far by which t* may lie behind the last place."""
LEAST = 0.05
"""Exponents below this are not told from a logarithm."""


@dataclass(frozen=True)
class GrowthFit:
    """A power law that was found: the exponent p with its error, t*, and over how many decades of the time left."""

    exponent: float
    error: float
    instant: float
    decades: int = 2

    def __str__(self) -> str:
        digits = max(1, 1 - math.floor(math.log10(max(self.error, 1e-6))) - 1)
        return (
            f"grows like (t* - t)^-p, p = {self.exponent:.{digits}f} +- {max(self.error, 1e-6):.0e} over "
            f"{WORDS.get(self.decades, str(self.decades))} decades, t* = {self.instant:.12g}"
        )


def growth(t: Array, x: Array, rate: Array, finest: float = 0.0) -> GrowthFit | None:
    """Return the power law by which a quantity grows towards the end of its places; None where it does not.

    Parameters
    ----------
    t, x, rate : (k,) arrays
        Times in order, values and their rates.
    finest : float
        Distances from t* below this, times p, are not resolved.

    Examples
    --------
    >>> t = 1.0 - np.geomspace(1.0, 1e-6, 60)
    >>> found = growth(t, (1.0 - t) ** (-1 / 3), (1.0 - t) ** (-4 / 3) / 3)
    >>> round(found.exponent, 6), round(found.instant, 9)
    (0.333333, 1.0)
    >>> growth(t, np.exp(t), np.exp(t)) is None
    True
    """
    with np.errstate(all="ignore"):
        y = x / rate
    good = np.isfinite(y) & (y > 0) & np.isfinite(x)
    # Only the last run of places in which it grows counts.
    last = np.flatnonzero(~good)
    first = int(last[-1]) + 1 if len(last) else 0
    t, y = t[first:], y[first:]
    if len(t) < FEWEST:
        return None
    low = max(float(y[-1]), finest, 1e-11 * float(np.abs(t).max()))
    kept = (y >= low) & (y <= 10**DECADES * low)
    if np.count_nonzero(kept) < FEWEST or float(y[kept].max()) < 0.5 * 10**DECADES * low:
        return None
    whole = _line(t[kept], y[kept])
    middle = low * 10 ** (DECADES / 2)
    halves = [_line(t[kept & side], y[kept & side]) for side in (y <= middle, y > middle)]
    if whole is None or any(half is None for half in halves):
        return None
    p, error, instant, off = whole
    error = max(error, abs(halves[0][0] - halves[1][0]) / 2)  # type: ignore[index]
    if p < LEAST or error > 0.2 * p or off > STRAIGHT:
        return None
    return GrowthFit(p, error, instant)


def mean_growth(t: Array, x: Array) -> GrowthFit | None:
    """Return the power law about which a quantity oscillates up to its peak near the end; None where there is none.

    For growth that is a law on the average alone, and that something stops at last (a disc that wobbles and lies down):
    log |x| is fitted against log(t* - t), evenly in that, with the t* that fits best.

    Examples
    --------
    >>> t = 1.0 - np.geomspace(1.0, 1e-4, 400)
    >>> found = mean_growth(t, (1.0 - t) ** (-1 / 3) * (1 + 0.1 * np.sin(40 * t)))
    >>> abs(found.exponent - 1 / 3) < 0.03, found.decades >= 3
    (True, True)
    >>> mean_growth(t, np.exp(t)) is None
    True
    """
    x = np.abs(x)
    peak = int(np.argmax(x)) if len(x) else 0
    if peak < FEWEST or not x[peak] > 3 * x[0] > 0 or not x[: peak + 1].min() > 0:
        return None
    end, span = float(t[-1]), float(t[-1] - t[0])
    best: tuple[float, GrowthFit] | None = None
    for late in (0.0, *np.geomspace(1e-6, LATE, 60)):
        instant = end + late * span
        left = np.geomspace(instant - t[0], max(instant - t[peak], 1e-300), 60)
        decades = math.log10(left[0] / left[-1])
        values, logs = np.interp(instant - left, t[: peak + 1], np.log(x[: peak + 1])), np.log(left)
        slopes = [np.polyfit(logs[part], values[part], 1) for part in (slice(None), slice(30), slice(30, None))]
        scatter = float(np.sqrt(np.mean((values - np.polyval(slopes[0], logs)) ** 2)))
        if decades >= DECADES and (best is None or scatter < best[0]):
            error = scatter / (math.log(10) * decades) + abs(slopes[1][0] - slopes[2][0]) / 4
            best = scatter, GrowthFit(-float(slopes[0][0]), float(error), instant, int(decades))
    if best is None or best[0] > SCATTER or not best[1].exponent > max(LEAST, best[1].error):
        return None
    return best[1]


def _line(t: Array, y: Array) -> tuple[float, float, float, float] | None:
    """Return p, its error, t* and the largest relative distance of y from (t* - t)/p."""
    if len(t) < 3:
        return None
    end = float(t[-1])
    rows = np.stack([np.ones(len(t)), end - t], axis=1) / y[:, None]
    (b, slope), *_ = np.linalg.lstsq(rows, np.ones(len(t)), rcond=None)
    if not slope > 0:
        return None
    off = rows @ [b, slope] - 1.0
    spread = math.sqrt(float(off @ off) / max(len(t) - 2, 1))
    covariance = np.linalg.pinv(rows.T @ rows)
    p = 1.0 / float(slope)
    return p, p * p * spread * math.sqrt(float(covariance[1, 1])), end + float(b) * p, float(np.abs(off).max())
