"""A motion through a singular point on the sheet that it is on, where the sheets that meet there are not listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.independence import settled
from zwang._numerics.motion.chebyshev import NODES, Arc
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation
from zwang._simulate.approaching import Approach
from zwang._simulate.crossing_through import Point, arc_across, extrapolated, point_at, point_on
from zwang._simulate.deciding import Decision
from zwang._simulate.dips import Dip
from zwang._simulate.moment import Moment
from zwang._simulate.passing import _index
from zwang._simulate.reduced import polynomial_steps
from zwang._simulate.stopping import Stop, stopped_at

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]
HALVINGS = 16
WIDE = 4.0
"""Half the length of the first arc that is tried, in steps of the motion before it."""
LEAVING = 0.1
"""The same at a start, in units of the time in which the velocity changes the coordinates by their size."""
SAMPLES = 97

Following = Stop | tuple[Moment, Decision]


def pass_on_sheet(driver: Driver, approach: Approach, decision: Decision, dip: Dip) -> Following | None:
    """Return how a motion goes on from a dip of its rows' independence, or why it stops; None without a point there."""
    half = min(WIDE * approach.longest_step(dip), dip.time - approach.earliest)
    for _ in range(HALVINGS):
        start = approach.seen(dip.time - half)
        arc = arc_across(driver, dip.time, half, start.q, start.v, _guess(driver, approach, dip.time, half))
        if arc is not None:
            break
        half /= 2.0
    else:
        return _stop_before(driver, approach, dip)
    point = point_on(driver, arc, dip.time)
    if point is None:
        return None
    begin = approach.go(arc.start)
    if begin.t < arc.start:
        return _stopped(driver, dip)
    again = arc_across(driver, dip.time, half, begin.q, begin.v, arc.at(arc.times)[2])
    passage = Passing(driver, decision, again if again is not None else arc)
    return passage.go(begin, point_on(driver, passage.arc, dip.time) or point)


def leave_on_sheet(driver: Driver, moment: Moment, decision: Decision) -> Following | None:
    """Return how a motion goes on that starts at a singular point, or why it can't; None where it starts elsewhere."""
    point = point_at(driver, moment.t, moment.q, moment.v)
    if point is None:
        return None
    if point.one_sheet:
        arc = _arc_from(driver, moment)
        if arc is not None:
            return Passing(driver, decision, arc).on(moment)
    reason = (
        f"The motion starts at a singular point (the rank of the rows drops by {point.drop}), and second derivatives "
        "don't tell one sheet of configurations along the velocity from others."
    )
    return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, reason)


def _arc_from(driver: Driver, moment: Moment) -> Arc | None:
    speed = float(np.abs(moment.v).max())
    half = min(LEAVING * (1.0 + float(np.abs(moment.q).max())) / speed, 0.5 * (driver.request.until - moment.t))
    for _ in range(HALVINGS):
        arc = arc_across(driver, moment.t + half, half, moment.q, moment.v, np.zeros((len(NODES), len(moment.q))))
        if arc is not None:
            return arc
        half /= 2.0
    return None


def _guess(driver: Driver, approach: Approach, time: float, half: float) -> Array:
    """Return accelerations at the nodes of an arc: those of the motion before the point, and what they point to."""
    times = time + half * NODES
    before = times < time
    moving, params = driver.moving, driver.ground.params
    found = []
    for at in times[before]:
        seen = approach.seen(float(at))
        branches = moving.branches(seen.t, seen.q, seen.v, params)
        found.append(settled(moving, seen.t, seen.q, seen.v, params, branches)[2])
    known = np.nan_to_num(np.array(found))
    return np.concatenate([known, extrapolated(times[before], known, times[~before])])


def _stop_before(driver: Driver, approach: Approach, dip: Dip) -> Stop:
    approach.go(dip.time - 1e-3 * (dip.time - dip.before))
    return _stopped(driver, dip)


def _stopped(driver: Driver, dip: Dip) -> Stop:
    reason = (
        f"At t = {dip.time:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops, and no smooth way on was found."
    )
    return stopped_at(driver.record, MotionStatus.SINGULAR, driver.moment.t, reason)


