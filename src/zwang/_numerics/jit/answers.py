"""Which tier answers a call, and what is said while it takes long.

Without machine code on disk a call begins at once in the plain tier, while another process compiles what it uses
(`background`). A call that turns out long (`WORK`) is asked again of compiled code, which is waited for,
with a word on stderr. A later call finds machine code and runs compiled from the start. What needs no machine code to
be quick, one state of a small system, is plain and needs no Numba, until many such calls make loading worth its while
(`at_hand`). A verb that can't do without machine code has
its loops made by the other process meanwhile (`needs`), and begins with what is quick without (`meanwhile`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from zwang._numerics.jit import background
from zwang._numerics.jit.cache import holds
from zwang._numerics.jit.kernel import Kernel
from zwang._numerics.jit.notices import told
from zwang._numerics.jit.tiers import COMPILED, PLAIN, NotReady, Run, TooLong, asked, only_tier, running
from zwang._numerics.tolerances import require_kinds

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

WORK = 400_000_000
"""Instructions of the plain tier, as the interpreter counts them, after which a call is asked of compiled code.

So many take seconds, as the compiler does: a call that needs more would not end sooner in the plain tier.
"""
ONCE = "once per installation. `zwang warm` compiles everything ahead."

PATIENCE = 1.0
"""Seconds of small calls in plain Python after which machine code that is on disk is loaded: that takes as long."""

_MET: dict[str, dict[int, Kernel[Any, Any]]] = {}
_LOADED: set[str] = set()
"""Main kernels with which a call has come to its end in machine code."""
_PLAIN: dict[str, float] = {}
"""Seconds that small calls have taken in plain Python, by main kernel, since machine code was looked for."""


def answer(
    ask: Callable[[], T],
    verb: str,
    *,
    pinned: str | None = None,
    small: bool = False,
    once: bool = False,
    main: str = "",
    seconds: int = 20,
    needs: Iterable[Kernel[Any, Any]] = (),
) -> T:
    """Return what `ask` returns, run in one tier from its beginning to its end.

    Parameters
    ----------
    ask : callable
    verb : str
        For the message, and to know again what it needs.
    pinned : {'plain', 'compiled'}, optional
        The tier that was asked for.
    small : bool
        Whether plain Python is quick enough always.
    once : bool
        Whether it may not be asked twice: it calls functions of the user, or writes a file.
    main : str
        The name of a kernel of the package without which nothing is ready; empty: compiled code is waited for.
    seconds : int
        What compiling takes, roughly, for the message.
    needs : kernels
        Large ones that will be needed: those that are not on disk are compiled by another process from now on.
    """
    before = asked()
    bound = pinned or (None if before is None else before.tier) or only_tier() or (PLAIN if small else None)
    if before is not None and before.tier == bound:
        return ask()
    words = f"machine code for `{verb}`, some {seconds} s"
    if bound is not None:
        with running(Run(bound, words=words)):
            return ask()
    met = _MET.setdefault(verb, {})
    if main and not once and not _waits():
        if background.MAKER.made(met.values()) if met else main in _LOADED or holds(main):
            with contextlib.suppress(NotReady), running(Run(COMPILED, patient=False, words=words)):
                found = ask()
                _LOADED.add(main)
                return found
            _LOADED.discard(main)
        run = Run(PLAIN, left=WORK, meet=_meeting(met), words=words)
        with (
            contextlib.suppress(TooLong),
            running(run),
            told("plain", f"plain Python meanwhile: compiling {words}, {ONCE}"),
        ):
            return ask()
    with running(Run(COMPILED, words=words, meet=None if _waits() else _meeting(met))):
        if not _waits():
            background.MAKER.finish(list(met.values()))
            for kernel in needs:
                if not holds(kernel.py_func.__name__):
                    background.MAKER.want(kernel, urgent=True)
        return ask()


def at_hand(main: str, seconds: float) -> bool:
    """Say whether a small call had better run compiled: machine code is loaded, or on disk and worth loading by now.

    Parameters
    ----------
    main : str
        The name of the kernel of the package without which nothing is ready.
    seconds : float
        What the call takes in plain Python, roughly.
    """
    if main in _LOADED or _waits():
        return main in _LOADED and not _waits()
    _PLAIN[main] = _PLAIN.get(main, 0.0) + seconds
    if _PLAIN[main] < PATIENCE:
        return False
    _PLAIN[main] = 0.0
    return holds(main)


def meanwhile(ask: Callable[[], T], main: str) -> T:
    """Return what a part of a call that waits for machine code returns: in plain Python, if its own is not there.

    Parameters
    ----------
    ask : callable
        What comes out names its own tier.
    main : str
        The name of the kernel of the package without which the part is not ready.
    """
    run = asked()
    if run is None or run.tier != COMPILED or run.meet is None or holds(main):
        return ask()
    met: dict[int, Kernel[Any, Any]] = {}
    with contextlib.suppress(TooLong), running(Run(PLAIN, left=WORK, meet=_meeting(met), words=run.words)):
        return ask()
    background.MAKER.finish(list(met.values()))
    return ask()


def _waits() -> bool:
    """Whether calls wait for machine code instead of beginning without: then the tier depends on the call alone."""
    return os.environ.get("ZWANG_WAIT", "0") not in {"", "0"}


def _meeting(met: dict[int, Kernel[Any, Any]]) -> Callable[[Kernel[Any, Any]], None]:
    def meet(kernel: Kernel[Any, Any]) -> None:
        if id(kernel) not in met and kernel.signature is not None:
            met[id(kernel)] = kernel
            background.MAKER.want(kernel)

    return meet


def tiered(
    verb: str,
    *,
    main: str = "",
    seconds: int = 20,
    small: Callable[[Mapping[str, Any]], bool] | None = None,
    once: Callable[[Mapping[str, Any]], bool] | None = None,
    needs: Callable[[Mapping[str, Any]], Iterable[Kernel[Any, Any]]] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a verb, whose first argument is a system or a model, answer in one tier; see `answer`.

    `small`, `once` and `needs` are asked with the arguments by name.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        taken = inspect.signature(function).parameters  # binding by it takes long beside one small state
        names, known = tuple(taken), frozenset(taken)
        most = sum(item.kind is item.POSITIONAL_OR_KEYWORD for item in taken.values())
        others = any(item.kind is item.VAR_KEYWORD for item in taken.values())

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs}
            if names[0] not in given or len(args) > most or not (others or given.keys() <= known):
                return function(*args, **kwargs)  # which says what is missing or too much
            require_kinds(given)
            first = given[names[0]]
            return answer(
                lambda: function(*args, **kwargs),
                verb,
                pinned=getattr(first, "tier", None),
                small=small is not None and small(given),
                once=once is not None and once(given),
                main=main,
                seconds=seconds,
                needs=() if needs is None else needs(given),
            )

        return call

    return decorate
