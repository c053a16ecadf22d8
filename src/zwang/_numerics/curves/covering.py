"""Whether points lie on arcs that are known already."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.jit import njit

SAME = 1e-7  # points of an arc that come as near as this are one


@njit
def _clenshaw(c: Any, j: int, u: float) -> tuple[float, float]:
    """Return the Chebyshev series of coordinate j and its derivative."""
    a, b, da, db = 0.0, 0.0, 0.0, 0.0
    for k in range(c.shape[0] - 1, 0, -1):
        a, b, da, db = c[k, j] + 2.0 * u * a - b, a, 2.0 * a + 2.0 * u * da - db, da
    return c[0, j] + u * a - b, a + u * da - db


@njit("void(float64[:, :, ::1], float64[:, ::1], float64[::1], boolean[::1])")
def mark_covered(pieces: Any, points: Any, periods: Any, covered: Any) -> None:
    """Mark the points (k, n) that lie on one of the pieces (p, d + 1, n of Chebyshev coefficients)."""
    count, _, n = pieces.shape
    looks = 9
    samples = np.empty((looks, n))
    d = np.empty(n)
    for p in range(count):
        c = pieces[p]
        span = 0.0
        for i in range(looks):
            u = -1.0 + 2.0 * i / (looks - 1)
            for j in range(n):
                samples[i, j] = _clenshaw(c, j, u)[0]
                if i > 0:
                    span = max(span, abs(samples[i, j] - samples[i - 1, j]))
        for s in range(points.shape[0]):
            if covered[s]:
                continue
            best, least = 0, math.inf
            for i in range(looks):
                worst = 0.0
                for j in range(n):
                    worst = max(worst, abs(_wrapped(points[s, j] - samples[i, j], periods[j])))
                if worst < least:
                    best, least = i, worst
            if least > 1.5 * span + SAME:
                continue
            u = -1.0 + 2.0 * best / (looks - 1)
            for _ in range(12):
                dot, square = 0.0, 0.0
                for j in range(n):
                    value, slope = _clenshaw(c, j, u)
                    d[j] = _wrapped(points[s, j] - value, periods[j])
                    dot += d[j] * slope
                    square += slope * slope
                if square <= 1e-300:
                    break
                step = max(-0.5, min(0.5, dot / square))
                u = max(-1.0, min(1.0, u + step))
                if abs(step) < 1e-14:
                    break
            worst = 0.0
            for j in range(n):
                worst = max(worst, abs(_wrapped(points[s, j] - _clenshaw(c, j, u)[0], periods[j])))
            if worst <= SAME:
                covered[s] = True


@njit
def _wrapped(d: float, period: float) -> float:
    return d - period * math.floor(d / period + 0.5) if period > 0.0 else d
