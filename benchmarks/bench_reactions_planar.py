"""Full enumeration of planar contacts at rest: 8, 10 and 12 contacts, with the residual of every answer.

    python benchmarks/bench_reactions_planar.py [--contacts 8 10 12] [--seeds 5] [--runs 5]

Families: `random` (independent rows in 2k coordinates), `body` (one rigid body on k points of random direction),
`floor` (one rigid body on k points in a row), `tower` (k/2 blocks, each on two points), `bilateral` (random, both
signs of every normal force). `search` is the enumeration of all modes, `solve` adds the pieces of the solution set
with their vertices, `call` is the public call with rejections, redundancy and certificates. CPU times, the best of
several runs; the largest over the seeds is shown. Targets: 10 ms, 100 ms and 2 s.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from zwang._numerics.contact.convex_pieces import maximal
from zwang._numerics.contact.enumeration import find_modes
from zwang._numerics.contact.pieces import pieces_of
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.scaled import reduce
from zwang._reactions import reactions_of_problem

TARGETS = {8: 0.01, 10: 0.1, 12: 2.0}


def random(k, rng, **changes):
    n = 2 * k
    root = rng.normal(size=(n, n))
    contacts = [
        Contact(rng.normal(size=n), tangent=rng.normal(size=n), friction=rng.uniform(0.2, 1.0), **changes)
        for _ in range(k)
    ]
    return ContactProblem(root @ root.T / n + np.eye(n), rng.normal(size=n), contacts)


def bilateral(k, rng):
    return random(k, rng, bilateral=True)


def on_points(points, angles, force, friction):
    contacts = []
    for (x, y), angle in zip(points, angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        contacts.append(Contact([-s, c, x * c + y * s], tangent=[c, s, x * s - y * c], friction=friction))
    return ContactProblem(np.diag([1.0, 1.0, 0.4]), force, contacts)


def body(k, rng):
    return on_points(rng.normal(size=(k, 2)), rng.uniform(0, 2 * np.pi, k), rng.normal(size=3), 0.5)


def floor(k, rng):
    points = np.column_stack([np.linspace(-1, 1, k), np.full(k, -0.5)])
    return on_points(points, np.zeros(k), [rng.uniform(-0.6, 0.6), -1.0, 0.1 * rng.normal()], 0.5)


def tower(k, rng):
    m = k // 2
    contacts = []
    for b in range(m):
        for x in (-0.5, 0.5):
            normal, tangent = np.zeros((2, 3 * m))
            normal[3 * b : 3 * b + 3], tangent[3 * b : 3 * b + 3] = [0, 1, x], [1, 0, 0.5]
            if b:
                normal[3 * b - 3 : 3 * b], tangent[3 * b - 3 : 3 * b] = [0, -1, -x], [-1, 0, 0.5]
            contacts.append(Contact(normal, tangent=tangent, friction=0.5))
    force = np.tile([0.0, -1.0, 0.0], m)
    force[-3] = rng.uniform(-0.6, 0.6)
    return ContactProblem(np.diag(np.tile([1.0, 1.0, 1 / 6], m)), force, contacts)


FAMILIES = {"random": random, "body": body, "floor": floor, "tower": tower, "bilateral": bilateral}


def best_time(call, runs):
    times = []
    for _ in range(runs):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return min(times), result


def solve(problem):
    reduced = reduce(problem)
    return maximal(reduced, pieces_of(reduced, find_modes(reduced), 1e-9), 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contacts", type=int, nargs="+", default=[8, 10, 12])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for make in FAMILIES.values():  # compile
        reactions_of_problem(make(2, np.random.default_rng(0)))
    print("contacts  family      search ms   solve ms    call ms     nodes  solutions  statuses, residual")
    for k in options.contacts:
        for name, make in FAMILIES.items():
            worst = np.zeros(3)
            nodes, pieces, statuses, residual = 0, 0, set(), 0.0
            for seed in range(options.seeds):
                problem = make(k, np.random.default_rng([k, seed]))
                times = [
                    best_time(lambda problem=problem: find_modes(reduce(problem)), options.runs)[0],
                    best_time(lambda problem=problem: solve(problem), options.runs)[0],
                ]
                last, found = best_time(lambda problem=problem: reactions_of_problem(problem), options.runs)
                worst = np.maximum(worst, [*times, last])
                nodes, pieces = max(nodes, found.nodes), max(pieces, len(found.solutions))
                statuses.add(found.status.name if found.complete else f"{found.status.name}, not complete")
                residual = max(residual, 0.0 if np.isnan(found.residual) else found.residual)
            shown = "  ".join(f"{1e3 * value:9.2f}" for value in worst)
            said = f"{', '.join(sorted(statuses))}, {residual:.0e}"
            print(f"{k:8d}  {name:10s} {shown} {nodes:9d}  {pieces:9d}  {said}", flush=True)
        if k in TARGETS:
            print(f"          target     {1e3 * TARGETS[k]:9.0f}")


if __name__ == "__main__":
    main()
