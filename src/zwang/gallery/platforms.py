"""Platforms on legs in space: of Gough and Stewart (two types), and of three legs that only let it slide (3-UPU).

The legs have no mass and join points of the ground with points of the platform: a universal joint below, a slide, a
ball (UPS) or another universal joint (UPU) above. With its length held, a leg is one constraint, |P - B|^2 = l^2, over
2 l, so that its multiplier is its force. Its row is the line of the leg, and the platform is shaky where the six lines
are dependent. A leg between universal joints also hands on torsion: with the outer axes u_B on the ground and u_P on
the platform, (P - B) . (u_P x u_B) = 0, and where the axes agree its row is n = l - (u . l) u as a moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sympy as sp

from zwang._bodies.builder import Bodies
from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import parameter, parameters
from zwang._declare.system import System
from zwang._declare.vectors import Vector
from zwang.gallery.entry import Entry, Fact

FICHTER = "E. F. Fichter, International Journal of Robotics Research 5(2) (1986) 157-182"
HUNT = "K. H. Hunt, ASME Journal of Mechanisms, Transmissions, and Automation in Design 105 (1983) 705-712"
UPU = "R. Di Gregorio, V. Parenti-Castelli, ASME Journal of Mechanical Design 124 (2002) 259-264"
BALANCE = "balance of forces on the platform"
INERTIA = {"m": 2.0, "J": 0.05, "Jz": 0.1, "g": 9.81}
Ends = tuple[Vector, Vector]


def _ring(radius: Any, angle: Any) -> Vector:
    return radius * sp.cos(angle), radius * sp.sin(angle), sp.Integer(0)


def _third(k: int) -> Any:
    return 2 * sp.pi * k / 3


def _platform(name: str, ends: list[Ends], more: Callable[[Any, list[Any]], list[Bilateral]] | None = None) -> System:
    """Return a platform whose legs join places of the ground with places of it, both told in the frame of their own."""
    plain = Bodies(name, gravity=(0, 0, "-g")).body("platform", mass="m", inertia=("J", "J", "Jz")).system()
    assert plain.tree is not None
    r, axes = plain.tree.place_of("platform")
    centre, turned = sp.Matrix(r), sp.Matrix(axes)
    arms = {top: turned * sp.Matrix(top) for _, top in ends}
    above = {top: centre + arm for top, arm in arms.items()}
    feet = [sp.Matrix(below) for below, _ in ends]
    l, rows = parameter("l"), []
    for k, (foot, (_, top)) in enumerate(zip(feet, ends, strict=True), 1):
        # |d + R p|^2 with |R p| = |p|: bilinear in place and turn.
        d, p = centre - foot, sp.Matrix(top)
        square = d.dot(d) + 2 * d.dot(arms[top]) + sp.trigsimp(p.dot(p))
        rows.append(Bilateral((square - l**2) / (2 * l), name=f"leg {k}"))
    legs = [above[top] - foot for foot, (_, top) in zip(feet, ends, strict=True)]
    rows += [] if more is None else more(turned, legs)
    corners = {top: f"P{k}" for k, top in enumerate(above, 1)}
    drawing = Drawing(
        {f"B{k}": tuple(foot) for k, foot in enumerate(feet, 1)} | {corners[top]: tuple(above[top]) for top in above},
        bars=[(f"B{k}", corners[top]) for k, (_, top) in enumerate(ends, 1)],
        bodies={"platform": tuple(corners.values())},
        ground=tuple(f"B{k}" for k in range(1, len(ends) + 1)),
    )
    return plain.replace(constraints=[*plain.constraints, *rows], drawing=drawing)


def _level(height: float) -> dict[str, float]:
    """Return the platform at rest at this height, not turned."""
    state = Bodies("home").body("platform", mass=1, inertia=(1, 1, 1)).place("platform", at=(0, 0, height))
    return {key: float(value) for key, value in state.items()}


def _hexagons(beta: Any) -> list[Ends]:
    """Return the legs between two semi-regular hexagons: corners alpha on either side of three directions, and beta."""
    R, r, alpha = parameters("R r alpha")
    return [(_ring(R, _third(k) + s * alpha), _ring(r, _third(k) + s * beta)) for k in range(3) for s in (-1, 1)]


def gough_stewart() -> Entry:
    """Return the Gough-Stewart platform on two semi-regular hexagons that are not similar, level and not turned."""
    R, r, alpha, beta, h = 1.0, 0.6, 0.3, 0.7, 1.2
    l = math.sqrt(R**2 + r**2 - 2 * R * r * math.cos(alpha - beta) + h**2)
    facts = {
        "leg_force": Fact(INERTIA["m"] * INERTIA["g"] * l / (6 * h), "Force along each leg at the state [N].", BALANCE),
        "singular_yaws": Fact(
            (-math.pi / 2, math.pi / 2),
            "Yaws of the platform without tilt at which it is shaky, wherever its centre is [rad].",
            FICHTER,
        ),
        "rank_at_singular_yaws": Fact(5.0, "Rank of the six lines of the legs there.", FICHTER),
    }
    return Entry(
        name="gough_stewart",
        title="Gough-Stewart platform on six legs",
        build=lambda: _platform("gough_stewart", _hexagons(parameter("beta"))),
        params={"R": R, "r": r, "alpha": alpha, "beta": beta, "l": l, **INERTIA},
        state=_level(h),
        facts=facts,
        source=FICHTER,
    )


def stewart_triangle() -> Entry:
    """Return the platform of type 6-3: its legs meet in pairs at the corners of a triangle."""
    R, r, alpha, h = 1.0, 0.6, 0.6, 1.2
    l = math.sqrt(R**2 + r**2 - 2 * R * r * math.cos(alpha) + h**2)
    facts = {
        "leg_force": Fact(INERTIA["m"] * INERTIA["g"] * l / (6 * h), "Force along each leg at the state [N].", BALANCE),
        "singular_yaws": Fact(
            (-math.pi / 2, math.pi / 2), "Yaws without tilt at which the platform is shaky [rad].", FICHTER
        ),
        # The plane of the platform goes through the two feet of the leg pair: tan(pitch) = h/(R cos(alpha)).
        "singular_pitch": Fact(
            math.atan2(h, R * math.cos(alpha)),
            "Turn about y, centre as in the state, at which the platform's plane contains both legs of its first "
            "corner, so that it can turn about the line of the other two [rad].",
            HUNT,
        ),
    }
    return Entry(
        name="stewart_triangle",
        title="Gough-Stewart platform of type 6-3",
        build=lambda: _platform("stewart_triangle", _hexagons(sp.Integer(0))),
        params={"R": R, "r": r, "alpha": alpha, "l": l, **INERTIA},
        state=_level(h),
        facts=facts,
        source=HUNT,
    )


def three_upu() -> Entry:
    """Return the 3-UPU platform, centred; delta turns its outer axes from radial (0) to tangential (pi/2) ones."""
    R, r, h = 1.0, 0.5, 0.8
    l = math.hypot(R - r, h)
    facts = {
        "leg_force": Fact(INERTIA["m"] * INERTIA["g"] * l / (3 * h), "Force along each leg at the state [N].", BALANCE),
        "rank_tangential": Fact(3.0, "Rank of the rows of torsion, tangential axes and unequal radii.", UPU),
        "rank_radial": Fact(1.0, "Rank of the rows of torsion for radial axes, delta = 0: it can turn as it is.", UPU),
        "rank_equal_radii": Fact(1.0, "Rank of the rows of torsion for tangential axes and R = r, off height 0.", UPU),
    }
    return Entry(
        name="three_upu",
        title="3-UPU platform, which only slides",
        build=_build_three_upu,
        params={"R": R, "r": r, "delta": math.pi / 2, "l": l, **INERTIA},
        state=_level(h),
        facts=facts,
        source=UPU,
    )


def _build_three_upu() -> System:
    R, r, delta = parameters("R r delta")

    def torsion(turned: Any, legs: list[Any]) -> list[Bilateral]:
        rows = []
        for k, leg in enumerate(legs):
            axis = sp.Matrix(_ring(sp.Integer(1), _third(k) + delta))
            rows.append(Bilateral(leg.dot((turned * axis).cross(axis)), name=f"torsion {k + 1}"))
        return rows

    return _platform("three_upu", [(_ring(R, _third(k)), _ring(r, _third(k))) for k in range(3)], torsion)
