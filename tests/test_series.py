"""One algebra of series over floats, balls and rationals: functions, quotients, linear equations, roots, evaluation."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import arb, ctx

from zwang._graph.convert import Converter
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Graph
from zwang._numerics.series.arithmetic import FLOATS, PI, Arithmetic, NotRationalError, Undecided, decided
from zwang._numerics.series.balls import BALLS, precision
from zwang._numerics.series.field import determinant, null_vector, orthonormal_rest, solve, times
from zwang._numerics.series.power import Series, monomials, ring
from zwang._numerics.series.rationals import RATIONALS
from zwang._numerics.series.roots import real_roots
from zwang.errors import StateError

DEGREE = 6
# Function -> a point inside its domain, and where its Taylor coefficients are rational: a number and a part of pi.
PLACES: dict[str, tuple[float, tuple[Any, Any] | None]] = {
    "sin": (0.7, (0, sp.Rational(1, 2))), "cos": (0.7, (0, 1)), "tan": (0.4, (0, 1)), "sinh": (0.3, (0, 0)),
    "cosh": (0.3, (0, 0)), "tanh": (0.3, (0, 0)), "exp": (0.2, (0, 0)), "log": (1.7, (1, 0)),
    "sqrt": (2.3, (sp.Rational(4, 9), 0)), "asin": (0.3, (0, 0)), "acos": (0.3, None), "atan": (0.8, (0, 0)),
    "asinh": (0.6, (0, 0)), "acosh": (1.9, None), "atanh": (0.4, (0, 0)),
}  # fmt: skip


def taylor(name: str, place: Any) -> list[Any]:
    x = sp.Symbol("x")
    function = getattr(sp, name)(x)
    return [sp.diff(function, x, k).subs(x, place) / sp.factorial(k) for k in range(DEGREE + 1)]


@pytest.mark.parametrize("name", PLACES)
def test_functions_have_their_taylor_coefficients(name: str) -> None:
    place, exact = PLACES[name]
    wanted = taylor(name, place)
    found = ring(FLOATS).variable(0, DEGREE + 1, place).apply(name)
    assert found.c == pytest.approx([float(item) for item in wanted], rel=1e-12, abs=1e-13)
    with precision(200):
        sure = ring(BALLS).variable(0, DEGREE + 1, arb(place)).apply(name)
        digits = [arb(str(sp.N(item, 60))) for item in taylor(name, sp.Rational(place))]
        assert all(abs(a - b) < 1e-50 for a, b in zip(sure.filled().coefficients, digits, strict=True))
    if exact is not None:
        a, turns = (Fraction(int(item.p), int(item.q)) for item in map(sp.Rational, exact))
        number = RATIONALS.number(PI) * RATIONALS.number(turns) + RATIONALS.number(a)
        proved = ring(RATIONALS).variable(0, DEGREE + 1, number).apply(name)
        there = taylor(name, exact[0] + exact[1] * sp.pi)
        assert [sp.Rational(str(item)) for item in proved.coefficients] == there


def test_what_is_no_rational_number_is_said() -> None:
    with pytest.raises(NotRationalError, match="exp of 1 is no rational number"):
        RATIONALS.call("exp", RATIONALS.number(1))
    with pytest.raises(NotRationalError, match=r"sin of 1/3\*pi is no rational number"):
        RATIONALS.call("sin", RATIONALS.number(PI) / 3)
    with pytest.raises(NotRationalError, match="pi squared"):
        RATIONALS.number(PI) * RATIONALS.number(PI)
    with pytest.raises(NotRationalError, match=r"tan of 1/3\*pi is no rational number"):
        RATIONALS.call("tan", RATIONALS.number(PI) / 3)
    with pytest.raises(NotRationalError, match=r"the angle of \(1, 2\) is no rational part of a turn"):
        RATIONALS.atan2(RATIONALS.number(2), RATIONALS.number(1))
    assert str(RATIONALS.number(PI) / 2 + 1) == "1 + pi/2" and float(RATIONALS.number(PI)) == math.pi


X, Y = sp.symbols("x y")
EXPRESSION = sp.sin(X * Y + X) / (2 + Y) + sp.sqrt(1 + X**2) * sp.atan2(Y, 1 + X) + sp.Abs(Y - 2) ** sp.Rational(1, 3)


@pytest.mark.parametrize("over", [FLOATS, BALLS], ids=["floats", "balls"])
def test_an_expression_of_two_variables_has_its_derivatives(over: Arithmetic) -> None:
    graph = Graph(exact=True)
    x, y = graph.input("x"), graph.input("y")
    node = Converter(graph, {X: x, Y: y})(EXPRESSION)
    R = ring(over, 2)
    with precision(128):
        place = {x: R.variable(0, 5, over.number(0.3)), y: R.variable(1, 5, over.number(-0.4))}
        (found,) = GraphEvaluation(graph, [node], over)(place)
        values = [float(item) for item in found.coefficients]
    for value, (i, j) in zip(values, monomials(2, 4).rows, strict=True):
        slope = sp.diff(EXPRESSION.subs(sp.Abs(Y - 2), 2 - Y), X, i, Y, j).subs({X: 0.3, Y: -0.4})
        assert value == pytest.approx(float(slope / (math.factorial(i) * math.factorial(j))), rel=1e-10, abs=1e-12)


def test_an_exact_graph_keeps_rationals_and_pi_and_a_plain_one_rounds_them() -> None:
    expr = sp.Rational(1, 3) * X + sp.pi + sp.sqrt(2) + sp.E - sp.Float(0.1) + sp.Piecewise((X, X > 0), (0, True))
    graph = Graph(exact=True)
    x = graph.input("x")
    node = Converter(graph, {X: x})(expr)
    with precision(300):
        (found,) = GraphEvaluation(graph, [node], BALLS)({x: arb(3)})
        wanted = arb(str(sp.N(expr.subs(X, 3) + sp.Float(0.1) - sp.Rational(1, 10), 90)))
        assert abs(found - wanted) < 1e-15 and found.rad() < 1e-80
    plain = Graph()
    assert plain.value(Converter(plain, {})(sp.Rational(1, 3))) == 1 / 3


def test_series_over_balls_know_their_order_and_quotients_of_small_ones_are_series() -> None:
    with precision(200):
        tau = ring(BALLS).variable(0, 8)
        one = tau.apply("sin") * tau.apply("sin") + tau.apply("cos") * tau.apply("cos") - 1
        assert one.size == 0 and one.end == 8
        quotient = (1 - tau.apply("cos")) / (tau * tau)
        assert (quotient.start, quotient.end) == (0, 6) and 0.5 in quotient.leading
        assert (tau * tau * tau).power(Fraction(2, 3)).start == 2
        assert (-tau).sign() == -1 and abs(-tau).sign() == 1
        assert float((1 / tau).at(arb(4))) == 0.25
        with pytest.raises(StateError, match=r"behaves like distance\^0.5"):
            tau.power(Fraction(1, 2))
        with pytest.raises(StateError, match="root of a negative quantity"):
            (-tau * tau).power(Fraction(1, 2))
        with pytest.raises(StateError, match="grows without bound"):
            (1 / tau).apply("sin")
        with pytest.raises(ZeroDivisionError, match="vanishes to order 8"):
            one.inverse()
        with pytest.raises(ZeroDivisionError, match="a root of a series"):
            one.power(Fraction(1, 2))
        with pytest.raises(Undecided, match="no pivot"):
            solve([[one]], [[tau]], BALLS)
    with pytest.raises(StateError, match="changes at the point itself"):
        ring(FLOATS, 2).variable(0, 3).sign()


def test_precision_is_put_back_whatever_happens() -> None:
    before = ctx.prec, ctx.cap
    with pytest.raises(ZeroDivisionError), precision(333):
        assert 1 / (ctx.prec - 333)
    assert (ctx.prec, ctx.cap) == before


def numbers(over: Arithmetic, rows: list[list[int]]) -> list[list[Any]]:
    return [[over.number(item) for item in row] for row in rows]


@pytest.mark.parametrize("over", [FLOATS, BALLS, RATIONALS], ids=["floats", "balls", "rationals"])
def test_linear_equations(over: Arithmetic) -> None:
    matrix = numbers(over, [[0, 2, 1], [1, 1, 0], [3, 0, 5]])
    right = numbers(over, [[5, 3, 8]])[0]
    assert [float(item) for item in solve(matrix, [right], over)[0]] == pytest.approx([1, 2, 1])  # by hand
    assert float(determinant(matrix, over)) == pytest.approx(-13)
    assert float(determinant(numbers(over, [[1, 2], [2, 4]]), over)) == 0
    with pytest.raises(ZeroDivisionError, match="singular"):
        solve(numbers(over, [[1, 2], [2, 4]]), [right[:2]], over)
    with pytest.raises(ZeroDivisionError, match="depend on each other"):
        null_vector(numbers(over, [[1, 2, 3], [2, 4, 6]]), over)
    along = null_vector(matrix[:2], over)
    assert [float(item) for item in times(matrix[:2], along)] == [0, 0]
    if over is not RATIONALS:
        rest = orthonormal_rest([[item / 5 for item in numbers(over, [[3, 4, 0]])[0]]], 3, over)
        assert [[round(abs(float(item)), 12) for item in row] for row in rest] == [[0, 0, 1], [0.8, 0.6, 0]]


@pytest.mark.parametrize("over", [FLOATS, BALLS, RATIONALS], ids=["floats", "balls", "rationals"])
def test_real_roots_have_their_multiplicities(over: Arithmetic) -> None:
    # (c - 1)^2 (c + 2) (c^2 + 1) (c^2 - 2), expanded by SymPy.
    c = sp.Symbol("c")
    polynomial = sp.Poly((c - 1) ** 2 * (c + 2) * (c**2 + 1) * (c**2 - 2), c)
    coefficients = [over.number(int(item)) for item in reversed(polynomial.all_coeffs())]
    with precision(128):
        found = real_roots(coefficients, over)
    assert [times for _, times in found] == [1, 1, 2, 1]
    assert [float(root) for root, _ in found] == pytest.approx([-2, -math.sqrt(2), 1, math.sqrt(2)], rel=1e-9)


def test_a_question_is_asked_again_with_more_terms() -> None:
    asked = []

    def question(degree: int) -> Any:
        asked.append(degree)
        raise Undecided("never")

    with pytest.raises(Undecided, match="never"):
        decided(question, (3, 5))
    assert asked == [3, 5]


def test_series_of_floats_cut_stretch_and_differentiate() -> None:
    x = ring(FLOATS).variable(0, 6, 2.0)
    assert (x.power(Fraction(3))).c.tolist() == [8.0, 12.0, 6.0, 1.0, 0.0, 0.0]
    assert ((1 / x) * x).c == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-16)
    assert x.power(Fraction(-1, 2)).c == pytest.approx((1 / x.apply("sqrt")).c, rel=1e-14)
    assert (5 - x).coefficients[:2] == [3.0, -1.0] and x.cut(2).size == 2
    assert (x * x).derivative().coefficients == [4.0, 2.0, 0.0, 0.0, 0.0]
    assert x.stretched(3.0).coefficients[:2] == [2.0, 3.0] and "2" in repr(x) and isinstance(x, Series)
