"""Expressions at numbers, without code made from them: what checks of declarations, drawings and films look at.

Nothing is built on the way. SymPy's lambdify rebuilds an expression several times, and each time asks what is known of
every condition in it: seconds for the damped contact of two bodies, and a few evaluations are all that is needed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import sympy as sp

from zwang._graph.convert import FUNCTIONS
from zwang._graph.evaluate import NAMES

Operations = Mapping[type, Callable[..., Any]]

_BOTH: Operations = {
    sp.StrictLessThan: operator.lt,
    sp.LessThan: operator.le,
    sp.StrictGreaterThan: operator.gt,
    sp.GreaterThan: operator.ge,
    sp.Equality: operator.eq,
    sp.Unequality: operator.ne,
    sp.Abs: abs,
    sp.functions.elementary.piecewise.ExprCondPair: lambda value, condition: (value, condition),
}
_NUMBERS: Operations = {
    **{kind: getattr(math, name) for kind, name in FUNCTIONS.items() if hasattr(math, name)},
    **_BOTH,
    sp.Add: lambda *terms: math.fsum(terms),
    sp.Mul: lambda *factors: math.prod(factors),
    sp.Pow: math.pow,
    sp.atan2: math.atan2,
    sp.sign: lambda x: math.copysign(1.0, x) if x else 0.0,
    sp.Heaviside: lambda x, at_zero: at_zero if x == 0 else float(x > 0),
    sp.Max: lambda *values: max(values),
    sp.Min: lambda *values: min(values),
    sp.And: lambda *conditions: all(conditions),
    sp.Or: lambda *conditions: any(conditions),
    sp.Not: operator.not_,
    sp.ITE: lambda condition, yes, no: yes if condition else no,
    sp.Piecewise: lambda *pairs: next((value for value, holds in pairs if holds), math.nan),
}
_ARRAYS: Operations = {
    **{kind: getattr(np, NAMES.get(name, name)) for kind, name in FUNCTIONS.items() if name != "step"},
    **_BOTH,
    sp.Add: lambda *terms: reduce(np.add, terms),
    sp.Mul: lambda *factors: reduce(np.multiply, factors),
    sp.Pow: np.float_power,
    sp.atan2: np.arctan2,
    sp.Heaviside: np.heaviside,
    sp.Max: lambda *values: reduce(np.maximum, values),
    sp.Min: lambda *values: reduce(np.minimum, values),
    sp.And: lambda *conditions: reduce(np.logical_and, conditions),
    sp.Or: lambda *conditions: reduce(np.logical_or, conditions),
    sp.Not: np.logical_not,
    sp.ITE: np.where,
    sp.Piecewise: lambda *pairs: _first_that_holds(pairs),
}


def _first_that_holds(pairs: Sequence[tuple[Any, Any]]) -> Any:
    value: Any = np.nan
    for piece, condition in reversed(pairs):
        value = np.where(condition, piece, value)
    return value


class _Steps:
    """Expressions as steps, each node of their trees once; numbers and symbols have their places."""

    def __init__(self, expressions: Sequence[Any], operations: Operations) -> None:
        self.operations, self.places = operations, dict[Any, int]()
        self.values: list[Any] = []
        self.given: list[tuple[int, Any]] = []
        self.steps: list[tuple[int, Callable[..., Any], Sequence[int]]] = []
        stack = list(expressions)
        while stack:
            node = stack[-1]
            missing = [item for item in node.args if item not in self.places] if node not in self.places else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in self.places:
                self._append(node)

    def _append(self, node: Any) -> None:
        """Give a node, whose arguments have theirs, its place: with its value, by its symbol, or as a step."""
        place = self.places[node] = len(self.values)
        self.values.append(math.nan)
        if node.is_Symbol:
            self.given.append((place, node))
        elif not node.args:
            truth = node in (sp.true, sp.false)
            self.values[place] = bool(node) if truth else float(node) if node.is_real else math.nan
        else:
            step = self.operations.get(node.func, lambda *x: float(node.func(*(sp.Float(number) for number in x))))
            self.steps.append((place, step, tuple(self.places[item] for item in node.args)))


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
        self._made = _Steps([expr], _NUMBERS)

    def __call__(self, values: Mapping[Any, float]) -> float | None:
        """Return the value at these numbers."""
        found = self._made.values.copy()
        for place, symbol in self._made.given:
            found[place] = float(values[symbol])
        for place, step, arguments in self._made.steps:
            try:
                found[place] = step(*[found[k] for k in arguments])
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                continue  # not a number: it may stand in a piece that isn't taken
        last = found[-1]
        return float(last) if math.isfinite(last) else None


@lru_cache(maxsize=128)
def _array_steps(expressions: tuple[Any, ...]) -> _Steps:
    """Return the steps of expressions; a page asks for the same ones at every move of a slider."""
    return _Steps(expressions, _ARRAYS)


def numbers_of(expressions: Sequence[Any], values: Mapping[Any, Any]) -> list[Any]:
    """Return expressions as numbers or arrays; values are by symbol, or by the name of the symbol.

    Examples
    --------
    >>> x, y = sp.symbols("x y", real=True)
    >>> [float(item) for item in numbers_of([x * y, sp.sqrt(x)], {"x": 4.0, "y": 0.5})]
    [2.0, 2.0]
    """
    wanted = tuple([sp.Add(item) for item in expressions])  # a number has no tree
    made = _array_steps(wanted)
    found = made.values.copy()
    for place, symbol in made.given:
        found[place] = np.asarray(values.get(symbol, values.get(symbol.name)), dtype=float)
    with np.errstate(all="ignore"):  # a piece that isn't taken may have no value
        for place, step, arguments in made.steps:
            found[place] = step(*[found[k] for k in arguments])
    return [found[made.places[item]] for item in wanted]
