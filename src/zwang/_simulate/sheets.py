"""The way through a singular point of any mechanism: many loops, many degrees of freedom, no list of its branches.

Let the rows J lose rank r at a point, with U spanning the left null space and V the kernel, and let the motion arrive
with the velocity v. If the matrix U^T (dJ/dv) V has rank r, the configurations that leave the point along v are one
smooth sheet: with q = q* + s (v + w), the equations divided by s, and on U by s^2, have v as a regular solution, so
the implicit function theorem gives w(s). Then the motion itself is smooth through the point, and it is found by
collocation at nodes none of which lies there. Otherwise second derivatives do not tell the sheets apart, and it stops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from zwang._kernels.independence import Independence, settled
from zwang._kernels.mode_motion import Moving
from zwang._numerics.motion.chebyshev import NODES, Arc, collocate
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation, MotionPiece
from zwang._simulate.ground import Ground
from zwang._simulate.instant import happen
from zwang._simulate.moment import Context, Decision, Moment, Stop, Transition, Watch, event_at, keeping, stopped_at
from zwang._simulate.nearness import Dip, held_rows
from zwang._simulate.passage import Crossroads, turned_into
from zwang._simulate.reduced import polynomial_steps
from zwang._simulate.stretch import Approach, pieces_in
from zwang._simulate.watch import bands_of, sides_of

Array = NDArray[np.float64]
ROUGH = 1e-7
"""Last coefficients of the acceleration on an arc, relative to the largest, up to which it is taken for smooth."""
OFF = 1e-9
"""Distance between an arc and what is held, relative to the size of the coordinates."""
DROPPED = 1e-6
"""Singular values of the rows, in units of their lengths nearby, that count as zero at the point."""
REGULAR = 1e-4
"""Least singular value of U^T (dJ/dv) V with which one sheet leaves along v, relative to the change of all rows."""
SHARPENED = 4
"""Steps of Newton's method for the time of a singular point."""
NUDGE = 1e-3
"""Part of the way over which the rows are looked at in which their derivative is taken."""
STEP = 0.1
"""Part of the size of the coordinates over which the rows are looked at where a motion starts."""
HALVINGS = 16  # of a span in search of a change of sheet
WIDE = 4.0
"""Half the length of the first arc that is tried, in steps of the motion before it."""
LEAVING = 0.1
"""The same at a start, in units of the time in which the velocity changes the coordinates by their size."""
SAMPLES = 97  # of a span: a change between two of them is found by halving
MANY_SHEETS = "second derivatives don't tell one sheet in the direction of arrival from others."


class Curved(NamedTuple):
    """A part of an arc as steps."""

    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array


@dataclass(frozen=True)
class SheetPoint:
    """A singular point on an arc.

    Attributes
    ----------
    time : float
    q, v : (n,) arrays
    drop : int
        By how much the rank of the rows drops there.
    one_sheet : bool
        Whether the configurations that leave it along v are one smooth sheet.
    """

    time: float
    q: Array
    v: Array
    drop: int
    one_sheet: bool


def arc_across(
    ground: Ground, moving: Moving, time: float, half: float, q: Array, v: Array, guess: Array
) -> Arc | None:
    """Return the motion from time - half to time + half, rows being dependent at the time; None if it is not smooth."""
    land = _Landing(ground, moving, time - half, q, v)
    found = collocate(time, half, q, v, guess, land)
    if found is None:
        return None
    arc, off = found
    smooth = arc.roughness() <= ROUGH and off <= OFF * float((ground.sizes.length + np.abs(q)).max())
    return arc if smooth else None


class _Landing:
    """Puts states on what the mode at hand holds."""

    def __init__(self, ground: Ground, moving: Moving, t: float, q: Array, v: Array) -> None:
        self.moving, self.params = moving, ground.params
        self.branches = self.moving.branches(t, q, v, self.params, ground.changing)

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array, Array] | None:
        q, v, a, sound = settled(self.moving, t, q, v, self.params, self.branches)
        return (q, v, a) if sound and np.isfinite(a).all() else None


def extrapolated(times: Array, accelerations: Array, wanted: Array) -> Array:
    """Return accelerations (k, n) at wanted times from those (j, n) at times before, by a cubic through them."""
    middle, half = float(times.mean()), float(np.ptp(times)) / 2.0 or 1.0
    degree = min(3, len(times) - 1)
    series = chebyshev.chebfit((times - middle) / half, accelerations, degree)
    return np.asarray(chebyshev.chebval((wanted - middle) / half, series).T)


