"""Singular points to the last digit: the most singular point next to an approximate one.

At a crossing the reduced equations have no linear part, which is a regular system for the point. At a tangency or cusp
it is not: rounding in the parameters moves the zero of the gradient by its cube root and worse. There the point is
where the next derivatives vanish: with g = eta^d + ... + h(xi), h(xi) = c (xi - xi0)^p + small, xi0 is the centre of
the cluster of the p roots of h, which is well determined. The order p that survives the check at the refined point is
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from zwang._trace.local_reduction import Frame, ReducedEquations, derivative_system, frame, reduce, valley
from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
NEAR = 0.3
"""How far, in units of the scales, a singular point may lie from where it is looked for."""
REGULAR = 0.03
"""Ratio of singular values above which the conditions for the point determine it well."""
ZERO = 1e-9
"""What counts as zero at the point: rounding of the equations, gathered over their terms."""
CONVERGED = 3e-14
"""A step this small, relative to the coordinates, is rounding."""
DEGREES = (6, 10, 16)
ORDERS = (2, 3, 4, 5, 6, 7, 8)
LIKELY = 2
"""Ranks that are tried in large mechanisms: each takes seconds there."""
MOST_TERMS = 500
"""Of a reduced equation that is looked at: with many free directions a product of two series takes their square."""


def refine(place: SpacePlace, q: Array, tolerance: float = ZERO) -> Frame | None:
    """Return the frame at the singular point next to q; None if there is none.

    Parameters
    ----------
    tolerance : float
        Up to which size, in units of the equations, the singular values and the equations count as zero there.
    """
    _, rows = place.values(q)
    values: Array = np.asarray(np.linalg.svd(rows, compute_uv=False), dtype=float)
    for rank in _ranks(values)[: LIKELY if place.equations.large else None]:
        for found in _candidates(place, q, rank):
            if _is_singular(found, tolerance):
                return found
    return None


def _ranks(values: Array) -> list[int]:
    """Return the ranks that the singular values may stand for, the most likely first."""
    top = max(float(values.max(initial=0.0)), 1.0)
    ratios = []
    for rank in range(len(values)):
        if values[rank] < 0.2 * top:
            above = values[rank - 1] if rank else top
            ratios.append((above / max(values[rank], 1e-12), rank))
    return [rank for _, rank in sorted(ratios, reverse=True)]


def is_plain(at: Frame) -> bool:
    """Say whether the gradients of the reduced equations have a simple zero at the point, as at a crossing of two."""
    found = reduce(at, 2)
    if not len(found.coefficients):
        return False
    sizes = np.linalg.svd(derivative_system(found, 1)[1], compute_uv=False)
    return bool(sizes[-1] > REGULAR * sizes[0])


def _is_singular(found: Frame, tolerance: float) -> bool:
    value, _ = found.place.values(found.q)
    dropped = found.values[found.rank :]
    small = np.abs(value).max(initial=0.0) <= 1e-2 * tolerance and dropped.max(initial=0.0) <= tolerance
    return bool(small and (found.rank == 0 or found.values[found.rank - 1] > 1e3 * tolerance))


def _candidates(place: SpacePlace, q: Array, rank: int) -> Iterator[Frame]:
    first = frame(place, q, rank)
    if not np.isfinite(first.q).all() or _apart(place, first.q, q) > NEAR or first.lost:
        return
    k = first.kernel.shape[1]
    for order in ORDERS:
        if comb(order + k, k) > MOST_TERMS:
            break
        found = _by_derivatives(first, order)
        if found is not None:
            yield found
    if first.kernel.shape[1] == 2:
        for degree in DEGREES:
            yield from _by_cluster(first, degree)


def _apart(place: SpacePlace, a: Array, b: Array) -> float:
    return float(np.abs((a - b) / place.scale).max())


def _by_derivatives(start: Frame, order: int) -> Frame | None:
    """Return the point where all derivatives below `order` of the reduced equations vanish, if that is regular."""
    at = start
    for _ in range(12):
        found = reduce(at, order)
        if not len(found.coefficients):
            return None
        values, slopes = derivative_system(found, order - 1)
        sizes = np.linalg.svd(slopes, compute_uv=False)
        if sizes[-1] <= REGULAR * max(sizes[0], 1e-300) or sizes[0] <= 1e-6:
            return None
        step: Array = np.asarray(-np.linalg.lstsq(slopes, values, rcond=None)[0], dtype=float)
        length = np.linalg.norm(step)
        if length > NEAR:
            return None
        at = frame(at.place, at.moved(step), at.rank)
        if _apart(at.place, at.q, start.q) > NEAR or at.lost:
            return None
        if length <= CONVERGED * (1 + np.abs(at.q / at.place.scale).max()):
            return at
    return None  # slow: the point is more degenerate than that


def _by_cluster(start: Frame, degree: int) -> Iterator[Frame]:
    """Yield points where h(xi) has a root of some multiplicity, the highest first."""
    found = reduce(start, degree)
    if not len(found.coefficients):
        return
    h, _ = _valley(found)
    for p in range(degree, 1, -1):
        if _cluster_size(h, p) > NEAR / 2:
            continue
        at = start
        for _ in range(8):
            shifted, length = _shift(at, p, degree)
            if shifted is None:
                break
            at = shifted
            if length <= CONVERGED * (1 + np.abs(at.q / at.place.scale).max()):
                if _vanishes(at, p, degree):
                    yield at
                break


def _valley(found: ReducedEquations) -> tuple[Array, tuple[Array, Array]]:
    """Return the coefficients of h, and the axis of eta with the coefficients of eta(xi); zeros without a valley."""
    g = found.mixed()
    terms = dict(zip(found.monomials.rows, g.coefficients, strict=True))
    norms = [np.abs(g.c[found.monomials.totals == d]).max() for d in range(g.size)]
    top = max(norms[2:])
    order = next((d for d in range(2, len(norms)) if norms[d] > 1e-3 * top), None)
    if order is None:  # nothing bends, or a series is no number so near to where it has none
        return np.zeros(g.size + 1), (np.array([1.0, 0.0]), np.zeros(g.size))
    form = np.array([terms[order - j, j] for j in range(order + 1)])
    angles = np.linspace(0, np.pi, 361)[:-1]
    values = sum(form[j] * np.cos(angles) ** (order - j) * np.sin(angles) ** j for j in range(order + 1))
    best = angles[int(np.argmax(np.abs(values)))]
    axis = np.array([np.cos(best), np.sin(best)])
    eta, h = valley({(i, j): item for (i, j), item in terms.items()}, g.size, order, axis)
    return h, (axis, eta)


def bottoms(place: SpacePlace, q: Array, rank: int) -> list[Array]:
    """Return the points next to q where h(xi) is stationary: singular points are among them, h being zero there.

    Next to a point where curves nearly touch, the least-squares search ends between the curves, where the equations
    don't hold, and its basin covers that of a singular point not far away.
    """
    at = frame(place, q, rank)
    if at.kernel.shape[1] != 2 or not np.isfinite(at.q).all() or _apart(place, at.q, q) > NEAR:
        return []
    found = reduce(at, 8)
    if not len(found.coefficients):
        return []
    h, (axis, eta) = _valley(found)
    polynomial = np.polynomial.polynomial
    slope = np.trim_zeros(polynomial.polyder(h), "b")
    if not np.isfinite(slope).all() or (len(slope) > 1 and not np.isfinite(slope[:-1] / slope[-1]).all()):
        return []  # a last coefficient next to nothing: no cluster of roots here
    roots = polynomial.polyroots(slope)
    places = [float(root.real) for root in roots if abs(root.imag) < 1e-3 and abs(root) < 2 * NEAR]
    along = np.array([axis[1], -axis[0]])
    return [at.moved(xi * along + float(polynomial.polyval(xi, eta)) * axis) for xi in places]


def _cluster_size(h: Array, p: int) -> float:
    """Return within which radius h has p roots, from its coefficients."""
    top = np.abs(h[2:]).max(initial=0.0)
    if abs(h[p]) <= 1e-4 * top or top == 0:
        return np.inf
    return float(max((abs(h[i]) / (comb(p, i) * abs(h[p]))) ** (1 / (p - i)) for i in range(p)))


def _shift(at: Frame, p: int, degree: int) -> tuple[Frame | None, float]:
    """Move to the centre of the cluster of p roots of h, and to the bottom of the valley there."""
    found = reduce(at, degree)
    if not len(found.coefficients):
        return None, 0.0
    h, (axis, eta) = _valley(found)
    if not np.isfinite(h[p - 1]) or not 1e-300 < abs(h[p]) < np.inf:
        return None, 0.0
    xi = -h[p - 1] / (p * h[p])
    if abs(xi) > NEAR:
        return None, 0.0
    across = float(np.polynomial.polynomial.polyval(xi, eta))
    z = xi * np.array([axis[1], -axis[0]]) + across * axis
    moved = at.moved(z)
    if not np.isfinite(moved).all():
        return None, 0.0
    return frame(at.place, moved, at.rank), float(np.linalg.norm(z))


def _vanishes(at: Frame, p: int, degree: int) -> bool:
    found = reduce(at, degree)
    if not len(found.coefficients):
        return False
    h, _ = _valley(found)
    return bool(h.any() and np.abs(h[:p]).max() <= ZERO * max(1.0, np.abs(h).max()))
