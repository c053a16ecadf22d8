"""The start of a motion: whether the state is admissible, and which constraints act there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._compile.laws import require_laws
from zwang._compile.values import Inputs
from zwang._kernels import Terms
from zwang._numerics.contact.admission import Admission, Standing
from zwang._numerics.contact.admission import admit as contact_admission
from zwang._numerics.contact.modes import Side
from zwang._numerics.linear.projection import landed
from zwang._numerics.tolerances import Tolerances
from zwang._reactions.admissible import refuse
from zwang._simulate.moment import Ground, Moment

Array = NDArray[np.float64]
ADMITTED = 1e-9
"""Violations below this, relative to the size of the terms, are corrected; above, the state is refused."""
ZERO = 1e-9
"""Gaps, rates and slips below this, relative to the size of the terms, are zero at the start."""
EXACT = 1e-14
NEARLY = 1e-5
"""Singular values of unit rows below which they count as dependent where a state is moved by less than a tolerance:
constraints that touch leave the square root of it."""


def admit(ground: Ground, inputs: Inputs) -> Moment:
    """Return the start of a motion; a state that violates its constraints is a StateError that names one."""
    t, q, v = float(inputs.t[0]), inputs.q[:, 0].copy(), inputs.v[:, 0].copy()
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
    found = standing_at(ground, terms, q, v, ADMITTED)
    worst = 0.0
    for number, place in enumerate(table.places):
        if place.side is Side.BILATERAL:
            refuse(ground.name, place, terms, found, number)
            off = abs(float(terms.value[place.normal, 0])) / found.near[number, 0]
            rate = abs(float(terms.rate[place.normal, 0])) / found.still[number, 0] if place.on_position else 0.0
            worst = max(worst, ADMITTED * off, ADMITTED * rate)
    return worst


def _onto_constraints(ground: Ground, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the state moved onto its bilateral constraints, by less than the tolerance of admission."""
    held = [place.normal for place in ground.table.places if place.side is Side.BILATERAL]
    return landed(ground.conditions(t, held), q, v, rounds=3, cut=NEARLY)


def standing_at(ground: Ground, terms: Terms, q: Array, v: Array, zero: float) -> Admission:
    """Return how the constraints stand to one state, up to a relative tolerance."""
    return contact_admission(ground.table.arrays, terms, q[:, None], v[:, None], Tolerances(zero, zero, zero))


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
