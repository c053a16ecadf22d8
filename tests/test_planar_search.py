"""The parts of the planar enumeration, each against another way to compute the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from planar_examples import ladder, painleve
from planar_families import FAMILIES, body, generic
from zwang._numerics.contact.complementarity import lemke, pivoting
from zwang._numerics.contact.convex_pieces import components, maximal
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.enumeration import find_modes, mode_count
from zwang._numerics.contact.mode_newton import newton
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.pieces import make_piece, pieces_of
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.scaled import is_planar, reduce
from zwang._numerics.linear.polyhedra import affine_solution, coordinate_ranges, from_conditions
from zwang._numerics.linear.programs import deepest
from zwang._reactions import reactions_of_problem
from zwang._reactions.one_solution import one_piece, piece_at


def box(*sides):
    """Rows (a, c) with a . x + c >= 0 of the box 0 <= x_i <= side_i."""
    d = len(sides)
    low = np.column_stack([np.eye(d), np.zeros(d)])
    high = np.column_stack([-np.eye(d), np.array(sides, dtype=float)])
    return np.concatenate([low, high])


# --- linear programs ------------------------------------------------------------------------------


def test_deepest_point_agrees_with_highs():
    rng = np.random.default_rng(0)
    outcomes = set()
    for case in range(300):
        m = int(rng.integers(1, 8))
        equations = rng.normal(size=(int(rng.integers(0, m + 1)), m + 1))
        inequalities = rng.normal(size=(int(rng.integers(0, 14)), m + 1))
        if case % 3 == 0:  # ties
            equations, inequalities = np.round(equations), np.round(inequalities)
        found = deepest(equations, inequalities)
        answer = linprog(
            np.append(np.zeros(m), -1),
            A_ub=np.column_stack([-inequalities[:, :-1], np.ones(len(inequalities))]),
            b_ub=inequalities[:, -1],
            A_eq=np.column_stack([equations[:, :-1], np.zeros(len(equations))]) if len(equations) else None,
            b_eq=-equations[:, -1] if len(equations) else None,
            bounds=[(None, None)] * m + [(None, 1)],
        )
        outcomes.add(found is None)
        assert (found is None) == (answer.status != 0)
        if found is not None:
            assert found[1] == pytest.approx(-answer.fun, abs=1e-7)
    assert outcomes == {True, False}


def test_only_weighted_inequalities_need_room():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])  # x >= 0 and x <= 0
    assert deepest(np.zeros((0, 2)), rows)[1] == pytest.approx(0)
    assert deepest(np.zeros((0, 2)), np.array([[1.0, 0.0], [-1.0, 2.0]]), np.array([1.0, 0.0]))[1] == pytest.approx(1)


# --- polyhedra ------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_cube_has_its_vertices(d):
    cube = from_conditions(np.zeros((0, d + 1)), box(*[2.0] * d), 1e-9)
    assert sorted(map(tuple, np.round(cube.vertices, 9) + 0.0)) == sorted(itertools.product((0.0, 2.0), repeat=d))
    assert (len(cube.rays), len(cube.lines), cube.dimension) == (0, 0, d)


def test_vertices_of_random_polytopes_are_those_of_all_bases():
    rng = np.random.default_rng(2)
    for _ in range(40):
        d = int(rng.integers(2, 5))
        rows = np.concatenate([np.column_stack([rng.normal(size=(6, d)), np.ones(6)]), box(*[3.0] * d) + 0.0])
        rows[-2 * d : -d, -1] = 3.0  # the box -3 <= x <= 3
        found = from_conditions(np.zeros((0, d + 1)), rows, 1e-9)
        brute = set()
        for subset in itertools.combinations(range(len(rows)), d):
            part = rows[list(subset)]
            if abs(np.linalg.det(part[:, :-1])) > 1e-9:
                x = np.linalg.solve(part[:, :-1], -part[:, -1])
                if (rows[:, :-1] @ x + rows[:, -1] >= -1e-9).all():
                    brute.add(tuple(np.round(x, 6) + 0.0))
        assert {tuple(np.round(v, 6) + 0.0) for v in found.vertices} == brute


def test_rays_and_lines_of_unbounded_polyhedra():
    quadrant = from_conditions(np.zeros((0, 4)), np.eye(4)[:2], 1e-9)  # x >= 0, y >= 0, z free
    assert (len(quadrant.vertices), len(quadrant.rays), len(quadrant.lines)) == (1, 2, 1)
    assert np.abs(quadrant.lines) == pytest.approx(np.array([[0, 0, 1]]))
    plane = from_conditions(np.array([[1.0, 1.0, 0.0, -1.0]]), np.zeros((0, 4)), 1e-9)
    assert (len(plane.vertices), len(plane.lines), plane.dimension) == (1, 2, 2)
    assert plane.vertices[0] == pytest.approx([0.5, 0.5, 0])  # the point of least norm


def test_flat_polyhedra_have_the_dimension_of_their_hull():
    segment = np.concatenate([box(1.0, 1.0), [[1.0, 1.0, -2.0]]])  # only the corner (1, 1)
    assert from_conditions(np.zeros((0, 3)), segment, 1e-9).dimension == 0
    edge = np.concatenate([box(1.0, 1.0), [[-1.0, 0.0, 0.0]]])
    assert from_conditions(np.zeros((0, 3)), edge, 1e-9).dimension == 1
    assert from_conditions(np.zeros((0, 3)), np.concatenate([box(1.0, 1.0), [[1.0, 1.0, -3.0]]]), 1e-9) is None


def test_too_many_faces_give_a_point_a_dimension_and_ranges_instead_of_vertices():
    d = 40
    cube = from_conditions(np.zeros((0, d + 1)), box(*[2.0] * d), 1e-9)
    assert not cube.whole
    assert cube.dimension == d
    assert cube.holds(cube.point[None, :], 1e-9).all()
    low, high = coordinate_ranges(cube)
    assert low == pytest.approx(np.zeros(d))
    assert high == pytest.approx(np.full(d, 2.0))
    flat = from_conditions(np.zeros((0, d + 1)), np.concatenate([box(*[2.0] * d), -np.eye(1, d + 1)]), 1e-9)
    assert flat.dimension == d - 1


def test_least_norm_solution_and_rank():
    point, basis, residual, gap = affine_solution(np.array([[1.0, 1.0, -2.0], [2.0, 2.0, -4.0]]))
    assert point == pytest.approx([1, 1])
    assert basis.shape == (2, 1)
    assert residual < 1e-14
    assert gap == pytest.approx(1.0)


# --- merging ------------------------------------------------------------------------------


def piece(rows):
    """A polyhedron in the plane as a piece of a problem with two forces that don't change the acceleration."""
    walls = [Contact([0, 0]), Contact([0, 0])]
    problem = reduce(ContactProblem(np.eye(2), [1.0, 0.0], walls))
    return problem, make_piece(problem, from_conditions(np.zeros((0, 3)), np.array(rows, dtype=float), 1e-9), None, "")


