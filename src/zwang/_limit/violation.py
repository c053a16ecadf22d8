"""How far strong friction lets a constraint on velocities be violated: b/rho, known from the ideal motion.

With u = W v + h the violations (u <= 0 is permitted), phi = max(u, 0), G = W M^-1 W^T on what the other constraints
leave, and d the distance of v to the permitted velocities in the kinetic metric, y the unit multipliers in whose
direction it lies (y G y = 1): d = y u, d' <= y (the drive of u) - rho y G phi. The first term is at most the size of
the ideal reaction, b = |W^T lam| in the metric M^-1. In the second, d y G phi >= |phi|^2, and |phi| >= d/|y| >=
d sqrt(least eigenvalue of G). So d <= b/(rho least eigenvalue), and u_j <= sqrt(G_jj) d; for one row u <= lam/rho, as
Salnikova, Kugushev and Demidov (2023) have it. Along the ideal motion this is the bound to first order in 1/rho.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import resolve
from zwang._declare.constraints import Bilateral, Friction
from zwang._limit.ideal import Ideal, IdealStart
from zwang._limit.ways import Softened
from zwang._realize import Viscosity

Array = NDArray[np.float64]


def made_by_friction(softened: Softened) -> bool:
    """Say whether all realized constraints are made by viscous friction."""
    return all(isinstance(softened.ways[name], Viscosity) for name in softened.names)


def violation_times_strength(softened: Softened, ideal: Ideal | None, start: IdealStart, edges: Array) -> float:
    """Return rho times the bound on every violation.

    It is nan where realized constraints are not all made by friction, and where the motion starts with a violation.
    """
    if ideal is None or not made_by_friction(softened) or start.removed > 0:
        return float("nan")
    motion, model, system = ideal.motion, ideal.model, ideal.model.system
    times = np.unique(np.clip(np.concatenate([edges, motion.t]), motion.t[0], motion.t[-1]))
    lam = np.stack([np.abs(ideal.reactions(times)[name]) for name in softened.names])
    state = {**motion.at(times), "t": times}
    inputs = resolve(system, state, motion.params)
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    soft = [k for k, item in enumerate(normals) if item.name in softened.names]
    held = [k for k, item in enumerate(normals) if isinstance(item, Bilateral) and k not in soft]
    largest, weakest, diagonal = 0.0, np.inf, 0.0
    for place in range(len(times)):
        mass, rows, _, _ = terms.at(place)
        G = _mobility(mass, rows[soft], rows[held])
        largest = max(largest, float(np.sqrt(max(lam[:, place] @ G @ lam[:, place], 0.0))))
        weakest = min(weakest, float(np.linalg.eigvalsh(G)[0]))
        diagonal = max(diagonal, float(np.sqrt(np.diag(G).max())))
    return diagonal * largest / weakest if weakest > 0 else float("nan")


def _mobility(mass: Array, rows: Array, held: Array) -> Array:
    """Return W M^-1 W^T with the directions of the held rows taken out."""
    everything = np.vstack([rows, held])
    gram = everything @ np.linalg.solve(mass, everything.T)
    m = len(rows)
    return np.asarray(gram[:m, :m] - gram[:m, m:] @ np.linalg.pinv(gram[m:, m:]) @ gram[m:, :m])
