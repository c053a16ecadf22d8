"""`Drive`: the inputs that make a prescribed motion, at every instant all of them that the laws allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.columns import Quantities, Quantity, about, named
from zwang._results.reactions import ReactionsStatus, Solution
from zwang._results.storage import storable
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]


@storable
class DriveStatus(Enum):
    """What may be said of a prescribed motion beside what is said of its instants."""

    UNFINISHED = "The budget was spent before the last instant."


@storable(shapes={"t": "k", "q": "k n", "v": "k n", "a": "k n"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Drive(Result):
    """Inputs and reactions along a prescribed motion.

    Attributes
    ----------
    name : str
        Of the system.
    t : (k,) array
    coordinates : tuple of str
    q, v, a : (k, n) arrays
        The motion, its dependent coordinates found from the constraints.
    inputs : mapping
        Name -> (k,) array; nan where several values do, or none.
    ranges : mapping
        Name -> (k, 2) array of the least and greatest value; infinite where there is no bound, nan where none does.
    reactions : mapping
        Name of a constraint -> (k,) array of its multiplier; nan where it is undetermined or open.
    solutions : tuple of tuples of Solution
        At each instant, inputs among the contacts as 'input <name>'.
    statuses : tuple of ReactionsStatus
        At each instant; `status` is the least favourable of them, or UNFINISHED where a budget ended it.
    reason : str
    units : mapping of str to str
        Of coordinates, velocities, inputs and the time 't', where they are known.
    """

    status: ReactionsStatus | DriveStatus
    name: str
    t: Array
    coordinates: tuple[str, ...]
    q: Array
    v: Array
    a: Array
    inputs: Mapping[str, Array]
    ranges: Mapping[str, Array] = field(default_factory=dict)
    reactions: Mapping[str, Array] = field(default_factory=dict)
    solutions: tuple[tuple[Solution, ...], ...] = field(default=(), metadata={"stored": None})
    statuses: tuple[ReactionsStatus, ...] = ()
    reason: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    def _columns(self) -> Quantities:
        """Return the motion, the inputs with their ranges and the reactions over time."""
        found = {"time": Quantity(("time",), self.t, self.units.get("t", ""))}
        for prefix, rows in (("", self.q), ("v_", self.v), ("acceleration_", self.a)):
            for k, (name, own) in enumerate(zip(named(self.coordinates, prefix), self.coordinates, strict=True)):
                unit = f"{self.units[own]}/s**2" if prefix not in ("", "v_") and own in self.units else ""
                found[name] = Quantity(("time",), rows[:, k], unit or self.units.get(f"{prefix}{own}", ""))
        for name, low_high in zip(named(list(self.ranges), "input_"), self.ranges.items(), strict=True):
            unit = self.units.get(low_high[0], "")
            found[name] = Quantity(("time",), self.inputs[low_high[0]], unit)
            found |= {
                f"{name}_{side}": Quantity(("time",), low_high[1][:, k], unit) for k, side in enumerate(("low", "high"))
            }
        for (own, values), name in zip(self.reactions.items(), named(list(self.reactions), "reaction_"), strict=True):
            found[name] = Quantity(("time",), values, self.units.get(f"reaction of {own}", ""))
        return Quantities(found, about(self))

    @titling
    def plot(self, *what: str, ax: Any = None, title: bool | str = True) -> Any:
        """Draw inputs over time; return the Axes (extra ``plot``)."""
        from zwang._plot.motion import draw_series

        names = what or tuple(self.inputs)
        for name in names:
            if name not in self.inputs:
                raise DeclarationError(f"{self.name}: there is no input '{name}'. {nearest(name, list(self.inputs))}")
        series = {name: self.inputs[name] for name in names}
        ax = draw_series(self.t, series, label="inputs", heading=f"{self.name}: inputs of a motion",
                         units=self.units, ax=ax)  # fmt: skip
        for name, line in zip(names, ax.get_lines(), strict=False):
            low, high = np.asarray(self.ranges.get(name, np.full((len(self.t), 2), np.nan))).T
            if np.any(np.isfinite(low) & np.isfinite(high) & (low < high)):
                ax.fill_between(self.t, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        return ax

    def __repr__(self) -> str:
        lines = [f"Drive of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        for name, values in self.inputs.items():
            known = values[np.isfinite(values)]
            span = f"from {known.min():.6g} to {known.max():.6g}" if len(known) else "not determined"
            lines.append(f"  {name} {span}")
        span = f" from t = {self.t[0]:.6g} to {self.t[-1]:.6g}" if len(self.t) else ""
        lines.append(f"  {len(self.t)} instants{span}, residual {self.residual:.1e}")
        return "\n".join(lines)
