"""Stiff motion: the L-stable method of Radau in a compiled loop, with switching surfaces located.

Strong friction pulls a velocity onto a constraint at the rate rho/m: an explicit method must follow with steps of
m/rho for ever, an L-stable one forgets the transient once it has faded. Forces of one-sided laws have kinks where a
comparison changes; the kernels hold their comparisons (see `zwang._kernels.flow`), so each step sees a smooth
force, and a step that ends, or has a stage, on the wrong side of a surface is taken again up to the crossing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.linear.dense import lu, lu_solve
from zwang._numerics.motion.oscillatory import (
    AGAIN,
    CELL,
    CROSSINGS,
    DONE,
    EVALUATIONS,
    IRREGULAR,
    LEAST,
    LOCATING,
    NOT_FINITE,
    PAUSED,
    PIECE,
    REJECTED,
    STEP,
    STEPS,
    TIME,
    TOO_SMALL,
)
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
from zwang._numerics.motion.reference import compare, piece_at, widen

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
LARGEST_Q, LARGEST_V = 4, 5
ITERATIONS = 10
LOCATED = 60
"""Steps that are repeated to end on a switching surface."""
SMALL = 1e-6
"""A correction below this share of the tolerance ends Newton's method."""


@njit
def _solve_stages(rhs, jacobian, n, t, h, y, z, params, sides, workspace, q, v, stages, scale, counts):  # type: ignore[no-untyped-def]
    """Solve for the stages of one step; return whether it converged. z (3, 2 n) gets them, less the start."""
    derivatives, matrix = np.empty((3, 2 * n * n)), np.empty((3 * n, 3 * n))
    order, right = np.empty(3 * n, dtype=np.int64), np.empty(3 * n)
    z[:] = 0.0
    before = np.inf
    for _ in range(ITERATIONS):
        for i in range(3):
            for k in range(n):
                z[i, k] = h * NODES[i] * y[n + k]
                for j in range(3):
                    z[i, k] += h * MATRIX[i, j] * z[j, n + k]
                q[k], v[k] = y[k] + z[i, k], y[n + k] + z[i, n + k]
            if rhs(t + NODES[i] * h, q, v, params, sides, workspace, stages[i]) != 0:
                return False
            if before > 1e-3 and jacobian(t + NODES[i] * h, q, v, params, sides, workspace, derivatives[i]) != 0:
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


@njit
def _error(n, h, start, y, z, derivatives, scale):  # type: ignore[no-untyped-def]
    """Return the error of the step over the tolerance, filtered by (s - J)^-1 so that stiff parts don't count."""
    d = 2 * n
    right, x = np.empty(d), np.empty(d)
    matrix, order = np.empty((n, n)), np.empty(n, dtype=np.int64)
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


@njit
def _wrong(value, side, tolerance):  # type: ignore[no-untyped-def]
    """Say whether a surface's value contradicts the side that is held (1: below zero)."""
    return value > tolerance if side != 0 else value < -tolerance


@njit
def _crossing(surfaces, n, switches, t, h, y, z, params, sides, workspace, q, v, values, sizes):  # type: ignore[no-untyped-def]
    """Return (number of the surface crossed first, share of the step), or (-1, 1)."""
    found, at, last = -1, 1.0, 0.0
    for i in range(3):
        for k in range(n):
            q[k], v[k] = y[k] + z[i, k], y[n + k] + z[i, n + k]
        surfaces(t + NODES[i] * h, q, v, params, sides, workspace, values)
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
        surfaces(t + middle * h, q, v, params, sides, workspace, values)
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


_SIGNATURE = (
    f"int64({EVAL_TYPE}, {EVAL_TYPE}, {EVAL_TYPE}, int64, int64, float64[::1], int64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[::1], float64[::1], float64[:, :, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64, int64)"
)


