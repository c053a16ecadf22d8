"""Friction of resultants, pins and journals: from all its solutions to the answer of `reactions`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates import Proof
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.pin_roots import ROUNDED
from zwang._numerics.contact.pins import PinOutcome, PinSolution, pin_solutions
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import RESULTANTS, Reduced, reduce
from zwang._reactions.labels import sliding_mode
from zwang._reactions.rejections import explain_pins
from zwang._reactions.solutions import one_point, shaped
from zwang._reactions.statuses import certificate_of, enumeration
from zwang._results.base import Provenance
from zwang._results.reaction_boxes import EnclosureEnd, SolutionEnclosure
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import Reactions, ReactionsStatus, Solution

Array = npt.NDArray[np.float64]

SAME = 1e-8
"""Accelerations that differ by less than this, in units of the load, are one."""


def reactions_of_pins(
    problem: ContactProblem,
    names: tuple[str, ...],
    provenance: Provenance,
    *,
    tol: float,
    slip_tol: float,
    ranges: bool,
    exact: bool,
    name: str,
    coordinates: tuple[str, ...],
) -> Reactions:
    """Return every acceleration and reaction of a planar problem with friction of resultants."""
    reduced = reduce(problem, slip_tol=slip_tol)
    outcome = pin_solutions(problem, reduced, tol=tol, ranges=ranges, slip_tol=slip_tol if exact else None)
    accelerations = _distinct(reduced, outcome)
    solutions = tuple(
        _solution(problem, reduced, one, names, slip_tol, number) for number, one in enumerate(outcome.solutions)
    )
    marginal = tuple(f"solution {i + 1}" for i, one in enumerate(outcome.solutions) if one.marginal)
    complete = not outcome.undecided and not marginal
    status = _status(outcome, len(accelerations), complete)
    proofs: tuple[Proof, ...] = ()
    if complete:
        total = float(math.prod(len(table.modes) for table in reduced.tables))
        proofs = (enumeration(status, total, 0, len(solutions)),)
    notes = [f"Not decided: {'; '.join(outcome.undecided)}."] if outcome.undecided else []
    if status is ReactionsStatus.NONE and outcome.jammed:
        notes.append(f"It jams: {'; '.join(_named(text, names) for text in outcome.jammed)}.")
    certificates = tuple(certificate_of(proof) for proof in proofs)
    return Reactions(
        status=status,
        residual=max((solution.residual for solution in solutions), default=float("nan")),
        provenance=provenance,
        name=name,
        contacts=names,
        coordinates=coordinates,
        solutions=solutions,
        accelerations=accelerations,
        accelerations_continuum=False,
        rejected=explain_pins(problem, reduced, outcome.rejected, outcome.tried, names),
        complete=complete,
        certificate=certificates[0] if certificates else None,
        certificates=certificates,
        marginal=marginal,
        modes_total=float(outcome.tried),
        note=" ".join(notes),
    )


def _named(text: str, names: tuple[str, ...]) -> str:
    number, rest = text.removeprefix("contact ").split(":", 1)
    return f"'{names[int(number) - 1]}':{rest}"


def _status(outcome: PinOutcome, distinct: int, complete: bool) -> ReactionsStatus:
    if distinct > 1:
        return ReactionsStatus.MULTIPLE
    if not outcome.solutions:
        return ReactionsStatus.NONE if complete else ReactionsStatus.UNDECIDED
    if not complete:
        return ReactionsStatus.FOUND
    several = len(outcome.solutions) > 1 or outcome.solutions[0].dimension > 0
    return ReactionsStatus.UNIQUE_MOTION if several else ReactionsStatus.UNIQUE


def _distinct(reduced: Reduced, outcome: PinOutcome) -> Array:
    kept: list[tuple[Array, Array]] = []
    for one in outcome.solutions:
        u = reduced.gram @ one.z + reduced.free
        size = max(1.0, float(np.abs(one.z).max(initial=0.0)))
        if all(np.abs(u - other).max(initial=0.0) > SAME * size for other, _ in kept):
            kept.append((u, reduced.acceleration(one.z)))
    return np.reshape(np.array([w for _, w in kept]), (-1, len(reduced.drift)))


def _solution(
    problem: ContactProblem,
    reduced: Reduced,
    one: PinSolution,
    names: tuple[str, ...],
    slip_tol: float,
    number: int,
) -> Solution:
    found = (reduced.acceleration(one.z), *reduced.forces(one.z))
    modes = [_mode(problem, reduced, one, c) for c in range(reduced.count)]
    told = one_point(problem, found, modes, names, slip_tol, component=number)
    if not one.dimension:
        return told.but(enclosure=_enclosure(problem, reduced, one, told))
    assert one.low is not None and one.high is not None  # every set has them
    low, high = (reduced.forces(ends) for ends in (one.low, one.high))
    with np.errstate(invalid="ignore"):  # infinity times a component that is zero
        first, second = (np.nan_to_num(shaped(problem, side[1]), nan=0.0, posinf=np.inf, neginf=-np.inf)
                         for side in (low, high))  # fmt: skip
    tangential = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=-1)
    spans = Ranges(names, np.stack([low[0], high[0]], axis=-1), tangential)
    none = np.full(len(names), np.nan)
    ends = (EnclosureEnd(found[0], spans.normal[:, i], spans.tangential[..., i], none) for i in (0, 1))
    return told.but(dimension=one.dimension, ranges=spans, enclosure=SolutionEnclosure(*ends))


def _enclosure(problem: ContactProblem, reduced: Reduced, one: PinSolution, told: Solution) -> SolutionEnclosure | None:
    """Return the box in which a solution lies alone, None where that is not proved."""
    if one.radius is None:
        return None
    pressed, rubbed = (np.abs(part) for part in reduced.force_directions(one.radius))
    moved = one.radius @ np.abs(reduced.response) + ROUNDED * np.abs(told.acceleration).max(initial=0.0)
    spread = shaped(problem, rubbed)
    none = np.full(len(told.normal), np.nan)
    low, high = (
        EnclosureEnd(told.acceleration + s * moved, told.normal + s * pressed, told.tangential + s * spread, none)
        for s in (-1.0, 1.0)
    )
    return SolutionEnclosure(low, high)


def _mode(problem: ContactProblem, reduced: Reduced, one: PinSolution, c: int) -> Mode:
    """Return the mode of a contact in a solution."""
    table, law = reduced.tables[c], reduced.laws[c]
    mode = table.modes[one.modes[c]]
    normal = reduced.normal[c]
    if normal >= 0 and not problem.rows.bilateral[c] and one.modes[c] == 0:
        return Mode.OPEN
    if law in RESULTANTS or reduced.tangent[c] >= 0:
        plain = sliding_mode(problem, c) if len(table.modes) < 3 else mode.mode
    else:
        plain = Mode.CLOSED
    pulls = normal >= 0 and problem.rows.bilateral[c] and one.z[normal] < 0
    return plain.pulling(bool(pulls))
