"""How much a compiled loop does before it returns to Python, where Ctrl-C, progress and streams are looked after.

A portion is as much work as took about a twentieth of a second last time. The clock decides where a loop pauses and
nothing else: every loop keeps all of its state over a pause, so that its results don't depend on the portions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")

SECONDS = 0.05
"""What a portion should take; twice as much, where the work gets dearer on the way, is still quick enough."""
GROWTH = 8
"""How much larger a portion may be than the one before."""

_chosen: list[Callable[[], int]] = []


class Pace(Generic[T]):
    """The portions of one loop.

    Parameters
    ----------
    first : int
        Units of work in the first portion, when nothing is known of their cost.
    most : int
        Units in the largest one.

    Attributes
    ----------
    spent : float
        Seconds that the last portion took.
    """

    def __init__(self, first: int, most: int = 2**40) -> None:
        self.size, self.most, self.spent = first, most, 0.0

    def portion(self, left: int) -> int:
        """Return how many units to do next, at least 1 and at most `left`."""
        size = _chosen[-1]() if _chosen else self.size
        return max(1, min(size, self.most, left))

    def go(self, work: Callable[[int], tuple[T, int]], left: int = 2**40) -> T:
        """Do a portion: `work` takes the units allowed and returns a result and the units done."""
        size = self.portion(left)
        began = perf_counter()
        result, done = work(size)
        self.spent = max(perf_counter() - began, 1e-9)
        self.size = max(1, int(min(max(done, 1) * SECONDS / self.spent, GROWTH * size)))
        return result


@contextmanager
def portions(choose: Callable[[], int]) -> Iterator[None]:
    """Let every portion be of the size that a function returns: for tests that nothing depends on it."""
    _chosen.append(choose)
    try:
        yield
    finally:
        _chosen.remove(choose)