class Passing:
    """An arc through a singular point, and what happens on it."""

    def __init__(self, driver: Driver, decision: Decision, arc: Arc) -> None:
        self.driver, self.decision, self.arc = driver, decision, arc
        self._sides = self._watches()

    def go(self, moment: Moment, point: Point) -> Following:
        """Return what follows from the start of the arc, by the rule that was given."""
        driver = self.driver
        end = min(point.time, driver.request.until)
        before = self._along(moment, end)
        if before is not None or end < point.time:
            return before or (driver.moment, self.decision)
        at = driver.moment.but(t=point.time, q=point.q, v=point.v)
        ways = self._ways(point)
        chosen, why = self._choose(point, ways)
        driver.record.event(
            point.time,
            "singular",
            reason=f"the rank of the rows drops by {point.drop}",
            point={item.name: float(x) for item, x in zip(self._symbols()[0], point.q, strict=True)},
        )
        if chosen is None:
            reason = f"At t = {point.time:.12g} the motion is at a singular point: {why}"
            return Stop(MotionStatus.SINGULAR, reason, ways)
        if ways[chosen].sentence.startswith("back"):
            at = at.but(v=-at.v)
            jump = {"impulses": {}, "friction_impulses": {}, "before": point.v.copy(), "after": at.v}
            driver.record.jump(driver.moment, {**jump, "energy_change": 0.0})
            arc = _arc_from(driver, at)
            if arc is None:
                return Stop(MotionStatus.SINGULAR, f"At t = {point.time:.12g} no smooth way back was found.", ways)
            return Passing(driver, self.decision, arc).on(at)
        return self.on(at)

    def on(self, moment: Moment) -> Following:
        """Return what follows from a place of the arc to its end."""
        end = min(self.arc.end, self.driver.request.until)
        following = self._along(moment, end)
        return following or (self.driver.moment, self.decision)

    def _choose(self, point: Point, ways: tuple[Continuation, ...]) -> tuple[int | None, str]:
        rule: Any = self.driver.request.at_singular
        if rule == "stop":
            return None, "at_singular= says how to go on."
        if callable(rule):
            return _index(rule(ways), ways, self.driver.ground.name), "the rule in at_singular chose no continuation."
        if rule == "realize":
            return (
                None,
                'springs are asked about single curves of small mechanisms; at_singular="straight" goes on here.',
            )
        if not point.one_sheet:
            return None, "second derivatives don't tell one sheet in the direction of arrival from others."
        return 0, ""

    def _ways(self, point: Point) -> tuple[Continuation, ...]:
        """Return the ways on that are known: straight on where that is one sheet, and back."""
        coordinates, velocities = self._symbols()
        made = []
        for words, v in (("straight on", point.v), ("back", -point.v)):
            if not point.one_sheet:
                continue
            state = {item.name: float(x) for item, x in zip(coordinates, point.q, strict=True)}
            state |= {item.name: float(x) for item, x in zip(velocities, v, strict=True)}
            made.append(Continuation(f"{words} on the sheet of arrival", state={**state, "t": point.time}))
        return tuple(made)

    def _symbols(self) -> tuple[Any, Any]:
        system = self.driver.ground.model.system
        return system.coordinates, system.velocities

    # What happens between two times of the arc.
    def _along(self, moment: Moment, end: float) -> Following | None:
        """Record the arc from a moment to a time; return what follows if something else happens before."""
        from zwang._simulate.happenings import happen

        driver = self.driver
        fired = self._first_crossing(moment.t, end)
        last = end if fired is None else fired[0]
        self._record(moment.t, last)
        q, v, _ = self.arc.at(last)
        driver.moment = moment.but(t=last, q=q, v=v, ahead=None)
        if fired is None:
            return None
        following = happen(driver, driver.moment, self.decision, fired[1])
        if isinstance(following, Stop) or any(kind != "extra" for kind, _ in fired[1]):
            return following
        return self._along(driver.moment, end)

    def _record(self, start: float, end: float) -> None:
        if not end > start:
            return
        edges, dense = polynomial_steps(lambda times: np.concatenate(self.arc.at(times)[:2], axis=1), start, end)
        q, v, a = self.arc.at(edges)
        self.driver.record.stretch(_Steps(edges, q, v, a, dense), self.decision)

    def _first_crossing(self, start: float, end: float) -> tuple[float, tuple[tuple[str, int], ...]] | None:
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
        fired = [k for time, k in found if time <= first + 1e-13 * max(1.0, abs(first))]
        for k in fired:
            self._sides[k] = -self._sides[k][0], self._sides[k][1]
        return first, tuple(self.driver.moving.watch_names[k] for k in fired)

    def _watches(self) -> dict[int, tuple[float, float]]:
        """Return the side that each watched quantity keeps on the arc, and what counts as zero for it."""
        from zwang._simulate.watching import bands_of, sides_of

        driver, start = self.driver, self.arc.start
        names = driver.moving.watch_names
        watched = [k for k, name in enumerate(names) if name[0] in ("gap", "value", "extra")]
        if not watched:
            return {}
        sides, bands = sides_of(driver, self.decision, driver.moment), bands_of(driver, self.decision, driver.moment)
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
        driver = self.driver
        q, v, _ = self.arc.at(float(time))
        return driver.moving.watched(float(time), q, v, driver.ground.params, np.ones(driver.moving.kernels.surfaces))


class _Steps:
    """A part of an arc as the record takes stretches."""

    drift = 0.0

    def __init__(self, t: Array, q: Array, v: Array, a: Array, dense: Array) -> None:
        self.t, self.q, self.v, self.a, self.dense = t, q, v, a, dense
