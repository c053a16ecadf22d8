"""Where a motion touches a switching surface from one side: it meets the event there that nearby motions miss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.variations import Jets, ModeVariations
from zwang._linearize.stretches import STAGES
from zwang._linearize.trail import PassedStretch
from zwang._simulate.watch import ANY

Array = NDArray[np.float64]
Watch = tuple[str, int]
TOUCHED = 1e-9
"""A watch that comes to this part of its largest value on a stretch, and turns round, touches zero."""
LOCAL = 1e-3
"""The same part of its values around: in what has died away, extrema are rounding or small themselves."""
NEAR = 0.3
"""Samples below this part of those around are looked at: the extremum between them may be zero."""
AROUND = 2 * STAGES  # samples on either side of an extremum: two steps
POINTS = 11  # of a polynomial between three samples: beyond the degree of dense output
_X = -np.cos(np.pi * np.arange(POINTS) / (POINTS - 1))
TO_SERIES = np.linalg.inv(np.polynomial.chebyshev.chebvander(_X, POINTS - 1))
"""From values in these points, between -1 and 1, to the coefficients of Chebyshev's polynomials."""
SLOPES = np.polynomial.chebyshev.chebvander(np.linspace(-1.0, 1.0, 8 * POINTS), POINTS - 2)
"""Where a slope is looked at: one that nowhere begins to rise has its least value at an end."""
JUMP = 1e-6
"""Part of the accelerations by which they differ on the two sides of a surface across which they jump."""
SHORT = 1e-12
"""Part of a stretch within which nothing is looked for."""
MARGIN = 1e-3
"""Part of the first and last steps at which a stretch may begin and end on a surface, at a rate of zero."""


def touches(stretch: PassedStretch, made: ModeVariations, nodes: Array, jets: Jets) -> list[tuple[float, Watch]]:
    """Return the times within a stretch at which a watch touches zero, and which, in order.

    Parameters
    ----------
    nodes : (B,) array
        Times of the samples.
    jets : Jets
        Everything there.
    """
    found = []
    for row, (watch, side) in enumerate(zip(made.watches, stretch.sides, strict=True)):
        if side == 0.0:
            continue
        value = jets.value[made.watched][row]
        for sign in (1.0, -1.0) if side == ANY else (side,):
            for time in _touches(stretch, made, row, sign, (nodes, value), side == ANY):
                if watch[0] != "surface" or _forces_jump(stretch, made, watch[1], time):
                    found.append((time, watch))
    return sorted(found)


def _touches(
    stretch: PassedStretch, made: ModeVariations, row: int, sign: float, sampled: tuple[Array, Array], crosses: bool
) -> list[float]:
    """Return the times at which a watch, times a sign, has a minimum of zero; one that crosses may have lower ones."""
    nodes, height = sampled[0], sign * sampled[1]
    ends = np.concatenate([[np.inf], height, [np.inf]])
    low = np.flatnonzero((height < ends[:-2]) & (height <= ends[2:]))
    largest = float(np.abs(height).max(initial=0.0))
    times = np.concatenate([[stretch.t[0]], nodes, [stretch.t[-1]]])
    found = []
    for k in low.tolist():
        if times[k + 2] - times[k] <= SHORT * (stretch.t[-1] - stretch.t[0]):
            continue  # a step of rounding's size, at the start
        around = float(np.abs(height[max(0, k - AROUND) : k + AROUND + 1]).max())
        if (abs(height[k]) > NEAR * around and height[k] > 0) or (crosses and height[k] < -TOUCHED * largest):
            continue
        time, least = _minimum(stretch, made, row, sign, (float(times[k]), float(times[k + 2])))
        margins = MARGIN * np.diff(stretch.t)[[0, -1]]
        if not stretch.t[0] + margins[0] < time < stretch.t[-1] - margins[1]:
            continue
        depth = abs(least) if crosses else least
        if depth <= TOUCHED * largest and depth <= LOCAL * around:
            found.append(time)
    return found


def _minimum(
    stretch: PassedStretch, made: ModeVariations, row: int, sign: float, between: tuple[float, float]
) -> tuple[float, float]:
    """Return where a watch, times a sign, has its minimum between two times, and its value there."""
    middle, half = sum(between) / 2, (between[1] - between[0]) / 2
    times = middle + half * _X
    values = sign * made.jets(times, *stretch.states(times), stretch.params).value[made.watched][row]
    series = TO_SERIES @ values
    slope = np.polynomial.chebyshev.chebder(series)
    falls = SLOPES @ slope < 0.0
    inside = np.zeros(0)
    if (falls[:-1] & ~falls[1:]).any():
        turns = np.polynomial.chebyshev.chebroots(slope)
        inside = turns.real[(np.abs(turns.imag) <= 1e-6) & (np.abs(turns.real) < 1.0)]
    places = np.concatenate([times, middle + half * inside])
    heights = np.concatenate([values, np.polynomial.chebyshev.chebval(inside, series)])
    best = int(np.argmin(heights))
    return float(places[best]), float(heights[best])


def _forces_jump(stretch: PassedStretch, made: ModeVariations, surface: int, time: float) -> bool:
    """Say whether accelerations jump across a switching surface: where they only bend, nearby motions stay close."""
    other = stretch.params.copy()
    place = len(stretch.context.params) + surface  # behind the parameters come the sides
    other[place] = -other[place]
    at = (np.array([time]), *stretch.states(np.array([time])))
    here, there = (made.jets(*at, params).value[made.accelerations, 0] for params in (stretch.params, other))
    return bool(np.abs(there - here).max(initial=0.0) > JUMP * np.abs(here).max(initial=0.0))
