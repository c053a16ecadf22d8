"""The picture of a configuration space: arcs over two coordinates, singular points marked with their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import INK, SERIES, axes, look, symbol
from zwang.errors import DeclarationError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MARKS = {
    "crossing": ("X", "crossing"),
    "tangency": ("D", "tangency"),
    "cusp": ("v", "cusp"),
    "isolated": ("o", "isolated point"),
    "cone": ("P", "cone"),
    "higher": ("*", "higher singular point"),
}
COLOURS = ("arc", "curve", "component")
HALF = np.pi


def draw_configuration(
    space: Any,
    x: str | None = None,
    y: str | None = None,
    *,
    ax: Axes | None = None,
    colour: str = "arc",
    legend: bool = True,
) -> Axes:
    """Draw a configuration space; see `ConfigurationSpace.plot`."""
    if colour not in COLOURS:
        raise DeclarationError(f"ConfigurationSpace.plot: there is no colour= '{colour}'. {nearest(colour, COLOURS)}")
    names = _chosen(space, x, y)
    places = [space.coordinates.index(name) for name in names]
    turning = [bool(space.angles[place]) for place in places]
    with look():
        ax = axes(ax, size=(5.2, 4.6))
        shades = _shades(space, colour)
        for arc in space.branches:
            rows = _broken(arc.sampled(1200)[:, places], turning)
            width = 1.8 if arc.multiplicity == 1 else 3.6
            ax.plot(rows[:, 0], rows[:, 1], color=SERIES[shades[arc.number] % len(SERIES)], linewidth=width, zorder=2)
        if space.surface is not None:
            rows = _wrapped(space.surface.points[:, places], turning)
            ax.plot(rows[:, 0], rows[:, 1], ".", color=SERIES[0], markersize=1.5, alpha=0.6, zorder=1)
        for state in space.points:
            at = _wrapped(np.array([state[name] for name in names]), turning)
            ax.plot(*at, "s", color=SERIES[0], markersize=6, zorder=3)
        _draw_singular(ax, space, names, turning)
        for axis, name, angle in zip((ax.xaxis, ax.yaxis), names, turning, strict=True):
            axis.set_label_text(symbol(name))
            if angle:
                axis.set_ticks([-HALF, -HALF / 2, 0, HALF / 2, HALF])
                axis.set_ticklabels(["−π", "−π/2", "0", "π/2", "π"])
        if turning[0]:
            ax.set_xlim(-HALF - 0.12, HALF + 0.12)
        if turning[1]:
            ax.set_ylim(-HALF - 0.12, HALF + 0.12)
        if not any(turning) or all(turning):
            ax.set_aspect("equal", adjustable="datalim" if not any(turning) else "box")
        if legend and space.singular_points:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.0)
    return ax


def _chosen(space: Any, x: str | None, y: str | None) -> tuple[str, str]:
    """Return the two coordinates to draw: those asked for, else the first two that vary."""
    for name in (x, y):
        if name is not None and name not in space.coordinates:
            raise DeclarationError(
                f"ConfigurationSpace.plot: there is no coordinate '{name}'. {nearest(name, space.coordinates)}"
            )
    if len(space.coordinates) < 2:
        raise DeclarationError("ConfigurationSpace.plot draws two coordinates over each other; there is only one.")
    rows = [arc.sampled(40) for arc in space.branches]
    spread = np.ptp(np.concatenate(rows), axis=0) if rows else np.ones(len(space.coordinates))
    moving = [name for name, size in zip(space.coordinates, spread, strict=True) if size > 1e-9]
    free = [name for name in [*moving, *space.coordinates] if name not in (x, y)]
    first = x if x is not None else free.pop(0)
    second = y if y is not None else next(name for name in free if name != first)
    return first, second


def _shades(space: Any, colour: str) -> dict[int, int]:
    """Return the number of the colour of each arc."""
    if colour == "component":
        return {arc.number: arc.component for arc in space.branches}
    if colour == "curve":
        return {number: k for k, path in enumerate(space.paths) for number in path}
    return {arc.number: arc.number for arc in space.branches}


def _wrapped(rows: Array, turning: Sequence[bool]) -> Array:
    """Return positions with their angles between minus and plus half a turn."""
    turns = np.ceil((rows - HALF - 1e-9) / (2 * HALF))
    return np.asarray(np.where(turning, rows - 2 * HALF * turns, rows))


def _broken(rows: Array, turning: Sequence[bool]) -> Array:
    """Return positions with angles wrapped, and the line cut at the edge where it goes on at the other side."""
    if not any(turning):
        return rows
    out: list[Array] = []
    # An arc along the edge itself stays on one side of it.
    turns = np.floor((rows + HALF - 1e-7) / (2 * HALF)) * np.asarray(turning)
    for k, row in enumerate(rows):
        if k and (turns[k] != turns[k - 1]).any():
            # Both ends run over the edge; what sticks out is cut by the frame.
            out += [row - 2 * HALF * turns[k - 1], np.full(2, np.nan), rows[k - 1] - 2 * HALF * turns[k]]
        out.append(row - 2 * HALF * turns[k])
    return np.array(out)


def _draw_singular(ax: Axes, space: Any, names: Sequence[str], turning: Sequence[bool]) -> None:
    named: set[str] = set()
    for point in space.singular_points:
        mark, word = MARKS[point.kind]
        if point.kind == "tangency" and np.ndim(point.order) == 0:
            word = f"tangency of order {point.order}"
        elif point.kind == "crossing" and point.curves > 2:
            word = f"crossing of {point.curves}"
        at = np.array([point.state[name] for name in names])
        for image in _images(_wrapped(at, turning), turning):
            ax.plot(
                *image, mark, color="white", markeredgecolor=INK, markeredgewidth=1.3, markersize=8.5, zorder=4,
                linestyle="none", label=None if word in named else word,
            )  # fmt: skip
            named.add(word)


def _images(at: Array, turning: Sequence[bool]) -> list[Array]:
    """Return a point with its images on the opposite edges of the torus."""
    found = [at]
    for axis in (0, 1):
        if turning[axis] and abs(abs(at[axis]) - HALF) < 1e-6:
            shift = np.zeros(2)
            shift[axis] = -2 * HALF if at[axis] > 0 else 2 * HALF
            found += [image + shift for image in found]
    return found