def point_on(ground: Ground, moving: Moving, arc: Arc, near: float) -> SheetPoint | None:
    """Return the singular point on an arc next to a time; None where the rows stay independent.

    det(J M^-1 J^T) is (t - t*)^(2 k) times a smooth function, so that its 2k-th root with the sign of t - t* is smooth,
    and t* is the zero of the polynomial through its values at the nodes.
    """
    measure = Independence.of(moving, ground.params, np.ones(moving.kernels.surfaces))
    if measure is None:
        return None
    times = arc.times
    values = np.array([measure.at(float(time), arc.at(float(time))[0])[0] for time in times])
    time = near
    for _ in range(4):
        power = _power(times - time, values)
        if power < 1:
            break
        signed = np.sign(times - time) * np.exp((values - values.max()) / (2.0 * power))
        series = chebyshev.chebfit(NODES, signed, len(NODES) - 1)
        roots = chebyshev.chebroots(series)
        real = roots[np.abs(roots.imag) < 1e-6].real
        if not len(real):
            break
        new = arc.middle + arc.half * float(real[int(np.argmin(np.abs(arc.middle + arc.half * real - time)))])
        moved, time = abs(new - time), new
        if moved <= 1e-15 * max(abs(time), arc.half):
            break
    time = _sharpened(ground, moving, arc, time)
    q, v, _ = arc.at(time)
    return _described(ground, moving, time, q, v, arc.half)


def _sharpened(ground: Ground, moving: Moving, arc: Arc, time: float) -> float:
    """Return the time near a given one at which the least singular value of the rows vanishes, by Newton's method.

    u^T J w with its singular vectors changes sign there. Where no step makes it smaller the time is left as it is.
    """
    shift = NUDGE * arc.half

    def least(at: float) -> tuple[float, Array, Array]:
        here = held_rows(ground, moving.mode.held, at, arc.at(at)[0])
        left, values, right = np.linalg.svd(here.rows, full_matrices=False)
        return float(values[-1]), left[:, -1], right[-1]

    size, u, w = least(time)
    for _ in range(SHARPENED):
        beside = float(u @ held_rows(ground, moving.mode.held, time + shift, arc.at(time + shift)[0]).rows @ w)
        new = time - size * shift / (beside - size) if beside != size else time
        found = least(new) if abs(new - time) < arc.half else (np.inf, u, w)
        if not found[0] < size:
            break
        time, (size, u, w) = new, found
    return time


