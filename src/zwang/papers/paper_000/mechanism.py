"""The theorems of paper 000 on a mechanism: the pendulum of two rods with a rough guide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from zwang import System, trace
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_added, as_corrected, as_printed, sound
from zwang.papers.paper_000.pictures import GRID, count_map, growth_picture
from zwang.papers.paper_000.studies import (
    EXPONENT,
    FOLDED,
    ROUGH,
    SECTIONS,
    SMOOTH,
    TOUCHING,
    counts,
    exponents,
    growth,
    rough_pendulum,
    rows,
)
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import INK, SERIES, new_figure

GUIDE = "ellipse"


@claim(
    "000-pendulum-kinds",
    place="introduction, on the singular pendulum",
    statement="The configuration space of the pendulum on an ellipse has a crossing or a tangency, according to the "
    "shape of the guide.",
    printed="transversal singularity or tangency",
    recorded="confirmed",
    systems=(SMOOTH,),
)
def kinds(shop: Workshop) -> Finding:
    system = shop.system(SMOOTH)
    spaces = [trace(system, shop.values(SMOOTH, **changes)[1]) for changes in ({}, TOUCHING)]
    points = [space.singular_points for space in spaces]
    found = [str(item[0].kind) if len(item) == 1 else "?" for item in points]
    return Finding(
        computed=f"Circle of radius 1.5: {_told(points[0][0])}. Ellipse of curvature 1 at its vertex: "
        f"{_told(points[1][0])}.",
        comparisons=(
            as_printed("flat guide", found[0], "crossing"),
            as_printed("curvature 1 at the vertex", found[1], "tangency"),
        ),
        residual=max(space.residual for space in spaces),
        pictures=(_pendulum_curves(shop, {}, "crossing"), _pendulum_curves(shop, TOUCHING, "tangency")),
    )


def _guided(shop: Workshop, p: int) -> System:
    """Return the rough pendulum on a guide that leaves the circle of the folded rods like the 2 p-th power of y."""
    system = shop.system(ROUGH)
    guide: Any = system.constraints[GUIDE]
    (l1, l2), (phi, psi) = (
        ({item.name: item for item in system.parameters}[name] for name in ("l1", "l2")),
        system.coordinates,
    )
    x, y = l1 * sp.cos(phi) + l2 * sp.cos(psi), l1 * sp.sin(phi) + l2 * sp.sin(psi)
    curve = (x**2 + y**2 - y ** (2 * p) - (l1 - l2) ** 2) / 2
    return system.replace(constraints=[replace(guide, expr=curve)])


@claim(
    "000-any-order",
    place="introduction, on the singular pendulum; theorem 2, beyond contact of first order",
    statement="The configuration space of the pendulum can have a tangency of any order, according to the guide.",
    printed="a tangency of arbitrary order",
    recorded="confirmed",
    systems=(ROUGH,),
    new="The exponents of theorem 2 for every order: without friction -1/2 and -(2 p - 1)/p of |eps| on the two "
    "sides, with friction 0 and half of the latter, where the branches are `y = ±x^p`.",
)
def any_order(shop: Workshop) -> Finding:
    powers = range(1, 6 if shop.full else 5)
    # Gravity is tilted: along the axis of the mirror symmetry `g_2` would vanish at the tangency.
    params = shop.values(ROUGH, tilt=0.3)[1]
    kinds, orders, got, wanted, residual = [], [], [], [], 0.0
    for p in powers:
        system = _guided(shop, p)
        values = {item.name: params[item.name] for item in system.parameters}
        (point,) = trace(system, values, box={"phi": (-0.6, 0.6), "psi": (2.2, 4.1)}).singular_points
        kinds.append(str(point.kind))
        orders.append(point.order if point.kind == "tangency" else 0)
        if p in (1, 2, 3):
            found = growth(system, values, FOLDED, GUIDE, SECTIONS)
            residual = max(residual, found.residual)
            for sign, smooth in ((1, -1.0 if p == 1 else -0.5), (-1, -(2 * p - 1) / p)):
                rough = (-0.5 if p == 1 else 0.0) if sign > 0 else smooth / 2
                for friction, power in ((False, smooth), (True, rough)):
                    measured = exponents(found, sign, rough=friction, quantity=GUIDE)
                    got += measured
                    wanted += [power] * len(measured)
    return Finding(
        computed=f"Guides `x^2 + y^2 = 1 + y^{{2 p}}`, p = {powers[0]} to {powers[-1]}: a {kinds[0]}, then tangencies "
        f"of the orders {', '.join(map(str, orders[1:]))}.",
        comparisons=(
            as_printed("kinds", " ".join(kinds), " ".join(["crossing", *["tangency"] * (len(powers) - 1)])),
            as_printed("orders of contact", orders, [p - 1 for p in powers]),
            as_added("exponents of the multiplier, p = 1 to 3", got, wanted, tol=EXPONENT),
            sound("rows were found", len(got) >= 24),
        ),
        residual=residual,
    )


def _told(point: Any) -> str:
    return repr(point).strip("<>")


def _pendulum_curves(shop: Workshop, changes: dict[str, float], kind: str) -> Picture:
    sizes = (-0.0004, 0.0, 0.0004) if changes else (-0.004, 0.0, 0.004)

    def make() -> Any:
        figure, ax = new_figure((4.6, 3.8))
        system, params = shop.system(SMOOTH), shop.values(SMOOTH, **changes)[1]
        guide: Any = system.constraints[GUIDE]
        box = {"phi": (-0.6, 0.6), "psi": (np.pi - 1.0, np.pi + 1.0)}
        for eps in sizes:
            mistuned = system.replace(constraints=[replace(guide, expr=guide.expr - eps)])
            colour = INK if eps == 0 else SERIES[0] if eps > 0 else SERIES[1]
            for number, arc in enumerate(trace(mistuned, params, box=box).branches):
                points = arc.sampled()
                ax.plot(points[:, 0], points[:, 1], color=colour, label=f"eps = {eps:g}" if number == 0 else None)
        ax.set(xlabel="phi [rad]", ylabel="psi [rad]", xlim=box["phi"], ylim=box["psi"])
        ax.legend()
        return figure

    return Picture(
        f"pendulum-{kind}",
        f"Configuration space of the pendulum next to its folded pose ({kind}), and of two mistuned ones: in one the "
        "guided point passes its vertex, in the other the rods fold through while it turns back.",
        make,
    )


@claim(
    "000-pendulum-crossing",
    place="theorem 1, on a mechanism",
    statement="On the pendulum with a rough guide, mistuned so that C passes the vertex, the multiplier behaves as "
    "theorem 1 says.",
    printed="unbounded; two solutions one way, none the other, like the inverse distance",
    recorded="confirmed",
    systems=(ROUGH,),
)
def crossing(shop: Workshop) -> Finding:
    found = rough_pendulum(shop)
    smooth = exponents(found, 1, rough=False, quantity=GUIDE)
    rough = exponents(found, 1, rough=True, quantity=GUIDE)
    stars = [item for item in found.thresholds if item.eps > 0]
    rule = []
    for row in found.select(sign=1, quantity=GUIDE, friction="+"):
        fold = next(item.point["phi"] for item in stars if item.branch == row.branch)
        up = 2 * row.velocity["phi"] - row.velocity["psi"] > 0  # y_C' at the folded pose, l1 = 2, l2 = 1
        rule.append(row.solutions["+" if up == (fold > 0) else "-"] == 2)
    star = min(item.eps for item in stars)
    beyond, within = _numbers(shop, 2 * star), _numbers(shop, star / 2)
    return Finding(
        computed=f"Exponents {num(smooth[0])} without friction and {num(rough[0])} with mu = 0.1. With the fold open "
        f"to phi > 0 there are two solutions if C moves to y > 0 and none if it moves to y < 0, below eps* = "
        f"{num(star)}: at eps*/2 there are {within[0]} and {within[1]}, at 2 eps* {beyond[0]} and {beyond[1]}.",
        comparisons=(
            as_printed("exponents without friction", smooth, [-1.0] * 2, tol=EXPONENT),
            as_printed("exponents with friction", rough, [-0.5] * 8, tol=EXPONENT),
            as_printed("numbers of solutions", counts(found, 1, GUIDE) == {(0, 2)}),
            sound("two where C moves to the side of the fold", bool(rule) and all(rule)),
            sound("above and below the threshold", (beyond, within) == ([1, 1], [0, 2])),
        ),
        residual=found.residual,
        data={"threshold": star},
        pictures=(_growth(shop), _map(shop)),
    )


def _passing(shop: Workshop, eps: Any, way: float) -> dict[str, Any]:
    """Return the pendulum with C on the axis of a guide scaled so that f = eps, C moving up (way = 1) or down."""
    params = shop.values(ROUGH)[1]
    # ((x - a)^2/r1^2 + y^2/r2^2 - 1)/2 = eps is the ellipse with both semi-axes times sqrt(1 + 2 eps).
    scale = np.sqrt(1 + 2 * eps)
    reach = params["a"] + params["r1"] * scale
    l1, l2 = params["l1"], params["l2"]
    fold = np.arccos((reach**2 + l1**2 - l2**2) / (2 * reach * l1))
    psi = np.arctan2(-l1 * np.sin(fold), reach - l1 * np.cos(fold)) % (2 * np.pi)
    # C moves along y: l1 sin(phi) phi' + l2 sin(psi) psi' = 0.
    v_psi = -l1 * np.sin(fold) / (l2 * np.sin(psi))
    turn = way * np.sign(l1 * np.cos(fold) + l2 * np.cos(psi) * v_psi)
    rates = {"v_phi": turn, "v_psi": turn * v_psi}
    return {"phi": fold, "psi": psi, **rates, "r1": params["r1"] * scale, "r2": params["r2"] * scale}


def _numbers(shop: Workshop, eps: float) -> list[int]:
    """Return how many multipliers there are for C moving down and up."""
    return [len(shop.ask(ROUGH, **_passing(shop, eps, way)).solutions) for way in (-1.0, 1.0)]


def _map(shop: Workshop) -> Picture:
    def ask(eps: Any, mu: Any, way: float) -> Any:
        return shop.ask(ROUGH, **_passing(shop, eps, way), mu=mu)

    return count_map(
        "pendulum-map",
        "How many multipliers the pendulum has where C passes the axis of the mistuned guide, over eps and "
        "the coefficient of friction, for both directions of C.",
        ask,
        ("C moves to y < 0", "C moves to y > 0"),
        np.geomspace(1e-5, 2e-2, GRID),
    )


def _growth(shop: Workshop) -> Picture:
    return growth_picture(
        "growth-pendulum",
        "Multiplier, normal force and friction at the guide of the pendulum, over the mistuning of the guide.",
        lambda: rough_pendulum(shop),
    )


@claim(
    "000-pendulum-turning",
    place="theorem 1, item 3, on a mechanism with eps < 0",
    statement="Mistuned the other way, so that the rods fold through, the pendulum has two multipliers for one "
    "direction of motion and none for the other.",
    printed="two and none by direction, for both signs of eps",
    recorded="corrected",
    systems=(ROUGH,),
    errata=("burian2024-4",),
)
def turning(shop: Workshop) -> Finding:
    found = rough_pendulum(shop)
    sides: dict[str, set[tuple[int, int]]] = {"before": set(), "after": set()}
    for row in rows(found, -1, rough=True, quantity=GUIDE):
        if row.side in sides:
            sides[row.side].add((row.solutions["+"], row.solutions["-"]))
    powers = exponents(found, -1, rough=True, quantity=GUIDE)
    return Finding(
        computed=f"For eps < 0 the guided point stands still where the rods are folded. Before that pose there are "
        f"{_words(sides['before'])} solutions for the two directions, after it {_words(sides['after'])}; where they "
        f"exist they grow like |eps| to the power {num(powers[0])}.",
        comparisons=(
            as_printed("two and none by direction", counts(found, -1, GUIDE) == {(0, 2)}),
            as_corrected("two before the folded pose, both ways", sides["before"] == {(2, 2)}),
            as_corrected("none after it, both ways", sides["after"] == {(0, 0)}),
            sound("exponents", powers, [-0.5] * len(powers), tol=EXPONENT),
        ),
        corrected="Where the guided point comes to rest at `s_eps`, W changes its sign there: two multipliers before "
        "that pose and none after it, for both directions of motion.",
        residual=found.residual,
        data={"before": 2, "after": 0} if sides["before"] == {(2, 2)} and sides["after"] == {(0, 0)} else {},
    )


def _words(pairs: set[tuple[int, int]]) -> str:
    return " or ".join(f"{there} and {back}" for there, back in sorted(pairs)) or "no"


@claim(
    "000-pendulum-tangency",
    place="theorem 2, on a mechanism",
    statement="On the pendulum whose branches touch, multipliers are bounded for `eps > 0` and unbounded for `eps < "
    "0`.",
    printed="bounded where `g_2(0) = 0`; unbounded for `eps < 0`, with friction and without",
    recorded="confirmed",
    systems=(ROUGH,),
)
def tangency(shop: Workshop) -> Finding:
    found = rough_pendulum(shop, **TOUCHING)
    powers = {
        (sign, rough): exponents(found, sign, rough=rough, quantity=GUIDE)
        for sign in (1, -1)
        for rough in (False, True)
    }
    flat = {key: sorted(set(np.round(item, 6) + 0.0)) for key, item in powers.items()}
    return Finding(
        computed=f"{found.kind.capitalize()}. Exponents without and with friction: {vec(flat[1, False])} and "
        f"{vec(flat[1, True])} for eps > 0, where the mirror symmetry makes `g_2(0) = 0`; {vec(flat[-1, False])} and "
        f"{vec(flat[-1, True])} for eps < 0.",
        comparisons=(
            as_printed("bounded for eps > 0", min(powers[1, False] + powers[1, True]) > -EXPONENT),
            as_printed("unbounded for eps < 0", max(powers[-1, False] + powers[-1, True]) < -EXPONENT),
            sound("exponents, eps > 0", [flat[1, False], flat[1, True]], [[0.0], [0.5]], tol=EXPONENT),
            sound("exponents, eps < 0", [flat[-1, False], flat[-1, True]], [[-1.5], [-0.75]], tol=EXPONENT),
        ),
        residual=found.residual,
    )


@claim(
    "000-pendulum-tilted",
    place="theorem 2, items 1 and 2, on a mechanism",
    statement="With gravity tilted, so that the mirror symmetry is broken, the multiplier at the tangency grows for "
    "`eps > 0` without friction and is bounded with it.",
    printed="like the inverse distance without friction, bounded with it",
    recorded="confirmed",
    systems=(ROUGH,),
    profile="full",
)
def tilted(shop: Workshop) -> Finding:
    found = rough_pendulum(shop, **TOUCHING, tilt=0.2)
    smooth = exponents(found, 1, rough=False, quantity=GUIDE)
    rough = exponents(found, 1, rough=True, quantity=GUIDE)
    return Finding(
        computed=f"Gravity tilted by 0.2: exponents {num(smooth[0])} without friction and {num(round(rough[0], 9))} "
        f"with it; numbers of solutions by direction: {' or '.join(map(str, sorted(counts(found, 1, GUIDE))))}.",
        comparisons=(
            as_printed("exponents without friction", smooth, [-0.5] * len(smooth), tol=EXPONENT),
            as_printed("exponents with friction", rough, [0.0] * len(rough), tol=EXPONENT),
            sound("rows were found", bool(smooth and rough)),
        ),
        residual=found.residual,
    )
