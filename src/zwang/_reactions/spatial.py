"""Friction in planes, and problems too large to enumerate: what solvers find, checked, and what can be proved of it.

Gauss's principle (no friction, or given normal forces) is one convex program: the acceleration is unique. One contact
with two directions of friction has finitely many solutions, all found by the roots of a quartic. Beyond that solvers
start from many places: two accelerations exhibited are several, one is 'found' and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.candidate import Candidate
from zwang._numerics.contact.certificates import Proof
from zwang._numerics.contact.certificates.proofs import THIS_STATE
from zwang._numerics.contact.choose import solve_many_starts, solve_one
from zwang._numerics.contact.delassus import FrictionArrays, friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.one_contact import one_contact_fits, one_contact_solutions
from zwang._numerics.contact.problem import ContactProblem, is_sparse
from zwang._numerics.contact.reaction_set import self_stress
from zwang._numerics.contact.variants import least_held, special_contacts, variants
from zwang._reactions.candidates import convex_proof, solution_at
from zwang._reactions.rejections import no_rejections
from zwang._reactions.standing import standing
from zwang._reactions.undetermined import spatial_redundancy, undetermined
from zwang._reactions.verdict import certificate_of
from zwang._results.base import Provenance
from zwang._results.reactions import Reactions, ReactionsStatus, Solution

Array = npt.NDArray[np.float64]
ACCEPTED = 1e-8
MANY_STARTS = 200
"""Unknown forces up to which solvers start from many places."""
STARTS = 60
INSIDE = 1e-6
DENSE_ROWS = 2000
VARIANTS = (
    "Sections that are no discs were made plain in each of their modes; what solvers did not find is not excluded."
)


@dataclass(frozen=True)
class Proposals:
    """What solvers found, and what is known about the list."""

    candidates: Sequence[Candidate]
    complete: bool = False
    proofs: Sequence[Proof] = ()
    marginal: Sequence[str] = field(default=())
    note: str = ""


def reactions_by_solvers(
    problem: ContactProblem,
    *,
    names: Sequence[str],
    name: str,
    coordinates: Sequence[str] = (),
    provenance: Provenance,
    slip_tol: float = 0.0,
    seed: int = 0,
    note: str = "",
    ranges: bool = True,
) -> Reactions:
    """Return what solvers find for friction in planes or for large problems, with the certificates that hold.

    Parameters
    ----------
    problem : ContactProblem
    names, name, coordinates, provenance
        As for `reactions_of_problem`.
    slip_tol : float
        Slip velocities up to this size count as rest.
    seed : int
        Of the random starts.
    note : str
        What was not done.
    ranges : bool
        Whether to compute the extent of reactions that the motion leaves undetermined.

    Examples
    --------
    One contact with three slip accelerations, although the matrix of Theorem 12 of paper 001 is positive definite.

    >>> from zwang._numerics.contact.problem import Contact
    >>> inverse = [[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]]
    >>> contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.72)
    >>> problem = ContactProblem(force=[0.698296, 0.524118, -1.183994], contacts=[contact], inverse_mass=inverse)
    >>> found = reactions_by_solvers(problem, names=["tip"], name="point", provenance=Provenance.now("example"))
    >>> found.status.name, found.complete, [round(float(solution.normal[0]), 4) for solution in found.solutions]
    ('MULTIPLE', True, [1.0123, 0.9437, 0.7105])
    """
    called = tuple(names)
    special = special_contacts(problem, slip_tol)
    if special:
        proposed = _propose_variants(problem, special, seed, slip_tol)
    else:
        proposed = _propose(problem, friction_arrays(problem, slip_tol=slip_tol), seed)
    solutions: list[Solution] = []
    misses = []
    for candidate in proposed.candidates:
        solution = solution_at(problem, _forces(candidate), called, slip_tol)
        if solution.residual <= ACCEPTED:
            solutions.append(solution)
        else:
            misses.append(solution.residual)
    if special:
        solutions = standing(problem, solutions, slip_tol)
        proposed = replace(proposed, proofs=[_enumerated(len(solutions))] if proposed.complete else [])
    extents = [undetermined(problem, solution, slip_tol) for solution in solutions] if ranges else []
    solutions = [item.solution for item in extents] if ranges else solutions
    words = [text for text in (note, proposed.note) if text]
    if misses and not solutions:
        words.append(f"The best approximation misses the laws by {min(misses):.1e} (accepted: {ACCEPTED:.0e}).")
    accelerations = _distinct(solutions, len(problem.force))
    status = _status(problem, solutions, accelerations, proposed)
    proofs = list(proposed.proofs)
    main = max(proofs, key=lambda proof: (proof.unique, proof.unique_motion, proof.exists), default=None)
    settled = proposed.complete or status in (ReactionsStatus.UNIQUE, ReactionsStatus.UNIQUE_MOTION)
    return Reactions(
        status=status,
        residual=max((solution.residual for solution in solutions), default=float("nan")),
        provenance=provenance,
        name=name,
        contacts=called,
        coordinates=tuple(coordinates),
        solutions=tuple(solutions),
        accelerations=accelerations,
        accelerations_continuum=False,
        rejected=no_rejections(called),
        complete=proposed.complete or status is ReactionsStatus.UNIQUE,
        marginal=tuple(proposed.marginal),
        certificate=None if main is None else certificate_of(main),
        certificates=tuple(certificate_of(proof) for proof in proofs),
        redundancy=spatial_redundancy(problem, extents, called),
        modes_total=float("inf"),
        note="" if settled else " ".join(words),
    )


def _propose(problem: ContactProblem, arrays: FrictionArrays, seed: int) -> Proposals:
    if arrays.convex:
        proof = convex_proof(problem)
        return Proposals([gauss_projection(arrays)], proofs=[] if proof is None else [proof])
    if one_contact_fits(arrays) and arrays.has_dense_delassus:
        found = one_contact_solutions(arrays)
        count = len(found.solutions)
        words = "one solution and no other" if count == 1 else f"{count or 'no'} solutions and no others"
        exact = Proof(
            "one contact, exactly",
            float(count),
            THIS_STATE,
            f"Open, stick and the roots of a quartic give {words}.",
            exists=count > 0,
            unique_motion=count <= 1,
            unique=count <= 1,
        )
        candidates = [candidate for _, candidate in found.solutions]
        candidates.sort(key=lambda one: -float(one.normal.sum()))
        return Proposals(candidates, found.complete, [exact] if found.complete else [], found.marginal)
    if arrays.size <= MANY_STARTS:
        several = solve_many_starts(arrays, seed=seed, starts=STARTS)
        return Proposals(several, note=f"Solvers started from {STARTS} places (seed {seed}); others are not excluded.")
    return Proposals([solve_one(arrays, seed=seed)], note="One solution was looked for; others are not excluded.")


def _propose_variants(problem: ContactProblem, special: Sequence[int], seed: int, slip_tol: float) -> Proposals:
    """Return what solvers find for the plain problems that a problem with other sections is made of."""
    plain, whole = variants(problem, special)
    candidates: list[Candidate] = []
    complete, marginal = whole, []
    for one in plain:
        found = _propose(one.problem, friction_arrays(one.problem, slip_tol=slip_tol), seed)
        candidates += [replace(item, tangential=item.tangential * one.factors) for item in found.candidates]
        complete = complete and found.complete
        marginal += list(found.marginal)
    return Proposals(candidates, complete, (), tuple(dict.fromkeys(marginal)), VARIANTS)


def _enumerated(count: int) -> Proof:
    words = "one solution and no other" if count == 1 else f"{count or 'no'} solutions and no others"
    told = f"Open, stick by what holds at rest, and the roots of a quartic give {words}."
    single = count <= 1
    return Proof(
        "one contact, exactly",
        float(count),
        THIS_STATE,
        told,
        exists=count > 0,
        unique_motion=single,
        unique=single,
    )


def _forces(candidate: Candidate) -> tuple[Array, Array, Array]:
    return candidate.acceleration, candidate.normal, candidate.tangential


def _distinct(solutions: Sequence[Solution], n: int) -> Array:
    """Return the accelerations that differ by more than rounding, one per row."""
    rows: list[Array] = []
    for solution in solutions:
        size = max((float(np.abs(row).max(initial=0.0)) for row in rows), default=0.0) + 1e-300
        if all(np.abs(solution.acceleration - row).max(initial=0.0) > 1e-6 * size for row in rows):
            rows.append(solution.acceleration)
    return np.array(rows).reshape(-1, n)


def _status(
    problem: ContactProblem, solutions: Sequence[Solution], accelerations: Array, proposed: Proposals
) -> ReactionsStatus:
    if len(accelerations) > 1:
        return ReactionsStatus.MULTIPLE
    if not solutions:
        return ReactionsStatus.NONE if proposed.complete else ReactionsStatus.UNDECIDED
    if any(proof.unique for proof in proposed.proofs):
        return ReactionsStatus.UNIQUE
    if any(proof.unique_motion for proof in proposed.proofs):
        return _reactions_of_one_motion(problem, solutions[0])
    return ReactionsStatus.FOUND


def _reactions_of_one_motion(problem: ContactProblem, solution: Solution) -> ReactionsStatus:
    """Say whether the reactions are unique too, where the acceleration is.

    Friction that slips is given by the motion, and an open contact has no force. Forces that are left are unique if
    their rows are independent. If rows of forces strictly inside their bounds (a pressing normal force, a friction
    force below its bound) depend on each other, a small multiple of that self-stress leaves every law satisfied: the
    reactions are not unique.
    """
    rows = problem.rows
    if rows.normal.shape[0] + rows.tangent.shape[0] > DENSE_ROWS:
        return ReactionsStatus.FOUND
    normal, tangent = (part.toarray() if is_sparse(part) else np.asarray(part) for part in (rows.normal, rows.tangent))
    left: list[Array] = []
    inside: list[Array] = []
    largest = float(np.abs(solution.normal).max(initial=0.0))
    for j, mode in enumerate(solution.modes.codes):
        if np.isnan(rows.normal_force[j]) and mode is not Mode.OPEN:
            left.append(normal[j])
            if rows.bilateral[j] or solution.normal[j] > INSIDE * largest:
                inside.append(normal[j])
        if mode.plain is Mode.STICK:
            own = list(tangent[rows.first[j] : rows.first[j + 1]])
            left.extend(own)
            bound = (rows.friction[j] if rows.plain else least_held(problem, j)) * abs(solution.normal[j])
            if np.linalg.norm(np.atleast_1d(solution.tangential[j])) < (1 - INSIDE) * bound:
                inside.extend(own)
    metric = None if problem.mass is None or is_sparse(problem.mass) else problem.mass
    if not left or problem.proves_independent(np.array(left)) or not self_stress(np.array(left), metric).shape[1]:
        return ReactionsStatus.UNIQUE
    free = inside and self_stress(np.array(inside), metric).shape[1]
    return ReactionsStatus.UNIQUE_MOTION if free else ReactionsStatus.FOUND
