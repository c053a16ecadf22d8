"""Expressions printed as text: readable, the same in every process, and read back to the same tree."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp

from zwang._expressions import parse, to_text
from zwang.errors import DeclarationError

X, Y, Z, V_X = sp.symbols("x y z v_x", real=True)
M = sp.Symbol("m", positive=True)
SYMBOLS: dict[str, sp.Basic] = {"x": X, "y": Y, "z": Z, "v_x": V_X, "m": M}


def read(text: str) -> sp.Expr:
    return parse(text, SYMBOLS)


TEXTS = {
    "m*(v_x**2 + y**2)/2": "m*(v_x**2 + y**2)/2",
    "(x - y)**2 - z**2": "(x - y)**2 - z**2",
    "-x + y": "y - x",
    "1 - x": "1 - x",
    "x + 1": "x + 1",
    "-x/2 - 3/4": "-3/4 - x/2",
    "x/(2*(y + z))": "x/(2*(y + z))",
    "1/sqrt(x)": "1/sqrt(x)",
    "x**(3/2)/y**2": "x**(3/2)/y**2",
    "x**(-y)": "x**(-y)",
    "(x**y)**z": "(x**y)**z",
    "x**y**z": "x**y**z",
    "(-2)**x": "(-2)**x",
    "(2/3)**x": "(2/3)**x",
    "x**(-1.5)": "x**(-1.5)",
    "-0.5*x": "-0.5*x",
    "1e-7*x": "1e-07*x",
    "1/x": "1/x",
    "-2*(x + y)*z": "-2*z*(x + y)",
    "exp(-x)*E": "E*exp(-x)",
    "Abs(x) + Max(x, y)": "abs(x) + max(x, y)",
    "tan(x + pi/2)": "-cot(x)",
    "Heaviside(x, 1)": "Heaviside(x, 1)",
    "Piecewise((x, x < 0 and (y > 1 or z == 2)), (0, True))": "Piecewise((x, x < 0 and (z == 2 or y > 1)), (0, True))",
    "Piecewise((x, not (x < 0 and y > 1)), (0, True))": "Piecewise((x, not (y > 1 and x < 0)), (0, True))",
}


@pytest.mark.parametrize("text", TEXTS)
def test_an_expression_prints_as_people_write_it(text: str) -> None:
    printed = to_text(read(text))
    assert printed == TEXTS[text]
    assert read(printed) == read(text)


def test_plain_numbers_have_a_text() -> None:
    assert [to_text(2), to_text(-0.1), to_text(sp.Rational(-2, 3)), to_text(sp.Float("0.1", 30))] == [
        *("2", "-0.1", "-2/3", "0.1")
    ]


def test_a_tree_that_sympy_would_change_when_built_again_is_settled() -> None:
    # SymPy gives x**2*Abs(1/y) here, whose last factor it would write 1/Abs(y).
    expr = read("abs(x*x/y)")
    assert expr == X**2 / sp.Abs(Y)
    assert read(to_text(expr)) == expr


UNPRINTABLE = {
    "cannot write 'erf' in an expression. Use real numbers, symbols, + - * / ** and brackets, and the functions sin": (
        sp.erf(X)
    ),
    "cannot write 'ImaginaryUnit' in an expression.": sp.I * X,
    "cannot write 'Infinity' in an expression.": sp.Max(X, sp.oo, evaluate=False),
    "kinetic: cannot write 'f' in an expression.": sp.Function("f")(X),
    "kinetic: the symbol 'x 1' cannot be written in an expression.": sp.Symbol("x 1"),
    "kinetic: the symbol 'pi' has the name of a constant.": 2 * sp.Symbol("pi"),
    "cannot write MutableDenseMatrix as an expression. Give a scalar SymPy expression.": sp.Matrix([X]),
    "cannot write bool as an expression.": True,
    "cannot write the number 1.00000E+400. Numbers lie within the range of a double.": sp.Float("1e400"),
    "cannot write an exact number of 1329 bits. At most 1023; use a float.": sp.Integer(10) ** 400,
    "cannot write the exponent 1001. Exponents end at 1000, also in fractions.": X**1001,
}


@pytest.mark.parametrize("problem", UNPRINTABLE)
def test_what_has_no_text_is_named(problem: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        to_text(UNPRINTABLE[problem], where="kinetic")
    assert problem in str(caught.value)


@pytest.mark.parametrize("levels", [150, 3000])
def test_what_is_nested_too_deeply_has_no_text(levels: int) -> None:
    expr: sp.Expr = X
    for _ in range(levels):
        expr = sp.sin(expr + 1, evaluate=False)
    with pytest.raises(DeclarationError, match="cannot write an expression that nests more than 100 brackets"):
        to_text(expr)


# --- the property ----------------------------------------------------------------------------------------------------


NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "10",
    "-1",
    "1/2",
    "-2/3",
    "3/7",
    "pi",
    "E",
    "0.5",
    "1e-7",
    "1.0",
    "2.0",
    "-0.25",
    "9876.5",
]


class Grammar:
    """Random texts: sums, products of sums with numbers, nested powers, functions, Piecewise, Max."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def number(self) -> str:
        return self.pick.choice(NUMBERS)

    def condition(self, depth: int) -> str:
        kind = self.pick.random()
        if kind < 0.6:
            return f"{self.text(depth)} {self.pick.choice(['<', '<=', '>', '>=', '==', '!='])} {self.text(depth)}"
        if kind < 0.8:
            return f"({self.condition(depth)}) {self.pick.choice(['and', 'or'])} ({self.condition(depth)})"
        if kind < 0.9:
            return f"not ({self.condition(depth)})"
        return f"{self.text(depth)} < {self.text(depth)} <= {self.text(depth)}"

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.pick.choice(list(SYMBOLS)) if self.pick.random() < 0.7 else self.number()
        below = [self.text(depth - 1) for _ in range(self.pick.randint(2, 4))]
        kind = self.pick.random()
        if kind < 0.25:
            return "(" + self.pick.choice([" + ", " - "]).join(below) + ")"
        if kind < 0.55:
            return self.pick.choice(["", "-"]) + self.pick.choice(["*", "/", "*"]).join(f"({item})" for item in below)
        if kind < 0.7:
            exponents = ["2", "-1", "1/2", "-1/2", "3", "-3/2", "0.5", "-1.5", "1/3", below[1], f"-{below[1]}"]
            return f"({below[0]})**({self.pick.choice(exponents)})"
        if kind < 0.9:
            one = "sin cos tan cot asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt abs sign Heaviside"
            return f"{self.pick.choice(one.split())}({below[0]})"
        if kind < 0.95:
            return f"{self.pick.choice(['max', 'min', 'atan2'])}({below[0]}, {below[1]})"
        return f"Piecewise(({below[0]}, {self.condition(depth - 2)}), ({below[1]}, True))"


def readable(seed: int, count: int) -> list[sp.Expr]:
    grammar, found = Grammar(seed), []
    while len(found) < count:
        try:
            found.append(read(grammar.text(grammar.pick.randint(1, 4))))
        except DeclarationError:
            continue  # constants that are not real, such as log(0)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_expression_is_read_back_from_its_text(seed: int) -> None:
    for expr in readable(seed, 150):
        text = to_text(expr)
        again = read(text)
        assert again == expr
        assert to_text(again) == text


def test_texts_do_not_depend_on_the_hashes_of_a_process() -> None:
    code = (
        "import test_expressions_printed as tests\n"
        "from zwang._expressions import to_text\n"
        "print(*[to_text(expr) for expr in tests.readable(7, 60)], sep='\\n')"
    )
    outputs = set()
    for seed in ("0", "1", "2"):
        paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        settings = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 60