def rectangle(x0, x1, y0, y1):
    return [[1, 0, -x0], [-1, 0, x1], [0, 1, -y0], [0, -1, y1]]


def merged(*rows):
    made = [piece(each) for each in rows]
    found = maximal(made[0][0], [each[1] for each in made], 1e-9)
    return found, components(found)


def test_rectangles_that_make_a_rectangle_are_one_piece():
    found, numbers = merged(rectangle(0, 1, 0, 1), rectangle(1, 3, 0, 1))
    assert len(found) == 1
    assert numbers == [0]
    assert sorted(map(tuple, np.round(found[0].polyhedron.vertices, 9) + 0.0)) == [(0, 0), (0, 1), (3, 0), (3, 1)]


def test_four_quadrants_of_a_square_are_one_piece():
    parts = [rectangle(i, i + 1, j, j + 1) for i in (0, 1) for j in (0, 1)]
    assert len(merged(*parts)[0]) == 1


def test_an_l_shape_is_two_overlapping_rectangles_in_any_order():
    parts = [rectangle(0, 1, 0, 1), rectangle(1, 2, 0, 1), rectangle(0, 1, 1, 2)]
    for order in itertools.permutations(parts):
        found, numbers = merged(*order)
        assert len(found) == 2
        assert numbers == [0, 0]
        assert all(len(each.polyhedron.vertices) == 4 for each in found)


def test_pieces_that_touch_in_a_point_stay_apart_in_one_component():
    found, numbers = merged(rectangle(0, 1, 0, 1), rectangle(1, 2, 1, 2), rectangle(5, 6, 0, 1))
    assert len(found) == 3
    assert numbers == [0, 0, 1]


def test_pieces_that_cross_without_a_common_vertex_are_one_component():
    found, numbers = merged(rectangle(-3, 3, -1, 1), rectangle(-1, 1, -3, 3))
    assert len(found) == 2
    assert numbers == [0, 0]


def test_a_piece_inside_another_is_dropped():
    found, _ = merged(rectangle(1, 2, 1, 2), rectangle(0, 3, 0, 3))
    assert len(found) == 1
    assert np.abs(found[0].polyhedron.vertices).max() == pytest.approx(3)


# --- the search ------------------------------------------------------------------------------


def test_search_finds_the_modes_of_the_painleve_rod():
    outcome = find_modes(reduce(painleve(1.4, 60, spin=4.0)))
    assert outcome.finished
    assert sorted(map(tuple, outcome.leaves)) == [(0,), (1,)]
    assert find_modes(reduce(painleve(1.4, 60))).leaves.shape == (0, 1)


