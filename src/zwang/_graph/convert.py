"""SymPy expressions as nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from zwang._graph.graph import Graph, Node
from zwang.errors import CompileError

FUNCTIONS: dict[Any, str] = {
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tan: "tan",
    sp.asin: "asin",
    sp.acos: "acos",
    sp.atan: "atan",
    sp.sinh: "sinh",
    sp.cosh: "cosh",
    sp.tanh: "tanh",
    sp.asinh: "asinh",
    sp.acosh: "acosh",
    sp.atanh: "atanh",
    sp.exp: "exp",
    sp.log: "log",
    sp.Abs: "abs",
    sp.sign: "sign",
    sp.Heaviside: "step",
}


DIGITS = 300
"""Of constants such as Catalan's, which have no exact form here: more than any arithmetic uses."""


class Converter:
    """Turns expressions into nodes of one graph, each shared subexpression once.

    Parameters
    ----------
    graph : Graph
        Where the nodes go.
    symbols : mapping
        Symbol -> node of its input.
    """

    def __init__(self, graph: Graph, symbols: Mapping[Any, Node]) -> None:
        self.graph = graph
        self.known: dict[Any, Node] = dict(symbols)

    def __call__(self, expr: Any) -> Node:
        """Return the node of an expression; deep expressions don't exhaust the stack."""
        stack = [expr]
        while stack:
            top = stack[-1]
            if top in self.known:
                stack.pop()
                continue
            missing = [item for item in self._needs(top) if item not in self.known]
            if missing:
                stack.extend(missing)
            else:
                self.known[top] = self._make(top)
                stack.pop()
        return self.known[expr]

    def _needs(self, expr: Any) -> list[Any]:
        if isinstance(expr, sp.Piecewise):
            return [part for pair in expr.args for part in (pair.expr, pair.cond)]
        if expr.is_Pow and expr.exp.is_Number:
            return [expr.base]
        if isinstance(expr, sp.Heaviside):
            return [expr.args[0]]
        return list(expr.args)

    def _make(self, expr: Any) -> Node:
        g, known = self.graph, self.known
        if expr.is_Symbol:
            raise CompileError(f"The symbol '{expr}' has no place among coordinates, velocities, time and parameters.")
        if expr is sp.true or expr is sp.false:
            return g.condition("le", g.zero, g.zero) if expr is sp.true else g.condition("lt", g.zero, g.zero)
        if expr.is_number and not expr.args:
            return self._number(expr)
        if expr.is_Add:
            return g.add(*(known[item] for item in expr.args))
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow:
            return self._power(expr)
        if isinstance(expr, sp.Piecewise):
            return self._piecewise(expr)
        if isinstance(expr, (Relational, sp.And, sp.Or, sp.Not)):
            return self._condition(expr)
        return self._function(expr)

    def _product(self, expr: Any) -> Node:
        """Return a product as numerator over denominator: one division instead of many."""
        g, known = self.graph, self.known
        above, below = g.one, g.one
        for item in expr.args:
            if item.is_Pow and item.exp.is_Number and item.exp < 0:
                below = g.mul(below, self._number_power(known[item.base], -item.exp))
            else:
                above = g.mul(above, known[item])
        return g.div(above, below)

    def _power(self, expr: Any) -> Node:
        if expr.exp.is_Number:
            return self._number_power(self.known[expr.base], expr.exp)
        if expr.base is sp.E:
            return self.graph.call("exp", self.known[expr.exp])
        return self.graph.pow(self.known[expr.base], self.known[expr.exp])

    def _number_power(self, base: Node, exponent: Any) -> Node:
        return self.graph.pow(base, self._number(exponent))

    def _number(self, expr: Any) -> Node:
        """Return the node of a number without arguments, rounded unless the graph is exact."""
        g = self.graph
        if not g.exact or expr.is_Float or not expr.is_finite:
            return g.const(float(expr))
        if expr.is_Rational:
            return g.const(Fraction(int(expr.p), int(expr.q)))
        if expr is sp.pi:
            return g.pi()
        if expr is sp.E:
            return g.call("exp", g.one)
        return g.const(Fraction(str(sp.N(expr, DIGITS))))

    def _piecewise(self, expr: Any) -> Node:
        g = self.graph
        pairs = [(self.known[pair.expr], pair.cond) for pair in expr.args]
        node = g.const(float("nan"))
        for value, condition in reversed(pairs):
            node = value if condition is sp.true else g.where(self.known[condition], value, node)
        return node

    def _condition(self, expr: Any) -> Node:
        g = self.graph
        args = [self.known[item] for item in expr.args]
        if isinstance(expr, sp.Not):
            return g.condition("not", args[0])
        if isinstance(expr, (sp.And, sp.Or)):
            op = "and" if isinstance(expr, sp.And) else "or"
            node = args[0]
            for item in args[1:]:
                node = g.condition(op, node, item)
            return node
        a, b = args
        made = {
            sp.StrictLessThan: lambda: g.condition("lt", a, b),
            sp.LessThan: lambda: g.condition("le", a, b),
            sp.StrictGreaterThan: lambda: g.condition("lt", b, a),
            sp.GreaterThan: lambda: g.condition("le", b, a),
            sp.Equality: lambda: g.condition("eq", a, b),
            sp.Unequality: lambda: g.condition("not", g.condition("eq", a, b)),
        }
        return made[type(expr)]()

    def _function(self, expr: Any) -> Node:
        g = self.graph
        name = FUNCTIONS.get(expr.func)
        if name is not None:
            return g.call(name, self.known[expr.args[0]])
        if isinstance(expr, sp.atan2):
            return g.atan2(self.known[expr.args[0]], self.known[expr.args[1]])
        if isinstance(expr, (sp.Max, sp.Min)):
            choose = g.greatest if isinstance(expr, sp.Max) else g.least
            node = self.known[expr.args[0]]
            for item in expr.args[1:]:
                node = choose(node, self.known[item])
            return node
        if isinstance(expr, (sp.sec, sp.csc, sp.cot)):
            return self(expr.rewrite(sp.cos if isinstance(expr, sp.sec) else sp.sin))
        names = ", ".join(sorted(item.__name__ for item in FUNCTIONS))
        raise CompileError(
            f"'{expr.func}' can't be compiled. Known functions: {names}, atan2, Max, Min, Piecewise, sqrt."
        )
