"""Half-branches of a curve as series that Newton's method carries to any order, and as points to all digits.

n - 1 equations g(q) = 0 in n coordinates, over balls. Where their rank is n - 1 the curve is smooth. Where it is
n - 2, the method of Lyapunov and Schmidt leaves one equation in the plane of the kernel, whose half-branches come from
Newton's polygon. A half-branch is q(tau) = point + (a series in tau > 0), with x = +-length * tau^ramification along
one direction; the other coordinates are the unknowns, and the rows lose rank at the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from flint import arb

from zwang._numerics.series.arithmetic import EXACT, NEGLIGIBLE, NearlyCritical, Undecided, decided
from zwang._numerics.series.balls import BALLS, ball, largest, rounding
from zwang._numerics.series.field import dot, eliminate, orthonormal, orthonormal_rest, solve
from zwang._numerics.series.germ import GermBranch, Terms, germ, turned
from zwang._numerics.series.power import Series, monomials, ring
from zwang._numerics.series.reduction import Split, reduce

NEWTON = 60
"""Steps after which Newton's method has failed: it doubles the known terms, or digits, each time."""
TERMS = (8, 14, 24, 40)
"""Numbers of terms of series, in turn, until everything asked is known."""
STEP = 8
"""Terms by which a series is carried on at once."""
DEGREES = (3, 5, 8, 12)
"""Degrees to which the reduced equation is expanded, in turn, until its branches are told apart."""
SAFETY = 1e3
"""How many times the error of the point a coefficient must be to count."""


class NoCurve(ArithmeticError):
    """The curve can't be told near the point: too many directions, or branches that stay together."""


