"""What is said on stderr to someone who waits for a compiler: once, and only after a second."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

SOON = 1.0
"""Seconds of waiting after which something is said."""

COMPILING, OWN = "compiling", "compiling a system's own"
"""The kinds of what is said while machine code of the package is made, and of what was generated for a system."""

_SAID: set[str] = set()
_spent = {COMPILING: 0.0, OWN: 0.0}


def say(kind: str, text: str) -> None:
    """Write a line to stderr, if none of its kind was written by this process."""
    if kind not in _SAID:
        _SAID.add(kind)
        with contextlib.suppress(OSError, ValueError, AttributeError):  # none there, or closed
            print(f"zwang: {text}", file=sys.stderr, flush=True)


def compile_silently() -> None:
    """Say nothing of machine code from here on: who asked this process for its work tells of it."""
    _SAID.update((COMPILING, OWN))


@contextlib.contextmanager
def told(kind: str, text: str, *, after: float = SOON) -> Iterator[None]:
    """Say it when the block has taken so many seconds."""
    timer = threading.Timer(after, say, (kind, text))
    timer.daemon = True
    if kind not in _SAID:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def compiling(words: str, *, own: bool) -> Iterator[None]:
    """Count the time of the block as waiting for the compiler, and say so once it is more than a second in all.

    What a system has of its own no command can make ahead; it is compiled once for all systems of its form.
    """
    kind = OWN if own else COMPILING
    begin = time.perf_counter()
    text = f"compiling {words}, once per installation. `zwang warm` compiles everything ahead."
    if own:
        text = "compiling the equations of this system, some seconds; they are kept for the next time."
    with told(kind, text, after=max(0.0, SOON - _spent[kind])):
        yield
    _spent[kind] += time.perf_counter() - begin
