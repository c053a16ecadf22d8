"""Dense output of the steps of a motion: positions and velocities at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.motion.dense_output import interpolated
from zwang._results.motion_parts import MotionPiece

Array = NDArray[np.float64]


def states_in_piece(piece: Any, times: Array) -> Array:
    """Return the positions and velocities (B, 2 n) at times inside a piece, or other steps with t, q, v and dense."""
    start = np.concatenate([piece.q, piece.v], axis=1)
    if len(piece.t) == 1:
        return np.repeat(start, len(times), axis=0)
    step = np.clip(np.searchsorted(piece.t, times, side="right") - 1, 0, len(piece.t) - 2)
    width = piece.t[step + 1] - piece.t[step]
    x = (times - piece.t[step]) / np.where(width > 0, width, 1.0)
    y = interpolated(start[step], piece.dense[step], x)
    ends = times == piece.t[step + 1]
    y[ends] = start[step[ends] + 1]
    return y


def states_at(pieces: Sequence[MotionPiece], times: Array) -> Array:
    """Return the positions and velocities at times of a motion; at a jump those after it."""
    first = np.array([piece.t[0] for piece in pieces])
    which = np.clip(np.searchsorted(first, times, side="right") - 1, 0, len(pieces) - 1)
    n = pieces[0].q.shape[1]
    out = np.empty((len(times), 2 * n))
    for number in np.unique(which):
        chosen = which == number
        out[chosen] = states_in_piece(pieces[number], times[chosen])
    return out
