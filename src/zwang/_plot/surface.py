"""Pictures of surfaces: triangles over three quantities, and the plane of two inputs with its number of assemblies."""

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
HALF = np.pi
CELLS = 120
"""Of the plane of inputs, along each axis."""


def draw_surface(space: Any, names: Sequence[str], *, ax: Any = None, colour: Any = None) -> Any:
    """Draw the triangles of a surface over three coordinates; those that cross a seam of the torus are left out."""
    for name in names:
        if name not in space.coordinates:
            raise DeclarationError(
                f"{space.name}: there is no coordinate '{name}' to draw. {nearest(name, space.coordinates)}"
            )
    places = [space.coordinates.index(name) for name in names]
    x = space.surface.points[:, places]
    corner = x[space.surface.triangles]
    turning = np.array(space.angles)[places]
    whole = ~((np.ptp(corner, axis=1) > HALF) & turning).any(axis=1)
    shade = space.surface.piece.astype(float) if colour is None else np.asarray(colour, dtype=float)
    if shade.shape != (len(x),):
        raise DeclarationError(
            f"{space.name}: colour= needs one number for each of the {len(x)} points of the mesh; it was given an "
            f"array of shape {shade.shape}."
        )
    with look():
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure(figsize=(5.6, 5.0)).add_subplot(projection="3d")
        from matplotlib import colormaps
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

        value = shade[space.surface.triangles[whole]].mean(axis=1)
        low, high = (float(value.min()), float(value.max())) if len(value) else (0.0, 1.0)
        if colour is None:
            tint: Any = [SERIES[int(number) % len(SERIES)] for number in value]
        else:
            tint = colormaps["viridis"]((value - low) / max(high - low, 1e-300))
        ax.add_collection3d(
            Poly3DCollection(corner[whole], facecolors=tint, edgecolors=(0, 0, 0, 0.12), linewidths=0.2, alpha=0.9)
        )
        for point in space.singular_points:
            at = [[point.state[name]] for name in names]
            ax.scatter(*at, marker="*", s=70, color=INK, depthshade=False)
        for curve in space.singular_curves:
            q = np.concatenate([curve.points, curve.points[:1]]) if curve.closed else curve.points
            rows = q[:, places]
            rows = np.where(turning, (rows + HALF) % (2 * HALF) - HALF, rows)
            ax.plot(*_unbroken(rows).T, color=INK, linewidth=1.6)
        for axis, name, k in zip("xyz", names, range(3), strict=True):
            getattr(ax, f"set_{axis}label")(symbol(name))
            limits = (-HALF, HALF) if turning[k] else (float(x[:, k].min()), float(x[:, k].max()))
            getattr(ax, f"set_{axis}lim")(*limits)
    return ax


def draw_over(space: Any, onto: Any, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """Draw the plane of two quantities: how many configurations lie over each place, and the images of the folds."""
    folds = space.folds(onto)
    made = space._folded(onto).made
    corner = _copies(made.values(space.surface.points)[space.surface.triangles], made.turns)
    with look():
        ax = axes(ax, size=(5.6, 4.6))
        count, x, y = _counted(corner, made.turns)
        shown = ax.pcolormesh(x, y, np.where(count > 0, count, np.nan), cmap="Blues", vmin=0, shading="flat")
        for fold in folds:
            rows = _unbroken(np.concatenate([fold.values, fold.values[:1]]) if fold.closed else fold.values)
            ax.plot(rows[:, 0], rows[:, 1], color=INK, linewidth=1.2, zorder=3)
            for points, mark, word in ((fold.cusps, "v", "cusp"), (fold.crossings, "X", "crossing")):
                for point in points:
                    ax.plot(*point.values, mark, color=SERIES[1], markersize=6, label=word, zorder=4)
        ax.set_xlabel(_label(folds.onto[0], "first quantity"))
        ax.set_ylabel(_label(folds.onto[1], "second quantity"))
        if legend:
            ax.figure.colorbar(shown, ax=ax, label="configurations")
            words = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
            if words:
                ax.legend(words.values(), words.keys(), loc="best")
    return ax


def _label(text: str, other: str) -> str:
    """Return what an axis is called: a name typeset, a short expression as it is, else another word."""
    return symbol(text) if text.isidentifier() else text if len(text) < 30 else other


def _copies(corner: Array, turns: Array) -> Array:
    """Return triangles (f, 3, 2) in one piece, those that cross the seam of an angle once on either side."""
    for k in np.flatnonzero(turns > 0):
        corner = corner.copy()
        corner[:, :, k] += turns[k] * np.round((corner[:, :1, k] - corner[:, :, k]) / turns[k])
        beyond = [(sign, corner[(sign * corner[:, :, k]).max(axis=1) > HALF].copy()) for sign in (1, -1)]
        for sign, again in beyond:
            again[:, :, k] -= sign * turns[k]
        corner = np.concatenate([corner, *(again for _, again in beyond)])
    return corner


def _counted(corner: Array, turns: Array) -> tuple[Any, Array, Array]:
    """Return how many triangles (f, 3, 2) lie over the middle of each cell of a grid, and its lines."""
    low = np.where(turns > 0, -HALF, corner.min(axis=(0, 1)))
    high = np.where(turns > 0, HALF, corner.max(axis=(0, 1)))
    lines = [np.linspace(low[k], high[k], CELLS + 1) for k in range(2)]
    middles = [(line[1:] + line[:-1]) / 2 for line in lines]
    count = np.zeros((CELLS, CELLS), dtype=np.int64)
    first = np.clip(np.floor((corner.min(axis=1) - low) / (high - low) * CELLS).astype(int), 0, CELLS)
    last = np.clip(np.ceil((corner.max(axis=1) - low) / (high - low) * CELLS).astype(int), 0, CELLS)
    for (a, b, c), (i, j), (k, l) in zip(corner, first, last, strict=True):
        det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if det == 0:
            continue
        x, y = np.meshgrid(middles[0][i:k] - a[0], middles[1][j:l] - a[1])
        s = (x * (c[1] - a[1]) - y * (c[0] - a[0])) / det
        t = ((b[0] - a[0]) * y - (b[1] - a[1]) * x) / det
        count[j:l, i:k] += (s >= 0) & (t >= 0) & (s + t < 1)
    return count, lines[0], lines[1]


def _unbroken(rows: Array) -> Array:
    """Return a line with gaps where an angle goes round."""
    jumps = np.flatnonzero((np.abs(np.diff(rows, axis=0)) > HALF).any(axis=1))
    return np.insert(rows.astype(float), jumps + 1, np.nan, axis=0)
