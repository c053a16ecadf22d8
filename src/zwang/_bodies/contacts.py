"""Contacts between shapes: for each pair of features a gap, and the slip of what touches there.

Against a half-space every form is a few points with a radius about them: a ball its middle, a capsule its two ends, a
box and a hull their corners; a cylinder has the lowest points of its two rims, an ellipsoid one lowest point. A ball
keeps the distance of its middle from the nearest place of any other form (`nearest`). Corners stay outside an implicit
surface. Boxes and hulls meet each other by corners, faces and edges (`polytopes`), capsules meet other forms by ends,
corners, rims and what they cross (`rods`). The slip is the velocity of the first body against the second where they
touch, along two directions across the normal. Features that no joint moves against the other form are left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import sympy as sp

from zwang._bodies.closures import ALGEBRA, spin_of
from zwang._bodies.layout import across
from zwang._bodies.nearest import nearest_to
from zwang._bodies.parts import ContactPart, ShapePart, Told
from zwang._bodies.picture import wires
from zwang._bodies.polytopes import TouchSymbols, highest, solids_touch
from zwang._bodies.rods import RodPair
from zwang._declare.body_tree import GROUND, Tree
from zwang._declare.constraints import Unilateral
from zwang._declare.guides import tangents_of
from zwang._declare.laws import Coulomb, is_law
from zwang._declare.shapes import Box, Capsule, Cylinder, Form, HalfSpace, Hull, Implicit, Sphere
from zwang._declare.symbols import Coordinate, Dependent, rate
from zwang._declare.vectors import Matrix, Vector, transposed
from zwang.errors import DeclarationError

LOOKS = 3
"""Configurations at which it is looked whether a gap changes."""
ROUNDED = 1e-13
"""Of the size of its terms: by how much a gap may change that no joint changes."""
SUPPORTED = (
    "a Sphere, Capsule, Box, Hull, Cylinder or an Implicit ellipsoid with a HalfSpace; a Sphere or Capsule with a "
    "Sphere, Capsule, Box, Hull or Cylinder; a Box or Hull with a Box or Hull; a Box or Hull with an Implicit surface; "
    "a point with any of them"
)


class RoundPoint(NamedTuple):
    """A point of a shape, in the frame of its body, and the radius about it."""

    at: Vector
    radius: Any


class ContactWays(NamedTuple):
    """A constraint of a contact, and along which of the two directions across its normal the bodies can slip."""

    constraint: Unilateral
    ways: tuple[int, ...]


def touching(told: Told, tree: Tree, item: ContactPart, let: TouchSymbols, where: str) -> Iterator[ContactWays]:
    """Yield the constraints of a contact.

    Friction across the directions in which the bodies can slip, where a hinge or a guide holds them, moves nothing: a
    law is that of the others.
    """
    first, second = told.touching(item.first), told.touching(item.second)
    if first.on == second.on:
        raise DeclarationError(
            f"{where}: contact '{item.name}': both shapes are on '{first.on}', so they never move against each other."
        )
    found = list(_pairs(tree, first, second, let, f"{where}: contact '{item.name}'"))
    moving = [touch for touch in found if _moves(touch[0])]
    if not moving:
        raise DeclarationError(
            f"{where}: contact '{item.name}': no joint moves '{item.first}' to or from '{item.second}': their "
            f"distance stays at {found[0][0]}. Leave the contact out, or give one of their bodies another joint."
        )
    found = moving
    for number, (gap, slip, *exists) in enumerate(found, 1):
        name = item.name if len(found) == 1 else f"{item.name} {number}"
        ways = tuple(k for k in (0, 1) if slip[k] != 0)
        law = _law(item.friction, slip, ways, f"{where}: contact '{item.name}'")
        region = exists[0] if exists else None
        yield ContactWays(Unilateral(gap, friction=law, restitution=item.restitution, where=region, name=name), ways)


def _moves(gap: Any) -> bool:
    """Whether a gap depends on where bodies are: the end of a rod that turns about it keeps its height.

    Places in files leave terms of rounding, so that a gap is looked at in configurations drawn at random.
    """
    symbols = sorted(gap.free_symbols, key=str)
    if not any(isinstance(symbol, (Coordinate, Dependent)) for symbol in symbols):
        return False
    if any(isinstance(symbol, Dependent) for symbol in symbols):
        return True
    source, terms = random.Random(0), sp.Add.make_args(gap)
    given = {symbol: sp.Float(source.uniform(0.5, 2.0)) for symbol in symbols}
    looks = []
    for _ in range(LOOKS):
        places = {q: sp.Float(source.uniform(-2.0, 2.0)) for q in symbols if isinstance(q, Coordinate)}
        looks.append([complex(term.xreplace({**given, **places})) for term in terms])
    first, *others = (sum(look) for look in looks)
    size = max(abs(value) for look in looks for value in look)
    return not all(abs(other - first) <= ROUNDED * size for other in others)


def _law(friction: Any, slip: tuple[Any, Any], ways: tuple[int, ...], where: str) -> Any:
    if friction is None or friction == 0 or not ways:
        return None
    along = slip if len(ways) == 2 else slip[ways[0]]
    if not callable(friction):
        one = isinstance(friction, tuple) and len(ways) == 1
        return Coulomb(friction[ways[0]] if one else friction, slip=along)
    law = friction(along)
    if not is_law(law):
        raise DeclarationError(
            f"{where}: friction= is a function and returned {law!r:.60}, needed a law of friction, such as "
            "lambda slip: Coulomb(0.2, slip=slip, static=0.3)."
        )
    return law


def _pairs(tree: Tree, first: ShapePart, second: ShapePart, let: TouchSymbols, where: str) -> Iterator[tuple[Any, ...]]:
    """Yield gap and slips for each pair of features that can meet, and where it exists unless everywhere."""
    if _rank(first.form) > _rank(second.form):
        first, second = second, first
    balls, form = _balls(first), second.form
    if isinstance(form, HalfSpace) and isinstance(first.form, Cylinder):
        yield from _rims(tree, first, second)
    elif isinstance(form, HalfSpace) and isinstance(first.form, Implicit):
        yield _ellipsoid(tree, first, second, where)
    elif isinstance(form, HalfSpace) and balls:
        for ball in balls:
            yield _on_plane(tree, first, ball, second)
    elif _is_point(first.form) and is_solid(form):
        yield from solids_touch(first, second, let, where)
    elif _is_point(first.form) and isinstance(form, Cylinder):
        yield _point_on_cylinder(tree, first, second, let)
    elif _is_point(first.form) and _is_point(form):
        raise DeclarationError(f"{where}: two points don't touch each other. Give one of them a form: shape(form=).")
    elif isinstance(first.form, Sphere) and isinstance(form, (Sphere, Capsule, Box, Hull, Cylinder)):
        yield _ball_on(tree, first, second, let, where)
    elif _is_rod(first.form, form):
        yield from _rods(tree, *((first, second) if isinstance(first.form, Capsule) else (second, first)), let, where)
    elif is_solid(first.form) and is_solid(form):
        yield from solids_touch(first, second, let, where)
    elif isinstance(form, Implicit) and balls and all(ball.radius == 0 for ball in balls):
        for ball in balls:
            yield _outside(tree, first, ball, second)
    else:
        kinds = " with ".join(f"{'an' if name[0] == 'I' else 'a'} {name}" for name in map(_kind, (first.form, form)))
        raise DeclarationError(f"{where}: contact of {kinds} is not supported. Supported are: {SUPPORTED}.")


def _is_rod(*forms: Form) -> bool:
    """Whether a pair is a capsule with a capsule, a box, a hull or a cylinder."""
    known = all(isinstance(form, (Capsule, Box, Hull, Cylinder)) for form in forms)
    return known and any(isinstance(form, Capsule) for form in forms)


def _is_point(form: Form) -> bool:
    """Whether a form is a ball without a radius, which has no distance from what it touches."""
    return isinstance(form, Sphere) and form.radius == 0


def is_solid(form: Form) -> bool:
    """Whether a form has corners, faces and edges."""
    return isinstance(form, (Box, Hull))


def frames(told: Told) -> tuple[tuple[str, str], ...]:
    """Return the bodies whose place in the frame of another one stands in some contact."""
    found: dict[tuple[str, str], None] = {}
    for item in told.contacts.values():
        first, second = told.touching(item.first), told.touching(item.second)
        forms = (first.form, second.form)
        solids = [is_solid(form) for form in forms]
        cornered = any(solids) and all(a or _is_point(form) for a, form in zip(solids, forms, strict=True))
        if (cornered or _is_rod(*forms)) and first.on != second.on:
            found |= {(first.on, second.on): None, (second.on, first.on): None}
    return tuple(found)


def _kind(form: Form) -> str:
    return type(form).__name__


def _rank(form: Form) -> int:
    """Return the place of a form in a pair: what is met by its points comes before what is met by its face."""
    return (
        3 if isinstance(form, HalfSpace) else 2 if isinstance(form, Implicit) else 0 if isinstance(form, Sphere) else 1
    )


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


def _ball_on(
    tree: Tree, ball: ShapePart, other: ShapePart, let: TouchSymbols, where: str
) -> tuple[Any, tuple[Any, Any]]:
    """Return the contact of a ball with the nearest place of a form."""
    a, form = ALGEBRA, ball.form
    assert isinstance(form, Sphere)
    middle, axes = carried(tree, ball.on, ball.at), _axes(tree, other)
    line, distance, radius = nearest_to(other, let.vector(_seen_by(tree, other, middle)), let, where)
    own = let.vector(a.scale(1 / distance, line))
    touch = a.sub(middle, a.scale(form.radius, a.apply(axes, own)))
    first, second = (a.apply(axes, tangent) for tangent in tangents_of(*own))
    return distance - radius - form.radius, _slips(tree, (ball.on, other.on), touch, (first, second))


def _point_on_cylinder(
    tree: Tree, point: ShapePart, other: ShapePart, let: TouchSymbols
) -> tuple[Any, tuple[Any, Any]]:
    """Return the contact of a point with the ends and the side of a cylinder: it is outside where it is above one."""
    a, form = ALGEBRA, other.form
    assert isinstance(form, Cylinder)
    middle, axes = carried(tree, point.on, point.at), _axes(tree, other)
    x, y, z = let.vector(_seen_by(tree, other, middle))
    zero, one = sp.Integer(0), sp.Integer(1)
    # On the side the distance from the axis less the radius, but smooth on the axis too.
    side = (x**2 + y**2 - form.radius**2) / (2 * form.radius)
    heights = [let(height) for height in (z - form.length / 2, -z - form.length / 2, side)]
    far = sp.sqrt(let(sp.Max(x**2 + y**2, form.radius**2 / 4)))
    ways = [((one, zero, zero), (zero, one, zero))] * 2 + [((zero, zero, one), (-y / far, x / far, zero))]
    slips = [
        _slips(tree, (point.on, other.on), middle, (a.apply(axes, first), a.apply(axes, second)))
        for first, second in ways
    ]
    return highest(heights, slips)


def _rods(tree: Tree, rod: ShapePart, other: ShapePart, let: TouchSymbols, where: str) -> Iterator[tuple[Any, ...]]:
    """Yield the contacts of a capsule with another form: its ends, the other's corners and rims, what they cross."""
    for end in _balls(rod):
        yield _ball_on(tree, replace(rod, form=Sphere(end.radius), at=end.at), other, let, where)
    yield from RodPair(rod, other, let, where).touches()


