"""Rigid bodies joined as a tree: what `System(tree=...)` holds in the place of a kinetic energy.

Everything is placed once, in the reference configuration, with the axes of the ground: body i has its centre of mass
in c_i and its own axes turned by B_i, a joint between p (parent) and i stands at a. With D the turn since then and r
the place of the centre of mass,

    P = r_p + D_p (a - c_p) + slides,   D_i = D_p (turns),   r_i = P + D_i (c_i - a),   axes of i: R_i = D_i B_i.

A free body has r_i and a quaternion of R_i for coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import sympy as sp

from zwang._declare.symbols import Coordinate, Dependent, DependentVelocity, dependent, rate
from zwang._declare.vectors import Algebra, Arrays, Expressions, Matrix, Vector, transposed
from zwang._numerics.tolerances import name_of

GROUND = "ground"
LARGEST = 150
"""Parts of an entry of R up to which a body's place is written out in coordinates; beyond it has symbols of its own."""
AXES = "xyz"


@dataclass(frozen=True)
class RigidBody:
    """A body: mass, inertia (Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass in its own axes), place, axes."""

    name: str
    mass: Any
    inertia: tuple[Any, ...]
    at: Vector
    turned: Matrix

    @property
    def massless(self) -> bool:
        """Whether it has no inertia at all."""
        return self.mass == 0 and all(item == 0 for item in self.inertia)

    @cached_property
    def inertia_matrix(self) -> Matrix:
        """The inertia about the centre of mass, in its own axes."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)

    @cached_property
    def placed_inertia(self) -> Matrix:
        """The inertia in the axes of the ground, in the reference configuration."""
        a = Expressions()
        return a.product(a.product(self.turned, self.inertia_matrix), transposed(self.turned))


class Slide(NamedTuple):
    """A motion along an axis by factor times a coordinate of the joint."""

    axis: Vector
    factor: Any
    place: int


class Turn(NamedTuple):
    """A turn about an axis by a coordinate of the joint."""

    axis: Vector
    place: int


@dataclass(frozen=True)
class TreeJoint:
    """A joint that moves its second body against the first: slides first, then turns, or a quaternion.

    Attributes
    ----------
    kind : str
    at : three expressions
        Where it stands in the reference configuration.
    slides, turns : tuples
        In the order in which they act, their axes in the first body as it stands in the reference configuration.
    coordinates : tuple of Coordinate
    armature : tuple of expressions
        Inertia that belongs to each coordinate.
    """

    name: str
    kind: str
    first: str
    second: str
    at: Vector
    slides: tuple[Slide, ...]
    turns: tuple[Turn, ...]
    coordinates: tuple[Coordinate, ...]
    armature: tuple[Any, ...]

    @property
    def quaternion(self) -> tuple[Coordinate, ...]:
        """The coordinates that are a unit quaternion."""
        return {"spherical": self.coordinates, "free": self.coordinates[3:]}.get(self.kind, ())


@dataclass(frozen=True)
class Load:
    """Forces of a name: the sum over pairs (force, velocity) is their power, the velocities affine in those of q."""

    name: str
    pairs: tuple[tuple[Any, Any], ...]


class Pose(NamedTuple):
    """Where a body is: its centre of mass, its turn since the reference configuration, and its axes where known."""

    position: Vector
    turn: Matrix
    axes: Matrix | None = None


class JointFrame(NamedTuple):
    """A joint at a configuration: the point about which it turns, and its axes as they are carried along.

    Of a spherical or free joint `turns` are the angular velocities for unit rates of its quaternion.
    """

    joint: TreeJoint
    pivot: Vector
    slides: tuple[Vector, ...]
    turns: tuple[Vector, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """Bodies, the joints that make a tree of them (each after that of its first body), weight, loads.

    Attributes
    ----------
    loose : tuple of (Coordinate, expression)
        Coordinates of joints outside the tree, which constraints tie to it, each with an inertia of its own.
    pairs : tuple of (str, str)
        Bodies whose place in the frame of another one has symbols of its own.
    defined : tuple of (str, expression)
        Names of symbols for what else follows from places of bodies, each from those before it.
    told : mapping
        What the builder was told, as plain data: from it, and nothing else, the tree is made again.
    made : tuple
        Constraints, forces, potential and loads that the builder gave to its system.
    """

    name: str
    bodies: Mapping[str, RigidBody]
    joints: tuple[TreeJoint, ...]
    gravity: Vector
    loads: tuple[Load, ...] = ()
    loose: tuple[tuple[Coordinate, Any], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    defined: tuple[tuple[str, Any], ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    made: tuple[Any, ...] = ()

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Of all joints, in their order."""
        return (*(q for joint in self.joints for q in joint.coordinates), *(q for q, _ in self.loose))

    @cached_property
    def armatures(self) -> tuple[tuple[Coordinate, Any], ...]:
        """The coordinates that have an inertia of their own, with it."""
        own = [pair for joint in self.joints for pair in zip(joint.coordinates, joint.armature, strict=True)]
        return tuple((q, inertia) for q, inertia in (*own, *self.loose) if inertia != 0)

    def expressions(self) -> dict[str, Any]:
        """Return every expression by where it stands."""
        found: dict[str, Any] = {f"gravity[{i}]": item for i, item in enumerate(self.gravity)}
        for body in self.bodies.values():
            items = (body.mass, *body.inertia, *body.at, *(item for row in body.turned for item in row))
            found |= {f"body '{body.name}' ({i})": item for i, item in enumerate(items)}
        for joint in self.joints:
            moves: tuple[Slide | Turn, ...] = (*joint.slides, *joint.turns)
            axes = [item for move in moves for item in move.axis]
            items = (*joint.at, *axes, *(slide.factor for slide in joint.slides))
            found |= {f"joint '{joint.name}' ({i})": item for i, item in enumerate(items)}
        found |= {f"armature of '{q}'": inertia for q, inertia in self.armatures}
        for load in self.loads:
            found |= {f"force '{load.name}' ({i})": pair[0] for i, pair in enumerate(load.pairs)}
            found |= {f"along '{load.name}' ({i})": pair[1] for i, pair in enumerate(load.pairs)}
        return found

    def with_loads(self, change: Callable[[Any], Any]) -> Tree:
        """Return the tree with the forces of its loads changed."""
        pairs = [tuple((change(force), along) for force, along in load.pairs) for load in self.loads]
        loads = tuple(Load(load.name, items) for load, items in zip(self.loads, pairs, strict=True))
        return self if loads == self.loads else replace(self, loads=loads)

    # --- where things are ----------------------------------------------------------------------------------------

    def walk(self, a: Algebra, only: frozenset[str] | None = None) -> tuple[dict[str, Pose], list[JointFrame]]:
        """Return the pose of each body (or of some) and the frame of each joint, over the numbers of an algebra."""
        one, zero = sp.Integer(1), sp.Integer(0)
        unit = a.matrix([[one if i == j else zero for j in range(3)] for i in range(3)])
        poses = {GROUND: Pose(a.vector((zero, zero, zero)), unit)}
        frames: list[JointFrame] = []
        for joint in self.joints:
            if only is not None and joint.second not in only:
                continue
            pose, frame = self._placed(joint, poses, a)
            poses[joint.second] = pose
            frames.append(frame)
        return poses, frames

    def _placed(self, joint: TreeJoint, poses: Mapping[str, Pose], a: Algebra) -> tuple[Pose, JointFrame]:
        body, base = self.bodies[joint.second], poses[joint.first]
        q = [a.lift(item) for item in joint.coordinates]
        if joint.kind == "free":
            axes = a.turn_of(q[3:])
            turn = a.product(axes, transposed(a.matrix(body.turned)))
            position = (q[0], q[1], q[2])
            return Pose(position, turn, axes), JointFrame(joint, position, base.turn, a.spins_of(q[3:]))
        home = a.vector((0, 0, 0)) if joint.first == GROUND else a.vector(self.bodies[joint.first].at)
        pivot = a.add(base.position, a.apply(base.turn, a.sub(a.vector(joint.at), home)))
        slides = [a.apply(base.turn, a.vector(slide.axis)) for slide in joint.slides]
        for slide, axis in zip(joint.slides, slides, strict=True):
            pivot = a.add(pivot, a.scale(a.mul(a.lift(slide.factor), q[slide.place]), axis))
        turn, turns = base.turn, []
        for move in joint.turns:
            axis = a.vector(move.axis)
            turns.append(a.apply(turn, axis))
            turn = a.product(turn, a.turn(axis, q[move.place]))
        if joint.kind == "spherical":
            turns = [a.apply(turn, spin) for spin in a.spins_of(q)]
            turn = a.product(turn, a.turn_of(q))
        arm = a.apply(turn, a.sub(a.vector(body.at), a.vector(joint.at)))
        return Pose(a.add(pivot, arm), turn), JointFrame(joint, pivot, tuple(slides), tuple(turns))

    @cached_property
    def _written(self) -> tuple[dict[str, Pose], list[JointFrame]]:
        return self.walk(Expressions())

    def axes(self, body: str, a: Algebra, poses: Mapping[str, Pose]) -> Matrix:
        """Return R of a body: its columns are its own axes in those of the ground."""
        pose = poses[body]
        if body == GROUND or pose.axes is not None:
            return pose.turn if pose.axes is None else pose.axes
        return a.product(pose.turn, a.matrix(self.bodies[body].turned))

    # --- symbols for what follows from the coordinates -----------------------------------------------------------

    def place_of(self, body: str) -> tuple[Vector, Matrix]:
        """Return r and R of a body as expressions: of the coordinates where they are short, else of own symbols."""
        if body == GROUND or body in self._short:
            return self._shortly[body]
        r, entries = dependents_of(body)
        return r, entries

    @cached_property
    def _shortly(self) -> dict[str, tuple[Vector, Matrix]]:
        """Body -> r and R, of those that are short in coordinates."""
        a = Expressions()
        poses, _ = self.walk(a, self._short)
        return {name: (pose.position, self.axes(name, a, poses)) for name, pose in poses.items()}

    @cached_property
    def _short(self) -> frozenset[str]:
        """The bodies whose entries of R have few parts when they are written out."""
        sizes = {GROUND: 1}
        for joint in self.joints:
            plain = joint.turns and all(sum(item != 0 for item in move.axis) == 1 for move in joint.turns)
            growth = 2 if plain else 3 if joint.turns or joint.quaternion else 1
            sizes[joint.second] = sizes[joint.first] * growth ** max(len(joint.turns), 1) + 8 * bool(joint.quaternion)
        return frozenset(name for name, size in sizes.items() if size <= LARGEST)

    def names_of_dependents(self) -> Iterator[str]:
        """Yield the names of the symbols that may stand for places of bodies."""
        for body in self.bodies:
            if not any(joint.second == body and joint.kind == "free" for joint in self.joints):
                yield from (f"{axis}_{body}" for axis in AXES)
            yield from (f"R{i}{j}_{body}" for i in range(1, 4) for j in range(1, 4))
        for pair in self.pairs:
            yield from _named(seen_from(*pair))
        yield from (name for name, _ in self.defined)

    def places(self, a: Algebra, poses: Mapping[str, Pose]) -> Iterator[tuple[str, Any]]:
        """Yield name and value of all places of bodies, over the numbers of an algebra."""
        for body in self.bodies:
            yield from named_entries(body, poses[body].position, self.axes(body, a, poses))
        for first, second in self.pairs:
            back = transposed(self.axes(second, a, poses))
            place = a.apply(back, a.sub(poses[first].position, poses[second].position))
            turn = a.product(back, self.axes(first, a, poses))
            yield from named_entries(seen_from(first, second), place, turn)

    @cached_property
    def dependents(self) -> dict[str, Dependent | DependentVelocity]:
        """Name -> symbol of everything that follows from the coordinates, rates included."""
        found: dict[str, Dependent | DependentVelocity] = {}
        for name in self.names_of_dependents():
            symbol = dependent(name)
            found[name], found[symbol.velocity.name] = symbol, symbol.velocity
        return found

    def expanded(self, expr: Any) -> Any:
        """Return an expression in coordinates and velocities alone."""
        used = [item for item in expr.free_symbols if isinstance(item, (Dependent, DependentVelocity))]
        if not used:
            return expr
        values = dict(self.places(Expressions(), self._written[0]))
        known = {self.dependents[name]: value for name, value in values.items() if name in self.dependents}
        for name, value in self.defined:
            values[name] = known[self.dependents[name]] = value.xreplace(known)
        table = {}
        for symbol in used:
            moving = isinstance(symbol, DependentVelocity)
            value = values[(symbol.coordinate if moving else symbol).name]
            table[symbol] = rate(value) if moving else value
        return expr.xreplace(table)

    def numbers(self, values: Mapping[Any, Any]) -> dict[str, Any]:
        """Return name -> array of all places of bodies, at values by symbol or name; without their rates."""
        a = Arrays({name_of(key): value for key, value in values.items()})
        return dict(self.places(a, self.walk(a)[0]))

    @cached_property
    def kinetic(self) -> Any:
        """The kinetic energy, written out: long for a long chain."""
        poses, _ = self._written
        a, terms = Expressions(), []
        half = sp.Rational(1, 2)
        free = {joint.second: joint.quaternion for joint in self.joints if joint.kind == "free"}
        for name, body in self.bodies.items():
            if body.mass != 0:
                terms += [half * body.mass * rate(item) ** 2 for item in poses[name].position]
            if any(item != 0 for item in body.inertia):
                own = _own_spin(free[name]) if name in free else _spin(self.axes(name, a, poses))
                terms.append(half * a.dot(own, a.apply(body.inertia_matrix, own)))
        return sp.Add(*terms, *(half * inertia * q.velocity**2 for q, inertia in self.armatures))

    @cached_property
    def weight(self) -> Any:
        """The potential energy of gravity, written out."""
        poses, _ = self._written
        a = Expressions()
        return sp.Add(*(-body.mass * a.dot(self.gravity, poses[name].position) for name, body in self.bodies.items()))


