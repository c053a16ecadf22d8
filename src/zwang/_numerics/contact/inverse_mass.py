"""A^-1 in the form that suits the mass matrix: dense, by small blocks, or a sparse factorization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.problem_values import Matrix, is_sparse
from zwang._numerics.linear.blocks import Blocks, diagonal_blocks, joined
from zwang.errors import DeclarationError

Floats = NDArray[np.float64]

INDEFINITE = (
    "The mass matrix is not positive definite: its Cholesky factorization fails. Give every coordinate inertia."
)


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
    """Return A^-1 from a mass matrix or from its inverse, dense or sparse.

    What was given dense and is made of small blocks has its inverse as a sparse matrix too.
    """
    if inverse_mass is not None:
        matrix = _csr(inverse_mass) if is_sparse(inverse_mass) else np.asarray(inverse_mass, dtype=float)
        if not is_sparse(matrix) and (blocks := diagonal_blocks(matrix)) is not None:
            matrix = joined(len(matrix), blocks)
        return InverseMass(lambda x: np.asarray(matrix @ x), matrix, None, np.asarray(matrix.diagonal()))
    if is_sparse(mass):
        mass = _csr(mass)
    blocks = diagonal_blocks(mass)
    if blocks is not None:
        return _in_blocks(mass, blocks)
    if not is_sparse(mass):
        return _dense(np.asarray(mass, dtype=float))
    from scipy.sparse.linalg import splu

    factors = splu(mass.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return InverseMass(factors.solve, None, mass, 1.0 / mass.diagonal())


def _csr(matrix: Matrix) -> Matrix:
    from scipy.sparse import csr_array

    result = csr_array(matrix).astype(float)
    result.sum_duplicates()
    return result


def _dense(mass: Floats) -> InverseMass:
    try:
        lower = np.linalg.inv(np.linalg.cholesky(mass))
    except np.linalg.LinAlgError:
        raise DeclarationError(INDEFINITE) from None
    inverse = lower.T @ lower

    def apply(x: Floats) -> Floats:
        y = inverse @ x
        return np.asarray(y + inverse @ (x - mass @ y))  # one refinement: residuals at rounding level for any scaling

    return InverseMass(apply, inverse, None, np.diag(inverse))


def _in_blocks(mass: Matrix, blocks: list[Blocks]) -> InverseMass:
    n = mass.shape[0]
    inverses = []
    for index, block in blocks:
        try:
            np.linalg.cholesky(block)
            inverse = np.linalg.inv(block) if block.shape[1] > 1 else 1.0 / block
        except np.linalg.LinAlgError:
            raise DeclarationError(INDEFINITE) from None
        inverses.append(Blocks(index, 0.5 * (inverse + inverse.transpose(0, 2, 1))))
    matrix = joined(n, inverses)
    whole = mass if is_sparse(mass) else joined(n, blocks)
    return InverseMass(lambda x: np.asarray(matrix @ x), matrix, whole, matrix.diagonal())
