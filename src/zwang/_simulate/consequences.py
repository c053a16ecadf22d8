"""What follows from the user's events: constraints that are switched on and off, velocities that are reset.

An event happens where its expression changes its sign, in a step or by a jump, or where the motion logs an event of its
kind. What it switches acts at once: the motion goes on with another set of constraints, from the velocity after one
plastic impact where a constraint that is switched on asks for another one. That may let further events happen at the
same instant; a round that comes back to where it was has no end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.switched import on_at_start, switchable
from zwang._declare.switches import Event, Reaction, Switch
from zwang._declare.system import System
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionEvent
from zwang._simulate.active_set import ZERO_AT_EVENT, standing_at
from zwang._simulate.event_effects import Setting, done
from zwang._simulate.instant import decided_at
from zwang._simulate.moment import (
    Context,
    Decision,
    Due,
    Moment,
    Stop,
    Transition,
    Watch,
    stopped_at,
    terms_at,
)
from zwang._simulate.options import MotionOptions
from zwang._simulate.stretch import moving_for
from zwang._simulate.watch import bands_of_events
from zwang.errors import StateError

Array = NDArray[np.float64]
NOTHING = 1e-9
"""Part of the largest size of an event's expression so far below which it is zero at a jump."""
STILL = 1e-12
"""The same for an expression that is zero and is still zero a little later."""
AHEAD = 1e-4
"""How far to look for the side of an expression that is zero, in parts of the time in which little changes."""
ROUNDS = 60
"""Rounds of switching at one instant after which it has no end."""


def on_of(system: System, options: MotionOptions) -> tuple[str, ...] | None:
    """Return the constraints that act at the start of a motion; None where nothing is ever switched."""
    asked = any(isinstance(item, Switch) for event in options.events for item in event.then)
    if options.on is None and not asked and not switchable(system):
        return None
    return on_at_start(system) if options.on is None else options.on


# The sides of events.
def values_of(context: Context, moment: Moment, decision: Decision) -> Array:
    """Return the values of the events' expressions in a mode."""
    moving = moving_for(context.model, decision.mode.mode, context.options.events)
    branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
    found = moving.watched(moment.t, moment.q, moment.v, context.params, branches)
    own = [value for value, (kind, _) in zip(found, moving.watch_names, strict=True) if kind == "extra"]
    for event, value in zip(context.options.events, own, strict=True):
        if not np.isfinite(value) and not event.kind and not event.expr.atoms(Reaction):
            raise StateError(
                f"{context.name}: the expression of event '{event.name}' is not a finite number at t = "
                f"{moment.t:.6g}. Give one that is finite along the motion."
            )
    # Where rows depend on each other the reactions of the mode are no numbers: that is seen by the steps.
    return np.where(np.isfinite(own), own, 0.0)


def _values_ahead(context: Context, moment: Moment, decision: Decision) -> Array:
    """Return the values of the events' expressions shortly after a moment, in its mode."""
    moving = moving_for(context.model, decision.mode.mode, context.options.events)
    branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
    a = moving.evaluate(moment.t, moment.q, moment.v, context.params, branches)[0]
    h = AHEAD * context.span(moment)
    q, v = moment.q + h * moment.v + 0.5 * h * h * a, moment.v + h * a
    return values_of(context, moment.but(t=moment.t + h, q=q, v=v), decision)


def _rounding(context: Context, moment: Moment, decision: Decision) -> Array:
    """Return what counts as zero for each of the events' expressions: one that has just fired leaves a rest."""
    moving = moving_for(context.model, decision.mode.mode, context.options.events)
    branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
    found = bands_of_events(context, moving, moment, branches)
    return found[[kind == "extra" for kind, _ in moving.watch_names]]


