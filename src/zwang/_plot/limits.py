"""Limits: errors over the strength with their slopes, the oscillating force with its mean, motions that fan in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang._plot.style import INK, PALE, QUIET, SERIES, axes, look, put_key, title, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = "osD^vP"


def draw_errors(
    strengths: ArrayLike,
    errors: Mapping[str, ArrayLike],
    orders: Mapping[str, Any],
    *,
    heading: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw errors over the strength, both logarithmic, with the fitted powers as lines.

    Parameters
    ----------
    strengths : (s,)
    errors : mapping of quantity to (s,)
    orders : mapping of quantity to what has `value`, `coefficient` and `used`
    heading : str
    ax : Axes, optional

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from zwang._plot import new_figure
    >>> order = SimpleNamespace(value=-1.0, coefficient=1.0, used=(0, 1, 2))
    >>> ax = draw_errors([1e1, 1e2, 1e3], {"position": [0.1, 0.01, 0.001]}, {"position": order}, ax=new_figure()[1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['position: order -1.00']
    """
    x = np.asarray(strengths, dtype=float)
    hollow = False
    with look():
        ax = axes(ax)
        for k, (name, values) in enumerate(errors.items()):
            y = np.asarray(values, dtype=float)
            shown = np.isfinite(y) & (y > 0)
            if not shown.any():
                continue
            order, colour = orders[name], SERIES[k % len(SERIES)]
            fitted = np.isfinite(order.value)
            label = f"{name}: order {order.value:+.2f}".replace("+0.00", "0.00").replace("+", "") if fitted else name
            filled = np.isin(np.arange(len(x)), order.used)
            faces = [colour if item else "white" for item in filled[shown]]
            ax.plot([], [], MARKS[k % len(MARKS)], color=colour, ls="-", label=label)
            size = 90.0 * 0.7**k  # one that coincides with another is seen inside it
            ax.scatter(
                x[shown], y[shown], size, marker=MARKS[k % len(MARKS)], facecolors=faces, edgecolors=colour, zorder=3
            )
            hollow = hollow or not filled[shown].all()
            if fitted and len(order.used) > 1:
                ends = x[[order.used[0], order.used[-1]]]
                ax.plot(ends, order.coefficient * ends**order.value, "-", color=colour, lw=1.2)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("strength")
        ax.set_ylabel("largest distance to the ideal motion")
        if hollow:
            ax.plot([], [], "o", color=QUIET, markerfacecolor="white", label="hollow: not in the fit")
        title(ax, heading)
        put_key(ax)
    return ax


def draw_force(
    times: ArrayLike,
    ranges: tuple[ArrayLike, ArrayLike],
    averages: ArrayLike,
    mean: ArrayLike,
    ideal: ArrayLike,
    *,
    name: str,
    strength: float,
    heading: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the range of an oscillating force in each cell of time, its averages, and the ideal reaction.

    Parameters
    ----------
    times : (k + 1,)
        Edges of the cells.
    ranges : two arrays (k,)
        Least and greatest force in each cell.
    averages : (k,)
        Means over each cell at this strength.
    mean, ideal : (k + 1,)
        The weak limit and the ideal reaction.
    name : str
        Of the constraint.
    strength : float
    heading : str
    ax : Axes, optional
    """
    t = np.asarray(times, dtype=float)
    low, high = (np.asarray(item, dtype=float) for item in ranges)
    with look():
        ax = axes(ax)
        ax.fill_between(t, np.append(low, low[-1]), np.append(high, high[-1]), step="post", color=PALE, lw=0,
                        label=f"range at strength {strength:.3g}")  # fmt: skip
        ax.plot((t[:-1] + t[1:]) / 2, averages, color=SERIES[5], lw=0.8, label="mean in each cell of time")
        ax.plot(t, mean, color=SERIES[0], lw=1.8, label="weak limit")
        ax.plot(t, ideal, "--", color=INK, lw=1.2, label="ideal reaction")
        ax.set_xlabel("t [s]")
        ax.set_ylabel(f"force of {words(name)}")
        title(ax, heading)
        put_key(ax)
    return ax


def draw_fan(
    times: ArrayLike, distances: ArrayLike, strengths: ArrayLike, *, heading: str = "", ax: Axes | None = None
) -> Axes:
    """Draw the distance of each realized motion to the ideal one over time, lighter for smaller strengths.

    Parameters
    ----------
    times : (k + 1,)
    distances : (s, k + 1)
    strengths : (s,)
    heading : str
    ax : Axes, optional
    """
    rows, values = np.asarray(distances, dtype=float), np.asarray(strengths, dtype=float)
    with look():
        ax = axes(ax)
        for k, (row, strength) in enumerate(zip(rows, values, strict=True)):
            share = 0.25 + 0.75 * k / max(len(rows) - 1, 1)
            shown = np.where(row > 0, row, np.nan)
            ax.plot(times, shown, color=SERIES[0], alpha=share, lw=1.0)
            if np.isfinite(shown[-1]):
                ax.annotate(f"{strength:.0e}", (np.asarray(times)[-1], shown[-1]), xytext=(3, 0), color=QUIET,
                            textcoords="offset points", fontsize=8, va="center")  # fmt: skip
        ax.set_yscale("log")
        ax.set_xlabel("t [s]")
        ax.set_ylabel("distance to the ideal motion")
        title(ax, heading)
    return ax
