"""One-sided Chaplygin sleighs: a body on a plane with a blade that may slip to its left but not to its right.

The blade points along (cos(phi), sin(phi)); its velocity across, to the left, must be >= 0. Salnikova, Kugushev and
Demidov (2023) write x' sin(phi) - y' cos(phi) <= 0, with a multiplier that is minus ours. With the centre of mass
ahead of the blade by c, the speed u of the blade and the angular velocity w obey, while it grips,
u' = c w^2, w' = -m c u w/(J + m c^2), and the blade pushes with m J u w/(J + m c^2): it lets go when u changes its
sign, at artanh(|u|/V)/(kappa V) with kappa = m c/(J + m c^2) and V^2 = u^2 + (J + m c^2) w^2/m.
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import SALNIKOVA

WHERE = f"{SALNIKOVA}, section 4"


def _declare(name: str, *, ahead: bool = False, incline: bool = False) -> System:
    (_, y, phi), (vx, vy, omega) = coordinates("x y phi", angles="phi")
    m, J, c, g, slope = parameters("m J c g slope")
    across = vy * sp.cos(phi) - vx * sp.sin(phi)
    return System(
        name=name,
        kinetic=m * (vx**2 + vy**2) / 2 + J * omega**2 / 2,
        potential=m * g * sp.sin(slope) * y if incline else 0,
        constraints=[Unilateral(across - c * omega if ahead else across, name="blade")],
        drawing=_draw(ahead),
    )


def _draw(ahead: bool) -> Drawing:
    (x, y, phi), _ = coordinates("x y phi", angles="phi")
    c, s = sp.cos(phi), sp.sin(phi)
    back = parameters("c") if ahead else sp.Integer(0)
    blade = sp.Rational(1, 10)
    points = {
        "centre": (x, y),
        "heel": (x - (back + blade) * c, y - (back + blade) * s),
        "toe": (x - (back - blade) * c, y - (back - blade) * s),
    }
    return Drawing(points, bars=[("heel", "toe")], traces=["centre"])


def sleigh() -> Entry:
    """Return the disc of the paper, flying: the blade catches when it points along the velocity."""
    speed, delta, omega, m = 1.0, 1.0, 1.0, 1.0
    time = delta / omega
    facts = {
        "capture_time": Fact(
            time,
            "When the blade catches: the angle from the blade to the velocity, over the angular velocity [s].",
            f"{WHERE}; (pi - angle)/|omega| for negative omega, never for omega = 0",
        ),
        "capture_place": Fact(
            (speed * time * math.cos(delta), speed * time * math.sin(delta)), "Where the centre is then [m].", WHERE
        ),
        "radius": Fact(speed / omega, "The radius of the circle that it runs on from then [m].", WHERE),
        "blade_force": Fact(
            m * speed * omega,
            "The force of the blade on that circle [N].",
            f"{WHERE}; the multiplier is mu = -m V w",
        ),
    }
    return Entry(
        name="sleigh",
        title="one-sided Chaplygin sleigh",
        build=lambda: _declare("sleigh"),
        params={"m": m, "J": 0.5},
        state=moving(
            {"x": 0.0, "y": 0.0, "phi": 0.0},
            {"x": speed * math.cos(delta), "y": speed * math.sin(delta), "phi": omega},
        ),
        facts=facts,
        source=WHERE,
    )


def sleigh_ahead() -> Entry:
    """Return the sleigh with its centre of mass ahead of the blade, running backwards until the blade lets go."""
    m, J, c, u, omega = 1.0, 0.1, 0.2, -1.0, -0.5
    inertia = J + m * c**2
    V = math.sqrt(u**2 + inertia * omega**2 / m)
    kappa = m * c / inertia
    formula = "closed form of the gripping motion: u = V tanh(kappa V (t - t*))"
    facts = {
        "release_time": Fact(math.atanh(-u / V) / (kappa * V), "When the blade lets go [s].", formula),
        "release_spin": Fact(
            -V * math.sqrt(m / inertia), "The angular velocity then; the blade stands still [rad/s].", formula
        ),
        "blade_force": Fact(
            m * J / inertia * u * omega, "The force of the blade at the state of this entry [N].", formula
        ),
    }
    return Entry(
        name="sleigh_ahead",
        title="one-sided Chaplygin sleigh, centre of mass ahead of the blade",
        build=lambda: _declare("sleigh_ahead", ahead=True),
        params={"m": m, "J": J, "c": c},
        state=moving({"x": c, "y": 0.0, "phi": 0.0}, {"x": u, "y": c * omega, "phi": omega}),
        facts=facts,
        source=f"{WHERE}, with the centre of mass moved",
    )


def sleigh_incline() -> Entry:
    """Return the sleigh on an incline that falls towards -y, gripping at the start."""
    m, g, slope, u, omega = 1.0, 9.81, 0.1, 1.0, 1.0
    pull = g * math.sin(slope)
    facts = {
        "blade_force": Fact(
            m * (u * omega + pull), "The force of the blade at the state of this entry [N].", "Newton, across the blade"
        ),
        "speed_amplitude": Fact(
            pull / omega,
            "While it grips, the speed along the blade is u + (this) (cos(phi) - 1) [m/s].",
            "Newton, along the blade, with phi = omega t",
        ),
    }
    return Entry(
        name="sleigh_incline",
        title="one-sided Chaplygin sleigh on an incline",
        build=lambda: _declare("sleigh_incline", incline=True),
        params={"m": m, "J": 0.5, "g": g, "slope": slope},
        state=moving({"x": 0.0, "y": 0.0, "phi": 0.0}, {"x": u, "phi": omega}),
        facts=facts,
        source=WHERE,
    )
