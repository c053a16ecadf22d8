"""The array form of contacts, one contact's law, the factorization and the pivoting, each against plain algebra."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from zwang._numerics.contact.candidate import candidate_of, contact_errors, natural_residual
from zwang._numerics.contact.choose import prepare, solve_one
from zwang._numerics.contact.complementarity import complementarity_problem, lemke, pivoting
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.interior_point import cone_plan
from zwang._numerics.contact.inverse_mass import inverse_of
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.sweeps import gauss_seidel, sweep_tables
from zwang._numerics.linear import quasidefinite
from zwang.errors import DeclarationError


def positive(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.5 * np.eye(n)


def every_kind(rng, n=7):
    """One contact of every kind, with random rows."""
    rows = rng.normal(size=(30, n))
    return [
        Contact(rows[0], tangent=rows[1:3], friction=0.5, bias=0.1, tangent_bias=[0.2, 0.3]),
        Contact(rows[3], tangent=rows[4:5], friction=0.4),
        Contact(rows[6]),
        Contact(rows[7], bilateral=True, bias=0.2),
        Contact(rows[8], tangent=rows[9:10], friction=0.3, bilateral=True),
        Contact(rows[10], tangent=rows[11:13], friction=0.6, slip=[3.0, -4.0]),
        Contact(rows[13], tangent=rows[14:15], friction=0.7, slip=[-2.0], bilateral=True),
        Contact(rows[15], tangent=rows[16:18], friction=0.5, normal_force=-1.5),
        Contact(None, tangent=rows[18:19], friction=1.0, normal_force=0.8),
        Contact(rows[19], tangent=rows[20:21], friction=0.5, normal_force=2.0, slip=[1.0]),
        Contact(rows[22], tangent=rows[23:25], friction=0.0),
    ]


def test_layout_keeps_only_unknown_forces():
    rng = np.random.default_rng(1)
    arrays = friction_arrays(ContactProblem(positive(rng, 7), rng.normal(size=7), contacts=every_kind(rng)))
    assert arrays.layout[:, 1].tolist() == [3, 2, 1, 1, 2, 1, 1, 2, 1, 0, 1]
    assert arrays.layout[:, 2].tolist() == [UNILATERAL] * 3 + [BILATERAL] * 2 + [UNILATERAL, BILATERAL] + [
        BOUND
    ] * 3 + [UNILATERAL]
    assert arrays.coulomb.tolist() == [True, True, False, False, True] + [False] * 6
    assert not arrays.symmetric
    assert not arrays.planar


@pytest.mark.parametrize("as_sparse", [False, True])
def test_accelerations_follow_from_the_equation_of_motion(as_sparse):
    rng = np.random.default_rng(2)
    mass, force, contacts = positive(rng, 7), rng.normal(size=7), every_kind(rng)
    problem = ContactProblem(sparse.csr_array(mass) if as_sparse else mass, force, contacts=contacts)
    arrays = friction_arrays(problem)
    r = rng.normal(size=arrays.size)
    r[arrays.layout[arrays.layout[:, 2] == UNILATERAL, 0]] += 10.0  # their columns are folded for N >= 0
    normal, tangential = arrays.split(r)
    load = force.copy()
    for contact, push, rub in zip(contacts, normal, tangential, strict=True):
        if contact.normal is not None:
            load += push * contact.normal
        load += contact.tangent.T @ rub[: len(contact.tangent)]
    assert arrays.acceleration(r) == pytest.approx(np.linalg.solve(mass, load))
    assert arrays.stack(normal, tangential) == pytest.approx(r)
    # sliding contacts: T = -mu |N| s / |s|
    assert tangential[5] == pytest.approx(-0.6 * abs(normal[5]) * np.array([0.6, -0.8]))
    assert tangential[6, 0] == pytest.approx(0.7 * abs(normal[6]))
    assert normal[7:10] == pytest.approx([-1.5, 0.8, 2.0])
    assert tangential[9, 0] == pytest.approx(-1.0)


def test_relative_acceleration_is_affine_in_the_forces_once_signs_are_assumed():
    rng = np.random.default_rng(3)
    arrays = friction_arrays(ContactProblem(positive(rng, 7), rng.normal(size=7), contacts=every_kind(rng)))
    r = rng.normal(size=arrays.size)
    folded = arrays.with_signs(np.where(r < 0, -1.0, 1.0))
    assert folded.drag is None
    assert folded.delassus @ r + folded.b == pytest.approx(arrays.relative(r))


def test_slip_below_the_tolerance_is_rest():
    contact = Contact([0, 1.0], tangent=[[1.0, 0]], friction=0.5, slip=[1e-12])
    problem = ContactProblem(np.eye(2), [1.0, -1.0], contacts=[contact])
    assert friction_arrays(problem).size == 1
    assert friction_arrays(problem, slip_tol=1e-9).size == 2


@pytest.mark.parametrize("blocks", [[3, 3, 1], [6, 2, 2, 5, 1, 1], [1, 1, 1]])
def test_block_diagonal_mass_has_a_sparse_inverse(blocks):
    rng = np.random.default_rng(4)
    mass = sparse.block_diag([positive(rng, s) for s in blocks], format="csr")
    order = rng.permutation(mass.shape[0])
    mass = mass[order][:, order]
    inverse = inverse_of(mass, None)
    assert inverse.matrix.nnz == sum(s * s for s in blocks)
    assert inverse.matrix.toarray() == pytest.approx(np.linalg.inv(mass.toarray()))
    x = rng.normal(size=mass.shape[0])
    assert inverse.apply(x) == pytest.approx(np.linalg.solve(mass.toarray(), x))


def test_mass_that_is_not_positive_definite_is_refused():
    with pytest.raises(DeclarationError, match="not positive definite: its Cholesky factorization fails"):
        inverse_of(np.diag([1.0, -1.0]), None)


def test_arrays_need_a_problem_or_rows():
    with pytest.raises(TypeError, match="needs a ContactProblem, or rows and force"):
        friction_arrays()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["unilateral", "bilateral", "prescribed"])
@pytest.mark.parametrize("p", [0, 1, 2])
def test_one_sweep_solves_one_contact_exactly(kind, p, seed):
    if kind == "prescribed" and p == 0:
        return
    rng = np.random.default_rng(100 * seed + p)
    given = {"bilateral": kind == "bilateral"}
    if kind == "prescribed":
        given["normal_force"] = rng.uniform(0.1, 2)
    contact = Contact(rng.normal(size=4), tangent=rng.normal(size=(p, 4)), friction=0.6 if p else 0.0, **given)
    arrays = friction_arrays(ContactProblem(positive(rng, 4), 3 * rng.normal(size=4), contacts=[contact]))
    found = gauss_seidel(arrays, tol=1e-12, limit=1)
    assert found.residual < 1e-12


def test_contact_that_cannot_move_sideways_takes_no_friction_force():
    # The second tangent is the zero row: nothing moves along it, and its force stays zero.
    contact = Contact([0, 1.0], tangent=[[1.0, 0], [0, 0]], friction=0.5)
    found = gauss_seidel(friction_arrays(ContactProblem(np.eye(2), [3.0, -2.0], contacts=[contact])))
    assert found.forces == pytest.approx([2.0, -1.0, 0.0])


@pytest.mark.parametrize(
    ("r", "u", "error"),
    [  # unit mass and friction 1/2: natural map by hand
        ((1.0, 0.0), (0.0, 0.0), 0.0),
        ((1.0, -0.5), (0.0, 2.0), 0.0),  # slips to the right
        ((1.0, 0.5), (0.0, 2.0), 1.0),  # friction along the slip
        ((-0.25, 0.0), (0.0, 0.0), 0.25),  # pulls
        ((1.0, 0.0), (-0.125, 0.0), 0.125),  # penetrates
        ((0.0, 0.0), (1.0, 5.0), 0.0),  # open
        ((1.0, 0.75), (0.0, 0.0), 0.25),  # outside the cone
    ],
)
def test_distance_from_the_law_of_one_contact(r, u, error):
    contact = Contact([0, 1.0], tangent=[[1.0, 0]], friction=0.5)
    arrays = friction_arrays(ContactProblem(np.eye(2), [1.0, -1.0], contacts=[contact]))
    assert contact_errors(arrays, np.array(r), np.array(u))[0] == pytest.approx(error)


def test_forces_that_are_not_numbers_have_an_infinite_residual():
    contact = Contact([0, 1.0], tangent=[[1.0, 0]], friction=0.5)
    arrays = friction_arrays(ContactProblem(np.eye(2), [1.0, -1.0], contacts=[contact]))
    assert natural_residual(arrays, np.array([np.nan, 0.0])) == np.inf
    assert candidate_of(arrays, np.array([1.0, -0.5]), "hand").residual == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_sparse_and_dense_sweeps_take_the_same_path(seed):
    rng = np.random.default_rng(seed)
    rows = sparse.random_array((24, 30), density=0.15, rng=rng, format="csr") + sparse.eye_array(24, 30)
    contacts = [
        Contact(rows[[3 * j]].tocsr(), tangent=rows[[3 * j + 1, 3 * j + 2]].tocsr(), friction=0.5) for j in range(8)
    ]
    mass = sparse.diags_array(rng.uniform(0.5, 2, 30), format="csr")
    force = rng.normal(size=30) * 3
    arrays = friction_arrays(rows=ContactProblem(mass, force, contacts=contacts).rows, force=force, mass=mass)
    found = [gauss_seidel(arrays, limit=3, tables=sweep_tables(arrays, dense=dense)).forces for dense in (True, False)]
    assert found[0] == pytest.approx(found[1], abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_factorization_of_a_quasidefinite_matrix_solves_it(seed):
    rng = np.random.default_rng(seed)
    n, m = 12, 9
    a = sparse.csr_array(np.diag(rng.uniform(1, 2, n)))
    h = sparse.random_array((m, n), density=0.3, rng=rng, format="csr")
    k = sparse.block_array([[-a, h.T], [h, sparse.eye_array(m)]]).tocoo()
    lower = k.row >= k.col
    rows, cols = k.row[lower].astype(np.int64), k.col[lower].astype(np.int64)
    order = quasidefinite.minimum_degree(n + m, rows, cols) if seed % 2 else rng.permutation(n + m)
    analysis = quasidefinite.analyse(n + m, rows, cols, order)
    value = np.zeros(len(analysis.row))
    np.add.at(value, analysis.place, k.data[lower])
    low, pivot, fill = np.zeros(len(analysis.l_row)), np.zeros(n + m), np.zeros(n + m, np.uint32)
    factor = quasidefinite.LowerFactor(low, pivot, np.zeros(n + m), fill)
    sign = np.where(order < n, -1.0, 1.0)
    changed = quasidefinite.factor_into.compiled(analysis, value, sign, 1e-14, factor)
    assert changed == 0
    assert (np.sign(pivot) == sign).all()
    b = rng.normal(size=n + m)
    x = b[order]
    quasidefinite.substitute.compiled(analysis, factor, x)
    solution = np.empty(n + m)
    solution[order] = x
    assert k.toarray() @ solution == pytest.approx(b, abs=1e-10)


def complementary(m, q):
    """All solutions of a linear complementarity problem by trying every set of positive z."""
    n, found = len(q), []
    for pattern in itertools.product((False, True), repeat=n):
        chosen = np.array(pattern)
        z = np.zeros(n)
        if chosen.any():
            try:
                z[chosen] = np.linalg.solve(m[np.ix_(chosen, chosen)], -q[chosen])
            except np.linalg.LinAlgError:
                continue
        if (z >= -1e-12).all() and (m @ z + q >= -1e-9).all():
            found.append(z)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_pivoting_finds_a_solution_of_positive_definite_and_copositive_problems(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 4 if seed % 2 else 6))
    skew = rng.normal(size=(6, 6))
    m = root @ root.T + (skew - skew.T) + (0.0 if seed % 2 else 0.1) * np.eye(6)
    q = rng.normal(size=6)
    z = lemke(m, q, most=1000)
    every = complementary(m, q)
    assert (z is not None) == bool(every)
    if every:
        assert min(np.abs(z - one).max() for one in every) < 1e-8


def test_pivoting_ends_in_a_ray_where_there_is_no_solution():
    assert lemke(np.array([[-1.0]]), np.array([-1.0])) is None


def test_pivoting_does_not_cycle_on_ties():
    # Many equal ratios: identical contacts under one load.
    m, q = np.ones((8, 8)) + 1e-3 * np.eye(8), -np.ones(8)
    z = lemke(m, q)
    assert m @ z + q == pytest.approx(np.zeros(8), abs=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_pivoting_is_right_when_friction_coefficients_differ(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(10, 8))
    friction = 10.0 ** rng.uniform(-2, 0.5, 5)
    contacts = [Contact(rows[2 * j], tangent=rows[2 * j + 1], friction=friction[j]) for j in range(5)]
    arrays = friction_arrays(ContactProblem(positive(rng, 8), 5 * rng.normal(size=8), contacts=contacts))
    assert pivoting(arrays).residual < 1e-9
    m, q, _, _ = complementarity_problem(arrays)
    assert m.shape == (20, 20)
    assert len(q) == 20


@pytest.mark.parametrize("seed", range(10))
def test_pivoting_handles_bilateral_and_given_bounds_together(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(10, 8))
    contacts = [
        Contact(rows[0], tangent=rows[1], friction=0.3, bilateral=True),
        Contact(rows[2], bilateral=True, bias=0.3),
        Contact(None, tangent=rows[3], friction=1.0, normal_force=0.5),
        Contact(rows[4], tangent=rows[5], friction=0.4),
        Contact(rows[6], tangent=rows[7], friction=0.2, slip=[1.0]),
    ]
    arrays = friction_arrays(ContactProblem(positive(rng, 8), 5 * rng.normal(size=8), contacts=contacts))
    assert pivoting(arrays).residual < 1e-9


def test_factorization_that_would_not_fit_is_refused_and_sweeps_go_on(monkeypatch):
    monkeypatch.setattr(quasidefinite, "_MOST_FILL", 2)
    rng = np.random.default_rng(0)
    contacts = [Contact(row) for row in rng.normal(size=(4, 6))]
    arrays = friction_arrays(ContactProblem(np.eye(6), rng.normal(size=6), contacts=contacts))
    with pytest.raises(quasidefinite.FillError, match="Sweeps need no factorization"):
        cone_plan(arrays)
    assert prepare(arrays).plan is None
    assert solve_one(arrays).residual < 1e-8
    assert gauss_projection(arrays).residual < 1e-9


def test_importing_the_solvers_loads_neither_scipy_nor_numba_nor_clarabel():
    code = (
        "import sys, zwang._numerics.contact.choose; "
        "print([m for m in ('scipy', 'numba', 'clarabel') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
