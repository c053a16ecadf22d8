"""What motion within a mode gives: a stretch with its dense output; the arrays of a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.mode_kernels import ModeKernels
from zwang._kernels.terms import Array

if TYPE_CHECKING:
    from zwang._numerics.motion.loop import Stored

Ints = NDArray[np.int64]

REACHED, FIRED, PAUSED = "REACHED", "FIRED", "PAUSED"
STEP_TOO_SMALL, IRREGULAR, NOT_FINITE = "STEP_TOO_SMALL", "IRREGULAR", "NOT_FINITE"
INTERRUPTED = "INTERRUPTED"
STATUSES = (REACHED, FIRED, PAUSED, STEP_TOO_SMALL, IRREGULAR, NOT_FINITE)


class KnownState(NamedTuple):
    """What the caller knows of the state that a stretch starts from; what is left out is found there.

    Attributes
    ----------
    step : float, optional
        What to try first, as the stretch before says; else, or if it is 0, chosen from the equations.
    branches : array, optional
        Sides of the switching surfaces, as the stretch before says.
    bands : (w,) array, optional
        What counts as zero for each watch; else from the rounding of the state.
    sizes : (2 n,) array, optional
        Of positions and velocities, that errors are relative to beside their own; else 1.
    """

    step: float | None = None
    branches: Array | None = None
    bands: Array | None = None
    sizes: Array | None = None


@dataclass(frozen=True)
class Stretch:
    """A piece of motion within one mode.

    Attributes
    ----------
    t : (k + 1,) array
        Times of the steps, the start included.
    q, v, a : (k + 1, n) arrays
    dense : (k, 7, 2n) array
        Coefficients of the dense output of each step; empty if it was not asked for.
    status : str
        REACHED, FIRED, PAUSED, STEP_TOO_SMALL, IRREGULAR (a pivot was lost), NOT_FINITE or INTERRUPTED (by Ctrl-C).
    fired : tuple of int
        Numbers of the watches that crossed at the end; with NOT_FINITE those that are not finite.
    drift : float
        Largest violation of the held constraints on positions found before projecting.
    next_step : float
        What to try next.
    branches : array
        Side of each switching surface at the end: pass it on when going on from here.
    attempts, rejected : int
        Steps tried, and those of them not taken.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array
    status: str
    fired: tuple[int, ...]
    drift: float
    next_step: float
    branches: Array
    attempts: int
    rejected: int

    def at(self, time: float) -> tuple[Array, Array]:
        """Return positions and velocities at a time of the stretch, from the dense output."""
        from zwang._numerics.motion.dense_output import interpolated

        n = self.q.shape[1]
        if not len(self.dense):
            return self.q[-1].copy(), self.v[-1].copy()
        step = int(np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, len(self.dense) - 1))
        x = (time - self.t[step]) / (self.t[step + 1] - self.t[step])
        start = np.concatenate([self.q[step], self.v[step]])
        z = interpolated(start[None], self.dense[step : step + 1], np.array([x]))[0]
        return z[:n], z[n:]


class Call:
    """The arrays of one call of `advance`, and the pieces it has produced."""

    spare = 0
    """Rows that a portion may need beside those of its steps."""

    def __init__(self, kernels: ModeKernels, loop: Callable[..., int], t: float, q: Array, v: Array, params: Array,
                 until: float, tol: float, sides: Array, bands: Array, dense: bool,
                 sizes: Array | None = None) -> None:  # fmt: skip
        from zwang._numerics.motion import calls, events, run_layout

        self.n, self.surfaces, self.params, self.loop = q.size, kernels.surfaces, params, loop
        self.dense, count = dense, len(kernels.watches)
        self.counts = np.zeros(run_layout.COUNTS, dtype=np.int64)
        self.counts[:4] = kernels.positions, kernels.rows, len(kernels.watches), kernels.surfaces
        self.counts[run_layout.SIDES] = params.size - kernels.surfaces
        self.counts[run_layout.KEEP] = dense
        self.reals = np.zeros(run_layout.REALS)
        self.reals[:2] = until, tol
        self.fired, width = np.zeros(count, dtype=np.int64), -(-2 * self.n // calls.BLOCK) * calls.BLOCK
        self.room = np.zeros(calls.ROOM * width)
        self.room[calls.S * width :][: 2 * self.n] = 1.0 if sizes is None else sizes
        samples = np.zeros(events.SAMPLES * count)
        self.watched = events.Watched(vector(sides), vector(bands), samples, np.zeros(count), self.fired)
        # Times, states, accelerations, dense output: together, so that an interrupt leaves all or none of a portion.
        self.parts = [
            (np.array([t]), np.concatenate([q, v])[None], np.zeros((0, self.n)), np.zeros((0, 7, 2 * self.n)))
        ]
        self.steps = self.attempts = self.rejected = 0

    @property
    def time(self) -> float:
        """The time reached."""
        return float(self.parts[-1][0][-1])

    @property
    def step(self) -> float:
        """The next step to try."""
        return float(self.reals[2])

    @step.setter
    def step(self, value: float) -> None:
        self.reals[2] = value

    def run(self, attempts: int, room: int | None = None) -> tuple[str, int]:
        """Make some attempts and keep the steps; return the status, and the attempts made."""
        from zwang._numerics.motion import run_layout
        from zwang._numerics.motion.loop import Stored

        size = (attempts if room is None else min(attempts, room)) + self.spare
        times, states, acc = np.empty(size + 1), np.empty((size + 1, 2 * self.n)), np.empty((size + 1, self.n))
        coefficients = np.empty((size if self.dense else 0, 7, 2 * self.n))
        times[0], states[0] = self.parts[-1][0][-1], self.parts[-1][1][-1]
        self.counts[run_layout.ATTEMPTS] = attempts
        stored = Stored(times, states, acc, coefficients)
        ended = self.make(stored)
        steps, tried = int(self.counts[run_layout.STEPS]), int(self.counts[run_layout.TRIED])
        self.attempts, self.rejected = self.attempts + tried, self.rejected + int(self.counts[run_layout.REJECTED])
        if not self.steps and not len(self.parts[0][2]):
            self.parts[0] = (*self.parts[0][:2], acc[:1], self.parts[0][3])
        if steps:  # every attempt may have been refused
            self.parts.append((times[1 : steps + 1], states[1 : steps + 1], acc[1 : steps + 1], coefficients[:steps]))
            self.steps += steps
        return STATUSES[ended], tried

    def make(self, stored: Stored) -> int:
        """Make steps into an array of them; return how that ended."""
        return self.loop(self.params, self.room, self.watched, self.counts, self.reals, stored)

    def stretch(self, status: str) -> Stretch:
        """Return what was done."""
        t, y, a, dense = (np.concatenate(items) for items in zip(*self.parts, strict=True))
        return Stretch(
            t=t,
            q=np.ascontiguousarray(y[:, : self.n]),
            v=np.ascontiguousarray(y[:, self.n :]),
            a=a,
            dense=dense,
            status=status,
            fired=tuple(int(i) for i in np.flatnonzero(self.fired)),
            drift=float(self.reals[3]),
            next_step=self.step,
            branches=self.params[self.params.size - self.surfaces :].copy(),
            attempts=self.attempts,
            rejected=self.rejected,
        )


def vector(values: Any) -> Array:
    """Return a contiguous array of numbers."""
    return np.ascontiguousarray(values, dtype=np.float64)
