"""Section 6 of paper 002: one degree of freedom, the polar angle of C, on each branch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from zwang import simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import CARTESIAN, SLIM, TOUCHING, Poses, answer, poses, poses_of, start
from zwang.papers.paper_002.pictures import phase_portrait
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

CASES: tuple[dict[str, Any], ...] = ({}, SLIM, TOUCHING)
HEAVY: dict[str, Any] = {"m1": 1.3, "m2": 1.3, "g": 0.9}
Values = tuple[tuple[str, float], ...]
LONG = 2.0
"""l1, the rod AB; BC has the length 1."""


@lru_cache(maxsize=16)
def _reduced(r1: float, r2: float, a: float, label: int) -> Any:
    """Return functions of phi: the squares V_B^2/(l1 phi')^2 and V_C^2/phi'^2, V/(m g), and their derivatives."""
    phi = sp.Symbol("phi")
    c, s = sp.cos(phi), sp.sin(phi)
    whole, middle = c**2 / r1**2 + s**2 / r2**2, a * c / r1**2
    d = (middle + sp.sqrt(middle**2 - whole * (a**2 / r1**2 - 1))) / whole
    theta = label * sp.acos((3 + d**2) / (4 * d))
    parts = [(1 + theta.diff(phi)) ** 2, d**2 + d.diff(phi) ** 2, -LONG * sp.cos(phi + theta) - d * c]
    return sp.lambdify(phi, [*parts, *(part.diff(phi) for part in parts)], "numpy", cse=True)


def reduced(params: Mapping[str, float], found: Poses, arm: float = LONG**2) -> Any:
    """Return F, F', V, V' of (16) and (17) at poses, on their branches; `arm` is the factor of the bracket in (16)."""
    shape = [params[name] for name in ("r1", "r2", "a")]
    both = {label: np.array(_reduced(*shape, label)(found.phi)) for label in (1, -1)}
    of_B, of_C, V, of_B1, of_C1, V1 = np.where(found.label > 0, both[1], both[-1])
    m, weight = params["m1"], params["m1"] * params["g"]
    return np.stack([m / 2 * (arm * of_B + of_C), m / 2 * (arm * of_B1 + of_C1), weight * V, weight * V1])


def _samples(shop: Workshop, case: dict[str, Any]) -> tuple[dict[str, float], Poses]:
    """Return parameters and poses at some distance from the folded one, where (16) has 0/0."""
    params = shop.values(CARTESIAN, **case, **HEAVY)[1]
    everything = poses(shop, count=60, **case)
    kept = np.flatnonzero(np.abs(everything.phi) > 0.05)
    states = {key: np.array([everything.states[k][key] for k in kept]) for key in everything.states[0]}
    return params, poses_of(states)


def _energies(shop: Workshop, found: Poses, params: Mapping[str, float]) -> Any:
    """Return kinetic and potential energy (rows) of the declared system at poses."""
    states = {key: np.array([state[key] for state in found.states]) for key in found.states[0]}
    return np.asarray(shop.model(CARTESIAN).terms(states, params).energies)


@claim(
    "002-elbow-angle",
    place="section 6, angle theta and velocities",
    statement="The angle at A follows from the law of cosines, and the speeds of B and C from its derivative.",
    printed="`theta = ± arccos((3 + d^2)/(4 d))`, `V_B^2 = l1^2 phi'^2 (1 ± theta' d')^2`, `V_C^2 = (d^2 + d'^2) "
    "phi'^2`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def elbow_angle(shop: Workshop) -> Finding:
    angles, speeds = 0.0, 0.0
    for case in CASES:
        params, found = _samples(shop, case)
        angles = max(angles, float(np.abs(np.abs(found.theta) - np.arccos((3 + found.d**2) / (4 * found.d))).max()))
        # With arm 0 and l1^2 the difference of F is the part of B.
        m = params["m1"]
        of_C = reduced(params, found, 0.0)[0] * 2 / m
        of_B = reduced(params, found)[0] * 2 / m - of_C
        ratio = np.stack([(found.vB**2).sum(axis=0), (found.vC**2).sum(axis=0)]) / found.rate**2
        speeds = max(speeds, float(np.abs(ratio - np.stack([of_B, of_C])).max() / ratio.max()))
    return Finding(
        computed=f"Traced poses of three ellipses: theta agrees to {num(angles, 1)}, the squared speeds to "
        f"{num(speeds, 1)}.",
        comparisons=(
            as_printed("theta", angles, 0.0, tol=1e-8),
            as_printed("squares of the speeds", speeds, 0.0, tol=1e-8),
        ),
    )


@claim(
    "002-kinetic",
    place="(16)",
    statement="The kinetic energy as a function of the polar angle and its rate.",
    printed="`T = (m (1 ± theta' d')^2/2 + m (d^2 + d'^2)/2) phi'^2`",
    recorded="corrected",
    systems=(CARTESIAN,),
    errata=("burian2017-15",),
)
def kinetic(shop: Workshop) -> Finding:
    got: list[float] = []
    printed: list[float] = []
    corrected: list[float] = []
    for case in CASES:
        params, found = _samples(shop, case)
        got += list(_energies(shop, found, params)[0] / found.rate**2)
        printed += list(reduced(params, found, 1.0)[0])
        corrected += list(reduced(params, found)[0])
    return Finding(
        computed=f"{len(got)} poses: `T/phi'^2` is up to {num(np.abs(np.subtract(got, printed)).max(), 3)} larger than "
        f"printed; with `l1^2` in the first term it agrees to {num(np.abs(np.subtract(got, corrected)).max(), 1)}.",
        comparisons=(as_printed("F", got, printed), as_corrected("F", got, corrected, tol=1e-8)),
        corrected="`T = (m l1^2 (1 ± theta' d')^2/2 + m (d^2 + d'^2)/2) phi'^2`, `l1 = 2`: the paper's own `F(0) = "
        "m_C/2 + 2 m_B` needs it.",
    )


@claim(
    "002-potential",
    place="(17)",
    statement="The potential energy as a function of the polar angle, on each branch.",
    printed="`V = -m g l1 cos(phi ± theta) - m g d cos(phi)`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def potential(shop: Workshop) -> Finding:
    worst = 0.0
    for case in CASES:
        params, found = _samples(shop, case)
        V = reduced(params, found)[2]
        worst = max(worst, float(np.abs(_energies(shop, found, params)[1] - V).max()))
    return Finding(
        computed=f"Traced poses of three ellipses, both labels: equal to {num(worst, 1)}.",
        comparisons=(as_printed("V", worst, 0.0, tol=1e-9),),
    )


@claim(
    "002-reduced-motion",
    place="section 6, equation of motion",
    statement="The acceleration of the polar angle on a branch.",
    printed="`phi'' = (-V' - F' phi'^2)/(2 F)`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def reduced_motion(shop: Workshop) -> Finding:
    worst, residual = 0.0, 0.0
    for case in CASES:
        params, found = _samples(shop, case)
        F, slope, _, pull = reduced(params, found)
        printed = (-pull - slope * found.rate**2) / (2 * F)
        got = []
        for k, state in enumerate(found.states[::4]):
            told = answer(shop.model(CARTESIAN), state, params)
            residual = max(residual, float(told.residual))
            C, v, a = found.C[:, 4 * k], found.vC[:, 4 * k], told.accelerations[0][2:]
            cross = (C[0] * a[1] - C[1] * a[0]) / found.d[4 * k] ** 2
            got.append(cross - 2 * (C @ v) * found.rate[4 * k] / found.d[4 * k] ** 2)
        worst = max(worst, float(np.abs(np.array(got) - printed[::4]).max()))
    return Finding(
        computed=f"Accelerations of `reactions` on three ellipses, both labels: equal to {num(worst, 1)}.",
        comparisons=(as_printed("phi''", worst, 0.0, tol=1e-7),),
        residual=max(worst, residual),
    )


@lru_cache(maxsize=8)
def _swing(system: Any, state: Values, params: Values, until: float) -> Any:
    return simulate(system, dict(state), dict(params), until=until)


def _moved(shop: Workshop, phi: float, rate: float, label: int, until: float, **changes: float) -> Any:
    state, params = start(shop, CARTESIAN, phi, rate, label, **changes)
    return _swing(shop.system(CARTESIAN), tuple(state.items()), tuple(params.items()), until)


@claim(
    "002-hamilton",
    place="(18)",
    statement="Hamilton's equations for the polar angle and its momentum, with the energy as their integral.",
    printed="`p' = F' p^2/(4 F^2) - V'`, `phi' = p/(2 F)`, `H = p^2/(4 F) + V`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def hamilton(shop: Workshop) -> Finding:
    first, second, spread = 0.0, 0.0, 0.0
    for label in (1, -1):
        motion = _moved(shop, -0.6, 0.42, label, 0.6, **HEAVY)
        params = shop.values(CARTESIAN, **HEAVY)[1]
        times, h = np.linspace(0.01, 0.55, 25), 2e-3

        def momentum(at: Any, motion: Any = motion, params: Any = params) -> tuple[Poses, Any, Any]:
            found = poses_of(motion.at(at))
            return found, reduced(params, found), 2 * _energies(shop, found, params)[0] / found.rate

        found, (F, slope, V, pull), p = momentum(times)
        steps = [momentum(times + k * h)[2] for k in (-2, -1, 1, 2)]
        rate = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        first = max(first, float(np.abs(rate - (slope / (4 * F**2) * p**2 - pull)).max()))
        second = max(second, float(np.abs(found.rate - p / (2 * F)).max()))
        spread = max(spread, float(np.ptp(p**2 / (4 * F) + V)))
    return Finding(
        computed=f"Simulated on both branches: `p'` agrees to {num(first, 1)}, `phi'` to {num(second, 1)}, and H stays "
        f"constant to {num(spread, 1)}.",
        comparisons=(
            as_printed("p'", first, 0.0, tol=1e-7),
            as_printed("phi'", second, 0.0, tol=1e-8),
            as_printed("H", spread, 0.0, tol=1e-8),
        ),
    )


def _at_point(shop: Workshop, label: int) -> tuple[float, float, float]:
    """Return F, F' and V' at phi = 0 on a branch of the touching ellipse, fitted to the energies of traced poses."""
    found, params = poses(shop, count=800, reach=0.25, **TOUCHING), shop.values(CARTESIAN, **TOUCHING)[1]
    T, V = _energies(shop, found, params)
    mine = found.label == label
    F = np.polyfit(found.phi[mine], (T / found.rate**2)[mine], 9)
    pull = np.polyfit(found.phi[mine], V[mine], 9)
    return float(F[-1]), float(F[-2]), float(pull[-2])


@claim(
    "002-jump-of-the-field",
    place="section 6, end: phase portrait at curvature 1",
    statement="Where the branches touch, both have the same inertia and no torque at the point, but opposite slopes of "
    "the inertia, so that the phase velocity would jump to its mirror image with a change of branch.",
    printed="`F(0) = m_C/2 + 2 m_B`, `F'(0) = ± c`, `V'(0) = 0`; `(c1 p^2, c2 p)` becomes `(-c1 p^2, c2 p)`",
    recorded="confirmed",
    systems=(CARTESIAN,),
)
def jump(shop: Workshop) -> Finding:
    values = {label: _at_point(shop, label) for label in (1, -1)}
    r1 = TOUCHING["r1"]
    closed = 8 * np.sqrt((r1 - 1) / (8 * r1))  # theta = ((r1 - 1)/(8 r1))^(1/2) phi^2 and l1 = 2
    p = 2.0
    field = {label: (F1 / (4 * F**2) * p**2 - V1, p / (2 * F)) for label, (F, F1, V1) in values.items()}
    return Finding(
        computed=f"r1 = 1.5625, m = 1: F(0) = {num(values[1][0], 7)} and {num(values[-1][0], 7)}, F'(0) = "
        f"{num(values[1][1], 6)} and {num(values[-1][1], 6)}, V'(0) = {num(values[1][2], 1)}; at p = 2 the field is "
        f"{vec(field[1], 5)} and {vec(field[-1], 5)}.",
        comparisons=(
            as_printed("F(0)", [values[1][0], values[-1][0]], [2.5, 2.5], tol=1e-7),
            as_printed("F'(0) differs from zero", abs(values[1][1]) > 0.1),
            as_printed("opposite slopes", values[1][1] + values[-1][1], 0.0, tol=1e-5),
            as_printed("V'(0)", [values[1][2], values[-1][2]], [0.0, 0.0], tol=1e-6),
            as_printed("mirror image", field[-1], (-field[1][0], field[1][1]), tol=1e-5),
            sound("closed form of the slope", values[1][1], closed, tol=1e-5),
        ),
        residual=abs(values[1][0] - 2.5),
        pictures=(_portrait(shop),),
    )


def _portrait(shop: Workshop) -> Picture:
    def make() -> Any:
        curves = []
        params = shop.values(CARTESIAN, **TOUCHING)[1]
        for p0, side, label in itertools.product((1.0, 2.0, 3.5, 5.5), (-1, 1), (1, -1)):
            motion = _moved(shop, 0.01 * side, p0 * side / 5, label, 2.0, **TOUCHING)  # 2 F(0) = 5
            found = poses_of(motion.at(np.linspace(0.0, motion.t[-1] - 1e-6, 120)))
            kept = np.logical_and.accumulate((np.abs(found.rate) > 1e-3) & (np.abs(found.phi) < 1.2))
            phi, p = found.phi[kept], (2 * _energies(shop, found, params)[0])[kept] / found.rate[kept]
            curves += [(phi, p, label), (phi, -p, label)]  # the same backwards in time
        return phase_portrait(curves)

    return Picture(
        "portrait",
        "Phase curves through the singular point where the branches touch, on both branches. All that meet at phi = 0 "
        "have the same momentum there, and the two branches have slopes of opposite sign.",
        make,
    )
