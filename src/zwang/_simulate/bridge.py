"""Where a motion by events can't go on: what is said of it, and time stepping over the stretch (`method="auto"`).

Steps that shrink to nothing, or events without end at one instant, are a statement about this method first. BLOW_UP is
said only of a velocity or a slip that grows like (t* - t)^-p; a reaction that grows so while velocities stay bounded
means a singular point, or a paradox; and if time stepping goes on beyond the instant, converging as its step is halved,
the motion is no end at all but UNFINISHED, and `method="auto"` steps over it.

It does so only where time stepping converges as its step is halved, and never over a choice, a paradox or a singular
point: it would decide what the laws leave open without a word. Both ends are logged as events of the kind 'method', the
second with the step and with the error that halving it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._compile.measured import measured_in
from zwang._declare.switches import Reaction
from zwang._numerics.blow_up import GrowthFit, growth, mean_growth
from zwang._numerics.budget import spend
from zwang._numerics.contact.modes import Mode, Side
from zwang._numerics.impacts import resolve_impact
from zwang._numerics.linear.projection import landed
from zwang._results.motion import MotionStatus
from zwang._results.motion_dense import states_at
from zwang._results.motion_parts import MotionEvent, MotionPiece
from zwang._simulate.decide import next_mode
from zwang._simulate.ground import Ground
from zwang._simulate.impact import impact_problem
from zwang._simulate.instant import begin
from zwang._simulate.mode_labels import full_mode, hold, solve_mode
from zwang._simulate.moment import (
    Context,
    Decision,
    Labels,
    Memory,
    Moment,
    Stop,
    Transition,
    event_at,
    stopped_at,
    terms_at,
)
from zwang._simulate.step_motion import step_dense, step_events, step_labels, step_pieces
from zwang._simulate.step_passages import first_steps, look_over
from zwang._simulate.timestepping import Steps, Walk

Array = NDArray[np.float64]
Past = Sequence[MotionPiece]
ROWS = 500
"""Rows before the end that are looked at, at distances from it that shrink by a steady factor."""
WINDOW, STEPS = 0.01, 20
"""Part of the time so far for which time stepping must go on, and its least number of steps."""
CONVERGED = 1e-3
"""Difference between half and a quarter of the step, relative to the sizes, with which it converges."""
CURE = "Time stepping goes on from here: use method='auto', which steps over such a stretch, or method='timestepping'"
FINE = 1e-6
"""Error of a stretch, relative to the sizes, with which halving its step ends."""
NOTHING = 1e-12
"""Positions and velocities below this part of their sizes are rounding: what they change by is compared with sizes."""
HALVINGS = 8  # of the step of time stepping on a bridge
MOST = 400
"""Stretches of one motion."""


@dataclass(frozen=True, eq=False)
class Bridge:
    """Time stepping over a stretch: the window, the step h/4, and how far h/2 and h/4 are apart at the end."""

    window: float
    step: float
    error: float


def broken(context: Context, moment: Moment, decision: Decision, past: Past, words: str) -> Transition:
    """Return why steps of any size can't go on from a moment."""
    said = f"At t = {moment.t:.12g} the equations are {words}"
    what, found = _fastest(context, past)
    if found is None and (growing := growing_reaction(context, decision, past)):
        status = MotionStatus.PARADOX if _no_reaction(context, moment, decision) else MotionStatus.SINGULAR
        return stopped_at(moment, status, f"{said}: the velocities stay bounded, but {growing}.")
    bridge = bridge_from(context, moment, past)
    if bridge is not None:
        return Transition(moment, unfinished(said, bridge))
    if found is not None:
        return Transition(moment, Stop(MotionStatus.BLOW_UP, f"{said}: {what} {found}."))
    size = float(np.abs(np.concatenate([moment.q, moment.v])).max(initial=0.0))
    stop = Stop(
        MotionStatus.UNFINISHED,
        f"{said}, though nothing grows like a power of the time that is left (the largest coordinate or velocity is "
        f"{size:.3g}), and time stepping does not converge beyond it either. Look at the forces near this state.",
    )
    return Transition(moment, stop)


