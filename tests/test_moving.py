"""Motion within a mode: projection, events, friction, switching surfaces, ends of every kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving
from zwang._kernels.stretch_output import KnownState
from zwang.gallery.pendulum_on_ellipse import place

NONE = np.zeros(0)


def arrays(system, state, params):
    inputs = resolve(system, state, params)
    return inputs.q[:, 0], inputs.v[:, 0], inputs.params[:, 0]


def ball():
    (x, y), (vx, vy) = zw.coordinates("x y")
    g = zw.parameters("g")
    floor = zw.Unilateral(y, restitution=1, name="floor")
    return zw.compile(zw.System(name="ball", kinetic=(vx**2 + vy**2) / 2, potential=g * y, constraints=[floor])), (
        x,
        y,
        vx,
        vy,
    )


def fall(y, v, g, until=10.0, sides=(1.0,), **options):
    flow = moving(ball()[0], ActiveSet(()), compiled=False)
    return flow.advance(
        0.0, np.array([0.0, y]), np.array([1.0, v]), np.array([g]), until, 1e-10, np.array(sides), **options
    )


def pendulum():
    """Return the pendulum on an ellipse away from its critical parameters, with arrays of a state."""
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, "a": -0.4}
    state = place(params, -0.3, 0.42)
    model = zw.compile(entry.system)
    return model, arrays(entry.system, {name: state[name] for name in entry.state}, params)


# Events.


def test_a_falling_ball_lands_when_it_should():
    found = fall(1.0, 0.0, 9.81)
    assert (found.status, found.fired) == ("FIRED", (0,))
    assert found.t[-1] == pytest.approx(math.sqrt(2 / 9.81), rel=1e-15)
    assert abs(found.q[-1, 1]) < 1e-15


@pytest.mark.parametrize("speed", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_flight_far_shorter_than_a_step_is_seen(speed):
    found = fall(0.0, speed, 9.81)  # starts at zero, on the right side: up and down in 2 v/g
    assert found.status == "FIRED"
    assert found.t[-1] == pytest.approx(2 * speed / 9.81, rel=1e-12)


def test_a_watch_that_starts_at_zero_and_leaves_on_the_wrong_side_fires_at_once():
    found = fall(0.0, 0.0, 9.81)
    assert found.status == "FIRED"
    assert found.t.tolist() == [0.0]


def test_a_watch_that_starts_at_zero_and_leaves_on_its_side_does_not_fire():
    found = fall(0.0, 0.0, -9.81, until=1.0)
    assert (found.status, found.fired, found.t[-1]) == ("REACHED", (), 1.0)


@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-9])
def test_a_dip_inside_one_step_is_caught_at_its_first_crossing(depth):
    # y = (t - 5)^2 - depth, one step would do: it is negative for 2 sqrt(depth) only.
    found = fall(25.0 - depth, -10.0, -2.0)
    assert found.status == "FIRED"
    assert found.t[-1] == pytest.approx(5 - math.sqrt(depth), abs=1e-13 / math.sqrt(depth))


def test_a_grazing_that_does_not_reach_zero_is_no_event():
    assert fall(25.0 + 1e-9, -10.0, -2.0).status == "REACHED"


def test_an_unwatched_quantity_does_not_fire():
    assert fall(1.0, 0.0, 9.81, sides=(0.0,)).status == "REACHED"


def test_a_user_event_fires_on_any_crossing_and_goes_on_behind_it():
    model, (x, *_) = ball()
    flow = moving(model, ActiveSet(()), extra=(sp.sin(x),), compiled=False)
    t, q, v, times = 0.0, np.array([1.0, 1.0]), np.array([1.0, 0.0]), []
    for _ in range(5):
        found = flow.advance(t, q, v, np.array([0.0]), 10.0, 1e-10, np.array([0.0, 2.0]))
        t, q, v = found.t[-1], found.q[-1], found.v[-1]
        times.append(t)
    assert found.status == "REACHED"
    assert times == pytest.approx([math.pi - 1, 2 * math.pi - 1, 3 * math.pi - 1, 10.0, 10.0], abs=1e-13)


def test_two_quantities_that_cross_together_fire_together():
    model, (x, y, _, _) = ball()
    flow = moving(model, ActiveSet(()), extra=(x - y, y - 1), compiled=False)
    found = flow.advance(
        0.0, np.array([0.0, 2.0]), np.array([1.0, -1.0]), np.array([0.0]), 10.0, 1e-10, np.array([1.0, 2.0, 2.0])
    )
    assert found.fired == (1, 2)
    assert found.t[-1] == pytest.approx(1.0, abs=1e-15)


def test_an_event_that_is_not_a_number_is_reported_with_its_number():
    model, (x, *_) = ball()
    flow = moving(model, ActiveSet(()), extra=(sp.sqrt(2 - x),), compiled=False)
    found = flow.advance(
        0.0, np.array([0.0, 2.0]), np.array([1.0, 0.0]), np.array([0.0]), 10.0, 1e-10, np.array([0.0, 2.0])
    )
    assert (found.status, found.fired) == ("NOT_FINITE", (1,)) or found.fired == (1,)


def test_an_oscillating_quantity_is_resolved_though_the_state_rests():
    # The body sticks and its state is constant: steps would grow without bound but for the force that is watched.
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(
        name="stuck", kinetic=v**2 / 2, forces={x: sp.sin(2 * sp.pi * zw.t) * (1 + zw.t / 20)},
        constraints=[zw.Friction(sp.Rational(6, 5), slip=v, name="brake")],
    )  # fmt: skip
    flow = moving(zw.compile(system), ActiveSet((), sticking=(0,)), compiled=False)
    found = flow.advance(0.0, np.zeros(1), np.zeros(1), NONE, 100.0, 1e-10, np.array([1.0]))
    # First time with sin(2 pi t) (1 + t/20) = 6/5, on the rise to the fifth summit: before it the summits are lower.
    low, high = 4.0, 4.25
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.sin(2 * math.pi * middle) * (1 + middle / 20) < 1.2 else (low, middle)
    assert found.status == "FIRED"
    assert found.t[-1] == pytest.approx(high, abs=1e-10)


# Projection.


@pytest.mark.parametrize("compiled", [False, True])
def test_projection_keeps_the_pendulum_on_its_constraints(compiled):
    model, (q, v, params) = pendulum()
    flow = moving(model, ActiveSet((0, 1, 2)), compiled=compiled)
    found = flow.advance(0.0, q, v, params, 10.0, 1e-9, np.zeros(len(flow.watch_names)))
    terms = model.kernels.terms(found.t, found.q.T.copy(), found.v.T.copy(), params[:, None])
    assert found.status == "REACHED"
    assert np.abs(terms.value).max() < 1e-13
    assert np.abs(terms.rate).max() < 1e-13
    assert 1e-13 < found.drift < 1e-7
    energy = terms.energies.sum(axis=0)
    assert np.abs(energy - energy[0]).max() < 1e-8


def test_the_pendulum_agrees_with_scipy_on_reference_kernels():
    model, (q, v, params) = pendulum()
    reference = zw.compile(model.system, backend="reference").kernels

    def slope(t, y):
        solved = reference.solve(np.array([t]), y[:4, None], y[4:, None], params[:, None], [0, 1, 2])
        return np.r_[y[4:], solved.accelerations[:, 0]]

    flow = moving(model, ActiveSet((0, 1, 2)))
    found = flow.advance(0.0, q, v, params, 1.0, 1e-12, np.zeros(len(flow.watch_names)))
    expected = solve_ivp(slope, (0, 1.0), np.r_[q, v], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert np.r_[found.q[-1], found.v[-1]] == pytest.approx(expected, abs=1e-10)


def test_a_constraint_that_moves_with_time_is_followed():
    (x, y), (vx, vy) = zw.coordinates("x y")
    wall = zw.Bilateral(y - sp.sin(zw.t) * x, name="wall")
    model = zw.compile(zw.System(name="wall", kinetic=(vx**2 + vy**2) / 2, constraints=[wall]))
    flow = moving(model, ActiveSet((0,)), compiled=False)
    found = flow.advance(
        0.0, np.array([1.0, 0.0]), np.array([0.0, 1.0]), NONE, 3.0, 1e-10, np.zeros(len(flow.watch_names))
    )
    assert np.abs(found.q[:, 1] - np.sin(found.t) * found.q[:, 0]).max() < 1e-15


def test_a_skate_keeps_its_velocity_constraint():
    (_, _, th), (vx, vy, w) = zw.coordinates("x y th", angles="th")
    blade = zw.Bilateral(vy * sp.cos(th) - vx * sp.sin(th), name="blade")
    system = zw.System(name="skate", kinetic=(vx**2 + vy**2 + w**2) / 2, constraints=[blade])
    flow = moving(zw.compile(system), ActiveSet((0,)), compiled=False)
    found = flow.advance(
        0.0, np.zeros(3), np.array([1.0, 0.0, 0.5]), NONE, 20.0, 1e-11, np.zeros(len(flow.watch_names))
    )
    # Free skate: a circle with radius v/w, from the constant speed and turning.
    assert found.q[-1] == pytest.approx([2 * math.sin(10.0), 2 - 2 * math.cos(10.0), 10.0], abs=1e-9)
    assert np.abs(found.v[:, 1] * np.cos(found.q[:, 2]) - found.v[:, 0] * np.sin(found.q[:, 2])).max() < 1e-15


# Friction.


def block(mu=0.3, level="position"):
    (x, y), (vx, vy) = zw.coordinates("x y")
    g, beta = zw.parameters("g beta")
    ground = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=0, name="ground")
    potential = g * (y * sp.cos(beta) + x * sp.sin(beta))
    return zw.compile(zw.System(name="block", kinetic=(vx**2 + vy**2) / 2, potential=potential, constraints=[ground]))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_block_that_slides_up_an_incline_stops_when_the_closed_form_says(compiled):
    g, beta, mu = 9.81, 0.2, 0.3
    flow = moving(block(mu), ActiveSet((0,), sliding=((0, 1),)), compiled=compiled)
    names = dict(zip(flow.watch_names, range(len(flow.watch_names)), strict=True))
    sides = np.zeros(len(names))
    sides[names["slip", 0]] = sides[names["normal", 0]] = 1.0
    found = flow.advance(0.0, np.zeros(2), np.array([2.0, 0.0]), np.array([beta, g]), 10.0, 1e-10, sides)
    slowing = g * (math.sin(beta) + mu * math.cos(beta))
    assert found.fired == (names["slip", 0],)
    assert found.t[-1] == pytest.approx(2.0 / slowing, rel=1e-14)
    assert found.q[-1, 0] == pytest.approx(2.0 / slowing, rel=1e-13)


def test_a_sticking_block_does_not_move_and_reports_its_reserve():
    g, beta, mu = 9.81, 0.2, 0.3
    flow = moving(block(mu), ActiveSet((0,), sticking=(0,)), compiled=False)
    a, lam, friction, watches, sound = flow.evaluate(0.0, np.zeros(2), np.zeros(2), np.array([beta, g]))
    values = dict(zip(flow.watch_names, watches, strict=True))
    assert sound and np.abs(a).max() < 1e-15
    assert lam == pytest.approx([g * math.cos(beta)])
    assert friction == pytest.approx([g * math.sin(beta)])
    assert values["reserve", 0] == pytest.approx(g * (mu * math.cos(beta) - math.sin(beta)))
    found = flow.advance(0.0, np.zeros(2), np.zeros(2), np.array([beta, g]), 10.0, 1e-10, np.ones(len(values)))
    assert found.status == "REACHED"
    assert np.abs(found.q).max() == 0.0


def test_friction_of_a_pulling_bilateral_contact_has_the_size_of_its_multiplier():
    (_, y), (vx, vy) = zw.coordinates("x y")
    rail = zw.Bilateral(y, friction=zw.Coulomb(0.5, slip=vx), name="rail")
    system = zw.System(name="rail", kinetic=(vx**2 + vy**2) / 2, forces={y: 4}, constraints=[rail])
    flow = moving(zw.compile(system), ActiveSet((0,), sliding=((0, 1),), pulling=(0,)), compiled=False)
    a, lam, friction, _, _ = flow.evaluate(0.0, np.zeros(2), np.array([1.0, 0.0]), NONE)
    assert lam == pytest.approx([-4.0])  # holds down against the force of 4
    assert friction == pytest.approx([-2.0])
    assert a == pytest.approx([-2.0, 0.0])


def test_sliding_in_a_plane_is_opposite_to_the_slip():
    (_, _, z), (vx, vy, vz) = zw.coordinates("x y z")
    floor = zw.Unilateral(z, friction=zw.Coulomb(0.25, slip=(vx, vy)), restitution=0, name="floor")
    system = zw.System(name="puck", kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=8 * z, constraints=[floor])
    flow = moving(zw.compile(system), ActiveSet((0,), sliding=((0, 0),)), compiled=False)
    assert set(flow.watch_names) >= {("normal", 0), ("speed", 0)}
    found = flow.advance(0.0, np.zeros(3), np.array([3.0, 4.0, 0.0]), NONE, 2.0, 1e-10, np.zeros(len(flow.watch_names)))
    # Slows down by mu g = 2 along (3, 4)/5: from 5 to 1 in two seconds, over 6 metres.
    assert found.v[-1] == pytest.approx([0.6, 0.8, 0.0], abs=1e-12)
    assert found.q[-1] == pytest.approx([3.6, 4.8, 0.0], abs=1e-12)


def test_several_sliding_contacts_agree_with_a_dense_solution():
    source = np.random.default_rng(5)
    (x, y, z, w), speeds = zw.coordinates("x y z w")
    factor = source.normal(size=(4, 4))
    mass = sp.Matrix((factor @ factor.T + 4 * np.eye(4)).round(6))
    rows, slips = source.normal(size=(3, 4)).round(6), source.normal(size=(3, 4)).round(6)
    q = sp.Matrix([x, y, z, w])
    contacts = [
        zw.Unilateral(
            (sp.Matrix([list(rows[j])]) * q)[0],
            friction=zw.Coulomb(0.3 + j / 10, slip=(sp.Matrix([list(slips[j])]) * sp.Matrix(speeds))[0]),
            restitution=0, name=f"c{j}",
        )
        for j in range(3)
    ]  # fmt: skip
    force = sp.Matrix([1, -2, 3, 4])
    system = zw.System(name="many", mass=mass, force=force, coordinates=(x, y, z, w), constraints=contacts)
    flow = moving(zw.compile(system), ActiveSet((0, 1, 2), sliding=((0, 1), (1, -1), (2, 1))), compiled=False)
    a, lam, friction, _, sound = flow.evaluate(0.0, np.zeros(4), np.zeros(4), NONE)
    mu, signs = np.array([0.3, 0.4, 0.5]), np.array([1, -1, 1])
    m, f = np.array(mass, dtype=float), np.array(force, dtype=float).ravel()
    columns = rows.T - slips.T * mu * signs
    expected = np.linalg.solve(np.block([[m, -columns], [rows, np.zeros((3, 3))]]), np.r_[f, np.zeros(3)])
    assert sound
    assert np.r_[a, lam] == pytest.approx(expected, rel=1e-11)
    assert friction == pytest.approx(-mu * signs * lam)


# Switching surfaces.


def test_a_spring_that_only_pushes_keeps_the_order_at_its_kink():
    (x,), (v,) = zw.coordinates("x")
    k = zw.parameters("k")
    system = zw.System(name="bumper", kinetic=v**2 / 2, forces={x: k * sp.Max(0, -x) - 1})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    assert flow.watch_names == (("surface", 0),)
    found = flow.advance(0.0, np.array([0.5]), np.array([0.0]), np.array([100.0]), 2.0, 1e-12, np.zeros(1))
    # Free fall by 0.5 with g = 1 takes 1 s; then x = -(1/k)(1 - cos wt) - (v0/w) sin wt with w = 10, v0 = -1.
    w, s = 10.0, 1.0
    push = -(1 - math.cos(w * s)) / 100 - math.sin(w * s) / w
    contact = 1.0 + (math.pi + 2 * math.atan(1 / w)) / w  # and leaves it upwards with the same speed
    flight = 2.0 - contact
    expected = flight - flight**2 / 2 if push > 0 else push
    assert any(abs(found.t - 1.0) < 1e-14)  # a step ends at the kink
    assert found.q[-1, 0] == pytest.approx(expected, abs=1e-11)


def test_a_force_that_jumps_with_time_and_position():
    (x,), (v,) = zw.coordinates("x")
    force = sp.Heaviside(zw.t - 1) + sp.Piecewise((2, x > 3), (0, True))
    system = zw.System(name="pushed", kinetic=v**2 / 2, forces={x: force})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    found = flow.advance(0.0, np.zeros(1), np.array([1.0]), NONE, 4.0, 1e-10, np.zeros(2))
    # x = t to 1; then 1 + s + s^2/2 = 3 at s = sqrt(5) - 1; then the force is 3.
    s = math.sqrt(5) - 1
    r = 3.0 - s
    assert found.q[-1, 0] == pytest.approx(3 + (1 + s) * r + 1.5 * r**2, abs=1e-12)
    assert all(np.abs(found.t - time).min() < 1e-13 for time in (1.0, 1 + s))


def test_a_motion_that_starts_on_a_surface_takes_the_side_that_it_enters():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="sides", kinetic=v**2 / 2, forces={x: -sp.sign(x)})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    for speed in (1.0, -1.0):
        found = flow.advance(0.0, np.zeros(1), np.array([speed]), NONE, 1.0, 1e-10, np.zeros(1))
        assert found.q[-1, 0] == pytest.approx(speed * 0.5, abs=1e-14)
    far = flow.advance(0.0, np.zeros(1), np.array([1.0]), NONE, 5.0, 1e-10, np.zeros(1))
    # Up and down in 2 s, then the mirror image: at t = 5 one second into the third arc.
    assert far.q[-1, 0] == pytest.approx(0.5, abs=1e-12)
    assert far.branches.tolist() == [1.0]


def test_a_surface_that_is_asked_for_fires():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="asked", kinetic=v**2 / 2, forces={x: sp.Abs(x - 1)})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    found = flow.advance(0.0, np.zeros(1), np.array([1.0]), NONE, 5.0, 1e-10, np.array([1.0]))
    assert found.status == "FIRED"
    assert found.q[-1, 0] == pytest.approx(1.0, abs=1e-15)


# Ends.


def test_until_is_reached_bit_for_bit():
    for until in (0.1, 1 / 3, 10.0, 1e-9):
        assert fall(1.0, 0.0, 0.0, until=until).t[-1] == until


def test_a_blow_up_stops_at_its_time():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="explosive", kinetic=v**2 / 2, forces={x: 6 * x**2})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    # x = 1/(1 - t)^2 solves x'' = 6 x^2 with x = 1, v = 2: it is infinite at t = 1.
    found = flow.advance(0.0, np.ones(1), np.array([2.0]), NONE, 3.0, 1e-10, NONE)
    assert found.status in ("STEP_TOO_SMALL", "NOT_FINITE")
    assert found.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_equations_that_are_not_finite_at_the_start_say_so():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="root", kinetic=v**2 / 2, forces={x: sp.sqrt(x)})
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    assert flow.advance(0.0, -np.ones(1), np.ones(1), NONE, 1.0, 1e-10, NONE).status == "NOT_FINITE"


def test_a_singular_point_ends_the_motion_as_irregular():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")  # its start runs into the folded pose
    q, v, params = arrays(entry.system, entry.state, entry.params)
    flow = moving(zw.compile(entry.system), ActiveSet((0, 1, 2)), compiled=False)
    found = flow.advance(0.0, q, v, params, 10.0, 1e-10, np.zeros(len(flow.watch_names)))
    assert found.status == "IRREGULAR"
    assert found.q[-1] == pytest.approx([2.0, 0.0, 1.0, 0.0], abs=1e-3)


def test_pauses_and_goes_on_as_if_it_had_not():
    model, (q, v, params) = pendulum()
    flow = moving(model, ActiveSet((0, 1, 2)), compiled=False)
    sides = np.zeros(len(flow.watch_names))
    whole = flow.advance(0.0, q, v, params, 10.0, 1e-10, sides)
    piece = flow.advance(0.0, q, v, params, 10.0, 1e-10, sides, max_steps=5)
    assert piece.status == "PAUSED"
    assert len(piece.t) == 6
    while piece.status == "PAUSED":
        piece = flow.advance(
            piece.t[-1],
            piece.q[-1],
            piece.v[-1],
            params,
            10.0,
            1e-10,
            sides,
            max_steps=5,
            known=KnownState(piece.next_step),
        )
    assert piece.status == "REACHED"
    assert piece.q[-1] == pytest.approx(whole.q[-1], abs=1e-9)


def test_what_is_made_for_a_mode_is_made_once():
    model, _ = pendulum()
    assert moving(model, ActiveSet((0, 1, 2))) is moving(model.kernels, ActiveSet((0, 1, 2)))
