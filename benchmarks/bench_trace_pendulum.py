"""The configuration space of the ellipse pendulum with its singular points, beside continuation tools in the same run.

zwang finds all arcs, solves for the singular points, classifies them and keeps arcs that can be evaluated anywhere; the
peers follow one given circle once around from a given start, which is the part of the work that they share. Every time
is processor time after compilation, a minimum over repeats, and stands beside the largest constraint value along the
curve. Peers that are not installed are left out (bice: pip install bice).
Run: OMP_NUM_THREADS=1 python benchmarks/bench_trace_pendulum.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import zwang as zw

REGIMES = {
    "two circles": (1.5, 1.5, -0.4),
    "one node": (1.5, 1.5, -0.5),
    "tangency": (1.5625, 1.25, -0.5625),
    "two nodes": (2.0, 2.0, -1.0),
    "one circle": (1.4, 1.4, -0.5),
    "circle and point": (1.5, 1.1, -0.5),
    "point": (0.81, 0.9, 0.19),
}
MANY = 1000
STEP = 0.05


def values(name: str, r1: float, r2: float, a: float) -> dict[str, float]:
    return {**zw.gallery.get(name).params, "r1": r1, "r2": r2, "a": a}


def best(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the smallest processor time of several runs, in seconds, and the last result."""
    times, found = [], None
    for _ in range(repeats):
        start = time.process_time()
        found = function()
        times.append(time.process_time() - start)
    return min(times), found


def constraint(psi: float, phi: float, r1: float, r2: float, a: float) -> float:
    x, y = 2 * np.cos(phi) + np.cos(psi), 2 * np.sin(phi) + np.sin(psi)
    return ((x - a) ** 2 / r1**2 + y**2 / r2**2 - 1) / 2


def with_scipy(numbers: tuple[float, float, float], start: tuple[float, float]) -> np.ndarray:
    """Plain pseudo-arclength continuation: secant predictor, SciPy's root for the corrector."""
    from scipy.optimize import root

    points = [np.array(start)]
    direction = np.array([1.0, 0.5])
    while points[-1][0] < start[0] + 2 * np.pi:
        guess = points[-1] + STEP * direction / np.linalg.norm(direction)
        tangent = direction / np.linalg.norm(direction)

        def equations(q: np.ndarray, guess: np.ndarray = guess, tangent: np.ndarray = tangent) -> list[float]:
            return [constraint(q[1], q[0], *numbers), float(tangent @ (q - guess))]

        found = root(equations, guess, tol=1e-13).x
        direction = found - points[-1]
        points.append(found)
    return np.array(points)


def with_bice(numbers: tuple[float, float, float], start: tuple[float, float]) -> np.ndarray:
    """The continuation package bice, with its own pseudo-arclength stepper."""
    from bice import Equation, Problem
    from bice.continuation import PseudoArclengthContinuation

    class Curve(Equation):
        def __init__(self) -> None:
            super().__init__(shape=(1,))
            self.phi = start[0]
            self.u = np.array([start[1]])

        def rhs(self, u: np.ndarray) -> np.ndarray:
            return np.asarray(constraint(u, self.phi, *numbers))

    class Pendulum(Problem):
        def __init__(self) -> None:
            super().__init__()
            self.curve = Curve()
            self.add_equation(self.curve)
            self.continuation_stepper = PseudoArclengthContinuation()
            self.continuation_stepper.ds = STEP
            self.continuation_parameter = (self.curve, "phi")

        def norm(self) -> float:
            return float(self.curve.u[0])

    problem = Pendulum()
    problem.newton_solve()
    points = []
    while problem.curve.phi < start[0] + 2 * np.pi and len(points) < 2000:
        problem.continuation_step()
        points.append((problem.curve.phi, float(problem.curve.u[0])))
    return np.array(points)


def regimes() -> None:
    print(f"{'regime':<18}{'declaration':<30}{'time':>9}{'residual':>10}   arcs, curves, components, singular points")
    for name in ("ellipse_pendulum", "ellipse_pendulum_cartesian"):
        system = zw.gallery.get(name).system
        for regime, numbers in REGIMES.items():
            params = values(name, *numbers)
            zw.trace(system, params)
            seconds, space = best(lambda system=system, params=params: zw.trace(system, params), 5)
            kinds = ", ".join(point.kind for point in space.singular_points) or "none"
            found = f"{len(space.branches)}, {len(space.curves)}, {space.components}, {kinds}"
            print(f"{regime:<18}{name:<30}{seconds:>7.3f} s{space.residual:>10.1e}   {found}")


def one_circle() -> None:
    numbers = REGIMES["two circles"]
    system = zw.gallery.get("ellipse_pendulum").system
    params = values("ellipse_pendulum", *numbers)
    space = zw.trace(system, params)
    start = tuple(float(value) for value in space.branches[0].position(0.0))
    print("\none circle, once around")
    seconds, space = best(lambda: zw.trace(system, params), 5)
    print(f"  zwang, the whole space     {seconds:>8.4f} s   residual {space.residual:.1e}")
    for label, run in (("SciPy root, plain steps", with_scipy), ("bice", with_bice)):
        try:
            seconds, points = best(lambda run=run: run(numbers, start), 2)
        except ImportError:
            print(f"  {label:<26} not installed")
            continue
        worst = max(abs(float(constraint(psi, phi, *numbers))) for phi, psi in points)
        print(f"  {label:<26} {seconds:>8.4f} s   residual {worst:.1e}   {len(points)} points of one circle")


def trace_some(chunk: list[tuple[float, float, float]]) -> list[tuple[int, int, float]]:
    system = zw.gallery.get("ellipse_pendulum").system
    found = []
    for numbers in chunk:
        space = zw.trace(system, values("ellipse_pendulum", *numbers))
        found.append((space.components, len(space.singular_points), float(space.residual)))
    return found


def many() -> None:
    """Every tenth set of parameters is critical: the vertex of the ellipse meets the folded end."""
    source = np.random.default_rng(0)
    r1, r2 = source.uniform(1.1, 2.5, MANY), source.uniform(1.1, 2.5, MANY)
    a = np.where(np.arange(MANY) % 10 == 0, 1 - r1, source.uniform(-1, 0.5, MANY))
    rows = [(float(p), float(q), float(s)) for p, q, s in zip(r1, r2, a, strict=True)]
    trace_some(rows[:2])
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        found = [item for part in pool.map(trace_some, [rows[k::20] for k in range(20)]) for item in part]
    seconds = time.perf_counter() - start
    worst = max(residual for _, _, residual in found)
    critical = sum(points > 0 for _, points, _ in found)
    print(f"\n{MANY} parameter values on two processes: {seconds:.1f} s, largest residual {worst:.1e}, "
          f"{critical} with singular points")  # fmt: skip


if __name__ == "__main__":
    regimes()
    one_circle()
    many()
