"""Stretch after stretch in one mode, with the impacts between them that need no thought: see `lone_impact`.

The first event that is none of these ends the loop, with the watches that fired, for those who look closely. For
arguments see `calls` and `loop`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.bands import GAP, DenseTerms, WatchRows, WaySizes, nudged, widen
from zwang._numerics.motion.calls import BLOCK, ModelCode, S, Z
from zwang._numerics.motion.events import Watched
from zwang._numerics.motion.lone_impact import Flown, Known, LoneContacts, Scratch, TermPlaces, strike
from zwang._numerics.motion.loop import Stored, run
from zwang._numerics.motion.run_layout import (
    ATTEMPTS,
    BEGUN,
    FIRED,
    POSITIONS,
    REJECTED,
    ROWS,
    STEP,
    STEPS,
    TRIED,
    UNTIL,
    WATCHES,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]


class BounceCode(NamedTuple):
    """Addresses of a mode's functions, as in `Addresses`, of all its watches, and of the terms of the equations."""

    motion: int
    shift: int
    land: int
    watch: int
    whole: int
    terms: int


class Struck(NamedTuple):
    """The impacts found: row before which each is, its watch, impulses of the contact and the held rows, and more."""

    rows: Ints
    watch: Ints
    impulses: Matrix
    more: Matrix


class BounceTables(NamedTuple):
    """The fields of `WatchRows`, `LoneContacts`, `TermPlaces`, `WaySizes` and `Flown`, and a tolerance."""

    kinds: Ints
    first: Ints
    components: Ints
    factors: Floats
    held: Ints
    level: Ints
    restitution: Floats
    slip: Ints
    bound: Ints
    mass: IntMatrix
    rows: IntMatrix
    slip_rows: IntMatrix
    starts: Ints
    table: Ints
    work: Floats
    size: Ints
    largest: Matrix
    moves: Floats
    usual: Matrix
    gap: Floats
    rate: Floats
    slip_least: Floats
    times: Matrix
    last: Floats
    tol: float


@njit
def remember(flown: Flown, lead: int, t: float) -> None:
    """Note an impact."""
    times = flown.times[lead]
    for k in range(3):
        times[k] = times[k + 1]
    times[3] = flown.last[0] = t


@njit
def grow(sizes: WaySizes, stored: Stored, start: int, end: int) -> None:
    """Take rows into the largest sizes so far."""
    n = sizes.largest.shape[1]
    for k in range(start, end + 1):
        for i in range(n):
            sizes.largest[0, i] = max(sizes.largest[0, i], abs(stored.states[k, i]))
            sizes.largest[1, i] = max(sizes.largest[1, i], abs(stored.states[k, n + i]))
            sizes.largest[2, i] = max(sizes.largest[2, i], abs(stored.accelerations[k, i]))


@njit
def only_fired(watched: Watched) -> int:
    """Return the only watch that fired, -1 where there are several."""
    found = -1
    for k in range(watched.fired.size):
        if watched.fired[k] != 0:
            if found >= 0:
                return -1
            found = k
    return found


@njit
def known_of(tables: BounceTables, n: int) -> Known:
    """Return the tables by what they are of."""
    g, most = tables, tables.held.size + 2
    return Known(
        WatchRows(g.kinds, g.first, g.components, g.factors),
        LoneContacts(g.held, g.level, g.restitution, g.slip, g.bound),
        TermPlaces(g.mass, g.rows, g.slip_rows, g.starts, g.table, g.work, g.size),
        DenseTerms(np.zeros((n, n)), np.zeros(n), np.zeros((g.size[1], n)), np.zeros((g.size[2], n))),
        WaySizes(g.largest, g.moves, g.usual, g.gap, g.rate, g.slip_least),
        Flown(g.times, g.last),
        Scratch(np.zeros(g.size[0] + 1), np.zeros((n, n)), np.zeros((most, n)), np.zeros((most, most)),
                np.zeros(most), np.zeros(n)),
    )  # fmt: skip


@njit(
    "int64(BounceCode, int64[::1], float64[::1], float64[::1], float64[::1], Watched, int64[::1], float64[::1], "
    "Stored, BounceTables, Struck)"
)
def bounce(
    code: BounceCode, table: Ints, work: Floats, params: Floats, room: Floats, watched: Watched, counts: Ints,
    reals: Floats, stored: Stored, tables: BounceTables, struck: Struck,
) -> int:  # fmt: skip
    """Make steps and impacts until something else happens; return how that ended, as `run` does.

    `struck` says how many impacts there may be: at the next one the loop ends as FIRED. After an impact the state has a
    row of its own; `counts` has the rows at the end. WaySizes and flights in the tables are brought up to date.
    """
    n, m = stored.accelerations.shape[1], stored.states.shape[1]
    m = (m + BLOCK - 1) // BLOCK * BLOCK
    q, v = room[Z * m : Z * m + n], room[Z * m + n : Z * m + 2 * n]
    out = np.empty(max(counts[WATCHES], m + counts[ROWS] + counts[POSITIONS]) + 1)
    model = ModelCode(code.motion, code.shift, code.land, code.watch, n, table, work, params, q, v, out)
    known = known_of(tables, n)
    attempts, tried, rejected, base, hits = counts[ATTEMPTS], 0, 0, 0, 0
    while True:
        counts[ATTEMPTS] = attempts - tried
        part = Stored(stored.times[base:], stored.states[base:], stored.accelerations[base:],
                      stored.coefficients[base:])  # fmt: skip
        ended = run(model, room, watched, counts, reals, part)
        tried += counts[TRIED]
        rejected += counts[REJECTED]
        grow(known.sizes, stored, base, base + counts[STEPS])
        base += counts[STEPS]
        lead = only_fired(watched)
        full = hits == struck.rows.size or tried >= attempts or base + 2 >= stored.times.size
        if ended != FIRED or full or lead < 0 or tables.kinds[lead] != GAP:
            break
        t, place, speed = stored.times[base], stored.states[base, :n].copy(), stored.states[base, n:].copy()
        left = reals[UNTIL] - t
        if not strike(code.terms, known, watched, params, t, place, speed, lead, left, tables.tol, struck.more[hits]):
            break
        remember(known.flown, lead, t)
        struck.rows[hits], struck.watch[hits] = base, lead
        struck.impulses[hits, 0] = known.scratch.impulses[tables.held.size]
        struck.impulses[hits, 1:] = known.scratch.impulses[: tables.held.size]
        hits += 1
        base += 1
        stored.times[base], stored.states[base, :n], stored.states[base, n:] = t, place, known.scratch.velocity
        watched.fired[lead], counts[BEGUN], reals[STEP] = 0, 0, 0.0
        after = known.scratch.velocity
        nudged(code.whole, table, work, params, t, place, after, tables.moves, tables.usual, watched.bands)
        widen(t, tables.tol, known.rows, known.terms, known.sizes, watched.bands)
        for i in range(n):  # errors of steps are relative to the largest sizes so far
            room[S * m + i] = max(room[S * m + i], tables.moves[i] * tables.largest[0, i])
            room[S * m + n + i] = max(room[S * m + n + i], tables.largest[1, i])
    counts[STEPS], counts[TRIED], counts[REJECTED] = base, tried, rejected
    return ended
