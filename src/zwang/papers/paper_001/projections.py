"""Example 2 of paper 001: three ways to project onto a box, and how often they find the motion of a pile."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from zwang import Contact, ContactProblem, reactions
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.pictures import projection_paths
from zwang.papers.paper_001.pile import PILE, pushes, symbols, unit_of
from zwang.papers.paper_001.projecting import SymbolAlgorithm, block, cyclic, dykstra, project, schur
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

SIZES = (2, 3, 4, 5, 6)
SAME = 1e-6  # relative: the projection is the reaction


def _pile(rng: Any, n: int) -> tuple[Any, Any, Any]:
    """Return F, A and bounds of a random pile of n blocks."""
    m, mu = rng.uniform(0.3, 3.0, size=n), rng.uniform(0.1, 1.0, size=n)
    sums = np.cumsum(m)
    A = sums[np.minimum.outer(np.arange(n), np.arange(n))]
    bound = mu * sums
    return rng.normal(size=n) * 2.0 * bound, A, bound


def motion(F: Any, A: Any, bound: Any) -> tuple[Any, tuple[int, ...], float]:
    """Return R = -T, the symbols and the residual, from the laws of friction."""
    rows = np.eye(len(F))
    contacts = [
        Contact(None, tangent=row, friction=1.0, normal_force=limit) for row, limit in zip(rows, bound, strict=True)
    ]
    found: Any = reactions(ContactProblem(A, F, contacts))
    return -found.solutions[0].tangential, symbols(found), found.residual


def _equal(shop: Workshop) -> tuple[Any, Any]:
    """Return A and the bounds of the gallery's equal blocks, in units of m and mu m g."""
    problem = shop.problem(PILE)
    unit = unit_of(shop)
    return problem.mass, problem.rows.friction * problem.rows.normal_force / unit


@claim(
    "001-ex2-one-projection",
    place="example 2, (2.9)",
    statement="Formula (2.9) is the point of the slab `|R_1| <= mu_1 N_1` that is nearest in the kinetic metric.",
    printed="`F^1 = F - lambda (1, 0, 0) A`, `lambda = (F_1 - mu_1 N_1)/a_11`",
    recorded="confirmed",
    systems=(PILE,),
)
def one_projection(shop: Workshop) -> Finding:
    A, bound = _equal(shop)
    rng = shop.rng(41)
    worst = 0.0
    for F in rng.uniform(-6, 6, size=(200, 3)):
        level = np.clip(F[0], -bound[0], bound[0])
        # Least distance by elimination: R = (level, rest), a linear problem for the rest.
        inverse = np.linalg.inv(A)
        rest = F[1:] - np.linalg.solve(inverse[1:, 1:], inverse[1:, 0] * (level - F[0]))
        worst = max(worst, float(np.abs(project(F, A, bound, 0) - np.append(level, rest)).max()))
    return Finding(
        computed=f"200 random forces: formula and least distance differ by at most {num(worst, 1)}.",
        comparisons=(as_printed("projection", worst, 0.0, tol=1e-12),),
    )


