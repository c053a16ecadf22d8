"""The reference backend: graphs interpreted node by node, terms by SymPy. Slow, plain, the oracle.

Nothing is compiled here. Functions walk the graph with NumPy's numbers, and the loops of the package run as plain
Python around them; so every verb has a second way that shares no machine code with the first. The terms don't come from
the graph but from SymPy's derivatives, by NumPy, and accelerations from a rank-revealing solution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.equations import Equations, derive
from zwang._derive.program import Program
from zwang._graph.evaluate import evaluate, evaluate_into
from zwang._kernels.outputs import NO_TABLE, Array, Functions, Ints, Outputs
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, Terms
from zwang._numerics.linear.inertia import lack_of_inertia
from zwang._numerics.linear.kkt import solve_kkt

PIECES = ("mass", "force", "values", "rates", "gamma", "rows", "slips", "slip_bias", "slip_rows", "bounds", "energies")


class InterpretedFunction:
    """A function with the one ABI that walks its graph."""

    def __init__(self, program: Program, outputs: Outputs) -> None:
        self.program, self.outputs = program, outputs
        self.inputs = program.inputs
        self.order = program.graph.reachable(outputs.wanted, {*self.inputs, *outputs.held})

    def __call__(
        self, t: float, q: Array, v: Array, params: Array, int_table: Ints, workspace: Array, out: Array
    ) -> int:
        """Write the outputs; return 0 where all is well."""
        values: dict[int, Any] = dict(zip(self.inputs, (np.float64(t), *q, *v, *params), strict=True))
        values |= {node: np.bool_(int_table[k] != 0) for k, node in enumerate(self.outputs.held)}
        with np.errstate(all="ignore"):
            evaluate_into(self.program.graph, self.order, values, np)
        for k, node in enumerate(self.outputs.nodes):
            out[k] = values[node]
        return 0 if self.outputs.sound is None or values[self.outputs.sound] else 1


@dataclass(frozen=True)
class InterpretedFunctions(Functions):
    """Functions that walk their graphs; over many states with arrays in place of numbers."""

    def many(self, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return what the first of them writes at many states, and where all was well; see `Functions`."""
        function = self.calls[0]
        assert isinstance(function, InterpretedFunction)
        inputs = dict(zip(function.inputs, (t, *q, *v, *params), strict=True))
        with np.errstate(all="ignore"):
            found = evaluate(function.program.graph, function.outputs.wanted, inputs, np)
        out = np.ones((self.sizes[0] + 1, q.shape[1]))
        for row, value in zip(out, found, strict=False):
            row[:] = value
        return out


class InterpretedDialect:
    """Walks graphs instead of writing source."""

    def build(self, program: Program, outputs: Mapping[str, Outputs], name: str, *, quick: bool = False) -> Functions:
        """Return functions for outputs of one program; see `Dialect`."""
        calls = tuple(InterpretedFunction(program, item) for item in outputs.values())
        sizes = tuple(len(item.nodes) for item in outputs.values())
        return InterpretedFunctions(calls, sizes, NO_TABLE, _nothing)


def _nothing(params: Array) -> Array:
    """Return the workspace of functions that prepare nothing."""
    return np.zeros(1)


class ReferenceKernels(Service):
    """The terms by evaluating the symbolic equations, the accelerations by a rank-revealing solution."""

    def __init__(self, system: System) -> None:
        super().__init__(system, InterpretedDialect())

    @cached_property
    def equations(self) -> Equations:
        """The symbolic equations."""
        return derive(self.system)

    @cached_property
    def _function(self) -> Callable[..., list[Any]]:
        system = self.system
        arguments = [time, *system.coordinates, *system.velocities, *system.parameters]
        # Dummies in place of the names: text from outside never reaches the source that lambdify writes.
        stand_in = {symbol: sp.Dummy(f"a{i}", real=True) for i, symbol in enumerate(arguments)}
        flat = [
            _without_impulses(item.xreplace(stand_in)) for piece in PIECES for item in getattr(self.equations, piece)
        ]
        function: Callable[..., list[Any]] = sp.lambdify(list(stand_in.values()), flat, modules="numpy", cse=True)
        return function

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        states = np.broadcast(t, q[0]).size
        inputs = [np.broadcast_to(row, (states,)) for row in (t, *q, *v, *params)]
        with np.errstate(all="ignore"):
            values = self._function(*inputs)
        stacked = np.array([np.broadcast_to(np.asarray(item, dtype=float), (states,)) for item in values])
        n, at, found = len(self.system.coordinates), 0, {}
        for piece in PIECES:
            height, width = getattr(self.equations, piece).shape
            part = stacked[at : at + height * width]
            matrix = piece in ("mass", "rows", "slip_rows")
            found[piece] = part.reshape((height, n, states)) if matrix else part.reshape((height, states))
            at += height * width
        names = {"values": "value", "rates": "rate", "slips": "slip"}
        return Terms(**{names.get(piece, piece): array for piece, array in found.items()})

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and least-norm multipliers with these normals held as equalities."""
        terms = self.terms(t, q, v, params)
        chosen = list(active)
        n, states = terms.force.shape
        a, lam, regular = np.empty((n, states)), np.empty((len(chosen), states)), np.empty(states, dtype=bool)
        for k in range(states):
            if lack_of_inertia(terms.mass[:, :, k], terms.rows[chosen, :, k]) is not None:
                a[:, k], lam[:, k], regular[k] = np.nan, np.nan, False
                continue
            found = solve_kkt(terms.mass[:, :, k], terms.rows[chosen, :, k], terms.force[:, k], terms.gamma[chosen, k])
            a[:, k], lam[:, k], regular[k] = found.accelerations, found.multipliers, found.regular
        return Solved(a, lam, regular)


def _without_impulses(expr: Any) -> Any:
    """Return the expression off its jumps: SymPy differentiates a step to an impulse, which is zero everywhere else."""
    return expr.replace(sp.DiracDelta, lambda *_: sp.Integer(0)) if expr.has(sp.DiracDelta) else expr


class ReferenceBackend:
    """`reference`: NumPy, the oracle."""

    name = "reference"

    def build(self, system: System) -> Service:
        """Return the kernels of a system."""
        return ReferenceKernels(system)
