"""Regions of a map: where each kind is, with edges that run between the samples instead of along their cells.

An edge passes between two neighbours of different kinds, somewhere; drawn through the middle it is a staircase. Here it
is a string that is pulled tight between the samples, so that straight edges come out straight, and no sample lies on
the wrong side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MARGIN = 0.05
"""How near an edge may come to a sample, in cells."""
ROUNDS = 400
"""Of pulling: an edge becomes straight over as many cells as the root of it."""
FEW = 8
"""Corners of an outline around a sample or two, which would be pulled together."""
MOST_EDGES = 0.1
"""Share of neighbours that differ beyond which a map is noise, not regions: cells are drawn then."""


def draw_regions(ax: Axes, x: Any, y: Any, places: NDArray[Any], colours: Sequence[str], *, line: float = 0.0) -> None:
    """Fill a map with colours.

    Parameters
    ----------
    ax : Axes
    x, y : 1-D arrays
        Values of the columns and rows, strictly monotone.
    places : (rows, columns) int array
        Place in `colours` of every sample.
    colours : sequence of str
    line : float
        Width [points] of a white line between the regions.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> _, ax = new_figure()
    >>> draw_regions(ax, [0, 1, 2], [0, 1], np.array([[0, 0, 1], [0, 1, 1]]), ["#ffffff", "#000000"])
    >>> [float(end) for end in ax.get_xlim()]
    [-0.5, 2.5]
    """
    centres = [np.asarray(item, dtype=float) for item in (x, y)]
    edges = [cell_edges(item) for item in centres]
    borders = sum(int((np.diff(places, axis=axis) != 0).sum()) for axis in (0, 1))
    if places.size > 100 and borders > MOST_EDGES * 2 * places.size:
        _draw_cells(ax, edges, places, colours)
    else:
        _draw_nested(ax, centres, edges, places, colours, line)
    ax.set_xlim(*sorted(edges[0][[0, -1]]))
    ax.set_ylim(*sorted(edges[1][[0, -1]]))


def cell_edges(centres: Any) -> Any:
    """Return the borders of the cells around strictly monotone points."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    steps = np.diff(centres)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        raise DeclarationError("The values along an axis of a map must rise or fall throughout.")
    middle = centres[:-1] + steps / 2
    return np.concatenate([[centres[0] - steps[0] / 2], middle, [centres[-1] + steps[-1] / 2]])


def _draw_cells(ax: Axes, edges: Sequence[Any], places: NDArray[Any], colours: Sequence[str]) -> None:
    from matplotlib.colors import ListedColormap

    table = ListedColormap(list(colours))
    ax.pcolormesh(*edges, places, cmap=table, vmin=-0.5, vmax=len(colours) - 0.5, rasterized=True, shading="flat")


def _draw_nested(
    ax: Axes,
    centres: Sequence[Array],
    edges: Sequence[Array],
    places: NDArray[Any],
    colours: Sequence[str],
    line: float,
) -> None:
    """Draw all but the most frequent kind over it, then all but these two over them, ...: no gap between regions."""
    from matplotlib.patches import PathPatch, Rectangle

    order = np.argsort(-np.bincount(places.ravel(), minlength=len(colours)), kind="stable")
    (x0, x1), (y0, y1) = (ends[[0, -1]] for ends in edges)
    ax.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colours[order[0]], linewidth=0))
    grids = [np.concatenate([ends[:1], item, ends[-1:]]) for item, ends in zip(centres, edges, strict=True)]
    for number in range(1, len(order)):
        for path in _paths(np.isin(places, order[number:]), grids):
            ax.add_patch(PathPatch(path, facecolor=colours[order[number]], edgecolor="white", linewidth=line))


def _paths(inside: NDArray[np.bool_], grids: Sequence[Array]) -> Iterator[Any]:
    """Yield the regions, each with its holes, in the coordinates of the map."""
    from matplotlib.path import Path

    for rings in outlines(inside):
        points = np.concatenate(rings)
        at = np.stack([np.interp(points[:, k], np.arange(len(grids[k])), grids[k]) for k in (0, 1)], axis=1)
        codes = [code for ring in rings for code in (Path.MOVETO, *[Path.LINETO] * (len(ring) - 2), Path.CLOSEPOLY)]
        yield Path(at, codes)


def outlines(inside: NDArray[np.bool_]) -> list[list[Array]]:
    """Return the regions of samples that are inside: for each its closed outline and those of its holes.

    Corners are (column, row) with 1 for the first sample: the border of the map is at 0 and at one more than there are.

    Examples
    --------
    >>> column, row = np.meshgrid(np.arange(1, 41), np.arange(1, 41))
    >>> ((ring,),) = outlines(row < 10.3 + 0.43 * column)
    >>> inner = ring[(ring > 0).all(axis=1) & (ring < 41).all(axis=1)]
    >>> bool(np.abs(inner[:, 1] - 10.3 - 0.43 * inner[:, 0]).max() < 0.3)
    True
    """
    from contourpy import FillType, contour_generator

    field = np.pad(inside, 1, mode="edge").astype(float)
    made = contour_generator(z=field, fill_type=FillType.OuterOffset).filled(0.5, 2.0)
    top = np.array(field.shape[::-1]) - 1.0
    found = []
    for points, offsets in zip(*made, strict=True):
        rings = [points[start:end] for start, end in pairwise(offsets)]
        found.append([_pulled(np.asarray(ring, dtype=float), top) for ring in rings])
    return found


def _pulled(ring: Array, top: Array) -> Array:
    """Return a closed outline pulled tight; a corner slides between the two samples that it separates."""
    if len(ring) <= FEW:
        return ring
    P = ring[:-1].copy()
    free = P % 1 == 0.5  # a corner of the map has none
    border = ((P == 0) | (top == P)).any(axis=1)
    inner = free & ~border[:, None]
    reach = 0.5 - MARGIN
    low, high = P - reach, P + reach
    for _ in range(ROUNDS):
        before, after = np.roll(P, 1, axis=0), np.roll(P, -1, axis=0)
        # Where the chord of its neighbours, which lie to both sides, meets the line on which a corner slides.
        way = (after - before)[:, ::-1]
        share = (P - before)[:, ::-1] / np.where(way == 0, 1.0, way)
        chord = before + np.clip(share, 0, 1) * (after - before)
        P = np.where(inner, np.clip((P + chord) / 2, low, high), P)
    for k in np.flatnonzero(border & free.any(axis=1)):  # it meets the border where it comes from
        beside = next((j for j in (k - 1, (k + 1) % len(P)) if not border[j]), k)
        P[k] = np.where(free[k], np.clip(P[beside], low[k], high[k]), P[k])
    return _thinned(np.concatenate([P, P[:1]]))


def _thinned(ring: Array) -> Array:
    """Return a closed outline without the corners on its straight stretches, to a fraction of `MARGIN`."""
    from matplotlib.path import Path

    scale = 4.0  # matplotlib's own threshold is a ninth of a unit
    found = Path(scale * ring).cleaned(simplify=True)
    kept = np.asarray(found.vertices)[found.codes != Path.STOP] / scale
    return np.concatenate([kept, kept[:1]]) if len(kept) > 2 and not np.array_equal(kept[0], kept[-1]) else kept
