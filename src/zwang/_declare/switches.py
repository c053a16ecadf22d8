"""What happens on the way: events, and what they switch: constraints that come and go, velocities that are reset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from zwang._declare.frozen import Frozen
from zwang._declare.given import as_expression
from zwang._declare.symbols import Coordinate, Velocity
from zwang._numerics.tolerances import flag, whole
from zwang.errors import DeclarationError

KINDS = (
    *("impact", "contact", "lift-off", "stick", "slip", "reversal", "capture", "release", "accumulation"),
    *("switch", "user"),
)
"""Kinds of events of a motion that an Event may stand for in place of an expression."""
ENDS = ("paradox", "choice", "singular")
"""Those that end a motion, so that nothing follows from them."""


class Reaction(sp.Symbol):
    """The multiplier of a constraint, in the expressions of events; made by `reaction`."""

    __slots__ = ("constraint",)
    constraint: str

    def __new__(cls, constraint: str) -> Reaction:
        symbol: Reaction = sp.Symbol.__xnew__(cls, f"reaction('{constraint}')", real=True)
        symbol.constraint = constraint
        return symbol

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.constraint,), {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Reaction, (self.constraint,)


def reaction(name: str) -> Reaction:
    """Return the multiplier of a constraint as a symbol, for the expressions of an `Event` and of a `Reset`.

    It is zero while the constraint is open or switched off. Impulses are no reactions.

    Parameters
    ----------
    name : str
        Of the constraint.

    Examples
    --------
    >>> import zwang as zw
    >>> zw.Event(zw.reaction("bar") - 50, direction=1, then=zw.Switch(off="bar"), name="the bar breaks").name
    'the bar breaks'
    """
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "'" in name or '"' in name:
        raise DeclarationError(f"reaction needs the name of a constraint; it was given {name!r:.60}.")
    return Reaction(name)


@dataclass(frozen=True)
class Switch:
    """Constraints that an event switches on and off.

    A constraint on positions can be switched on where its expression vanishes (`Bilateral`) or is not negative
    (`Unilateral`), one on velocities anywhere; what the velocities must lose for it they lose in a plastic impact.
    Switching off changes no velocity.

    Parameters
    ----------
    on, off : str or sequence of str
        Names of constraints.

    Examples
    --------
    >>> import zwang as zw
    >>> zw.Switch(off="bar")
    Switch(on=(), off=('bar',))
    """

    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what in ("on", "off"):
            object.__setattr__(self, what, _names(getattr(self, what), f"Switch: {what}"))
        both = [name for name in self.on if name in self.off]
        if both:
            raise DeclarationError(f"Switch: '{both[0]}' is switched on and off at once. Leave one of the two out.")
        if not self.on and not self.off:
            raise DeclarationError("Switch: it switches nothing. Name constraints: Switch(on='latch', off='spring').")

    def expressions(self) -> dict[str, Any]:
        """Return its expressions: it has none."""
        return {}

    def map(self, change: Callable[[Any], Any]) -> Switch:
        """Return it with every expression changed."""
        return self


@dataclass(frozen=True)
class Reset:
    """Velocities that an event sets: a kick, a clock's impulse, a wheel that is spun up.

    Parameters
    ----------
    velocities : mapping
        Velocity (symbol or name) -> its value after the event, an expression of the state before it.

    Examples
    --------
    >>> import zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> zw.Reset({vx: -vx / 2}).velocities
    {v_x: -v_x/2}
    """

    velocities: Mapping[Any, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.velocities, Mapping) or not self.velocities:
            raise DeclarationError(
                f"Reset needs a mapping velocity -> expression, as in Reset({{v_x: 0}}); it was given "
                f"{self.velocities!r:.60}."
            )
        found = {key: as_expression(value, f"Reset of '{key}'") for key, value in self.velocities.items()}
        for key in found:
            if isinstance(key, Coordinate):
                raise DeclarationError(
                    f"Reset: '{key}' is a coordinate, and bodies don't jump. Reset its velocity '{key.velocity}', or "
                    "let a constraint that is switched on carry it there."
                )
            if not isinstance(key, (Velocity, str)):
                raise DeclarationError(f"Reset: {key!r:.60} is no velocity. Give v_x, the symbol or its name.")
        object.__setattr__(self, "velocities", Frozen(found))

    def __hash__(self) -> int:
        return hash(tuple(self.velocities.items()))

    def expressions(self) -> dict[str, Any]:
        """Return its expressions by what they are."""
        return {f"reset of {key}": value for key, value in self.velocities.items()}

    def map(self, change: Callable[[Any], Any]) -> Reset:
        """Return it with every expression changed."""
        return Reset({key: change(value) for key, value in self.velocities.items()})


@dataclass(frozen=True)
class Event:
    """Something to look out for in a motion, and what follows from it.

    Parameters
    ----------
    expr : expression or str
        It happens where the expression (of coordinates, velocities, time, parameters and `reaction`) changes its sign,
        also by a jump; or a kind of event of a motion: 'impact', 'contact', 'lift-off', 'stick', 'slip', ...
    direction : {0, 1, -1}
        1: only where it rises through zero, -1: only where it falls, 0: both.
    stop : bool
        Whether the motion ends there.
    name : str, optional
        What the motion's events call it; by default the expression as text.
    then : Switch, Reset or a sequence of them
        What is done there, in this order. The event is then logged with the kind 'switch'.
    of : str, optional
        For a kind of event: the constraint (for 'switch' and 'user' the event) that it belongs to; by default any.
    count : int, optional
        Act at this occurrence only, 1 is the first; by default at each.

    Examples
    --------
    >>> import zwang as zw
    >>> ball = zw.gallery.get("bouncing_ball")
    >>> (y,) = ball.system.coordinates
    >>> half = zw.Event(y - 0.5, direction=-1, stop=True, name="half way")
    >>> motion = zw.simulate(ball.system, ball.state, ball.params, until=1.0, events=[half])
    >>> motion.events
    user 'half way' at t = 0.3192754284071
    >>> zw.Event("impact", of="floor", count=3, stop=True).name
    'impact of floor, number 3'
    """

    expr: Any
    direction: int = field(default=0, kw_only=True)
    stop: bool = field(default=False, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    then: Any = field(default=(), kw_only=True)
    of: str | None = field(default=None, kw_only=True)
    count: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "expr", as_expression(self.expr, "Event"))
        object.__setattr__(self, "direction", whole(self.direction, "direction", least=-1, most=1, where="Event"))
        flag(self.stop, "stop", where="Event")
        then = (self.then,) if isinstance(self.then, (Switch, Reset)) else self.then
        wrong = [x for x in then if not isinstance(x, (Switch, Reset))] if isinstance(then, Iterable) else [then]
        if wrong or isinstance(then, str):
            shown = wrong[0] if wrong else then
            raise DeclarationError(f"Event: then= holds Switch(...) and Reset(...); it was given {shown!r:.60}.")
        object.__setattr__(self, "then", tuple(then))
        if self.count is not None:
            object.__setattr__(self, "count", whole(self.count, "count", least=1, where="Event"))
        self._check_kind()
        if self.name is None:
            object.__setattr__(self, "name", self._default_name())
        elif not isinstance(self.name, str) or not self.name.strip():
            raise DeclarationError(f"Event: name= must be a text; it was given {self.name!r:.60}.")

    @property
    def kind(self) -> str:
        """The kind of event that it stands for; empty where it has an expression."""
        return self.expr if type(self.expr) is str and self.expr in (*KINDS, *ENDS) else ""

    def _check_kind(self) -> None:
        if self.kind in ENDS:
            raise DeclarationError(
                f"Event: '{self.kind}' ends a motion, so that nothing follows from it. Say what is done there by "
                f"at_{self.kind}= of simulate."
            )
        if self.of is not None and not self.kind:
            raise DeclarationError(
                f"Event: of='{self.of}' goes with a kind of event, {', '.join(KINDS[:4])}, ...; {self.expr} is an "
                "expression, which has no constraint. Leave of= out."
            )
        if self.of is not None and not isinstance(self.of, str):
            raise DeclarationError(f"Event: of= must be a name; it was given {self.of!r:.60}.")
        if self.kind and self.direction:
            raise DeclarationError(f"Event: '{self.kind}' has no direction. Leave direction= out.")

    def _default_name(self) -> str:
        words = str(self.expr) if self.of is None else f"{self.expr} of {self.of}"
        return words if self.count is None else f"{words}, number {self.count}"

    def expressions(self) -> dict[str, Any]:
        """Return the expressions of this event by what they are."""
        own = {} if self.kind else {"expr": self.expr}
        return own | {what: expr for item in self.then for what, expr in item.expressions().items()}

    def map(self, change: Callable[[Any], Any]) -> Event:
        """Return this event with every expression changed."""
        expr = self.expr if self.kind else change(self.expr)
        return replace(self, expr=expr, then=tuple(item.map(change) for item in self.then))


def _names(given: Any, where: str) -> tuple[str, ...]:
    found = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    for name in found:
        if not isinstance(name, str) or not name.strip():
            raise DeclarationError(f"{where} names constraints; it was given {name!r:.60}.")
    return tuple(dict.fromkeys(found))
