"""Time stepping as a `Motion`: labels, pieces and events of the steps."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.given_values import Inputs
from zwang._numerics.budget import Spent, spend
from zwang._numerics.contact.modes import PULLS, Mode, Side, words_of
from zwang._results.motion import Motion
from zwang._results.motion_parts import MotionEvent, MotionPiece
from zwang._simulate.active_set import admit
from zwang._simulate.ground import Ground, sizes_within
from zwang._simulate.mode_labels import change_of, full_mode
from zwang._simulate.motion_rows import StepRows, motion_of
from zwang._simulate.options import MotionOptions
from zwang._simulate.step_passages import look_over
from zwang._simulate.timestepping import Steps, Walk
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

SLOW = 1e-9
"""Slips and rates below this, relative to their largest and their least sizes, are zero."""
PART, FEWEST = 3e-3, 200
"""Where no step is given: the part of a characteristic time, or less so that there are at least so many steps."""


def motion_by_steps(model: Model, inputs: Inputs, options: MotionOptions) -> Motion:
    """Return a motion by time stepping."""
    ground = Ground.of(model, inputs, options.driven, options.scales)
    moment = admit(ground, inputs)
    walk = Walk(ground, moment, options.until, length_of_steps(ground, options.step, options.until))
    steps, stop = walk.run(options.progress)
    with suppress(Spent):  # what was walked stands; other motions of an ensemble may find nothing left
        spend(len(steps.t) - 1, (len(steps.t) - 1) * walk.kept)
    looked = look_over(ground, steps, step_dense(steps), stop, options.at_singular)
    steps, stop = looked.steps, looked.stop
    labels = step_labels(ground, walk, steps)
    return motion_of(
        StepRows(ground, walk.layout, steps),
        options,
        stop,
        step_pieces(ground, steps, labels),
        [*options.starts, *step_events(ground, walk, steps, labels), *looked.events],
        steps.drift,
        {"step": walk.h},
    )


def check_rules(name: str, options: MotionOptions) -> None:
    """Refuse what time stepping can't follow."""
    if options.impact not in (None, "newton"):
        raise DeclarationError(
            f"{name}: impact='{options.impact}' was given, but time stepping has Newton's restitution, contact by "
            "contact. Leave impact= out, or use method='events'."
        )
    if options.at_singular not in ("stop", "straight"):
        given = "a rule" if callable(options.at_singular) else f"'{options.at_singular}'"
        raise DeclarationError(
            f"{name}: at_singular= was given {given}, but time stepping knows no branches: it stops at a singular "
            "point or goes straight on. Use at_singular='stop' or 'straight', or method='events'."
        )
    for argument, rule in (("at_choice", options.at_choice), ("at_paradox", options.at_paradox)):
        if rule != "stop":
            given = "a rule" if callable(rule) else f"'{rule}'"
            raise DeclarationError(
                f"{name}: {argument}= was given {given}, but time stepping takes the impulses that its sweeps find, "
                f"without a list of others. Leave {argument}= out, or use method='events'."
            )
    if options.events:
        whose = "the system has events" if any(one.then for one in options.events) else "events= was given"
        raise DeclarationError(
            f"{name}: {whose}, but time stepping locates no events. Use method='events', or look for sign changes in "
            "the rows of the motion."
        )


def length_of_steps(ground: Ground, given: float | None, until: float) -> float:
    """Return the length of the steps: the one given, or a part of the time in which something goes its own size."""
    if given is not None:
        return given
    assert ground.start is not None
    span = until - ground.start[0]
    if not span > 0:
        return 1.0
    sizes = sizes_within(ground, until)
    return min(PART * float((sizes.length / sizes.speed).min(initial=np.inf)), span / FEWEST)


