"""Whether values are what the annotations of a dataclass say: what a file is held against."""

from __future__ import annotations

import collections.abc
import types
import typing
from functools import cache
from typing import Any

import numpy as np


@cache
def hints(cls: type) -> dict[str, Any]:
    """Return the annotations of a class by field, resolved."""
    return typing.get_type_hints(cls)


def fits(value: Any, hint: Any) -> bool:
    """Say whether a value is what an annotation says, down to the entries of tuples and mappings.

    Examples
    --------
    >>> fits(("a", "b"), tuple[str, ...]), fits((1, 2), tuple[str, ...]), fits(True, int), fits(1, float | None)
    (True, False, False, True)
    >>> from numpy.typing import NDArray
    >>> fits(np.array([True]), NDArray[np.int8]), fits(np.array([1]), NDArray[np.float64])
    (False, True)
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    alias = getattr(origin or hint, "__value__", None)
    if alias is not None:  # `type X = ...`, as arrays are annotated since NumPy 2.5
        return fits(value, alias[inner] if inner else alias)
    if hint is Any or isinstance(hint, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in inner)
    if origin is np.ndarray:
        (scalar,) = typing.get_args(inner[1])
        if not isinstance(value, np.ndarray) or not np.can_cast(value.dtype, scalar, "safe"):
            return False
        # Truths are no numbers: as an index they select.
        return bool(value.dtype.kind != "b" or np.dtype(scalar).kind == "b")
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(fits(item, inner[0]) for item in value)
        return len(value) == len(inner) and all(fits(item, part) for item, part in zip(value, inner, strict=True))
    if origin is collections.abc.Mapping:
        return isinstance(value, dict) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if origin is collections.abc.Sequence:
        return isinstance(value, (tuple, list)) and all(fits(item, inner[0]) for item in value)
    return _is(value, hint)


def _is(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(kind, type) and issubclass(kind, tuple):
        # A tuple with a face, such as Events: in a file it is a tuple of what its base says.
        return fits(value, kind.__orig_bases__[0])  # type: ignore[attr-defined]
    return isinstance(value, kind)
