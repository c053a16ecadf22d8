"""Settings of all tests, and of the processes that they start."""

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import passed_before

# Which tier answers a call must not depend on what the cache holds: calls wait for machine code where they need it.
os.environ.setdefault("ZWANG_WAIT", "1")
# Hundreds of systems are derived in one process, which push each other's expressions out of SymPy's cache of 1,000: a
# tenth of the time of what derives.
os.environ.setdefault("SYMPY_CACHE_SIZE", "50000")


def pytest_configure(config: pytest.Config) -> None:
    passed_before.register(config)
    # Tests send signals to commands, which inherit what a run in the background or under nohup ignores.
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


# Systems are derived in many small objects: the search for garbage would look after every seven hundred of them, for a
# twentieth of the time.
gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="module", autouse=True)
def fresh_heap() -> None:
    """Let the search for garbage pass over what earlier files left alive: millions of objects, a second each time.

    What is garbage by then goes first, so that nothing is kept that would not be kept anyway.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def lab() -> Iterator[Any]:
    """A lab in a process of its own."""
    from lab_pages import Lab

    with Lab() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    from lab_browsers import chromium

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def watched(browser: Any, lab: Any) -> Iterator[Any]:
    """A page of the lab; in the end it had no trouble and asked nobody else."""
    from lab_browsers import Watched

    found = Watched(browser, lab)
    yield found
    found.end()
