"""Impacts whose slip has two components: it turns on its way, dies, or leaves rest along one line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from impact_examples import ANGLE, leaning_rod, random_problem
from zwang._numerics.impacts import LAWS, ImpactContact, ImpactProblem, resolve_impact
from zwang._numerics.impacts.phases import resting_friction


def test_plane_motion_in_space_is_the_plane_one():
    c, s = math.cos(ANGLE), math.sin(ANGLE)
    flat = leaning_rod(0.5, mu=0.6, velocity=(-1.0, -0.5, 0.3), without_collision=False)
    tip = ImpactContact([0, 1, -c, 0], restitution=0.5, friction=0.6, tangent=[[1, 0, s, 0], [0, 0, 0, 1]])
    solid = ImpactProblem(np.diag([1, 1, 1 / 3, 1]), [-1.0, -0.5, 0.3, 0.0], [tip])
    for law in LAWS:
        one, other = resolve_impact(flat, law), resolve_impact(solid, law)
        assert other.velocity == pytest.approx([*one.velocity, 0.0], abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_turning_slip_follows_its_equation(seed):
    # Independent: the same equation integrated in the normal impulse, which is smooth while the slip is large.
    rng = np.random.default_rng(400 + seed)
    problem = random_problem(rng, contacts=1, components=2, mu=0.3)
    contact = problem.contacts[0]
    rows = np.concatenate([contact.normal[None], contact.tangent])
    gram = rows @ np.linalg.inv(problem.mass) @ rows.T
    fast = problem.velocity + np.linalg.inv(problem.mass) @ contact.tangent.T @ np.array([6.0, 3.0])
    fast = fast + np.linalg.pinv(rows[:1]) @ (problem.rates - rows[:1] @ fast)  # the rate as before, the slip large
    problem = ImpactProblem(problem.mass, fast, [contact])
    e2, mu = contact.restitution**2, contact.friction

    def flow(p, y):
        slip = y[1:3]
        z = np.array([1.0, *(-mu * slip / np.linalg.norm(slip))])
        return np.array([*(gram @ z), min(y[0], 0.0), max(y[0], 0.0)])

    def done(p, y):
        return y[4] + e2 * y[3] if y[0] > 0 else -1.0

    done.terminal, done.direction = True, 1
    start = np.array([*(rows @ fast), 0.0, 0.0])
    path = solve_ivp(flow, (0, 100), start, rtol=1e-11, atol=1e-12, max_step=0.01, events=done, method="DOP853")
    found = resolve_impact(problem, "energetic")
    assert np.linalg.norm(problem.slip_of(0, found.velocity)) > 0.1  # the comparison makes sense
    assert found.normal[0] == pytest.approx(path.t[-1], rel=1e-7)
    assert rows @ found.velocity == pytest.approx(path.y[:3, -1], rel=1e-6, abs=1e-7)


def test_resting_friction_solves_the_disc_problem():
    rng = np.random.default_rng(0)
    for _ in range(50):
        a = rng.normal(size=(2, 2))
        stiffness, load, mu = a @ a.T + 0.05 * np.eye(2), rng.normal(size=2), rng.uniform(0.05, 2.0)
        force = resting_friction(stiffness, load, mu)
        slip = stiffness @ force + load
        assert np.linalg.norm(force) <= mu * (1 + 1e-14)
        if np.linalg.norm(force) < mu * (1 - 1e-12):
            assert np.abs(slip).max() < 1e-12 * np.abs(load).max()
        else:
            assert slip @ force == pytest.approx(-np.linalg.norm(slip) * mu, rel=1e-10)


def test_a_slip_that_dies_in_space_sticks_and_one_that_starts_leaves_along_one_line():
    # Friction too weak for the coupling of normal and slip: a contact at rest starts to slip along the direction that
    # `resting_friction` gives and keeps it.
    mass = np.linalg.inv([[1.0, 0.6, 0.2], [0.6, 1.0, 0.1], [0.2, 0.1, 1.0]])
    for mu, before, sticks in ((0.9, (-0.05, 0.03), True), (0.2, (0.0, 0.0), False)):
        tip = ImpactContact([1, 0, 0], restitution=0.8, friction=mu, tangent=[[0, 1, 0], [0, 0, 1]])
        problem = ImpactProblem(mass, [-1.0, *before], [tip])
        found = resolve_impact(problem, "energetic")
        slip = problem.slip_of(0, found.velocity)
        assert (np.linalg.norm(slip) < 1e-12) == sticks
        assert found.energy_change < 0
        if not sticks:
            gram = np.array([[1.0, 0.1], [0.1, 1.0]])
            away = gram @ resting_friction(gram, np.array([0.6, 0.2]), mu) + [0.6, 0.2]
            assert slip / np.linalg.norm(slip) == pytest.approx(away / np.linalg.norm(away), abs=1e-10)
