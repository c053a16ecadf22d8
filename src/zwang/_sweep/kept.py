"""What a sweep keeps of a result: paths of attributes, or functions; and its values as columns of a block."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.study_columns import COUNT
from zwang.errors import DeclarationError, nearest

STEP = re.compile(r"\.?([A-Za-z]\w*)|\[(-?\d+(?: *, *-?\d+)*)\]|\[(?:'([^']*)'|\"([^\"]*)\"|([A-Za-z_][\w ]*))\]")
NAME = re.compile(r"[A-Za-z_][\w.]*")
MISSING = object()
"""Stands for what a result doesn't have at this point: an event that did not happen."""


class AttributePath:
    """A path of attributes, such as ``events[0].time``, ``q[-1, 0]`` or ``reactions['tip'][-1]``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> motion = SimpleNamespace(t=[0.0, 1.5], events=[])
    >>> AttributePath("t[-1]")(motion), AttributePath("events[0].time")(motion) is MISSING
    (1.5, True)
    """

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, _steps(text)

    def __call__(self, result: Any) -> Any:
        value = result
        for kind, key in self.steps:
            if value is MISSING or value is None:
                return MISSING
            if kind == "index" or (isinstance(value, Mapping) and (kind == "key" or key in value)):
                try:
                    value = value[key]
                except (IndexError, KeyError):
                    return MISSING
            elif hasattr(value, key):
                value = getattr(value, key)
            else:
                known = sorted(name for name in dir(value) if not name.startswith("_"))
                raise DeclarationError(
                    f"'{self.text}': there is no '{key}' in a {type(value).__name__}. {nearest(str(key), known)}"
                )
        return value


