"""On which side of zero each watched quantity must stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._simulate.deciding import Decision
from zwang._simulate.labels import plain, sign_of
from zwang._simulate.moment import Moment

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

ANY = 2.0
"""Fires on any crossing."""


def sides_of(driver: Driver, decision: Decision, moment: Moment) -> NDArray[np.float64]:
    """Return, for every watch of the mode, the sign that it keeps, 0 where it is not watched."""
    table, labels = driver.ground.table, decision.labels
    sides = []
    for kind, k in driver.moving.watch_names:
        side = 0.0
        if kind in ("gap", "value"):
            # A constraint that is closed but not held is implied by others: its value is zero up to rounding.
            side = 1.0 if labels[table.of_normal(k)] == "open" else 0.0
        elif kind == "normal":
            number = table.of_normal(k)
            held = decision.held
            pulls = held is not None and k in held.mode.pulling
            side = 0.0 if number in decision.idle else (-1.0 if pulls else 1.0)
        elif kind == "slip":
            side = float(sign_of(labels[table.of_law(k)]))
        elif kind in ("speed", "reserve"):
            side = 1.0 if plain(labels[table.of_law(k)]) != "open" else 0.0
        elif kind in ("surface", "extra"):
            side = ANY
        sides.append(side)
    return np.array(sides)
