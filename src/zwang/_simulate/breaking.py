"""Where a motion by events can't go on: what is said of it.

Steps that shrink to nothing, or events without end at one instant, are a statement about this method first. BLOW_UP is
said only of a velocity or a slip that grows like (t* - t)^-p; a reaction that grows so while velocities stay bounded
means a singular point, or a paradox; and if time stepping goes on beyond the instant, converging as its step is halved,
the motion is no end at all but UNFINISHED, and `method="auto"` steps over it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.contact.modes import Mode
from zwang._numerics.growth import Growth, growth
from zwang._results.motion import MotionStatus
from zwang._results.motion_dense import states_at
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.deciding import Decision
from zwang._simulate.mode_equations import solve_mode
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.rows import RowSource
from zwang._simulate.stopping import Stop, stopped_at
from zwang._simulate.timestepping import Steps, Walk

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]
ROWS = 500
"""Rows before the end that are looked at, at distances from it that shrink by a steady factor."""
WINDOW, STEPS = 0.01, 20
"""Part of the time so far for which time stepping must go on, and its least number of steps."""
CONVERGED = 1e-3
"""Difference between half and a quarter of the step, relative to the sizes, with which it converges."""
CURE = "Time stepping goes on from here: use method='auto', which steps over such a stretch, or method='timestepping'"


@dataclass(frozen=True, eq=False)
class Bridge:
    """Time stepping over a stretch: the window, the step h/4, and how far h/2 and h/4 are apart at the end."""

    window: float
    step: float
    error: float


def broken(driver: Driver, moment: Moment, decision: Decision, words: str) -> Stop:
    """Return why steps of any size can't go on from a moment."""
    said = f"At t = {moment.t:.12g} the equations are {words}"
    what, found = _fastest(driver)
    if found is None and (growing := growing_reaction(driver, decision)):
        status = MotionStatus.PARADOX if _no_reaction(driver, moment, decision) else MotionStatus.SINGULAR
        return stopped_at(driver.record, status, moment.t, f"{said}: the velocities stay bounded, but {growing}.")
    bridge = bridge_from(driver, moment)
    if bridge is not None:
        return unfinished(said, bridge)
    if found is not None:
        return Stop(MotionStatus.BLOW_UP, f"{said}: {what} {found}.")
    size = float(np.abs(np.concatenate([moment.q, moment.v])).max(initial=0.0))
    return Stop(
        MotionStatus.UNFINISHED,
        f"{said}, though nothing grows like a power of the time that is left (the largest coordinate or velocity is "
        f"{size:.3g}), and time stepping does not converge beyond it either. Look at the forces near this state.",
    )


def chattering(driver: Driver, moment: Moment, happened: list[str]) -> Stop:
    """Return what is said where events follow each other without any time passing."""
    counts = Counter(happened)
    listed = ", ".join(f"{what} ({count})" if count > 1 else what for what, count in counts.most_common(12))
    said = f"{len(happened)} events at t = {moment.t:.12g}: {listed}"
    bridge = bridge_from(driver, moment)
    return unfinished(said, bridge) if bridge is not None else Stop(MotionStatus.CHATTER, f"{said}.")


def unfinished(said: str, bridge: Bridge) -> Stop:
    """Return the stop of a motion that time stepping can carry on."""
    reason = f"{said}. {CURE} (halving its step to {bridge.step:.1e} s changes {bridge.error:.0e} of the sizes)."
    return Stop(MotionStatus.UNFINISHED, reason, passable=True)


def bridge_from(driver: Driver, moment: Moment) -> Bridge | None:
    """Return time stepping over the next stretch if it converges there, None if not.

    It starts before the moment by as much as it goes beyond it: what happens in between must be met with every step.
    """
    until, begun = driver.request.until, driver.begun
    window = WINDOW * (moment.t - begun) if moment.t > begun else WINDOW * (until - moment.t)
    window = min(window, until - moment.t)
    if window <= 1e3 * np.spacing(abs(moment.t) + window):
        return None
    start = _earlier(driver, moment, window)
    parts = 2 if start is not moment else 1
    runs = [walked(driver, start, moment.t + window - start.t, STEPS * parts * k) for k in (1, 2, 4)]
    if any(run is None for run in runs):
        return None
    coarse, middle, fine = (run[1] for run in runs if run is not None)
    error = apart(driver, middle, fine)
    if error > CONVERGED or error > 0.75 * max(apart(driver, coarse, middle), 1e-9):
        return None
    return Bridge(window, window / (4 * STEPS), error)


def _earlier(driver: Driver, moment: Moment, window: float) -> Moment:
    """Return a state of the motion a window before a moment; the moment itself where there is none."""
    pieces = tuple(driver.record.pieces)
    if not pieces or float(pieces[0].t[0]) > moment.t - window or not any(len(piece.dense) for piece in pieces):
        return moment
    y = states_at(pieces, np.array([moment.t - window]))[0]
    return Moment(moment.t - window, y[: len(moment.q)].copy(), y[len(moment.q) :].copy())


