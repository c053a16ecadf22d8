"""M a = Q + J^T lam, J a = gamma for rows J of any rank, in the metric of the mass matrix.

With M = C C^T, z = C^T a and K = J C^-T the problem is: z nearest to C^-1 Q with K z = gamma. Where M is not
definite, or its light parts make rows look alike, M + J^T D J and Q + J^T D gamma stand in for M and Q. The singular
values of the rows of K, scaled to unit length, tell the rank; multipliers of least norm come from the pseudo-inverse,
and the null space of K^T holds the self-stresses, which are free.

What M + J^T D J has lost of M no factorization finds again. So where M doesn't stand by itself the answer is put into
the equations, in longer numbers, and corrected until it meets them; where corrections don't settle, Arb solves the
equations of the rows that are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear import metric
from zwang._numerics.linear.rank import ROUNDING, Rank, decided, proved_independent
from zwang.errors import StateError

Array = NDArray[np.float64]
RANK_TOLERANCE = ROUNDING
SURE = 1e-5
"""Pivots of M above this part of their diagonal entry cost at most five digits: the answer is taken as it is."""
NOTHING = 1e-14
"""Singular values of unit rows that are rounding and nothing else."""
OWN, ALIKE = 1e-12, 1e-15
"""Corrections end below the part OWN of each value; what stays below the part ALIKE of the largest is zero."""
CORRECTIONS = 6
"""Each leaves at most a tenth where corrections settle at all in useful time, and mostly 1e-8."""
BITS = (128, 512, 2048)
"""Precisions of Arb; the last holds sums of doubles in units 1e300 apart."""
KNOWN = 60
"""Bits of an answer by Arb: a double has 53."""


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
    sure = factor is not None and metric.least_pivot(mass, factor) > SURE
    support = np.zeros(len(rows))
    if factor is None or (len(rows) and not proved_independent(rows, mass)):
        sure, support = False, metric.support(mass, rows)
        factor = metric.factor(metric.completed(mass, rows, support))
    if factor is None:
        raise StateError(
            "The mass matrix is not positive definite at this state, nor on the motions that the constraints allow. "
            "Give every coordinate inertia, and check the signs of masses and moments of inertia."
        )
    if not len(rows):
        return KktSolution(
            np.linalg.solve(factor.T, np.linalg.solve(factor, force)), np.zeros(0), 0, np.zeros((0, 0)), 0.0
        )
    solver = _KktFactors(rows, factor, support, decided(rows, factor, tol))
    if not solver.rank.full and not solver.plainly_dependent(mass):
        solver = _otherwise(mass, rows, tol) or solver
    a, lam, inconsistency = solver.solve(force, gamma)
    if not sure:
        a, lam = _refined(solver, mass, force, gamma, a, lam) or _exact(solver, mass, force, gamma, (a, lam))
    stress = solver.stress
    return KktSolution(a, lam - stress @ (stress.T @ lam), solver.rank.rank, stress, inconsistency)


class _KktFactors:
    """The factors of a problem, to solve it for several right sides."""

    def __init__(self, rows: Array, factor: Array, support: Array, rank: Rank) -> None:
        self.rows, self.factor, self.support, self.rank = rows, factor, support, rank
        self.unit = (rank.left[:, : len(rank.values)] * rank.values) @ rank.right[: len(rank.values)]
        self.stress = np.linalg.qr(rank.stress)[0]

    def plainly_dependent(self, mass: Array) -> bool:
        """Whether rows are dependent to rounding in a metric that hides nothing."""
        whole = metric.completed(mass, self.rows, self.support)
        return self.rank.gap[1] <= NOTHING and metric.least_pivot(whole, self.factor) > SURE

    def solve(self, force: Array, gamma: Array) -> tuple[Array, Array, float]:
        """Return accelerations, multipliers, and how far dependent rows contradict each other."""
        rank, kept = self.rank, self.rank.rank
        free = np.linalg.solve(self.factor, force + self.rows.T @ (self.support * gamma))
        along = rank.left.T @ (gamma / rank.lengths - self.unit @ free)
        inside = along[:kept] / rank.values[:kept]
        lam = rank.left[:, :kept] @ (inside / rank.values[:kept]) / rank.lengths
        a = np.asarray(np.linalg.solve(self.factor.T, free + rank.right[:kept].T @ inside), dtype=np.float64)
        size = np.linalg.norm(gamma / rank.lengths) + np.linalg.norm(self.unit @ free) + 1e-300
        return a, lam, float(np.linalg.norm(along[kept:]) / size) if kept < len(gamma) else 0.0

    def residuals(self, mass: Array, force: Array, gamma: Array, a: Array, lam: Array) -> tuple[Array, Array]:
        """Return Q + J^T lam - M a and gamma - J a, summed in longer numbers where the machine has them."""
        long = [np.asarray(item, dtype=np.longdouble) for item in (mass, self.rows, force, gamma, a, lam)]
        M, J, Q, g, x, y = long
        return np.asarray(Q + J.T @ y - M @ x, dtype=float), np.asarray(g - J @ x, dtype=float)

    def met(self, mass: Array, force: Array, gamma: Array, a: Array, lam: Array) -> bool:
        """Whether the equations hold to rounding of their terms: corrections vanish also where they have no effect."""
        rest, miss = self.residuals(mass, force, gamma, a, lam)
        rows = np.abs(self.rows)
        terms = np.abs(force) + rows.T @ np.abs(lam) + np.abs(mass) @ np.abs(a)
        along = rows @ np.abs(a) + np.abs(gamma)
        held = not self.rank.full or (np.abs(miss) <= OWN * along).all()
        return bool(held and (np.abs(rest) <= OWN * terms).all())


def _otherwise(mass: Array, rows: Array, tol: float) -> _KktFactors | None:
    """Return the factors in balanced units, where the rows are independent in them.

    Rows that are dependent up to rounding are so in any units; rows that are not may look so in some.
    """
    support = metric.balanced(mass, rows)
    factor = metric.factor(metric.completed(mass, rows, support))
    rank = None if factor is None else decided(rows, factor, tol)
    return _KktFactors(rows, factor, support, rank) if factor is not None and rank is not None and rank.full else None


def _refined(
    solver: _KktFactors, mass: Array, force: Array, gamma: Array, a: Array, lam: Array
) -> tuple[Array, Array] | None:
    """Return the answer with its corrections added, None where they don't settle."""
    units = np.sqrt(np.einsum("ij,ij->i", solver.factor, solver.factor)), solver.rank.lengths
    for _ in range(CORRECTIONS):
        more, stress, _ = solver.solve(*solver.residuals(mass, force, gamma, a, lam))
        a, lam = a + more, lam + stress
        if not (np.isfinite(a).all() and np.isfinite(lam).all()):
            return None
        if (np.abs(more) <= OWN * np.abs(a)).all() and (np.abs(stress) <= OWN * np.abs(lam)).all():
            break
    settled = _zeros_apart(more, a, units[0]) and _zeros_apart(stress, lam, units[1])
    return (a, lam) if settled and solver.met(mass, force, gamma, a, lam) else None


