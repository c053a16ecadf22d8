"""The machine of a motion: from mode to mode, a smooth stretch, something that happens, the next mode.

`run` is the one loop, and the one that records. It makes steps until something happens and asks `handle` what follows;
that depends on nothing but what it is given, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from zwang._compile import Model
from zwang._compile.given_values import Inputs
from zwang._compile.masses import Inertia, fading_inertia, inertia_of
from zwang._interrupts import taken
from zwang._kernels.stretch_output import FIRED, INTERRUPTED, IRREGULAR, NOT_FINITE, PAUSED, REACHED
from zwang._numerics.budget import Spent, spend, spending
from zwang._numerics.contact.modes import Side
from zwang._results.finite import NotFiniteError
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_parts import MotionPiece
from zwang._results.motion_stream import MotionStream
from zwang._simulate.active_set import admit, as_given
from zwang._simulate.bridge import broken, chattering, growing_reaction, ran_away
from zwang._simulate.brief import past_brief
from zwang._simulate.consequences import already_past, at_end_of_steps, consequences, on_of
from zwang._simulate.decide import held_again, parted_ways, slips_apart, wedges
from zwang._simulate.ground import Ground
from zwang._simulate.instant import begin, changed, happen
from zwang._simulate.lone_bounces import PassedImpacts, advance_bouncing, only_paused
from zwang._simulate.minimum_norm import shared_otherwise
from zwang._simulate.moment import (
    Broken,
    Changed,
    Context,
    Cut,
    Decision,
    Dipped,
    Fired,
    Happening,
    Moment,
    Paused,
    Policies,
    Reached,
    Slipped,
    Start,
    Stop,
    Transition,
    stopped_at,
)
from zwang._simulate.motion_rows import RowSource, motion_of
from zwang._simulate.options import MotionOptions
from zwang._simulate.record import MotionRecord
from zwang._simulate.singular import leave_singular, meet_singular, pass_singular
from zwang._simulate.slip_onset import leave_rest
from zwang._simulate.stretch import MadeSteps, advance, moving_for, pay
from zwang._simulate.watch import said, spatial_stress
from zwang.errors import DeclarationError, StateError

EVENT = 500
"""Steps that an event counts for in a budget: it takes about as long."""
BOUNCE = 4
"""The same for an impact that compiled code passes."""
BLURRED = 14.0
"""What log det(J M^-1 J^T) has fallen from its largest value where the sign of a multiplier is not to be trusted."""
STANDSTILL = 60
"""Events without any time passing after which a motion chatters."""


def motion(
    model: Model,
    inputs: Inputs,
    options: MotionOptions,
    policies: Policies,
    kept: Callable[[Context, Moment], MotionRecord] = MotionRecord,
) -> Motion:
    """Return the motion by events from a state; one that can't be is a StateError.

    Parameters
    ----------
    model, inputs : Model, Inputs
        Of one state.
    options : MotionOptions
    policies : Policies
        What is done where the laws don't say.
    kept : callable
        Makes the record of the motion, of its context and its start.
    """
    on = on_of(model.system, options)
    inertia = inertia_of(model if on is None else model.switched(on), inputs)
    whole = None if on is None else Ground.of(model, inputs, options.driven, options.scales)
    _require_masses(model, inertia, on)
    ground = Ground.of(inertia.moving, inputs, options.driven, options.scales)
    context = Context(**vars(ground), options=options, policies=policies, on=on, whole=whole)
    if ground.course is not None:
        start = float(inputs.t[0])
        context = replace(context, span_of_inputs=(start, ground.course.after(start)))
    # A state that can't be is a mistake, told before anything is written.
    moment = as_given(inputs) if inertia.lost else admit(context, inputs)
    record = kept(context, moment)
    stream = options.stream
    try:
        if stream is not None:
            stream.begin(_as_motion(record, Stop(MotionStatus.INTERRUPTED), (record.start(moment),)))
        with spending(options.budget):
            run(context, moment, record, lost=f"At t = {moment.t:.12g} {inertia.words}" if inertia.lost else "")
        made = _as_motion(record, record.stop, record.closed())
        if stream is not None:
            stream.close(made)
    except BaseException:
        if stream is not None:
            with suppress(DeclarationError):  # the disk may be what is at fault
                record.give()
            stream.abandon(record.events, record.drift)
        raise
    return made if stream is None else _noted(record.context.whole or record.context, stream, made)


def _require_masses(model: Model, inertia: Inertia[Model], on: tuple[str, ...] | None) -> None:
    """Refuse switches where constraints stand in for masses: what is switched off would take them along."""
    if on is not None and inertia.weights:
        raise DeclarationError(
            f"{model.system.name}: constraints are switched, and some part moves without a mass of its own, which a "
            "constraint makes up for. Give every coordinate a mass."
        )


def _as_motion(record: MotionRecord, stop: Stop, pieces: tuple[MotionPiece, ...]) -> Motion:
    options = record.context.options
    ground = record.context.whole or record.context.ground
    source = RowSource(ground, options.redundant, tuple(str(event.name) for event in options.events if event.then))
    return motion_of(source, options, stop, pieces, record.events, record.drift, {"tol": options.tol})


def _noted(ground: Ground, stream: MotionStream, motion: Motion) -> Motion:
    """Return a motion of which the file has more rows than memory, with a note that says so."""
    if stream.rows == len(motion.t):
        return motion
    note = f"What was before t = {float(motion.t[0]):.6g} is in {stream.path.name} only."
    if ground.model.system.mass is None:  # equations with a Lagrangian
        t, q, v = zip(*stream.instants, (motion.t[-1], motion.q[-1], motion.v[-1]), strict=True)
        states = np.array(t), np.stack(q, axis=1), np.stack(v, axis=1), ground.params[:, None]
        energies = ground.model.kernels.terms(*states).energies.sum(axis=0)
        note += f" T + V was between {min(energies):.15g} and {max(energies):.15g} at {len(energies)} instants."
    return replace(motion, residual=None, reason=f"{motion.reason} {note}".strip())


def run(context: Context, moment: Moment, record: MotionRecord | None = None, *, lost: str = "") -> MotionRecord:
    """Carry a motion to its end.

    Parameters
    ----------
    context : Context
    moment : Moment
        Admitted.
    record : MotionRecord, optional
        Where it is kept; a new one by default.
    lost : str
        Why it ends where it starts, in words, if some motion has no inertia there.
    """
    record = MotionRecord(context, moment) if record is None else record
    record.moment = moment.begin()
    try:
        if lost:
            record.take(stopped_at(record.moment, MotionStatus.SINGULAR, lost))
        else:
            _run(record)
    except KeyboardInterrupt:
        taken()
        record.end(_interrupted(record))
    except Spent as spent:
        record.end(Stop(MotionStatus.UNFINISHED, f"At t = {record.moment.t:.6g}: {spent}"))
    except NotFiniteError as error:
        if not record.pieces:
            raise
        record.end(Stop(MotionStatus.UNFINISHED, f"At t = {record.moment.t:.12g}: {error}"))
    return record


def _interrupted(record: MotionRecord) -> Stop:
    reached = max([record.moment.t, *(float(piece.t[-1]) for piece in record.pieces[-1:])])
    until = record.context.options.until
    return Stop(MotionStatus.INTERRUPTED, f"Interrupted at t = {reached:.6g}; it was to go on until {until:.6g}.")


def _run(record: MotionRecord) -> None:
    spend()
    try:
        record.take(consequences(record.context, handle(record.context, record.moment, Start()), None))
        record.note = already_past(record.context, record.moment)
        while True:
            context, over = record.context, record.context.policies.over
            if not isinstance(record.decision, Stop):
                now = context.seen_from(record.moment)
                if now is not context and record.moment.t < now.options.until:
                    context = record.context = now
                    if context.course is not None and context.course.jumps:
                        record.take(handle(context, record.moment, Changed(record.decision)))
                        spend(EVENT)
                        continue
                _stretch(context, record, record.decision)
            elif record.decision.passable and over is not None:
                passed = over(context, record.moment, record.decision, record.recent)
                record.take(consequences(context, passed, None))
            else:
                return
    except Cut as cut:
        record.take(cut.made)
        raise cut.cause from None


def _stretch(context: Context, record: MotionRecord, decision: Decision) -> None:
    """Make one stretch of steps in a mode; record it, and what follows from what happened."""
    if record.moment.t >= context.options.until:
        return record.end(Stop(MotionStatus.REACHED))
    started, fired = leave_rest(context, record.moment, decision)
    record.take(started)
    if fired:
        moving = moving_for(context.model, decision.mode.mode, context.options.events)
        following = _following(context, record, decision, Fired(decision, fired, moving, record.recent))
        return _go_on(record, consequences(context, following, decision))
    passed = advance_bouncing(context, record.moment, decision, BOUNCE)
    easily = only_paused(context, decision, passed, BOUNCE)
    bounced = None if passed is None else _bounced(context, record, decision, passed)
    made = past_brief(context, record.moment, decision, bounced or advance(context, record.moment, decision))
    nearness, dip = record.moment.memory.nearness.look(context, made.moving, made.stretch)
    made = replace(made, moment=made.moment.recalling(nearness=nearness))
    start = record.moment.but(memory=made.moment.memory)
    met = None
    if dip is not None:
        met = meet_singular(context, start, Dipped(decision, made.stretch, made.moving, record.recent, dip))
    if met is not None:
        moment = met.moment.recalling(nearness=met.moment.memory.nearness.forget())
        interrupted = made.stretch.status == INTERRUPTED
        return _go_on(record, consequences(context, replace(met, moment=moment), decision), interrupted)
    happening = _happening(context, decision, made, record.recent)
    if isinstance(happening, Slipped):  # from which of its steps on is not known: the stretch is left out
        return record.take(handle(context, start, happening))
    record.passed(decision, made, happening)
    record.take(made.transition(decision))
    if context.options.progress is not None:
        context.options.progress(record.moment.t)
    if made.stretch.status == INTERRUPTED and not made.unsound:
        return record.end(_interrupted(record))
    if not isinstance(happening, Reached):
        pay(context, made.stretch)
    elif happening.status is MotionStatus.REACHED:
        with suppress(Spent):  # it has arrived; other motions of an ensemble may find nothing left
            pay(context, made.stretch)
    following = _following(context, record, decision, happening)
    if isinstance(happening, (Paused, Reached)):
        return record.take(following)
    alone = easily and [event.kind for event in following.events] == ["impact"]
    interrupted = made.stretch.status == INTERRUPTED
    return _go_on(record, consequences(context, following, decision), interrupted, BOUNCE if alone else EVENT)


def _following(context: Context, record: MotionRecord, decision: Decision, happening: Happening) -> Transition:
    """Return what follows from what has happened at the end of recorded steps."""
    if isinstance(happening, Fired) and context.options.events:
        record.moment = at_end_of_steps(context, record.moment, decision, happening.watches)
    return handle(context, record.moment, happening)


def _bounced(context: Context, record: MotionRecord, decision: Decision, found: PassedImpacts) -> MadeSteps:
    """Record the impacts that a mode passes by itself; return the steps after them.

    Where the rows come to depend on each other, the steps are those on which they do, up to the next impact.
    """
    if len(found) and record.at_once and found.moving.kernels.independence is None:
        following = found.together()
        nearness = record.moment.memory.nearness.look(context, found.moving, found.found.whole)[0]
        record.take(replace(following, moment=following.moment.recalling(nearness=nearness)))
        spend(found.steps + BOUNCE * len(found), found.steps * context.kept)
    else:
        for impact in found.one_by_one():
            nearness, dip = record.moment.memory.nearness.look(context, impact.made.moving, impact.made.stretch)
            if dip is not None:
                return impact.made
            following = impact.following
            record.passed(decision, impact.made, impact.fired(decision, record.recent))
            record.take(replace(following, moment=following.moment.recalling(nearness=nearness)))
            pay(context, impact.made.stretch)
            spend(BOUNCE)
    if len(found) and context.options.progress is not None:
        context.options.progress(record.moment.t)
    return found.last(record.moment)


def _go_on(record: MotionRecord, following: Transition, interrupted: bool = False, cost: int = EVENT) -> None:
    """Record what follows from an event, and pay for it."""
    record.take(following)
    if isinstance(following.decision, Stop):
        return None
    if interrupted:
        return record.end(_interrupted(record))
    return spend(cost)


def _happening(context: Context, decision: Decision, made: MadeSteps, past: Sequence[MotionPiece]) -> Happening:
    """Return what has happened at the end of a stretch."""
    status = made.stretch.status
    # Where a choice in a constraint changes, it need not be implied by others any more: what follows is decided there.
    switched = any(made.moving.watch_names[k][0] == "surface" for k in made.stretch.fired)
    if (decision.mode.undetermined or decision.mode.mode.shared) and status != INTERRUPTED and not switched:
        parted = parted_ways(context, made.moment, decision)
        slipping = None if parted or made.unsound else slips_apart(context, made.moment, decision)
        if slipping is not None:
            return Slipped(slipping)
        if parted is not None and not made.unsound:
            return Reached(MotionStatus.SINGULAR, parted)
    if made.unsound:
        return Reached(MotionStatus.UNFINISHED, made.unsound)
    if status == REACHED:
        return Reached(MotionStatus.REACHED) if made.moment.t >= context.options.until else Paused(decision)
    if status == PAUSED:
        return Paused(decision)
    if status == FIRED:
        watches = tuple(made.moving.watch_names[k] for k in made.stretch.fired)
        return Fired(decision, watches, made.moving, past)
    return Broken(decision, made.stretch, made.moving, past)


def handle(context: Context, moment: Moment, happening: Happening) -> Transition:
    """Return what follows from what happened at a moment: the same for the same, and nothing else changes."""
    match happening:
        case Start():
            begun = begin(context, moment)
            if isinstance(begun.decision, Stop):
                return begun
            return begun.then(leave_singular(context, begun.moment, begun.decision))
        case Fired():
            return _still(context, _fired(context, moment, happening), happening)
        case Broken():
            return _broken(context, moment, happening)
        case Paused(decision):
            words = wedges(context, moment, decision)
            return Transition(moment, decision) if not words else stopped_at(moment, MotionStatus.SINGULAR, words)
        case Changed(decision):
            return changed(context, moment, decision)
        case Slipped(words):
            return Transition(moment, Stop(MotionStatus.UNFINISHED, words, passable=True))
        case Reached(status, reason):
            return stopped_at(moment, status, reason)


def _fired(context: Context, moment: Moment, happening: Fired) -> Transition:
    """Return what follows from watches that fired."""
    decision, watches = happening.decision, happening.watches
    if not watches:  # contacts let go whose forces are undetermined
        return changed(context, moment, decision)
    if (other := shared_otherwise(decision, watches)) is not None:
        return Transition(moment, other)
    if (end := _braked(context, moment, happening)) is not None:
        return Transition(moment, end)
    if any(kind == "normal" for kind, _ in watches):
        if words := wedges(context, moment, decision):
            return stopped_at(moment, MotionStatus.SINGULAR, words)
        # The rows may be so nearly dependent that the sign of a multiplier is rounding, not physics.
        if moment.memory.nearness.fallen > BLURRED:
            return pass_singular(context, moment, decision)
    return happen(context, moment, decision, watches, happening.moving, happening.acceleration)


def _braked(context: Context, moment: Moment, happening: Fired) -> Stop | None:
    """Return the end of a motion in which friction stops a slip that grew without bound; None where it did not."""
    places = (context.table.places[context.table.of_law(k)] for kind, k in happening.watches if kind == "slip")
    names = [place.name for place in places if place.side is Side.BOUND and not place.of]
    return ran_away(context, moment, happening.past, f"friction stops '{names[0]}'") if names else None


def _faded(context: Context, moment: Moment, happening: Broken) -> Stop | None:
    """Return the end of a motion whose velocities grew without bound until inertia was lost; None where they didn't."""
    inertia = inertia_of(context.model, context.inputs(moment.t, moment.q, moment.v))
    return ran_away(context, moment, happening.past, "a motion has lost its inertia") if inertia.lost else None


