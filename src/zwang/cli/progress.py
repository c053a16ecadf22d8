"""Progress on stderr: a bar that moves on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from zwang._progress import shown_elsewhere
from zwang.errors import printable

SECONDS = 5.0
"""Between two lines where there is no terminal."""


@contextmanager
def progress(words: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Show how far something is; the context gives a function of the number done and a word about what is next.

    Examples
    --------
    >>> with progress("counting", 3) as show:
    ...     show(3, "")
    """
    words = printable(words)  # names come from files; brackets in them are no markup
    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        with shown_elsewhere():
            yield _lines(console, words, total)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[word]}", markup=False), console=console) as bar:
        task = bar.add_task(words, total=total, word="")
        with shown_elsewhere():
            yield lambda done, word: bar.update(task, completed=done, word=printable(word))


def _lines(console: Console, words: str, total: int) -> Callable[[int, str], None]:
    last = time.monotonic()

    def show(done: int, word: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            console.print(f"{words}: {done} of {total}{f', {printable(word)}' if word else ''}")

    return show
