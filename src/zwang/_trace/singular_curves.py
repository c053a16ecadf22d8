"""Curves of singular points of a surface: followed plane by plane, and cut where their kind changes or they meet.

In the plane across the curve the equation that is left has a quadratic form. Where the form becomes singular the
picture in the plane changes: such places, and those at which the curve cannot be followed, are the ends of arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.identified import between
from zwang._numerics.surfaces.hollow import distance_to_line
from zwang._trace.cross_sections import PLAIN, SectionPoint, section_point
from zwang._trace.sampled import SampledSearch
from zwang._trace.strata import singular_configurations

Array = NDArray[np.float64]
End = tuple[str, int]
"""How an arc ends: 'closed', 'singular' (the number of the node), 'box', 'far' (the coordinate), 'contact' (its number)
or 'stopped'."""
MOST_STEPS = 4000  # of one arc
SMALLEST = 1e-3
"""The shortest step, as a part of the usual one."""
TURN = 0.35
"""How much the direction may change in a step."""
DIP = 0.3
"""Where the root of a form's determinant is about to fall below this part, it may vanish in the next step."""
SAME = 1e-3
"""Nodes nearer than this part of a step are one."""
AROUND = 40
"""Starts round a node, for other arcs that end there."""
LOCATED = 1e-12  # of a step: where a bound is met
PLANES, HALF, PASSES, FEWEST = (-1.0, -0.85, -0.65, -0.45, 0.45, 0.65, 0.85, 1.0), 0.6, 3, 5
"""Where planes are laid on both sides of a node, as parts of a part of a step; how often, and how many must tell."""
CLEAR = 0.06
"""Ratio of the squares of a form above which a point of the curve is found without trouble."""
TOUCHING = 1e-4
"""The part of its values next to a node below which a measure without a change of sign vanishes there."""


@dataclass(eq=False)
class CurveArc:
    """A part of a curve of singular points between nodes: points (k, n) in q, angles unwrapped."""

    kind: str
    points: Array
    ends: tuple[End, End]


@dataclass(eq=False)
class CurveGraph:
    """The curves of singular points of a surface: nodes (k, n) in q, and arcs between them."""

    nodes: list[Array] = field(default_factory=list)
    arcs: list[CurveArc] = field(default_factory=list)

    @property
    def stopped(self) -> int:
        """How many ends of arcs could not be followed on."""
        return sum(end[0] == "stopped" for arc in self.arcs for end in arc.ends)