def _steps(text: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    place = 0
    while place < len(text):
        match = STEP.match(text, place)
        if match is None or (place == 0 and not match[1]) or (place and match[1] and text[place] != "."):
            raise DeclarationError(
                f"keep=: '{text[:60]}' is no path of attributes. Write such as status, t[-1], events[0].time, "
                "reactions['tip'][-1]."
            )
        place = match.end()
        if match[1]:
            found.append(("name", match[1]))
        elif match[2]:
            found += [("index", int(index)) for index in match[2].split(",")]
        else:
            found.append(("key", next(text for text in match.groups()[2:] if text is not None)))
    if not found:
        raise DeclarationError("keep=: a name is empty.")
    return found


def keepers(
    keep: Any, result: type | None, verb: str, *, beside: Sequence[str] = ()
) -> dict[str, AttributePath | Callable[[Any], Any]]:
    """Return name -> what takes it out of a result, from what ``keep=`` says.

    Parameters
    ----------
    keep : str, sequence of str, or mapping of str to path or function
    result : type, optional
        The class of the results, where it is known: a name that it doesn't have is a mistake.
    verb : str
        For messages.
    beside : names
        That may be kept although the class doesn't have them.
    """
    if isinstance(keep, str):
        keep = (keep,)
    if isinstance(keep, Mapping):
        pairs = list(keep.items())
    elif isinstance(keep, Sequence):
        pairs = [(item, item) for item in keep]
    else:
        raise DeclarationError(
            f"sweep: keep= must be names, or a mapping from names to paths; it was given {keep!r:.60}."
        )
    if not pairs:
        raise DeclarationError("sweep: keep= is empty; nothing would be left of the results.")
    found: dict[str, AttributePath | Callable[[Any], Any]] = {}
    for name, what in pairs:
        if not isinstance(name, str) or not name:
            raise DeclarationError(f"sweep: keep= needs a name for {what!r:.60}: keep={{'name': function}}.")
        found[name] = _keeper(what, None if what in beside else result, verb)
    return found


def _keeper(what: Any, result: type | None, verb: str) -> AttributePath | Callable[[Any], Any]:
    if isinstance(what, str) and ":" in what:
        return imported(what, "keep=")
    if isinstance(what, str):
        path = AttributePath(what)
        first = path.steps[0][1]
        if result is not None and not hasattr(result, first):
            fields = {item.name for item in dataclasses.fields(result)} if dataclasses.is_dataclass(result) else set()
            if first not in fields:
                known = sorted(fields | {name for name in dir(result) if not name.startswith("_")})
                raise DeclarationError(
                    f"sweep: what {verb} returns has no '{first}' to keep. {nearest(str(first), known)}"
                )
        return path
    if callable(what):
        return what  # type: ignore[no-any-return]
    raise DeclarationError(f"sweep: keep= takes paths and functions; it was given {what!r:.60}.")


def imported(text: str, where: str) -> Callable[..., Any]:
    """Return the function of a text such as 'package.module:function'."""
    module, _, name = text.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise DeclarationError(f"{where} '{text[:80]}' can't be imported: {error}.") from None
    if not callable(found):
        raise DeclarationError(f"{where} '{text[:80]}' is no function.")
    return found  # type: ignore[no-any-return]


def plain(name: str, value: Any) -> dict[str, Any]:
    """Return a kept value as named numbers, texts and arrays of them; objects are taken apart into their fields.

    Examples
    --------
    >>> plain("end", {"x": 1.0, "t": 2})
    {'end.x': 1.0, 'end.t': 2}
    >>> plain("modes", ("stick", "open"))["modes"].tolist()
    ['stick', 'open']
    """
    if value is MISSING or value is None:
        return {name: MISSING}
    if isinstance(value, Enum):
        return {name: value.name}
    if isinstance(value, (bool, np.bool_, int, float, complex, np.number, str)):
        return {name: value}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubUc":
        return {name: value if value.ndim else value[()]}
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, item in value.items():
            found |= plain(f"{name}.{key}", item)
        return found
    if isinstance(value, (Sequence, np.ndarray)):
        return _listed(name, list(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(name, value)
    raise DeclarationError(
        f"'{name}' is a {type(value).__name__}, which is no number, text or array. Keep a path to what you need of it."
    )


def _listed(name: str, items: list[Any]) -> dict[str, Any]:
    if not items:
        return {name + COUNT: 0}
    if all(isinstance(item, (bool, int, float, complex, np.number, np.bool_)) for item in items):
        return {name: np.array(items)}
    if all(isinstance(item, (str, Enum)) for item in items):
        return {name: np.array([item.name if isinstance(item, Enum) else item for item in items], dtype=str)}
    parts = [_flat_fields(name, item) for item in items]
    found: dict[str, Any] = {name + COUNT: len(items)}
    for key in dict.fromkeys(key for part in parts for key in part):
        found[f"{name}.{key}"] = padded([part.get(key, MISSING) for part in parts])[0]
    return found


def _flat_fields(name: str, item: Any) -> dict[str, Any]:
    """Return the numbers, texts and arrays of an object in a list; lists of further objects are left out."""
    if not dataclasses.is_dataclass(item) or isinstance(item, type):
        raise DeclarationError(
            f"'{name}' holds {type(item).__name__}, which is no number or text. Keep a path to what you need of it."
        )
    found: dict[str, Any] = {}
    for entry in dataclasses.fields(item):
        value = getattr(item, entry.name)
        if isinstance(value, (Mapping, list, tuple)) and not _plain_list(value):
            continue
        with contextlib.suppress(DeclarationError):
            found |= {key: kept for key, kept in plain(entry.name, value).items() if "." not in key}
    return found


def _plain_list(value: Any) -> bool:
    simple = (bool, int, float, complex, str, np.number)
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, simple) for item in value)


def _fields(name: str, value: Any) -> dict[str, Any]:
    """Return those fields of an object that a table can hold."""
    found: dict[str, Any] = {}
    for item in dataclasses.fields(value):
        try:
            found |= plain(f"{name}.{item.name}", getattr(value, item.name))
        except DeclarationError:
            continue
    return found


def columns_of(rows: Sequence[Mapping[str, Any] | None]) -> dict[str, NDArray[Any]]:
    """Return the kept values of the points of a block as columns; None stands for a point that failed."""
    names = list(dict.fromkeys(name for row in rows if row for name in row))
    told = {name.removesuffix(COUNT) for name in names if name.endswith(COUNT)}
    found: dict[str, NDArray[Any]] = {}
    for name in names:
        found[name], lengths = padded([MISSING if row is None else row.get(name, MISSING) for row in rows])
        if name.endswith(COUNT):
            found[name] = np.nan_to_num(found[name]).astype(np.int64)
        elif lengths is not None and not any(name.startswith(f"{base}.") for base in told):
            found[name + COUNT] = lengths
    for base in told & set(names):  # numbers at some points, an empty list at others
        lengths = padded([MISSING if row is None else row.get(base, MISSING) for row in rows])[1]
        assert lengths is not None
        found[base + COUNT] = lengths
    return found


def padded(values: Sequence[Any]) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return values as one array, padded where they differ in length, and their lengths if they are arrays.

    Examples
    --------
    >>> array, counts = padded([np.zeros((1, 2)), np.ones((2, 2))])
    >>> array.tolist(), counts.tolist()
    ([[[0.0, 0.0], [nan, nan]], [[1.0, 1.0], [1.0, 1.0]]], [1, 2])
    """
    arrays = [None if value is MISSING else np.asarray(value) for value in values]
    known = [array for array in arrays if array is not None]
    depth = max((array.ndim for array in known), default=0)
    inner = tuple(max((a.shape[axis] for a in known if a.ndim > axis), default=0) for axis in range(depth))
    texts = any(array.dtype.kind == "U" for array in known)
    whole_numbers = bool(known) and len(known) == len(arrays) and not texts
    if texts:
        width = max(*(array.dtype.itemsize // 4 for array in known if array.dtype.kind == "U"), 1)
        found: NDArray[Any] = np.full((len(values), *inner), "", dtype=f"<U{width}")
    elif whole_numbers and depth == 0 and all(array.dtype.kind == "b" for array in known):
        found = np.zeros(len(values), dtype=bool)
    elif whole_numbers and depth == 0 and all(array.dtype.kind in "iu" for array in known):
        found = np.zeros(len(values), dtype=np.int64)
    else:
        kind = complex if any(array.dtype.kind == "c" for array in known) else float
        found = np.full((len(values), *inner), np.nan, dtype=kind)
    for place, array in enumerate(arrays):
        if array is not None and array.ndim == depth:
            part: Any = (place, *(slice(0, n) for n in array.shape))
            found[part] = array
    if depth == 0:
        return found, None
    return found, np.array([0 if array is None or not array.ndim else array.shape[0] for array in arrays])
