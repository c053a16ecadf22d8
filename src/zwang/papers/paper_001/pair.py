"""Example 3 of paper 001: two particles on a massless rod, pulled on a rough plane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure

PAIR = "two_particles"
ALPHA, KAPPA = math.pi / 6, 2.0


def pull(X: float, Y1: float, Y2: float) -> dict[str, float]:
    """Return the force S, its angle and its arm that have these components along and across the rod (l = 1)."""
    S = math.hypot(X, Y1 + Y2)
    return {"S": S, "alpha": math.atan2(Y1 + Y2, X), "d": (Y2 - Y1) / S}


def parts(S: float) -> tuple[float, float, float]:
    """Return X, Y1, Y2 of the paper's pull: 30 degrees, arm 2 l."""
    return S * math.cos(ALPHA), S * (math.sin(ALPHA) - KAPPA) / 2, S * (math.sin(ALPHA) + KAPPA) / 2


def directions(shop: Workshop, S: float) -> tuple[float, float, Any]:
    """Return u and v, the cosines of the friction angles, and the reactions behind them."""
    found = shop.ask(PAIR, S=S)
    T = found.solutions[0].tangential
    P = math.prod(shop.entry(PAIR).params[name] for name in ("mu", "m", "g"))
    return float(-T[0, 0] / P), float(-T[1, 0] / P), found


def _random_pulls(shop: Workshop, seed: int, count: int) -> list[tuple[float, float, float]]:
    return [tuple(map(float, row)) for row in shop.rng(seed).uniform(-1.6, 1.6, size=(count, 3))]  # type: ignore[misc]


@claim(
    "001-ex3-mass",
    place="example 3",
    statement="In the abscissa of the centre and the ordinates of both particles the mass matrix is diagonal at the "
    "start.",
    printed="`A = diag{2 m, m, m}`",
    recorded="confirmed",
    systems=(PAIR,),
)
def mass_matrix(shop: Workshop) -> Finding:
    problem = shop.problem(PAIR, m=1.7, l=0.8)
    return Finding(
        computed=f"For m = 1.7: {'; '.join(vec(row) for row in problem.mass)}.",
        comparisons=(as_printed("A", problem.mass, np.diag([3.4, 1.7, 1.7])),),
    )


@claim(
    "001-ex3-rest",
    place="example 3, (2.16)",
    statement="The particles stay at rest exactly while the pull along the rod can be shared by what friction has "
    "left.",
    printed="`|X| <= sqrt(P^2 - Y1^2) + sqrt(P^2 - Y2^2)`",
    recorded="confirmed",
    systems=(PAIR,),
)
def rest(shop: Workshop) -> Finding:
    wrong = resting = 0
    pulls = _random_pulls(shop, 51, shop.many(120, 1500))
    for X, Y1, Y2 in pulls:
        found = shop.ask(PAIR, **pull(X, Y1, Y2))
        still = bool(np.abs(found.accelerations[0]).max() < 1e-9)
        printed = max(abs(Y1), abs(Y2)) <= 1 and abs(X) <= math.sqrt(1 - Y1**2) + math.sqrt(1 - Y2**2)
        wrong, resting = wrong + (still != printed), resting + still
    return Finding(
        computed=f"{len(pulls)} random pulls, P = 1: {resting} leave the particles at rest; {wrong} disagree with "
        f"(2.16).",
        comparisons=(as_printed("disagreements", wrong, 0), sound("some rest, some move", 0 < resting < len(pulls))),
    )