def chattering(context: Context, moment: Moment, past: Past) -> Stop:
    """Return what is said where events follow each other without any time passing."""
    happened = moment.memory.happened
    counts = Counter(happened)
    listed = ", ".join(f"{what} ({count})" if count > 1 else what for what, count in counts.most_common(12))
    said = f"{len(happened)} events at t = {moment.t:.12g}: {listed}"
    bridge = bridge_from(context, moment, past)
    return unfinished(said, bridge) if bridge is not None else Stop(MotionStatus.CHATTER, f"{said}.")


def unfinished(said: str, bridge: Bridge) -> Stop:
    """Return the stop of a motion that time stepping can carry on."""
    reason = f"{said}. {CURE} (halving its step to {bridge.step:.1e} s changes {bridge.error:.0e} of the sizes)."
    return Stop(MotionStatus.UNFINISHED, reason, passable=True)


def bridge_from(context: Context, moment: Moment, past: Past) -> Bridge | None:
    """Return time stepping over the next stretch if it converges there, None if not.

    It starts before the moment by as much as it goes beyond it: what happens in between must be met with every step.
    """
    until, begun = context.options.until, moment.memory.begun
    window = WINDOW * (moment.t - begun) if moment.t > begun else WINDOW * (until - moment.t)
    window = min(window, until - moment.t)
    if window <= 1e3 * np.spacing(abs(moment.t) + window):
        return None
    start = _earlier(moment, window, past)
    parts = 2 if start is not moment else 1
    runs = [walked(context, start, moment.t + window - start.t, STEPS * parts * k) for k in (1, 2, 4)]
    if any(run is None for run in runs):
        return None
    coarse, middle, fine = (run[1] for run in runs if run is not None)
    error = apart(context, past, middle, fine)
    if error > CONVERGED or error > 0.75 * max(apart(context, past, coarse, middle), 1e-9):
        return None
    return Bridge(window, window / (4 * STEPS), error)


def _earlier(moment: Moment, window: float, past: Past) -> Moment:
    """Return a state of the motion a window before a moment; the moment itself where there is none."""
    pieces = tuple(past)
    if not pieces or float(pieces[0].t[0]) > moment.t - window or not any(len(piece.dense) for piece in pieces):
        return moment
    y = states_at(pieces, np.array([moment.t - window]))[0]
    return Moment(moment.t - window, y[: len(moment.q)].copy(), y[len(moment.q) :].copy())


def walked(ground: Ground, moment: Moment, window: float, count: int) -> tuple[Walk, Steps] | None:
    """Return a number of steps over a window; None where they don't get to its end."""
    walk = Walk(ground, moment, moment.t + window, window / count, shortcut=False)
    with np.errstate(all="ignore"):
        steps, stop = walk.run()
    if stop.status is MotionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    spend(len(steps.t) - 1)  # a budget that is spent ends the motion, and says nothing of these steps
    finite = np.isfinite(steps.q).all() and np.isfinite(steps.v).all()
    return (walk, steps) if stop.status is MotionStatus.REACHED and finite else None


def apart(context: Context, past: Past, one: Steps, other: Steps) -> float:
    """Return the largest difference of two ends, relative to the sizes of positions and velocities."""
    worst = 0.0
    for name, own in zip("qv", context.step_sizes, strict=True):
        rows = np.abs(getattr(other, name)).max(axis=0)
        for piece in past[-1:]:
            rows = np.maximum(rows, np.abs(getattr(piece, name)).max(axis=0))
        size = np.where(rows > NOTHING * own, rows, np.maximum(float(rows.max(initial=0.0)), own))
        off = np.abs(getattr(one, name)[-1] - getattr(other, name)[-1])
        worst = max(worst, float((off / size).max(initial=0.0)))
    return worst


