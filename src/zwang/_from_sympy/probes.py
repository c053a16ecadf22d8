"""Questions about expressions that random places answer: what vanishes, which rows are independent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

PROBES = 3  # random points at which two matrices must agree
DIGITS = 50  # beyond any cancellation in expressions that people write
NEWTON = 20  # steps; quadratic from points that lie near the surface


def rank(matrix: Any) -> int:
    """Return the rank of a matrix of expressions, the highest at a few random places."""
    return max(_rank(here) for here in _places(matrix))


def independent_rows(matrix: Any) -> list[int]:
    """Return the first rows that span the others at a random place."""
    here = _places(matrix)[0]
    kept: list[int] = []
    for row in range(here.rows):
        if _rank(here.extract([*kept, row], list(range(here.cols)))) > len(kept):
            kept.append(row)
    return kept


def vanishes(expr: Any) -> bool:
    """Say whether an expression is zero, wherever it is asked."""
    return expr == 0 or all(_is_zero(here[0]) for here in _places(sp.Matrix([expr])))


def follows(row: Any, rows: list[Any], surface: list[Any], unknowns: Sequence[Any]) -> bool:
    """Say whether a row of expressions is a combination of others at random places where `surface` vanishes."""
    if not rows:
        return False
    return all(_rank(here) == _rank(here[:-1, :]) for here in _places(sp.Matrix([*rows, row]), surface, unknowns))


def _places(matrix: Any, surface: Sequence[Any] = (), unknowns: Sequence[Any] = ()) -> list[Any]:
    source = random.Random(3)
    functions = matrix.atoms(AppliedUndef, sp.Derivative)
    symbols = functions | matrix.free_symbols | sp.Matrix(surface).free_symbols
    found = []
    for _ in range(PROBES):
        # Rational places: the ranks are then exact wherever the entries are algebraic.
        values = {item: sp.Rational(source.randint(3, 97), 31) for item in sorted(symbols, key=sp.default_sort_key)}
        values = _onto(values, sp.Matrix(surface), [item for item in unknowns if item in values])
        found.append(matrix.xreplace(values).evalf(DIGITS))
    return found


def _onto(values: dict[Any, Any], surface: Any, unknowns: list[Any]) -> dict[Any, Any]:
    """Return the values moved to where a surface vanishes; as they were, if Newton's method does not lead there."""
    if not len(surface) or not unknowns:
        return values
    slopes, here = surface.jacobian(unknowns), dict(values)
    for _ in range(NEWTON):
        off = surface.xreplace(here).evalf(DIGITS)
        if all(_is_zero(item) for item in off):
            return here
        normal = slopes.xreplace(here).evalf(DIGITS)
        if _rank(normal) < normal.rows:
            return values
        step = normal.T * (normal * normal.T).LUsolve(off)
        here |= {item: here[item] - change for item, change in zip(unknowns, step, strict=True)}
    return values


def _rank(numbers: Any) -> int:
    return int(numbers.rank(iszerofunc=_is_zero)) if numbers.rows and numbers.cols else 0


def _is_zero(number: Any) -> bool:
    return bool(abs(number) < 1e-30)
