"""A film as data: where points are over time, which are joined, and what stands still behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FIT = 0.08


@dataclass(frozen=True, eq=False)
class Film:
    """What a player shows.

    Attributes
    ----------
    times : (frames,) array [s]
    places : (frames, points, 2) array [m]
    names : sequence of str
        Of the points.
    segments : pairs of numbers of points
        Joined by a bar.
    ground : numbers of points
        They belong to the ground.
    outlines : list of (k, 2) arrays
        Guides that stand still.
    marks : list of (time, text)
        Events, shown on the time line.
    title : str

    Examples
    --------
    >>> film = Film(np.arange(3.0), np.zeros((3, 2, 2)), ("A", "B"), ((0, 1),), ground=(0,))
    >>> film.corners()[1].tolist()
    [0.58, 0.58]
    """

    times: Array
    places: Array
    names: Sequence[str]
    segments: Sequence[tuple[int, int]] = ()
    ground: Sequence[int] = ()
    outlines: Sequence[Array] = field(default_factory=tuple)
    marks: Sequence[tuple[float, str]] = ()
    title: str = ""

    def corners(self) -> tuple[Array, Array]:
        """Return the corners of a frame around everything, with room at its edges."""
        every = np.concatenate([self.places.reshape(-1, 2), *(np.asarray(line) for line in self.outlines)])
        every = every[np.isfinite(every).all(axis=1)]
        if not len(every):
            return np.array([-0.5, -0.5]), np.array([0.5, 0.5])
        low, high = every.min(axis=0), every.max(axis=0)
        size = float((high - low).max()) or 1.0
        middle = (low + high) / 2
        half = np.maximum((high - low) / 2, 0.25 * size if size else 0.5) + FIT * size
        if np.array_equal(low, high):
            half = np.full(2, 0.5 + FIT)
        return middle - half, middle + half

    @property
    def moving(self) -> list[int]:
        """The numbers of the points that move; their paths are drawn."""
        reach = np.ptp(self.places, axis=0).max(axis=1)
        return [k for k in range(self.places.shape[1]) if reach[k] > 1e-9 * (1.0 + np.abs(self.places[:, k]).max())]


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
