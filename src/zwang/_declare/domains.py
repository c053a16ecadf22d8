"""Where a one-sided constraint exists: its expression where a relation of the coordinates holds, open elsewhere.

The whole is one expression, ``Piecewise((gap, relation), (1 + gap**2, True))``: positive where the relation does not
hold, so that every verb finds the constraint open there, and its end is a switching surface like any other.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanFunction

from zwang import _expressions
from zwang._declare.given import Text
from zwang._declare.symbols import Velocity
from zwang.errors import DeclarationError


def guard(expr: Any, where: Any, label: str) -> Any:
    """Return an expression that exists where a relation holds; texts wait, as `Text`, for their system."""
    relation = isinstance(where, (Relational, BooleanFunction)) and not where.has(sp.Ne, sp.Eq)
    if not relation and not isinstance(where, str):
        raise DeclarationError(
            f"{label}: where= must be a relation of the coordinates, such as x < 1, or several with `&`; it was given "
            f"{where!r:.60}."
        )
    if expr.has(Velocity) or (relation and where.has(Velocity)):
        raise DeclarationError(f"{label}: where= goes with a constraint on positions, and is itself one of positions.")
    if isinstance(expr, Text) or isinstance(where, str):
        inner = expr.name if isinstance(expr, Text) else _expressions.to_text(expr)
        return Text(guarded_text(inner, where if isinstance(where, str) else condition_text(where)))
    return _expressions.in_doubles(sp.Piecewise((expr, where), (1 + expr**2, True)))


def guarded(expr: Any) -> tuple[Any, Boolean] | None:
    """Return what stands in an expression made by `guard`, and where; None for any other one."""
    if not isinstance(expr, sp.Piecewise) or len(expr.args) != 2:
        return None
    (inner, where), (other, rest) = expr.args
    return (inner, where) if rest == sp.true and other - inner**2 == 1 else None


def guarded_text(inner: str, where: str) -> str:
    """Return the text of an expression that exists where a relation holds."""
    return f"Piecewise(({inner}, {where}), (1 + ({inner})**2, True))"


def condition_text(where: Any) -> str:
    """Return a relation as a text that is read again."""
    whole: str = _expressions.to_text(sp.Piecewise((sp.Integer(1), where), (sp.Integer(0), True)))
    return whole.removeprefix("Piecewise((1, ").removesuffix("), (0, True))")
