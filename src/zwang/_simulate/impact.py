"""Impacts: from a moment to the problem of impulses, and back to a moment with another velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import require_restitution
from zwang._compile.measured import measured_in
from zwang._kernels import Terms, dense_terms
from zwang._numerics.contact.table import ContactPlace
from zwang._numerics.impacts import (
    CONTACT,
    HELD,
    LOADED,
    ONE_SIDED,
    ImpactContact,
    ImpactOutcome,
    ImpactProblem,
    resolve_impact,
)
from zwang._numerics.impacts.patterns import NearbyImpacts
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation, MotionEvent
from zwang._simulate.flights import Flights
from zwang._simulate.ground import Ground
from zwang._simulate.moment import Context, Decision, Moment, Transition, event_at, stopped_at, terms_at
from zwang._simulate.watch import lowest_flight
from zwang.errors import StateError

Array = NDArray[np.float64]
ZERO = 1e-10
"""Rates and slips after an impact below this, relative to those before, are zero."""


NOT_YET = Decision()
"""After an impact: which mode follows is to be decided."""


def collide(
    context: Context, moment: Moment, terms: Terms, closing: tuple[int, ...], without_collision: bool
) -> Transition:
    """Return the moment after an impact, or why its outcome is not determined."""
    problem, numbers = impact_problem(context, moment, terms, closing, without_collision)
    outcome = resolve_impact(problem, context.options.impact)
    names = [context.table.places[number].name for number in numbers]
    if outcome.choice is not None:
        ways, among = outcomes_of(context, moment, outcome), context.policies.among
        taken = None if among is None else among(outcome, ways)
        if taken is None:
            reason = f"At t = {moment.t:.12g}: {outcome.choice}."
            whose = names[numbers.index(closing[0])] if len(closing) == 1 else None
            return stopped_at(moment, MotionStatus.CHOICE, reason, ways, whose)
        outcome = outcome.alternatives[taken]
    moment = _counted(context, moment, numbers, closing)
    ending = _ending(context, moment, terms, problem, outcome, numbers, closing)
    if ending:
        held = _held_in(problem, numbers, tuple(ending))
        closed = resolve_impact(held, context.options.impact)
        if closed.choice is None:
            after = strike(context, moment, terms, held, closed, numbers, closing)
            return _accumulated(context, after, ending)
    return strike(context, moment, terms, problem, outcome, numbers, closing)


def close_low(context: Context, moment: Moment, terms: Terms, low: tuple[int, ...]) -> Transition:
    """Return the moment with contacts closed whose flight is too low to be told from a closed contact.

    The speed that this takes away is that of the flight: an impact, unless it counts as zero. If it was the last of
    flights that shrink steadily, their end is logged here.
    """
    problem, numbers = impact_problem(context, moment, terms, low, False)
    problem = _held_in(problem, numbers, low)
    outcome = resolve_impact(problem, context.options.impact or "newton")
    if outcome.choice is not None:
        return Transition(moment, NOT_YET)
    speed = np.abs(moment.v) + np.abs(outcome.velocity)
    met = Transition(moment, NOT_YET)
    if any(
        abs(problem.rates[i])
        > ZERO * context.rate_size(context.table.places[number].normal, problem.contacts[i].normal, speed)
        for i, number in enumerate(numbers)
        if number in low
    ):
        details = _details(context, moment, outcome, numbers)
        met = replace(met, events=(_event(context, moment, outcome, numbers, low, details),), jumps=(details,))
    flights = moment.memory.flights
    steady = {number: moment.t for number in low if flights.get(number, Flights()).factor() is not None}
    after = _after(context, moment.but(v=outcome.velocity).recalling(step=0.0), terms, problem, numbers)
    return _accumulated(context, replace(met, moment=after), steady)


def strike(
    context: Context,
    moment: Moment,
    terms: Terms,
    problem: ImpactProblem,
    outcome: ImpactOutcome,
    numbers: tuple[int, ...],
    closing: tuple[int, ...],
    more: Mapping[str, Any] | None = None,
) -> Transition:
    """Return the moment after an impact whose outcome is known, logged with what else is to be said of it."""
    details = {**_details(context, moment, outcome, numbers), **(more or {})}
    event = _event(context, moment, outcome, numbers, closing, details)
    ahead = None if moment.ahead is None else (*moment.ahead[:2], outcome.velocity)
    struck = moment.but(v=outcome.velocity, ahead=ahead).recalling(step=0.0)
    return Transition(_after(context, struck, terms, problem, numbers), NOT_YET, (event,), jumps=(details,))


def _held_in(problem: ImpactProblem, numbers: tuple[int, ...], closed: tuple[int, ...]) -> ImpactProblem:
    """Return an impact after which some contacts stay closed."""
    contacts = tuple(
        replace(contact, kind=HELD) if number in closed else contact
        for contact, number in zip(problem.contacts, numbers, strict=True)
    )
    return replace(problem, contacts=contacts)


def _flying(context: Context, numbers: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the places and numbers of the contacts that can fly."""
    places = context.table.places
    return [(i, number) for i, number in enumerate(numbers) if places[number].one_sided and places[number].on_position]


