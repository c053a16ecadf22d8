"""What the loops for fast and for stiff motion share: numbers that survive a pause, and what is noted at edges of time.

Everything that the next step depends on stands in a `RunState`, so that a pause changes nothing. Functions that make no
arrays don't count references to them (`_nrt=False`), which would take half as long as the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.reference import Compared, compare, piece_at, widen

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]

DONE, PAUSED, TOO_SMALL, IRREGULAR, NOT_FINITE = range(5)
# Places in `clock` and `counts`.
TIME, STEP, RATE, LEAST, OFFSET, SHORT, LONG, GAP_SHORT, GAP_LONG = range(9)
LARGEST_Q, LARGEST_V = 4, 5
CELL, PIECE, STEPS, REJECTED, EVALUATIONS, CROSSINGS, WHICH, AGAIN, LOCATING = range(9)


class Flow(NamedTuple):
    """What the kernels of a problem take: n coordinates, the number of surfaces, arrays of the model's ABI."""

    n: int
    switches: int
    params: Floats
    sides: Ints
    workspace: Floats


class RunState(NamedTuple):
    """A run.

    Attributes
    ----------
    y, carry : arrays
        q, v and the integrals of the measures; what their rounding dropped.
    clock, counts : (9,) arrays
    edges, record : (k + 1,), (k + 1, size) arrays
        Edges of cells of time, and y there.
    low, high : (k, ranged) arrays
        Ranges of the measures after the first n, in every cell.
    sizes : (switches,) array
        The largest value of each surface so far.
    crossings : (c, 2) array
        Times and numbers of the surfaces crossed.
    """

    y: Floats
    carry: Floats
    clock: Floats
    counts: Ints
    edges: Floats
    record: Matrix
    low: Matrix
    high: Matrix
    sizes: Floats
    crossings: Matrix


class Desk(NamedTuple):
    """Room for one state and what is asked at it."""

    q: Floats
    v: Floats
    start: Floats
    derivatives: Floats
    values: Floats
    ideal: Floats


@njit
def desk(flow: Flow, run: RunState, compared: Compared) -> Desk:
    """Return room for the loops."""
    n = flow.n
    return Desk(
        np.empty(n), np.empty(n), np.empty(run.y.size - n), np.empty(2 * n * n), np.zeros(max(flow.switches, 1)),
        np.empty(compared.coefficients.shape[1]),
    )  # fmt: skip


@njit(_nrt=False)
def put(n: int, y: Any, room: Desk) -> None:
    """Copy positions and velocities."""
    for k in range(n):
        room.q[k], room.v[k] = y[k], y[n + k]


@njit(_nrt=False, forceinline=True)
def ask(function: Any, flow: Flow, room: Desk, t: float, out: Any) -> bool:
    """Evaluate a kernel at the state on the desk; say whether it is sound."""
    return function(t, room.q, room.v, flow.params, flow.sides, flow.workspace, out) == 0  # type: ignore[no-any-return]


@njit(_nrt=False)
def note(flow: Flow, run: RunState, compared: Compared, room: Desk, t: float) -> None:
    """Widen the ranges of the cell, and compare with the reference, at a state whose measures are on the desk."""
    counts = run.counts
    widen(flow.n, room.start, counts[CELL], run.low, run.high)
    if compared.coefficients.shape[0] > 0:
        counts[PIECE] = piece_at(t, compared.breaks, counts[PIECE])
        compare(t, flow.n, run.y, room.start, counts[PIECE], compared, room.ideal)


@njit(_nrt=False)
def cross(flow: Flow, run: RunState, crossed: int, t: float) -> None:
    """Turn the comparison of a surface over, and keep when it was."""
    counts = run.counts
    flow.sides[crossed] = 1 - flow.sides[crossed]
    if counts[CROSSINGS] < run.crossings.shape[0]:
        run.crossings[counts[CROSSINGS], 0], run.crossings[counts[CROSSINGS], 1] = t, crossed
        counts[CROSSINGS] += 1


@njit(_nrt=False)
def arrive(rhs: Any, flow: Flow, run: RunState, compared: Compared, room: Desk) -> None:
    """Keep the state at the edge of a cell; at the last one, compare once more."""
    counts, clock = run.counts, run.clock
    counts[CELL] += 1
    cell = counts[CELL]
    clock[TIME] = run.edges[cell]
    for k in range(run.y.size):
        run.record[cell, k] = run.y[k]
    if compared.coefficients.shape[0] > 0 and cell + 1 == run.edges.size:
        put(flow.n, run.y, room)
        ask(rhs, flow, room, clock[TIME], room.start)
        place = piece_at(clock[TIME], compared.breaks, counts[PIECE])
        compare(clock[TIME], flow.n, run.y, room.start, place, compared, room.ideal)
