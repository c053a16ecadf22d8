"""Ctrl-C where it must wait, and where it must not be lost.

Python raises KeyboardInterrupt wherever it happens to be: in the middle of a write, or in a callback (of a garbage
collection, of a library) that swallows it. `uninterrupted` holds a signal back until a block has ended; `noticed`
remembers one until somebody says that it has been taken, so that loops can ask (`raise_lost`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPING = tuple(int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end; they are looked after where Python code answers them."""
_CAME: list[int] = []
_handler = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
_handle = getattr(signal.signal, "__wrapped__", signal.signal)
"""The handlers of signals as C knows them: making members of enumerations of them takes most of the time."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C, and SIGTERM and SIGHUP where Python code answers them, until the block has ended.

    Examples
    --------
    >>> done = []
    >>> try:
    ...     with uninterrupted():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("written")
    ... except KeyboardInterrupt:
    ...     done.append("interrupted")
    >>> done
    ['written', 'interrupted']
    """
    came: list[tuple[int, Any]] = []
    before = _answers()
    for number in before:
        signal.signal(number, lambda which, frame: came.append((which, frame)))
    try:
        yield
    finally:
        for number, answer in before.items():
            signal.signal(number, answer)
        if came:
            before[came[0][0]](*came[0])


@contextmanager
def noticed() -> Iterator[None]:
    """Remember the signals that come inside the block, which interrupt it as always.

    Examples
    --------
    >>> try:
    ...     with noticed():
    ...         try:
    ...             signal.raise_signal(signal.SIGINT)
    ...         except KeyboardInterrupt:
    ...             pass  # as callbacks do
    ...         raise_lost()
    ... except KeyboardInterrupt:
    ...     print("not lost")
    not lost
    """
    if noticing():
        yield
        return
    _CAME.clear()
    before = _answers()
    for number, answer in before.items():
        _handle(number, _Notice(answer))
    try:
        yield
    finally:
        for number, answer in before.items():
            if isinstance(_handler(number), _Notice):
                _handle(number, answer)


def noticing() -> bool:
    """Return whether signals are being remembered already, or can't be: only the main thread gets any."""
    if threading.current_thread() is not threading.main_thread():
        return True
    return any(isinstance(_handler(number), _Notice) for number in STOPPING)


def taken() -> None:
    """Say that a KeyboardInterrupt has been answered: what was computed is kept, and the caller will end."""
    if threading.current_thread() is threading.main_thread():
        _CAME.clear()


def raise_lost() -> None:
    """Raise KeyboardInterrupt where one came inside `noticed` that nobody took."""
    if _CAME and threading.current_thread() is threading.main_thread():
        _CAME.clear()
        raise KeyboardInterrupt


class _Notice:
    """A handler that remembers, and then does what the one before it did."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def __call__(self, number: int, frame: Any) -> Any:
        _CAME.append(number)
        return self._before(number, frame)


def _answers() -> dict[int, Any]:
    """Return the handlers of signals that Python code answers; none where this is not the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    known = {number: _handler(number) for number in STOPPING}
    return {number: answer for number, answer in known.items() if callable(answer)}
