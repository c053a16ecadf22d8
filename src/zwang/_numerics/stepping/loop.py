"""The loop over steps: error control, projection, dense output, watches.

What is done is bounded by the room for steps and by the number of attempts, so that every call returns soon; the next
one goes on from the last state with the step that is proposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import coordinates, motion, watch, width
from zwang._numerics.stepping.events import meet
from zwang._numerics.stepping.places import (
    ATTEMPTS,
    BLURRED,
    CAUSE,
    DRIFT,
    END,
    FIRED,
    HELD_BACK,
    IRREGULAR,
    KEEP,
    LENGTH,
    NOT_FINITE,
    PAUSED,
    POSITIONS,
    PROPOSED,
    REACHED,
    REJECTED,
    ROWS,
    STEP,
    STEP_TOO_SMALL,
    STEPS,
    SURFACES,
    TIME,
    TOL,
    TRIED,
    UNTIL,
    WATCHES,
)
from zwang._numerics.stepping.projecting import settle
from zwang._numerics.stepping.stages import extend, trial
from zwang._numerics.stepping.watching import SAMPLES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAFETY, GROW, SHRINK = 0.9, 6.0, 0.2
TOO_SMALL = 4e-16


@njit
def first_step(model: Any, t: float, y: Floats, slope: Floats, tol: float, span: float, params: Floats, z: Floats,
               out: Floats) -> float:  # fmt: skip
    """Return a first step from the sizes of the state, its derivative and its second derivative (Hairer's rule)."""
    n = coordinates(model)
    d0, d1 = 0.0, 0.0
    for i in range(2 * n):
        scale = tol + tol * abs(y[i])
        d0 += (y[i] / scale) ** 2
        d1 += (slope[i] / scale) ** 2
    d0, d1 = np.sqrt(d0 / (2 * n)), np.sqrt(d1 / (2 * n))
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
    for i in range(2 * n):
        z[i] = y[i] + h * slope[i]
    status = motion(model, t + h, z, params, out)
    d2 = 0.0
    for i in range(n):
        d2 += ((z[n + i] - y[n + i]) / (tol + tol * abs(y[i]))) ** 2
        d2 += ((out[i] - slope[n + i]) / (tol + tol * abs(y[n + i]))) ** 2
    d2 = np.sqrt(d2 / (2 * n)) / h
    if status != 0 or not d2 < np.inf:
        return 1e-3 * h
    h1 = max(1e-6, h * 1e-3) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** 0.125
    return min(100.0 * h, h1, 0.1 * span)


@njit
def reject(counts: Ints, reals: Floats, cause: int, factor: float) -> bool:
    """Note that a step was not taken, why, and what to try next."""
    counts[CAUSE], counts[HELD_BACK] = cause, 1
    counts[REJECTED] += 1
    reals[STEP] = factor * reals[LENGTH]
    return False


@njit
def attempt(model: Any, room: Any, params: Floats, counts: Ints, reals: Floats, wanted: bool) -> bool:
    """Try a step; True if it was good: y1 is its end, projected, k[12] the derivative there, and `dense` is made."""
    y, y1, z, k, dense, out = room
    t, h, remaining = reals[TIME], reals[STEP], reals[UNTIL] - reals[TIME]
    last = 1.01 * h >= remaining
    step = remaining if last else h
    reals[LENGTH], reals[END] = step, reals[UNTIL] if last else t + step
    counts[TRIED] += 1
    error = trial(model, t, step, y, k, y1, reals[TOL], params)
    if error < 0.0:
        return reject(counts, reals, IRREGULAR if error == -1.0 else NOT_FINITE, 0.25)
    if error > 1.0:
        return reject(counts, reals, STEP_TOO_SMALL, max(SHRINK, SAFETY * error**-0.125))
    status = settle(model, counts[POSITIONS], counts[ROWS], reals[END], y1, k[12], out, params, reals[DRIFT:])
    if status == 0 and wanted:
        status = extend(model, t, step, y, k, y1, z, dense, params)
    if status != 0:
        return reject(counts, reals, IRREGULAR if status == 1 else NOT_FINITE, 0.25)
    grow = GROW if error < 1e-9 else min(GROW, SAFETY * error**-0.125)
    if counts[HELD_BACK] != 0:
        grow = min(grow, 1.0)
    # A last step that was cut short says nothing against the longer one.
    reals[PROPOSED] = max(step * grow, h) if step < h else step * grow
    return True


@njit
def begin(model: Any, room: Any, params: Floats, sides: Floats, samples: Floats, counts: Ints, reals: Floats,
          fired: Ints) -> int:  # fmt: skip
    """Evaluate the start; return PAUSED if all is well."""
    y, _, z, k, _, out = room
    n = coordinates(model)
    status = motion(model, reals[TIME], y, params, k[0, n : 2 * n])
    total = 0.0
    for i in range(n):
        k[0, i] = y[n + i]
        total += abs(y[i]) + abs(y[n + i]) + abs(k[0, n + i])
    if status != 0:
        return IRREGULAR
    if not total < np.inf:
        return NOT_FINITE
    if counts[WATCHES] > 0:
        watch(model, reals[TIME], y, params, samples[0])
        for i in range(sides.size):
            if sides[i] != 0.0 and not abs(samples[0, i]) < np.inf:
                fired[i] = 1
                return NOT_FINITE
    if reals[STEP] <= 0.0:
        span = reals[UNTIL] - reals[TIME]
        reals[STEP] = first_step(model, reals[TIME], y, k[0], reals[TOL], span, params, z, out)
    return PAUSED


@njit
def too_small(counts: Ints, reals: Floats) -> bool:
    """Say whether the step has become too small to be told from none; a last one that is short is taken whole."""
    t, h, remaining = reals[TIME], reals[STEP], reals[UNTIL] - reals[TIME]
    if h > TOO_SMALL * abs(t) and h > 1e-290 and t + h != t:
        return False
    if counts[HELD_BACK] != 0 or remaining > 4.0 * TOO_SMALL * abs(t):
        return True
    reals[STEP] = remaining
    return False


@njit
def copy(source: Floats, target: Floats, size: int) -> None:
    """Copy a row; written out, it takes Numba a tenth of the time to compile that an assignment takes."""
    for i in range(size):
        target[i] = source[i]


@njit
def store(model: Any, room: Any, counts: Ints, reals: Floats, times: Floats, states: Floats, accelerations: Floats,
          coefficients: Floats) -> None:  # fmt: skip
    """Keep the step at hand, and go on from its end."""
    y, y1, _, k, dense, _ = room
    n = coordinates(model)
    counts[STEPS] += 1
    at = counts[STEPS]
    reals[TIME] = reals[END]
    times[at] = reals[END]
    copy(y1, states[at], 2 * n)
    copy(k[12, n : 2 * n], accelerations[at], n)
    if counts[KEEP] > 0:
        for j in range(7):
            copy(dense[j], coefficients[at - 1, j], 2 * n)
    copy(y1, y, 2 * n)
    copy(k[12], k[0], 2 * n)


@njit
def run(model: Any, params: Floats, sides: Floats, bands: Floats, counts: Ints, reals: Floats, fired: Ints,
        times: Floats, states: Floats, accelerations: Floats, coefficients: Floats) -> int:  # fmt: skip
    """Make steps until the end, an event, a full store or the last attempt; return how it ended.

    Parameters
    ----------
    model : tuple
        See `calls`.
    params : array
        Parameters; the sides of the switching surfaces stand at its end and are changed when one is crossed.
    sides, bands : (w,) arrays
        Sign that each quantity keeps (2: any crossing; 0: not watched), and what counts as zero.
    counts, reals : arrays
        See `places`.
    fired : (w,) int array
        Receives 1 for each quantity that crossed, or that is not finite.
    times, states, accelerations, coefficients : arrays
        The first entry is the start; room for as many steps as `times` has entries more.
    """
    n, m, w = coordinates(model), width(model), counts[WATCHES]
    y, k, samples, keep = np.zeros(m), np.zeros((16, m)), np.zeros((SAMPLES, w + 1)), np.zeros(w)
    out = np.empty(max(w, m + counts[ROWS] + counts[POSITIONS]) + 1)
    room = (y, np.zeros(m), np.zeros(m), k, np.zeros((7, m)), out)
    copy(states[0], y, 2 * n)
    watching = counts[SURFACES] > 0
    for i in range(w):
        watching = watching or sides[i] != 0.0
    wanted = watching or counts[KEEP] > 0
    reals[TIME] = times[0]
    for place in (STEPS, TRIED, REJECTED, BLURRED, HELD_BACK):
        counts[place] = 0
    counts[CAUSE] = STEP_TOO_SMALL
    ended = begin(model, room, params, sides, samples, counts, reals, fired)
    copy(k[0, n : 2 * n], accelerations[0], n)
    if ended != PAUSED:
        return ended
    while True:
        if reals[TIME] >= reals[UNTIL]:
            return REACHED
        if counts[STEPS] + 1 >= times.size or counts[TRIED] >= counts[ATTEMPTS]:
            return PAUSED
        if too_small(counts, reals):
            return counts[CAUSE]  # type: ignore[no-any-return]
        if not attempt(model, room, params, counts, reals, wanted):
            continue
        met = PAUSED
        if watching:
            met = meet(model, room, params, sides, bands, samples, keep, counts, reals, fired)
            if met == NOT_FINITE:
                return NOT_FINITE
            if met == REACHED:
                continue
        reals[STEP] = reals[PROPOSED]
        counts[HELD_BACK] = 0
        if reals[END] > reals[TIME]:
            store(model, room, counts, reals, times, states, accelerations, coefficients)
        if met != PAUSED:  # the equations may be others from here on
            motion(model, reals[TIME], y, params, k[0, n : 2 * n])
            watch(model, reals[TIME], y, params, samples[0])
        elif watching:
            copy(samples[SAMPLES - 1], samples[0], w)
        if met == FIRED:
            return FIRED
