"""One spatial contact at rest: every solution, by isolated roots, against Newton's method from many starts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_poly

from zwang._numerics.contact.choose import solve_many_starts
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.one_contact import one_contact_fits, one_contact_solutions
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.real_roots import positive_roots

ERRATA = np.array([[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]])
TANGENTS = np.eye(3)[:2]


def one(inverse, force, friction, **kwargs):
    contact = Contact([0, 0, 1.0], tangent=TANGENTS, friction=friction, **kwargs)
    return friction_arrays(ContactProblem(force=force, contacts=[contact], inverse_mass=inverse))


def polynomial(*roots):
    result = fmpq_poly([1])
    for root in map(Fraction, roots):
        result *= fmpq_poly([-fmpq(root.numerator, root.denominator), 1])
    return result


@pytest.mark.parametrize(
    "roots",
    [
        (1, 2, 2, -3),
        (-1, -2, -3, -4),
        (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**13), 5, 7),
        (1e-9, 1e9, 3, 3),
        (0, 0, 1, 4),
        (2,),
    ],
)
def test_every_positive_root_is_found_once_however_close(roots):
    found = positive_roots(polynomial(*roots))
    expected = sorted({Fraction(root) for root in roots if root > 0})
    assert len(found) == len(expected)
    for (low, high), root in zip(found, expected, strict=True):
        assert low <= fmpq(root.numerator, root.denominator) <= high
        assert float(high) == pytest.approx(float(root), rel=1e-15)


def test_polynomial_without_real_roots_has_none():
    assert positive_roots(fmpq_poly([1, 0, 1])) == []
    assert positive_roots(fmpq_poly([3])) == []
    assert positive_roots(fmpq_poly([])) == []


def test_errata_example_has_exactly_three_slip_accelerations():
    # errata of paper 001, Theorem 12: N = 1.0123, 0.9437, 0.7105 although a_nn - mu |a_nt| = 1.76 > 0
    found = one_contact_solutions(one(ERRATA, [0.698296, 0.524118, -1.183994], 0.72))
    assert found.complete
    assert found.roots == 3
    assert found.margin > 1e-3  # no decision hangs on rounding
    assert [mode for mode, _ in found.solutions] == [Mode.SLIP] * 3
    assert [c.normal[0] for _, c in found.solutions] == pytest.approx([1.0123, 0.9437, 0.7105], abs=5e-5)
    assert max(c.residual for _, c in found.solutions) < 1e-14
    assert 5.09 - 0.72 * np.hypot(4.27, 1.77) == pytest.approx(1.76, abs=0.01)


@pytest.mark.parametrize("seed", range(40))
def test_list_is_what_newton_finds_from_many_starts(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    arrays = one(root @ root.T + 0.05 * np.eye(3), rng.normal(size=3), rng.uniform(0.1, 2.5))
    exact = one_contact_solutions(arrays)
    assert exact.complete
    assert max((c.residual for _, c in exact.solutions), default=0.0) < 1e-12
    searched = solve_many_starts(arrays, seed=seed, starts=150)
    assert len(searched) == len(exact.solutions)
    for candidate in searched:
        assert min(np.abs(candidate.forces - c.forces).max() for _, c in exact.solutions) < 1e-6


def test_numbers_of_solutions_are_odd_at_rest():
    # errata of paper 001, section 4: at rest and without redundancy the number of solutions is odd
    rng, counts = np.random.default_rng(7), set()
    for _ in range(150):
        root = rng.normal(size=(3, 3))
        arrays = one(root @ root.T + 0.02 * np.eye(3), rng.normal(size=3), rng.uniform(0.3, 3.0))
        counts.add(len(one_contact_solutions(arrays).solutions))
    assert counts == {1, 3}


def test_block_on_the_floor_sticks_slips_or_lifts():
    for force, mode in (((0.2, 0.1, -1), Mode.STICK), ((0.4, 0.4, -1), Mode.SLIP), ((1, 0, 0.5), Mode.OPEN)):
        found = one_contact_solutions(one(np.eye(3), force, 0.5))
        assert found.complete
        assert [m for m, _ in found.solutions] == [mode]


def test_bilateral_contact_presses_or_pulls():
    for press in (-2.0, 2.0):
        found = one_contact_solutions(one(np.eye(3), [3.0, 4.0, press], 0.5, bilateral=True))
        assert found.complete
        ((mode, candidate),) = found.solutions
        assert mode is Mode.SLIP
        assert candidate.normal[0] == pytest.approx(-press)
        assert candidate.acceleration == pytest.approx([0.8 * 3, 0.8 * 4, 0])


@pytest.mark.parametrize("seed", range(10))
def test_bilateral_list_is_what_newton_finds(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    arrays = one(root @ root.T + 0.05 * np.eye(3), rng.normal(size=3), rng.uniform(0.1, 2.0), bilateral=True)
    exact = one_contact_solutions(arrays)
    assert len(solve_many_starts(arrays, seed=seed, starts=200)) == len(exact.solutions)


def test_ideal_constraints_beside_the_contact_are_eliminated():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2, 5))
    contacts = [Contact(np.eye(5)[2], tangent=np.eye(5)[:2], friction=0.4)]
    contacts += [Contact(row, bilateral=True) for row in rows]
    arrays = friction_arrays(ContactProblem(np.eye(5), [1.0, 0.5, -2.0, 0.3, 0.1], contacts=contacts))
    assert one_contact_fits(arrays)
    found = one_contact_solutions(arrays)
    assert found.complete
    assert all(c.residual < 1e-12 for _, c in found.solutions)
    assert len(solve_many_starts(arrays, seed=0)) == len(found.solutions)


def test_decisions_that_hang_on_rounding_are_marginal():
    edge = one_contact_solutions(one(np.eye(3), [0.5, 0.0, -1.0], 0.5))  # exactly on the friction cone
    assert not edge.complete
    assert any("stick" in note for note in edge.marginal)
    touching = one_contact_solutions(one(np.eye(3), [0.5, 0.0, 0.0], 0.5))  # no load
    assert not touching.complete
    assert any("open" in note for note in touching.marginal)


def test_force_that_nothing_can_move_is_not_determined():
    # The second tangent cannot move (zero row): friction along it is free within the cone.
    contact = Contact([0, 1.0], tangent=[[1.0, 0], [0, 0]], friction=0.5)
    found = one_contact_solutions(friction_arrays(ContactProblem(np.eye(2), [0.1, -1.0], contacts=[contact])))
    assert not found.complete
    assert len(found.stick_directions) == 1
    assert found.stick_directions[0, :2] == pytest.approx([0, 0], abs=1e-9)
    assert (Mode.STICK in [mode for mode, _ in found.solutions]) is True


def test_other_problems_do_not_fit():
    floor = Contact([0, 0, 1.0], tangent=TANGENTS, friction=0.5)
    assert not one_contact_fits(friction_arrays(ContactProblem(np.eye(3), [0, 0, -1.0], contacts=[floor, floor])))
    sliding = Contact([0, 0, 1.0], tangent=TANGENTS, friction=0.5, slip=[1, 0])
    assert not one_contact_fits(friction_arrays(ContactProblem(np.eye(3), [0, 0, -1.0], contacts=[sliding])))
