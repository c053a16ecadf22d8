"""Cycles beyond a grazing: those that meet a contact with a given speed, which is their coordinate.

The return map has the root of the distance to a grazing in it, and Newton's method on it fails there. With z the state
just before the impact, R what the impact does and F the motion of one period that looks away from the contact at both
ends, cycles with the approach speed u solve

    F(R(z)) = z,    gap(z) = 0,    gap'(z) = -u,

which is smooth down to u = 0, the grazing itself. The branch leaves to the side to which its parameter goes with u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._cycles.continued import CyclesOver, Near, Place
from zwang._cycles.return_map import on_at
from zwang._cycles.signs import OnBranch
from zwang._linearize.monodromy import TURN, start_basis
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.trail import PassedStretch, Trail, followed
from zwang._linearize.variational_flow import VariationalFlow
from zwang._numerics.budget import spend
from zwang._numerics.impacts import ImpactProblem, resolve_impact
from zwang._numerics.impacts.patterns import alone, pattern_map
from zwang._numerics.linear.projection import landed
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_dense import states_at
from zwang._simulate.impact import impact_problem
from zwang._simulate.moment import Context, terms_at
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
SPEEDS = (1e-4, 3e-4, 1e-3, 3e-3)
"""Approach speeds, in parts of the contact's, with which the branch beyond is entered: slower ones close less well."""
BESIDE = (1e-6, 1e-5, 1e-4)
"""Parts of the range at which cycles without the impact are looked for, to either side."""
APART = 1e-9
"""Part of a period by which events are not at one instant."""
ASIDE = 0.4
"""Part of the time to the next events for which the contact is looked away from."""
NUDGE = 1e-6
"""Part of the sizes by which gap, rate and impact are differentiated."""
ROUNDS = 12  # of Newton's method; it takes four
SHARP = 1e-11
"""Gap at which the equations are solved: what is entered is polished by itself."""
FAR = 0.1
"""Part of the range within which the grazing must be from the last cycle of the branch."""
ONWARD = 0.3
"""Part of its distance from the grazing by which a branch is first followed: Newton's method fails further away."""


class Leaving(NamedTuple):
    """The grazing's place in the range, the cycle with which another branch leaves it, and its first step."""

    value: float
    here: OnBranch | None
    step: float


@dataclass(frozen=True, eq=False)
class Meeting:
    """A state in contact before an impact, the time of it, the period where it is sought, the parameter."""

    t: float
    place: Place


class _Passed(NamedTuple):
    """A motion of one period from a meeting: its pieces, the time of their first end, and where they come to."""

    trails: list[Trail]
    motions: list[Motion]

    @property
    def end(self) -> Array:
        last = self.motions[-1]
        return np.concatenate([last.q[-1], last.v[-1]])

    @property
    def aside(self) -> tuple[float, Array]:
        """When the contact is looked at again, and the state there."""
        first = self.motions[0]
        return float(first.t[-1]), np.concatenate([first.q[-1], first.v[-1]])


def leaving(last: Near, beyond: Near) -> Leaving | None:
    """Return how another branch leaves the grazing at which a branch ends; None where it is no grazing of a flight.

    Parameters
    ----------
    last : Near
        The last cycle of the branch.
    beyond : Near
        A motion beyond, of which an impact has come or gone.
    """
    met = _slowest(last, beyond)
    if met is None:
        return None
    try:
        return _Contact(last, *met).leaving()
    except (DeclarationError, StateError, NotDifferentiableError, np.linalg.LinAlgError):
        return None


def _slowest(last: Near, beyond: Near) -> tuple[Near, Any, bool] | None:
    """Return the impact that comes or goes with the least speed, whose motion has it, and whether it comes."""
    counts = [
        {name: [one for one in near.trip.motion.events.of("impact") if one.constraint == name] for name in names}
        for near, names in ((one, {event.constraint for event in one.trip.motion.events.of("impact")})
                            for one in (last, beyond))
    ]  # fmt: skip
    found = []
    for near, own, other, comes in ((beyond, counts[1], counts[0], True), (last, counts[0], counts[1], False)):
        for name, events in own.items():
            if name is not None and len(events) > len(other.get(name, ())):
                found += [(abs(_rate(near, event)), near, event, comes) for event in events]
    return min(found, key=lambda item: item[0])[1:] if found else None


