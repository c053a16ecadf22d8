"""The solution set of a planar contact problem, decided exactly, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.enumeration import SearchOutcome
from zwang._numerics.contact.exact.mode_tree import ExactSearch
from zwang._numerics.contact.exact.rational import rational
from zwang._numerics.contact.exact.rational_polyhedra import (
    RationalPolyhedron,
    TooMany,
    at,
    dot,
    meet,
    polyhedron,
    union,
)
from zwang._numerics.contact.pieces import Piece, conditions, strict_rows
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.rest import yielding
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.polyhedra import Polyhedron

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Vector = tuple[Any, ...]

NODES = 5_000
"""Nodes of the exact search: seconds."""
MOST_PIECES = 60
"""Pieces beyond which pairs of them are not compared exactly."""


@dataclass(frozen=True)
class ExactPiece:
    """A convex piece of the solution set over the rationals; `modes` is None for a union of several."""

    body: RationalPolyhedron
    modes: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class ExactSet:
    """Everything that is decided exactly.

    Attributes
    ----------
    pieces : list of Piece
        The maximal convex pieces, rounded to doubles.
    components : list of int
        The connected component of each.
    accelerations : (a, n) array
        The distinct accelerations, for a continuum those of the vertices.
    continuum : bool
    found : set of tuples of int
        The modes that have solutions.
    """

    pieces: list[Piece]
    components: list[int]
    accelerations: Array
    continuum: bool
    found: frozenset[tuple[int, ...]]


def exact_set(
    problem: ContactProblem, reduced: Reduced, outcome: SearchOutcome, starts: Ints, slip_tol: float
) -> ExactSet | None:
    """Decide a finished search exactly: its leaves, and what it rejected by little, below the choices in `starts`.

    Returns None where the numbers are not rational (a slip of two components whose length is a root), or too large a
    problem remains.
    """
    if len(outcome.leaves) > MOST_PIECES:
        return None
    exact = rational(problem, reduced, slip_tol=slip_tol)
    if exact is None:
        return None
    search = ExactSearch(exact, NODES)
    if not search.below(starts):
        return None
    modes = {*search.modes(), *(tuple(int(m) for m in row) for row in outcome.leaves)}
    if len(modes) > MOST_PIECES:
        return None
    try:
        found = [piece for each in sorted(modes) if (piece := _piece(exact, each)) is not None]
        if exact.static:
            found = [
                piece
                for piece in found
                if yielding(exact, piece.modes or (), lambda other: _solvable(exact, other)) < 0
            ]
        pieces = maximal(found)
    except TooMany:
        return None
    accelerations, continuum = _accelerations(exact, pieces)
    return ExactSet(
        [_rounded(exact, reduced, piece) for piece in pieces],
        _components(pieces),
        accelerations,
        continuum,
        frozenset(piece.modes for piece in found if piece.modes is not None),
    )


def _solvable(problem: Reduced, modes: tuple[int, ...]) -> bool:
    return _piece(problem, modes) is not None


def _piece(problem: Reduced, modes: tuple[int, ...]) -> ExactPiece | None:
    """The closed set of a mode's solutions; None if it is empty, or a boundary of other modes."""
    equations, inequalities, _ = conditions(problem, modes)
    body = polyhedron([tuple(row) for row in equations], [tuple(row) for row in inequalities], problem.size)
    if body is None:
        return None
    for row, strict in zip(body.inequalities, strict_rows(problem, modes), strict=True):
        lines = [*body.lines, *(tuple(-x for x in line) for line in body.lines)]
        grows = any(at(row, v) > 0 for v in body.vertices) or any(
            dot(row[:-1], ray) > 0 for ray in [*body.rays, *lines]
        )
        if strict and not grows:
            return None
    return ExactPiece(body, modes)


