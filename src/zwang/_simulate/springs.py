"""What stiff springs do where the laws of rigid constraints have no answer or several: `realize`.

At a paradox (no reaction) the contact is made by springs of growing stiffness. The normal force runs away in a time
like N^-1/2 log N, friction stops the slip, and the spring throws the body off: an impact without collision. Without
damping its outcome tends, slowly, to that of the energetic law with restitution 1, and to no other; this is checked,
and the limit is taken from the law.

At a singular point of the configuration space all bilateral constraints on positions are softened together, with
weights that give each of them alone the frequency sqrt(N). The realized mechanism starts where the ideal one came near
the point and is followed until it has left its neighbourhood, for strengths over two decades of frequency. If it leaves
along the same half-branch for all of them, and the energy that the fast oscillation keeps tends to nothing, that
half-branch is the limit.

At a choice (several reactions) the spring starts with no force, and with a little more and a little less than the
force of each solution. Only if all of them come to rest at one solution, that is what the spring chooses; else the
outcome depends on how the contact began.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._compile.given_values import resolve
from zwang._declare.constraints import Friction
from zwang._declare.switches import Event
from zwang._declare.symbols import parameter
from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.stretch_output import INTERRUPTED, PAUSED, REACHED, KnownState
from zwang._numerics.budget import UNBOUNDED, spend
from zwang._numerics.impacts import resolve_impact
from zwang._realize import Stiffness, realize
from zwang._results.motion import Motion, MotionStatus
from zwang._results.reactions import Solution
from zwang._simulate.decide import continuations_of, next_mode, none_of_them, stop_there
from zwang._simulate.impact import impact_problem, strike
from zwang._simulate.machine import motion
from zwang._simulate.moment import Context, Decision, Moment, Policies, Transition, event_at, stopped_at, terms_at
from zwang._simulate.options import MotionOptions
from zwang._simulate.passage import Crossing, Crossroads, stop_at
from zwang._simulate.stretch import moving_for
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
STRENGTH = parameter("zwang_strength")
TURNS = (1e3, 1e4, 1e5, 1e6)
"""Frequencies of the spring that are tried, in units of one over the time in which the motion changes."""
WAITING = 4.0
"""Turns of the spring for which it is followed, times one and the logarithm of its frequency."""
NUDGE = 0.1
"""How far from the force of a solution a spring starts, as a part of it."""
FAINT = 1e-3
"""The force with which a spring begins that has none, as a part of the smallest of a solution: it must touch."""
TOLERANCE = 1e-11  # sharper than that of motions
BRANCH_TURNS = tuple(float(value) for value in 10.0 ** np.arange(2.0, 4.01, 0.5))
"""Frequencies of the springs that are tried, in units of one over the time of approach."""
PATIENCE = 20.0
"""Times of approach after which a realized motion that has not left is given up."""
CHUNK = 4000  # steps between two looks at interrupts
VANISHES = -0.1
"""Exponent of N below which the energy of the fast oscillation tends to nothing."""
STOPPING = Policies(none_of_them, stop_there, stop_there, stop_at)
"""Of realized motions: they stop where the laws don't say."""


@dataclass(frozen=True)
class Spring:
    """A contact made by a spring at a moment.

    Attributes
    ----------
    number, name
        Of the constraint.
    model : Model
        Of the softened system.
    strengths : tuple of float
        N of the springs that are tried.
    mass : float
        What the contact feels, 1/(w M^-1 w).
    push : (n,) array
        M^-1 w / (w M^-1 w): where the positions go when the gap grows by one.
    """

    number: int
    name: str
    model: Model
    strengths: tuple[float, ...]
    mass: float
    push: Array

    def wait(self, strength: float) -> float:
        """Return the time for which a spring is followed."""
        frequency = np.sqrt(strength / self.mass)
        return float(
            WAITING * (1.0 + np.log(frequency / np.sqrt(self.strengths[0] / self.mass) * TURNS[0])) / frequency
        )


