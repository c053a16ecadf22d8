"""Delaunay stars: the neighbours of each point that share a triangle with it, in the plane that is tangent there.

Inverted at the point, u -> u/|u|^2, a circle through it becomes a line; so its Delaunay neighbours are the corners of
the convex hull of its inverted surroundings, and where the point is outside of that hull it is on the rim.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.jit import njit
from zwang._numerics.surfaces.growth import EDGE, STAR, Extent, Spread, ring

MOST = 40
"""Corners of a star."""


@njit("void(Extent, Spread, int64, int64, int64[:, ::1], int64[::1])")
def stars(extent: Extent, spread: Spread, first: int, last: int, links: Any, counts: Any) -> None:
    """Write the links of points first to last: numbers of neighbours, counterclockwise; a negative count on the rim."""
    found, plane, angles = np.empty(2000, dtype=np.int64), np.empty((2000, 2)), np.empty(2000)
    hull = np.empty(2001, dtype=np.int64)
    v = np.empty((2000, 2))
    for i in range(first, last):
        counts[i] = 0
        if spread.standing[i] >= EDGE:
            continue
        count = ring(spread, extent, i, STAR * spread.edges[i], found, plane)
        for s in range(count):
            angles[s] = math.atan2(plane[s, 1], plane[s, 0])
        order = np.argsort(angles[:count])
        best, closest = -1, math.inf
        for s in range(count):
            k = order[s]
            square = plane[k, 0] * plane[k, 0] + plane[k, 1] * plane[k, 1]
            v[s, 0], v[s, 1] = plane[k, 0] / square, plane[k, 1] / square
            if square < closest:
                best, closest = s, square
        if count < 3:
            continue
        size = 0
        for s in range(count + 1):
            c = (best + s) % count
            while size >= 2:
                a, b = hull[size - 2], hull[size - 1]
                turn = (v[b, 0] - v[a, 0]) * (v[c, 1] - v[b, 1]) - (v[b, 1] - v[a, 1]) * (v[c, 0] - v[b, 0])
                if turn > 0.0:
                    break
                size -= 1
            hull[size] = c
            size += 1
        size -= 1
        rim = size < 3
        for s in range(size):
            a, b = hull[s], hull[s + 1]
            rim = rim or v[a, 0] * v[b, 1] - v[a, 1] * v[b, 0] <= 0.0
        size = min(size, MOST)
        for s in range(size):
            links[i, s] = found[order[hull[s]]]
        counts[i] = -size if rim else size
