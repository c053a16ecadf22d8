"""Quantities of a motion over time, with its events as lines that carry their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import ALARM, QUIET, SERIES, axes, look, symbol, title, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 12
MOST_LINES = 200


def draw_series(
    t: Any,
    series: Mapping[str, Any],
    *,
    events: Sequence[tuple[float, str]] = (),
    label: str = "",
    heading: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw quantities over time.

    Parameters
    ----------
    t : (k,) array [s]
        A time may come twice, where something jumps.
    series : mapping of str to (k,) array
        nan where a quantity is undetermined: the line has a gap there.
    events : sequence of (time, text)
        Drawn as lines; up to twelve are named.
    label, heading : str
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> t = np.array([0.0, 1.0, 1.0, 2.0])
    >>> ax = draw_series(t, {"x": [0, 1, 1, 0], "theta": [2, 1, 1, 0]}, events=[(1.0, "impact")], ax=new_figure()[1])
    >>> len(ax.lines), [text.get_text() for text in ax.texts]
    (3, ['impact'])
    """
    with look():
        ax = axes(ax)
        for place, (name, values) in enumerate(series.items()):
            style = "-" if place < len(SERIES) else "--"
            ax.plot(
                t,
                np.asarray(values, dtype=float),
                style,
                color=SERIES[place % len(SERIES)],
                linewidth=1.5,
                label=symbol(name),
            )
        _draw_events(ax, events)
        ax.set_xlabel("t [s]")
        ax.set_ylabel(label)
        if heading:
            title(ax, heading)
        if len(series) > 1 or (series and not label):
            ax.legend(ncols=1 + len(series) // 6, loc="best")
        ax.margins(x=0.01)
    return ax


def _draw_events(ax: Axes, events: Sequence[tuple[float, str]]) -> None:
    shown = list(events)[:MOST_LINES]
    named = len(shown) <= MOST_NAMED
    for time, text in shown:
        ax.axvline(time, color=ALARM if named else QUIET, linewidth=0.8, alpha=0.7 if named else 0.3, zorder=0)
        if named:
            ax.text(
                time,
                1.0,
                words(text),
                transform=ax.get_xaxis_transform(),
                rotation=90,
                ha="right",
                va="top",
                fontsize=8,
                color=ALARM,
            )


def draw_path(across: str, x: Any, series: Mapping[str, Any], *, heading: str = "", ax: Axes | None = None) -> Axes:
    """Draw quantities against another one: paths in the plane, phase portraits.

    Parameters
    ----------
    across : str
        The quantity to the right.
    x : (k,) array
    series : mapping of str to (k,) array
    heading : str
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> draw_path("x", [0, 1], {"y": [1, 0]}, ax=new_figure()[1]).get_ylabel()
    '$y$'
    """
    with look():
        ax = axes(ax, size=(5.2, 4.6))
        for place, (name, values) in enumerate(series.items()):
            colour = SERIES[place % len(SERIES)]
            ax.plot(x, np.asarray(values, dtype=float), color=colour, linewidth=1.5, label=symbol(name))
            ax.plot(x[0], values[0], "o", color=colour, markersize=5)
        ax.set_xlabel(symbol(across))
        ax.set_ylabel(symbol(next(iter(series))) if len(series) == 1 else "")
        if len(series) > 1:
            ax.legend()
        if heading:
            title(ax, heading)
    return ax
