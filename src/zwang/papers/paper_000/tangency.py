"""Section 4 of paper 000: two curves that touch, theorem 2, and the abstract's rule of two or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import System
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.crossing import across, nearest_points, random_form
from zwang.papers.paper_000.pictures import growth_picture
from zwang.papers.paper_000.studies import (
    CROSSING,
    EXPONENT,
    ORIGIN,
    TANGENCY,
    counts,
    exponents,
    family,
    form,
    formal,
    growth,
    multipliers,
    rows,
    terms,
    terms_of,
    traced,
)
from zwang.papers.paper_000.theorem_1 import leading_terms, search
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop


def above(eps: float, v: float = 1.0) -> dict[str, float]:
    """Return the state at (0, eps^(1/2)) on y^2 - x^4 = eps > 0."""
    return {"x": 0.0, "y": float(np.sqrt(eps)), "v_x": v, "v_y": 0.0, "eps": eps}


def beside(eps: float, v: float = 1.0) -> dict[str, float]:
    """Return the state at ((-eps)^(1/4), 0) on y^2 - x^4 = eps < 0."""
    return {"x": (-eps) ** 0.25, "y": 0.0, "v_x": 0.0, "v_y": v, "eps": eps}


def balanced(shop: Workshop) -> System:
    """Return the tangency with forces for which g2 vanishes at the singular point, and only there."""
    y = shop.system(TANGENCY).coordinates[1]
    p = {key: sp.Rational(str(value)) for key, value in shop.values(TANGENCY)[1].items()}
    return form(shop, TANGENCY, B=(p["B1"], p["A12"] * p["B1"] / p["A11"] + y))


@claim(
    "000-eq14-branches",
    place="section 4, (14), (15) and (18)",
    statement="The constraint gives two parabolas with a contact of first order; the perturbed branches pass next to "
    "the origin at a distance of order `eps^(1/2)` on one side and `(-eps)^(1/4)` on the other.",
    printed="`f = y^2 - x^4`, `s_eps = (0, eps^(1/2))` or `((-eps)^(1/4), 0)`",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def branches(shop: Workshop) -> Finding:
    space = traced(shop, TANGENCY)
    (point,) = space.singular_points
    up, side = nearest_points(shop, TANGENCY, 0.04), nearest_points(shop, TANGENCY, -0.04)
    return Finding(
        computed=f"Traced: {point.kind} of order {point.order}. Nearest points: {vec(up[1], 4)} for eps = 0.04, "
        f"{vec(side[1], 4)} for eps = -0.04.",
        comparisons=(
            as_printed("kind", str(point.kind), "tangency"),
            as_printed("order of contact", point.order, 1),
            as_printed("nearest points, eps > 0", up, [[0.0, -0.2], [0.0, 0.2]], tol=1e-6),
            as_printed("nearest points, eps < 0", side, [[-(0.04**0.25), 0.0], [0.04**0.25, 0.0]], tol=1e-6),
        ),
    )


@claim(
    "000-eq16-eq19",
    place="section 4, (16), (17) and (19)",
    statement="Gradient and second derivatives of the tangency at the nearest points for both signs of eps.",
    printed="`grad f = (0, 2 eps^(1/2))`, `v^T f'' v = 0`; `grad f = (-4 (-eps)^(3/4), 0)`, `v^T f'' v = 2 v^2`",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def derivatives(shop: Workshop) -> Finding:
    got, wanted = [], []
    for eps in (1e-4, 0.01, 0.2):
        q, r = terms_of(shop, TANGENCY, **above(eps, 1.3)), terms_of(shop, TANGENCY, **beside(-eps, 1.3))
        x = terms_of(shop, TANGENCY, **{**beside(-eps), "v_x": 1.0, "v_y": 0.0})
        got += [*q.gradient, q.bending, *r.gradient, r.bending, x.bending]
        wanted += [0.0, 2 * eps**0.5, 0.0, -4 * eps**0.75, 0.0, 2 * 1.3**2, -12 * eps**0.5]
    return Finding(
        computed="For three sizes of eps of both signs all twenty-one derivatives are those of (16) and (19).",
        comparisons=(as_printed("derivatives", got, wanted),),
    )


@claim(
    "000-thm2-1",
    place="theorem 2, item 1",
    statement="For `eps > 0` and without friction, the condition under which the multiplier grows like the inverse "
    "distance.",
    printed="`A^-1 W` has a y part that is not zero at s",
    recorded="corrected",
    systems=(TANGENCY,),
    errata=("burian2024-8",),
)
def frictionless(shop: Workshop) -> Finding:
    p = shop.values(TANGENCY)[1]
    generic, aside = family(shop, TANGENCY), family(shop, TANGENCY, "x", W2=p["A12"] * p["W1"] / p["A11"])
    level = growth(balanced(shop), p, ORIGIN, "curve", "x")
    cases = []
    for found, system, values in (
        (generic, shop.system(TANGENCY), p),
        (aside, shop.system(TANGENCY), {**p, "W2": p["A12"] * p["W1"] / p["A11"]}),
        (level, balanced(shop), p),
    ):
        state = above(1e-20)
        g1, g2, g3 = across(terms(system, state, {**values, "eps": 0.0}))
        cases.append((abs(g2) > 1e-8, abs(g3) > 1e-8, exponents(found, 1, rough=False)))
    grows = [max(item) < -EXPONENT for _, _, item in cases]
    g1, g2, _ = across(terms_of(shop, TANGENCY, **above(1e-20)))
    sizes = [abs(row.coefficient) for row in rows(generic, 1, rough=False)]
    return Finding(
        computed=f"Exponents of eps: {num(cases[0][2][0])} in general; {num(cases[1][2][0])} with a W whose condition "
        f"fails; {num(round(cases[2][2][0], 9))} with a B for which `g_2(0) = 0`, where the printed condition holds.",
        comparisons=(
            as_printed("it grows just where W meets the condition", grows == [w for _, w, _ in cases]),
            as_corrected("it grows just where B meets it", grows == [b for b, _, _ in cases]),
            as_corrected("rate", cases[0][2] + cases[1][2], [-0.5] * 4, tol=EXPONENT),
            sound("the cases", [(b, w) for b, w, _ in cases] == [(True, True), (True, False), (False, True)]),
            sound("leading coefficient g2/(2 g1)", sizes, [abs(g2) / (2 * g1)] * 2),
        ),
        corrected="`A^-1 B` has a y part that is not zero at s, `g_2(0) != 0`, which is what the proof uses; there is "
        "no friction in this item.",
        residual=generic.residual,
    )


@claim(
    "000-thm2-balanced",
    place="section 4, after (17)",
    statement="If `g_2(0) = 0`, the multiplier without friction stays bounded for `eps > 0`.",
    printed="bounded if `g_2(0) = 0`",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def balanced_forces(shop: Workshop) -> Finding:
    found = growth(balanced(shop), shop.values(TANGENCY)[1], ORIGIN, "curve", "x")
    measured = exponents(found, 1, rough=False)
    limit = rows(found, 1, rough=False)[0].coefficient
    return Finding(
        computed=f"B2 chosen so that `g_2(0) = 0`: the multiplier tends to {num(limit)}.",
        comparisons=(
            as_printed("exponents", measured, [0.0] * len(measured), tol=EXPONENT),
            sound("rows were found", len(measured), 2),
        ),
        residual=found.residual,
    )


@claim(
    "000-thm2-2",
    place="theorem 2, item 2",
    statement="For `eps > 0` and with friction the multipliers are bounded.",
    printed="`lambda_{±} -> ±g_2(0)/g_3(0)`",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def bounded(shop: Workshop) -> Finding:
    found = family(shop, TANGENCY)
    g = {v: across(terms_of(shop, TANGENCY, **above(1e-20, v))) for v in (1.0, -1.0)}
    got, wanted = [], []
    for row in rows(found, 1, rough=True):
        v = (1.0 if row.direction == "+" else -1.0) * float(np.sign(row.velocity["x"]))
        got.append(row.coefficient)
        wanted.append((1 if row.friction == "+" else -1) * g[v][1] / g[v][2])
    measured = exponents(found, 1, rough=True)
    return Finding(
        computed=f"All {len(measured)} formal multipliers have the exponent 0 and the limits "
        f"{vec(sorted(set(np.round(got, 9))), 6)}.",
        comparisons=(
            as_printed("exponents", measured, [0.0] * len(measured), tol=EXPONENT),
            as_printed("limits", got, wanted),
            sound("both branches, directions and signs", len(got), 8),
        ),
        residual=found.residual,
        pictures=(_growth(shop),),
    )


def _growth(shop: Workshop) -> Any:
    return growth_picture(
        "growth-tangency",
        "Multiplier and friction force at the nearest points of the perturbed tangency: for eps > 0 friction makes "
        "them bounded, for eps < 0 they grow with it and without it.",
        lambda: family(shop, TANGENCY),
    )


@claim(
    "000-eq20-argument",
    place="section 4, (20)",
    statement="At which point the functions g are taken for `eps < 0`.",
    printed="`a = 16 (-eps)^(3/2) g_1(eps^(1/2))`, and so on",
    recorded="corrected",
    systems=(TANGENCY,),
    errata=("burian2024-9",),
)
def argument(shop: Workshop) -> Finding:
    params = {"mu": 0.3, "eps": 0.0}
    got: list[Any] = []
    printed: list[Any] = []
    corrected: list[Any] = []
    for seed in (3, 4):
        system = random_form(shop, TANGENCY, seed)
        for size in (1e-4, 1e-2):
            q = terms(system, beside(-size), params)
            scale = np.array([16 * size**1.5, -4 * size**0.75, -4 * size**0.75])
            got.append(np.array([q.a, q.c + q.bending, q.b]) / scale)
            for point, into in ((size**0.5, printed), (size**0.25, corrected)):
                there = terms(system, {**beside(-size), "x": point}, params)
                inverse = np.linalg.inv(there.A)
                into.append([inverse[0, 0], (inverse @ there.B)[0], (inverse @ there.W)[0]])
    off = float(np.abs(np.array(printed) - np.array(got)).max())
    return Finding(
        computed=f"Two tangencies with random A, B, W: with g at `|eps|^(1/2)` (the root of a negative number has no "
        f"meaning) the coefficients are off by up to {num(off, 3)}; with g at `(-eps)^(1/4)` they are right.",
        comparisons=(
            as_printed("coefficients", np.array(got), np.array(printed)),
            as_corrected("coefficients", np.array(got), np.array(corrected)),
        ),
        corrected="`g_i((-eps)^(1/4))`, because `s_eps = ((-eps)^(1/4), 0)`",
    )


@claim(
    "000-eq20-numerator",
    place="section 4, after (20)",
    statement="The numerator of the formal multipliers for `eps < 0`.",
    printed="`-4 (-eps)^(3/4) g_2 + 2 v^2`",
    recorded="corrected",
    systems=(TANGENCY,),
    errata=("burian2024-10",),
)
def numerator(shop: Workshop) -> Finding:
    got, plus, minus, numbers, guessed = [], [], [], [], []
    for eps in (-1e-4, -1e-3):
        for v in (1.0, -1.0):
            q, found = terms_of(shop, TANGENCY, **beside(eps, v)), multipliers(shop.ask(TANGENCY, **beside(eps, v)))
            part = q.c + q.bending
            numbers.append(len(found))
            guessed.append(sum(sign * (part + 2 * v**2) / (q.a + sign * q.b) > 0 for sign in (1, -1)))
            for lam in found:
                below = q.a + np.sign(lam) * q.b
                got.append(lam)
                plus.append((part + 2 * v**2) / below)
                minus.append((part - 2 * v**2) / below)
    return Finding(
        computed=f"eps = -0.0001 and -0.001, upwards and downwards: {', '.join(map(str, numbers))} multipliers. The "
        f"printed numerator would give {', '.join(map(str, guessed))}: it exchanges the directions.",
        comparisons=(
            as_printed("multipliers", np.array(plus) / got, np.ones(len(got))),
            as_corrected("multipliers", np.array(minus) / got, np.ones(len(got))),
            sound("two solutions one way", sorted(set(numbers)), [0, 2]),
        ),
        corrected="`-4 (-eps)^(3/4) g_2 - 2 v^2`, because `c = grad f^T A^-1 B - v^T f'' v`; the sign decides which "
        "direction has the two solutions.",
    )


@claim(
    "000-thm2-3",
    place="theorem 2, item 3",
    statement="For `eps < 0` the multipliers are unbounded without friction and with it.",
    printed="`|lambda| -> ∞` as `eps -> 0` from below",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def unbounded(shop: Workshop) -> Finding:
    found = family(shop, TANGENCY)
    plain, rough = exponents(found, -1, rough=False), exponents(found, -1, rough=True)
    return Finding(
        computed=f"Exponents of |eps|: {num(plain[0])} without friction, {num(rough[0])} with it; in the distance "
        f"`(-eps)^(1/4)` they are {num(4 * plain[0])} and {num(4 * rough[0])}.",
        comparisons=(
            as_printed("they grow", bool(plain and rough) and max(*plain, *rough) < -EXPONENT),
            sound("exponents without friction", plain, [-1.5] * 2, tol=EXPONENT),
            sound("exponents with friction", rough, [-0.75] * 8, tol=EXPONENT),
        ),
        residual=found.residual,
    )


@claim(
    "000-signs-of-eps",
    place="section 4, before theorem 2",
    statement="At a tangency the behaviour depends on the sign of eps, at a crossing it doesn't.",
    printed="the case of crossing curves is symmetric",
    recorded="confirmed",
    systems=(CROSSING, TANGENCY),
)
def signs_of_eps(shop: Workshop) -> Finding:
    table = {
        kind: [(exponents(found, sign, rough=False)[0], exponents(found, sign, rough=True)[0]) for sign in (1, -1)]
        for kind, found in ((kind, family(shop, kind)) for kind in (CROSSING, TANGENCY))
    }
    same = {kind: bool(np.allclose(pair[0], pair[1], atol=EXPONENT)) for kind, pair in table.items()}
    return Finding(
        computed=f"Exponents without and with friction, eps > 0 and eps < 0: crossing {vec(table[CROSSING][0], 3)} and "
        f"{vec(table[CROSSING][1], 3)}, tangency {vec(table[TANGENCY][0], 3)} and {vec(table[TANGENCY][1], 3)}.",
        comparisons=(
            as_printed("the crossing is symmetric", same[CROSSING]),
            as_printed("the tangency is not", not same[TANGENCY]),
        ),
    )


@claim(
    "000-tangency-two-or-none",
    place="abstract and introduction",
    statement="With friction there are two solutions for motion one way and none for motion the other way, at the "
    "tangency too.",
    printed="two and none, for every system considered",
    recorded="corrected",
    systems=(TANGENCY,),
    errata=("burian2024-11",),
)
def two_or_none(shop: Workshop) -> Finding:
    vx = shop.system(TANGENCY).velocities[0]
    half = sp.Rational(1, 2)
    params = {"eps": 0.0, "mu": 0.5}
    pairs, direct, residual = [], [], 0.0
    for factor in (half, -half):
        odd = form(shop, TANGENCY, A=[[1, 0], [0, 1]], B=(0, factor * vx), W=(half, 1))
        found = growth(odd, params, ORIGIN, "curve", "x")
        pairs.append(sorted(counts(found, 1)))
        residual = max(residual, found.residual)
        states = ({**above(1e-6, v), "y": y * 1e-3} for y in (1.0, -1.0) for v in (1.0, -1.0))
        direct.append({len(formal(terms(odd, state, params))) for state in states})
    even = family(shop, TANGENCY)
    return Finding(
        computed=f"A = 1, W = (1/2, 1), mu = 0.5, eps > 0: with `B = (0, v_x/2)` there are {pairs[0][0][0]} and "
        f"{pairs[0][0][1]} solutions for the two directions, on both branches, with `B = (0, -v_x/2)` {pairs[1][0][0]} "
        f"and {pairs[1][0][1]}. Forces that don't depend on the velocity give "
        f"{' or '.join(map(_both, counts(even, 1)))}, below the threshold eps* = {num(even.threshold)}.",
        comparisons=(
            as_printed("two and none", all(item == [(0, 2)] for item in pairs)),
            as_corrected("two and none where g2 is even in the velocity", counts(even, 1) == {(0, 2)}),
            as_corrected("two and none for eps < 0", counts(even, -1) == {(0, 2)}),
            sound("the same, from the quotients themselves", [[(n, n) for n in item] for item in direct] == pairs),
        ),
        corrected="For `eps > 0` this holds if `g_2(0)` has the same sign for both directions of motion, as with "
        "forces even in the velocity, and for eps below a threshold. Forces odd in it give the same number both ways.",
        residual=residual,
        data={"counterexample": [list(item[0]) for item in pairs]},
    )


def _both(pair: tuple[int, ...]) -> str:
    return " and ".join(map(str, pair))


@claim(
    "000-thm2-random",
    place="theorem 2",
    statement="Exponents and numbers of solutions at a tangency are the same for all mass matrices, frictions, and "
    "forces even in the velocity, with `g_2 != 0` and `g_3 != 0`.",
    printed="for any A, B, W with the conditions of the theorem",
    recorded="confirmed",
    systems=(TANGENCY,),
)
def random_tangencies(shop: Workshop) -> Finding:
    s = sp.Symbol("s", positive=True)
    g1, g2, g3 = sp.symbols("g_1:4")
    leading = leading_terms(4 * s**2 * g1, 2 * s * g3, 2 * s * g2, s)
    closed = [(-1, g2 / (2 * g1)), (0, g2 / g3), (0, -g2 / g3)]
    seeds = range(201, 201 + shop.many(10, 128))
    return search(shop, TANGENCY, {1: (-0.5, 0.0), -1: (-1.5, -0.75)}, seeds, leading, closed)
