"""Motions under laws of friction that are no plain Coulomb law, against closed forms and independent integrations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from law_examples import REST, VX, VY, F, Ski, V, X, Y, at, block, g, k, m, mu, mu_s, puck, vx, vy, x, y
from zwang._declare.friction_forms import law_rows


def test_stick_slip_on_a_belt_has_the_period_and_the_amplitude_of_its_closed_form():
    system = block(zw.Coulomb(mu, slip=vx - V, static=mu_s), potential=k * x**2 / 2)
    values = {"m": 1, "g": 10, "k": 4, "V": 0.1, "mu": 0.2, "mu_s": 0.5}
    motion = zw.simulate(system, {**REST, "v_x": 0.1}, values, until=35.0)
    # From x_s = mu_s N/k with the speed of the belt about x_k = mu N/k: x - x_k = d cos wt + V/w sin wt until v = V.
    w, d = 2.0, (0.5 - 0.2) * 10 / 4
    slipping, sticking = (2 * math.pi - 2 * math.atan(d * w / 0.1)) / w, 2 * d / 0.1
    slips = [event.time for event in motion.events if event.kind == "slip"]
    sticks = [event.time for event in motion.events if event.kind == "stick"]
    assert slips[0] == pytest.approx(0.5 * 10 / 4 / 0.1, abs=1e-9)
    assert np.allclose(np.diff(slips), slipping + sticking, atol=1e-9)
    assert np.allclose(np.array(sticks) - slips[: len(sticks)], slipping, atol=1e-9)
    assert motion.q[:, 0].max() == pytest.approx(1.25, abs=1e-9)
    # The lowest point lies between rows: x_k - sqrt(d^2 + (V/w)^2), at the angle pi + atan(V/(w d)).
    lowest = slips[0] + (math.pi + math.atan(0.1 / (w * d))) / w
    assert motion.at(lowest)["x"] == pytest.approx(0.5 - math.hypot(d, 0.1 / w), abs=1e-9)
    assert motion.residual < 1e-10


def test_a_block_on_an_incline_holds_by_the_static_coefficient_and_slides_by_the_other():
    slope = zw.parameters("beta")
    system = zw.System(
        kinetic=m * (vx**2 + vy**2) / 2,
        potential=m * g * (y * sp.cos(slope) - x * sp.sin(slope)),
        constraints=[zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx, static=mu_s), restitution=0, name="floor")],
    )
    values = {"m": 2, "g": 9.81, "mu": 0.3, "mu_s": 0.6}
    steep, flat = math.atan(0.61), math.atan(0.59)
    held = zw.simulate(system, REST, {**values, "beta": flat}, until=1.0)
    assert not held.events and held.q[-1, 0] == 0.0
    down = zw.simulate(system, REST, {**values, "beta": steep}, until=1.0)
    assert down.q[-1, 0] == pytest.approx(9.81 * (math.sin(steep) - 0.3 * math.cos(steep)) / 2, rel=1e-10)
    # On a slope between both it slides on if it moves, and stays once it has stopped: uphill first.
    up = zw.simulate(system, {**REST, "v_x": -1.0}, {**values, "beta": flat}, until=2.0)
    stop = 1.0 / (9.81 * (math.sin(flat) + 0.3 * math.cos(flat)))
    assert [event.kind for event in up.events] == ["stick"] and up.events[0].time == pytest.approx(stop, rel=1e-9)
    on = zw.simulate(system, {**REST, "v_x": 0.1}, {**values, "beta": flat}, until=1.0)
    assert on.v[-1, 0] == pytest.approx(0.1 + 9.81 * (math.sin(flat) - 0.3 * math.cos(flat)), rel=1e-10)


def test_elliptic_friction_bends_a_sliding_path_as_its_closed_form():
    system = puck(zw.Coulomb((mu, mu_s), slip=(VX, VY)))
    motion = zw.simulate(system, at(system, v_X=1.0, v_Y=1.0), {"m": 1.5, "g": 10, "mu": 0.1, "mu_s": 0.2}, until=3.0)
    # dv_i/dt = -g mu_i^2 v_i/D for both i: v_Y = v_X^((mu_2/mu_1)^2).
    for time in (0.1, 0.3, 0.5):
        state = motion.at(time)
        assert state["v_Y"] == pytest.approx(state["v_X"] ** 4, rel=1e-8)
    assert [event.kind for event in motion.events] == ["stick"]
    power = np.einsum("ij,ij->i", motion.friction["floor"], motion.v[:, :2])
    assert (power <= 1e-12).all()
    assert motion.energy["total"][-1] - motion.energy["total"][0] == pytest.approx(motion.work["floor"][-1], abs=1e-10)


def test_a_puck_leaves_the_ellipse_at_rest_in_the_direction_of_the_kinetic_law():
    from scipy.integrate import solve_ivp
    from scipy.optimize import fsolve

    law = zw.Coulomb((0.1, 0.2), slip=(VX, VY), static=(0.3, 0.5))
    system = puck(law, forces={X: zw.t, Y: zw.t})
    motion = zw.simulate(system, at(system), {"m": 1, "g": 10}, until=4.0)
    start = 1 / math.hypot(1 / 3, 1 / 5)  # (t/3)^2 + (t/5)^2 = 1
    assert motion.events[0].time == pytest.approx(start, abs=1e-9)

    def change(t, u):
        size = math.hypot(0.1 * u[2], 0.2 * u[3])
        return [u[2], u[3], t - 0.1 * u[2] / size, t - 0.4 * u[3] / size]

    a = fsolve(lambda a: np.subtract(a, change(start, [0, 0, *a])[2:]), [1.0, 1.0])
    eps = 1e-7
    exact = solve_ivp(change, (start + eps, 4.0), [0, 0, *(eps * a)], rtol=1e-11, atol=1e-13, method="DOP853")
    assert np.allclose(motion.q[-1, :2], exact.y[:2, -1], atol=1e-8)


def test_a_ski_slides_far_one_way_and_stops_soon_the_other():
    system = block(Ski(0.05, 0.4, slip=vx))
    for speed, slowing in ((1.0, 0.5), (-1.0, 4.0)):
        motion = zw.simulate(system, {**REST, "v_x": speed}, {"m": 3, "g": 10}, until=3.0)
        assert motion.events[0].kind == "stick"
        assert motion.events[0].time == pytest.approx(abs(speed) / slowing, rel=1e-9)
        assert motion.q[-1, 0] == pytest.approx(speed * abs(speed) / (2 * slowing), rel=1e-9)


def test_a_ski_that_is_shaken_walks_forward():
    # m a = A cos wt against 0.05 N forward and 0.4 N backward: it holds backward (A < 0.4 N) and slides forward.
    system = block(Ski(0.05, 0.4, slip=vx), forces={x: 3 * sp.sin(2 * sp.pi * zw.t)})
    motion = zw.simulate(system, REST, {"m": 1, "g": 10}, until=3.0)
    slips = [event.time for event in motion.events if event.kind == "slip"]
    first = math.asin(0.5 / 3) / (2 * math.pi)
    assert np.allclose(slips, [first, 1 + first, 2 + first], atol=1e-9)
    assert motion.q[-1, 0] > 0 and (np.diff(motion.q[:, 0]) > -1e-12).all()


@pytest.mark.parametrize("which", ["newton", "poisson", "energetic"])
def test_impulses_know_the_coefficients_of_slip_alone(which):
    for law, side in ((Ski(0.05, 0.4, slip=vx), 0.05), (zw.Coulomb(0.05, slip=vx, static=0.9), 0.05)):
        system = block(law).replace(
            constraints=[zw.Unilateral(y, friction=law, restitution=sp.Rational(1, 2), name="floor")]
        )
        start = {"x": 0.0, "y": 0.2, "v_x": 2.0, "v_y": 0.0}
        motion = zw.simulate(system, start, {"m": 1, "g": 10}, until=0.25, impact=which)
        # The normal impulse is (1 + e) m v_n, v_n = 2; friction against the slip takes `side` of it.
        assert motion.events[0].kind == "impact"
        assert motion.v[-1, 0] == pytest.approx(2.0 - side * 1.5 * 2.0, rel=1e-9)
        back = zw.simulate(system, {**start, "v_x": -2.0}, {"m": 1, "g": 10}, until=0.25, impact=which)
        other = 0.4 if isinstance(law, Ski) else 0.05
        assert back.v[-1, 0] == pytest.approx(-2.0 + other * 1.5 * 2.0, rel=1e-9)


@pytest.mark.parametrize(
    ("system", "state", "values", "until"),
    [
        (
            lambda: block(zw.Coulomb(mu, slip=vx - V, static=mu_s), potential=k * x**2 / 2),
            {"v_x": 0.1},
            {"m": 1, "g": 10, "k": 4, "V": 0.1, "mu": 0.2, "mu_s": 0.5},
            16.0,
        ),
        (lambda: block(Ski(0.05, 0.4, slip=vx), forces={x: 6 * sp.sin(3 * zw.t)}), {}, {"m": 1, "g": 10}, 4.0),
        (
            lambda: puck(zw.Coulomb((0.1, 0.2), slip=(VX, VY), static=(0.3, 0.5)), forces={X: zw.t, Y: zw.t / 2}),
            {},
            {"m": 1, "g": 10},
            4.0,
        ),
    ],
)
def test_time_stepping_tends_to_the_motion_by_events(system, state, values, until):
    made = system()
    start = at(made, **state)
    exact = zw.simulate(made, start, values, until=until)
    errors = []
    for step in (0.01, 0.0025):
        stepped = zw.simulate(made, start, values, until=until, method="timestepping", step=step)
        errors.append(np.abs(stepped.q[-1] - exact.q[-1]).max())
    assert errors[1] < 3e-3 * (1 + np.abs(exact.q[-1]).max()) and errors[1] < 0.6 * errors[0] + 1e-9


def test_an_ensemble_knows_the_laws_of_each_motion():
    system = block(zw.Coulomb(mu, slip=vx, static=mu_s), forces={x: F})
    values = {"m": 1, "g": 10, "mu": 0.1, "mu_s": np.array([0.2, 0.6]), "F": 4.0}
    found = zw.simulate(system, REST, values, until=1.0)
    ends = [motion.q[-1, 0] for motion in found]
    assert np.allclose(ends, [1.5, 0.0], atol=1e-9)


def test_realizing_a_contact_keeps_the_section_of_its_friction():
    system = block(Ski(0.05, 0.4, slip=vx))
    soft = zw.realize(system, "floor", by=zw.Stiffness(1e6, ratio=0.5))
    friction = soft.constraints["floor"]
    assert isinstance(friction, zw.Friction) and friction.section == zw.Interval(sp.Float(-0.05), sp.Float(0.4))
    for speed, slowing in ((1.0, 0.5), (-1.0, 4.0)):
        motion = zw.simulate(soft, {**REST, "y": -1e-5, "v_x": speed}, {"m": 1, "g": 10}, until=0.1)
        assert motion.v[-1, 0] == pytest.approx(speed - math.copysign(0.1 * slowing, speed), rel=1e-3)


def test_evaluate_tells_slips_as_they_were_declared():
    system = puck(zw.Coulomb((0.1, 0.4), slip=(VX, VY)))
    found = zw.compile(system).evaluate(at(system, v_X=3.0, v_Y=-2.0), {"m": 1, "g": 10})
    assert np.allclose(found.slips["floor"], [3.0, -2.0])
    assert [rows.axes for rows in law_rows(system)] == [(1, 2)]
