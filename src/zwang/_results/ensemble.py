"""`Ensemble`: many motions of one system, from arrays of states or parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable
class EnsembleStatus(Enum):
    """How the motions of an ensemble ended."""

    REACHED = "Every motion reached its end."
    MIXED = "Some motions stopped before their end; each says why."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Ensemble(Result):
    """Many motions of one system; each has its own length, steps and events.

    Attributes
    ----------
    name : str
        Of the system.
    shape : tuple of int
        Of the arrays that were given.
    motions : tuple of Motion
        In the order of the flattened arrays; ``ensemble[i, j]`` finds one by its place.
    """

    name: str
    shape: tuple[int, ...]
    motions: tuple[Motion, ...]

    def __len__(self) -> int:
        return len(self.motions)

    def __iter__(self) -> Iterator[Motion]:
        return iter(self.motions)

    def __getitem__(self, place: Any) -> Motion:
        return self.motions[int(np.arange(len(self.motions)).reshape(self.shape)[place])]

    @property
    def statuses(self) -> NDArray[np.str_]:
        """The names of the statuses, in the shape of the arrays."""
        return np.array([motion.status.name for motion in self.motions]).reshape(self.shape)

    @property
    def end(self) -> dict[str, Array]:
        """The last states: name of each coordinate and velocity, and 't', -> array."""
        ends = [motion.end for motion in self.motions]
        return {name: np.array([end[name] for end in ends]).reshape(self.shape) for name in ends[0]}

    def at(self, time: float) -> dict[str, Array]:
        """Return the states at a time: name -> array, nan where a motion had ended before."""
        names = (*self.motions[0].coordinates, *self.motions[0].velocities)
        rows = [motion.at(time) if motion.t[0] <= time <= motion.t[-1] else {} for motion in self.motions]
        found = {name: np.array([row.get(name, np.nan) for row in rows]).reshape(self.shape) for name in names}
        return {**found, "t": np.full(self.shape, float(time))}

    def save(self, path: str | Path) -> Path:
        """Write all motions with what follows from them; `load_result` reads them back.

        Parameters
        ----------
        path : path
            ``.npz``, or ``.nc`` with the extra ``io``.
        """
        for motion in self.motions:
            motion.complete()
        return super().save(path)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in Counter(self.statuses.flat).most_common())
        events = sum(len(motion.events) for motion in self.motions)
        return f"Ensemble of '{self.name}': {len(self)} motions of shape {self.shape} ({counts}), {events} events"


def _residual(self: Ensemble) -> Array:
    """How far each motion misses its equations, in the shape of the arrays."""
    return np.array([motion.residual for motion in self.motions]).reshape(self.shape)


def _ignore(self: Ensemble, value: Any) -> None:
    """Take what the constructor brings: residuals are those of the motions."""


Ensemble.residual = property(_residual, _ignore)
