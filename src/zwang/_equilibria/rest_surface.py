"""The surface of places of one freedom over a parameter, and curves on it along which a value changes its sign.

Curves are followed by circles: on one round the last place, in the tangent plane and carried onto the surface, the
value is negative to the right of the next place and positive to its left. Corners and folds need no care of their own.
Lengths are parts of the widths of the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.constraints import Bilateral
from zwang._declare.system import System
from zwang._equilibria.reserve import asked, reserve, reserve_in_planes
from zwang._numerics.budget import spend
from zwang._reactions.holding import hold

Array = NDArray[np.float64]
Value = Callable[[Array], float]
LARGEST, LEAST = 1 / 40, 1e-5
"""Radii of circles."""
BENDS, CORNER = 0.45, 1 / 2000
"""A turn [rad] at which the circle is made smaller, down to this one: then it is a corner."""
STRAIGHT = 0.1
"""A turn [rad] up to which the next circle is larger."""
FAN = (0.02, 0.1, 0.3, 0.8, 1.3, 1.8, 2.3, 2.9)
"""Angles [rad] to both sides at which the value is asked for, the nearest first."""
NOWHERE = -1e9
"""A reserve, in parts of the forces, that stands for minus infinity."""
MOST = 4000
"""Circles of one curve."""
BESIDE = (0.05, 5e-3, 5e-4, 5e-5)
"""Parts of a radius at which a place beside is looked for."""
REACHES = (1e-3, 5e-3, 0.02, 0.1, 0.3, 1.0)
"""Parts of a step to both sides of it at which a place is looked for."""
SMOOTH = 0.02
"""Part of a way between places from which a smooth extremum is interpolated."""
EXACT = 1e-13
"""Angle [rad] to which a place on a circle is located."""


@dataclass(frozen=True, eq=False)
class RestSurface:
    """Places with some contacts closed, over a parameter.

    Attributes
    ----------
    model : Model
    params : mapping
        Without the one that is varied.
    names : tuple of str
        What a place consists of: coordinates, among them the parameter, and multipliers.
    space : Model or None
        All of its constraints hold; None: one coordinate and the parameter are free.
    fixed : mapping
        Coordinates and velocities that a place doesn't have.
    flat : bool
        Whether friction is along lines, so that linear programs say by how much forces are inside their bounds.
    vary : str
        The parameter.
    widths : (n,) array
        Of what a place consists of.
    limits : mapping
        Index -> (low, high) beyond which curves are not followed.
    """

    model: Model
    params: Mapping[str, float]
    names: tuple[str, ...]
    space: Model | None
    fixed: Mapping[str, float]
    flat: bool
    vary: str
    widths: Array
    limits: Mapping[int, tuple[float, float]]

    @classmethod
    def over(
        cls,
        model: Model,
        params: Mapping[str, float],
        shape: System,
        fixed: Mapping[str, float],
        flat: bool,
        vary: str,
        box: Mapping[str, tuple[float, float]],
        *,
        held: bool,
    ) -> RestSurface:
        """Return the surface of an auxiliary system, whose constraints hold, within a box."""
        sides = [
            box.get(item.name, (-np.pi, np.pi) if item.angle else (0.0, 1.0)) for item in shape.coordinates
        ]  # fmt: skip
        names = tuple(item.name for item in shape.coordinates)
        widths = np.array([float(high) - float(low) for low, high in sides])
        limits = {k: box[name] for k, name in enumerate(names) if name in box}
        return cls(model, params, names, compile(shape) if held else None, fixed, flat, vary, widths, limits)

    @property
    def column(self) -> int:
        """Return the index of the parameter."""
        return self.names.index(self.vary)

    def point(self, place: Mapping[str, float], value: float) -> Array:
        """Return a place of an arc at a value of the parameter."""
        return np.array([value if name == self.vary else float(place.get(name, 0.0)) for name in self.names])

    def place(self, point: Array) -> tuple[dict[str, float], dict[str, float]]:
        """Return state and parameters."""
        own = (*self.model.system.coordinates, *self.model.system.velocities)
        here = dict(zip(self.names, map(float, point), strict=True))
        state = {item.name: float(self.fixed.get(item.name, here.get(item.name, 0.0))) for item in own}
        return state | {"t": 0.0}, {**self.params, self.vary: here[self.vary]}

    def reserve(self, point: Array) -> float:
        """Return by how much the forces are inside their bounds; NOWHERE where nothing balances or is in the way."""
        spend(1)
        state, params = self.place(point)
        if self.flat:
            return max(reserve(self.model, state, params), NOWHERE)
        found = reserve_in_planes(self.model, state, params)
        if found is not None:
            return max(found, NOWHERE)
        return 1.0 if asked(self.model, state, params)[0] else -1.0

    def between(self, first: Array, second: Array) -> Array:
        """Return the way from one place to another in widths, the short way round for angles."""
        angles = {item.name for item in self.model.system.coordinates if item.angle}
        turns = np.array([name in angles for name in self.names])
        way = second - first
        return np.asarray(np.where(turns, (way + np.pi) % (2 * np.pi) - np.pi, way) / self.widths)

    def closed(self, point: Array, fixed: Sequence[str] = ()) -> Array:
        """Return the place next to a point on which the constraints hold, with some coordinates as they are."""
        if self.space is None:
            return point
        state, params = self._own(point)
        names = [str(item.name) for item in self.space.system.constraints if isinstance(item, Bilateral)]
        found = hold(self.space, state, params, names, fixed=fixed)
        return np.array([float(found[name]) for name in self.names])

    def frame(self, point: Array, old: Array | None = None) -> Array | None:
        """Return two orthonormal tangents, turned as little as possible from old ones; None where there are not two."""
        if self.space is None:
            others = [item.name for item in self.model.system.coordinates]
            free = next(k for k, name in enumerate(self.names) if name in others)
            return np.eye(len(self.names))[[free, self.column]] if old is None else old
        rows = self.space.terms(*self._own(point)).at(0)[1] * self.widths
        _, sizes, right = np.linalg.svd(rows)
        tangents = right[int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum()) :]
        if len(tangents) != 2:
            return None
        if old is None:
            return tangents
        left, _, more = np.linalg.svd(old @ tangents.T)
        return np.asarray(left @ more @ tangents)

    def _own(self, point: Array) -> tuple[dict[str, float], dict[str, float]]:
        assert self.space is not None
        system = self.space.system
        state = dict(zip(self.names, map(float, point), strict=True)) | {item.name: 0.0 for item in system.velocities}
        return state, {item.name: self.params[item.name] for item in system.parameters}

    def inside(self, point: Array) -> bool:
        """Whether a place is within the limits."""
        return all(low <= point[k] <= high for k, (low, high) in self.limits.items())


@dataclass(eq=False)
class SignCurve:
    """A curve along which a value changes its sign.

    Attributes
    ----------
    surface : RestSurface
    value : callable
        Of a place.
    levels : sequence of float
        Values of the parameter at which the curve gets a place.
    exact : float
        Angle to which places are located.
    """

    surface: RestSurface
    value: Value
    levels: Sequence[float]
    exact: float = EXACT

    def followed(self, start: Array, inner: Array, *, left: bool) -> Iterator[tuple[Array, Array]]:
        """Give the next places from a start, and places beside them where the value is positive.

        `inner` is where it is positive beside the start; it stays on the left, or on the right. The last place is the
        start itself where the curve closes.
        """
        s = self.surface
        frame = s.frame(start)
        if frame is None:
            return
        side = frame @ s.between(start, inner)
        if not left:
            frame, side = frame * [[1.0], [-1.0]], side * [1.0, -1.0]
        heading = float(np.arctan2(side[1], side[0]) - np.pi / 2)
        point, radius = start, LARGEST
        for number in range(MOST):
            found = self._next(point, frame, heading, radius)
            if found is None:
                return
            new, angle, radius, turn = found
            home = s.between(new, start)
            closes = number > 2 and float(np.linalg.norm(home)) < 0.75 * radius
            stops = yield from self._reached(point, start if closes else new, frame, radius)
            if closes or stops:
                return
            turned = s.frame(new, frame)
            if turned is None:
                return
            point, frame, heading = new, turned, angle
            radius = min(1.5 * radius, LARGEST) if turn < STRAIGHT else radius

    def _next(
        self, point: Array, frame: Array, heading: float, radius: float
    ) -> tuple[Array, float, float, float] | None:
        """Return the next place, its direction, the radius of the circle and the turn; None where there is none."""
        while radius > LEAST:
            angle = self._crossing(point, frame, heading, radius)
            if angle is not None and np.isnan(angle):
                return None
            turn = np.inf if angle is None else abs(angle - heading)
            if angle is not None and (turn <= BENDS or radius <= CORNER):
                return self._on(point, frame, angle, radius), angle, radius, turn
            radius /= 2
        return None

    def _on(self, point: Array, frame: Array, angle: float, radius: float) -> Array:
        way = radius * (np.array([np.cos(angle), np.sin(angle)]) @ frame)
        return self.surface.closed(point + way * self.surface.widths)

    def _crossing(self, point: Array, frame: Array, heading: float, radius: float) -> float | None:
        """Return the direction in which the value changes its sign, None where it doesn't.

        It is nan where nothing balances beyond.
        """
        from scipy.optimize import brentq

        known: dict[float, float] = {}

        def at(angle: float) -> float:
            if angle not in known:
                known[angle] = self.value(self._on(point, frame, angle, radius))
            return known[angle]

        for reach in FAN:
            at(heading - reach)
            at(heading + reach)
            if reach > FAN[0]:
                at(heading)
            angles = sorted(known)
            pairs = [(a, b) for a, b in pairwise(angles) if known[a] < 0 <= known[b]]
            if pairs:
                low, high = min(pairs, key=lambda pair: abs(sum(pair) / 2 - heading))
                found = float(brentq(at, low, high, xtol=self.exact, rtol=1e-14))
                outside = max(angle for angle, value in known.items() if low <= angle <= high and value < 0)
                return found if known[outside] > NOWHERE else np.nan
        return None

    def extreme(self, start: Array, inner: Array, toward: Array, reach: float, sign: float) -> Array | None:
        """Return the place where the parameter is largest (sign 1) or least (-1) on the way from a place to another.

        Places are told by their distance from the start, up to `reach`.
        """
        from scipy.optimize import minimize_scalar

        s = self.surface
        frame = s.frame(start)
        if frame is None:
            return None
        way, side = frame @ s.between(start, toward), frame @ s.between(start, inner)
        if way[0] * side[1] - way[1] * side[0] < 0:
            frame, way = frame * [[1.0], [-1.0]], way * [1.0, -1.0]
        heading = float(np.arctan2(way[1], way[0]))

        def at(distance: float) -> Array | None:
            angle = self._crossing(start, frame, heading, distance)
            return None if angle is None or np.isnan(angle) else self._on(start, frame, angle, distance)

        def height(distance: float) -> float:
            place = at(float(distance))
            return np.inf if place is None else -sign * float(place[s.column]) / float(s.widths[s.column])

        found = minimize_scalar(
            height, bounds=(1e-3 * reach, reach), method="bounded", options={"xatol": 1e-11 * reach}
        )
        return at(_smoothed(height, float(found.x), SMOOTH * reach))

    def _reached(
        self, old: Array, new: Array, frame: Array, radius: float
    ) -> Generator[tuple[Array, Array], None, bool]:
        """Give the places from one to the next; return whether the curve stops."""
        s = self.surface
        out = [
            (k, level) for k, pair in s.limits.items() for level in pair if (new[k] - level) * (old[k] - level) < 0
        ]  # fmt: skip
        crossed = [(s.column, level) for level in self.levels if (new[s.column] - level) * (old[s.column] - level) < 0]
        landed = []
        for k, level in dict.fromkeys([*crossed, *out]):
            found = self._landed(old, new, frame, k, level)
            if found is not None and s.inside(np.where(np.arange(len(found)) == k, level, found)):
                landed.append(found)
        for found in sorted(landed, key=lambda place: float(np.linalg.norm(s.between(old, place)))):
            yield self._with_inner(found, frame, radius, new)
        if s.inside(new):
            yield self._with_inner(new, frame, radius, old)
            return False
        return True

    def _with_inner(self, point: Array, frame: Array, radius: float, other: Array) -> tuple[Array, Array]:
        """Return a place with one beside it at which the value is positive."""
        way = frame @ self.surface.between(point, other)
        forward = np.linalg.norm(way)
        normal = np.array([-way[1], way[0]]) / (forward or 1.0)
        for part in BESIDE:
            for side in (1.0, -1.0):
                beside = point + side * part * radius * (normal @ frame) * self.surface.widths
                inner = self.surface.closed(beside)
                if self.value(inner) >= 0:
                    return point, inner
        return point, point

    def _landed(self, old: Array, new: Array, frame: Array, k: int, level: float) -> Array | None:
        """Return the place between two at which a coordinate has a value."""
        from scipy.optimize import brentq

        s = self.surface
        part = (level - old[k]) / (new[k] - old[k])
        way = s.between(old, new)
        base = old + part * way * s.widths
        base[k] = level
        across = frame[1, k] * frame[0] - frame[0, k] * frame[1]
        size = float(np.linalg.norm(across))
        if size == 0:
            return None
        heading, side = frame @ way, frame @ across  # to the left, as everywhere here
        size *= np.sign(heading[0] * side[1] - heading[1] * side[0]) or 1.0
        across = across / size * float(np.linalg.norm(way)) * s.widths

        def at(shift: float) -> float:
            return self.value(s.closed(base + shift * across, fixed=(s.names[k],)))

        known = {0.0: at(0.0)}
        for reach in REACHES:
            known |= {-reach: at(-reach), reach: at(reach)}
            for low, high in pairwise(sorted(known)):
                if known[low] < 0 <= known[high]:
                    shift = float(brentq(at, low, high, xtol=self.exact, rtol=1e-14))
                    return s.closed(base + shift * across, fixed=(s.names[k],))
        return None


def _smoothed(value: Callable[[float], float], at: float, h: float) -> float:
    """Return an extremum to more digits than comparing values gives it, where the function is smooth.

    Examples
    --------
    >>> round(_smoothed(lambda x: (x - 0.3) ** 2, 0.3 + 1e-8, 1e-3), 14)
    0.3
    """
    a, b, c, d, e = (value(at + k * h) for k in (-2, -1, 0, 1, 2))
    if not np.isfinite([a, b, c, d, e]).all():
        return at
    slope, curvature = (a - 8 * b + 8 * d - e) / (12 * h), (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h)
    step = -slope / curvature if curvature else 0.0
    return at + step if abs(step) < 1e-4 * h else at
