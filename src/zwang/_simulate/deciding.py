"""Which mode comes next: asked of `reactions`, with ties decided by the next derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang._kernels import Terms
from zwang._numerics.contact.modes import Mode, Side, slip_mode
from zwang._reactions import reactions_of_problem
from zwang._reactions.singular import rank_report
from zwang._results.motion import MotionStatus
from zwang._results.reactions import Reactions, ReactionsStatus, Solution
from zwang._simulate.labels import Held, full_mode, hold
from zwang._simulate.moment import Ground, Moment, acts, problem_at
from zwang._simulate.ties import settle_ties

ENUMERATED = 12
PARTED = 1e-7
"""How far a constraint that others imply may be missed, relative to its terms."""


@dataclass(frozen=True)
class Decision:
    """The next mode, or why there is none.

    Attributes
    ----------
    labels : tuple of Mode
        Of all constraints; empty where the motion stops.
    held : Held or None
        The mode of motion with independent rows.
    found : bool
        Whether a second acceleration is not excluded.
    idle : frozenset of int
        Constraints that are held without any force: whether they let go is looked at after each chunk of steps.
    stop : MotionStatus or None
    reactions : Reactions or None
        What was found, where it was asked.
    pulls : mapping or None
        Number of a friction law in a plane -> its force (2,) where a slip starts, which gives the direction.
    """

    labels: tuple[Mode, ...] = ()
    held: Held | None = None
    found: bool = False
    idle: frozenset[int] = frozenset()
    stop: MotionStatus | None = None
    reactions: Reactions | None = None
    pulls: Mapping[int, Any] | None = None


Chooser = Callable[[Reactions, tuple[Mode, ...] | None, tuple[int, ...]], int | None]
"""From the reactions, the labels so far and the numbers of the contacts to the solution to take, None to stop."""


def decide(ground: Ground, moment: Moment, before: tuple[Mode, ...] | None, choose: Chooser, span: float) -> Decision:
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
    """
    if ground.table.smooth:
        # One mode for ever. Whether its rows are independent is seen by the steps themselves.
        labels = (Mode.CLOSED,) * len(ground.table.places)
        return Decision(labels, Held(full_mode(ground.table, labels)))
    terms = ground.at(moment)
    known = certain(ground, moment, terms)
    if known is not None:
        return Decision(known, hold(ground.table, known, terms))
    problem, numbers = problem_at(ground, moment, terms)
    found = reactions_of_problem(
        problem,
        name=ground.name,
        coordinates=tuple(item.name for item in ground.model.system.coordinates),
        certify=len(numbers) > 1,
        every=None if len(numbers) <= ENUMERATED else False,
        ranges=False,
        exact=False,  # the state is rounded, so a tie of its arrays says nothing
    )
    if found.status in (ReactionsStatus.NONE, ReactionsStatus.UNDECIDED):
        return Decision(stop=MotionStatus.PARADOX, reactions=found)
    # Without friction, or with bounds that don't depend on normal forces, the acceleration is unique (Gauss): what
    # looks like two is one, told apart by rounding.
    places = [ground.table.places[number] for number in numbers]
    rubs = any(place.law >= 0 and place.side is not Side.BOUND for place in places)
    chosen = choose(found, before, numbers) if found.status is ReactionsStatus.MULTIPLE and rubs else 0
    if chosen is None:
        return Decision(stop=MotionStatus.CHOICE, reactions=found)
    solution = found.solutions[chosen]
    labels = labels_of(ground, numbers, solution)
    pulls = {
        ground.table.places[number].law: solution.tangential[i]
        for i, number in enumerate(numbers)
        if len(ground.table.places[number].slips) > 1
    }
    labels, idle = settle_ties(ground, moment, terms, labels, before, span, pulls)
    flag = found.status is ReactionsStatus.FOUND and not found.marginal
    return Decision(labels, hold(ground.table, labels, terms), flag, idle, reactions=found, pulls=pulls)


def certain(ground: Ground, moment: Moment, terms: Terms) -> tuple[Mode, ...] | None:
    """Return the labels where there is nothing to decide: nothing one-sided touches, no friction has a choice."""
    labels: list[Mode] = []
    for number, place in enumerate(ground.table.places):
        if not acts(ground, moment, number):
            labels.append(Mode.OPEN)
        elif place.side is Side.BILATERAL and place.law < 0:
            labels.append(Mode.CLOSED)
        elif place.side is Side.BOUND and number not in moment.resting:
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


def held_again(ground: Ground, moment: Moment, decision: Decision) -> Decision | None:
    """Return the decision with other rows held, where the old ones have become dependent; None at a singular point.

    Rows that depend on each other at every nearby point (a redundant constraint, an overconstrained loop) leave the
    motion as it is. Where the rank drops at this point alone, no choice of rows helps.
    """
    old = decision.held
    terms = ground.at(moment)
    new = hold(ground.table, decision.labels, terms)
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
    terms = ground.at(moment)
    for place, label in zip(ground.table.places, decision.labels, strict=True):
        if place.normal < 0 or label is Mode.OPEN:
            continue
        row = np.abs(terms.rows[place.normal, :, 0])
        size = 1.0 + float(row @ np.abs(moment.q if place.on_position else moment.v))
        off = float(terms.value[place.normal, 0])
        if abs(off) > PARTED * size:
            return (
                f"By t = {moment.t:.12g} constraint '{place.name}' is missed by {off:.1e}, though it depended on "
                "others where the motion began: it does so at single points only."
            )
    return None


def slips_apart(ground: Ground, moment: Moment, decision: Decision) -> str | None:
    """Return which contact slips though its rest seemed to follow from that of others, in words; None if none does."""
    terms = ground.at(moment)
    for place, label in zip(ground.table.places, decision.labels, strict=True):
        for slip in place.slips if label.plain is Mode.STICK else ():
            off = float(terms.slip[slip, 0])
            if abs(off) > PARTED * (1.0 + float(np.abs(terms.slip_rows[slip, :, 0]) @ np.abs(moment.v))):
                return (
                    f"By t = {moment.t:.12g} the contact '{place.name}' slips with {off:.1e}, though all contacts that "
                    "stick held it at rest where the mode began: their supports move apart, and which of them lets go "
                    "is not followed by events. Use method='auto' or 'timestepping'."
                )
    return None
