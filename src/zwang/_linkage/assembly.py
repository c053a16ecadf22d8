"""From the parts of a linkage and the places of its points to energies, forces and constraints.

A uniform bar AB of mass m has the kinetic energy m/6 (vA^2 + vA.vB + vB^2), so its masses are constant in Cartesian
coordinates. Lengths that stay constant are written as polynomials, (|AB|^2 - l^2)/(2 l): on the constraint the
gradient has unit length, and the multiplier is the force in the bar, positive where it pushes its ends apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.given import components
from zwang._declare.guides import on_curve
from zwang._declare.laws import Coulomb, is_law
from zwang._declare.symbols import Coordinate, Velocity
from zwang._linkage.inventory import Inventory
from zwang._linkage.layout import JointLayout
from zwang._linkage.parts import Bar, BarSlider, Guide, Pin, Place, String
from zwang._linkage.plane_vectors import Vector, moment, quadratic
from zwang._linkage.rough import BLOCK, GROUND, bodies_at
from zwang.errors import DeclarationError, nearest

HALF = sp.Rational(1, 2)


# --- energies --------------------------------------------------------------------------------------------------------


def kinetic_energy(parts: Inventory, layout: JointLayout) -> Any:
    """Return the kinetic energy of all points and bars."""
    return quadratic(_inertias(parts, layout))


def _inertias(parts: Inventory, layout: JointLayout) -> Iterator[tuple[Any, Vector, Vector]]:
    """Yield factor, vector, vector for each product of velocities in the kinetic energy."""
    for item in parts.points.values():
        if item.mass != 0:
            yield item.mass / 2, layout.vectors[item.name], layout.vectors[item.name]
    for bar in parts.bars.values():
        start, end = layout.vectors[bar.first], layout.vectors[bar.second]
        if bar.mass != 0 and bar.inertia is None:
            yield from ((bar.mass / 6, *pair) for pair in ((start, start), (start, end), (end, end)))
        elif bar.mass != 0:
            centre = layout.on_bar(bar, bar.fraction, bar.offset)
            yield bar.mass / 2, centre, centre
        if bar.inertia is not None:
            # The ends turn about each other with the angular velocity of the bar, at the distance of its length.
            turning = end.minus(start)
            yield bar.inertia / (2 * bar.length**2), turning, turning


def potential_energy(parts: Inventory, gravity: Place, layout: JointLayout) -> Any:
    """Return the potential energy of gravity and springs."""
    terms: list[Any] = []
    up = [-component for component in gravity]
    if any(component != 0 for component in up):
        total = moment(_weights(parts, layout))
        heights = [total.position[i] for i in range(2)]
        terms += [
            sp.Add(*(g * part for part in sp.Add.make_args(x))) for g, x in zip(up, heights, strict=True) if g != 0
        ]
    for spring in parts.springs:
        if spring.stiffness != 0:
            dx, dy = layout.difference(spring.first, spring.second)
            terms.append(spring.stiffness / 2 * (sp.sqrt(dx**2 + dy**2) - spring.length) ** 2)
    return sp.Add(*terms)


def _weights(parts: Inventory, layout: JointLayout) -> Iterator[tuple[Any, Vector]]:
    for item in parts.points.values():
        if item.mass != 0:
            yield item.mass, layout.vectors[item.name]
    for bar in parts.bars.values():
        if bar.mass != 0:
            yield bar.mass, layout.on_bar(bar, bar.fraction, bar.offset)


def _spin(bar: Bar, layout: JointLayout) -> Any:
    if bar.ends in layout.spins:
        return layout.spins[bar.ends]
    (dx, dy), (du, dv) = layout.difference(*bar.ends), layout.closing_velocity(*bar.ends)
    return (dx * dv - dy * du) / bar.length**2


def without_inertia(parts: Inventory) -> str | None:
    """Return the name of a free point that neither inertia nor two constraints determine, if there is one."""
    held = {*parts.ground, *(item.name for item in parts.points.values() if item.mass != 0)}
    loads = dict.fromkeys(parts.bars, 0)
    for item in parts.points.values():
        if item.bar is not None and item.mass != 0:
            loads[item.bar] += 1
    moving = set(held)
    for bar in parts.bars.values():
        own = 2 * (bar.mass != 0) if bar.inertia is None else (bar.mass != 0) + (bar.inertia != 0)
        # One mass, one inertia or one held end leaves a bar free to move about it without effort; two don't.
        if own + loads[bar.ends] + len(held & set(bar.ends)) >= 2:
            moving |= set(bar.ends)
    light = (item.name for item in parts.points.values() if item.bar is None and item.name not in moving)
    return next((name for name in light if _ties(parts, name) < 2), None)


def _ties(parts: Inventory, point: str) -> int:
    """Return how many equations hold a point; two place one that has no inertia."""
    count = 0
    for item in parts.relations.values():
        if isinstance(item, (Bar, Pin)) and point in (item.first, item.second):
            count += 2 if isinstance(item, Pin) else 1
        elif isinstance(item, Guide) and item.point == point:
            count += not item.unilateral
        elif isinstance(item, BarSlider):
            count += point in (item.point, *item.bar)
    return count


# --- forces ----------------------------------------------------------------------------------------------------------


def applied_forces(parts: Inventory, layout: JointLayout) -> dict[Coordinate, Any]:
    """Return the generalized forces of dampers, forces at points and torques on bars."""
    found: dict[Coordinate, list[Any]] = {}

    def add(force: Any, velocity: Any) -> None:
        # The force does its power on this velocity, which is affine in those of the coordinates.
        for symbol in sorted(velocity.free_symbols, key=lambda symbol: symbol.name):
            if isinstance(symbol, Velocity):
                found.setdefault(symbol.coordinate, []).append(force * sp.diff(velocity, symbol))

    for spring in parts.springs:
        if spring.damping != 0:
            ends = spring.first, spring.second
            (dx, dy), (du, dv) = layout.difference(*ends), layout.closing_velocity(*ends)
            stretching = (dx * du + dy * dv) / sp.sqrt(dx**2 + dy**2)
            add(-spring.damping * stretching, stretching)
    for force in parts.forces:
        (x, y), (u, v) = layout.position(force.point), layout.velocity(force.point)
        told = force.components(x, y, u, v) if callable(force.components) else force.components
        both = components(told)
        if both is None or len(both) != 2:
            raise DeclarationError(
                f"{parts.where}: the force at '{force.point}' must have two components; it gave {told!r}."
            )
        for component, velocity in zip(both, (u, v), strict=True):
            add(component, velocity)
    for torque in parts.torques:
        add(torque.value, _spin(parts.bars[torque.bar], layout))
    return {q: sp.Add(*found[q]) for q in layout.coordinates if q in found}


# --- constraints -----------------------------------------------------------------------------------------------------


def constraints(parts: Inventory, distances: str, layout: JointLayout) -> Iterator[Constraint]:
    """Yield the constraints that the choice of coordinates leaves, in the order of declaration."""
    for relation in parts.relations.values():
        if isinstance(relation, Bar):
            if relation.ends not in layout.spanning:
                yield Bilateral(_excess(relation, distances, layout), name=relation.name)
        elif isinstance(relation, String):
            gap = -_excess(relation, distances, layout)
            yield Unilateral(gap, restitution=relation.restitution, name=relation.name)
        elif isinstance(relation, Pin):
            if relation.name not in layout.spanning:
                for axis, gap in zip("xy", layout.difference(relation.first, relation.second), strict=True):
                    yield Bilateral(gap, name=f"{relation.name} {axis}")
            if relation.friction is not None:
                yield _in_pin(parts, relation, layout)
        elif isinstance(relation, Guide):
            yield from _on_guide(parts, relation, layout)
        else:
            yield _on_bar(parts, relation, layout)
    for name, axis, gap in layout.closures:
        yield Bilateral(gap, name=f"{name} {axis}")


def _excess(relation: Bar | String, distances: str, layout: JointLayout) -> Any:
    """Return by how much two points are farther apart than a length, in the form that was asked for."""
    dx, dy = layout.difference(relation.first, relation.second)
    factor, constant = _distance_form(relation.length, distances)
    return sp.Add(factor * dx**2, factor * dy**2, constant)


@lru_cache(maxsize=256)  # chains of thousands of equal bars
def _distance_form(length: Any, distances: str) -> tuple[Any, Any]:
    """Return the factor of the squared distance and the constant beside it."""
    return (HALF, -(length**2) / 2) if distances == "half square" else (1 / (2 * length), -length / 2)


def _law(friction: Any, slip: Any, scale: Any, where: str) -> Any:
    """Return Coulomb's law with a coefficient, or what a function of the slip makes."""
    if not callable(friction):
        return Coulomb(friction, slip=slip, scale=scale)
    law = friction(slip)
    if not is_law(law):
        raise DeclarationError(
            f"Linkage: {where}: friction= is a function and returned {law!r:.60}, needed a law of friction, such as "
            "lambda slip: Coulomb(0.2, slip=slip, static=0.3)."
        )
    if scale != 1:
        raise DeclarationError(
            f"Linkage: {where}: a law of one's own needs a multiplier that is a force. Leave out normalized=False."
        )
    return law


