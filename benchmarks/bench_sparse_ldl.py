"""Sparse LDL^T of KKT matrices beside SciPy's splu and dense LAPACK, in one run, each time with its residual.

The matrices are those of points joined by bars in Cartesian coordinates: a chain, a closed ring, a binary tree, a
square net, and a chain of uniform rods (whose mass matrix couples neighbours). One thread; the least of many repeats,
taken in turns so that a busy machine hits all alike. splu gets its matrix format for free and the best of four
settings: as it comes, its ordering for symmetric matrices, and without pivoting in our order and in that of the points
with each bar after its last point. Its symbolic work is part of every call, since it offers no way to keep it.

    python benchmarks/bench_sparse_ldl.py [--quick]
"""

# ruff: noqa: E402 -- the number of threads is set before NumPy is loaded

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from zwang._numerics.linear.dense import dense_workspace_size, kkt_dense
from zwang._numerics.linear.sparse_ldl import analyse, ldl_factor, ldl_solve

Bars = list[tuple[int, int]]
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
Solved = tuple[np.ndarray, sp.csc_matrix, np.ndarray]


def chain(count: int) -> tuple[int, Bars]:
    return count, [(i - 1, i) for i in range(count)]


def ring(count: int) -> tuple[int, Bars]:
    return count, [(i, (i + 1) % count) for i in range(count)]


