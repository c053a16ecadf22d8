"""Nearby motions through an event: jump (saltation) matrices.

A nearby motion meets the event's surface g(t, z, p) = 0 at another time. With x = dz at fixed time before it, f- and f+
the rates of z before and after, and z+ = R(t, z, p),

    dtau = -(g_z x + g_p dp)/(g_t + g_z f-),    x+ = DR (x + f- dtau, dtau, dp) - f+ dtau.

R is the identity but for jumps of the velocity. Those are differentiated as they are computed, whatever law makes them:
by differences of high order along the directions that occur, on the constraints that hold, and from both sides, since
an outcome on the edge of its mode has no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.variations import Jets, ModeVariations
from zwang._linearize.trail import Instant
from zwang._numerics.impacts import ImpactProblem, resolve_impact
from zwang._numerics.impacts.patterns import alone, pattern_map
from zwang._numerics.linear.projection import landed
from zwang._simulate.active_set import closing_at, known_at, standing_at_event
from zwang._simulate.consequences import at_end_of_steps, consequences
from zwang._simulate.event_effects import reset_map
from zwang._simulate.impact import impact_problem, nearby_impacts
from zwang._simulate.machine import handle
from zwang._simulate.moment import Context, Fired, Moment, Start, Stop, terms_at
from zwang._simulate.stretch import moving_for

Array = NDArray[np.float64]
STEPS = (1e-4, 1e-5, 1e-6)
"""Of the differences, in parts of the sizes of the state: the next one where an outcome changes within the last."""
KINK = 1e-4
"""Part of the derivatives by which those from the two sides may differ."""
GRAZING = 1e-6
"""A watch whose rate is below this part of its terms' rates grazes its zero."""
SAME = 1e-6
"""Part by which shifts of the times of two events may differ that count as one."""
RUNGS = ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0))
"""Places and weights (over 12) of differences of fourth order."""


class NotDifferentiableError(Exception):
    """A motion has no derivative at an instant; the text says why."""

    def __init__(self, time: float, words: str) -> None:
        super().__init__(f"At t = {time:.12g} {words}.")
        self.time = time


class GrazedError(NotDifferentiableError):
    """A motion has no derivative because it grazes an event."""


def shift_of_time(jets: Jets, made: ModeVariations, watch: tuple[str, int], f: Array, x: Array, dp: Array) -> Array:
    """Return dtau (k,) of the event at which a watch vanishes, for nearby motions x (2 n, k).

    `jets` has everything at the event (one state), f (2 n,) is the rate of the state before it.
    """
    row = made.watched.start + made.watches.index(watch)
    slope = jets.slope[row, :, 0]
    n = made.n
    by_t, by_z, by_p = slope[0], slope[1 : 1 + 2 * n], slope[1 + 2 * n :]
    rate = float(by_t + by_z @ f)
    size = float(abs(by_t) + np.abs(by_z) @ np.abs(f))
    if not abs(rate) > GRAZING * size:
        raise GrazingError(watch, rate)
    return np.asarray(-(by_z @ x + by_p @ dp) / rate)


class GrazingError(Exception):
    """A watch comes to its zero without crossing it."""

    def __init__(self, watch: tuple[str, int], rate: float) -> None:
        super().__init__(f"rate {rate:.1e}")
        self.watch = watch


@dataclass(frozen=True, eq=False)
class JumpMap:
    """The velocity after an instant as a function of the state before it.

    Attributes
    ----------
    whole : callable
        As the motion computes it; None where the outcome is no velocity.
    smooth : callable or None
        The same within the pattern that the impact has, where it has one, or the reset that an event is: from many
        t (B,), q and v (n, B) and parameters (p, B) to velocities (B, n).
    """

    whole: Callable[[Context, Moment], Array | None]
    smooth: Callable[[Array, Array, Array, Array], Array] | None = None


