"""From the parts of a mechanism in space to a tree, constraints, forces and energies."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import sympy as sp

from zwang import _expressions
from zwang._bodies.closures import ALGEBRA, JointSides, bearings, closing_rows
from zwang._bodies.contacts import frames, touching
from zwang._bodies.layout import Layout, cartesian_layout, joint_layout
from zwang._bodies.parts import JointPart, Told
from zwang._bodies.polytopes import TouchSymbols
from zwang._declare.body_tree import GROUND, Load, Tree
from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.symbols import Coordinate, Dependent, Velocity, inputs, parameter, rate, symbol_table
from zwang._declare.vectors import Vector
from zwang.errors import DeclarationError, nearest

LAYOUTS = {"joint": joint_layout, "cartesian": cartesian_layout}
UNIT = "unit_"
CLOSED = 1e-9
"""By how much a loop may miss where no joint changes it [m, rad]: places are typed in or computed in doubles."""


LOOKS = 3
"""Configurations at which a row that only rounding keeps from zero is looked at."""
ROUNDED = 1e-13
"""Of the size of its terms: a row below it says nothing."""


class Assembled(NamedTuple):
    """What a system is made of; `ways`: along which directions its contacts can slip (`ContactWays`), by name."""

    tree: Tree
    constraints: tuple[Constraint, ...]
    forces: dict[Coordinate, Any]
    potential: Any
    ways: dict[str, tuple[int, ...]]

    def symbols(self) -> set[str]:
        """Return the names of everything that stands in it."""
        own = [expr for item in self.constraints for expr in item.expressions().values()]
        whole = [*self.tree.expressions().values(), *own, *self.forces.values(), self.potential]
        found = {symbol.name for expr in whole for symbol in expr.free_symbols}
        return found | {item.name for item in self.tree.coordinates} | set(self.tree.dependents)


def assemble(
    told: Told, gravity: Vector, name: str, coordinates: str, plain: Mapping[str, Any], symbols: Mapping[str, Any]
) -> Assembled:
    """Return the tree of a mechanism and what belongs to it; `symbols` are names that have their meaning already."""
    where = f"Bodies '{name}'"
    layout = LAYOUTS[coordinates](told, where)
    bare = Tree(name, dict(told.bodies), layout.joints, gravity, (), _loose(layout), frames(told))
    return _Assembly(told, layout, bare, where, symbols).everything(plain)


def _loose(layout: Layout) -> tuple[tuple[Coordinate, Any], ...]:
    inertias = {
        label: given["armature"]
        for part in layout.closures
        for label, given in zip(part.labels, part.options, strict=True)
    }
    return tuple((q, inertias[label]) for label, q in layout.loose.items())


class _Assembly:
    def __init__(self, told: Told, layout: Layout, tree: Tree, where: str, symbols: Mapping[str, Any]) -> None:
        self.told, self.layout, self.tree, self.where = told, layout, tree, where
        self.named = {q.name: q for q in tree.coordinates}
        self.symbols = dict(symbols)
        self.closing = {part.name: part for part in layout.closures}
        self.carried: dict[str, JointSides] = {}
        self.forces: dict[Coordinate, list[Any]] = {}
        self.energies: list[Any] = []
        self.loads: list[Load] = []
        self.constraints: list[Constraint] = []
        self.touching = TouchSymbols()
        self.ways: dict[str, tuple[int, ...]] = {}

    def everything(self, plain: Mapping[str, Any]) -> Assembled:
        self._units()
        for part in self.layout.closures:
            rows = closing_rows(self.tree, part, self.layout.loose)
            self.constraints += [row for row in rows if self._binds(row, part)]
        for name, text in self.told.relations:
            self.constraints.append(Bilateral(self._relation(name, text), name=name))
        for part in self.told.joints.values():
            for place, given in enumerate(part.options):
                self._joint_forces(part, place, given)
        for motor in self.told.motors:
            self._push(
                *self._joint_of(motor.coordinate), self._motor(motor.value, f"motor '{motor.coordinate}'"), "motor"
            )
        self._springs()
        self._applied()
        self._contacts()
        forces = {q: sp.Add(*items) for q, items in self.forces.items()}
        potential = sp.Add(*self.energies)
        constraints, loads = tuple(self.constraints), tuple(self.loads)
        # A law that was given as a function can't be told again: files then hold the constraints that it made.
        lawful = any(callable(item.friction) for item in self.told.contacts.values())
        made = (() if lawful else constraints, forces, potential, loads)
        tree = replace(self.tree, loads=loads, defined=tuple(self.touching.defined), told=plain, made=made)
        return Assembled(tree, constraints, forces, potential, self.ways)

    def _units(self) -> None:
        for joint in self.tree.joints:
            if joint.quaternion:
                own = joint.second if joint.kind == "free" else joint.name
                square = sp.Add(*(item**2 for item in joint.quaternion))
                self.constraints.append(Bilateral((square - 1) / 2, name=f"{UNIT}{own}"))

    def _binds(self, row: Bilateral, part: JointPart) -> bool:
        """Whether a row says something: in a planar loop some hold whatever the joints do, or never."""
        if any(isinstance(symbol, (Coordinate, Velocity)) for symbol in row.expr.free_symbols):
            return not self._rounding(row.expr)
        left = sp.simplify(row.expr)
        if left.is_number and abs(float(left)) < CLOSED:
            return False
        told = f"{float(left):.3g}" if left.is_number else str(left)
        raise DeclarationError(
            f"{self.where}: the loop at '{part.name}' does not close: '{row.name}' stays at {told}, whatever joints "
            "do. Move at= or axis= of one of its joints."
        )

    def _rounding(self, expr: Any) -> bool:
        """Whether a row is nothing but rounding of its terms at configurations drawn at random.

        Axes that agree to the last digit but one, as those of a planar loop in an oblique plane do, leave such rows.
        """
        source = random.Random(0)
        for _ in range(LOOKS):
            values = {q: source.uniform(-2.0, 2.0) for q in self.tree.coordinates}
            for joint in self.tree.joints:
                length = math.sqrt(sum(values[item] ** 2 for item in joint.quaternion))
                values |= {item: values[item] / length for item in joint.quaternion}
            given = {item for item in self._written(expr) if item not in values and not isinstance(item, Dependent)}
            values |= {item: source.uniform(0.5, 2.0) for item in sorted(given, key=str)}
            places = self.tree.numbers(values)
            values |= {item: float(places[item.name]) for item in expr.free_symbols if item.name in places}
            value, size = value_and_size(expr, values)
            if not abs(value) <= ROUNDED * size:
                return False
        return True

    def _written(self, expr: Any) -> set[Any]:
        """Return the symbols of an expression and of the tree."""
        return {item for one in (expr, *self.tree.expressions().values()) for item in one.free_symbols}

    # --- joints ------------------------------------------------------------------------------------------------------

    def _joint_of(self, coordinate: str) -> tuple[JointPart, int]:
        for part in self.told.joints.values():
            if coordinate in part.labels:
                return part, part.labels.index(coordinate)
        known = [label for part in self.told.joints.values() for label in part.labels]
        raise DeclarationError(f"{self.where}: no joint has a coordinate '{coordinate}'. {nearest(coordinate, known)}")

    def _rate(self, part: JointPart, place: int) -> Any:
        q = self.named.get(part.labels[place])
        if q is not None:
            return q.velocity
        if part.name not in self.carried:
            self.carried[part.name] = JointSides(self.tree, part)
        return self.carried[part.name].rate_of(place)

    def _push(self, part: JointPart, place: int, force: Any, what: str) -> None:
        """Add a force along a coordinate of a joint."""
        q = self.named.get(part.labels[place])
        if q is not None:
            self.forces.setdefault(q, []).append(force)
        else:
            self.loads.append(Load(f"{part.labels[place]} {what}", ((force, self._rate(part, place)),)))

    def _joint_forces(self, part: JointPart, place: int, given: Mapping[str, Any]) -> None:
        label, q = part.labels[place], self.named.get(part.labels[place])
        if given["damping"] != 0:
            self._push(part, place, -given["damping"] * self._rate(part, place), "damping")
        if given["stiffness"] != 0:
            self.energies.append(given["stiffness"] / 2 * (q - given["rest"]) ** 2)
        if part.rough:
            self._rubbing(part, given["friction"])
        elif given["friction"] != 0:
            slip = self._rate(part, place)
            self.constraints.append(Friction(given["friction"], slip=slip, name=f"{label} friction"))
        if given.get("limits") is not None:
            low, high = given["limits"]
            bounce = given["restitution"]
            if low is not None:
                self.constraints.append(Unilateral(q - low, restitution=bounce, name=f"{label} low"))
            if high is not None:
                self.constraints.append(Unilateral(high - q, restitution=bounce, name=f"{label} high"))

    def _rubbing(self, part: JointPart, mu: Any) -> None:
        """Add friction that goes with the forces of a joint: of two journals or guides, or of one journal."""
        slip = self._rate(part, 0)
        if part.kind == "revolute":
            # The multipliers are the whole bearing force of a dry journal.
            mu, slip = mu / sp.sqrt(1 + mu**2), part.radius * slip
        for name, rows in bearings(part):
            self.constraints.append(Friction(mu, slip=slip, of=rows, name=name))

    # --- points ------------------------------------------------------------------------------------------------------

    def point(self, name: str) -> Vector:
        """Return where a point, or the centre of mass of a body, is."""
        return place_of_point(self.told, self.tree, name, self.where)

    def _springs(self) -> None:
        for spring in self.told.springs:
            gap = ALGEBRA.sub(self.point(spring.second), self.point(spring.first))
            length = sp.sqrt(ALGEBRA.dot(gap, gap))
            if spring.stiffness != 0:
                self.energies.append(spring.stiffness / 2 * (length - spring.length) ** 2)
            if spring.damping != 0:
                stretching = ALGEBRA.dot(gap, tuple(rate(item) for item in gap)) / length
                self.loads.append(Load(spring.name, ((-spring.damping * stretching, stretching),)))

    def _applied(self) -> None:
        for force in self.told.forces:
            place = self.point(force.point)
            x, y, z = (self._read(item, f"force '{force.name}'") for item in force.components)
            pushed: Vector = (x, y, z)
            body = self.told.points[force.point].on if force.point in self.told.points else force.point
            if force.axes == "body":
                pushed = ALGEBRA.apply(self.tree.place_of(body)[1], pushed)
            pairs = tuple((f, rate(item)) for f, item in zip(pushed, place, strict=True) if f != 0)
            self.loads.append(Load(force.name, tuple((f, u) for f, u in pairs if u != 0)))

    def _read(self, given: Any, where: str) -> Any:
        """Return a force as an expression: of coordinates, velocities, time, parameters and places of bodies."""
        if not isinstance(given, str):
            return given
        known: dict[str, Any] = {**symbol_table(self.tree.coordinates), **self.tree.dependents, **self.symbols}
        whole = f"{self.where}: {where}"
        return _expressions.parse(
            given, known, where=whole, parameters=lambda name: self.symbols.setdefault(name, parameter(name))
        )

    def _relation(self, name: str, text: str) -> Any:
        """Return an equation between coordinates; in Cartesian ones joints have none but those that need them."""
        labels = {label for part in self.told.joints.values() for label in part.labels}
        missing = sorted((_expressions.names(text, where=self.where) & labels) - set(self.named))
        if missing:
            raise DeclarationError(
                f"{self.where}: the relation '{name}' has '{missing[0]}', which is no coordinate here. Use "
                "coordinates='joint'."
            )
        return self._read(text, f"relation '{name}'")

    def _motor(self, value: Any, where: str) -> Any:
        """Return what drives a joint; a name that nothing else has becomes an input."""
        if isinstance(value, str) and value.isidentifier():
            known = {*symbol_table(self.tree.coordinates), *self.tree.dependents, *self.symbols}
            if value not in known:
                (self.symbols[value],) = inputs((value,))
        return self._read(value, where)

    def _contacts(self) -> None:
        for item in self.told.contacts.values():
            for touch in touching(self.told, self.tree, item, self.touching, self.where):
                self.constraints.append(touch.constraint)
                self.ways[str(touch.constraint.name)] = touch.ways


def place_of_point(told: Told, tree: Tree, name: str, where: str) -> Vector:
    """Return where a point, or the centre of mass of a body, is."""
    a = ALGEBRA
    if name in told.points:
        point = told.points[name]
        if point.on == GROUND:
            return point.at
        r, axes = tree.place_of(point.on)
        return a.add(r, a.apply(axes, point.at))
    if name in tree.bodies:
        return tree.place_of(name)[0]
    raise DeclarationError(
        f"{where}: there is no point '{name}'. {nearest(name, [*told.points, *tree.bodies])} Points are made with "
        "point(name, on=, at=)."
    )


def value_and_size(expr: Any, values: Mapping[Any, float]) -> tuple[float, float]:
    """Return the value of an expression and the size of the terms that it is made of.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> value_and_size(3 * x - 2, {x: 1.0})
    (1.0, 5.0)
    """
    if not expr.args:
        value = float(values.get(expr, expr))
        return value, abs(value)
    parts = [value_and_size(item, values) for item in expr.args]
    if expr.is_Add:
        return sum(value for value, _ in parts), sum(size for _, size in parts)
    if expr.is_Mul:
        return math.prod(value for value, _ in parts), math.prod(size for _, size in parts)
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return parts[0][0] ** int(expr.exp), parts[0][1] ** int(expr.exp)
    value = float(expr.func(*(sp.Float(value) for value, _ in parts)))
    return value, abs(value)
