"""Event location: when a watched quantity changes its sign, sampled inside each step, located on the dense output.

Each quantity has a sign to keep. Seven samples of a step (Lobatto's points, so that nothing periodic in round numbers
hides between them) show a crossing, also a double one; where three neighbours bend towards zero their parabola is
followed to the bottom, so that a narrow dip is found too. Where the polynomial through the samples has not settled in
its last terms, the quantity is not resolved, and the step must be shorter.

Quantities within their band of zero are on neither side: a quantity that starts at zero fires at the start only if it
leaves on the wrong side. So is one that starts on the wrong side by next to nothing and goes over to the right one.

The first crossing in a step is shut in on the dense output; then a step is made that ends there. For arguments see
`calls`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.calls import Y1, ModelCode, take, watch
from zwang._numerics.motion.dense_output import interpolate
from zwang._numerics.motion.run_layout import (
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
from zwang._numerics.motion.steps import extend, settle, trial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS = (0.0, 0.08488805186071652, 0.2655756032646429, 0.5, 0.7344243967353571, 0.9151119481392835, 1.0)
SAMPLES = 7  # of an interval, by Lobatto's rule, for watched quantities
ROOT = 1e-16  # relative: to the last bit of a double
NEVER = 2.0  # a place behind the end of a step, which is 1
NEAR = 0.3  # a parabola that comes this near to zero, relative to its ends, is followed
NOTHING = 1e-9  # of the largest value in the step
TOGETHER = 1e-12
"""Events closer than this part of a step, or of the time, are simultaneous."""
PATIENT = 8
"""Times in succession that a step is shortened to resolve a watched quantity; then it is passed as it is."""
FINEST = 1e-12
"""Steps below this part of the time are not shortened for it: what jumps is resolved by none."""


class Watched(NamedTuple):
    """What is watched.

    Attributes
    ----------
    sides, bands : (w,) arrays
        Sign that each quantity keeps (2: any crossing; 0: not watched), and what counts as zero.
    samples, keep : arrays
        Samples of the quantities, and room for a number of each.
    fired : (w,) int array
        Receives 1 for each quantity that crossed, or that is not finite.
    """

    sides: Floats
    bands: Floats
    samples: Floats
    keep: Floats
    fired: Ints


class Span(NamedTuple):
    """The step at hand: its start and its length."""

    t: float
    h: float


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
def value(model: ModelCode, room: Floats, span: Span, x: float, i: int) -> float:
    """Return quantity i at the part x of a step."""
    interpolate(model, room, x)
    watch(model, span.t + x * span.h)
    return model.out[i]  # type: ignore[no-any-return]


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
def dip(
    model: ModelCode,
    room: Floats,
    span: Span,
    i: int,
    side: float,
    band: float,
    x0: float,
    f0: float,
    x1: float,
    f1: float,
    x2: float,
    f2: float,
) -> tuple[float, float]:
    """Return a place between x0 and x2 where the quantity is on the wrong side and its value; NEVER if none is found.

    The three points are kept with the lowest in the middle, where there is such a middle.
    """
    for count in range(16):
        x, f = bottom(x0, f0, x1, f1, x2, f2)
        if x == x1 or (count == 0 and f > NEAR * max(f0, f1, f2)) or (count > 0 and f > band and f1 - f < 0.02 * f1):
            return NEVER, 0.0
        f = side * value(model, room, span, x, i)
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
def root(
    model: ModelCode, room: Floats, span: Span, i: int, side: float, x0: float, f0: float, x1: float, f1: float
) -> float:
    """Return where the quantity, positive at x0 and negative at x1, is zero (regula falsi with halving, bisection)."""
    last = 0
    for count in range(100):
        x = x1 - f1 * (x1 - x0) / (f1 - f0) if count % 4 != 3 else 0.5 * (x0 + x1)
        if not x0 < x < x1:
            x = 0.5 * (x0 + x1)
        if x1 - x0 <= ROOT * x1 or not x0 < x < x1:
            break
        f = side * value(model, room, span, x, i)
        if f > 0.0:  # the end that stays twice counts half: Illinois
            x0, f0, f1, last = x, f, 0.5 * f1 if last == 1 else f1, 1
        elif f < 0.0:
            x1, f1, f0, last = x, f, 0.5 * f0 if last == -1 else f0, -1
        else:
            return x
    return 0.5 * (x0 + x1)


@njit(_nrt=False)
def risen(
    model: ModelCode, room: Floats, span: Span, i: int, side: float, band: float, start: float, end: float, f_end: float
) -> tuple[float, float, float, float]:
    """Return a place between start and end where the quantity is above its band, and one after it where it is below.

    Each with its value; where there is none the first place is the start, with the value 0.
    """
    width = end - start
    for _ in range(50):
        width *= 0.5
        f = side * value(model, room, span, start + width, i)
        if f > band:
            return start + width, f, end, f_end
        if f < -band:
            end, f_end = start + width, f
        if width * abs(span.h) <= 1e-15 * abs(span.t):
            break
    return start, 0.0, end, f_end


@njit(_nrt=False)
def last_zero(
    model: ModelCode,
    room: Floats,
    span: Span,
    samples: Floats,
    count: int,
    i: int,
    side: float,
    j: int,
    x: float,
    f: float,
    x1: float,
    f1: float,
) -> float:
    """Return the last zero of quantity i before x1, where it is below its band; from x on it is not above it.

    Sample j is the first one after x. Without a positive sample inside the step it has left zero at x.
    """
    if j > 1 and f > 0.0:
        return root(model, room, span, i, side, x, f, x1, f1)
    for k in range(j - 1, 0, -1):
        before = side * samples[k * count + i]
        if before > 0.0 and POINTS[k] < x:
            return root(model, room, span, i, side, POINTS[k], before, x, f)
    return x


@njit(_nrt=False)
def crossing(
    model: ModelCode, room: Floats, span: Span, samples: Floats, count: int, i: int, side: float, band: float
) -> float:
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
            low, f_low = dip(model, room, span, i, side, band, x0, f0, x1, f1, POINTS[j + 1], f2)
            if low <= POINTS[j]:
                x1, f1 = low, f_low
            elif low < NEVER:
                x0, f0, x1, f1 = x1, f1, low, f_low
        if f1 < -band:
            if f0 <= band:  # it may have risen and come back since: look for a place where it is positive
                start, f_start = x0, f0
                x0, f0, x1, f1 = risen(model, room, span, i, side, band, x0, x1, f1)
                if f0 <= 0.0:
                    return last_zero(model, room, span, samples, count, i, side, j, start, f_start, x1, f1)
            return root(model, room, span, i, side, x0, f0, x1, f1)
        before = here
    return NEVER


@njit(_nrt=False)
def sample(model: ModelCode, room: Floats, watched: Watched, reals: Floats) -> bool:
    """Set samples 1 to 6 of a step; number 0 is the last one of the step before. False if one is not finite."""
    t, h, count = reals[TIME], reals[LENGTH], watched.sides.size
    good, out, samples = True, model.out, watched.samples
    for j in range(1, SAMPLES):
        if j < SAMPLES - 1:
            interpolate(model, room, POINTS[j])
            watch(model, t + POINTS[j] * h)
        else:
            take(model, room, Y1)
            watch(model, reals[END])
        for i in range(count):
            samples[j * count + i] = out[i]
            if watched.sides[i] != 0.0 and not abs(out[i]) < np.inf:
                watched.fired[i] = 1
                good = False
    return good


@njit(_nrt=False)
def arm(params: Floats, watched: Watched, counts: Ints) -> None:
    """Set the sign that each quantity keeps in this step: one that may cross either way keeps that of its start.

    A surface is watched also where the caller doesn't ask: its side stands among the parameters.
    """
    sides, bands, samples, keep = watched.sides, watched.bands, watched.samples, watched.keep
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
def locate(model: ModelCode, room: Floats, counts: Ints, reals: Floats, x: float, i: int) -> bool:
    """Step to the place near x where quantity i is zero; False where no step leads there.

    The dense output has said where; a step that ends there is made, and its end moved until the quantity is zero at
    the end itself, projected: the state has the full order of the method, and no error of the dense output.
    """
    t, h, near, out = reals[TIME], reals[LENGTH], 1e-4, model.out
    span = Span(t, h)
    slope = -value(model, room, span, x - near, i)
    slope = (slope + value(model, room, span, x + near, i)) / (2.0 * near)
    for count in range(4):
        reals[LENGTH], reals[END] = x * h, t + x * h
        if trial(model, room, t, x * h, reals[TOL]) < 0.0:
            return False
        if settle(model, room, t + x * h, counts, reals) != 0:
            return False
        take(model, room, Y1)
        watch(model, t + x * h)
        change = -out[i] / slope
        if abs(change) * h <= 1e-16 * abs(t) or abs(change) <= 1e-16 * x:
            break
        if count == 3 or not abs(change) < 1e-3 or not 0.0 < x + change <= 1.0:
            break
        x += change
    return extend(model, room, t, x * h) == 0


@njit(_nrt=False)
def shorten(counts: Ints, reals: Floats, factor: float) -> int:
    """Reject the step at hand."""
    counts[REJECTED] += 1
    counts[HELD_BACK] = 1
    reals[STEP] = factor * reals[LENGTH]
    return REACHED


@njit(_nrt=False)
def meet(model: ModelCode, room: Floats, watched: Watched, counts: Ints, reals: Floats) -> int:
    """Look for crossings in the step at hand, and cut it at the first.

    Returns PAUSED where there is none, CROSSED where only switching surfaces were crossed, FIRED, NOT_FINITE, or
    REACHED where the step must be made again, shorter.
    """
    t, h = reals[TIME], reals[LENGTH]
    samples, keep, bands = watched.samples, watched.keep, watched.bands
    if not sample(model, room, watched, reals):
        return NOT_FINITE
    arm(model.params, watched, counts)
    if not unresolved(samples, keep, bands):
        counts[BLURRED] = 0
    elif counts[BLURRED] < PATIENT and h > FINEST * abs(t):
        counts[BLURRED] += 1
        return shorten(counts, reals, 1.0 / 3.0)
    first, lead = NEVER, 0
    for i in range(keep.size):
        if keep[i] != 0.0:
            keep[i] = crossing(model, room, Span(t, h), samples, keep.size, i, keep[i], bands[i])
        else:
            keep[i] = NEVER
        if keep[i] < first:
            first, lead = keep[i], i
    if first > 1.0:
        return PAUSED
    if t + first * h == t:
        reals[END] = t
    elif not locate(model, room, counts, reals, first, lead):
        counts[CAUSE] = IRREGULAR
        return shorten(counts, reals, 0.25)
    return fire(model.params, watched, first + TOGETHER * max(1.0, abs(t) / h), counts)


@njit(_nrt=False)
def fire(params: Floats, watched: Watched, until: float, counts: Ints) -> int:
    """Note what has crossed up to that place; `keep` holds where each quantity crosses."""
    found, sides, keep = CROSSED, watched.sides, watched.keep
    first = sides.size - counts[SURFACES]
    for i in range(keep.size):
        if keep[i] <= min(until, 1.0):  # in a step as short as rounding of the time all that crosses is simultaneous
            if i >= first:
                place = counts[SIDES] + i - first
                params[place] = -params[place]
            if sides[i] != 0.0:
                watched.fired[i] = 1
                found = FIRED
    return found
