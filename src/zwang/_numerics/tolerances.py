"""The tolerances that decide, each with its reason, and what verbs take as options, checked in one place.

A tolerance that is not a number makes every comparison false, and a state far below the floor is then as good as one on
it. So no verb compares with an option before it has passed here; a message names the option and its range. What is no
option stands in `THRESHOLDS`, and every result tells it in its provenance.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from zwang.errors import DeclarationError, nearest, printable

WIDEST = 1e-2
"""Tolerances are relative to the size of the terms; above this they would decide nothing."""
FINEST = 1e-15
"""Rounding of a double: errors below it can't be asked for."""


def because(value: float, why: str) -> float:
    """Return a field of a record of tolerances: its value, and why it has this size."""
    found: float = field(default=value, metadata={"why": why})
    return found


@dataclass(frozen=True)
class Tolerances:
    """Below which sizes, relative to the terms, gaps are closed, rates are zero and slips are rest."""

    gap: float = because(1e-9, "positions are known to rounding, times what a projection leaves; 0: exactly closed")
    rate: float = because(1e-9, "as positions: above it a closed contact separates, or an impact is due")
    slip: float = because(1e-9, "as positions: below it a contact rests, and may stick")

    def __post_init__(self) -> None:
        for name in ("gap", "rate", "slip"):
            given = getattr(self, name)
            if type(given) is not float or not 0.0 <= given <= WIDEST:  # most are as they should be
                object.__setattr__(self, name, real(given, f"{name}_tol", least=0.0, most=WIDEST))


@dataclass(frozen=True)
class Thresholds:
    """What decides whether rows depend on each other, wherever that is asked: one record, a reason with each field.

    All are relative to rows of unit length (in the metric of the mass matrix, where there is one).

    Examples
    --------
    >>> THRESHOLDS.dependent, THRESHOLDS.reasons["dependent"][:49]
    (1e-07, 'singular values of unit rows at a state: the root')
    """

    rounding: float = because(1e-11, "singular values of unit rows of given numbers: some hundred roundings")
    dependent: float = because(
        1e-7,
        "singular values of unit rows at a state: the root of what a projection onto touching constraints leaves, "
        "1e-14 of a residual is 1e-7 of a place",
    )
    clear: float = because(1e-4, "above it rows are independent beyond doubt: out of reach of a state that is 1e-7 off")
    gram: float = because(1e-10, "eigenvalues of the Gram matrix of unit rows: they are squares of singular values")
    pivot: float = because(1e-10, "of what stood there before elimination: rounding leaves 1e-14 of dependent rows")
    sampled: float = because(1e-6, "singular values at a point of a sample, which was found to 1e-10")

    @cached_property
    def values(self) -> dict[str, float]:
        """Name -> value, as a result's provenance has them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Name -> why it has this size, those of `Tolerances` too."""
        return {item.name: item.metadata["why"] for record in (Thresholds, Tolerances) for item in fields(record)}


THRESHOLDS = Thresholds()


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


MAPPINGS = ("state", "params", "inputs", "box")
"""Arguments that every verb takes as mappings from symbols or names."""
NAMES = ("backend", "tier", "search", "impact", "method", "claim", "verb")
"""Arguments that choose by name."""


def require_kinds(given: Mapping[str, Any]) -> None:
    """Refuse arguments that mean the same for every verb and are of another kind: numbers for mappings, and the like.

    Parameters
    ----------
    given : mapping
        The arguments of a verb by name; what is None or absent is the verb's affair.

    Examples
    --------
    >>> require_kinds({"system": None, "params": 5})
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: params must be a mapping from symbols or names to numbers; it was given 5.
    """
    where = str(getattr(given.get("system"), "name", ""))
    for option, value in given.items():
        if option in MAPPINGS and value is not None and not isinstance(value, Mapping):
            told = ("", "numbers") if option in ("state", "params") else ("=", "values")
            need = f"{told[0]} must be a mapping from symbols or names to {told[1]}"
            raise DeclarationError(f"{_start(where)}{option}{need}; it was given {_shown(value)}.")
        said = option == "claim" and isinstance(value, Mapping)  # bounds of multipliers are a claim too
        if option in NAMES and not said and not isinstance(value, Hashable):  # a list can't be compared with names
            raise DeclarationError(f"{_start(where)}{option}= must be one name; it was given {_shown(value)}.")


def instants(value: Any, where: str) -> Any:
    """Return one time or several as an array of floats."""
    import numpy as np

    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise DeclarationError(
            f"{_start(where)}times must be numbers, one or an array of them; it was given {_shown(value)}."
        ) from None


def names_in(value: Any, option: str, *, where: str = "") -> list[str]:
    """Return an option that is one name or several, as a list."""
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    for item in listed:
        if not isinstance(item, str):
            raise DeclarationError(
                f"{_start(where)}{option}= must be a name or a list of names; it was given {_shown(value)}."
            )
    return listed


def name_of(key: Any) -> str:
    """Return the name of a symbol; a text is one, and an expression's is its text."""
    return key if isinstance(key, str) else str(getattr(key, "name", key))


def by_name(
    given: Any,
    option: str,
    known: Iterable[str] | None = None,
    *,
    where: str = "",
    no: str = "which the system doesn't know",
    form: str = "symbols or names to numbers",
) -> dict[str, Any]:
    """Return what a mapping gives to symbols or names, by names; None gives nothing.

    Parameters
    ----------
    option : str
        As messages say it: ``"params"``, ``"box="``.
    known : iterable of str, optional
        The names that there are; any others are mistakes, which are "no ...".

    Examples
    --------
    >>> by_name({"x": 1.0}, "params", ["x", "y"], where="rod")
    {'x': 1.0}
    >>> by_name({"z": 1.0}, "params", ["x", "y"], where="rod")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: rod: params has 'z', which the system doesn't know. Known: 'x', 'y'.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DeclarationError(f"{_start(where)}{option} must be a mapping from {form}; it was given {given!r:.80}.")
    listed = None if known is None else list(known)
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = name_of(key)
        if listed is not None and name not in listed:
            raise DeclarationError(
                f"{_start(where)}{option} has '{printable(name)}', {no}. {nearest(name, map(str, listed))}"
            )
        if name in found:
            raise DeclarationError(f"{_start(where)}{option} has '{printable(name)}' twice.")
        found[name] = value
    return found


def _as_float(value: Any) -> float:
    """Return a real number as a float, infinite where it has none; nan for what is no single real number."""
    if type(value) is float:
        return value
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
