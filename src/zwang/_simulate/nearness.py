"""Where the rows that a motion holds come near to depending on each other: dips of log det(J M^-1 J^T) on its way.

The determinant falls to zero at a singular point of the configuration space, like a power of the distance, so that its
logarithm falls without bound: samples of it have a minimum there however far apart they are. Minima are followed to
the bottom on the dense output. A dip without a bottom is a singular point; one that has a bottom is a place where the
motion passes one at a distance, or turns back before it. Steps that become ever shorter in front of such a point never
come out of the dip: then its end is what they reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.independence import Independence, settled
from zwang._kernels.mode_motion import Moving
from zwang._kernels.stretch_output import IRREGULAR, NOT_FINITE, PAUSED, STEP_TOO_SMALL, Stretch
from zwang._simulate.ground import Ground

Array = NDArray[np.float64]
GOLDEN = (3.0 - 5.0**0.5) / 2.0  # the golden section
MOST = 64
"""Steps of golden section after which the bottom is found."""
LOW = 1.0
"""What the logarithm falls from the last peak to the lowest sample of a dip that is followed to its bottom, and rises
from there where the bottom has been passed."""
FIRST, STEEP, DEEP = 10, 3.0, 14.0
"""Steps of golden section after which a dip is left alone that has fallen by less than this between its samples, and
less than that from its peak."""
BOTTOMLESS = 1e-5
"""Part to which the least singular value of the rows falls at a singular point, from where it was largest."""
NEARLY = 1e-2
"""The same where the steps could not go on."""
OFF = 1e-3
"""How far off a motion may be, relative to the positions, to be moved back onto what it holds."""
CRAWL = 1e-3
"""Part of the longest step that steps make on the average where they crawl."""
STUCK = (STEP_TOO_SMALL, IRREGULAR, NOT_FINITE)


@dataclass(frozen=True)
class HeldRows:
    """Rows (m, n) with the coordinates in units of the square roots of their masses; numbers of their normals."""

    rows: Array
    numbers: tuple[int, ...]

    @property
    def lengths(self) -> Array:
        """The length of each row."""
        return np.asarray(np.linalg.norm(self.rows, axis=1))

    def scaled(self, lengths: Array) -> Array:
        """Return the rows in units of given lengths."""
        return np.asarray(self.rows / np.where(lengths > 0.0, lengths, 1.0)[:, None])

    def least(self, lengths: Array) -> float:
        """Return the least singular value of the rows in units of given lengths."""
        return float(np.linalg.svd(self.scaled(lengths), compute_uv=False)[-1])


def held_rows(ground: Ground, held: tuple[int, ...], t: float, q: Array) -> HeldRows:
    """Return those of the rows that a mode holds which are on positions."""
    table = ground.table
    positions = (j for j in held if table.places[table.of_normal(j)].on_position)
    return rows_held(ground, tuple(positions), t, q)


def rows_held(ground: Ground, held: tuple[int, ...], t: float, q: Array) -> HeldRows:
    """Return the rows of normals of these numbers."""
    terms = ground.terms(t, q, np.zeros(len(q)))
    masses = np.diagonal(terms.mass[:, :, 0])
    largest = float(masses.max(initial=0.0)) or 1.0
    units = 1.0 / np.sqrt(np.where(masses > 1e-12 * largest, masses, largest))
    return HeldRows(terms.rows[list(held), :, 0] * units, held)


@dataclass(frozen=True)
class Dip:
    """A place where the rows become dependent: its time, and times before and after it where they are not."""

    time: float
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Nearness:
    """What a motion knows of how nearly its rows depend on each other, stretch by stretch.

    Attributes
    ----------
    earlier : Stretch or None
        The stretch before the one at hand, where a dip may have begun.
    fallen : float
        How far the logarithm was below its largest value when it was last seen.
    held, top : tuple
        The rows it speaks of, and where they were most independent: the logarithm, and the rows.
    longest : float
        Of all steps.
    times, values : arrays
        Samples of the logarithm over the stretch before.
    """

    earlier: Stretch | None = None
    fallen: float = 0.0
    held: tuple[int, ...] | None = None
    top: tuple[float, HeldRows] | None = None
    longest: float = 0.0
    times: Array = field(default_factory=lambda: np.zeros(0))
    values: Array = field(default_factory=lambda: np.zeros(0))

    def forget(self) -> Nearness:
        """Begin anew: the motion has gone on from elsewhere."""
        return Nearness(held=self.held, top=self.top, longest=self.longest)

    def look(self, ground: Ground, moving: Moving, found: Stretch) -> tuple[Nearness, Dip | None]:
        """Return what is known after a stretch, and the first singular point that it passes or ends at, if any."""
        near = self
        if moving.mode.held != near.held:
            near = Nearness(held=moving.mode.held, longest=near.longest)
        measure = Independence.of(moving, ground.params, found.branches)
        if measure is None or len(found.t) < 2 or not len(found.dense):
            return near, None
        times, values = measure.along(found)
        near, top = near._risen(ground, found, times, values)
        earlier = near.earlier
        if earlier is not None:
            times, values = np.append(near.times, times[1:]), np.append(near.values, values[1:])
        near = replace(near, fallen=top[0] - float(values[-1]))
        if found.status not in STUCK:
            near, stuck = near._crawling(found)
        else:
            stuck = True
        for peak, k, passed in troughs(values):
            if passed or stuck:
                position = _settled_positions(_positions(earlier, found), moving, ground.params, found.branches)
                deep = BOTTOMLESS if passed else NEARLY
                dip = _followed(ground, top[1], measure, position, times, values, k, peak, deep)
                if dip is not None:
                    return near, dip
        begun = max(len(found.dense) * 6 + 1, 1)
        return replace(near, earlier=found, times=times[-begun:], values=values[-begun:]), None

    def _crawling(self, found: Stretch) -> tuple[Nearness, bool]:
        """Say whether a whole stretch of steps makes no way, where the rows are nearly dependent.

        Near a singular point errors of rounding grow with the multipliers; where they exceed the tolerance, steps
        shrink until they are met, and may never fail.
        """
        steps = np.diff(found.t)
        longest = max(self.longest, float(steps.max()))
        short = float(found.t[-1] - found.t[0]) < CRAWL * longest * len(steps)
        crawls = found.status == PAUSED and short and self.fallen > -2.0 * np.log(NEARLY)
        return replace(self, longest=longest), crawls

    def _risen(
        self, ground: Ground, found: Stretch, times: Array, values: Array
    ) -> tuple[Nearness, tuple[float, HeldRows]]:
        """Remember the rows where they were most independent."""
        best = int(np.argmax(values))
        if self.top is not None and values[best] <= self.top[0] + 1.0:
            return self, self.top
        time = float(times[best])
        assert self.held is not None  # `look` has set it
        top = float(values[best]), held_rows(ground, self.held, time, found.at(time)[0])
        return replace(self, top=top), top


def _followed(ground: Ground, top: HeldRows, measure: Independence, position: Callable[[float], Array], times: Array,
              values: Array, k: int, first: int, deep: float) -> Dip | None:  # fmt: skip
    """Return the dip whose lowest sample is number k if it has no bottom."""
    left, right = max(k - 1, 0), min(k + 1, len(times) - 1)
    best = float(times[k])
    if left < k < right:
        ends = min(float(values[left]), float(values[right])), float(values[first])
        best, value = lowest_between(measure, position, times[left : right + 1], float(values[k]), ends)
        if values[first] - value < -np.log(deep):  # half of what the least singular value squared would fall
            return None
    at = rows_held(ground, top.numbers, best, position(best))
    if at.least(top.lengths) > deep * top.least(top.lengths):
        return None
    before = min(float(times[first]), float(times[left]))
    return Dip(best, before, float(times[right]))


def troughs(values: Array) -> list[tuple[int, int, bool]]:
    """Return the peak before it, the lowest sample, and whether it was passed, of each trough that is deep enough.

    Values fall by `LOW` from the peak to the lowest sample, and rise as much after it where it was passed.
    """
    found = []
    peak = low = 0
    for k, value in enumerate(values):
        if value < values[low]:
            low = k
        elif value > values[low] + LOW and values[peak] - values[low] > LOW:
            found.append((peak, low, True))
            peak = low = k
        if value >= values[peak]:
            peak = low = k
    if values[peak] - values[low] > LOW:
        found.append((peak, low, False))
    return found


def _positions(earlier: Stretch | None, found: Stretch) -> Callable[[float], Array]:
    """Return the positions at a time of a stretch or of the one before it."""
    start = float(found.t[0])

    def position(time: float) -> Array:
        return earlier.at(time)[0] if earlier is not None and time < start else found.at(time)[0]

    return position


def _settled_positions(
    position: Callable[[float], Array], moving: Moving, params: Array, branches: Array
) -> Callable[[float], Array]:
    """Return positions on what is held: a motion that is off it by its tolerance misses the point by the root of that.

    Where no way leads back they are those of the motion.
    """

    def on(time: float) -> Array:
        q = position(time)
        found, _, _, _ = settled(moving, time, q, np.zeros(len(q)), params, branches)
        near = np.abs(found - q).max() <= OFF * (np.abs(q).max() + 1e-300)
        return found if near else q

    return on


def lowest_between(
    measure: Independence, position: Callable[[float], Array], times: Array, value: float, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return time and value of the lowest place between samples, by golden section; soon where it is ordinary.

    `ends` are the lower one of the samples beside the lowest, and the peak before it.
    """
    low, best, high = (float(time) for time in times)
    for count in range(MOST):
        if count == FIRST and ends[0] - value < STEEP and ends[1] - value < DEEP:
            break
        left = best - low > high - best
        new = best - GOLDEN * (best - low) if left else best + GOLDEN * (high - best)
        if not low < new < high or new == best:
            break
        here = measure.at(new, position(new))[0]
        if here < value:
            low, best, high, value = (low, new, best, here) if left else (best, new, high, here)
        elif left:
            low = new
        else:
            high = new
    return best, value
