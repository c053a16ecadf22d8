"""A canary in each process: what is executed, written or removed outside its folder is noticed.

Python tells its audit hooks of every file that is opened, every program that is started, every connection. A hook can't
be removed, so it is installed in processes of the self-test alone and looks only while something is being tried.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = "zwang_canary"
"""Hostile texts set this name in `builtins`, or create files of this name: if one appears, something was executed."""
PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect", "pty.spawn"}
CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree", "os.mkdir", "os.link", "os.symlink"}

_seen: list[str] = []
_allowed: list[str] = []
_watching = [False]
_installed = [False]


def install(folders: Sequence[Path]) -> None:
    """Watch this process from now on; the folders, the cache of kernels and /dev may be written."""
    from zwang._numerics.jit.cache import cache_folder

    _allowed[:] = [str(folder.resolve()) for folder in folders] + [str(cache_folder()), "/dev/", "/proc/self"]
    sys.dont_write_bytecode = True
    if not _installed[0]:
        _installed[0] = True
        sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _watching[0]:
        return
    if event in PROGRAMS:
        _seen.append(f"{event} {args[0]!r:.100}")
    elif (event == "open" and _writes(args)) or event in CHANGES:
        path = args[0]
        if isinstance(path, (str, bytes, os.PathLike)) and not _inside(os.fsdecode(path)):
            _seen.append(f"{event} {os.fsdecode(path)!r:.200}")


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = args[1], args[2] if len(args) > 2 else 0
    if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def _inside(path: str) -> bool:
    full = os.path.realpath(path)
    return any(full.startswith(folder) for folder in _allowed)


@contextmanager
def watching() -> Iterator[list[str]]:
    """Watch what is done inside the context; the list holds what should not have been."""
    _seen.clear()
    _watching[0] = True
    found: list[str] = []
    try:
        yield found
    finally:
        _watching[0] = False
        found += dict.fromkeys(_seen)
        if hasattr(builtins, NAME):
            delattr(builtins, NAME)
            found.append("a text was executed")
        if Path(NAME).exists():
            Path(NAME).unlink()
            found.append("a text was executed and wrote a file")
