"""Budgets: how many steps, bytes and seconds a verb may take, and what is left of them.

Steps and memory are counted by what is done and kept, so that where they run out a result is the same on every machine;
seconds catch what they miss. A verb opens a meter (`spending`), loops below it pay (`spend`) and ask how far they may
go (`steps_left`). When a budget is spent, `Spent` is raised inside, and the verb returns what it has, with a status.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeAlias

from zwang._interrupts import noticed, raise_lost
from zwang.errors import DeclarationError, nearest

SECONDS = 3600.0  # a night's work is asked for by name
ENDLESS = 2**62  # more than is ever counted, and far from overflow when added
KEYS = ("seconds", "steps", "memory")


@dataclass(frozen=True)
class Budget:
    """What a verb may spend.

    Attributes
    ----------
    steps : int
        Units of work; each verb says what it counts.
    memory : int
        Bytes of the arrays that are kept.
    seconds : float
    parts : int
        Into how many parts the memory was divided; what is told is the whole.

    Examples
    --------
    >>> usual = Budget(steps=1000, memory=10**9)
    >>> usual.but("rod", {"steps": 50})
    Budget(steps=50, memory=1000000000, seconds=3600.0, parts=1)
    >>> usual.but("rod", 2.5).seconds
    2.5
    """

    steps: int
    memory: int
    seconds: float = SECONDS
    parts: int = 1

    def but(self, name: str, given: Any) -> Budget:
        """Return this budget with what a user gave in its place: None, seconds, or a mapping; `name` is for errors."""
        if given is None:
            return self
        if isinstance(given, Budget):
            return given
        if not isinstance(given, Mapping):
            return replace(self, seconds=_number(name, "budget", given, "seconds"))
        for key in given:
            if key not in KEYS:
                raise DeclarationError(
                    f"{name}: budget= has the keys seconds, steps and memory; it was given {key!r:.40}. "
                    f"{nearest(str(key), KEYS)}".rstrip()
                )
        found: dict[str, Any] = {key: _number(name, f"budget['{key}']", given[key], key) for key in given}
        for key in ("steps", "memory"):
            if key in found:
                if found[key] < 1:
                    raise DeclarationError(f"{name}: budget['{key}'] must be at least 1; it was given {given[key]!r}.")
                found[key] = min(int(found[key]), ENDLESS)
        return replace(self, **found)

    def share(self, parts: int) -> Budget:
        """Return the same budget with one of some equal parts of the memory."""
        return replace(self, memory=max(1, self.memory // parts), parts=parts * self.parts)


UNBOUNDED = Budget(ENDLESS, ENDLESS, 1e18)
"""For a verb that another one calls, whose own meter counts."""


def _number(name: str, what: str, given: Any, unit: str) -> float:
    """Return a number above zero, finite."""
    good = isinstance(given, numbers.Real) and not isinstance(given, bool)
    try:
        value = float(given) if good else math.nan
    except OverflowError:
        value = math.inf
    if not 0 < value < math.inf:
        meant = {"seconds": "seconds", "steps": "a number of steps", "memory": "a number of bytes"}[unit]
        raise DeclarationError(
            f"{name}: {what}= must be {meant}, finite and above zero; it was given {given!r:.40}. Give seconds, as in "
            "budget=60, or a mapping, as in budget={'seconds': 60, 'steps': 10000, 'memory': 10**9}."
        )
    return value


Allowed: TypeAlias = float | Mapping[str, float] | Budget | None
"""What a verb takes for its budget."""


class Spent(Exception):
    """A budget is spent; its text says which, and how to raise it."""


class Meter:
    """What has been spent of a budget; `deadline` and `stop` are looked at whenever something is paid or checked."""

    def __init__(self, budget: Budget, deadline: float = math.inf, stop: Callable[[], bool] | None = None) -> None:
        self.budget, self.stop = budget, stop
        self.deadline = min(deadline, perf_counter() + budget.seconds)
        self.steps = self.memory = 0

    @property
    def over(self) -> str:
        """What is spent, in words; empty where nothing is."""
        given = self.budget
        if self.steps >= given.steps:
            return _words(f"{given.steps:,} steps", "steps", 10 * given.steps)
        if self.memory >= given.memory:
            whole = given.memory * given.parts
            return _words(f"{whole:,} bytes of memory", "memory", 4 * whole)
        return "" if perf_counter() < self.deadline else _words(f"{given.seconds:g} s", "seconds", 10 * given.seconds)

    def pay(self, steps: int = 0, memory: int = 0) -> None:
        """Count what was done and kept; raise `Spent` where a budget is spent.

        KeyboardInterrupt is raised where the caller of a thread has given up.
        """
        self.steps, self.memory = self.steps + steps, self.memory + memory
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt
        if self.over:
            raise Spent(self.over)


def _words(amount: str, key: str, more: float) -> str:
    text = f"{more:g}" if key == "seconds" else f"{int(more)}"
    return f"The budget of {amount} is spent. Raise it, as in budget={{'{key}': {text}}}."


_METERS: ContextVar[tuple[Meter, ...]] = ContextVar("meters", default=())


@contextmanager
def spending(
    budget: Budget,
    *,
    apart: bool = False,
    brief: bool = False,
    deadline: float = math.inf,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Meter]:
    """Open a meter: whatever is done in this context and thread pays there, and to the meters around it.

    With `apart` those around it are left alone: what several threads do must not depend on who comes first. What is
    `brief`, about a millisecond, interrupts are not remembered in: asking the system for that takes part of the time.
    """
    meter = Meter(budget, deadline, stop)
    token = _METERS.set((meter,) if apart else (*_METERS.get(), meter))
    try:
        with nullcontext() if brief else noticed():
            yield meter
    finally:
        _METERS.reset(token)


def spend(steps: int = 0, memory: int = 0) -> None:
    """Pay for what was done and kept, if anything; raises `Spent` where a budget is spent.

    A Ctrl-C that something on the way swallowed is raised again here.
    """
    raise_lost()
    for meter in _METERS.get():
        meter.pay(steps, memory)


def spent() -> bool:
    """Say whether a budget is spent, where that ends something less than the call."""
    try:
        spend()
    except Spent:
        return True
    return False


@contextmanager
def borrowing(memory: int) -> Iterator[None]:
    """Pay for bytes that are needed inside the block alone: they are given back after it.

    Examples
    --------
    >>> with spending(Budget(steps=10, memory=100)) as meter:
    ...     for _ in range(1000):
    ...         with borrowing(60):
    ...             needed = meter.memory
    >>> needed, meter.memory
    (60, 0)
    """
    meters = _METERS.get()
    for meter in meters:
        meter.memory += memory
    try:
        spend()
        yield
    finally:
        for meter in meters:
            meter.memory -= memory


def steps_left(memory: int = 0) -> int:
    """Return how many steps may still be made, each of which keeps so many bytes; at least 1."""
    left = [ENDLESS]
    for meter in _METERS.get():
        left.append(meter.budget.steps - meter.steps)
        if memory:
            left.append(-(-(meter.budget.memory - meter.memory) // memory))
    return max(1, min(left))


def memory_left() -> int:
    """Return how many bytes may still be kept."""
    return min([ENDLESS, *(meter.budget.memory - meter.memory for meter in _METERS.get())])
