"""Cycles beside a cycle: Newton's method on the return map in the start, the period and a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zwang._cycles.return_map import NUDGE, ReturnMap, RoundTrip
from zwang._linearize.asked import MotionQuestion
from zwang._linearize.monodromy import CLOSED, FAMILY, cycle_of, monodromy_of, return_equations
from zwang._linearize.saltation import GrazedError, NotDifferentiableError
from zwang._linearize.trail import PassedStretch
from zwang._linearize.variational_flow import VariationalFlow, projected_start
from zwang._results.cycle import Cycle
from zwang._results.motion_dense import states_at
from zwang._simulate.options import MotionOptions

Array = NDArray[np.float64]
ROUNDS = 10  # of Newton's method; it takes three or four
SHARP = 1e-12
"""Gap from which on no further step is made."""
FAR = 3.0
"""Gap, relative to the sizes, beyond which a start is not near to a cycle."""
AWAY = 0.1
"""Part of the longest time without events that the start keeps from an event."""
CROSSING = 1e-5
"""Singular values of the equations of closure, relative to the largest, up to which branches cross."""
SLIGHT = 1e-5
"""Part of the range by which the parameter is changed to see how the forcing's period does."""
NO_ACTION = ("user", "project", "method")
"""Kinds of events that are no part of the sequence of events."""


@dataclass(frozen=True, eq=False)
class Place:
    """A start, the logarithm of a period and a parameter relative to its range; also the difference of two."""

    z: Array
    period: float
    value: float

    def moved(self, by: Place, share: float) -> Place:
        """Return the place at a multiple of a difference from this one."""
        return Place(self.z + share * by.z, self.period + share * by.period, self.value + share * by.value)

    def dot(self, other: Place, sizes: Array) -> float:
        """Return the product of two differences, of starts in the sizes of coordinates and velocities."""
        return float((self.z / sizes) @ (other.z / sizes)) + self.period * other.period + self.value * other.value

    def length(self, sizes: Array) -> float:
        """Return the length of a difference."""
        return float(np.sqrt(self.dot(self, sizes)))


@dataclass(frozen=True, eq=False)
class Slopes:
    """How the end of a motion changes with the start along its basis (2 n, d), and start and end with the parameter.

    `smooth` says whether they are derivatives, not differences; `grazes` whether an event that is grazed is why.
    """

    after: Array
    start: Array
    end: Array
    smooth: bool = True
    grazes: bool = False


class Near:
    """A motion of one period at a value of the parameter, with its derivatives.

    Attributes
    ----------
    trip : RoundTrip
    value : float
        Of the parameter, relative to its range.
    """

    def __init__(self, over: CyclesOver, trip: RoundTrip, value: float) -> None:
        self.over, self.trip, self.value = over, trip, value

    @property
    def place(self) -> Place:
        """The start, the period and the parameter."""
        return Place(self.trip.z, float(np.log(self.trip.period)) if self.over.free_period else 0.0, self.value)

    @property
    def sizes(self) -> Array:
        """Of coordinates and velocities."""
        return self.trip.found.sizes

    @cached_property
    def slopes(self) -> Slopes:
        """Derivatives, by differences where the motion has none."""
        return self.over.slopes(self)

    @cached_property
    def monodromy(self) -> Array:
        """What becomes of the basis after one period, in it."""
        return monodromy_of(self.trip.found, self.slopes.after)

    @cached_property
    def matrix(self) -> Array:
        """Of the equations of closure, by the start along its basis, the period where it is sought, the parameter."""
        found, slopes, over = self.trip.found, self.slopes, self.over
        period = self.trip.period if over.free_period else None
        matrix, _ = return_equations(found, slopes.after, over.steady, period)
        rows = [i for i in range(len(found.gap)) if i not in over.steady]
        column = np.zeros(len(matrix))
        column[: len(rows)] = (slopes.end - slopes.start)[rows] / found.sizes[rows]
        return np.hstack([matrix, column[:, None]])

    @cached_property
    def open_directions(self) -> Array:
        """Directions (k, columns) along which cycles go on: that of the branch, and families."""
        _, values, right = np.linalg.svd(self.matrix, full_matrices=True)
        # Where branches cross, directions between theirs are open as well: that of before goes on.
        crossing = int(np.count_nonzero(values <= CROSSING * values.max(initial=0.0)))
        return np.asarray(right[min(len(right) - self.over.nullity, len(values) - crossing) :])

    def difference(self, column: Array) -> Place:
        """Return a change of the unknowns as a difference of places."""
        d = self.trip.found.basis.shape[1]
        z = self.trip.found.basis @ column[:d] + self.slopes.start * column[-1]
        return Place(z, float(column[d]) if self.over.free_period else 0.0, float(column[-1]))

    def column(self, by: Place) -> Array:
        """Return a difference of places as a change of the unknowns."""
        scaled = self.trip.found.basis / self.sizes[:, None]
        part = np.linalg.lstsq(scaled, (by.z - self.slopes.start * by.value) / self.sizes, rcond=None)[0]
        return np.concatenate([part, [by.period] if self.over.free_period else [], [by.value]])

    def tangent(self, along: Place) -> Place | None:
        """Return the direction of the branch, of length 1, on the side of another direction; None where across it."""
        column = self.column(along)
        part = self.open_directions.T @ (self.open_directions @ column)
        size = float(np.linalg.norm(part))
        if not size > 1e-6 * float(np.linalg.norm(column)):
            return None
        found = self.difference(part / size)
        length = found.length(self.sizes)
        return Place(found.z / length, found.period / length, found.value / length)

    @cached_property
    def sequence(self) -> tuple[tuple[str, str], ...]:
        """Kinds of events and whose they are, from the least one on: it does not depend on the start."""
        found = [
            (event.kind, str(event.constraint or event.name or ",".join(event.details.get("constraints", ()))))
            for event in self.trip.motion.events
            if event.kind not in NO_ACTION
        ]
        return min((tuple(found[k:] + found[:k]) for k in range(len(found))), default=())

    def cycle(self, iterations: int = 0) -> Cycle:
        """Return this as a cycle."""
        over, trip = self.over, self.trip
        return cycle_of(
            over.question_at(self.value), trip.motion, trip.trail, over.steady, free_period=over.free_period,
            iterations=iterations, after=self.slopes.after if self.slopes.smooth else None,
        )  # fmt: skip