def test_search_is_cut_into_chunks_and_reports():
    rng = np.random.default_rng(1)
    contacts = [Contact(rng.normal(size=26), tangent=rng.normal(size=26), friction=0.7) for _ in range(13)]
    problem = reduce(ContactProblem(np.eye(26), rng.normal(size=26), contacts))
    seen: list[int] = []
    whole = find_modes(problem, report=seen.append)
    assert whole.finished
    assert seen == sorted(seen)
    cut = find_modes(problem, budget=whole.nodes // 2)
    assert not cut.finished
    assert cut.nodes == whole.nodes // 2


def test_mode_count_is_the_product_of_the_contacts_modes():
    contacts = [
        Contact([1, 0], tangent=[0, 1], friction=1),
        Contact([1, 0], tangent=[0, 1], friction=1, slip=1.0),
        Contact([1, 0]),
        Contact([1, 0], bilateral=True),
        Contact([1, 0], tangent=[0, 1], friction=1, bilateral=True),
        Contact([1, 0], tangent=[0, 1], friction=1, bilateral=True, slip=1.0),
        Contact([1, 0], tangent=[0, 1], friction=1, normal_force=2.0),
        Contact([1, 0], tangent=[0, 1], friction=1, normal_force=2.0, slip=1.0),
    ]
    problem = reduce(ContactProblem(np.eye(2), [0, 0], contacts))
    assert [len(table.modes) for table in problem.tables] == [4, 2, 2, 1, 6, 2, 3, 1]
    assert mode_count(problem) == 4 * 2 * 2 * 6 * 2 * 3
    assert problem.laws[-1] is Law.KNOWN


def test_reduced_problem_has_unit_rows_and_gives_forces_back():
    problem = ladder(120, 0.8, 0.4, (0.5, -1, 1))
    reduced = reduce(problem)
    assert np.diag(reduced.gram) == pytest.approx(np.ones(4))
    z = np.array([0.3, -0.1, 0.2, 0.4])
    normal, tangential = reduced.forces(z)
    assert reduced.scaled(normal, tangential) == pytest.approx(z)
    force = problem.force + sum(
        normal[j] * c.normal + tangential[j, :1] @ c.tangent for j, c in enumerate(problem.contacts)
    )
    assert problem.mass @ reduced.acceleration(z) == pytest.approx(force)


def test_friction_in_a_plane_is_planar_once_it_slides():
    tangent = np.eye(3)[:2]
    assert not is_planar(ContactProblem(np.eye(3), np.zeros(3), [Contact([0, 0, 1], tangent=tangent, friction=1)]))
    sliding = Contact([0, 0, 1], tangent=tangent, friction=0.5, slip=[3.0, 4.0])
    problem = ContactProblem(np.eye(3), [0, 0, -1.0], [sliding])
    assert is_planar(problem)
    found = reactions_of_problem(problem)
    assert found.solutions[0].tangential[0] == pytest.approx([-0.3, -0.4])
    assert found.solutions[0].modes == ("slip",)


# --- one solution ------------------------------------------------------------------------------


def test_lemke_solves_copositive_problems():
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(1, 12))
        root = rng.normal(size=(n, n))
        matrix, constant = root @ root.T + rng.random((n, n)) * 0.1, rng.normal(size=n)
        z = lemke(matrix, constant)
        w = matrix @ z + constant
        assert z.min() >= -1e-9
        assert w.min() >= -1e-8
        assert abs(z @ w) < 1e-7


def test_lemke_ends_on_a_ray_where_there_is_no_solution():
    assert lemke(np.array([[-1.0]]), np.array([-1.0])) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_lemke_s_solution_is_one_of_those_enumerated(family):
    rng = np.random.default_rng(11)
    solved = 0
    for _ in range(15):
        problem = FAMILIES[family](rng)
        reduced = reduce(problem)
        proposed = pivoting(friction_arrays(problem))
        if not proposed.residual < 1e-7:
            continue
        solved += 1
        found = piece_at(reduced, reduced.scaled(proposed.normal, proposed.tangential), 1e-9)
        every = maximal(reduced, pieces_of(reduced, find_modes(reduced), 1e-9), 1e-9)
        assert any(each.polyhedron.holds(found.polyhedron.point[None, :], 1e-7).all() for each in every)
    assert solved


def test_newton_finds_solutions_with_bilateral_friction():
    rng = np.random.default_rng(21)
    for _ in range(30):
        problem = generic(rng, rest=0.7, bilateral=0.8)
        reduced = reduce(problem)
        every = pieces_of(reduced, find_modes(reduced), 1e-9)
        z = newton(reduced)
        if z is None:
            continue
        assert any(each.polyhedron.holds(z[None, :], 1e-6).all() for each in every)


def test_one_piece_is_found_with_and_without_bilateral_friction():
    rng = np.random.default_rng(4)
    for bilateral in (0.0, 1.0):
        problems = [generic(rng, rest=1.0, bilateral=bilateral) for _ in range(20)]
        assert sum(one_piece(problem, reduce(problem), 1e-9) is not None for problem in problems) >= 19
    for _ in range(30):
        problem = body(rng)
        found = one_piece(problem, reduce(problem), 1e-9)
        # With zero biases the problem is copositive, and Lemke's method must end at a solution.
        still = not any(contact.bias for contact in problem.contacts)
        assert found is not None or not still
        assert found is None or reactions_of_problem(problem).solutions
