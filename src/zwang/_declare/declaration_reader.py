"""Reading a declaration: texts become expressions, constraints get names, coordinates their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from zwang import _expressions
from zwang._declare.body_tree import Tree
from zwang._declare.checks import modulo_turns
from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.frozen import Frozen
from zwang._declare.given import Text, as_expression, components
from zwang._declare.symbols import (
    Coordinate,
    Dependent,
    DependentVelocity,
    Input,
    Velocity,
    inputs,
    parameter,
    rate,
    symbol_table,
)
from zwang._numerics.tolerances import by_name
from zwang.errors import DeclarationError, nearest

LONGEST_UNIT = 60
"""Characters of a unit."""
OF_A_NAME = "they come from different calls of zwang.coordinates, or have other assumptions, so they are not one symbol"


class Reader:
    """Turns texts into expressions with the symbols of one system, and checks what it is given."""

    def __init__(
        self,
        system: str,
        q: tuple[Coordinate, ...],
        expressions: Iterable[Any],
        dependents: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.system = system
        self.table: dict[str, Any] = dict(dependents)
        for expr in expressions:
            for symbol in expr.free_symbols:
                if not isinstance(symbol, Text):
                    known = symbol.base if isinstance(symbol, Input) else symbol
                    self.table.setdefault(known.name, known)
        self.table |= symbol_table(q)

    def __call__(self, expr: Any, where: str) -> Any:
        if not isinstance(expr, Text):
            if expr.has(Text):
                raise DeclarationError(f"{self.system}: {where} mixes text with symbols. Write it all as text.")
            return expr
        return self.text(expr.name, where)

    def text(self, text: str, where: str, more: Mapping[str, Any] | None = None) -> Any:
        """Return the expression of a text, which may hold `more` names."""
        table, place = {**self.table, **(more or {})}, f"{self.system}: {where}"
        return _expressions.parse(text, table, where=place, parameters=self._parameter, functions={"rate": rate})

    def _parameter(self, name: str) -> Any:
        return self.table.setdefault(name, parameter(name))


def raw_expressions(
    name: str, kinetic: Any, potential: Any, forces: Any, mass: Any, force: Any, tree: Any = None
) -> dict[str, Any]:
    """Return the expressions of the equations of motion by place, texts still unread."""
    if tree is not None:
        if not isinstance(tree, Tree) or not (kinetic is None and mass is None and force is None):
            raise DeclarationError(
                f"{name}: tree= is what zw.Bodies makes, and stands in place of kinetic=, mass= and force=. Use "
                "Bodies(...).system()."
            )
    elif (kinetic is None) == (mass is None):
        raise DeclarationError(f"{name}: give either kinetic= (and potential=) or mass= and force=, one of the two.")
    if mass is not None and (force is None or potential is not None):
        raise DeclarationError(f"{name}: mass= needs force= beside it, and no potential= (put -grad V into force=).")
    if mass is None and force is not None:
        raise DeclarationError(
            f"{name}: force= goes with mass=. Beside kinetic= use forces={{coordinate: expression}}."
        )
    found: dict[str, Any] = {}
    if mass is None:
        if kinetic is not None:
            found["kinetic"] = as_expression(kinetic, f"{name}: kinetic")
        if potential is not None:
            found["potential"] = as_expression(potential, f"{name}: potential")
    else:
        rows = [components(row) or [row] for row in components(mass) or ()]
        vector = _flat(force)
        if not rows or any(len(row) != len(rows) for row in rows) or len(vector) != len(rows):
            raise DeclarationError(
                f"{name}: mass= must be square and force= as long as its rows; {len(rows)} rows given."
            )
        for i, row in enumerate(rows):
            found |= {f"mass[{i}, {j}]": as_expression(item, f"{name}: mass[{i}, {j}]") for j, item in enumerate(row)}
        found |= {f"force[{i}]": as_expression(item, f"{name}: force[{i}]") for i, item in enumerate(vector)}
    if forces is not None and not isinstance(forces, Mapping):
        raise DeclarationError(f"{name}: forces= must be a mapping coordinate -> expression; it was given {forces!r}.")
    found |= {f"forces[{key}]": as_expression(item, f"{name}: forces[{key}]") for key, item in (forces or {}).items()}
    return found


def _flat(vector: Any) -> list[Any]:
    return [item[0] if isinstance(item, (list, tuple)) and item else item for item in components(vector) or ()]


def named_constraints(name: str, constraints: Iterable[Any]) -> list[Constraint]:
    """Return the constraints with a name each; unnamed ones are called after their place."""
    listed: list[Constraint] = []
    taken: set[str] = set()
    if isinstance(constraints, (Bilateral, Unilateral, Friction, str)) or not isinstance(constraints, Iterable):
        raise DeclarationError(
            f"{name}: constraints= needs a list, of one constraint too: constraints=[zw.Bilateral(...)]; it was given "
            f"{constraints!r:.80}."
        )
    for place, item in enumerate(constraints):
        if not isinstance(item, (Bilateral, Unilateral, Friction)):
            raise DeclarationError(
                f"{name}: constraints= may hold Bilateral, Unilateral and Friction; entry {place + 1} is {item!r}."
            )
        chosen = item if item.name else item.named(f"constraint{place + 1}")
        if chosen.name in taken:
            raise DeclarationError(f"{name}: two constraints are called '{chosen.name}'. Give each its own name=.")
        taken.add(str(chosen.name))
        listed.append(chosen)  # type: ignore[arg-type]
    return listed


def coordinate_order(
    name: str, coordinates: Any, expressions: list[Any], tree: Tree | None = None
) -> tuple[Coordinate, ...]:
    """Return the coordinates of the system in their order."""
    if tree is not None:
        coordinates = tree.coordinates
    found: set[Coordinate] = set()
    for expr in expressions:
        for symbol in expr.free_symbols:
            if isinstance(symbol, (Dependent, DependentVelocity)):
                _require_own(name, symbol, tree)
            elif isinstance(symbol, Coordinate):
                found.add(symbol)
            elif isinstance(symbol, Velocity):
                found.add(symbol.coordinate)
    if coordinates is None:
        _require_one_of_a_name(name, found)
        calls = {item.call for item in found}
        if not found:
            raise DeclarationError(
                f"{name}: no coordinate occurs. Declare them with zwang.coordinates, and give coordinates= where "
                "expressions are texts."
            )
        if len(calls) > 1:
            listed = ", ".join(sorted(item.name for item in found))
            raise DeclarationError(
                f"{name}: the coordinates {listed} come from several declaring calls, so their order isn't known. "
                f"Give it: System(coordinates=({listed}), ...)."
            )
        return tuple(sorted(found, key=lambda item: item.place))
    together = components(coordinates)
    given: tuple[Coordinate, ...] = (coordinates,) if together is None else tuple(together)
    wrong = [item for item in given if not isinstance(item, Coordinate)]
    if wrong or not given:
        raise DeclarationError(
            f"{name}: coordinates= must hold symbols from zwang.coordinates; "
            f"it holds {wrong[0] if wrong else 'nothing'!r}."
        )
    names = [item.name for item in given]
    if len(set(names)) < len(names):
        raise DeclarationError(f"{name}: coordinates= names a coordinate twice: {', '.join(names)}.")
    _require_one_of_a_name(name, {*found, *given})
    missing = sorted(item.name for item in found - set(given))
    if missing:
        raise DeclarationError(
            f"{name}: '{missing[0]}' occurs but is not in coordinates=. {nearest(missing[0], names)}"
        )
    return given


def _require_one_of_a_name(name: str, found: Iterable[Coordinate]) -> None:
    names = sorted(item.name for item in found)
    for twice in [a for a, b in pairwise(names) if a == b]:
        raise DeclarationError(
            f"{name}: there are two coordinates '{twice}': {OF_A_NAME}. Declare it once, and give the same symbol "
            "everywhere."
        )


def declared_inputs(name: str, given: Iterable[Any], q: tuple[Coordinate, ...]) -> tuple[Input, ...]:
    """Return the inputs that texts may name."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise DeclarationError(
            f"{name}: inputs= must be a sequence of symbols from zwang.inputs; it was {given!r:.60}."
        )
    found: list[Input] = []
    for item in given:
        if not isinstance(item, (str, Input)) or (isinstance(item, Input) and item.order):
            raise DeclarationError(f"{name}: inputs= holds symbols from zwang.inputs, or names; it holds {item!r:.60}.")
        (symbol,) = (item,) if isinstance(item, Input) else inputs((item,))
        if symbol.name in symbol_table(q):
            raise DeclarationError(f"{name}: inputs= has '{symbol}', which is a coordinate or a velocity. Rename one.")
        found.append(symbol)
    return tuple(found)


