"""Impacts: from a moment to the problem of impulses, and back to a moment with another velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._kernels import Terms
from zwang._numerics.impacts import (
    CONTACT,
    HELD,
    ONE_SIDED,
    ImpactContact,
    ImpactOutcome,
    ImpactProblem,
    resolve_impact,
)
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation
from zwang._simulate.accumulating import Flights
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.stopping import Stop, stopped_at
from zwang._simulate.watching import lowest_flight
from zwang.errors import StateError

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

ZERO = 1e-10
"""Rates and slips after an impact below this, relative to those before, are zero."""


def collide(
    driver: Driver, moment: Moment, terms: Terms, closing: tuple[int, ...], without_collision: bool
) -> Stop | Moment:
    """Return the moment after an impact, logged, or why its outcome is not determined."""
    ground = driver.ground
    problem, numbers = impact_problem(driver, moment, terms, closing, without_collision)
    outcome = resolve_impact(problem, driver.request.impact)
    names = [ground.table.places[number].name for number in numbers]
    if outcome.choice is not None:
        reason = f"At t = {moment.t:.12g}: {outcome.choice}."
        whose = names[numbers.index(closing[0])] if len(closing) == 1 else None
        ways = _continuations(driver, moment, outcome)
        return stopped_at(driver.record, MotionStatus.CHOICE, moment.t, reason, ways, whose)
    ending = _ending(driver, moment, terms, problem, outcome, numbers, closing)
    if ending:
        held = tuple(
            replace(contact, kind=HELD) if number in ending else contact
            for contact, number in zip(problem.contacts, numbers, strict=True)
        )
        closed = resolve_impact(replace(problem, contacts=held), driver.request.impact)
        if closed.choice is None:
            after = strike(driver, moment, terms, replace(problem, contacts=held), closed, numbers, closing)
            _log_accumulation(driver, ending)
            return after
    return strike(driver, moment, terms, problem, outcome, numbers, closing)


def close_low(driver: Driver, moment: Moment, terms: Terms, low: tuple[int, ...]) -> Moment:
    """Return the moment with contacts closed whose flight is too low to be told from a closed contact.

    The speed that this takes away is that of the flight: an impact, unless it counts as zero. If it was the last of
    flights that shrink steadily, their end is logged here.
    """
    problem, numbers = impact_problem(driver, moment, terms, low, False)
    held = tuple(
        replace(contact, kind=HELD) if number in low else contact
        for contact, number in zip(problem.contacts, numbers, strict=True)
    )
    problem = replace(problem, contacts=held)
    outcome = resolve_impact(problem, driver.request.impact or "newton")
    if outcome.choice is not None:
        return moment
    speed = np.abs(moment.v) + np.abs(outcome.velocity)
    if any(
        abs(problem.rates[i]) > ZERO * (1.0 + float(np.abs(problem.contacts[i].normal) @ speed))
        for i, number in enumerate(numbers)
        if number in low
    ):
        details = _details(driver, moment, outcome, numbers)
        _log(driver, moment, outcome, numbers, low, details)
        driver.record.jump(moment, details)
    _log_accumulation(
        driver, {number: moment.t for number in low if driver.flights.get(number, Flights()).factor() is not None}
    )
    driver.step = 0.0
    return _after(driver.ground, moment.but(v=outcome.velocity), terms, problem, numbers)


def strike(
    driver: Driver,
    moment: Moment,
    terms: Terms,
    problem: ImpactProblem,
    outcome: ImpactOutcome,
    numbers: tuple[int, ...],
    closing: tuple[int, ...],
    more: Mapping[str, Any] | None = None,
) -> Moment:
    """Return the moment after an impact whose outcome is known, logged with what else is to be said of it."""
    details = {**_details(driver, moment, outcome, numbers), **(more or {})}
    _log(driver, moment, outcome, numbers, closing, details)
    driver.record.jump(moment, details)
    driver.step = 0.0
    ahead = None if moment.ahead is None else (*moment.ahead[:2], outcome.velocity)
    return _after(driver.ground, moment.but(v=outcome.velocity, ahead=ahead), terms, problem, numbers)


def _ending(
    driver: Driver,
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
    places = driver.ground.table.places
    contacts = [
        (i, number) for i, number in enumerate(numbers) if places[number].one_sided and places[number].on_position
    ]
    for _, number in contacts:
        flights = driver.flights.setdefault(number, Flights())
        if number in closing:
            flights.add(moment.t)
    ends: list[float] = []
    flying = []
    for i, number in contacts:
        if rates[i] <= ZERO * float(np.abs(problem.contacts[i].normal) @ speed):
            continue
        flights = driver.flights[number]
        lowest = lowest_flight(driver, terms, places[number].normal, moment.t)
        left = flights.remaining(float(rates[i]), lowest)
        if left is None or moment.t - flights.times[-1] > left:
            return {}  # a flight that will be seen
        flying.append(number)
        ends.append(flights.times[-1] + left)
    if not flying:
        return {}
    steady = [number for _, number in contacts if number in closing and driver.flights[number].factor() is not None]
    return dict.fromkeys([*flying, *steady], max(ends))


def _log_accumulation(driver: Driver, ending: dict[int, float]) -> None:
    """Log where impacts accumulate, unless that is after the end of the motion."""
    driver.ending = ending
    for number, time in ending.items():
        if time <= driver.request.until:
            flights = driver.flights[number]
            name = driver.ground.table.places[number].name
            driver.record.event(time, "accumulation", name, impacts=flights.count, factor=flights.factor())


def impact_problem(
    driver: Driver, moment: Moment, terms: Terms, closing: tuple[int, ...], without_collision: bool
) -> tuple[ImpactProblem, tuple[int, ...]]:
    """Return the impulses that may act at a moment, and the numbers of their constraints."""
    ground, contacts, numbers = driver.ground, [], []
    for number, place in enumerate(ground.table.places):
        if place.normal < 0:
            continue  # a bounded force makes no impulse
        if place.one_sided and place.on_position and number not in closing and number not in moment.touching:
            continue
        j = place.normal
        row = terms.rows[j, :, 0]
        rate = float((terms.rate if place.on_position else terms.value)[j, 0])
        along: dict[str, Any] = {}
        if place.slips:
            slips = list(place.slips)
            tangent = terms.slip_rows[slips, :, 0]
            along = {
                "tangent": tangent,
                "slip_rate0": terms.slip[slips, 0] - tangent @ moment.v,
                "friction": float(terms.bounds[place.law, 0]),
            }
        kind = HELD if not place.one_sided else CONTACT if place.on_position else ONE_SIDED
        e = driver.restitution(number, moment) if kind == CONTACT else None
        contacts.append(
            ImpactContact(row, kind=kind, rate0=rate - float(row @ moment.v), restitution=e, name=place.name, **along)
        )
        numbers.append(number)
    problem = ImpactProblem(terms.mass[:, :, 0], moment.v, contacts, without_collision)
    return problem, tuple(numbers)


def _after(ground: Ground, moment: Moment, terms: Terms, problem: ImpactProblem, numbers: tuple[int, ...]) -> Moment:
    """Return the moment after an impact with what touches and what rests there."""
    touching, resting = set(), set()
    rates = problem.rates_of(moment.v)
    speed = np.abs(problem.velocity) + np.abs(moment.v)
    for place_in, number in enumerate(numbers):
        place = ground.table.places[number]
        if place.one_sided:
            size = float(np.abs(problem.contacts[place_in].normal) @ speed) + abs(problem.contacts[place_in].rate0)
            if rates[place_in] < -1e-6 * (1.0 + size):
                raise StateError(f"{ground.name}: the impact left constraint '{place.name}' closing; please report it.")
            if abs(rates[place_in]) <= ZERO * size or rates[place_in] < 0:
                touching.add(number)
    later = ground.at(moment)
    for number, place in enumerate(ground.table.places):
        if place.slips and all(
            abs(float(later.slip[slip, 0])) <= ZERO * (float(np.abs(terms.slip_rows[slip, :, 0]) @ speed) + 1e-300)
            for slip in place.slips
        ):
            resting.add(number)
    return moment.but(touching=frozenset(touching), resting=frozenset(resting), tied=frozenset())


def _details(driver: Driver, moment: Moment, outcome: ImpactOutcome, numbers: tuple[int, ...]) -> dict[str, Any]:
    """Return what an impact was: impulses by constraint, velocities, energy, law."""
    places = driver.ground.table.places
    return {
        "impulses": {places[number].name: float(outcome.normal[i]) for i, number in enumerate(numbers)},
        "friction_impulses": {
            places[number].name: outcome.tangential[i, : len(places[number].slips)].copy()
            for i, number in enumerate(numbers)
            if places[number].slips
        },
        "before": moment.v.copy(),
        "after": outcome.velocity.copy(),
        "energy_change": float(outcome.energy_change),
        "law": outcome.law,
    }


def _log(
    driver: Driver,
    moment: Moment,
    outcome: ImpactOutcome,
    numbers: tuple[int, ...],
    closing: tuple[int, ...],
    details: dict[str, Any],
) -> None:
    places = driver.ground.table.places
    whose = [number for number in closing if places[number].one_sided]
    if not whose:
        whose = [numbers[i] for i in outcome.carrying if places[numbers[i]].one_sided]
    names = tuple(places[number].name for number in whose or [numbers[0]])
    # One jump of the velocity is one event, whoever takes part.
    driver.record.event(moment.t, "impact", names[0] if len(names) == 1 else None, **details, constraints=names)


def _continuations(driver: Driver, moment: Moment, outcome: ImpactOutcome) -> tuple[Continuation, ...]:
    """Return the outcomes to choose from, each with the whole state from which a motion can go on."""
    system = driver.ground.model.system
    place = {item.name: float(value) for item, value in zip(system.coordinates, moment.q, strict=True)}
    made = []
    for one in outcome.alternatives:
        speeds = {item.name: float(value) for item, value in zip(system.velocities, one.velocity, strict=True)}
        words = ", ".join(f"{name} = {value:.6g}" for name, value in speeds.items())
        sentence = f"{one.law}: {words} after it, energy change {one.energy_change:.6g}"
        made.append(Continuation(sentence, state={**place, **speeds, "t": moment.t}))
    return tuple(made)
