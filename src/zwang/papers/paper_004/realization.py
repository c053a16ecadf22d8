"""Section 3 of paper 004 in general: several one-sided constraints, beside others and in time; bounds, weak limits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import sympy as sp

from zwang import Bilateral, System, Unilateral, Viscosity, coordinates, limit, simulate, t
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_added, as_printed, sound
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.results import LimitStudy

STRENGTHS = (1e2, 1e3, 1e4, 1e5)
SIDES = ("first", "second")


START = {"x": 0.2, "y": 0.0, "z": 0.0, "v_x": -1.0, "v_y": -1.0, "v_z": -0.2}


@lru_cache(maxsize=1)
def _system() -> System:
    """Return a mass with two one-sided constraints, one of them moving, beside a nonholonomic one."""
    (x, y, z), (vx, vy, vz) = coordinates("x y z")
    rows: list[Bilateral | Unilateral] = [
        Unilateral(sp.sin(t) / 2 - vx - vy / 3, name="first"),
        Unilateral(sp.Rational(1, 2) - vy + sp.Rational(2, 5) * vx, name="second"),
        Bilateral(vz - x * vx, name="roll"),
    ]
    pushes = {x: 1 + y / 2, y: 2 - x, z: sp.Rational(1, 2)}
    return System(name="coupled", kinetic=(vx**2 + 2 * vy**2 + vz**2) / 2, forces=pushes, constraints=rows)


@lru_cache(maxsize=1)
def _coupled() -> LimitStudy:
    return limit(_system(), SIDES, START, by=Viscosity, until=3.0, strengths=STRENGTHS, workers=1)


def _apart(distance: float) -> float:
    """Return the largest distance of the ideal motions from two starts, over that of the starts."""
    times = np.linspace(0.0, 3.0, 301)
    rate = START["v_x"] - distance
    other = {**START, "v_x": rate, "v_y": START["v_y"] + distance / 2, "v_z": START["x"] * rate}
    first, second = (simulate(_system(), start, until=3.0).at(times) for start in (START, other))
    return max(float(np.abs(second[name] - first[name]).max()) for name in START) / distance


@claim(
    "004-realization-several",
    place="section 3, several constraints; section 2, beside two-sided ones and with time",
    statement="Strong friction on one side realizes several one-sided constraints on velocities at once, also beside a "
    "nonholonomic one and where they depend on time.",
    printed="`W(q) q' + h(q) <= 0`, `q_rho -> q`, `q_rho' -> q'` uniformly",
    recorded="confirmed",
)
def several(shop: Workshop) -> Finding:
    found = _coupled()
    orders = [found.orders[name].value for name in ("position", "velocity")]
    acting = [float(found.ideal_force[name].max()) for name in SIDES]
    return Finding(
        computed=f"Two coupled rows, one moving with time, beside a rolling constraint, rho = 1e2 to 1e5: orders "
        f"{vec(orders, 4)} of position and velocity; both act, with reactions up to {vec(acting, 4)}.",
        comparisons=(
            as_printed("it tends to the ideal motion", found.verdict.status.name, "CONVERGES"),
            as_printed("orders", orders, [-1.0, -1.0], tol=0.05),
            sound("both constraints act", min(acting) > 0.1),
        ),
        residual=float(np.max(found.residual)),
    )


@claim(
    "004-violation-bound",
    place="section 3, (12) to (14): x_1 <= b/rho, the forces stay bounded",
    statement="With friction rho the constraint is violated by at most b/rho, b a bound of the other forces, so that "
    "the friction force stays bounded as rho grows.",
    printed="the solution can't enter `x_1 > b/rho`; `|F_rho|` is bounded uniformly",
    recorded="confirmed",
)
def bound(shop: Workshop) -> Finding:
    found = _coupled()
    forces = [float(max(found.highest[name][k].max() for name in SIDES)) for k in range(len(found.strengths))]
    over = found.violation / found.bound
    return Finding(
        computed=f"Largest violations {vec(found.violation, 3)}; b/rho = {vec(found.bound, 3)}. The largest friction "
        f"force is {vec(forces, 5)}.",
        comparisons=(
            as_printed("violations over b/rho", bool((over <= 1 + 10 / found.strengths).all())),
            as_printed("the force stays bounded", forces[-1] / forces[1], 1.0, tol=0.02),
            sound("the bound falls like 1/rho", found.bound * found.strengths / (found.bound[0] * 1e2), np.ones(4)),
        ),
        residual=float(np.max(found.residual)),
        data={"violation": list(found.violation), "bound": list(found.bound)},
    )


@claim(
    "004-weak-limit",
    place="section 3, end of the proof, (13)",
    statement="The friction force tends weakly to a multiplier that has one sign and vanishes where the constraint is "
    "strict.",
    printed="`xi(x_1) rho x_1` converges weakly, `mu(t) <= 0` is zero where `x_1 < 0`",
    recorded="confirmed",
)
def weak_limit(shop: Workshop) -> Finding:
    found = _coupled()
    off, least, strict = 0.0, 0.0, 0.0
    for name in SIDES:
        mean = found.averages[name][-1]
        ideal = (found.ideal_force[name][1:] + found.ideal_force[name][:-1]) / 2
        # A cell in which the ideal reaction begins is half of each.
        steady = np.abs(np.diff(found.ideal_force[name])) < 0.05
        off = max(off, float(np.abs(mean - ideal)[steady].max()))
        least = min(least, float(mean.min()))
        open_ = (found.ideal_force[name][1:] == 0) & (found.ideal_force[name][:-1] == 0)
        strict = max(strict, float(np.abs(mean[open_]).max(initial=0.0)))
    return Finding(
        computed=f"At rho = 1e5 the means of the friction force over cells of time differ from the ideal multiplier by "
        f"at most {num(off, 2)}; in our sign they are at least {num(least, 1)}, and {num(strict, 1)} where it is open.",
        comparisons=(
            as_printed("means are the multiplier", off, 0.0, tol=0.03),
            as_printed("one sign", least >= -1e-9),
            as_printed("zero where the constraint is strict", strict, 0.0, tol=1e-2),
        ),
        residual=float(np.max(found.residual)),
    )


@claim(
    "004-rate",
    place="section 3, uniqueness of the limit and rate of convergence",
    statement="The ideal motion is unique, and the motion with friction comes to it at least like rho^(-1/2).",
    printed="nothing: the paper has a subsequence and no rate",
    recorded="added",
    new="With `u = W v + h`, `r = E(q) v` where `E M^-1 W^T = 0`, and `G = W M^-1 W^T`: `u' = alpha - G nu` with nu in "
    "the normal cone of `u <= 0`, and r', q' are smooth functions of u, r, q, t. For two motions the derivative of "
    "`(du, G^-1 du)/2 + |dq|^2 + |dr|^2` is at most a constant times itself, since `(dnu, du) >= 0`: by Gronwall there "
    "is one motion. With friction nu is `rho phi`, bounded, and `(rho phi - nu, du) >= -|nu| |phi|` is of order 1/rho: "
    "the same estimate gives `|dz|^2 = O(1/rho)`.",
)
def rate_of_convergence(shop: Workshop) -> Finding:
    found = _coupled()
    order = found.orders["velocity"].value
    apart = [_apart(distance) for distance in (1e-2, 1e-4, 1e-6)]
    return Finding(
        computed=f"Measured on two coupled rows: the velocity comes to the ideal one like rho to the {num(order, 4)}, "
        f"faster than the estimate needs. Ideal motions from starts 1e-2, 1e-4 and 1e-6 apart stay within "
        f"{vec(apart, 4)} times that: no second one leaves the first.",
        comparisons=(
            as_added("at least -1/2", order <= -0.5 + 0.01),
            as_added("it is a rate", order, -1.0, tol=0.05),
            as_added("starts that come together give one motion", apart[2] / apart[0], 1.0, tol=0.05),
        ),
        residual=float(np.max(found.residual)),
    )
