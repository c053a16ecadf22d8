"""A mapping that is asked by names, symbols or expressions alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from zwang._numerics.tolerances import name_of
from zwang.errors import nearest

T = TypeVar("T")


def missing(name: str, known: Iterable[str], where: str) -> str:
    """Return the message about an unknown `name`; `where` begins it, as in "rod: the reactions have"."""
    return f"{where} no '{name}'. {nearest(name, known)}"


class ByName(Mapping[Any, T]):
    """Text of a name or expression -> value; symbols and expressions are looked up by their text.

    What is not there is told with `where`, a sentence's beginning: "rod: the reactions have".

    Examples
    --------
    >>> import sympy as sp
    >>> ByName({"x": 1.0, "x + y": 2.0}, "rod: the values have")[sp.Symbol("x") + sp.Symbol("y")]
    2.0
    """

    def __init__(self, entries: Mapping[str, T], where: str) -> None:
        self._entries, self._where = entries, where

    def __getitem__(self, key: Any) -> T:
        name = name_of(key)
        if name not in self._entries:
            raise KeyError(missing(name, self._entries, self._where))
        return self._entries[name]

    def __getattr__(self, name: str) -> T:
        """Entries whose names are identifiers are attributes too, as in `energy.total`."""
        entries = self.__dict__.get("_entries", {})
        if name not in entries:
            raise AttributeError(missing(name, entries, self.__dict__.get("_where", "Here is")))
        return entries[name]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(dict(self._entries))
