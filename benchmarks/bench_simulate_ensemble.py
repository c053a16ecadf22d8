"""Ten thousand motions of the ellipse pendulum in Cartesian coordinates, from different states, for ten seconds.

Four coordinates, three constraints; angles and speeds of the crank at the start differ. Beside it heyoka's batch mode
on the same states, each at the largest tolerance whose error is within the goal. The error is the largest difference of
a position at the end, over all motions compared, from the motion at the smallest tolerance. Times are of the processor,
for one core, a minimum over repeats, of calls on prepared arrays; what the public verb takes is printed apart.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_simulate_ensemble.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import zwang as zw
from bench_simulate_pendulum import ENTRY, PARAMS, UNTIL, heyoka_accelerations
from zwang._compile.given_values import resolve
from zwang._derive.motion_modes import ActiveSet
from zwang.gallery.pendulum_on_ellipse import place

MOTIONS, COMPARED = 10_000, 400
GOALS = (1e-10, 1e-11)


def starts() -> dict[str, np.ndarray]:
    """Return the states: name -> (motions,) array."""
    rng = np.random.default_rng(3)
    angles, rates = rng.uniform(-0.5, -0.1, MOTIONS), rng.uniform(-0.5, 0.5, MOTIONS)
    found = [place(PARAMS, float(a), float(b)) for a, b in zip(angles, rates, strict=True)]
    return {name: np.array([item[name] for item in found]) for name in ENTRY.state}


def best(function: Callable[[], object], repeats: int) -> float:
    """Return the smallest time of several runs, in seconds of the processor."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def heyoka_batch(q: np.ndarray, v: np.ndarray, tol: float, lanes: int) -> Callable[[], np.ndarray]:
    """Return a run of heyoka's batch mode over all states."""
    import heyoka as hy

    symbols = [*ENTRY.system.coordinates, *ENTRY.system.velocities]
    accelerations = heyoka_accelerations(symbols)
    system = [(hy.make_vars(symbols[i].name), hy.make_vars(symbols[4 + i].name)) for i in range(4)]
    system += [(hy.make_vars(symbols[4 + i].name), accelerations[i]) for i in range(4)]
    y = np.concatenate([q, v])
    solver = hy.taylor_adaptive_batch(system, np.ascontiguousarray(y[:, :lanes]), tol=tol)

    def run() -> np.ndarray:
        ends = np.empty((4, y.shape[1]))
        for k in range(0, y.shape[1], lanes):
            solver.set_time(0.0)
            solver.state[:] = y[:, k : k + lanes]
            solver.propagate_until(UNTIL)
            ends[:, k : k + lanes] = solver.state[:4]
        return ends

    return run


def main() -> None:
    """Measure and print."""
    state = starts()
    inputs = resolve(ENTRY.system, state, PARAMS)
    begin = time.process_time()
    lanes = zw.compile(ENTRY.system).kernels.lanes(ActiveSet((0, 1, 2)))
    assert lanes is not None

    def zwang_run(q: np.ndarray, v: np.ndarray, tol: float) -> Callable[[], np.ndarray]:
        times, until = np.zeros(q.shape[1]), np.full(q.shape[1], UNTIL)

        def run() -> np.ndarray:
            ends = lanes.run(times, q, v, inputs.params, until, tol)
            return np.where(ends.reached, ends.q, np.nan)

        return run

    few = inputs.q[:, :COMPARED].copy(), inputs.v[:, :COMPARED].copy()
    exact = zwang_run(*few, 1e-15)()
    print(f"first call (compiling, or reading the cache): {time.process_time() - begin:.2f} s")
    cases: list[tuple[str, Callable[..., Callable[[], np.ndarray]], int]] = [("zwang, lanes of 8", zwang_run, 3)]
    try:
        import heyoka as hy

        other = heyoka_batch(*few, 1e-17, 4)()
        print(f"zwang and heyoka at the smallest tolerance differ by {np.abs(other - exact).max():.1e}")
        for size in sorted({hy.recommended_simd_size(), 8}):
            cases.append((f"heyoka, batches of {size}", lambda q, v, tol, s=size: heyoka_batch(q, v, tol, s), 3))
    except ImportError:
        print("heyoka is not installed")
    print(f"{'':<24}{'tolerance':>10}{'us a motion':>14}{'error':>10}")
    for goal in GOALS:
        print(f"error within {goal:.0e}")
        for label, make, repeats in cases:
            for power in np.arange(-9.0, -16.0, -0.25):
                error = float(np.abs(make(*few, 10.0**power)() - exact).max())
                if error <= goal:
                    break
            run = make(inputs.q, inputs.v, 10.0**power)
            print(f"{label:<24}{10.0**power:>10.1e}{1e6 * best(run, repeats) / MOTIONS:>14.2f}{error:>10.1e}")
    zw.simulate(ENTRY.system, state, PARAMS, until=UNTIL, tol=1e-9)
    begin = time.process_time()
    ensemble = zw.simulate(ENTRY.system, state, PARAMS, until=UNTIL, tol=1e-9)
    spent = time.process_time() - begin
    error = max(float(np.abs(ensemble.end[item.name][:COMPARED] - exact[i]).max())
                for i, item in enumerate(ENTRY.system.coordinates))  # fmt: skip
    print(f"{'the public verb':<24}{1e-9:>10.1e}{1e6 * spent / MOTIONS:>14.2f}{error:>10.1e}")


if __name__ == "__main__":
    main()
