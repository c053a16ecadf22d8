"""Isolated configurations at which the constraints are dependent: double assemblies, which look as if they could move.

Where as many equations as coordinates meet in a double root, the rank is lower by one, as on a curve. A step along the
kernel and back onto all equations tells them apart: on a curve it arrives elsewhere, at a double root it comes back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._trace.sampling import Solver

Array = NDArray[np.float64]
STEP = 1e-2  # scaled: a step along the tangent
ON = 1e-8  # residual of a configuration, scaled


def can_move(solver: Solver, x: Array) -> bool:
    """Say whether any of the points (k, n), in x, has others of the set at a small distance along its kernel."""
    scale = solver.place.scale
    for row in x:
        _, rows = solver.place.values(row * scale)
        tangent = np.linalg.svd(rows)[2][-1]
        starts = np.array([row + STEP * tangent, row - STEP * tangent])
        arrived = solver.project(starts, 200, every=True).x
        if any(np.linalg.norm(other - row) > 0.3 * STEP for other in arrived):
            return True
    return False


def polished(solver: Solver, x: Array) -> Array:
    """Return double assemblies refined: constraints and their dependence are solved together."""
    if not len(x):
        return x
    mix = solver.mix
    solver.mix = solver.every
    refined, _, residuals = solver.singular(x)
    solver.mix = mix
    good = (residuals <= ON) & (np.abs(refined - x).max(axis=1) < 1e-3)
    return np.asarray(np.where(good[:, None], refined, x))
