"""From realized motions to a `LimitStudy`: forces averaged, energies, notes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._limit.conditions import conditions_of, told
from zwang._limit.ideal import Ideal, IdealStart
from zwang._limit.realized_run import RealizedRun
from zwang._limit.strength_runs import Gathered
from zwang._limit.verdict import errors_of, orders_of
from zwang._limit.violation import made_by_friction, violation_times_strength
from zwang._limit.ways import Softened
from zwang._results import Provenance
from zwang._results.limit import LimitStudy, LimitVerdict, Order
from zwang._results.motion import Motion, MotionStatus

Array = NDArray[np.float64]
SMOOTH = 16  # cells over which a mean is taken at least


def assemble(
    softened: Softened,
    gathered: Gathered,
    start: IdealStart,
    motion: Motion,
    ideal: Ideal | None,
    verdict: LimitVerdict,
    params: Mapping[Any, Any],
) -> LimitStudy:
    """Return the study."""
    n, names = len(softened.ideal.coordinates), softened.names
    edges, widths = gathered.edges, np.diff(gathered.edges)
    measures = n + len(names) + 1
    integrals = np.array([run.course.integrals for run in gathered.runs]).reshape(-1, len(edges), measures)
    averages = {name: np.diff(integrals[:, :, n + k], axis=1) / widths for k, name in enumerate(names)}
    span, floor = float(edges[-1] - edges[0]), float(np.append(np.nan, gathered.floors["position"])[-1])
    errors, orders = errors_of(gathered), orders_of(gathered)
    conditions = {} if ideal is None else conditions_of(softened, motion, start, params)
    if ideal is None:
        errors = {name: np.full(len(gathered.runs), np.nan) for name in errors}
    return LimitStudy(
        status=verdict.status,
        residual=gathered.residual,
        provenance=Provenance.now(softened.ideal.digest, tolerances={"floor": floor}),
        name=softened.ideal.name,
        coordinates=tuple(item.name for item in softened.ideal.coordinates),
        realized=names,
        way=softened.words,
        strengths=gathered.strengths,
        errors=errors,
        orders=orders,
        t=edges,
        q=np.array([run.course.q for run in gathered.runs]).reshape(-1, len(edges), n),
        v=np.array([run.course.v for run in gathered.runs]).reshape(-1, len(edges), n),
        averages=averages,
        lowest=_by_name(names, [run.course.low for run in gathered.runs], len(widths)),
        highest=_by_name(names, [run.course.high for run in gathered.runs], len(widths)),
        mean_force={name: _mean_force(gathered, averages[name]) for name in names},
        ideal_force=_ideal_force(names, edges, ideal),
        energy=integrals[:, -1, n + len(names)] / span,
        energy_over_time=np.diff(integrals[:, :, n + len(names)], axis=1) / widths,
        energy_removed=start.removed,
        ideal=motion,
        verdict=verdict,
        windows=np.zeros((0, 2)) if ideal is None else ideal.reference.windows,
        costs={
            "steps": np.array([run.course.steps for run in gathered.runs]),
            "evaluations": np.array([run.course.evaluations for run in gathered.runs]),
            "seconds": np.array([run.seconds for run in gathered.runs]),
        },
        floor=gathered.floors["position"],
        notes=(*_notes(motion, ideal), *_left_out(orders, gathered.strengths), *gathered.failed, *told(conditions)),
        conditions=conditions,
        bound=violation_times_strength(softened, ideal, start, edges) / gathered.strengths,
        violation=np.array([largest_violation(softened, run) for run in gathered.runs]),
    )


def largest_violation(softened: Softened, run: RealizedRun) -> float:
    """Return how far a run violates a constraint made by friction: its force over rho; nan for springs."""
    return float(np.max(run.course.high)) / run.strength if made_by_friction(softened) else float("nan")


def _by_name(names: tuple[str, ...], ranges: list[Array], cells: int) -> dict[str, Array]:
    """Return constraint -> (s, cells) from ranges (cells, constraints) of each strength."""
    return {name: np.array([item[:, k] for item in ranges]).reshape(-1, cells) for k, name in enumerate(names)}


def _mean_force(gathered: Gathered, averages: Array) -> Array:
    """Return the weak limit of a force at the edges; nan where no strength was reached."""
    return smoothed(averages[-1], _width(gathered)) if len(averages) else np.full(len(gathered.edges), np.nan)


def averaging_width(rate: float, cell: float, cells: int) -> int:
    """Return how many cells to average over: several periods of the oscillation, at most half of the time."""
    periods = 6 * 2 * np.pi / max(rate * cell, 1e-300)
    return int(2 * (min(max(SMOOTH, periods), cells / 2) // 2))


def smoothed(averages: Array, width: int | NDArray[np.int64] = SMOOTH) -> Array:
    """Return the slow part at the edges of cells from the means of cells: parabolas fitted over a moving window.

    `width` is its number of cells, one for all edges or one for each.

    Weights rise and fall smoothly: a plain average over a time W leaves a share 1/(w W) of an oscillation of frequency
    w, these leave 1/(w W)^3. A parabola takes in slope and bend of the slow part, so that nothing is lost where the
    window would reach past an end: it stays inside, and the parabola is read at the end.

    Examples
    --------
    >>> smoothed(np.full(20, 3.0))[[0, 10, 20]].round(12)
    array([3., 3., 3.])
    >>> smoothed(np.diff(np.arange(41.0) ** 2) / 2)[[5, 20, 40]].round(9)  # cells of the straight line x
    array([ 5., 20., 40.])
    """
    count = len(averages)
    widths = np.minimum(np.broadcast_to(width, (count + 1,)), count)
    found = np.empty(count + 1)
    for edge, size in enumerate(widths.tolist()):
        first = min(max(edge - size // 2, 0), count - size)  # round the edge, or next to an end of time
        found[edge] = _parabola(size, edge - first) @ averages[first : first + size]
    return found


@lru_cache(maxsize=1024)
def _parabola(width: int, place: int) -> Array:
    """Return the weights of the means of cells that give the fitted parabola at an edge of them."""
    taper = np.sin(np.pi * (np.arange(width) + 0.5) / width) ** 2
    x = (np.arange(width) + 0.5 - place) / width
    columns = np.stack([np.ones(width), x, x**2 + 1.0 / (12.0 * width**2)], axis=1)[:, : min(3, width)]
    normal = columns.T @ (taper[:, None] * columns)
    return np.asarray(taper * (columns @ np.linalg.solve(normal, np.eye(len(normal))[0])))


def _width(gathered: Gathered) -> int:
    course = gathered.runs[-1].course
    return averaging_width(course.rate, float(course.t[1] - course.t[0]), len(course.t) - 1) if course.rate else SMOOTH


def _ideal_force(names: tuple[str, ...], edges: Array, ideal: Ideal | None) -> dict[str, Array]:
    if ideal is None:
        return {name: np.full(len(edges), np.nan) for name in names}
    return ideal.reactions(edges)


def _left_out(orders: Mapping[str, Order], strengths: Array) -> list[str]:
    """Return which of the largest strengths no order was fitted to, in words."""
    found: dict[int, list[str]] = {}
    for name, order in orders.items():
        if order.used and max(order.used) < len(strengths) - 1:
            found.setdefault(max(order.used) + 1, []).append(name)
    return [
        f"Orders of {', '.join(names)}: errors from strength {strengths[first]:.3g} on stand at the floor of rounding "
        "and are left out."
        for first, names in sorted(found.items())
    ]


def _notes(motion: Motion, ideal: Ideal | None) -> list[str]:
    if motion.status is MotionStatus.REACHED:
        return []
    stopped = f"The ideal motion stopped at t = {motion.t[-1]:.6g} ({motion.status.name}): {motion.reason}"
    if ideal is None:
        return [f"{stopped} The realized motions are compared with each other."]
    return [f"{stopped} They are compared up to there."]
