"""Mappings that nobody changes: values of entries, forces of systems, points of drawings."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Frozen(dict[K, V]):
    """A dictionary that can't be changed. Unlike a MappingProxyType it goes to other processes.

    Examples
    --------
    >>> values = Frozen({"m": 1.0})
    >>> {**values, "g": 9.81}
    {'m': 1.0, 'g': 9.81}
    >>> values["m"] = 2.0
    Traceback (most recent call last):
        ...
    TypeError: This mapping can't be changed; make another one: {**mapping, key: value}.
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("This mapping can't be changed; make another one: {**mapping, key: value}.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __copy__(self) -> Frozen[K, V]:
        return self
