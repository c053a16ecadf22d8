"""A particle held to a circle under a swirling and a drag force: forces without a potential.

The swirl k (-y, x) pushes along the circle with k r, the drag with -c s: the speed s along the circle obeys
m s' = k r - c s, and the circle must supply -m s^2/r along the outward normal.
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import KOZLOV_NEISHTADT

SOURCE = f"closed form; a case for the theorem of {KOZLOV_NEISHTADT}"


def _declare() -> System:
    (x, y), (vx, vy) = coordinates("x y")
    m, r, k, c = parameters("m r k c")
    return System(
        name="circle_particle",
        kinetic=m * (vx**2 + vy**2) / 2,
        forces={x: -k * y - c * vx, y: k * x - c * vy},
        constraints=[Bilateral(sp.sqrt(x**2 + y**2) - r, name="circle")],
        drawing=Drawing({"P": (x, y)}, curves={"circle": ("X**2 + Y**2 - r**2", ("X", "Y"))}, scale="2*r"),
    )


def circle_particle() -> Entry:
    """Return the particle on the unit circle, speeding up."""
    m, r, k, c, speed = 1.0, 1.0, 1.0, 0.5, 1.0
    steady = k * r / c
    at = 1.0
    fade = math.exp(-c * at / m)
    facts = {
        "reaction": Fact(-m * speed**2 / r, "The multiplier at the state of this entry [N].", SOURCE),
        "steady_speed": Fact(steady, "The speed that it tends to, k r/c [m/s].", SOURCE),
        "speed_at_1": Fact(steady + (speed - steady) * fade, "The speed at t = 1 [m/s].", SOURCE),
        "angle_at_1": Fact(
            (steady * at + (speed - steady) * (1 - fade) * m / c) / r,
            "The angle run through until t = 1 [rad].",
            SOURCE,
        ),
    }
    return Entry(
        name="circle_particle",
        title="particle held to a circle under forces without a potential",
        build=_declare,
        params={"m": m, "r": r, "k": k, "c": c},
        state=moving({"x": r, "y": 0.0}, {"y": speed}),
        facts=facts,
        source=SOURCE,
    )
