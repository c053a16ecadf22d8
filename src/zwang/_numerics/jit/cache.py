"""The folder on disk that keeps compiled kernels, one file for each.

A file starts with the digest of the kernel that it is for and the SHA-256 of that digest and of what follows; both are
verified before a byte of the rest is used, for the rest is a pickle with machine code, and to read a pickle is to
execute it. So a flipped bit, half a file, or the file of another kernel under this one's name, are not read: the kernel
is compiled again and the file replaced. Folder and file must belong to the user, and nobody else may write to them;
links are not followed. This protects from accidents and from other users. It can't protect from the same user, who can
replace the package as well, nor from the administrator.

Files are written beside and renamed, so that no process sees half of one. A folder that can't be written, but read, is
of use all the same. `ZWANG_CACHE_SIZE` bounds the size of all kernels; those that were used longest ago go first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zwang.errors import CompileError

ENDING = ".kernel"
MAGIC = b"zwang kernel 1\n"
LIMIT = "1G"
"""Of the size of all kernels together, unless ZWANG_CACHE_SIZE says otherwise."""
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
DAY = 86_400.0  # seconds; what is older was left by a process that died
ROUND = 200
"""Kernels that a process writes between two looks at the size of the folder."""

_WARNED = threading.Event()
_WRITTEN = 0  # files written by this process


class KernelWarning(UserWarning):
    """Kernels work, but slower than they could: without a cache on disk, or without Numba."""


@dataclass(frozen=True)
class CacheSummary:
    """What is in the folder: the number of kernels and their size, beside the largest size that is kept [bytes]."""

    folder: Path
    kernels: int
    size: int
    limit: int


def cache_folder() -> Path:
    """Return the folder: ZWANG_CACHE_DIR, or the place where the platform keeps such things."""
    if given := os.environ.get("ZWANG_CACHE_DIR"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "zwang" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "zwang"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zwang"


def cache_limit() -> int:
    """Return the largest size of all kernels together, in bytes.

    Examples
    --------
    >>> cache_limit() == 2**30
    True
    """
    given = os.environ.get("ZWANG_CACHE_SIZE") or LIMIT
    found = re.fullmatch(r"([0-9]+)([KMG]?)B?", given.strip().upper())
    if found is None:
        raise CompileError(
            f"ZWANG_CACHE_SIZE: {given!r} is no size. Give a number of bytes, or one with K, M or G behind it, such as "
            f"'500M'."
        )
    return int(found[1]) * UNITS[found[2]]


def read_kernel(name: str, digest: str) -> bytes | None:
    """Return what was kept under this name for the kernel of this digest; None if there is nothing that may be used."""
    try:
        folder = cache_folder().absolute()
        if not folder.exists():
            return None
        _refuse_shared(folder.stat())
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        _warn_uncached(error)
        return None
    path = folder / f"{name}{ENDING}"
    with contextlib.suppress(OSError, ValueError):  # none there, or one that is not ours: it is made again
        data = _own_bytes(path)
        found = _checked(data, digest)
        if found is not None:
            _mark_used(path)
        return found
    return None


def holds(function: str) -> bool:
    """Say whether there is machine code of a function of that name, of whatever content."""
    with contextlib.suppress(OSError, RuntimeError), os.scandir(cache_folder()) as entries:
        return any(entry.name.startswith(f"{function}_") and entry.name.endswith(ENDING) for entry in entries)
    return False


def write_kernel(name: str, digest: str, payload: bytes) -> None:
    """Keep what was compiled for the kernel of this digest; where that can't be done, say so once."""
    limit = cache_limit()
    try:
        folder = cache_folder().absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_shared(folder.stat())
        scratch = folder / f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
        try:
            handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + digest.encode() + b"\n" + _checksum(digest, payload) + b"\n" + payload)
            scratch.replace(folder / f"{name}{ENDING}")
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise
    except (OSError, RuntimeError) as error:
        _warn_uncached(error)
        return
    _look_at_size(folder, limit)


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Let one process after the other into the block for this name: what one compiles the next finds on disk."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ImportError, OSError, RuntimeError):  # not everywhere: then both do the work
            import fcntl

            path = cache_folder().absolute() / f"{name}.lock"
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the first kernel of all may be raced for
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            held.callback(os.close, handle)
            held.callback(path.unlink, missing_ok=True)  # those who wait for it have it open
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def cache_summary() -> CacheSummary:
    """Return what is in the folder."""
    folder = cache_folder().absolute()
    sizes = [size for _, size, _ in _kernels(folder)]
    return CacheSummary(folder, len(sizes), sum(sizes), cache_limit())


