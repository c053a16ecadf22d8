"""The equations of a configuration space: position-level constraints, as kernels and as series.

f(q) = 0 are the bilateral constraints on positions, h(q) >= 0 the one-sided ones, at an instant t. Inside the package
everything is measured in x = q/scale and F = f/weights, so that lengths, angles and the units of expressions don't
matter for what counts as small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._compile.given_inputs import with_inputs
from zwang._declare.checks import without_poles
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import Coordinate
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.program import Program
from zwang._derive.tree_recursion import with_dependents
from zwang._graph.convert import Converter
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Graph, Node
from zwang._kernels.outputs import Dialect, Functions, Outputs
from zwang._numerics.series.arithmetic import FLOATS
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise)
STRAIGHT = 13
"""Coordinates and equations up to which single points are looked at in compiled code."""


def equations_of(system: System | Model) -> SpaceEquations:
    """Return the equations of a system's configuration space, the same object for the same declaration."""
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"trace needs a System or a Model; it was given {system!r:.80}.")
    model = compile(system).switched()
    return model.kernels.kept("constraints", lambda: SpaceEquations(model))


def at_instant(
    system: System | Model, params: Mapping[Any, Any] | None, inputs: Mapping[Any, Any] | None, t: float | None
) -> tuple[System | Model, Mapping[Any, Any] | None]:
    """Return a system without inputs, and the parameters that stand for them at an instant."""
    declared = system.system if isinstance(system, Model) else system
    if not isinstance(declared, System) or not (declared.inputs or inputs):
        return system, params
    model, values, _ = with_inputs(compile(system), {"t": 0.0 if t is None else t}, params, inputs)
    return model, values


@dataclass(frozen=True)
class SparseFunction:
    """Outputs of which most are zero: a function of the others, and where they stand."""

    functions: Functions
    places: NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, dialect: Dialect, program: Program, outputs: Sequence[Node]) -> SparseFunction:
        """Return the function of some nodes."""
        zero = program.graph.zero
        places = [k for k, node in enumerate(outputs) if node != zero]
        nodes = Outputs(tuple(outputs[k] for k in places))
        functions = dialect.build(program, {"one": nodes}, "sparse", quick=True)
        return cls(functions, np.array(places, dtype=np.int64), len(outputs))

    def many(self, t: float, q: Array, params: Array) -> Array:
        """Return all outputs (k, b) at points (n, b), for parameters (p,) or (p, b)."""
        b = q.shape[1]
        found = np.zeros((self.size, b))
        if len(self.places):
            values = np.array(np.broadcast_to(params.T, (b, len(params))).T, order="C")
            out = self.functions.many(np.full(b, t), np.ascontiguousarray(q, dtype=float), np.zeros((0, b)), values)
            found[self.places] = out[:-1]
        return found

    def run(self, t: float, q: Array, params: Array) -> Array:
        """Return all outputs at one point."""
        return self.many(t, q[:, None], params)[:, 0]


