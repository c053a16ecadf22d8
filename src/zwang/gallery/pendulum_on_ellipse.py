"""The pendulum of Burian (2017): two rods AB and BC that can fold, the end C on an ellipse; x points down.

Constraints as in the paper: (|AB|^2 - l1^2)/2, (|BC|^2 - l2^2)/2 and f = ((x - a)^2/r1^2 + y^2/r2^2 - 1)/2 at C. Where
the vertex of the ellipse is at a + r1 = l1 - l2 the folded pose phi = 0, psi = pi is a singular point of the
configuration space: with the curvature k = r1/r2^2 the branches satisfy, to second order in phi and delta = psi - pi,
-l1 phi^2 + l2 delta^2 + k (l1 phi - l2 delta)^2 = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from zwang._declare.symbols import parameters
from zwang._declare.system import System
from zwang._linkage.builder import Linkage
from zwang.gallery.entry import Entry, Fact, moving, named
from zwang.gallery.sources import BURIAN_2017 as BURIAN

PARAMS = named("l1 l2 r1 r2 a m1 m2 g tilt", 2, 1, 1.5, 1.5, -0.5, 1, 1, 1, 0)
START = {"phi": -0.3, "rate": 0.42}


def linkage(name: str, guide: str = "plain") -> Linkage:
    """Return the mechanism; gravity may be tilted from the x axis, the guide be rough, or a string that only pulls."""
    l1, l2, r1, r2, a, m1, m2, g, tilt = parameters("l1 l2 r1 r2 a m1 m2 g tilt")
    mu, e = parameters("mu e")
    pendulum = Linkage(name, gravity=(g * sp.cos(tilt), g * sp.sin(tilt)), distances="half square")
    pendulum.ground("A", 0, 0).point("B", mass=m1).point("C", mass=m2)
    pendulum.bar("A", "B", l1, angle="phi", name="AB").bar("B", "C", l2, angle="psi", name="BC")
    outside = 1 if guide != "string" else -1
    return pendulum.guide(
        "C",
        lambda x, y: outside * ((x - a) ** 2 / r1**2 + y**2 / r2**2 - 1) / 2,
        normalized=False,
        unilateral=guide == "string",
        friction=mu if guide == "rough" else None,
        restitution=e if guide == "string" else None,
        name="ellipse",
    )


def place(params: Mapping[str, float], phi: float, rate: float = 0.0, label: int = 1) -> dict[str, float]:
    """Return the state with C at the polar angle `phi` seen from A, moving with that `rate`.

    Parameters
    ----------
    params : mapping of str to float
        l1, l2, r1, r2 and a.
    phi, rate : float
        Polar angle of C [rad] and its rate [rad/s].
    label : {1, -1}
        The branch: the sign of the angle CAB.

    Returns
    -------
    dict
        phi, psi, x_B, y_B, x_C, y_C and their velocities, for joint and for Cartesian coordinates.

    Examples
    --------
    >>> here = place(PARAMS, -0.3)
    >>> round((here["x_C"] + 0.5)**2 / 1.5**2 + here["y_C"]**2 / 1.5**2, 12)
    1.0
    """
    l1, l2, r1, r2, a = (params[name] for name in ("l1", "l2", "r1", "r2", "a"))
    c, s = math.cos(phi), math.sin(phi)
    # |AC| = d(phi): the ellipse in polar coordinates (formula (2) with its sign corrected).
    big, middle, last = c**2 / r1**2 + s**2 / r2**2, a * c / r1**2, a**2 / r1**2 - 1
    d = (middle + math.sqrt(middle**2 - big * last)) / big
    slope = -(d**2 * s * c * (1 / r2**2 - 1 / r1**2) + d * a * s / r1**2) / (big * d - middle)
    theta = label * math.acos((d**2 + l1**2 - l2**2) / (2 * l1 * d))
    turning = -(d**2 - l1**2 + l2**2) / (2 * l1 * d**2 * math.sin(theta))
    angle, spin = phi + theta, rate * (1 + turning * slope)
    B = (l1 * math.cos(angle), l1 * math.sin(angle))
    C = (d * c, d * s)
    vB = (-B[1] * spin, B[0] * spin)
    vC = ((slope * c - d * s) * rate, (slope * s + d * c) * rate)
    psi = math.atan2(C[1] - B[1], C[0] - B[0])
    fold = ((vC[1] - vB[1]) * math.cos(psi) - (vC[0] - vB[0]) * math.sin(psi)) / l2
    values = {"phi": angle, "psi": psi, "x_B": B[0], "y_B": B[1], "x_C": C[0], "y_C": C[1]}
    speeds = {"phi": spin, "psi": fold, "x_B": vB[0], "y_B": vB[1], "x_C": vC[0], "y_C": vC[1]}
    return moving(values, speeds)


def _state(*names: str) -> dict[str, float]:
    everything = place(PARAMS, START["phi"], START["rate"])
    return {name: everything[name] for name in (*names, *(f"v_{name}" for name in names))}


def _facts() -> dict[str, Fact]:
    l1, l2, r1, r2 = (PARAMS[name] for name in ("l1", "l2", "r1", "r2"))
    k = r1 / r2**2
    root = math.sqrt((k * l1 * l2) ** 2 - l2 * (1 + k * l2) * (k * l1**2 - l1))
    return {
        "curvature": Fact(k, "Curvature r1/r2^2 of the ellipse at its vertex [1/m].", f"{BURIAN}, (7) corrected"),
        "singular_a": Fact(
            l1 - l2 - r1, "The a at which the vertex meets the folded end, so that the space is singular [m].", BURIAN
        ),
        "crossing_slopes": Fact(
            tuple((k * l1 * l2 + sign * root) / (l2 * (1 + k * l2)) for sign in (-1, 1)),
            "Slopes d psi/d phi of the two branches at the singular point (0, pi).",
            f"{BURIAN}: tangent cone of f, equivalent to (6)",
        ),
        "tangency_r2": Fact(
            math.sqrt(r1),
            "The r2 at which the branches touch instead, for r1 > 1 [m].",
            f"{BURIAN}, section 3, corrected",
        ),
    }


def _entry(name: str, title: str, guide: str, coordinates: str, extra: Mapping[str, float]) -> Entry:
    def build() -> System:
        return linkage(name, guide).system(coordinates=coordinates)

    names = ("phi", "psi") if coordinates == "joint" else ("x_B", "y_B", "x_C", "y_C")
    return Entry(
        name=name,
        title=title,
        build=build,
        params={**PARAMS, **extra},
        state=_state(*names),
        facts=_facts(),
        source=BURIAN,
    )


def ellipse_pendulum() -> Entry:
    """Return the pendulum in its angles, critical and transversal."""
    return _entry("ellipse_pendulum", "pendulum on an ellipse, in angles", "plain", "joint", {})


def ellipse_pendulum_cartesian() -> Entry:
    """Return the pendulum in the coordinates of B and C: four coordinates, three constraints."""
    l1, l2, r1 = (PARAMS[name] for name in ("l1", "l2", "r1"))
    balance = Fact(
        (-l2 / l1, 1.0, l2 * r1),
        "Multipliers of AB, BC, ellipse that balance each other at the singular point: the null vector of (14).",
        f"{BURIAN}, (14)",
    )
    title = "pendulum on an ellipse, in Cartesian coordinates"
    entry = _entry("ellipse_pendulum_cartesian", title, "plain", "cartesian", {})
    return replace(entry, facts={**entry.facts, "self_stress": balance})


def ellipse_pendulum_friction() -> Entry:
    """Return the pendulum in its angles with Coulomb friction between C and the ellipse."""
    return _entry("ellipse_pendulum_friction", "pendulum on a rough ellipse", "rough", "joint", {"mu": 0.1})


def ellipse_pendulum_string() -> Entry:
    """Return the pendulum whose end is held inside the ellipse by a string, as in the paper's experiment."""
    title = "pendulum held inside an ellipse by a string"
    return _entry("ellipse_pendulum_string", title, "string", "joint", {"e": 0.0})
