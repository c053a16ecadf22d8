"""Friction in planes, and problems too large to enumerate: what solvers find, checked, and what can be proved of it.

Gauss's principle (no friction, or given normal forces) is one convex program: the acceleration is unique. One contact
with two directions of friction has finitely many solutions, all found by the roots of a quartic. Several contacts are
searched over all modes and all directions of slip (`directions`), which ends with every solution enclosed. Beyond that,
and where boxes stay open, solvers start from many places: two accelerations exhibited are several, one is 'found' and
no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.slots import fits
from zwang._numerics.contact.candidate import Candidate
from zwang._numerics.contact.certificates import Proof
from zwang._numerics.contact.certificates.coplanar import one_motion
from zwang._numerics.contact.certificates.degree import degree
from zwang._numerics.contact.certificates.planes import plane_proofs
from zwang._numerics.contact.certificates.proofs import THIS_STATE
from zwang._numerics.contact.choose import solve_many_starts, solve_one
from zwang._numerics.contact.delassus import FrictionArrays, friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.one_contact import one_contact_fits, one_contact_solutions
from zwang._numerics.contact.problem import ContactProblem, is_sparse
from zwang._numerics.contact.reaction_set import self_stress
from zwang._numerics.contact.residual import Scales
from zwang._numerics.contact.variants import least_held, special_contacts, variants
from zwang._reactions.candidates import candidate_scales, convex_proof, motion_size, solution_at
from zwang._reactions.directions import Everything, curvature, every_solution
from zwang._reactions.rejections import no_rejections
from zwang._reactions.standing import same_forces, standing
from zwang._reactions.statuses import certificate_of
from zwang._reactions.undetermined import Undetermined, spatial_redundancy, undetermined
from zwang._results.base import Provenance
from zwang._results.reaction_boxes import UndecidedBox
from zwang._results.reactions import Reactions, ReactionsStatus, Solution

Array = npt.NDArray[np.float64]
ACCEPTED = 1e-8  # relative residual of the laws that still counts as a solution
MANY_STARTS = 200
"""Unknown forces up to which solvers start from many places."""
STARTS = 60  # random ones where no proof is at hand
INSIDE = 1e-6  # part of the largest force that counts as not on the border
SAME_MOTION = 1e-7
"""Accelerations that differ by less, relative to the load, are one."""
BOXES = 20_000
"""Boxes of modes and directions after which a search stops."""
FEWER_BOXES = 4_000
"""The same where an answer is wanted at every event of a motion."""
DENSE_ROWS = 2000  # beyond it a dense matrix takes longer than what is told from it
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
    every: bool | None = None,
    budget: int | None = None,
    report: Callable[[int], None] | None = None,
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
    every, budget, report
        As for `reactions_of_problem`; the budget counts boxes of directions.

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
    arrays = friction_arrays(problem, slip_tol=slip_tol)
    whole = None
    boxes = budget or (BOXES if ranges else FEWER_BOXES)
    if every is not False and fits(problem) and (special or not arrays.convex):
        whole = every_solution(problem, called, slip_tol, budget=boxes, report=report, ranges=ranges)
    if whole is not None and (whole.complete or not one_contact_fits(arrays)):
        found = _searched(problem, whole, special, slip_tol, boxes)
    else:
        found = _Known([], [], complete=False)
    if not found.complete and not any(proof.unique_motion for proof in found.proofs):
        proposed = _propose_variants(problem, special, seed, slip_tol) if special else _propose(problem, arrays, seed)
        found = _with_proposals(problem, found, proposed, called, special, slip_tol, ranges)
        found = _with_one_motion(problem, found)
    if not special:
        found = replace(found, proofs=[*found.proofs, *plane_proofs(problem, slip_tol)])
    status = _status(problem, found)
    main = max(found.proofs, key=lambda proof: (proof.unique, proof.unique_motion, proof.exists), default=None)
    settled = found.complete or status in (ReactionsStatus.UNIQUE, ReactionsStatus.UNIQUE_MOTION)
    solutions = [item.solution for item in found.extents]
    return Reactions(
        status=status,
        residual=max((solution.residual for solution in solutions), default=float("nan")),
        provenance=provenance,
        name=name,
        contacts=called,
        coordinates=tuple(coordinates),
        solutions=tuple(solutions),
        accelerations=_distinct(problem, found),
        accelerations_continuum=bool(found.exhibited),
        rejected=no_rejections(called),
        complete=found.complete or status is ReactionsStatus.UNIQUE,
        marginal=tuple(found.marginal),
        certificate=None if main is None else certificate_of(main),
        certificates=tuple(certificate_of(proof) for proof in found.proofs),
        redundancy=spatial_redundancy(problem, found.extents, called),
        modes_total=float("inf"),
        nodes=found.boxes,
        note=_note(found, note, settled),
        undecided=found.undecided,
    )


def _note(found: _Known, note: str, settled: bool) -> str:
    """Say what was not done, or not decided."""
    if settled:
        return found.note if found.undecided else ""
    return " ".join(text for text in ("" if found.boxes else note, found.note) if text)


@dataclass(frozen=True, eq=False)
class _Known:
    """The solutions with their self-stresses, and what is known about the list."""

    extents: list[Undetermined]
    proofs: Sequence[Proof]
    complete: bool
    marginal: Sequence[str] = ()
    note: str = ""
    exhibited: Sequence[Array] = ()
    undecided: tuple[UndecidedBox, ...] = ()
    boxes: int = 0
    ends: set[frozenset[int]] = field(default_factory=set)


def _searched(
    problem: ContactProblem, whole: Everything, special: Sequence[int], slip_tol: float, budget: int
) -> _Known:
    """Return what the search over arcs of directions found."""
    extents = whole.extents
    if special:
        stand = {id(one) for one in standing(problem, whole.solutions, slip_tol)}
        extents = [item for item in extents if id(item.solution) in stand]
    extents = sorted(extents, key=lambda item: -float(item.solution.normal.sum()))
    proofs: list[Proof] = []
    every_force = whole.passive and whole.regular and not special
    complete, note = whole.complete, ""
    if every_force:
        proofs.append(degree())
    if complete and every_force and len(extents) % 2 == 0:
        complete = False
        note = f"The search found {len(extents)} solutions, but their number must be odd: one of them is missing."
    elif not complete:
        note = _left_open(whole, budget)
    if complete:
        proofs.insert(0, _all_directions(extents, whole))
    known = _Known(extents, proofs, complete, (), note, whole.exhibited, whole.undecided, whole.boxes, whole.ends)
    return _with_one_motion(problem, known)


def _with_one_motion(problem: ContactProblem, found: _Known) -> _Known:
    """Add the certificate that what is undecided moves like the one solution that was found, if it does."""
    if found.complete or len(found.extents) != 1 or found.exhibited or not found.ends:
        return found
    proved = curvature(problem, found.extents[0].solution, found.ends)
    return replace(found, proofs=[one_motion(proved), *found.proofs]) if proved else found


def _left_open(whole: Everything, budget: int) -> str:
    count = len(whole.undecided)
    boxes = f"{count} box{'es' if count > 1 else ''} of modes and directions"
    spent = f" after {budget} boxes (budget={{'steps': ...}} raises that)" if whole.boxes >= budget else ""
    return (
        f"{boxes[0].upper()}{boxes[1:]} could neither be excluded nor be decided{spent}: ties, double roots, "
        f"forces that depend on each other or have no bound; see `undecided`. What is listed was verified."
    )


def _all_directions(extents: Sequence[Undetermined], whole: Everything) -> Proof:
    count = len(extents)
    continuum = bool(whole.exhibited)
    words = "one solution and no other" if count == 1 else f"{count or 'no'} solutions and no others"
    if count and (continuum or any(item.solution.dimension for item in extents)):
        words = f"{count} set{'s' if count > 1 else ''} of solutions and no others"
    return Proof(
        "all directions",
        float(count),
        THIS_STATE,
        f"All modes and all directions of slip, in {whole.boxes} boxes, give {words}.",
        exists=count > 0,
        unique_motion=count <= 1 and not continuum,
        unique=count <= 1 and not any(item.solution.dimension for item in extents),
    )


def _with_proposals(
    problem: ContactProblem,
    found: _Known,
    proposed: Proposals,
    names: tuple[str, ...],
    special: Sequence[int],
    slip_tol: float,
    ranges: bool,
) -> _Known:
    """Add what solvers propose, each checked against the laws and once."""
    solutions: list[Solution] = []
    misses = []
    for candidate in proposed.candidates:
        solution = solution_at(problem, _forces(candidate), names, slip_tol)
        if solution.residual <= ACCEPTED:
            solutions.append(solution)
        else:
            misses.append(solution.residual)
    proofs = [*found.proofs, *proposed.proofs]
    if special:
        solutions = standing(problem, solutions, slip_tol)
        if proposed.complete and not found.extents:
            proofs = [_enumerated(len(solutions))]
    known = [item.solution for item in found.extents]
    scales = candidate_scales(problem)
    new = [one for one in solutions if not any(_covers(problem, scales, other, one) for other in known)]
    extents = [undetermined(problem, one, slip_tol) if ranges else Undetermined.none(one) for one in new]
    words = [text for text in (found.note, proposed.note) if text]
    if misses and not solutions and not known:
        words.append(f"The best approximation misses the laws by {min(misses):.1e} (accepted: {ACCEPTED:.0e}).")
    return _Known(
        [*found.extents, *extents],
        proofs,
        proposed.complete and not found.extents,
        proposed.marginal,
        " ".join(words),
        found.exhibited,
        found.undecided,
        found.boxes,
        found.ends,
    )


def _covers(problem: ContactProblem, scales: Scales, known: Solution, found: Solution) -> bool:
    """Whether a solution is one of those that are known: it has the same forces, or the same modes and motion.

    Beside a tie or a double root the laws are satisfied to the square of what a motion is off by.
    """
    apart = motion_size(problem, scales, known.acceleration - found.acceleration)
    if same_forces(known, found) or apart <= np.sqrt(found.residual):
        return True
    near = apart <= SAME_MOTION
    return known.dimension > 0 and known.modes == found.modes and (near or not known.acceleration_unique)


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


def _distinct(problem: ContactProblem, found: _Known) -> Array:
    """Return the accelerations that differ by more than rounding, one per row."""
    rows: list[Array] = []
    scales = candidate_scales(problem)
    for w in [*(item.solution.acceleration for item in found.extents), *found.exhibited]:
        if all(motion_size(problem, scales, w - row) > SAME_MOTION for row in rows):
            rows.append(w)
    return np.array(rows).reshape(-1, len(problem.force))


def _status(problem: ContactProblem, found: _Known) -> ReactionsStatus:
    if found.exhibited or len(_distinct(problem, found)) > 1:
        return ReactionsStatus.MULTIPLE
    if not found.extents:
        return ReactionsStatus.NONE if found.complete else ReactionsStatus.UNDECIDED
    solutions = [item.solution for item in found.extents]
    if any(proof.unique and proof.exists for proof in found.proofs) or any(
        proof.unique for proof in found.proofs if not found.boxes
    ):
        return ReactionsStatus.UNIQUE
    if found.complete and found.boxes:
        return ReactionsStatus.UNIQUE_MOTION
    if any(proof.unique_motion for proof in found.proofs):
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
