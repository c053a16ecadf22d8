"""The native kernels of large systems: loops over tables and a sparse factorization."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.switches import Reaction
from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels import tables
from zwang._kernels.mode_kernels import ModeKernels
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Array
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, SparseTerms


class TableKernels(Service):
    """The kernels of a large system of like parts, state by state."""

    sparse = True
    quick = True

    def __init__(self, system: System) -> None:
        super().__init__(system, NumbaDialect())
        self._own = threading.local()
        normals = [item for item in system.constraints if not isinstance(item, Friction)]
        self.normals = len(normals)
        self.slips = sum(len(item.slip) for item in system.constraints)
        self.bilateral = tuple(place for place, item in enumerate(normals) if isinstance(item, Bilateral))

    def model(self, active: Sequence[int]) -> tables.TableModel:
        """Return the system laid out for these active constraints."""
        key = tuple(active)
        return self.kept(("tables", key), lambda: tables.layout(self.system, key))

    def workspace(self, active: Sequence[int]) -> Array:
        """Return the workspace of these constraints that belongs to this thread: kernels write into it."""
        spaces: dict[tuple[int, ...], Array] = self._own.__dict__.setdefault("spaces", {})
        key = tuple(active)
        if key not in spaces:
            spaces[key] = self.model(active).workspace.copy()
        return spaces[key]

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        model, work = self.model(active), self.workspace(active)
        n, k, states = q.shape[0], len(tuple(active)), q.shape[1]
        out, regular = np.empty((states, n + k)), np.empty(states, dtype=bool)
        for s, inputs in enumerate(_states(t, q, v, params)):
            regular[s] = model.module.one(*inputs, model.table, work, out[s]) == 0
        return Solved(np.ascontiguousarray(out[:, :n].T), np.ascontiguousarray(out[:, n:].T), regular)

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> SparseTerms:
        """Return the terms of the equations at the states."""
        model, work = self.model(self.bilateral), self.workspace(self.bilateral)
        n, m, s = q.shape[0], self.normals, self.slips
        mass, rows, slip_rows = self.kept("patterns", lambda: _patterns(model, n, m, s))
        wanted = (tables.MASS, tables.JAC, tables.VALUE, tables.RATE, tables.GAMMA, tables.RIGHT, tables.ENERGY)
        found = [np.empty((len(model.section(place, work)), q.shape[1])) for place in wanted]
        for state, inputs in enumerate(_states(t, q, v, params)):
            model.module.fill(*inputs, model.table, work)
            for place, columns in zip(wanted, found, strict=True):
                columns[:, state] = model.section(place, work)
        entries, jacobian, value, rate, gamma, right, energies = found
        return SparseTerms(
            mass=mass(entries),
            force=right[:n],
            value=value[:m],
            rate=rate[:m],
            gamma=gamma[:m],
            rows=rows(jacobian),
            slip=value[m : m + s],
            slip_bias=gamma[m : m + s],
            slip_rows=slip_rows(jacobian),
            bounds=value[m + s :],
            energies=energies,
        )

    def mode(self, mode: ActiveSet, extra: Sequence[Any] = (), *, quick: bool | None = None) -> ModeKernels:
        """Return the functions of a mode: loops over tables where they suit it, else tapes."""
        from zwang._kernels.large_modes import suits, table_kernels

        if not suits(self.system, mode) or any(item.has(Reaction) for item in extra):
            return super().mode(mode, extra, quick=quick)
        given = (self.system, self.structure, self.slips, self.model(mode.held), mode, tuple(extra))
        return self.kept(("mode", mode, tuple(extra)), lambda: table_kernels(*given))

    def step_terms(self, params: Array, steps: int) -> tuple[Any, Any, Any]:
        """Return the terms as the steps of `moreau` want them; see `Service`."""
        from zwang._numerics.motion.moreau import StepTerms

        model, m, s = self.model(()), self.normals, self.slips
        sections = (tables.MASS, tables.JAC, tables.RIGHT, tables.VALUE, tables.RATE, tables.GAMMA)
        mass, jac, right, value, rate, gamma = (int(model.table[section]) for section in sections)
        head = [1, mass, jac, len(model.jac_places), 0, right]
        place = [*head, value, rate, value + m, value + m + s, m, gamma, gamma + m]
        arrays = model.table, model.workspace.copy(), len(self.system.coordinates), np.array(place, dtype=np.int64)
        return StepTerms(model.module.one, *arrays), model.mass_places, model.jac_places


def _states(t: Array, q: Array, v: Array, params: Array) -> list[tuple[Any, ...]]:
    """Return the arguments of a kernel for each state."""
    each = params.shape[1] > 1
    return [
        (
            float(t[s]),
            np.ascontiguousarray(q[:, s]),
            np.ascontiguousarray(v[:, s]),
            np.ascontiguousarray(params[:, s if each else 0]),
        )
        for s in range(q.shape[1])
    ]


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Where the entries of a sparse matrix come from: one place of the matrix may be the sum of several numbers."""

    shape: tuple[int, int]
    indices: Any
    indptr: Any
    assembly: Any
    pruned: bool = False

    @classmethod
    def of(cls, rows: Any, columns: Any, entries: Any, total: int, shape: tuple[int, int]) -> _Pattern:
        """Return the pattern in which number `entries[k]` of `total` stands at (`rows[k]`, `columns[k]`)."""
        from scipy import sparse

        places, which = np.unique(rows * shape[1] + columns, return_inverse=True)
        assembly = sparse.csr_array((np.ones(len(entries)), (which, entries)), shape=(len(places), total))
        starts = np.searchsorted(places, np.arange(shape[0] + 1) * shape[1])
        return cls(shape, places % shape[1], starts, assembly)

    def __call__(self, numbers: Array) -> tuple[Any, ...]:
        """Return the matrix of each state from the numbers (total, states)."""
        from scipy import sparse

        made = tuple(
            sparse.csr_array((data.copy(), self.indices.copy(), self.indptr.copy()), shape=self.shape)
            for data in np.asarray(self.assembly @ numbers).T
        )
        if self.pruned:
            for matrix in made:
                matrix.eliminate_zeros()
        return made


def _patterns(model: tables.TableModel, n: int, m: int, s: int) -> tuple[_Pattern, _Pattern, _Pattern]:
    """Return the patterns of M, the rows of normals and those of slips.

    Entries of M stand for (i, j) and (j, i) alike, whichever triangle they were given in.
    """
    i, j = model.mass_places.T
    off, entries = np.flatnonzero(i != j), np.arange(len(i))
    given = np.append(i, j[off]), np.append(j, i[off]), np.append(entries, off)
    row, column = model.jac_places.T
    own, slips = np.flatnonzero(row < m), np.flatnonzero(row >= m)
    return (
        replace(_Pattern.of(*given, len(i), (n, n)), pruned=True),
        _Pattern.of(row[own], column[own], own, len(row), (m, n)),
        _Pattern.of(row[slips] - m, column[slips], slips, len(row), (s, n)),
    )
