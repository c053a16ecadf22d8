"""Paths on a surface: the shortest way along edges of the mesh, smoothed and solved for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import between
from zwang._numerics.surfaces.glue import edges_of
from zwang._results import Provenance
from zwang._results.folds import Folds, PathStatus, SurfacePath
from zwang._trace.surface_projection import Projection
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
FINE, FINER = 8, 4
"""Points of a path for each edge of the mesh along it while it is smoothed, and how many times as many in the end: the
spline through them then misses the constraints by less than 1e-8."""
ROUNDS = (64, 16, 4, 1)
"""Of smoothing; fewer where a fold is crossed else."""
AVERAGES = 4  # a round


def path(space: Any, start: Any, end: Any, avoid: Any) -> SurfacePath:
    """Return a path between two states; see `ConfigurationSpace.path`."""
    if avoid is not None and not isinstance(avoid, Folds):
        raise DeclarationError(
            f"{space.name}: avoid= takes what folds returns, as in avoid=space.folds(('x', 'y')); it was given "
            f"{avoid!r:.60}."
        )
    if space.surface is None:
        raise DeclarationError(f"{space.name}: path needs a surface; this space has dimension {space.dimension}.")
    onto = avoid.onto if avoid is not None else (space.coordinates[0], space.coordinates[1])
    made = space._folded(onto).made if avoid is not None else Projection(space, onto)
    ends = [made.place(state, which) for state, which in ((start, "start"), (end, "end"))]
    q, edges = _graph(space, made, ends, avoid)
    numbers = _shortest(q, edges, made.periods)
    if numbers is None:
        return _result(space, PathStatus.NONE, np.zeros((0, made.n)), made)
    rows = _unwrapped(q[numbers], made.periods)
    for rounds in ROUNDS:
        smooth = _smoothed(rows, made, rounds)
        if avoid is None or not _crosses(space, onto, smooth):
            return _result(space, PathStatus.FOUND, smooth, made)
    return _result(space, PathStatus.UNFINISHED, smooth, made)


def _graph(space: Any, made: Projection, ends: list[Array], avoid: Any) -> tuple[Array, Any]:
    """Return the points of the mesh and the two ends, and the edges that may be used."""
    mesh = space.surface
    edges, _, _ = edges_of(mesh.triangles, len(mesh.points))
    if avoid is not None and len(avoid.crossed):
        size = len(mesh.points)
        gone = avoid.crossed[:, 0] * size + avoid.crossed[:, 1]
        edges = edges[~np.isin(edges[:, 0] * size + edges[:, 1], gone)]
    joins = []
    for k, q in enumerate(ends):
        order = np.argsort(np.linalg.norm(between(q, mesh.points, made.periods), axis=1))[:12]
        if avoid is not None:
            folded = space._folded(avoid.onto)
            clear = ~folded._signs(np.repeat(q[None], len(order), axis=0), mesh.points[order])
            order = order[clear] if clear.any() else order[:1]
        joins += [(len(mesh.points) + k, int(number)) for number in order[:3]]
    return np.concatenate([mesh.points, ends]), np.concatenate([edges, np.array(joins)])


def _shortest(q: Array, edges: Any, periods: Array) -> list[int] | None:
    """Return the numbers of the points on the shortest way between the last two, None where there is none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    size = len(q)
    length = np.linalg.norm(between(q[edges[:, 0]], q[edges[:, 1]], periods), axis=1)
    graph = coo_array((np.maximum(length, 1e-12), (edges[:, 0], edges[:, 1])), shape=(size, size)).tocsr()
    away, before = dijkstra(graph, directed=False, indices=size - 2, return_predecessors=True)
    if not np.isfinite(away[size - 1]):
        return None
    way = [size - 1]
    while way[-1] != size - 2:
        way.append(int(before[way[-1]]))
    return way[::-1]


def _unwrapped(rows: Array, periods: Array) -> Array:
    found = [rows[0]]
    for row in rows[1:]:
        found.append(found[-1] + between(found[-1], row, periods))
    return np.array(found)


def _smoothed(rows: Array, made: Projection, rounds: int) -> Array:
    """Return a path whose corners are rounded: averages of neighbours, moved back onto the surface."""
    from scipy.interpolate import CubicSpline

    fine = made.onto_surface(_dense(rows))
    for _ in range(rounds):
        for _ in range(AVERAGES):
            fine[1:-1] = 0.25 * fine[:-2] + 0.5 * fine[1:-1] + 0.25 * fine[2:]
        fine = np.concatenate([rows[:1], made.onto_surface(fine[1:-1]), rows[-1:]])
    s = _lengths(fine)
    if not s[-1] > 0:
        return fine[[0, -1]]
    between = CubicSpline(s, fine)(np.linspace(0, s[-1], FINER * (len(s) - 1) + 1)[1:-1])
    return np.concatenate([rows[:1], made.onto_surface(between), rows[-1:]])


def _lengths(rows: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rows, axis=0), axis=1))])[: len(rows)]


def _dense(rows: Array) -> Array:
    s = np.arange(len(rows), dtype=float)
    at = np.linspace(0, len(rows) - 1, FINE * (len(rows) - 1) + 1)
    return np.stack([np.interp(at, s, rows[:, j]) for j in range(rows.shape[1])], axis=1)


def _crosses(space: Any, onto: Any, rows: Array) -> bool:
    """Say whether a path meets a fold."""
    folded = space._folded(onto)
    return bool(folded._signs(rows[:-1], rows[1:]).any())


def _result(space: Any, status: PathStatus, rows: Array, made: Projection) -> SurfacePath:
    f = made.first(rows)[0] if len(rows) else np.zeros((0, 0))
    return SurfacePath(
        status=status,
        residual=float(np.abs(f).max(initial=0.0)),
        provenance=Provenance.now(space.provenance.digest),
        name=space.name,
        coordinates=space.coordinates,
        s=_lengths(rows),
        points=rows,
        t=space.t,
        params=space.params,
        drawing=space.drawing,
    )
