"""What acts of a system: the constraints that are switched on, as a system of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from zwang._declare.constraints import Constraints
from zwang._declare.switches import Switch
from zwang.errors import DeclarationError, nearest

S = TypeVar("S")
ON = "on"
"""The key of a state that names the constraints which are switched on."""


@lru_cache(maxsize=256)
def switchable(system: Any) -> tuple[str, ...]:
    """Return the constraints of a system that may be off: those that start so, and those that an event switches."""
    switches = [item for event in system.events for item in event.then if isinstance(item, Switch)]
    named = {name for item in switches for name in (*item.on, *item.off)}
    return tuple(str(item.name) for item in system.constraints if item.starts == "off" or item.name in named)


def on_at_start(system: Any) -> tuple[str, ...]:
    """Return the names of the constraints that act where nothing else is said."""
    return tuple(str(item.name) for item in system.constraints if item.starts == "on")


def taken_apart(system: Any, state: Mapping[Any, Any]) -> tuple[Mapping[Any, Any], tuple[str, ...] | None]:
    """Return a state without its 'on', and the constraints that act there; None where the system says it by itself."""
    if not isinstance(state, Mapping) or ON not in state:
        return state, None
    rest = {key: value for key, value in state.items() if key != ON}
    return rest, checked_names(system, state[ON])


def checked_names(system: Any, given: Any) -> tuple[str, ...]:
    """Return names of constraints that are switched on, in the order of the system."""
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    names = system.constraints.names
    for name in listed:
        if not isinstance(name, str) or name not in names:
            raise DeclarationError(
                f"{system.name}: state: 'on' names the constraints that act; it has {name!r:.60}. "
                f"{nearest(str(name), names)}"
            )
    return tuple(name for name in names if name in listed)


def switched(system: S, on: Iterable[str] | None = None) -> S:
    """Return the system in which only the constraints that are on stand; the others are left out with their friction.

    Parameters
    ----------
    system : System
    on : names, optional
        Those that act; by default those that start on.

    Returns
    -------
    System
        With the coordinates and the parameters of the whole, without its events; the given one where all act.
    """
    acting = on_at_start(system) if on is None else tuple(on)
    whole: Any = system
    left = frozenset(whole.constraints.names) - frozenset(acting)
    found: S = _view(whole, left) if left else system
    return found


@lru_cache(maxsize=256)
def _view(system: Any, off: frozenset[str]) -> Any:
    made = object.__new__(type(system))
    kept = [item for item in system.constraints if item.name not in off and not set(_normals_of(item)) & off]
    made.__dict__.update({key: value for key, value in system.__dict__.items() if key not in ("digest", "parameters")})
    made.__dict__.update(
        constraints=Constraints(kept),
        events=(),
        parameters=system.parameters,  # so that values of one fit the other
        inputs=system.inputs,
        drawing=None,
        whole=(system, tuple(name for name in system.constraints.names if name not in off)),
    )
    return made


def _normals_of(item: Any) -> tuple[str, ...]:
    """Return the constraints whose resultant a friction goes with."""
    of = getattr(item, "of", None)
    return () if of is None else (of,) if isinstance(of, str) else tuple(of)
