"""Maps: how many solutions there are, or what happens, over two parameters or over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang._plot.regions import cell_edges, draw_regions
from zwang._plot.style import ALARM, INK, PALE, axes, look
from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What a point of a map can be: words for the legend, colour, hatching.
CATEGORIES: tuple[tuple[str, str, str], ...] = (
    ("no solution", ALARM, ""),
    ("one solution", PALE, ""),
    ("one acceleration, several reactions", "#bcd3c9", ""),
    ("two solutions", "#56b4e9", ""),
    ("three or more solutions", "#0b4f7d", ""),
    ("at least one solution", "#f5e9c8", "..."),
    ("undecided", "#f5e9c8", "xxx"),
    ("singular point", INK, ""),
    ("the state violates a constraint", "#ffffff", "////"),
)
# Where a status alone says the category; the others follow from the count.
BY_STATUS = {"NONE": 0, "UNIQUE_MOTION": 2, "FOUND": 5, "UNDECIDED": 6, "SINGULAR": 7, "INADMISSIBLE": 8}
HAPPENINGS: tuple[tuple[str, str, str], ...] = (
    ("holds", PALE, ""),
    ("slides", "#e69f00", ""),
    ("tips", "#56b4e9", ""),
    ("lifts", "#0b4f7d", ""),
    ("moves", "#bcd3c9", ""),
    ("none", ALARM, ""),
    ("several", "#7b4a9c", ""),
    ("undecided", "#f5e9c8", "xxx"),
    ("singular", INK, ""),
    ("inadmissible", "#ffffff", "////"),
)
"""What can happen at a state: word, colour, hatching."""
EDGE = "#a0a8b0"


def categories(counts: ArrayLike, codes: ArrayLike, statuses: Sequence[str]) -> NDArray[np.int8]:
    """Return the place in `CATEGORIES` of every point.

    Parameters
    ----------
    counts : int array
        Numbers of solutions.
    codes : int array of the same shape
        Place of the status of each point in `statuses`.
    statuses : sequence of str
        Names of the statuses.

    Examples
    --------
    >>> categories([0, 1, 2, 5, 0], [0, 1, 2, 2, 3], ("NONE", "UNIQUE", "MULTIPLE", "INADMISSIBLE"))
    array([0, 1, 3, 4, 8], dtype=int8)
    """
    numbers = np.asarray(counts)
    by_count = np.array([0, 1, 3, 4], dtype=np.int8)[np.clip(numbers, 0, 3)]
    table = np.array([BY_STATUS.get(name, -1) for name in statuses], dtype=np.int8)
    found = table[np.asarray(codes)]
    kinds: NDArray[np.int8] = np.where(found >= 0, found, by_count).astype(np.int8)
    return kinds


def draw_counts(
    counts: ArrayLike,
    codes: ArrayLike,
    statuses: Sequence[str],
    values: Sequence[ArrayLike],
    labels: Sequence[str],
    *,
    ax: Axes | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the number of solutions over two parameters as a map, over one as steps.

    Parameters
    ----------
    counts, codes, statuses
        See `categories`; arrays (n,) or (rows, columns).
    values : sequence of 1-D arrays
        Values of the parameter along each axis of the arrays, strictly monotone.
    labels : sequence of str
        What the parameters are called. The last axis of the arrays runs to the right.
    ax : Axes, optional
    legend : bool
        Whether to say below the map in words what the colours mean.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> statuses = ("NONE", "UNIQUE")
    >>> _, ax = new_figure()
    >>> ax = draw_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]], statuses, [[0, 1], [0, 2]], ["mu", "theta"], ax=ax)
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('mu', ['no solution', 'one solution'])
    """
    kinds = categories(counts, codes, statuses)
    return _drawn(kinds, CATEGORIES, values, labels, ax, legend=legend, counts=np.asarray(counts))


