"""M a = Q + J^T lam, J a = gamma for rows J of any rank, in the metric of the mass matrix.

With M = C C^T, z = C^T a and K = J C^-T the problem is: z nearest to C^-1 Q with K z = gamma. Where M is not
definite, or its light parts make rows look alike, M + J^T D J and Q + J^T D gamma stand in for M and Q. The singular
values of the rows of K, scaled to unit length, tell the rank; multipliers of least norm come from the pseudo-inverse,
and the null space of K^T holds the self-stresses, which are free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear import metric
from zwang._numerics.linear.rank import ROUNDING, decided, proved_independent
from zwang.errors import StateError

Array = NDArray[np.float64]
RANK_TOLERANCE = ROUNDING


@dataclass(frozen=True)
class KktSolution:
    """The solution of least multipliers, and what is known of its uniqueness.

    Attributes
    ----------
    accelerations : (n,)
    multipliers : (m,)
        Of least norm where dependent rows leave them free.
    rank : int
        Rank of the rows.
    self_stress : (m, m - rank)
        An orthonormal basis of the multipliers that change nothing: J^T self_stress = 0.
    inconsistency : float
        How far the dependent rows contradict each other, relative to their size; 0 when they agree. The accelerations
        then meet them as nearly as they can.
    """

    accelerations: Array
    multipliers: Array
    rank: int
    self_stress: Array
    inconsistency: float

    @property
    def regular(self) -> bool:
        """Whether the rows are independent."""
        return self.rank == self.multipliers.size


def solve_kkt(mass: Array, rows: Array, force: Array, gamma: Array, tol: float = RANK_TOLERANCE) -> KktSolution:
    """Solve M a = Q + J^T lam, J a = gamma.

    Parameters
    ----------
    mass : (n, n)
        Symmetric, positive definite on the kernel of the rows.
    rows : (m, n)
    force : (n,)
    gamma : (m,)
    tol : float
        Singular values of the scaled rows below `tol` count as zero.

    Examples
    --------
    >>> found = solve_kkt(np.eye(2), np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([1.0, -3.0]), np.zeros(2))
    >>> found.accelerations.round(12) + 0.0, found.rank, found.regular
    (array([1., 0.]), 1, False)
    """
    factor = metric.factor(mass)
    if factor is None or (len(rows) and not proved_independent(rows, mass)):
        force = force + rows.T @ (metric.support(mass, rows) * gamma)
        factor = metric.factor(metric.supported(mass, rows))
    if factor is None:
        raise StateError(
            "The mass matrix is not positive definite at this state, nor on the motions that the constraints allow. "
            "Give every coordinate inertia, and check the signs of masses and moments of inertia."
        )
    free = np.linalg.solve(factor, force)
    m = rows.shape[0]
    if m == 0:
        return KktSolution(np.linalg.solve(factor.T, free), np.zeros(0), 0, np.zeros((0, 0)), 0.0)
    found = decided(rows, factor, tol)
    kept, scale, left, values, right = found.rank, found.lengths, found.left, found.values, found.right
    unit = (left[:, : len(values)] * values) @ right[: len(values)]
    target = gamma / scale - unit @ free
    along = left.T @ target
    inside = along[:kept] / values[:kept]
    scaled = left[:, :kept] @ (inside / values[:kept])
    z = free + right[:kept].T @ inside
    stress, _ = np.linalg.qr(left[:, kept:] / scale[:, None])
    multipliers = scaled / scale
    multipliers -= stress @ (stress.T @ multipliers)
    size = np.linalg.norm(gamma / scale) + np.linalg.norm(unit @ free) + 1e-300
    return KktSolution(
        accelerations=np.asarray(np.linalg.solve(factor.T, z)),
        multipliers=multipliers,
        rank=kept,
        self_stress=stress,
        inconsistency=float(np.linalg.norm(along[kept:]) / size) if kept < m else 0.0,
    )
