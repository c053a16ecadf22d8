"""`method="auto"`: time stepping over a stretch that events can't follow, and back to events at its end.

Only where time stepping converges as its step is halved, and never over a choice, a paradox or a singular point: it
would decide what the laws leave open without a word. Both ends are logged as events of the kind 'method', the second
with the step and with the error that halving it shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.rank_revealing import solve_kkt
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.breaking import STEPS, apart, bridge_from, walked
from zwang._simulate.deciding import Decision
from zwang._simulate.happenings import happen
from zwang._simulate.labels import full_mode, hold, plain
from zwang._simulate.mode_equations import solve_mode
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.rows import RowSource
from zwang._simulate.step_motion import step_dense, step_events, step_labels, step_pieces
from zwang._simulate.step_passages import look_over
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
    labels = step_labels(driver.ground, walk, steps)
    driver.record.event(moment.t, "method", method="timestepping", reason=stop.reason)
    pieces = [_in_mode(driver.ground, piece) for piece in step_pieces(driver.ground, steps, labels)]
    driver.record.stepped(pieces, step_events(driver.ground, walk, steps, labels))
    driver.record.event(steps.t[-1], "method", method="events", step=walk.h, error=error)
    driver.resume()
    return happen(driver, _landed(driver.ground, steps, tuple(str(label) for label in labels[-1])), None, ())


def _in_mode(ground: Ground, piece: MotionPiece) -> MotionPiece:
    """Return a piece with independent rows, and with the accelerations that the equations of its mode give."""
    held = hold(ground.table, piece.labels, ground.terms(float(piece.t[0]), piece.q[0], piece.v[0]))
    mode = held.mode
    a = solve_mode(ground.table, RowSource(ground).terms(piece.t, piece.q, piece.v), mode).acceleration.T
    return replace(
        piece, a=a, held=mode.held, sticking=mode.sticking, sliding=mode.sliding, undetermined=held.undetermined
    )


def _landed(ground: Ground, steps: Steps, labels: tuple[str, ...]) -> Moment:
    """Return the end of steps, moved onto what its labels hold."""
    t, q, v = float(steps.t[-1]), steps.q[-1].copy(), steps.v[-1].copy()
    table, mode = ground.table, full_mode(ground.table, labels)
    held, sticking = list(mode.held), list(mode.sticking)
    level = np.array([table.places[table.of_normal(j)].level == "position" for j in held], dtype=bool)
    positions = [j for j, on in zip(held, level, strict=True) if on]
    for _ in range(3):
        terms = ground.terms(t, q, v)
        q = q + _least(terms.mass[:, :, 0], terms.rows[positions, :, 0], -terms.value[positions, 0])
    terms = ground.terms(t, q, v)
    rows = np.concatenate([terms.rows[held, :, 0], terms.slip_rows[sticking, :, 0]])
    now = np.where(level, terms.rate[held, 0], terms.value[held, 0])
    v = v + _least(terms.mass[:, :, 0], rows, -np.concatenate([now, terms.slip[sticking, 0]]))
    touching = {i for i, label in enumerate(labels) if plain(label) != "open" and table.places[i].one_sided}
    resting = {i for i, label in enumerate(labels) if plain(label) == "stick"}
    return Moment(t, q, v, frozenset(touching), frozenset(resting))


def _least(mass: Array, rows: Array, needed: Array) -> Array:
    return solve_kkt(mass, rows, np.zeros(len(mass)), needed).accelerations