@claim(
    "001-ex3-turning",
    place="example 3, (2.17) and (2.18)",
    statement="The rod begins to turn about one particle exactly where the forces on that particle can be held and the "
    "other is pulled across the rod with more than P.",
    printed="`X^2 + Y1^2 <= P^2`, `|Y2| > P`; then `m w3 = Y2 - P sign(Y2)`",
    recorded="confirmed",
    systems=(PAIR,),
)
def turning(shop: Workshop) -> Finding:
    wrong = turned = 0
    worst = 0.0
    pulls = _random_pulls(shop, 52, shop.many(120, 1500))
    for X, Y1, Y2 in pulls:
        found = shop.ask(PAIR, **pull(X, Y1, Y2))
        w = found.accelerations[0]
        for held, free, resting, moving in ((Y1, Y2, 1, 2), (Y2, Y1, 2, 1)):
            printed = X**2 + held**2 <= 1 and abs(free) > 1
            turns = bool(abs(w[0]) < 1e-9 and abs(w[resting]) < 1e-9 and abs(w[moving]) > 1e-9)
            wrong, turned = wrong + (turns != printed), turned + turns
            if turns:
                worst = max(worst, abs(w[moving] - (free - math.copysign(1, free))))
    return Finding(
        computed=f"{len(pulls)} random pulls: {turned} turn about one particle, {wrong} disagree with (2.17) or its "
        f"mirror image; the acceleration meets (2.18) to {num(worst, 1)}.",
        comparisons=(
            as_printed("disagreements", wrong, 0),
            as_printed("acceleration", worst, 0.0, tol=1e-8),
            sound("some turn", turned > 0),
        ),
    )


@claim(
    "001-ex3-thresholds",
    place="example 3, the pull at 30 degrees",
    statement="With d = 2 l and 30 degrees the rod rests up to `S = 0.8`, then turns about particle 1 up to `S = "
    "4/sqrt(21)`.",
    printed="`0.8`, `4/sqrt(21) = 0.873`",
    recorded="confirmed",
    systems=(PAIR,),
)
def thresholds(shop: Workshop) -> Finding:
    found = []
    for slips in (1, 2):  # particles that slip above the threshold
        low, high = 0.5, 1.2
        for _ in range(34):
            middle = (low + high) / 2
            w = np.abs(shop.ask(PAIR, S=middle).accelerations[0])
            above = bool((w.max() if slips == 1 else w[0]) > 1e-10)
            low, high = (low, middle) if above else (middle, high)
        found.append((low + high) / 2)
    return Finding(
        computed=f"By halving: {vec(found, 9)}.",
        comparisons=(
            as_printed("end of rest", found[0], 0.8, tol=1e-7),
            as_printed("end of turning", found[1], 4 / math.sqrt(21), tol=1e-7),
            as_printed("the rounded number", round(found[1], 3), 0.873),
        ),
        data={"rest": found[0], "turning": found[1]},
    )


@claim(
    "001-ex3-equations",
    place="example 3, (2.20) and (2.21)",
    statement="Where both particles slide, the cosines u and v of the friction angles solve two equations.",
    printed="`v = F_3 + u - 2 |F_1| u/sqrt(1 - u^2)`, `u = F_3 + v - 2 |F_2| v/sqrt(1 - v^2)`",
    recorded="confirmed",
    systems=(PAIR,),
)
def equations(shop: Workshop) -> Finding:
    worst = residual = 0.0
    told = []
    for S in (0.9, 1.0, 2.0, 5.0, 100.0):
        u, v, found = directions(shop, S)
        X, Y1, Y2 = parts(S)
        first = X + u - 2 * abs(Y1) * u / math.sqrt(1 - u**2) - v
        second = X + v - 2 * abs(Y2) * v / math.sqrt(1 - v**2) - u
        worst = max(worst, abs(first) / S, abs(second) / S)
        residual = max(residual, found.residual)
        told.append(f"S = {num(S)}: u = {num(u, 9)}, v = {num(v, 9)}")
    return Finding(
        computed=f"{'; '.join(told)}; the equations hold to {num(worst, 1)}.",
        comparisons=(as_printed("both equations, relative to S", worst, 0.0, tol=1e-6),),
        residual=residual,
    )


