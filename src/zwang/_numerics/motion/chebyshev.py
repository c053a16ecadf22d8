"""Second-order equations on an interval by collocation at Chebyshev's points, its middle and its ends left out.

The solution may be smooth through a place where the equations cannot be evaluated: no node lies there, and the
polynomial through the nodes is the solution there too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[np.float64]
COUNT = 16  # points of an interval: degree fifteen, which a step of order eight doesn't exceed
NODES = -np.cos((2.0 * np.arange(COUNT) + 1.0) * np.pi / (2.0 * COUNT))
"""On (-1, 1), in the order of time, even in number: none is 0."""
_FIT = np.linalg.inv(chebyshev.chebvander(NODES, COUNT - 1))
ROUNDS = 80  # of Picard's iteration, which contracts on a short interval


@dataclass(frozen=True)
class Arc:
    """A motion on an interval of time as Chebyshev series of position (d, n), velocity and acceleration."""

    middle: float
    half: float
    q: Array
    v: Array
    a: Array

    @property
    def start(self) -> float:
        """When it begins."""
        return self.middle - self.half

    @property
    def end(self) -> float:
        """When it ends."""
        return self.middle + self.half

    @property
    def times(self) -> Array:
        """The instants of the nodes."""
        return np.asarray(self.middle + self.half * NODES)

    def at(self, time: float | Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at a time (n,), or at times (k, n)."""
        x = (np.asarray(time, dtype=float) - self.middle) / self.half
        q, v, a = (np.moveaxis(chebyshev.chebval(x, part), 0, -1) for part in (self.q, self.v, self.a))
        return np.asarray(q), np.asarray(v), np.asarray(a)

    def roughness(self) -> float:
        """Return the size of the last three coefficients of the acceleration, relative to what there is of motion."""
        size = max(float(np.abs(self.a).max()) * self.half, float(np.abs(self.v).max()), 1e-300)
        return float(np.abs(self.a[-3:]).max()) * self.half / size


def arc_of(middle: float, half: float, q: Array, v: Array, a: Array) -> Arc:
    """Return the arc that starts with q and v and has the accelerations a (16, n) at the nodes."""
    series = _FIT @ a
    speed: Array = half * np.asarray(chebyshev.chebint(series, lbnd=-1), dtype=np.float64)
    speed[0] += v
    place: Array = half * np.asarray(chebyshev.chebint(speed, lbnd=-1), dtype=np.float64)
    place[0] += q
    return Arc(middle, half, place, speed, series)


def collocate(
    middle: float,
    half: float,
    q: Array,
    v: Array,
    guess: Array,
    land: Callable[[float, Array, Array], tuple[Array, Array, Array] | None],
) -> tuple[Arc, float] | None:
    """Return the motion on an interval from its start, and how far it is off what it is put on; None without one.

    Parameters
    ----------
    middle, half : float
        The interval is middle - half to middle + half.
    q, v : (n,) arrays
        At its start.
    guess : (16, n) array
        Accelerations at the nodes.
    land : callable
        (t, q, v) near the solution -> positions and velocities on what is held, accelerations there; None if it fails.
    """
    a, times = np.array(guess), middle + half * NODES
    before = np.inf
    for _ in range(ROUNDS):
        arc = arc_of(middle, half, q, v, a)
        at, speed, _ = arc.at(times)
        new, off = np.empty_like(a), 0.0
        for k, time in enumerate(times):
            landed = land(float(time), at[k], speed[k])
            if landed is None:
                return None
            new[k] = landed[2]
            off = max(off, float(np.abs(landed[0] - at[k]).max()))
        change = float(np.abs(new - a).max())
        a = new
        size = float(np.abs(v).max()) / half + float(np.abs(a).max())
        if change <= 1e-14 * size or (change <= 1e-8 * size and change >= 0.5 * before):
            return arc_of(middle, half, q, v, a), off
        if not np.isfinite(change) or change > 1e6 * size:
            return None
        before = change
    return None
