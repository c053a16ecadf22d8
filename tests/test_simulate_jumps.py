"""Every jump of the velocity in the rows has its event, at its time and with the energy that it took."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day

HALF = sp.Rational(1, 2)
OPTIONS: dict[str, Any] = {
    "impact": "newton",
    "at_choice": "keep mode",
    "at_paradox": "impact",
    "at_singular": "straight",
}


def check_log(motion: Any) -> int:
    """Compare the jumps in the rows with the log; return how many there are."""
    rows = np.flatnonzero((np.diff(motion.t) == 0) & (motion.v[1:] != motion.v[:-1]).any(axis=1))
    struck = [event for event in motion.events if "energy_change" in event.details]
    assert {event.time for event in struck} == {float(motion.t[i]) for i in rows}
    assert all(event.kind == "impact" for event in struck)
    assert all(event.energy == -event.details["energy_change"] for event in struck)
    kinetic = motion.energy["kinetic"]
    for row in rows:
        taken = sum(event.energy for event in struck if event.time == motion.t[row])
        assert taken == pytest.approx(kinetic[row] - kinetic[row + 1], abs=1e-12 * max(1.0, kinetic[row]))
    for event in motion.events.of("accumulation"):
        hits = [one.time for one in motion.events.of("impact", event.constraint) if one.time <= event.time]
        assert len(hits) >= event.details["impacts"] >= 4
        assert 0 < event.details["factor"] < 1
        # What is left of the time shrinks with the flights.
        left = event.time - np.array(hits[-3:])
        assert left[0] > left[1] > left[2] > 0 and left[2] < 0.1
    assert all(motion.t[0] <= event.time <= motion.until for event in motion.events)
    return len(rows)


@pytest.mark.parametrize("name", by_day(zw.gallery.names(), zw.gallery.names()[::3]))
def test_jumps_and_log_agree_on_every_system_of_the_gallery(name: str) -> None:
    entry = zw.gallery.get(name)
    if not entry.state:
        return  # a curve to be traced: nothing moves
    until = 0.01 if name == "andrews" else 1.0  # nothing strikes there, and the second is a long one
    motion = zw.simulate(entry.system, entry.state, entry.params, until=until, **OPTIONS)
    count = check_log(motion)
    assert (count > 0) == any(event.kind == "impact" for event in motion.events)


def rocking_block(restitution: Any, friction: float | None) -> tuple[Any, dict[str, float]]:
    """A block of half sides 0.2 and 0.5, tilted by 0.15 about its left corner."""
    (x, y, th), (vx, vy, w) = zw.coordinates("x y th")
    b, h, tilt = sp.Rational(1, 5), HALF, 0.15
    corners = []
    for side, name in ((-1, "left"), (1, "right")):
        across, height = x + side * b * sp.cos(th) + h * sp.sin(th), y + side * b * sp.sin(th) - h * sp.cos(th)
        rough = {} if friction is None else {"friction": zw.Coulomb(friction, slip=zw.rate(across))}
        corners.append(zw.Unilateral(height, restitution=restitution, name=name, **rough))
    kinetic = (vx**2 + vy**2) / 2 + (b**2 + h**2) / 6 * w**2
    system = zw.System(name="block", kinetic=kinetic, potential=sp.Float(9.81) * y, constraints=corners)
    height = 0.2 * math.sin(tilt) + 0.5 * math.cos(tilt)
    return system, {"x": 0, "y": height, "th": tilt, "v_x": 0, "v_y": 0, "v_th": 0}


def test_plastic_rocking_block_logs_its_impacts_as_impacts_and_their_end_once() -> None:
    system, state = rocking_block(0, 5)
    motion = zw.simulate(system, state, {}, until=4.0, impact="newton")
    assert motion.status.name == "REACHED"
    assert check_log(motion) > 30
    assert [event.constraint for event in motion.events.of("impact")[:3]] == ["right", "left", "right"]
    # Housner: at each impact the rate falls by 1 - 3/2 sin^2(alpha), tan(alpha) = 2/5.
    factor = 1 - 1.5 * math.sin(math.atan(0.4)) ** 2
    for event in motion.events.of("impact")[:6]:
        assert event.details["after"][2] / event.details["before"][2] == pytest.approx(factor, abs=1e-9)
        assert event.energy > 0
    ends = motion.events.of("accumulation")
    assert {event.constraint for event in ends} == {"left", "right"}
    assert len({event.time for event in ends}) == 1
    # Near the end the motion is that of constant torque: flights shrink by the factor too, two of them in each cycle.
    assert ends[0].details["factor"] == pytest.approx(factor**2, abs=1e-3)
    hits = np.array([event.time for event in motion.events.of("impact")])
    flight = hits[-1] - hits[-2]
    assert ends[0].time - hits[-1] == pytest.approx(flight * factor / (1 - factor), rel=1e-3)
    assert np.abs(motion.v[-1]).max() == 0.0


@pytest.mark.parametrize("restitution", [0, HALF])
def test_block_without_friction_logs_every_jump(restitution: Any) -> None:
    system, state = rocking_block(restitution, None)
    motion = zw.simulate(system, state, {}, until=1.0, impact="newton")
    assert motion.status.name == "REACHED"
    assert check_log(motion) > 10


def test_plastic_landing_is_one_impact_and_no_accumulation() -> None:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, {**entry.params, "e": 0.0}, until=2.0)
    assert [event.kind for event in motion.events] == ["impact", "contact"]
    assert check_log(motion) == 1


def test_accumulation_after_the_end_of_the_motion_is_not_in_its_log() -> None:
    entry = zw.gallery.get("bouncing_ball")
    whole = zw.simulate(entry.system, entry.state, entry.params, until=6.0)
    (end,) = whole.events.of("accumulation")
    check_log(whole)
    last = whole.events.of("impact")[-1].time
    part = zw.simulate(entry.system, entry.state, entry.params, until=(last + end.time) / 2)
    assert len(part.events.of("accumulation")) == 0
    check_log(part)


def test_ball_in_a_swinging_cup_logs_jumps_of_alternating_walls() -> None:
    # Woodpecker-like: an oscillator between two stops, one of them with friction, driven by its own spring.
    (x, y), (vx, vy) = zw.coordinates("x y")
    stops = [
        zw.Unilateral(1 - x, restitution=HALF, friction=zw.Coulomb(0.3, slip=vy), name="right"),
        zw.Unilateral(1 + x, restitution=0, friction=zw.Coulomb(0.3, slip=vy), name="left"),
    ]
    push = {x: 3 * sp.cos(2 * zw.t)}
    system = zw.System(kinetic=(vx**2 + vy**2) / 2, potential=2 * x**2 + y, forces=push, constraints=stops)
    motion = zw.simulate(system, {"x": 0, "y": 0, "v_x": 3, "v_y": 0}, {}, until=8.0, impact="newton")
    assert motion.status.name == "REACHED"
    assert check_log(motion) > 5


def test_woodpecker_logs_every_jump_of_sleeve_and_beak() -> None:
    # Glocker 1995: the published figures; the sleeve starts a hair off its contact.
    (y, a, b), (vy, va, vb) = zw.coordinates("y a b")
    r_o, r_m, h_m, l_m, l_g, h_s, l_s = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201
    kinetic = 0.0003 * vy**2 / 2 + 5e-9 * va**2 / 2 + 0.0045 * (vy + l_m * va + l_g * vb) ** 2 / 2 + 7e-7 * vb**2 / 2
    weight = 9.81 * (0.0003 * y + 0.0045 * (y + l_m * a + l_g * b))
    beak = zw.Coulomb(0.3, slip=vy + l_m * va + (l_g - l_s) * vb)
    sleeve = zw.Coulomb(0.3, slip=vy + r_m * va)
    stops = [
        zw.Unilateral(l_m + l_g - l_s - r_o - h_s * b, friction=beak, restitution=HALF, name="beak"),
        zw.Unilateral(r_m - r_o + h_m * a, friction=sleeve, restitution=0, name="low"),
        zw.Unilateral(r_m - r_o - h_m * a, friction=sleeve, restitution=0, name="high"),
    ]
    system = zw.System(kinetic=kinetic, potential=weight + 0.0056 * (a - b) ** 2 / 2, constraints=stops)
    start = {"y": 0, "a": -6 / 58 * (1 - 1e-12), "b": -0.2788, "v_y": -0.3411, "v_a": 0, "v_b": -7.4583}
    motion = zw.simulate(system, start, {}, until=0.5, impact="newton")
    assert motion.status.name == "REACHED"
    assert check_log(motion) > 12
    assert [event.constraint for event in motion.events.of("impact")[:3]] == ["high", "beak", "high"]
