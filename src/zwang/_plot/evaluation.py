"""Evaluations: multipliers as bars at one state, as curves along a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import INK, QUIET, SERIES, axes, look, number, put_key, symbol, title, words
from zwang.errors import DeclarationError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 40  # beyond it bars are hairlines
ROUNDING = 1e-13  # what is smaller than this part of the largest bar is shown as zero
QUANTITIES = {
    "multipliers": "multiplier [N, if conjugate to a length]",
    "accelerations": "acceleration",
    "gaps": "value of the constraint",
    "gap_rates": "rate of the constraint",
    "slips": "slip [m/s]",
    "energies": "energy [J]",
}


def draw_evaluation(
    result: Any, quantity: str | None = None, *, x: Any = None, xlabel: str = "", ax: Axes | None = None
) -> Axes:
    r"""Draw one quantity of an evaluation: bars at one state, curves along a batch with one axis.

    Parameters
    ----------
    result : Evaluation
    quantity : str, optional
        'multipliers', 'accelerations', 'gaps', 'gap_rates', 'slips' or 'energies'; by default the multipliers, or the
        accelerations where no constraint is active.
    x : 1-D array, optional
        What a batch is drawn over; by default the number of the state.
    xlabel : str
        What that is called.
    ax : Axes, optional

    Examples
    --------
    >>> import zwang as zw
    >>> from zwang._plot import new_figure
    >>> bars = zw.gallery.get("four_bar")
    >>> found = zw.compile(bars.system, "reference").evaluate(bars.state, bars.params)
    >>> ax = found.plot("accelerations", ax=new_figure()[1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['$\\alpha$', '$\\gamma$']
    """
    chosen = quantity or ("multipliers" if result.multipliers else "accelerations")
    if chosen not in QUANTITIES:
        raise DeclarationError(f"Evaluation.plot: there is no quantity '{chosen}'. {nearest(chosen, QUANTITIES)}")
    series = _series(result, chosen)
    if not series:
        raise DeclarationError(f"Evaluation.plot: '{result.name}' has no {chosen.replace('_', ' ')} to draw.")
    shape = np.shape(next(iter(series.values())))
    if len(shape) > 1:
        raise DeclarationError(
            f"Evaluation.plot draws one state or a batch with one axis; this batch has shape {shape}."
        )
    with look():
        ax = axes(ax, size=(6.4, 1.2 + 0.32 * min(len(series), MOST_BARS)) if not shape else (6.4, 4.0))
        if shape:
            _draw_curves(ax, series, x, xlabel, chosen)
        else:
            _draw_bars(ax, series, chosen)
        title(ax, f"{result.name}: {chosen.replace('_', ' ')}")
    return ax


def _series(result: Any, quantity: str) -> dict[str, Any]:
    if quantity == "accelerations":
        return {name: result.accelerations[i] for i, name in enumerate(result.coordinates)}
    found = dict(getattr(result, quantity))
    if quantity != "slips":
        return found
    parts: dict[str, Any] = {}
    for name, values in found.items():
        for i, part in enumerate(values):
            parts[name if len(values) == 1 else f"{name} {i + 1}"] = part
    return parts


def _label(name: str, quantity: str) -> str:
    return symbol(name) if quantity == "accelerations" else words(name)


def _draw_bars(ax: Axes, series: dict[str, Any], quantity: str) -> None:
    names = list(series)[:MOST_BARS]
    values = np.array([float(series[name]) for name in names])
    values[np.abs(values) <= ROUNDING * np.abs(values).max()] = 0.0
    places = np.arange(len(names))
    ax.barh(places, values, height=0.6, color=SERIES[0])
    ax.axvline(0, color=QUIET, linewidth=0.9)
    for place, value in zip(places, values, strict=True):
        ax.annotate(
            number(value),
            (value, place),
            xytext=(5 if value >= 0 else -5, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize=9,
            color=INK,
        )
    ax.set_yticks(places, [_label(name, quantity) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.margins(x=0.16)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    more = f"   (the first {MOST_BARS} of {len(series)})" if len(series) > MOST_BARS else ""
    ax.set_xlabel(QUANTITIES[quantity] + more)


def _draw_curves(ax: Axes, series: dict[str, Any], x: Any, xlabel: str, quantity: str) -> None:
    length = len(next(iter(series.values())))
    over = np.arange(length) if x is None else np.asarray(x, dtype=float)
    if over.shape != (length,):
        raise DeclarationError(f"Evaluation.plot: x= has shape {over.shape}, and the batch has {length} states.")
    for i, (name, values) in enumerate(list(series.items())[: len(SERIES)]):
        ax.plot(over, values, color=SERIES[i], linewidth=1.8, label=_label(name, quantity))
    ax.axhline(0, color=QUIET, linewidth=0.8, zorder=0)
    more = f"   (the first {len(SERIES)} of {len(series)})" if len(series) > len(SERIES) else ""
    ax.set(xlabel=xlabel or ("" if x is not None else "state"), ylabel=QUANTITIES[quantity] + more)
    ax.margins(x=0.01)
    if len(series) > 1:
        put_key(ax)
