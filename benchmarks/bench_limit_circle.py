"""Fast oscillation: the particle on a penalised circle at N = 1e10 and 1e12, and a study over nine decades.

Each time is CPU time, the least of several runs (of the study: wall time on two threads), and stands beside errors
that are computed here: the angle at the end against its closed form, less the first-order effect -2.5214/N of the
spring itself (from N = 1e8), and the largest distance across times N. Beside: SciPy's DOP853 on the same equations, at
a strength that it can reach.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_limit_circle.py
"""

from __future__ import annotations

import math
import time

import numpy as np

import zwang as zw
from zwang._limit.realized_run import Runner
from zwang._limit.ways import soften

ENTRY = zw.gallery.get("circle_particle")
EDGES = np.linspace(0.0, 1.0, 401)
SHIFT = -2.5214


def angle_error(q: np.ndarray, strength: float) -> float:
    """Return the error of integration in the angle at the end."""
    return math.atan2(q[1], q[0]) - ENTRY.facts["angle_at_1"].value - SHIFT / strength


def ours(strength: float, repeats: int) -> None:
    runner = Runner(soften(ENTRY.system, "circle", zw.Stiffness), ENTRY.state, ENTRY.params, 1e-12)
    runner.run(1e4, EDGES, None)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        course = runner.run(strength, EDGES, None).course
        times.append(time.process_time() - start)
    far = np.abs(np.linalg.norm(course.q, axis=1) - 1).max() * strength
    print(
        f"zwang, N = {strength:.0e}:  {min(times):.3f} s, {course.steps} steps   "
        f"error of the angle {angle_error(course.q[-1], strength):+.1e}   largest |r - 1| N {far:.3f}"
    )


def scipy_dop853(strength: float) -> None:
    from scipy.integrate import solve_ivp

    k, c = ENTRY.params["k"], ENTRY.params["c"]

    def slope(_: float, y: np.ndarray) -> list[float]:
        x, z, vx, vz = y
        r = math.hypot(x, z)
        pull = -strength * (r - 1) / r
        return [vx, vz, pull * x - k * z - c * vx, pull * z + k * x - c * vz]

    start = time.perf_counter()
    found = solve_ivp(slope, (0, 1), [1.0, 0.0, 0.0, 1.0], method="DOP853", rtol=1e-12, atol=1e-14)
    taken = time.perf_counter() - start
    print(
        f"SciPy DOP853, N = {strength:.0e}:  {taken:.3f} s, {found.nfev} evaluations   "
        f"error of the angle {angle_error(found.y[:2, -1], strength):+.1e}"
    )


def study() -> None:
    entry = zw.gallery.get("kozlov_neishtadt")
    strengths = 10.0 ** np.arange(3, 13)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        found = zw.limit(entry.system, "floor", entry.state, by=zw.Stiffness, until=1.0, strengths=strengths)
        times.append(time.perf_counter() - start)
    worst = max(abs(found.orders[name].value - order) for name, order in
                {"position": -1, "velocity": -0.5, "tangential velocity": -1, "integral": -0.5}.items())  # fmt: skip
    print(f"study over nine decades, 1e3 to 1e12:  {min(times):.2f} s   orders off by at most {worst:.4f}")


if __name__ == "__main__":
    ours(1e8, 5)
    ours(1e10, 5)
    ours(1e12, 2)
    scipy_dop853(1e6)
    study()
