"""Which mode comes next: asked of `reactions`, with ties decided by the next derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import varying_laws
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Mode, Side, slip_mode
from zwang._reactions import Subject, reactions_of_problem
from zwang._reactions.singular_state import rank_report
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation
from zwang._results.reactions import Reactions, ReactionsStatus, Solution
from zwang._results.words import vector
from zwang._simulate.active_set import floors_at
from zwang._simulate.grip import firmly
from zwang._simulate.ground import Ground
from zwang._simulate.lone import lone_labels
from zwang._simulate.minimum_norm import continua, share
from zwang._simulate.mode_labels import HeldMode, denominator, full_mode, hold, solve_mode
from zwang._simulate.moment import (
    Chooser,
    Context,
    Decision,
    Labels,
    Moment,
    Transition,
    acts,
    problem_at,
    stopped_at,
    terms_at,
)
from zwang._simulate.ties import directions_away, settle_ties
from zwang._simulate.watch import undetermined_in
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
ENUMERATED = 12  # contacts up to which every combination is looked at
PARTED = 1e-7
"""How far a constraint that others imply may be missed, relative to its terms."""
STILL = 1e-9
"""Accelerations of a slip below this part of their terms start none."""
UNLOADED = 1e-6
"""Part of the largest force below which a contact carries nothing."""
WEDGED = 1e-4
"""Part of its value without friction to which the denominator of a normal force has fallen where it counts as zero."""


def next_mode(context: Context, moment: Moment, before: Labels | None, choose: Chooser | None = None) -> Decision:
    """Return the mode in which a motion goes on from a moment, by the rule that it was given unless one is named."""
    least = context.options.redundant is not None
    return decide(context, moment, before, choose or context.policies.choose, context.span(moment), least=least)


def decide(
    ground: Ground, moment: Moment, before: Labels | None, choose: Chooser, span: float, *, least: bool = False
) -> Decision:
    """Return the mode in which a motion goes on from a moment.

    Parameters
    ----------
    ground, moment : Ground, Moment
    before : tuple of Mode or None
        The labels until now, None at the start.
    choose : Chooser
        What to do where several accelerations satisfy the laws.
    span : float
        A time on which the motion changes little, for ties.
    least : bool
        Whether normal forces of least norm choose from a continuum of accelerations.
    """
    if ground.table.smooth:
        # One mode for ever. Whether its rows are independent is seen by the steps themselves.
        labels = (Mode.CLOSED,) * len(ground.table.places)
        return Decision(labels, HeldMode(full_mode(ground.table, labels)))
    terms = terms_at(ground, moment)
    known = certain(ground, moment, terms)
    if known is not None:
        return Decision(known, hold(ground.table, known, terms))
    alone = lone_labels(ground, moment, terms, before, span)
    if alone is not None:
        return Decision(alone, HeldMode(full_mode(ground.table, alone)))
    problem, numbers = problem_at(ground, moment, terms)
    found = reactions_of_problem(
        problem,
        subject=Subject(ground.name, coordinates=tuple(item.name for item in ground.model.system.coordinates)),
        certify=len(numbers) > 1,
        every=None if len(numbers) <= ENUMERATED else False,
        ranges=False,
        exact=False,  # the state is rounded, so a tie of its arrays says nothing
    )
    if found.status in (ReactionsStatus.NONE, ReactionsStatus.UNDECIDED):
        return Decision(stop=MotionStatus.PARADOX, reactions=found, before=before)
    # Without friction, or with bounds that don't depend on normal forces, the acceleration is unique (Gauss): what
    # looks like two is one, told apart by rounding.
    places = [ground.table.places[number] for number in numbers]
    rubs = any(place.of for place in places)
    several = found.status is ReactionsStatus.MULTIPLE and rubs
    if least and several and (shared := _least(ground, moment, terms, before, numbers, found)) is not None:
        return shared
    chosen = choose(found, before, numbers) if several else 0
    if chosen is None:
        return Decision(stop=MotionStatus.CHOICE, reactions=found, before=before)
    solution = found.solutions[chosen]
    labels = _rubbing_soon(ground, moment, terms, numbers, solution)
    labels, pulls = _touching_still(ground, moment, terms, labels, solution, _pulls(ground, numbers, solution))
    stuck = frozenset(number for number, label in enumerate(labels) if label.plain is Mode.STICK)
    firm = _firm(ground, moment, terms, labels, solution.acceleration, pulls)
    told = labels
    labels, idle = settle_ties(ground, moment, terms, labels, before, span, pulls, firm)
    pulls = _let_go(ground, moment, terms, labels, stuck, pulls)
    flag = found.status is ReactionsStatus.FOUND and not found.marginal
    away = directions_away(ground, moment, pulls)
    held = hold(ground.table, labels, terms, away)
    grips = bool(firm) and labels == told and _idle_rows(ground, terms, held, firm, away)
    return Decision(labels, held, flag, idle, reactions=found, pulls=pulls, grips=grips)


def _least(
    ground: Ground, moment: Moment, terms: Terms, before: Labels | None, numbers: tuple[int, ...], found: Reactions
) -> Decision | None:
    """Return the mode with normal forces of least norm, where accelerations are a continuum; None without one."""
    for k in continua(found, before, numbers):
        solution = found.solutions[k]
        labels, pulls = labels_of(ground, numbers, solution), _pulls(ground, numbers, solution)
        places = [ground.table.places[number] for number in numbers]
        loads = {place.normal: float(force) for place, force in zip(places, solution.normal, strict=True)}
        shared = share(ground.table, labels, terms, moment.resting, loads)
        if shared is not None:
            return Decision(shared.labels, shared.held, reactions=found, pulls={**pulls, **shared.pulls})
    return None


def _pulls(ground: Ground, numbers: tuple[int, ...], solution: Solution) -> dict[int, Any]:
    """Return the friction force of each law in a plane."""
    places = [ground.table.places[number] for number in numbers]
    return {place.law: solution.tangential[i] for i, place in enumerate(places) if len(place.slips) > 1}


def _firm(
    ground: Ground, moment: Moment, terms: Terms, labels: Labels, a: Array, pulls: Mapping[int, Array]
) -> frozenset[int]:
    """Return the contacts with undetermined forces in planes whose modes need no look: forces inside all laws exist.

    That a force vanishes where others are held, one choice of many, is no tie.
    """
    held = hold(ground.table, labels, terms)
    loose = undetermined_in(ground, held)
    planes = any(len(ground.table.places[number].slips) > 1 for number in loose)
    away = directions_away(ground, moment, pulls)
    return loose if planes and firmly(ground.table, terms, labels, a, loose, away) else frozenset()


def _idle_rows(ground: Ground, terms: Terms, held: HeldMode, firm: frozenset[int], away: Mapping[int, Array]) -> bool:
    """Say whether a contact carries nothing that has a row of its own, though others could share with it."""
    table = ground.table
    own = [j for j in held.mode.held if table.of_normal(j) in firm and table.places[table.of_normal(j)].one_sided]
    forces = np.abs(solve_mode(table, terms, held.mode, away).normal[:, 0])
    return bool((forces[own] <= UNLOADED * forces[list(held.mode.held)].max(initial=0.0)).any())


def _touching_still(
    ground: Ground, moment: Moment, terms: Terms, labels: Labels, solution: Solution, pulls: dict[int, Any]
) -> tuple[Labels, dict[int, Any]]:
    """Return the labels with contacts in planes closed that carry nothing in this solution, but may as well carry.

    A table that slides can be carried by three of its feet as well as by four, and the fourth touches all the same. The
    second value has also, by laws, the forces, of any size, against which slips that start there begin.
    """
    table, a = ground.table, solution.acceleration
    would = np.abs(a) + np.abs(terms.force[:, 0]) / np.diagonal(terms.mass[:, :, 0])

    def left(rows: Array, bias: Array) -> Array:
        """Return accelerations along rows, none where they are rounding."""
        found = rows @ a - bias
        return np.where(np.abs(found) > STILL * (np.abs(rows) @ would + np.abs(bias)), found, 0.0)

    closed, along = list(labels), dict(pulls)
    for number, place in enumerate(table.places):
        touches = labels[number] is Mode.OPEN and number in moment.touching and len(place.slips) > 1
        if not touches or left(terms.rows[[place.normal], :, 0], terms.gamma[[place.normal], 0]).any():
            continue
        slips = list(place.slips)
        starts = left(terms.slip_rows[slips, :, 0], terms.slip_bias[slips, 0])
        closed[number] = Mode.STICK if number in moment.resting and not starts.any() else Mode.SLIP
        along[place.law] = -starts
    changed = {number for number in range(len(labels)) if closed[number] is not labels[number]}
    if changed and changed <= _firm(ground, moment, terms, tuple(closed), a, along):
        return tuple(closed), along
    return labels, pulls


def _let_go(
    ground: Ground,
    moment: Moment,
    terms: Terms,
    labels: tuple[Mode, ...],
    stuck: frozenset[int],
    pulls: dict[int, Any],
) -> dict[int, Any]:
    """Return the friction forces of laws in planes with those of what lets go: less than what held it, and elsewhere.

    Where rest holds more than slip, the slip starts with an acceleration at once, and its direction is that of the
    solution in which the contact slips.
    """
    places = ground.table.places
    leaving = [
        number
        for number in stuck
        if labels[number].plain is Mode.SLIP
        and len(places[number].slips) > 1
        and places[number].rows.resting is not None
    ]
    if not leaving:
        return pulls
    problem, numbers = problem_at(ground, moment, terms, leaving)
    found = reactions_of_problem(problem, certify=False, ranges=False, exact=False)
    for solution in found.solutions:
        if labels_of(ground, numbers, solution) == labels:
            return {**pulls, **{places[n].law: solution.tangential[numbers.index(n)] for n in leaving}}
    return pulls


def certain(ground: Ground, moment: Moment, terms: Terms) -> tuple[Mode, ...] | None:
    """Return the labels where there is nothing to decide: nothing one-sided touches, no friction has a choice."""
    labels: list[Mode] = []
    for number, place in enumerate(ground.table.places):
        if not acts(ground, moment, number):
            labels.append(Mode.OPEN)
        elif place.side is Side.BILATERAL and place.law < 0 and place.normal not in ground.table.signed:
            labels.append(Mode.CLOSED)
        elif place.side is Side.BOUND and not place.of and number not in moment.resting:
            labels.append(slip_mode(len(place.slips), terms.slip[place.slips[0], 0]))
        else:
            return None
    return tuple(labels)


def labels_of(ground: Ground, numbers: tuple[int, ...], solution: Solution) -> tuple[Mode, ...]:
    """Return the labels of all constraints in a solution; those that are no contact of it are open."""
    labels = [Mode.OPEN] * len(ground.table.places)
    for number, mode in zip(numbers, solution.modes.codes, strict=True):
        labels[number] = mode
    return tuple(labels)


def _rubbing_soon(
    ground: Ground, moment: Moment, terms: Terms, numbers: tuple[int, ...], solution: Solution
) -> tuple[Mode, ...]:
    """Return the labels of a solution, with friction whose bound is zero here but varies as slip, or as stick.

    A spring that is relaxed at the start presses a moment later, and its friction must be there then.
    """
    labels, varies = list(labels_of(ground, numbers, solution)), varying_laws(ground.model.system)
    for i, number in enumerate(numbers):
        place, label = ground.table.places[number], labels[number]
        if label.plain is not Mode.CLOSED or len(place.slips) != 1 or not varies[list(place.rows.sides)].any():
            continue
        along = float(terms.slip[place.slips[0], 0])
        if number in moment.resting:
            along = float(np.reshape(solution.slip_acceleration[i], -1)[0])
            row, bias = terms.slip_rows[place.slips[0], :, 0], float(terms.slip_bias[place.slips[0], 0])
            size = float(np.abs(row) @ np.abs(solution.acceleration)) + abs(bias)
            along = 0.0 if abs(along) <= STILL * size else along
        mode = Mode.STICK if along == 0 else slip_mode(1, along)
        labels[number] = mode.pulling(label.pulls)
    return tuple(labels)


def held_again(ground: Ground, moment: Moment, decision: Decision) -> Decision | None:
    """Return the decision with other rows held, where the old ones have become dependent; None at a singular point.

    Rows that depend on each other at every nearby point (a redundant constraint, an overconstrained loop) leave the
    motion as it is. Where the rank drops at this point alone, no choice of rows helps.
    """
    old = decision.held
    terms = terms_at(ground, moment)
    new = hold(ground.table, decision.labels, terms)
    if old is not None and old.mode.shared:  # who carries stays
        new = replace(old, mode=replace(old.mode, held=new.mode.held, implied=new.mode.implied))
    if old is None or new.mode == old.mode:
        return None
    inputs = ground.inputs(moment.t, moment.q, moment.v)
    dropped = [j for j in full_mode(ground.table, decision.labels).held if j not in new.mode.held]
    report = rank_report(ground.model, inputs)
    if report.singular or any(j in report.vanished for j in dropped):
        return None  # a constraint without a normal is not implied by the others: it is lost
    return replace(decision, held=new)


def parted_ways(ground: Ground, moment: Moment, decision: Decision) -> str | None:
    """Return which constraint that others seemed to imply is not implied any more, in words; None if all is well."""
    terms = terms_at(ground, moment)
    floors = floors_at(ground, terms, moment.q, moment.v)
    for place, label in zip(ground.table.places, decision.labels, strict=True):
        if place.normal < 0 or label is Mode.OPEN:
            continue
        j, row = place.normal, terms.rows[place.normal, :, 0]
        size = ground.gap_size(j, row, moment.q) if place.on_position else ground.rate_size(j, row, moment.v)
        least = float((floors.gap if place.on_position else floors.rate)[j, 0])
        off = float(terms.value[place.normal, 0])
        if abs(off) > PARTED * max(size, least):
            return (
                f"By t = {moment.t:.12g} constraint '{place.name}' is missed by {off:.1e}, though it depended on "
                "others where the motion began: it does so at single points only."
            )
    return None


def slips_apart(ground: Ground, moment: Moment, decision: Decision) -> str | None:
    """Return which contact slips though its rest seemed to follow from that of others, in words; None if none does."""
    terms = terms_at(ground, moment)
    floors = floors_at(ground, terms, moment.q, moment.v)
    for place, label in zip(ground.table.places, decision.labels, strict=True):
        for slip in place.slips if label.plain is Mode.STICK else ():
            off = float(terms.slip[slip, 0])
            size = ground.slip_size(slip, terms.slip_rows[slip, :, 0], moment.v)
            if abs(off) > PARTED * max(size, float(floors.slip[slip, 0])):
                return (
                    f"By t = {moment.t:.12g} the contact '{place.name}' slips with {off:.1e}, though all contacts that "
                    "stick held it at rest where the mode began: their supports move apart, and which of them lets go "
                    "is not followed by events. Use method='auto' or 'timestepping'."
                )
    return None


def wedges(ground: Ground, moment: Moment, decision: Decision) -> str | None:
    """Return in words that sliding friction wedges at a moment; None where it does not.

    While a contact slides its normal force is a quotient, det(J M^-1 C) below, with C the columns of the held forces,
    each normal with the friction that it carries along. A sliding motion comes to a zero of the denominator only where
    the numerator vanishes too (Genot and Brogliato): what follows from there the equations don't say.
    """
    held = decision.held
    if held is None or not held.mode.sliding or not held.mode.held or held.mode.shared:
        return None
    value = denominator(ground.table, terms_at(ground, moment), held.mode)
    if abs(value) > WEDGED:
        return None
    return (
        f"At t = {moment.t:.12g} sliding friction wedges: numerator and denominator of the normal force vanish "
        f"together (the denominator is {value:.1e} of its value without friction), and the equations don't say what "
        "follows."
    )


# Where several accelerations satisfy the laws, or none: rules for choosing one, and the stop.
def none_of_them(found: Reactions, before: Labels | None, numbers: tuple[int, ...]) -> None:
    """Choose nothing."""


def keep_mode(found: Reactions, before: Labels | None, numbers: tuple[int, ...]) -> int | None:
    """Choose the solution in the mode that the motion has been in, if exactly one is."""
    if before is None:
        return None
    wanted = [before[number].plain for number in numbers]
    same = [
        index
        for index, solution in enumerate(found.solutions)
        if solution.acceleration_unique and [mode.plain for mode in solution.modes.codes] == wanted
    ]
    return same[0] if len(same) == 1 else None


def chooser(rule: str | Callable[[Reactions], Any]) -> Chooser:
    """Return the rule that was asked for: where it is a policy, nothing is chosen before that is asked."""
    if callable(rule):
        return lambda found, before, numbers: _checked(rule(found), found)
    return keep_mode if rule == "keep mode" else none_of_them


def _checked(answer: Any, found: Reactions) -> int | None:
    """Return the index that a user's rule gave."""
    if answer is None:
        return None
    try:
        index = int(answer)
    except (TypeError, ValueError):
        index = -1
    if not 0 <= index < len(found.solutions):
        raise DeclarationError(
            f"{found.name}: at_choice= returned {answer!r:.40}; needed the index of one of {len(found.solutions)} "
            "solutions, or None to stop."
        )
    return index