def _still(context: Context, following: Transition, happening: Fired) -> Transition:
    """Return what follows, or that the motion chatters: too many events between which no time passes."""
    decision, moment, watches = following.decision, following.moment, happening.watches
    own = bool(watches) and all(kind == "extra" for kind, _ in watches)
    if isinstance(decision, Stop) or (following.due is None and own):
        return following
    memory = moment.memory
    last, count = memory.still
    passed = not moment.t - last <= 1e-13 * max(abs(moment.t), context.span(moment))
    still = (moment.t, 0) if passed else (last, count + 1)
    happened = (*(() if passed else memory.happened), *(said(context.table, watch) for watch in watches))
    moment = moment.recalling(still=still, happened=happened)
    if still[1] < STANDSTILL:
        return replace(following, moment=moment)
    return following.stopping(_standstill(context, moment, decision, (*happening.past, *following.pieces)), moment)


def _standstill(context: Context, moment: Moment, decision: Decision, past: Sequence[MotionPiece]) -> Stop:
    """Return why a motion ends whose events don't let time pass."""
    free = spatial_stress(context, decision)
    if free:
        names = ", ".join(f"'{context.table.places[number].name}'" for number in sorted(free))
        reason = (
            f"At t = {moment.t:.12g} the forces of {names} are undetermined and stick in planes, and this method "
            "cannot tell which of them slip. Use method='auto' or 'timestepping'."
        )
        return Stop(MotionStatus.UNFINISHED, reason, passable=True)
    return chattering(context, moment, past)


