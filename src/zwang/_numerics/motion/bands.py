"""What counts as zero for each watched quantity: the rounding of its terms, and how far it may dip without having met.

Two looks, the larger one counts: what a nudge of the state does to the quantity, times the rounding of numbers; and the
size of its terms, with the largest coordinates, velocities and accelerations so far, since a gap that is zero where all
coordinates are zero has the rounding of its way there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]

GAP, VALUE, NORMAL, SLIP, SPEED, RESERVE, OTHER = range(7)
"""What a watched quantity is."""
BAND = 1e-13  # relative: what rounding makes of an expression that vanishes
NUDGE = 1e-7  # relative; the root of a double's precision: half of the digits measure the slope
SMALL = 0.05  # a coordinate or velocity counts as no smaller than this part of the largest of its kind, or of the usual
ROUNDING = 1e-13
"""Of a quantity, relative to its terms."""
GRAZING = 0.5
"""Part of the tolerance by which a gap, a one-sided velocity or a slip may dip through zero without having met it."""


class WatchRows(NamedTuple):
    """Which rows the watched quantities go with.

    Attributes
    ----------
    kinds : (w,) array
    first, components : (w,) arrays
        The first normal or slip component of each, and how many there are.
    factors : (w,) array
        By which its band is wider than rounding makes it.
    """

    kinds: Ints
    first: Ints
    components: Ints
    factors: Floats


class WaySizes(NamedTuple):
    """What tolerances are relative to.

    Attributes
    ----------
    largest : (3, n) array
        Coordinates, velocities and accelerations so far.
    moves : (n,) array
        0 for angles, whose size is 1 whatever they are; else 1.
    usual : (2, n) array
        Characteristic sizes of coordinates and velocities.
    gap, rate, slip : (m,), (m,), (s,) arrays
        The least sizes of gaps, rates and slips.
    """

    largest: Matrix
    moves: Floats
    usual: Matrix
    gap: Floats
    rate: Floats
    slip: Floats


class DenseTerms(NamedTuple):
    """Terms of the equations at one state: mass (n, n), forces (n,), rows of the normals (m, n) and slips (s, n)."""

    mass: Matrix
    force: Floats
    rows: Matrix
    slip_rows: Matrix


@njit(_nrt=False)
def _largest(values: Floats, kinds: Floats, kind: float) -> float:
    """Return the largest of the values of one kind, as `moves` tells them apart."""
    found = 0.0
    for i in range(values.size):
        if kinds[i] == kind:
            found = max(found, abs(values[i]))
    return found


@njit("void(int64, int64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1], float64[::1], "
      "float64[:, ::1], float64[::1])")  # fmt: skip
def nudged(watch: int, table: Ints, work: Floats, params: Floats, t: float, q: Floats, v: Floats, moves: Floats,
           usual: Matrix, bands: Floats) -> None:  # fmt: skip
    """Write what rounding of the state does to each watched quantity, with a margin; `watch` is an address.

    `moves` and `usual` are those of `WaySizes`: lengths are compared with lengths, angles with angles.
    """
    n, w = q.size, bands.size
    here, moved, total = np.zeros(w + 1), np.zeros(w + 1), np.zeros(w)
    place, speed, far, fast = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    call_kernel(watch, t, q, v, params, table, work, here)
    for i in range(n):
        far[i] = max(abs(q[i]), SMALL * max(_largest(q, moves, moves[i]), usual[0, i]))
        fast[i] = max(abs(v[i]), SMALL * max(_largest(v, moves, moves[i]), usual[1, i]))
    for k in range(w):
        total[k] = abs(here[k])
    for turn in range(2):
        for i in range(n):
            sign = 1.0 if i % 2 == 0 else -1.0
            if turn == 1:
                sign = (1.0 if (i - 1) % n % 2 == 0 else -1.0) * (-1.0 if i % 3 == 0 else 1.0)
            speed[i] = v[i] + NUDGE * sign * fast[i]
            place[i] = q[i] + NUDGE * sign * far[i] + t * NUDGE * v[i]
        call_kernel(watch, t * (1.0 + NUDGE), place, speed, params, table, work, moved)
        for k in range(w):
            change = abs(moved[k] - here[k]) / NUDGE
            if total[k] == total[k] and not change <= total[k]:  # dependent rows are infinitely close here and there
                total[k] = change
    for k in range(w):
        bands[k] = BAND * (total[k] if total[k] < np.inf else 0.0) + 1e-300


@njit(_nrt=False)
def _pull(terms: DenseTerms, sizes: WaySizes, row: Floats) -> float:
    """Return the size of the force along a row that balances all forces on it."""
    spread, pull = 0.0, 0.0
    for i in range(row.size):
        mass = terms.mass[i, i]
        spread += row[i] * row[i] * (1.0 / mass)
        pull += abs(row[i]) * ((abs(terms.force[i]) + mass * sizes.largest[2, i]) / mass)
    return pull / spread if spread > 0.0 else 0.0


@njit(_nrt=False)
def gap_size(sizes: WaySizes, j: int, row: Floats) -> float:
    """Return what the value of normal j on positions is compared with."""
    total = sizes.gap[j]
    for i in range(row.size):
        total += abs(row[i]) * sizes.moves[i] * sizes.largest[0, i]
    return total  # type: ignore[no-any-return]


@njit(_nrt=False)
def speed_size(sizes: WaySizes, least: float, row: Floats) -> float:
    """Return what a rate or a slip is compared with; `least` is its least size."""
    total = least
    for i in range(row.size):
        total += abs(row[i]) * sizes.largest[1, i]
    return total


@njit(_nrt=False)
def way_size(sizes: WaySizes, level: int, row: Floats, t: float) -> float:
    """Return the size of the terms of a row on the way: of positions (level 0) or velocities (1)."""
    total = 0.0
    for i in range(row.size):
        total += abs(row[i]) * (sizes.largest[level, i] + abs(t) * sizes.largest[level + 1, i])
    return total


@njit("void(float64, float64, WatchRows, DenseTerms, WaySizes, float64[::1])")
def widen(t: float, tol: float, rows: WatchRows, terms: DenseTerms, sizes: WaySizes, bands: Floats) -> None:
    """Make bands at least as wide as the rounding of the terms of each quantity, and as grazing allows."""
    for k in range(bands.size):
        kind = rows.kinds[k]
        if kind == OTHER:
            continue
        size = shallow = 0.0
        for c in range(rows.first[k], rows.first[k] + rows.components[k]):
            if kind == GAP:
                size, shallow = way_size(sizes, 0, terms.rows[c], t), gap_size(sizes, c, terms.rows[c])
            elif kind == VALUE:
                size = way_size(sizes, 1, terms.rows[c], t)
                shallow = speed_size(sizes, sizes.rate[c], terms.rows[c])
            elif kind == NORMAL:
                size = _pull(terms, sizes, terms.rows[c])
            elif kind == RESERVE:
                size += _pull(terms, sizes, terms.slip_rows[c])
            else:
                size += way_size(sizes, 1, terms.slip_rows[c], t)
                shallow = speed_size(sizes, sizes.slip[c], terms.slip_rows[c])
        if kind == SPEED:
            shallow = 0.0
        elif kind == RESERVE:  # a difference of squares
            size *= size
        bands[k] = max(bands[k], ROUNDING * rows.factors[k] * size, GRAZING * tol * shallow)
