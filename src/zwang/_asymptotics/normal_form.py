"""The change of coordinates to a normal form: f = y^2 - x^2 at a crossing, f = y^2 - x^4 at a tangency of order one.

Burian (2024), theorem 3, applies such a change; here it is found, as a power series. In coordinates (u, w) next to the
point, with f_ww > 0, the curve w = Y(u) on which f_w vanishes is solved for; then f = F(u) + (w - Y)^2 R(u, w) with
F = -c u^p + ..., c > 0, and x = (-F)^(1/p), y = (w - Y) R^(1/2) are coordinates in which f is the normal form. Their
inverse is the change. p = 2 where the second differential is indefinite, 4 where it has rank one and F starts there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb

from zwang._asymptotics.mechanics import Mechanics, directions
from zwang._asymptotics.point import BITS, Number, Spot
from zwang._declare.symbols import Coordinate, coordinates
from zwang._declare.system import System
from zwang._numerics.series.balls import BALLS, precision
from zwang._numerics.series.field import solve
from zwang._numerics.series.power import Series, ring
from zwang.errors import DeclarationError

ORDER = 6
"""Degree up to which the change is known."""
LARGEST = 10**7
"""Denominators up to which a coefficient is told as a fraction."""
DIGITS = 30  # of coefficients that are printed; balls carry more
NAMES = (("x", "y"), ("xi", "eta"), ("x_form", "y_form"))
Matrix = list[list[Number]]
Terms = dict[tuple[int, ...], Number]


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A system next to a singular point, in coordinates in which its constraint is a normal form.

    Attributes
    ----------
    change : mapping of Coordinate to expression
        The old coordinates as polynomials of the new ones, up to the degree `order`.
    coordinates : tuple of Coordinate
        The new ones, x and y.
    power : int
        2: f = y^2 - x^2, a crossing; 4: f = y^2 - x^4, a tangency of order one.
    sign : int
        -1 where f is minus that.
    g1, g2, g3 : float
        (A^-1)_yy, (A^-1 B)_y and (A^-1 W)_y at the point, moving along x with the speed of the study, for the
        equations A q'' + B = lam grad f + abs(lam) W in the new coordinates: a = 4 eps g1, b = 2 eps^(1/2) g3 and
        c = 2 eps^(1/2) g2 + ... at the point of f = eps that is nearest, eps > 0, to first order.
    beside : tuple of float
        The same of the x components, moving along y: for eps < 0.
    system : System
        In the new coordinates, with the normal form for its constraint.
    order : int

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), _ = zw.coordinates("x y")
    >>> (p, q), _ = zw.coordinates("p q")
    >>> entry = zw.gallery.get("crossing")
    >>> skewed = entry.system.transformed({x: p, y: q - p**2})
    >>> form = zw.asymptotics(skewed, entry.params, at={"p": 0, "q": 0}).normal_form
    >>> form.change[q], form.system.constraints["curve"].expr
    (x**2 + y, -x**2 + y**2)
    """

    change: Mapping[Coordinate, Any]
    coordinates: tuple[Coordinate, ...]
    power: int
    sign: int
    g1: float
    g2: float
    g3: float
    beside: tuple[float, float, float]
    system: System
    order: int = ORDER

    def __repr__(self) -> str:
        x, y = self.coordinates
        told = ", ".join(f"{old} = {expr}" for old, expr in self.change.items())
        minus = "-" if self.sign < 0 else ""
        return (
            f"NormalForm {minus}({y}**2 - {x}**{self.power}) of '{self.system.name}': {told} + terms of degree "
            f"{self.order + 1}; g1 = {self.g1:.6g}, g2 = {self.g2:.6g}, g3 = {self.g3:.6g}"
        )


def find_normal_form(system: System, spot: Spot, mechanics: Mechanics) -> NormalForm:
    """Return the normal form at a point of a system of two coordinates with one constraint."""
    if len(system.coordinates) != 2 or len(spot.names) != 1:
        raise DeclarationError(
            f"{system.name}: normal_form is for two coordinates and one constraint on positions; there are "
            f"{len(system.coordinates)} and {len(spot.names)}. Solve the others for two coordinates first, as joint "
            "angles do."
        )
    with precision(BITS):
        found = _Change.of(spot)
        jets = found.jets()
        new, _ = coordinates(_free_names(system))
        change = {
            old: _polynomial(jet, new, at) for old, jet, at in zip(system.coordinates, jets, spot.middle, strict=True)
        }
        along, beside = (_values(mechanics, spot, jets, axis) for axis in (0, 1))
    x, y = new
    form = found.sign * (y**2 - x**found.power)
    moved = system.transformed(change, coordinates=list(new), name=f"{system.name} in normal form")
    held = [replace(item, expr=form) if str(item.name) == spot.names[0] else item for item in moved.constraints]
    normal = moved.replace(constraints=held, drawing=None)
    return NormalForm(change, tuple(new), found.power, found.sign, *along, beside, normal)


