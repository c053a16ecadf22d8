"""The way through a singular point of the configuration space, for mechanisms with one degree of freedom.

Next to the point the motion leaves the equations with multipliers, which may blow up there, and goes on along the
half-branch it is on, as a curve (see `reduced`). At the point it stops, goes straight on, or takes the branch that it
is told; beyond it, it returns to the usual steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.measured import measured_in
from zwang._results.motion import MotionStatus
from zwang._results.motion_dense import states_in_piece
from zwang._results.motion_parts import Continuation
from zwang._simulate.instant import user_events
from zwang._simulate.moment import Context, Decision, Moment, Stop, Transition, Turn, Watch, event_at, keeping
from zwang._simulate.reduced import Passage, ReducedCurve, move_along
from zwang._simulate.stretch import pieces_in
from zwang._trace.local_structure import LocalBranch, LocalStructure
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
ON_BRANCH = 1e-8
"""Distance from a half-branch, in units of the coordinates, up to which a state is on it."""
CLEARLY = 1e-2
"""The part of its way to the point by which a state may be beside a half-branch at coarse tolerances."""
SAME_DIRECTION = 1e-5
"""Distance between unit tangents up to which they are one direction."""
NOTHING = 1e-12
"""Components of a unit vector below this are printed as zero."""
SAMPLES = 24
"""Places of a passage at which other events are looked for, for each step of it."""


@dataclass(frozen=True, eq=False)
class Way:
    """A half-branch out of a singular point, as a motion may take it.

    Attributes
    ----------
    number : int
    half : LocalBranch
    curve : ReducedCurve
        From the point, u = 0, outwards.
    """

    number: int
    half: LocalBranch
    curve: ReducedCurve

    def place_of(self, q: Array) -> tuple[float, float]:
        """Return the u whose point is nearest to q, and the distance in units of the coordinates."""
        u = np.linspace(0.0, self.curve.end, 65)
        points = self.curve.many(u)[0]
        best = float(u[int(np.argmin(np.linalg.norm((points - q) / self.half.scale, axis=1)))])
        for _ in range(30):
            at, first, second = self.curve.at(best)
            off = at - q
            slope, bend = first @ off, first @ first + second @ off
            step = slope / bend if bend > 0 else slope / (first @ first)
            best = float(np.clip(best - step, 0.0, self.curve.end))
            if abs(step) <= 1e-16 * self.curve.end:
                break
        return best, float(np.abs((self.curve.at(best)[0] - q) / self.half.scale).max())

    def inwards(self, q: Array, v: Array) -> bool:
        """Say whether a velocity at a position on it leads towards the point."""
        return bool(self.curve.at(self.place_of(q)[0])[1] @ v < 0.0)


class Crossing:
    """A singular point on the way of a motion."""

    def __init__(self, context: Context, decision: Decision, found: LocalStructure) -> None:
        self.context, self.decision, self.found = context, decision, found
        self.ways = [Way(k, half, _curve_of(half)) for k, half in enumerate(found.half_branches)]

    def way_of(self, q: Array) -> Way | None:
        """Return the half-branch that a position is on."""
        fitting = [(*way.place_of(q)[::-1], way.number) for way in self.ways if way.half.root == 1]
        miss, u, number = min(fitting, default=(np.inf, 0.0, -1))
        # Coarse steps leave a motion beside its curve, by less than what tells it from the other curves there.
        beside = max(ON_BRANCH, min(self.context.options.tol, CLEARLY * abs(u)))
        return self.ways[number] if miss <= beside else None

    def along(self, v: Array) -> list[Way]:
        """Return the half-branches that leave the point in the direction of a velocity."""
        speed = float(np.linalg.norm(v))
        if speed == 0.0:
            return []
        return [way for way in self.ways if np.abs(way.half.tangent - v / speed).max() <= SAME_DIRECTION]

    def equations(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return M and Q."""
        terms = self.context.terms(t, q, v)
        return terms.mass[:, :, 0], terms.force[:, 0]

    def go(self, moment: Moment, way: Way) -> Transition:
        """Return the way to the moment at which the motion has left the neighbourhood of the point, or to its stop."""
        u, _ = way.place_of(moment.q)
        first = way.curve.at(u)[1]
        rate = float(first @ moment.v / (first @ first))
        made = Transition(moment, self.decision)
        while True:
            passage, watches = self._along(made.moment, way, u, rate)
            made = made.then(self._recorded(made.moment, passage))
            made = made.then(user_events(self.context, made.moment, self.decision, watches, passage.a[-1]))
            if isinstance(made.decision, Stop) or made.due is not None:
                return made
            if passage.left != 0.0 or made.moment.t >= self.context.options.until:
                return made
            entry = (float(passage.t[0]), passage.q[0].copy(), passage.v[0].copy())
            with keeping(made):
                turned, taken = self._at_point(made.moment, way, entry)
            made = made.then(turned)
            if taken is None:
                return made
            way = taken
            first = way.curve.at(0.0)[1]
            u, rate = 0.0, float(first @ made.moment.v / (first @ first))

    def _along(self, moment: Moment, way: Way, u: float, rate: float) -> tuple[Passage, tuple[Watch, ...]]:
        """Return the motion along a half-branch, and the user's events that end it."""
        options = self.context.options
        passage = move_along(way.curve, self.equations, moment.t, u, rate, options.until, options.tol)
        hit = self._first_event(passage)
        if hit is None:
            return passage, ()
        return move_along(way.curve, self.equations, moment.t, u, rate, hit[0], options.tol), hit[1]

    def _first_event(self, passage: Passage) -> tuple[float, tuple[Watch, ...]] | None:
        """Return when a user's expression first passes zero inside a passage, and which do; None if none does."""
        events, params = self.context.options.events, self.context.params
        if not events:
            return None
        measured = measured_in(self.context.model.system, self.context.options.watched)
        times: list[tuple[float, int]] = []
        for k in range(len(events)):

            def value(time: float, k: int = k) -> float:
                q, v = np.split(states_in_piece(passage, np.array([time]))[0], 2)
                return float(measured.value(k, time, q, v, params))

            found = _first_zero(value, np.linspace(passage.t[0], passage.t[-1], SAMPLES * (len(passage.t) - 1) + 1))
            if found is not None:
                times.append((found, k))
        if not times:
            return None
        first = min(times)[0]
        same = first + 1e-13 * max(abs(first), abs(self.context.options.until))
        return first, tuple(("extra", k) for time, k in times if time <= same)

    def _recorded(self, moment: Moment, passage: Passage) -> Transition:
        place = self.found.place
        drift = max(float(np.abs(place.values(q)[0] * place.weights).max(initial=0.0)) for q in passage.q)
        later = moment.but(t=float(passage.t[-1]), q=passage.q[-1].copy(), v=passage.v[-1].copy())
        return Transition(later, self.decision, pieces=pieces_in(self.decision, passage), drift=drift)

    # At the point itself.
    def continuations(self, moment: Moment) -> tuple[Continuation, ...]:
        """Return the half-branches as ways to go on, each with the speed of the motion in the kinetic metric."""
        mass = self.equations(moment.t, self.found.q, moment.v)[0]
        energy = float(moment.v @ mass @ moment.v)
        system = self.context.model.system
        made = []
        for way in self.ways:
            tangent = way.half.tangent
            v = tangent * np.sqrt(energy / (tangent @ mass @ tangent))
            state = {item.name: float(value) for item, value in zip(system.coordinates, self.found.q, strict=True)}
            state |= {item.name: float(value) for item, value in zip(system.velocities, v, strict=True)}
            shown = ", ".join(f"{0.0 if abs(part) < NOTHING else part:.6g}" for part in tangent)
            made.append(
                Continuation(
                    f"half-branch {way.number} of curve {way.half.curve}, direction ({shown})",
                    state={**state, "t": moment.t},
                )
            )
        return tuple(made)

    def _at_point(
        self, moment: Moment, arriving: Way, entry: tuple[float, Array, Array]
    ) -> tuple[Transition, Way | None]:
        """Return what follows at the point, and the half-branch that is taken from there; None where it stops."""
        found = self.found
        ways = self.continuations(moment)
        place = Crossroads(
            self.context.name,
            ways,
            self._straight(arriving),
            unasked=f"{len(ways)} half-branches leave it. at_singular= says how to go on.",
            unchosen="the rule in at_singular chose none of them.",
            crossing=self,
            entry=entry,
        )
        chosen, why, details = self.context.policies.at_singular(place)
        event = event_at(
            moment.t,
            "singular",
            reason=f"{found.kind} of {len(found.tangents)} curves",
            point=dict(ways[0].state) if ways else None,
            **details,
        )
        told = Transition(moment, self.decision, (event,))
        if chosen is None:
            reason = f"At t = {moment.t:.12g} the motion is at a singular point ({found.kind}): {why}"
            return told.stopping(Stop(MotionStatus.SINGULAR, reason, self._open(arriving, ways))), None
        names = [item.name for item in self.context.model.system.velocities]
        v = np.array([ways[chosen].state[name] for name in names])
        if np.abs(v - moment.v).max() > SAME_DIRECTION * (self.context.step_sizes.speed + np.abs(v)).max():
            return replace(told, moment=moment.but(v=v), jumps=(turned_into(moment.v, v),)), self.ways[chosen]
        return told, self.ways[chosen]  # the same direction up to rounding: nothing jumps

    def _open(self, arriving: Way, ways: tuple[Continuation, ...]) -> tuple[Continuation, ...]:
        """Return the ways on: those in the direction of arrival where they are several, else all but the way back."""
        same = self.along(-arriving.half.tangent)
        chosen = same if len(same) > 1 else [way for way in self.ways if way is not arriving]
        return tuple(ways[way.number] for way in chosen)

    def _straight(self, arriving: Way) -> tuple[int | None, str]:
        same = self.along(-arriving.half.tangent)
        if len(same) != 1:
            many = "no half-branch leaves" if not same else f"{len(same)} half-branches leave"
            return None, f"{many} it in the direction of arrival, so that going straight on is not one continuation."
        return same[0].number, ""


