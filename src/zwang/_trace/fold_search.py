"""Folds, sheets, assemblies and paths of a surface: the mesh says where to look, equations are solved for what is told.

The determinant of the projection changes its sign along an edge of the mesh that a fold cuts, once the bases of the
tangent planes at its ends are turned alike. Sheets are what hangs together along edges that no fold cuts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import between, quaternions_in
from zwang._numerics.surfaces.cut import Mesh, areas
from zwang._numerics.surfaces.glue import edges_of
from zwang._results.folds import Assembly, FoldCurve, FoldPoint, Folds, Sheets, SurfaceSheet
from zwang._results.surface import state_at
from zwang._trace.surface_projection import Projection
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FLAT = 1e-7
"""A curve whose image is smaller than this part of that of the surface is collapsed."""
LOOKS, CLOSER = 33, 4
"""Places along an edge close to a crossing at which the determinant is looked at, and how often again where it is
least."""
AROUND = (1.5, 1.0, 0.7, 0.5, 2.0, 3.0)
"""Where folds cross, what is closer than so many steps belongs to either: the first that leaves four ways out."""
HALVINGS = 50  # of an edge
SAME = 1e-7  # scaled: places of one point


class FoldedSurface:
    """The mesh of a space over two quantities: the edges that folds cut, and what follows from them."""

    def __init__(self, space: Any, onto: Any) -> None:
        if space.surface is None:
            raise DeclarationError(
                f"{space.name}: folds belong to configuration spaces of dimension two that were meshed; this one has "
                f"dimension {space.dimension} and the status {space.status.name}."
            )
        self.space, self.made = space, Projection(space, onto)
        self.q, self.triangles = space.surface.points, space.surface.triangles
        self.edges, self.sides, _ = edges_of(self.triangles, len(self.q))
        self.made.require_even()
        self.T, self.D = self.made.tangents(self.q)
        self._require_independent()
        # Singular points of the surface have no tangent plane: what happens there is no fold.
        self.singular = self.made.singular(self.q) if space.singular_points or space.singular_curves else None
        self.cut = self._alike(self.edges[:, 0], self.edges[:, 1]) * self.D[self.edges].prod(axis=1) < 0
        if self.singular is not None:
            self.cut &= ~self.singular[self.edges].any(axis=1)
        self.kinks = self._distinct(self.made.kinks(self.q))
        self.flat = self._crossings()
        self.doubled = self._cut_twice()

    def _require_independent(self) -> None:
        """Refuse quantities of which one follows from the other on a whole piece."""
        largest, pieces = float(np.prod(self.made.reach)) / self.made.unit**2, self.space.surface.piece
        largest = max(largest, float(np.abs(self.D).max()))
        for number in np.unique(pieces):
            own = np.flatnonzero(pieces == number)
            if float(np.median(np.abs(self.D[own]))) >= 1e-9 * largest:
                continue
            at = state_at(self.space.coordinates, self.q[own[0]], self.space.t)
            where = ", ".join(f"{name} = {at[name]:.4g}" for name in self.space.coordinates)
            slopes = self.made.first(self.q[own])[3]
            flat = (
                np.abs(np.einsum("bpj,baj->bpa", slopes, self.T[own])).max(axis=(0, 2))
                < 1e-9 * max(self.made.reach) / self.made.unit
            )
            same = f", {' and '.join(np.array(self.made.onto)[flat])} being constant there" if flat.any() else ""
            raise DeclarationError(
                f"{self.space.name}: the quantities of onto=, {self.made.onto[0]} and {self.made.onto[1]}, depend on "
                f"each other on the surface, as at {where} (piece {number}){same}. Give two that change independently "
                "of each other."
            )

    def _alike(self, a: Ints, b: Ints) -> Array:
        """Return the sign by which the bases at points a and b are turned alike."""
        other = self.T[b].copy()
        for part in quaternions_in(self.made.periods):
            opposite = (self.q[a, part] * self.q[b, part]).sum(axis=1) < 0
            other[:, :, part] *= np.where(opposite, -1.0, 1.0)[:, None, None]
        M = np.einsum("kaj,kbj->kab", self.T[a], other)
        return np.asarray(np.sign(M[:, 0, 0] * M[:, 1, 1] - M[:, 0, 1] * M[:, 1, 0]))

    def _signs(self, a: Array, b: Array) -> NDArray[np.bool_]:
        """Say where the determinant changes its sign on the way from a to b (k, n).

        Next to a crossing it may do so twice within a small part of the way: there it is looked at again.
        """
        found, left = np.zeros(len(a), dtype=bool), np.arange(len(a))
        low, high = np.zeros(len(a)), np.ones(len(a))
        for _ in range(CLOSER):
            part = low[left, None] + (high - low)[left, None] * np.linspace(0, 1, LOOKS)
            changes, smallest = self._changes(a[left], b[left], part)
            found[left] = changes
            row, width = np.arange(len(left)), (high - low)[left] / (LOOKS - 1)
            low[left] = np.maximum(part[row, smallest] - width, low[left])
            high[left] = np.minimum(part[row, smallest] + width, high[left])
            left = left[~changes]
            if not len(left):
                break
        return found

    def _changes(self, a: Array, b: Array, part: Array) -> tuple[NDArray[np.bool_], Ints]:
        """Say where the determinant changes its sign between parts (k, l) of chords, and where it is smallest."""
        d = between(a, b, self.made.periods)
        q = self.made.onto_surface((a[:, None] + part[:, :, None] * d[:, None]).reshape(-1, self.made.n))
        T, D = self.made.tangents(q)
        T, D = T.reshape(*part.shape, 2, -1), D.reshape(part.shape)
        M = np.einsum("klaj,klbj->klab", T[:, :-1], T[:, 1:])
        alike = np.sign(M[..., 0, 0] * M[..., 1, 1] - M[..., 0, 1] * M[..., 1, 0])
        return np.asarray((alike * D[:, :-1] * D[:, 1:] < 0).any(axis=1)), np.abs(D).argmin(axis=1)

    def _crossings(self) -> Array:
        """Return the points at which both quantities are stationary."""
        near = self.triangles[self.cut[self.sides].sum(axis=1) == 2].ravel()
        if not len(near):
            return np.zeros((0, self.made.n))
        some = np.unique(near)
        slopes = self.made.first(self.q[some])[3]
        size = np.linalg.norm(np.einsum("bpj,baj->bpa", slopes, self.T[some]), axis=(1, 2))
        found = self.made.flat(self.q[some[size < 0.5 * np.median(size)]])
        return self._distinct(found)

    def _distinct(self, rows: Array, near: float = SAME) -> Array:
        kept: list[Array] = []
        for row in rows:
            if all(_apart(row, other, self.made.periods) > near * self.made.unit for other in kept):
                kept.append(row)
        return np.array(kept).reshape(len(kept), self.made.n)

    def _cut_twice(self) -> NDArray[np.bool_]:
        """Say which edges next to crossings folds cut twice: their ends have one sign and lie on different sheets."""
        found = np.zeros(len(self.edges), dtype=bool)
        long = np.linalg.norm(between(self.q[self.edges[:, 0]], self.q[self.edges[:, 1]], self.made.periods), axis=1)
        for centre in self.flat:
            away = np.linalg.norm(between(centre, self.q, self.made.periods), axis=1)
            close = np.flatnonzero(~self.cut & (away[self.edges].min(axis=1) < 2 * long))
            if len(close):
                found[close] |= self._signs(self.q[self.edges[close, 0]], self.q[self.edges[close, 1]])
        return found

    def state(self, q: Array) -> dict[str, float]:
        """Return a state at rest, angles within half a turn of zero."""
        turns = np.where(self.made.periods > 0, np.ceil((q - np.pi - 1e-9) / (2 * np.pi)), 0.0)
        return state_at(self.space.coordinates, q - 2 * np.pi * turns, self.space.t)

    # --- folds -----------------------------------------------------------------------------------------------------

    @cached_property
    def folds(self) -> Folds:
        """The folds."""
        numbers = np.flatnonzero(self.cut)
        a, b = self.q[self.edges[numbers, 0]], self.q[self.edges[numbers, 1]]
        part = np.abs(self.D[self.edges[numbers, 0]]) / np.abs(self.D[self.edges[numbers]]).sum(axis=1)
        points = self._placed(a, b, part)
        extent = np.ptp(self.made.values(self.q), axis=0).max()
        beside = self._beside(numbers)
        for centre in self.flat:
            points = self._straight_through(centre, beside, points)
        curves = [self._curve(ring, closed, points, extent) for ring, closed in _rings(beside)]
        onto = (self.made.onto[0], self.made.onto[1])
        return Folds(tuple(curves), onto, self.edges[self.cut | self.doubled])

    def _placed(self, a: Array, b: Array, part: Array) -> Array:
        """Return the points at which folds cut edges from a to b (k, n), near parts of them."""
        d = between(a, b, self.made.periods)
        starts = a + part[:, None] * d
        points = self.made.onto_folds(starts)
        moved = np.linalg.norm(between(starts, points, self.made.periods), axis=1)
        lost = np.flatnonzero(~(moved < np.linalg.norm(d, axis=1)))
        # Next to a place without derivatives Newton's method runs away: there the change of sign is closed in on.
        low, high = np.zeros(len(lost)), np.ones(len(lost))
        T, D = self.made.tangents(a[lost])
        for _ in range(HALVINGS if len(lost) else 0):
            middle = (low + high) / 2
            points[lost] = self.made.onto_surface(a[lost] + middle[:, None] * d[lost])
            T_there, D_there = self.made.tangents(points[lost])
            before = np.linalg.det(np.einsum("kaj,kbj->kab", T, T_there)) * D * D_there > 0
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return points

    def _beside(self, numbers: Ints) -> dict[int, list[int]]:
        """Return which cut edges, as places in `numbers`, are next to each other along a fold."""
        place = {int(edge): k for k, edge in enumerate(numbers)}
        beside: dict[int, list[int]] = {k: [] for k in range(len(numbers))}
        for sides in self.sides[self.cut[self.sides].sum(axis=1) == 2]:
            one, two = (place[int(edge)] for edge in sides if self.cut[edge])
            beside[one].append(two)
            beside[two].append(one)
        return beside

    def _straight_through(self, centre: Array, beside: dict[int, list[int]], points: Array) -> Array:
        """Lead folds straight through a crossing, which becomes a point of each; return the points with it.

        The mesh says which edges are cut, not by which of two folds that cross inside one of its triangles.
        """
        away = np.linalg.norm(between(centre, points, self.made.periods), axis=1)
        length = [
            _apart(points[k], points[j], self.made.periods) for k in np.argsort(away)[:8] for j in beside.get(k, ())
        ]
        ways = self.made.crossing(centre)
        for around in AROUND if len(ways) else ():
            inner = {k for k in np.flatnonzero(away < around * max(length, default=0.0)).tolist() if k in beside}
            ends = sorted({j for k in inner for j in beside[k]} - inner)
            along = between(centre, points[ends], self.made.periods).reshape(len(ends), self.made.n) @ ways.T
            which = np.abs(along).argmax(axis=1) if ends else np.zeros(0, dtype=int)
            # Four ways out, each fold forth and back.
            signed = sorted(
                (int(k), float(np.sign(row[k])), end) for k, row, end in zip(which, along, ends, strict=True)
            )
            if [item[:2] for item in signed] == [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0)]:
                break
        else:
            return points
        for k in inner:
            for j in beside.pop(k):
                if j in beside:
                    beside[j].remove(k)
        for pair in ([end for *_, end in signed[:2]], [end for *_, end in signed[2:]]):
            beside[len(points)] = pair
            for end in pair:
                beside[end].append(len(points))
            points = np.concatenate([points, centre[None]])
        return points

    def _curve(self, ring: list[int], closed: bool, points: Array, extent: float) -> FoldCurve:
        q = points[ring]
        values = self.made.values(q)
        collapsed = bool(np.abs(between(values[0], values, self.made.turns)).max() < FLAT * extent)
        cusps = [] if collapsed else self._cusps(q, closed)
        spacing = np.linalg.norm(between(q[:-1], q[1:], self.made.periods), axis=1).max(initial=0.0)
        through = (points[:, None] == self.flat[None]).all(axis=2).any(axis=0)
        met, kinks = (
            [c for c, room in zip(special, near, strict=True) if _apart_from(c, q, self.made.periods) <= room]
            for special, near in (
                (self.flat, np.where(through, 0.0, 2 * spacing)),
                (self.kinks, np.full(len(self.kinks), 2 * spacing)),
            )
        )
        piece = int(self.space.surface.piece[self.nearest(q[0])])
        states = np.array([list(self.state(row).values())[: self.made.n] for row in q])
        return FoldCurve(
            names=self.space.coordinates, t=self.space.t, points=states, values=values, closed=closed,
            cusps=tuple(map(self._point, cusps)), crossings=tuple(map(self._point, met)),
            kinks=tuple(map(self._point, kinks)), collapsed=collapsed, piece=piece,
        )  # fmt: skip

    def _point(self, q: Array) -> FoldPoint:
        first, second = self.made.values(q[None])[0]
        return FoldPoint(self.state(q), (float(first), float(second)))

    def _cusps(self, q: Array, closed: bool) -> list[Array]:
        """Return the cusps of a fold; where a quantity has no derivative there is none."""
        turn, normal = self.made.turning(q)
        cusps: list[Array] = []
        pairs = [(k, (k + 1) % len(q)) for k in range(len(q) if closed else len(q) - 1)]
        for i, j in pairs:
            sign = 1.0 if normal[i] @ normal[j] >= 0 else -1.0
            if not turn[i] * turn[j] * sign < 0:
                continue
            if any(np.linalg.norm(between(q[i], c, self.made.periods)) < 3 * _apart(q[i], q[j], self.made.periods)
                   for c in self.flat):  # fmt: skip
                continue  # next to a crossing the fold goes over to another branch
            root = self._turn(q[i], q[j], normal[i])
            if root is not None and not any(
                _apart(root, kink, self.made.periods) < SAME * self.made.unit for kink in self.kinks
            ):
                cusps.append(root)
        return list(self._distinct(np.array(cusps)))

    def _turn(self, a: Array, b: Array, normal: Array) -> Array | None:
        """Return the point of a fold between two of its points at which it turns smoothly, None where it does not."""
        from scipy.optimize import brentq

        d = between(a, b, self.made.periods)

        def turn(s: float) -> float:
            value, own = self.made.turning(self.made.onto_folds((a + s * d)[None]))
            return float(value[0] * (1.0 if own[0] @ normal >= 0 else -1.0))

        low, high = turn(0.0), turn(1.0)
        if not low * high < 0:
            return None
        root = brentq(turn, 0.0, 1.0, xtol=1e-15, rtol=1e-14)
        found = self.made.onto_folds((a + root * d)[None])[0]
        return found if abs(turn(root)) < 1e-6 * max(abs(low), abs(high)) else None

    # --- sheets ----------------------------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> Ints:
        """The number of the sheet of each point of the mesh, the largest sheet first."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        kept = self.edges[~(self.cut | self.doubled)]
        size = len(self.q)
        if self.singular is not None:
            # No sheet leads through a singular point; it counts to one of those that end there.
            through = self.singular[kept].any(axis=1)
            _, first = np.unique(np.where(self.singular[kept[through]], kept[through], -1).max(axis=1), True)
            kept = np.concatenate([kept[~through], kept[through][first]])
            kept = kept[~self.singular[kept].all(axis=1)]
        graph = coo_array((np.ones(len(kept), dtype=np.int8), (kept[:, 0], kept[:, 1])), shape=(size, size))
        count, label = connected_components(graph, directed=False)
        share = np.bincount(label[self.triangles].ravel(), np.repeat(self._areas() / 3, 3), minlength=count)
        order = np.argsort(-share, kind="stable")
        number = np.empty(count, dtype=np.int64)
        number[order] = np.arange(count)
        return np.asarray(number[label])

    def _areas(self) -> Array:
        return areas(Mesh(self.q, self.triangles), self.made.periods, np.ones(self.made.n))

    @cached_property
    def sheets(self) -> Sheets:
        """The sheets."""
        label = self.labels
        parts = self._shares(label)
        found = []
        for k in range(int(label.max()) + 1):
            own = np.flatnonzero(label == k)
            edges = (label[self.edges] == k).all(axis=1) & ~(self.cut | self.doubled)
            whole = (label[self.triangles] == k).all(axis=1) & ~(self.cut | self.doubled)[self.sides].any(axis=1)
            euler = len(own) - int(edges.sum()) + int(whole.sum())
            piece = int(self.space.surface.piece[own[0]])
            found.append(SurfaceSheet(number=k, piece=piece, area=float(parts[k]), euler=euler, vertices=own))
        return Sheets(tuple(found), (self.made.onto[0], self.made.onto[1]), lambda state: self.sheet_of(state, label))

    def _shares(self, label: Ints) -> Array:
        """Return the area of each sheet; a triangle that a fold cuts is divided along the straight line between."""
        total = np.zeros(int(label.max()) + 1)
        for triangle, sides, area in zip(self.triangles, self.sides, self._areas(), strict=True):
            cut = self.cut[sides]
            if cut.sum() != 2:
                total[label[triangle[0]]] += area
                continue
            alone = int(np.flatnonzero(~cut)[0])
            size = np.abs(self.D[triangle])
            others = [k for k in range(3) if k != alone]
            part = np.prod([size[alone] / max(size[alone] + size[k], 1e-300) for k in others])
            total[label[triangle[alone]]] += part * area
            total[label[triangle[others[0]]]] += (1 - part) * area
        return total

    def nearest(self, q: Array, count: int = 1) -> Any:
        """Return the numbers of the points of the mesh nearest to a configuration."""
        order = np.argsort(np.linalg.norm(between(q, self.q, self.made.periods), axis=1))
        return order[0] if count == 1 else order[:count]

    def sheet_of(self, state: Any, label: Ints) -> int:
        """Return the sheet of a state: that of the nearest point of the mesh to which no fold is in the way."""
        q = state if isinstance(state, np.ndarray) else self.made.place(state, "the state")
        near = self.nearest(q, 12)
        clear = ~self._signs(np.repeat(q[None], len(near), axis=0), self.q[near])
        return int(label[near[clear][0]] if clear.any() else label[near[0]])

    # --- assemblies ------------------------------------------------------------------------------------------------

    def over(self, values: Any, complete: Any = None) -> list[Assembly]:
        """Return the configurations over values."""
        wanted = np.array([float(value) for value in values])
        folds = [fold for fold in self.folds if fold.collapsed]
        size = np.maximum(np.ptp(self.made.values(self.q), axis=0).max(), 1e-300)
        hit = [f for f in folds if np.abs(between(f.values[0], wanted, self.made.turns)).max() < FLAT * size]
        found = self._solved(wanted)
        if complete is not None and len(complete):
            again, miss = self.made.over(complete, wanted)
            found = self._distinct(np.concatenate([found, again[miss < 1e-10]]))
        for fold in hit:
            found = found[~self._along(fold, found)]
        label = self.labels
        result = [Assembly(self.state(row), self.sheet_of(row, label)) for row in found]
        return result + [Assembly(fold.states[0], None, fold) for fold in hit]

    def _along(self, fold: FoldCurve, q: Array) -> NDArray[np.bool_]:
        """Say which configurations (b, n) lie on a fold: close to its points, where the projection has no full rank."""
        spacing = np.linalg.norm(between(fold.points[:-1], fold.points[1:], self.made.periods), axis=1).max()
        away = [np.linalg.norm(between(row, fold.points, self.made.periods), axis=1).min() for row in q]
        flat = np.abs(self.made.tangents(q)[1]) < 1e-5 * np.median(np.abs(self.D))
        return np.asarray(flat & (np.array(away).reshape(-1) < spacing))

    def _solved(self, wanted: Array) -> Array:
        phi = self.made.values(self.q)
        corner = [between(wanted, phi[self.triangles[:, k]], self.made.turns) for k in range(3)]
        a, b, c = corner
        reach = np.maximum(np.maximum(np.linalg.norm(b - a, axis=1), np.linalg.norm(c - a, axis=1)), 1e-300)
        middle = (a + b + c) / 3
        close = np.linalg.norm(middle, axis=1) < 1.5 * reach
        starts = self.q[self.triangles[close, 0]]
        if not len(starts):
            return np.zeros((0, self.made.n))
        q, miss = self.made.over(starts, wanted)
        good = (miss < 1e-10) & np.isfinite(q).all(axis=1)
        return self._distinct(q[good])


def _rings(beside: dict[int, list[int]]) -> list[tuple[list[int], bool]]:
    """Return what is next to each other one after the other, and whether it closes."""
    found, left = [], set(beside)
    for start in sorted(beside, key=lambda k: (len(beside[k]), k)):
        if start not in left:
            continue
        ring, here = [start], start
        left.discard(start)
        while onward := [k for k in beside[here] if k in left]:
            here = onward[0]
            ring.append(here)
            left.discard(here)
        found.append((ring, len(ring) > 2 and start in beside[here]))
    return found


def _apart_from(a: Array, rows: Array, periods: Array) -> float:
    return float(np.linalg.norm(between(a, rows, periods), axis=1).min())


def _apart(a: Array, b: Array, periods: Array) -> float:
    return float(np.linalg.norm(between(a, b, periods)))
