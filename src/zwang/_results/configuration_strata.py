"""Rank strata and local types: what is said of configuration spaces of dimension two and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable(shapes={"points": "k n"})
@dataclass(frozen=True, eq=False)
class Stratum:
    """The configurations at which the constraints have one rank.

    Attributes
    ----------
    rank : int
    dimension : int
        Of the stratum, as seen at its samples.
    points : (k, n) array
        Samples, in the order of the coordinates.
    """

    rank: int
    dimension: int
    points: Array

    def __repr__(self) -> str:
        return f"<rank {self.rank}: dimension {self.dimension}, {len(self.points)} samples>"


@storable
@dataclass(frozen=True, eq=False)
class LocalType:
    """What the configuration space looks like at one point.

    Attributes
    ----------
    state : mapping
        Coordinates, velocities (zero) and t.
    kind : str
        'regular' (a manifold); 'isolated' (no other point near); 'cone' (a cone with one apex); 'crossing' (smooth
        sheets that cross); 'curve' (a smooth set of lower dimension); 'umbrella' (Whitney's: a line of crossings ends);
        'tangency', 'cusp' for curves; 'higher' for anything else.
    rank, generic_rank : int
        Of the constraints, here and nearby.
    signature : (int, int, int)
        Positive, negative and vanishing squares of the equation that is left after Lyapunov-Schmidt reduction; empty
        at regular points and where more than one equation is left.
    singular_dimension : int
        Of the set of singular points through this one; -1 at a regular point.
    sentence : str
    """

    state: Mapping[str, float]
    kind: str
    rank: int
    generic_rank: int
    signature: tuple[int, ...]
    singular_dimension: int
    sentence: str

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.sentence}>"
