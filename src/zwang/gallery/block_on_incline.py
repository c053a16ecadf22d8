"""A block on a rough incline: x down the slope, y away from it. It rests for ever below the friction angle."""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.shapes import Box
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest

SOURCE = "Coulomb's law, closed form"


def _declare() -> System:
    (x, y), (vx, vy) = coordinates("x y")
    m, g, mu, slope = parameters("m g mu slope")
    return System(
        name="incline_block",
        kinetic=m * (vx**2 + vy**2) / 2,
        potential=m * g * (y * sp.cos(slope) - x * sp.sin(slope)),
        constraints=[Unilateral(y, friction=Coulomb(mu, slip=vx), restitution=0, name="slope")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    def place(along: str, up: str) -> tuple[str, str]:
        return f"({along})*cos(slope) + ({up})*sin(slope)", f"({up})*cos(slope) - ({along})*sin(slope)"

    return Drawing(
        {"foot": place("x", "y")},
        bodies={"block": (Box(0.5, 0.3), place("x", "y + 0.15"), "-slope")},
        curves={"slope": (place("u", "0"), "u", ("x - 1", "x + 2"))},
        traces=(),
        scale=1,
    )


def incline_block() -> Entry:
    """Return the block at rest on a slope of 20 degrees with mu = 0.5, which holds it."""
    m, g, mu, slope = 1.0, 9.81, 0.5, math.radians(20)
    facts = {
        "friction_angle": Fact(math.atan(mu), "The steepest slope that holds the block [rad].", SOURCE),
        "normal_force": Fact(m * g * math.cos(slope), "The force of the slope [N].", SOURCE),
        "friction": Fact(-m * g * math.sin(slope), "The friction that holds the block [N].", SOURCE),
        "sliding_acceleration": Fact(
            g * (math.sin(slope) - mu * math.cos(slope)),
            "The acceleration while it slides down, negative: it stops [m/s^2].",
            SOURCE,
        ),
    }
    return Entry(
        name="incline_block",
        title="block on a rough incline",
        build=_declare,
        params={"m": m, "g": g, "mu": mu, "slope": slope},
        state=at_rest(x=0.0, y=0.0),
        facts=facts,
        source=SOURCE,
    )
