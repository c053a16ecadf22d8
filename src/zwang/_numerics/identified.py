"""Coordinates of one configuration: angles modulo a turn, quaternions with either sign.

An array `identified` (n,) says what belongs together: a positive entry is the period of an angle, equal negative
entries next to each other are the components of one quaternion, e and -e being one turn, zero is any other coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Array = NDArray[np.float64]


def quaternions_in(identified: Array) -> Iterator[slice]:
    """Yield where the quaternions stand.

    Examples
    --------
    >>> list(quaternions_in(np.array([6.28, -1.0, -1.0, -1.0, -1.0, 0.0])))
    [slice(1, 5, None)]
    """
    if (identified < 0).any():
        for number in np.unique(identified[identified < 0]):
            places = np.flatnonzero(identified == number)
            yield slice(int(places[0]), int(places[-1]) + 1)


def between(a: Array, b: Array, identified: Array) -> Array:
    """Return b - a for the nearest of what b stands for: angles the shorter way round, quaternions of either sign.

    Examples
    --------
    >>> between(np.array([3.0]), np.array([-3.0]), np.array([2 * np.pi])).round(3).tolist()
    [0.283]
    """
    d = b - a
    turns = identified > 0
    d = np.asarray(np.where(turns, d - identified * np.round(d / np.where(turns, identified, 1.0)), d))
    for part in quaternions_in(identified):
        other = np.where((a[..., part] * b[..., part]).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
        d[..., part] = other * b[..., part] - a[..., part]
    return d


def distinct(rows: Array, identified: Array, near: float) -> Array:
    """Return the rows that stand for places farther apart than `near`, in the largest of their coordinates.

    Examples
    --------
    >>> distinct(np.array([[0.5, 0.5, 0.5, 0.5], [-0.5, -0.5, -0.5, -0.5]]), np.full(4, -1.0), 1e-6).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    left, kept = np.asarray(rows, dtype=float), []
    while len(left):
        kept.append(left[0])
        left = left[np.abs(between(left[0], left, identified)).max(axis=1, initial=0.0) > near]
    return np.array(kept).reshape(len(kept), len(identified))


@njit(_nrt=False)
def nearest_image(a: Any, b: Any, identified: Any, image: Any) -> None:
    """Write the nearest to a of what b stands for."""
    j = 0
    while j < b.size:
        period = identified[j]
        if period >= 0.0:
            image[j] = b[j]
            if period > 0.0:
                image[j] += period * math.floor((a[j] - b[j]) / period + 0.5)
            j += 1
            continue
        first, dot = j, 0.0
        while j < b.size and identified[j] == period:
            dot += a[j] * b[j]
            j += 1
        for k in range(first, j):
            image[k] = -b[k] if dot < 0.0 else b[k]
