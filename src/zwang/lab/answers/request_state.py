"""The state that a request means: carried onto the constraints where a parameter has moved it off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.lab.mechanism_numbers import LostState
from zwang.lab.models import Opened, open_model


def settled(request: Mapping[str, Any]) -> tuple[Opened, dict[str, float], dict[str, float], str]:
    """Return the model, its parameters, the state on its constraints, and in words what was moved to get there.

    Contacts that were closed where the state was right (at the parameters `was`, else at the model's own) stay closed.
    """
    opened = open_model(request)
    params, state = opened.values(request)
    before = {**opened.params, **request.get("was", {}), **opened.tabled(state)}
    mechanism = opened.mechanism
    if not mechanism.held:
        return opened, params, state, ""
    closed = mechanism.closed(state, params) | mechanism.closed(state, before)
    q, v = mechanism.split(state)
    found = mechanism.carry(q[None], v[None], params, closed, t=state["t"])
    if not found.good[0]:
        names = ", ".join(f"'{item.name}'" for item, on in zip(mechanism.held, closed, strict=True) if on)
        raise LostState(
            f"{opened.system.name}: no configuration near this state satisfies {names} at these parameters. Move the "
            "parameter back, or reset."
        )
    moved = {**state, **mechanism.joined(found.q[0], found.v[0])}
    return opened, params, moved, _told(state, moved)


def _told(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    names = [name for name in before if name != "t"]
    change = np.array([after[name] - before[name] for name in names])
    if not len(change) or np.abs(change).max() < 1e-9:
        return ""
    place = int(np.abs(change).argmax())
    others = int((np.abs(change) > 1e-9).sum()) - 1
    more = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    return f"Carried to the constraint: {names[place]} moved by {change[place]:.3g}{more}."
