"""What an impact costs: elastic balls over a floor, some 500 impacts each, one motion and an ensemble of them.

The peer is SciPy's `solve_ivp` with a terminal event, restarted after each impact, as one writes it by hand. Times are
those of the processor; beside each stands the largest error of the instants, which are odd multiples of sqrt(2 h/g).
Run: OMP_NUM_THREADS=1 python benchmarks/bench_simulate_impacts.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw

G, UNTIL = 9.81, 450.0
MOTIONS = 1000


def ball() -> zw.System:
    """Return the ball and its floor."""
    (y,), (v,) = zw.coordinates("y")
    return zw.System(
        name="ball", kinetic=v**2 / 2, potential=G * y, constraints=[zw.Unilateral(y, restitution=1, name="floor")]
    )


def by_hand(height: float) -> np.ndarray[Any, Any]:
    """Return the instants of the impacts by solve_ivp."""

    def meets(t: float, z: Any) -> float:
        return float(z[0])

    meets.terminal, meets.direction = True, -1  # type: ignore[attr-defined]
    t, z, found = 0.0, np.array([height, 0.0]), []
    while t < UNTIL:
        made = solve_ivp(lambda t, z: [z[1], -G], (t, UNTIL), z, method="DOP853", rtol=1e-12, atol=1e-12, events=meets)
        t, z = float(made.t[-1]), np.array([0.0, -made.y[1, -1]])
        if made.status == 1:
            found.append(t)
    return np.array(found)


def error(times: np.ndarray[Any, Any], height: float) -> float:
    """Return the largest error of instants."""
    exact = np.sqrt(2 * height / G) * (2 * np.arange(len(times)) + 1)
    return float(np.abs(times - exact).max())


def show(what: str, spent: float, times: np.ndarray[Any, Any]) -> None:
    """Print the time of an impact and the error of the instants."""
    each = 1e6 * spent / len(times)
    print(f"{what:12} {each:8.1f} us an impact  {len(times)} impacts, error {error(times, 1.0):.1e} s")


def main() -> None:
    """Print all three."""
    model = zw.compile(ball())
    state = {"y": 1.0, "v_y": 0.0}
    spent = np.inf
    for _ in range(6):  # the mode's own code is made once it pays
        start = time.process_time()
        motion = zw.simulate(model, state, {}, until=UNTIL)
        spent = min(spent, time.process_time() - start)
    show("simulate", spent, np.array([event.time for event in motion.events]))
    start = time.process_time()
    times = by_hand(1.0)
    show("solve_ivp", time.process_time() - start, times)
    heights = np.linspace(0.9, 1.1, MOTIONS)
    start = time.process_time()
    many = zw.simulate(model, {"y": heights, "v_y": 0.0}, {}, until=UNTIL, budget={"steps": 10_000_000})
    spent = time.process_time() - start
    count = sum(len(motion.events) for motion in many.motions)
    worst = max(
        error(np.array([event.time for event in motion.events]), height)
        for motion, height in zip(many.motions, heights, strict=True)
    )
    print(
        f"an ensemble  {1e6 * spent / count:8.1f} us an impact  {count} impacts in {spent:.1f} s, error {worst:.1e} s"
    )


if __name__ == "__main__":
    main()
