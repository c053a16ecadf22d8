"""`ConfigurationSpace`: what `trace` returns, a graph of arcs and singular points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._progress import Progress
from zwang._results.base import Result, drawing_of
from zwang._results.columns import Quantities, Quantity, about, named
from zwang._results.configuration_arc import ArcEnd, Branch
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._results.storage import storable
from zwang._results.surface import SpacePiece, SurfaceMesh, piece_line
from zwang._results.wording import counted, number
from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from zwang._plot.film import Film

__all__ = [
    "ArcEnd",
    "Branch",
    "ConfigurationSpace",
    "HalfBranch",
    "LocalType",
    "SingularPoint",
    "Stratum",
    "TraceStatus",
]
Array = NDArray[np.float64]
MOST_LINES = 12
"""Of points, arcs and strata each, in a summary."""
POINTS_OF_AN_ARC = 201
"""In tables; `Branch.state` gives any other."""
FRAMES = 240
"""Of a film along an arc."""


@storable
class TraceStatus(Enum):
    """What was found of a configuration space."""

    TRACED = "The configuration space is a graph of arcs, each followed from end to end, or a surface without holes."
    UNFINISHED = "Some arcs or singular points could not be resolved; see the notes and the reason."
    POINTS = "The configuration space consists of isolated points."
    SURFACE = (
        "The configuration space has dimension three or more: its arcs are not drawn. Ask for `singular_points` and "
        "`local_types`, for `critical` values of a parameter, or fix coordinates until a surface is left."
    )
    EMPTY = "No configuration satisfies the constraints."


@storable(shapes={"tangent": "n"})
@dataclass(frozen=True, eq=False, kw_only=True)
class HalfBranch:
    """One way out of a singular point.

    Attributes
    ----------
    arc : int or None
        The number of its arc in `ConfigurationSpace.branches`; None where it was not followed.
    end : int
        0 where the arc starts at this point, 1 where it ends.
    tangent : (n,) array
        Unit vector of the direction in which it leaves the point.
    curve : int
        Half-branches with the same number are the two halves of one analytic curve through the point.
    """

    arc: int | None
    end: int
    tangent: Array
    curve: int


@storable(shapes={"tangents": "c n"})
@dataclass(frozen=True, eq=False, kw_only=True)
class SingularPoint:
    """A point where the rank of the constraints is lower than nearby on the configuration space.

    Attributes
    ----------
    number : int
    state : mapping
        Coordinates, velocities (zero) and t.
    kind : {'crossing', 'tangency', 'cusp', 'isolated', 'cone', 'higher'}
        Smooth curves with different tangents; smooth curves some of which touch; one curve that turns back in a
        point; no other point near; of a surface, a cone with its apex here; anything else.
    tangents : (k, n) array
        Unit tangents of the k real curves through the point; for one that ends in a cusp, the direction in which it
        leaves.
    order : int, matrix or None
        For two smooth curves the number of derivatives in which they agree (0 at a crossing, p at a tangency of order
        p); for more curves the matrix of these numbers, infinite on its diagonal; None for cusps and isolated points.
    branches : tuple of HalfBranch
    rank, generic_rank : int
        Of the constraints, here and nearby.
    tolerance : float
        Up to which size numbers counted as zero when the kind was decided.
    component : int
        The number of its connected component.
    note : str
    signature : tuple of int
        Of a surface: how many squares of either sign the equation has that is left there, the larger number first.
    """

    number: int
    state: Mapping[str, float]
    kind: str
    tangents: Array
    order: Any = None
    branches: tuple[HalfBranch, ...] = ()
    rank: int
    generic_rank: int
    tolerance: float = 0.0
    component: int = 0
    note: str = ""
    signature: tuple[int, ...] = ()

    @property
    def curves(self) -> int:
        """How many analytic curves with real points pass through or end here."""
        return len(self.tangents)

    def __repr__(self) -> str:
        return f"<{point_line(self, [name for name in self.state if name != 't' and not name.startswith('v_')])}>"


@storable(shapes={"coordinates": "n", "angles": "n"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConfigurationSpace(Result):
    """The configuration space as a graph: arcs, singular points, components.

    Attributes
    ----------
    name : str
        Of the system.
    coordinates : tuple of str
    angles : tuple of bool
        Which of them are angles: positions are the same modulo a full turn.
    dimension : int
        Largest local dimension of the set that was found; -1 where it is empty.
    branches : tuple of Branch
        The arcs between singular points, box ends and contacts, or closed.
    paths : tuple of tuple of int
        Numbers of the arcs of each curve; `curves` has the arcs themselves.
    components : int
        Connected components, isolated points included.
    singular_points : tuple of SingularPoint
    points : tuple of mapping
        Isolated regular configurations (assemblies), where the dimension is zero there.
    complete : bool
        Whether a box was searched exhaustively; False where it was sampled.
    search : str
    box : mapping
        Coordinate -> (low, high).
    ignored : tuple of str
        Constraints on velocities, which don't restrict positions.
    notes : tuple of str
        What a reader should know: what was ignored, cut, not resolved; how completeness was proved.
    reason : str
        The budget that was spent before the search was done, in words.
    t : float
    strata : tuple of Stratum
        For dimension two and more: the configurations of full rank, then the singular ones, by rank, as samples.
    local_types : tuple of LocalType
        At the states that were given as ``at=``.
    params : mapping
        The values of the parameters.
    drawing : mapping
        What pictures of poses show, as plain texts: the drawing of the system; empty where it has none.
    surface : SurfaceMesh or None
        Where the dimension is two: the triangles.
    pieces : tuple of SpacePiece
        The maximal parts of one dimension and multiplicity that hang together.
    unseen : float
        Of a sampled search: the estimated number of components that no start has met, from how often the others were
        met (Chao 1984); nan where curves were not sampled.
    """

    status: TraceStatus
    name: str
    coordinates: tuple[str, ...]
    angles: tuple[bool, ...]
    dimension: int
    branches: tuple[Branch, ...] = ()
    paths: tuple[tuple[int, ...], ...] = ()
    components: int = 0
    singular_points: tuple[SingularPoint, ...] = ()
    points: tuple[Mapping[str, float], ...] = ()
    complete: bool = False
    search: str = "sampled"
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    t: float = 0.0
    strata: tuple[Stratum, ...] = ()
    local_types: tuple[LocalType, ...] = ()
    params: Mapping[str, float] = field(default_factory=dict)
    drawing: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    unseen: float = float("nan")
    surface: SurfaceMesh | None = None
    pieces: tuple[SpacePiece, ...] = ()

    def _columns(self) -> Quantities:
        """Return points along the arcs, each with the number of its arc and the length from its start."""
        spots = [np.linspace(0.0, arc.length, POINTS_OF_AN_ARC) for arc in self.branches]
        places = [np.atleast_2d(arc.position(at)) for arc, at in zip(self.branches, spots, strict=True)]
        empty = np.zeros((0, len(self.coordinates)))
        rows = np.concatenate([*places, empty])
        counts = [len(at) for at in spots]
        found = {
            "arc": Quantity(("point",), np.repeat(np.arange(len(counts)), counts)),
            "component": Quantity(
                ("point",), np.repeat([arc.component for arc in self.branches] or [0], counts or [0])
            ),
            "length": Quantity(("point",), np.concatenate([*spots, np.zeros(0)])),
        }
        for k, name in enumerate(named(self.coordinates)):
            found[name] = Quantity(("point",), rows[:, k])
        singular = self.singular_points
        for name, plain in zip(self.coordinates, named(self.coordinates, "singular_"), strict=True):
            found[plain] = Quantity(("singular",), np.array([point.state[name] for point in singular], dtype=float))
        found["singular_kind"] = Quantity(
            ("singular",), np.array([str(point.kind) for point in singular], dtype=np.str_)
        )
        return Quantities(found, about(self))

    def _numbers(self) -> Mapping[str, Any]:
        arcs = [(arc.pieces, arc.lengths) for arc in self.branches]
        points = [tuple(point.values()) for point in (*self.points, *(item.state for item in self.singular_points))]
        return {"arcs": arcs, "points": points}

    def _check(self) -> str:
        arcs, points, n = len(self.branches), len(self.singular_points), len(self.coordinates)
        numbers = [number for path in self.paths for number in path]
        numbers += [half.arc for point in self.singular_points for half in point.branches if half.arc is not None]
        places = [end.place for arc in self.branches for end in arc.ends if end.place is not None]
        if any(not 0 <= number < arcs for number in numbers) or any(not 0 <= place < points for place in places):
            return "it points to an arc or a singular point that isn't there"
        if any(arc.coordinates != self.coordinates for arc in self.branches):
            return "an arc has other coordinates"
        if any(point.tangents.shape[1] != n for point in self.singular_points):
            return "a tangent has other coordinates"
        return ""

    @property
    def curves(self) -> tuple[tuple[Branch, ...], ...]:
        """Maximal smooth paths through crossings and tangencies, each as the tuple of its arcs in order."""
        return tuple(tuple(self.branches[number] for number in path) for path in self.paths)

    def plot(
        self, x: str | None = None, y: str | None = None, *, ax: Any = None, colour: str = "arc", legend: bool = True
    ) -> Any:
        """Draw the space in two coordinates; return the Axes (extra ``plot``).

        Parameters
        ----------
        x, y : str, optional
            The coordinates to draw over each other; by default the first two that vary. Angles are drawn from minus to
            plus half a turn, so that arcs go on at the opposite side.
        ax : Axes, optional
        colour : {'arc', 'curve', 'component'}
            What has a colour of its own.
        legend : bool
            Whether to say what the marks of singular points are.
        """
        from zwang._plot.configuration import draw_configuration

        return draw_configuration(self, x, y, ax=ax, colour=colour, legend=legend)

    def plot_pose(self, drawing: Any = None, *, arc: int = 0, at: float = 0.0, ax: Any = None) -> Any:
        """Draw the mechanism at a place of an arc; return the Axes (extra ``plot``).

        Parameters
        ----------
        drawing : Drawing, optional
            By default that of the system.
        arc : int
            The number of the arc.
        at : float
            Length along it.
        ax : Axes, optional
        """
        return draw_pose(self, arc, at, drawing, ax)

    def animate(
        self,
        path: Any = None,
        *,
        drawing: Any = None,
        arc: int = 0,
        frames: int | None = None,
        fps: int = 30,
        progress: Progress = None,
    ) -> Any:
        """Write a film of the mechanism that passes along an arc, or return it for a notebook.

        Parameters
        ----------
        drawing : Drawing, optional
            By default that of the system.
        path : path, optional
            ``.html`` (a player that works offline), ``.gif`` (extra ``plot``) or ``.mp4`` (ffmpeg as well).
        drawing : Drawing, optional
            By default that of the system.
        arc : int
            The number of the arc.
        frames : int, optional
            Poses that are shown: 240 in a page, as many as 4 to 12 seconds need in a ``.gif`` or ``.mp4``.
        fps : int
            Pictures per second of a ``.gif`` or ``.mp4``.
        progress : bool or callable, optional
            True: a bar on stderr, by default after two seconds where somebody sees it; or called with the part that is
            written, from 0 to 1.
        """
        from zwang._plot.film import shown

        def film() -> Any:
            return film_along(self, arc, drawing, frames)

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        return text_of(self)


def text_of(space: ConfigurationSpace) -> str:
    """Return the summary: one line for the whole, one for each singular point."""
    head = f"ConfigurationSpace of '{space.name}': "
    if space.status.name == "EMPTY":
        return "\n".join([f"{head}EMPTY. {space.status.value}", *(f"  {note}" for note in space.notes)])
    parts = [f"dimension {space.dimension}"]
    if space.branches:
        parts.append(f"{counted(len(space.branches), 'arc')} in {counted(len(space.paths), 'smooth curve')}")
    if space.points:
        parts.append(counted(len(space.points), "isolated configuration"))
    parts.append(counted(space.components, "component"))
    parts.append(counted(len(space.singular_points), "singular point"))
    lines = [head + ", ".join(parts)]
    lines += [f"  {piece_line(piece)}" for piece in space.pieces[:MOST_LINES] if piece.dimension == 2]
    lines += [f"  {point_line(point, space.coordinates)}" for point in space.singular_points[:MOST_LINES]]
    if len(space.singular_points) > MOST_LINES:
        lines.append(f"  ... and {len(space.singular_points) - MOST_LINES} more singular points")
    for item in space.local_types[:MOST_LINES]:
        values = ", ".join(number(float(item.state[name])) for name in space.coordinates[:6])
        lines.append(f"  at ({values}{', ...' if len(space.coordinates) > 6 else ''}) {item.kind}: {item.sentence}")
    doubled = [arc for arc in space.branches if arc.multiplicity > 1]
    lines += [f"  arc {arc.number} has multiplicity {arc.multiplicity}" for arc in doubled[:MOST_LINES]]
    if space.status.name == "UNFINISHED":
        lines.append(f"  {space.status.value}")
    lines += [f"  {note}" for note in (*space.notes, space.reason) if note]
    lines.append(f"  residual {float(space.residual):.1e}, {'complete' if space.complete else 'sampled, not complete'}")
    return "\n".join(lines)


def point_line(point: SingularPoint, coordinates: Sequence[str]) -> str:
    """Return one singular point in words."""
    names = ", ".join(coordinates[:6]) + (", ..." if len(coordinates) > 6 else "")
    values = [number(float(point.state[name])) for name in coordinates[:6]]
    at = f"{names} = ({', '.join(values)}{', ...' if len(coordinates) > 6 else ''})"
    return f"{_kind(point)} at {at}{_slopes(point, coordinates)}"


def _kind(point: SingularPoint) -> str:
    if point.kind == "crossing":
        return f"crossing of {point.curves} branches"
    if point.kind == "tangency":
        if np.ndim(point.order) == 0:
            return f"tangency of order {point.order}"
        top = np.asarray(point.order)
        return f"tangency of {point.curves} branches, order up to {number(float(top[np.isfinite(top)].max()))}"
    if point.kind == "isolated":
        return "isolated point"
    if point.kind == "cone":
        return f"cone of signature {point.signature}"
    if point.kind == "higher" and not point.branches:
        return "higher singular point"
    if point.kind == "higher":
        return f"higher singular point with {len(point.branches)} half-branches"
    return point.kind


def _slopes(point: SingularPoint, coordinates: Sequence[str]) -> str:
    """Return the slopes of the branches in two coordinates, as a person writes them."""
    if len(coordinates) != 2 or not len(point.tangents) or len(point.tangents) > 4:
        return ""
    found = [number(float(y / x)) if abs(x) > 1e-12 else "infinite" for x, y in np.asarray(point.tangents)]
    if point.kind == "tangency" or len(set(found)) == 1:
        found = found[:1]
    return f", slope{'s' if len(found) > 1 else ''} {', '.join(found)}"


def summary(space: Any) -> dict[str, Any]:
    """Return the main facts of a space as plain data, for JSON."""
    return {
        "name": space.name,
        "status": space.status.name,
        "dimension": space.dimension,
        "arcs": len(space.branches),
        "curves": len(space.paths),
        "components": space.components,
        "complete": space.complete,
        "residual": float(space.residual),
        "singular_points": [
            {
                "kind": point.kind,
                "order": point.order,
                "at": {name: float(point.state[name]) for name in space.coordinates},
                "tangents": point.tangents,
                "half_branches": len(point.branches),
            }
            for point in space.singular_points
        ],
        "branches": [
            {
                "length": arc.length,
                "closed": arc.closed,
                "multiplicity": arc.multiplicity,
                "component": arc.component,
                "ends": [end.kind for end in arc.ends],
            }
            for arc in space.branches
        ],
        "notes": list(space.notes),
    }


def _drawing(space: ConfigurationSpace, drawing: Any) -> Any:
    found = drawing_of(space, drawing)
    if found is None:
        raise DeclarationError(
            f"{space.name}: the system has no drawing, so there is nothing to show. Give drawing=zw.Drawing(...), or "
            "declare System(drawing=...); Linkage makes one by itself."
        )
    return found


def _values(space: ConfigurationSpace, arc: int, at: Any) -> dict[str, Any]:
    if not 0 <= arc < len(space.branches):
        raise DeclarationError(f"{space.name}: there is no arc {arc}; it has {len(space.branches)}.")
    return {**space.params, **space.branches[arc].state(at)}


def draw_pose(space: ConfigurationSpace, arc: int, at: float, drawing: Any, ax: Any) -> Any:
    """Draw the mechanism at a place of an arc; see `ConfigurationSpace.plot_pose`."""
    from zwang._plot.mechanism import draw_mechanism

    return draw_mechanism(_drawing(space, drawing).scene(_values(space, arc, float(at))), ax=ax)


def film_along(space: ConfigurationSpace, arc: int, drawing: Any, frames: int | None) -> Film:
    """Return the film of the mechanism that passes along an arc, by the length of the arc."""
    from zwang._plot.film import Film

    end = space.branches[arc].length if 0 <= arc < len(space.branches) else 1.0
    at = np.linspace(0.0, end, max(int(frames or FRAMES), 2))
    scene = _drawing(space, drawing).scene(_values(space, arc, at)).repeated(len(at))
    return Film(at, scene, (), f"{space.name}, arc {arc}", quantity="arc length", unit="")
