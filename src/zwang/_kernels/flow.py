"""The smooth flow of a system with forces that are stiff or fast, as kernels: right side, Jacobian, switching surfaces.

All of the ABI eval(t, q, v, params, int_table, workspace, out) -> status, 0 where all pivots are sound.

- `rhs`: a (n), then the measures that were asked for.
- `jacobian`: da/dq (n, n), then da/dv (n, n), by derivatives of the graph.
- `surfaces`: for each comparison in a piecewise force, how far it is from changing: left minus right.

Each comes in two forms. Live, a comparison is decided at the state. Held, it is read from int_table (0 or 1), so that
the flow goes on smoothly across the surface and an integrator can find where it crosses; a kink inside a step would
cost the order of any method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.program import Program, derive_program
from zwang._derive.solution import solve
from zwang._graph.convert import Converter
from zwang._graph.emit import SCALAR, Emitter
from zwang._graph.graph import CONDITIONS, Graph, Node
from zwang._numerics.jit import load_generated

Array = NDArray[np.float64]
LARGEST = 16
"""Coordinates up to which the unrolled solution and its Jacobian are compiled in reasonable time."""

COMPARISONS = ("lt", "le")


class _HeldEmitter(Emitter):
    """Writes choices by the sides in the table of integers instead of by the state."""

    def __init__(self, graph: Graph, inputs: Mapping[Node, str], held: Mapping[Node, int]) -> None:
        super().__init__(graph, SCALAR, {**inputs, **{node: f"(int_table[{k}] != 0)" for node, k in held.items()}})
        self.held = held

    def _expression(self, node: Node) -> str:
        op = self.graph.ops[node]
        if op in ("min", "max"):
            condition, a, b = self.graph._choice(node)
            if condition in self.held:
                return f"({self[a]} if {self.names[condition]} else {self[b]})"
        return super()._expression(node)


@dataclass(frozen=True)
class Flow:
    """Kernels of the smooth flow of one system; made by `flow`.

    Attributes
    ----------
    n : int
        Number of coordinates.
    measures : tuple of str
        Names of what `rhs` returns after the accelerations.
    sides : int
        Number of comparisons, hence of switching surfaces.
    """

    program: Program
    accelerations: Sequence[Node]
    regular: Node
    measure_nodes: Sequence[Node]
    measures: tuple[str, ...]
    surfaces: Mapping[Node, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.program.q)

    @property
    def sides(self) -> int:
        """Number of switching surfaces."""
        return len(self.surfaces)

    @cached_property
    def module(self) -> ModuleType:
        """The generated module with its kernels."""
        return load_generated(_source(self), "flow")

    def workspace(self, params: Array) -> Array:
        """Return what depends on the parameters alone."""
        out = np.zeros(self.module.WORKSPACE)
        self.module.prepare(np.ascontiguousarray(params, dtype=float), out)
        return out

    def sides_at(self, t: float, q: Array, v: Array, params: Array, workspace: Array) -> NDArray[np.int64]:
        """Return the comparisons as they stand at a state, 1 where they hold."""
        out = np.zeros(max(self.sides, 1))
        self.module.surfaces(t, q, v, params, np.zeros(max(self.sides, 1), dtype=np.int64), workspace, out)
        ops = [self.program.graph.ops[node] for node in self.surfaces]
        held = [float(out[k]) < 0 or (op == "le" and out[k] == 0) for k, op in enumerate(ops)]
        return np.array(held or [0], dtype=np.int64)


def compilable(system: System) -> bool:
    """Say whether the flow of a system is smooth but for comparisons in its forces: no friction, nothing one-sided."""
    return len(system.coordinates) <= LARGEST and all(isinstance(item, Bilateral) for item in system.constraints)


def flow(system: System, measures: Mapping[str, Any] | Callable[[Program, Converter], Mapping[str, Node]]) -> Flow:
    """Return the kernels of the flow of a system whose constraints, if any, are bilateral.

    Parameters
    ----------
    system : System
        See `compilable`.
    measures : mapping of str to expression, or a function of (program, converter) that returns name -> node
        What to compute beside the accelerations.
    """
    program = derive_program(system)
    symbols: dict[Any, Node] = {time: program.t}
    symbols |= dict(zip(system.coordinates, program.q, strict=True))
    symbols |= dict(zip(system.velocities, program.v, strict=True))
    symbols |= dict(zip(system.parameters, program.params, strict=True))
    convert = Converter(program.graph, symbols)
    made = measures(program, convert) if callable(measures) else {name: convert(e) for name, e in measures.items()}
    held = [k for k, item in enumerate(_normals(system)) if isinstance(item, Bilateral)]
    found = solve(program, held)
    nodes = list(made.values())
    surfaces = _comparisons(program, [*found.accelerations, *nodes])
    return Flow(program, found.accelerations, found.regular, nodes, tuple(made), surfaces)


def _normals(system: System) -> list[Any]:
    return [item for item in system.constraints if not isinstance(item, Friction)]


def _comparisons(program: Program, outputs: Sequence[Node]) -> dict[Node, int]:
    """Return the comparisons that depend on the state, numbered; those of smaller and larger of two included."""
    g = program.graph
    found: dict[Node, None] = {}
    for node in g.reachable(outputs):
        if g.ops[node] in ("min", "max"):
            found.setdefault(g._choice(node)[0])
        elif g.ops[node] in COMPARISONS:
            found.setdefault(node)
    state = [program.t, *program.q, *program.v]
    moving = g.dependent(list(found), state)
    return {node: k for k, node in enumerate(node for node in found if node in moving)}


def _source(made: Flow) -> str:
    program, g = made.program, made.program.graph
    n = made.n
    rhs = [*made.accelerations, *made.measure_nodes]
    columns = [g.forward(made.accelerations, {item: g.one}) for item in (*program.q, *program.v)]
    jacobian = [columns[j][i] for block in (0, n) for i in range(n) for j in range(block, block + n)]
    gaps = [g.sub(*g.args[node]) for node in made.surfaces]
    prepared = _prepared(program, [*rhs, *jacobian, *gaps, made.regular])
    text = '"""Generated by zwang: a flow."""\nimport math\n\n'
    text += "from zwang._numerics.jit import EVAL_SIGNATURE, njit\n\n"
    text += f"WORKSPACE = {max(len(prepared), 1)}\n"
    text += _prepare(program, prepared)
    # The pivots are compared live too: whether rows are dependent is no branch of the force.
    text += _kernel("rhs", made, prepared, rhs, {})
    text += _kernel("jacobian", made, prepared, jacobian, {})
    text += _kernel("surfaces", made, prepared, gaps, made.surfaces)
    if not made.surfaces:
        return text + "\n\nheld_rhs, held_jacobian = rhs, jacobian\n"
    text += _kernel("held_rhs", made, prepared, rhs, made.surfaces)
    return text + _kernel("held_jacobian", made, prepared, jacobian, made.surfaces)


def _inputs(program: Program) -> dict[Node, str]:
    names = {program.t: "t"}
    for letter, nodes in (("q", program.q), ("v", program.v), ("params", program.params)):
        names |= {node: f"{letter}[{i}]" for i, node in enumerate(nodes)}
    return names


def _prepared(program: Program, outputs: Iterable[Node]) -> list[Node]:
    """Return the nodes that depend on parameters alone and that something else needs."""
    g = program.graph
    wanted = list(outputs)
    reachable = g.reachable(wanted)
    moving = g.dependent(wanted, [program.t, *program.q, *program.v])
    fixed = {node for node in reachable if node not in moving and g.ops[node] not in ("const", "input", *CONDITIONS)}
    needed = {item for node in reachable if node in moving for item in g.arguments(node)} | set(wanted)
    return sorted(fixed & needed)


def _prepare(program: Program, prepared: Sequence[Node]) -> str:
    emitter = Emitter(program.graph, SCALAR, _inputs(program))
    lines = emitter.lines(prepared)
    lines += [f"workspace[{k}] = {emitter[node]}" for k, node in enumerate(prepared)] or ["pass"]
    head = '\n\n@njit("void(float64[::1], float64[::1])", fastmath={"contract"})\ndef prepare(params, workspace):\n'
    return head + "".join(f"    {line}\n" for line in lines)


def _kernel(name: str, made: Flow, prepared: Sequence[Node], outputs: Sequence[Node], held: Mapping[Node, int]) -> str:
    program = made.program
    inputs = _inputs(program) | {node: f"workspace[{k}]" for k, node in enumerate(prepared)}
    emitter = _HeldEmitter(program.graph, inputs, held)
    lines = emitter.lines([*outputs, made.regular])
    lines += [f"out[{k}] = {emitter[node]}" for k, node in enumerate(outputs)]
    lines.append(f"return 0 if {emitter[made.regular]} else 1")
    head = '\n\n@njit(EVAL_SIGNATURE, fastmath={"contract"})\n'
    head += f"def {name}(t, q, v, params, int_table, workspace, out):\n"
    return head + "".join(f"    {line}\n" for line in lines)
