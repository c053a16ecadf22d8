"""Section 3 of paper 003: the steps of the proof, and how general the theorem is."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from zwang import Bilateral, Stiffness, System, coordinates, limit, realize, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_003.studies import FLOOR, ORDER_TOLERANCE, three
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.results import LimitStudy, Motion

STRENGTHS = (1e4, 1e5, 1e6, 1e7)
ACROSS, OTHERS = -0.5, -1.0
THRUST = 2  # of the velocity in the force: it tells + h q' from - h q'


def _slope(strengths: Any, values: Any) -> float:
    return float(np.polyfit(np.log(strengths), np.log(values), 1)[0])


def _dragged() -> System:
    """Return a mass on the line y = 0 whose force along it depends on the velocity across: h = 2 in (3.7)."""
    (x, y), (vx, vy) = coordinates("x y")
    force = {x: -x + THRUST * vy + x * y, y: sp.Integer(1)}
    return System(name="dragged", kinetic=(vx**2 + vy**2) / 2, forces=force, constraints=[Bilateral(y, name="floor")])


@lru_cache(maxsize=16)
def _elastic(system: System, strength: float) -> Motion:
    soft = realize(system, "floor", by=Stiffness(strength))
    found = simulate(soft, {"x": 0.4, "y": 0.0, "v_x": 0.3, "v_y": 0.0}, {}, until=1.0, tol=1e-12)
    assert isinstance(found, Motion)
    return found


@claim(
    "003-proof-momentum",
    place="section 3, after (3.7), and (3.8)",
    statement="Adding h q to the momentum along the manifold takes the velocity across it out of (3.7), up to terms of "
    "order 1/N.",
    printed="`Y = y + h q`, `Y' = -dT/dx + X + O(1/N)`",
    recorded="corrected",
    new="as printed Y' keeps 2 h q'; the estimates (2.1) that follow hold with the minus sign",
)
def momentum(shop: Workshop) -> Finding:
    system = _dragged()
    left: dict[int, list[float]] = {1: [], -1: []}
    for N in STRENGTHS:
        motion = _elastic(system, N)
        x, rate = motion.q[:, 0], motion.v[:, 1]
        for sign, values in left.items():
            # T = y^2/2 and X = -x: what Y' = x'' + sign h q' misses
            values.append(float(np.abs(motion.a[:, 0] + sign * THRUST * rate + x).max()))
    powers = {sign: _slope(STRENGTHS, values) for sign, values in left.items()}
    return Finding(
        computed=f"Force {THRUST} y' along the line, N = 1e4 to 1e7: with the plus sign Y' misses the right side by "
        f"{num(left[1][-1], 2)} at the last, like N to the {num(powers[1], 3)}; with the minus sign by "
        f"{num(left[-1][-1], 2)}, like N to the {num(powers[-1], 3)}.",
        comparisons=(
            as_printed("order of what is left, plus", powers[1], OTHERS, tol=0.05),
            as_corrected("order of what is left, minus", powers[-1], OTHERS, tol=0.05),
            sound("plus: twice h q', order -1/2", powers[1], ACROSS, tol=0.05),
        ),
        corrected="`Y = y - h q`; (3.8) and the result (2.1) stand.",
        residual=max(float(_elastic(system, N).residual) for N in STRENGTHS),
    )


@claim(
    "003-proof-force",
    place="section 3, last display",
    statement="The elastic force and the reaction differ by the acceleration across, in leading order.",
    printed="`N dW/dr + R_inf = +A q'' dq/dr + O(N^(-1/2))`",
    recorded="corrected",
    systems=(FLOOR,),
    new="in the paper's own example `N y - 1 = -y''`; harmless for (2.2), which integrates it",
)
def last_display(shop: Workshop) -> Finding:
    N = 1e4
    state, params = shop.values(FLOOR)
    motion = simulate(realize(shop.system(FLOOR), "floor", by=Stiffness(N)), state, params, until=1.0, tol=1e-12)
    reaction = float(shop.ask(FLOOR).solutions[0].normal[0])
    both = N * motion.q[:, 1] + reaction
    off = {sign: float(np.abs(both - sign * motion.a[:, 1]).max()) for sign in (1, -1)}
    return Finding(
        computed=f"The example, N = 1e4: N y + R differs from +y'' by up to {num(off[1], 3)}, from -y'' by "
        f"{num(off[-1], 1)}.",
        comparisons=(
            as_printed("N y + R = y''", off[1], 0.0, tol=1e-2),
            as_corrected("N y + R = -y''", off[-1], 0.0, tol=1e-6),
        ),
        corrected="`-A q'' dq/dr`",
        residual=float(motion.residual),
    )


@claim(
    "003-proof-energy",
    place="section 3, (3.5), (3.6) and the estimates below",
    statement="Measured from the slowly moving equilibrium, the energy across the manifold stays of order 1/N.",
    printed="`U = P A^-1 P/2 + Xi B Xi/2 = O(N^-1)`, `q = O(N^-1)`, `q' = O(N^(-1/2))`",
    recorded="confirmed",
    systems=(FLOOR, "circle_particle", "ellipse_pendulum_cartesian"),
)
def energy_across(shop: Workshop) -> Finding:
    N = 1e4
    state, params = shop.values(FLOOR)
    motion = simulate(realize(shop.system(FLOOR), "floor", by=Stiffness(N)), state, params, until=1.0, tol=1e-12)
    # A = B = 1: xi = N^(1/2) y, its equilibrium N^(-1/2), p = y'
    U = 0.5 * motion.v[:, 1] ** 2 + 0.5 * (np.sqrt(N) * motion.q[:, 1] - N**-0.5) ** 2
    studies = three(shop)
    orders = [_slope(item.strengths[1:6], item.energy[1:6]) for item in studies.values()]
    return Finding(
        computed=f"In the example N U = {num(N * U.mean(), 8)} with a spread of {num(N * np.ptp(U), 1)}. On three "
        f"mechanisms the energy across goes like N to the {vec(orders, 4)}.",
        comparisons=(
            as_printed("N U of the example", N * U, np.full(len(U), 0.5), tol=1e-6),
            as_printed("orders of the energy across", orders, [-1.0] * 3, tol=0.03),
        ),
        residual=float(motion.residual),
    )


def _general(W: Any, mass: bool, until: float = 1.0) -> LimitStudy:
    """Return a study of a mass on y = 0 by an energy W, its kinetic energy of the positions where asked."""
    (x, y), (vx, vy) = coordinates("x y")
    kinetic = (vx**2 + vy**2) / 2
    if mass:
        kinetic = ((1 + x**2) * vx**2 + 2 * x * y * vx * vy + (2 + sp.sin(x) + y) * vy**2) / 2
    system = System(
        name="general", kinetic=kinetic, forces={x: y - vx / 5, y: 1 + vx}, constraints=[Bilateral(y, name="floor")]
    )
    start = {"x": 0.3, "y": 0.0, "v_x": 0.5, "v_y": 0.0}
    return limit(system, "floor", start, by=Stiffness(energy=W), until=until, strengths=STRENGTHS, workers=1)


@claim(
    "003-proof-general",
    place="section 2, conditions 1 and 2",
    statement="The theorem is about any W that is positive across the manifold to second order, cubic terms included, "
    "and any kinetic energy that depends on the position.",
    printed="W three times, E twice continuously differentiable; the second differential of W positive across M",
    recorded="confirmed",
)
def general(shop: Workshop) -> Finding:
    (x, y), _ = coordinates("x y")
    shapes = {"E of r": (y**2 / 2, True), "W of r, cubic": ((1 + x**2) * y**2 / 2 + y**3 + x * y**3, True)}
    found = {name: _general(*given) for name, given in shapes.items()}
    names = ("position", "velocity", "tangential velocity", "integral")
    orders = [[item.orders[name].value for name in names] for item in found.values()]
    met = [all(item.conditions.values()) for item in found.values()]
    return Finding(
        computed="Orders of position, velocity, velocity along and integral: "
        + "; ".join(f"{name} {vec(row, 3)}" for name, row in zip(found, orders, strict=True))
        + ".",
        comparisons=(
            as_printed("orders", np.array(orders), np.array([[-1.0, -0.5, -1.0, -0.5]] * 2), tol=0.05),
            sound("the conditions hold along the motion", met, [True, True]),
        ),
        residual=max(float(np.max(item.residual)) for item in found.values()),
    )


@claim(
    "003-proof-condition-2",
    place="section 2, condition 2",
    statement="Without a second differential that is positive across the manifold the estimate is lost.",
    printed="the second differential of W is positive definite on every subspace across M",
    recorded="confirmed",
)
def condition_2(shop: Workshop) -> Finding:
    _, y = coordinates("x y")[0]
    found = _general(y**4, mass=False)
    order = found.orders["position"].value
    failing = [name for name, holds in found.conditions.items() if not holds]
    return Finding(
        computed=f"`W = y^4`: the position is off like N to the {num(order, 3)}; what the check along the motion finds "
        f"missing: {', '.join(failing)}.",
        comparisons=(
            as_printed("the order -1 is lost", order > -0.6),
            sound("order -1/3 of 4 N y^3 = 1", order, -1 / 3, tol=ORDER_TOLERANCE + 0.05),
            sound("the condition that fails", ", ".join(failing), "W grows across the constraints"),
        ),
        residual=float(np.max(found.residual)),
    )
