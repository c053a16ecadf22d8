"""`Event`: a zero of an expression that a user wants to know of, or to stop at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zwang._declare.given import as_expression
from zwang._declare.reading import Reader
from zwang._declare.symbols import Coordinate, Time, Velocity
from zwang._declare.system import System
from zwang._numerics.tolerances import flag, whole
from zwang.errors import DeclarationError, nearest


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
