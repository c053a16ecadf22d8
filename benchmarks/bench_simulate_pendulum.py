"""Motion of the ellipse pendulum in Cartesian coordinates for ten seconds, beside the peers in the same run.

Four coordinates, three constraints, away from the critical parameters. Every time is a minimum over repeats of a call
on prepared arrays and stands beside its error: the largest difference of a position at the end from the motion at the
smallest tolerance, on which zwang and heyoka agree. Tolerances are chosen so that the errors are alike. Peers that are
not installed are left out. Run: OMP_NUM_THREADS=1 python benchmarks/bench_simulate_pendulum.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._derive import derive
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import Moving, moving
from zwang._numerics.motion import calls, events, run_layout
from zwang._numerics.motion.loop import Stored
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 9.81}
UNTIL = 10.0
GOAL = 2e-11
SLOTS = 4000


def start() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and parameters of the start."""
    everything = place(PARAMS, -0.3, 0.42)
    inputs = resolve(ENTRY.system, {name: everything[name] for name in ENTRY.state}, PARAMS)
    return inputs.q[:, 0].copy(), inputs.v[:, 0].copy(), inputs.params[:, 0].copy()


def best(function: Callable[[], object], repeats: int) -> float:
    """Return the smallest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


class Prepared:
    """A call of the compiled loop on arrays made beforehand."""

    def __init__(self, flow: Moving, tol: float, *, dense: bool, watched: bool, project: bool) -> None:
        q, v, params = start()
        w = len(flow.watch_names)
        sides, samples = np.zeros(w), np.zeros(events.SAMPLES * w)
        if watched:
            sides[flow.watch_names.index(("extra", 0))] = 1.0
        self.loop, self.params = flow.prepared(params, sides), params
        self.counts, self.reals = np.zeros(run_layout.COUNTS, dtype=np.int64), np.zeros(run_layout.REALS)
        self.counts[:4] = project * flow.kernels.positions, project * flow.kernels.rows, w, 0
        self.counts[run_layout.SIDES], self.counts[run_layout.KEEP] = params.size, dense
        self.counts[run_layout.ATTEMPTS] = SLOTS
        self.tol = tol
        width = -(-2 * flow.n // calls.BLOCK) * calls.BLOCK
        self.room = np.zeros(calls.ROOM * width)
        self.room[calls.S * width :][: 2 * flow.n] = 1.0
        self.watched = events.Watched(sides, np.full(w, 1e-15), samples, np.zeros(w), np.zeros(w, dtype=np.int64))
        dense_output = np.empty((SLOTS if dense else 0, 7, 8))
        self.stored = Stored(np.empty(SLOTS), np.empty((SLOTS, 8)), np.empty((SLOTS, 4)), dense_output)
        self.stored.times[0], self.stored.states[0] = 0.0, np.concatenate([q, v])

    def __call__(self) -> None:
        self.reals[:3] = UNTIL, self.tol, 0.0
        self.counts[run_layout.BEGUN] = 0
        ended = self.loop(self.params, self.room, self.watched, self.counts, self.reals, self.stored)
        assert ended == run_layout.REACHED

    @property
    def end(self) -> np.ndarray:
        """The positions at the end."""
        return self.stored.states[self.counts[run_layout.STEPS], :4]


def tune(make: Callable[[float], Callable[[], np.ndarray]], exact: np.ndarray) -> tuple[float, Callable, float]:
    """Return the largest tolerance, in steps of 10^(1/4), whose error is within the goal, its run and its error."""
    for power in np.arange(-8.0, -16.0, -0.25):
        run = make(10.0**power)
        error = float(np.abs(run() - exact).max())
        if error <= GOAL:
            return 10.0**power, run, error
    raise RuntimeError("no tolerance reaches the goal")


def zwang_run(
    flow: Moving, tol: float, *, dense: bool = False, watched: bool = False, project: bool = True
) -> Callable[[], np.ndarray]:
    call = Prepared(flow, tol, dense=dense, watched=watched, project=project)

    def run() -> np.ndarray:
        call()
        return call.end

    return run


def explicit() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Return symbols of the state and accelerations in closed form, for peers that take expressions."""
    system, equations = ENTRY.system, derive(ENTRY.system)
    values = {item: PARAMS[item.name] for item in system.parameters}
    mass, force, rows, gamma = (getattr(equations, name).subs(values) for name in ("mass", "force", "rows", "gamma"))
    inverse = mass.inv()
    gram, right = rows * inverse * rows.T, gamma - rows * inverse * force
    lam = gram.adjugate() * right / gram.det()
    return [*system.coordinates, *system.velocities], list(inverse * (force + rows.T * lam))


