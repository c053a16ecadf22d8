"""A file that grows block by block, each whole in itself: what a killed process leaves of it can be read.

A draft begins with a line that says what it is. Then come blocks: a mark, the length and the checksum of what follows,
and that: JSON with the names, types and shapes of arrays, and the arrays. A block that is cut off, or whose checksum is
another, ends the reading; all before it is sound.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from zwang._results import storage
from zwang._results.decoding import decoded
from zwang.errors import DeclarationError

FIRST = b"zwang stream 1\n"
MARK = b"zwbl"
HEAD = struct.Struct("<4sQI")
TEXT = struct.Struct("<I")
KINDS = "biuf"
"""Of numbers that a block may hold: truth values, integers, floats."""


class Draft:
    """The growing file; blocks are values that results may hold.

    Parameters
    ----------
    path : Path
        Where a draft is already, it was left by a computation that was killed.
    goes_on : bool
        Whether its sound blocks stay; else it is replaced.
    """

    def __init__(self, path: Path, *, goes_on: bool = False) -> None:
        self.path = path
        if _is_strange(path):
            raise DeclarationError(f"'{path}' is in the way: it is no draft of zwang's. Move it, or take another name.")
        if not goes_on or not path.is_file() or path.stat().st_size < len(FIRST):
            path.unlink(missing_ok=True)
        self._end = 0
        self._file = path.open("rb+" if path.is_file() else "xb+", buffering=0)
        try:
            _lock(self._file)
            if self._file.seek(0, os.SEEK_END):
                self._end = max(
                    (place + HEAD.size + len(data) for place, data in _sound(self._file)), default=len(FIRST)
                )
                self._file.truncate(self._end)
            else:
                self._write(FIRST)
        except BaseException:
            self.close() if self._end else self.remove()
            raise

    def add(self, value: Any) -> None:
        """Write a block; where that fails, the draft is as it was before."""
        self._write(packed(value))

    def blocks(self, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Yield the place and the value of each block, from a place on (0: from the first)."""
        return blocks_of(self._file, start)

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._file.closed

    @property
    def size(self) -> int:
        """How many bytes of blocks are in it."""
        return self._end - len(FIRST)

    def close(self) -> None:
        """Leave the file as it is."""
        self._file.close()

    def remove(self) -> None:
        """Close the file and remove it."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._file.seek(self._end)
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
            raise
        self._end += len(data)


def packed(value: Any) -> bytes:
    """Return a value as a block."""
    arrays: dict[str, Any] = {}
    plain = storage._encode(value, arrays, "")
    made = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    strange = [name for name, array in made.items() if array.dtype.kind not in KINDS]
    if strange:
        raise DeclarationError(f"An array of type {made[strange[0]].dtype} can't be saved ({strange[0]}).")
    listed = [[name, array.dtype.str, list(arrays[name].shape)] for name, array in made.items()]
    text = json.dumps({"arrays": listed, "value": plain}).encode()
    data = b"".join((TEXT.pack(len(text)), text, *(array.tobytes() for array in made.values())))
    return HEAD.pack(MARK, len(data), zlib.crc32(data)) + data


def blocks_of(file: BinaryIO, start: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the place and the value of each sound block of a draft, up to the first that is not."""
    return ((place, unpacked(data)) for place, data in _sound(file, start))


def _sound(file: BinaryIO, start: int = 0) -> Iterator[tuple[int, bytes]]:
    size = file.seek(0, os.SEEK_END)
    place = start or len(FIRST)
    while place + HEAD.size <= size:
        file.seek(place)
        mark, length, checksum = HEAD.unpack(file.read(HEAD.size))
        if mark != MARK or place + HEAD.size + length > size:
            return
        data = file.read(length)
        if len(data) != length or zlib.crc32(data) != checksum:
            return
        yield place, data
        place += HEAD.size + length


def blocks_in(path: Path) -> list[Any]:
    """Return the values of the sound blocks of a draft that nobody writes any more."""
    with path.open("rb") as file:
        if file.read(len(FIRST)) != FIRST:
            raise DeclarationError(f"'{path}' is not a draft that zwang wrote.")
        return [value for _, value in blocks_of(file)]


def unpacked(data: bytes) -> Any:
    """Return the value of a block whose checksum is right."""
    try:
        (length,) = TEXT.unpack_from(data)
        plain = json.loads(data[TEXT.size : TEXT.size + length])
        arrays, place = {}, TEXT.size + length
        for name, kind, shape in plain["arrays"]:
            dtype = np.dtype(str(kind))
            sides = [int(one) for one in shape]
            count = math.prod(sides)
            room = (len(data) - place) // max(dtype.itemsize, 1)
            if dtype.kind not in KINDS or min(sides, default=0) < 0 or count > room:
                raise ValueError(f"an array of type {dtype} and shape {sides}")
            arrays[name] = np.frombuffer(data, dtype, count, place).reshape(sides).copy()
            place += count * dtype.itemsize
        return decoded(plain["value"], arrays.__getitem__)
    except (struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise DeclarationError(f"A block of the stream is not one that zwang wrote ({error}).") from None


def _is_strange(path: Path) -> bool:
    """Return whether something is there that is no draft, and no beginning of one."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return not FIRST.startswith(file.read(len(FIRST)))


def _lock(file: BinaryIO) -> None:
    """Keep the file as long as it is open, where the system has locks."""
    try:
        import fcntl
    except ImportError:  # Windows: a file that is open there can't be removed by another anyway
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def in_use(path: Path) -> bool:
    """Return whether another process, or another stream of this one, is writing a draft just now."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
