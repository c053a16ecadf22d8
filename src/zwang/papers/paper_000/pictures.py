"""Pictures of the chapter on multipliers near singular points that several claims share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.papers.findings import Picture
from zwang.papers.paper_000.studies import CROSSING, TANGENCY, traced
from zwang.papers.workshop import Workshop
from zwang.pictures import INK, SERIES, draw_counts, look, new_figure
from zwang.results import Asymptotics, ReactionsStatus

__all__ = ["GRID", "count_map", "crossing_map", "growth_picture", "perturbed_curves"]

GRID = 120  # points a side of a map
LEVELS = (-0.16, -0.04, 0.04, 0.16)


def perturbed_curves(shop: Workshop, kind: str) -> Picture:
    """Return the curves f = eps of a normal form through criticality: the figure of the paper, both signs of eps."""

    def make() -> Any:
        figure, ax = new_figure((4.4, 3.8))
        for eps in (*LEVELS, 0.0):
            space = traced(shop, kind, eps)
            colour = INK if eps == 0 else SERIES[0] if eps > 0 else SERIES[1]
            for number, arc in enumerate(space.branches):
                points = arc.state(np.linspace(0, arc.length, 120))
                label = f"eps {'=' if eps == 0 else '>' if eps > 0 else '<'} 0"
                first = number == 0 and eps in (0.0, LEVELS[0], LEVELS[-1])
                ax.plot(points["x"], points["y"], color=colour, linewidth=1.2, label=label if first else None)
        ax.plot(0, 0, "o", color=INK, markersize=5)
        ax.set(xlabel="x", ylabel="y", xlim=(-1, 1), ylim=(-1, 1))
        ax.set_aspect("equal")
        ax.legend()
        return figure

    words = {CROSSING: "two lines that cross", TANGENCY: "two parabolas that touch"}[kind]
    return Picture(
        f"curves-{kind}",
        f"Configuration spaces f = eps next to {words}: at eps = 0 they meet in the singular point, otherwise they "
        "pass it as smooth curves, for the two signs of eps in different directions.",
        make,
    )


def count_map(
    name: str, caption: str, ask: Callable[[Any, Any, float], Any], words: tuple[str, str], eps: Any
) -> Picture:
    """Return the number of multipliers over eps and the coefficient of friction, for both directions of motion.

    `ask` gets eps (a row), mu (a column) and the direction, and returns the map; `words` say what the directions are.
    """
    mu = np.linspace(0, 1.2, GRID)[:, None]

    def make() -> Any:
        figure, _ = new_figure((7.6, 3.6))
        with look():
            figure.clear()
            axes = figure.subplots(1, 2, sharey=True)
        names = [status.name for status in ReactionsStatus]
        for ax, way, told in zip(axes, (-1.0, 1.0), words, strict=True):
            found = ask(eps, mu, way)
            draw_counts(
                found.counts,
                found.codes,
                names,
                [mu[:, 0], np.log10(eps)],
                ["coefficient of friction μ", f"log10 eps, {told}"],
                ax=ax,
            )
        return figure

    return Picture(name, caption, make)


def crossing_map(shop: Workshop) -> Picture:
    """Return the number of multipliers at s_eps of the crossing."""

    def ask(eps: Any, mu: Any, way: float) -> Any:
        return shop.ask(CROSSING, x=0.0, y=np.sqrt(eps), v_x=way, v_y=0.0, eps=eps, mu=mu)

    return count_map(
        "count-map",
        "How many multipliers there are at the nearest point of the perturbed crossing, over eps and the coefficient "
        "of friction, for motion in the two directions. Below the threshold eps* there are two one way and none the "
        "other, above it one both ways.",
        ask,
        ("moving to the left", "moving to the right"),
        np.geomspace(1e-4, 1.0, GRID),
    )


def growth_picture(name: str, caption: str, study: Callable[[], Asymptotics]) -> Picture:
    """Return the growth of multipliers on logarithmic axes."""

    def make() -> Any:
        figure, ax = new_figure((7.8, 4.8))
        study().plot(ax=ax)
        handles, labels = ax.get_legend_handles_labels()
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, fontsize="small", frameon=False)
        return figure

    return Picture(name, caption, make)
