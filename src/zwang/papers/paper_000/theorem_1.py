"""Section 3 of paper 000: theorem 1 and corollary 1, what multipliers do next to a crossing."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import compile, reactions
from zwang.papers.claim import claim
from zwang.papers.findings import Comparison, Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.crossing import across, nearest_points, random_form
from zwang.papers.paper_000.pictures import crossing_map, growth_picture
from zwang.papers.paper_000.studies import (
    CROSSING,
    EXPONENT,
    ORIGIN,
    RODS,
    ROUGH,
    TANGENCY,
    counts,
    crossing_at,
    exponents,
    family,
    form,
    growth,
    rough_pendulum,
    rows,
    terms_of,
)
from zwang.papers.wording import num, share
from zwang.papers.workshop import Workshop
from zwang.results import Asymptotics, Reactions

FOLDED_RODS = {"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0}


@claim(
    "000-thm1-frictionless",
    place="theorem 1, item 1",
    statement="Without friction the multiplier at the nearest point grows without bound as the perturbation vanishes.",
    printed="`|lambda| -> ∞` as `eps -> 0`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def frictionless(shop: Workshop) -> Finding:
    found = family(shop, CROSSING)
    measured = [exponents(found, sign, rough=False) for sign in (1, -1)]
    g1 = across(terms_of(shop, CROSSING, **crossing_at(1e-6)))[0]
    coefficients = [row.coefficient for row in rows(found, 1, rough=False)]
    everything = [item for group in measured for item in group]
    return Finding(
        computed=f"The multiplier grows like |eps| to the power {num(everything[0], 6)} for both signs of eps, that "
        f"is, like the inverse square of the distance; for eps > 0 it is {num(coefficients[0], 4)}/eps at unit speed.",
        comparisons=(
            as_printed("it grows on every way in", bool(everything) and max(everything) < 0),
            sound("exponents of |eps|", everything, [-1.0] * 4, tol=EXPONENT),
            sound("prediction and measurement", found.status.name, "CONFIRMED"),
            sound("coefficient v^2/(2 g1)", coefficients, [1 / (2 * g1)] * 2),
        ),
        residual=found.residual,
        data={"exponent": everything[0] if everything else float("nan")},
        pictures=(_growth(shop),),
    )


def _growth(shop: Workshop) -> Any:
    return growth_picture(
        "growth-crossing",
        "Multiplier and friction force at the nearest point of the perturbed crossing, over the size of the "
        "perturbation: full lines without friction, dashed ones with it.",
        lambda: family(shop, CROSSING),
    )


@claim(
    "000-thm1-friction",
    place="theorem 1, item 2",
    statement="With friction the formal multipliers grow without bound as well, if `A^-1 W` has a part along the "
    "gradient.",
    printed="`|lambda| -> ∞` as `eps -> 0` from both sides",
    recorded="confirmed",
    systems=(CROSSING,),
)
def with_friction(shop: Workshop) -> Finding:
    found = family(shop, CROSSING)
    measured = [item for sign in (1, -1) for item in exponents(found, sign, rough=True)]
    # W along A grad f^perp: no part of A^-1 W along the gradient at s.
    p = shop.values(CROSSING)[1]
    without = family(shop, CROSSING, "x", W2=p["A12"] * p["W1"] / p["A11"])
    special = exponents(without, 1, rough=True)
    return Finding(
        computed=f"Exponents of |eps| with friction: {num(min(measured))} to {num(max(measured))}, both signs of eps, "
        f"both quotients. Where `A^-1 W` has no y part they are {num(special[0])}, as without friction.",
        comparisons=(
            as_printed("they grow on every way in", bool(measured) and max(measured) < 0),
            sound("exponents", measured, [-0.5] * len(measured), tol=EXPONENT),
            sound("exponents without the condition", special, [-1.0] * len(special), tol=EXPONENT),
        ),
        residual=found.residual,
        data={"exponent": measured[0] if measured else float("nan")},
    )


@claim(
    "000-thm1-other-side",
    place="theorem 1, item 2 for eps < 0, and item 3",
    statement="For `eps < 0` the branches open to the other side, and the condition is on the x part of `A^-1 W`; two "
    "and none go with the condition of each side.",
    printed="`eps < 0`: the x coordinate of `A^-1 W` is not zero",
    recorded="confirmed",
    systems=(CROSSING,),
)
def other_side(shop: Workshop) -> Finding:
    p = shop.values(CROSSING)[1]
    # W along a column of A: `A^-1 W` has no x part, then no y part, without a rounding.
    without = {-1: {"W1": p["A12"] / 2, "W2": p["A22"] / 2}, 1: {"W1": p["A11"] / 2, "W2": p["A12"] / 2}}
    cases = {sign: family(shop, CROSSING, "y" if sign < 0 else "x", **W) for sign, W in without.items()}
    other = {sign: family(shop, CROSSING, "x" if sign < 0 else "y", **W) for sign, W in without.items()}
    fails = {sign: exponents(cases[sign], sign, rough=True) for sign in cases}
    meets = {sign: exponents(other[sign], -sign, rough=True) for sign in cases}
    numbers = [(counts(cases[sign], sign), counts(other[sign], -sign)) for sign in cases]
    return Finding(
        computed=f"`A^-1 W` without an x part: exponents {num(meets[-1][0])} for eps > 0 and {num(fails[-1][0])} for "
        f"eps < 0; without a y part {num(fails[1][0])} and {num(meets[1][0])}. Two and none where the exponent is "
        f"{num(meets[1][0])}, one both ways where it is {num(fails[1][0])}, as without friction.",
        comparisons=(
            as_printed("exponents where the side's condition holds", meets[-1] + meets[1], [-0.5] * 16, tol=EXPONENT),
            as_printed("two and none there", all(pair[1] == {(0, 2)} for pair in numbers)),
            sound("exponents where it fails", fails[-1] + fails[1], [-1.0] * 8, tol=EXPONENT),
            sound("one and one there", all(pair[0] == {(1, 1)} for pair in numbers)),
        ),
        residual=max(item.residual for item in (*cases.values(), *other.values())),
    )


@claim(
    "000-thm1-two-or-none",
    place="theorem 1, item 3, first half",
    statement="Next to the singular point there are two multipliers for motion in one direction and none for motion in "
    "the other.",
    printed="two and none, with no restriction on eps",
    recorded="corrected",
    systems=(CROSSING,),
    errata=("burian2024-12",),
)
def two_or_none(shop: Workshop) -> Finding:
    found = family(shop, CROSSING)
    g1, _, g3 = across(terms_of(shop, CROSSING, **crossing_at(1e-6)))
    star = (abs(g3) / (2 * g1)) ** 2
    eps = star * np.array([0.01, 0.1, 0.5, 0.99, 1.01, 2.0, 10.0, 100.0])
    numbers = [
        sorted(len(shop.ask(CROSSING, **crossing_at(float(item), v)).solutions) for v in (1.0, -1.0)) for item in eps
    ]
    below = [pair for item, pair in zip(eps, numbers, strict=True) if item < found.threshold]
    above = [pair for item, pair in zip(eps, numbers, strict=True) if item > found.threshold]
    load, pushed = _odd_load(shop)
    return Finding(
        computed=f"Threshold eps* = {num(found.threshold)}. Numbers of solutions for the two directions: "
        f"{below[-1][0]} and {below[-1][1]} at 0.99 eps*, {above[0][0]} and {above[0][1]} at 1.01 eps* and beyond. "
        f"With forces odd in the velocity, `B = (0, 12 v_x)`, where `|b| = a` at eps* = 0.0625: "
        f"{'; '.join(f'{pair[0]} and {pair[1]} at {part:g} eps*' for part, pair in pushed.items())}. The threshold is "
        f"{num(load.threshold)} there, where {load.threshold.binds}.",
        comparisons=(
            as_printed("two and none at every eps", all(pair == [0, 2] for pair in numbers)),
            as_corrected("two and none below the threshold", all(pair == [0, 2] for pair in below)),
            as_corrected("one and one above it", all(pair == [1, 1] for pair in above)),
            as_corrected("threshold", found.threshold, star),
            as_corrected("it binds where |b| = a", found.threshold.binds, "|b| = a"),
            as_corrected("odd forces: two and none below (v^2/g_2)^2", [pushed[0.01], pushed[0.05]], [[0, 2]] * 2),
            as_corrected("odd forces: none both ways beyond", [pushed[x] for x in (0.3, 0.6, 0.9)], [[0, 0]] * 3),
            as_corrected("odd forces: threshold (v^2/g_2)^2", load.threshold, 1 / 144),
            as_corrected("odd forces: it binds where c = 0", load.threshold.binds, "c = 0"),
            sound("in the limit", counts(found, 1) | counts(found, -1) == {(0, 2)}),
        ),
        corrected="Two and none for `0 < eps < eps_{*}`, with `eps_{*}^(1/2) = |g_3|/(2 g_1)`, as long as c keeps its "
        "sign: for `eps^(1/2) < v^2/|g_2|`, or for forces even in the velocity where `c != 0`. Beyond `eps_{*}` there "
        "is exactly one multiplier both ways.",
        data={"threshold": found.threshold},
        pictures=(crossing_map(shop),),
    )


def _odd_load(shop: Workshop) -> tuple[Asymptotics, dict[float, list[int]]]:
    """Return growth and numbers of solutions, over parts of the eps at which |b| = a, with a force odd in v."""
    vx = shop.system(CROSSING).velocities[0]
    system = form(shop, CROSSING, A=[[1, 0], [0, 1]], B=(0, 12 * vx), W=(sp.Rational(1, 2), 1))
    params = {"mu": 0.5, "eps": 0.0}
    model, star = compile(system), 0.0625
    numbers = {}
    for part in (0.01, 0.05, 0.3, 0.6, 0.9):
        states = [crossing_at(part * star, v) for v in (1.0, -1.0)]
        found = [reactions(model, state, {**params, "eps": state.pop("eps")}) for state in states]
        numbers[part] = sorted(len(item.solutions) for item in found if isinstance(item, Reactions))
    return growth(system, params, ORIGIN, "curve", "x"), numbers


@claim(
    "000-thm1-rate",
    place="theorem 1, item 3, second half",
    statement="Where solutions exist, multipliers grow like the inverse distance to the singular point.",
    printed="inversely proportional to the distance from `s_eps` to s",
    recorded="confirmed",
    systems=(CROSSING,),
)
def rate(shop: Workshop) -> Finding:
    found = family(shop, CROSSING)
    solved = [row for sign in (1, -1) for row in rows(found, sign, rough=True) if row.consistent]
    eps = np.array([0.04, 0.01])
    distance = [float(np.linalg.norm(nearest_points(shop, CROSSING, float(item))[0])) for item in eps]
    power = float(np.diff(np.log(distance))[0] / np.diff(np.log(eps))[0])
    slopes = [row.exponent / power for row in solved]
    return Finding(
        computed=f"{len(solved)} solutions on four ways in; the distance is eps to the power {num(power)}, the "
        f"exponents in it are {num(min(slopes))}.",
        comparisons=(
            as_printed("exponents in the distance", slopes, [-1.0] * len(slopes), tol=EXPONENT),
            sound("solutions on every way in", len(solved), 8),
        ),
    )


@claim(
    "000-thm1-random",
    place="theorem 1",
    statement="Exponents and numbers of solutions at a crossing are the same for all mass matrices, forces and "
    "frictions with `g_3 != 0`.",
    printed="for any A, B, W with the conditions of the theorem",
    recorded="confirmed",
    systems=(CROSSING,),
)
def random_crossings(shop: Workshop) -> Finding:
    s, v = sp.symbols("s v", positive=True)
    g1, g2, g3 = sp.symbols("g_1:4")
    leading = leading_terms(4 * s**2 * g1, 2 * s * g3, 2 * s * g2 + 2 * v**2, s)
    wanted = [(-2, v**2 / (2 * g1)), (-1, v**2 / g3), (-1, -(v**2) / g3)]
    seeds = range(101, 101 + shop.many(10, 128))
    return search(shop, CROSSING, {1: (-1.0, -0.5), -1: (-1.0, -0.5)}, seeds, leading, wanted)


Leading = list[tuple[int, Any]]
"""Powers of the distance s and coefficients, of the multiplier without friction and of the two with it."""


def leading_terms(a: Any, b: Any, c: Any, s: Any) -> Leading:
    """Return the leading terms of c/a, c/(a + b) and c/(a - b) in s, for coefficients that are symbols."""
    found = []
    for below in (a, a + b, a - b):
        top, bottom = (sp.Poly(sp.expand(item), s).terms()[-1] for item in (c, below))
        found.append((top[0][0] - bottom[0][0], sp.simplify(top[1] / bottom[1])))
    return found


def search(
    shop: Workshop, kind: str, wanted: dict[int, tuple[float, float]], seeds: range, leading: Leading, closed: Leading
) -> Finding:
    """Return the finding on all A, B, W: leading terms with symbols, then random systems that could differ."""
    differ, residual = [], 0.0
    for seed in seeds:
        found = growth(random_form(shop, kind, seed), {"eps": 0, "mu": 0.3}, ORIGIN, "curve")
        residual = max(residual, found.residual)
        for sign, (smooth, rough) in wanted.items():
            plain, with_it = exponents(found, sign, rough=False), exponents(found, sign, rough=True)
            right = np.allclose(plain, smooth, atol=EXPONENT) and np.allclose(with_it, rough, atol=EXPONENT)
            if not (plain and with_it and right and counts(found, sign) == {(0, 2)}):
                differ.append(seed)
    text = ", ".join(
        f"{smooth:g} and {rough:g} for eps {'>' if s > 0 else '<'} 0" for s, (smooth, rough) in wanted.items()
    )
    same = all(p == q and sp.simplify(x - y) == 0 for (p, x), (q, y) in zip(leading, closed, strict=True))
    return Finding(
        computed="With symbols for the values of `g_1`, `g_2`, `g_3` at the point, eps > 0: the multipliers go like "
        f"the distance to the power {leading[0][0]} without friction and {leading[1][0]} with it, for all of them. "
        f"Random A, B, W that depend on x and y, forces even in the velocity: exponents without and with friction "
        f"{text}, two solutions one way and none the other. Systems that differ: {share(len(differ), len(seeds))}.",
        comparisons=(
            as_printed("leading terms for all values of g", same),
            as_printed("systems that differ", len(differ), 0),
            sound("systems were tried", len(seeds) > 2),
        ),
        residual=residual,
        data={"tried": len(seeds)},
    )


@claim(
    "000-corollary-1",
    place="corollary 1",
    statement="At a perturbed crossing reactions and friction forces grow without bound in generalized and in "
    "Cartesian coordinates.",
    printed="reactions and friction forces `-> ∞`",
    recorded="confirmed",
    systems=(RODS, ROUGH),
)
def corollary_1(shop: Workshop) -> Finding:
    joint = rough_pendulum(shop)
    forces = [
        row.exponent
        for quantity in ("normal force at ellipse", "friction at ellipse")
        for sign in (1, -1)
        for row in rows(joint, sign, rough=True, quantity=quantity)
    ]
    params = shop.values(RODS)[1]
    cartesian = growth(shop.system(RODS), params, FOLDED_RODS, "ellipse", "y_C")
    bars = {name: [row.exponent for row in cartesian.select(quantity=name)] for name in ("AB", "BC", "ellipse")}
    flat = [item for group in bars.values() for item in group]
    return Finding(
        computed=f"Pendulum on a rough ellipse: normal and friction force on C grow like |eps| to the power "
        f"{num(forces[0])}. In Cartesian coordinates without friction the multipliers of both rods and of the ellipse "
        f"grow like eps to the power {num(flat[0])}.",
        comparisons=(
            as_printed("exponents of the forces at the guide", forces, [-0.5] * len(forces), tol=EXPONENT),
            as_printed("exponents of the rods and the guide", flat, [-1.0] * len(flat), tol=EXPONENT),
            sound("rows were found", len(forces) >= 8 and len(flat) >= 6),
        ),
        residual=max(joint.residual, cartesian.residual),
    )


@claim(
    "000-on-the-crossing-itself",
    place="abstract",
    statement="At a crossing multipliers become unbounded near the singular point on the singular manifold, whatever "
    "the friction.",
    printed="unbounded, independently of friction",
    recorded="corrected",
    systems=(CROSSING, TANGENCY),
    new="On the branches f = 0 the velocity satisfies `v^T f'' v = O(r)` with the distance r, so that `c = O(r)`, "
    "`a = O(r^2)` and, with friction, `b = O(r)`: the quotients of (7) are bounded. Series and eighty digits agree.",
)
def on_the_crossing(shop: Workshop) -> Finding:
    groups: dict[str, tuple[list[float], list[float]]] = {}
    comparisons: list[Comparison] = []
    for kind, smooth in ((CROSSING, -1.0), (TANGENCY, -2.0)):
        found = growth(shop.system(kind), shop.values(kind)[1], ORIGIN)
        plain = [row.exponent for row in found.select(quantity="curve", friction="without")]
        solved = [row.exponent for row in found.select(quantity="curve", consistent=True) if row.friction != "without"]
        groups[kind] = (plain, solved)
        comparisons.append(sound(f"exponents without friction, {kind}", plain, [smooth] * 4, tol=EXPONENT))
    plain, solved = groups[CROSSING]
    return Finding(
        computed=f"On the unperturbed lines, exponents in the distance: {num(plain[0])} without friction, "
        f"{num(round(max(solved), 9))} with it ({len(solved)} solutions on four half-branches). At the tangency "
        f"{num(groups[TANGENCY][0][0])} and {num(round(max(groups[TANGENCY][1]), 9))}.",
        comparisons=(
            as_printed("with friction they grow", bool(solved) and max(solved) < -EXPONENT),
            as_corrected("with friction they are bounded", bool(solved) and min(solved) > -EXPONENT),
            *comparisons,
        ),
        corrected="On the curves f = eps next to a crossing multipliers are unbounded with and without friction. On "
        "the crossing lines themselves they are unbounded without friction and bounded with it, if `A^-1 W` has a part "
        "along the gradient.",
    )
