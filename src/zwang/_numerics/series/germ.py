"""Real half-branches of a plane curve F(x, y) = 0 at the origin, from the Taylor coefficients of F.

Newton's polygon and Puiseux's substitutions with real numbers: on the side x = s tau^Q, tau > 0, s = +-1, every simple
real root of an edge polynomial is exactly one half-branch y = sum of c_e tau^e; a multiple root is substituted and the
polygon of the rest is asked again. An edge that unknown terms of F could reach is not used: what the degree leaves
undecided is said, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from zwang._numerics.series.arithmetic import FLOATS, Arithmetic
from zwang._numerics.series.power import Series
from zwang._numerics.series.roots import real_roots

Terms = dict[tuple[int, int], Any]
Kept = Callable[[Terms, int], Terms]
DEEPEST = 12
"""Substitutions after which branches that are still together are given up."""
DIRECTIONS = 32
"""Axes that are tried in a quarter turn."""
FEW = (0, 8, 20, 3, 13, 27, 5)
"""Of these the ones that exact numbers are turned to first: by about 0, 0.5, 1.1, 0.2, 0.8, 1.4 and 0.3."""


@dataclass(frozen=True)
class GermBranch:
    """A half-branch: x = side * tau^root, y = sum of coefficient * tau^exponent over `terms`, tau > 0.

    `terms` are those that tell it from all other half-branches; further ones are left out. `count` is more than one
    where the degree did not suffice to separate that many.
    """

    side: int
    root: int
    terms: tuple[tuple[int, Any], ...]
    count: int = 1

    @property
    def last(self) -> int:
        """The highest power of tau that is told."""
        return max([self.root, *(exponent for exponent, _ in self.terms)])


@dataclass(frozen=True)
class Germ:
    """What is known of F = 0 at the origin.

    Attributes
    ----------
    degree : int
        Of the lowest form.
    axes : pair of pairs
        The axes x and y of the half-branches in the coordinates of F.
    branches : list of GermBranch
    decided : bool
        Whether the degree of F sufficed.
    """

    degree: int
    axes: tuple[tuple[Any, Any], tuple[Any, Any]]
    branches: list[GermBranch]
    decided: bool


def floor(tolerance: float, radius: float = 0.2, rounding: float = 1e-13) -> Kept:
    """Return what judges coefficients of floats: below a tolerance, or without effect at a radius, they are zero."""

    def kept(terms: Terms, depth: int) -> Terms:
        top = max((abs(item) for item in terms.values()), default=0.0)
        # Rounding errors of high coefficients grow like powers of a radius of convergence, and matter as little.
        return {
            (i, j): item
            for (i, j), item in terms.items()
            if abs(item) > top * (tolerance if depth else max(tolerance, rounding / radius ** (i + j)))
        }

    return kept


def germ(F: Series, kept: Kept | None = None) -> Germ:
    """Return the half-branches of F = 0, a series in two variables without constant term.

    Parameters
    ----------
    F : Series
    kept : callable (terms, depth) -> terms, optional
        Says which coefficients count; by default those that don't vanish.

    Examples
    --------
    >>> from zwang._numerics.series.power import ring
    >>> x, y = ring(FLOATS, 2).variable(0, 5), ring(FLOATS, 2).variable(1, 5)
    >>> [(branch.root, branch.terms) for branch in germ(y * y - x * x * x, floor(1e-9)).branches]
    [(2, ((2, 0.0), (3, -1.0))), (2, ((2, 0.0), (3, 1.0)))]
    """
    A = F.ring.arithmetic
    judge: Kept = kept or (lambda terms, _: {place: x for place, x in terms.items() if not A.vanishes(x)})
    known = F.size
    terms = judge({(i, j): item for (i, j), item in F.terms().items()}, 0)
    one, zero = A.number(1), A.number(0)
    if not terms:
        return Germ(known, ((one, zero), (zero, one)), [], decided=False)
    degree = min(i + j for i, j in terms)
    if degree == 0:
        return Germ(0, ((one, zero), (zero, one)), [], decided=True)
    axes = _upright(terms, degree, A)
    terms = turned(terms, axes)
    branches: list[GermBranch] = []
    decided = True
    solver = _Solver(A, judge)
    for side in (1, -1):
        h = {(i, j): item if i % 2 == 0 else item * side for (i, j), item in terms.items()}
        # The lowest form as it is: each of its real roots is a direction, however near to the x axis.
        form = [h.get((degree - j, j), zero) for j in range(degree + 1)]
        for slope, times in real_roots(form, A):
            inner = _substituted(h, (1, 1), degree, known, slope)
            found, sure = solver.solve(judge(_lowest(inner, times), 1), known - degree, times, 1)
            decided = decided and sure
            for root, more, count in found:
                shifted = tuple((root + e, value) for e, value in more)
                branches.append(GermBranch(side, root, ((root, slope), *shifted), count))
    return Germ(degree, axes, branches, decided)


def _upright(form: Terms, degree: int, A: Arithmetic) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return axes in which no branch is tangent to the y axis: the lowest form is large along it.

    Of floats the best of many; exact numbers stay exact, and short, with axes that are not turned, or by rational
    points of the circle.
    """
    plain = np.array([float(form.get((degree - j, j), 0.0)) for j in range(degree + 1)])
    if A is FLOATS:
        angles = np.linspace(0, np.pi, 2 * DIRECTIONS, endpoint=False)
        x, y = np.cos(angles), np.sin(angles)
        best = int(np.argmax(np.abs(_along(plain, x, y))))
        return (float(y[best]), -float(x[best])), (float(x[best]), float(y[best]))
    top = np.abs(plain).max()
    found: tuple[float, Fraction] = (0.0, Fraction(0))
    for numbers in (FEW, range(1 - DIRECTIONS, DIRECTIONS + 1)):
        for k in numbers:
            t = Fraction(k, DIRECTIONS)
            size = abs(_along(plain, float(-2 * t / (1 + t * t)), float((1 - t * t) / (1 + t * t))))
            if size > found[0]:
                found = (size, t)
            if size > top / 3:
                break
        if found[0] > top / 50:
            break
    t = found[1]
    c, s = A.number((1 - t * t) / (1 + t * t)), A.number(2 * t / (1 + t * t))
    return (c, s), (-s, c)


