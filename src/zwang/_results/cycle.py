"""`Cycle`: a periodic motion with its multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._progress import Progress
from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.storage import storable
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
ON_CIRCLE = 1e-6
"""How far from the unit circle a multiplier must be to be told from it."""
MOST_SHOWN = 12  # numbers on a line


@storable
class CycleStatus(Enum):
    """What came of looking for a periodic motion."""

    CLOSED = "The motion returns to its start after one period."
    NOT_CLOSED = "No motion nearby was found that returns to its start; the best one is given with its gap."
    NOT_DIFFERENTIABLE = "The motion returns to its start, but it has no derivative there, and so no multipliers."
    UNFINISHED = "A budget was spent before a periodic motion was found; see the reason."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Cycle(Result):
    """A periodic motion.

    `residual` is how far its end misses its start, relative to the sizes of coordinates and velocities along it.

    Attributes
    ----------
    name : str
        Of the system.
    motion : Motion
        One period.
    period : float
        [s]
    basis : (2 n, d) array
        Columns are changes of the start (positions, then velocities) along the constraints that hold there.
    monodromy : (d, d) array or None
        What becomes of them after one period, in the same basis.
    steady : tuple of str
        Coordinates that need not return.
    ones : int
        Multipliers that are 1 whatever the motion: of time where nothing depends on it, of steady coordinates on which
        nothing depends, of conserved quantities (families of cycles).
    families : int
        How many of these are families of which this cycle is one: the nearest to the guess was taken.
    iterations : int
    reason : str
    """

    status: CycleStatus
    name: str
    motion: Motion
    period: float
    basis: Array
    monodromy: Array | None
    steady: tuple[str, ...] = ()
    ones: int = 0
    families: int = 0
    iterations: int = 0
    reason: str = ""
    params: Mapping[str, float] = field(default_factory=dict)

    @property
    def multipliers(self) -> NDArray[np.complex128] | None:
        """The eigenvalues of the monodromy matrix, the largest first; None where there is none."""
        if self.monodromy is None:
            return None
        values = np.linalg.eigvals(self.monodromy).astype(complex)
        return np.asarray(values[np.lexsort((-values.imag, -values.real, -np.round(np.abs(values), 9)))])

    @property
    def stable(self) -> bool | None:
        """Whether all multipliers but the ones by nature lie inside the unit circle; None where that is not known."""
        values = self.multipliers
        if values is None or self.status is not CycleStatus.CLOSED:
            return None
        rest = np.delete(values, np.argsort(np.abs(values - 1.0))[: self.ones])
        return bool((np.abs(rest) < 1.0 - ON_CIRCLE).all())

    @property
    def state(self) -> dict[str, float]:
        """The start, from which `simulate` can go round."""
        return dict(self.motion.at(float(self.motion.t[0])))

    @titling
    def plot(self, what: str | None = None, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the cycle; return the Axes (extra ``plot``).

        Parameters
        ----------
        what : str, optional
            'multipliers' in the complex plane; or a coordinate, against which its velocity is drawn.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        if what == "multipliers":
            from zwang._plot.spectrum import draw_multipliers

            if self.multipliers is None:
                raise DeclarationError(f"{self.name}: this cycle has no multipliers: {self.reason}")
            return draw_multipliers(self.multipliers, self.name, ax=ax)
        names = self.motion.coordinates
        free = [name for name in names if name not in self.steady] or list(names)
        chosen = free[0] if what is None else what
        speed = self.motion.velocities[names.index(chosen)] if chosen in names else chosen
        return self.motion.plot(speed, against=chosen if chosen in names else free[0], ax=ax)

    def animate(self, path: str | Path | None = None, *, drawing: Any = None, frames: int | None = None,
                fps: int = 30, progress: Progress = None) -> Any:  # fmt: skip
        """Write a film of one period, or return it for a notebook; see `Motion.animate`."""
        return self.motion.animate(path, drawing=drawing, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        lines = [f"Cycle of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        lines.append(f"  period {self.period:.12g}, misses its start by {self.residual:.1e} of the sizes")
        kinds = [event.kind for event in self.motion.events]
        if kinds:
            lines.append(f"  events: {', '.join(kinds[:MOST_SHOWN])}{', ...' if len(kinds) > MOST_SHOWN else ''}")
        values = self.multipliers
        if values is not None:
            shown = ", ".join(_number(value) for value in values[:MOST_SHOWN])
            verdict = {True: "stable", False: "not stable", None: ""}[self.stable]
            lines.append(f"  multipliers {shown}{f': {verdict}' if verdict else ''}")
        if self.families:
            lines.append(f"  one of a family of {self.families} dimensions: the nearest to the guess")
        return "\n".join(lines)


def _number(value: complex) -> str:
    if abs(value.imag) <= 1e-9 * max(abs(value), 1e-3):
        return f"{value.real if abs(value.real) > 1e-9 else 0.0:.6g}"
    return f"{value.real:.6g}{value.imag:+.6g}i"
