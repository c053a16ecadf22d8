"""Paper 001's examples, its counterexamples, and the Painlevé rod, as arrays: the numbers of the independent check.

Sources: A. P. Ivanov, Rus. J. Nonlin. Dyn. 2013, 9(3), 479-498, corrected where it was found wrong as printed; closed
forms are written where they are used.
"""

from __future__ import annotations

import numpy as np
import pytest

from planar_brute_force import disagreement
from planar_examples import (
    arm,
    ladder,
    painleve,
    pyramid,
    rod,
    rubbing_string,
    sliding_block,
    string,
    three_motions,
)
from zwang._reactions import reactions_of_problem

GRAVITY = 9.81


def only(result):
    assert len(result.solutions) == 1
    return result.solutions[0]


# --- example 1 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma, tension, acceleration", [(4.0, 0.0, 1.0), (-4.0, 3.0, -2.0), (0.0, 1.0, 0.0)])
def test_string_goes_slack_where_its_length_grows_faster_than_free_fall(gamma, tension, acceleration):
    found = reactions_of_problem(string(1, 1, gamma))
    assert found.status.name == "UNIQUE"
    assert only(found).normal[0] == pytest.approx(tension, abs=1e-14)
    assert only(found).acceleration[0] == pytest.approx(acceleration, abs=1e-14)


def test_string_with_any_masses_follows_the_corrected_formula():
    rng = np.random.default_rng(1)
    for _ in range(30):
        m1, m2, gamma, g = *rng.uniform(0.2, 5, 2), rng.uniform(-30, 40), GRAVITY
        found = only(reactions_of_problem(string(m1, m2, gamma, g)))
        # erratum 1: min, not max, and +g
        assert found.acceleration[0] == pytest.approx(min(((m1 - m2) * g + m2 * gamma) / (m1 + m2), g), abs=1e-11)
        assert found.normal[0] == pytest.approx(max(m1 * m2 / (m1 + m2) * (2 * g - gamma), 0), abs=1e-11)


# --- example 2 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "force, friction, acceleration",
    [
        ((2, 0, 3), (-1, 1, -2), (1, 0, 0)),  # the paper's first data set
        ((2, -3, 1), (-1, 2, -2), (3, -2, 0)),  # its second, erratum 14: T3 = -2
        ((3, 5, 3), (-1, -2, 0), (1, 1, 0)),  # erratum 9, where cyclic projections stop elsewhere
        ((5, 0, -2), (-1, 2, 3), (6, -1, -1)),  # erratum 11
    ],
)
def test_pyramid_of_three_blocks(force, friction, acceleration):
    found = reactions_of_problem(pyramid(force))
    assert found.status.name == "UNIQUE"
    assert only(found).tangential == pytest.approx(friction, abs=1e-13)
    assert only(found).acceleration == pytest.approx(acceleration, abs=1e-13)
    assert found.certificate.kind == "given normal forces"
    assert found.certificate.scope == "every force"


def test_pyramid_modes_are_the_paper_s_symbols():
    assert only(reactions_of_problem(pyramid((2, -3, 1)))).modes == ("slip+", "slip-", "stick")
    assert only(reactions_of_problem(pyramid((0, 5, -2)))).modes == ("slip-", "slip+", "slip-")


# --- example 4 -------------------------------------------------------------------------------------------------------


def chi(m1, m2):
    return (m1 - m2) / (m1 + m2)


@pytest.mark.parametrize("m1, m2, w1", [(1, 3, -2 / 7), (3, 1, 2 / 7), (4, 5, 0.0)])
def test_rubbing_string_at_rest(m1, m2, w1):
    found = reactions_of_problem(rubbing_string(m1, m2, 0.25))
    assert found.status.name == "UNIQUE"
    assert only(found).acceleration == pytest.approx([w1, -w1], abs=1e-14)  # errata 18, 19
    if w1 == 0:
        assert only(found).normal[0] == pytest.approx((m1 + m2) / 2)  # (3.13)
        assert only(found).tangential[0] == pytest.approx(-chi(m1, m2) * (m1 + m2) / 2)  # (3.11)


