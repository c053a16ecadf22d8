"""What a mesh of triangles is as a surface: its parts, Euler characteristic, orientability, genus, boundary loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.surfaces.glue import edges_of

Ints = NDArray[np.int64]


class Topology(NamedTuple):
    """Of each connected part of a mesh.

    Attributes
    ----------
    part : (f,) int array
        The part of each triangle.
    euler : (k,) int array
    orientable : (k,) bool array
    rims : list of (r, 2) int arrays
        Boundary loops: pairs of points, loop by loop.
    rim_part : (l,) int array
        The part of each loop.
    """

    part: Ints
    euler: Ints
    orientable: NDArray[np.bool_]
    rims: list[Ints]
    rim_part: Ints

    def genus(self, k: int) -> int:
        """Return the handles of an orientable part, the crosscaps of one that is not, its loops closed by discs."""
        closed = int(self.euler[k]) + int((self.rim_part == k).sum())
        return (2 - closed) // 2 if self.orientable[k] else 2 - closed


def topology(triangles: Ints, count: int) -> Topology:
    """Return the topology of a mesh of points 0 to count - 1; each edge has one or two triangles."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    def parts(size: int, a: Ints, b: Ints) -> tuple[int, Ints]:
        graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(size, size))
        found, labels = connected_components(graph, directed=False)
        return int(found), np.asarray(labels, dtype=np.int64)

    faces = len(triangles)
    edges, sides, uses = edges_of(triangles, count)
    flat = sides.ravel()
    order = np.argsort(flat, kind="stable")
    start = np.concatenate([[0], np.cumsum(uses)])[:-1]
    twice = uses == 2
    one, two = order[start[twice]], order[start[twice] + 1]
    a, b = one // 3, two // 3
    number, part = parts(faces, a, b)
    # Corners of one edge may belong to several parts where these touch in a point: they count once in each.
    corners = np.unique(part[:, None] * np.int64(count) + triangles) // count
    points = np.bincount(corners, minlength=number)
    lines = np.bincount(part[order[start] // 3], minlength=number)
    euler = points - lines + np.bincount(part, minlength=number)
    # The sheet over each triangle and the one below it: sides are run through in opposite senses by neighbours.
    ahead = triangles[:, [1, 2, 0]] < triangles[:, [2, 0, 1]]
    same = ahead.ravel()[one] == ahead.ravel()[two]
    doubled = (
        np.concatenate([a, a + faces]),
        np.concatenate([np.where(same, b + faces, b), np.where(same, b, b + faces)]),
    )
    _, cover = parts(2 * faces, *doubled)
    twisted = np.unique(part[cover[:faces] == cover[faces:]])
    orientable = np.ones(number, dtype=bool)
    orientable[twisted] = False
    rim = edges[~twice]
    rims, rim_part = [], []
    if len(rim):
        used, inverse = np.unique(rim, return_inverse=True)
        inverse = inverse.reshape(-1, 2)
        found, label = parts(len(used), inverse[:, 0], inverse[:, 1])
        owner = part[order[start[~twice]] // 3]
        for k in range(found):
            here = label[inverse[:, 0]] == k
            rims.append(rim[here])
            rim_part.append(int(owner[here][0]))
    return Topology(part, euler.astype(np.int64), orientable, rims, np.array(rim_part, dtype=np.int64))
