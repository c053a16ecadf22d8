"""What is given to a realization: amounts with a sign, as numbers, expressions or texts."""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from zwang._declare.declaration_reader import Reader
from zwang._declare.given import Text, as_expression
from zwang._declare.symbols import Coordinate, Time, Velocity
from zwang._declare.system import System
from zwang.errors import DeclarationError


def positive(value: Any, where: str, cure: str = "") -> Any:
    """Return an amount as an expression; a number that is not above zero is refused."""
    return _signed(value, where, "above zero", cure)


def not_negative(value: Any, where: str) -> Any:
    """Return an amount as an expression; a number below zero is refused."""
    return _signed(value, where, "zero or more", "")


def _signed(value: Any, where: str, need: str, cure: str) -> Any:
    expr = as_expression(value, where)
    if isinstance(expr, Text):
        return expr  # its names have no meaning before there is a system; `read` comes back to it
    strict = need == "above zero"
    if expr.is_number:
        number = float(expr) if expr.is_real else math.nan
        wrong = not math.isfinite(number) or number < 0 or (strict and number == 0)
    else:
        wrong = bool(expr.is_nonpositive if strict else expr.is_negative)
    if wrong:
        raise DeclarationError(f"{where} must be {need}; it was given {value}.{' ' + cure if cure else ''}")
    return expr


def read(system: System, value: Any, where: str) -> Any:
    """Return an amount with its text, if it is one, read in the words of the system."""
    expr = as_expression(value, where)
    if not expr.has(Text):
        return expr
    return Reader(system.name, system.coordinates, system.expressions().values(), system.dependents)(expr, where)


def without(expr: Any, roles: tuple[type, ...], complaint: str) -> Any:
    """Return `expr` if none of its symbols has one of the roles, else raise the complaint, which may name it."""
    found = sorted(str(symbol) for symbol in expr.free_symbols if isinstance(symbol, roles))
    if found:
        raise DeclarationError(complaint.format(name=found[0]))
    return expr


def strength(system: System, value: Any, where: str, cure: str) -> Any:
    """Return the strength of a realization: one number or parameter, the same everywhere and at all times."""
    if value is None:
        raise DeclarationError(f"{where} is missing: there is no default. {cure}")
    expr = positive(read(system, value, where), where)
    complaint = f"{where} must be a number or a parameter; it depends on '{{name}}'. {cure}"
    return without(expr, (Coordinate, Velocity, Time), complaint)


def is_zero(expr: Any) -> bool:
    """Say whether an amount is the number zero."""
    return bool(expr == sp.Integer(0) or (expr.is_number and float(expr) == 0.0))
