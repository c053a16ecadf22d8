"""The events of a system or of a motion: read from texts, checked against their system, and as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from zwang import _expressions
from zwang._declare.given import Text
from zwang._declare.switches import Event, Reaction, Reset, Switch, reaction
from zwang._declare.symbols import Coordinate, Time, Velocity, parameter
from zwang.errors import DeclarationError, nearest

CALL = re.compile(r"\breaction\(\s*(?:'([^'\"\n]*)'|\"([^'\"\n]*)\")\s*\)")
"""The multiplier of a constraint in a text: the name stands in quotes."""


def with_reactions(text: str, read: Callable[[str, Mapping[str, Any]], Any]) -> Any:
    """Return what a text says in which reaction('name') may occur; `read` takes the text without, and new names."""
    known: dict[str, Any] = {}

    def placed(match: re.Match[str]) -> str:
        name = match.group(1) if match.group(1) is not None else match.group(2)
        label = next((key for key, symbol in known.items() if symbol.constraint == name), f"reaction_{len(known) + 1}")
        while label not in known and re.search(rf"\b{label}\b", text):
            label += "_"
        known[label] = reaction(name)
        return label

    return read(CALL.sub(placed, text), known)


def text_with_reactions(expr: Any) -> str:
    """Return the text of an expression in which reactions may occur."""
    found = sorted(expr.atoms(Reaction), key=str) if hasattr(expr, "atoms") else []
    taken = {symbol.name for symbol in expr.free_symbols} if found else set()
    placed: dict[Any, Any] = {}
    for place, symbol in enumerate(found):
        label = f"reaction_{place + 1}"
        while label in taken:
            label += "_"
        placed[symbol] = parameter(label)
    text = _expressions.to_text(expr.xreplace(placed) if placed else expr)
    for symbol, label in placed.items():
        text = re.sub(rf"\b{label.name}\b", lambda _, name=symbol.name: name, text)  # type: ignore[misc]
    return text


# The list of a system or of a motion.
def read_events(system: Any, events: Any, reader: Any, *, new: bool) -> tuple[Event, ...]:
    """Return the events with their texts read and their names checked against a system.

    Parameters
    ----------
    system : System
    events : sequence of Event
    reader : Reader
        Of the system.
    new : bool
        Whether they may use parameters that the system doesn't know yet.
    """
    if not isinstance(events, (Event, Iterable)):
        raise DeclarationError(
            f"{system.name}: events= must be a list of Event(expression, ...); it was given {events!r:.80}."
        )
    listed = [events] if isinstance(events, Event) else list(events)
    known = {*system.coordinates, *system.velocities}
    names = {item.name for item in known}
    found: list[Event] = []
    for place, item in enumerate(listed):
        if not isinstance(item, Event):
            raise DeclarationError(
                f"{system.name}: events= holds Event(expression, ...) and nothing else; entry {place + 1} is "
                f"{item!r:.80}."
            )
        where = f"event '{item.name}'"

        def read(expr: Any, where: str = where) -> Any:
            return _read(expr, reader, where)

        event = item.map(read)
        event = replace(event, then=tuple(_with_velocities(system, one, where) for one in event.then))
        for expr in event.expressions().values():
            for symbol in sorted(expr.free_symbols, key=lambda one: str(one.name)):
                stranger = isinstance(symbol, (Coordinate, Velocity)) and symbol not in known
                if not new and not isinstance(symbol, (Coordinate, Velocity, Reaction, Time)):
                    stranger = symbol not in system.parameters and getattr(symbol, "base", None) not in system.inputs
                if stranger:
                    role = "coordinate" if isinstance(symbol, (Coordinate, Velocity)) else "parameter"
                    every = [*names, *(one.name for one in system.parameters)] if not new else [*names]
                    raise DeclarationError(
                        f"{system.name}: {where} uses '{symbol}', which is no {role} of the system. "
                        f"{nearest(str(symbol.name), every)}"
                    )
        found.append(event)
    for event in found:
        _check_names(system, event, [str(one.name) for one in (*found, *getattr(system, "events", ()))])
    return tuple(found)


def _read(expr: Any, reader: Any, where: str) -> Any:
    if not isinstance(expr, Text) or "reaction" not in expr.name:
        return reader(expr, where)
    return with_reactions(expr.name, lambda text, more: reader.text(text, where, more))


def _with_velocities(system: Any, item: Any, where: str) -> Any:
    """Return a Reset with symbols of the system for its names; anything else as it is."""
    if not isinstance(item, Reset):
        return item
    by_name = {one.name: one for one in system.velocities}
    found = {}
    for key, value in item.velocities.items():
        name = key if isinstance(key, str) else key.name
        coordinate = next((one for one in system.coordinates if one.name == name), None)
        if coordinate is not None:
            raise DeclarationError(
                f"{system.name}: {where}: Reset: '{name}' is a coordinate, and bodies don't jump. Reset its velocity "
                f"'{coordinate.velocity}', or let a constraint that is switched on carry it there."
            )
        if name not in by_name or by_name[name] in found:
            wrong = "named twice" if name in by_name else f"no velocity of the system. {nearest(name, by_name)}"
            raise DeclarationError(f"{system.name}: {where}: Reset: '{name}' is {wrong}")
        found[by_name[name]] = value
    return Reset(found)


def _check_names(system: Any, event: Event, events: list[str]) -> None:
    """Refuse names of constraints that are not there, or not to be switched."""
    where, names = f"{system.name}: event '{event.name}'", system.constraints.names
    switched = [name for item in event.then if isinstance(item, Switch) for name in (*item.on, *item.off)]
    for name in switched:
        if name not in names:
            raise DeclarationError(f"{where}: Switch: there is no constraint '{name}'. {nearest(name, names)}")
        if _internal(system, name):
            raise DeclarationError(
                f"{where}: Switch: '{name}' keeps a quaternion at unit length: it belongs to the coordinates and can't "
                "be switched. Switch the joint or the contact instead."
            )
    for expr in event.expressions().values():
        for symbol in expr.atoms(Reaction):
            if symbol.constraint not in names:
                raise DeclarationError(
                    f"{where}: reaction: there is no constraint '{symbol.constraint}'. "
                    f"{nearest(symbol.constraint, names)}"
                )
            if len(system.constraints[symbol.constraint].slip) > 1 and not hasattr(
                system.constraints[symbol.constraint], "expr"
            ):
                raise DeclarationError(
                    f"{where}: reaction: '{symbol.constraint}' is friction with two components, no number. Watch the "
                    "reaction of a constraint with an expression."
                )
    if event.of is not None and event.of not in names and event.of not in events:
        raise DeclarationError(f"{where}: of=: there is no constraint '{event.of}'. {nearest(event.of, names)}")


def _internal(system: Any, name: str) -> bool:
    """Whether a constraint is a builder's own: the unit length of a quaternion."""
    rest = name.removeprefix("unit_")
    own = {item.name for item in system.coordinates}
    return name != rest and all(f"e{i}_{rest}" in own for i in range(4))


