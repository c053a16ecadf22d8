"""What is asked of `simulate`, checked: words, numbers, and events to look out for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sympy import Integer

from zwang._compile.given_inputs import Driven
from zwang._declare.contact_table import table_of
from zwang._declare.declaration_reader import Reader
from zwang._declare.event_list import read_events
from zwang._declare.switches import Event, Reaction
from zwang._declare.system import System
from zwang._numerics.budget import Budget
from zwang._numerics.sizes import CoordinateSizes
from zwang._numerics.tolerances import FINEST, WIDEST, by_name, real
from zwang._results.motion_parts import MotionEvent
from zwang._results.motion_stream import MotionStream
from zwang.errors import DeclarationError

IMPACT_LAWS = ("newton", "poisson", "energetic")
AT_PARADOX = ("stop", "impact", "realize", "every")
AT_CHOICE = ("stop", "keep mode", "realize", "every")
AT_SINGULAR = ("stop", "straight", "realize", "every")
METHODS = ("events", "timestepping", "auto")
STARTS = ("project",)
ONE = Integer(1)
"""In the place of an event's expression that has none."""
BUDGET = Budget(steps=5_000_000, memory=500_000_000)
"""Of a motion, or of all motions of an ensemble."""


def events_of(
    system: System, events: Iterable[Any], declared: System | None = None, driven: Driven | None = None
) -> tuple[Event, ...]:
    """Return the events of a system and those that a motion is asked for beside them, of the system as it is declared.

    Where it has inputs, `driven` says what they are.
    """
    if events is None or (hasattr(events, "__len__") and not len(events)):  # type: ignore[arg-type]
        return system.events
    known = system if declared is None else declared
    reader = Reader(known.name, known.coordinates, [*known.expressions().values(), *known.parameters], known.dependents)
    read = read_events(known, events, reader, new=False)
    return (*system.events, *(read if driven is None else (event.map(driven.put) for event in read)))


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
    units: Mapping[str, str] = field(default_factory=dict)
    starts: tuple[MotionEvent, ...] = ()
    on: tuple[str, ...] | None = None
    driven: Driven | None = None
    scales: CoordinateSizes | None = None

    @property
    def watched(self) -> tuple[Any, ...]:
        """The expressions of the events that the state determines; 1 in the place of the others."""
        return tuple(ONE if event.kind or event.expr.has(Reaction) else event.expr for event in self.events)

    def of_start(self, k: int) -> MotionOptions:
        """Return the options for one of many states; what was done to each of them is an event of its motion."""
        return replace(self, starts=self.starts[k : k + 1]) if self.starts else self


def scales_of(system: System, scales: Any) -> CoordinateSizes | None:
    """Return sizes of coordinates and velocities that were given by their symbols or names, nan where none was."""
    if scales is None:
        return None
    places = [item.name for item in (*system.coordinates, *system.velocities)]
    found = np.full(len(places), np.nan)
    no, form = "which is no coordinate or velocity", "coordinates or velocities to sizes"
    for name, value in by_name(scales, "scales=", places, where=system.name, no=no, form=form).items():
        at = places.index(name)
        if at < len(places) // 2 and table_of(system).arrays.turns[at]:
            raise DeclarationError(
                f"{system.name}: scales= has the angle '{name}', and angles have size 1. Give the size of its velocity "
                f"'{places[at + len(places) // 2]}', if that is what is meant."
            )
        found[at] = real(value, f"scales['{name}']", above=0, where=system.name)
    return CoordinateSizes(*np.split(found, 2))


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
