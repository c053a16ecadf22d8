"""A hanging chain of n links falls: time of one step of order 8, projected, for n up to 1000; it should grow like n.

Points in Cartesian coordinates, sparse kernels, the general loop. Each time is that of a whole call divided by the
steps tried, and stands beside the drift of the constraints before and after projecting, and that of the energy.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_simulate_chain.py
"""

from __future__ import annotations

import time

import numpy as np

import zwang as zw
from bench_evaluate_chain import chain, flat
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving

VALUES = {"m": 1.0, "g": 9.81, "l": 1.0}


def measure(n: int, until: float, tol: float) -> None:
    """Let a chain of n links fall from a wavy pose and print what a step costs."""
    system = flat(n, chain(n))
    angles = 0.3 * np.sin(0.1 * np.arange(n))
    q = np.stack([np.cumsum(np.cos(angles)), np.cumsum(np.sin(angles))], axis=1).ravel()
    params = np.array([VALUES[item.name] for item in system.parameters])
    kernels = zw.compile(system).kernels
    begin = time.perf_counter()
    flow = moving(kernels, ActiveSet(tuple(range(n))))
    sides = np.zeros(len(flow.watch_names))
    flow.advance(0.0, q, np.zeros(2 * n), params, 1e-9, tol, sides)
    ready = time.perf_counter() - begin
    best, found = np.inf, None
    for _ in range(3):
        begin = time.perf_counter()
        found = flow.advance(0.0, q, np.zeros(2 * n), params, until, tol, sides, dense=False)
        best = min(best, (time.perf_counter() - begin) / found.attempts)
    terms = kernels.terms(found.t[[0, -1]], found.q[[0, -1]].T, found.v[[0, -1]].T, params[:, None])
    energy = terms.energies.sum(axis=0)
    after = np.abs(terms.value[:, 1]).max()
    print(
        f"{n:>6}{ready:>10.2f}{found.attempts:>8}{1e6 * best:>12.1f}{1e6 * best / n:>14.3f}{found.drift:>11.1e}"
        f"{after:>11.1e}{abs(energy[1] - energy[0]) / abs(energy[0]):>11.1e}"
    )


def main() -> None:
    """Measure and print."""
    heads = ("links", "ready s", "tried", "us a step", "us a link", "drift", "after", "energy")
    print("".join(f"{head:>{width}}" for head, width in zip(heads, (6, 10, 8, 12, 14, 11, 11, 11), strict=True)))
    for n in (10, 30, 100, 300, 1000):
        measure(n, until=1.0, tol=1e-8)


if __name__ == "__main__":
    main()
