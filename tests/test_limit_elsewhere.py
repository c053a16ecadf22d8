"""Limit studies that tend to something other than the ideal motion, or to nothing; recommendations; pictures; files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._plot import new_figure
from zwang._results.limit import LimitStatus, RecommendationStatus

(X, Y), (VX, VY) = zw.coordinates("x y")
PLANE = zw.System(name="groove", kinetic=(VX**2 + VY**2) / 2, constraints=[zw.Bilateral(Y, name="guide")])
ACROSS = {"x": 0.5, "y": 0.0, "v_x": 0.0, "v_y": 1.0}
STRENGTHS = [1e5, 1e6, 1e7, 1e8]


@pytest.fixture(scope="module")
def groove():
    return zw.limit(PLANE, "guide", ACROSS, by=zw.Stiffness(weight=(1 + X**2) ** 2), until=1.0, strengths=STRENGTHS)


def test_a_start_across_the_constraint_keeps_an_extra_force(groove):
    """Rubin, Ungar (1957), Takens (1980): W = (1 + x^2)^2 y^2/2 gives x'' = -(v^2/(2 w0)) w'(x) = -0.8 x."""
    assert groove.status is LimitStatus.CONVERGES_ELSEWHERE
    assert groove.energy_removed == pytest.approx(0.5)
    assert groove.limit.q[-1, 0] == pytest.approx(0.5 * math.cos(math.sqrt(0.8)), abs=1e-8)  # 0.312983
    np.testing.assert_allclose(groove.q[:, -1, 0], 0.312983, atol=2e-6)
    np.testing.assert_allclose(groove.extra_force[:, 0], -0.8 * groove.limit.q[:, 0], rtol=1e-7)
    assert "extra force" in groove.verdict.sentence
    assert "-0.4 on x" in groove.verdict.sentence
    assert groove.verdict.order.value == pytest.approx(-0.5, abs=0.03)  # the amplitude of the oscillation
    assert abs(groove.orders["position"].value) < 0.02  # to the ideal motion, which stays at rest


def test_the_extra_force_is_that_of_the_shape_of_w_however_it_is_declared():
    bent = zw.System(name="bent", kinetic=(VX**2 + VY**2) / 2, constraints=[zw.Bilateral(Y * (1 + X**2), name="guide")])
    study = zw.limit(bent, "guide", ACROSS, by=zw.Stiffness, until=1.0, strengths=STRENGTHS)
    np.testing.assert_allclose(study.extra_force[:, 0], -0.8 * study.limit.q[:, 0], rtol=1e-7)


@pytest.mark.parametrize("shape", [sp.exp(X), 2 + sp.sin(3 * X), 1 / (1 + X**2)])
def test_extra_force_measured_on_the_motion_agrees_to_one_percent(shape: sp.Expr):
    """The acceleration along x, measured at the largest strength by a parabola, against -(v^2/(2 w0)) w'(x)."""
    start = {"x": 0.3, "y": 0.0, "v_x": 0.0, "v_y": 0.8}
    study = zw.limit(PLANE, "guide", start, by=zw.Stiffness(weight=shape**2), until=0.5, strengths=STRENGTHS)
    w0, slope = float(shape.subs(X, 0.3)), float(sp.diff(shape, X).subs(X, 0.3))
    expected = -(0.8**2 / (2 * w0)) * slope
    assert study.extra_force[0, 0] == pytest.approx(expected, rel=1e-6)
    early = study.t < 0.1
    measured = 2 * np.polyfit(study.t[early], study.q[-1, early, 0], 4)[-3]
    assert measured == pytest.approx(expected, rel=0.01)


