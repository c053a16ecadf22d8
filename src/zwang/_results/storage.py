"""Results as files: arrays by name and one text of JSON for all the rest. No pickle, nothing is executed."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import pkgutil
import zipfile
from collections.abc import Callable, Mapping
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from zwang._outputs import check_output, replacing
from zwang._results.columns import Quantities, Tabular, netcdf
from zwang.errors import DeclarationError, printable

FORMAT = 1  # of the file; raised when an older one can't be read any more
PACKED: dict[str, Any] = {"mode": "w", "compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
"""How archives are made: numbers hardly shrink any further than with the fastest way to pack them."""
T = TypeVar("T", bound=type)
_KNOWN: dict[str, type] = {}
_NAMES: dict[type, str] = {}
"""What files call a class, which may be called otherwise by now."""
SHAPES: dict[type, Mapping[str, str]] = {}
"""Shapes of the fields of classes, in the words of `array_shapes`."""


@overload
def storable(cls: T) -> T: ...
@overload
def storable(*, shapes: Mapping[str, str] = ..., name: str | None = ...) -> Callable[[T], T]: ...
def storable(cls: Any = None, *, shapes: Mapping[str, str] | None = None, name: str | None = None) -> Any:
    """Mark a frozen dataclass or an Enum as one that files may hold.

    Parameters
    ----------
    shapes : mapping, optional
        Field -> its shape in letters, such as ``{"t": "k+1", "q": "k+1 n"}``: a file that doesn't keep them is refused.
        What else must hold is said by a method ``_check`` that returns what doesn't, in words, or an empty text.
    name : str, optional
        What files call the class, by default its name: a class may be renamed, files stay.

    Examples
    --------
    >>> @storable
    ... class Colour(Enum):
    ...     RED = "It is red."
    """

    def marked(cls: T) -> T:
        _NAMES[cls] = name or cls.__name__
        _KNOWN[_NAMES[cls]] = _seen(cls)
        SHAPES[cls] = dict(shapes or {})
        return cls

    return marked if cls is None else marked(cls)


def _seen(cls: T) -> T:
    """Let what a class prints be text that can be seen: names come from files, and a terminal obeys some characters."""
    own: Any = cls.__dict__.get("__repr__")
    if own is not None and not issubclass(cls, Enum):

        @wraps(own)
        def shown(self: Any) -> str:
            return printable(own(self))

        cls.__repr__ = shown  # type: ignore[method-assign]
    return cls


def check_path(path: str | Path) -> Path:
    """Return a path to which a result can be saved; a DeclarationError says why not."""
    words = "results are saved as .npz, or as .nc with the extra io"
    found = check_output(path, endings=(".npz", ".nc"), written=words)
    if found.suffix == ".nc" and importlib.util.find_spec("h5netcdf") is None:
        raise DeclarationError("netCDF needs h5netcdf: pip install 'zwang[io]', or save as .npz.")
    return found


def save(value: Any, path: Path) -> Path:
    """Write a storable value; the ending of the path says the format."""
    check_path(path)
    arrays: dict[str, Any] = {}
    meta = json.dumps({"zwang": FORMAT, "value": _encode(value, arrays, "value")})
    with replacing(path) as draft:
        if path.suffix == ".npz":
            with zipfile.ZipFile(draft, **PACKED) as file:
                for name, array in {**arrays, "meta": np.array(meta)}.items():
                    write_array(file, name, array)
        else:
            shown, groups = (value._columns(), value._groups()) if isinstance(value, Tabular) else (Quantities({}), {})
            draft.write_bytes(netcdf(shown, groups, arrays, meta))
    return path


def write_array(file: zipfile.ZipFile, name: str, array: Any) -> None:
    """Write an array to a ``.npz`` file."""
    with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def _encode(value: Any, arrays: dict[str, Any], place: str) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"array": place}
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, Enum):
        return {"enum": _name_of(value), "name": value.name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = value.as_stored() if hasattr(value, "as_stored") else value
        parts = {
            name: _encode(getattr(value, item.name), arrays, f"{place}.{name}")
            for name, item in stored_fields(type(value)).items()
        }
        return {"data": _name_of(value), "fields": parts}
    if isinstance(value, Mapping):
        pairs = [[_encode(k, arrays, ""), _encode(v, arrays, f"{place}.{i}")] for i, (k, v) in enumerate(value.items())]
        return {"map": pairs}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_encode(item, arrays, f"{place}.{i}") for i, item in enumerate(value)]}
    raise DeclarationError(f"A {type(value).__name__} can't be saved ({place}).")


def stored_fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    """Return the fields of a class that files hold, by their names there: ``stored`` in a field's metadata says both.

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Found:
    ...     values: list[int]
    ...     source: object = dataclasses.field(default=None, metadata={"stored": None})
    >>> list(stored_fields(Found))
    ['values']
    """
    named = ((item.metadata.get("stored", item.name), item) for item in dataclasses.fields(cls))
    return {name: item for name, item in named if name is not None}


def _name_of(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)


def known_class(name: Any) -> type:
    """Return the class that files call by this name."""
    if not isinstance(name, str):
        raise DeclarationError(f"The file holds something called {name!r:.60}.")
    if name not in _KNOWN:
        # A class is known once its module is loaded; in a fresh process none of them is.
        for module in pkgutil.iter_modules(importlib.import_module("zwang._results").__path__, "zwang._results."):
            importlib.import_module(module.name)
    if name not in _KNOWN:
        raise DeclarationError(f"The file holds a '{name}', which this version of zwang doesn't know.")
    return _KNOWN[name]
