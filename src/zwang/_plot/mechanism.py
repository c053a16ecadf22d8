"""Mechanisms at a pose: bodies, bars, springs, joints, ground, guides and surfaces, from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.scene import Scene, coil
from zwang._plot.style import INK, PALE, QUIET, SERIES, axes, look, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.18  # part of a picture's side around a mechanism
SOLID = "#cfe3f1"
"""The inside of a body: the colour of bars, pale."""


def draw_mechanism(
    scene: Scene, *, labels: bool = True, frame: int = 0, box: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw a mechanism as it is in one frame of a scene.

    Parameters
    ----------
    scene : Scene
    labels : bool
        Whether to name the points.
    frame : int
    box : pair of corners, optional
        What the picture shows; by default all of the scene in any of its frames.
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> scene = Scene(("A", "B"), np.array([[[0.0, 0.0], [1.0, 1.0]]]), bars=[(0, 1)], ground=[0])
    >>> ax = draw_mechanism(scene, ax=new_figure()[1])
    >>> [text.get_text() for text in ax.texts]
    ['A', 'B']
    """
    places = scene.places[frame]
    low, high = scene.corners(ROOM, slender=0.2) if box is None else box
    with look():
        ax = axes(ax, size=(4.2, 3.6))
        ax.set_aspect("equal")
        ax.set_axis_off()
        size = float(max(high - low))
        for line in (*scene.outlines, *scene.endless):
            ax.plot(*np.asarray(line).T, color=QUIET, linewidth=1.3)
        for at, normal in scene.surfaces:
            _draw_surface(ax, np.asarray(at, float), np.asarray(normal, float), low, high, size)
        for solid in scene.bodies:
            corners = solid.shown(places, frame)
            ax.fill(*corners.T, facecolor=SOLID, edgecolor=SERIES[0], linewidth=1.6, joinstyle="round", zorder=2)
        for a, b in scene.springs:
            ax.plot(*coil(places[a], places[b]).T, color=QUIET, linewidth=1.4, zorder=2)
        for a, b in scene.bars:
            ax.plot(*places[[a, b]].T, color=SERIES[0], linewidth=4, solid_capstyle="round", zorder=2)
        for k in scene.ground:
            _draw_ground(ax, places[k], size)
        joined = {k for pair in (*scene.bars, *scene.springs) for k in pair} | set(scene.ground)
        for k in scene.joints:
            mark = "o" if k in joined else "D"
            ax.plot(*places[k], mark, color="white", markeredgecolor=INK, markeredgewidth=1.4, markersize=6, zorder=4)
        if labels and len(scene.joints) <= 12:
            _draw_names(ax, scene, places, size)
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
    return ax


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


def _draw_names(ax: Axes, scene: Scene, places: Any, size: float) -> None:
    """Write names outwards of their points; where points lie on each other, none."""
    from matplotlib.patheffects import withStroke

    every = [places[k] for k in scene.joints]
    if any(np.hypot(*(a - b)) < 1e-6 * size for i, a in enumerate(every) for b in every[:i]):
        return
    for k in scene.joints:
        place = places[k]
        away = place - np.mean(every, axis=0)
        length = float(np.hypot(*away))
        away = away / length if length > 1e-9 * size else np.array([-0.8, 0.6])
        if k in scene.ground:  # its triangle hangs below
            away = np.array([-1.0, 0.35])
        ax.annotate(
            words(scene.names[k]),
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
