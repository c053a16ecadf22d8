"""The verb `periodic`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._cycles.forcing import checked_period, depends_on_time
from zwang._cycles.recurrence import NEAR, recurrence
from zwang._cycles.returning import ReturnMap, RoundTrip, replace_start
from zwang._declare.system import System
from zwang._linearize.asked import MotionQuestion, asked
from zwang._linearize.flow import VariationalFlow
from zwang._linearize.monodromy import CLOSED, STILL, cycle_of
from zwang._linearize.trail import PassedStretch, Trail, followed
from zwang._numerics.budget import Allowed, Spent, spend, spending
from zwang._numerics.jit import tiered
from zwang._results import Provenance
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion, MotionStatus
from zwang._simulate.options import BUDGET, MotionOptions
from zwang._simulate.watch import ANY
from zwang.errors import DeclarationError, StateError, nearest

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
    steady: Iterable[Any] = (),
    inputs: Mapping[Any, Any] | None = None,
    tol: float = 1e-12,
    impact: str | None = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Cycle:
    """Return the periodic motion near a guess, and its multipliers.

    Newton's method on the return map, with derivatives through events by jump matrices; where a motion has none
    (impacts that accumulate within the period), by differences.

    Parameters
    ----------
    system : System or Model
    state : mapping
        A guess of a state on the cycle. It starts there, or, where the guess is on an event, half a stretch later.
    params : mapping
    period : float or expression of the parameters, optional
        With explicit time a common period of everything that depends on it, by default that of its sines and cosines;
        else a guess, by default the time after which the motion from the guess comes back near to it.
    section : expression of coordinates and velocities, optional
        Vanishes at the start of the cycle, which fixes where on the cycle that is; by default the start is moved across
        the motion only.
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
    start = float(question.given.t[0])
    options = question.options(until=start + (given or 1.0), tol=tol, impact=impact)
    returns = ReturnMap(question, options, numbers, free_period=free)
    with spending(BUDGET.but(question.name, budget)):
        guess = _Guess(returns, given, section)
        try:
            return guess.cycle()
        except Spent as spent:
            return guess.unfinished(str(spent))


def steady_numbers(system: System, steady: Any) -> frozenset[int]:
    """Return the numbers of coordinates that need not return."""
    names = [item.name for item in system.coordinates]
    listed = [steady] if isinstance(steady, str) or not isinstance(steady, Iterable) else list(steady)
    found = set()
    for item in listed:
        name = item if isinstance(item, str) else getattr(item, "name", str(item))
        if name not in names:
            raise DeclarationError(
                f"{system.name}: steady= names '{name}', which is no coordinate. {nearest(name, names)}"
            )
        found.add(names.index(name))
    return frozenset(found)


