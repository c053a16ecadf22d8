"""Compile the kernels of every gallery system once, so that parallel test processes find them in the cache.

Run by `make warm` before the tests; not a test itself. What fails here fails again, with its reason, in the tests.
"""

from __future__ import annotations

import time

import zwang as zw


def main() -> None:
    """Compile system after system and say how long each took."""
    for name in zw.gallery.names():
        start = time.perf_counter()
        entry = zw.gallery.get(name)
        zw.compile(entry.system).evaluate(entry.state, entry.params)  # kernels are compiled at their first call
        print(f"    {name}: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
