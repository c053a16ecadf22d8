"""How long contacts with undetermined forces go on as they are: as long as some distribution obeys all laws.

Four corners of a box that sticks on a wedge carry it with forces of which six are free, and the ones that the equations
of the mode give are one distribution of many: none of them can be watched. At every sample of a stretch the forces
nearest to those that were admissible before are tried first; where they leave their laws, a cone program looks for the
ones that are deepest inside. The depth of those is what comes down to zero where the contacts let go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._derive.motion_modes import ActiveSet
from zwang._kernels import Terms
from zwang._kernels.stretch_output import Stretch
from zwang._numerics.contact.reaction_set import INSIDE, SLACK, deepest_reactions
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.linear.projection import landed
from zwang._numerics.linear.rank import ROUNDING
from zwang._simulate.basic_forces import pushed_columns
from zwang._simulate.ground import Ground, autonomous
from zwang._simulate.minimum_norm import parts_of, room_of
from zwang._simulate.mode_labels import full_mode, solve_mode
from zwang._simulate.moment import Decision, Labels, Moment
from zwang._simulate.watch import stands, unwatched

Array = NDArray[np.float64]
POINTS = (0.0, 0.08488805186071652, 0.2655756032646429, 0.5, 0.7344243967353571, 0.9151119481392835, 1.0)
"""Places in a step where it is looked (Lobatto's, as for watched quantities)."""
ADMITTED = 1e-9
"""Depth, relative to the largest force, at which forces count as inside; minus that is rounding of the programs."""
BEYOND = 1e-5
"""Depth outside of all laws, relative to the largest force, from which on what follows is beyond doubt."""
BLUR = 1e-5
"""How far directions may be off of slips that start with next to no acceleration, or of contacts that slip as one."""
SMOOTH = 1e-2
"""Part of its size by which what the forces must do may turn away from a parabola between three samples."""
FINEST = 12  # halvings of a step
NEAREST = 40  # halvings of the time in which contacts let go


class LettingGo(NamedTuple):
    """When contacts let go, and a state (t, q, v) of their mode shortly after, where no forces keep them in it."""

    time: float
    ahead: tuple[float, Array, Array]


def letting_go(ground: Ground, moment: Moment, decision: Decision, found: Stretch) -> LettingGo | None:
    """Return when contacts with undetermined forces let go within a stretch; None where they don't.

    Parameters
    ----------
    ground, moment : Ground, Moment
        What moves, and where the stretch starts.
    decision : Decision
        Its mode.
    found : Stretch
        The steps, with their dense output, made without a look at undetermined forces.
    """
    loose = unwatched(ground, decision)
    if not loose or len(found.t) < 2 or (stands(ground, decision, moment) and autonomous(ground)):
        return None
    return _Grip(ground, decision, found, loose).lost()


def firmly(
    table: ContactTable,
    terms: Terms,
    labels: Labels,
    a: Array,
    loose: Collection[int],
    directions: Mapping[int, Array] | None = None,
) -> bool:
    """Say whether forces of a mode, with these accelerations (n,), exist inside all laws of undetermined ones.

    `directions` are those of slips in planes that start.
    """
    full = full_mode(table, labels)
    columns, given = pushed_columns(table, terms, full, directions)
    mass = terms.mass[:, :, 0]
    forces = _nearest(columns, mass @ a - terms.force[:, 0] - given, mass, np.zeros(len(columns)))
    return _deepest(table, terms, full, columns, forces, loose, BLUR if directions else ROUNDING)[0] > INSIDE


def _nearest(columns: Array, needed: Array, mass: Array, near: Array) -> Array:
    """Return the forces nearest to given ones that do what is needed."""
    scale = 1.0 / np.sqrt(np.diagonal(mass))
    effect = (columns * scale).T
    return np.asarray(near + np.linalg.lstsq(effect, needed * scale - effect @ near, rcond=1e-10)[0])


def _deepest(
    table: ContactTable,
    terms: Terms,
    full: ActiveSet,
    columns: Array,
    forces: Array,
    loose: Collection[int],
    blur: float = ROUNDING,
) -> tuple[float, Array]:
    """Return how deep inside their laws forces with the same effect can be, relative to the largest, and these."""
    parts, order = parts_of(table, terms, full, columns, forces, loose)
    depth, _, value = deepest_reactions(parts, terms.mass[:, :, 0], blur=blur)
    found = np.empty(len(columns))
    found[order] = value
    return depth - SLACK, found


class _Grip:
    """The forces of a mode along a stretch."""

    def __init__(self, ground: Ground, decision: Decision, found: Stretch, loose: Collection[int]) -> None:
        self.ground, self.found, self.loose = ground, found, loose
        self.mode = decision.mode.mode
        self.blur = BLUR if decision.grips else ROUNDING
        self.full: ActiveSet = full_mode(ground.table, decision.labels)
        self.forces = np.zeros(len(self.full.held) + len(self.full.sticking))  # those that were admissible last

    def lost(self) -> LettingGo | None:
        """Return when the contacts let go."""
        held = float(self.found.t[0])
        for step in range(len(self.found.t) - 1):
            times = self._samples(float(self.found.t[step]), float(self.found.t[step + 1]), FINEST)
            terms, needed = self._asked(times)
            for k, time in enumerate(times):
                if not self._admits(terms.state(k), needed[:, k]):
                    ahead = self._ahead(held, float(time))
                    if ahead is not None:
                        return LettingGo(self._instant(held, float(time)), ahead)
                    return None
                held = float(time)
        return None

    def _samples(self, start: float, end: float, halvings: int) -> Array:
        """Return times in a step between which what the forces must do changes like a parabola."""
        times = start + np.array(POINTS) * (end - start)
        if halvings:
            values = self._asked(times)[1]
            size = float(np.abs(values).max(initial=0.0))
            parabola = np.polynomial.polynomial.polyfit(np.array(POINTS), values.T, 2)
            off = values.T - np.polynomial.polynomial.polyval(np.array(POINTS), parabola).T
            if float(np.abs(off).max(initial=0.0)) > SMOOTH * size:
                middle = (start + end) / 2
                first, second = (self._samples(*part, halvings - 1) for part in ((start, middle), (middle, end)))
                return np.concatenate([first, second[1:]])
        return times

    def _asked(self, times: Array) -> tuple[Terms, Array]:
        """Return the terms at times of the stretch, and what the forces have to do (n, B)."""
        states = [self.found.at(float(time)) for time in times]
        terms = self.ground.many(times, np.array([q for q, _ in states]), np.array([v for _, v in states]))
        a = solve_mode(self.ground.table, terms, self.mode).acceleration
        return terms, np.einsum("ijb,jb->ib", terms.mass, a) - terms.force

    def _admits(self, terms: Terms, needed: Array) -> bool:
        """Say whether some forces are inside their laws, at one state, and keep them."""
        columns, given = pushed_columns(self.ground.table, terms, self.full)
        forces = _nearest(columns, needed - given, terms.mass[:, :, 0], self.forces)
        size = ADMITTED * float(np.abs(forces).max(initial=0.0))
        if room_of(self.ground.table, terms, self.full, forces, self.loose) >= size:
            self.forces = forces
            return True
        depth, forces = _deepest(self.ground.table, terms, self.full, columns, forces, self.loose, self.blur)
        if depth >= -ADMITTED:
            self.forces = forces
        return depth >= -ADMITTED

    def _depth(self, time: float) -> float:
        """Return how deep inside their laws forces can be at a time, relative to the largest."""
        terms, needed = self._asked(np.array([time]))
        columns, given = pushed_columns(self.ground.table, terms, self.full)
        forces = _nearest(columns, needed[:, 0] - given, terms.mass[:, :, 0], self.forces)
        return _deepest(self.ground.table, terms, self.full, columns, forces, self.loose, self.blur)[0]

    def _instant(self, before: float, after: float) -> float:
        """Return when the depth comes down to zero between two times, at the latter of which it is negative."""
        from scipy.optimize import brentq

        if self._depth(before) <= 0.0:
            return before
        return float(brentq(self._depth, before, after, xtol=4e-16 * max(abs(after), 1e-300), rtol=1e-15))

    def _ahead(self, before: float, after: float) -> tuple[float, Array, Array] | None:
        """Return a state as shortly as can be after contacts let go, where that is beyond doubt; None without one."""
        end = float(self.found.t[-1])
        later = [after, *(after + (end - after) * 0.5**k for k in range(NEAREST, -1, -1))]
        far = next((time for time in later if self._depth(time) < -BEYOND), None)
        if far is None:
            return None
        low = before
        for _ in range(NEAREST):
            middle = (low + far) / 2
            depth = self._depth(middle)
            low, far = (low, middle) if depth < -BEYOND else (middle, far)
            if -4 * BEYOND < depth < -BEYOND:
                break
        on = self.ground.conditions(far, self.mode.held, self.mode.sticking)
        return far, *landed(on, *self.found.at(far), rounds=1)
