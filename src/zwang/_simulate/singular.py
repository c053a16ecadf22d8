"""Singular points of the configuration space on the way of a motion: when one is near, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._compile.inertia import inertia_of
from zwang._results.motion import MotionStatus
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Moment
from zwang._simulate.passing import Crossing
from zwang._simulate.stopping import Stop, stopped_at

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver
    from zwang._trace.equations import Place
    from zwang._trace.local import LocalStructure

Array = NDArray[np.float64]
NEAR = 1e-3
"""Part of its largest value to which det(J M^-1 J^T) has fallen where a singular point is looked for."""
SUSPECT = 1e-6
"""Least singular value of the rows, in units of the equations, below which a start may be a singular point."""
NEARER = 0.1
"""Part of its value here to which it must fall before it is looked for again."""


class Nearness:
    """How near the held constraints are to depending on each other, and when to look for a singular point."""

    def __init__(self) -> None:
        self.largest: dict[tuple[int, ...], float] = {}
        self.ignored: dict[tuple[int, ...], float] = {}
        self.points: list[LocalStructure] = []

    def known(self, q: Array) -> LocalStructure | None:
        """Return the structure of a point that the motion has met before."""
        return next((point for point in self.points if np.abs(point.q - q).max() <= 1e-9), None)

    def limit(self, held: tuple[int, ...], closeness: float) -> float:
        """Return the value of 1/det(J M^-1 J^T) beyond which to look, from its value now."""
        if not np.isfinite(closeness) or closeness <= 0:
            return float("inf")
        here = 1.0 / closeness
        largest = self.largest[held] = max(self.largest.get(held, 0.0), here)
        if here > NEAR * largest:
            self.ignored.pop(held, None)
        level = min(NEAR * largest, NEARER * here, self.ignored.get(held, np.inf))
        return 1.0 / level

    def ignore(self, held: tuple[int, ...], closeness: float) -> None:
        """Say that no singular point was found where the closeness is this."""
        self.ignored[held] = NEARER / closeness


def near_singular(
    driver: Driver, moment: Moment, decision: Decision, closeness: float
) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on that may be near a singular point, or why it stops there."""
    held = decision.held
    assert held is not None
    crossing = _crossing(driver, moment, decision)
    way = crossing.way_of(moment.q) if crossing is not None else None
    if crossing is None or way is None:
        driver.nearness.ignore(held.mode.held, closeness)
        return moment, decision
    after = crossing.go(moment, way)
    return after if isinstance(after, Stop) else (after, decision)


def leave_singular(driver: Driver, moment: Moment, decision: Decision) -> Stop | tuple[Moment, Decision] | None:
    """Return how a motion goes on that starts at a singular point, or why it can't; None where it starts elsewhere.

    The velocity says which half-branch it takes.
    """
    held = decision.held
    if not driver.ground.table.smooth or held is None or len(moment.q) - len(held.mode.held) != 1:
        return None
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


def _crossing(driver: Driver, moment: Moment, decision: Decision) -> Crossing | None:
    """Return the singular point next to a state, if the motion is along a curve of configurations."""
    from zwang._trace.equations import equations_of
    from zwang._trace.local import structure
    from zwang._trace.local_refining import refine

    held = decision.held
    assert held is not None
    table = driver.ground.table
    mode = held.mode
    positions = [table.places[table.of_normal(j)] for j in mode.held]
    ideal = not mode.sticking and not mode.sliding and not mode.pulling
    if not ideal or any(place.level != "position" or place.one_sided for place in positions):
        return None
    if len(moment.q) - len(mode.held) != 1:
        return None
    equations = equations_of(driver.ground.model)
    if equations.timed:
        return None
    at = refine(place_at(driver, moment), moment.q)
    if at is None:
        return None
    found = driver.nearness.known(at.q)
    if found is None:
        found = structure(at)
        driver.nearness.points.append(found)
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


def pass_singular(driver: Driver, moment: Moment, decision: Decision) -> Stop | tuple[Moment, Decision]:
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
