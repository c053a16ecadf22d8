"""All solutions of a small planar contact problem by brute force over the rationals: what the package is held against.

Nothing is shared with the search that it checks: unknowns are (w, N, T) in the units of the problem, every combination
of closed modes is a polyhedron, and its vertices are all feasible intersections of as many faces as needed, tried one
by one. The doubles of the problem are taken as the fractions that they are. The equations of motion, which all
combinations share, are solved first; what is left are a few forces.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from zwang._numerics.contact.problem import Contact, ContactProblem, dense

Row = list[Any]
"""Coefficients of (w, N, T) and the constant."""


@dataclass(frozen=True)
class Face:
    """The solutions of one combination of modes: vertices, rays and lines over (w, N, T)."""

    vertices: tuple[Row, ...]
    rays: tuple[Row, ...]
    lines: tuple[Row, ...]


@dataclass(frozen=True)
class Truth:
    """What is true of a problem.

    Attributes
    ----------
    status : str
        NONE, UNIQUE, UNIQUE_MOTION or MULTIPLE.
    accelerations : tuple of tuples of float
        The distinct ones, empty for a continuum.
    points : tuple of tuples of float
        Every vertex (w, N, T).
    """

    status: str
    accelerations: tuple[tuple[float, ...], ...]
    points: tuple[tuple[float, ...], ...]


def fraction(value: float) -> Any:
    """Return a double as the fraction that it is."""
    from flint import fmpq

    return fmpq(*float(value).as_integer_ratio())


@cache
def _zero() -> Any:
    return fraction(0.0)


def _row(size: int, place: int, value: Any) -> Row:
    row = [_zero()] * size
    row[place] = value
    return row


def _plus(a: Row, factor: Any, b: Row) -> Row:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def _modes(contact: Contact, j: int, n: int, k: int) -> list[tuple[list[Row], list[Row]]]:
    """The closed modes of a contact: equations and inequalities."""
    size = n + 2 * k + 1
    N, T, one = (_row(size, place, fraction(1.0)) for place in (n + j, n + k + j, size - 1))
    zero = [_zero()] * size
    gap, side = list(zero), list(zero)
    if contact.normal is not None:
        gap[:n] = [fraction(x) for x in contact.normal]
        gap[-1] = -fraction(contact.bias)
    rubs = len(contact.tangent) > 0
    if rubs:
        side[:n] = [fraction(x) for x in contact.tangent[0]]
        side[-1] = -fraction(float(np.ravel(contact.tangent_bias)[0]))
    slip = float(np.ravel(contact.slip)[0]) if rubs else 0.0
    mu = fraction(contact.friction if rubs else 0.0)
    sign = (slip > 0) - (slip < 0)
    if contact.normal_force is not None:
        given = fraction(contact.normal_force)
        known, bound = _plus(N, -given, one), mu * abs(given)
        if sign or not bound:
            return [([known, _plus(T, sign * bound, one)], [])]
        below, above = _plus(T, bound, one), _plus([-x for x in T], bound, one)
        return [([known, side], [below, above]), ([known, below], [side]), ([known, above], [[-x for x in side]])]
    modes: list[tuple[list[Row], list[Row]]] = [] if contact.bilateral else [([N, T], [gap])]
    for turn in (1, -1) if contact.bilateral else (1,):
        load = [turn * x for x in N]
        up, down = _plus(T, mu, load), _plus([-x for x in T], mu, load)
        if not mu:
            modes.append(([gap, T], [load]))
        elif sign:
            modes.append(([gap, up if sign > 0 else down], [load]))
        else:
            modes += [
                ([gap, side], [load, up, down]),
                ([gap, up], [load, side]),
                ([gap, down], [load, [-x for x in side]]),
            ]
    return modes


def _motion(problem: ContactProblem) -> list[Row]:
    """The equations of motion, mass times w less the forces."""
    n, k = len(problem.force), len(problem.contacts)
    given = problem if problem.given is None else problem.given
    mass = dense(given.mass)
    rows = []
    for i in range(n):
        row = [_zero()] * (n + 2 * k + 1)
        row[:n] = [fraction(x) for x in mass[i]]
        for j, contact in enumerate(problem.contacts):
            if contact.normal is not None:
                row[n + j] = -fraction(contact.normal[i])
            if len(contact.tangent):
                row[n + k + j] = -fraction(contact.tangent[0][i])
        row[-1] = -fraction(given.force[i])
        rows.append(row)
    return rows


def _reduced_echelon(rows: Sequence[Row], width: int) -> tuple[list[Row], list[int]]:
    from flint import fmpq_mat

    if not rows:
        return [], []
    form, rank = fmpq_mat(len(rows), width, [x for row in rows for x in row]).rref()
    kept = form.tolist()[:rank]
    return kept, [next(j for j, x in enumerate(row) if x != 0) for row in kept]


def _null_space(rows: Sequence[Row], width: int) -> list[Row]:
    form, pivots = _reduced_echelon([row[:width] for row in rows], width)
    basis = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [_zero()] * width
        vector[free] = fraction(1.0)
        for row, pivot in zip(form, pivots, strict=True):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    found = _zero()
    for x, y in zip(a, b, strict=False):
        if x and y:
            found += x * y
    return found


@dataclass(frozen=True)
class SolvedMotion:
    """The equations of motion, solved for as many unknowns as they determine."""

    form: list[Row]
    pivots: list[int]
    free: list[int]

    def shorter(self, row: Row) -> Row:
        """Return a row over all unknowns as one over those that are left, and the constant."""
        for place, solved in zip(self.pivots, self.form, strict=True):
            if row[place]:
                row = _plus(row, -row[place], solved)
        return [*(row[place] for place in self.free), row[-1]]

    def whole(self, values: Row, constant: int) -> Row:
        """Return all unknowns for those that are left; with the constant 0, a direction for a direction."""
        found = [_zero()] * (len(self.pivots) + len(self.free))
        for place, value in zip(self.free, values, strict=True):
            found[place] = value
        for place, solved in zip(self.pivots, self.form, strict=True):
            found[place] = -_dot([solved[i] for i in self.free], values) - constant * solved[-1]
        return found


def solve_faces(problem: ContactProblem) -> list[Face]:
    """Return the nonempty sets of all combinations of closed modes."""
    n, k = len(problem.force), len(problem.contacts)
    width = n + 2 * k
    form, pivots = _reduced_echelon(_motion(problem), width + 1)
    if width in pivots:
        return []
    solved = SolvedMotion(form, pivots, [i for i in range(width) if i not in pivots])
    modes = [
        [([solved.shorter(row) for row in equal], [solved.shorter(row) for row in least]) for equal, least in each]
        for each in (_modes(c, j, n, k) for j, c in enumerate(problem.contacts))
    ]
    faces = []
    for chosen in itertools.product(*modes):
        equations = [row for mode in chosen for row in mode[0]]
        inequalities = [row for mode in chosen for row in mode[1]]
        face = _face(equations, inequalities, len(solved.free))
        if face is not None:
            faces.append(
                Face(
                    tuple(solved.whole(v, 1) for v in face.vertices),
                    tuple(solved.whole(v, 0) for v in face.rays),
                    tuple(solved.whole(v, 0) for v in face.lines),
                )
            )
    return faces


def _face(equations: list[Row], inequalities: list[Row], width: int) -> Face | None:
    form, pivots = _reduced_echelon(equations, width + 1)
    if pivots and pivots[-1] == width:
        return None
    point = [_zero()] * width
    for row, pivot in zip(form, pivots, strict=True):
        point[pivot] = -row[-1]
    if len(pivots) == width:
        return Face((point,), (), ()) if all(_at(row, point) >= 0 for row in inequalities) else None
    basis = _null_space(form, width)
    rows = [[*(_dot(row[:-1], b) for b in basis), _at(row, point)] for row in inequalities]
    lines = _null_space(rows, len(basis)) if rows else _null_space([], len(basis))
    # Across the lines nothing is lost by putting to zero the coordinates that they leave free.
    _, kept = _reduced_echelon([row[:-1] for row in rows], len(basis)) if rows else ([], [])
    narrow = [[*(row[j] for j in kept), row[-1]] for row in rows]
    vertices, rays = _corners(narrow, len(kept)), _edges(narrow, len(kept))
    if not vertices:
        return None

    def lift(s: Row, places: Sequence[int], origin: Row) -> Row:
        return [o + _dot(s, [basis[j][i] for j in places]) for i, o in enumerate(origin)]

    nothing, every = [_zero()] * width, range(len(basis))
    return Face(
        tuple(lift(s, kept, point) for s in vertices),
        tuple(lift(s, kept, nothing) for s in rays),
        tuple(lift(s, every, nothing) for s in lines),
    )


def _at(row: Row, point: Row) -> Any:
    """Return what a row is at a point."""
    return _dot(row, point) + row[-1]


def _corners(rows: list[Row], d: int) -> list[Row]:
    found: list[Row] = []
    for subset in itertools.combinations(rows, d):
        form, pivots = _reduced_echelon(subset, d + 1)
        if pivots != list(range(d)):
            continue
        s = [-row[-1] for row in form]
        if s not in found and all(_at(row, s) >= 0 for row in rows):
            found.append(s)
    return found


def _edges(rows: list[Row], d: int) -> list[Row]:
    found: list[Row] = []
    for subset in itertools.combinations(rows, max(d - 1, 0)) if d else ():
        kernel = _null_space(list(subset), d)
        if len(kernel) == 1:
            for ray in (kernel[0], [-x for x in kernel[0]]):
                if ray not in found and all(_dot(row[:-1], ray) >= 0 for row in rows):
                    found.append(ray)
    return found


def truth_of(problem: ContactProblem) -> Truth:
    """Return what is true of a problem with contacts that have one tangent at most and a mass matrix."""
    faces, n = solve_faces(problem), len(problem.force)
    points = {tuple(v): None for face in faces for v in face.vertices}
    moves = any(any(step[:n]) for face in faces for step in [*face.rays, *face.lines])
    moves = moves or any(v[:n] != face.vertices[0][:n] for face in faces for v in face.vertices)
    spread = len(points) > 1 or any(face.rays or face.lines for face in faces)
    accelerations = {point[:n]: None for point in points}
    if not faces:
        status = "NONE"
    elif moves or len(accelerations) > 1:
        status = "MULTIPLE"
    else:
        status = "UNIQUE_MOTION" if spread else "UNIQUE"
    rounded = tuple(tuple(float(x) for x in point) for point in points)
    distinct = () if moves else tuple(tuple(float(x) for x in w) for w in accelerations)
    return Truth(status, distinct, rounded)
