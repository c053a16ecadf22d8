"""The integrators for stiff and for fast motion: accuracy against closed forms, kinks located, rounding kept low."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._kernels.flow import flow
from zwang._numerics.budget import Budget, spending
from zwang._numerics.motion import run_state, unrolled
from zwang._numerics.motion.course import Course, Problem, run_implicit, run_oscillatory
from zwang._numerics.motion.radau import GAMMA, MATRIX, NODES, WEIGHTS
from zwang._numerics.motion.reference import DEGREE, Reference, antiderivative, fit, nodes
from zwang._numerics.motion.tableau import B

GRIPPING = {"x": 0.0, "y": 0.0, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "v_phi": 1.0}


def problem(system: zw.System, state: dict, params: dict, *, held: bool, measures: dict | None = None) -> Problem:
    made = flow(zw.compile(system).kernels, measures or {})
    inputs = resolve(system, state, params)
    values = np.ascontiguousarray(inputs.params[:, 0])
    workspace = made.workspace(values)
    q, v = inputs.q[:, 0].copy(), inputs.v[:, 0].copy()
    sides = made.sides_at(0.0, q, v, values, workspace)
    functions = made.held.calls if held else (*made.live.calls, made.held.calls[2])
    return Problem(functions, made.n, len(measures or {}), 0, made.sides if held else 0, values,
                   workspace, sides, 0.0, q, v)  # fmt: skip


def sleigh(rho: float, tol: float) -> Course:
    entry = zw.gallery.get("sleigh")
    soft = zw.realize(entry.system, "blade", by=zw.Viscosity("rho"))
    return run_implicit(
        problem(soft, GRIPPING, {**entry.params, "rho": rho}, held=True), np.linspace(0, 10, 101), tol=tol
    )


def test_tableau_of_radau_meets_the_order_conditions_up_to_5():
    c = np.array(NODES)
    for k in range(1, 6):  # quadrature: order 2 s - 1 = 5
        assert np.dot(WEIGHTS, c ** (k - 1)) == pytest.approx(1 / k, abs=1e-15)
    for k in range(1, 4):  # stage order 3
        np.testing.assert_allclose(MATRIX @ c ** (k - 1), c**k / k, atol=1e-15)
    # Stiffly accurate: the last stage is the step, so R(infinity) = 0.
    np.testing.assert_allclose(MATRIX[-1], WEIGHTS, atol=1e-16)
    assert np.linalg.eigvals(MATRIX).real == pytest.approx(abs(np.linalg.eigvals(MATRIX).real))
    # Hairer and Wanner, Solving ODEs II, (8.18): 1/gamma = (6 + 81^(1/3) - 9^(1/3))/30.
    gamma = (6 + 81 ** (1 / 3) - 9 ** (1 / 3)) / 30
    assert gamma * GAMMA == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("rho", [1e4, 1e6, 1e8])
def test_sleigh_by_friction_has_the_error_of_the_closed_form_up_to_rho_1e8(rho: float):
    """The ideal motion is the unit circle; the largest distance on [0, 10] is 11.682/rho, of velocity sqrt(101)/rho.

    Closed form of the linear problem: v'' + rho v' + v = 0 for the velocity across, to first order in 1/rho.
    """
    course = sleigh(rho, 1e-11)
    t = course.t
    circle = np.stack([np.sin(t), 1 - np.cos(t)], axis=1)
    speed = np.stack([np.cos(t), np.sin(t)], axis=1)
    assert course.status == run_state.DONE
    assert np.linalg.norm(course.q[:, :2] - circle, axis=1).max() * rho == pytest.approx(11.682, rel=2e-3)
    assert np.linalg.norm(course.v[:, :2] - speed, axis=1).max() * rho == pytest.approx(math.sqrt(101), rel=2e-3)
    assert course.steps < 4000  # an explicit method would need 10 rho of them


def test_radau_converges_with_order_5_on_an_oscillator():
    """Steps of equal length, set by the edges: halving them divides the error by 32, against the closed form."""
    entry = zw.gallery.get("kozlov_neishtadt")
    soft = zw.realize(entry.system, "floor", by=zw.Stiffness("N"))
    errors = []
    for steps in (8, 16, 32):
        made = problem(soft, entry.state, {"N": 25.0}, held=True)
        found = run_implicit(made, np.linspace(0, 2, steps + 1), tol=1.0)
        errors.append(abs(found.q[-1, 1] - (1 - math.cos(10.0)) / 25))
    assert math.log2(errors[1] / errors[2]) == pytest.approx(5.0, abs=0.4)


def test_capture_of_the_sleigh_is_located_to_rounding():
    entry = zw.gallery.get("sleigh")
    soft = zw.realize(entry.system, "blade", by=zw.Viscosity("rho"))
    course = run_implicit(
        problem(soft, entry.state, {**entry.params, "rho": 1e6}, held=True), np.linspace(0, 3, 11), tol=1e-12
    )
    assert len(course.crossings) == 1
    # The fact is a closed form: the angle from the blade to the velocity over the angular velocity.
    assert course.crossings[0, 0] == pytest.approx(entry.facts["capture_time"].value, abs=1e-10)


def test_bouncing_on_a_one_sided_spring_switches_at_the_closed_form_times():
    (y,), (vy,) = zw.coordinates("y")
    ball = zw.System(name="ball", kinetic=vy**2 / 2, constraints=[zw.Unilateral(y, name="floor", restitution=1)])
    soft = zw.realize(ball, "floor", by=zw.Stiffness(100.0))
    made = problem(soft, {"y": 1.0, "v_y": -1.0}, {}, held=True)
    course = run_implicit(made, np.linspace(0, 2, 9), tol=1e-12)
    # It flies for 1 s, then half a period pi/10 of the spring, then up again.
    np.testing.assert_allclose(course.crossings[:, 0], [1.0, 1.0 + math.pi / 10], atol=1e-9)
    assert course.q[-1, 0] == pytest.approx(2.0 - 1.0 - math.pi / 10, abs=1e-9)


def test_amplitude_of_the_explicit_method_falls_as_its_stability_function_says():
    """The module's docstring quotes losses per period; they follow from R(i z) alone."""
    a, b = unrolled.matrix(), unrolled.weights(B)
    for phase, loss in ((0.7, 5.9e-9), (0.5, 2.8e-10)):
        z = 1j * phase
        value = 1 + z * b @ np.linalg.solve(np.eye(12) - z * a, np.ones(12))
        assert (1 - abs(value)) * 2 * math.pi / phase == pytest.approx(loss, rel=0.02)


