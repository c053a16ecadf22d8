"""The half-branches of a curve g(q) = 0 at a point where its rows may depend on each other, as series.

n - 1 equations in n coordinates. Where their rank is n - 1 the curve is smooth. Where it is n - 2, the method of
Lyapunov and Schmidt leaves one equation F(x, y) = 0 in the plane of the kernel, whose half-branches come from Newton's
polygon; each is then carried to as many terms as asked by Newton's method over series. A half-branch is
q(tau) = point + (a series in tau > 0), with x = +-length * tau^ramification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zwang._asymptotics.bivariate import Bivariate
from zwang._asymptotics.elimination import Undecided, dot, solve
from zwang._asymptotics.geometry import Equations, Subspaces, orthonormal_rest
from zwang._asymptotics.half_branch import NEWTON, TERMS, Frame, HalfBranch, NoCurve
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import ROUNDING, Number, largest, mp
from zwang._asymptotics.puiseux import EXACT, Sector, half_branches
from zwang.errors import StateError

DEGREES = (3, 5, 8, 12)
"""Degrees to which the reduced equation is expanded, in turn, until its branches are told apart."""
TURNS = (0.0, 0.5, 1.1, 0.2, 0.8, 1.4, 0.3)


def curve_at(
    equations: Equations, point: Sequence[Number], error: Number, tol: Number, tangents: Sequence[Any] = ()
) -> list[HalfBranch]:
    """Return the half-branches of n - 1 equations at a point.

    Parameters
    ----------
    equations : Equations
    point : sequence of mpf
    error : mpf
        How far the point may be from where it should be.
    tol : mpf
        Singular values of the rows below it count as zero.
    tangents : sequence of vectors
        Of the half-branches, as far as they are known: they are needed where more than two directions are free.
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
    if split.rank < n - 2 and len(tangents):
        return smooth_branches(equations, list(point), split, error, tangents)
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
    # Of parameters that are critical only to rounding no terms beyond the first can be asked.
    return branch.rescaled() if error < EXACT else branch


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


def smooth_branches(
    equations: Equations, point: list[Number], split: Subspaces, error: Number, tangents: Sequence[Any]
) -> list[HalfBranch]:
    """Return the half-branches that leave with the given tangents, any number of directions being free.

    Each tangent must be a simple solution of the quadratic equations of the tangent cone; it is refined to all digits.
    """
    offset = equations.value(point)
    lefts = [*split.left, *split.left_null]
    found = []
    for tangent in tangents:
        try:
            parts = _refined_tangent(equations, point, split, tangent)
            aside = orthonormal_rest([parts], len(parts))
            along, *others = [_combined(item, split.kernel) for item in [parts, *aside]]
            frame = Frame(point, along, [], [*others, *split.across], lefts, mp.mpf(1), offset)
            unknowns = [Laurent(2, []) for _ in frame.across]
            branch = HalfBranch(equations, frame, 1, 1, None, unknowns, error)
            branch.series(TERMS[0])
        except (Undecided, ZeroDivisionError):
            raise NoCurve("the tangent cone does not tell its branches apart") from None
        found.append(branch)
    return found


def _combined(parts: Sequence[Number], basis: Sequence[Sequence[Number]]) -> list[Number]:
    return [dot(parts, column) for column in zip(*basis, strict=True)]


def _refined_tangent(equations: Equations, point: list[Number], split: Subspaces, tangent: Any) -> list[Number]:
    """Return the components, in the kernel, of the unit tangent next to the given one."""
    parts = [dot(direction, [mp.mpf(float(item)) for item in tangent]) for direction in split.kernel]

    def cone(c: Sequence[Number]) -> list[Number]:
        along = _combined(c, split.kernel)
        q = [Laurent(0, [start, item, mp.mpf(0)]) for start, item in zip(point, along, strict=True)]
        value = equations.value(q)
        series = [item if isinstance(item, Laurent) else Laurent(0, [item, mp.mpf(0), mp.mpf(0)]) for item in value]
        quadratic = [item.coefficient(2) for item in series]
        return [dot(u, quadratic) for u in split.left_null]

    for _ in range(NEWTON):
        miss = [*cone(parts), (dot(parts, parts) - 1) / 2]
        rows = []
        for j in range(len(parts)):
            up = cone([item + (k == j) for k, item in enumerate(parts)])
            down = cone([item - (k == j) for k, item in enumerate(parts)])
            rows.append([(a - b) / 2 for a, b in zip(up, down, strict=True)])  # exact: the equations are quadratic
        matrix = [*(list(column) for column in zip(*rows, strict=True)), list(parts)]
        step = solve(matrix, [miss])[0]
        parts = [a - b for a, b in zip(parts, step, strict=True)]
        if largest(step) <= ROUNDING * 1e3:
            return parts
    raise Undecided("the tangent is a multiple one")
