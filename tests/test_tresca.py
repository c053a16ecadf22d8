"""Given normal forces and no friction at all: the convex projections of Gauss's principle.

Sources: A. P. Ivanov, Rus. J. Nonlin. Dyn. 9 (2013) 479-498 ("paper 001") with the corrections of an independent check;
closed forms; SciPy's bounded least squares as an independent method.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

from zwang._numerics.contact.candidate import natural_residual
from zwang._numerics.contact.choose import solve_one
from zwang._numerics.contact.cone_program import cone_fixed_point
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.interior_point import cone_plan, interior_point
from zwang._numerics.contact.problem import Contact, ContactProblem, ContactRows
from zwang._numerics.contact.sweeps import gauss_seidel
from zwang.errors import DeclarationError


def blocks(force, masses=(1.0, 1.0, 1.0), friction=(1.0, 1.0, 1.0)):
    """The pyramid of example 2 in the paper's relative coordinates, g = 1."""
    masses = np.asarray(masses)
    total = np.cumsum(masses)
    k = np.arange(len(masses))
    mass = total[np.minimum.outer(k, k)]
    contacts = [
        Contact(None, tangent=np.eye(len(k))[j], friction=friction[j], normal_force=total[j]) for j in range(len(k))
    ]
    return friction_arrays(ContactProblem(mass, np.asarray(force, dtype=float), contacts=contacts))


@pytest.mark.parametrize(
    ("force", "acceleration", "friction"),
    [
        ((2, 0, 3), (1, 0, 0), (-1, 1, -2)),  # paper 001, (2.12)
        ((2, -3, 1), (3, -2, 0), (-1, 2, -2)),  # second data set, with the corrected T3 = -2 (printed 0)
        ((3, 5, 3), (1, 1, 0), (-1, -2, 0)),  # cyclic projections stop at (0.5, 2, 0) instead
        ((5, 0, -2), (6, -1, -1), (-1, 2, 3)),  # the symbol algorithm of the paper answers (1, 0, -1)
    ],
)
def test_pyramid_of_three_equal_blocks_moves_as_computed_by_hand(force, acceleration, friction):
    found = gauss_projection(blocks(force))
    assert found.acceleration == pytest.approx(acceleration, abs=1e-12)
    assert found.forces == pytest.approx(friction, abs=1e-12)
    assert found.residual < 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_pyramid_of_ten_blocks_agrees_with_bounded_least_squares(seed):
    rng = np.random.default_rng(seed)
    masses, friction = rng.uniform(0.5, 2, 10), rng.uniform(0.1, 1, 10)
    arrays = blocks(rng.normal(size=10) * 5, masses, friction)
    root = np.linalg.cholesky(arrays.mass.matrix).T
    bound = friction * np.cumsum(masses)
    independent = lsq_linear(root, -root @ arrays.force, bounds=(-bound, bound), tol=1e-15).x
    assert gauss_projection(arrays).forces == pytest.approx(independent, abs=1e-7)


@pytest.mark.parametrize(
    ("strength", "acceleration"),
    [  # example 3 of paper 001 (P = m = 1, d = 2 l, alpha = 30 degrees), recomputed independently to all digits shown
        (0.5, (0, 0, 0)),
        (0.8, (0, 0, 0)),
        (0.85, (0, 0, 0.0625)),
        (0.873, (1.41996e-5, -1.22999e-5, 0.0912500121)),
        (0.9, (0.00385543, -0.00349386, 0.12547176)),
        (1, (0.02923408, -0.03030388, 0.25643553)),
        (2, (0.44809851, -0.66911160, 1.53982948)),
        (5, (1.74965900, -2.89422392, 5.30039946)),
        (100, (42.88752402, -74.13440974, 124.05488553)),
    ],
)
def test_two_particles_on_a_rod_start_as_in_example_3(strength, acceleration):
    found = gauss_projection(rod_on_plane(strength))
    assert found.acceleration == pytest.approx(acceleration, abs=6e-9)
    assert found.residual < 1e-12


def rod_on_plane(strength):
    """Two particles on a massless rod: coordinates x, y1, y2; force at 30 degrees and distance 2 l from the centre."""
    angle = np.pi / 6
    force = strength * np.array([np.cos(angle), (np.sin(angle) - 2) / 2, (np.sin(angle) + 2) / 2])
    rows = np.eye(3)
    contacts = [Contact(None, tangent=rows[[0, i]], friction=1, normal_force=1) for i in (1, 2)]
    return friction_arrays(ContactProblem(np.diag([2.0, 1.0, 1.0]), force, contacts=contacts))


