"""Contacts of capsules with boxes and with each other: what can be nearest to a rod with a radius about it.

Ends of the rod keep their distance from the other form, its corners theirs from the rod, and the rod is kept apart from
edges that it crosses. All of these are distances between places of the two bodies, which hold wherever the bodies do
not overlap: where another pair is nearer, they are at rest. Corners beyond the ends of the rod are left to the ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from zwang._bodies.closures import ALGEBRA
from zwang._bodies.parts import ShapePart
from zwang._bodies.picture import wires
from zwang._bodies.polytopes import PARALLEL, Touch, TouchSymbols
from zwang._declare.shapes import Capsule
from zwang._declare.symbols import rate
from zwang._declare.tree import dependents_of, seen_from
from zwang._declare.vectors import Vector, transposed

X = (sp.Integer(1), sp.Integer(0), sp.Integer(0))


class RodPair:
    """A capsule, seen from the frame of the body of a box or another capsule."""

    def __init__(self, rod: ShapePart, other: ShapePart, let: TouchSymbols) -> None:
        a, form = ALGEBRA, rod.form
        assert isinstance(form, Capsule)
        self.rod, self.other, self.let = rod, other, let
        self.radius, self.half = form.radius, form.length / 2
        self.at, self.turn = dependents_of(seen_from(rod.on, other.on))
        self.own = a.apply(rod.turned, X)
        self.along = let.vector(a.apply(self.turn, self.own))
        self.middle = let.vector(a.add(self.at, a.apply(self.turn, rod.at)))

    def touches(self) -> Iterator[Touch]:
        """Yield the contacts of the rod between its ends: with the corners of the other form, and with its edges."""
        a, form = ALGEBRA, self.other.form
        corners, edges = wires(form)
        radius = form.radius if isinstance(form, Capsule) else sp.Integer(0)
        places = [a.add(self.other.at, a.apply(self.other.turned, corner)) for corner in corners]
        for place in places:
            yield self._corner(place, radius)
        for i, j in edges:
            half = a.scale(sp.Rational(1, 2), a.sub(places[j], places[i]))
            yield self._crossing(a.add(places[i], half), half, radius)

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
        inside = (t**2 < (self.half * sine) ** 2, u**2 < (length * sine) ** 2)
        t, u = let(t / square), let(u / square)
        apart = a.sub(a.add(start, a.scale(t, self.along)), a.scale(u, edge))
        return self._touch(t, apart, radius, sp.And(crossing, *inside))

    def _touch(self, t: Any, apart: Vector, radius: Any, exists: Any) -> Touch:
        """Return the contact of the place t along the rod with what lies a vector apart from it."""
        a, let = ALGEBRA, self.let
        apart = let.vector(apart)
        distance = let(sp.sqrt(let(a.dot(apart, apart))))
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
