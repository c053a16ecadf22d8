"""Real roots of polynomials with their multiplicities, over floats, balls and rationals.

Exactly, a root of multiplicity k is a simple root of a factor that Yun's method splits off; over balls the same holds
with zero told by enclosure, and the simple roots are certified by Arb. Floats have clusters in place of multiple
roots: such a cluster is one root where all the derivatives vanish to rounding at the root of the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series.arithmetic import (
    EXACT,
    FLOATS,
    NEGLIGIBLE,
    Arithmetic,
    NearlyCritical,
    NotRationalError,
    Undecided,
)

SAME = 1e-5
"""A double root of floats is a pair of roots about so far apart, relative to its size."""
NEWTON = 80
"""Steps from a few digits to all of them are a handful; more means a root that is not simple."""

Roots = list[tuple[Any, int]]


def real_roots(coefficients: Sequence[Any], A: Arithmetic) -> Roots:
    """Return the real roots of a polynomial, lowest coefficient first, in order, with their multiplicities.

    Over rationals a simple root that is no rational stands as a rational near it; a multiple one is not told.

    Examples
    --------
    >>> real_roots([2.0, -5.0, 4.0, -1.0], FLOATS)
    [(1.0, 2), (2.0, 1)]
    """
    if A is FLOATS:
        return _float_roots(np.array(coefficients, dtype=float))
    return _exact_roots(coefficients, A) if hasattr(coefficients[0], "turns") else _ball_roots(coefficients, A)


def _ball_roots(coefficients: Sequence[Any], A: Arithmetic) -> Roots:
    found = []
    for factor, times in squarefree(coefficients, A):
        found += [(root, times) for root in _simple_roots(factor)]
    return sorted(found, key=lambda item: float(item[0]))


def _simple_roots(c: Sequence[Any]) -> list[Any]:
    """Return the real roots of a polynomial of balls without multiple roots, to all digits."""
    from flint import arb_poly

    if len(c) == 2:
        return [-c[0] / c[1]]
    try:
        roots = arb_poly([item.mid() for item in c]).complex_roots()
    except ValueError:
        raise Undecided("roots of an edge are not told apart") from None
    _require_apart(c, roots)
    # A root that is alone in its circle and next to the real axis is real: its conjugate would be a second one.
    return [_polished(c, root.real.mid()) for root in roots if 0 in root.imag]


def _require_apart(c: Sequence[Any], roots: Sequence[Any]) -> None:
    """Refuse roots of exact polynomials that nearly coincide: parameters that are critical but for rounding."""
    if any(item.rad() > EXACT for item in c):
        return
    near = math.sqrt(NEGLIGIBLE)
    places = [complex(root) for root in roots]
    for k, a in enumerate(places):
        if any(abs(a - b) < near * (1 + abs(a)) for b in places[:k]):
            raise NearlyCritical


def _polished(c: Sequence[Any], x: Any) -> Any:
    """Return the root next to x: Newton's method on middles, then once on balls, whose error is that of the root."""
    slope = derivative(c)
    for _ in range(NEWTON):
        step = value(c, x) / value(slope, x)
        x = (x - step).mid()
        if 0 in step:
            break
    return x - value(c, x) / value(slope, x)


def value(c: Sequence[Any], x: Any) -> Any:
    """Return a polynomial at a number."""
    total = c[-1]
    for item in reversed(c[:-1]):
        total = total * x + item
    return total


def derivative(c: Sequence[Any]) -> list[Any]:
    """Return the derivative of a polynomial."""
    return [item * k for k, item in enumerate(c)][1:]


def squarefree(coefficients: Sequence[Any], A: Arithmetic) -> list[tuple[list[Any], int]]:
    """Return factors without multiple roots and how often each counts (Yun's method); constants are left out.

    Examples
    --------
    >>> from zwang._numerics.series.rationals import RATIONALS
    >>> cubic = [RATIONALS.number(item) for item in (2, -5, 4, -1)]
    >>> [([str(item) for item in factor], times) for factor, times in squarefree(cubic, RATIONALS)]
    [(['-2', '1'], 1), (['-1', '1'], 2)]
    """
    whole = _monic(_trimmed(coefficients, A))
    found: list[tuple[list[Any], int]] = []
    if len(whole) < 2:
        return found
    slope = derivative(whole)
    common = _gcd(whole, slope, A)
    b, d = _divided(whole, common, A)[0], _divided(slope, common, A)[0]
    times = 1
    while len(b) > 1:
        d = _trimmed(_minus(d, derivative(b)), A)
        factor = _gcd(b, d, A) if d else b
        if len(factor) > 1:
            found.append((factor, times))
        b, d = _divided(b, factor, A)[0], _divided(d, factor, A)[0] if d else []
        times += 1
    return found