def jump_map(context: Context, instant: Instant) -> JumpMap:
    """Return the map of the velocity at an instant."""
    before = instant.before
    terms = terms_at(context, before)
    standing = standing_at_event(context, before, terms)
    known, closing = before, closing_at(context, terms, instant.watches, standing)
    if instant.decision is not None:
        known = known_at(context, before, instant.decision, instant.watches, terms, standing)
    law = context.options.impact
    assert instant.after is not None

    def problem_of(ground: Context, moment: Moment) -> tuple[ImpactProblem, tuple[int, ...]]:
        touching = moment.but(touching=known.touching, resting=known.resting, tied=known.tied)
        return impact_problem(ground, touching, terms_at(ground, touching), closing, False)

    def struck(ground: Context, moment: Moment) -> Array | None:
        outcome = resolve_impact(problem_of(ground, moment)[0], law)
        return None if outcome.choice is not None else np.asarray(outcome.velocity)

    def handled(ground: Context, moment: Moment) -> Array | None:
        if instant.decision is None:
            following = consequences(ground, handle(ground, moment, Start()), None)
        else:
            decision, watches = instant.decision, instant.watches
            steps = moving_for(ground.model, decision.mode.mode, ground.options.events)
            if ground.options.events:
                moment = at_end_of_steps(ground, moment, decision, watches)
            following = handle(ground, moment, Fired(decision, watches, steps, instant.past))
            following = consequences(ground, following, decision)
        return None if isinstance(following.decision, Stop) else following.moment.v

    size = float(np.abs(instant.after.v).max(initial=0.0)) + float(np.abs(before.v).max(initial=0.0))

    def same(velocity: Array | None) -> bool:
        assert instant.after is not None
        return velocity is not None and bool(np.abs(velocity - instant.after.v).max(initial=0.0) <= SAME * size)

    if not closing:
        fired = [context.options.events[k] for kind, k in instant.watches if kind == "extra"]
        reset = reset_map(fired) if all(kind in ("extra", "surface") for kind, _ in instant.watches) else None
        if reset is None or not same(reset(context, before)):
            return JumpMap(handled)

        def after_reset(t: Array, q: Array, v: Array, params: Array) -> Array:
            grounds = (replace(context, params=values) for values in params.T)
            moments = (before.but(t=float(t[k]), q=q[:, k], v=v[:, k], ahead=None) for k in range(len(t)))
            return np.array([reset(ground, moment) for ground, moment in zip(grounds, moments, strict=True)])

        return JumpMap(handled, after_reset)
    problem, numbers = problem_of(context, before)
    outcome = resolve_impact(problem, law)
    if outcome.choice is not None or not same(outcome.velocity):
        return JumpMap(handled)
    inside = pattern_map(problem, law, None if law == "poisson" else outcome)
    if inside is None or not same(inside(alone(problem))[0]):
        return JumpMap(struck)
    return JumpMap(struck, lambda t, q, v, params: inside(nearby_impacts(context, numbers, t, q, v, params)))


