"""The bytes of a result: everything in it but where and when it was computed."""

import hashlib
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np

LEFT_OUT = ("provenance", "seconds", "costs", "source")  # a source is what rows are computed from


def bytes_of(result) -> str:
    """Return a digest of all numbers and words of a result."""
    found = hashlib.sha256()
    _add(found, result)
    return found.hexdigest()


def _add(found, item) -> None:
    if is_dataclass(item) and not isinstance(item, type):
        for field in fields(item):
            if field.name not in LEFT_OUT:
                found.update(field.name.encode())
                _add(found, getattr(item, field.name))
    elif isinstance(item, np.ndarray) and item.dtype != object:
        found.update(str((item.shape, item.dtype)).encode() + np.ascontiguousarray(item).tobytes())
    elif isinstance(item, (bool, int, float, str, np.generic, Enum)) or item is None:
        found.update(repr(item).encode())
    elif isinstance(item, Mapping):
        _add(found, [*item.items()])
    elif isinstance(item, Set):
        _add(found, sorted(item, key=repr))
    elif hasattr(item, "__iter__"):
        for part in item:
            _add(found, part)
    else:
        raise TypeError(f"bytes of {type(item).__name__}?")
