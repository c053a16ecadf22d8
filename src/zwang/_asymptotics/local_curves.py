"""The half-branches of a curve g(q) = 0 at a point where its rows may depend on each other, as series.

n - 1 equations in n coordinates. Where their rank is n - 1 the curve is smooth. Where it is n - 2, the method of
Lyapunov and Schmidt leaves one equation F(x, y) = 0 in the plane of the kernel, whose half-branches come from Newton's
polygon; each is then carried to as many terms as asked by Newton's method over series. A half-branch is
q(tau) = point + (a series in tau > 0), with x = +-length * tau^ramification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zwang._asymptotics.bivariate import Bivariate
from zwang._asymptotics.elimination import Undecided, dot, solve
from zwang._asymptotics.geometry import Equations, Subspaces
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import ROUNDING, Number, largest, mp
from zwang._asymptotics.puiseux import Sector, half_branches
from zwang.errors import StateError

DEGREES = (3, 5, 8, 12)
"""Degrees to which the reduced equation is expanded, in turn, until its branches are told apart."""
TURNS = (0.0, 0.5, 1.1, 0.2, 0.8, 1.4, 0.3)
NEWTON = 60
TERMS = (8, 14, 24, 40)
"""Numbers of terms of series, in turn, until everything asked is known."""


class NoCurve(ArithmeticError):
    """The curve can't be told near the point: too many directions, or branches that stay together."""


@dataclass(frozen=True)
class Frame:
    """Coordinates near a point: q = point + length (x along + y aside) + z across, and combinations of equations."""

    point: list[Number]
    along: list[Number]
    aside: list[Number]
    across: list[list[Number]]
    left: list[list[Number]]
    length: Number
    offset: list[Number]

    def place(self, x: Any, y: Any, z: Sequence[Any]) -> list[Any]:
        """Return q of x, y, z."""
        found = []
        for j, start in enumerate(self.point):
            total = x * (self.along[j] * self.length) + start
            if y is not None:
                total = total + y * (self.aside[j] * self.length)
            for amount, direction in zip(z, self.across, strict=True):
                total = total + amount * direction[j]
            found.append(total)
        return found


@dataclass(frozen=True)
class HalfBranch:
    """One half-branch of a curve.

    Attributes
    ----------
    equations : Equations
        n - 1 of them.
    frame : Frame
    side : int
        Sign of x along it.
    ramification : int
        x grows like tau to this power.
    y, z : series in tau
        To a certain order; `series` carries them further.
    """

    equations: Equations
    frame: Frame
    side: int
    ramification: int
    y: Laurent | None
    z: list[Laurent]
    noise: Number
    _kept: dict[int, list[Laurent]] = field(default_factory=dict, compare=False, repr=False)

    def series(self, terms: int) -> list[Laurent]:
        """Return q(tau) up to the power tau^terms."""
        if terms not in self._kept:
            self._kept[terms] = self._series(terms)
        return self._kept[terms]

    def _series(self, terms: int) -> list[Laurent]:
        head = [mp.mpf(self.side), *[mp.mpf(0)] * (terms - self.ramification - 1)]
        x = Laurent(self.ramification, head, self.noise)
        unknowns = [*([] if self.y is None else [self.y]), *self.z]
        # Polynomials from here on: what is not known yet is zero until it is found.
        trial = [_padded(item, terms, self.noise) for item in unknowns]
        for _ in range(NEWTON):
            q = self._place(x, trial)
            miss = self._combined(q)
            matrix = self._slopes(q)
            if all(item.is_zero for item in miss):
                return self._certain(x, trial, matrix, terms)
            step = solve(matrix, [miss])[0]
            if all(item.is_zero for item in step):
                return self._certain(x, trial, matrix, terms)
            trial = [_padded(a - b, terms, self.noise) for a, b in zip(trial, step, strict=True)]
        raise Undecided("Newton's method over series does not settle")

    def shortest(self) -> list[Laurent]:
        """Return the shortest series from which Newton's method finds this half-branch and no other.

        Dividing by the rows loses as many orders as their smallest singular value has, which bounds how near other
        branches come: the terms that are left must be more.
        """
        for terms in TERMS:
            q = self.series(terms)
            if 2 * min(item.end for item in q) > terms + self.ramification:
                return q
        raise Undecided("its branches stay together")

    def _place(self, x: Any, unknowns: Sequence[Any]) -> list[Any]:
        if self.y is None:
            return self.frame.place(x, None, unknowns)
        return self.frame.place(x, unknowns[0], unknowns[1:])

    def _combined(self, q: Sequence[Any]) -> list[Any]:
        value = [a - b for a, b in zip(self.equations.value(q), self.frame.offset, strict=True)]
        return [_as_series(dot(u, value), q) for u in self.frame.left]

    def _slopes(self, q: Sequence[Any]) -> list[list[Any]]:
        rows = self.equations.jacobian(q)
        mixed = [[dot(u, column) for column in zip(*rows, strict=True)] for u in self.frame.left]
        directions = [
            *([] if self.y is None else [[self.frame.length * a for a in self.frame.aside]]),
            *self.frame.across,
        ]
        return [[_as_series(dot(row, direction), q) for direction in directions] for row in mixed]

    def _certain(self, x: Any, trial: list[Laurent], matrix: Any, terms: int) -> list[Laurent]:
        """Return q with the terms dropped that an error of order tau^terms in the equations leaves open."""
        units = [[mp.mpf(int(i == k)) for i in range(len(trial))] for k in range(len(trial))]
        inverse = solve(matrix, units)
        lost = max(max(0, -item.start) for side in inverse for item in side)
        noise = self.noise + ROUNDING * sum(largest(item.coefficients) for side in inverse for item in side)
        known = [Laurent(item.start, item.coefficients, max(item.noise, noise)).cut(terms - lost) for item in trial]
        return self._place(x, known)

    def at(self, tau: Number) -> list[Number]:
        """Return the point of the half-branch at tau, to all digits: the series, then Newton's method."""
        q = [item.at(tau) for item in self.shortest()]
        x = list(self.frame.along)
        goal = dot(x, self.frame.point) + self.side * self.frame.length * mp.mpf(tau) ** self.ramification
        last = mp.inf
        for _ in range(NEWTON):
            value = [a - b for a, b in zip(self.equations.value(q), self.frame.offset, strict=True)]
            miss = [*value, dot(x, q) - goal]
            step = solve([*self.equations.jacobian(q), x], [miss])[0]
            q = [a - b for a, b in zip(q, step, strict=True)]
            length = largest(step)
            if length <= ROUNDING * 1e3 * (1 + largest(q)) or length >= last < 1e-30:
                break
            last = length
        return q


