"""Standing still: a mode that leaves no freedom holds its state exactly, not up to the rounding of accelerations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zwang._numerics.contact.modes import Mode
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Ground, Moment

STILL = 1e-7
"""Velocities below this, relative to the coordinates, are rounding where a mode allows none."""


def stands(ground: Ground, decision: Decision, moment: Moment) -> bool:
    """Say whether a mode holds every coordinate by rows that don't depend on time, so that nothing can move."""
    held = decision.held
    if held is None or len(held.mode.held) + len(held.mode.sticking) < len(moment.q):
        return False
    acting = [(place, label.plain) for place, label in zip(ground.table.places, decision.labels, strict=True)]
    acting = [(place, what) for place, what in acting if what is not Mode.OPEN]
    small = float(np.abs(moment.v).max(initial=0.0)) <= STILL * (1.0 + float(np.abs(moment.q).max(initial=0.0)))
    if not small or not all(place.timeless for place, _ in acting):
        return False
    terms = ground.terms(moment.t, moment.q, np.zeros(len(moment.v)))
    # A velocity-level constraint or a belt may ask for a velocity that is not zero.
    rates = [terms.value[place.normal, 0] for place, _ in acting if place.normal >= 0 and not place.on_position]
    slips = [terms.slip[slip, 0] for place, what in acting if what is Mode.STICK for slip in place.slips]
    return not np.any([*rates, *slips])


def at_rest(found: Any) -> Any:
    """Return a stretch in which nothing moves."""
    rows = len(found.t)
    still = np.zeros_like(found.v)
    return replace(found, q=np.repeat(found.q[:1], rows, axis=0), v=still, a=still.copy(), dense=0.0 * found.dense)
