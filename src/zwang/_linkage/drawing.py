"""What is needed to draw a mechanism: plain data, expressions of the coordinates of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.arrays import numbers_of
from zwang._declare.frozen import Frozen

Array = NDArray[np.float64]
GRID = 321


@dataclass(frozen=True)
class Drawing:
    """The picture of a mechanism as data: where its points are, which are joined, and what they run on.

    Attributes
    ----------
    points : mapping of str to (x, y)
        Positions as expressions of coordinates, parameters and time [m].
    segments : tuple of (str, str)
        Pairs of points that are joined by a straight line.
    ground : tuple of str
        The points that belong to the ground.
    curves : mapping of str to (implicit, (x, y))
        Guides: an expression that is zero on the curve, and the two symbols that stand for a place in the plane.

    Examples
    --------
    >>> import zwang as zw
    >>> linkage = zw.Linkage("pendulum").ground("A", 0, 0).point("B", mass=1).bar("A", "B", 2)
    >>> picture = linkage.drawing(coordinates="joint")
    >>> picture.points["B"], picture.segments
    ((2*cos(theta_B), 2*sin(theta_B)), (('A', 'B'),))
    """

    points: Mapping[str, tuple[Any, Any]]
    segments: tuple[tuple[str, str], ...] = ()
    ground: tuple[str, ...] = ()
    curves: Mapping[str, tuple[Any, tuple[Any, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", Frozen(self.points))
        object.__setattr__(self, "curves", Frozen(self.curves))

    def places(self, values: Mapping[Any, Any]) -> Array:
        """Return where the points are, (states, points, 2), at one state or at arrays of states [m].

        Parameters
        ----------
        values : mapping
            Symbol or name -> number or array, for coordinates, parameters and time.

        Examples
        --------
        >>> import zwang as zw
        >>> linkage = zw.Linkage("pendulum").ground("A", 0, 0).point("B", mass=1).bar("A", "B", 2)
        >>> linkage.drawing(coordinates="joint").places({"theta_B": [0.0, np.pi / 2]})[:, 1].round(12).tolist()
        [[2.0, 0.0], [0.0, 2.0]]
        """
        flat = numbers_of([item for place in self.points.values() for item in place], values)
        count = max((np.size(item) for item in flat), default=1)
        rows = [np.broadcast_to(np.asarray(item, dtype=float).ravel(), (count,)) for item in flat]
        return np.stack(rows, axis=1).reshape(count, -1, 2)

    def guides(self, values: Mapping[Any, Any], low: Any, high: Any) -> list[tuple[Array, Array, Array]]:
        """Return each guide as grids X, Y, F over a box of the plane, with F = 0 on the guide."""
        grids = []
        X, Y = np.meshgrid(*(np.linspace(a, b, GRID) for a, b in zip(low, high, strict=True)))
        for implicit, (x, y) in self.curves.values():
            (F,) = numbers_of([implicit], {**values, x: X, y: Y})
            grids.append((X, Y, np.broadcast_to(F, X.shape)))
        return grids
