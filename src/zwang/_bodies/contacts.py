"""Contacts between shapes: for each pair of features a gap, and the slip of what touches there.

Against a half-space every form is a few points with a radius about them: a ball its middle, a capsule its two ends, a
box and a hull their corners; a cylinder has the lowest points of its two rims. Two balls, or a ball and a capsule's
end, keep the distance of their middles. The slip is the velocity of the first body against the second where they
touch, along two directions across the normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import sympy as sp

from zwang._bodies.closures import ALGEBRA, spin_of
from zwang._bodies.layout import across
from zwang._bodies.parts import ContactPart, ShapePart, Told
from zwang._bodies.picture import wires
from zwang._declare.constraints import Unilateral
from zwang._declare.laws import Coulomb, is_law
from zwang._declare.shapes import Box, Capsule, Cylinder, HalfSpace, Hull, Sphere
from zwang._declare.symbols import rate
from zwang._declare.tree import GROUND, Tree
from zwang._declare.vectors import Vector
from zwang.errors import DeclarationError

SUPPORTED = "a Sphere, Capsule, Box, Hull or Cylinder with a HalfSpace; Spheres with each other"


class RoundPoint(NamedTuple):
    """A point of a shape, in the frame of its body, and the radius about it."""

    at: Vector
    radius: Any


def touching(told: Told, tree: Tree, item: ContactPart, where: str) -> Iterator[Unilateral]:
    """Yield the constraints of a contact."""
    first, second = told.shapes[item.first], told.shapes[item.second]
    if first.on == second.on:
        raise DeclarationError(
            f"{where}: contact '{item.name}': both shapes are on '{first.on}', so they never move against each other."
        )
    found = list(_pairs(tree, first, second, f"{where}: contact '{item.name}'"))
    for number, (gap, slip) in enumerate(found, 1):
        name = item.name if len(found) == 1 else f"{item.name} {number}"
        law = _law(item.friction, slip, f"{where}: contact '{item.name}'")
        yield Unilateral(gap, friction=law, restitution=item.restitution, name=name)


def _law(friction: Any, slip: tuple[Any, Any], where: str) -> Any:
    if friction is None or friction == 0:
        return None
    if not callable(friction):
        return Coulomb(friction, slip=slip)
    law = friction(slip)
    if not is_law(law):
        raise DeclarationError(
            f"{where}: friction= is a function and returned {law!r:.60}, needed a law of friction, such as "
            "lambda slip: Coulomb(0.2, slip=slip, static=0.3)."
        )
    return law


def _pairs(tree: Tree, first: ShapePart, second: ShapePart, where: str) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Yield gap and slips for each pair of features that can meet."""
    if isinstance(first.form, HalfSpace) and not isinstance(second.form, HalfSpace):
        first, second = second, first
    balls = _balls(first)
    if isinstance(second.form, HalfSpace) and isinstance(first.form, Cylinder):
        yield from _rims(tree, first, second)
    elif isinstance(second.form, HalfSpace) and balls:
        for ball in balls:
            yield _on_plane(tree, first, ball, second)
    elif isinstance(first.form, Sphere) and isinstance(second.form, Sphere):
        yield _ball_on_ball(tree, first, second)
    else:
        kinds = f"a {type(first.form).__name__} with a {type(second.form).__name__}"
        raise DeclarationError(f"{where}: contact of {kinds} is not supported. Supported are: {SUPPORTED}.")


def _balls(shape: ShapePart) -> list[RoundPoint]:
    """Return the points with radii whose convex hull a shape is."""
    form, zero = shape.form, sp.Integer(0)
    if isinstance(form, Sphere):
        return [RoundPoint(shape.at, form.radius)]
    if not isinstance(form, (Box, Capsule, Hull)):
        return []
    corners, _ = wires(form)
    radius = form.radius if isinstance(form, Capsule) else zero
    a = ALGEBRA
    return [RoundPoint(a.add(shape.at, a.apply(shape.turned, corner)), radius) for corner in corners]


def carried(tree: Tree, body: str, local: Vector, *, free: bool = False) -> Vector:
    """Return a place of a body's frame (or a direction, `free`) in the ground's."""
    if body == GROUND:
        return local
    r, axes = tree.place_of(body)
    turned = ALGEBRA.apply(axes, local)
    return turned if free else ALGEBRA.add(r, turned)


