"""What happens at an instant: watches that fired, impacts, the next mode, and what is logged of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang._kernels import Terms
from zwang._numerics.contact.admission import Standing
from zwang._numerics.contact.modes import Mode, Side
from zwang._results.motion import MotionStatus
from zwang._simulate.admission import standing_at
from zwang._simulate.deciding import Decision
from zwang._simulate.impacting import close_low, collide
from zwang._simulate.labels import change_of
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.stopping import Stop

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

ZERO = 1e-10
"""Gaps, rates and slips below this, relative to the size of the terms, are zero at an event."""
LIFTED = 1e-7
"""Values and rates above this, relative to the size of the terms, have jumped."""


def happen(
    driver: Driver,
    moment: Moment,
    decision: Decision | None,
    names: tuple[tuple[str, int], ...],
    *,
    without_collision: bool = False,
) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on from an instant, or why it stops there.

    Parameters
    ----------
    driver : Driver
    moment : Moment
        The state at the instant, located.
    decision : Decision or None
        The mode until then, None at the start.
    names : tuple
        The watches that fired.
    without_collision : bool
        An impact though nothing closes, at a paradox.
    """
    if names and all(name[0] == "extra" for name in names) and decision is not None:
        ended = _user_events(driver, moment, names)
        return ended if ended is not None else (moment, decision)
    ended = _user_events(driver, moment, tuple(name for name in names if name[0] == "extra"))
    if ended is not None:
        return ended
    if not without_collision:
        driver.before = None if decision is None else decision.labels
    before = driver.before
    if any(name[0] == "surface" for name in names):
        moment = _across(driver, moment, names)
    terms = driver.ground.at(moment)
    if decision is not None:
        moment = _known(driver.ground, moment, decision, names, terms)
    closing = _closing(driver.ground, moment, terms, names)
    if closing or without_collision:
        after = collide(driver, moment, terms, closing, without_collision)
        if isinstance(after, Stop):
            return after
        moment = after
    else:
        low = _low(driver.ground, moment, names)
        moment = close_low(driver, moment, terms, low) if low else moment
    following = driver.decide(moment, before)
    if following.stop is not None:
        if without_collision:
            return Stop(MotionStatus.PARADOX, f"At t = {moment.t:.12g} no reaction exists after the impact either.")
        return driver.no_mode(following, moment)
    if before is not None:
        _log(driver, moment, before, following.labels)
    return moment, following


def _user_events(driver: Driver, moment: Moment, names: tuple[tuple[str, int], ...]) -> Stop | None:
    """Log the user's events among those that fired; return the stop if one of them asks for it."""
    ended = None
    for _, k in names:
        event = driver.request.events[k]
        if event.direction and driver.direction_of(k, moment) != event.direction:
            continue
        driver.record.event(moment.t, "user", None, str(event.name))
        if event.stop:
            ended = Stop(MotionStatus.REACHED, f"Stopped at the event '{event.name}', t = {moment.t:.12g}.")
    return ended


def _across(driver: Driver, moment: Moment, names: tuple[tuple[str, int], ...]) -> Moment:
    """Return the moment an instant later, beyond the switching surfaces that were met."""
    surfaces = [k for kind, k in names if kind == "surface"]
    return driver.beyond(moment, surfaces)


def _known(
    ground: Ground, moment: Moment, decision: Decision, names: tuple[tuple[str, int], ...], terms: Terms
) -> Moment:
    """Return the moment with what touches and what rests: from the mode until now and from what fired."""
    table = ground.table
    touching, resting = set(), set()
    for number, label in enumerate(decision.labels):
        if label is not Mode.OPEN and table.places[number].one_sided:
            touching.add(number)
        if label.plain is Mode.STICK:
            resting.add(number)
    for kind, k in names:
        if kind == "value":
            touching.add(table.of_normal(k))
        elif kind in ("slip", "speed"):
            resting.add(table.of_law(k))
    found = standing_at(ground, terms, moment.q, moment.v, ZERO)
    resting.update(np.flatnonzero(found.rest[:, 0]).tolist())
    for number, place in enumerate(table.places):
        if not place.one_sided:
            continue
        if found.standing[number, 0] == Standing.ACTIVE:
            touching.add(number)
        # A jump in time may have lifted a one-sided constraint on velocities off its bound.
        elif not place.on_position and terms.value[place.normal, 0] > LIFTED / ZERO * found.near[number, 0]:
            touching.discard(number)
    tied = frozenset(
        table.of_normal(k) if kind == "normal" else table.of_law(k)
        for kind, k in names
        if kind in ("normal", "reserve")
    )
    return moment.but(touching=frozenset(touching), resting=frozenset(resting), tied=tied)


def _closing(ground: Ground, moment: Moment, terms: Terms, names: tuple[tuple[str, int], ...]) -> tuple[int, ...]:
    """Return the constraints that the velocity would violate at once: closed gaps, and limits that have jumped."""
    fired = {ground.table.of_normal(k) for kind, k in names if kind == "gap"}
    at = standing_at(ground, terms, moment.q, moment.v, ZERO)
    gap, pace = at.gap[:, 0], at.pace[:, 0]
    found = []
    for number, place in enumerate(ground.table.places):
        if place.side is Side.BILATERAL:
            off = float((terms.rate if place.on_position else terms.value)[place.normal, 0])
            closes = abs(off) > LIFTED / ZERO * at.still[number, 0]
        elif place.on_position:
            closes = (number in fired or gap[number] <= 0) and pace[number] < 0
        else:
            closes = gap[number] < 0
        if closes:
            found.append(number)
    return tuple(found)


def _low(ground: Ground, moment: Moment, names: tuple[tuple[str, int], ...]) -> tuple[int, ...]:
    """Return the contacts that were left and met again within a distance that counts as zero."""
    fired = (ground.table.of_normal(k) for kind, k in names if kind == "gap")
    return tuple(number for number in fired if number not in moment.touching)


def _log(driver: Driver, moment: Moment, before: tuple[Mode, ...], after: tuple[Mode, ...]) -> None:
    """Log what changed from one mode to the next."""
    for place, old, new in zip(driver.ground.table.places, before, after, strict=True):
        kind = change_of(place, old, new)
        if kind is None:
            continue
        number = driver.ground.table.names.index(place.name)
        # A contact that was closed a little before its impacts would have ended can't stick or part before that.
        time = max(driver.ending.get(number, moment.t), driver.closed.get(number, moment.t))
        if number in driver.ending:
            driver.closed[number] = time
        if time <= max(driver.request.until, moment.t):
            driver.record.event(time, kind, place.name)
    driver.ending = {}
