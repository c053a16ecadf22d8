"""Compile the kernels of the installation and of every gallery system once, so that parallel tests find them cached.

Run by `make warm` before the tests; not a test itself. What fails here fails again, with its reason, in the tests.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import time
from collections.abc import Callable

import numpy as np

import zwang as zw


def small_problem(*, bilateral: bool) -> zw.ContactProblem:
    """Return two contacts at rest, enough to reach every kernel of the planar enumeration."""
    rows = np.eye(4)
    contacts = [
        zw.Contact(rows[2 * j], tangent=rows[2 * j + 1], friction=0.5, bilateral=bilateral, name=f"c{j}")
        for j in range(2)
    ]
    return zw.ContactProblem(np.eye(4) + 0.1, [-1.0, 0.2, -2.0, 3.0], contacts)


def spatial_problem() -> zw.ContactProblem:
    """Return two contacts at rest with friction in planes, for the solvers over cones."""
    rows = np.eye(6)
    contacts = [zw.Contact(rows[3 * j + 2], tangent=rows[3 * j : 3 * j + 2], friction=0.5) for j in range(2)]
    return zw.ContactProblem(np.eye(6) + 0.1, [3.0, 4.0, -1.0, 0.1, 0.2, -1.0], contacts)


def two_particles() -> None:
    """Ask for friction with known bounds, which is one convex program."""
    entry = zw.gallery.get("two_particles")
    zw.reactions(entry.system, entry.state, entry.params)


def chain(n: int) -> zw.System:
    """Return a chain long enough to be solved by sparse kernels."""
    linkage = zw.Linkage("chain", gravity=(0, -9.81)).ground("O", 0, 0)
    linkage.points([f"P{i}" for i in range(n)], mass=1)
    linkage.chain(["O", *(f"P{i}" for i in range(n))], lengths=[1] * n)
    return linkage.system()


def sparse_kernels() -> None:
    """Evaluate a chain at a pose where no bar vanishes."""
    system = chain(10)
    state = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    state |= {f"x_P{i}": 1.0 + i for i in range(10)}
    zw.compile(system).evaluate(state)
    zw.simulate(system, state, until=0.01)


def stepping_kernels() -> None:
    """Move a small system by tapes: the loop over steps is compiled once."""
    from zwang._derive.modes import ActiveSet
    from zwang._kernels.moving import moving

    system = zw.gallery.get("ellipse_pendulum_cartesian").system
    flow = moving(zw.compile(system), ActiveSet(()), compiled=False)
    flow.advance(0.0, np.zeros(4), np.zeros(4), np.ones(9), 1.0, 1e-6, np.zeros(len(flow.watch_names)))


def lanes() -> None:
    """Move motions side by side."""
    from zwang._derive.modes import ActiveSet

    found = zw.compile(zw.gallery.get("ellipse_pendulum_cartesian").system).kernels.lanes(ActiveSet((0, 1, 2)))
    assert found is not None
    found.run(np.zeros(1), np.zeros((4, 1)), np.zeros((4, 1)), np.ones((9, 1)), np.ones(1), 1e-6)


def time_stepping() -> None:
    """Let a ball fall and a tower stand by steps of fixed length."""
    for name in ("bouncing_ball", "stack"):
        entry = zw.gallery.get(name)
        zw.simulate(entry.system, entry.state, entry.params, until=0.01, method="timestepping", step=1e-3)


def limits() -> None:
    """Follow a fast oscillation and a stiff friction, each with its loop."""
    held, sleigh = zw.gallery.get("kozlov_neishtadt"), zw.gallery.get("sleigh")
    strengths = [1e3, 1e4, 1e5]
    zw.limit(held.system, "floor", held.state, by=zw.Stiffness, until=0.1, strengths=strengths)
    zw.limit(sleigh.system, "blade", sleigh.state, sleigh.params, by=zw.Viscosity, until=0.1, strengths=strengths)


def four_bar() -> None:
    """Trace a configuration space with singular points."""
    entry = zw.gallery.get("four_bar")
    zw.trace(entry.system, entry.params)


PARTS: dict[str, Callable[[], object]] = {
    # The longest first, so that two processes end at about the same time.
    "sparse factorization": sparse_kernels,
    "limits": limits,
    "time stepping": time_stepping,
    "loop over steps": stepping_kernels,
    "planar contacts": lambda: zw.reactions(small_problem(bilateral=False)),
    "friction in planes": lambda: zw.reactions(spatial_problem()),
    "motions side by side": lanes,
    "configuration spaces": four_bar,
    "friction with known bounds": two_particles,
    "planar contacts, bilateral": lambda: zw.reactions(small_problem(bilateral=True)),
}


def compile_part(name: str) -> str:
    """Compile one part, or the kernels of a system of the gallery, and say how long it took."""
    start = time.perf_counter()
    if name in PARTS:
        PARTS[name]()  # kernels are compiled at their first call
    else:
        entry = zw.gallery.get(name)
        zw.compile(entry.system).evaluate(entry.state, entry.params)
    return f"    {name}: {time.perf_counter() - start:.2f} s"


def main() -> None:
    """Compile all parts in two processes, which share the cache on disk."""
    names = [*PARTS, *zw.gallery.names()]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for line in pool.map(compile_part, names):
            print(line, flush=True)


if __name__ == "__main__":
    main()
