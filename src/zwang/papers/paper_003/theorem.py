"""The theorem of paper 003 and its remark: orders of convergence, measured on three systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import Stiffness, realize
from zwang.papers.claim import claim
from zwang.papers.findings import Comparison, Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_003.studies import CIRCLE, FLOOR, ORDER_TOLERANCE, PENDULUM, study, three
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

SYSTEMS = (FLOOR, CIRCLE, PENDULUM)


def _orders(shop: Workshop, quantity: str, expected: float) -> tuple[str, tuple[Comparison, ...], dict[str, Any]]:
    found = {name: item.orders[quantity] for name, item in three(shop).items()}
    words = "; ".join(f"{name}: {num(order.value, 3)} ± {num(order.uncertainty, 1)}" for name, order in found.items())
    compared = tuple(
        as_printed(f"order on {name}", order.value, expected, tol=ORDER_TOLERANCE / abs(expected))
        for name, order in found.items()
    )
    return f"Fitted exponents of N: {words}.", compared, {"orders": [order.value for order in found.values()]}


def _residual(shop: Workshop) -> float:
    """Return the largest residual of the studies: what fitted exponents rest on."""
    return max(float(np.max(item.residual)) for item in three(shop).values())


def _growth(shop: Workshop, name: str) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.4, 4.0))
        study(shop, name).plot("errors", ax=ax)
        return figure

    return Picture(f"orders-{name}", "Largest errors over the stiffness N, with the fitted slopes.", make)


@claim(
    "003-potential",
    place="section 2, after condition 2",
    statement="A potential that holds a system to a manifold given by equations is a sum over the equations.",
    printed="`W = N sum c_k/f_k^2`",
    recorded="corrected",
    systems=(CIRCLE,),
    errata=("kozlov-1",),
)
def potential(shop: Workshop) -> Finding:
    system = shop.system(CIRCLE)
    circle: Any = system.constraints["circle"]
    f = circle.expr
    c, N = sp.Rational(3, 2), sp.Integer(7)
    soft = realize(system, "circle", by=Stiffness(N, weight=2 * c))
    spring = sp.simplify(soft.potential - system.potential)
    x, y = system.coordinates
    radius = next(item for item in system.parameters if item.name == "r")
    held = float(spring.subs({x: sp.Rational(3, 5), y: sp.Rational(4, 5), radius: 1}))
    squared = bool(sp.simplify(spring - N * c * f**2) == 0)
    inverse = bool(sp.simplify(spring - N * c / f**2) == 0)
    return Finding(
        computed=f"The spring that holds the particle to its circle has the potential `N c f^2`; on the circle it is "
        f"{num(held)}.",
        comparisons=(
            as_printed("the potential is N c/f^2", inverse),
            as_corrected("the potential is N c f^2", squared),
            sound("it vanishes on the manifold", held, 0.0),
        ),
        corrected="`W = sum c_k f_k^2`: it must vanish on the manifold, and N stands in `N W` already.",
    )


@claim(
    "003-thm-position",
    place="theorem, (2.1), first estimate",
    statement="A system whose constraints are springs of stiffness N stays within a distance of order 1/N of the "
    "constrained motion.",
    printed="`r_N = r_inf + O(N^-1)`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def position(shop: Workshop) -> Finding:
    words, compared, data = _orders(shop, "position", -1.0)
    return Finding(
        computed=words, comparisons=compared, data=data, residual=_residual(shop), pictures=(_growth(shop, CIRCLE),)
    )


@claim(
    "003-thm-velocity",
    place="theorem, (2.1), second estimate",
    statement="Its velocity differs from that of the constrained motion by order N^-1/2.",
    printed="`r_N' = r_inf' + O(N^(-1/2))`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def velocity(shop: Workshop) -> Finding:
    words, compared, data = _orders(shop, "velocity", -0.5)
    return Finding(computed=words, comparisons=compared, data=data, residual=_residual(shop))


@claim(
    "003-thm-integral",
    place="theorem, (2.2)",
    statement="Integrated over any stretch of time, the elastic force and the reaction of the constraint differ by "
    "order N^-1/2.",
    printed="integral of `N dW/dr + R_inf` = `O(N^(-1/2))`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def integral(shop: Workshop) -> Finding:
    words, compared, data = _orders(shop, "integral", -0.5)
    return Finding(computed=words, comparisons=compared, data=data, residual=_residual(shop))


@claim(
    "003-remark-tangential",
    place="remark, (2.3), first estimate",
    statement="Along the manifold the velocity is better than the theorem says: off by order 1/N.",
    printed="`r_par' = r_inf' + O(N^-1)`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def tangential(shop: Workshop) -> Finding:
    words, compared, data = _orders(shop, "tangential velocity", -1.0)
    return Finding(computed=words, comparisons=compared, data=data, residual=_residual(shop))


@claim(
    "003-remark-normal",
    place="remark, (2.3), second estimate",
    statement="Across the manifold the velocity is of order N^-1/2.",
    printed="`r_perp' = O(N^(-1/2))`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def normal(shop: Workshop) -> Finding:
    words, compared, data = _orders(shop, "normal velocity", -0.5)
    return Finding(computed=words, comparisons=compared, data=data, residual=_residual(shop))


@claim(
    "003-no-potential",
    place="introduction and section 1",
    statement="The passage to the limit does not need forces with a potential.",
    printed="the theorem holds without the assumption that the forces are potential",
    recorded="confirmed",
    systems=(CIRCLE,),
)
def no_potential(shop: Workshop) -> Finding:
    system = shop.system(CIRCLE)
    (x, y), values = system.coordinates, shop.values(CIRCLE)[1]
    curl = sp.diff(system.forces[y], x) - sp.diff(system.forces[x], y)
    size = float(curl.subs({item: values[item.name] for item in system.parameters}))
    found = study(shop, CIRCLE)
    reaction = float(shop.ask(CIRCLE).solutions[0].normal[0])
    loss = float(found.ideal.energy["total"][-1] - found.ideal.energy["total"][0]) if found.ideal is not None else 0.0
    return Finding(
        computed=f"The swirl has the curl {num(size)}, the energy changes by {num(loss)} J within a second, and the "
        f"position still converges with order {num(found.orders['position'].value, 3)}.",
        comparisons=(
            as_printed("order of the position", found.orders["position"].value, -1.0, tol=ORDER_TOLERANCE),
            as_printed("it tends to the ideal motion", found.verdict.status.name, "CONVERGES"),
            sound("the force has no potential", abs(size) > 1e-9),
            sound("reaction at the start, -m v^2/r", reaction, shop.entry(CIRCLE).facts["reaction"].value),
        ),
        residual=float(np.max(found.residual)),
    )


@claim(
    "003-same-start",
    place="section 2, before the theorem",
    statement="Constrained and elastic motion start from the same position and the same velocity, which is tangent to "
    "the manifold.",
    printed="`r_N(0) = r_inf(0)`, `r_N'(0) = r_inf'(0)`",
    recorded="confirmed",
    systems=SYSTEMS,
)
def same_start(shop: Workshop) -> Finding:
    removed = {name: item.energy_removed for name, item in three(shop).items()}
    gaps = [float(np.abs(item.q[:, 0] - item.ideal_positions[0]).max()) for item in three(shop).values()]
    return Finding(
        computed=f"In the three studies the starts differ by at most {num(max(gaps), 1)}, and making the velocity "
        f"tangent takes away at most {num(max(removed.values()), 1)} J.",
        comparisons=(
            as_printed("positions at the start", max(gaps), 0.0, tol=1e-12),
            as_printed("energy removed from the velocity", max(removed.values()), 0.0, tol=1e-12),
        ),
    )
