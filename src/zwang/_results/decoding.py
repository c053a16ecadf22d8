"""From the file of a result back to the result: every field is held against what its class declares.

A file may be damaged, or made by somebody who means harm. Nothing in it is executed; classes are those that were marked
`storable`; sizes are bounded before they are read (`archives`), types follow the annotations (`field_types`), lengths
the shapes that a class states (`array_shapes`), and what else must hold a class says in ``_check``.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from zwang._results.archives import opened
from zwang._results.array_shapes import mismatch
from zwang._results.field_types import fits, hints
from zwang._results.storage import FORMAT, SHAPES, known_class, stored_fields
from zwang.errors import DeclarationError


def load(path: Path) -> Any:
    """Read what `storage.save` wrote."""
    if not path.is_file():
        raise DeclarationError(missing(path) if not path.exists() else f"'{path}' is no file.")
    try:
        with opened(path) as archive:
            found = decoded(_value(archive.text()), archive.array)
        repr(found)  # what can't even be printed is no result
        return found
    # Whatever a damaged file makes the libraries below raise (of zip, zlib, NumPy, JSON, HDF5), it says one thing.
    except Exception as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        if len(reason) > 300:
            reason = f"{reason[:300]}..."
        if path.suffix.lower() == ".toml":
            reason += ". A model file is read with zwang.load"
        raise DeclarationError(f"'{path}' is not a result that zwang saved, or it is damaged: {reason}.") from error


def missing(path: Path) -> str:
    """Return what is said of a path where nothing is: the file of results beside it that is called most alike."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    close = difflib.get_close_matches(path.name, [item.name for item in beside], n=1)
    return f"There is no file '{path}'." + (f" Did you mean '{close[0]}'?" if close else "")


def decoded(plain: Any, array: Callable[[str], Any]) -> Any:
    """Return the value that plain JSON says, its arrays asked for by name; a DeclarationError where it can't be one."""
    return _Decoder(array)._decode(plain)


def _value(text: str) -> Any:
    plain = json.loads(text)
    if not isinstance(plain, dict) or "zwang" not in plain or "value" not in plain:
        raise DeclarationError("its text has not the form of a result")
    if plain["zwang"] != FORMAT:
        raise DeclarationError(f"it has format {plain['zwang']!r}; this version of zwang reads {FORMAT}")
    return plain["value"]


class _Decoder:
    def __init__(self, array: Callable[[str], Any]) -> None:
        self._read = array

    def _decode(self, plain: Any) -> Any:
        if plain is None or isinstance(plain, (bool, int, float, str)):
            return plain
        if not isinstance(plain, dict) or len(plain) > 2:
            raise DeclarationError(f"its text has {plain!r:.60} in the place of a value")
        for key in ("array", "float", "enum", "data", "map", "list", "tuple"):
            if key in plain:
                return getattr(self, f"_{key}")(plain[key], plain)
        raise DeclarationError(f"its text has {plain!r:.60} in the place of a value")

    def _array(self, name: Any, _: Any) -> Any:
        if not isinstance(name, str):
            raise DeclarationError(f"an array is called {name!r:.60}")
        return self._read(name)

    def _float(self, digits: Any, _: Any) -> float:
        return float.fromhex(digits)

    def _enum(self, name: Any, plain: Any) -> Any:
        kind = known_class(name)
        if not issubclass(kind, Enum) or plain.get("name") not in kind.__members__:
            raise DeclarationError(f"there is no {name}.{plain.get('name')!r:.60}")
        return kind[plain["name"]]

    def _data(self, name: Any, plain: Any) -> Any:
        kind = known_class(name)
        parts = plain.get("fields")
        if not dataclasses.is_dataclass(kind) or not isinstance(parts, dict):
            raise DeclarationError(f"'{name}' has no fields")
        declared = stored_fields(kind)
        values = {}
        for field, part in parts.items():
            if field not in declared:
                raise DeclarationError(f"{name} has the field '{field[:60]}', which this version doesn't know")
            own = declared[field].name
            values[own] = self._decode(part)
            if not fits(values[own], hints(kind)[own]):
                shown = type(values[own]).__name__
                raise DeclarationError(f"{name}: '{field}' should be {declared[field].type}; it holds a {shown}")
        return self._made(kind, values)

    def _made(self, kind: Any, values: dict[str, Any]) -> Any:
        found = kind(**values)
        wrong = mismatch(found, SHAPES.get(kind, {}))
        if not wrong and hasattr(found, "_check"):
            wrong = found._check()
        if wrong:
            raise DeclarationError(f"{kind.__name__}: {wrong}")
        return found

    def _map(self, pairs: Any, _: Any) -> dict[Any, Any]:
        return {self._decode(key): self._decode(item) for key, item in pairs}

    def _list(self, items: Any, _: Any) -> list[Any]:
        return [self._decode(item) for item in _several(items)]

    def _tuple(self, items: Any, _: Any) -> tuple[Any, ...]:
        return tuple(self._decode(item) for item in _several(items))


def _several(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise DeclarationError(f"its text has {items!r:.60} in the place of a list")
    return items
