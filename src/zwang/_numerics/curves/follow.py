"""Following an arc chart by chart, from a point to where it ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.curves.charts import (
    ARRIVED,
    CLOSED,
    CUBE,
    DEGREE,
    FULL,
    LEFT,
    MATRIX,
    NODES,
    SMALLEST,
    STUCK,
    TOUCHED,
    VECTOR,
    on_plane,
    shifted_distance,
    tail,
    tangent_at,
)
from zwang._numerics.curves.rows import load
from zwang._numerics.jit import EVAL_TYPE, njit

EXACT = 4e-14
BLURRED = 1e-2
"""Least singular value of the rows below which points of the curve are known less well: to rounding over it."""


@njit
def _bound(x: Any, out: Any, limits: Any, sizes: Any) -> tuple[float, int]:
    """Return the least margin to the box (in x) and to one-sided constraints (values in `out`), and its number."""
    n, m, g = sizes[0], sizes[1], sizes[2]
    least, which = math.inf, -1
    for j in range(n):
        if x[j] - limits[0, j] < least:
            least, which = x[j] - limits[0, j], 2 * j
        if limits[1, j] - x[j] < least:
            least, which = limits[1, j] - x[j], 2 * j + 1
    for k in range(g):
        if out[m + k] < least:
            least, which = out[m + k], 2 * n + k
    return least, which


@njit
def _fill(
    evaluate: Any,
    t: float,
    x0: Any,
    t0: Any,
    h: float,
    rank: int,
    sizes: Any,
    scale: Any,
    mix: Any,
    params: Any,
    work: Any,
    limits: Any,
    nodes: Any,
    x: Any,
    q: Any,
    out: Any,
    W: Any,
    step: Any,
) -> tuple[bool, int]:
    """Write the nodes of a chart of width h, each predicted from those before.

    Return whether all were reached, and the first one that is beyond a bound, -1 for none.
    """
    n = sizes[0]
    stop = -1
    for j in range(n):
        nodes[0, j] = x0[j]
    for i in range(1, DEGREE + 1):
        gap = (NODES[i] - NODES[i - 1]) * h
        for j in range(n):
            slope = t0[j]
            if i > 1:
                slope = (nodes[i - 1, j] - nodes[i - 2, j]) / ((NODES[i - 1] - NODES[i - 2]) * h)
            x[j] = nodes[i - 1, j] + gap * slope
        u = NODES[i] * h
        if not on_plane(evaluate, t, x, x0, t0, u, rank, sizes, scale, mix, params, work, q, out, W, step):
            return False, -1
        for j in range(n):
            nodes[i, j] = x[j]
        if stop < 0:
            load(evaluate, t, x, sizes, scale, mix, params, work, q, out, W)
            if _bound(x, out, limits, sizes)[0] < 0.0:
                stop = i
    return True, stop


@njit
def _cut(
    evaluate: Any,
    t: float,
    x0: Any,
    t0: Any,
    h: float,
    stop: int,
    rank: int,
    sizes: Any,
    scale: Any,
    mix: Any,
    params: Any,
    work: Any,
    limits: Any,
    nodes: Any,
    x: Any,
    q: Any,
    out: Any,
    W: Any,
    step: Any,
) -> tuple[float, int]:
    """Return where on the chart a bound is met before the node `stop`, by bisection, and the number of the bound."""
    low, high = NODES[stop - 1] * h, NODES[stop] * h
    which = -1
    for _ in range(60):
        middle = 0.5 * (low + high)
        part = (middle - NODES[stop] * h) / ((NODES[stop] - NODES[stop - 1]) * h)
        for j in range(sizes[0]):
            x[j] = nodes[stop, j] + part * (nodes[stop, j] - nodes[stop - 1, j])
        on_plane(evaluate, t, x, x0, t0, middle, rank, sizes, scale, mix, params, work, q, out, W, step)
        load(evaluate, t, x, sizes, scale, mix, params, work, q, out, W)
        margin, number = _bound(x, out, limits, sizes)
        if margin < 0.0:
            high, which = middle, number
        else:
            low = middle
    return low, which


@njit
def _passes(start: Any, x0: Any, t0: Any, h: float, periods: Any, nodes: Any, image: Any) -> float:
    """Return where on the chart the start of the arc is met again (modulo full turns), 0 if it is not.

    The chart is a graph over t0, so there is one place to look at; its polynomial is exact to rounding.
    """
    u = 0.0
    for j in range(start.size):
        d = start[j] - x0[j]
        if periods[j] > 0.0:
            d -= periods[j] * math.floor((d - 0.5 * h * t0[j]) / periods[j] + 0.5)
        image[j] = x0[j] + d
        u += t0[j] * d
    if not 1e-9 < u <= h:
        return 0.0
    away = 0.0
    for j in range(start.size):
        away = max(away, abs(_interpolate(nodes, j, u / h) - image[j]))
    return u if away <= 1e-9 else 0.0


@njit
def _room(x0: Any, centres: Any, periods: Any) -> float:
    """Return the distance to the nearest singular point."""
    near = math.inf
    for k in range(centres.shape[0]):
        near = min(near, shifted_distance(x0, centres[k], periods))
    return near


@njit
def _inside(x0: Any, centres: Any, radii: Any, periods: Any) -> int:
    """Return the number of the ball that a point is in, -1 for none."""
    for k in range(radii.size):
        if shifted_distance(x0, centres[k], periods) <= radii[k]:
            return k
    return -1


@njit(
    f"int64({EVAL_TYPE}, float64, {VECTOR}, {VECTOR}, int64, int64[::1], {VECTOR}, {MATRIX}, {VECTOR}, {VECTOR}, "
    f"{MATRIX}, {VECTOR}, {VECTOR}, {MATRIX}, float64[::1], int64, {CUBE}, {MATRIX}, int64[::1])"
)
def follow(
    evaluate: Any,
    t: float,
    start: Any,
    forward: Any,
    rank: int,
    sizes: Any,
    scale: Any,
    mix: Any,
    params: Any,
    work: Any,
    centres: Any,
    radii: Any,
    periods: Any,
    limits: Any,
    steps: Any,
    closing: int,
    pieces: Any,
    weakest: Any,
    report: Any,
) -> int:
    """Follow the arc through `start` in the direction `forward`; return the number of charts.

    Parameters
    ----------
    centres, radii : arrays (p, n), (p,)
        Singular points: the arc has arrived when it is inside one of these balls (in the largest coordinate).
    limits : (2, n) array
        The box, in x.
    steps : (2,) array
        The first step and the largest.
    closing : int
        Whether to stop when the arc comes back to its start.
    pieces : (most, d + 1, n) array
        Gets the nodes of the charts.
    weakest : (most, d + 1) array
        Gets the least singular value that counts for the rank, at the nodes.
    report : (2,) array
        Gets why it ended and where: the number of the singular point, of the bound.
    """
    n, m, g = sizes[0], sizes[1], sizes[2]
    rows = mix.shape[0]
    q, out, step = np.empty(n), np.empty((m + g) * (n + 1)), np.empty(n)
    W, values = np.empty((rows + 1, n + 1)), np.empty(rows + 1)
    x0, x, t0, t1 = start.copy(), start.copy(), forward.copy(), np.empty(n)
    nodes, image = np.empty((DEGREE + 1, n)), np.empty(n)
    sigma = tangent_at(evaluate, t, x0, forward, rank, sizes, scale, mix, params, work, q, out, W, values, t0)
    count, h, end = 0, steps[0], 0
    report[0], report[1] = FULL, -1
    while count < pieces.shape[0]:
        if end == 0:
            h = min(h, steps[1], 0.6 * _room(x0, centres, periods))
            if h < SMALLEST:
                report[0] = STUCK
                return count
        fine, stop = _fill(
            evaluate, t, x0, t0, h, rank, sizes, scale, mix, params, work, limits, nodes, x, q, out, W, step
        )
        size = 1.0
        for j in range(n):
            size = max(size, abs(x0[j]))
        size *= max(1.0, BLURRED / max(sigma, 1e-9))
        rest = tail(nodes, n) if fine else math.inf
        if rest > EXACT * size:
            if end != 0:  # a part of a chart that was fine
                report[0] = STUCK
                return count
            h *= 0.5 if rest > 1e3 * EXACT * size else 0.75
            continue
        if end == 0 and stop >= 0:
            h, which = _cut(
                evaluate, t, x0, t0, h, stop, rank, sizes, scale, mix, params, work, limits, nodes, x, q, out, W, step
            )
            end = TOUCHED if which >= 2 * n else LEFT
            report[1] = which
            if h > 1e-12:
                continue
            report[0] = end
            return count
        if end == 0 and closing == 1 and count > 0:
            met = _passes(start, x0, t0, h, periods, nodes, image)
            if met > 0.0:
                end, h = CLOSED, met
                continue
        for i in range(DEGREE + 1):
            for j in range(n):
                pieces[count, i, j] = nodes[i, j]
            weakest[count, i] = tangent_at(
                evaluate, t, nodes[i], t0, rank, sizes, scale, mix, params, work, q, out, W, values, t1
            )
        count += 1
        if end != 0:
            report[0] = end
            return count
        for j in range(n):
            x0[j], t0[j] = nodes[DEGREE, j], t1[j]
        sigma = weakest[count - 1, DEGREE]
        ball = _inside(x0, centres, radii, periods)
        if ball >= 0:
            report[0], report[1] = ARRIVED, ball
            return count
        h *= 1.7 if rest < 1e-2 * EXACT * size else 1.15
    return count


@njit
def _interpolate(nodes: Any, j: int, at: float) -> float:
    """Return the polynomial of coordinate j at a fraction of the chart (barycentric formula)."""
    above, below = 0.0, 0.0
    for i in range(DEGREE + 1):
        d = at - NODES[i]
        if abs(d) < 1e-15:
            return float(nodes[i, j])
        w = (1.0 if i % 2 == 0 else -1.0) / d
        if i == 0 or i == DEGREE:
            w *= 0.5
        above += w * nodes[i, j]
        below += w
    return above / below
