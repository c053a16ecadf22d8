"""De Saxce's fixed point over convex cone programs, each solved by Clarabel: the slow and independent way.

Coulomb's law at rest is u + mu |u_t| n in the dual of the friction cone, orthogonal to r (De Saxce). For a fixed term
s = mu |u_t| this is the convex program of Gauss's principle,

    minimize  w^T A w / 2 - (offset - s n)^T r    with   A w = f + H^T r,   r in the cones,

and s is found by iteration. Where nothing slides the first program is the answer; where something does it lifts off,
and only the fixed point keeps it down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.contact.problem import is_sparse

Floats = NDArray[np.float64]


def cone_fixed_point(arrays: FrictionArrays, *, tol: float = 1e-8, rounds: int = 200) -> Candidate:
    """Iterate the convex programs until the residual is below `tol`, `rounds` times at most.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [2.0, -1.0], contacts=[floor]))
    >>> cone_fixed_point(arrays).forces.round(7)
    array([ 1. , -0.5])
    """
    if not arrays.loaded:
        return candidate_of(arrays, np.zeros(arrays.size), "cone programs")
    program = ConeProgram(arrays)
    term = np.zeros(arrays.size)
    best: Candidate | None = None
    for done in range(1, rounds + 1):
        r = program.solve(term)
        found = candidate_of(arrays, r, "cone programs", done)
        if best is None or found.residual < best.residual:
            best = found
        moved = program.term(arrays.relative(r))
        if best.residual <= tol or np.max(np.abs(moved - term), initial=0.0) <= 1e-14 * arrays.cause:
            break
        term = moved
    assert best is not None
    return best


class ConeProgram:
    """The matrices of the convex program for Clarabel: x = (w, r), or r alone where A^-1 is known."""

    def __init__(self, arrays: FrictionArrays) -> None:
        from scipy.sparse import csc_array, diags_array, triu

        self.arrays = arrays
        self.by_force = arrays.mass.matrix is not None
        scale = diags_array(1.0 / arrays.row_scale)
        if self.by_force:
            w = arrays.sparse_delassus if arrays.has_sparse_delassus else csc_array(arrays.delassus)
            self.quadratic = csc_array(triu(scale @ w @ scale))
            self.before = 0
        else:
            self.before = len(arrays.force)
            self._augment(scale)
        self.constraints, self.constant, self.cones = self._cones()

    def _augment(self, scale: Any) -> None:
        from scipy.sparse import block_diag, csc_array, triu

        size = self.arrays.size
        self.quadratic = csc_array(triu(block_diag([self.arrays.mass.mass, csc_array((size, size))])))
        rows = self.arrays.rows if is_sparse(self.arrays.rows) else csc_array(self.arrays.rows)
        self.balance = (self.arrays.mass.mass, (scale @ rows).T)

    def _cones(self) -> tuple[Any, Floats, list[Any]]:
        """Rows G, h and cones of h - G x in the cones."""
        import clarabel
        from scipy.sparse import coo_array, csc_array, hstack, vstack

        arrays = self.arrays
        at: list[int] = []
        to: list[int] = []
        value: list[float] = []
        constant: list[float] = []
        cones: list[Any] = []

        def add(entries: list[tuple[int, float]], h: float) -> None:
            for column, entry in entries:
                at.append(len(constant))
                to.append(column)
                value.append(-entry)
            constant.append(h)

        for (a, size, kind, p), (mu, bound), scale in zip(arrays.layout, arrays.law, arrays.scale, strict=True):
            given = kind == BOUND
            limit = bound * scale / arrays.cause
            if size == 0 or (kind == BILATERAL and p == 0):
                continue
            t = a if given else a + 1
            if p == 0:
                add([(a, 1.0)], 0.0)
                cones.append(clarabel.NonnegativeConeT(1))
                continue
            add([] if given else [(a, mu)], limit if given else 0.0)
            for i in range(p):
                add([(t + i, 1.0)], 0.0)
            cones.append(clarabel.SecondOrderConeT(1 + p))
        shape = (len(constant), arrays.size)
        rows = coo_array((value, (at, to)), shape=shape).tocsc()
        h = np.array(constant, dtype=float)
        if not self.before:
            return rows, h, cones
        mass, columns = self.balance
        top = hstack([mass, -columns])
        rows = vstack([top, hstack([csc_array((shape[0], self.before)), rows])]).tocsc()
        return rows, np.concatenate([arrays.force / arrays.cause, h]), [clarabel.ZeroConeT(self.before), *cones]

    def term(self, u: Floats) -> Floats:
        """De Saxce's term mu |u_t| in the rows of the normals (m,)."""
        term = np.zeros(self.arrays.size)
        first, _, _, p = self.arrays.layout.T
        for i in np.flatnonzero(self.arrays.coulomb):
            a = first[i]
            term[a] = self.arrays.law[i, 0] * np.linalg.norm(u[a + 1 : a + 1 + p[i]])
        return term

    def solve(self, term: Floats) -> Floats:
        """Return the forces of the convex program with this term."""
        import clarabel

        arrays, scale, cause = self.arrays, self.arrays.row_scale, self.arrays.cause
        linear = ((arrays.b if self.by_force else -arrays.offset) + term) / scale / cause
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        settings.presolve_enable = False
        q = np.concatenate([np.zeros(self.before), linear])
        solver = clarabel.DefaultSolver(self.quadratic, q, self.constraints, self.constant, self.cones, settings)
        x = np.array(solver.solve().x)[self.before :]
        return np.asarray(x * cause / scale)
