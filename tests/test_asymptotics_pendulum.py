"""The pendulum of Burian (2017) near its singular point: what the multipliers do, and friction at the guide."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

import zwang as zw
from zwang.gallery.pendulum_on_ellipse import linkage

CARTESIAN = zw.gallery.get("ellipse_pendulum_cartesian")
ROUGH = zw.gallery.get("ellipse_pendulum_friction")
FOLDED = {"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0}
ANGLES = {"phi": 0, "psi": sp.pi}
TOUCHING = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
SECTIONS = {1: "l1*sin(phi) + l2*sin(psi)", -1: "psi - phi - pi"}


def along(**changes: float) -> zw._results.asymptotics.Asymptotics:  # type: ignore[name-defined]
    """Return the growth along the branches in the distance of C from the vertex, C moving with unit speed."""
    params = {**CARTESIAN.params, **changes}
    return zw.asymptotics(CARTESIAN.system, params, at=FOLDED, speed_of="y_C", distance="y_C")


def test_at_the_symmetric_crossing_all_multipliers_have_finite_limits() -> None:
    # Limits for r1 = r2 = 1.5 and v = g = m = 1 from the verification of the paper, each on two half-branches.
    found = along()
    assert found.status.name == "CONFIRMED"
    limits = []
    for branch in range(4):
        rows = found.select(branch=branch)
        assert [row.quantity for row in rows] == ["AB", "BC", "ellipse"]
        assert [row.exponent for row in rows] == pytest.approx([0.0] * 3, abs=1e-9)
        assert [row.predicted for row in rows] == [0.0] * 3
        assert [row.generic for row in rows] == [-1.0] * 3  # a coefficient vanishes by the mirror symmetry
        limits.append(tuple(row.coefficient for row in rows))
    first, second = (-0.958806, 0.217271, -2.174093), (-2.177205, -0.611917, -3.417876)
    assert sorted(limits) == [
        pytest.approx(second, abs=1e-6),
        pytest.approx(second, abs=1e-6),
        pytest.approx(first, abs=1e-6),
        pytest.approx(first, abs=1e-6),
    ]


def test_tilted_gravity_makes_them_grow_like_one_over_the_distance() -> None:
    found = along(tilt=0.2)
    assert [row.exponent for row in found.rows] == pytest.approx([-1.0] * 12, abs=1e-6)
    for branch in range(4):
        # in the proportion of the self-stress (-1/2, 1, r1) of (14)
        values = [row.coefficient for row in found.select(branch=branch)]
        assert values[0] / values[1] == pytest.approx(-0.5, rel=1e-9)
        assert values[2] / values[1] == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize("changes", [TOUCHING, {"r1": 1.4, "r2": sp.sqrt(sp.Rational(7, 5)), "a": -0.4}])
def test_at_the_tangency_they_grow_like_the_inverse_square_with_coefficient_four_fifths(
    changes: dict[str, float],
) -> None:
    # Lam_k -> 0.8 m v^2 n_k / phi^2 with n = (-1/2, 1, r1); |AC| = 1, so that phi is y_C to leading order
    found = along(**changes)
    assert found.kind == "tangency of order 1"
    for branch in range(4):
        rows = found.select(branch=branch)
        assert [row.exponent for row in rows] == pytest.approx([-2.0] * 3, abs=1e-6)
        wanted = [0.8 * item for item in (-0.5, 1.0, float(changes["r1"]))]
        assert [row.coefficient for row in rows] == pytest.approx(wanted, rel=1e-9)


def test_parameters_that_are_critical_only_to_rounding_are_looked_at_from_farther_away() -> None:
    found = along(r1=1.7, r2=1.7**0.5, a=-0.7)
    assert any("critical only to rounding" in note for note in found.notes)
    assert [row.exponent for row in found.rows] == pytest.approx([-2.0] * 12, abs=1e-3)
    assert [row.predicted for row in found.rows] == [-2.0] * 12


@pytest.mark.parametrize(
    ("changes", "smooth", "rough"),
    # crossing: -1 / -1/2; symmetric tangency: 0 / 1/2 for eps > 0 (g2(0) = 0 by symmetry), -3/2 / -3/4 for eps < 0
    [({}, {1: -1.0, -1: -1.0}, {1: -0.5, -1: -0.5}), (TOUCHING, {1: 0.0, -1: -1.5}, {1: 0.5, -1: -0.75})],
)
def test_friction_at_the_guide_gives_two_or_none_by_direction_and_before_and_after_the_turning_point(
    changes: dict[str, float], smooth: dict[int, float], rough: dict[int, float]
) -> None:
    params = {**ROUGH.params, **changes}
    found = zw.asymptotics(ROUGH.system, params, at=ANGLES, perturb="ellipse", section=SECTIONS)
    assert found.status.name == "CONFIRMED" and not found.notes
    for row in found.select(quantity="ellipse"):
        expected = smooth if row.friction == "without" else rough
        assert row.exponent == pytest.approx(expected[row.sign], abs=0.01)
    for row in found.select(sign=1, quantity="ellipse", friction="+"):
        assert sorted(row.solutions.values()) == [0, 2] and row.side == ""
    # eps < 0: C stands still at s_eps while the mechanism moves; two solutions before it and none after, both ways
    for side, count in (("before", 2), ("after", 0)):
        rows = found.select(sign=-1, quantity="ellipse", friction="+", side=side)
        assert rows and all(row.solutions == {"+": count, "-": count} for row in rows)


def test_two_solutions_exist_where_c_moves_up_with_the_fold_open_and_none_where_it_moves_down() -> None:
    # transversal, eps > 0, fold > 0: two solutions if C moves to y > 0, none if to y < 0
    found = zw.asymptotics(ROUGH.system, ROUGH.params, at=ANGLES, perturb="ellipse", section=SECTIONS[1])
    for branch in (0, 1):
        row = found.select(sign=1, branch=branch, quantity="ellipse", friction="+")[0]
        star = next(item for item in found.thresholds if item.branch == branch)
        fold = star.point["phi"]  # C is on the axis: the angle CAB is that of AB itself
        up = 2 * row.velocity["phi"] - row.velocity["psi"] > 0  # y_C' = 2 phi' - psi' at the singular point
        with_two = next(key for key, count in row.solutions.items() if count == 2)
        assert (with_two == "+") == (up == (fold > 0))


def test_cartesian_and_joint_coordinates_have_the_same_threshold_at_the_same_section() -> None:
    # a and b of a lam + b |lam| = c don't depend on the coordinates (Burian 2024, corollary 2)
    cartesian = linkage("rough", "rough").system(coordinates="cartesian")
    found = zw.asymptotics(cartesian, ROUGH.params, at=FOLDED, perturb="ellipse", section="y_C")
    joint = zw.asymptotics(ROUGH.system, ROUGH.params, at=ANGLES, perturb="ellipse", section=SECTIONS[1])
    assert found.threshold == pytest.approx(joint.threshold, rel=1e-9)
    assert {row.predicted for row in found.rows if row.friction == "without"} == {-1.0}
    assert {row.predicted for row in found.rows if row.friction != "without"} == {-0.5}


@pytest.mark.parametrize("p", [2, 3])
def test_mistuned_guides_of_higher_contact_fold_through_with_their_own_exponents(p: int) -> None:
    # Branches like y = +-x^p, f = eps < 0: the rods fold at a distance d = (-eps)^(1/2p), on a bend of radius
    # p d^(2p-1), far less than d. With gradient 2 p d^(2p-1) and f'' = 2 across the exponent is -(2p-1)/p, with
    # friction half of that.
    system = ROUGH.system
    (l1, l2), (phi, psi) = zw.parameters("l1 l2"), system.coordinates
    x, y = l1 * sp.cos(phi) + l2 * sp.cos(psi), l1 * sp.sin(phi) + l2 * sp.sin(psi)
    guide = replace(system.constraints["ellipse"], expr=(x**2 + y**2 - y ** (2 * p) - (l1 - l2) ** 2) / 2)
    bent = system.replace(constraints=[guide])
    params = {item.name: ROUGH.params[item.name] for item in bent.parameters}
    found = zw.asymptotics(bent, params, at=ANGLES, perturb="ellipse", section=SECTIONS)
    for row in found.select(sign=-1, quantity="ellipse"):
        assert row.exponent == pytest.approx(-(2 * p - 1) / p / (1 if row.friction == "without" else 2), abs=1e-6)
