"""Figures 1 to 5 of paper 004, and what its text says of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from zwang import Viscosity, limit
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import CENTRE, SLEIGH, across, path, rubbed
from zwang.papers.paper_004.sleigh import flight
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure
from zwang.results import Motion


def _paths(name: str, caption: str, curves: Iterable[tuple[str, Motion]]) -> Picture:
    listed = list(curves)

    def make() -> Any:
        figure, ax = new_figure((5.2, 4.4))
        for place, (label, motion) in enumerate(listed):
            _, x, y = path(motion, 1500)
            ax.plot(x, y, color=SERIES[place % len(SERIES)], linewidth=1.4, label=label)
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("y [m]")
        ax.legend(frameon=False, fontsize=9)
        return figure

    return Picture(name, caption, make)


@claim(
    "004-figure-1",
    place="figure 1",
    statement="With equal friction on both sides the paths wind into a spiral and tend to the circle as it grows.",
    printed="trajectories for equal coefficients on both sides",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def figure_1(shop: Workshop) -> Finding:
    strengths = (0.1, 1.0, 10.0, 100.0, 1000.0)
    runs = [(f"N = k = {N:g}", rubbed(shop, N, N)) for N in strengths]
    offs = []
    for _, motion in runs:
        t, x, y = path(motion)
        offs.append(float(np.hypot(x - np.sin(t), y - 1 + np.cos(t)).max()))
    return Finding(
        computed=f"Largest distance to the circle's motion for N = k = 0.1 to 1000: {vec(offs, 3)}.",
        comparisons=(
            as_printed("it falls", bool((np.diff(offs) < 0).all())),
            as_printed("it tends to 0", offs[-1] < 0.02),
        ),
        pictures=(_paths("equal", "Equal friction on both sides: from a straight line to the circle.", runs),),
        data={"distances": offs},
    )


def _radii(motion: Motion, omega: float) -> tuple[float, float]:
    """Return speed over omega, the radius of the circle, when the flight ends and at the end of the motion."""
    t = np.linspace(motion.t[0], motion.t[-1], 4001)
    states = motion.at(t[[np.flatnonzero(across(motion) <= 0)[1], -1]])
    caught, last = np.hypot(states["v_x"], states["v_y"]) / omega
    return float(caught), float(last)


@claim(
    "004-figure-2",
    place="section 4 and figure 2, N = 5000, k = 0.1",
    statement="Strong friction on one side and weak friction on the other: a straight flight and then a circle of the "
    "ideal radius; three times the angular velocity makes a third of the radius.",
    printed="`N = 5000`, `k = 0.1`: the radius agrees with the theoretical one; radii differ as many times as the "
    "angular velocities",
    recorded="corrected",
    systems=(SLEIGH,),
    new="the flight on the weak side loses speed, which the ideal sleigh doesn't: computed for three directions and "
    "three k",
)
def figure_2(shop: Workshop) -> Finding:
    deltas, weak = (1.0, 2.2, 3.0), (0.1, 0.01, 0.0)
    runs, radii, last, residual = [], {}, {}, 0.0
    for k in weak:
        for delta in deltas:
            for omega in (1.0, 3.0):
                motion = rubbed(shop, 5000.0, k, **flight(delta, omega))
                radii[k, delta, omega], last[k, delta, omega] = _radii(motion, omega)
                residual = max(residual, float(motion.residual))
                if k == weak[0] and delta in deltas[1:]:
                    runs.append((f"angle {delta:g}, omega = {omega:g}", motion))
    ratios = {k: [radii[k, delta, 1.0] / radii[k, delta, 3.0] for delta in deltas] for k in weak}
    late = [last[weak[0], delta, 1.0] / last[weak[0], delta, 3.0] for delta in deltas]
    # On the circle the strong friction lets the speed fall at the rate omega^2/N: by 0.2 % and by 1.7 %.
    slower = [last[0.0, 1.0, omega] / radii[0.0, 1.0, omega] for omega in (1.0, 3.0)]
    lost = [math.exp(-(omega**2) * (10.0 - 1.0 / omega) / 5000.0) for omega in (1.0, 3.0)]
    short = {k: [1 - radii[k, delta, 1.0] for delta in deltas] for k in weak}
    return Finding(
        computed=f"Velocity at 1, 2.2 and 3 rad from the blade, k = 0.1: where the flight ends the radius is short of "
        f"V/omega by {vec([100 * item for item in short[0.1]], 3)} %, and the ratio of the radii for omega = 1 and 3 "
        f"is {vec(ratios[0.1], 4)}, at t = 10 {vec(late, 4)}; for k = 0.01 {vec(ratios[0.01], 4)}, for k = 0 "
        f"{vec(ratios[0.0], 4)}.",
        comparisons=(
            as_printed("ratios of the radii", ratios[0.1], [3.0] * 3, tol=0.01),
            as_printed("ratios of the radii at t = 10", late, [3.0] * 3, tol=0.01),
            as_printed("radius V/omega", [1 - item for item in short[0.1]], [1.0] * 3, tol=0.01),
            as_corrected("ratios for k = 0", ratios[0.0], [3.0] * 3, tol=0.005),
            as_corrected("radius for k = 0", [1 - item for item in short[0.0]], [1.0] * 3, tol=0.002),
            as_corrected(
                "the loss of the longest flight is proportional to k", short[0.1][2] / short[0.01][2], 10.0, tol=0.15
            ),
            as_corrected("and up to 15 % at k = 0.1", 0.13 < short[0.1][2] < 0.16),
            sound("on the circle the speed falls like exp(-omega^2 t/N)", slower, lost, tol=1e-4),
        ),
        corrected="As k tends to 0. With k = 0.1 the sleigh loses speed in its flight: the radius is up to 15 % below "
        "V/omega, and three times the angular velocity makes it 2.70 to 2.95 times smaller where the flight ends, and "
        "2.74 to 2.995 times at t = 10, as N = 5000 slows the faster turn by 1.7 %.",
        residual=residual,
        data={"ratios": ratios[0.1], "short": short[0.1]},
        pictures=(_paths("starts", "Different starts: flight along a line, then the circle.", runs),),
    )


@claim(
    "004-figure-3",
    place="section 4 and figure 3",
    statement="With other signs of the initial velocities the path turns off elsewhere, and the way that the sleigh "
    "goes straight is shorter.",
    printed="varying the signs of the initial projections one sees how the path deviates and the straight distance "
    "shrinks",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def figure_3(shop: Workshop) -> Finding:
    # The longest flight begins at 2.2 rad from the blade: along it backwards, across it to the permitted side.
    delta, straight, ends, runs = 2.2, {}, {}, []
    for along, over in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        start = flight(delta, 1.0)
        start |= {"v_x": start["v_x"] * along, "v_y": start["v_y"] * over}
        motion = rubbed(shop, 5000.0, 0.0, **start)
        t = np.linspace(0.0, motion.t[-1], 4001)
        left = np.flatnonzero(across(motion) <= 0)
        caught = t[left[0]] if over > 0 else 0.0
        straight[along, over] = float(caught)  # the speed is 1
        ends[along, over] = (motion.end["x"], motion.end["y"])
        runs.append((f"{'+' if along > 0 else '−'} along, {'+' if over > 0 else '−'} across", motion))
    apart = min(math.dist(ends[1, 1], ends[key]) for key in ends if key != (1, 1))
    return Finding(
        computed=f"From 2.2 rad the sleigh goes straight for {num(straight[1, 1], 3)} m; with the velocity along the "
        f"blade reversed for {num(straight[-1, 1], 3)} m, with that across it reversed not at all. The paths end at "
        f"least {num(apart, 2)} m apart.",
        comparisons=(
            as_printed("straight ways with other signs are shorter", max(list(straight.values())[1:]) < straight[1, 1]),
            as_printed("the paths end elsewhere", apart > 0.1),
            sound(
                "closed form: delta and pi - delta", [straight[1, 1], straight[-1, 1]], [2.2, math.pi - 2.2], tol=0.01
            ),
        ),
        residual=max(float(motion.residual) for _, motion in runs),
        pictures=(_paths("signs", "The four signs of one initial velocity.", runs),),
        data={"straight": list(straight.values())},
    )


@claim(
    "004-figure-4",
    place="figure 4",
    statement="Turning the blade by half a turn at the start gives the mirror image of the path.",
    printed="mirror deviation when the angle changes by pi",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-20",),
)
def figure_4(shop: Workshop) -> Finding:
    one = rubbed(shop, 5000.0, 0.0, **flight(1.0, 1.0))
    turned = {**flight(1.0, 1.0), "phi": math.pi}
    turned |= {"v_x": -turned["v_x"], "v_y": -turned["v_y"]}
    two = rubbed(shop, 5000.0, 0.0, **turned)
    (_, x, y), (_, a, b) = path(one, 801), path(two, 801)
    rotated = float(np.hypot(x + a, y + b).max())
    mirrored = min(float(np.hypot(x - a, y + b).max()), float(np.hypot(x + a, y - b).max()))
    return Finding(
        computed=f"With the same velocity in the frame of the body the second path is the first one turned by pi to "
        f"{num(rotated, 1)}; from its mirror images it is {num(mirrored, 3)} away.",
        comparisons=(
            as_printed("it is a mirror image", mirrored, 0.0, tol=1e-6),
            as_corrected("it is turned by pi", rotated, 0.0, tol=1e-6),
        ),
        corrected="A rotation by pi, for the same velocity in the frame of the body.",
        pictures=(_paths("angles", "The blade turned by pi at the start.", [("phi = 0", one), ("phi = pi", two)]),),
    )


@claim(
    "004-figure-5",
    place="figure 5",
    statement="As N grows with k = 0.1 the path tends to the circle.",
    printed="trajectories for growing N, k = 0.1",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def figure_5(shop: Workshop) -> Finding:
    strengths = (0.1, 1.0, 10.0, 100.0, 5000.0)
    runs = [(f"N = {N:g}", rubbed(shop, N, 0.1)) for N in strengths]
    offs = []
    for _, motion in runs:
        t, x, y = path(motion)
        offs.append(float(np.hypot(x - np.sin(t), y - 1 + np.cos(t)).max()))
    return Finding(
        computed=f"Largest distance to the circle's motion: {vec(offs, 3)}.",
        comparisons=(
            as_printed("it falls from N = 1 on", bool((np.diff(offs[1:]) < 0).all())),
            as_printed("times N at the last", offs[-1] * strengths[-1], 11.68, tol=0.01),
        ),
        residual=max(float(motion.residual) for _, motion in runs),
        pictures=(_paths("growing", "Growing friction on the forbidden side.", runs),),
    )


@claim(
    "004-spiral-centre",
    place="section 4, on the spirals",
    statement="For finite N the sleigh spirals into the centre of the ideal circle.",
    printed="a spiral that tends to the centre of the ideal circle",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-16",),
)
def spiral_centre(shop: Workshop) -> Finding:
    ends = []
    for N, until in ((10.0, 260.0), (20.0, 520.0)):
        end = rubbed(shop, N, 0.0, until=until, tol=1e-9).end
        ends.append((end["x"], end["y"] - CENTRE[1], N))
    limits = [math.hypot(x, y) * N for x, y, N in ends]
    return Finding(
        computed="N = 10 and 20: the end point is off the ideal centre by "
        f"{vec([v / N for v, (_, _, N) in zip(limits, ends, strict=True)], 5)}, which is 2 m V/N.",
        comparisons=(
            as_printed("distance from the ideal centre", limits[0] / 10, 0.0, tol=1e-3),
            as_corrected("distance times N", limits, (2.0, 2.0), tol=1e-4),
        ),
        corrected="The limit point lies at the distance `2 m V/N` from the centre of the ideal circle.",
    )


@claim(
    "004-small-k",
    place="section 4, k = 0.1",
    statement="A small fixed friction on the permitted side realizes the one-sided constraint.",
    printed="`k = 0.1`, N large",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-17",),
)
def small_k(shop: Workshop) -> Finding:
    state, params = shop.values(SLEIGH)
    strengths = (1e2, 1e3, 1e4, 1e5)
    floors = []
    for weak in (0.1, 0.01):
        found = limit(
            shop.system(SLEIGH), "blade", state, params, by=Viscosity(other_side=weak), until=3.0, strengths=strengths,
            workers=1,
        )  # fmt: skip
        floors.append(float(found.errors["position"][-1]))
    clean = limit(shop.system(SLEIGH), "blade", state, params, by=Viscosity, until=3.0, strengths=strengths, workers=1)
    return Finding(
        computed=f"From a flight, at N = 100000: distance {num(floors[0], 3)} for k = 0.1, {num(floors[1], 3)} for k = "
        f"0.01, {num(clean.errors['position'][-1], 2)} for k = 0.",
        comparisons=(
            as_printed("k = 0.1 converges", floors[0], 0.0, tol=1e-3),
            as_corrected("the error that stays is proportional to k", floors[0] / floors[1], 10.0, tol=0.1),
            as_corrected("k = 0 converges", float(clean.errors["position"][-1]), 0.0, tol=1e-3),
        ),
        residual=float(np.max(clean.residual)),
        corrected="k has to tend to 0 as well: with a flight the error stays of order k as N grows.",
    )


@claim(
    "004-threshold",
    place="section 4, starting from N = 10",
    statement="From N = 10 on the path is a spiral.",
    printed="beginning with `N = 10` the sleigh winds from the start",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-18",),
)
def threshold(shop: Workshop) -> Finding:
    signs = {N: bool((across(rubbed(shop, N, 0.0, until=30.0)) > 1e-9).any()) for N in (1.9, 2.1, 9.0)}
    return Finding(
        computed="The velocity across the blade changes its sign at N = 1.9: "
        f"{signs[1.9]}; at N = 2.1: {signs[2.1]}; at N = 9: {signs[9.0]}.",
        comparisons=(
            as_printed("below N = 10 the other side is visited", signs[9.0]),
            as_corrected("at N = 1.9 it is", signs[1.9]),
            as_corrected("at N = 2.1 it is not", not signs[2.1]),
            sound("three strengths", len(signs), 3),
        ),
        corrected="The threshold is `N = 2 m omega`, critical damping of `v'' + (N/m) v' + omega^2 v = 0`.",
    )
