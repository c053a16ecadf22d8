"""A system in other coordinates: q = X(p) put into every expression.

Energies and constraints are substituted; generalized forces become (dX/dp)^T Q. A system declared by mass and force
becomes A~ = X_p^T A X_p, B~ = X_p^T (B - A (X_p p')_p p') with all at q = X(p), q' = X_p p' + X_t (Burian 2024,
theorem 3). Constraints keep their values, so their multipliers stay the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from zwang._declare.declaration_reader import coordinate_order, find_coordinate
from zwang._declare.given import Text
from zwang._declare.numeric_values import Evaluator
from zwang._declare.symbols import Coordinate, Velocity, explicit_rate
from zwang.errors import DeclarationError

TRIALS = 12  # random places; the change must be regular at one of them


def transformed(
    system: Any, change: Mapping[Any, Any], coordinates: Sequence[Coordinate] | None, name: str | None
) -> Any:
    """Return the system in the coordinates in which `change` expresses the old ones."""
    system = written_out(system)
    old = _old_coordinates(system, change)
    new = _new_coordinates(system, old, coordinates)
    velocities = [item.velocity for item in new]
    rates = {q: _rate(expr, new, velocities) for q, expr in old.items()}
    table: dict[Any, Any] = {**old, **{q.velocity: expr for q, expr in rates.items()}}

    def put(expr: Any) -> Any:
        return expr.xreplace(table)

    slopes = sp.Matrix([[sp.diff(old[q], p) for p in new] for q in system.coordinates])
    _require_invertible(system, slopes)
    declared: dict[str, Any] = {
        "name": system.name if name is None else name,
        "coordinates": new,
        "constraints": [item.map(put) for item in system.constraints],
    }
    if system.mass is not None:
        mass = sp.Matrix(system.mass).applyfunc(put)
        drift = sp.Matrix([_rate(rates[q], new, velocities) for q in system.coordinates])
        force = sp.Matrix(system.force).applyfunc(put)
        declared["mass"] = slopes.T * mass * slopes
        declared["force"] = slopes.T * (force - mass * drift)
    else:
        declared["kinetic"] = put(system.kinetic)
        declared["potential"] = put(system.potential)
    if system.forces:
        applied = sp.Matrix([put(system.forces.get(q, sp.Integer(0))) for q in system.coordinates])
        declared["forces"] = dict(zip(new, slopes.T * applied, strict=True))
    if system.events:
        declared["events"] = [_event(system, item, put, old) for item in system.events]
    if system.drawing is not None:
        declared["drawing"] = system.drawing.map(put)
    return type(system)(**declared)


def _event(system: Any, event: Any, put: Any, old: Mapping[Any, Any]) -> Any:
    """Return an event in the new coordinates; a Reset can go over only where its velocity is one of them."""
    for item in event.then:
        for key in getattr(item, "velocities", ()):
            if old[key.coordinate] != key.coordinate:
                raise DeclarationError(
                    f"{system.name}: transformed: event '{event.name}' resets '{key}', which is no velocity of the new "
                    "coordinates. Keep that coordinate, or leave the event out."
                )
    return event.map(put)


def written_out(system: Any) -> Any:
    """Return a system of bodies declared by its energies, in coordinates and velocities alone; others as they are."""
    tree = system.tree
    if tree is None:
        return system
    forces = {q: tree.expanded(force) for q, force in system.forces.items()}
    for load in tree.loads:
        for force, along in load.pairs:
            push, speed = tree.expanded(force), tree.expanded(along)
            for q in system.coordinates:
                slope = sp.diff(speed, q.velocity)
                if slope != 0:
                    forces[q] = forces.get(q, 0) + push * slope
    return type(system)(
        name=system.name,
        coordinates=system.coordinates,
        kinetic=tree.kinetic,
        potential=system.potential,
        forces=forces,
        constraints=[item.map(tree.expanded) for item in system.constraints],
        events=[event.map(tree.expanded) for event in system.events],
    )


def _rate(expr: Any, new: Sequence[Any], velocities: Sequence[Any]) -> Any:
    """Return the part of d expr/dt that has no accelerations in it."""
    return sp.Add(*(sp.diff(expr, p) * v for p, v in zip(new, velocities, strict=True)), explicit_rate(expr))


def _old_coordinates(system: Any, change: Mapping[Any, Any]) -> dict[Coordinate, Any]:
    """Return every old coordinate with its expression; coordinates that are not mentioned stay as they are."""
    if not isinstance(change, Mapping) or not change:
        raise DeclarationError(
            f"{system.name}: transformed needs a mapping from old coordinates to expressions of the new ones; it was "
            f"given {change!r:.60}."
        )
    found: dict[Coordinate, Any] = {q: q for q in system.coordinates}
    for key, value in change.items():
        q = find_coordinate(system.name, key, system.coordinates)
        if not isinstance(value, sp.Expr) or isinstance(value, Text):
            raise DeclarationError(
                f"{system.name}: transformed: '{q}' must be an expression of symbols from zwang.coordinates; it was "
                f"given {value!r:.60}."
            )
        if value.has(Velocity):
            raise DeclarationError(
                f"{system.name}: transformed: the expression of '{q}' must not have velocities in it."
            )
        found[q] = value
    return found


def _new_coordinates(system: Any, old: Mapping[Any, Any], given: Sequence[Coordinate] | None) -> tuple[Any, ...]:
    new = coordinate_order(system.name, given, list(old.values()))
    if len(new) != len(system.coordinates):
        raise DeclarationError(
            f"{system.name}: transformed: {len(system.coordinates)} coordinates can't be expressed one to one by "
            f"{len(new)} ({', '.join(item.name for item in new)})."
        )
    return new


def _require_invertible(system: Any, slopes: Any) -> None:
    """Refuse a change whose derivative is singular wherever it is looked at."""
    value = Evaluator(slopes.det(method="berkowitz"))
    source = random.Random(0)
    for _ in range(TRIALS):
        found = value({symbol: source.uniform(0.2, 1.3) for symbol in value.symbols})
        if found is not None and abs(found) > 1e-12:
            return
    raise DeclarationError(
        f"{system.name}: transformed: the change of coordinates is not one to one: the determinant of its derivative "
        "vanishes."
    )
