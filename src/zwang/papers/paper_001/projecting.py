"""Ways to project onto a box in the kinetic metric, and the algorithm of example 2 of paper 001 for the symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SWEEPS = 2000  # of a linearly convergent projection
SETTLED = 1e-10  # relative: it moves no more


def project(R: Any, A: Any, bound: Any, i: int) -> Any:
    """Return the projection of R onto |R_i| <= bound_i in the metric of A^-1, formula (2.9); also of many at once."""
    over = R[..., i] - np.clip(R[..., i], -bound[..., i], bound[..., i])
    return R - (over / A[..., i, i])[..., None] * A[..., i, :]


def cyclic(F: Any, A: Any, bound: Any) -> Any:
    """Return what projecting onto one slab after the other tends to, as printed."""
    R = F
    for _ in range(SWEEPS):
        before = R
        for i in range(F.shape[-1]):
            R = project(R, A, bound, i)
        if np.abs(R - before).max() <= SETTLED:
            break
    return R


def dykstra(F: Any, A: Any, bound: Any) -> Any:
    """Return the projection onto the box: Dykstra's way remembers the last step of each slab and takes it back."""
    R, steps = F, np.zeros(F.shape)
    for _ in range(SWEEPS):
        before = R
        for i in range(F.shape[-1]):
            back = R + steps[..., i, None] * A[..., i, :]
            R = project(back, A, bound, i)
            steps[..., i] = (back[..., i] - R[..., i]) / A[..., i, i]
        if np.abs(R - before).max() <= SETTLED:
            break
    return R


def block(A: Any, i: int) -> Any:
    """Return the matrix of (2.11): A with row and column i left out (q_i' = 0)."""
    return np.delete(np.delete(A, i, axis=0), i, axis=1)


def schur(A: Any, i: int) -> Any:
    """Return the matrix that belongs to a frozen R_i: the Schur complement."""
    return block(A - np.outer(A[:, i], A[i]) / A[i, i], i)


class SymbolAlgorithm:
    """The algorithm of example 2, for any number of blocks; it counts its projections."""

    def __init__(self, freeze: Callable[[Any, int], Any]) -> None:
        self.freeze = freeze
        self.projections = 0

    def __call__(self, F: Any, A: Any, bound: Any) -> tuple[int, ...]:
        """Return the symbols."""
        if len(F) == 1:
            return (_symbol(F[0], bound[0]),)
        # All symbols but the first: project along the first, freeze it, go on with the rest.
        rest = self(self._without(F, A, bound, 0), self.freeze(A, 0), bound[1:])
        # The first: project the others away, one after the other.
        G, M, left = F, A, bound
        while len(G) > 1:
            G, M, left = self._without(G, M, left, 1), self.freeze(M, 1), np.delete(left, 1)
        return (_symbol(G[0], left[0]), *rest)

    def _without(self, F: Any, A: Any, bound: Any, i: int) -> Any:
        self.projections += 1
        return np.delete(project(F, A, bound, i), i)


def _symbol(value: float, bound: float) -> int:
    return 0 if abs(value) <= bound * (1 + 1e-12) else int(np.sign(value))
