"""Stiff motion: the L-stable method of Radau in a compiled loop, with switching surfaces located.

Strong friction pulls a velocity onto a constraint at the rate rho/m: an explicit method must follow with steps of
m/rho for ever, an L-stable one forgets the transient once it has faded. Forces of one-sided laws have kinks where a
comparison changes; the kernels hold their comparisons (see `zwang._kernels.flow`), so each step sees a smooth
force, and a step that ends, or has a stage, on the wrong side of a surface is taken again up to the crossing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.linear.dense import lu, lu_solve
from zwang._numerics.motion.radau import (
    ERROR,
    GAMMA,
    INVERSE,
    MATRIX,
    NODES,
    WEIGHTS,
    dense,
    filter_matrix,
    filtered,
    stage_matrix,
)
from zwang._numerics.motion.reference import Compared
from zwang._numerics.motion.run_state import (
    AGAIN,
    CELL,
    DONE,
    EVALUATIONS,
    IRREGULAR,
    LARGEST_Q,
    LARGEST_V,
    LEAST,
    LOCATING,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    STEP,
    STEPS,
    TIME,
    TOO_SMALL,
    Flow,
    RunState,
    arrive,
    ask,
    cross,
    desk,
    note,
    put,
)

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
NONE, REPEAT = -1, -2
ITERATIONS = 10  # of the simplified Newton method
LOCATED = 60
"""Steps that are repeated to end on a switching surface."""
SMALL = 1e-6
"""A correction below this share of the tolerance ends Newton's method."""


class Trial(NamedTuple):
    """A step on trial: its stages less the start (3, 2 n), forces at them, what errors are compared with, room."""

    z: Any
    stages: Any
    scale: Any
    derivatives: Any
    matrix: Any
    small: Any
    order: Any
    right: Any
    x: Any


@njit(_nrt=False)
def _solve_stages(rhs, jacobian, flow, run, room, trial, t, h):  # type: ignore[no-untyped-def]
    """Solve for the stages of one step; return whether it converged."""
    n, y, counts, q, v = flow.n, run.y, run.counts, room.q, room.v
    z, stages, scale = trial.z, trial.stages, trial.scale
    derivatives, matrix, order, right = trial.derivatives, trial.matrix, trial.order, trial.right
    for i in range(3):
        for k in range(2 * n):
            z[i, k] = 0.0
    before = np.inf
    for _ in range(ITERATIONS):
        for i in range(3):
            for k in range(n):
                z[i, k] = h * NODES[i] * y[n + k]
                for j in range(3):
                    z[i, k] += h * MATRIX[i, j] * z[j, n + k]
                q[k], v[k] = y[k] + z[i, k], y[n + k] + z[i, n + k]
            if not ask(rhs, flow, room, t + NODES[i] * h, stages[i]):
                return False
            if before > 1e-3 and not ask(jacobian, flow, room, t + NODES[i] * h, derivatives[i]):
                return False
        counts[EVALUATIONS] += 3
        if before <= SMALL:
            return True
        for i in range(3):
            for k in range(n):
                right[i * n + k] = stages[i, k]
                for j in range(3):
                    right[i * n + k] -= INVERSE[i, j] / h * z[j, n + k]
        if before > 1e-3:
            stage_matrix(n, h, derivatives, matrix)
            if not lu(matrix, order, 3 * n, 0.0):
                return False
        lu_solve(matrix, order, right, 3 * n)
        size = 0.0
        for i in range(3):
            for k in range(n):
                z[i, n + k] += right[i * n + k]
                size += (right[i * n + k] / scale[n + k]) ** 2
        size = math.sqrt(size / (3 * n))
        if not math.isfinite(size) or (size > 0.5 * before and size > 0.1):
            return False
        before = 0.0 if size >= 0.5 * before else size  # it has come down to rounding: no further
    return before < 0.1


@njit(_nrt=False)
def _error(n, h, room, y, trial):  # type: ignore[no-untyped-def]
    """Return the error of the step over the tolerance, filtered by (s - J)^-1 so that stiff parts don't count."""
    d, start, z, derivatives = 2 * n, room.start, trial.z, room.derivatives
    right, x, matrix, order, scale = trial.right, trial.x, trial.small, trial.order, trial.scale
    filter_matrix(n, GAMMA / h, derivatives, matrix)
    if not lu(matrix, order, n, 0.0):
        return np.nan
    for k in range(d):
        slope = y[n + k] if k < n else start[k - n]
        right[k] = slope + (ERROR[0] * z[0, k] + ERROR[1] * z[1, k] + ERROR[2] * z[2, k]) / h
    filtered(n, GAMMA / h, derivatives, matrix, order, right, x)
    total = 0.0
    for k in range(d):
        total += (x[k] / scale[k]) ** 2
    return math.sqrt(total / d)


