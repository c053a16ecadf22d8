"""Why a configuration space is empty: what a person would want to be told."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from zwang._trace.sampling import Solver

Array = NDArray[np.float64]


def why_empty(solver: Solver, x: Array, outside: int, box: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return sentences: a constraint that can't hold by itself, a box that leaves everything out."""
    notes = []
    if outside:
        where = f"the box {', '.join(f'{low:g} <= {name} <= {high:g}' for name, (low, high) in box.items())}"
        what = where if box else "the one-sided constraints"
        notes.append(f"Configurations that satisfy the bilateral constraints were found, but none within {what}.")
        return notes
    alone = [str(item.name) for k, item in enumerate(solver.equations.held) if not _possible(solver, x, k)]
    if alone:
        listed = ", ".join(f"'{name}'" for name in alone)
        notes.append(f"No configuration was found that satisfies {listed} by itself: look at the parameters in it.")
    elif len(solver.equations.held) > 1:
        notes.append("Each constraint can be satisfied by itself, but no configuration was found that satisfies all.")
    notes.append(f"None was found from {len(x)} starts, which is no proof: search='exhaustive' gives one in a box.")
    return notes


def _possible(solver: Solver, x: Array, number: int) -> bool:
    """Say whether one constraint alone can be satisfied, from a few starts."""
    before = solver.mix
    solver.mix = np.ascontiguousarray(solver.every[number : number + 1])
    try:
        return bool(len(solver.project(x[:60], most=60).x))
    finally:
        solver.mix = before
