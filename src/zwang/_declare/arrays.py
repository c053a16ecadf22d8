"""Expressions at arrays of numbers, node by node with NumPy: what drawings and films of a motion are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp

_OPERATIONS: dict[type, Callable[..., Any]] = {
    sp.Add: lambda *terms: reduce(np.add, terms),
    sp.Mul: lambda *factors: reduce(np.multiply, factors),
    sp.Pow: np.float_power,
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
    sp.atan: np.arctan,
    sp.atan2: np.arctan2,
    sp.sinh: np.sinh,
    sp.cosh: np.cosh,
    sp.tanh: np.tanh,
    sp.asinh: np.arcsinh,
    sp.acosh: np.arccosh,
    sp.atanh: np.arctanh,
    sp.exp: np.exp,
    sp.log: np.log,
    sp.Abs: np.abs,
    sp.sign: np.sign,
    sp.Heaviside: np.heaviside,
    sp.Max: lambda *values: reduce(np.maximum, values),
    sp.Min: lambda *values: reduce(np.minimum, values),
    sp.StrictLessThan: np.less,
    sp.LessThan: np.less_equal,
    sp.StrictGreaterThan: np.greater,
    sp.GreaterThan: np.greater_equal,
    sp.Equality: np.equal,
    sp.Unequality: np.not_equal,
    sp.And: lambda *conditions: reduce(np.logical_and, conditions),
    sp.Or: lambda *conditions: reduce(np.logical_or, conditions),
    sp.Not: np.logical_not,
    sp.ITE: np.where,
    sp.functions.elementary.piecewise.ExprCondPair: lambda value, condition: (value, condition),
    sp.Piecewise: lambda *pairs: _first_that_holds(pairs),
}


def _first_that_holds(pairs: Sequence[tuple[Any, Any]]) -> Any:
    value: Any = np.nan
    for piece, condition in reversed(pairs):
        value = np.where(condition, piece, value)
    return value


def numbers_of(expressions: Sequence[Any], values: Mapping[Any, Any]) -> list[Any]:
    """Return expressions as numbers or arrays; values are by symbol, or by the name of the symbol.

    Examples
    --------
    >>> x, y = sp.symbols("x y", real=True)
    >>> [float(item) for item in numbers_of([x * y, sp.sqrt(x)], {"x": 4.0, "y": 0.5})]
    [2.0, 2.0]
    """
    known: dict[Any, Any] = {}
    with np.errstate(all="ignore"):  # a piece that isn't taken may have no value
        return [_value(sp.Add(item), values, known) for item in expressions]


def _value(root: Any, values: Mapping[Any, Any], known: dict[Any, Any]) -> Any:
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [item for item in node.args if item not in known] if node not in known else []
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if node not in known:
            known[node] = _one(node, values, [known[item] for item in node.args])
    return known[root]


def _one(node: Any, values: Mapping[Any, Any], arguments: list[Any]) -> Any:
    if node.is_Symbol:
        found = values.get(node, values.get(node.name))
        return np.asarray(found, dtype=float)
    if not node.args:
        return bool(node) if node in (sp.true, sp.false) else float(node)
    return _OPERATIONS[node.func](*arguments)
