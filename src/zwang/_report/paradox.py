"""The showpiece: how many accelerations the Painlevé rod has, over its angle and the friction of the floor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang import gallery
from zwang._compile import Model, compile
from zwang._plot import new_figure
from zwang._plot.style import INK
from zwang._reactions.holding import hold
from zwang._reactions.verb import reactions
from zwang._results.reactions_map import ReactionsMap

Array = NDArray[np.float64]
SPIN = 3.3  # rad/s, of the rod in the map
SLIP = -1.0  # m/s, of the tip; only its sign counts
HIGHEST = 3.0  # the largest coefficient of the map
ON_STRONG, ON_BRIGHT = "#fefefe", "#1b1f24"
"""Letters on the colours of none and two, which are the same on light and dark pages."""


@dataclass(frozen=True)
class Paradox:
    """The map, the rod at three of its points, and where the paradox begins.

    Attributes
    ----------
    map : ReactionsMap
        Over mu (rows) and theta (columns), for a tip that slides with 1 m/s and a rod that turns with 3.3 rad/s.
    examples : tuple of (theta, mu, Reactions)
        One with one solution, one with none, one with two.
    friction, angle : float
        The smallest friction with none or two solutions, and its angle [rad], computed.
    """

    map: ReactionsMap
    examples: tuple[tuple[float, float, Any], ...]
    friction: float
    angle: float


def paradox(points: int = 400, report: Callable[[int], None] | None = None) -> Paradox:
    """Return the showpiece on a grid of so many points along each axis.

    Examples
    --------
    >>> found = paradox(20)
    >>> round(found.friction, 8), round(math.tan(found.angle), 5)
    (1.33333333, 2.0)
    """
    entry = gallery.get("painleve_rod")
    model = compile(entry.system)
    theta = np.radians(np.linspace(0, 90, points))
    friction = np.linspace(0, HIGHEST, points)[:, None]
    found = _ask(model, theta, friction, report)
    spots = ((0.6, 0.7), (0.9, 2.4), (1.25, 2.4))
    examples = tuple((angle, mu, _ask(model, angle, mu, None)) for angle, mu in spots)
    least, at = _beginning(model)
    return Paradox(found, examples, least, at)


def _ask(model: Model, theta: Any, mu: Any, report: Callable[[int], None] | None) -> Any:
    entry = gallery.get("painleve_rod")
    params = {**entry.params, "mu": mu}
    start = {**entry.state, "theta": theta, "v_theta": SPIN}
    state = hold(model, start, params, ["tip"], fixed=["theta"], slips={"tip": SLIP})
    return reactions(model, state, params, report=report)


def _beginning(model: Model) -> tuple[float, float]:
    """Return the smallest friction with a paradox and its angle: halved for each angle, least by a parabola."""
    low_angle, high_angle = 0.9, 1.3
    friction, angle = math.nan, math.nan
    for _ in range(4):
        theta = np.linspace(low_angle, high_angle, 41)
        low, high = np.full(41, 0.5), np.full(41, HIGHEST)
        for _ in range(50):
            middle = (low + high) / 2
            one = _ask(model, theta, middle, None).counts == 1
            low, high = np.where(one, middle, low), np.where(one, high, middle)
        best = int(np.clip(np.argmin(low), 3, 37))
        near = slice(best - 3, best + 4)
        curve = np.polynomial.Polynomial.fit(theta[near], low[near], 2)
        angle = float(curve.deriv().roots()[0].real)
        friction = float(curve(angle))
        width = (high_angle - low_angle) / 10
        low_angle, high_angle = angle - width, angle + width
    return friction, angle


def draw_paradox(found: Paradox, ax: Any = None) -> Any:
    """Draw the map with its regions named where they are, and return the Axes."""
    if ax is None:
        _, ax = new_figure((7.2, 4.4))
    from zwang._plot import draw_counts
    from zwang._results.reactions import ReactionsStatus

    counts, codes, _ = found.map.along(x="theta", y="mu")
    values = [found.map.values["mu"], np.degrees(found.map.values["theta"])]
    labels = ["coefficient of friction", "angle between rod and floor [°]"]
    draw_counts(counts, codes, [status.name for status in ReactionsStatus], values, labels, ax=ax, legend=False)
    for x, y, words, colour in (
        (25, 0.75, "one solution", INK),
        (48.5, 2.45, "no solution", ON_STRONG),
        (71.5, 2.45, "two\nsolutions", ON_BRIGHT),
    ):
        ax.text(x, y, words, ha="center", va="center", fontsize=13, color=colour)
    degrees = math.degrees(found.angle)
    ax.plot(degrees, found.friction, "o", color=INK, markersize=5)
    ax.annotate(
        f"{found.friction:.4f} at {degrees:.2f}°",
        (degrees, found.friction),
        xytext=(0, -8),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=10.5,
        color=INK,
    )
    ax.set_xlim(0, 90)
    ax.set_ylim(0, HIGHEST)
    return ax
