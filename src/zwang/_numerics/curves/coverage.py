"""Whether points lie on arcs that are known already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from zwang._numerics.identified import nearest_image, quaternions_in
from zwang._numerics.jit import njit

Array = NDArray[np.float64]
SAME = 1e-7  # points of an arc that come as near as this are one
LOOKS = 9  # places on a piece, the nearest of which Newton's method starts from
ROOM = 1_000_000
"""Numbers that are compared at a time."""


def mark_covered(pieces: Array, points: Array, identified: Array, covered: NDArray[np.bool_]) -> None:
    """Mark the points (k, n) that lie on one of the pieces (p, d + 1, n of Chebyshev coefficients).

    Examples
    --------
    >>> line, found = np.array([[[0.0, 0.0], [1.0, 0.0]]]), np.zeros(2, dtype=bool)
    >>> mark_covered(line, np.array([[0.3, 0.0], [0.3, 0.1]]), np.zeros(2), found)
    >>> found.tolist()
    [True, False]
    """
    grid = np.linspace(-1.0, 1.0, LOOKS)
    samples = np.einsum("ld,pdn->pln", chebyshev.chebvander(grid, pieces.shape[1] - 1), pieces)
    reach = 1.5 * np.abs(np.diff(samples, axis=1)).max(axis=(1, 2), initial=0.0) + SAME
    many = max(1, ROOM // max(1, points.size * LOOKS))
    for first in range(0, len(pieces), many):
        left, part = np.flatnonzero(~covered), slice(first, first + many)
        away = np.zeros((len(samples[part]), len(left), LOOKS))
        sign = _signs(samples[part], points[left], identified)
        for j, period in enumerate(identified):
            off = points[left, j, None] - sign.get(j, 1.0) * samples[part, None, :, j]
            if period > 0.0:
                off -= period * np.floor(off / period + 0.5)
            np.maximum(away, np.abs(off), out=away)
        piece, place = np.nonzero(away.min(axis=2) <= reach[part, None])
        starts = grid[away[piece, place].argmin(axis=1)]
        _refine(pieces, points, identified, first + piece, left[place], starts, covered)


def _signs(samples: Array, points: Array, identified: Array) -> dict[int, Array]:
    """Return coordinate of a quaternion -> sign (p, k, l) with which the samples are nearest to the points."""
    found: dict[int, Array] = {}
    for part in quaternions_in(identified):
        dots = np.einsum("kj,plj->pkl", points[:, part], samples[:, :, part])
        found |= dict.fromkeys(range(part.start, part.stop), np.where(dots < 0, -1.0, 1.0))
    return found


@njit
def _clenshaw(c: Any, j: int, u: float) -> tuple[float, float]:
    """Return the Chebyshev series of coordinate j and its derivative."""
    a, b, da, db = 0.0, 0.0, 0.0, 0.0
    for k in range(c.shape[0] - 1, 0, -1):
        a, b, da, db = c[k, j] + 2.0 * u * a - b, a, 2.0 * a + 2.0 * u * da - db, da
    return c[0, j] + u * a - b, a + u * da - db


@njit("void(float64[:, :, ::1], float64[:, ::1], float64[::1], int64[::1], int64[::1], float64[::1], boolean[::1])")
def _refine(pieces: Any, points: Any, identified: Any, which: Any, whose: Any, starts: Any, covered: Any) -> None:
    """Mark points that lie on pieces, in pairs of both, the nearest place being looked for from a start."""
    n = points.shape[1]
    here, image = np.empty(n), np.empty(n)
    for k in range(which.size):
        s, c, u = whose[k], pieces[which[k]], starts[k]
        if covered[s]:
            continue
        for j in range(n):
            here[j] = _clenshaw(c, j, u)[0]
        nearest_image(here, points[s], identified, image)
        for _ in range(12):
            dot, square = 0.0, 0.0
            for j in range(n):
                value, slope = _clenshaw(c, j, u)
                dot += (image[j] - value) * slope
                square += slope * slope
            if square <= 1e-300:
                break
            step = max(-0.5, min(0.5, dot / square))
            before, u = u, max(-1.0, min(1.0, u + step))
            if abs(u - before) < 1e-14:
                break
        worst = 0.0
        for j in range(n):
            worst = max(worst, abs(image[j] - _clenshaw(c, j, u)[0]))
        if worst <= SAME:
            covered[s] = True
