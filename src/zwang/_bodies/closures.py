"""Joints as constraints: in Cartesian coordinates all of them, in joint coordinates those that close loops.

Places and axes are carried by the two bodies; as many rows as the joint takes freedoms. Axes are aligned by the
stereographic projection of the second from the far pole, 2 n . b / (1 + a . b), whole frames by the Gibbs vector
2 tan(angle/2): both vanish where the axes agree and nowhere else, so that no half turn closes a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from zwang._bodies.layout import across
from zwang._bodies.parts import KINDS, JointPart
from zwang._declare.body_tree import GROUND, RigidBody, Tree
from zwang._declare.constraints import Bilateral
from zwang._declare.symbols import Coordinate, rate
from zwang._declare.vectors import Expressions, Matrix, Vector, transposed

ALGEBRA = Expressions()
AXES = "xyz"


class JointSides:
    """The point and the axes of a joint as each of its two bodies carries them.

    Attributes
    ----------
    points : pair of vectors
        Where each body has the joint, in the ground's frame.
    axes : pair of tuples of vectors
        The axes of the joint that each body carries.
    """

    def __init__(self, tree: Tree, part: JointPart) -> None:
        self.part, self.tree = part, tree
        self.points = self._point(part.first, part.at[0]), self._point(part.second, part.at[1])
        self.axes = (
            tuple(self.vector(part.first, axis) for axis in part.axes[0]),
            tuple(self.vector(part.second, axis) for axis in part.axes[1]),
        )

    def _body(self, name: str) -> RigidBody | None:
        return None if name == GROUND else self.tree.bodies[name]

    def _point(self, name: str, at: Vector) -> Vector:
        a, body = ALGEBRA, self._body(name)
        if body is None:
            return at
        r, axes = self.tree.place_of(name)
        local = at if self.part.local else a.apply(transposed(body.turned), a.sub(at, body.at))
        return a.add(r, a.apply(axes, local))

    def vector(self, name: str, axis: Vector) -> Vector:
        """Return an axis, given as the joint's are, carried by a body."""
        a, body = ALGEBRA, self._body(name)
        if body is None:
            return axis
        _, axes = self.tree.place_of(name)
        return a.apply(axes, axis if self.part.local else a.apply(transposed(body.turned), axis))

    def triads(self) -> tuple[Matrix, Matrix]:
        """Return the axis and two vectors across it, carried by the first and by the second body."""
        part = self.part
        given = [axes[0] if axes else (sp.Integer(0), sp.Integer(0), sp.Integer(1)) for axes in part.axes]
        a, b, c = (self.vector(part.first, item) for item in (given[0], *across(given[0])))
        d, e, f = (self.vector(part.second, item) for item in (given[1], *across(given[1])))
        return (a, b, c), (d, e, f)

    def spin(self) -> Vector:
        """Return the angular velocity of the second body against the first, in the axes of the ground."""
        first, second = (spin_of(self.tree, name) for name in (self.part.first, self.part.second))
        return ALGEBRA.sub(second, first)

    def rate_of(self, place: int) -> Any:
        """Return the rate of a coordinate of the joint as an expression of the bodies' velocities."""
        a, what = ALGEBRA, KINDS[self.part.kind][place]
        if self.part.kind == "universal":
            return self._universal_rate(place)
        axis = self.axes[0][0]
        if what in ("turn", "screw"):
            return a.dot(axis, self.spin())
        if self.part.kind == "planar":
            axis = self.triads()[0][1 + place]
        return rate(a.dot(axis, a.sub(self.points[1], self.points[0])))

    def _universal_rate(self, place: int) -> Any:
        """Return the rate about one axis: the part of the angular velocity along the dual of the two axes."""
        a = ALGEBRA
        first, second = self.axes[0][0], self.axes[1][1]
        spin, normal = self.spin(), a.cross(first, second)
        other = second if place == 0 else first
        along = a.cross(other, normal) if place == 0 else a.cross(normal, other)
        return a.dot(spin, along) / a.dot(normal, normal)


def spin_of(tree: Tree, name: str) -> Vector:
    """Return the angular velocity of a body in the axes of the ground: half the sum of its axes times their rates."""
    zero = sp.Integer(0)
    if name == GROUND:
        return zero, zero, zero
    a = ALGEBRA
    free = next((joint for joint in tree.joints if joint.second == name and joint.kind == "free"), None)
    if free is not None:
        spins = a.spins_of(free.quaternion)
        return a.add(*(a.scale(e.velocity, spin) for e, spin in zip(free.quaternion, spins, strict=True)))
    x, y, z = transposed(tree.place_of(name)[1])
    dx, dy, dz = (tuple(rate(item) for item in axis) for axis in (x, y, z))
    half = sp.Rational(1, 2)
    return a.scale(half, a.add(a.cross(x, dx), a.cross(y, dy), a.cross(z, dz)))


