"""NamedTuples in signatures: the name of a class stands for the types that the annotations of its fields say.

    class Span(NamedTuple):
        t: float
        ends: Floats

    @njit("float64(Span, int64)")
    def length(span, i): ...

A call from Python with a NamedTuple takes 1.7 microseconds more than one with its fields: give them to loops, not to
what is called ten thousand times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from zwang.errors import CompileError

EVAL_SIGNATURE = "int64(float64, float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1])"
"""The type of every model's kernel: eval(t, q, v, params, int_table, workspace, out) -> status."""

KINDS = {
    "bool": "boolean",
    "int": "int64",
    "float": "float64",
    "Ints": "int64[::1]",
    "IntMatrix": "int64[:, ::1]",
    "IntCube": "int64[:, :, ::1]",
    "Indices": "uint32[::1]",
    "Floats": "float64[::1]",
    "Matrix": "float64[:, ::1]",
    "Cube": "float64[:, :, ::1]",
    "Flags": "boolean[:, ::1]",
    "Evaluate": f"FunctionType({EVAL_SIGNATURE})",
}
"""What the annotation of a field is in Numba's words."""


def named_in(function: Callable[..., Any], signature: str | None) -> dict[str, Any]:
    """Return the NamedTuples that a signature names, by name: globals of the function."""
    scope = getattr(function, "__globals__", {})
    words = set(re.findall(r"[A-Za-z_]\w*", signature or ""))
    return {word: scope[word] for word in sorted(words) if hasattr(scope.get(word), "_fields")}


def fields_text(kind: Any) -> str:
    """Return the content of a NamedTuple: its place, by which machine code knows it, and the types of its fields."""
    return (
        f"{kind.__module__}.{kind.__name__}({', '.join(f'{name}: {field_kind(kind, name)}' for name in kind._fields)})"
    )


def field_kind(kind: Any, field: str) -> str:
    """Return the type of a field of a NamedTuple in Numba's words."""
    given = kind.__annotations__.get(field)
    word = getattr(given, "__forward_arg__", None) or getattr(given, "__name__", str(given))
    if word not in KINDS:
        raise CompileError(
            f"njit: field '{field}' of {kind.__name__} is annotated {word}, which no signature knows. Use one of "
            f"{', '.join(KINDS)}."
        )
    return KINDS[word]


def typed(signature: str, classes: dict[str, Any]) -> Any:
    """Return a signature as Numba takes it, with NamedTuples in place of their names."""
    from numba.core.sigutils import normalize_signature
    from numba.types import BaseTuple

    def one(text: str) -> Any:
        if text in classes:
            kind = classes[text]
            return BaseTuple.from_types([one(field_kind(kind, field)) for field in kind._fields], kind)
        return normalize_signature(f"void({text})")[0][0]

    at = depth = 0
    for at in range(len(signature) - 1, -1, -1):  # the arguments stand in the last brackets
        depth += (signature[at] == ")") - (signature[at] == "(")
        if depth == 0 and signature[at] == "(":
            break
    inside = signature[at + 1 : signature.rindex(")")]
    return one(signature[:at].strip())(*(one(text.strip()) for text in split(inside)))


def split(text: str) -> list[str]:
    """Return the parts of a list between commas that stand in no brackets.

    Examples
    --------
    >>> split("int64[:, ::1], FunctionType(int64(int64, int64)), float64")
    ['int64[:, ::1]', ' FunctionType(int64(int64, int64))', ' float64']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
