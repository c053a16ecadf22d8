"""The smooth flow of a system with forces that are stiff or fast: right side, Jacobian, switching surfaces.

- `rhs`: a (n), then the measures that were asked for.
- `jacobian`: da/dq (n, n), then da/dv (n, n), by derivatives of the graph.
- `surfaces`: for each comparison in a piecewise force, how far it is from changing: left minus right.

Each comes in two forms. Live, a comparison is decided at the state. Held, it is read from int_table (0 or 1), so that
the flow goes on smoothly across the surface and an integrator can find where it crosses; a kink inside a step would
cost the order of any method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._derive.program import Program
from zwang._derive.rewriting import rebuilt
from zwang._derive.solution import solve
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node
from zwang._kernels.outputs import Array, Dialect, Functions, Ints, Outputs
from zwang._kernels.service import Service

LARGEST = 16
"""Coordinates up to which the unrolled solution and its Jacobian are compiled in reasonable time."""

COMPARISONS = ("lt", "le")


@dataclass(frozen=True)
class FlowKernels:
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

    dialect: Dialect
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
    def live(self) -> Functions:
        """`rhs` and `jacobian`."""
        return self._functions.only(0, 1)

    @cached_property
    def held(self) -> Functions:
        """`rhs`, `jacobian` and `surfaces`, with the comparisons held."""
        return self._functions.only(*((3, 4, 2) if self.surfaces else (0, 1, 2)))

    @cached_property
    def _functions(self) -> Functions:
        return self.dialect.build(self.program, _outputs(self), "flow")

    def workspace(self, params: Array) -> Array:
        """Return what depends on the parameters alone."""
        return self._functions.workspace(np.ascontiguousarray(params, dtype=float))

    def sides_at(self, t: float, q: Array, v: Array, params: Array, workspace: Array) -> Ints:
        """Return the comparisons as they stand at a state, 1 where they hold."""
        out = np.zeros(max(self.sides, 1))
        self.held.calls[2](t, q, v, params, np.zeros(max(self.sides, 1), dtype=np.int64), workspace, out)
        ops = [self.program.graph.ops[node] for node in self.surfaces]
        held = [float(out[k]) < 0 or (op == "le" and out[k] == 0) for k, op in enumerate(ops)]
        return np.array(held or [0], dtype=np.int64)


def compilable(system: System) -> bool:
    """Say whether the flow of a system is smooth but for comparisons in its forces: no friction, nothing one-sided."""
    return len(system.coordinates) <= LARGEST and all(isinstance(item, Bilateral) for item in system.constraints)


def flow(
    service: Service, measures: Mapping[str, Any] | Callable[[Program, Converter], Mapping[str, Node]]
) -> FlowKernels:
    """Return the kernels of the flow of a system whose constraints, if any, are bilateral.

    Parameters
    ----------
    service : Service
        Of a system that is `compilable`.
    measures : mapping of str to expression, or a function of (program, converter) that returns name -> node
        What to compute beside the accelerations.
    """
    system, program = service.system, service.program.copy()
    convert = Converter(program.graph, program.symbols(system))
    made = measures(program, convert) if callable(measures) else {name: convert(e) for name, e in measures.items()}
    held = [k for k, item in enumerate(_normals(system)) if isinstance(item, Bilateral)]
    found = solve(program, held)
    nodes = list(made.values())
    surfaces = _comparisons(program, [*found.accelerations, *nodes])
    return FlowKernels(service.dialect, program, found.accelerations, found.regular, nodes, tuple(made), surfaces)


def _normals(system: System) -> list[Any]:
    return [item for item in system.constraints if not isinstance(item, Friction)]


def _comparisons(program: Program, outputs: Sequence[Node]) -> dict[Node, int]:
    """Return the comparisons that depend on the state, numbered; those of smaller and larger of two included."""
    g = program.graph
    found: dict[Node, None] = {}
    for node in g.reachable(outputs):
        if g.ops[node] in ("min", "max"):
            found.setdefault(g.choice(node)[0])
        elif g.ops[node] in COMPARISONS:
            found.setdefault(node)
    state = [program.t, *program.q, *program.v]
    moving = g.dependent(list(found), state)
    return {node: k for k, node in enumerate(node for node in found if node in moving)}


def _outputs(made: FlowKernels) -> dict[str, Outputs]:
    """Return what the functions of a flow compute: live, then the surfaces, then with the comparisons held."""
    program, g, n = made.program, made.program.graph, made.n
    rhs = [*made.accelerations, *made.measure_nodes]
    columns = [g.forward(made.accelerations, {item: g.one}) for item in (*program.q, *program.v)]
    jacobian = [columns[j][i] for block in (0, n) for i in range(n) for j in range(block, block + n)]
    gaps = [g.sub(*g.args[node]) for node in made.surfaces]
    sides = {node: g.input(f"side{k}") for k, node in enumerate(made.surfaces)}

    def held(nodes: Sequence[Node]) -> Outputs:
        *frozen, sound = _holding(g, [*nodes, made.regular], sides)
        return Outputs(tuple(frozen), sound, held=tuple(sides.values()))

    found = {"rhs": Outputs(tuple(rhs), made.regular), "jacobian": Outputs(tuple(jacobian), made.regular)}
    found["surfaces"] = held(gaps)
    return found | ({"held_rhs": held(rhs), "held_jacobian": held(jacobian)} if sides else {})


def _holding(g: Graph, nodes: Sequence[Node], sides: Mapping[Node, Node]) -> list[Node]:
    """Return nodes in which comparisons, also those of the smaller or larger of two, are replaced by their sides."""
    known = dict(sides)
    for node in g.reachable(nodes):
        if node in known:
            continue
        if g.ops[node] in ("min", "max") and (chosen := g.choice(node))[0] in sides:
            known[node] = g.where(known[chosen[0]], *(known.get(item, item) for item in chosen[1:]))
        elif any(item in known for item in g.arguments(node)):
            known[node] = rebuilt(g, node, known)
    return [known.get(node, node) for node in nodes]