def _broken(context: Context, moment: Moment, happening: Broken) -> Transition:
    """Return what follows where the steps could not go on: a singular point, or a motion that blows up."""
    decision, status = happening.decision, happening.stretch.status
    words = wedges(context, moment, decision)
    if words is not None:
        return stopped_at(moment, MotionStatus.SINGULAR, words)
    if status == NOT_FINITE:
        _refuse_nan_events(context, moment, happening)
    if status == IRREGULAR:
        other = held_again(context, moment, decision)
        if other is not None:
            return Transition(moment, other)
        passed = pass_singular(context, moment, decision)
        stop = passed.decision
        if isinstance(stop, Stop) and (end := _faded(context, moment, happening)) is not None:
            return Transition(moment, end)
        if isinstance(stop, Stop) and (growing := growing_reaction(context, decision, happening.past)):
            return replace(passed, decision=replace(stop, reason=f"{stop.reason} Before it {growing}."))
        return passed
    fading = fading_inertia(context.model, context.inputs(moment.t, moment.q, moment.v))
    if fading:
        reason = (
            f"By t = {moment.t:.12g} the inertia of the motion {fading} vanishes: massless parts come to where "
            "neither the masses nor the constraints determine how they move on."
        )
        return stopped_at(moment, MotionStatus.SINGULAR, reason)
    words = "not finite" if status == NOT_FINITE else "beyond what steps of any size can follow"
    return broken(context, moment, decision, happening.past, words)


def _refuse_nan_events(context: Context, moment: Moment, happening: Broken) -> None:
    """Raise a StateError that names the user's event whose expression is not a number."""
    for kind, k in (happening.moving.watch_names[k] for k in happening.stretch.fired):
        if kind == "extra":
            raise StateError(
                f"{context.name}: the expression of event '{context.options.events[k].name}' is not a finite "
                f"number at t = {moment.t:.6g} or within the next step. Give one that is finite along the motion."
            )
