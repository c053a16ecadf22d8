"""The example of Kozlov and Neishtadt (1990): a unit mass held to y = 0 under the force (y, 1).

Released to a spring N y^2/2 it moves with y_N = (1 - cos(sqrt(N) t))/N: positions are off by O(1/N), the velocity
across by O(N^(-1/2)), the velocity along by O(1/N), and the force of the spring oscillates about the ideal reaction.
"""

from __future__ import annotations

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving
from zwang.gallery.sources import KOZLOV_NEISHTADT


def _declare() -> System:
    (x, y), (vx, vy) = coordinates("x y")
    return System(
        name="kozlov_neishtadt",
        kinetic=(vx**2 + vy**2) / 2,
        forces={x: y, y: 1},
        constraints=[Bilateral(y, name="floor")],
        drawing=Drawing({"P": (x, y)}, curves={"floor": (("u", 0), "u", ("x - 1", "x + 2"))}, scale=1),
    )


def kozlov_neishtadt() -> Entry:
    """Return the particle on the floor, moving along it."""
    where = f"{KOZLOV_NEISHTADT}, the example of section 2"
    facts = {
        "reaction": Fact(-1.0, "The reaction of the floor y = 0, at all times [N].", where),
        "acceleration": Fact((0.0, 0.0), "The acceleration on the floor [m/s^2].", where),
        "orders": Fact(
            (-1.0, -0.5, -1.0, -0.5),
            "Orders in N of position, velocity, tangential velocity and the integral of the force.",
            f"{where}, theorem (2.1) to (2.3); the printed order -1/2 of x' is corrected to -1",
        ),
    }
    return Entry(
        name="kozlov_neishtadt",
        title="particle held to a floor against a constant push",
        build=_declare,
        params={},
        state=moving({"x": 0.0, "y": 0.0}, {"x": 0.5}),
        facts=facts,
        source=where,
    )
