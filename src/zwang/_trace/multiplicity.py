"""Constraints with squared factors: the same set from factors taken once, and how often each counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral
from zwang._declare.system import System
from zwang._results.configuration import Branch
from zwang._trace.equations import SpaceEquations

Array = NDArray[np.float64]
Factors = list[tuple[Any, int]]


def without_squares(equations: SpaceEquations, params: Array) -> tuple[System, dict[str, Factors]] | None:
    """Return the system with every factor of its constraints taken once, and the factors; None if there is none twice.

    Parameters that are zero are put in first: they may be what makes an expression a square.
    """
    system = equations.system
    gone = {symbol: 0 for symbol, value in zip(system.parameters, params, strict=True) if value == 0}
    table: dict[str, Factors] = {}
    changed: list[Any] = []
    for item in system.constraints:
        if item not in equations.held:
            changed.append(item)
            continue
        try:
            _, factors = sp.factor_list(item.expr.xreplace(gone))
        except sp.PolynomialError:
            factors = [(item.expr, 1)]
        kept = [(factor, int(power)) for factor, power in factors if factor.has(*system.coordinates)]
        if any(power > 1 for _, power in kept):
            table[str(item.name)] = kept
            item = Bilateral(sp.Mul(*(factor for factor, _ in kept)), name=item.name)  # noqa: PLW2901
        changed.append(item)
    return (system.replace(constraints=changed), table) if table else None


def counted(system: System, params: Array, table: dict[str, Factors], branches: Sequence[Branch]) -> list[Branch]:
    """Return arcs with the multiplicity that the factors which vanish along them give."""
    values = dict(zip(system.parameters, (float(value) for value in params), strict=True))
    result = []
    for branch in branches:
        at = branch.position(np.array([0.37, 0.61]) * branch.length)
        times = 1
        for factors in table.values():
            powers = []
            for factor, power in factors:
                sizes = [
                    abs(float(factor.subs({**values, **dict(zip(system.coordinates, q, strict=True))}))) for q in at
                ]
                powers.append((max(sizes), power))
            times *= min(powers)[1]
        result.append(replace(branch, multiplicity=times))
    return result
