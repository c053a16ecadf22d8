"""The solution set of a planar contact problem by brute force: an oracle for the tests, written for clarity only.

Unknowns x = (w, N, T) in the units of the problem. Every combination of closed modes is a polyhedron; its vertices
are all feasible intersections of as many faces as needed, tried one by one. Nothing is shared with the package.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

TOL = 1e-8


@dataclass
class Face:
    """A polyhedron as the convex hull of vertices plus rays plus lines, rows over (w, N, T)."""

    vertices: np.ndarray
    rays: np.ndarray
    lines: np.ndarray
    dimension: int


def contact_modes(contact, j, n, k):
    """The closed modes of contact j: lists of (equations, inequalities), rows over (w, N, T, 1)."""
    size = n + 2 * k + 1
    N, T = np.eye(1, size, n + j)[0], np.eye(1, size, n + k + j)[0]
    one = np.eye(1, size, size - 1)[0]
    normal, tangent, slip_bias, slip = contact.normal, contact.tangent, contact.tangent_bias, contact.slip
    mu = contact.friction if len(tangent) else 0.0
    gap = np.zeros(size)
    if normal is not None:
        gap[:n], gap[-1] = normal, -contact.bias
    side = np.zeros(size)
    if len(tangent):
        side[:n], side[-1] = tangent[0], -slip_bias[0]
    sliding = len(tangent) and slip[0] != 0
    sign = np.sign(slip[0]) if sliding else 0.0
    if contact.normal_force is not None:
        known = N - contact.normal_force * one
        bound = mu * abs(contact.normal_force)
        if sliding or bound == 0:
            return [([known, T + sign * bound * one], [])]
        return [
            ([known, side], [T + bound * one, bound * one - T]),
            ([known, T + bound * one], [side]),
            ([known, T - bound * one], [-side]),
        ]
    signs = (1, -1) if contact.bilateral else (1,)
    modes = [] if contact.bilateral else [([N, T], [gap])]
    for s in signs:
        load = s * N  # |N| on this side
        if mu == 0:
            modes.append(([gap, T], [load]))
        elif sliding:
            modes.append(([gap, T + sign * mu * load], [load]))
        else:
            modes.append(([gap, side], [load, mu * load + T, mu * load - T]))
            modes.append(([gap, T + mu * load], [load, side]))
            modes.append(([gap, T - mu * load], [load, -side]))
    return modes


def motion_rows(problem):
    n, k = len(problem.force), len(problem.contacts)
    rows = np.zeros((n, n + 2 * k + 1))
    rows[:, :n] = problem.mass
    for j, contact in enumerate(problem.contacts):
        if contact.normal is not None:
            rows[:, n + j] = -contact.normal
        if len(contact.tangent):
            rows[:, n + k + j] = -contact.tangent[0]
    rows[:, -1] = -problem.force
    return rows


def null_space(matrix, tol=1e-10):
    _, sizes, right = np.linalg.svd(matrix) if len(matrix) else (None, np.zeros(0), np.eye(matrix.shape[1]))
    rank = int((sizes > tol * max(1.0, sizes.max(initial=0.0))).sum())
    return right[rank:].T


def solve_faces(problem):
    """All nonempty polyhedra of closed modes."""
    n, k = len(problem.force), len(problem.contacts)
    base = motion_rows(problem)
    found = []
    for choice in itertools.product(*(contact_modes(c, j, n, k) for j, c in enumerate(problem.contacts))):
        equations = np.array([*base, *(row for mode in choice for row in mode[0])])
        inequalities = np.array([row for mode in choice for row in mode[1]]).reshape(-1, n + 2 * k + 1)
        face = polyhedron(equations, inequalities)
        if face is not None:
            found.append(face)
    return found


def polyhedron(equations, inequalities):
    matrix, target = equations[:, :-1], -equations[:, -1]
    point = np.linalg.lstsq(matrix, target, rcond=1e-10)[0]
    scale = max(1.0, np.abs(point).max())
    if np.abs(matrix @ point - target).max() > TOL * scale:
        return None
    basis = null_space(matrix)
    rows, constants = inequalities[:, :-1] @ basis, inequalities[:, :-1] @ point + inequalities[:, -1]
    if basis.shape[1] == 0:
        if (constants < -TOL * scale).any():
            return None
        empty = np.zeros((0, len(point)))
        return Face(point[None, :], empty, empty, 0)
    lines = null_space(rows) if len(rows) else np.eye(basis.shape[1])
    across = null_space(lines.T) if lines.size else np.eye(basis.shape[1])
    rows = rows @ across
    d = across.shape[1]
    vertices, rays = [], []
    for subset in itertools.combinations(range(len(rows)), d):
        sub = rows[list(subset)]
        if d and abs(np.linalg.det(sub)) < 1e-9:
            continue
        s = np.linalg.solve(sub, -constants[list(subset)]) if d else np.zeros(0)
        if (rows @ s + constants >= -TOL * max(scale, np.abs(s).max(initial=0))).all():
            vertices.append(s)
    if not vertices:
        return None
    for subset in itertools.combinations(range(len(rows)), max(d - 1, 0)) if d else ():
        kernel = null_space(rows[list(subset)].reshape(-1, d))
        if kernel.shape[1] != 1:
            continue
        for ray in (kernel[:, 0], -kernel[:, 0]):
            if (rows @ ray >= -TOL).all():
                rays.append(ray)
    lift = basis @ across
    vertices = point + np.array(vertices).reshape(-1, d) @ lift.T
    rays = np.array(rays).reshape(-1, d) @ lift.T
    full_lines = (basis @ lines).T if lines.size else np.zeros((0, len(point)))
    spread = np.concatenate([vertices - vertices[0], rays, full_lines])
    sizes = np.linalg.svd(spread, compute_uv=False)
    return Face(vertices, rays, full_lines, int((sizes > 1e-7 * max(scale, sizes[0])).sum()))


def distinct(points, tol=1e-6):
    kept = []
    for point in points:
        if not any(np.abs(point - other).max() <= tol * max(1.0, np.abs(other).max()) for other in kept):
            kept.append(point)
    return np.array(kept)


def hull_distance(point, vertices, rays, lines):
    """How far a point is from conv(vertices) + cone(rays) + span(lines)."""
    scale = max(1.0, np.abs(vertices).max(), np.abs(point).max())
    columns = np.concatenate([vertices / scale, rays, lines, -lines]).T
    ones = np.concatenate([np.ones(len(vertices)), np.zeros(len(rays) + 2 * len(lines))])
    return nnls(np.vstack([columns, ones]), np.append(point / scale, 1.0))[1]


def stacked(points):
    """Rows (w, N, T) of the Points of a solution."""
    return np.concatenate([points.acceleration, points.normal, points.tangential], axis=1)


def law_error(problem, x):
    """The largest violation of the laws at x = (w, N, T): each contact is in at least one of its closed modes."""
    n, k = len(problem.force), len(problem.contacts)
    extended = np.append(x, 1.0)
    worst = np.abs(motion_rows(problem) @ extended).max()
    for j, contact in enumerate(problem.contacts):
        misfits = []
        for equations, inequalities in contact_modes(contact, j, n, k):
            off = max((abs(row @ extended) for row in equations), default=0.0)
            below = max((-(row @ extended) for row in inequalities), default=0.0)
            misfits.append(max(off, below, 0.0))
        worst = max(worst, min(misfits))
    return worst / max(1.0, np.abs(x).max())


def disagreement(problem, result):
    """Return what differs between a result and the brute force, empty if nothing does."""
    faces = solve_faces(problem)
    if bool(faces) != bool(result.solutions):
        return f"brute force: {len(faces)} modes with solutions, reactions: {len(result.solutions)}"
    if not faces:
        return ""
    pieces = [(stacked(s.vertices), stacked(s.rays), stacked(s.lines)) for s in result.solutions]
    for face in faces:
        points = [*face.vertices, *(face.vertices[0] + 3.0 * ray for ray in face.rays), face.vertices.mean(axis=0)]
        points += [face.vertices[0] + 2.0 * line for line in face.lines]
        for point in points:
            gap = min(hull_distance(point, *piece) for piece in pieces)
            if gap > 1e-6:
                return f"a solution of dimension {face.dimension} is missing, by {gap:.2g}: {point}"
    rng = np.random.default_rng(1)
    for vertices, rays, lines in pieces:
        for _ in range(3):
            weights = rng.dirichlet(np.ones(len(vertices)))
            point = weights @ vertices + rng.exponential(size=len(rays)) @ rays + rng.normal(size=len(lines)) @ lines
            if (error := law_error(problem, point)) > 1e-7:
                return f"a listed point breaks the laws by {error:.2g}"
        for vertex in vertices:
            if (error := law_error(problem, vertex)) > 1e-7:
                return f"a vertex breaks the laws by {error:.2g}"
    if max(s.dimension for s in result.solutions) != max(face.dimension for face in faces):
        return f"dimensions {[s.dimension for s in result.solutions]} and {[face.dimension for face in faces]}"
    n = len(problem.force)
    if not result.accelerations_continuum:
        expected = distinct([vertex[:n] for face in faces for vertex in face.vertices])
        if len(expected) != len(result.accelerations):
            return f"{len(result.accelerations)} accelerations, brute force {len(expected)}"
    return ""