@lru_cache(maxsize=32)
def _softened(system: System, name: str, backend: str) -> Model:
    return compile(realize(system, name, by=Stiffness(STRENGTH)), backend)


def spring_of(context: Context, decision: Decision, moment: Moment) -> Spring | str:
    """Return the contact whose reaction is in doubt, as a spring; or why there is no such spring, in words."""
    found = decision.reactions
    assert found is not None
    places = [p for p in context.table.places if p.name in found.contacts and p.law >= 0 and p.normal >= 0]
    if len(places) != 1 or not places[0].on_position:
        return f"realize softens one contact with friction; {len(places)} take part here"
    if not places[0].one_sided:
        return f"realize softens a one-sided contact; '{places[0].name}' holds both ways"
    place = places[0]
    terms = terms_at(context, moment)
    row, mass = terms.rows[place.normal, :, 0], terms.mass[:, :, 0]
    carried = np.linalg.solve(mass, row)
    mobility = float(row @ carried)
    free = np.linalg.solve(mass, terms.force[:, 0])
    energy = float(moment.v @ mass @ moment.v)
    # The time in which the forces would change the velocities as a whole.
    time = np.sqrt(energy / max(float(free @ mass @ free), 1e-300)) or context.span(moment)
    strengths = tuple((turns / time) ** 2 / mobility for turns in TURNS)
    number = context.table.places.index(place)
    return Spring(
        number,
        place.name,
        _softened(context.model.system, place.name, context.model.backend),
        strengths,
        1.0 / mobility,
        np.asarray(carried / mobility),
    )


def _run(
    context: Context, spring: Spring, moment: Moment, strength: float, force: float, *, until_open: bool
) -> Motion:
    """Return the motion with a spring that starts with a force."""
    system, model = context.model.system, spring.model
    state = context.state(moment.t, moment.q - spring.push * (force / strength), moment.v)
    params = dict(zip((item.name for item in system.parameters), context.params, strict=True))
    params[STRENGTH.name] = strength
    known = {item.name for item in model.system.parameters}  # a softened contact has no restitution
    gap = _gap(system, spring.name)
    options = MotionOptions(
        until=moment.t + spring.wait(strength),
        tol=TOLERANCE,
        events=(Event(gap, direction=1, stop=True, name="open"),) if until_open else (),
        budget=UNBOUNDED,
    )
    inputs = resolve(model.system, state, {name: value for name, value in params.items() if name in known})
    found = motion(model, inputs, options, STOPPING)
    if found.status is MotionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    spend()  # where the budget of the motion is spent, this one was cut short
    return found


def _gap(system: System, name: str) -> Any:
    item = system.constraints[name]
    assert not isinstance(item, Friction)
    return item.expr


