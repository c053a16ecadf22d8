"""The picture of an `Asymptotics`: how quantities grow on the ways into a singular point, on logarithmic axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import QUIET, SERIES, axes, look, put_key, title, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {"without": "-", "+": "--", "-": ":"}


def draw_growth(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw every measured quantity over the distance or abs(eps); return the Axes.

    Rows that coincide (by symmetry, or for both signs of a multiplier) are drawn once; one colour for each approach and
    quantity, full lines without friction, dashed and dotted ones with it.
    """
    with look():
        ax = axes(ax)
        drawn: set[tuple[Any, ...]] = set()
        colours: dict[tuple[str, str], str] = {}
        for row in result.rows:
            if not len(row.x) or not np.all(row.values):
                continue
            power = _power(row.exponent)
            key = (row.approach if row.sign else "", row.quantity, power, f"{abs(row.coefficient):.6g}")
            if key in drawn:
                continue
            drawn.add(key)
            colour = colours.setdefault(key[:2], SERIES[len(colours) % len(SERIES)])
            parts = [words(row.quantity)] + ([words(row.approach)] if row.sign else [])
            parts += [] if row.friction == "without" else ["with friction"]
            label = f"{', '.join(parts)}: {power}"
            style = STYLES.get(row.friction, "-.")
            ax.plot(row.x, np.abs(row.values), style, color=colour, marker="o", markersize=3, label=label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("|eps|" if result.perturbed is not None else words(str(result.section)))
        ax.set_ylabel("size of the reaction")
        if drawn:
            put_key(ax, labelcolor="linecolor")
        else:
            ax.text(0.5, 0.5, result.status.value, transform=ax.transAxes, ha="center", color=QUIET)
        title(ax, f"{result.name}: reactions near its {result.kind}")
    return ax


def _power(exponent: float) -> str:
    return "zero" if math.isinf(exponent) else f"exponent {round(exponent, 4) + 0.0:.4g}".replace("-", "−")
