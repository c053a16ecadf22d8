"""The native kernels of large systems: loops over tables and a sparse factorization."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.switches import Reaction
from zwang._declare.system import System
from zwang._derive.modes import ActiveSet
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
        from scipy import sparse

        model, work = self.model(self.bilateral), self.workspace(self.bilateral)
        n, m, s = q.shape[0], self.normals, self.slips
        found: dict[str, list[Any]] = {name: [] for name in SparseTerms.__dataclass_fields__}
        for inputs in _states(t, q, v, params):
            model.module.fill(*inputs, model.table, work)
            lower = sparse.coo_array(
                (model.section(tables.MASS, work).copy(), tuple(model.mass_places.T)), shape=(n, n)
            ).tocsr()
            rows = sparse.coo_array(
                (model.section(tables.JAC, work).copy(), tuple(model.jac_places.T)), shape=(m + s, n)
            ).tocsr()
            value = model.section(tables.VALUE, work).copy()
            gamma = model.section(tables.GAMMA, work).copy()
            found["mass"].append(_symmetric(lower))
            found["force"].append(model.section(tables.RIGHT, work)[:n].copy())
            found["value"].append(value[:m])
            found["slip"].append(value[m : m + s])
            found["bounds"].append(value[m + s :])
            found["rate"].append(model.section(tables.RATE, work)[:m].copy())
            found["gamma"].append(gamma[:m])
            found["slip_bias"].append(gamma[m : m + s])
            found["rows"].append(rows[:m])
            found["slip_rows"].append(rows[m:])
            found["energies"].append(model.section(tables.ENERGY, work).copy())
        matrices = ("mass", "rows", "slip_rows")
        pieces: dict[str, Any] = {
            name: tuple(items) if name in matrices else np.stack(items, axis=1) for name, items in found.items()
        }
        return SparseTerms(**pieces)

    def mode(self, mode: ActiveSet, extra: Sequence[Any] = (), *, quick: bool | None = None) -> ModeKernels:
        """Return the functions of a mode: loops over tables where they suit it, else tapes."""
        from zwang._kernels.mode_tables import suits, table_kernels

        if not suits(self.system, mode) or any(item.has(Reaction) for item in extra):
            return super().mode(mode, extra, quick=quick)
        given = (self.system, self.structure, self.slips, self.model(mode.held), mode, tuple(extra))
        return self.kept(("mode", mode, tuple(extra)), lambda: table_kernels(*given))

    def step_terms(self, params: Array) -> tuple[Any, Any, Any]:
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


def _symmetric(stored: Any) -> Any:
    """Return M from entries that stand for (i, j) and (j, i) alike, whichever triangle they were given in."""
    from scipy import sparse

    diagonal = sparse.diags_array(stored.diagonal())
    return (stored + stored.T - diagonal).tocsr()
