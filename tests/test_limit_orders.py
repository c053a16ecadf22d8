"""Limit studies that tend to the ideal motion: orders, constants, the force in the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from zwang._limit.order_fit import fit_order
from zwang._results.limit import LimitStatus

DECADES = 10.0 ** np.arange(3, 11)
GRIPPING = {"x": 0.0, "y": 0.0, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "v_phi": 1.0}
# Kozlov and Neishtadt (1990), theorem (2.1) to (2.3).
ORDERS = {"position": -1.0, "velocity": -0.5, "tangential velocity": -1.0, "normal velocity": -0.5, "integral": -0.5,
          "force": 0.0}  # fmt: skip


@pytest.fixture(scope="module")
def example():
    entry = zw.gallery.get("kozlov_neishtadt")
    return zw.limit(entry.system, "floor", entry.state, entry.params, by=zw.Stiffness, until=1.0, strengths=DECADES)


@pytest.fixture(scope="module")
def circle():
    entry = zw.gallery.get("circle_particle")
    return zw.limit(entry.system, "circle", entry.state, entry.params, by=zw.Stiffness, until=1.0, strengths=DECADES)


@pytest.mark.parametrize("study", ["example", "circle"])
def test_orders_are_those_of_the_theorem_and_the_force_does_not_converge(study: str, request: pytest.FixtureRequest):
    found = request.getfixturevalue(study)
    assert found.status is LimitStatus.CONVERGES
    for name, order in ORDERS.items():
        assert found.orders[name].value == pytest.approx(order, abs=0.03), name
        assert found.orders[name].uncertainty < 0.03
    assert "the force itself does not converge" in found.verdict.sentence


def test_example_has_the_closed_forms_of_the_paper_with_the_corrected_velocity_along(example):
    """y = (1 - cos(sqrt(N) t))/N; x' - x'_ideal = t/N - N^(-3/2) sin(sqrt(N) t), where -1/2 is printed for -1."""
    N = example.strengths
    t = np.linspace(0, 1, 20001)
    for k, strength in enumerate(N[:4]):
        root = math.sqrt(strength)
        along = np.abs(t / strength - np.sin(root * t) / strength**1.5).max()
        assert example.errors["tangential velocity"][k] == pytest.approx(along, rel=2e-2)
    # Over many periods the largest values are 2/N across, N^(-1/2) and 1.
    assert example.errors["normal velocity"][-1] * math.sqrt(N[-1]) == pytest.approx(1.0, rel=1e-3)
    assert example.errors["integral"][-1] * math.sqrt(N[-1]) == pytest.approx(1.0, rel=1e-3)
    assert example.errors["force"][-1] == pytest.approx(1.0, rel=1e-3)
    # x is off by t^2/(2 N) when y is off by 2/N: hypot(1/2, 2).
    assert example.errors["position"][-1] * N[-1] == pytest.approx(math.hypot(0.5, 2.0), rel=5e-3)


def test_the_force_tends_to_the_ideal_reaction_in_the_mean(example, circle):
    # The reaction of the floor is -1 at all times; that of the circle is -m s^2/r with s = 2 - exp(-t/2).
    np.testing.assert_allclose(example.mean_force["floor"][20:-20], -1.0, atol=2e-4)
    speed = 2 - np.exp(-0.5 * circle.t)
    np.testing.assert_allclose(circle.ideal_force["circle"], -(speed**2), rtol=1e-9)
    np.testing.assert_allclose(circle.mean_force["circle"][20:-20], -(speed**2)[20:-20], rtol=1e-3)
    # Between 0 and -2: the spring pushes up to twice the load.
    low, high = example.force["floor"][-1].min(), example.force["floor"][-1].max()
    assert (low, high) == (pytest.approx(-2.0, abs=1e-3), pytest.approx(0.0, abs=1e-3))


def test_energy_of_the_oscillation_falls_like_one_over_n(example):
    # Mean of twice the kinetic energy across: <sin^2>/N = 1/(2 N).
    np.testing.assert_allclose(example.energy[2:] * example.strengths[2:], 0.5, rtol=0.05)
    assert example.energy_removed == 0.0


def test_sleigh_by_friction_converges_with_order_minus_one_and_its_constants():
    entry = zw.gallery.get("sleigh")
    study = zw.limit(entry.system, "blade", GRIPPING, entry.params, by=zw.Viscosity, until=10.0,
                     strengths=10.0 ** np.arange(2, 9))  # fmt: skip
    assert study.status is LimitStatus.CONVERGES
    for name in ("position", "velocity", "tangential velocity", "normal velocity"):
        assert study.orders[name].value == pytest.approx(-1.0, abs=0.01), name
    # Sup distances to the exact circle on [0, 10]: 11.682/N and sqrt(101)/N; the closed form of Salnikova et al.
    assert study.errors["position"][-1] * study.strengths[-1] == pytest.approx(11.682, abs=2e-3)
    assert study.errors["velocity"][-1] * study.strengths[-1] == pytest.approx(math.sqrt(101), abs=1e-3)


def test_an_offset_inside_the_friction_converges_and_outside_it_does_not():
    """x' + 1 >= 0 reversed: x' <= -1 pushed by +1. With the offset x'(5) = -0.9, -0.99, -0.999 for 10, 100, 1000."""
    (x,), (vx,) = zw.coordinates("x")
    belt = zw.System(
        name="belt", kinetic=vx**2 / 2, forces={x: 1}, constraints=[zw.Unilateral(-vx - 1, name="ratchet")]
    )
    study = zw.limit(belt, "ratchet", {"x": 0, "v_x": -1}, by=zw.Viscosity, until=5.0, strengths=[10, 100, 1000])
    assert study.status is LimitStatus.CONVERGES
    np.testing.assert_allclose(study.v[:, -1, 0], [-0.9, -0.99, -0.999], atol=1e-6)

    class Printed:
        """The force as printed: the linear part alone, without the offset."""

        strength = None
        level = "velocity"

        def soften(self, system, constraint, strength):
            linear = constraint.expr - constraint.expr.subs(dict.fromkeys(system.velocities, 0))
            push = {v.coordinate: -strength * linear * constraint.expr.diff(v) for v in system.velocities}
            return system.replace(forces={q: system.forces.get(q, 0) + f for q, f in push.items()}, constraints=())

    printed = zw.limit(belt, "ratchet", {"x": 0, "v_x": -1}, by=Printed(), until=5.0, strengths=[10, 100, 1000])
    # x' tends to 0 and not to -1: +0.1, +0.01, +0.001 once the start has faded.
    np.testing.assert_allclose(printed.v[:, -1, 0], [0.1, 0.01, 0.001], atol=1e-6)
    assert printed.status is LimitStatus.CONVERGES_ELSEWHERE


