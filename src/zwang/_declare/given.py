"""What a declaration was given: expressions, numbers, and texts that wait for their system."""

from __future__ import annotations

from collections.abc import Mapping
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


def components(given: Any) -> list[Any] | None:
    """Return what a list or vector holds, of a matrix its rows, and None for what is neither.

    SymPy's matrices and arrays can't be told by being iterable: they aren't. A row and a column are vectors.

    Examples
    --------
    >>> components(sp.Matrix([1, 2])), components(sp.Matrix([[1, 2]])), components((1, 2)), components("1 2")
    ([1, 2], [1, 2], [1, 2], None)
    """
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and hasattr(given, "tolist"):
        if not shape:
            return None
        flat = len(shape) == 2 and 1 in shape
        return [item for row in given.tolist() for item in row] if flat else list(given.tolist())
    if isinstance(given, (str, Mapping)) or not hasattr(given, "__iter__"):
        return None
    return list(given)


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
    listed = components(value)
    items = [value] if listed is None else listed
    if len(items) not in (1, 2):
        raise DeclarationError(f"{where}: slip= needs one velocity or an orthonormal pair; it was given {len(items)}.")
    return tuple(as_expression(item, f"{where}: slip") for item in items)
