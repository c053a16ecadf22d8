"""`Walker`: the compiled steps bound to one model, and the other solvers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.jit import with_functions
from zwang._numerics.motion.moreau import kernels, march
from zwang._numerics.motion.moreau.block_layout import StepLayout
from zwang._numerics.motion.moreau.march import Track

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SOLVED = 1e-7
"""Residual up to which impulses of other solvers are taken."""


@dataclass(frozen=True, eq=False)
class StepTerms:
    """Where the terms of a model come from.

    Attributes
    ----------
    kernel : callable
        Of the ABI eval(t, q, v, params, int_table, workspace, out) -> status.
    table, workspace : arrays
        Its tables.
    size : int
        Length of its output.
    place : (13,) int array
        Where each term stands: see `kernels.IN_WORKSPACE` and the names after it.
    """

    kernel: Any
    table: Ints
    workspace: Floats
    size: int
    place: Ints


class Walker:
    """The state of a walk beside its track.

    Parameters
    ----------
    layout : StepLayout
    terms : StepTerms
    params : (p,) array
    levels : (k,) int array
        1 for constraints on positions, 0 for those on velocities.
    laws : (k,) int array
        Number of each contact's friction law, -1 without one.
    normals : (k,) int array
        Number of each contact's normal, -1 without one.
    sections : (4 k,) int array, optional
        For each contact, among the bounds: the two sides of its section and those at rest, -1 where there are none;
        empty where one number says all of every law.
    loads : (k,) sequence of sequences of int, optional
        For each contact without a normal those whose normal impulses load its friction; empty where none is so.
    floors : (r,), (r,) arrays
        The least sizes of gaps and of rates of the declared rows, normals before slips.
    """

    def __init__(
        self,
        layout: StepLayout,
        terms: StepTerms,
        params: Floats,
        levels: Ints,
        laws: Ints,
        normals: Ints,
        sections: Ints | None = None,
        loads: Sequence[Sequence[int]] = (),
        *,
        floors: tuple[Floats, Floats],
    ) -> None:
        self.layout, self.terms, self.params = layout, terms, np.ascontiguousarray(params, dtype=float)
        m, n, k, blocks = len(layout.source), layout.n, len(layout.first), int(layout.block_at[-1])
        own = [np.ascontiguousarray(part, dtype=np.int64) for part in (normals, levels, laws)]
        state = [np.zeros(k, dtype=np.int64), np.full(k, -1, dtype=np.int64), np.zeros(k, dtype=np.int64)]
        self.sections = np.zeros(0, dtype=np.int64) if sections is None else sections
        self.tables = (*layout.tables, *own, layout.source, *state, self.sections, *_compressed(layout, loads))
        self.loads = [tuple(one) for one in loads]
        z, w = len(layout.j_column), len(layout.w_column)
        sizes = [blocks, blocks, z, w, m, m, m, max(4 * m, blocks, z), n, n, k, n]
        sizes += [m, 2 * k, k, terms.size, n, n, m, m, n, m]
        self.work = (*(np.zeros(size) for size in sizes), *(floor[layout.source] for floor in floors))
        self.work[kernels.MASS][:] = np.nan  # nothing equals it: the first load counts as a change
        self.work[kernels.RESTITUTION][:] = np.nan
        self.residual = self.drift = 0.0
        self.asked = 0

    @property
    def least_rates(self) -> Floats:
        """The least sizes of rates and slips, by rows (m,)."""
        return self.work[kernels.FAST]

    def restitution(self, values: Floats) -> None:
        """Set the coefficients of restitution (k,), nan where none is known."""
        self.work[kernels.RESTITUTION][:] = values

    def walk(self, track: Track, h: float, start: int, stop: int, *, autonomous: bool) -> tuple[int, int]:
        """Take steps of length h; return how it ended (`march.WENT` and the names after it) and the step reached."""
        given, walk = -1.0, with_functions(march.walk, self.terms.kernel)
        called = march.Called(self.params, self.terms.table, self.terms.workspace, self.terms.place)
        while True:
            status, reached, residual, drift = walk(
                called, self.tables, self.work, h, track, start, stop, autonomous, given
            )

            self.residual, self.drift = max(self.residual, residual), max(self.drift, drift)
            if status != march.UNSOLVED:
                return status, reached
            parts = (kernels.B, kernels.JAC, kernels.MASS)
            if not all(np.isfinite(self.work[part]).all() for part in parts):
                return march.NOT_FINITE, reached
            given = self._by_solvers() if not len(self.sections) else 1.0  # they know symmetric sections alone
            self.asked += 1
            if not given <= SOLVED:
                self.residual = given
                return status, reached
            start = reached

    def _by_solvers(self) -> float:
        """Find the impulses of a step by the solvers of `contact`; return the residual."""
        from zwang._numerics.contact.choose import solve_one
        from zwang._numerics.contact.delassus import friction_arrays
        from zwang._numerics.impacts.jumps import all_jumps

        layout, f = self.layout, self.work
        chosen = np.flatnonzero(self.tables[kernels.ACTIVE])
        law = f[kernels.LAW]
        problem = self._problem(chosen, law)
        found: Any = None
        if self.loads:  # all solutions; the one with the least jump goes on
            jumps = all_jumps(problem).found
            found = min(jumps, key=lambda jump: float(np.abs(jump.w).max(initial=0.0)), default=None)
            if found is None:
                return 1.0
        else:
            found = solve_one(friction_arrays(problem), tol=1e-11)
        f[kernels.R][:] = 0.0
        for c, normal, tangential in zip(chosen, found.normal, found.tangential, strict=True):
            a, s = int(layout.first[c]), int(layout.size[c])
            own = [] if layout.kind[c] == BOUND else [normal]
            f[kernels.R][a : a + s] = [*own, *tangential[: s - len(own)]]
        return float(found.residual)

    def _loads_of(self, c: int) -> tuple[int, ...]:
        """Return the contacts whose impulses load the friction of one."""
        return self.loads[c] if self.loads else ()

    def _problem(self, chosen: Ints, law: Floats) -> ContactProblem:
        """Return the step as a contact problem in v+ minus the velocity without impulses."""
        layout, f, n = self.layout, self.work, self.layout.n
        mass, rows = np.zeros((n, n)), np.zeros((len(layout.source), n))
        for k in range(len(layout.block_start) - 1):
            own = layout.members[layout.block_start[k] : layout.block_start[k + 1]]
            block = f[kernels.MASS][layout.block_at[k] : layout.block_at[k + 1]]
            mass[np.ix_(own, own)] = block.reshape(len(own), len(own))
        rows[np.repeat(np.arange(len(rows)), np.diff(layout.j_start)), layout.j_column] = f[kernels.JAC]
        contacts = []
        for c in chosen:
            a, s = int(layout.first[c]), int(layout.size[c])
            o = int(layout.kind[c] != BOUND)
            b = f[kernels.B][a : a + s]
            along: dict[str, Any] = {"tangent": rows[a + o : a + s], "tangent_bias": -b[o:]} if s > o else {}
            loads = tuple(int(np.searchsorted(chosen, other)) for other in self._loads_of(int(c)) if other in chosen)
            if loads:
                contacts.append(Contact(None, friction=float(law[2 * c]), of=loads, **along))
                continue
            if not o:
                contacts.append(Contact(None, friction=1.0, normal_force=float(law[2 * c + 1]), **along))
                continue
            mu = float(law[2 * c]) if s > o else 0.0
            two_sided = bool(layout.kind[c] == BILATERAL)
            contacts.append(Contact(rows[a], friction=mu, bias=-float(b[0]), bilateral=two_sided, **along))
        return ContactProblem(mass, np.zeros(n), contacts)


def _compressed(layout: StepLayout, loads: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return where the loads of each contact start, and the rows of those normals."""
    if not loads:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    start = np.concatenate([[0], np.cumsum([len(one) for one in loads])]).astype(np.int64)
    rows = [int(layout.first[c]) for one in loads for c in one]
    return start, np.array(rows, dtype=np.int64)
