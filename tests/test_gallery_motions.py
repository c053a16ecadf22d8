"""Facts of the gallery's systems that move in closed form: sleighs, clutches, limits, held particles."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad

import zwang as zw
from gallery_states import numbers

get = zw.gallery.get


# --- sleighs ---------------------------------------------------------------------------------------------------------


def test_the_sleigh_flies_until_its_blade_points_along_the_velocity() -> None:
    sleigh = get("sleigh")
    assert numbers(sleigh).value[0] > 0
    time = sleigh.facts["capture_time"].value
    there = dict(zip(("x", "y"), sleigh.facts["capture_place"].value, strict=True))
    assert there["x"] == pytest.approx(sleigh.state["v_x"] * time, rel=1e-14)
    caught = numbers(sleigh, {**there, "phi": sleigh.state["v_phi"] * time})
    assert caught.value == pytest.approx([0.0], abs=1e-15)
    # Free, it would break the constraint; held, the blade turns the velocity on a circle.
    free = np.linalg.solve(caught.mass, caught.force)
    assert float(caught.rows[0] @ free) < caught.gamma[0]
    acceleration, force = caught.solve()
    assert force == pytest.approx([sleigh.facts["blade_force"].value], rel=1e-12)
    speed = math.hypot(sleigh.state["v_x"], sleigh.state["v_y"])
    assert speed**2 / np.hypot(*acceleration[:2]) == pytest.approx(sleigh.facts["radius"].value, rel=1e-12)


def test_the_constraint_of_the_paper_is_minus_ours() -> None:
    # Salnikova et al.: x' sin(phi) - y' cos(phi) <= 0.
    system = get("sleigh").system
    (_, _, phi), (vx, vy, _) = system.coordinates, system.velocities
    assert system.constraints["blade"].expr + vx * sp.sin(phi) - vy * sp.cos(phi) == 0
    assert isinstance(system.constraints["blade"], zw.Unilateral)


def test_the_sleigh_with_its_centre_ahead_follows_the_closed_form_until_it_is_let_go() -> None:
    sleigh = get("sleigh_ahead")
    m, J, c = (sleigh.params[name] for name in ("m", "J", "c"))
    inertia, release = J + m * c**2, sleigh.facts["release_time"].value
    V = math.sqrt(sleigh.state["v_x"] ** 2 + inertia * sleigh.state["v_phi"] ** 2 / m)
    kappa, spin = m * c / inertia, sleigh.facts["release_spin"].value
    for time in (0.0, 0.7, 1.5):
        argument = kappa * V * (time - release)
        u, omega = V * math.tanh(argument), spin / math.cosh(argument)
        if time == 0.0:
            assert (u, omega) == pytest.approx((sleigh.state["v_x"], sleigh.state["v_phi"]), rel=1e-12)
        # In the pose phi = 0: velocities of the centre (u, c omega), accelerations (u' - c omega^2, ...) = (0, ...).
        found = numbers(sleigh, {"v_x": u, "v_y": c * omega, "v_phi": omega})
        acceleration, force = found.solve()
        slowing = -kappa * V * math.tanh(argument) * omega
        assert acceleration[2] == pytest.approx(slowing, rel=1e-12)
        assert acceleration[0] == pytest.approx(kappa * V**2 / math.cosh(argument) ** 2 - c * omega**2, abs=1e-14)
        assert force[0] > 0
    beyond = V * math.tanh(kappa * V * 0.1)
    assert numbers(sleigh, {"v_x": beyond, "v_y": c * spin, "v_phi": spin}).solve()[1][0] < 0
    assert numbers(sleigh).solve()[1] == pytest.approx([sleigh.facts["blade_force"].value], rel=1e-12)
    assert release == pytest.approx(1.636204366502, abs=1e-11)  # the figure that is shown for `simulate`


def test_the_sleigh_on_an_incline_is_pushed_by_its_blade_against_gravity() -> None:
    sleigh = get("sleigh_incline")
    assert numbers(sleigh).solve()[1] == pytest.approx([sleigh.facts["blade_force"].value], rel=1e-12)
    phi, omega, amplitude = 0.6, sleigh.state["v_phi"], sleigh.facts["speed_amplitude"].value
    u = sleigh.state["v_x"] + amplitude * (math.cos(phi) - 1)
    gripping = {"phi": phi, "v_x": u * math.cos(phi), "v_y": u * math.sin(phi)}
    acceleration, force = numbers(sleigh, gripping).solve()
    along = acceleration[0] * math.cos(phi) + acceleration[1] * math.sin(phi)
    assert along == pytest.approx(-amplitude * math.sin(phi) * omega, rel=1e-12)
    assert force[0] > 0


def test_both_skates_of_the_beam_grip_until_the_torque_is_too_large() -> None:
    beam = get("two_skates")
    acceleration, forces = numbers(beam).solve()
    assert acceleration == pytest.approx(np.zeros(3), abs=1e-12)
    assert forces == pytest.approx(beam.facts["reactions"].value, rel=1e-12)
    limit = numbers(beam, params={"M": beam.facts["largest_torque"].value}).solve()[1]
    assert limit[0] == pytest.approx(0.0, abs=1e-12)


# --- other one-sided constraints on velocities -----------------------------------------------------------------------


def test_the_ratchet_catches_where_the_torque_has_taken_back_its_momentum() -> None:
    wheel = get("ratchet")
    J, M, w = (wheel.params[name] for name in ("J", "M", "w"))
    caught, released = wheel.facts["capture_time"].value, wheel.facts["release_time"].value

    def torque(time: float) -> float:
        return float(numbers(wheel, {"t": time}).force[0])

    assert quad(torque, 0, caught)[0] == pytest.approx(0.0, abs=1e-12)
    assert torque(caught) < 0
    assert torque(released) == pytest.approx(0.0, abs=1e-14)
    assert numbers(wheel, {"t": caught}).solve()[1] == pytest.approx([wheel.facts["largest_torque"].value], rel=1e-12)
    angle = quad(lambda time: M / (J * w) * math.sin(w * time), 0, caught)[0]
    assert angle == pytest.approx(wheel.facts["angle_held"].value, rel=1e-12)


def test_the_freewheel_catches_when_the_driver_is_as_fast_as_the_driven() -> None:
    clutch = get("freewheel")
    facts = clutch.facts
    free = numbers(clutch)
    acceleration = np.linalg.solve(free.mass, free.force)
    assert acceleration[0] == pytest.approx(facts["driver_acceleration"].value, rel=1e-14)
    assert acceleration[1] == pytest.approx(-facts["driven_rate"].value * clutch.state["v_theta2"], rel=1e-14)
    time = facts["capture_time"].value
    driver = facts["driver_acceleration"].value * time
    driven = clutch.state["v_theta2"] * math.exp(-facts["driven_rate"].value * time)
    assert driver == pytest.approx(driven, rel=1e-12)
    final = facts["final_speed"].value
    acceleration, torque = numbers(clutch, {"v_theta1": final, "v_theta2": final}).solve()
    assert acceleration == pytest.approx([0.0, 0.0], abs=1e-14)
    assert torque == pytest.approx([facts["final_torque"].value], rel=1e-12)


def test_the_speed_limit_holds_with_the_push_and_falls_with_a_shock() -> None:
    particle = get("speed_limit")
    m, c0, c1 = (particle.params[name] for name in ("m", "c0", "c1"))
    assert numbers(particle).solve()[1] == pytest.approx([particle.facts["reaction"].value], rel=1e-14)
    after = numbers(particle, {"t": 1.5})
    assert after.value == pytest.approx([c1 - c0], rel=1e-14)  # violated: the velocity must jump
    jump = after.value[0] / (after.rows[0] @ np.linalg.solve(after.mass, after.rows[0]))
    assert -jump == pytest.approx(particle.facts["impulse"].value, rel=1e-12)
    assert particle.facts["energy_loss"].value == pytest.approx(m * (c0**2 - c1**2) / 2, rel=1e-14)
    # The independent check of the paper: a limit that falls from 1 to 0.4 gives the impulse 0.6 and the loss 0.42.
    assert (particle.facts["impulse"].value, particle.facts["energy_loss"].value) == pytest.approx((0.6, 0.42))
    assert particle.facts["place_at_2"].value == pytest.approx(1.4)


# --- held particles --------------------------------------------------------------------------------------------------


def test_the_particle_of_kozlov_and_neishtadt_feels_the_reaction_minus_one() -> None:
    particle = get("kozlov_neishtadt")
    acceleration, reaction = numbers(particle).solve()
    assert reaction == pytest.approx([particle.facts["reaction"].value])
    assert acceleration == pytest.approx(particle.facts["acceleration"].value, abs=1e-15)


def test_the_orders_of_the_realized_motion_follow_from_its_closed_form() -> None:
    # y = (1 - cos(sqrt(N) t))/N and x'' = y; the spring pushes with -N y against the reaction -1.
    t = np.linspace(0, 1, 200_001)

    def errors(N: float) -> np.ndarray:
        w = math.sqrt(N)
        y, vy = (1 - np.cos(w * t)) / N, np.sin(w * t) / w
        x, vx = t**2 / (2 * N) - (1 - np.cos(w * t)) / N**2, t / N - np.sin(w * t) / N**1.5
        integral = np.sin(w * t) / w  # of -N y + 1
        return np.array([np.abs(item).max() for item in (np.hypot(x, y), np.hypot(vx, vy), vx, integral)])

    orders = np.log10(errors(1e6) / errors(1e4)) / 2
    assert orders == pytest.approx(get("kozlov_neishtadt").facts["orders"].value, abs=0.01)


def test_the_particle_on_the_circle_speeds_up_as_its_closed_form_says() -> None:
    particle = get("circle_particle")
    m, r, k, c = (particle.params[name] for name in ("m", "r", "k", "c"))
    assert numbers(particle).solve()[1] == pytest.approx([particle.facts["reaction"].value], rel=1e-14)
    steady = particle.facts["steady_speed"].value
    for speed in (1.0, steady):
        assert numbers(particle, {"v_y": speed}).solve()[0][1] == pytest.approx((k * r - c * speed) / m, abs=1e-14)

    def speed_at(time: float) -> float:
        return steady + (particle.state["v_y"] - steady) * math.exp(-c * time / m)

    assert speed_at(1.0) == pytest.approx(particle.facts["speed_at_1"].value, rel=1e-14)
    assert quad(speed_at, 0, 1)[0] / r == pytest.approx(particle.facts["angle_at_1"].value, rel=1e-12)


def test_the_ball_bounces_for_the_sum_of_a_geometric_series() -> None:
    ball = get("bouncing_ball")
    g, e = ball.params["g"], ball.params["e"]
    fall = float(np.linalg.solve(numbers(ball).mass, numbers(ball).force)[0])
    first = ball.facts["first_impact"].value
    assert ball.state["y"] + fall * first**2 / 2 == pytest.approx(0.0, abs=1e-15)
    flights = sum(2 * g * first * e**n / g for n in range(1, 400))
    assert first + flights == pytest.approx(ball.facts["rest_time"].value, rel=1e-12)
    assert (e * g * first) ** 2 / (2 * g) == pytest.approx(ball.facts["second_height"].value, rel=1e-12)
