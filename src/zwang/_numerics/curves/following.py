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
    tangent_at(evaluate, t, x0, forward, rank, sizes, scale, mix, params, work, q, out, W, values, t0)
    count, h, end = 0, steps[0], 0
    report[0], report[1] = FULL, -1
    while count < pieces.shape[0]:
        h = min(h, steps[1])
        near = math.inf
        for k in range(radii.size):
            near = min(near, shifted_distance(x0, centres[k], periods))
        h = min(h, 0.6 * near)
        if end == 0 and h < SMALLEST:
            report[0] = STUCK
            return count
        # The nodes of the chart, each predicted from the one before.
        fine, stop = True, -1
        for j in range(n):
            x[j] = x0[j]
        for i in range(DEGREE + 1):
            u = NODES[i] * h
            if i > 0:
                gap = u - NODES[i - 1] * h
                for j in range(n):
                    slope = t0[j]
                    if i > 1:
                        slope = (nodes[i - 1, j] - nodes[i - 2, j]) / ((NODES[i - 1] - NODES[i - 2]) * h)
                    x[j] = nodes[i - 1, j] + gap * slope
                if not on_plane(evaluate, t, x, x0, t0, u, rank, sizes, scale, mix, params, work, q, out, W, step):
                    fine = False
                    break
            for j in range(n):
                nodes[i, j] = x[j]
            if i > 0 and end == 0 and stop < 0:
                load(evaluate, t, x, sizes, scale, mix, params, work, q, out, W)
                if _bound(x, out, limits, sizes)[0] < 0.0:
                    stop = i
        size = 1.0
        for j in range(n):
            size = max(size, abs(x0[j]))
        rest = tail(nodes, n) if fine else math.inf
        if rest > EXACT * size:
            if end != 0:  # a part of a chart that was fine
                report[0] = STUCK
                return count
            h *= 0.5 if rest > 1e3 * EXACT * size else 0.75
            continue
        if end == 0 and stop >= 0:
            # Cut where the bound is met, by bisection on the plane.
            low, high = NODES[stop - 1] * h, NODES[stop] * h
            which = -1
            for _ in range(60):
                middle = 0.5 * (low + high)
                for j in range(n):
                    x[j] = nodes[stop, j] + (middle - NODES[stop] * h) * (nodes[stop, j] - nodes[stop - 1, j]) / (
                        (NODES[stop] - NODES[stop - 1]) * h
                    )
                on_plane(evaluate, t, x, x0, t0, middle, rank, sizes, scale, mix, params, work, q, out, W, step)
                load(evaluate, t, x, sizes, scale, mix, params, work, q, out, W)
                margin, number = _bound(x, out, limits, sizes)
                if margin < 0.0:
                    high, which = middle, number
                else:
                    low = middle
            report[1] = which
            end = TOUCHED if which >= 2 * n else LEFT
            h = low
            if h <= 1e-12:
                report[0] = end
                return count
            continue
        if end == 0 and closing == 1 and count > 0:
            # Does the chart pass the start again? It is a graph over t0, so there is one place to look at.
            u = 0.0
            for j in range(n):
                d = start[j] - x0[j]
                if periods[j] > 0.0:
                    middle = d - 0.5 * h * t0[j]
                    d -= periods[j] * math.floor(middle / periods[j] + 0.5)
                image[j] = x0[j] + d
                u += t0[j] * d
            if 1e-9 < u <= h:
                for j in range(n):
                    x[j] = image[j]
                away = 0.0
                if on_plane(evaluate, t, x, x0, t0, u, rank, sizes, scale, mix, params, work, q, out, W, step):
                    for j in range(n):
                        away = max(away, abs(x[j] - image[j]))
                    # On this chart, not on another sheet: the polynomial must say so too.
                    total = 0.0
                    for j in range(n):
                        total = max(total, abs(_interpolate(nodes, j, u / h) - image[j]))
                    if away <= 1e-9 and total <= 1e-9:
                        end, h = CLOSED, u
                        continue
        for i in range(DEGREE + 1):
            for j in range(n):
                pieces[count, i, j] = nodes[i, j]
            if i > 0:
                weakest[count, i] = tangent_at(
                    evaluate, t, nodes[i], t0, rank, sizes, scale, mix, params, work, q, out, W, values, t1
                )
        if count > 0:
            weakest[count, 0] = weakest[count - 1, DEGREE]
        else:
            weakest[0, 0] = weakest[0, 1]
        count += 1
        if end != 0:
            report[0] = end
            return count
        for j in range(n):
            x0[j] = nodes[DEGREE, j]
        tangent_at(evaluate, t, x0, t1, rank, sizes, scale, mix, params, work, q, out, W, values, t0)
        for k in range(radii.size):
            if shifted_distance(x0, centres[k], periods) <= radii[k]:
                report[0], report[1] = ARRIVED, k
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
