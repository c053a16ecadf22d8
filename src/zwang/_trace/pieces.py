"""Pieces of a configuration space: parts of one dimension and multiplicity that hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._declare.plain import to_dict
from zwang._numerics.surfaces import growth
from zwang._numerics.surfaces.cut import Mesh, areas, between, in_order
from zwang._numerics.surfaces.glue import Glued
from zwang._numerics.surfaces.topology import Topology, topology
from zwang._results.configuration import Branch, ConfigurationSpace, SingularPoint, TraceStatus
from zwang._results.configuration_strata import LocalType
from zwang._results.surface import SpacePiece, SurfaceMesh
from zwang._trace.surface_cover import Cover

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ON_BALL = 1e-6
"""How far a point of the rim may be from a ball to be on it, as a part of its radius."""


def assembled(
    space: ConfigurationSpace,
    cover: Cover,
    spread: growth.Spread,
    glued: Glued,
    found: Sequence[LocalType],
    reason: str,
) -> ConfigurationSpace:
    """Return a space with its surface, its pieces and its singular points."""
    count = int(spread.counts[growth.COUNT])
    mesh = cover.trimmed(Mesh(spread.points[:count].copy(), glued.triangles))
    e, scale = cover.search.equations, cover.given.scale
    shape = topology(mesh.triangles, len(mesh.points))
    ends, parts = _ends(mesh, shape, cover), len(shape.euler)
    joins = [(int(part), parts + end) for part, end in zip(shape.rim_part, ends, strict=True) if end >= 0]
    groups = joined(parts + len(found), joins)
    numbers = {group: k for k, group in enumerate(dict.fromkeys([*groups[:parts], *groups[parts:]]))}
    component = [numbers[group] for group in groups]
    points = [_point(k, local, component[parts + k], e.n - 2, e.n) for k, local in enumerate(found)]
    area = areas(mesh, cover.extent.periods, scale)
    pieces = []
    for k in range(len(numbers)):
        own = [p for p in range(parts) if component[p] == k]
        mine = [point for point in points if point.component == k]
        pieces.append(_surface_piece(k, own, shape, ends, area, mine) if own else _lone_piece(k, mine))
    whole, tips = _closed(mesh, shape, ends, cover.extent.centres)
    piece = np.zeros(len(whole.points), dtype=np.int64)
    piece[mesh.triangles.ravel()] = np.repeat(np.array(component[:parts], dtype=np.int64)[shape.part], 3)
    for end, tip in tips.items():
        piece[tip] = points[end].component
    f, _ = cover.constraints(whole.points)
    q = cover.search.region.shifted(whole.points * scale, e.angles)
    return replace(
        space,
        status=TraceStatus.UNFINISHED if reason else TraceStatus.TRACED,
        surface=SurfaceMesh(points=q, triangles=whole.triangles, piece=piece, chord=cover.chord(mesh)),
        pieces=tuple(pieces),
        components=len(pieces),
        singular_points=tuple(points),
        declared=to_dict(e.system),
        residual=float(np.abs(f).max(initial=0.0)),
        reason=reason or space.reason,
    )


def joined(count: int, joins: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each of some things the least number of those that hang together with it.

    Examples
    --------
    >>> joined(4, [(3, 1)])
    [0, 1, 2, 1]
    """
    parent = list(range(count))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for a, b in joins:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    return [root(k) for k in range(count)]


def _ends(mesh: Mesh, shape: Topology, cover: Cover) -> list[int]:
    """Return for each loop of the rim the ball that it lies on, -1 for a boundary."""
    found = []
    for rim in shape.rims:
        x, ball = mesh.points[np.unique(rim)], -1
        for k, (centre, radius) in enumerate(zip(cover.extent.centres, cover.extent.radii, strict=True)):
            away = np.linalg.norm(between(centre, x, cover.extent.periods), axis=1)
            ball = k if np.abs(away - radius).max() <= ON_BALL * radius else ball
        found.append(ball)
    return found


