"""Steps of a motion in one mode, until something happens: the smooth part of it.

Beside what the compiled steps do, slips in planes that stop are led to rest, a mode that leaves no freedom holds its
state exactly, and steps end before a coefficient of friction turns negative.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.coefficients import laws_vary
from zwang._declare.switches import Event
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import Moving, moving
from zwang._kernels.stretch_output import FIRED, INTERRUPTED, PAUSED, REACHED, STEP_TOO_SMALL, KnownState, Stretch
from zwang._numerics.budget import spend, steps_left
from zwang._numerics.contact.modes import Mode, words_of
from zwang._numerics.contact.table import ContactPlace
from zwang._numerics.linear.projection import landed
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.grip import LettingGo, letting_go
from zwang._simulate.ground import Ground, first_unsound
from zwang._simulate.moment import Context, Decision, Dipped, Labels, Moment, Transition, Watch, keeping
from zwang._simulate.nearness import Dip
from zwang._simulate.options import ONE
from zwang._simulate.watch import bands_of, branches_of, sides_of, stands

Array = NDArray[np.float64]
CHUNK = 2000
"""Steps after which a stretch is handed over."""
FEW = 200
"""The same where slips in planes are looked at for coming to rest."""
STRICTER = 0.02
"""What a step may err, as a part of what the motion may: errors of many steps add up, and order 8 makes this cheap."""
SHARPEST = 1e-15  # a double's precision, some roundings apart
SLOW = 1e-7
"""Part of the largest speed so far from which a slip is brought to rest in one step."""
ALONG, SLOWEST = 0.999, 1e-10
"""Part of its change that is along a slip where it stops while others go on, and the speed below which that is no
matter."""
SOON = 1e-3
"""Part of a stretch within which a slow slip comes to rest."""
LONG = 10_000
"""Steps after which generated code pays: it takes half a second to compile, a step 5 us in it and 30 us in a tape."""

SMALL = 13
"""Unknowns up to which it is compiled at all: straight-line code of many takes long, and modes are many."""


def watched_expressions(events: tuple[Event, ...]) -> tuple[Any, ...]:
    """Return what is watched for the user's events: their expressions; one that waits for a kind has none."""
    return tuple(ONE if event.kind else event.expr for event in events)


def moving_for(model: Model, mode: ActiveSet, events: tuple[Event, ...] = ()) -> Moving:
    """Return the steps of a mode, with the expressions of the user's events watched."""
    watched = watched_expressions(events)
    taped = moving(model, mode, watched, compiled=False)
    unknowns = len(model.system.coordinates) + len(mode.held) + len(mode.sticking)
    return moving(model, mode, watched) if taped.tried >= LONG and unknowns <= SMALL else taped


@dataclass(frozen=True, eq=False)
class MadeSteps:
    """Steps that are not recorded yet.

    Attributes
    ----------
    stretch : Stretch
    moving : Moving
        What made them.
    moment : Moment
        At their end.
    unsound : str
        Why they end before a coefficient that makes no sense, in words; empty where they don't.
    """

    stretch: Stretch
    moving: Moving
    moment: Moment
    unsound: str = ""

    def transition(self, decision: Decision) -> Transition:
        """Return them as they are recorded."""
        return Transition(self.moment, decision, pieces=pieces_in(decision, self.stretch), drift=self.stretch.drift)


def pay(context: Context, found: Stretch) -> None:
    """Pay for the steps of a stretch."""
    spend(len(found.t) - 1, (len(found.t) - 1) * context.kept)


def advance(
    context: Context,
    moment: Moment,
    decision: Decision,
    until: float | None = None,
    *,
    unwatched: Collection[Watch] = (),
) -> MadeSteps:
    """Make steps from a moment in a mode, to the end or to a time before it; some watches may be left out."""
    steps = moving_for(context.model, decision.mode.mode, context.options.events)
    sides = sides_of(context, steps, decision, moment)
    sides[[watch in unwatched for watch in steps.watch_names]] = 0.0
    planes = turning(context, decision.labels)
    rest = stands(context, decision, moment)
    start = moment.but(v=np.zeros(len(moment.v))) if rest else moment
    found = steps.advance(
        start.t,
        start.q,
        start.v,
        context.params,
        context.until if until is None else min(until, context.until),
        max(STRICTER * context.options.tol, SHARPEST),
        sides,
        max_steps=min(CHUNK if not planes else FEW, steps_left(context.kept)),
        known=KnownState(
            step=moment.memory.step,
            bands=bands_of(context, steps, decision, start),
            branches=branches_of(context, steps, start),
            sizes=step_sizes(context, moment),
        ),
        between=context.options.progress,
    )
    if planes:
        fastest = np.maximum(moment.memory.sizes[1], np.abs(found.v).max(axis=0))  # a motion from rest has none before
        found = _slowed(context, decision, found, steps.watch_names, fastest)
    if rest:
        found = _at_rest(found)
    gone = letting_go(context, moment, decision, found)
    if gone is not None and gone.time > moment.t:
        return _until_let_go(context, moment, decision, gone)
    if gone is not None:
        found = replace(first_steps(found, 0), status=FIRED, fired=())
    unsound = ""
    if laws_vary(context.model.system):
        found, unsound = _until_unsound(context, found)
    rows = zip(moment.memory.sizes, (found.q, found.v, found.a), strict=True)
    changes: dict[str, Any] = {"sizes": tuple(np.maximum(size, np.abs(row).max(axis=0)) for size, row in rows)}
    if found.next_step > 0:
        changes["step"] = float(found.next_step)
    end = moment.but(t=float(found.t[-1]), q=np.array(found.q[-1]), v=np.array(found.v[-1]))
    end = end.but(ahead=None if gone is None else gone.ahead)
    return MadeSteps(found, steps, end.recalling(**changes), unsound)