@claim(
    "001-ex2-cyclic",
    place="example 2, after (2.9)",
    statement="Projecting onto one slab after the other, cyclically, converges to the solution.",
    printed="iterations converge to the solution like a geometric progression",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-9",),
)
def cyclic_projections(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    A, bound = _equal(shop)
    F = np.array([3.0, 5.0, 3.0])
    found = shop.ask(PILE, **pushes(F, unit))
    true, stopped = -found.solutions[0].tangential / unit, cyclic(F, A, bound)
    rng, count = shop.rng(42), shop.many(30, 400)
    right: dict[str, list[int]] = {"cyclic": [], "Dykstra": []}
    inside, residual = 0.0, found.residual
    for n in SIZES:
        piles = [_pile(rng, n) for _ in range(count)]
        forces, masses, bounds = (np.array(items) for items in zip(*piles, strict=True))
        true_n = np.array([motion(*pile)[0] for pile in piles])
        for name, way in (("cyclic", cyclic), ("Dykstra", dykstra)):
            R = way(forces, masses, bounds)
            inside = max(inside, float((np.abs(R) / bounds).max()) - 1)
            right[name].append(int((np.abs(R - true_n).max(axis=1) <= SAME * (1 + np.abs(true_n).max(axis=1))).sum()))

    def draw() -> Any:
        return _rates({name: [hit / count for hit in hits] for name, hits in right.items()})

    return Finding(
        computed=f"Equal blocks, F = (3, 5, 3): cyclic projections stop at {vec(stopped)}, the reaction is "
        f"{vec(true)}. Random piles of 2 to 6 blocks: cyclic projections find it in "
        f"{', '.join(map(str, right['cyclic']))} of {count} cases, Dykstra's in "
        f"{', '.join(map(str, right['Dykstra']))}.",
        comparisons=(
            as_printed("cyclic projections, F = (3, 5, 3)", stopped, true, tol=1e-6),
            as_corrected("Dykstra's projections, F = (3, 5, 3)", dykstra(F, A, bound), true, tol=1e-6),
            as_corrected("Dykstra's projections, random piles", right["Dykstra"], [count] * len(SIZES), tol=0.0),
            sound("both end in the box", max(inside, 0.0), 0.0, tol=1e-6),
            sound("the reaction", true, [1, 2, 0]),
        ),
        corrected="They converge to some point of the box, in general not the nearest; Dykstra's correction "
        "(Hildreth's method, the same as descending along one acceleration after the other) converges to the solution.",
        residual=residual,
        data={"sizes": SIZES, "cases": count, **right},
        pictures=(
            Picture("rates", "How often each way of projecting finds the motion of a random pile.", draw),
            Picture(
                "paths",
                "A pile of two blocks: cyclic projections walk into the box and stop at its first point they meet; "
                "Dykstra's take their first steps back and end at the reaction.",
                lambda: _paths(shop),
            ),
        ),
    )


def _paths(shop: Workshop) -> Any:
    rng = shop.rng(47)
    while True:
        F, A, bound = _pile(rng, 2)
        true = motion(F, A, bound)[0]
        if np.abs(cyclic(F, A, bound) - true).max() > 0.35 * np.abs(bound).max():
            break
    single, taken_back, R, back, steps = [F], [F], F, F, np.zeros(2)
    for _ in range(6):
        for i in (0, 1):
            R = project(R, A, bound, i)
            single.append(R)
            start = back + steps[i] * A[i]
            back = project(start, A, bound, i)
            steps[i] = (start[i] - back[i]) / A[i, i]
            taken_back.append(back)
    return projection_paths(F, bound, {"Dykstra's": taken_back, "cyclic": single}, true)


def _rates(rates: dict[str, list[float]]) -> Any:
    figure, ax = new_figure((5.4, 3.0))
    for (name, values), mark in zip(rates.items(), "osd^", strict=False):
        ax.plot(SIZES, np.multiply(100, values), marker=mark, label=name)
    ax.set(xlabel="number of blocks", ylabel="right answers [%]", ylim=(0, 105), xticks=SIZES)
    ax.legend()
    return figure


@claim(
    "001-ex2-symbols-kept",
    place="example 2, before (2.10)",
    statement="The projection `pi_1` makes the first symbol of a force zero and leaves the other two as they are.",
    printed="the first component becomes zero, the other two don't change",
    recorded="refuted",
    systems=(PILE,),
    errata=("ivanov-10",),
)
def symbols_kept(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    A, bound = _equal(shop)

    def before_and_after(F: Any) -> tuple[Any, Any, Any]:
        moved = project(np.asarray(F, dtype=float), A, bound, 0)
        return moved, *(symbols(shop.ask(PILE, **pushes(point, unit))) for point in (F, moved))

    first = before_and_after((5.0, 0.0, -2.0))
    second = before_and_after((-3.5, -2.0, -8.0))
    rng, count = shop.rng(43), shop.many(50, 1000)
    zero = kept = 0
    for F in rng.uniform(-8, 8, size=(count, 3)):
        _, old, new = before_and_after(F)
        zero, kept = zero + (new[0] == 0), kept + (new[1:] == old[1:])
    return Finding(
        computed=f"F = (5, 0, -2) lies in {first[1]}, its projection {vec(first[0])} in {first[2]}; F = (-3.5, -2, -8) "
        f"lies in {second[1]}, its projection {vec(second[0])} in {second[2]}. Random forces: the first symbol becomes "
        f"zero in {share(zero, count)}, the others are kept in {share(kept, count)}.",
        comparisons=(
            as_printed("first symbol after projecting (5, 0, -2)", first[2][0], 0),
            as_printed("other symbols after projecting (-3.5, -2, -8)", second[2][1:], second[1][1:]),
            sound("symbols of (5, 0, -2)", first[1], [1, -1, -1]),
            sound("symbols of (-3.5, -2, -8)", second[1], [-1, 0, -1]),
        ),
        counterexample=f"F = (5, 0, -2) keeps its first symbol, {first[1]} to {first[2]}; F = (-3.5, -2, -8) changes "
        f"its second, {second[1]} to {second[2]}.",
        data={"cases": count, "first zero": zero, "others kept": kept},
    )


@claim(
    "001-ex2-frozen-matrix",
    place="example 2, (2.11)",
    statement="Projections within the plane `R_1 = const` use the matrix A with `q1' = 0`.",
    printed="`a_22 = a_23 = a_32 = m1 + m2`, `a_33 = m1 + m2 + m3`, R_1 unchanged",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-12",),
)
def frozen_matrix(shop: Workshop) -> Finding:
    m = {"m1": 1.0, "m2": 2.0, "m3": 4.0}
    problem = shop.problem(PILE, **m)
    A = problem.mass
    inverse = np.linalg.inv(A)
    # Nearest point with R_1 kept and R_3 moved by one: only R_2 is free.
    direction = np.array([-inverse[1, 2] / inverse[1, 1], 1.0])
    printed, proper = (freeze(A, 0)[1] / freeze(A, 0)[1, 1] for freeze in (block, schur))
    return Finding(
        computed="Masses (1, 2, 4): moving R_3 by one with R_1 kept, the nearest point moves R_2 by "
        f"{num(direction[0])}. The printed matrix {vec(block(A, 0)[0])}, {vec(block(A, 0)[1])} moves it by "
        f"{num(printed[0])}, the Schur complement {vec(schur(A, 0)[0])}, {vec(schur(A, 0)[1])} by {num(proper[0])}.",
        comparisons=(
            as_printed("direction of the projection", printed, direction),
            as_corrected("direction of the projection", proper, direction),
            as_corrected("Schur complement", schur(A, 0), [[2.0, 2.0], [2.0, 6.0]]),
            sound("the block of (2.11)", block(A, 0), [[3.0, 3.0], [3.0, 7.0]]),
        ),
        corrected="`q1' = 0` and `R_1 = const` exclude each other. With R_1 kept, the matrix is the Schur complement, "
        "`a_22 = a_23 = a_32 = m2`, `a_33 = m2 + m3`.",
    )


@claim(
    "001-ex2-symbol-algorithm",
    place="example 2, after (2.11)",
    statement="Five projections find all three symbols, and `n (n + 1)/2 - 1` those of n blocks.",
    printed="no more than five projections determine the motion",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-11",),
)
def symbol_algorithm(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    A, bound = _equal(shop)
    points = (np.array([5.0, 0.0, -2.0]), np.array([0.0, 5.0, -2.0]))
    asked = [symbols(shop.ask(PILE, **pushes(F, unit))) for F in points]
    told = [SymbolAlgorithm(block)(F, A, bound) for F in points]
    rng, count = shop.rng(44), shop.many(40, 400)
    right: dict[str, list[int]] = {"as printed": [], "with the Schur complement": []}
    residual = 0.0
    for n in SIZES:
        hits = [0, 0]
        for _ in range(count):
            F, A_n, bound_n = _pile(rng, n)
            _, true, error = motion(F, A_n, bound_n)
            residual = max(residual, error)
            for way, freeze in enumerate((block, schur)):
                hits[way] += SymbolAlgorithm(freeze)(F, A_n, bound_n) == true
        for name, hit in zip(right, hits, strict=True):
            right[name].append(hit)

    def draw() -> Any:
        return _rates({name: [hit / count for hit in hits] for name, hits in right.items()})

    return Finding(
        computed=f"F = (5, 0, -2): the algorithm says {told[0]}, the motion is {asked[0]}; F = (0, 5, -2): {told[1]}, "
        f"the motion is {asked[1]}. Random piles of 2 to 6 blocks, right of {count}: as printed "
        f"{', '.join(map(str, right['as printed']))}; with the Schur complement "
        f"{', '.join(map(str, right['with the Schur complement']))}.",
        comparisons=(
            as_printed("symbols of (5, 0, -2)", told[0], asked[0]),
            as_printed("symbols of (0, 5, -2)", told[1], asked[1]),
            as_corrected("right for two blocks", [hits[0] for hits in right.values()], [count] * 2, tol=0.0),
            as_corrected("wrong for some piles of three and more", all(hit < count for hit in right["as printed"][1:])),
            as_corrected("also with the Schur complement", right["with the Schur complement"][-1] < count),
            sound("motion under (5, 0, -2)", asked[0], [1, -1, -1]),
        ),
        corrected="The algorithm is exact for two blocks only. With more it often errs, less often with the Schur "
        "complement in (2.11); the symbols are found by projecting onto the box, as by Dykstra's method.",
        residual=residual,
        data={"sizes": SIZES, "cases": count, **right},
        pictures=(Picture("symbols", "How often the algorithm finds all symbols of a random pile.", draw),),
    )


@claim(
    "001-ex2-integer-forces",
    place="example 2, after (2.11)",
    statement="For equal blocks the algorithm of five projections gives the motion for every force.",
    printed="no more than five projections determine the motion",
    recorded="refuted",
    systems=(PILE,),
    errata=("ivanov-11",),
    profile="full",
)
def integer_forces(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    A, bound = _equal(shop)
    wrong = clear = 0
    example = ""
    for point in itertools.product(range(-6, 7), repeat=3):
        F = np.array(point, dtype=float)
        found = shop.ask(PILE, **pushes(F, unit))
        solution = found.solutions[0]
        # On the border between two motions a symbol is a matter of rounding: such points are left out.
        slip = np.abs(solution.slip_acceleration) / unit > 1e-9
        if np.any(~slip & (np.abs(np.abs(solution.tangential) / unit - bound) < 1e-9)):
            continue
        clear += 1
        told = SymbolAlgorithm(block)(F, A, bound)
        if told != symbols(found):
            wrong += 1
            example = example or f"F = {point}: {told} instead of {symbols(found)}"
    return Finding(
        computed=f"Integer forces up to 6 mu m g in each component: {share(wrong, clear)} are wrong.",
        comparisons=(as_printed("wrong answers", wrong, 0),),
        counterexample=example,
        data={"wrong": wrong, "points": clear},
    )


@claim(
    "001-ex2-projection-count",
    place="example 2, C(n)",
    statement="The algorithm needs `C(n) = n (n + 1)/2 - 1` projections, 54 for ten blocks.",
    printed="`C(2) = 2`, `C(3) = 5`, `C(4) = 9`, `C(10) = 54`",
    recorded="confirmed",
)
def projection_count(shop: Workshop) -> Finding:
    rng = shop.rng(45)
    counts = []
    for n in (2, 3, 4, 10):
        algorithm = SymbolAlgorithm(block)
        algorithm(*_pile(rng, n))
        counts.append(algorithm.projections)
    return Finding(
        computed=f"Counted while the algorithm ran for 2, 3, 4 and 10 blocks: {vec(counts)}.",
        comparisons=(as_printed("projections", counts, [2, 5, 9, 54], tol=0.0),),
    )


@claim(
    "001-ex2-induction",
    place="example 2, the induction to C(n)",
    statement="After the other symbols are known, the first one takes n more projections.",
    printed="the first symbol requires n more projections",
    recorded="corrected",
    errata=("ivanov-13",),
)
def induction(shop: Workshop) -> Finding:
    rng = shop.rng(46)
    counts = []
    for n in range(2, 11):
        algorithm = SymbolAlgorithm(block)
        algorithm(*_pile(rng, n))
        counts.append(algorithm.projections)
    # C(n) - C(n - 1) - 1: what the first symbol adds.
    more = np.diff([0, *counts]) - 1
    blocks = np.arange(2, 11)
    return Finding(
        computed=f"Counted for n = 2 to 10, the first symbol took {vec(more)} projections.",
        comparisons=(
            as_printed("projections for the first symbol", more, blocks, tol=0.0),
            as_corrected("projections for the first symbol", more, blocks - 1, tol=0.0),
        ),
        corrected="It takes n - 1 more: `C(n) = C(n - 1) + 1 + (n - 1)`.",
    )
