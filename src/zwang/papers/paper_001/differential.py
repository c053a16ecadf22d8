"""Constraints on velocities beside geometric ones, as sections 1 and 3 of paper 001 allow them: (1.1) and (3.1) on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from zwang import (
    Bilateral,
    Contact,
    ContactProblem,
    Coulomb,
    Model,
    System,
    Unilateral,
    compile,
    contact_problem,
    coordinates,
    hold,
    parameters,
    reactions,
    t,
)
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_printed, sound
from zwang.papers.wording import num, share
from zwang.papers.workshop import Workshop


@lru_cache(maxsize=1)
def _sledge() -> Model:
    """Return a sledge on a rough, rising floor: led by a bent rail, steered by a blade in a moving stream."""
    (x, y, z, angle), (vx, vy, vz, spin) = coordinates("x y z angle")
    m, J, mu, rough, g = parameters("m J mu rough g")
    return compile(
        System(
            name="sledge",
            kinetic=m * (vx**2 + vy**2 + vz**2) / 2 + J * spin**2 / 2 + m * vx * spin * sp.sin(angle) / 4,
            potential=m * g * z,
            forces={x: -sp.Rational(1, 5) * vx, angle: sp.cos(x)},
            constraints=[
                Bilateral(vy * sp.cos(angle) - vx * sp.sin(angle) - sp.sin(t) * x / 3, name="blade"),
                Bilateral(y + z / 2 - sp.sin(angle) - t**2 / 5, friction=Coulomb(rough, slip=vx - vz / 3), name="rail"),
                Unilateral(z - x**2 / 4 - t**2 / 3, friction=Coulomb(mu, slip=vx + x * vz / 2), name="floor"),
            ],
        )
    )


def _case(rng: Any, *, rest: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Return a state on all constraints, moving or with the floor's contact at rest, and parameters."""
    params = {"m": float(rng.uniform(0.5, 2)), "J": float(rng.uniform(0.3, 1)), "g": float(rng.uniform(-3, 9))}
    params |= {"mu": float(rng.uniform(0, 0.6)), "rough": float(rng.uniform(0, 0.4))}
    guess = {"t": float(rng.uniform(0.2, 1.5)), "x": float(rng.uniform(-1, 1)), "y": 0.0, "z": 0.0}
    guess |= {"angle": float(rng.uniform(-1, 1)), "v_x": float(rng.choice([-1, 1]) * rng.uniform(0.3, 2))}
    guess |= {"v_y": 0.0, "v_z": 0.0, "v_angle": 0.0}
    held = ["blade", "rail", "floor"]
    fixed, slips = ([], {"floor": 0.0}) if rest else (["v_x"], {})
    return hold(_sledge(), guess, params, held, fixed=fixed, slips=slips), params


def _grown(state: dict[str, float], w: Any) -> list[float]:
    """Return d/dt of the blade's expression and d^2/dt^2 of the others along q + v s + w s^2/2, by differences."""
    system = _sledge().system
    q = [item.name for item in system.coordinates]
    found = []
    with mpmath.workdps(40):
        item: Any
        for item in system.constraints:
            compute = sp.lambdify([t, *system.coordinates, *system.velocities], item.expr, "mpmath")

            def along(s: Any, compute: Any = compute) -> Any:
                path = [state[n] + state[f"v_{n}"] * s + a * s**2 / 2 for n, a in zip(q, w, strict=True)]
                return compute(state["t"] + s, *path, *(state[f"v_{n}"] + a * s for n, a in zip(q, w, strict=True)))

            found.append(float(mpmath.diff(along, 0, 1 if item.name == "blade" else 2)))
    return found


