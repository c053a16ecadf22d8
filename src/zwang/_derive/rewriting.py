"""Graphs rewritten: inputs replaced by other nodes, and choices frozen so that what is left is smooth.

A force with `Max`, `Abs`, `Piecewise`, `sign` or `Heaviside` is smooth on either side of its switching surfaces. For a
method of high order to keep its order, no step may see both sides. So each choice that depends on the state or on time
becomes a choice by a *side*, a number +1 or -1 that is an input like a parameter: the side of the surface on which the
motion is. Beyond the surface the frozen branch is continued smoothly, so a step may reach across, the crossing is
located, and the motion goes on from it with the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zwang._derive.program import Program, Row
from zwang._graph.graph import Graph, Node

SWITCHES = {"abs", "sign", "step", "min", "max", "lt", "le"}


def rebuilt(g: Graph, node: Node, known: Mapping[Node, Node]) -> Node:
    """Return the node made again from arguments replaced by what is known for them."""
    op, args = g.ops[node], g.args[node]
    if op in ("const", "input"):
        return node
    if op == "sum":
        return g.linear(((c, known.get(item, item)) for c, item in args[1]), args[0])
    new = [known.get(item, item) for item in args]
    if new == list(args):
        return node
    makers: dict[str, Callable[..., Node]] = {
        "mul": g.mul,
        "div": g.div,
        "pow": g.pow,
        "atan2": g.atan2,
        "min": g.least,
        "max": g.greatest,
        "where": g.where,
    }
    if op in makers:
        return makers[op](*new)
    if op in ("lt", "le", "eq", "and", "or", "not"):
        return g.condition(op, *new)
    return g.call(op, new[0])


def substitute(g: Graph, outputs: Sequence[Node], replaced: Mapping[Node, Node]) -> list[Node]:
    """Return the outputs with some nodes (inputs, as a rule) replaced by others."""
    known = dict(replaced)
    for node in sorted(g.dependent(outputs, replaced)):
        if node not in known:
            known[node] = rebuilt(g, node, known)
    return [known.get(node, node) for node in outputs]


@dataclass(frozen=True)
class FrozenProgram:
    """A program without choices that depend on state or time, and the surfaces at which they were made.

    Attributes
    ----------
    program : Program
        Its last parameters, one for each surface, are the sides, +1 or -1.
    surfaces : list of Node
        What changes its sign at each surface.
    """

    program: Program
    surfaces: list[Node]

    def copy(self) -> FrozenProgram:
        """Return it with a graph of its own; see `Program.copy`."""
        return replace(self, program=self.program.copy())


def freeze(program: Program) -> FrozenProgram:
    """Return the program with its choices frozen; the energies stay as they are."""
    freezer = _Freezer(program)
    rows = [*program.normals, *program.slips]
    nodes = [*program.mass.values(), *program.force, *program.bounds]
    nodes += [node for row in rows for node in (row.value, row.rate, row.bias, *row.entries.values())]
    known = freezer.run(nodes)

    def new(node: Node) -> Node:
        return known.get(node, node)

    def row(item: Row) -> Row:
        entries = {i: new(node) for i, node in item.entries.items()}
        return Row(new(item.value), new(item.rate), new(item.bias), entries)

    frozen = replace(
        program,
        params=[*program.params, *freezer.sides],
        mass={place: new(node) for place, node in program.mass.items()},
        force=[new(node) for node in program.force],
        normals=[row(item) for item in program.normals],
        slips=[row(item) for item in program.slips],
        bounds=[new(node) for node in program.bounds],
    )
    return FrozenProgram(frozen, freezer.surfaces)


class _Freezer:
    def __init__(self, program: Program) -> None:
        self.g = program.graph
        self.moving = [program.t, *program.q, *program.v]
        self.surfaces: list[Node] = []
        self.sides: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def run(self, nodes: Iterable[Node]) -> dict[Node, Node]:
        """Return node -> frozen node for all that changes."""
        g = self.g
        known: dict[Node, Node] = {}
        for node in sorted(g.dependent(list(nodes), self.moving)):
            if g.ops[node] in SWITCHES:
                known[node] = self._switch(node, known)
            elif any(item in known for item in g.arguments(node)):
                known[node] = rebuilt(g, node, known)
        return known

    def _switch(self, node: Node, known: Mapping[Node, Node]) -> Node:
        g, op = self.g, self.g.ops[node]
        args: list[Any] = [known.get(item, item) for item in g.args[node]]
        if op in ("abs", "sign", "step"):
            side = self._side(args[0])
            if op == "abs":
                return g.mul(side, args[0])
            return side if op == "sign" else g.linear([(0.5, side)], 0.5)
        a, b = args
        side = self._side(g.sub(b, a) if op in ("lt", "le", "min") else g.sub(a, b))
        holds = g.condition("lt", g.zero, side)
        return holds if op in ("lt", "le") else g.where(holds, a, b)

    def _side(self, surface: Node) -> Node:
        """Return the side of a surface; the same surface, or its negative, has the same side."""
        g = self.g
        opposite = g.neg(surface)
        for node, sign in ((surface, 1.0), (opposite, -1.0)):
            if node in self._numbers:
                return g.scale(sign, self.sides[self._numbers[node]])
        if g.value(surface) is not None:
            return g.const(1.0 if (g.value(surface) or 0.0) >= 0.0 else -1.0)
        self._numbers[surface] = len(self.sides)
        self.sides.append(g.input(f"side{len(self.sides)}"))
        self.surfaces.append(surface)
        return self.sides[-1]
