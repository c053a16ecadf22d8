"""What happens in a step that a watched quantity crosses: which one is first, where, and a step that ends there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.calls import watch
from zwang._numerics.stepping.dense import interpolate
from zwang._numerics.stepping.places import (
    BLURRED,
    CAUSE,
    CROSSED,
    DRIFT,
    END,
    FIRED,
    HELD_BACK,
    IRREGULAR,
    LENGTH,
    NOT_FINITE,
    PAUSED,
    POSITIONS,
    REACHED,
    REJECTED,
    ROWS,
    SIDES,
    STEP,
    SURFACES,
    TIME,
    TOL,
)
from zwang._numerics.stepping.projecting import settle
from zwang._numerics.stepping.stages import extend, trial
from zwang._numerics.stepping.watching import NEVER, POINTS, SAMPLES, crossing, unresolved, value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOGETHER = 1e-12  # events closer than this part of a step, or of the time, are simultaneous
PATIENT = 4  # times in succession that a step is shortened to resolve a watched quantity


@njit
def sample(model: Any, room: Any, params: Floats, samples: Floats, sides: Floats, fired: Ints, t: float, h: float,
           end: float) -> bool:  # fmt: skip
    """Set samples 1 to 6 of a step; number 0 is the last one of the step before. False if one is not finite."""
    y, y1, z, _, dense, _ = room
    for j in range(1, SAMPLES - 1):
        interpolate(model, y, dense, POINTS[j], z)
        watch(model, t + POINTS[j] * h, z, params, samples[j])
    watch(model, end, y1, params, samples[SAMPLES - 1])
    good = True
    for i in range(sides.size):
        for j in range(SAMPLES):
            if sides[i] != 0.0 and not abs(samples[j, i]) < np.inf:
                fired[i] = 1
                good = False
    return good


@njit
def arm(params: Floats, sides: Floats, bands: Floats, samples: Floats, keep: Floats, counts: Ints) -> None:
    """Set the sign that each quantity keeps in this step: one that may cross either way keeps that of its start.

    A surface is watched also where the caller doesn't ask: its side stands among the parameters.
    """
    first = sides.size - counts[SURFACES]
    for i in range(sides.size):
        side = params[counts[SIDES] + i - first] if i >= first else sides[i]
        if abs(side) > 1.0:
            side = 0.0
            for j in range(SAMPLES):
                if side == 0.0 and abs(samples[j, i]) > bands[i]:
                    side = 1.0 if samples[j, i] > 0.0 else -1.0
        keep[i] = side


@njit
def locate(model: Any, room: Any, params: Floats, counts: Ints, reals: Floats, x: float, i: int) -> bool:
    """Step to the place near x where quantity i is zero; False where no step leads there.

    The dense output has said where; a step that ends there is made, and its end moved until the quantity is zero at
    the end itself, projected: the state has the full order of the method, and no error of the dense output.
    """
    y, y1, z, k, dense, out = room
    t, h = reals[TIME], reals[LENGTH]
    span, width = (t, h), 1e-4
    slope = -value(model, span, room, params, x - width, i)
    slope = (slope + value(model, span, room, params, x + width, i)) / (2.0 * width)
    for count in range(4):
        reals[LENGTH], reals[END] = x * h, t + x * h
        if trial(model, t, x * h, y, k, y1, reals[TOL], params) < 0.0:
            return False
        if settle(model, counts[POSITIONS], counts[ROWS], t + x * h, y1, k[12], out, params, reals[DRIFT:]) != 0:
            return False
        watch(model, t + x * h, y1, params, out)
        change = -out[i] / slope
        near = abs(change) * h <= 1e-16 * abs(t) or abs(change) <= 1e-16 * x
        if count == 3 or near or not abs(change) < 1e-3 or not 0.0 < x + change <= 1.0:
            break
        x += change
    return extend(model, t, x * h, y, k, y1, z, dense, params) == 0


@njit
def shorten(counts: Ints, reals: Floats, factor: float) -> int:
    """Reject the step at hand."""
    counts[REJECTED] += 1
    counts[HELD_BACK] = 1
    reals[STEP] = factor * reals[LENGTH]
    return REACHED


@njit
def meet(model: Any, room: Any, params: Floats, sides: Floats, bands: Floats, samples: Floats, keep: Floats,
         counts: Ints, reals: Floats, fired: Ints) -> int:  # fmt: skip
    """Look for crossings in the step at hand, and cut it at the first.

    Returns PAUSED where there is none, CROSSED where only switching surfaces were crossed, FIRED, NOT_FINITE, or
    REACHED where the step must be made again, shorter.
    """
    t, h = reals[TIME], reals[LENGTH]
    if not sample(model, room, params, samples, sides, fired, t, h, reals[END]):
        return NOT_FINITE
    arm(params, sides, bands, samples, keep, counts)
    if counts[BLURRED] < PATIENT and unresolved(samples, keep, bands):
        counts[BLURRED] += 1
        return shorten(counts, reals, 1.0 / 3.0)
    counts[BLURRED] = 0
    first, lead = NEVER, 0
    for i in range(keep.size):
        if keep[i] != 0.0:
            keep[i] = crossing(model, (t, h), room, params, samples, i, keep[i], bands[i])
        else:
            keep[i] = NEVER
        if keep[i] < first:
            first, lead = keep[i], i
    if first > 1.0:
        return PAUSED
    if t + first * h == t:
        reals[END] = t
    elif not locate(model, room, params, counts, reals, first, lead):
        counts[CAUSE] = IRREGULAR
        return shorten(counts, reals, 0.25)
    return fire(params, sides, keep, first + TOGETHER * max(1.0, abs(t) / h), counts, fired)


@njit
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
