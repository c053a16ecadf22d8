"""Example 2 of paper 001: a pile of blocks, its matrices, its two data sets and its combinatorics."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import sympy as sp

from zwang import Contact, ContactProblem, gallery, reactions, simulate, t
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.projecting import dykstra
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import INK, PALE, SERIES, draw_regions, new_figure

PILE = "pyramid"
ON_SHADES = "#1b1f24"  # letters


def pushes(forces: Any, unit: float) -> dict[str, float]:
    """Return the pushes P1, P2, P3 that give generalized forces F, in units of mu m g."""
    F = np.asarray(forces, dtype=float) * unit
    return {f"P{i + 1}": float(value) for i, value in enumerate(np.diff(F, prepend=0.0))}


def unit_of(shop: Workshop) -> float:
    """Return mu m g of the gallery's equal blocks."""
    params = shop.entry(PILE).params
    return float(params["mu1"] * params["m1"] * params["g"])


def symbols(found: Any) -> tuple[int, ...]:
    """Return the symbols of a motion: 1, -1 or 0 for slip to the right, to the left, rest."""
    return tuple({"slip+": 1, "slip-": -1}.get(mode, 0) for mode in found.solutions[0].modes)


@claim(
    "001-ex2-mass",
    place="example 2, (2.7)",
    statement="In displacements of each block against the one below, the mass matrix has the entries "
    "`a_ij = m_1 + ... + m_min(i, j)`, and the generalized forces are sums of the pushes.",
    printed="`A` of (2.7); `F1 = P1`, `F2 = P1 + P2`, `F3 = P1 + P2 + P3`",
    recorded="confirmed",
    systems=(PILE,),
)
def mass_matrix(shop: Workshop) -> Finding:
    rng = shop.rng(21)
    m, P = rng.uniform(0.5, 3.0, size=3), rng.normal(size=3)
    values = {f"m{i + 1}": float(m[i]) for i in range(3)} | {f"P{i + 1}": float(P[i]) for i in range(3)}
    problem = shop.problem(PILE, **values)
    expected = np.array([[m[: min(i, j) + 1].sum() for j in range(3)] for i in range(3)])
    return Finding(
        computed=f"For masses {vec(m, 3)} the derived matrix is {'; '.join(vec(row, 4) for row in problem.mass)}, and "
        f"pushes {vec(P, 3)} give F = {vec(problem.force, 4)}.",
        comparisons=(
            as_printed("A", problem.mass, expected),
            as_printed("F", problem.force, np.cumsum(P)),
        ),
    )


@claim(
    "001-ex2-normal-forces",
    place="example 2, (2.8)",
    statement="The contact below block i carries the weight of everything above it, so its friction is bounded by a "
    "known number.",
    printed="`N_1 = g m1`, `N_2 = g (m1 + m2)`, `N_3 = g (m1 + m2 + m3)`",
    recorded="confirmed",
    systems=(PILE,),
)
def normal_forces(shop: Workshop) -> Finding:
    rng = shop.rng(22)
    m, mu, g = rng.uniform(0.5, 3.0, size=3), rng.uniform(0.1, 1.0, size=3), 9.81
    # Vertical motion of the same blocks: heights from the top down, each contact between a block and the next.
    rows = np.eye(3) - np.eye(3, k=1)
    vertical: Any = reactions(ContactProblem(np.diag(m), -g * m, [Contact(row) for row in rows]))
    N = vertical.solutions[0].normal
    values = {f"m{i + 1}": float(m[i]) for i in range(3)} | {f"mu{i + 1}": float(mu[i]) for i in range(3)}
    bounds = shop.problem(PILE, g=g, **values).rows
    return Finding(
        computed=f"The vertical problem of the same blocks has the normal forces {vec(N)}; the pile bounds its "
        f"friction by {vec(bounds.friction * bounds.normal_force)}.",
        comparisons=(
            as_printed("N", N, g * np.cumsum(m)),
            as_printed("bounds mu N", bounds.friction * bounds.normal_force, mu * N),
        ),
        residual=vertical.residual,
    )


@claim(
    "001-ex2-combinations",
    place="example 2",
    statement="Ten blocks have `3^10 = 59049` combinations of rest and slip.",
    printed="`3^10 = 59049`",
    recorded="confirmed",
)
def combinations(shop: Workshop) -> Finding:
    entry = gallery.pyramid(10)
    found: Any = reactions(entry.system, entry.state, entry.params)
    return Finding(
        computed=f"The enumeration has {found.modes_total:.0f} combinations for ten blocks and decides the motion "
        f"after looking at {found.nodes}: {found.status.value}",
        comparisons=(
            as_printed("combinations", found.modes_total, 59049.0, tol=0.0),
            sound("one acceleration", found.status.name in {"UNIQUE", "UNIQUE_MOTION"} and found.complete),
        ),
        residual=found.residual,
    )


