"""`Evaluation`: accelerations, multipliers, gaps, slips and energies at states, as a Model gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.columns import Quantities, Quantity, about, named
from zwang._results.storage import storable


@storable
class EvaluationStatus(Enum):
    """What the equations with the active constraints say at a state; in a batch, the least good of its states."""

    DETERMINED = "The constraints are independent: accelerations and multipliers are unique."
    REDUNDANT = "The constraints depend on each other: accelerations are unique, multipliers are not."
    INCONSISTENT = "The constraints contradict each other at this state: no acceleration satisfies them all."


@storable
@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(Result):
    """The equations at one state or at an array of states.

    Attributes
    ----------
    name : str
        Of the system.
    coordinates : tuple of str
    accelerations : array (n, ...)
        In the order of the coordinates; the axes of a batch of states come last.
    multipliers : mapping name -> array
        Of the active constraints, conjugate to their declared expressions.
    gaps : mapping name -> array
        Values of the declared expressions of all constraints that have one.
    gap_rates : mapping name -> array
        Their time derivatives (position level), or the part without accelerations (velocity level).
    slips : mapping name -> array (components, ...)
        Slip velocities of the constraints with friction [m/s].
    energies : mapping
        'kinetic', 'potential', 'total' [J].
    regular : array of bool
        Where the active constraints are independent.
    """

    status: EvaluationStatus
    name: str
    coordinates: tuple[str, ...]
    accelerations: NDArray[np.float64]
    multipliers: Mapping[str, Any]
    gaps: Mapping[str, Any]
    gap_rates: Mapping[str, Any]
    slips: Mapping[str, Any]
    energies: Mapping[str, Any]
    regular: NDArray[np.bool_]

    def _numbers(self) -> Mapping[str, Any]:
        names = ("accelerations", "multipliers", "gaps", "gap_rates", "slips", "energies")
        return {name: getattr(self, name) for name in names}

    def _check(self) -> str:
        batch = self.accelerations.shape[1:]
        if self.accelerations.shape[:1] != (len(self.coordinates),) or self.regular.shape != batch:
            return "accelerations and coordinates don't go together"
        groups = {"multipliers": 0, "gaps": 0, "gap_rates": 0, "energies": 0, "slips": 1}
        wrong = [
            name
            for group, axes in groups.items()
            for name, value in getattr(self, group).items()
            if not isinstance(value, (int, float, np.ndarray))
            or np.ndim(value) != axes + len(batch)
            or np.shape(value)[axes:] != batch
        ]
        return f"'{wrong[0]}' has not the shape of the batch" if wrong else ""

    def _columns(self) -> Quantities:
        """Return every quantity over the axes of the batch, by names."""
        axes = tuple(f"axis_{k}" for k in range(np.ndim(self.regular)))
        pairs = zip(named(self.coordinates, "acceleration_"), self.accelerations, strict=True)
        found = {name: Quantity(axes, np.asarray(row)) for name, row in pairs}
        groups = {"multiplier_": self.multipliers, "gap_": self.gaps, "rate_": self.gap_rates, "energy_": self.energies}
        for prefix, rows in groups.items():
            for name, row in zip(named(list(rows), prefix), rows.values(), strict=True):
                found[name] = Quantity(axes, np.asarray(row))
        for name, values in zip(named(list(self.slips), "slip_"), self.slips.values(), strict=True):
            parts = np.atleast_1d(np.asarray(values))
            for k, row in enumerate(parts):
                found[name if len(parts) == 1 else f"{name}_{k + 1}"] = Quantity(axes, np.asarray(row))
        return Quantities({**found, "regular": Quantity(axes, np.asarray(self.regular))}, about(self))

    @titling
    def plot(
        self, quantity: str | None = None, *, x: Any = None, xlabel: str = "", ax: Any = None, title: bool | str = True
    ) -> Any:
        """Draw one quantity, bars at one state and curves along a batch; return the Axes (extra ``plot``).

        Parameters
        ----------
        quantity : str, optional
            'multipliers', 'accelerations', 'gaps', 'gap_rates', 'slips' or 'energies'; by default the multipliers, or
            the accelerations where no constraint is active.
        x : 1-D array, optional
            What a batch with one axis is drawn over; by default the number of the state.
        xlabel : str
            What that is called.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.evaluation import draw_evaluation

        return draw_evaluation(self, quantity, x=x, xlabel=xlabel, ax=ax)

    def __repr__(self) -> str:
        shape = self.accelerations.shape[1:]
        head = f"Evaluation of '{self.name}': {self.status.name}. {self.status.value}"
        if shape:
            return f"{head}\n  a batch of states of shape {shape}, largest residual {np.max(self.residual):.1e}"
        rows = [("acceleration", name, self.accelerations[i]) for i, name in enumerate(self.coordinates)]
        rows += [("multiplier", name, value) for name, value in self.multipliers.items()]
        rows += [("gap", name, value) for name, value in self.gaps.items()]
        rows += [("energy", name, value) for name, value in self.energies.items()]
        width = max(len(name) for _, name, _ in rows)
        lines = [f"  {kind:<12}  {name.ljust(width)}  {float(value) + 0.0: .10g}" for kind, name, value in rows[:40]]
        if len(rows) > 40:
            lines.append(f"  ... and {len(rows) - 40} more rows")
        return "\n".join([head, *lines, f"  residual {float(self.residual):.1e}"])
