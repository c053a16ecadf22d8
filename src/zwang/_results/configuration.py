"""`ConfigurationSpace`: what `trace` returns, a graph of arcs and singular points."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._progress import Progress
from zwang._results.base import Result, drawing_of
from zwang._results.columns import MOST_GROUPS, Quantities, Quantity, about, named
from zwang._results.configuration_arc import ArcEnd, Branch
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._results.configuration_text import point_line, text_of
from zwang._results.folds import Assemblies, Folds, Sheets, SurfacePath
from zwang._results.storage import storable
from zwang._results.surface import SingularCurve, SpacePiece, SurfaceMesh
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
    gap : tuple of float
        Singular values of scaled rows that the rank was decided by: the least that counts, the largest that doesn't.
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
    gap: tuple[float, float] = (float("inf"), 0.0)

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
    units : mapping of str to str
    singular_curves : tuple of SingularCurve
        Of surfaces: arcs along which sheets cross, touch or end.
    surface : SurfaceMesh or None
        Where the dimension is two: the triangles.
    pieces : tuple of SpacePiece
        The maximal parts of one dimension and multiplicity that hang together.
    declared : mapping
        Of surfaces: the declaration of the system, as a model file holds it, so that folds can be solved for.
    unseen : float
        Components that no start of a sampled search has met, estimated after Chao (1984); nan without sampled curves.
    gap : tuple of float
        The same over all points of curves that starts led to; its second number is 0 where all rows count.
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
    units: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    unseen: float = float("nan")
    gap: tuple[float, float] = (float("inf"), 0.0)
    singular_curves: tuple[SingularCurve, ...] = ()
    surface: SurfaceMesh | None = None
    pieces: tuple[SpacePiece, ...] = ()
    declared: Mapping[str, Any] = field(default_factory=dict)

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

    def _groups(self) -> Mapping[str, Quantities]:
        """Return the arcs one by one: coordinates over the length."""
        found = {}
        for k, arc in enumerate(self.branches[:MOST_GROUPS]):
            at = np.linspace(0.0, arc.length, POINTS_OF_AN_ARC)
            rows = zip(named(self.coordinates), np.atleast_2d(arc.position(at)).T, strict=True)
            columns = {"length": Quantity(("length",), at)} | {name: Quantity(("length",), row) for name, row in rows}
            found[f"branch_{k}"] = Quantities(columns, {"component": arc.component, "multiplicity": arc.multiplicity})
        return found

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

    def _folded(self, onto: Any) -> Any:
        """Return the surface over two quantities, made once for each pair of them."""
        made = self.__dict__.setdefault("_folds", {})
        key = str(onto)
        if key not in made:
            made[key] = importlib.import_module("zwang._trace.fold_search").FoldedSurface(self, onto)
        return made[key]

    def folds(self, onto: Any) -> Folds:
        """Return the curves on which the projection onto two quantities is no local diffeomorphism.

        Parameters
        ----------
        onto : pair of coordinates, names or expressions
            The inputs of a mechanism, or the place of its tool.

        Returns
        -------
        Folds
            A sequence of curves, each with `states`, `closed`, `cusps`, `crossings`, `kinks` and `collapsed`.
        """
        found: Folds = self._folded(onto).folds
        return found

    def sheets(self, onto: Any) -> Sheets:
        """Return the pieces of the surface between folds, the largest first; `sheets.of(state)` is that of a state.

        Parameters
        ----------
        onto : pair of coordinates, names or expressions
        """
        found: Sheets = self._folded(onto).sheets
        return found

    def over(self, onto: Any, values: Any, *, search: str = "sampled") -> Assemblies:
        """Return every configuration over given values of two quantities, each with its sheet.

        Parameters
        ----------
        onto : pair of coordinates, names or expressions
        values : pair of numbers
        search : {'sampled', 'exhaustive'}
            From the mesh; or checked by subdivision with proofs, in the box of the space: `complete` of the list says
            whether it was proved that there are no others, its `notes` how, or what stands in the way.
        """
        found: Assemblies = importlib.import_module("zwang._trace.assembled").assemblies(self, onto, values, search)
        return found

    def path(self, start: Any, end: Any, avoid: Any = None) -> SurfacePath:
        """Return a path on the surface between two states.

        Parameters
        ----------
        start, end : states
        avoid : Folds, optional
            Folds that it must not cross, as `folds` returns them.
        """
        found: SurfacePath = importlib.import_module("zwang._trace.surface_path").path(self, start, end, avoid)
        return found

    @titling
    def plot(
        self,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        *,
        onto: Any = None,
        ax: Any = None,
        title: bool | str = True,
        colour: Any = None,
        folds: Any = None,
        wrapped: bool = False,
        legend: bool = True,
        each: bool = False,
    ) -> Any:
        """Draw the space: arcs over two coordinates, a surface over three; return the Axes (extra ``plot``).

        Parameters
        ----------
        x, y, z : str or expression, optional
            The coordinates to draw over each other, of a surface also expressions of them; by default the first
            coordinates. Angles are drawn from minus to plus half a turn, so that arcs and surfaces go on at the
            opposite side.
        onto : pair of coordinates, names or expressions, optional
            Of a surface: draw the plane of these two quantities instead, with the number of configurations over each
            place and the images of the folds.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
            With three dimensions for a surface over three quantities, or wrapped.
        colour : {'arc', 'curve', 'component'}, name, expression or array, optional
            What has a colour of its own. Of a surface: 'piece' (by default), 'component'; 'sheet' and 'distance', of
            and to the next of the folds that `folds` names; the name of a constraint for its multiplier, the mechanism
            let go at rest; a coordinate or an expression; or a number for each point of the mesh.
        folds : pair of coordinates, names or expressions, or what `folds` returned, optional
            Of a surface: draw the folds of the projection onto these, with their cusps and crossings.
        wrapped : bool
            Of a surface: lead the first two quantities, angles, round a ring and round its tube, which a third quantity
            makes thicker where it is larger.
        legend : bool
            Whether to say what the marks are.
        each : bool
            Small multiples: a panel for each arc (curve, component, as `colour` says) with the others pale behind it;
            returns an array of Axes. Arcs that run over each other in these coordinates are told apart so; in one
            picture each of them is drawn narrower than the one below.
        """
        if onto is not None:
            from zwang._plot.surface import draw_over

            return draw_over(self, onto, ax=ax, legend=legend)
        if self.surface is not None and not each and not (isinstance(colour, str) and colour in ("arc", "curve")):
            from zwang._plot.surface import draw_surface

            shades = importlib.import_module("zwang._trace.surface_shades")
            picture = shades.picture_of(self, (x, y, z), colour=colour, folds=folds, wrapped=wrapped)
            return draw_surface(self, picture, ax=ax, legend=legend)
        if folds is not None or wrapped:
            raise DeclarationError(
                f"{self.name}: folds= and wrapped= belong to pictures of surfaces; this space has dimension "
                f"{self.dimension}."
            )
        from zwang._plot.configuration import draw_configuration

        return draw_configuration(
            self, x, y, ax=ax, colour="arc" if colour is None else colour, legend=legend, each=each
        )

    @titling
    def plot_pose(
        self, drawing: Any = None, *, arc: int = 0, at: float = 0.0, ax: Any = None, title: bool | str = True
    ) -> Any:
        """Draw the mechanism at a place of an arc; return the Axes (extra ``plot``).

        Parameters
        ----------
        drawing : Drawing, optional
            By default that of the system.
        arc : int
            The number of the arc.
        at : float
            Length along it.
        title : bool or str
            False leaves it out; a text stands in its place.
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
        path : path, optional
            ``.html`` (a player that works offline), ``.gif`` (extra ``plot``) or ``.mp4`` (ffmpeg as well).
        drawing : Drawing, optional
            By default that of the system.
        arc : int
            The number of the arc.
        frames : int, optional
            Poses that are shown: 240 in a page (1200 at most), as 4 to 12 seconds need in ``.gif`` and ``.mp4``.
        fps : int
            Pictures per second of a ``.gif`` or ``.mp4``.
        progress : bool or callable, optional
            True: a bar on stderr, by default after two seconds where somebody sees it; or called with the part that is
            written, from 0 to 1.
        """
        from zwang._plot.film import shown

        def film(instants: int | None) -> Any:
            return film_along(self, arc, drawing, instants)

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        return text_of(self)


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
    at = np.linspace(0.0, end, int(frames or FRAMES))
    scene = _drawing(space, drawing).scene(_values(space, arc, at)).repeated(len(at))
    return Film(at, scene, (), f"{space.name}, arc {arc}", quantity="arc length", unit="")
