"""Section 3 of paper 000: two lines that cross, its perturbation and the formulas (9) to (13)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from zwang import System
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.studies import (
    CROSSING,
    FamilyTerms,
    crossing_at,
    family,
    form,
    multipliers,
    terms,
    terms_of,
    traced,
)
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop


def across(q: FamilyTerms) -> tuple[float, float, float]:
    """Return g1, g2, g3 of (11) at a point of the y axis."""
    inverse = np.linalg.inv(q.A)
    return float(inverse[1, 1]), float((inverse @ q.B)[1]), float((inverse @ q.W)[1])


def random_form(shop: Workshop, kind: str, seed: int) -> System:
    """Return a normal form with a random mass matrix, forces even in the velocity, and friction, all of x and y."""
    source = random.Random(seed)

    def draw(low: int = -90, high: int = 90) -> Any:
        return sp.Rational(source.randint(low, high), 100)

    (x, y), (vx, vy) = shop.system(kind).coordinates, shop.system(kind).velocities
    off = draw() / 3 + draw() * y / 5
    A = [[draw(100, 300) + draw() * x / 3 + x**2, off], [off, draw(100, 300) + y**2 + draw() * x / 4]]
    B = (draw() + draw() * x + draw() * vx * vy, draw(20, 90) + draw() * y + draw(0, 50) * vx**2 + draw() * vy**2)
    W = (1 + draw() / 2 + draw() * x, 2 + draw() / 2 + draw() * x * y)
    return form(shop, kind, A=A, B=B, W=W)


def nearest_points(shop: Workshop, kind: str, eps: float) -> Any:
    """Return the point next to the origin on each arc of f = eps, from left to right or from below."""
    space = traced(shop, kind, eps)
    found = []
    for arc in space.branches:
        grid = np.linspace(0, arc.length, 401)
        near = grid[np.linalg.norm(arc.position(grid), axis=1).argmin()]
        # Where the distance is least, position and tangent are orthogonal.
        step = 2 * grid[1]
        at = brentq(lambda s, arc=arc: float(arc.position(s) @ arc.tangent(s)), near - step, near + step, xtol=1e-15)
        found.append(arc.position(at))
    return np.array(sorted(found, key=sum))


@claim(
    "000-eq9-branches",
    place="section 3, (9) and the branches of the hyperbola",
    statement="The constraint gives two lines that cross at the origin; perturbed, two branches of a hyperbola, whose "
    "points next to the origin are on one axis or the other.",
    printed="`f = y^2 - x^2`, `s_eps = (0, eps^(1/2))`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def branches(shop: Workshop) -> Finding:
    space = traced(shop, CROSSING)
    (point,) = space.singular_points
    slopes = sorted(item.tangent[1] / item.tangent[0] for item in point.branches)
    above, beside = nearest_points(shop, CROSSING, 0.04), nearest_points(shop, CROSSING, -0.04)
    return Finding(
        computed=f"Traced: {point.kind} at the origin with the slopes {vec(sorted(set(np.round(slopes, 9))), 3)}; for "
        f"eps = 0.04 two arcs with the nearest points {vec(above[0], 3)} and {vec(above[1], 3)}, for eps = -0.04 "
        f"{vec(beside[0], 3)} and {vec(beside[1], 3)}.",
        comparisons=(
            as_printed("slopes of the half-branches", slopes, [-1.0, -1.0, 1.0, 1.0], tol=1e-9),
            as_printed("nearest points, eps > 0", above, [[0.0, -0.2], [0.0, 0.2]], tol=1e-6),
            as_printed("nearest points, eps < 0", beside, [[-0.2, 0.0], [0.2, 0.0]], tol=1e-6),
            sound("it is a crossing", str(point.kind), "crossing"),
        ),
    )


@claim(
    "000-eq10-derivatives",
    place="section 3, (10)",
    statement="Gradient and second derivatives of the crossing at the nearest point, and the curvature term for motion "
    "along the branch.",
    printed="`grad f = (0, 2 eps^(1/2))`, `f'' = diag(-2, 2)`, `v^T f'' v = -2 v^2`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def derivatives(shop: Workshop) -> Finding:
    got, wanted, bent = [], [], []
    for eps in (1e-4, 0.01, 0.3):
        state = crossing_at(eps, 1.7)
        q = terms_of(shop, CROSSING, **state)
        got += list(q.gradient)
        wanted += [0.0, 2 * np.sqrt(eps)]
        bent.append(q.bending)
    unit = [terms_of(shop, CROSSING, v_x=a, v_y=b).bending for a, b in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
    return Finding(
        computed=f"For three eps the gradient is `(0, 2 eps^(1/2))`; `v^T f'' v` is {num(bent[0])} at speed 1.7, and "
        f"{vec(unit)} for the velocities (1, 0), (0, 1), (1, 1).",
        comparisons=(
            as_printed("gradients", got, wanted),
            as_printed("curvature term", bent, [-2 * 1.7**2] * 3),
            as_printed("second derivatives", unit, [-2.0, 2.0, 0.0]),
        ),
    )


@claim(
    "000-eq12",
    place="section 3, (11) and (12)",
    statement="At the nearest point the coefficients of the equation are powers of eps times smooth functions g of "
    "`eps^(1/2)`.",
    printed="`a = 4 eps g_1`, `grad f^T A^-1 B = 2 eps^(1/2) g_2`, `b = 2 eps^(1/2) g_3`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def equation_12(shop: Workshop) -> Finding:
    params = {"eps": 0.0, "mu": 0.3}
    got, wanted = [], []
    for seed in (1, 2):
        system = random_form(shop, CROSSING, seed)
        for eps in (1e-6, 1e-3, 0.1):
            q = terms(system, crossing_at(eps), params)
            g1, g2, g3 = across(q)
            root = np.sqrt(eps)
            got += [q.a / eps, (q.c + q.bending) / root, q.b / root]
            wanted += [4 * g1, 2 * g2, 2 * g3]
    return Finding(
        computed="Two crossings with random A, B, W that depend on x and y, three eps each: all eighteen quotients are "
        "those of (12).",
        comparisons=(as_printed("quotients", got, wanted),),
    )


@claim(
    "000-eq13",
    place="section 3, (13) and the formula for signs below it",
    statement="The two formal multipliers at the nearest point, with `eps^(1/2)` taken out of the denominator.",
    printed="`lambda_{±} = eps^(-1/2) (-g_4 + 2 eps^(1/2) g_2)/(±2 g_3 - 4 eps^(1/2) g_1)`",
    recorded="corrected",
    systems=(CROSSING,),
    errata=("burian2024-7",),
)
def equation_13(shop: Workshop) -> Finding:
    got, printed, corrected = [], [], []
    for eps in (1e-4, 1e-3, 3e-3):
        for state in (crossing_at(eps, 1.0), crossing_at(eps, -1.0)):
            q, found = terms_of(shop, CROSSING, **state), multipliers(shop.ask(CROSSING, **state))
            g1, g2, g3 = across(q)
            for lam in found:
                sign, root = np.sign(lam), np.sqrt(eps)
                top = -q.bending + 2 * root * g2
                got.append(lam)
                printed.append(top / (sign * 2 * g3 - 4 * root * g1) / root)
                corrected.append(top / (sign * 2 * g3 + 4 * root * g1) / root)
    off = float(np.abs(np.array(printed) / np.array(got) - 1).max()) if got else float("nan")
    return Finding(
        computed=f"Six multipliers at eps = 0.0001, 0.001, 0.003, from {num(min(got), 4)} to {num(max(got), 4)}. The "
        f"printed denominator is off by up to {num(100 * off, 3)} %; with a plus sign it is right.",
        comparisons=(
            as_printed("multipliers", np.array(printed) / got, np.ones(len(got))),
            as_corrected("multipliers", np.array(corrected) / got, np.ones(len(got))),
            sound("two multipliers for each eps", len(got), 6),
        ),
        corrected="`lambda_{±} = eps^(-1/2) (-g_4 + 2 eps^(1/2) g_2)/(±2 g_3 + 4 eps^(1/2) g_1)`; the limit of its "
        "sign is what the paper says.",
    )


@claim(
    "000-eq13-signs",
    place="section 3, sign formula below (13)",
    statement="In the limit the formal multipliers have the signs of `∓g_4/g_3`, so that there are two solutions where "
    "`g_3 > 0` and none where `g_3 < 0`.",
    printed="`sign lambda_{±} = ∓sign(g_4/g_3)`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def signs(shop: Workshop) -> Finding:
    found = family(shop, CROSSING)
    upper = next(item.branch for item in found.thresholds if item.eps > 0 and item.point["y"] > 0)
    right, got, wanted, numbers = [], [], [], []
    for row in found.select(sign=1, branch=upper, quantity="curve"):
        if row.friction == "without":
            continue
        way = 1.0 if row.direction == "+" else -1.0
        g3 = across(terms_of(shop, CROSSING, **crossing_at(1e-12, way * np.sign(row.velocity["x"]))))[2]
        sign = 1.0 if row.friction == "+" else -1.0
        got.append(row.coefficient)
        wanted.append(sign * 2 / (2 * g3))
        right.append(row.consistent == (g3 > 0))
        numbers.append(row.solutions[row.direction] == (2 if g3 > 0 else 0))
    return Finding(
        computed=f"{len(got)} formal multipliers on the upper branch, both directions: leading coefficients "
        f"{vec(got, 4)}, which are `-g_4/(±2 g_3)`.",
        comparisons=(
            as_printed("leading coefficients", got, wanted),
            as_printed("signs agree just where g3 > 0", all(right)),
            as_printed("two solutions just where g3 > 0", all(numbers)),
            sound("both directions, both signs", len(got), 4),
        ),
    )