def _since_jump(past: Past) -> list[MotionPiece]:
    """Return the pieces since the last jump of the velocity."""
    parts: list[MotionPiece] = []
    for piece in reversed(past):
        parts.insert(0, piece)
        if piece.jump:
            break
    return parts


def _last_rows(past: Past) -> tuple[Array, Array, Array, Array]:
    """Return times, positions, velocities and accelerations since the last jump, ever denser towards the end."""
    parts = _since_jump(past)
    if not parts:
        return np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))
    t, q, v, a = (np.concatenate([getattr(one, name) for one in parts]) for name in "tqva")
    kept = np.unique(np.append(np.searchsorted(t, _towards(t)), np.arange(max(len(t) - 20, 0), len(t))))
    kept = kept[kept < len(t)]
    kept = kept[np.concatenate([[True], np.diff(t[kept]) > 0])]
    return t[kept], q[kept], v[kept], a[kept]


def _towards(t: Array) -> Array:
    """Return times whose distances from the last one shrink by a steady factor."""
    left = np.geomspace(max(float(t[-1] - t[0]), 1e-300), max(float(np.spacing(t[-1])), 1e-300), ROWS)
    return np.asarray(t[-1] - left)


def ran_away(ground: Ground, moment: Moment, past: Past, words: str) -> Stop | None:
    """Return the end of a motion whose velocities grew like a power of the time left until something stopped them.

    Friction with a bound of its own stops a slip, or inertia vanishes: `words` say so. None where nothing grew so.
    """
    t, q, v, _ = _last_rows(past)
    if len(t) < 3 or not np.isfinite(v).all():
        return None
    terms = ground.many(t, q, v)
    bound = [place for place in ground.table.places if place.side is Side.BOUND and len(place.slips) == 1]
    series = [(f"the slip of '{place.name}'", terms.slip[place.slips[0]]) for place in bound]
    names = [f"'{item.name}'" for item in ground.model.system.velocities]
    for what, x in [*series, *zip(names, v.T, strict=True)]:
        found = mean_growth(t, x)
        if found is not None:
            return Stop(MotionStatus.BLOW_UP, f"At t = {moment.t:.12g} {words}: until then {what} {found}.")
    return None


def _fastest(ground: Ground, past: Past) -> tuple[str, GrowthFit | None]:
    """Return the velocity or slip that grows most like a power of the time that is left, in words, and the law."""
    t, q, v, a = _last_rows(past)
    if not len(t):
        return "", None
    system, table = ground.model.system, ground.table
    series = [(f"'{item.name}'", v[:, i], a[:, i]) for i, item in enumerate(system.velocities)]
    if any(place.slips for place in table.places):
        terms = ground.many(t, q, v)
        for place in table.places:
            for slip in place.slips:
                rate = np.einsum("ib,bi->b", terms.slip_rows[slip], a) - terms.slip_bias[slip]
                series.append((f"the slip of '{place.name}'", terms.slip[slip], rate))
    best: tuple[float, str, GrowthFit | None] = (0.0, "", None)
    for what, x, rate in series:
        found = growth(t, x, rate)
        if found is not None and abs(float(x[-1])) > best[0]:
            best = (abs(float(x[-1])), what, found)
    return best[1], best[2]


def growing_reaction(ground: Ground, decision: Decision, past: Past) -> str:
    """Return which reaction grows like a power of the time that is left, and how, in words; empty where none does."""
    parts, held = _since_jump(past), decision.held
    if not parts or held is None or not held.mode.held or not any(len(part.dense) for part in parts):
        return ""
    # Steps grow with the distance from what they can't pass: rates need places that lie closer, from dense output.
    every = np.concatenate([part.t for part in parts])
    t = np.unique(_towards(every))
    left = every[-1] - t
    t, left = t[left > 1e-13 * abs(every[-1])], left[left > 1e-13 * abs(every[-1])]
    if len(t) < 3:
        return ""
    states = states_at(tuple(parts), t)
    n = states.shape[1] // 2
    q, v = states[:, :n], states[:, n:]
    table = ground.table
    with np.errstate(all="ignore"):
        solved = solve_mode(table, ground.many(t, q, v), held.mode)
    best: tuple[float, str, GrowthFit | None] = (0.0, "", None)
    for j in held.mode.held:
        x = solved.normal[j]
        with np.errstate(all="ignore"):  # differences of logarithms are exact for powers
            rate = -x * np.gradient(np.log(np.abs(x)), np.log(left)) / left
        found = growth(t, x, rate)
        if found is not None and abs(float(x[-1])) > best[0]:
            best = (abs(float(x[-1])), table.places[table.of_normal(j)].name, found)
    return f"the reaction of '{best[1]}' {best[2]}" if best[2] is not None else ""


