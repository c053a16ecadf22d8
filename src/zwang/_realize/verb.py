"""`realize`: the same system with some of its constraints made by forces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import sympy as sp

from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.switched import switchable
from zwang._declare.system import System
from zwang._realize.exchange import require_level
from zwang.errors import DeclarationError, nearest


class Realization(Protocol):
    """A way to make a constraint by a force.

    Attributes
    ----------
    strength : expression or None
        What grows towards the ideal constraint; None where a verb is to try several.
    """

    @property
    def strength(self) -> Any:
        """The strength that it was given."""

    def soften(self, system: System, constraint: Any, strength: Any) -> System:
        """Return the system without that constraint and with the force; `Friction` may stay under its name."""


def realize(system: System, constraint: str | Iterable[str], *, by: Realization | Mapping[str, Realization]) -> System:
    """Return the same system with a constraint, or several, made by a force.

    What comes out is again a system, so that every verb works on it. Coulomb friction at the constraint becomes
    `Friction` under the same name, bounded by the realized normal force; restitution has no meaning any more and goes.

    Parameters
    ----------
    system : System or Model
        What has the constraints.
    constraint : str or sequence of str
        Their names.
    by : Stiffness, Viscosity or other realization, or a mapping of name to realization
        What makes them: one for all, or one for each name. Any object with a `strength` and a method
        ``soften(system, constraint, strength)`` that returns a System will do.

    Returns
    -------
    System
        Without these constraints; the others are untouched.

    Examples
    --------
    The example of Kozlov and Neishtadt (1990): x'' = y, y'' = 1 - N y.

    >>> import zwang as zw
    >>> held = zw.gallery.get("kozlov_neishtadt").system
    >>> zw.realize(held, "floor", by=zw.Stiffness("N"))
    System 'kozlov_neishtadt (floor by Stiffness)'
      coordinates  x, y
      parameters   N
      kinetic      v_x**2/2 + v_y**2/2
      potential    N*y**2/2
      force on x   y
      force on y   1
    """
    declared = _system(system)
    names = _names(declared, constraint)
    ways = _ways(declared, names, by)
    for name in names:
        if hasattr(ways[name], "level"):
            require_level(declared, declared.constraints[name], ways[name])
    # Named before it is softened: naming declares a system again, and the softened one is the longer to check.
    softened = declared.replace(
        name=f"{declared.name} ({_words(names, ways)})", constraints=_with_loads(declared, names, ways)
    )
    for together in _together(names, ways):
        softened = _soften(softened, together, ways[together[0]])
    return softened


def _with_loads(system: System, names: tuple[str, ...], ways: Mapping[str, Realization]) -> list[Constraint]:
    """Return the constraints with friction that these load bounded by the forces that make them."""
    found: list[Constraint] = []
    for item in system.constraints:
        loads = [name for name in item.of if name in names] if isinstance(item, Friction) else []
        if not isinstance(item, Friction) or not loads:
            found.append(item)
            continue
        left = [name for name in item.of if name not in names]
        if left:
            raise DeclarationError(
                f"{system.name}: the friction '{item.name}' goes with the resultant of {', '.join(item.of)}, and "
                f"{', '.join(loads)} alone {'was' if len(loads) == 1 else 'were'} to be realized. Realize all of them: "
                f"realize(system, {list(item.of)!r}, by=...)."
            )
        forces = [_force(system, name, ways, str(item.name)) for name in item.of]
        size = sp.Abs(forces[0]) if len(forces) == 1 else sp.sqrt(sp.Add(*(force**2 for force in forces)))
        found.append(replace(item, bound=item.bound * size, of=None))
    return found


def _force(system: System, name: str, ways: Mapping[str, Any], friction: str) -> Any:
    """Return what stands for the multiplier of a constraint that a realization makes."""
    way = ways[name]
    (together,) = [group for group in _together(tuple(ways), ways) if name in group]
    if len(together) > 1:
        shared = [system.constraints[item] for item in together]
        return way.normal_forces(system, shared, way.strength)[together.index(name)]
    force = getattr(way, "normal_force", None)
    if force is None:
        raise DeclarationError(
            f"{system.name}: '{name}' loads the friction '{friction}', and {type(way).__name__} doesn't say with which "
            "force it makes a constraint. Give it a method normal_force(system, constraint, strength)."
        )
    return force(system, system.constraints[name], way.strength)


def _together(names: tuple[str, ...], ways: Mapping[str, Realization]) -> list[tuple[str, ...]]:
    """Return the names by what makes them: those of one energy= belong together, each other one is by itself."""
    found: list[tuple[str, ...]] = []
    for name in names:
        shared = getattr(ways[name], "energy", None) is not None
        for k, group in enumerate(found):
            if shared and ways[group[0]] == ways[name]:
                found[k] = (*group, name)
                break
        else:
            found.append((name,))
    return found


def _system(given: Any) -> System:
    """Return the system, of a Model too: that layer lies above this one."""
    system = given if isinstance(given, System) else getattr(given, "system", None)
    if not isinstance(system, System):
        raise DeclarationError(f"realize needs a System; it was given {given!r:.80}.")
    return system


def _names(system: System, constraint: Any) -> tuple[str, ...]:
    listed = (constraint,) if isinstance(constraint, str) else constraint
    names = tuple(listed) if isinstance(listed, Iterable) else (constraint,)
    if not names:
        raise DeclarationError(f"{system.name}: realize was given no constraint. Give a name or a list of names.")
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise DeclarationError(
                f"{system.name}: realize needs the names of constraints; it was given {name!r:.80}. "
                f"{nearest('', system.constraints.names)}"
            )
        if name not in system.constraints.names:
            raise DeclarationError(
                f"{system.name}: there is no constraint '{name}'. {nearest(name, system.constraints.names)}"
            )
        if name in names[:place]:
            raise DeclarationError(f"{system.name}: realize was given the constraint '{name}' twice.")
        if isinstance(system.constraints[name], Friction):
            raise DeclarationError(
                f"{system.name}: '{name}' is Friction with a bound of its own: it is a force already, and has no "
                "normal that a spring could make. Realize a Bilateral or a Unilateral."
            )
        if name in system.bookkeeping:
            raise DeclarationError(
                f"{system.name}: '{name}' keeps a quaternion at unit length and is made by no force. Realize a "
                "constraint of a joint or a contact."
            )
        if name in switchable(system):
            raise DeclarationError(
                f"{system.name}: '{name}' is switched on and off, and a force in its place could not be. Realize "
                "another constraint, or leave starts='off' and the events that switch it out."
            )
    return names


def _ways(system: System, names: tuple[str, ...], by: Any) -> dict[str, Realization]:
    if not isinstance(by, Mapping):
        return dict.fromkeys(names, _way(system, by))
    for key in by:
        if key not in names:
            raise DeclarationError(
                f"{system.name}: by= names '{key}', which is not to be realized. {nearest(str(key), names)}"
            )
    missing = [name for name in names if name not in by]
    if missing:
        raise DeclarationError(f"{system.name}: by= doesn't say what makes '{missing[0]}'. Give it for every name.")
    return {name: _way(system, by[name]) for name in names}


def _way(system: System, by: Any) -> Realization:
    if isinstance(by, type):
        strength = {"Viscosity": "rho"}.get(by.__name__, "N")
        raise DeclarationError(
            f"{system.name}: by= was given the class {by.__name__}; realize needs a strength. "
            f"Give by={by.__name__}({strength})."
        )
    if not callable(getattr(by, "soften", None)) or not hasattr(by, "strength"):
        raise DeclarationError(
            f"{system.name}: by= must be Stiffness(N), Viscosity(rho) or an object with a strength and a method "
            f"soften(system, constraint, strength); it was given {by!r:.80}."
        )
    way: Realization = by
    return way


def _soften(system: System, names: tuple[str, ...], way: Any) -> System:
    name = names[0]
    if len(names) > 1:
        softened = way.soften_together(system, [system.constraints[item] for item in names], way.strength)
    else:
        softened = way.soften(system, system.constraints[name], way.strength)
    kind = type(way).__name__
    if not isinstance(softened, System):
        raise DeclarationError(f"{system.name}: {kind}.soften must return a System; it returned {softened!r:.80}.")
    if name in softened.constraints.names and isinstance(softened.constraints[name], (Bilateral, Unilateral)):
        raise DeclarationError(
            f"{system.name}: {kind}.soften returned a system that still has the constraint '{name}'. "
            "Leave it out of constraints=."
        )
    return softened


def _words(names: tuple[str, ...], ways: Mapping[str, Realization]) -> str:
    """Return 'AB, BC by Stiffness; blade by Viscosity'."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(type(ways[name]).__name__, []).append(name)
    return "; ".join(f"{', '.join(found)} by {kind}" for kind, found in kinds.items())
