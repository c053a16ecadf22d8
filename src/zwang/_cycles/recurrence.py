"""When a motion comes back near to a state: guesses of a period."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._results.motion import Motion
from zwang._results.motion_dense import states_at

Array = NDArray[np.float64]
TURN = 2 * np.pi
BETWEEN = 6
"""Looks within each step."""
AWAY = 0.2
"""Part of the largest distance that a motion must have gone before it can come back."""
NEAR = 0.1
"""Distance, in parts of what each coordinate and velocity runs through, up to which it has come back."""
AS_GOOD = 2.0
"""How much worse than the nearest return an earlier one may be."""
EXACT = 1e-5  # a return as close as this needs no better one: between steps a motion is known no better
TAILS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02)
"""Last parts of a motion that are looked at by themselves: what came before may be large and long past."""


class Recurrence(NamedTuple):
    """After what time a motion was back, and how near, in parts of what each coordinate and velocity runs through."""

    period: float
    distance: float


def settled(motion: Motion, turns: NDArray[np.bool_], steady: frozenset[int]) -> Recurrence | None:
    """Return the best return of a motion's past to its end, in parts of what its last part alone runs through.

    None where it never left its end.
    """
    parts = [recurrence(motion, turns, steady, at_end=True, tail=tail) for tail in TAILS]
    found = [one for one in parts if one is not None]
    if not found:
        return None
    best = min(one.distance for one in found)
    return next(one for one in reversed(found) if one.distance <= max(AS_GOOD * best, EXACT))


def recurrence(
    motion: Motion, turns: NDArray[np.bool_], steady: frozenset[int], *, at_end: bool, tail: float = 1.0
) -> Recurrence | None:
    """Return the first good return of a motion to its start, or of its past to its end; None where it never left.

    Parameters
    ----------
    motion : Motion
    turns : (n,) array of bool
        Which coordinates are angles.
    steady : frozenset of int
        Coordinates that need not return.
    at_end : bool
        Whether the end is what it returned to.
    tail : float
        The last part of the motion that is looked at.
    """
    times = np.unique(np.concatenate([piece.t for piece in motion.pieces]))
    times = times[times >= times[-1] - tail * (times[-1] - times[0])]
    if len(times) < 3:
        return None
    shares = np.arange(BETWEEN) / BETWEEN
    fine = np.append((times[:-1, None] + np.diff(times)[:, None] * shares).ravel(), times[-1])
    y = states_at(motion.pieces, fine)
    n = len(turns)
    kept = [i for i in range(2 * n) if i not in steady]
    span = np.ptp(y, axis=0)
    span[:n] = np.where(turns, np.minimum(span[:n], 1.0), span[:n])
    kept = [i for i in kept if span[i] > 1e-12 * (np.abs(y[:, i]).max() + 1e-300) and span[i] > 0]
    if not kept:
        return None

    def distance(states: Array, anchor: Array) -> Array:
        off = states - anchor
        off[:, :n] = np.where(turns, off[:, :n] - TURN * np.round(off[:, :n] / TURN), off[:, :n])
        return np.asarray(np.abs(off[:, kept] / span[kept]).max(axis=1))

    anchor, begin = (y[-1], fine[-1]) if at_end else (y[0], fine[0])
    far = distance(y, anchor)
    order = np.arange(len(fine))[::-1] if at_end else np.arange(len(fine))
    gone = np.flatnonzero(far[order] > AWAY * far.max())
    if not len(gone):
        return None
    order = order[gone[0] :]
    if len(order) < 3:
        return None
    values = far[order]
    low = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])) + 1
    candidates = [_refined(motion, distance, anchor, fine, int(order[k]), float(begin)) for k in low]
    if not candidates:
        k = int(np.argmin(values))
        return Recurrence(abs(float(fine[order[k]] - begin)), float(values[k]))
    best = min(one.distance for one in candidates)
    good = [one for one in candidates if one.distance <= max(AS_GOOD * best, EXACT)]
    return min(good, key=lambda one: one.period)


def _refined(motion: Motion, distance: object, anchor: Array, fine: Array, k: int, begin: float) -> Recurrence:
    """Return a return with its time found between the looks around it."""
    from scipy.optimize import minimize_scalar

    low, high = float(fine[max(k - 1, 0)]), float(fine[min(k + 1, len(fine) - 1)])

    def at(t: float) -> float:
        return float(distance(states_at(motion.pieces, np.array([t])), anchor)[0])  # type: ignore[operator]

    found = minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-10 * (high - low)})
    return Recurrence(abs(float(found.x) - begin), float(found.fun))
