"""Drawings with numbers in them: where the points of a mechanism are at a state, and the surfaces it may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zwang._declare.arrays import numbers_of
from zwang._declare.constraints import Unilateral
from zwang._declare.symbols import Coordinate, Velocity
from zwang._declare.system import System
from zwang._linkage.drawing import Drawing
from zwang._plot.mechanism import draw_mechanism, frame

Place = tuple[float, float]


@dataclass(frozen=True)
class Pose:
    """A drawing at a state: numbers only.

    Attributes
    ----------
    points : mapping of str to (x, y)
    segments, ground : as in the drawing
    curves : list of (X, Y, F)
        Guides as grids of a function that is zero on them.
    surfaces : list of ((x, y), (nx, ny))
        Floors and walls, with the normal to their free side.
    """

    points: Mapping[str, Place]
    segments: tuple[tuple[str, str], ...] = ()
    ground: tuple[str, ...] = ()
    curves: list[tuple[Any, Any, Any]] = field(default_factory=list)
    surfaces: list[tuple[Place, Place]] = field(default_factory=list)

    def plot(self, *, labels: bool = True, ax: Any = None) -> Any:
        """Draw the pose and return the Axes (extra ``plot``)."""
        return draw_mechanism(
            self.points,
            self.segments,
            ground=self.ground,
            curves=self.curves,
            surfaces=self.surfaces,
            labels=labels,
            ax=ax,
        )


def pose_of(drawing: Drawing, system: System | None, state: Mapping[str, float], params: Mapping[str, float]) -> Pose:
    """Return a drawing at a state.

    Parameters
    ----------
    drawing : Drawing
        Expressions, as `Linkage.drawing` and the gallery have them.
    system : System or None
        Its one-sided constraints on the height or the abscissa of a point are drawn as floors and walls.
    state, params : mappings of str to float

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> pose = pose_of(rod.drawing, rod.system, rod.state, rod.params)
    >>> [round(value, 6) for value in pose.points["end"]], pose.surfaces
    ([1.0, 1.732051], [((0.0, 0.0), (0.0, 1.0))])
    """
    values = {"t": 0.0, **state, **params}
    numbers = drawing.places(values)[0]
    points = {name: (float(x), float(y)) for name, (x, y) in zip(drawing.points, numbers, strict=True)}
    surfaces = _surfaces(drawing, system, values) if system is not None else []
    low, high = frame(list(points.values()))
    middle, half = (low + high) / 2, 1.6 * float(max(high - low))
    curves = drawing.guides(values, middle - half, middle + half)
    return Pose(points, drawing.segments, drawing.ground, curves, surfaces)


def _surfaces(drawing: Drawing, system: System, values: Mapping[str, float]) -> list[tuple[Place, Place]]:
    """Return floors and walls: one-sided constraints that differ from a coordinate of a point by a number."""
    found: list[tuple[Place, Place]] = []
    for item in system.constraints:
        if not isinstance(item, Unilateral) or item.level != "position":
            continue
        for place in drawing.points.values():
            for axis in (0, 1):
                offset = (item.expr - place[axis]).expand()
                if not offset.has(Coordinate, Velocity):
                    (level,) = numbers_of([offset], values)
                    at = (-float(level), 0.0) if axis == 0 else (0.0, -float(level))
                    surface = (tuple(0.0 if part == 0 else part for part in at), (1.0 - axis, float(axis)))
                    if surface not in found:
                        found.append(surface)  # type: ignore[arg-type]
    return found
