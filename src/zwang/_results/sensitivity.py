"""`Sensitivity`: derivatives of a motion by parameters and initial values; `Fit`: parameters from data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.named import ByName
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable
class SensitivityStatus(Enum):
    """Whether a motion has derivatives."""

    DIFFERENTIABLE = "The motion depends smoothly on what was varied; the derivatives are given."
    NOT_DIFFERENTIABLE = "The motion has no derivative from some instant on; see the reason."
    UNFINISHED = "The motion did not come to its end; see the reason."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sensitivity(Result):
    """How a motion changes with parameters and initial values.

    Attributes
    ----------
    name : str
        Of the system.
    wrt : tuple of str
        What was varied.
    values : mapping of str to number, array or mapping
        Quantity -> its value; `value` is the same, asked by symbols as well.
    derivatives : mapping of str to mapping
        Quantity -> name of what was varied -> derivative, with the shape of the value. Empty where there is none.
    motion : Motion
    instant : float
        From when on there is no derivative; nan where there is one all the way.
    reason : str
        Why, in words.
    """

    status: SensitivityStatus
    name: str
    wrt: tuple[str, ...]
    values: Mapping[str, Any]
    derivatives: Mapping[str, Any]
    motion: Motion
    instant: float = float("nan")
    reason: str = ""

    @property
    def value(self) -> ByName[Any]:
        """Quantity -> its value: 'end' (2 n,), 'events' (k,), 'reactions' name -> number, or that of an expression."""
        return ByName(self.values, f"{self.name}: the values have")

    @property
    def derivative(self) -> ByName[ByName[Any]]:
        """Quantity -> symbol or name -> derivative."""
        where = f"{self.name}: the derivatives have"
        return ByName({key: ByName(found, where) for key, found in self.derivatives.items()}, where)

    @titling
    def plot(self, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw how the end changes with one percent of each thing that was varied; return the Axes (extra ``plot``)."""
        from zwang._plot.sensitivity import draw_sensitivity

        return draw_sensitivity(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"Sensitivity of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        for quantity, found in self.derivatives.items():
            lines += [f"  d {quantity} / d {name} = {_short(value)}" for name, value in found.items()]
        return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    return np.array2string(np.asarray(value), precision=6, threshold=12)


@storable
class FitStatus(Enum):
    """What came of a fit."""

    CONVERGED = "The free values were found, and the data determine them."
    NOT_IDENTIFIABLE = "The data don't determine all of the free values; see the reason."
    NOT_CONVERGED = "No further improvement was found, but the conditions of a minimum are not met."
    UNFINISHED = "A budget was spent before the fit was done; see the reason."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Fit(Result):
    """Parameters and initial values that make a motion pass nearest to data.

    Attributes
    ----------
    name : str
        Of the system.
    free : tuple of str
        What was fitted, in the order of the covariance.
    params, state : mappings of str to float
        All of them, with what was fitted.
    covariance : (k, k) array
        Of the fitted values, scaled by the residuals where no standard deviation was given; nan where not determined.
    intervals : mapping of str to (float, float)
        95 % confidence.
    motion : Motion
        With the fitted values.
    residuals : mapping of str to array
        Quantity -> data minus model, in the units of the data.
    steps : int
        Motions computed.
    reason : str
    """

    status: FitStatus
    name: str
    free: tuple[str, ...]
    params: Mapping[str, float]
    state: Mapping[str, float]
    covariance: Array
    intervals: Mapping[str, tuple[float, float]]
    motion: Motion
    residuals: Mapping[str, Array]
    data: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    steps: int = 0
    reason: str = ""

    @titling
    def plot(self, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the data and the fitted motion; return the Axes (extra ``plot``)."""
        from zwang._plot.sensitivity import draw_fit

        return draw_fit(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"Fit of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        known = {**self.params, **self.state}
        for name in self.free:
            low, high = self.intervals[name]
            lines.append(f"  {name} = {known[name]:.8g}, 95 % between {low:.6g} and {high:.6g}")
        sizes = ", ".join(f"{name} {np.sqrt(np.mean(part**2)):.3g}" for name, part in self.residuals.items())
        lines.append(f"  root mean square of the residuals: {sizes}")
        return "\n".join(lines)
