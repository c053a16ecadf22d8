"""The four-bar linkage: a crank, a coupler and a rocker on two pivots, uniform bars under gravity.

In the absolute angles alpha of the crank and gamma of the rocker the coupler is one constraint. With all four lengths
equal the configuration space is three circles that meet pairwise, where all bars lie on one line.
"""

from __future__ import annotations

import math

from zwang._declare.symbols import parameters
from zwang._linkage.builder import Linkage
from zwang.gallery.entry import Entry, Fact, at_rest

SOURCE = "textbook mechanism; parallelogram motion in closed form"


def linkage() -> Linkage:
    """Return the mechanism: pivots A and D at the distance l0, crank AB, coupler BC, rocker DC."""
    l0, l1, l2, l3, m1, m2, m3, g = parameters("l0 l1 l2 l3 m1 m2 m3 g")
    bars = Linkage("four_bar", gravity=(0, -g)).ground("A", 0, 0).ground("D", l0, 0).points("B C")
    bars.bar("A", "B", l1, mass=m1, angle="alpha", name="crank").bar("B", "C", l2, mass=m2, name="coupler")
    return bars.bar("D", "C", l3, mass=m3, angle="gamma", name="rocker")


def four_bar() -> Entry:
    """Return the rhombus of unit bars at 60 degrees, at rest."""
    m, g, alpha = 1.0, 9.81, math.pi / 3
    facts = {
        "crank_acceleration": Fact(
            # Coupler in translation: inertia (m1 + m3)/3 + m2, moment -(m1/2 + m2 + m3/2) g cos(alpha), per l^2 and l.
            -2 * m * g * math.cos(alpha) / (5 * m / 3),
            "Angular acceleration of both cranks at the state of this entry, as a parallelogram [rad/s^2].",
            SOURCE,
        ),
        "singular_poses": Fact(
            ((0.0, 0.0), (0.0, math.pi), (math.pi, math.pi)),
            "(alpha, gamma) of the three poses with all bars on one line, for equal lengths.",
            "the bars lie on a line of length zero, one or two",
        ),
    }
    return Entry(
        name="four_bar",
        title="four-bar linkage, a rhombus by default",
        build=lambda: linkage().system(coordinates="joint"),
        params={**dict.fromkeys(("l0", "l1", "l2", "l3"), 1.0), **dict.fromkeys(("m1", "m2", "m3"), m), "g": g},
        state=at_rest(alpha=alpha, gamma=alpha),
        facts=facts,
        source=SOURCE,
        draw=lambda: linkage().drawing(coordinates="joint"),
    )
