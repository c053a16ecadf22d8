"""Drawings with numbers in them: where the points of a mechanism are at a state, and the surfaces it may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang._backends.interpret import evaluate
from zwang._declare.constraints import Unilateral
from zwang._declare.symbols import Coordinate, Velocity
from zwang._declare.system import System
from zwang._derive.convert import Converter
from zwang._derive.graph import Graph
from zwang._linkage.drawing import Drawing
from zwang._plot.mechanism import draw_mechanism, frame

Place = tuple[float, float]
GRID = 321


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
    flat = [item for place in drawing.points.values() for item in place]
    numbers = numbers_of(flat, values)
    points = {name: (float(numbers[2 * i]), float(numbers[2 * i + 1])) for i, name in enumerate(drawing.points)}
    surfaces = _surfaces(drawing, system, values) if system is not None else []
    curves = []
    if drawing.curves:
        low, high = frame(list(points.values()))
        middle, half = (low + high) / 2, 1.6 * float(max(high - low))
        X, Y = np.meshgrid(*(np.linspace(at - half, at + half, GRID) for at in middle))
        for implicit, (x, y) in drawing.curves.values():
            (F,) = numbers_of([implicit], {**values, x: X, y: Y})
            curves.append((X, Y, np.broadcast_to(F, X.shape)))
    return Pose(points, drawing.segments, drawing.ground, curves, surfaces)


def numbers_of(expressions: list[Any], values: Mapping[Any, Any]) -> list[Any]:
    """Return expressions as numbers or arrays; values are by symbol, or by the name of the symbol.

    Examples
    --------
    >>> import sympy as sp
    >>> x, y = sp.symbols("x y", real=True)
    >>> [float(item) for item in numbers_of([x * y, sp.sqrt(x)], {"x": 4.0, "y": 0.5})]
    [2.0, 2.0]
    """
    import sympy as sp

    graph = Graph()
    wanted = [sp.Add(item) for item in expressions]
    symbols = sorted({symbol for item in wanted for symbol in item.free_symbols}, key=lambda symbol: symbol.name)
    nodes = {symbol: graph.input(f"x{place}") for place, symbol in enumerate(symbols)}
    convert = Converter(graph, nodes)
    outputs = [convert(item) for item in wanted]
    inputs = {node: values.get(symbol, values.get(symbol.name)) for symbol, node in nodes.items()}
    return evaluate(graph, outputs, inputs, np)


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
