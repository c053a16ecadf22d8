"""Where the rows that a motion holds come near to depending on each other: dips of log det(J M^-1 J^T) on its way.

The determinant falls to zero at a singular point of the configuration space, like a power of the distance, so that its
logarithm falls without bound: samples of it have a minimum there however far apart they are. Minima are followed to
the bottom on the dense output. A dip without a bottom is a singular point; one that has a bottom is a place where the
motion passes one at a distance, or turns back before it. Steps that become ever shorter in front of such a point never
come out of the dip: then its end is what they reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.independence import Independence
from zwang._kernels.stretch import Stretch
from zwang._simulate.held_rows import HeldRows, held_rows

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]
GOLDEN = (3.0 - 5.0**0.5) / 2.0
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
CRAWL = 1e-3
"""Part of the longest step that steps make on the average where they crawl."""
STUCK = ("STEP_TOO_SMALL", "IRREGULAR", "NOT_FINITE")


@dataclass(frozen=True)
class Dip:
    """A place where the rows become dependent: its time, and times before and after it where they are not."""

    time: float
    before: float
    after: float


class Lookout:
    """Looks over the steps of a motion, stretch by stretch.

    Attributes
    ----------
    earlier : Stretch or None
        The stretch before the one at hand, where a dip may have begun.
    fallen : float
        How far the logarithm was below its largest value when it was last seen.
    """

    def __init__(self) -> None:
        self._held: tuple[int, ...] | None = None
        self._top: tuple[float, HeldRows] | None = None
        self._longest = 0.0
        self.forget()

    def forget(self) -> None:
        """Begin anew: the motion has gone on from elsewhere."""
        self.earlier: Stretch | None = None
        self._times, self._values = np.zeros(0), np.zeros(0)
        self.fallen = 0.0

    def look(self, driver: Driver, found: Stretch) -> Dip | None:
        """Return the first singular point that a stretch passes or ends at, None if there is none."""
        held = driver.moving.mode.held
        if held != self._held:
            self._held, self._top = held, None
            self.forget()
        measure = Independence.of(driver.moving, driver.ground.params, found.branches)
        if measure is None or len(found.t) < 2 or not len(found.dense):
            return None
        times, values = measure.along(found)
        self._raise(driver, found, times, values)
        earlier = self.earlier
        if earlier is not None:
            times, values = np.append(self._times, times[1:]), np.append(self._values, values[1:])
        assert self._top is not None
        self.fallen = self._top[0] - float(values[-1])
        stuck = found.status in STUCK or self._crawls(found)
        for peak, k, passed in troughs(values):
            if passed or stuck:
                position, deep = _positions(earlier, found), BOTTOMLESS if passed else NEARLY
                dip = self._followed(driver, measure, position, times, values, k, peak, deep)
                if dip is not None:
                    return dip
        begun = max(len(found.dense) * 6 + 1, 1)
        self.earlier, self._times, self._values = found, times[-begun:], values[-begun:]
        return None

    def _crawls(self, found: Stretch) -> bool:
        """Say whether a whole stretch of steps makes no way, where the rows are nearly dependent.

        Near a singular point errors of rounding grow with the multipliers; where they exceed the tolerance, steps
        shrink until they are met, and may never fail.
        """
        steps = np.diff(found.t)
        self._longest = max(self._longest, float(steps.max()))
        short = float(found.t[-1] - found.t[0]) < CRAWL * self._longest * len(steps)
        return found.status == "PAUSED" and short and self.fallen > -2.0 * np.log(NEARLY)

    def _raise(self, driver: Driver, found: Stretch, times: Array, values: Array) -> None:
        """Remember the rows where they were most independent."""
        best = int(np.argmax(values))
        if self._top is None or values[best] > self._top[0] + 1.0:
            time = float(times[best])
            self._top = float(values[best]), held_rows(driver, time, found.at(time)[0])

    def _followed(self, driver: Driver, measure: Independence, position: Callable[[float], Array], times: Array,
                  values: Array, k: int, first: int, deep: float) -> Dip | None:  # fmt: skip
        """Return the dip whose lowest sample is number k if it has no bottom."""
        left, right = max(k - 1, 0), min(k + 1, len(times) - 1)
        best = float(times[k])
        if left < k < right:
            ends = min(float(values[left]), float(values[right])), float(values[first])
            best, value = lowest_between(measure, position, times[left : right + 1], float(values[k]), ends)
            if values[first] - value < -np.log(deep):  # half of what the least singular value squared would fall
                return None
        assert self._top is not None
        top = self._top[1]
        at = held_rows(driver, best, position(best))
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