def _in_pin(parts: Inventory, pin: Pin, layout: JointLayout) -> Friction:
    """Return the friction of a pin: of the resultant of both its constraints, against the relative turning."""
    first, second = pin.between or _turning(parts, pin)
    slip = pin.radius * (_spin_of(parts, pin, second, layout) - _spin_of(parts, pin, first, layout))
    if slip == 0:
        raise DeclarationError(
            f"{parts.where}: pin '{pin.name}': '{first}' and '{second}' don't turn on each other. Name the bars "
            "that do in between=."
        )
    of = (f"{pin.name} x", f"{pin.name} y")
    if callable(pin.friction):
        law = _law(pin.friction, slip, sp.Integer(1), f"pin '{pin.name}'")
        return Friction(1, slip=law.slip, section=law.section(), of=of, name=pin.name)
    # The multipliers are the whole bearing force; what rubs is the part along the surface of a dry journal.
    return Friction(pin.friction / sp.sqrt(1 + pin.friction**2), slip=slip, of=of, name=pin.name)


def _turning(parts: Inventory, pin: Pin) -> tuple[str, str]:
    """Return the two bodies that a pin joins; a DeclarationError lists those among which it is not said."""
    found = []
    for point in (pin.first, pin.second):
        bodies = bodies_at(parts, point)
        if len(bodies) != 1:
            meets = f"{', '.join(bodies)} meet" if bodies else "nothing that turns is"
            raise DeclarationError(
                f"{parts.where}: pin '{pin.name}' has friction, and {meets} in '{point}'. Say which two bodies turn on "
                "each other: between=('bar', 'bar'), or 'ground'."
            )
        found.append(bodies[0])
    return found[0], found[1]


