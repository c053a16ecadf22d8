"""Section 5 of paper 002, first half: gradients, the equations for the multipliers, and when they can be solved."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import derive
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import CARTESIAN, FOLDED, SLIM, TOUCHING, answer, poses, space
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop

CASES: tuple[dict[str, Any], ...] = ({}, SLIM, TOUCHING)
HEAVY: dict[str, Any] = {"m1": 1.3, "m2": 1.3, "g": 0.9}
"""Equal masses, as section 5 has it, that are not 1."""


def folded(vB: float = 0.0, vC: float = 0.0) -> dict[str, float]:
    """Return the folded pose with sideways velocities of B and C."""
    zero = {f"v_{name}": 0.0 for name in FOLDED}
    return {**{name: float(value) for name, value in FOLDED.items()}, **zero, "v_y_B": vB, "v_y_C": vC}


def terms(shop: Workshop, state: Any, **changes: float) -> tuple[Any, Any, Any, Any]:
    """Return mass, gradients, force and -f'' v v of the declared pendulum at a state."""
    M, rows, Q, gamma = shop.model(CARTESIAN).terms(state, shop.values(CARTESIAN, **changes)[1]).at(0)
    return M, rows, Q, -gamma


def right_side(shop: Workshop, state: Any, **changes: float) -> Any:
    """Return U of (13): f'' v v + f' Z/m."""
    M, rows, Q, bend = terms(shop, state, **changes)
    return bend + rows @ Q / M[0, 0]


@claim(
    "002-gradients",
    place="section 5, gradients of the constraints",
    statement="The gradients of the three constraints in the coordinates of B and C.",
    printed="rows `(x1, y1, 0, 0)`, `(x1 - x2, y1 - y2, x2 - x1, y2 - y1)`, `(0, 0, x2 - a/r1^2, y2/r2^2)`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-8",),
)
def gradients(shop: Workshop) -> Finding:
    system = shop.system(CARTESIAN)
    x1, y1, x2, y2 = system.coordinates
    r1, r2, a = (next(item for item in system.parameters if item.name == name) for name in ("r1", "r2", "a"))
    upper = [[x1, y1, 0, 0], [x1 - x2, y1 - y2, x2 - x1, y2 - y1]]
    printed = sp.Matrix([*upper, [0, 0, x2 - a / r1**2, y2 / r2**2]])
    corrected = sp.Matrix([*upper, [0, 0, (x2 - a) / r1**2, y2 / r2**2]])
    rows = derive(system).rows
    off = [sum(sp.simplify(item) != 0 for item in rows - matrix) for matrix in (printed, corrected)]
    return Finding(
        computed=f"Derived symbolically: {off[0]} of 12 entries differs from the print, {off[1]} from the corrected "
        "matrix.",
        comparisons=(
            as_printed("entries that differ", off[0], 0),
            as_corrected("entries that differ", off[1], 0),
        ),
        corrected="The third row is `(0, 0, (x2 - a)/r1^2, y2/r2^2)`.",
    )


