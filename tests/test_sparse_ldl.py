"""The sparse LDL^T agrees with dense solves, keeps its signs, and says when constraints depend on each other."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import zwang._numerics
from zwang._numerics.jit import load_generated
from zwang._numerics.linear.sparse_ldl import SparsePattern, analyse, ldl_factor, ldl_solve
from zwang._numerics.linear.sparse_ldl.ordering import eliminate
from zwang.errors import CompileError

Bars = list[tuple[int, int]]


@dataclass
class Case:
    """A matrix K by its entries, with values."""

    n: int
    m: int
    mass: np.ndarray  # (k, 2), one triangle
    jac: np.ndarray  # (k, 2)
    mass_values: np.ndarray
    jac_values: np.ndarray

    def matrix(self) -> np.ndarray:
        K = np.zeros((self.n + self.m, self.n + self.m))
        for (i, j), value in zip(self.mass, self.mass_values, strict=True):
            K[i, j] += value
            if i != j:
                K[j, i] += value
        for (c, i), value in zip(self.jac, self.jac_values, strict=True):
            K[self.n + c, i] += value
            K[i, self.n + c] += value
        return K

    def pattern(self) -> SparsePattern:
        return analyse(self.n, self.m, *self.mass.T, *self.jac.T)


def mechanism(points: int, bars: Bars, *, rods: bool = False, dimension: int = 2, seed: int = 0) -> Case:
    """Points joined by bars (-1: the ground), with random masses and directions; rods couple their ends in M."""
    rng = np.random.default_rng(seed)
    n = dimension * points
    mass, mass_values = [(i, i) for i in range(n)], list(rng.uniform(0.5, 2.0, n))
    jac = [(c, dimension * p + k) for c, bar in enumerate(bars) for p in bar if p >= 0 for k in range(dimension)]
    for a, b in bars if rods else []:
        rod = rng.uniform(1.0, 3.0)  # of a uniform rod: mass / 6 * [[2, 1], [1, 2]]
        for k in range(dimension):
            for p in (a, b):
                if p >= 0:
                    mass.append((dimension * p + k, dimension * p + k))
                    mass_values.append(rod / 3)
            if a >= 0 and b >= 0:
                mass.append((dimension * b + k, dimension * a + k))
                mass_values.append(rod / 6)
    return Case(
        n,
        len(bars),
        np.array(mass),
        np.array(jac, int).reshape(-1, 2),
        np.array(mass_values),
        rng.normal(size=len(jac)),
    )


def chain(count: int) -> tuple[int, Bars]:
    return count, [(i - 1, i) for i in range(count)]


def ring(count: int) -> tuple[int, Bars]:
    return count, [(i, (i + 1) % count) for i in range(count)]


def tree(count: int, seed: int) -> tuple[int, Bars]:
    rng = np.random.default_rng(seed)
    return count, [(int(rng.integers(-1, i)) if i else -1, i) for i in range(count)]


def net(side: int) -> tuple[int, Bars]:
    across = [(i * side + j, i * side + j + 1) for i in range(side) for j in range(side - 1)]
    return side * side, across + [(i * side + j, (i + 1) * side + j) for i in range(side - 1) for j in range(side)]


def random_case(seed: int) -> Case:
    """No mechanism, but any sparsity: blocks in M, constraints on any coordinates, entries given more than once."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    m = int(rng.integers(0, n + 1))
    pairs = {(i, i) for i in range(n)} | {tuple(sorted(rng.integers(0, n, 2))) for _ in range(int(rng.integers(0, n)))}
    mass = np.array(sorted(pairs))
    values = np.where(mass[:, 0] == mass[:, 1], 1.0, 0.0)
    off = mass[:, 0] != mass[:, 1]
    values[off] = rng.normal(size=off.sum())
    for (i, j), value in zip(mass[off], values[off], strict=True):  # diagonally dominant, so positive definite
        for k in (i, j):
            values[np.flatnonzero((mass == k).all(axis=1))] += abs(value)
    # A diagonal of distinct coordinates, and anything beside it: of full rank for almost all values.
    order = rng.permutation(n)[:m]
    jac = np.array([(c, order[c]) for c in range(m)] + [(c, i) for c in range(m) for i in rng.integers(0, n, 2)], int)
    jac = jac.reshape(-1, 2)
    again = rng.integers(0, len(mass), 5)
    mass, values = np.concatenate([mass, mass[again][:, ::-1]]), np.concatenate([values, np.zeros(5)])
    return Case(n, m, mass, jac, values, rng.normal(size=len(jac)))