# As plain data.
def event_dict(event: Event) -> dict[str, Any]:
    """Return an event as a model file holds it."""
    text = text_with_reactions
    plain: dict[str, Any] = {"name": event.name, "expr": event.expr if event.kind else text(event.expr)}
    if event.direction:
        plain["direction"] = event.direction
    if event.stop:
        plain["stop"] = True
    if event.of is not None:
        plain["of"] = event.of
    if event.count is not None:
        plain["count"] = event.count
    if event.then:
        plain["then"] = [_action_dict(item) for item in event.then]
    return plain


def _action_dict(item: Switch | Reset) -> dict[str, Any]:
    if isinstance(item, Reset):
        return {"reset": {str(key): text_with_reactions(value) for key, value in item.velocities.items()}}
    return {key: list(names) for key, names in (("on", item.on), ("off", item.off)) if names}


def event_of(plain: Mapping[str, Any], read: Callable[..., Any]) -> Event:
    """Return the event of a table of a model file; `read` takes a text, a place and more names."""
    where = f"event '{plain.get('name', plain['expr'])}'"

    def expression(text: str) -> Any:
        return with_reactions(text, lambda words, more: read(words, where, more))

    then = [
        Reset({key: expression(value) for key, value in item["reset"].items()})
        if "reset" in item
        else Switch(on=item.get("on", ()), off=item.get("off", ()))
        for item in plain.get("then", ())
    ]
    given = {key: plain[key] for key in ("direction", "stop", "name", "of", "count") if key in plain}
    kind = Event(plain["expr"]).kind
    return Event(kind or expression(plain["expr"]), then=then, **given)
