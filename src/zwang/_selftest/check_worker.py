"""One long-lived process that checks problems as it is asked to, with a limit on its memory."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from zwang._selftest import canary
from zwang._selftest.complaint import Complaint
from zwang._selftest.problem_kinds import KINDS
from zwang._workers import die_with_parent

MEMORY = 3 * 2**30
"""Bytes that a problem may take beyond what the process holds before it."""

Answer = tuple[str, int, Complaint | None]


def serve(calls: Connection, prepare: Callable[[], None] | None = None) -> None:
    """Answer (kind, seed, index) with (kind, index, complaint) until the other end closes.

    Parameters
    ----------
    calls : Connection
    prepare : callable, optional
        Called first; tests plant defects with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    die_with_parent()
    with tempfile.TemporaryDirectory(prefix="zwang-selftest-") as folder:
        os.chdir(folder)
        tempfile.tempdir = folder
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for the life of the process
        if prepare is not None:
            prepare()
        canary.install([Path(folder)])
        _limit_memory()
        while True:
            try:
                kind, seed, index = calls.recv()
            except EOFError:
                return
            calls.send((kind, index, checked(kind, seed, index)))


def checked(kind: str, seed: int, index: int) -> Complaint | None:
    """Check one problem; whatever it raises is a complaint, since a check catches what may be raised."""
    try:
        return KINDS[kind].check(seed, index)
    except MemoryError:
        return Complaint("takes more memory than a problem may", "")
    except Exception as error:  # noqa: BLE001 - the whole point is to find these
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        return Complaint(
            f"raises {type(error).__name__}: {str(error)[:300]}",
            f"# in {Path(place.filename).name}, line {place.lineno}",
        )


def _limit_memory() -> None:
    """Limit the address space, where the system knows how."""
    try:
        import resource
    except ImportError:  # no such limit on this system
        return
    pages = Path("/proc/self/statm")
    held = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 2 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
