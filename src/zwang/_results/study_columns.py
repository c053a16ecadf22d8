"""Columns of a study: values of many points under one name, in blocks, as bytes and as whole arrays.

A block holds, for each name, an array whose first axis runs over its points. Blocks of one name may differ in their
further lengths (three solutions here, none there): together they are padded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.errors import DeclarationError

COUNT = "_count"
"""Ends the name of the column that says how many entries there are at a point."""
KINDS = {"f": "<f8", "i": "<i8", "b": "|b1", "c": "<c16"}


def to_bytes(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the columns of a block as bytes: a line of JSON about them, then their numbers.

    Examples
    --------
    >>> again = from_bytes(to_bytes({"x": np.array([0.5, 1.5]), "status": np.array(["A", "B"])}))
    >>> again["x"].tolist(), again["status"].tolist()
    ([0.5, 1.5], ['A', 'B'])
    """
    head: list[list[Any]] = []
    numbers: list[bytes] = []
    for name, values in columns.items():
        if values.dtype.kind == "U":
            head.append([name, "U", list(values.shape), values.ravel().tolist()])
        else:
            head.append([name, values.dtype.kind, list(values.shape)])
            numbers.append(np.ascontiguousarray(values, dtype=KINDS[values.dtype.kind]).tobytes())
    return b"".join([json.dumps(head, separators=(",", ":")).encode(), b"\n", *numbers])


def from_bytes(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the columns that `to_bytes` wrote; bytes that it can't have written are a DeclarationError."""
    try:
        head, _, numbers = data.partition(b"\n")
        found: dict[str, NDArray[Any]] = {}
        start = 0
        for name, kind, shape, *texts in json.loads(head):
            if kind == "U":
                found[str(name)] = np.array(texts[0], dtype=str).reshape(shape)
                continue
            size = math.prod(shape)
            dtype = np.dtype(KINDS[kind])
            stop = start + size * dtype.itemsize
            found[str(name)] = np.frombuffer(numbers[start:stop], dtype=dtype).reshape(shape)
            start = stop
        if start != len(numbers):
            raise ValueError(start)
    except (ValueError, KeyError, TypeError, IndexError):
        raise DeclarationError("A block of the store is damaged.") from None
    return found


@dataclass
class Columns:
    """Whole columns, filled block by block.

    Examples
    --------
    >>> columns = Columns(4)
    >>> columns.put(0, 2, {"a": np.array([[1.0], [2.0]]), "a_count": np.array([1, 1])})
    >>> columns.put(3, 1, {"a": np.array([[5.0, 6.0]]), "a_count": np.array([2])})
    >>> columns.arrays((2, 2))["a"].tolist()
    [[[1.0, nan], [2.0, nan]], [[nan, nan], [5.0, 6.0]]]
    """

    total: int
    pieces: dict[str, list[tuple[int, NDArray[Any]]]] = field(default_factory=dict)
    done: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.done = np.zeros(self.total, dtype=bool)

    def put(self, first: int, count: int, columns: Mapping[str, NDArray[Any]], missing: tuple[int, ...] = ()) -> None:
        """Take the columns of a block that begins at a point; `missing` are its points that failed."""
        self.done[first : first + count] = True
        self.done[[first + place for place in missing]] = False
        for name, values in columns.items():
            if len(values) != count:
                raise DeclarationError("A block of the store is damaged.")
            self.pieces.setdefault(name, []).append((first, values))

    def arrays(self, shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        """Return every column over the axes of the study; a count that is the same everywhere is left out."""
        found = {}
        for name, pieces in self.pieces.items():
            whole = self._whole(pieces)
            if name.endswith(COUNT) and name.removesuffix(COUNT) in self.pieces:
                counts = whole[self.done]
                if counts.size and (counts == counts[0]).all():
                    continue
            found[name] = whole.reshape(*shape, *whole.shape[1:])
        return found

    def _whole(self, pieces: list[tuple[int, NDArray[Any]]]) -> NDArray[Any]:
        kinds = {values.dtype.kind for _, values in pieces}
        depth = max(values.ndim for _, values in pieces)
        inner = tuple(max((v.shape[axis] for _, v in pieces if v.ndim > axis), default=0) for axis in range(1, depth))
        if "U" in kinds:
            width = max(*(values.dtype.itemsize // 4 for _, values in pieces if values.dtype.kind == "U"), 1)
            whole: NDArray[Any] = np.full((self.total, *inner), "", dtype=f"<U{width}")
        elif kinds == {"i"} and self.done.all():
            whole = np.zeros((self.total, *inner), dtype=np.int64)
        elif kinds == {"b"} and self.done.all():
            whole = np.zeros((self.total, *inner), dtype=bool)
        else:
            whole = np.full((self.total, *inner), np.nan, dtype=complex if "c" in kinds else float)
        for first, values in pieces:
            if values.ndim != depth or ("U" in kinds) != (values.dtype.kind == "U"):
                continue  # nothing but failures, which have no entries to say what they are
            place = (slice(first, first + len(values)), *(slice(0, n) for n in values.shape[1:]))
            whole[place] = values
        if not self.done.all():
            whole[~self.done] = "" if whole.dtype.kind == "U" else np.nan if whole.dtype.kind in "fc" else 0
        return whole
