"""Mechanisms at a pose: bars, joints, ground, guides and surfaces, from numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import INK, PALE, QUIET, SERIES, axes, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = tuple[float, float]


def draw_mechanism(
    points: Mapping[str, Place],
    segments: Iterable[tuple[str, str]] = (),
    *,
    ground: Sequence[str] = (),
    curves: Iterable[tuple[Any, Any, Any]] = (),
    surfaces: Iterable[tuple[Place, Place]] = (),
    labels: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a planar mechanism.

    Parameters
    ----------
    points : mapping of str to (x, y)
        Where the points are [m].
    segments : pairs of names
        Points that are joined by a bar.
    ground : sequence of names
        Points that belong to the ground.
    curves : iterable of (X, Y, F)
        Guides: grids (rows, columns) of places and of a function that is zero on the curve.
    surfaces : iterable of ((x, y), (nx, ny))
        Floors and walls: a place on each, and its unit normal towards the free side.
    labels : bool
        Whether to name the points.
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> ax = draw_mechanism({"A": (0, 0), "B": (1, 1)}, [("A", "B")], ground=["A"], ax=new_figure()[1])
    >>> [text.get_text() for text in ax.texts]
    ['A', 'B']
    """
    places = {name: np.asarray(place, dtype=float) for name, place in points.items()}
    guides = [tuple(np.asarray(part, dtype=float) for part in grid) for grid in curves]
    low, high = frame([*places.values(), *(corner for grid in guides for corner in _reach(*grid))])
    with look():
        ax = axes(ax, size=(4.2, 3.6))
        ax.set_aspect("equal")
        ax.set_axis_off()
        size = float(max(high - low))
        for X, Y, F in guides:
            ax.contour(X, Y, F, levels=[0.0], colors=[QUIET], linewidths=1.3)
        for at, normal in surfaces:
            _draw_surface(ax, np.asarray(at, float), np.asarray(normal, float), low, high, size)
        for a, b in segments:
            pair = np.array([places[a], places[b]])
            ax.plot(*pair.T, color=SERIES[0], linewidth=4, solid_capstyle="round", zorder=2)
        for name in ground:
            if name in places:
                _draw_ground(ax, places[name], size)
        joined = {name for pair in segments for name in pair}
        for name, place in places.items():
            mark = "o" if name in joined or name in ground else "D"
            ax.plot(*place, mark, color="white", markeredgecolor=INK, markeredgewidth=1.4, markersize=6, zorder=4)
        if labels and len(places) <= 12:
            _draw_names(ax, places, ground, size)
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
    return ax


def frame(places: Sequence[Any]) -> tuple[Any, Any]:
    """Return the corners of a frame around places, with room and not too slender.

    Examples
    --------
    >>> [corner.round(3).tolist() for corner in frame([(0, 0), (2, 0)])]
    [[-0.36, -0.76], [2.36, 0.76]]
    """
    every = np.array(places, dtype=float).reshape(-1, 2)
    low, high = every.min(axis=0), every.max(axis=0)
    size = float((high - low).max()) or 1.0
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.2 * size) + 0.18 * size
    return middle - half, middle + half


def _reach(X: Any, Y: Any, F: Any) -> list[Any]:
    """Return two corners of the box around a closed curve F = 0; none for a curve that leaves its grid."""
    turns = np.zeros(F.shape, dtype=bool)
    turns[:, :-1] |= F[:, :-1] * F[:, 1:] <= 0
    turns[:-1] |= F[:-1] * F[1:] <= 0
    rows, columns = np.nonzero(turns)
    if not len(rows) or rows.min() == 0 or columns.min() == 0:
        return []
    if rows.max() >= F.shape[0] - 2 or columns.max() >= F.shape[1] - 2:
        return []
    return [np.array([X[turns].min(), Y[turns].min()]), np.array([X[turns].max(), Y[turns].max()])]


def _draw_surface(ax: Axes, place: Any, normal: Any, low: Any, high: Any, size: float) -> None:
    along = np.array([-normal[1], normal[0]])
    ends = np.array([place - 3 * size * along, place + 3 * size * along])
    # Clip to the frame by hand: a hatched band of finite length reads as ground.
    t = np.linspace(0, 1, 2001)[:, None]
    inside = ends[0] + t * (ends[1] - ends[0])
    room = 0.02 * size
    kept = inside[np.all((inside >= low + room) & (inside <= high - room), axis=1)]
    if not len(kept):
        return
    a, b = kept[0], kept[-1]
    depth = 0.07 * size * normal
    ax.fill(*np.array([a, b, b - depth, a - depth]).T, facecolor=PALE, linewidth=0, zorder=0)
    ax.plot(*np.array([a, b]).T, color=QUIET, linewidth=1.4, zorder=1)


def _draw_ground(ax: Axes, place: Any, size: float) -> None:
    side = 0.055 * size
    corners = place + side * np.array([[0, 0], [-1, -1.5], [1, -1.5]])
    ax.fill(*corners.T, facecolor=PALE, edgecolor=QUIET, linewidth=1.2, zorder=1)
    foot = place + side * np.array([[-1.6, -1.5], [1.6, -1.5]])
    ax.plot(*foot.T, color=QUIET, linewidth=1.4, zorder=1)


def _draw_names(ax: Axes, places: Mapping[str, Any], ground: Sequence[str], size: float) -> None:
    """Write names outwards of their points; where points lie on each other, none."""
    from matplotlib.patheffects import withStroke

    every = list(places.values())
    if any(np.hypot(*(a - b)) < 1e-6 * size for i, a in enumerate(every) for b in every[:i]):
        return
    centre = np.mean(every, axis=0)
    for name, place in places.items():
        away = place - centre
        length = float(np.hypot(*away))
        away = away / length if length > 1e-9 * size else np.array([-0.8, 0.6])
        if name in ground:  # its triangle hangs below
            away = np.array([-1.0, 0.35])
        ax.annotate(
            name,
            place,
            xytext=tuple(9 * away),
            textcoords="offset points",
            ha="left" if away[0] > 0.35 else "right" if away[0] < -0.35 else "center",
            va="bottom" if away[1] > 0.35 else "top" if away[1] < -0.35 else "center",
            fontsize=9,
            color=INK,
            zorder=5,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
