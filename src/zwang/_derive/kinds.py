"""A large system as few kinds with many instances: what is alike is differentiated once.

A kinetic energy of a thousand bodies is a sum of a thousand terms of one kind; so are its constraints. A kind is the
shape of an expression with its coordinates, parameters and decimal numbers taken out; an instance says which ones
stand there. Terms and constraints are sorted into kinds by walking their trees once; nothing is differentiated here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from zwang._declare.constraints import Friction
from zwang._declare.friction_forms import friction_bounds, slip_axes
from zwang._declare.symbols import Coordinate, Time, Velocity
from zwang._declare.system import System
from zwang.errors import CompileError

LARGEST_INTEGER = 12  # beyond it a number tells parts apart, as a parameter would
DISTRIBUTED = 8  # terms up to which a product is multiplied out


@dataclass
class Kind:
    """Expressions of one shape.

    Attributes
    ----------
    role : str
        'kinetic', 'potential', 'force', 'position', 'velocity' (constraints, and slips after them) or 'bound'.
    expr : expression
        The first expression of this kind, as a pattern for the others.
    symbols : dict
        Symbols of that expression -> ('q' | 'v', slot), ('p', slot), and decimal numbers -> ('c', slot).
    coordinates, parameters, constants : lists
        For each instance: coordinates of the slots (by number), parameters (by number), decimal numbers.
    targets : list of int
        For each instance: the number of the constraint (then of the slip, then of the bound), or of the coordinate
        that a force acts on.
    active : bool
        Of constraints: whether they are held as equalities.
    """

    role: str
    active: bool
    expr: Any
    symbols: dict[Any, tuple[str, int]]
    coordinates: list[tuple[int, ...]] = field(default_factory=list)
    parameters: list[tuple[int, ...]] = field(default_factory=list)
    constants: list[tuple[float, ...]] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


def sort_into_kinds(system: System, active: Collection[int]) -> list[Kind]:
    """Return the kinds of terms and constraints of a system declared by energies; active constraints come first."""
    sorter = _Sorter(system)
    for term in terms_of(system.kinetic):
        sorter.add("kinetic", False, term, 0)
    for term in terms_of(system.potential):
        sorter.add("potential", False, term, 0)
    for coordinate, force in system.forces.items():
        for term in terms_of(force):
            sorter.add("force", False, term, sorter.places[coordinate])
    held = set(active)
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    for place, item in enumerate(normals):
        sorter.add(item.level, place in held, item.expr, place)
    slips = [slip for item in system.constraints for slip in item.slip]
    axes = slip_axes(system)
    if any(axis.has(Velocity) for axis in axes):
        raise CompileError(
            f"{system.name}: the two coefficients of an elliptic cone depend on velocities, which the tables of a "
            "large system don't know. Give coefficients of coordinates and parameters, or one coefficient."
        )
    slips = [axis * slip for axis, slip in zip(axes, slips, strict=True)]
    for place, slip in enumerate(slips):
        sorter.add("velocity", False, slip, len(normals) + place)
    for place, bound in enumerate(friction_bounds(system)):
        sorter.add("bound", False, bound, len(normals) + len(slips) + place)
    return sorted(sorter.kinds.values(), key=lambda kind: not kind.active)


def terms_of(expr: Any) -> Iterator[Any]:
    """Yield the terms of a sum; a long sum times a factor is distributed, since its terms are independent."""
    if expr.is_Add:
        for item in expr.args:
            yield from terms_of(item)
        return
    if expr.is_Mul:
        long = [item for item in expr.args if item.is_Add and len(item.args) > DISTRIBUTED]
        if len(long) == 1:
            others = [item for item in expr.args if item is not long[0]]
            for item in long[0].args:
                yield from terms_of(sp.Mul(*others, item))
            return
    if expr != 0:
        yield expr


class _Sorter:
    def __init__(self, system: System) -> None:
        self.places: dict[Any, int] = {item: i for i, item in enumerate(system.coordinates)}
        self.places |= {item: i for i, item in enumerate(system.velocities)}
        self.params = {item: i for i, item in enumerate(system.parameters)}
        self.kinds: dict[Any, Kind] = {}

    def add(self, role: str, active: bool, expr: Any, target: int) -> None:
        walk = _Walk(self.places, self.params)
        key = (role, active, walk(expr))
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = Kind(role, active, expr, walk.symbols())
        kind.coordinates.append(tuple(walk.coordinates))
        kind.parameters.append(tuple(walk.parameters))
        kind.constants.append(tuple(walk.constants.values()))
        kind.targets.append(target)


class _Walk:
    """Walks one expression: returns its shape as nested tuples and collects what stands in the slots."""

    def __init__(self, places: dict[Any, int], params: dict[Any, int]) -> None:
        self.places, self.params = places, params
        self.coordinates: dict[int, int] = {}  # place of the coordinate -> slot
        self.parameters: dict[int, int] = {}
        self.constants: dict[Any, float] = {}
        self._met: dict[Any, tuple[str, int]] = {}

    def __call__(self, expr: Any) -> Any:
        if expr.is_Symbol:
            return self._symbol(expr)
        if expr.is_Number:
            return self._number(expr)
        if expr.is_Pow and expr.exp.is_Number:
            return ("Pow", self(expr.base), str(expr.exp))
        return (expr.func.__name__, *(self(item) for item in expr.args))

    def _symbol(self, symbol: Any) -> tuple[str, int]:
        if isinstance(symbol, Time):
            return ("t", 0)
        if isinstance(symbol, (Coordinate, Velocity)):
            slot = self.coordinates.setdefault(self.places[symbol], len(self.coordinates))
            found = ("q" if isinstance(symbol, Coordinate) else "v", slot)
        else:
            found = ("p", self.parameters.setdefault(self.params[symbol], len(self.parameters)))
        self._met[symbol] = found
        return found

    def _number(self, number: Any) -> Any:
        if number.is_Rational and abs(number.p) <= LARGEST_INTEGER and number.q <= LARGEST_INTEGER:
            return ("n", number.p, number.q)
        if number not in self.constants:
            self._met[number] = ("c", len(self.constants))
            self.constants[number] = float(number)
        return self._met[number]

    def symbols(self) -> dict[Any, tuple[str, int]]:
        """Return what the symbols and decimal numbers of the expression stand for."""
        return dict(self._met)
