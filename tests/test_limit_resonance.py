"""Limits where frequencies of the fast oscillations are equal or resonant, all along or in passing, by realizing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._limit.resonance import groups, phases, relations

# Two oscillations beside a line: w_y = p (1 + e x), w_z = 1 + h x, coupled by a cubic term c, by the turning b of the
# frame along x, and losing energy by drags f_y, f_z.
(X, Y, Z), (VX, VY, VZ) = zw.coordinates("x y z")
P, E, H, C, B, FY, FZ = zw.parameters("p e h c b f_y f_z")
LINE = zw.System(
    name="line",
    kinetic=(VX**2 + VY**2 + VZ**2) / 2 + B * VX * (Y * VZ - Z * VY) / 2,
    forces={Y: -FY * VY, Z: -FZ * VZ},
    constraints=[zw.Bilateral(Y, name="a"), zw.Bilateral(Z, name="b")],
)
W = (P**2 * (1 + E * X) ** 2 * Y**2 + (1 + H * X) ** 2 * Z**2) / 2 + C * Y * Z**2
START = {"x": 0.5, "y": 0.0, "z": 0.0, "v_x": 0.7, "v_y": 0.8, "v_z": 0.3}
PLAIN = {"p": 1.0, "e": 0.8, "h": 0.8, "c": 0.0, "b": 0.0, "f_y": 0.0, "f_z": 0.0}
DECADES = [1e4, 1e5, 1e6, 1e7]


def studied(values: dict[str, float], strengths: Any = DECADES, until: float = 1.5) -> Any:
    by = zw.Stiffness(energy=W)
    return zw.limit(LINE, ["a", "b"], START, {**PLAIN, **values}, by=by, until=until, strengths=strengths)


def realized_actions(study: Any, values: dict[str, float]) -> np.ndarray:
    """Return (s, k + 1, 2): energies over frequencies of the realized oscillations, y and z."""
    p, e, h = ({**PLAIN, **values}[name] for name in "peh")
    q, v, N = study.q, study.v, study.strengths[:, None]
    w_y, w_z = p * (1 + e * q[..., 0]), 1 + h * q[..., 0]
    energies = (v[..., 1] ** 2 + N * (w_y * q[..., 1]) ** 2) / 2, (v[..., 2] ** 2 + N * (w_z * q[..., 2]) ** 2) / 2
    return np.stack([energies[0] / w_y, energies[1] / w_z], axis=-1)


@pytest.mark.parametrize(
    ("values", "told", "order"),
    by_day(
        [
            ({"b": 3.0, "f_y": 1.0}, "omega_1 = omega_2 all along", slice(None, None, -1)),
            (SECOND := ({"p": 2.0, "c": 3.0, "f_z": 1.0}, "omega_2 = 2 omega_1 all along", slice(None, None, -1))),
            ({"p": 0.5, "c": 0.0, "b": 1.0, "f_y": 1.0}, "omega_2 = 2 omega_1 all along", slice(None)),
        ],
        [SECOND],
    ),
)
def test_resonances_that_last_have_a_limit_in_which_actions_are_exchanged(
    values: dict[str, float], told: str, order: slice
) -> None:
    """Drag on one of two oscillations takes what the other hands over: without the exchange x would end elsewhere."""
    study = studied(values)
    assert study.status.name == "CONVERGES_ELSEWHERE" and told in study.verdict.sentence
    assert study.limit.order.value == pytest.approx(-0.5, abs=0.02)  # the amplitude across
    along = np.abs(study.q[:, :, 0] - study.limit.q[:, 0]).max(axis=1)
    order_along = np.polyfit(np.log(study.strengths), np.log(along), 1)[0]
    assert order_along == pytest.approx(-1.0, abs=0.05) and along[0] < 1e-4
    actions = realized_actions(study, values)
    # Modes are in the order of their frequencies; those of one frequency are any two, and their sum counts.
    limit = study.limit.actions[:, order]
    if "omega_1 = omega_2" in told:
        actions, limit = actions.sum(axis=-1), limit.sum(axis=-1)
    off = np.array([np.abs(one - limit).max() for one in actions])
    assert off[-1] < 1e-3 and np.polyfit(np.log(study.strengths), np.log(off), 1)[0] == pytest.approx(-0.5, abs=0.05)


@pytest.mark.nightly
def test_the_exchange_is_seen_in_the_actions_and_changes_no_motion_without_drag() -> None:
    coupled, free = studied({"p": 2.0, "c": 3.0}), studied({"p": 2.0})
    assert np.abs(coupled.limit.q - free.limit.q).max() < 1e-7
    np.testing.assert_allclose(free.limit.actions, free.limit.actions[:1].repeat(len(free.t), axis=0), atol=1e-8)
    handed = coupled.limit.actions - coupled.limit.actions[0]
    assert np.abs(handed).max() > 0.01
    np.testing.assert_allclose(handed[:, 0] + 2 * handed[:, 1], 0, atol=1e-7)  # along k = (1, -2): z twice for each y
    dragged, apart = studied({"p": 2.0, "c": 3.0, "f_z": 1.0}), studied({"p": 2.0, "f_z": 1.0})
    assert np.abs(dragged.limit.q[-1, 0] - apart.limit.q[-1, 0]) > 1e-3  # with drag it does: the exchange is in it


@pytest.mark.parametrize(
    ("values", "told"),
    [
        pytest.param({"p": 2.0, "e": 1.0, "h": 0.75, "c": 0.0, "b": 0.0}, "", marks=pytest.mark.nightly),
        pytest.param(
            {"p": 2.6, "e": 0.3, "h": 0.8, "c": 4.0}, "omega_2 = 2 omega_1 in passing at t =", marks=pytest.mark.nightly
        ),
        pytest.param(
            {"p": 1.4, "e": 0.3, "h": 0.9, "b": 2.0}, "omega_1 = omega_2 in passing at t =", marks=pytest.mark.nightly
        ),
    ],
)
def test_resonances_in_passing_cost_an_order_and_no_limit(values: dict[str, float], told: str) -> None:
    """Actions are changed by N^-1/4 in a time N^-1/4; mean squares over neighbouring strengths show it."""
    study = studied(values, strengths=np.geomspace(1e4, 1e9, 16))
    assert study.status.name == "CONVERGES_ELSEWHERE"
    assert told in study.verdict.sentence and (told or "passing" not in study.verdict.sentence)
    np.testing.assert_allclose(study.limit.actions[-1], study.limit.actions[0], rtol=1e-9)  # each with its own mode
    off = (study.q[:, -1, 0] - study.limit.q[-1, 0]) ** 2
    order = np.log(off[-5:].mean() / off[:5].mean()) / 2 / np.log(study.strengths[-5] / study.strengths[0])
    assert order == pytest.approx(-0.25, abs=0.08) if told else off[8:].max() < 1e-14


CONE_Q, CONE_V = zw.coordinates("x s y z")
CONE = zw.System(
    name="cone",
    coordinates=CONE_Q,
    kinetic=sum(item**2 for item in CONE_V) / 2,
    constraints=[zw.Bilateral(CONE_Q[2], name="a"), zw.Bilateral(CONE_Q[3], name="b")],
)


def through_the_cone(s: float, strengths: Any, cells: int = 200) -> Any:
    """w^2 = 2 +- sqrt(x^2 + s^2): the frequencies meet in one point, which a motion along s = 0 runs through."""
    x, s_, y, z = CONE_Q
    energy = ((2 + x) * y**2 + (2 - x) * z**2) / 2 + s_ * y * z
    start = {"x": -0.5, "s": s, "y": 0.0, "z": 0.0, "v_x": 1.0, "v_s": 0.0, "v_y": 1.2, "v_z": 0.5}
    by = zw.Stiffness(energy=energy)
    return zw.limit(CONE, ["a", "b"], start, by=by, until=2.0, strengths=strengths, cells=cells)


@pytest.mark.nightly
def test_a_motion_through_a_point_where_frequencies_meet_goes_straight_on_and_its_neighbours_do_not() -> None:
    study, beside = through_the_cone(0.0, [1e4, 1e6, 1e8, 1e10]), through_the_cone(0.1, [1e4, 1e5, 1e6, 1e7])
    assert study.status.name == "CONVERGES_ELSEWHERE"
    assert "omega_1 = omega_2 in passing at t = 0.528" in study.verdict.sentence
    assert "starts beside this one go on differently" in study.verdict.sentence
    # One slow coordinate in closed form: x'' = -(J_y/sqrt(2 + x) - J_z/sqrt(2 - x))/2, each J with its own mode.
    assert study.limit.q[-1, 0] == pytest.approx(_straight_on(), abs=1e-8)
    assert np.abs(study.q[-1, :, :2] - study.limit.q[:, :2]).max() < 1e-2  # N^-1/4 = 3e-3
    assert "passing" not in beside.verdict.sentence.split("omega_2 = 2")[0]
    assert beside.limit.order.value < -0.4
    assert beside.limit.q[-1, 0] - study.limit.q[-1, 0] > 0.3


def test_a_narrow_place_between_frequencies_is_not_taken_for_convergence_to_the_ideal_motion() -> None:
    """Modes follow their frequencies from N ~ s^-4 on; before, distances to the ideal motion happen to fall."""
    study = through_the_cone(0.004, [1e4, 1e6, 1e8, 1e10])
    assert study.status.name == "UNDECIDED"
    assert "what theory has for a limit" in study.verdict.sentence
    assert "omega_1 = omega_2 nearly, within 2%, so that convergence begins late" in study.verdict.sentence


def _straight_on() -> float:
    from scipy.integrate import solve_ivp

    J_y, J_z = 0.72 / np.sqrt(1.5), 0.125 / np.sqrt(2.5)
    found = solve_ivp(
        lambda _, w: [w[1], -(J_y / np.sqrt(2 + w[0]) - J_z / np.sqrt(2 - w[0])) / 2],
        (0, 2),
        [-0.5, 1.0],
        rtol=1e-11,
        atol=1e-12,
    )
    return float(found.y[0, -1])


@pytest.mark.nightly
def test_starts_that_tend_to_a_motion_through_that_point_have_no_common_limit() -> None:
    """Takens (1980): at distances like N^-1/4 the outcome depends on phases; nearer it is straight on."""

    def ends(c: float, around: float) -> np.ndarray:
        strengths = around * np.linspace(1, 2, 8)
        return np.array([through_the_cone(c * N**-0.25, [N / 4, N / 2, N], 8).q[-1, -1, 0] for N in strengths])

    for around in (1e6, 1e8):
        spread = np.ptp(ends(1.0, around))
        assert spread > 0.2  # and it doesn't fall as N grows
        assert np.ptp(ends(0.0, around)) < 5e-3 and np.ptp(ends(4.0, around)) < 2e-3


@pytest.mark.nightly
def test_constraints_that_stay_ideal_bring_their_curvature_into_the_exchange() -> None:
    """s = 2 z^2 is kept: an energy with 3/2 y s has the cubic term 3 y z^2, and actions go the same way."""
    (x, y, z, s), velocities = zw.coordinates("x y z s")
    made = []
    for cubic, names in ((3 * y * z**2, ()), (sp.Rational(3, 2) * y * s, ("kept",))):
        kept = zw.Bilateral(s - 2 * z**2 if names else s, name="kept")
        system = zw.System(
            name="bent",
            coordinates=(x, y, z, s),
            kinetic=sum(item**2 for item in velocities) / 2,
            constraints=[zw.Bilateral(y, name="a"), zw.Bilateral(z, name="b"), kept],
        )
        energy = (1 + x**2) ** 2 * (4 * y**2 + z**2) / 2 + cubic
        start = {**START, "s": 0.0, "v_s": 0.0}
        study = zw.limit(
            system, ["a", "b"], start, by=zw.Stiffness(energy=energy), until=2.0, strengths=[1e5, 1e6, 1e7]
        )
        made.append(study.limit.actions)
    assert np.ptp(made[0][:, 0]) > 0.01
    np.testing.assert_allclose(made[0], made[1], atol=1e-6)


def test_a_start_at_rest_where_two_frequencies_are_one_parts_into_modes_along_its_acceleration() -> None:
    study = zw.limit(
        LINE, ["a", "b"], {**START, "x": 0.0, "v_x": 0.0}, {**PLAIN, "e": 0.5, "h": 0.9}, by=zw.Stiffness(energy=W),
        until=1.5, strengths=DECADES,
    )  # fmt: skip
    assert study.status.name == "CONVERGES_ELSEWHERE"
    # J_y = 0.32, J_z = 0.045, and dw/dx = 0.5, 0.9: a constant force.
    assert study.limit.q[-1, 0] == pytest.approx(-(0.32 * 0.5 + 0.045 * 0.9) * 1.5**2 / 2, abs=1e-8)


def test_parameters_of_the_energy_alone_are_asked_for_and_others_refused() -> None:
    by = zw.Stiffness(energy=W)
    with pytest.raises(zw.DeclarationError, match="line: params has 'zz', which the system doesn't know"):
        zw.limit(LINE, ["a", "b"], START, {**PLAIN, "zz": 1.0}, by=by, until=1.0, strengths=DECADES)
    lacking = {name: value for name, value in PLAIN.items() if name != "p"}
    with pytest.raises(zw.ZwangError, match="'p'"):
        zw.limit(LINE, ["a", "b"], START, lacking, by=by, until=1.0, strengths=DECADES)


@pytest.mark.parametrize("seed", range(6))
def test_phases_keep_what_is_resonant_and_average_out_what_is_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    w = rng.integers(1, 4, m) if seed % 2 else rng.choice([1.0, 2.0, np.pi, np.e], m)
    wanted = relations(m, 3)
    kept = [k for k in wanted if abs(np.dot(k, w)) < 1e-9]
    angles = phases(m, kept)
    for k in wanted:
        mean = np.abs(np.exp(1j * angles @ k).mean())
        assert mean == pytest.approx(1.0 if k in kept else 0.0, abs=0.05 if m - len(kept) > 3 else 1e-9), (w, k)
    for group in groups(m, kept):
        assert np.ptp(w[group]) < 1e-9