def _zeros_apart(change: Array, values: Array, unit: Array) -> bool:
    """Whether values have settled but for those that are rounding beside the largest: zeros never do."""
    sizes, changes = unit * np.abs(values), unit * np.abs(change)
    largest = float(sizes.max(initial=0.0))
    return bool((changes <= np.where(sizes > ALIKE * largest, OWN * sizes, ALIKE * largest)).all())


def _exact(
    solver: _KktFactors, mass: Array, force: Array, gamma: Array, found: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the answer of independent rows by Arb; what was found where they don't determine it."""
    from flint import arb_mat

    from zwang._numerics.series.balls import precision

    chosen = _independent(solver.unit, solver.rank.rank)
    n, m = len(mass), len(chosen)
    rows = solver.rows[chosen]
    whole = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]]).tolist()
    right = np.concatenate([force, gamma[chosen]])[:, None].tolist()
    for bits in BITS:
        with precision(bits):
            try:
                balls = arb_mat(whole).solve(arb_mat(right)).entries()
            except ZeroDivisionError:  # singular to so many bits
                continue
            if all(ball.is_zero() or ball.rel_accuracy_bits() > KNOWN for ball in balls) or bits == BITS[-1]:
                x = np.array([float(ball.mid()) for ball in balls])
                multipliers = np.zeros(len(solver.rows))
                multipliers[chosen] = x[n:]
                return x[:n], multipliers
    return found


def _independent(unit: Array, count: int) -> list[int]:
    """Return so many of the rows that are as independent as can be had one after the other."""
    if count == len(unit):
        return list(range(count))
    left, chosen = unit.copy(), []
    for _ in range(count):
        sizes = np.linalg.norm(left, axis=1)
        best = int(np.argmax(sizes))
        chosen.append(best)
        left -= np.outer(left @ left[best], left[best]) / sizes[best] ** 2
    return sorted(chosen)


def supported_against(mass: Array, rows: Array, force: Array, gamma: Array, weights: Array) -> Array:
    """Return D, raised where multipliers are large: so that without them no row is missed by more than its terms.

    M + W^T D W and Q + W^T D gamma alone miss the rows by about lam / D; what is missed by far costs digits. Rows whose
    terms are rounding beside what the forces do to those masses are zero, and are not asked for: where nothing
    accelerates, no D would do.

    Examples
    --------
    >>> rows = np.array([[1.0, -1.0]])
    >>> supported_against(np.diag([1.0, 0.0]), rows, np.array([0.0, 1e6]), np.zeros(1), np.ones(1)).round(12)
    array([1.])
    >>> supported_against(np.diag([1.0, 0.0]), rows, np.array([1.0, 1e6]) / 1e6, np.array([1e-9]), np.full(1, 1e-9))
    array([0.5])
    """
    found = solve_kkt(mass, rows, force, gamma)
    terms = np.abs(rows) @ np.abs(found.accelerations) + np.abs(gamma)
    needed = np.abs(found.multipliers) / np.where(
        terms > _rounding_of_terms(mass, rows, force, gamma, weights), terms, np.inf
    )
    return np.maximum(weights, needed)


def _rounding_of_terms(mass: Array, rows: Array, force: Array, gamma: Array, weights: Array) -> Array:
    """Return what rounding makes of the terms of each row: both are compared in the metric of M + W^T D W."""
    root = metric.factor(metric.completed(mass, rows, weights))
    if root is None:
        return np.zeros(len(rows))
    pushed = float(np.linalg.norm(np.linalg.solve(root, force)))
    largest = max(pushed, float(np.sqrt(weights * gamma**2).max(initial=0.0)))
    return np.where(weights > 0, OWN * largest / np.sqrt(np.where(weights > 0, weights, 1.0)), 0.0)