def test_forces_that_depend_on_velocity_are_averaged_over_the_oscillation():
    dragged = zw.System(
        name="dragged",
        kinetic=(VX**2 + VY**2) / 2,
        forces={X: -0.3 * VX - 0.2 * VX * VY**2, Y: -0.5 * VY},
        constraints=[zw.Bilateral(Y, name="guide")],
    )
    study = zw.limit(dragged, "guide", {**ACROSS, "v_x": 0.4}, by=zw.Stiffness(weight=(1 + X**2) ** 2), until=2.0,
                     strengths=STRENGTHS)  # fmt: skip
    assert study.status is LimitStatus.CONVERGES_ELSEWHERE
    assert study.limit.order.value == pytest.approx(-0.5, abs=0.05)
    # The action falls like exp(-t/2): drag 0.5 on a unit mass takes half of it from each of the two energies.
    np.testing.assert_allclose(study.limit.actions[-1] / study.limit.actions[0], math.exp(-1.0), rtol=1e-6)


def test_two_oscillations_at_once_add_their_potentials():
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    system = zw.System(name="tube", kinetic=(vx**2 + vy**2 + vz**2) / 2,
                       constraints=[zw.Bilateral(y, name="side"), zw.Bilateral(z, name="top")])  # fmt: skip
    ways = {"side": zw.Stiffness(weight=(1 + x**2) ** 2), "top": zw.Stiffness(weight=9 * (2 + x) ** 2)}
    start = {"x": 0.5, "y": 0.0, "z": 0.0, "v_x": 0.0, "v_y": 1.0, "v_z": 0.6}
    study = zw.limit(system, ["side", "top"], start, by=ways, until=0.5, strengths=STRENGTHS)
    # -(1/(2 w0)) 2 x for the one, -(0.36/(2 * 2.5)) for the other: independent oscillators.
    assert study.extra_force[0, 0] == pytest.approx(-0.5 / 1.25 - 0.18 / 2.5, rel=1e-9)
    assert study.limit.order.value == pytest.approx(-0.5, abs=0.05)
    assert study.limit.distances[-1] < 2e-4


def test_a_curved_guide_with_a_kept_constraint_has_the_effective_mobility_of_both():
    """A particle in space on the plane z = 0, which is kept, and on a softened circle: constant frequency, no force."""
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    system = zw.System(
        name="ring",
        kinetic=(vx**2 + vy**2 + vz**2) / 2,
        constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - 1, name="ring"), zw.Bilateral(z, name="plane")],
    )
    start = {"x": 1.0, "y": 0.0, "z": 0.0, "v_x": 0.5, "v_y": 1.0, "v_z": 0.0}
    study = zw.limit(system, "ring", start, by=zw.Stiffness, until=1.0, strengths=STRENGTHS)
    # The speed along stays; positions converge like the amplitude N^(-1/2), the velocity across never does.
    assert study.status is LimitStatus.CONVERGES
    assert study.orders["position"].value == pytest.approx(-0.5, abs=0.05)
    assert abs(study.orders["normal velocity"].value) < 0.02
    assert "the velocity across the constraints" in study.verdict.sentence


def test_friction_left_on_the_permitted_side_stays_in_the_limit():
    entry = zw.gallery.get("sleigh")
    study = zw.limit(entry.system, "blade", entry.state, entry.params, by=zw.Viscosity(other_side=0.1), until=10.0,
                     strengths=[1e3, 1e4, 1e5, 1e6, 1e7])  # fmt: skip
    assert study.status is LimitStatus.CONVERGES_ELSEWHERE
    assert "permitted side" in study.verdict.sentence
    assert study.errors["position"][-1] == pytest.approx(study.errors["position"][-2], rel=1e-3)  # it saturates
    assert study.limit.order.value == pytest.approx(-1.0, abs=0.02)


def test_an_ideal_motion_that_stops_is_compared_up_to_there():
    floor = zw.System(name="falling", kinetic=(VX**2 + VY**2) / 2, potential=Y,
                      constraints=[zw.Bilateral(X, name="rail"), zw.Unilateral(Y, name="floor")])  # fmt: skip
    start = {"x": 0.0, "y": 0.5, "v_x": 0.0, "v_y": 0.0}
    study = zw.limit(floor, "floor", start, by=zw.Stiffness, until=2.0, strengths=STRENGTHS)
    assert study.t[-1] == pytest.approx(1.0)  # without a restitution the impact stops it
    assert any("stopped at t = 1" in note and "compared up to there" in note for note in study.notes)


