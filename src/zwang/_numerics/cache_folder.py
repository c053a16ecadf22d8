"""The folder on disk that keeps generated modules and compiled kernels.

It must belong to the user alone: what Numba keeps there are pickles, and to read a pickle is to execute it.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from pathlib import Path

_WARNED = threading.Event()


class KernelWarning(UserWarning):
    """Kernels work, but slower than they could: without a cache on disk, or without Numba."""


def cache_folder() -> Path:
    """Return the folder: ZWANG_CACHE_DIR, or the place where the platform keeps such things."""
    if given := os.environ.get("ZWANG_CACHE_DIR"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "zwang" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "zwang"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zwang"


def write_once(name: str, text: str) -> str | None:
    """Write a file of the cache folder unless it is there, and return its path; None where that can't be done."""
    folder = cache_folder().absolute()
    path = folder / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_shared(folder)
        if not path.exists():
            scratch = folder / f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
            scratch.write_text(text, encoding="utf-8")
            scratch.replace(path)
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        _warn_uncached(f"the folder {folder} can't be used ({error})")
        return None
    return str(path)


def _refuse_shared(folder: Path) -> None:
    if not hasattr(os, "getuid"):
        return
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise PermissionError("it belongs to another user")
    if status.st_mode & 0o022:
        raise PermissionError("other users may write to it: chmod go-w")
    if not os.access(folder, os.W_OK):
        raise PermissionError("no right to write")


def _warn_uncached(why: str) -> None:
    if not _WARNED.is_set():
        _WARNED.set()
        warnings.warn(
            f"zwang keeps no compiled code on disk: {why}. All works, but is compiled anew in each process. "
            f"Set ZWANG_CACHE_DIR to a folder of your own.",
            KernelWarning,
            stacklevel=2,
        )
