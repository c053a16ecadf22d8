"""The metric in which rows are measured: that of the mass matrix, supported by the rows where inertia is missing.

M may be positive semidefinite, or nearly so, as long as it is definite on the kernel of the bilateral rows W. There
M + W^T D W with D positive and diagonal is definite; on W a = gamma it gives the same accelerations, with W^T D gamma
added to the forces, and the same multipliers. D is chosen so that rows and masses are comparable: with rows and
coordinates scaled until the largest entry of each is 1, each row gets the largest mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NOISE = 1e-12
"""Entries of a row below this part of its largest are rounding and say nothing about scales."""
SOUND = 1e-10
"""Pivots of M below this part of their diagonal entry carry no inertia of their own."""
EQUILIBRATED = 8
"""Rounds of scaling: each halves, on a logarithmic scale, what is missing."""


def factor(mass: Array) -> Array | None:
    """Return C with M = C C^T, None where M is not safely positive definite.

    Examples
    --------
    >>> factor(np.diag([4.0, 9.0]))
    array([[2., 0.],
           [0., 3.]])
    >>> factor(np.ones((2, 2))) is None
    True
    """
    diagonal = np.diag(mass)
    if not (diagonal > 0).all():
        return None
    try:
        found: Array = np.asarray(np.linalg.cholesky(mass), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(found)
    return found if bool((pivots * pivots > SOUND * diagonal).all()) else None


def support(mass: Array, rows: Array) -> Array:
    """Return D, one number for each row, for which M + W^T D W is as well scaled as M and W allow.

    Examples
    --------
    A point without mass between two rods: each row gets the mass of the other point.

    >>> support(np.diag([2.0, 0.0]), np.array([[1.0, -1.0], [0.0, 4.0]]))
    array([2.   , 0.125])
    """
    size = np.abs(rows)
    size = np.where(size > NOISE * size.max(axis=1, initial=0.0, keepdims=True), size, 0.0)
    # Rows begin with unit size: one that is there twice, in another scale, must not move those of its coordinates.
    across, along = 1.0 / _or_one(size.max(axis=1, initial=0.0)), np.ones(size.shape[1])
    for _ in range(EQUILIBRATED):
        scaled = size * across[:, None] * along
        across /= np.sqrt(_or_one(scaled.max(axis=1, initial=0.0)))
        along /= np.sqrt(_or_one(scaled.max(axis=0, initial=0.0)))
    across /= _or_one((size * across[:, None] * along).max(axis=1, initial=0.0))
    masses = np.abs(np.diag(mass)) * along**2
    held = size.max(axis=0, initial=0.0) > 0
    heaviest = float(masses[held].max(initial=0.0)) or float(masses.max(initial=0.0))
    with np.errstate(over="ignore"):
        found = heaviest * across**2
    return np.where(np.isfinite(found), found, 0.0)  # a row of nothing but rounding supports nothing


def _or_one(values: Array) -> Array:
    return np.where(values > 0, values, 1.0)


def supported(mass: Array, rows: Array) -> Array:
    """Return M + W^T D W."""
    found: Array = mass + rows.T @ (support(mass, rows)[:, None] * rows)
    return found


def balance(mass: Array, columns: Array, needed: Array) -> tuple[Array, Array]:
    """Return A with orthonormal rows and b such that A x = b says that forces x along columns (k, n) add up.

    Forces on coordinates are compared in the metric of their own masses: they may be forces and torques.
    """
    own = np.diagonal(mass)
    weight = 1.0 / np.sqrt(np.where(own > 0, own, own.max(initial=0.0) or 1.0))
    left, values, right = np.linalg.svd((columns * weight).T, full_matrices=False)
    kept = values > 1e-10 * values[0]
    return right[kept], (left.T @ (weight * needed))[kept] / values[kept]
