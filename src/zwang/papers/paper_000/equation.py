"""Sections 2.3 and 2.4 of paper 000: the equation for one multiplier, and perturbed constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.gallery.pendulum_on_ellipse import place
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.studies import (
    CROSSING,
    EXPONENT,
    ROUGH,
    TANGENCY,
    crossing_at,
    exponents,
    family,
    formal,
    frictions,
    multipliers,
    terms_of,
    traced,
)
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop

FORMS = (CROSSING, TANGENCY, ROUGH)
CLOSED_FORMS = ("multiplier", "multiplier", "multiplier_negative")
COEFFICIENTS = ("A11", "A12", "A22", "B1", "B2", "W1", "W2")


def _states(shop: Workshop) -> list[tuple[str, dict[str, float]]]:
    """Return states on perturbed and unperturbed curves: with one solution, with two, and with none."""
    state, params = shop.values(ROUGH)
    pendulum = [place(params, phi, rate, label) for phi, rate, label in ((-0.3, 0.42, 1), (0.05, 1.0, 1), (0.2, 1, -1))]
    found = [(ROUGH, {key: item[key] for key in state}) for item in pendulum]
    for eps in (0.001, 0.003, 0.02, 0.3):
        found += [(CROSSING, crossing_at(eps, v, slope)) for v in (1.0, -1.0) for slope in (0.0, 0.4)]
        y = float(np.sqrt(eps))
        found += [(TANGENCY, {"x": 0.0, "y": y, "v_x": v, "v_y": 0.0, "eps": eps}) for v in (1.0, -1.0)]
        x = eps**0.25
        found += [(TANGENCY, {"x": x, "y": 0.0, "v_x": 0.0, "v_y": v, "eps": -eps}) for v in (1.0, -1.0)]
    return found


@claim(
    "000-eq4-eq5",
    place="section 2.3, (4) and (5)",
    statement="Accelerations and multiplier satisfy the equations of motion and the constraint differentiated twice; "
    "without the accelerations one equation for the multiplier is left.",
    printed="`-grad f^T A^-1 B + |lambda| grad f^T A^-1 W + lambda grad f^T A^-1 grad f + v^T f'' v = 0`",
    recorded="confirmed",
    systems=FORMS,
)
def equations_4_and_5(shop: Workshop) -> Finding:
    motion, bent, scalar, number = 0.0, 0.0, 0.0, 0
    rubbing, against = [], []
    for name, changes in _states(shop):
        q, found = terms_of(shop, name, **changes), shop.ask(name, **changes)
        if name != ROUGH:
            values = shop.values(name, **changes)[1]
            way = np.sign(values["W1"] * changes["v_x"] + values["W2"] * changes["v_y"])
            rubbing += frictions(found)
            against += [-values["mu"] * abs(lam) * way for lam in multipliers(found)]
        for item in found.solutions:
            lam, number = float(item.normal[0]), number + 1
            left = q.friction(item.acceleration, lam)
            motion = max(motion, float(np.abs(left - abs(lam) * q.W).max()) / max(1.0, abs(lam)))
            size = max(1.0, abs(q.c))
            bent = max(bent, abs(float(q.gradient @ item.acceleration) + q.bending) / size)
            scalar = max(scalar, abs(q.a * lam + q.b * abs(lam) - q.c) / size)
    return Finding(
        computed=f"{number} solutions at states of both normal forms and of the rough pendulum satisfy (4) to "
        f"{num(max(motion, bent), 1)} and (5) to {num(scalar, 1)}.",
        comparisons=(
            as_printed("(4), equations of motion", motion, 0.0),
            as_printed("(4), the constraint differentiated twice", bent, 0.0),
            as_printed("(5)", scalar, 0.0),
            sound("states with two solutions are among them", number > 20),
            sound("friction is against the slip of the normal forms", rubbing, against),
        ),
    )


@claim(
    "000-eq6",
    place="section 2.3, (6)",
    statement="Without friction the multiplier is one quotient.",
    printed="`-grad f^T A^-1 B + lambda grad f^T A^-1 grad f + v^T f'' v = 0`",
    recorded="confirmed",
    systems=FORMS,
)
def equation_6(shop: Workshop) -> Finding:
    got, wanted = [], []
    for name, changes in _states(shop):
        found = multipliers(shop.ask(name, **changes, mu=0.0))
        q = terms_of(shop, name, **changes, mu=0.0)
        got.append(found[0] if len(found) == 1 else float("nan"))
        wanted.append(q.c / q.a)
    facts = [shop.entry(kind).facts for kind in (CROSSING, TANGENCY, TANGENCY)]
    closed = [float(fact[key].value) for fact, key in zip(facts, CLOSED_FORMS, strict=True)]
    y, x = 0.01**0.5, 0.01**0.25
    upper = {"x": 0.0, "y": y, "v_x": 1.0, "v_y": 0.0, "eps": 0.01, "mu": 0.0}
    right = {"x": x, "y": 0.0, "v_x": 0.0, "v_y": 1.0, "eps": -0.01, "mu": 0.0}
    cases = ((CROSSING, upper), (TANGENCY, upper), (TANGENCY, right))
    known = [multipliers(shop.ask(kind, **state))[0] for kind, state in cases]
    return Finding(
        computed=f"mu = 0, {len(got)} states: one multiplier each, from {num(min(got), 3)} to {num(max(got), 4)}.",
        comparisons=(
            as_printed("multipliers", np.array(got) / np.array(wanted), np.ones(len(got))),
            sound("closed forms at eps = 0.01 and -0.01", known, closed),
        ),
    )


@claim(
    "000-eq7",
    place="section 2.3, (7)",
    statement="Opening the absolute value for a positive and for a negative multiplier gives one quotient for each; "
    "the first line of the print has both signs on its left side.",
    printed="`lambda_{±}` on the line for `lambda >= 0`, `lambda_{-}` on the line for `lambda < 0`",
    recorded="corrected",
    systems=FORMS,
    errata=("burian2024-6",),
)
def equation_7(shop: Workshop) -> Finding:
    got, first, own, complete = [], [], [], True
    for name, changes in _states(shop):
        q, found = terms_of(shop, name, **changes), multipliers(shop.ask(name, **changes))
        expected = formal(q)
        complete = complete and len(found) == len(expected)
        got += found
        first += [q.c / (q.a + q.b)] * len(found)
        own += [q.c / (q.a + np.sign(lam) * q.b) for lam in found]
    shown = np.array(got)
    return Finding(
        computed=f"{len(got)} multipliers at states of three systems: the positive ones are `c/(a + b)`, the "
        f"{int((shown < 0).sum())} negative ones `c/(a - b)`.",
        comparisons=(
            as_printed("both signs from the first line", np.array(first) / shown, np.ones(len(got))),
            as_corrected("each sign from its own line", np.array(own) / shown, np.ones(len(got))),
            sound("no solution is missing or too many", complete),
        ),
        corrected="`lambda_{+}` on the first line. It may be a slip of the scan.",
    )


def _batch(shop: Workshop, rng: Any, count: int) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """Return random coefficients of the crossing, and states on the upper branch of its perturbed curve."""
    entries: list[dict[str, float]] = []
    for _ in range(count):
        root = rng.uniform(-1, 1, (2, 2))
        A = root @ root.T + 0.3 * np.eye(2)
        values = [A[0, 0], A[0, 1], A[1, 1], *rng.uniform(-1, 1, 4)]
        state = crossing_at(float(10 ** rng.uniform(-4, 0)), float(rng.choice([-1, 1])), float(rng.uniform(-1, 1)))
        entries.append({**dict(zip(COEFFICIENTS, values, strict=True)), **state, "mu": float(rng.uniform(0, 1.5))})
    return {key: np.array([item[key] for item in entries]) for key in entries[0]}, entries


@claim(
    "000-remark-1-count",
    place="remark 1, (8)",
    statement="The equation for the multiplier has one solution where `(a - b)(a + b) > 0`, and two or none where it "
    "is negative and c is not zero.",
    printed="`a lambda + b |lambda| = c`: one, or two or none",
    recorded="confirmed",
    systems=(CROSSING,),
)
def remark_1_count(shop: Workshop) -> Finding:
    arrays, entries = _batch(shop, shop.rng(82), shop.many(400, 20000))
    counts = np.asarray(shop.ask(CROSSING, **arrays).counts)
    wrong, cases = 0, {"one": 0, "two": 0, "none": 0}
    for count, item in zip(counts, entries, strict=True):
        q = terms_of(shop, CROSSING, **item)
        if q.a > abs(q.b):
            expected = "one"
        else:
            expected = "two" if q.b * q.c > 0 else "none"
        cases[expected] += 1
        wrong += int(count) != {"one": 1, "two": 2, "none": 0}[expected]
    return Finding(
        computed=f"{len(entries)} random A, B, W, mu and states on perturbed crossings: one solution {cases['one']} "
        f"times, two {cases['two']} times, none {cases['none']} times; {wrong} differ from the rule.",
        comparisons=(
            as_printed("states that differ from the rule", wrong, 0),
            sound("all three cases occur", min(cases.values()) > 10),
        ),
        data=cases,
    )


@claim(
    "000-remark-1-singular",
    place="remark 1, last sentences",
    statement="At the singular point itself a and b vanish, and the multiplier is arbitrary.",
    printed="`a = b = 0`: any lambda solves (8)",
    recorded="corrected",
    systems=(CROSSING,),
    new="With a = b = 0 the equation (8) reads `0 = c`, and at the singular point `c = -v^T f'' v`: any multiplier "
    "solves it if the velocity is tangent to a branch, and none if it is not.",
)
def remark_1_singular(shop: Workshop) -> Finding:
    angles = np.radians([0.0, 20.0, 45.0, 90.0, 120.0, 135.0])
    free, closed, off = [], [], []
    for angle in angles:
        v = {"v_x": float(np.cos(angle)), "v_y": float(np.sin(angle))}
        found = shop.ask(CROSSING, x=0.0, y=0.0, **v)
        q = terms_of(shop, CROSSING, x=0.0, y=0.0, **v)
        free.append(bool(found.solutions) and all(item.dimension == 1 for item in found.solutions))
        closed.append(abs(q.c) < 1e-12)
        off.append(max(abs(q.a), abs(q.b)))
    shown = ", ".join(f"{num(np.degrees(item))}°" for item, yes in zip(angles, free, strict=True) if yes)
    return Finding(
        computed=f"At the crossing point with unit velocities in {len(angles)} directions: any multiplier goes for "
        f"{shown} (the branches), none at all for the others.",
        comparisons=(
            as_printed("directions in which the multiplier is arbitrary", sum(free), len(angles)),
            as_corrected("it is arbitrary exactly where c = 0", free == closed),
            as_corrected("directions of branches among these", sum(free), 2),
            sound("a and b vanish", max(off), 0.0),
        ),
        corrected="`a = b = 0` leaves `0 = c`, and `c = -v^T f'' v`: the multiplier is arbitrary if the velocity is "
        "tangent to a branch, and there is none otherwise.",
    )


@claim(
    "000-remark-2",
    place="remark 2",
    statement="The coefficient a lies between the extreme eigenvalues of `A^-1` times the squared gradient.",
    printed="`lambda_min |grad f|^2 <= grad f^T A^-1 grad f <= lambda_max |grad f|^2`",
    recorded="confirmed",
    systems=(CROSSING,),
)
def remark_2(shop: Workshop) -> Finding:
    _, entries = _batch(shop, shop.rng(83), shop.many(200, 5000))
    outside, ratios = 0, []
    for item in entries:
        q = terms_of(shop, CROSSING, **item)
        low, high = 1 / np.linalg.eigvalsh(q.A)[::-1]
        ratio = q.a / float(q.gradient @ q.gradient)
        outside += not low * (1 - 1e-12) <= ratio <= high * (1 + 1e-12)
        ratios.append((ratio - low) / (high - low))
    return Finding(
        computed=f"{len(entries)} random mass matrices and states: {outside} outside; the bounds are approached to "
        f"{num(min(*ratios, *(1 - item for item in ratios)), 1)} of their distance.",
        comparisons=(as_printed("states outside the bounds", outside, 0),),
    )


@claim(
    "000-perturbed-smooth",
    place="section 2.4, on f = eps",
    statement="For which values of eps the perturbed constraint has a configuration space without singular points.",
    printed="for `eps > 0`",
    recorded="corrected",
    systems=(CROSSING, TANGENCY),
    errata=("burian2024-5",),
)
def perturbed_smooth(shop: Workshop) -> Finding:
    values = (-0.04, 0.0, 0.04)
    singular: dict[str, list[int]] = {}
    residual = 0.0
    for kind in (CROSSING, TANGENCY):
        spaces = [traced(shop, kind, eps) for eps in values]
        singular[kind] = [len(space.singular_points) for space in spaces]
        residual = max(residual, *(space.residual for space in spaces))
    smooth = [all(found[k] == 0 for found in singular.values()) for k in range(len(values))]
    return Finding(
        computed=f"Singular points found for eps = {', '.join(map(num, values))}: crossing "
        f"{singular[CROSSING]}, tangency {singular[TANGENCY]}.",
        comparisons=(
            as_printed("smooth just for eps > 0", smooth == [eps > 0 for eps in values]),
            as_corrected("smooth just for eps != 0", smooth == [eps != 0 for eps in values]),
        ),
        corrected="for `eps != 0`, as theorems 1 and 2 use it",
        residual=residual,
    )


@claim(
    "000-other-points",
    place="section 2.4, and after the branches of (9) and (15)",
    statement="Of the points of a perturbed branch only the nearest one tends to the singular point.",
    printed="the other points of the branch do not tend to s as `eps -> 0`",
    recorded="corrected",
    systems=(CROSSING,),
    errata=("burian2024-5",),
)
def other_points(shop: Workshop) -> Finding:
    eps = np.array([1e-4, 1e-8, 1e-12])
    slopes = (0.5, 1.0, 3.0)
    far, found = [], []
    for k in slopes:
        states = [crossing_at(float(item), 1.0, k) for item in eps]
        far.append([float(np.hypot(state["x"], state["y"])) for state in states])
        # The same ray through the origin picks these points on all curves: x sqrt(1 + k^2) = k y.
        found.append(exponents(family(shop, CROSSING, f"{1 + k**2:g}**(1/2)*x - {k:g}*y"), 1, rough=False))
    fixed = [float(np.hypot(0.3, np.sqrt(0.09 + item))) for item in eps]
    slope = float(np.polyfit(np.log(eps), np.log(far[1]), 1)[0])
    flat = [item for group in found for item in group]
    return Finding(
        computed=f"The points `(k eps^(1/2), (1 + k^2)^(1/2) eps^(1/2))` lie on the branch, and their distance to s "
        f"falls like eps to the power {num(slope, 3)} for every k; multipliers at them grow with the exponents "
        f"{vec(sorted(set(np.round(flat, 6))), 3)}, as at the nearest point. Points with x = 0.3 stay "
        f"{num(fixed[-1], 3)} away.",
        comparisons=(
            as_printed("distance of the other points stays", bool(min(far[1]) > 0.1)),
            as_corrected("points with a fixed x stay away", bool(min(fixed) > 0.1)),
            as_corrected("exponent of the distance", slope, 0.5),
            as_corrected("exponents of the multiplier at other points", flat, [-1.0] * len(flat), tol=EXPONENT),
            sound("rows were found", len(flat) >= len(slopes)),
        ),
        corrected="Points with a fixed x do not tend to s. Those with x of the order of `eps^(1/2)` do, and "
        "multipliers grow there with the same exponent.",
    )


@claim(
    "000-bounded-elsewhere",
    place="section 2.4, on the other points",
    statement="At points of the perturbed curves that stay away from the singular point, reactions tend to those of "
    "motion on the unperturbed curve.",
    printed="limits of the reactions are bounded there",
    recorded="confirmed",
    systems=(CROSSING, TANGENCY),
)
def bounded_elsewhere(shop: Workshop) -> Finding:
    got, wanted = [], []
    for kind, power in ((CROSSING, 1), (TANGENCY, 2)):
        for x in (0.4, 0.9):
            limit = multipliers(shop.ask(kind, x=x, y=x**power, v_x=1.0, v_y=power * x ** (power - 1)))
            near = []
            for eps in (1e-10, -1e-10):
                y = float(np.sqrt(x ** (2 * power) + eps))
                state = {"x": x, "y": y, "v_x": 1.0, "v_y": power * x ** (2 * power - 1) / y, "eps": eps}
                near.append(multipliers(shop.ask(kind, **state)))
            got += [value for item in near for value in item]
            wanted += 2 * limit
    return Finding(
        computed=f"eps = 1e-10 and -1e-10 at x = 0.4 and 0.9, {share(len(got), len(wanted))} multipliers: they differ "
        f"from those on the unperturbed curve by {num(np.abs(np.array(got) - wanted).max(), 1)}.",
        comparisons=(as_printed("multipliers next to the unperturbed ones", got, wanted, tol=1e-6),),
    )
