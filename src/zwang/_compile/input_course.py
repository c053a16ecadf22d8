"""How the parameters of one motion go on that stand for its inputs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_inputs import Driven, expanded, plain_signal
from zwang._results.signals import Held, Table
from zwang.errors import StateError

Array = NDArray[np.float64]
SLACK = 1e-12
"""Part of an interval by which a time may miss an instant and still be that instant."""


def _left_behind(state: Mapping[str, float]) -> NoReturn:
    raise StateError(f"The held function stayed where its motion was made; it is asked at t = {state['t']:g} now.")


class InputCourse:
    """The parameters of one motion, some of which change at instants; held functions are asked as it goes on.

    Parameters
    ----------
    driven : Driven
    params : (p,) array
        At the start.
    start : float
    """

    def __init__(self, driven: Driven, params: Array, start: float) -> None:
        self.driven, self.start = driven, start
        self.knots, self.rows = [start], [params]
        names = [item.name for item in driven.system.parameters]
        self._places = {name: place for place, name in enumerate(names)}
        self.jumps = driven.jumps
        tables = [signal for signal in driven.signals.values() if isinstance(signal, Table)]
        self._instants = np.unique(np.concatenate([np.zeros(0), *(table.times for table in tables)]))
        self._held = {
            name: signal
            for name, signal in driven.signals.items()
            if isinstance(signal, Held) and name in driven.coefficients
        }
        self._asked = dict.fromkeys(self._held, 0)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and sent: what was asked, not the functions, which may be of this process alone."""
        kept = {name: Held(_left_behind, every=held.every) for name, held in self._held.items()}
        return {**vars(self), "_held": kept, "driven": replace(self.driven, signals={**self.driven.signals, **kept})}

    def at(self, t: Any) -> Array:
        """Return the parameters (p, times) at times of the motion so far."""
        if len(self.rows) == 1:
            return self.rows[0][:, None]
        places = np.searchsorted(np.asarray(self.knots), np.atleast_1d(t), side="right") - 1
        return np.ascontiguousarray(np.asarray(self.rows)[np.maximum(places, 0)].T)

    def after(self, t: float) -> float:
        """Return the instant of the next change."""
        known = bisect_right(self.knots, t)
        if known < len(self.knots):  # a motion that went back
            return self.knots[known]
        place = int(np.searchsorted(self._instants, t, side="right"))
        found = float(self._instants[place]) if place < len(self._instants) else math.inf
        for name, held in self._held.items():
            found = min(found, self.start + (self._asked[name] + 1) * held.every)
        return found

    def enter(self, t: float, state: Mapping[str, float]) -> Array:
        """Return the parameters from an instant on, at which a motion has come to a state."""
        known = bisect_right(self.knots, t) - 1
        if self.knots[known] == t and known > 0:
            return self.rows[known]
        params = self.rows[-1].copy()
        driven = self.driven
        origin = driven.knot(t)
        if driven.origin:
            params[self._places[driven.origin]] = origin
        for name, parts in driven.coefficients.items():
            signal = driven.signals[name]
            values: Any
            if isinstance(signal, Table):
                values = expanded(signal, origin)
            elif t >= self.start + (self._asked[name] + 1 - SLACK) * self._held[name].every:
                self._asked[name] = int((t - self.start) / self._held[name].every + SLACK)
                values = [self._held[name].ask(state, f"{driven.declared.name}: input '{name}'")]
            else:
                continue
            for part, value in zip(parts, values, strict=True):
                if part in self._places:
                    params[self._places[part]] = value
        self.knots.append(t)
        self.rows.append(params)
        return params

    def told(self, end: float) -> dict[str, Any]:
        """Return what the inputs were until an end, as a result keeps them; held functions as tables."""
        found: dict[str, Any] = dict(self.driven.signals)
        for name in self._held:
            place = self._places.get(name)
            values = [float(row[place]) for row in self.rows] if place is not None else [0.0] * len(self.rows)
            times = list(self.knots)
            if end > times[-1]:
                times, values = [*times, end], [*values, values[-1]]
            found[name] = Table(times, values, kind="previous") if len(times) > 1 else values[0]  # type: ignore[arg-type]
        return {name: plain_signal(signal) for name, signal in found.items()}
