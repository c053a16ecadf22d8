"""Time stepping (Moreau, Jean): impulses over steps of fixed length, no events to locate.

A step goes half its length with the old velocity, asks there which contacts act, finds impulses that obey the laws
together with the velocity at the end of the step, and goes the other half with that velocity. Restitution is Newton's,
contact by contact. Errors are of first order in the step where contacts change, of second order in between. What is
at rest stays exactly at rest.

Positions drift off their constraints by the square of the step; they are moved back in the metric of M after each
step, without touching velocities: that feeds no kinetic energy into the motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import laws_vary, require_restitution
from zwang._compile.masses import inertia_of
from zwang._compile.measured import Measured
from zwang._declare.constraints import Unilateral
from zwang._declare.symbols import t as time_symbol
from zwang._interrupts import taken
from zwang._kernels import SparseTerms
from zwang._numerics.blow_up import growth
from zwang._numerics.budget import Spent, spend, steps_left
from zwang._numerics.contact.modes import Side
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.linear.inertia import sound
from zwang._numerics.motion.moreau import NOT_FINITE, STILL, UNDECLARED, UNSOLVED, StepRow, Walker, step_layout
from zwang._numerics.motion.moreau.march import Track
from zwang._numerics.pace import Pace
from zwang._results.motion import MotionStatus
from zwang._simulate.ground import Ground, autonomous, first_unsound
from zwang._simulate.moment import Moment, Stop
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]

FIRST = 16
"""Steps before the first return to Python."""

RESOLVED = 10.0
"""Steps before a blow-up that are too long to tell how it grows."""

LOOK = 64
"""Steps between two looks at the mass matrix, once the motion is over."""


@dataclass(frozen=True, eq=False)
class Steps:
    """What time stepping leaves behind.

    Attributes
    ----------
    t : (k + 1,), q, v : (k + 1, n) arrays
    impulses : (k, m) array
        Of the rows, constraint by constraint: the normal before its slips [N s].
    rates : (k, m) array
        Rates and slips at the end of each step.
    closing : (k, c) bool array
        Where a contact met an impact.
    residual, drift : float
        Worst over the steps: of the laws; of the positions before they were moved back.
    asked : int
        Steps for which sweeps did not do and other solvers were asked.
    """

    t: Array
    q: Array
    v: Array
    impulses: Array
    rates: Array
    closing: NDArray[np.bool_]
    residual: float
    drift: float
    asked: int


class Walk:
    """A motion by steps of one length.

    Parameters
    ----------
    ground : Ground
    moment : Moment
        Admitted.
    until, step : float
        The end, and the longest step; steps are made equal so that the end is reached exactly.
    shortcut : bool
        Whether steps that repeat a step at rest are copied instead of computed.
    """

    def __init__(self, ground: Ground, moment: Moment, until: float, step: float, *, shortcut: bool = True) -> None:
        self.ground, self.moment, self.until = ground, moment, until
        self.count = max(math.ceil((until - moment.t) / step - 1e-9), 0)
        self.h = (until - moment.t) / self.count if self.count else 0.0
        self.course = ground.course if ground.course is not None and ground.course.driven.changing else None
        self.shortcut = shortcut and autonomous(ground) and self.course is None
        terms, mass_places, row_places = ground.model.kernels.step_terms(ground.params, self.count)
        places = ground.table.places
        self.layout = step_layout(len(moment.q), mass_places, row_places, contact_rows(ground))
        self.walker = Walker(
            self.layout,
            terms,
            ground.params,
            np.array([int(place.normal >= 0 and place.on_position) for place in places], dtype=np.int64),
            np.array([place.law for place in places], dtype=np.int64),
            np.array([place.normal for place in places], dtype=np.int64),
            _sections(places),
            _loads(ground.table),
            floors=_floors(ground),
        )
        self.restitution = _Restitution(ground)

    def run(self, progress: Callable[[float], None] | None = None) -> tuple[Steps, Stop]:
        """Take all steps; return them and why they ended."""
        n, m = len(self.moment.q), len(self.layout.source)
        k = min(self.count, steps_left(self.kept))
        times: Array = np.asarray(self.moment.t + self.h * np.arange(k + 1), dtype=np.float64)
        if k == self.count:
            times[-1] = self.until
        track = Track(
            times,
            np.empty((k + 1, n)),
            np.empty((k + 1, n)),
            np.zeros((k, m)),
            np.zeros((k, m)),
            np.zeros((k, len(self.ground.table.places)), dtype=bool),
        )
        track.q[0], track.v[0] = self.moment.q, self.moment.v
        done, stop = 0, Stop(MotionStatus.REACHED)
        pace: Pace[tuple[int, int]] = Pace(FIRST, 1 if self.restitution.varies else k)
        try:
            while done < k:
                spend()
                self.walker.restitution(self.restitution.at(float(track.t[done]), track.q[done], track.v[done]))
                before = done
                status, done = pace.go(partial(self._walk, track, done), self._driven(track, done, k) - done)
                if words := self._unsound_restitution(track, slice(before, done)):
                    done, stop = before, Stop(MotionStatus.UNFINISHED, words)
                    break
                if status == STILL:
                    _repeat(track, done)
                    done = k
                elif status in (NOT_FINITE, UNDECLARED, UNSOLVED):
                    stop = self._stop(status, track, done)
                    break
                if progress is not None:
                    progress(float(track.t[done]))
            if done < self.count and stop.status is MotionStatus.REACHED:
                spend(done, done * self.kept)
        except KeyboardInterrupt:
            taken()
            words = f"Interrupted at t = {track.t[done]:.6g}; it was to go on until {self.until:.6g}."
            stop = Stop(MotionStatus.INTERRUPTED, words)
        except Spent as spent:
            stop = Stop(MotionStatus.UNFINISHED, f"At t = {track.t[done]:.6g}: {spent}")
        if laws_vary(self.ground.model.system):
            row, words = first_unsound(self.ground, *(rows[: done + 1] for rows in (track.t, track.q, track.v)))
            if words:
                done, stop = max(row - 1, 0), Stop(MotionStatus.UNFINISHED, words)
        lost = self._lost(track, done)
        return self._steps(track, lost[0] if lost else done), Stop(MotionStatus.UNFINISHED, lost[1]) if lost else stop

    def _driven(self, track: Track, done: int, last: int) -> int:
        """Return the step before which no input changes, the inputs set to what they are now."""
        if self.course is None:
            return last
        t = float(track.t[done])
        if t > self.course.start and self.course.after(self.course.knots[-1]) <= t * (1 + 1e-15):
            params = self.course.enter(t, self.ground.state(t, track.q[done], track.v[done]))
            self.walker.params, self.walker.terms = params, self.ground.model.kernels.step_terms(params, self.count)[0]
            self.restitution.params, self.restitution.known = params, False
        after = self.course.after(t)
        return min(last, max(int(np.searchsorted(track.t, after * (1 - 1e-15))), done + 1))

    @property
    def kept(self) -> int:
        """Bytes that a step keeps: state, impulses and rates, then accelerations, dense output and labels."""
        n, m, c = len(self.moment.q), len(self.layout.source), len(self.ground.table.places)
        return 8 * (1 + 2 * n + 2 * m) + 8 * 15 * n + 17 * c

    def _unsound_restitution(self, track: Track, steps: slice) -> str:
        """Return in words that a contact closed with what is no restitution; constant ones were looked at before."""
        for c in np.flatnonzero(track.closing[steps].any(axis=0)) if self.restitution.varies else ():
            if not np.isnan(self.restitution.values[c]):
                try:
                    require_restitution(self.ground.name, self.ground.table.names[c], float(self.restitution.values[c]))
                except StateError as error:
                    return f"The motion ends before the impact after t = {float(track.t[steps.start]):.12g}: {error}"
        return ""

    def _walk(self, track: Track, done: int, ahead: int) -> tuple[tuple[int, int], int]:
        """Take some steps; return how they ended and the step reached, and how many were taken."""
        status, reached = self.walker.walk(track, self.h, done, done + ahead, autonomous=self.shortcut)
        return (status, reached), reached - done

    def _lost(self, track: Track, done: int) -> tuple[int, str] | None:
        """Return the first step, of those looked at, where a motion has lost its inertia, and which, in words.

        From there on impulses mean nothing. All of the motion is looked at when it is over, so that what is found
        does not depend on how it was cut into pieces.
        """
        looked = np.arange(LOOK, done + 1, LOOK)
        if not len(looked):
            return None
        states = (track.t[looked], track.q[looked].T.copy(), track.v[looked].T.copy())
        terms = self.ground.model.kernels.terms(*states, self.ground.values(states[0]))
        if isinstance(terms, SparseTerms):
            return None
        for k in map(int, looked[~sound(np.moveaxis(terms.mass, -1, 0))]):
            t = float(track.t[k])
            try:
                inertia = inertia_of(self.ground.model, self.ground.inputs(t, track.q[k], track.v[k]))
            except DeclarationError as error:
                return k, f"By t = {t:.12g}: {error}"
            if inertia.lost:
                return k, f"By t = {t:.12g} {inertia.words}"
        return None

    def _steps(self, track: Track, done: int) -> Steps:
        return Steps(
            track.t[: done + 1],
            track.q[: done + 1],
            track.v[: done + 1],
            track.impulses[:done],
            track.rates[:done],
            track.closing[:done],
            self.walker.residual,
            self.walker.drift,
            self.walker.asked,
        )

    def _stop(self, status: int, track: Track, k: int) -> Stop:
        t, places = float(track.t[k]), self.ground.table.places
        if status == UNDECLARED:
            silent = np.isnan(self.restitution.values) & track.closing[k]
            names = ", ".join(f"'{places[c].name}'" for c in np.flatnonzero(silent))
            reason = f"At t = {t:.12g}: an impact at {names} and no restitution was declared there: give restitution=."
            return Stop(MotionStatus.CHOICE, reason)
        if status == UNSOLVED:
            reason = f"no impulses were found that obey the laws; the best miss them by {self.walker.residual:.1e}."
            return Stop(MotionStatus.PARADOX, f"At t = {t:.12g} {reason}")
        return self._not_finite(track, k)

    def _not_finite(self, track: Track, k: int) -> Stop:
        """Return what is said where the equations are not finite after step k: only a power law is a blow-up."""
        t, said = float(track.t[k]), f"At t = {float(track.t[k]):.12g} the equations are not finite"
        names = [item.name for item in self.ground.model.system.velocities]
        with np.errstate(all="ignore"):
            laws = {
                name: growth(track.t[: k + 1], x, np.gradient(x, self.h), RESOLVED * self.h)
                for name, x in zip(names, track.v[: k + 1].T, strict=True)
                if k >= 2
            }
        for name, law in laws.items():
            if law is not None and law.instant <= t + RESOLVED * self.h:
                return Stop(MotionStatus.BLOW_UP, f"{said}: '{name}' {law}.")
        size = float(np.abs(np.concatenate([track.q[k], track.v[k]])).max(initial=0.0))
        more = f"the largest coordinate or velocity is {size:.3g}. Try a shorter step, or look at the forces there"
        return Stop(MotionStatus.UNFINISHED, f"{said}, though no velocity grows like a power of the time left; {more}.")


def _sections(places: tuple[ContactPlace, ...]) -> NDArray[np.int64]:
    """Return where the numbers of sections stand, four for each contact; none where one number says all of a law."""
    if all(place.rows.plain for place in places):
        return np.zeros(0, dtype=np.int64)
    found = np.full((len(places), 4), -1, dtype=np.int64)
    for c, place in enumerate(places):
        if place.law >= 0 and not place.rows.plain:
            found[c] = *place.rows.sides, *(place.rows.resting or (-1, -1))
    return found.ravel()


def _loads(table: ContactTable) -> list[list[int]]:
    """Return for each contact those whose impulses load its friction from outside; nothing where there is none."""
    if not table.loaded:
        return []
    return [
        [table.of_normal(normal) for normal in place.of] if place.side is Side.BOUND else [] for place in table.places
    ]


def _floors(ground: Ground) -> tuple[Array, Array]:
    """Return the least sizes of gaps and of rates of all rows, normals before slips."""
    gap, rate, slip = (part[:, 0] for part in ground.floors)
    return np.concatenate([gap, np.zeros(len(slip))]), np.concatenate([rate, slip])


def contact_rows(ground: Ground) -> list[StepRow]:
    """Return the constraints as contacts of the layout: rows of normals first, then those of slips."""
    places = ground.table.places
    count = sum(place.normal >= 0 for place in places)
    return [StepRow(place.side, place.normal, tuple(count + slip for slip in place.slips)) for place in places]


def _repeat(track: Track, k: int) -> None:
    """Nothing moves any more: all further steps are like the last one."""
    track.q[k + 1 :], track.v[k + 1 :] = track.q[k], 0.0
    track.impulses[k:], track.rates[k:] = track.impulses[k - 1], track.rates[k - 1]


class _Restitution:
    """Coefficients of restitution by constraint, nan where none was declared."""

    def __init__(self, ground: Ground) -> None:
        system = ground.model.system
        items = [item.restitution if isinstance(item, Unilateral) else 0 for item in system.constraints]
        positions = [place.on_position for place in ground.table.places]
        self.values = np.array(
            [math.nan if e is None and position else 0.0 for e, position in zip(items, positions, strict=True)]
        )
        self.given = [c for c, e in enumerate(items) if e is not None and not isinstance(e, int)]
        self.measured = Measured(system, [items[c] for c in self.given]) if self.given else None
        moving = {time_symbol, *system.coordinates, *system.velocities}
        self.varies = any(getattr(items[c], "free_symbols", set()) & moving for c in self.given)
        self.params, self.known = ground.params, False

    def at(self, t: float, q: Array, v: Array) -> Array:
        """Return the coefficients (k,) at a state."""
        if self.measured is not None and (self.varies or not self.known):
            for k, c in enumerate(self.given):
                self.values[c] = self.measured.value(k, t, q, v, self.params)
            self.known = True
        return self.values
