"""What a contact does where the laws of a rigid one have no answer or several, when it is a stiff spring: `realize`.

At a paradox (no reaction) the contact is made by springs of growing stiffness. The normal force runs away in a time
like N^-1/2 log N, friction stops the slip, and the spring throws the body off: an impact without collision. Without
damping its outcome tends, slowly, to that of the energetic law with restitution 1, and to no other; this is checked,
and the limit is taken from the law.

At a choice (several reactions) the spring starts with no force, and with a little more and a little less than the
force of each solution. Only if all of them come to rest at one solution, that is what the spring chooses; else the
outcome depends on how the contact began.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.constraints import Friction
from zwang._declare.symbols import parameter
from zwang._declare.system import System
from zwang._numerics.budget import UNBOUNDED, spend
from zwang._numerics.impacts import resolve_impact
from zwang._realize import Stiffness, realize
from zwang._results.motion import Motion, MotionStatus
from zwang._results.reactions import Solution
from zwang._simulate.deciding import Decision, decide
from zwang._simulate.impacting import impact_problem, strike
from zwang._simulate.moment import Moment
from zwang._simulate.stopping import Stop, continuations_of, stopped_at
from zwang._simulate.user_events import Event

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

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
TOLERANCE = 1e-11


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


def spring_of(driver: Driver, decision: Decision, moment: Moment) -> Spring | str:
    """Return the contact whose reaction is in doubt, as a spring; or why there is no such spring, in words."""
    ground, found = driver.ground, decision.reactions
    assert found is not None
    places = [p for p in ground.table.places if p.name in found.contacts and p.law >= 0 and p.normal >= 0]
    if len(places) != 1 or not places[0].on_position:
        return f"realize softens one contact with friction; {len(places)} take part here"
    if not places[0].one_sided:
        return f"realize softens a one-sided contact; '{places[0].name}' holds both ways"
    place = places[0]
    terms = ground.at(moment)
    row, mass = terms.rows[place.normal, :, 0], terms.mass[:, :, 0]
    carried = np.linalg.solve(mass, row)
    mobility = float(row @ carried)
    free = np.linalg.solve(mass, terms.force[:, 0])
    energy = float(moment.v @ mass @ moment.v)
    # The time in which the forces would change the velocities as a whole.
    time = np.sqrt(energy / max(float(free @ mass @ free), 1e-300)) or driver.span
    strengths = tuple((turns / time) ** 2 / mobility for turns in TURNS)
    number = ground.table.places.index(place)
    return Spring(
        number,
        place.name,
        _softened(ground.model.system, place.name, ground.model.backend),
        strengths,
        1.0 / mobility,
        np.asarray(carried / mobility),
    )


def _run(driver: Driver, spring: Spring, moment: Moment, strength: float, force: float, *, until_open: bool) -> Motion:
    """Return the motion with a spring that starts with a force."""
    from zwang._simulate.verb import simulate

    system = driver.ground.model.system
    q = moment.q - spring.push * (force / strength)
    state = dict(zip((item.name for item in (*system.coordinates, *system.velocities)), (*q, *moment.v), strict=True))
    params = dict(zip((item.name for item in system.parameters), driver.ground.params, strict=True))
    params[STRENGTH.name] = strength
    known = {item.name for item in spring.model.system.parameters}  # a softened contact has no restitution
    gap = _gap(system, spring.name)
    events = [Event(gap, direction=1, stop=True, name="open")] if until_open else []
    found = simulate(
        spring.model,
        {**state, "t": moment.t},
        {name: value for name, value in params.items() if name in known},
        until=moment.t + spring.wait(strength),
        tol=TOLERANCE,
        events=events,
        budget=UNBOUNDED,
    )
    assert isinstance(found, Motion)
    if found.status is MotionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    spend()  # where the budget of the motion is spent, this one was cut short
    return found


def _gap(system: System, name: str) -> Any:
    item = system.constraints[name]
    assert not isinstance(item, Friction)
    return item.expr


# At a paradox.
def resolve_paradox(driver: Driver, decision: Decision, moment: Moment) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on from a paradox by an impact that stiff springs have as their limit, or why not."""
    spring = spring_of(driver, decision, moment)
    name = None if isinstance(spring, str) else spring.name
    said = f"At t = {moment.t:.12g} no reaction exists"
    if isinstance(spring, str):
        return stopped_at(driver.record, MotionStatus.PARADOX, moment.t, f"{said}, and {spring}.", (), name)
    terms = driver.ground.at(moment)
    problem, numbers = impact_problem(driver, moment, terms, (), True)
    contacts = tuple(
        replace(contact, restitution=1.0) if number == spring.number else contact
        for contact, number in zip(problem.contacts, numbers, strict=True)
    )
    law = resolve_impact(replace(problem, contacts=contacts), "energetic")
    after, errors = [], []
    mass = terms.mass[:, :, 0]
    for strength in spring.strengths:
        motion = _run(driver, spring, moment, strength, 0.0, until_open=True)
        if not motion.events.of("user"):
            why = f"a spring of N = {strength:.3g} stays closed for {spring.wait(strength):.3g} s: no limit is seen"
            return stopped_at(driver.record, MotionStatus.PARADOX, moment.t, f"{said}, and {why}.", (), name)
        after.append(motion.v[-1].copy())
        off = after[-1] - law.velocity
        errors.append(float(np.sqrt(off @ mass @ off / max(float(moment.v @ mass @ moment.v), 1e-300))))
    details = {"strengths": np.array(spring.strengths), "velocities": np.array(after), "distances": np.array(errors)}
    tends = law.choice is None and all(b < a for a, b in itertools.pairwise(errors))
    if not tends:
        why = f"springs of N = {spring.strengths[0]:.2g} to {spring.strengths[-1]:.2g} tend to no law of impact"
        return stopped_at(driver.record, MotionStatus.PARADOX, moment.t, f"{said}, and {why}.", (), name)
    driver.record.event(moment.t, "paradox", spring.name, reason=f"{said}; stiff springs end it by an impact.")
    struck = strike(driver, moment, terms, problem, law, numbers, (spring.number,), details)
    following = driver.decide(struck, None)
    if following.stop is not None:
        return stopped_at(driver.record, following.stop, moment.t, f"{said} after the impact either.", (), name)
    return struck, following


