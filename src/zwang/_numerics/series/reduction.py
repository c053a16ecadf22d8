"""Lyapunov-Schmidt reduction at a point: the equations that are left in the kernel of the Jacobian, as polynomials.

With F'(q) cut at its rank r, q = point + K z + P w(z) where K spans the kernel: w solves the r equations that are
regular, and g(z) are the m - r that remain. Both are truncated power series in z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from zwang._numerics.series.arithmetic import Arithmetic
from zwang._numerics.series.power import Series, ring

Vectors = Any
"""A sequence of vectors: lists of numbers, or the rows of an array."""


@dataclass(frozen=True)
class Split:
    """A point with its directions and combinations of equations.

    Attributes
    ----------
    point : sequence of numbers
    kernel, across : sequences of vectors
        Directions in which the equations don't change to first order, and the rest of them.
    left, cokernel : sequences of vectors
        Combinations of equations that are independent, and those that vanish to first order.
    inverse : matrix
        Of (left F' across).
    """

    point: Any
    kernel: Vectors
    across: Vectors
    left: Vectors
    cokernel: Vectors
    inverse: Vectors

    @property
    def rank(self) -> int:
        """The rank of the equations at the point."""
        return len(self.across)


def reduce(
    values: Callable[[list[Series]], Sequence[Any]], split: Split, degree: int, A: Arithmetic
) -> tuple[list[Series], list[Series]]:
    """Return the equations that are left, and the coordinates across the kernel, up to a total degree."""
    R = ring(A, len(split.kernel))
    w = [R.constant(R.zero, 1) for _ in split.across]

    def along(size: int, w: list[Series]) -> list[Series]:
        z = [R.variable(k, size) for k in range(R.variables)]
        q = R.combined([*split.kernel, *split.across], [*z, *w], size)
        found = values([item + start for item, start in zip(q, split.point, strict=True)])
        return [item if isinstance(item, Series) else R.constant(item, size) for item in found]

    # To first order there is nothing across; each turn makes one more degree right.
    for size in range(3 if split.rank else degree + 2, degree + 2):
        w = [_extended(item, size) for item in w]
        miss = _mixed(split.left, along(size, w), size)
        w = [a - b for a, b in zip(w, _mixed(split.inverse, miss, size), strict=True)]
    found = along(degree + 1, [_extended(item, degree + 1) for item in w])
    return _mixed(split.cokernel, found, degree + 1), w


def _mixed(rows: Vectors, series: Sequence[Series], size: int) -> list[Series]:
    """Return the combinations of series that the rows say."""
    if not len(rows):
        return []
    columns = list(zip(*rows, strict=True))
    return series[0].ring.combined(columns, series, size)


def _extended(series: Series, size: int) -> Series:
    """Return a series with zeros in place of what is not known."""
    R = series.ring
    items = R.items(series.c, series.size)
    return R.series([*items, *[R.zero] * (R.length(size) - len(items))])
