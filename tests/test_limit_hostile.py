"""Limit studies that nobody planned for: rest, curved guides, elastic contacts in a paradox, errors out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._limit import recommendation

(x, y), (vx, vy) = zw.coordinates("x y")
KINETIC = (vx**2 + vy**2) / 2
REST = {x: 0, y: 0, vx: 0, vy: 0}


def test_a_force_that_begins_at_zero_moves_strong_friction_from_rest() -> None:
    """x' + y'/3 + 2/5 >= 0 pushed against by -1; along y the force sin(t), which is zero at the start."""
    blade = zw.Unilateral(vx + vy / 3 + sp.Rational(2, 5), name="blade")
    system = zw.System(name="plough", kinetic=KINETIC, forces={x: -1 - vx / 5, y: sp.sin(zw.t)}, constraints=[blade])
    study = zw.limit(system, "blade", REST, {}, by=zw.Viscosity, until=2.0, strengths=[1e3, 1e4, 1e5])
    assert study.status.name == "CONVERGES"
    assert study.orders["position"].value == pytest.approx(-1, abs=0.03)


def test_what_rests_without_forces_rests_on_springs_too() -> None:
    system = zw.System(name="rest", kinetic=KINETIC, constraints=[zw.Bilateral(y - sp.sin(x), name="wave")])
    study = zw.limit(system, "wave", REST, {}, by=zw.Stiffness, until=1.0, strengths=[1e3, 1e4, 1e5])
    assert study.status.name == "CONVERGES"
    assert np.all(study.errors["position"] == 0)


def test_start_across_a_parabola_tends_to_the_motion_with_the_energy_of_its_frequency() -> None:
    """The guide y = x^2/2 with potential y; omega = sqrt(N (1 + x^2)), J = v_n^2/(2 sqrt(1 + x0^2)).

    The limit (Rubin, Ungar 1957) has the Lagrangian (1 + x^2) x'^2/2 - x^2/2 - J sqrt(1 + x^2), integrated by SciPy.
    """
    system = zw.System(name="bowl", kinetic=KINETIC, potential=y, constraints=[zw.Bilateral(y - x**2 / 2, name="bowl")])
    state = {x: 0.5, y: 0.125, vx: 0.3, vy: 0.8}
    study = zw.limit(system, "bowl", state, {}, by=zw.Stiffness, until=1.0, strengths=[1e6, 1e7, 1e8])
    normal = np.array([-0.5, 1.0]) / np.sqrt(1.25)
    v_n = float(normal @ [0.3, 0.8])
    action = v_n**2 / (2 * np.sqrt(1.25))
    along = 0.3 - v_n * normal[0]

    def slope(_: float, z: Any) -> list[float]:
        mass = 1 + z[0] ** 2
        return [z[1], (-z[0] * z[1] ** 2 - z[0] - action * z[0] / np.sqrt(mass)) / mass]

    wanted = solve_ivp(slope, (0, 1), [0.5, along], rtol=1e-10, atol=1e-12, t_eval=study.t).y[0]
    assert study.status.name == "CONVERGES_ELSEWHERE"
    assert study.limit is not None
    np.testing.assert_allclose(study.limit.q[:, 0], wanted, atol=1e-8)
    assert np.abs(study.q[-1, :, 0] - wanted).max() < 1e-4


def test_elastic_contact_in_the_paradox_runs_at_every_strength_and_leaves_ever_slower() -> None:
    """Normal speed 0.203 at N = 1e6 and 0.123 at 1e8, on the way to 0.0919: independent integrations of the rod.

    At N = 1e6 sticking reaches its bound where the contact opens: one acceleration, which must not count as two.
    """
    rod = zw.gallery.get("painleve_rod")
    strengths = [1e4, 1e5, 1e6, 1e7, 1e8]
    study = zw.limit(
        rod.system, "tip", rod.state, {**rod.params, "mu": 1.4}, by=zw.Stiffness, until=0.02, strengths=strengths
    )
    assert list(study.strengths) == strengths
    rate = study.v[:, :, 1] - np.cos(study.q[:, :, 2]) * study.v[:, :, 2]
    assert rate[2].max() == pytest.approx(0.203, abs=0.002)
    assert rate[4].max() == pytest.approx(0.123, abs=0.002)
    assert any("PARADOX" in note for note in study.notes)
    # The run away takes a time like N^(-1/2) log N: the first instant at which the tip moves up.
    begun = np.array([study.t[np.argmax(row > 1e-3)] for row in rate[2:]])
    law = np.log(study.strengths[2:]) / np.sqrt(study.strengths[2:])
    assert np.all(np.diff(begun) < 0)
    np.testing.assert_allclose(begun / law, (begun / law).mean(), rtol=0.2)


def test_rod_by_the_energetic_law_is_the_limit_of_elastic_contacts() -> None:
    """With restitution 1 and the energetic law after the paradox, positions converge, slowly; Newton's law differs."""
    rod = zw.gallery.get("painleve_rod")
    study = zw.limit(
        rod.system, "tip", rod.state, {**rod.params, "mu": 1.4, "e": 1.0}, by=zw.Stiffness, until=0.01,
        strengths=[1e6, 1e7, 1e8], impact="energetic", at_paradox="realize",
    )  # fmt: skip
    assert study.status.name == "CONVERGES"
    assert -0.5 < study.orders["position"].value < -0.2


