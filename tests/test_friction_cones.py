"""Coulomb friction by every solver of the folder: closed forms, agreement between methods, towers, random problems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from zwang._numerics.contact.candidate import contact_errors, natural_residual
from zwang._numerics.contact.choose import prepare, solve_many_starts, solve_one
from zwang._numerics.contact.complementarity import pivoting
from zwang._numerics.contact.cone_program import ConeProgram, cone_fixed_point
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.interior_point import fits, interior_point
from zwang._numerics.contact.local_repair import alternate
from zwang._numerics.contact.newton import newton
from zwang._numerics.contact.problem import Contact, ContactProblem, ContactRows
from zwang._numerics.contact.sweeps import gauss_seidel, sweep_tables, sweeper

SOLVERS = [solve_one, gauss_seidel, newton, interior_point, cone_fixed_point]
G = 9.81


def on_incline(angle, friction, direction=0.0):
    """A point of unit mass on an inclined plane: z is normal to it, x points downhill, turned by `direction`."""
    c, s = np.cos(direction), np.sin(direction)
    contact = Contact([0, 0, 1.0], tangent=[[c, s, 0], [-s, c, 0]], friction=friction)
    force = [G * np.sin(angle), 0, -G * np.cos(angle)]
    return friction_arrays(ContactProblem(np.eye(3), force, contacts=[contact]))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("direction", [0.0, 0.7])
def test_block_on_incline_rests_below_the_friction_angle_and_slides_above(solver, direction):
    steep, flat = np.radians(40), np.radians(20)
    for angle, slides in ((flat, False), (steep, True)):
        found = solver(on_incline(angle, 0.5, direction))
        # closed form: a = g (sin - mu cos) if tan > mu, else 0
        expected = G * (np.sin(angle) - 0.5 * np.cos(angle)) if slides else 0.0
        assert found.acceleration == pytest.approx([expected, 0, 0], abs=1e-6)
        assert found.normal == pytest.approx([G * np.cos(angle)], rel=1e-7)
        assert found.residual < 1e-8


def sphere_on_incline(angle, friction):
    """A solid sphere of unit mass and radius: x, y, z and the rotation vector."""
    mass = np.diag([1, 1, 1, 0.4, 0.4, 0.4])
    # velocity of the lowest point: v + omega x (0, 0, -1)
    tangent = [[1, 0, 0, 0, -1, 0], [0, 1, 0, 1, 0, 0]]
    contact = Contact([0, 0, 1, 0, 0, 0], tangent=tangent, friction=friction)
    force = [G * np.sin(angle), 0, -G * np.cos(angle), 0, 0, 0]
    return friction_arrays(ContactProblem(mass, force, contacts=[contact]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_sphere_rolls_up_to_the_angle_where_two_sevenths_of_the_weight_exceed_friction(solver):
    angle = np.radians(30)
    limit = 2 / 7 * np.tan(angle)  # rolling needs mu >= (2/7) tan(angle)
    rolling = solver(sphere_on_incline(angle, 1.01 * limit))
    assert rolling.acceleration[0] == pytest.approx(5 / 7 * G * np.sin(angle), rel=1e-7)
    slipping = solver(sphere_on_incline(angle, 0.5 * limit))
    assert slipping.acceleration[0] == pytest.approx(G * np.sin(angle) - 0.5 * limit * G * np.cos(angle), rel=1e-7)
    assert slipping.acceleration[4] == pytest.approx(0.5 * limit * G * np.cos(angle) / 0.4, rel=1e-6)


def cube(push, friction=0.3, slip=None, size=1.0):
    """A cube on four corners under gravity and a horizontal push through its centre."""
    j = size**2 / 6
    contacts = []
    for x in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            arm = size * np.array([x, y, -0.5])
            rows = np.hstack([np.eye(3), -np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])])
            contacts.append(Contact(rows[2], tangent=rows[:2], friction=friction, slip=slip))
    return friction_arrays(ContactProblem(np.diag([1, 1, 1, j, j, j]), [*push, -G, 0, 0, 0], contacts=contacts))


@pytest.mark.parametrize("solver", SOLVERS)
def test_pushed_cube_starts_to_slide_and_does_not_lift(solver):
    found = solver(cube((5.0, 2.0)))
    push = np.hypot(5.0, 2.0)
    expected = (push - 0.3 * G) / push * np.array([5.0, 2.0])
    assert found.acceleration[:2] == pytest.approx(expected, abs=1e-6)
    assert found.acceleration[2:] == pytest.approx(np.zeros(4), abs=1e-6)


def test_one_convex_solve_lifts_the_pushed_cube_and_the_fixed_point_does_not():
    arrays = cube((5.0, 2.0))
    convex = arrays.acceleration(ConeProgram(arrays).solve(np.zeros(arrays.size)))
    assert convex[2] > 0.1  # the associated law takes off
    assert abs(cone_fixed_point(arrays).acceleration[2]) < 1e-6


def test_sliding_cube_decelerates_at_mu_g_and_stays_on_the_floor():
    arrays = cube((0.0, 0.0), slip=[0.6, 0.8])
    assert not arrays.symmetric
    assert arrays.size == 4  # sliding contacts keep their normal force only
    found = solve_one(arrays)
    assert found.acceleration[:2] == pytest.approx([-0.3 * G * 0.6, -0.3 * G * 0.8])
    assert found.acceleration[2:] == pytest.approx(np.zeros(4), abs=1e-10)
    assert found.residual < 1e-11  # small problems are finished to rounding
    assert (found.normal >= 0).all()
    assert found.residual < 1e-9
    # torque balance about the centre: the front edge carries more; sum of N x = mu m g h along the motion
    x = np.array([-0.5, -0.5, 0.5, 0.5])
    assert found.normal @ x == pytest.approx(0.3 * G * 0.6 * 0.5)


def tower(blocks, p, friction=0.5, push=0.0):
    """Blocks of width 2 and height 1 on two (plane) or four (space) corners each, sparse."""
    n = 3 if p == 1 else 6
    mass = np.tile([1, 1, 5 / 12] if p == 1 else [1, 1, 1, 5 / 12, 5 / 12, 8 / 12], blocks)
    corners = [(-1.0,), (1.0,)] if p == 1 else [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    rows, force = [], np.zeros(n * blocks)
    for b in range(blocks):
        force[n * b + p] = -G
        force[n * b] = push
        for corner in corners:
            line = np.zeros((p + 1, n * blocks))
            for body, sign, z in ((b, 1, -0.5), (b - 1, -1, 0.5)):
                if body >= 0:
                    line[:, n * body : n * body + n] = sign * _corner_rows(corner, z, p)
            rows.append(line)
    stacked = sparse.csr_array(np.vstack(rows))
    return friction_arrays(rows=plain(stacked, p, friction), force=force, mass=sparse.diags_array(mass, format="csr"))


def _corner_rows(corner, z, p):
    if p == 1:  # height, then x: the point (x, z) of a body turning by theta moves by (-z, x) theta
        return np.array([[0, 1, corner[0]], [1, 0, -z]])
    x, y = corner
    turn = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.hstack([np.eye(3), turn])[[2, 0, 1]]


def plain(rows, p, friction):
    """Rows (N, T, ...) of equal contacts at rest as plain arrays."""
    k = rows.shape[0] // (p + 1)
    tangents = np.arange(rows.shape[0]).reshape(k, p + 1)[:, 1:].ravel()
    zero = np.zeros(k)
    return ContactRows(
        rows[0 :: p + 1],
        rows[tangents],
        np.arange(k + 1) * p,
        zero + friction,
        zero,
        np.zeros(k * p),
        zero > 0,
        np.zeros(k * p),
        np.full(k, np.nan),
        zero == 0,
    )


@pytest.mark.parametrize(("blocks", "p"), [(10, 1), (50, 1), (10, 2)])
def test_towers_stand_to_1e_8_where_plain_sweeps_stall(blocks, p):
    arrays = tower(blocks, p)
    found = solve_one(arrays)
    assert found.residual < 1e-8
    assert np.abs(found.acceleration).max() < 1e-6
    ground = found.normal[: 2 * p].sum()
    assert ground == pytest.approx(blocks * G, rel=1e-6)
    assert gauss_seidel(arrays, limit=300, memory=0).residual > 1e-6
    ready = prepare(arrays)
    forces, residual, _, _ = ready.solve(1e-8)
    assert natural_residual(arrays, forces) <= 1.01e-8
    assert natural_residual(arrays, forces) == pytest.approx(residual, rel=0.5, abs=1e-12)


def test_toppling_tower_tilts_and_keeps_its_feet():
    # Pushed beyond tipping (width 2, height 1 each): some contact must open, and the laws hold all the same.
    arrays = tower(4, 1, friction=1.5, push=8.0)
    found = solve_one(arrays)
    assert found.residual < 1e-8
    assert (found.normal < 1e-9).any()
    assert pivoting(arrays).residual < 1e-8


def bodies(contacts, seed, p=2, ratio=2.0):
    """Rigid bodies touching at random points with random normals, as sparse plain arrays."""
    rng = np.random.default_rng(seed)
    count = max(1, round(contacts / ratio))
    mass = [np.diag([1, 1, 1]) * rng.uniform(0.5, 2) for _ in range(2 * count)]
    rows = np.zeros(((p + 1) * contacts, 6 * count))
    for j in range(contacts):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for body, sign in zip(rng.choice(count, 2, replace=count < 2), (1, -1), strict=True):
            arm = rng.normal(size=3) * 0.5
            turn = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
            place = slice(6 * body, 6 * body + 6)
            rows[(p + 1) * j : (p + 1) * (j + 1), place] = sign * np.hstack([frame, -frame @ turn])[: p + 1]
            if rng.uniform() < 0.4:
                break
    force = rng.normal(size=6 * count) * 3
    friction = rng.uniform(0.1, 0.9, contacts)
    laws = plain(sparse.csr_array(rows), p, friction)
    return friction_arrays(rows=laws, force=force, mass=sparse.block_diag(mass, format="csr"))


@pytest.mark.parametrize("seed", range(12))
def test_solvers_agree_on_random_bodies(seed):
    arrays = bodies(8, seed)
    found = [solver(arrays) for solver in (gauss_seidel, newton, interior_point)]
    assert min(one.residual for one in found) < 1e-9
    first = solve_one(arrays)
    assert first.residual < 1e-8
    for one in found:
        if one.residual < 1e-8:
            assert one.acceleration == pytest.approx(first.acceleration, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(("contacts", "ratio"), [(3, 1.0), (30, 2.0), (100, 2.0), (100, 4.0)])
def test_random_problems_are_solved_to_1e_8_by_their_own_account_and_ours(contacts, ratio, p):
    for seed in range(4):
        found = solve_one(bodies(contacts, seed, p, ratio))
        assert found.residual < 1e-8, (seed, found.method)


def test_four_hundred_contacts_are_solved_on_the_structure_of_bodies():
    arrays = bodies(400, 7)
    assert sweep_tables(arrays).system is None
    assert solve_one(arrays).residual < 1e-8


def test_contacts_that_sweeps_do_not_settle_are_solved_apart_in_turn_with_the_others():
    arrays = bodies(250, 4)
    tables = sweep_tables(arrays)
    begun = gauss_seidel(arrays, limit=5, tables=tables)  # far from settled: many contacts are taken for stubborn ones
    assert begun.residual > 1e-4
    found = alternate(arrays, tables, begun.forces, 1e-8)
    assert found.residual < 1e-8
    assert found.acceleration == pytest.approx(solve_one(arrays).acceleration, rel=1e-4, abs=1e-4)


def test_held_contacts_keep_their_forces_while_the_others_are_swept():
    arrays = bodies(60, 2)
    tables = sweep_tables(arrays, dense=False)
    held = np.arange(60) % 7 == 0
    start = np.tile([1.0, 0.2, 0.1], 60)
    forces, _, _, residual = sweeper(arrays, tables, held=held)(start, 1e-9, 500)
    assert residual < 1e-9
    assert forces.reshape(60, 3)[held] == pytest.approx(start.reshape(60, 3)[held])
    error = contact_errors(arrays, forces, arrays.relative(forces))
    assert error[~held].max() < 1e-8 * arrays.cause
    assert error[held].max() > 1e-3 * arrays.cause


def test_dense_and_sparse_forms_are_the_same_problem():
    arrays = bodies(20, 3)
    dense = friction_arrays(
        rows=plain(arrays.rows.toarray(), 2, arrays.law[:, 0]), force=arrays.force, mass=arrays.mass.mass.toarray()
    )
    assert dense.delassus == pytest.approx(arrays.delassus, abs=1e-12)
    assert dense.b == pytest.approx(arrays.b)
    assert dense.scale == pytest.approx(arrays.scale)
    assert solve_one(dense).acceleration == pytest.approx(solve_one(arrays).acceleration, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_residual_and_solution_do_not_depend_on_the_lengths_of_rows(seed):
    arrays = bodies(6, seed)
    rng = np.random.default_rng(seed + 100)
    lengths = 10.0 ** rng.uniform(-4, 4, 6)
    stretched = friction_arrays(
        rows=plain(sparse.csr_array(arrays.rows.toarray() * np.repeat(lengths, 3)[:, None]), 2, arrays.law[:, 0]),
        force=arrays.force,
        mass=arrays.mass.mass,
    )
    rough = rng.normal(size=arrays.size)
    assert natural_residual(stretched, rough / np.repeat(lengths, 3)) == pytest.approx(natural_residual(arrays, rough))
    found = solve_one(stretched)
    assert found.residual < 1e-8
    assert found.acceleration == pytest.approx(solve_one(arrays).acceleration, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_forces_scale_with_the_load(seed):
    arrays = bodies(10, seed)
    heavy = friction_arrays(rows=arrays.source, force=1e6 * arrays.force, mass=arrays.mass.mass)
    assert solve_one(heavy).acceleration == pytest.approx(1e6 * solve_one(arrays).acceleration, rel=1e-5, abs=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_spatial_contact_of_the_errata_has_three_slip_accelerations(seed):
    inverse = [[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]]
    contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.72)
    problem = ContactProblem(force=[0.698296, 0.524118, -1.183994], contacts=[contact], inverse_mass=inverse)
    found = solve_many_starts(friction_arrays(problem), seed=seed)
    # errata of paper 001, Theorem 12: N = 1.0123, 0.9437, 0.7105
    assert [one.normal[0] for one in found] == pytest.approx([1.0123, 0.9437, 0.7105], abs=5e-5)


def test_mixed_problem_of_the_errata_has_three_accelerations():
    # A = I, n1 = e1, t1 = e2, mu1 = 2, sliding with v1 < 0; n2 = e3, t2 = (e1 + e2)/sqrt 2, mu2 = 1, at rest.
    e = np.eye(3)
    one = Contact(e[0], tangent=e[1], friction=2.0, slip=[-1.0])
    two = Contact(e[2], tangent=(e[0] + e[1]) / np.sqrt(2), friction=1.0)
    force = np.array([1, -1, -10 * np.sqrt(2)]) / np.sqrt(2)
    found = solve_many_starts(friction_arrays(ContactProblem(e, force, contacts=[one, two])), seed=1)
    accelerations = sorted(tuple(np.round(one.acceleration, 3) + 0.0) for one in found)
    assert accelerations == [(0.0, 0.0, 0.0), (0.0, 4.95, 0.0), (0.707, -0.707, 0.0)]


@pytest.mark.parametrize("solver", [solve_one, gauss_seidel, newton, pivoting])
def test_bilateral_guide_with_friction_uses_the_absolute_normal_force(solver):
    # A bead on a straight rough wire, pressed with 2 N, pushed with 1.5 N along it: mu |N| = 1, a = 0.5 either side.
    for press in (2.0, -2.0):
        wire = Contact([0, 1.0], tangent=[[1.0, 0]], friction=0.5, bilateral=True)
        found = solver(friction_arrays(ContactProblem(np.eye(2), [1.5, press], contacts=[wire])))
        assert found.normal == pytest.approx([-press])
        assert found.tangential[0, 0] == pytest.approx(-1.0)
        assert found.acceleration == pytest.approx([0.5, 0.0], abs=1e-12)


def test_spatial_bilateral_contact_sticks_and_slips_on_both_sides():
    for press, push in ((3.0, 1.0), (-3.0, 1.0), (3.0, 5.0), (-3.0, 5.0)):
        guide = Contact([0, 0, 1.0], tangent=np.eye(3)[:2], friction=0.5, bilateral=True)
        found = solve_one(friction_arrays(ContactProblem(np.eye(3), [push, 0, press], contacts=[guide])))
        assert found.residual < 1e-10
        assert found.acceleration == pytest.approx([max(push - 1.5, 0.0), 0, 0], abs=1e-9)


def test_sliding_bilateral_contact_takes_the_sign_of_its_normal_force():
    # Block in a guide, sliding to the right, pulled up or down: friction opposes the slip with mu |N| both times.
    for press in (2.0, -2.0):
        guide = Contact([0, 1.0], tangent=[[1.0, 0]], friction=0.5, bilateral=True, slip=[0.1])
        arrays = friction_arrays(ContactProblem(np.eye(2), [0.0, press], contacts=[guide]))
        assert arrays.drag is not None
        found = solve_one(arrays)
        assert found.normal == pytest.approx([-press])
        assert found.acceleration == pytest.approx([-1.0, 0.0], abs=1e-12)
        assert found.residual < 1e-12


def test_sliding_bilateral_contact_may_have_two_solutions():
    # One bilateral contact with N and |N| coupled: n A^-1 (n N - mu t |N|) = -q with 1 - 2 < 0: N = -q/(1 -+ 2).
    guide = Contact([1.0, 0.0], tangent=[[0.0, 1.0]], friction=2.0, bilateral=True, slip=[1.0])
    inverse = np.array([[1.0, 1.0], [1.0, 2.0]])
    for load, count in ((1.0, 2), (-1.0, 0)):
        arrays = friction_arrays(ContactProblem(force=np.linalg.solve(inverse, [load, 0.0]), contacts=[guide],
                                                inverse_mass=inverse))  # fmt: skip
        found = solve_many_starts(arrays, seed=0)
        assert len(found) == count
        if count:
            assert sorted(one.normal[0] for one in found) == pytest.approx([-1 / 3, 1.0])


def painleve_rod(friction, spin, slip=-1.0):
    """The uniform rod, m = l = 1 (half length), 60 degrees, J = 1/3, sliding tip."""
    c, s = np.cos(np.radians(60)), np.sin(np.radians(60))
    tip = Contact([0, 1, -c], tangent=[[1, 0, s]], friction=friction, slip=[slip], bias=-s * spin**2)
    return friction_arrays(ContactProblem(np.diag([1, 1, 1 / 3]), [0, -G, 0], contacts=[tip]))


def test_painleve_rod_has_one_or_no_reaction_as_published():
    found = solve_one(painleve_rod(1.2, 0.0))
    c, s = 0.5, np.sqrt(3) / 2
    assert G / (1 + 3 * c * c - 3 * 1.2 * c * s) == pytest.approx(51.3198048696, rel=1e-11)  # gap acceleration = 0
    assert found.normal == pytest.approx([51.3198048696], rel=1e-10)
    none = solve_one(painleve_rod(1.4, 0.0))
    assert none.residual > 1e-3  # a paradox is no solution, and nothing is reported as one


def test_painleve_rod_has_two_reactions_when_it_spins():
    found = solve_many_starts(painleve_rod(1.4, 4.0), seed=2)
    assert [one.normal[0] for one in found] == pytest.approx([58.9396814800, 0.0], rel=1e-9, abs=1e-9)


def test_nothing_to_hold_gives_zero_forces():
    arrays = on_incline(0.3, 0.5)
    lifted = friction_arrays(rows=arrays.source, force=np.array([0.0, 0.0, 1.0]), mass=np.eye(3))
    for solver in SOLVERS:
        assert solver(lifted).normal == pytest.approx([0.0], abs=1e-8)
    still = friction_arrays(rows=arrays.source, force=np.zeros(3), mass=np.eye(3))
    for solver in SOLVERS:
        assert solver(still).residual == 0.0


def test_problem_without_contacts_moves_freely():
    found = solve_one(friction_arrays(ContactProblem(2 * np.eye(2), [1.0, -4.0], contacts=[])))
    assert found.acceleration == pytest.approx([0.5, -2.0])
    assert found.residual == 0.0


def test_interior_points_know_where_they_do_not_fit():
    guide = Contact([0, 0, 1.0], tangent=np.eye(3)[:2], friction=0.5, bilateral=True)
    assert not fits(friction_arrays(ContactProblem(np.eye(3), [1, 0, 1], contacts=[guide])))
    assert not fits(painleve_rod(1.0, 0.0))
    assert fits(cube((1.0, 0.0)))