def test_several_constraints_at_once_converge_together():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    names = [item.name for item in entry.system.constraints]
    study = zw.limit(entry.system, names, entry.state, entry.params, by=zw.Stiffness(weight=2), until=0.3,
                     strengths=[1e5, 1e6, 1e7, 1e8])  # fmt: skip
    assert study.status is LimitStatus.CONVERGES
    assert study.orders["position"].value == pytest.approx(-1.0, abs=0.05)
    assert study.orders["integral"].value == pytest.approx(-0.5, abs=0.05)
    assert set(study.mean_force) == set(names)


def test_an_elastic_ball_on_a_spring_tends_to_the_impact_law_outside_windows():
    (_, y), (vx, vy) = zw.coordinates("x y")
    ball = zw.System(name="ball", kinetic=(vx**2 + vy**2) / 2, potential=9.81 * y,
                     constraints=[zw.Unilateral(y, restitution=1, name="floor")])  # fmt: skip
    study = zw.limit(ball, "floor", {"x": 0, "y": 1, "v_x": 1, "v_y": 0}, by=zw.Stiffness, until=2.0,
                     strengths=[1e5, 1e6, 1e7, 1e8])  # fmt: skip
    # Each contact lasts pi/sqrt(N) where the ideal one takes no time: everything is late by that, order -1/2.
    for name in ("position", "velocity", "integral"):
        assert study.orders[name].value == pytest.approx(-0.5, abs=0.03), name
    impacts = [math.sqrt(2 / 9.81), 3 * math.sqrt(2 / 9.81)]
    np.testing.assert_allclose(study.windows.mean(axis=1), impacts, atol=1e-9)


def test_a_dashpot_of_critical_share_takes_the_oscillation_away():
    entry = zw.gallery.get("kozlov_neishtadt")
    study = zw.limit(entry.system, "floor", entry.state, by=zw.Stiffness(ratio=1), until=1.0,
                     strengths=[1e3, 1e4, 1e5, 1e6])  # fmt: skip
    assert study.status is LimitStatus.CONVERGES
    # Critically damped, y relaxes to 1/N: the force is off only at the start.
    np.testing.assert_allclose(study.lowest["floor"][-1][50:], -1.0, atol=1e-6)
    assert study.orders["position"].value == pytest.approx(-1.0, abs=0.03)


def test_fit_leaves_out_the_floor_and_strengths_that_are_too_small():
    N = 10.0 ** np.arange(1, 13)
    errors = 3 / N + 40 / N**2 + 2e-11
    found = fit_order(N, errors, floor=2e-11)
    assert found.value == pytest.approx(-1.0, abs=0.02)
    assert N[found.used[-1]] < 1e11
    assert math.isnan(fit_order(N[:2], errors[:2]).value)
