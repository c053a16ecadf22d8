"""What the theorem of paper 003 leaves out: starts across the manifold, and constraints that depend on each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_printed, sound
from zwang.papers.joint.passages import TILT, slope, springs
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
    new="energy across the constraints of order 1/N follows from (2.3); at a crossing the exponent is -1/4, by scaling "
    "and measured",
)
def independence(shop: Workshop) -> Finding:
    strengths = (1e8, 3e8, 1e9, 3e9)
    found = {label: [springs(shop, N, label, **TILT) for N in strengths] for label in (1, -1)}
    # Corrections of the first order have opposite signs on the two branches: the geometric mean is free of them.
    energies = np.sqrt(np.prod([[item.energy for item in items] for items in found.values()], axis=0))
    power = slope(strengths, energies)
    return Finding(
        computed="Through the singular point of the pendulum (tilted gravity, N = 1e8 to 3e9) the energy across the "
        f"constraints goes like N to the {num(power, 4)}; by (2.3) it would be -1, by the scaling of the springs at a "
        "crossing -1/4.",
        comparisons=(
            as_printed("the estimate fails without independence", power > -0.5),
            sound("exponent -1/4 of the scaled problem", power, -0.25, tol=0.02),
            sound("every passage changes the branch", all(p.label == -k for k, items in found.items() for p in items)),
        ),
        residual=max(item.drift for items in found.values() for item in items),
        data={"strengths": list(strengths), "energies": energies},
    )
