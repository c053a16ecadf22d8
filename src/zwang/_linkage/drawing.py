"""What is needed to draw a mechanism: plain data, expressions of the coordinates of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


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
        object.__setattr__(self, "points", MappingProxyType(dict(self.points)))
        object.__setattr__(self, "curves", MappingProxyType(dict(self.curves)))
