"""The introduction of paper 002, the frame (1, 1, 1, 1), and two remarks of its section 2 on the pendulum's poses."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import sympy as sp

from zwang import trace
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_printed, sound
from zwang.papers.wording import num, share
from zwang.papers.workshop import Workshop
from zwang.results import ConfigurationSpace

FRAME = "four_bar"


@claim(
    "002-frame",
    place="introduction, the frame (1; 1; 1; 1)",
    statement="A hinged frame of four equal bars, one of them held, has three kinds of motion: three circles that meet "
    "in pairs.",
    printed="the union of three circles, each two of which intersect",
    recorded="confirmed",
    systems=(FRAME,),
)
def frame(shop: Workshop) -> Finding:
    space = trace(shop.system(FRAME), shop.values(FRAME)[1])
    ends = [_crossings(space, number) for number in range(len(space.curves))]
    meet = [len(a & b) for a, b in combinations(ends, 2)]
    return Finding(
        computed=f"Traced: {len(space.curves)} closed curves of {len(space.branches)} arcs, "
        f"{len(space.singular_points)} crossings; every two curves have {', '.join(map(str, meet))} of them in common.",
        comparisons=(
            as_printed("closed curves", len(space.curves), 3),
            as_printed("every two meet in one crossing", meet, [1, 1, 1]),
            sound("they hang together", space.components, 1),
        ),
        residual=float(space.residual),
    )


def _crossings(space: ConfigurationSpace, curve: int) -> set[int]:
    """Return the numbers of the singular points that a curve runs through."""
    own = {number for number, arc in enumerate(space.branches) if any(arc is one for one in space.curves[curve])}
    points = enumerate(space.singular_points)
    return {place for place, point in points if any(half.arc in own for half in point.branches)}


@claim(
    "002-branch-points",
    place="section 2, where the branch can change",
    statement="The pendulum changes its branch only where its rods lie on one line: folded, |AC| = 1, or stretched, "
    "|AC| = 3.",
    printed="possible only for `|AC| = 1` or `|AC| = 3`",
    recorded="confirmed",
)
def branch_points(shop: Workshop) -> Finding:
    d = sp.Symbol("d", positive=True)
    # |AB| = 2, |BC| = 1: cos CAB = (d^2 + 3)/(4 d), and the label is the sign of its sine.
    square = sp.together(1 - ((d**2 + 3) / (4 * d)) ** 2)
    roots = sorted(float(root) for root in sp.solve(sp.numer(square), d))
    inside = float(square.subs(d, 2))
    return Finding(
        computed=f"The sine of CAB vanishes for |AC| = {num(roots[0])} and {num(roots[1])} alone; its square is "
        f"{num(inside, 4)} at 2.",
        comparisons=(
            as_printed("distances", roots, [1.0, 3.0]),
            sound("between them it does not vanish", inside > 0),
        ),
    )


@claim(
    "002-eq2-radicand",
    place="section 2, after (2)",
    statement="The expression under the root in (2) is positive for every ellipse that holds A.",
    printed="positive, because `|a| < r_1`",
    recorded="confirmed",
)
def radicand(shop: Workshop) -> Finding:
    rng, count = shop.rng(22), shop.many(2000, 20000)
    r1, r2 = rng.uniform(0.2, 5, size=(2, count))
    a, tangent = r1 * rng.uniform(-1, 1, size=count), np.tan(rng.uniform(-np.pi / 4, np.pi / 4, size=count))
    values = 1 / r1**2 + tangent**2 / r2**2 * (1 - a**2 / r1**2)
    outside = 1 / r1**2 + tangent**2 / r2**2 * (1 - (3 * r1 + 1) ** 2 / r1**2)
    return Finding(
        computed=f"{share(int((values > 0).sum()), count)} random ellipses with |a| < r1: positive, at least "
        f"{num(values.min(), 3)}. With a beyond r1 it is negative in {int((outside < 0).sum())}.",
        comparisons=(
            as_printed("positive", int((values > 0).sum()), count),
            sound("the condition matters", bool((outside < 0).any())),
        ),
    )
