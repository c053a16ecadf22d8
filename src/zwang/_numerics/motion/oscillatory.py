"""Fast oscillation: an explicit method of order 8 whose step is a share of the fastest period, in a compiled loop.

A stiff spring N makes oscillations of frequency w ~ sqrt(N) and of amplitude as small as 1/N about a slow motion. An
error estimate relative to the state can't see them once they are near the rounding of the state, and they may live
for millions of periods, so the step is bounded by their phase: h <= phase/w, with w^2 the spectral radius of -da/dq,
asked anew in every cell of time. Which share of a period is enough follows from the method's stability function alone:
at phase 0.7 the amplitude falls by 5.9e-9 in a period, at 0.5 by 2.8e-10. The error estimate of the pair 8(5,3)
bounds the step too: slow forces and kinks of one-sided springs are its business.

The Runge-Kutta formulas of Dormand and Prince (Hairer, Norsett, Wanner, Solving ODEs I, section II.10) are applied to
q'' = a(t, q, v), in which the stages of q need the accelerations alone: q_i = q + c_i h v + h^2 sum (A A)_ij a_j. Sums
are compensated (Kahan): a million additions of h v to q would cost three digits otherwise. What rounding is left comes
from the force itself: N times the rounding of the constraint's expression, eps N |q|, which is the floor that the error
estimate is not asked to go below.

One-sided springs have kinks, and a contact may be shorter than a step of the flight before it. Kernels hold their
comparisons (see `zwang._kernels.flow`); where a stage or the end of a step contradicts one, the step is taken
again, shorter, until it ends on the switching surface; then the comparison is turned over.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.motion.reference import Compared
from zwang._numerics.motion.run_state import (
    CELL,
    DONE,
    GAP_LONG,
    GAP_SHORT,
    IRREGULAR,
    LEAST,
    LONG,
    NOT_FINITE,
    OFFSET,
    PAUSED,
    RATE,
    REJECTED,
    SHORT,
    STEP,
    STEPS,
    TIME,
    TOO_SMALL,
    WHICH,
    Flow,
    RunState,
    arrive,
    ask,
    cross,
    desk,
    note,
    put,
)
from zwang._numerics.motion.unrolled import FIFTH_Q, FIFTH_V, NODES, STEP_Q, STEP_V, THIRD_Q, THIRD_V, stages

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
NONE, REPEAT = -1, -2


class FastSheet(NamedTuple):
    """Room for the stages of a step: forces at them, weighted sums, states; its end on trial."""

    out: Any
    trial: Any
    lost: Any
    sums: Any
    totals: Any
    pushes: Any
    path: Any


@njit(_nrt=False)
def spectral_rate(n, values, vector, other):  # type: ignore[no-untyped-def]
    """Return the fastest rate [rad/s] of da/dq, da/dv at a state: the root of one radius plus the other, from above."""
    total = 0.0
    for part in range(2):
        radius = 0.0
        for i in range(n):
            vector[i] = 1.0 + 0.37 * i
        for _ in range(24):
            before, after = 0.0, 0.0
            for i in range(n):
                other[i] = 0.0
                for j in range(n):
                    other[i] += values[part * n * n + i * n + j] * vector[j]
                before += vector[i] ** 2
                after += other[i] ** 2
            if after == 0.0 or not math.isfinite(after):
                break
            radius = math.sqrt(after / before)
            scale = 1.0 / math.sqrt(after)
            for i in range(n):
                vector[i] = other[i] * scale
        total += math.sqrt(radius) if part == 0 else radius
    return total


@njit(_nrt=False)
def wrong_side(values, sides, sizes, switches):  # type: ignore[no-untyped-def]
    """Return the number of the first surface whose value contradicts the side that is held (1: below zero), or -1."""
    for k in range(switches):
        sizes[k] = max(sizes[k], abs(values[k]))
        band = 64.0 * EPS * sizes[k]
        if (sides[k] != 0 and values[k] > band) or (sides[k] == 0 and values[k] < -band):
            return k
    return -1


@njit(_nrt=False)
def _first_wrong(surfaces, flow, run, room, sheet, t, h):  # type: ignore[no-untyped-def]
    """Return the share of the step at which a stage first contradicts a comparison that is held; 2: none does."""
    first, n = 2.0, flow.n
    for i in range(1, NODES.size):
        if NODES[i] < first:
            for k in range(n):
                room.q[k], room.v[k] = sheet.path[i, k], sheet.path[i, n + k]
            ask(surfaces, flow, room, t + NODES[i] * h, room.values)
            if wrong_side(room.values, flow.sides, run.sizes, flow.switches) >= 0:
                first = NODES[i]
    return first


@njit(_nrt=False)
def _error(n, h, y, out, sums, tol, rate):  # type: ignore[no-untyped-def]
    """Return the error of the step over the tolerance, by the pair of estimates of orders 5 and 3."""
    largest_q, largest_v = 0.0, 0.0
    for k in range(n):
        largest_q = max(largest_q, abs(y[k]))
        largest_v = max(largest_v, abs(y[n + k]) + h * abs(out[k]))
    # Rounding of q times the square of the rate is what the force is uncertain by.
    floor = 8.0 * EPS * largest_q + 1e-300  # more than zero where nothing moves
    size_q = tol * (largest_q + h * largest_v) + floor
    size_v = tol * largest_v + floor * (rate * rate * h + 1.0)
    fifth, third = 0.0, 0.0
    for k in range(n):
        fifth += (h * sums[k, FIFTH_V] / size_v) ** 2 + (h * h * sums[k, FIFTH_Q] / size_q) ** 2
        third += (h * sums[k, THIRD_V] / size_v) ** 2 + (h * h * sums[k, THIRD_Q] / size_q) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return fifth / math.sqrt((fifth + 0.01 * third) * 2 * n)


@njit(_nrt=False)
def _add(y, carry, k, change):  # type: ignore[no-untyped-def]
    """Add to one number of the state, keeping what its rounding drops."""
    change += carry[k]
    total = y[k] + change
    carry[k] = change - (total - y[k])
    y[k] = total


@njit(_nrt=False)
def _take(n, h, y, carry, sums, totals):  # type: ignore[no-untyped-def]
    """Add one step to the state and to the integrals."""
    for k in range(n):
        _add(y, carry, k, h * (y[n + k] + carry[n + k] + h * sums[k, STEP_Q]))
        _add(y, carry, n + k, h * sums[k, STEP_V])
    for k in range(totals.size):
        _add(y, carry, 2 * n + k, h * totals[k])


@njit(_nrt=False)
def _between(clock, halve):  # type: ignore[no-untyped-def]
    """Return the next length to try of a step that is to end on a switching surface: by secant and halving in turn."""
    share = 0.5
    if not halve and clock[GAP_SHORT] * clock[GAP_LONG] < 0.0:
        share = clock[GAP_SHORT] / (clock[GAP_SHORT] - clock[GAP_LONG])
        # A little beyond the secant's zero, so that the crossing is shut in from both sides.
        share = min(max(share * 1.001, 1e-6), 1.0 - 1e-6)
    return clock[SHORT] + (clock[LONG] - clock[SHORT]) * share


@njit(_nrt=False)
def _begin(rhs, jacobian, flow, run, compared, room, sheet):  # type: ignore[no-untyped-def]
    """Ask for forces, and for the fastest rate in a new cell, at the start of a step; return DONE if they are sound."""
    clock, t = run.clock, run.clock[TIME]
    put(flow.n, run.y, room)
    if clock[OFFSET] == 0.0 or clock[RATE] < 0.0:
        if not ask(jacobian, flow, room, t, room.derivatives):
            return IRREGULAR
        clock[RATE] = spectral_rate(flow.n, room.derivatives, sheet.trial, sheet.lost)
    if not ask(rhs, flow, room, t, room.start):
        return IRREGULAR
    note(flow, run, compared, room, t)
    return DONE


@njit(_nrt=False)
def _judge(clock, counts, h, sound, error, factor):  # type: ignore[no-untyped-def]
    """Return DONE for a step that may be taken, PAUSED where a shorter one is to be tried, else how the run ends."""
    if not (sound and math.isfinite(error)):
        clock[STEP], clock[LONG] = h / 4, 0.0
        if clock[STEP] < clock[LEAST]:
            return NOT_FINITE if sound else IRREGULAR
        return PAUSED
    if error > 1.0:
        counts[REJECTED] += 1
        clock[STEP], clock[LONG] = h * min(factor, 0.7), 0.0
        return TOO_SMALL if clock[STEP] < clock[LEAST] else PAUSED
    return DONE


@njit(_nrt=False)
def _locate(surfaces, flow, run, room, sheet, h, first):  # type: ignore[no-untyped-def]
    """Return the surface that a step ends on, NONE, or REPEAT where a step of another length is to be tried."""
    n, clock, counts, values = flow.n, run.clock, run.counts, room.values
    t = clock[TIME]
    for k in range(run.y.size):
        sheet.trial[k], sheet.lost[k] = run.y[k], run.carry[k]
    _take(n, h, sheet.trial, sheet.lost, sheet.sums, sheet.totals)
    put(n, sheet.trial, room)
    ask(surfaces, flow, room, t + h, values)
    crossed = wrong_side(values, flow.sides, run.sizes, flow.switches)
    if crossed < 0 and clock[LONG] == 0.0 and first <= 1.0 and first * h > clock[LEAST]:
        counts[REJECTED] += 1  # in and out again within the step
        clock[STEP] = first * h
        return REPEAT
    if crossed >= 0 and clock[LONG] == 0.0:
        clock[GAP_LONG], counts[WHICH] = values[crossed], crossed
        put(n, run.y, room)
        ask(surfaces, flow, room, t, values)
        clock[SHORT], clock[GAP_SHORT], clock[LONG] = 0.0, values[crossed], h
    elif crossed >= 0:
        if crossed != counts[WHICH]:
            clock[GAP_SHORT], counts[WHICH] = 0.0, crossed
        clock[LONG], clock[GAP_LONG] = h, values[crossed]
    elif clock[LONG] > 0.0:
        clock[SHORT], clock[GAP_SHORT] = h, values[counts[WHICH]]
    if clock[LONG] > 0.0:
        size, close = run.sizes[counts[WHICH]], clock[LONG] - clock[SHORT] <= 4.0 * EPS * abs(t) + clock[LEAST]
        if close or (crossed >= 0 and abs(clock[GAP_LONG]) <= 256.0 * EPS * size):
            return counts[WHICH]
        counts[REJECTED] += 1
        clock[STEP] = _between(clock, counts[REJECTED] & 1)
        return REPEAT
    return crossed


@njit
def _sheet(flow, run):  # type: ignore[no-untyped-def]
    n, size = flow.n, run.y.size
    return FastSheet(
        np.empty(size - n), np.empty(size), np.empty(size), np.empty((n, 6)), np.empty(size - 2 * n),
        np.empty((12, n)), np.empty((12, 2 * n)),
    )  # fmt: skip


@njit(f"int64({EVAL_TYPE}, {EVAL_TYPE}, {EVAL_TYPE}, Flow, RunState, Compared, float64, float64, int64)")
def oscillate(
    rhs: Any,
    jacobian: Any,
    surfaces: Any,
    flow: Flow,
    run: RunState,
    compared: Compared,
    phase: float,
    tol: float,
    max_steps: int,
) -> int:
    """Advance to the last edge, or pause after trying `max_steps` steps; what it returns is a status.

    The first n measures are the force that is compared with the reference's.
    """
    n, clock, counts, edges = flow.n, run.clock, run.counts, run.edges
    room, sheet = desk(flow, run, compared), _sheet(flow, run)
    for _ in range(max_steps):
        cell = counts[CELL]
        if cell >= edges.size - 1:
            return DONE
        status: int = _begin(rhs, jacobian, flow, run, compared, room, sheet)
        if status != DONE:
            return status
        # Time runs from the edge of the cell: adding h to a large t over and over is rounded the same way each time,
        # and a million steps would be off by 1e-10.
        left = (edges[cell + 1] - edges[cell]) - clock[OFFSET]
        bound = phase / clock[RATE] if clock[RATE] > 0.0 else np.inf
        h = min(clock[STEP], bound)
        pieces = math.ceil(left / h * (1.0 - 1e-12))
        h = left / max(pieces, 1)
        if clock[LONG] > 0.0:  # a crossing is being located
            h, pieces = min(clock[STEP], left), 2
        sound = stages(rhs, flow, run, room, sheet, clock[TIME], h)
        first = _first_wrong(surfaces, flow, run, room, sheet, clock[TIME], h) if flow.switches > 0 else 2.0
        # Where the phase bounds the step far below what the error allows, every eighth estimate is enough.
        idle = clock[STEP] > 2.5 * bound and counts[STEPS] & 7 != 0 and math.isfinite(sheet.out[0])
        error = 0.0 if idle else _error(n, h, run.y, sheet.out, sheet.sums, tol, clock[RATE])
        factor = 3.0 if error < 1e-4 else min(3.0, max(0.2, 0.9 * error**-0.125))
        status = _judge(clock, counts, h, sound, error, factor)
        if status == PAUSED:
            continue
        if status != DONE:
            return status
        crossed = _locate(surfaces, flow, run, room, sheet, h, first) if flow.switches > 0 else NONE
        if crossed == REPEAT:
            continue
        _take(n, h, run.y, run.carry, sheet.sums, sheet.totals)
        counts[STEPS] += 1
        clock[OFFSET] += h
        clock[TIME] = edges[cell] + clock[OFFSET]
        if crossed >= 0:
            cross(flow, run, crossed, clock[TIME])
            clock[RATE], clock[LONG] = -1.0, 0.0
            # Beyond the kink the motion may be of another scale; the phase bounds the step there.
            clock[STEP] = edges[cell + 1] - edges[cell]
        else:
            # A step cut short by the phase or by an edge tells nothing against the longer one.
            clock[STEP] = max(clock[STEP], h * factor) if factor > 1.0 else h * factor
        if pieces <= 1 or h >= left:
            clock[OFFSET] = 0.0
            arrive(rhs, flow, run, compared, room)
    return PAUSED
