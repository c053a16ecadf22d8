"""The dense KKT kernel agrees with LAPACK, and hands over where constraints depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from zwang._numerics.jit import load_generated
from zwang._numerics.linear.dense import dense_workspace_size, kkt_dense
from zwang._numerics.linear.kkt import solve_kkt
from zwang.errors import StateError

SIZES = [(1, 0), (1, 1), (4, 3), (13, 5), (20, 20), (60, 30), (100, 40)]


def problem(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)


def reference(M: np.ndarray, J: np.ndarray, Q: np.ndarray, gamma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, m = M.shape[0], J.shape[0]
    x = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((m, m))]]), np.concatenate([Q, gamma]))
    return x[:n], x[n:]


def run(M: np.ndarray, J: np.ndarray, Q: np.ndarray, gamma: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    n, m = M.shape[0], J.shape[0]
    a, lam, workspace = np.zeros(n), np.zeros(m), np.full(dense_workspace_size(n, m), np.nan)
    return kkt_dense(M, J, Q, gamma, workspace, a, lam), a, lam


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_solution_is_that_of_lapack(n: int, m: int) -> None:
    M, J, Q, gamma = problem(n, m)
    ratio, a, lam = run(M, J, Q, gamma)
    assert 0.0 < ratio <= 1.0
    expected_a, expected_lam = reference(M, J, Q, gamma)
    # Both solvers lose what the condition of J M^-1 J^T takes.
    tol = 1e-14 * n * (np.linalg.cond(J @ np.linalg.solve(M, J.T)) if m else 1.0)
    np.testing.assert_allclose(a, expected_a, rtol=tol, atol=tol * np.abs(a).max())
    np.testing.assert_allclose(lam, expected_lam, rtol=tol, atol=tol * np.abs(lam).max(initial=0.0))


def test_only_the_lower_triangle_of_the_mass_matrix_is_read() -> None:
    M, J, Q, gamma = problem(13, 5)
    _, a, _ = run(M, J, Q, gamma)
    _, b, _ = run(np.tril(M) + np.triu(np.full_like(M, np.nan), 1), J, Q, gamma)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("power", [-100, 100])
def test_units_change_neither_the_ratio_nor_the_digits(power: int) -> None:
    # Powers of four: their square roots are exact too.
    M, J, Q, gamma = problem(20, 8)
    unit, rows = 4.0**power, 4.0 ** np.arange(-4, 4)
    ratio, a, lam = run(M, J, Q, gamma)
    other, b, mu = run(unit * M, rows[:, None] * J, unit * Q, rows * gamma)
    assert other == ratio
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(lam, mu / unit * rows)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_bad_mass_is_never_silent_and_writes_nothing(value: float) -> None:
    M, J, Q, gamma = problem(13, 5)
    M[4, 4] = value
    ratio, a, lam = run(M, J, Q, gamma)
    assert ratio <= 0.0
    assert np.isfinite(ratio)
    assert not a.any()
    assert not lam.any()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_jacobian_that_is_no_number_is_never_silent(value: float) -> None:
    M, J, Q, gamma = problem(13, 5)
    J[2, 3] = value
    ratio, _, _ = run(M, J, Q, gamma)
    assert ratio <= 0.0
    assert np.isfinite(ratio)


def test_zero_row_is_flagged() -> None:
    M, J, Q, gamma = problem(13, 5)
    J[2] = 0.0
    assert run(M, J, Q, gamma)[0] <= 0.0


@pytest.mark.parametrize("seed", range(5))
def test_dependent_rows_are_flagged_and_the_rank_revealing_solver_takes_over(seed: int) -> None:
    M, J, Q, gamma = problem(20, 6, seed)
    mix = np.random.default_rng(seed).normal(size=(3, 6))
    J9, gamma9 = np.concatenate([J, mix @ J]), np.concatenate([gamma, mix @ gamma])
    assert not run(M, J9, Q, gamma9)[0] > 1e-10
    result = solve_kkt(M, J9, Q, gamma9)
    assert result.rank == 6
    assert result.inconsistency < 1e-12
    np.testing.assert_allclose(result.accelerations, reference(M, J, Q, gamma)[0], atol=1e-12)
    np.testing.assert_allclose(M @ result.accelerations - J9.T @ result.multipliers, Q, atol=1e-11)
    # Self-stresses: of the right number, orthonormal, without effect, and none of them is in lam.
    assert result.self_stress.shape == (9, 3)
    np.testing.assert_allclose(result.self_stress.T @ result.self_stress, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(J9.T @ result.self_stress, 0.0, atol=1e-12)
    np.testing.assert_allclose(result.self_stress.T @ result.multipliers, 0.0, atol=1e-12)
    # The least norm, from the definition.
    np.testing.assert_allclose(result.multipliers, np.linalg.lstsq(J9.T, M @ result.accelerations - Q)[0], atol=1e-10)


def test_contradicting_constraints_leave_a_residual() -> None:
    # a = 1 and a = 3 at once: the best is a = 2, each missed by 1.
    result = solve_kkt(np.eye(1), np.ones((2, 1)), np.zeros(1), np.array([1.0, 3.0]))
    assert result.rank == 1
    np.testing.assert_allclose([result.accelerations[0], result.inconsistency > 0.1], [2.0, 1.0])


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_rank_revealing_solver_agrees_where_the_rank_is_full(n: int, m: int) -> None:
    M, J, Q, gamma = problem(n, m)
    result = solve_kkt(M, J, Q, gamma)
    a, lam = reference(M, J, Q, gamma)
    assert result.rank == m
    assert result.self_stress.shape == (m, 0)
    tol = 1e-14 * n * (np.linalg.cond(J @ np.linalg.solve(M, J.T)) if m else 1.0)
    np.testing.assert_allclose(result.accelerations, a, rtol=tol, atol=tol * np.abs(a).max())
    np.testing.assert_allclose(result.multipliers, lam, rtol=tol, atol=tol * np.abs(lam).max(initial=0.0))


def test_rank_depends_on_neither_units_nor_masses() -> None:
    M, J, Q, gamma = problem(8, 4)
    J = np.concatenate([J, J[:1] + J[1:2]])
    gamma = np.append(gamma, gamma[0] + gamma[1])
    rows, masses = 10.0 ** np.array([-9, 0, 9, 3, -6]), 10.0 ** np.linspace(-4, 4, 8)
    result = solve_kkt(masses[:, None] * M * masses, (rows[:, None] * J) * masses, masses * Q, rows * gamma)
    assert result.rank == 4
    # In the coordinates q' = q / masses the accelerations are those of the plain problem over masses.
    np.testing.assert_allclose(result.accelerations * masses, solve_kkt(M, J, Q, gamma).accelerations, rtol=1e-8)


def test_zero_row_has_rank_zero_and_is_its_own_self_stress() -> None:
    result = solve_kkt(np.eye(2), np.zeros((1, 2)), np.array([1.0, 2.0]), np.zeros(1))
    assert result.rank == 0
    np.testing.assert_allclose(result.accelerations, [1.0, 2.0])
    np.testing.assert_allclose(abs(result.self_stress), [[1.0]])
    np.testing.assert_allclose(result.multipliers, [0.0])


def test_mass_matrix_that_is_not_positive_definite_is_refused_with_the_cure() -> None:
    with pytest.raises(StateError, match=r"not positive definite at this state.*Give every coordinate inertia"):
        solve_kkt(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]), np.zeros(2), np.zeros(1))


def test_mass_matrix_that_is_definite_on_the_kernel_of_the_rows_is_enough() -> None:
    """A massless point tied to a mass: both accelerate as the mass does, and what pulls at the point pulls at it."""
    result = solve_kkt(np.diag([2.0, 0.0]), np.array([[1.0, -1.0]]), np.array([1.0, 3.0]), np.zeros(1))
    np.testing.assert_allclose(result.accelerations, [2.0, 2.0])
    np.testing.assert_allclose(result.multipliers, [3.0])


def test_kernel_is_called_from_generated_code() -> None:
    n, m = 13, 5
    source = f"""
from zwang._numerics.linear.dense import kkt_dense
from zwang._numerics.jit import EVAL_SIGNATURE, njit

@njit(EVAL_SIGNATURE)
def evaluate(t, q, v, params, int_table, workspace, out):
    M = params[:{n * n}].reshape(({n}, {n}))
    J = params[{n * n}:].reshape(({m}, {n}))
    ratio = kkt_dense(M, J, q, v, workspace, out[:{n}], out[{n}:])
    return 0 if ratio > 1e-10 else 1
"""
    M, J, Q, gamma = problem(n, m)
    out, workspace = np.zeros(n + m), np.zeros(dense_workspace_size(n, m))
    params = np.concatenate([M.ravel(), J.ravel()])
    module = load_generated(source, "dense")
    assert module.evaluate(0.0, Q, gamma, params, np.zeros(1, np.int64), workspace, out) == 0
    _, a, lam = run(M, J, Q, gamma)
    np.testing.assert_array_equal(out, np.concatenate([a, lam]))
