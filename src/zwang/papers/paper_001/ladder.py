"""Example 6 of paper 001: a ladder on a rough floor and a rough wall."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.families import leaning, least_omega, omega, random_ladder, sides
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure

LADDER = "ladder"


@claim(
    "001-ex6-rows",
    place="example 6, before (4.17)",
    statement="The contact with the wall has a normal and a tangent that are not of unit length.",
    printed="`n_2 = (1, 0, -2 h)`, `t_2 = (0, 1, 2 a)`",
    recorded="confirmed",
    systems=(LADDER,),
)
def rows(shop: Workshop) -> Finding:
    worst = 0.0
    rng = shop.rng(91)
    for _ in range(10):
        l, degrees = random_ladder(rng)
        a, h = sides(l, degrees)
        found = shop.problem(LADDER, **leaning(l, degrees)).rows
        worst = max(worst, float(np.abs(found.normal[1] - [1, 0, -2 * h]).max()))
        worst = max(worst, float(np.abs(found.tangent[1] - [0, 1, -2 * a]).max()))
    return Finding(
        computed=f"10 random ladders: the derived rows agree to {num(worst, 1)}.",
        comparisons=(as_printed("rows of the wall", worst, 0.0),),
    )


@claim(
    "001-ex6-omega",
    place="example 6, before (4.17)",
    statement="The entries of the matrix Omega of the ladder (before making it symmetric) have closed forms.",
    printed="`omega_11 = 1 + a^2 - mubar a h`, `omega_12 = a h + mubar (1 - h^2)`, `omega_21 = a h + mubar' (1 - "
    "a^2)`, `omega_22 = 1 + h^2 - mubar' a h`",
    recorded="confirmed",
    systems=(LADDER,),
    errata=("ivanov-32",),
)
def omega_entries(shop: Workshop) -> Finding:
    rng, worst = shop.rng(92), 0.0
    for _ in range(10):
        l, degrees = random_ladder(rng)
        a, h = -sides(l, degrees)[0], sides(l, degrees)[1]
        one, two = rng.uniform(-1, 1, size=2)
        matrix = omega(shop.problem(LADDER, **leaning(l, degrees)), [one, two])
        both = (a * h + one * (1 - h**2) + a * h + two * (1 - a**2)) / 2
        printed = np.array([[1 + a**2 - one * a * h, both], [both, 1 + h**2 - two * a * h]])
        worst = max(worst, float(np.abs(matrix - printed).max()))
    return Finding(
        computed=f"10 random ladders and coefficients: Omega from the derived rows agrees to {num(worst, 1)}.",
        comparisons=(as_printed("Omega", worst, 0.0),),
    )


@claim(
    "001-ex6-along-the-rod",
    place="example 6, first paragraph",
    statement="Reactions along the rod, towards each other, move nothing: the matrix of (4.11) has a null space.",
    printed="Lambda has a null space: reactions directed along the rod",
    recorded="confirmed",
    systems=(LADDER,),
)
def along_the_rod(shop: Workshop) -> Finding:
    problem = shop.problem(LADDER)
    rows_ = problem.rows
    columns = np.vstack([rows_.normal, rows_.tangent])
    _, values, vectors = np.linalg.svd(columns.T)
    N1, N2, T1, T2 = vectors[-1] / vectors[-1][0]
    theta = shop.entry(LADDER).state["theta"]
    # Floor: N1 up and T1 to the right; wall: N2 to the right and T2 up.
    turned = [math.atan2(N1, T1), math.atan2(-T2, -N2)]
    return Finding(
        computed=f"Four rows of rank {int((values > 1e-9).sum())}; the reactions that cancel are N = "
        f"{vec((N1, N2), 4)}, T = {vec((T1, T2), 4)}, at {vec(np.degrees(turned), 6)} degrees; the rod is at "
        f"{num(math.degrees(theta), 6)}.",
        comparisons=(
            as_printed("dimension of the null space", 4 - int((values > 1e-9).sum()), 1),
            as_printed("directions", turned, [theta, theta]),
        ),
    )


@claim(
    "001-ex6-reactions",
    place="theorem 12 and example 6",
    statement="Where (4.10), (4.16) and (4.17) hold, the ladder has a unique solution, reactions included.",
    printed="conditions of theorem 12: unique solution",
    recorded="corrected",
    systems=(LADDER,),
    errata=("ivanov-24",),
)
def segment(shop: Workshop) -> Finding:
    found = shop.ask(LADDER, g=1.0)
    low, high = found.solutions[0].ranges["floor"]["normal"]
    eigenvalue = least_omega(shop.problem(LADDER, g=1.0))
    slope, mu = 1 / math.sqrt(3.0), 0.3
    expected = (1 - mu * slope / (2 * (1 + mu * slope)), 1 + (mu - slope / 2) / (slope - mu))

    def draw() -> Any:
        from zwang.pictures import draw_forces

        figure, ax = new_figure((6.0, 2.4))
        draw_forces(found, ax=ax)
        ax.set_title("", loc="left")
        return figure

    return Finding(
        computed=f"120°, mu = mu' = 0.3, gravity: smallest eigenvalue of Omega {num(eigenvalue, 3)}; "
        f"{found.status.name}; the floor's force is anything from {num(low)} to {num(high)} of the weight.",
        comparisons=(
            as_printed("unique, reactions included", found.status.name, "UNIQUE"),
            as_corrected("unique motion, a range of reactions", found.status.name, "UNIQUE_MOTION"),
            as_corrected("ends of the range", (low, high), expected, tol=1e-8),
            sound("Omega is positive definite", eigenvalue > 0),
        ),
        corrected="At rest the ladder is statically indeterminate: the acceleration is unique here, the reactions form "
        "a segment.",
        residual=found.residual,
        pictures=(Picture("segment", "Forces that hold the ladder at rest, in units of its weight.", draw),),
    )


def _none(shop: Workshop, mu: float, mu_wall: float, l: float, degrees: float, lift: float) -> bool:
    found = shop.ask(
        LADDER, {"certify": False}, g=1.0, mu=mu, mu_wall=mu_wall, floor_acceleration=lift, **leaning(l, degrees)
    )
    return bool(found.status.name == "NONE")


@claim(
    "001-ex6-condition",
    place="example 6, (4.10) and (4.16)",
    statement="One of the inequalities (4.10) and (4.16) guarantees a solution for fixed and for moving walls.",
    printed="`1 + a^2 > mu |a| h` or `1 + h^2 > mu' |a| h` is condition 1 of theorem 13",
    recorded="corrected",
    systems=(LADDER,),
    errata=("ivanov-31",),
)
def condition(shop: Workshop) -> Finding:
    l, degrees, mu, mu_wall = math.sqrt(3.0), 120.0, 0.7, 2.0
    a, h = sides(l, degrees)
    example = shop.ask(LADDER, g=1.0, mu=mu, mu_wall=mu_wall, floor_acceleration=0.5)
    printed = 1 + a**2 > mu * a * h and 1 + h**2 > mu_wall * a * h
    rng, count = shop.rng(93), shop.many(40, 1500)
    unsolved = solved = between = outside = 0
    for _ in range(count):
        l, degrees = random_ladder(rng)
        a, h = sides(l, degrees)
        # Both printed inequalities hold, yet both cones contain the direction of the rod.
        floor = rng.uniform(a / h, (1 + a**2) / (a * h))
        wall = rng.uniform(h / a, (1 + h**2) / (a * h))
        between, unsolved = between + 1, unsolved + _none(shop, floor, wall, l, degrees, float(rng.uniform(0.1, 2)))
        # The corrected condition: one cone excludes it.
        floor, wall = rng.uniform(0, a / h) * 0.999, rng.uniform(0, 4)
        outside, solved = outside + 1, solved + (not _none(shop, floor, wall, l, degrees, float(rng.uniform(-2, 2))))

    def draw() -> Any:
        return _condition_figure(shop)

    return Finding(
        computed=f"120°, mu = 0.7, mu' = 2, gravity, floor accelerating up with g/2: both inequalities hold, and the "
        f"answer is {example.status.name}. Random ladders that meet both but can jam: {share(unsolved, between)} have "
        f"no solution on a rising floor. Random ladders with mu h < |a|, floor moving either way: "
        f"{share(solved, outside)} have one.",
        comparisons=(
            as_printed("a solution where both inequalities hold", example.status.name != "NONE"),
            as_corrected("jammed ladders without a solution", unsolved, between),
            as_corrected("ladders that can't jam have one", solved, outside),
            sound("(4.10) and (4.16) hold in the example", printed),
            sound("every mode was decided", example.complete),
        ),
        corrected="Condition 1 of theorem 13 is `mu h < |a|` or `mu' |a| < h`: at least one reaction can't point along "
        "the rod.",
        pictures=(
            Picture(
                "conditions",
                "Ladder at 120° on a floor that accelerates upwards: each dot a computed case. It has no solution "
                "exactly where both frictions let it jam, well inside the region that (4.10) and (4.16) call safe.",
                draw,
            ),
        ),
    )


def _condition_figure(shop: Workshop) -> Any:
    l, degrees = math.sqrt(3.0), 120.0
    a, h = sides(l, degrees)
    ticks = np.linspace(0.06, 2.4, 15)
    figure, ax = new_figure((5.6, 4.0))
    points = np.array([(mu, wall, _none(shop, mu, wall, l, degrees, 0.5)) for mu in ticks for wall in 1.6 * ticks])
    none = points[:, 2] > 0
    ax.plot(*points[~none, :2].T, "o", markersize=3.5, color=SERIES[0], label="a solution")
    ax.plot(*points[none, :2].T, "x", markersize=5, color=SERIES[1], label="no solution")
    ax.axvline((1 + a**2) / (a * h), linestyle="--", color=SERIES[2], label="(4.10)")
    ax.axhline((1 + h**2) / (a * h), linestyle=":", color=SERIES[2], label="(4.16)")
    ax.plot([a / h, a / h, 2.5], [4, h / a, h / a], color="#24292f", linewidth=1.2, label="jamming")
    ax.set(xlabel="friction of the floor μ", ylabel="friction of the wall μ′", xlim=(0, 2.5), ylim=(0, 4))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


@claim(
    "001-ex6-equilibrium",
    place="example 6, both inequalities reversed",
    statement="If both (4.10) and (4.16) are reversed, the ladder can stay at rest under every force, walls fixed.",
    printed="it may stay in equilibrium under any external forces",
    recorded="confirmed",
    systems=(LADDER,),
)
def equilibrium(shop: Workshop) -> Finding:
    rng, count = shop.rng(94), shop.many(50, 600)
    moved = early = 0
    for _ in range(count):
        l, degrees = random_ladder(rng)
        a, h = sides(l, degrees)
        F = {f"F{i + 1}": float(value) for i, value in enumerate(3 * rng.normal(size=3))}
        mu, wall = (1 + a**2) / (a * h) * rng.uniform(1.01, 2), (1 + h**2) / (a * h) * rng.uniform(1.01, 2)
        found = shop.ask(LADDER, {"certify": False}, g=1.0, mu=mu, mu_wall=wall, **leaning(l, degrees), **F)
        moved += not _rests(found)
        mu, wall = a / h * rng.uniform(1.01, 1.2), h / a * rng.uniform(1.01, 1.2)
        found = shop.ask(LADDER, {"certify": False}, g=1.0, mu=mu, mu_wall=wall, **leaning(l, degrees), **F)
        early += not _rests(found)
    return Finding(
        computed=f"{count} random ladders and forces: {moved} can't stay at rest. With mu just above |a|/h and mu' "
        f"just above h/|a|, which is less than (4.10) and (4.16) ask, {early} can't.",
        comparisons=(
            as_printed("ladders that can't stay at rest", moved, 0),
            sound("already where both can jam", early, 0),
        ),
    )


def _rests(found: Any) -> bool:
    return any(np.abs(row).max() < 1e-9 for row in found.accelerations)


@claim(
    "001-ex6-rising-floor",
    place="example 6, after (4.16)",
    statement="If both are reversed and the floor accelerates upwards, a ladder under gravity has no solution.",
    printed="it can neither stay in equilibrium nor slide",
    recorded="confirmed",
    systems=(LADDER,),
)
def rising_floor(shop: Workshop) -> Finding:
    rng, count = shop.rng(95), shop.many(50, 1500)
    none = 0
    for _ in range(count):
        l, degrees = random_ladder(rng)
        a, h = sides(l, degrees)
        mu, wall = (1 + a**2) / (a * h) * rng.uniform(1.01, 2), (1 + h**2) / (a * h) * rng.uniform(1.01, 2)
        none += _none(shop, mu, wall, l, degrees, float(rng.uniform(0.05, 3)))
    return Finding(
        computed=f"{share(none, count)} random ladders on a rising floor have no solution.",
        comparisons=(as_printed("ladders without a solution", none, count),),
    )


@claim(
    "001-ex6-smooth-wall",
    place="example 6, last formula",
    statement="For a smooth wall the condition (4.17) becomes an inequality in mu alone.",
    printed="`(2 a h + mubar (1 - h^2))^2 < (1 + h^2) (1 + a^2 - mubar a h)`",
    recorded="corrected",
    systems=(LADDER,),
    errata=("ivanov-33",),
)
def smooth_wall(shop: Workshop) -> Finding:
    rng = shop.rng(96)
    wrong = {1: 0, 4: 0}
    count = 300
    for _ in range(count):
        l, degrees = random_ladder(rng)
        a, h = -sides(l, degrees)[0], sides(l, degrees)[1]
        mubar = float(rng.uniform(-2, 2))
        matrix = omega(shop.problem(LADDER, mu_wall=0.0, **leaning(l, degrees)), [mubar, 0.0])
        positive = bool(np.linalg.det(matrix) > 0)
        for factor in wrong:
            left, right = (2 * a * h + mubar * (1 - h**2)) ** 2, factor * (1 + h**2) * (1 + a**2 - mubar * a * h)
            wrong[factor] += (left < right) != positive
    a, h = -sides(math.sqrt(3.0), 135.0)[0], sides(math.sqrt(3.0), 135.0)[1]
    left, right = (2 * a * h) ** 2, (1 + h**2) * (1 + a**2)
    plain = shop.problem(LADDER, mu=0.0, mu_wall=0.0, **leaning(math.sqrt(3.0), 135.0))
    smallest = float(np.linalg.eigvalsh(omega(plain, [0.0, 0.0]))[0])
    return Finding(
        computed=f"No friction at all, 135°: the left side is {num(left)}, the printed right side {num(right)}, "
        f"although Omega has the smallest eigenvalue {num(smallest, 3)}. {count} random ladders: the printed form "
        f"disagrees with the sign of det Omega for {wrong[1]}, with the factor 4 for {wrong[4]}.",
        comparisons=(
            as_printed("disagreements", wrong[1], 0),
            as_corrected("disagreements with the factor 4", wrong[4], 0),
            sound("frictionless Omega is positive definite", smallest > 0),
        ),
        corrected="`(2 a h + mubar (1 - h^2))^2 < 4 (1 + h^2) (1 + a^2 - mubar a h)`.",
    )


@claim(
    "001-ex6-stricter",
    place="example 6, last sentence",
    statement="With a smooth wall the conditions of a unique solution are stricter than for the rod without a wall.",
    printed="stricter than in example 5",
    recorded="corrected",
    systems=(LADDER,),
    errata=("ivanov-34",),
)
def stricter(shop: Workshop) -> Finding:
    told, agrees, lost = [], True, True
    for degrees in (120.0, 150.0):
        l = math.sqrt(3.0)
        a, h = sides(l, degrees)
        without_wall = (1 + a**2) / (a * h)
        exact = _limit(lambda mu, degrees=degrees: _unique_sliding(shop, mu, degrees))
        test = _limit(lambda mu, degrees=degrees: _omega_positive(shop, mu, degrees))
        limits = f"rod alone {num(without_wall, 5)}, exact with wall {num(exact, 5)}, theorem 12 {num(test, 5)}"
        told.append(f"{degrees:.0f}°: {limits}")
        expected = min(without_wall, (1 + l**2) / (2 * a * h))
        agrees &= abs(exact - expected) < 1e-6
        lost &= exact < without_wall - 1e-6
    return Finding(
        computed=f"Largest friction of the floor with one solution for every force, both ends sliding: "
        f"{'; '.join(told)}.",
        comparisons=(
            as_printed("the exact limit is below that of the rod", bool(lost)),
            as_corrected("exact limit: 1 + a^2 > mu |a| h and 1 + l^2 > 2 mu |a| h", bool(agrees)),
        ),
        corrected="That is so for the sufficient test. Exactly, `1 + a^2 > s mu a h` and `1 + l^2 > 2 s mu a h`: "
        "stricter than without the wall only if `h^2 < 1 + a^2`.",
    )


def _limit(holds: Any) -> float:
    low, high = 0.01, 6.0
    for _ in range(32):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return (low + high) / 2


def _sliding_ladder(shop: Workshop, mu: float, degrees: float) -> Any:
    """Return a ladder whose foot slides away from the wall while its top slides down it."""
    l = math.sqrt(3.0)
    place = leaning(l, degrees)
    # Foot and top keep contact: v_x = 2 h omega.
    spin = 1.0
    speed = 2 * sides(l, degrees)[1] * spin
    return place | {"v_x": speed, "v_theta": spin, "mu": mu, "mu_wall": 0.0}


def _unique_sliding(shop: Workshop, mu: float, degrees: float) -> bool:
    found = shop.ask(LADDER, **_sliding_ladder(shop, mu, degrees))
    return any(item.kind == "P-matrix" and item.unique for item in found.certificates)


def _omega_positive(shop: Workshop, mu: float, degrees: float) -> bool:
    return least_omega(shop.problem(LADDER, **_sliding_ladder(shop, mu, degrees))) > 0
