"""What happens in a step that a watched quantity crosses: which one is first, where, and a step that ends there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import Y1, take, watch
from zwang._numerics.motion.dense import interpolate
from zwang._numerics.motion.places import (
    BLURRED,
    CAUSE,
    CROSSED,
    END,
    FIRED,
    HELD_BACK,
    IRREGULAR,
    LENGTH,
    NOT_FINITE,
    PAUSED,
    REACHED,
    REJECTED,
    SIDES,
    STEP,
    SURFACES,
    TIME,
    TOL,
)
from zwang._numerics.motion.projecting import settle
from zwang._numerics.motion.steps import extend, trial
from zwang._numerics.motion.watching import NEVER, POINTS, SAMPLES, crossing, unresolved, value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOGETHER = 1e-12  # events closer than this part of a step, or of the time, are simultaneous
PATIENT = 8  # times in succession that a step is shortened to resolve a watched quantity


@njit(_nrt=False)
def sample(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
           samples: Floats, sides: Floats, fired: Ints, reals: Floats) -> bool:  # fmt: skip
    """Set samples 1 to 6 of a step; number 0 is the last one of the step before. False if one is not finite."""
    t, h, count = reals[TIME], reals[LENGTH], sides.size
    good = True
    for j in range(1, SAMPLES):
        if j < SAMPLES - 1:
            interpolate(code, room, POINTS[j])
            watch(code, table, work, params, t + POINTS[j] * h, q, v, out)
        else:
            take(code, room, Y1)
            watch(code, table, work, params, reals[END], q, v, out)
        for i in range(count):
            samples[j * count + i] = out[i]
            if sides[i] != 0.0 and not abs(out[i]) < np.inf:
                fired[i] = 1
                good = False
    return good


@njit(_nrt=False)
def arm(params: Floats, sides: Floats, bands: Floats, samples: Floats, keep: Floats, counts: Ints) -> None:
    """Set the sign that each quantity keeps in this step: one that may cross either way keeps that of its start.

    A surface is watched also where the caller doesn't ask: its side stands among the parameters.
    """
    count = sides.size
    first = count - counts[SURFACES]
    for i in range(count):
        side = params[counts[SIDES] + i - first] if i >= first else sides[i]
        if abs(side) > 1.0:
            side = 0.0
            for j in range(SAMPLES):
                if side == 0.0 and abs(samples[j * count + i]) > bands[i]:
                    side = 1.0 if samples[j * count + i] > 0.0 else -1.0
        keep[i] = side


@njit(_nrt=False)
def locate(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
           counts: Ints, reals: Floats, x: float, i: int) -> bool:  # fmt: skip
    """Step to the place near x where quantity i is zero; False where no step leads there.

    The dense output has said where; a step that ends there is made, and its end moved until the quantity is zero at
    the end itself, projected: the state has the full order of the method, and no error of the dense output.
    """
    t, h, near = reals[TIME], reals[LENGTH], 1e-4
    slope = -value(code, table, work, params, room, q, v, out, t, h, x - near, i)
    slope = (slope + value(code, table, work, params, room, q, v, out, t, h, x + near, i)) / (2.0 * near)
    for count in range(4):
        reals[LENGTH], reals[END] = x * h, t + x * h
        if trial(code, table, work, params, room, q, v, out, t, x * h, reals[TOL]) < 0.0:
            return False
        if settle(code, table, work, params, room, q, v, out, t + x * h, counts, reals) != 0:
            return False
        take(code, room, Y1)
        watch(code, table, work, params, t + x * h, q, v, out)
        change = -out[i] / slope
        if abs(change) * h <= 1e-16 * abs(t) or abs(change) <= 1e-16 * x:
            break
        if count == 3 or not abs(change) < 1e-3 or not 0.0 < x + change <= 1.0:
            break
        x += change
    return extend(code, table, work, params, room, q, v, out, t, x * h) == 0


@njit(_nrt=False)
def shorten(counts: Ints, reals: Floats, factor: float) -> int:
    """Reject the step at hand."""
    counts[REJECTED] += 1
    counts[HELD_BACK] = 1
    reals[STEP] = factor * reals[LENGTH]
    return REACHED


@njit(_nrt=False)
def meet(code: Any, table: Ints, work: Floats, params: Floats, room: Floats, q: Floats, v: Floats, out: Floats,
         sides: Floats, bands: Floats, samples: Floats, keep: Floats, counts: Ints, reals: Floats,
         fired: Ints) -> int:  # fmt: skip
    """Look for crossings in the step at hand, and cut it at the first.

    Returns PAUSED where there is none, CROSSED where only switching surfaces were crossed, FIRED, NOT_FINITE, or
    REACHED where the step must be made again, shorter.
    """
    t, h = reals[TIME], reals[LENGTH]
    if not sample(code, table, work, params, room, q, v, out, samples, sides, fired, reals):
        return NOT_FINITE
    arm(params, sides, bands, samples, keep, counts)
    if counts[BLURRED] < PATIENT and unresolved(samples, keep, bands):
        counts[BLURRED] += 1
        return shorten(counts, reals, 1.0 / 3.0)
    counts[BLURRED] = 0
    first, lead = NEVER, 0
    for i in range(keep.size):
        if keep[i] != 0.0:
            keep[i] = crossing(
                code, table, work, params, room, q, v, out, t, h, samples, keep.size, i, keep[i], bands[i]
            )  # fmt: skip
        else:
            keep[i] = NEVER
        if keep[i] < first:
            first, lead = keep[i], i
    if first > 1.0:
        return PAUSED
    if t + first * h == t:
        reals[END] = t
    elif not locate(code, table, work, params, room, q, v, out, counts, reals, first, lead):
        counts[CAUSE] = IRREGULAR
        return shorten(counts, reals, 0.25)
    return fire(params, sides, keep, first + TOGETHER * max(1.0, abs(t) / h), counts, fired)


@njit(_nrt=False)
def fire(params: Floats, sides: Floats, keep: Floats, until: float, counts: Ints, fired: Ints) -> int:
    """Note what has crossed up to that place; `keep` holds where each quantity crosses."""
    found = CROSSED
    first = sides.size - counts[SURFACES]
    for i in range(keep.size):
        if keep[i] <= until:
            if i >= first:
                place = counts[SIDES] + i - first
                params[place] = -params[place]
            if sides[i] != 0.0:
                fired[i] = 1
                found = FIRED
    return found