def test_recommendation_meets_its_error_with_a_strength_near_the_closed_form():
    entry = zw.gallery.get("kozlov_neishtadt")
    found = zw.recommend(entry.system, "floor", entry.state, error=1e-4, until=1.0)
    assert found.status is RecommendationStatus.VERIFIED
    assert found.achieved <= 1e-4
    # The position is off by at most hypot(1/2, 2)/N.
    assert found.strength == pytest.approx(math.hypot(0.5, 2.0) / 1e-4, rel=0.06)
    assert found.reaction_error == pytest.approx(1.0, abs=0.01)
    assert found.mean_reaction_error < 0.05
    assert found.step == pytest.approx(0.7 / math.sqrt(found.strength), rel=1e-6)
    assert "strength 2.1e+04" in repr(found)


def test_recommendation_for_friction_and_one_that_can_not_be_met(groove):
    entry = zw.gallery.get("sleigh")
    start = {"x": 0.0, "y": 0.0, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "v_phi": 1.0}
    found = zw.recommend(entry.system, "blade", start, entry.params, error=1e-2, until=10.0)
    assert found.strength == pytest.approx(11.682 / 1e-2, rel=0.06)
    never = zw.recommend(PLANE, "guide", ACROSS, error=1e-3, until=1.0, by=zw.Stiffness(weight=(1 + X**2) ** 2))
    assert never.status is RecommendationStatus.NOT_FOUND
    assert "stopped falling" in never.reason
    assert "NOT_FOUND" in repr(never)


def test_a_study_is_drawn_saved_and_read_back(groove, tmp_path: Path):
    for what in ("errors", "force", "motions"):
        figure, ax = new_figure()
        assert groove.plot(what, ax=ax) is ax
        figure.savefig(tmp_path / f"{what}.png")
    again = zw.load_result(groove.save(tmp_path / "study.npz"))
    np.testing.assert_array_equal(again.errors["position"], groove.errors["position"])
    assert again.verdict.sentence == groove.verdict.sentence
    assert repr(again) == repr(groove)
    with pytest.raises(zw.DeclarationError, match="no picture 'sounds'"):
        groove.plot("sounds")
    with pytest.raises(zw.DeclarationError, match="'lid' was not realized"):
        groove.plot("force", constraint="lid")


@pytest.mark.nightly
def test_coupled_masses_two_springs_a_kept_constraint_and_cubic_drag_tend_to_the_averaged_motion():
    """Nothing in this system is simple: the theory is checked by the motions themselves, whose distance falls."""
    (x, y, z, u), (vx, vy, vz, vu) = zw.coordinates("x y z u")
    kinetic = 2 * vx**2 + vy**2 * (1 + x**2 / 2) + vz**2 + vu**2 + vx * vy * sp.sin(x) / 2 + vz * vu / 3
    system = zw.System(
        name="coupled",
        kinetic=kinetic / 2,
        potential=x**2 / 2 + u * x,
        forces={y: -0.4 * vy, z: -0.1 * vz**3},
        constraints=[
            zw.Bilateral(y - x**2 / 2, name="a"),
            zw.Bilateral(z + sp.sin(u) / 4, name="b"),
            zw.Bilateral(u - x / 3, name="c"),
        ],
    )
    rough = {"x": 0.4, "y": 0.1, "z": -0.03, "u": 0.13, "v_x": 0.5, "v_y": 0.2, "v_z": 0.0, "v_u": 0.1}
    start = zw.compile(system).project(rough)
    start |= {"v_y": start["v_y"] + 0.6, "v_z": start["v_z"] - 0.5}
    ways = {"a": zw.Stiffness(weight=1 + x**2), "b": zw.Stiffness(weight=3)}
    study = zw.limit(system, ["a", "b"], start, by=ways, until=1.5, strengths=[1e5, 1e6, 1e7])
    assert study.status is LimitStatus.CONVERGES_ELSEWHERE
    assert study.limit.order.value == pytest.approx(-0.5, abs=0.05)
    assert study.limit.distances[-1] < 3e-4
    assert study.errors["position"][-1] > 0.04  # the ideal motion is far
