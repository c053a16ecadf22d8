"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["num", "share", "vec"]


def num(value: Any, digits: int = 6) -> str:
    """Return a number as a sentence shows it.

    Examples
    --------
    >>> num(-2 / 7), num(3.0), num(-1e-17), num(1.25e-9)
    ('-0.285714', '3', '-1e-17', '1.25e-09')
    """
    return f"{float(value) + 0.0:.{digits}g}"


def vec(values: Iterable[Any], digits: int = 6) -> str:
    """Return numbers in brackets; what is rounding beside the largest of them is zero.

    Examples
    --------
    >>> vec([3.0, -2.0, 1e-18])
    '(3, -2, 0)'
    """
    array = np.asarray(list(values), dtype=float)
    size = float(np.abs(array).max(initial=0.0))
    clean = np.where(np.abs(array) <= 1e-13 * max(size, 1.0), 0.0, array)
    return f"({', '.join(num(item, digits) for item in clean)})"


def share(part: int, whole: int) -> str:
    """Return how many of how many.

    Examples
    --------
    >>> share(7, 200)
    '7 of 200'
    """
    return f"{int(part)} of {int(whole)}"
