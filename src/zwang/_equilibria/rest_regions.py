"""Regions of rest with two freedoms: curves on which the forces reach their bounds, located on a mesh.

At every vertex of a mesh of the configuration space it is asked by how much the forces are inside their bounds. Where
that changes its sign along an edge, the place is located; triangle by triangle the places make curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._equilibria.reserve import asked, reserve, reserve_in_planes
from zwang._numerics.budget import spend
from zwang._reactions.holding import hold

Array = NDArray[np.float64]
SIDE = 32
"""Cells of a grid along each coordinate."""
LOCATED = 1e-12
"""Part of an edge to which a place is located."""


def grid(sides: Sequence[tuple[float, float]]) -> tuple[Array, NDArray[np.int64]]:
    """Return points and triangles that cover a rectangle.

    Examples
    --------
    >>> points, triangles = grid([(0, 1), (0, 2)])
    >>> len(points) == (SIDE + 1) ** 2, len(triangles) == 2 * SIDE**2
    (True, True)
    """
    first, second = (np.linspace(low, high, SIDE + 1) for low, high in sides)
    points = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
    corner = (np.arange(SIDE)[:, None] * (SIDE + 1) + np.arange(SIDE)).ravel()
    right, up = corner + SIDE + 1, corner + 1
    lower, upper = np.stack([corner, right, up], axis=1), np.stack([right, right + 1, up], axis=1)
    return points, np.concatenate([lower, upper])


@dataclass(frozen=True, eq=False)
class RestingRegion:
    """A surface of configurations with some contacts closed.

    Attributes
    ----------
    model : Model
    params : mapping
    names : tuple of str
        The coordinates that the mesh has, in its order.
    held : tuple of str
        Constraints on positions that hold on it.
    fixed : mapping
        Coordinates and velocities that the mesh doesn't have.
    flat : bool
        Whether friction is along lines, so that linear programs say by how much forces are inside their bounds.
    """

    model: Model
    params: Mapping[str, float]
    names: tuple[str, ...]
    held: tuple[str, ...]
    fixed: Mapping[str, float]
    flat: bool

    def boundary(self, points: Array, triangles: NDArray[np.int64]) -> tuple[list[Array], bool]:
        """Return the curves, as positions of the system, and whether anything rests at a vertex."""
        values = np.array([self._of(self._state(point)) for point in points])
        good = values >= 0
        places: dict[tuple[int, int], Array] = {}
        links: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for corners in triangles:
            crossed = []
            for a, b in ((0, 1), (1, 2), (2, 0)):
                edge = (int(min(corners[a], corners[b])), int(max(corners[a], corners[b])))
                if good[edge[0]] != good[edge[1]]:
                    crossed.append(edge)
                    if edge not in places:
                        places[edge] = self._located(points, values, edge)
            if len(crossed) == 2:
                links.setdefault(crossed[0], []).append(crossed[1])
                links.setdefault(crossed[1], []).append(crossed[0])
        return [np.array([places[edge] for edge in curve]) for curve in chains(links)], bool(good.any())

    def _state(self, point: Array) -> dict[str, float]:
        own = (*self.model.system.coordinates, *self.model.system.velocities)
        place = dict(zip(self.names, map(float, point), strict=True))
        return {item.name: float(self.fixed.get(item.name, place.get(item.name, 0.0))) for item in own} | {"t": 0.0}

    def _closed(self, point: Array) -> dict[str, float]:
        """Return the state next to a point on which the held constraints are closed."""
        state = self._state(point)
        if not self.held:
            return state
        found = hold(self.model, state, self.params, self.held, follow=self.names)
        return {name: float(value) for name, value in found.items()} | {
            item.name: state[item.name] for item in self.model.system.velocities
        }

    def _of(self, state: Mapping[str, float]) -> float:
        spend(1)
        if self.flat:
            return reserve(self.model, state, self.params)
        found = reserve_in_planes(self.model, state, self.params)
        if found is not None:
            return found
        return 1.0 if asked(self.model, state, self.params)[0] else -1.0

    def _reserve(self, point: Array) -> float:
        return self._of(self._closed(point))

    def _located(self, points: Array, values: Array, edge: tuple[int, int]) -> Array:
        """Return where the reserve vanishes between two vertices: by secants, halving where they don't help."""
        first, second = points[edge[0]], points[edge[1]]
        along = second - first
        angles = {item.name for item in self.model.system.coordinates if item.angle}
        turns = np.array([name in angles for name in self.names])
        along = np.where(turns, (along + np.pi) % (2 * np.pi) - np.pi, along)
        low, high = 0.0, 1.0
        at_low, at_high = float(values[edge[0]]), float(values[edge[1]])
        kept = 0
        while high - low > LOCATED:
            middle = (low + high) / 2
            if kept < 3 and np.isfinite([at_low, at_high]).all():
                middle = low + (high - low) * min(max(at_low / (at_low - at_high), 1e-3), 1 - 1e-3)
            value = self._reserve(first + middle * along)
            if value == 0:
                low = high = middle
            elif (value >= 0) == (at_low >= 0):
                kept = kept + 1 if high - middle > 0.5 * (high - low) else 0
                low, at_low = middle, value
            else:
                kept = kept + 1 if middle - low > 0.5 * (high - low) else 0
                high, at_high = middle, value
            kept = 0 if kept > 3 else kept
        state = self._closed(first + (low + high) / 2 * along)
        return np.array([state[item.name] for item in self.model.system.coordinates])


def chains(links: Mapping[Any, Sequence[Any]]) -> list[list[Any]]:
    """Return the paths that links make, each place once; a closed path ends where it began.

    Examples
    --------
    >>> chains({1: [2], 2: [1, 3], 3: [2], 4: [5, 6], 5: [4, 6], 6: [5, 4]})
    [[1, 2, 3], [4, 5, 6, 4]]
    """
    left = {place: list(others) for place, others in links.items()}
    found = []
    for start in [*(place for place, others in links.items() if len(others) == 1), *links]:
        if not left[start]:
            continue
        path = [start]
        while left[path[-1]]:
            here = path[-1]
            there = left[here].pop(0)
            left[there].remove(here)
            path.append(there)
        found.append(path)
    return found
