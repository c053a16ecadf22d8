"""What an input is told to be: a table over time, or a function that is asked at intervals and held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.tolerances import function, real
from zwang._results.storage import storable
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
KINDS = {"previous": 0, "linear": 1, "cubic": 3}
"""Degrees of the polynomials between the times of a table."""


@storable
@dataclass(frozen=True, eq=False)
class Table:
    """An input as a table over time.

    Parameters
    ----------
    times : (m,) array
        Rising [s]. Beyond its ends the table has no value.
    values : (m,) array
    kind : {'linear', 'cubic', 'previous'}
        How it goes on between the times: straight, by a cubic spline without knots at its second and last but one
        time, or with the value of the time before.

    Examples
    --------
    >>> import zwang as zw
    >>> ramp = zw.Table([0, 1, 3], [0, 2, 2])
    >>> ramp(0.25), zw.Table([0, 1, 3], [0, 2, 2], kind="previous")(0.25)
    (0.5, 0.0)
    """

    times: Array
    values: Array
    kind: str = field(default="linear", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise DeclarationError(
                f"Table: kind= must be 'linear', 'cubic' or 'previous'; it was given {self.kind!r:.40}. "
                f"{nearest(str(self.kind), list(KINDS))}"
            )
        for name in ("times", "values"):
            try:
                found = np.array(getattr(self, name), dtype=float)
            except (TypeError, ValueError, OverflowError):
                raise DeclarationError(f"Table: {name} must be an array of numbers.") from None
            if found.ndim != 1 or not np.isfinite(found).all():
                raise DeclarationError(
                    f"Table: {name} must be finite numbers in one row; their shape is {found.shape}."
                )
            found.setflags(write=False)
            object.__setattr__(self, name, found)
        if len(self.times) != len(self.values) or len(self.times) < 2:
            raise DeclarationError(
                f"Table: as many times as values are needed, two at least; there are {len(self.times)} times and "
                f"{len(self.values)} values."
            )
        if not np.all(np.diff(self.times) > 0):
            place = int(np.argmin(np.diff(self.times) > 0))
            raise DeclarationError(
                f"Table: the times must rise; {self.times[place]:g} is followed by {self.times[place + 1]:g}. "
                "A jump is two tables' affair, or kind='previous'."
            )

    @cached_property
    def coefficients(self) -> Array:
        """(m - 1, degree + 1): of the powers of the time since each of the times, from the constant on."""
        if self.kind == "previous":
            return self.values[:-1, None].copy()
        if self.kind == "linear":
            return np.stack([self.values[:-1], np.diff(self.values) / np.diff(self.times)], axis=1)
        from scipy.interpolate import CubicSpline

        return np.ascontiguousarray(CubicSpline(self.times, self.values).c[::-1].T)

    def __call__(self, time: float) -> float:
        """Return the value at a time; at the end that of the last time."""
        self.require(time, time, "Table")
        if time >= self.times[-1]:
            return float(self.values[-1])
        row = int(np.searchsorted(self.times, time, side="right")) - 1
        return float(np.polynomial.polynomial.polyval(time - self.times[row], self.coefficients[row]))

    def require(self, first: float, last: float, whose: str) -> None:
        """Refuse times beyond the ends."""
        if first < self.times[0] or last > self.times[-1]:
            asked = f"t = {first:g}" if first < self.times[0] else f"t = {last:g}"
            raise DeclarationError(
                f"{whose}: the table runs from t = {self.times[0]:g} to {self.times[-1]:g}; it was asked at {asked}. "
                "Give a longer table, or an earlier end."
            )

    def __repr__(self) -> str:
        return f"Table of {len(self.times)} values from t = {self.times[0]:g} to {self.times[-1]:g}, {self.kind}"


@dataclass(frozen=True, eq=False)
class Held:
    """An input as a function of the state that is asked at intervals, its value held in between: a sampled controller.

    Parameters
    ----------
    function : callable
        state -> number; the state maps names of coordinates, velocities and ``t`` to numbers.
    every : float
        The interval [s], from the start of the motion on.

    Examples
    --------
    >>> import zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> u = zw.inputs("u")
    >>> cart = zw.System(kinetic=vx**2 / 2, forces={x: u})
    >>> held = zw.Held(lambda state: -state["x"] - 2 * state["v_x"], every=0.1)
    >>> motion = zw.simulate(cart, {"x": 1, "v_x": 0}, inputs={u: held}, until=1)
    >>> motion.inputs["u"]
    Table of 11 values from t = 0 to 1, previous
    """

    function: Callable[[Mapping[str, float]], float]
    every: float = field(kw_only=True)

    def __post_init__(self) -> None:
        function(self.function, "function", where="Held")
        if self.function is None:
            raise DeclarationError("Held: a function of the state is needed; it was given None.")
        object.__setattr__(self, "every", real(self.every, "every", above=0, where="Held"))

    def ask(self, state: Mapping[str, Any], whose: str) -> float:
        """Return what the function says at a state."""
        found = self.function(dict(state))
        try:
            value = float(found)
        except (TypeError, ValueError):
            value = float("nan")
        if not np.isfinite(value):
            raise DeclarationError(
                f"{whose}: the held function gave {found!r:.60} at t = {state['t']:g}; a finite number is needed."
            )
        return value
