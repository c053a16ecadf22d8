"""Mean forces and orders: averages that know the ends of time, fits that know the floor of rounding."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from night import by_day
from zwang._limit.limit_study import smoothed
from zwang._limit.order_fit import fit_order

GRAVITY = 9.81


def wire(seed):
    """Return a bead of unit mass on a random cubic y = f(x), a state on it, and its reaction in closed form."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(-1, 1, size=3)
    (x, y), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        name="wire",
        kinetic=(vx**2 + vy**2) / 2,
        potential=GRAVITY * y,
        constraints=[zw.Bilateral(y - (a * x + b * x**2 + c * x**3), name="wire")],
    )
    x0, v0 = rng.uniform(-0.3, 0.3), rng.uniform(0.5, 1.5)
    slope = a + 2 * b * x0 + 3 * c * x0**2
    state = {"x": x0, "y": a * x0 + b * x0**2 + c * x0**3, "v_x": v0, "v_y": slope * v0}

    def reaction(x, vx):
        # lam (1 + f'^2) = g + f'' vx^2: the part of M a - Q along the gradient (-f', 1) of the expression.
        slope, bend = a + 2 * b * x + 3 * c * x**2, 2 * b + 6 * c * x
        return (GRAVITY + bend * vx**2) / (1 + slope**2)

    return system, state, reaction


@pytest.mark.parametrize("seed", by_day(range(5), (0, 3)))
def test_mean_force_of_a_random_wire_is_right_up_to_both_ends(seed):
    system, state, reaction = wire(seed)
    study = zw.limit(system, "wire", state, {}, by=zw.Stiffness, until=0.8)
    exact = reaction(study.q[-1][:, 0], np.array([study.ideal.at(time)["v_x"] for time in study.t]))
    assert study.ideal_force["wire"] == pytest.approx(exact, rel=1e-6)
    # A fast oscillation leaves 2/(w dt) of its amplitude in the mean of a cell: 1e-2 at 1e10 and 400 cells in 0.8 s.
    off = np.abs(study.mean_force["wire"] - exact) / np.abs(exact).max()
    assert off.max() < 8e-3
    assert off[-5:].max() < 8e-3 and off[:5].max() < 8e-3


@pytest.mark.parametrize("seed", range(5))
def test_recommendation_says_what_the_mean_reaction_misses_and_not_what_averaging_does(seed):
    system, state, _ = wire(seed)
    found = zw.recommend(system, "wire", state, {}, error=1e-3, until=0.8)
    # Windows of six periods leave 3e-3 of the oscillation, and the bend of the force inside them less than a percent.
    assert found.mean_reaction_error < 1.5e-2


def test_parabolas_are_kept_and_oscillations_are_not():
    edges = np.linspace(0.0, 1.0, 401)
    cells = np.diff(edges - edges**2 + edges**3 / 3) / np.diff(edges)  # means of (1 - x)^2
    assert smoothed(cells) == pytest.approx((1 - edges) ** 2, abs=1e-12)
    fast = np.diff(np.sin(2 * np.pi * 80 * edges) / (2 * np.pi * 80)) / np.diff(edges)  # 8 periods in 40 cells
    left = smoothed(fast, 40)
    assert np.abs(left[20:-20]).max() < 2e-3 and np.abs(left).max() < 2e-2


def test_window_longer_than_the_time_is_cut():
    assert smoothed(np.array([1.0, 2.0, 3.0]), 16) == pytest.approx([0.5, 1.5, 2.5, 3.5])


def test_point_that_the_floor_lifted_is_left_out_of_an_order():
    strengths = 10.0 ** np.arange(3, 11)
    errors = 2.0 / strengths
    errors[-1] = 1.5e-9  # five times its power, at a floor that was estimated at a hundredth of this
    order = fit_order(strengths, errors, 1.5e-11)
    assert order.value == pytest.approx(-1.0, abs=1e-3)
    assert order.used[-1] == 6


def test_flatter_end_far_above_the_floor_is_another_power():
    strengths = 10.0 ** np.arange(3, 11)
    order = fit_order(strengths, 10 / strengths + 0.1 / np.sqrt(strengths), 1e-15)
    assert order.value == pytest.approx(-0.5, abs=0.02)
    assert order.used[-1] == 7


def test_study_says_which_points_stood_at_the_floor():
    held = zw.gallery.get("kozlov_neishtadt")
    strengths = 10.0 ** np.arange(4, 16, 2)
    study = zw.limit(held.system, "floor", held.state, by=zw.Stiffness, until=0.1, strengths=strengths)
    assert max(study.orders["position"].used) < len(study.strengths) - 1
    assert any("at the floor of rounding" in note and "position" in note for note in study.notes)
    assert study.orders["position"].value == pytest.approx(-1.0, abs=0.02)
