"""A motion with what its record leaves out: the equations of each stretch and what ended it.

The record of a motion joins stretches of one mode and logs events for people. Nearby motions need more: on which side
of its switching surfaces each stretch went, which watched quantities fired, and from which state to which it jumped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.given_values import Inputs
from zwang._derive.motion_modes import ActiveSet
from zwang._results.motion import Motion
from zwang._results.motion_dense import states_in_piece
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.machine import motion
from zwang._simulate.moment import Context, Decision, Fired, Happening, Labels, Moment, Stop, Transition, Watch
from zwang._simulate.options import MotionOptions
from zwang._simulate.record import MotionRecord
from zwang._simulate.stretch import MadeSteps, pieces_in
from zwang._simulate.verb import policies_of
from zwang._simulate.watch import sides_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PassedStretch:
    """Steps in one mode.

    Attributes
    ----------
    context : Context
        Of the motion then: switches and inputs change it.
    mode : ActiveSet
    labels : tuple of Mode
    params : (p + surfaces,) array
        With the sides of the switching surfaces.
    sides : (w,) array
        On which side of zero each watch was to stay; 0 where it was not watched.
    t, q, v, a, dense : arrays
        The steps, as in a `MotionPiece`.
    """

    context: Context
    mode: ActiveSet
    labels: Labels
    params: Array
    sides: Array
    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array

    def states(self, times: Array) -> tuple[Array, Array]:
        """Return positions and velocities (n, B) at times of the stretch."""
        y = states_in_piece(self, times)
        n = self.q.shape[1]
        return np.ascontiguousarray(y[:, :n].T), np.ascontiguousarray(y[:, n:].T)


@dataclass(eq=False)
class Instant:
    """What ended a stretch, and how the motion went on.

    Attributes
    ----------
    context : Context
        Of the motion until then.
    before : Moment
        The state at which it was reached.
    decision : Decision or None
        The mode until then; None at the start.
    watches : tuple
        What fired.
    past : tuple of MotionPiece
        The steps that led there.
    after : Moment or None
        The state from which the motion went on; None where it stopped.
    jumped : bool
        Whether velocities jumped.
    events : list of int
        Numbers of the motion's events that belong to it.
    kinds : set of str
        Their kinds.
    stopped : bool
    """

    context: Context
    before: Moment
    decision: Decision | None
    watches: tuple[Watch, ...]
    past: tuple[MotionPiece, ...] = ()
    after: Moment | None = None
    jumped: bool = False
    events: list[int] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    stopped: bool = False


class Trail(MotionRecord):
    """The record of a motion that keeps its stretches and instants as they were."""

    def __init__(self, context: Context, moment: Moment) -> None:
        super().__init__(context, moment)
        self.way: list[PassedStretch | Instant] = [Instant(context, moment, None, ())]
        self.broken: tuple[float, str] | None = None
        self._announced = False

    @property
    def first(self) -> Instant:
        """The start."""
        found = self.way[0]
        assert isinstance(found, Instant)
        return found

    def passed(self, decision: Decision, made: MadeSteps, happening: Happening) -> None:
        """Keep the steps of a stretch and what ended it."""
        self._announced = True
        steps, found = made.moving, made.stretch
        if len(found.t) > 1:
            middle = 0.5 * float(found.t[0] + found.t[1])
            sides = steps.branches(middle, *found.at(middle), self.context.params, self.context.changing)
            kept = sides_of(self.context, steps, decision, self.moment)
            params = np.concatenate([self.context.params, sides])
            rows = (found.t, found.q, found.v, found.a, found.dense)
            self.way.append(PassedStretch(self.context, steps.mode, decision.labels, params, kept, *rows))
        if isinstance(happening, Fired):
            past = pieces_in(decision, found)
            self.way.append(Instant(self.context, made.moment, decision, happening.watches, past))

    def take(self, made: Transition) -> None:
        """Record a transition; what it does belongs to the last instant."""
        counted = len(self.events)
        super().take(made)
        if made.pieces and not self._announced:
            self._break(float(made.pieces[0].t[0]), "it passes where the equations of a mode don't lead by themselves")
        self._announced = False
        last = self.way[-1]
        if not isinstance(last, Instant) or last.stopped:
            if made.jumps:
                self._break(made.moment.t, "velocities jump where nothing was watched")
            return
        last.events += range(counted, len(self.events))
        last.kinds |= {event.kind for event in self.events[counted:]}
        last.jumped = last.jumped or bool(made.jumps)
        last.after = made.moment
        last.stopped = isinstance(made.decision, Stop)

    def _break(self, time: float, words: str) -> None:
        if self.broken is None:
            self.broken = time, words


def followed(model: Model, inputs: Inputs, options: MotionOptions) -> tuple[Motion, Trail]:
    """Return a motion by events and its trail."""
    kept: list[Trail] = []

    def record(context: Context, moment: Moment) -> Trail:
        kept.append(Trail(context, moment))
        return kept[-1]

    made = motion(model, inputs, options, policies_of(options), record)
    return made, kept[0]