def test_an_error_that_no_strength_reaches_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommendation, "MOST_RADIANS", 1e4)
    held = zw.gallery.get("circle_particle")
    found = zw.recommend(held.system, "circle", held.state, held.params, error=1e-14, until=1.0)
    assert found.status.name == "NOT_FOUND"
    assert "Allow a larger error" in found.reason


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"constraint": []}, "no constraint was named"),
        ({"tol": -1}, "tol= must be a finite number at least 1e-15 and at most 0.01; it was given -1"),
        ({"tol": "fine"}, "tol= must be a finite number at least 1e-15 and at most 0.01; it was given 'fine'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(changes: dict[str, Any], words: str) -> None:
    held = zw.gallery.get("circle_particle")
    asked = {"constraint": "circle", "by": zw.Stiffness, "until": 1.0, "strengths": [1e3, 1e4, 1e5], **changes}
    with pytest.raises(zw.DeclarationError, match=words):
        zw.limit(held.system, state=held.state, params=held.params, **asked)


def tangency(label: int, strengths: list[float], branch: int) -> Any:
    """Return the study of the pendulum whose circles touch, through the point onto a half-branch that leads on."""
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, "r1": 1.5625, "r2": 1.25, "a": -0.5625}
    # phi = -0.3 with phi' = 0.42 on the branch with this label: C on the ellipse, B at the distances 2 and 1.
    model = zw.compile(entry.system)
    guess = {"x_C": 0.9557, "y_C": -0.2956, "x_B": 1.9214 if label > 0 else 1.9009, "y_B": -0.5550 - 0.05 * (label < 0)}
    speeds = {"v_x_C": 0.1223, "v_y_C": 0.402, "v_x_B": 0.2043, "v_y_B": 0.7074}
    state = model.project({**guess, **speeds}, params)

    def on(ways: Any) -> int:
        forward = [k for k, way in enumerate(ways) if way.state["v_y_C"] > 0]
        return forward[branch]

    return zw.limit(
        entry.system, ["AB", "BC", "ellipse"], state, params, by=zw.Stiffness(weight=2), until=1.2,
        strengths=strengths, at_singular=on,
    )  # fmt: skip


def folds(study: Any) -> tuple[Any, float]:
    """Return the angles CAB of the realized motions at the end, and of the ideal one."""
    place = {name: k for k, name in enumerate(study.coordinates)}

    def fold(q: Any) -> Any:
        xb, yb, xc, yc = (q[..., place[name]] for name in ("x_B", "y_B", "x_C", "y_C"))
        return np.arctan2(xc * yb - yc * xb, xc * xb + yc * yb)

    return fold(study.q[:, -1]), float(fold(study.ideal_positions[-1]))


def test_first_passage_of_a_tangency_on_springs_keeps_its_label() -> None:
    """Independent runs in four coordinates: the start with fold > 0 keeps its label; energy stays across.

    One of the two branches that lead on is the limit, and the study says of the other that it is not.
    """
    verdicts = {}
    for branch in (0, 1):
        study = tangency(1, [1e6, 1e7, 1e8], branch)
        realized, ideal = folds(study)
        assert study.energy_removed == 0.0  # what rounding leaves of the state across the constraints is no start
        assert np.all(realized > 0)
        verdicts[ideal > 0] = study.status.name
        assert study.energy_over_time[-1, -40:].mean() > 1e-4
    assert verdicts == {True: "CONVERGES", False: "CONVERGES_ELSEWHERE"}
