"""Ends of intervals of rest over a parameter: curves on which the forces reach their bounds, with their folds.

Over a parameter p the places of one freedom make a surface, and rest is a region of it, bounded by the branches. Two
ends meet where p is extreme along a bound: there the reserve of the forces at fixed p has a largest value of zero (an
interval is born or vanishes) or a least one (two intervals merge). Intervals at some values of p are where the bounds
are followed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from zwang._equilibria.intervals import BOUNDS, TURNS, RestingArc, bisected
from zwang._equilibria.reserve import FINE, asked
from zwang._equilibria.rest_surface import EXACT, RestSurface, SignCurve
from zwang._equilibria.stability import stability_at
from zwang._numerics.budget import spend
from zwang._results.equilibria import EquilibriumBranch, EquilibriumSpecial

Array = NDArray[np.float64]
LEVEL = 1e-9
"""Part of the range of the parameter within which places of a bound are level."""
SAME = 1e-6
"""Parts of the widths within which ends are one."""
INSIDE = 1e-3
"""Part of an interval from its end to a place inside."""
ASKED = 1e-8
"""Angle to which a place is located where all that is known is on which side of it rest is the only acceleration."""


@dataclass(eq=False)
class End:
    """An end of an interval at a value of the parameter, and a place inside the interval."""

    point: Array
    inner: Array
    reason: str
    seen: bool = False


@dataclass(eq=False)
class EndSearch:
    """The bounds of rest with one set of closed contacts.

    Attributes
    ----------
    surface : RestSurface
    values : tuple of float
        Of the parameter, at which intervals are found.
    closed : tuple of str
        The one-sided constraints that are closed.
    steady : mapping
    loose : bool
        Whether something moves while all friction sticks, so that there are small motions to ask about.
    """

    surface: RestSurface
    values: tuple[float, ...]
    closed: tuple[str, ...]
    steady: Mapping[str, float | None]
    loose: bool
    some: bool = False
    ends: list[End] = field(default_factory=list)
    whole: dict[tuple[float, int], bool] = field(default_factory=dict)
    branches: list[EquilibriumBranch] = field(default_factory=list)
    folds: list[EquilibriumSpecial] = field(default_factory=list)
    crossings: list[EquilibriumSpecial] = field(default_factory=list)
    hopfs: list[EquilibriumSpecial] = field(default_factory=list)

    def slice(self, arc: RestingArc, value: float) -> None:
        """Find the intervals of an arc at a value of the parameter."""
        found = arc.intervals()
        self.some = self.some or bool(found)
        for one in found:
            (low, high), inside = one.span, INSIDE * (one.span[1] - one.span[0])
            for at, inner, reason in ((low, low + inside, one.reasons[0]), (high, high - inside, one.reasons[1])):
                if reason == BOUNDS or (reason == TURNS and one.holds == "may"):
                    point, beside = (self.surface.point(arc.branch.state(at=where), value) for where in (at, inner))
                    self.ends.append(End(point, beside, reason))
        if not any(BOUNDS in one.reasons for one in found):
            self.whole[value, arc.branch.number] = bool(found)
            self._at_once(arc, value)

    def _at_once(self, arc: RestingArc, value: float) -> None:
        """Find an end between two values of the parameter of which one lets a whole arc rest, the other nothing."""
        before = [known for known, number in self.whole if known < value and number == arc.branch.number]
        earlier = max(before, default=value)
        here, there = (self.whole.get((known, arc.branch.number)) for known in (value, earlier))
        if earlier == value or here == there or any(v > earlier and v < value for v in self.values):
            return
        s, place = self.surface, arc.branch.state(at=arc.branch.length / 2)

        def at(known: float) -> Array:
            return s.closed(s.point(place, known), fixed=(s.vary,))

        found = bisected(lambda known: (s.reserve(at(known)) >= 0) == there, earlier, value)
        self.ends.append(End(at(found), at(value if here else earlier), BOUNDS))

    def look(self, first: int) -> None:
        """Follow every end that is not on a branch yet; numbers of branches begin with `first`."""
        for end in self.ends:
            if end.seen:
                continue
            end.seen = True
            made = self._curve(end)
            if made is not None and len(made[0]) > 1:
                self._branch(*made, first, end.reason)

    def _curve(self, end: End) -> tuple[Array, Array] | None:
        """Return the places of the curve through an end, and places beside; None where it is one that is known."""
        curve = self._follower(end.reason)
        own: set[int] = set()
        parts: list[list[tuple[Array, Array]]] = []
        for left in (True, False):
            parts.append([])
            for point, inner in curve.followed(end.point, end.inner, left=left):
                if not self._mark(point, end, own):
                    return None
                parts[-1].append((point, inner))
            if parts[-1] and np.array_equal(parts[-1][-1][0], end.point):  # it closes
                parts.append([])
                break
        rows = [*reversed(parts[1]), (end.point, end.inner), *parts[0]]
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    def _follower(self, reason: str) -> SignCurve:
        value, exact = (self.surface.reserve, EXACT) if reason == BOUNDS else (self._may, ASKED)
        return SignCurve(self.surface, value, self.values, exact)

    def _mark(self, point: Array, start: End, own: set[int]) -> bool:
        """Mark the ends at a place as seen; return whether none belongs to another curve."""
        for number, end in enumerate(self.ends):
            near = end is not start and end.reason == start.reason
            if near and float(np.abs(self.surface.between(end.point, point)).max()) <= SAME:
                if end.seen and number not in own:
                    return False
                end.seen = True
                own.add(number)
        return True

    # What a place is.
    def _holds(self, point: Array) -> str:
        spend(1)
        return asked(self.surface.model, *self.surface.place(point), tol=FINE)[0] or "undecided"

    def _may(self, point: Array) -> float:
        return 1.0 if self._holds(point) == "may" else -1.0

    def _stability(self, point: Array) -> str:
        if not self.loose:
            return "undecided"
        spend(1)
        return stability_at(self.surface.model, *self.surface.place(point), self.steady, self.closed).stability

    # Branches and folds.
    def _branch(self, points: Array, inner: Array, first: int, reason: str) -> None:
        number = first + len(self.branches)
        words = [self._holds(point) for point in inner]
        for place, fold in sorted(
            self._folds(points, inner, self._follower(reason)), key=lambda item: -item[0]
        ):  # the last first: places stay
            self.folds.append(self._special(fold, number, reason))
            points, inner = np.insert(points, place, fold, axis=0), np.insert(inner, place, inner[place], axis=0)
            words.insert(place, words[place])
        states = [self.surface.place(point)[0] for point in points]
        names = tuple(
            item.name for item in self.surface.model.system.coordinates if item.name not in self.steady
        )  # fmt: skip
        self.branches.append(
            EquilibriumBranch(
                number=number,
                values=points[:, self.surface.column],
                positions=np.array([[state[name] for name in names] for state in states]),
                names=names,
                stability=tuple(self._stability(point) for point in inner),
                holds=tuple(words),
                reason=reason,
            )
        )

    def _special(self, point: Array, number: int, reason: str) -> EquilibriumSpecial:
        state, params = self.surface.place(point)
        value = params[self.surface.vary]
        return EquilibriumSpecial(kind="fold", value=value, state=state, branches=(number,), reason=reason)

    def _folds(self, points: Array, inner: Array, curve: SignCurve) -> Iterator[tuple[int, Array]]:
        """Give where folds belong among the places of a bound, and the folds."""
        heights = points[:, self.surface.column] / (self.values[-1] - self.values[0])
        round_trip = len(points) > 2 and bool(np.array_equal(points[0], points[-1]))
        groups = _levels(heights[:-1] if round_trip else heights)
        if round_trip and len(groups) > 1 and abs(heights[0] - heights[groups[-1][-1]]) <= LEVEL:
            groups = [groups[-1] + groups[0], *groups[1:-1]]  # one that goes through the start
        for g, group in enumerate(groups):
            sides = [k for k in (g - 1, g + 1) if round_trip or 0 <= k < len(groups)]
            beside = [groups[k % len(groups)] for k in sides] if len(groups) > 1 else []
            if len({bool(heights[group[0]] > heights[other[0]]) for other in beside}) > 1:
                continue
            middle = group[len(group) // 2]
            if len(group) > 2:
                yield middle, points[middle]  # the forces reach their bounds at many places at once
            elif len(beside) == 2:
                start, end = beside[0][-1], beside[1][0]
                between = [float(np.linalg.norm(self.surface.between(points[k], points[middle]))) for k in (start, end)]
                sign = 1.0 if heights[middle] > heights[start] else -1.0
                found = curve.extreme(points[start], inner[start], points[middle], sum(between), sign)
                if found is not None:
                    yield middle, found


def _levels(heights: Array) -> list[list[int]]:
    """Return places in groups that are level with their first.

    Examples
    --------
    >>> _levels(np.array([0.0, 1.0, 1.0 + 1e-12, 0.5]))
    [[0], [1, 2], [3]]
    """
    number, start, numbers = 0, heights[0], []
    for height in heights:
        if abs(height - start) > LEVEL:
            number, start = number + 1, height
        numbers.append(number)
    return [list(group) for _, group in groupby(range(len(heights)), key=lambda k: numbers[k])]
