"""Motions that no example of the package holds: corners, ties, ends of bouncing, and what the generated code does."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw

m, g, J, l, e = zw.parameters("m g J l e")


def bar(left: sp.Expr, right: sp.Expr, h: sp.Symbol, th: sp.Symbol, vh: sp.Symbol, w: sp.Symbol) -> zw.System:
    feet = [zw.Unilateral(left, restitution=e, name="left"), zw.Unilateral(right, restitution=e, name="right")]
    return zw.System(name="bar", kinetic=m * vh**2 / 2 + J * w**2 / 2, potential=m * g * h, constraints=feet)


BAR = {"m": 1.0, "J": 0.3, "l": 1.0, "g": 10.0, "e": 0.5}


@pytest.mark.parametrize("sine", [sp.sin, lambda angle: angle], ids=["sine", "linear"])
def test_a_bar_at_rest_on_both_feet_with_all_coordinates_zero_stays_there(sine: object) -> None:
    (h, th), (vh, w) = zw.coordinates("h th")
    system = bar(h + l * sine(th), h - l * sine(th), h, th, vh, w)  # type: ignore[operator]
    motion = zw.simulate(system, {"h": 0, "th": 0, "v_h": 0, "v_th": 0}, BAR, until=2)
    assert motion.status.name == "REACHED"
    assert np.abs(motion.q).max() <= 1e-15
    assert np.allclose(motion.reactions["left"], 5.0, atol=1e-9)  # half the weight m g = 10


def test_a_bar_that_falls_flat_bounces_on_both_feet_to_the_closed_form_end() -> None:
    (h, th), (vh, w) = zw.coordinates("h th")
    system = bar(h + l * sp.sin(th), h - l * sp.sin(th), h, th, vh, w)
    motion = zw.simulate(system, {"h": 1, "th": 0, "v_h": 0, "v_th": 0}, BAR, until=2, impact="newton")
    assert motion.status.name == "REACHED"
    # A ball from height 1: first impact at sqrt(2/g), the last at that times (1 + e)/(1 - e) = 3.
    ends = [event.time for event in motion.events.of("accumulation")]
    assert ends == pytest.approx([3 * np.sqrt(0.2)] * 2, abs=1e-9)
    assert np.abs(motion.q[-1]).max() <= 1e-12


@pytest.mark.parametrize(("height", "restitution", "tol"), [(1e4, 0.9, 1e-13), (1.0, 0.9, 1e-10), (1e-6, 0.5, 1e-10)])
def test_bounces_end_where_the_geometric_series_does_at_any_height(
    height: float, restitution: float, tol: float
) -> None:
    (y,), (vy,) = zw.coordinates("y")
    floor = zw.Unilateral(y, restitution=e, name="floor")
    ball = zw.System(name="ball", kinetic=m * vy**2 / 2, potential=m * g * y, constraints=[floor])
    end = np.sqrt(2 * height / 10) * (1 + restitution) / (1 - restitution)
    params = {"m": 1, "g": 10, "e": restitution}
    motion = zw.simulate(ball, {"y": height, "v_y": 0}, params, until=1.2 * end, tol=tol)
    (last,) = motion.events.of("accumulation")
    assert last.time == pytest.approx(end, rel=1e-10)
    assert motion.events[-1].kind == "contact"


@pytest.mark.parametrize("speed", [1e-4, 1e-5, 1e-7])
def test_a_hop_lower_than_the_tolerance_is_a_closed_contact_and_no_chattering(speed: float) -> None:
    (x,), (v,) = zw.coordinates("x")
    wall = zw.Unilateral(1 - x, restitution=sp.Rational(1, 2), name="wall")
    system = zw.System(name="pushed", kinetic=v**2 / 2, potential=-10 * x, constraints=[wall])
    motion = zw.simulate(system, {"x": 1, "v_x": -speed}, {}, until=0.01)
    assert motion.status.name == "REACHED"
    assert motion.events[-1].kind == "contact"
    assert motion.q[-1, 0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("restitution", [0, 1, None])
def test_an_oscillation_that_touches_a_wall_at_every_turn_meets_it_never(restitution: int | None) -> None:
    (x,), (v,) = zw.coordinates("x")
    wall = zw.Unilateral(1 - x, restitution=restitution, name="wall")
    system = zw.System(name="grazing", kinetic=v**2 / 2, potential=x**2 / 2, constraints=[wall])
    motion = zw.simulate(system, {"x": 1, "v_x": 0}, {}, until=50)
    assert not motion.events
    assert motion.q[-1, 0] == pytest.approx(np.cos(50), abs=1e-9)  # x = cos t


def test_a_speed_limit_that_is_only_touched_captures_nothing() -> None:
    (x,), (v,) = zw.coordinates("x")
    limit = zw.Unilateral(1 - v, name="limit")
    system = zw.System(name="grazing", kinetic=v**2 / 2, potential=x**2 / 2, constraints=[limit])
    motion = zw.simulate(system, {"x": -1, "v_x": 0}, {}, until=50)  # v = sin t
    assert not motion.events


def test_a_block_on_a_belt_that_catches_up_with_it_for_an_instant_does_not_stick() -> None:
    entry = zw.gallery.get("belt_block")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=12)
    # After the slip the speed of the block comes back to that of the belt at the end of each period, and only touches.
    assert [event.kind for event in motion.events] == ["stick", "slip"]


def test_friction_that_falls_with_the_size_of_the_slip_gives_a_steady_cycle_of_stick_and_slip() -> None:
    (x,), (v,) = zw.coordinates("x")
    k, bound = zw.parameters("k F")
    slip = v - sp.Rational(1, 5)
    belt = zw.Friction(bound * (1 + sp.exp(-5 * sp.Abs(slip))), slip=slip, name="belt")
    system = zw.System(name="squeal", kinetic=v**2 / 2, potential=k * x**2 / 2, constraints=[belt])
    motion = zw.simulate(system, {"x": 0, "v_x": 0.2}, {"k": 4, "F": 1}, until=15)
    kinds = [event.kind for event in motion.events]
    assert kinds == ["slip", "stick"] * (len(kinds) // 2) + ["slip"] * (len(kinds) % 2)
    slips = [event.time for event in motion.events.of("slip")]
    assert slips[0] == pytest.approx(2.5, abs=1e-9)  # the spring k x = 2 F at x = 0.5, carried there at 0.2
    assert np.diff(slips) == pytest.approx(np.diff(slips)[0], abs=1e-9)


def test_a_bead_on_a_rough_hoop_starts_where_the_hoop_carries_nothing() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    mu, r = zw.parameters("mu r")
    gap, slip = zw.on_curve((x, y), x**2 + y**2 - r**2)
    hoop = zw.Bilateral(gap, friction=zw.Coulomb(mu, slip=slip), name="hoop")
    system = zw.System(name="hoop", kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y, constraints=[hoop])
    state = {"x": 1, "y": 0, "v_x": 0, "v_y": 0}
    motion = zw.simulate(system, state, {"m": 1, "g": 9.81, "mu": 0.2, "r": 1}, until=0.5)
    assert motion.status.name == "REACHED"
    angle = np.arctan2(-motion.q[:, 1], motion.q[:, 0])
    # d(v^2)/d angle = 2 g cos - 2 mu (v^2 + g sin), solved from rest at angle 0.
    speed = np.sin(angle) * (1 - 2 * 0.04) + 3 * 0.2 * (np.cos(angle) - np.exp(-0.4 * angle))
    assert (motion.v**2).sum(axis=1) == pytest.approx(2 * 9.81 / (1 + 4 * 0.04) * speed, abs=1e-8)


def test_a_ball_that_stops_sliding_in_the_tail_of_its_bounces_closes_first_and_sticks_then() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    mu, tilt = zw.parameters("mu tilt")
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=e, name="floor")
    height = y * sp.cos(tilt) - x * sp.sin(tilt)
    system = zw.System(name="ball", kinetic=(vx**2 + vy**2) / 2, potential=10 * height, constraints=[floor])
    state = {"x": 0, "y": 0.3, "v_x": 1, "v_y": 0}
    motion = zw.simulate(system, state, {"e": 0.6, "mu": 0.4, "tilt": 0.2}, until=2, impact="newton")
    kinds = [event.kind for event in motion.events]
    assert kinds == ["impact"] * (len(kinds) - 3) + ["accumulation", "contact", "stick"]
    # The first flight takes sqrt(2 h/(g cos)), all of them that times (1 + e)/(1 - e) = 4.
    assert motion.events[-3].time == pytest.approx(4 * np.sqrt(0.06 / np.cos(0.2)), abs=1e-8)
    assert np.abs(motion.v[-1]).max() == 0.0