@njit(_SIGNATURE)
def radau(  # type: ignore[no-untyped-def]
    rhs, jacobian, surfaces, n, switches, params, sides, workspace, y, carry, clock, counts, edges, record, low, high,
    sizes, breaks, coefficients, windows, sup, crossings, tol, max_steps,
):  # fmt: skip
    """Advance to the last edge, or pause after trying `max_steps` steps; what it returns is a status.

    See `oscillate`. A pause may fall before a step that is tried again: then what is known at its start is asked once
    more, and not counted.
    """
    d, width = 2 * n, y.size - n
    start, stages = np.empty(width), np.empty((3, width))
    q, v, derivatives, scale = np.empty(n), np.empty(n), np.empty(2 * n * n), np.empty(d)
    z = np.zeros((3, d))
    values = np.empty(max(switches, 1))
    ideal = np.empty(coefficients.shape[1])
    compared = coefficients.shape[0] > 0
    resumed = True
    for _ in range(max_steps):
        cell = counts[CELL]
        if cell >= edges.size - 1:
            return DONE
        t = clock[TIME]
        if resumed or counts[AGAIN] == 0:
            q[:], v[:] = y[:n], y[n:d]
            if rhs(t, q, v, params, sides, workspace, start) != 0:
                return IRREGULAR
            if jacobian(t, q, v, params, sides, workspace, derivatives) != 0:
                return IRREGULAR
            counts[EVALUATIONS] += 0 if counts[AGAIN] else 2
            resumed = False
            widen(n, start, cell, low, high)
            if compared:
                counts[PIECE] = piece_at(t, breaks, counts[PIECE])
                compare(t, n, y, start, counts[PIECE], breaks, coefficients, windows, ideal, sup)
        left = edges[cell + 1] - t
        h = min(clock[STEP], left)
        pieces = math.ceil(left / h * (1.0 - 1e-12))
        if counts[LOCATING] == 0 and pieces <= 2:
            h = left / max(pieces, 1)
        last = h >= left * (1.0 - 1e-14)
        for k in range(n):
            clock[LARGEST_Q] = max(clock[LARGEST_Q], abs(y[k]))
            clock[LARGEST_V] = max(clock[LARGEST_V], abs(y[n + k]))
        push = 0.0
        for k in range(n):
            push = max(push, abs(start[k]))
        if (
            clock[LARGEST_V] == 0.0
            and push == 0.0
            and rhs(t + h, y[:n], y[n:d], params, sides, workspace, stages[0]) == 0
        ):
            for k in range(n):  # at rest without a force: what the forces will be says what is small
                push = max(push, abs(stages[0, k]))
        for k in range(n):
            scale[n + k] = tol * (clock[LARGEST_V] + h * push) + 1e-300
            scale[k] = tol * (clock[LARGEST_Q] + h * clock[LARGEST_V] + h * h * push) + 1e-300
        good = _solve_stages(
            rhs, jacobian, n, t, h, y, z, params, sides, workspace, q, v, stages, scale, counts
        )  # fmt: skip
        counts[AGAIN] = 1
        if not good:
            counts[REJECTED] += 1
            clock[STEP], counts[LOCATING] = h / 4, 0
            if clock[STEP] < clock[LEAST]:
                return NOT_FINITE
            continue
        error = _error(n, h, start, y, z, derivatives, scale)
        factor_of_step = 8.0 if error < 1e-4 else min(8.0, max(0.2, 0.9 * error**-0.25))
        if error > 1.0:
            counts[REJECTED] += 1
            clock[STEP], counts[LOCATING] = h * min(factor_of_step, 0.8), 0
            if clock[STEP] < clock[LEAST]:
                return TOO_SMALL
            continue
        crossed = -1
        if switches > 0:
            crossed, share = _crossing(surfaces, n, switches, t, h, y, z, params, sides, workspace, q, v, values, sizes)
            # The polynomial is less exact than the step's end: steps up to the crossing are repeated until they end
            # on it, and the last one is taken although it ends a little beyond.
            if crossed >= 0 and counts[LOCATING] < LOCATED and h * (1.0 - share) > 1e-13 * max(abs(t), h):
                counts[REJECTED] += 1
                clock[STEP] = max(h * share, clock[LEAST])
                counts[LOCATING] += 1
                continue
        for k in range(d):
            y[k] += z[2, k]
        for k in range(n, width):
            y[n + k] += h * (WEIGHTS[0] * stages[0, k] + WEIGHTS[1] * stages[1, k] + WEIGHTS[2] * stages[2, k])
        counts[STEPS] += 1
        counts[AGAIN] = 0
        if counts[LOCATING] == 0:
            clock[STEP] = max(clock[STEP], h * factor_of_step) if factor_of_step > 1.0 else h * factor_of_step
        clock[TIME] = t + h
        if crossed >= 0:
            sides[crossed] = 1 - sides[crossed]
            if counts[CROSSINGS] < crossings.shape[0]:
                crossings[counts[CROSSINGS], 0], crossings[counts[CROSSINGS], 1] = t + h, crossed
                counts[CROSSINGS] += 1
            # Beyond the kink the motion may be of another scale.
            clock[STEP] = max(h, 1e-3 * (edges[edges.size - 1] - edges[0]) / edges.size)
        counts[LOCATING] = 0
        if last:
            counts[CELL] = cell + 1
            clock[TIME] = edges[cell + 1]
            record[cell + 1] = y
            if compared and cell + 2 == edges.size:
                q[:], v[:] = y[:n], y[n:d]
                rhs(clock[TIME], q, v, params, sides, workspace, start)
                place = piece_at(clock[TIME], breaks, counts[PIECE])
                compare(clock[TIME], n, y, start, place, breaks, coefficients, windows, ideal, sup)
    return PAUSED
