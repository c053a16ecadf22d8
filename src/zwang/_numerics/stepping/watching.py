"""When a watched quantity changes its sign: sampled inside each step, then located on the dense output.

Each quantity has a sign to keep. Seven samples of a step (Lobatto's points, so that nothing periodic in round numbers
hides between them) show a crossing, also a double one; where three neighbours bend towards zero their parabola is
followed to the bottom, so that a narrow dip is found too. Where the middle sample is far from what the other six
foretell, the quantity is not resolved, and the step must be shorter.

Quantities within their band of zero are on neither side: a quantity that starts at zero fires at the start only if it
leaves on the wrong side.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.dense import interpolate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Lobatto's points of a step, and the weights that foretell the value at the middle one from the others.
POINTS = (0.0, 0.08488805186071652, 0.2655756032646429, 0.5, 0.7344243967353571, 0.9151119481392835, 1.0)
SAMPLES = 7
ROOT = 1e-16
NEVER = 2.0


def _lagrange() -> tuple[float, ...]:
    """Return the weights of the other samples that foretell the middle one."""
    others = [x for x in POINTS if x != 0.5]
    return tuple(math.prod((0.5 - b) / (a - b) for b in others if b != a) for a in others)


FORETOLD = _lagrange()


@njit
def unresolved(samples: Floats, sides: Floats, bands: Floats, first: int, count: int) -> bool:
    """Say whether some watched quantity is not foretold at the middle of the step by its other samples."""
    for i in range(count):
        if sides[i] == 0.0:
            continue
        low, high = samples[0, first + i], samples[0, first + i]
        guess = 0.0
        for j in range(SAMPLES):
            value = samples[j, first + i]
            low, high = min(low, value), max(high, value)
            if j != 3:
                guess += FORETOLD[j if j < 3 else j - 1] * value
        if abs(guess - samples[3, first + i]) > max(0.2 * (high - low), 100.0 * bands[i]):
            return True
    return False


@njit
def look(
    watch: object,
    watch_table: object,
    watch_work: object,
    t: float,
    h: float,
    y: Floats,
    dense: Floats,
    x: float,
    z: Floats,
    params: Floats,
    out: Floats,
) -> None:
    """Set `out` to the watched quantities at the part x of a step."""
    n = y.size // 2
    interpolate(y, dense, x, z)
    watch(t + x * h, z[:n], z[n:], params, watch_table, watch_work, out)  # type: ignore[operator]


@njit
def bottom(x0: float, f0: float, x1: float, f1: float, x2: float, f2: float) -> tuple[float, float]:
    """Return place and value of the lowest point of the parabola through three points; (x1, f1) if it has none."""
    d01, d12 = (f1 - f0) / (x1 - x0), (f2 - f1) / (x2 - x1)
    bend = (d12 - d01) / (x2 - x0)
    if not bend > 0.0:
        return x1, f1
    x = 0.5 * (x0 + x1) - 0.5 * d01 / bend
    if not x0 < x < x2:
        return x1, f1
    return x, f0 + d01 * (x - x0) + bend * (x - x0) * (x - x1)


@njit
def dip(
    watch: object,
    watch_table: object,
    watch_work: object,
    t: float,
    h: float,
    y: Floats,
    dense: Floats,
    z: Floats,
    params: Floats,
    out: Floats,
    i: int,
    side: float,
    band: float,
    x0: float,
    f0: float,
    x1: float,
    f1: float,
    x2: float,
    f2: float,
) -> float:
    """Return a place between x0 and x2 where the quantity is on the wrong side, NEVER if none is found."""
    for _ in range(12):
        x, f = bottom(x0, f0, x1, f1, x2, f2)
        if x == x1 or f > 0.5 * min(f0, min(f1, f2)) and f > band:
            return NEVER
        look(watch, watch_table, watch_work, t, h, y, dense, x, z, params, out)
        f = side * out[i]
        if f < -band:
            return x
        if f > f1 and x1 - x0 > 0.0:  # the lowest stays in the middle
            if x < x1:
                x0, f0 = x, f
            else:
                x2, f2 = x, f
        elif x < x1:
            x2, f2, x1, f1 = x1, f1, x, f
        else:
            x0, f0, x1, f1 = x1, f1, x, f
    return NEVER


@njit
def root(
    watch: object,
    watch_table: object,
    watch_work: object,
    t: float,
    h: float,
    y: Floats,
    dense: Floats,
    z: Floats,
    params: Floats,
    out: Floats,
    i: int,
    side: float,
    x0: float,
    f0: float,
    x1: float,
    f1: float,
) -> float:
    """Return where the quantity, positive at x0 and negative at x1, is zero (regula falsi with halving, bisection)."""
    for count in range(100):
        if x1 - x0 <= ROOT * x1 or f0 == 0.0:
            break
        x = x1 - f1 * (x1 - x0) / (f1 - f0) if count % 4 != 3 else 0.5 * (x0 + x1)
        if not x0 < x < x1:
            x = 0.5 * (x0 + x1)
            if not x0 < x < x1:
                break
        look(watch, watch_table, watch_work, t, h, y, dense, x, z, params, out)
        f = side * out[i]
        if f > 0.0:
            x0, f0 = x, f
            f1 *= 0.5
        elif f < 0.0:
            x1, f1 = x, f
            f0 *= 0.5
        else:
            return x
    return x0 if f0 == 0.0 else 0.5 * (x0 + x1)


@njit
def crossing(
    watch: object,
    watch_table: object,
    watch_work: object,
    t: float,
    h: float,
    y: Floats,
    dense: Floats,
    z: Floats,
    params: Floats,
    out: Floats,
    samples: Floats,
    i: int,
    side: float,
    band: float,
) -> float:
    """Return the first place in a step where quantity i leaves its side; NEVER if it keeps it."""
    before = side * samples[0, i]
    if before < -band:
        return 0.0
    for j in range(1, SAMPLES):
        here = side * samples[j, i]
        low, f_low = POINTS[j], here
        if here >= -band and j < SAMPLES - 1:
            x = dip(
                watch, watch_table, watch_work, t, h, y, dense, z, params, out, i, side, band,
                POINTS[j - 1], before, POINTS[j], here, POINTS[j + 1], side * samples[j + 1, i],
            )  # fmt: skip
            if x != NEVER and x < POINTS[j]:
                look(watch, watch_table, watch_work, t, h, y, dense, x, z, params, out)
                low, f_low = x, side * out[i]
            elif x != NEVER:
                look(watch, watch_table, watch_work, t, h, y, dense, x, z, params, out)
                return root(
                    watch, watch_table, watch_work, t, h, y, dense, z, params, out, i, side,
                    POINTS[j], here, x, side * out[i],
                )  # fmt: skip
        if f_low < -band:
            high, f_high = POINTS[j - 1], before
            if before <= band:  # it may have risen and come back since: look for a place where it is positive
                high, f_high = risen(
                    watch, watch_table, watch_work, t, h, y, dense, z, params, out, i, side, band, high, low
                )
                if f_high <= 0.0:
                    return POINTS[j - 1]
            return root(
                watch, watch_table, watch_work, t, h, y, dense, z, params, out, i, side, high, f_high, low, f_low
            )
        before = here
    return NEVER


@njit
def risen(
    watch: object,
    watch_table: object,
    watch_work: object,
    t: float,
    h: float,
    y: Floats,
    dense: Floats,
    z: Floats,
    params: Floats,
    out: Floats,
    i: int,
    side: float,
    band: float,
    start: float,
    end: float,
) -> tuple[float, float]:
    """Return a place between start and end where the quantity is above its band, and its value; else (start, 0)."""
    width = end - start
    for _ in range(40):
        width *= 0.5
        look(watch, watch_table, watch_work, t, h, y, dense, start + width, z, params, out)
        if side * out[i] > band:
            return start + width, side * out[i]
        if width * abs(h) <= 1e-15 * abs(t):
            break
    return start, 0.0
