"""The words of an expression in text: names, constants, functions, and the limits on their size.

Every limit that a text must keep stands here, so that reading, building and printing agree on them: what the reader
accepts, the printer can print and the reader reads again.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable
from typing import NamedTuple

import sympy as sp

from zwang.errors import DeclarationError

MAX_TEXT = 1_000_000
"""Characters in one text."""
MAX_NAME = 100
"""Characters in one name."""
MAX_LITERAL = 400
"""Characters in one number; 309 digits already fill the range of a double."""
MAX_BRACKETS = 100
"""Nested brackets, in the text that is read and in the text that is printed (Python's own parser stops at 200)."""
MAX_RUN = 32
"""Signs in a row, and powers of powers without brackets."""
MAX_EXPONENT = 1000
"""Largest absolute value of a constant exponent."""
MAX_BITS = 1023
"""Bits of the numerator and the denominator of a number: both are doubles."""
MAX_DEGREE = 32
"""Degree, as a polynomial, of an argument of a function."""
MAX_NODES = 1_000_000
"""Nodes of the tree of one expression, counted with repetitions."""
MAX_CONDITIONS = 1000
"""Operands of one `and` or `or`."""

OPERATORS = "+ - * / ** and brackets"
CONSTANTS: dict[str, sp.Expr] = {"pi": sp.pi, "E": sp.E}
BOOLEANS = frozenset({"and", "or", "not", "True", "False"})
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


class Function(NamedTuple):
    """A function of the vocabulary: its SymPy class, how many arguments it takes, and its value for floats."""

    sympy: type
    least: int
    most: int
    value: Callable[..., float]


def _log(x: float, base: float = math.e) -> float:
    return math.log(x) / math.log(base) if base != math.e else math.log(x)


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


def _heaviside(x: float, at_zero: float = 0.5) -> float:
    return at_zero if x == 0 else float(x > 0)


_MANY = 10**6  # arguments that max and min take

FUNCTIONS: dict[str, Function] = {
    "sin": Function(sp.sin, 1, 1, math.sin),
    "cos": Function(sp.cos, 1, 1, math.cos),
    "tan": Function(sp.tan, 1, 1, math.tan),
    # SymPy turns tan(x + pi/2) into -cot(x), so cot must have a text too.
    "cot": Function(sp.cot, 1, 1, lambda x: 1.0 / math.tan(x)),
    "asin": Function(sp.asin, 1, 1, math.asin),
    "acos": Function(sp.acos, 1, 1, math.acos),
    "atan": Function(sp.atan, 1, 1, math.atan),
    "atan2": Function(sp.atan2, 2, 2, math.atan2),
    "sinh": Function(sp.sinh, 1, 1, math.sinh),
    "cosh": Function(sp.cosh, 1, 1, math.cosh),
    "tanh": Function(sp.tanh, 1, 1, math.tanh),
    "asinh": Function(sp.asinh, 1, 1, math.asinh),
    "acosh": Function(sp.acosh, 1, 1, math.acosh),
    "atanh": Function(sp.atanh, 1, 1, math.atanh),
    "exp": Function(sp.exp, 1, 1, math.exp),
    "log": Function(sp.log, 1, 2, _log),
    "sqrt": Function(sp.Pow, 1, 1, math.sqrt),
    "abs": Function(sp.Abs, 1, 1, abs),
    "max": Function(sp.Max, 1, _MANY, lambda *x: max(x)),
    "min": Function(sp.Min, 1, _MANY, lambda *x: min(x)),
    "sign": Function(sp.sign, 1, 1, _sign),
    "Heaviside": Function(sp.Heaviside, 1, 2, _heaviside),
}
ALIASES = {"Abs": "abs", "Max": "max", "Min": "min"}
PIECEWISE = "Piecewise"

PRINTED: dict[type, str] = {entry.sympy: name for name, entry in FUNCTIONS.items() if name != "sqrt"}
"""How the classes of SymPy are called in a text."""

FUNCTION_NAMES = frozenset({*FUNCTIONS, *ALIASES, PIECEWISE})
RESERVED = frozenset({*FUNCTION_NAMES, *CONSTANTS})
"""Names with a meaning of their own: no coordinate, parameter or definition may take one."""


def function_list() -> str:
    """Return the functions of the vocabulary as the end of a sentence.

    Examples
    --------
    >>> function_list().startswith("sin, cos, tan")
    True
    """
    return ", ".join([*FUNCTIONS, PIECEWISE])


def check_name(name: str, *, what: str = "name", where: str = "") -> None:
    """Raise a DeclarationError unless `name` can stand in a text as the name of a quantity.

    Parameters
    ----------
    name : str
        The name, as it would be written in an expression.
    what : str
        What carries it, for the message: 'coordinate', 'parameter', 'definition'.
    where : str
        The place, for the message.

    Examples
    --------
    >>> check_name("v_x")
    >>> check_name("pi", what="parameter")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: the parameter 'pi' has the name of a constant. Choose another, such as 'pi_'.
    """
    start = f"{where}: " if where else ""
    shown = name if len(name) <= 40 else name[:37] + "..."
    given = f"{start}the {what} {shown!a}"
    if not NAME.match(name) or len(name) > MAX_NAME:
        needed = f"a letter, then letters, digits and underscores, at most {MAX_NAME}, all ASCII"
        raise DeclarationError(f"{given} cannot be written in an expression. Choose a name of this form: {needed}.")
    if name in RESERVED or keyword.iskeyword(name):
        kind = "constant" if name in CONSTANTS else "function" if name in RESERVED else "keyword of Python"
        raise DeclarationError(f"{given} has the name of a {kind}. Choose another, such as '{name}_'.")
