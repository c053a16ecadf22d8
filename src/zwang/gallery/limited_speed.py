"""A particle whose speed must not exceed a limit that falls suddenly: the one case in which entering is a shock."""

from __future__ import annotations

import sympy as sp

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.shapes import Box
from zwang._declare.symbols import coordinates, parameters, t
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import SALNIKOVA

SOURCE = f"{SALNIKOVA}, section 2: without shocks only where the limit is continuous in time"


def _declare() -> System:
    (x,), (vx,) = coordinates("x")
    m, F, c0, c1, drop = parameters("m F c0 c1 drop_time")
    limit = sp.Piecewise((c0, t < drop), (c1, True))
    return System(
        name="speed_limit",
        kinetic=m * vx**2 / 2,
        forces={x: F},
        constraints=[Unilateral(limit - vx, name="limit")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    return Drawing(
        {"P": ("x", 0)},
        bodies={"particle": (Box(0.3, 0.2), ("x", 0.1), 0)},
        curves={"road": (("u", 0), "u", ("x - 1", "x + 3"))},
        traces=(),
        scale=1,
    )


def speed_limit() -> Entry:
    """Return the particle at the limit 1, pushed; the limit falls to 0.4 at t = 1."""
    m, F, c0, c1, drop = 1.0, 0.5, 1.0, 0.4, 1.0
    facts = {
        "reaction": Fact(F, "The multiplier while the limit holds the particle [N].", SOURCE),
        "impulse": Fact(m * (c0 - c1), "The multiplier's impulse when the limit falls [N s].", SOURCE),
        "energy_loss": Fact(m * (c0**2 - c1**2) / 2, "The energy lost then [J].", SOURCE),
        "place_at_2": Fact(c0 * drop + c1 * (2.0 - drop), "Where the particle is at t = 2 [m].", SOURCE),
    }
    return Entry(
        name="speed_limit",
        title="particle under a speed limit that falls",
        build=_declare,
        params={"m": m, "F": F, "c0": c0, "c1": c1, "drop_time": drop},
        state=moving({"x": 0.0}, {"x": c0}),
        facts=facts,
        source=SOURCE,
    )
