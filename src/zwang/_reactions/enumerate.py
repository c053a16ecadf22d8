"""The verb for plain arrays: `reactions_of_problem`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.budget import spent
from zwang._numerics.contact.certificates import Proof, certificates, of_uniqueness
from zwang._numerics.contact.convex_pieces import components, maximal
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.enumeration import SearchOutcome, find_modes, mode_count
from zwang._numerics.contact.exact.sets import ExactSet, exact_set
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.pieces import (
    Piece,
    clearly_points,
    in_doubt,
    nearness,
    pieces_of,
    points_of,
    still_doubtful,
)
from zwang._numerics.contact.problem import ContactProblem, dense
from zwang._numerics.contact.rest import holding, settled
from zwang._numerics.contact.scaled import Reduced, has_resultants, is_planar, reduce
from zwang._numerics.tolerances import real
from zwang._reactions.candidates import DENSE
from zwang._reactions.one_solution import one_piece, piece_at
from zwang._reactions.redundancy import explain_redundancy
from zwang._reactions.rejections import explain
from zwang._reactions.single_contact import clear_answer, clear_reactions, contact_graph
from zwang._reactions.solutions import distinct_accelerations, in_given_units, solution_of
from zwang._reactions.statuses import certificate_of, enumeration, main_certificate, status_of
from zwang._results.base import Provenance
from zwang._results.later import Later
from zwang._results.reactions import Certificate, Reactions
from zwang.errors import DeclarationError

ENUMERATED = 12
"""Contacts up to which the enumeration is carried to its end."""
SEARCHABLE = 48
"""Contacts up to which it is tried at all."""
LARGEST = 3_000
"""Rows of normals and tangents beyond which nothing dense is made."""
FULL_BUDGET = 20_000_000  # nodes of the search: about a minute
TRIAL_BUDGET = 100_000  # nodes: some tenths of a second, then solvers are asked
WIDEST_SIGNS = 1e-3
"""Signs that are decided up to more than this part of the terms say nothing."""
MARGIN = 1e-6
"""Decisions of the scaled problem that rest on less are taken again in rational arithmetic: 1e10 units of rounding."""
EPSILON = float(np.finfo(float).eps)
ROUNDING = 1e-11
"""The same for all of them, where rounding of the mass matrix alone makes more than this."""


Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SolverOptions:
    """How far to go; tolerances are relative to the size of the terms."""

    tol: float
    slip_tol: float
    every: bool | None
    budget: int | None
    certify: bool
    report: Callable[[int], None] | None
    exact: bool
    partial: bool = False


@dataclass(frozen=True)
class Subject:
    """What an answer is about, in words.

    Attributes
    ----------
    name : str
        Of the problem.
    names, coordinates : sequences of str
        Of its contacts (by default their own) and of its coordinates.
    provenance : Provenance, optional
        Where the arrays come from; made from the arrays themselves if left out.
    """

    name: str = "problem"
    names: Sequence[str] | None = None
    coordinates: Sequence[str] = ()
    provenance: Provenance | None = None


UNNAMED = Subject()


def reactions_of_problem(
    problem: ContactProblem,
    *,
    subject: Subject = UNNAMED,
    tol: float = 1e-9,
    slip_tol: float = 0.0,
    every: bool | None = None,
    budget: int | None = None,
    certify: bool = True,
    report: Callable[[int], None] | None = None,
    exact: bool = True,
    partial: bool = False,
    ranges: bool = True,
) -> Reactions:
    """Return every acceleration and reaction that the laws allow.

    Parameters
    ----------
    problem : ContactProblem
    subject : Subject
        What the result calls the problem, its contacts and its coordinates, and where it says they come from.
    tol : float
        Signs are decided up to `tol` times the size of the terms; what is decided by less is marginal.
    slip_tol : float
        Slip velocities up to this size count as rest.
    every : bool, optional
        True: enumerate all modes whatever it costs, up to `budget`. False: one solution is enough. By default all
        modes are enumerated for up to 12 contacts, and tried for more.
    budget : int, optional
        Linear programs after which the enumeration stops.
    certify : bool
        Whether to look for certificates that hold for every force.
    report : callable, optional
        Called with the number of linear programs from time to time.
    exact : bool
        Whether the arrays are what is meant, to the last bit: then ties between modes are decided in rational
        arithmetic. False where they were computed from a state, which is rounded itself: ties stay marginal.
    partial : bool
        Whether a budget of the caller that is spent ends the enumeration alone.
    ranges : bool
        Whether to compute the extent of reactions that are undetermined where friction acts in planes.

    Examples
    --------
    A block on a floor is pushed with less than friction can hold.

    >>> from zwang._numerics.contact.problem import Contact
    >>> floor = Contact([0, 1], tangent=[1, 0], friction=0.5, name="floor")
    >>> found = reactions_of_problem(ContactProblem(np.eye(2), [0.4, -1.0], [floor]))
    >>> found.status.name, found.solutions[0].modes["floor"], float(found.solutions[0].tangential[0])
    ('UNIQUE', 'stick', -0.4)
    """
    if not isinstance(problem, ContactProblem):
        raise DeclarationError(f"reactions: got a {type(problem).__name__}, needed a ContactProblem.")
    tol = real(tol, "tol", above=0, most=WIDEST_SIGNS, where="reactions")
    called = problem.names if subject.names is None else tuple(subject.names)
    if len(called) != problem.rows.count:
        raise DeclarationError(f"reactions: {len(called)} names for {problem.rows.count} contacts.")
    options = SolverOptions(tol, slip_tol, every, budget, certify, report, exact, partial)
    origin = subject.provenance or Provenance.now(
        Later(lambda: _digest(problem)), tolerances={"tol": tol, "slip": slip_tol}
    )
    lines = is_planar(problem, slip_tol=slip_tol) and _fits(problem)
    if any(problem.rows.of) and not lines:
        return in_given_units(problem, _by_loads(problem, called, options, subject, origin))
    if has_resultants(problem):
        return in_given_units(problem, _with_pins(problem, called, options, subject, origin, ranges=ranges))
    if lines:
        clear = _clear(problem, called, options, subject, origin)
        if clear is not None:
            return clear
        return in_given_units(problem, _planar(problem, called, options, subject, origin))
    from zwang._reactions.spatial import reactions_by_solvers  # half of the room, and no part of the plane

    found = reactions_by_solvers(
        problem,
        names=called,
        name=subject.name,
        coordinates=subject.coordinates,
        provenance=origin,
        slip_tol=slip_tol,
        note=_what_is_left(problem, options),
        ranges=ranges,
        every=every,
        budget=budget,
        report=report,
    )
    return in_given_units(problem, found)


def _by_loads(
    problem: ContactProblem, names: tuple[str, ...], options: SolverOptions, subject: Subject, origin: Provenance
) -> Reactions:
    """Return one solution where friction that others load is beside friction in planes."""
    from zwang._reactions.loads import reactions_by_loads

    asked = replace(subject, names=names, provenance=origin)

    def ask(given: ContactProblem) -> Reactions:
        return reactions_of_problem(
            given, subject=asked, slip_tol=options.slip_tol, every=False, certify=False, exact=False, ranges=False
        )

    return reactions_by_loads(problem, ask, names, subject.name, subject.coordinates, origin, options.slip_tol)


def _with_pins(
    problem: ContactProblem,
    names: tuple[str, ...],
    options: SolverOptions,
    subject: Subject,
    origin: Provenance,
    *,
    ranges: bool,
) -> Reactions:
    """Return the answer where friction goes with resultants."""
    from zwang._reactions.pin_solutions import reactions_of_pins

    return reactions_of_pins(
        problem,
        names,
        origin,
        tol=options.tol,
        slip_tol=options.slip_tol,
        ranges=ranges,
        exact=options.exact,
        name=subject.name,
        coordinates=tuple(subject.coordinates),
    )


def _fits(problem: ContactProblem) -> bool:
    """Whether dense arrays of all rows are affordable."""
    rows = problem.rows
    count = rows.normal.shape[0] + rows.tangent.shape[0]
    return bool(count <= LARGEST and count * len(problem.force) <= DENSE)


def _what_is_left(problem: ContactProblem, options: SolverOptions) -> str:
    rows = problem.rows
    if not is_planar(problem, slip_tol=options.slip_tol):
        why = "a contact at rest has friction in a plane, where modes can't be enumerated"
    else:
        resting = (rows.friction > 0) & (np.isnan(rows.normal_force))
        digits = np.log10(4.0) * resting.sum() + np.log10(2.0) * (~resting).sum()
        asked = "every solution was asked, but that needs" if options.every else "every solution needs"
        why = f"{asked} up to 10^{digits:.0f} combinations of modes of {rows.count} contacts"
    return f"{why[0].upper()}{why[1:]}; what solvers found was checked."


@dataclass(frozen=True, eq=False)
class Found:
    """The solution set in scaled forces, and how much of it that is."""

    pieces: list[Piece]
    outcome: SearchOutcome | None
    proofs: Callable[[], list[Proof]]
    complete: bool
    marginal: tuple[str, ...]
    note: str
    exact: ExactSet | None = None
    of_motion: Callable[[], list[Proof]] = list


def _solution_set(problem: ContactProblem, reduced: Reduced, total: float, options: SolverOptions) -> Found:
    tol = options.tol
    rounding = _ill_conditioned(reduced, tol)
    outcome = _enumerate(reduced, total, options)
    finished = outcome is not None and outcome.finished

    # Proofs for every force are of Coulomb's law; other sections and rest with a law of its own go without.
    certified = options.certify and not rounding and not reduced.special

    @cache
    def of_motion() -> list[Proof]:
        return of_uniqueness(reduced) if certified else []

    @cache
    def proofs() -> list[Proof]:
        return certificates(reduced, of_motion()) if certified else []

    if outcome is not None and outcome.finished and (options.exact or not outcome.doubts):
        starts = _to_decide(reduced, outcome)
        if starts is None and not reduced.static and not rounding:
            return Found(points_of(reduced, outcome.leaves), outcome, proofs, True, (), "")
        decided = None
        if starts is not None and options.exact:
            decided = exact_set(problem, reduced, outcome, starts, options.slip_tol)
        if decided is not None:
            return Found(decided.pieces, outcome, proofs, True, (), "", decided)
    pieces = holding(reduced, pieces_of(reduced, outcome, tol), tol) if outcome is not None else []
    doubtful = [piece.marginal for piece in pieces if piece.marginal]
    pieces = maximal(reduced, pieces, tol)
    if not finished and not pieces:
        pieces = _one(problem, reduced, options)
    doubts = still_doubtful(reduced, outcome, tol) if outcome is not None and finished else 0
    marginal = _marginal(doubtful, doubts) + rounding
    pieces = _without_doubtful_twins(pieces, tol)
    complete = finished and not marginal
    if not complete and pieces and any(p.unique_motion for p in of_motion()) and not _signed(reduced):
        # One acceleration is proved, so the reactions at it, one polyhedron, are the whole answer.
        pieces, complete = _at_one_motion(reduced, pieces, tol), not marginal
    note = "" if finished or complete else _cost(reduced, total, options, outcome)
    return Found(pieces, outcome, proofs, complete, marginal, note, of_motion=of_motion)


def _to_decide(reduced: Reduced, outcome: SearchOutcome) -> Ints | None:
    """Return the choices below which the search is to be decided exactly; None where that is needed nowhere."""
    if EPSILON * reduced.condition > ROUNDING or outcome.doubts > len(outcome.choices):
        return np.full((1, outcome.choices.shape[1]), -1)  # all of it
    starts: Ints = outcome.choices[in_doubt(reduced, outcome, MARGIN)]
    return None if not len(starts) and clearly_points(reduced, outcome.leaves, MARGIN) else starts


def _clear(
    problem: ContactProblem, names: tuple[str, ...], options: SolverOptions, subject: Subject, provenance: Provenance
) -> Reactions | None:
    """Return the answer of one contact whose modes are clear, None where they are not or the search is of interest."""
    if options.every is False or options.budget is not None or options.report is not None:
        return None
    found = clear_answer(problem, options.tol, options.slip_tol)
    if found is None or spent():
        return None

    def long() -> Reactions:
        return _planar(problem, names, options, subject, provenance)

    told = (provenance, subject.name, names, tuple(subject.coordinates))
    return clear_reactions(problem, found, told, options.slip_tol, long)


def _planar(
    problem: ContactProblem,
    names: tuple[str, ...],
    options: SolverOptions,
    subject: Subject,
    provenance: Provenance,
) -> Reactions:
    reduced = reduce(problem, slip_tol=options.slip_tol)
    total = mode_count(reduced)
    found = _solution_set(problem, reduced, total, options)
    pieces, nodes = found.pieces, found.outcome.nodes if found.outcome else 0
    if found.exact is None:
        accelerations, continuum = distinct_accelerations(problem, reduced, pieces, nearness(options.tol))
        numbers = components(pieces, near=nearness(options.tol))
    else:
        accelerations, continuum, numbers = found.exact.accelerations, found.exact.continuum, found.exact.components
    status = status_of(
        pieces, len(accelerations), continuum, found.complete, [] if found.complete else found.of_motion()
    )
    enumerated = found.complete and found.outcome is not None and found.outcome.finished

    @cache
    def proofs() -> list[Proof]:
        own = [enumeration(status, total, nodes, len(set(numbers)))] if enumerated else []
        return [*found.proofs(), *own]

    def main() -> Certificate | None:
        proof = main_certificate(status, proofs())
        return None if proof is None else certificate_of(proof)

    checked = max(4, 32 // max(len(pieces), 1))
    solutions = tuple(
        solution_of(problem, reduced, piece, number, names, slip_tol=options.slip_tol, checked_vertices=checked)
        for piece, number in zip(pieces, numbers, strict=True)
    )
    later: dict[str, Any] = {
        "residual": Later(lambda: max((solution.residual for solution in solutions), default=float("nan"))),
        "rejected": Later(lambda: explain(problem, reduced, found.outcome, total, names, options.tol, found.exact)),
        "certificate": Later(main),
        "certificates": Later(lambda: tuple(certificate_of(proof) for proof in proofs())),
        "redundancy": Later(lambda: explain_redundancy(problem, reduced, pieces, solutions, names)),
        "graph": Later(lambda: contact_graph(problem, reduced)),
    }
    return Reactions(
        status=status,
        provenance=provenance,
        name=subject.name,
        contacts=names,
        coordinates=tuple(subject.coordinates),
        solutions=solutions,
        accelerations=accelerations,
        accelerations_continuum=continuum,
        complete=found.complete,
        marginal=found.marginal,
        modes_total=total,
        nodes=nodes,
        note=found.note,
        **later,
    )


def _enumerate(reduced: Reduced, total: float, options: SolverOptions) -> SearchOutcome | None:
    if options.every is False or (reduced.count > SEARCHABLE and not options.budget):
        return None
    few = reduced.count <= ENUMERATED or total <= 4.0**ENUMERATED
    budget = options.budget or (FULL_BUDGET if few or options.every else TRIAL_BUDGET)
    margin, partial = MARGIN if options.exact else 0.0, options.partial
    return find_modes(reduced, tol=options.tol, budget=budget, margin=margin, partial=partial, report=options.report)


def _cost(reduced: Reduced, total: float, options: SolverOptions, outcome: SearchOutcome | None) -> str:
    digits = sum(np.log10(len(table.modes)) for table in reduced.tables)
    count = f"{total:.6g}" if np.isfinite(total) and total < 1e15 else f"10^{digits:.0f}"
    tried = f"; {outcome.nodes} linear programs were spent on it" if outcome is not None else ""
    more = "give budget={'steps': ...} to search longer."
    if outcome is not None and outcome.spent:
        more = f"{outcome.spent[0].lower()}{outcome.spent[1:]}"
    asked = "every solution was asked, but that" if options.every else "every solution"
    return (
        f"{asked} of {reduced.count} contacts needs up to {count} combinations of modes{tried}. "
        f"What is listed was found and verified; {more}"
    )


def _one(problem: ContactProblem, reduced: Reduced, options: SolverOptions) -> list[Piece]:
    tol = options.tol
    piece = one_piece(problem, reduced, tol, options.slip_tol)
    if piece is None and not reduced.special:
        from zwang._numerics.contact.choose import solve_one

        proposed = solve_one(friction_arrays(problem, slip_tol=options.slip_tol))
        piece = piece_at(reduced, reduced.scaled(proposed.normal, proposed.tangential), tol)
    return [settled(reduced, piece, tol)] if piece is not None else []


def _marginal(doubtful: list[str], doubts: int) -> tuple[str, ...]:
    found = [f"{text} (in a solution)" for text in dict.fromkeys(doubtful)]
    if doubts:
        found.append(f"{doubts} rejection{'s' if doubts > 1 else ''} by less than the tolerance")
    return tuple(found)


def _ill_conditioned(reduced: Reduced, tol: float) -> tuple[str, ...]:
    """Signs can't be trusted up to `tol` where rounding of the mass matrix alone makes more."""
    if EPSILON * reduced.condition <= 0.1 * tol:
        return ()
    return (f"rounding of the mass matrix, whose condition number is {reduced.condition:.1e}: scale the coordinates",)