def _closed(mesh: Mesh, shape: Topology, ends: Sequence[int], centres: Array) -> tuple[Mesh, dict[int, int]]:
    """Return the mesh with fans from each singular point to the loops round it, and the numbers of these points."""
    tips: dict[int, int] = {}
    fans = [mesh.triangles]
    for rim, end in zip(shape.rims, ends, strict=True):
        if end >= 0:
            tip = tips.setdefault(end, len(mesh.points) + len(tips))
            fans.append(np.column_stack([np.full(len(rim), tip), rim]))
    return Mesh(np.concatenate([mesh.points, centres[list(tips)]]), np.concatenate(fans)), tips


def _point(number: int, local: LocalType, component: int, rank: int, n: int) -> SingularPoint:
    kind = local.kind if local.kind in ("cone", "isolated") else "higher"
    return SingularPoint(
        number=number,
        state=local.state,
        kind=kind,
        tangents=np.zeros((0, n)),
        rank=local.rank,
        generic_rank=rank,
        component=component,
        signature=tuple(local.signature[:2]),
    )


def _surface_piece(
    number: int,
    parts: Sequence[int],
    shape: Topology,
    ends: Sequence[int],
    area: Array,
    points: Sequence[SingularPoint],
) -> SpacePiece:
    """Return the piece that some parts of a mesh make which meet in singular points."""
    loops = [
        in_order(rim)
        for rim, part, end in zip(shape.rims, shape.rim_part, ends, strict=True)
        if part in parts and end < 0
    ]
    smooth = int(shape.euler[list(parts)].sum())
    return SpacePiece(
        number=number,
        dimension=2,
        component=number,
        euler=smooth + len(points),
        smooth_euler=smooth,
        orientable=bool(shape.orientable[list(parts)].all()),
        genus=sum(shape.genus(part) for part in parts),
        area=float(area[np.isin(shape.part, parts)].sum()),
        points=tuple(points),
        loops=np.concatenate([*loops, np.zeros(0, dtype=np.int64)]),
        starts=np.cumsum([0, *(len(loop) for loop in loops)])[:-1].astype(np.int64),
    )


def _lone_piece(number: int, points: Sequence[SingularPoint]) -> SpacePiece:
    return SpacePiece(number=number, dimension=0, component=number, points=tuple(points))


def with_pieces(space: ConfigurationSpace) -> ConfigurationSpace:
    """Return a space of curves and points with its pieces."""
    if space.pieces:
        return space
    arcs, points = space.branches, space.singular_points
    joins = [
        (arc.number, len(arcs) + len(points) * arc.multiplicity + end.place)
        for arc in arcs
        for end in arc.ends
        if end.place is not None
    ]
    most = max((arc.multiplicity for arc in arcs), default=0)
    groups = joined(len(arcs) + len(points) * (most + 1), joins)
    pieces = [
        _curve_piece(k, [arc for arc in arcs if groups[arc.number] == group], points)
        for k, group in enumerate(dict.fromkeys(groups[: len(arcs)]))
    ]
    lone = [point for point in points if point.kind == "isolated"]
    pieces += [
        replace(_lone_piece(len(pieces) + k, [point]), component=point.component) for k, point in enumerate(lone)
    ]
    first = max([arc.component for arc in arcs] + [point.component for point in points], default=-1) + 1
    rigid = [SpacePiece(number=len(pieces) + k, dimension=0, component=first + k) for k in range(len(space.points))]
    return replace(space, pieces=(*pieces, *rigid))


def _curve_piece(number: int, arcs: Sequence[Branch], points: Sequence[SingularPoint]) -> SpacePiece:
    places = {end.place for arc in arcs for end in arc.ends}
    return SpacePiece(
        number=number,
        dimension=1,
        multiplicity=arcs[0].multiplicity,
        component=arcs[0].component,
        area=float(sum(arc.length for arc in arcs)),
        points=tuple(point for point in points if point.number in places),
    )
