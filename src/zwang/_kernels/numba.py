"""The native kernels of small systems: generated straight-line code, solved in place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType

import numpy as np

from zwang._declare.system import System
from zwang._derive.program import Program, derive_program
from zwang._derive.solution import PIVOT, solve
from zwang._kernels import straight
from zwang._kernels.layout import Layout
from zwang._kernels.tape import Tape, record
from zwang._kernels.terms import Array, Solved, Terms
from zwang._numerics.jit import load_generated
from zwang._numerics.linear.dense import dense_workspace_size, kkt_dense


class StraightKernels:
    """Terms, accelerations and multipliers of a small system in generated code."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._solvers: dict[tuple[int, ...], ModuleType] = {}

    @cached_property
    def program(self) -> Program:
        """The graph of everything that the system computes."""
        return derive_program(self.system)

    @cached_property
    def layout(self) -> Layout:
        """Where each term stands in the output of the kernel of terms."""
        return Layout(self.program)

    @cached_property
    def terms_module(self) -> ModuleType:
        """The generated module of the terms."""
        kernel = straight.Kernel(self.layout.nodes)
        source = straight.module_source(self.program, kernel)
        return load_generated(source, "terms")

    def solver_module(self, active: Sequence[int]) -> ModuleType:
        """Return the generated module of accelerations and multipliers for these active normals."""
        key = tuple(active)
        if key not in self._solvers:
            found = solve(self.program, key)
            kernel = straight.Kernel([*found.accelerations, *found.multipliers], found.regular)
            source = straight.module_source(self.program, kernel)
            self._solvers[key] = load_generated(source, "accelerations")
        return self._solvers[key]

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        out = run(self.terms_module, t, q, v, params, len(self.layout.nodes))
        return self.layout.terms(out)

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        n, k = len(self.system.coordinates), len(tuple(active))
        out = run(self.solver_module(active), t, q, v, params, n + k)
        return Solved(out[:n], out[n : n + k], out[n + k] > 0.5)


class DenseKernels(StraightKernels):
    """Mid-size systems without like parts: a tape for the terms, dense loops for the solution."""

    @cached_property
    def tape(self) -> Tape:
        """The tape of the terms."""
        return record(self.program, self.layout.nodes)

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        return self.layout.terms(self.tape.run(t, q, v, params))

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        terms = self.terms(t, q, v, params)
        chosen = list(active)
        n, states = terms.force.shape
        k = len(chosen)
        a, lam, regular = np.empty((n, states)), np.empty((k, states)), np.empty(states, dtype=bool)
        work = np.empty(dense_workspace_size(n, k))
        for s in range(states):
            columns = (terms.mass[:, :, s], terms.rows[chosen, :, s], terms.force[:, s], terms.gamma[chosen, s])
            mass, rows, force, gamma = (np.ascontiguousarray(array) for array in columns)
            x, y = np.full(n, np.nan), np.full(k, np.nan)
            regular[s] = kkt_dense(mass, rows, force, gamma, work, x, y) > PIVOT
            a[:, s], lam[:, s] = x, y
        return Solved(a, lam, regular)


def run(module: ModuleType, t: Array, q: Array, v: Array, params: Array, outputs: int) -> Array:
    """Run a generated module over states; the last row of what comes back says where all was well."""
    states = q.shape[1]
    if states <= FEW:  # not worth the compilation of a loop over states
        return np.stack([_run_one(module, t, q, v, params, outputs, k) for k in range(states)], axis=1)
    out, regular = np.empty((outputs + 1, states)), np.empty(states, dtype=bool)
    first = np.ascontiguousarray(params[:, 0])
    workspace = prepared(module, first) if params.shape[1] == 1 else np.empty(module.WORKSPACE)
    loop = module.shared if params.shape[1] == 1 else module.each
    arrays = [np.ascontiguousarray(array) for array in (t, q, v, params)]
    loop(*arrays, first, workspace, out, regular)
    out[outputs] = regular
    return out


def _run_one(module: ModuleType, t: Array, q: Array, v: Array, params: Array, outputs: int, k: int) -> Array:
    out = np.empty(outputs + 1)
    columns = [np.ascontiguousarray(array[:, k if array.shape[1] > 1 else 0]) for array in (q, v, params)]
    status = module.one(float(t[k]), *columns, NO_TABLE, prepared(module, columns[2]), out)
    out[outputs] = float(status == 0)
    return out


def prepared(module: ModuleType, params: Array) -> Array:
    """Return the workspace of a generated module for these parameters.

    It is made in plain Python: a few microseconds once for each call, where compiling takes a tenth of a second.
    """
    workspace = np.empty(module.WORKSPACE)
    with np.errstate(all="ignore"):
        try:
            module.prepare.py_func(params, workspace)
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):  # compiled code has nan or inf; no complex
            module.prepare(params, workspace)
    return workspace


FEW = 32
NO_TABLE = np.zeros(1, dtype=np.int64)