def _counted(context: Context, moment: Moment, numbers: tuple[int, ...], closing: tuple[int, ...]) -> Moment:
    """Return the moment with this impact among those of the contacts that it closes."""
    flights = dict(moment.memory.flights)
    for _, number in _flying(context, numbers):
        known = flights.get(number, Flights())
        flights[number] = known.met(moment.t) if number in closing else known
    return moment.recalling(flights=flights)


def _ending(
    context: Context,
    moment: Moment,
    terms: Terms,
    problem: ImpactProblem,
    outcome: ImpactOutcome,
    numbers: tuple[int, ...],
    closing: tuple[int, ...],
) -> dict[int, float]:
    """Return the contacts whose impacts accumulate here, with the instants at which they end."""
    rates = problem.rates_of(outcome.velocity)
    speed = np.abs(problem.velocity) + np.abs(outcome.velocity)
    contacts, known = _flying(context, numbers), moment.memory.flights
    ends: list[float] = []
    flying = []
    for i, number in contacts:
        if rates[i] <= ZERO * float(np.abs(problem.contacts[i].normal) @ speed):
            continue
        flights = known[number]
        lowest = lowest_flight(context, moment, terms, context.table.places[number].normal)
        left = flights.remaining(float(rates[i]), lowest)
        if left is None or moment.t - flights.times[-1] > left:
            return {}  # a flight that will be seen
        flying.append(number)
        ends.append(flights.times[-1] + left)
    if not flying:
        return {}
    steady = [number for _, number in contacts if number in closing and known[number].factor() is not None]
    return dict.fromkeys([*flying, *steady], max(ends))


def _accumulated(context: Context, struck: Transition, ending: dict[int, float]) -> Transition:
    """Return an impact with where impacts accumulate, unless that is after the end of the motion."""
    events = []
    for number, time in ending.items():
        if time <= context.options.until:
            flights = struck.moment.memory.flights[number]
            name = context.table.places[number].name
            events.append(event_at(time, "accumulation", name, impacts=flights.count, factor=flights.factor()))
    return replace(struck, moment=struck.moment.recalling(ending=ending), events=(*struck.events, *events))


class UnsoundRestitutionError(StateError):
    """A restitution that depends on the state has left its range: the motion ends before that impact."""


def restitution_at(context: Context, number: int, moment: Moment) -> float | None:
    """Return the coefficient of restitution of a constraint at a moment, None where none was declared."""
    expr = context.model.system.constraints[number].restitution  # type: ignore[union-attr]
    if expr is None:
        return None
    measured = measured_in(context.model.system, (expr,))
    e = measured.value(0, moment.t, moment.q, moment.v, context.params)
    try:
        return require_restitution(context.name, context.table.names[number], e)
    except StateError as error:
        raise UnsoundRestitutionError(str(error)) from None


def impact_problem(
    context: Context, moment: Moment, terms: Terms, closing: tuple[int, ...], without_collision: bool
) -> tuple[ImpactProblem, tuple[int, ...]]:
    """Return the impulses that may act at a moment, and the numbers of their constraints."""
    contacts, numbers = [], []
    for number, place in enumerate(context.table.places):
        if place.normal < 0:
            continue  # a bounded force makes no impulse, and what others load comes after them
        if place.one_sided and place.on_position and number not in closing and number not in moment.touching:
            continue
        j = place.normal
        row = terms.rows[j, :, 0]
        rate = float((terms.rate if place.on_position else terms.value)[j, 0])
        along = _rubbing(terms, place, moment) if place.slips else {}
        kind = HELD if not place.one_sided else CONTACT if place.on_position else ONE_SIDED
        e = restitution_at(context, number, moment) if kind == CONTACT else None
        contacts.append(
            ImpactContact(row, kind=kind, rate0=rate - float(row @ moment.v), restitution=e, name=place.name, **along)
        )
        numbers.append(number)
    at = {context.table.places[number].normal: i for i, number in enumerate(numbers)}
    for number, place in enumerate(context.table.places):
        loads = tuple(at[normal] for normal in place.of if normal in at)
        if place.normal < 0 and loads:
            rubbing = _rubbing(terms, place, moment)
            contacts.append(ImpactContact(np.zeros(len(moment.v)), kind=LOADED, of=loads, name=place.name, **rubbing))
            numbers.append(number)
    problem = ImpactProblem(terms.mass[:, :, 0], moment.v, contacts, without_collision)
    return problem, tuple(numbers)


