"""All positive real roots of a polynomial with rational coefficients, counted by Sturm's theorem: none can be missed.

Polynomials are lists of fractions, the constant first. Floats are fractions too, so that the count holds for the given
floats exactly; how much a root depends on their last digits is for the caller to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

Polynomial = list[Fraction]


def trimmed(p: Sequence[Fraction]) -> Polynomial:
    """Return p without leading zeros."""
    result = list(p)
    while result and result[-1] == 0:
        result.pop()
    return result


def value(p: Sequence[Fraction], x: Fraction) -> Fraction:
    """Return p(x)."""
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def derivative(p: Sequence[Fraction]) -> Polynomial:
    """Return p'."""
    return [k * c for k, c in enumerate(p)][1:]


def product(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return p q."""
    if not p or not q:
        return []
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for k, b in enumerate(q):
            result[i + k] += a * b
    return result


def remainder(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return p modulo q."""
    rest = trimmed(p)
    while len(rest) >= len(q):
        factor, shift = rest[-1] / q[-1], len(rest) - len(q)
        for k, c in enumerate(q):
            rest[shift + k] -= factor * c
        rest.pop()  # zero now, exactly
        rest = trimmed(rest)
    return rest


def common_divisor(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return the greatest common divisor, of leading coefficient one."""
    a, b = trimmed(p), trimmed(q)
    while b:
        a, b = b, remainder(a, b)
    return [c / a[-1] for c in a]


def quotient(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return p / q where q divides p."""
    rest, result = trimmed(p), [Fraction(0)] * (len(p) - len(q) + 1)
    while len(rest) >= len(q):
        factor, shift = rest[-1] / q[-1], len(rest) - len(q)
        result[shift] = factor
        for k, c in enumerate(q):
            rest[shift + k] -= factor * c
        rest = trimmed(rest[:-1])
    return trimmed(result)


def _chain(p: Polynomial) -> list[Polynomial]:
    chain = [p, derivative(p)]
    while chain[-1]:
        chain.append([-c for c in remainder(chain[-2], chain[-1])])
    return chain[:-1]


def _changes(chain: list[Polynomial], x: Fraction) -> int:
    signs = [v > 0 for v in (value(p, x) for p in chain) if v != 0]
    return sum(a != b for a, b in pairwise(signs))


def positive_roots(p: Sequence[Fraction], bits: int = 70) -> list[tuple[Fraction, Fraction]]:
    """Return one interval (low, high] of relative width 2^-bits around each distinct positive root, in order.

    Examples
    --------
    The roots of (x - 1) (x - 2)^2 (x + 3):

    >>> [float(high) for low, high in positive_roots([Fraction(c) for c in (-12, 20, -7, -2, 1)])]
    [1.0, 2.0]
    """
    p = trimmed(p)
    while p and p[0] == 0:
        p = p[1:]  # zero is no positive root
    if len(p) < 2:
        return []
    p = quotient(p, common_divisor(p, derivative(p)))  # the same roots, each once
    chain = _chain(p)
    high = 1 + max(abs(c / p[-1]) for c in p[:-1])
    high = Fraction(2) ** (high.numerator.bit_length() - high.denominator.bit_length() + 1)
    found: list[tuple[Fraction, Fraction]] = []
    stack = [(Fraction(0), high, _changes(chain, Fraction(0)), _changes(chain, high))]
    while stack:
        a, b, at_a, at_b = stack.pop()
        if at_a - at_b == 1:
            found.append(_narrowed(p, a, b, bits))
        elif at_a > at_b:
            middle = (a + b) / 2
            between = _changes(chain, middle)
            stack += [(a, middle, at_a, between), (middle, b, between, at_b)]
    return sorted(found)


def _narrowed(p: Polynomial, a: Fraction, b: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bisect an interval (a, b] that holds one simple root."""
    above = value(p, b)
    if above == 0:
        return b, b
    while b - a > b / 2**bits:
        middle = (a + b) / 2
        here = value(p, middle)
        if here == 0:
            return middle, middle
        if (here > 0) == (above > 0):
            b = middle
        else:
            a = middle
    return a, b