def _along(form: Any, x: Any, y: Any) -> Any:
    d = len(form) - 1
    return sum(form[j] * x ** (d - j) * y**j for j in range(d + 1))


def turned(terms: Terms, axes: tuple[tuple[Any, Any], tuple[Any, Any]]) -> Terms:
    """Return a polynomial in other coordinates: the axes are those of the new ones in the old."""
    (a, c), (b, d) = axes
    top = max((max(place) for place in terms), default=0)
    first, second = _binomials(a, b, top), _binomials(c, d, top)
    out: Terms = {}
    for (i, j), item in terms.items():
        for k, left in enumerate(first[i]):
            part = item * left
            for l, right in enumerate(second[j]):
                place = (i + j - k - l, k + l)
                out[place] = out[place] + part * right if place in out else part * right
    return out


def _binomials(a: Any, b: Any, top: int) -> list[list[Any]]:
    """Return the coefficients of (a x + b y)^i by powers of y, for i up to a top."""
    rows: list[list[Any]] = [[1]]
    for _ in range(top):
        old = rows[-1]
        new = [item * a for item in old] + [old[-1] * b]
        for k in range(1, len(old)):
            new[k] = new[k] + old[k - 1] * b
        rows.append(new)
    return rows


def _substituted(terms: Terms, steps: tuple[int, int], level: int, known: int, root: Any) -> Terms:
    """Return h(tau^q, tau^p (root + z)) / tau^level, up to what is known: terms i + j, or i, below `known`."""
    p, q = steps
    out: Terms = {}
    reach = q * known - level
    for (i, j), item in terms.items():
        power = q * i + p * j - level
        if not 0 <= power < reach:
            continue
        part = item
        for k in range(j, -1, -1):
            place = (power, k)
            amount = part * comb(j, k)
            out[place] = out[place] + amount if place in out else amount
            part = part * root
    return out


def _lowest(terms: Terms, times: int) -> Terms:
    """Return the equation without the terms that vanish because the root is one of that multiplicity."""
    return {(i, j): item for (i, j), item in terms.items() if i > 0 or j >= times}