class CurveFollower:
    """Follows the curves of singular points of one search; lengths are Euclidean in q/units."""

    def __init__(self, search: SampledSearch, units: Array, step: float) -> None:
        self.search, self.units, self.step = search, units, step
        self.place, self.periods = search.place, search.solver.identified
        self.graph = CurveGraph()
        self._vain: list[Array] = []
        self.limits = search.region.limits(units)
        free = search.equations.angles & ~search.region.boxed
        self.limits[0, free], self.limits[1, free] = -np.inf, np.inf

    def followed(self, samples: Array) -> CurveGraph:
        """Return all arcs through samples (k, n) of singular points in q, and through what they lead to."""
        left = [np.asarray(q) for q in samples]
        while left:
            q = left.pop()
            if self.on_arcs(q) or any(self._apart(q, other) < 0.3 * self.step for other in self._vain):
                continue
            found = self._arc(q)
            # Next to a node planes cut out several curves, and what is followed there is a speck or goes astray.
            if found is None or self._is_speck(found[0]) or self.on_arcs(found[0].points[len(found[0].points) // 2]):
                self._vain.append(q)
                continue
            self.graph.arcs.append(found[0])
            left += found[1]
        self._without_lone_nodes()
        return self.graph

    def _is_speck(self, arc: CurveArc) -> bool:
        size = np.linalg.norm(np.diff(arc.points / self.units, axis=0), axis=1).sum()
        return bool(size < 0.5 * self.step and all(end[0] in ("singular", "stopped") for end in arc.ends))

    def _without_lone_nodes(self) -> None:
        used = sorted({end[1] for arc in self.graph.arcs for end in arc.ends if end[0] == "singular"})
        for arc in self.graph.arcs:
            first, last = ((kind, used.index(k) if kind == "singular" else k) for kind, k in arc.ends)
            arc.ends = (first, last)
        self.graph.nodes = [self.graph.nodes[k] for k in used]

    def on_arcs(self, q: Array, within: float = 0.5) -> bool:
        """Say whether a configuration is next to an arc or a node."""
        for node in self.graph.nodes:
            if self._apart(q, node) < within * self.step:
                return True
        return any(
            float(distance_to_line(q[None] / self.units, arc.points / self.units, self.periods)[0][0])
            < within * self.step
            for arc in self.graph.arcs
        )

    def _apart(self, a: Array, b: Array) -> float:
        return float(np.linalg.norm(between(a / self.units, b / self.units, self.periods)))

    def _arc(self, q: Array) -> tuple[CurveArc, list[Array]] | None:
        """Return the arc through a singular point, and points of other arcs; None where no curve passes."""
        direction = self._direction(q)
        first = None if direction is None else self._at(q, direction)
        if first is None or direction is None or not self._margin(first.q)[0] >= 0:
            return None
        beside = [self._at(first.q - side * self.step * direction * self.units, direction, first) for side in (1, -1)]
        ahead, end, more = self._way(first, direction, beside[0])
        if end[0] == "closed":
            return CurveArc(first.kind, np.array([first.q, *ahead]), (end, end)), more
        back, start, others = self._way(first, -direction, beside[1])
        points = np.array([*back[::-1], first.q, *ahead])
        if len(points) < 2:
            return None
        return CurveArc(first.kind, points, (start, end)), more + others

    def _direction(self, q: Array) -> Array | None:
        """Return the direction of the curve at a singular point (unit vector in q/units), from others next to it."""
        reach = 0.1 * self.step * self.units / self.place.scale
        x = q / self.place.scale
        starts = x + reach * np.random.default_rng(1).uniform(-1, 1, size=(AROUND, len(q)))
        found, _, residuals = self.search.solver.singular(starts, 200)
        good = np.isfinite(found).all(axis=1) & (residuals <= 1e-6) & (np.abs(found - x).max(axis=1) < 3 * reach.max())
        offsets = (found[good] - x) * self.place.scale / self.units
        if len(offsets) < 3:
            return None
        return np.asarray(np.linalg.svd(offsets, full_matrices=False)[2][0])

    def _at(self, q: Array, direction: Array, like: SectionPoint | None = None) -> SectionPoint | None:
        """Return the point of the curve in the plane through q across a direction."""
        spend(1)
        found = section_point(self.place, q, direction * self.place.scale / self.units, like)
        return None if found is None or self._apart(found.q, q) > self.step else found

    def _margin(self, q: Array) -> tuple[float, End]:
        """Return how far inside of all bounds a configuration is, and the nearest bound."""
        x, gaps = q / self.units, self.place.gaps(q)[0]
        room = np.minimum(x - self.limits[0], self.limits[1] - x)
        j = int(np.argmin(room))
        if len(gaps) and gaps.min() < room[j]:
            return float(gaps.min()), ("contact", int(np.argmin(gaps)))
        return float(room[j]), ("box" if self.search.region.boxed[j] else "far", j)

    def _way(
        self, first: SectionPoint, direction: Array, before: SectionPoint | None
    ) -> tuple[list[Array], End, list[Array]]:
        """Return the points after the first one in a direction, how they end, and points beyond the end."""
        points: list[Array] = []
        here, length = first, self.step
        trail = [first] if before is None else [before, first]
        for _ in range(MOST_STEPS):
            there = self._at(here.q + length * direction * self.units, direction, here)
            chord = None if there is None else (there.q - here.q) / self.units
            if there is None or chord is None or chord @ direction < np.cos(TURN) * np.linalg.norm(chord):
                length = min(length, self.step) / 2
                if length < SMALLEST * self.step:
                    return self._ended(points, here, direction)
                continue
            if _decided(here) and not _decided(there) and length < 2 * self.step:
                length *= 1.4  # next to a node: look at what is beyond
                continue
            if (node := self._change(trail, there)) is not None:
                return [*points, node], ("singular", self._node(node)), [there.q]
            if self._margin(there.q)[0] < 0:
                return self._bounded(points, here, there)
            if len(points) > 2 and self._returns(first, here, there):
                return points, ("closed", -1), []
            points.append(there.q)
            trail = [*trail[-1:], there]
            direction = chord / np.linalg.norm(chord)
            here, length = there, min(self.step, 1.5 * length)
        return points, ("stopped", -1), []

    def _returns(self, first: SectionPoint, here: SectionPoint, there: SectionPoint) -> bool:
        """Say whether the way has come back to where it began."""
        line = np.array([here.q, there.q]) / self.units
        away, _, part = distance_to_line(first.q[None] / self.units, line, self.periods)
        return bool(away[0] < 0.1 * self.step and 0 < part[0] <= 1)

    def _ended(self, points: list[Array], here: SectionPoint, direction: Array) -> tuple[list[Array], End, list[Array]]:
        """Return a way that comes no farther: at a node, if the rank drops in a worse manner close by."""
        ahead = here.q + SMALLEST * self.step * direction * self.units
        for k, node in enumerate(self.graph.nodes):
            if self._apart(node, ahead) < 0.1 * self.step:
                return [*points, node], ("singular", k), []
        return points, ("stopped", -1), []

    def _bounded(
        self, points: list[Array], here: SectionPoint, there: SectionPoint
    ) -> tuple[list[Array], End, list[Array]]:
        """Return a way up to the bound that lies between two of its points."""
        _, end = self._margin(there.q)
        last = self._between(here, there, lambda point: self._margin(point.q)[0])
        return ([*points, last.q] if self._apart(last.q, here.q) > 1e-9 * self.step else points), end, []

    def _between(self, a: SectionPoint, b: SectionPoint, measure: Callable[[SectionPoint], float]) -> SectionPoint:
        """Return the point between two of a curve at which a measure changes its sign."""
        from scipy.optimize import brentq

        direction = (b.q - a.q) / self.units
        last = [a]

        def value(s: float) -> float:
            found = self._at(a.q + s * (b.q - a.q), direction, a)
            if found is not None:
                last[0] = found
                return measure(found)
            # Too close to the place itself to be told from it.
            return 0.0

        if measure(a) * measure(b) < 0:
            root = float(brentq(value, 0.0, 1.0, xtol=LOCATED, rtol=1e-14))
            value(root)
        return last[0]

    def _change(self, trail: list[SectionPoint], there: SectionPoint) -> Array | None:
        """Return where the picture in the plane changes between the last points; None where it does not."""
        here = trail[-1]
        if here.form is not None and there.form is not None:
            if float((here.form * there.form).sum()) < 0:
                form = here.form
                return self._vanishing(here, there, lambda point: float((form * np.asarray(point.form)).sum()))
            if _decided(here) and _decided(there) and here.bend * there.bend < 0:
                return self._vanishing(here, there, lambda point: point.bend)
            if len(trail) > 1 and here.kind == there.kind and (found := self._dip(trail[0], here, there)) is not None:
                return found
        if here.kind == there.kind:
            return None
        return self._by_kind(here, there)

    def _vanishing(
        self, a: SectionPoint, c: SectionPoint, measure: Callable[[SectionPoint], float], *, touching: bool = False
    ) -> Array | None:
        """Return the point between two of the curve at which a smooth measure of the forms is zero; None for none.

        Next to it planes cut out no clear point. On both sides they do: the root is that of the polynomial through what
        they show. Where the measure does not change its sign (`touching`), it is the least value that must be zero.
        """
        from numpy.polynomial import Polynomial

        first, last = measure(a), measure(c)
        middle = 0.5 if touching else first / (first - last)
        direction, half, best = (c.q - a.q) / self.units, HALF, None
        for _ in range(PASSES):
            found = [self._at(a.q + (middle + half * u) * (c.q - a.q), direction, a) for u in PLANES]
            rows = [
                (u, measure(point), *point.q)
                for u, point in zip(PLANES, found, strict=True)
                if point is not None and point.form is not None
            ]
            if len(rows) < FEWEST:
                break
            table = np.array(rows)
            value, *place = (Polynomial.fit(table[:, 0], column, len(rows) - 1, [-1, 1]) for column in table[:, 1:].T)
            roots = (value.deriv() if touching else value).roots()
            near = [float(root.real) for root in roots if abs(root.imag) < 1e-6 and abs(root.real) <= 1.1]
            if not near:
                break
            u = min(near, key=abs)
            if touching and abs(value(u)) > TOUCHING * np.abs(table[:, 1]).max():
                break
            best = np.array([item(u) for item in place])
            middle += half * u
            # As near as planes cut out a clear point.
            half = min(HALF, CLEAR * max(middle, 0.1) / (abs(PLANES[3]) * max(_ratio(a), 1e-3)))
        return best

    def _by_kind(self, here: SectionPoint, there: SectionPoint) -> Array:
        """Return the node at which the kind changes, by halving."""
        direction = (there.q - here.q) / self.units
        low, high = 0.0, 1.0
        q = here.q
        for _ in range(34):
            s = 0.5 * (low + high)
            found = self._at(here.q + s * (there.q - here.q), direction, here)
            q = found.q if found is not None else here.q + s * (there.q - here.q)
            low, high = (s, high) if found is not None and found.kind == here.kind else (low, s)
        return q

    def _dip(self, a: SectionPoint, b: SectionPoint, c: SectionPoint) -> Array | None:
        """Return a node between three points at which the determinant vanishes without a change of sign."""
        one, two = abs(a.bend) ** 0.5, abs(b.bend) ** 0.5
        if not (_decided(a) and _decided(c) and 2 * two - one < DIP * two):
            return None
        return self._vanishing(a, c, lambda point: point.bend, touching=True)

    def _node(self, q: Array) -> int:
        """Return the number of a node, a new one with points of the other arcs that end there."""
        for k, node in enumerate(self.graph.nodes):
            if self._apart(node, q) < SAME * self.step:
                return k
        self.graph.nodes.append(self.search.region.shifted(q, self.search.equations.angles))
        return len(self.graph.nodes) - 1

    def beside_nodes(self) -> Array:
        """Return singular points round the nodes, so that every arc that ends there is met."""
        found = [np.zeros((0, len(self.units)))]
        for node in self.graph.nodes:
            step = np.random.default_rng(3).normal(size=(AROUND, len(node)))
            step *= 2 * self.step / np.linalg.norm(step, axis=1, keepdims=True)
            starts = (node + step * self.units) / self.place.scale
            rows = singular_configurations(self.search, starts, len(self.units) - 2)
            found.append(np.array(rows).reshape(-1, len(node)))
        return np.concatenate(found)


def _ratio(point: SectionPoint) -> float:
    """Return the ratio of the squares of a form."""
    sizes = np.abs(np.linalg.eigvalsh(np.asarray(point.form)))
    return float(sizes.min() / max(sizes.max(), 1e-300))


def _decided(point: SectionPoint) -> bool:
    """Say whether the determinant of a form is more than rounding."""
    return point.form is not None and abs(point.bend) > PLAIN * 1e-3 * float((point.form**2).sum())