class SpaceEquations:
    """Values, Jacobian and second derivatives of the position-level constraints of a system.

    Attributes
    ----------
    held : list of constraints
        The bilateral ones on positions: f = 0.
    gaps : list of constraints
        The one-sided ones on positions: h >= 0.
    ignored : tuple of str
        The constraints on velocities.
    backend : str
        Whose functions they are.
    """

    def __init__(self, model: Model) -> None:
        system = model.system
        self.system, self.backend, self.dialect = system, model.backend, model.kernels.dialect
        relations = [item for item in system.constraints if not isinstance(item, Friction)]
        positions = [item for item in relations if item.level == "position"]
        held = [item for item in positions if isinstance(item, Bilateral)]
        self.held = [replace(item, expr=without_poles(item.expr)) for item in held]
        self.gaps = [item for item in positions if not isinstance(item, Bilateral)]
        self.ignored = tuple(str(item.name) for item in relations if item.level == "velocity")
        for item in (*self.held, *self.gaps):
            _require_smooth(system.name, item)
        self.n, self.m, self.g = len(system.coordinates), len(self.held), len(self.gaps)
        self.names = tuple(item.name for item in system.coordinates)
        self.angles = np.array([item.angle for item in system.coordinates], dtype=bool)
        places = {item: k for k, item in enumerate(system.coordinates)}
        self.quaternions = tuple(tuple(places[item] for item in one) for one in system.quaternions)
        self.timed = any(time in item.expr.free_symbols for item in (*self.held, *self.gaps))

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Which coordinates have size one and no unit: angles and components of quaternions."""
        found = self.angles.copy()
        found[[k for one in self.quaternions for k in one]] = True
        return found

    @cached_property
    def deflated(self) -> dict[int, SpaceEquations]:
        """The equations with a free direction beside them (`zwang._trace.deflation`), by the rank that they have."""
        return {}

    @cached_property
    def program(self) -> Program:
        """The graph of the constraints, with inputs t, q, params."""
        graph, system = Graph(), self.system
        t = graph.input("t")
        q = [graph.input(f"q{i}") for i in range(self.n)]
        params = [graph.input(f"p{i}") for i in range(len(system.parameters))]
        symbols: dict[Any, Node] = {time: t, **dict(zip(system.coordinates, q, strict=True))}
        symbols |= dict(zip(system.parameters, params, strict=True))
        convert = Converter(graph, with_dependents(system, graph, symbols))
        self._nodes = [convert(item.expr) for item in (*self.held, *self.gaps)]
        return Program(graph, t, q, [], params, {}, [], [], [], [], (graph.zero, graph.zero))

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes of f and then h."""
        _ = self.program
        return self._nodes

    @cached_property
    def gradients(self) -> list[list[Node]]:
        """The nodes of the rows of the Jacobian of f and then h."""
        return [self.program.graph.gradient(node, self.program.q) for node in self.nodes]

    @cached_property
    def plain(self) -> Functions:
        """The function of f, h, then the rows of both."""
        outputs = Outputs((*self.nodes, *(node for row in self.gradients for node in row)))
        return self._built(outputs, "constraints")

    @cached_property
    def curved(self) -> Functions:
        """The function of what `plain` computes for f alone, then of the Hessians of f (m, n, n)."""
        q, rows = self.program.q, self.gradients[: self.m]
        outputs = [*self.nodes[: self.m], *(node for row in rows for node in row)]
        outputs += [node for row in rows for j in range(self.n) for node in self._bent(row, q[j])]
        return self._built(Outputs(tuple(outputs)), "curvatures")

    def _built(self, outputs: Outputs, name: str) -> Functions:
        """Return a function for loops: a tape, since what the loops do between two calls takes as long as that does."""
        return self.dialect.build(self.program, {"one": outputs}, name, quick=True)

    @cached_property
    def values_alone(self) -> SparseFunction:
        """The values of f."""
        return SparseFunction.of(self.dialect, self.program, self.nodes[: self.m])

    @cached_property
    def sparse(self) -> SparseFunction:
        """What `plain` computes, quickly made and without zeros.

        Large mechanisms run it, and `sparse_second`: compiled, entry by entry, they would take minutes.
        """
        rows = [node for row in self.gradients for node in row]
        return SparseFunction.of(self.dialect, self.program, [*self.nodes, *rows])

    @cached_property
    def sparse_second(self) -> SparseFunction:
        """The Hessians of f, likewise."""
        q = self.program.q
        second = [node for row in self.gradients[: self.m] for j in range(self.n) for node in self._bent(row, q[j])]
        return SparseFunction.of(self.dialect, self.program, second)

    def _bent(self, row: list[Node], along: Node) -> list[Node]:
        graph = self.program.graph
        if not graph.dependent(row, [along]):
            return [graph.zero] * self.n
        return graph.forward(row, {along: graph.one})

    @property
    def large(self) -> bool:
        """Whether tapes are used in place of compiled code where single points are looked at."""
        return self.n + self.m > STRAIGHT

    def evaluation(self, rows: bool, t: float, params: Array) -> GraphEvaluation:
        """Return f, or the rows of its Jacobian, for coordinates that are power series."""
        program = self.program
        outputs = [node for row in self.gradients[: self.m] for node in row] if rows else self.nodes[: self.m]
        known = {program.t: t, **dict(zip(program.params, (float(value) for value in params), strict=True))}
        return GraphEvaluation(program.graph, outputs, FLOATS, known)