@pytest.mark.parametrize(("strength", "tolerance"), [(1e4, 1e-12), (1e8, 1e-13)])
def test_oscillator_keeps_to_the_closed_form_over_many_periods(strength: float, tolerance: float):
    """Kozlov and Neishtadt: y = (1 - cos(sqrt(N) t))/N, x - x_ideal = t^2/(2 N) + (cos(sqrt(N) t) - 1)/N^2."""
    entry = zw.gallery.get("kozlov_neishtadt")
    soft = zw.realize(entry.system, "floor", by=zw.Stiffness("N"))
    made = problem(soft, entry.state, {"N": strength}, held=False, measures={"spring": -strength * soft.coordinates[1]})
    course = run_oscillatory(made, np.linspace(0, 1, 51), phase=0.2)
    root, t = math.sqrt(strength), course.t
    np.testing.assert_allclose(course.q[:, 1] * strength, 1 - np.cos(root * t), atol=3e-6)
    ideal = 0.5 * t
    np.testing.assert_allclose(
        course.q[:, 0], ideal + t**2 / (2 * strength) + (np.cos(root * t) - 1) / strength**2, atol=tolerance
    )
    # The integral of the force -N y is gathered by the same formulas.
    np.testing.assert_allclose(course.integrals[:, 0], np.sin(root * t) / root - t, atol=1e-9)


def test_rounding_of_time_and_state_does_not_pile_up():
    """200 000 steps at N = 1e10: the angle is off by -2.52/N = -2.5e-10; plain sums were off by 2e-12 more."""
    entry = zw.gallery.get("circle_particle")
    soft = zw.realize(entry.system, "circle", by=zw.Stiffness("N"))
    angles = []
    for phase in (0.5, 0.7):
        made = problem(soft, entry.state, {**entry.params, "N": 1e10}, held=False)
        course = run_oscillatory(made, np.linspace(0, 1, 101), phase=phase)
        angles.append(math.atan2(course.q[-1, 1], course.q[-1, 0]))
    assert angles[0] == pytest.approx(angles[1], abs=2e-13)
    assert (angles[0] - entry.facts["angle_at_1"].value) * 1e10 == pytest.approx(-2.5214, abs=2e-3)


def test_a_run_stops_where_its_budget_is_spent_and_says_so():
    entry = zw.gallery.get("kozlov_neishtadt")
    soft = zw.realize(entry.system, "floor", by=zw.Stiffness("N"))
    made = problem(soft, entry.state, {"N": 1e10}, held=False)
    with spending(Budget(steps=1000, memory=10**9)):
        course = run_oscillatory(made, np.linspace(0, 1, 11), phase=0.01)
    assert course.status == run_state.PAUSED
    assert len(course.t) < 11 and "The budget of 1,000 steps is spent" in course.reason


def test_reference_polynomials_and_their_integral_are_exact_for_smooth_motions():
    breaks = np.linspace(0.0, 2.0, 5)
    times = breaks[:-1, None] + (nodes() + 1) / 2 * np.diff(breaks)[:, None]
    coefficients = fit(np.cos(times)[:, None, :])
    at = np.linspace(0, 2, 41)
    reference = Reference(breaks, coefficients, np.zeros((0, 2)))
    np.testing.assert_allclose(reference.values(at)[:, 0], np.cos(at), atol=1e-12)
    integral = Reference(breaks, antiderivative(coefficients, breaks), np.zeros((0, 2)))
    np.testing.assert_allclose(integral.values(at)[:, 0], np.sin(at), atol=1e-10)
    assert coefficients.shape == (4, 1, DEGREE + 1)
