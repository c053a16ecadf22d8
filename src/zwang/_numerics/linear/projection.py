"""Projection onto constraints in the metric of the mass matrix: least changes of positions and of velocities.

The change x that meets the rows J x = c with the least x^T M x is a KKT problem without forces, for rows of any rank.
Where some rows need only not fall below a number, W x >= d, it is a least-distance program: in coordinates in which the
metric is the identity, and on the null space of J, the smallest w with G w >= h, which is a problem of nonnegative
least squares (Lawson, Hanson, Solving Least Squares Problems, chapter 23).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear import metric
from zwang._numerics.linear.kkt import solve_kkt
from zwang._numerics.linear.rank import ROUNDING, decided

Array = NDArray[np.float64]

ALONG = 1e-9
"""A one-sided row is decided by the equalities where less than this part of its length is left beside them."""
COMPATIBLE = 1e-12
"""Inequalities contradict each other where nonnegative combinations of them come this near to 0 >= 1."""
REFINEMENTS = 300  # steps towards the least change; linear convergence where constraints are curved
SHORTEST = 1e-3
"""Steps and shares of a step with which the least change is sought; where none is shorter, it is found."""
SETTLED = 1e-13
"""A step below this part of the whole change, or of the coordinates, ends the search for the least one."""


class Conditions(NamedTuple):
    """What a state has to meet: positions `rows` dq = -values, velocities `rate_rows` dv = -rates."""

    mass: Array
    rows: Array
    values: Array
    rate_rows: Array
    rates: Array


class OneSided(NamedTuple):
    """Rows W (k, n) and values g (k,) of conditions g + W x >= 0."""

    rows: Array
    values: Array


def least_change(mass: Array, rows: Array, needed: Array, cut: float = ROUNDING) -> Array:
    """Return the smallest change in the metric of M that changes the rows by what is needed.

    Rows that are dependent up to `cut`, a singular value of the unit rows, are met as nearly as they can be.

    Examples
    --------
    >>> least_change(np.diag([1.0, 3.0]), np.array([[1.0, 1.0]]), np.array([4.0]))
    array([3., 1.])
    """
    return solve_kkt(mass, rows, np.zeros(len(mass)), needed, cut).accelerations


def landed(
    at: Callable[[Array, Array], Conditions], q: Array, v: Array, *, rounds: int, cut: float = ROUNDING
) -> tuple[Array, Array]:
    """Return a state moved onto its conditions: positions by so many of Newton's steps, then velocities."""
    for _ in range(rounds):
        here = at(q, v)
        q = q + least_change(here.mass, here.rows, -here.values, cut)
    here = at(q, v)
    return q, v + least_change(here.mass, here.rate_rows, -here.rates, cut)


def nearest_change(mass: Array, aim: Array, rows: Array, needed: Array, one_sided: OneSided, cut: float) -> Array:
    """Return the x nearest to `aim` in the metric of M with rows x = needed and g + W x >= 0.

    Where that can't be, the one-sided conditions that `aim` violates count as equalities.

    Examples
    --------
    A point above a floor and before a wall; the wall alone is in its way.

    >>> both = OneSided(np.eye(2), np.array([-2.0, 1.0]))
    >>> nearest_change(np.eye(2), np.zeros(2), np.zeros((0, 2)), np.zeros(0), both, 1e-11)
    array([2., 0.])
    """
    equal = solve_kkt(mass, rows, mass @ aim, needed, cut).accelerations
    violated = one_sided.values + one_sided.rows @ equal
    if not len(violated) or violated.min() >= 0.0:
        return equal
    root = metric.factor(mass)
    if root is None:
        root = metric.factor(metric.supported(mass, rows))
    if root is not None:
        more = _least_distance(root, rows, one_sided.rows, -violated, cut)
        if more is not None:
            return np.asarray(equal + more)
    worst = violated < 0.0
    every = np.concatenate([rows, one_sided.rows[worst]])
    return solve_kkt(mass, every, mass @ aim, np.concatenate([needed, -one_sided.values[worst]]), cut).accelerations


def _least_distance(root: Array, rows: Array, sided: Array, least: Array, cut: float) -> Array | None:
    """Return the smallest x in the metric of root root^T with rows x = 0 and sided x >= least; None without one."""
    from scipy.optimize import nnls

    G = np.linalg.solve(root, sided.T).T
    lengths = np.linalg.norm(G, axis=1)
    if len(rows):
        found = decided(rows, root, cut)
        basis = found.right[: found.rank]
        G = G - (G @ basis.T) @ basis
    left = np.linalg.norm(G, axis=1)
    free = left > ALONG * lengths
    if (least[~free] > 0.0).any() or not free.any():
        return None
    G, h = G[free] / left[free, None], least[free] / left[free]
    size = float(np.abs(h).max())
    weights, _ = nnls(np.vstack([G.T, h / size]), np.append(np.zeros(len(root)), 1.0))
    rest = np.vstack([G.T, h / size]) @ weights - np.append(np.zeros(len(root)), 1.0)
    if -rest[-1] <= COMPATIBLE:
        return None
    return np.asarray(np.linalg.solve(root.T, size * rest[:-1] / -rest[-1]))


def refined(
    at: Callable[[Array], tuple[Array, Array, OneSided]],
    reach: Callable[[Array], Array | None],
    mass: Array,
    start: Array,
    q: Array,
    cut: float,
) -> Array:
    """Return the positions on the constraints that are nearest to `start`, from some that are on them.

    Parameters
    ----------
    at : callable
        q -> rows, values and the one-sided conditions there.
    reach : callable
        q near the constraints -> q on them, None where they are not reached.
    mass : (n, n) array
        The metric, that of the start.
    """

    def distance(x: Array) -> float:
        return float((x - start) @ mass @ (x - start))

    best, share = distance(q), 1.0
    for _ in range(REFINEMENTS):
        rows, values, one_sided = at(q)
        step = nearest_change(mass, start - q, rows, -values, one_sided, cut)
        if np.abs(step).max() <= SETTLED * max(float(np.abs(q - start).max()), 1e-3 * float(np.abs(q).max())):
            break
        moved = False
        while share > SHORTEST:  # curvature makes the whole step too long, or too short
            trial = reach(q + share * step)
            if trial is not None and distance(trial) < best:
                q, best, moved = trial, distance(trial), True
                break
            share *= 0.5
        if not moved:
            break
        share *= 1.5
    return q
