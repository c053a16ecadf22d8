"""What happens at an instant: watches that fired, impacts, the next mode, and what is logged of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._compile.measured import measured_in
from zwang._declare.switches import Reaction
from zwang._kernels import Terms
from zwang._kernels.mode_motion import Moving
from zwang._numerics.contact.admission import Admission
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionEvent
from zwang._simulate.active_set import closing_at, known_at, low_at, met_from_behind, standing_at_event
from zwang._simulate.decide import next_mode
from zwang._simulate.impact import UnsoundRestitutionError, close_low, collide
from zwang._simulate.mode_labels import change_of
from zwang._simulate.moment import (
    Context,
    Decision,
    Due,
    Labels,
    Moment,
    Stop,
    Transition,
    Watch,
    event_at,
    terms_at,
)
from zwang._simulate.watch import beyond

Array = NDArray[np.float64]


def begin(context: Context, moment: Moment) -> Transition:
    """Return how a motion begins, or why it doesn't get away."""
    terms = terms_at(context, moment)
    return _decided(context, moment, terms, standing_at_event(context, moment, terms), None, ())


def happen(
    context: Context, moment: Moment, decision: Decision, watches: tuple[Watch, ...], moving: Moving, a: Array
) -> Transition:
    """Return how a motion goes on from an instant at which watches fired, or why it stops there.

    Parameters
    ----------
    context : Context
    moment : Moment
        The state at the instant, located.
    decision : Decision
        The mode until then.
    watches : tuple
        Those that fired.
    moving : Moving
        The steps that watched them.
    a : (n,) array
        The accelerations with which the motion comes there.
    """
    told = user_events(context, moment, decision, watches, a)
    if isinstance(told.decision, Stop) or (told.due is None and all(kind == "extra" for kind, _ in watches)):
        return told
    surfaces = [k for kind, k in watches if kind == "surface"]
    if surfaces:
        moment = beyond(context, moving, moment, surfaces, a)
    terms = terms_at(context, moment)
    found = standing_at_event(context, moment, terms)
    if surfaces and (words := met_from_behind(context, moment, terms, found)):
        return told.stopping(Stop(MotionStatus.UNFINISHED, words))
    moment = known_at(context, moment, decision, watches, terms, found)
    if told.due is not None:  # what is switched acts before the laws decide
        return replace(told, moment=moment)
    following = _decided(context, moment, terms, found, decision.labels, watches)
    return told.then(handed_over(following) if surfaces else following)


def handed_over(following: Transition) -> Transition:
    """Return what follows without the events of contacts of which one ends where the next one begins."""
    ended = [event for event in following.events if event.kind == "lift-off"]
    begun = [event for event in following.events if event.kind == "contact"]
    struck = {event.constraint for event in following.events if event.kind == "impact"}
    pairs = list(zip(ended, [event for event in begun if event.constraint not in struck], strict=False))
    gone = {id(event) for pair in pairs for event in pair}
    return replace(following, events=tuple(event for event in following.events if id(event) not in gone))


