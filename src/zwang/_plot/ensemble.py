"""Many motions in one picture: lines where they are few, ranges of them where they are many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import ALARM, SERIES, axes, axis_label, look, put_key, symbol, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 40
"""Motions that are drawn as lines."""
RANGES = ((0.05, 0.95, 0.18, "nine tenths"), (0.25, 0.75, 0.32, "half of the motions"))


def draw_ensemble(
    times: Any,
    rows: Any,
    ends: Any,
    *,
    name: str,
    statuses: Any,
    heading: str = "",
    units: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one quantity of many motions over time.

    Parameters
    ----------
    times : (k,)
    rows : (k, motions)
        nan where a motion had ended.
    ends : (2, motions)
        Time and value at the end of each.
    name : str
        Of the quantity.
    statuses : (motions,)
        Names; ends of motions that did not reach theirs are marked.
    heading : str
    units : mapping, optional
    ax : Axes, optional
    """
    known = dict(units or {})
    with look():
        ax = axes(ax)
        if rows.shape[1] <= MOST_LINES:
            from matplotlib import colormaps

            shades = colormaps["viridis"](np.linspace(0.0, 0.9, rows.shape[1]))
            for column, shade in zip(rows.T, shades, strict=True):
                ax.plot(times, column, color=shade, linewidth=1.1)
        else:
            _draw_ranges(ax, times, rows)
        early = np.asarray(statuses) != "REACHED"
        if early.any():
            kinds = ", ".join(sorted(set(np.asarray(statuses)[early])))
            ax.plot(*ends[:, early], "x", color=ALARM, markersize=5, linestyle="none", label=f"ended early: {kinds}")
        ax.set_xlabel(axis_label("t", known.get("t", "s")))
        ax.set_ylabel(axis_label(symbol(name), known.get(name, "")))
        ax.margins(x=0.01)
        title(ax, heading)
        put_key(ax)
    return ax


def _draw_ranges(ax: Axes, times: Any, rows: Any) -> None:
    """Draw the median, and between which values parts of the motions that go on still are."""
    alive = ~np.isnan(rows).all(axis=1)
    t, shown = np.asarray(times)[alive], rows[alive]
    for low, high, shade, words in RANGES:
        bounds = np.nanquantile(shown, [low, high], axis=1)
        ax.fill_between(t, *bounds, color=SERIES[0], alpha=shade, linewidth=0, label=words)
    ax.plot(t, np.nanmedian(shown, axis=1), color=SERIES[0], linewidth=1.6, label="median")
