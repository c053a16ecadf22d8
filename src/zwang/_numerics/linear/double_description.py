"""Extreme rays of a pointed cone {y : H y >= 0} by the double description method, in compiled code.

Each ray carries the set of inequalities that it satisfies as equalities, as the bits of an integer (so at most 62
inequalities). Two rays span a two-dimensional face, and so make a new ray where a further inequality cuts between
them, if and only if no third ray satisfies all the equalities that they share.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_ROWS = 62  # bits of a set of rows in one integer, sign and one spare apart


@njit
def bits(mask: int) -> int:
    """The number of ones."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit
def adjacent(masks: Ints, count: int, a: int, b: int, least: int) -> bool:
    """Whether rays a and b share a two-dimensional face."""
    common = masks[a] & masks[b]
    if bits(common) < least:
        return False
    holders = 0  # a and b are two of them
    for c in range(count):
        if (masks[c] & common) == common:
            holders += 1
            if holders > 2:
                return False
    return True


@njit
def add_between(rays: Array, masks: Ints, a: int, b: int, value_a: float, value_b: float, bit: int, to: int) -> None:
    """Put the point where the segment between two rays is cut, as a unit vector, at place `to`."""
    size = 0.0
    for i in range(rays.shape[1]):
        rays[to, i] = value_a * rays[b, i] - value_b * rays[a, i]
        size += rays[to, i] ** 2
    size = np.sqrt(size)
    for i in range(rays.shape[1]):
        rays[to, i] /= size
    masks[to] = (masks[a] & masks[b]) | (1 << bit)


@njit("int64(float64[:, ::1], float64[:, ::1], int64[::1], int64, float64[::1], float64)")
def extreme_rays(inequalities: Array, rays: Array, masks: Ints, start: int, values: Array, tol: float) -> int:
    """Cut the simplicial cone of the first `start` inequalities with the others; return the number of rays.

    On entry rays[:start] are its unit extreme rays, with their masks. -1: more rays than fit.
    """
    total, dim = inequalities.shape
    count = start
    for row in range(start, total):
        for r in range(count):
            value = 0.0
            for i in range(dim):
                value += inequalities[row, i] * rays[r, i]
            if abs(value) <= tol:
                value = 0.0
                masks[r] |= 1 << row
            values[r] = value
        new = count
        for a in range(count):
            if values[a] <= 0.0:
                continue
            for b in range(count):
                if values[b] < 0.0 and adjacent(masks, count, a, b, dim - 2):
                    if new >= len(masks):
                        return -1
                    add_between(rays, masks, a, b, values[a], values[b], row, new)
                    new += 1
        kept = 0
        for r in range(new):
            if r >= count or values[r] >= 0.0:
                if kept != r:
                    rays[kept, :] = rays[r, :]
                    masks[kept] = masks[r]
                kept += 1
        count = kept
    return count
