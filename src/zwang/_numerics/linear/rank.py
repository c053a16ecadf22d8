"""The one test of dependence: how many rows are independent, decided on unit rows in the metric of the mass matrix.

Singular values of rows of unit length don't depend on the units of coordinates, nor on those of the rows. Two
questions are asked of them. Of given numbers: are these rows dependent up to rounding (`ROUNDING`)? Of the state of a
mechanism, which is itself rounded, and at whose rows constraints that touch leave 1e-8: are they dependent to
tolerance (`DEPENDENT`)? Above `CLEAR` no rounding of rows or state makes them dependent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear.metric import factor, supported
from zwang._numerics.tolerances import THRESHOLDS

Array = NDArray[np.float64]

ROUNDING, DEPENDENT = THRESHOLDS.rounding, THRESHOLDS.dependent
CLEAR, GRAM = THRESHOLDS.clear, THRESHOLDS.gram


@dataclass(frozen=True, eq=False)
class Rank:
    """What is known of the dependence of rows.

    Attributes
    ----------
    rank : int
    values : (min(m, n),) array
        Singular values of the rows scaled to unit length in the metric, descending.
    left : (m, m) array
        Left singular vectors; those beyond the rank are the dependencies of the unit rows.
    right : (n, n) array
        Right singular vectors as rows, in coordinates in which the metric is the identity.
    lengths : (m,) array
        Lengths of the rows in the metric.
    """

    rank: int
    values: Array
    left: Array
    right: Array
    lengths: Array

    @property
    def full(self) -> bool:
        """Whether the rows are independent."""
        return self.rank == len(self.lengths)

    @property
    def gap(self) -> tuple[float, float]:
        """The singular values on both sides of the decision: the least that counts, the largest that doesn't."""
        above = float(self.values[self.rank - 1]) if self.rank else float("inf")
        below = float(self.values[self.rank]) if self.rank < len(self.values) else 0.0
        return above, below

    @property
    def stress(self) -> Array:
        """(m, m - rank): combinations of the rows, as given, that vanish."""
        found: Array = self.left[:, self.rank :] / self.lengths[:, None]
        return found


def proved_independent(rows: Array, mass: Array) -> bool:
    """Whether rows are independent beyond any rounding: the Gram matrix of the unit rows minus CLEAR^2 is definite.

    Cholesky's factorization fails where a matrix is not definite by more than about m^2 eps, which is far below
    CLEAR^2; so its success is a proof for rows known to four digits.

    Examples
    --------
    >>> proved_independent(np.array([[1.0, 2.0], [2.0, 4.1]]), np.eye(2))
    True
    >>> proved_independent(np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(2))
    False
    """
    root = factor(mass) if len(rows) <= rows.shape[1] else None
    if root is None:
        return False
    metric = np.linalg.solve(root, rows.T)
    return proved_by_gram(metric.T @ metric)


def proved_by_gram(gram: Array) -> bool:
    """Whether rows with this Gram matrix are independent beyond any rounding: see `proved_independent`."""
    squares = np.diag(gram)
    if not (squares > 0).all():
        return False
    size = np.sqrt(squares)
    try:
        np.linalg.cholesky(gram / np.outer(size, size) - CLEAR**2 * np.eye(len(gram)))
    except np.linalg.LinAlgError:
        return False
    return True


def rank_of(rows: Array, mass: Array, tol: float = DEPENDENT) -> Rank:
    """Return the rank of rows in the metric of a mass matrix.

    Parameters
    ----------
    rows : (m, n)
    mass : (n, n)
        Positive definite, or semidefinite and definite on the kernel of the rows.
    tol : float
        Singular values of the unit rows up to this count as zero.

    Examples
    --------
    >>> found = rank_of(np.array([[1.0, 2.0, 0.0], [1e6, 2e6, 0.0]]), np.eye(3))
    >>> found.rank, found.full
    (1, False)
    """
    root = factor(mass)
    if root is not None:
        found = decided(rows, root, tol)
        if found.full and (not len(rows) or found.values[-1] > CLEAR):
            return found
    return decided(rows, rank_metric(rows, mass), tol)


def rank_metric(rows: Array, mass: Array) -> Array:
    """Return the factor of the metric in which rows are compared that look dependent, or whose masses don't suffice.

    Light masses make rows look alike that are not: what moves them is nearly the same light part. So the rows add to
    the inertia here; that leaves rows alone which really depend on each other.
    """
    root = factor(supported(mass, rows))
    return root if root is not None else np.diag(np.sqrt(np.where(np.diag(mass) > 0, np.diag(mass), 1.0)))


def decided(rows: Array, root: Array, tol: float, lengths: Array | None = None) -> Rank:
    """Return the rank in the metric of root root^T; `lengths` scales rows whose own lengths are rounding."""
    metric = np.linalg.solve(root, rows.T).T
    sizes = np.linalg.norm(metric, axis=1) if lengths is None else lengths
    sizes = np.where(sizes > 0, sizes, 1.0)
    left, values, right = np.linalg.svd(metric / sizes[:, None], full_matrices=True)
    return Rank(int(np.count_nonzero(values > tol)), values, left, right, sizes)


def rank_of_gram(gram: Array) -> Rank:
    """Return the rank of unit rows of which only the Gram matrix is known."""
    squares, vectors = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    kept = int(np.count_nonzero(squares > GRAM))
    return Rank(kept, values, vectors[:, ::-1], np.eye(len(gram)), np.ones(len(gram)))
