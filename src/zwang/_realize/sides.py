"""One-sided expressions: one thing where f < 0, another where f >= 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp


def by_side(f: Any, below: Callable[[Any], Any], above: Callable[[Any], Any]) -> Any:
    """Return ``below(f)`` where f < 0 and ``above(f)`` elsewhere, as a Piecewise.

    Where f is piecewise itself, its pieces come first: a condition on a Piecewise is no condition that a model file
    can hold.
    """
    if not f.has(sp.Piecewise):
        return sp.Piecewise((below(f), f < 0), (above(f), True))
    pairs = []
    for value, condition in sp.piecewise_fold(f).args:
        pairs += [(below(value), sp.And(condition, value < 0)), (above(value), condition)]
    return sp.Piecewise(*pairs)


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two expressions.

    SymPy's Max tries to decide between its arguments each time it is built: seconds for the gap of a mechanism.
    """
    if a.has(sp.Piecewise) or b.has(sp.Piecewise):
        return sp.Max(a, b)
    return sp.Piecewise((a, a > b), (b, True))
