"""A picture with numbers in it: where everything that is drawn is, at one instant or at many.

Plain arrays, two components; what a System draws is put into this form by `Drawing.scene`, and every painter (figures,
films, pages) takes this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[int, int]
COILS = 7  # of a drawn spring


@dataclass(frozen=True, eq=False)
class Solid:
    """A body: a polygon through points of the scene, or an outline of its own that moves as a rigid body.

    Attributes
    ----------
    name : str
    corners : numbers of points
        Of the polygon; empty for an outline.
    outline : (k, 2) array
        Closed, in the frame of the body [m].
    at : (frames, 3) array
        Place of that frame, and its angle [rad].
    """

    name: str
    corners: Sequence[int] = ()
    outline: Array = field(default_factory=lambda: np.zeros((0, 2)))
    at: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def shown(self, places: Array, frame: int) -> Array:
        """Return the polygon at a frame; `places` are those of the scene there."""
        if len(self.corners):
            return places[list(self.corners)]
        x, y, angle = self.at[frame]
        c, s = np.cos(angle), np.sin(angle)
        shown: Array = self.outline @ np.array([[c, s], [-s, c]]) + np.array([x, y])
        return shown


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, as numbers.

    Attributes
    ----------
    names : sequence of str
        Of the points.
    places : (frames, points, 2) array [m]
    bars, springs : pairs of numbers of points
    ground, traces : numbers of points
        Those that belong to the ground; those whose paths are drawn (None: of all that move).
    bodies : sequence of Solid
    outlines : list of (k, 2) arrays
        Guides that stand still.
    endless : list of (k, 2) arrays
        Guides that run off the picture: drawn as far as it reaches.
    surfaces : list of ((x, y), (nx, ny))
        Floors and walls: a place on each, and its unit normal towards the free side.
    scale : float
        The least length that the picture shows [m].

    Examples
    --------
    >>> scene = Scene(("A", "B"), np.array([[[0.0, 0.0], [1.0, 0.0]]]), bars=((0, 1),), ground=(0,))
    >>> [corner.round(3).tolist() for corner in scene.corners()]
    [[-0.08, -0.33], [1.08, 0.33]]
    """

    names: Sequence[str]
    places: Array
    bars: Sequence[Pair] = ()
    springs: Sequence[Pair] = ()
    ground: Sequence[int] = ()
    traces: Sequence[int] | None = None
    bodies: Sequence[Solid] = ()
    outlines: Sequence[Array] = ()
    endless: Sequence[Array] = ()
    surfaces: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    scale: float = 0.0

    def corners(self, room: float = 0.08, *, slender: float = 0.25) -> tuple[Array, Array]:
        """Return the corners of a frame around everything but endless guides, with room at its edges."""
        parts = [self.places.reshape(-1, 2), *self.outlines]
        for solid in self.bodies:
            if len(solid.outline):
                reach = np.hypot(*solid.outline.T).max()
                parts += [solid.at[:, :2] - reach, solid.at[:, :2] + reach]
        every = np.concatenate(parts)
        every = every[np.isfinite(every).all(axis=1)]
        if not len(every):
            return np.array([-0.5, -0.5]), np.array([0.5, 0.5])
        low, high = every.min(axis=0), every.max(axis=0)
        size = max(float((high - low).max()), self.scale)
        if size == 0:
            size = 1.0
            slender = 0.5
        middle, half = (low + high) / 2, np.maximum((high - low) / 2, max(slender * size, self.scale / 2))
        return middle - half - room * size, middle + half + room * size

    def repeated(self, frames: int) -> Scene:
        """Return the scene with as many frames: one in which nothing moves has one."""
        still = [
            replace(solid, at=np.broadcast_to(solid.at, (frames, 3))) if len(solid.at) else solid
            for solid in self.bodies
        ]
        return replace(self, places=np.broadcast_to(self.places, (frames, *self.places.shape[1:])), bodies=still)

    def over(self, other: Scene, mark: str) -> Scene:
        """Return this scene with what moves in another one of as many frames drawn over it; names get a mark."""
        first = len(self.names)
        solids = [
            replace(solid, name=f"{solid.name}{mark}", corners=[k + first for k in solid.corners])
            for solid in other.bodies
        ]
        return replace(
            self,
            names=(*self.names, *(f"{name}{mark}" for name in other.names)),
            places=np.concatenate([self.places, other.places], axis=1),
            bars=(*self.bars, *((a + first, b + first) for a, b in other.bars)),
            springs=(*self.springs, *((a + first, b + first) for a, b in other.springs)),
            ground=(*self.ground, *(k + first for k in other.ground)),
            traces=None if self.traces is None else (*self.traces, *(k + first for k in other.traces or ())),
            bodies=(*self.bodies, *solids),
        )

    @property
    def moving(self) -> list[int]:
        """The numbers of the points whose paths are drawn: those asked for, or all that move."""
        if self.traces is not None:
            return list(self.traces)
        reach = np.ptp(self.places, axis=0).max(axis=1)
        return [k for k in range(self.places.shape[1]) if reach[k] > 1e-9 * (1.0 + np.abs(self.places[:, k]).max())]

    @property
    def joints(self) -> list[int]:
        """The numbers of the points that are drawn as marks: corners of bodies are not."""
        hidden = {k for solid in self.bodies for k in solid.corners}
        used = {k for pair in (*self.bars, *self.springs) for k in pair} | set(self.ground)
        return [k for k in range(len(self.names)) if k in used or k not in hidden]


def coil(a: Any, b: Any) -> Array:
    """Return the zigzag line of a spring between two places.

    Examples
    --------
    >>> coil((0, 0), (1, 0)).round(2).tolist()[0], len(coil((0, 0), (1, 0)))
    ([0.0, 0.0], 18)
    """
    start, end = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    along = end - start
    across = np.array([-along[1], along[0]])
    length = float(np.hypot(*along))
    if length == 0:
        return np.array([start, end])
    part = np.linspace(0.2, 0.8, 2 * COILS + 2)
    swing = np.where(np.arange(len(part)) % 2, 1.0, -1.0) * 0.06
    swing[[0, -1]] = 0.0
    inner = start + part[:, None] * along + swing[:, None] * across
    return np.concatenate([[start], inner, [end]])


def outlines_of(grids: Sequence[tuple[Any, Any, Any]]) -> list[Array]:
    """Return the curves F = 0 of grids X, Y, F as lines; none where contourpy (it comes with matplotlib) is absent."""
    try:
        from contourpy import contour_generator
    except ImportError:
        return []
    return [
        np.asarray(line, dtype=float)
        for X, Y, F in grids
        for line in contour_generator(X, Y, F).lines(0.0)
        if len(line)
    ]