def solve(case: Case, b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    pattern = case.pattern()
    workspace = np.full(pattern.workspace_size, np.nan)  # whatever was there must not matter
    ratio = ldl_factor(pattern.table, case.mass_values, case.jac_values, workspace)
    x = b.copy()
    ldl_solve(pattern.table, workspace, x)
    return ratio, x, workspace


def backward_error(K: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(K @ x - b).max() / (np.abs(K).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()))


CASES = {
    "one free point": mechanism(1, []),
    "pendulum": mechanism(1, [(-1, 0)]),
    "chain": mechanism(*chain(40)),
    "chain in space": mechanism(*chain(30), dimension=3),
    "points on lines": mechanism(*chain(25), dimension=1),
    "ring": mechanism(*ring(31)),
    "tree": mechanism(*tree(60, 1)),
    "star": mechanism(12, [(0, i) for i in range(1, 12)] + [(-1, 0)]),
    "net": mechanism(*net(7)),
    "chain of rods": mechanism(*chain(30), rods=True),
    "ring of rods": mechanism(*ring(30), rods=True),
    "tree of rods": mechanism(*tree(50, 2), rods=True),
    "net of rods": mechanism(*net(6), rods=True),
    "rods in space": mechanism(*tree(20, 3), rods=True, dimension=3),
}


@pytest.mark.parametrize("name", CASES)
def test_solution_is_that_of_a_dense_solver(name: str) -> None:
    case = CASES[name]
    K, b = case.matrix(), np.random.default_rng(5).normal(size=case.n + case.m)
    ratio, x, _ = solve(case, b)
    assert 0.0 < ratio <= 1.0 + 1e-12
    # Backward stable up to the growth that the smallest pivot allows; the reference is LAPACK with pivoting.
    assert backward_error(K, x, b) < 1e-14 / ratio
    np.testing.assert_allclose(x, np.linalg.solve(K, b), rtol=1e-12 * np.linalg.cond(K), atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize("seed", range(60))
def test_any_sparsity_with_entries_given_twice_agrees_with_a_dense_solver(seed: int) -> None:
    case = random_case(seed)
    K, b = case.matrix(), np.random.default_rng(seed).normal(size=case.n + case.m)
    ratio, x, _ = solve(case, b)
    assert 0.0 < ratio <= 1.0 + 1e-12
    assert backward_error(K, x, b) < 1e-14 / ratio


@pytest.mark.parametrize("seed", range(30))
def test_constraints_are_eliminated_after_their_coordinates_and_rows_cover_the_fill(seed: int) -> None:
    case = random_case(seed)
    off = np.unique(np.sort(case.mass[case.mass[:, 0] != case.mass[:, 1]], axis=1), axis=0)
    nodes = eliminate(case.n, case.m, off.astype(np.int64), np.unique(case.jac, axis=0).astype(np.int64))
    order = [u for node in nodes for u in node.columns]
    assert sorted(order) == list(range(case.n + case.m))
    rank = {u: i for i, u in enumerate(order)}
    for c, i in case.jac:
        assert rank[int(i)] < rank[case.n + int(c)]
    # The pattern of L by elimination on a dense boolean matrix, the definition.
    filled = case.matrix() != 0.0
    filled[case.n + case.jac[:, 0], case.jac[:, 1]] = filled[case.jac[:, 1], case.n + case.jac[:, 0]] = True
    filled[off[:, 0], off[:, 1]] = filled[off[:, 1], off[:, 0]] = True
    for node in nodes:
        allowed = {*node.columns, *node.rows}
        for u in node.columns:
            below = [int(v) for v in np.flatnonzero(filled[u]) if rank[int(v)] > rank[u]]
            assert allowed.issuperset(below)
            filled[np.ix_(below, below)] = True


@pytest.mark.parametrize("name", ["chain", "net", "chain of rods", "tree of rods"])
def test_pivots_have_the_signs_of_the_proof(name: str) -> None:
    # By Sylvester's law K has n positive and m negative eigenvalues; the kernel counts a wrong sign as a failure.
    case = CASES[name]
    ratio, _, _ = solve(case, np.zeros(case.n + case.m))
    eigenvalues = np.linalg.eigvalsh(case.matrix())
    assert ratio > 0.0
    assert (int((eigenvalues > 0).sum()), int((eigenvalues < 0).sum())) == (case.n, case.m)


def test_matrix_in_the_order_of_the_pattern_has_the_pivots_that_the_kernel_finds() -> None:
    case = CASES["net of rods"]
    pattern = case.pattern()
    assert sorted(pattern.order) == list(range(case.n + case.m))
    A = case.matrix()[np.ix_(pattern.order, pattern.order)]
    for k in range(len(A)):  # elimination as in the first chapter of a textbook
        assert (A[k, k] > 0.0) == (pattern.order[k] < case.n)
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :]) / A[k, k]


