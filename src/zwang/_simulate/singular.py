"""Singular points of the configuration space on the way of a motion: what is there, and what follows.

Of a small mechanism with one degree of freedom all half-branches are listed (see `passing`); of others the motion
knows the sheet that it is on, and whether that is the only one in its direction (see `sheets`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._compile.inertia import inertia_of
from zwang._kernels.independence import Independence
from zwang._kernels.stretch import Stretch
from zwang._results.motion import MotionStatus
from zwang._simulate.approaching import Approach
from zwang._simulate.deciding import Decision, held_again
from zwang._simulate.dips import Dip
from zwang._simulate.labels import full_mode
from zwang._simulate.moment import Moment
from zwang._simulate.passing import Crossing
from zwang._simulate.sheets import leave_on_sheet, pass_on_sheet
from zwang._simulate.stopping import Stop, stopped_at
from zwang._simulate.stretches import moving_for

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver
    from zwang._trace.equations import Place
    from zwang._trace.local import LocalStructure

Array = NDArray[np.float64]
SUSPECT = 1e-6
"""Least singular value of the rows, in units of the equations, below which a start may be a singular point."""
NEARBY, FALLEN = 1e-2, 9.0
"""How far from a start to look, in sizes of the coordinates, and what log det(J M^-1 J^T) falls from there to it if the
start may be a singular point."""
LISTED = 13
"""Coordinates and held rows up to which the half-branches at a point are listed to go straight through it."""
LISTED_TO_CHOOSE = 30
"""The same where a choice between them is asked for, or where the motion stops there."""

Following = Stop | tuple[Moment, Decision]


class Points:
    """The singular points that a motion has met."""

    def __init__(self) -> None:
        self._points: list[LocalStructure] = []

    def at(self, q: Array) -> LocalStructure | None:
        """Return the structure of a point that the motion has met before."""
        return next((point for point in self._points if np.abs(point.q - q).max() <= 1e-9), None)

    def add(self, point: LocalStructure) -> None:
        """Remember a point."""
        self._points.append(point)


def meet_singular(driver: Driver, moment: Moment, decision: Decision, found: Stretch, dip: Dip) -> Following | None:
    """Return how a motion goes on from a dip of its rows' independence, or why it stops; None where it goes on as is.

    Parameters
    ----------
    driver : Driver
    moment, decision : Moment, Decision
        Where the stretch began, and its mode.
    found : Stretch
        The steps that pass the dip; they are not recorded yet.
    dip : Dip
    """
    approach = Approach(driver, moment, decision, found)
    here = approach.seen(dip.time)
    other = _other_rows(driver, here, decision)
    if other is not None:
        return approach.go(dip.before), other
    if _ideal(driver, decision):
        listed = _listed_way(driver, approach, here, decision, dip)
        return listed if listed is not None else pass_on_sheet(driver, approach, decision, dip)
    at = approach.go(dip.before)
    reason = (
        f"At t = {dip.time:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops. With one-sided contacts or friction among them the way on is not known."
    )
    driver.moment = at
    return stopped_at(driver.record, MotionStatus.SINGULAR, dip.time, reason)


def _listed_way(driver: Driver, approach: Approach, here: Moment, decision: Decision, dip: Dip) -> Following | None:
    """Return what follows at a point whose half-branches can be listed; None elsewhere."""
    crossing = _crossing(driver, here, decision, approach.seen(dip.before))
    if crossing is None:
        return None
    begin = approach.earliest
    for power in range(24):
        time = dip.time - (dip.time - begin) * 0.5**power
        seen = approach.seen(time)
        way = crossing.way_of(seen.q)
        # A motion that has just left the same point is on a half-branch too, outwards.
        if way is not None and time < dip.time and way.inwards(seen.q, seen.v):
            after = crossing.go(approach.go(time), way)
            return after if isinstance(after, Stop) else (after, decision)
    return None


def _other_rows(driver: Driver, here: Moment, decision: Decision) -> Decision | None:
    """Return the decision with other rows held, where only those chosen from dependent ones lose their rank."""
    held = decision.held
    if held is None or held.mode.held == full_mode(driver.ground.table, decision.labels).held:
        return None
    return held_again(driver.ground, here, decision)


def leave_singular(driver: Driver, moment: Moment, decision: Decision) -> Following | None:
    """Return how a motion goes on that starts at a singular point, or why it can't; None where it starts elsewhere.

    The velocity says which half-branch it takes.
    """
    held = decision.held
    if held is None or not _ideal(driver, decision):
        return None
    driver.moving = moving_for(driver.ground.model, held.mode, driver.request.events)
    if not held.mode.held:
        return None
    if not _may_be_listed(driver, decision):
        if not _suspect(driver, moment) or held_again(driver.ground, moment, decision) is not None:
            return None  # rows that depend on each other everywhere are left to the steps
        return leave_on_sheet(driver, moment, decision)
    sizes = np.linalg.svd(place_at(driver, moment).values(moment.q)[1], compute_uv=False)
    if not len(sizes) or sizes[-1] > SUSPECT:
        return None
    crossing = _crossing(driver, moment, decision)
    if crossing is None or np.abs((crossing.found.q - moment.q) / crossing.found.place.scale).max() > SUSPECT:
        return None
    ways = crossing.along(moment.v)
    if len(ways) == 1:
        after = crossing.go(moment, ways[0])
        return after if isinstance(after, Stop) else (after, decision)
    many = "no half-branch leaves" if not ways else f"{len(ways)} half-branches leave"
    reason = f"The motion starts at a singular point ({crossing.found.kind}), and {many} it along the velocity."
    return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, reason, crossing.continuations(moment))


def _suspect(driver: Driver, moment: Moment) -> bool:
    """Say whether the rows at a start may depend on each other: by their pivots, and one by one."""
    size = float(np.abs(moment.q).max(initial=0.0)) or 1.0
    branches = driver.moving.branches(moment.t, moment.q, moment.v, driver.ground.params)
    measure = Independence.of(driver.moving, driver.ground.params, branches)
    if measure is None:
        return False
    beside = moment.q + NEARBY * size * np.cos(1.0 + np.arange(len(moment.q)))
    fallen = measure.at(moment.t, beside)[0] - measure.at(moment.t, moment.q)[0]
    return fallen > FALLEN or not measure.at(moment.t, moment.q)[1]


def _ideal(driver: Driver, decision: Decision) -> bool:
    """Say whether what is held are constraints on positions that hold both ways, without friction."""
    held = decision.held
    assert held is not None
    table, mode = driver.ground.table, held.mode
    places = [table.places[table.of_normal(j)] for j in mode.held]
    ideal = not mode.sticking and not mode.sliding and not mode.pulling
    return ideal and not any(not place.on_position or place.one_sided for place in places)


def _may_be_listed(driver: Driver, decision: Decision) -> bool:
    """Say whether the motion is along a curve of configurations, and small enough to list the branches at a point."""
    from zwang._trace.equations import equations_of

    held = decision.held
    assert held is not None
    n, m = len(driver.ground.model.system.coordinates), len(held.mode.held)
    limit = LISTED if driver.request.at_singular == "straight" else LISTED_TO_CHOOSE
    if n - m != 1 or n + m > limit or not _ideal(driver, decision):
        return False
    return not equations_of(driver.ground.model).timed


def _crossing(driver: Driver, moment: Moment, decision: Decision, away: Moment | None = None) -> Crossing | None:
    """Return the singular point next to a state, if the motion is along a curve of configurations.

    `away` is a state at a distance from the point, by which sizes are judged; by default the state itself.
    """
    from zwang._trace.local import structure
    from zwang._trace.local_refining import refine

    if not _may_be_listed(driver, decision):
        return None
    at = refine(place_at(driver, away or moment), moment.q)
    if at is None:
        return None
    found = driver.points.at(at.q)
    if found is None:
        found = structure(at)
        driver.points.add(found)
    return Crossing(driver, decision, found) if found.half_branches else None


def place_at(driver: Driver, moment: Moment) -> Place:
    """Return the equations of the configuration space with the units of a state."""
    from zwang._trace.equations import Place, equations_of

    equations = equations_of(driver.ground.model)
    lengths = np.abs(moment.q[~equations.angles])
    scale = np.where(equations.angles, 1.0, max(float(lengths.max(initial=0.0)), 1e-300))
    plain = Place(equations, driver.ground.params, moment.t, scale, np.ones(equations.m))
    rows, bends = plain.values(moment.q)[1], plain.hessians(moment.q)
    weights = np.linalg.norm(rows, axis=1) + np.linalg.norm(bends, axis=(1, 2))
    return Place(equations, driver.ground.params, moment.t, scale, np.where(weights > 0, weights, 1.0))


def pass_singular(driver: Driver, moment: Moment, decision: Decision) -> Following:
    """Return how a motion goes on from a place where its rows become dependent, or why it stops there.

    Parameters
    ----------
    driver : Driver
        The motion so far: its ground, request and record.
    moment : Moment
        The last state that the steps reached.
    decision : Decision
        The mode until there.
    """
    crossing = _crossing(driver, moment, decision)
    way = crossing.way_of(moment.q) if crossing is not None else None
    if crossing is not None and way is not None:
        driver.lookout.forget()
        driver.step = 0.0  # the last ones shrank to nothing in front of the point
        after = crossing.go(moment, way)
        return after if isinstance(after, Stop) else (after, decision)
    ground = driver.ground
    inertia = inertia_of(ground.model, ground.inputs(moment.t, moment.q, moment.v))
    if inertia.lost:
        return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, f"At t = {moment.t:.12g} {inertia.words}")
    reason = (
        f"At t = {moment.t:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops, and the equations don't say how the motion goes on."
    )
    return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, reason)
