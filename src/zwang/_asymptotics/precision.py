"""Arithmetic with eighty digits: the context that everything here computes in, and numbers as they were meant.

A number such as 1.4 is not critical when 7/5 is: near a singular point the difference of 1e-17 would be all there is to
see. Numbers given as floats are therefore read as the shortest decimal that denotes them, and exact numbers of SymPy
as what they are.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp
from mpmath import MPContext

from zwang.errors import DeclarationError

mp = MPContext()
mp.dps = 80
"""A context of its own: the precision that a user has set for mpmath is neither used nor changed."""
ROUNDING = mp.eps
EXACT_DIGITS = 260
"""Digits of numbers that are given: more than are computed with, for the refinement of singular points."""
Number = Any
"""An `mpf` of this context."""


def number(value: Any, what: str = "a number") -> Number:
    """Return a real number with all its digits; floats are the decimals that denote them.

    Examples
    --------
    >>> number(0.1) * 10 == 1
    True
    >>> import sympy as sp
    >>> abs(number(sp.sqrt(2)) ** 2 - 2) < 1e-78
    True
    """
    if isinstance(value, mp.mpf):
        return value
    with mp.workdps(EXACT_DIGITS):
        return _number(value, what)


def _number(value: Any, what: str) -> Number:
    try:
        if isinstance(value, sp.Basic) and not isinstance(value, sp.Float):
            if not value.is_real or value.free_symbols:
                raise TypeError
            if isinstance(value, sp.Rational):
                return mp.mpf(int(value.p)) / int(value.q)
            return mp.mpf(str(sp.N(value, mp.dps + 5)))
        if isinstance(value, int):
            return mp.mpf(value)
        plain = float(value)
    except (TypeError, ValueError):
        raise DeclarationError(f"{what}: a real number is needed; it was given {value!r:.60}.") from None
    if not math.isfinite(plain):
        raise DeclarationError(f"{what}: the value is not finite.")
    return mp.mpf(repr(plain))


def largest(values: Any) -> Number:
    """Return the largest absolute value, zero of nothing."""
    return max((abs(item) for item in values), default=mp.mpf(0))
