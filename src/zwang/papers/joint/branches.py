"""Springs (paper 003) decide the branch at a singular point (papers 002 and 000)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang import Stiffness, limit, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.joint.passages import (
    PENDULUM,
    TANGENCY,
    TILT,
    PassageStudy,
    angle_cab,
    passing,
    slope,
    springs,
    start,
)
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import QUIET, SERIES, new_figure

STRENGTHS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
TOUCHING = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
FITTED = (1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8)
SEEN = (1e7, 3e7, 1e8, 3e8, 1e9, 3e9)
"""Strengths at which the exponents are those of the limit: the next term is smaller by N^(-1/4)."""


@claim(
    "002-joint-inertia",
    place="section 4, continued to the tangency",
    statement="At the singular point the velocity decides the branch: continued straight, the pendulum changes it.",
    printed="the sign of `sin(psi - phi)` changes, so the branch does",
    recorded="corrected",
    systems=(PENDULUM,),
    errata=("burian2017-branches",),
)
def inertia(shop: Workshop) -> Finding:
    system = shop.system(PENDULUM)
    labels, ends, drift = {}, {}, 0.0
    for name, changes in (("crossing", {}), ("tangency", TANGENCY)):
        state, params = shop.values(PENDULUM, **changes)
        motion = simulate(system, start(params, tuple(state), 1), params, until=1.2, at_singular="straight")
        labels[name] = int(np.sign(angle_cab(motion.end)))
        ends[name], drift = motion, max(drift, float(motion.drift))
    touching = ends["tangency"]
    return Finding(
        computed=f"At a crossing exactly one half-branch has the arriving direction, and on it the label is "
        f"{labels['crossing']:+d} instead of +1. At a tangency {len(touching.continuations)} have it, and nothing in "
        "the velocity tells them apart.",
        comparisons=(
            as_printed("the velocity decides at the crossing", ends["crossing"].status.name, "REACHED"),
            as_printed("the velocity decides at the tangency", touching.status.name, "REACHED"),
            as_corrected("label after the crossing", labels["crossing"], -1),
            as_corrected("half-branches with the same direction at the tangency", len(touching.continuations), 2),
            as_corrected("the motion stops at the tangency", touching.status.name, "SINGULAR"),
        ),
        corrected="At a crossing it does, at a tangency both branches continue the motion smoothly.",
        residual=drift,
    )


@claim(
    "002-joint-crossing",
    place="abstract; the constraints made by springs",
    statement="At a crossing of branches the pendulum always goes over to the other branch.",
    printed="the pendulum always goes from one branch to the other when it passes the singular point",
    recorded="confirmed",
    systems=(PENDULUM,),
    errata=("burian2017-branches",),
)
def crossing(shop: Workshop) -> Finding:
    found = {
        (label, tilt): [springs(shop, N, label, tilt=tilt) for N in STRENGTHS]
        for label in (1, -1)
        for tilt in (0.0, TILT["tilt"])
    }
    switched = [item.label == -label for (label, _), items in found.items() for item in items]
    return Finding(
        computed=f"Springs of N = {STRENGTHS[0]:.0e} to {STRENGTHS[-1]:.0e}, both branches, gravity along the axis and "
        f"tilted by 0.3: the label changes in {sum(switched)} of {len(switched)} passages.",
        comparisons=(as_printed("the label changes in every passage", all(switched)),),
        residual=max(item.drift for items in found.values() for item in items),
        data={"strengths": list(STRENGTHS), "switched": switched},
        pictures=(_film(shop),),
    )


def _film(shop: Workshop) -> Picture:
    def make() -> Any:
        motion = passing(shop.system(PENDULUM), 1e5, 1, {})
        return motion.animate(drawing=shop.entry(PENDULUM).drawing).html

    return Picture(
        "film",
        "The pendulum on springs of `N = 10^5` through its folded pose: the short rod overtakes the long one.",
        make,
    )


@claim(
    "003-joint-energy",
    place="(2.3), continued to a singular point",
    statement="The energy across the constraints falls like 1/N.",
    printed="`r_perp' = O(N^(-1/2))`, so that the energy across is `O(N^-1)`",
    recorded="corrected",
    systems=(PENDULUM,),
    errata=("burian2017-branches",),
)
def energy(shop: Workshop) -> Finding:
    straight = {label: [springs(shop, N, label) for N in SEEN] for label in (1, -1)}
    tilted = {label: [springs(shop, N, label, **TILT) for N in SEEN[2:]] for label in (1, -1)}
    first, second = slope(SEEN, _middle(straight)), slope(SEEN[2:], _middle(tilted))
    passages = [*straight.items(), *tilted.items()]
    return Finding(
        computed="After the passage of a crossing the energy across the constraints, in the geometric mean over the "
        f"two branches, goes like N to the power {num(first, 3)} with gravity along the axis (N = 1e7 to 3e9), and "
        f"{num(second, 4)} where it is tilted (1e8 to 3e9).",
        comparisons=(
            as_printed("exponent, gravity along the axis", first, -1.0, tol=0.1),
            as_printed("exponent, tilted", second, -1.0, tol=0.1),
            as_corrected("exponent, gravity along the axis", first, -0.75, tol=0.04),
            as_corrected("exponent, tilted", second, -0.25, tol=0.02),
            sound("the label changes", all(p.label == -label for label, items in passages for p in items)),
        ),
        corrected="Where the constraints depend on each other at one point of the way: `N^(-1/4)`, and `N^(-3/4)` for "
        "the symmetric pendulum. In lengths of `N^(-1/4)` and times of the same size the springs obey "
        "`S'' = -S (S^2 - T^2) + delta`, which `S = T` solves for `delta = 0`; delta is of the order `N^(-1/4)`, or "
        "`N^(-1/2)` with the symmetry, the action left behind of the order `N^(-1/4) delta^2`, and the energy that "
        "times the frequency, `N^(1/2)`. It tends to nothing, so that an ideal motion is the limit.",
        residual=max(item.drift for _, items in passages for item in items),
        data={"symmetric": first, "tilted": second},
        pictures=(_energies(shop),),
    )


def _middle(passages: dict[int, list[PassageStudy]]) -> Any:
    """Return the geometric mean over the branches: corrections of the first order have opposite signs on them."""
    return np.sqrt(np.prod([[item.energy for item in items] for items in passages.values()], axis=0))


def _energies(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.6, 4.0))
        lines: tuple[Any, ...] = (
            ("crossing", {}, -1, FITTED, -0.75, SERIES[0]),
            ("crossing, tilted gravity", TILT, 1, FITTED, -0.25, SERIES[1]),
        )
        for name, changes, label, strengths, power, colour in lines:
            values = [springs(shop, N, label, **changes).energy for N in strengths]
            ax.loglog(strengths, values, "o", color=colour, markersize=4, label=name)
            ax.loglog(strengths, values[-1] * (np.array(strengths) / strengths[-1]) ** power, color=colour, lw=1)
            ax.annotate(f"$N^{{{power:g}}}$", (strengths[2], values[2]), (4, 6), textcoords="offset points")
        values = [springs(shop, N, 1, **TANGENCY).energy for N in TOUCHING[2:]]
        ax.loglog(TOUCHING[2:], values, "s--", color=SERIES[3], markersize=4, lw=1, label="tangency, came on branch +")
        ax.set_xlabel("stiffness N")
        ax.set_ylabel("energy across the constraints [J]")
        ax.legend(frameon=False)
        return figure

    return Picture(
        "energies",
        "Energy left in the oscillation across the constraints after the singular point. At a crossing it vanishes as "
        "the springs grow stiffer; at a tangency it doesn't, and the scaled problem below says what stays.",
        make,
    )


@claim(
    "002-joint-tangency",
    place="abstract; the constraints made by springs, at the tangency",
    statement="The pendulum always goes over to the other branch, also where the branches touch.",
    printed="the pendulum always goes from one branch to the other when it passes the singular point",
    recorded="corrected",
    systems=(PENDULUM,),
    errata=("burian2017-branches",),
)
def tangency(shop: Workshop) -> Finding:
    found = {label: [springs(shop, N, label, **TANGENCY) for N in TOUCHING] for label in (1, -1)}
    kept = {label: [item.label == label for item in items] for label, items in found.items()}
    switched = [N for N, same in zip(TOUCHING, kept[-1], strict=True) if not same]
    return Finding(
        computed=f"From the branch + it is kept for every N from {TOUCHING[2]:.0e}; from the branch - it still changes "
        f"at N = {', '.join(f'{N:.0e}' for N in switched)} and is kept at {TOUCHING[-1]:.0e}. The energy across is "
        f"{num(found[1][-1].energy, 2)} J and {num(found[-1][-1].energy, 2)} J there.",
        comparisons=(
            as_printed("the label changes for the stiffest springs", not any(items[-1] for items in kept.values())),
            as_corrected("kept for the stiffest springs, from both branches", all(k[-1] for k in kept.values())),
            as_corrected("from - it changes at finite N", len(switched) > 0),
            as_corrected("from + it is kept from N = 1e5 on", all(kept[1][2:])),
        ),
        corrected="Where the branches touch, stiff springs keep the label in the limit; at finite stiffness the other "
        "way may be taken.",
        residual=max(item.drift for items in found.values() for item in items),
        data={"kept": {str(label): values for label, values in kept.items()}, "strengths": list(TOUCHING)},
        pictures=(
            _ways(shop, "crossing", {}, STRENGTHS, "where branches cross: the sign always changes."),
            _ways(shop, "tangency", TANGENCY, TOUCHING, "where they touch: kept once the springs are stiff enough."),
        ),
    )


def _ways(shop: Workshop, name: str, changes: dict[str, float], strengths: tuple[float, ...], told: str) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((4.6, 3.4))
        for label, colour in ((1, SERIES[0]), (-1, SERIES[1])):
            ends = [springs(shop, N, label, **changes).angle for N in strengths]
            came = f"came on branch {'+' if label > 0 else '−'}"
            ax.semilogx(strengths, ends, "o-", color=colour, ms=4, lw=1, label=came)
        ax.axhline(0.0, color=QUIET, lw=0.8)
        ax.set_xlabel("stiffness N")
        ax.set_ylabel("angle CAB after the passage [rad]")
        ax.legend(frameon=False)
        return figure

    return Picture(f"ways-{name}", f"The branch taken over the stiffness, {told}", make)


@claim(
    "003-joint-stiffest",
    place="theorem, continued through a crossing with very stiff springs",
    statement="As N grows, the motion on springs tends to that of the ideal constraints, also through a crossing.",
    printed="the motions with the potential `N W` tend to the motion with constraints",
    recorded="confirmed",
    systems=(PENDULUM,),
    errata=("burian2017-branches",),
    profile="full",
)
def stiffest(shop: Workshop) -> Finding:
    system = shop.system(PENDULUM)
    state, params = shop.values(PENDULUM)
    names = list(system.constraints.names)
    strengths = (1e8, 1e9, 1e10, 1e11)
    by = Stiffness(weight=2)
    found = limit(
        system, names, state, params, by=by, until=1.2, strengths=strengths, workers=1, at_singular="straight"
    )
    coordinates = [item.name for item in system.coordinates]
    labels = [int(np.sign(angle_cab(dict(zip(coordinates, q[-1], strict=True))))) for q in found.q]
    order = found.orders["position"]
    return Finding(
        computed=f"N = 1e8 to 1e11: the label changes every time, and the positions tend to those of the ideal motion "
        f"continued straight through the point, with the exponent {num(order.value, 3)}.",
        comparisons=(
            as_printed("labels after the passage", labels, [-1] * len(strengths)),
            as_printed("it tends to the ideal motion", found.verdict.status.name, "CONVERGES"),
            sound("the distance falls", order.value < -0.5),
        ),
        residual=float(found.errors["position"][-1]),
        data={"strengths": list(strengths), "position": found.errors["position"]},
    )
