"""Why modes have no solution: each mode by itself where there are few, whole branches of the search where many."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact import search_tree as tree
from zwang._numerics.contact.enumeration import SearchOutcome, Variable
from zwang._numerics.contact.exact.sets import ExactSet
from zwang._numerics.contact.mode_tables import BACKWARDS, BEYOND, CONTRADICTS, JAMS, PENETRATES, PULLS, PUSHES, YIELDS
from zwang._numerics.contact.pieces import solved
from zwang._numerics.contact.pins import RejectedModes
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.rest import yielding
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.programs import deepest
from zwang._reactions.labels import mode_words
from zwang._results.reactions import Rejections

Array = npt.NDArray[np.float64]

FEW_MODES = 64  # up to so many all are told
ROUNDING = 1e-15
"""In place of the tolerance, where solutions were decided exactly."""
REASONS = (PENETRATES, PULLS, PUSHES, BEYOND, BACKWARDS, CONTRADICTS, YIELDS, JAMS)

Row = tuple[tuple[int, ...], str, int, float, Array | None, Array | None]
"""Modes, reason, contact, value, and normal forces and gap accelerations where the equations give them."""


def no_rejections(names: tuple[str, ...]) -> Rejections:
    """Return what is said where no mode was looked at."""
    none, empty = np.zeros((0, len(names))), np.zeros(0, dtype=np.int64)
    return Rejections(names, (), (), none.astype(np.int64), empty, empty, np.zeros(0), none, none, 0)


def explain_pins(
    problem: ContactProblem, reduced: Reduced, rejected: Iterable[RejectedModes], total: int, names: tuple[str, ...]
) -> Rejections:
    """Return the rejections where friction goes with resultants: all of them where there are few modes."""
    rows: list[Row] = []
    for one in rejected if total <= FEW_MODES else ():
        normal = gaps = None
        if one.z is not None:
            gap = reduced.gram @ one.z + reduced.free
            gaps = np.array([gap[i] * reduced.acceleration_unit[i] if i >= 0 else np.nan for i in reduced.normal])
            normal = reduced.forces(one.z)[0]
        unit = 1.0 if one.reason in (CONTRADICTS, JAMS) else _unit(reduced, one.contact, one.reason)
        rows.append((one.modes, one.reason, one.contact, one.value * unit, normal, gaps))
    return _gather(problem, reduced, rows, names, len(rows))


def explain(
    problem: ContactProblem,
    reduced: Reduced,
    outcome: SearchOutcome | None,
    total: float,
    names: tuple[str, ...],
    tol: float,
    exact: ExactSet | None = None,
) -> Rejections:
    """Return the rejections of a problem; where the solutions were decided exactly, none of them is listed."""
    if total <= FEW_MODES:
        rows = list(_one_by_one(reduced, tol if exact is None else ROUNDING))
        rows = [row for row in rows if exact is None or row[0] not in exact.found]
        rows += _yielding(reduced, {row[0] for row in rows}, tol, exact)
        return _gather(problem, reduced, rows, names, len(rows))
    if outcome is None:
        return _gather(problem, reduced, [], names, 0)
    return _branches(problem, reduced, outcome, names, frozenset() if exact is None else exact.found)


def _one_by_one(reduced: Reduced, tol: float) -> Iterable[Row]:
    for modes in itertools.product(*(range(len(table.modes)) for table in reduced.tables)):
        found = solved(reduced, modes)
        point, inequalities = found.point, found.inequalities
        if found.residual > tol * found.size:
            yield modes, CONTRADICTS, 0, found.residual * reduced.load, None, None
            continue
        if found.basis.shape[1]:
            failure = _least_failure(reduced, found.equations, inequalities, found.owners, tol)
            if failure is not None:
                yield modes, *failure, None, None
            continue
        values = inequalities[:, :-1] @ point + inequalities[:, -1]
        if not len(values) or values.min() >= -tol * found.size:
            continue
        worst = int(np.argmin(values))
        contact, reason = found.owners[worst]
        unit = _unit(reduced, contact, reason)
        gap = reduced.gram @ point + reduced.free
        gaps = np.array([gap[i] * reduced.acceleration_unit[i] if i >= 0 else np.nan for i in reduced.normal])
        yield modes, reason, contact, float(values[worst]) * unit, reduced.forces(point)[0], gaps


def _yielding(reduced: Reduced, rejected: set[tuple[int, ...]], tol: float, exact: ExactSet | None) -> Iterable[Row]:
    """Yield the modes with solutions in which a slip from rest yields to sticking."""

    def solvable(modes: tuple[int, ...]) -> bool:
        return modes not in rejected

    for modes in itertools.product(*(range(len(table.modes)) for table in reduced.tables)) if reduced.static else ():
        if modes not in rejected and (exact is None or modes not in exact.found):
            contact = yielding(reduced, modes, solvable)
            if contact >= 0:
                yield modes, YIELDS, contact, 0.0, None, None


def _least_failure(
    reduced: Reduced, equations: Array, inequalities: Array, owners: list[tuple[int, str]], tol: float
) -> tuple[str, int, float] | None:
    """Return the inequality that fails where all together fail least, of a mode whose equations leave room."""
    found = deepest(equations, inequalities)
    if found is None:
        return CONTRADICTS, 0, float("nan")
    if found[1] >= -tol * max(1.0, float(np.abs(found[0]).max(initial=0.0))):
        return None
    values = inequalities[:, :-1] @ found[0] + inequalities[:, -1]
    contact, reason = owners[int(np.argmin(values))]
    return reason, contact, float(values.min()) * _unit(reduced, contact, reason)


def _unit(reduced: Reduced, contact: int, reason: str) -> float:
    if reason == PENETRATES:
        return float(reduced.acceleration_unit[reduced.normal[contact]])
    if reason == BACKWARDS:
        return float(reduced.acceleration_unit[reduced.tangent[contact]])
    return float(reduced.unit[reduced.tangent[contact] if reason == BEYOND else reduced.normal[contact]])


def _branches(
    problem: ContactProblem,
    reduced: Reduced,
    outcome: SearchOutcome,
    names: tuple[str, ...],
    found: frozenset[tuple[int, ...]],
) -> Rejections:
    """What the search rejected: branches, with '*' for the contacts that it had not come to."""
    kept = outcome.basis != tree.STRICT  # those are boundaries of other modes, whose closed pieces contain them
    numbers = np.array([len(table.modes) for table in reduced.tables])
    for modes in found:  # what a closer look found again was not rejected
        beside = (outcome.rejected >= 0) & (outcome.rejected < numbers) & (outcome.rejected != np.array(modes))
        kept &= beside.any(axis=1)
    labels, place = _label_places(problem, reduced)
    rejected, culprits, basis = outcome.rejected[kept], outcome.culprits[kept], outcome.basis[kept]
    owner = np.array([variable.contact for variable in outcome.variables], dtype=np.int64)
    unit = np.array([variable.unit for variable in outcome.variables])
    meaning = np.array(
        [
            [REASONS.index(_meaning(reduced, variable, mode)) for mode in range(-1, place.shape[1] - 1)]
            for variable in outcome.variables
        ]
    )
    whose = owner[culprits]
    reason = meaning[culprits, rejected[np.arange(len(rejected)), whose] + 1]
    none = np.full(rejected.shape, np.nan)
    return Rejections(
        names=names,
        labels=labels,
        reasons=REASONS,
        modes=place[np.arange(reduced.count), rejected],
        reason=np.where(basis == tree.EQUATION, REASONS.index(CONTRADICTS), reason),
        contact=whose,
        value=outcome.values[kept] * unit[culprits],
        normal=none,
        gap=none,
        total=outcome.rejections - int((~kept).sum()),
    )


def _label_places(problem: ContactProblem, reduced: Reduced) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """All words for modes, and the place of the word of mode m of contact c at [c, m]; the last column is -1."""
    words = [mode_words(problem, reduced, c) for c in range(reduced.count)]
    labels = tuple(dict.fromkeys(word for each in words for word in each))
    place = np.full((reduced.count, max(map(len, words), default=0) + 1), -1, dtype=np.int64)
    for c, each in enumerate(words):
        place[c, : len(each)] = [labels.index(word) for word in each]
    return labels, place


def _meaning(reduced: Reduced, variable: Variable, mode: int) -> str:
    """What it means that a variable of the search would be negative while its contact is in a mode (-1: none yet)."""
    if variable.name == "gap":
        return PENETRATES
    if variable.name == "slip":
        return BACKWARDS
    if variable.name in {"below", "above"} or reduced.normal[variable.contact] < 0:
        return BEYOND
    if variable.name in {"N", "push"}:
        return PULLS
    if variable.name == "pull":
        return PUSHES
    own = reduced.tables[variable.contact].modes
    slips = 0 <= mode < len(own) and "slip" in own[mode].strict
    if not slips:
        return BEYOND
    return PUSHES if variable.name.endswith("-") else PULLS


def _gather(
    problem: ContactProblem, reduced: Reduced, rows: list[Row], names: tuple[str, ...], total: int
) -> Rejections:
    labels, place = _label_places(problem, reduced)
    k = reduced.count
    modes = np.array([row[0] for row in rows], dtype=np.int64).reshape(len(rows), k)
    none = np.full(k, np.nan)
    return Rejections(
        names=names,
        labels=labels,
        reasons=REASONS,
        modes=place[np.arange(k), modes],
        reason=np.array([REASONS.index(row[1]) for row in rows], dtype=np.int64),
        contact=np.array([row[2] for row in rows], dtype=np.int64),
        value=np.array([row[3] for row in rows], dtype=float),
        normal=np.array([none if row[4] is None else row[4] for row in rows]).reshape(len(rows), k),
        gap=np.array([none if row[5] is None else row[5] for row in rows]).reshape(len(rows), k),
        total=total,
    )