def changed(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Return how a motion goes on from an instant at which an input has jumped."""
    terms = terms_at(context, moment)
    found = standing_at_event(context, moment, terms)
    moment = known_at(context, moment, decision, (), terms, found)
    return _decided(context, moment, terms, found, decision.labels, ())


def impact_without_collision(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Let an impact happen though nothing closes, at a paradox: a policy."""
    found = decision.reactions
    whose = found.contacts[0] if found is not None and len(found.contacts) == 1 else None
    told = Transition(moment, decision, (event_at(moment.t, "paradox", whose),))
    terms = terms_at(context, moment)
    standing = standing_at_event(context, moment, terms)
    return told.then(_decided(context, moment, terms, standing, decision.before, (), without_collision=True))


def _decided(
    context: Context,
    moment: Moment,
    terms: Terms,
    found: Admission,
    labels: Labels | None,
    watches: tuple[Watch, ...],
    *,
    without_collision: bool = False,
) -> Transition:
    """Return what follows from a moment of which it is known what touches: an impact, then the next mode, logged."""
    try:
        return _struck(context, moment, terms, found, labels, watches, without_collision)
    except UnsoundRestitutionError as error:
        reason = f"The motion ends before the impact at t = {moment.t:.12g}: {error}"
        return Transition(moment, Stop(MotionStatus.UNFINISHED, reason))


def _struck(
    context: Context,
    moment: Moment,
    terms: Terms,
    found: Admission,
    labels: Labels | None,
    watches: tuple[Watch, ...],
    without_collision: bool,
) -> Transition:
    closing = closing_at(context, terms, watches, found)
    met = Transition(moment, Decision())
    if closing or without_collision:
        met = collide(context, moment, terms, closing, without_collision)
        if isinstance(met.decision, Stop):
            return met
    elif low := low_at(context, moment, watches):
        met = close_low(context, moment, terms, low)
    moment = met.moment
    following = next_mode(context, moment, labels)
    if following.stop is not None:
        if without_collision:
            reason = f"At t = {moment.t:.12g} no reaction exists after the impact either."
            return met.stopping(Stop(MotionStatus.PARADOX, reason))
        policies = context.policies
        policy = policies.at_paradox if following.stop is MotionStatus.PARADOX else policies.at_choice
        return met.then(policy(context, moment, following))
    chosen = (least_chosen(moment, following, labels),) if following.mode.mode.shared else ()
    met = replace(met, decision=following, events=(*met.events, *(event for event in chosen if event is not None)))
    return met if labels is None else met.then(_changes(context, moment, labels, following))


def least_chosen(moment: Moment, following: Decision, before: Labels | None) -> MotionEvent | None:
    """Return the event that normal forces of least norm choose an acceleration; none where the labels stay."""
    if before == following.labels:
        return None
    reason = (
        f"At t = {moment.t:.12g} a continuum of accelerations satisfies the laws: that with the least sum of squares "
        "of the normal forces goes on."
    )
    return event_at(moment.t, "choice", reason=reason)


def decided_at(
    context: Context,
    moment: Moment,
    terms: Terms,
    found: Admission,
    labels: Labels | None,
    watches: tuple[Watch, ...],
) -> Transition:
    """Return what follows from a moment at which other constraints act than before; see `happen`."""
    return _decided(context, moment, terms, found, labels, watches)


def user_events(
    context: Context, moment: Moment, decision: Decision, watches: tuple[Watch, ...], a: Array
) -> Transition:
    """Return the moment with the user's events among those that fired; a stop if one of them asks for it.

    Where one of them has something to follow from it, all are due and none is logged yet.
    """
    asked, events = context.options.events, []
    following: Decision | Stop = decision
    fired = [k for kind, k in watches if kind == "extra" and _rises(context, moment, k, a) in (0, asked[k].direction)]
    if any(asked[k].then or asked[k].count is not None for k in fired):
        return Transition(moment, decision, due=Due(tuple(fired), watches, decision.labels))
    for event in (asked[k] for k in fired):
        events.append(event_at(moment.t, "user", None, str(event.name)))
        if event.stop:
            following = Stop(MotionStatus.REACHED, f"Stopped at the event '{event.name}', t = {moment.t:.12g}.")
    return Transition(moment, following, tuple(events))


def _rises(context: Context, moment: Moment, k: int, a: Array) -> int:
    """Return the direction in which an event's expression goes through zero; 0 where that does not matter."""
    event = context.options.events[k]
    if not event.direction:
        return 0
    if event.expr.has(Reaction):  # whose rate the state doesn't tell; its side has been turned already
        return moment.memory.sides[k] or event.direction
    measured = measured_in(context.model.system, context.options.watched)
    rate = measured.rate(k, moment.t, moment.q, moment.v, a, context.params)
    return int(np.sign(rate)) or -event.direction


def _changes(context: Context, moment: Moment, before: Labels, following: Decision) -> Transition:
    """Return what changed from one mode to the next, logged."""
    events = []
    ending, closed = moment.memory.ending, dict(moment.memory.closed)
    for number, (place, old, new) in enumerate(zip(context.table.places, before, following.labels, strict=True)):
        kind = change_of(place, old, new)
        if kind is None:
            continue
        # A contact that was closed a little before its impacts would have ended can't stick or part before that.
        time = max(ending.get(number, moment.t), closed.get(number, moment.t))
        if number in ending:
            closed[number] = time
        if time <= max(context.options.until, moment.t):
            events.append(event_at(time, kind, place.name))
    return Transition(moment.recalling(ending={}, closed=closed), following, tuple(events))
