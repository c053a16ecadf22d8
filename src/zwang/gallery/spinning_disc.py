"""Euler's disc: a thin disc that rolls on its edge and lies down, ever faster.

Its inclination is theta, psi goes round with the point of contact and phi turns it about its own axis. At a small
inclination with its centre at rest psi'^2 theta = 4 g/R, so that the energy is 3/2 m g R theta; a moment M_c against
the rate at which the contact goes round takes it away, and theta falls as (t_f - t)^(2/3).
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameter, parameters, rate
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "H. K. Moffatt, Nature 404 (2000) 833-834; dry rolling friction as in P. Kessler and O. M. O'Reilly (2002)"


def _build() -> System:
    (x, y, psi, theta, phi), (vx, vy, vpsi, vtheta, vphi) = coordinates("x y psi theta phi", angles="psi phi")
    m, R, g, M_c = parameters("m R g M_c")
    height = R * sp.sin(theta)
    along = sp.Matrix([sp.cos(psi), sp.sin(psi), 0])
    uphill = sp.Matrix([-sp.sin(psi) * sp.cos(theta), sp.cos(psi) * sp.cos(theta), sp.sin(theta)])
    turning = (vtheta, vpsi * sp.sin(theta), vphi + vpsi * sp.cos(theta))
    kinetic = m * (vx**2 + vy**2 + rate(height) ** 2) / 2
    kinetic += m * R**2 * (turning[0] ** 2 + turning[1] ** 2 + 2 * turning[2] ** 2) / 8
    spin = turning[0] * along + turning[1] * uphill + turning[2] * along.cross(uphill)
    speed = sp.Matrix([vx, vy, rate(height)]) - spin.cross(R * uphill)
    rolls = [Bilateral(sp.expand(speed[i]), name=f"rolls {axis}") for i, axis in enumerate("xy")]
    middle = sp.Matrix([x, y, height])
    u = parameter("u")
    rim = middle + R * (sp.cos(u) * along + sp.sin(u) * uphill)
    mark = middle + R * (sp.cos(phi) * along + sp.sin(phi) * uphill)
    drawing = Drawing(
        {"centre": tuple(middle), "mark": tuple(mark), "contact": tuple(middle - R * uphill)},
        bars=[("centre", "mark")],
        curves={"rim": (tuple(rim), u, (0, 2 * sp.pi))},
    )
    return System(
        name="euler_disc",
        kinetic=kinetic,
        potential=m * g * height,
        constraints=[*rolls, Friction(M_c, slip=vpsi, name="brake")],
        drawing=drawing,
    )


def euler_disc() -> Entry:
    """Return the disc at a small inclination, its centre at rest."""
    m, R, g, M_c, theta = 1.0, 0.04, 9.81, 4e-4, 0.1
    # The centre at rest means v_phi = -v_psi cos(theta); steady: psi'^2 = 4 g/(R sin(theta)).
    around = 2 * math.sqrt(g / (R * math.sin(theta)))
    facts = {
        "end": Fact(
            theta**1.5 * m * g * R * math.sqrt(R / g) / (2 * M_c), "Time t_f at which it lies flat [s].", SOURCE
        ),
        "exponent": Fact(2 / 3, "Exponent of theta ~ (t_f - t)^k at small inclinations.", SOURCE),
        "around": Fact(around, "Rate at which the contact goes round in the steady motion without friction.", SOURCE),
    }
    return Entry(
        name="euler_disc",
        title="Euler's disc",
        build=_build,
        params={"m": m, "R": R, "g": g, "M_c": M_c},
        state=moving(
            {"x": 0.0, "y": 0.0, "psi": 0.0, "theta": theta, "phi": 0.0},
            {"psi": around, "phi": -around * math.cos(theta)},
        ),
        facts=facts,
        source=SOURCE,
    )