def _axes(tree: Tree, shape: ShapePart) -> Matrix:
    """Return the axes of a shape in those of the ground."""
    turned = shape.turned
    return turned if shape.on == GROUND else ALGEBRA.product(tree.place_of(shape.on)[1], turned)


def _seen_by(tree: Tree, shape: ShapePart, place: Vector) -> Vector:
    """Return a place of the ground in the frame of a shape."""
    a = ALGEBRA
    return a.apply(transposed(_axes(tree, shape)), a.sub(place, carried(tree, shape.on, shape.at)))


def _outside(tree: Tree, shape: ShapePart, corner: RoundPoint, surface: ShapePart) -> tuple[Any, tuple[Any, Any]]:
    """Return the contact of a corner with an implicit surface: its expression as a length, at the surface."""
    a, form = ALGEBRA, surface.form
    assert isinstance(form, Implicit)
    names = coordinates_of(form)
    middle, axes = carried(tree, shape.on, corner.at), _axes(tree, surface)
    there = dict(zip(names, _seen_by(tree, surface, middle), strict=True))
    x, y, z = (sp.diff(form.expr, name).xreplace(there) for name in names)
    steep = sp.sqrt(x**2 + y**2 + z**2)
    first, second = (a.apply(axes, tangent) for tangent in tangents_of(x / steep, y / steep, z / steep))
    return form.expr.xreplace(there) / steep, _slips(tree, (shape.on, surface.on), middle, (first, second))


