"""The picture of a configuration space: arcs over two coordinates, singular points marked with their kind."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import (
    INK,
    PALE,
    SERIES,
    axes,
    axis_label,
    figure_title,
    look,
    panels,
    put_key_beside,
    symbol,
    title,
)
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
MOST_LAYERED = 40
"""Arcs up to which it is looked which of them run over each other."""
MOST_PANELS = 24  # of one figure: four rows of six are still readable


def draw_configuration(
    space: Any,
    x: str | None = None,
    y: str | None = None,
    *,
    ax: Axes | None = None,
    colour: str = "arc",
    legend: bool = True,
    each: bool = False,
) -> Any:
    """Draw a configuration space; see `ConfigurationSpace.plot`."""
    if colour not in COLOURS:
        raise DeclarationError(f"ConfigurationSpace.plot: there is no colour= '{colour}'. {nearest(colour, COLOURS)}")
    names = _chosen(space, x, y)
    with look():
        if each:
            return _panels(space, names, colour, ax)
        ax = axes(ax, size=(5.2, 4.6))
        _draw_arcs(ax, space, names, colour)
        title(ax, f"{space.name}: configuration space", over=names, then=_counts(space))
        if legend:
            put_key_beside(ax, handlelength=1.2, fontsize=9)
    return ax


def _counts(space: Any) -> str:
    counts = [
        (len(space.branches), "arc"),
        (len(space.points), "point"),
        (len(space.singular_points), "singular point"),
    ]
    told = [f"{count} {word}{'' if count == 1 else 's'}".replace(" ", "\xa0") for count, word in counts if count]
    return f"; {', '.join(told)}" if told else ""


def _draw_arcs(ax: Axes, space: Any, names: Sequence[str], colour: str, only: int | None = None) -> None:
    """Draw the arcs, those of one shade alone in colour where that is asked."""
    places = [space.coordinates.index(name) for name in names]
    turning = [bool(space.angles[place]) for place in places]
    shades, drawn = _shades(space, colour), [arc.sampled(1200)[:, places] for arc in space.branches]
    layers = _layers(drawn, turning)
    named: set[int] = set()
    for arc, rows, layer in zip(space.branches, drawn, layers, strict=True):
        shade = shades[arc.number]
        line = _broken(rows, turning)
        if only is not None and shade != only:
            ax.plot(line[:, 0], line[:, 1], color=PALE, linewidth=1.2, zorder=1)
            continue
        # One that runs over others is drawn upon them, narrower: all of them are seen.
        width = max(1.8 + 2.6 * layer, 1.8) if arc.multiplicity == 1 else 3.6 + 2.6 * layer
        label = f"{colour} {shade}" if max(layers, default=0) and shade not in named else None
        named.add(shade)
        ax.plot(
            line[:, 0], line[:, 1], color=SERIES[shade % len(SERIES)], linewidth=width, zorder=2 - 0.05 * layer,
            linestyle="-" if shade < len(SERIES) else "--", label=label, solid_capstyle="butt",
        )  # fmt: skip
    if space.surface is not None:
        rows = _wrapped(space.surface.points[:, places], turning)
        ax.plot(rows[:, 0], rows[:, 1], ".", color=SERIES[0], markersize=1.5, alpha=0.6, zorder=1)
    for state in space.points:
        at = _wrapped(np.array([state[name] for name in names]), turning)
        ax.plot(*at, "s", color=SERIES[0], markersize=6, zorder=3)
    _draw_singular(ax, space, names, turning)
    _dress(ax, space, names, turning)


def _dress(ax: Axes, space: Any, names: Sequence[str], turning: Sequence[bool]) -> None:
    for axis, name, angle in zip((ax.xaxis, ax.yaxis), names, turning, strict=True):
        axis.set_label_text(axis_label(symbol(name), space.units.get(name, "")))
        if angle:
            axis.set_ticks([-HALF, -HALF / 2, 0, HALF / 2, HALF])
            axis.set_ticklabels(["−π", "−π/2", "0", "π/2", "π"])
    if turning[0]:
        ax.set_xlim(-HALF - 0.12, HALF + 0.12)
    if turning[1]:
        ax.set_ylim(-HALF - 0.12, HALF + 0.12)
    if not any(turning) or all(turning):
        ax.set_aspect("equal", adjustable="datalim" if not any(turning) else "box")


def _layers(drawn: Sequence[Array], turning: Sequence[bool]) -> list[int]:
    """Return, for each line, how many later ones run along a good part of it: so much wider it is drawn."""
    thin = [_wrapped(rows[:: max(len(rows) // 160, 1)], turning) for rows in drawn]
    if not thin or len(thin) > MOST_LAYERED:
        return [0] * len(thin)
    every = np.concatenate(thin)
    near = 6e-3 * float(np.ptp(every, axis=0).max() or 1.0)
    layers = [0] * len(thin)
    for k in range(len(thin) - 2, -1, -1):
        above = [layers[l] for l in range(k + 1, len(thin)) if _runs_along(thin[k], thin[l], near)]
        layers[k] = 1 + max(above) if above else 0
    return layers


def _runs_along(one: Array, other: Array, near: float) -> bool:
    """Whether a tenth of the places of a line lie on another one."""
    a, b = other[:-1, None], other[1:, None]
    along = b - a
    size = np.maximum((along**2).sum(axis=-1), 1e-300)
    part = np.clip(((one - a) * along).sum(axis=-1) / size, 0.0, 1.0)
    gap = np.hypot(*np.moveaxis(one - (a + part[..., None] * along), -1, 0))
    whole = np.hypot(*along[:, 0].T) < HALF  # not from one edge of the torus to the other
    return bool(whole.any()) and float(np.mean(gap[whole].min(axis=0) < near)) > 0.1


def _panels(space: Any, names: Sequence[str], colour: str, ax: Any) -> Any:
    """Draw a panel for each arc, curve or component, the others pale behind it."""
    if ax is not None:
        raise DeclarationError("ConfigurationSpace.plot: each=True makes a figure of its own; leave ax= out.")
    shades = sorted(set(_shades(space, colour).values()))
    if not shades:
        raise DeclarationError(f"{space.name}: there is no arc to draw.")
    if len(shades) > MOST_PANELS:
        raise DeclarationError(
            f"{space.name}: each=True would make {len(shades)} panels, more than {MOST_PANELS}. Use "
            "colour='component', or leave it out."
        )
    figure, grid = panels(len(shades), (2.8, 2.7))
    for panel, shade in zip(grid.flat, shades, strict=False):
        _draw_arcs(panel, space, names, colour, shade)
        panel.set_title(f"{colour} {shade}", fontsize=10)
    for panel in list(grid.flat)[len(shades) :]:
        panel.set_axis_off()
    figure_title(figure, f"{space.name}: configuration space", over=names, then=_counts(space))
    return grid


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
        images = _images(_wrapped(at, turning), turning)
        if len(images) > 1:
            word += f"; one point, at {len(images)} places of the edge"
        word = textwrap.fill(word, 26)
        for image in images:
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
