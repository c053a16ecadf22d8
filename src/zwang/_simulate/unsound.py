"""Coefficients of friction that depend on the state: where one turns negative along a motion, the motion ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zwang._compile.laws import require_laws, sound_laws
from zwang._simulate.moment import Ground
from zwang.errors import StateError


def until_unsound(ground: Ground, found: Any) -> tuple[Any, str]:
    """Return a stretch up to its last row with sound coefficients, and in words why it ends there; empty: it doesn't.

    The rows are the accepted steps: a coefficient that is negative between two of them only is not seen.
    """
    row, words = first_unsound(ground, found.t, found.q, found.v)
    if not words:
        return found, ""
    kept = max(row, 1)
    rows = {name: getattr(found, name)[:kept] for name in ("t", "q", "v", "a")}
    return replace(found, **rows, dense=found.dense[: kept - 1], status="UNSOUND", fired=(), next_step=0.0), words


def first_unsound(ground: Ground, t: Any, q: Any, v: Any) -> tuple[int, str]:
    """Return the first row of states with a coefficient that makes no sense, and what is wrong with it in words."""
    system, params = ground.model.system, ground.params[:, None]
    q, v = np.ascontiguousarray(q.T), np.ascontiguousarray(v.T)
    bounds = ground.model.kernels.terms(np.ascontiguousarray(t), q, v, params).bounds
    wrong = np.flatnonzero(~sound_laws(system, bounds))
    if not len(wrong):
        return len(t), ""
    row = int(wrong[0])
    try:
        require_laws(system, bounds[:, [row]], ground.params)
    except StateError as error:
        return row, f"The motion ends before t = {float(t[row]):.12g}: {error}"
    return len(t), ""
