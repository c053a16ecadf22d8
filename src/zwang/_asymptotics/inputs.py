"""What `asymptotics` is given: exact parameters, the point, expressions as text, and what can't be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zwang._asymptotics.point import Number, number
from zwang._compile import Model
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import as_expression
from zwang._declare.switched import switched
from zwang._declare.symbols import Coordinate, Velocity
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._numerics.tolerances import by_name
from zwang.errors import DeclarationError, nearest

CURED = {
    1: "curves, one degree of freedom. On a surface it follows the direction that along= gives",
    2: "curves and, with along=, surfaces",
}


def system_of(system: Any) -> System:
    """Return the declaration of a System or a Model."""
    declared = system.system if isinstance(system, Model) else system
    if not isinstance(declared, System):
        raise DeclarationError(f"asymptotics needs a System or a Model; it was given {system!r:.80}.")
    return switched(declared)


def exact_values(system: System, params: Mapping[Any, Any] | None) -> dict[Any, Number]:
    """Return the parameters with all their digits, by symbol; missing and unknown ones are mistakes."""
    known = {item.name: item for item in system.parameters}
    given = by_name(params, "params", known, where=system.name)
    found = {known[name]: number(value, f"{system.name}: params: '{name}'") for name, value in given.items()}
    missing = [name for name, symbol in known.items() if symbol not in found]
    if missing:
        listed = ", ".join(f"'{name}'" for name in missing[:8]) + (", ..." if len(missing) > 8 else "")
        raise DeclarationError(f"{system.name}: params has no value for {listed}. Physics has no defaults: give one.")
    return found


def position_of(system: System, at: Any) -> list[Number]:
    """Return the coordinates of a singular point of `trace`, or of a state mapping; velocities are left aside."""
    state = getattr(at, "state", at)
    if not isinstance(state, Mapping):
        raise DeclarationError(
            f"{system.name}: at= must be a singular point of trace or a mapping from coordinates to numbers; it was "
            f"given {at!r:.80}."
        )
    given = by_name(
        state, "at=", [*(item.name for item in (*system.coordinates, *system.velocities)), "t"], where=system.name
    )
    missing = [item.name for item in system.coordinates if item.name not in given]
    if missing:
        raise DeclarationError(
            f"{system.name}: at= has no value for '{missing[0]}': give every coordinate of the point."
        )
    return [number(given[item.name], f"{system.name}: at: '{item.name}'") for item in system.coordinates]


def held_constraints(system: System, free: int | None = None) -> list[Any]:
    """Return the position-level bilateral constraints; they must not depend on time, nor leave more freedoms."""
    found = [
        item
        for item in system.constraints
        if isinstance(item, Bilateral) and not isinstance(item, Friction) and item.level == "position"
    ]
    if not found:
        raise DeclarationError(
            f"{system.name}: asymptotics looks at bilateral constraints on positions, and the system has none."
        )
    for item in found:
        if time in item.expr.free_symbols:
            raise DeclarationError(
                f"{system.name}: constraint '{item.name}' depends on time; asymptotics looks at a space that does not "
                "move. Put a number in the place of t."
            )
    left = len(system.coordinates) - len(found)
    if free is not None and left > free:
        raise DeclarationError(
            f"{system.name}: {len(found)} constraints on {len(system.coordinates)} coordinates leave {left} degrees of "
            f"freedom; asymptotics follows {CURED[free]}."
        )
    return found


def set_aside(system: System) -> list[str]:
    """Return the names of constraints that play no part: one-sided ones, and those on velocities."""
    held = {item.name for item in held_constraints(system)}
    return [str(item.name) for item in system.constraints if not isinstance(item, Friction) and item.name not in held]


def read_expression(system: System, given: Any, what: str) -> Any:
    """Return an expression of the coordinates and parameters, given as text or with symbols."""
    reader = Reader(system.name, system.coordinates, system.expressions().values(), system.dependents)
    expr = reader(as_expression(given, f"{system.name}: {what}"), what)
    for symbol in expr.free_symbols:
        if isinstance(symbol, Velocity) or (isinstance(symbol, Coordinate) and symbol not in system.coordinates):
            raise DeclarationError(
                f"{system.name}: {what} must be an expression of the coordinates; it has '{symbol}'."
            )
        if not isinstance(symbol, Coordinate) and symbol not in system.parameters:
            names = [item.name for item in (*system.coordinates, *system.parameters)]
            raise DeclarationError(
                f"{system.name}: {what} has '{symbol}', which the system doesn't know. {nearest(str(symbol), names)}"
            )
    return expr