def _seen(context: Context, moment: Moment, decision: Decision) -> tuple[Moment, tuple[int, ...]]:
    """Return the moment with the sides of the events there, and the numbers of those that have changed their side.

    One that is zero there has the side to which the motion leads it.
    """
    values = values_of(context, moment, decision)
    count = len(values)
    sides, tops = moment.memory.sides or (0,) * count, moment.memory.tops or (0.0,) * count
    tops = tuple(max(top, abs(float(value))) for top, value in zip(tops, values, strict=True))
    floors = np.maximum(NOTHING * np.array(tops), _rounding(context, moment, decision))
    signs = [int(np.sign(v)) if abs(v) > floor else 0 for v, floor in zip(values, floors, strict=True)]
    idle: frozenset[int] = frozenset()
    if not all(signs):
        later = _values_ahead(context, moment, decision)
        idle = frozenset(k for k in range(count) if not signs[k] and abs(later[k]) <= STILL * tops[k])
        signs = [
            sign or int(np.sign(v)) * bool(abs(v) > floor) for sign, v, floor in zip(signs, later, floors, strict=True)
        ]
    crossed = tuple(k for k in range(count) if signs[k] * sides[k] < 0 and _wanted(context.options.events[k], signs[k]))
    now = tuple(sign or side for sign, side in zip(signs, sides, strict=True))
    return moment.recalling(sides=now, tops=tops, idle=idle), crossed


def _wanted(event: Event, sign: int) -> bool:
    return not event.kind and event.direction in (0, sign)


def at_end_of_steps(context: Context, moment: Moment, decision: Decision, watches: tuple[Watch, ...]) -> Moment:
    """Return the moment at the end of steps with the sides of events there: those turned that fired."""
    fired = {k for kind, k in watches if kind == "extra"}
    sides = moment.memory.sides or (0,) * len(context.options.events)
    if not all(sides):  # what was zero where the steps began has got a side on the way
        values, tops = values_of(context, moment, decision), moment.memory.tops or (0.0,) * len(sides)
        tops = tuple(max(top, abs(float(value))) for top, value in zip(tops, values, strict=True))
        moment = moment.recalling(tops=tops)
        sides = tuple(
            side or (int(np.sign(value)) if abs(value) > NOTHING * top and k not in fired else 0)
            for k, (side, value, top) in enumerate(zip(sides, values, tops, strict=True))
        )
    return moment.recalling(sides=tuple(-side if k in fired else side for k, side in enumerate(sides)))


def already_past(context: Context, moment: Moment) -> str:
    """Return in words which events that act are past zero at the start; empty where none is."""
    words = []
    for event, side in zip(context.options.events, moment.memory.sides, strict=False):
        rising = event.direction or (1 if not event.kind and event.expr.has(Reaction) else 0)
        if event.then and not event.kind and rising and side == rising:
            words.append(f"'{event.name}'")
    if not words:
        return ""
    verb = "is" if len(words) == 1 else "are"
    return f"{', '.join(words)} {verb} past zero at the start, and happens only after coming back."


def undetermined(context: Context, moment: Moment, decision: Decision) -> Transition | None:
    """Return a stop where an event asks for a reaction that the equations leave open."""
    loose = set(decision.mode.undetermined)
    for event in context.options.events if loose else ():
        for expr in event.expressions().values():
            asked = sorted(symbol.constraint for symbol in expr.atoms(Reaction) if symbol.constraint in loose)
            if asked:
                reason = (
                    f"At t = {moment.t:.12g} the reaction of '{asked[0]}' is undetermined (constraints depend on each "
                    f"other), and so is the event '{event.name}'. Leave the redundant constraint out."
                )
                return stopped_at(moment, MotionStatus.CHOICE, reason, (), asked[0])
    return None


