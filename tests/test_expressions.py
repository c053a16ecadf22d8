"""Expressions in text: what is read to which tree, and what is refused with which message."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from zwang._expressions import RESERVED, check_name, names, parse, to_text
from zwang.errors import DeclarationError

X, Y, Z, V_X = sp.symbols("x y z v_x", real=True)
M = sp.Symbol("m", positive=True)
SYMBOLS: dict[str, sp.Basic] = {"x": X, "y": Y, "z": Z, "v_x": V_X, "m": M}


def read(text: str, **options: Any) -> sp.Expr:
    return parse(text, SYMBOLS, **options)


def message(text: str, **options: Any) -> str:
    with pytest.raises(DeclarationError) as caught:
        read(text, **options)
    return str(caught.value)


# --- what is read ----------------------------------------------------------------------------------------------------

TREES = {
    "x": X,
    " +x ": X,
    "-x**2": -(X**2),
    "2**-1": sp.Rational(1, 2),
    "x**y**z": X ** (Y**Z),
    "1/3": sp.Rational(1, 3),
    "0.1 + x": X + sp.Float(0.1),
    "1e-3*x": sp.Float(1e-3) * X,
    ".5 + 1. + 1E+2": sp.Float(101.5),
    "x - (y - z)": X - Y + Z,
    "x/(y/z)": X * Z / Y,
    "m*v_x**2/2": M * V_X**2 / 2,
    "2*(x + y)": 2 * X + 2 * Y,
    "2*(x + y)*sin(z)": sp.Mul(2, X + Y, sp.sin(Z)),
    "-(x + y)*sin(z)": sp.Mul(-1, X + Y, sp.sin(Z)),
    "z - (x + y)*sin(z)": sp.Add(Z, sp.Mul(-1, X + Y, sp.sin(Z))),
    "x/(2*(y + z))": sp.Mul(sp.Rational(1, 2), X, 1 / (Y + Z)),
    "pi*E": sp.pi * sp.E,
    "abs(x) + Abs(y)": sp.Abs(X) + sp.Abs(Y),
    "max(x, y, 3, 2)": sp.Max(X, Y, 3),
    "Min(x, Min(y, 1/2))": sp.Min(X, Y, sp.Rational(1, 2)),
    "max(1, sqrt(2))": sp.sqrt(2),
    "atan2(y, x)": sp.atan2(Y, X),
    "log(x, 10)": sp.log(X) / sp.log(10),
    "exp(1)": sp.E,
    "Heaviside(x) + Heaviside(y, 0)": sp.Heaviside(X) + sp.Heaviside(Y, 0),
    "asinh(x) + acosh(y) + atanh(z) + tanh(x)": sp.asinh(X) + sp.acosh(Y) + sp.atanh(Z) + sp.tanh(X),
    "Piecewise((x, x < 0), (0, True))": sp.Piecewise((X, X < 0), (0, True)),
    "Piecewise((x, 1 < 2), (0, True))": X,
    "Piecewise((x, x < 0), (y, x >= 0))": sp.Piecewise((X, X < 0), (Y, X >= 0), evaluate=False),
    "Piecewise((1, x < 0 and not y == 1 or z != 2), (0, True))": sp.Piecewise(
        (1, ((X < 0) & sp.Ne(Y, 1)) | sp.Ne(Z, 2)), (0, True)
    ),
    "Piecewise((1, 0 < x <= 1), (0, True))": sp.Piecewise((1, sp.Lt(0, X) & (X <= 1)), (0, True), evaluate=False),
    "x +\n\ty": X + Y,
}


@pytest.mark.parametrize("text", TREES)
def test_a_text_is_read_to_the_tree_that_sympy_builds(text: str) -> None:
    assert read(text) == TREES[text]


def test_numbers_keep_their_kind() -> None:
    assert isinstance(read("2"), sp.Integer)
    assert isinstance(read("2.0"), sp.Float)
    assert read("0.1") == sp.Float(0.1)
    assert float(read("0.1")) == 0.1


def test_other_names_become_parameters_where_that_is_wanted() -> None:
    made: list[str] = []

    def parameter(name: str) -> sp.Symbol:
        made.append(name)
        return sp.Symbol(name, real=True)

    assert read("k*x", parameters=parameter) == sp.Symbol("k", real=True) * X
    assert made == ["k"]


def test_a_name_may_stand_for_an_expression() -> None:
    assert parse("2*h*x", {"h": X + Y, "x": X}) == sp.Mul(2, X + Y, X)


def test_functions_of_the_caller_can_be_called() -> None:
    functions = {"rate": lambda expr: expr.diff(X) * V_X}
    assert read("m*rate(sin(x))", functions=functions) == M * V_X * sp.cos(X)


def test_names_are_found_without_building_anything() -> None:
    assert names("m*g*sin(theta) + Piecewise((a, b < pi), (rate(c), True))") == {"m", "g", "theta", "a", "b", "c"}


@pytest.mark.parametrize("count", [150, 2500, 10000])
def test_honest_sums_of_thousands_of_terms_are_read(count: int) -> None:
    # All terms but the first are subtracted: 2 count of them, in pairs.
    text = " - ".join(["x", "y*x"] * count)
    assert read(text) == 2 * X - count * X - count * X * Y
    assert read(f"m*sin({text})*y") == M * Y * sp.sin(2 * X - count * X - count * X * Y)


def test_a_long_sum_of_different_terms_is_one_sum() -> None:
    symbols = {f"x{i}": sp.Symbol(f"x{i}", real=True) for i in range(1500)}
    expr = parse(" + ".join(f"{name}/{i + 1}" for i, name in enumerate(symbols)), symbols)
    assert expr == sp.Add(*[symbol / (i + 1) for i, symbol in enumerate(symbols.values())])
    assert parse(to_text(expr), symbols) == expr


def test_long_products_and_quotients_are_read() -> None:
    assert read("*".join(["x"] * 900)) == X**900
    assert read("/".join(["x"] * 900)) == X ** (-898)
    assert read("/".join(["x*y"] * 800)) == Y**800 / X**798


def test_a_column_is_right_behind_grouped_sums() -> None:
    text = " + ".join(["x"] * 3000)
    assert f"the unknown name 'w' at column {len(text) + 4} of" in message(f"{text} + w")


# --- what is refused -------------------------------------------------------------------------------------------------

MESSAGES = {
    "mm*x": "kinetic: the unknown name 'mm' at column 1 of 'mm*x'. Did you mean 'm'?",
    "x + qq": "kinetic: the unknown name 'qq' at column 5 of 'x + qq'. Known: 'x', 'y', 'z', 'v_x', 'm', 'pi', 'E'.",
    "sine(x)": "function 'sine' at column 1 of 'sine(x)'. Did you mean 'sin'? For a product write sine*(...).",
    "x(y)": "the unknown function 'x' at column 1 of 'x(y)'. Known: rate, sin, cos, tan,",
    "sin + 1": "the function 'sin' without arguments at column 1 of 'sin + 1'. Write sin(...).",
    "sin()": "sin with 0 arguments at column 1 of 'sin()'. It takes 1.",
    "atan2(x)": "atan2 with 1 arguments at column 1 of 'atan2(x)'. It takes 2.",
    "max()": "max with 0 arguments at column 1 of 'max()'. It takes 1 or more.",
    "2x": "the number '2' runs into what follows at column 1 of '2x'. Write * between a number and a name",
    "2(x)": "two quantities without an operator at column 2 of '2(x)'. Write * between the factors of a product.",
    "x y": "two quantities without an operator at column 3 of 'x y'. Write * between",
    "x^2": "the character '^' at column 2 of 'x^2'. Write ** for a power.",
    "x = 1": "'=' at column 3 of 'x = 1'. Write == in a condition; an expression assigns nothing.",
    "x +": "nothing after the last operator at column 3 of 'x +'. Complete or remove it.",
    "x + * y": "nothing before '*' at column 5 of 'x + * y'. Complete or remove it.",
    "(x": "1 brackets still open at column 2 of '(x'. Close each bracket.",
    "x)": "a bracket that was never opened at column 2 of 'x)'. Remove it.",
    "": "kinetic: nothing at column 1 of ''. Write an expression, 0 at least.",
    "x, y": "a list in brackets at column 1 of 'x, y'. It can only stand in Piecewise",
    "x < y": "a condition at column 1 of 'x < y'. It can only stand in Piecewise((expr, condition), ..., (expr, ",
    "True": "a condition at column 1 of 'True'. It can only stand in Piecewise",
    "Piecewise((1, x < 0))": "a Piecewise that leaves cases open at column 1 of 'Piecewise((1, x < 0))'. End it with",
    "Piecewise(x)": "a branch that is no pair at column 11 of 'Piecewise(x)'. Write (expr, condition).",
    "Piecewise((1, x), (0, True))": "a condition that compares nothing at column 15 of",
    "Piecewise((1, Piecewise((x, y < 0), (1, True)) < 0), (0, True))": "a Piecewise inside a condition at column 15",
    "1/0": "a constant that is not a finite real number at column 1 of '1/0'. Look for 1/0",
    "x + sqrt(-2)": "a constant that is not a finite real number at column 5 of 'x + sqrt(-2)'. Look for",
    "x**1001": "the exponent 1001 at column 1 of 'x**1001'. Exponents, numerators and denominators end at 1000;",
    "2**2000": "the exponent 2000 at column 1",
    "10**300*10**300": "a number that is too large or too small at column 1 of '10**300*10**300'. Numbers, also in",
    "sin(x**33)": "a function of an expression of degree 33 at column 1 of 'sin(x**33)'. At most 32 inside a function",
    "1e400": "a number that is too large at column 1 of '1e400'. Numbers end at 1.8e308.",
    "1e-400": "a number that is too small at column 1 of '1e-400'. Write 0, or at least 5e-324.",
    "_x": "a name that starts with an underscore at column 1 of '_x'. Start names with a letter.",
    "lambda*x": "the keyword 'lambda' at column 1 of 'lambda*x'. Choose another name, such as 'lambda_'.",
    "\u0445 + 1": "the character '\\u0445' at column 1 of '\\u0445 + 1'. Write ASCII names, numbers, + - * / **",
    "(" * 101 + "x" + ")" * 101: "too many nested brackets at column 101 of '...((((",
    "-" * 33 + "x": "too many signs or powers in a row at column 33 of",
    "x**(1/1009)": "the exponent 0.00099108 at column 1",
    "rate(x, y)": "rate with 2 arguments at column 1 of 'rate(x, y)'. It says:",
    "rate*x": "the function 'rate' without arguments at column 1 of 'rate*x'. Write rate(...).",
}


@pytest.mark.parametrize("text", MESSAGES)
def test_a_mistake_is_named_with_its_place_and_cure(text: str) -> None:
    assert MESSAGES[text] in message(text, where="kinetic", functions={"rate": lambda expr: expr})


def test_what_is_no_text_or_no_scalar_is_named() -> None:
    assert message(3) == "expression: expected an expression in quotes, not int. Write it as text."  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match="'A', which is no scalar expression, at column 1 of 'A'. Write out"):
        parse("A", {"A": sp.Matrix([1])})
    with pytest.raises(DeclarationError, match="f, which gave no scalar expression, at column 1"):
        read("f(x)", functions={"f": lambda expr: sp.Matrix([expr])})  # type: ignore[dict-item]
    with pytest.raises(DeclarationError, match="a text of 1000001 characters at column 1 of 'xxxx"):
        read("x" * 1_000_001)


def test_a_declared_name_never_silently_means_a_constant() -> None:
    with pytest.raises(
        DeclarationError, match="'E', which is declared and is also a constant, .* Call the declared one"
    ):
        parse("E*x", {"E": sp.Symbol("E"), "x": X})


def test_definitions_cannot_grow_without_bound() -> None:
    table: dict[str, sp.Basic] = {"a0": X}
    # Each doubles the tree: 2**18 leaves, and as many functions on each level.
    for i in range(17):
        table[f"a{i + 1}"] = parse(f"sin(a{i}) + cos(a{i})", table)
    with pytest.raises(DeclarationError, match="an expression of more than 1000000 nodes at column 1 of 'sin"):
        parse("sin(a17) + cos(a17)", table)


def test_functions_without_a_text_are_not_let_in() -> None:
    with pytest.raises(DeclarationError, match="the function 're' at column 1 .* It has no text here. Use sin, cos"):
        parse("abs(exp(w))", {"w": sp.Symbol("w")})


def test_names_are_checked_before_they_are_declared() -> None:
    check_name("theta_1")
    assert {"pi", "E", "sin", "Max", "Piecewise"} <= RESERVED
    for name, problem in {
        "pi": "the parameter 'pi' has the name of a constant. Choose another, such as 'pi_'.",
        "sin": "the parameter 'sin' has the name of a function.",
        "lambda": "the parameter 'lambda' has the name of a keyword of Python.",
        "x y": "the parameter 'x y' cannot be written in an expression. Choose a name of this form: a letter",
        "__class__": "the parameter '__class__' cannot be written in an expression.",
        "a" * 101: "the parameter 'aaaaa",
    }.items():
        with pytest.raises(DeclarationError) as caught:
            check_name(name, what="parameter")
        assert problem in str(caught.value)
