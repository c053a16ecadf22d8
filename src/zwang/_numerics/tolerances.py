"""Numbers that verbs take as options, checked in one place: finite, of the right type, of the right sign.

A tolerance that is not a number makes every comparison false, and a state far below the floor is then as good as one on
it. So no verb compares with an option before it has passed here; a message names the option and its range.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields
from typing import Any

from zwang.errors import DeclarationError

WIDEST = 1e-2
"""Tolerances are relative to the size of the terms; above this they would decide nothing."""
FINEST = 1e-15
"""Rounding of a double: errors below it can't be asked for."""


@dataclass(frozen=True)
class Tolerances:
    """Below which sizes, relative to the terms, gaps are closed, rates are zero and slips are rest.

    Attributes
    ----------
    gap : float
        Positions are known to rounding, times what a projection leaves; zero means exactly closed.
    rate : float
        The same for velocities along normals: above it a closed contact separates, or an impact is due.
    slip : float
        The same for velocities along tangents: below it a contact rests, and may stick.
    """

    gap: float = 1e-9
    rate: float = 1e-9
    slip: float = 1e-9

    def __post_init__(self) -> None:
        for item in fields(self):
            checked = real(getattr(self, item.name), f"{item.name}_tol", least=0.0, most=WIDEST)
            object.__setattr__(self, item.name, checked)


def real(
    value: Any,
    option: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    where: str = "",
    cure: str = "",
) -> float:
    """Return an option that is one finite real number in its range, as a float.

    Examples
    --------
    >>> real(1, "until")
    1.0
    >>> real(float("nan"), "tol", above=0, most=1e-2, where="rod")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: rod: tol= must be a finite number greater than 0 and at most 0.01; it was given nan.
    """
    found = _as_float(value)
    low = (above is not None and found <= above) or (least is not None and found < least)
    if not math.isfinite(found) or low or (most is not None and found > most):
        raise _wrong(value, option, "a finite number", least, above, most, where, cure)
    return found


def whole(value: Any, option: str, *, least: int | None = None, most: int | None = None, where: str = "") -> int:
    """Return an option that is one whole number in its range, as an int."""
    plain = value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value
    good = isinstance(plain, numbers.Integral) and not isinstance(plain, bool)
    if not good or (least is not None and plain < least) or (most is not None and plain > most):
        raise _wrong(value, option, "a whole number", least, None, most, where, "")
    return int(plain)


def flag(value: Any, option: str, *, where: str = "") -> bool:
    """Return an option that is True or False."""
    if not isinstance(value, bool):
        raise DeclarationError(f"{_start(where)}{option}= must be True or False; it was given {_shown(value)}.")
    return value


def function(value: Any, option: str, *, where: str = "") -> Any:
    """Return an option that is a function or None."""
    if value is not None and not callable(value):
        raise DeclarationError(f"{_start(where)}{option}= must be a function; it was given {_shown(value)}.")
    return value


def _as_float(value: Any) -> float:
    """Return a real number as a float, infinite where it has none; nan for what is no single real number."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar, or an array without axes
    if isinstance(value, bool) or not (
        isinstance(value, numbers.Real) or (getattr(value, "is_number", False) and getattr(value, "is_real", False))
    ):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def _wrong(
    value: Any,
    option: str,
    kind: str,
    least: float | None,
    above: float | None,
    most: float | None,
    where: str,
    cure: str,
) -> DeclarationError:
    bounds = [f"greater than {above:g}"] if above is not None else []
    bounds += [f"at least {least:g}"] if least is not None else []
    bounds += [f"at most {most:g}"] if most is not None else []
    need = f"{kind} {' and '.join(bounds)}".strip()
    return DeclarationError(
        f"{_start(where)}{option}= must be {need}; it was given {_shown(value)}.{' ' + cure if cure else ''}"
    )


def _start(where: str) -> str:
    return f"{where}: " if where else ""


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "an enormous number"
    return text if len(text) <= 40 else f"{text[:37]}..."
