"""How many components no start has met: an estimate from how often the others were met.

Starts that end on curves are captures. Components met once are as rare as those that were missed: with f1 of them, and
f2 that were met twice, about f1 (f1 - 1)/(2 (f2 + 1)) were met by none (Chao 1984, without bias).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._trace import result_graph
from zwang._trace.arcs import Follower, RawArc

Array = NDArray[np.float64]
OFTEN = 4
"""How often each component is met before no more starts are made."""
DOUBLINGS = 6
"""How often the number of starts is doubled at most."""


def unseen(met: Sequence[int]) -> float:
    """Return the estimated number of components that no start has met, from how often the others were.

    Examples
    --------
    >>> unseen([9, 12, 7]), unseen([1, 1, 1, 2, 5])
    (0.0, 1.5)
    """
    once, twice = sum(item <= 1 for item in met), sum(item == 2 for item in met)
    return once * (once - 1) / (2.0 * (twice + 1))


def met_components(solver: Any, points: Any, arcs: list[RawArc], x: Array) -> list[int]:
    """Return how many of the points (k, n), in x, lie on each component that has an arc."""
    follower = Follower(solver, points)
    of_arcs, _ = result_graph.components_of(len(points.found), arcs)
    counts = dict.fromkeys(of_arcs, 0)
    for arc, component in zip(arcs, of_arcs, strict=True):
        counts[component] += int(follower.covered([arc], x).sum())
    return list(counts.values())
