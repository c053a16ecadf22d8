"""Points spread over a surface: from each one, new ones where its neighbours leave a gap, an edge away.

Edges follow the surface (`surface_points`) and an upper bound. Points are found again through a hash of three
coordinates into which positions, angles as circles, are projected: what is near in space is near there. Beyond the
box, beyond a one-sided constraint and inside the balls round singular points growth goes on for a few edges, so that
there is something to cut.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.rows import ScaledSet, Slate
from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.surfaces.surface_points import frame_at, onto

NEAR, LINKED = 0.7, 1.85
"""No two points are nearer than this part of an edge; gaps are looked for among neighbours within so many edges."""
STAR = 2.8
"""Edges within which a point looks for the neighbours of its star."""
GROW, SHRINK = 1.35, 0.6
"""How much longer the next edge may be; how much shorter it may turn out before a nearer point is tried."""
FIRST, BEYOND = 1.6, 3.6
"""Edges beyond a bound up to which points grow further, and up to which they are kept."""
DONE, FULL, PAUSED = 0, 1, 2
COUNT, NEXT, SUSPECTS, LOWEST, HIGHEST = range(5)
INSIDE, FRINGE, EDGE, FINE = range(4)
"""Standings: on the surface; beyond a bound, but growing; beyond, and not growing; where edges would be too short."""
LEVELS = 64  # octaves of edge lengths
WIDE, FINER = 4.0, 2
"""Cells of the hash are so many edges wide; neighbours are at most so many levels finer."""

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]
Ints = NDArray[np.int64]


class Spread(NamedTuple):
    """Points of a surface, in x = q/scale, with room for more.

    Attributes
    ----------
    points : (most, n) array
    tangents : (most, 2, n) array
        Orthonormal bases of the tangent planes.
    edges : (most,) array
        The edge that suits each point.
    standing : (most,) int array
        INSIDE, FRINGE, EDGE or FINE.
    after, heads : int arrays
        The hash: the next point in a bucket, and the first one, -1 for none.
    shadows : (most, 3) array
        The positions as the hash sees them.
    counts : (5,) int array
        Points, the next to grow from, those that are FINE, lowest and highest level of the hash.
    """

    points: Matrix
    tangents: Cube
    edges: Floats
    standing: Ints
    after: Ints
    heads: Ints
    shadows: Matrix
    counts: Ints


class Extent(NamedTuple):
    """How a surface is to be covered.

    Attributes
    ----------
    rank : int
    longest, shortest : float
        Of edges.
    periods : (n,) array
        Of angles; 0 for the others, equal negative numbers for the components of a quaternion (`identified`).
    limits : (2, n) array
        The box.
    centres, radii : arrays (k, n), (k,)
        Balls round singular points.
    cast : (3, 2 n) array
        Of the hash: orthonormal rows.
    """

    rank: int
    longest: float
    shortest: float
    periods: Floats
    limits: Matrix
    centres: Matrix
    radii: Floats
    cast: Matrix


@njit(_nrt=False)
def wrapped(d: float, period: float) -> float:
    """Return a difference of coordinates, of angles the shorter way round."""
    return d - period * math.floor(d / period + 0.5) if period > 0.0 else d


@njit(_nrt=False)
def sign_from(a: Any, b: Any, identified: Any, j: int, before: float) -> float:
    """Return the sign with which coordinate j of b is nearest to a; `before` is that of the coordinate before it."""
    if identified[j] >= 0.0:
        return 1.0
    if j > 0 and identified[j - 1] == identified[j]:
        return before
    dot, k = 0.0, j
    while k < identified.size and identified[k] == identified[j]:
        dot += a[k] * b[k]
        k += 1
    return -1.0 if dot < 0.0 else 1.0


@njit(_nrt=False)
def _shadow(extent: Extent, x: Any, found: Any) -> None:
    for k in range(3):
        total = 0.0
        for j in range(x.size):
            period = extent.periods[j]
            if period > 0.0:
                radius = period / (2.0 * math.pi)
                total += radius * extent.cast[k, 2 * j] * math.cos(x[j] / radius)
                total += radius * extent.cast[k, 2 * j + 1] * math.sin(x[j] / radius)
            else:
                # Quaternions of either sign have the same shadow.
                total += extent.cast[k, 2 * j] * (abs(x[j]) if period < 0.0 else x[j])
        found[k] = total


@njit(_nrt=False)
def _level(edge: float) -> int:
    return max(0, min(LEVELS - 1, math.ceil(math.log2(edge)) + LEVELS // 2))


@njit(_nrt=False)
def _bucket(level: int, a: int, b: int, c: int, size: int) -> int:
    mixed = (a * 73856093) ^ (b * 19349663) ^ (c * 83492791) ^ (level * 15485863)
    mixed ^= mixed >> 13
    return mixed & (size - 1)


@njit(_nrt=False)
def insert(spread: Spread, extent: Extent, number: int) -> None:
    """Put a point into the hash."""
    _shadow(extent, spread.points[number], spread.shadows[number])
    level = _level(spread.edges[number])
    side = WIDE * 2.0 ** (level - LEVELS // 2)
    z = spread.shadows[number]
    place = _bucket(
        level,
        math.floor(z[0] / side),
        math.floor(z[1] / side),
        math.floor(z[2] / side),
        spread.heads.size,
    )
    spread.after[number] = spread.heads[place]
    spread.heads[place] = number
    spread.counts[LOWEST] = min(spread.counts[LOWEST], level)
    spread.counts[HIGHEST] = max(spread.counts[HIGHEST], level)


@njit(_nrt=False)
def near(spread: Spread, extent: Extent, x: Any, z: Any, edge: float, radius: float, found: Any) -> int:
    """Write the numbers of the points within a distance of x (whose shadow is z); return how many there are."""
    count, n = 0, x.size
    first = max(spread.counts[LOWEST], _level(edge) - FINER)
    for level in range(first, spread.counts[HIGHEST] + 1):
        top = 2.0 ** (level - LEVELS // 2)
        side = WIDE * top
        for a in range(math.floor((z[0] - radius) / side), math.floor((z[0] + radius) / side) + 1):
            for b in range(math.floor((z[1] - radius) / side), math.floor((z[1] + radius) / side) + 1):
                for c in range(math.floor((z[2] - radius) / side), math.floor((z[2] + radius) / side) + 1):
                    k = spread.heads[_bucket(level, a, b, c, spread.heads.size)]
                    while k >= 0:
                        w = spread.shadows[k]
                        # Buckets are shared by cells: a point counts in its own cell alone.
                        if (
                            math.floor(w[0] / side) == a
                            and math.floor(w[1] / side) == b
                            and math.floor(w[2] / side) == c
                            and 0.5 * top < spread.edges[k] <= top
                        ):
                            square, sign = 0.0, 1.0
                            for j in range(n):
                                sign = sign_from(x, spread.points[k], extent.periods, j, sign)
                                d = wrapped(sign * spread.points[k, j] - x[j], extent.periods[j])
                                square += d * d
                                if square > radius * radius:
                                    break
                            if square <= radius * radius and count < found.size:
                                found[count] = k
                                count += 1
                        k = spread.after[k]
    return count


@njit(_nrt=False)
def beyond(extent: Extent, x: Any, out: Any, sizes: Any, scale: Any) -> float:
    """Return how far x is beyond the nearest bound, 0 inside; `out` has the one-sided constraints and their rows."""
    n, m, g = sizes[0], sizes[1], sizes[2]
    far = 0.0
    for j in range(n):
        far = max(far, extent.limits[0, j] - x[j], x[j] - extent.limits[1, j])
    for k in range(g):
        if out[m + k] < 0.0:
            square = 0.0
            for j in range(n):
                slope = out[m + g + (m + k) * n + j] * scale[j]
                square += slope * slope
            far = max(far, -out[m + k] / math.sqrt(max(square, 1e-300)))
    for k in range(extent.radii.size):
        square, sign = 0.0, 1.0
        for j in range(n):
            sign = sign_from(x, extent.centres[k], extent.periods, j, sign)
            d = wrapped(x[j] - sign * extent.centres[k, j], extent.periods[j])
            square += d * d
        far = max(far, extent.radii[k] - math.sqrt(square))
    return far


class Room(NamedTuple):
    """What the loop needs of places: the slate of Newton's method, one of curvature, numbers and angles."""

    slate: Slate
    q: Any
    out: Any
    W: Any
    G: Any
    around: Any
    angles: Any
    x: Any
    z: Any
    tangent: Any


