"""Exhaustive search: how long it takes to prove that a traced configuration space is complete.

zwang proves of every box that it is empty or holds one smooth stretch, joins the stretches and matches them with the
traced arcs. Codac, if it is installed (pip install codac), paves the same set from outside with contractors in C++: it
proves boxes empty, and what is left over may or may not hold a point; it stands here for the cost of subdivision alone.
Every time is processor time and stands beside what was proved.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_trace_exhaustive.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import zwang as zw
from zwang._trace.exhaustive import certify

PLANE = {"x": (-2.0, 2.1), "y": (-2.0, 2.2)}
CARTESIAN = dict.fromkeys(("x_B", "y_B", "x_C", "y_C"), (-3.0, 3.1))
TOUCHING = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
CASES: list[tuple[str, dict[str, float], Any]] = [
    ("four_bar", {}, None),
    ("four_bar_crank_rocker", {}, None),
    ("four_bar_kite", {}, None),
    ("slider_crank", {"l": 0.5}, None),
    ("ellipse_pendulum", {"a": -0.4}, None),
    ("ellipse_pendulum", {}, None),
    ("ellipse_pendulum", TOUCHING, None),
    ("ellipse_pendulum_cartesian", {"a": -0.4}, CARTESIAN),
    ("ellipse_pendulum_cartesian", {}, CARTESIAN),
    ("curve_three_lines", {}, PLANE),
]


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def proofs() -> None:
    print(f"{'system':<28}{'changed':<38}{'traced':>9}{'proved':>9}{'boxes':>8}{'residual':>10}  complete")
    for name, changes, box in CASES:
        entry = zw.gallery.get(name)
        params = {**entry.params, **changes}
        zw.trace(entry.system, params, box=box)
        before, space = timed(lambda entry=entry, params=params, box=box: zw.trace(entry.system, params, box=box))
        seconds, found = timed(lambda space=space, entry=entry, params=params: certify(space, entry.system, params))
        changed = ", ".join(f"{key}={value:g}" for key, value in changes.items())
        print(
            f"{name:<28}{changed:<38}{before:>7.3f} s{seconds:>7.2f} s{found.boxes:>8}{float(space.residual):>10.1e}  "
            f"{found.complete}"
        )


def paving() -> None:
    print("\nfour-bar (1, 1, 1, 1), paved from outside")
    try:
        from codac import AnalyticFunction, CtcInverse, IntervalVector, PavingOut, VectorVar, cos, pave, sin, sqr
    except ImportError:
        print("  codac is not installed")
        return
    x = VectorVar(2)
    along, up = 1 + cos(x[1]) - cos(x[0]), sin(x[1]) - sin(x[0])
    contractor = CtcInverse(AnalyticFunction([x], sqr(along) + sqr(up) - 1), 0.0)
    start = IntervalVector([[-3.9, 2.4], [-3.9, 2.4]])
    for width in (0.05, 0.01, 0.002):
        seconds, found = timed(lambda width=width: pave(start, contractor, width))
        print(f"  codac, boxes of {width:<6} {seconds:>7.3f} s, {len(found.boxes(PavingOut.outer)):>6} boxes undecided")


if __name__ == "__main__":
    proofs()
    paving()
