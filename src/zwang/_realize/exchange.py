"""A constraint out, a force in: the one change that realizations make to a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.laws import FrictionLaw
from zwang._declare.symbols import Coordinate
from zwang._declare.system import System
from zwang.errors import DeclarationError


def require_level(system: System, constraint: Any, way: Any) -> None:
    """Refuse a constraint on velocities for a realization of those on positions, and the reverse."""
    if constraint.level == way.level:
        return
    on = {"position": "positions", "velocity": "velocities"}
    cure = {"position": "Stiffness(N)", "velocity": "Viscosity(rho)"}[constraint.level]
    raise DeclarationError(
        f"{system.name}: '{constraint.name}' is a constraint on {on[constraint.level]}, and {type(way).__name__} makes "
        f"constraints on {on[way.level]}. Use {cure}."
    )


def place(
    system: System,
    constraint: Bilateral | Unilateral,
    *,
    normal_force: Any,
    pulls: bool,
    energy: Any = 0,
    forces: Mapping[Coordinate, Any] | None = None,
) -> System:
    """Return the system without a constraint and with the forces that make it.

    Parameters
    ----------
    system : System
    constraint : Bilateral or Unilateral
        One of its constraints.
    normal_force : expression
        What stands for the multiplier of the constraint; it bounds the friction, if there is any.
    pulls : bool
        Whether that force can be negative, so that its size must be taken.
    energy : expression
        Potential energy of the forces that have one [J]; where the system is declared by mass and force, their
        gradient goes into the force.
    forces : mapping of Coordinate to expression
        The other generalized forces.
    """
    added = dict(forces or {})
    changes: dict[str, Any] = {"constraints": _constraints(system, constraint, normal_force, pulls)}
    if system.mass is not None:
        more = [added.get(q, 0) - sp.diff(energy, q) for q in system.coordinates]
        changes["force"] = sp.Matrix(system.force) + sp.Matrix(more)
    else:
        changes["potential"] = system.added_potential + energy
        both = {**system.forces, **added}
        changes["forces"] = {q: system.forces.get(q, 0) + added.get(q, 0) for q in both}
    return system.replace(**changes)


def _friction(law: FrictionLaw, size: Any, name: str | None) -> Friction:
    """Return a law with a normal force in the place of the multiplier: what it lets slip bounds it at rest too."""
    section = law.section()
    first, second = section.sides
    if first == second:
        return Friction(first * size, slip=law.slip, name=name)
    return Friction(size, slip=law.slip, section=section, name=name)


def _constraints(
    system: System, constraint: Bilateral | Unilateral, normal_force: Any, pulls: bool
) -> list[Constraint]:
    """Return the constraints that stay; friction stays too, in the same place and under the same name."""
    left: list[Constraint] = []
    for item in system.constraints:
        if item.name != constraint.name:
            left.append(item)
        elif constraint.friction is not None:
            law = constraint.friction
            size = sp.Abs(normal_force) if pulls else normal_force
            left.append(_friction(law, size, item.name))
    return left
