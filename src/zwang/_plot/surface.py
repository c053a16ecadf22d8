"""Pictures of surfaces: triangles over three quantities, and the plane of two inputs with its number of assemblies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import INK, PALE, SERIES, axes, axis_label, look, put_key_beside, symbol, title
from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
HALF = np.pi
TUBE, THIN, THICK = 0.45, 0.2, 0.8
"""Radii of the tube of a ring of radius one: without a third quantity, and where it is least and largest."""
FOLD = "#b3261e"
WIDE = 0.005
"""Half the width of a line in space, as a part of the picture."""
MOST_KEYS = 8  # of a legend
CELLS = 120
"""Of the plane of inputs, along each axis."""


class SurfacePicture(NamedTuple):
    """What is drawn of a surface: `axes` gives quantities of configurations, `shade` a number for each point."""

    axes: Any
    shade: Any
    folds: Sequence[Any] = ()
    wrapped: bool = False

    def places(self, x: Array) -> Array:
        """Return where quantities (..., d) are drawn; wrapped angles go round a ring and round its tube."""
        if not self.wrapped:
            return x
        tube = TUBE if x.shape[-1] == 2 else THIN + (THICK - THIN) * self._part(x[..., 2])
        out = 1.0 + tube * np.cos(x[..., 1])
        return np.stack([out * np.cos(x[..., 0]), out * np.sin(x[..., 0]), tube * np.sin(x[..., 1])], axis=-1)

    def _part(self, third: Array) -> Array:
        low, high = self.limits[:, 2]
        return np.asarray(np.clip((third - low) / max(high - low, 1e-300), 0, 1))

    @property
    def limits(self) -> Array:
        """From where to where each quantity goes, (2, d)."""
        return np.asarray(self.axes.limits)

    @property
    def seams(self) -> NDArray[np.bool_]:
        """Which quantities are cut where they go round."""
        cut = np.array(self.axes.angles)
        return cut & (np.arange(len(cut)) > 1) if self.wrapped else cut


def draw_surface(space: Any, picture: SurfacePicture, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw the triangles of a surface over two or three quantities, with its singular points and curves, and folds."""
    faces, owners = _faces(picture.axes.corners(space.surface), picture)
    solid = picture.wrapped or len(picture.axes.labels) == 3
    with look():
        if ax is None:
            from matplotlib import pyplot

            figure = pyplot.figure(figsize=(6.2, 5.0), layout="constrained")
            ax = figure.add_subplot(projection="3d" if solid else None)
        if solid and ax.name != "3d":
            raise DeclarationError(
                f"{space.name}: a surface over three quantities, or wrapped, needs an ax= with three dimensions, as "
                "plt.figure().add_subplot(projection='3d') makes one."
            )
        tint, key = _tints(picture.shade, space.surface.triangles)
        _fill(ax, faces, [tint[k] for k in owners], _lines(space, picture))
        _draw_points(ax, space, picture)
        _dress(ax, picture, space, solid)
        title(ax, f"{space.name}: configuration space", over=picture.axes.labels)
        if legend:
            _explain(ax, key, picture.shade)
    return ax


def _fill(ax: Any, faces: list[Array], tints: list[Any], lines: list[tuple[Array, str, str]]) -> None:
    """Draw polygons and lines; in space in one collection, so that what is in front hides both."""
    from matplotlib.collections import PolyCollection

    for colour, label in dict.fromkeys((colour, label) for _, colour, label in lines):
        ax.plot([], [], color=colour, linewidth=1.8, label=label)
    edge = (0.0, 0.0, 0.0, 0.12)
    if ax.name != "3d":
        ax.add_collection(PolyCollection(faces, facecolors=tints, edgecolors=edge, linewidths=0.2, zorder=1))
        for line, colour, _ in lines:
            ax.plot(*line.T, color=colour, linewidth=1.8, zorder=5)
        return
    from matplotlib.colors import to_rgba
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    unit = np.ptp(np.concatenate(faces), axis=0)
    strips = [(strip, to_rgba(colour)) for line, colour, _ in lines for strip in _strips(line, unit)]
    filled = [(*colour[:3], 0.9) for colour in map(to_rgba, tints)]
    ax.add_collection3d(
        Poly3DCollection(
            _alike([*faces, *(strip for strip, _ in strips)]),
            facecolors=[*filled, *(colour for _, colour in strips)],
            edgecolors=[*(edge for _ in faces), *(colour for _, colour in strips)],
            linewidths=0.2,
        )
    )


