"""What a page draws of a model: points, bars, bodies and guides as plain lists, in the plane or in space.

In space the page turns the picture itself, so places have three components there; the plane of the picture that
`Drawing.scene` makes is only used for what stands still.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zwang as zw
from zwang._declare.drawing import Placed

Array = NDArray[np.float64]
FLOOR, FLOOR_LINES = 0.7, 9
"""Half the side of a floor in space, as a part of the largest extent of what is drawn; lines of it each way."""
OUTLINE = 160
"""Places of a guide that are sent."""


class SceneOverTime:
    """A drawing at the states of a table.

    Attributes
    ----------
    scene : Scene
        As it is seen in the plane of the picture.
    places : (frames, points, 2 or 3) array
        Where the points are [m].
    balls : (frames, bodies, 3) array
        In space: centres of round bodies.
    """

    def __init__(self, drawing: Any, constraints: Any, values: Mapping[str, Any], floors: Sequence[Array] = ()) -> None:
        self.drawing = drawing
        self.scene = drawing.scene(values, relations=constraints)
        self.spatial = drawing.dimension == 3
        self.places = drawing.places(values) if self.spatial else self.scene.places
        self.values, self.floors = values, floors
        self.round = {name: body for name, body in drawing.bodies.items() if isinstance(body, Placed)}
        self.balls = np.zeros((1, 0, 3))
        if self.spatial and self.round:
            centres = {name: body.place for name, body in self.round.items()}
            self.balls = zw.Drawing(centres, tree=drawing.tree).places(values)

    def plain(self) -> dict[str, Any]:
        """Return the first frame as plain lists, guides thinned out."""
        scene = self.scene
        low, high = scene.corners()
        found = {
            "dimension": 3 if self.spatial else 2,
            "names": list(scene.names),
            "places": _digits(self.places[0]),
            "bars": [list(pair) for pair in scene.bars],
            "springs": [list(pair) for pair in scene.springs],
            "ground": list(scene.ground),
            "joints": list(scene.joints),
            "traces": None if scene.traces is None else list(scene.traces),
            "bodies": [self._body(solid) for solid in scene.bodies],
            "outlines": [_digits(_thin(line)) for line in scene.outlines],
            "endless": [_digits(_thin(line)) for line in scene.endless],
            "surfaces": [[*map(float, at), *map(float, normal)] for at, normal in scene.surfaces],
            "box": _digits(np.concatenate([low, high])),
        }
        return found | (self._in_space(scene.scale) if self.spatial else {})

    def _body(self, solid: Any) -> dict[str, Any]:
        if len(solid.corners):
            return {"name": solid.name, "corners": list(solid.corners)}
        at: Any = solid.at[0]
        if self.spatial:
            at = [*self.balls[0, list(self.round).index(solid.name)], 0.0]
        return {"name": solid.name, "outline": _digits(_thin(solid.outline)), "at": _digits(at)}

    def _in_space(self, scale: float) -> dict[str, Any]:
        """Return what only a picture in space has: its corners, solids of wires, and guides as lines in space."""
        radii = [float(np.hypot(*solid.outline.T).max()) for solid in self.scene.bodies if len(solid.outline)]
        every = [self.places.reshape(-1, 3)]
        every += [self.balls[:, k] + side * radius for k, radius in enumerate(radii) for side in (-1, 1)]
        guides = self._guides()
        known = np.concatenate([*every, *guides])
        known = known[np.isfinite(known).all(axis=1)]
        low, high = (known.min(axis=0), known.max(axis=0)) if len(known) else (-np.ones(3), np.ones(3))
        room = max(0.04 * float((high - low).max()), scale / 2, 1e-9)
        hidden, faces = solids(self.scene.names, self.places[0])
        wires = [list(pair) for pair in self.scene.bars if not (set(pair) <= hidden)]
        return {
            "box": _digits(np.concatenate([low - room, high + room])),
            "faces": faces,
            "wires": wires,
            "joints": [k for k in self.scene.joints if k not in hidden],
            "outlines": [
                _digits(line) for line in (*guides, *(line for plane in self.floors for line in grid(plane, low, high)))
            ],
            "endless": [],
        }

    def _guides(self) -> list[Array]:
        """Return the curves of the drawing as lines in space."""
        first = {name: np.ravel(value)[0] for name, value in self.values.items() if np.size(value)}
        found = []
        for curve in self.drawing.curves.values():
            if curve.span and len(curve.expressions) == 3:
                ends = zw.Drawing({"from": (*curve.span, 0)}).places(first)[0, 0]
                along = np.linspace(ends[0], ends[1], OUTLINE)
                line = zw.Drawing({"at": curve.expressions}).places({**first, curve.symbols[0]: along})[:, 0]
                found.append(np.broadcast_to(line, (OUTLINE, 3)))
        return found

    def rows(self, count: int) -> Array:
        """Return where points and placed bodies (place, angle) are, one row for each frame."""
        parts = [self.places.reshape(len(self.places), -1)]
        for k, solid in enumerate(self.scene.bodies):
            if len(solid.corners):
                continue
            if self.spatial:
                centre = self.balls[:, list(self.round).index(solid.name)]
                parts.append(np.concatenate([centre, np.zeros((len(centre), 1))], axis=1))
            else:
                parts.append(self.scene.bodies[k].at)
        return np.concatenate([np.broadcast_to(part, (count, part.shape[1])) for part in parts], axis=1)


def grid(plane: Array, low: Array, high: Array) -> list[Array]:
    """Return a floor as lines on its plane (normal, offset), round the box of what stands on it.

    Examples
    --------
    >>> lines = grid(np.array([0, 0, 1.0, -2.0]), np.zeros(3), np.ones(3))
    >>> len(lines), {float(z) for line in lines for z in line[:, 2]}
    (18, {2.0})
    """
    normal, middle = plane[:3], (low + high) / 2
    centre = middle - (normal @ middle + plane[3]) * normal
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    axes = first / np.linalg.norm(first), np.cross(normal, first / np.linalg.norm(first))
    half = FLOOR * max(float((high - low).max()), 1e-9)
    return [
        np.array([centre + half * (part * across + side * along) for side in (-1, 1)])
        for along, across in (axes, axes[::-1])
        for part in np.linspace(-1, 1, FLOOR_LINES)
    ]


def solids(names: Any, places: Array) -> tuple[set[int], list[list[int]]]:
    """Return which points are corners of solids, and the triangles of these as numbers of points.

    Corners of one solid are called ``name 1``, ``name 2``, ...: so builders of bodies name those of their shapes.

    Examples
    --------
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [5, 5, 5.0]])
    >>> hidden, faces = solids(["a 1", "a 2", "a 3", "a 4", "b"], corners)
    >>> sorted(hidden), len(faces)
    ([0, 1, 2, 3], 4)
    """
    from scipy.spatial import ConvexHull, QhullError

    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        found = re.fullmatch(r"(.+) \d+", name)
        if found:
            groups.setdefault(found[1], []).append(number)
    hidden: set[int] = set()
    faces: list[list[int]] = []
    for members in groups.values():
        if len(members) < 4 or not np.isfinite(places[members]).all():
            continue
        try:
            hull = ConvexHull(places[members])
        except QhullError:  # flat: its wires are drawn
            continue
        hidden |= set(members)
        for triangle, plane in zip(hull.simplices, hull.equations, strict=True):
            a, b, c = (members[k] for k in triangle)
            outward = np.cross(places[b] - places[a], places[c] - places[a]) @ plane[:3]
            faces.append([a, b, c] if outward > 0 else [a, c, b])
    return hidden, faces


def _thin(line: Any) -> Any:
    step = max(1, len(line) // OUTLINE)
    return np.concatenate([line[:-1:step], line[-1:]]) if step > 1 else line


def _digits(array: Any) -> Any:
    return [_digits(item) if isinstance(item, list) else float(f"{item:.6g}") for item in np.asarray(array).tolist()]