def read_units(system: Any, given: Mapping[Any, str] | None) -> Mapping[str, str]:
    """Return name -> unit as text, for names that the system has."""
    known = [item.name for item in system._symbols()]
    named = by_name(
        given, "units=", known, where=system.name, no="which the system doesn't have", form="names to units as texts"
    )
    for name, unit in named.items():
        if not isinstance(unit, str) or not unit.isprintable() or len(unit) > LONGEST_UNIT:
            raise DeclarationError(
                f"{system.name}: units= of '{name}' must be a text such as 'm/s**2'; it is {unit!r:.60}."
            )
    return Frozen(named)


def _require_own(name: str, symbol: Any, tree: Tree | None) -> None:
    """Refuse the place of a body that the system doesn't have."""
    if tree is None or symbol.name not in tree.dependents:
        raise DeclarationError(
            f"{name}: '{symbol}' stands for the place of a body that this system does not have. Use it in a system "
            "of its own Bodies."
        )


def find_coordinate(name: str, key: Any, q: tuple[Coordinate, ...]) -> Coordinate:
    """Return the coordinate that a key of forces= means."""
    for item in q:
        if key == item or (isinstance(key, str) and key == item.name):
            return item
    if str(key) in [item.name for item in q]:
        raise DeclarationError(
            f"{name}: forces= has a symbol '{key}' that only shares its name with a coordinate: {OF_A_NAME}. Give the "
            f"coordinate itself, or its name as text, '{key}'."
        )
    raise DeclarationError(
        f"{name}: forces= names '{key}', which is no coordinate. {nearest(str(key), [item.name for item in q])}"
    )


def read_constraint(item: Constraint, reader: Reader) -> Constraint:
    """Return the constraint with its texts read; angles that a Bilateral holds linearly are read modulo 2 pi."""
    found: Any = item.map(lambda expr: reader(expr, f"constraint '{item.name}'"))
    if isinstance(found, Bilateral) and found.level == "position":
        expr = modulo_turns(found.expr)
        return found if expr is found.expr else replace(found, expr=expr)
    return found  # type: ignore[no-any-return]
