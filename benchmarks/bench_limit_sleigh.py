"""Stiff friction: the one-sided sleigh over T = 10 at rho = 1e6 and 1e8, beside SciPy's Radau and LSODA.

Times are CPU times, the least of several. The exact constants of the distance to the ideal circle are 11.682/rho
(position) and sqrt(101)/rho (velocity) as rho grows; the error shown is what the largest distance at the edges misses
11.6822/rho by, relatively.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_limit_sleigh.py
"""

from __future__ import annotations

import math
import time

import numpy as np

import zwang as zw
from zwang._limit.realized_run import Runner
from zwang._limit.ways import soften

ENTRY = zw.gallery.get("sleigh")
START = {"x": 0.0, "y": 0.0, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "v_phi": 1.0}
EDGES = np.linspace(0.0, 10.0, 401)
CONSTANT = 11.68218


def error(t: np.ndarray, q: np.ndarray, rho: float) -> float:
    """Return how far the largest distance to the unit circle misses the constant, relatively."""
    circle = np.stack([np.sin(t), 1 - np.cos(t)], axis=1)
    return float(np.linalg.norm(q[:, :2] - circle, axis=1).max()) * rho / CONSTANT - 1


def ours(rho: float, tol: float) -> None:
    runner = Runner(soften(ENTRY.system, "blade", zw.Viscosity), START, ENTRY.params, tol)
    runner.run(1e2, EDGES, None)
    times = []
    for _ in range(10):
        start = time.process_time()
        course = runner.run(rho, EDGES, None).course
        times.append(time.process_time() - start)
    taken = min(times)
    print(
        f"zwang, rho = {rho:.0e}, tol {tol:.0e}:  {1e3 * taken:.2f} ms, {course.steps} steps   "
        f"relative error of the constant {error(course.t, course.q, rho):+.1e}"
    )


def peer(method: str, rho: float) -> None:
    from scipy.integrate import solve_ivp

    def slope(_: float, y: np.ndarray) -> list[float]:
        s, c = math.sin(y[2]), math.cos(y[2])
        push = rho * max(0.0, y[3] * s - y[4] * c)
        return [y[3], y[4], y[5], -push * s, push * c, 0.0]

    start = time.perf_counter()
    found = solve_ivp(slope, (0, 10), [0, 0, 0, 1.0, 0, 1.0], method=method, rtol=1e-9, atol=1e-12, t_eval=EDGES)
    taken = time.perf_counter() - start
    print(
        f"SciPy {method}, rho = {rho:.0e}:  {1e3 * taken:.0f} ms, {found.nfev} evaluations   "
        f"relative error of the constant {error(found.t, found.y.T, rho):+.1e}"
    )


if __name__ == "__main__":
    for strength in (1e6, 1e8):
        ours(strength, 1e-8)
        ours(strength, 1e-11)
    for name in ("Radau", "LSODA"):
        peer(name, 1e6)
