"""`ConfigurationSpace`: what `trace` returns, a graph of arcs and singular points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.base import Result
from zwang._results.configuration_arc import ArcEnd, Branch
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._results.storage import storable

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


@storable
class TraceStatus(Enum):
    """What was found of a configuration space."""

    TRACED = "The configuration space is a graph of arcs, each followed from end to end."
    UNFINISHED = "Some arcs or singular points could not be resolved; see the notes and the reason."
    POINTS = "The configuration space consists of isolated points."
    SURFACE = "The configuration space has dimension two or more: its arcs are not drawn."
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
    kind : {'crossing', 'tangency', 'cusp', 'isolated', 'higher'}
        Smooth curves with different tangents; smooth curves some of which touch; one curve that turns back in a
        point; no other point near; anything else.
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

    @property
    def curves(self) -> int:
        """How many analytic curves with real points pass through or end here."""
        return len(self.tangents)

    def __repr__(self) -> str:
        from zwang._results.configuration_text import point_line

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
        from zwang._results.configuration_pictures import draw_pose

        return draw_pose(self, arc, at, drawing, ax)

    def animate(
        self,
        path: Any = None,
        *,
        drawing: Any = None,
        arc: int = 0,
        frames: int | None = None,
        fps: int = 30,
        progress: Callable[[float], None] | None = None,
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
        progress : callable, optional
            Called with the part that is written, from 0 to 1.
        """
        from zwang._plot.film import shown
        from zwang._results.configuration_pictures import film_along

        def film() -> Any:
            return film_along(self, arc, drawing, frames)

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        from zwang._results.configuration_text import text_of

        return text_of(self)
