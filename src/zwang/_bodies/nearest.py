"""The nearest place of a form: what a ball keeps its distance from.

A form is a core and a radius about it: a capsule a piece of a line, a sphere a point; boxes, hulls and cylinders are
their own cores. Outside a hull every place is above a face, beside an edge or off a corner, and only one of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import sympy as sp

from zwang._bodies.closures import ALGEBRA
from zwang._bodies.parts import ShapePart
from zwang._bodies.polytopes import HullPolytope, TouchSymbols
from zwang._declare.shapes import Box, Capsule, Cylinder, Hull, Sphere
from zwang._declare.vectors import Matrix, Vector

ZERO, ONE = sp.Integer(0), sp.Integer(1)
STILL: Matrix = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


class Nearest(NamedTuple):
    """What lies between a place and the nearest one of a core.

    Attributes
    ----------
    line
        The vector from there to the place.
    distance
        Its length; negative inside a hull.
    radius
        Of the form about its core.
    """

    line: Vector
    distance: Any
    radius: Any


def nearest_to(shape: ShapePart, place: Vector, let: TouchSymbols, where: str) -> Nearest:
    """Return what lies between a place in the frame of a shape and the core of its form."""
    form, (x, y, z) = shape.form, place
    if isinstance(form, Hull):
        at_rest = replace(shape, at=(ZERO, ZERO, ZERO), turned=STILL)
        return _nearest_of_hull(HullPolytope(at_rest, where), place, let)
    line, radius = place, ZERO
    if isinstance(form, Capsule):
        line, radius = (_beyond(x, form.length / 2), y, z), form.radius
    elif isinstance(form, Box):
        line = _beyond(x, form.a / 2), _beyond(y, form.b / 2), _beyond(z, form.c / 2)
    elif isinstance(form, Cylinder):
        far = let(sp.sqrt(x**2 + y**2))
        part = let(sp.Max(far - form.radius, 0) / far)
        line = part * x, part * y, _beyond(z, form.length / 2)
    else:
        assert isinstance(form, Sphere)
        radius = form.radius
    line = let.vector(line)
    return Nearest(line, let(sp.sqrt(ALGEBRA.dot(line, line))), radius)


def _beyond(u: Any, end: Any) -> Any:
    """Return by how much u is beyond -end or end, with its sign; 0 between them."""
    return sp.Max(u - end, 0) + sp.Min(u + end, 0)


def _nearest_of_hull(hull: HullPolytope, place: Vector, let: TouchSymbols) -> Nearest:
    """Return it from the feature that the place belongs to: a place of it, and what of the way there counts.

    Above a face that is the part along its normal, beside an edge the part across it, off a corner the whole of it.
    Inside, the face that is nearest has it.
    """
    a = ALGEBRA
    heights = [let(a.dot(face.normal, place) - face.offset) for face in hull.faces]
    most = let(sp.Max(*heights, evaluate=False))
    least = let(sp.Min(most, ZERO))
    features: list[tuple[Vector, Matrix, Any]] = []
    beside: dict[tuple[int, int], Any] = {}
    sides: list[list[Any]] = [[] for _ in heights]
    for number, edge in enumerate(hull.borders):
        from_middle = a.sub(place, edge.middle)
        for face, way in zip(edge.faces, edge.ways, strict=True):
            into = let(a.dot(way, from_middle))
            sides[face].append(into >= 0)
            beside[number, face] = into <= 0
    for plane, height, inside in zip(hull.faces, heights, sides, strict=True):
        over = sp.And(height >= least, *inside, evaluate=False)
        features.append((a.scale(plane.offset, plane.normal), _outer(plane.normal), over))
    for number, edge in enumerate(hull.borders):
        along = let(a.dot(edge.along, a.sub(place, edge.middle)))
        own = (beside[number, face] for face in edge.faces)
        over = sp.And(along**2 <= edge.half**2, *own, evaluate=False)
        features.append((edge.middle, _across(edge.along), over))
    *others, last = hull.corners
    squares = [let(a.dot(apart, apart)) for apart in (a.sub(place, corner) for corner in hull.corners)]
    nearest = let(sp.Min(*squares, evaluate=False))
    features += [(corner, STILL, square <= nearest) for corner, square in zip(others, squares, strict=False)]
    features.append((last, STILL, True))

    def chosen(values: list[Any]) -> Any:
        return let(sp.Piecewise(*((v, feature[2]) for v, feature in zip(values, features, strict=True))))

    x, y, z = (chosen([feature[0][i] for feature in features]) for i in range(3))
    counts = [[chosen([feature[1][i][j] for feature in features]) for j in range(3)] for i in range(3)]
    matrix: Matrix = tuple(tuple(row) for row in counts)  # type: ignore[assignment]
    line = let.vector(a.apply(matrix, a.sub(place, (x, y, z))))
    outside = sp.sqrt(let(sp.Piecewise((a.dot(line, line), most > 0), (ONE, True))))
    distance = let(sp.Piecewise((outside, most > 0), (most, True)))
    return Nearest(line, distance, ZERO)


def _outer(normal: Vector) -> Matrix:
    """Return what projects onto a direction."""
    return tuple(tuple(u * v for v in normal) for u in normal)  # type: ignore[return-value]


def _across(along: Vector) -> Matrix:
    """Return what projects across a direction."""
    flat = _outer(along)
    return tuple(tuple(STILL[i][j] - flat[i][j] for j in range(3)) for i in range(3))  # type: ignore[return-value]
