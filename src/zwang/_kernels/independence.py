"""How independent the rows of a mode are, along its steps and at a state; and states put on what is held."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._kernels.mode_motion import Moving
from zwang._kernels.outputs import Array, Functions
from zwang._kernels.stretch_output import Stretch, vector
from zwang._numerics.jit import with_addresses
from zwang._numerics.motion.along import sampled_along
from zwang._numerics.motion.events import POINTS

SHIFTS = 30  # of Newton's method; near a singular point a step only halves the distance
ARRIVED = 1e-15  # relative to the size of the state: rounding


class Independence:
    """log det(J M^-1 J^T) of the rows that a mode holds on positions: it falls without bound at a singular point."""

    def __init__(self, moving: Moving, functions: Functions, params: Array) -> None:
        self.n, self.functions, self.params = moving.n, functions, params
        self.work = functions.workspace(params)

    @classmethod
    def of(cls, moving: Moving, params: Array, branches: Array) -> Independence | None:
        """Return that of a mode with its parameters; None where it holds no position."""
        functions = moving.kernels.independence
        return None if functions is None else cls(moving, functions, np.concatenate([params, branches]))

    def at(self, t: float, q: Array) -> tuple[float, bool]:
        """Return the value at a position, -inf where it is no number, and whether the pivots are sound."""
        out, f = np.empty(2), self.functions
        status = f.calls[0](float(t), vector(q), np.zeros(self.n), self.params, f.table, self.work, out)
        return (float(out[0]) if np.isfinite(out[0]) else -np.inf), status == 0

    def along(self, found: Stretch) -> tuple[Array, Array]:
        """Return times and values, seven for each step with the next one's start."""
        count = len(found.dense)
        values = np.empty((len(POINTS) - 1) * count + 1)
        states = np.concatenate([found.q, found.v], axis=1)
        f = self.functions
        arrays = (vector(found.t), states, found.dense, values)
        with_addresses(sampled_along, *f.calls)(f.table, self.work, self.params, *arrays)
        lengths = np.diff(found.t)
        times = (found.t[:-1, None] + lengths[:, None] * np.array(POINTS[1:])).ravel()
        return np.concatenate([found.t[:1], times]), np.where(np.isfinite(values), values, -np.inf)


def settled(
    moving: Moving, t: float, q: Array, v: Array, params: Array, branches: Array
) -> tuple[Array, Array, Array, bool]:
    """Return positions and velocities on what a mode holds, the accelerations there, and whether all is sound."""
    f = moving.kernels.functions
    everything = np.concatenate([params, branches])
    work = f.workspace(everything)
    q, n = np.array(q, dtype=float), moving.n
    out = np.empty(4 * n + 2 * len(moving.mode.held) + moving.slips + 2)

    def call(k: int, velocity: Any) -> bool:
        return bool(f.calls[k](float(t), q, vector(velocity), everything, f.table, work, out) == 0)

    sound, before = True, np.inf
    for _ in range(SHIFTS if moving.kernels.positions else 0):
        sound = call(1, v) and sound
        length = float(np.abs(out[:n]).max())
        if not np.isfinite(length):
            return q, np.array(v), out[:n].copy(), False
        q += out[:n]
        size = 1.0 + float(np.abs(q).max())
        if length <= ARRIVED * size or (length <= 1e-10 * size and length >= 0.3 * before):
            break
        before = length
    if not moving.kernels.rows:
        sound = call(0, v)
        return q, np.array(v), out[:n].copy(), sound
    sound = call(2, v) and sound
    return q, out[:n].copy(), out[n : 2 * n].copy(), sound
