"""The verb `periodic`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._cycles.forcing_period import checked_period, depends_on_time
from zwang._cycles.recurrence import NEAR, Recurrence, recurrence, settled
from zwang._cycles.return_map import ReturnMap, RoundTrip, on_at
from zwang._declare.system import System
from zwang._linearize.asked import MotionQuestion, asked, steady_numbers
from zwang._linearize.monodromy import CLOSED, STILL, cycle_of
from zwang._linearize.trail import PassedStretch, Trail, followed
from zwang._linearize.variational_flow import VariationalFlow
from zwang._numerics.budget import Allowed, Spent, spend, spending
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import whole
from zwang._results import Provenance
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_dense import states_at
from zwang._simulate.options import BUDGET, MotionOptions
from zwang._simulate.section import PoincareSection
from zwang._simulate.watch import ANY
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
DOUBLINGS = 8  # 2^8 times the period that is looked for
MOST_ROWS = 20_000
"""Of a motion that is looked through for a return."""
SETTLED = 1e-3
"""Distance of its end to its past, in parts of what it runs through, from which on a motion has settled."""
FIRST = 20.0
"""Length of the first look for a return, in times on which the start changes."""
CLEAR = 1e-3
"""Part of its largest value on a stretch above which a watch is clear of its event at the start."""
TOUCH = 1e-6
"""Part of a section's largest value on a cycle down to which it is touched."""
SOON = 1e-11
"""Part of the period after which a cycle starts that starts after an impact."""
SETTLING = 60
"""Periods of the forcing after which a motion from a guess that led nowhere is a new one."""
PART = 1e-6
"""Gap after a part of the period up to which that part is the period."""