def heyoka_accelerations(symbols: list) -> list:
    """Return the accelerations as heyoka's expressions, by elimination: the fastest of the forms that were tried."""
    import heyoka as hy

    system, equations = ENTRY.system, derive(ENTRY.system)
    values = {item: PARAMS[item.name] for item in system.parameters}
    plain = {symbol: sp.Symbol(symbol.name) for symbol in symbols}
    mass, force, rows, gamma = (getattr(equations, name).subs(values) for name in ("mass", "force", "rows", "gamma"))
    inverse = mass.inv()

    def turned(matrix: sp.Matrix) -> list[list]:
        return [[hy.from_sympy(sp.sympify(item).xreplace(plain)) for item in row] for row in matrix.tolist()]

    gram, right = turned(rows * inverse * rows.T), [row[0] for row in turned(gamma - rows * inverse * force)]
    for k in range(3):
        for i in range(k + 1, 3):
            factor = gram[i][k] / gram[k][k]
            gram[i] = [x - factor * y for x, y in zip(gram[i], gram[k], strict=True)]
            right[i] = right[i] - factor * right[k]
    lam: list = [None] * 3
    for k in (2, 1, 0):
        known = [gram[k][j] * lam[j] for j in range(k + 1, 3)]
        lam[k] = (right[k] - sum(known, hy.expression(0.0))) / gram[k][k]
    free, carried = turned(inverse * force), inverse * rows.T
    pushed = turned(carried)
    return [
        free[i][0] + sum((pushed[i][j] * lam[j] for j in range(3) if carried[i, j] != 0), hy.expression(0.0))
        for i in range(4)
    ]


def heyoka_run(tol: float, *, watched: bool = False) -> Callable[[], np.ndarray]:
    import heyoka as hy

    symbols = [*ENTRY.system.coordinates, *ENTRY.system.velocities]
    accelerations = heyoka_accelerations(symbols)
    system = [(hy.make_vars(symbols[i].name), hy.make_vars(symbols[4 + i].name)) for i in range(4)]
    system += [(hy.make_vars(symbols[4 + i].name), accelerations[i]) for i in range(4)]
    q, v, _ = start()
    y = np.concatenate([q, v])
    events = {"t_events": [hy.t_event(hy.make_vars(symbols[3].name) + 10.0)]} if watched else {}
    solver = hy.taylor_adaptive(system, y.tolist(), tol=tol, **events)

    def run() -> np.ndarray:
        solver.time = 0.0
        solver.state[:] = y
        solver.propagate_until(UNTIL)
        return solver.state[:4].copy()

    return run


def scipy_run(tol: float) -> Callable[[], np.ndarray]:
    symbols, accelerations = explicit()
    right = sp.lambdify([symbols], accelerations, modules="math", cse=True)
    q, v, _ = start()

    def slope(_: float, y: np.ndarray) -> list[float]:
        return [*y[4:], *right(y)]

    return lambda: solve_ivp(
        slope, (0, UNTIL), np.concatenate([q, v]), method="DOP853", rtol=tol, atol=tol
    ).y[:4, -1]  # fmt: skip


def verb_run(tol: float) -> Callable[[], np.ndarray]:
    """Return a call of the public verb; it counts its steps, and gets code of its own after some thousands."""
    everything = place(PARAMS, -0.3, 0.42)
    state, model = {name: everything[name] for name in ENTRY.state}, zw.compile(ENTRY.system)

    def run() -> np.ndarray:
        motion = zw.simulate(model, state, PARAMS, until=UNTIL, tol=max(tol, 1e-15))
        return motion.q[-1]

    for _ in range(40):
        run()
    return run


def main() -> None:
    """Measure and print."""
    y = ENTRY.system.coordinates[3]
    model, mode = zw.compile(ENTRY.system), ActiveSet((0, 1, 2))
    flow = moving(model, mode, extra=(y + 10,))
    begin = time.perf_counter()
    exact = zwang_run(flow, 3e-16)()
    print(f"first call of the loop (compiling, or reading the cache): {time.perf_counter() - begin:.2f} s")
    cases: list[tuple[str, Callable[[float], Callable[[], np.ndarray]], int]] = [
        ("zwang", lambda tol: zwang_run(flow, tol, project=False), 300),
        ("the same, projected", lambda tol: zwang_run(flow, tol), 300),
        ("projected, dense output", lambda tol: zwang_run(flow, tol, dense=True), 300),
        ("projected, dense output, an event", lambda tol: zwang_run(flow, tol, dense=True, watched=True), 300),
        ("the verb simulate, all it returns", verb_run, 100),
        ("SciPy DOP853, lambdified", scipy_run, 3),
    ]
    try:
        other = heyoka_run(1e-18)()
        print(f"zwang and heyoka at the smallest tolerance differ by {np.abs(other - exact).max():.1e}")
        cases.insert(0, ("heyoka", heyoka_run, 300))
        cases.insert(1, ("heyoka, with an event", lambda tol: heyoka_run(tol, watched=True), 300))
    except ImportError:
        print("heyoka is not installed")
    print(f"{'ten seconds, error within ' + format(GOAL, '.0e'):<36}{'tolerance':>10}{'ms':>10}{'error':>10}")
    for label, make, repeats in cases:
        tol, run, error = tune(make, exact)
        print(f"{label:<36}{tol:>10.1e}{1e3 * best(run, repeats):>10.4f}{error:>10.1e}")


if __name__ == "__main__":
    main()
