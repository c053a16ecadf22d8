"""Processes that work through a list of tasks: one that dies is replaced, and none outlives its parent.

What a process was doing when it died is told as `Lost`; everything else goes on. A worker ends with its parent, however
that ends: where the system can be asked (Linux) it kills the worker, and everywhere a thread of the worker watches.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

T = TypeVar("T")
WATCHING = 0.2
"""Seconds between two looks for a parent that is not one of multiprocessing's."""
PR_SET_PDEATHSIG = 1  # of Linux: the signal that a child gets when its parent dies


@dataclass(frozen=True)
class Lost:
    """What came of a task that gave no result.

    Attributes
    ----------
    reason : str
        In a sentence: the process died, and how, or the task raised.
    details : str
        The traceback, where there is one.
    """

    reason: str
    details: str = ""


class Sharing(Generic[T]):
    """Who does what next: each worker one group after the other; one that finds none left helps another.

    Examples
    --------
    >>> sharing = Sharing([["a", "b"], ["c"]], workers=2)
    >>> [sharing.next_for(0), sharing.next_for(1), sharing.next_for(1), sharing.next_for(0)]
    ['a', 'c', 'b', None]
    """

    def __init__(self, groups: Iterable[Sequence[T]], workers: int) -> None:
        self._waiting = iter(groups)
        self._mine: list[deque[T]] = [deque() for _ in range(workers)]

    def next_for(self, worker: int) -> T | None:
        """Return the next task of a worker; None where nothing is left."""
        mine = self._mine[worker]
        while not mine:
            group = next(self._waiting, None)
            if group is None:
                break
            mine = self._mine[worker] = deque(group)
        if mine:
            return mine.popleft()
        longest = max(self._mine, key=len)
        return longest.pop() if longest else None


def work_through(
    function: Callable[[T], Any], groups: Iterable[Sequence[T]], *, workers: int, script: bool = False
) -> Iterator[tuple[T, Any | Lost]]:
    """Yield each task with its result, as they come; tasks of a group stay in one process as long as all are busy.

    Parameters
    ----------
    function : callable
        Of a module, so that a process finds it by name; gets a task.
    groups : sequences of tasks
        None of them is None. They are asked for one by one, when a worker has nothing left to do.
    workers : int
        Processes, at most as many as there are tasks. All of them are gone when the iteration ends, however it ends.
    script : bool
        Whether tasks need the script that runs here: each process runs it then, so it must guard what it does by
        ``if __name__ == "__main__"``. Without, a plain script needs no guard.
    """
    # Threads of the linear algebra inside several processes would only get in each other's way.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sharing = Sharing(groups, workers)
    staff: dict[int, _Worker[T]] = {}

    def begin(place: int) -> None:
        task = sharing.next_for(place)
        if task is None:
            staff.pop(place).end()
            return
        if not staff[place].give(task):  # it died while it had nothing to do
            staff.pop(place).end()
            staff[place] = _Worker(function, script)
            staff[place].give(task)

    try:
        for place in range(workers):
            first = sharing.next_for(place)
            if first is None:
                break
            staff[place] = _Worker(function, script)
            staff[place].give(first)
        while staff:
            ready = wait([worker.connection for worker in staff.values()])
            for place, worker in list(staff.items()):
                if worker.connection not in ready:
                    continue
                task, found = worker.take()
                if worker.dead:
                    worker.end()
                    staff[place] = _Worker(function, script)
                begin(place)
                yield task, found
    finally:
        for worker in staff.values():
            worker.end()


class _Worker(Generic[T]):
    """A process and the pipe to it."""

    def __init__(self, function: Callable[[T], Any], script: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(function, theirs, os.getpid()), daemon=True)
        with contextlib.nullcontext() if script else _script_hidden():
            self._process.start()
        theirs.close()
        self._task: T | None = None
        self.dead = False

    def give(self, task: T) -> bool:
        """Hand over a task; return False where the process is gone."""
        self._task = task
        try:
            self.connection.send(task)
        except OSError:
            self.dead = True
        return not self.dead

    def take(self) -> tuple[T, Any | Lost]:
        """Return the task that was given and what came of it."""
        task = self._task
        assert task is not None  # it was given one
        try:
            return task, self.connection.recv()
        except (EOFError, OSError):
            self.dead = True
        self._process.join()
        return task, Lost(f"The process that computed it died: it {_ending(self._process.exitcode)}.")

    def end(self) -> None:
        """End the process at once."""
        self.connection.close()
        with contextlib.suppress(ValueError, OSError):
            self._process.kill()
            self._process.join()


@contextlib.contextmanager
def _script_hidden() -> Iterator[None]:
    """Keep a process that starts from running the script of this one, which multiprocessing finds by these names."""
    script = vars(sys.modules["__main__"])
    hidden = ("__spec__", "__file__")
    kept: dict[str, Any] = {name: script.pop(name) for name in hidden if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update(kept)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name} (exit code {code})"
    return f"ended with exit code {code}"


def serve(function: Callable[[Any], Any], connection: Connection, parent: int) -> None:
    """Do what the parent sends until it closes the pipe; its life, and not Ctrl-C, decides about this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    # Tasks of one job must not differ by what was on disk when each began: they wait for machine code (`jit.answers`).
    os.environ.setdefault("ZWANG_WAIT", "1")
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            found = function(task)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is told, and the next task is done)
            found = Lost(f"It raised {type(error).__name__}: {error}", traceback.format_exc())
        try:
            connection.send(found)
        except OSError:
            return
        except Exception as error:  # noqa: BLE001  (a result that can't be sent)
            connection.send(Lost(f"Its result can't be sent: {type(error).__name__}: {error}", traceback.format_exc()))


def die_with_parent(parent: int | None = None) -> None:
    """Let this process end when its parent does.

    Parameters
    ----------
    parent : int, optional
        Its id as the parent knew it; by default that of now.
    """
    parent = os.getppid() if parent is None else parent
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before it could be asked to be told
            os._exit(1)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    known: Any = multiprocessing.parent_process()
    if known is not None:
        known.join()
    else:
        while os.getppid() == parent:
            time.sleep(WATCHING)
    os._exit(1)
