"""When a watched quantity changes its sign: sampled inside each step, then located on the dense output.

Each quantity has a sign to keep. Seven samples of a step (Lobatto's points, so that nothing periodic in round numbers
hides between them) show a crossing, also a double one; where three neighbours bend towards zero their parabola is
followed to the bottom, so that a narrow dip is found too. Where the polynomial through the samples has not settled in
its last terms, the quantity is not resolved, and the step must be shorter.

Quantities within their band of zero are on neither side: a quantity that starts at zero fires at the start only if it
leaves on the wrong side. So is one that starts on the wrong side by next to nothing and goes over to the right one.

For arguments see `calls`; the step at hand starts at t and has the length h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import watch
from zwang._numerics.motion.dense import interpolate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS = (0.0, 0.08488805186071652, 0.2655756032646429, 0.5, 0.7344243967353571, 0.9151119481392835, 1.0)
SAMPLES = 7
ROOT = 1e-16
NEVER = 2.0
NEAR = 0.3  # a parabola that comes this near to zero, relative to its ends, is followed
NOTHING = 1e-9  # of the largest value in the step


def _highest() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the weights of the samples that make the coefficients of Legendre's polynomials of degrees 5 and 6."""
    x = 2.0 * np.array(POINTS) - 1.0
    legendre = [np.polynomial.legendre.Legendre.basis(degree)(x) for degree in range(SAMPLES)]
    quadrature = 2.0 / (SAMPLES * (SAMPLES - 1) * legendre[SAMPLES - 1] ** 2)
    weights = [quadrature * p / (quadrature @ p**2) for p in legendre[SAMPLES - 2 :]]
    return tuple(weights[0].tolist()), tuple(weights[1].tolist())


FIFTH, SIXTH = _highest()


@njit(_nrt=False)
def unresolved(samples: Floats, keep: Floats, bands: Floats) -> bool:
    """Say whether the polynomial through the samples of some watched quantity has not settled in its last terms.

    A quantity that stays further from its band than twice what it varies is left alone.
    """
    for i in range(keep.size):
        if keep[i] == 0.0:
            continue
        low, high, fifth, sixth = samples[i], samples[i], 0.0, 0.0
        for j in range(SAMPLES):
            value = samples[j * keep.size + i]
            low, high = min(low, value), max(high, value)
            fifth += FIFTH[j] * value
            sixth += SIXTH[j] * value
        near = (low if keep[i] > 0.0 else -high) + bands[i]
        if near <= 2.0 * (high - low) and abs(fifth) + abs(sixth) > max(0.1 * (high - low), 100.0 * bands[i]):
            return True
    return False


@njit(_nrt=False)
def value(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
          t: float, h: float, x: float, i: int) -> float:  # fmt: skip
    """Return quantity i at the part x of a step."""
    interpolate(code, room, x)
    watch(code, table, work, params, t + x * h, q, v, out)
    return out[i]  # type: ignore[no-any-return]


@njit(_nrt=False)
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


@njit(_nrt=False)
def dip(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
        t: float, h: float, i: int, side: float, band: float, x0: float, f0: float, x1: float, f1: float,
        x2: float, f2: float) -> tuple[float, float]:  # fmt: skip
    """Return a place between x0 and x2 where the quantity is on the wrong side and its value; NEVER if none is found.

    The three points are kept with the lowest in the middle, where there is such a middle.
    """
    for count in range(16):
        x, f = bottom(x0, f0, x1, f1, x2, f2)
        if x == x1 or (count == 0 and f > NEAR * max(f0, f1, f2)) or (count > 0 and f > band and f1 - f < 0.02 * f1):
            return NEVER, 0.0
        f = side * value(code, table, work, params, room, q, v, out, t, h, x, i)
        if f < -band:
            return x, f
        if x < x1 and f > f1:
            x0, f0 = x, f
        elif x < x1:
            x2, f2, x1, f1 = x1, f1, x, f
        elif f > f1:
            x2, f2 = x, f
        else:
            x0, f0, x1, f1 = x1, f1, x, f
    return NEVER, 0.0


@njit(_nrt=False)
def root(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
         t: float, h: float, i: int, side: float, x0: float, f0: float, x1: float, f1: float) -> float:  # fmt: skip
    """Return where the quantity, positive at x0 and negative at x1, is zero (regula falsi with halving, bisection)."""
    last = 0
    for count in range(100):
        x = x1 - f1 * (x1 - x0) / (f1 - f0) if count % 4 != 3 else 0.5 * (x0 + x1)
        if not x0 < x < x1:
            x = 0.5 * (x0 + x1)
        if x1 - x0 <= ROOT * x1 or not x0 < x < x1:
            break
        f = side * value(code, table, work, params, room, q, v, out, t, h, x, i)
        if f > 0.0:  # the end that stays twice counts half: Illinois
            x0, f0, f1, last = x, f, 0.5 * f1 if last == 1 else f1, 1
        elif f < 0.0:
            x1, f1, f0, last = x, f, 0.5 * f0 if last == -1 else f0, -1
        else:
            return x
    return 0.5 * (x0 + x1)


@njit(_nrt=False)
def risen(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
          t: float, h: float, i: int, side: float, band: float, start: float, end: float,
          f_end: float) -> tuple[float, float, float, float]:  # fmt: skip
    """Return a place between start and end where the quantity is above its band, and one after it where it is below.

    Each with its value; where there is none the first place is the start, with the value 0.
    """
    width = end - start
    for _ in range(50):
        width *= 0.5
        f = side * value(code, table, work, params, room, q, v, out, t, h, start + width, i)
        if f > band:
            return start + width, f, end, f_end
        if f < -band:
            end, f_end = start + width, f
        if width * abs(h) <= 1e-15 * abs(t):
            break
    return start, 0.0, end, f_end


@njit(_nrt=False)
def crossing(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
             t: float, h: float, samples: Floats, count: int, i: int, side: float, band: float) -> float:  # fmt: skip
    """Return the first place in a step where quantity i leaves its side; NEVER if it keeps it."""
    before = side * samples[i]
    if before < -band:
        largest = 0.0
        for j in range(SAMPLES):
            largest = max(largest, abs(samples[j * count + i]))
        if before < -NOTHING * largest or side * samples[count + i] <= 0.0:
            return 0.0
        before = 0.0
    for j in range(1, SAMPLES):
        here = side * samples[j * count + i]
        x0, f0, x1, f1 = POINTS[j - 1], before, POINTS[j], here
        if here >= -band and j < SAMPLES - 1:
            f2 = side * samples[(j + 1) * count + i]
            low, f_low = dip(
                code, table, work, params, room, q, v, out, t, h, i, side, band, x0, f0, x1, f1, POINTS[j + 1], f2
            )  # fmt: skip
            if low <= POINTS[j]:
                x1, f1 = low, f_low
            elif low < NEVER:
                x0, f0, x1, f1 = x1, f1, low, f_low
        if f1 < -band:
            if f0 <= band:  # it may have risen and come back since: look for a place where it is positive
                start = x0
                x0, f0, x1, f1 = risen(code, table, work, params, room, q, v, out, t, h, i, side, band, x0, x1, f1)
                if f0 <= 0.0:
                    return start
            return root(code, table, work, params, room, q, v, out, t, h, i, side, x0, f0, x1, f1)
        before = here
    return NEVER
