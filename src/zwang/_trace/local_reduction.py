"""Lyapunov-Schmidt reduction at a point: the equations that are left in the kernel of the Jacobian, as polynomials.

With the singular value decomposition F'(q) = U S V^T cut at a rank r, x = K z + P w(z) where K spans the kernel: w
solves the r equations that are regular, and g(z) are the m - r that remain. Both are truncated power series in z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.power_series import Ring, Series, ring
from zwang._trace.equations import Place

Array = NDArray[np.float64]
TINY = 1e-10


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

    place: Place
    q: Array
    rank: int
    values: Array
    kernel: Array
    across: Array
    left: Array
    cokernel: Array

    def moved(self, z: Array) -> Array:
        """Return the q that belongs to kernel coordinates z, to first order."""
        return np.asarray(self.q + self.place.scale * (self.kernel @ z))


def frame(place: Place, q: Array, rank: int) -> Frame:
    """Return the frame at the point next to q where the regular part of the equations holds."""
    q = np.array(q, dtype=float)
    for _ in range(20):
        value, rows = place.values(q)
        left, values, right = np.linalg.svd(rows)
        if rank == 0:
            break
        step = -right[:rank].T @ ((left[:, :rank].T @ value) / values[:rank])
        q += place.scale * step
        if np.abs(step).max() <= 1e-15 * (1 + np.abs(q / place.scale).max()):
            break
    value, rows = place.values(q)
    left, values, right = np.linalg.svd(rows)
    return Frame(place, q, rank, values, right[rank:].T, right[:rank].T, left[:, :rank], left[:, rank:])


@dataclass(frozen=True)
class Reduced:
    """The reduced equations: rows of coefficients over the monomials of a ring in the kernel coordinates."""

    frame: Frame
    ring: Ring
    coefficients: Array

    def table(self, row: int) -> Array:
        """Return the coefficients of one equation in two unknowns as a square array [i, j] for z1^i z2^j."""
        size = self.ring.degree + 1
        found = np.zeros((size, size))
        for place, (i, j) in enumerate(self.ring.exponents):
            found[i, j] = self.coefficients[row, place]
        return found

    def norms(self) -> Array:
        """Return the largest coefficient of each degree."""
        return np.array(
            [np.abs(self.coefficients[:, self.ring.totals == d]).max(initial=0.0) for d in range(self.ring.degree + 1)]
        )


def reduce(at: Frame, degree: int) -> Reduced:
    """Return the reduced equations at a frame up to a total degree; those that vanish identically are left out."""
    k = at.kernel.shape[1]
    w = np.zeros((at.rank, 1))
    for d in range(1, degree + 1):
        R = ring(k, d)
        grown = np.zeros((at.rank, R.size))
        grown[:, : w.shape[1]] = w
        values = _along(at, R, np.eye(k), grown)
        if at.rank:
            grown -= (at.left.T @ values) / at.values[: at.rank, None]
            if d == degree:  # the last correction changes the regular rows alone, to first order also the others
                values = _along(at, R, np.eye(k), grown)
        w = grown
    found = at.cokernel.T @ values
    return Reduced(at, R, _independent(found))


def _along(at: Frame, R: Ring, paths: Array, w: Array) -> Array:
    """Return the coefficients of F along x = K (paths of the ring's variables) + P w."""
    linear = np.zeros((at.kernel.shape[1], R.size))
    linear[:, 1 : 1 + R.variables] = paths
    return path_values(at.place, at.q, R, at.kernel @ linear + at.across @ w)


def path_values(place: Place, q: Array, R: Ring, x: Array) -> Array:
    """Return the coefficients (m, size) of F along q + scale * x, x being coefficients (n, size) without constants."""
    series = [Series(R, place.scale[i] * x[i]) + float(q[i]) for i in range(len(q))]
    found = place.equations.series(series, place.t, [float(value) for value in place.params])
    return np.array([_coefficients(item, R) for item in found]).reshape(-1, R.size) / place.weights[:, None]


def path_rows(place: Place, q: Array, R: Ring, x: Array) -> Array:
    """Return the coefficients (m, n, size) of dF/dx along q + scale * x."""
    series = [Series(R, place.scale[i] * x[i]) + float(q[i]) for i in range(len(q))]
    rows = place.equations.series_rows(series, place.t, [float(value) for value in place.params])
    found = np.array([[_coefficients(item, R) for item in row] for row in rows])
    return found * place.scale[None, :, None] / place.weights[:, None, None]


def _coefficients(item: Any, R: Ring) -> Array:
    if isinstance(item, Series):
        return np.asarray(item.c, dtype=float)
    constant = np.zeros(R.size)
    constant[0] = float(item)
    return constant


def _independent(rows: Array) -> Array:
    """Return a basis of the span of the rows, those that are rounding left out; one row stays as it is."""
    if len(rows) <= 1:
        return rows if np.abs(rows).max(initial=0.0) > TINY else rows[:0]
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = int(np.count_nonzero(values > TINY))
    return np.asarray(values[:kept, None] * right[:kept])


def derivative_system(found: Reduced, order: int) -> tuple[Array, Array]:
    """Return values and slopes at z = 0 of all derivatives of that order of all reduced equations."""
    R = found.ring
    k = R.variables
    values, slopes = [], []
    for place, exponents in enumerate(R.exponents):
        if R.totals[place] != order:
            continue
        factor = np.prod([_factorial(int(e)) for e in exponents])
        values.append(factor * found.coefficients[:, place])
        row = np.zeros((len(found.coefficients), k))
        for j in range(k):
            up = exponents.copy()
            up[j] += 1
            row[:, j] = factor * up[j] * found.coefficients[:, R.places[tuple(int(e) for e in up)]]
        slopes.append(row)
    return np.concatenate(values), np.concatenate(slopes)


def _factorial(value: int) -> int:
    return 1 if value < 2 else value * _factorial(value - 1)


def valley(table: Array, order: int, axis: Array) -> tuple[Array, Array]:
    """Return eta(xi) with d^(order-1) g/d eta^(order-1) = 0, and h(xi) = g(xi, eta(xi)), as coefficients in xi.

    `axis` is the unit vector of eta in the coordinates of the table; xi is perpendicular to it.
    """
    from zwang._numerics.plane_germs import substituted

    turned = substituted(table, np.array([[axis[1], axis[0]], [-axis[0], axis[1]]]))
    size = len(turned)
    R = ring(1, size - 1)
    # Coefficients in eta of the derivative that must vanish.
    slopes = np.array([[comb(j, order - 1) * turned[i, j] for i in range(size)] for j in range(order - 1, size)])
    eta = R.variable(0) * 0.0
    lead = slopes[1, 0]
    for _ in range(2 * size):
        eta = eta - _horner(slopes, eta, R) * (1 / lead)
    h = _horner(turned.T, eta, R)
    return np.asarray(eta.c), np.asarray(h.c)


def _horner(rows: Sequence[Array] | Array, eta: Series, R: Ring) -> Series:
    total = R.variable(0) * 0.0
    for row in reversed(list(rows)):
        total = total * eta + Series(R, np.array(row))
    return total
