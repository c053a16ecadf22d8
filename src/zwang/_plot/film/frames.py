"""A film as data: a scene over time, or along an arc, and what is marked on its time line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._plot.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Film:
    """What a player shows.

    Attributes
    ----------
    times : (frames,) array
        What runs: seconds, or metres along an arc.
    scene : Scene
        One frame for each of them.
    marks : list of (time, text)
        Events, shown on the time line.
    title : str
    quantity, unit : str
        What the clock shows.

    Examples
    --------
    >>> film = Film(np.arange(3.0), Scene(("A", "B"), np.zeros((3, 2, 2)), bars=[(0, 1)], ground=[0]))
    >>> film.clock(1.0)
    't = 1.00 s'
    """

    times: Array
    scene: Scene
    marks: Sequence[tuple[float, str]] = ()
    title: str = ""
    quantity: str = "t"
    unit: str = "s"

    @property
    def digits(self) -> int:
        """How many decimals the clock shows."""
        return 4 if float(np.ptp(self.times)) < 1 else 2

    def clock(self, time: float) -> str:
        """Return the text of the clock."""
        return f"{self.quantity} = {time:.{self.digits}f} {self.unit}".rstrip()
