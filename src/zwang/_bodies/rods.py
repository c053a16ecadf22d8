"""Contacts of capsules: what can be nearest to a rod with a radius about it.

Ends of the rod keep their distance from the other form, its corners theirs from the rod, and the rod is kept apart from
edges that it crosses, and from the axis and the rims of a cylinder. All of these are distances between places of the
two bodies, which hold wherever the bodies do not overlap: where another pair is nearer, they are at rest. Corners
beyond the ends of the rod are left to the ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from zwang._bodies.closures import ALGEBRA
from zwang._bodies.parts import ShapePart
from zwang._bodies.picture import wires
from zwang._bodies.polytopes import PARALLEL, TIE, HullPolytope, Touch, TouchSymbols
from zwang._declare.body_tree import dependents_of, seen_from
from zwang._declare.shapes import Capsule, Cylinder, Hull
from zwang._declare.symbols import rate
from zwang._declare.vectors import Vector, transposed

X = (sp.Integer(1), sp.Integer(0), sp.Integer(0))
Z = (sp.Integer(0), sp.Integer(0), sp.Integer(1))
NEWTON = 10
"""Steps to the place of a rod that is nearest to a rim: of 200,000 random ones none needs more, and 8 miss by 1e-7."""
FOUND = 1e-6
"""Of the radius of a rim: by how much what is zero at the nearest place may miss, where it is one."""
ON_AXIS = 1e-9
"""Of a radius: nearer to an axis than that, a place has no direction from it."""


class RodPair:
    """A capsule, seen from the frame of the body of another form."""

    def __init__(self, rod: ShapePart, other: ShapePart, let: TouchSymbols, where: str) -> None:
        a, form = ALGEBRA, rod.form
        assert isinstance(form, Capsule)
        self.rod, self.other, self.let, self.named = rod, other, let, where
        self.radius, self.half = form.radius, form.length / 2
        self.at, self.turn = dependents_of(seen_from(rod.on, other.on))
        self.own = a.apply(rod.turned, X)
        self.along = let.vector(a.apply(self.turn, self.own))
        self.middle = let.vector(a.add(self.at, a.apply(self.turn, rod.at)))

    def touches(self) -> Iterator[Touch]:
        """Yield the contacts of the rod between its ends: with corners of the other form, with its edges and rims."""
        if isinstance(self.other.form, Cylinder):
            yield from self._cylinder(self.other.form)
            return
        form = self.other.form
        radius = form.radius if isinstance(form, Capsule) else sp.Integer(0)
        corners, edges = self._frame()
        for place in corners:
            yield self._corner(place, radius)
        for middle, half in edges:
            yield self._crossing(middle, half, radius)

    def _frame(self) -> tuple[list[Vector], list[tuple[Vector, Vector]]]:
        """Return the corners of the other form and its edges: the middle of each, and the way to one of its ends."""
        a, form = ALGEBRA, self.other.form
        if isinstance(form, Hull):
            hull = HullPolytope(self.other, self.named)
            return hull.corners, [(edge.middle, a.scale(edge.half, edge.along)) for edge in hull.borders]
        corners, edges = wires(form)
        places = [a.add(self.other.at, a.apply(self.other.turned, corner)) for corner in corners]
        halves = [(i, a.scale(sp.Rational(1, 2), a.sub(places[j], places[i]))) for i, j in edges]
        return places, [(a.add(places[i], half), half) for i, half in halves]

    def _cylinder(self, form: Cylinder) -> Iterator[Touch]:
        """Yield the contact with the side of a cylinder, and up to two with each of its rims."""
        a = ALGEBRA
        axis = a.apply(self.other.turned, Z)
        half = a.scale(form.length / 2, axis)
        yield self._crossing(self.other.at, half, form.radius)
        for end in (a.add(self.other.at, half), a.sub(self.other.at, half)):
            for way in (1, -1):
                yield self._rim(end, axis, form.radius, way)

    def _rim(self, centre: Vector, axis: Vector, size: Any, way: int) -> Touch:
        """Return the contact of the rod with a rim, where it goes outwards (`way` 1) or inwards.

        The distance of the place t along the rod from the rim has the derivative g = t + p . e - size u / far, with u =
        far far'. For u > 0 it is convex, so that Newton's method from a bound comes down to the largest root, the only
        one at which the distance is least; for u < 0 likewise from below.
        """
        a, let, e = ALGEBRA, self.let, self.along
        p = let.vector(a.sub(self.middle, centre))
        rise, high, start = let(a.dot(e, axis)), let(a.dot(p, axis)), let(a.dot(p, e))
        flat, beside = (let.vector(a.sub(item, a.scale(up, axis))) for item, up in ((e, rise), (p, high)))
        square = let(a.dot(flat, flat))

        def seen(t: Any) -> tuple[Vector, Any, Any]:
            place = a.add(beside, a.scale(t, flat))
            return place, let(sp.sqrt(let(a.dot(place, place) + (ON_AXIS * size) ** 2))), let(a.dot(place, flat))

        t = let(way * size * sp.sqrt(square + PARALLEL**2) - start)
        for _ in range(NEWTON):
            _, far, u = seen(t)
            g, slope = let(t + start - size * u / far), let(1 - size * (square / far - u**2 / far**3))
            t = let(t - g * slope / (slope**2 + PARALLEL**2))
        _, far, u = seen(t)
        found = let(t + start - size * u / far) ** 2 < (FOUND * size) ** 2  # there may be none
        own = u > -TIE * size if way > 0 else u <= -TIE * size
        exists = sp.And(t**2 < self.half**2, own, found)
        t = let(sp.Piecewise((t, exists), (0, True)))
        place, far, _ = seen(t)
        apart = a.add(a.scale(1 - size / far, place), a.scale(high + rise * t, axis))
        return self._touch(t, apart, sp.Integer(0), exists)

    def _corner(self, place: Vector, radius: Any) -> Touch:
        a, let = ALGEBRA, self.let
        start = let.vector(a.sub(self.middle, place))
        t = let(-a.dot(start, self.along))
        return self._touch(t, a.add(start, a.scale(t, self.along)), radius, t**2 < self.half**2)

    def _crossing(self, middle: Vector, way: Vector, radius: Any) -> Touch:
        a, let = ALGEBRA, self.let
        length = sp.sqrt(a.dot(way, way))
        edge = a.scale(1 / length, way)
        perpendicular = let.vector(a.cross(self.along, edge))
        sine = let(a.dot(perpendicular, perpendicular))
        crossing = sine > PARALLEL**2
        square = let(sp.Piecewise((sine, crossing), (1, True)))  # parallel to the edge, ends and corners meet
        start = let.vector(a.sub(self.middle, middle))
        # As `polytopes` has it: times `sine`.
        t, u = (let(-a.dot(a.cross(start, way), perpendicular)) for way in (edge, self.along))
        exists = sp.And(crossing, t**2 < (self.half * sine) ** 2, u**2 < (length * sine) ** 2)
        # Elsewhere the middles will do: nearly parallel lines meet far off, and fast.
        t, u = (let(sp.Piecewise((place / square, exists), (0, True))) for place in (t, u))
        apart = a.sub(a.add(start, a.scale(t, self.along)), a.scale(u, edge))
        return self._touch(t, apart, radius, exists)

    def _touch(self, t: Any, apart: Vector, radius: Any, exists: Any) -> Touch:
        """Return the contact of the place t along the rod with what lies a vector apart from it."""
        a, let = ALGEBRA, self.let
        apart = let.vector(apart)
        square = let(a.dot(apart, apart))
        # Axes that meet beyond the end of one of them have no normal, and need none.
        told = sp.Or(exists, square > (ON_AXIS * (self.radius + radius)) ** 2)
        distance = let(sp.sqrt(let(sp.Piecewise((square, told), (1, True)))))
        normal = let.vector(a.scale(1 / distance, apart))
        foot = a.apply(transposed(self.turn), normal)
        touch = a.sub(a.add(self.rod.at, a.scale(t, self.own)), a.scale(self.radius, foot))
        return Touch(distance - self.radius - radius, self._slip(touch, normal), exists)

    def _slip(self, own: Vector, normal: Vector) -> tuple[Any, Any]:
        """Return the velocity of a place of the rod's body against the other, along the rod and across it."""
        a = ALGEBRA
        x, y, z = (rate(item) for item in self.at)
        p, q, r = (tuple(rate(item) for item in row) for row in self.turn)
        moving = a.add((x, y, z), a.apply((p, q, r), own))
        return a.dot(self.along, moving), a.dot(a.cross(normal, self.along), moving)
