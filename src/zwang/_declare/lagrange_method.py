"""A system as an object of `sympy.physics.mechanics`: Lagrange's method with its constraints and forces."""

from __future__ import annotations

from typing import Any

from zwang._declare.constraints import Bilateral
from zwang._declare.symbols import t as time
from zwang.errors import DeclarationError


def to_sympy(system: Any) -> Any:
    """Return the `LagrangesMethod` of a system with energies and bilateral constraints."""
    from sympy.physics.mechanics import LagrangesMethod, Point, ReferenceFrame, dynamicsymbols

    _require_plain(system)
    functions = {item: dynamicsymbols(item.name) for item in system.coordinates}
    clock = dynamicsymbols._t
    table: dict[Any, Any] = {time: clock}
    for item, function in functions.items():
        table |= {item: function, item.velocity: function.diff(clock)}
    holonomic = [item.expr.xreplace(table) for item in system.constraints if item.level == "position"]
    rolling = [item.expr.xreplace(table) for item in system.constraints if item.level == "velocity"]
    frame, forces = ReferenceFrame("N"), []
    for item, expr in system.forces.items():
        # A point that moves with the coordinate's velocity carries the generalized force.
        point = Point(f"P_{item.name}")
        point.set_vel(frame, functions[item].diff(clock) * frame.x)
        forces.append((point, expr.xreplace(table) * frame.x))
    lagrangian = (system.kinetic - system.potential).xreplace(table)
    options: dict[str, Any] = {}
    if holonomic:
        options["hol_coneqs"] = holonomic
    if rolling:
        options["nonhol_coneqs"] = rolling
    if forces:
        options |= {"forcelist": forces, "frame": frame}
    return LagrangesMethod(lagrangian, list(functions.values()), **options)


def _require_plain(system: Any) -> None:
    cure = "SymPy's methods know energies, forces and bilateral constraints without friction."
    if system.kinetic is None:
        raise DeclarationError(f"{system.name}: to_sympy: it was declared by mass= and force=. {cure}")
    if system.inputs:
        raise DeclarationError(
            f"{system.name}: to_sympy: it has the input '{system.inputs[0]}'. Replace it by an expression of t. {cure}"
        )
    for item in system.constraints:
        if not isinstance(item, Bilateral):
            raise DeclarationError(f"{system.name}: to_sympy: '{item.name}' is a {type(item).__name__}. {cure}")
        if item.friction is not None:
            raise DeclarationError(f"{system.name}: to_sympy: '{item.name}' has friction. {cure}")
        if item.starts == "off":
            raise DeclarationError(
                f"{system.name}: to_sympy: '{item.name}' starts off, and SymPy's methods hold every constraint. Leave "
                "it out, or declare it without starts='off'."
            )
    for event in system.events:
        if event.then:
            raise DeclarationError(
                f"{system.name}: to_sympy: the event '{event.name}' switches or resets, which SymPy's methods don't "
                "know. Leave it out: system.replace(events=())."
            )