@njit(_nrt=False)
def _wrong(value, side, tolerance):  # type: ignore[no-untyped-def]
    """Say whether a surface's value contradicts the side that is held (1: below zero)."""
    return value > tolerance if side != 0 else value < -tolerance


@njit(_nrt=False)
def _crossing(surfaces, flow, run, room, z, t, h):  # type: ignore[no-untyped-def]
    """Return (number of the surface crossed first, share of the step), or (-1, 1)."""
    n, switches, y, sides, sizes = flow.n, flow.switches, run.y, flow.sides, run.sizes
    q, v, values = room.q, room.v, room.values
    found, at, last = -1, 1.0, 0.0
    for i in range(3):
        for k in range(n):
            q[k], v[k] = y[k] + z[i, k], y[n + k] + z[i, n + k]
        ask(surfaces, flow, room, t + NODES[i] * h, values)
        for k in range(switches):
            sizes[k] = max(sizes[k], abs(values[k]))
            if _wrong(values[k], sides[k], 64 * EPS * sizes[k]):
                found = k
        if found >= 0:
            at = NODES[i]
            break
        last = NODES[i]
    if found < 0:
        return -1, 1.0
    low, high = last, at
    for _ in range(50):
        middle = 0.5 * (low + high)
        for k in range(n):
            q[k], v[k] = y[k] + dense(middle, z, k), y[n + k] + dense(middle, z, n + k)
        ask(surfaces, flow, room, t + middle * h, values)
        first = -1
        for k in range(switches):
            if _wrong(values[k], sides[k], 0.0 if k == found else 64 * EPS * sizes[k]):
                first = k
        if first >= 0:
            found, high = first, middle
        else:
            low = middle
        if high - low < 1e-9:
            break
    return found, high


@njit(_nrt=False)
def _begin(rhs, jacobian, flow, run, compared, room, resumed):  # type: ignore[no-untyped-def]
    """Ask for forces and their derivatives at the start of a step, unless they are known; False where irregular."""
    counts, t = run.counts, run.clock[TIME]
    if not resumed and counts[AGAIN] != 0:
        return True
    put(flow.n, run.y, room)
    if not ask(rhs, flow, room, t, room.start) or not ask(jacobian, flow, room, t, room.derivatives):
        return False
    counts[EVALUATIONS] += 0 if counts[AGAIN] else 2
    note(flow, run, compared, room, t)
    return True


@njit(_nrt=False)
def _set_scale(rhs, flow, run, room, trial, t, h, tol):  # type: ignore[no-untyped-def]
    """Set what errors are compared with: the tolerance of the largest positions and velocities so far."""
    n, clock, y = flow.n, run.clock, run.y
    for k in range(n):
        clock[LARGEST_Q] = max(clock[LARGEST_Q], abs(y[k]))
        clock[LARGEST_V] = max(clock[LARGEST_V], abs(y[n + k]))
    push = 0.0
    for k in range(n):
        push = max(push, abs(room.start[k]))
    if clock[LARGEST_V] == 0.0 and push == 0.0:
        put(n, y, room)
        if ask(rhs, flow, room, t + h, trial.stages[0]):
            for k in range(n):  # at rest without a force: what the forces will be says what is small
                push = max(push, abs(trial.stages[0, k]))
    for k in range(n):
        trial.scale[n + k] = tol * (clock[LARGEST_V] + h * push) + 1e-300
        trial.scale[k] = tol * (clock[LARGEST_Q] + h * clock[LARGEST_V] + h * h * push) + 1e-300


@njit(_nrt=False)
def _judge(clock, counts, h, good, error, factor):  # type: ignore[no-untyped-def]
    """Return DONE for a step that may be taken, PAUSED where a shorter one is to be tried, else how the run ends."""
    if good and not error > 1.0:
        return DONE
    counts[REJECTED] += 1
    clock[STEP], counts[LOCATING] = h * min(factor, 0.8) if good else h / 4, 0
    if clock[STEP] < clock[LEAST]:
        return TOO_SMALL if good else NOT_FINITE
    return PAUSED


