"""Half-branches as power series: from their first terms to a curve that is exact to rounding next to a singular point.

Newton's method on the coefficients of x(tau): F(x(tau)) = 0 up to a degree, with the leading coordinate fixed as
side * tau^root. The Jacobian along the curve is itself a series, singular at tau = 0 alone; as a band of blocks it is a
least-squares problem whose last coefficients are not determined and are cut off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.charts import DEGREE, NODES, TRANSFORM
from zwang._results.configuration_arc import _invert, chebyshev
from zwang._trace.local_reduction import Frame, path_rows, path_values
from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
UNITS = (1.0, 0.125, 0.015625)
"""Parts of the typical radius of convergence in which series are computed: where curves bend more, or meet nearly."""
USED = 16
"""Degree of the series, in units of the root: rounding is reached within about a quarter of the radius."""


def widest(root: int) -> float:
    """Return the largest tau that is used: a quarter; more where x runs like its third or a higher power."""
    return float(max(0.25, 0.0625 ** (1 / root)))


@dataclass(frozen=True)
class BranchStart:
    """The first terms of a half-branch.

    Attributes
    ----------
    z : (k, e + 1) array
        Coefficients of the kernel coordinates in tau.
    gauge : (k,) array
        The direction in the kernel along which it is side * tau^root exactly.
    root : int
    vanishing : int
        The largest power of tau with which the reduced Jacobian may vanish along it.
    exact : int or None
        From which degree on coefficients are corrected; by default those given are exact.
    """

    z: Array
    gauge: Array
    root: int
    vanishing: int
    exact: int | None = None


def grow(at: Frame, start: BranchStart, degree: int = USED) -> Array | None:
    """Return the coefficients (degree * root + 1, n) of x(tau) - x(0) for a half-branch; None where none follows.

    In units of the radius of convergence coefficients neither grow nor vanish much: a typical one is tried first.
    """
    found = (_grown(at, start, degree, widest(start.root) * part) for part in UNITS)
    return next((series for series in found if series is not None), None)


def _grown(at: Frame, start: BranchStart, degree: int, unit: float) -> Array | None:
    """Return the coefficients, computed in a unit of tau."""
    count = degree * start.root + start.vanishing + 2
    width = min(start.z.shape[1], count)
    shrink = unit ** np.arange(count)
    z = np.zeros((at.kernel.shape[1], count))
    z[:, :width] = start.z[:, :width] * shrink[:width]
    x = _settle(at, at.kernel @ z)
    used = degree * start.root + 1
    before = np.inf
    for _ in range(12):
        step = _newton(at, x, at.kernel @ start.gauge, width if start.exact is None else start.exact)
        if step is None:
            return None
        x = _settle(at, x + step)
        length = float(np.abs(step[:, :used]).max())
        if not np.isfinite(length) or length > 1e8:
            return None
        if length <= 1e-15 or (length <= 1e-11 and length >= 0.5 * before):
            break
        before = length
    else:
        return None
    return np.asarray((x / shrink)[:, :used].T)


def _settle(at: Frame, x: Array) -> Array:
    """Correct the regular part for the given path in the kernel: one more order each time."""
    if at.rank == 0:
        return x
    for _ in range(x.shape[1]):
        step = at.across @ ((at.left.T @ path_values(at.place, at.q, x)) / at.values[: at.rank, None])
        step[:, 0] = 0.0
        x = x - step
        if np.abs(step).max() <= 1e-15:
            break
    return x


def _newton(at: Frame, x: Array, gauge: Array, known: int) -> Array | None:
    """Return the correction of the coefficients of degree `known` and more; those below are exact."""
    values = path_values(at.place, at.q, x)
    rows = path_rows(at.place, at.q, x)
    m, n, size = rows.shape
    if not np.isfinite(values).all() or not np.isfinite(rows).all():
        return None
    matrix = np.zeros((size - known, m + 1, size - known, n))
    for i in range(known, size):
        for j in range(known, i + 1):
            matrix[i - known, :m, j - known, :] = rows[:, :, i - j]
        matrix[i - known, m, i - known, :] = gauge
    right = np.zeros((size - known, m + 1))
    right[:, :m] = -values[:, known:].T
    found, *_ = np.linalg.lstsq(matrix.reshape((size - known) * (m + 1), -1), right.ravel(), rcond=1e-13)
    step = np.zeros((n, size))
    step[:, known:] = found.reshape(size - known, n).T
    return step


def reach(place: SpacePlace, q: Array, x: Array, root: int = 1) -> float:
    """Return up to which tau the series is exact to rounding, from its last coefficients and from the equations."""
    sizes = np.abs(x).max(axis=1)
    last = range(max(1, len(x) - 6), len(x))
    # A coefficient at the level of rounding says nothing about convergence.
    bounds = [(2e-15 / sizes[i]) ** (1 / i) for i in last if sizes[i] > 1e-14]
    tau = min([widest(root), *bounds])
    for _ in range(60):
        points = [q + place.scale * np.polynomial.polynomial.polyval(f * tau, x) for f in (0.5, 0.8, 1.0)]
        worst = max(np.abs(place.values(point)[0]).max(initial=0.0) for point in points)
        if worst <= 2e-14 * (1 + np.abs(q / place.scale).max()):
            return float(tau)
        tau *= 0.8
    return float(tau)


@dataclass(frozen=True)
class SeriesPiece:
    """A curve as Chebyshev series of the coordinates (d + 1, n) and of the length from its start (d + 1,)."""

    position: Array
    length: Array

    @property
    def total(self) -> float:
        """The length of the piece, Euclidean in the declared coordinates."""
        return float(self.length.sum())

    def point(self, s: float) -> Array:
        """Return the coordinates at a length."""
        return np.asarray(chebyshev(self.position, _invert(self.length, np.array([float(s)])))[0])


def piece_of(q: Array, scale: Array, x: Array, low: float, high: float) -> SeriesPiece:
    """Return the stretch low <= tau <= high of q + scale * x(tau) as a piece that starts at tau = low."""
    tau = low + NODES * (high - low)
    values = q / scale + np.polynomial.polynomial.polyval(tau, x).T
    position = coefficients_of(values[None])[0] * scale
    slope = scale * np.polynomial.polynomial.polyval(tau, np.polynomial.polynomial.polyder(x)).T * (high - low) / 2
    return SeriesPiece(position, lengths_of(np.linalg.norm(slope, axis=1)))


def coefficients_of(nodes: Array) -> Array:
    """Return the Chebyshev coefficients (p, d + 1, n) of values at the nodes (p, d + 1, n).

    Those that are rounding are left out: they would spoil derivatives.
    """
    first = nodes[:, :1]
    found = np.einsum("ki,pij->pkj", TRANSFORM, nodes - first)
    found[:, :1] += first
    top = np.abs(nodes).max(axis=(1, 2), keepdims=True)
    return np.asarray(np.where(np.abs(found) > 4e-16 * np.maximum(top, 1.0), found, 0.0))


def lengths_of(speed: Array) -> Array:
    """Return the Chebyshev coefficients of the integral of the speed |dq/du| at the nodes, from u = -1."""
    return np.asarray(np.polynomial.chebyshev.chebint((TRANSFORM @ speed)[:DEGREE], lbnd=-1))