@dataclass(frozen=True, eq=False)
class Crossroads:
    """A singular point at which a rule chooses.

    Attributes
    ----------
    name : str
        Of the system.
    ways : tuple of Continuation
    straight : tuple
        The number of the way straight on, else None and why there is none.
    unasked, unchosen : str
        What is said where no rule was given, and where the rule chose nothing.
    crossing, entry
        The point with its half-branches where they are listed, and the state in which the motion came near it.
    """

    name: str
    ways: tuple[Continuation, ...]
    straight: tuple[int | None, str]
    unasked: str
    unchosen: str
    crossing: Crossing | None = None
    entry: tuple[float, Array, Array] | None = None


def stop_at(place: Crossroads) -> tuple[int | None, str, dict[str, Any]]:
    """Take no way."""
    return None, place.unasked, {}


def straight_on(place: Crossroads) -> tuple[int | None, str, dict[str, Any]]:
    """Take the way in the direction of arrival, if it is the only one."""
    return (*place.straight, {})


def by_rule(rule: Callable[[tuple[Continuation, ...]], Any]) -> Turn:
    """Return what takes the way that a user's rule chooses."""
    return lambda place: (_index(rule(place.ways), place.ways, place.name), place.unchosen, {})


def turned_into(before: Array, after: Array) -> dict[str, Any]:
    """Return the jump of a velocity that turns into another branch without an impulse of a constraint."""
    nothing: dict[str, Any] = {"impulses": {}, "friction_impulses": {}}
    return {**nothing, "before": before.copy(), "after": after, "energy_change": 0.0}


def _curve_of(half: LocalBranch) -> ReducedCurve:
    """Return a half-branch as a curve, in the declared coordinates."""
    series = half.series * half.scale
    series[0] += half.q
    return ReducedCurve(series, half.reach)


def _index(answer: Any, ways: tuple[Continuation, ...], name: str) -> int | None:
    """Return the number of the continuation that a rule chose."""
    if answer is None:
        return None
    for number, way in enumerate(ways):
        if answer is way:
            return number
    if isinstance(answer, (int, np.integer)) and 0 <= int(answer) < len(ways):
        return int(answer)
    raise DeclarationError(
        f"{name}: the rule in at_singular= returned {answer!r:.60}; it gets {len(ways)} continuations and returns one "
        "of them, its number, or None to stop."
    )


def _first_zero(value: Callable[[float], float], times: Array) -> float | None:
    """Return the first zero of a function after the first time, None where its samples keep their sign."""
    from scipy.optimize import brentq

    before = value(float(times[0]))
    for left, right in itertools.pairwise(times):
        here = value(float(right))
        if before * here < 0:
            return float(brentq(value, float(left), float(right), xtol=1e-15, rtol=1e-15))
        if here == 0.0 and before != 0.0:
            return float(right)
        before = here
    return None
