"""Quantities of a motion over time or over each other: curves, ranges as bands, impulses as arrows, events as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.event_marks import draw_events
from zwang._plot.style import ALARM, QUIET, SERIES, axes, axis_label, look, put_key, symbol, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Band = tuple[Any, Any, Any]
"""Times, the least and the greatest value there."""
LONGEST = 44
"""Letters of the names at an axis; beyond it the legend alone has them."""
ONE = {"positions": "position", "velocities": "velocity", "accelerations": "acceleration", "reactions": "reaction"}
BEYOND = 1e3
"""Times the usual size of a quantity: what grows further, next to a singular point, leaves the picture."""


def draw_series(
    t: Any,
    series: Mapping[str, Any],
    *,
    events: Sequence[tuple[float, str]] = (),
    label: str = "",
    heading: str = "",
    units: Mapping[str, str] | None = None,
    bands: Mapping[str, Band] | None = None,
    impulses: Sequence[tuple[float, str, float]] = (),
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
        Drawn as lines, named above the axes; many of them are ticks, named by the legend.
    label : str
        A word for all of them, such as 'positions'.
    heading : str
    units : mapping of str to str, optional
        Of the quantities, and of the time 't'. Quantities of a second unit have the axis at the right.
    bands : mapping of str to (times, least, greatest), optional
        What is undetermined; bounds may be infinite.
    impulses : sequence of (time, name, value)
        Arrows with an axis of their own.
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> t = np.array([0.0, 1.0, 1.0, 2.0])
    >>> ax = draw_series(t, {"x": [0, 1, 1, 0], "theta": [2, 1, 1, 0]}, events=[(1.0, "impact")], ax=new_figure()[1])
    >>> len(ax.lines), [text.get_text() for text in ax.texts]
    (3, ['impact'])
    """
    known = dict(units or {})
    with look():
        ax = axes(ax)
        kinds = list(dict.fromkeys(known.get(name, "") for name in series))
        second = kinds[1] if len(kinds) == 2 and not impulses else None
        sides = dict.fromkeys(kinds, ax)
        if second is not None:
            sides[second] = _right(ax)
        colours = {name: SERIES[place % len(SERIES)] for place, name in enumerate(series)}
        for place, (name, values) in enumerate(series.items()):
            style = ("-", "--", ":", "-.")[place // len(SERIES) % 4]
            rows = np.asarray(values, dtype=float)
            side = sides[known.get(name, "")]
            shown = symbol(name) if len(kinds) < 3 else axis_label(symbol(name), known.get(name, ""))
            side.plot(t, rows, style, color=colours[name], linewidth=1.5, label=shown)
        for side in set(sides.values()):
            _keep_in_sight(side)
        _draw_bands(ax, bands or {}, colours, t)
        if impulses:
            _draw_impulses(ax, _right(ax), impulses, colours)
        for unit, side in sides.items():
            named = [name for name in series if sides[known.get(name, "")] is side]
            side.set_ylabel(_y_label(label, named, unit if len(kinds) < 3 else "", alone=second is None))
        ax.set_xlabel(axis_label("t", known.get("t", "s")))
        ax.margins(x=0.01)
        above = draw_events(ax, events)
        title(ax, heading, above=above)
        if (
            len(series) > 1
            or bands
            or impulses
            or any(not str(line.get_label()).startswith("_") for line in ax.lines[len(series) :])
        ):
            put_key(ax)
    return ax


def _right(ax: Axes) -> Axes:
    made = ax.twinx()
    made.spines["right"].set_visible(True)
    made.spines["right"].set_color(QUIET)
    return made


def _y_label(word: str, names: Sequence[str], unit: str, *, alone: bool) -> str:
    """Return what stands at an axis: the word for all, the symbols where they are few, the unit."""
    symbols = ", ".join(symbol(name) for name in names) if sum(map(len, names)) <= LONGEST else ""
    if not word or not alone:
        return axis_label(symbols or word, unit)
    return axis_label(f"{ONE.get(word, word) if len(names) == 1 else word} {symbols}".strip(), unit)


def _keep_in_sight(ax: Axes) -> None:
    """Limit the axes to usual sizes where a few rows grow far beyond them, and say so."""
    rows = [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines]
    sizes = np.abs(np.concatenate([row[np.isfinite(row)] for row in rows])) if rows else np.zeros(0)
    if not len(sizes):
        return
    usual, largest = float(np.quantile(sizes, 0.95)), float(sizes.max())
    if usual > 0 and largest > BEYOND * usual:
        inside = [row[np.abs(row) <= 4 * usual] for row in rows]
        low, high = min(row.min(initial=0.0) for row in inside), max(row.max(initial=0.0) for row in inside)
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        ax.text(0.99, 0.02, f"grows to {largest:.1e}", transform=ax.transAxes, ha="right", color=QUIET, fontsize=8)


def _draw_bands(ax: Axes, bands: Mapping[str, Band], colours: Mapping[str, str], t: Any) -> None:
    """Fill what lies between the least and the greatest value; without a bound, to the edge of the picture."""
    if not bands:
        return
    ends = np.concatenate([np.ravel(bound) for _, low, high in bands.values() for bound in (low, high)])
    finite = ends[np.isfinite(ends)]
    reached = [float(finite.min()), float(finite.max())] if len(finite) else [-1.0, 1.0]
    ax.update_datalim([(float(np.min(t)), value) for value in reached])
    ax.autoscale_view()
    bottom, top = ax.get_ylim()
    reach = top - bottom
    for name, (times, low, high) in bands.items():
        colour = colours.get(name, QUIET)
        endless = not (np.isfinite(low) | np.isnan(low)).all() or not (np.isfinite(high) | np.isnan(high)).all()
        words = "undetermined, without bound" if endless else "undetermined"
        ax.fill_between(
            times, np.clip(low, bottom - reach, top + reach), np.clip(high, bottom - reach, top + reach), color=colour,
            alpha=0.22, linewidth=0, label=f"{symbol(name)}: {words}",
        )  # fmt: skip
        for bound in (low, high):
            ax.plot(times, np.where(np.isfinite(bound), bound, np.nan), color=colour, linewidth=0.8)
    ax.set_ylim(bottom, top)


def _draw_impulses(
    forces: Axes, ax: Axes, impulses: Sequence[tuple[float, str, float]], colours: Mapping[str, str]
) -> None:
    """Draw arrows from zero, one for each impulse; their axis is at the right, its zero that of the forces."""
    sizes = [value for _, _, value in impulses]
    low, high = forces.get_ylim()
    low, high = min(low, 0.0), max(high, 0.0)
    if not any(np.any(np.asarray(line.get_ydata(), dtype=float)) for line in forces.lines):
        low, high = -1.0 if min(sizes) < 0 else 0.0, 1.0 if max(sizes) > 0 else 0.0
    low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    forces.set_ylim(low, high)
    reach = 1.12 * max(*(value / high for value in sizes), *(value / low for value in sizes))
    ax.set_ylim(low * reach, high * reach)
    named: set[str] = set()
    for time, name, value in impulses:
        colour = colours.get(name, ALARM)
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (time, value), (time, 0.0), arrowprops=arrow)
        if name not in named:
            named.add(name)
            ax.plot([], [], "-", marker="^", color=colour, linewidth=2.2, label=f"impulse, {symbol(name)}")
    ax.set_ylabel("impulse [N s]")


