"""A beam on two one-sided skates along it, at its two ends: each end may slip to the left, not to the right.

Held by both, the beam can only run along itself without turning; held by one, that end is a one-sided sleigh with its
centre of mass ahead of the blade, or behind it.
"""

from __future__ import annotations

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import SALNIKOVA

SOURCE = f"two one-sided velocity constraints at once, after {SALNIKOVA}"


def _declare() -> System:
    (x, y, phi), (vx, vy, omega) = coordinates("x y phi", angles="phi")
    m, J, b, F, M = parameters("m J b F M")
    across = vy * sp.cos(phi) - vx * sp.sin(phi)
    return System(
        name="two_skates",
        kinetic=m * (vx**2 + vy**2) / 2 + J * omega**2 / 2,
        # A constant pull across the beam, to its right, and a torque.
        forces={x: F * sp.sin(phi), y: -F * sp.cos(phi), phi: M},
        constraints=[
            Unilateral(across + b * omega, name="front"),
            Unilateral(across - b * omega, name="rear"),
        ],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    (x, y, phi), _ = coordinates("x y phi", angles="phi")
    b = parameters("b")
    c, s = b * sp.cos(phi), b * sp.sin(phi)
    return Drawing({"front": (x + c, y + s), "rear": (x - c, y - s)}, bars=[("rear", "front")])


def two_skates() -> Entry:
    """Return the beam running along itself, pressed against both skates."""
    m, J, b, F, M = 1.0, 0.2, 0.5, 2.0, 0.3
    facts = {
        "reactions": Fact(
            ((F - M / b) / 2, (F + M / b) / 2), "The forces of front and rear skate, both gripping [N].", SOURCE
        ),
        "largest_torque": Fact(F * b, "The torque beyond which the front skate lets go [N m].", SOURCE),
    }
    return Entry(
        name="two_skates",
        title="beam on two one-sided skates",
        build=_declare,
        params={"m": m, "J": J, "b": b, "F": F, "M": M},
        state=moving({"x": 0.0, "y": 0.0, "phi": 0.0}, {"x": 1.0}),
        facts=facts,
        source=SOURCE,
    )