def _free_names(system: System) -> list[str]:
    taken = {item.name for item in (*system.coordinates, *system.velocities, *system.parameters)}
    return list(next(pair for pair in NAMES if not taken & {*pair, *(f"v_{name}" for name in pair)}))


@dataclass(frozen=True)
class _Change:
    """What is found on the way: the linear part P with q = s + P (u, w), power, sign, and x, y as series of u, w."""

    P: Matrix
    power: int
    sign: int
    x: Series
    y: Series

    @classmethod
    def of(cls, spot: Spot) -> _Change:
        """Return the coordinates x(u, w), y(u, w) of the normal form."""
        size = ORDER + 5
        R = ring(BALLS, 2)
        u, w = R.variable(0, size), R.variable(1, size)
        plain = _expanded(spot, [[arb(1), arb(0)], [arb(0), arb(1)]], size)
        P, sign = _axes(plain)
        f = _expanded(spot, P, size)
        f = f if sign > 0 else -f
        Y = _valley(f, u, size)
        shifted = _at(f.terms(), u, Y + w, size)
        floor = {key: item for key, item in shifted.terms().items() if key[1] == 0 and key[0] > 1}
        power = min((key[0] for key in floor), default=0)
        if power not in (2, 4) or not floor[power, 0] < 0:
            raise DeclarationError(
                "normal_form is for a crossing of two branches and for a tangency of order one; here f is "
                f"y^2 {'- c' if power and floor[power, 0] < 0 else '+ c'} x^{power or '...'} in suitable coordinates."
            )
        depth: Terms = {(key[0] - power, 0): -item for key, item in floor.items()}
        bend: Terms = {(i, j - 2): item for (i, j), item in shifted.terms().items() if j >= 2}
        root = _series(depth, size).apply("sqrt")
        x = u * (root if power == 2 else root.apply("sqrt"))
        R_ = _at(_series(bend, size).terms(), u, w - Y, size).apply("sqrt")
        return cls(P, power, sign, x, (w - Y) * R_)

    def jets(self) -> list[Series]:
        """Return q - s as series of (x, y): the inverse of x(u, w), y(u, w), through P."""
        size = ORDER + 1
        R = ring(BALLS, 2)
        new = [R.variable(0, size), R.variable(1, size)]
        terms = [item.terms() for item in (self.x, self.y)]
        L = [[item.get((1, 0), arb(0)), item.get((0, 1), arb(0))] for item in terms]
        rest = [{key: value for key, value in item.items() if sum(key) > 1} for item in terms]
        columns = solve([list(row) for row in L], [[arb(1), arb(0)], [arb(0), arb(1)]], BALLS)
        inverse = [[columns[j][i] for j in range(2)] for i in range(2)]
        here = _linear(inverse, new)
        for _ in range(ORDER):
            bent = [_at(item, here[0], here[1], size) for item in rest]
            here = _linear(inverse, [a - b for a, b in zip(new, bent, strict=True)])
        return _linear(self.P, here)


def _expanded(spot: Spot, P: Matrix, size: int) -> Series:
    """Return f(s + P (u, w)) as a series, without the terms that vanish at the point."""
    R = ring(BALLS, 2)
    moved = _linear(P, [R.variable(0, size), R.variable(1, size)])
    q = [item + centre for item, centre in zip(moved, spot.middle, strict=True)]
    (value,) = spot.equations.value(q)
    allowed = 1000 * spot.noise
    kept = {key: item for key, item in value.terms().items() if sum(key) > 1 and abs(item) > allowed}
    return _series(kept, size)


def _axes(f: Series) -> tuple[Matrix, int]:
    """Return P such that f_ww > 0 in q = s + P (u, w), and the sign that f has to be given for that."""
    terms = f.terms()
    a, b, c = (terms.get(key, arb(0)) for key in ((2, 0), (1, 1), (0, 2)))
    one, nil = arb(1), arb(0)
    plain, swapped = [[one, nil], [nil, one]], [[nil, one], [one, nil]]
    turned = {1: [[one, one], [-one, one]], -1: [[one, one], [one, -one]]}  # w along (1, 1) or (1, -1)
    if c > 0:
        return plain, 1
    if a > 0:
        return swapped, 1
    definite = bool(abs(b * b - 4 * a * c) <= 1e-20 * (abs(a) + abs(b) + abs(c)) ** 2)
    if definite and (c < 0 or a < 0):
        return (plain, -1) if c < 0 else (swapped, -1)
    for sign, P in turned.items():
        if a + sign * b + c > 0:
            return P, 1
    raise DeclarationError("normal_form needs a second differential of f that is not zero at the point.")


