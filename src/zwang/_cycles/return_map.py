"""Newton's method on the return map: starts and periods of motions that close."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang._linearize.asked import MotionQuestion
from zwang._linearize.monodromy import FAMILY, Return, carried, compared, return_equations
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.trail import PassedStretch, Trail, followed
from zwang._numerics.budget import spend
from zwang._numerics.linear.projection import landed
from zwang._results.motion import Motion, MotionStatus
from zwang._simulate.ground import Ground
from zwang._simulate.options import MotionOptions
from zwang.errors import StateError

Array = NDArray[np.float64]
SHARP = 1e-13
"""Gap from which on no further step is made."""
STEPS = 30  # of Newton's method, damped; it takes four from a good guess
HALVINGS = 8  # of a step of Newton's method before it is given up
NUDGE = 1e-6
"""Part of the sizes by which a start is changed where a motion has no derivative."""


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """A motion of one period from a start."""

    t: float
    q: Array
    v: Array
    period: float
    motion: Motion
    trail: Trail
    found: Return
    on: tuple[str, ...] | None = None

    def on_at(self, t: float) -> tuple[str, ...] | None:
        """Return the constraints that are switched on at a time of it; None where nothing ever is switched."""
        return on_at(self.motion, t)

    @property
    def z(self) -> Array:
        """The start."""
        return np.concatenate([self.q, self.v])


class ReturnMap:
    """Motions of one period from starts near each other.

    Parameters
    ----------
    question : MotionQuestion
    options : MotionOptions
    steady : frozenset of int
        Coordinates that need not return.
    free_period : bool
        Whether the period is sought too: nothing depends on time.
    """

    def __init__(
        self, question: MotionQuestion, options: MotionOptions, steady: frozenset[int], *, free_period: bool
    ) -> None:
        self.question, self.options, self.steady, self.free_period = question, options, steady, free_period
        self.trips = 0

    def trip(self, t: float, q: Array, v: Array, period: float, on: tuple[str, ...] | None = None) -> RoundTrip | None:
        """Return the motion of one period from a start, moved onto what holds there; None where it ends before.

        `on` are the constraints that are switched on there, by default those of the question.
        """
        spend()
        self.trips += 1
        given = self.question.started(t, q, v)
        try:
            options = self.options if on is None else replace(self.options, on=on)
            motion, trail = followed(self.question.model, given, replace(options, until=t + period))
        except StateError:
            return None
        spend()
        if motion.status is not MotionStatus.REACHED or motion.t[-1] < t + period:
            return None
        first = np.concatenate([motion.q[0], motion.v[0]])
        n = len(q)
        return RoundTrip(t, first[:n], first[n:], period, motion, trail, compared(trail, motion, self.steady), on)

    def settled(self, trip: RoundTrip, q: Array, v: Array) -> tuple[Array, Array]:
        """Return a start near that of a trip, on what holds there."""
        stretch = next((item for item in trip.trail.way if isinstance(item, PassedStretch)), None)
        if stretch is None or not (stretch.mode.held or stretch.mode.sticking):
            return q, v
        start = self.question.started(trip.t, q, v)  # the trip may have had other parameters
        ground = Ground.of(stretch.context.model, start, self.question.driven)
        on = ground.conditions(trip.t, stretch.mode.held, stretch.mode.sticking)
        return landed(on, q, v, rounds=3)

    def derivative(self, trip: RoundTrip) -> Array:
        """Return what becomes of the basis (2 n, d); by differences where the motion has no derivative."""
        try:
            return carried(trip.trail, trip.found.basis)
        except NotDifferentiableError:
            return self.differences(trip)

    def differences(self, trip: RoundTrip) -> Array:
        """Return what becomes of the basis by differences."""
        n, columns = len(trip.q), []
        last = np.concatenate([trip.motion.q[-1], trip.motion.v[-1]])
        for column in trip.found.basis.T:
            ends = []
            for sign in (1.0, -1.0):
                z = trip.z + sign * NUDGE * column
                other = self.trip(trip.t, *self.settled(trip, z[:n], z[n:]), trip.period, trip.on)
                if other is not None:
                    end = np.concatenate([other.motion.q[-1], other.motion.v[-1]])
                    ends.append(((end - last) / (sign * NUDGE), sign))
            columns.append(np.mean([slope for slope, _ in ends], axis=0) if ends else np.zeros(2 * n))
        return np.stack(columns, axis=1)

    def newton(self, trip: RoundTrip) -> tuple[RoundTrip, int]:
        """Return the trip that closes best near another one, and the steps made."""
        best = trip
        for count in range(STEPS):
            if best.found.residual <= SHARP:
                return best, count
            better = self._along(best, self.step(best))
            if better is None:
                return best, count
            best = better
        return best, STEPS

    def step(self, trip: RoundTrip) -> Array:
        """Return Newton's step: of the start along the basis, then of the period where that is sought."""
        matrix, right = return_equations(trip.found, self.derivative(trip), self.steady, self._speed(trip))
        left, values, across = np.linalg.svd(matrix, full_matrices=False)
        # Families, and coordinates that need not return, leave directions open: the least step.
        kept = values > FAMILY * values.max(initial=0.0)
        return np.asarray(across[kept].T @ ((left.T @ right)[kept] / values[kept]))

    def _speed(self, trip: RoundTrip) -> float | None:
        """Return the period of a trip where it is sought."""
        return trip.period if self.free_period else None

    def _along(self, trip: RoundTrip, step: Array) -> RoundTrip | None:
        """Return a trip with a smaller gap along a step; None where there is none."""
        n, count = len(trip.q), trip.found.basis.shape[1]
        share = 1.0
        for _ in range(HALVINGS):
            z = trip.z + share * trip.found.basis @ step[:count]
            period = trip.period * (1 + share * float(step[count])) if self.free_period else trip.period
            if period > 0:
                other = self.trip(trip.t, *self.settled(trip, z[:n], z[n:]), period, trip.on)
                if other is not None and other.found.residual < trip.found.residual * (1 - 0.1 * share):
                    return other
            share *= 0.5
        return None


def on_at(motion: Motion, t: float) -> tuple[str, ...] | None:
    """Return the constraints that are switched on at a time of a motion; None where nothing ever is switched."""
    found: tuple[str, ...] | None = motion.at(t).get("on")
    return found
