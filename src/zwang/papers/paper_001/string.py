"""Example 4 of paper 001: two weights on a string that rubs on the bar it hangs over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.pictures import counts_figure
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop

STRING = "atwood"


def _weights(chi: Any) -> dict[str, Any]:
    """Return masses with m1 + m2 = 2 and (m1 - m2)/(m1 + m2) = chi."""
    return {"m1": 1.0 + chi, "m2": 1.0 - chi, "g": 1.0}


def _sliding(direction: float) -> dict[str, float]:
    return {"v_q1": direction, "v_q2": -direction}


@claim(
    "001-ex4-no-friction",
    place="example 4, (3.6)",
    statement="Without friction the variational inequality for the tension gives the tension of example 1, and zero "
    "where the string is slack.",
    printed="(3.6) holds for all `N' >= 0` at N of (1.12) if `gamma < 2 g`, at `N = 0` if `gamma > 2 g`",
    recorded="confirmed",
    systems=("atwood_changing_length",),
)
def no_friction(shop: Workshop) -> Finding:
    rng, least, worst, count = shop.rng(60), 0.0, 0.0, 40
    for m1, m2, gamma in zip(*rng.uniform(0.3, 4.0, size=(2, count)), rng.uniform(-6, 6, size=count), strict=True):
        found = shop.ask("atwood_changing_length", m1=m1, m2=m2, g=1.0, gamma=gamma)
        N = float(found.solutions[0].normal[0])
        beta = m1 * m2 * gamma / (m1 + m2)
        slope = -(m1 - N - beta) / m1 - (m2 - N - beta) / m2
        least = min(least, *(slope * (other - N) for other in (0.0, 0.5 * N, 2 * N + 1, 100.0)))
        worst = max(worst, abs(N - max(m1 * m2 * (2 - gamma) / (m1 + m2), 0.0)))
    return Finding(
        computed=f"{count} random strings, taut and slack: the inequality is never below {num(least, 1)}, the tension "
        f"meets the closed form to {num(worst, 1)}.",
        comparisons=(
            as_printed("least value of (3.6)", least, 0.0, tol=1e-10),
            as_printed("tension", worst, 0.0),
        ),
    )


@claim(
    "001-ex4-sliding",
    place="example 4, (3.9)",
    statement="A string that slides has a tension that friction changes by the factor `1 + 2 mu chi`.",
    printed="`N (1 + 2 mu chi) = 2 g m1 m2/(m1 + m2)`, `chi = (m1 - m2)/(m1 + m2)`",
    recorded="confirmed",
    systems=(STRING,),
)
def sliding(shop: Workshop) -> Finding:
    rng, worst, residual, count = shop.rng(61), 0.0, 0.0, 60
    for chi, mu in zip(rng.uniform(-0.95, 0.95, size=count), rng.uniform(0, 0.5, size=count), strict=True):
        for direction in (-1.0, 1.0):
            found = shop.ask(STRING, mu=float(mu), **_weights(float(chi)), **_sliding(direction))
            N = found.solutions[0].normal[0]
            expected = (1 - chi**2) / (1 - direction * 2 * mu * chi)  # 2 m1 m2/(m1 + m2) = 1 - chi^2
            worst = max(worst, abs(N - expected) / expected)
            residual = max(residual, found.residual)
    return Finding(
        computed=f"{count} random pairs of weights, both directions of sliding: the tension meets the formula "
        f"(mirrored for `q1' > 0`) to {num(worst, 1)}.",
        comparisons=(as_printed("tension, relative", worst, 0.0),),
        residual=residual,
    )


@claim(
    "001-ex4-solvability",
    place="example 4, (3.10)",
    statement="A sliding string has exactly one motion for both directions if `2 mu |chi| < 1`; otherwise one "
    "direction is impossible.",
    printed="`2 mu |chi| < 1`",
    recorded="confirmed",
    systems=(STRING,),
)
def solvability(shop: Workshop) -> Finding:
    size = 81
    chi, mu = np.linspace(-0.985, 0.985, size), np.linspace(0.0123, 1.5, size)[:, None]
    maps = {d: shop.ask(STRING, mu=mu, **_weights(chi), **_sliding(d)) for d in (-1.0, 1.0)}
    expected = {d: np.where(1 - d * 2 * mu * chi > 0, 1, 0) for d in (-1.0, 1.0)}
    wrong = sum(int((maps[d].counts != expected[d]).sum()) for d in maps)

    def draw() -> Any:
        return counts_figure(maps[-1.0], (2 * mu[:, 0], chi), ("2 μ", "χ, how much heavier the first weight is"))

    return Finding(
        computed=f"{2 * size**2} states on a grid: {share(wrong, 2 * size**2)} disagree; "
        f"{int((maps[-1.0].counts == 0).sum())} have no solution while the first weight rises.",
        comparisons=(as_printed("states that disagree", wrong, 0),),
        residual=max(item.residual for item in maps.values()),
        pictures=(
            Picture(
                "string-map",
                "Number of solutions while the first weight rises, over the weights and the friction. With the paper's "
                "law a light first weight on a rough bar has none.",
                draw,
            ),
        ),
    )


@claim(
    "001-ex4-held",
    place="example 4, (3.11) to (3.13)",
    statement="A string at rest holds the weights if `|chi| <= 2 mu`, with `T = -chi N` and a tension of half the "
    "weight.",
    printed="`|chi| <= 2 mu`: `N = g (m1 + m2)/2`, `w = 0`",
    recorded="confirmed",
    systems=(STRING,),
)
def held(shop: Workshop) -> Finding:
    rng, wrong, worst, count = shop.rng(62), 0, 0.0, shop.many(100, 1000)
    for chi, mu in zip(rng.uniform(-0.95, 0.95, size=count), rng.uniform(0, 0.6, size=count), strict=True):
        found = shop.ask(STRING, mu=float(mu), **_weights(float(chi)))
        still = bool(np.abs(found.accelerations[0]).max() < 1e-9)
        wrong += still != (abs(chi) <= 2 * mu)
        if still:
            N, T = found.solutions[0].normal[0], found.solutions[0].tangential[0]
            worst = max(worst, abs(N - 1.0), abs(T + chi * N))
    return Finding(
        computed=f"{count} random pairs of weights at rest: {wrong} disagree with (3.12); N and T meet (3.13) and "
        f"(3.11) to {num(worst, 1)}.",
        comparisons=(as_printed("disagreements", wrong, 0), as_printed("N and T", worst, 0.0)),
    )


def _begins(shop: Workshop, chi: float, mu: float) -> tuple[float, float, Any]:
    """Return the acceleration of the first weight, T/(mu N) and the reactions of a string at rest; g = 1."""
    found = shop.ask(STRING, mu=mu, **_weights(chi))
    solution = found.solutions[0]
    return float(solution.acceleration[0]), float(solution.tangential[0] / (2 * mu * solution.normal[0])), found


@claim(
    "001-ex4-lighter",
    place="example 4, chi < -2 mu",
    statement="If the first weight is much lighter, the string begins to slip with a friction and an acceleration in "
    "closed form.",
    printed="`T = -2 mu N`, `w1 = (2 mu + 1) chi/(1 + 2 mu chi)`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-18",),
)
def lighter(shop: Workshop) -> Finding:
    mu = 0.125
    chis = np.linspace(-0.95, -0.3, 9)
    told = [_begins(shop, float(chi), mu) for chi in chis]
    w = np.array([item[0] for item in told])
    one = _begins(shop, -0.5, mu)
    return Finding(
        computed=f"Masses (1, 3), 2 mu = 1/4, g = 1: w1 = {num(one[0])} and T = {num(one[1])} times 2 mu N; printed "
        f"are {num(1.25 * -0.5 / 0.875)} and -1.",
        comparisons=(
            as_printed("w1/g", w, 1.25 * chis / (1 + 0.25 * chis)),
            as_printed("T/(2 mu N)", [item[1] for item in told], [-1.0] * 9),
            as_corrected("w1/g", w, (chis + 0.25) / (1 + 0.25 * chis)),
            as_corrected("T/(2 mu N)", [item[1] for item in told], [1.0] * 9),
            sound("w1 for masses (1, 3)", one[0], -2 / 7),
        ),
        corrected="`T = 2 mu N`, `w1 = g (chi + 2 mu)/(1 + 2 mu chi)`: the weight rises and friction acts against it.",
        residual=max(item[2].residual for item in told),
    )


@claim(
    "001-ex4-heavier",
    place="example 4, chi > 2 mu",
    statement="If the first weight is much heavier, the string begins to slip the other way.",
    printed="`T = 2 mu N`, `w1 = (1 - 2 mu) chi/(1 - 2 mu chi)`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-19",),
)
def heavier(shop: Workshop) -> Finding:
    mu = 0.125
    chis = np.linspace(0.3, 0.95, 9)
    told = [_begins(shop, float(chi), mu) for chi in chis]
    w = np.array([item[0] for item in told])
    one = _begins(shop, 0.5, mu)
    return Finding(
        computed=f"Masses (3, 1), 2 mu = 1/4, g = 1: w1 = {num(one[0])} and T = {num(one[1])} times 2 mu N; printed "
        f"are {num(0.75 * 0.5 / 0.875)} and 1.",
        comparisons=(
            as_printed("w1/g", w, 0.75 * chis / (1 - 0.25 * chis)),
            as_printed("T/(2 mu N)", [item[1] for item in told], [1.0] * 9),
            as_corrected("w1/g", w, (chis - 0.25) / (1 - 0.25 * chis)),
            as_corrected("T/(2 mu N)", [item[1] for item in told], [-1.0] * 9),
            sound("w1 for masses (3, 1)", one[0], 2 / 7),
        ),
        corrected="`T = -2 mu N`, `w1 = g (chi - 2 mu)/(1 - 2 mu chi)`.",
        residual=max(item[2].residual for item in told),
    )


@claim(
    "001-ex4-unique-at-rest",
    place="example 4, last line",
    statement="A string at rest has exactly one motion, whatever the weights and the friction.",
    printed="at zero sliding velocity the motion is determined uniquely",
    recorded="confirmed",
    systems=(STRING,),
)
def unique_at_rest(shop: Workshop) -> Finding:
    size = shop.many(61, 301)
    chi, mu = np.linspace(-0.985, 0.985, size), np.linspace(0.0123, 3.0, size)[:, None]
    found = shop.ask(STRING, mu=mu, **_weights(chi))
    others = int((found.counts != 1).sum())
    return Finding(
        computed=f"{size**2} states on a grid up to 2 mu = 6, far beyond (3.10): {others} have another number than "
        f"one.",
        comparisons=(as_printed("states without exactly one motion", others, 0),),
        residual=found.residual,
    )


@claim(
    "001-ex4-model",
    place="example 4, (3.7) and (3.10)",
    statement="The friction of the string on the bar is `|T| <= 2 mu N`, and for `2 mu |chi| >= 1` the string shows a "
    "paradox like Painlevé's.",
    printed="`|T| <= 2 mu N`; no motion for one direction if `2 mu |chi| >= 1`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-20",),
)
def model(shop: Workshop) -> Finding:
    # The legs of the string carry N - T and N + T.
    found = shop.ask(STRING, m1=1.0, m2=9.0, g=1.0, mu=0.75, **_sliding(1.0))
    N, T = float(found.solutions[0].normal[0]), float(found.solutions[0].tangential[0])
    legs = (N - T, N + T)
    size = 81
    chi, mu = np.linspace(-0.985, 0.985, size), np.linspace(0.0123, 1.5, size)[:, None]
    paradox = shop.ask(STRING, mu=mu, **_weights(chi), **_sliding(-1.0)).counts == 0
    least = float(np.broadcast_to(2 * mu, paradox.shape)[paradox].min())
    # A string that only pulls, wound half way round a bar (capstan): T/N = tanh(mu pi/2).
    capstan = np.tanh(mu * math.pi / 2) / 2
    ways = [shop.ask(STRING, mu=capstan, **_weights(chi), **_sliding(d)).counts for d in (-1.0, 1.0)]
    lost = sum(int((counts != 1).sum()) for counts in ways)
    return Finding(
        computed=f"Masses (1, 9), 2 mu = 1.5, the first weight falling: N = {num(N, 4)}, T = {num(T, 4)}, so the legs "
        f"carry {num(legs[0], 4)} and {num(legs[1], 4)}. On a grid, states without a motion begin at 2 mu = "
        f"{num(least, 3)}. With the capstan law {share(lost, 2 * size**2)} states have no motion or several.",
        comparisons=(
            as_printed("both legs of the string pull", bool(min(legs) >= 0)),
            as_corrected("a paradox needs 2 mu > 1, where a leg would push", bool(least > 1)),
            as_corrected("capstan law: states without exactly one motion", lost, 0),
            sound("the string has a solution there", found.status.name, "UNIQUE"),
        ),
        corrected="Beyond 2 mu = 1 one leg of the string would have to push, `N - |T| < 0`, so the paradox is outside "
        "the model: a string only pulls. With the capstan law `T/N = tanh(mu pi/2) < 1` there is no paradox.",
        residual=found.residual,
        data={"legs": legs, "least 2 mu": least, "mass": vec((1, 9))},
    )