@dataclass(eq=False)
class CyclesOver:
    """Cycles over a parameter.

    Attributes
    ----------
    question : MotionQuestion
    options : MotionOptions
    steady : frozenset of int
    free_period : bool
    number : int
        Of the parameter that varies.
    low, width : float
        Its least value and its range.
    forced : callable
        Value of the parameter -> the period of what depends on time; where nothing does it is not asked.
    rounds : int
        How many of these a cycle lasts.
    nullity : int
        Dimension of the cycles beside a cycle: 1, and that of families at one value.
    """

    question: MotionQuestion
    options: MotionOptions
    steady: frozenset[int]
    free_period: bool
    number: int
    low: float
    width: float
    forced: Callable[[float], float | None]
    rounds: int = 1
    nullity: int = 1

    def parameter(self, value: float) -> float:
        """Return the parameter from its place in the range."""
        return self.low + self.width * value

    def question_at(self, value: float) -> MotionQuestion:
        """Return what is asked at a value."""
        given = self.question.given
        params = given.params.copy()
        params[self.number] = self.parameter(value)
        return replace(self.question, given=replace(given, params=params))

    def returns(self, value: float) -> ReturnMap:
        """Return the return map at a value."""
        return ReturnMap(self.question_at(value), self.options, self.steady, free_period=self.free_period)

    def period(self, value: float) -> float:
        """Return the period that what depends on time gives at a value; nan where it has none."""
        found = self.forced(self.parameter(value))
        return float("nan") if found is None else self.rounds * found

    def near(self, place: Place, t: float, other: Near | None = None, on: tuple[str, ...] | None = None) -> Near | None:
        """Return the motion from a place, on what held at the start of another; None where it does not last.

        `on` are the constraints that are switched on there, by default those of the other, or of the question.
        """
        n, returns = len(place.z) // 2, self.returns(place.value)
        period = float(np.exp(place.period)) if self.free_period else self.period(place.value)
        if not np.isfinite(place.z).all() or not np.isfinite(period):
            return None
        q, v = place.z[:n], place.z[n:]
        if other is not None:
            q, v = returns.settled(other.trip, q, v)
            on = other.trip.on
        trip = returns.trip(t, q, v, period, on)
        return None if trip is None else Near(self, trip, place.value)

    def slopes(self, near: Near) -> Slopes:
        """Return derivatives of the end of a motion; by the parameter relative to its range."""
        trip, d = near.trip, near.trip.found.basis.shape[1]
        first = next((item for item in trip.trail.way if isinstance(item, PassedStretch)), None)
        n = len(trip.q)
        start = projected_start(first, trip.trail, (self.number,), np.zeros((2 * n, 1)), np.full((1, 1), self.width))
        dp = np.zeros((1, d + 1))
        dp[0, d] = self.width
        smooth, grazes = True, False
        try:
            flow = VariationalFlow(trip.trail, (self.number,), dp)
            after = flow.run(np.hstack([trip.found.basis, start])).x
        except NotDifferentiableError as error:
            smooth, grazes = False, isinstance(error, GrazedError)
            after = self._differences(near, start[:, 0])
        end = after[:, d] + trip.found.rate * self.longer(near.value)
        return Slopes(after[:, :d], start[:, 0], end, smooth, grazes)

    def longer(self, value: float) -> float:
        """Return how the period changes with the parameter where time gives it."""
        if self.free_period:
            return 0.0
        return (self.period(value + SLIGHT) - self.period(value - SLIGHT)) / (2 * SLIGHT)

    def _differences(self, near: Near, start: Array) -> Array:
        """Return what becomes of the basis and of a change of the parameter, by differences, after the same time."""
        trip, ends = near.trip, []
        n = len(trip.q)
        for sign in (1.0, -1.0):
            z, value = trip.z + sign * NUDGE * start, near.value + sign * NUDGE
            returns = self.returns(value)
            other = returns.trip(trip.t, *returns.settled(trip, z[:n], z[n:]), trip.period, trip.on)
            if other is not None:
                off = np.concatenate([other.motion.q[-1] - trip.motion.q[-1], other.motion.v[-1] - trip.motion.v[-1]])
                ends.append(off / (sign * NUDGE))
        last = np.mean(ends, axis=0) if ends else np.zeros(2 * n)
        return np.hstack([self.returns(near.value).differences(trip), last[:, None]])

    def corrected(self, guess: Place, t: float, across: Place, scale: Array, base: Near) -> Near | None:
        """Return the cycle near a guess, on the plane through it across a direction; None where none is found.

        Parameters
        ----------
        guess : Place
        t : float
            Time of the start.
        across : Place
            The direction.
        scale : (2 n,) array
            Sizes that the plane is taken in.
        base : Near
            What holds at its start holds at that of the cycle.
        """
        near, gap = self.near(guess, t, base), np.inf
        for _ in range(ROUNDS):
            if near is None or near.trip.found.residual > FAR:
                return None
            last, gap = gap, near.trip.found.residual
            if gap <= SHARP or (gap <= CLOSED and gap > 0.1 * last):
                return near
            if gap > 4 * last:
                return None
            near = self.near(near.place.moved(self.step(near, guess, across, scale), 1.0), t, near)
        return None

    def step(self, near: Near, guess: Place, across: Place, scale: Array) -> Place:
        """Return Newton's step towards the cycle on the plane."""
        found = near.trip.found
        _, right = return_equations(
            found, near.slopes.after, self.steady, near.trip.period if self.free_period else None
        )
        d = found.basis.shape[1]
        by_start = (across.z / scale**2) @ np.column_stack([found.basis, near.slopes.start])
        row = np.concatenate([by_start[:d], [across.period] if self.free_period else [], [across.value + by_start[d]]])
        off = near.place.moved(guess, -1.0).dot(across, scale)
        matrix = np.vstack([near.matrix, row])
        column = np.linalg.lstsq(matrix, np.append(right, -off), rcond=FAMILY)[0]
        return near.difference(column)

    def clear(self, near: Near, along: Place) -> tuple[Near, Place]:
        """Return a cycle that starts away from its events, with the direction of its branch carried there."""
        trip = near.trip
        times = sorted({event.time for event in trip.motion.events if event.kind not in NO_ACTION})
        if not times:
            return near, along
        ends = [*times[1:], times[0] + trip.period]
        gaps = [end - begin for begin, end in zip(times, ends, strict=True)]
        k = int(np.argmax(gaps))
        if min(times[0] - trip.t, trip.t + trip.period - times[-1]) >= AWAY * gaps[k]:
            return near, along
        t = times[k] + 0.5 * gaps[k]
        t -= trip.period if t >= trip.t + trip.period else 0.0
        flow = VariationalFlow(trip.trail, (self.number,), np.full((1, 1), self.width * along.value))
        try:
            x = flow.run(along.z[:, None], [t]).samples[0].x[:, 0]
        except (NotDifferentiableError, IndexError):
            return near, along
        z = states_at(trip.motion.pieces, np.array([t]))[0]
        moved = self.near(Place(z, near.place.period, near.value), t, on=trip.on_at(t))
        if moved is None or moved.trip.found.residual > 1e-6:
            return near, along
        onward = moved.tangent(Place(x, along.period, along.value))
        if onward is None:
            return near, along
        polished = self.corrected(moved.place, t, onward, moved.sizes, moved)
        return (near, along) if polished is None else (polished, onward)
