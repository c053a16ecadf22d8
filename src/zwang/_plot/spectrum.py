"""Pictures of numbers in the complex plane: eigenvalues of small motions, multipliers of cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import ALARM, PALE, QUIET, SERIES, axes, look, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_eigenvalues(values: Any, name: str, *, ax: Axes | None = None) -> Axes:
    """Draw eigenvalues; those that grow are in the colour of alarm."""
    with look():
        ax = axes(ax)
        ax.axvline(0.0, color=QUIET, linewidth=0.8)
        ax.axhline(0.0, color=PALE, linewidth=0.8)
        size = float(np.abs(values).max(initial=0.0))
        _points(ax, values, np.real(values) > 1e-9 * size)
        ax.set_xlabel("real part [1/s]")
        ax.set_ylabel("imaginary part [rad/s]")
        title(ax, f"{name}: eigenvalues")
    return ax


def draw_multipliers(values: Any, name: str, *, ax: Axes | None = None) -> Axes:
    """Draw multipliers of a cycle with the unit circle; those outside it are in the colour of alarm."""
    with look():
        ax = axes(ax)
        turn = np.linspace(0.0, 2 * np.pi, 200)
        ax.plot(np.cos(turn), np.sin(turn), color=QUIET, linewidth=0.8)
        _points(ax, values, np.abs(values) > 1.0 + 1e-6)
        ax.set_aspect("equal")
        ax.set_xlabel("real part")
        ax.set_ylabel("imaginary part")
        title(ax, f"{name}: multipliers of the cycle")
    return ax


def _points(ax: Axes, values: Any, alarming: Any) -> None:
    for chosen, colour in ((~alarming, SERIES[0]), (alarming, ALARM)):
        ax.plot(np.real(values[chosen]), np.imag(values[chosen]), "o", color=colour, markersize=6, linestyle="none")
