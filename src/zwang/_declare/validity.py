"""Whether a declaration makes sense, as a whole and constraint by constraint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from zwang._declare import checks
from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.symbols import Coordinate, Velocity
from zwang.errors import DeclarationError, nearest

LONG = 500
"""Operations of an expression beyond which its size is not looked at: derivatives would take longer than reading."""
AFFINE = (
    "each term has one velocity at most, to the first power, times anything of coordinates and time). Affine would be "
    "v_x*sin(theta) - v_y*cos(theta) = 0. Factors of a product are constraints of their own; a speed v_x**2 + v_y**2 "
    "that is to be kept, or a power, has no reaction that does no work: put it into forces=, or watch it with an Event."
)


def check(system: Any, known: Mapping[str, Any], relations: Sequence[Constraint]) -> None:
    """Raise a DeclarationError unless the declaration makes sense."""
    name = system.name
    everything = {**known}
    for item in relations:
        everything |= {f"constraint '{item.name}' ({part})": expr for part, expr in item.expressions().items()}
    for event in system.events:
        everything |= {f"event '{event.name}' ({part})": expr for part, expr in event.expressions().items()}
    checks.check_symbols(everything, name, system.coordinates)
    _check_equations(system, known)
    for item in relations:
        _check_constraint(name, item)
    _check_loads(system)


def _check_loads(system: Any) -> None:
    """Refuse frictions that go with what has no force, and two laws along one slip on one force."""
    name, normals = system.name, {}
    for item in system.constraints:
        if not isinstance(item, Friction):
            normals[str(item.name)] = item
    rubbed: dict[tuple[Any, ...], str] = {}
    for item in system.constraints:
        of = item.of if isinstance(item, Friction) else (str(item.name),) if item.slip else ()
        for other in of:
            if other not in system.constraints.names:
                known = nearest(other, normals)
                raise DeclarationError(
                    f"{name}: the friction '{item.name}' is of '{other}', which isn't there. {known}"
                )
            if other not in normals:
                raise DeclarationError(
                    f"{name}: the friction '{item.name}' is of '{other}', which is Friction itself and presses nothing "
                    f"together. Name a Bilateral or a Unilateral. {nearest('', normals)}"
                )
        if len(of) > 1:
            _check_one_unit(name, str(item.name), [normals[other] for other in of])
        for slip in item.slip if of else ():
            first = rubbed.setdefault((tuple(sorted(of)), slip), str(item.name))
            if first != item.name:
                raise DeclarationError(
                    f"{name}: '{first}' and '{item.name}' are two laws of friction along the slip {slip} that go with "
                    "one force. Add their coefficients in one of them, or give each its own slip."
                )


def _check_one_unit(name: str, friction: str, loads: Sequence[Constraint]) -> None:
    """Refuse a resultant of multipliers whose expressions differ by a factor of parameters: their sum means nothing."""
    sizes = [(load, _steepness(load)) for load in loads]
    known = [(load, size) for load, size in sizes if size is not None]
    for load, size in known[1:]:
        factor = sp.sqrt(sp.cancel(size / known[0][1]))
        if factor.free_symbols and all(part.is_Symbol or part.is_number for part in _factors(factor)):
            raise DeclarationError(
                f"{name}: the friction '{friction}' goes with the resultant of '{known[0][0].name}' and '{load.name}', "
                f"whose expressions differ by the factor {sp.powdenest(factor, force=True)}: their multipliers are no "
                "forces in one unit. Divide one of them by it."
            )


def _steepness(load: Constraint) -> Any:
    """Return the square of an expression's gradient over lengths; None where it has none, or is long."""
    assert not isinstance(load, Friction)
    if load.expr.count_ops() > LONG:
        return None
    plain = [item for item in load.expr.free_symbols if isinstance(item, Coordinate) and not item.angle]
    moving = [item for item in load.expr.free_symbols if isinstance(item, Velocity) and not item.coordinate.angle]
    total = sp.Add(*(sp.diff(load.expr, item) ** 2 for item in (moving if load.level == "velocity" else plain)))
    return total if total != 0 and not total.has(Coordinate) else None


def _factors(product: Any) -> list[Any]:
    """Return the bases of the powers in a product."""
    return [part.as_base_exp()[0] for part in sp.Mul.make_args(sp.powdenest(product, force=True))]


def _check_equations(system: Any, known: Mapping[str, Any]) -> None:
    name = system.name
    if system.mass is not None:
        n = len(system.coordinates)
        if system.mass.rows != n:
            raise DeclarationError(f"{name}: mass= has {system.mass.rows} rows for {n} coordinates.")
        for i, item in enumerate(system.coordinates):
            if all(system.mass[i, j] == 0 for j in range(n)) and not _held(system, item):
                raise DeclarationError(f"{name}: the coordinate '{item}' has no inertia: row {i} of mass= is zero.")
            if any(system.mass[i, j].has(Velocity) for j in range(n)):
                raise DeclarationError(
                    f"{name}: row {i} of mass= depends on velocities; it may depend on q and t only."
                )
            for j in range(i):
                if not checks.look_equal(system.mass[i, j], system.mass[j, i]):
                    raise DeclarationError(
                        f"{name}: mass= is not symmetric: its entries ({i}, {j}) and ({j}, {i}) differ."
                    )
    elif system.tree is None:
        checks.require_degree(
            system.kinetic, 2, f"{name}: the kinetic energy is not a polynomial of second degree in the velocities."
        )
        free = system.kinetic.free_symbols
        for item in system.coordinates:
            if item.velocity not in free and not _held(system, item):
                raise DeclarationError(
                    f"{name}: the coordinate '{item}' has no inertia: '{item.velocity}' does not occur in kinetic=. "
                    "Give it a mass, or a bilateral constraint that ties it to one, or eliminate the coordinate."
                )
    if system.mass is None and system.added_potential.has(Velocity):
        raise DeclarationError(f"{name}: potential= depends on a velocity. Put such a force into forces=.")
    for where, expr in known.items():
        if where.startswith(("forces", "force")):
            checks.require_no_jump_in_velocity(expr, where, name)


def _held(system: Any, coordinate: Coordinate) -> bool:
    """Whether a bilateral constraint may determine a coordinate that has no inertia."""
    own = {coordinate, coordinate.velocity}
    return any(isinstance(item, Bilateral) and own & item.expr.free_symbols for item in system.constraints)


def _check_constraint(name: str, item: Constraint) -> None:
    where = f"constraint '{item.name}'"
    if not isinstance(item, Friction):
        if not any(isinstance(symbol, (Coordinate, Velocity)) for symbol in item.expr.free_symbols):
            raise DeclarationError(f"{name}: {where} depends on no coordinate: {item.expr}.")
        checks.require_degree(item.expr, 1, f"{name}: {where} is not affine in the velocities ({AFFINE})")
        if isinstance(item, Unilateral) and item.restitution is not None and item.level == "velocity":
            raise DeclarationError(f"{name}: {where} is on velocities and is entered without impact: no restitution=.")
    for slip in item.slip:
        if not slip.has(Velocity):
            raise DeclarationError(f"{name}: {where}: the slip {slip} has no velocity in it. Give a velocity [m/s].")
        checks.require_degree(slip, 1, f"{name}: {where}: the slip is not affine in the velocities ({AFFINE})")
    for part, expr in item.expressions().items():
        driven = part == "expr" and isinstance(item, Bilateral) and item.level == "position"
        checks.require_periodic(expr, f"{where} ({part})", name, driven=driven)
