"""One solution by a semismooth Newton method, for any planar law, from several starts.

The laws are equations between projections: min(N, a_n) = 0 for a unilateral contact, T = the part of T - a_t within
[-mu |N|, mu |N|] for one at rest. Each step assumes the mode that the projections show, solves its linear equations,
and goes on until the modes stay. What it returns is an approximation to be verified.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.pieces import conditions
from zwang._numerics.contact.scaled import Reduced

Array = npt.NDArray[np.float64]


def newton(problem: Reduced, *, starts: int = 24, steps: int = 60, seed: int = 0) -> Array | None:
    """Return scaled forces that satisfy the conditions of a mode up to 1e-7, None if no start leads to any."""
    rng = np.random.default_rng(seed)
    for start in range(starts):
        z = np.zeros(problem.size) if start == 0 else rng.normal(size=problem.size)
        seen: set[tuple[int, ...]] = set()
        for _ in range(steps):
            modes = tuple(projected_mode(problem, c, z) for c in range(problem.count))
            if modes in seen:
                # a cycle of modes: leave it, half-way and a little to the side
                z = 0.5 * z + 0.1 * rng.normal(size=problem.size)
                seen.clear()
                continue
            seen.add(modes)
            equations, inequalities, _ = conditions(problem, modes)
            new: Array = np.linalg.lstsq(equations[:, :-1], -equations[:, -1], rcond=1e-12)[0].astype(float)
            values = inequalities[:, :-1] @ new + inequalities[:, -1]
            size = max(1.0, float(np.abs(new).max(initial=0.0)))
            off = np.abs(equations[:, :-1] @ new + equations[:, -1]).max(initial=0.0)
            if off <= 1e-7 * size and values.min(initial=0.0) >= -1e-7 * size:
                return new
            z = new
    return None


def _room(problem: Reduced, contact: int, normal: float, aim: float) -> tuple[float, float]:
    """Return how far a friction force is inside the two bounds at rest."""
    modes = problem.tables[contact].modes
    if problem.laws[contact] is Law.UNILATERAL_REST:
        stick = modes[1]
    else:
        stick = modes[3] if problem.laws[contact] is Law.BILATERAL_REST and normal < 0 else modes[0]
    first, second = (form[0] * normal + form[1] * aim + form[4] for form in stick.inequalities)
    return float(first), float(second)


def projected_mode(problem: Reduced, contact: int, z: Array) -> int:
    """Return the mode of a contact that the projections of the laws show at any forces z."""
    law, n, t = problem.laws[contact], problem.normal[contact], problem.tangent[contact]
    if law in {Law.KNOWN, Law.BILATERAL, Law.FOLLOWS_SLIDING}:
        return 0
    if law in {Law.BILATERAL_SLIDING, Law.BILATERAL_SIGNED}:
        return 0 if z[n] >= 0 else 1
    u_n = problem.gram[n] @ z + problem.free[n] if n >= 0 else 0.0
    if law is Law.UNILATERAL:
        return 0 if z[n] - u_n < 0 else 1
    if law is Law.UNILATERAL_REST and z[n] - u_n < 0:
        return 0
    aim = z[t] - (problem.gram[t] @ z + problem.free[t])
    alone = law in {Law.TRESCA_REST, Law.FOLLOWS_REST}
    load = abs(float(z[problem.normal[problem.master[contact]]])) if law is Law.FOLLOWS_REST else 0.0
    below, above = _room(problem, contact, load if alone else float(z[n]), aim)
    slip = 0 if below >= 0 and above >= 0 else (1 if below < 0 else 2)
    if alone:
        return slip
    if law is Law.BILATERAL_REST:
        return slip + (0 if z[n] >= 0 else 3)
    return 1 + slip
