"""The metric in which rows are measured: that of the mass matrix, supported by the rows where inertia is missing.

M may be positive semidefinite, or nearly so, as long as it is definite on the kernel of the bilateral rows W. There
M + W^T D W with D positive and diagonal is definite; on W a = gamma it gives the same accelerations, with W^T D gamma
added to the forces, and the same multipliers. D is chosen so that rows and masses are comparable: with rows and
coordinates scaled until the largest entry of each is 1, each row gets the largest mass. That lifts light parts beside
heavy ones, but drowns masses where a heavy one is felt by the rows through a tiny entry alone. There every mass is the
unit of its own coordinate instead, and D keeps rows below 1 in these units: no mass is drowned, and what is left to
decide is whether the rows tell the motions apart that have no mass. Where masses are missing altogether the units in
which rows and masses are nearest to 1 come first: neither choice above is without units then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NOISE = 1e-12
"""Entries of a row below this part of its largest are rounding and say nothing about scales."""
SOUND = 1e-10
"""Pivots of M below this part of their diagonal entry carry no inertia of their own."""
DROWNED = 1e-3
"""Pivots of M + W^T D W below this part of their diagonal entry cost digits: another D may be better."""
BALANCED = 10
"""Rounds of least squares: weights follow the entries they weigh."""
LEAST, WIDEST, ALIKE = 1e-14, 600.0, 0.1
"""In these problems: what counts as zero, the widest logarithm (e^600 is a double), and changes that don't matter."""
BITS = 256
"""Of Arb: doubles in units 1e20 apart, squared."""
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
    own = mass.diagonal()
    if np.count_nonzero(mass) == len(own) and (own > 0.0).all():  # no coordinates are coupled, as often in the plane
        return np.diag(np.sqrt(own))
    found = _root(mass)
    return found if found is not None and least_pivot(mass, found) > SOUND else None