def _spin_of(parts: Inventory, pin: Pin, body: str, layout: JointLayout) -> Any:
    """Return the angular velocity of a body by its name."""
    if body in (GROUND, BLOCK):
        return sp.Integer(0)
    known = {bar.name: bar for bar in parts.bars.values()}
    if body not in known:
        names = [*known, GROUND]
        raise DeclarationError(
            f"{parts.where}: pin '{pin.name}': between= names '{body}', which is no bar. {nearest(body, names)}"
        )
    return _spin(known[body], layout)


def _on_guide(parts: Inventory, guide: Guide, layout: JointLayout) -> Iterator[Constraint]:
    """Yield the constraint of a guide; two where it carries the moment of the bar that it is fixed to."""
    point = parts.points.get(guide.point)
    if guide.length is None or point is None or point.bar is None:
        yield _on_curve(guide, layout.position(guide.point), guide.name)
        return
    bar = parts.bars[point.bar]
    for number, sign in ((1, 1), (2, -1)):
        aside = sign * guide.length / (2 * bar.length)
        place = layout.on_bar(bar, point.fraction + aside, point.offset).position
        yield _on_curve(guide, place, f"{guide.name} {number}")


def _on_curve(guide: Guide, place: Place, name: str) -> Constraint:
    gap, slip = on_curve(place, guide.implicit, variables=guide.variables)
    scale: Any = sp.Integer(1)
    if not guide.normalized:
        at_point = dict(zip(guide.variables, place, strict=True))
        gap = guide.implicit.xreplace(at_point)
        gradient = [sp.diff(guide.implicit, symbol).xreplace(at_point) for symbol in guide.variables]
        scale = sp.sqrt(gradient[0] ** 2 + gradient[1] ** 2)
    law = None if guide.friction is None else _law(guide.friction, slip, scale, f"guide '{guide.name}'")
    if guide.unilateral:
        return Unilateral(gap, friction=law, restitution=guide.restitution, name=name)
    return Bilateral(gap, friction=law, name=name)


def _on_bar(parts: Inventory, slider: BarSlider, layout: JointLayout) -> Bilateral:
    """Return the constraint of a point on the line of a bar: its distance from that line, positive on the left."""
    bar = parts.bars[slider.bar]
    (dx, dy), (x, y) = layout.difference(*bar.ends), layout.difference(bar.first, slider.point)
    law = None
    if slider.friction is not None:
        # The rate of the distance along the bar is the velocity past the bar's own material.
        (du, dv), (u, v) = layout.closing_velocity(*bar.ends), layout.closing_velocity(bar.first, slider.point)
        slip = (dx * u + dy * v + x * du + y * dv) / bar.length
        law = _law(slider.friction, slip, sp.Integer(1), f"slider '{slider.name}'")
    return Bilateral((dx * y - dy * x) / bar.length, friction=law, name=slider.name)