def _padded(item: Laurent, terms: int, noise: Number) -> Laurent:
    """Return a series as a polynomial known up to tau^terms."""
    cut = item.cut(terms)
    if cut.is_zero:
        return Laurent(0, [mp.mpf(0)] * terms, noise)
    return Laurent(cut.start, [*cut.coefficients, *[mp.mpf(0)] * (terms - cut.end)], noise)


def _as_series(value: Any, q: Sequence[Any]) -> Laurent:
    """Return a value as a series: an expression that does not depend on q is a number."""
    if isinstance(value, Laurent):
        return value
    end = min(item.end for item in q if isinstance(item, Laurent))
    return Laurent(0, [mp.mpf(value), *[mp.mpf(0)] * (end - 1)])


def curve_at(equations: Equations, point: Sequence[Number], error: Number, tol: Number) -> list[HalfBranch]:
    """Return the half-branches of n - 1 equations at a point.

    Parameters
    ----------
    equations : Equations
    point : sequence of mpf
    error : mpf
        How far the point may be from where it should be.
    tol : mpf
        Singular values of the rows below it count as zero.
    """
    n = len(point)
    if len(equations) != n - 1:
        raise NoCurve(f"{len(equations)} equations in {n} coordinates don't make a curve")
    split = Subspaces(equations.jacobian(point), tol)
    offset = equations.value(point)
    if split.rank == n - 1:
        frame = Frame(list(point), split.kernel[0], [], split.across, split.left, mp.mpf(1), offset)
        start = [Laurent(1, []) for _ in split.across]
        return [HalfBranch(equations, frame, side, 1, None, start, error) for side in (1, -1)]
    if split.rank < n - 2:
        raise NoCurve(f"the rank of {n - 1} rows is {split.rank} there: more than two directions are free")
    for degree in DEGREES:
        try:
            return _plane_curve(equations, list(point), split, offset, degree, error)
        except Undecided:
            continue
    raise NoCurve(f"its branches are not told apart by terms up to degree {DEGREES[-1]}")


def _plane_curve(
    equations: Equations, point: list[Number], split: Subspaces, offset: list[Number], degree: int, error: Number
) -> list[HalfBranch]:
    lefts = [*split.left, *split.left_null]
    frame = Frame(point, split.kernel[0], split.kernel[1], split.across, lefts, mp.mpf(1), offset)
    reduced, z = _reduced(equations, frame, split, degree)
    noise = reduced.noise + error * 1e3
    terms = {place: item for place, item in reduced.terms.items() if abs(item) > 1e3 * noise}
    if not terms:
        raise Undecided("the reduced equation vanishes to the degree looked at")
    lowest = min(i + j for i, j in terms)
    turn = _turn(terms, lowest)
    terms, across = _turned(terms, degree, turn), [_turned(item.terms, degree, turn) for item in z]
    length = _length(terms, lowest, degree)
    scaled = {(i, j): item * length ** (i + j - lowest) for (i, j), item in terms.items()}
    c, s = mp.cos(turn), mp.sin(turn)
    along = [c * a + s * b for a, b in zip(frame.along, frame.aside, strict=True)]
    aside = [c * b - s * a for a, b in zip(frame.along, frame.aside, strict=True)]
    turned = Frame(point, along, aside, split.across, lefts, length, offset)
    sectors = half_branches(scaled, degree, noise / length ** max(lowest, 0))
    return [_half_branch(equations, turned, sector, across, degree, error) for sector in sectors]