@tiered("periodic", main="advance", seconds=20)
@within_doubles()
def periodic(
    system: System | Model,
    state: Mapping[Any, float],
    params: Mapping[Any, float] | None = None,
    *,
    period: Any = None,
    section: Any = None,
    direction: int = 0,
    steady: Iterable[Any] = (),
    inputs: Mapping[Any, Any] | None = None,
    tol: float = 1e-12,
    impact: str | None = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Cycle:
    """Return the periodic motion near a guess, and its multipliers.

    Newton's method on the return map, with derivatives through events by jump matrices; where a motion has none
    (impacts that accumulate within the period), by differences. Where that leads nowhere, the motion from the guess is
    followed until it settles (for sixty periods, where something depends on time), and its end is the guess.

    Parameters
    ----------
    system : System or Model
    state : mapping
        A guess of a state on the cycle. It starts there, or, where the guess is on an event, half a stretch later.
    params : mapping
    period : float or expression of the parameters, optional
        With explicit time a common period of everything that depends on it, by default that of its sines and cosines;
        else a guess, by default the time after which the motion from the guess comes back near to it.
    section : expression, Event or name of a constraint, optional
        The cycle starts where the expression vanishes, or right after an impact of the constraint; by default near the
        guess.
    direction : {0, 1, -1}
        Of the crossings of a section that count: both, rising, falling.
    steady : names or symbols of coordinates
        They need not return, only their velocities: a woodpecker sinks every period.
    inputs, tol, impact, backend
        As in `simulate`.
    budget : float or mapping, optional
        For all motions together.

    Returns
    -------
    Cycle
        CLOSED where the end misses the start by no more than 1e-10 of the sizes.

    Examples
    --------
    A ball on a table that shakes: one impact in each period, whose multipliers have the product e^2.

    >>> import numpy as np, sympy as sp, zwang as zw
    >>> (y,), (v,) = zw.coordinates("y")
    >>> table = zw.Unilateral(y - 3 * sp.sin(10 * zw.t) / 25, restitution=0.5, name="table")
    >>> ball = zw.System(name="ball", kinetic=v**2 / 2, potential=sp.Rational(981, 100) * y, constraints=[table])
    >>> found = zw.periodic(ball, {y: 0.2, v: -2.5}, {})
    >>> found.status.name, round(found.period, 6), round(float(np.prod(found.multipliers).real), 6)
    ('CLOSED', 0.628319, 0.25)
    """
    question = asked("periodic", system, state, params, inputs, backend)
    free = not depends_on_time(question)
    given = checked_period(question, period)
    numbers = steady_numbers(question.model.system, steady)
    way = whole(direction, "direction", least=-1, most=1, where=question.name)
    start = float(question.given.t[0])
    options = question.options(until=start + (given or 1.0), tol=tol, impact=impact)
    returns = ReturnMap(question, options, numbers, free_period=free)
    with spending(BUDGET.but(question.name, budget)):
        guess = _Guess(returns, given, section, way)
        try:
            return guess.cycle()
        except Spent as spent:
            return guess.unfinished(str(spent))


class _Guess:
    """The way from a guess to a cycle."""

    def __init__(self, returns: ReturnMap, period: float | None, section: Any, direction: int) -> None:
        self.returns, self.period, self.section, self.direction = returns, period, section, direction
        self.question: MotionQuestion = returns.question
        self.best: RoundTrip | None = None
        self.found = False
        self.on = returns.question.on

    @property
    def start(self) -> tuple[float, Array, Array]:
        """The guess."""
        given = self.question.given
        return float(given.t[0]), given.q[:, 0], given.v[:, 0]

    def _section(self) -> PoincareSection | None:
        """Return the section that was asked for, checked."""
        question = self.question
        if self.section is None:
            return None
        put = None if question.driven is None else question.driven.put
        return PoincareSection(question.declared, question.model.system, self.section, self.direction, 0.0, put)

    def cycle(self) -> Cycle:
        """Return the cycle near the guess, or how near it came."""
        t, q, v = self.start
        across = self._section()
        if self.period is None:
            t, q, v = self._clear(*self._look(1e-3))
        if self.period is None:
            near = self._first_return(t, q, v)
            if isinstance(near, Cycle):
                return near
            (self.period, t, q, v), self.found = near, True
        t, q, v = self._clear(*self._moved(t, q, v))
        trip = self.returns.trip(t, q, v, self.period, self.on)
        if trip is None:
            return self._lost(t, q, v)
        self.best = trip
        best, count = self.returns.newton(trip)
        self.best = best
        if best.found.residual > CLOSED:
            best, more = self._settled_freely(best) if self.returns.free_period else self._settled(best)
            count += more
        if self.found:
            best = self._shortest(best)
        if across is not None and best.found.residual <= CLOSED:
            best = self._on_section(best, across)
        returns = self.returns
        return cycle_of(
            self.question, best.motion, best.trail, returns.steady, free_period=returns.free_period, iterations=count
        )

    def _settled(self, best: RoundTrip) -> tuple[RoundTrip, int]:
        """Return the cycle to which the motion from the guess settles, or what was best before."""
        t, q, v = self.start
        for _ in range(SETTLING):  # each time from the guess's own time: tables end
            motion, _ = self._moved(t, q, v)
            if motion.status is not MotionStatus.REACHED:
                return best, 0
            q, v, self.on = motion.q[-1].copy(), motion.v[-1].copy(), on_at(motion, float(motion.t[-1]))
        start = self._clear(*self._moved(t, q, v))
        assert self.period is not None
        trip = self.returns.trip(*start, self.period, self.on)
        if trip is None:
            return best, 0
        return self._better(trip, best)

    def _better(self, trip: RoundTrip, best: RoundTrip) -> tuple[RoundTrip, int]:
        """Return what Newton's method makes of a trip, or what was best before; and its steps."""
        found, count = self.returns.newton(trip)
        if found.found.residual >= best.found.residual:
            return best, count
        self.best = found
        return found, count

    def _settled_freely(self, best: RoundTrip) -> tuple[RoundTrip, int]:
        """Return the cycle to which the motion from the guess settles where nothing depends on time, as `_settled`."""
        self.on, count = self.question.on, 0
        for motion, near in self._longer(*self.start):
            if near is not None and near.distance <= SETTLED:
                on, end = on_at(motion, float(motion.t[-1])), (float(motion.t[-1]), motion.q[-1], motion.v[-1])
                trip = self.returns.trip(*end, near.period, on)
                best, more = (best, 0) if trip is None else self._better(trip, best)
                count += more
                self.found = True
            if best.found.residual <= CLOSED:
                break
        return best, count

    def _longer(self, t: float, q: Array, v: Array) -> Iterator[tuple[Motion, Recurrence | None]]:
        """Yield motions from a start, each twice as long as the last, and how near their past is to their ends."""
        span = FIRST * self._time()
        turns = np.array([bool(item.angle) for item in self.question.model.system.coordinates])
        for _ in range(DOUBLINGS):
            motion, _ = self._moved(t, q, v, span)
            reached = motion.status is MotionStatus.REACHED
            yield motion, settled(motion, turns, self.returns.steady) if reached else None
            if not reached or len(motion.t) > MOST_ROWS:
                return
            span *= 2

    def _shortest(self, trip: RoundTrip) -> RoundTrip:
        """Return a cycle that was found by its return with its least period: it may have gone round several times."""
        for parts in (2, 3, 5):
            while trip.found.residual <= CLOSED:
                shorter = self.returns.trip(trip.t, trip.q, trip.v, trip.period / parts, trip.on)
                if shorter is None or shorter.found.residual > PART:
                    break
                trip, _ = self.returns.newton(shorter)
                self.best = trip
        return trip

    def _look(self, span: float) -> tuple[Motion, Trail]:
        t, q, v = self.start
        return self._moved(t, q, v, span * self._time())

    def _moved(self, t: float, q: Array, v: Array, span: float | None = None) -> tuple[Motion, Trail]:
        """Return the motion from a start, for a period or some other time."""
        until = t + (span if span is not None else self.period or 1.0)
        given = self.question.started(t, q, v)
        found = followed(self.question.model, given, replace(self.returns.options, until=until, on=self.on))
        spend()  # raises where the budget of all motions was what ended this one
        return found

    def _time(self) -> float:
        """Return a time on which the start changes."""
        motion, trail = self._moved(*self.start, 0.0)
        _, q, v = self.start
        stretch = next((item for item in trail.way if isinstance(item, PassedStretch)), None)
        a = stretch.a[0] if stretch is not None else motion.a[0]
        if not np.isfinite(a).all():
            a = self._acceleration()
        size = [float(np.abs(part).max(initial=0.0)) for part in (q, v, a)]
        times = [size[0] / size[1] if size[1] else 0.0, size[1] / size[2] if size[2] else 0.0]
        times.append(float(np.sqrt(size[0] / size[2])) if size[2] else 0.0)
        return max(times) or 1.0

    def _acceleration(self) -> Array:
        t, q, v = self.start
        terms = self.question.model.switched(self.question.on).kernels.terms(
            np.array([t]), q[:, None].copy(), v[:, None].copy(), self.question.given.params
        )
        mass = np.diagonal(terms.at(0)[0])
        return np.asarray(terms.force[:, 0] / np.where(mass > 0, mass, np.inf))

    def _clear(self, motion: Motion, trail: Trail) -> tuple[float, Array, Array]:
        """Return the start of a motion, or the middle of its first stretch where the start is on an event."""
        first = next((item for item in trail.way if isinstance(item, PassedStretch)), None)
        if first is None:
            return float(motion.t[0]), motion.q[0].copy(), motion.v[0].copy()
        made = VariationalFlow(trail, (), np.zeros((0, 0))).made_for(first)
        jets = made.jets(first.t, first.q.T.copy(), first.v.T.copy(), first.params)
        values = jets.value[made.watched] * first.sides[:, None]
        watched = (first.sides != 0.0) & (first.sides != ANY)
        low = values[:, 0] <= CLEAR * np.abs(values).max(axis=1)
        if not np.any(low & watched) and not trail.first.jumped:
            return float(motion.t[0]), motion.q[0].copy(), motion.v[0].copy()
        middle = 0.5 * float(first.t[0] + first.t[-1])
        self.on = on_at(motion, middle)
        q, v = first.states(np.array([middle]))
        return middle, q[:, 0].copy(), v[:, 0].copy()

    def _first_return(self, t: float, q: Array, v: Array) -> tuple[float, float, Array, Array] | Cycle:
        """Return after what time the motion comes back near to its start, and that start; or that it doesn't.

        A motion that does not come back may have settled elsewhere: then its end is the start.
        """
        near, motion = None, None
        turns = np.array([bool(item.angle) for item in self.question.model.system.coordinates])
        for motion, end in self._longer(t, q, v):
            near = recurrence(motion, turns, self.returns.steady, at_end=False)
            if near is not None and near.distance <= NEAR:
                return near.period, t, q, v
            if end is not None and end.distance <= SETTLED:
                self.on = on_at(motion, float(motion.t[-1]))
                return end.period, float(motion.t[-1]), motion.q[-1].copy(), motion.v[-1].copy()
        assert motion is not None
        lasts = float(motion.t[-1] - motion.t[0])
        if near is None and np.abs(motion.v).max(initial=0.0) * lasts <= STILL * np.abs(motion.q).max(initial=0.0):
            raise StateError(
                f"{self.question.name}: the guess is at rest and stays so: nothing returns. Ask linearize(...) for "
                "small motions about an equilibrium."
            )
        words = f"it ends at t = {float(motion.t[-1]):.6g}: {motion.status.value}"
        if near is not None:
            words = (
                f"the nearest it came, after {near.period:.6g} s, misses it by {near.distance:.2g} of what coordinates "
                "and velocities run through"
            )
        reason = f"The motion from the guess does not return to it: {words}. Give a period=, or coordinates in steady=."
        period, gap = (float("nan"), float("nan")) if near is None else near
        return _bare(self.returns, motion, period, reason, gap)

    def _on_section(self, trip: RoundTrip, across: PoincareSection) -> RoundTrip:
        """Return a cycle that starts where it first crosses the section, or right after an impact."""
        name, shown = self.question.name, self.section
        params = self.question.given.params[:, 0]
        points = across.points(trip.motion, params)
        if not len(points):
            if across.constraint is not None:
                raise DeclarationError(
                    f"{name}: section= '{shown}' asks for impacts of that constraint, and the cycle has none."
                )
            time, least, most = across.nearest(trip.motion, params)
            if least <= TOUCH * most:
                raise DeclarationError(f"{name}: section= {shown} is tangent to the cycle at t = {time:.6g}.")
            raise DeclarationError(
                f"{name}: section= {shown} is not crossed by the cycle: it comes down to {least:.3g} at t = {time:.6g}."
            )
        # An impact at the very end of a period would count or not by rounding.
        t = float(points.t[0]) + (SOON * trip.period if across.constraint is not None else 0.0)
        z = states_at(trip.motion.pieces, np.array([min(t, float(trip.motion.t[-1]))]))[0]
        n = len(trip.q)
        moved = self.returns.trip(t, z[:n], z[n:], trip.period, trip.on_at(min(t, float(trip.motion.t[-1]))))
        if moved is None:
            return trip
        return moved if moved.found.residual <= CLOSED else self.returns.newton(moved)[0]

    def _lost(self, t: float, q: Array, v: Array) -> Cycle:
        """Return how the motion from the guess ends before its period does."""
        motion, _ = self._moved(t, q, v)
        reason = motion.reason or motion.status.value
        words = f"The motion from the guess does not last a period: {reason}"
        return _bare(self.returns, motion, self.period or float("nan"), words)

    def unfinished(self, words: str) -> Cycle:
        """Return the best that was found when a budget was spent."""
        if self.best is None:
            motion, _ = followed(
                self.question.model, self.question.given, replace(self.returns.options, until=self.start[0])
            )
            made = _bare(self.returns, motion, self.period or float("nan"), words)
            return replace(made, status=CycleStatus.UNFINISHED)
        return replace(_bare(self.returns, self.best.motion, self.best.period, words), status=CycleStatus.UNFINISHED)


def _bare(returns: ReturnMap, motion: Motion, period: float, reason: str, gap: float = float("nan")) -> Cycle:
    """Return what is left of a cycle that was not found."""
    n = len(motion.coordinates)
    return Cycle(
        status=CycleStatus.NOT_CLOSED,
        residual=gap,
        provenance=_provenance(returns.question, returns.options),
        name=returns.question.name,
        motion=motion,
        period=period,
        basis=np.eye(2 * n),
        monodromy=None,
        steady=_names(returns),
        reason=reason,
        params=returns.question.params,
    )


def _names(returns: ReturnMap) -> tuple[str, ...]:
    coordinates = returns.question.model.system.coordinates
    return tuple(coordinates[i].name for i in sorted(returns.steady))


def _provenance(question: MotionQuestion, options: MotionOptions) -> Provenance:
    model = question.model
    return Provenance.now(question.declared.digest, tolerances={"tol": options.tol}, backend=model.backend)
