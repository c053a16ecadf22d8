"""On which side of zero each watched quantity must stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Terms
from zwang._numerics.contact.modes import Mode
from zwang._simulate.deciding import Decision
from zwang._simulate.labels import friction_of
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.resting import stands
from zwang._simulate.timestepping import autonomous

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

ANY = 2.0
"""Fires on any crossing."""
ROUNDING = 1e-13
"""Of a quantity, relative to its terms."""
GRAZING = 0.5
"""Part of the tolerance by which a gap, a one-sided velocity or a slip may dip through zero without having met it."""
LOOKS = (1e-6, 1e-4, 1e-2)
"""How far to look for the side of a switching surface, in parts of the time on which the motion changes little."""
IDLE = 1e-9
"""Force below which an idle constraint is not let go, relative to the forces there are."""


def sides_of(driver: Driver, decision: Decision, moment: Moment) -> NDArray[np.float64]:
    """Return, for every watch of the mode, the sign that it keeps, 0 where it is not watched."""
    table, labels = driver.ground.table, decision.labels
    loose = unwatched(driver.ground, decision, moment)
    sides = []
    for kind, k in driver.moving.watch_names:
        side = 0.0
        if kind in ("gap", "value"):
            # A constraint that is closed but not held is implied by others: its value is zero up to rounding.
            side = 1.0 if labels[table.of_normal(k)] is Mode.OPEN else 0.0
        elif kind == "normal":
            held = decision.held
            pulls = held is not None and k in held.mode.pulling
            side = 0.0 if table.of_normal(k) in loose else -1.0 if pulls else 1.0
        elif kind == "slip":
            side = float(labels[table.of_law(k)].sign)
        elif kind == "reserve" and table.of_law(k) in loose:
            side = 0.0
        elif kind in ("speed", "reserve"):
            side = 1.0 if labels[table.of_law(k)] is not Mode.OPEN else 0.0
        elif kind in ("surface", "extra"):
            side = ANY
        sides.append(side)
    return np.array(sides)


def unwatched(ground: Ground, decision: Decision, moment: Moment) -> frozenset[int]:
    """Return the contacts whose forces need no watch: what rests, with nothing that depends on time, rests for good.

    Where sticking forces in planes are undetermined, those of the rows that carry the motion are one distribution of
    many, and their bounds mean nothing; that some distribution exists was decided.
    """
    free = spatial_stress(ground, decision)
    return free if free and stands(ground, decision, moment) and autonomous(ground) else frozenset()


def spatial_stress(ground: Ground, decision: Decision) -> frozenset[int]:
    """Return the contacts with undetermined forces, where some of them stick in planes."""
    loose = set(decision.held.undetermined) if decision.held is not None else set()
    taking = [
        number for number, place in enumerate(ground.table.places) if {place.name, friction_of(place.name)} & loose
    ]
    sticks = any(
        len(ground.table.places[number].slips) > 1 and decision.labels[number].plain is Mode.STICK for number in taking
    )
    return frozenset(taking) if sticks else frozenset()


def bands_of(driver: Driver, decision: Decision, moment: Moment) -> NDArray[np.float64] | None:
    """Return what counts as zero for each watch: the rounding of its terms, whose signs must not conspire."""
    names = driver.moving.watch_names
    if not any(kind not in ("surface", "extra") for kind, _ in names):
        return None
    ground = driver.ground
    terms = ground.terms(moment.t, moment.q, moment.v)
    # The largest sizes so far: a gap that is zero where all coordinates are zero has the rounding of its way there.
    q, v, a = driver.sizes
    q, v = q + abs(moment.t) * v, v + abs(moment.t) * a
    mass = np.diagonal(terms.mass[:, :, 0])
    pull = np.abs(terms.force[:, 0]) + mass * a
    branches = driver.moving.branches(moment.t, moment.q, moment.v, ground.params)
    bands = np.array(driver.moving.bands(moment.t, moment.q, moment.v, ground.params, branches))
    loads = {place.law: place for place in ground.table.places if place.law >= 0}
    for watch, (kind, k) in enumerate(names):
        size = shallow = 0.0
        if kind in ("gap", "value"):
            row = np.abs(terms.rows[k, :, 0])
            size = float(row @ (q if kind == "gap" else v))
            shallow = float(row @ (1.0 + driver.sizes[0 if kind == "gap" else 1]))
        elif kind == "normal":
            size = _force_size(terms.rows[k, :, 0], mass, pull)
            if ground.table.of_normal(k) in decision.idle:  # zero for good, as far as one could see
                size *= IDLE / ROUNDING
        elif kind in ("slip", "speed"):
            row = np.abs(terms.slip_rows[list(loads[k].slips), :, 0]).sum(axis=0)
            size = float(row @ v)
            shallow = float(row @ (1.0 + driver.sizes[1])) if kind == "slip" else 0.0
        elif kind == "reserve":
            place = loads[k]
            size = sum(_force_size(terms.slip_rows[slip, :, 0], mass, pull) for slip in place.slips)
        bands[watch] = max(bands[watch], ROUNDING * size, GRAZING * driver.request.tol * shallow)
    return bands


def lowest_flight(driver: Driver, terms: Terms, normal: int, t: float) -> float:
    """Return how high a contact must fly to be told from a closed one: beyond the tolerance, and far beyond bands."""
    row = np.abs(terms.rows[normal, :, 0])
    q, v, _ = driver.sizes
    far = float(row @ (q + abs(t) * v))
    return max(driver.request.tol, 1e-12) * (1.0 + float(row @ (1.0 + q))) + 20 * ROUNDING * far


def branches_of(driver: Driver, moment: Moment) -> NDArray[np.float64] | None:
    """Return the sides of the switching surfaces on which the motion goes on, None where there is no surface.

    A motion may leave a surface with a rate of zero, as a slip that starts leaves the kink of |slip|: then one looks
    further ahead until the side shows beyond rounding.
    """
    moving, params = driver.moving, driver.ground.params
    count = sum(kind == "surface" for kind, _ in moving.watch_names)
    if count == 0:
        return None
    t, q, v = moment.t, moment.q, moment.v
    sides = np.array(moving.branches(t, q, v, params))
    size = moving.bands(t, q, v, params, sides)[-count:]
    hidden = np.abs(moving.evaluate(t, q, v, params, sides)[3][-count:]) <= size
    for look in LOOKS if hidden.any() else ():
        h = look * driver.span
        a = moving.evaluate(t, q, v, params, sides)[0]
        middle = moving.evaluate(t + h / 2, q + h / 2 * v, v + h / 2 * a, params, sides)[0]
        later = moving.evaluate(t + h, q + h * v + h * h / 2 * a, v + h * middle, params, sides)[3][-count:]
        shown = hidden & (np.abs(later) > 10 * size)
        sides[shown] = np.sign(later[shown])
        hidden &= ~shown
    return sides


def _force_size(row: NDArray[np.float64], mass: NDArray[np.float64], pull: NDArray[np.float64]) -> float:
    """Return the size of the force along a row that balances all forces on it."""
    spread = float(row**2 @ (1.0 / mass))
    return float(np.abs(row) @ (pull / mass)) / spread if spread > 0 else 0.0