def _trimmed(c: Sequence[Any], A: Arithmetic) -> list[Any]:
    kept = list(c)
    while kept and A.vanishes(kept[-1]):
        kept.pop()
    return kept


def _monic(c: list[Any]) -> list[Any]:
    return [item / c[-1] for item in c]


def _minus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    size = max(len(a), len(b))
    return [(a[k] if k < len(a) else 0) - (b[k] if k < len(b) else 0) for k in range(size)]


def _divided(a: Sequence[Any], b: Sequence[Any], A: Arithmetic) -> tuple[list[Any], list[Any]]:
    """Return quotient and remainder."""
    rest, quotient = list(a), [A.number(0)] * max(len(a) - len(b) + 1, 0)
    for k in reversed(range(len(quotient))):
        quotient[k] = rest[k + len(b) - 1] / b[-1]
        for j, item in enumerate(b):
            rest[k + j] = rest[k + j] - quotient[k] * item
    return quotient, _trimmed(rest[: len(b) - 1], A)


def _gcd(a: list[Any], b: list[Any], A: Arithmetic) -> list[Any]:
    a, b = _trimmed(a, A), _trimmed(b, A)
    while b:
        a, b = b, _divided(a, _monic(b), A)[1]
    return _monic(a)


def _exact_roots(coefficients: Sequence[Any], A: Arithmetic) -> Roots:
    from flint import fmpq, fmpq_poly

    polynomial = fmpq_poly([item.rational() for item in coefficients])
    found: Roots = []
    if polynomial.degree() < 1:
        return found
    for factor, times in polynomial.factor()[1]:
        c = [fmpq(item) for item in factor.coeffs()]
        if len(c) == 2:
            found.append((A.number(0) + _turned(-c[0] / c[1]), times))
            continue
        roots: Any = factor.complex_roots()
        real = [root.real for root, _ in roots if root.imag == 0]
        if real and times > 1:
            raise NotRationalError("a multiple root is not rational")
        found += [(A.number(float(root)), 1) for root in real]
    return sorted(found, key=lambda item: float(item[0]))


def _turned(value: Any) -> Any:
    from zwang._numerics.series.rationals import Turned

    return Turned(value)


def _float_roots(edge: NDArray[np.float64]) -> Roots:
    coefficients = edge[::-1]
    left = sorted(np.roots(coefficients), key=lambda root: (root.real, root.imag))
    found: Roots = []
    used = np.zeros(len(left), dtype=bool)
    for k, root in enumerate(left):
        if used[k]:
            continue
        near = [i for i, other in enumerate(left) if not used[i] and abs(other - root) <= _width(len(left), root)]
        group = _tightest(coefficients, [left[i] for i in near], root)
        if group is None:
            used[k] = True
            if abs(root.imag) <= 1e-10 * (1 + abs(root)):
                found.append((float(root.real), 1))
            continue
        c, members = group
        for i in near:
            if left[i] in members:
                used[i] = True
        found.append((c, len(members)))
    return sorted(found)


def _width(count: int, root: Any) -> float:
    """Return how wide a cluster may be: a root of multiplicity r is found with an error like the r-th root."""
    return float(10 * SAME ** (2 / max(count, 2)) * (1 + abs(root)))


def _tightest(coefficients: NDArray[np.float64], members: list[Any], root: Any) -> tuple[float, list[Any]] | None:
    """Return the real multiple root that a cluster stands for, if its derivatives vanish there."""
    for count in range(len(members), 1, -1):
        kept = sorted(members, key=lambda item: abs(item - root))[:count]
        centre = float(np.mean([item.real for item in kept]))
        if max(abs(item - centre) for item in kept) > _width(len(coefficients) - 1, centre):
            continue
        slope = np.polyder(coefficients, count - 1)
        for _ in range(20):
            rate = np.polyval(np.polyder(slope), centre)
            if rate == 0:
                break
            centre -= float(np.polyval(slope, centre) / rate)
        size = np.abs(coefficients).max() * max(1.0, abs(centre)) ** (len(coefficients) - 1)
        lower = [abs(np.polyval(np.polyder(coefficients, k), centre)) for k in range(count)]
        if max(lower) <= 1e-9 * size:
            return centre, kept
    return None