@njit(_nrt=False)
def _try(
    plain: Any, curved: Any, given: ScaledSet, bent: ScaledSet, extent: Extent, spread: Spread, room: Room,
    i: int, angle: float,
) -> int:  # fmt: skip
    """Add a point an edge away from point i at an angle of its tangent plane; return its standing, -1 for none."""
    n, number = given.sizes[0], spread.counts[COUNT]
    length = spread.edges[i]
    for _ in range(12):
        for j in range(n):
            room.x[j] = spread.points[i, j] + length * (
                math.cos(angle) * spread.tangents[i, 0, j] + math.sin(angle) * spread.tangents[i, 1, j]
            )
        arrived = onto(plain, given, room.slate, extent.rank, room.G, room.x, 0.7 * length)
        if not arrived:
            length *= 0.5
            continue
        for j in range(n):
            room.q[j] = room.x[j] * given.scale[j]
        edge = frame_at(curved, bent, room.q, room.out, room.W, extent.rank, room.G, room.tangent)
        edge = min(edge, extent.longest, GROW * spread.edges[i])
        if edge < SHRINK * length and edge > extent.shortest:
            length *= max(0.5, min(0.8, edge / length))
            continue
        _shadow(extent, room.x, room.z)
        size = max(edge, extent.shortest)
        if near(spread, extent, room.x, room.z, size, NEAR * size, room.around) > 0:
            return -1
        for j in range(n):
            spread.points[number, j] = room.x[j]
            for k in range(2):
                spread.tangents[number, k, j] = room.tangent[k, j]
        return keep(plain, given, extent, spread, room, edge)
    return -1


