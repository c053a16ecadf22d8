"""Large mechanisms: how long it takes to derive and compile them, and what one evaluation costs.

A chain, a closed loop and a net of points in Cartesian coordinates (declared flat and by `Linkage`), the closed chain
of 20 links in joint coordinates, and the first result of a new process that finds its kernels in the cache. Times are
minima over repeats; each evaluation stands beside the residual of the equations.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_evaluate_chain.py
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import sympy as sp

import zwang as zw
from zwang._compile.given_values import resolve

PARAMS = {"m": 1.0, "g": 9.81, "l": 1.0}


def flat(n: int, bars: list[tuple[int, int]]) -> zw.System:
    """Return n points and bars between them (-1 is the origin), written out as one declaration."""
    q, v = zw.coordinates([f"{axis}{i}" for i in range(n) for axis in "xy"])
    m, g, length = zw.parameters("m g l")
    points = [(q[2 * i], q[2 * i + 1]) for i in range(n)]
    origin = (sp.Integer(0), sp.Integer(0))

    def bar(i: int, j: int) -> zw.Bilateral:
        a, b = (points[k] if k >= 0 else origin for k in (i, j))
        return zw.Bilateral(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - length**2) / 2, name=f"{i}-{j}")

    return zw.System(
        name="flat",
        kinetic=sp.Add(*(m * (v[2 * i] ** 2 + v[2 * i + 1] ** 2) / 2 for i in range(n))),
        potential=sp.Add(*(m * g * point[1] for point in points)),
        constraints=[bar(i, j) for i, j in bars],
    )


def built(n: int, bars: list[tuple[int, int]]) -> zw.System:
    """Return the same by the builder of linkages."""
    m, g, length = zw.parameters("m g l")
    linkage = zw.Linkage("built", gravity=(0, -g))
    linkage.ground("O", 0, 0)
    for i in range(n):
        linkage.point(f"P{i}", mass=m)
    for i, j in bars:
        linkage.bar(f"P{i}" if i >= 0 else "O", f"P{j}" if j >= 0 else "O", length=length)
    return linkage.system()


def chain(n: int) -> list[tuple[int, int]]:
    return [(i - 1, i) for i in range(n)]


def loop(n: int) -> list[tuple[int, int]]:
    return [*chain(n), (n - 1, -1)]


def net(n: int) -> list[tuple[int, int]]:
    side = round(n**0.5)
    across = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    down = [(side * i + j, side * (i + 1) + j) for i in range(side - 1) for j in range(side)]
    return [(-1, 0), *across, *down]


def joint_chain(n: int) -> zw.System:
    """Return a closed chain of n uniform links by the absolute angles of the links."""
    q, v = zw.coordinates([f"a{i}" for i in range(n)], angles=True)
    m, g, length, d = zw.parameters("m g l d")
    x, y = sp.Integer(0), sp.Integer(0)
    kinetic, potential = [], []
    for i in range(n):
        cx, cy = x + length / 2 * sp.cos(q[i]), y + length / 2 * sp.sin(q[i])
        x, y = x + length * sp.cos(q[i]), y + length * sp.sin(q[i])
        kinetic.append(m * (zw.rate(cx) ** 2 + zw.rate(cy) ** 2) / 2 + m * length**2 * v[i] ** 2 / 24)
        potential.append(m * g * cy)
    closing = [zw.Bilateral(x - d, name="x"), zw.Bilateral(y, name="y")]
    return zw.System(name="joints", kinetic=sp.Add(*kinetic), potential=sp.Add(*potential), constraints=closing)


def values(system: zw.System) -> dict[str, float]:
    source = np.random.default_rng(1)
    return {item.name: float(source.normal()) for item in (*system.coordinates, *system.velocities)}


def measure(label: str, make) -> None:
    start = time.perf_counter()
    system = make()
    declared = time.perf_counter()
    state = values(system)
    params = {item.name: PARAMS.get(item.name, 0.5) for item in system.parameters}
    inputs = resolve(system, state, params)
    begin = time.perf_counter()
    kernels = zw.compile(system).kernels
    active = list(range(len(system.constraints)))
    arguments = (inputs.t, inputs.q, inputs.v, inputs.params, active)
    solved = kernels.solve(*arguments)
    compiled = time.perf_counter() - begin
    terms = kernels.terms(*arguments[:4])
    residual = float(terms.residual(solved, active)[0]) if solved.regular.all() else float("nan")
    if hasattr(kernels, "model"):
        model = kernels.model(active)
        q, v, p = (np.ascontiguousarray(array[:, 0]) for array in (inputs.q, inputs.v, inputs.params))
        out = np.empty(inputs.q.shape[0] + len(active))
        call = lambda: model.module.one(0.0, q, v, p, model.table, model.workspace, out)  # noqa: E731
    else:
        call = lambda: kernels.solve(*arguments)  # noqa: E731
    best = min(_timed(call) for _ in range(200))
    print(f"{label:<34}{declared - start:>9.2f}{compiled:>12.2f}{1e6 * best:>14.1f}{residual:>12.1e}")


def _timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


FIRST = """
import time; start = time.perf_counter()
import zwang as zw
entry = zw.gallery.get("ellipse_pendulum_cartesian")
zw.compile(entry.system).evaluate(entry.state, entry.params)
print(time.perf_counter() - start)
"""


def main() -> None:
    """Measure and print."""
    print(f"{'system':<34}{'declare s':>9}{'compile s':>12}{'one eval us':>14}{'residual':>12}")
    for n in (1000, 5000):
        measure(f"chain of {n}, flat", lambda n=n: flat(n, chain(n)))
    measure("closed loop of 1000, flat", lambda: flat(1000, loop(1000)))
    measure("net of 1000, flat", lambda: flat(1024, net(1024)))
    for label, bars, n in (("chain", chain, 1000), ("closed loop", loop, 1000), ("net", net, 1024)):
        measure(f"{label} of 1000, by Linkage", lambda bars=bars, n=n: built(n, bars(n)))
    measure("closed chain of 20, joint angles", lambda: joint_chain(20))
    command = [sys.executable, "-c", FIRST]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(5)]
    print(f"first result of a new process, kernels cached: {min(map(float, runs)):.2f} s")


if __name__ == "__main__":
    main()
