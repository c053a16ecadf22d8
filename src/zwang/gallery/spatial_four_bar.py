"""A spatial four-bar, RSSR: a crank about z, a rocker about x in the plane x = d, and a rod on balls between them.

With the crank's tip B = a (cos(alpha), sin(alpha), 0) and the rocker's C = (d, b cos(gamma), b sin(gamma)) the rod says

    a^2 + b^2 + d^2 - 2 a d cos(alpha) - 2 a b sin(alpha) cos(gamma) = l^2.

With l^2 = (a - d)^2 + b^2 the tip of the crank comes to lie on the rocker's axis, where the rocker turns freely: the
space is that circle, alpha = 0, and the curve d tan(alpha/2) = b cos(gamma), which cross twice.
"""

from __future__ import annotations

import math

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "textbook mechanism; closed form of its equation"


def _build() -> System:
    q, (va, vg) = coordinates("alpha gamma", angles="alpha gamma")
    alpha, gamma = q
    a, b, d, l, J1, J2, m, g = parameters("a b d l J1 J2 m g")
    tip = sp.Matrix([a * sp.cos(alpha), a * sp.sin(alpha), 0])
    end = sp.Matrix([d, b * sp.cos(gamma), b * sp.sin(gamma)])
    rod = end - tip
    zero = sp.Integer(0)
    return System(
        name="rssr",
        kinetic=J1 * va**2 / 2 + (J2 + m * b**2) * vg**2 / 2,
        potential=m * g * end[2],
        constraints=[Bilateral(sp.sqrt(rod.dot(rod)) - l, name="rod")],
        coordinates=q,
        drawing=Drawing(
            {"A": (zero, zero, zero), "B": tuple(tip), "C": tuple(end), "D": (d, zero, zero)},
            bars=[("A", "B"), ("B", "C"), ("C", "D")],
            ground=("A", "D"),
        ),
    )


def rssr() -> Entry:
    """Return the mechanism whose crank can reach the rocker's axis, on the branch where both turn."""
    a, b, d, gamma = 0.6, 0.5, 1.0, 0.7
    alpha = 2 * math.atan(b * math.cos(gamma) / d)
    follows = -2 * b * math.sin(gamma) / d * math.cos(alpha / 2) ** 2  # dalpha/dgamma on that branch
    facts = {
        "singular_poses": Fact(
            ((0.0, -math.pi / 2), (0.0, math.pi / 2)),
            "(alpha, gamma) of the two poses in which the branches cross.",
            SOURCE,
        ),
        "crossing_slope": Fact(
            -2 * b / d, "Slope dalpha/dgamma of the moving branch where gamma = pi/2; the other's is 0.", SOURCE
        ),
        "half_tangent": Fact(b / d, "Factor k of tan(alpha/2) = k cos(gamma) on the branch where both turn.", SOURCE),
    }
    params = {"a": a, "b": b, "d": d, "l": math.hypot(a - d, b), "J1": 0.02, "J2": 0.01, "m": 0.3, "g": 9.81}
    return Entry(
        name="rssr",
        title="spatial four-bar (RSSR)",
        build=_build,
        params=params,
        state=moving({"alpha": alpha, "gamma": gamma}, {"alpha": follows, "gamma": 1.0}),
        facts=facts,
        source=SOURCE,
    )
