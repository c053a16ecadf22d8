"""A box cut down to the part that the constraints leave of it.

With g(x) = g(m) + J (x - m) over a box, m its middle and J balls of slopes, a constraint g = 0 bounds each variable by
the others. Solved first for as many variables as there are constraints, the widest ones, the equations of a loop bound
each of them by the variables that remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._graph.graph import Node
from zwang._guarantee.boxes import Bounds, BoxedSystem, interval
from zwang._guarantee.slopes import Sloped

Array = NDArray[np.float64]

ROUNDS = 6
"""Times that a box is narrowed in a row."""
WORTH = 0.9
"""Part of a width that is left where it is worth to go on."""


class Narrowing:
    """Boxes without what the constraints exclude.

    Parameters
    ----------
    boxed : BoxedSystem
    held : sequence of nodes
        Values of the constraints that hold.
    """

    def __init__(self, boxed: BoxedSystem, held: Sequence[Node]) -> None:
        self.boxed, self.held = boxed, list(held)

    def __call__(self, low: Bounds, high: Bounds) -> tuple[Bounds, Bounds] | None:
        """Return a box inside the given one with all its states that satisfy the constraints; None where none does."""
        if not self.held:
            return low, high
        for _ in range(ROUNDS):
            before = np.array(high) - np.array(low)
            made = self._once(low, high)
            if made is None:
                return None
            low, high = made
            after = np.array(high) - np.array(low)
            if not (after < WORTH * before).any():
                break
        return low, high

    def _once(self, low: Bounds, high: Bounds) -> tuple[Bounds, Bounds] | None:
        over = self.boxed.at(self.held, low, high)
        if any(item.value.is_finite() and 0 not in item.value for item in over):
            return None
        middle = tuple(0.5 * (a + b) for a, b in zip(low, high, strict=True))
        here = self.boxed.at(self.held, middle, middle)
        rows = [(centre.value, item.slopes) for centre, item in zip(here, over, strict=True)]
        rows = [row for row in rows if row[0].is_finite() and all(slope.is_finite() for slope in row[1])]
        rows += self._combined(rows, here, np.array(high) - np.array(low))
        a, b = list(low), list(high)
        for value, slopes in rows:
            if not _narrow(value, slopes, middle, a, b):
                return None
        return tuple(a), tuple(b)

    def _combined(
        self, rows: Sequence[tuple[Any, list[Any]]], here: Sequence[Sloped], widths: Array
    ) -> list[tuple[Any, list[Any]]]:
        """Return combinations of the equations, each for one of the widest variables."""
        if len(rows) < len(here) or len(rows) < 2 or len(rows) > len(widths):
            return []
        slopes = np.array([[float(slope.mid()) for slope in item.slopes] for item in here])
        chosen = _columns(slopes * widths, len(rows))
        square = slopes[:, chosen]
        if np.linalg.cond(square) > 1e8:
            return []
        inverse = np.linalg.inv(square)
        return [
            (
                sum((arb(float(w)) * value for w, (value, _) in zip(weights, rows, strict=True)), arb(0)),
                [
                    sum((arb(float(w)) * row[j] for w, (_, row) in zip(weights, rows, strict=True)), arb(0))
                    for j in range(len(widths))
                ],
            )
            for weights in inverse
        ]


def _columns(matrix: Array, count: int) -> list[int]:
    """Return the columns that are largest across those chosen before."""
    left = matrix.copy()
    chosen: list[int] = []
    for _ in range(count):
        sizes = np.linalg.norm(left, axis=0)
        sizes[chosen] = -1.0
        k = int(np.argmax(sizes))
        chosen.append(k)
        if sizes[k] > 0:
            unit = left[:, k] / sizes[k]
            left = left - np.outer(unit, unit @ left)
    return chosen


def _narrow(value: Any, slopes: Sequence[Any], middle: Bounds, low: list[float], high: list[float]) -> bool:
    """Narrow every variable by value + slopes . (x - middle) = 0; False where no x of the box satisfies it."""
    parts = [slope * (interval(a, b) - arb(m)) for slope, a, b, m in zip(slopes, low, high, middle, strict=True)]
    for j, slope in enumerate(slopes):
        if 0 in slope or low[j] == high[j]:
            continue
        others = sum((part for k, part in enumerate(parts) if k != j), value)
        found = arb(middle[j]) - others / slope
        if not found.is_finite():
            continue
        least, most = _outside(found)
        if least > high[j] or most < low[j]:
            return False
        low[j], high[j] = max(low[j], least), min(high[j], most)
        parts[j] = slope * (interval(low[j], high[j]) - arb(middle[j]))
    return True


def _outside(ball: Any) -> tuple[float, float]:
    """Return doubles around a ball."""
    return float(np.nextafter(float(ball.lower()), -np.inf)), float(np.nextafter(float(ball.upper()), np.inf))
