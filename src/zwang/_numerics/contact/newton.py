"""Semismooth Newton for contact forces: dense and compiled for small problems, sparse for large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact import newton_kernels as kernels
from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.newton_kernels import RIDGE, natural_map, newton_dense
from zwang._numerics.contact.scaled_system import scaled_system

Floats = NDArray[np.float64]

_DENSE_SIZE = 200  # above, a sparse factorization beats the plain elimination of the kernel


def newton(arrays: FrictionArrays, *, start: Floats | None = None, tol: float = 1e-10, limit: int = 60) -> Candidate:
    """Iterate from `start` (zero forces if left out).

    Newton's method finds solutions that sweeps leave, those at which a sweep doesn't contract; which one depends on
    the start.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [2.0, -1.0], contacts=[floor]))
    >>> newton(arrays).forces
    array([ 1. , -0.5])
    """
    r = np.zeros(arrays.size) if start is None else np.asarray(start) * arrays.row_scale / arrays.cause
    if not in_dense_form(arrays):
        r, iterations = _newton_sparse(arrays, r, tol, limit)
    else:
        system = scaled_system(arrays)
        iterations = newton_dense(system.wt, system.b, arrays.layout, system.law, r, tol, limit)
    return candidate_of(arrays, r * (arrays.cause / arrays.row_scale), "semismooth Newton", iterations)


def in_dense_form(arrays: FrictionArrays) -> bool:
    """Whether steps are made by the dense kernel."""
    return arrays.size <= _DENSE_SIZE or not arrays.has_sparse_delassus


def newton_from_each(
    arrays: FrictionArrays, starts: Floats, *, reach: float, tol: float = 1e-12, limit: int = 60
) -> Floats:
    """Return the forces (., m) that Newton's method finds from starts (s, m) by the dense kernel.

    What is farther from a law than a residual of `reach` allows is left out; what is returned may be a little farther,
    since friction forces are looked at one component at a time.
    """
    system = scaled_system(arrays)
    x, distance = np.ascontiguousarray(starts * arrays.row_scale / arrays.cause), np.empty(len(starts))
    kernels.newton_from_each(system.wt, system.b, arrays.layout, system.law, x, distance, tol, limit)
    near = distance <= reach * np.maximum(1.0, 1e-6 * np.abs(x).max(axis=1, initial=0.0))
    return np.asarray(x[near] * (arrays.cause / arrays.row_scale))


def _newton_sparse(arrays: FrictionArrays, r: Floats, tol: float, limit: int) -> tuple[Floats, int]:
    from scipy.sparse import csr_array, diags_array, eye_array
    from scipy.sparse.linalg import MatrixRankWarning, splu

    scale, law = arrays.row_scale, arrays.scaled_law
    unscale = diags_array(1.0 / scale)
    w = csr_array(unscale @ arrays.sparse_delassus @ unscale)
    ridged = w + RIDGE * eye_array(arrays.size)
    b = arrays.b / scale / arrays.cause
    blocks = _Blocks(arrays)
    f, pq, active = np.zeros(arrays.size), np.zeros((arrays.count, 2, 3, 3)), np.zeros(arrays.count + 1, np.int64)
    merit = natural_map(arrays.layout, law, r, w @ r + b, f, pq, active)
    best, keep, done = merit, r.copy(), 0
    while done < limit and np.max(np.abs(f)) > tol and np.isfinite(merit):
        done += 1
        jacobian = (blocks.matrix(pq[:, 0]) + blocks.matrix(pq[:, 1]) @ ridged).tocsc()
        try:
            d = splu(jacobian).solve(-f)
        except (RuntimeError, MatrixRankWarning):
            break
        step = 1.0
        for attempt in range(9):
            step = 1.0 if attempt == 8 else 0.5**attempt
            x = r + step * d
            trial = natural_map(arrays.layout, law, x, w @ x + b, f, pq, active)
            if trial < (1 - 1e-4 * step) * merit:
                break
        r, merit = x, trial
        if merit < best:
            best, keep = merit, r.copy()
    return keep, done


class _Blocks:
    """Where the entries of contacts' blocks stand in a sparse block diagonal matrix."""

    def __init__(self, arrays: FrictionArrays) -> None:
        first, size = arrays.layout[:, 0], arrays.layout[:, 1]
        self.contact, self.i, self.k = np.nonzero(
            (np.arange(3)[None, :, None] < size[:, None, None]) & (np.arange(3)[None, None, :] < size[:, None, None])
        )
        self.row, self.col = first[self.contact] + self.i, first[self.contact] + self.k
        self.size = arrays.size

    def matrix(self, blocks: Floats) -> Any:
        from scipy.sparse import csr_array

        values = blocks[self.contact, self.i, self.k]
        return csr_array((values, (self.row, self.col)), shape=(self.size, self.size))
