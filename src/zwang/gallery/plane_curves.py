"""Plane curves given directly, each with one point where it is not a smooth curve: a unit particle on f(x, y) = 0.

They are the local types that configuration spaces of dimension one show: a crossing, a cusp, branches that touch, a
point by itself, three branches, and a smooth curve counted twice. All lie at the origin.
"""

from __future__ import annotations

from typing import Any

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "textbook curve (Arnold's list of simple singularities: A_k and D_4)"


def _entry(
    name: str,
    title: str,
    curve: Any,
    place: tuple[float, float],
    v: tuple[float, float],
    facts: Any,
    simple: Any = None,
) -> Entry:
    """Return a curve; `simple` has the same points and changes its sign across them, which a picture needs."""
    drawn = curve if simple is None else simple

    def build() -> System:
        (x, y), (vx, vy) = coordinates("x y")
        X, Y = parameters("X Y")
        return System(
            name=name,
            kinetic=(vx**2 + vy**2) / 2,
            constraints=[Bilateral(curve(x, y), name="curve")],
            drawing=Drawing({"P": (x, y)}, curves={"curve": (drawn(X, Y), (X, Y))}, scale=3.5),
        )

    return Entry(
        name=name,
        title=title,
        build=build,
        params={},
        state=moving({"x": place[0], "y": place[1]}, {"x": v[0], "y": v[1]}),
        facts={key: Fact(value, statement, SOURCE) for key, (value, statement) in facts.items()},
        source=SOURCE,
    )


def curve_node() -> Entry:
    """Return y^2 = x^2 + x^3, a loop that crosses itself."""
    facts = {
        "slopes": ((-1.0, 1.0), "Slopes of the two branches at the origin."),
        "loop_end": (-1.0, "The least x on the curve, where the loop closes."),
    }
    return _entry("curve_node", "curve with a node", lambda x, y: y**2 - x**2 - x**3, (-1.0, 0.0), (0.0, 1.0), facts)


def curve_cusp() -> Entry:
    """Return y^2 = x^3, which turns back at the origin."""
    facts = {"tangent": ((1.0, 0.0), "Direction of both half-branches at the origin.")}
    return _entry("curve_cusp", "curve with a cusp", lambda x, y: y**2 - x**3, (1.0, 1.0), (2.0, 3.0), facts)


def touching_curves(k: int = 2) -> Entry:
    """Return y^2 = x^(2 k): the branches y = +-x^k, which touch with order k - 1 and cross for k = 1."""
    facts = {
        "order": (float(k - 1), "The derivatives of the two branches at the origin agree up to this order."),
        "derivative": (float(k), "Slope of the branch y = x^k at x = 1."),
    }
    title = f"two curves that touch, y^2 = x^{2 * k}"
    return _entry("touching_curves", title, lambda x, y: y**2 - x ** (2 * k), (1.0, 1.0), (1.0, float(k)), facts)


def curve_isolated_point() -> Entry:
    """Return y^2 = x^3 - x^2: the origin by itself, and a smooth branch from x = 1 on."""
    facts = {
        "branch_start": (1.0, "The least x on the branch."),
        "components": (2.0, "Connected components, the isolated point among them."),
    }
    return _entry(
        "curve_isolated_point",
        "curve with an isolated point",
        lambda x, y: y**2 - x**3 + x**2,
        (1.0, 0.0),
        (0.0, 1.0),
        facts,
    )


def curve_three_lines() -> Entry:
    """Return y (y^2 - 3 x^2) = 0, three lines through the origin at 60 degrees."""
    facts = {"slopes": ((-(3.0**0.5), 0.0, 3.0**0.5), "Slopes of the three lines.")}
    return _entry(
        "curve_three_lines",
        "three lines through a point",
        lambda x, y: y * (y**2 - 3 * x**2),
        (1.0, 0.0),
        (1.0, 0.0),
        facts,
    )


def curve_squared() -> Entry:
    """Return (y - x^2)^2 = 0: a smooth parabola whose equation has no gradient on it."""
    facts = {
        "multiplicity": (2.0, "How often the curve is counted."),
        "curvature": (2.0, "Curvature of the parabola at the origin."),
    }
    return _entry(
        "curve_squared",
        "parabola counted twice",
        lambda x, y: (y - x**2) ** 2,
        (1.0, 1.0),
        (1.0, 2.0),
        facts,
        simple=lambda x, y: y - x**2,
    )
