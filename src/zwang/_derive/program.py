"""System -> Program: everything a kernel computes, as one graph.

M(q) a = Q + sum_j lam_j w_j + sum_j (d slip_j/dv)^T T_j. With T the kinetic energy, p = dT/dv:
M = dp/dv, and Q = forces - dV/dq + dT/dq - (dp/dq v + dp/dt), the last bracket being one derivative of p along (v, 1).
For a position-level constraint f: rate = f_q v + f_t, gamma = -(the derivative of rate along (v, 1) with v held), row
w = f_q; for one on velocities gamma = -(its derivative along (v, 1)), w = f_v. No Hessian is ever formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zwang._declare.constraints import Friction
from zwang._declare.friction_forms import friction_bounds, slip_axes
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.supported import weights_of
from zwang._derive.tree_recursion import tree_equations, with_dependents
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node


@dataclass(frozen=True)
class Row:
    """A constraint or a slip at a state: its value, its rate, its row and what the row times a must be."""

    value: Node
    rate: Node
    bias: Node
    entries: dict[int, Node]


@dataclass(frozen=True)
class Program:
    """What a system computes, as nodes of one graph; the inputs are t, q, v, params in this order.

    Attributes
    ----------
    mass : dict (i, j) -> Node, i >= j
        The nonzero entries of the lower triangle of M.
    force : list of Node
        Q.
    normals : list of Row
        One for each constraint that has a normal, in the order of declaration.
    slips : list of Row
        One for each component of each slip, as solvers see it (`friction_forms`); `value` is the slip, `bias` is
        tangent_bias.
    bounds : list of Node
        For each constraint with friction its size: mu * scale (Coulomb), or the bound itself (Friction); after them
        what else laws need (`friction_forms.law_rows`).
    energies : kinetic and potential energy; zero where a system is declared by mass and force.
    """

    graph: Graph
    t: Node
    q: list[Node]
    v: list[Node]
    params: list[Node]
    mass: dict[tuple[int, int], Node]
    force: list[Node]
    normals: list[Row]
    slips: list[Row]
    bounds: list[Node]
    energies: tuple[Node, Node]

    @property
    def inputs(self) -> list[Node]:
        """t, q, v and the parameters, in this order."""
        return [self.t, *self.q, *self.v, *self.params]

    def symbols(self, system: System) -> dict[Any, Node]:
        """Return the symbols of its system -> their nodes, for a `Converter`."""
        named = [time, *system.coordinates, *system.velocities, *system.parameters]
        found = dict(zip(named, self.inputs, strict=False))  # a frozen program has sides behind its parameters
        return with_dependents(system, self.graph, found)

    def copy(self) -> Program:
        """Return the program with a graph of its own.

        Sums and products have their parts in the order of the nodes: what is made of a copy is the same, to the last
        bit, whatever else was asked of the program before.
        """
        return replace(self, graph=self.graph.copy())


def derive_program(system: System, *, exact: bool = False) -> Program:
    """Return the graph of everything that a system computes; an exact one keeps rationals and pi as they are."""
    graph = Graph(exact=exact)
    t = graph.input("t")
    q = [graph.input(f"q{i}") for i in range(len(system.coordinates))]
    v = [graph.input(f"v{i}") for i in range(len(system.coordinates))]
    params = [graph.input(f"p{i}") for i in range(len(system.parameters))]
    symbols: dict[Any, Node] = {time: t}
    symbols |= dict(zip(system.coordinates, q, strict=True))
    symbols |= dict(zip(system.velocities, v, strict=True))
    symbols |= dict(zip(system.parameters, params, strict=True))
    convert = Converter(graph, with_dependents(system, graph, symbols, occurring=True))
    flow = {**dict(zip(q, v, strict=True)), t: graph.one}
    mass, force, energies = _equations(system, convert, q, v, flow)
    normals = [
        _constraint_row(item, convert, q, v, flow) for item in system.constraints if not isinstance(item, Friction)
    ]
    mass, force = _with_support(system, graph, mass, force, normals)
    slips = [velocity_row(convert(slip), convert.graph, v, flow) for item in system.constraints for slip in item.slip]
    slips = [
        row if axis == 1 else _scaled_row(graph, convert(axis), row)
        for row, axis in zip(slips, slip_axes(system), strict=True)
    ]
    bounds = [convert(bound) for bound in friction_bounds(system)]
    return Program(graph, t, q, v, params, mass, force, normals, slips, bounds, energies)


def _with_support(
    system: System, g: Graph, mass: dict[tuple[int, int], Node], force: list[Node], normals: Sequence[Row]
) -> tuple[dict[tuple[int, int], Node], list[Node]]:
    """Return M + W^T D W and Q + W^T D gamma where a system's rows complete its masses."""
    for weight, row in zip(weights_of(system), normals, strict=False):
        if not weight:
            continue
        for i, first in row.entries.items():
            scaled = g.scale(weight, first)
            force[i] = g.add(force[i], g.mul(scaled, row.bias))
            for j, second in row.entries.items():
                if i >= j:
                    mass[i, j] = g.add(mass.get((i, j), g.zero), g.mul(scaled, second))
    return mass, force


