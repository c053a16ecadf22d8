"""Lyapunov exponents against closed forms and an independent map."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import DeclarationError


def oscillator():
    """x'' + 2 d x' + x = f cos(w t) with a wall at c."""
    (x,), (v,) = zw.coordinates("x")
    d, f, w, c, e = zw.parameters("d f w c e")
    wall = zw.Unilateral(c - x, restitution=e, name="wall")
    force = -2 * d * v + f * sp.cos(w * zw.t)
    return zw.System(name="oscillator", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: force}, constraints=[wall])


def test_sum_of_exponents_is_what_damping_and_impacts_do_to_volumes(tmp_path):
    params = {"d": 0.05, "f": 1.0, "w": 2.0, "c": 0.2, "e": 0.8}
    found = zw.lyapunov(oscillator(), {"x": 0.0, "v_x": 0.0}, params, until=150.0, transient=0.0)
    assert found.status.name == "COMPUTED", found.reason
    impacts = len(found.motion.events.of("impact"))
    wanted = -2 * 0.05 + 2 * np.log(0.8) * impacts / 150.0
    assert found.exponents.sum() == pytest.approx(wanted, abs=2e-3) and found.residual < 1e-6
    again = zw.load_result(found.save(tmp_path / "found.npz"))
    assert np.array_equal(again.exponents, found.exponents)
    assert found.plot().get_xlabel() == "t [s]" and "+-" in repr(found)
    one = zw.lyapunov(oscillator(), {"x": 0.0, "v_x": 0.0}, params, until=150.0, exponents=1)
    assert one.exponents == pytest.approx(found.exponents[:1], abs=1e-6) and np.isnan(one.residual)


def test_chaotic_ball_agrees_with_the_map_from_impact_to_impact():
    # F = s(t) + v D - g D^2/2 - s(t') = 0, v' = -e (v - g D) + (1 + e) s'(t'), D = t' - t: differentiated by hand.
    (y,), (v,) = zw.coordinates("y")
    w, A, e, g = 10.0, 0.25, 0.85, 9.81
    floor = zw.Unilateral(y - A * sp.sin(w * zw.t), restitution=e, name="table")
    ball = zw.System(name="ball", kinetic=v**2 / 2, potential=g * y, constraints=[floor])
    until = 60.0
    found = zw.lyapunov(ball, {"y": 1.0, "v_y": 0.0}, {}, until=until)
    assert found.status.name == "COMPUTED", found.reason
    points = zw.simulate(ball, {"y": 1.0, "v_y": 0.0}, {}, until=until, section="table").section
    basis, total = np.eye(2), np.zeros(2)
    s1, s2 = lambda t: A * w * np.cos(w * t), lambda t: -A * w**2 * np.sin(w * t)
    for (t, u), later in zip(zip(points.t, points.v[:, 0], strict=True), points.t[1:], strict=False):
        D = later - t
        by = np.array([s1(t) - u + g * D, D]) / -(u - g * D - s1(later))
        row = -e * (np.array([0, 1]) - g * (by - np.array([1, 0]))) + (1 + e) * s2(later) * by
        basis, r = np.linalg.qr(np.array([by, row]) @ basis)
        total += np.log(np.abs(np.diag(r)))
    wanted = np.sort(total / (points.t[-1] - points.t[0]))[::-1]
    assert found.exponents == pytest.approx(wanted, abs=0.15 + 0.02 * abs(wanted[0]))
    assert wanted[0] > 0.5 and found.exponents[0] > 0.5


