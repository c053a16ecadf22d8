"""A wheel on a ratchet, which may turn forwards only, under an alternating torque.

From rest it turns with (M/(J w)) sin(w t), is held when that reaches zero at pi/w, and is let go when the torque turns
forwards again at 3 pi/(2 w); from then on it turns with (M/(J w)) (1 + sin(w t)).
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters, t
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest

TEETH = 14  # as in the drawing
SOURCE = "one-sided velocity constraint, closed form"


def _declare() -> System:
    (theta,), (omega,) = coordinates("theta", angles="theta")
    J, M, w = parameters("J M w")
    return System(
        name="ratchet",
        kinetic=J * omega**2 / 2,
        forces={theta: M * sp.cos(w * t)},
        constraints=[Unilateral(omega, name="pawl")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    points: dict[str, tuple[Any, Any]] = {"hub": (0, 0), "pivot": (1.3, 0.75), "pawl": (0.93, 0.12)}
    teeth = []
    for k in range(TEETH):
        # Each tooth rises slowly and falls at once, so that the pawl slides over it one way only.
        for name, radius, part in (("top", 1.0, 0.0), ("root", 0.82, 0.12)):
            angle = f"theta + {2 * math.pi * (k + part) / TEETH!r}"
            points[f"{name} {k}"] = (f"{radius}*cos({angle})", f"{radius}*sin({angle})")
            teeth.append(f"{name} {k}")
    return Drawing(points, bars=[("pivot", "pawl")], bodies={"wheel": teeth}, ground=["hub", "pivot"], traces=())


def ratchet() -> Entry:
    """Return the wheel at rest when the torque is greatest."""
    J, M, w = 0.5, 1.0, 2.0
    facts = {
        "capture_time": Fact(math.pi / w, "When the pawl first holds the wheel [s].", SOURCE),
        "release_time": Fact(3 * math.pi / (2 * w), "When it lets it go [s].", SOURCE),
        "angle_held": Fact(2 * M / (J * w**2), "The angle at which it holds it [rad].", SOURCE),
        "largest_torque": Fact(M, "The largest torque of the pawl, when it catches [N m].", SOURCE),
    }
    return Entry(
        name="ratchet",
        title="wheel on a ratchet",
        build=_declare,
        params={"J": J, "M": M, "w": w},
        state=at_rest(theta=0.0),
        facts=facts,
        source=SOURCE,
    )