@claim(
    "001-ex2-regions",
    place="example 2, figure 4",
    statement="The space of forces falls into 27 regions: one of rest, 6 where one contact slips, 12 where two do, and "
    "8 where all three do.",
    printed="`27 = 1 + 6 + 12 + 8`",
    recorded="confirmed",
    systems=(PILE,),
)
def regions(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    problem = shop.problem(PILE)
    bound = problem.rows.friction * problem.rows.normal_force
    seen: dict[tuple[int, ...], int] = {}
    residual = 0.0
    for wanted in itertools.product((-1, 0, 1), repeat=3):
        # A force that makes exactly these contacts slip: choose w and T by the laws and add up.
        s = np.array(wanted, dtype=float)
        F = problem.mass @ (s * 1.3) + np.where(s == 0, 0.4, s) * bound
        found = shop.ask(PILE, **pushes(F / unit, unit))
        residual = max(residual, found.residual)
        seen[symbols(found)] = sum(map(abs, wanted))
    rng = shop.rng(23)
    count = shop.many(60, 600)
    others = 0
    for F in rng.uniform(-8, 8, size=(count, 3)):
        others += symbols(shop.ask(PILE, **pushes(F, unit))) not in seen
    sizes = [sum(1 for slips in seen.values() if slips == number) for number in range(4)]

    def draw() -> Any:
        return _regions_figure(shop, unit)

    return Finding(
        computed=f"Forces built for each triple give {len(seen)} different motions, by the number of slipping contacts "
        f"{vec(sizes)}; {share(others, count)} random forces gave another one.",
        comparisons=(
            as_printed("regions by number of slipping contacts", sizes, [1, 6, 12, 8], tol=0.0),
            sound("random forces outside them", others, 0),
        ),
        residual=residual,
        pictures=(
            Picture(
                "regions",
                "A slice through the space of forces, F3 = 0, in units of mu m g: each region is one combination of "
                "rest and slip, its colour the number of contacts that slip; the middle one is rest.",
                draw,
            ),
        ),
    )


def _mixed(colour: str, part: float) -> str:
    """Return a colour, mixed with white."""
    return "#" + "".join(f"{round(255 - part * (255 - int(colour[k : k + 2], 16))):02x}" for k in (1, 3, 5))


def _regions_figure(shop: Workshop, unit: float) -> Any:
    # Thousands of points: by Dykstra's projections, which the claim on them holds against the laws of friction.
    ticks = np.linspace(-6, 6, 241)
    problem = shop.problem(PILE)
    bound = problem.rows.friction * problem.rows.normal_force / unit
    F = np.stack([*np.meshgrid(ticks, ticks), np.zeros((241, 241))], axis=-1).reshape(-1, 3)
    R = dykstra(F, np.broadcast_to(problem.mass, (len(F), 3, 3)), np.broadcast_to(bound, F.shape))
    w = np.linalg.solve(problem.mass, (F - R).T).T
    codes = ((np.sign(np.where(np.abs(w) < 1e-6, 0.0, w)) + 1) @ (9, 3, 1)).astype(int).reshape(241, 241)
    figure, ax = new_figure((4.8, 4.2))
    slipping = sum((codes // step % 3 != 1).astype(int) for step in (9, 3, 1))
    shades = [PALE, *(_mixed(SERIES[k], 0.45) for k in (0, 4, 2))]
    present, places = np.unique(codes, return_inverse=True)
    places = places.reshape(codes.shape)
    draw_regions(ax, ticks, ticks, places, [shades[slipping[codes == code][0]] for code in present], line=1.2)
    for code in present:
        rows, columns = np.nonzero(codes == code)
        if len(rows) > 12:
            triple = (code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1)
            middle = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
            words = "".join({1: "+", -1: "−", 0: "0"}[int(s)] for s in triple)
            # Letters on the shades are dark on every page; the region of rest is pale, and follows the page.
            ink = ON_SHADES if slipping[codes == code][0] else INK
            at = ticks[columns[middle]], ticks[rows[middle]]
            ax.text(*at, words, ha="center", va="center", fontsize=10, color=ink)
    ax.set(xlabel="$F_1$", ylabel="$F_2$")
    return figure


@claim(
    "001-ex2-first-data",
    place="example 2, (2.12)",
    statement="Equal blocks pushed with `F = (2, 0, 3)` (in mu m g): only the top block slips, and one projection "
    "finds it.",
    printed="`w = (1, 0, 0)`, `T = (-1, 1, -2)`, `F^1 = (1, -1, 2)`",
    recorded="confirmed",
    systems=(PILE,),
)
def first_data(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    found = shop.ask(PILE, **pushes((2, 0, 3), unit))
    w = found.accelerations[0] / unit  # unit masses
    T = found.solutions[0].tangential / unit
    return Finding(
        computed=f"w = {vec(w)}, T = {vec(T)}, so that the projection of F is {vec(-T)}; modes "
        f"{', '.join(found.solutions[0].modes)}.",
        comparisons=(
            as_printed("w", w, [1, 0, 0]),
            as_printed("T", T, [-1, 1, -2]),
            as_printed("projection F^1 = -T", -T, [1, -1, 2]),
        ),
        residual=found.residual,
    )


@claim(
    "001-ex2-second-data",
    place="example 2, after (2.13)",
    statement="Equal blocks pushed with `F = (2, -3, 1)` (in mu m g): the two upper contacts slip in opposite "
    "directions.",
    printed="`(1, -1, 0)`, `w = (3, -2, 0)`, `T = (-1, 2, 0)`",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-14",),
)
def second_data(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    found = shop.ask(PILE, **pushes((2, -3, 1), unit))
    w, T = found.accelerations[0] / unit, found.solutions[0].tangential / unit
    return Finding(
        computed=f"Symbols {symbols(found)}, w = {vec(w)}, T = {vec(T)}.",
        comparisons=(
            as_printed("T", T, [-1, 2, 0]),
            as_corrected("T", T, [-1, 2, -2]),
            sound("symbols", symbols(found), [1, -1, 0]),
            sound("w", w, [3, -2, 0]),
        ),
        corrected="`T = (-1, 2, -2)`: only then is `A w = F + T` with `w = (3, -2, 0)`.",
        residual=found.residual,
        data={"w": w, "T": T, "unit": num(unit)},
    )


SWINGS = ((1.9, 1.0, 0.0), (3.1, 0.5, 1.0), (-2.2, 3.0, 0.0))
"""Pushes that swing, in mu m g: amplitude, frequency and phase of each."""


def _faces(R: Any, bound: Any) -> tuple[int, ...]:
    """Return on which faces of the box (2.8) a reaction lies: 1, -1, or 0 inside the slab, one for each contact."""
    return tuple(int(item) for item in np.where(np.abs(R) > bound * (1 - 1e-7), np.sign(R), 0))


def _swinging(shop: Workshop) -> Any:
    """Return the motion of the pile from rest, under pushes that swing."""
    system, params, unit = shop.system(PILE), shop.values(PILE)[1], unit_of(shop)
    swings = [a * unit * sp.sin(w * t + phase) for a, w, phase in SWINGS]
    driven = system.replace(forces={q: sp.Add(*swings[: i + 1]) for i, q in enumerate(system.coordinates)})
    start = dict.fromkeys([item.name for item in (*driven.coordinates, *driven.velocities)], 0.0)
    known = {item.name: params[item.name] for item in driven.parameters}
    return simulate(driven, start, known, until=float(shop.many(8, 40)))


@claim(
    "001-bifurcation",
    place="remark after (2.13), on bifurcation",
    statement="Where F changes in time, the motion changes its kind where the reaction comes to a face of the box "
    "(2.8) or leaves one, and nowhere else.",
    printed="a change of the place of R relative to a face of the box indicates a possible bifurcation",
    recorded="confirmed",
    systems=(PILE,),
)
def bifurcation(shop: Workshop) -> Finding:
    motion, bound = _swinging(shop), unit_of(shop) * np.array([1.0, 2.0, 3.0])
    R = -np.array([np.ravel(motion.reactions[f"contact{i}"]) for i in (1, 2, 3)]).T
    cuts = np.unique([0.0, *(event.time for event in motion.events), motion.t[-1]])
    stretches = [
        {_faces(row, bound) for row in R[(motion.t > low + 1e-9) & (motion.t < high - 1e-9)]}
        for low, high in itertools.pairwise(cuts)
    ]
    passed = [item for item in stretches if item]
    apart = [first != second for first, second in itertools.pairwise(passed)]
    # The pile held at rest, pushed in the same way: R is found by projecting, the kind of motion by the verb.
    times = np.linspace(0.0, 8.0, shop.many(160, 1600))
    F = np.cumsum([[a * np.sin(w * s + phase) for a, w, phase in SWINGS] for s in times], axis=1) * unit_of(shop)
    A = np.broadcast_to(shop.problem(PILE).mass, (len(F), 3, 3))
    projected = [_faces(row, bound) for row in dykstra(F, A, np.broadcast_to(bound, F.shape))]
    asked = [symbols(shop.ask(PILE, **pushes(row / unit_of(shop), unit_of(shop)))) for row in F]
    return Finding(
        computed=f"Three blocks under pushes that swing: {len(motion.events)} changes of the motion. Between them the "
        f"reaction keeps its faces, in {share(sum(len(item) == 1 for item in passed), len(passed))} stretches; at each "
        f"it comes to one or leaves one. Held at rest and let go at {len(times)} instants, the pile begins "
        f"{len(set(asked))} kinds of motion, and they are the faces of the projection in "
        f"{share(sum(a == b for a, b in zip(asked, projected, strict=True)), len(times))}.",
        comparisons=(
            as_printed("stretches on which the faces change", sum(len(item) != 1 for item in passed), 0),
            as_printed("changes of the motion at which they don't", len(apart) - sum(apart), 0),
            as_printed(
                "instants of rest at which faces and kind differ",
                sum(a != b for a, b in zip(asked, projected, strict=True)),
                0,
            ),
            sound("changes were met", len(passed) > 6 and len(set(asked)) > 6),
        ),
        residual=motion.residual,
    )
