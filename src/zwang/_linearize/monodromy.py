"""A motion as a cycle: how far it misses its start, and what becomes of nearby motions after one period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._linearize.asked import MotionQuestion
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.trail import PassedStretch, Trail
from zwang._linearize.variational_flow import VariationalFlow
from zwang._results import Provenance
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.motion import Motion

Array = NDArray[np.float64]
TURN = 2 * np.pi
CLOSED = 1e-10
"""Gap of a cycle, relative to the sizes."""
STILL = 1e-9
"""What a motion must run through in a period, relative to its coordinates, to be one."""
FAMILY = 1e-7
"""Singular values of the return map's derivative up to this, relative to the largest, are directions of a family."""
TANGENT = 1e-9
"""Singular values of the scaled rows of what holds up to this are zero."""


@dataclass(frozen=True, eq=False)
class Return:
    """A motion of one period, compared with its start.

    Attributes
    ----------
    gap : (2 n,) array
        End minus start, angles modulo their turn, zero for coordinates that need not return.
    sizes : (2 n,) array
        Of coordinates and velocities along the motion.
    basis : (2 n, d) array
        Changes of the start along what holds there.
    start_rate, rate : (2 n,) arrays
        The rates of the state at the start and at the end.
    switched : pair of tuples of str
        Constraints that are on at the start and not at the end, and the other way round.
    """

    gap: Array
    sizes: Array
    basis: Array
    start_rate: Array
    rate: Array
    switched: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def residual(self) -> float:
        """How far the end misses the start, relative to the sizes; infinite where other constraints are on."""
        if any(self.switched):
            return float("inf")
        return float((np.abs(self.gap) / self.sizes).max(initial=0.0))


def compared(trail: Trail, motion: Motion, steady: frozenset[int]) -> Return:
    """Return a motion compared with its start."""
    system = trail.context.model.system
    n = len(system.coordinates)
    first = np.concatenate([motion.q[0], motion.v[0]])
    last = np.concatenate([motion.q[-1], motion.v[-1]])
    gap = last - first
    turns = np.array([bool(item.angle) for item in system.coordinates])
    gap[:n] = np.where(turns, gap[:n] - TURN * np.round(gap[:n] / TURN), gap[:n])
    gap[list(steady)] = 0.0
    sizes = _sizes(motion, turns)
    stretches = [item for item in trail.way if isinstance(item, PassedStretch)]
    none = np.zeros(n)
    begins = np.concatenate([motion.v[0], stretches[0].a[0] if stretches else none])
    ends = np.concatenate([motion.v[-1], stretches[-1].a[-1] if stretches else none])
    on = [set(motion.at(float(time)).get("on", ())) for time in motion.t[[0, -1]]]
    switched = tuple(sorted(on[0] - on[1])), tuple(sorted(on[1] - on[0]))
    return Return(gap, sizes, start_basis(trail, sizes), begins, ends, switched)


def _sizes(motion: Motion, turns: NDArray[np.bool_]) -> Array:
    """Return the sizes of coordinates and velocities along a motion; where one is zero, that of the others."""
    found = []
    for rows, least in ((motion.q, turns.astype(float)), (motion.v, np.zeros(len(turns)))):
        size = np.maximum(np.abs(rows).max(axis=0), least)
        largest = float(size.max(initial=0.0)) or 1.0
        found.append(np.where(size > 1e-12 * largest, size, largest))
    return np.concatenate(found)


def start_basis(trail: Trail, sizes: Array) -> Array:
    """Return changes of the start (2 n, d) along the constraints that hold there, orthonormal in the sizes."""
    stretch = next((item for item in trail.way if isinstance(item, PassedStretch)), None)
    identity = np.diag(sizes)
    if stretch is None:
        return identity
    flow = VariationalFlow(trail, (), np.zeros((0, 0)))
    made = flow.made_for(stretch)
    jets = made.jets(stretch.t[:1], stretch.q[:1].T.copy(), stretch.v[:1].T.copy(), stretch.params)
    rows = np.concatenate([jets[made.values].by_state[:, :, 0], jets[made.rates].by_state[:, :, 0]]) * sizes
    if not len(rows):
        return identity
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
    _, values, right = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.count_nonzero(values > TANGENT))
    return np.asarray(sizes[:, None] * right[rank:].T)


def carried(trail: Trail, x: Array) -> Array:
    """Return what becomes of nearby motions x (2 n, k); NotDifferentiableError where there is no derivative."""
    return VariationalFlow(trail, (), np.zeros((0, x.shape[1]))).run(x).x


