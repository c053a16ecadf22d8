"""Types of C for kernels: numbers, C-ordered arrays with their shapes, and records of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zwang._numerics.jit.named_tuples import field_kind
from zwang.errors import CompileError

INT, FLOAT, TRUTH = "long long", "double", "int"
ORDER = (TRUTH, INT, FLOAT)
"""Numbers, each of which holds those before it."""
ITEMS = {"float64": FLOAT, "int64": INT, "boolean": "unsigned char"}


@dataclass(frozen=True)
class ArrayKind:
    """A C-ordered array: the type of its numbers, and how many axes it has."""

    item: str
    rank: int

    @property
    def name(self) -> str:
        """Its name in C."""
        return f"{self.item.replace(' ', '_')}s_{self.rank}"


@dataclass(frozen=True)
class RecordKind:
    """A NamedTuple, or the plain tuple that a kernel takes or returns."""

    name: str
    fields: tuple[tuple[str, Kind], ...]


Kind = str | ArrayKind | RecordKind


@dataclass(frozen=True)
class Value:
    """An expression in C, and its type."""

    text: str
    kind: Kind


def array_kind(numba: str) -> Kind:
    """Return the type that Numba calls so.

    Examples
    --------
    >>> array_kind("float64[:, ::1]"), array_kind("int64")
    (ArrayKind(item='double', rank=2), 'long long')
    """
    item, _, axes = numba.partition("[")
    if item not in ITEMS:
        raise CompileError(f"kernels in C: a field or argument is {numba}, which has no form in C here.")
    if not axes:
        return TRUTH if item == "boolean" else ITEMS[item]
    return ArrayKind(ITEMS[item], axes.count(":") - 1)


def record_kind(named: Any) -> RecordKind:
    """Return the type of a NamedTuple."""
    fields = tuple((name, array_kind(field_kind(named, name))) for name in named._fields)
    return RecordKind(named.__name__, fields)


def c_name(kind: Kind) -> str:
    """Return the name of a type in C."""
    return kind if isinstance(kind, str) else kind.name


def number(item: str) -> str:
    """Return the type of a number of an array in an expression."""
    return TRUTH if item == ITEMS["boolean"] else item
