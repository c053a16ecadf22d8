"""Following an arc chart by chart, from a point to where it ends."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.charts import (
    ARRIVED,
    CLOSED,
    DEGREE,
    FULL,
    LEFT,
    NODES,
    SMALLEST,
    STUCK,
    TOUCHED,
    on_plane,
    tail,
    tangent_at,
)
from zwang._numerics.curves.rows import ScaledSet, Slate, load
from zwang._numerics.identified import nearest_image
from zwang._numerics.jit import EVAL_TYPE, njit

EXACT = 4e-14  # rounding of a residual, relative to the size of its terms
BLURRED = 1e-2
"""Least singular value of the rows below which points of the curve are known less well: to rounding over it."""

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]
Ints = NDArray[np.int64]


class StepBounds(NamedTuple):
    """Where an arc ends.

    Attributes
    ----------
    centres, radii : arrays (p, k), (p,)
        Singular points: the arc has arrived when it is inside one of these balls (in the largest of the first k
        coordinates).
    identified : (n,) array
        What stands for one configuration, in x (`zwang._numerics.identified`).
    limits : (2, n) array
        The box, in x.
    target : (n,) array
        Where an arc that closes has begun.
    """

    centres: Matrix
    radii: Floats
    identified: Floats
    limits: Matrix
    target: Floats


class FollowedArc(NamedTuple):
    """What is made of an arc.

    Attributes
    ----------
    pieces : (most, d + 1, n) array
        Gets the nodes of the charts.
    weakest : (most, d + 1) array
        Gets the least singular value that counts for the rank, at the nodes.
    report : (2,) array
        Gets why it ended and where: the number of the singular point, of the bound.
    """

    pieces: Cube
    weakest: Matrix
    report: Ints


class Chart(NamedTuple):
    """The chart at hand: its start and unit tangent, a point, the next tangent, the nodes, what a point stands for."""

    x0: Any
    x: Any
    t0: Any
    t1: Any
    nodes: Any
    image: Any


@njit(_nrt=False)
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


@njit(_nrt=False)
def _fill(
    evaluate: Any, given: ScaledSet, slate: Slate, chart: Chart, h: float, rank: int, limits: Any
) -> tuple[bool, int]:
    """Write the nodes of a chart of width h, each predicted from those before.

    Return whether all were reached, and the first one that is beyond a bound, -1 for none.
    """
    n, nodes, x, x0, t0 = given.sizes[0], chart.nodes, chart.x, chart.x0, chart.t0
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
        if not on_plane(evaluate, given, slate, x, x0, t0, u, rank):
            return False, -1
        for j in range(n):
            nodes[i, j] = x[j]
        if stop < 0:
            load(evaluate, given, slate, x)
            if _bound(x, slate.out, limits, given.sizes)[0] < 0.0:
                stop = i
    return True, stop


@njit(_nrt=False)
def _cut(
    evaluate: Any, given: ScaledSet, slate: Slate, chart: Chart, h: float, stop: int, rank: int, limits: Any
) -> tuple[float, int]:
    """Return where on the chart a bound is met before the node `stop`, by bisection, and the number of the bound."""
    nodes, x = chart.nodes, chart.x
    low, high = NODES[stop - 1] * h, NODES[stop] * h
    which = -1
    for _ in range(60):
        middle = 0.5 * (low + high)
        part = (middle - NODES[stop] * h) / ((NODES[stop] - NODES[stop - 1]) * h)
        for j in range(given.sizes[0]):
            x[j] = nodes[stop, j] + part * (nodes[stop, j] - nodes[stop - 1, j])
        on_plane(evaluate, given, slate, x, chart.x0, chart.t0, middle, rank)
        load(evaluate, given, slate, x)
        margin, number = _bound(x, slate.out, limits, given.sizes)
        if margin < 0.0:
            high, which = middle, number
        else:
            low = middle
    return low, which


@njit(_nrt=False)
def _passes(target: Any, chart: Chart, h: float, identified: Any) -> float:
    """Return where on the chart the start of the arc, `target`, or its like is met again, 0 if it is not.

    The chart is a graph over t0, so there is one place to look at; its polynomial is exact to rounding.
    """
    u, x0, t0, x, nodes, image = 0.0, chart.x0, chart.t0, chart.x, chart.nodes, chart.image
    for j in range(target.size):
        x[j] = x0[j] + 0.5 * h * t0[j]
    nearest_image(x, target, identified, image)
    for j in range(target.size):
        u += t0[j] * (image[j] - x0[j])
    if not 1e-9 < u <= h:
        return 0.0
    away = 0.0
    for j in range(target.size):
        away = max(away, abs(_interpolate(nodes, j, u / h) - image[j]))
    return u if away <= 1e-9 else 0.0


@njit(_nrt=False)
def _distance(chart: Chart, centre: Any, identified: Any) -> float:
    """Return the largest difference of the coordinates that a centre has from the start of a chart."""
    nearest_image(chart.x0, centre, identified, chart.image)
    worst = 0.0
    for j in range(centre.size):
        worst = max(worst, abs(chart.x0[j] - chart.image[j]))
    return worst


@njit(_nrt=False)
def _room(chart: Chart, bounds: StepBounds) -> float:
    """Return the distance to the nearest singular point."""
    near = math.inf
    for k in range(bounds.radii.size):
        near = min(near, _distance(chart, bounds.centres[k], bounds.identified))
    return near


@njit(_nrt=False)
def _inside(chart: Chart, bounds: StepBounds) -> int:
    """Return the number of the ball that a point is in, -1 for none."""
    for k in range(bounds.radii.size):
        if _distance(chart, bounds.centres[k], bounds.identified) <= bounds.radii[k]:
            return k
    return -1


@njit(_nrt=False)
def _size(chart: Chart, sigma: float) -> float:
    """Return what the last coefficients of a chart are compared with: points are less certain where rows are weak."""
    size = 1.0
    for j in range(chart.x0.size):
        size = max(size, abs(chart.x0[j]))
    return size * max(1.0, BLURRED / max(sigma, 1e-9))


@njit(_nrt=False)
def _keep(
    evaluate: Any, given: ScaledSet, slate: Slate, chart: Chart, rank: int, made: FollowedArc, count: int
) -> None:
    """Store a chart with the strength of the rows at its nodes, and take its end for the next start."""
    n = given.sizes[0]
    for i in range(DEGREE + 1):
        for j in range(n):
            made.pieces[count, i, j] = chart.nodes[i, j]
        made.weakest[count, i] = tangent_at(evaluate, given, slate, chart.nodes[i], chart.t0, rank, chart.t1)


@njit(f"int64({EVAL_TYPE}, ScaledSet, float64[::1], float64[::1], int64, StepBounds, float64[::1], int64, FollowedArc)")
def follow(
    evaluate: Any, given: ScaledSet, start: Any, forward: Any, rank: int, bounds: StepBounds, steps: Any, closing: int,
    made: FollowedArc,
) -> int:  # fmt: skip
    """Follow the arc through `start` in the direction `forward`; return the number of charts.

    Parameters
    ----------
    steps : (2,) array
        The first step and the largest.
    closing : int
        Whether to stop where the arc comes to its target: 0 not, 1 from the second chart on, 2 from the first.
    """
    n, m, g, rows = given.sizes[0], given.sizes[1], given.sizes[2], given.mix.shape[0]
    slate = Slate(
        np.empty(n), np.empty((m + g) * (n + 1)), np.empty((rows + 1, n + 1)), np.empty(n), np.empty(rows + 1)
    )
    chart = Chart(start.copy(), start.copy(), forward.copy(), np.empty(n), np.empty((DEGREE + 1, n)), np.empty(n))
    sigma = tangent_at(evaluate, given, slate, chart.x0, forward, rank, chart.t0)
    count, h, end, report = 0, steps[0], 0, made.report
    report[0], report[1] = FULL, -1
    while count < made.pieces.shape[0]:
        if end == 0:
            h = min(h, steps[1], 0.6 * _room(chart, bounds))
            if h < SMALLEST:
                report[0] = STUCK
                return count
        fine, stop = _fill(evaluate, given, slate, chart, h, rank, bounds.limits)
        size = _size(chart, sigma)
        rest = tail(chart.nodes, n) if fine else math.inf
        if rest > EXACT * size:
            if end != 0:  # a part of a chart that was fine
                report[0] = STUCK
                return count
            h *= 0.5 if rest > 1e3 * EXACT * size else 0.75
            continue
        if end == 0 and stop >= 0:
            h, which = _cut(evaluate, given, slate, chart, h, stop, rank, bounds.limits)
            end = TOUCHED if which >= 2 * n else LEFT
            report[1] = which
            if h > 1e-12:
                continue
            report[0] = end
            return count
        if end != CLOSED and closing > 0 and count + closing > 1:
            met = _passes(bounds.target, chart, h, bounds.identified)
            if met > 0.0:
                end, h = CLOSED, met
                continue
        _keep(evaluate, given, slate, chart, rank, made, count)
        count += 1
        if end != 0:
            report[0] = end
            return count
        for j in range(n):
            chart.x0[j], chart.t0[j] = chart.nodes[DEGREE, j], chart.t1[j]
        sigma = made.weakest[count - 1, DEGREE]
        ball = _inside(chart, bounds)
        if ball >= 0:
            report[0], report[1] = ARRIVED, ball
            return count
        h *= 1.7 if rest < 1e-2 * EXACT * size else 1.15
    return count


@njit(_nrt=False)
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
