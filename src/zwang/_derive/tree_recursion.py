"""Trees of bodies as nodes of a graph: mass matrix and forces by recursion, without a Lagrangian.

All vectors have the axes of the ground, so nothing is turned on its way along the tree. For each tree that hangs on the
ground a point O is chosen: its first joint, for a free body its centre of mass. Coordinate j moves what hangs on its
joint with the angular velocity w_j and the velocity u_j of the point at O; with m, h, I mass, first and second moments
about O of all that hangs there (composite bodies),

    M_kj = w_k . (I w_j + h x u_j) + u_k . (m u_j + w_j x h)    for k at or above j, else 0,

and with F, N force and moment about O that all that hangs there needs when accelerations of coordinates vanish
(Newton, Euler), Q_j = -w_j . N - u_j . F. Both grow with the bodies, and M with the pairs of joints on one path.

The mass matrix of a quaternion e is semidefinite. On e . e' = 0 the equations are the same with c e e^T added to M and
-c (e' . e') e to Q, whatever c > 0 is; it is chosen in the size of the others, so that M is definite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zwang._declare.body_tree import GROUND, JointFrame, Pose, Tree, named_entries, seen_from
from zwang._declare.symbols import Dependent, DependentVelocity
from zwang._declare.system import System
from zwang._declare.vectors import Algebra, Matrix, Vector, transposed
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node


class Nodes(Algebra):
    """Nodes of a graph."""

    def __init__(self, convert: Converter) -> None:
        self.graph: Graph = convert.graph
        self._convert = convert

    def lift(self, expr: Any) -> Node:
        """Return the node of an expression."""
        return self.graph.const(expr) if isinstance(expr, int) else self._convert(expr)

    def linear(self, terms: Sequence[tuple[float, Any]]) -> Node:
        """Return the sum of coefficient times node."""
        return self.graph.linear(terms)

    def mul(self, a: Any, b: Any) -> Node:
        """Return a product."""
        return self.graph.mul(a, b)

    def sin(self, a: Any) -> Node:
        """Return a sine."""
        return self.graph.call("sin", a)

    def cos(self, a: Any) -> Node:
        """Return a cosine."""
        return self.graph.call("cos", a)


class Rates(NamedTuple):
    """Velocity and angular velocity of a body, and its accelerations where those of the coordinates vanish."""

    spin: Vector
    velocity: Vector
    spin_change: Vector
    acceleration: Vector


class Column(NamedTuple):
    """What a unit rate of a coordinate does to all that hangs on its joint: angular velocity, velocity at O."""

    spin: Vector
    velocity: Vector


class Composite(NamedTuple):
    """Mass, first and second moments about O, and force and moment about O of what hangs on a joint."""

    mass: Node
    first: Vector
    second: Matrix
    force: Vector
    moment: Vector


@dataclass(frozen=True)
class TreeEquations:
    """The equations of a tree as nodes: M (lower triangle), Q, kinetic energy and that of the weight."""

    mass: dict[tuple[int, int], Node]
    force: list[Node]
    kinetic: Node
    weight: Node


def tree_equations(tree: Tree, convert: Converter) -> TreeEquations:
    """Return the equations of a tree, without loads."""
    return _Recursion(tree, Nodes(convert)).equations()


def with_dependents(
    system: System, graph: Graph, symbols: Mapping[Any, Node], *, occurring: bool = False
) -> dict[Any, Node]:
    """Return symbols -> nodes with those added that stand for places of bodies; rates where velocities are there.

    With `occurring` none are added where the system's own expressions have none.
    """
    tree = system.tree
    if tree is None or (occurring and not _occur(system)):
        return dict(symbols)
    found = dict(symbols)
    recursion = _Recursion(tree, Nodes(Converter(graph, symbols)))
    own = {item.name for item in tree.coordinates}
    moving = all(item.velocity in symbols for item in tree.coordinates)
    places = dict(tree.places(recursion.a, recursion.poses))
    found |= {tree.dependents[name]: node for name, node in places.items() if name not in own}
    defined: list[Node] = []
    for name, expr in tree.defined:
        defined.append(Converter(graph, found)(expr))
        found[tree.dependents[name]] = defined[-1]
    if moving:
        changes = dict(recursion.changes())
        seeds = {places[name]: node for name, node in changes.items()}
        changes |= zip((name for name, _ in tree.defined), graph.forward(defined, seeds), strict=True)
        found |= {tree.dependents[f"v_{name}"]: node for name, node in changes.items() if name not in own}
    return found


def _occur(system: System) -> bool:
    """Whether a symbol stands in some expression of a system for what follows from the coordinates."""
    return any(expr.has(Dependent, DependentVelocity) for expr in system.expressions().values())


class _Recursion:
    def __init__(self, tree: Tree, a: Nodes) -> None:
        self.tree, self.a = tree, a
        self.zero: Vector = a.vector((0, 0, 0))
        self.poses, self.frames = tree.walk(a)
        self._rates: dict[str, Rates] = {}
        self._inertias: dict[str, Matrix] = {}

    def axes(self, body: str) -> Matrix:
        return self.tree.axes(body, self.a, self.poses)

    # --- outwards ------------------------------------------------------------------------------------------------

    @property
    def rates(self) -> dict[str, Rates]:
        """Of each body."""
        if not self._rates:
            self._rates[GROUND] = Rates(self.zero, self.zero, self.zero, self.zero)
            for frame in self.frames:
                self._rates[frame.joint.second] = self._rate(frame)
        return self._rates

    def changes(self) -> Iterator[tuple[str, Node]]:
        """Yield the rates of `Tree.places`."""
        a = self.a
        for body in self.tree.bodies:
            own = self.rates[body]
            yield from named_entries(body, own.velocity, self._turning(own.spin, self.axes(body)))
        for first, second in self.tree.pairs:
            one, other, back = self.rates[first], self.rates[second], transposed(self.axes(second))
            apart = a.sub(self.poses[first].position, self.poses[second].position)
            change = a.sub(a.sub(one.velocity, other.velocity), a.cross(other.spin, apart))
            spin, turn = a.apply(back, a.sub(one.spin, other.spin)), a.product(back, self.axes(first))
            yield from named_entries(seen_from(first, second), a.apply(back, change), self._turning(spin, turn))

    def _turning(self, spin: Vector, axes: Matrix) -> Matrix:
        """Return the rate of axes that turn."""
        x, y, z = (self.a.cross(spin, column) for column in transposed(axes))
        return transposed((x, y, z))

    def _rate(self, frame: JointFrame) -> Rates:
        a, joint = self.a, frame.joint
        v = [a.lift(item.velocity) for item in joint.coordinates]
        if joint.kind == "free":
            spin = a.add(*(a.scale(rate, axis) for rate, axis in zip(v[3:], frame.turns, strict=True)))
            return Rates(spin, (v[0], v[1], v[2]), self.zero, self.zero)
        base, pose = self._rates[joint.first], self.poses[joint.second]
        spin, change = base.spin, base.spin_change
        if joint.kind == "spherical":
            own = a.add(*(a.scale(rate, axis) for rate, axis in zip(v, frame.turns, strict=True)))
            change, spin = a.add(change, a.cross(spin, own)), a.add(spin, own)
        for move, axis in zip(joint.turns, frame.turns, strict=False):
            own = a.scale(v[move.place], axis)
            change, spin = a.add(change, a.cross(spin, own)), a.add(spin, own)
        out = a.sub(frame.pivot, self.poses[joint.first].position)
        velocity = a.add(base.velocity, a.cross(base.spin, out))
        acceleration = a.add(base.acceleration, self._carried(base.spin, base.spin_change, out))
        for slide, axis in zip(joint.slides, frame.slides, strict=True):
            sliding = a.scale(a.mul(a.lift(slide.factor), v[slide.place]), axis)
            velocity = a.add(velocity, sliding)
            acceleration = a.add(acceleration, a.scale(a.lift(2), a.cross(base.spin, sliding)))
        arm = a.sub(pose.position, frame.pivot)
        velocity = a.add(velocity, a.cross(spin, arm))
        return Rates(spin, velocity, change, a.add(acceleration, self._carried(spin, change, arm)))

    def _carried(self, spin: Vector, change: Vector, arm: Vector) -> Vector:
        """Return the acceleration along an arm that turns."""
        a = self.a
        return a.add(a.cross(change, arm), a.cross(spin, a.cross(spin, arm)))

    # --- inwards -------------------------------------------------------------------------------------------------

    def equations(self) -> TreeEquations:
        a, g = self.a, self.a.graph
        origins = self._origins()
        composites = self._composites(origins)
        places = {q: i for i, q in enumerate(self.tree.coordinates)}
        above: dict[str, tuple[tuple[int, Column], ...]] = {GROUND: ()}
        mass: dict[tuple[int, int], Node] = {}
        force = [g.zero] * len(places)
        for frame in self.frames:
            joint, whole = frame.joint, composites[frame.joint.second]
            own = [places[q] for q in joint.coordinates]
            columns = tuple(zip(own, self._columns(frame, origins[joint.second]), strict=True))
            path = above[joint.second] = (*above[joint.first], *columns)
            for j, column in columns:
                force[j] = a.linear([(-1, a.dot(column.spin, whole.moment)), (-1, a.dot(column.velocity, whole.force))])
                self._fill(mass, path, j, column, whole)
        for q, inertia in self.tree.armatures:
            j = places[q]
            mass[j, j] = g.add(mass.get((j, j), g.zero), a.lift(inertia))
        kinetic = self._kinetic()
        self._complete(mass, force, composites, origins)
        weight = [
            (-1.0, a.mul(a.lift(body.mass), a.dot(a.vector(self.tree.gravity), self.poses[name].position)))
            for name, body in self.tree.bodies.items()
        ]
        return TreeEquations(mass, force, kinetic, g.linear(weight))

    def _fill(
        self,
        mass: dict[tuple[int, int], Node],
        path: Sequence[tuple[int, Column]],
        j: int,
        column: Column,
        whole: Composite,
    ) -> None:
        a = self.a
        spin, velocity = column
        momentum = a.add(a.scale(whole.mass, velocity), a.cross(spin, whole.first))
        moment = a.add(a.apply(whole.second, spin), a.cross(whole.first, velocity))
        for k, other in path:
            entry = a.graph.add(a.dot(other.spin, moment), a.dot(other.velocity, momentum))
            if entry != a.graph.zero:
                mass[max(j, k), min(j, k)] = entry

    def _origins(self) -> dict[str, Vector]:
        """Return O for each body: where the first joint of its tree stands, or the free body at its root."""
        found: dict[str, Vector] = {}
        for frame in self.frames:
            joint = frame.joint
            if joint.first != GROUND:
                found[joint.second] = found[joint.first]
            elif joint.kind == "free":
                found[joint.second] = self.poses[joint.second].position
            else:
                found[joint.second] = self.a.vector(joint.at)
        return found

    def _columns(self, frame: JointFrame, origin: Vector) -> list[Column]:
        """Return what unit rates of the coordinates of a joint do."""
        a, joint = self.a, frame.joint
        arm = a.sub(origin, frame.pivot)
        if joint.kind == "free":
            turns = [Column(spin, a.cross(spin, arm)) for spin in frame.turns]
            return [*(Column(self.zero, axis) for axis in frame.slides), *turns]
        if joint.kind == "spherical":
            return [Column(spin, a.cross(spin, arm)) for spin in frame.turns]
        found = [Column(self.zero, self.zero) for _ in joint.coordinates]
        for slide, axis in zip(joint.slides, frame.slides, strict=True):
            spin, velocity = found[slide.place]
            found[slide.place] = Column(spin, a.add(velocity, a.scale(a.lift(slide.factor), axis)))
        for move, axis in zip(joint.turns, frame.turns, strict=True):
            spin, velocity = found[move.place]
            found[move.place] = Column(a.add(spin, axis), a.add(velocity, a.cross(axis, arm)))
        return found

    def _composites(self, origins: Mapping[str, Vector]) -> dict[str, Composite]:
        a = self.a
        sums: dict[str, list[Composite]] = {name: [] for name in self.tree.bodies}
        found: dict[str, Composite] = {}
        for frame in reversed(self.frames):
            name, parent = frame.joint.second, frame.joint.first
            parts = [self._one_body(name, origins[name]), *sums[name]]
            rows = [[a.linear([(1, part.second[i][j]) for part in parts]) for j in range(i + 1)] for i in range(3)]
            (xx,), (xy, yy), (xz, yz, zz) = rows
            found[name] = Composite(
                a.linear([(1, part.mass) for part in parts]),
                a.add(*(part.first for part in parts)),
                ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)),
                a.add(*(part.force for part in parts)),
                a.add(*(part.moment for part in parts)),
            )
            if parent != GROUND:
                sums[parent].append(found[name])
        return found

    def _inertia(self, name: str) -> Matrix:
        """Return the inertia of a body about its centre of mass in the axes of the ground, made once."""
        if name in self._inertias:
            return self._inertias[name]
        a, turn = self.a, self.poses[name].turn
        inside = a.product(turn, a.matrix(self.tree.bodies[name].placed_inertia))
        rows = [[a.dot(inside[i], turn[j]) for j in range(i + 1)] for i in range(3)]
        (xx,), (xy, yy), (xz, yz, zz) = rows
        made = self._inertias[name] = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
        return made

    def _one_body(self, name: str, origin: Vector) -> Composite:
        a, body, rates = self.a, self.tree.bodies[name], self.rates[name]
        mass, inertia = a.lift(body.mass), self._inertia(name)
        arm = a.sub(self.poses[name].position, origin)
        first = a.scale(mass, arm)
        squares = [a.mul(first[i], arm[i]) for i in range(3)]

        def second(i: int, j: int) -> Node:
            if i == j:
                return a.linear([(1, inertia[i][i]), *((1, squares[k]) for k in range(3) if k != i)])
            return a.linear([(1, inertia[i][j]), (-1, a.mul(first[i], arm[j]))])

        entries = [[second(max(i, j), min(i, j)) for j in range(3)] for i in range(3)]
        force = a.scale(mass, a.sub(rates.acceleration, a.vector(self.tree.gravity)))
        own = a.add(a.apply(inertia, rates.spin_change), a.cross(rates.spin, a.apply(inertia, rates.spin)))
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = entries
        return Composite(
            mass, first, ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)), force, a.add(own, a.cross(arm, force))
        )

    def _kinetic(self) -> Node:
        a, terms = self.a, []
        for name, body in self.tree.bodies.items():
            rates = self.rates[name]
            terms.append((0.5, a.mul(a.lift(body.mass), a.dot(rates.velocity, rates.velocity))))
            terms.append((0.5, a.dot(rates.spin, a.apply(self._inertia(name), rates.spin))))
        for q, inertia in self.tree.armatures:
            rate = a.lift(q.velocity)
            terms.append((0.5, a.mul(a.lift(inertia), a.mul(rate, rate))))
        return a.graph.linear(terms)

    def _complete(
        self,
        mass: dict[tuple[int, int], Node],
        force: list[Node],
        composites: Mapping[str, Composite],
        origins: Mapping[str, Vector],
    ) -> None:
        """Add c e e^T to the mass matrix of each quaternion, and what belongs to it to the forces."""
        a, g = self.a, self.a.graph
        places = {q: i for i, q in enumerate(self.tree.coordinates)}
        for frame in self.frames:
            named = frame.joint.quaternion
            if not named:
                continue
            whole = composites[frame.joint.second]
            arm = a.sub(frame.pivot, origins[frame.joint.second])
            # The trace of the second moments about the pivot: tr I - 4 h . s + 2 m s . s, with s its place from O.
            size = g.linear(
                [
                    *((1.0, whole.second[i][i]) for i in range(3)),
                    (-4.0, a.dot(whole.first, arm)),
                    (2.0, a.mul(whole.mass, a.dot(arm, arm))),
                ]
            )
            e, rates = [a.lift(q) for q in named], [a.lift(q.velocity) for q in named]
            square = g.linear([(1.0, a.mul(rate, rate)) for rate in rates])
            for i, first in zip(named, e, strict=True):
                scaled = a.mul(size, first)
                force[places[i]] = g.sub(force[places[i]], a.mul(scaled, square))
                for j, second in zip(named, e, strict=True):
                    at = places[i], places[j]
                    if at[0] >= at[1]:
                        mass[at] = g.add(mass.get(at, g.zero), a.mul(scaled, second))


def pose_of(tree: Tree, body: str, a: Algebra) -> Pose:
    """Return where a body is: its centre of mass, and its axes as columns."""
    poses, _ = tree.walk(a)
    return Pose(poses[body].position, tree.axes(body, a, poses))
