"""Theorem 13 of paper 001: what is guaranteed for contacts at rest."""

from __future__ import annotations

import math

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_printed, sound
from zwang.papers.paper_001.families import ask, body, generic, has_self_stress
from zwang.papers.paper_001.theory import friction_at
from zwang.papers.wording import num, share
from zwang.papers.workshop import Workshop


@claim(
    "001-thm13-no-self-stress",
    place="theorem 13, condition 1",
    statement="At rest a solution exists for every force and every motion of the surroundings, if no reactions in the "
    "friction cones balance each other.",
    printed="`T + N = 0` only for `T = 0`, `N = 0`",
    recorded="confirmed",
)
def no_self_stress(shop: Workshop) -> Finding:
    rng, count = shop.rng(97), shop.many(90, 2000)
    free = failed = stressed = lost = 0
    for _ in range(count):
        made = [
            lambda: body(rng, bias=1.5, friction=0.8),
            lambda: body(rng, k=3, bias=1.5, friction=1.5),
            lambda: generic(rng, bilateral=0.3, bias=1.5),
        ][int(rng.integers(3))]()
        found = ask(made, certify=False)
        if has_self_stress(made):
            stressed, lost = stressed + 1, lost + (found.status.name == "NONE")
        else:
            free, failed = free + 1, failed + (found.status.name == "NONE")
    return Finding(
        computed=f"Whether reactions can balance each other was decided by linear programs. {free} random problems at "
        f"rest where they can't, random forces and biases: {failed} without a solution. Where they can: "
        f"{share(lost, stressed)} without one.",
        comparisons=(
            as_printed("problems without a solution", failed, 0),
            sound("enough problems without self-stress", free > 20),
            sound("the condition matters: with self-stress solutions are missing", lost > 0),
        ),
        data={"without self-stress": free, "with": stressed, "lost": lost},
    )


@claim(
    "001-thm13-fixed",
    place="theorem 13, condition 2",
    statement="At rest a solution exists if the reactions fill a neighbourhood of zero and the constraints don't move.",
    printed="`{T + N}` contains a neighbourhood of 0, and `V = 0` (V stands for B: all gamma zero)",
    recorded="confirmed",
    errata=("ivanov-29",),
)
def fixed(shop: Workshop) -> Finding:
    rng, count = shop.rng(98), shop.many(50, 500)
    stressed = failed = moving = lost = 0
    for _ in range(count):
        # Rough contacts all around a body: they can jam.
        problem = body(rng, k=3, friction=3.0)
        found = ask(problem, certify=False)
        stressed += has_self_stress(problem)
        failed += found.status.name == "NONE"
        moved = body(rng, k=3, friction=3.0, bias=2.0)
        moving, lost = moving + 1, lost + (ask(moved, certify=False).status.name == "NONE")
    return Finding(
        computed=f"{count} random bodies at rest between three rough lines that don't move ({stressed} of them can "
        f"jam): {failed} without a solution. The same with lines that accelerate: {share(lost, moving)} without one.",
        comparisons=(
            as_printed("problems without a solution, nothing moves", failed, 0),
            sound("some can jam", stressed > 0),
            sound("motion of the surroundings matters", lost > 0),
        ),
        data={"can jam": stressed, "lost with moving lines": lost},
    )


@claim(
    "001-eq4-14",
    place="theorem 13, (4.14)",
    statement="In the proof of theorem 13 the product of F + T + N with F + N is at least the square of F + T + N.",
    printed="`(F + T + N, F + N)`; the relation is missing in print and is taken from the line before",
    recorded="confirmed",
    errata=("ivanov-30",),
)
def lower_bound(shop: Workshop) -> Finding:
    rng, count = shop.rng(99), shop.many(80, 1000)
    least = math.inf
    for _ in range(count):
        problem = generic(rng, rest=1.0, friction=1.5)
        N = np.abs(rng.normal(size=2)) * 3
        x = problem.force + problem.rows.normal.T @ N
        full = x + problem.rows.tangent.T @ friction_at(problem, N)
        inverse = np.linalg.inv(problem.mass)
        least = min(least, float(full @ inverse @ x - full @ inverse @ full) / (1 + float(full @ inverse @ full)))
    return Finding(
        computed=f"{count} random problems and normal forces: (F + T + N, F + N) less the square of F + T + N is at "
        f"least {num(least, 2)}.",
        comparisons=(as_printed("at least the square", min(least, 0.0), 0.0, tol=1e-10),),
    )
