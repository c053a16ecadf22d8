"""Expressions at numbers, without code made from them: what the checks of a declaration look at.

Nothing is built on the way. SymPy's lambdify rebuilds an expression several times, and each time asks what is known of
every condition in it: seconds for the damped contact of two bodies, and a few evaluations are all that is needed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp

_OPERATIONS: dict[type, Callable[..., Any]] = {
    sp.Add: lambda *terms: math.fsum(terms),
    sp.Mul: lambda *factors: math.prod(factors),
    sp.Pow: math.pow,
    sp.sin: math.sin,
    sp.cos: math.cos,
    sp.tan: math.tan,
    sp.asin: math.asin,
    sp.acos: math.acos,
    sp.atan: math.atan,
    sp.atan2: math.atan2,
    sp.sinh: math.sinh,
    sp.cosh: math.cosh,
    sp.tanh: math.tanh,
    sp.asinh: math.asinh,
    sp.acosh: math.acosh,
    sp.atanh: math.atanh,
    sp.exp: math.exp,
    sp.log: math.log,
    sp.Abs: abs,
    sp.sign: lambda x: math.copysign(1.0, x) if x else 0.0,
    sp.Heaviside: lambda x, at_zero: at_zero if x == 0 else float(x > 0),
    sp.Max: lambda *values: max(values),
    sp.Min: lambda *values: min(values),
    sp.StrictLessThan: operator.lt,
    sp.LessThan: operator.le,
    sp.StrictGreaterThan: operator.gt,
    sp.GreaterThan: operator.ge,
    sp.Equality: operator.eq,
    sp.Unequality: operator.ne,
    sp.And: lambda *conditions: all(conditions),
    sp.Or: lambda *conditions: any(conditions),
    sp.Not: operator.not_,
    sp.ITE: lambda condition, yes, no: yes if condition else no,
    sp.functions.elementary.piecewise.ExprCondPair: lambda value, condition: (value, condition),
    sp.Piecewise: lambda *pairs: next((value for value, holds in pairs if holds), math.nan),
}


class Evaluator:
    """An expression as a function of numbers; None where it has no real finite value.

    Examples
    --------
    >>> x = sp.Symbol("x", real=True)
    >>> value = Evaluator(sp.Piecewise((sp.sqrt(x), x > 0), (-1, True)))
    >>> value({x: 4.0}), value({x: -4.0})
    (2.0, -1.0)
    """

    def __init__(self, expr: Any) -> None:
        self.symbols = sorted(expr.free_symbols, key=lambda symbol: symbol.name)
        places: dict[Any, int] = {}
        self._values: list[Any] = []
        self._given: list[tuple[int, Any]] = []
        self._steps: list[tuple[int, Callable[..., Any], Sequence[int]]] = []
        stack = [expr]
        while stack:
            node = stack[-1]
            missing = [item for item in node.args if item not in places] if node not in places else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in places:
                self._append(node, places)

    def _append(self, node: Any, places: dict[Any, int]) -> None:
        """Give a node, whose arguments have theirs, its place: with its value, by its symbol, or as a step."""
        place = places[node] = len(self._values)
        step = _step(node)
        constant = isinstance(step, (bool, float))
        self._values.append(step if constant else math.nan)
        if isinstance(step, sp.Symbol):
            self._given.append((place, step))
        elif not constant:
            self._steps.append((place, step, tuple(places[item] for item in node.args)))

    def __call__(self, values: Mapping[Any, float]) -> float | None:
        """Return the value at these numbers."""
        found = self._values.copy()
        for place, symbol in self._given:
            found[place] = float(values[symbol])
        for place, step, arguments in self._steps:
            try:
                found[place] = step(*[found[k] for k in arguments])
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                continue  # not a number: it may stand in a piece that isn't taken
        last = found[-1]
        return float(last) if math.isfinite(last) else None


def _step(node: Any) -> Any:
    """Return a number, a symbol, or the function of the values of its arguments that a node stands for."""
    if node.is_Symbol:
        return node
    if not node.args:
        return bool(node) if node in (sp.true, sp.false) else float(node) if node.is_real else math.nan
    known = _OPERATIONS.get(node.func)
    return known or (lambda *numbers: float(node.func(*(sp.Float(number) for number in numbers))))