def _root(mass: Array) -> Array | None:
    if not (np.diag(mass) > 0).all():
        return None
    try:
        return np.asarray(np.linalg.cholesky(mass), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None


def least_pivot(mass: Array, root: Array | None) -> float:
    """Return the least pivot of a factorization as a part of its diagonal entry, 0 without one."""
    return 0.0 if root is None else float((np.diag(root) ** 2 / np.diag(mass)).min(initial=1.0))


def support(mass: Array, rows: Array) -> Array:
    """Return D, one number for each row, for which M + W^T D W is as well scaled as M and W allow.

    Examples
    --------
    A point without mass between two rods: each row gets the mass of the other point.

    >>> support(np.diag([2.0, 0.0]), np.array([[1.0, -1.0], [0.0, 4.0]]))
    array([2.   , 0.125])
    """
    best, found = -1.0, np.zeros(len(rows))
    ways = [_by_the_heaviest, _by_own_masses]
    ways.insert(len(ways) if factor(mass) is not None else 0, balanced)
    for weights in ways:
        tried = weights(mass, rows)
        whole = completed(mass, rows, tried)
        least = least_pivot(whole, _root(whole))
        if least > best:
            best, found = least, tried
        if best > DROWNED:
            break
    return found


def _without_noise(rows: Array) -> Array:
    """Return the sizes of the entries, zero for those that are rounding in units in which rows and columns are near 1.

    A column of nothing but rounding stays as it is. A constraint that follows from others has derivatives that vanish
    with them, in some coordinates only: what is left of these says nothing about the scales of rows beside coordinates
    without mass.
    """
    size = np.abs(rows)
    across, along = _equilibrated(size)
    scaled = size * across[:, None] * along
    return np.where(scaled > NOISE * scaled.max(axis=1, initial=0.0, keepdims=True), size, 0.0)


def _by_the_heaviest(mass: Array, rows: Array) -> Array:
    size = np.abs(rows)
    size = np.where(size > NOISE * size.max(axis=1, initial=0.0, keepdims=True), size, 0.0)
    across, along = _equilibrated(size)
    masses = np.abs(np.diag(mass)) * along**2
    held = size.max(axis=0, initial=0.0) > 0
    heaviest = float(masses[held].max(initial=0.0)) or float(masses.max(initial=0.0))
    with np.errstate(over="ignore"):
        found = heaviest * across**2
    return np.where(np.isfinite(found), found, 0.0)  # a row of nothing but rounding supports nothing


def _by_own_masses(mass: Array, rows: Array) -> Array:
    return by_own_masses(np.diag(mass), rows)


def by_own_masses(masses: Array, rows: Array) -> Array:
    """Return D with which no row adds more to a coordinate than its mass.

    Rows and coordinates without mass have no units of their own: they get those in which the largest entry of each is
    1, all together as large as the masses allow.

    Examples
    --------
    >>> by_own_masses(np.array([1.0, 0.0, 4.0]), np.array([[1e-11, 0.25, -2.0], [0.0, 5.0, 0.0]])).tolist()
    [1.0, 0.0025]
    """
    size = _without_noise(rows)
    massive = masses > 0
    with_mass = (size[:, massive] / np.sqrt(masses[massive])).max(axis=1, initial=0.0)
    without = size[:, ~massive] * _geometric(size[:, ~massive])
    without = (without * _equilibrated(without)[1]).max(axis=1, initial=0.0)
    both = (with_mass > 0) & (without > 0)
    unit = float((with_mass[both] / without[both]).max(initial=0.0)) or 1.0
    largest = np.maximum(with_mass, unit * without)
    with np.errstate(over="ignore"):
        return np.where(largest > 0, 1.0 / _or_one(largest), 0.0) ** 2


def _geometric(size: Array) -> Array:
    """Return factors of columns with which, rows scaled too, entries are 1 in the geometric mean, in any units."""
    there = size > 0
    logs = np.log(_or_one(size))
    of_rows, of_columns = np.maximum(there.sum(axis=1), 1), np.maximum(there.sum(axis=0), 1)
    along = np.zeros(size.shape[1])
    for _ in range(EQUILIBRATED):
        across = -np.where(there, logs + along, 0.0).sum(axis=1) / of_rows
        along = -np.where(there, logs + across[:, None], 0.0).sum(axis=0) / of_columns
    found: Array = np.exp(along)
    return found


def _equilibrated(size: Array) -> tuple[Array, Array]:
    """Return factors of rows and columns with which the largest entry of each is about 1, of each row just 1."""
    # Rows begin with unit size: one that is there twice, in another scale, must not move those of its coordinates.
    across, along = 1.0 / _or_one(size.max(axis=1, initial=0.0)), np.ones(size.shape[1])
    for _ in range(EQUILIBRATED):
        scaled = size * across[:, None] * along
        across /= np.sqrt(_or_one(scaled.max(axis=1, initial=0.0)))
        along /= np.sqrt(_or_one(scaled.max(axis=0, initial=0.0)))
    across /= _or_one((size * across[:, None] * along).max(axis=1, initial=0.0))
    return across, along


def balanced(mass: Array, rows: Array) -> Array:
    """Return D in the units of rows and coordinates in which all entries, masses too, are nearest to 1.

    A problem of least squares for the logarithms (Curtis, Reid, On the automatic scaling of matrices for Gaussian
    elimination, 1972), so that the units in which rows and coordinates are given don't matter. Small entries say
    little: they get the weight of their root.

    Examples
    --------
    >>> balanced(np.diag([4.0, 0.0]), np.array([[1e-3, 1e6]])).round(6)
    array([4000000.])
    """
    m, n = rows.shape
    size = _without_noise(rows)
    own, (row, column) = np.flatnonzero(np.diag(mass) > 0), np.nonzero(size)
    logs = np.log(np.concatenate([np.diag(mass)[own], size[row, column]]))
    places = np.arange(len(own)), np.arange(len(own), len(logs))
    sums = np.zeros((len(logs), n + m))
    sums[places[0], own] = 2.0
    sums[places[1], column] = sums[places[1], n + row] = 1.0
    units, weights = np.zeros(n + m), np.ones(len(logs))
    for _ in range(BALANCED):
        pulls = sums.T * weights
        change = np.linalg.lstsq(pulls @ sums, pulls @ (logs + sums @ units), rcond=LEAST)[0]
        units -= change
        if np.abs(change).max(initial=0.0) < ALIKE:
            break
        weights = np.exp(np.minimum(logs + sums @ units, 0.0))
    found: Array = np.exp(np.clip(2 * units[n:], -WIDEST, WIDEST))
    return found


def _or_one(values: Array) -> Array:
    return np.where(values > 0, values, 1.0)


def supported(mass: Array, rows: Array) -> Array:
    """Return M + W^T D W."""
    return completed(mass, rows, support(mass, rows))


def completed(mass: Array, rows: Array, weights: Array) -> Array:
    """Return M + W^T D W with given weights."""
    found: Array = mass + rows.T @ (weights[:, None] * rows)
    return found


class ForceResponse(NamedTuple):
    """What forces do: A^-1 J^T as rows (m, n), A^-1 Q (n,), J A^-1 J^T (m, m) and J A^-1 Q - bias (m,)."""

    moves: Array
    drift: Array
    gram: Array
    free: Array


def response_by_arb(
    mass: Array, force: Array, support: tuple[Array, Array, Array], rows: Array, bias: Array
) -> ForceResponse:
    """Return the response of masses A = M + W^T D W, with W^T D gamma added to the force, each number rounded once.

    Nothing of M and Q is drowned by W, D and gamma, the three parts of `support`, however large they are.

    Examples
    --------
    >>> support = np.array([[1e9, 1e9]]), np.array([1.0]), np.array([2e9])
    >>> response_by_arb(np.diag([1.0, 0.0]), np.array([3.0, 0.0]), support, support[0], support[2]).free
    array([0.])
    """
    from flint import arb_mat

    from zwang._numerics.series.balls import precision

    held, weights, gamma = support
    with precision(BITS):
        W, D, J = arb_mat(held.tolist()), arb_mat(np.diag(weights).tolist()), arb_mat(rows.tolist())
        pull, given = W.transpose() * D, [arb_mat(item[:, None].tolist()) for item in (force, gamma, bias)]
        inverse = (arb_mat(mass.tolist()) + pull * W).inv()
        moves, drift = inverse * J.transpose(), inverse * (given[0] + pull * given[1])
        parts = moves.transpose(), drift, J * moves, J * drift - given[2]
        found = [np.array([float(ball.mid()) for ball in item.entries()]) for item in parts]
    m, n = rows.shape
    return ForceResponse(found[0].reshape(m, n), found[1], found[2].reshape(m, m), found[3])


def balance(mass: Array, columns: Array, needed: Array) -> tuple[Array, Array]:
    """Return A with orthonormal rows and b such that A x = b says that forces x along columns (k, n) add up.

    Forces on coordinates are compared in the metric of their own masses: they may be forces and torques.
    """
    own = np.diagonal(mass)
    weight = 1.0 / np.sqrt(np.where(own > 0, own, own.max(initial=0.0) or 1.0))
    left, values, right = np.linalg.svd((columns * weight).T, full_matrices=False)
    kept = values > 1e-10 * values[0]
    return right[kept], (left.T @ (weight * needed))[kept] / values[kept]
