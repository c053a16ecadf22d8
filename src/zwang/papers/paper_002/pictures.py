"""Pictures of the chapter on the pendulum that can fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zwang import Drawing, simulate
from zwang.papers.findings import Picture
from zwang.papers.paper_002.pendulum import CARTESIAN, JOINT, SLIM, STRING, TOUCHING, growth, space, start
from zwang.papers.workshop import Workshop
from zwang.pictures import QUIET, SERIES, draw_mechanism, new_figure

__all__ = [
    "film",
    "growth_picture",
    "phase_portrait",
    "poses_drawing",
    "regimes",
    "string_drawing",
    "transversal_and_touching",
    "upright",
]


def upright(drawing: Drawing) -> Drawing:
    """Return a drawing with x, which points down in the paper, drawn downwards."""
    points = {name: (place[1], -place[0]) for name, place in drawing.points.items()}
    curves = {}
    for name, curve in drawing.curves.items():
        x, y = curve.symbols
        curves[name] = (curve.expressions[0].subs({x: -y, y: x}, simultaneous=True), (x, y))
    return replace(drawing, points=points, curves=curves)


def _drawn(shop: Workshop, ax: Any, name: str, state: Mapping[str, float], params: Mapping[str, float]) -> Any:
    """Draw the pendulum at a state; return the places of its points by name."""
    scene = upright(shop.entry(name).drawing).scene({**state, **params})
    draw_mechanism(scene, ax=ax)
    return dict(zip(scene.names, scene.places[0], strict=True))


def poses_drawing(shop: Workshop) -> Picture:
    """Return the pendulum in three poses: one label, folded, the other label."""

    def make() -> Any:
        figure, _ = new_figure((8.4, 3.4))
        figure.clear()
        for column, (phi, label) in enumerate(((-0.5, 1), (-1e-3, 1), (0.5, -1))):
            ax = figure.add_subplot(1, 3, column + 1)
            _drawn(shop, ax, JOINT, *start(shop, JOINT, phi, 0.0, label, r2=1.3))
            ax.set_title(("before", "folded", "after")[column], fontsize=10)
        return figure

    return Picture(
        "poses",
        "Two rods, AB twice as long as BC; A is fixed and C runs on the ellipse. Where C passes below A at the "
        "distance 1, the rods lie on each other, and the short one may come out on either side.",
        make,
        tight=True,
    )


def string_drawing(shop: Workshop) -> Picture:
    """Return the pendulum with the string of the experiment."""

    def make() -> Any:
        figure, ax = new_figure((3.6, 4.0))
        places = _drawn(shop, ax, STRING, *start(shop, STRING, -0.7, 0.0, 1, **SLIM))
        focus = (SLIM["r1"] ** 2 - SLIM["r2"] ** 2) ** 0.5
        for place in ((0.0, -SLIM["a"] - focus), (0.0, -SLIM["a"] + focus)):
            ax.plot(*zip(place, places["C"], strict=True), color=SERIES[1], linewidth=1)
            ax.plot(*place, "o", color=SERIES[1], markersize=4)
        return figure

    return Picture(
        "string",
        "A string (thin) from one focus through the ring C to the other keeps C on the ellipse or inside.",
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
            ax.set(xlabel="$y_C$ [m]", ylabel="$y_B$ [m]" if column == 0 else "")
            ax.set_title(title, fontsize=9)
        return figure

    return Picture(
        "regimes",
        "The configuration space (sideways position of C and of B) as the ellipse moves: one closed curve, a crossing, "
        "a tangency, two separate curves.",
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
            ax.set(xlabel="$y_C$ [m]", ylabel="$y_B$ [m]", xlim=(-0.4, 0.4), ylim=(-0.9, 0.9))
            ax.set_title(("crossing", "tangency")[column], fontsize=10)
        return figure

    return Picture("near", "Near the folded pose: branches that cross, and branches that touch.", make)


def growth_picture(shop: Workshop, name: str, caption: str, **changes: float) -> Picture:
    """Return the growth of the multipliers on logarithmic axes."""

    def make() -> Any:
        figure, ax = new_figure((7.2, 3.8))
        growth(shop, **changes).plot(ax=ax)
        ax.set_xlabel("$y_C$, the distance from the folded pose [m]")
        handles, labels = ax.get_legend_handles_labels()
        each = dict(zip(labels, handles, strict=True))  # the branches repeat the names
        ax.legend(each.values(), each.keys(), loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return figure

    return Picture(name, caption, make)


def film(shop: Workshop) -> Picture:
    """Return the film of a motion straight through the singular point."""

    def make() -> Any:
        drawing = shop.entry(JOINT).drawing
        state, params = start(shop, JOINT, -0.6, 0.42, 1)
        motion = simulate(shop.system(JOINT), state, params, until=2.0, at_singular="straight")
        return motion.animate(drawing=upright(drawing)).html

    return Picture("film", "The pendulum goes straight through its singular point and changes its side.", make)


def phase_portrait(curves: list[tuple[Any, Any, int]]) -> Any:
    """Draw phase curves (phi, p, label) of the two branches in one plane."""
    figure, ax = new_figure((6.0, 4.0))
    for phi, p, label in curves:
        ax.plot(phi, p, color=SERIES[0 if label > 0 else 1], linewidth=1)
    ax.axvline(0, color=QUIET, linewidth=0.8)
    for colour, name in zip(SERIES, ("branch +", "branch −"), strict=False):
        ax.plot([], [], color=colour, label=name)
    ax.legend()
    ax.set_xlabel("φ, the polar angle of C [rad]")
    ax.set_ylabel("its momentum p [J s]")
    return figure
