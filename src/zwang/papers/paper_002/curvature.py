"""Section 3 of paper 002: what the curvature of the ellipse at its vertex decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import Bilateral, trace
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import CARTESIAN, JOINT, SLIM, TOUCHING, distance, poses, space
from zwang.papers.paper_002.pictures import transversal_and_touching
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop


def implicit_curvature(shop: Workshop, C: Any, **changes: float) -> Any:
    """Return the curvature of the declared guide at places of C, from its implicit equation."""
    system = shop.system(CARTESIAN)
    values = shop.values(CARTESIAN, **changes)[1]
    x, y = system.coordinates[2:]
    guide: Any = system.constraints["ellipse"]
    f = guide.expr.subs({item: values[item.name] for item in system.parameters})
    fx, fy = f.diff(x), f.diff(y)
    bend = fx.diff(x) * fy**2 - 2 * fx.diff(y) * fx * fy + fy.diff(y) * fx**2
    return sp.lambdify((x, y), bend / sp.sqrt(fx**2 + fy**2) ** 3, "numpy")(*np.asarray(C, dtype=float))


def _guide(shop: Workshop, x: float, y: float, **changes: float) -> float:
    """Return the declared equation of the guide with C at a place."""
    system = shop.system(CARTESIAN)
    values = shop.values(CARTESIAN, **changes)[1]
    symbols = {item: values[item.name] for item in system.parameters}
    guide: Any = system.constraints["ellipse"]
    return float(guide.expr.subs({**symbols, system.coordinates[2]: x, system.coordinates[3]: y}))


@claim(
    "002-polar-curvature",
    place="section 3, formula of the curvature",
    statement="The signed curvature of a curve in polar coordinates, and its value at the vertex.",
    printed="`k = (d^2 + 2 d'^2 - d d'')/(d^2 + d'^2)^(3/2)`, `k(0) = 1 - d''(0)`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def polar(shop: Workshop) -> Finding:
    worst, vertex, seconds = 0.0, [], []
    for case in ({}, SLIM, TOUCHING, {"r2": 1.0}):
        params = shop.values(CARTESIAN, **case)[1]
        phi = np.linspace(-0.7, 0.7, 41)
        d, first, second = distance(params, phi)
        C = np.stack([d * np.cos(phi), d * np.sin(phi)])
        printed = (d**2 + 2 * first**2 - d * second) / (d**2 + first**2) ** 1.5
        worst = max(worst, float(np.abs(implicit_curvature(shop, C, **case) - printed).max()))
        vertex.append(float(implicit_curvature(shop, (1.0, 0.0), **case)))
        seconds.append(1 - float(distance(params, 0.0)[2]))
    return Finding(
        computed=f"Curvature of the guide from its equation on four ellipses: the formula agrees to {num(worst, 1)}; "
        f"at the vertex it is {vec(vertex, 5)}.",
        comparisons=(as_printed("curvature", worst, 0.0), as_printed("at the vertex", vertex, seconds)),
    )


@claim(
    "002-ellipse-curvature",
    place="(7)",
    statement="The curvature of the ellipse at its lower vertex.",
    printed="`k(0) = r1/r2 = 1` if and only if `r1 = r2^2`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-3",),
)
def ellipse_curvature(shop: Workshop) -> Finding:
    cases: tuple[dict[str, Any], ...] = ({}, SLIM, TOUCHING, {"r2": 1.0}, {"r1": 2.0, "r2": 2.0, "a": -1.0})
    got, over, square = [], [], []
    for case in cases:
        values = shop.values(CARTESIAN, **case)[1]
        got.append(float(implicit_curvature(shop, (1.0, 0.0), **case)))
        over.append(values["r1"] / values["r2"])
        square.append(values["r1"] / values["r2"] ** 2)
    return Finding(
        computed=f"Five ellipses have the curvature {vec(got, 5)} at the vertex; `r1/r2` is {vec(over, 5)}.",
        comparisons=(as_printed("k(0) = r1/r2", got, over), as_corrected("k(0) = r1/r2^2", got, square)),
        corrected="`k(0) = r1/r2^2`; only then is it 1 exactly where `r1 = r2^2`.",
    )


@claim(
    "002-crossing",
    place="section 3, curvature other than 1",
    statement="If the second derivative of the distance is positive (curvature below 1), the two branches cross and "
    "differ in the velocity of B.",
    printed="`d''(0) != 0`: the branches differ in the direction of the velocities (5), (6)",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def crossing(shop: Workshop) -> Finding:
    slopes, printed, kinds = [], [], []
    for case in ({}, SLIM, {"r1": 3.0, "r2": 2.5, "a": -2.0}):
        (point,) = space(shop, **case).singular_points
        kinds.append(point.kind)
        slopes.append(sorted(float(row[1] / row[3]) for row in point.tangents))
        second = float(distance(shop.values(CARTESIAN, **case)[1], 0.0)[2])
        # The last term of (6) at phi -> 0: (9 - d^4) d'/(2 d^2 sqrt(...)) -> +-sqrt(2 d'').
        printed.append([2 - np.sqrt(2 * second), 2 + np.sqrt(2 * second)])
    (locked,) = space(shop, r2=1.0).singular_points
    return Finding(
        computed=f"Curvature 2/3: B moves {vec(slopes[0], 5)} times as fast as C on the two branches. Curvature 1.5: "
        f"the folded pose is {locked.kind}, the pendulum is locked in it.",
        comparisons=(
            as_printed("kinds", kinds == ["crossing"] * 3),
            as_printed("y_B'/y_C' on the branches", slopes, printed, tol=1e-7),
            sound("curvature above 1", locked.kind, "isolated"),
        ),
    )


@claim(
    "002-touching",
    place="abstract and section 3, curvature 1",
    statement="On the special ellipse the branches touch: the velocities agree, with a tangency of first order.",
    printed="tangency of first order, equal velocities on both branches",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def touching(shop: Workshop) -> Finding:
    (point,) = space(shop, **TOUCHING).singular_points
    slopes = [float(row[1] / row[3]) for row in point.tangents]
    return Finding(
        computed=f"r1 = 1.5625, r2 = 1.25: {point.kind} of order {point.order}; B moves {vec(slopes)} times as fast "
        "as C.",
        comparisons=(
            as_printed("kind", point.kind, "tangency"),
            as_printed("order", float(point.order or 0), 1.0),
            as_printed("velocity of B", slopes, [2.0, 2.0], tol=1e-7),
        ),
        pictures=(transversal_and_touching(shop),),
    )


@claim(
    "002-unit-curvature",
    place="section 3, end, and (7)",
    statement="Zero slope and unit curvature at the vertex are enough for the branches to touch.",
    printed="`d'(0) = 0` and `k(0) = 1` suffice, for any first power `n > 2` in d",
    recorded="corrected",
    systems=(CARTESIAN, JOINT),
    errata=("burian2017-4",),
)
def unit_curvature(shop: Workshop) -> Finding:
    kinds, curvature = {}, []
    for r1 in (2.25, 1.5625, 0.81):
        case: dict[str, Any] = {"r1": r1, "r2": float(np.sqrt(r1)), "a": 1 - r1}
        curvature.append(float(implicit_curvature(shop, (1.0, 0.0), **case)))
        (point,) = space(shop, JOINT, **case).singular_points
        kinds[r1] = point.kind
    phi = np.linspace(-0.5, 0.5, 21)
    circle = distance({"r1": 1.0, "r2": 1.0, "a": 0.0}, phi)[0]
    cubic = _cubic(shop)
    quartic = float((distance({"r1": 1.5625, "r2": 1.25, "a": -0.5625}, 0.02)[0] - 1) / 0.02**4)
    return Finding(
        computed=f"Curvature 1 with r1 = 2.25, 1.5625, 0.81: {', '.join(kinds.values())}. At r1 = 1, |AC| = 1 all "
        "along to "
        f"{num(np.abs(circle - 1).max(), 1)}. On the curve `x = 1 - y^2/2 + y^3` (n = 3) the pose is a {cubic}.",
        comparisons=(
            as_printed("all ellipses of curvature 1 touch", list(kinds.values()) == ["tangency"] * 3),
            as_printed("n = 3 touches", cubic, "tangency"),
            as_corrected(
                "r1 > 1 touches, r1 < 1 is isolated", list(kinds.values()) == ["tangency", "tangency", "isolated"]
            ),
            as_corrected("n = 3", cubic, "cusp"),
            as_corrected("(|AC| - 1)/phi^4 = (r1 - 1)/(8 r1)", quartic, 0.5625 / 12.5, tol=1e-3),
            sound("curvature", curvature, [1.0] * 3),
            sound("r1 = 1 is a circle about A", np.abs(circle - 1).max(), 0.0, tol=1e-12),
        ),
        residual=float(space(shop, JOINT, r1=1.5625, r2=1.25, a=-0.5625).residual),
        corrected="n even and `g_n(0) > 0` are needed too: for the ellipse `k = 1` and `r1 > 1`, since `|AC| = 1 + (r1 "
        "- 1) phi^4/(8 r1)`; `r1 < 1` locks the pendulum, `r1 = 1` is a circle about A, and n = 3 gives a cusp.",
    )


def _cubic(shop: Workshop) -> str:
    """Return the kind of the folded pose where C runs on x = 1 - y^2/2 + y^3, for which d = 1 + phi^3 + ..."""
    system = shop.system(CARTESIAN)
    x, y = system.coordinates[2:]
    others = [item for item in system.constraints if item.name != "ellipse"]
    other = system.replace(constraints=[*others, Bilateral(x - 1 + y**2 / 2 - y**3, name="ellipse")])
    values = shop.values(CARTESIAN)[1]
    box = {"x_B": (-3.0, 3.0), "y_B": (-3.0, 3.0), "x_C": (0.5, 1.5), "y_C": (-0.5, 0.5)}
    found = trace(other, {item.name: values[item.name] for item in other.parameters}, box)
    return ", ".join(point.kind for point in found.singular_points)


@claim(
    "002-elongated",
    place="section 3, last sentence",
    statement="An ellipse of unit curvature at its vertex is elongated along the vertical.",
    printed="the ellipse must be stretched along AX",
    recorded="corrected",
    systems=(CARTESIAN,),
    new="`r1 = r2^2` gives `r1 > r2` only where `r1 > 1`; that is where the branches touch",
)
def elongated(shop: Workshop) -> Finding:
    extents = {}
    for r1 in (0.81, 1.5625):
        case: dict[str, Any] = {"r1": r1, "r2": float(np.sqrt(r1)), "a": 1 - r1}
        k = float(implicit_curvature(shop, (1.0, 0.0), **case))
        gaps = [abs(_guide(shop, x, y, **case)) for x, y in ((1.0, 0.0), (1 - r1, case["r2"]))]
        extents[r1] = (r1, case["r2"], k, max(gaps))
    tall = [item[0] > item[1] for item in extents.values()]
    return Finding(
        computed=f"Unit curvature with r1 = 0.81: height {num(2 * extents[0.81][0])}, width "
        f"{num(2 * extents[0.81][1])}; with "
        f"r1 = 1.5625: {num(2 * extents[1.5625][0])} and {num(2 * extents[1.5625][1])}.",
        comparisons=(
            as_printed("both are elongated along AX", tall == [True, True]),
            as_corrected("only r1 > 1 is", tall == [False, True]),
            sound("unit curvature", [item[2] for item in extents.values()], [1.0, 1.0]),
            sound("the ends of the axes are on the guide", [item[3] for item in extents.values()], [0.0, 0.0]),
        ),
        corrected="Stretched along AX if `r1 > 1`, which is also needed for the branches to touch; flattened if `r1 < "
        "1`.",
    )


@claim(
    "002-smooth-branches",
    place="section 3, first sentences",
    statement="Where the distance grows quadratically, the root in (3) divided by the angle is smooth, so that each "
    "smooth curve through the singular point changes its label there.",
    printed="`u = (d - 1)^(1/2) = phi g^(1/2)` is smooth",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def smooth(shop: Workshop) -> Finding:
    found = poses(shop, count=200, reach=0.3)
    u = np.sqrt(found.d - 1) * np.sign(found.phi)
    second = float(distance(shop.values(CARTESIAN)[1], 0.0)[2])
    fit = np.polyfit(found.phi, u / found.phi, 4)
    (point,) = space(shop).singular_points
    by_curve: dict[int, set[float]] = {half.curve: set() for half in point.branches}
    for half in point.branches:
        # theta to leading order: its sign along the half-branch from B's and C's sideways positions.
        by_curve[half.curve].add(float(np.sign(half.tangent[1] / 2 - half.tangent[3])))
    changed = all(signs == {-1.0, 1.0} for signs in by_curve.values())
    return Finding(
        computed=f"u/phi tends to {num(fit[-1], 5)} (`(d''/2)^(1/2)` = {num(np.sqrt(second / 2), 5)}); of the two "
        f"smooth curves through the point {sum(signs == {-1.0, 1.0} for signs in by_curve.values())} change the label.",
        comparisons=(
            as_printed("limit of u/phi", fit[-1], np.sqrt(second / 2), tol=1e-4),
            as_printed("the label changes along each smooth curve", changed),
        ),
        residual=float(space(shop).residual),
    )
