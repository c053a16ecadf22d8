"""What is cut out of a surface before it is meshed: balls round singular points and tubes round curves of such.

What is left is smooth. Its rim is joined to the points and curves again: every edge of the rim spans a triangle to the
place of the curve that it is next to, so that the whole is the surface with its singularities (the mapping cylinder of
the rim onto them).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import between
from zwang._numerics.jit import njit
from zwang._numerics.surfaces.growth import sign_from, wrapped

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ON = 1e-6
"""How far a point of the rim may be from a ball or tube to be on it, as a part of its radius."""
SPACING = 0.5
"""Of balls along a tube, as a part of its radius."""


class Tube(NamedTuple):
    """A tube round a polygon (k, n), unwrapped: whether it closes, the nodes at its ends (-1: none), its radius."""

    points: Array
    closed: bool
    ends: tuple[int, int]
    radius: float


def distance_to_line(x: Array, line: Array, periods: Array) -> tuple[Array, Ints, Array]:
    """Return how far points (p, n) are from a polygon (k, n), the segment that is nearest, and where on it (0 to 1)."""
    away, segment, part = np.empty(len(x)), np.empty(len(x), dtype=np.int64), np.empty(len(x))
    _feet(np.ascontiguousarray(x), np.ascontiguousarray(line), periods, away, segment, part)
    return away, segment, part


@njit(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], int64[::1], float64[::1])",
)
def _feet(x: Any, line: Any, periods: Any, away: Any, segment: Any, part: Any) -> None:
    n = x.shape[1]
    for p in range(x.shape[0]):
        best = math.inf
        for k in range(line.shape[0] - 1):
            dot, square, whole, sign = 0.0, 0.0, 0.0, 1.0
            for j in range(n):
                d = line[k + 1, j] - line[k, j]
                sign = sign_from(line[k], x[p], periods, j, sign)
                o = wrapped(sign * x[p, j] - line[k, j], periods[j])
                dot += d * o
                square += d * d
                whole += o * o
            s = min(max(dot / max(square, 1e-300), 0.0), 1.0)
            # Summed anew: the difference of large squares would be rounding next to the line.
            if whole - 2.0 * s * dot + s * s * square < best + 1e-12 * whole:
                miss = 0.0
                for j in range(n):
                    sign = sign_from(line[k], x[p], periods, j, sign)
                    o = wrapped(sign * x[p, j] - line[k, j], periods[j]) - s * (line[k + 1, j] - line[k, j])
                    miss += o * o
                if miss < best:
                    best = miss
                    segment[p], part[p] = k, s
        away[p] = math.sqrt(best)


@dataclass(frozen=True, eq=False)
class Hollow:
    """Balls round nodes (k, n) and tubes between them; lengths modulo the periods of angles."""

    nodes: Array
    radii: Array
    tubes: Sequence[Tube]
    periods: Array

    def __bool__(self) -> bool:
        return bool(len(self.nodes) or self.tubes)

    @cached_property
    def lines(self) -> list[Array]:
        """The polygons of the tubes, closed ones with their first point again."""
        found = []
        for tube in self.tubes:
            last = tube.points[-1]
            again = last + between(last, tube.points[0], self.periods)
            found.append(np.concatenate([tube.points, again[None]]) if tube.closed else tube.points)
        return found

    @cached_property
    def numbers(self) -> list[Ints]:
        """The numbers of the points of each line among all `sites`."""
        found, used = [], len(self.nodes)
        for tube in self.tubes:
            own = np.full(len(tube.points), -1, dtype=np.int64)
            for place, end in zip((0, -1), tube.ends, strict=True):
                own[place] = end
            free = np.flatnonzero(own < 0)
            own[free] = used + np.arange(len(free))
            used += len(free)
            found.append(np.append(own, own[0]) if tube.closed else own)
        return found

    @cached_property
    def sites(self) -> Array:
        """The nodes, then the points of the lines that are none."""
        total = max([len(self.nodes), *(int(own.max()) + 1 for own in self.numbers)])
        found = np.zeros((total, len(self.periods)))
        for tube, own in zip(self.tubes, self.numbers, strict=True):
            found[own[: len(tube.points)]] = tube.points
        found[: len(self.nodes)] = self.nodes
        return found

    @property
    def narrowest(self) -> float:
        """The least radius."""
        return float(min([*self.radii, *(tube.radius for tube in self.tubes)]))

    def balls(self) -> tuple[Array, Array]:
        """Return centres and radii of balls that cover what is cut out, those of the nodes first."""
        centres, radii = [self.nodes], [self.radii]
        for tube, line in zip(self.tubes, self.lines, strict=True):
            length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
            count = max(2, int(np.ceil(length[-1] / (SPACING * tube.radius))) + 1)
            at = np.linspace(0.0, length[-1], count)
            centres.append(np.stack([np.interp(at, length, line[:, j]) for j in range(line.shape[1])], axis=1))
            radii.append(np.full(count, tube.radius))
        return np.concatenate(centres), np.concatenate(radii)

    def measure(self, x: Array) -> Array:
        """Return how far points (p, n) are outside of all balls and tubes; negative inside."""
        found = np.full(len(x), np.inf)
        for node, radius in zip(self.nodes, self.radii, strict=True):
            found = np.minimum(found, np.linalg.norm(between(node, x, self.periods), axis=1) - radius)
        for tube, line in zip(self.tubes, self.lines, strict=True):
            found = np.minimum(found, distance_to_line(x, line, self.periods)[0] - tube.radius)
        return found

    def feet(self, x: Array, last: NDArray[np.bool_]) -> Ints:
        """Return for points (p, n) the site that each belongs to, -1 for those on no ball or tube.

        `last` says which lie on a bound too: these belong to the end of a line.
        """
        found = np.full(len(x), -1, dtype=np.int64)
        best = np.full(len(x), ON)
        for tube, line, own in zip(self.tubes, self.lines, self.numbers, strict=True):
            away, segment, part = distance_to_line(x, line, self.periods)
            miss = np.abs(away - tube.radius) / tube.radius
            place = segment + (part > 0.5)
            if not tube.closed:
                end = np.where(segment + part < 0.5 * (len(line) - 1), 0, len(line) - 1)
                place = np.where(last, end, place)
            found, best = np.where(miss < best, own[place], found), np.minimum(best, miss)
        for k, (node, radius) in enumerate(zip(self.nodes, self.radii, strict=True)):
            away = np.linalg.norm(between(node, x, self.periods), axis=1)
            found = np.where(np.abs(away - radius) <= ON * radius, k, found)
        return found

    def way(self, a: int, b: int) -> list[int] | None:
        """Return the sites from one to another along lines, both included; None where no line or node joins them."""
        if a == b:
            return [a]
        ways = [
            way for own, tube in zip(self.numbers, self.tubes, strict=True) if (way := _along(own, tube.closed, a, b))
        ]
        if not ways:
            for node in range(len(self.nodes)):
                one, two = (self._to_site(site, node) for site in (a, b))
                if one and two:
                    ways.append([*one, *two[::-1][1:]])
        return min(ways, key=len, default=None)

    def _to_site(self, a: int, b: int) -> list[int] | None:
        """Return the sites from one to another along one line."""
        if a == b:
            return [a]
        ways = [_along(own, tube.closed, a, b) for own, tube in zip(self.numbers, self.tubes, strict=True)]
        return min((way for way in ways if way), key=len, default=None)

    def collars(self, rim: Ints, feet: Ints, first: int) -> tuple[Ints, Ints, int]:
        """Return triangles from edges of a rim (r, 2) to sites, each one's edge, and how many edges are not joined.

        `feet` has the site of every point of the mesh; sites are numbered from `first`.
        """
        triangles: list[tuple[int, int, int]] = []
        owner: list[int] = []
        failed = 0
        for k, (a, b) in enumerate(rim.tolist()):
            way = self.way(int(feet[a]), int(feet[b]))
            if way is None:
                failed += 1
                continue
            fan = [(a, first + s, first + t) for s, t in pairwise(way)]
            fan.append((a, b, first + way[-1]))
            triangles += fan
            owner += [k] * len(fan)
        return np.array(triangles, dtype=np.int64).reshape(-1, 3), np.array(owner, dtype=np.int64), failed


def _along(own: Ints, closed: bool, a: int, b: int) -> list[int] | None:
    """Return the sites of one line from a to b, the shorter way; None where it has not both."""
    ring = own[:-1] if closed else own
    one, two = np.flatnonzero(ring == a), np.flatnonzero(ring == b)
    if not len(one) or not len(two):
        return None
    i, j = min(((int(i), int(j)) for i in one for j in two), key=lambda pair: abs(pair[0] - pair[1]))
    straight = [int(k) for k in (ring[i : j + 1] if i <= j else ring[j : i + 1][::-1])]
    if not closed or len(straight) <= len(ring) // 2 + 1:
        return straight
    size = len(ring)
    step = -1 if i <= j else 1
    return [int(ring[(i + step * k) % size]) for k in range(size - abs(i - j) + 1)]