# At a paradox.
def resolve_paradox(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Go on from a paradox by an impact that stiff springs have as their limit, or say why not: a policy."""
    spring = spring_of(context, decision, moment)
    said = f"At t = {moment.t:.12g} no reaction exists"
    if isinstance(spring, str):
        return stopped_at(moment, MotionStatus.PARADOX, f"{said}, and {spring}.")
    name, terms = spring.name, terms_at(context, moment)
    problem, numbers = impact_problem(context, moment, terms, (), True)
    contacts = tuple(
        replace(contact, restitution=1.0) if number == spring.number else contact
        for contact, number in zip(problem.contacts, numbers, strict=True)
    )
    law = resolve_impact(replace(problem, contacts=contacts), "energetic")
    after, errors = [], []
    mass = terms.mass[:, :, 0]
    for strength in spring.strengths:
        made = _run(context, spring, moment, strength, 0.0, until_open=True)
        if not made.events.of("user"):
            why = f"a spring of N = {strength:.3g} stays closed for {spring.wait(strength):.3g} s: no limit is seen"
            return stopped_at(moment, MotionStatus.PARADOX, f"{said}, and {why}.", (), name)
        after.append(made.v[-1].copy())
        off = after[-1] - law.velocity
        errors.append(float(np.sqrt(off @ mass @ off / max(float(moment.v @ mass @ moment.v), 1e-300))))
    details = {"strengths": np.array(spring.strengths), "velocities": np.array(after), "distances": np.array(errors)}
    tends = law.choice is None and all(b < a for a, b in itertools.pairwise(errors))
    if not tends:
        why = f"springs of N = {spring.strengths[0]:.2g} to {spring.strengths[-1]:.2g} tend to no law of impact"
        return stopped_at(moment, MotionStatus.PARADOX, f"{said}, and {why}.", (), name)
    event = event_at(moment.t, "paradox", name, reason=f"{said}; stiff springs end it by an impact.")
    told = Transition(moment, decision, (event,))
    struck = told.then(strike(context, moment, terms, problem, law, numbers, (spring.number,), details))
    following = next_mode(context, struck.moment, None)
    if following.stop is not None:
        reason = f"{said} after the impact either."
        return struck.then(stopped_at(struck.moment, following.stop, reason, (), name))
    return replace(struck, decision=following)


# At a choice.
def resolve_choice(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Go on from a choice, if a stiff spring comes to one solution however it begins: a policy."""
    found = decision.reactions
    assert found is not None
    said = f"At t = {moment.t:.12g} {len(found.accelerations)} accelerations satisfy the laws"
    ways = continuations_of(found, context.model.system.bookkeeping)
    spring = spring_of(context, decision, moment)
    if isinstance(spring, str):
        return stopped_at(moment, MotionStatus.CHOICE, f"{said}, and {spring}.", ways)
    place = found.contacts.index(spring.name)
    loads = sorted({float(solution.normal[place]) for solution in found.solutions} - {0.0}, key=abs)
    if not loads:
        return stopped_at(moment, MotionStatus.CHOICE, f"{said}, none with a normal force.", ways)
    starts = [FAINT * loads[0], *(load * part for load in loads for part in (1 - NUDGE, 1 + NUDGE))]
    seen: dict[float, set[str]] = {
        start: {
            _settled(context, spring, moment, strength, start, found.solutions, place) for strength in spring.strengths
        }
        for start in starts
    }
    outcomes = set().union(*seen.values())
    if len(outcomes) == 1 and (only := outcomes.pop()).isdecimal():
        index = int(only)
        following = next_mode(context, moment, None, lambda *_: index)
        if following.stop is None:
            reason = f"{said}; a stiff spring takes solution {index}."
            return Transition(moment, following, (event_at(moment.t, "choice", spring.name, reason=reason),))
    listed = "; ".join(
        f"begun with force {start:.4g}: {' or '.join(sorted(map(_words, ends)))}" for start, ends in seen.items()
    )
    reason = f"{said}. Made of a stiff spring the contact ends differently as it began: {listed}. No limit exists."
    return stopped_at(moment, MotionStatus.CHOICE, reason, ways, spring.name)


def _words(end: str) -> str:
    return f"solution {end}" if end.isdecimal() else end


def _settled(
    context: Context,
    spring: Spring,
    moment: Moment,
    strength: float,
    force: float,
    solutions: tuple[Solution, ...],
    place: int,
) -> str:
    """Return the number of the solution at which a spring comes to rest, or what it does instead, in a word."""
    made = _run(context, spring, moment, strength, force, until_open=False)
    if made.status is not MotionStatus.REACHED:
        return f"it stops ({made.status.name.lower()})"
    late = made.t >= moment.t + 0.6 * spring.wait(strength)
    mass = terms_at(context, moment).mass[:, :, 0]
    jump = made.v[-1] - moment.v
    if jump @ mass @ jump > 1e-2 * float(moment.v @ mass @ moment.v):
        return "an impact"
    gaps = _gaps(context, spring, made)[late]
    mean = float(np.mean(strength * np.maximum(-gaps, 0.0))) if len(gaps) else 0.0
    loads = [float(solution.normal[place]) for solution in solutions]
    near = int(np.argmin([abs(mean - load) for load in loads]))
    size = max(map(abs, loads)) or 1.0
    return str(near) if abs(mean - loads[near]) <= 0.2 * size else "an oscillation"


def _gaps(context: Context, spring: Spring, made: Motion) -> Array:
    """Return the gap of the softened contact in every row of a motion."""
    from zwang._declare.numeric_values import numbers_of

    system = context.model.system
    values: dict[str, Any] = dict(zip(made.coordinates, made.q.T, strict=True))
    (gap,) = numbers_of([_gap(system, spring.name)], {**values, **made.params, "t": made.t})
    return np.broadcast_to(gap, made.t.shape)


# At a singular point.
@dataclass(frozen=True)
class SpringOutcome:
    """How one realized motion left the neighbourhood of a singular point.

    Attributes
    ----------
    strength : float
        N [1/s^2]: the square of the frequency of each spring.
    way : int or None
        The half-branch; None where it did not leave in time.
    energy : float
        Of the fast oscillation when it left [J].
    """

    strength: float
    way: int | None
    energy: float


def by_springs(place: Crossroads) -> tuple[int | None, str, dict[str, Any]]:
    """Return the half-branch that stiff springs choose in the limit, or why there is none: a rule."""
    if place.crossing is None or place.entry is None:
        why = 'springs are asked about single curves of small mechanisms; at_singular="straight" goes on here.'
        return None, why, {}
    try:
        outcomes = realized_outcomes(place.crossing, place.entry)
    except DeclarationError as error:  # massless parts, which constraints alone tie to masses
        return None, f"stiff springs can't take the place of its constraints. {error}", {}
    details = {
        "strengths": np.array([item.strength for item in outcomes]),
        "half_branches": tuple(item.way for item in outcomes),
        "oscillation_energies": np.array([item.energy for item in outcomes]),
    }
    chosen = {item.way for item in outcomes}
    span = f"N = {outcomes[0].strength:.2g} to {outcomes[-1].strength:.2g} 1/s^2"
    if len(chosen) > 1:
        listed = "; ".join(f"N = {item.strength:.2g}: {_named(item.way)}" for item in outcomes)
        return None, f"made of stiff springs it takes different ways: {listed}. No limit is seen.", details
    only = chosen.pop()
    if only is None:
        return None, f"made of stiff springs ({span}) it stays near the point. No limit is seen.", details
    slope = _slope(outcomes)
    if not slope < VANISHES:
        why = (
            f"made of stiff springs ({span}) it leaves along half-branch {only} for every N, but the energy of the "
            f"fast oscillation goes like N^{slope:.2f} ({outcomes[-1].energy:.3g} J at the last), so that no ideal "
            "motion is its limit."
        )
        return None, why, details
    return only, "", details


def _named(way: int | None) -> str:
    return "stays near the point" if way is None else f"half-branch {way}"


def _slope(outcomes: Iterable[SpringOutcome]) -> float:
    """Return the exponent of the oscillation's energy in N, from the upper half of the strengths."""
    kept = [item for item in outcomes if item.energy > 0]
    kept = kept[len(kept) // 3 :]
    if len(kept) < 2:
        return -np.inf
    x, y = (np.log([getattr(item, name) for item in kept]) for name in ("strength", "energy"))
    return float(np.polyfit(x, y, 1)[0])


def realized_outcomes(crossing: Crossing, entry: tuple[float, Array, Array]) -> list[SpringOutcome]:
    """Return how the mechanism with springs leaves the neighbourhood, for every strength that is tried."""
    t, q, v = entry
    found, ground = crossing.found, crossing.context
    terms = ground.terms(t, q, v)
    rows = terms.rows[:, :, 0]
    mobility = np.einsum("ji,ik,jk->j", rows, np.linalg.inv(terms.mass[:, :, 0]), rows)
    model = _all_softened(ground.model.system, ground.model.backend)
    scale = found.place.scale
    radius = max(float(np.linalg.norm((q - found.q) / scale)), 1e-6)
    out = min(float(np.linalg.norm((way.curve.at(way.curve.end)[0] - found.q) / scale)) for way in crossing.ways)
    radius = float(min(max(1.05 * radius, 0.5 * out), 0.98 * out) if out > 1.1 * radius else 1.05 * radius)
    approach = radius / float(np.linalg.norm(v / scale))
    values = dict(zip(ground.model.system.parameters, ground.params, strict=True))
    values |= {_weight(j): 1.0 / float(value) for j, value in enumerate(mobility)}
    outcomes = []
    for turns in BRANCH_TURNS:
        strength = (turns / approach) ** 2
        params = np.array([float({**values, STRENGTH: strength}[item]) for item in model.system.parameters])
        ended = _followed(model, params, (t, q, v), t + PATIENCE * approach, found.q, scale, radius)
        way, energy = (None, np.nan) if ended is None else _left_along(crossing, model, params, *ended)
        outcomes.append(SpringOutcome(strength, way, energy))
    return outcomes


def _weight(number: int) -> sp.Symbol:
    return parameter(f"zwang_weight_{number}")


@lru_cache(maxsize=16)
def _all_softened(system: System, backend: str) -> Model:
    """Return the system with all its constraints made by springs; strength and weights are parameters."""
    soft = system
    for number, name in enumerate(system.constraints.names):
        soft = realize(soft, name, by=Stiffness(STRENGTH, weight=_weight(number)))
    return compile(soft, backend)


def _followed(
    model: Model,
    params: Array,
    start: tuple[float, Array, Array],
    until: float,
    centre: Array,
    scale: Array,
    radius: float,
) -> tuple[float, Array, Array] | None:
    """Return the first state of a realized motion outside a ball round the point, None where it stays inside."""
    t, q, v = start
    step, inside = 0.0, False
    while t < until:
        steps = moving_for(model, ActiveSet(held=()))
        sides = np.zeros(len(steps.watch_names))
        known = KnownState(step)
        found = steps.advance(t, q, v, params, until, TOLERANCE, sides, max_steps=CHUNK, known=known, dense=False)
        if found.status == INTERRUPTED:
            raise KeyboardInterrupt
        spend(len(found.t) - 1)
        away = np.linalg.norm((found.q - centre) / scale, axis=1) > radius
        entered = np.flatnonzero(~away)
        first = 0 if inside else (int(entered[0]) if len(entered) else len(away))
        gone = first + np.flatnonzero(away[first:])
        if len(gone):
            k = int(gone[0])
            return float(found.t[k]), found.q[k].copy(), found.v[k].copy()
        inside = inside or bool(len(entered))
        t, q, v, step = float(found.t[-1]), found.q[-1], found.v[-1], found.next_step
        if found.status not in (PAUSED, REACHED):
            return None
    return None


def _left_along(crossing: Crossing, model: Model, params: Array, t: float, q: Array, v: Array) -> tuple[int, float]:
    """Return the half-branch next to a state, and the energy of its oscillation about it."""
    places = [(*way.place_of(q), way) for way in crossing.ways]
    u, _, way = min(places, key=lambda item: item[1])
    at, first, _ = way.curve.at(u)
    mass = crossing.equations(t, q, v)[0]
    across = v - first * float(first @ mass @ v) / float(first @ mass @ first)
    stretched, loose = (
        model.kernels.terms(np.array([t]), place[:, None], v[:, None], params[:, None]).energies[1, 0]
        for place in (q, at)
    )
    return way.number, float(0.5 * across @ mass @ across + max(stretched - loose, 0.0))
