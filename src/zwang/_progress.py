"""Progress of long jobs in Python: a bar on stderr, after two seconds, where somebody can see it.

`progress=` means the same everywhere: None, a bar in a terminal or a notebook once a job has taken two seconds; True, a
bar or lines at once, wherever stderr goes; False, nothing; a function is called with how far it is.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from zwang.errors import DeclarationError, printable

LOG = logging.getLogger("zwang")
PATIENCE = 2.0
"""Seconds before a bar that nobody asked for."""
BETWEEN = 0.1
"""Seconds between two looks of a bar."""

_inside = 0
Progress = bool | Callable[[float], None] | None


def check_progress(given: Any, where: str) -> Progress:
    """Return what was given for `progress=`; anything else is a DeclarationError."""
    if given is None or isinstance(given, bool) or callable(given):
        return given  # type: ignore[no-any-return]
    raise DeclarationError(
        f"{printable(where)}: progress= must be a function, True, False or None; it was given {given!r:.40}."
    )


@contextlib.contextmanager
def progress_bar(
    given: Any, words: str, *, start: float = 0.0, end: float = 1.0
) -> Iterator[Callable[[float], None] | None]:
    """Give what a job calls with how far it is between `start` and `end`; None where nobody looks.

    Examples
    --------
    >>> with progress_bar(False, "counting") as show:
    ...     show is None
    True
    >>> with progress_bar(print, "counting") as show:
    ...     show(0.5)
    0.5
    """
    progress = check_progress(given, words)
    inside = _inside > 0
    with shown_elsewhere(), _logged(words, logging.DEBUG if inside else logging.INFO):
        if callable(progress):
            yield progress
        elif progress is False or (progress is None and (inside or not _seen())):
            yield None
        else:
            bar = _Bar(printable(words), start, end, 0.0 if progress else PATIENCE)
            try:
                yield bar
            finally:
                bar.close()


@contextlib.contextmanager
def _logged(words: str, level: int) -> Iterator[None]:
    """Log that a job starts, and how long it took."""
    begin = time.perf_counter()
    LOG.log(level, "%s", words)
    try:
        yield
    finally:
        LOG.log(level, "%s: %.3f s", words, time.perf_counter() - begin)


@contextlib.contextmanager
def shown_elsewhere() -> Iterator[None]:
    """Let jobs inside the block draw no bar by themselves: the progress of the whole is shown."""
    global _inside  # noqa: PLW0603
    _inside += 1
    try:
        yield
    finally:
        _inside -= 1


def _seen() -> bool:
    """Whether stderr is a terminal or the cell of a notebook."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")
    return False


class _Bar:
    """A bar that is drawn when its time has come."""

    def __init__(self, words: str, start: float, end: float, patience: float) -> None:
        self._words, self._start, self._size = words, start, end - start
        self._next = time.monotonic() + patience
        self._shown: Any = None
        self._task: Any = None

    def __call__(self, reached: float) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + BETWEEN
        if self._shown is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
            console = Console(stderr=True, markup=False, highlight=False)
            self._shown = Progress(*columns, TimeRemainingColumn(), console=console)
            self._task = self._shown.add_task(self._words, total=1.0)
            self._shown.start()
        part = (reached - self._start) / self._size if self._size else 1.0
        self._shown.update(self._task, completed=min(max(part, 0.0), 1.0))

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._shown is not None:
            self._shown.stop()
