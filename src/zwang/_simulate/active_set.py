"""Which constraints act: at the start of a motion, whose state must be admissible, and at an event."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import require_laws
from zwang._compile.given_values import Inputs
from zwang._kernels import Terms
from zwang._numerics.contact.admission import Admission, Sizes, Standing, characteristic
from zwang._numerics.contact.admission import admit as contact_admission
from zwang._numerics.contact.modes import Mode, Side
from zwang._numerics.linear.projection import landed
from zwang._numerics.sizes import sizes_at
from zwang._numerics.tolerances import Tolerances
from zwang._reactions.admissible import refuse
from zwang._simulate.ground import Ground
from zwang._simulate.moment import Decision, Moment, Watch

Array = NDArray[np.float64]
ADMITTED = 1e-9
"""Violations below this, relative to the size of the terms, are corrected; above, the state is refused."""
ZERO = 1e-9
"""Gaps, rates and slips below this, relative to the size of the terms, are zero at the start."""
ZERO_AT_EVENT = 1e-10
"""The same at an event."""
LIFTED = 1e-7
"""Values and rates above this, relative to the size of the terms, have jumped."""
EXACT = 1e-14  # relative: below it a state is on its constraints as well as doubles can say
TINY = 1e-300
"""More than the tolerance where nothing has a size."""
NEARLY = 1e-5
"""Singular values of unit rows below which they count as dependent where a state is moved by less than a tolerance:
constraints that touch leave the square root of it."""


def as_given(inputs: Inputs) -> Moment:
    """Return a state as a moment of which nothing is known."""
    return Moment(float(inputs.t[0]), inputs.q[:, 0].copy(), inputs.v[:, 0].copy())


def admit(ground: Ground, inputs: Inputs) -> Moment:
    """Return the start of a motion; a state that violates its constraints is a StateError that names one."""
    given = as_given(inputs)
    t, q, v = given.t, given.q, given.v
    terms = ground.terms(t, q, v)
    ground.model.require_finite(terms)
    require_laws(ground.model.system, terms.bounds, ground.params)
    if _check_bilateral(ground, terms, q, v) > EXACT:
        q, v = _onto_constraints(ground, t, q, v)
        terms = ground.terms(t, q, v)
    if ground.table.smooth:
        return Moment(t, q, v)
    found = standing_at(ground, terms, q, v, ADMITTED)
    for number in np.flatnonzero(found.standing[:, 0] == Standing.VIOLATED).tolist():
        refuse(ground.name, ground.table.places[number], terms, found, number, cure=", or use start='project'")
    return look(ground, Moment(t, q, v), terms, ZERO)


def _check_bilateral(ground: Ground, terms: Terms, q: Array, v: Array) -> float:
    """Return the largest violation of a bilateral constraint, relative to its terms."""
    table = ground.table
    worst = 0.0
    if not any(place.side is Side.BILATERAL for place in table.places):
        return worst
    found = standing_at(ground, terms, q, v, ADMITTED)
    for number, place in enumerate(table.places):
        if place.side is Side.BILATERAL:
            refuse(ground.name, place, terms, found, number)
            off = abs(float(terms.value[place.normal, 0])) / (found.near[number, 0] + TINY)
            pace = abs(float(terms.rate[place.normal, 0])) / (found.still[number, 0] + TINY)
            rate = pace if place.on_position else 0.0
            worst = max(worst, ADMITTED * off, ADMITTED * rate)
    return worst


def _onto_constraints(ground: Ground, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the state moved onto its bilateral constraints, by less than the tolerance of admission."""
    held = [place.normal for place in ground.table.places if place.side is Side.BILATERAL]
    return landed(ground.conditions(t, held), q, v, rounds=3, cut=NEARLY)


def standing_at(ground: Ground, terms: Terms, q: Array, v: Array, zero: float) -> Admission:
    """Return how the constraints stand to one state, up to a relative tolerance.

    What had no size where the motion began, at rest at the origin, has that of this state: rounding of a rate would be
    compared with itself.
    """
    at = q[:, None], v[:, None]
    return contact_admission(ground.table.arrays, terms, *at, _alike(zero), floors_at(ground, terms, q, v))


def floors_at(ground: Ground, terms: Terms, q: Array, v: Array) -> Sizes:
    """Return the least sizes of gaps, rates and slips: those of the start, of this state where it had none."""
    floors, turns = ground.floors, ground.table.arrays.turns
    if all(floor.all() for floor in floors):
        return floors
    here = characteristic(terms, turns, sizes_at(terms, turns, q[:, None], v[:, None]))
    return Sizes(*(np.where(floor > 0.0, floor, own) for floor, own in zip(floors, here, strict=True)))


@cache
def _alike(zero: float) -> Tolerances:
    """Return one tolerance for gaps, rates and slips; there are a few of them, and thousands of states."""
    return Tolerances(zero, zero, zero)


