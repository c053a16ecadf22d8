"""Poincare points of a motion: where an expression vanishes, or at the impacts of a constraint."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.measured import Measured
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import as_expression
from zwang._declare.switches import Event
from zwang._declare.system import System
from zwang._results.motion import Motion
from zwang._results.motion_dense import states_at
from zwang._results.poincare import PoincarePoints
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
LOOKS = 6
"""Within each step, for a change of sign."""


class PoincareSection:
    """A section of motions, checked.

    Parameters
    ----------
    system : System
        Without inputs.
    given : expression, Event or name of a constraint
    direction : {0, 1, -1}
    transient : float
        From when on points are kept, after the start [s].
    put : callable, optional
        Puts parameters in the place of inputs.
    """

    def __init__(
        self, declared: System, system: System, given: Any, direction: int, transient: float, put: Any
    ) -> None:
        name = declared.name
        self.transient, self.direction = transient, direction
        self.constraint: str | None = None
        self.measured: Measured | None = None
        if isinstance(given, str) and given in declared.constraints.names:
            self.constraint = given
            return
        if isinstance(given, Event):
            self.direction, given = given.direction or self.direction, given.expr
        reader = Reader(name, declared.coordinates, [*declared.expressions().values(), *declared.parameters])
        expr = reader(as_expression(given, "section"), "section")
        known = {item.name for item in (*declared.coordinates, *declared.velocities, *declared.parameters)}
        known |= {item.name for item in declared.inputs} | {"t"}
        strange = sorted(str(one) for one in expr.free_symbols if one.name not in known)
        if strange:
            words = nearest(strange[0], [*known, *declared.constraints.names])
            raise DeclarationError(
                f"{name}: section= uses '{strange[0]}', which is no coordinate, velocity or constraint. {words}"
            )
        self.measured = Measured(system, [expr if put is None else put(expr)])

    def points(self, motion: Motion, params: Array) -> PoincarePoints:
        """Return the points of a motion."""
        times = self._impacts(motion) if self.measured is None else self._crossings(motion, params)
        kept = [time for time in times if time >= float(motion.t[0]) + self.transient]
        n = len(motion.coordinates)
        found = np.array(kept)
        y = states_at(motion.pieces, found)
        before = y[:, n:].copy()
        jumps = {event.time: event.details["before"] for event in motion.events if "before" in event.details}
        for k, time in enumerate(kept):
            before[k] = jumps.get(time, before[k])
        return PoincarePoints(found, y[:, :n].copy(), y[:, n:].copy(), before)

    def nearest(self, motion: Motion, params: Array) -> tuple[float, float, float]:
        """Return when the expression is least in size, and its least and largest size there and along a motion."""
        from scipy.optimize import minimize_scalar

        times = np.unique(np.concatenate([_looks(piece.t) for piece in motion.pieces]))
        sizes = np.abs(self._many(states_at(motion.pieces, times), times, params))
        k = int(np.argmin(sizes))
        low, high = float(times[max(k - 1, 0)]), float(times[min(k + 1, len(times) - 1)])
        least = minimize_scalar(
            lambda t: float(abs(self._many(states_at(motion.pieces, np.array([t])), np.array([t]), params)[0])),
            bounds=(low, high), method="bounded", options={"xatol": 1e-9 * (high - low)},
        )  # fmt: skip
        return float(least.x), float(least.fun), float(sizes.max())

    def _impacts(self, motion: Motion) -> list[float]:
        assert self.constraint is not None
        return [event.time for event in motion.events.of("impact", self.constraint)]

    def _crossings(self, motion: Motion, params: Array) -> list[float]:
        """Return the times at which the expression changes its sign, within the steps of each piece."""
        from scipy.optimize import brentq

        n, found = len(motion.coordinates), []

        def value(piece: Any, time: float) -> float:
            y = states_at((piece,), np.array([time]))[0]
            assert self.measured is not None
            return self.measured.value(0, time, y[:n], y[n:], params)

        for piece in motion.pieces:
            if len(piece.t) < 2:
                continue
            times = _looks(piece.t)
            values = self._many(states_at((piece,), times), times, params)
            signs = np.sign(values)
            for k in np.flatnonzero(signs[:-1] * signs[1:] < 0):
                if self.direction in (0, int(signs[k + 1])):
                    low, high = float(times[k]), float(times[k + 1])
                    found.append(
                        float(brentq(lambda t, piece=piece: value(piece, t), low, high, xtol=1e-15, rtol=1e-14))
                    )
            for k in np.flatnonzero(signs[1:-1] == 0) + 1:
                if signs[k - 1] * signs[k + 1] < 0 and self.direction in (0, int(signs[k + 1])):
                    found.append(float(times[k]))
        return sorted(found)

    def _many(self, y: Array, times: Array, params: Array) -> Array:
        assert self.measured is not None
        n = y.shape[1] // 2
        rows = [times, *y.T[:n], *y.T[n:], *(np.full(len(times), one) for one in params)]
        return self.measured.values_at(0, rows)


def _looks(t: Array) -> Array:
    """Return times within and at the ends of steps."""
    return np.append((t[:-1, None] + np.diff(t)[:, None] * (np.arange(LOOKS) / LOOKS)).ravel(), t[-1])
