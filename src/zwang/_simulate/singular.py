"""Singular points of the configuration space on the way of a motion: what is there, and what follows.

Of a small mechanism with one degree of freedom all half-branches are listed (see `passing`); of others the motion
knows the sheet that it is on, and whether that is the only one in its direction (see `sheets`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._compile.masses import inertia_of
from zwang._kernels.independence import Independence
from zwang._kernels.mode_motion import Moving
from zwang._results.motion import MotionStatus
from zwang._simulate.decide import held_again
from zwang._simulate.ground import Ground
from zwang._simulate.mode_labels import full_mode, hold
from zwang._simulate.moment import Context, Decision, Dipped, Moment, Transition, keeping, stopped_at, terms_at
from zwang._simulate.nearness import NEARLY, held_rows
from zwang._simulate.passage import Crossing
from zwang._simulate.sheets import leave_on_sheet, pass_on_sheet
from zwang._simulate.stretch import Approach, moving_for

if TYPE_CHECKING:
    from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
SUSPECT = 1e-6
"""Least singular value of the rows, in units of the equations, below which a start may be a singular point."""
NEARBY, FALLEN = 1e-2, 9.0
"""How far from a start to look, in sizes of the coordinates, and what log det(J M^-1 J^T) falls from there to it if the
start may be a singular point."""
KNOWN = 1e-9
"""Distance within which two singular points are one."""
LISTED = 13
"""Coordinates and held rows up to which the half-branches at a point are listed to go straight through it."""
LISTED_TO_CHOOSE = 30
"""The same where a choice between them is asked for, or where the motion stops there."""


def meet_singular(context: Context, moment: Moment, happening: Dipped) -> Transition | None:
    """Return how a motion goes on from a dip of its rows' independence, or why it stops; None where it goes on as is.

    Parameters
    ----------
    context : Context
    moment : Moment
        Where the stretch that passes the dip began.
    happening : Dipped
    """
    decision, dip = happening.decision, happening.dip
    approach = Approach(context, moment, happening)
    here = approach.seen(dip.time)
    other = _other_rows(context, here, decision, approach.seen(dip.before))
    if other is not None:
        return replace(approach.go(dip.before), decision=other)
    if _ideal(context, decision):
        crossing, here = _crossing(context, here, decision, approach.seen(dip.before))
        approach.moment = moment.recalling(points=here.memory.points)
        listed = None if crossing is None else _listed_way(approach, crossing)
        return listed if listed is not None else pass_on_sheet(context, approach, dip)
    at = approach.go(dip.before)
    reason = (
        f"At t = {dip.time:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops. With one-sided contacts or friction among them the way on is not known."
    )
    return at.then(stopped_at(at.moment, MotionStatus.SINGULAR, reason, time=dip.time))


def _listed_way(approach: Approach, crossing: Crossing) -> Transition | None:
    """Return what follows at a point whose half-branches are listed; None where the motion comes along none of them."""
    begin, dip = approach.earliest, approach.happening.dip
    for power in range(24):
        time = dip.time - (dip.time - begin) * 0.5**power
        seen = approach.seen(time)
        way = crossing.way_of(seen.q)
        # A motion that has just left the same point is on a half-branch too, outwards.
        if way is not None and time < dip.time and way.inwards(seen.q, seen.v):
            made = approach.go(time)
            with keeping(made):
                return made.then(crossing.go(made.moment, way))
    return None


def _other_rows(context: Context, here: Moment, decision: Decision, before: Moment) -> Decision | None:
    """Return the decision with other rows held, where only those chosen from dependent ones lose their rank.

    None where the others lose it too: beside the point itself they only seem to be independent.
    """
    if decision.mode.mode.held == full_mode(context.table, decision.labels).held:
        return None
    found = held_again(context, here, decision)
    if found is None:
        return None
    held = found.mode.mode.held
    if len(held) < len(hold(context.table, decision.labels, terms_at(context, before)).mode.held):
        return None
    at, clear = (held_rows(context, held, moment.t, moment.q) for moment in (here, before))
    return found if at.least(clear.lengths) > NEARLY * clear.least(clear.lengths) else None


def leave_singular(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Return how a motion goes on that may start at a singular point, or why it can't.

    The velocity says which half-branch it takes.
    """
    away = Transition(moment, decision)
    mode = decision.mode.mode
    if not _ideal(context, decision) or not mode.held:
        return away
    if not _may_be_listed(context, decision):
        moving = moving_for(context.model, mode, context.options.events)
        if not _suspect(context, moving, moment) or held_again(context, moment, decision) is not None:
            return away  # rows that depend on each other everywhere are left to the steps
        return leave_on_sheet(context, moving, moment, decision) or away
    sizes = np.linalg.svd(place_at(context, moment).values(moment.q)[1], compute_uv=False)
    if not len(sizes) or sizes[-1] > SUSPECT:
        return away
    crossing, moment = _crossing(context, moment, decision)
    if crossing is None or np.abs((crossing.found.q - moment.q) / crossing.found.place.scale).max() > SUSPECT:
        return Transition(moment, decision)
    ways = crossing.along(moment.v)
    if len(ways) == 1:
        return crossing.go(moment, ways[0])
    many = "no half-branch leaves" if not ways else f"{len(ways)} half-branches leave"
    reason = f"The motion starts at a singular point ({crossing.found.kind}), and {many} it along the velocity."
    return stopped_at(moment, MotionStatus.SINGULAR, reason, crossing.continuations(moment))