def _valley(f: Series, u: Series, size: int) -> Series:
    """Return w = Y(u) on which f_w vanishes: each step gains a degree."""
    slope: Terms = {(i, j - 1): item * j for (i, j), item in f.terms().items() if j}
    stiffness = slope[0, 1]
    Y = u * arb(0)
    for _ in range(size):
        Y = Y - _at(slope, u, Y, size) * (1 / stiffness)
    return Y


def _series(terms: Terms, size: int) -> Series:
    R = ring(BALLS, 2)
    total = R.constant(arb(0), size)
    return _at(terms, R.variable(0, size), R.variable(1, size), size) if terms else total


def _at(terms: Terms, a: Series, b: Series, size: int) -> Series:
    """Return a polynomial at two series."""
    R = ring(BALLS, 2)
    powers: list[list[Series]] = []
    for base, place in ((a, 0), (b, 1)):
        row = [R.constant(arb(1), size)]
        for _ in range(max((key[place] for key in terms), default=0)):
            row.append(row[-1] * base)
        powers.append(row)
    total = R.constant(arb(0), size)
    for (i, j), value in terms.items():
        total = total + powers[0][i] * powers[1][j] * value
    return total


def _linear(matrix: Matrix, series: Sequence[Series]) -> list[Series]:
    return [series[0] * row[0] + series[1] * row[1] for row in matrix]


def _polynomial(jet: Series, new: Sequence[Any], at: Number) -> Any:
    """Return a coordinate as a polynomial of the new ones, coefficients as fractions where they are some."""
    x, y = new
    terms = [_told(value) * x**i * y**j for (i, j), value in jet.terms().items() if 0 < i + j <= ORDER]
    return sp.Add(_told(at), *terms)


def _told(value: Number) -> Any:
    """Return a number as a fraction, a multiple of pi or the root of a fraction where it is one, else with digits."""
    middle = value.mid()
    near = Fraction(float(middle)).limit_denominator(LARGEST)
    small = arb(10) ** -DIGITS * (1 + abs(middle))
    if abs(middle - arb(near.numerator) / near.denominator) < small:
        return sp.Rational(near.numerator, near.denominator)
    turns = Fraction(float(middle / arb.pi())).limit_denominator(1000)
    if abs(middle - arb.pi() * turns.numerator / turns.denominator) < small:
        return sp.pi * sp.Rational(turns.numerator, turns.denominator)
    square = Fraction(float(middle * middle)).limit_denominator(LARGEST)
    if abs(middle * middle - arb(square.numerator) / square.denominator) < small:
        return sp.sign(float(middle)) * sp.sqrt(sp.Rational(square.numerator, square.denominator))
    return sp.Float(middle.str(DIGITS, radius=False), DIGITS)


def _values(mechanics: Mechanics, spot: Spot, jets: Sequence[Series], axis: int) -> tuple[float, float, float]:
    """Return g1, g2, g3 across an axis: A^-1, A^-1 B and A^-1 W in the new coordinates, moving along it."""
    key = (1, 0) if axis == 0 else (0, 1)
    double = (2, 0) if axis == 0 else (0, 2)
    slopes = [[jet.terms().get((1, 0), arb(0)), jet.terms().get((0, 1), arb(0))] for jet in jets]
    forward = [jet.terms().get(key, arb(0)) for jet in jets]
    v = mechanics.velocity(spot.middle, forward, forward)
    pace = next(a / b for a, b in zip(v, forward, strict=True) if abs(b) > 1e-20)
    terms = mechanics.terms(spot.middle, v)
    drift = [2 * jet.terms().get(double, arb(0)) * pace * pace for jet in jets]
    free = solve([list(row) for row in terms.mass], [list(terms.force)], BALLS)[0]
    law = next((item for item in mechanics.laws if item.normal is not None), None)
    rub = [arb(0), arb(0)]
    along = directions(terms, mechanics.laws, {}) if law is not None else None
    if law is not None and along is not None:
        (direction,) = along[mechanics.laws.index(law)]
        size = law.size(terms, [direction])
        rub = [-item * size * direction for item in terms.slip_rows[law.slips[0]]]
    carried = solve([list(row) for row in terms.mass], [rub], BALLS)[0]
    # In the new coordinates A^-1 is DX^-1 A^-1 DX^-T, and A^-1 B is DX^-1 (A^-1 B + the second derivative of X).
    columns = solve([list(row) for row in slopes], [[arb(1), arb(0)], [arb(0), arb(1)]], BALLS)
    across = 1 - axis
    row = [columns[j][across] for j in range(2)]
    inverse = solve([list(line) for line in terms.mass], [row], BALLS)[0]
    g1 = sum((a * b for a, b in zip(row, inverse, strict=True)), arb(0))
    g2 = sum((a * (b - c) for a, b, c in zip(row, drift, free, strict=True)), arb(0))
    g3 = sum((a * b for a, b in zip(row, carried, strict=True)), arb(0))
    first, second, third = (0.0 if abs(item) < 1e-50 else float(item) for item in (g1, g2, g3))
    return first, second, third
