"""An instant of a motion in the making, what happens there, and what follows: all of it data.

A motion is made by one loop (`machine.run`). It hands an instant and what happened to `machine.handle`, which returns a
Transition: the instant from which the motion goes on, in which mode or why it stops, and what is to be recorded.
Nothing is written into anything but the record, and by the loop alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Terms
from zwang._kernels.mode_motion import Moving
from zwang._kernels.stretch_output import Stretch
from zwang._numerics.budget import Spent
from zwang._numerics.contact.modes import Mode, Side
from zwang._numerics.contact.problem import ContactProblem, problem_of
from zwang._numerics.sizes import CoordinateSizes
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation, MotionEvent, MotionPiece
from zwang._results.reactions import Reactions
from zwang._simulate.flights import Flights
from zwang._simulate.ground import Ground, sizes_within
from zwang._simulate.mode_labels import HeldMode
from zwang._simulate.nearness import Dip, Nearness
from zwang._simulate.options import MotionOptions

Array = NDArray[np.float64]
T = TypeVar("T")
Watch = tuple[str, int]
"""What fired: the kind of a watched quantity, and the number of its normal, law, event or surface."""
Labels = tuple[Mode, ...]


def changed_in(value: T, changes: Mapping[str, object]) -> T:
    """Return a frozen dataclass with some of it changed, as `replace` does; an event takes a dozen of these."""
    made: T = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    made.__dict__.update(changes)
    return made


@dataclass(frozen=True, eq=False)
class Memory:
    """What a motion remembers of its way.

    Attributes
    ----------
    begun : float
        When it began.
    step : float
        Length of the step to try next; 0 where that is not known.
    sizes : tuple of (n,) arrays
        The largest coordinates, velocities and accelerations so far.
    flights : mapping
        Number of a contact -> its last impacts.
    ending, closed : mappings
        Number of a contact -> when its impacts end that accumulate at this instant; when those ended that did.
    still, happened : tuples
        The instant of the last event before which time passed and the number of events since then; what they were.
    nearness : Nearness
        Of the rows, to depending on each other.
    points : tuple
        The singular points that it has met.
    bridges : int
        Stretches of time stepping so far.
    sides : tuple of int
        The sign of each of the user's events since it last was not zero.
    tops, counts : tuples
        Their largest sizes so far; how often each has happened.
    idle : frozenset of int
        Those whose expressions are zero and stay so: what is held there crosses nothing, whatever rounding does.
    """

    begun: float = float("nan")
    step: float = 0.0
    sizes: tuple[Array, Array, Array] = field(default_factory=lambda: (np.zeros(0), np.zeros(0), np.zeros(0)))
    flights: Mapping[int, Flights] = field(default_factory=dict)
    ending: Mapping[int, float] = field(default_factory=dict)
    closed: Mapping[int, float] = field(default_factory=dict)
    still: tuple[float, int] = (float("nan"), 0)
    happened: tuple[str, ...] = ()
    nearness: Nearness = field(default_factory=Nearness)
    points: tuple[Any, ...] = ()
    bridges: int = 0
    sides: tuple[int, ...] = ()
    tops: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    idle: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Moment:
    """A state with what is known of its constraints.

    Attributes
    ----------
    touching : frozenset of int
        One-sided constraints that can act: gap and rate are zero (position level), or the value is (velocity level).
    resting : frozenset of int
        Constraints with friction whose slip is zero.
    tied : frozenset of int
        Constraints whose force has just reached its bound: a reaction that vanished, friction that is used up.
    ahead : tuple or None
        On a switching surface: the state at a distance of rounding beyond it, where the equations are to be asked.
    memory : Memory
    """

    t: float
    q: Array
    v: Array
    touching: frozenset[int] = field(default_factory=frozenset)
    resting: frozenset[int] = field(default_factory=frozenset)
    tied: frozenset[int] = field(default_factory=frozenset)
    ahead: tuple[float, Array, Array] | None = None
    memory: Memory = field(default_factory=Memory)

    def but(self, **changes: object) -> Moment:
        """Return the moment with some of it changed."""
        return changed_in(self, changes)

    def recalling(self, **changes: Any) -> Moment:
        """Return the moment with some of its memory changed."""
        return changed_in(self, {"memory": changed_in(self.memory, changes)})

    def begin(self) -> Moment:
        """Return the moment as the first one of a motion."""
        sizes = (np.abs(self.q), np.abs(self.v), np.zeros(len(self.q)))
        return replace(self, memory=Memory(begun=self.t, sizes=sizes))


@dataclass(frozen=True, eq=False)
class Decision:
    """The next mode, or why there is none.

    Attributes
    ----------
    labels : tuple of Mode
        Of all constraints; empty where the motion stops.
    held : HeldMode or None
        The mode of motion with independent rows.
    found : bool
        Whether a second acceleration is not excluded.
    idle : frozenset of int
        Constraints that are held without any force: whether they let go is looked at after each chunk of steps.
    stop : MotionStatus or None
        PARADOX or CHOICE where no mode was decided: what a policy is asked about.
    reactions : Reactions or None
        What was found, where it was asked.
    pulls : mapping or None
        Number of a friction law in a plane -> its force (2,) where a slip starts, which gives the direction.
    before : tuple of Mode or None
        The labels until then, where no mode was decided.
    grips : bool
        Whether forces that are undetermined while all slip are looked at together, as those of contacts that stick.
    """

    labels: Labels = ()
    held: HeldMode | None = None
    found: bool = False
    idle: frozenset[int] = frozenset()
    stop: MotionStatus | None = None
    reactions: Reactions | None = None
    pulls: Mapping[int, Any] | None = None
    before: Labels | None = None
    grips: bool = False

    @property
    def mode(self) -> HeldMode:
        """The mode of a decision that has one: one without goes to a policy before any step is made."""
        assert self.held is not None
        return self.held


@dataclass(frozen=True)
class Stop:
    """The end of a motion: its status, a sentence with figures, and the ways in which it could go on.

    `passable`: time stepping can go on from here, and nothing is decided by it that a law leaves open.
    """

    status: MotionStatus
    reason: str = ""
    continuations: tuple[Continuation, ...] = ()
    passable: bool = False


# What happens.
@dataclass(frozen=True, eq=False)
class Start:
    """The motion begins, or begins anew after a stretch that was not followed by events."""


@dataclass(frozen=True, eq=False)
class Fired:
    """Watched quantities have changed their side; none of them where contacts with undetermined forces let go.

    `moving` are the steps that saw it, `past` the pieces recorded so far, the one that ends here included.
    """

    decision: Decision
    watches: tuple[Watch, ...]
    moving: Moving
    past: Sequence[MotionPiece]

    @property
    def acceleration(self) -> Array:
        """The acceleration with which the motion comes there."""
        return self.past[-1].a[-1] if self.past else np.zeros(self.moving.n)


@dataclass(frozen=True, eq=False)
class Broken:
    """The steps could not go on: `stretch` says why."""

    decision: Decision
    stretch: Stretch
    moving: Moving
    past: Sequence[MotionPiece]


@dataclass(frozen=True, eq=False)
class Dipped:
    """The steps of a stretch, not recorded yet, come to where the held rows depend on each other."""

    decision: Decision
    stretch: Stretch
    moving: Moving
    past: Sequence[MotionPiece]
    dip: Dip


@dataclass(frozen=True, eq=False)
class Paused:
    """A number of steps is done, and nothing has happened."""

    decision: Decision


@dataclass(frozen=True, eq=False)
class Changed:
    """An input has changed, and with it what the equations are."""

    decision: Decision


@dataclass(frozen=True, eq=False)
class Slipped:
    """A contact slips that others seemed to hold, at some time of a stretch that is not recorded: in words."""

    words: str


@dataclass(frozen=True, eq=False)
class Reached:
    """The end: the time is over, or the steps have shown why they can't go on."""

    status: MotionStatus
    reason: str = ""


