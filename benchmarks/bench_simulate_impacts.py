"""What an event costs: elastic balls over a floor, some 500 impacts each, and a block that sticks and slips on a belt.

One motion and an ensemble of them; the block has some 200 events. The peer is SciPy's `solve_ivp` with a terminal
event, restarted after each event, as one writes it by hand. Times are those of the processor; beside each stands the
largest error of the instants: odd multiples of sqrt(2 h/g); with D = (mu_s - mu) g and unit mass and spring, rests of
2 D/u between slips of 2 pi - 2 atan(D/u).
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


def show(what: str, spent: float, times: np.ndarray[Any, Any], off: float, events: str = "impact") -> None:
    """Print the time of an event and the error of the instants."""
    print(f"{what:12} {1e6 * spent / len(times):8.1f} us an {events}  {len(times)} {events}s, error {off:.1e} s")


# A block of mass 1 on a spring of stiffness 1 and a belt.
MU, STATIC, BELT = 0.3, 0.4, 0.5


def block() -> zw.System:
    """Return the block and its belt."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    belt = zw.Unilateral(y, friction=zw.Coulomb(MU, slip=vx - BELT, static=STATIC), restitution=0, name="belt")
    return zw.System(name="block", kinetic=(vx**2 + vy**2) / 2, potential=x**2 / 2 + G * y, constraints=[belt])


def off_belt(times: np.ndarray[Any, Any]) -> float:
    """Return the largest error of instants at which the block slips and sticks; it starts at rest on the belt."""
    reach = (STATIC - MU) * G
    slip, rest = 2 * np.pi - 2 * np.arctan(reach / BELT), 2 * reach / BELT
    k = np.arange(len(times))
    exact = STATIC * G / BELT + (k + 1) // 2 * slip + k // 2 * rest
    return float(np.abs(times - exact).max())


def block_by_hand() -> np.ndarray[Any, Any]:
    """Return the instants at which the block slips and sticks, by solve_ivp."""

    def spent(t: float, z: Any) -> float:
        return float(z[0] - STATIC * G)

    def stops(t: float, z: Any) -> float:
        return float(z[1] - BELT)

    spent.terminal, stops.terminal, stops.direction = True, True, 1  # type: ignore[attr-defined]
    t, z, sticks, found = 0.0, np.zeros(2), True, []
    while t < UNTIL:
        event = spent if sticks else stops
        made = solve_ivp(
            (lambda t, z: [BELT, 0.0]) if sticks else (lambda t, z: [z[1], MU * G - z[0]]),
            (t, UNTIL), z, method="DOP853", rtol=1e-12, atol=1e-12, events=event,
        )  # fmt: skip
        t, z = float(made.t[-1]), np.array([made.y[0, -1], BELT])
        if made.status == 1:
            found.append(t)
        sticks = not sticks
    return np.array(found)


def main() -> None:
    """Print them all."""
    model = zw.compile(ball())
    state = {"y": 1.0, "v_y": 0.0}
    spent = np.inf
    for _ in range(6):  # the mode's own code is made once it pays
        start = time.process_time()
        motion = zw.simulate(model, state, {}, until=UNTIL)
        spent = min(spent, time.process_time() - start)
    times = np.array([event.time for event in motion.events])
    show("simulate", spent, times, error(times, 1.0))
    start = time.process_time()
    times = by_hand(1.0)
    show("solve_ivp", time.process_time() - start, times, error(times, 1.0))
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
    belt = zw.compile(block())
    spent = np.inf
    for _ in range(6):
        start = time.process_time()
        motion = zw.simulate(belt, {"x": 0.0, "y": 0.0, "v_x": BELT, "v_y": 0.0}, {}, until=UNTIL)
        spent = min(spent, time.process_time() - start)
    times = np.array([event.time for event in motion.events])
    show("simulate", spent, times, off_belt(times), "event")
    start = time.process_time()
    times = block_by_hand()
    show("solve_ivp", time.process_time() - start, times, off_belt(times), "event")


if __name__ == "__main__":
    main()
