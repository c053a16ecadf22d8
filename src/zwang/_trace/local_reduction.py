"""Lyapunov-Schmidt reduction at a point: the equations that are left in the kernel of the Jacobian, as polynomials.

With the singular value decomposition F'(q) = U S V^T cut at a rank r, x = K z + P w(z) where K spans the kernel: w
solves the r equations that are regular, and g(z) are the m - r that remain. Both are truncated power series in z.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series import reduction
from zwang._numerics.series.arithmetic import FLOATS
from zwang._numerics.series.germ import Terms, turned
from zwang._numerics.series.power import Monomials, Series, monomials, ring
from zwang._numerics.series.reduction import Split
from zwang._trace.space_equations import SpacePlace
from zwang.errors import StateError

Array = NDArray[np.float64]
TINY = 1e-10
"""Reduced equations with all coefficients below this vanish: those of constraints that repeat others."""


@dataclass(frozen=True)
class Frame:
    """A point with its singular value decomposition, cut at a rank: F' = left diag(values) across^T + small.

    Attributes
    ----------
    q : (n,) array
    rank : int
    values : (min(m, n),) array
        All singular values of dF/dx.
    kernel : (n, k) array, across : (n, r) array
        Orthonormal in x = q/scale.
    left : (m, r) array, cokernel : (m, m - r) array
    """

    place: SpacePlace
    q: Array
    rank: int
    values: Array
    kernel: Array
    across: Array
    left: Array
    cokernel: Array

    @property
    def lost(self) -> bool:
        """Whether the rank that was asked for is not there: a singular value that counts is zero."""
        return bool(self.rank and not self.values[self.rank - 1] > 0)

    def moved(self, z: Array) -> Array:
        """Return the q that belongs to kernel coordinates z, to first order."""
        return np.asarray(self.q + self.place.scale * (self.kernel @ z))


def frame(place: SpacePlace, q: Array, rank: int) -> Frame:
    """Return the frame at the point next to q where the regular part of the equations holds."""
    q = np.array(q, dtype=float)
    for _ in range(20):
        value, rows = place.values(q)
        left, values, right = np.linalg.svd(rows)
        if rank == 0 or not values[rank - 1] > 0:
            break
        step = -right[:rank].T @ ((left[:, :rank].T @ value) / values[:rank])
        q += place.scale * step
        if np.abs(step).max() <= 1e-15 * (1 + np.abs(q / place.scale).max()):
            break
    value, rows = place.values(q)
    left, values, right = np.linalg.svd(rows)
    return Frame(place, q, rank, values, right[rank:].T, right[:rank].T, left[:, :rank], left[:, rank:])


@dataclass(frozen=True)
class ReducedEquations:
    """The reduced equations: rows of coefficients over the monomials in the kernel coordinates."""

    frame: Frame
    monomials: Monomials
    coefficients: Array

    def mixed(self) -> Series:
        """Return one equation from several: every common zero is one of its zeros."""
        count = len(self.coefficients)
        weights = np.ones(1) if count == 1 else np.random.default_rng(3).normal(size=count)
        return Series(ring(FLOATS, self.monomials.variables), 0, weights @ self.coefficients, self.monomials.degree + 1)


def reduce(at: Frame, degree: int) -> ReducedEquations:
    """Return the reduced equations at a frame up to a total degree; those that vanish identically are left out."""
    place, k = at.place, at.kernel.shape[1]
    split = Split(
        np.zeros(len(at.q)), at.kernel.T, at.across.T, at.left.T, at.cokernel.T, np.diag(1 / at.values[: at.rank])
    )

    def values(x: list[Series]) -> list[Series]:
        q = [item * scale + start for item, scale, start in zip(x, place.scale, at.q, strict=True)]
        return [item * (1 / weight) for item, weight in zip(place.series(q), place.weights, strict=True)]

    M = monomials(k, degree)
    try:
        with np.errstate(all="ignore"):  # far from any root numbers may overflow: what comes of it is not finite
            found, _ = reduction.reduce(values, split, degree, FLOATS)
    except (ArithmeticError, StateError):  # a root or a quotient that is not smooth there
        return ReducedEquations(at, M, np.zeros((0, M.size)))
    return ReducedEquations(at, M, _independent(np.array([item.c for item in found]).reshape(-1, M.size)))


def path_values(place: SpacePlace, q: Array, x: Array) -> Array:
    """Return the coefficients (m, size) of F along q + scale * x, x being coefficients (n, size) without constants."""
    return _path(place, q, x, False) / place.weights[:, None]


def path_rows(place: SpacePlace, q: Array, x: Array) -> Array:
    """Return the coefficients (m, n, size) of dF/dx along q + scale * x."""
    m, n = len(place.weights), len(q)
    found = _path(place, q, x, True).reshape(m, n, x.shape[1])
    return found * place.scale[None, :, None] / place.weights[:, None, None]


def _path(place: SpacePlace, q: Array, x: Array, rows: bool) -> Array:
    """Return coefficients along a path; not a number where a root or a quotient has no series."""
    R, size = ring(FLOATS), x.shape[1]
    path = place.scale[:, None] * x
    path[:, 0] += q
    try:
        found = place.series([Series(R, 0, row, size) for row in path], rows=rows)
    except (ArithmeticError, StateError):
        found = [np.nan] * (len(place.weights) * (len(q) if rows else 1))
    series = [item if isinstance(item, Series) else R.constant(float(item), size) for item in found]
    return np.array([item.c for item in series]).reshape(-1, size)


def _independent(rows: Array) -> Array:
    """Return a basis of the span of the rows, those that are rounding left out; one row stays as it is."""
    if len(rows) <= 1 or not np.isfinite(rows).all():
        return rows if np.abs(rows).max(initial=0.0) > TINY else rows[:0]
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = int(np.count_nonzero(values > TINY))
    return np.asarray(values[:kept, None] * right[:kept])


def derivative_system(found: ReducedEquations, order: int) -> tuple[Array, Array]:
    """Return values and slopes at z = 0 of all derivatives of that order of all reduced equations."""
    M = found.monomials
    k = M.variables
    values, slopes = [], []
    for place, exponents in enumerate(M.exponents):
        if M.totals[place] != order:
            continue
        factor = np.prod([_factorial(int(e)) for e in exponents])
        values.append(factor * found.coefficients[:, place])
        row = np.zeros((len(found.coefficients), k))
        for j in range(k):
            up = exponents.copy()
            up[j] += 1
            row[:, j] = factor * up[j] * found.coefficients[:, M.places[tuple(int(e) for e in up)]]
        slopes.append(row)
    return np.concatenate(values), np.concatenate(slopes)


def _factorial(value: int) -> int:
    return 1 if value < 2 else value * _factorial(value - 1)


def valley(form: Terms, size: int, order: int, axis: Array) -> tuple[Array, Array]:
    """Return eta(xi) with d^(order-1) g/d eta^(order-1) = 0, and h(xi) = g(xi, eta(xi)), as coefficients in xi.

    `axis` is the unit vector of eta in the coordinates of g; xi is perpendicular to it.
    """
    turns = turned(form, ((axis[1], -axis[0]), (axis[0], axis[1])))
    table = np.zeros((size, size))
    for (i, j), item in turns.items():
        table[i, j] = item
    R = ring(FLOATS)
    # Coefficients in eta of the derivative that must vanish.
    slopes = np.array([[comb(j, order - 1) * table[i, j] for i in range(size)] for j in range(order - 1, size)])
    eta = R.constant(0.0, size)
    lead = slopes[1, 0]
    with np.errstate(all="ignore"):  # without a valley there is no number, and whoever asks looks
        for _ in range(2 * size):
            eta = eta - _horner(slopes, eta) * (1 / lead)
        return np.asarray(eta.c), np.asarray(_horner(table.T, eta).c)


def _horner(rows: Array, eta: Series) -> Series:
    total = eta * 0.0
    for row in rows[::-1]:
        total = total * eta + Series(eta.ring, 0, row, eta.size)
    return total