def test_rubbing_string_that_slides_has_a_paradox_in_one_direction():
    # m = (1, 9), 2 mu = 1.5: 2 mu |chi| = 1.2 > 1 (erratum 20 for the numbers)
    forward = only(reactions_of_problem(rubbing_string(1, 9, 1.5, velocity=1.0)))
    assert forward.normal[0] == pytest.approx(1.8 / 2.2)
    assert forward.tangential[0] == pytest.approx(-1.5 * 1.8 / 2.2)
    back = reactions_of_problem(rubbing_string(1, 9, 1.5, velocity=-1.0))
    assert back.status.name == "NONE"
    assert back.rejected["slip-",].reason == "pulls"


def test_rubbing_string_slides_in_one_way_while_friction_is_weak():
    for velocity in (-1.0, 1.0):
        found = reactions_of_problem(rubbing_string(2, 3, 0.5, velocity=velocity))
        assert found.status.name == "UNIQUE"
        # (3.9) and its mirror image
        expected = 2 * 2 * 3 / 5 / (1 - np.sign(velocity) * 0.5 * chi(2, 3))
        assert only(found).normal[0] == pytest.approx(expected)


# --- example 5: one contact of a rod ---------------------------------------------------------------------------------


def test_sliding_rod_has_as_many_solutions_as_the_signs_of_numerator_and_denominator_say():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(200):
        a, h, mu = rng.uniform(-2, 2), rng.uniform(0.2, 2), rng.uniform(0, 5)
        velocity, force = rng.choice([-1.0, 1.0]), rng.normal(size=3)
        problem = rod(a, h, mu, velocity, force)
        denominator = 1 + a**2 + mu * a * h * velocity
        numerator = np.linalg.solve(problem.mass, force)[1]
        count = 1 if denominator > 0 else (2 if numerator > 0 else 0)
        found = reactions_of_problem(problem)
        assert len(found.solutions) == count
        assert found.certificate.scope == ("every force" if denominator > 0 else "this state")
        seen.add(count)
    assert seen == {0, 1, 2}


def test_bilateral_sliding_rod_has_one_solution_or_none_or_two():
    rng = np.random.default_rng(6)
    seen = set()
    for _ in range(200):
        a, h, mu = rng.uniform(-2, 2), rng.uniform(0.2, 2), rng.uniform(0, 5)
        found = reactions_of_problem(rod(a, h, mu, rng.choice([-1.0, 1.0]), rng.normal(size=3), bilateral=True))
        both = (1 + a**2 + mu * a * h) * (1 + a**2 - mu * a * h)
        assert len(found.solutions) in ({1} if both > 0 else {0, 2})
        assert found.certificates[0].kind == "coherent orientation"
        assert found.certificates[0].fails == (both < 0)
        seen.add(len(found.solutions))
    assert seen == {0, 1, 2}


def test_resting_rod_has_one_or_three_solutions():
    rng = np.random.default_rng(7)
    counts = [
        len(reactions_of_problem(rod(rng.uniform(-2, -1), rng.uniform(1, 2), 4.0, force=rng.normal(size=3))).solutions)
        for _ in range(300)
    ]
    assert set(counts) == {1, 3}


def test_reversed_inequality_still_gives_one_solution_in_the_other_direction():
    # erratum 27: a = -0.8, h = 1.5, mu = 2: the paper says 0 or 2 for both directions
    assert reactions_of_problem(rod(-0.8, 1.5, 2.0, velocity=-1.0)).status.name == "UNIQUE"
    assert reactions_of_problem(rod(-0.8, 1.5, 2.0, velocity=1.0)).status.name == "NONE"


# --- example 6: the ladder -------------------------------------------------------------------------------------------