def test_directions_of_friction_of_example_3_have_the_cosines_of_its_equation():
    found = gauss_projection(rod_on_plane(2.0))
    # u = cos(phi), v = cos(psi) with T = -(cos, sin): the table of the independent check at S = 2
    assert -found.tangential[:, 0] == pytest.approx([0.556439096, 0.279414692], abs=2e-9)


def test_example_3_slides_at_both_particles_only_beyond_the_second_threshold():
    threshold = 4 / np.sqrt(21)  # S** of example 3
    assert abs(gauss_projection(rod_on_plane(threshold * (1 - 1e-6))).acceleration[0]) < 1e-13
    assert gauss_projection(rod_on_plane(threshold * (1 + 1e-3))).acceleration[0] > 1e-8


def test_sliding_contact_is_not_projected():
    # Errata of Theorem 10: one block, no force, v > 0: T = -mu N, although T = 0 would make the sum smallest.
    contact = Contact(None, tangent=[1.0], friction=0.5, normal_force=2.0, slip=[0.3])
    found = gauss_projection(friction_arrays(ContactProblem(np.eye(1), [0.0], contacts=[contact])))
    assert found.tangential[0] == pytest.approx((-1.0, 0.0))
    assert found.acceleration == pytest.approx([-1.0])


def test_accelerating_floor_drags_the_block_along():
    # At rest relative to a floor that accelerates by 0.3: mu N / m = 0.5 suffices; 0.8 does not, and slips at 0.5.
    for floor, expected in ((0.3, 0.3), (0.8, 0.5)):
        contact = Contact(None, tangent=[1.0], friction=0.5, normal_force=1.0, tangent_bias=[floor])
        found = gauss_projection(friction_arrays(ContactProblem(np.eye(1), [0.0], contacts=[contact])))
        assert found.acceleration == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize(("gamma", "tension", "w1"), [(1.0, 0.5, 0.5), (4.0, 0.0, 1.0), (-4.0, 3.0, -2.0)])
def test_string_over_a_bar_goes_slack_when_paid_out_faster_than_free_fall(gamma, tension, w1):
    # Example 1 with m1 = m2 = g = 1, the string unilateral, w1 = min(..., g) as corrected: -(w1 + w2) >= -gamma.
    string = Contact([-1.0, -1.0], bias=-gamma)
    found = gauss_projection(friction_arrays(ContactProblem(np.eye(2), [1.0, 1.0], contacts=[string])))
    assert found.normal == pytest.approx([tension], abs=1e-13)
    assert found.acceleration[0] == pytest.approx(w1, abs=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_acceleration_is_unique_when_frictionless_normals_are_dependent(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, 5))
    rows = np.vstack([rows, rows[0] + rows[1], 2 * rows[2]])  # rank 3
    root = rng.normal(size=(5, 5))
    contacts = [Contact(row, bias=0.0) for row in rows]
    arrays = friction_arrays(ContactProblem(root @ root.T + np.eye(5), rng.normal(size=5), contacts=contacts))
    found = gauss_projection(arrays)
    assert found.residual < 1e-11
    assert found.acceleration == pytest.approx(gauss_seidel(arrays, tol=1e-12).acceleration, abs=1e-8)
    assert (found.normal > -1e-12).all()


def test_redundant_bilateral_supports_carry_the_load_together():
    # Three supports under a rigid beam (height, tilt): one too many. The acceleration is zero all the same.
    beam = [Contact([1.0, x], bilateral=True) for x in (-1.0, 0.0, 1.0)]
    found = gauss_projection(friction_arrays(ContactProblem(np.diag([2.0, 0.5]), [-3.0, 0.4], contacts=beam)))
    assert found.acceleration == pytest.approx([0, 0], abs=1e-9)
    assert found.normal.sum() == pytest.approx(3.0)
    assert found.residual < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_spatial_tresca_agrees_with_clarabel_and_with_sweeps(seed):
    rng = np.random.default_rng(seed)
    n, k = 12, 6
    contacts = [
        Contact(None, tangent=rng.normal(size=(2, n)), friction=0.7, normal_force=rng.uniform(0.1, 2)) for _ in range(k)
    ]
    contacts += [Contact(rng.normal(size=n), bias=rng.normal()) for _ in range(3)]
    contacts += [Contact(rng.normal(size=n), bias=rng.normal(), bilateral=True)]
    arrays = friction_arrays(ContactProblem(np.diag(rng.uniform(0.5, 2, n)), 3 * rng.normal(size=n), contacts=contacts))
    assert arrays.convex
    found = gauss_projection(arrays)
    assert found.residual < 1e-12
    assert found.acceleration == pytest.approx(cone_fixed_point(arrays).acceleration, abs=1e-5)  # Clarabel stops there
    assert found.acceleration == pytest.approx(gauss_seidel(arrays, tol=1e-11).acceleration, abs=1e-8)
    assert solve_one(arrays).acceleration == pytest.approx(found.acceleration, abs=1e-6)


