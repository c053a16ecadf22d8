"""Ensembles: many motions one by one, or, where they are smooth and many, all at once to their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.coefficients import sound_laws
from zwang._compile.given_values import Inputs
from zwang._compile.masses import inertia_of
from zwang._declare.contact_table import table_of
from zwang._declare.switched import switchable
from zwang._declare.switches import Event, Reaction
from zwang._kernels import SparseTerms
from zwang._kernels.lane_kernels import LaneEnds, SideBySide
from zwang._numerics.budget import Meter, Spent, spend, spending, steps_left
from zwang._numerics.contact.admission import Standing, admit
from zwang._numerics.linear.inertia import sound
from zwang._numerics.sizes import LEAST, CoordinateSizes, sizes_at
from zwang._numerics.tolerances import Tolerances
from zwang._results.ensemble import Ensemble, EnsembleStatus, LaterMotions
from zwang._results.motion import Motion, MotionStatus
from zwang._simulate.active_set import ADMITTED
from zwang._simulate.mode_labels import mode_of_piece
from zwang._simulate.options import MotionOptions
from zwang._simulate.stretch import SHARPEST, STRICTER
from zwang.errors import StateError

Array = NDArray[np.float64]
MANY = 32
"""Motions below which they are computed one by one."""
OVERHEAD = 250
"""What a motion by itself costs beside its steps, in steps."""


def ensemble(
    model: Model, inputs: Inputs, options: MotionOptions, move: Callable[[Model, Inputs, MotionOptions], Motion]
) -> Ensemble:
    """Return the motions from each state of a batch; `move` makes one of them."""
    with spending(options.budget) as meter:
        found = _motions(model, inputs, options, move, meter)
        if len(found) == inputs.q.shape[1]:
            return found
        return replace(found, residual=None, reason=meter.over)  # residuals are computed when they are asked for


def _motions(
    model: Model,
    inputs: Inputs,
    options: MotionOptions,
    move: Callable[[Model, Inputs, MotionOptions], Motion],
    meter: Meter,
) -> Ensemble:
    done: dict[int, Motion] = {}

    def one(k: int) -> Motion:
        try:
            motion = done.get(k) or move(model, inputs.single(k), options.of_start(k))
            if motion.status is not MotionStatus.INTERRUPTED:
                done[k] = motion
            return motion
        except StateError as error:
            place = ", ".join(str(int(i)) for i in np.unravel_index(k, inputs.shape))
            raise StateError(f"{error} (entry [{place}] of the arrays)") from None

    first = one(0)
    if first.status is not MotionStatus.INTERRUPTED:
        acting = model.switched(options.on)
        fast = side_by_side(inertia_of(acting, inputs.single(0)).moving, inputs, options, one)
        if fast is not None:
            return fast
    motions = [first]
    while len(motions) < inputs.q.shape[1] and motions[-1].status is not MotionStatus.INTERRUPTED and not meter.over:
        motions.append(one(len(motions)))
    reached = all(motion.status is MotionStatus.REACHED for motion in motions)
    complete = len(motions) == inputs.q.shape[1]
    return Ensemble(
        status=EnsembleStatus.REACHED if reached and complete else EnsembleStatus.MIXED,
        residual=None,
        provenance=motions[0].provenance,
        name=model.system.name,
        shape=inputs.shape if complete else (len(motions),),
        motions=tuple(motions),
    )


def side_by_side(model: Model, inputs: Inputs, options: MotionOptions, one: Callable[[int], Motion]) -> Ensemble | None:
    """Return the ensemble of a batch; None where its motions are to be computed one by one.

    Parameters
    ----------
    model, inputs, options
        Of the batch.
    one : callable
        Returns the motion with a number, computed by itself.
    """
    count = inputs.q.shape[1]
    if options.driven is not None and options.driven.changing:
        return None
    switches = options.on is not None or bool(switchable(model.system))
    smooth = table_of(model.system).smooth and options.method != "timestepping" and not switches
    if count < MANY or not smooth or not all(map(_only_seen, options.events)):
        return None
    first = one(0)
    stops = tuple((event.expr, event.direction) for event in options.events if event.stop)
    lanes = _lanes(model, first, count, stops)
    if lanes is None:
        return None
    sizes, tol = _admit(model, inputs, one, options.scales), max(STRICTER * options.tol, SHARPEST)
    move = partial(_moved, lanes, inputs, tol, sizes, options)
    found = move(options.until)
    known, cut = {0: first}, found.interrupted >= 0
    for k in map(int, np.flatnonzero(~found.reached)):
        if cut and k >= found.interrupted - lanes.width:
            break
        motion = one(k)
        if motion.status is MotionStatus.INTERRUPTED:
            cut = True
            break
        known[k] = motion
    total = _whole(found, known) if cut else count
    statuses = ["REACHED"] * total
    for k, motion in known.items():
        if k < total:
            statuses[k] = motion.status.name
    return Ensemble(
        status=EnsembleStatus.REACHED if set(statuses) == {"REACHED"} and total == count else EnsembleStatus.MIXED,
        residual=None,
        provenance=first.provenance,
        name=model.system.name,
        shape=inputs.shape if total == count else (total,),
        motions=LaterMotions(
            total,
            one,
            known,
            statuses,
            found.t,
            np.concatenate([found.q, found.v]),
            partial(_at, lanes, inputs, tol, sizes, options.until),
        ),
    )


def _only_seen(event: Event) -> bool:
    """Whether an event changes nothing in a motion but where it ends, and the state says when it happens."""
    return not (event.then or event.kind or event.expr.has(Reaction))


def _lanes(model: Model, first: Motion, count: int, stops: Sequence[tuple[Any, int]]) -> SideBySide | None:
    """Return the lanes of the mode of a motion, where it has one mode throughout and they are worth their while."""
    piece, steps = first.pieces[0], sum(len(piece.t) - 1 for piece in first.pieces)
    alike = all(mode_of_piece(other) == mode_of_piece(piece) for other in first.pieces)
    smooth = first.status is MotionStatus.REACHED and alike and all(event.kind == "user" for event in first.events)
    if not smooth or piece.undetermined or piece.found or not steps:
        return None
    if count * (steps + 1 + OVERHEAD) < model.kernels.lanes_from:
        return None
    return model.kernels.lanes(mode_of_piece(piece), stops)


def _admit(model: Model, inputs: Inputs, one: Callable[[int], Motion], scales: CoordinateSizes | None) -> Array:
    """Let a state that violates its constraints be refused, with its place, as it would be by itself.

    Returns the characteristic sizes (3, B) of lengths, speeds and spins; 1 where nothing gives one.
    """
    n, start, sizes = len(model.system.coordinates), 0, []
    for part in inputs.portions(n * (n + len(model.system.constraints))):
        terms = model.kernels.terms(part.t, part.q, part.v, part.params)
        good = np.isfinite(terms.force).all(axis=0)
        if not isinstance(terms, SparseTerms):
            good &= sound(np.moveaxis(terms.mass, -1, 0))
        good &= sound_laws(model.system, terms.bounds)
        tolerances = Tolerances(ADMITTED, ADMITTED, ADMITTED)
        found = admit(table_of(model.system).arrays, terms, part.q, part.v, tolerances)
        good &= (found.standing == Standing.ACTIVE).all(axis=0)
        for k in np.flatnonzero(~good):
            one(start + int(k))
        turns = table_of(model.system).arrays.turns
        own = sizes_at(terms, turns, part.q, part.v)
        sizes.append(np.stack(own if scales is None else own.but(scales, turns)))
        start += part.t.size
    every = np.concatenate(sizes, axis=1)
    return np.where(every > LEAST, every, 1.0)


def _moved(
    lanes: SideBySide, inputs: Inputs, tol: float, sizes: Array, options: MotionOptions, until: float
) -> LaneEnds:
    """Return where the motions are at a time."""
    starts, ends = inputs.t, np.full(inputs.q.shape[1], until)
    progress = options.progress
    between = None if progress is None else (lambda begun: progress(float(starts[min(begun, starts.size) - 1])))
    found = lanes.run(starts, inputs.q, inputs.v, inputs.params, ends, tol, between, most=steps_left(), sizes=sizes)
    with suppress(Spent):  # what was reached stands; the meter remembers
        spend(int(found.attempts.sum()))
    return found


def _at(lanes: SideBySide, inputs: Inputs, tol: float, sizes: Array, until: float, times: Array) -> Array:
    """Return the states at ascending times, found side by side: (times, 2n, motions), nan where there is none."""
    within = times <= until
    found = np.full((times.size, 2 * inputs.q.shape[0], inputs.q.shape[1]), np.nan)
    found[within] = lanes.sampled(inputs.t, inputs.q, inputs.v, inputs.params, times[within], tol, sizes=sizes)
    return found


def _whole(found: LaneEnds, known: dict[int, Motion]) -> int:
    """Return how many motions, from the first one on, were done when the computation was interrupted."""
    done = found.reached.copy()
    done[list(known)] = True
    return len(done) if done.all() else int(np.argmin(done))
