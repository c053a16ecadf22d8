"""A candidate for the contact forces, with its distance from the laws recomputed from the forces alone.

The distance is that of the natural map: a law "x in C, -y normal to C" holds if and only if x = proj_C(x - y). For one
contact that reads N = max(0, N - u_n), or u_n = 0 if it is bilateral, and T = proj(T - u_t) on the disc |T| <= bound.
Forces are multiplied and accelerations divided by the contact's scale (the root of its largest entry of W), which puts
both in the same units whatever the lengths of the rows, and the largest distance is divided by the largest scaled |b|,
the accelerations that the contacts would have without reactions. (Where forces are a million times larger than what
causes them, by a millionth of them: rounding allows no less.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.modes import BILATERAL, BOUND

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidate:
    """Forces, the acceleration they cause, and how far they are from the laws.

    Attributes
    ----------
    forces : (m,) array
        The unknown forces in the order of `FrictionArrays`.
    acceleration : (n,) array
    normal : (k,) array
    tangential : (k, 2) array
    residual : float
        Largest relative distance of a contact from its law, computed here and not by the solver.
    method : str
        The solver that found it.
    iterations : int
    """

    forces: Floats
    acceleration: Floats
    normal: Floats
    tangential: Floats
    residual: float
    method: str
    iterations: int = 0


def candidate_of(arrays: FrictionArrays, r: Floats, method: str, iterations: int = 0) -> Candidate:
    """Return the candidate of the unknown forces r."""
    normal, tangential = arrays.split(r)
    if not np.isfinite(r).all():
        return Candidate(
            np.array(r), np.full(len(arrays.force), np.nan), normal, tangential, np.inf, method, iterations
        )
    acceleration = arrays.acceleration(r)
    error = contact_errors(arrays, r, np.asarray(arrays.rows @ acceleration - arrays.offset))
    residual = float(error.max(initial=0.0)) / size_of(arrays, r)
    return Candidate(np.array(r), acceleration, normal, tangential, residual, method, iterations)


def natural_residual(arrays: FrictionArrays, r: Floats) -> float:
    """Return the largest relative distance of a contact from its law.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(2 * np.eye(2), [0.4, -1.0], contacts=[floor]))
    >>> natural_residual(arrays, np.array([1.0, -0.4]))
    0.0
    """
    return candidate_of(arrays, r, "given").residual


def size_of(arrays: FrictionArrays, r: Floats) -> float:
    """Return what distances are measured by: the largest scaled |b|, or a millionth of the largest scaled force."""
    return max(arrays.cause, 1e-6 * float(np.max(np.abs(r) * arrays.row_scale, initial=0.0)))


def contact_errors(arrays: FrictionArrays, r: Floats, u: Floats) -> Floats:
    """Return the scaled distance of each contact from its law (k,)."""
    r, u = r * arrays.row_scale, u / arrays.row_scale
    first, size, kind, p = arrays.layout.T
    error = np.zeros(arrays.count)
    own = (kind != BOUND) & (size > 0)
    normal = np.zeros(arrays.count)
    normal[own] = r[first[own]]
    gap = u[first[own]]
    error[own] = np.where(kind[own] == BILATERAL, np.abs(gap), np.abs(np.minimum(normal[own], gap)))
    rubs = np.flatnonzero(p > 0)
    if rubs.size:
        mu, given = arrays.law[rubs].T
        pressing = np.where(kind[rubs] == BILATERAL, np.abs(normal[rubs]), np.maximum(normal[rubs], 0.0))
        bound = np.where(given < 0, mu * pressing, given * arrays.scale[rubs])
        force, target = np.zeros((rubs.size, 2)), np.zeros((rubs.size, 2))
        at = first[rubs] + (kind[rubs] != BOUND)
        for i in range(2):
            has = p[rubs] > i
            force[has, i] = r[at[has] + i]
            target[has, i] = force[has, i] - u[at[has] + i]
        length = np.hypot(target[:, 0], target[:, 1])
        target *= np.minimum(1.0, bound / np.maximum(length, 1e-300))[:, None]
        np.maximum.at(error, rubs, np.hypot(*(force - target).T))
    return error
