"""Graphs rewritten: inputs replaced by other nodes, and choices frozen so that what is left is smooth.

A force with `Max`, `Abs`, `Piecewise`, `sign` or `Heaviside` is smooth on either side of its switching surfaces. For a
method of high order to keep its order, no step may see both sides. So each choice that depends on the state or on time
becomes a choice by a *side*, a number +1 or -1 that is an input like a parameter: the side of the surface on which the
motion is. Beyond the surface the frozen branch is continued smoothly, so a step may reach across, the crossing is
located, and the motion goes on from it with the other side.

Of a surface only the sign counts: what is continuous in it (`Max`, `Min`, `Abs`) is left as it is, and a truth made of
several relations is one surface, positive where it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zwang._derive.program import Program, Row
from zwang._graph.graph import Graph, Node

CONTINUOUS = ("abs", "min", "max")
JUMPS = ("sign", "step", "lt", "le")
TRUTHS = ("and", "or", "not")


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
    whole : Program
        The same with its choices as they are, in the same graph.
    """

    program: Program
    surfaces: list[Node]
    whole: Program

    def copy(self) -> FrozenProgram:
        """Return it with a graph of its own; see `Program.copy`."""
        program = self.program.copy()
        return replace(self, program=program, whole=replace(self.whole, graph=program.graph))

    @property
    def sides(self) -> tuple[Node, ...]:
        """The sides of the surfaces."""
        params = self.program.params
        return tuple(params[len(params) - len(self.surfaces) :])

    def open_value(self, normal: int, guarded: bool) -> Node:
        """Return the value of a constraint that is open, with its choices as they are.

        Where it exists in places only, that is a surface all the same: what touches there may begin without a gap.
        Elsewhere it is 1, whatever its expression does there.
        """
        g, plain = self.program.graph, self.whole.normals[normal].value
        frozen = self.program.normals[normal].value
        if not guarded or g.ops[plain] != "where" or g.ops[frozen] != "where":
            return plain
        return g.where(g.args[frozen][0], g.args[plain][1], g.one)

    def within(self, nodes: Iterable[Node]) -> FrozenProgram:
        """Return it with those sides only that nodes depend on, and the surfaces of these in their turn."""
        g, sides = self.program.graph, self.sides
        numbers = {side: k for k, side in enumerate(sides)}
        found: set[int] = set()
        asked = list(nodes)
        while asked and len(found) < len(sides):
            new = {numbers[node] for node in g.reachable(asked) if node in numbers} - found
            found |= new
            asked = [self.surfaces[k] for k in sorted(new)]
        kept = sorted(found)
        base = self.program.params[: len(self.program.params) - len(sides)]
        program = replace(self.program, params=[*base, *(sides[k] for k in kept)])
        return replace(self, program=program, surfaces=[self.surfaces[k] for k in kept])


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
    return FrozenProgram(frozen, freezer.surfaces, program)


class _Freezer:
    """Nodes in two forms: frozen, and *loose*, as they stand in surfaces, with what is continuous left as it is."""

    def __init__(self, program: Program) -> None:
        self.g = program.graph
        self.moving = [program.t, *program.q, *program.v]
        self.surfaces: list[Node] = []
        self.sides: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def run(self, nodes: Iterable[Node]) -> dict[Node, Node]:
        """Return node -> frozen node for all that changes."""
        g, outputs = self.g, list(nodes)
        asked = self._asked(outputs, g.dependent(outputs, self.moving))
        frozen: dict[Node, Node] = {}
        loose: dict[Node, Node] = {}
        for node in sorted(asked[False] | asked[True]):
            op = g.ops[node]
            if op in JUMPS or (op in TRUTHS and self._margin(node) is not None):
                frozen[node] = loose[node] = self._jump(node, loose)
                continue
            if node in asked[False] and op in CONTINUOUS:
                frozen[node] = self._bend(node, frozen, loose)
            elif node in asked[False] and any(item in frozen for item in g.arguments(node)):
                frozen[node] = rebuilt(g, node, frozen)
            if node in asked[True] and any(item in loose for item in g.arguments(node)):
                loose[node] = rebuilt(g, node, loose)
        return frozen

    def _asked(self, outputs: Sequence[Node], moving: set[Node]) -> dict[bool, set[Node]]:
        """Return which nodes that depend on the state are needed frozen (False), and which loose (True)."""
        g = self.g
        found: dict[bool, set[Node]] = {False: set(), True: set()}
        stack = [(node, False) for node in outputs]
        while stack:
            node, loose = stack.pop()
            if node not in moving or node in found[loose]:
                continue
            found[loose].add(node)
            op, args = g.ops[node], g.arguments(node)
            if op in TRUTHS and self._margin(node) is not None:
                continue
            if op in JUMPS or op in CONTINUOUS:
                stack += [(item, True) for item in args]
            if op not in JUMPS and (op not in CONTINUOUS or not loose):
                stack += [(item, loose) for item in args]
        return found

    def _jump(self, node: Node, loose: Mapping[Node, Node]) -> Node:
        """Return a truth, a sign or a step by the side of its surface."""
        g, op = self.g, self.g.ops[node]
        if op in TRUTHS:
            margin = self._margin(node)
            assert margin is not None
            return g.condition("lt", g.zero, self._side(margin))
        args: list[Any] = [loose.get(item, item) for item in g.args[node]]
        if op in ("lt", "le"):
            return g.condition("lt", g.zero, self._side(g.sub(args[1], args[0])))
        side = self._side(args[0])
        return side if op == "sign" else g.linear([(0.5, side)], 0.5)

    def _bend(self, node: Node, frozen: Mapping[Node, Node], loose: Mapping[Node, Node]) -> Node:
        """Return a size, or the smaller or larger of two, by the side of its surface."""
        g, op = self.g, self.g.ops[node]
        values = [frozen.get(item, item) for item in g.args[node]]
        seen = [loose.get(item, item) for item in g.args[node]]
        if op == "abs":
            return g.mul(self._side(seen[0]), values[0])
        side = self._side(g.sub(seen[1], seen[0]) if op == "min" else g.sub(seen[0], seen[1]))
        return g.where(g.condition("lt", g.zero, side), *values)

    def _margin(self, node: Node) -> Node | None:
        """Return what is positive where a truth holds and negative where it doesn't; None where an equality decides."""
        g, op, args = self.g, self.g.ops[node], self.g.args[node]
        if op in ("lt", "le"):
            return g.sub(args[1], args[0])
        if op not in TRUTHS:
            return None
        margins = [self._margin(item) for item in args]
        if any(item is None for item in margins):
            return None
        given = [item for item in margins if item is not None]
        if op == "not":
            return g.neg(given[0])
        join = g.least if op == "and" else g.greatest
        found = given[0]
        for item in given[1:]:
            found = join(found, item)
        return found

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