def look(ground: Ground, moment: Moment, terms: Terms, zero: float) -> Moment:
    """Return the moment with what touches and what rests found from the state, up to a relative tolerance."""
    found = standing_at(ground, terms, moment.q, moment.v, zero)
    touching = (
        number
        for number, place in enumerate(ground.table.places)
        if place.one_sided
        and found.pace[number, 0] == 0
        and (found.gap[number, 0] <= 0 if place.on_position else found.gap[number, 0] == 0)
    )
    return moment.but(touching=frozenset(touching), resting=frozenset(np.flatnonzero(found.rest[:, 0]).tolist()))


# At an event.
def standing_at_event(ground: Ground, moment: Moment, terms: Terms) -> Admission:
    """Return how the constraints stand to the state at an event."""
    return standing_at(ground, terms, moment.q, moment.v, ZERO_AT_EVENT)


def known_at(
    ground: Ground, moment: Moment, decision: Decision, watches: tuple[Watch, ...], terms: Terms, found: Admission
) -> Moment:
    """Return the moment with what touches and what rests: from the mode until now and from what fired."""
    table = ground.table
    ended = any(kind == "surface" for kind, _ in watches)
    touching, resting = set(), set()
    for number, label in enumerate(decision.labels):
        if label is not Mode.OPEN and table.places[number].one_sided:
            touching.add(number)
        if label.plain is Mode.STICK:
            resting.add(number)
    for kind, k in watches:
        if kind == "value":
            touching.add(table.of_normal(k))
        elif kind in ("slip", "speed"):
            resting.add(table.of_law(k))
    resting.update(np.flatnonzero(found.rest[:, 0]).tolist())
    for number, place in enumerate(table.places):
        if not place.one_sided:
            continue
        if found.standing[number, 0] == Standing.ACTIVE:
            touching.add(number)
            continue
        # A jump in time may have lifted a one-sided constraint on velocities off its bound; one on positions ends where
        # a relation ceases to hold that it needs, or where another part of its expression takes over and grows: a
        # corner that goes over an edge.
        off = terms.value[place.normal, 0] > LIFTED / ZERO_AT_EVENT * found.near[number, 0]
        parts = place.on_position and found.pace[number, 0] > 0
        if (off and (ended or not place.on_position)) or (parts and ended):
            touching.discard(number)
    tied = frozenset(
        table.of_normal(k) if kind == "normal" else table.of_law(k)
        for kind, k in watches
        if kind in ("normal", "reserve")
    )
    return moment.but(touching=frozenset(touching), resting=frozenset(resting), tied=tied)


def met_from_behind(ground: Ground, moment: Moment, terms: Terms, found: Admission) -> str:
    """Return in words which constraint is violated at an instant, by what jumps there; empty where none is."""
    for number, place in enumerate(ground.table.places):
        gap = terms.value[place.normal, 0] if place.normal >= 0 else 0.0
        if place.side is Side.BILATERAL and place.on_position and found.gap[number, 0] != 0:
            off = math.remainder(gap, 2 * math.pi) if any(ground.table.turns) else gap
            if abs(off) > LIFTED / ZERO_AT_EVENT * found.near[number, 0]:
                return (
                    f"At t = {moment.t:.12g} the place that '{place.name}' asks for jumps by {-off:.3g}, and bodies "
                    "don't. Give an expression that is continuous; its rate may jump."
                )
        if place.one_sided and place.on_position and gap < -LIFTED / ZERO_AT_EVENT * found.near[number, 0]:
            return (
                f"At t = {moment.t:.12g} '{place.name}' begins to exist where its gap is {gap:.3g} already: it is met "
                "from behind. Declare what stands there as a constraint of its own, or another where=."
            )
    return ""


def closing_at(ground: Ground, terms: Terms, watches: tuple[Watch, ...], at: Admission) -> tuple[int, ...]:
    """Return the constraints that the velocity would violate at once: closed gaps, and limits that have jumped."""
    fired = {ground.table.of_normal(k) for kind, k in watches if kind == "gap"}
    gap, pace = at.gap[:, 0], at.pace[:, 0]
    found = []
    for number, place in enumerate(ground.table.places):
        if place.side is Side.BILATERAL:
            off = float((terms.rate if place.on_position else terms.value)[place.normal, 0])
            closes = abs(off) > LIFTED / ZERO_AT_EVENT * at.still[number, 0]
        elif place.on_position:
            closes = (number in fired or gap[number] <= 0) and pace[number] < 0
        else:
            closes = gap[number] < 0
        if closes:
            found.append(number)
    return tuple(found)


def low_at(ground: Ground, moment: Moment, watches: tuple[Watch, ...]) -> tuple[int, ...]:
    """Return the contacts that were left and met again within a distance that counts as zero."""
    fired = (ground.table.of_normal(k) for kind, k in watches if kind == "gap")
    return tuple(number for number in fired if number not in moment.touching)
