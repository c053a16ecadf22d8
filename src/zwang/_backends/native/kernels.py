"""The native kernels of small systems: generated straight-line code, solved in place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from zwang._backends.contract import Array, Solved, Terms
from zwang._backends.native import straight
from zwang._declare.system import System
from zwang._derive.graph import Node
from zwang._derive.program import Program, derive_program
from zwang._derive.solution import solve
from zwang._numerics.jit import load_generated


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
        source = straight.module_source(f"terms of {self.system.name}", self.program, kernel)
        return load_generated(source, "terms")

    def solver_module(self, active: Sequence[int]) -> ModuleType:
        """Return the generated module of accelerations and multipliers for these active normals."""
        key = tuple(active)
        if key not in self._solvers:
            found = solve(self.program, key)
            kernel = straight.Kernel([*found.accelerations, *found.multipliers], found.regular)
            source = straight.module_source(f"accelerations of {self.system.name}", self.program, kernel)
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


def run(module: ModuleType, t: Array, q: Array, v: Array, params: Array, outputs: int) -> Array:
    """Run a generated module over states; the last row of what comes back says where all was well."""
    states = q.shape[1]
    if states == 1:
        flat = np.empty(outputs + 1)
        columns = [np.ascontiguousarray(array[:, 0]) for array in (q, v, params)]
        status = module.one(float(t[0]), *columns, NO_TABLE, NO_WORK, flat)
        flat[outputs] = float(status == 0)
        return flat[:, None]
    out = np.empty((outputs + 1, states))
    rows = 1 + 2 * q.shape[0] + params.shape[0]
    work, res = np.ones(rows * straight.BLOCK), np.empty((outputs + 1) * straight.BLOCK)
    loop = module.shared if params.shape[1] == 1 else module.each
    arrays = [np.ascontiguousarray(array) for array in (t, q, v, params)]
    loop(*arrays, np.ascontiguousarray(params[:, 0]), work, res, out)
    return out


NO_TABLE = np.zeros(1, dtype=np.int64)
NO_WORK = np.zeros(1)


class Layout:
    """Where each term stands in the flat output of a kernel, and back to arrays with their zeros."""

    def __init__(self, program: Program) -> None:
        self.program = program
        rows, slips = program.normals, program.slips
        self.row_places = [(j, i) for j, row in enumerate(rows) for i in row.entries]
        self.slip_places = [(j, i) for j, row in enumerate(slips) for i in row.entries]
        pieces: dict[str, list[Node]] = {
            "mass": list(program.mass.values()),
            "force": list(program.force),
            "value": [row.value for row in rows],
            "rate": [row.rate for row in rows],
            "gamma": [row.bias for row in rows],
            "rows": [rows[j].entries[i] for j, i in self.row_places],
            "slip": [row.value for row in slips],
            "slip_bias": [row.bias for row in slips],
            "slip_rows": [slips[j].entries[i] for j, i in self.slip_places],
            "bounds": list(program.bounds),
            "energies": list(program.energies),
        }
        self.nodes = [node for nodes in pieces.values() for node in nodes]
        ends = np.cumsum([len(nodes) for nodes in pieces.values()])
        self.slices = {name: slice(end - len(pieces[name]), end) for name, end in zip(pieces, ends, strict=True)}

    def terms(self, out: Array) -> Terms:
        """Return the terms from the rows of a kernel's output."""
        n, states = len(self.program.q), out.shape[1]
        flat: dict[str, Any] = {name: out[part] for name, part in self.slices.items()}
        mass = np.zeros((n, n, states))
        for (i, j), row in zip(self.program.mass, flat["mass"], strict=True):
            mass[i, j] = mass[j, i] = row
        flat["mass"] = mass
        for name, places, count in (
            ("rows", self.row_places, len(self.program.normals)),
            ("slip_rows", self.slip_places, len(self.program.slips)),
        ):
            dense = np.zeros((count, n, states))
            for (j, i), row in zip(places, flat[name], strict=True):
                dense[j, i] = row
            flat[name] = dense
        return Terms(**flat)