# What follows.
def consequences(context: Context, following: Transition, before: Decision | None) -> Transition:
    """Return what follows from a transition with all that the user's events make of it.

    Parameters
    ----------
    context : Context
    following : Transition
        What the laws make of an instant; where it has something due, that comes first.
    before : Decision or None
        The mode until then, None at the start.
    """
    if not context.options.events:
        return following
    made, seen = following, 0
    rounds: list[tuple[Any, ...]] = []
    happened: list[str] = []
    current, decision = context, before
    due = following.due
    while True:
        if due is None:
            anew = not rounds and (before is None or bool(following.pieces))
            found = _looked(current, made, made.events[seen:], anew)
            if isinstance(found, Transition):
                return found
            made, numbers = found
            seen = len(made.events)
            if not numbers:
                return made
            decision = made.decision if isinstance(made.decision, Decision) else None
            due = Due(numbers, (), None if decision is None else decision.labels)
        moment = made.moment
        key = (current.on, moment.v.tobytes(), due.events)
        happened += [str(context.options.events[k].name) for k in due.events]
        if key in rounds or len(rounds) > ROUNDS:
            return made.then(_endless(moment, happened))
        rounds.append(key)
        seen = len(made.events)
        made = made.then(_acted(current, moment, decision, due))
        current, due = made.context or current, None
        if isinstance(made.decision, Stop):
            return made


def _looked(
    context: Context, made: Transition, logged: Sequence[MotionEvent], anew: bool
) -> Transition | tuple[Transition, tuple[int, ...]]:
    """Return a transition with the sides of events seen and the numbers of those that happen; or where it stops.

    `anew`: at the start, or where time has passed that was looked over by others, no side has changed.
    """
    moment, decision = made.moment, made.decision
    numbers: set[int] = set()
    if isinstance(decision, Decision) and decision.held is not None:
        stop = undetermined(context, moment, decision)
        if stop is not None:
            return made.then(stop)
        moment, crossed = _seen(context, moment, decision)
        numbers.update(() if anew else crossed)
    elif isinstance(decision, Stop):
        return made
    numbers.update(k for k, event in enumerate(context.options.events) if any(_is_kind(event, one) for one in logged))
    return replace(made, moment=moment, due=None), tuple(sorted(numbers))


def _is_kind(event: Event, logged: MotionEvent) -> bool:
    """Whether an event of the motion is of the kind that the user waits for."""
    if not event.kind or logged.kind != event.kind:
        return False
    return event.of is None or logged.concerns(event.of) or logged.name == event.of


def _endless(moment: Moment, happened: list[str]) -> Transition:
    shown = ", ".join(f"'{name}'" for name in happened[:12]) + (", ..." if len(happened) > 12 else "")
    reason = (
        f"At t = {moment.t:.12g} events switch each other without end: {shown}. Give one of them a direction=, a "
        "count= or another condition."
    )
    return Transition(moment, Stop(MotionStatus.CHATTER, reason))


def _acted(context: Context, moment: Moment, decision: Decision | None, due: Due) -> Transition:
    """Return what follows from events that are due, one after the other; then the laws decide."""
    made = Transition(moment, decision or Decision())
    setting, acted = Setting(context, moment, due.labels, due.watches, decision), bool(due.watches)
    for number in due.events:
        event = context.options.events[number]
        counts = list(setting.moment.memory.counts or (0,) * len(context.options.events))
        counts[number] += 1
        setting = replace(setting, moment=setting.moment.recalling(counts=tuple(counts)))
        made = replace(made, moment=setting.moment)
        if event.count is not None and counts[number] != event.count:
            continue
        step = done(setting, event)
        setting, told = step if isinstance(step, tuple) else (setting, step)
        made = made.then(told)
        if not isinstance(told.decision, Stop) and event.stop:
            reason = f"Stopped at the event '{event.name}', t = {moment.t:.12g}."
            made = made.stopping(Stop(MotionStatus.REACHED, reason))
        if isinstance(made.decision, Stop):
            return made
        acted = acted or bool(event.then)
    if not acted and decision is not None:
        return replace(made, decision=decision)
    turn, now = setting.context, setting.moment
    terms = terms_at(turn, now)
    found = standing_at(turn, terms, now.q, now.v, ZERO_AT_EVENT)
    after = decided_at(turn, now, terms, found, setting.labels, setting.watches)
    fresh = [place.name for place in turn.table.places if place.name not in context.table.names]
    logged = tuple(
        one for one in after.events if one.constraint not in fresh or one.kind not in ("contact", "capture", "stick")
    )
    return made.then(replace(after, events=logged, context=turn))
