"""Half-branches of plane curves from Newton's polygon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from zwang._numerics.series.arithmetic import FLOATS, Arithmetic, NotRationalError
from zwang._numerics.series.balls import BALLS, precision
from zwang._numerics.series.germ import Germ, alike, floor, germ, partner, separation
from zwang._numerics.series.power import monomials, ring
from zwang._numerics.series.rationals import RATIONALS

x, y = sp.symbols("x y")


def of(expr: sp.Expr, degree: int = 10, turn: float = 0.0, over: Arithmetic = FLOATS) -> Germ:
    """The germ of an expression, after a rotation of the coordinates; over exact numbers by a rational angle."""
    c, s = (np.cos(turn), np.sin(turn)) if over is FLOATS else (sp.Rational(3, 5), sp.Rational(4, 5))
    if turn:
        expr = expr.subs({x: c * x - s * y, y: s * x + c * y}, simultaneous=True)
    given = dict(sp.Poly(sp.expand(expr), x, y).terms())
    items = [sp.Rational(str(given.get(row, 0))) for row in monomials(2, degree).rows]
    numbers = [over.number(Fraction(int(item.p), int(item.q))) for item in items]
    return germ(ring(over, 2).series(numbers), floor(1e-9) if over is FLOATS else None)


# Expression -> number of real half-branches and of roots, by the theory of plane curves.
CASES = {
    y**2 - x**2: (4, {1}),
    y**2 + x**2: (0, set()),
    y**2 - x**3: (2, {2}),
    y**2 - x**4: (4, {1}),
    y**2 + x**4: (0, set()),
    y**2 - x**5: (2, {2}),
    y**3 - x**4: (2, {3}),
    y**3 - x**5: (2, {3}),
    x * y * (x - y): (6, {1}),
    y * (x**2 + y**2): (2, {1}),
    (y - x**2) ** 2 - x**5: (2, {2}),
    (y**2 - x**3) * (y**2 + x**3): (4, {2}),
    (y**2 - x**3) ** 2 - x**7: (4, {2}),
    (y**2 - x**3) ** 2 - 4 * x**5 * y - x**7: (2, {4}),
}


@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("over", [FLOATS, BALLS, RATIONALS], ids=["floats", "balls", "rationals"])
@pytest.mark.parametrize("expr", CASES, ids=str)
def test_half_branches(expr: sp.Expr, turn: float, over: Arithmetic) -> None:
    with precision(256):
        try:
            found = of(expr, turn=turn, over=over)
        except NotRationalError:
            # Turned by an angle with a rational sine the square y^2 - x^3 has roots in sqrt(5).
            assert turn and over is RATIONALS and expr.has((y**2 - x**3) ** 2)
            return
    assert found.decided
    assert (len(found.branches), {branch.root for branch in found.branches}) == CASES[expr]


def test_terms_that_are_not_known_may_undercut_an_edge() -> None:
    # y^2 + x^10 y - x^11 is a cusp; up to degree 11 it looks like y (y + x^10), two curves.
    cusp = y**2 + x**10 * y - x**11
    assert not of(cusp - x**11 * (-1), degree=11).decided
    assert {branch.root for branch in of(cusp, degree=20).branches} == {2}


@pytest.mark.parametrize("expr", CASES, ids=str)
def test_half_branches_lie_on_the_curve(expr: sp.Expr) -> None:
    found = of(expr)
    terms = sp.Poly(expr, x, y).terms()
    for branch in found.branches:
        tau = 1e-2
        at = np.transpose(found.axes) @ [branch.side * tau**branch.root, sum(c * tau**e for e, c in branch.terms)]
        parts = [float(value) * at[0] ** i * at[1] ** j for (i, j), value in terms]
        # With the first terms alone the largest monomials cancel up to a higher power of tau.
        assert abs(sum(parts)) <= 0.1 * max(abs(part) for part in parts) + 1e-20


def test_partners_are_the_two_halves_of_a_curve() -> None:
    found = of((y - x**2) * (y + x + x**2), turn=0.7)
    for branch in found.branches:
        side, root, terms = partner(branch)
        others = [other for other in found.branches if other.side == side and alike(other.terms, terms)]
        assert len(others) == 1 and root == 1


def test_separation_is_the_first_power_that_differs() -> None:
    found = of((y - x**2) * (y - x**2 - 3 * x**4))
    first, second = (branch for branch in found.branches if branch.side == 1)
    assert separation(first, second) == 4


def test_what_the_degree_does_not_decide_is_said() -> None:
    assert not of(y**2).decided and [branch.count for branch in of(y**2).branches] == [2, 2]
    assert not of(y**2 - x**8, degree=6).decided and of(y**2 - x**8, degree=8).decided
    assert not of(0 * x, degree=3).decided
    assert of(1 + x * y, degree=3).degree == 0  # not zero at the origin


def test_coefficients_below_the_tolerance_are_zero() -> None:
    assert len(of(y**2 - x**4 + sp.Float(1e-11) * x**2).branches) == 4
    assert len(of(y**2 - x**4 + sp.Float(1e-6) * x**2).branches) == 0
