"""Pictures of the chapter on friction that several claims share."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.papers.findings import Picture
from zwang.papers.workshop import Workshop
from zwang.pictures import INK, PALE, QUIET, SERIES, draw_contact_graph, draw_counts, new_figure
from zwang.results import ReactionsMap, ReactionsStatus

__all__ = [
    "counts_figure",
    "pair_drawing",
    "pile_drawing",
    "projection_paths",
    "reaction_graph",
    "rod_map",
    "string_drawing",
]

GRID = 240  # points a side of a map


def counts_figure(found: ReactionsMap, axes: tuple[Any, Any], labels: tuple[str, str], size: Any = (6.6, 4.0)) -> Any:
    """Draw the number of solutions over two quantities; `axes` and `labels` are those of rows and columns."""
    figure, ax = new_figure(size)
    draw_counts(found.counts, found.codes, [status.name for status in ReactionsStatus], list(axes), list(labels), ax=ax)
    return figure


def rod_map(shop: Workshop) -> Picture:
    """Return the map of the number of solutions of the rod of example 5, sliding and turning."""
    degrees = np.linspace(90, 180, GRID)
    friction = np.linspace(0, 4, GRID)[:, None]

    def make() -> Any:
        state = shop.held("painleve_rod_tip", ["floor"], {"floor": 1.0}, theta=np.radians(degrees), v_theta=2.6)
        state = {key: value for key, value in state.items() if key != "t"}
        found = shop.ask("painleve_rod_tip", mu=friction, **state)
        return counts_figure(found, (friction[:, 0], degrees), ("coefficient of friction", "angle of the rod [°]"))

    return Picture(
        "rod-map",
        "A rod slides with its foot on a rough floor. How many accelerations the laws allow, over its angle and the "
        "friction: one, none, or two. It leans against the motion (obtuse angles) and turns with 2.6 rad/s.",
        make,
    )


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], words: str, colour: str = SERIES[1]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.5})
    ax.annotate(words, end, xytext=(0, 5), textcoords="offset points", ha="center", color=colour)


def pile_drawing(shop: Workshop) -> Picture:
    """Return the drawing of the pile, figure 2 of the paper."""

    def make() -> Any:
        figure, ax = new_figure((3.8, 2.4))
        widths = (1.6, 2.4, 3.2)
        for place, width in enumerate(widths):
            ax.bar(0, 0.8, width, bottom=0.8 * (2 - place), color=PALE, edgecolor=INK)
            ax.text(0, 0.8 * (2 - place) + 0.4, f"$m_{place + 1}$", ha="center", va="center")
            right = width / 2
            _arrow(ax, (right, 0.8 * (2 - place) + 0.4), (right + 0.8, 0.8 * (2 - place) + 0.4), f"$P_{place + 1}$")
        ax.axhline(0, color=QUIET)
        ax.set(xlim=(-2.3, 3.0), ylim=(-0.15, 2.75))
        ax.set_aspect("equal")
        ax.axis("off")
        return figure

    return Picture("pile", "Blocks on each other, pushed sideways (figure 2 of the paper).", make, tight=True)


def string_drawing(shop: Workshop) -> Picture:
    """Return the drawing of the two weights."""

    def make() -> Any:
        figure, ax = new_figure((2.6, 2.6))
        angle = np.linspace(0, np.pi, 60)
        ax.fill(0.5 * np.cos(2 * angle), 0.5 * np.sin(2 * angle), color=PALE, edgecolor=QUIET)
        ax.plot(0.55 * np.cos(angle), 0.55 * np.sin(angle), color=INK)
        for side, depth in ((-1, 1.6), (1, 1.1)):
            ax.plot([0.55 * side] * 2, [0, -depth], color=INK)
            ax.bar(0.55 * side, 0.45, 0.5, bottom=-depth - 0.45, color=PALE, edgecolor=INK)
            ax.text(0.55 * side, -depth - 0.23, "$m_1$" if side < 0 else "$m_2$", ha="center", va="center")
            ax.annotate("", (1.15 * side, -depth), (1.15 * side, 0), arrowprops={"arrowstyle": "-|>", "color": QUIET})
            ax.text(1.32 * side, -depth / 2, "$q_1$" if side < 0 else "$q_2$", ha="center", va="center", color=QUIET)
        ax.set(xlim=(-1.6, 1.6), ylim=(-2.2, 0.65))
        ax.set_aspect("equal")
        ax.axis("off")
        return figure

    return Picture(
        "string", "Two weights on a string over a rough bar; positions are measured downwards.", make, tight=True
    )


def reaction_graph(result: Any) -> Any:
    """Draw the gap acceleration over the normal force of one contact."""
    figure, ax = new_figure((3.1, 2.7))
    draw_contact_graph(result, ax=ax, legend=False)
    ax.set_title("", loc="left")
    return figure


def pair_drawing(shop: Workshop) -> Picture:
    """Return the drawing of the two particles and the pull, figure 5 of the paper."""

    def make() -> Any:
        figure, ax = new_figure((4.6, 2.2))
        ax.plot([-1, 1], [0, 0], "o-", color=INK, markersize=9, markerfacecolor=PALE, linewidth=2)
        for place, words in ((-1, "1"), (1, "2")):
            ax.annotate(words, (place, 0), xytext=(0, 9), textcoords="offset points", ha="center")
        direction = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])
        start = 2 * np.array([np.sin(np.pi / 6), -np.cos(np.pi / 6)])  # at the distance 2 l from the centre
        line = np.array([start - 0.6 * direction, start + 3.6 * direction])
        ax.plot(*line.T, ":", color=QUIET)
        _arrow(ax, tuple(start), tuple(start + 1.1 * direction), "$S$")
        ax.plot(*np.array([[0.0, 0.0], start]).T, "--", color=QUIET, linewidth=1)
        ax.annotate(
            "$d$", (float(start[0]) / 2, float(start[1]) / 2), xytext=(6, 0), textcoords="offset points", color=QUIET
        )
        ax.set_aspect("equal")
        ax.axis("off")
        return figure

    words = "Two particles on a rod, pulled with S at 30° on a line at the distance d = 2 l from the middle (figure 5)."
    return Picture("pair", words, make, tight=True)


def projection_paths(F: Any, bound: Any, paths: dict[str, Any], target: Any) -> Any:
    """Draw ways into a box in two dimensions, from the point F."""
    figure, ax = new_figure((4.6, 3.6))
    ax.fill([-bound[0], bound[0], bound[0], -bound[0]], [-bound[1], -bound[1], bound[1], bound[1]], color=PALE)
    for (name, path), colour, style in zip(paths.items(), SERIES, ("o-", "s--"), strict=False):
        ax.plot(*np.transpose(path), style, color=colour, markersize=4, linewidth=1.2, label=name)
    ax.plot(*F, "k.", markersize=9)
    ax.annotate("F", F, xytext=(6, 4), textcoords="offset points")
    ax.plot(*target, "*", color=INK, markersize=12, label="reaction")
    ax.set(xlabel="$R_1$", ylabel="$R_2$")
    ax.legend()
    return figure