def monodromy_of(found: Return, after: Array) -> Array:
    """Return the monodromy matrix (d, d) in the basis of a return, from what became of the basis."""
    scaled = found.basis / found.sizes[:, None]
    return np.asarray(np.linalg.lstsq(scaled, after / found.sizes[:, None], rcond=None)[0])


def return_equations(found: Return, after: Array, steady: frozenset[int], period: float | None) -> tuple[Array, Array]:
    """Return matrix and right side of Newton's step of the start, and of the logarithm of the period if it is sought.

    Parameters
    ----------
    found : Return
    after : (2 n, d) array
        What becomes of its basis.
    steady : frozenset of int
    period : float or None
        Where the period is sought; then the start moves across the motion.
    """
    rows = [i for i in range(len(found.gap)) if i not in steady]
    matrix = (after - found.basis)[rows] / found.sizes[rows, None]
    right = -found.gap[rows] / found.sizes[rows]
    if period is not None:
        matrix = np.hstack([matrix, (found.rate[rows] / found.sizes[rows])[:, None] * period])
        along = found.start_rate / found.sizes**2 @ found.basis
        along = along / (np.linalg.norm(along) or 1.0)
        matrix = np.vstack([matrix, np.append(along, 0.0)])
        right = np.append(right, 0.0)
    return matrix, right


def _open_directions(found: Return, after: Array, steady: frozenset[int], period: float | None) -> tuple[int, int]:
    """Return how many steady coordinates nothing depends on, and the dimension of the family of a cycle."""
    matrix, _ = return_equations(found, after, steady, period)
    values = np.linalg.svd(matrix, compute_uv=False)
    free = matrix.shape[1] - int(np.count_nonzero(values > FAMILY * values.max(initial=0.0)))
    n, idle = len(found.gap) // 2, 0
    for i in steady:
        unit = np.zeros(2 * n)
        unit[i] = 1.0
        part = np.linalg.lstsq(found.basis, unit, rcond=None)[0]
        off = float(np.abs(found.basis @ part - unit).max()) + float(np.abs((after @ part - unit) / found.sizes).max())
        idle += int(off <= FAMILY)
    return idle, max(free - idle, 0)


def cycle_of(
    question: MotionQuestion,
    motion: Motion,
    trail: Trail,
    steady: frozenset[int],
    *,
    free_period: bool,
    iterations: int = 0,
    after: Array | None = None,
) -> Cycle:
    """Return a motion of one period as a cycle, with its multipliers; `after`: what becomes of its basis, if known."""
    found, monodromy, reason = compared(trail, motion, steady), None, ""
    period = float(motion.t[-1] - motion.t[0])
    moves = float(np.abs(motion.v).max(initial=0.0)) * period
    still = moves <= STILL * float(np.abs(motion.q).max(initial=0.0))
    status = CycleStatus.CLOSED if found.residual <= CLOSED and not still else CycleStatus.NOT_CLOSED
    idle = families = 0
    if status is CycleStatus.NOT_CLOSED:
        reason = f"The best that was found misses its start by {found.residual:.2e} of the sizes."
        if any(found.switched):
            reason = f"What is on does not return: {_switches(found.switched)}."
        elif still:
            reason = "What was found is an equilibrium. Give a guess further away, or ask linearize(...)."
    else:
        try:
            after = carried(trail, found.basis) if after is None else after
            monodromy = monodromy_of(found, after)
            idle, families = _open_directions(found, after, steady, period if free_period else None)
        except NotDifferentiableError as error:
            status, reason = CycleStatus.NOT_DIFFERENTIABLE, str(error)
    model, options = question.model, trail.context.options
    return Cycle(
        status=status,
        residual=found.residual,
        provenance=Provenance.now(question.declared.digest, tolerances={"tol": options.tol}, backend=model.backend),
        name=question.name,
        motion=motion,
        period=period,
        basis=found.basis,
        monodromy=monodromy,
        steady=tuple(model.system.coordinates[i].name for i in sorted(steady)),
        ones=int(free_period) + idle + families,
        families=families,
        iterations=iterations,
        reason=reason,
        params=question.params,
    )


def _switches(switched: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """Return in words which constraints are on at one end of a motion alone."""
    parts = [
        f"{', '.join(names)} is on at the {end} only"
        for names, end in zip(switched, ("start", "end"), strict=True)
        if names
    ]
    return "; ".join(parts)
