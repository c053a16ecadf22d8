"""What can be proved of the configuration space in one box.

For n coordinates and m constraints, m = n - 1, a coordinate x_k is chosen as parameter and the others are written as
its functions: Krawczyk's operator on them, with the inverse Y of the Jacobian at the middle,

    K = c - Y f(c) - Y J_k (X_k - c_k) + (1 - Y J)(X - c),

encloses every solution in the box X. If it does not meet X, there is none; if it lies in the interior of X, there is
exactly one for every x_k, and the curve in X is the smooth graph of a function of x_k. For m = n nothing is left over,
and it is one point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._trace.exhaustive_balls import Enclosure, corners

Array = NDArray[np.float64]
REGULAR = 1e-10  # below it the inverse of a Jacobian says nothing
CONTRACTS = 0.95  # of an interval Newton step: closer to one it doesn't pay
WIDEN_ALONG, WIDEN_ACROSS = 0.06, 0.15
LEAST = 1e-6
"""Of the longest side, to each side: a curve in a plane of the coordinates narrows boxes to nothing, and the ends of
others are known to rounding."""
GAIN = 0.7  # of the volume: beyond it a box is cut in two
TIGHT = 1e-3  # relative width at which a contraction has settled


@dataclass(frozen=True, eq=False)
class BoxPiece:
    """A box in which the curve is proved to be one graph over the coordinate `along` (None: one point)."""

    low: Array
    high: Array
    along: int | None


@dataclass(frozen=True, eq=False)
class BoxVerdict:
    """What was found of a box: 'empty', 'piece', 'smaller' (go on with `low`, `high`), or 'split' at `where`."""

    kind: str
    piece: BoxPiece | None = None
    low: Array | None = None
    high: Array | None = None
    where: int = 0


def inverse(matrix: Array) -> Array | None:
    """Return the inverse of a small matrix; None where it is singular to rounding or not finite."""
    if matrix.shape == (1, 1):
        pivot = float(matrix[0, 0])
        return np.array([[1.0 / pivot]]) if math.isfinite(pivot) and abs(pivot) > 1e-150 else None
    try:
        found = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    size = float(np.abs(found).max()) * float(np.abs(matrix).max())
    return np.asarray(found, dtype=float) if size < 1 / REGULAR else None


class Prover:
    """Proofs about boxes for one set of constraints."""

    def __init__(self, enclosure: Enclosure, rows: Sequence[int] | None = None) -> None:
        # `rows`: the equations that determine the curve, where others repeat them; all of them exclude boxes.
        self.enclosure, self.balls = enclosure, enclosure.balls
        self.rows = list(range(enclosure.m)) if rows is None else list(rows)
        self.n, self.m = enclosure.n, len(self.rows)
        self.evaluated = 0

    def examine(self, low: Array, high: Array) -> BoxVerdict:
        """Return what can be proved of a box."""
        self.evaluated += 1
        X = self.balls.box(low.tolist(), high.tolist())
        if any(not value.contains(0) for value in self.enclosure.values(X)):
            return BoxVerdict("empty")
        if any(gap < 0 for gap in self.enclosure.gaps(X)):
            return BoxVerdict("empty")
        J = self.enclosure.jacobian(X)
        if not all(item.is_finite() for row in J for item in row):
            return BoxVerdict("split", where=int(np.argmax(high - low)))
        middle = 0.5 * (low + high)
        value = self.enclosure.values([self.balls.arb(item) for item in middle.tolist()])
        shifts = [x - c for x, c in zip(X, middle.tolist(), strict=True)]
        narrowed = self._sweep(value, J, shifts, middle, low, high)
        if narrowed is None:
            return BoxVerdict("empty")
        value, J = [value[i] for i in self.rows], [J[i] for i in self.rows]
        centre = np.array([[float(item.mid()) for item in row] for row in J]).reshape(self.m, self.n)
        proof = self._newton(value, J, shifts, centre, middle, low, high)
        if isinstance(proof, BoxVerdict):
            return proof
        a, b = narrowed if proof is None else (np.maximum(narrowed[0], proof[0]), np.minimum(narrowed[1], proof[1]))
        if (a > b).any():
            return BoxVerdict("empty")
        if np.prod((b - a) / (high - low)) < GAIN:
            return BoxVerdict("smaller", low=a, high=b)
        size = np.array([[float(item.abs_upper()) for item in row] for row in J]).reshape(self.m, self.n)
        return BoxVerdict("split", where=self._worst(size, high - low), low=a, high=b)

    def _worst(self, size: Array, width: Array) -> int:
        """Return the coordinate whose width makes the equations vary most, never one that is much the thinner."""
        smear = (size * width).max(axis=0, initial=0.0)
        smear = np.where(width >= 0.05 * width.max(), smear, 0.0)
        return int(np.argmax(smear)) if smear.max() > 0 else int(np.argmax(width))

    def _sweep(
        self, value: Any, J: Any, shifts: Any, middle: Array, low: Array, high: Array
    ) -> tuple[Array, Array] | None:
        """Narrow the box by each equation for each coordinate (mean value form); None where nothing is left."""
        a, b = low.copy(), high.copy()
        for fc, row in zip(value, J, strict=True):
            terms = [slope * shift for slope, shift in zip(row, shifts, strict=True)]
            total = fc
            for term in terms:
                total = total + term
            if not total.contains(0):
                return None
            for j, slope in enumerate(row):
                if slope.contains(0):
                    continue
                others = fc
                for l, term in enumerate(terms):
                    if l != j:
                        others = others + term
                least, most = corners(-others / slope)
                slack = 4e-16 * abs(middle[j])
                a[j], b[j] = max(a[j], middle[j] + least - slack), min(b[j], middle[j] + most + slack)
                if a[j] > b[j]:
                    return None
        return a, b

    def _newton(
        self, value: Any, J: Any, shifts: Any, centre: Array, middle: Array, low: Array, high: Array
    ) -> BoxVerdict | tuple[Array, Array] | None:
        """Return a verdict, or a smaller box, or None where the operator says nothing."""
        chosen = self._parameter(centre)
        if chosen is None:
            return None
        along, Y = chosen
        found = self._krawczyk(value, J, shifts, middle, along, Y)
        if found is None:
            return None
        least, most, strength = found
        rest = [j for j in range(self.n) if j != along]
        a, b = np.maximum(low[rest], least), np.minimum(high[rest], most)
        if (a > b).any():
            return BoxVerdict("empty")
        if strength < CONTRACTS:
            piece = self._widened(low, high, least, most, rest, along)
            if piece is None and (least > low[rest]).all() and (most < high[rest]).all():
                piece = BoxPiece(low, high, along)
            if piece is not None:
                return BoxVerdict("piece", piece)
        smaller = low.copy(), high.copy()
        smaller[0][rest], smaller[1][rest] = a, b
        return smaller

    def _parameter(self, centre: Array) -> tuple[int | None, Array] | None:
        """Return the coordinate along which the curve runs and the inverse of the rest of the Jacobian."""
        if self.n == self.m:
            along = None
        elif self.n == 2:
            # The coordinate in which the equation is flatter.
            along = 1 if abs(centre[0, 0]) > abs(centre[0, 1]) else 0
        else:
            along = int(np.argmax(np.abs(np.linalg.svd(centre)[2][-1])))
        rest = [j for j in range(self.n) if j != along]
        Y = inverse(centre[:, rest])
        return None if Y is None else (along, Y)

    def _krawczyk(
        self, value: Any, J: Any, shifts: Any, middle: Array, along: int | None, Y: Array
    ) -> tuple[Array, Array, float] | None:
        """Return the operator's box in the other coordinates, and the largest row sum of |1 - Y J|."""
        rest = [j for j in range(self.n) if j != along]
        least, most, strength = np.empty(self.m), np.empty(self.m), 0.0
        for i, row in enumerate(Y.tolist()):
            image = 0
            for y, fc in zip(row, value, strict=True):
                image = image - y * fc
            if along is not None:
                slope = 0
                for y, line in zip(row, J, strict=True):
                    slope = slope + y * line[along]
                image = image - slope * shifts[along]
            size = 0.0
            for place, j in enumerate(rest):
                entry: Any = 1 if place == i else 0
                for y, line in zip(row, J, strict=True):
                    entry = entry - y * line[j]
                image = image + entry * shifts[j]
                size += float(entry.abs_upper())
            # `size` was added up in floats; the margin below 1 is far larger than its rounding.
            strength = max(strength, size)
            bottom, top = corners(image)
            c = middle[rest[i]]
            slack = 2.3e-16 * abs(c) * 2
            least[i], most[i] = c + bottom - slack, c + top + slack
        return (least, most, strength) if np.isfinite(strength) else None

    def _widened(
        self, low: Array, high: Array, least: Array, most: Array, rest: list[int], along: int | None
    ) -> BoxPiece | None:
        """Return a somewhat larger box that holds the given one and is proved to hold one graph."""
        a, b = low.copy(), high.copy()
        if along is not None:
            width = high[along] - low[along]
            a[along] -= WIDEN_ALONG * width
            b[along] += WIDEN_ALONG * width
        bottom, top = np.minimum(low[rest], least), np.maximum(high[rest], most)
        pad = WIDEN_ACROSS * (top - bottom) + LEAST * (high - low).max() + 1e-12
        a[rest], b[rest] = bottom - pad, top + pad
        return BoxPiece(a, b, along) if self.proves(a, b, along) else None

    def proves(self, low: Array, high: Array, along: int | None) -> bool:
        """Whether a box is proved to hold exactly one graph over a coordinate."""
        found = self._operator(low, high, along)
        if found is None:
            return False
        least, most, strength = found
        rest = [j for j in range(self.n) if j != along]
        return bool(strength < 0.999 and (least > low[rest]).all() and (most < high[rest]).all())

    def _operator(self, low: Array, high: Array, along: int | None) -> tuple[Array, Array, float] | None:
        X = self.balls.box(low.tolist(), high.tolist())
        rows = self.enclosure.jacobian(X)
        J = [rows[i] for i in self.rows]
        if not all(item.is_finite() for row in J for item in row):
            return None
        rest = [j for j in range(self.n) if j != along]
        centre = np.array([[float(item.mid()) for item in row] for row in J]).reshape(self.m, self.n)[:, rest]
        Y = inverse(centre)
        if Y is None:
            return None
        middle = 0.5 * (low + high)
        values = self.enclosure.values([self.balls.arb(item) for item in middle.tolist()])
        value = [values[i] for i in self.rows]
        shifts = [x - c for x, c in zip(X, middle.tolist(), strict=True)]
        return self._krawczyk(value, J, shifts, middle, along, Y)

    def point(self, piece: BoxPiece, at: float | None) -> tuple[Array, Array]:
        """Return a tight box around the curve's point in a piece, at a value of its coordinate `along`."""
        return self.stretch(piece, 0.0 if at is None else at, 0.0 if at is None else at)

    def stretch(self, piece: BoxPiece, start: float, end: float) -> tuple[Array, Array]:
        """Return a box around the curve in a piece, between two values of its coordinate `along`."""
        low, high = piece.low.copy(), piece.high.copy()
        if piece.along is not None:
            low[piece.along], high[piece.along] = start, end
        rest = [j for j in range(self.n) if j != piece.along]
        for _ in range(12):
            found = self._operator(low, high, piece.along)
            if found is None:
                break
            a, b = np.maximum(low[rest], found[0]), np.minimum(high[rest], found[1])
            settled = (b - a).sum() > 0.9 * (high - low)[rest].sum()
            low[rest], high[rest] = a, b
            # Other pieces may be far thinner than this one: a point is closed in as far as it goes.
            if settled or (start < end and (b - a <= TIGHT * (piece.high - piece.low)[rest] + 1e-14).all()):
                break
        return low, high
