"""Ctrl-C and its like: a command ends soon, keeps what was computed, and its exit code says so.

A verb that can keep what it has returns it when it is interrupted, and the command then writes and prints it as
always; so the exit code can't be told from an exception alone, and the signals that came are remembered here.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zwang._interrupts import STOPPING

_CAME: list[int] = []


@contextmanager
def stoppable() -> Iterator[None]:
    """Let the signals that ask a program to end raise KeyboardInterrupt, and remember them, inside the block."""
    _CAME.clear()
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread alone
        yield
        return
    before: dict[int, Any] = {}
    for number in STOPPING:
        known = signal.getsignal(number)
        # One that was set to be ignored (nohup, a script's background job) stays ignored.
        if known in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


def exit_code() -> int | None:
    """Return 128 + the number of the first signal that came (130 for Ctrl-C, 143 for SIGTERM); None if none did."""
    return 128 + _CAME[0] if _CAME else None


def _stop(number: int, frame: Any) -> None:
    _CAME.append(number)
    raise KeyboardInterrupt