def test_chaotic_oscillator_agrees_with_its_variational_equations_in_closed_form():
    # Along the same motion: the fundamental matrix of x'' + 2 d x' + x between impacts, and at an impact, with the
    # accelerations a- and a+ before and after it, dx+ = -e dx, dv+ = -e dv + (e a- + a+)/v- dx.
    d, f, w, c, e = 0.025, 1.0, 2.8, 0.0, 0.8
    params = {"d": d, "f": f, "w": w, "c": c, "e": e}
    until = 200.0
    found = zw.lyapunov(oscillator(), {"x": -0.1, "v_x": 0.0}, params, until=until)
    impacts = found.motion.events.of("impact")
    basis, total, last, own = np.eye(2), np.zeros(2), 0.0, np.sqrt(1 - d**2)
    for time, v in [*((one.time, float(np.ravel(one.details["before"])[0])) for one in impacts), (until, None)]:
        h = time - last
        cos, sin = np.cos(own * h), np.sin(own * h) / own
        basis = np.exp(-d * h) * np.array([[cos + d * sin, sin], [-sin, cos - d * sin]]) @ basis
        if v is not None:
            a = [-c - 2 * d * speed + f * np.cos(w * time) for speed in (v, -e * v)]
            basis = np.array([[-e, 0.0], [(e * a[0] + a[1]) / v, -e]]) @ basis
        basis, r = np.linalg.qr(basis)
        total, last = total + np.log(np.abs(np.diag(r))), time
    assert len(impacts) > 80 and total[0] / until > 0.05
    assert found.exponents == pytest.approx(np.sort(total / until)[::-1], rel=5e-3)
    assert found.exponents.sum() == pytest.approx(-2 * d + 2 * np.log(e) * len(impacts) / until, abs=1e-6)


def test_autonomous_systems_have_a_zero_and_sticking_gives_minus_infinity():
    (x,), (v,) = zw.coordinates("x")
    van = zw.System(name="van der Pol", kinetic=v**2 / 2, forces={x: (1 - x**2) * v - x})
    found = zw.lyapunov(van, {"x": 2.0, "v_x": 0.0}, {}, until=200.0, transient=20.0)
    assert found.exponents == pytest.approx([0.0, -7.0588 / 6.66329], abs=0.02)  # the mean of a finite time
    belt = zw.gallery.get("belt_block")
    stuck = zw.lyapunov(belt.system, belt.state, belt.params, until=1.5)
    assert stuck.exponents[-1] == -np.inf


def test_exponents_of_linear_systems_where_the_motion_itself_rests_or_dies_out():
    # Steps of the motion are long there: nearby motions are what is fast.
    (x,), (v,) = zw.coordinates("x")
    saddle = zw.System(name="saddle", kinetic=v**2 / 2, potential=-(x**2) / 2)
    found = zw.lyapunov(saddle, {x: 0, v: 0}, {}, until=50.0, transient=10.0)
    assert found.exponents == pytest.approx([1, -1], abs=1e-6) and found.residual < 1e-9
    stiff = zw.System(name="stiff", kinetic=v**2 / 2, potential=x**2, forces={x: -3 * v})
    for size in (1.0, 1e-9):
        found = zw.lyapunov(stiff, {x: size, v: 0}, {}, until=100.0, transient=50.0)
        assert found.exponents == pytest.approx([-1, -2], abs=1e-6) and found.residual < 1e-8
    # A transient may end in the middle of a flight: what counts begins right after an impact then.
    ball = zw.gallery.get("bouncing_ball")
    found = zw.lyapunov(ball.system, ball.state, {**ball.params, "e": 1.0}, until=20.0, transient=4.3)
    assert found.residual < 1e-12 and found.exponents.sum() == pytest.approx(0, abs=1e-10)


def test_mistakes_of_lyapunov():
    ball = zw.gallery.get("bouncing_ball")
    ask = (ball.system, ball.state, ball.params)
    with pytest.raises(DeclarationError, match="leaves nothing"):
        zw.lyapunov(*ask, until=1.0, transient=2.0)
    with pytest.raises(DeclarationError, match="2 free directions"):
        zw.lyapunov(*ask, until=1.0, exponents=3)
    with pytest.raises(DeclarationError, match="exponents"):
        zw.lyapunov(*ask, until=1.0, exponents=0)
    stops = zw.lyapunov(ball.system, ball.state, {**ball.params, "e": 0.3}, until=3.0)
    assert stops.status.name == "NOT_DIFFERENTIABLE" and "accumulate" in stops.reason
    few = zw.lyapunov(*ask, until=1e5, budget={"steps": 30})
    assert few.status.name == "UNFINISHED" and "budget of 30 steps" in few.reason
