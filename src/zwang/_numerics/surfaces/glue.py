"""Stars glued to triangles: what all corners agree on stands; small holes, where they don't, are filled.

Four points on a circle leave the choice of a diagonal to rounding, and tangent planes differ a little from corner to
corner: there stars disagree, and what is left open between triangles on which all agree is a polygon of a few corners.
Filled, it is as good as any choice. The result is looked at as if nobody knew where it came from: every edge must have
two triangles, every point one ring of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import between

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
LARGEST = 14
"""Corners of a hole that is filled."""
PASSES = 4
"""Holes that share a corner are filled one after the other."""


class Glued(NamedTuple):
    """Triangles (f, 3), and the points at which they could not be glued."""

    triangles: Ints
    loose: Ints


def voted(links: Ints, counts: Ints) -> Ints:
    """Return the triangles on which all their corners agree that have a whole star."""
    whole = counts > 0
    width = int(counts.max(initial=0))
    if width < 3:
        return np.zeros((0, 3), dtype=np.int64)
    own = np.flatnonzero(whole)
    links, sizes = links[own, :width], counts[own]
    place = np.arange(width)
    used = place < sizes[:, None]
    after = np.where(place + 1 < sizes[:, None], place + 1, 0)
    following = np.take_along_axis(links, after, axis=1)
    rows = np.stack([np.broadcast_to(own[:, None], links.shape)[used], links[used], following[used]], axis=1)
    rows.sort(axis=1)
    total = np.int64(len(counts))
    keys, votes = np.unique((rows[:, 0] * total + rows[:, 1]) * total + rows[:, 2], return_counts=True)
    triangles = np.stack([keys // total // total, keys // total % total, keys % total], axis=1)
    return np.asarray(triangles[votes == whole[triangles].sum(axis=1)])


def edges_of(triangles: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """Return the edges (e, 2), the edge of each side of each triangle (f, 3), and how many triangles each edge has."""
    sides = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2).reshape(-1, 2)
    keys, places, uses = np.unique(sides[:, 0] * np.int64(count) + sides[:, 1], return_inverse=True, return_counts=True)
    return np.stack([keys // count, keys % count], axis=1), places.reshape(-1, 3), uses


def glue(points: Array, tangents: Array, periods: Array, inside: NDArray[np.bool_], links: Ints, counts: Ints) -> Glued:
    """Return the triangles; `inside` says at which points all must be whole."""
    triangles = voted(links, counts)
    for _ in range(PASSES):
        edges, _, uses = edges_of(triangles, len(points))
        filling: list[tuple[int, int, int]] = []
        beside = np.zeros(len(points), dtype=bool)
        beside[edges[uses == 1].ravel()] = True
        taken = {(a, b) for a, b in edges[(uses == 2) & beside[edges].all(axis=1)].tolist()}
        for loop in _loops(edges[uses == 1], inside):
            filling += _filled(loop, points, tangents, periods, taken)
        if not filling:
            break
        triangles = np.concatenate([triangles, np.sort(np.array(filling, dtype=np.int64), axis=1)])
    return Glued(triangles, loose_points(triangles, inside))


def loose_points(triangles: Ints, inside: NDArray[np.bool_]) -> Ints:
    """Return the points inside at which an edge has not two triangles, or the triangles don't form one ring."""
    count = len(inside)
    edges, _, uses = edges_of(triangles, count)
    bad = np.zeros(count, dtype=bool)
    bad[edges[uses != 2].ravel()] = True
    # A ring has as many edges as triangles; two rings at one point have too, so that rings are counted.
    bad |= rings(triangles, count) > 1
    bad &= inside
    bad |= inside & (np.bincount(triangles.ravel(), minlength=count) == 0)
    return np.flatnonzero(bad)


def rings(triangles: Ints, count: int) -> Ints:
    """Return into how many fans the triangles at each point fall, fans that share a spoke being one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    faces = len(triangles)
    if not faces:
        return np.zeros(count, dtype=np.int64)
    # A corner (triangle, place) is joined to the corner of the next triangle at the same point across a side.
    edges, sides, uses = edges_of(triangles, count)
    flat = sides.ravel()
    order = np.argsort(flat, kind="stable")
    start = np.concatenate([[0], np.cumsum(uses)])[:-1]
    twice = uses == 2
    one, two = order[start[twice]], order[start[twice] + 1]
    joins = []
    for end in range(2):
        point = edges[twice, end]
        pair = []
        for side in (one, two):
            face = side // 3
            place = np.argmax(triangles[face] == point[:, None], axis=1)
            pair.append(3 * face + place)
        joins.append(pair)
    rows = np.concatenate([joins[0][0], joins[1][0]])
    columns = np.concatenate([joins[0][1], joins[1][1]])
    graph = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(3 * faces, 3 * faces))
    _, part = connected_components(graph, directed=False)
    corners = triangles.ravel()
    pairs = np.unique(corners * np.int64(3 * faces) + part)
    return np.bincount(pairs // (3 * faces), minlength=count)


def _loops(rim: Ints, inside: NDArray[np.bool_]) -> list[list[int]]:
    """Return the closed polygons that edges make in which at least one corner is inside."""
    beside: dict[int, list[int]] = {}
    for a, b in rim.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found: list[list[int]] = []
    seen: set[int] = set()
    for start, ends in beside.items():
        if not inside[start] or start in seen or len(ends) != 2:
            continue
        loop = _way(beside, ends[0], ends[1], start)
        if loop and not seen.intersection(loop):
            seen.update(loop, [start])
            found.append([start, *loop])
    return found


def _way(beside: dict[int, list[int]], first: int, last: int, without: int) -> list[int]:
    """Return the shortest way along edges between two points that leaves out a third; none where it is long."""
    came: dict[int, int] = {first: first}
    front = [first]
    for _ in range(LARGEST):
        if last in came:
            way = [last]
            while way[-1] != first:
                way.append(came[way[-1]])
            return way[::-1]
        following = []
        for here in front:
            for k in beside[here]:
                if k != without and k not in came:
                    came[k] = here
                    following.append(k)
        front = following
    return []


def _filled(
    loop: list[int], points: Array, tangents: Array, periods: Array, taken: set[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Return triangles that fill a polygon, ears first; none where a diagonal would be an edge a third time."""
    plane = between(points[loop[0]], points[loop], periods) @ tangents[loop[0]].T
    left = list(range(len(loop)))
    area = 0.5 * sum(
        plane[a, 0] * plane[b, 1] - plane[a, 1] * plane[b, 0] for a, b in zip(left, left[1:] + left[:1], strict=True)
    )
    found: list[tuple[int, int, int]] = []
    while len(left) > 3:
        ears = []
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            p, q = plane[b] - plane[a], plane[c] - plane[a]
            size = np.sign(area) * (p[0] * q[1] - p[1] * q[0])
            edge = (min(loop[a], loop[c]), max(loop[a], loop[c]))
            if edge in taken:
                continue
            long = max(p @ p, q @ q, (q - p) @ (q - p))
            ears.append((size / long, k, edge))
        if not ears:
            return []
        _, k, edge = max(ears)
        found.append((loop[left[k - 1]], loop[left[k]], loop[left[(k + 1) % len(left)]]))
        taken.add(edge)
        left.pop(k)
    found.append((loop[left[0]], loop[left[1]], loop[left[2]]))
    return found