def _alike(polygons: list[Array]) -> Array:
    """Return polygons with equally many corners, the last one repeated.

    Matplotlib fills up shorter ones with whatever stands in memory, and takes the limits of the axes from that, too.
    """
    most = max(map(len, polygons))
    return np.stack([np.concatenate([item, np.repeat(item[-1:], most - len(item), axis=0)]) for item in polygons])


def _strips(line: Array, unit: Array) -> list[Array]:
    """Return a line in space as narrow quadrangles, two across each other for each step: from any side one is seen."""
    unit = np.where(unit > 0, unit, 1.0)
    found = []
    for a, b in itertools.pairwise(line / unit):
        if not np.isfinite([a, b]).all() or (a == b).all():
            continue
        across = np.cross(b - a, np.eye(3)[np.argmin(np.abs(b - a))])
        for side in (across, np.cross(b - a, across)):
            half = WIDE * side / np.linalg.norm(side)
            found.append(np.array([a - half, b - half, b + half, a + half]) * unit)
    return found


def _faces(corner: Array, picture: SurfacePicture) -> tuple[list[Array], list[int]]:
    """Return polygons where they are drawn, and the triangle of each; those that cross a seam are cut there."""
    corner = corner.copy()
    for k in np.flatnonzero(picture.axes.angles):
        corner[:, :, k] += 2 * HALF * np.round((corner[:, :1, k] - corner[:, :, k]) / (2 * HALF))
    seams = np.flatnonzero(picture.seams)
    over = (np.abs(corner[:, :, seams]) > HALF + 1e-9).any(axis=(1, 2))
    faces, owners = list(corner[~over]), np.flatnonzero(~over).tolist()
    for number in np.flatnonzero(over):
        parts = [corner[number]]
        for k in seams:
            parts = [piece for part in parts for piece in _halved(part, int(k))]
        faces += parts
        owners += [int(number)] * len(parts)
    return [picture.places(face) for face in faces], owners


def _halved(face: Array, k: int) -> list[Array]:
    """Return the parts of a polygon between minus and plus half a turn, those beyond brought back by a full turn."""
    found = []
    for turn in (-1, 0, 1):
        part = face.copy()
        part[:, k] += 2 * HALF * turn
        for sign in (1, -1):
            part = _within(part, sign * part[:, k] - HALF)
        if len(part) > 2:
            found.append(part)
    return found


def _within(face: Array, beyond: Array) -> Array:
    """Return the part of a polygon (m, d) where a linear function, given at its corners, is not positive."""
    kept: list[Array] = []
    for i in range(len(face)):
        j = (i + 1) % len(face)
        if beyond[i] <= 0:
            kept.append(face[i])
        if (beyond[i] <= 0) != (beyond[j] <= 0):
            part = beyond[i] / (beyond[i] - beyond[j])
            kept.append(face[i] + part * (face[j] - face[i]))
    return np.array(kept).reshape(-1, face.shape[1])


def _tints(shade: Any, triangles: Any) -> tuple[Any, Any]:
    """Return the colour of each triangle, and what explains them: a mapping of words, or a scale of colours."""
    from matplotlib import cm, colormaps, colors

    value = np.median(np.asarray(shade.values, dtype=float)[triangles], axis=1)
    if shade.counts:
        numbers = sorted({int(number) for number in value})
        key = {f"{shade.label} {number}": SERIES[number % len(SERIES)] for number in numbers[:MOST_KEYS]}
        return [SERIES[int(number) % len(SERIES)] for number in value], key
    finite = value[np.isfinite(value)]
    # Multipliers grow without bound next to singular points: the outermost hundredth doesn't say where colours end.
    low, high = np.percentile(finite, (1, 99)) if len(finite) else (0.0, 1.0)
    scale = cm.ScalarMappable(colors.Normalize(low, high if high > low else low + 1), colormaps["viridis"])
    return np.where(np.isfinite(value)[:, None], scale.to_rgba(value), colors.to_rgba(PALE)), scale


