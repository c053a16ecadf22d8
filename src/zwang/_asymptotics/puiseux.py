"""Real half-branches of F(x, y) = 0 at the origin by Newton's polygon (Newton, Puiseux).

For x > 0 and for x < 0 apart: each edge of the polygon gives y = x^(p/q) (c + ...) with c a real root of the edge's
polynomial; x = xi^q, y = xi^p (c + y') leads to an equation of the same kind in which y' has the multiplicity of that
root, until it is simple. Unknown terms of F (beyond its degree) are kept account of: an edge that they could reach is
not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from zwang._asymptotics.elimination import Undecided
from zwang._asymptotics.laurent import SAFETY, Laurent
from zwang._asymptotics.precision import Number, largest, mp

Terms = dict[tuple[int, int], Number]


NEGLIGIBLE = mp.mpf(10) ** -9
"""Terms below this part of the others are errors of the parameters, not of the arithmetic."""
EXACT = mp.mpf(10) ** -25
"""Errors below this are those of exact parameters."""


class NearlyCritical(ArithmeticError):
    """Something is as small as the rounding of parameters: meant to be zero, it seems, and is not."""


@dataclass(frozen=True)
class Sector:
    """A half-branch in the plane: x = side * xi^ramification and y a series in xi, for xi > 0."""

    side: int
    ramification: int
    y: Laurent


@dataclass(frozen=True)
class _Curve:
    """An equation with what is known of it: coefficients of xi^i y^j for i below `known`, errors below `noise`."""

    terms: Terms
    known: int
    noise: Number

    def clean(self) -> _Curve:
        bound = SAFETY * self.noise
        kept = {(i, j): item for (i, j), item in self.terms.items() if abs(item) > bound and i < self.known}
        if bound < EXACT and any(abs(item) < NEGLIGIBLE * largest(kept.values()) for item in kept.values()):
            raise NearlyCritical
        return _Curve(kept, self.known, self.noise)


def half_branches(terms: Terms, degree: int, noise: Number) -> list[Sector]:
    """Return the real half-branches of a polynomial known up to a total degree.

    The lowest form of F must not vanish on the y axis (no branch is tangent to it).

    Examples
    --------
    >>> cusp = {(0, 2): mp.mpf(1), (3, 0): mp.mpf(-1)}
    >>> for item in half_branches(cusp, 6, mp.mpf(0)):
    ...     print(item.side, item.ramification, mp.nstr(item.y.leading, 3), item.y.start)
    1 2 -1.0 3
    1 2 1.0 3
    """
    found = []
    for side in (1, -1):
        turned = {(i, j): item * side**i for (i, j), item in terms.items()}
        for ramification, y in _expand(_Curve(turned, degree + 1, noise).clean(), 12):
            found.append(Sector(side, ramification, y))
    return found


def _expand(curve: _Curve, depth: int) -> Iterator[tuple[int, Laurent]]:
    """Yield the real solutions y(xi) that vanish at xi = 0, with their ramification."""
    heights = [j for (i, j) in curve.terms if i == 0]
    if not heights:
        raise Undecided("the equation has no term in y alone")
    top = min(heights)
    if top == 0:
        return
    if top == 1:
        yield 1, _simple(curve)
        return
    if depth == 0:
        raise Undecided("branches stay together")
    lowest = (0, top)
    for low, high in _edges(curve, top):
        slope = Fraction(high[0] - low[0], low[1] - high[1])
        level = low[0] + slope * low[1]
        if level >= curve.known:
            raise Undecided("an edge of Newton's polygon needs terms of higher degree")
        lowest = high
        for root, multiplicity in _edge_roots(curve, low, high, slope):
            inner = _substituted(curve, slope, level, root, multiplicity)
            for ramification, y in _expand(inner, depth - 1):
                shift = slope.numerator * ramification
                yield slope.denominator * ramification, (y + root).shifted(shift)
    if lowest[1] == 1:
        # y divides all that is known: a branch along y = 0 to the order known.
        yield 1, Laurent(curve.known - lowest[0], [])
    elif lowest[1] > 1:
        raise Undecided("a power of y divides all that is known")


def _edges(curve: _Curve, top: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the edges of the lower hull from (0, top) downwards, each from its upper to its lower end."""
    edges = []
    here = (0, top)
    while here[1] > 0:
        below = [place for place in curve.terms if place[1] < here[1] and place[0] >= here[0]]
        if not below:
            break
        # The steepest step first; of several points on one edge the last.
        best = min(below, key=lambda place: (Fraction(place[0] - here[0], here[1] - place[1]), place[1]))
        if best[0] == here[0]:
            raise Undecided("the polygon has a vertical edge")
        edges.append((here, best))
        here = best
    return edges