def _equations(
    system: System, convert: Converter, q: Sequence[Node], v: Sequence[Node], flow: dict[Node, Node]
) -> tuple[dict[tuple[int, int], Node], list[Node], tuple[Node, Node]]:
    g = convert.graph
    applied = [convert(system.forces[key]) if key in system.forces else g.zero for key in system.coordinates]
    n = len(q)
    if system.mass is not None:
        entries = {(i, j): convert(system.mass[i, j]) for i in range(n) for j in range(i + 1)}
        mass = {place: node for place, node in entries.items() if node != g.zero}
        return mass, [g.add(convert(system.force[i]), applied[i]) for i in range(n)], (g.zero, g.zero)
    if system.tree is not None:
        return _of_tree(system, convert, q, v, applied)
    kinetic, potential = convert(system.kinetic), convert(system.potential)
    mass, force = lagrangian(g, kinetic, potential, q, v, flow)
    return mass, [g.add(force[i], applied[i]) for i in range(n)], (kinetic, potential)


def _of_tree(
    system: System, convert: Converter, q: Sequence[Node], v: Sequence[Node], applied: Sequence[Node]
) -> tuple[dict[tuple[int, int], Node], list[Node], tuple[Node, Node]]:
    """Return the equations of a tree of bodies with its loads, forces and further energy."""
    g, tree = convert.graph, system.tree
    assert tree is not None
    found = tree_equations(tree, convert)
    added = convert(system.added_potential)
    terms: list[list[tuple[float, Node]]] = [[(1.0, a), (1.0, b)] for a, b in zip(found.force, applied, strict=True)]
    for i, node in enumerate(g.gradient(added, q)):
        terms[i].append((-1.0, node))
    for load in tree.loads:
        for force, along in load.pairs:
            push = convert(force)
            for i, node in enumerate(g.gradient(convert(along), v)):
                terms[i].append((1.0, g.mul(push, node)))
    return found.mass, [g.linear(items) for items in terms], (found.kinetic, g.add(found.weight, added))


def lagrangian(
    g: Graph, kinetic: Node, potential: Node, q: Sequence[Node], v: Sequence[Node], flow: dict[Node, Node]
) -> tuple[dict[tuple[int, int], Node], list[Node]]:
    """Return the lower triangle of M and the forces of Lagrange's equations."""
    momenta = g.gradient(kinetic, v)
    mass: dict[tuple[int, int], Node] = {}
    for j, velocity in enumerate(v):
        for i, node in enumerate(g.forward(momenta, {velocity: g.one})):
            if i >= j and node != g.zero:
                mass[i, j] = node
    drift = g.forward(momenta, flow)
    push = g.gradient(kinetic, q)
    pull = g.gradient(potential, q)
    return mass, [g.linear(((1.0, push[i]), (-1.0, drift[i]), (-1.0, pull[i]))) for i in range(len(q))]


def _constraint_row(item: Any, convert: Converter, q: Sequence[Node], v: Sequence[Node], flow: dict[Node, Node]) -> Row:
    node = convert(item.expr)
    if item.level == "velocity":
        return velocity_row(node, convert.graph, v, flow)
    return position_row(node, convert.graph, q, flow)


def position_row(node: Node, g: Graph, q: Sequence[Node], flow: dict[Node, Node]) -> Row:
    """Return value, rate, gamma and row of a constraint on positions."""
    rate = g.forward([node], flow)[0]
    # v is held: the flow has no entry for it, so only the explicit dependence on q and t is differentiated again.
    bias = g.neg(g.forward([rate], flow)[0])
    return Row(node, rate, bias, _nonzero(g, g.gradient(node, q)))


def velocity_row(node: Node, g: Graph, v: Sequence[Node], flow: dict[Node, Node]) -> Row:
    """Return a row for an expression affine in the velocities; its rate without a is minus the bias."""
    change = g.forward([node], flow)[0]
    return Row(node, change, g.neg(change), _nonzero(g, g.gradient(node, v)))


def _scaled_row(g: Graph, axis: Node, row: Row) -> Row:
    """Return a slip times an axis of its section; that the axis changes matters at rest alone, where the slip is 0."""
    entries = {i: g.mul(axis, entry) for i, entry in row.entries.items()}
    return Row(g.mul(axis, row.value), g.mul(axis, row.rate), g.mul(axis, row.bias), entries)


def _nonzero(g: Graph, nodes: Sequence[Node]) -> dict[int, Node]:
    return {i: node for i, node in enumerate(nodes) if node != g.zero}