def clear_cache() -> int:
    """Remove every kernel from the folder, those of earlier versions included, and return how many files went."""
    folder, gone = cache_folder().absolute(), 0
    ours = [
        folder.glob(f"*{ENDING}"),
        folder.glob("*.tmp"),
        folder.glob("*.lock"),
        (folder / "__pycache__").glob("*_*.nb[ic]"),
    ]
    ours.append(path for path in folder.glob("*_*.py") if re.search(r"_[0-9a-f]{16,32}\.py\Z", path.name))
    for path in (path for found in ours for path in found):
        with contextlib.suppress(FileNotFoundError):  # another process was quicker
            path.unlink()
            gone += 1
    return gone


def trim_cache(folder: Path, limit: int) -> None:
    """Remove kernels, those first that were used longest ago, until all together are well below the limit."""
    found = sorted(_kernels(folder))
    size = sum(item[1] for item in found)
    if size <= limit:
        return
    for _, own, path in found:
        if size <= 0.8 * limit:  # a limit that is met by a hair would be passed by the next kernel
            break
        with contextlib.suppress(OSError):
            path.unlink()
            size -= own
    for path in folder.glob("*.tmp"):  # left behind by a process that was killed
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > DAY:
                path.unlink()


def _kernels(folder: Path) -> list[tuple[float, int, Path]]:
    """Return when each kernel was used last, its size and its path."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ENDING):
                with contextlib.suppress(OSError):  # gone meanwhile
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, Path(entry.path)))
    return found


def _look_at_size(folder: Path, limit: int) -> None:
    global _WRITTEN  # noqa: PLW0603
    if _WRITTEN % ROUND == 0:
        trim_cache(folder, limit)
    _WRITTEN += 1


def _own_bytes(path: Path) -> bytes:
    """Return a file that belongs to the user alone; the one that is looked at is the one that is read."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError("it is no plain file")
        _refuse_shared(status)
        return file.read()


def _checked(data: bytes, digest: str) -> bytes | None:
    head = MAGIC + digest.encode() + b"\n"
    if not data.startswith(head):
        return None
    checksum, _, payload = data[len(head) :].partition(b"\n")
    return payload if checksum == _checksum(digest, payload) else None


def _checksum(digest: str, payload: bytes) -> bytes:
    return hashlib.sha256(digest.encode() + payload).hexdigest().encode()


def _mark_used(path: Path) -> None:
    """Let the time of a file say when it was used, to a day; where it can't be written it stays as it is."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > DAY:
            os.utime(path)


def _refuse_shared(status: os.stat_result) -> None:
    if not hasattr(os, "getuid"):
        return
    if status.st_uid != os.getuid():
        raise PermissionError("it belongs to another user")
    if status.st_mode & 0o022:
        raise PermissionError("other users may write to it: chmod go-w")


def _warn_uncached(error: Exception) -> None:
    if not _WARNED.is_set():
        _WARNED.set()
        with contextlib.suppress(RuntimeError):
            error = type(error)(f"the folder {cache_folder()} can't be used ({error})")
        warnings.warn(
            f"zwang keeps no compiled code on disk: {error}. All works, but is compiled anew in each process. "
            f"Set ZWANG_CACHE_DIR to a folder of your own.",
            KernelWarning,
            stacklevel=2,
        )
