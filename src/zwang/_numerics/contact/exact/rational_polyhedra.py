"""Convex polyhedra over the rationals: their points, rays and lines, what they include, and when two make one.

Rows of equations and inequalities end with the constant. Everything is a fraction; nothing has a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq, fmpq_mat

from zwang._numerics.contact.exact.integer_dictionary import Dictionary, integer_row

Vector = tuple[Any, ...]

MOST_RAYS = 400
"""Generators of one polyhedron beyond which it is not listed."""


class TooMany(Exception):
    """A polyhedron has more generators than are listed."""


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=False)), fmpq(0))


def at(row: Vector, point: Vector) -> Any:
    """The value of a row (its constant last) at a point."""
    return dot(row, point) + row[-1]


def echelon(rows: Sequence[Vector], width: int) -> list[Vector]:
    """The nonzero rows of the reduced echelon form."""
    if not rows:
        return []
    form, rank = fmpq_mat(len(rows), width, [entry for row in rows for entry in row]).rref()
    return [tuple(row) for row in form.tolist()[:rank]]


def _pivots(rows: Sequence[Vector]) -> list[int]:
    return [next(j for j, entry in enumerate(row) if entry) for row in rows]


def kernel(rows: Sequence[Vector], width: int) -> list[Vector]:
    """A basis of the vectors that all rows map to zero."""
    form = echelon([row[:width] for row in rows], width)
    pivots = _pivots(form)
    basis = []
    for free in range(width):
        if free not in pivots:
            vector = [fmpq(0)] * width
            vector[free] = fmpq(1)
            for row, pivot in zip(form, pivots, strict=True):
                vector[pivot] = -row[free]
            basis.append(tuple(vector))
    return basis


@dataclass(frozen=True)
class RationalPolyhedron:
    """{x : equations (x, 1) = 0, inequalities (x, 1) >= 0} as the hull of vertices plus rays plus lines."""

    equations: tuple[Vector, ...]
    inequalities: tuple[Vector, ...]
    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    lines: tuple[Vector, ...]

    @cached_property
    def spread(self) -> list[Vector]:
        """A basis of the directions of the affine hull."""
        first = self.vertices[0]
        steps = [tuple(a - b for a, b in zip(v, first, strict=True)) for v in self.vertices[1:]]
        return echelon([*steps, *self.rays, *self.lines], len(first))

    @cached_property
    def hull(self) -> list[Vector]:
        """Equations of the affine hull, the same for equal hulls."""
        width = len(self.vertices[0])
        normals = kernel(self.spread, width)
        return echelon([(*normal, -dot(normal, self.vertices[0])) for normal in normals], width + 1)

    @property
    def dimension(self) -> int:
        """Dimension of the affine hull."""
        return len(self.spread)

    @cached_property
    def inside(self) -> Vector:
        """A point of the relative interior."""
        total = [sum(values, fmpq(0)) / len(self.vertices) for values in zip(*self.vertices, strict=True)]
        return tuple(value + sum((ray[i] for ray in self.rays), fmpq(0)) for i, value in enumerate(total))

    def holds(self, point: Vector) -> bool:
        """Whether a point lies in it."""
        return all(at(row, point) == 0 for row in self.equations) and all(
            at(row, point) >= 0 for row in self.inequalities
        )

    def recedes(self, direction: Vector) -> bool:
        """Whether one can go on for ever in a direction."""
        return all(dot(row[:-1], direction) == 0 for row in self.equations) and all(
            dot(row[:-1], direction) >= 0 for row in self.inequalities
        )

    def includes(self, other: RationalPolyhedron) -> bool:
        """Whether the other one is a part of this one."""
        both = [*other.rays, *other.lines, *(tuple(-x for x in line) for line in other.lines)]
        return all(map(self.holds, other.vertices)) and all(map(self.recedes, both))


def polyhedron(equations: Sequence[Vector], inequalities: Sequence[Vector], width: int) -> RationalPolyhedron | None:
    """Return the polyhedron of the conditions over `width` unknowns, None if it is empty."""
    form = echelon(equations, width + 1)
    pivots = _pivots(form)
    if pivots and pivots[-1] == width:
        return None
    point = [fmpq(0)] * width
    for row, pivot in zip(form, pivots, strict=True):
        point[pivot] = -row[-1]
    basis = kernel(form, width)
    rows = [(*(dot(row[:-1], b) for b in basis), at(row, tuple(point))) for row in inequalities]
    found = _generators(rows, len(basis))
    if found is None:
        return None

    def lifted(s: Vector, origin: Sequence[Any]) -> Vector:
        return tuple(o + sum((x * b[i] for x, b in zip(s, basis, strict=True)), fmpq(0)) for i, o in enumerate(origin))

    vertices, rays, lines = found
    zero = [fmpq(0)] * width
    return RationalPolyhedron(
        tuple(map(tuple, equations)),
        tuple(map(tuple, inequalities)),
        tuple(sorted(lifted(s, point) for s in vertices)),
        tuple(sorted(lifted(s, zero) for s in rays)),
        tuple(lifted(s, zero) for s in lines),
    )


def _generators(rows: list[Vector], d: int) -> tuple[list[Vector], list[Vector], list[Vector]] | None:
    """Vertices, rays and lines of {s : rows (s, 1) >= 0}, s of d numbers; None if it is empty."""
    if any(row[-1] < 0 and not any(row[:-1]) for row in rows):
        return None
    if not d:
        return [()], [], []
    rows = [row for row in rows if any(row[:-1])]
    lines = kernel(rows, d)
    # Coordinates that the lines leave free are put to zero: what is left is pointed.
    kept = _pivots(echelon([row[:-1] for row in rows], d))
    narrow = [(*(row[j] for j in kept), row[-1]) for row in rows]
    homogeneous = [*narrow, (*([fmpq(0)] * len(kept)), fmpq(1))]
    vertices: list[Vector] = []
    rays: list[Vector] = []
    for ray in _extreme_rays(homogeneous, len(kept) + 1):
        full = [fmpq(0)] * d
        for j, value in zip(kept, ray, strict=False):
            full[j] = value / ray[-1] if ray[-1] else value
        (vertices if ray[-1] else rays).append(tuple(full))
    return (vertices, rays, lines) if vertices else None


def _extreme_rays(rows: list[Vector], dim: int) -> list[Vector]:
    """Extreme rays of the pointed cone {y : rows y >= 0} by the double description method."""
    independent = _pivots(echelon(list(zip(*rows, strict=True)), len(rows)))
    first = fmpq_mat(dim, dim, [entry for i in independent for entry in rows[i]]).inv().tolist()
    rays: list[tuple[Vector, int]] = []
    for column in range(dim):
        mask = sum(1 << i for at_row, i in enumerate(independent) if at_row != column)
        rays.append((tuple(row[column] for row in first), mask))
    for i, row in enumerate(rows):
        if i in independent:
            continue
        values = [dot(row, ray) for ray, _ in rays]
        kept = [(ray, mask | (0 if value else 1 << i)) for (ray, mask), value in zip(rays, values, strict=True)]
        new = [item for item, value in zip(kept, values, strict=True) if value >= 0]
        for a, value_a in enumerate(values):
            for b, value_b in enumerate(values):
                if value_a > 0 > value_b and _adjacent(kept, a, b):
                    ray = tuple(value_a * y - value_b * x for x, y in zip(rays[a][0], rays[b][0], strict=True))
                    new.append((ray, (kept[a][1] & kept[b][1]) | 1 << i))
        rays = new
        if len(rays) > MOST_RAYS:
            raise TooMany
    return [ray for ray, _ in rays]


def _adjacent(rays: list[tuple[Vector, int]], a: int, b: int) -> bool:
    common = rays[a][1] & rays[b][1]
    return not any(c not in (a, b) and mask & common == common for c, (_, mask) in enumerate(rays))


def feasible(conditions: Sequence[Vector], strict: Sequence[Vector], width: int) -> bool:
    """Whether some x has all conditions >= 0 and all strict ones > 0."""
    rows = [integer_row((row[-1], *row[:-1], 0)) for row in conditions]
    rows += [integer_row((row[-1], *row[:-1], -1)) for row in strict]
    rows.append([1, *([0] * width), -1])
    depth = width
    tab = Dictionary(
        rows, [*range(width + 1, width + 1 + len(rows))], [*range(width + 1)], set(range(width + (not strict)))
    )
    # The last column is how much is to spare: nonnegative, at most 1, and to be positive where something is strict.
    return tab.make_feasible() and (not strict or tab.can_grow(depth))


def meet(a: RationalPolyhedron, b: RationalPolyhedron) -> bool:
    """Whether two polyhedra have a point in common."""
    if any(map(a.holds, b.vertices)) or any(map(b.holds, a.vertices)):
        return True
    if not (a.dimension and b.dimension):
        return False
    equations = [*a.equations, *b.equations]
    conditions = [*equations, *(tuple(-x for x in row) for row in equations), *a.inequalities, *b.inequalities]
    return feasible(conditions, (), len(a.vertices[0]))


def union(a: RationalPolyhedron, b: RationalPolyhedron) -> RationalPolyhedron | None:
    """Return the union of two polyhedra of one affine hull if it is convex (Bemporad, Fukuda, Torrisi 2001)."""
    if a.dimension != b.dimension or not a.dimension or a.hull != b.hull:
        return None
    mine, dropped_first = _split(a.inequalities, b)
    theirs, dropped_second = _split(b.inequalities, a)
    width = len(a.vertices[0])
    hull = [*a.hull, *(tuple(-x for x in row) for row in a.hull)]
    for first in dropped_first:
        for second in dropped_second:
            outside = [tuple(-x for x in first), tuple(-x for x in second)]
            if feasible([*hull, *mine, *theirs], outside, width):
                return None
    return polyhedron(a.hull, [*mine, *theirs], width)


def _split(inequalities: Sequence[Vector], other: RationalPolyhedron) -> tuple[list[Vector], list[Vector]]:
    """Inequalities that hold on another polyhedron, and those that don't."""
    valid: list[Vector] = []
    dropped: list[Vector] = []
    lines = [*other.lines, *(tuple(-x for x in line) for line in other.lines)]
    for row in inequalities:
        holds = all(at(row, v) >= 0 for v in other.vertices)
        holds = holds and all(dot(row[:-1], ray) >= 0 for ray in [*other.rays, *lines])
        (valid if holds else dropped).append(row)
    return valid, dropped
