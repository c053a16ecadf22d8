"""The expression graph: sharing, folding, and derivatives against finite differences and SymPy."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import sympy as sp

from zwang._graph.convert import Converter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph
from zwang.errors import CompileError

X, Y = sp.symbols("x y", real=True)


def converted(*exprs):
    graph = Graph()
    nodes = {X: graph.input("x"), Y: graph.input("y")}
    convert = Converter(graph, nodes)
    return graph, nodes, [convert(expr) for expr in exprs]


def value(graph, outputs, nodes, point):
    with np.errstate(all="ignore"):
        found = evaluate(graph, outputs, {nodes[X]: np.float64(point[0]), nodes[Y]: np.float64(point[1])}, np)
    return [float(item) for item in found]


def test_equal_operations_are_one_node() -> None:
    _graph, _, (a, b) = converted(sp.sin(X) * Y + 1, 1 + Y * sp.sin(X))
    assert a == b


def test_constants_fold_and_zeros_vanish() -> None:
    g = Graph()
    x = g.input("x")
    assert g.mul(g.const(0), x) == g.zero
    assert g.sub(x, x) == g.zero
    assert g.div(x, x) == g.one
    assert g.add(g.scale(2, x), g.scale(-1, x)) == x
    assert g.call("cos", g.zero) == g.one
    assert g.mul(g.call("sqrt", x), g.call("sqrt", x)) == x


SMOOTH = [
    X**3 * Y - X / Y,
    sp.sin(X * Y) + sp.cos(X) ** 2,
    sp.tan(X) * sp.exp(-Y),
    sp.sqrt(1 + X**2) / (2 + sp.sin(Y)),
    sp.log(X + 2) ** 3,
    sp.atan2(Y, X),
    sp.asin(X / 3) + sp.acos(Y / 3) + sp.atan(X * Y),
    sp.sinh(X) * sp.cosh(Y) - sp.tanh(X - Y),
    sp.asinh(X) + sp.acosh(Y + 2) + sp.atanh(X / 4),
    X**Y,
    (X + Y) ** sp.Rational(-3, 2),
    X**2.5 * 0.1,
    sp.Abs(X - 2 * Y) * X,
    sp.Max(X, Y) + sp.Min(X * Y, 1) + sp.Max(X, Y, X * Y),
    sp.Piecewise((X**2, X > Y), (X * Y, sp.And(X > 0, Y > 0)), (Y**3, True)),
    sp.sec(X) + sp.cot(Y),
    sp.Piecewise((sp.log(X - 5), X > 5), (X * Y, True)),
]


@pytest.mark.parametrize("expr", SMOOTH, ids=str)
def test_values_and_gradients_agree_with_sympy(expr) -> None:
    graph, nodes, (node,) = converted(expr)
    gradient = graph.gradient(node, [nodes[X], nodes[Y]])
    forward = [graph.forward([node], {nodes[item]: graph.one})[0] for item in (X, Y)]
    source = random.Random(2)
    for _ in range(5):
        point = source.uniform(0.3, 1.4), source.uniform(0.3, 1.4)
        at = {X: point[0], Y: point[1]}
        expected = [complex(item.subs(at).evalf()).real for item in (expr, expr.diff(X), expr.diff(Y))]
        got = value(graph, [node, *gradient], nodes, point)
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert value(graph, forward, nodes, point) == pytest.approx(expected[1:], rel=1e-12, abs=1e-12)


def test_second_derivatives_along_a_direction_agree_with_sympy() -> None:
    expr = sp.sin(X * Y) * sp.exp(X) + X**3 / (1 + Y**2)
    graph, nodes, (node,) = converted(expr)
    u = {nodes[X]: graph.const(0.7), nodes[Y]: graph.const(-1.3)}
    twice = graph.forward(graph.forward([node], u), u)
    hessian = sp.hessian(expr, (X, Y)).subs({X: 0.4, Y: 0.9})
    expected = float((sp.Matrix([[0.7, -1.3]]) * hessian * sp.Matrix([0.7, -1.3]))[0])
    assert value(graph, twice, nodes, (0.4, 0.9)) == pytest.approx([expected], rel=1e-13)


def test_the_branch_not_taken_does_not_spoil_a_derivative() -> None:
    graph, nodes, (node,) = converted(sp.Piecewise((X * sp.log(X), X > 0), (0, True)) + Y**2)
    assert value(graph, graph.gradient(node, [nodes[X], nodes[Y]]), nodes, (-1.0, 2.0)) == [0.0, 4.0]


def test_a_deep_expression_does_not_exhaust_the_stack() -> None:
    expr = X
    for _ in range(150):
        expr = sp.sin(expr, evaluate=False)
    graph, nodes, (node,) = converted(expr)
    assert math.isfinite(value(graph, [node], nodes, (0.3, 0.0))[0])


def test_a_long_sum_is_one_node() -> None:
    graph, _, _ = converted(sp.Add(*[sp.sin(k * X) for k in range(1, 400)]))
    assert graph.ops.count("sum") <= 400  # the sum itself and the scaled arguments


def test_an_unknown_function_says_what_is_known() -> None:
    with pytest.raises(CompileError, match=r"besselj.*Known functions: .*sin"):
        converted(sp.besselj(1, X))


def test_an_unplaced_symbol_is_named() -> None:
    with pytest.raises(CompileError, match="'z' has no place"):
        converted(sp.Symbol("z"))


def test_numbers_whose_product_is_no_double_are_kept_apart() -> None:
    g = Graph()
    x = g.input("x")
    for made in (g.scale(32.0, g.scale(1e308, x)), g.mul(g.scale(1e200, x), g.scale(1e200, g.input("y")))):
        assert all(math.isfinite(c) for node in g.reachable([made]) if g.ops[node] == "sum" for c, _ in g.args[node][1])
    assert g.scale(1e-200, g.scale(1e-200, x)) != g.zero
    assert g.div(g.scale(1e300, x), g.const(1e-300)) != g.const(math.inf)


def test_what_no_number_is_the_value_of_is_no_number() -> None:
    g = Graph()
    assert math.isnan(g.value(g.div(g.zero, g.zero)) or 0.0)
    assert math.isnan(g.value(g.mul(g.zero, g.const(math.inf))) or 0.0)
    assert g.value(g.pow(g.const(1e200), g.const(1.7))) == math.inf
    assert g.ops[g.pow(g.input("x"), g.const(math.nan))] == "pow"