@njit(_nrt=False)
def keep(plain: Any, given: ScaledSet, extent: Extent, spread: Spread, room: Room, edge: float) -> int:
    """Give the last point its standing and put it into the hash; return the standing, -1 where it is too far out."""
    number = spread.counts[COUNT]
    x = spread.points[number]
    if given.sizes[2] > 0:
        for j in range(x.size):
            room.q[j] = x[j] * given.scale[j]
        plain(given.t, room.q, room.q[:0], given.params, given.table, given.work, room.slate.out)
    far = beyond(extent, x, room.slate.out, given.sizes, given.scale)
    size = max(edge, extent.shortest)
    if far > BEYOND * size:
        return -1
    spread.edges[number] = size
    standing = INSIDE if far <= 0.0 else FRINGE if far <= FIRST * size else EDGE
    if edge < extent.shortest:
        standing = FINE
        spread.counts[SUSPECTS] += 1
    spread.standing[number] = standing
    insert(spread, extent, number)
    spread.counts[COUNT] = number + 1
    return standing


@njit(_nrt=False)
def ring(spread: Spread, extent: Extent, i: int, radius: float, found: Any, plane: Any) -> int:
    """Write the numbers of the points round point i on its own sheet, and where they stand in its tangent plane."""
    every = near(spread, extent, spread.points[i], spread.shadows[i], spread.edges[i], radius, found)
    count, n = 0, spread.points.shape[1]
    for s in range(every):
        k = found[s]
        if k == i:
            continue
        a, b, square, sign = 0.0, 0.0, 0.0, 1.0
        for j in range(n):
            sign = sign_from(spread.points[i], spread.points[k], extent.periods, j, sign)
            d = wrapped(sign * spread.points[k, j] - spread.points[i, j], extent.periods[j])
            a += d * spread.tangents[i, 0, j]
            b += d * spread.tangents[i, 1, j]
            square += d * d
        if a * a + b * b >= 0.36 * square:
            found[count], plane[count, 0], plane[count, 1] = k, a, b
            count += 1
    return count


@njit
def _rooms(given: ScaledSet) -> Room:
    n, m, g, rows = given.sizes[0], given.sizes[1], given.sizes[2], given.mix.shape[0]
    slate = Slate(np.empty(n), np.empty((m + g) * (n + 1)), np.empty((rows, n + 1)), np.empty(n), np.empty(0))
    return Room(
        slate,
        np.empty(n),
        np.empty(m * (1 + n + n * n)),
        np.empty((rows, n + 1 + n * n)),
        np.empty((rows, rows)),
        np.empty(400, dtype=np.int64),
        np.empty((400, 2)),
        np.empty(n),
        np.empty(3),
        np.empty((2, n)),
    )


