"""From realized motions to a `LimitStudy`: forces averaged, energies, notes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._limit.gathering import Gathered
from zwang._limit.ideal import Ideal, Start
from zwang._limit.judging import errors_of, orders_of
from zwang._limit.ways import Softened
from zwang._results import Provenance
from zwang._results.limit import LimitStudy, Verdict
from zwang._results.motion import Motion, MotionStatus

Array = NDArray[np.float64]
SMOOTH = 16


def assemble(
    softened: Softened, gathered: Gathered, start: Start, motion: Motion, ideal: Ideal | None, verdict: Verdict
) -> LimitStudy:
    """Return the study."""
    n, names = len(softened.ideal.coordinates), softened.names
    edges, widths = gathered.edges, np.diff(gathered.edges)
    measures = n + len(names) + 1
    integrals = np.array([run.course.integrals for run in gathered.runs]).reshape(-1, len(edges), measures)
    averages = {name: np.diff(integrals[:, :, n + k], axis=1) / widths for k, name in enumerate(names)}
    span, floor = float(edges[-1] - edges[0]), float(np.append(np.nan, gathered.floors["position"])[-1])
    errors, orders = errors_of(gathered), orders_of(gathered)
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
        notes=(*_notes(motion, ideal), *gathered.failed),
    )


def _by_name(names: tuple[str, ...], ranges: list[Array], cells: int) -> dict[str, Array]:
    """Return constraint -> (s, cells) from ranges (cells, constraints) of each strength."""
    return {name: np.array([item[:, k] for item in ranges]).reshape(-1, cells) for k, name in enumerate(names)}


def _mean_force(gathered: Gathered, averages: Array) -> Array:
    """Return the weak limit of a force at the edges; nan where no strength was reached."""
    return smoothed(averages[-1], _width(gathered)) if len(averages) else np.full(len(gathered.edges), np.nan)


def averaging_width(rate: float, cell: float, cells: int) -> int:
    """Return how many cells to average over: several periods of the oscillation, at most a quarter of the time."""
    periods = 8 * 2 * np.pi / max(rate * cell, 1e-300)
    return int(2 * (min(max(SMOOTH, periods), cells / 4) // 2))


def smoothed(averages: Array, width: int = SMOOTH) -> Array:
    """Return moving averages at the edges of cells from the means of cells, with weights that rise and fall smoothly.

    A plain average over a time W leaves a share 1/(w W) of an oscillation of frequency w; these weights, 1/(w W)^3.

    Examples
    --------
    >>> smoothed(np.full(20, 3.0))[[0, 10, 20]]
    array([3., 3., 3.])
    """
    weights = np.sin(np.pi * (np.arange(width) + 0.5) / width) ** 2
    padded = np.concatenate([np.zeros(width // 2), averages, np.zeros(width // 2)])
    present = np.concatenate([np.zeros(width // 2), np.ones(len(averages)), np.zeros(width // 2)])
    return np.asarray(np.convolve(padded, weights, "valid") / np.convolve(present, weights, "valid"))


def _width(gathered: Gathered) -> int:
    course = gathered.runs[-1].course
    return averaging_width(course.rate, float(course.t[1] - course.t[0]), len(course.t) - 1) if course.rate else SMOOTH


def _ideal_force(names: tuple[str, ...], edges: Array, ideal: Ideal | None) -> dict[str, Array]:
    if ideal is None:
        return {name: np.full(len(edges), np.nan) for name in names}
    return ideal.reactions(edges)


def _notes(motion: Motion, ideal: Ideal | None) -> list[str]:
    if motion.status is MotionStatus.REACHED:
        return []
    stopped = f"The ideal motion stopped at t = {motion.t[-1]:.6g} ({motion.status.name}): {motion.reason}"
    if ideal is None:
        return [f"{stopped} The realized motions are compared with each other."]
    return [f"{stopped} They are compared up to there."]
