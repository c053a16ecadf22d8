"""The example of paper 003: a unit mass on the line y = 0 under the force (y, 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang import Stiffness, realize, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_003.studies import FLOOR, ORDER_TOLERANCE, study
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure
from zwang.results import Motion

N = 1.0e4  # the strength of the example


def _elastic(shop: Workshop, strength: float = N, **changes: float) -> Motion:
    soft = realize(shop.system(FLOOR), "floor", by=Stiffness(strength))
    state, params = shop.values(FLOOR, **changes)
    found = simulate(soft, state, params, until=1.0, tol=1e-12)
    assert isinstance(found, Motion)
    return found


def _over_force(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((6.0, 3.4))
        study(shop, FLOOR).plot("force", strength=2, ax=ax)
        return figure

    return Picture("force", "The force of the spring, its mean in short intervals, and the reaction it tends to.", make)


@claim(
    "003-ex-reaction",
    place="example",
    statement="The line has to push with a constant force to hold the mass.",
    printed="`R = -1`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def reaction(shop: Workshop) -> Finding:
    found = shop.ask(FLOOR)
    force = float(found.solutions[0].normal[0])
    return Finding(
        computed=f"Reaction {num(force)}, acceleration {num(np.abs(found.accelerations).max())}.",
        comparisons=(as_printed("reaction", force, -1.0),),
        residual=float(found.residual),
    )


@claim(
    "003-ex-deflection",
    place="example",
    statement="With a spring in place of the line the mass oscillates about 1/N.",
    printed="`y_N(t) = (1 - cos(N^(1/2) t))/N`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def deflection(shop: Workshop) -> Finding:
    motion = _elastic(shop)
    t = np.linspace(0.0, 1.0, 400)
    y = motion.at(t)["y"]
    closed = (1 - np.cos(np.sqrt(N) * t)) / N
    error = float(np.abs(y - closed).max() * N)
    return Finding(
        computed=f"N = {num(N)}: the simulated y follows the formula to {num(error, 1)} of 1/N.",
        comparisons=(as_printed("N y", N * y, N * closed, tol=1e-7),),
        residual=error,
    )


@claim(
    "003-ex-orders",
    place="example, at a fixed time",
    statement="The deflection is of order 1/N and its rate of order N^-1/2.",
    printed="`y_N = O(N^-1)`, `y_N' = O(N^(-1/2))`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def orders(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    values = (found.orders["position"].value, found.orders["normal velocity"].value)
    return Finding(
        computed=f"Fitted exponents {num(values[0], 4)} and {num(values[1], 4)}.",
        comparisons=(
            as_printed("order of y", values[0], -1.0, tol=ORDER_TOLERANCE),
            as_printed("order of y'", values[1], -0.5, tol=2 * ORDER_TOLERANCE),
        ),
        residual=float(np.max(found.residual)),
    )


@claim(
    "003-ex-force",
    place="example",
    statement="The force of the spring oscillates with the frequency N^1/2 about the reaction and does not converge.",
    printed="`-N y_N = cos(N^(1/2) t) - 1`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def force(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    low, high = found.lowest["floor"], found.highest["floor"]
    top = len(found.strengths) - 1
    spread = (float(low[top].min()), float(high[top].max()))
    exponent = float(found.orders["force"].value) if "force" in found.orders else float("nan")
    return Finding(
        computed=f"At N = {num(found.strengths[top])} the force runs from {num(spread[0], 5)} to {num(spread[1], 5)}; "
        f"its largest distance from the reaction goes like N to the {num(exponent, 2)}.",
        comparisons=(
            as_printed("least force", spread[0], -2.0, tol=1e-3),
            as_printed("greatest force", spread[1], 0.0, tol=1e-3),
            as_printed("exponent of the distance", exponent, 0.0, tol=ORDER_TOLERANCE),
        ),
        pictures=(_over_force(shop),),
    )


@claim(
    "003-weak-limit",
    place="section 2, after the remark",
    statement="Averaged over a short time, the elastic force tends to the reaction when first N grows and then the "
    "time shrinks.",
    printed="lim lim of the mean of `N dW/dr` is `-R_inf`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def weak_limit(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    inside = slice(len(found.t) // 10, -len(found.t) // 10)
    off = float(np.abs(found.mean_force["floor"] - found.ideal_force["floor"])[inside].max())
    return Finding(
        computed=f"At the largest N the moving average differs from the reaction by at most {num(off, 2)}.",
        comparisons=(
            as_printed("mean force", found.mean_force["floor"][inside], found.ideal_force["floor"][inside], tol=1e-2),
        ),
        residual=float(np.max(found.residual)),
    )


@claim(
    "003-limits-do-not-commute",
    place="section 2, after the remark",
    statement="At a fixed instant the elastic force has no limit as N grows.",
    printed="the limits over t and N can't be exchanged in general",
    recorded="confirmed",
    systems=(FLOOR,),
)
def limits_do_not_commute(shop: Workshop) -> Finding:
    # From closed form of the oscillation at t = 1 the force takes all values of cos(sqrt N) - 1: ask for some N.
    values = []
    for strength in np.linspace(1.0e4, 1.06e4, 7):
        motion = _elastic(shop, float(strength))
        values.append(-strength * motion.end["y"])
    spread = float(np.ptp(values))
    return Finding(
        computed=f"At t = 1, N from 10000 to 10600: the force takes values from {num(min(values), 4)} to "
        f"{num(max(values), 4)}.",
        comparisons=(as_printed("the values spread over more than one", spread > 1.0),),
        data={"forces": values},
    )


@claim(
    "003-ex-equation",
    place="example, last lines",
    statement="Along the line the mass is driven by its deflection.",
    printed="`x_N' = y_N`",
    recorded="corrected",
    systems=(FLOOR,),
    errata=("kozlov-2",),
)
def equation(shop: Workshop) -> Finding:
    motion = _elastic(shop, v_x=0.0)
    y = motion.q[:, 1]
    size = float(np.abs(y).max())
    first = float(np.abs(motion.v[:, 0] - y).max() / size)
    second = float(np.abs(motion.a[:, 0] - y).max() / size)
    return Finding(
        computed=f"In the elastic motion x' differs from y by {num(100 * first, 3)} % of its size, x'' by "
        f"{num(100 * second, 1)} %.",
        comparisons=(as_printed("x' = y", first, 0.0), as_corrected("x'' = y", second, 0.0)),
        corrected="`x_N'' = y_N`",
    )


@claim(
    "003-ex-along",
    place="example, last lines",
    statement="The position along the line is off by order 1/N.",
    printed="`x_N - x_inf = O(N^-1)`",
    recorded="confirmed",
    systems=(FLOOR,),
)
def along(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    off = np.abs(found.q[:, :, 0] - found.ideal_positions[:, 0]).max(axis=1)
    slope = float(np.polyfit(np.log(found.strengths[1:5]), np.log(off[1:5]), 1)[0])
    return Finding(
        computed=f"Fitted exponent {num(slope, 4)}.",
        comparisons=(as_printed("exponent", slope, -1.0, tol=ORDER_TOLERANCE),),
        residual=float(np.max(found.residual)),
    )


@claim(
    "003-ex-speed-along",
    place="example, last lines",
    statement="The velocity along the line is off by order N^-1/2.",
    printed="`x_N' - x_inf' = O(N^(-1/2))`",
    recorded="corrected",
    systems=(FLOOR,),
    errata=("kozlov-3",),
)
def speed_along(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    order = found.orders["tangential velocity"].value
    motion = _elastic(shop)
    t = np.linspace(0.0, 1.0, 200)
    state = motion.at(t)
    exact = t / N - np.sin(np.sqrt(N) * t) / N**1.5
    start = shop.values(FLOOR)[0]["v_x"]
    error = float(np.abs(state["v_x"] - start - exact).max() * N)
    return Finding(
        computed=f"Fitted exponent {num(order, 4)}; at N = {num(N)} the difference is `t/N - N^(-3/2) sin(N^(1/2) t)` "
        f"to {num(error, 1)} of 1/N.",
        comparisons=(
            as_printed("exponent", order, -0.5, tol=2 * ORDER_TOLERANCE),
            as_corrected("exponent", order, -1.0, tol=ORDER_TOLERANCE),
            sound("closed form", N * (state["v_x"] - start), N * exact, tol=1e-6),
        ),
        residual=max(error, float(np.max(found.residual))),
        corrected="`x_N' - x_inf' = O(N^-1)`, exactly `t/N - N^(-3/2) sin(N^(1/2) t)`",
    )


@claim(
    "003-sharp",
    place="example, last sentence",
    statement="The estimates can't be improved: in the example each error is exactly of its order.",
    printed="the example shows that (2.1) to (2.3) can't be improved",
    recorded="confirmed",
    systems=(FLOOR,),
)
def sharp(shop: Workshop) -> Finding:
    found = study(shop, FLOOR)
    scaled = {
        "position": found.errors["position"] * found.strengths,
        "velocity": found.errors["velocity"] * found.strengths**0.5,
        "tangential velocity": found.errors["tangential velocity"] * found.strengths,
        "integral": found.errors["integral"] * found.strengths**0.5,
    }
    used = slice(2, 6)
    low = {name: float(values[used].min()) for name, values in scaled.items()}
    words = ", ".join(f"{name} {num(value, 3)}" for name, value in low.items())
    return Finding(
        computed=f"Errors times their power of N stay above a constant: {words}.",
        comparisons=tuple(as_printed(f"{name} is not smaller", value > 0.1) for name, value in low.items()),
        data=low,
    )
