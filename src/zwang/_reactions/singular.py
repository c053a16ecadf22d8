"""Whether a state is a singular point of its configuration space.

It is one where the rank of the bilateral rows is below their rank at nearby points of the same component. Rows that
depend on each other everywhere (a redundant constraint, an overconstrained loop that moves all the same) have the same
rank nearby and are no singular point. Nearby points are found by stepping away at random and projecting back onto the
constraints; where all of them fall back to the state itself although its rows leave it free to move, the state is an
isolated point, and singular too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._backends import Kernels
from zwang._compile.values import Inputs

Array = NDArray[np.float64]
STEPS = (1e-2, 1e-3)
SAMPLES = 12
NEWTON = 40


@dataclass(frozen=True)
class RankReport:
    """What was found about the rank of the bilateral rows.

    Attributes
    ----------
    rank : int
        At the state.
    rows : int
        Number of bilateral rows.
    nearby : int
        The largest rank seen at nearby points of the same component.
    isolated : bool
        Whether no other point of the component was found although the rows leave the state free to move.
    in_cone : bool
        Whether the velocity lies in the tangent cone to second order: an acceleration satisfies all rows.
    vanished : tuple of int
        Numbers of the normals whose row is nothing but rounding.
    """

    rank: int
    rows: int
    nearby: int
    isolated: bool
    in_cone: bool
    vanished: tuple[int, ...] = ()

    @property
    def singular(self) -> bool:
        """Whether the state is a singular point."""
        return self.rank < self.nearby or self.isolated


def rank_report(kernels: Kernels, inputs: Inputs, positions: Sequence[int], tol: float, seed: int = 0) -> RankReport:
    """Return the rank of the position-level bilateral rows at a state, and near it."""
    terms = kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    _, every, _, gamma = terms.at(0)
    chosen = list(positions)
    rows = every[chosen]
    rank = _rank(rows, tol)
    if rank == len(chosen):
        return RankReport(rank, len(chosen), rank, False, True)
    lengths = np.linalg.norm(rows, axis=1)
    gone = lengths <= tol * max(lengths.max(initial=0.0), 1.0)
    rows = np.where(gone[:, None], 0.0, rows)
    solution, *_ = np.linalg.lstsq(rows, gamma[chosen], rcond=tol)
    miss = np.abs(rows @ solution - gamma[chosen]).max(initial=0.0)
    in_cone = bool(miss <= 1e-7 * (1.0 + np.abs(gamma[chosen]).max(initial=0.0)))
    nearby, others = _nearby(kernels, inputs, chosen, tol, seed)
    movable = rows.shape[1] > rank
    vanished = tuple(place for place, lost in zip(chosen, gone, strict=True) if lost)
    return RankReport(rank, len(chosen), max(nearby, rank), movable and not others, in_cone, vanished)


def _nearby(kernels: Kernels, inputs: Inputs, chosen: list[int], tol: float, seed: int) -> tuple[int, bool]:
    """Return the largest rank at points projected back from random steps, and whether any differs from the state."""
    source = np.random.default_rng(seed)
    best, others = 0, False
    size = 1.0 + np.abs(inputs.q).max()
    for step in STEPS:
        for _ in range(SAMPLES):
            start = inputs.q + step * size * source.normal(size=inputs.q.shape)
            found = _project(kernels, inputs, chosen, start)
            if found is None:
                continue
            point, rows = found
            distance = np.abs(point - inputs.q).max() / size
            if distance > 10 * step or distance < 1e-3 * step:
                continue
            others = True
            best = max(best, _rank(rows, tol))
    return best, others


def _project(kernels: Kernels, inputs: Inputs, chosen: list[int], start: Array) -> tuple[Array, Array] | None:
    q = start.copy()
    for _ in range(NEWTON):
        terms = kernels.terms(inputs.t, q, inputs.v, inputs.params)
        rows, value = terms.at(0)[1][chosen], terms.value[chosen, 0]
        if not np.isfinite(rows).all() or not np.isfinite(value).all():
            return None
        step, *_ = np.linalg.lstsq(rows, -value, rcond=1e-12)
        q[:, 0] += step
        if np.abs(step).max() <= 1e-14 * (1.0 + np.abs(q).max()):
            break
    return (q, rows) if np.abs(value).max(initial=0.0) <= 1e-11 * (1.0 + np.abs(q).max()) else None


def _rank(rows: Array, tol: float) -> int:
    lengths = np.linalg.norm(rows, axis=1)
    # A row that vanishes has no direction; it counts as zero and not as a unit row of rounding errors.
    scale = np.where(lengths > tol * max(lengths.max(initial=0.0), 1.0), lengths, 1.0)
    values = np.linalg.svd(rows / scale[:, None], compute_uv=False)
    return int(np.count_nonzero(values > tol))
