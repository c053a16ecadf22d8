"""A motion as columns over time, with its modes and events: for tables, Datasets and netCDF files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import MODES
from zwang._results.columns import Quantities, Quantity, about, mode_words, named

GROUPS = {"reactions": "reaction_", "friction": "friction_", "energy": "energy_", "work": "work_"}
"""Rows of a motion by name, and what stands before the name of a column."""


def motion_columns(motion: Any) -> Quantities:
    """Return the rows of a motion: states by their names, what follows from them, modes; events along an axis apart.

    A time comes twice where the state jumps.
    """
    units = dict(getattr(motion, "units", None) or {})
    found = {"time": Quantity(("time",), motion.t, units.get("t", ""))}
    for names, rows in ((motion.coordinates, motion.q), (motion.velocities, motion.v)):
        found |= {name: Quantity(("time",), rows[:, k], units.get(names[k], "")) for k, name in enumerate(named(names))}
    for k, name in enumerate(named(motion.coordinates, "acceleration_")):
        found[name] = Quantity(("time",), motion.a[:, k])
    for group, prefix in GROUPS.items():
        rows = getattr(motion, group)
        for name, values in zip(named(list(rows), prefix), rows.values(), strict=True):
            axes = ("time",) if values.ndim == 1 else ("time", "direction")
            found[name] = Quantity(axes, np.asarray(values))
    found |= _modes(motion) | _events(motion)
    return Quantities(found, about(motion))


def _modes(motion: Any) -> dict[str, Quantity]:
    """Return the mode of each constraint in every row, as numbers whose words are told."""
    if not motion.constraints:
        return {}
    codes = np.full((len(motion.t), len(motion.constraints)), -1, dtype=np.int8)
    row = 0
    for number, piece in enumerate(motion.pieces):
        last = number + 1 == len(motion.pieces) or motion.pieces[number + 1].jump
        size = len(piece.t) if last else len(piece.t) - 1
        codes[row : row + size] = [int(MODES.get(label, -1)) for label in piece.labels]
        row += size
    return {
        name: Quantity(("time",), codes[:, k], words=mode_words(codes[:, k]))
        for k, name in enumerate(named(motion.constraints, "mode_"))
        if motion.constraints[k] not in motion.bookkeeping
    }


def _events(motion: Any) -> dict[str, Quantity]:
    """Return what happened and when, along the axis `event`."""
    events = list(motion.events)
    if not events:
        return {}

    def texts(values: list[str]) -> NDArray[np.str_]:
        return np.array(values, dtype=np.str_)

    return {
        "event_time": Quantity(("event",), np.array([event.time for event in events], dtype=float)),
        "event_kind": Quantity(("event",), texts([event.kind for event in events])),
        "event_constraint": Quantity(("event",), texts([event.constraint or "" for event in events])),
        "event_name": Quantity(("event",), texts([event.name for event in events])),
    }
