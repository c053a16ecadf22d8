"""A^-1 in the form that suits the mass matrix: dense, by small blocks, or a sparse factorization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.problem import Matrix, is_sparse
from zwang.errors import DeclarationError

Floats = NDArray[np.float64]

_LARGEST_BLOCK = 16  # coordinates of one body, or a few bodies joined; larger blocks would fill the inverse


@dataclass(frozen=True, eq=False)
class InverseMass:
    """A^-1 and what is known about it.

    Attributes
    ----------
    apply : callable
        x -> A^-1 x for vectors (n,) and matrices (n, k).
    matrix : (n, n) dense, csr or None
        A^-1 itself; None where it would be full though A is sparse.
    mass : (n, n) csr or None
        A where it was given as a sparse matrix.
    uncoupled : (n,) array
        Roughly the diagonal of A^-1.
    """

    apply: Callable[[Floats], Floats]
    matrix: Matrix | None
    mass: Matrix | None
    uncoupled: Floats


def inverse_of(mass: Matrix, inverse_mass: Matrix) -> InverseMass:
    """Return A^-1 from a mass matrix or from its inverse, dense or sparse."""
    if inverse_mass is not None:
        matrix = _csr(inverse_mass) if is_sparse(inverse_mass) else np.asarray(inverse_mass, dtype=float)
        return InverseMass(lambda x: np.asarray(matrix @ x), matrix, None, np.asarray(matrix.diagonal()))
    if not is_sparse(mass):
        return _dense(np.asarray(mass, dtype=float))
    sparse = _csr(mass)
    blocks = _block_inverse(sparse)
    if blocks is not None:
        return InverseMass(lambda x: np.asarray(blocks @ x), blocks, sparse, blocks.diagonal())
    from scipy.sparse.linalg import splu

    factors = splu(sparse.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return InverseMass(factors.solve, None, sparse, 1.0 / sparse.diagonal())


def _csr(matrix: Matrix) -> Matrix:
    from scipy.sparse import csr_array

    result = csr_array(matrix).astype(float)
    result.sum_duplicates()
    return result


def _dense(mass: Floats) -> InverseMass:
    try:
        lower = np.linalg.inv(np.linalg.cholesky(mass))
    except np.linalg.LinAlgError:
        raise DeclarationError(
            "The mass matrix is not positive definite: its Cholesky factorization fails. Give every coordinate inertia."
        ) from None
    inverse = lower.T @ lower

    def apply(x: Floats) -> Floats:
        y = inverse @ x
        return np.asarray(y + inverse @ (x - mass @ y))  # one refinement: residuals at rounding level for any scaling

    return InverseMass(apply, inverse, None, np.diag(inverse))


def _block_inverse(mass: Matrix) -> Matrix | None:
    """The inverse of a block diagonal matrix as csr, or None if a block is large."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = mass.shape[0]
    if mass.nnz == n and (mass.indices == np.arange(n)).all():
        return csr_array((1.0 / mass.data, mass.indices, mass.indptr), shape=mass.shape)
    _, label = connected_components(mass, directed=False)
    size = np.bincount(label)
    if size.max(initial=0) > _LARGEST_BLOCK:
        return None
    members = np.argsort(label, kind="stable")
    start = np.concatenate([[0], np.cumsum(size)])
    inside = np.empty(n, dtype=np.int64)  # the place of a coordinate in its block
    inside[members] = np.arange(n) - np.repeat(start[:-1], size)
    entry = mass.tocoo()
    values, row, col = [], [], []
    for s in np.unique(size):
        rank = np.cumsum(size == s) - 1
        here = size[label[entry.row]] == s
        at, to = entry.row[here], entry.col[here]
        block = np.zeros((int(rank[-1]) + 1, s, s))
        block[rank[label[at]], inside[at], inside[to]] = entry.data[here]
        inverse = np.linalg.inv(block)
        index = members[start[:-1][size == s][:, None] + np.arange(s)]
        values.append((0.5 * (inverse + inverse.transpose(0, 2, 1))).ravel())
        row.append(np.repeat(index, s, axis=1).ravel())
        col.append(np.tile(index, (1, s)).ravel())
    return csr_array((np.concatenate(values), (np.concatenate(row), np.concatenate(col))), shape=mass.shape)
