"""A mapping that is asked by names, symbols or expressions alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from zwang.errors import nearest

T = TypeVar("T")


class ByName(Mapping[Any, T]):
    """Text of a name or expression -> value; symbols and expressions are looked up by their text.

    Examples
    --------
    >>> import sympy as sp
    >>> ByName({"x": 1.0, "x + y": 2.0})[sp.Symbol("x") + sp.Symbol("y")]
    2.0
    """

    def __init__(self, entries: Mapping[str, T]) -> None:
        self._entries = entries

    def __getitem__(self, key: Any) -> T:
        name = key if isinstance(key, str) else str(getattr(key, "name", key))
        if name not in self._entries:
            raise KeyError(f"{name!r}: {nearest(name, list(self._entries))}")
        return self._entries[name]

    def __getattr__(self, name: str) -> T:
        """Entries whose names are identifiers are attributes too, as in `energy.total`."""
        entries = self.__dict__.get("_entries", {})
        if name not in entries:
            raise AttributeError(f"{name!r}: {nearest(name, list(entries))}")
        return entries[name]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(dict(self._entries))
