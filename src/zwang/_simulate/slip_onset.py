"""Slips of two components that start: from rest to a speed that has a direction of its own.

While a contact sticks, its friction T(t) is what the motion needs. It slips when T leaves the section |T| <= mu N, at
t*. With s the slip, ds/dt = G (F - T(t)), F = -mu N s/|s|, and G positive definite on the slips:

- Forces that grow smoothly leave no slip acceleration at t* itself. F(t*+) must be T(t*), so the slip leaves against
  the normal of the section there, d = -T/|T|, like s = rho (t - t*)^2 d, while F turns with the slip by an angle like
  t - t*. Across d the slip vanishes to this order and the force is free; along d it is the other way round. So the
  leading order is the problem of friction along the line d with the slip across it held, and of several contacts that
  start together each has its own line (a complementarity problem in rho and in what the bounds have left).
- Forces that jump leave a slip acceleration along d, the direction of the new root of `reactions`: s = a (t - t*) d.

Either way the direction is known and never that of a slip acceleration which is rounding. From there on the slip turns
towards its equilibrium at the rate mu N G/|s|, without bound at t*: the first instants are done by collocation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.mode_motion import Moving
from zwang._kernels.stretch_output import PAUSED, Stretch
from zwang._numerics.contact.table import ContactPlace
from zwang._numerics.linear.projection import landed, least_change
from zwang._numerics.motion.collocation import MATRIX, NODES, STAGES, Collocated, collocate
from zwang._numerics.motion.dense_output import fitted, interpolated
from zwang._simulate.mode_labels import solve_mode
from zwang._simulate.moment import Context, Decision, Moment, Transition, Watch, terms_at
from zwang._simulate.stretch import moving_for, pieces_in, turning
from zwang._simulate.watch import ANY, bands_of, sides_of

Array = NDArray[np.float64]
Crossing = tuple[float, tuple[int, ...]]
"""The part of a step at which something happens, and the places of the watches that fire there."""
PARTS = np.concatenate([[0.0], NODES])
KICK = 1e-11
"""Part of the largest speed so far that a slip which starts is given, so that its first row has a direction."""
LEAST = 1e-3
"""Part of the characteristic speed that counts where nothing has moved yet."""
FIRST = 0.1
"""Length of the first step that is tried, in times on which the motion changes little."""
HALVINGS = 40  # of a first step
MOST = 40
"""Steps by collocation after which the usual ones take over in any case."""
AGAIN = 8  # halvings of a later step
SHORTEST = 1e-4
"""Part of the time that is left below which no first step is tried at first."""
SWIFT, SLOWLY = 1e5, 0.1
"""A slip that goes on is led by collocation, too, where it turns so fast compared with the time that is left, and grows
with no more than this part of what friction alone would give it: it has just started."""
MILD = 5.0
"""Rate at which the slip turns times the length of a step up to which explicit steps do."""
NEAR = 1e-5
"""Part of a slip by which it is changed to take derivatives."""
NOTHING = 1e-3
"""Part of the tolerance of speeds below which rounding may make them, in the first instants."""
GUESSES = 6  # of the velocities at the stages, each from the last


def leave_rest(context: Context, moment: Moment, decision: Decision) -> tuple[Transition, tuple[Watch, ...]]:
    """Return the way to the moment at which all slips in planes have directions of their own, that turn slowly.

    Slips that start from rest, and those that had not come far when something else happened. The moment itself where
    there are none. If something happens before that, the way ends there, and the watches that fire are returned too.
    """
    table, planes = context.table, turning(context, decision.labels)
    if not planes:
        return Transition(moment, decision), ()
    places = [place for place in planes if table.of_law(place.law) in moment.resting]
    pulls = {place.law: np.asarray((decision.pulls or {}).get(place.law, np.zeros(2))) for place in places}
    places = [place for place in places if np.any(pulls[place.law])]
    away = {place.law: -pulls[place.law] / np.linalg.norm(pulls[place.law]) for place in places}
    starter = _Starter(context, moment, decision)
    others = [place for place in planes if table.of_law(place.law) not in moment.resting]
    swift = starter.turning(moment.t, moment.q, moment.v, others, away)
    away |= {law: way for law, (way, rate, growing) in swift.items() if growing and rate * starter.left > SWIFT}
    starter.places = [place for place in planes if place.law in away]
    if not away:
        return Transition(moment, decision), ()
    leaving = moment.but(resting=moment.resting - {table.of_law(place.law) for place in places})
    kicked = _kicked(context, leaving, decision, places, away) if places else leaving
    steps = starter.steps(away)
    if not steps:
        return Transition(kicked, decision), starter.fired
    end = steps[-1]
    later = leaving.but(t=float(end.t[-1]), q=end.q[-1].copy(), v=end.v[-1].copy(), ahead=None)
    found = _stretch(steps, kicked.v, starter.accelerations(np.array([moment.t]), moment.q[None], kicked.v[None])[0])
    rows = zip(moment.memory.sizes, (found.q, found.v, found.a), strict=True)
    sizes = tuple(np.maximum(size, np.abs(row).max(axis=0)) for size, row in rows)
    return Transition(later.recalling(sizes=sizes), decision, pieces=pieces_in(decision, found)), starter.fired


class _Starter:
    """The steps of a start; `places` are the contacts whose slips start, or turn fast."""

    def __init__(self, context: Context, moment: Moment, decision: Decision) -> None:
        self.context, self.moment, self.decision = context, moment, decision
        self.mode = decision.mode.mode
        self.places: list[ContactPlace] = []
        self.crossed: Crossing | None = None  # in the last step that was tried
        self.fired: tuple[Watch, ...] = ()

    @property
    def left(self) -> float:
        """The time that is left."""
        return self.context.until - self.moment.t

    @property
    def first(self) -> float:
        """Length of the first step: the last ones may have been short for what lies behind."""
        return min(FIRST * max(self.context.span(self.moment), SHORTEST * self.left), self.left)

    @cached_property
    def moving(self) -> Moving:
        """The equations in this mode."""
        return moving_for(self.context.model, self.mode, self.context.options.events)

    @cached_property
    def kept(self) -> tuple[Array, Array]:
        """On which side of zero each watched quantity stays, and what counts as zero."""
        sides = sides_of(self.context, self.moving, self.decision, self.moment)
        bands = bands_of(self.context, self.moving, self.decision, self.moment)
        return sides, bands if bands is not None else np.zeros(len(sides))

    def steps(self, away: dict[int, Array]) -> list[Collocated]:
        """Return the steps until explicit ones do; none where no first one can be made."""
        moment, until = self.moment, self.context.until
        t, q, v = moment.t, moment.q, moment.v
        h = self.first
        made: list[Collocated] = []
        tries = HALVINGS
        while tries and len(made) < MOST and h > 0 and t + h > t:
            step = self._step(t, q, v, h, away)
            if step is None and self.crossed is not None:  # something happens in it: to where it does
                part, reached = self.crossed
                watches = tuple(self.moving.watch_names[i] for i in reached)
                if t + part * h == t:
                    self.fired = watches
                    break
                step = self._step(t, q, v, part * h, away, reached)
                self.fired = watches if step is not None else ()
            if step is None:
                tries, h = tries - 1, h / 2
                continue
            made.append(step)
            t, q, v = float(step.t[-1]), step.q[-1], step.v[-1]
            found = self.turning(t, q, v, self.places)
            away = {law: way for law, (way, _, _) in found.items()}
            if self.fired or max(rate for _, rate, _ in found.values()) * h <= MILD or t >= until:
                break
            tries, h = AGAIN, min(2 * h, until - t)
        return made

    def _step(
        self, t: float, q: Array, v: Array, h: float, away: dict[int, Array], reached: tuple[int, ...] = ()
    ) -> Collocated | None:
        """Return a step; None where there is none, or where something crosses its side but what is `reached`."""
        self.crossed = None
        guess = self._guess(t, q, v, h, away)
        least = NOTHING * self.context.options.tol * float(self.context.step_sizes.speed.min())
        step = None
        if guess is not None:
            step = collocate(self.accelerations, t, q, v, h, guess, self._nudge, least=least)
        if step is None:
            return None
        tol = self.context.options.tol * (self.context.step_sizes.speed + np.abs(step.v).max(axis=0))
        if np.any(step.tail > 0.1 * tol) or not self._leaves(step, away):
            return None
        self.crossed = self._crossing(step, reached)
        return None if self.crossed is not None else self._landed(step)

    def accelerations(self, t: Array, q: Array, v: Array) -> Array:
        """Return the accelerations (k, n) in this mode."""
        return solve_mode(self.context.table, self.context.many(t, q, v), self.mode).acceleration.T

    def _guess(self, t: float, q: Array, v: Array, h: float, away: dict[int, Array]) -> Array | None:
        """Return the velocities in the nodes to leading order: friction along lines; None where a slip goes back."""
        speeds = np.repeat(v[None], STAGES, axis=0)
        times, drift = t + h * NODES, q + h * NODES[:, None] * v
        for _ in range(GUESSES):
            terms = self.context.many(times, drift + h * (MATRIX @ (speeds - v)), speeds)
            speeds = v + h * (MATRIX @ solve_mode(self.context.table, terms, self.mode, away).acceleration.T)
        if not np.isfinite(speeds).all():
            return None
        slips = self.context.many(times, drift + h * (MATRIX @ (speeds - v)), speeds).slip
        good = all(np.all(away[place.law] @ slips[list(place.slips)] > 0) for place in self.places)
        return speeds if good else None

    def _nudge(self, t: Array, q: Array, v: Array) -> Array:
        """Return changes of the velocities that turn no slip by more than a little."""
        terms = self.context.many(t, q, v)
        slips = [slip for place in self.places for slip in place.slips]
        rows = np.abs(terms.slip_rows[slips]).max(axis=0).T
        least = np.min([np.linalg.norm(terms.slip[list(place.slips)], axis=0) for place in self.places], axis=0)
        fine = NEAR * np.maximum(least, 1e-300)[:, None] / np.where(rows > 0, rows, 1.0)
        return np.where(
            rows > 0, np.maximum(fine, 4e-16 * np.abs(v)), 1e-6 * (self.context.step_sizes.speed + np.abs(v))
        )

    def _leaves(self, step: Collocated, away: dict[int, Array]) -> bool:
        slips = self.context.many(step.t[1:], step.q[1:], step.v[1:]).slip
        return all(np.all(away[place.law] @ slips[list(place.slips)] > 0) for place in self.places)

    def _crossing(self, step: Collocated, reached: tuple[int, ...]) -> Crossing | None:
        """Return where a step first takes a watched quantity to its other side; None where it does not.

        Those that are `reached` are left out.
        """
        sides, bands = self.kept
        watched = sides != 0.0
        watched[list(reached)] = False
        y = np.hstack([step.q, step.v])
        dense = fitted(PARTS, y)[None]

        def beyond(t: float, state: Array, signs: Array) -> NDArray[np.bool_]:
            return np.asarray(watched & ~(signs * self._watched(t, state) >= -bands))

        signs = np.where(sides == ANY, np.sign(self._watched(float(step.t[1]), y[1])), sides)
        short, long = 0.0, 0.0
        for part, t, state in zip(PARTS[1:], step.t[1:], y[1:], strict=True):
            if beyond(float(t), state, signs).any():
                long = float(part)
                break
            short = float(part)
        if long == 0.0:
            return None
        while short < (middle := 0.5 * (short + long)) < long:
            state = interpolated(y[:1], dense, np.array([middle]))[0]
            if beyond(step.t[0] + middle * (step.t[-1] - step.t[0]), state, signs).any():
                long = middle
            else:
                short = middle
        state = interpolated(y[:1], dense, np.array([long]))[0]
        fired = np.flatnonzero(beyond(step.t[0] + long * (step.t[-1] - step.t[0]), state, signs))
        return long, tuple(map(int, fired))

    def _watched(self, t: float, state: Array) -> Array:
        """Return what is watched at a state (2n,), in the units of the bands: reserves are differences of squares."""
        q, v = np.split(state, 2)
        params = self.context.params
        return self.moving.watched(t, q, v, params, self.moving.branches(t, q, v, params, self.context.changing))

    def turning(
        self, t: float, q: Array, v: Array, places: list[ContactPlace], away: dict[int, Array] | None = None
    ) -> dict[int, tuple[Array, float, bool]]:
        """Return by laws the directions of slips, the rates at which they turn, and whether they grow, slowly.

        Slips that start have no directions but those `away` from their forces.
        """
        if not places:
            return {}
        terms = self.context.terms(t, q, v)
        solved = solve_mode(self.context.table, terms, self.mode, away)
        forces, a = solved.tangential[:, 0], solved.acceleration[:, 0]
        found = {}
        for place in places:
            slips = list(place.slips)
            slip, rows = terms.slip[slips, 0], terms.slip_rows[slips, :, 0]
            speed = max(float(np.linalg.norm(slip)), 1e-300)
            push = float(np.linalg.norm(rows @ np.linalg.solve(terms.mass[:, :, 0], rows.T @ forces[slips])))
            change = rows @ a - terms.slip_bias[slips, 0]
            growing = float(change @ slip) > 0.0 and float(np.linalg.norm(change)) < SLOWLY * push
            found[place.law] = slip / speed, push / speed, growing
        return found

    def _landed(self, step: Collocated) -> Collocated:
        """Return the step with its end on what the mode holds."""
        t, q, v = float(step.t[-1]), step.q[-1], step.v[-1]
        q, v = landed(self.context.conditions(t, self.mode.held, self.mode.sticking), q, v, rounds=1)
        return replace(step, q=np.vstack([step.q[:-1], q]), v=np.vstack([step.v[:-1], v]))


def _stretch(steps: list[Collocated], first: Array, change: Array) -> Stretch:
    """Return steps as a stretch, with another velocity and its change in the first row."""
    values = [np.hstack([step.q, step.v]) for step in steps]
    values[0][0, len(first) :] = first
    rows = np.array([values[0][0], *(part[-1] for part in values)])
    return Stretch(
        t=np.array([steps[0].t[0], *(step.t[-1] for step in steps)]),
        q=rows[:, : len(first)],
        v=rows[:, len(first) :],
        a=np.array([change, *(step.a[-1] for step in steps)]),
        dense=np.array([fitted(PARTS, part) for part in values]),
        status=PAUSED,
        fired=(),
        drift=0.0,
        next_step=0.0,
        branches=np.zeros(0),
        attempts=len(steps),
        rejected=0,
    )


def _kicked(
    context: Context, moment: Moment, decision: Decision, places: list[ContactPlace], away: dict[int, Array]
) -> Moment:
    """Return the moment with a trace of speed in the direction of every slip that starts."""
    held, speeds = decision.mode, moment.memory.sizes[1]
    terms = terms_at(context, moment)
    a = solve_mode(context.table, terms, held.mode, away).acceleration[:, 0]
    rows, wanted, starts = [], [], []
    for place in places:
        slips = list(place.slips)
        row = np.abs(terms.slip_rows[slips, :, 0]).sum(axis=0)
        rows.append(terms.slip_rows[slips, :, 0])
        wanted.append(KICK * max(float(row @ speeds), LEAST * float(row @ context.step_sizes.speed)) * away[place.law])
        starts.append(rows[-1] @ a - terms.slip_bias[slips, 0])
    sizes = np.linalg.norm(starts, axis=1)
    if held.mode.shared and sizes.min() > 0:  # bodies that turn while they start: speeds in the ratio of accelerations
        unit = float(min(np.linalg.norm(wanted, axis=1) / sizes))
        wanted = [unit * start for start in starts]
    fixed = np.concatenate([terms.rows[list(held.mode.held), :, 0], terms.slip_rows[list(held.mode.sticking), :, 0]])
    every = np.concatenate([*rows, fixed])
    needed = np.concatenate([*wanted, np.zeros(len(fixed))])
    return moment.but(v=moment.v + least_change(terms.mass[:, :, 0], every, needed))
