"""The rod of Painlevé: a rigid rod that slides on a rough floor with one end.

With k = J/(m l^2), l half the length and theta the angle between rod and floor, the tip sliding towards the foot of
the rod's centre needs the normal force N = m (g - l sin(theta) w^2)/(1 + cos(theta) (cos(theta) - mu sin(theta))/k):
no such force, or two answers, exist where the denominator is negative.
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.symbols import coordinates, parameters, rate
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import IVANOV, PAINLEVE

LEAST = f"{PAINLEVE}: the friction (k + cos^2)/(sin cos) at which the denominator vanishes, least over the angle"


def _declare() -> System:
    (x, y, theta), (vx, vy, omega) = coordinates("x y theta", angles="theta")
    m, J, l, g, mu, e = parameters("m J l g mu e")
    tip = sp.Matrix([x - l * sp.cos(theta), y - l * sp.sin(theta)])
    return System(
        name="painleve_rod",
        kinetic=m * (vx**2 + vy**2) / 2 + J * omega**2 / 2,
        potential=m * g * y,
        constraints=[Unilateral(tip[1], friction=Coulomb(mu, slip=rate(tip[0])), restitution=e, name="tip")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    (x, y, theta), _ = coordinates("x y theta", angles="theta")
    l = parameters("l")
    c, s = l * sp.cos(theta), l * sp.sin(theta)
    return Drawing({"tip": (x - c, y - s), "centre": (x, y), "end": (x + c, y + s)}, bars=[("tip", "end")])


def painleve_rod() -> Entry:
    """Return the uniform rod at 60 degrees, its tip sliding with 1 m/s against its slope."""
    m, l, g, mu, theta, speed = 1.0, 1.0, 9.81, 1.2, math.pi / 3, 1.0
    c, s = math.cos(theta), math.sin(theta)
    k = 1 / 3  # J/(m l^2) of a uniform rod
    spin = 4.0

    def normal_force(friction: float, omega: float) -> float:
        return m * (g - l * s * omega**2) / (1 + c * (c - friction * s) / k)

    facts = {
        "smallest_paradox_friction": Fact(
            2 * math.sqrt(k * (1 + k)),
            "The smallest coefficient of friction with a paradox at some angle, 2 sqrt(k (1 + k)): 4/3 if uniform.",
            LEAST,
        ),
        "angle_of_smallest_paradox_friction": Fact(
            math.atan(math.sqrt((1 + k) / k)), "The angle at which that happens [rad]: arctan 2 if uniform.", LEAST
        ),
        "paradox_friction": Fact(
            (k + c**2) / (s * c), "The coefficient above which this angle has a paradox: 7/(3 sqrt 3).", PAINLEVE
        ),
        "normal_force": Fact(normal_force(mu, 0.0), "The normal force at the state of this entry [N].", PAINLEVE),
        "normal_force_spinning": Fact(
            normal_force(1.4, spin),
            "The normal force of the sliding one of two answers, with mu = 1.4 and angular velocity 4 rad/s [N].",
            PAINLEVE,
        ),
        "gap_acceleration_spinning": Fact(
            l * s * spin**2 - g, "The acceleration of the gap in the other answer, contact open [m/s^2].", PAINLEVE
        ),
        "plastic_impulse": Fact(
            (m * speed * s * c / (1 + k), m * speed * (k + c**2) / (1 + k)),
            "Normal and tangential impulse of an impact without collision that ends at rest of the tip [N s].",
            "momentum balance of the rod",
        ),
    }
    return Entry(
        name="painleve_rod",
        title="rod that slides on its tip (Painlevé)",
        build=_declare,
        params={"m": m, "J": m * l**2 * k, "l": l, "g": g, "mu": mu, "e": 0.0},
        state=moving({"x": l * c, "y": l * s, "theta": theta}, {"x": -speed}),
        facts=facts,
        source=f"{PAINLEVE}; {IVANOV}, example 5, in other coordinates",
    )
