"""Every velocity jump that one complementarity problem allows.

The problem has the form of the contact problems of `contacts`, with the jump w in place of the acceleration and
impulses in place of forces, so the same exact enumeration of modes (friction along lines) and the same solvers over
cones (friction in planes) apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate
from zwang._numerics.contact.choose import solve_many_starts, solve_one
from zwang._numerics.contact.convex_pieces import maximal
from zwang._numerics.contact.delassus import FrictionArrays, friction_arrays
from zwang._numerics.contact.enumeration import find_modes
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.one_contact import one_contact_fits, one_contact_solutions
from zwang._numerics.contact.pieces import Piece, nearness, pieces_of
from zwang._numerics.contact.pins import pin_solutions
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.residual import residual_of, scales_of
from zwang._numerics.contact.scaled import Reduced, has_resultants, is_planar, reduce
from zwang._numerics.contact.variants import special_contacts, variants

Array = NDArray[np.float64]

TOL = 1e-9  # relative to the largest impulse
ENUMERATED = 24
"""Contacts up to which modes are enumerated; the search prunes, but not without limit."""
BUDGET = 200_000  # nodes of the search tree; single impacts need some hundreds
MANY_STARTS = 60
"""Unknown impulses up to which solvers start from many places."""
STARTS = 40  # random starts where the search is too large


@dataclass(frozen=True, eq=False)
class Jump:
    """One solution: the jump of the velocity and impulses that make it."""

    w: Array
    normal: Array
    tangential: Array
    residual: float


@dataclass(frozen=True, eq=False)
class Jumps:
    """The solutions with different velocities; `complete` if no others exist, `continuum` if they are not isolated."""

    found: tuple[Jump, ...]
    complete: bool
    continuum: bool = False


def all_jumps(problem: ContactProblem) -> Jumps:
    """Return the solutions of a contact problem whose unknowns are a velocity jump and impulses.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5, bias=2.0, tangent_bias=[-0.4])
    >>> (jump,) = all_jumps(ContactProblem(np.eye(2), np.zeros(2), [floor])).found
    >>> jump.w + 0.0, jump.normal
    (array([-0.4,  2. ]), array([2.]))
    """
    if any(problem.rows.of):
        return _loaded(problem)
    arrays = friction_arrays(problem)
    if arrays.size == 0 or not arrays.loaded:
        k = problem.rows.count
        return Jumps((Jump(np.zeros(len(problem.force)), np.zeros(k), np.zeros((k, 2)), 0.0),), True)
    special = special_contacts(problem, 0.0)
    if arrays.convex and not special:
        return Jumps(_accepted([gauss_projection(arrays)]), True)
    if is_planar(problem) and problem.rows.count <= ENUMERATED:
        found = _enumerated(problem, arrays)
        if found is not None:
            return found
    if special:
        return Jumps(_of_variants(problem, special), False)
    if one_contact_fits(arrays):
        exact = one_contact_solutions(arrays)
        return Jumps(_accepted([candidate for _, candidate in exact.solutions]), exact.complete)
    if arrays.size <= MANY_STARTS:
        return Jumps(_accepted(solve_many_starts(arrays, seed=0, starts=STARTS, tol=TOL)), False)
    return Jumps(_accepted([solve_one(arrays, tol=TOL)]), False)


def _loaded(problem: ContactProblem) -> Jumps:
    """Return the solutions where impulses of some contacts load the friction of others."""
    if not is_planar(problem) or problem.rows.count > ENUMERATED:
        return Jumps((), False)
    reduced, scales = reduce(problem), scales_of(problem)
    if has_resultants(problem):
        pins = pin_solutions(problem, reduced, tol=TOL, ranges=False)
        points, complete, continuum = [one.z for one in pins.solutions], not pins.undecided, False
    else:
        outcome = find_modes(reduced, tol=TOL, budget=BUDGET)
        pieces = maximal(reduced, pieces_of(reduced, outcome, TOL), TOL)
        points, complete = [z for piece in pieces for z in _points(piece)], outcome.finished
        continuum = any(not piece.unique for piece in pieces)
    found: list[Jump] = []
    for z in points:
        forces = (reduced.acceleration(z), *reduced.forces(z))
        if all(_differ(forces[0], other.w) for other in found):
            found.append(Jump(*forces, residual_of(problem, *forces, scales).largest))
    return Jumps(tuple(found), complete, continuum)


def _of_variants(problem: ContactProblem, special: Sequence[int]) -> tuple[Jump, ...]:
    """Return what solvers find where sections along lines have two sizes, beside friction in planes."""
    scales = scales_of(problem)
    found: list[Jump] = []
    for one in variants(problem, special)[0]:
        arrays = friction_arrays(one.problem)
        if arrays.convex:
            candidates = [gauss_projection(arrays)]
        else:
            candidates = list(solve_many_starts(arrays, seed=0, starts=STARTS, tol=TOL))
        for item in candidates:
            forces = (item.acceleration, item.normal, item.tangential * one.factors)
            residual = residual_of(problem, *forces, scales).largest
            if residual <= TOL and all(_differ(forces[0], other.w) for other in found):
                found.append(Jump(*forces, residual))
    return tuple(found)


def _differ(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max(initial=0.0) > 100 * TOL * np.abs(other).max(initial=0.0))


def _accepted(candidates: list[Candidate]) -> tuple[Jump, ...]:
    return tuple(
        Jump(one.acceleration, one.normal, one.tangential, one.residual) for one in candidates if one.residual <= TOL
    )


def _enumerated(problem: ContactProblem, arrays: FrictionArrays) -> Jumps | None:
    reduced = reduce(problem)
    outcome = find_modes(reduced, tol=TOL, budget=BUDGET)
    if not outcome.finished:
        return None
    pieces = maximal(reduced, pieces_of(reduced, outcome, TOL), TOL)
    found: list[Jump] = []
    for piece in pieces:
        for z in _points(piece):
            jump = _jump(problem, reduced, arrays, z)
            if all(_apart(reduced, arrays, jump, other) for other in found):
                found.append(jump)
    return Jumps(tuple(found), True, any(not piece.unique for piece in pieces))


def _points(piece: Piece) -> Array:
    body = piece.polyhedron
    return body.point[None, :] if piece.unique or not len(body.vertices) else body.vertices


def _jump(problem: ContactProblem, reduced: Reduced, arrays: FrictionArrays, z: Array) -> Jump:
    from zwang._numerics.contact.candidate import natural_residual

    normal, tangential = reduced.forces(z)
    if problem.rows.plain:
        residual = natural_residual(arrays, arrays.stack(normal, tangential))
    else:
        forces = (reduced.acceleration(z), normal, tangential)
        residual = residual_of(problem, *forces, scales_of(problem)).largest
    return Jump(reduced.acceleration(z), normal, tangential, residual)


def _apart(reduced: Reduced, arrays: FrictionArrays, one: Jump, other: Jump) -> bool:
    """Whether two jumps differ where the contacts feel it."""
    change = np.abs(arrays.rows @ (one.w - other.w)) / arrays.row_scale
    return bool(change.max(initial=0.0) > nearness(TOL) * max(arrays.cause, reduced.load))