def walked(driver: Driver, moment: Moment, window: float, count: int) -> tuple[Walk, Steps] | None:
    """Return a number of steps over a window; None where they don't get to its end."""
    walk = Walk(driver.ground, moment, moment.t + window, window / count, shortcut=False)
    with np.errstate(all="ignore"):
        steps, stop = walk.run()
    if stop.status is MotionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    spend(len(steps.t) - 1)  # a budget that is spent ends the motion, and says nothing of these steps
    finite = np.isfinite(steps.q).all() and np.isfinite(steps.v).all()
    return (walk, steps) if stop.status is MotionStatus.REACHED and finite else None


def apart(driver: Driver, one: Steps, other: Steps) -> float:
    """Return the largest difference of two ends, relative to the sizes of positions and velocities."""
    worst = 0.0
    for name in ("q", "v"):
        rows = np.abs(getattr(other, name)).max(axis=0)
        for piece in driver.record.pieces[-1:]:
            rows = np.maximum(rows, np.abs(getattr(piece, name)).max(axis=0))
        size = np.where(rows > 0, rows, max(float(rows.max(initial=0.0)), 1e-300))
        off = np.abs(getattr(one, name)[-1] - getattr(other, name)[-1])
        worst = max(worst, float((off / size).max(initial=0.0)))
    return worst


def _since_jump(driver: Driver) -> list[MotionPiece]:
    """Return the pieces since the last jump of the velocity."""
    parts: list[MotionPiece] = []
    for piece in reversed(driver.record.pieces):
        parts.insert(0, piece)
        if piece.jump:
            break
    return parts


def _last_rows(driver: Driver) -> tuple[Array, Array, Array, Array]:
    """Return times, positions, velocities and accelerations since the last jump, ever denser towards the end."""
    parts = _since_jump(driver)
    if not parts:
        none = np.zeros((0, len(driver.moment.q)))
        return np.zeros(0), none, none, none
    t, q, v, a = (np.concatenate([getattr(one, name) for one in parts]) for name in "tqva")
    kept = np.unique(np.append(np.searchsorted(t, _towards(t)), np.arange(max(len(t) - 20, 0), len(t))))
    kept = kept[kept < len(t)]
    kept = kept[np.concatenate([[True], np.diff(t[kept]) > 0])]
    return t[kept], q[kept], v[kept], a[kept]


def _towards(t: Array) -> Array:
    """Return times whose distances from the last one shrink by a steady factor."""
    left = np.geomspace(max(float(t[-1] - t[0]), 1e-300), max(float(np.spacing(t[-1])), 1e-300), ROWS)
    return np.asarray(t[-1] - left)


def _fastest(driver: Driver) -> tuple[str, Growth | None]:
    """Return the velocity or slip that grows most like a power of the time that is left, in words, and the law."""
    t, q, v, a = _last_rows(driver)
    if not len(t):
        return "", None
    system, table = driver.ground.model.system, driver.ground.table
    series = [(f"'{item.name}'", v[:, i], a[:, i]) for i, item in enumerate(system.velocities)]
    if any(place.slips for place in table.places):
        terms = RowSource(driver.ground).terms(t, q, v)
        for place in table.places:
            for slip in place.slips:
                rate = np.einsum("ib,bi->b", terms.slip_rows[slip], a) - terms.slip_bias[slip]
                series.append((f"the slip of '{place.name}'", terms.slip[slip], rate))
    best: tuple[float, str, Growth | None] = (0.0, "", None)
    for what, x, rate in series:
        found = growth(t, x, rate)
        if found is not None and abs(float(x[-1])) > best[0]:
            best = (abs(float(x[-1])), what, found)
    return best[1], best[2]


def growing_reaction(driver: Driver, decision: Decision) -> str:
    """Return which reaction grows like a power of the time that is left, and how, in words; empty where none does."""
    parts, held = _since_jump(driver), decision.held
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
    table = driver.ground.table
    with np.errstate(all="ignore"):
        solved = solve_mode(table, RowSource(driver.ground).terms(t, q, v), held.mode)
    best: tuple[float, str, Growth | None] = (0.0, "", None)
    for j in held.mode.held:
        x = solved.normal[j]
        with np.errstate(all="ignore"):  # differences of logarithms are exact for powers
            rate = -x * np.gradient(np.log(np.abs(x)), np.log(left)) / left
        found = growth(t, x, rate)
        if found is not None and abs(float(x[-1])) > best[0]:
            best = (abs(float(x[-1])), table.places[table.of_normal(j)].name, found)
    return f"the reaction of '{best[1]}' {best[2]}" if best[2] is not None else ""


def _no_reaction(driver: Driver, moment: Moment, decision: Decision) -> bool:
    """Say whether friction that slides leaves no reaction at a moment."""
    held = decision.held
    if held is None or not held.mode.sliding:
        return False
    known = _touching(driver.ground, moment, decision)
    return driver.decide(known, decision.labels).stop is MotionStatus.PARADOX


def _touching(ground: Ground, moment: Moment, decision: Decision) -> Moment:
    places = ground.table.places
    touching = {i for i, label in enumerate(decision.labels) if label is not Mode.OPEN and places[i].one_sided}
    return moment.but(touching=frozenset(touching), resting=frozenset(), tied=frozenset())