Happening = Start | Fired | Broken | Paused | Changed | Slipped | Reached


# What follows.
@dataclass(frozen=True, eq=False)
class Due:
    """Events of the user's that have happened and wait for what follows from them.

    Attributes
    ----------
    events : tuple of int
        Their numbers, in the order of the list.
    watches : tuple
        All that fired at that instant.
    labels : tuple of Mode or None
        The labels until then.
    """

    events: tuple[int, ...]
    watches: tuple[Watch, ...] = ()
    labels: Labels | None = None


@dataclass(frozen=True, eq=False)
class Transition:
    """From where, and in which mode, a motion goes on; and what is to be recorded.

    Attributes
    ----------
    moment : Moment
    decision : Decision or Stop
    events : tuple of MotionEvent
    pieces : tuple of MotionPiece
        Of what was passed on the way to the moment.
    jumps : tuple of mappings
        Of the velocity, by which the next piece starts with another one than the last piece ended with.
    drift : float
        The largest violation of a held constraint on the way.
    back : float or None
        Before anything else the recorded steps that end after this time are forgotten.
    due : Due or None
        What the machine has to respond to before the motion goes on.
    context : Context or None
        What the motion goes on with, where constraints were switched.
    """

    moment: Moment
    decision: Decision | Stop
    events: tuple[MotionEvent, ...] = ()
    pieces: tuple[MotionPiece, ...] = ()
    jumps: tuple[Mapping[str, Any], ...] = ()
    drift: float = 0.0
    back: float | None = None
    due: Due | None = None
    context: Context | None = None

    def then(self, later: Transition) -> Transition:
        """Return this and what comes after it as one."""
        assert later.back is None  # nothing goes back behind what is not recorded yet
        pieces, jumps = later.pieces, (*self.jumps, *later.jumps)
        if pieces:
            pieces = (replace(pieces[0], jumps=(*self.jumps, *pieces[0].jumps)), *pieces[1:])
            jumps = later.jumps
        return Transition(
            later.moment,
            later.decision,
            (*self.events, *later.events),
            (*self.pieces, *pieces),
            jumps,
            max(self.drift, later.drift),
            self.back,
            later.due,
            later.context or self.context,
        )

    def stopping(self, stop: Stop, moment: Moment | None = None) -> Transition:
        """Return this with an end."""
        return replace(self, decision=stop, moment=self.moment if moment is None else moment)


