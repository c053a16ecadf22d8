"""What cycles cost: found, followed over a parameter, and drawn by brute force.

A ball on a shaking table has its cycle with one impact a period found from the same guess by `periodic` and by a peer
that shoots with SciPy's `solve_ivp` and its events, with derivatives of the return map by differences, as one writes it
by hand; both gaps stand beside the times, and the product of the multipliers beside e^2. Then
the ball's branches over the amplitude, a woodpecker's cycle from the start in print and its branch over the coefficient
of friction, and a diagram of 500 forcings of an impact oscillator with 300 impacts each, on two workers.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_cycles.py
"""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import root

import zwang as zw

W, A, E, G = 10.0, 0.12, 0.5, 9.81
PERIOD = 2 * np.pi / W
GUESS = (0.2, -2.5)
REPEATS = 3


def flight(start: Any) -> Any:
    """Return the state one period later, through impacts, by solve_ivp."""

    def meets(t: float, z: Any) -> float:
        return float(z[0] - A * np.sin(W * t))

    meets.terminal, meets.direction = True, -1  # type: ignore[attr-defined]
    t, z = 0.0, np.array(start)
    while t < PERIOD:
        found = solve_ivp(
            lambda t, z: [z[1], -G], (t, PERIOD), z, method="DOP853", rtol=1e-12, atol=1e-12, events=meets
        )
        t, z = float(found.t[-1]), found.y[:, -1]
        if found.status == 1:
            z = np.array([z[0], -E * z[1] + (1 + E) * A * W * np.cos(W * t)])
            t += 1e-12
    return z


def shooting() -> tuple[float, float]:
    """Return gap and product of the multipliers by shooting with SciPy."""
    found = root(lambda z: flight(z) - z, GUESS, tol=1e-13)
    step = 1e-6
    columns = [(flight(found.x + step * one) - flight(found.x - step * one)) / (2 * step) for one in np.eye(2)]
    gap = float(np.abs(flight(found.x) - found.x).max())
    return gap, float(np.linalg.det(np.array(columns).T))


def ball() -> zw.System:
    """Return the ball and its table, whose amplitude is a parameter."""
    (y,), (v,) = zw.coordinates("y")
    table = zw.Unilateral(y - zw.parameters("A") * sp.sin(W * zw.t), restitution=E, name="table")
    return zw.System(name="ball", kinetic=v**2 / 2, potential=G * y, constraints=[table])


def oscillator() -> zw.System:
    """Return x'' + x'/5 + x = f cos(2 t) with a wall."""
    (x,), (v,) = zw.coordinates("x")
    f = zw.parameters("f")
    wall = zw.Unilateral(sp.Rational(1, 5) - x, restitution=sp.Rational(4, 5), name="wall")
    forces = {x: -v / 5 + f * sp.cos(2 * zw.t)}
    return zw.System(name="oscillator", kinetic=v**2 / 2, potential=x**2 / 2, forces=forces, constraints=[wall])


def woodpecker() -> tuple[zw.System, dict[str, float]]:
    """Return Glocker's woodpecker toy, whose coefficient of friction is a parameter, and its start in print."""
    (y, a, b), (vy, va, vb) = zw.coordinates("y a b")
    mu = zw.parameters("mu")
    kinetic = (0.0003 * vy**2 + 5e-9 * va**2 + 0.0045 * (vy + 0.01 * va + 0.015 * vb) ** 2 + 7e-7 * vb**2) / 2
    potential = 9.81 * (0.0048 * y + 0.0045 * (0.01 * a + 0.015 * b)) + 0.0056 * (a - b) ** 2 / 2
    beak = zw.Coulomb(mu, slip=vy + 0.01 * va - 0.0051 * vb)
    sleeve = zw.Coulomb(mu, slip=vy + 0.0031 * va)
    touching = [
        zw.Unilateral(0.0024 - 0.02 * b, friction=beak, restitution=sp.Rational(1, 2), name="beak"),
        zw.Unilateral(0.0006 + 0.0058 * a, friction=sleeve, restitution=0, name="lower"),
        zw.Unilateral(0.0006 - 0.0058 * a, friction=sleeve, restitution=0, name="upper"),
    ]
    start = {"y": 0, "a": -0.0006 / 0.0058, "b": -0.2788, "v_y": -0.3411, "v_a": 0, "v_b": -7.4583}
    return zw.System(name="woodpecker", kinetic=kinetic, potential=potential, constraints=touching), start


def peck(toy: zw.System, start: dict[str, float]) -> Any:
    """Return the woodpecker's cycle."""
    return zw.periodic(toy, start, {"mu": 0.3}, period=0.146, steady="y", impact="newton")


def timed(ask: Any, repeats: int = REPEATS, clock: Any = time.perf_counter) -> tuple[float, Any]:
    """Return the least time of some calls, and the last answer."""
    best, found = np.inf, None
    for _ in range(repeats):
        start = clock()
        found = ask()
        best = min(best, clock() - start)
    return best, found


def of_workers() -> float:
    """Return the processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def diagram(count: int, workers: int) -> Any:
    """Return Poincare points of the oscillator over its forcing, after a transient."""
    forcings = np.linspace(0.8, 1.5, count)
    return zw.sweep(
        "simulate", oscillator(), {"x": 0, "v_x": 0}, {}, over={"f": forcings}, keep="section", section="wall",
        until=940.0, transient=600.0, workers=workers,
    )  # fmt: skip


def main() -> None:
    """Print them all."""
    model, values = zw.compile(ball()), {"A": A}
    state = {"y": GUESS[0], "v_y": GUESS[1]}
    zw.periodic(model, state, values)
    spent, cycle = timed(lambda: zw.periodic(model, state, values))
    product = float(np.prod(cycle.multipliers).real)
    print(f"periodic             {1e3 * spent:8.1f} ms  gap {cycle.residual:.1e}  product {product:.9f} (e^2 {E**2})")
    spent, (gap, product) = timed(shooting)
    print(f"solve_ivp, by hand   {1e3 * spent:8.1f} ms  gap {gap:.1e}  product {product:.9f}")
    spent, found = timed(lambda: zw.cycles(model, cycle, vary="A", within=(0.09, 0.16)), 2)
    count = sum(len(branch.cycles) for branch in found.branches)
    print(f"branches of the ball {spent:8.2f} s   {count} cycles, {len(found.flips)} flips, gap {found.residual:.1e}")
    toy = woodpecker()
    spent, pecking = timed(lambda: peck(*toy), 2, time.process_time)
    print(f"woodpecker's cycle   {spent:8.2f} s   CPU, gap {pecking.residual:.1e}, period {pecking.period:.9f}")
    along = {"vary": "mu", "within": (0.295, 0.36), "switch": False}
    spent, found = timed(lambda: zw.cycles(toy[0], pecking, **along), 1, time.process_time)
    count = sum(len(branch.cycles) for branch in found.branches)
    print(f"its branch over mu   {spent:8.2f} s   {count} cycles, {100 * spent / count:.1f} s for a hundred")
    diagram(4, 2)
    start = of_workers()
    spent, study = timed(lambda: diagram(500, 2), 1)
    used = of_workers() - start
    points = int(np.isfinite(study.dataset["section.t"].values).sum())
    print(f"diagram by sweep     {spent:8.2f} s   {used:.2f} s CPU of two workers, 500 forcings, {points} points kept")


if __name__ == "__main__":
    main()