def pyramid(n, seed, absolute=False):
    """n blocks under random pushes: in absolute coordinates (diagonal mass) or relative ones (tridiagonal inverse)."""
    rng = np.random.default_rng(seed)
    masses, friction = rng.uniform(0.5, 2, n), rng.uniform(0.1, 0.9, n)
    load, zero = 9.81 * np.cumsum(masses), np.zeros(n)
    push = rng.normal(size=n) * friction * load * 0.5
    step = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], format="csr")
    tangent = step if absolute else sparse.eye_array(n, format="csr")
    rows = ContactRows(
        sparse.csr_array((n, n)), tangent, np.arange(n + 1), friction, zero, zero, zero > 0, zero, load, zero > 0
    )
    if absolute:
        return friction_arrays(rows=rows, force=push, mass=sparse.diags_array(masses, format="csr"))
    inverse = (step @ sparse.diags_array(1 / masses) @ step.T).tocsr()
    return friction_arrays(rows=rows, force=np.cumsum(push), inverse_mass=inverse)


def test_pyramid_of_thirty_thousand_blocks_is_projected_below_1e_9():
    arrays = pyramid(30_000, 3)
    plan = cone_plan(arrays)
    assert plan.analysis.work < 20 * arrays.size  # the cost of a factorization grows like n
    found = gauss_projection(arrays, plan=plan)
    assert found.residual < 1e-9
    assert natural_residual(arrays, found.forces) == found.residual


def test_pyramid_has_the_same_forces_in_absolute_and_relative_coordinates():
    relative, absolute = pyramid(300, 5), pyramid(300, 5, absolute=True)
    assert gauss_projection(relative).forces == pytest.approx(gauss_projection(absolute).forces, rel=1e-7, abs=1e-7)


def test_sparse_mass_that_is_not_block_diagonal_uses_the_augmented_form():
    # A chain of coupled inertias: A is tridiagonal, its inverse full.
    n, rng = 80, np.random.default_rng(2)
    mass = sparse.diags_array([np.full(n, 2.5), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1])
    rows = sparse.eye_array(n, format="csr")
    contacts = [
        Contact(None, tangent=rows[[j]], friction=1.0, normal_force=rng.uniform(0.1, 1)) for j in range(0, n, 2)
    ]
    problem = ContactProblem(mass.tocsr(), rng.normal(size=n) * 2, contacts=contacts)
    arrays = friction_arrays(problem)
    assert not arrays.has_sparse_delassus
    assert cone_plan(arrays).coordinates == n
    found = gauss_projection(arrays)
    dense = gauss_projection(friction_arrays(ContactProblem(mass.toarray(), problem.force, contacts=contacts)))
    assert found.residual < 1e-9
    assert found.acceleration == pytest.approx(dense.acceleration, abs=1e-8)


def test_coulomb_friction_is_refused_with_the_cure():
    floor = Contact([0.0, 1.0], tangent=[1.0, 0.0], friction=0.5)
    arrays = friction_arrays(ContactProblem(np.eye(2), [1.0, -1.0], contacts=[floor]))
    with pytest.raises(DeclarationError, match=r"Give its normal_force \(Tresca\)"):
        gauss_projection(arrays)


def test_without_unknown_forces_the_motion_is_that_of_the_given_ones():
    contact = Contact([0.0, 1.0], tangent=[1.0, 0.0], normal_force=2.0)
    found = gauss_projection(friction_arrays(ContactProblem(np.eye(2), [1.0, -1.0], contacts=[contact])))
    assert found.acceleration == pytest.approx([1.0, 1.0])
    assert found.residual == 0.0


def test_interior_points_reach_the_projection_by_themselves():
    arrays = blocks((2, -3, 1))
    assert interior_point(arrays, tol=1e-12).forces == pytest.approx((-1, 2, -2), abs=1e-10)
