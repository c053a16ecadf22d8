"""Two equal particles on a massless rod of length 2 l, lying on a rough plane (Ivanov 2013, example 3).

Coordinates as in the paper: the abscissa x of the centre and the ordinates y1, y2 of the particles; the rod starts
along the abscissa. A force S acts at the angle alpha to the rod, on a line at the distance d from the centre.
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Friction
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters, rate
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest
from zwang.gallery.sources import IVANOV

WHERE = f"{IVANOV}, example 3"


def _places() -> tuple[sp.Matrix, sp.Matrix]:
    (x, y1, y2), _ = coordinates("x y1 y2")
    (l,) = parameters("l,")
    half = sp.sqrt(l**2 - ((y2 - y1) / 2) ** 2)
    return sp.Matrix([x - half, y1]), sp.Matrix([x + half, y2])


def _declare() -> System:
    (x, y1, y2), _ = coordinates("x y1 y2")
    m, l, mu, g, S, d, alpha = parameters("m l mu g S d alpha")
    u1, u2 = (rate(place) for place in _places())
    return System(
        name="two_particles",
        kinetic=m * (u1.dot(u1) + u2.dot(u2)) / 2,
        forces={
            x: S * sp.cos(alpha),
            y1: S * (sp.sin(alpha) - d / l) / 2,
            y2: S * (sp.sin(alpha) + d / l) / 2,
        },
        constraints=[
            Friction(mu * m * g, slip=u1, name="particle1"),
            Friction(mu * m * g, slip=u2, name="particle2"),
        ],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    first, second = _places()
    return Drawing({"1": (first[0], first[1]), "2": (second[0], second[1])}, bars=[("1", "2")])


def two_particles() -> Entry:
    """Return the particles at rest with mu m g = 1, d = 2 l, alpha = 30 degrees, pulled by S = 0.85."""
    m, l, g, S, d, alpha = 1.0, 1.0, 9.81, 0.85, 2.0, math.pi / 6
    P = 1.0
    kappa = d / l

    def across(sign: int) -> float:
        return (math.sin(alpha) + sign * kappa) / 2

    facts = {
        "rest_limit": Fact(
            P / across(1), "The force S* up to which the particles rest: |Y2| reaches mu m g [N].", f"{WHERE}, (2.16)"
        ),
        "turning_limit": Fact(
            P / math.hypot(math.cos(alpha), across(-1)),
            "The force S** up to which the rod turns about particle 1: X^2 + Y1^2 reaches (mu m g)^2; 4/sqrt(21) [N].",
            f"{WHERE}, (2.17)",
        ),
        "acceleration": Fact(
            (0.0, 0.0, (S * across(1) - P) / m),
            "Accelerations of x, y1, y2 at the state of this entry: the rod turns about particle 1 [m/s^2].",
            f"{WHERE}, (2.18)",
        ),
        "direction_at_turning_limit": Fact(
            math.cos(alpha) / math.hypot(math.cos(alpha), across(-1)),
            "cos(phi) of the friction on particle 1 at S**, sqrt(4/7).",
            f"{WHERE}, (2.19)",
        ),
        "directions_for_large_force": Fact(
            # Without friction: acceleration X/(2 m) along the rod and Y/m across it.
            tuple(math.cos(alpha) / 2 / math.hypot(math.cos(alpha) / 2, across(sign)) for sign in (-1, 1)),
            "Limits of cos(phi), cos(psi) as S grows: 1/2 and sqrt(3/28).",
            WHERE,
        ),
    }
    return Entry(
        name="two_particles",
        title="two particles on a rod on a rough plane",
        build=_declare,
        params={"m": m, "l": l, "mu": P / (m * g), "g": g, "S": S, "d": d, "alpha": alpha},
        state=at_rest(x=0.0, y1=0.0, y2=0.0),
        facts=facts,
        source=WHERE,
    )