def stop_there(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Stop where no acceleration, or more than one, satisfies the laws: the policy without another one."""
    found = decision.reactions
    assert found is not None and decision.stop is not None  # that is what made the motion stop
    hidden = context.model.system.bookkeeping
    contacts = [name for name in found.contacts if name not in hidden]
    constraint = contacts[0] if len(contacts) == 1 else None
    if decision.stop is MotionStatus.PARADOX:
        word = "is known" if found.status.name == "UNDECIDED" else "exists"
        reason = f"At t = {moment.t:.12g} no reaction {word}: {found.status.value}"
        return stopped_at(moment, decision.stop, reason, (), constraint)
    count = "a continuum of" if found.accelerations_continuum else str(len(found.accelerations))
    reason = f"At t = {moment.t:.12g} {count} accelerations satisfy the laws."
    return stopped_at(moment, decision.stop, reason, continuations_of(found, hidden), constraint)


def continuations_of(found: Reactions, hidden: Collection[str]) -> tuple[Continuation, ...]:
    """Return the solutions of a state as ways in which a motion could go on; `hidden` constraints are not told."""
    made = []
    for solution in found.solutions:
        modes = zip(found.contacts, solution.modes, strict=True)
        labels = {name: str(mode) for name, mode in modes if name not in hidden}
        what = ", ".join(f"{name} {label}" for name, label in labels.items())
        sentence = f"{what}: acceleration {vector(solution.acceleration)}"
        made.append(Continuation(sentence, labels, solution.acceleration))
    return tuple(made)