@dataclass(frozen=True)
class SpacePlace:
    """Equations with numbers: parameters, the instant, and the units in which sizes are judged.

    Attributes
    ----------
    equations : SpaceEquations
    params : (p,) array
    t : float
    scale : (n,) array
        x = q/scale.
    weights : (m,) array
        F = f/weights.
    """

    equations: SpaceEquations
    params: Array
    t: float
    scale: Array
    weights: Array
    _cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def values(self, q: Array) -> tuple[Array, Array]:
        """Return F (m,) and dF/dx (m, n) at q."""
        e = self.equations
        out = self._plain(q)
        rows = out[e.m + e.g : e.m + e.g + e.m * e.n].reshape(e.m, e.n)
        return out[: e.m] / self.weights, rows * self.scale / self.weights[:, None]

    def hessians(self, q: Array) -> Array:
        """Return the second derivatives of F with respect to x, (m, n, n)."""
        e = self.equations
        if e.large:
            flat = e.sparse_second.run(self.t, q, self.params)
        else:
            flat = self._run(e.curved, "curved", q)[e.m * (1 + e.n) :]
        found = flat.reshape(e.m, e.n, e.n)
        return found * np.outer(self.scale, self.scale) / self.weights[:, None, None]

    def gaps(self, q: Array) -> tuple[Array, Array]:
        """Return h (g,) and its rows with respect to q (g, n)."""
        e = self.equations
        out = self._plain(q)
        return out[e.m : e.m + e.g], out[e.m + e.g + e.m * e.n :].reshape(e.g, e.n)

    def series(self, q: Sequence[Any], *, rows: bool = False) -> list[Any]:
        """Return f, or the rows of its Jacobian one after the other, for coordinates q that are power series."""
        key = "series of rows" if rows else "series"
        if key not in self._cache:
            self._cache[key] = self.equations.evaluation(rows, self.t, self.params)
        evaluation: GraphEvaluation = self._cache[key]
        with np.errstate(all="ignore"):  # what has no value is not a number, and whoever asks looks
            return evaluation(dict(zip(self.equations.program.q, q, strict=True)))

    def workspace(self, functions: Functions, key: str) -> Array:
        """Return what functions prepare from the parameters alone."""
        if key not in self._cache:
            self._cache[key] = functions.workspace(self.params)
        found: Array = self._cache[key]
        return found

    def _plain(self, q: Array) -> Array:
        """Return f, h, then the rows of both."""
        e = self.equations
        if e.large:
            return e.sparse.run(self.t, q, self.params)
        return self._run(e.plain, "plain", q)

    def _run(self, functions: Functions, key: str, q: Array) -> Array:
        out, work = np.empty(functions.sizes[0]), self.workspace(functions, key)
        q = np.ascontiguousarray(q, dtype=float)
        functions.calls[0](self.t, q, NO_SPEED, self.params, functions.table, work, out)
        return out


NO_SPEED = np.zeros(0)


def _require_smooth(name: str, item: Any) -> None:
    for node in item.expr.atoms(*KINKED):
        if any(isinstance(symbol, Coordinate) for symbol in node.free_symbols):
            raise DeclarationError(
                f"{name}: constraint '{item.name}' is not smooth: it has {node}. trace follows smooth "
                "constraints; write it without a kink, as two systems, one for each side, or as a one-sided constraint."
            )


def parameter_vector(system: System, params: Mapping[Any, Any] | None) -> Array:
    """Return the parameters as an array in the system's order; missing and unknown ones are mistakes."""
    from zwang._compile.given_values import resolve

    zero = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    inputs = resolve(system, zero, params)
    if inputs.shape:
        raise DeclarationError(
            f"{system.name}: trace takes one value for each parameter; arrays of shape {inputs.shape} were given. Use "
            "sweep for many."
        )
    return np.ascontiguousarray(inputs.params[:, 0])
