"""Rows of long arrays to and from a small buffer, block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
BLOCK = 128


@njit("void(float64[::1], int64, float64[::1], int64)")
def take(source: Floats, start: int, work: Floats, at: int) -> None:
    """Copy a block of a row, or what is left of it, into the buffer."""
    part = source[start : start + BLOCK]
    into = work[at : at + BLOCK]
    if part.size == BLOCK:
        for j in range(BLOCK):  # of fixed length: done in vector registers
            into[j] = part[j]
    else:
        for j in range(part.size):
            into[j] = part[j]


@njit("void(float64[::1], int64, float64[::1], int64)")
def give(work: Floats, at: int, target: Floats, start: int) -> None:
    """Copy a block of results, or as many as are wanted, into a row."""
    part = work[at : at + BLOCK]
    into = target[start : start + BLOCK]
    if into.size == BLOCK:
        for j in range(BLOCK):
            into[j] = part[j]
    else:
        for j in range(into.size):
            into[j] = part[j]
