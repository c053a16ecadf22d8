"""A ball that bounces on the floor, with infinitely many impacts in a finite time."""

from __future__ import annotations

import math

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.shapes import Sphere
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest

SOURCE = "free fall and Newton's law of impact, closed form"


def _declare() -> System:
    (y,), (vy,) = coordinates("y")
    m, g, e = parameters("m g e")
    return System(
        name="bouncing_ball",
        kinetic=m * vy**2 / 2,
        potential=m * g * y,
        constraints=[Unilateral(y, restitution=e, name="floor")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    radius = 0.06
    floor = (("u", 0), "u", (-0.5, 0.5))
    ball = (Sphere(radius), (0, f"y + {radius}"), 0)
    return Drawing({"bottom": (0, "y")}, bodies={"ball": ball}, curves={"floor": floor}, traces=())


def bouncing_ball() -> Entry:
    """Return the ball released at 1 m with a coefficient of restitution of 0.8."""
    g, e, height = 9.81, 0.8, 1.0
    first = math.sqrt(2 * height / g)
    facts = {
        "first_impact": Fact(first, "When it first meets the floor [s].", SOURCE),
        "rest_time": Fact(first * (1 + e) / (1 - e), "When the impacts accumulate and it comes to rest [s].", SOURCE),
        "second_height": Fact(e**2 * height, "How high it rises after the first impact [m].", SOURCE),
    }
    return Entry(
        name="bouncing_ball",
        title="bouncing ball",
        build=_declare,
        params={"m": 1.0, "g": g, "e": e},
        state=at_rest(y=height),
        facts=facts,
        source=SOURCE,
    )