def _no_reaction(context: Context, moment: Moment, decision: Decision) -> bool:
    """Say whether friction that slides leaves no reaction at a moment."""
    if not decision.mode.mode.sliding:
        return False
    touching = {
        i for i, label in enumerate(decision.labels) if label is not Mode.OPEN and context.table.places[i].one_sided
    }
    known = moment.but(touching=frozenset(touching), resting=frozenset(), tied=frozenset())
    return next_mode(context, known, decision.labels).stop is MotionStatus.PARADOX


# Over it by time stepping.
def step_over(context: Context, moment: Moment, stop: Stop, past: Past) -> Transition:
    """Return how a motion goes on beyond a stretch that events can't follow, or why it stops all the same."""
    if any(event.then or event.kind or event.expr.has(Reaction) for event in context.options.events):
        return _not_over(moment, stop, "Time stepping switches nothing, and some event does or asks for a reaction.")
    bridge = bridge_from(context, moment, past)
    moment = moment.recalling(bridges=moment.memory.bridges + 1)
    if bridge is None or moment.memory.bridges > MOST:
        last = f"This was stretch {moment.memory.bridges}."
        return _not_over(moment, stop, "Time stepping does not converge here." if bridge is None else last)
    count = 4 * STEPS
    made = walked(context, moment, bridge.window, count)
    error = np.inf
    for _ in range(HALVINGS):
        finer = walked(context, moment, bridge.window, 2 * count)
        if made is None or finer is None:
            return _not_over(moment, stop, "Time stepping does not go on from this very state.")
        error, made, count = apart(context, past, made[1], finer[1]), finer, 2 * count
        if error <= FINE:
            break
    assert made is not None  # the loop has seen to it
    walk, steps = made
    looked = look_over(context, steps, step_dense(steps), stop, "stop")
    if looked.stop.status is MotionStatus.SINGULAR:
        words = f"Time stepping would pass a singular point near t = {looked.steps.t[-1]:.6g} without a word."
        return _not_over(moment, stop, words)
    if words := _decides_an_impact(context, steps):
        return _not_over(moment, stop, words)
    passed, ended = _passed(context, steps)
    if ended is not None:
        steps = first_steps(steps, ended[0])
    labels = step_labels(context, walk, steps)
    events = (
        event_at(moment.t, "method", method="timestepping", reason=stop.reason),
        *step_events(context, walk, steps, labels),
        *passed,
        event_at(steps.t[-1], "method", method="events", step=walk.h, error=error),
    )
    pieces = tuple(_in_mode(context, piece) for piece in step_pieces(context, steps, labels))
    end = _landed(context, steps, tuple(Mode(int(label)) for label in labels[-1]))
    over = Transition(end.but(memory=_resumed(moment.memory)), Decision(), events, pieces)
    if ended is not None:
        return over.stopping(Stop(MotionStatus.REACHED, ended[1]))
    return over.then(begin(context, over.moment))


