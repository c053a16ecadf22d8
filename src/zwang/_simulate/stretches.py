"""The steps of a mode: by a tape at first, in code of its own once it has turned out to be a long way."""

from __future__ import annotations

from zwang._compile import Model
from zwang._derive.modes import ActiveSet
from zwang._kernels.moving import Moving, moving
from zwang._simulate.user_events import Event

LONG = 3000
"""Steps after which generated code pays: it takes a second or two to compile, and a tape ten times as long per step."""

SMALL = 13
"""Unknowns up to which it is compiled at all: straight-line code of many takes long, and modes are many."""


def moving_for(model: Model, mode: ActiveSet, events: tuple[Event, ...] = ()) -> Moving:
    """Return the steps of a mode, with the expressions of the user's events watched."""
    watched = tuple(event.expr for event in events)
    taped = moving(model, mode, watched, compiled=False)
    unknowns = len(model.system.coordinates) + len(mode.held) + len(mode.sticking)
    return moving(model, mode, watched) if taped.tried >= LONG and unknowns <= SMALL else taped