def _edge_roots(
    curve: _Curve, low: tuple[int, int], high: tuple[int, int], slope: Fraction
) -> list[tuple[Number, int]]:
    """Return the real nonzero roots of an edge's polynomial with their multiplicities."""
    level = low[0] + slope * low[1]
    size = low[1] - high[1]
    coefficients = [mp.mpf(0)] * (size + 1)
    for (i, j), item in curve.terms.items():
        if i + slope * j == level and high[1] <= j <= low[1]:
            coefficients[j - high[1]] = item
    return real_roots(coefficients, curve.noise)


def real_roots(coefficients: list[Number], noise: Number) -> list[tuple[Number, int]]:
    """Return the real roots of a polynomial (lowest coefficient first), each once, with its multiplicity.

    A root of multiplicity k is a simple root of the (k - 1)-st derivative, where it is found to full precision.

    Examples
    --------
    >>> [(mp.nstr(root, 3), k) for root, k in real_roots([mp.mpf(c) for c in (2, -5, 4, -1)], mp.mpf(0))]
    [('1.0', 2), ('2.0', 1)]
    """
    scale = largest(coefficients)
    small = mp.sqrt(max(noise / scale, mp.eps))
    chain = [list(coefficients)]
    while len(chain[-1]) > 2:
        chain.append([k * item for k, item in enumerate(chain[-1])][1:])
    found: list[tuple[Number, int]] = []
    for order in reversed(range(len(chain))):
        roots = mp.polyroots(list(reversed(chain[order])), maxsteps=500, extraprec=400, error=False)
        for root in roots:
            if abs(mp.im(root)) > small * (1 + abs(root)):
                continue
            real = mp.re(root)
            lower = all(_vanishes(chain[k], real, small) for k in range(order))
            if lower and all(abs(real - other) > mp.sqrt(small) * (1 + abs(real)) for other, _ in found):
                found.append((real, order + 1))
    if small < mp.sqrt(EXACT):
        _require_apart(mp.polyroots(list(reversed(coefficients)), maxsteps=500, extraprec=400, error=False), found)
    return sorted(found)


def _require_apart(roots: list[Number], multiple: list[tuple[Number, int]]) -> None:
    """Refuse roots that nearly coincide without being one: parameters that are critical but for rounding."""
    near = mp.sqrt(NEGLIGIBLE)
    known = [root for root, times in multiple if times > 1]
    for k, a in enumerate(roots):
        for b in roots[:k]:
            if abs(a - b) < near * (1 + abs(a)) and not any(abs(a - c) < near * (1 + abs(a)) for c in known):
                raise NearlyCritical


def _vanishes(coefficients: list[Number], at: Number, small: Number) -> bool:
    value = mp.polyval(list(reversed(coefficients)), at)
    size = sum(abs(item) * abs(at) ** k for k, item in enumerate(coefficients))
    return bool(abs(value) <= small * size)


def _substituted(curve: _Curve, slope: Fraction, level: Fraction, root: Number, multiplicity: int) -> _Curve:
    """Return the equation for y' where x = xi^q and y = xi^p (root + y'), divided by its power of xi."""
    p, q = slope.numerator, slope.denominator
    down = int(q * level)
    terms: Terms = {}
    growth = mp.mpf(1)
    for (i, j), item in curve.terms.items():
        power = q * i + p * j - down
        growth = max(growth, (1 + abs(root)) ** j)
        for k in range(j + 1):
            place = (power, k)
            terms[place] = terms.get(place, mp.mpf(0)) + item * comb(j, k) * root ** (j - k)
    for k in range(multiplicity):
        terms.pop((0, k), None)
    rounding = mp.eps * largest(curve.terms.values())
    known = int(q * (curve.known - level))
    return _Curve(terms, known, (curve.noise + rounding) * growth * len(curve.terms)).clean()


def _simple(curve: _Curve) -> Laurent:
    """Return the one series y(xi) where the equation has a term linear in y at xi = 0."""
    slope = curve.terms[0, 1]
    y = [mp.mpf(0)] * curve.known
    powers = sorted(curve.terms)
    for order in range(1, curve.known):
        trial = Laurent(0, y[: order + 1], 0) if any(y[:order]) else None
        total = mp.mpf(0)
        made: dict[int, Laurent] = {}
        for i, j in powers:
            if i > order:
                continue
            if j == 0:
                total += curve.terms[i, j] if i == order else 0
            elif trial is not None:
                if j not in made:
                    made[j] = trial**j
                total += curve.terms[i, j] * made[j].coefficient(order - i)
        y[order] = -total / slope
    noise = (curve.noise + mp.eps * largest(curve.terms.values())) / abs(slope) * (1 + largest(y)) ** 2
    return Laurent(0, y, noise)
