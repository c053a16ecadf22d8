"""Slips of two components that stop: where their direction is not that of a slip any more.

The speed of such a slip has no sign to change: it falls to zero with a finite slope and would stay there as noise. So
the last bit is done by hand: from a speed that is small enough for the deceleration to be constant, straight to rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.table import Place
from zwang._numerics.linear.projection import landed
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Ground
from zwang._simulate.rows import RowSource
from zwang._simulate.starting import turning

Array = NDArray[np.float64]
SLOW = 1e-7
"""Part of the largest speed so far from which a slip is brought to rest in one step."""


def stopped(ground: Ground, decision: Decision, found: Any, names: tuple[Any, ...], speeds: Array) -> Any:
    """Return a stretch that ends where a slip in a plane comes to rest; the stretch itself where none does."""
    for place in turning(ground, decision.labels):
        terms = RowSource(ground).terms(found.t, found.q, found.v)
        slips = list(place.slips)
        slip = terms.slip[slips]
        speed = np.sqrt((slip**2).sum(axis=0))
        change = np.einsum("sib,bi->sb", terms.slip_rows[slips], found.a) - terms.slip_bias[slips]
        fall = -(slip * change).sum(axis=0) / np.where(speed > 0, speed, 1.0)
        size = float(np.abs(terms.slip_rows[slips, :, 0]).sum(axis=0) @ speeds)
        slow = np.flatnonzero((speed <= SLOW * size) & (fall > 0) & (np.arange(len(speed)) > 0))
        if len(slow):
            row = int(slow[0])
            watch = names.index(("speed", place.law))
            return _to_rest(ground, decision, place, found, row, float(speed[row] / fall[row]), watch)
    return found


def _to_rest(ground: Ground, decision: Decision, place: Place, found: Any, row: int, left: float, watch: int) -> Any:
    """Return a stretch cut at a row and led on to the rest of a slip, a time `left` later."""
    t, q, v, a = found.t[row], found.q[row], found.v[row], found.a[row]
    end_t, end_q, end_v = t + left, q + left * v + left**2 / 2 * a, v + left * a
    held = decision.held
    assert held is not None  # a decision without a mode is a Stop
    on = ground.conditions(end_t, held.mode.held, (*place.slips, *held.mode.sticking))
    _, end_v = landed(on, end_q, end_v, rounds=0)
    start, end = np.concatenate([q, v]), np.concatenate([end_q, end_v])
    slope, last = left * np.concatenate([v, a]), left * np.concatenate([end_v, a])
    step = np.zeros((1, 7, 2 * len(q)))
    step[0, 0] = end - start
    step[0, 1] = slope - step[0, 0]
    step[0, 2] = 2 * step[0, 0] - slope - last
    return replace(
        found,
        t=np.append(found.t[: row + 1], end_t),
        q=np.vstack([found.q[: row + 1], end_q]),
        v=np.vstack([found.v[: row + 1], end_v]),
        a=np.vstack([found.a[: row + 1], a]),
        dense=np.concatenate([found.dense[:row], step]),
        status="FIRED",
        fired=(watch,),
        next_step=0.0,
    )
