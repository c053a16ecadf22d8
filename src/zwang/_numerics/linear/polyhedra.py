"""Convex polyhedra given by equations and inequalities, and the points, rays and lines that generate them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zwang._numerics.linear.double_description import MOST_ROWS, extreme_rays
from zwang._numerics.linear.programs import deepest
from zwang._numerics.tolerances import THRESHOLDS

Array = npt.NDArray[np.float64]

RANK = THRESHOLDS.rounding
FACE = 1e-11
"""An inequality is an equality at a generator up to this number (rows and rays of unit length)."""
MOST_RAYS = 4_000  # of a cone; beyond it its vertices are not listed


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """{x : equations @ x + e = 0, inequalities @ x + h >= 0}, and its generators.

    Attributes
    ----------
    equations, inequalities : (., m + 1) arrays
        Rows of coefficients; the constant is last.
    vertices, rays, lines : (., m) arrays
        The polyhedron is the convex hull of the vertices plus the cone of the rays plus the span of the lines. With
        lines there are no true vertices; those listed span it all the same.
    basis : (m, d) array
        Orthonormal directions of the affine hull.
    point : (m,) array
        In the relative interior.
    whole : bool
        False if there were too many vertices or inequalities to list the generators; only `point` is known then.
    """

    equations: Array
    inequalities: Array
    vertices: Array
    rays: Array
    lines: Array
    basis: Array
    point: Array
    whole: bool = True

    @property
    def dimension(self) -> int:
        """Dimension of the affine hull."""
        return int(self.basis.shape[1])

    def holds(self, points: Array, tol: float, *, constant: float = 1.0) -> npt.NDArray[np.bool_]:
        """Tell of each point (row) whether it lies in the polyhedron up to `tol`; of directions with constant 0."""
        size = np.maximum(1.0, np.abs(points).max(axis=1, initial=0.0))
        extended = np.column_stack([points, np.full(len(points), constant)]) / size[:, None]
        off = np.abs(extended @ self.equations.T).max(axis=1, initial=0.0)
        below = -(extended @ self.inequalities.T).min(axis=1, initial=0.0)
        within: npt.NDArray[np.bool_] = np.maximum(off, below) <= tol
        return within

    def includes(self, other: Polyhedron, tol: float) -> bool:
        """Whether the other polyhedron is a part of this one."""
        if not other.whole or other.dimension > self.dimension:
            return False
        if self.dimension == 0:  # equations that hold up to tol may still leave points far apart
            size = max(1.0, float(np.abs(self.point).max(initial=0.0)))
            return bool(np.abs(self.point - other.point).max(initial=0.0) <= tol * size)
        both = np.concatenate([other.rays, other.lines, -other.lines])
        return bool(self.holds(other.vertices, tol).all() and self.holds(both, tol, constant=0.0).all())


def affine_solution(equations: Array) -> tuple[Array, Array, float, float]:
    """Solve equations @ (x, 1) = 0.

    Returns
    -------
    point : the solution of least norm
    basis : (m, d) orthonormal basis of the null space
    residual : the largest remainder
    gap : the singular value, relative to the largest, that the rank was decided by (the least one kept)
    """
    matrix, target = equations[:, :-1], -equations[:, -1]
    m = matrix.shape[1]
    if not len(matrix):
        return np.zeros(m), np.eye(m), 0.0, 1.0
    left, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > RANK * max(sizes.max(initial=0.0), 1e-300)).sum())
    inverse = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T
    point = inverse @ target
    point += inverse @ (target - matrix @ point)
    residual = float(np.abs(matrix @ point - target).max(initial=0.0))
    return point, right[rank:].T, residual, float(sizes[rank - 1] / sizes[0]) if rank else 1.0


def from_conditions(
    equations: Array, inequalities: Array, tol: float, known: tuple[Array, Array] | None = None
) -> Polyhedron | None:
    """Return the polyhedron, None if it is empty (by more than tol); `known` are point and basis of its equations."""
    given = (equations, inequalities)
    point, basis = known or affine_solution(equations)[:2]
    if not basis.shape[1]:
        empty = np.zeros((0, len(point)))
        return Polyhedron(*given, point[None, :], empty, empty, basis, point)
    reduced = np.column_stack([inequalities[:, :-1] @ basis, inequalities[:, :-1] @ point + inequalities[:, -1]])
    generators = _generators(reduced, tol)
    if generators is None:
        return _unlisted(equations, inequalities, basis, tol)
    vertices, rays, lines = generators
    if not len(vertices):
        return None
    whole = (point + vertices @ basis.T, rays @ basis.T, lines @ basis.T)
    return _assemble(*given, *whole)


def _unlisted(equations: Array, inequalities: Array, basis: Array, tol: float) -> Polyhedron | None:
    """A polyhedron whose generators are too many to list: a point of its relative interior, and its affine hull.

    `basis` is that of the equations' solutions.
    """
    found = deepest(equations, inequalities)
    if found is None or found[1] < -tol:
        return None
    tight, points = np.zeros(len(inequalities), dtype=bool), [found[0]]
    if found[1] <= tol:  # some inequalities hold as equalities everywhere: those that can't be made positive
        for i, row in enumerate(inequalities):
            reach = deepest(
                equations, np.concatenate([inequalities, [row]]), np.eye(1, len(inequalities) + 1, len(inequalities))[0]
            )
            tight[i] = reach is None or reach[1] <= tol
            points += [] if reach is None else [reach[0]]
    if tight.any():
        _, basis, _, _ = affine_solution(np.concatenate([equations, inequalities[tight]]))
    empty = np.zeros((0, equations.shape[1] - 1))
    inside = np.mean(points, axis=0)
    return Polyhedron(equations, inequalities, empty, empty, empty, basis, inside, whole=False)


def coordinate_ranges(polyhedron: Polyhedron) -> tuple[Array, Array]:
    """Return the least and greatest value of every coordinate, by linear programs."""
    from scipy.optimize import linprog

    m = polyhedron.equations.shape[1] - 1
    ends = np.zeros((2, m))
    for i in range(m):
        for end, sign in enumerate((1.0, -1.0)):
            result = linprog(
                sign * np.eye(1, m, i)[0],
                A_ub=-polyhedron.inequalities[:, :-1],
                b_ub=polyhedron.inequalities[:, -1],
                A_eq=polyhedron.equations[:, :-1],
                b_eq=-polyhedron.equations[:, -1],
                bounds=(None, None),
                method="highs",
            )
            ends[end, i] = sign * result.fun if result.status == 0 else -sign * np.inf
    return ends[0], ends[1]


def _assemble(equations: Array, inequalities: Array, vertices: Array, rays: Array, lines: Array) -> Polyhedron:
    vertices, rays = _sorted(vertices), _sorted(rays)
    spread = np.concatenate([vertices[1:] - vertices[0], rays, lines])
    basis = _span(spread, float(np.abs(vertices).max(initial=1.0)))
    inside = vertices.mean(axis=0) + rays.sum(axis=0)
    return Polyhedron(equations, inequalities, vertices, rays, lines, basis, inside)


def _sorted(points: Array) -> Array:
    """Rows in lexicographic order of their digits that are not rounding."""
    if len(points) < 2:
        return points
    digits = np.round(points / max(1.0, float(np.abs(points).max())), 7)
    return points[np.lexsort(digits.T[::-1])]


def _span(directions: Array, scale: float) -> Array:
    """Orthonormal basis of the span of rows; what is shorter than rounding of numbers of size `scale` is zero."""
    if not len(directions):
        return np.zeros((directions.shape[1], 0))
    _, sizes, right = np.linalg.svd(directions, full_matrices=False)
    kept: Array = right[sizes > 1e-9 * max(scale, sizes[0])].T
    return kept


def _generators(reduced: Array, tol: float) -> tuple[Array, Array, Array] | None:
    """Vertices, rays and lines of {s : A s + c >= 0}; rows of `reduced` are (A, c). None: too many."""
    d = reduced.shape[1] - 1
    sizes = np.linalg.norm(reduced[:, :-1], axis=1)
    flat = sizes <= FACE
    if (reduced[flat, -1] < -tol).any():
        return np.zeros((0, d)), np.zeros((0, d)), np.zeros((0, d))
    # Rows of unit gradient, the constant of the homogenizing row 1 >= 0 last: y = (s, 1) scaled.
    rows = np.concatenate([reduced[~flat] / sizes[~flat, None], np.eye(1, d + 1, d)])
    _, singular, right = np.linalg.svd(rows)
    rank = int((singular > 1e-10 * singular[0]).sum())
    lines = right[rank:, :-1]
    pointed = right[:rank].T
    rows = rows @ pointed
    if len(rows) > MOST_ROWS:
        return None
    rays = _cone(rows)
    if rays is None:
        return None
    rays = rays @ pointed.T
    finite = rays[:, -1] > 1e-9
    vertices = rays[finite, :-1] / rays[finite, -1:]
    directions = rays[~finite, :-1]
    lengths = np.linalg.norm(directions, axis=1)
    return vertices, directions[lengths > 1e-9] / lengths[lengths > 1e-9, None], lines


def _cone(rows: Array) -> Array | None:
    """Extreme rays of {y : rows @ y >= 0}, of full column rank."""
    from scipy.linalg import qr

    dim = rows.shape[1]
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    _, _, order = qr(rows.T, mode="economic", pivoting=True)
    ordered = np.ascontiguousarray(rows[order])
    room = 64
    while room <= MOST_RAYS:
        room *= 4
        rays, masks = np.zeros((room, dim)), np.zeros(room, dtype=np.int64)
        first = np.linalg.inv(ordered[:dim]).T
        rays[:dim] = first / np.linalg.norm(first, axis=1)[:, None]
        masks[:dim] = ((1 << dim) - 1) ^ (1 << np.arange(dim))
        count = extreme_rays(ordered, rays, masks, dim, np.zeros(room), FACE)
        if count >= 0:
            return rays[:count]
    return None