class Cut(BaseException):
    """A budget was spent, or somebody interrupted, on a long way: what was made of it until then."""

    def __init__(self, made: Transition, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.made, self.cause = made, cause


@contextmanager
def keeping(made: Transition) -> Iterator[None]:
    """Keep what is made already where what comes next is cut short."""
    try:
        yield
    except Cut as cut:
        raise Cut(made.then(cut.made), cut.cause) from None
    except (Spent, KeyboardInterrupt) as cause:
        raise Cut(made, cause) from None


def event_at(time: float, kind: str, constraint: str | None = None, name: str = "", **details: Any) -> MotionEvent:
    """Return an event; details that are None are left out."""
    return MotionEvent(
        float(time), kind, constraint, name, {k: value for k, value in details.items() if value is not None}
    )


EVENT_KINDS = {MotionStatus.PARADOX: "paradox", MotionStatus.CHOICE: "choice", MotionStatus.SINGULAR: "singular"}


def stopped_at(
    moment: Moment,
    status: MotionStatus,
    reason: str,
    continuations: tuple[Continuation, ...] = (),
    constraint: str | None = None,
    *,
    time: float | None = None,
) -> Transition:
    """Return a stop with its event, which may be at another time than the moment."""
    at = moment.t if time is None else time
    events = (event_at(at, EVENT_KINDS[status], constraint, reason=reason),) if status in EVENT_KINDS else ()
    return Transition(moment, Stop(status, reason, continuations), events)


# What a motion is made with.
Chooser = Callable[[Reactions, Labels | None, tuple[int, ...]], int | None]
"""From the reactions, the labels so far and the numbers of the contacts to the solution to take, None to stop."""
Policy = Callable[["Context", Moment, Decision], Transition]
"""What follows where the laws leave none (PARADOX) or several (CHOICE) ways to go on."""
Turn = Callable[[Any], tuple[int | None, str, dict[str, Any]]]
"""From a singular point with its ways on to the number of one, else None and why; and what goes with the event."""
Among = Callable[[Any, tuple[Continuation, ...]], "int | None"]
"""From an impact whose laws differ, and its outcomes in words, to the number of one, None to stop."""
Over = Callable[["Context", Moment, Stop, Sequence[MotionPiece]], Transition]
"""From a stop that time stepping can pass, and the pieces so far, to what follows."""


@dataclass(frozen=True, eq=False)
class Policies:
    """What is done where the laws don't say: given by the verb, so that the machine need not know who is asked."""

    choose: Chooser
    at_choice: Policy
    at_paradox: Policy
    at_singular: Turn
    over: Over | None = None
    among: Among | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Context(Ground):
    """What stays the same through a motion, or until something is switched, with what was asked of it.

    `on` are the constraints that are switched on, None where nothing ever is switched; `whole` is the system with all.
    """

    options: MotionOptions
    policies: Policies
    span_of_inputs: tuple[float, float] = (-math.inf, math.inf)
    on: tuple[str, ...] | None = None
    whole: Ground | None = None

    @property
    def ground(self) -> Ground:
        """The model and its parameters alone."""
        return Ground(self.model, self.table, self.params, self.course, self.start, self.scales)

    @property
    def until(self) -> float:
        """The time beyond which no step may go: the end, or before it the next change of an input."""
        return min(self.options.until, self.span_of_inputs[1])

    def seen_from(self, moment: Moment) -> Context:
        """Return the context at a moment: with other parameters where inputs have changed since, or on the way back."""
        course, (begin, end) = self.course, self.span_of_inputs
        if course is None or begin <= moment.t < end:
            return self
        if moment.t >= end:
            params = course.enter(moment.t, self.state(moment.t, moment.q, moment.v))
        else:
            params = np.ascontiguousarray(course.at(moment.t)[:, 0])
        return changed_in(self, {"params": params, "span_of_inputs": (moment.t, course.after(moment.t))})

    @cached_property
    def step_sizes(self) -> CoordinateSizes:
        """Sizes (n,) that errors of steps are relative to: those of the start, none of them zero."""
        return sizes_within(self, self.options.until)

    def span(self, moment: Moment) -> float:
        """Return a time on which the motion changes little."""
        step = moment.memory.step
        return step if step > 0 else 0.1 * (self.options.until - moment.t)

    @property
    def kept(self) -> int:
        """Bytes that a step keeps: times, states, accelerations, dense output; none where they go to a file."""
        return 0 if self.options.stream is not None else 8 * (1 + 17 * len(self.model.system.coordinates))


def terms_at(ground: Ground, moment: Moment) -> Terms:
    """Return the terms of the equations at a moment, beyond what switches there."""
    return ground.terms(*(moment.ahead if moment.ahead is not None else (moment.t, moment.q, moment.v)))


def acts(ground: Ground, moment: Moment, number: int) -> bool:
    """Say whether a constraint can have a reaction at a moment."""
    table = ground.table
    place = table.places[number]
    if place.side is Side.BOUND and place.of:
        return any(acts(ground, moment, table.of_normal(normal)) for normal in place.of)
    return not place.one_sided or number in moment.touching


def problem_at(
    ground: Ground, moment: Moment, terms: Terms, moving: Collection[int] = ()
) -> tuple[ContactProblem, tuple[int, ...]]:
    """Return the contact problem of a moment, and the numbers of the constraints that are its contacts.

    Those in `moving` have let go: rest has no law of its own there.
    """
    table = ground.table
    numbers = [number for number in range(len(table.places)) if acts(ground, moment, number)]
    rest = np.zeros(len(table.places), dtype=bool)
    rest[list(moment.resting)] = True
    problem = problem_of(table, terms, np.array(numbers, dtype=np.int64), rest, declared=False)
    held = problem.rows.resting
    if moving and held is not None:
        free = np.array([number in moving for number in numbers])
        problem = problem.with_rows(replace(problem.rows, resting=np.where(free[:, None], np.nan, held)))
    return problem, tuple(numbers)
