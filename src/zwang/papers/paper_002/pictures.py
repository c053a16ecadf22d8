"""Pictures of the chapter on the pendulum that can fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._plot import draw_mechanism, new_figure
from zwang._plot.style import INK, QUIET, SERIES
from zwang._simulate import simulate
from zwang.papers.findings import Picture
from zwang.papers.paper_002.pendulum import CARTESIAN, JOINT, TOUCHING, growth, space, start
from zwang.papers.workshop import Workshop

__all__ = ["film", "growth_picture", "poses_drawing", "regimes", "transversal_and_touching"]


def poses_drawing(shop: Workshop) -> Picture:
    """Return the pendulum in three poses: one label, folded, the other label."""

    def make() -> Any:
        entry = shop.entry(JOINT)
        assert entry.drawing is not None
        figure, _ = new_figure((8.4, 3.4))
        figure.clear()
        for column, (phi, label) in enumerate(((-0.5, 1), (-1e-3, 1), (0.5, -1))):
            ax = figure.add_subplot(1, 3, column + 1)
            state, params = start(shop, JOINT, phi, 0.0, label)
            values = {**state, **params}
            places = entry.drawing.places(values)[0]
            # x points down: it is drawn as minus the ordinate.
            points = {name: (float(p[1]), -float(p[0])) for name, p in zip(entry.drawing.points, places, strict=True)}
            X, Y = np.meshgrid(np.linspace(-2, 2, 161), np.linspace(-2.3, 2.5, 161))
            F = (-Y - params["a"]) ** 2 / params["r1"] ** 2 + X**2 / params["r2"] ** 2 - 1
            draw_mechanism(points, entry.drawing.segments, ground=("A",), curves=[(X, Y, F)], ax=ax)
            ax.set_title(("before", "folded", "after")[column], fontsize=10)
        return figure

    return Picture(
        "poses",
        "Two rods, AB twice as long as BC; A is fixed and C runs on the ellipse. Where C passes below A at the "
        "distance "
        "1, the rods lie on each other, and the short one may come out on either side.",
        make,
        tight=True,
    )


def regimes(shop: Workshop) -> Picture:
    """Return configuration spaces below, at and above the special ellipse, and where the branches touch."""
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("vertex nearer than 1", {"a": -0.55}),
        ("at 1: they cross", {}),
        ("at 1, curvature 1: they touch", TOUCHING),
        ("farther than 1", {"a": -0.45}),
    )

    def make() -> Any:
        figure, _ = new_figure((9.6, 3.0))
        figure.clear()
        for column, (title, changes) in enumerate(cases):
            ax = figure.add_subplot(1, 4, column + 1)
            space(shop, CARTESIAN, **changes).plot("y_C", "y_B", ax=ax, colour="curve", legend=False)
            ax.set_title(title, fontsize=9)
        figure.tight_layout()
        return figure

    return Picture(
        "regimes",
        "The configuration space (sideways position of C and of B) as the ellipse moves: one closed curve, a "
        "crossing, a "
        "tangency, two separate curves.",
        make,
    )


def transversal_and_touching(shop: Workshop) -> Picture:
    """Return the two singular spaces near the singular point."""

    def make() -> Any:
        figure, _ = new_figure((7.0, 3.2))
        figure.clear()
        for column, changes in enumerate(({}, TOUCHING)):
            ax = figure.add_subplot(1, 2, column + 1)
            space(shop, CARTESIAN, **changes).plot("y_C", "y_B", ax=ax, colour="curve", legend=False)
            ax.set_aspect("auto")
            ax.set_xlim(-0.4, 0.4)
            ax.set_ylim(-0.9, 0.9)
            ax.set_title(("crossing", "tangency")[column], fontsize=10)
        figure.tight_layout()
        return figure

    return Picture("near", "Near the folded pose: branches that cross, and branches that touch.", make)


def growth_picture(shop: Workshop, name: str, caption: str, **changes: float) -> Picture:
    """Return the growth of the multipliers on logarithmic axes."""

    def make() -> Any:
        figure, ax = new_figure((5.8, 4.0))
        growth(shop, **changes).plot(ax=ax)
        return figure

    return Picture(name, caption, make)


def film(shop: Workshop) -> Picture:
    """Return the film of a motion straight through the singular point."""

    def make() -> Any:
        entry = shop.entry(JOINT)
        state, params = start(shop, JOINT, -0.6, 0.42, 1)
        motion = simulate(shop.system(JOINT), state, params, until=2.0, at_singular="straight")
        return motion.animate(drawing=entry.drawing).html

    return Picture("film", "The pendulum goes straight through its singular point and changes its side.", make)


def phase_portrait(curves: list[tuple[Any, Any, int]], mark: str) -> Any:
    """Draw phase curves (phi, p, label) of the two branches in one plane."""
    figure, ax = new_figure((6.0, 4.0))
    for phi, p, label in curves:
        ax.plot(phi, p, color=SERIES[0 if label > 0 else 1], linewidth=1)
    ax.axvline(0, color=QUIET, linewidth=0.8)
    ax.text(0.01, 0.02, mark, transform=ax.transAxes, color=INK, fontsize=9)
    ax.set_xlabel("φ [rad]")
    ax.set_ylabel("p")
    return figure
