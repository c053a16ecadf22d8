"""Certificates: each holds where it is claimed (for many forces), and is not claimed where it fails."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from planar_examples import arm, ladder, painleve, rod, string, three_motions
from planar_families import FAMILIES, body, generic, spd
from zwang._numerics.contact.certificates import certificates, gauss, monotone, self_stress, sliding
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.scaled import reduce
from zwang._reactions import reactions_of_problem

FORCES = 6


def other_forces(problem, rng, count=FORCES):
    for _ in range(count):
        yield ContactProblem(problem.mass, 3 * rng.normal(size=len(problem.force)), problem.contacts)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_proved_for_every_force_holds_for_other_forces(family):
    rng = np.random.default_rng(12)
    claimed = 0
    for _ in range(12):
        problem = FAMILIES[family](rng)
        proofs = certificates(reduce(problem))
        exists = any(proof.exists for proof in proofs)
        motion, unique = any(p.unique_motion for p in proofs), any(p.unique for p in proofs)
        if not (exists or motion):
            continue
        claimed += 1
        for other in other_forces(problem, rng):
            found = reactions_of_problem(other, certify=False)
            assert not exists or found.solutions
            assert not motion or (len(found.accelerations) <= 1 and not found.accelerations_continuum)
            assert not unique or sum(1 + s.dimension for s in found.solutions) <= 1
    assert claimed


# --- frictionless ------------------------------------------------------------------------------


def test_frictionless_constraints_have_one_acceleration_for_every_force():
    proof = gauss(reduce(string(1, 2, 0.5)))
    assert (proof.kind, proof.scope) == ("frictionless", "every force")
    assert proof.exists and proof.unique
    assert proof.number == pytest.approx(1.0)  # one normal: its Gram matrix, scaled, is 1


def test_number_of_frictionless_certificate_is_the_smallest_eigenvalue_of_unit_normals():
    angle = 0.3
    normals = [[0, 1], [np.sin(angle), np.cos(angle)]]
    proof = gauss(reduce(ContactProblem(np.eye(2), [0, -1], [Contact(n) for n in normals])))
    assert proof.number == pytest.approx(1 - np.cos(angle))


def test_dependent_normals_leave_reactions_open_and_contradictory_ones_have_no_solution():
    twice = [Contact([0, 1], bilateral=True), Contact([0, 2], bilateral=True)]
    proof = gauss(reduce(ContactProblem(np.eye(2), [0, -1], twice)))
    assert proof.unique_motion and proof.exists and not proof.unique
    against = [Contact([0, 1], bilateral=True), Contact([0, 1], bilateral=True, bias=1.0)]
    proof = gauss(reduce(ContactProblem(np.eye(2), [0, -1], against)))
    assert not proof.exists
    assert reactions_of_problem(ContactProblem(np.eye(2), [0, -1], against)).status.name == "NONE"


def test_no_contact_at_all_is_newton_s_law():
    found = reactions_of_problem(ContactProblem(2 * np.eye(2), [2.0, -4.0]))
    assert found.status.name == "UNIQUE"
    assert found.accelerations == pytest.approx(np.array([[1.0, -2.0]]))
    assert found.certificate.scope == "every force"


# --- all contacts slide ------------------------------------------------------------------------------


def test_number_of_the_p_matrix_is_the_smallest_principal_minor():
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = generic(rng, rest=0.0, biased=0.0)
        if not any(contact.friction for contact in problem.contacts):
            continue
        inverse = np.linalg.inv(problem.mass)
        normals = np.array([c.normal for c in problem.contacts])
        columns = np.array([c.normal - c.friction * np.sign(c.slip[0]) * c.tangent[0] for c in problem.contacts])
        lengths = np.sqrt(np.einsum("ij,jk,ik->i", normals, inverse, normals))
        matrix = normals @ inverse @ columns.T / np.outer(lengths, lengths)
        k = len(lengths)
        minors = [
            np.linalg.det(matrix[np.ix_(s, s)]) for r in range(k + 1) for s in itertools.combinations(range(k), r)
        ]
        proof = sliding(reduce(problem))
        assert proof.number == pytest.approx(min(minors), abs=1e-12)
        assert proof.unique == (min(minors) > 0)
        assert proof.fails == (min(minors) < 0)


def test_where_the_p_matrix_fails_some_force_has_none_or_several_solutions():
    problem = painleve(1.4, 60)
    assert sliding(reduce(problem)).fails
    counts = {
        len(reactions_of_problem(other).solutions) for other in other_forces(problem, np.random.default_rng(2), 30)
    }
    assert counts == {0, 2}


def test_bilateral_contacts_that_slide_are_judged_by_all_their_signs():
    weak, strong = (reduce(rod(-0.8, 1.5, mu, velocity=1.0, bilateral=True)) for mu in (0.5, 3.0))
    assert sliding(weak).kind == "coherent orientation"
    assert sliding(weak).unique
    assert sliding(strong).fails
    # one contact: the two determinants are 1 -+ mu n.A^-1 t for a unit normal
    a, h = -0.8, 1.5
    assert sliding(weak).number == pytest.approx(1 - 0.5 * abs(a * h) / (1 + a**2))


def balancing_forces(problem, rng):
    """One force per pattern of signs of N that balances reactions with these signs: w = 0 is a solution."""
    for signs in itertools.product((1, -1), repeat=len(problem.contacts)):
        force = np.zeros(len(problem.force))
        for contact, sign in zip(problem.contacts, signs, strict=True):
            push = rng.exponential()
            rub = -contact.friction * push * np.sign(contact.slip[0])
            force -= sign * push * contact.normal + rub * contact.tangent[0]
        yield ContactProblem(problem.mass, force, problem.contacts)


def test_coherent_orientation_is_exact_on_random_bilateral_systems():
    # Where two determinants differ in sign, a point in the image of one of the two orthants has several preimages.
    rng = np.random.default_rng(8)
    verdicts = set()
    for _ in range(40):
        problem = generic(rng, rest=0.0, bilateral=1.0, biased=0.0)
        proof = sliding(reduce(problem))
        if proof is None:
            continue
        counts = {len(reactions_of_problem(p, certify=False).solutions) for p in balancing_forces(problem, rng)}
        verdicts.add(proof.unique)
        assert (counts == {1}) == proof.unique
    assert verdicts == {True, False}


def test_criterion_for_sliding_does_not_apply_to_rest():
    assert sliding(reduce(ladder(120, 0.3, 0.3))) is None


# --- theorem 12 ------------------------------------------------------------------------------


def omega_corners(problem):
    """Smallest eigenvalue of Omega over the corners of the box of friction coefficients, for unit normals."""
    inverse = np.linalg.inv(problem.mass)
    normals = np.array([c.normal for c in problem.contacts])
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", normals, inverse, normals))
    least = np.inf
    for signs in itertools.product((-1, 1), repeat=len(normals)):
        columns = np.array(
            [c.normal + s * c.friction * c.tangent[0] for c, s in zip(problem.contacts, signs, strict=True)]
        )
        matrix = normals @ inverse @ columns.T / np.outer(lengths, lengths)
        least = min(least, np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
    return least


def every_pattern(problem):
    """The corrected condition: every subset of sticking contacts and every sign of the others, for unit normals."""
    inverse = np.linalg.inv(problem.mass)
    normals = np.array([c.normal for c in problem.contacts])
    tangents = np.array([c.tangent[0] for c in problem.contacts])
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", normals, inverse, normals))
    least = np.inf
    for pattern in itertools.product((None, -1, 1), repeat=len(normals)):
        stuck = [j for j, s in enumerate(pattern) if s is None]
        t = tangents[stuck]
        projected = inverse - inverse @ t.T @ np.linalg.pinv(t @ inverse @ t.T) @ t @ inverse
        columns = np.array(
            [c.normal + (s or 0) * c.friction * c.tangent[0] for c, s in zip(problem.contacts, pattern, strict=True)]
        )
        matrix = normals @ projected @ columns.T / np.outer(lengths, lengths)
        least = min(least, np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
    return least


def weakly_rubbing(rng, friction):
    n, k = 6, 3
    contacts = [Contact(rng.normal(size=n), tangent=rng.normal(size=n), friction=friction) for _ in range(k)]
    return ContactProblem(spd(rng, n), rng.normal(size=n), contacts)


def test_numbers_of_theorem_12_are_those_of_its_definition():
    rng = np.random.default_rng(5)
    existence = uniqueness = 0
    for friction in (0.05, 0.1, 0.2, 0.4) * 10:
        problem = weakly_rubbing(rng, friction)
        exists, unique = monotone(reduce(problem))
        omega, least = omega_corners(problem), every_pattern(problem)
        assert (exists is not None) == (omega > 1e-11)
        assert (unique is not None) == (least > 1e-11)
        if exists is not None:
            existence += 1
            assert exists.number == pytest.approx(omega, rel=1e-9)
        if unique is not None:
            uniqueness += 1
            assert unique.number == pytest.approx(least, rel=1e-9)
    assert existence > uniqueness > 0


def test_omega_alone_never_claims_uniqueness():
    for problem in (ladder(120, 0.8, 0.4, (0.5, -1, 1)), three_motions(), three_motions(0.0)):
        exists, unique = monotone(reduce(problem))
        assert exists is not None
        assert not exists.unique_motion
        assert unique is None


def test_corrected_condition_proves_one_motion_though_not_one_reaction():
    # two blocks side by side on one floor, glued: two contacts, dependent tangents, almost no friction
    contacts = [Contact([0, 1, x], tangent=[1, 0, 0], friction=0.05) for x in (-1, 1)]
    found = reactions_of_problem(ContactProblem(np.diag([1, 1, 1.0]), [0.01, -1, 0.2], contacts))
    assert found.status.name == "UNIQUE_MOTION"
    assert found.certificate.kind == "Theorem 12, corrected"
    assert found.certificate.scope == "every force"
    assert not found.certificate.unique


def test_many_contacts_are_judged_by_norms():
    rng = np.random.default_rng(9)
    n, k = 100, 25
    rows = np.linalg.qr(rng.normal(size=(n, 2 * k)))[0].T
    contacts = [Contact(rows[j], tangent=rows[k + j], friction=0.3) for j in range(k)]
    exists, unique = monotone(reduce(ContactProblem(np.eye(n), rng.normal(size=n), contacts)))
    assert exists.number == pytest.approx(1.0)  # normals and tangents are orthogonal: Omega is the identity
    assert unique is None


# --- theorem 13 ------------------------------------------------------------------------------


def test_ladder_has_a_self_stress_exactly_when_both_reactions_can_point_along_it():
    a, h = arm(3, 120)
    for part, part_wall in itertools.product((0.9, 1.1), repeat=2):
        problem = ladder(120, part * abs(a) / h, part_wall * h / abs(a), floor=0.5)
        proof = self_stress(reduce(problem))
        wedged = part > 1 and part_wall > 1
        assert (proof is None) == wedged
        if not wedged:
            assert proof.kind == "Theorem 13, no self-stress"
            assert proof.number > 1e-7


def test_wedged_ladder_on_a_still_floor_has_a_solution_by_copositivity():
    proof = self_stress(reduce(ladder(120, 0.7, 2.0)))
    assert proof.kind == "copositivity"
    assert proof.exists
    for other in other_forces(ladder(120, 0.7, 2.0), np.random.default_rng(1), 40):
        assert reactions_of_problem(other, certify=False).solutions


def test_floor_that_moves_away_keeps_the_existence_of_a_wedged_ladder():
    # bias . N + tangent_bias . T <= 0 for every self-stress: here bias < 0 at the floor
    proof = self_stress(reduce(ladder(120, 0.7, 2.0, floor=-0.5)))
    assert proof is not None
    assert proof.kind == "copositivity"
    for other in other_forces(ladder(120, 0.7, 2.0, floor=-0.5), np.random.default_rng(2), 40):
        assert reactions_of_problem(other, certify=False).solutions


def test_theorem_13_does_not_apply_when_a_contact_slides():
    assert self_stress(reduce(ladder(120, 0.3, 0.3, slips=(1.0, 0.0)))) is None


def test_two_equal_bilateral_contacts_are_a_self_stress():
    contacts = [Contact([0, 1], tangent=[1, 0], friction=0.5, bilateral=True)] * 2
    assert self_stress(reduce(ContactProblem(np.eye(2), [0, -1], contacts))) is None


def test_bilateral_contacts_without_self_stress_always_have_a_solution():
    rng = np.random.default_rng(14)
    claimed = 0
    for _ in range(60):
        problem = body(rng, bilateral=1.0, most=2)
        proof = self_stress(reduce(problem))
        if proof is None:
            continue
        claimed += 1
        for other in other_forces(problem, rng, 4):
            assert reactions_of_problem(other, certify=False).solutions
    assert claimed > 10


def test_sentences_say_what_is_proved_and_carry_the_number():
    for problem in (string(1, 2, 0.5), painleve(1.2, 60), ladder(120, 0.1, 0.1), ladder(120, 0.7, 2.0)):
        for proof in certificates(reduce(problem)):
            assert proof.sentence.endswith(".")
            assert proof.scope == "every force"
