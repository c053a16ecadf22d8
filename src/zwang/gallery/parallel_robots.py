"""Robots whose cranks carry one platform together: a Delta in space, a 3-RRR in the plane.

Between the elbow of a crank and the platform stands a rod without mass (in the Delta a parallelogram of two, so that
the platform only slides). With the cranks held the platform is shaky where its columns of the rods' rows are
dependent (parallel singularity); a crank comes to a dead centre where its own entry vanishes (serial singularity).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest

DELTA = "R. Clavel, Proc. 18th International Symposium on Industrial Robots (1988) 91-100"
RRR = "C. Gosselin, J. Angeles, IEEE Transactions on Robotics and Automation 6(3) (1990) 281-290"
CLOSED_FORM = "closed form of the symmetric pose"


def _rods(elbows: Sequence[Any], joints: Sequence[Any], length: Any) -> list[Bilateral]:
    gaps = [joint - elbow for elbow, joint in zip(elbows, joints, strict=True)]
    return [Bilateral(sp.sqrt(gap.dot(gap)) - length, name=f"rod {k}") for k, gap in enumerate(gaps, 1)]


def _picture(pivots: Sequence[Any], elbows: Sequence[Any], joints: Sequence[Any]) -> Drawing:
    points = {
        f"{letter}{k}": tuple(place)
        for letter, places in (("A", pivots), ("B", elbows), ("P", joints))
        for k, place in enumerate(places, 1)
    }
    bars = [pair for k in (1, 2, 3) for pair in ((f"A{k}", f"B{k}"), (f"B{k}", f"P{k}"))]
    return Drawing(points, bars=bars, bodies={"platform": ("P1", "P2", "P3")}, ground=("A1", "A2", "A3"))


def delta() -> Entry:
    """Return the Delta robot with all arms 0.9 rad below the horizontal, at rest."""
    R, r, a, l, m, ma, g, theta = 0.2, 0.05, 0.2, 0.3, 0.5, 0.3, 9.81, 0.9
    reach = R - r + a * math.cos(theta)
    depth = math.sqrt(l**2 - reach**2)
    slope = -a * math.cos(theta) - reach * a * math.sin(theta) / depth  # dz/dtheta
    facts = {
        "height": Fact(-a * math.sin(theta) - depth, "Height of the platform at the state [m].", CLOSED_FORM),
        # One freedom by symmetry: T = (m slope^2 + ma a^2) theta'^2/2, V = m g z - 3 ma g a sin(theta)/2.
        "arm_acceleration": Fact(
            -(m * g * slope - 1.5 * ma * g * a * math.cos(theta)) / (m * slope**2 + ma * a**2),
            "Angular acceleration of each arm at the state [rad/s^2].",
            CLOSED_FORM,
        ),
        "flat_angle": Fact(
            math.acos((l - R + r) / a),
            "Angle of all arms at which the rods lie in the platform's plane, which can then move up and down [rad].",
            DELTA,
        ),
        "stretched_angle": Fact(
            math.pi - math.acos((R - r) / (a + l)),
            "Angle of all arms at which each lies on one line with its rod, a dead centre of all three [rad].",
            DELTA,
        ),
    }
    return Entry(
        name="delta",
        title="Delta robot",
        build=_build_delta,
        params={"R": R, "r": r, "a": a, "l": l, "m": m, "ma": ma, "g": g},
        state=at_rest(x=0.0, y=0.0, z=-a * math.sin(theta) - depth, **{f"theta{k}": theta for k in (1, 2, 3)}),
        facts=facts,
        source=DELTA,
    )


def _build_delta() -> System:
    q, v = coordinates("x y z theta1 theta2 theta3", angles="theta1 theta2 theta3")
    R, r, a, l, m, ma, g = parameters("R r a l m ma g")
    kinetic, potential = m * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / 2, m * g * q[2]
    pivots, elbows, joints = [], [], []
    for k in range(3):
        out = sp.Matrix([sp.cos(2 * sp.pi * k / 3), sp.sin(2 * sp.pi * k / 3), 0])
        theta, spin = q[3 + k], v[3 + k]
        pivots.append(R * out)
        elbows.append((R + a * sp.cos(theta)) * out - sp.Matrix([0, 0, a * sp.sin(theta)]))
        joints.append(sp.Matrix(q[:3]) + r * out)
        kinetic += ma * a**2 * spin**2 / 6
        potential -= ma * g * a * sp.sin(theta) / 2
    return System(
        name="delta",
        kinetic=kinetic,
        potential=potential,
        constraints=_rods(elbows, joints, l),
        coordinates=q,
        drawing=_picture(pivots, elbows, joints),
    )


def three_rrr() -> Entry:
    """Return the planar 3-RRR platform, centred, its cranks turned alike."""
    R, r, a, b, m, J, mc, g, phi = 1.0, 0.3, 0.5, 0.6, 1.0, 0.05, 0.4, 9.81, 0.4
    corner = (r * math.cos(phi) - R, r * math.sin(phi))  # of the first leg, seen from its pivot at (R, 0)
    reach = math.hypot(*corner)
    alpha = math.atan2(corner[1], corner[0]) + math.acos((a**2 + reach**2 - b**2) / (2 * a * reach))
    rod = (R + a * math.cos(alpha) - r * math.cos(phi), a * math.sin(alpha) - r * math.sin(phi))
    # All rods on lines through the centre: |B| = r + b, then the platform turns as B stands.
    bend = math.acos((R**2 + a**2 - (r + b) ** 2) / (2 * R * a))
    radial = math.atan2(a * math.sin(math.pi - bend), R + a * math.cos(math.pi - bend))
    facts = {
        # (B - P) . (B' - P') = 0 with B' = a alpha' across the crank and P' = r phi' across the corner's radius.
        "transmission": Fact(
            a
            * (rod[1] * math.cos(alpha) - rod[0] * math.sin(alpha))
            / (r * (rod[1] * math.cos(phi) - rod[0] * math.sin(phi))),
            "Rate of phi per rate of the cranks while they turn alike, at the state.",
            CLOSED_FORM,
        ),
        "concurrent_pose": Fact(
            (math.pi - bend, radial),
            "(crank angle alpha1, turn phi) of the centred pose in which the lines of all rods meet in the centre, so "
            "that the platform can turn with its cranks held; alpha2 and alpha3 are 120 degrees further each.",
            RRR,
        ),
        "stretched_distance": Fact(
            a + b, "Distance from pivot to corner of the platform at which that crank is at a dead centre [m].", RRR
        ),
    }
    turns = {f"alpha{k + 1}": alpha + 2 * math.pi * k / 3 for k in range(3)}
    return Entry(
        name="three_rrr",
        title="planar 3-RRR platform",
        build=_build_three_rrr,
        params={"R": R, "r": r, "a": a, "b": b, "m": m, "J": J, "mc": mc, "g": g},
        state=at_rest(x=0.0, y=0.0, phi=phi, **turns),
        facts=facts,
        source=RRR,
    )


def _build_three_rrr() -> System:
    q, v = coordinates("x y phi alpha1 alpha2 alpha3", angles="phi alpha1 alpha2 alpha3")
    R, r, a, b, m, J, mc, g = parameters("R r a b m J mc g")
    kinetic, potential = (m * (v[0] ** 2 + v[1] ** 2) + J * v[2] ** 2) / 2, m * g * q[1]
    pivots, elbows, joints = [], [], []
    for k in range(3):
        out, turn = 2 * sp.pi * k / 3, q[3 + k]
        pivots.append(R * sp.Matrix([sp.cos(out), sp.sin(out)]))
        elbows.append(pivots[k] + a * sp.Matrix([sp.cos(turn), sp.sin(turn)]))
        joints.append(sp.Matrix(q[:2]) + r * sp.Matrix([sp.cos(q[2] + out), sp.sin(q[2] + out)]))
        kinetic += mc * a**2 * v[3 + k] ** 2 / 6
        potential += mc * g * a * sp.sin(turn) / 2
    return System(
        name="three_rrr",
        kinetic=kinetic,
        potential=potential,
        constraints=_rods(elbows, joints, b),
        coordinates=q,
        drawing=_picture(pivots, elbows, joints),
    )
