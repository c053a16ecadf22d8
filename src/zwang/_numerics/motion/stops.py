"""Where motions side by side are asked to stop: crossings seen in samples of a step, shut in by shorter steps.

A lane has no dense output: a quantity is sampled at the ends of a step and at three of its stages. One crossing of one
quantity is shut in by steps from the same start that end ever nearer to it; so its instant is as sharp as a step is.
What samples can't decide (two quantities in one step, a dip towards zero, a quantity that turns faster than they show)
is left to the loop of a single motion, which looks closer: see `events`.

All numbers of a lane stand in one block of an array, from `at` on, `stride` apart: SAMPLES rows of the quantities, the
side on which each was last (0: none yet), the direction in which each is crossed (0: any), and those named below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.events import NEAR, NOTHING, ROOT, bottom
from zwang._numerics.motion.tableau import C

Floats = NDArray[np.float64]

SAMPLED = (6, 9, 10)
"""Stages whose states are sampled: late ones, which are accurate."""
PLACES = (0.0, *(C[stage] for stage in SAMPLED), 1.0)
SAMPLES = len(PLACES)
"""Of a step: its ends, and the stages that are sampled."""
WHICH, LOW, LOW_VALUE, HIGH, HIGH_VALUE, LAST, COUNT, HUNT = range(8)
"""While a crossing is shut in: of which quantity (-1: of none), the instants around it with its values there (positive,
then negative), the end that moved last, the steps made for it; and how many numbers these are."""
PATIENCE = 80
"""Steps for one crossing; half of them would halve a step down to its last bit."""

CLEAR, GOING_ON, STOPPED, DOUBTFUL = range(4)
"""What a step showed: nothing; a crossing that is to be shut in further; the crossing; what samples can't decide."""


def block(events: int) -> int:
    """Return how many numbers a lane needs for so many quantities."""
    return (SAMPLES + 2) * events + HUNT


def _highest() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the weights of the samples that make the coefficients of Legendre's polynomials of degrees 3 and 4."""
    values = np.polynomial.legendre.legvander(2.0 * np.array(PLACES) - 1.0, SAMPLES - 1)
    weights = np.linalg.inv(values)[SAMPLES - 2 :]
    return tuple(weights[0].tolist()), tuple(weights[1].tolist())


THIRD, FOURTH = _highest()


@njit(_nrt=False)
def doubtful(room: Floats, at: int, step: int) -> bool:
    """Say whether samples (step apart) of a quantity that keeps its sign may hide a crossing."""
    low, high, third, fourth = abs(room[at]), abs(room[at]), 0.0, 0.0
    for s in range(SAMPLES):
        value = abs(room[at + s * step])
        low, high = min(low, value), max(high, value)
        third += THIRD[s] * value
        fourth += FOURTH[s] * value
    if low <= 2.0 * (high - low) and abs(third) + abs(fourth) > 0.1 * (high - low):
        return True
    for s in range(1, SAMPLES - 1):
        f0, f1, f2 = abs(room[at + (s - 1) * step]), abs(room[at + s * step]), abs(room[at + (s + 1) * step])
        x, f = bottom(PLACES[s - 1], f0, PLACES[s], f1, PLACES[s + 1], f2)
        if x != PLACES[s] and f < NEAR * max(f0, f1, f2):
            return True
    return False


@njit(_nrt=False)
def met(room: Floats, at: int, stride: int, events: int, t: float, h: float) -> int:
    """Say what the samples of a step of length h from t show; where they are CLEAR the next step may begin.

    A quantity within next to nothing of zero is on neither side; one that starts there takes the side that it goes to.
    """
    row, hunt = stride * events, at + stride * (SAMPLES + 2) * events
    crossed, place, old = -1, 0, 0.0
    for e in range(events):
        first = at + stride * e
        largest = 0.0
        for s in range(SAMPLES):
            if not abs(room[first + s * row]) < np.inf:
                return DOUBTFUL
            largest = max(largest, abs(room[first + s * row]))
        side, changes = room[first + SAMPLES * row], 0
        for s in range(SAMPLES):
            value = room[first + s * row]
            if abs(value) <= NOTHING * largest:
                continue
            now = 1.0 if value > 0.0 else -1.0
            if side != 0.0 and now != side:
                changes += 1
                wanted = room[first + (SAMPLES + 1) * row]
                if (wanted == 0.0 or wanted == now) and crossed != e:
                    if crossed >= 0 or changes > 1:
                        return DOUBTFUL
                    crossed, place, old = e, s, side
            side = now
        room[first + SAMPLES * row] = side
        if changes == 0 and doubtful(room, first, row):
            return DOUBTFUL
    if crossed < 0:
        for e in range(events):
            room[at + stride * e] = room[at + stride * e + (SAMPLES - 1) * row]
        return CLEAR
    start = old * room[at + stride * crossed]
    room[hunt + stride * WHICH] = crossed
    room[hunt + stride * LOW], room[hunt + stride * LOW_VALUE] = t, max(start, 1e-300)
    room[hunt + stride * HIGH] = t + max(PLACES[place], PLACES[1]) * h
    room[hunt + stride * LAST], room[hunt + stride * COUNT] = 0.0, 0.0
    room[at + stride * (SAMPLES * events + crossed)] = old
    return GOING_ON


@njit(_nrt=False)
def aim(room: Floats, hunt: int, stride: int) -> float:
    """Return the instant to try next: first the one by which the quantity has crossed, then where a line crosses."""
    low, high = room[hunt + stride * LOW], room[hunt + stride * HIGH]
    count = room[hunt + stride * COUNT]
    if count == 0.0:
        return high  # type: ignore[no-any-return]
    over, under = room[hunt + stride * LOW_VALUE], room[hunt + stride * HIGH_VALUE]
    t = high - under * (high - low) / (under - over)
    if not low < t < high or int(count) % 4 == 3:
        t = 0.5 * (low + high)
    return t  # type: ignore[no-any-return]


@njit(_nrt=False)
def narrow(room: Floats, at: int, stride: int, events: int, t: float) -> int:
    """Take the last sample, at t, into account: GOING_ON, STOPPED where t is the crossing, DOUBTFUL where none is."""
    hunt = at + stride * (SAMPLES + 2) * events
    e, count = int(room[hunt + stride * WHICH]), room[hunt + stride * COUNT]
    f = room[at + stride * (SAMPLES * events + e)] * room[at + stride * ((SAMPLES - 1) * events + e)]
    room[hunt + stride * COUNT] = count + 1.0
    if not abs(f) < np.inf or (count == 0.0 and f > 0.0):
        return DOUBTFUL  # a sample was mistaken
    if f == 0.0:
        return STOPPED
    side = 1.0 if f > 0.0 else -1.0
    again = room[hunt + stride * LAST] == side  # the end that stays twice counts half: Illinois
    if f > 0.0:
        room[hunt + stride * LOW], room[hunt + stride * LOW_VALUE] = t, f
        if again:
            room[hunt + stride * HIGH_VALUE] *= 0.5
    else:
        room[hunt + stride * HIGH], room[hunt + stride * HIGH_VALUE] = t, f
        if again:
            room[hunt + stride * LOW_VALUE] *= 0.5
    room[hunt + stride * LAST] = 0.0 if count == 0.0 else side
    low, high = room[hunt + stride * LOW], room[hunt + stride * HIGH]
    small = 4.0 * ROOT * max(abs(low), abs(high))
    if high - low <= small or abs(aim(room, hunt, stride) - t) <= small or count >= PATIENCE:
        return STOPPED
    return GOING_ON
