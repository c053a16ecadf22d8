"""What a declaration was given: expressions, numbers, and texts that wait for their system."""

from __future__ import annotations

from typing import Any

import sympy as sp

from zwang import _expressions
from zwang.errors import DeclarationError


class Text(sp.Symbol):
    """An expression given as text, until the system that it stands in says what its names mean."""

    __slots__ = ()

    def __new__(cls, text: str) -> Text:
        return sp.Symbol.__xnew__(cls, text)  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name,), {}


def as_expression(value: Any, where: str) -> Any:
    """Return `value` as a SymPy expression; texts wait, as `Text`, for their system."""
    if isinstance(value, sp.Expr):
        return _expressions.in_doubles(value)
    if isinstance(value, str):
        return Text(value)
    found = _expressions.number(value)
    if found is None:
        raise DeclarationError(f"{where}: an expression, a number or a text is needed; it was given {value!r:.80}.")
    return found


def as_slip(value: Any, where: str) -> tuple[Any, ...]:
    """Return the slip velocities as a tuple of one or two expressions."""
    several = isinstance(value, (sp.MatrixBase, list, tuple)) or bool(getattr(value, "shape", ()))
    items = list(value) if several else [value]
    if len(items) not in (1, 2):
        raise DeclarationError(f"{where}: slip= needs one velocity or an orthonormal pair; it was given {len(items)}.")
    return tuple(as_expression(item, f"{where}: slip") for item in items)