def draw_path(
    across: str,
    x: Any,
    series: Mapping[str, Any],
    *,
    heading: str = "",
    units: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw quantities against another one: paths in the plane, phase portraits.

    Parameters
    ----------
    across : str
        The quantity to the right.
    x : (k,) array
    series : mapping of str to (k,) array
    heading : str
    units : mapping of str to str, optional
    ax : Axes, optional

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> draw_path("x", [0, 1], {"y": [1, 0]}, ax=new_figure()[1]).get_ylabel()
    '$y$'
    """
    known = dict(units or {})
    with look():
        ax = axes(ax, size=(5.2, 4.6))
        for place, (name, values) in enumerate(series.items()):
            colour = SERIES[place % len(SERIES)]
            rows = np.asarray(values, dtype=float)
            ax.plot(x, rows, color=colour, linewidth=1.5, label=symbol(name))
            ax.plot(x[0], rows[0], "o", color=colour, markersize=5)
        ax.set_xlabel(axis_label(symbol(across), known.get(across, "")))
        shared = {known.get(name, "") for name in series}
        ax.set_ylabel(axis_label(", ".join(symbol(name) for name in series), shared.pop() if len(shared) == 1 else ""))
        title(ax, heading)
        if len(series) > 1:
            put_key(ax)
    return ax
