"""Expressions of SymPy as lists of steps that run over numbers of eighty digits and over series alike."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from zwang._asymptotics.bivariate import Bivariate
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import mp, number
from zwang._asymptotics.taylor import TAYLOR
from zwang.errors import CompileError

Step = tuple[Callable[..., Any] | None, Any, tuple[int, ...]]


class Formulas:
    """Several expressions, their common parts computed once.

    Parameters
    ----------
    expressions : sequence of sympy expressions

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> [mp.nstr(item, 5) for item in Formulas([sp.sin(x) ** 2, x / 3])({x: mp.mpf(1)})]
    ['0.70807', '0.33333']
    """

    def __init__(self, expressions: Sequence[Any]) -> None:
        places: dict[Any, int] = {}
        self._steps: list[Step] = []
        for expr in expressions:
            self._flatten(expr, places)
        self._outputs = [places[expr] for expr in expressions]

    def _flatten(self, expr: Any, places: dict[Any, int]) -> None:
        stack = [expr]
        while stack:
            node = stack[-1]
            missing = [item for item in node.args if item not in places] if node not in places else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in places:
                places[node] = len(self._steps)
                self._steps.append((*_step(node), tuple(places[item] for item in node.args)))

    def bound(self, values: Mapping[Any, Any]) -> Formulas:
        """Return the same formulas with these values put in, and all that depends on nothing else computed."""
        found = Formulas([])
        known: dict[int, Any] = {}
        for place, (function, leaf, arguments) in enumerate(self._steps):
            if function is None:
                if not isinstance(leaf, sp.Symbol) or leaf in values:
                    known[place] = values[leaf] if isinstance(leaf, sp.Symbol) else leaf
            elif all(item in known for item in arguments):
                known[place] = function(*(known[item] for item in arguments))
            step: Step = (None, known[place], ()) if place in known else (function, leaf, arguments)
            found._steps.append(step)
        found._outputs = list(self._outputs)
        return found._pruned()

    def _pruned(self) -> Formulas:
        """Return the formulas without steps that nothing uses any more."""
        used = set(self._outputs)
        for place in reversed(range(len(self._steps))):
            if place in used:
                used.update(self._steps[place][2])
        order = {old: new for new, old in enumerate(sorted(used))}
        found = Formulas([])
        for old in sorted(used):
            function, leaf, arguments = self._steps[old]
            found._steps.append((function, leaf, tuple(order[item] for item in arguments)))
        found._outputs = [order[item] for item in self._outputs]
        return found

    def __call__(self, values: Mapping[Any, Any]) -> list[Any]:
        """Return the values of the expressions where the symbols have these values."""
        found: list[Any] = []
        for function, leaf, arguments in self._steps:
            if function is None:
                found.append(values[leaf] if isinstance(leaf, sp.Symbol) else leaf)
            else:
                found.append(function(*(found[place] for place in arguments)))
        return [found[place] for place in self._outputs]


def _step(node: Any) -> tuple[Callable[..., Any] | None, Any]:
    if node.is_Symbol:
        return None, node
    if node is sp.true or node is sp.false:
        return None, bool(node)
    if not node.args:
        return None, number(node)
    known = _OPERATIONS.get(node.func)
    if known is None:
        raise CompileError(f"'{node.func}' has no series: asymptotics can't look at expressions with it.")
    return known, None


def _sum(*terms: Any) -> Any:
    total = terms[0]
    for item in terms[1:]:
        total = total + item
    return total


def _product(*factors: Any) -> Any:
    total = factors[0]
    for item in factors[1:]:
        total = total * item
    return total


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, (Laurent, Bivariate)):
        return (exponent * (base.apply("log") if hasattr(base, "apply") else mp.log(base))).apply("exp")
    if isinstance(base, (Laurent, Bivariate)):
        return base**exponent
    return base ** int(exponent) if exponent == int(exponent) else mp.power(base, exponent)


def _elementary(name: str) -> Callable[[Any], Any]:
    plain = getattr(mp, name)

    def evaluate(argument: Any) -> Any:
        return argument.apply(name) if isinstance(argument, (Laurent, Bivariate)) else plain(argument)

    return evaluate


def sign_of(value: Any) -> int:
    """Return the sign of a number, or that of a series next to the point."""
    if isinstance(value, (Laurent, Bivariate)):
        return value.sign()
    return int(value > 0) - int(value < 0)


def _atan2(y: Any, x: Any) -> Any:
    if not isinstance(y, (Laurent, Bivariate)) and not isinstance(x, (Laurent, Bivariate)):
        return mp.atan2(y, x)
    y0, x0 = _constant(y), _constant(x)
    turned = (y * x0 - x * y0) / (x * x0 + y * y0)
    return turned.apply("atan") + mp.atan2(y0, x0)


def _constant(value: Any) -> Any:
    if isinstance(value, Laurent):
        return value.coefficient(0)
    return value.constant if isinstance(value, Bivariate) else value


def _compare(relation: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: relation(sign_of(a - b), 0)


_OPERATIONS: dict[Any, Callable[..., Any]] = {
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Pow: _power,
    sp.Abs: abs,
    sp.sign: lambda x: mp.mpf(sign_of(x)),
    sp.Heaviside: lambda x, at_zero: (at_zero, mp.mpf(1), mp.mpf(0))[sign_of(x)],
    sp.atan2: _atan2,
    sp.Max: lambda *items: max(items, key=_Ordered),
    sp.Min: lambda *items: min(items, key=_Ordered),
    sp.StrictLessThan: _compare(operator.lt),
    sp.LessThan: _compare(operator.le),
    sp.StrictGreaterThan: _compare(operator.gt),
    sp.GreaterThan: _compare(operator.ge),
    sp.Equality: _compare(operator.eq),
    sp.Unequality: _compare(operator.ne),
    sp.And: lambda *conditions: all(conditions),
    sp.Or: lambda *conditions: any(conditions),
    sp.Not: operator.not_,
    sp.ITE: lambda condition, yes, no: yes if condition else no,
    ExprCondPair: lambda value, condition: (value, condition),
    sp.Piecewise: lambda *pairs: next((value for value, holds in pairs if holds), mp.nan),
    **{getattr(sp, name): _elementary(name) for name in TAYLOR},
}


class _Ordered:
    """A value that is compared by its behaviour next to the point."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Ordered) -> bool:
        return sign_of(self.value - other.value) < 0
