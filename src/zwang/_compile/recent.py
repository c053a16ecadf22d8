"""What was made lately, by a key: the same object for the same question, in every thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """The last things made, so many at most.

    Examples
    --------
    >>> squares = Kept[int](2)
    >>> [squares.get(n, lambda n=n: n * n) for n in (3, 4, 3, 5)]
    [9, 16, 9, 25]
    >>> 3 in squares, 4 in squares
    (True, False)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._items: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return what is kept under a key, made now if it is not; of two threads that make it, the first is kept."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        made = make()
        with self._lock:
            found = self._items.setdefault(key, made)
            self._items.move_to_end(key)
            while len(self._items) > self.most:
                self._items.popitem(last=False)
            return found

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._items.clear()