def _without_doubtful_twins(pieces: list[Piece], tol: float) -> list[Piece]:
    """Leave out marginal pieces that lie, up to the tolerance, on a piece without doubt."""
    sure = [piece for piece in pieces if not piece.marginal]
    kept = []
    for piece in pieces:
        twin = piece.marginal and any(other.polyhedron.includes(piece.polyhedron, 10 * tol) for other in sure)
        if not twin:
            kept.append(piece)
    return kept


def _signed(reduced: Reduced) -> bool:
    """Whether bilateral friction makes the reactions at one acceleration a union of several polyhedra."""
    return bool({Law.BILATERAL_REST, Law.BILATERAL_SLIDING, Law.BILATERAL_SIGNED} & set(reduced.laws))


def _at_one_motion(reduced: Reduced, pieces: list[Piece], tol: float) -> list[Piece]:
    whole = piece_at(reduced, pieces[0].polyhedron.point, tol)
    return pieces if whole is None else [whole]


def _digest(problem: ContactProblem) -> str:
    """Content hash of the arrays."""
    rows = problem.rows
    digest = hashlib.sha256()
    matrix = problem.mass if problem.mass is not None else problem.inverse_mass
    digest.update(b"mass" if problem.mass is not None else b"inverse")
    parts = [matrix, rows.normal, rows.tangent]
    for part in parts:
        compact = part.tocsr() if hasattr(part, "tocsr") else None
        arrays = [dense(part)] if compact is None else [compact.indptr, compact.indices, compact.data]
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
    for array in (problem.force, rows.first, rows.friction, rows.bias, rows.tangent_bias, rows.bilateral, rows.slip):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(np.ascontiguousarray(rows.normal_force).tobytes())
    digest.update(str(rows.of).encode() if rows.of else b"")
    for sizes in (rows.sides, rows.resting, rows.axes):
        digest.update(b"" if sizes is None else np.ascontiguousarray(sizes).tobytes())
    return digest.hexdigest()
