"""Singular points on the way of time stepping: steps pass them without a word, so their rows are looked over.

The steps know no branches: where the rows become dependent between two of them they go on with the velocity that they
have, which is straight on as long as it doesn't turn. What is told is told to within a step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.independence import Independence
from zwang._kernels.stretch_output import Stretch
from zwang._numerics.contact.modes import Mode, Side
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionEvent
from zwang._simulate.ground import Ground
from zwang._simulate.mode_labels import hold
from zwang._simulate.moment import Stop
from zwang._simulate.nearness import lowest_between, rows_held, troughs
from zwang._simulate.stretch import moving_for
from zwang._simulate.timestepping import Steps

Array = NDArray[np.float64]
BESIDE = 3
"""Steps from a place, before and after it, where the rows are compared with those there."""
FALLS = 0.1
"""Part to which their least singular value falls where the motion passes a singular point."""
TURNS = 20.0
"""How often the change of the velocity in the steps before goes into that in a step that leaves its branch."""


@dataclass(frozen=True)
class Looked:
    """What is left of the steps, why they end, and the passages."""

    steps: Steps
    stop: Stop
    events: tuple[MotionEvent, ...]


def look_over(ground: Ground, steps: Steps, dense: Array, stop: Stop, rule: str) -> Looked:
    """Return the steps up to where they have to stop, and the singular points on their way.

    Parameters
    ----------
    ground : Ground
    steps : Steps
    dense : (k, 7, 2n) array
        Their dense output.
    stop : Stop
        Why they ended.
    rule : {'stop', 'straight'}
    """
    events: list[MotionEvent] = []
    for time in _passages(ground, steps, dense):
        events.append(MotionEvent(time, "singular", None, "", {"reason": "the rank of the rows drops"}))
        k = int(np.searchsorted(steps.t, time)) - 1
        turned = rule == "straight" and _turns(steps, k)
        if rule == "stop" or turned:
            why = "at_singular= says how to go on." if not turned else "the steps left their direction there."
            reason = f"At t = {time:.6g}, to within a step, the motion is at a singular point: {why}"
            return Looked(first_steps(steps, k), Stop(MotionStatus.SINGULAR, reason), tuple(events))
    return Looked(steps, stop, tuple(events))


def _passages(ground: Ground, steps: Steps, dense: Array) -> list[float]:
    """Return when the bilateral rows on positions become dependent."""
    held = [p.normal for p in ground.table.places if p.side is Side.BILATERAL and p.on_position]
    if not held or not len(dense) or len(steps.t) < 2 * BESIDE + 2:
        return []
    labels = tuple(Mode.CLOSED if p.normal in held else Mode.OPEN for p in ground.table.places)
    mode = hold(ground.table, labels, ground.terms(float(steps.t[0]), steps.q[0], steps.v[0])).mode
    held = list(mode.held)  # of rows that depend on others everywhere, those that don't
    moving = moving_for(ground.model, mode)
    measure = Independence.of(moving, ground.params, np.ones(moving.kernels.surfaces))
    if measure is None:
        return []
    whole = Stretch(
        steps.t, steps.q, steps.v, steps.v, dense, "REACHED", (), 0.0, 0.0, np.zeros(0), 0, 0
    )  # fmt: skip
    times, values = measure.along(whole)

    def position(time: float) -> Array:
        return whole.at(time)[0]

    def least(time: float, lengths: Array | None = None) -> tuple[float, Array]:
        rows = rows_held(ground, tuple(held), time, position(time))
        lengths = rows.lengths if lengths is None else lengths
        return rows.least(lengths), lengths

    found = []
    for peak, k, passed in troughs(values):
        if not passed or not 0 < k < len(values) - 1:
            continue
        around = slice(max(k - 1, 0), k + 2)
        ends = min(float(values[k - 1]), float(values[k + 1])), float(values[peak])
        time = lowest_between(measure, position, times[around], float(values[k]), ends)[0]
        step = int(np.clip(np.searchsorted(steps.t, time) - 1, BESIDE, len(steps.t) - 2 - BESIDE))
        before, lengths = least(float(steps.t[step - BESIDE]))
        after = least(float(steps.t[step + 1 + BESIDE]), lengths)[0]
        if least(time, lengths)[0] <= FALLS * min(before, after):
            found.append(time)
    return found


def _turns(steps: Steps, k: int) -> bool:
    """Say whether the velocity changes in a step as it did in none before it."""
    changes = np.abs(np.diff(steps.v[max(k - 10, 0) : k + 2], axis=0)).max(axis=1, initial=0.0)
    usual = float(changes[:-1].max(initial=0.0)) if len(changes) > 1 else 0.0
    speed = float(np.abs(steps.v[k]).max(initial=0.0))
    return bool(changes[-1] > TURNS * usual + 1e-9 * speed)


def first_steps(steps: Steps, count: int) -> Steps:
    """Return the first steps."""
    rows = {name: getattr(steps, name)[: count + 1] for name in ("t", "q", "v")}
    return replace(steps, **rows, **{name: getattr(steps, name)[:count] for name in ("impulses", "rates", "closing")})