def _power(distances: Array, values: Array) -> int:
    """Return half the power of the distance with which exp(values) vanishes, rounded."""
    order = np.argsort(np.abs(distances))[: len(distances) // 2]
    slope = np.polyfit(np.log(np.abs(distances[order])), values[order], 1)[0]
    return round(float(slope) / 2.0)


def point_at(ground: Ground, moving: Moving, t: float, q: Array, v: Array) -> SheetPoint | None:
    """Return the singular point at a state; None where the rows are independent there."""
    speed = float(np.abs(v).max(initial=0.0))
    size = float(np.abs(q).max(initial=0.0)) or 1.0
    return _described(ground, moving, t, q, v, STEP * size / speed if speed else 0.0)


def _described(ground: Ground, moving: Moving, time: float, q: Array, v: Array, span: float) -> SheetPoint | None:
    """Return the point at a state, from the rows there and within a span of time before and after it."""
    around = [held_rows(ground, moving.mode.held, time, q + side * span * v) for side in (-1.0, 1.0)]
    here = held_rows(ground, moving.mode.held, time, q)
    lengths = np.maximum(np.maximum(around[0].lengths, around[1].lengths), here.lengths)
    left, values, right = np.linalg.svd(here.scaled(lengths))
    rank = int(np.count_nonzero(values > DROPPED))
    if rank == len(lengths):
        return None
    change = max(float(np.linalg.norm(rows.scaled(lengths) - here.scaled(lengths), 2)) for rows in around)
    near = [
        held_rows(ground, moving.mode.held, time, q + side * NUDGE * span * v).scaled(lengths) for side in (-1.0, 1.0)
    ]
    bend = left[:, rank:].T @ (near[1] - near[0]) @ right[rank:].T / (2.0 * NUDGE)
    one = span > 0.0 and float(np.linalg.svd(bend, compute_uv=False)[-1]) > REGULAR * change
    return SheetPoint(time, q, v, len(lengths) - rank, one)


def pass_on_sheet(context: Context, approach: Approach, dip: Dip) -> Transition | None:
    """Return how a motion goes on from a dip of its rows' independence, or why it stops; None without a point there."""
    moving, decision = approach.happening.moving, approach.happening.decision
    half = min(WIDE * approach.longest_step(dip), dip.time - approach.earliest)
    for _ in range(HALVINGS):
        start = approach.seen(dip.time - half)
        guess = _guess(context, moving, approach, dip.time, half)
        arc = arc_across(context, moving, dip.time, half, start.q, start.v, guess)
        if arc is not None:
            break
        half /= 2.0
    else:
        return _stopped(approach.go(dip.time - 1e-3 * (dip.time - dip.before)), dip)
    point = point_on(context, moving, arc, dip.time)
    if point is None:
        return None
    made = approach.go(arc.start)
    begin = made.moment
    if begin.t < arc.start:
        return _stopped(made, dip)
    again = arc_across(context, moving, dip.time, half, begin.q, begin.v, arc.at(arc.times)[2])
    way = Sheet(context, moving, decision, again if again is not None else arc, begin)
    with keeping(made):
        return made.then(way.through(begin, point_on(context, moving, way.arc, dip.time) or point))


def leave_on_sheet(context: Context, moving: Moving, moment: Moment, decision: Decision) -> Transition | None:
    """Return how a motion goes on that starts at a singular point, or why it can't; None where it starts elsewhere."""
    point = point_at(context, moving, moment.t, moment.q, moment.v)
    if point is None:
        return None
    if point.one_sheet:
        arc = _arc_from(context, moving, moment)
        if arc is not None:
            return Sheet(context, moving, decision, arc, moment).on(moment)
    reason = (
        f"The motion starts at a singular point (the rank of the rows drops by {point.drop}), and second derivatives "
        "don't tell one sheet of configurations along the velocity from others."
    )
    return stopped_at(moment, MotionStatus.SINGULAR, reason)


def _arc_from(context: Context, moving: Moving, moment: Moment) -> Arc | None:
    speed = float(np.abs(moment.v).max())
    reach = float((context.step_sizes.length + np.abs(moment.q)).max())
    half = min(LEAVING * reach / speed, 0.5 * (context.options.until - moment.t))
    still = np.zeros((len(NODES), len(moment.q)))
    for _ in range(HALVINGS):
        arc = arc_across(context, moving, moment.t + half, half, moment.q, moment.v, still)
        if arc is not None:
            return arc
        half /= 2.0
    return None


def _guess(context: Context, moving: Moving, approach: Approach, time: float, half: float) -> Array:
    """Return accelerations at the nodes of an arc: those of the motion before the point, and what they point to."""
    times = time + half * NODES
    before = times < time
    found = []
    for at in times[before]:
        seen = approach.seen(float(at))
        branches = moving.branches(seen.t, seen.q, seen.v, context.params, context.changing)
        found.append(settled(moving, seen.t, seen.q, seen.v, context.params, branches)[2])
    known = np.nan_to_num(np.array(found))
    return np.concatenate([known, extrapolated(times[before], known, times[~before])])


def _stopped(made: Transition, dip: Dip) -> Transition:
    reason = (
        f"At t = {dip.time:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops, and no smooth way on was found."
    )
    return made.then(stopped_at(made.moment, MotionStatus.SINGULAR, reason))


class Sheet:
    """An arc through a singular point, and what happens on it."""

    def __init__(self, context: Context, moving: Moving, decision: Decision, arc: Arc, moment: Moment) -> None:
        self.context, self.moving, self.decision, self.arc = context, moving, decision, arc
        self._sides = self._watches(moment)

    def through(self, moment: Moment, point: SheetPoint) -> Transition:
        """Return what follows from the start of the arc, by the rule that was given."""
        context = self.context
        end = min(point.time, context.options.until)
        made, over = self._along(moment, end)
        if over or end < point.time:
            return made
        at = made.moment.but(t=point.time, q=point.q, v=point.v)
        ways = self._ways(point)
        straight = (0, "") if point.one_sheet else (None, MANY_SHEETS)
        asked = "at_singular= says how to go on."
        unchosen = "the rule in at_singular chose no continuation."
        chosen, why, details = context.policies.at_singular(
            Crossroads(context.name, ways, straight, unasked=asked, unchosen=unchosen)
        )
        names = (item.name for item in context.model.system.coordinates)
        event = event_at(
            point.time,
            "singular",
            reason=f"the rank of the rows drops by {point.drop}",
            point={name: float(x) for name, x in zip(names, point.q, strict=True)},
            **details,
        )
        made = replace(made, events=(*made.events, event))
        if chosen is None:
            reason = f"At t = {point.time:.12g} the motion is at a singular point: {why}"
            return made.stopping(Stop(MotionStatus.SINGULAR, reason, ways))
        if not ways[chosen].sentence.startswith("back"):
            return made.then(self.on(at))
        at = at.but(v=-at.v)
        made = replace(made, jumps=(*made.jumps, turned_into(point.v, at.v)))
        arc = _arc_from(context, self.moving, at)
        if arc is None:
            reason = f"At t = {point.time:.12g} no smooth way back was found."
            return made.stopping(Stop(MotionStatus.SINGULAR, reason, ways))
        return made.then(Sheet(context, self.moving, self.decision, arc, made.moment).on(at))

    def on(self, moment: Moment) -> Transition:
        """Return what follows from a place of the arc to its end."""
        return self._along(moment, min(self.arc.end, self.context.options.until))[0]

    def _ways(self, point: SheetPoint) -> tuple[Continuation, ...]:
        """Return the ways on that are known: straight on where that is one sheet, and back."""
        made = []
        for words, v in (("straight on", point.v), ("back", -point.v)) if point.one_sheet else ():
            state = self.context.state(point.time, point.q, v)
            made.append(Continuation(f"{words} on the sheet of arrival", state=state))
        return tuple(made)

    # What happens between two times of the arc.
    def _along(self, moment: Moment, end: float) -> tuple[Transition, bool]:
        """Return the arc from a moment to a time, and whether something else happens before, with what follows."""
        fired = self._first_crossing(moment.t, end)
        last = end if fired is None else fired[0]
        pieces = self._pieces(moment.t, last)
        q, v, a = self.arc.at(last)
        made = Transition(moment.but(t=last, q=q, v=v, ahead=None), self.decision, pieces=pieces)
        if fired is None:
            return made, False
        a = pieces[-1].a[-1] if pieces else a
        made = made.then(happen(self.context, made.moment, self.decision, fired[1], self.moving, a))
        if isinstance(made.decision, Stop) or any(kind != "extra" for kind, _ in fired[1]):
            return made, True
        rest, over = self._along(made.moment, end)
        return made.then(rest), over

    def _pieces(self, start: float, end: float) -> tuple[MotionPiece, ...]:
        if not end > start:
            return ()
        edges, dense = polynomial_steps(lambda times: np.concatenate(self.arc.at(times)[:2], axis=1), start, end)
        return pieces_in(self.decision, Curved(edges, *self.arc.at(edges), dense))

    def _first_crossing(self, start: float, end: float) -> tuple[float, tuple[Watch, ...]] | None:
        """Return when a gap, a one-sided velocity or a user's expression first passes zero, and which do then."""
        from scipy.optimize import brentq

        if not self._sides or not end > start:
            return None
        times = np.linspace(start, end, SAMPLES)
        values = np.array([self._watched(time) for time in times])
        found = []
        for k, (side, band) in self._sides.items():
            wrong = np.flatnonzero(side * values[1:, k] < -band)
            if not len(wrong):
                continue
            j = int(wrong[0])

            def value(time: float, k: int = k) -> float:
                return float(self._watched(time)[k])

            right = side * values[j, k] > 0.0
            time = float(brentq(value, times[j], times[j + 1], xtol=1e-15, rtol=1e-15)) if right else float(times[j])
            found.append((time, k))
        if not found:
            return None
        first = min(found)[0]
        fired = [k for time, k in found if time <= first + 1e-13 * max(abs(first), float(times[-1] - times[0]))]
        for k in fired:
            self._sides[k] = -self._sides[k][0], self._sides[k][1]
        return first, tuple(self.moving.watch_names[k] for k in fired)

    def _watches(self, moment: Moment) -> dict[int, tuple[float, float]]:
        """Return the side that each watched quantity keeps on the arc, and what counts as zero for it."""
        context, start = self.context, self.arc.start
        names = self.moving.watch_names
        watched = [k for k, name in enumerate(names) if name[0] in ("gap", "value", "extra")]
        if not watched:
            return {}
        sides = sides_of(context, self.moving, self.decision, moment)
        bands = bands_of(context, self.moving, self.decision, moment)
        values = np.array([self._watched(time) for time in np.linspace(start, self.arc.end, SAMPLES)])
        found = {}
        for k in watched:
            side, band = float(sides[k]), 0.0 if bands is None else float(bands[k])
            if abs(side) > 1.0:
                clear = np.flatnonzero(np.abs(values[:, k]) > band)
                side = float(np.sign(values[clear[0], k])) if len(clear) else 0.0
            if side != 0.0:
                found[k] = side, band
        return found

    def _watched(self, time: float) -> Array:
        q, v, _ = self.arc.at(float(time))
        branches = np.ones(self.moving.kernels.surfaces)
        return self.moving.watched(float(time), q, v, self.context.params, branches)
