"""Accelerations and multipliers of the ellipse pendulum in Cartesian coordinates, beside the peers in the same run.

Four coordinates, three constraints. Every time is a minimum over repeats and stands beside the largest relative error
of the equations M a = Q + J^T lam, J a = gamma, recomputed here from the definitions. Peers that are not installed are
left out. Run: OMP_NUM_THREADS=1 python benchmarks/bench_evaluate_pendulum.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import sympy as sp

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._derive import derive
from zwang._numerics.jit import EVAL_TYPE, njit

STATES = 100_000
ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")


@njit(f"float64({EVAL_TYPE}, int64, float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1])")
def dependent_calls(kernel, count, q, v, params, table, work, out):
    """Call a kernel many times, each call depending on the one before."""
    total = 0.0
    for _ in range(count):
        kernel(0.0, q, v, params, table, work, out)
        q[0] += 1e-30 * out[0]
        total += out[1]
    return total


def best(function: Callable[[], object], repeats: int) -> float:
    """Return the smallest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def residual(terms: zw._kernels.terms.Terms, a: np.ndarray, lam: np.ndarray) -> float:
    """Return the largest relative error of the equations."""
    inertia = np.einsum("ijb,jb->ib", terms.mass, a)
    reaction = np.einsum("jib,jb->ib", terms.rows, lam)
    motion = np.abs(inertia - terms.force - reaction).max() / (np.abs(inertia).max() + np.abs(reaction).max())
    held = np.abs(np.einsum("jib,ib->jb", terms.rows, a) - terms.gamma).max() / np.abs(terms.gamma).max()
    return float(max(motion, held))


def zwang_one(inputs) -> tuple[float, np.ndarray]:
    module = zw.compile(ENTRY.system).kernels.solver([0, 1, 2]).module
    q, v, p = (np.ascontiguousarray(array[:, 0]) for array in (inputs.q, inputs.v, inputs.params))
    table, work, out = np.zeros(1, dtype=np.int64), np.zeros(module.WORKSPACE), np.zeros(8)
    module.prepare(p, work)
    count = 20_000
    run = lambda: dependent_calls(module.one.entry, count, q, v, p, table, work, out)  # noqa: E731
    run()
    return best(run, 300) / count, out[:7].copy()


def zwang_rows(inputs) -> tuple[float, np.ndarray]:
    module = zw.compile(ENTRY.system).kernels.solver([0, 1, 2]).module
    first, work = np.ascontiguousarray(inputs.params[:, 0]), np.empty(module.WORKSPACE)
    out, regular = np.empty((8, STATES)), np.empty(STATES, dtype=bool)
    module.prepare(first, work)
    arguments = (inputs.t, inputs.q, inputs.v, inputs.params, first, work, out, regular)
    module.shared(*arguments)
    assert regular.all()
    return best(lambda: module.shared(*arguments), 300) / STATES, out[:7]


def lambdified(inputs) -> tuple[float, np.ndarray]:
    """The usual way: lambdify M, Q, J, gamma, and solve the bordered system with NumPy."""
    equations = derive(ENTRY.system)
    symbols = [*ENTRY.system.coordinates, *ENTRY.system.velocities, *ENTRY.system.parameters]
    function = sp.lambdify(symbols, [equations.mass, equations.force, equations.rows, equations.gamma], cse=True)
    values = [*inputs.q[:, 0], *inputs.v[:, 0], *inputs.params[:, 0]]

    def solve() -> np.ndarray:
        mass, force, rows, gamma = function(*values)
        bordered = np.block([[mass, -rows.T], [rows, np.zeros((3, 3))]])
        return np.linalg.solve(bordered, np.concatenate([force[:, 0], gamma[:, 0]]))

    solve()
    return best(lambda: [solve() for _ in range(20)], 60) / 20, solve()


def heyoka_rows(inputs) -> tuple[float, np.ndarray] | None:
    """A compiled function of heyoka for the solution written out, over the same arrays."""
    try:
        import heyoka as hy
    except ImportError:
        return None
    from zwang._derive.solution import solve
    from zwang._graph.evaluate import evaluate

    program = zw.compile(ENTRY.system).kernels.program
    found = solve(program, [0, 1, 2])
    names = [f"q{i}" for i in range(4)] + [f"v{i}" for i in range(4)]
    variables = hy.make_vars(*names)
    inputs_of = dict(zip([*program.q, *program.v], variables, strict=True))
    inputs_of |= {node: hy.par[i] for i, node in enumerate(program.params)}
    outputs = evaluate(program.graph, [*found.accelerations, *found.multipliers], inputs_of, hy)
    function = hy.cfunc(outputs, vars=variables, compact_mode=False)
    arrays = np.ascontiguousarray(np.concatenate([inputs.q, inputs.v]))
    params = np.ascontiguousarray(np.repeat(inputs.params, STATES, axis=1))
    out = np.empty((7, STATES))
    function(arrays, pars=params, outputs=out)
    return best(lambda: function(arrays, pars=params, outputs=out), 300) / STATES, out


def main() -> None:
    """Measure and print."""
    source = np.random.default_rng(0)
    state = {name: value + 1e-3 * source.normal(size=STATES) for name, value in ENTRY.state.items()}
    inputs = resolve(ENTRY.system, state, ENTRY.params)
    terms = zw.compile(ENTRY.system).kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    first = type(terms)(*(array[..., :1] for array in vars(terms).values()))
    one, solution = zwang_one(inputs)
    slow, reference = lambdified(inputs)
    print(f"{'route':<44}{'ns per state':>14}{'residual':>12}")
    rows = [
        ("zwang native, one state from compiled code", one, first, solution[:4, None], solution[4:, None]),
        ("sympy.lambdify + numpy.linalg.solve", slow, first, reference[:4, None], reference[4:, None]),
    ]
    array_time, array = zwang_rows(inputs)
    rows.append((f"zwang native, array of {STATES}", array_time, terms, array[:4], array[4:]))
    peer = heyoka_rows(inputs)
    if peer:
        rows.append((f"heyoka compiled function, array of {STATES}", peer[0], terms, peer[1][:4], peer[1][4:]))
    for label, seconds, at, a, lam in rows:
        print(f"{label:<44}{1e9 * seconds:>14.1f}{residual(at, a, lam):>12.1e}")
    print(f"lambdify / zwang one state: {slow / one:.0f}; lambdify / zwang array: {slow / array_time:.0f}")
    if peer:
        print(f"heyoka / zwang on arrays: {peer[0] / array_time:.2f}")


if __name__ == "__main__":
    main()