def _half_branch(
    equations: Equations, frame: Frame, sector: Sector, z: list[Any], degree: int, error: Number
) -> HalfBranch:
    """Return a sector of the plane with the coordinates z across the plane as series."""
    e = sector.ramification
    y = sector.y
    x = Laurent(e, [mp.mpf(sector.side), *[mp.mpf(0)] * max(y.end - e - 1, 0)])
    across = []
    for terms in z:
        total: Any = Laurent((degree + 1) * e, [])
        for (i, j), item in terms.items():
            total = total + (x**i) * (y**j) * (item * frame.length ** (i + j))
        across.append(total)
    branch = HalfBranch(equations, frame, sector.side, e, y, across, error)
    branch.series(y.end + 2 * e)  # told apart well enough for Newton's method, or Undecided
    return branch


def _reduced(equations: Equations, frame: Frame, split: Subspaces, degree: int) -> tuple[Bivariate, list[Bivariate]]:
    """Return the equation left in the plane of the kernel, and the coordinates across it, as polynomials."""
    z = [Bivariate(degree, {}) for _ in split.across]
    for top in range(2, degree + 1):
        value = _expanded(equations, frame, z, top)
        for k, u in enumerate(split.left):
            miss = dot(u, value)
            z[k] = Bivariate(
                degree,
                {**z[k].terms, **{p: -t / split.sizes[k] + z[k].terms.get(p, 0) for p, t in miss.terms.items()}},
                miss.noise / split.sizes[k],
            )
    value = _expanded(equations, frame, z, degree)
    found = dot(split.left_null[0], value)
    return (found if isinstance(found, Bivariate) else Bivariate(degree, {})), z


def _expanded(equations: Equations, frame: Frame, z: Sequence[Bivariate], degree: int) -> list[Any]:
    x, y = Bivariate(degree, {(1, 0): mp.mpf(1)}), Bivariate(degree, {(0, 1): mp.mpf(1)})
    cut = [Bivariate(degree, {p: t for p, t in item.terms.items() if sum(p) <= degree}, item.noise) for item in z]
    value = equations.value(frame.place(x, y, cut))
    zero = Bivariate(degree, {})
    return [zero + item - start for item, start in zip(value, frame.offset, strict=True)]


def _turn(terms: dict[tuple[int, int], Number], lowest: int) -> Number:
    """Return the angle by which to turn the plane so that no branch is tangent to the new y axis."""
    form = {(i, j): item for (i, j), item in terms.items() if i + j == lowest}
    size = largest(form.values())
    best, steepest = mp.mpf(0), mp.mpf(0)
    for turn in TURNS:
        c, s = mp.cos(turn), mp.sin(turn)
        value = abs(sum(item * (-s) ** i * c**j for (i, j), item in form.items()))
        if value > steepest:
            best, steepest = mp.mpf(turn), value
        if steepest > size / 3:
            return best
    if steepest < size / 50:
        raise StateError("The tangent cone at the point fills the plane.")
    return best


def _turned(terms: dict[tuple[int, int], Number], degree: int, turn: Number) -> dict[tuple[int, int], Number]:
    """Return a polynomial in the turned coordinates: x = c x' - s y', y = s x' + c y'."""
    if not turn:
        return dict(terms)
    c, s = mp.cos(turn), mp.sin(turn)
    x, y = Bivariate(degree, {(1, 0): c, (0, 1): -s}), Bivariate(degree, {(1, 0): s, (0, 1): c})
    xs, ys = [x * 0 + 1], [y * 0 + 1]
    for _ in range(degree):
        xs.append(xs[-1] * x)
        ys.append(ys[-1] * y)
    total = Bivariate(degree, {})
    for (i, j), item in terms.items():
        total = total + (xs[i] * ys[j]) * item
    return total.terms


def _length(terms: dict[tuple[int, int], Number], lowest: int, degree: int) -> Number:
    """Return a length over which the terms of the reduced equation are of one size."""
    base = largest(item for (i, j), item in terms.items() if i + j == lowest)
    rates = []
    for order in range(lowest + 1, degree + 1):
        size = largest(item for (i, j), item in terms.items() if i + j == order)
        if size:
            rates.append((base / size) ** (mp.mpf(1) / (order - lowest)))
    found = min(rates, default=mp.mpf(1))
    return min(max(found, mp.mpf(10) ** -6), mp.mpf(10) ** 6)