def _lines(space: Any, picture: SurfacePicture) -> list[tuple[Array, str, str]]:
    """Return folds and singular curves where they are drawn, each with its colour and what it is."""
    drawn = [(fold, FOLD, "fold") for fold in picture.folds]
    drawn += [(curve, INK, f"curve: {curve.kind}") for curve in space.singular_curves]
    found = []
    for curve, colour, word in drawn:
        q = np.concatenate([curve.points, curve.points[:1]]) if curve.closed else curve.points
        found.append((picture.places(_unbroken(picture.axes.of(q), picture.seams)), colour, word))
    return found


def _draw_points(ax: Any, space: Any, picture: SurfacePicture) -> None:
    """Draw cusps and crossings of folds, and singular points."""
    for fold in picture.folds:
        for points, mark, word in ((fold.cusps, "v", "cusp of a fold"), (fold.crossings, "X", "crossing of folds")):
            _marks(ax, space, picture, [point.state for point in points], {"marker": mark, "s": 40, "label": word})
    for point in space.singular_points:
        _marks(ax, space, picture, [point.state], {"marker": "*", "s": 80, "label": f"point: {point.kind}"})


def _marks(ax: Any, space: Any, picture: SurfacePicture, states: Sequence[Any], style: dict[str, Any]) -> None:
    if not states:
        return
    q = np.array([[state[name] for name in space.coordinates] for state in states])
    more = {"depthshade": False} if ax.name == "3d" else {}
    ax.scatter(*picture.places(picture.axes.of(q)).T, color=INK, zorder=6, **style, **more)


def _dress(ax: Any, picture: SurfacePicture, space: Any, solid: bool) -> None:
    """Name the axes; a ring has none, since angles go round it."""
    if picture.wrapped:
        ax.set_axis_off()
        reach = 1 + (TUBE if len(picture.axes.labels) == 2 else THICK)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach))
        ax.set_box_aspect((1, 1, 1), zoom=1.4)
        return
    for k, (axis, text) in enumerate(zip("xyz" if solid else "xy", picture.axes.labels, strict=True)):
        getattr(ax, f"set_{axis}label")(axis_label(_label(text, f"quantity {k + 1}"), space.units.get(text, "")))
        getattr(ax, f"set_{axis}lim")(*picture.limits[:, k])
        if picture.axes.angles[k]:
            getattr(ax, f"set_{axis}ticks")([-HALF, 0, HALF], ["−π", "0", "π"])
    if not solid and (picture.axes.angles.all() or not picture.axes.angles.any()):
        ax.set_aspect("equal")


def _explain(ax: Any, key: Any, shade: Any) -> None:
    """Say what colours and marks mean."""
    from matplotlib.patches import Patch

    words = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if isinstance(key, dict):
        words = ({name: Patch(color=colour) for name, colour in key.items()} if len(key) > 1 else {}) | words
    else:
        ax.figure.colorbar(key, ax=ax, label=_label(shade.label, "quantity"), shrink=0.7, pad=0.1)
    if words:
        if ax.name == "3d" or not isinstance(key, dict):
            ax.legend(words.values(), words.keys(), loc="upper left", fontsize=8, handlelength=1.2)
        else:
            put_key_beside(ax, words, fontsize=8, handlelength=1.2)


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
            values = np.concatenate([fold.values, fold.values[:1]]) if fold.closed else fold.values
            rows = _unbroken(values, made.turns > 0)
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


def _unbroken(rows: Array, turning: NDArray[np.bool_]) -> Array:
    """Return a line with gaps where an angle goes round."""
    jumps = np.flatnonzero(((np.abs(np.diff(rows, axis=0)) > HALF) & turning).any(axis=1))
    return np.insert(rows.astype(float), jumps + 1, np.nan, axis=0)
