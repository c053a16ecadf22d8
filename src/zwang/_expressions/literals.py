"""Numbers on their way into an expression: Python's, NumPy's and SymPy's, each in one form.

SymPy tells ``Float(0)`` from 0 and a number of 50 digits from its double. Neither has a text of its own, so both would
be lost between a declaration and its file. Every float becomes a double here, and a float that is zero becomes 0.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from typing import Any

import sympy as sp

DOUBLE = 53
"""Bits of the significand of a double."""


def number(value: Any) -> sp.Expr | None:
    """Return a real number of Python or NumPy as an expression; None for what is no real number.

    Examples
    --------
    >>> import numpy as np
    >>> number(-0.0), number(np.int64(2)), number(np.float64(0.5)), number(True)
    (0, 2, 0.500000000000000, None)
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar, or an array without axes
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, sp.Number, Decimal)):
        return None
    if isinstance(value, sp.Number):
        return in_doubles(value)
    if isinstance(value, numbers.Integral):
        return sp.Integer(int(value))
    if isinstance(value, numbers.Rational):
        return sp.Rational(int(value.numerator), int(value.denominator))
    return in_doubles(sp.Float(float(value)))


def in_doubles(expr: Any) -> Any:
    """Return the expression with every float in it a double, and 0 in the place of every float that is zero.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> in_doubles(x ** sp.Float(0.0)), in_doubles(sp.Float("0.1", 50)) == sp.Float(0.1)
    (1, True)
    """
    changed: dict[Any, Any] = {}
    seen: set[Any] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, sp.Float):
            if node._prec != DOUBLE or not node:
                changed[node] = _double(node)
        else:
            stack.extend(node.args)
    try:
        return _rebuilt(expr, changed, {}) if changed else expr
    except RecursionError:
        return expr  # the printer refuses what is nested so deeply


def _double(value: sp.Float) -> sp.Expr:
    rounded = float(value)
    if not math.isfinite(rounded) or (rounded == 0.0 and value):
        return value  # beyond the range of a double: the printer refuses it by name
    return sp.Float(rounded) if rounded else sp.Integer(0)


def _rebuilt(expr: Any, changed: dict[Any, Any], known: dict[Any, Any]) -> Any:
    if expr in changed:
        return changed[expr]
    if not expr.args:
        return expr
    if expr not in known:
        parts = [_rebuilt(part, changed, known) for part in expr.args]
        if all(part is old for part, old in zip(parts, expr.args, strict=True)):
            known[expr] = expr
        elif isinstance(expr, (sp.Piecewise, sp.core.relational.Relational)):
            known[expr] = expr.func(*parts, evaluate=False)  # evaluated, SymPy would solve and prove conditions
        else:
            known[expr] = expr.func(*parts)
    return known[expr]
