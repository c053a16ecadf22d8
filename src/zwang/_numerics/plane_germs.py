"""Real half-branches of a plane curve g(x, y) = 0 at the origin, from the Taylor coefficients of g.

Newton's polygon and Puiseux's substitutions with real numbers: on the side x = s tau^Q, tau > 0, s = +-1, every simple
real root of an edge polynomial is exactly one half-branch y = sum of c_e tau^e; a multiple root is substituted and the
polygon of the rest is asked again. Coefficients below a tolerance, or without effect at a distance of 0.2, count as
zero. What the degree of the coefficients
leaves undecided is said, not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import comb, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DEEPEST = 12
SAME = 1e-5
RADIUS, ROUNDING = 0.2, 1e-13


@dataclass(frozen=True)
class Twig:
    """A half-branch: x = side * tau^root, y = sum of coefficient * tau^exponent over `terms`, tau > 0.

    `terms` are those that tell it from all other half-branches; further ones are left out. `count` is more than one
    where the degree did not suffice to separate that many.
    """

    side: int
    root: int
    terms: tuple[tuple[int, float], ...]
    count: int = 1


@dataclass(frozen=True)
class Germ:
    """What is known of g = 0 at the origin.

    Attributes
    ----------
    degree : int
        Of the lowest form.
    rotation : (2, 2) array
        Columns: the axes x and y of the half-branches in the coordinates of g.
    twigs : list of Twig
    decided : bool
        Whether the degree sufficed.
    """

    degree: int
    rotation: Array
    twigs: list[Twig]
    decided: bool


def germ(coefficients: Array, tolerance: float = 1e-9) -> Germ:
    """Return the half-branches of g = sum of coefficients[i, j] x^i y^j (known for i + j < their number of rows).

    Examples
    --------
    >>> cusp = np.zeros((5, 5))
    >>> cusp[0, 2], cusp[3, 0] = 1, -1
    >>> [(twig.root, twig.terms) for twig in germ(cusp).twigs]
    [(2, ((2, 0.0), (3, -1.0))), (2, ((2, 0.0), (3, 1.0)))]
    """
    size = len(coefficients)
    top = np.abs(coefficients).max()
    # Rounding errors of high coefficients grow like powers of a radius of convergence, and matter as little.
    degrees = np.add.outer(np.arange(size), np.arange(size))
    least = np.maximum(tolerance, ROUNDING / RADIUS**degrees)
    coefficients = np.where((np.abs(coefficients) > least * top) & (degrees < size), coefficients, 0.0)
    top = np.abs(coefficients).max()
    if top == 0:
        return Germ(size, np.eye(2), [], decided=False)
    for degree in range(size):
        form = np.array([coefficients[degree - j, j] for j in range(degree + 1)])
        if np.abs(form).max() > tolerance * top:
            break
    else:
        return Germ(size, np.eye(2), [], decided=False)
    if degree == 0:
        return Germ(0, np.eye(2), [], decided=True)
    rotation = _upright(form)
    turned = substituted(coefficients, rotation)
    turned /= np.abs(turned[: degree + 1, : degree + 1]).max()
    twigs: list[Twig] = []
    decided = True
    for side in (1, -1):
        signs = np.where(np.arange(size) % 2, side, 1)[:, None]
        h = turned * signs
        # The lowest form as it is: each of its real roots is a direction, however near to the x axis.
        for slope, times in _real_roots(np.array([h[degree - j, j] for j in range(degree + 1)]), zero=True):
            inner, reach = _step(h, size - 1, (0, degree), 1, 1, slope, total=True)
            found, sure = _solve(inner, reach, times, tolerance, 1)
            decided = decided and sure
            for root, terms, count in found:
                shifted = tuple((root + e, value) for e, value in terms)
                twigs.append(Twig(side, root, ((root, slope), *shifted), count))
    return Germ(degree, rotation, twigs, decided)


def _upright(form: Array) -> Array:
    """Return a rotation after which no branch is tangent to the y axis: the lowest form is largest along it."""
    angles = np.linspace(0, np.pi, 64, endpoint=False)
    x, y = np.cos(angles), np.sin(angles)
    d = len(form) - 1
    values = sum(form[j] * x ** (d - j) * y**j for j in range(d + 1))
    best = int(np.argmax(np.abs(values)))
    return np.array([[y[best], x[best]], [-x[best], y[best]]])


def substituted(g: Array, rotation: Array) -> Array:
    """Return the coefficients of g(rotation @ (x, y))."""
    size = len(g)
    (a, b), (c, d) = rotation
    out = np.zeros_like(g)
    for i in range(size):
        for j in range(size - i):
            if g[i, j] == 0:
                continue
            first = np.array([comb(i, k) * a ** (i - k) * b**k for k in range(i + 1)])
            second = np.array([comb(j, k) * c ** (j - k) * d**k for k in range(j + 1)])
            for k, value in enumerate(np.convolve(first, second)):
                out[i + j - k, k] += g[i, j] * value
    return out


Found = list[tuple[int, tuple[tuple[int, float], ...], int]]


def _solve(h: Array, valid: int, count: int, tolerance: float, depth: int) -> tuple[Found, bool]:
    """Return (root, terms, number) of the half-branches z(tau) -> 0 of h(tau, z) = 0, tau > 0.

    h is known for powers of tau up to `valid`, and z^count is its first power with a coefficient that does not vanish
    at tau = 0.
    """
    if count == 1:
        return [(1, (), 1)], True
    if depth > DEEPEST:
        return [(1, (), count)], False
    corners, lowest = _polygon(h, valid, count, tolerance)
    found: Found = []
    decided = True
    if lowest == 1:
        found.append((1, (), 1))  # z vanishes to every order that is known: one smooth half-branch
    elif lowest > 1:
        found.append((1, (), lowest))
        decided = False
    for (i1, j1), (i2, j2) in pairwise(corners):
        p, q = i2 - i1, j1 - j2
        p, q = p // gcd(p, q), q // gcd(p, q)
        edge = np.zeros(j1 - j2 + 1)
        for j in range(j2, j1 + 1):
            if (p * (j1 - j)) % q == 0:
                edge[j - j2] = h[i1 + p * (j1 - j) // q, j]
        for c, times in _real_roots(edge):
            inner, reach = _step(h, valid, (i1, j1), p, q, c)
            twigs, sure = _solve(inner, reach, times, tolerance, depth + 1)
            decided = decided and sure
            for root, terms, number in twigs:
                shifted = tuple((p * root + e, value) for e, value in terms)
                found.append((q * root, ((p * root, c), *shifted), number))
    return found, decided


def _polygon(h: Array, valid: int, count: int, tolerance: float) -> tuple[list[tuple[int, int]], int]:
    """Return the corners of the lower hull from (0, count) down, and the least power of z that occurs at all."""
    first: dict[int, int] = {}
    top = np.abs(h[:, : count + 1]).max()
    for j in range(count + 1):
        reach = min(valid, len(h) - 1)
        rows = np.flatnonzero(np.abs(h[: reach + 1, j]) > tolerance * top)
        if len(rows):
            first[j] = int(rows[0])
    corners = [(0, count)]
    while True:
        i, j = corners[-1]
        lower = [(row, column) for column, row in first.items() if column < j]
        if not lower:
            return corners, j
        slopes = [((row - i) / (j - column), column, row) for row, column in lower]
        least = min(slopes)[0]
        row, column = next((r, c) for s, c, r in sorted(slopes, key=lambda item: item[1]) if s <= least * (1 + 1e-12))
        corners.append((row, column))


def _step(
    h: Array, valid: int, corner: tuple[int, int], p: int, q: int, c: float, *, total: bool = False
) -> tuple[Array, int]:
    """Return h(tau^q, tau^p (c + z)) / tau^(q i + p j) and up to which power of tau it is known."""
    away = q * corner[0] + p * corner[1]
    # What is unknown starts at tau^(valid + 1), in the first call at total degree valid + 1, where p >= q.
    reach = q * (valid + 1) - away - 1
    width = h.shape[1]
    out = np.zeros((max(reach + 1, 1), width))
    for i in range(len(h)):
        for j in range(width):
            if h[i, j] == 0 or (total and i + j > valid):
                continue
            power = q * i + p * j - away
            if 0 <= power <= reach:
                for k in range(j + 1):
                    out[power, k] += h[i, j] * comb(j, k) * c ** (j - k)
    return out, reach


def _real_roots(edge: Array, *, zero: bool = False) -> list[tuple[float, int]]:
    """Return the real roots of sum edge[j] c^j with their multiplicities; that at zero only if asked for."""
    coefficients = edge[::-1]
    roots = np.roots(coefficients)
    # Clusters: a root of multiplicity r is found with an error like the r-th root of rounding.
    left = sorted(roots, key=lambda root: (root.real, root.imag))
    found: list[tuple[float, int]] = []
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
    return sorted(item for item in found if zero or abs(item[0]) > 1e-12)


def _width(count: int, root: Any) -> float:
    return float(10 * SAME ** (2 / max(count, 2)) * (1 + abs(root)))


def _tightest(coefficients: Array, members: list[Any], root: Any) -> tuple[float, list[Any]] | None:
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


def partner(twig: Twig) -> tuple[int, int, tuple[tuple[int, float], ...]]:
    """Return side, root and terms of the other half of the same analytic curve: tau replaced by -tau."""
    side = twig.side if twig.root % 2 == 0 else -twig.side
    return side, twig.root, tuple((e, value * (-1) ** e) for e, value in twig.terms)


def alike(a: tuple[tuple[int, float], ...], b: tuple[tuple[int, float], ...]) -> bool:
    """Say whether two lists of terms are the same up to rounding."""
    if len(a) != len(b):
        return False
    pairs = zip(a, b, strict=True)
    return all(e == f and abs(x - y) <= 1e-5 * (1 + abs(x)) for (e, x), (f, y) in pairs)


def separation(a: Twig, b: Twig) -> int:
    """Return the first power of x in which two smooth half-branches on one side differ."""
    first, second = dict(a.terms), dict(b.terms)
    for e in sorted({*first, *second}):
        x, y = first.get(e, 0.0), second.get(e, 0.0)
        if abs(x - y) > 1e-5 * (1 + abs(x)):
            return e
    return 1 + max([*first, *second, 0])