def _until_let_go(context: Context, moment: Moment, decision: Decision, gone: LettingGo) -> MadeSteps:
    """Return the steps up to the instant at which contacts let go; nothing that is watched fires there."""
    made = advance(context, moment, decision, until=gone.time)
    if made.stretch.status != REACHED or made.moment.ahead is not None:
        return made
    return replace(
        made, stretch=replace(made.stretch, status=FIRED, fired=()), moment=made.moment.but(ahead=gone.ahead)
    )


def step_sizes(context: Context, moment: Moment) -> Array:
    """Return the sizes (2 n,) that errors of steps are relative to: those of the start, and the largest so far."""
    far, fast, _ = moment.memory.sizes
    far = np.where(context.table.arrays.turns, 0.0, far)
    return np.asarray(np.maximum(np.concatenate(context.step_sizes), np.concatenate([far, fast])))


def pieces_in(decision: Decision, found: Any) -> tuple[MotionPiece, ...]:
    """Return steps (with t, q, v, a, dense) as the piece that is recorded of them; none where no time has passed."""
    if len(found.t) < 2:
        return ()
    held = decision.mode
    return (
        MotionPiece(
            np.asarray(found.t),
            np.asarray(found.q),
            np.asarray(found.v),
            np.asarray(found.a),
            np.asarray(found.dense),
            words_of(decision.labels),
            held.mode.held,
            held.mode.sticking,
            held.mode.sliding,
            held.mode.pulling,
            decision.found,
            held.undetermined,
            shared=held.mode.shared,
            spare=held.mode.spare,
        ),
    )


def first_steps(found: Any, count: int) -> Any:
    """Return the first steps of a stretch or of a piece."""
    rows = {name: getattr(found, name)[: count + 1] for name in ("t", "q", "v", "a")}
    return replace(found, **rows, dense=found.dense[:count])


def turning(ground: Ground, labels: Labels) -> list[ContactPlace]:
    """Return the constraints that slide in a plane."""
    return [
        place
        for place, label in zip(ground.table.places, labels, strict=True)
        if len(place.slips) > 1 and label.plain is Mode.SLIP
    ]


def _slowed(ground: Ground, decision: Decision, found: Stretch, names: tuple[Watch, ...], speeds: Array) -> Stretch:
    """Return a stretch that ends where a slip in a plane comes to rest; the stretch itself where none does.

    The speed of such a slip has no sign to change: it falls to zero with a finite slope and would stay there as noise.
    So the last bit is done by hand: from a speed that is small enough for the deceleration to be constant, straight to
    rest. Feet of one body stop together, and on the way each may pass close by rest without stopping: one alone stops
    where it slows down along its own direction.
    """
    places = turning(ground, decision.labels)
    terms = ground.many(found.t, found.q, found.v)
    slips = np.array([place.slips for place in places])
    slip = terms.slip[slips]
    speed = np.sqrt((slip**2).sum(axis=1))
    change = np.einsum("psib,bi->psb", terms.slip_rows[slips], found.a) - terms.slip_bias[slips]
    fall = -(slip * change).sum(axis=1) / np.where(speed > 0, speed, 1.0)
    rate = np.sqrt((change**2).sum(axis=1))
    size = np.abs(terms.slip_rows[slips, :, 0]).sum(axis=1) @ speeds
    small = speed <= SLOW * size[:, None]
    small[:, 0] = False
    if any(names[k][0] == "surface" for k in found.fired):  # on it the slip may be that of its other side
        small[:, -1] = False
    straight = (fall > 0) & ((fall >= ALONG * rate) | (speed <= SLOWEST * size[:, None]) | (len(places) == 1))
    # A slip that has just started is slow, too, and what its speed loses is rounding: it would take long to stop. But
    # where steps end, something does.
    left = speed / np.maximum(np.maximum(fall, 0.1 * rate), 1e-300)
    soon = (left <= SOON * (found.t[-1] - found.t[0])) | (found.status == STEP_TOO_SMALL)
    straight &= soon
    together = small.all(axis=0) & ((speed * fall).sum(axis=0) > 0) & soon.all(axis=0)
    ends = np.flatnonzero((small & straight).any(axis=0) | together)
    if not len(ends):
        return found
    row = int(ends[0])
    stops = np.ones(len(places), dtype=bool) if together[row] else (small & straight)[:, row]
    if not together[row]:
        stops[int(np.argmax(stops)) + 1 :] = False
    chosen = [place for place, stop in zip(places, stops, strict=True) if stop]
    return _to_rest(ground, decision, chosen, found, row, float(left[stops, row].max()), names)