def _rate(near: Near, event: Any) -> float:
    """Return the rate of the gap just before an impact."""
    stretch = _before(near, event)
    context = near.trip.trail.context if stretch is None else stretch.context
    place = context.table.places[context.table.names.index(event.constraint)]
    q = states_at(near.trip.motion.pieces, np.array([event.time]))[0][: len(near.trip.q)]
    before = np.ravel(np.asarray(event.details["before"], dtype=float))
    return float(context.terms(event.time, q, before).rate[place.normal, 0])


def _before(near: Near, event: Any) -> PassedStretch | None:
    """Return the stretch that leads to an impact."""
    stretches = [item for item in near.trip.trail.way if isinstance(item, PassedStretch)]
    return next((item for item in stretches if item.t[0] < event.time <= item.t[-1]), None)


class _Contact:
    """Cycles that meet one contact at a given speed."""

    def __init__(self, last: Near, near: Near, event: Any, comes: bool) -> None:
        self.last, self.near, self.event, self.comes = last, near, event, comes
        self.over: CyclesOver = last.over
        self.name: str = event.constraint
        stretch = _before(near, event)
        self.context: Context = last.trip.trail.context if stretch is None else stretch.context
        self.number = self.context.table.names.index(self.name)
        self.normal = self.context.table.places[self.number].normal
        self.on = near.trip.on_at(float(event.time))
        self.aside = self._aside()
        n = len(last.trip.q)
        held = () if stretch is None else stretch.mode.held
        sticking = () if stretch is None else stretch.mode.sticking
        self.held, self.sticking = held, sticking
        places = list(enumerate(self.context.table.places))
        self.touching = frozenset(k for k, place in places if place.one_sided and place.normal in held)
        self.resting = frozenset(k for k, place in places if place.slips and set(place.slips) <= set(sticking))
        self.sizes = last.sizes
        row = np.abs(self._terms(event.time, *self._state(n), last.value).rows[self.normal, :, 0])
        self.reach, self.pace = float(row @ self.sizes[:n]), float(row @ self.sizes[n:])

    def _aside(self) -> float:
        """Return for how long the contact is looked away from on either side of the impact."""
        period, at = self.near.trip.period, float(self.event.time)
        others = [one.time for one in self.near.trip.motion.events if abs(one.time - at) > APART * period]
        gaps = [abs(one + shift * period - at) for one in others for shift in (-1, 0, 1)]
        return ASIDE * min([period, *gaps])

    def _state(self, n: int) -> tuple[Array, Array]:
        q = states_at(self.near.trip.motion.pieces, np.array([self.event.time]))[0][:n]
        return q, np.ravel(np.asarray(self.event.details["before"], dtype=float))

    def _params(self, value: float) -> Array:
        params = self.context.values(float(self.event.time))[:, 0].copy()  # inputs may change them on the way
        params[self.over.number] = self.over.parameter(value)
        return params

    def _ground(self, value: float) -> Context:
        return replace(self.context, params=self._params(value))

    def _terms(self, t: float, q: Array, v: Array, value: float) -> Any:
        return self._ground(value).terms(t, q, v)

    # One period, and what it does to nearby motions.
    def passed(self, met: Meeting, after: Array) -> _Passed | None:
        """Return the motion of one period from the velocity after an impact; None where it does not last."""
        n, period = len(after), self._period(met)
        ends = [met.t + self.aside, met.t + period - self.aside, met.t + period]
        question, options = self.over.question_at(met.place.value), self.over.options
        if question.driven is not None:
            question.driven.require(met.t, ends[-1])  # tables end
        t, q, v = met.t, met.place.z[:n], after
        trails, motions = [], []
        on = self.on
        for end, looks in zip(ends, (False, True, False), strict=True):
            given = question.started(t, q, v)
            motion, trail = followed(question.model, given, replace(options, until=end, on=self._seen(on, looks)))
            spend()  # a motion that a budget ended is no motion that does not last
            if motion.status is not MotionStatus.REACHED or motion.t[-1] < end:
                return None
            trails.append(trail)
            motions.append(motion)
            on = None if self.on is None else on_at(motion, end)
            t, q, v = end, motion.q[-1].copy(), motion.v[-1].copy()
        return _Passed(trails, motions)

    def _seen(self, on: tuple[str, ...] | None, looks: bool) -> tuple[str, ...] | None:
        """Return what is switched on, with the contact or without it; None where nothing ever is switched."""
        if on is None and looks:
            return self.over.question.on
        rest = [name for name in on or self.context.table.names if name != self.name]
        return tuple([*rest, self.name] if looks else rest)

    def _period(self, met: Meeting) -> float:
        return float(np.exp(met.place.period)) if self.over.free_period else self.over.period(met.place.value)

    def _carried(self, passed: _Passed, x: Array, dp: Array) -> Array:
        for trail in passed.trails:
            x = VariationalFlow(trail, (self.over.number,), dp).run(x).x
        return x

    # The impact.
    def impact(self, met: Meeting) -> Callable[[Meeting], Array] | None:
        """Return the velocity after an impact like that of a meeting made to approach; None where laws differ."""
        n = len(self.sizes) // 2
        terms = self._terms(met.t, met.place.z[:n], met.place.z[n:], met.place.value)
        row = terms.rows[self.normal, :, 0]
        push = np.linalg.solve(terms.mass[:, :, 0], row)
        by = push * (-SPEEDS[-1] * self.pace - float(terms.rate[self.normal, 0])) / float(row @ push)
        problem = self._problem(met, met.place.z[n:] + by)
        outcome = resolve_impact(problem, self.over.options.impact)
        if outcome.choice is not None:
            return None
        law = self.over.options.impact
        inside = pattern_map(problem, law, None if law == "poisson" else outcome)
        return None if inside is None else lambda other: inside(alone(self._problem(other, other.place.z[n:])))[0]

    def _problem(self, met: Meeting, v: Array) -> ImpactProblem:
        ground = self._ground(met.place.value)
        moment = self.last.trip.trail.first.before.but(
            t=met.t, q=met.place.z[: len(v)], v=v, touching=self.touching, resting=self.resting,
            tied=frozenset(), ahead=None,
        )  # fmt: skip
        return impact_problem(ground, moment, terms_at(ground, moment), (self.number,), False)[0]

    # The equations.
    def _known(self, met: Meeting, jump: Callable[[Meeting], Array]) -> Array:
        """Return what is known at a meeting: the velocity after it, the gap, its rate."""
        n = len(self.sizes) // 2
        terms = self._terms(met.t, met.place.z[:n], met.place.z[n:], met.place.value)
        return np.concatenate([jump(met), terms.value[self.normal], terms.rate[self.normal]])

    def solved(self, met: Meeting, speed: float, jump: Callable[[Meeting], Array]) -> tuple[Meeting, _Passed] | None:
        """Return the meeting of a cycle with an approach speed, near another; None where none is found."""
        last = np.inf
        for _ in range(ROUNDS):
            met = self._settled(met)
            known = self._known(met, jump)
            n = len(self.sizes) // 2
            passed = self.passed(met, known[:n])
            if passed is None or abs(met.place.value - self.last.value) > FAR:
                return None
            off = self._off(passed, met, known, speed)
            size = float(np.abs(off).max())
            if size <= SHARP or (size <= 1e3 * SHARP and size > 0.1 * last):
                return met, passed
            last = size
            met = self._step(met, passed, jump, off)
        return None

    def _off(self, passed: _Passed, met: Meeting, known: Array, speed: float) -> Array:
        n = len(self.sizes) // 2
        gap = passed.end - met.place.z
        turns = np.array([bool(item.angle) for item in self.context.model.system.coordinates])
        gap[:n] = np.where(turns, gap[:n] - TURN * np.round(gap[:n] / TURN), gap[:n])
        rows = [i for i in range(2 * n) if i not in self.over.steady]
        return np.append(gap[rows] / self.sizes[rows], [known[n] / self.reach, (known[n + 1] + speed) / self.pace])

    def _step(self, met: Meeting, passed: _Passed, jump: Callable[[Meeting], Array], off: Array) -> Meeting:
        """Return the meeting after a step of Newton's method."""
        n, over = len(self.sizes) // 2, self.over
        basis = start_basis(passed.trails[0], self.sizes)
        d, period = basis.shape[1], self._period(met)
        # Changes of the state, of the time (or of the period, where it is sought), of the parameter.
        dz = np.hstack([basis, np.zeros((2 * n, 2))])
        dt, dvalue = np.zeros(d + 2), np.zeros(d + 2)
        dt[d], dvalue[d + 1] = (0.0 if over.free_period else period), 1.0
        slope = np.stack([self._slope(met, jump, dz[:, k], dt[k], dvalue[k]) for k in range(d + 2)], axis=1)
        first, last = passed.motions[0], passed.motions[-1]
        rates = [_rate_of(passed.trails[k], motion, place)
                 for k, motion, place in ((0, first, 0), (-1, last, -1))]  # fmt: skip
        x = np.vstack([dz[:n], slope[:n]]) - np.outer(rates[0], dt)
        x = self._carried(passed, x, over.width * dvalue[None])
        longer = np.zeros(d + 2)
        longer[d] = period
        if not over.free_period:
            longer[d + 1] = over.longer(met.place.value)
        x = x + np.outer(rates[1], longer)
        rows = [i for i in range(2 * n) if i not in over.steady]
        matrix = np.vstack(
            [(x - dz)[rows] / self.sizes[rows, None], slope[n : n + 1] / self.reach, slope[n + 1 :] / self.pace]
        )
        by = np.linalg.lstsq(matrix, -off, rcond=1e-12)[0]
        place = met.place
        moved = Place(
            place.z + basis @ by[:d],
            place.period + (float(by[d]) if over.free_period else 0.0),
            place.value + float(by[d + 1]),
        )
        return Meeting(met.t + float(dt[d] * by[d]), moved)

    def _slope(self, met: Meeting, jump: Callable[[Meeting], Array], dz: Array, dt: float, dvalue: float) -> Array:
        ends = []
        for sign in (NUDGE, -NUDGE):
            place = Place(met.place.z + sign * dz, met.place.period, met.place.value + sign * dvalue)
            ends.append(self._known(Meeting(met.t + sign * dt, place), jump))
        return np.asarray((ends[0] - ends[1]) / (2 * NUDGE))

    def _settled(self, met: Meeting) -> Meeting:
        """Return a meeting on what holds beside the contact."""
        if not (self.held or self.sticking):
            return met
        n = len(self.sizes) // 2
        on = self._ground(met.place.value).conditions(met.t, self.held, self.sticking)
        q, v = landed(on, met.place.z[:n], met.place.z[n:], rounds=3)
        return Meeting(met.t, replace(met.place, z=np.concatenate([q, v])))

    # What leaves.
    def leaving(self) -> Leaving | None:
        """Return how the other branch leaves."""
        n = len(self.sizes) // 2
        period = self.last.place.period
        guess = Meeting(float(self.event.time), Place(np.concatenate(self._state(n)), period, self.last.value))
        found = self.solved(guess, 0.0, lambda met: met.place.z[n:])
        if found is None:
            return None
        grazing, passed = found
        value = grazing.place.value
        here = self._struck(grazing) if self.comes else self._unstruck(grazing, passed)
        if here is None:
            return Leaving(value, None, 0.0)
        far = abs(here.near.value - value) / max(abs(here.tangent.value), 1e-3)
        return Leaving(value, here, ONWARD * far)

    def _struck(self, grazing: Meeting) -> OnBranch | None:
        """Return the first cycle with the impact."""
        jump = self.impact(grazing)
        for speed in SPEEDS if jump is not None else ():
            assert jump is not None
            found = self.solved(grazing, speed * self.pace, jump)
            if found is None:
                continue
            met, passed = found
            here = self._entered(passed, met.place, met.place.value - grazing.place.value)
            if here is not None:
                return here
        return None

    def _unstruck(self, grazing: Meeting, passed: _Passed) -> OnBranch | None:
        """Return the first cycle without the impact."""
        for share in BESIDE:
            for sign in (1.0, -1.0):
                place = replace(grazing.place, value=grazing.place.value + sign * share)
                here = self._entered(passed, place, sign)
                if here is not None:
                    return here
        return None

    def _entered(self, passed: _Passed, place: Place, side: float) -> OnBranch | None:
        """Return a cycle of the other branch, which goes on to a side of the parameter."""
        t, z = passed.aside
        guess = Place(z, place.period, place.value)
        on = None if self.on is None else on_at(passed.motions[1], t)
        near, along = self.over.near(guess, t, on=on), Place(np.zeros_like(z), 0.0, float(np.sign(side)))
        if near is None:
            return None
        onward = along if not self.comes else near.tangent(along)
        near = None if onward is None else self.over.corrected(guess, t, onward, near.sizes, near)
        if near is None or near.sequence == self.last.sequence or not near.slopes.smooth:
            return None
        tangent = near.tangent(along)
        return None if tangent is None else OnBranch(near, tangent)


def _rate_of(trail: Trail, motion: Motion, place: int) -> Array:
    """Return the rate of the state at the start (0) or the end (-1) of a motion."""
    stretches = [item for item in trail.way if isinstance(item, PassedStretch)]
    a = stretches[place].a[place] if stretches else np.zeros(motion.q.shape[1])
    return np.concatenate([motion.v[place], a])
