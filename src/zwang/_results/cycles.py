"""`Cycles`: periodic motions over a parameter, and where they change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.cycle import Cycle
from zwang._results.storage import storable
from zwang._results.words import counted

Array = NDArray[np.float64]
MOST_LINES = 20
"""Of branches, and of special points of each kind, in a summary."""
KINDS = ("folds", "flips", "tori", "crossings", "grazings", "changes")


@storable
class CyclesStatus(Enum):
    """What came of following cycles over a parameter."""

    FOUND = "Every branch was followed to its ends."
    UNFINISHED = "A budget was spent before every branch was followed to its ends; see the reason."


@storable
@dataclass(frozen=True, eq=False, kw_only=True)
class CycleSpecial:
    """A place on a branch of cycles where something changes.

    Attributes
    ----------
    kind : {'fold', 'flip', 'torus', 'crossing', 'grazing', 'change'}
    value : float
        Of the parameter.
    cycle : Cycle
        The cycle there; at a grazing or a change the last one with the sequence of events that ends there.
    branches : tuple of int
        Numbers of the branch that it lies on and of those that leave it there.
    reason : str
        What changes there, in a sentence.
    """

    kind: str
    value: float
    cycle: Cycle
    branches: tuple[int, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        return f"{self.kind} at {self.value:.10g} (branch {', '.join(map(str, self.branches))})"


@storable(shapes={"values": "k"})
@dataclass(frozen=True, eq=False, kw_only=True)
class CycleBranch:
    """A curve of cycles over a parameter.

    Attributes
    ----------
    number : int
    values : (k,) array
        Of the parameter, in the order along the curve: it turns at folds.
    cycles : tuple of Cycle
        At each of them.
    reasons : pair of str
        Why the curve ends where it begins, and where it ends.
    origin : int
        Number of the branch that it leaves; -1 where it was given.
    """

    number: int
    values: Array
    cycles: tuple[Cycle, ...]
    reasons: tuple[str, str] = ("", "")
    origin: int = -1

    def _check(self) -> str:
        return "" if len(self.values) == len(self.cycles) else "a branch has other cycles than values"

    @property
    def periods(self) -> Array:
        """The periods (k,) [s]."""
        return np.array([cycle.period for cycle in self.cycles])

    @property
    def multipliers(self) -> NDArray[np.complex128]:
        """The multipliers (k, d) along the branch, the largest first; nan where there are none, or fewer than d."""
        rows = [cycle.multipliers for cycle in self.cycles]
        width = max((len(row) for row in rows if row is not None), default=0)
        found = np.full((len(rows), width), complex(np.nan, np.nan))
        for k, row in enumerate(rows):
            if row is not None:
                found[k, : len(row)] = row
        return found

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Where the cycles are known to be stable (k,)."""
        return np.array([cycle.stable is True for cycle in self.cycles])

    @property
    def reason(self) -> str:
        """Why the branch ends, at both ends."""
        return " ".join(dict.fromkeys(text for text in self.reasons if text))

    def __repr__(self) -> str:
        return (
            f"branch {self.number}: {counted(len(self.values), 'cycle')} from {self.values[0]:.6g} to "
            f"{self.values[-1]:.6g}, {int(self.stable.sum())} stable. {self.reason}"
        )


@storable
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Cycles(Result):
    """Branches of periodic motions over a parameter.

    `residual` is the largest of the cycles'.

    Attributes
    ----------
    name : str
        Of the system.
    vary : str
        The parameter.
    within : pair of float
    branches : tuple of CycleBranch
    folds : tuple of CycleSpecial
        Where a branch turns back.
    flips : tuple of CycleSpecial
        A multiplier is -1: cycles of twice the period leave.
    tori : tuple of CycleSpecial
        A pair of multipliers is on the unit circle.
    crossings : tuple of CycleSpecial
        A multiplier is 1 and the branch goes on: another one crosses it, or symmetry is broken.
    grazings : tuple of CycleSpecial
        An impact comes or goes, with no speed.
    changes : tuple of CycleSpecial
        The sequence of events is another one beyond.
    complete : bool
        False: other branches may exist.
    reason : str
        What was spent before the end.
    params : mapping
    """

    status: CyclesStatus
    name: str
    vary: str
    within: tuple[float, float]
    branches: tuple[CycleBranch, ...] = ()
    folds: tuple[CycleSpecial, ...] = ()
    flips: tuple[CycleSpecial, ...] = ()
    tori: tuple[CycleSpecial, ...] = ()
    crossings: tuple[CycleSpecial, ...] = ()
    grazings: tuple[CycleSpecial, ...] = ()
    changes: tuple[CycleSpecial, ...] = ()
    complete: bool = False
    reason: str = ""
    params: Mapping[str, float] = field(default_factory=dict)

    @titling
    def plot(
        self, what: str | None = None, *, section: str | None = None, ax: Any = None, title: bool | str = True
    ) -> Any:
        """Draw branches over the parameter, stable cycles solid, others dashed; return the Axes (extra ``plot``).

        Parameters
        ----------
        what : str, optional
            What is drawn upwards: the largest value of a coordinate or a velocity along each cycle, by default of the
            first coordinate; or 'period'.
        section : str, optional
            Name of a constraint: the values right after its impacts, as `sweep(keep="section")` has them.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
            An Axes with a brute-force diagram, for instance.
        """
        from zwang._plot.cycles import draw_cycles

        return draw_cycles(self, what, section, ax)

    def __repr__(self) -> str:
        low, high = self.within
        lines = [f"Cycles of '{self.name}' over {self.vary} from {low:.6g} to {high:.6g}: {self.status.name}."]
        lines[0] += f" {self.status.value}"
        if self.reason:
            lines.append(f"  {self.reason}")
        for items in (self.branches, *(getattr(self, kind) for kind in KINDS)):
            lines += [f"  {item!r}" for item in items[:MOST_LINES]]
            if len(items) > MOST_LINES:
                lines.append(f"  ... and {counted(len(items) - MOST_LINES, 'more')}")
        return "\n".join(lines)