@njit(_nrt=False)
def _locate(surfaces, flow, run, room, z, h):  # type: ignore[no-untyped-def]
    """Return the surface that a step ends beyond, NONE, or REPEAT where it is to be taken again up to the crossing."""
    clock, counts = run.clock, run.counts
    t = clock[TIME]
    crossed, share = _crossing(surfaces, flow, run, room, z, t, h)
    # The polynomial is less exact than the step's end: steps up to the crossing are repeated until they end on it, and
    # the last one is taken although it ends a little beyond.
    if crossed >= 0 and counts[LOCATING] < LOCATED and h * (1.0 - share) > 1e-13 * max(abs(t), h):
        counts[REJECTED] += 1
        clock[STEP] = max(h * share, clock[LEAST])
        counts[LOCATING] += 1
        return REPEAT
    return crossed


@njit(_nrt=False)
def _take(n, h, y, z, stages):  # type: ignore[no-untyped-def]
    """Add one step to the state and to the integrals."""
    for k in range(2 * n):
        y[k] += z[2, k]
    for k in range(n, y.size - n):
        y[n + k] += h * (WEIGHTS[0] * stages[0, k] + WEIGHTS[1] * stages[1, k] + WEIGHTS[2] * stages[2, k])


@njit(f"int64({EVAL_TYPE}, {EVAL_TYPE}, {EVAL_TYPE}, Flow, RunState, Compared, float64, int64)")
def radau(
    rhs: Any, jacobian: Any, surfaces: Any, flow: Flow, run: RunState, compared: Compared, tol: float, max_steps: int
) -> int:
    """Advance to the last edge, or pause after trying `max_steps` steps; what it returns is a status.

    See `oscillate`. A pause may fall before a step that is tried again: then what is known at its start is asked once
    more, and not counted.
    """
    n, clock, counts, edges = flow.n, run.clock, run.counts, run.edges
    room, size = desk(flow, run, compared), run.y.size - flow.n
    trial = Trial(
        np.zeros((3, 2 * n)), np.empty((3, size)), np.empty(2 * n), np.empty((3, 2 * n * n)), np.empty((3 * n, 3 * n)),
        np.empty((n, n)), np.empty(3 * n, np.int64), np.empty(3 * n), np.empty(2 * n),
    )  # fmt: skip
    resumed = True
    for _ in range(max_steps):
        if counts[CELL] >= edges.size - 1:
            return DONE
        t = clock[TIME]
        if not _begin(rhs, jacobian, flow, run, compared, room, resumed):
            return IRREGULAR
        resumed = False
        left = edges[counts[CELL] + 1] - t
        h = min(clock[STEP], left)
        pieces = math.ceil(left / h * (1.0 - 1e-12))
        if counts[LOCATING] == 0 and pieces <= 2:
            h = left / max(pieces, 1)
        last = h >= left * (1.0 - 1e-14)
        _set_scale(rhs, flow, run, room, trial, t, h, tol)
        good = _solve_stages(rhs, jacobian, flow, run, room, trial, t, h)
        counts[AGAIN] = 1
        error = _error(n, h, room, run.y, trial) if good else 0.0
        factor = 8.0 if error < 1e-4 else min(8.0, max(0.2, 0.9 * error**-0.25))
        status: int = _judge(clock, counts, h, good, error, factor)
        if status == PAUSED:
            continue
        if status != DONE:
            return status
        crossed = _locate(surfaces, flow, run, room, trial.z, h) if flow.switches > 0 else NONE
        if crossed == REPEAT:
            continue
        _take(n, h, run.y, trial.z, trial.stages)
        counts[STEPS] += 1
        counts[AGAIN] = 0
        if counts[LOCATING] == 0:
            clock[STEP] = max(clock[STEP], h * factor) if factor > 1.0 else h * factor
        clock[TIME] = t + h
        if crossed >= 0:
            cross(flow, run, crossed, t + h)
            # Beyond the kink the motion may be of another scale.
            clock[STEP] = max(h, 1e-3 * (edges[edges.size - 1] - edges[0]) / edges.size)
        counts[LOCATING] = 0
        if last:
            arrive(rhs, flow, run, compared, room)
    return PAUSED
