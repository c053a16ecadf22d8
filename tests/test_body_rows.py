"""Many contacts by the bodies that they touch, against dense linear algebra on the same arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import zwang as zw
from zwang._numerics.contact.choose import random_forces, solve_many_starts
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.interior_point import cone_plan, solve_planned
from zwang._numerics.contact.newton import newton, newton_from_each
from zwang._numerics.linear.blocks import diagonal_blocks, joined
from zwang._numerics.linear.quasidefinite import analyse, least_degree


def positive(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + np.eye(n)


def bodies(rng, count, contacts, sliding=False):
    """Bodies of six coordinates: mass (dense), force, and contacts of every kind between two of them or one alone."""
    n = 6 * count
    mass = sparse.block_diag([positive(rng, 6) for _ in range(count)]).toarray()
    made = []
    for j in range(contacts):
        p = (2, 2, 2, 1, 0)[j % 5]
        rows = np.zeros((1 + p, n))
        for body in rng.choice(count, 1 + j % 2, replace=False):
            rows[:, 6 * body : 6 * body + 6] = rng.normal(size=(1 + p, 6))
        options = {"bilateral": True} if p == 0 and j % 2 else {}
        options |= {"normal_force": 2.0} if p and j % 7 == 6 else {}
        options |= {"slip": rng.normal(size=p)} if sliding and p and j % 3 == 0 else {}
        made.append(zw.Contact(rows[0], tangent=rows[1:], friction=0.4 if p else 0.0, **options))
    return mass, rng.normal(size=n), made


def as_sparse(contacts):
    return [
        zw.Contact(
            sparse.csr_array(item.normal[None]), tangent=sparse.csr_array(item.tangent), friction=item.friction,
            bilateral=item.bilateral, slip=item.slip, normal_force=item.normal_force,
        )
        for item in contacts
    ]  # fmt: skip


@pytest.mark.parametrize("sliding", [False, True])
def test_dense_arrays_of_many_bodies_have_the_response_that_dense_algebra_gives(sliding):
    mass, force, contacts = bodies(np.random.default_rng(1), 30, 50, sliding)
    arrays = friction_arrays(zw.ContactProblem(mass, force, contacts))
    assert arrays.has_sparse_delassus
    rows, columns = arrays.rows.toarray(), arrays.columns.toarray()
    response = rows @ np.linalg.solve(mass, columns.T)
    assert arrays.delassus == pytest.approx(response, abs=1e-12)
    assert arrays.b == pytest.approx(rows @ np.linalg.solve(mass, arrays.force) - arrays.offset, abs=1e-12)
    unit = 1 / np.repeat(arrays.scale, arrays.layout[:, 1])
    coupling = arrays.scaled_coupling
    found = sparse.csr_array((coupling.value, coupling.col, coupling.ptr), shape=response.shape).toarray()
    assert found == pytest.approx(unit[:, None] * response * unit, abs=1e-12)
    own = np.abs(np.diag(rows @ np.linalg.solve(mass, rows.T)))
    largest = [own[a : a + size].max(initial=0.0) for a, size in arrays.layout[:, :2]]
    assert arrays.scale**2 == pytest.approx(np.where(np.array(largest) > 0, largest, 1.0))


def test_the_answer_is_the_same_however_the_arrays_are_given():
    mass, force, contacts = bodies(np.random.default_rng(2), 30, 50)
    sparse_mass, inverse = sparse.csr_array(mass), np.linalg.inv(mass)
    found = [
        zw.reactions(problem)
        for problem in (
            zw.ContactProblem(mass, force, contacts),
            zw.ContactProblem(sparse_mass, force, as_sparse(contacts)),
            zw.ContactProblem(force=force, contacts=contacts, inverse_mass=np.where(mass != 0, inverse, 0.0)),
        )
    ]
    assert len({answer.status for answer in found}) == 1
    for answer in found:
        assert answer.residual < 1e-8
        assert answer.accelerations[0] == pytest.approx(found[0].accelerations[0], abs=1e-6)


def test_blocks_are_found_in_any_order_of_the_coordinates():
    rng = np.random.default_rng(5)
    sizes = [6, 1, 3, 1, 6, 3, 2] * 6
    mass = sparse.block_diag([positive(rng, size) for size in sizes]).toarray()
    order = rng.permutation(len(mass))
    mass = mass[np.ix_(order, order)]
    for given in (mass, sparse.csr_array(mass)):
        blocks = diagonal_blocks(given)
        assert sum(len(part.places) for part in blocks) == len(sizes)
        assert joined(len(mass), blocks).toarray() == pytest.approx(mass, abs=0)
    chain = np.eye(90) + 0.1 * np.eye(90, k=1) + 0.1 * np.eye(90, k=-1)
    assert diagonal_blocks(chain) is None


def test_a_dense_mass_of_many_bodies_that_is_indefinite_is_refused():
    mass = np.diag(np.r_[np.ones(70), -1e-3])
    with pytest.raises(zw.DeclarationError, match=r"not positive definite: its smallest eigenvalue is -0\.001"):
        zw.ContactProblem(mass, np.ones(71), [])


@pytest.mark.parametrize("seed", range(3))
def test_the_work_told_of_an_order_is_that_of_its_factorization(seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, 20)
    near = np.triu(rng.uniform(size=(20, 20)) < 0.15, 1)
    near |= near.T
    order, work = least_degree(near, size)
    owner = np.repeat(np.arange(20), size)
    rows, cols = np.nonzero(np.tril(near[np.ix_(owner, owner)] | (owner[:, None] == owner)))
    unknowns = np.concatenate([np.flatnonzero(owner == group) for group in order])
    assert analyse(len(owner), rows, cols, unknowns).work == work


def test_interior_points_solve_towers_in_either_form_of_their_plan():
    # Three coordinates a block and twenty corners between two: the form with accelerations is the cheaper one.
    blocks, corners = 40, 20
    x = np.linspace(-1, 1, corners)
    contacts = []
    for block in range(blocks):
        for place in x:
            normal, tangent = np.zeros((2, 3 * blocks))
            normal[3 * block : 3 * block + 3], tangent[3 * block : 3 * block + 3] = (0, 1, place), (1, 0, 0.5)
            if block:
                normal[3 * block - 3 : 3 * block], tangent[3 * block - 3 : 3 * block] = (0, -1, -place), (-1, 0, 0.5)
            contacts.append(zw.Contact(normal, tangent=tangent, friction=0.5))
    force = np.tile([0.05, -1.0, 0.0], blocks)
    mass = np.diag(np.tile([1.0, 1.0, 0.4], blocks))
    given = friction_arrays(zw.ContactProblem(mass, force, contacts))
    inverse = friction_arrays(zw.ContactProblem(force=force, contacts=contacts, inverse_mass=np.linalg.inv(mass)))
    plans = cone_plan(given), cone_plan(inverse)
    assert [plan.coordinates for plan in plans] == [3 * blocks, 0]
    found = [arrays.acceleration(solve_planned(arrays, plan, 1e-9, 60)[0]) for arrays, plan in
             zip((given, inverse), plans, strict=True)]  # fmt: skip
    assert found[0] == pytest.approx(found[1], abs=1e-7)
    assert found[0] == pytest.approx(np.zeros(3 * blocks), abs=1e-7)  # it stands: 0.05 (k + 1) a block below mu (k + 1)


def floating_balls(count, feet):
    """Balls on a floor, each on so many points in a row along x; five coordinates that matter and one that doesn't."""
    contacts = []
    for ball in range(count):
        for foot in range(feet):
            rows = np.zeros((3, 6 * count))
            own = slice(6 * ball, 6 * ball + 6)
            rows[:, own] = [[0, 0, 1, 0, -foot, 0], [1, 0, 0, 0, -1, 0], [0, 1, 0, 1, 0, foot]]
            contacts.append(zw.Contact(rows[0], tangent=rows[1:], friction=0.5))
    return zw.ContactProblem(np.eye(6 * count), np.tile([0.1, 0, -1, 0, 0, 0.0], count), contacts)


