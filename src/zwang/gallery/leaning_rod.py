"""A rod on a rough floor, alone or leaning on a rough wall, in the coordinates of its foot (Ivanov 2013).

With a = l cos(theta), h = l sin(theta), unit mass and unit radius of gyration the mass matrix A and its inverse are
those of example 5; the wall of example 6 adds the normal (1, 0, -2 h) and the tangent (0, 1, 2 a). Floor and wall may
accelerate along their normals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.symbols import coordinates, parameters, rate, t
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest, matrix_fact, moving, named
from zwang.gallery.sources import IVANOV


def _declare(name: str, wall: bool) -> System:
    (x, y, theta), (vx, _, omega) = coordinates("x y theta", angles="theta")
    m, J, l, g, mu, F1, F2, F3, floor = parameters("m J l g mu F1 F2 F3 floor_acceleration")
    mu_wall, wall_acceleration = parameters("mu_wall wall_acceleration")
    foot = sp.Matrix([x, y])
    along = sp.Matrix([sp.cos(theta), sp.sin(theta)])
    centre, top = rate(foot + l * along), foot + 2 * l * along
    contacts = [
        Unilateral(y - floor * t**2 / 2, friction=Coulomb(mu, slip=vx), restitution=0, name="floor"),
        Unilateral(
            top[0] - wall_acceleration * t**2 / 2,
            friction=Coulomb(mu_wall, slip=rate(top[1])),
            restitution=0,
            name="wall",
        ),
    ]
    return System(
        name=name,
        kinetic=m * (centre[0] ** 2 + centre[1] ** 2) / 2 + J * omega**2 / 2,
        potential=m * g * (y + l * sp.sin(theta)),
        forces={x: F1, y: F2, theta: F3},
        constraints=contacts if wall else contacts[:1],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    (x, y, theta), _ = coordinates("x y theta", angles="theta")
    (l,) = parameters("l,")
    top = (x + 2 * l * sp.cos(theta), y + 2 * l * sp.sin(theta))
    return Drawing({"foot": (x, y), "top": top}, bars=[("foot", "top")])


def _width_and_height() -> tuple[Any, Any]:
    """Return a and h as expressions."""
    (_, _, theta), _ = coordinates("x y theta", angles="theta")
    (l,) = parameters("l,")
    return l * sp.cos(theta), l * sp.sin(theta)


def _matrices(values: Mapping[str, float]) -> dict[str, Fact]:
    """Return A and its inverse, for unit mass and unit radius of gyration."""
    (l,) = parameters("l,")
    a, h = _width_and_height()
    mass = [[1, 0, -h], [0, 1, a], [-h, a, 1 + l**2]]
    inverse = [[1 + h**2, -a * h, h], [-a * h, 1 + a**2, -a], [h, -a, 1]]
    where = f"{IVANOV}, example 5"
    return {
        "mass": matrix_fact(mass, values, "The mass matrix A, for m = J = 1.", where),
        "inverse_mass": matrix_fact(inverse, values, "The inverse of A, for m = J = 1.", where),
    }


def painleve_rod_tip() -> Entry:
    """Return the rod of example 5: at 120 degrees, its foot sliding with 1 m/s."""
    l, theta, mu, g = math.sqrt(3.0), 2 * math.pi / 3, 0.5, 9.81
    a, h = l * math.cos(theta), l * math.sin(theta)
    facts = {
        **_matrices({"l": l, "theta": theta}),
        "paradox_friction": Fact(
            (1 + a**2) / (abs(a) * h),
            "(4.10): up to this coefficient there is one solution, for every force and both directions of sliding.",
            f"{IVANOV}, example 5",
        ),
        "normal_force": Fact(
            # Sliding with v > 0: N (1 + a^2 + mu a h) = g; the foot is the contact, and the rod does not turn.
            g / (1 + a**2 + mu * a * h),
            "The normal force at the state of this entry [N].",
            f"{IVANOV}, example 5, sign of the friction corrected for one-sided contacts",
        ),
    }
    return Entry(
        name="painleve_rod_tip",
        title="rod on a floor, in the coordinates of its foot",
        build=lambda: _declare("painleve_rod_tip", wall=False),
        params=named("m J l g mu F1 F2 F3 floor_acceleration", 1, 1, l, g, mu, 0, 0, 0, 0),
        state=moving({"x": 0.0, "y": 0.0, "theta": theta}, {"x": 1.0}),
        facts=facts,
        source=f"{IVANOV}, example 5",
    )


def ladder() -> Entry:
    """Return the ladder of example 6 at rest at 120 degrees, under gravity."""
    l, theta, mu, g = math.sqrt(3.0), 2 * math.pi / 3, 0.3, 9.81
    a, h = l * math.cos(theta), l * math.sin(theta)
    slope = abs(a) / h
    where = f"{IVANOV}, example 6"
    values = {"l": l, "theta": theta}
    width, height = _width_and_height()
    facts = {
        **_matrices(values),
        "normals": matrix_fact(
            [[0, 1, 0], [1, 0, -2 * height]], values, "Rows of the two normals, n_1 and n_2.", where
        ),
        "tangents": matrix_fact(
            [[1, 0, 0], [0, 1, 2 * width]], values, "Rows of the two tangents, t_1 and t_2.", where
        ),
        "floor_force_range": Fact(
            (
                g * (1 - mu * slope / (2 * (1 + mu * slope))),
                g * (1 + (mu - slope / 2) / (slope - mu)),
            ),
            "At rest under gravity the force of the floor can be anything in this interval [N].",
            f"{where}: the reactions are not unique at rest; statics of a rod with both frictions mu = 0.3",
        ),
        "wedging_frictions": Fact(
            (slope, 1 / slope),
            "The ladder can jam, by forces along the rod, where mu and mu_wall reach these values.",
            f"{where}, condition 1 of Theorem 13 corrected: mu h < |a| or mu_wall |a| < h excludes it",
        ),
        "paradox_friction": Fact((1 + a**2) / (abs(a) * h), "(4.10) as an equality, for the floor.", where),
        "paradox_friction_wall": Fact((1 + h**2) / (abs(a) * h), "(4.16) as an equality, for the wall.", where),
    }
    return Entry(
        name="ladder",
        title="ladder on a rough floor and a rough wall, which may accelerate",
        build=lambda: _declare("ladder", wall=True),
        params={
            **named("m J l g mu mu_wall F1 F2 F3", 1, 1, l, g, mu, mu, 0, 0, 0),
            **named("floor_acceleration wall_acceleration", 0, 0),
        },
        state=at_rest(x=-2 * a, y=0.0, theta=theta),
        facts=facts,
        source=where,
    )
