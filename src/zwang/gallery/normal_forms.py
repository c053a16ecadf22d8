"""The two normal forms of Burian (2024): A q'' + B = lam grad f + |lam| W with f = y^2 - x^2 or f = y^2 - x^4.

The configuration space f = 0 has a crossing of two lines, or two parabolas that touch; f = eps is its perturbation.
Friction W must be odd in the velocity and take energy out: with a slip W1 x' + W2 y' it is
W = -mu (W1, W2) sign(slip), and |T| <= mu |lam|. At s_eps, the point of f = eps next to the singular one, with
g1 = (A^-1)_yy, g2 = (A^-1 B)_y, g3 = (A^-1 W)_y, equation (8) is a lam + b |lam| = c with
a = 4 eps g1, b = 2 sqrt(eps) g3, c = 2 sqrt(eps) g2 + 2 v^2 (crossing, eps > 0): one solution for |b| < a, and two or
none for |b| > a.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.errors import DeclarationError, nearest
from zwang.gallery.entry import Entry, Fact, moving, named
from zwang.gallery.sources import BURIAN_2024 as BURIAN

POWERS = {"crossing": 2, "tangency": 4}


def declare(kind: str, A: Any = None, B: Any = None, W: Any = None) -> System:
    """Return a normal form with expressions of the caller, or parameters in their place; W = False: no friction."""
    if kind not in POWERS:
        raise DeclarationError(f"There is no normal form '{kind}'. {nearest(str(kind), POWERS)}")
    (x, y), (vx, vy) = coordinates("x y")
    A11, A12, A22, B1, B2, W1, W2, mu, eps = parameters("A11 A12 A22 B1 B2 W1 W2 mu eps")
    left = sp.Matrix([B1, B2] if B is None else list(B))
    law = None
    if W is not False:
        w = (W1, W2) if W is None else tuple(W)
        law = Coulomb(mu, slip=w[0] * vx + w[1] * vy)
    return System(
        name=kind,
        mass=sp.Matrix([[A11, A12], [A12, A22]]) if A is None else sp.Matrix(A),
        force=-left,
        constraints=[Bilateral(y**2 - x ** POWERS[kind] - eps, friction=law, name="curve")],
        coordinates=(x, y),
        drawing=Drawing({"P": (x, y)}, curves={"curve": (f"Y**2 - X**{POWERS[kind]} - eps", ("X", "Y"))}, scale=3),
    )


PARAMS = named("A11 A12 A22 B1 B2 W1 W2 mu eps", 2, 0.3, 1.5, 0.2, -0.7, 1, 0.5, 0.4, 0)
DETERMINANT = PARAMS["A11"] * PARAMS["A22"] - PARAMS["A12"] ** 2


def _across(axis: str) -> tuple[float, float, float]:
    """Return g1, g2 and g3 at the nearest point of f = eps, for motion with positive slip along the other axis."""
    p = PARAMS
    if axis == "y":
        row = (-p["A12"] / DETERMINANT, p["A11"] / DETERMINANT)
    else:
        row = (p["A22"] / DETERMINANT, -p["A12"] / DETERMINANT)
    g1 = row[1] if axis == "y" else row[0]
    g2 = row[0] * p["B1"] + row[1] * p["B2"]
    return g1, g2, -p["mu"] * (row[0] * p["W1"] + row[1] * p["W2"])


def crossing() -> Entry:
    """Return the crossing with constant A, B, W, on the branch y = x."""
    g1, g2, g3 = _across("y")
    eps, v = 0.01, 1.0
    facts = {
        "slopes": Fact((-1.0, 1.0), "Slopes of the two branches at the singular point.", f"{BURIAN}, (9)"),
        "exponents": Fact(
            (-1.0, -0.5), "Exponents of |lam| in |eps| without and with friction.", f"{BURIAN}, theorem 1"
        ),
        "multiplier": Fact(
            (2 * math.sqrt(eps) * g2 + 2 * v**2) / (4 * eps * g1),
            "lam without friction at (0, sqrt(eps)) for eps = 0.01 and the velocity (1, 0).",
            f"{BURIAN}, (6), (12)",
        ),
        "threshold": Fact(
            (abs(g3) / (2 * g1)) ** 2,
            "eps*: below it there are two solutions one way and none the other, above it one both ways; c keeps its "
            "sign up to (v^2/g2)^2, which is larger here at unit speed.",
            f"{BURIAN}, remark 1, with the restriction eps < min(eps*, (v^2/g2)^2) that theorem 1.3 lacks",
        ),
    }
    return Entry(
        name="crossing",
        title="normal form of a crossing, with friction",
        build=lambda: declare("crossing"),
        params=PARAMS,
        state=moving({"x": 0.5, "y": 0.5}, {"x": 1.0, "y": 1.0}),
        facts=facts,
        source=f"{BURIAN}, section 3",
    )


def tangency() -> Entry:
    """Return the tangency with constant A, B, W, on the branch y = x^2."""
    g1, g2, _ = _across("y")
    h1, h2, _ = _across("x")
    eps, v = 0.01, 1.0
    facts = {
        "order": Fact(1.0, "Order of contact of the two branches.", f"{BURIAN}, (14)"),
        "exponents_positive": Fact(
            (-0.5, 0.0), "Exponents of |lam| in eps > 0 without and with friction.", f"{BURIAN}, theorem 2"
        ),
        "exponents_negative": Fact(
            (-1.5, -0.75), "Exponents of |lam| in |eps|, eps < 0, without and with friction.", f"{BURIAN}, theorem 2"
        ),
        "multiplier": Fact(
            2 * math.sqrt(eps) * g2 / (4 * eps * g1),
            "lam without friction at (0, sqrt(eps)) for eps = 0.01 and the velocity (1, 0).",
            f"{BURIAN}, (17)",
        ),
        "multiplier_negative": Fact(
            (-4 * eps**0.75 * h2 - 2 * v**2) / (16 * eps**1.5 * h1),
            "lam without friction at ((-eps)^(1/4), 0) for eps = -0.01 and the velocity (0, 1).",
            f"{BURIAN}, (20), the sign of 2 v^2 corrected",
        ),
    }
    return Entry(
        name="tangency",
        title="normal form of a tangency, with friction",
        build=lambda: declare("tangency"),
        params=PARAMS,
        state=moving({"x": 0.5, "y": 0.25}, {"x": 1.0, "y": 1.0}),
        facts=facts,
        source=f"{BURIAN}, section 4",
    )