def step_labels(ground: Ground, walk: Walk, steps: Steps) -> Labels:
    """Return the label of each constraint in each step, (k, c) numbers of `Mode`."""
    count = len(steps.impulses)
    floors, largest = walk.walker.least_rates, np.abs(steps.rates).max(axis=0, initial=0.0)
    least = np.where(floors > 0, floors + largest, largest.max(initial=0.0))
    out = np.empty((count, len(ground.table.places)), dtype=np.int64)
    for c, place in enumerate(ground.table.places):
        first = int(walk.layout.first[c])
        out[:, c] = Mode.CLOSED if place.normal >= 0 else Mode.STICK
        at = first + (place.normal >= 0)
        if place.slips:
            slips = slice(at, at + len(place.slips))
            out[:, c] = _friction_labels(steps.rates[:, slips], SLOW * float(least[slips].max()))
        if place.side is Side.BILATERAL and place.slips:
            out[steps.impulses[:, first] < 0, c] += PULLS
        if place.one_sided:
            rebounds = steps.closing[:, c] & (steps.rates[:, first] > SLOW * least[first])
            out[(steps.impulses[:, first] <= 0) | rebounds, c] = Mode.OPEN
    for c, place in enumerate(ground.table.places):
        if place.side is Side.BOUND and place.of:
            loads = out[:, [ground.table.of_normal(normal) for normal in place.of]]
            out[(loads == Mode.OPEN).all(axis=1), c] = Mode.OPEN
    return out


def _friction_labels(slip: Array, slow: float) -> Labels:
    if slip.shape[1] == 1:
        sign = np.where(np.abs(slip[:, 0]) <= slow, 0, np.sign(slip[:, 0])).astype(int)
        return np.asarray(np.array([Mode.STICK, Mode.SLIP_PLUS, Mode.SLIP_MINUS])[sign])
    return np.where(np.hypot(*slip.T) <= slow, Mode.STICK, Mode.SLIP)


def step_pieces(ground: Ground, steps: Steps, labels: Labels) -> tuple[MotionPiece, ...]:
    """Cut the steps where a label changes."""
    count, n = len(labels), steps.q.shape[1]
    if count == 0:
        none = words_of((Mode.OPEN,) * len(ground.table.places))
        return (MotionPiece(steps.t, steps.q, steps.v, np.full((1, n), np.nan), np.zeros((0, 7, 2 * n)), none, ()),)
    numbers = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1) if labels.size else np.zeros(count)
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), count]
    a = np.diff(steps.v, axis=0) / np.diff(steps.t)[:, None]
    a[steps.closing.any(axis=1)] = np.nan
    pieces = []
    for start, end in pairwise(cuts):
        modes = tuple(Mode(int(label)) for label in labels[start])
        mode = full_mode(ground.table, modes)
        rows = slice(start, end + 1)
        pieces.append(
            MotionPiece(
                steps.t[rows],
                steps.q[rows],
                steps.v[rows],
                np.concatenate([a[start:end], a[end - 1 : end]]),
                step_dense(steps, start, end),
                words_of(modes),
                mode.held,
                mode.sticking,
                mode.sliding,
                mode.pulling,
            )
        )
    return tuple(pieces)


def step_dense(steps: Steps, start: int = 0, end: int | None = None) -> Array:
    """Between the ends of a step the velocity is linear and the position its integral, as in the scheme itself."""
    end = len(steps.impulses) if end is None else end
    n, rows = steps.q.shape[1], slice(start, end + 1)
    out = np.zeros((end - start, 7, 2 * n))
    out[:, 0, :n], out[:, 0, n:] = np.diff(steps.q[rows], axis=0), np.diff(steps.v[rows], axis=0)
    out[:, 1, :n] = -0.5 * np.diff(steps.t[rows])[:, None] * out[:, 0, n:]
    return out


def step_events(ground: Ground, walk: Walk, steps: Steps, labels: Labels) -> list[MotionEvent]:
    """Return impacts and changes of labels, at the middle of the step in which they happen."""
    middle = 0.5 * (steps.t[:-1] + steps.t[1:])
    found: list[tuple[float, int, MotionEvent]] = []
    for c, place in enumerate(ground.table.places):
        first = int(walk.layout.first[c])
        for k in np.flatnonzero(steps.closing[:, c] & (steps.impulses[:, first] > 0)):
            details = {
                "impulses": {place.name: float(steps.impulses[k, first])},
                "before": steps.v[k].copy(),
                "after": steps.v[k + 1].copy(),
            }
            found.append((float(middle[k]), 0, MotionEvent(float(middle[k]), "impact", place.name, "", details)))
        own = labels[:, c]
        for k in np.flatnonzero(own[1:] != own[:-1]) + 1:
            kind = change_of(place, Mode(int(own[k - 1])), Mode(int(own[k])))
            if kind is not None:
                found.append((float(middle[k]), 1, MotionEvent(float(middle[k]), kind, place.name)))
    return [event for _, _, event in sorted(found, key=lambda item: item[:2])]
