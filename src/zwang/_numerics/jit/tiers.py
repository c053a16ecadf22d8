"""How kernels run: as machine code ('compiled') or as plain Python ('plain'), for all kernels of one call alike.

The tier belongs to the call of a verb, not to the process: it is set when the call begins (`running`), holds for every
kernel until it ends, and is named in the provenance of what comes out. Results never mix two tiers; a part that is a
result itself, the ideal motion of a study, may have another one, which it names.

In the plain tier the work of kernels is counted: each call of one counts as many instructions as the kernel has. A call
of a verb that was begun in it because there was no machine code yet may do so much; then `TooLong` ends it, and it is
asked again of compiled code. A count and not the clock decides, so the same call ends in the same tier on a machine
under load.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from zwang.errors import CompileError

T = TypeVar("T")

PLAIN, COMPILED = "plain", "compiled"
TIERS = (COMPILED, PLAIN)
UNLIMITED = 1 << 62  # more than is ever counted


class TooLong(BaseException):
    """A call in the plain tier did more work than it may; no handler of errors is meant to see it."""


class NotReady(BaseException):
    """A kernel of the package is not on disk, in a call that was begun in the hope that all are."""


@dataclass(slots=True)
class Run:
    """How the kernels of one call run.

    Attributes
    ----------
    tier : str
    left : int
        Instructions of plain kernels that may still be run.
    patient : bool
        Whether a kernel of the package that is not on disk is compiled now; else NotReady is raised.
    meet : callable, optional
        Told every kernel that Python calls in the plain tier; None where the tier was asked for.
    words : str
        What is compiled and how long that takes, for who waits.
    inside : bool
        Whether a plain kernel is running, with NumPy's warnings off.
    """

    tier: str
    left: int = UNLIMITED
    patient: bool = True
    meet: Callable[[Any], None] | None = None
    words: str = "machine code"
    inside: bool = False


_RUN: ContextVar[Run | None] = ContextVar("zwang_tier", default=None)


@functools.cache
def only_tier() -> str | None:
    """Return the tier that this process is bound to, if it is: by its settings, or because there is no Numba."""
    off = any(os.environ.get(name, "0") not in {"", "0"} for name in ("ZWANG_NO_JIT", "NUMBA_DISABLE_JIT"))
    if off or importlib.util.find_spec("numba") is None:
        return PLAIN
    wanted = os.environ.get("ZWANG_TIER") or None
    if wanted is not None and wanted not in TIERS:
        raise CompileError(f"ZWANG_TIER: {wanted!r:.40} is no tier. Give 'compiled' or 'plain', or unset it.")
    return wanted


def current() -> Run:
    """Return how kernels run here and now; outside of any verb compiled, if the process may."""
    return _RUN.get() or _OUTSIDE.run


def asked() -> Run | None:
    """Return what the verb that is running has set; None outside of all verbs."""
    return _RUN.get()


def tier() -> str:
    """Return how kernels run here and now, 'compiled' or 'plain', without importing Numba for it."""
    return current().tier


class _Outside(threading.local):
    """What holds outside of verbs, in each thread."""

    @functools.cached_property
    def run(self) -> Run:
        return Run(only_tier() or COMPILED)


_OUTSIDE = _Outside()


def long_from_here(*kernels: Any) -> None:
    """End a call that was begun in plain Python until machine code is there: what follows, with these kernels, is long.

    Known in advance, that need not be found out by counting.
    """
    run = asked()
    if run is None or run.tier != PLAIN or run.meet is None:
        return
    for kernel in kernels:
        run.meet(kernel)
    raise TooLong


@contextlib.contextmanager
def running(run: Run) -> Iterator[Run]:
    """Let kernels run this way inside the block."""
    token = _RUN.set(run)
    try:
        yield run
    finally:
        _RUN.reset(token)


def carried(function: Callable[..., T]) -> Callable[..., T]:
    """Return the function for another thread, where kernels will run as they do here."""
    run = _RUN.get()
    if run is None:
        return function

    def call(*args: Any, **kwargs: Any) -> T:
        with running(run):
            return function(*args, **kwargs)

    return call