def coordinates_of(form: Implicit) -> list[Any]:
    """Return the symbols x, y, z of an implicit expression."""
    known = {symbol.name: symbol for symbol in form.expr.free_symbols}
    return [known.get(name, sp.Symbol(name, real=True)) for name in "xyz"]


def _ellipsoid(tree: Tree, shape: ShapePart, plane: ShapePart, where: str) -> tuple[Any, tuple[Any, Any]]:
    """Return the contact of the lowest point of an ellipsoid, f = (p - c) . H (p - c)/2 - k, with a half-space."""
    a, form = ALGEBRA, shape.form
    assert isinstance(form, Implicit)
    names = coordinates_of(form)
    H = sp.hessian(form.expr, names)
    definite = not H.free_symbols & set(names) and H.is_positive_definite is not False and H.det() != 0
    if not definite:
        raise DeclarationError(
            f"{where}: of Implicit forms ellipsoids can touch a HalfSpace, and '{form.expr}' is none: its lowest point "
            "has no closed form. Give a polynomial of second degree such as x**2/a**2 + y**2/b**2 + z**2/c**2 - 1, or "
            "a Hull of points."
        )
    flat = H.inv()
    start = dict.fromkeys(names, sp.Integer(0))
    centre = -flat * sp.Matrix([sp.diff(form.expr, name).xreplace(start) for name in names])
    level = -form.expr.xreplace(dict(zip(names, centre, strict=True)))
    normal, height, tangents = _plane(tree, plane)
    axes = _axes(tree, shape)
    own = sp.Matrix(a.apply(transposed(axes), normal))
    size = sp.sqrt(2 * level * (own.T * flat * own)[0])
    x, y, z = centre - flat * own * (2 * level / size)
    middle = carried(tree, shape.on, a.add(shape.at, a.apply(shape.turned, tuple(centre))))
    touch = a.add(carried(tree, shape.on, shape.at), a.apply(axes, (x, y, z)))
    return a.dot(normal, middle) - height - size, _slips(tree, (shape.on, plane.on), touch, tangents)


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
        forms = {shape: told.touching(shape).form for shape in (item.first, item.second)}
        shapes = [shape for shape, form in forms.items() if isinstance(form, Cylinder)]
        flat = any(isinstance(form, HalfSpace) for form in forms.values())
        if shapes and flat and (name == item.name or name.startswith(f"{item.name} ")):
            return (
                f" The face of the Cylinder '{shapes[0]}' is parallel to the half-space, so that its rim has no lowest "
                "point: tilt it a little, or give a Hull of points of its rims."
            )
    return ""
