"""A planar contact problem over the rationals: the same `Reduced`, its arrays holding fractions and its units one.

The tables of modes, the search's layout and the conditions of a mode are those of the floating-point search: they only
add and multiply, so they work on arrays of fractions as they are.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.mode_tables import Law, table
from zwang._numerics.contact.problem import ContactProblem, dense
from zwang._numerics.contact.scaled import AT_REST, FOLLOWING, RESULTANTS, Reduced, sides_of

Fractions = npt.NDArray[Any]

LARGEST = 100
"""Coordinates beyond which the exact inverse of the mass matrix is not worth its digits."""


def fractions(values: npt.ArrayLike) -> Fractions:
    """Return the doubles of an array as exact fractions (objects)."""
    from flint import fmpq

    given = np.asarray(values, dtype=float)
    found = np.empty(given.shape, dtype=object)
    for place, value in np.ndenumerate(given):
        found[place] = fmpq(*float(value).as_integer_ratio())
    return found


def matrix_of(values: Fractions) -> Any:
    """Return an array of fractions as a matrix of FLINT's."""
    from flint import fmpq_mat

    return fmpq_mat(values.shape[0], values.shape[1], list(values.ravel()))


def _array(matrix: Any) -> Fractions:
    found = np.empty((matrix.nrows(), matrix.ncols()), dtype=object)
    for i, row in enumerate(matrix.tolist()):
        found[i] = row
    return found


def _root(value: Any) -> Any:
    """The square root of a fraction, None if it is none."""
    from flint import fmpq

    above, below = isqrt(int(value.p)), isqrt(int(value.q))
    return fmpq(above, below) if above**2 == int(value.p) and below**2 == int(value.q) else None


def _direction(slip: Fractions, sliding: bool) -> Fractions | None:
    """Return the unit vector of a slip, None if its length is no fraction; at rest the first axis."""
    if not sliding:
        return fractions(np.eye(1, len(slip))[0])
    length = _root(sum(value * value for value in slip))
    return None if length is None else np.array([value / length for value in slip], dtype=object)


def rational(problem: ContactProblem, reduced: Reduced, *, slip_tol: float) -> Reduced | None:
    """Return the problem over the rationals, in its own units; None where its numbers are not rational or too many.

    Parameters
    ----------
    problem : ContactProblem
    reduced : Reduced
        The scaled one, whose laws and places are taken over.
    slip_tol : float
        Slips up to this size are rest, as they were for `reduced`.
    """
    rows, n = problem.rows, len(problem.force)
    if n > LARGEST:
        return None
    normals, tangents, force = fractions(dense(rows.normal)), fractions(dense(rows.tangent)), _force(problem)
    friction, slips = fractions(_sizes(problem, reduced)), fractions(rows.slip)
    given = np.nan_to_num([rows.given_load(j) for j in range(reduced.count)])
    jacobian = np.full((reduced.size, n), fractions(0.0)[()], dtype=object)
    biases, bounds = np.full(reduced.size, fractions(0.0)[()]), np.full((reduced.count, 4), fractions(0.0)[()])
    for j, law in enumerate(reduced.laws):
        part = slice(rows.first[j], rows.first[j + 1])
        sliding = bool(np.linalg.norm(rows.slip[part]) > slip_tol)
        direction = _direction(slips[part], sliding)
        if direction is None:
            return None
        if law in FOLLOWING | RESULTANTS:
            pass
        elif law in {Law.TRESCA_REST, Law.KNOWN}:
            push = fractions(given[j])[()]
            force = force + push * normals[j]
            bounds[j] = friction[j] * abs(push)
            if law is Law.KNOWN and sliding and len(direction):
                force = force - bounds[j, 0] * (direction @ tangents[part])
        else:
            jacobian[reduced.normal[j]] = normals[j]
            biases[reduced.normal[j]] = fractions(rows.bias[j])[()]
        if reduced.tangent[j] >= 0:
            jacobian[reduced.tangent[j]] = direction @ tangents[part]
            biases[reduced.tangent[j]] = direction @ fractions(rows.tangent_bias[part])
    response = _response(problem, np.vstack([jacobian, force[None, :]]))
    if response is None:
        return None
    moves, drift = response[:-1], response[-1]
    one = np.ones(reduced.size)
    return replace(
        reduced,
        gram=jacobian @ moves.T if reduced.size else jacobian @ jacobian.T,
        free=jacobian @ drift - biases,
        bias=biases,
        tables=tuple(
            # not the cache, where 1 and 1.0 are one key
            table.__wrapped__(law, tuple(sizes[:2]), tuple(sizes[2:]) if j in reduced.static else None)
            for j, (law, sizes) in enumerate(zip(reduced.laws, _coefficients(reduced, friction, bounds), strict=True))
        ),
        unit=one,
        acceleration_unit=one,
        load=1.0,
        response=moves,
        drift=drift,
    )


def _mass(problem: ContactProblem) -> Fractions:
    """The mass matrix; where bilateral rows W make up for missing inertia, M + W^T D W of the given one."""
    if problem.given is None:
        return fractions(dense(problem.mass))
    held, weights = fractions(dense(problem.given.rows)), fractions(problem.given.weights)
    whole: Fractions = fractions(dense(problem.given.mass)) + held.T @ (weights[:, None] * held)
    return whole


def _force(problem: ContactProblem) -> Fractions:
    """The force; with W^T D bias where bilateral rows make up for missing inertia."""
    if problem.given is None:
        return fractions(problem.force)
    held, weights = fractions(dense(problem.given.rows)), fractions(problem.given.weights)
    whole: Fractions = fractions(problem.given.force) + held.T @ (weights * fractions(problem.given.bias))
    return whole


def _sizes(problem: ContactProblem, reduced: Reduced) -> npt.NDArray[np.float64]:
    """Coefficients (k, 4): two sides, two at rest; what slides has one, against its slip."""
    resting = np.array([law in AT_REST for law in reduced.laws], dtype=bool)
    return np.where(resting[:, None], sides_of(problem), problem.rows.friction[:, None])


def _coefficients(reduced: Reduced, friction: Fractions, bounds: Fractions) -> Fractions:
    """Sizes of the contacts: coefficients where both forces are unknown, bounds where these are given, else zero."""
    both = ((reduced.normal[reduced.master] >= 0) & (reduced.tangent >= 0))[:, None]
    given = np.array([law is Law.TRESCA_REST for law in reduced.laws], dtype=bool)[:, None]
    return np.where(given, bounds, np.where(both, friction, 0 * friction))


def _response(problem: ContactProblem, rows: Fractions) -> Fractions | None:
    """Return A^-1 times every row; None where A has no inverse."""
    if not rows.shape[1]:
        return rows
    if problem.mass is None:
        return rows @ fractions(dense(problem.inverse_mass)).T
    try:
        return _array(matrix_of(_mass(problem)).solve(matrix_of(rows.T))).T
    except ZeroDivisionError:
        return None
