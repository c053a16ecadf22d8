"""Ties between modes: what is true of the given doubles, told by brute force over the rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import zwang as zw
from planar_families import FAMILIES, integers
from zwang import Contact, ContactProblem
from zwang._numerics.contact.exact.integer_dictionary import Dictionary
from zwang._numerics.contact.exact.rational import fractions, rational
from zwang._numerics.contact.exact.rational_polyhedra import feasible, meet, polyhedron, union
from zwang._numerics.contact.scaled import reduce
from zwang._selftest.brute_force import truth_of
from zwang._selftest.planar_problems import beside, disagreement, draw


@pytest.mark.parametrize("index", range(4))
def test_ties_and_what_lies_beside_them_are_decided_as_brute_force_decides_them(index):
    # 4 x 60 problems with integers and quarters; half of them 2**-28 to 2**-52 beside a tie
    for number in range(60 * index, 60 * (index + 1)):
        problem = draw(np.random.default_rng([11, number]))
        assert disagreement(problem) == "", number


@pytest.mark.nightly
def test_ties_of_five_thousand_problems_are_decided_as_brute_force_decides_them():
    print("seeds [12, 0] to [12, 4999]: 5000 problems")
    for number in range(5_000):
        assert disagreement(draw(np.random.default_rng([12, number]))) == "", number


@pytest.mark.parametrize("family", ["small integers", "small integers unilateral"])
def test_small_integers_are_complete_and_nothing_is_marginal(family):
    for seed in range(40):
        rng = np.random.default_rng([13, seed])
        problem = beside(FAMILIES[family](rng), rng) if seed % 2 else FAMILIES[family](rng)
        found, true = zw.reactions(problem, certify=False), truth_of(problem)
        assert (found.status.name, found.complete, found.marginal) == (true.status, True, ()), seed


@pytest.mark.parametrize("power", [30, 38, 45, 50])
@pytest.mark.parametrize("side", [-1, 0, 1])
def test_a_rod_beside_the_paradox_has_none_one_or_a_ray_of_solutions(power, side):
    # one sliding contact: N (a - mu b) + c = gap acceleration with a = b = 1 and c = -1. Below mu = 1 one solution,
    # N = 1/(1 - mu); from mu = 1 on none: N (1 - mu) - 1 < 0 whatever N >= 0 is.
    mu = 1.0 + side * 2.0**-power
    mass = np.array([[1.0, 0.0], [0.0, 1.0]])
    rod = Contact([1.0, 0.0], tangent=[1.0, 0.0], friction=mu, bias=1.0, slip=1.0)
    found = zw.reactions(ContactProblem(mass, [0.0, 0.0], [rod]))
    assert found.complete
    if side < 0:
        assert found.status.name == "UNIQUE"
        assert found.solutions[0].normal[0] == pytest.approx(2.0**power, rel=1e-14)
    else:
        assert found.status.name == "NONE"


@pytest.mark.parametrize("power", [20, 34, 52])
def test_a_push_at_the_edge_of_the_cone_sticks_and_beyond_it_slips(power):
    # unit weight on a floor, mu = 1/2: 0.5 is the most that sticks
    floor = Contact([0, 1], tangent=[1, 0], friction=0.5, name="floor")
    modes = []
    for push in (0.5 - 2.0**-power, 0.5, 0.5 + 2.0**-power):
        found = zw.reactions(ContactProblem(np.eye(2), [push, -1.0], [floor]))
        assert (found.status.name, found.complete) == ("UNIQUE", True)
        modes.append(found.solutions[0].modes["floor"])
    assert modes == ["stick", "stick", "slip+"]


def test_a_ray_of_forces_at_a_tie_is_gone_beside_it():
    # a sliding contact with N (1 - mu) = gap acceleration - force, mu = 1: every N at force 0, none but 0 above it
    contact = Contact([1.0, 0.0], tangent=[1.0, 0.0], friction=1.0, slip=1.0)
    tie = zw.reactions(ContactProblem(np.eye(2), [0.0, 1.0], [contact]))
    assert (tie.status.name, tie.solutions[0].dimension) == ("UNIQUE_MOTION", 1)  # every N >= 0
    open_too = zw.reactions(ContactProblem(np.eye(2), [2.0**-48, 1.0], [contact]))
    assert (open_too.status.name, open_too.solutions[0].modes[0]) == ("UNIQUE", "open")


def test_rows_that_are_dependent_up_to_rounding_only_can_be_read_so():
    # 0.1 + 0.2 is not 0.3 in doubles: the third row is beside the sum of the others
    rows = [[0.1, 1.0, 0.0], [0.2, 0.0, 1.0], [0.3, 1.0, 1.0]]
    contacts = [Contact(row, bilateral=True) for row in rows]
    problem = ContactProblem(np.eye(3), [1.0, 2.0, 3.0], contacts)
    assert zw.reactions(problem).status.name == "UNIQUE"
    assert zw.reactions(problem, exact=False).status.name == "UNIQUE_MOTION"


def test_a_tie_of_a_system_stays_marginal():
    # the same push at the edge of the cone, but from a state: 1e-10 beside the tie is not decided
    (x, y), (vx, vy) = zw.coordinates("x y")
    block = zw.System(
        name="block",
        kinetic=(vx**2 + vy**2) / 2,
        potential=y,
        forces={x: zw.parameters("F")},
        constraints=[zw.Unilateral(y, friction=zw.Coulomb(0.5, slip=vx), restitution=0, name="floor")],
    )
    state = {"x": 0.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}
    found = zw.reactions(block, state, {"F": 0.5 + 1e-10})
    assert not found.complete
    assert found.marginal


def test_a_slip_whose_length_is_a_root_keeps_the_tolerance():
    # direction (1, 1)/sqrt(2) is no fraction; (3, 4)/5 is one
    for slip, known in (([1.0, 1.0], False), ([3.0, 4.0], True)):
        contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.5, slip=slip)
        problem = ContactProblem(np.eye(3), [0.0, 0.0, -1.0], [contact])
        assert (rational(problem, reduce(problem), slip_tol=0.0) is not None) is known
        assert zw.reactions(problem).status.name == "UNIQUE"


def test_exact_arrays_are_the_doubles_themselves():
    problem = integers(np.random.default_rng(3))
    exact = rational(problem, reduce(problem), slip_tol=0.0)
    rows = np.array([c.normal for c in problem.contacts])
    gram = np.array([[Fraction(int(x.p), int(x.q)) for x in row] for row in exact.gram])
    normal = exact.normal
    assert (gram[np.ix_(normal, normal)] == (rows @ rows.T).astype(int)).all()  # unit masses


def test_pivots_over_the_integers_agree_with_fractions():
    # x2 = 3 + 2 x0 - x1, x3 = -1 + x0 + 5 x1: exchange x2 and x0, then x3 and x1
    tab = Dictionary([[3, 2, -1], [-1, 1, 5]], [2, 3], [0, 1], set())
    tab.exchange(0, 1)
    assert [Fraction(x, tab.denominator) for x in tab.tab[0]] == [Fraction(-3, 2), Fraction(1, 2), Fraction(1, 2)]
    tab.exchange(1, 2)
    values = {v: Fraction(row[0], tab.denominator) for v, row in zip(tab.basic, tab.tab, strict=True)}
    assert 3 + 2 * values[0] - values[1] == 0
    assert -1 + values[0] + 5 * values[1] == 0


def test_polyhedra_over_the_rationals():
    def rows(*values):
        return [tuple(row) for row in fractions(np.array(values, dtype=float))]

    square = polyhedron([], rows([1, 0, 0], [0, 1, 0], [-1, 0, 1], [0, -1, 1]), 2)
    beside_it = polyhedron([], rows([1, 0, -1], [0, 1, 0], [-1, 0, 2], [0, -1, 1]), 2)
    higher = polyhedron([], rows([1, 0, -1], [0, 1, -0.5], [-1, 0, 2], [0, -1, 1]), 2)
    assert sorted((float(a), float(b)) for a, b in square.vertices) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    both = union(square, beside_it)
    assert both is not None
    assert both.includes(square) and both.includes(beside_it)
    assert union(square, higher) is None
    assert meet(square, beside_it)
    quadrant = polyhedron([], rows([1, 0, 0], [0, 1, 0]), 2)
    assert (quadrant.dimension, len(quadrant.rays), len(quadrant.vertices)) == (2, 2, 1)
    strip = polyhedron([], rows([1, 0, 0], [-1, 0, 1]), 2)
    assert (len(strip.lines), strip.dimension) == (1, 2)
    assert polyhedron(rows([1, 0, 0]), rows([1, 0, -1]), 2) is None
    assert feasible(rows([1, 0, 0]), rows([-1, 0, 1e-300]), 2)
    assert not feasible(rows([1, 0, 0]), rows([-1, 0, 0]), 2)


@pytest.mark.parametrize("side", [-1, 0, 1])
def test_a_tie_without_inertia_is_decided_of_the_given_numbers(side):
    # a massless coordinate y held by y'' = x''/3 (a row of thirds, so that what makes up for its inertia is rounded);
    # unit mass x pushed with 1, against a floor x'' <= 1 + side 2**-45: the floor carries the excess, 0 at the tie
    held = Contact([-1.0 / 3.0, 1.0], bilateral=True, name="held")
    floor = Contact([-1.0, 0.0], bias=-1.0 - side * 2.0**-45, name="floor")
    found = zw.reactions(ContactProblem(np.diag([1.0, 0.0]), [1.0, 0.0], [held, floor]))
    assert (found.status.name, found.complete) == ("UNIQUE", True)
    assert found.solutions[0].modes["floor"] == ("open" if side > 0 else "closed")
    assert found.solutions[0].normal[1] == pytest.approx(max(-side, 0) * 2.0**-45, abs=1e-25)


@pytest.mark.parametrize("small", [2.0**-7, 2.0**-47, 2.0**-60])
def test_a_force_on_a_row_that_is_hardly_there_is_unbounded_like_any_other(small: float) -> None:
    # The bilateral contact holds everything still: the second one may press and rub as it likes within its cone.
    held = zw.Contact(normal=[1.0], bilateral=True)
    rubbing = zw.Contact(normal=[-small], tangent=[[-1.0]], friction=1.0)
    found = zw.reactions(zw.ContactProblem([[1.0]], [-1.0], [held, rubbing]))
    assert (found.status.name, found.complete) == ("UNIQUE_MOTION", True)
    (solution,) = found.solutions
    assert solution.ranges.normal.tolist() == [[-np.inf, np.inf], [0.0, np.inf]]
    assert solution.ranges.tangential[1].tolist() == [-np.inf, np.inf]
