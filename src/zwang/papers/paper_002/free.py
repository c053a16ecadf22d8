"""Section 4 of paper 002: the pendulum with its end free, near the folded pose."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang import compile, derive, rate, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import CARTESIAN, JOINT, SINGULAR, SLIM, answer, label_of, space, start
from zwang.papers.paper_002.pictures import film
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop


def _free(shop: Workshop) -> tuple[Any, dict[str, float]]:
    """Return the pendulum without its guide, and values for its parameters."""
    system = shop.system(JOINT).replace(constraints=[])
    values = shop.values(JOINT, m1=1.3, m2=0.7, g=0.9)[1]
    return system, {item.name: values[item.name] for item in system.parameters}


def _accelerations(shop: Workshop, seed: int, count: int = 40) -> tuple[Any, Any, Any, dict[str, float]]:
    """Return random angles, rates and the accelerations that the free pendulum has there."""
    system, params = _free(shop)
    model = compile(system)
    rng = shop.rng(seed)
    q, v = rng.uniform(-3, 3, size=(count, 2)), rng.uniform(-2, 2, size=(count, 2))
    a = []
    for angles, rates in zip(q, v, strict=True):
        state = {"phi": angles[0], "psi": angles[1], "v_phi": rates[0], "v_psi": rates[1]}
        a.append(answer(model, state, params).accelerations[0])
    return q, v, np.array(a), params


def _first(q: Any, v: Any, a: Any, params: Any, n: float) -> Any:
    """Return the left side of (9)."""
    away = q[:, 0] - q[:, 1]
    bracket = np.cos(away) * a[:, 1] + np.sin(away) * v[:, 1] ** 2
    return params["l1"] * a[:, 0] + n * params["l2"] * bracket + params["g"] * np.sin(q[:, 0])


def _second(q: Any, v: Any, a: Any, params: Any, sign: float) -> Any:
    """Return the left side of (10), with a sign of its last term in brackets."""
    away = q[:, 0] - q[:, 1]
    bracket = np.cos(away) * a[:, 0] + sign * np.sin(away) * v[:, 0] ** 2
    return params["l2"] * a[:, 1] + params["l1"] * bracket + params["g"] * np.sin(q[:, 1])


def _words(expr: Any) -> str:
    exact = expr.replace(lambda node: node.is_Float, lambda node: sp.Rational(str(node)))
    return str(exact).replace("*", " ").replace("v_phi", "phi'").replace("v_psi", "psi'")


@claim(
    "002-folded-rates",
    place="(8)",
    statement="In the folded pose the rates of the two angles follow from the sideways velocities of B and C.",
    printed="`phi' = y1'/2`, `psi' = y1' - y2'`",
    recorded="confirmed",
    systems=(JOINT,),
)
def folded_rates(shop: Workshop) -> Finding:
    entry = shop.entry(JOINT)
    phi, psi = entry.system.coordinates
    v_phi, v_psi = entry.system.velocities
    values = {item: entry.params[item.name] for item in entry.system.parameters}
    folded = {phi: 0, psi: sp.pi, **values}
    yB, yC = (sp.simplify(rate(entry.drawing.points[name][1]).subs(folded)) for name in "BC")
    worst = max(abs(float(sp.expand(yB / 2 - v_phi).coeff(item))) for item in (v_phi, v_psi))
    other = max(abs(float(sp.expand(yB - yC - v_psi).coeff(item))) for item in (v_phi, v_psi))
    # The masses see these velocities: the kinetic energy in the folded pose is that of B and C.
    kinetic = sp.expand(entry.system.kinetic.subs(folded) - (yB**2 + yC**2) / 2)
    excess = max((abs(float(item)) for item in sp.Poly(kinetic, v_phi, v_psi).coeffs()), default=0.0)
    return Finding(
        computed=f"At phi = 0, psi = pi: `y1' = {_words(yB)}` and `y2' = {_words(yC)}`, from the declared mechanism.",
        comparisons=(
            as_printed("phi'", worst, 0.0),
            as_printed("psi'", other, 0.0),
            sound("kinetic energy", excess, 0.0),
        ),
    )


@claim(
    "002-equation-9",
    place="(9)",
    statement="The first equation of the free double pendulum has the share of one of the masses in it.",
    printed="`l1 phi'' + n l2 (cos(phi - psi) psi'' + sin(phi - psi) psi'^2) + g sin(phi) = 0`, `n = m1/(m1 + m2)`",
    recorded="corrected",
    systems=(JOINT,),
    errata=("burian2017-5",),
)
def equation_9(shop: Workshop) -> Finding:
    q, v, a, params = _accelerations(shop, 1)
    whole = params["m1"] + params["m2"]
    printed, corrected = (_first(q, v, a, params, params[name] / whole) for name in ("m1", "m2"))
    size = float(np.abs(a).max())
    return Finding(
        computed=f"{len(q)} random states, masses 1.3 and 0.7: the accelerations leave up to "
        f"{num(np.abs(printed).max(), 3)} in the "
        f"printed equation and {num(np.abs(corrected).max(), 1)} with `n = m2/(m1 + m2)`.",
        comparisons=(
            as_printed("(9)", np.abs(printed).max() / size, 0.0),
            as_corrected("(9) with the other mass", np.abs(corrected).max() / size, 0.0),
        ),
        corrected="`n = m2/(m1 + m2)`, the share of the mass at C.",
    )


@claim(
    "002-equation-10",
    place="(10)",
    statement="The second equation of the free double pendulum, with the centrifugal term of the first rod.",
    printed="`l2 psi'' + l1 (cos(phi - psi) phi'' + sin(phi - psi) phi'^2) + g sin(psi) = 0`",
    recorded="corrected",
    systems=(JOINT,),
    errata=("burian2017-6",),
)
def equation_10(shop: Workshop) -> Finding:
    q, v, a, params = _accelerations(shop, 2)
    printed, corrected = (_second(q, v, a, params, sign) for sign in (1.0, -1.0))
    size = float(np.abs(a).max())
    return Finding(
        computed=f"{len(q)} random states: the accelerations leave up to {num(np.abs(printed).max(), 3)} in the "
        f"printed equation and {num(np.abs(corrected).max(), 1)} with a minus before the last sine.",
        comparisons=(
            as_printed("(10)", np.abs(printed).max() / size, 0.0),
            as_corrected("(10) with a minus", np.abs(corrected).max() / size, 0.0),
        ),
        corrected="`l2 psi'' + l1 (cos(phi - psi) phi'' - sin(phi - psi) phi'^2) + g sin(psi) = 0`",
    )


@claim(
    "002-determinant",
    place="section 4, after (10)",
    statement="The equations can always be solved for the accelerations: their determinant is positive.",
    printed="`Delta = l1 l2 - n l1 l2 cos(phi - psi) > 0`",
    recorded="corrected",
    systems=(JOINT,),
    errata=("burian2017-7",),
)
def determinant(shop: Workshop) -> Finding:
    system, params = _free(shop)
    mass = derive(system).mass.subs({item: params[item.name] for item in system.parameters})
    l1, l2, m1, m2 = (params[name] for name in ("l1", "l2", "m1", "m2"))
    # (9) is the first equation divided by (m1 + m2) l1, (10) the second divided by m2 l2.
    whole = sp.lambdify(system.coordinates, mass.det() / ((m1 + m2) * l1 * m2 * l2), "numpy")
    q = shop.rng(3).uniform(-3, 3, size=(2, 200))
    n, got, c = m2 / (m1 + m2), whole(*q), np.cos(q[0] - q[1])
    return Finding(
        computed=f"200 random poses: the determinant lies between {num(got.min(), 4)} and {num(got.max(), 4)}, and is "
        f"`l1 l2 (1 - n cos(phi - psi)^2)` to {num(np.abs(got - l1 * l2 * (1 - n * c**2)).max(), 1)}.",
        comparisons=(
            as_printed("determinant", got, l1 * l2 * (1 - n * c)),
            as_corrected("determinant", got, l1 * l2 * (1 - n * c**2)),
            as_corrected("it is positive", bool(got.min() > 0)),
        ),
        corrected="`Delta = l1 l2 (1 - n cos(phi - psi)^2) > 0`",
    )


@claim(
    "002-free-switch",
    place="section 4, end",
    statement="Let go in the folded pose with the velocity of a crossing branch, the free pendulum changes the branch: "
    "the short rod goes on to the other side.",
    printed="`sin(psi - phi) = (psi' - phi') t + o(t)` changes its sign",
    recorded="confirmed",
    systems=(JOINT, CARTESIAN),
)
def free_switch(shop: Workshop) -> Finding:
    system, params = _free(shop)
    params = {**params, "m1": 1.0, "m2": 1.0, "g": 1.0}
    changed, spreads = [], []
    for case in ({}, SLIM):
        for row in space(shop, **case).singular_points[0].tangents:
            spin, turn = row[1] / 2, row[1] - row[3]  # (8)
            speeds = {"v_phi": spin, "v_psi": turn}
            after = simulate(system, {**SINGULAR, **speeds}, params, until=0.05).end
            # backwards in time: the same with the velocity reversed
            before = simulate(
                system, {**SINGULAR, **{key: -value for key, value in speeds.items()}}, params, until=0.05
            ).end
            changed.append(float(label_of(after) * label_of(before)))
            spreads.append(abs(turn - spin))
    return Finding(
        computed=f"Four branches of two ellipses: 0.05 s before and after the folded pose the label differs in "
        f"{sum(item < 0 for item in changed)}; `|psi' - phi'|` is {num(min(spreads), 3)} at least.",
        comparisons=(
            as_printed("labels before and after differ", changed, [-1.0] * 4),
            sound("the rods turn against each other", min(spreads) > 0.1),
        ),
        pictures=(film(shop),),
    )


@claim(
    "002-straight-through",
    place="abstract and section 4",
    statement="Where the branches cross, the motion through the point is determined: it goes over to the other branch.",
    printed="the pendulum always goes from one branch to the other",
    recorded="confirmed",
    systems=(JOINT,),
)
def straight(shop: Workshop) -> Finding:
    pairs, drifts = [], []
    for label in (1, -1):
        state, params = start(shop, JOINT, -0.3, 0.42, label)
        motion = simulate(shop.system(JOINT), state, params, until=1.2, at_singular="straight")
        (event,) = motion.events.of("singular")
        pairs.append([float(label_of(motion.at(event.time + shift))) for shift in (-0.2, 0.2)])
        drifts.append(float(np.ptp(motion.energy["total"])))
    return Finding(
        computed="Exactly one half-branch goes on in the direction of arrival, and on it the label is the other one; "
        f"the energy is kept to {num(max(drifts), 1)}.",
        comparisons=(
            as_printed("labels before and after", pairs, [[1.0, -1.0], [-1.0, 1.0]]),
            sound("energy", max(drifts), 0.0, tol=1e-8),
        ),
    )
