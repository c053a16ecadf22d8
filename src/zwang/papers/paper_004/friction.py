"""Section 3 of paper 004: strong friction on one side makes the constraint, if its force is written right."""

from __future__ import annotations

import numpy as np
import sympy as sp

from zwang import System, Unilateral, Viscosity, compile, coordinates, limit, realize, simulate
from zwang.errors import DeclarationError
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import LIMIT, ON_BLADE, SLEIGH
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

STRENGTHS = (1e2, 1e3, 1e4, 1e5)


def _limited(shop: Workshop, top: float, push: float) -> tuple[System, dict[str, float], dict[str, float]]:
    """Return the particle under a limit that stays at `top`, pushed, and starting at the limit."""
    state, params = shop.values(LIMIT, c0=top, c1=top, F=push, v_x=top)
    return shop.system(LIMIT), state, params


@claim(
    "004-force-with-offset",
    place="section 3, the force Q_rho",
    statement="For constraints with an offset the friction is proportional to the velocity along the row.",
    printed="`Q = -rho sum xi(u_j q' + h_j) (u_j, q') u_j`",
    recorded="corrected",
    systems=(LIMIT,),
    errata=("salnikova-4",),
)
def force_with_offset(shop: Workshop) -> Finding:
    # x' + 1 <= 0, pushed by 1, starting at x' = -1: the ideal motion keeps x' = -1.
    system, state, params = _limited(shop, -1.0, 1.0)
    right, wrong = [], []
    for rho in (10.0, 100.0, 1000.0):
        soft = realize(system, "limit", by=Viscosity(rho))
        right.append(simulate(soft, state, params, until=5.0).end["v_x"])
        # Where x' > -1 the printed force is -rho x': smooth there, and the motion never comes back to -1.
        x, v = system.coordinates[0], system.velocities[0]
        printed = System(name="printed force", kinetic=system.kinetic, forces={x: system.forces[x] - rho * v})
        wrong.append(simulate(printed, state, {key: params[key] for key in ("m", "F")}, until=5.0).end["v_x"])
    return Finding(
        computed=f"x' + 1 <= 0, pushed: with the offset in the force x'(5) = {vec(right)} for rho = 10, 100, 1000; as "
        f"printed {vec(wrong)}. The ideal motion has -1.",
        comparisons=(
            as_printed("x'(5) at rho = 1000", wrong[-1], -1.0, tol=0.01),
            as_corrected("x'(5)", right, [-0.9, -0.99, -0.999], tol=1e-6),
            sound("closed form of the printed force", wrong, [0.1, 0.01, 0.001], tol=1e-6),
        ),
        corrected="`Q = -rho sum xi(u_j q' + h_j) (u_j q' + h_j) u_j`",
    )


@claim(
    "004-force-jumps",
    place="section 3, the force Q_rho",
    statement="The printed force is a continuous function of the velocity.",
    printed="`xi(u_j q' + h_j) (u_j, q') u_j`, bounded uniformly",
    recorded="corrected",
    systems=(LIMIT,),
    errata=("salnikova-4",),
)
def force_jumps(shop: Workshop) -> Finding:
    system, _, _ = _limited(shop, 1.0, 0.5)
    x, v = system.coordinates[0], system.velocities[0]
    printed = sp.Piecewise((-100 * v, v > 1), (0, True))
    try:
        System(name="printed force", kinetic=system.kinetic, forces={x: printed})
        refused = ""
    except DeclarationError as error:
        refused = str(error)
    soft = realize(system, "limit", by=Viscosity(100))
    change = sp.Piecewise((-100 * (v - 1), v > 1), (0, True))
    gap = float(sp.limit(-100 * v, v, 1))
    right = compile(soft)
    values = [
        float(
            right.terms(
                {"x": 0.0, "v_x": 1 + shift}, {"m": 1.0, "F": 0.0, "c0": 1.0, "c1": 1.0, "drop_time": 1.0}
            ).force[0, 0]
        )
        for shift in (-1e-9, 1e-9)
    ]
    return Finding(
        computed=f"For x' <= 1 and rho = 100 the printed force jumps by {num(abs(gap))} at x' = 1, and its declaration "
        f"is refused; with the offset it changes by {num(abs(values[1] - values[0]), 1)} there.",
        comparisons=(
            as_printed("it is continuous in the velocity", not refused),
            as_corrected("with the offset it is continuous", abs(values[1] - values[0]), 0.0, tol=1e-6),
            sound("the limit of the corrected force", float(sp.limit(change.args[0][0], v, 1)), 0.0),
        ),
        corrected="The force with the offset, `(u_j q' + h_j) u_j`, is continuous; the printed one jumps by `rho |h|`.",
    )