Found = list[tuple[int, tuple[tuple[int, Any], ...], int]]


class _Solver:
    """Half-branches z(tau) -> 0 of h(tau, z) = 0 on the side tau > 0, again and again inside each other."""

    def __init__(self, A: Arithmetic, judge: Kept) -> None:
        self.A, self.judge = A, judge

    def solve(self, h: Terms, known: int, count: int, depth: int) -> tuple[Found, bool]:
        """Return (root, terms, number) of each; h is known for powers of tau below `known`.

        z^count is its first power with a coefficient that does not vanish at tau = 0.
        """
        if count == 1:
            return [(1, (), 1)], True
        if depth > DEEPEST:
            return [(1, (), count)], False
        corners = _polygon(h, known, count)
        found: Found = []
        decided = True
        for (i1, j1), (i2, j2) in pairwise(corners):
            slope = Fraction(i2 - i1, j1 - j2)
            steps = slope.numerator, slope.denominator
            level = steps[1] * i1 + steps[0] * j1
            edge = [self._on_edge(h, i1 + slope * (j1 - j), j) for j in range(j2, j1 + 1)]
            for c, times in real_roots(edge, self.A):
                if self.A.vanishes(c) or (self.A is FLOATS and abs(c) <= 1e-12):
                    continue
                inner = _substituted(h, steps, level, known, c)
                inner = self.judge(_lowest(inner, times), depth + 1)
                branches, sure = self.solve(inner, steps[1] * known - level, times, depth + 1)
                decided = decided and sure
                for root, terms, number in branches:
                    shifted = tuple((steps[0] * root + e, value) for e, value in terms)
                    found.append((steps[1] * root, ((steps[0] * root, c), *shifted), number))
        left = corners[-1][1]
        if left == 1:
            found.append((1, (), 1))  # z vanishes to every order that is known: one smooth half-branch
        elif left > 1:
            found.append((1, (), left))
            decided = False
        return found, decided

    def _on_edge(self, h: Terms, i: Fraction, j: int) -> Any:
        found = h.get((int(i), j)) if i.denominator == 1 else None
        return self.A.number(0) if found is None else found


def _polygon(h: Terms, known: int, count: int) -> list[tuple[int, int]]:
    """Return the corners of the lower hull from (0, count) down, as far as unknown terms can't change it."""
    first: dict[int, int] = {}
    for i, j in h:
        if j < count and i < known:
            first[j] = min(i, first.get(j, i))
    corners = [(0, count)]
    while True:
        i, j = corners[-1]
        lower = [(Fraction(row - i, j - column), column, row) for column, row in first.items() if column < j]
        if not lower:
            return corners
        slope, column, row = min(lower)
        # The line through the edge must meet z^0 below what is known, else terms that are not known may undercut it.
        if i + slope * j >= known:
            return corners
        corners.append((row, column))


def partner(branch: GermBranch) -> tuple[int, int, tuple[tuple[int, Any], ...]]:
    """Return side, root and terms of the other half of the same analytic curve: tau replaced by -tau."""
    side = branch.side if branch.root % 2 == 0 else -branch.side
    return side, branch.root, tuple((e, value * (-1) ** e) for e, value in branch.terms)


def _same(x: Any, y: Any) -> bool:
    """Say whether two coefficients are one: floats to the error of a multiple root, exact ones to a float's."""
    if isinstance(x, float) and isinstance(y, float):
        return abs(x - y) <= 1e-5 * (1 + abs(x))
    return abs(float(x) - float(y)) <= 1e-9 * max(abs(float(x)), abs(float(y)))


def alike(a: tuple[tuple[int, Any], ...], b: tuple[tuple[int, Any], ...]) -> bool:
    """Say whether two lists of terms are the same up to rounding."""
    return len(a) == len(b) and all(e == f and _same(x, y) for (e, x), (f, y) in zip(a, b, strict=True))


def separation(a: GermBranch, b: GermBranch) -> int:
    """Return the first power of x in which two smooth half-branches on one side differ."""
    first, second = dict(a.terms), dict(b.terms)
    for e in sorted({*first, *second}):
        if not _same(first.get(e, 0.0), second.get(e, 0.0)):
            return e
    return 1 + max([*first, *second, 0])
