"""The type of a singular point in exact arithmetic.

The coordinates of the point are recognized as rational numbers or rational parts of a turn, and it is checked exactly
that the constraints vanish there and are dependent. All but one of them are then solved for all but two coordinates, as
power series with rational coefficients; what is left is one equation g(x, y) = 0 in two unknowns (Lyapunov-Schmidt),
and its lowest terms decide the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from zwang._trace.exhaustive_jets import Jet, Jets, NotRationalError
from zwang._trace.formulas import ExactEquations, Formulas

DEGREES = (4, 8, 12)
CLOSE = 1e-9
LARGEST = 1000


@dataclass(frozen=True)
class ExactType:
    """The type of a singular point, proved.

    Attributes
    ----------
    kind : str
        crossing, tangency, cusp, isolated or higher.
    half_branches : int
    order : int or None
        Of contact, at a tangency.
    simple : bool
        Whether the lowest terms of the reduced equation are different lines, real or not.
    coordinates : tuple of str
        The exact point.
    """

    kind: str
    half_branches: int
    order: int | None
    simple: bool
    coordinates: tuple[str, ...]


def exact_type(equations: ExactEquations, q: Sequence[float]) -> ExactType | None:
    """Return the exact type of the singular point near q; None where exact rationals don't reach it."""
    place = [_recognized(float(x), angle) for x, angle in zip(q, equations.angles, strict=True)]
    if any(item is None for item in place):
        return None
    formulas = Formulas.of(equations.values, equations.coordinates, equations.name)
    try:
        frame = _frame(formulas, place)
        if frame is None:
            return None
        for degree in DEGREES:
            found = _classify(_reduced(formulas, place, frame, degree), degree)
            if found is not None:
                names = tuple(str(item) for item in place)
                return ExactType(*found, coordinates=names)
    except (NotRationalError, ZeroDivisionError):
        return None
    return None


def _recognized(x: float, angle: bool) -> Any:
    """Return the simple exact number that a float is to rounding: a rational, or a rational part of a turn."""
    if angle:
        turns = Fraction(x / float(sp.pi)).limit_denominator(12)
        if abs(float(turns) * float(sp.pi) - x) <= CLOSE * (1 + abs(x)):
            return sp.Rational(turns.numerator, turns.denominator) * sp.pi
    simple = Fraction(x).limit_denominator(LARGEST)
    if abs(float(simple) - x) <= CLOSE * (1 + abs(x)):
        return sp.Rational(simple.numerator, simple.denominator)
    return None


@dataclass(frozen=True)
class _Frame:
    """Which equations are solved for which coordinates, and by what; the equation and the coordinates left over."""

    rows: list[int]
    pivots: list[int]
    inverse: list[list[Fraction]]
    left: int
    free: list[int]


def _frame(formulas: Formulas, place: Sequence[Any]) -> _Frame | None:
    """Return the splitting at an exact point; None where it is not on the constraints or not of corank one."""
    n, m = len(place), len(formulas.outputs)
    arithmetic = Jets(1)
    table = sp.zeros(m, n)
    for j in range(n):
        inputs = [arithmetic.variable(value, 0 if l == j else None) for l, value in enumerate(place)]
        for i, item in enumerate(formulas(inputs, arithmetic)):
            if sp.simplify(item.constant) != 0:
                return None
            value = item.terms.get((1, 0), Fraction(0))
            table[i, j] = sp.Rational(value.numerator, value.denominator)
    if table.rank() != m - 1 or n - m != 1:
        return None
    left = next(i for i in range(m) if _without(table, i).rank() == m - 1)
    rows = [i for i in range(m) if i != left]
    pivots = list(table.extract(rows, list(range(n))).rref()[1]) if rows else []
    inverse = table.extract(rows, pivots).inv() if rows else sp.zeros(0, 0)
    plain = [[Fraction(int(x.p), int(x.q)) for x in inverse.row(i)] for i in range(len(rows))]
    return _Frame(rows, pivots, plain, left, [j for j in range(n) if j not in pivots])


def _without(table: Any, row: int) -> Any:
    kept = [i for i in range(table.rows) if i != row]
    return table.extract(kept, list(range(table.cols))) if kept else sp.zeros(0, table.cols)


