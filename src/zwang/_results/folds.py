"""Folds of a surface over two quantities, the sheets between them, configurations over values, and paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._progress import Progress
from zwang._results.base import Result, drawing_of
from zwang._results.storage import storable
from zwang._results.surface import state_at
from zwang._results.words import counted
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FRAMES = 240  # of a film


@dataclass(frozen=True, eq=False)
class FoldPoint:
    """A special point of a fold: its `state` (coordinates, velocities zero, t) and the `values` of the quantities."""

    state: Mapping[str, float]
    values: tuple[float, float]

    def __repr__(self) -> str:
        return f"<at values ({self.values[0]:.10g}, {self.values[1]:.10g})>"


@dataclass(frozen=True, eq=False, kw_only=True)
class FoldCurve:
    """A curve on a surface along which its projection onto two quantities is no local diffeomorphism.

    Attributes
    ----------
    points : (k, n) array
        Configurations along it, solved for.
    values : (k, 2) array
        The quantities there.
    closed : bool
    cusps : tuple of FoldPoint
        Where the image of the curve turns back.
    crossings : tuple of FoldPoint
        Where folds cross: both quantities are stationary there.
    kinks : tuple of FoldPoint
        Where a quantity has no derivative, such as a length that is zero.
    collapsed : bool
        Whether all of the curve has one image.
    piece : int
    """

    names: tuple[str, ...]
    t: float
    points: Array
    values: Array
    closed: bool
    cusps: tuple[FoldPoint, ...] = ()
    crossings: tuple[FoldPoint, ...] = ()
    kinks: tuple[FoldPoint, ...] = ()
    collapsed: bool = False
    piece: int = 0

    @property
    def states(self) -> list[dict[str, float]]:
        """The configurations as states at rest."""
        return [state_at(self.names, row, self.t) for row in self.points]

    def __repr__(self) -> str:
        ring = "closed" if self.closed else "open"
        what = ", collapsed" if self.collapsed else f", {counted(len(self.cusps), 'cusp')}"
        return f"<{ring} fold of {counted(len(self.points), 'point')}{what}>"


@dataclass(frozen=True, eq=False)
class Folds(Sequence[FoldCurve]):
    """The folds of a surface over two quantities, `onto`; `crossed` are the edges of the mesh that they cut."""

    curves: tuple[FoldCurve, ...]
    onto: tuple[str, str]
    crossed: Ints

    def __len__(self) -> int:
        return len(self.curves)

    def __getitem__(self, index: Any) -> Any:
        return self.curves[index]

    def __iter__(self) -> Iterator[FoldCurve]:
        return iter(self.curves)


@dataclass(frozen=True, eq=False, kw_only=True)
class SurfaceSheet:
    """A piece of a surface between folds.

    Attributes
    ----------
    number, piece : int
        Its own, and that of the piece of the space that it lies on.
    area : float
        Euclidean in the declared coordinates.
    euler : int
        Euler characteristic of its inside.
    vertices : int array
        The points of the mesh on it.
    """

    number: int
    piece: int
    area: float
    euler: int
    vertices: Ints

    def __repr__(self) -> str:
        return f"<sheet {self.number}: area {self.area:.6g}, Euler characteristic {self.euler}>"


@dataclass(frozen=True, eq=False)
class Sheets(Sequence[SurfaceSheet]):
    """The sheets of a surface over two quantities; `of(state)` is the sheet of a configuration."""

    sheets: tuple[SurfaceSheet, ...]
    onto: tuple[str, str]
    find: Callable[[Any], int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.sheets)

    def __getitem__(self, index: Any) -> Any:
        return self.sheets[index]

    def __iter__(self) -> Iterator[SurfaceSheet]:
        return iter(self.sheets)

    def of(self, state: Any) -> SurfaceSheet:
        """Return the sheet that a state lies on."""
        return self.sheets[self.find(state)]


@dataclass(frozen=True, eq=False)
class Assembly:
    """A configuration over given values: its `state`, the number of its `sheet` (None on a fold).

    Where the values are those of a fold that collapses to a point, `curve` is that fold, and `state` one of its points.
    """

    state: Mapping[str, float]
    sheet: int | None
    curve: FoldCurve | None = None


class Assemblies(list[Assembly]):
    """What `over` found: a list of `Assembly`.

    Attributes
    ----------
    complete : bool
        Whether an exhaustive search proved that there are no others.
    notes : tuple of str
        How that was proved, or what stands in the way of a proof.
    """

    complete: bool = False
    notes: tuple[str, ...] = ()


@storable
class PathStatus(Enum):
    """Whether a path was found."""

    FOUND = "A path on the surface joins the two configurations."
    NONE = "No path joins them: they lie on different components or sheets of the mesh."
    UNFINISHED = "A path of the mesh joins them, and it could not be smoothed without crossing a fold."


@storable(shapes={"points": "k n", "s": "k"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SurfacePath(Result):
    """A path on a surface between two configurations.

    Attributes
    ----------
    name : str
    coordinates : tuple of str
    s : (k,) array
        Length along it, from 0.
    points : (k, n) array
        Configurations on the constraints to 1e-10; angles unwrapped.
    t : float
    params : mapping
    drawing : mapping
        What pictures of poses show; empty where the system has none.
    """

    status: PathStatus
    name: str
    coordinates: tuple[str, ...]
    s: Array
    points: Array
    t: float = 0.0
    params: Mapping[str, float] = field(default_factory=dict)
    drawing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> float:
        """The length of the path, Euclidean in the declared coordinates."""
        return float(self.s[-1]) if len(self.s) else 0.0

    @property
    def states(self) -> list[dict[str, float]]:
        """The configurations as states at rest."""
        return [state_at(self.coordinates, row, self.t) for row in self.points]

    def spline(self) -> Any:
        """Return the path as a cubic spline of its length, with two continuous derivatives (SciPy)."""
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.s, self.points)

    def at(self, s: float) -> dict[str, float]:
        """Return the state at a length along the path."""
        return state_at(self.coordinates, np.asarray(self.spline()(s)), self.t)

    @titling
    def plot(self, *what: str, ax: Any = None, title: bool | str = True) -> Any:
        """Draw coordinates over the length along the path; return the Axes (extra ``plot``).

        Parameters
        ----------
        what : str
            Names of coordinates; by default all.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.motion import draw_series

        unknown = [name for name in what if name not in self.coordinates]
        if unknown:
            raise DeclarationError(
                f"{self.name}: the path has no coordinate '{unknown[0]}'. {nearest(unknown[0], self.coordinates)}"
            )
        shown = [name for name in self.coordinates if not what or name in what]
        rows = {name: self.points[:, self.coordinates.index(name)] for name in shown}
        heading = f"{self.name}: a path of length {self.length:.4g}"
        ax = draw_series(self.s, rows, heading=heading, label="coordinates", ax=ax)
        ax.set_xlabel("length along the path")
        return ax

    def animate(
        self,
        path: Any = None,
        *,
        drawing: Any = None,
        frames: int | None = None,
        fps: int = 30,
        progress: Progress = None,
    ) -> Any:
        """Write a film of the mechanism that passes along the path, or return it for a notebook.

        Parameters
        ----------
        path : path, optional
            ``.html`` (a player that works offline), ``.gif`` (extra ``plot``) or ``.mp4`` (ffmpeg as well).
        drawing : Drawing, optional
            By default that of the system.
        frames : int, optional
            Poses that are shown: 240 in a page, as 4 to 12 seconds need in ``.gif`` and ``.mp4``.
        fps : int
            Pictures per second of a ``.gif`` or ``.mp4``.
        progress : bool or callable, optional
            True: a bar on stderr, by default after two seconds where somebody sees it; or called with the part that is
            written, from 0 to 1.
        """
        from zwang._plot.film import Film, shown

        found = drawing_of(self, drawing)
        if found is None or self.status is not PathStatus.FOUND:
            raise DeclarationError(
                f"{self.name}: "
                + (
                    "the system has no drawing. Give drawing=zw.Drawing(...)."
                    if found is None
                    else f"there is no path to show: {self.status.name}."
                )
            )

        def film(instants: int | None) -> Film:
            at = np.linspace(0.0, self.length, int(instants or FRAMES))
            rows = np.asarray(self.spline()(at)).T
            scene = found.scene({**self.params, **dict(zip(self.coordinates, rows, strict=True))}).repeated(len(at))
            return Film(at, scene, (), f"{self.name}: a path", quantity="length", unit="")

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        if self.status is not PathStatus.FOUND:
            return f"SurfacePath of '{self.name}': {self.status.name}. {self.status.value}"
        return f"SurfacePath of '{self.name}': FOUND, length {self.length:.6g}, {counted(len(self.points), 'point')}"
