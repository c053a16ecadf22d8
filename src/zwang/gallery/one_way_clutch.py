"""Two wheels on one shaft with a freewheel between them: the driven one may run ahead, not behind."""

from __future__ import annotations

import math
from typing import Any

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.shapes import Sphere
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "one-sided velocity constraint, closed form"


def _declare() -> System:
    (theta1, theta2), (omega1, omega2) = coordinates("theta1 theta2", angles=True)
    J1, J2, M, c = parameters("J1 J2 M c")
    return System(
        name="freewheel",
        kinetic=(J1 * omega1**2 + J2 * omega2**2) / 2,
        forces={theta1: M, theta2: -c * omega2},
        constraints=[Unilateral(omega2 - omega1, name="clutch")],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    points: dict[str, tuple[Any, Any]] = {}
    for i, x in (("1", "-1.2"), ("2", "1.2")):
        points |= {f"hub {i}": (x, 0), f"rim {i}": (f"{x} + cos(theta{i})", f"sin(theta{i})")}
    return Drawing(
        points,
        bars=[("hub 1", "rim 1"), ("hub 2", "rim 2")],
        bodies={"driver": (Sphere(1), (-1.2, 0), "theta1"), "driven": (Sphere(1), (1.2, 0), "theta2")},
        traces=(),
    )


def freewheel() -> Entry:
    """Return the driven wheel running ahead: it slows down, the driver speeds up, and the clutch catches."""
    J1, J2, M, c, ahead = 1.0, 2.0, 1.5, 0.4, 3.0
    facts = {
        "driver_acceleration": Fact(M / J1, "Angular acceleration of the driver while it runs free [rad/s^2].", SOURCE),
        "driven_rate": Fact(c / J2, "The driven wheel slows down like exp(-(this) t) [1/s].", SOURCE),
        "final_speed": Fact(M / c, "The speed that both tend to once they are caught [rad/s].", SOURCE),
        "final_torque": Fact(M, "The torque in the clutch then [N m].", SOURCE),
        "capture_time": Fact(
            _meeting(M / J1, ahead, c / J2), "When the clutch catches: (M/J1) t = w2 exp(-c t/J2) [s].", SOURCE
        ),
    }
    return Entry(
        name="freewheel",
        title="freewheel clutch between two wheels",
        build=_declare,
        params={"J1": J1, "J2": J2, "M": M, "c": c},
        state=moving({"theta1": 0.0, "theta2": 0.0}, {"theta2": ahead}),
        facts=facts,
        source=SOURCE,
    )


def _meeting(rise: float, start: float, fall: float) -> float:
    """Return the root of rise t = start exp(-fall t): Lambert's W(fall start/rise)/fall, by Newton's method."""
    time = start / (rise + start * fall)
    for _ in range(50):
        decayed = start * math.exp(-fall * time)
        time -= (rise * time - decayed) / (rise + fall * decayed)
    return time
