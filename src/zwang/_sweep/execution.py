"""Working through the blocks of a sweep: here, in processes of our own, or by an executor of somebody else's."""

from __future__ import annotations

import importlib.metadata
import pickle
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from typing import Any

import numpy as np

from zwang._numerics.tolerances import whole
from zwang._sweep.axes import SweepAxes
from zwang._sweep.block import Answer, Question, ask_block
from zwang._workers import Lost, work_through
from zwang.errors import DeclarationError

Task = tuple[Question, int, Mapping[str, Any]]
WINDOW = 64
"""Blocks that wait at an executor whose workers can't be counted."""
MOST_WORKERS = 10_000  # more processes than any one machine runs
PROBE_SECONDS = 120.0  # a cluster's first worker may have to be started


def answers(question: Question, axes: SweepAxes, ranges: Iterable[tuple[int, int]], workers: Any) -> Iterator[Answer]:
    """Yield the answer of every block, as they come; ranges are (first point, number of points).

    A process that dies takes its block along: it is cut in halves until the point is found that kills it, which is then
    listed as a failure.
    """

    def task(first: int, count: int) -> Task:
        return question, first, axes.values(first, count)

    pending: list[tuple[int, int]] = []
    waiting: Iterable[tuple[int, int]] = ranges
    while True:
        for (_, first, values), found in _worked(question, workers, (task(*item) for item in waiting)):
            if isinstance(found, Answer):
                yield found
                continue
            count = len(next(iter(values.values())))
            if count == 1 or not _dies(workers):
                yield Answer(first, count, {}, dict.fromkeys(range(first, first + count), found.reason))
            else:
                half = count // 2
                pending += [(first, half), (first + half, count - half)]
        if not pending:
            return
        waiting, pending = pending, []


def _dies(workers: Any) -> bool:
    return isinstance(workers, int)


def _worked(question: Question, workers: Any, tasks: Iterator[Task]) -> Iterator[tuple[Task, Any]]:
    if workers is None:
        for task in tasks:
            yield task, ask_block(task)
    elif isinstance(workers, int):
        script = b"__main__" in pickle.dumps((question.verb, question.keep, question.laws, question.options))
        yield from work_through(ask_block, ([task] for task in tasks), workers=workers, script=script)
    else:
        yield from _executed(workers, tasks)


def _executed(executor: Any, tasks: Iterator[Task]) -> Iterator[tuple[Task, Any]]:
    """Hand tasks to an executor, some at a time, and yield what comes back."""
    window = max(WINDOW, 4 * getattr(executor, "_max_workers", 0))
    running: dict[Any, Task] = {}
    try:
        for task in tasks:
            running[executor.submit(ask_block, task)] = task
            if len(running) >= window:
                yield from _finished(running)
        while running:
            yield from _finished(running)
    finally:
        for future in running:
            future.cancel()


def _finished(running: dict[Any, Task]) -> Iterator[tuple[Task, Any]]:
    done, _ = wait(list(running), return_when=FIRST_COMPLETED)
    for future in done:
        task = running.pop(future)
        try:
            yield task, future.result()
        except BrokenExecutor as error:
            yield task, Lost(f"The executor lost it: {type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001  (an executor's own ways to fail)
            yield task, Lost(f"The executor lost it: {type(error).__name__}: {error}")


def check_workers(workers: Any) -> Any:
    """Return what ``workers=`` gives: None, a number of processes, or an executor that can import this package."""
    if workers is None:
        return None
    if isinstance(workers, bool):
        raise DeclarationError(
            f"sweep: workers= must be None, a number of processes or an executor; it was given {workers}."
        )
    if hasattr(workers, "__index__") and not getattr(workers, "shape", ()):
        return whole(workers, "workers", least=1, most=MOST_WORKERS, where="sweep")
    if not callable(getattr(workers, "submit", None)):
        raise DeclarationError(
            f"sweep: workers= must be None, a number of processes, or an executor with `submit` (concurrent.futures, "
            f"Dask's Client.get_executor(), mpi4py.futures.MPIPoolExecutor); it was given {workers!r:.60}."
        )
    try:
        theirs = workers.submit(installed).result(timeout=PROBE_SECONDS)
    except Exception as error:  # noqa: BLE001  (whatever keeps it from importing the package)
        raise DeclarationError(
            f"sweep: the executor's workers can't import zwang ({type(error).__name__}: {error}). Install the same "
            "version there."
        ) from None
    if theirs != installed():
        raise DeclarationError(f"sweep: the executor's workers have zwang {theirs}, here it is {installed()}.")
    return workers


def installed() -> str:
    """Return the version of the package in this process."""
    return importlib.metadata.version("zwang")


def left(done: Any, block: int) -> Iterator[tuple[int, int]]:
    """Yield the points that are not done as ranges of at most a block.

    Examples
    --------
    >>> list(left(np.array([True, False, False, False, True, False]), 2))
    [(1, 2), (3, 1), (5, 1)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[True], done, [True]]).astype(np.int8)))
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        for first in range(start, stop, block):
            yield first, min(block, stop - first)
