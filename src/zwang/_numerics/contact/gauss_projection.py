"""Gauss's principle for reactions: the convex projection that gives frictionless forces and friction with given bounds.

Without friction the normal forces minimize |f + sum N_j n_j - B| in the metric of A^-1 over N_j >= 0 (paper 001, eq.
(1.10) and its unilateral form); with given normal forces (Tresca) the friction forces minimize |x + T| over the discs
|T_j| <= mu_j |N_j| of the contacts at rest (Theorem 10): a box in the plane, a product of second-order cones in space.
A contact that slides has no freedom: its friction is a given force. Both are one program, and may be mixed.

The acceleration, that is the sum of the reactions in the metric, is always unique; single forces are unique only where
the rows of the contacts that carry them are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.cone_program import cone_fixed_point
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.interior_point import ConePlan, cone_plan, solve_planned
from zwang._numerics.contact.newton import newton
from zwang._numerics.contact.sweeps import gauss_seidel
from zwang._numerics.linear.quasidefinite import FillError
from zwang.errors import DeclarationError

Floats = NDArray[np.float64]

_SMALL = 400  # unknown forces up to which Newton's method finishes to rounding at no noticeable cost


def gauss_projection(arrays: FrictionArrays, *, tol: float = 1e-9, plan: ConePlan | None = None) -> Candidate:
    """Return the reactions of the convex program; `arrays.convex` must hold.

    Parameters
    ----------
    arrays : FrictionArrays
        Frictionless contacts, contacts with given normal force, sliding ones only with given normal force.
    tol : float
        Residual to reach.
    plan : ConePlan, optional
        From `cone_plan`, to solve for the same rows again.

    Examples
    --------
    Example 2 of paper 001, three equal blocks with mu m g = 1 and F = (2, 0, 3): only the top block slides.

    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> mass = np.minimum.outer([1, 2, 3], [1, 2, 3])
    >>> rows = np.eye(3)
    >>> contacts = [Contact(None, tangent=rows[j], friction=1, normal_force=j + 1) for j in range(3)]
    >>> found = gauss_projection(friction_arrays(ContactProblem(mass, [2.0, 0.0, 3.0], contacts=contacts)))
    >>> found.acceleration.round(9) + 0.0, found.forces.round(9)
    (array([1., 0., 0.]), array([-1.,  1., -2.]))
    """
    if not arrays.convex:
        raise DeclarationError(
            "gauss_projection: a contact has Coulomb friction on an unknown normal force, which is no convex problem. "
            "Give its normal_force (Tresca), or use the solvers for Coulomb's law."
        )
    if arrays.size == 0:
        return candidate_of(arrays, np.zeros(0), "no unknown forces")
    try:
        r, done, _ = solve_planned(arrays, cone_plan(arrays) if plan is None else plan, 0.1 * tol, 100)
        best = candidate_of(arrays, r, "interior point", done)
    except FillError:
        best = gauss_seidel(arrays, tol=tol)
    if arrays.size <= _SMALL:
        best = _better(best, newton(arrays, start=best.forces, tol=1e-15))
    if best.residual > tol and arrays.size > _SMALL and arrays.has_sparse_delassus:
        best = _better(best, newton(arrays, start=best.forces, tol=0.1 * tol))
    if best.residual > tol and (arrays.has_sparse_delassus or arrays.has_dense_delassus):
        best = _better(best, gauss_seidel(arrays, start=best.forces, tol=tol))
    if best.residual > tol:
        best = _better(best, cone_fixed_point(arrays, tol=tol, rounds=1))
    return best


def _better(one: Candidate, other: Candidate) -> Candidate:
    return other if other.residual < one.residual else one