def test_ladder_at_rest_has_two_accelerations_although_omega_is_positive_definite():
    found = reactions_of_problem(ladder(120, 0.8, 0.4, (0.5, -1, 1)))
    assert found.status.name == "MULTIPLE"
    assert found.accelerations == pytest.approx(np.array([[0, 0, 0], [0.2742, 0, 0.0914]]), abs=5e-5)
    rest, slipping = found.solutions
    assert (rest.dimension, rest.component, slipping.dimension, slipping.component) == (1, 0, 0, 1)
    assert rest.modes == ("stick", "stick")
    assert slipping.modes == ("slip+", "slip-")  # the floor's end slips right, the wall's end down
    assert slipping.normal == pytest.approx([0.8076, 0.2832], abs=5e-5)
    low = rest.ranges.normal[:, 0]
    assert low == pytest.approx([1.150, 0.420], abs=5e-4)
    kinds = {certificate.kind: certificate for certificate in found.certificates}
    assert kinds["Theorem 12, existence"].number > 0
    assert "Theorem 12, corrected" not in kinds
    assert not any(certificate.unique_motion for certificate in found.certificates)


def test_ladder_at_rest_has_a_segment_of_reactions():
    found = reactions_of_problem(ladder(120, 0.3, 0.3))
    assert found.status.name == "UNIQUE_MOTION"
    assert only(found).ranges["floor"]["normal"] == pytest.approx((0.9262, 1.0408), abs=5e-5)  # erratum 4
    # the free self-stress is a force along the rod
    assert found.redundancy.stress_tangential[0] == pytest.approx([-1 / np.sqrt(3), -1], rel=1e-12)


def test_normalized_rows_with_the_same_friction_are_another_problem():
    # erratum 4: scaling n2, t2 alike keeps the answer; unit length for each changes the effective friction
    problem = ladder(120, 0.3, 0.3)
    wall = problem.contacts[1]
    n_size, t_size = np.linalg.norm(wall.normal), np.linalg.norm(wall.tangent)
    unit = type(wall)(wall.normal / n_size, tangent=wall.tangent / t_size, friction=0.3)
    changed = type(problem)(problem.mass, problem.force, [problem.contacts[0], unit])
    low, high = only(reactions_of_problem(changed)).ranges.normal[0]
    assert (low, high) == pytest.approx((0.8925, 1.0408), abs=5e-5)


def test_ladder_on_a_rising_floor_has_no_solution_although_both_inequalities_hold():
    a, h = arm(3, 120)
    assert 1 + a**2 > 0.7 * abs(a) * h  # (4.10)
    assert 1 + h**2 > 2 * abs(a) * h  # (4.16)
    found = reactions_of_problem(ladder(120, 0.7, 2.0, floor=0.5))
    assert found.status.name == "NONE"
    assert found.complete
    assert reactions_of_problem(ladder(120, 0.7, 2.0)).status.name == "UNIQUE_MOTION"


def test_every_wedged_ladder_on_a_rising_floor_has_no_solution():
    # erratum 31: mu in (|a|/h, (1 + a^2)/|a h|), mu' in (h/|a|, (1 + h^2)/|a h|)
    rng = np.random.default_rng(31)
    for _ in range(40):
        degrees, l2 = rng.uniform(95, 175), rng.uniform(1, 4)
        a, h = arm(l2, degrees)
        part, part_wall = rng.uniform(0.02, 0.98, 2)
        mu = abs(a) / h + part * (1 + a**2 - a**2) / abs(a * h)
        mu_wall = h / abs(a) + part_wall / abs(a * h)
        assert 1 + a**2 > mu * abs(a) * h
        assert 1 + h**2 > mu_wall * abs(a) * h
        assert reactions_of_problem(ladder(degrees, mu, mu_wall, floor=0.5, l2=l2)).status.name == "NONE"


def test_ladder_that_can_t_be_wedged_always_has_a_solution():
    # Theorem 13 in its corrected form: mu h < |a| or mu' |a| < h
    rng = np.random.default_rng(32)
    for _ in range(40):
        degrees, l2 = rng.uniform(95, 175), rng.uniform(1, 4)
        a, h = arm(l2, degrees)
        mu, mu_wall = rng.uniform(0.05, 0.95) * abs(a) / h, rng.uniform(0, 4)
        found = reactions_of_problem(ladder(degrees, mu, mu_wall, rng.normal(size=3), floor=rng.normal(), l2=l2))
        assert found.solutions
        assert any(certificate.exists and certificate.scope == "every force" for certificate in found.certificates)