def _suspect(context: Context, moving: Moving, moment: Moment) -> bool:
    """Say whether the rows at a start may depend on each other: by their pivots, and one by one."""
    size = np.where(context.sizes.length > 0.0, context.sizes.length, 1.0)
    branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
    measure = Independence.of(moving, context.params, branches)
    if measure is None:
        return False
    beside = moment.q + NEARBY * size * np.cos(1.0 + np.arange(len(moment.q)))
    fallen = measure.at(moment.t, beside)[0] - measure.at(moment.t, moment.q)[0]
    return fallen > FALLEN or not measure.at(moment.t, moment.q)[1]


def _ideal(context: Context, decision: Decision) -> bool:
    """Say whether what is held are constraints on positions that hold both ways, without friction."""
    table, mode = context.table, decision.mode.mode
    places = [table.places[table.of_normal(j)] for j in mode.held]
    ideal = not mode.sticking and not mode.sliding and not mode.pulling
    return ideal and not any(not place.on_position or place.one_sided for place in places)


def _may_be_listed(context: Context, decision: Decision) -> bool:
    """Say whether the motion is along a curve of configurations, and small enough to list the branches at a point."""
    from zwang._trace.space_equations import equations_of

    n, m = len(context.model.system.coordinates), len(decision.mode.mode.held)
    limit = LISTED if context.options.at_singular == "straight" else LISTED_TO_CHOOSE
    if n - m != 1 or n + m > limit or not _ideal(context, decision):
        return False
    return not equations_of(context.model).timed


def _crossing(
    context: Context, moment: Moment, decision: Decision, away: Moment | None = None
) -> tuple[Crossing | None, Moment]:
    """Return the singular point next to a state, if the motion is along a curve; and the moment, which remembers it.

    `away` is a state at a distance from the point, by which sizes are judged; by default the state itself.
    """
    from zwang._trace.local import structure
    from zwang._trace.local_refinement import refine

    if not _may_be_listed(context, decision):
        return None, moment
    at = refine(place_at(context, away or moment), moment.q)
    if at is None:
        return None, moment
    points = moment.memory.points
    found = next((point for point in points if np.abs(point.q - at.q).max() <= KNOWN), None)
    if found is None:
        found = structure(at)
        moment = moment.recalling(points=(*points, found))
    return Crossing(context, decision, found) if found.half_branches else None, moment


def place_at(ground: Ground, moment: Moment) -> SpacePlace:
    """Return the equations of the configuration space with the units of a state."""
    from zwang._trace.space_equations import SpacePlace, equations_of

    equations = equations_of(ground.model)
    lengths = np.abs(moment.q[~equations.angles])
    scale = np.where(equations.angles, 1.0, max(float(lengths.max(initial=0.0)), 1e-300))
    plain = SpacePlace(equations, ground.params, moment.t, scale, np.ones(equations.m))
    rows, bends = plain.values(moment.q)[1], plain.hessians(moment.q)
    weights = np.linalg.norm(rows, axis=1) + np.linalg.norm(bends, axis=(1, 2))
    return SpacePlace(equations, ground.params, moment.t, scale, np.where(weights > 0, weights, 1.0))


def pass_singular(context: Context, moment: Moment, decision: Decision) -> Transition:
    """Return how a motion goes on from a place where its rows become dependent, or why it stops there.

    Parameters
    ----------
    context : Context
    moment : Moment
        The last state that the steps reached.
    decision : Decision
        The mode until there.
    """
    crossing, moment = _crossing(context, moment, decision)
    way = crossing.way_of(moment.q) if crossing is not None else None
    if crossing is not None and way is not None:
        # The last steps shrank to nothing in front of the point.
        moment = moment.recalling(nearness=moment.memory.nearness.forget(), step=0.0)
        return crossing.go(moment, way)
    inertia = inertia_of(context.model, context.inputs(moment.t, moment.q, moment.v))
    if inertia.lost:
        return stopped_at(moment, MotionStatus.SINGULAR, f"At t = {moment.t:.12g} {inertia.words}")
    reason = (
        f"At t = {moment.t:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops, and the equations don't say how the motion goes on."
    )
    return stopped_at(moment, MotionStatus.SINGULAR, reason)