def _to_rest(
    ground: Ground,
    decision: Decision,
    places: list[ContactPlace],
    found: Stretch,
    row: int,
    left: float,
    names: tuple[Watch, ...],
) -> Stretch:
    """Return a stretch cut at a row and led on to the rest of slips, a time `left` later."""
    t, q, v, a = found.t[row], found.q[row], found.v[row], found.a[row]
    end_t, end_q, end_v = t + left, q + left * v + left**2 / 2 * a, v + left * a
    mode = decision.mode.mode
    on = ground.conditions(end_t, mode.held, (*(slip for place in places for slip in place.slips), *mode.sticking))
    _, end_v = landed(on, end_q, end_v, rounds=0)
    start, end = np.concatenate([q, v]), np.concatenate([end_q, end_v])
    slope, last = left * np.concatenate([v, a]), left * np.concatenate([end_v, a])
    step = np.zeros((1, 7, 2 * len(q)))
    step[0, 0] = end - start
    step[0, 1] = slope - step[0, 0]
    step[0, 2] = 2 * step[0, 0] - slope - last
    return replace(
        found,
        t=np.append(found.t[: row + 1], end_t),
        q=np.vstack([found.q[: row + 1], end_q]),
        v=np.vstack([found.v[: row + 1], end_v]),
        a=np.vstack([found.a[: row + 1], a]),
        dense=np.concatenate([found.dense[:row], step]),
        status=FIRED,
        fired=tuple(names.index(("speed", place.law)) for place in places),
        next_step=0.0,
    )


def _at_rest(found: Stretch) -> Stretch:
    """Return a stretch in which nothing moves."""
    rows = len(found.t)
    still = np.zeros_like(found.v)
    return replace(found, q=np.repeat(found.q[:1], rows, axis=0), v=still, a=still.copy(), dense=0.0 * found.dense)


def _until_unsound(ground: Ground, found: Stretch) -> tuple[Stretch, str]:
    """Return a stretch up to its last row with sound coefficients, and in words why it ends there; empty: it doesn't.

    The rows are the accepted steps: a coefficient that is negative between two of them only is not seen.
    """
    row, words = first_unsound(ground, found.t, found.q, found.v)
    if not words:
        return found, ""
    kept = max(row, 1)
    rows = {name: getattr(found, name)[:kept] for name in ("t", "q", "v", "a")}
    return replace(found, **rows, dense=found.dense[: kept - 1], status=REACHED, fired=(), next_step=0.0), words


# Back to a time shortly before.
class Approach:
    """The last two stretches of a motion, of which the second one is not recorded yet."""

    def __init__(self, context: Context, moment: Moment, happening: Dipped) -> None:
        self.context, self.moment, self.happening = context, moment, happening
        self.found, self.earlier = happening.stretch, moment.memory.nearness.earlier

    @property
    def earliest(self) -> float:
        """The time from which on the motion can be seen and gone back to."""
        return float(self.found.t[0] if self.earlier is None else self.earlier.t[0])

    def seen(self, time: float) -> Moment:
        """Return the state at a time as the dense output has it."""
        earlier = self.earlier
        stretch = earlier if earlier is not None and time < self.found.t[0] else self.found
        q, v = stretch.at(time)
        return self.moment.but(t=float(time), q=q, v=v, ahead=None)

    def longest_step(self, dip: Dip) -> float:
        """Return the longest step on the way into a dip."""
        times = self.found.t if self.earlier is None else np.append(self.earlier.t, self.found.t[1:])
        inside = (times[1:] > dip.before) & (times[:-1] < dip.time)
        return float(np.diff(times)[inside].max(initial=dip.time - dip.before if not inside.any() else 0.0))

    def go(self, time: float) -> Transition:
        """Return the motion up to a time, with a step that ends there; what lies beyond is forgotten."""
        decision, memory = self.happening.decision, self.moment.memory
        before = time < self.found.t[0]
        from_piece = self.happening.past[-1] if before else self.found
        count = max(int(np.searchsorted(from_piece.t, time, side="right")) - 1, 0)
        moment = self.moment.but(
            t=float(from_piece.t[count]), q=np.array(from_piece.q[count]), v=np.array(from_piece.v[count]), ahead=None
        )
        # The last steps may have been short for what lies ahead.
        moment = moment.recalling(nearness=memory.nearness.forget(), step=0.0)
        if before:
            made = Transition(moment, decision, back=time)
        else:
            kept = pieces_in(decision, first_steps(self.found, count))
            made = Transition(moment, decision, pieces=kept, drift=self.found.drift)
        while made.moment.t < time:
            step = advance(self.context, made.moment, decision, until=time)
            made = made.then(step.transition(decision))
            with keeping(made):
                if step.stretch.status == INTERRUPTED:
                    raise KeyboardInterrupt
                pay(self.context, step.stretch)
            if step.stretch.status != PAUSED:
                break
        return made