def _without_blade(problem: ContactProblem) -> Any:
    """Return the accelerations after the blade was eliminated: w = w_0 + S a, S a basis of what it leaves free."""
    rows = problem.rows
    C, d = rows.normal[:1], rows.bias[:1]
    start, S = np.linalg.lstsq(C, d, rcond=None)[0], np.linalg.svd(C)[2][1:].T
    contacts = [
        Contact(
            rows.normal[j] @ S,
            tangent=rows.tangent[rows.first[j]] @ S,
            friction=float(rows.friction[j]),
            bias=float(rows.bias[j] - rows.normal[j] @ start),
            tangent_bias=float(rows.tangent_bias[rows.first[j]] - rows.tangent[rows.first[j]] @ start),
            bilateral=bool(rows.bilateral[j]),
            slip=float(rows.slip[rows.first[j]]),
        )
        for j in (1, 2)
    ]
    force = S.T @ (problem.force - problem.mass @ start)
    found: Any = reactions(ContactProblem(S.T @ problem.mass @ S, force, contacts))
    return np.array([start + S @ item for item in found.accelerations])


@claim(
    "001-differential",
    place="(1.1) to (1.6), (3.1) to (3.4), with differential constraints and one-sided ones",
    statement="Constraints on velocities enter like geometric ones, differentiated once: the forces that solve the "
    "problem are those for which `(x + T - B, n)` vanishes at every constraint, and is not negative where a one-sided "
    "one lets go.",
    printed="`(x + T(x), n_alpha) = gamma_alpha`, `(x + T(x) - B, n_alpha) = 0`, `>=` where a contact lets go",
    recorded="confirmed",
)
def differential(shop: Workshop) -> Finding:
    rng, count = shop.rng(72), shop.many(16, 160)
    worst = balance = other = residual = 0.0
    solutions, loose, apart = 0, 0, 0
    for case in range(count):
        state, params = _case(rng, rest=bool(case % 2))
        found: Any = reactions(_sledge(), state, params)
        problem = contact_problem(_sledge(), state, params)
        rows, inverse = problem.rows, np.linalg.inv(problem.mass)
        B = rows.normal.T @ np.linalg.solve(rows.normal @ inverse @ rows.normal.T, rows.bias)
        for solution in found.solutions:
            rub = [float(np.ravel(item)[0]) for item in solution.tangential[1:]]
            tangents = rows.tangent.T @ rub  # of rail and floor: the blade is smooth
            x = problem.force + rows.normal.T @ solution.normal
            gaps = rows.normal @ inverse @ (x + tangents - B)
            drift = _grown(state, solution.acceleration)
            free = [
                name == "floor" and mode == "open" for name, mode in zip(solution.names, solution.modes, strict=True)
            ]
            size = 1 + float(np.abs(solution.acceleration).max())
            worst = max(worst, *(max(-g, 0.0) if f else abs(g) for g, f in zip(gaps, free, strict=True)))
            balance = max(balance, float(np.abs(np.array(drift) - gaps).max()) / size)
            residual, solutions, loose = max(residual, found.residual), solutions + 1, loose + any(free)
        reduced = _without_blade(problem)
        if len(reduced) != len(found.accelerations):
            apart += 1
        elif len(reduced):
            order = [np.lexsort(np.round(group, 6).T) for group in (reduced, found.accelerations)]
            other = max(other, float(np.abs(reduced[order[0]] - found.accelerations[order[1]]).max()))
    return Finding(
        computed=f"A sledge with a blade (on velocities, moving), a rough rail and a rough floor, {count} states, "
        f"{solutions} solutions, {loose} with the floor let go: (3.1) to (3.3) hold to {num(worst, 1)}; along the "
        f"motion the constraints change as these say, to {num(balance, 1)}; with the blade eliminated first, "
        f"{share(count - apart, count)} have the same accelerations.",
        comparisons=(
            as_printed("(3.3), and (3.2) where the floor lets go", worst, 0.0),
            as_printed("what the constraints do along the motion", balance, 0.0),
            as_printed("accelerations with the blade eliminated", other, 0.0, tol=1e-8),
            sound("as many of them", apart, 0),
            sound("closed and open floors were met", 0 < loose < solutions),
        ),
        residual=residual,
    )