@claim(
    "001-ex3-one-equation",
    place="example 3, (2.22)",
    statement="The two equations reduce to one for u alone, whose root with the least Phi is the motion.",
    printed="`u = H_2(H_1(u))`, u in (-1, 1)",
    recorded="confirmed",
    systems=(PAIR,),
)
def one_equation(shop: Workshop) -> Finding:
    numbers, errors = [], []
    for S in (0.9, 1.0, 2.0, 5.0, 100.0):
        X, Y1, Y2 = parts(S)
        grid = np.linspace(-1, 1, 2_000_001)[1:-1]
        inner = X + grid - 2 * abs(Y1) * grid / np.sqrt(1 - grid**2)
        fits = np.abs(inner) < 1
        v = np.where(fits, inner, 0.0)
        gap = np.where(fits, X + v - 2 * abs(Y2) * v / np.sqrt(1 - v**2) - grid, np.nan)
        with np.errstate(invalid="ignore"):
            at = np.flatnonzero(gap[:-1] * gap[1:] <= 0)
        roots = grid[at] - gap[at] * (grid[at + 1] - grid[at]) / (gap[at + 1] - gap[at])
        numbers.append(len(roots))
        errors.append(float(np.abs(roots - directions(shop, S)[0]).min(initial=np.inf)))
    return Finding(
        computed=f"Pulls of 0.9, 1, 2, 5 and 100: {vec(numbers)} roots; the nearest differs from u of the laws by at "
        f"most {num(max(errors), 1)}.",
        comparisons=(
            as_printed("a root is the motion's u", max(errors), 0.0, tol=1e-6),
            sound("one root each", numbers, [1] * 5, tol=0.0),
        ),
        data={"roots": numbers},
    )


@claim(
    "001-ex3-first-direction",
    place="example 3, last paragraph",
    statement="At the second threshold the friction on particle 1 begins with a direction u.",
    printed="`u = 0.755`",
    recorded="corrected",
    systems=(PAIR,),
    errata=("ivanov-16",),
)
def first_direction(shop: Workshop) -> Finding:
    limit = 4 / math.sqrt(21)
    # Both slide just above the threshold, where u and v are smooth in S: extrapolate from there.
    steps = np.array([1e-4, 2e-4, 3e-4])
    values = [directions(shop, limit + float(step))[0] for step in steps]
    u = float(np.polynomial.Polynomial.fit(steps, values, 2)(0.0))
    return Finding(
        computed=f"From pulls just above the threshold: u tends to {num(u, 7)}, and sqrt(4/7) is "
        f"{num(math.sqrt(4 / 7), 7)}.",
        comparisons=(
            as_printed("u, rounded to three places", round(u, 3), 0.755),
            as_corrected("u", u, math.sqrt(4 / 7), tol=1e-6),
        ),
        corrected="`u = sqrt(4/7)`, 0.756.",
    )


@claim(
    "001-ex3-limits",
    place="example 3, last paragraph",
    statement="With growing pull u falls to 1/2 and v grows from 0 to `sqrt(3/28)`, the directions without friction.",
    printed="`u -> 0.5`, `v -> sqrt(3/28) = 0.327`, both monotonic",
    recorded="confirmed",
    systems=(PAIR,),
)
def limits(shop: Workshop) -> Finding:
    S = 4 / math.sqrt(21) + np.geomspace(1e-3, 1e5, 33)
    told = [directions(shop, float(value)) for value in S]
    u, v = np.array([item[0] for item in told]), np.array([item[1] for item in told])

    def draw() -> Any:
        figure, ax = new_figure((5.8, 3.2))
        for values, name, limit, colour in ((u, "u", 0.5, SERIES[0]), (v, "v", math.sqrt(3 / 28), SERIES[1])):
            ax.semilogx(S, values, "o-", markersize=3, color=colour, label=name)
            ax.axhline(limit, linestyle=":", color=colour, linewidth=1)
        ax.set(xlabel="pull $S/P$", ylabel="cosine of the friction angle")
        ax.legend()
        return figure

    return Finding(
        computed=f"For pulls up to {num(S[-1], 3)}: u falls from {num(u[0])} to {num(u[-1], 7)}, v grows from "
        f"{num(v[0])} to {num(v[-1], 7)}; monotonic in {share(len(S), len(S))} steps.",
        comparisons=(
            as_printed("u falls", bool((np.diff(u) < 0).all())),
            as_printed("v grows", bool((np.diff(v) > 0).all())),
            as_printed("limit of u", u[-1], 0.5, tol=1e-4),
            as_printed("limit of v", v[-1], math.sqrt(3 / 28), tol=1e-4),
            as_printed("v begins at 0", bool(v[0] < 5e-3)),
        ),
        residual=max(item[2].residual for item in told),
        pictures=(Picture("directions", "Directions of the two friction forces as the pull grows.", draw),),
    )
