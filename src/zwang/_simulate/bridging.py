"""`method="auto"`: time stepping over a stretch that events can't follow, and back to events at its end.

Only where time stepping converges as its step is halved, and never over a choice, a paradox or a singular point: it
would decide what the laws leave open without a word. Both ends are logged as events of the kind 'method', the second
with the step and with the error that halving it shows.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import Mode
from zwang._numerics.linear.projection import landed
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionEvent, MotionPiece
from zwang._simulate.breaking import STEPS, apart, bridge_from, walked
from zwang._simulate.deciding import Decision
from zwang._simulate.happenings import happen
from zwang._simulate.labels import full_mode, hold
from zwang._simulate.measured import Measured
from zwang._simulate.mode_equations import solve_mode
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.rows import RowSource
from zwang._simulate.step_motion import step_dense, step_events, step_labels, step_pieces
from zwang._simulate.step_passages import first_steps, look_over
from zwang._simulate.stopping import Stop
from zwang._simulate.timestepping import Steps

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]
FINE = 1e-6
"""Error of a stretch, relative to the sizes, with which halving its step ends."""
HALVINGS = 8
MOST = 400
"""Stretches of one motion."""


def step_over(driver: Driver, stop: Stop) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on beyond a stretch that events can't follow, or why it stops all the same."""
    moment = driver.moment
    bridge = bridge_from(driver, moment)
    driver.bridges += 1
    if bridge is None or driver.bridges > MOST:
        words = "Time stepping does not converge here." if bridge is None else f"This was stretch {driver.bridges}."
        return Stop(MotionStatus.UNFINISHED, f"{stop.reason} {words}")
    count = 4 * STEPS
    made = walked(driver, moment, bridge.window, count)
    error = np.inf
    for _ in range(HALVINGS):
        finer = walked(driver, moment, bridge.window, 2 * count)
        if made is None or finer is None:
            return Stop(MotionStatus.UNFINISHED, f"{stop.reason} Time stepping does not go on from this very state.")
        error, made, count = apart(driver, made[1], finer[1]), finer, 2 * count
        if error <= FINE:
            break
    assert made is not None  # the loop has seen to it
    walk, steps = made
    looked = look_over(driver.ground, steps, step_dense(steps), stop, "stop")
    if looked.stop.status is MotionStatus.SINGULAR:
        words = f"Time stepping would pass a singular point near t = {looked.steps.t[-1]:.6g} without a word."
        return Stop(MotionStatus.UNFINISHED, f"{stop.reason} {words}")
    law = driver.request.impact
    if law not in (None, "newton") and steps.closing.any():
        words = f"Time stepping would take Newton's restitution for the impacts on its way, not impact='{law}'."
        return Stop(MotionStatus.UNFINISHED, f"{stop.reason} {words}")
    passed, ended = _passed(driver, steps)
    if ended is not None:
        steps = first_steps(steps, ended[0])
    labels = step_labels(driver.ground, walk, steps)
    driver.record.event(moment.t, "method", method="timestepping", reason=stop.reason)
    pieces = [_in_mode(driver.ground, piece) for piece in step_pieces(driver.ground, steps, labels)]
    driver.record.stepped(pieces, [*step_events(driver.ground, walk, steps, labels), *passed])
    driver.record.event(steps.t[-1], "method", method="events", step=walk.h, error=error)
    driver.resume()
    landed = _landed(driver.ground, steps, tuple(Mode(int(label)) for label in labels[-1]))
    if ended is not None:
        driver.moment = landed
        return Stop(MotionStatus.REACHED, ended[1])
    return happen(driver, landed, None, ())


def _passed(driver: Driver, steps: Steps) -> tuple[list[MotionEvent], tuple[int, str] | None]:
    """Return the user's events that steps pass, between two rows each; the row to stop at, and why, if one asks it."""
    asked = driver.request.events
    if not asked:
        return [], None
    measured = Measured(driver.ground.model.system, [event.expr for event in asked])
    found = []
    for k, event in enumerate(asked):
        rows = zip(steps.t, steps.q, steps.v, strict=True)
        values = np.array([measured.value(k, float(t), q, v, driver.ground.params) for t, q, v in rows])
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
    a = solve_mode(ground.table, RowSource(ground).terms(piece.t, piece.q, piece.v), mode).acceleration.T
    return replace(
        piece, a=a, held=mode.held, sticking=mode.sticking, sliding=mode.sliding, undetermined=held.undetermined
    )


def _landed(ground: Ground, steps: Steps, labels: tuple[Mode, ...]) -> Moment:
    """Return the end of steps, moved onto what its labels hold."""
    t, q, v = float(steps.t[-1]), steps.q[-1].copy(), steps.v[-1].copy()
    table, mode = ground.table, full_mode(ground.table, labels)
    q, v = landed(ground.conditions(t, mode.held, mode.sticking), q, v, rounds=3)
    touching = {i for i, label in enumerate(labels) if label is not Mode.OPEN and table.places[i].one_sided}
    resting = {i for i, label in enumerate(labels) if label.plain is Mode.STICK}
    return Moment(t, q, v, frozenset(touching), frozenset(resting))
