"""What the theorem of paper 003 leaves out: starts across the manifold, and constraints that depend on each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang import simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_printed, sound
from zwang.papers.paper_003.studies import FLOOR, PENDULUM, study
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

STRENGTHS = (1e4, 1e5, 1e6, 1e7)


@claim(
    "003-transversal-start",
    place="introduction, on the papers of Rubin and Ungar and of Takens",
    statement="A start with a velocity across the manifold is another case: the fast oscillation keeps its action, and "
    "the limit feels the spring's stiffness as an extra force.",
    printed="the passage to the limit is studied where the velocity is transversal to the manifold",
    recorded="confirmed",
    systems=(FLOOR,),
)
def transversal(shop: Workshop) -> Finding:
    x = shop.system(FLOOR).coordinates[0]
    found = study(shop, FLOOR, weight=(1 + x**2) ** 2, strengths=STRENGTHS, x=0.5, v_x=0.0, v_y=1.0)
    limit = found.limit
    end = float(limit.q[-1, 0]) if limit is not None else float("nan")
    closed = 0.5 * math.cos(math.sqrt(0.8))
    ideal = float(found.ideal_positions[-1, 0])
    return Finding(
        computed=f"`W = (1 + x^2)^2 y^2/2`, x = 0.5, speed 1 across: the realized motions tend to x(1) = {num(end)}, "
        f"the motion on the line without the extra force has x(1) = {num(ideal)}.",
        comparisons=(
            as_printed("it tends to another motion", found.verdict.status.name, "CONVERGES_ELSEWHERE"),
            sound("x(1) of x'' = -0.8 x", end, closed, tol=1e-5),
        ),
        data={"limit": end, "closed form": closed},
        pictures=(_fan(shop),),
    )


def _fan(shop: Workshop) -> Picture:
    def make() -> Any:
        x = shop.system(FLOOR).coordinates[0]
        found = study(shop, FLOOR, weight=(1 + x**2) ** 2, strengths=STRENGTHS, x=0.5, v_x=0.0, v_y=1.0)
        figure, ax = new_figure((5.6, 3.6))
        for k, strength in enumerate(found.strengths):
            ax.plot(found.t, found.q[k, :, 0], linewidth=1, label=f"N = {strength:.0e}")
        if found.limit is not None:
            ax.plot(found.limit.t, found.limit.q[:, 0], "k--", linewidth=1.4, label="limit with the extra force")
        ax.plot(found.t, found.ideal_positions[:, 0], ":", color="#6b7680", label="ideal motion")
        ax.set_xlabel("t [s]")
        ax.set_ylabel("x [m]")
        ax.legend(frameon=False)
        return figure

    return Picture(
        "fan", "Started across the line, the springs agree with each other and not with the ideal motion.", make
    )


@claim(
    "003-independence",
    place="section 2, condition on the differentials",
    statement="The theorem needs independent constraints; where they become dependent, its estimate of the velocity "
    "across them fails.",
    printed="the differentials of the `f_k` are linearly independent on the manifold",
    recorded="confirmed",
    systems=(PENDULUM,),
    new="energy across the constraints of order 1/N follows from (2.3); measured exponents lie above -1 at a crossing",
)
def independence(shop: Workshop) -> Finding:
    state, params = shop.values(PENDULUM)
    tilted = {**params, "tilt": 0.3}
    motion = simulate(shop.system(PENDULUM), state, tilted, until=1.2, at_singular="realize")
    (passed,) = motion.events.of("singular")
    strengths, energies = passed.details["strengths"], passed.details["oscillation_energies"]
    slope = float(np.polyfit(np.log(strengths[-3:]), np.log(energies[-3:]), 1)[0])
    return Finding(
        computed="Through the singular point of the pendulum (tilted gravity) the energy across the constraints goes "
        f"like N to the {num(slope, 2)}; by (2.3) it would be -1.",
        comparisons=(
            as_printed("the estimate fails without independence", slope > -0.8),
            sound("the way taken is the same for all N", len(set(passed.details["half_branches"])), 1),
        ),
        data={"strengths": list(strengths), "energies": list(energies)},
    )