def tree(count: int) -> tuple[int, Bars]:
    return count, [((i - 1) // 2 if i else -1, i) for i in range(count)]


def net(side: int) -> tuple[int, Bars]:
    across = [(i * side + j, i * side + j + 1) for i in range(side) for j in range(side - 1)]
    return side * side, across + [(i * side + j, (i + 1) * side + j) for i in range(side - 1) for j in range(side)]


def entries(points: int, bars: Bars, rods: bool) -> tuple[Entries, Entries]:
    """Rows, columns and values of M (one triangle) and J: unit directions at random, masses between 1 and 2."""
    rng = np.random.default_rng(0)
    rows, cols, values = list(range(2 * points)), list(range(2 * points)), list(rng.uniform(1.0, 2.0, 2 * points))
    for a, b in bars if rods else []:
        for k in range(2):
            if a >= 0:
                rows.append(2 * b + k)
                cols.append(2 * a + k)
                values.append(0.2)
    angles = rng.uniform(0.0, 2 * np.pi, len(bars))
    jac = [
        (c, 2 * p + k, sign * (np.cos, np.sin)[k](angles[c]))
        for c, bar in enumerate(bars)
        for p, sign in zip(bar, (-1.0, 1.0), strict=True)
        if p >= 0
        for k in range(2)
    ]
    jac_rows, jac_cols, jac_values = zip(*jac, strict=True)
    return (np.array(rows), np.array(cols), np.array(values)), (
        np.array(jac_rows),
        np.array(jac_cols),
        np.array(jac_values),
    )


def least(functions: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The least time of each function in seconds, taken in turns."""
    best = dict.fromkeys(functions, np.inf)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, function in functions.items():
            for _ in range(3):
                start = time.perf_counter()
                function()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def peers(K: sp.csc_matrix, n: int, order: np.ndarray, b: np.ndarray) -> dict[str, Callable[[], Solved]]:
    """Ways to solve K x = b by splu; each returns the solution with the matrix and right-hand side that it uses."""
    symmetric = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
    given = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True, "Equil": False}}
    last = [K[:, c].indices.max() + 0.5 for c in range(n, b.size)]
    along = np.argsort(np.concatenate([np.arange(n), last]), kind="stable")
    found: dict[str, Callable[[], Solved]] = {}
    for name, p, options in (
        ("default", np.arange(b.size), {}),
        ("symmetric", np.arange(b.size), symmetric),
        ("ours", order, given),
        ("along", along, given),
    ):
        A, c = K[p][:, p].tocsc(), b[p]
        found[name] = lambda A=A, c=c, options=options: (splu(A, **options).solve(c), A, c)
    return found


def measure(name: str, points: int, bars: Bars, seconds: float, *, rods: bool = False) -> None:
    mass, jac = entries(points, bars, rods)
    n, m = 2 * points, len(bars)
    start = time.perf_counter()
    pattern = analyse(n, m, *mass[:2], *jac[:2])
    analysed = time.perf_counter() - start
    lower = sp.coo_matrix((mass[2], mass[:2]), (n, n)).tocsc()
    M, J = lower + sp.tril(lower, -1).T, sp.coo_matrix((jac[2], jac[:2]), (m, n))
    K = sp.bmat([[M, J.T], [J, None]]).tocsc()
    b = np.random.default_rng(1).normal(size=n + m)
    table, workspace, x, scratch = pattern.table, np.empty(pattern.workspace_size), b.copy(), b.copy()
    factor, solve = ldl_factor.compiled, ldl_solve.compiled
    ratio = factor(table, mass[2], jac[2], workspace)
    solve(table, workspace, x)
    others = peers(K, n, pattern.order, b)
    times = least(
        {
            "factor": lambda: factor(table, mass[2], jac[2], workspace),
            "solve": lambda: solve(table, workspace, scratch),
            **others,
        },
        seconds,
    )
    ours, best = times["factor"] + times["solve"], min(others, key=times.__getitem__)
    y, A, c = others[best]()
    print(
        f"{name:20s} {n + m:6d} {pattern.nonzeros:8d} {1e3 * analysed:9.0f} {1e6 * times['factor']:9.1f} "
        f"{1e6 * times['solve']:8.1f} {1e6 * ours:9.1f} {1e6 * times[best]:9.0f} {times[best] / ours:7.1f}   "
        f"{np.abs(K @ x - b).max():.0e} {np.abs(A @ y - c).max():.0e}   {ratio:.0e}   {best}"
    )


def measure_dense(n: int, m: int, seconds: float) -> None:
    rng = np.random.default_rng(0)
    A, J, Q, gamma = rng.normal(size=(n, n)), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
    M = A @ A.T + n * np.eye(n)
    K, b = np.block([[M, -J.T], [J, np.zeros((m, m))]]), np.concatenate([Q, gamma])
    a, lam, workspace = np.empty(n), np.empty(m), np.empty(dense_workspace_size(n, m))
    kernel = kkt_dense.compiled
    times = least(
        {"ours": lambda: kernel(M, J, Q, gamma, workspace, a, lam), "lapack": lambda: np.linalg.solve(K, b)}, seconds
    )
    residuals = np.abs(K @ np.concatenate([a, lam]) - b).max(), np.abs(K @ np.linalg.solve(K, b) - b).max()
    print(
        f"dense {n:3d} + {m:3d}   {1e6 * times['ours']:8.2f} us   numpy.linalg.solve {1e6 * times['lapack']:8.2f} us   "
        f"ratio {times['lapack'] / times['ours']:4.1f}   residuals {residuals[0]:.0e} {residuals[1]:.0e}"
    )


def main() -> None:
    seconds = 0.3 if "--quick" in sys.argv else 3.0
    print(f"{'':20s} {'':6s} {'':8s} {'analyse':>9s}      times in us: ours, splu, and their ratio")
    titles = ("unknowns", "entries", "ms", "factor", "solve", "total", "splu", "ratio")
    line = " ".join(f"{title:>{w}s}" for title, w in zip(titles, (8, 8, 9, 9, 8, 9, 9, 7), strict=True))
    print(f"{'system':18s} {line}   residuals     pivot   setting of splu")
    measure("chain 1000", *chain(1000), seconds)
    measure("chain 5000", *chain(5000), seconds)
    measure("ring 1000", *ring(1000), seconds)
    measure("tree 1000", *tree(1000), seconds)
    measure("net 32 x 32", *net(32), seconds)
    measure("net 71 x 71", *net(71), seconds)
    measure("chain of 1000 rods", *chain(1000), seconds, rods=True)
    for n, m in ((9, 5), (20, 20), (60, 40)):
        measure_dense(n, m, seconds / 3)


if __name__ == "__main__":
    main()