def _spin(axes: Matrix) -> Vector:
    """Return the angular velocity in the axes of a body: the skew part of R^T R'."""
    a, half = Expressions(), sp.Rational(1, 2)
    x, y, z = transposed(axes)
    dx, dy, dz = (tuple(rate(item) for item in axis) for axis in (x, y, z))
    twice = (
        a.dot(z, dy) - a.dot(y, dz),
        a.dot(x, dz) - a.dot(z, dx),
        a.dot(y, dx) - a.dot(x, dy),
    )
    return a.scale(half, twice)


def _own_spin(e: Sequence[Coordinate]) -> Vector:
    """Return the angular velocity in the axes of a free body, 2 e* e', of its quaternion alone."""
    (w, x, y, z), (dw, dx, dy, dz) = e, (item.velocity for item in e)
    return (
        2 * (w * dx - x * dw + z * dy - y * dz),
        2 * (w * dy - y * dw + x * dz - z * dx),
        2 * (w * dz - z * dw + y * dx - x * dy),
    )


def seen_from(first: str, second: str) -> str:
    """Return what the place of a body in the frame of another one is called."""
    return f"{first}_in_{second}"


def _named(what: str) -> list[str]:
    return [*(f"{axis}_{what}" for axis in AXES), *(f"R{i}{j}_{what}" for i in range(1, 4) for j in range(1, 4))]


def named_entries(what: str, place: Vector, axes: Matrix) -> Iterator[tuple[str, Any]]:
    """Yield a place and axes entry by entry, with the names of their symbols."""
    return zip(_named(what), [*place, *(item for row in axes for item in row)], strict=True)


def dependents_of(body: str) -> tuple[Vector, Matrix]:
    """Return the symbols of r and R of a body, or of one that is `seen_from` another."""
    x, y, z = (dependent(f"{axis}_{body}") for axis in AXES)
    a, b, c = (
        (dependent(f"R{i}1_{body}"), dependent(f"R{i}2_{body}"), dependent(f"R{i}3_{body}")) for i in range(1, 4)
    )
    return (x, y, z), (a, b, c)
