"""A block on a moving belt, held by a spring: it slips, sticks to the belt, and slips again.

From rest at the unstretched spring it is carried along with x = s (1 - cos(w t)), s = mu m g/k, w^2 = k/m, until its
speed is that of the belt; it sticks until the spring pulls as hard as friction can, x = s, and slips from then on.
"""

from __future__ import annotations

import math

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
    m, g, mu, k, belt = parameters("m g mu k belt_speed")
    return System(
        name="belt_block",
        kinetic=m * (vx**2 + vy**2) / 2,
        potential=m * g * y + k * x**2 / 2,
        constraints=[Unilateral(y, friction=Coulomb(mu, slip=vx - belt), restitution=0, name="belt")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    # The stretch under its own weight, m g/k, is the length that the problem has.
    return Drawing(
        {"wall": ("-3*m*g/k", "m*g/k/4"), "hook": ("x - m*g/k/2", "y + m*g/k/4"), "foot": ("x", "y")},
        springs=[("wall", "hook")],
        bodies={"block": (Box("m*g/k", "m*g/k/2"), ("x", "y + m*g/k/4"), 0)},
        ground=["wall"],
        traces=(),
    )


def belt_block() -> Entry:
    """Return the block at rest on the running belt, its spring unstretched."""
    m, g, mu, k, belt = 1.0, 9.81, 0.4, 20.0, 0.5
    w, s = math.sqrt(k / m), mu * m * g / k
    stick = math.asin(belt / (s * w)) / w
    there = s * (1 - math.cos(w * stick))
    facts = {
        "stick_time": Fact(stick, "When the block first sticks to the belt [s].", SOURCE),
        "stick_place": Fact(there, "Where it is then [m].", SOURCE),
        "slip_time": Fact(stick + (s - there) / belt, "When the spring tears it off again [s].", SOURCE),
        "slip_place": Fact(s, "Where it is then, mu m g/k [m].", SOURCE),
        "amplitude": Fact(belt / w, "Amplitude of the oscillation about that place from then on [m].", SOURCE),
    }
    return Entry(
        name="belt_block",
        title="block on a belt, held by a spring",
        build=_declare,
        params={"m": m, "g": g, "mu": mu, "k": k, "belt_speed": belt},
        state=at_rest(x=0.0, y=0.0),
        facts=facts,
        source=SOURCE,
    )