class CurveEquations(Protocol):
    """Equations g(q) = 0 with their Jacobian, for numbers and for series in place of q."""

    def __len__(self) -> int:
        """Return their number."""
        ...

    def value(self, q: Sequence[Any]) -> list[Any]:
        """Return g(q)."""
        ...

    def jacobian(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return dg/dq."""
        ...


def split_at(rows: Sequence[Sequence[Any]], point: Sequence[Any], tol: Any, rank: int | None = None) -> Split:
    """Return the directions and combinations of rows at a point; pivots below `tol`, relative, count as zero."""
    m, n = len(rows), len(point)
    bound = arb(tol) * max(largest(item for row in rows for item in row), arb(1))
    _, numbers, columns, _ = eliminate([list(row) for row in rows], n, BALLS, bound if rank is None else None)
    r = len(numbers) if rank is None else rank
    across = orthonormal([rows[i] for i in numbers[:r]], BALLS)
    left = orthonormal([[row[j] for row in rows] for j in columns[:r]], BALLS)
    middle = [[dot(u, [dot(row, p) for row in rows]) for p in across] for u in left]
    units = [[arb(int(i == k)) for i in range(r)] for k in range(r)]
    inverse = [list(row) for row in zip(*solve(middle, units, BALLS), strict=True)] if r else []
    kernel, cokernel = orthonormal_rest(across, n, BALLS), orthonormal_rest(left, m, BALLS)
    return Split(list(point), kernel, across, left, cokernel, inverse)


@dataclass(frozen=True)
class Axes:
    """Coordinates near a point: q = point + length (x along + y aside) + z across, and combinations of equations."""

    point: Sequence[Any]
    along: Sequence[Any]
    aside: Sequence[Any]
    across: Sequence[Sequence[Any]]
    left: Sequence[Sequence[Any]]
    length: Any
    offset: Sequence[Any]

    def place(self, x: Any, unknowns: Sequence[Any]) -> list[Any]:
        """Return q of x and of the unknowns: y, where there is an axis aside, then z."""
        found = []
        for j, start in enumerate(self.point):
            total = x * (self.along[j] * self.length) + start
            for amount, direction in zip(unknowns, self.directions, strict=True):
                total = total + amount * direction[j]
            found.append(total)
        return found

    @property
    def directions(self) -> list[Sequence[Any]]:
        """The directions of the unknowns."""
        return [*([[self.length * item for item in self.aside]] if len(self.aside) else []), *self.across]


@dataclass(frozen=True)
class HalfCurve:
    """One half-branch of a curve.

    Attributes
    ----------
    equations : CurveEquations
        n - 1 of them.
    axes : Axes
    side : int
        Sign of x along it.
    ramification : int
        x grows like tau to this power.
    unknowns : list of Series
        To a certain order; `series` carries them further.
    noise : ball
        How far the point may be from where it should be.
    """

    equations: CurveEquations
    axes: Axes
    side: int
    ramification: int
    unknowns: list[Series]
    noise: Any
    _kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def series(self, terms: int) -> list[Series]:
        """Return q(tau) up to the power tau^terms.

        A few terms at a time: Newton's method over all of them at once would go through coefficients that are wrong by
        many orders of magnitude, and the error bounds of what it divides by would not survive that.
        """
        if terms not in self._kept:
            unknowns = self.unknowns
            size = min(terms, max(min((item.end for item in unknowns), default=terms) + STEP, TERMS[0]))
            while True:
                x, trial, matrix = self._settled(unknowns, size)
                unknowns = self._certain(unknowns, trial, matrix, size)
                if size >= terms:
                    break
                size = min(terms, size + STEP)
            self._kept[terms] = self.axes.place(x, unknowns)
        found: list[Series] = self._kept[terms]
        return found

    def _settled(self, unknowns: Sequence[Series], terms: int) -> tuple[Series, list[Series], Any]:
        """Return x, the unknowns and the slopes along them, with the equations solved up to the power tau^terms."""
        x = ring(BALLS).series([arb(self.side), *[arb(0)] * (terms - self.ramification - 1)], self.ramification)
        # Polynomials from here on: what is not known yet is zero until it is found.
        trial = [_padded(item, terms, self.noise) for item in unknowns]
        for _ in range(NEWTON):
            q = self.axes.place(x, trial)
            miss, matrix = self._combined(q), self._slopes(q)
            if not any(item.size for item in miss):
                return x, trial, matrix
            step = solve(matrix, [miss], BALLS)[0]
            if not any(item.size for item in step):
                return x, trial, matrix
            trial = [_padded(a - b, terms, self.noise) for a, b in zip(trial, step, strict=True)]
        raise Undecided("Newton's method over series does not settle")

    def rescaled(self) -> HalfCurve:
        """Return the same half-branch in a unit of tau in which the series that are divided by do not grow.

        Error bounds of a quotient grow with the sum of its coefficients, once more for each division.
        """
        matrix = self._settled(self.unknowns, max(TERMS[0], min(item.end for item in self.unknowns)))[2]
        growth = 1.0
        for item in (item for row in matrix for item in row if item.size):
            for k, coefficient in enumerate(item.coefficients[1:], start=1):
                growth = max(growth, float(abs(coefficient / item.leading).mid()) ** (1 / k))
        rho, e = arb(1 / (2 * growth)), self.ramification
        axes = replace(self.axes, length=self.axes.length * BALLS.whole(rho, e))
        unknowns = [item.stretched(rho) for item in self.unknowns]
        if len(axes.aside):
            unknowns[0] = unknowns[0] / BALLS.whole(rho, e)
        return HalfCurve(self.equations, axes, self.side, e, unknowns, self.noise)

    def nearest(self, digits: int, bits: int) -> float:
        """Return the least tau at which the rows along the half-branch are known to some digits.

        With rows that vanish like tau^k, a point is known to rounding over tau^k, and tau^k must be larger than that.
        """
        if "lost" not in self._kept:
            size = max(TERMS[0], min(item.end for item in self.unknowns) + STEP)
            self._kept["lost"] = self._lost(self._settled(self.unknowns, size)[2])[0]
        lost = self._kept["lost"]
        return float(10.0 ** (-(bits * 0.30103 - digits) / (2 * lost))) if lost else 0.0

    def shortest(self) -> list[Series]:
        """Return the shortest series from which Newton's method finds this half-branch and no other.

        Dividing by the rows loses as many orders as their smallest singular value has, which bounds how near other
        branches come: the terms that are left must be more.
        """

        def long_enough(terms: int) -> list[Series]:
            q = self.series(terms)
            if 2 * min(item.end for item in q) <= terms + self.ramification:
                raise Undecided("its branches stay together")
            return q

        if "shortest" not in self._kept:
            self._kept["shortest"] = decided(long_enough, TERMS)
        found: list[Series] = self._kept["shortest"]
        return found

    def _combined(self, q: Sequence[Any]) -> list[Series]:
        value = [a - b for a, b in zip(self.equations.value(q), self.axes.offset, strict=True)]
        return [_as_series(dot(u, value), q) for u in self.axes.left]

    def _slopes(self, q: Sequence[Any]) -> list[list[Any]]:
        rows = self.equations.jacobian(q)
        columns = [[dot(row, direction) for row in rows] for direction in self.axes.directions]
        return [[_as_series(dot(u, column), q) for column in columns] for u in self.axes.left]

    def _certain(self, before: Sequence[Series], trial: list[Series], matrix: Any, terms: int) -> list[Series]:
        """Return the unknowns with the terms dropped that an error of order tau^terms in the equations leaves open.

        What was certain before stays so.
        """
        lost, growth = self._lost(matrix)
        noise = self.noise + rounding() * growth
        ends = [min(max(terms - lost, item.end), terms) for item in before]
        return [_spread(item.cut(end), noise) for item, end in zip(trial, ends, strict=True)]

    def _lost(self, matrix: Any) -> tuple[int, Any]:
        """Return how many orders dividing by the rows loses, and the size of the coefficients of their inverse."""
        units = [[arb(int(i == k)) for i in range(len(matrix))] for k in range(len(matrix))]
        inverse = [item for side in solve(matrix, units, BALLS) for item in side]
        size = sum((largest(item.coefficients) for item in inverse), arb(0))
        return max([0, *(-item.start for item in inverse)]), size

    def at(self, tau: Any) -> list[Any]:
        """Return the point of the half-branch at tau, to all digits: the series, then Newton's method."""
        tau = ball(tau)
        q = [item.at(tau).mid() for item in self.shortest()]
        x = list(self.axes.along)
        goal = dot(x, self.axes.point) + self.side * self.axes.length * BALLS.whole(tau, self.ramification)
        last = arb("inf")
        for _ in range(NEWTON):
            value = [a - b for a, b in zip(self.equations.value(q), self.axes.offset, strict=True)]
            step = solve([*self.equations.jacobian(q), x], [[*value, dot(x, q) - goal]], BALLS)[0]
            q = [(a - b).mid() for a, b in zip(q, step, strict=True)]
            length = largest(step)
            if length <= rounding() * 1e3 * (1 + largest(q)) or (length >= last and last < 1e-30):
                break
            last = length
        return q


def _padded(item: Series, terms: int, noise: Any) -> Series:
    """Return a series as a polynomial known up to tau^terms, each coefficient with an error of its own."""
    items = [arb(0)] * min(item.start, terms) + item.cut(terms).coefficients
    middles = [x.mid() for x in items] + [arb(0)] * (terms - len(items))
    error = noise + rounding() * (1 + largest(middles))
    return ring(BALLS).series([arb(x, error) for x in middles])


def _spread(item: Series, noise: Any) -> Series:
    """Return a series with an error added to each of its coefficients."""
    items = [x + arb(0, noise) for x in item.coefficients]
    return ring(BALLS).series(items, item.start) if items else item


def _as_series(value: Any, q: Sequence[Any]) -> Series:
    """Return a value as a series: an expression that does not depend on q is a number."""
    if isinstance(value, Series):
        return value
    return ring(BALLS).constant(ball(value), min(item.end for item in q if isinstance(item, Series)))


def curve_at(
    equations: CurveEquations, point: Sequence[Any], error: Any, tol: Any, tangents: Sequence[Any] = ()
) -> list[HalfCurve]:
    """Return the half-branches of n - 1 equations at a point.

    Parameters
    ----------
    equations : CurveEquations
    point : sequence of balls
    error : ball
        How far the point may be from where it should be.
    tol : ball
        Pivots of the rows below it count as zero.
    tangents : sequence of vectors
        Of the half-branches, as far as they are known: they are needed where more than two directions are free.
    """
    n = len(point)
    if len(equations) != n - 1:
        raise NoCurve(f"{len(equations)} equations in {n} coordinates don't make a curve")
    noise = SAFETY * error
    middle = [item.mid() for item in point]
    split = _blurred(split_at(equations.jacobian(middle), middle, tol), noise)
    offset = equations.value(split.point)
    if split.rank == n - 1:
        axes = Axes(split.point, split.kernel[0], [], split.across, split.left, arb(1), offset)
        start = [Series(ring(BALLS), 1, ring(BALLS).row([]), 0) for _ in split.across]
        return [HalfCurve(equations, axes, side, 1, start, noise) for side in (1, -1)]
    if split.rank < n - 2 and len(tangents):
        return _along_tangents(equations, split, offset, noise, tangents)
    if split.rank < n - 2:
        raise NoCurve(f"the rank of {n - 1} rows is {split.rank} there: more than two directions are free")
    try:
        found: list[HalfCurve] = decided(lambda degree: _plane_curve(equations, split, offset, degree, noise), DEGREES)
    except Undecided:
        raise NoCurve(f"its branches are not told apart by terms up to degree {DEGREES[-1]}") from None
    return found


def _blurred(split: Split, noise: Any) -> Split:
    """Return a splitting with the error of its point in it: directions that differ by it are as good.

    Else entries that are zero but for the error of the point would differ from zero in some places and not in others.
    """

    def blur(vectors: Sequence[Sequence[Any]]) -> list[list[Any]]:
        return [[arb(item.mid(), noise) for item in vector] for vector in vectors]

    parts = (split.kernel, split.across, split.left, split.cokernel, split.inverse)
    return Split(blur([split.point])[0], *(blur(part) for part in parts))


def _plane_curve(
    equations: CurveEquations, split: Split, offset: Sequence[Any], degree: int, noise: Any
) -> list[HalfCurve]:
    values = lambda q: [a - b for a, b in zip(equations.value(q), offset, strict=True)]  # noqa: E731
    (reduced,), z = reduce(values, split, degree, BALLS)
    floor = SAFETY * noise
    kept: Terms = {(i, j): item for (i, j), item in reduced.terms().items() if abs(item) > floor}
    if not kept:
        raise Undecided("the reduced equation vanishes to the degree looked at")
    lowest = min(i + j for i, j in kept)
    length = _length(kept, lowest, degree)
    scaled = {(i, j): item * BALLS.whole(length, i + j - lowest) for (i, j), item in kept.items()}
    rows = monomials(2, degree).rows
    whole = ring(BALLS, 2).series([scaled.get((i, j), arb(0)) for i, j in rows])
    bound = floor / BALLS.whole(length, lowest)
    found = germ(whole, lambda terms, _: _certain_terms(terms, bound))
    if not found.decided:
        raise Undecided("its branches are not told apart")
    along, aside = ([dot(axis, pair) for pair in zip(*split.kernel, strict=True)] for axis in found.axes)
    axes = Axes(split.point, along, aside, split.across, [*split.left, *split.cokernel], length, offset)
    across = [turned({(i, j): x for (i, j), x in item.terms().items()}, found.axes) for item in z]
    return [_half_curve(equations, axes, branch, across, degree, noise) for branch in found.branches]


def _certain_terms(terms: Terms, bound: Any) -> Terms:
    """Return the terms that are not zero; some that are as small as the rounding of parameters are refused."""
    kept = {place: item for place, item in terms.items() if 0 not in item and abs(item) > bound}
    top = largest(kept.values())
    if bound < EXACT and any(abs(item) < NEGLIGIBLE * top for item in kept.values()):
        raise NearlyCritical
    return kept


def _half_curve(
    equations: CurveEquations, axes: Axes, branch: GermBranch, z: list[Any], degree: int, noise: Any
) -> HalfCurve:
    """Return a half-branch of the plane with the coordinates z across the plane as series."""
    e, end = branch.root, branch.last + 1
    items = [arb(0)] * end
    for exponent, value in branch.terms:
        items[exponent] = items[exponent] + value
    R = ring(BALLS)
    y = R.series(items)
    x = R.series([arb(branch.side), *[arb(0)] * max(end - e - 1, 0)], e)
    across = []
    for terms in z:
        total = Series(R, (degree + 1) * e, R.row([]), 0)
        for (i, j), item in terms.items():
            total = total + x.power(Fraction(i)) * y.power(Fraction(j)) * (item * BALLS.whole(axes.length, i + j))
        across.append(total)
    half = HalfCurve(equations, axes, branch.side, e, [y, *across], noise)
    half.series(end + 2 * e)  # told apart well enough for Newton's method, or Undecided
    # Of parameters that are critical only to rounding no terms beyond the first can be asked.
    return half.rescaled() if noise < EXACT else half


def _length(terms: Terms, lowest: int, degree: int) -> Any:
    """Return a length over which the terms of the reduced equation are of one size."""
    base = float(largest(item for (i, j), item in terms.items() if i + j == lowest))
    rates = []
    for order in range(lowest + 1, degree + 1):
        size = float(largest(item for (i, j), item in terms.items() if i + j == order))
        if size:
            rates.append((base / size) ** (1 / (order - lowest)))
    return arb(min(max(min(rates, default=1.0), 1e-6), 1e6))


def _along_tangents(
    equations: CurveEquations, split: Split, offset: Sequence[Any], noise: Any, tangents: Sequence[Any]
) -> list[HalfCurve]:
    """Return the half-branches that leave with the given tangents, any number of directions being free.

    Each tangent must be a simple solution of the quadratic equations of the tangent cone; it is refined to all digits.
    """
    found = []
    for tangent in tangents:
        try:
            parts = _refined_tangent(equations, split, tangent)
            rest = orthonormal_rest([parts], len(parts), BALLS)
            along, *others = ([dot(item, pair) for pair in zip(*split.kernel, strict=True)] for item in [parts, *rest])
            lefts = [*split.left, *split.cokernel]
            axes = Axes(split.point, along, [], [*others, *split.across], lefts, arb(1), offset)
            unknowns = [Series(ring(BALLS), 2, ring(BALLS).row([]), 0) for _ in axes.across]
            half = HalfCurve(equations, axes, 1, 1, unknowns, noise)
            half.series(TERMS[0])
        except (Undecided, ZeroDivisionError):
            raise NoCurve("the tangent cone does not tell its branches apart") from None
        found.append(half)
    return found


def _refined_tangent(equations: CurveEquations, split: Split, tangent: Any) -> list[Any]:
    """Return the components, in the kernel, of the unit tangent next to the given one."""
    parts = [dot(direction, [arb(float(item)) for item in tangent]).mid() for direction in split.kernel]
    R = ring(BALLS)

    def cone(c: Sequence[Any]) -> list[Any]:
        along = [dot(c, pair) for pair in zip(*split.kernel, strict=True)]
        q = [R.series([start, item, arb(0)]) for start, item in zip(split.point, along, strict=True)]
        value = [item.coefficient(2) if isinstance(item, Series) else arb(0) for item in equations.value(q)]
        return [dot(u, value) for u in split.cokernel]

    for _ in range(NEWTON):
        miss = [*cone(parts), (dot(parts, parts) - 1) / 2]
        rows = []
        for j in range(len(parts)):
            up = cone([item + (k == j) for k, item in enumerate(parts)])
            down = cone([item - (k == j) for k, item in enumerate(parts)])
            rows.append([(a - b) / 2 for a, b in zip(up, down, strict=True)])  # exact: the equations are quadratic
        matrix = [*(list(column) for column in zip(*rows, strict=True)), list(parts)]
        step = solve(matrix, [miss], BALLS)[0]
        parts = [(a - b).mid() for a, b in zip(parts, step, strict=True)]
        if largest(step) <= rounding() * 1e3:
            return parts
    raise Undecided("the tangent is a multiple one")