def _reduced(formulas: Formulas, place: Sequence[Any], frame: _Frame, degree: int) -> Jet:
    """Return the equation that is left over, as a series in the two free coordinates."""
    arithmetic = Jets(degree)
    values = [arithmetic.variable(x, frame.free.index(j) if j in frame.free else None) for j, x in enumerate(place)]
    result = formulas(values, arithmetic)
    if frame.rows:
        for _ in range(degree):
            # Each turn makes one more degree right.
            for place_, row in zip(frame.pivots, frame.inverse, strict=True):
                change = arithmetic.constant(Fraction(0))
                for factor, i in zip(row, frame.rows, strict=True):
                    change = change + result[i].scaled(factor)
                values[place_] = values[place_] - change
            result = formulas(values, arithmetic)
    found: Jet = result[frame.left]
    return found


def _classify(g: Jet, degree: int) -> tuple[str, int, int | None, bool] | None:
    """Return kind, number of half-branches, order and whether the lines are different; None where terms are too few."""
    if not g.terms:
        return None
    lowest = min(i + j for i, j in g.terms)
    form = [g.terms.get((lowest - j, j), Fraction(0)) for j in range(lowest + 1)]
    if lowest == 2:
        a, b, c = form
        discriminant = b * b - 4 * a * c
        if discriminant:
            return ("crossing", 4, 0, True) if discriminant > 0 else ("isolated", 0, None, True)
        return _double_line(g, degree, a, b, c)
    return _lines(form)


def _lines(form: list[Fraction]) -> tuple[str, int, int | None, bool] | None:
    """Return the type of a lowest form of degree three or more with simple lines, by counting real roots exactly."""
    s = sp.Symbol("s")
    polynomial = sp.Poly(sum(sp.Rational(c.numerator, c.denominator) * s**k for k, c in enumerate(form)), s)
    at_infinity = len(form) - 1 - polynomial.degree()
    if at_infinity > 1 or polynomial.degree() < 1 or sp.gcd(polynomial, polynomial.diff()).degree() != 0:
        return None
    lines = int(polynomial.count_roots()) + at_infinity
    if lines == 0:
        return "isolated", 0, None, True
    return ("crossing" if lines > 1 else "higher"), 2 * lines, 0 if lines > 1 else None, True


def _double_line(
    g: Jet, degree: int, a: Fraction, b: Fraction, c: Fraction
) -> tuple[str, int, int | None, bool] | None:
    """Return the type of a (y + ...)^2 + h x^p: a tangency, a cusp or an isolated point (A_k)."""
    terms = dict(g.terms)
    if c == 0:
        # The square is that of x: exchange the variables.
        terms = {(j, i): value for (i, j), value in terms.items()}
        a, c = c, a
        b = Fraction(0)
    h = _valley(terms, degree, c, b)
    if not h:
        return None
    power = min(h)
    # The valley y(x) is right up to `degree - 1`, so g on it up to `degree`.
    if power % 2:
        return "cusp", 2, None, False
    if h[power] * c < 0:
        return "tangency", 4, power // 2 - 1, False
    return "isolated", 0, None, False


def _valley(terms: dict[tuple[int, int], Fraction], degree: int, c: Fraction, b: Fraction) -> dict[int, Fraction]:
    """Return g on the curve where dg/dy = 0, as a series in x; c y^2 + b x y + ... is its quadratic part."""
    y = {1: -b / (2 * c)} if b else {}
    for _ in range(degree):
        slope = _along(terms, y, degree, derivative=True)
        y = {k: y.get(k, Fraction(0)) - slope.get(k, Fraction(0)) / (2 * c) for k in {*y, *slope} if k > 0}
        y = {k: value for k, value in y.items() if value and k < degree}
    return _along(terms, y, degree, derivative=False)


def _along(
    terms: dict[tuple[int, int], Fraction], y: dict[int, Fraction], degree: int, *, derivative: bool
) -> dict[int, Fraction]:
    """Return g(x, y(x)), or dg/dy there, up to a degree."""
    highest = max((j for _, j in terms), default=0)
    powers = [{0: Fraction(1)}]
    for _ in range(highest):
        powers.append(_product(powers[-1], y, degree))
    total: dict[int, Fraction] = {}
    for (i, j), value in terms.items():
        if derivative and j == 0:
            continue
        factor, source = (value * j, powers[j - 1]) if derivative else (value, powers[j])
        for k, more in source.items():
            if i + k <= degree:
                total[i + k] = total.get(i + k, Fraction(0)) + factor * more
    return {k: value for k, value in total.items() if value}


def _product(one: dict[int, Fraction], two: dict[int, Fraction], degree: int) -> dict[int, Fraction]:
    total: dict[int, Fraction] = {}
    for i, value in one.items():
        for j, more in two.items():
            if i + j <= degree:
                total[i + j] = total.get(i + j, Fraction(0)) + value * more
    return total