def maximal(pieces: Sequence[ExactPiece]) -> list[ExactPiece]:
    """Drop pieces that are part of others, merge those whose union is convex, keeping every maximal union."""
    kept = _not_included(pieces)
    waiting = [(i, j) for j in range(len(kept)) for i in range(j)]
    while waiting and len(kept) <= MOST_PIECES:
        i, j = waiting.pop(0)
        both = union(kept[i].body, kept[j].body)
        if both is None or any(old.body.includes(both) for old in kept):
            continue
        kept = [*kept, ExactPiece(both, None)]
        waiting += [(i, len(kept) - 1) for i in range(len(kept) - 1)]
    return _not_included(kept)


def _not_included(pieces: Sequence[ExactPiece]) -> list[ExactPiece]:
    """Leave out pieces that are part of another; of equal ones the first stays."""
    gone: set[int] = set()
    for j, big in enumerate(pieces):
        if j not in gone:
            gone |= {i for i, other in enumerate(pieces) if i != j and i not in gone and big.body.includes(other.body)}
    return [piece for i, piece in enumerate(pieces) if i not in gone]


def _components(pieces: Sequence[ExactPiece]) -> list[int]:
    """Number the connected components in the order of the pieces."""
    group = list(range(len(pieces)))
    for i, a in enumerate(pieces):
        for j in range(i):
            if group[i] != group[j] and meet(a.body, pieces[j].body):
                old, new = group[i], group[j]
                group = [new if g == old else g for g in group]
    numbers: dict[int, int] = {}
    return [numbers.setdefault(g, len(numbers)) for g in group]


def _response(problem: Reduced, z: Vector) -> Vector:
    """The acceleration of the coordinates for given forces."""
    forces = np.array([*z, 1], dtype=object)
    return tuple(forces @ np.vstack([problem.response, problem.drift[None, :]]))


def _still(problem: Reduced, piece: ExactPiece) -> bool:
    """Whether all forces of a piece give one acceleration."""
    return not any(any(np.array(direction, dtype=object) @ problem.response) for direction in piece.body.spread)


def _accelerations(problem: Reduced, pieces: Sequence[ExactPiece]) -> tuple[Array, bool]:
    found: dict[Vector, None] = {}
    continuum = False
    for piece in pieces:
        still = _still(problem, piece)
        continuum |= not still
        for z in [piece.body.inside] if still else piece.body.vertices:
            found[_response(problem, z)] = None
    return np.array([[float(x) for x in w] for w in found]).reshape(-1, len(problem.drift)), continuum


def _rounded(problem: Reduced, scaled: Reduced, piece: ExactPiece) -> Piece:
    """The piece in doubles and in the scaled forces of `scaled`."""
    body, unit = piece.body, scaled.unit

    def points(vectors: Sequence[Vector], *, directions: bool) -> Array:
        rows = np.array([[float(x) for x in v] for v in vectors]).reshape(-1, len(unit)) / unit
        return rows / np.linalg.norm(rows, axis=1)[:, None] if directions else rows

    def rows(vectors: Sequence[Vector]) -> Array:
        found = np.array([[float(x) for x in v] for v in vectors]).reshape(-1, len(unit) + 1) * np.append(unit, 1.0)
        sizes = np.abs(found).max(axis=1, initial=0.0)[:, None]
        unit_rows: Array = found / np.where(sizes > 0, sizes, 1.0)
        return unit_rows

    basis = points(body.spread, directions=True)
    inside = points([body.inside], directions=False)[0]
    u = [dot(row, body.inside) + free for row, free in zip(problem.gram, problem.free, strict=True)]
    flat = Polyhedron(
        rows(body.equations),
        rows(body.inequalities),
        points(body.vertices, directions=False),
        points(body.rays, directions=True),
        points(body.lines, directions=True),
        np.linalg.qr(basis.T)[0] if len(basis) else np.zeros((len(unit), 0)),
        inside,
    )
    accelerations = np.array([float(x) for x in u]) / scaled.acceleration_unit
    return Piece(flat, piece.modes, "", _still(problem, piece), accelerations, sharp=True)
