"""The loop over steps: error control, projection, dense output, watches.

What is done is bounded by the room for steps and by the number of attempts, so that every call returns soon. All that
the next step depends on is kept in `room`, `samples`, `counts`, `reals` and `params`: the next call goes on as if there
had been no pause, and where a run pauses changes no bit of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import Y1, D, K, Y, Z, coordinates, motion, take, watch, width
from zwang._numerics.motion.events import meet
from zwang._numerics.motion.places import (
    ATTEMPTS,
    BEGUN,
    BLURRED,
    CAUSE,
    CROSSED,
    END,
    FIRED,
    HELD_BACK,
    IRREGULAR,
    KEEP,
    LENGTH,
    NOT_FINITE,
    PAUSED,
    PROPOSED,
    REACHED,
    REJECTED,
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
from zwang._numerics.motion.projecting import settle
from zwang._numerics.motion.steps import extend, trial
from zwang._numerics.motion.watching import SAMPLES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAFETY, GROW, SHRINK = 0.9, 6.0, 0.2
TOO_SMALL = 4e-16


@njit(_nrt=False)
def first_step(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
               t: float, tol: float, span: float) -> float:  # fmt: skip
    """Return a first step from the sizes of the state, its derivative and its second derivative (Hairer's rule)."""
    n, m = coordinates(code), width(code)
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(2 * n):
        scale = tol + tol * abs(room[Y * m + i])
        d0 += (room[Y * m + i] / scale) ** 2
        d1 += (room[K * m + i] / scale) ** 2
    d0, d1 = np.sqrt(d0 / (2 * n)), np.sqrt(d1 / (2 * n))
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
    for i in range(2 * n):
        room[Z * m + i] = room[Y * m + i] + h * room[K * m + i]
    status = motion(code, table, work, params, t + h, q, v, out)
    for i in range(n):
        d2 += ((v[i] - room[Y * m + n + i]) / (tol + tol * abs(room[Y * m + i]))) ** 2
        d2 += ((out[i] - room[K * m + n + i]) / (tol + tol * abs(room[Y * m + n + i]))) ** 2
    d2 = np.sqrt(d2 / (2 * n)) / h
    if status != 0 or not d2 < np.inf:
        return 1e-3 * h
    h1 = max(1e-6, h * 1e-3) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** 0.125
    return min(100.0 * h, h1, 0.1 * span)


@njit(_nrt=False)
def eighth_root(x: float) -> float:
    """Return x ** (1/8), in a fifth of the time."""
    return math.sqrt(math.sqrt(math.sqrt(x)))


@njit(_nrt=False)
def reject(counts: Ints, reals: Floats, cause: int, factor: float) -> bool:
    """Note that a step was not taken, why, and what to try next."""
    counts[CAUSE], counts[HELD_BACK] = cause, 1
    counts[REJECTED] += 1
    reals[STEP] = factor * reals[LENGTH]
    return False


@njit(_nrt=False)
def attempt(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
            counts: Ints, reals: Floats, wanted: bool) -> bool:  # fmt: skip
    """Try a step; True if it was good: Y1 is its end, projected, stage 12 the derivative there, D is made if wanted."""
    t, h, remaining = reals[TIME], reals[STEP], reals[UNTIL] - reals[TIME]
    last = 1.01 * h >= remaining
    step = remaining if last else h
    reals[LENGTH], reals[END] = step, reals[UNTIL] if last else t + step
    counts[TRIED] += 1
    error = trial(code, table, work, params, room, q, v, out, t, step, reals[TOL])
    if error < 0.0:
        return reject(counts, reals, IRREGULAR if error == -1.0 else NOT_FINITE, 0.25)
    if error > 1.0:
        return reject(counts, reals, STEP_TOO_SMALL, max(SHRINK, SAFETY / eighth_root(error)))
    status = settle(code, table, work, params, room, q, v, out, reals[END], counts, reals)
    if status == 0 and wanted:
        status = extend(code, table, work, params, room, q, v, out, t, step)
    if status != 0:
        return reject(counts, reals, IRREGULAR if status == 1 else NOT_FINITE, 0.25)
    grow = GROW if error < 1e-9 else min(GROW, SAFETY / eighth_root(error))
    if counts[HELD_BACK] != 0:
        grow = min(grow, 1.0)
    # A last step that was cut short says nothing against the longer one.
    reals[PROPOSED] = max(step * grow, h) if step < h else step * grow
    return True


@njit(_nrt=False)
def begin(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
          sides: Floats, samples: Floats, counts: Ints, reals: Floats, fired: Ints) -> int:  # fmt: skip
    """Evaluate the state in Y: stage 0 and sample 0; return PAUSED if all is well."""
    n, m = coordinates(code), width(code)
    take(code, room, Y)
    status = motion(code, table, work, params, reals[TIME], q, v, out)
    total = 0.0
    for i in range(n):
        room[K * m + i], room[K * m + n + i] = v[i], out[i]
        total += abs(q[i]) + abs(v[i]) + abs(out[i])
    if status != 0:
        return IRREGULAR
    if not total < np.inf:
        return NOT_FINITE
    if counts[WATCHES] > 0:
        watch(code, table, work, params, reals[TIME], q, v, out)
        for i in range(sides.size):
            samples[i] = out[i]
            if sides[i] != 0.0 and not abs(out[i]) < np.inf:
                fired[i] = 1
                return NOT_FINITE
    return PAUSED


@njit(_nrt=False)
def too_small(counts: Ints, reals: Floats) -> bool:
    """Say whether the step has become too small to be told from none; a last one that is short is taken whole."""
    t, h, remaining = reals[TIME], reals[STEP], reals[UNTIL] - reals[TIME]
    if h > TOO_SMALL * abs(t) and h > 1e-290 and t + h != t:
        return False
    if counts[HELD_BACK] != 0 or remaining > 4.0 * TOO_SMALL * abs(t):
        return True
    reals[STEP] = remaining
    return False


@njit(_nrt=False)
def store(code: Any, room: Floats, counts: Ints, reals: Floats, times: Floats, states: Floats, accelerations: Floats,
          coefficients: Floats) -> None:  # fmt: skip
    """Keep the step at hand, and go on from its end."""
    n, m = coordinates(code), width(code)
    counts[STEPS] += 1
    at = counts[STEPS]
    reals[TIME] = times[at] = reals[END]
    for i in range(n):
        accelerations[at, i] = room[(K + 12) * m + n + i]
    for i in range(2 * n):
        states[at, i] = room[Y * m + i] = room[Y1 * m + i]
        room[K * m + i] = room[(K + 12) * m + i]
    if counts[KEEP] > 0:
        for j in range(7):
            for i in range(2 * n):
                coefficients[at - 1, j, i] = room[(D + j) * m + i]


@njit(_nrt=False)
def may_go_on(times: Floats, counts: Ints, reals: Floats) -> int:
    """Return PAUSED if another step may be tried, else how the run ends; a full store ends it as CROSSED."""
    if reals[TIME] >= reals[UNTIL]:
        return REACHED
    if counts[STEPS] + 1 >= times.size or counts[TRIED] >= counts[ATTEMPTS]:
        return CROSSED
    return counts[CAUSE] if too_small(counts, reals) else PAUSED


@njit(_nrt=False)
def prepare(code: Any, room: Floats, states: Floats, times: Floats, counts: Ints, reals: Floats) -> None:
    """Set the start of a run."""
    for i in range(2 * coordinates(code)):
        room[Y * width(code) + i] = states[0, i]
    reals[TIME] = times[0]
    counts[BLURRED] = counts[HELD_BACK] = 0
    counts[CAUSE], counts[BEGUN] = STEP_TOO_SMALL, 1


@njit(_nrt=False)
def is_watching(sides: Floats, counts: Ints) -> bool:
    """Say whether anything is watched."""
    watching = counts[SURFACES] > 0
    for i in range(counts[WATCHES]):
        watching = watching or sides[i] != 0.0
    return watching  # type: ignore[no-any-return]


@njit(_nrt=False)
def run(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
        samples: Floats, keep: Floats, sides: Floats, bands: Floats, counts: Ints, reals: Floats, fired: Ints,
        times: Floats, states: Floats, accelerations: Floats, coefficients: Floats) -> int:  # fmt: skip
    """Make steps until the end, an event, a full store or the last attempt; return how it ended.

    Parameters
    ----------
    code, table, work, params, room, q, v, out : tuple and arrays
        See `calls`. The sides of the switching surfaces stand at the end of the parameters and are changed when one
        is crossed.
    samples, keep : arrays
        Samples of the watched quantities, and room for a number of each.
    sides, bands : (w,) arrays
        Sign that each quantity keeps (2: any crossing; 0: not watched), and what counts as zero.
    counts, reals : arrays
        See `places`. A run whose `BEGUN` is set goes on from what `room`, `samples` and these hold.
    fired : (w,) int array
        Receives 1 for each quantity that crossed, or that is not finite.
    times, states, accelerations, coefficients : arrays
        The first entry is the start; room for as many steps as `times` has entries more.
    """
    n, m, w = coordinates(code), width(code), counts[WATCHES]
    watching, ended = is_watching(sides, counts), PAUSED
    counts[STEPS] = counts[TRIED] = counts[REJECTED] = 0
    if counts[BEGUN] == 0:
        prepare(code, room, states, times, counts, reals)
        ended = begin(code, table, work, params, room, q, v, out, sides, samples, counts, reals, fired)
        if ended == PAUSED and reals[STEP] <= 0.0:
            span = reals[UNTIL] - reals[TIME]
            reals[STEP] = first_step(code, table, work, params, room, q, v, out, reals[TIME], reals[TOL], span)
    for i in range(n):
        accelerations[0, i] = room[K * m + n + i]
    while ended == PAUSED:
        ended = may_go_on(times, counts, reals)
        if ended != PAUSED:
            break
        if not attempt(code, table, work, params, room, q, v, out, counts, reals, watching or counts[KEEP] > 0):
            continue
        met = PAUSED
        if watching:
            met = meet(
                code, table, work, params, room, q, v, out, sides, bands, samples, keep, counts, reals, fired
            )  # fmt: skip
            if met == REACHED:
                continue
        if met == NOT_FINITE:
            return NOT_FINITE
        reals[STEP] = reals[PROPOSED]
        counts[HELD_BACK] = 0
        if reals[END] > reals[TIME]:
            store(code, room, counts, reals, times, states, accelerations, coefficients)
        if met == FIRED:
            return FIRED
        if met == CROSSED:  # the equations are others from here on
            ended = begin(code, table, work, params, room, q, v, out, sides, samples, counts, reals, fired)
        elif watching:
            for i in range(w):
                samples[i] = samples[(SAMPLES - 1) * w + i]
    return PAUSED if ended == CROSSED else ended