def _decides_an_impact(context: Context, steps: Steps) -> str:
    """Return in words that steps decide an impact otherwise than was asked, or where laws differ; empty: they don't.

    Time stepping has Newton's restitution. Without a law an impact goes on only where all of them agree.
    """
    law = context.options.impact
    struck = np.flatnonzero(steps.closing.any(axis=1))
    if law == "newton" or not len(struck):
        return ""
    if law is not None:
        return f"Time stepping would take Newton's restitution for the impacts on its way, not impact='{law}'."
    for k in map(int, struck):
        half, closing = 0.5 * float(steps.t[k + 1] - steps.t[k]), tuple(map(int, np.flatnonzero(steps.closing[k])))
        t, q, v = float(steps.t[k]) + half, steps.q[k] + half * steps.v[k], steps.v[k].copy()
        met = Moment(t, q, v, touching=frozenset(_carrying(context, steps, k)))
        problem, _ = impact_problem(context, met, terms_at(context, met), closing, False)
        choice = resolve_impact(problem, None).choice
        if choice is not None:
            return f"Time stepping would decide an impact near t = {met.t:.6g} by Newton's restitution: {choice}."
    return ""


def _carrying(ground: Ground, steps: Steps, k: int) -> Iterator[int]:
    """Yield the contacts that have an impulse in a step, without an impact of their own."""
    first = 0
    for number, place in enumerate(ground.table.places):
        if place.one_sided and not steps.closing[k, number] and steps.impulses[k, first] > 0:
            yield number
        first += int(place.normal >= 0) + len(place.slips)


def _not_over(moment: Moment, stop: Stop, words: str) -> Transition:
    return Transition(moment, Stop(MotionStatus.UNFINISHED, f"{stop.reason} {words}"))


def _resumed(memory: Memory) -> Memory:
    """Return what is remembered of steps and flights where a motion goes on from a state of its own: nothing."""
    return replace(memory, step=0.0, flights={}, ending={}, closed={}, still=(float("nan"), 0), happened=())


def _passed(context: Context, steps: Steps) -> tuple[list[MotionEvent], tuple[int, str] | None]:
    """Return the user's events that steps pass, between two rows each; the row to stop at, and why, if one asks it."""
    asked = context.options.events
    if not asked:
        return [], None
    measured = measured_in(context.model.system, context.options.watched)
    found = []
    for k, event in enumerate(asked):
        rows = zip(steps.t, steps.q, steps.v, strict=True)
        values = np.array([measured.value(k, float(t), q, v, context.params) for t, q, v in rows])
        for i, j in pairwise(np.flatnonzero(values)):
            if values[i] * values[j] < 0 and event.direction in (0, int(np.sign(values[j]))):
                share = values[i] / (values[i] - values[j])
                found.append((float(steps.t[i] + share * (steps.t[j] - steps.t[i])), int(j), event))
    found.sort(key=lambda item: item[:2])
    logged = []
    for time, row, event in found:
        logged.append(MotionEvent(time, "user", None, str(event.name)))
        if event.stop:
            words = f"Stopped at the event '{event.name}', t = {time:.6g}, to within a step of time stepping."
            return logged, (row, words)
    return logged, None


def _in_mode(ground: Ground, piece: MotionPiece) -> MotionPiece:
    """Return a piece with independent rows, and with the accelerations that the equations of its mode give."""
    held = hold(ground.table, piece.modes, ground.terms(float(piece.t[0]), piece.q[0], piece.v[0]))
    mode = held.mode
    a = solve_mode(ground.table, ground.many(piece.t, piece.q, piece.v), mode).acceleration.T
    return replace(
        piece, a=a, held=mode.held, sticking=mode.sticking, sliding=mode.sliding, undetermined=held.undetermined
    )


def _landed(ground: Ground, steps: Steps, labels: Labels) -> Moment:
    """Return the end of steps, moved onto what its labels hold."""
    t, q, v = float(steps.t[-1]), steps.q[-1].copy(), steps.v[-1].copy()
    table, mode = ground.table, full_mode(ground.table, labels)
    q, v = landed(ground.conditions(t, mode.held, mode.sticking), q, v, rounds=3)
    touching = {i for i, label in enumerate(labels) if label is not Mode.OPEN and table.places[i].one_sided}
    resting = {i for i, label in enumerate(labels) if label.plain is Mode.STICK}
    return Moment(t, q, v, frozenset(touching), frozenset(resting))