# At a choice.
def resolve_choice(driver: Driver, decision: Decision, moment: Moment) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on from a choice, if a stiff spring comes to one solution however it begins."""
    found = decision.reactions
    assert found is not None
    said = f"At t = {moment.t:.12g} {len(found.accelerations)} accelerations satisfy the laws"
    ways = continuations_of(found)
    spring = spring_of(driver, decision, moment)
    if isinstance(spring, str):
        return stopped_at(driver.record, MotionStatus.CHOICE, moment.t, f"{said}, and {spring}.", ways)
    place = found.contacts.index(spring.name)
    loads = sorted({float(solution.normal[place]) for solution in found.solutions} - {0.0}, key=abs)
    if not loads:
        return stopped_at(driver.record, MotionStatus.CHOICE, moment.t, f"{said}, none with a normal force.", ways)
    starts = [FAINT * loads[0], *(load * part for load in loads for part in (1 - NUDGE, 1 + NUDGE))]
    seen: dict[float, set[str]] = {
        start: {
            _settled(driver, spring, moment, strength, start, found.solutions, place) for strength in spring.strengths
        }
        for start in starts
    }
    outcomes = set().union(*seen.values())
    if len(outcomes) == 1 and (only := outcomes.pop()).isdecimal():
        index = int(only)
        following = decide(driver.ground, moment, None, lambda *_: index, driver.span)
        if following.stop is None:
            driver.record.event(
                moment.t, "choice", spring.name, reason=f"{said}; a stiff spring takes solution {index}."
            )
            return moment, following
    listed = "; ".join(
        f"begun with force {start:.4g}: {' or '.join(sorted(map(_words, ends)))}" for start, ends in seen.items()
    )
    reason = f"{said}. Made of a stiff spring the contact ends differently as it began: {listed}. No limit exists."
    return stopped_at(driver.record, MotionStatus.CHOICE, moment.t, reason, ways, spring.name)


def _words(end: str) -> str:
    return f"solution {end}" if end.isdecimal() else end


def _settled(
    driver: Driver,
    spring: Spring,
    moment: Moment,
    strength: float,
    force: float,
    solutions: tuple[Solution, ...],
    place: int,
) -> str:
    """Return the number of the solution at which a spring comes to rest, or what it does instead, in a word."""
    motion = _run(driver, spring, moment, strength, force, until_open=False)
    if motion.status is not MotionStatus.REACHED:
        return f"it stops ({motion.status.name.lower()})"
    late = motion.t >= moment.t + 0.6 * spring.wait(strength)
    mass = driver.ground.at(moment).mass[:, :, 0]
    jump = motion.v[-1] - moment.v
    if jump @ mass @ jump > 1e-2 * float(moment.v @ mass @ moment.v):
        return "an impact"
    gaps = _gaps(driver, spring, motion)[late]
    mean = float(np.mean(strength * np.maximum(-gaps, 0.0))) if len(gaps) else 0.0
    loads = [float(solution.normal[place]) for solution in solutions]
    near = int(np.argmin([abs(mean - load) for load in loads]))
    size = max(map(abs, loads)) or 1.0
    return str(near) if abs(mean - loads[near]) <= 0.2 * size else "an oscillation"


def _gaps(driver: Driver, spring: Spring, motion: Motion) -> Array:
    """Return the gap of the softened contact in every row of a motion."""
    from zwang._declare.arrays import numbers_of

    system = driver.ground.model.system
    values: dict[str, Any] = dict(zip(motion.coordinates, motion.q.T, strict=True))
    (gap,) = numbers_of([_gap(system, spring.name)], {**values, **motion.params, "t": motion.t})
    return np.broadcast_to(gap, motion.t.shape)