class _Guess:
    """The way from a guess to a cycle."""

    def __init__(self, returns: ReturnMap, period: float | None, section: Any) -> None:
        self.returns, self.period, self.section = returns, period, section
        self.question: MotionQuestion = returns.question
        self.best: RoundTrip | None = None
        self.found = False

    @property
    def start(self) -> tuple[float, Array, Array]:
        """The guess."""
        given = self.question.given
        return float(given.t[0]), given.q[:, 0], given.v[:, 0]

    def cycle(self) -> Cycle:
        """Return the cycle near the guess, or how near it came."""
        t, q, v = self.start
        phase = None
        if self.section is not None:
            t, q, v, phase = self._on_section()
        elif self.period is None:
            t, q, v = self._clear(*self._look(1e-3))
        if self.period is None:
            near = self._first_return(t, q, v)
            if isinstance(near, Cycle):
                return near
            (self.period, t, q, v), self.found = near, True
        if self.section is None:
            t, q, v = self._clear(*self._moved(t, q, v))
        trip = self.returns.trip(t, q, v, self.period)
        if trip is None:
            return self._lost(t, q, v)
        self.best = trip
        best, count = self.returns.newton(trip, phase)
        self.best = best
        if self.found:
            best = self._shortest(best, phase)
        returns = self.returns
        return cycle_of(
            self.question, best.motion, best.trail, returns.steady, free_period=returns.free_period, iterations=count
        )

    def _shortest(self, trip: RoundTrip, phase: Array | None) -> RoundTrip:
        """Return a cycle that was found by its return with its least period: it may have gone round several times."""
        for parts in (2, 3, 5):
            while trip.found.residual <= CLOSED:
                shorter = self.returns.trip(trip.t, trip.q, trip.v, trip.period / parts)
                if shorter is None or shorter.found.residual > PART:
                    break
                trip, _ = self.returns.newton(shorter, phase)
                self.best = trip
        return trip

    def _look(self, span: float) -> tuple[Motion, Trail]:
        t, q, v = self.start
        return self._moved(t, q, v, span * self._time())

    def _moved(self, t: float, q: Array, v: Array, span: float | None = None) -> tuple[Motion, Trail]:
        """Return the motion from a start, for a period or some other time."""
        until = t + (span if span is not None else self.period or 1.0)
        given = replace_start(self.question.given, t, q, v)
        found = followed(self.question.model, given, replace(self.returns.options, until=until))
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
        q, v = first.states(np.array([middle]))
        return middle, q[:, 0].copy(), v[:, 0].copy()

    def _first_return(self, t: float, q: Array, v: Array) -> tuple[float, float, Array, Array] | Cycle:
        """Return after what time the motion comes back near to its start, and that start; or that it doesn't.

        A motion that does not come back may have settled elsewhere: then its end is the start.
        """
        span, near = FIRST * self._time(), None
        turns = np.array([bool(item.angle) for item in self.question.model.system.coordinates])
        motion: Motion | None = None
        for _ in range(DOUBLINGS):
            motion, _ = self._moved(t, q, v, span)
            near = recurrence(motion, turns, self.returns.steady, at_end=False)
            if near is not None and near.distance <= NEAR:
                return near.period, t, q, v
            settled = recurrence(motion, turns, self.returns.steady, at_end=True)
            if settled is not None and settled.distance <= SETTLED and motion.status is MotionStatus.REACHED:
                return settled.period, float(motion.t[-1]), motion.q[-1].copy(), motion.v[-1].copy()
            if motion.status is not MotionStatus.REACHED or len(motion.t) > MOST_ROWS:
                break
            span *= 2
        assert motion is not None
        if near is None and not np.any(np.abs(motion.v) > STILL):
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
        return _bare(self.returns, motion, near.period if near is not None else float("nan"), reason)

    def _on_section(self) -> tuple[float, Array, Array, Array]:
        """Return where the motion from the guess first crosses the section, and the gradient of that there."""
        from zwang._sensitivity.varied import Observed

        system, name = self.question.declared, self.question.name
        watched = Observed(system, {"section": self.section})
        span = self.period or FIRST * self._time()
        t, q, v = self.start
        for _ in range(DOUBLINGS):
            motion, _ = self._moved(t, q, v, span)
            times = np.linspace(float(motion.t[0]), float(motion.t[-1]), 40 * len(motion.t) + 1)
            crossing = self._crossing(watched, motion, times)
            if crossing is not None:
                break
            span *= 2
        else:
            raise DeclarationError(f"{name}: section= {self.section} is not crossed by the motion from the guess.")
        n = len(motion.coordinates)
        y = np.array([motion.at(crossing)[key] for key in (*motion.coordinates, *motion.velocities)])
        params = self.question.given.params[:, 0]
        slope = watched.slope(0, np.array([crossing]), y[:n, None], y[n:, None], params)[:, 0]
        gradient = slope[1 : 1 + 2 * n]
        later = min(crossing + 1e-6 * span, float(motion.t[-1]))
        rate = (np.array([motion.at(later)[key] for key in (*motion.coordinates, *motion.velocities)]) - y) / max(
            later - crossing, 1e-300
        )
        if abs(gradient @ rate) <= 1e-6 * float(np.abs(gradient) @ np.abs(rate)):
            raise DeclarationError(f"{name}: section= {self.section} is tangent to the motion at t = {crossing:.6g}.")
        return crossing, y[:n], y[n:], gradient

    def _crossing(self, watched: Any, motion: Motion, times: Array) -> float | None:
        from scipy.optimize import brentq

        params = self.question.given.params[:, 0]
        names = (*motion.coordinates, *motion.velocities)
        n = len(motion.coordinates)

        def value(t: Any) -> Array:
            found = motion.at(np.atleast_1d(t))
            y = np.array([found[key] for key in names])
            return np.asarray(watched.value(0, np.atleast_1d(t), y[:n], y[n:], params))

        values = value(times)
        change = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
        if not len(change):
            return None
        k = int(change[0])
        return float(brentq(lambda t: float(value(t)[0]), times[k], times[k + 1], xtol=1e-14))

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


def _bare(returns: ReturnMap, motion: Motion, period: float, reason: str) -> Cycle:
    """Return what is left of a cycle that was not found."""
    n = len(motion.coordinates)
    gap = float("nan")
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
