"""Impacts: from a moment to the problem of impulses, and back to a moment with another velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._backends import Terms
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
        return stopped_at(driver.record, MotionStatus.CHOICE, moment.t, reason, _continuations(driver, outcome), whose)
    ending = _ending(driver, moment, terms, problem, outcome, numbers, closing)
    if ending:
        problem = replace(
            problem,
            contacts=tuple(
                replace(contact, kind=HELD) if number in ending else contact
                for contact, number in zip(problem.contacts, numbers, strict=True)
            ),
        )
        closed = resolve_impact(problem, driver.request.impact)
        outcome, driver.ending = (closed, ending) if closed.choice is None else (outcome, {})
    return strike(driver, moment, terms, problem, outcome, numbers, closing)


def close_low(driver: Driver, moment: Moment, terms: Terms, low: tuple[int, ...]) -> Moment:
    """Return the moment with contacts closed whose flight is too low to be told from a closed contact.

    The speed that this takes away is that of the flight. If it was the last of some, their end is logged here.
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
    driver.ending = {number: moment.t for number in low if driver.flights.get(number, Flights()).times}
    driver.record.jump(moment, _details(driver, moment, outcome, numbers))
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
    if not driver.ending:
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
    found: dict[int, float] = {}
    rates = problem.rates_of(outcome.velocity)
    for i, number in enumerate(numbers):
        place = driver.ground.table.places[number]
        if place.level != "position" or not place.one_sided:
            continue
        flights = driver.flights.setdefault(number, Flights())
        if number in closing:
            flights.add(moment.t)
        left = flights.remaining(max(float(rates[i]), 0.0), lowest_flight(driver, terms, place.normal, moment.t))
        if left is not None and moment.t - flights.times[-1] <= left:
            found[number] = flights.times[-1] + left
    return found if any(number in closing for number in found) else {}


def impact_problem(
    driver: Driver, moment: Moment, terms: Terms, closing: tuple[int, ...], without_collision: bool
) -> tuple[ImpactProblem, tuple[int, ...]]:
    """Return the impulses that may act at a moment, and the numbers of their constraints."""
    ground, contacts, numbers = driver.ground, [], []
    for number, place in enumerate(ground.table.places):
        if place.normal < 0:
            continue  # a bounded force makes no impulse
        if place.one_sided and place.level == "position" and number not in closing and number not in moment.touching:
            continue
        j = place.normal
        row = terms.rows[j, :, 0]
        rate = float((terms.rate if place.level == "position" else terms.value)[j, 0])
        along: dict[str, Any] = {}
        if place.slips:
            slips = list(place.slips)
            tangent = terms.slip_rows[slips, :, 0]
            along = {
                "tangent": tangent,
                "slip_rate0": terms.slip[slips, 0] - tangent @ moment.v,
                "friction": float(terms.bounds[place.law, 0]),
            }
        kind = HELD if not place.one_sided else CONTACT if place.level == "position" else ONE_SIDED
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
    for number in whose or [numbers[0]]:
        driver.record.event(moment.t, "impact", places[number].name, **details)


def _continuations(driver: Driver, outcome: ImpactOutcome) -> tuple[Continuation, ...]:
    names = [item.name for item in driver.ground.model.system.velocities]
    made = []
    for one in outcome.alternatives:
        state = {name: float(value) for name, value in zip(names, one.velocity, strict=True)}
        words = ", ".join(f"{name} = {value:.6g}" for name, value in state.items())
        made.append(Continuation(f"{one.law}: {words} after it, energy change {one.energy_change:.6g}", state=state))
    return tuple(made)