@claim(
    "002-rank",
    place="section 5, after the gradients",
    statement="The gradients are dependent in the folded pose and independent near it.",
    printed="rank 2 at (2, 0, 1, 0), rank 3 around it",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def rank(shop: Workshop) -> Finding:
    ranks, nearby, least = [], [], []
    for case in CASES:
        (point,) = space(shop, **case).singular_points
        ranks.append(point.rank)
        nearby.append(point.generic_rank)
        around = poses(shop, reach=0.3, **case)
        least.append(min(np.linalg.svd(terms(shop, state, **case)[1], compute_uv=False)[2] for state in around.states))
    off = max(abs(point.state[name] - value) for name, value in FOLDED.items())
    return Finding(
        computed=f"On three ellipses `trace` finds one singular point, the folded pose to {num(off, 1)}, with rank "
        f"{ranks[0]} there and {nearby[0]} nearby; the least singular value on poses around is {num(min(least), 2)}.",
        comparisons=(
            as_printed("rank at the point", ranks, [2, 2, 2]),
            as_printed("rank nearby", nearby, [3, 3, 3]),
            as_printed("least singular value nearby is positive", bool(min(least) > 1e-9)),
            sound("the folded pose", off, 0.0),
        ),
    )


@claim(
    "002-first-kind",
    place="(11), (12)",
    statement="Lagrange's equations of the first kind and the second derivative of the constraints determine the "
    "multipliers next to the singular point.",
    printed="`m z'' = Z + sum(Lambda grad f)`, `f'' z' z' + f' (Z + sum(Lambda grad f))/m = 0`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def first_kind(shop: Workshop) -> Finding:
    motion, second, count = 0.0, 0.0, 0
    for case in CASES:
        params = shop.values(CARTESIAN, **case, **HEAVY)[1]
        for state in poses(shop, count=12, **case).states:
            found = answer(shop.model(CARTESIAN), state, params)
            a, lam = found.accelerations[0], found.solutions[0].normal
            M, rows, _, bend = terms(shop, state, **case, **HEAVY)
            Z = np.array([params["m1"] * params["g"], 0.0, params["m2"] * params["g"], 0.0])
            size = float(np.abs(a).max())
            motion = max(motion, float(np.abs(M @ a - Z - rows.T @ lam).max()) / size)
            second = max(second, float(np.abs(bend + rows @ (Z + rows.T @ lam) / params["m1"]).max()) / size)
            count += found.status.name == "UNIQUE"
    return Finding(
        computed=f"{count} poses with one solution each: (11) is met to {num(motion, 1)}, (12) to {num(second, 1)}.",
        comparisons=(as_printed("(11)", motion, 0.0), as_printed("(12)", second, 0.0), sound("poses", count > 30)),
    )


@claim(
    "002-right-side",
    place="(13)",
    statement="The right side of the equations for the multipliers, with the squares of the velocities.",
    printed="`U = (x1^2 + y1^2 + x1 g, (x1 - x2)^2 + (y1 - y2)^2, x2^2/r1^2 + y2^2/r2^2 + (x2 - a) g/r1^2)`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-9",),
)
def equation_13(shop: Workshop) -> Finding:
    got: list[Any] = []
    printed: list[Any] = []
    corrected: list[Any] = []
    for case in CASES:
        params = shop.values(CARTESIAN, **case, **HEAVY)[1]
        r1, r2, a, g = (params[name] for name in ("r1", "r2", "a", "g"))
        for s in poses(shop, count=12, **case).states:
            got.append(right_side(shop, s, **case, **HEAVY))
            for prefix, into in (("", printed), ("v_", corrected)):
                x1, y1, x2, y2 = (s[f"{prefix}{name}"] for name in FOLDED)
                last = x2**2 / r1**2 + y2**2 / r2**2 + (s["x_C"] - a) * g / r1**2
                into.append([x1**2 + y1**2 + s["x_B"] * g, (x1 - x2) ** 2 + (y1 - y2) ** 2, last])
    return Finding(
        computed=f"{len(got)} poses: with the coordinates squared U is off by up to "
        f"{num(np.abs(np.subtract(got, printed)).max(), 3)}, with the velocities by "
        f"{num(np.abs(np.subtract(got, corrected)).max(), 1)}.",
        comparisons=(as_printed("U", got, printed), as_corrected("U", got, corrected)),
        corrected="The squares are those of the velocities: `U = (x1'^2 + y1'^2 + x1 g, (x1' - x2')^2 + (y1' - y2')^2, "
        "x2'^2/r1^2 + y2'^2/r2^2 + (x2 - a) g/r1^2)`.",
    )


@claim(
    "002-linear-system",
    place="section 5, between (12) and (13)",
    statement="The multipliers solve a linear system with the Gram matrix of the gradients and the right side U.",
    printed="`G Lambda = U`, with U minus the expression in (12), and in (13) plus it divided by m",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-10",),
)
def linear_system(shop: Workshop) -> Finding:
    left, plus, minus = [], [], []
    for case in CASES:
        params = shop.values(CARTESIAN, **case, **HEAVY)[1]
        for state in poses(shop, count=12, **case).states:
            rows = terms(shop, state, **case, **HEAVY)[1]
            lam = answer(shop.model(CARTESIAN), state, params).solutions[0].normal
            U = right_side(shop, state, **case, **HEAVY)
            left.append(rows @ rows.T @ lam)
            plus.append(U)
            minus.append(-params["m1"] * U)
    return Finding(
        computed=f"{len(left)} poses, masses 1.3: `G Lambda` differs from U by up to "
        f"{num(np.abs(np.subtract(left, plus)).max(), 3)}, from `-m U` by "
        f"{num(np.abs(np.subtract(left, minus)).max(), 1)}.",
        comparisons=(as_printed("G Lambda = U", left, plus), as_corrected("G Lambda = -m U", left, minus)),
        corrected="`G Lambda = -m U` with U of (13): (12) times m. Whether it can be solved is not affected.",
    )


@claim(
    "002-gram",
    place="(14)",
    statement="The Gram matrix of the gradients in the folded pose.",
    printed="`G = [[4, 2, 0], [2, 2, -c], [0, -c, c^2]]`, `c = (1 - a)/r1^2 = 1/r1`, of rank 2",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def gram(shop: Workshop) -> Finding:
    worst, ranks = 0.0, []
    for case in CASES:
        rows = terms(shop, folded(), **case)[1]
        c = 1 / shop.values(CARTESIAN, **case)[1]["r1"]
        printed = np.array([[4, 2, 0], [2, 2, -c], [0, -c, c**2]])
        worst = max(worst, float(np.abs(rows @ rows.T - printed).max()))
        ranks.append(int(np.linalg.matrix_rank(rows @ rows.T, tol=1e-9)))
    return Finding(
        computed=f"Three ellipses: equal to {num(worst, 1)}, rank {ranks[0]}.",
        comparisons=(as_printed("G", worst, 0.0), as_printed("rank", ranks, [2, 2, 2])),
    )


@claim(
    "002-solvability",
    place="(15)",
    statement="In the folded pose the equations for the multipliers can be solved exactly if one number vanishes; then "
    "a whole line of multipliers solves them.",
    printed="`u3/c + u2 - u1/2 = 0`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def solvability(shop: Workshop) -> Finding:
    rng, right, total, free = shop.rng(15), 0, 0, set()
    for case in CASES:
        params = shop.values(CARTESIAN, **case)[1]
        c, k = 1 / params["r1"], params["r1"] / params["r2"] ** 2
        exact = [2 + sign * np.sqrt(max(2 * (1 - k), 0.0)) for sign in (-1, 1)]
        for vB in [*exact, *rng.uniform(0.5, 4.0, size=5)]:
            state = folded(float(vB), 1.0)
            found = answer(shop.model(CARTESIAN), state, params)
            u = right_side(shop, state, **case)
            number = float(u[2] / c + u[1] - u[0] / 2)
            right += bool(found.solutions) == (abs(number) < 1e-9)
            total += 1
            free |= {item.dimension for item in found.solutions}
    return Finding(
        computed=f"{total} velocities in the folded pose of three ellipses: `reactions` has a solution exactly where "
        f"(15) holds in {right}; the solutions are then a set of dimension {max(free, default=0)}.",
        comparisons=(
            as_printed("velocities that agree", right, total),
            as_printed("a line of multipliers", free == {1}),
        ),
    )
