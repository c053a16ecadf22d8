"""SymPy expression -> text that `parse` reads back to the same tree.

SymPy's own printers choose other trees (they print and re-read ``2*(x + y)*z`` and ``1/sqrt(x)`` in ways of their
own), sort slowly, and know functions that a text may not call. This one follows the order of ``args``, which SymPy
keeps independent of hashes, with two changes for the reader: terms with a minus come last, and factors with a negative
exponent go under the fraction line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from zwang.errors import DeclarationError

from .literals import number
from .vocabulary import (
    MAX_BITS,
    MAX_BRACKETS,
    MAX_EXPONENT,
    MAX_TEXT,
    OPERATORS,
    PRINTED,
    check_name,
    function_list,
)

# How tightly the outermost operator of a text binds.
_OR, _AND, _NOT, _SUM, _PRODUCT, _POWER, _ATOM = range(7)

Printed = tuple[str, int]

_RELATIONS: dict[type, str] = {
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.Equality: "==",
    sp.Unequality: "!=",
}


def to_text(expr: sp.Expr | float, *, where: str = "") -> str:
    """Print an expression so that reading the text gives the expression again.

    Parameters
    ----------
    expr : sympy.Expr or number
        Made of symbols, real numbers, + - * / **, and the functions that `parse` knows.
    where : str
        The place, for messages.

    Returns
    -------
    str

    Examples
    --------
    >>> m, v_x, v_y = sp.symbols("m v_x v_y")
    >>> to_text(m*(v_x**2 + v_y**2)/2)
    'm*(v_x**2 + v_y**2)/2'
    """
    written = expr if isinstance(expr, sp.Expr) else number(expr)
    start = f"{where}: " if where else ""
    if written is None:
        given = type(expr).__name__
        raise DeclarationError(f"{start}cannot write {given} as an expression. Give a scalar SymPy expression.")
    try:
        text = _Printer(start).print(written)[0]
    except RecursionError:
        text = "(" * (MAX_BRACKETS + 1)
    if _depth(text) > MAX_BRACKETS or len(text) > MAX_TEXT:
        raise DeclarationError(
            f"{start}cannot write an expression that nests more than {MAX_BRACKETS} brackets or fills more than "
            f"{MAX_TEXT} characters. Make its inner parts coordinates or parameters."
        )
    return text


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in re.findall("[()]", text):
        depth += 1 if bracket == "(" else -1
        deepest = max(deepest, depth)
    return deepest


class _Printer:
    def __init__(self, start: str) -> None:
        self._start = start
        self._names: set[str] = set()

    def print(self, expr: sp.Basic) -> Printed:
        """Return the text of `expr` and how tightly it binds."""
        method = _METHODS.get(type(expr))
        if method is None:
            if expr.is_Symbol:
                return self._symbol(expr), _ATOM
            method = _METHODS.get(next((base for base in type(expr).__mro__ if base in _METHODS), object))
        if method is None:
            cure = f"Use real numbers, symbols, {OPERATORS}, and the functions {function_list()}."
            raise self._error(f"'{type(expr).__name__}' in an expression", cure)
        return method(self, expr)

    def _error(self, given: object, cure: str) -> DeclarationError:
        return DeclarationError(f"{self._start}cannot write {given}. {cure}")

    def _within(self, expr: sp.Basic, binding: int) -> str:
        text, own = self.print(expr)
        return text if own >= binding else f"({text})"

    def _symbol(self, expr: sp.Symbol) -> str:
        inner = getattr(expr, "rate_of", None)  # a symbol that stands for the rate of another one
        if inner is not None:
            return f"rate({self._symbol(inner)})"
        name = expr.name
        if name not in self._names:
            check_name(name, what="symbol", where=self._start.removesuffix(": "))
            self._names.add(name)
        return str(name)

    def integer(self, expr: sp.Integer) -> Printed:
        return self._digits(expr.p), _ATOM if expr.p >= 0 else _SUM

    def rational(self, expr: sp.Rational) -> Printed:
        return f"{self._digits(expr.p)}/{self._digits(expr.q)}", _PRODUCT if expr.p >= 0 else _SUM

    def _digits(self, number: int) -> str:
        if number.bit_length() > MAX_BITS:
            raise self._error(f"an exact number of {number.bit_length()} bits", f"At most {MAX_BITS}; use a float.")
        return str(number)

    def float(self, expr: sp.Float) -> Printed:
        text = repr(float(expr)) if expr else "0"
        if text.lstrip("-") in ("inf", "nan") or (float(expr) == 0 and expr):
            raise self._error(f"the number {sp.Float(expr, 6)}", "Numbers lie within the range of a double.")
        return text, _SUM if text.startswith("-") else _ATOM

    def constant(self, expr: sp.NumberSymbol) -> Printed:
        return "pi" if expr is sp.pi else "E", _ATOM

    def add(self, expr: sp.Add) -> Printed:
        plus: list[str] = []
        minus: list[str] = []
        numbers: list[str] = []
        for term in expr.args:
            text = self._within(term, _SUM + (1 if term.is_Add else 0))
            if text.startswith("-"):
                minus.append(text)
            else:
                (numbers if term.is_Number else plus).append(text)
        first, *rest = plus + numbers + minus
        return first + "".join(f" - {term[1:]}" if term[0] == "-" else f" + {term}" for term in rest), _SUM

    def mul(self, expr: sp.Mul) -> Printed:
        sign, over, under = "", [], []
        for index, factor in enumerate(expr.args):
            if factor.is_Rational and index == 0:
                sign = "-" if factor.p < 0 else ""
                over += [self._digits(abs(factor.p))] if abs(factor.p) != 1 else []
                under += [self._digits(factor.q)] if factor.q != 1 else []
            elif factor.is_Float and index == 0:
                text = self.print(factor)[0]
                sign = "-" if text.startswith("-") else ""
                over.append(text.lstrip("-"))
            elif factor.is_Pow and factor.exp.is_Rational and factor.exp.p < 0:
                under.append(self._raised(factor.base, -factor.exp)[0])
            else:
                over.append(self._within(factor, _POWER))
        text = sign + ("*".join(over) or "1")
        if under:
            text += "/" + (under[0] if len(under) == 1 else f"({'*'.join(under)})")
        return text, _SUM if sign else _PRODUCT if under or len(over) > 1 else _POWER

    def pow(self, expr: sp.Pow) -> Printed:
        if expr.exp.is_Rational and expr.exp.p < 0:
            return "1/" + self._raised(expr.base, -expr.exp)[0], _PRODUCT
        return self._raised(expr.base, expr.exp)

    def _raised(self, base: sp.Expr, exponent: sp.Expr) -> Printed:
        """Print a power; alone or as a factor, above or below a fraction line, it needs no brackets."""
        if exponent is sp.S.One:
            return self._within(base, _POWER), _POWER
        if exponent is sp.S.Half:
            return f"sqrt({self.print(base)[0]})", _ATOM
        size = abs(float(exponent)) if exponent.is_Float else 0
        if exponent.is_Rational:
            size = max(abs(exponent.p), exponent.q)
        if size > MAX_EXPONENT:
            raise self._error(f"the exponent {exponent}", f"Exponents end at {MAX_EXPONENT}, also in fractions.")
        return f"{self._within(base, _ATOM)}**{self._within(exponent, _POWER)}", _POWER

    def function(self, expr: sp.Expr) -> Printed:
        arguments = expr.args
        if isinstance(expr, sp.Heaviside) and arguments[1] is sp.S.Half:
            arguments = arguments[:1]
        return f"{PRINTED[type(expr)]}({', '.join(self.print(argument)[0] for argument in arguments)})", _ATOM

    def piecewise(self, expr: sp.Piecewise) -> Printed:
        return f"Piecewise({', '.join(self.print(pair)[0] for pair in expr.args)})", _ATOM

    def pair(self, expr: ExprCondPair) -> Printed:
        return f"({self.print(expr.args[0])[0]}, {self.print(expr.args[1])[0]})", _ATOM

    def truth(self, expr: sp.Basic) -> Printed:
        return "True" if expr == sp.true else "False", _ATOM

    def relation(self, expr: sp.Rel) -> Printed:
        left, right = (self._within(side, _SUM) for side in expr.args)
        return f"{left} {_RELATIONS[type(expr)]} {right}", _NOT

    def every(self, expr: sp.And) -> Printed:
        return " and ".join(self._within(part, _NOT) for part in expr.args), _AND

    def either(self, expr: sp.Or) -> Printed:
        return " or ".join(self._within(part, _AND) for part in expr.args), _OR

    def negation(self, expr: sp.Not) -> Printed:
        return f"not ({self.print(expr.args[0])[0]})", _NOT


_METHODS: dict[type, Callable[[_Printer, sp.Basic], Printed]] = {
    sp.Integer: _Printer.integer,
    sp.Rational: _Printer.rational,
    sp.Float: _Printer.float,
    type(sp.pi): _Printer.constant,
    type(sp.E): _Printer.constant,
    sp.Add: _Printer.add,
    sp.Mul: _Printer.mul,
    sp.Pow: _Printer.pow,
    sp.Piecewise: _Printer.piecewise,
    ExprCondPair: _Printer.pair,
    type(sp.true): _Printer.truth,
    type(sp.false): _Printer.truth,
    sp.And: _Printer.every,
    sp.Or: _Printer.either,
    sp.Not: _Printer.negation,
    **dict.fromkeys(_RELATIONS, _Printer.relation),
    **dict.fromkeys(PRINTED, _Printer.function),
}
