"""The examples of Ivanov (2013) asked of gallery systems: what is true, where the print is wrong.

Expected numbers are closed forms derived by hand (given beside them) or facts of the gallery, which are.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from zwang._results.reactions import ReactionsStatus as Status


def ask(name: str, **values: float):
    """Return the reactions of a gallery system with some parameters or values of the state changed."""
    entry = zw.gallery.get(name)
    state = {key: values.pop(key, value) for key, value in entry.state.items()}
    return zw.reactions(entry.system, state, {**entry.params, **values})


@pytest.mark.parametrize("gamma", [-4.0, 0.0, 1.9, 2.1, 4.0])
def test_example_1_the_string_goes_slack_above_twice_gravity(gamma: float) -> None:
    found = ask("atwood_changing_length", m1=1, m2=1, g=1, gamma=gamma)
    # Equal unit masses: taut w1 = gamma/2, N = (2 - gamma)/2; slack w1 = g = 1. The print has max{..., -g} instead of
    # min{..., g}.
    assert found.status is Status.UNIQUE
    assert found.accelerations[0, 0] == pytest.approx(min(gamma / 2, 1), abs=1e-12)
    assert found.solutions[0].normal[0] == pytest.approx(max((2 - gamma) / 2, 0), abs=1e-12)


def test_example_2_both_data_sets_with_the_third_friction_corrected() -> None:
    entry = zw.gallery.get("pyramid")
    first = ask("pyramid")
    np.testing.assert_allclose(first.accelerations[0], entry.facts["acceleration"].value, atol=1e-12)
    np.testing.assert_allclose(first.solutions[0].tangential / 4.905, [-1, 1, -2], atol=1e-12)
    pushes = dict(zip(("P1", "P2", "P3"), entry.facts["second_pushes"].value, strict=True))
    second = ask("pyramid", **pushes)
    # T3 = -2 mu m g, not the printed 0: A w = F + T has w = (3, -2, 0) only with it.
    np.testing.assert_allclose(second.solutions[0].tangential / 4.905, [-1, 2, -2], atol=1e-12)
    np.testing.assert_allclose(second.accelerations[0] / 4.905, [3, -2, 0], atol=1e-12)


def test_example_2_ten_blocks_are_decided_without_enumerating_59049_modes() -> None:
    entry = zw.gallery.pyramid(10)
    found = zw.reactions(entry.system, entry.state, entry.params)
    assert found.status in (Status.UNIQUE, Status.UNIQUE_MOTION) and found.complete and found.residual < 1e-12


@pytest.mark.parametrize(("m1", "m2"), [(1.0, 3.0), (3.0, 1.0), (1.0, 1.4), (2.0, 2.0)])
def test_example_4_rest_or_slip_with_the_printed_signs_corrected(m1: float, m2: float) -> None:
    chi = (m1 - m2) / (m1 + m2)
    found = ask("atwood", m1=m1, m2=m2, g=1, mu=0.125)
    expected = 0.0
    if abs(chi) > 0.25:  # 2 mu: the string slips; w1 = (chi -+ 2 mu)/(1 -+ 2 mu chi)
        sign = math.copysign(1, chi)
        expected = (chi - sign * 0.25) / (1 - sign * 0.25 * chi)
    assert found.status is Status.UNIQUE
    assert found.accelerations[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("direction", [-1.0, 1.0])
def test_example_4_sliding_has_no_solution_in_one_direction_where_friction_is_large(direction: float) -> None:
    # m = (1, 9): chi = -0.8; 2 mu = 1.5. Sliding with q1' < 0 needs N (1 + 2 mu chi) = ..., which is negative.
    found = ask("atwood", m1=1, m2=9, g=1, mu=0.75, v_q1=direction, v_q2=-direction)
    assert found.status is (Status.NONE if direction < 0 else Status.UNIQUE)


@pytest.mark.parametrize("spin", [0.0, 6.0])
@pytest.mark.parametrize("tip", [-1.0, 1.0])
def test_example_5_the_rod_has_one_none_or_two_as_its_closed_form_says(spin: float, tip: float) -> None:
    entry = zw.gallery.get("painleve_rod")
    k, g = 1 / 3, 9.81
    for degrees in (20, 45, 63, 80):
        for mu in (0.5, 1.3, 2.0, 3.0):
            c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            slope = 1 + c * (c + math.copysign(mu, tip) * s) / k  # of the gap acceleration over N
            free = s * spin**2 - g  # the gap acceleration without contact force
            expected = 1 if slope > 0 else (2 if free > 0 else 0)
            state = {
                "x": c,
                "y": s,
                "theta": math.radians(degrees),
                "v_x": tip - s * spin,
                "v_y": c * spin,
                "v_theta": spin,
            }
            found = zw.reactions(entry.system, state, {**entry.params, "mu": mu})
            assert found.complete and len(found.accelerations) == expected, (degrees, mu)


def test_example_6_at_rest_the_floor_s_force_is_a_segment_under_gravity() -> None:
    entry = zw.gallery.get("ladder")
    found = ask("ladder")
    assert found.status is Status.UNIQUE_MOTION
    low, high = found.solutions[0].ranges["floor"]["normal"]
    assert (low, high) == pytest.approx(entry.facts["floor_force_range"].value, rel=1e-9)


def test_example_6_two_accelerations_although_the_matrix_of_theorem_12_is_positive_definite() -> None:
    # l^2 = 3, 120 degrees, mu = 0.8, mu' = 0.4, F = (0.5, -1, 1) with gravity off: rest, and a slip.
    found = ask("ladder", g=0, mu=0.8, mu_wall=0.4, F1=0.5, F2=-1, F3=1)
    assert found.status is Status.MULTIPLE and found.complete
    rows = sorted(map(tuple, found.accelerations.round(4).tolist()))
    assert (0.0, 0.0, 0.0) in rows and (0.2742, 0.0, 0.0914) in rows
    assert not any(item.unique for item in found.certificates)


def test_example_6_a_floor_that_accelerates_upwards_leaves_no_solution_although_4_10_and_4_16_hold() -> None:
    # mu = 0.7, mu' = 2, floor acceleration 0.5 in units of g: the reactions can only point along the rod and jam.
    found = ask("ladder", g=1, mu=0.7, mu_wall=2, floor_acceleration=0.5)
    assert found.status is Status.NONE and found.complete
    still = ask("ladder", g=1, mu=0.7, mu_wall=2, floor_acceleration=0.0)
    assert still.status is not Status.NONE


def test_a_certificate_of_uniqueness_is_never_claimed_for_the_counterexample_with_three_accelerations() -> None:
    root = math.sqrt(2)
    contacts = [
        zw.Contact([1, 0, 0], tangent=[0, 1, 0], friction=2, slip=[-1.0]),
        zw.Contact([0, 0, 1], tangent=[1 / root, 1 / root, 0], friction=1),
    ]
    found = zw.reactions(zw.ContactProblem(np.eye(3), np.array([1, -1, -10 * root]) / root, contacts))
    assert found.status is Status.MULTIPLE and len(found.accelerations) == 3
    expected = [(0, 0, 0), (0, 7 / root, 0), (1 / root, -1 / root, 0)]
    np.testing.assert_allclose(sorted(map(tuple, found.accelerations)), expected, atol=1e-9)
    assert not any(item.unique for item in found.certificates if item.scope == "every force")
