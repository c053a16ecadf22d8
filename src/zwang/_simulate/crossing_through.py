"""The way through a singular point of any mechanism: many loops, many degrees of freedom, no list of its branches.

Let the rows J lose rank r at a point, with U spanning the left null space and V the kernel, and let the motion arrive
with the velocity v. If the matrix U^T (dJ/dv) V has rank r, the configurations that leave the point along v are one
smooth sheet: with q = q* + s (v + w), the equations divided by s, and on U by s^2, have v as a regular solution, so
the implicit function theorem gives w(s). Then the motion itself is smooth through the point, and it is found by
collocation at nodes none of which lies there. Otherwise second derivatives do not tell the sheets apart, and it stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from zwang._kernels.independence import Independence, settled
from zwang._numerics.motion.chebyshev import NODES, Arc, collocate
from zwang._simulate.held_rows import held_rows

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]
ROUGH = 1e-7
"""Last coefficients of the acceleration on an arc, relative to the largest, up to which it is taken for smooth."""
OFF = 1e-9
"""Distance between an arc and what is held, relative to the size of the coordinates."""
DROPPED = 1e-6
"""Singular values of the rows, in units of their lengths nearby, that count as zero at the point."""
REGULAR = 1e-4
"""Least singular value of U^T (dJ/dv) V with which one sheet leaves along v, relative to the change of all rows."""
NUDGE = 1e-3
"""Part of the way over which the rows are looked at in which their derivative is taken."""
STEP = 0.1
"""Part of the size of the coordinates over which the rows are looked at where a motion starts."""


@dataclass(frozen=True)
class Point:
    """A singular point on an arc.

    Attributes
    ----------
    time : float
    q, v : (n,) arrays
    drop : int
        By how much the rank of the rows drops there.
    one_sheet : bool
        Whether the configurations that leave it along v are one smooth sheet.
    """

    time: float
    q: Array
    v: Array
    drop: int
    one_sheet: bool


def arc_across(driver: Driver, time: float, half: float, q: Array, v: Array, guess: Array) -> Arc | None:
    """Return the motion from time - half to time + half, rows being dependent at the time; None if it is not smooth."""
    land = _Landing(driver, time - half, q, v)
    found = collocate(time, half, q, v, guess, land)
    if found is None:
        return None
    arc, off = found
    smooth = arc.roughness() <= ROUGH and off <= OFF * (1.0 + float(np.abs(q).max()))
    return arc if smooth else None


class _Landing:
    """Puts states on what the mode at hand holds."""

    def __init__(self, driver: Driver, t: float, q: Array, v: Array) -> None:
        self.moving, self.params = driver.moving, driver.ground.params
        self.branches = self.moving.branches(t, q, v, self.params)

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array, Array] | None:
        q, v, a, sound = settled(self.moving, t, q, v, self.params, self.branches)
        return (q, v, a) if sound and np.isfinite(a).all() else None


def extrapolated(times: Array, accelerations: Array, wanted: Array) -> Array:
    """Return accelerations (k, n) at wanted times from those (j, n) at times before, by a cubic through them."""
    middle, half = float(times.mean()), float(np.ptp(times)) / 2.0 or 1.0
    degree = min(3, len(times) - 1)
    series = chebyshev.chebfit((times - middle) / half, accelerations, degree)
    return np.asarray(chebyshev.chebval((wanted - middle) / half, series).T)


def point_on(driver: Driver, arc: Arc, near: float) -> Point | None:
    """Return the singular point on an arc next to a time; None where the rows stay independent.

    det(J M^-1 J^T) is (t - t*)^(2 k) times a smooth function, so that its 2k-th root with the sign of t - t* is smooth,
    and t* is the zero of the polynomial through its values at the nodes.
    """
    measure = Independence.of(driver.moving, driver.ground.params, _no_surfaces(driver))
    if measure is None:
        return None
    times = arc.times
    values = np.array([measure.at(float(time), arc.at(float(time))[0])[0] for time in times])
    time = near
    for _ in range(4):
        power = _power(times - time, values)
        if power < 1:
            break
        signed = np.sign(times - time) * np.exp((values - values.max()) / (2.0 * power))
        series = chebyshev.chebfit(NODES, signed, len(NODES) - 1)
        roots = chebyshev.chebroots(series)
        real = roots[np.abs(roots.imag) < 1e-6].real
        if not len(real):
            break
        new = arc.middle + arc.half * float(real[int(np.argmin(np.abs(arc.middle + arc.half * real - time)))])
        moved, time = abs(new - time), new
        if moved <= 1e-15 * max(abs(time), arc.half):
            break
    q, v, _ = arc.at(time)
    return _described(driver, time, q, v, arc.half)


def _power(distances: Array, values: Array) -> int:
    """Return half the power of the distance with which exp(values) vanishes, rounded."""
    order = np.argsort(np.abs(distances))[: len(distances) // 2]
    slope = np.polyfit(np.log(np.abs(distances[order])), values[order], 1)[0]
    return round(float(slope) / 2.0)


def point_at(driver: Driver, t: float, q: Array, v: Array) -> Point | None:
    """Return the singular point at a state; None where the rows are independent there."""
    speed = float(np.abs(v).max(initial=0.0))
    size = float(np.abs(q).max(initial=0.0)) or 1.0
    return _described(driver, t, q, v, STEP * size / speed if speed else 0.0)


def _described(driver: Driver, time: float, q: Array, v: Array, span: float) -> Point | None:
    """Return the point at a state, from the rows there and within a span of time before and after it."""
    around = [held_rows(driver, time, q + side * span * v) for side in (-1.0, 1.0)]
    here = held_rows(driver, time, q)
    lengths = np.maximum(np.maximum(around[0].lengths, around[1].lengths), here.lengths)
    left, values, right = np.linalg.svd(here.scaled(lengths))
    rank = int(np.count_nonzero(values > DROPPED))
    if rank == len(lengths):
        return None
    change = max(float(np.linalg.norm(rows.scaled(lengths) - here.scaled(lengths), 2)) for rows in around)
    near = [held_rows(driver, time, q + side * NUDGE * span * v).scaled(lengths) for side in (-1.0, 1.0)]
    bend = left[:, rank:].T @ (near[1] - near[0]) @ right[rank:].T / (2.0 * NUDGE)
    one = span > 0.0 and float(np.linalg.svd(bend, compute_uv=False)[-1]) > REGULAR * change
    return Point(time, q, v, len(lengths) - rank, one)


def _no_surfaces(driver: Driver) -> Array:
    return np.ones(driver.moving.kernels.surfaces)