def test_ranges_of_many_forces_are_told_where_these_are_determined_and_nan_where_not():
    determined = zw.reactions(floating_balls(25, 1)).solutions[0]  # three forces a ball, over six coordinates
    assert determined.ranges.normal == pytest.approx(np.ones((25, 2)), abs=1e-7)
    undetermined = zw.reactions(floating_balls(12, 3)).solutions[0]  # nine over six
    assert np.isnan(undetermined.ranges.normal).all()
    assert undetermined.normal.sum() == pytest.approx(12, abs=1e-6)


def test_random_starts_in_one_call_find_what_they_find_one_by_one():
    mass, force, contacts = bodies(np.random.default_rng(7), 3, 8)
    arrays = friction_arrays(zw.ContactProblem(mass, force, contacts))
    starts = random_forces(arrays, np.random.default_rng(0), 12)
    one_by_one = [newton(arrays, start=start, tol=1e-12) for start in starts]
    reached = [item.forces for item in one_by_one if item.residual <= 1e-8]
    assert reached
    found = newton_from_each(arrays, starts, reach=1e-8)
    assert found == pytest.approx(np.array(reached), rel=1e-9, abs=1e-12)
    assert arrays.accelerations(found)[0] == pytest.approx(arrays.acceleration(found[0]))
    assert all(item.residual <= 1e-8 for item in solve_many_starts(arrays, seed=0, starts=12))


def test_numbers_whose_squares_overflow_are_finite():
    contact = zw.Contact([1e200, 0.0], tangent=[[0.0, -1e200]], friction=np.float64(0.3))
    assert contact.normal.tolist() == [1e200, 0.0]
    assert type(contact.friction) is float
    with pytest.raises(zw.DeclarationError, match=r"tangent is inf at index \(0, 1\), needed finite numbers"):
        zw.Contact([1e200, 0.0], tangent=[[0.0, np.inf]])


def test_what_a_problem_was_is_told_by_its_content_when_it_is_asked_for():
    first, same, other = (zw.reactions(floating_balls(count, 1)).provenance for count in (22, 22, 23))
    assert first == same
    assert first.digest != other.digest
    assert len(first.digest) == 64
