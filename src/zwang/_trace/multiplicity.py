"""How often a curve counts: from squared factors of single constraints, or from all of them in a plane across it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral
from zwang._declare.system import System
from zwang._numerics.series.power import monomials
from zwang._results.configuration import Branch, ConfigurationSpace
from zwang._trace.local_reduction import frame, reduce
from zwang._trace.space_equations import SpaceEquations, SpacePlace

Array = NDArray[np.float64]
Factors = list[tuple[Any, int]]
DEGREES = (4, 8, 12, 16)
"""Of the reduced equations, until powers beyond are among their multiples; 16 for multiplicities up to that."""
SMALL = 1e-7
"""Singular values of the multiples of the reduced equations below this part of the largest are rounding."""


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


@dataclass(frozen=True)
class CountedFactors:
    """How often the factors of constraints count: of a system with values, those of each constraint by its name."""

    system: System
    params: Array
    table: dict[str, Factors]

    def times(self, at: Array) -> int:
        """Return the multiplicity that the factors which vanish at all of some points (k, n) give."""
        values = dict(zip(self.system.parameters, (float(value) for value in self.params), strict=True))
        places = [{**values, **dict(zip(self.system.coordinates, q, strict=True))} for q in at]
        times = 1
        for factors in self.table.values():
            sizes = [(max(abs(float(factor.subs(place))) for place in places), power) for factor, power in factors]
            times *= min(sizes)[1]
        return times

    def of_arcs(self, branches: Sequence[Branch]) -> list[Branch]:
        """Return arcs with their multiplicity."""
        parts = np.array([0.37, 0.61])
        return [
            replace(branch, multiplicity=branch.multiplicity * self.times(branch.position(parts * branch.length)))
            for branch in branches
        ]

    def of_surfaces(self, space: ConfigurationSpace) -> ConfigurationSpace:
        """Return a space whose pieces of a surface have their multiplicity."""
        if space.surface is None:
            return space
        q, pieces = space.surface.points, list(space.pieces)
        for k, piece in enumerate(pieces):
            own = np.flatnonzero(space.surface.piece == piece.number)
            if piece.dimension == 2 and len(own):
                pieces[k] = replace(piece, multiplicity=self.times(q[own[[len(own) // 3, 2 * len(own) // 3]]]))
        return replace(space, pieces=tuple(pieces))


def multiplicity_at(place: SpacePlace, q: Array, rank: int, tangent: Array) -> int:
    """Return how often the equations count a curve with this tangent (in x) at a point of it; 0 where it isn't found.

    In the plane across the curve the equations leave finitely many products of coordinates that are no combinations of
    their multiples: that number. It is found when terms of one more degree add nothing (Nakayama).
    """
    at = frame(place, q, rank)
    along = at.kernel.T @ tangent
    across = np.linalg.svd(along[None])[2][1:].T
    if not across.shape[1]:
        return 1
    at = replace(at, kernel=at.kernel @ across)
    for degree in DEGREES:
        reduced = reduce(at, degree)
        found = [_left(reduced.coefficients, across.shape[1], degree, cut) for cut in (degree - 1, degree)]
        if found[0] == found[1]:
            return found[0]
    return 0


def _left(coefficients: Array, variables: int, degree: int, cut: int) -> int:
    """Return how many monomials up to degree `cut` are independent modulo the multiples of polynomials.

    Examples
    --------
    >>> x_squared = np.array([[0.0, 0.0, 1.0, 0.0]])
    >>> _left(x_squared, 1, 3, 3)
    2
    """
    M, kept = monomials(variables, degree), monomials(variables, cut)
    rows = []
    for row in coefficients:
        for factor in kept.rows:
            multiple = np.zeros(kept.size)
            for exponents, value in zip(M.rows, row, strict=True):
                place = kept.places.get(tuple(a + b for a, b in zip(exponents, factor, strict=True)))
                if place is not None:
                    multiple[place] = value
            rows.append(multiple)
    sizes = np.linalg.svd(np.array(rows).reshape(-1, kept.size), compute_uv=False)
    return int(kept.size - np.count_nonzero(sizes > SMALL * max(sizes.max(initial=0.0), 1e-300)))
