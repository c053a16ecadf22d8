"""A parameter that varies, and between which values."""

from __future__ import annotations

from typing import Any

from zwang._declare.system import System
from zwang._numerics.tolerances import real
from zwang.errors import DeclarationError, nearest


def varied_range(system: System, vary: str, within: Any) -> tuple[float, float]:
    """Return between which values a parameter varies, checked."""
    names = [item.name for item in system.parameters]
    if vary not in names:
        raise DeclarationError(f"{system.name}: vary= has '{vary}', which is no parameter. {nearest(vary, names)}")
    try:
        low, high = (real(value, "within", where=system.name) for value in within)
    except (TypeError, ValueError):
        raise DeclarationError(f"{system.name}: within= needs (low, high); it was given {within!r:.60}.") from None
    if not low < high:
        raise DeclarationError(f"{system.name}: within= needs low < high; it was given ({low:g}, {high:g}).")
    return low, high
