"""A result that is not finite is no answer: the gate that every result passes when it is made.

Where a number may be nan or infinite the class says so by leaving the field out of ``_numbers``: reactions that are
undetermined, exponents that nothing measured, ranges without a bound.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zwang.errors import StateError

MANY = 8
"""Arrays above which it is quicker to look at all of them at once."""


class NotFiniteError(StateError):
    """The equations are finite at a state, but what follows from them is not: too large or too small for doubles."""


@contextlib.contextmanager
def within_doubles() -> Iterator[None]:
    """Compute without warnings of overflow, which the gate makes errors; where a library fails, say the same."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            yield
        except (np.linalg.LinAlgError, OverflowError, ZeroDivisionError) as error:
            raise NotFiniteError(
                f"The equations can't be solved in doubles at this state ({str(error).rstrip('.')}). The values given "
                "are too large, or too small; choose other units."
            ) from error


def require_finite(what: str, fields: Mapping[str, Any]) -> None:
    """Raise a NotFiniteError that names the first quantity with a number that is nan or infinite.

    Examples
    --------
    >>> require_finite("Evaluation of 'rod'", {"accelerations": np.array([1.0, np.nan])})
    Traceback (most recent call last):
        ...
    zwang._results.finite.NotFiniteError: Evaluation of 'rod': the accelerations are not finite. The values given are \
too large, or too small, for the arithmetic of doubles; choose other units.
    """
    for name, value in fields.items():
        if not _finite(value):
            raise NotFiniteError(
                f"{what}: the {name.replace('_', ' ')} are not finite. The values given are too large, or too small, "
                "for the arithmetic of doubles; choose other units."
            )


def _finite(value: Any) -> bool:
    if type(value) is np.ndarray and value.dtype == float:
        flat = value.ravel()
        if math.isfinite(flat.dot(flat)):
            return True  # as most are, and told in less time than by looking at each
    if isinstance(value, Mapping):
        return all(_finite(item) for item in value.values())
    if isinstance(value, (tuple, list)):
        if len(value) > MANY and all(type(item) is np.ndarray for item in value):
            return bool(np.isfinite(np.concatenate([item.ravel() for item in value])).all())
        return all(_finite(item) for item in value)
    return value is None or bool(np.isfinite(value).all())
