"""The slider-crank: a crank AB, a connecting rod BC and a slider C on the line y = 0.

With the crank at the angle alpha the slider is at r cos(alpha) + sqrt(l^2 - r^2 sin(alpha)^2). For r = l the slider
can stand still over the pivot while the crank turns, and the configuration space is singular at alpha = +-90 degrees.
"""

from __future__ import annotations

import math

from zwang._declare.symbols import parameters
from zwang._linkage.builder import Linkage
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "textbook mechanism, kinematics in closed form"


def linkage() -> Linkage:
    """Return the mechanism: uniform crank and rod, slider of mass m on the x axis, gravity along -y."""
    r, l, m1, m2, m, g = parameters("r l m1 m2 m g")
    parts = Linkage("slider_crank", gravity=(0, -g)).ground("A", 0, 0).point("B").point("C", mass=m)
    parts.bar("A", "B", r, mass=m1, angle="alpha", name="crank").bar("B", "C", l, mass=m2, angle="beta", name="rod")
    return parts.slider("C", direction=(1, 0), name="slider")


def slider_crank() -> Entry:
    """Return the mechanism at 60 degrees, its crank turning with 2 rad/s."""
    r, l, alpha, omega = 0.5, 1.5, math.pi / 3, 2.0
    s, c = math.sin(alpha), math.cos(alpha)
    reach = math.sqrt(l**2 - (r * s) ** 2)
    beta = math.asin(-r * s / l)
    speed = -r * omega * s * (1 + r * c / reach)
    facts = {
        "slider_position": Fact(r * c + reach, "x of the slider at the state of this entry [m].", SOURCE),
        "slider_velocity": Fact(speed, "Its velocity [m/s].", SOURCE),
        "stroke": Fact(2 * r, "Distance of the two dead centres, for l > r [m].", SOURCE),
    }
    return Entry(
        name="slider_crank",
        title="slider-crank",
        build=lambda: linkage().system(coordinates="joint"),
        params={"r": r, "l": l, "m1": 1.0, "m2": 2.0, "m": 0.5, "g": 9.81},
        state=moving({"alpha": alpha, "beta": beta}, {"alpha": omega, "beta": -r * c * omega / reach}),
        facts=facts,
        source=SOURCE,
    )
