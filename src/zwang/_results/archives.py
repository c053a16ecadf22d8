"""The files that results lie in, read with care: sizes are known, and bounded, before anything is read.

A member says how large it is in the zip's directory and again in its own header; both must agree, and together they
must stay in proportion to the file. Members that the text of a result doesn't name are never opened.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from zwang.errors import DeclarationError

ROOM = 64 * 2**20
"""Bytes that the arrays of every file may take, however small the file is."""
RATIO = 200
"""How many times its own size a larger file may take; deflate can reach 1030, with nothing but zeros."""
TEXT_ROOM = 16 * 2**20
"""The same as `ROOM` for the text of a result, which takes some ten times its size once it is read."""
KINDS = "biufc"
"""Kinds of numbers that arrays of results hold."""


class Archive(Protocol):
    """A file opened for reading: its text, and its arrays by name."""

    def text(self) -> str:
        """Return the text that says what the result is."""

    def array(self, name: str) -> NDArray[Any]:
        """Return an array that the text names."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


class _Room:
    """How much of the memory that a file may take is left."""

    def __init__(self, path: Path) -> None:
        self._size = path.stat().st_size
        self._left = max(ROOM, RATIO * self._size)

    def take(self, name: str, size: int) -> None:
        """Refuse what is out of proportion, before it is read."""
        if size > self._left:
            raise DeclarationError(
                f"'{name}' and what was read before it take more than {max(ROOM, RATIO * self._size):.3g} bytes, out "
                f"of all proportion to a file of {self._size} bytes"
            )
        self._left -= size

    def take_text(self, size: int) -> None:
        """Refuse a text that is out of proportion."""
        if size > max(TEXT_ROOM, RATIO * self._size):
            raise DeclarationError(f"its text of {size} bytes is out of all proportion to a file of {self._size} bytes")
        self.take("the text", size)


class ZipArchive:
    """A ``.npz`` file: a zip of arrays as NumPy writes them."""

    def __init__(self, path: Path) -> None:
        self._room = _Room(path)
        self._file = zipfile.ZipFile(path)
        self._known: dict[str, NDArray[Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def text(self) -> str:
        """Return the text that says what the result is."""
        found = self._read("meta", "U")
        if found.shape != ():
            raise DeclarationError(f"its text is an array of shape {found.shape}")
        return str(found)

    def array(self, name: str) -> NDArray[Any]:
        """Return an array that the text names; one that is named twice is read once."""
        if name not in self._known:
            self._known[name] = self._read(name, KINDS)
        return self._known[name]

    def _read(self, name: str, kinds: str) -> NDArray[Any]:
        try:
            info = self._file.getinfo(f"{name}.npy")
        except KeyError:
            raise DeclarationError(f"it has no member '{name}'") from None
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DeclarationError(f"'{name}' is compressed in a way that NumPy doesn't write")
        with self._file.open(info) as entry:
            shape, fortran, dtype = _header(entry)
            count = 1
            for length in shape:
                count *= length
            size = count * dtype.itemsize
            if dtype.kind not in kinds or entry.tell() + size != info.file_size:
                raise DeclarationError(f"the header of '{name}' doesn't fit its {info.file_size} bytes")
            if kinds == "U":
                self._room.take_text(size)
            else:
                self._room.take(name, size)
            data = bytearray(entry.read(size))
            if len(data) != size or entry.read(1):  # reading to the end also compares the checksum
                raise DeclarationError(f"'{name}' ends before its {size} bytes")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _header(entry: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(entry)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise DeclarationError(f"a member has the unknown format {version}")
    shape, fortran, dtype = read(entry)
    if any(length < 0 for length in shape):
        raise DeclarationError(f"a member has the shape {shape}")
    return shape, fortran, dtype


class NetcdfArchive(ZipArchive):
    """A ``.nc`` file: netCDF, which is HDF5 with names for axes.

    HDF5 runs on for ever, or takes its process with it, on some damaged files. So another process reads the file, with
    bounds on its time and memory, and hands its arrays over as a ``.npz``.
    """

    def __init__(self, path: Path) -> None:
        if importlib.util.find_spec("h5py") is None:
            raise DeclarationError("netCDF needs h5py: pip install 'zwang[io]', or save as .npz")
        self._folder = tempfile.TemporaryDirectory(prefix="zwang-")
        try:
            super().__init__(self._converted(path))
        except BaseException:
            self._folder.cleanup()
            raise
        self._room = _Room(path)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        self._folder.cleanup()

    def _converted(self, path: Path) -> Path:
        target = Path(self._folder.name) / "arrays.npz"
        size = path.stat().st_size
        room, seconds = max(ROOM, RATIO * size), 5 + size // 2**22
        script = Path(__file__).with_name("netcdf_reader.py")
        given = [str(path.resolve()), str(target), str(room), str(max(TEXT_ROOM, RATIO * size)), str(seconds)]
        done = subprocess.run(
            [sys.executable, "-P", str(script), *given],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60 * seconds,
            check=False,
        )
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise DeclarationError(said[-1] if said else "HDF5 could not read it")
        return target


def opened(path: Path) -> Archive:
    """Open the file of a result; its ending says the format."""
    return NetcdfArchive(path) if path.suffix == ".nc" else ZipArchive(path)
