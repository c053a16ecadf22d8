"""Surfaces as results: the mesh of a configuration space of dimension two, and the pieces that a space falls into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.configuration_arc import ArcEnd
from zwang._results.storage import storable
from zwang._results.words import counted

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@storable(shapes={"points": "p n", "triangles": "f 3", "piece": "p"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SurfaceMesh:
    """A surface as triangles.

    Attributes
    ----------
    points : (P, n) array
        Configurations, on the constraints to 1e-10; angles between -pi and pi, so that a triangle may cross the seam.
    triangles : (F, 3) int array
        Numbers of points.
    piece : (P,) int array
        The number of the piece in `ConfigurationSpace.pieces` that each point belongs to.
    chord : float
        The largest distance between mesh and set that was measured, Euclidean in the declared coordinates.
    """

    points: Array
    triangles: Ints
    piece: Ints
    chord: float

    def __repr__(self) -> str:
        return f"<mesh of {counted(len(self.points), 'point')}, {counted(len(self.triangles), 'triangle')}>"


@storable(shapes={"loops": "l", "starts": "s"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SpacePiece:
    """A maximal part of one dimension and multiplicity of a configuration space that hangs together.

    Attributes
    ----------
    number, dimension, multiplicity : int
    component : int
        The number of the connected component of the space that it belongs to.
    euler : int or None
        Euler characteristic of a surface, its singular points and curves included; None for curves and points.
    smooth_euler : int or None
        The same without them.
    orientable : bool or None
    genus : int or None
        Handles; crosscaps where the piece is not orientable. Boundary loops count as closed by discs, and so do the
        sheets that end in a singular point or curve.
    area : float
        Euclidean in the declared coordinates; the length of a curve.
    points : tuple of SingularPoint
        Those on the piece; `singular` is the list of them.
    curves : tuple of int
        Numbers of the singular curves on it, in `ConfigurationSpace.singular_curves`.
    loops, starts : int arrays
        What `boundaries` lists, one after the other, and where each begins.
    """

    number: int
    dimension: int
    multiplicity: int = 1
    component: int = 0
    euler: int | None = None
    smooth_euler: int | None = None
    orientable: bool | None = None
    genus: int | None = None
    area: float = 0.0
    points: tuple[Any, ...] = ()
    curves: tuple[int, ...] = ()
    loops: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    starts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def boundaries(self) -> list[Ints]:
        """Loops in which the box or a one-sided constraint cuts the piece: numbers of points of the mesh, in order."""
        return [np.asarray(loop) for loop in np.split(self.loops, self.starts[1:])] if len(self.starts) else []

    @property
    def singular(self) -> list[Any]:
        """The singular points on the piece."""
        return list(self.points)

    def __repr__(self) -> str:
        return f"<{piece_line(self)}>"


@storable(shapes={"coordinates": "n", "points": "k n"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SingularCurve:
    """An arc of singular points of a surface, along which sheets cross, touch, or end.

    Attributes
    ----------
    number : int
    kind : {'crossing', 'tangency', 'cusp', 'isolated', 'higher'}
        That of the point which a plane across the arc cuts out of the surface, as in `SingularPoint.kind`; an arc of
        isolated points is a line without any sheet.
    coordinates : tuple of str
    t : float
    points : (k, n) array
        Configurations along it, solved for; angles go on beyond half a turn.
    ends : (ArcEnd, ArcEnd)
        As of arcs: 'closed', 'singular' (with the number of the singular point), 'box', 'contact', 'far', 'stopped'.
    length : float
        Of the polygon through its points, Euclidean in the declared coordinates.
    component : int
        The number of the connected component that it belongs to.
    """

    number: int
    kind: str
    coordinates: tuple[str, ...]
    t: float
    points: Array
    ends: tuple[ArcEnd, ArcEnd]
    length: float = 0.0
    component: int = 0

    @property
    def closed(self) -> bool:
        """Whether the arc closes on itself."""
        return self.ends[0].kind == "closed"

    @property
    def states(self) -> list[dict[str, float]]:
        """The configurations as states at rest."""
        return [state_at(self.coordinates, row, self.t) for row in self.points]

    def __repr__(self) -> str:
        return f"<{curve_line(self)}>"


def state_at(names: Sequence[str], row: Array, t: float) -> dict[str, float]:
    """Return a state at rest."""
    found = {name: float(value) for name, value in zip(names, row, strict=True)}
    return found | {f"v_{name}": 0.0 for name in names} | {"t": t}


def curve_line(curve: Any) -> str:
    """Return one singular curve in words."""
    what = "isolated line" if curve.kind == "isolated" else f"line of kind {curve.kind}"
    if curve.closed:
        return f"{what}, closed, length {curve.length:.6g}"
    words = [
        f"singular point {end.place}" if end.kind == "singular" else end.kind + (f" ({end.name})" if end.name else "")
        for end in curve.ends
    ]
    return f"{what} from {words[0]} to {words[1]}, length {curve.length:.6g}"


def piece_line(piece: Any) -> str:
    """Return one piece in words."""
    times = f", multiplicity {piece.multiplicity}" if piece.multiplicity > 1 else ""
    if piece.dimension != 2:
        return f"piece {piece.number}: dimension {piece.dimension}{times}"
    words = _shape(piece)
    rims = len(piece.boundaries)
    cut = f" with {counted(rims, 'boundary loop')}" if rims else ""
    points = f", {counted(len(piece.singular), 'singular point')}" if piece.singular else ""
    points += f", {counted(len(piece.curves), 'singular curve')}" if piece.curves else ""
    return (
        f"piece {piece.number}: {words}{cut}, Euler characteristic {piece.euler}{points}, area {piece.area:.6g}{times}"
    )


def _shape(piece: Any) -> str:
    if piece.singular or piece.curves:
        return "surface"
    if not piece.orientable:
        names = {1: "projective plane", 2: "Klein bottle"}
        return names.get(piece.genus, f"non-orientable surface with {piece.genus} crosscaps")
    return {0: "sphere", 1: "torus"}.get(piece.genus, f"surface of genus {piece.genus}")
