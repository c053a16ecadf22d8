"""Realized motions of systems that keep contacts: friction at a softened contact, other one-sided constraints.

Their flow is not smooth, so `simulate` runs them. What the compiled loops gather on the way is gathered afterwards,
from the dense output: at five places of Gauss in each step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._compile.given_values import Inputs
from zwang._kernels.flow import FlowKernels
from zwang._limit.single import one_motion
from zwang._limit.ways import Softened
from zwang._numerics.budget import Spent, spend
from zwang._numerics.motion.course import Course
from zwang._numerics.motion.reference import DISTANCES, Reference
from zwang._numerics.motion.run_state import DONE, PAUSED
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_dense import states_in_piece

Array = NDArray[np.float64]
GAUSS = 5  # points of Gauss: exact to degree nine
OFTEN = 4096
"""Evaluations after which the budget, and whether the caller has given up, is looked at."""


class Realized(Protocol):
    """A softened system with its start, as `realized_run` has it."""

    @property
    def state(self) -> Mapping[Any, Any]: ...
    @property
    def params(self) -> Mapping[Any, Any]: ...
    @property
    def options(self) -> Mapping[str, Any]: ...
    @property
    def softened(self) -> Softened: ...
    @property
    def flow(self) -> FlowKernels: ...
    def inputs(self, strength: float) -> Inputs: ...


def run_events(runner: Realized, strength: float, edges: Array, reference: Reference | None, tol: float) -> Course:
    """Return the motion at one strength, run by `simulate`."""
    softened = runner.softened
    params = softened.values(runner.params, strength)
    motion = one_motion(
        compile(softened.soft, softened.backend),
        runner.state,
        params,
        until=float(edges[-1]),
        tol=max(tol, 1e-13),
        **runner.options,
    )
    if motion.status is MotionStatus.UNFINISHED:
        return _unfinished(runner, motion, motion.reason)
    try:
        times, widths, states, measures = _samples(runner.flow, motion, runner.inputs(strength).params[:, 0])
    except Spent as spent:
        return _unfinished(runner, motion, str(spent))
    n = states.shape[1] // 2
    sums = np.concatenate([np.zeros((1, measures.shape[1])), np.cumsum(widths[:, None] * measures, axis=0)])
    ends = np.concatenate([[float(motion.t[0])], np.cumsum(widths) + float(motion.t[0])])
    reached = float(motion.t[-1])
    kept = edges[edges <= reached * (1 + 1e-12) + 1e-300]
    at = motion.at(np.clip(kept, motion.t[0], reached))
    q = np.stack([np.asarray(at[name]) for name in motion.coordinates], axis=1)
    v = np.stack([np.asarray(at[name]) for name in motion.velocities], axis=1)
    integrals = np.stack([np.interp(kept, ends, column) for column in sums.T], axis=1)
    low, high = _ranges(kept, times, measures[:, n : n + len(softened.names)])
    distances = dict.fromkeys(DISTANCES, 0.0)
    if reference is not None:
        distances = _distances(reference, n, times, states, measures[:, :n], np.diff(sums, axis=0), sums)
    return Course(
        t=kept,
        q=q,
        v=v,
        integrals=integrals,
        low=low,
        high=high,
        distances=distances,
        steps=sum(len(piece.t) - 1 for piece in motion.pieces),
        rejected=0,
        evaluations=0,
        rate=0.0,
        status=DONE if len(kept) == len(edges) else PAUSED,
        crossings=np.zeros((0, 2)),
        reason=f"{motion.status.name}: {motion.reason}" if motion.reason else "",
    )


def _unfinished(runner: Realized, motion: Motion, reason: str) -> Course:
    """Return the course of a motion that is not compared with anything: what is known of its end."""
    measures, ranged = len(runner.flow.measures), len(runner.softened.names)
    return Course(
        t=motion.t[-1:],
        q=motion.q[-1:],
        v=motion.v[-1:],
        integrals=np.full((1, measures), np.nan),
        low=np.zeros((0, ranged)),
        high=np.zeros((0, ranged)),
        distances=dict.fromkeys(DISTANCES, np.nan),
        steps=len(motion.t) - 1,
        rejected=0,
        evaluations=0,
        rate=0.0,
        status=PAUSED,
        crossings=np.zeros((0, 2)),
        reason=f"{motion.status.name}: {reason}",
    )


def _samples(made: FlowKernels, motion: Motion, params: Array) -> tuple[Array, Array, Array, Array]:
    """Return times, weights of quadrature, states and measures at the places of Gauss in all steps."""
    x, w = np.polynomial.legendre.leggauss(GAUSS)
    times, widths, states = [], [], []
    for piece in motion.pieces:
        steps = np.diff(piece.t)
        if not len(steps) or not piece.t[-1] > piece.t[0]:
            continue
        at = (piece.t[:-1, None] + (x + 1) / 2 * steps[:, None]).reshape(-1)
        times.append(at)
        widths.append((w / 2 * steps[:, None]).reshape(-1))
        states.append(states_in_piece(piece, at))
    t, y = np.concatenate(times), np.ascontiguousarray(np.concatenate(states))
    return t, np.concatenate(widths), y, evaluate(made, t, y, np.ascontiguousarray(params))


def evaluate(made: FlowKernels, times: Array, states: Array, params: Array) -> Array:
    """Return the measures (B, k) at states (B, 2 n)."""
    n, workspace = made.n, made.workspace(params)
    out = np.zeros((len(times), n + len(made.measures)))
    sides = np.zeros(max(made.sides, 1), dtype=np.int64)
    for k, t in enumerate(times):
        if k % OFTEN == 0:
            spend()
        q, v = states[k, :n].copy(), states[k, n:].copy()
        made.live.calls[0](float(t), q, v, params, sides, workspace, out[k])
    return out[:, n:]


def _ranges(edges: Array, times: Array, forces: Array) -> tuple[Array, Array]:
    """Return the least and the greatest force in each cell; the value next to it where a cell has no sample."""
    cells = np.searchsorted(edges, times, side="right") - 1
    low, high = (np.full((len(edges) - 1, forces.shape[1]), fill) for fill in (np.inf, -np.inf))
    inside = (cells >= 0) & (cells < len(low))
    np.minimum.at(low, cells[inside], forces[inside])
    np.maximum.at(high, cells[inside], forces[inside])
    middles = (edges[:-1] + edges[1:]) / 2
    for column in range(forces.shape[1]):
        empty = ~np.isfinite(low[:, column])
        value = np.interp(middles[empty], times, forces[:, column])
        low[empty, column] = high[empty, column] = value
    return low, high


def _distances(
    reference: Reference, n: int, times: Array, states: Array, forces: Array, steps: Array, sums: Array
) -> dict[str, Any]:
    """Return the largest distances to the reference."""
    inside = times <= reference.breaks[-1]
    ideal = reference.values(times[inside])
    q, v = states[inside, :n] - ideal[:, :n], states[inside, n:] - ideal[:, n : 2 * n]
    force = forces[inside] - ideal[:, 2 * n : 3 * n]
    # The integral at a place of Gauss: half of its own share belongs to it.
    integral = (sums[:-1] + 0.5 * steps)[inside][:, :n] - ideal[:, 3 * n : 4 * n]
    projector = ideal[:, 4 * n :].reshape(-1, n, n)
    along = np.einsum("bij,bj->bi", projector, v)
    compared = np.ones(len(v), dtype=bool)
    for left, right in reference.windows:
        compared &= (times[inside] < left) | (times[inside] > right)
    return {
        "position": _largest(q),
        "velocity": _largest(v[compared]),
        "tangential velocity": _largest(along[compared]),
        "normal velocity": _largest((v - along)[compared]),
        "integral": _largest(integral[compared]),
        "force": _largest(force[compared]),
    }


def _largest(rows: Array) -> float:
    return float(np.linalg.norm(rows, axis=1).max(initial=0.0))