def draw_happenings(
    words: ArrayLike,
    values: Sequence[ArrayLike],
    labels: Sequence[str],
    *,
    ax: Axes | None = None,
    legend: bool = True,
) -> Axes:
    """Draw what happens over two parameters as a map, over one as a band.

    Parameters
    ----------
    words : array (n,) or (rows, columns) of str
        Of `HAPPENINGS`.
    values, labels, ax, legend
        As for `draw_counts`.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> ax = draw_happenings([["holds", "slides"]] * 2, [[0, 1], [0, 2]], ["mu", "theta"], ax=new_figure()[1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['holds', 'slides']
    """
    known = [word for word, _, _ in HAPPENINGS]
    given = np.asarray(words)
    kinds = np.array([known.index(word) for word in given.ravel()], dtype=np.int8).reshape(given.shape)
    return _drawn(kinds, HAPPENINGS, values, labels, ax, legend=legend)


def _drawn(
    kinds: NDArray[np.int8],
    table: Sequence[tuple[str, str, str]],
    values: Sequence[ArrayLike],
    labels: Sequence[str],
    ax: Axes | None,
    *,
    legend: bool,
    counts: Any = None,
) -> Axes:
    """Draw places in a table of words, colours and hatchings; over one parameter with steps of counts, if given."""
    if kinds.ndim not in (1, 2) or len(values) != kinds.ndim or len(labels) != kinds.ndim:
        raise DeclarationError(
            f"A map of shape {kinds.shape} with {len(values)} named axes can't be drawn: a picture has one or two axes."
        )
    grids = [np.asarray(item, dtype=float) for item in values]
    with look():
        ax = axes(ax)
        present = [place for place in range(len(table)) if np.any(kinds == place)]
        if kinds.ndim == 1:
            _draw_band(ax, grids[0], kinds, present, table)
            ax.set(xlabel=labels[0], yticks=[])
            if counts is not None:
                _draw_steps(ax, grids[0], counts)
                ax.set(ylabel="number of solutions")
        else:
            _draw_map(ax, grids[1], grids[0], kinds, present, table)
            ax.set(xlabel=labels[1], ylabel=labels[0])
        if legend:
            _draw_legend(ax, present, table)
    return ax


def _draw_map(ax: Axes, x: Any, y: Any, kinds: NDArray[np.int8], present: list[int], table: Any) -> None:
    place = np.zeros(len(table), dtype=np.int8)
    place[present] = np.arange(len(present))
    draw_regions(ax, x, y, place[kinds], [table[item][1] for item in present])
    for item in present:
        hatch = table[item][2]
        if hatch and min(kinds.shape) > 1:
            filled = ax.contourf(x, y, kinds == item, levels=[0.5, 1.5], colors="none", hatches=[hatch])
            filled.set_edgecolor(EDGE)
            filled.set_linewidth(0.0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(True)
    ax.tick_params(direction="out")


def _draw_band(ax: Axes, x: Any, kinds: NDArray[np.int8], present: list[int], table: Any) -> None:
    edges = cell_edges(x)
    for item in present:
        _, colour, hatch = table[item]
        where = np.flatnonzero(kinds == item)
        for run in np.split(where, np.flatnonzero(np.diff(where) > 1) + 1):
            ax.axvspan(edges[run[0]], edges[run[-1] + 1], color=colour, hatch=hatch, linewidth=0)
    ax.set_xlim(*sorted((edges[0], edges[-1])))


def _draw_steps(ax: Axes, x: Any, counts: Any) -> None:
    ax.stairs(counts, cell_edges(x), color=INK, linewidth=1.6, baseline=None)
    top = int(np.max(counts, initial=1))
    ax.set_yticks(range(top + 1))
    ax.set_ylim(-0.15, top + 0.35)


def _draw_legend(ax: Axes, present: list[int], table: Any) -> None:
    from matplotlib.patches import Patch

    marks = []
    for item in present:
        words, colour, hatch = table[item]
        marks.append(Patch(facecolor=colour, edgecolor=EDGE, linewidth=0.6, hatch=hatch, label=words))
    ax.legend(
        handles=marks,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.01),
        borderaxespad=0.0,
        ncols=min(len(marks), 3),
        columnspacing=1.4,
    )
