"""Systems for tests of laws of friction: a block, a puck, and a law of one's own, which a ski obeys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
(X, Y, Z), (VX, VY, VZ) = zw.coordinates("X Y Z")
m, g, k, F, V, mu, mu_s = zw.parameters("m g k F V mu mu_s")
REST = {"x": 0.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}


@zw.law("test_ski")
@dataclass(frozen=True)
class Ski:
    forward: Any
    backward: Any
    slip: Any = field(kw_only=True)

    def section(self) -> zw.Interval:
        return zw.Interval(-self.forward, self.backward)


def block(law, name="block", **more):
    return zw.System(
        name=name,
        kinetic=m * (vx**2 + vy**2) / 2,
        potential=m * g * y + more.pop("potential", 0),
        constraints=[zw.Unilateral(y, friction=law, restitution=0, name="floor")],
        **more,
    )


def puck(law, **more):
    return zw.System(
        name="puck",
        kinetic=m * (VX**2 + VY**2 + VZ**2) / 2,
        potential=m * g * Z,
        constraints=[zw.Unilateral(Z, friction=law, restitution=0, name="floor")],
        **more,
    )


def at(system, **values):
    return {**{q.name: 0.0 for q in system.coordinates}, **{v.name: 0.0 for v in system.velocities}, **values}
