"""The start of a motion: whether the state is admissible, and which constraints act there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._compile.laws import require_laws
from zwang._compile.states import PROJECT
from zwang._compile.values import Inputs
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Side
from zwang._numerics.contact.table import Place
from zwang._numerics.linear.projection import landed
from zwang._simulate.moment import Ground, Moment
from zwang.errors import StateError

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
    for place in ground.table.places:
        if place.one_sided:
            _check_one_sided(ground, place, terms, q, v)
    return look(ground, Moment(t, q, v), terms, ZERO)


def _check_bilateral(ground: Ground, terms: Terms, q: Array, v: Array) -> float:
    """Return the largest violation of a bilateral constraint, relative to its terms."""
    worst = 0.0
    for place in ground.table.places:
        if place.side is not Side.BILATERAL:
            continue
        j, position = place.normal, place.on_position
        row = np.abs(terms.rows[j, :, 0])
        value, rate = float(terms.value[j, 0]), float(terms.rate[j, 0])
        size = 1.0 + float(row @ np.abs(q if position else v))
        speed = 1.0 + float(row @ np.abs(v))
        if abs(value) > ADMITTED * size:
            raise StateError(
                f"{ground.name}: the state is off constraint '{place.name}' by {value:.1e} "
                f"(tol {ADMITTED * size:.0e}). {PROJECT}"
            )
        if position and abs(rate) > ADMITTED * speed:
            raise StateError(
                f"{ground.name}: the velocity leaves constraint '{place.name}' with {rate:.1e} "
                f"(tol {ADMITTED * speed:.0e}). {PROJECT}"
            )
        worst = max(worst, abs(value) / size, abs(rate) / speed if position else 0.0)
    return worst


def _onto_constraints(ground: Ground, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the state moved onto its bilateral constraints, by less than the tolerance of admission."""
    held = [place.normal for place in ground.table.places if place.side is Side.BILATERAL]
    return landed(ground.conditions(t, held), q, v, rounds=3, cut=NEARLY)


def _check_one_sided(ground: Ground, place: Place, terms: Terms, q: Array, v: Array) -> None:
    value = float(terms.value[place.normal, 0])
    row = np.abs(terms.rows[place.normal, :, 0])
    size = ADMITTED * (1.0 + float(row @ np.abs(q if place.on_position else v)))
    if value < -size:
        raise StateError(
            f"{ground.name}: the state violates constraint '{place.name}' by {-value:.1e} (tol {size:.0e}). "
            "Start where its expression is not negative, or use start='project'."
        )


def look(ground: Ground, moment: Moment, terms: Terms, zero: float) -> Moment:
    """Return the moment with what touches and what rests found from the state, up to a relative tolerance."""
    touching, resting = set(), set()
    q, v = np.abs(moment.q), np.abs(moment.v)
    for number, place in enumerate(ground.table.places):
        if place.one_sided:
            row = np.abs(terms.rows[place.normal, :, 0])
            value, rate = float(terms.value[place.normal, 0]), float(terms.rate[place.normal, 0])
            if not place.on_position:
                closed = abs(value) <= zero * (1.0 + float(row @ v))
            else:
                closed = value <= zero * (1.0 + float(row @ q)) and abs(rate) <= zero * (1.0 + float(row @ v))
            if closed:
                touching.add(number)
        if place.slips and is_rest(place, terms, v, zero):
            resting.add(number)
    return moment.but(touching=frozenset(touching), resting=frozenset(resting))


def is_rest(place: Place, terms: Terms, speed: Array, zero: float) -> bool:
    """Say whether the slip of a constraint is zero, relative to the size of its terms."""
    return all(
        abs(float(terms.slip[slip, 0])) <= zero * (1.0 + float(np.abs(terms.slip_rows[slip, :, 0]) @ speed))
        for slip in place.slips
    )