def test_accelerations_and_multipliers_have_the_documented_signs() -> None:
    # A mass on a horizontal table y = 0 under its weight: M a - J^T lam = Q gives a = 0, lam = + m g.
    case = Case(2, 1, np.array([(0, 0), (1, 1)]), np.array([(0, 1)]), np.array([3.0, 3.0]), np.array([1.0]))
    _, x, _ = solve(case, np.array([6.0, -30.0, 0.0]))
    np.testing.assert_allclose(x, [2.0, 0.0, -30.0])


@pytest.mark.parametrize("name", ["chain", "ring", "net", "ring of rods", "tree"])
def test_dependent_constraints_are_flagged_and_named(name: str) -> None:
    case = CASES[name]
    copy = case.jac[case.jac[:, 0] == 3].copy()
    values = 2.0 * case.jac_values[case.jac[:, 0] == 3]
    copy[:, 0] = case.m
    doubled = replace(
        case, m=case.m + 1, jac=np.concatenate([case.jac, copy]), jac_values=np.concatenate([case.jac_values, values])
    )
    ratio, _, workspace = solve(doubled, np.zeros(doubled.n + doubled.m))
    assert not ratio > 1e-10
    assert workspace[1] >= case.n  # a constraint, one of those that depend on each other in the ring


def test_nearly_dependent_constraints_show_in_the_ratio() -> None:
    # Rows (1, 0) and (1, e): the second pivot is e^2 of 1 + e^2, minus rounding.
    for e in (1e-2, 1e-4, 1e-6):
        entries = np.array([(0, 0), (1, 0), (1, 1)])
        case = Case(2, 2, np.array([(0, 0), (1, 1)]), entries, np.ones(2), np.array([1.0, 1.0, e]))
        ratio, _, _ = solve(case, np.zeros(4))
        assert ratio == pytest.approx(e**2 / 2, rel=1e-3)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["one free point", "chain", "star", "chain in space", "chain of rods"])
def test_bad_mass_is_never_silent(name: str, value: float) -> None:
    case = CASES[name]
    masses = case.mass_values.copy()
    masses[(case.mass[:, 0] == 0) & (case.mass[:, 1] == 0)] = value
    ratio, _, workspace = solve(replace(case, mass_values=masses), np.zeros(case.n + case.m))
    assert ratio <= 0.0
    assert np.isfinite(ratio)
    if not name.endswith("rods"):
        assert workspace[1] == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["pendulum", "chain", "net", "tree of rods"])
def test_jacobian_that_is_no_number_is_never_silent(name: str, value: float) -> None:
    case = CASES[name]
    entries = case.jac_values.copy()
    entries[-1] = value
    ratio, _, _ = solve(replace(case, jac_values=entries), np.zeros(case.n + case.m))
    assert ratio <= 0.0
    assert np.isfinite(ratio)


def test_row_without_entries_is_flagged() -> None:
    case = Case(1, 1, np.array([(0, 0)]), np.zeros((0, 2), int), np.ones(1), np.ones(0))
    ratio, _, workspace = solve(case, np.zeros(2))
    assert (ratio, workspace[1]) == (-1.0, 1.0)


@pytest.mark.parametrize("power", [-120, -30, 30, 120])
def test_units_change_neither_the_ratio_nor_the_digits(power: int) -> None:
    # Powers of two are exact: another unit of mass, and of each constraint, gives the same digits.
    case = CASES["net of rods"]
    rows = 2.0 ** np.random.default_rng(0).integers(-20, 20, case.m)
    unit = 2.0**power
    scaled = replace(case, mass_values=case.mass_values * unit, jac_values=case.jac_values * rows[case.jac[:, 0]])
    b = np.random.default_rng(1).normal(size=case.n + case.m)
    ratio, x, _ = solve(case, b)
    other, y, _ = solve(scaled, np.concatenate([b[: case.n] * unit, b[case.n :] * rows]))
    assert other == ratio
    np.testing.assert_array_equal(y, np.concatenate([x[: case.n], x[case.n :] * unit / rows]))


def test_one_factor_serves_several_right_hand_sides() -> None:
    case = CASES["net of rods"]
    pattern = case.pattern()
    workspace = np.empty(pattern.workspace_size)
    ldl_factor(pattern.table, case.mass_values, case.jac_values, workspace)
    kept = workspace.copy()
    columns = np.eye(case.n + case.m)
    for column in columns:
        ldl_solve(pattern.table, workspace, column)
    np.testing.assert_array_equal(workspace, kept)
    np.testing.assert_allclose(columns @ case.matrix(), np.eye(case.n + case.m), atol=1e-9)


