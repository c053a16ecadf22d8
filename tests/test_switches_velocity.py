"""Switches of friction, and of limits on velocities."""

from __future__ import annotations

import math

import pytest

import zwang as zw

(x,), (vx,) = zw.coordinates("x")


def test_friction_and_one_sided_limits_on_velocities_switch_too() -> None:
    brake = zw.System(
        kinetic=vx**2 / 2, coordinates=(x,), constraints=[zw.Friction(2, slip=vx, name="brake", starts="off")],
        events=[zw.Event(x - 1, then=zw.Switch(on="brake"), name="brakes")],
    )  # fmt: skip
    motion = zw.simulate(brake, {"x": 0.0, "v_x": 2.0}, until=3.0)
    assert motion.end["x"] == pytest.approx(1 + 2**2 / (2 * 2)) and motion.events.of("stick", "brake")
    lets_go = brake.replace(
        constraints=[zw.Friction(2, slip=vx, name="brake")],
        events=[zw.Event(zw.reaction("brake") + 1, then=zw.Switch(off="brake"), name="worn")],
    )
    assert zw.simulate(lets_go, {"x": 0.0, "v_x": 2.0}, until=3.0).events.of("switch")[0].time == pytest.approx(1.0)
    pawl = zw.System(
        kinetic=vx**2 / 2, potential=x**2 / 2, coordinates=(x,),
        constraints=[zw.Unilateral(vx, name="pawl", starts="off")],
        events=[zw.Event(zw.t - 2, then=zw.Switch(on="pawl"), name="in")],
    )  # fmt: skip
    motion = zw.simulate(pawl, {"x": 1.0, "v_x": 0.0}, until=2.5)
    assert motion.work["in"][-1] == pytest.approx(-(math.sin(2) ** 2) / 2, rel=1e-9)
