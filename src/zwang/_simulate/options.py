"""What is asked of `simulate`, checked: words, numbers, and events to look out for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zwang._declare.given import as_expression
from zwang._declare.reading import Reader
from zwang._declare.symbols import Coordinate, Time, Velocity
from zwang._declare.system import System
from zwang._numerics.budget import Budget
from zwang._numerics.tolerances import FINEST, WIDEST, flag, real, whole
from zwang._results.motion_parts import MotionEvent
from zwang._results.streaming import MotionStream
from zwang.errors import DeclarationError, nearest

IMPACT_LAWS = ("newton", "poisson", "energetic")
AT_PARADOX = ("stop", "impact", "realize")
AT_CHOICE = ("stop", "keep mode", "realize")
AT_SINGULAR = ("stop", "straight", "realize")
METHODS = ("events", "timestepping", "auto")
STARTS = ("project",)
BUDGET = Budget(steps=5_000_000, memory=500_000_000)
"""Of a motion, or of all motions of an ensemble."""


@dataclass(frozen=True)
class Event:
    """Something to look out for in a motion: an expression of coordinates, velocities and time crosses zero.

    Parameters
    ----------
    expr : expression
    direction : {0, 1, -1}
        1: only where it rises through zero, -1: only where it falls, 0: both.
    stop : bool
        Whether the motion ends there.
    name : str, optional
        What the motion's events call it; by default the expression as text.

    Examples
    --------
    >>> import zwang as zw
    >>> ball = zw.gallery.get("bouncing_ball")
    >>> (y,) = ball.system.coordinates
    >>> half = zw.Event(y - 0.5, direction=-1, stop=True, name="half way")
    >>> motion = zw.simulate(ball.system, ball.state, ball.params, until=1.0, events=[half])
    >>> motion.events
    user 'half way' at t = 0.3192754284071
    """

    expr: Any
    direction: int = field(default=0, kw_only=True)
    stop: bool = field(default=False, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expr", as_expression(self.expr, "Event"))
        object.__setattr__(self, "direction", whole(self.direction, "direction", least=-1, most=1, where="Event"))
        flag(self.stop, "stop", where="Event")
        if self.name is None:
            object.__setattr__(self, "name", str(self.expr))


def read_events(system: System, events: Iterable[Any]) -> tuple[Event, ...]:
    """Return the events with their texts read; each may use the system's symbols and nothing else."""
    listed = [events] if isinstance(events, Event) else list(events)
    reader = Reader(system.name, system.coordinates, list(system.expressions().values()))
    known = {*system.coordinates, *system.velocities, *system.parameters}
    found = []
    for place, item in enumerate(listed):
        if not isinstance(item, Event):
            raise DeclarationError(
                f"{system.name}: events= holds Event(expression, ...) and nothing else; entry {place + 1} is "
                f"{item!r:.80}."
            )
        expr = reader(item.expr, f"event '{item.name}'")
        for symbol in sorted(expr.free_symbols, key=lambda one: str(one.name)):
            if symbol not in known and not isinstance(symbol, Time):
                role = "coordinate" if isinstance(symbol, (Coordinate, Velocity)) else "parameter"
                raise DeclarationError(
                    f"{system.name}: event '{item.name}' uses '{symbol}', which is no {role} of the system. "
                    f"{nearest(str(symbol.name), [one.name for one in known])}"
                )
        found.append(Event(expr, direction=item.direction, stop=item.stop, name=item.name))
    return tuple(found)


@dataclass(frozen=True)
class MotionOptions:
    """The options of a motion; see `simulate`."""

    until: float
    tol: float
    events: tuple[Event, ...] = ()
    impact: str | None = None
    at_paradox: str = "stop"
    at_choice: Any = "stop"
    at_singular: Any = "stop"
    redundant: str | None = None
    progress: Callable[[float], None] | None = None
    stream: MotionStream | None = None
    budget: Budget = BUDGET
    method: str = "events"
    step: float | None = None
    drawing: Mapping[str, Any] = field(default_factory=dict)
    starts: tuple[MotionEvent, ...] = ()

    def of_start(self, k: int) -> MotionOptions:
        """Return the options for one of many states; what was done to each of them is an event of its motion."""
        return replace(self, starts=self.starts[k : k + 1]) if self.starts else self


def check_until(name: str, until: Any, start: float) -> float:
    """Return the end of a motion as a number after its start."""
    end = real(until, "until", where=name)
    if end < start:
        raise DeclarationError(
            f"{name}: until= {end:g} lies before the start of the motion, t = {start:g}. Give a later time, or another "
            "t in the state."
        )
    return end


def check_tol(name: str, tol: Any) -> float:
    """Return the tolerance as a number in its range."""
    return real(tol, "tol", least=FINEST, most=WIDEST, where=name, cure="Errors below rounding can't be asked for.")


def check_word(name: str, argument: str, value: Any, words: tuple[str, ...], *, or_callable: bool = False) -> Any:
    """Return an option that is one of some words, or a callable where that is allowed."""
    if (isinstance(value, str) and value in words) or (or_callable and callable(value)):
        return value
    more = " or a callable" if or_callable else ""
    listed = ", ".join(f"'{word}'" for word in words)
    raise DeclarationError(f"{name}: {argument}= must be one of {listed}{more}; it was given {value!r:.60}.")
