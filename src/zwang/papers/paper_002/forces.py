"""Section 5 of paper 002, second half: what the multipliers do on the way into the folded pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_002.equations import folded, right_side, terms
from zwang.papers.paper_002.pendulum import CARTESIAN, SLIM, TOUCHING, answer, distance, growth, poses, space
from zwang.papers.paper_002.pictures import growth_picture
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

CROSSING: tuple[dict[str, Any], ...] = ({}, SLIM, {"r1": 3.0, "r2": 2.5, "a": -2.0})
TILT = 0.2  # rad; any tilt takes away the symmetry


def _condition(shop: Workshop, U: Any, **changes: float) -> float:
    """Return the left side of (15)."""
    c = 1 / shop.values(CARTESIAN, **changes)[1]["r1"]
    return float(U[2] / c + U[1] - U[0] / 2)


def _velocities(shop: Workshop, **changes: Any) -> list[float]:
    """Return the velocity of B on each branch where C moves with unit speed, from the traced tangents."""
    (point,) = space(shop, **changes).singular_points
    return sorted(float(row[1] / row[3]) for row in point.tangents)


@claim(
    "002-touching-solvable",
    place="section 5, U0",
    statement="On the ellipse of unit curvature the equations at the point can be solved, and not uniquely.",
    printed="`U0 = (4 v^2 + 2 g, v^2, v^2/r2^2 + c g)`; `u3/c + u2 - u1/2 = v^2 (1/(c r2^2) - 1) = 0`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def touching_solvable(shop: Workshop) -> Finding:
    speeds, worst, numbers, dimensions = (0.42, 1.0, 2.3), 0.0, [], []
    params = shop.values(CARTESIAN, **TOUCHING)[1]
    c, g = 1 / params["r1"], params["g"]
    ratio = _velocities(shop, **TOUCHING)
    for v in speeds:
        state = folded(2 * v, v)
        U = right_side(shop, state, **TOUCHING)
        worst = max(worst, float(np.abs(U - [4 * v**2 + 2 * g, v**2, v**2 / params["r2"] ** 2 + c * g]).max()))
        numbers.append(_condition(shop, U, **TOUCHING))
        dimensions.append(answer(shop.model(CARTESIAN), state, params).solutions[0].dimension)
    return Finding(
        computed=f"Three speeds: U0 agrees to {num(worst, 1)}, (15) is {num(np.abs(numbers).max(), 1)}, and the "
        f"multipliers form a set of dimension {dimensions[0]}.",
        comparisons=(
            as_printed("U0", worst, 0.0),
            as_printed("(15)", numbers, [0.0] * 3),
            as_printed("not unique", dimensions, [1] * 3),
            sound("B moves twice as fast as C", ratio, [2.0, 2.0], tol=1e-7),
        ),
    )


@claim(
    "002-branch-velocity",
    place="section 5, curvature other than 1",
    statement="Where the branches cross, a velocity in the folded pose differs from that of the tangency by an amount "
    "C.",
    printed="`y2' = 2 phi' + C`, `C = 2 u'(0)`, `u = (d - 1)^(1/2)`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-11",),
)
def branch_velocity(shop: Workshop) -> Finding:
    v, of_C, of_B, printed, expected = 0.42, [], [], [], []
    for case in CROSSING:
        k = shop.values(CARTESIAN, **case)[1]
        slope = np.sqrt(float(distance(k, 0.0)[2]) / 2)  # u'(0), which is sqrt((1 - k)/2)
        for ratio, sign in zip(_velocities(shop, **case), (-1, 1), strict=True):
            of_C.append(v)
            of_B.append(ratio * v)
            printed.append(2 * v + 2 * slope)
            expected.append(2 * v + sign * 2 * slope * v)
    curvature = [
        params["r1"] / params["r2"] ** 2 for params in (shop.values(CARTESIAN, **case)[1] for case in CROSSING)
    ]
    closed = [2 * v + s * 2 * v * np.sqrt((1 - k) / 2) for k in curvature for s in (-1, 1)]
    return Finding(
        computed=f"C moves with {num(v)}: B then moves with {vec(of_B, 4)} on the six branches of three ellipses.",
        comparisons=(
            as_printed("velocity of C is 2 phi' + 2 u'(0)", of_C, printed),
            as_corrected("velocity of B is 2 phi' +- 2 u'(0) phi'", of_B, expected, tol=1e-7),
            sound("u'(0) = ((1 - k)/2)^(1/2)", expected, closed),
        ),
        corrected="It is B's velocity: `y1' = 2 phi' + C`, `C = ± 2 u'(0) phi'`, `u'(0) = ((1 - k)/2)^(1/2)`.",
    )


@claim(
    "002-added-side",
    place="section 5, U1",
    statement="What the amount C adds to the right side of the equations for the multipliers.",
    printed="`U1 = (2 v C + C^2, 2 v C + C^2 - 2 v C, 0)`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-12",),
)
def added(shop: Workshop) -> Finding:
    rng, got, printed, corrected = shop.rng(12), [], [], []
    for v, C in rng.uniform(-2, 2, size=(8, 2)):
        got.append(right_side(shop, folded(2 * v + C, v)) - right_side(shop, folded(2 * v, v)))
        printed.append([2 * v * C + C**2, C**2, 0.0])
        corrected.append([4 * v * C + C**2, 2 * v * C + C**2, 0.0])
    return Finding(
        computed="Eight random pairs v, C: the print is off by up to "
        f"{num(np.abs(np.subtract(got, printed)).max(), 3)}, the "
        f"corrected vector by {num(np.abs(np.subtract(got, corrected)).max(), 1)}.",
        comparisons=(as_printed("U1", got, printed), as_corrected("U1", got, corrected)),
        corrected="`U1 = (4 v C + C^2, 2 v C + C^2, 0)`",
    )


@claim(
    "002-crossing-solvable",
    place="section 5, on U0 + U1",
    statement="Where the branches cross, the equations in the folded pose have no solution for the velocity of a "
    "branch.",
    printed="(15) fails for `U0 + U1` unless `C = 0`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-13",),
)
def crossing_solvable(shop: Workshop) -> Finding:
    numbers, solved, alone = [], 0, []
    for case in CROSSING:
        params = shop.values(CARTESIAN, **case)[1]
        for ratio in _velocities(shop, **case):
            state = folded(ratio, 1.0)
            numbers.append(_condition(shop, right_side(shop, state, **case), **case))
            solved += bool(answer(shop.model(CARTESIAN), state, params).solutions)
            alone.append(_condition(shop, right_side(shop, folded(2.0, 1.0), **case), **case))
    count = len(numbers)
    return Finding(
        computed=f"Both branches of three ellipses: (15) is {num(np.abs(numbers).max(), 1)} and `reactions` finds "
        f"solutions on {solved} of {count}. U0 alone gives {vec(alone[::2], 4)}: it depends on r2 as well.",
        comparisons=(
            as_printed("no branch has a solution", solved, 0),
            as_corrected("(15) on every branch", numbers, [0.0] * count, tol=1e-7),
            as_corrected("branches with solutions", solved, count),
            as_corrected("U0 alone: v^2 (k - 1)", alone, [k - 1 for k in _curvatures(shop) for _ in range(2)]),
        ),
        corrected="(15) holds on both branches: U0 alone gives `v^2 (k - 1)`, since it depends on r2, and U1 adds "
        "`C^2/2 = v^2 (1 - k)`. (15) is the equation of the tangent cone, so it holds for the velocity of any branch.",
    )


def _curvatures(shop: Workshop) -> list[float]:
    values = [shop.values(CARTESIAN, **case)[1] for case in CROSSING]
    return [item["r1"] / item["r2"] ** 2 for item in values]


@claim(
    "002-finite-limits",
    place="abstract and section 5, main claim",
    statement="Where the branches cross, the multipliers grow beyond all bounds as the pendulum nears the folded pose.",
    printed="`|Lambda| -> ∞` as `phi -> 0`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-13",),
)
def finite_limits(shop: Workshop) -> Finding:
    found = growth(shop)
    exponents = [row.exponent for row in found.rows]
    limits = sorted({tuple(round(row.coefficient, 6) for row in found.select(branch=k)) for k in range(4)})[::-1]
    # Which branch has which: the sign of phi times the label, from the direction in which each leaves the point.
    sides = {
        round(found.select(branch=k)[0].coefficient, 6): float(np.sign(way["y_C"] * (way["y_B"] / 2 - way["y_C"])))
        for k, way in ((k, found.select(branch=k)[0].velocity) for k in range(4))
    }
    # Along the traced arcs, by `reactions`, for poses nearer and nearer.
    near = poses(shop, count=4000, reach=0.02)
    params, seen = shop.values(CARTESIAN)[1], []
    for k in np.argsort(np.abs(near.phi))[:6]:
        state = {key: value / (near.rate[k] if key.startswith("v_") else 1.0) for key, value in near.states[k].items()}
        seen.append(float(np.abs(answer(shop.model(CARTESIAN), state, params).solutions[0].normal).max()))
    tilted = growth(shop, tilt=TILT)
    slopes = [row.exponent for row in tilted.rows]
    # Limits found by an independent check of the paper, for this ellipse.
    known = [(-0.958806, 0.217271, -2.174093), (-2.177205, -0.611917, -3.417876)]
    return Finding(
        computed=f"r1 = r2 = 1.5, v = g = m = 1: all exponents are {num(np.abs(exponents).max(), 1)}, the limits "
        f"{vec(limits[0])} and {vec(limits[1])}; on poses with phi down to {num(np.abs(near.phi).min(), 1)} no "
        f"multiplier is above {num(max(seen), 4)}. Gravity tilted by {TILT}: exponents {num(min(slopes), 4)}.",
        comparisons=(
            as_printed("the multipliers grow", bool(min(exponents) < -0.1)),
            as_corrected("exponents, symmetric", exponents, [0.0] * 12, tol=1e-6),
            as_corrected("limits on the two branches", limits, known, tol=1e-6),
            as_corrected("sign of phi times the label", [sides[item[0]] for item in limits], [-1.0, 1.0]),
            as_corrected("exponents, tilted gravity", slopes, [-1.0] * 12, tol=1e-6),
            sound("poses next to the point stay below", bool(max(seen) < 4.0)),
        ),
        corrected="With the mirror symmetry every multiplier has a finite limit on each branch; without it (tilted "
        "gravity) `Lambda ~ 1/phi`.",
        residual=max(float(found.residual), float(tilted.residual)),
        data={"limits": [list(item) for item in limits]},
        pictures=(
            growth_picture(shop, "finite", "Multipliers over the distance where the branches cross: they stay finite."),
            growth_picture(shop, "tilted", "The same with gravity tilted: they grow like one over it.", tilt=TILT),
        ),
    )


@claim(
    "002-touching-forces",
    place="section 5, end",
    statement="On the ellipse of unit curvature a solution exists, and the multipliers are of the form 0/0.",
    printed="the solution exists; numerator and denominator vanish together",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-14",),
)
def touching_forces(shop: Workshop) -> Finding:
    found = growth(shop, **TOUCHING)
    r1 = TOUCHING["r1"]
    exponents = [row.exponent for row in found.rows]
    coefficients = [[row.coefficient for row in found.select(branch=k)] for k in range(4)]
    wanted = [0.8 * item for item in (-0.5, 1.0, r1)]
    near = poses(shop, count=4000, reach=0.1, **TOUCHING)
    least = [np.linalg.svd(terms(shop, state, **TOUCHING)[1], compute_uv=False)[2] for state in near.states[::40]]
    slope = float(np.polyfit(np.log(np.abs(near.phi[::40])), np.log(least), 1)[0])
    return Finding(
        computed=f"Every multiplier goes like phi to the {num(exponents[0], 4)}, with the coefficients "
        f"{vec(coefficients[0])} for "
        f"v = m = 1; the least singular value of the gradients like phi to the {num(slope, 3)}.",
        comparisons=(
            as_printed("the multipliers stay finite along the branch", bool(min(exponents) > -0.1)),
            as_corrected("exponents", exponents, [-2.0] * 12, tol=1e-6),
            as_corrected("coefficients 0.8 m v^2 (-1/2, 1, r1)", coefficients, [wanted] * 4, tol=1e-6),
            sound("the least singular value is of second order", slope, 2.0, tol=0.02),
        ),
        corrected="A solution exists at the point, but along the branch `Lambda_k -> 0.8 m v^2 n_k/phi^2`, `n = (-1/2, "
        "1, r1)`: the branch is curved, and the gradients become dependent like `phi^2`.",
        residual=float(found.residual),
        data={"exponent": exponents[0]},
        pictures=(growth_picture(shop, "touching", "Multipliers where the branches touch: they grow.", **TOUCHING),),
    )