def jump_derivative(context: Context, instant: Instant, dt: Array, dz: Array, dp: Array) -> Array:
    """Return how the velocity after a jump changes (n, k) along the directions dt (k,), dz (2 n, k), dp (p, k)."""
    if not dz.shape[1]:  # what is held at the start leaves nothing free
        return np.zeros((len(dz) // 2, 0))
    made = jump_map(context, instant)
    sizes = _sizes(context, instant)
    ways = [_Direction(context, instant, float(dt[k]), dz[:, k], dp[:, k], sizes) for k in range(dz.shape[1])]
    if made.smooth is not None:
        slopes = _smooth_slopes(context, instant, made.smooth, ways)
        mixed = np.random.default_rng(0).uniform(0.5, 1.0, len(ways)) / np.array([way.length or 1.0 for way in ways])
        way = _Direction(context, instant, float(dt @ mixed), dz @ mixed, dp @ mixed, sizes)
        if way.agrees(made.whole, slopes @ mixed):
            return slopes
    found = [way.searched(made.whole) for way in ways]
    return np.stack(found, axis=1)


def _smooth_slopes(
    context: Context, instant: Instant, smooth: Callable[[Array, Array, Array, Array], Array], ways: list[_Direction]
) -> Array:
    """Return the derivatives (n, k) of a smooth map along directions, all states at once.

    They lie along the tangents of the constraints that held: off them the map goes on, with the same derivative.
    """
    before, n = instant.before, len(instant.before.q)
    steps = np.array([STEPS[0] / way.length if way.length else 0.0 for way in ways])
    places = np.array([place for place, _ in RUNGS])
    s = (steps[:, None] * places).ravel()  # direction after direction, all places of each
    along = np.repeat(np.array([[way.dt, *way.dz, *way.dp] for way in ways]), len(RUNGS), axis=0) * s[:, None]
    start = np.concatenate([[before.t], before.q, before.v, context.params])
    rows = np.ascontiguousarray((start + along).T)
    found = smooth(rows[0], rows[1 : 1 + n], rows[1 + n : 1 + 2 * n], rows[1 + 2 * n :])
    weights = np.array([weight for _, weight in RUNGS])
    sums = np.einsum("r,krn->kn", weights, found.reshape(len(ways), len(RUNGS), n))
    return np.asarray((sums / np.where(steps > 0, 12 * steps, np.inf)[:, None]).T)


def _sizes(context: Context, instant: Instant) -> Array:
    """Return the sizes of positions and velocities so far, none of them zero."""
    q, v, _ = instant.before.memory.sizes if instant.decision is not None else instant.before.begin().memory.sizes
    turns = np.array([bool(item.angle) for item in context.model.system.coordinates])
    found = []
    for part in (np.maximum(q, turns), np.maximum(v, np.abs(instant.before.v))):
        largest = float(part.max(initial=0.0)) or 1.0
        found.append(np.where(part > 0, part, largest))
    return np.concatenate(found)


class _Direction:
    """States beside that of an instant, along one direction."""

    def __init__(self, context: Context, instant: Instant, dt: float, dz: Array, dp: Array, sizes: Array) -> None:
        self.context, self.instant, self.dt, self.dz, self.dp = context, instant, dt, dz, dp
        params = np.abs(context.params)
        parts = [np.abs(dz) / sizes, np.abs(dp) / np.where(params > 0, params, 1.0)]
        self.length = max(float(part.max(initial=0.0)) for part in parts) or abs(dt)

    def at(self, apply: Callable[[Context, Moment], Array | None], s: float) -> Array | None:
        """Return the velocity after the jump from the state at s."""
        before, n = self.instant.before, len(self.instant.before.q)
        ground = self.context
        if np.any(self.dp):
            ground = replace(ground, params=ground.params + s * self.dp)
        q, v = before.q + s * self.dz[:n], before.v + s * self.dz[n:]
        moved = before.but(t=before.t + s * self.dt, q=q, v=v, ahead=None)
        return apply(ground, _on_constraints(ground, self.instant, moved))

    def agrees(self, apply: Callable[[Context, Moment], Array | None], slope: Array) -> bool:
        """Say whether a map has this derivative from both sides."""
        if self.length == 0.0:
            return True
        h = STEPS[-1] / self.length
        here, ahead, behind = (self.at(apply, s) for s in (0.0, h, -h))
        if here is None or ahead is None or behind is None:
            return False
        off = max(float(np.abs(ahead - here - h * slope).max()), float(np.abs(behind - here + h * slope).max()))
        return off <= KINK * h * self._scale(slope)

    def _scale(self, slope: Array) -> float:
        n = len(slope)
        speeds = float(np.abs(self.instant.before.v).max(initial=0.0))
        return max(float(np.abs(slope).max()), float(np.abs(self.dz[n:]).max()), 1e-3 * self.length * speeds)

    def searched(self, apply: Callable[[Context, Moment], Array | None]) -> Array:
        """Return the derivative of a map that may have edges; NotDifferentiableError where it has one here."""
        if self.length == 0.0:
            return np.zeros(len(self.instant.before.q))
        here = self.at(apply, 0.0)
        for step in STEPS:
            h = step / self.length
            found = {place: self.at(apply, place * h) for place, _ in RUNGS}
            values = {place: value for place, value in found.items() if value is not None}
            if here is None or len(values) < len(RUNGS):
                continue
            ahead = (-3 * here + 4 * values[1.0] - values[2.0]) / (2 * h)
            behind = (3 * here - 4 * values[-1.0] + values[-2.0]) / (2 * h)
            slope = np.asarray(sum(weight * values[place] for place, weight in RUNGS) / (12 * h))
            if np.abs(ahead - behind).max() <= KINK * self._scale(slope):
                return slope
        words = "the outcome of an impact is on the edge of its mode: it changes from side to side"
        raise NotDifferentiableError(self.instant.before.t, words)


def _on_constraints(ground: Context, instant: Instant, moment: Moment) -> Moment:
    """Return a state beside that of an instant, on the constraints that held until then."""
    decision = instant.decision
    if decision is None or decision.held is None:
        return moment
    mode = decision.held.mode
    if not mode.held and not mode.sticking:
        return moment
    q, v = landed(ground.conditions(moment.t, mode.held, mode.sticking), moment.q, moment.v, rounds=2)
    return moment.but(q=q, v=v)
