"""Friction of resultants beside contacts: one contact, one slipping pin, another law on one force, a rough four-bar.

    python benchmarks/bench_reactions_pins.py [--runs 50]

CPU times of the public call for one state, the best and the median of several runs, with the residual of the answer.
Targets: one slipping pin at most twice one contact; the four-bar in motion, all solutions with proof, median 50 ms; at
rest, whether it can hold, median 0.3 s.
"""

from __future__ import annotations

import argparse
import math
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import zwang as zw

TARGETS = {"four-bar in motion": 50.0, "four-bar at rest": 300.0}


def one_contact():
    floor = zw.Contact([0, 1, 0], tangent=[1, 0, 0.5], friction=0.5, slip=1.0)
    return zw.ContactProblem(np.diag([1, 1, 0.3]), [0.4, -1.0, 0.1], [floor])


def one_contact_of_a_system():
    rod = zw.gallery.get("painleve_rod")
    return zw.compile(rod.system), rod.state, {**rod.params, "mu": 0.3}


def one_pin():
    rows = [zw.Contact(np.eye(3)[i] - 0.5 * np.eye(3)[2], bilateral=True) for i in range(2)]
    pin = zw.Contact(None, tangent=[0, 0, 0.2], friction=0.3, slip=1.0, of=(0, 1))
    return zw.ContactProblem(np.diag([1, 1, 0.3]), [0.4, -1.0, 0.1], [*rows, pin])


def two_laws():
    floor = zw.Contact([0, 1, 0], tangent=[1, 0, -1], friction=0.5)
    rolling = zw.Contact(None, tangent=[0, 0, 1], friction=0.1, of=0)
    return zw.ContactProblem(np.diag([1, 1, 0.5]), [0.2, -1, 0], [floor, rolling])


def four_bar(spin):
    bars = zw.Linkage("four bar", gravity=(0, -9.81)).ground("O", 0, 0).ground("C", 4, 0).points("A B")
    for ends, length in (("OA", 1), ("AB", 4), ("BC", 3)):
        bars.bar(*ends, length, mass=length, friction=0.3, radius=0.2)
    system = bars.torque(("O", "A"), 15).system()
    A, C = np.array([math.cos(1), math.sin(1)]), np.array([4.0, 0.0])
    reach = C - A
    d = float(np.linalg.norm(reach))
    along = (16 - 9 + d * d) / (2 * d)
    B = A + (along * reach + math.sqrt(16 - along**2) * np.array([-reach[1], reach[0]])) / d
    turned = np.array([[0, -1], [1, 0]])
    spins = np.linalg.solve(np.column_stack([turned @ (B - A), -turned @ (B - C)]), -spin * turned @ A)
    moving = {"O": (0 * A, 0 * A), "A": (A, spin * turned @ A), "B": (B, spins[1] * turned @ (B - C)), "C": (C, 0 * C)}
    state = {}
    for item in system.coordinates:
        axis, point = item.name.split("_")[:2]
        place, speed = moving[point]
        state[item.name], state[f"v_{item.name}"] = place["xy".index(axis)], speed["xy".index(axis)]
    return zw.contact_problem(system, state)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    problems = {
        "one contact of a system": one_contact_of_a_system(),
        "one contact": one_contact(),
        "one slipping pin": one_pin(),
        "two laws on one force": two_laws(),
        "four-bar in motion": four_bar(2.0),
        "four-bar at rest": four_bar(0.0),
    }
    print("problem                    best ms  median ms   target ms  status, residual")
    for name, problem in problems.items():
        given = problem if isinstance(problem, tuple) else (problem,)
        found, times = zw.reactions(*given, exact=False), []
        for _ in range(runs):
            start = time.process_time()
            found = zw.reactions(*given, exact=False)
            times.append(1e3 * (time.process_time() - start))
        if name == "one contact":
            TARGETS["one slipping pin"] = 2 * float(np.median(times))
        target = f"{TARGETS[name]:11.1f}" if name in TARGETS else " " * 11
        said = f"{found.status.name}{'' if found.complete else ', not complete'}, {found.residual:.0e}"
        print(f"{name:24s} {min(times):9.2f} {np.median(times):10.2f} {target}  {said}", flush=True)


if __name__ == "__main__":
    main()
