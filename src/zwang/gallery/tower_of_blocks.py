"""A tower of n blocks: each stands with two corners on the block below it, the first on the floor.

A contact is a corner of the upper block on the top face of the lower one: the gap is measured along the normal of
that face, the slip along it, relative to the material of the lower block.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.symbols import coordinates, parameters, rate
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest

SOURCE = "statics of a symmetric tower"
CORNERS = {"left": -1, "right": 1}


def _names(n: int) -> list[str]:
    return [f"{letter}{i + 1}" for i in range(n) for letter in ("x", "y", "theta")]


def _blocks(n: int) -> list[tuple[sp.Matrix, Any, Any]]:
    """Return centre, angle and angular velocity of the floor and of each block."""
    q, v = coordinates(_names(n), angles=[f"theta{i + 1}" for i in range(n)])
    (h,) = parameters("h,")
    floor = (sp.Matrix([0, -h]), sp.Integer(0), sp.Integer(0))
    return [floor, *((sp.Matrix([q[i], q[i + 1]]), q[i + 2], v[i + 2]) for i in range(0, 3 * n, 3))]


def _corner(block: tuple[sp.Matrix, Any, Any], across: int, up: int) -> sp.Matrix:
    centre, angle, _ = block
    b, h = parameters("b h")
    c, s = sp.cos(angle), sp.sin(angle)
    return centre + sp.Matrix([across * b * c - up * h * s, across * b * s + up * h * c])


def _declare(n: int) -> System:
    m, J, g, h, mu = parameters("m J g h mu")
    blocks = _blocks(n)
    contacts = []
    for i, (lower, upper) in enumerate(pairwise(blocks)):
        centre, angle, omega = lower
        normal, tangent = sp.Matrix([-sp.sin(angle), sp.cos(angle)]), sp.Matrix([sp.cos(angle), sp.sin(angle)])
        for side, across in CORNERS.items():
            corner = _corner(upper, across, -1)
            arm = corner - centre
            passing = rate(corner) - rate(centre) - omega * sp.Matrix([-arm[1], arm[0]])
            law = Coulomb(mu, slip=tangent.dot(passing))
            contacts.append(Unilateral(normal.dot(arm) - h, friction=law, restitution=0, name=f"block{i + 1} {side}"))
    moving = [(rate(centre), omega) for centre, _, omega in blocks[1:]]
    return System(
        name="stack",
        kinetic=sp.Add(*(m * (u[0] ** 2 + u[1] ** 2) / 2 + J * omega**2 / 2 for u, omega in moving)),
        potential=m * g * sp.Add(*(centre[1] for centre, _, _ in blocks[1:])),
        constraints=contacts,
        drawing=_draw(n),
    )


def _draw(n: int) -> Drawing:
    points: dict[str, tuple[Any, Any]] = {}
    bodies = {}
    for i, block in enumerate(_blocks(n)[1:], start=1):
        ring = [f"{i} {name}" for name in ("sw", "se", "ne", "nw")]
        for name, (across, up) in zip(ring, ((-1, -1), (1, -1), (1, 1), (-1, 1)), strict=True):
            corner = _corner(block, across, up)
            points[name] = (corner[0], corner[1])
        bodies[f"block {i}"] = ring
    return Drawing(points, bodies=bodies, traces=())


def stack(n: int = 3) -> Entry:
    """Return n equal square blocks of half width and height 0.5 at rest on each other."""
    m, b, h, g = 1.0, 0.5, 0.5, 9.81
    state = {
        f"{letter}{i + 1}": value
        for i in range(n)
        for letter, value in (("x", 0.0), ("y", (2 * i + 1) * h), ("theta", 0.0))
    }
    facts = {
        "pair_forces": Fact(
            tuple(m * g * (n - i) for i in range(n)),
            "Sum of the forces at the two corners of each block, from the floor up: the weight above [N].",
            SOURCE,
        ),
        "corner_share": Fact(0.5, "The share of each corner if the tower stands without friction.", SOURCE),
    }
    return Entry(
        name="stack",
        title=f"tower of {n} blocks",
        build=lambda: _declare(n),
        params={"m": m, "J": m * (4 * b**2 + 4 * h**2) / 12, "b": b, "h": h, "g": g, "mu": 0.5},
        state=at_rest(**state),
        facts=facts,
        source=SOURCE,
    )