@claim(
    "004-sets",
    place="section 3, the sets Sigma_<0 and Sigma_<eps",
    statement="The permitted velocities are the union over the constraints.",
    printed="the set Sigma is a union of the sets of single constraints",
    recorded="corrected",
    errata=("salnikova-5",),
)
def sets(shop: Workshop) -> Finding:
    _, (vx, vy) = coordinates("x y")
    plane = System(
        name="plane",
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[Unilateral(-vx, name="first"), Unilateral(-vy, name="second")],
    )
    values = compile(plane).gaps({"x": 0.0, "y": 0.0, "v_x": -1.0, "v_y": 100.0})
    inside = [float(values[name]) >= 0 for name in ("first", "second")]
    return Finding(
        computed=f"x' <= 0, y' <= 0 at the velocity (-1, 100): the constraints have the values {num(values['first'])} "
        f"and {num(values['second'])} (permitted: >= 0).",
        comparisons=(
            as_printed("a point of the union is permitted", not (any(inside) and not all(inside))),
            as_corrected("the point lies outside the intersection", not all(inside)),
        ),
        corrected="Intersections, not unions: staying in the union bounds nothing.",
    )


@claim(
    "004-inward",
    place="section 3, on the field F_rho near the boundary",
    statement="Near the boundary the friction points inward through every face.",
    printed="`F_rho` is transversal to each hypersurface and directed inward",
    recorded="refuted",
    errata=("salnikova-6",),
)
def inward(shop: Workshop) -> Finding:
    _, (vx, vy) = coordinates("x y")
    cosine = -0.9
    second = cosine * vx + sp.sqrt(1 - sp.Rational(9, 10) ** 2) * vy
    corner = System(
        name="corner",
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[Unilateral(-vx, name="a"), Unilateral(-second, name="b")],
    )
    rho, eps = 100.0, 1e-3
    soft = realize(corner, ["a", "b"], by=Viscosity(rho))
    v_x = eps
    v_y = (10 * eps - cosine * v_x) / float(sp.sqrt(1 - sp.Rational(9, 10) ** 2))
    state = {"x": 0.0, "y": 0.0, "v_x": v_x, "v_y": v_y}
    rate = float(compile(soft).accelerations(state)[0])
    on_face = float(np.abs(compile(soft).accelerations({**state, "v_x": 0.0, "v_y": 0.0})).max())
    return Finding(
        computed="Two constraints whose rows have the product -0.9, violated by (eps, 10 eps): friction changes the "
        f"first violation by {num(rate / (rho * eps), 4)} rho eps, outward; on the face itself it is {num(on_face)}.",
        comparisons=(
            as_printed("the first violation shrinks", rate < 0),
            sound("closed form 8 rho eps", rate / (rho * eps), 8.0, tol=1e-6),
            sound("no force on the faces", on_face, 0.0),
        ),
        counterexample="M = 1, rows with product -0.9, violations (eps, 10 eps): the first grows at the rate 8 rho "
        "eps. The distance to the permitted set still shrinks.",
    )


@claim(
    "004-order",
    place="section 3, theorem",
    statement="The motion with friction stays within a distance of order 1/rho of the ideal one.",
    printed="`z_rho -> z` uniformly on a finite interval",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def order(shop: Workshop) -> Finding:
    state, params = shop.values(SLEIGH, **ON_BLADE)
    found = limit(shop.system(SLEIGH), "blade", state, params, by=Viscosity, until=2.0, strengths=STRENGTHS, workers=1)
    values = [found.orders[name].value for name in ("position", "velocity")]
    return Finding(
        computed=f"Sleigh on its blade, rho from 100 to 100000: orders {num(values[0], 4)} (position), "
        f"{num(values[1], 4)} (velocity).",
        comparisons=(
            as_printed("order of the position", values[0], -1.0, tol=0.03),
            as_printed("order of the velocity", values[1], -1.0, tol=0.03),
            as_printed("it tends to the ideal motion", found.verdict.status.name, "CONVERGES"),
        ),
        data={"errors": list(found.errors["position"])},
        residual=float(np.max(found.residual)),
    )


@claim(
    "004-whole-sequence",
    place="section 3, end of the proof",
    statement="The whole family converges as rho grows.",
    printed="uniform convergence of `z_rho`",
    recorded="confirmed",
    systems=(SLEIGH, LIMIT, "ratchet", "freewheel"),
    errata=("salnikova-7",),
)
def whole_sequence(shop: Workshop) -> Finding:
    cases = {
        SLEIGH: ("blade", 2.0, shop.values(SLEIGH)),
        LIMIT: ("limit", 0.8, shop.values(LIMIT)),
        "ratchet": (None, 2.2, shop.values("ratchet")),
        "freewheel": (None, 3.0, shop.values("freewheel")),
    }
    orders, residual = {}, 0.0
    for name, (constraint, until, (state, params)) in cases.items():
        system = shop.system(name)
        one_sided = [str(item.name) for item in system.constraints if getattr(item, "level", "") == "velocity"]
        found = limit(
            system, constraint or one_sided, state, params, by=Viscosity, until=until, strengths=STRENGTHS, workers=1
        )
        orders[name] = found.orders["velocity"].value
        residual = max(residual, float(np.max(found.residual)))
    return Finding(
        computed="Orders of the velocity: "
        + ", ".join(f"{name} {num(value, 4)}" for name, value in orders.items())
        + ". The proof gives a subsequence; no exception was seen.",
        comparisons=(as_printed("orders", list(orders.values()), [-1.0] * len(cases), tol=0.05),),
        data={"orders": list(orders.values())},
        residual=residual,
    )
