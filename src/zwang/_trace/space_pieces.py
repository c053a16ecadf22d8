"""Pieces of a configuration space: parts of one dimension and multiplicity that hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._declare.plain import to_dict
from zwang._numerics.identified import between
from zwang._numerics.surfaces import growth
from zwang._numerics.surfaces.cut import Mesh, areas, compact, loops_of
from zwang._numerics.surfaces.glue import Glued, edges_of
from zwang._numerics.surfaces.hollow import ON, Hollow
from zwang._numerics.surfaces.topology import Topology, topology
from zwang._results.configuration import ArcEnd, Branch, ConfigurationSpace, SingularPoint, TraceStatus
from zwang._results.configuration_strata import LocalType
from zwang._results.surface import SingularCurve, SpacePiece, SurfaceMesh
from zwang._trace.sampled import SampledSearch
from zwang._trace.singular_curves import CurveArc, CurveGraph
from zwang._trace.strata import node_type
from zwang._trace.surface_cover import Cover

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def assembled(
    space: ConfigurationSpace,
    cover: Cover,
    spread: growth.Spread,
    glued: Glued,
    singular: tuple[Sequence[LocalType], CurveGraph],
    reasons: list[str],
) -> ConfigurationSpace:
    """Return a space with its surface, its pieces, its singular points and curves."""
    count = int(spread.counts[growth.COUNT])
    mesh = cover.trimmed(Mesh(spread.points[:count].copy(), glued.triangles))
    e, scale, hollow, (found, graph) = cover.search.equations, cover.given.scale, cover.hollow, singular
    shape = topology(mesh.triangles, len(mesh.points))
    closed = _closed(mesh, shape, hollow)
    if closed.failed:
        reasons.append(f"At {closed.failed} edges the surface could not be joined to its singular curves.")
    parts, locals_ = len(shape.euler), [*found, *(node_type(cover.search, e.n - 2, q) for q in graph.nodes)]
    component = _components(parts, len(locals_), graph, closed, hollow)
    points = [_point(k, local, component[parts + k], e.n - 2, e.n) for k, local in enumerate(locals_)]
    curves = _curves(cover.search, graph, component[parts + len(points) :], len(found))
    area = areas(closed.mesh, cover.extent.periods, scale)
    pieces: list[SpacePiece] = []
    for k in range(max(component, default=-1) + 1):
        own = [p for p in range(parts) if component[p] == k]
        mine = [point for point in points if point.component == k]
        if own:
            lines = [curve.number for curve in curves if curve.component == k and curve.kind != "isolated"]
            made = _surface_piece((k, len(pieces)), own, shape, closed, area)
            pieces.append(replace(made, points=tuple(mine), curves=tuple(lines)))
        bare = [curve for curve in curves if curve.component == k and curve.kind == "isolated"]
        if bare or not own:
            pieces.append(_bare_piece((k, len(pieces)), bare, mine))
    piece = np.zeros(len(closed.mesh.points), dtype=np.int64)
    first = {item.component: item.number for item in reversed(pieces) if item.dimension == 2}
    numbers = np.array([first[component[p]] for p in range(parts)], dtype=np.int64)
    piece[closed.mesh.triangles.ravel()] = np.repeat(numbers[closed.part], 3)
    f, _ = cover.constraints(closed.mesh.points)
    q = cover.search.region.upright(cover.search.region.shifted(closed.mesh.points * scale, e.angles))
    reason = " ".join(reasons)
    return replace(
        space,
        status=TraceStatus.UNFINISHED if reason else TraceStatus.TRACED,
        surface=SurfaceMesh(points=q, triangles=closed.mesh.triangles, piece=piece, chord=cover.chord(mesh)),
        pieces=tuple(pieces),
        components=max(component, default=-1) + 1,
        singular_points=tuple(points),
        singular_curves=tuple(curves),
        declared=to_dict(e.system),
        notes=(*space.notes, *_far(cover, closed.mesh)),
        residual=float(np.abs(f).max(initial=0.0)),
        reason=reason or space.reason,
    )


def _far(cover: Cover, mesh: Mesh) -> list[str]:
    """Say along which coordinates a surface leaves the region that was searched, where no box was given."""
    low, high = cover.extent.limits
    open_ = np.isfinite(low) & ~cover.search.region.boxed
    near = 1e-9 * np.where(open_, high - low, 1.0)
    met = ((mesh.points <= low + near) | (mesh.points >= high - near)).any(axis=0) & open_
    names = [name for name, far in zip(cover.search.equations.names, met, strict=True) if far]
    return [
        f"The surface leaves the region that was searched along {', '.join(names)}; give a box to say how far."
    ] if names else []  # fmt: skip


def _components(parts: int, points: int, graph: CurveGraph, closed: ClosedMesh, hollow: Hollow) -> list[int]:
    """Return the component of each part of the smooth mesh, of each singular point, and of each arc of such."""
    first = parts + points
    joins = [
        (first + k, parts + points - len(graph.nodes) + place)
        for k, arc in enumerate(graph.arcs)
        for kind, place in arc.ends
        if kind == "singular"
    ]
    sheets = [k for k, arc in enumerate(graph.arcs) if arc.kind != "isolated"]
    of_site = {int(site): first + k for k, own in zip(sheets, hollow.numbers, strict=True) for site in own}
    of_site |= {k: parts + k for k in range(points)}
    joins += [(int(part), of_site[int(site)]) for part, site in closed.joins]
    groups = joined(first + len(graph.arcs), joins)
    numbers = {group: k for k, group in enumerate(dict.fromkeys(groups))}
    return [numbers[group] for group in groups]


def _curves(search: SampledSearch, graph: CurveGraph, component: Sequence[int], first: int) -> list[SingularCurve]:
    e = search.equations

    def end(kind: str, place: int) -> ArcEnd:
        if kind == "singular":
            return ArcEnd(kind, first + place)
        if kind in ("box", "far"):
            return ArcEnd(kind, None, e.names[place])
        return ArcEnd(kind, None, str(e.gaps[place].name) if kind == "contact" else None)

    def length(arc: CurveArc) -> float:
        steps = np.diff(arc.points, axis=0)
        if arc.ends[0][0] == "closed":
            back = between(arc.points[-1], arc.points[0], search.solver.identified)
            steps = np.concatenate([steps, back[None]])
        return float(np.linalg.norm(steps, axis=1).sum())

    return [
        SingularCurve(
            number=k,
            kind=arc.kind,
            coordinates=e.names,
            t=search.place.t,
            points=arc.points,
            ends=(end(*arc.ends[0]), end(*arc.ends[1])),
            length=length(arc),
            component=component[k],
        )
        for k, arc in enumerate(graph.arcs)
    ]


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


class ClosedMesh(NamedTuple):
    """A mesh with its singularities put in again.

    Attributes
    ----------
    mesh : Mesh
    part : (f,) int array
        The part of the smooth mesh that each triangle belongs to.
    joins : list of (int, int)
        Parts and the sites that they end in.
    failed : int
        Edges of the rim that could not be joined to a site.
    loops : list of int arrays
        Closed lines along which the surface ends, as numbers of points.
    """

    mesh: Mesh
    part: Ints
    joins: list[tuple[int, int]]
    failed: int
    loops: list[Ints]


def _closed(mesh: Mesh, shape: Topology, hollow: Hollow) -> ClosedMesh:
    """Return the mesh with triangles from its rim to the singular points and curves."""
    rim = np.concatenate([np.zeros((0, 2), dtype=np.int64), *shape.rims])
    owner = np.repeat(shape.rim_part, [len(item) for item in shape.rims])
    whole, part, joins, failed = mesh, shape.part, [], 0
    if hollow and len(rim):
        used = np.unique(rim)
        on = np.zeros(len(mesh.points), dtype=bool)
        on[used] = np.abs(hollow.measure(mesh.points[used])) <= ON * hollow.narrowest
        inner = on[rim].all(axis=1)
        # Points of the rim from which it goes on along a bound.
        last = np.zeros(len(mesh.points), dtype=bool)
        last[rim[~inner].ravel()] = True
        feet = np.full(len(mesh.points), -1, dtype=np.int64)
        feet[used] = hollow.feet(mesh.points[used], last[used])
        inner &= (feet[rim] >= 0).all(axis=1)
        collars, of, failed = hollow.collars(rim[inner], feet, len(mesh.points))
        whole = Mesh(np.concatenate([mesh.points, hollow.sites]), np.concatenate([mesh.triangles, collars]))
        part = np.concatenate([part, owner[inner][of]])
        joins = list(dict.fromkeys(zip(owner[inner].tolist(), feet[rim[inner][:, 0]].tolist(), strict=True)))
        whole, _ = compact(whole)
    edges, _, uses = edges_of(whole.triangles, len(whole.points))
    return ClosedMesh(whole, part, joins, failed, loops_of(edges[uses == 1], whole.points, hollow.periods))


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
    numbers: tuple[int, int],
    parts: Sequence[int],
    shape: Topology,
    closed: ClosedMesh,
    area: Array,
) -> SpacePiece:
    """Return the piece that some parts of a mesh make which meet in singular points and curves."""
    own = closed.mesh.triangles[np.isin(closed.part, parts)]
    corners = np.unique(own)
    edges, _, _ = edges_of(own, len(closed.mesh.points))
    loops = [loop for loop in closed.loops if np.isin(loop[:1], corners).all()]
    return SpacePiece(
        number=numbers[1],
        dimension=2,
        component=numbers[0],
        euler=len(corners) - len(edges) + len(own),
        smooth_euler=int(shape.euler[list(parts)].sum()),
        orientable=bool(shape.orientable[list(parts)].all()),
        genus=sum(shape.genus(part) for part in parts),
        area=float(area[np.isin(closed.part, parts)].sum()),
        loops=np.concatenate([*loops, np.zeros(0, dtype=np.int64)]),
        starts=np.cumsum([0, *(len(loop) for loop in loops)])[:-1].astype(np.int64),
    )


def _bare_piece(
    numbers: tuple[int, int], curves: Sequence[SingularCurve], points: Sequence[SingularPoint]
) -> SpacePiece:
    """Return the piece that lines without a sheet make, or a single point."""
    places = {end.place for curve in curves for end in curve.ends}
    return SpacePiece(
        number=numbers[1],
        dimension=1 if curves else 0,
        component=numbers[0],
        area=float(sum(curve.length for curve in curves)),
        curves=tuple(curve.number for curve in curves),
        points=tuple(point for point in points if not curves or point.number in places),
    )


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
    pieces += [_bare_piece((point.component, len(pieces) + k), [], [point]) for k, point in enumerate(lone)]
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
