"""The type of a singular point in exact arithmetic.

The coordinates of the point are recognized as rational numbers or rational parts of a turn, and it is checked exactly
that the constraints vanish there and are dependent. What is left of them in the kernel is one equation g(x, y) = 0 with
rational coefficients (Lyapunov-Schmidt), and its Newton polygon decides the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from zwang._numerics.series import reduction
from zwang._numerics.series.arithmetic import PI, Undecided, decided
from zwang._numerics.series.field import eliminate, solve
from zwang._numerics.series.germ import Germ, germ
from zwang._numerics.series.power import Series, ring
from zwang._numerics.series.rationals import RATIONALS, Turned
from zwang._numerics.series.reduction import Split
from zwang._numerics.series.roots import squarefree
from zwang._trace.formulas import ExactEquations, Formulas
from zwang._trace.local import kind_of

DEGREES = (4, 8, 12)
CLOSE = 1e-9
"""How near a coordinate must be to the simple number that it is taken for; the proof does not rest on it."""
LARGEST = 1000
"""Denominators of coordinates that are tried."""


@dataclass(frozen=True)
class ExactType:
    """The type of a singular point, proved.

    Attributes
    ----------
    kind : str
        crossing, tangency, cusp, isolated or higher.
    half_branches : int
    order : int or None
        Of contact, at a tangency.
    simple : bool
        Whether the lowest terms of the reduced equation are different lines, real or not.
    coordinates : tuple of str
        The exact point.
    """

    kind: str
    half_branches: int
    order: int | None
    simple: bool
    coordinates: tuple[str, ...]


def exact_type(equations: ExactEquations, q: Sequence[float]) -> ExactType | None:
    """Return the exact type of the singular point near q; None where exact rationals don't reach it."""
    place = [_recognized(float(x), angle) for x, angle in zip(q, equations.angles, strict=True)]
    known = [item for item in place if item is not None]
    if len(known) < len(place):
        return None
    formulas = Formulas(equations.values, equations.coordinates, equations.name)

    def values(point: Sequence[Series]) -> list[Any]:
        return formulas(point, RATIONALS)

    def told(degree: int, split: Split) -> ExactType:
        (reduced,), _ = reduction.reduce(values, split, degree, RATIONALS)
        found = germ(reduced)
        if not found.decided:
            raise Undecided("its branches are not told apart")
        _, kind, order = kind_of(found.branches)
        contact = None if order is None else int(np.max(order, initial=0, where=np.isfinite(order)))
        return ExactType(kind, len(found.branches), contact, _is_simple(reduced, found), tuple(map(str, known)))

    try:
        split = _split(values, known)
        return None if split is None else decided(lambda degree: told(degree, split), DEGREES)
    except (Undecided, ZeroDivisionError):
        return None


def _recognized(x: float, angle: bool) -> Turned | None:
    """Return the simple exact number that a float is to rounding: a rational, or a rational part of a turn."""
    if angle:
        turns = Fraction(x / math.pi).limit_denominator(12)
        if abs(float(turns) * math.pi - x) <= CLOSE * (1 + abs(x)):
            return RATIONALS.number(PI) * RATIONALS.number(turns)
    simple = Fraction(x).limit_denominator(LARGEST)
    return RATIONALS.number(simple) if abs(float(simple) - x) <= CLOSE * (1 + abs(x)) else None


def _split(values: Callable[[Sequence[Series]], list[Any]], place: list[Turned]) -> Split | None:
    """Return the splitting at an exact point; None where it is not on the constraints or not of corank one."""
    n, R = len(place), ring(RATIONALS, len(place))
    line = values([R.variable(j, 2, value) for j, value in enumerate(place)])
    constants = [item.constant if isinstance(item, Series) else item for item in line]
    m = len(constants)
    if any(item != 0 for item in constants) or n - m != 1:
        return None
    rows = [[item.coefficient(1 + j) if isinstance(item, Series) else R.zero for j in range(n)] for item in line]
    _, numbers, columns, _ = eliminate(rows, n, RATIONALS)
    r = len(numbers)
    if r != m - 1:
        return None
    pivots, free = columns[:r], columns[r:]
    left = next(i for i in range(m) if i not in numbers)
    core = [[rows[i][j] for j in pivots] for i in numbers]
    units = [[RATIONALS.number(int(i == k)) for i in range(r)] for k in range(r)]
    inverse = [list(row) for row in zip(*solve(core, units, RATIONALS), strict=True)] if r else []
    kernel = [_unit(n, [j, *pivots], [1, *_solved(core, [rows[i][j] for i in numbers])]) for j in free]
    turned = [list(column) for column in zip(*core, strict=True)]
    cokernel = _unit(m, [left, *numbers], [1, *_solved(turned, [rows[left][j] for j in pivots])])
    across = [_unit(n, [j], [1]) for j in pivots]
    return Split(place, kernel, across, [_unit(m, [i], [1]) for i in numbers], [cokernel], inverse)


def _solved(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Return what makes up for a column."""
    return [-item for item in solve(matrix, [right], RATIONALS)[0]] if matrix else []


def _unit(size: int, places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    found = [RATIONALS.number(0)] * size
    for place, value in zip(places, values, strict=True):
        found[place] = RATIONALS.number(value)
    return found


def _is_simple(reduced: Series, found: Germ) -> bool:
    """Whether the lowest terms are different lines, real or not."""
    terms, d = reduced.terms(), found.degree
    form = [terms.get((d - j, j), RATIONALS.number(0)) for j in range(d + 1)]
    while form and form[-1] == 0:
        form.pop()
    upright = d + 1 - len(form)
    return upright <= 1 and all(times == 1 for _, times in squarefree(form, RATIONALS))
