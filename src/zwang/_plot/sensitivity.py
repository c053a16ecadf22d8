"""Pictures of sensitivities and fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import QUIET, SERIES, axes, look, put_key, symbol, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERCENT = 0.01  # of a parameter, by which curves of a family differ


def draw_sensitivity(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw, as bars, what one percent of each varied thing does to each value of the end."""
    motion = found.motion
    names = [*motion.coordinates, *motion.velocities]
    given = {**motion.params, **motion.at(float(motion.t[0]))}
    with look():
        ax = axes(ax)
        place = np.arange(len(names))
        known = found.derivatives.get("end", {})
        width = 0.8 / max(len(known), 1)
        for k, (name, slope) in enumerate(known.items()):
            step = PERCENT * abs(given.get(name, 0.0)) or PERCENT
            ax.bar(
                place + k * width, np.asarray(slope) * step, width, color=SERIES[k % len(SERIES)], label=symbol(name)
            )
        ax.set_xticks(place + 0.4, [symbol(name) for name in names])
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
        ax.set_ylabel("change of the end by 1 % of")
        if known:
            put_key(ax)
        title(ax, f"{found.name}: sensitivity of the end")
    return ax


def draw_fit(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the data as points and the fitted values as lines."""
    with look():
        ax = axes(ax)
        for k, (name, (times, values)) in enumerate(found.data.items()):
            colour = SERIES[k % len(SERIES)]
            ax.plot(times, values, "o", color=colour, markersize=3, linestyle="none", label=symbol(name))
            ax.plot(times, values - found.residuals[name], color=colour)
        ax.set_xlabel("t [s]")
        put_key(ax)
        title(ax, f"{found.name}: data and fit")
    return ax


def draw_history(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw averages over time as they settle."""
    with look():
        ax = axes(ax)
        for k, values in enumerate(np.asarray(found.history).T):
            ax.plot(found.times, values, color=SERIES[k % len(SERIES)])
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
        ax.set_xlabel("t [s]")
        ax.set_ylabel("Lyapunov exponents [1/s]")
        title(ax, f"{found.name}: Lyapunov exponents")
    return ax