# --- counterexamples to uniqueness -----------------------------------------------------------------------------------


def test_three_accelerations_where_theorem_12_promises_one():
    found = reactions_of_problem(three_motions())
    root = np.sqrt(0.5)
    expected = np.array([[root, -root, 0], [0, 0, 0], [0, 7 * root, 0]])  # (0, 4.950, 0)
    assert found.accelerations == pytest.approx(expected, abs=1e-14)
    assert [solution.component for solution in found.solutions] == [0, 1, 2]


def test_two_accelerations_when_its_first_contact_is_at_rest_too():
    found = reactions_of_problem(three_motions(velocity=0.0))
    assert len(found.accelerations) == 2
    omega = next(certificate for certificate in found.certificates if certificate.kind == "Theorem 12, existence")
    assert omega.number == pytest.approx(0.646, abs=5e-4)


def test_sliding_block_on_three_points_has_a_continuum_of_accelerations():
    problem = sliding_block()
    found = reactions_of_problem(problem)
    assert found.status.name == "MULTIPLE"
    assert found.accelerations_continuum
    assert not only(found).acceleration_unique
    assert disagreement(problem, found) == ""
    # Vertices carry two of the three points. The friction -mu N acts at height 1/2 below the centre, so that moments
    # balance if sum N (x - mu/2) = 0; sum N = 1, and the acceleration along the floor is -sum mu N.
    ends = sorted(found.accelerations[:, 0])
    x, mu = np.array([-1.0, 0.0, 1.0]), np.array([0.1, 0.6, 0.2])
    forces = []
    for pair in ([0, 2], [1, 2]):
        loads = np.linalg.solve([[1, 1], x[pair] - mu[pair] / 2], [1, 0])
        forces.append(-mu[pair] @ loads)
    assert ends == pytest.approx(sorted(forces))


# --- the Painlevé rod ------------------------------------------------------------------------------------------------


def test_painleve_rod_with_friction_1_2_has_one_solution():
    found = reactions_of_problem(painleve(1.2, 60))
    assert found.status.name == "UNIQUE"
    assert only(found).normal[0] == pytest.approx(51.3198048696, abs=1e-10)
    assert found.certificate.kind == "P-matrix"


def test_painleve_rod_with_friction_1_4_has_none():
    found = reactions_of_problem(painleve(1.4, 60))
    assert found.status.name == "NONE"
    assert found.complete
    assert found.rejected["open",].reason == "penetrates"
    assert found.rejected["open",].value == pytest.approx(-GRAVITY)
    assert found.rejected["slip-",].reason == "pulls"
    # N = g/(1 + 3 cos^2 - 3 mu sin cos)
    assert found.rejected["slip-",].value == pytest.approx(GRAVITY / (1.75 - 1.4 * 3 * np.sqrt(3) / 4))


def test_painleve_rod_with_friction_1_4_and_spin_4_has_two():
    found = reactions_of_problem(painleve(1.4, 60, spin=4.0))
    assert found.status.name == "MULTIPLE"
    opened, slipping = found.solutions
    assert opened.modes == ("open",)
    assert opened.gap_acceleration[0] == pytest.approx(4.0464064606, abs=1e-10)
    assert slipping.modes == ("slip-",)
    assert slipping.normal[0] == pytest.approx(58.9396814800, abs=1e-10)


def test_smallest_friction_with_a_paradox_is_four_thirds():
    def margin(mu, degrees):
        certificate = reactions_of_problem(painleve(mu, degrees)).certificates[0]
        assert certificate.kind == "P-matrix"
        return certificate.number

    def critical(degrees):
        low, high = 1.0, 20.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if margin(middle, degrees) > 0 else (low, middle)
        return low

    worst = 63.434948822922  # atan 2
    assert critical(worst) == pytest.approx(4 / 3, abs=1e-9)
    assert min(critical(worst - 0.01), critical(worst + 0.01)) > 4 / 3
