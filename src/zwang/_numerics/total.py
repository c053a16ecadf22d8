"""The arithmetic of compiled code in plain Python: every operation has a value.

Compiled code divides by zero and has inf, takes the root of -1 and has nan. Python raises ZeroDivisionError, ValueError
or OverflowError, or leaves the real numbers, depending on whether a number came from an array or from a function. Here
both have the same values: functions of `math` that raise are asked of NumPy, and in generated source divisions and
powers are calls of `divide` and `power`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

SPELLED = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", *SPELLED)


def divide(a: Any, b: Any) -> Any:
    """Return a / b; inf or nan where b is zero.

    Examples
    --------
    >>> divide(1.0, 0.0), divide(-1.0, 0.0), divide(1.0, 4.0)
    (inf, -inf, 0.25)
    """
    try:
        return a / b
    except (ZeroDivisionError, OverflowError):
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))


def power(a: Any, b: Any) -> Any:
    """Return a ** b; nan where it is not real, inf where it is too large or a is zero.

    Examples
    --------
    >>> power(-1.0, 0.5), power(0.0, -1.0), power(1e200, 2.0), power(2.0, 3.0)
    (nan, inf, inf, 8.0)
    """
    try:
        result = a**b
    except (ZeroDivisionError, OverflowError):
        result = None
    if result is None or isinstance(result, complex):
        with np.errstate(all="ignore"):
            return float(np.float64(a) ** np.float64(b))
    return result


def _total(name: str) -> Callable[[Any], Any]:
    exact, other = getattr(math, name), getattr(np, SPELLED.get(name, name))

    def call(x: Any) -> Any:
        try:
            return exact(x)
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                return float(other(np.float64(x)))

    return call


total_math = SimpleNamespace(**{**vars(math), **{name: _total(name) for name in FUNCTIONS}})
"""The module `math` with values where it raises."""


class _Calls(ast.NodeTransformer):
    NAMES = {ast.Div: "_zwang_divide", ast.Pow: "_zwang_power"}

    def _called(self, op: ast.operator, left: ast.expr, right: ast.expr, place: ast.AST) -> ast.expr | None:
        name = self.NAMES.get(type(op))
        if name is None:
            return None
        call = ast.Call(ast.Name(name, ast.Load()), [left, right], [])
        return ast.copy_location(call, place)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._called(node.op, node.left, node.right, node) or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        value = ast.parse(ast.unparse(node.target), mode="eval").body  # the target once more, to be read
        called = self._called(node.op, value, node.value, node)
        return node if called is None else ast.copy_location(ast.Assign([node.target], called), node)


def total_function(function: ast.FunctionDef, source: str) -> ast.Module:
    """Return a function of generated source with its divisions and powers as calls; see `TOTAL_NAMES`.

    Of straight-line code few lines have any, and the others are left as they are.
    """
    lines = source.splitlines()
    function.body = [_total_statement(item, lines) for item in function.body]
    return ast.Module([function], [])


def _total_statement(statement: ast.stmt, lines: list[str]) -> ast.stmt:
    text = lines[statement.lineno - 1 : statement.end_lineno]
    if not any("/" in line or "**" in line for line in text):
        return statement
    changed: ast.stmt = _Calls().visit(statement)
    return ast.fix_missing_locations(changed)


TOTAL_NAMES = {"_zwang_divide": divide, "_zwang_power": power}
"""What `total_function` needs in its module."""
