"""The source of a loop over the instances of one kind: gather, compute, scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zwang._declare.symbols import t as time
from zwang._derive.kinds import Kind
from zwang._derive.program import lagrangian, position_row, velocity_row
from zwang._graph.convert import Converter
from zwang._graph.emit import SCALAR, Emitter
from zwang._graph.graph import Graph, Node


@dataclass(frozen=True)
class KindLoop:
    """A kind ready to be written and laid out.

    Attributes
    ----------
    source : str
        The lines of its loop, indented for the body of the function `fill`.
    mass : list of (slot, slot)
        Which entries of M an instance contributes, in the order of its values.
    row : list of slots
        Which entries of J an instance fills, in the order of its values.
    """

    kind: Kind
    source: str
    mass: list[tuple[int, int]]
    row: list[int]

    @property
    def stride(self) -> int:
        """Integers of an instance in the table: coordinates, parameters, target, target among the active ones."""
        return len(self.kind.coordinates[0]) + len(self.kind.parameters[0]) + 2


class _LocalGraph:
    """The graph of one kind, its inputs being the slots."""

    def __init__(self, kind: Kind) -> None:
        self.graph = Graph()
        slots = range(len(kind.coordinates[0]))
        self.t = self.graph.input("t")
        self.q = [self.graph.input(f"q{i}") for i in slots]
        self.v = [self.graph.input(f"v{i}") for i in slots]
        self.names: dict[Node, str] = {self.t: "t"}
        self.names |= {node: f"q{i}" for i, node in enumerate(self.q)}
        self.names |= {node: f"v{i}" for i, node in enumerate(self.v)}
        symbols: dict[Any, Node] = {time: self.t}
        for symbol, (letter, slot) in kind.symbols.items():
            node = self.graph.input(f"{letter}{slot}")
            self.names[node] = f"{letter}{slot}"
            symbols[symbol] = node
        self.value = Converter(self.graph, symbols)(kind.expr)
        self.flow = {**dict(zip(self.q, self.v, strict=True)), self.t: self.graph.one}


def kind_loop(kind: Kind, number: int) -> KindLoop:
    """Return the loop of a kind; `number` is its place among the kinds."""
    local = _LocalGraph(kind)
    if kind.role in ("kinetic", "potential"):
        return _energy_loop(kind, number, local)
    if kind.role == "force":
        at = len(kind.coordinates[0]) + len(kind.parameters[0])
        stores = [(f"force[rows[i, {at}]] +=", local.value)]
        return KindLoop(kind, _loop(kind, number, local, stores), [], [])
    if kind.role == "bound":
        at = len(kind.coordinates[0]) + len(kind.parameters[0])
        return KindLoop(kind, _loop(kind, number, local, [(f"value[rows[i, {at}]] =", local.value)]), [], [])
    return _constraint_loop(kind, number, local)


def _energy_loop(kind: Kind, number: int, local: _LocalGraph) -> KindLoop:
    g = local.graph
    kinetic, potential = (local.value, g.zero) if kind.role == "kinetic" else (g.zero, local.value)
    mass, force = lagrangian(g, kinetic, potential, local.q, local.v, local.flow)
    stores = [(f"mass[mass_at + {len(mass)} * i + {e}] =", node) for e, node in enumerate(mass.values())]
    stores += [(f"force[a{slot}] +=", node) for slot, node in enumerate(force) if node != g.zero]
    stores.append((f"energy[{0 if kind.role == 'kinetic' else 1}] +=", local.value))
    return KindLoop(kind, _loop(kind, number, local, stores), list(mass), [])


def _constraint_loop(kind: Kind, number: int, local: _LocalGraph) -> KindLoop:
    g = local.graph
    row = position_row(local.value, g, local.q, local.flow) if kind.role == "position" else None
    row = row or velocity_row(local.value, g, local.v, local.flow)
    stores = [(f"jac[jac_at + {len(row.entries)} * i + {e}] =", node) for e, node in enumerate(row.entries.values())]
    at = len(kind.coordinates[0]) + len(kind.parameters[0])
    stores += [
        (f"value[rows[i, {at}]] =", row.value),
        (f"rate[rows[i, {at}]] =", row.rate),
        (f"gamma[rows[i, {at}]] =", row.bias),
    ]
    if kind.active:
        stores.append((f"needed[rows[i, {at + 1}]] =", row.bias))
    return KindLoop(kind, _loop(kind, number, local, stores), [], list(row.entries))


def _loop(kind: Kind, number: int, local: _LocalGraph, stores: list[tuple[str, Node]]) -> str:
    """Return the lines that gather the inputs of each instance, compute and store."""
    g = local.graph
    slots, params = len(kind.coordinates[0]), len(kind.parameters[0])
    reachable = set(g.reachable(node for _, node in stores))
    wanted = [name for node, name in local.names.items() if node in reachable and name != "t"]
    stored = {text.split("[a")[1].split("]")[0] for text, _ in stores if "[a" in text}
    needed = sorted({int(name[1:]) for name in wanted if name[0] in "qv"} | {int(item) for item in stored})
    body = [f"a{slot} = rows[i, {slot}]" for slot in needed]
    for name in wanted:
        kindly = {"q": f"q[a{name[1:]}]", "v": f"v[a{name[1:]}]"}
        if name[0] == "p":
            kindly["p"] = f"params[rows[i, {slots + int(name[1:])}]]"
        if name[0] == "c":
            kindly["c"] = f"work[constants + {len(kind.constants[0])} * i + {name[1:]}]"
        body.append(f"{name} = {kindly[name[0]]}")
    emitter = Emitter(g, SCALAR, local.names)
    body += emitter.lines([node for _, node in stores])
    body += [f"{text} {emitter[node]}" for text, node in stores]
    stride = slots + params + 2
    head = [
        f"# kind {number}: {kind.role}",
        f"count, start = table[head + {HEAD + FIELDS * number}], table[head + {HEAD + FIELDS * number + 1}]",
        f"mass_at, jac_at = table[head + {HEAD + FIELDS * number + 2}], table[head + {HEAD + FIELDS * number + 3}]",
        f"constants = table[head + {HEAD + FIELDS * number + 4}]",
        f"rows = index[start : start + count * {stride}].reshape((count, {stride}))",
        "for i in range(count):",
        *(f"    {line}" for line in body),
    ]
    return "".join(f"    {line}\n" for line in head)


HEAD = 12  # places of a table before those of the kinds
FIELDS = 5  # places for each kind: count, start, where its mass, rows and numbers stand
