"""Exponents of the multipliers of the ellipse pendulum at its tangency: series and eighty digits beside doubles.

The peer is what one does without the verb: evaluate the compiled equations at shrinking distances along a branch and
fit a line to log |lam| over log distance. In double precision the branch itself can't be told from its point below a
distance of 1e-4. Each time stands beside the error of the exponent, which is -2 exactly.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_asymptotics_pendulum.py
"""

from __future__ import annotations

import time

import numpy as np

import zwang as zw
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "r1": 1.5625, "r2": 1.25, "a": -0.5625}
FOLDED = {"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0}
EXACT = -2.0


def verb() -> tuple[float, float]:
    """Return seconds and error of zwang.asymptotics, for all four half-branches and three multipliers."""
    start = time.perf_counter()
    found = zw.asymptotics(ENTRY.system, PARAMS, at=FOLDED)
    seconds = time.perf_counter() - start
    return seconds, max(abs(row.exponent - EXACT) for row in found.rows)


def fitted(smallest: float) -> tuple[float, float]:
    """Return seconds and error of a fit in double precision on one half-branch, down to a distance."""
    model = zw.compile(ENTRY.system)
    names = [item.name for item in (*ENTRY.system.coordinates, *ENTRY.system.velocities)]
    start = time.perf_counter()
    distances = np.geomspace(0.1, smallest, 25)
    states = [place(PARAMS, phi, 1.0) for phi in distances]
    batch = {name: np.array([state[name] for state in states]) for name in names}
    lam = model.multipliers(batch, PARAMS)["BC"]
    slope = np.polyfit(np.log(distances), np.log(np.abs(lam)), 1)[0]
    return time.perf_counter() - start, abs(float(slope) - EXACT)


def main() -> None:
    """Print one line for each way."""
    fitted(0.05)
    print(f"{'way':<44} {'time [s]':>9} {'error of the exponent':>22}")
    seconds, error = verb()
    print(f"{'zwang.asymptotics, 4 branches, 3 multipliers':<44} {seconds:9.3f} {error:22.1e}")
    for smallest in (0.025, 0.01, 0.001):
        seconds, error = fitted(smallest)
        print(f"{f'doubles and a fit down to {smallest:g}, 1 branch':<44} {seconds:9.3f} {error:22.1e}")


if __name__ == "__main__":
    main()