def nearby_impacts(
    ground: Ground, numbers: tuple[int, ...], t: Array, q: Array, v: Array, params: Array
) -> NearbyImpacts:
    """Return the impacts of these constraints at many states: t (B,), q and v (n, B), params (p, B)."""
    terms = dense_terms(ground.model.kernels.terms(t, q, v, params))
    places, n, count = [ground.table.places[number] for number in numbers], len(q), len(t)
    shape = (count, len(places))
    normals, tangents = np.zeros((*shape, n)), np.zeros((*shape, n))
    rate, slip, e = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    sides = np.zeros((*shape, 2))
    for k, (number, place) in enumerate(zip(numbers, places, strict=True)):
        if place.normal >= 0:
            normals[:, k] = terms.rows[place.normal].T
            rate[:, k] = (terms.rate if place.on_position else terms.value)[place.normal]
        if place.slips:
            tangents[:, k], slip[:, k] = terms.slip_rows[place.slips[0]].T, terms.slip[place.slips[0]]
            sides[:, k] = terms.bounds[list(place.rows.sides)].T
        expr = getattr(ground.model.system.constraints[number], "restitution", None)
        if expr is not None and place.one_sided and place.on_position:
            e[:, k] = measured_in(ground.model.system, (expr,)).values_at(0, [t, *q, *v, *params])
    speeds = v.T
    return NearbyImpacts(
        np.asarray(np.linalg.inv(np.moveaxis(terms.mass, -1, 0)), dtype=float),
        speeds,
        normals,
        tangents,
        rate - np.einsum("bkn,bn->bk", normals, speeds),
        slip - np.einsum("bkn,bn->bk", tangents, speeds),
        sides,
        e,
    )


def _rubbing(terms: Terms, place: ContactPlace, moment: Moment) -> dict[str, Any]:
    """Return the slip of a constraint with friction, and its coefficients, as an impact takes them."""
    slips = list(place.slips)
    tangent = terms.slip_rows[slips, :, 0]
    return {
        "tangent": tangent,
        "slip_rate0": terms.slip[slips, 0] - tangent @ moment.v,
        "sides": tuple(float(terms.bounds[row, 0]) for row in place.rows.sides),
    }


def _after(ground: Ground, moment: Moment, terms: Terms, problem: ImpactProblem, numbers: tuple[int, ...]) -> Moment:
    """Return the moment after an impact with what touches and what rests there."""
    touching, resting = set(), set()
    rates = problem.rates_of(moment.v)
    speed = np.abs(problem.velocity) + np.abs(moment.v)
    for place_in, number in enumerate(numbers):
        place = ground.table.places[number]
        if place.one_sided:
            size = float(np.abs(problem.contacts[place_in].normal) @ speed) + abs(problem.contacts[place_in].rate0)
            if rates[place_in] < -1e-6 * (size + ground.floors.rate[place.normal, 0]):
                raise StateError(f"{ground.name}: the impact left constraint '{place.name}' closing; please report it.")
            if abs(rates[place_in]) <= ZERO * size or rates[place_in] < 0:
                touching.add(number)
    later = terms_at(ground, moment)
    for number, place in enumerate(ground.table.places):
        if place.slips and all(
            abs(float(later.slip[slip, 0])) <= ZERO * ground.slip_size(slip, terms.slip_rows[slip, :, 0], speed)
            for slip in place.slips
        ):
            resting.add(number)
    return moment.but(touching=frozenset(touching), resting=frozenset(resting), tied=frozenset())


def _details(context: Context, moment: Moment, outcome: ImpactOutcome, numbers: tuple[int, ...]) -> dict[str, Any]:
    """Return what an impact was: impulses by constraint, velocities, energy, law."""
    places, bounds = context.table.places, terms_at(context, moment).bounds[:, 0]
    return {
        "impulses": {
            places[number].name: float(outcome.normal[i])
            for i, number in enumerate(numbers)
            if places[number].normal >= 0
        },
        "friction_impulses": {
            place.name: place.rows.along(bounds, outcome.tangential[i, : len(place.slips)].copy())
            for i, place in enumerate(places[number] for number in numbers)
            if place.slips
        },
        "before": moment.v.copy(),
        "after": outcome.velocity.copy(),
        "energy_change": float(outcome.energy_change),
        "law": outcome.law,
    }


def _event(
    context: Context,
    moment: Moment,
    outcome: ImpactOutcome,
    numbers: tuple[int, ...],
    closing: tuple[int, ...],
    details: dict[str, Any],
) -> MotionEvent:
    """Return the event of an impact: one jump of the velocity is one event, whoever takes part."""
    places = context.table.places
    whose = [number for number in closing if places[number].one_sided]
    if not whose:
        whose = [numbers[i] for i in outcome.carrying if places[numbers[i]].one_sided]
    names = tuple(places[number].name for number in whose or [numbers[0]])
    return event_at(moment.t, "impact", names[0] if len(names) == 1 else None, **details, constraints=names)


def outcomes_of(context: Context, moment: Moment, outcome: ImpactOutcome) -> tuple[Continuation, ...]:
    """Return the outcomes to choose from, each with the whole state from which a motion can go on."""
    system = context.model.system
    place = {item.name: float(value) for item, value in zip(system.coordinates, moment.q, strict=True)}
    made = []
    for one in outcome.alternatives:
        speeds = {item.name: float(value) for item, value in zip(system.velocities, one.velocity, strict=True)}
        words = ", ".join(f"{name} = {value:.6g}" for name, value in speeds.items())
        sentence = f"{one.law}: {words} after it, energy change {one.energy_change:.6g}"
        made.append(Continuation(sentence, state={**place, **speeds, "t": moment.t}))
    return tuple(made)