def _plane(tree: Tree, shape: ShapePart) -> tuple[Vector, Any, tuple[Vector, Vector]]:
    """Return the outward normal of a half-space, the place of its face along it, and two directions across."""
    a, form = ALGEBRA, shape.form
    assert isinstance(form, HalfSpace)
    length = sp.sqrt(sp.trigsimp(sp.Add(*(item**2 for item in form.normal))))
    x, y, z = (item / length for item in form.normal)
    own = a.apply(shape.turned, (x, y, z))
    across_own = across(own)
    foot = a.add(shape.at, a.scale(form.offset / length, own))
    normal = carried(tree, shape.on, own, free=True)
    tangents = tuple(carried(tree, shape.on, item, free=True) for item in across_own)
    return normal, a.dot(normal, carried(tree, shape.on, foot)), tangents  # type: ignore[return-value]


def _on_plane(tree: Tree, shape: ShapePart, ball: RoundPoint, plane: ShapePart) -> tuple[Any, tuple[Any, Any]]:
    a = ALGEBRA
    normal, height, tangents = _plane(tree, plane)
    middle = carried(tree, shape.on, ball.at)
    gap = a.dot(normal, middle) - height - ball.radius
    if ball.radius == 0:  # a corner is a point of its body, whose velocity is the rate of its place
        x, y, z = (rate(item) for item in middle)
        sliding = a.sub((x, y, z), _velocity(tree, plane.on, middle))
        return gap, (a.dot(tangents[0], sliding), a.dot(tangents[1], sliding))
    touch = a.sub(middle, a.scale(ball.radius, normal))
    return gap, _slips(tree, (shape.on, plane.on), touch, tangents)


def _rims(tree: Tree, shape: ShapePart, plane: ShapePart) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Yield the contacts of the lowest point of each rim; a cylinder that stands flat has no lowest point."""
    a, form = ALGEBRA, shape.form
    assert isinstance(form, Cylinder)
    normal, height, tangents = _plane(tree, plane)
    own = a.apply(shape.turned, (sp.Integer(0), sp.Integer(0), sp.Integer(1)))
    axis = carried(tree, shape.on, own, free=True)
    tilt = a.dot(axis, normal)
    down = a.sub(a.scale(tilt, axis), normal)
    length = sp.sqrt(a.dot(down, down))
    for side in (-1, 1):
        middle = carried(tree, shape.on, a.add(shape.at, a.scale(side * form.length / 2, own)))
        touch = a.add(middle, a.scale(form.radius / length, down))
        gap = a.dot(normal, middle) - height - form.radius * length
        yield gap, _slips(tree, (shape.on, plane.on), touch, tangents)


def _ball_on_ball(tree: Tree, first: ShapePart, second: ShapePart) -> tuple[Any, tuple[Any, Any]]:
    a = ALGEBRA
    radii = []
    for shape in (first, second):
        assert isinstance(shape.form, Sphere)
        radii.append(shape.form.radius)
    one, other = carried(tree, first.on, first.at), carried(tree, second.on, second.at)
    line = a.sub(one, other)
    distance = sp.sqrt(a.dot(line, line))
    normal = a.scale(1 / distance, line)
    touch = a.add(other, a.scale(radii[1], normal))
    # Two directions across a normal that may point anywhere: the reflection that carries z to it carries x and y too.
    x, y, z = normal
    side = sp.sign(z) + (1 - sp.Abs(sp.sign(z)))
    factor = -1 / (side + z)
    tangents = (
        (1 + side * x**2 * factor, side * x * y * factor, -side * x),
        (x * y * factor, side + y**2 * factor, -y),
    )
    return distance - radii[0] - radii[1], _slips(tree, (first.on, second.on), touch, tangents)


def _slips(tree: Tree, bodies: tuple[str, str], touch: Vector, tangents: tuple[Vector, Vector]) -> tuple[Any, Any]:
    """Return the velocity of the first body against the second at a place, along two directions."""
    a = ALGEBRA
    sliding = a.sub(*(_velocity(tree, body, touch) for body in bodies))
    return a.dot(tangents[0], sliding), a.dot(tangents[1], sliding)


def _velocity(tree: Tree, body: str, place: Vector) -> Vector:
    zero = sp.Integer(0)
    if body == GROUND:
        return zero, zero, zero
    a, r = ALGEBRA, tree.place_of(body)[0]
    x, y, z = (rate(item) for item in r)
    return a.add((x, y, z), a.cross(spin_of(tree, body), a.sub(place, r)))


def flat_cylinder(told: Told, name: str) -> str:
    """Return what to do where a contact has no normal: a cylinder whose face is parallel to the plane has none."""
    for item in told.contacts.values():
        shapes = [shape for shape in (item.first, item.second) if isinstance(told.shapes[shape].form, Cylinder)]
        if shapes and (name == item.name or name.startswith(f"{item.name} ")):
            return (
                f" The face of the Cylinder '{shapes[0]}' is parallel to the half-space, so that its rim has no lowest "
                "point: tilt it a little, or give a Hull of points of its rims."
            )
    return ""
