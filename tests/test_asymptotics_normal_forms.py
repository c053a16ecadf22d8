"""The two normal forms of Burian (2024) with general A, B, W: exponents, numbers of solutions, thresholds."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import sympy as sp

import zwang as zw

ORIGIN = {"x": 0, "y": 0}
# Burian 2024, theorems 1 and 2, with the corrections of the verification: exponents in |eps| without and with friction.
EXPONENTS = {
    ("crossing", 1): (-1.0, -0.5),
    ("crossing", -1): (-1.0, -0.5),
    ("tangency", 1): (-0.5, 0.0),
    ("tangency", -1): (-1.5, -0.75),
}


def random_form(kind: str, seed: int) -> zw.System:
    """Return a normal form with a random mass matrix, forces even in the velocity, and friction, all of q."""
    source = random.Random(seed)

    def draw(low: int = -90, high: int = 90) -> Any:
        return sp.Rational(source.randint(low, high), 100)

    (x, y), (vx, vy) = zw.coordinates("x y")
    off = draw() / 3 + draw() * y / 5
    A = [[draw(100, 300) + draw() * x / 3 + x**2, off], [off, draw(100, 300) + y**2 + draw() * sp.sin(x) / 4]]
    B = (draw() + draw() * x + draw() * vx * vy, draw(20, 90) + draw() * y + draw(0, 50) * vx**2 + draw() * vy**2)
    W = (1 + draw() / 2 + draw() * x, 2 + draw() / 2 + draw() * x * y)
    return zw.gallery.normal_form(kind, A=A, B=B, W=W)


@pytest.mark.parametrize(("kind", "seed"), [("crossing", 1), ("crossing", 2), ("tangency", 3), ("tangency", 4)])
def test_exponents_and_numbers_of_solutions_of_random_normal_forms_are_those_of_the_theorems(
    kind: str, seed: int
) -> None:
    system = random_form(kind, seed)
    found = zw.asymptotics(system, {"eps": 0, "mu": 0.3}, at=ORIGIN, perturb="curve")
    assert found.status.name == "CONFIRMED"
    for sign in (1, -1):
        smooth, rough = EXPONENTS[kind, sign]
        ways = found.select(sign=sign, quantity="curve")
        assert {row.branch for row in ways} == {0, 1}
        for row in ways:
            expected = smooth if row.friction == "without" else rough
            assert row.exponent == pytest.approx(expected, abs=0.01)
            assert row.predicted == expected == row.generic
            assert row.coefficient == pytest.approx(row.predicted_coefficient, rel=1e-9)
            assert row.persists
            if row.friction != "without":
                # two solutions one way, none the other (theorems 1.3 and 2, for forces even in the velocity)
                assert sorted(row.solutions.values()) == [0, 2]
    assert not found.notes


def test_the_threshold_of_constant_coefficients_is_the_closed_form_and_one_solution_exists_beyond_it() -> None:
    entry = zw.gallery.get("crossing")
    found = zw.asymptotics(entry.system, entry.params, at=ORIGIN, perturb="curve")
    exact = entry.facts["threshold"].value  # (|g3| / (2 g1))^2, Burian 2024, remark 1
    for row in found.select(sign=1):
        assert row.threshold == pytest.approx(exact, rel=1e-12)
    assert found.threshold == pytest.approx(exact, rel=1e-12)
    star = found.thresholds[0]
    assert abs(star.point["y"]) == pytest.approx(math.sqrt(exact), rel=1e-12)
    assert star.point["x"] == pytest.approx(0.0, abs=1e-15)
    for factor, wanted in ((0.5, [0, 2]), (2.0, [1, 1])):
        eps = factor * exact
        states = [{"x": 0, "y": math.sqrt(eps), "v_x": v, "v_y": 0} for v in (1.0, -1.0)]
        params = {**entry.params, "eps": eps}
        counts = sorted(len(zw.reactions(entry.system, state, params).solutions) for state in states)
        assert counts == wanted


@pytest.mark.parametrize("seed", range(6))
def test_the_threshold_is_the_smaller_of_two_conditions_and_says_which_binds(seed: int) -> None:
    # a = 4 eps g1, b = 2 sqrt(eps) g3, c = 2 v^2 - 2 sqrt(eps) |k| for the worse direction (A = 1, B = (0, k v_x)):
    # |b| = a at eps = (g3/(2 g1))^2, c = 0 at eps = (v/k)^2. W and mu small or large, so that either comes first.
    source = random.Random(seed)
    (_, _), (vx, _) = zw.coordinates("x y")
    k, mu, speed = source.choice((-1, 1)) * source.uniform(1, 30), source.uniform(0.1, 1.5), source.uniform(0.5, 2)
    system = zw.gallery.normal_form("crossing", A=[[1, 0], [0, 1]], B=(0, k * vx), W=(1, 1))
    found = zw.asymptotics(system, {"eps": 0, "mu": mu}, at=ORIGIN, perturb="curve", section="x", speed=speed)
    by_friction, by_load = (mu / 2) ** 2, (speed / k) ** 2
    assert found.threshold == pytest.approx(min(by_friction, by_load), rel=1e-9)
    assert found.threshold.binds == ("|b| = a" if by_friction < by_load else "c = 0")
    for factor in (0.9, 1.1):
        eps = factor * found.threshold
        states = [{"x": 0, "y": math.sqrt(eps), "v_x": v, "v_y": 0} for v in (speed, -speed)]
        counts = sorted(len(zw.reactions(system, state, {"mu": mu, "eps": eps}).solutions) for state in states)
        beyond = [1, 1] if by_friction < by_load else counts if counts in ([0, 0], [2, 2]) else None
        assert counts == ([0, 2] if factor < 1 else beyond)


def test_a_load_that_changes_its_sign_where_friction_is_weak_changes_no_number_of_solutions() -> None:
    # W along A grad f^perp: |b| < a next to the point, one solution both ways, whatever c does.
    (_, _), (vx, _) = zw.coordinates("x y")
    system = zw.gallery.normal_form("crossing", A=[[1, 0], [0, 1]], B=(0, 12 * vx), W=(1, 0))
    found = zw.asymptotics(system, {"eps": 0, "mu": 0.5}, at=ORIGIN, perturb="curve", section="x")
    assert math.isnan(found.threshold) and found.threshold.binds == ""


def test_a_threshold_is_copied_with_its_condition() -> None:
    import copy
    import pickle

    entry = zw.gallery.get("crossing")
    value = zw.asymptotics(entry.system, entry.params, at=ORIGIN, perturb="curve", section="x").threshold
    for again in (copy.copy(value), pickle.loads(pickle.dumps(value))):
        assert again == value and again.binds == "|b| = a"


def test_the_leading_coefficient_without_friction_is_two_v_squared_over_four_g1_eps() -> None:
    # Burian 2024, (6), (12): lam = (2 sqrt(eps) g2 + 2 v^2) / (4 eps g1); A^-1_yy = A11 / det A
    entry = zw.gallery.get("crossing")
    p = entry.params
    g1 = p["A11"] / (p["A11"] * p["A22"] - p["A12"] ** 2)
    found = zw.asymptotics(entry.system, p, at=ORIGIN, perturb="curve", section="x", speed=3)
    row = found.select(branch=0, friction="without")[0]
    assert row.coefficient == pytest.approx(2 * 9 / (4 * g1), rel=1e-12)
    assert "eps < 0: no point s_eps tends to the singular point." in found.notes


def test_forces_odd_in_the_velocity_break_the_direction_rule_at_the_tangency() -> None:
    # B = (0, vx/2) is the counterexample: the same number of solutions both ways
    (_, _), (vx, _) = zw.coordinates("x y")
    half = sp.Rational(1, 2)
    system = zw.gallery.normal_form("tangency", A=[[1, 0], [0, 1]], B=(0, vx * half), W=(half, 1))
    found = zw.asymptotics(system, {"eps": 0, "mu": 0.5}, at=ORIGIN, perturb="curve", section="x")
    counts = {tuple(row.solutions.values()) for row in found.select(sign=1, quantity="curve", friction="+")}
    assert counts and counts <= {(0, 0), (2, 2)}


def test_along_the_branches_the_exponents_in_the_distance_follow_from_the_order_of_contact() -> None:
    # -1 at a crossing and -2 at a tangency of order 1 without friction; with it the friction balances one order
    for kind, smooth in (("crossing", -1.0), ("tangency", -2.0)):
        found = zw.asymptotics(random_form(kind, 5), {"eps": 0, "mu": 0.3}, at=ORIGIN)
        rows = found.select(quantity="curve", friction="without")
        assert len(rows) == 4
        assert [row.exponent for row in rows] == pytest.approx([smooth] * 4, abs=1e-6)
        rough = found.select(quantity="curve", friction="+")
        assert [row.exponent for row in rough] == pytest.approx([0.0] * 8, abs=1e-6)