def test_work_of_a_chain_grows_with_its_length() -> None:
    for count in (3, 10, 400):
        pattern = mechanism(*chain(count)).pattern()
        # A body but for the last: two coordinates over two constraints each, one constraint over one. In a column of
        # c entries below the diagonal c are scaled and c (c + 1) / 2 products subtracted.
        assert pattern.nonzeros == 8 * (count - 1) + (2 + 2 + 1)
        assert pattern.operations == (2 * 5 + 2) * (count - 1) + 2 * 2


def test_large_mechanism_is_analysed_and_solved() -> None:
    for case in (mechanism(*chain(5000)), mechanism(*net(24))):
        rng = np.random.default_rng(0)
        b = rng.normal(size=case.n + case.m)
        ratio, x, _ = solve(case, b)
        residual = -b
        np.add.at(residual, case.mass[:, 0], case.mass_values * x[case.mass[:, 1]])  # M is diagonal here
        np.add.at(residual, case.n + case.jac[:, 0], case.jac_values * x[case.jac[:, 1]])
        np.add.at(residual, case.jac[:, 1], case.jac_values * x[case.n + case.jac[:, 0]])
        assert ratio > 1e-8
        assert np.abs(residual).max() < 1e-14 / ratio * np.abs(x).max()


def test_generated_code_reads_the_table_out_of_its_integers() -> None:
    case = CASES["tree of rods"]
    pattern = case.pattern()
    source = f"""
import numpy as np
from zwang._numerics.jit import EVAL_SIGNATURE, njit
from zwang._numerics.linear.sparse_ldl import ldl_factor, ldl_solve

@njit(EVAL_SIGNATURE)
def evaluate(t, q, v, params, int_table, workspace, out):
    table = int_table[3:].view(np.uint32)
    ratio = ldl_factor(table, params[:{pattern.mass_size}], params[{pattern.mass_size}:], workspace)
    if not ratio > 1e-10:
        return 1
    for i in range({case.n}):
        out[i] = q[i]
    for j in range({case.m}):
        out[{case.n} + j] = v[j]
    ldl_solve(table, workspace, out)
    return 0
"""
    module = load_generated(source, "tree_of_rods")
    rng = np.random.default_rng(0)
    Q, gamma, out = rng.normal(size=case.n), rng.normal(size=case.m), np.empty(case.n + case.m)
    table = np.concatenate([np.zeros(3, np.int64), pattern.packed()])
    workspace = np.empty(pattern.workspace_size)
    params = np.concatenate([case.mass_values, case.jac_values])
    assert module.evaluate(0.0, Q, gamma, params, table, workspace, out) == 0
    _, x, _ = solve(case, np.concatenate([Q, gamma]))
    np.testing.assert_array_equal(out, x)
    params[0] = -100.0
    assert module.evaluate(0.0, Q, gamma, params, table, workspace, out) == 1


def test_plain_python_gives_the_same_numbers(tmp_path: Path) -> None:
    names = ("pendulum", "star", "net", "tree of rods", "chain in space")
    script = f"""
import sys
import numpy as np
from test_sparse_ldl import CASES, solve
for name in {names}:
    ratio, x, _ = solve(CASES[name], np.arange(1.0, CASES[name].n + CASES[name].m + 1))
    np.save(f"{tmp_path}/{{name}}.npy", np.append(x, ratio))
assert "numba" not in sys.modules
"""
    path = os.pathsep.join([str(Path(zwang._numerics.__file__).parents[2]), str(Path(__file__).parent)])
    environment = os.environ | {"ZWANG_NO_JIT": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=120)
    for name in names:
        ratio, x, _ = solve(CASES[name], np.arange(1.0, CASES[name].n + CASES[name].m + 1))
        # Compiled code may fuse a multiplication with an addition, so the last digits differ.
        np.testing.assert_allclose(np.load(tmp_path / f"{name}.npy"), np.append(x, ratio), rtol=1e-9)


def test_hub_of_too_many_constraints_is_refused() -> None:
    spokes = 8000
    bars = [(0, i) for i in range(1, spokes + 1)]
    with pytest.raises(CompileError, match=r"unknown 0 and 8000 others.*Share the constraints"):
        mechanism(spokes + 1, bars).pattern()


def test_coordinate_without_inertia_is_refused() -> None:
    with pytest.raises(CompileError, match=r"coordinate 1 has no diagonal entry in M.*Give every coordinate inertia"):
        analyse(2, 0, [0], [0], [], [])


@pytest.mark.parametrize(
    "entries",
    [([0, 2], [0, 1], [0], [0]), ([0, 1], [0, 1], [1], [0]), ([0, 1], [0, 1], [0], [-1]), ([0, 1], [0], [0], [0])],
)
def test_entries_outside_of_the_matrix_are_refused(entries: tuple[list[int], ...]) -> None:
    with pytest.raises(CompileError, match=r"must be two equally long lists of indices within"):
        analyse(2, 1, *entries)
