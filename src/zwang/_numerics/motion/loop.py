"""The loop over steps: error control, projection, dense output, watches.

What is done is bounded by the room for steps and by the number of attempts, so that every call returns soon. All that
the next step depends on is kept in `room`, `samples`, `counts`, `reals` and `params`: the next call goes on as if there
had been no pause, and where a run pauses changes no bit of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import BLOCK, Y1, D, K, ModelCode, S, Y, Z, motion, take, watch, width
from zwang._numerics.motion.events import SAMPLES, Watched, meet
from zwang._numerics.motion.run_layout import (
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
from zwang._numerics.motion.steps import extend, settle, trial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAFETY, GROW, SHRINK = 0.9, 6.0, 0.2
TOO_SMALL = 4e-16  # relative to the time: two roundings
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]


class Addresses(NamedTuple):
    """Of the functions of a model; see `ModelCode`. Without Numba the functions themselves."""

    motion: int
    shift: int
    land: int
    watch: int


class Stored(NamedTuple):
    """The steps taken: times (k + 1,), states (k + 1, 2n), accelerations (k + 1, n), dense output (k, 7, 2n).

    The first entry is the start; there is room for as many steps as `times` has entries more.
    """

    times: Floats
    states: Matrix
    accelerations: Matrix
    coefficients: Cube


@njit(_nrt=False)
def first_step(model: ModelCode, room: Floats, t: float, tol: float, span: float) -> float:
    """Return a first step from the sizes of the state, its derivative and its second derivative (Hairer's rule).

    The unit of time is that in which the state changes by its own size, or the span where it would take longer.
    """
    n, m, v, out = model.n, width(model), model.v, model.out
    d1, d2 = 0.0, 0.0
    for i in range(2 * n):
        d1 += (room[K * m + i] / (room[S * m + i] + abs(room[Y * m + i]))) ** 2
    d1 = np.sqrt(d1 / (2 * n))
    unit = 1.0 / d1 if d1 * span > 1.0 else span
    h = 0.01 * unit
    for i in range(2 * n):
        room[Z * m + i] = room[Y * m + i] + h * room[K * m + i]
    status = motion(model, t + h)
    for i in range(n):
        d2 += ((v[i] - room[Y * m + n + i]) / (room[S * m + i] + abs(room[Y * m + i]))) ** 2
        d2 += ((out[i] - room[K * m + n + i]) / (room[S * m + n + i] + abs(room[Y * m + n + i]))) ** 2
    d2 = np.sqrt(d2 / (2 * n)) / h
    if status != 0 or not d2 < np.inf:
        return 1e-3 * h
    most = max(unit * d1, unit * unit * d2)
    h1 = unit if most <= tol * 0.01 else unit * (tol * 0.01 / most) ** 0.125
    return min(h1, 0.1 * span)


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
def attempt(model: ModelCode, room: Floats, counts: Ints, reals: Floats, wanted: bool) -> bool:
    """Try a step; True if it was good: Y1 is its end, projected, stage 12 the derivative there, D is made if wanted."""
    t, h, remaining = reals[TIME], reals[STEP], reals[UNTIL] - reals[TIME]
    last = 1.01 * h >= remaining
    step = remaining if last else h
    reals[LENGTH], reals[END] = step, reals[UNTIL] if last else t + step
    counts[TRIED] += 1
    error = trial(model, room, t, step, reals[TOL])
    if error < 0.0:
        return reject(counts, reals, IRREGULAR if error == -1.0 else NOT_FINITE, 0.25)
    if error > 1.0:
        return reject(counts, reals, STEP_TOO_SMALL, max(SHRINK, SAFETY / eighth_root(error)))
    status = settle(model, room, reals[END], counts, reals)
    if status == 0 and wanted:
        status = extend(model, room, t, step)
    if status != 0:
        return reject(counts, reals, IRREGULAR if status == 1 else NOT_FINITE, 0.25)
    grow = GROW if error < 1e-9 else min(GROW, SAFETY / eighth_root(error))
    if counts[HELD_BACK] != 0:
        grow = min(grow, 1.0)
    # A last step that was cut short says nothing against the longer one.
    reals[PROPOSED] = max(step * grow, h) if step < h else step * grow
    return True


@njit(_nrt=False)
def begin(model: ModelCode, room: Floats, watched: Watched, counts: Ints, reals: Floats) -> int:
    """Evaluate the state in Y: stage 0 and sample 0; return PAUSED if all is well."""
    n, m, q, v, out = model.n, width(model), model.q, model.v, model.out
    take(model, room, Y)
    status = motion(model, reals[TIME])
    total = 0.0
    for i in range(n):
        room[K * m + i], room[K * m + n + i] = v[i], out[i]
        total += abs(q[i]) + abs(v[i]) + abs(out[i])
    if status != 0:
        return IRREGULAR
    if not total < np.inf:
        return NOT_FINITE
    if counts[WATCHES] > 0:
        watch(model, reals[TIME])
        for i in range(watched.sides.size):
            watched.samples[i] = out[i]
            if watched.sides[i] != 0.0 and not abs(out[i]) < np.inf:
                watched.fired[i] = 1
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
def store(model: ModelCode, room: Floats, counts: Ints, reals: Floats, stored: Stored) -> None:
    """Keep the step at hand, and go on from its end."""
    n, m = model.n, width(model)
    times, states, accelerations, coefficients = stored
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
def prepare(model: ModelCode, room: Floats, states: Floats, times: Floats, counts: Ints, reals: Floats) -> None:
    """Set the start of a run."""
    for i in range(2 * model.n):
        room[Y * width(model) + i] = states[0, i]
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
def run(model: ModelCode, room: Floats, watched: Watched, counts: Ints, reals: Floats, stored: Stored) -> int:
    """Make steps until the end, an event, a full store or the last attempt; return how it ended.

    Parameters
    ----------
    model, room : ModelCode and array
        See `calls`. The sides of the switching surfaces stand at the end of the parameters and are changed when one
        is crossed.
    watched : Watched
    counts, reals : arrays
        See `run_layout`. A run whose `BEGUN` is set goes on from what `room`, the samples and these hold.
    stored : Stored
    """
    n, m, w = model.n, width(model), counts[WATCHES]
    watching, ended = is_watching(watched.sides, counts), PAUSED
    counts[STEPS] = counts[TRIED] = counts[REJECTED] = 0
    if counts[BEGUN] == 0:
        prepare(model, room, stored.states, stored.times, counts, reals)
        ended = begin(model, room, watched, counts, reals)
        if ended == PAUSED and reals[STEP] <= 0.0:
            span = reals[UNTIL] - reals[TIME]
            reals[STEP] = first_step(model, room, reals[TIME], reals[TOL], span)
    for i in range(n):
        stored.accelerations[0, i] = room[K * m + n + i]
    while ended == PAUSED:
        ended = may_go_on(stored.times, counts, reals)
        if ended != PAUSED:
            break
        if not attempt(model, room, counts, reals, watching or counts[KEEP] > 0):
            continue
        met = PAUSED
        if watching:
            met = meet(model, room, watched, counts, reals)
            if met == REACHED:
                continue
        if met == NOT_FINITE:
            return NOT_FINITE
        reals[STEP] = reals[PROPOSED]
        counts[HELD_BACK] = 0
        if reals[END] > reals[TIME]:
            store(model, room, counts, reals, stored)
        if met == FIRED:
            return FIRED
        if met == CROSSED:  # the equations are others from here on
            ended = begin(model, room, watched, counts, reals)
        elif watching:
            for i in range(w):
                watched.samples[i] = watched.samples[(SAMPLES - 1) * w + i]
    return PAUSED if ended == CROSSED else ended


@njit(
    "int64(Addresses, int64[::1], float64[::1], float64[::1], float64[::1], Watched, int64[::1], float64[::1], Stored)"
)
def advance(
    addresses: Addresses, table: Ints, work: Floats, params: Floats, room: Floats, watched: Watched, counts: Ints,
    reals: Floats, stored: Stored,
) -> int:  # fmt: skip
    """Make steps of a model whose functions are given by their addresses: compiled once for any model; see `run`."""
    n, m = stored.accelerations.shape[1], stored.states.shape[1]
    m = (m + BLOCK - 1) // BLOCK * BLOCK
    q, v = room[Z * m : Z * m + n], room[Z * m + n : Z * m + 2 * n]
    out = np.empty(max(counts[WATCHES], m + counts[ROWS] + counts[POSITIONS]) + 1)
    motion, shift, land, watch = addresses
    return run(
        ModelCode(motion, shift, land, watch, n, table, work, params, q, v, out), room, watched, counts, reals, stored
    )
