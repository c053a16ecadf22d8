"""A tree of motions: over time, and its motions over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import ALARM, QUIET, SERIES, axes, look, put_key, symbol, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 60
"""Letters of a way in words that a picture shows."""
Span = tuple[float, float, "int | None", str, str]
"""Start, end, the number of the motion from whose end it starts, what was taken, and how it ended."""


def draw_tree(spans: Sequence[Span], *, heading: str = "", ax: Axes | None = None) -> Axes:
    """Draw motions as lines over time, each from the end of the one that it continues.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> spans = [(0, 1, None, "", "CHOICE"), (1, 2, 0, "tip open", "REACHED"), (1, 2, 0, "tip slip-", "REACHED")]
    >>> ax = draw_tree(spans, ax=new_figure()[1])
    >>> [text.get_text() for text in ax.texts]
    ['tip open', 'tip slip-']
    """
    heights = _heights([span[2] for span in spans])
    with look():
        ax = axes(ax)
        for height, (start, end, parent, taken, status) in zip(heights, spans, strict=True):
            if parent is not None:
                ax.plot([start, start], [heights[parent], height], color=QUIET, linewidth=1.0)
            ax.plot([start, end], [height, height], color=SERIES[0], linewidth=1.8, solid_capstyle="butt")
            good = status == "REACHED"
            ax.plot([end], [height], "o", markersize=4, color=SERIES[0] if good else ALARM)
            if taken:
                shown = taken if len(taken) <= LONGEST else taken[: LONGEST - 3] + "..."
                ax.text(start, height, shown, fontsize="small", va="bottom", ha="left")
        ax.set_xlabel("t [s]")
        ax.set_yticks([])
        if heading:
            title(ax, heading)
        ax.margins(x=0.02, y=0.1)
    return ax


def _heights(parents: Sequence[int | None]) -> list[float]:
    """Return a height for each motion: leaves one below the other, the others in the middle of what follows."""
    children: dict[int, list[int]] = {}
    for place, parent in enumerate(parents):
        if parent is not None:
            children.setdefault(parent, []).append(place)
    heights = [0.0] * len(parents)
    left = iter(range(len(parents)))

    def put(place: int) -> float:
        below = [put(child) for child in children.get(place, ())]
        heights[place] = sum(below) / len(below) if below else -float(next(left))
        return heights[place]

    for place, parent in enumerate(parents):
        if parent is None:
            put(place)
    return heights


def draw_motions(
    series: Sequence[tuple[Any, Mapping[str, Any]]],
    names: Sequence[str],
    *,
    heading: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the same quantities of several motions over each other, each motion in its own colour."""
    with look():
        ax = axes(ax)
        for place, ((t, values), name) in enumerate(zip(series, names, strict=True)):
            for number, (key, rows) in enumerate(values.items()):
                shown = name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
                ax.plot(
                    t,
                    np.asarray(rows, dtype=float),
                    ("-", "--", ":", "-.")[number % 4],
                    color=SERIES[place % len(SERIES)],
                    linewidth=1.5,
                    label=f"{symbol(key)}, {shown}" if shown else symbol(key),
                )
        ax.set_xlabel("t [s]")
        ax.margins(x=0.01)
        title(ax, heading)
        put_key(ax, fontsize="small")
    return ax
