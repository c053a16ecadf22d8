"""Where a motion crosses a section: its Poincare points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable(shapes={"t": "k", "q": "k n", "v": "k n", "before": "k n"})
@dataclass(frozen=True, eq=False)
class PoincarePoints:
    """The points at which a motion crosses a section.

    Attributes
    ----------
    t : (k,) array
    q, v : (k, n) arrays
        Where velocities jump, those after it.
    before : (k, n) array
        The velocities before it.
    """

    t: Array
    q: Array
    v: Array
    before: Array

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"{len(self.t)} points on the section"
