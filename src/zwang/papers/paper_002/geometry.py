"""Section 2 of paper 002: the pendulum, its ellipse and its two branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang import critical, trace
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import CARTESIAN, JOINT, SLIM, TOUCHING, distance, poses, space
from zwang.papers.paper_002.pictures import regimes
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

CASES: tuple[dict[str, Any], ...] = ({}, SLIM, TOUCHING)


def _inside(d: Any) -> Any:
    return np.sqrt(np.maximum(10 * d**2 - d**4 - 9, 0.0))


@claim(
    "002-foci",
    place="section 2, before (1)",
    statement="The ellipse has both foci on the vertical axis above the pivot A, and r1 and r2 are its large "
    "semi-axes.",
    printed="foci above A; `r1`, `r2` large semi-axes",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-1",),
)
def foci(shop: Workshop) -> Finding:
    nearer, spread, axes = {}, 0.0, []
    for r1 in (1.21, 1.5625, 2.25):
        changes: dict[str, Any] = {"r1": r1, "r2": float(np.sqrt(r1)), "a": 1 - r1}
        C = poses(shop, reach=np.pi, **changes).C
        focus = np.sqrt(r1**2 - r1)
        sums = sum(np.hypot(C[0] - (1 - r1) - sign * focus, C[1]) for sign in (-1, 1))
        spread = max(spread, float(np.ptp(sums)))
        nearer[r1] = 1 - r1 + focus  # x points down: below A where positive
        axes.append((2 * r1 - float(sums.mean()), float(np.abs(C[1]).max() - np.sqrt(r1))))
    return Finding(
        computed="Ellipses of curvature 1 with r1 = 1.21, 1.5625, 2.25: the sum of the distances of C from the points "
        f"`a ± (r1^2 - r2^2)^(1/2)` is 2 r1 to {num(spread, 1)}, so these are the foci; the nearer one is at x = "
        f"{', '.join(num(x, 4) for x in nearer.values())}, below A.",
        comparisons=(
            as_printed("the nearer focus is above A", bool(max(nearer.values()) < 0)),
            as_corrected("the nearer focus is below A", bool(min(nearer.values()) > 0)),
            as_corrected("2 r1 is the sum of the distances", [item[0] for item in axes], [0.0] * 3),
            sound("C stays on the ellipse with these foci", spread, 0.0),
        ),
        corrected="`r1` and `r2` are the semi-axes, `r1` the larger one; where the branches touch (`r1 = r2^2 > 1`) "
        "the nearer focus is below A, at `1 - r1 + (r1^2 - r1)^(1/2) > 0`.",
    )


@claim(
    "002-ray",
    place="(2)",
    statement="The ray of the polar angle phi meets the ellipse below A at a height in closed form.",
    printed="`x(phi) = (a/r1^2 - S^(1/2))/(1/r1^2 + tan(phi)^2/r2^2)`, `S = 1/r1^2 + tan(phi)^2 (1 - a^2/r1^2)/r2^2`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-2",),
)
def ray(shop: Workshop) -> Finding:
    got: list[Any] = []
    minus: list[Any] = []
    plus: list[Any] = []
    for case in CASES:
        values, found = shop.values(CARTESIAN, **case)[1], poses(shop, **case)
        r1, r2, a = (values[key] for key in ("r1", "r2", "a"))
        slope = np.tan(found.phi) ** 2 / r2**2
        root = np.sqrt(1 / r1**2 + slope * (1 - a**2 / r1**2))
        got += list(found.C[0])
        minus += list((a / r1**2 - root) / (1 / r1**2 + slope))
        plus += list((a / r1**2 + root) / (1 / r1**2 + slope))
    least = np.abs(np.subtract(got, minus)).min()
    return Finding(
        computed=f"{len(got)} traced poses on three ellipses: with the minus x is off by {num(least, 3)} or more, with "
        f"a plus by at most {num(np.abs(np.subtract(got, plus)).max(), 1)}.",
        comparisons=(as_printed("x(phi)", got, minus), as_corrected("x(phi)", got, plus)),
        corrected="`x(phi) = (a/r1^2 + S^(1/2))/(1/r1^2 + tan(phi)^2/r2^2)`; the minus gives the other end of the "
        "chord, `a - r1` at phi = 0.",
    )


@claim(
    "002-elbow",
    place="(3)",
    statement="For each place of C between 1 and 3 from A there are two places of B, mirror images in the line AC.",
    printed="`x1 = (3 + d^2) cos(phi)/(2 d) ∓ (10 d^2 - d^4 - 9)^(1/2) sin(phi)/(2 d)` and the like for `y1`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def elbow(shop: Workshop) -> Finding:
    worst, both = 0.0, True
    for case in CASES:
        found = poses(shop, **case)
        along, across = (3 + found.d**2) / (2 * found.d), found.label * _inside(found.d) / (2 * found.d)
        c, s = np.cos(found.phi), np.sin(found.phi)
        printed = np.stack([along * c - across * s, along * s + across * c])
        worst = max(worst, float(np.abs(found.B - printed).max()))
        both = both and set(found.label) == {-1.0, 1.0}
    return Finding(
        computed=f"Traced poses with both labels on three ellipses meet the formula to {num(worst, 1)}.",
        comparisons=(as_printed("B", worst, 0.0, tol=1e-7), sound("both labels occur", both)),
    )


@claim(
    "002-velocities",
    place="(4), (5) and (6)",
    statement="Along a branch the velocities of B and C follow from the rate of the polar angle and `d(phi)`.",
    printed="`V_C = (d' cos(phi) - d sin(phi), d' sin(phi) + d cos(phi)) phi'`; (5) and (6) for B",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def velocities(shop: Workshop) -> Finding:
    of_C, of_B = 0.0, 0.0
    for case in CASES:
        found = poses(shop, **case)
        d, slope, _ = distance(shop.values(CARTESIAN, **case)[1], found.phi)
        c, s, root = np.cos(found.phi), np.sin(found.phi), _inside(d)
        vC = np.stack([slope * c - d * s, slope * s + d * c]) * found.rate
        along, turn = (d**2 - 3) / (2 * d**2) * slope, (9 - d**4) / (2 * d**2 * root) * slope * found.label
        arm, side = (3 + d**2) / (2 * d), root / (2 * d) * found.label
        vB = np.stack([-s * arm + c * along - c * side - s * turn, c * arm + s * along - s * side + c * turn])
        of_C = max(of_C, float(np.abs(found.vC - vC).max()))
        of_B = max(of_B, float(np.abs(found.vB - vB * found.rate).max()))
    return Finding(
        computed=f"Tangents of the traced arcs on three ellipses: C agrees to {num(of_C, 1)}, B to {num(of_B, 1)}.",
        comparisons=(as_printed("V_C", of_C, 0.0, tol=1e-8), as_printed("V_B", of_B, 0.0, tol=1e-7)),
    )


@claim(
    "002-change-of-branch",
    place="section 2, on the two branches",
    statement="The short rod can only get from one side of the long one to the other where the rods are aligned.",
    printed="a change of branch needs `|AC| = 1` or `|AC| = 3`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def change(shop: Workshop) -> Finding:
    changes, kept = [], True
    for a in (-0.45, -0.5, -0.55):
        found = poses(shop, count=400, reach=np.pi, a=a)
        kept = kept and (a < -0.5 or bool(found.d.min() > 1))
        turns = np.flatnonzero(np.diff(found.label) != 0)
        changes += [float(found.d[[k, k + 1]].min()) for k in turns if abs(found.theta[k] - found.theta[k + 1]) < 0.3]
    arcs = [arc.sampled(200) for arc in space(shop, a=-0.45).branches]
    pure = all(len(set(np.sign(q[:, 2] * q[:, 1] - q[:, 3] * q[:, 0]))) == 1 for q in arcs)
    off = max((abs(d - 1) for d in changes), default=float("nan"))
    return Finding(
        computed=f"{len(changes)} changes of label on the traced arcs, all within {num(off, 2)} of |AC| = 1 (the "
        "spacing of the samples); where |AC| stays above 1 every arc keeps its label.",
        comparisons=(
            as_printed("|AC| at a change of label", off, 0.0, tol=0.02),
            as_printed("arcs keep their label where |AC| > 1", pure and kept),
        ),
        residual=float(space(shop).residual),
    )


@claim(
    "002-general-case",
    place="abstract",
    statement="For general parameters the configuration space consists of two separate curves; at special ones they "
    "meet.",
    printed="in general two curves that don't meet",
    recorded="corrected",
    systems=(JOINT,),
    new="an ellipse whose vertex is nearer to A than 1 can't be reached all round: the two ways to fold are then "
    "joined at the ends into one curve, and so for all parameters near by",
)
def general(shop: Workshop) -> Finding:
    above, at, below = (space(shop, JOINT, a=a) for a in (-0.45, -0.5, -0.55))
    params = shop.values(JOINT)[1]
    (value,) = critical(
        shop.system(JOINT), {k: v for k, v in params.items() if k != "a"}, vary="a", within=(-0.7, -0.3)
    )
    counts = [len(item.curves) for item in (below, at, above)]
    return Finding(
        computed=f"a = -0.55, -0.5, -0.45: {vec([item.components for item in (below, at, above)])} components and "
        f"{vec(counts)} smooth curves; the space changes at a = {num(value.value)} only.",
        comparisons=(
            as_printed("two curves on both sides of the special value", [below.components, above.components], [2, 2]),
            as_corrected("one and two components", [below.components, above.components], [1, 2]),
            as_corrected("both without singular points", len(below.singular_points) + len(above.singular_points), 0),
            sound("the special value of a", value.value, 1 - params["r1"], tol=1e-8),
        ),
        corrected="Two separate curves if `|AC| > 1` all round the ellipse, one closed curve if the vertex is nearer.",
        pictures=(regimes(shop),),
    )


@claim(
    "002-nothing-else",
    place="abstract, the three kinds of configuration spaces",
    statement="The configuration space is two separate curves, or two that cross at an angle, or two that touch, and "
    "nothing else belongs to it.",
    printed="separate, crossing at an angle, or with a tangency of first order",
    recorded="confirmed",
    systems=(JOINT,),
    profile="full",
)
def nothing_else(shop: Workshop) -> Finding:
    cases: tuple[dict[str, Any], ...] = ({"a": -0.45}, {}, TOUCHING)
    found = [trace(shop.system(JOINT), shop.values(JOINT, **case)[1], search="exhaustive") for case in cases]
    kinds = [", ".join(point.kind for point in item.singular_points) for item in found]
    return Finding(
        computed="Searched exhaustively, with proofs by interval arithmetic: "
        f"{vec([len(item.branches) for item in found])} "
        f"arcs, {vec([item.components for item in found])} components, singular points: none, {kinds[1]}, {kinds[2]}.",
        comparisons=(
            as_printed("kinds of singular points", kinds == ["", "crossing", "tangency"]),
            as_printed("components", [item.components for item in found], [2, 1, 1]),
            as_printed("arcs", [len(item.branches) for item in found], [2, 2, 2]),
            sound("the searches are complete", all(item.complete for item in found)),
        ),
        residual=max(float(item.residual) for item in found),
    )
