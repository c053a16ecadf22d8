"""The compiled steps of a mode."""

from __future__ import annotations

from typing import Any

from zwang._compile import Model
from zwang._derive.modes import Mode
from zwang._simulate.user_events import Event

SMALL = 13


def moving_for(model: Model, mode: Mode, events: tuple[Event, ...]) -> Any:
    """Return the steps of a mode, with the expressions of the user's events watched."""
    from zwang._backends.native.moving import moving

    unknowns = len(model.system.coordinates) + len(mode.held) + len(mode.sticking)
    # Straight-line code of many unknowns takes long to compile, and modes are many: those run on tapes.
    compiled = None if unknowns <= SMALL else False
    return moving(model, mode, tuple(event.expr for event in events), compiled=compiled)