@njit(f"int64({EVAL_TYPE}, {EVAL_TYPE}, ScaledSet, ScaledSet, Extent, Spread, int64)")
def grow(plain: Any, curved: Any, given: ScaledSet, bent: ScaledSet, extent: Extent, spread: Spread, most: int) -> int:
    """Grow from the points that are next, at most so many of them; return DONE, FULL or PAUSED."""
    room = _rooms(given)
    counts = spread.counts
    angles = np.empty(402)
    for _ in range(most):
        if counts[NEXT] >= counts[COUNT]:
            return DONE
        if counts[COUNT] + 16 > spread.points.shape[0]:
            return FULL
        i = counts[NEXT]
        counts[NEXT] += 1
        if spread.standing[i] >= EDGE:
            continue
        count = ring(spread, extent, i, LINKED * spread.edges[i], room.around, room.angles)
        for s in range(count):
            angles[s] = math.atan2(room.angles[s, 1], room.angles[s, 0])
        if count == 0:
            for s in range(6):
                _try(plain, curved, given, bent, extent, spread, room, i, s * math.pi / 3.0)
            continue
        sorted_angles = np.sort(angles[:count])
        for s in range(count):
            first = sorted_angles[s]
            gap = (sorted_angles[s + 1] if s + 1 < count else sorted_angles[0] + 2.0 * math.pi) - first
            if gap < 0.48 * math.pi:
                continue
            more = max(1, math.floor(3.0 * gap / math.pi + 0.5) - 1)
            for k in range(more):
                _try(plain, curved, given, bent, extent, spread, room, i, first + gap * (k + 1) / (more + 1))
    return PAUSED


@njit(f"int64({EVAL_TYPE}, {EVAL_TYPE}, ScaledSet, ScaledSet, Extent, Spread, float64[:, ::1], float64)")
def seed(
    plain: Any, curved: Any, given: ScaledSet, bent: ScaledSet, extent: Extent, spread: Spread, starts: Any,
    apart: float,
) -> int:  # fmt: skip
    """Add points of the surface near starts (k, n), where none is near yet; return how many were added."""
    room = _rooms(given)
    n, added = given.sizes[0], 0
    for s in range(starts.shape[0]):
        number = spread.counts[COUNT]
        if number + 16 > spread.points.shape[0]:
            return added
        for j in range(n):
            room.x[j] = starts[s, j]
        if not onto(plain, given, room.slate, extent.rank, room.G, room.x, 1.0):
            continue
        for j in range(n):
            room.q[j] = room.x[j] * given.scale[j]
        edge = frame_at(curved, bent, room.q, room.out, room.W, extent.rank, room.G, room.tangent)
        edge = min(edge, extent.longest)
        _shadow(extent, room.x, room.z)
        size = max(edge, extent.shortest)
        if near(spread, extent, room.x, room.z, size, apart * size, room.around) > 0:
            continue
        for j in range(n):
            spread.points[number, j] = room.x[j]
            for k in range(2):
                spread.tangents[number, k, j] = room.tangent[k, j]
        if keep(plain, given, extent, spread, room, edge) >= 0:
            added += 1
    return added


@njit(f"void({EVAL_TYPE}, ScaledSet, int64, float64[:, ::1], float64, boolean[::1])")
def settle(plain: Any, given: ScaledSet, rank: int, x: Any, reach: float, arrived: Any) -> None:
    """Move every row of x to the surface by the shortest way; `arrived` says where it got there within `reach`."""
    n, m, g, rows = given.sizes[0], given.sizes[1], given.sizes[2], given.mix.shape[0]
    slate = Slate(np.empty(n), np.empty((m + g) * (n + 1)), np.empty((rows, n + 1)), np.empty(n), np.empty(0))
    G = np.empty((rows, rows))
    for s in range(x.shape[0]):
        arrived[s] = onto(plain, given, slate, rank, G, x[s], reach)
