"""All positive real roots of a polynomial with rational coefficients, isolated by FLINT: none can be missed.

Floats are rationals too, so that the count holds for the given floats exactly; how much a root depends on their last
digits is for the caller to judge.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_poly

from zwang._numerics.series.balls import precision


def positive_roots(p: fmpq_poly, bits: int = 70) -> list[tuple[fmpq, fmpq]]:
    """Return one interval [low, high] of relative width about 2^-bits around each distinct positive root, in order.

    Examples
    --------
    The roots of (x - 1) (x - 2)^2 (x + 3):

    >>> [float(high) for low, high in positive_roots(fmpq_poly([-12, 20, -7, -2, 1]))]
    [1.0, 2.0]
    """
    if p.degree() < 1:
        return []
    simple = p // p.gcd(p.derivative())  # the same roots, each once
    with precision(bits):
        found: Any = simple.complex_roots()
        roots = [root.real for root, _ in found if root.imag == 0 and root.real > 0]
        return sorted((root.lower().fmpq(), root.upper().fmpq()) for root in roots)
