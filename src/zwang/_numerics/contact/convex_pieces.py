"""Maximal convex pieces and connected components of a union of polyhedra.

The union of two polyhedra of one affine hull is convex if and only if no point of their envelope (the inequalities of
each that hold on the other) violates a dropped inequality of the one and a dropped inequality of the other (Bemporad,
Fukuda, Torrisi 2001); the envelope then is the union. Where several unions are possible, all maximal ones are kept:
they may overlap, and don't depend on the order in which they are found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.pieces import Piece, make_piece, nearness
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.polyhedra import Polyhedron, from_conditions
from zwang._numerics.linear.programs import deepest

Array = npt.NDArray[np.float64]

ALL_UNIONS = 24
"""Up to this many pieces every maximal union is looked for; beyond, pieces are merged as they come."""
MOST = 300
"""Beyond this many pieces of positive dimension none are merged."""


def same_acceleration(a: Piece, b: Piece, near: float) -> bool:
    """Whether two pieces can have an acceleration in common, told from the accelerations alone."""
    if not (a.unique and b.unique):
        return True
    scale = max(1.0, float(np.abs(a.polyhedron.point).max(initial=0.0)))
    return bool(np.abs(a.u - b.u).max(initial=0.0) <= near * scale)


def maximal(problem: Reduced, pieces: Sequence[Piece], tol: float) -> list[Piece]:
    """Drop pieces that are part of others, merge those whose union is convex."""
    near = nearness(tol)
    kept = _not_included(pieces, near)
    if sum(piece.polyhedron.dimension > 0 for piece in kept) > MOST:
        return kept
    waiting = _may_merge(kept, near)
    while waiting:
        i, j = waiting.pop(0)
        union = _union(problem, kept[i], kept[j], tol) if same_acceleration(kept[i], kept[j], near) else None
        if union is None or any(old.polyhedron.includes(union.polyhedron, near) for old in kept):
            continue
        if len(kept) < ALL_UNIONS:
            # Keeping both lets other unions with them be found; what is covered goes at the end.
            kept = [*kept, union]
            waiting += [pair for pair in _may_merge(kept, near) if len(kept) - 1 in pair]
        else:
            kept = _not_included([*kept, union], near)
            waiting = _may_merge(kept, near)
    return _not_included(kept, near)


def _may_merge(pieces: Sequence[Piece], near: float) -> list[tuple[int, int]]:
    """Pairs of pieces whose union passes a cheap test: points between their inner points lie in one of them."""
    if len(pieces) < 2:
        return []
    points = np.array([piece.polyhedron.point for piece in pieces])
    dimensions = np.array([piece.polyhedron.dimension for piece in pieces])
    possible = (dimensions[:, None] == dimensions) & (dimensions > 0)
    for weight in (0.5, 0.3, 0.1, 0.4, 0.2):
        # [i, j]: the point at `weight` from i to j lies in i; the one at 1 - weight lies in i as well
        close, far = (
            np.array([p.polyhedron.holds((1 - w) * p.polyhedron.point + w * points, near) for p in pieces])
            for w in (weight, 1.0 - weight)
        )
        possible &= close | far.T
        possible &= close.T | far
    return [(int(i), int(j)) for i, j in np.argwhere(possible) if i < j]


def _not_included(pieces: Sequence[Piece], near: float) -> list[Piece]:
    """Leave out pieces that are part of another; of equal ones the first stays."""
    if len(pieces) < 2:
        return list(pieces)
    points = np.array([piece.polyhedron.point for piece in pieces])
    gone: set[int] = set()
    for j, big in enumerate(pieces):
        if j in gone:
            continue
        for i in map(int, np.flatnonzero(big.polyhedron.holds(points, near))):
            if i != j and i not in gone and big.polyhedron.includes(pieces[i].polyhedron, near):
                gone.add(i)
    return [piece for i, piece in enumerate(pieces) if i not in gone]


def _union(problem: Reduced, a: Piece, b: Piece, tol: float) -> Piece | None:
    first, second = a.polyhedron, b.polyhedron
    if not (first.whole and second.whole) or first.dimension != second.dimension or first.dimension == 0:
        return None
    basis, origin = first.basis, first.point
    off, near = second.point - origin, nearness(tol)
    scale = max(1.0, float(np.abs(off).max()))
    if np.abs(off - basis @ (basis.T @ off)).max() > near * scale:
        return None
    if np.abs(second.basis - basis @ (basis.T @ second.basis)).max() > 100 * near:
        return None
    envelope, dropped_first, dropped_second = _envelope(first, second, near)
    if not _covers(envelope, dropped_first, dropped_second, basis, origin, tol):
        return None
    hull = np.linalg.svd(basis)[0][:, basis.shape[1] :].T
    merged = from_conditions(np.column_stack([hull, -hull @ origin]), envelope, tol)
    doubt = a.marginal or b.marginal
    return None if merged is None else make_piece(problem, merged, None, doubt)


def _envelope(first: Polyhedron, second: Polyhedron, near: float) -> tuple[Array, Array, Array]:
    mine = _valid(first.inequalities, second, near)
    theirs = _valid(second.inequalities, first, near)
    envelope = np.concatenate([first.inequalities[mine], second.inequalities[theirs]])
    return envelope, first.inequalities[~mine], second.inequalities[~theirs]


def _valid(inequalities: Array, polyhedron: Polyhedron, near: float) -> npt.NDArray[np.bool_]:
    """Which inequalities hold on a polyhedron."""
    values = inequalities[:, :-1] @ polyhedron.vertices.T + inequalities[:, -1:]
    scale = np.maximum(1.0, np.abs(polyhedron.vertices).max(axis=1, initial=0.0))
    holds = (values >= -near * scale).all(axis=1)
    rates = inequalities[:, :-1] @ np.concatenate([polyhedron.rays, polyhedron.lines, -polyhedron.lines]).T
    valid: npt.NDArray[np.bool_] = holds & (rates >= -near).all(axis=1)
    return valid


def _covers(envelope: Array, first: Array, second: Array, basis: Array, origin: Array, tol: float) -> bool:
    """Whether the envelope is covered: nowhere in it a dropped inequality of each side fails."""

    def within(rows: Array) -> Array:
        return np.column_stack([rows[:, :-1] @ basis, rows[:, :-1] @ origin + rows[:, -1]])

    inside = within(envelope)
    inside = inside[np.linalg.norm(inside[:, :-1], axis=1) > 1e-10]
    for a in within(first):
        for b in within(second):
            if min(np.linalg.norm(a[:-1]), np.linalg.norm(b[:-1])) <= 1e-10:
                continue
            # opposite half-spaces leave nothing outside both
            if np.abs(a / np.linalg.norm(a[:-1]) + b / np.linalg.norm(b[:-1])).max() <= 1e-8:
                continue
            # The envelope itself may be thin; only room outside both counts.
            found = _room(inside, np.array([-a, -b]))
            if found > 100 * tol:
                return False
    return True


def _room(inside: Array, outside: Array) -> float:
    """How far both of two rows can be positive in {inside >= 0} (at most 1); -1 if that set is empty."""
    weight = np.append(np.zeros(len(inside)), np.ones(len(outside)))
    found = deepest(np.zeros((0, inside.shape[1])), np.concatenate([inside, outside]), weight)
    return -1.0 if found is None else found[1]


def components(pieces: Sequence[Piece], *, near: float = 2e-10, most: int = 2_000) -> list[int]:
    """Number the connected components: pieces that touch are in one. Numbers follow the order of the pieces."""
    parent = list(range(len(pieces)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    programs = 0
    for i, a in enumerate(pieces):
        for j in range(i):
            if root(i) == root(j) or not same_acceleration(a, pieces[j], near):
                continue
            touching = _share_a_point(a.polyhedron, pieces[j].polyhedron, near)
            if touching is None and programs < most:
                programs += 1
                touching = _intersect(a.polyhedron, pieces[j].polyhedron, near)
            if touching:
                parent[root(i)] = root(j)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(i), len(numbers)) for i in range(len(pieces))]


def _share_a_point(a: Polyhedron, b: Polyhedron, near: float) -> bool | None:
    """Look for a vertex of one in the other; None if that does not settle it."""
    if a.holds(b.vertices, near).any() or b.holds(a.vertices, near).any():
        return True
    return False if a.dimension == 0 or b.dimension == 0 else None


def _intersect(a: Polyhedron, b: Polyhedron, near: float) -> bool:
    equations = np.concatenate([a.equations, b.equations])
    found = deepest(np.zeros((0, equations.shape[1])), _loosened(equations, a, b, near))
    return found is not None and found[1] >= 0.0


def _loosened(equations: Array, a: Polyhedron, b: Polyhedron, near: float) -> Array:
    """Every condition of both as inequalities with `near` to spare: two sets that meet up to rounding meet."""
    rows = np.concatenate([equations, -equations, a.inequalities, b.inequalities])
    rows[:, -1] += near
    return rows