def closing_rows(tree: Tree, part: JointPart, loose: Mapping[str, Coordinate]) -> Iterator[Bilateral]:
    """Yield the constraints that make a joint."""
    joint, a = JointSides(tree, part), ALGEBRA
    gap = a.sub(joint.points[1], joint.points[0])
    name = part.name
    if part.rough:
        yield from _bearing_rows(joint, part, gap)
        yield from _tied(joint, part, loose)
        return
    if part.kind in ("revolute", "spherical", "universal", "fixed"):
        yield from (Bilateral(item, name=f"{name} {axis}") for axis, item in zip(AXES, gap, strict=True))
    if part.kind == "universal":
        yield from _universal(joint, part, loose)
    if part.kind in ("spherical", "universal", "free"):
        return
    first, second = joint.triads()
    if part.kind in ("prismatic", "cylindrical", "screw"):
        yield from (Bilateral(a.dot(first[i], gap), name=f"{name} {i}") for i in (1, 2))
    elif part.kind == "planar":
        yield Bilateral(a.dot(first[0], gap), name=f"{name} normal")
    if part.kind in ("prismatic", "fixed"):
        skew = a.add(*(a.cross(u, v) for u, v in zip(first, second, strict=True)))
        whole = 1 + sp.Add(*(a.dot(u, v) for u, v in zip(first, second, strict=True)))
        rows = zip(AXES, skew, strict=True)
        yield from (Bilateral(2 * item / whole, name=f"{name} turn {axis}") for axis, item in rows)
    else:
        whole = 1 + a.dot(first[0], second[0])
        yield from (Bilateral(2 * a.dot(first[i], second[0]) / whole, name=f"{name} turn {i}") for i in (1, 2))
    yield from _tied(joint, part, loose)


def bearings(part: JointPart) -> list[tuple[str, tuple[str, str]]]:
    """Return the frictions of a joint that rubs by its own force, each with the two rows that load it."""
    if part.length is None:
        return [(f"{part.name} friction", (f"{part.name} 1", f"{part.name} 2"))]
    return [
        (f"{part.name} friction {end}", (f"{part.name} {end} 1", f"{part.name} {end} 2")) for end in ("front", "back")
    ]


def _bearing_rows(joint: JointSides, part: JointPart, gap: Vector) -> Iterator[Bilateral]:
    """Yield the constraints of a joint whose transverse forces load its friction: at one place, or at two on its axis.

    They are lengths across the axis that the first body carries, so that their multipliers are forces.
    """
    a, name = ALGEBRA, part.name
    first, second = joint.triads()
    if part.length is None:
        yield from (Bilateral(a.dot(first[i], gap), name=f"{name} {i}") for i in (1, 2))
        whole = 1 + a.dot(first[0], second[0])
        yield from (Bilateral(2 * a.dot(first[i], second[0]) / whole, name=f"{name} turn {i}") for i in (1, 2))
    else:
        for end, sign in (("front", 1), ("back", -1)):
            place = a.add(gap, a.scale(sign * part.length / 2, second[0]))
            yield from (Bilateral(a.dot(first[i], place), name=f"{name} {end} {i}") for i in (1, 2))
    if part.kind == "revolute":
        yield Bilateral(a.dot(first[0], gap), name=f"{name} along")
    else:
        turned = a.dot(first[2], second[1]) - a.dot(first[1], second[2])
        whole = 2 + a.dot(first[1], second[1]) + a.dot(first[2], second[2])
        yield Bilateral(2 * turned / whole, name=f"{name} turn")


def _universal(joint: JointSides, part: JointPart, loose: Mapping[str, Coordinate]) -> Iterator[Bilateral]:
    """Yield what keeps the angle between the first axis, on the first body, and the second, on the second one."""
    a = ALGEBRA
    angle = sp.simplify(a.dot(part.axes[0][0], part.axes[0][1]))
    yield Bilateral(a.dot(joint.axes[0][0], joint.axes[1][1]) - angle, name=f"{part.name} cross")
    across_axis = sp.sqrt(sp.trigsimp(1 - angle**2))
    # About the first axis the second one turns forwards; seen from the second body, the first one turns backwards.
    sides = ((part.first, part.axes[0], joint.axes[1][1], 1), (part.second, part.axes[1][::-1], joint.axes[0][0], -1))
    for label, (body, (axis, other), seen, sense) in zip(part.labels, sides, strict=True):
        q = loose.get(label)
        if q is None:
            continue
        start = a.sub(other, a.scale(a.dot(axis, other), axis))
        u = a.dot(joint.vector(body, start), seen) / across_axis
        v = sense * a.dot(joint.vector(body, a.cross(axis, start)), seen) / across_axis
        yield _angle(q, u, v, across_axis, label)


def _angle(q: Coordinate, u: Any, v: Any, size: Any, label: str) -> Bilateral:
    """Return what makes q the angle of (u, v), a vector of this size."""
    c, s = sp.cos(q), sp.sin(q)
    return Bilateral(2 * (c * v - s * u) / (size + c * u + s * v), name=f"{label} angle")


def _tied(joint: JointSides, part: JointPart, loose: Mapping[str, Coordinate]) -> Iterator[Bilateral]:
    """Yield what ties coordinates of a joint outside the tree to its bodies."""
    a = ALGEBRA
    first, second = joint.triads()
    gap = a.sub(joint.points[1], joint.points[0])
    for place, (label, what) in enumerate(zip(part.labels, KINDS[part.kind], strict=True)):
        q = loose.get(label)
        if q is None:
            continue
        if what == "slide":
            axis = first[0] if part.kind != "planar" else first[1 + place]
            yield Bilateral(a.dot(axis, gap) - q, name=f"{label} slide")
            continue
        yield _angle(q, a.dot(first[1], second[1]), a.dot(first[2], second[1]), sp.Integer(1), label)
        if what == "screw":
            yield Bilateral(a.dot(first[0], gap) - part.pitch * q, name=f"{label} slide")
