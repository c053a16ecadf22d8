"""Half-branches of plane curves from Newton's polygon."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from zwang._numerics.plane_germs import Germ, alike, germ, partner, separation

x, y = sp.symbols("x y")


def of(expr: sp.Expr, degree: int = 10, turn: float = 0.0) -> Germ:
    """The germ of an expression, after a rotation of the coordinates."""
    c, s = np.cos(turn), np.sin(turn)
    turned = sp.expand(expr.subs({x: c * x - s * y, y: s * x + c * y}, simultaneous=True))
    table = np.zeros((degree + 1, degree + 1))
    for (i, j), value in sp.Poly(turned, x, y).terms():
        if i + j <= degree:
            table[i, j] = float(value)
    return germ(table)


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
@pytest.mark.parametrize("expr", CASES, ids=str)
def test_half_branches(expr: sp.Expr, turn: float) -> None:
    found = of(expr, turn=turn)
    assert found.decided
    assert (len(found.twigs), {twig.root for twig in found.twigs}) == CASES[expr]


@pytest.mark.parametrize("expr", CASES, ids=str)
def test_half_branches_lie_on_the_curve(expr: sp.Expr) -> None:
    found = of(expr)
    terms = sp.Poly(expr, x, y).terms()
    for twig in found.twigs:
        tau = 1e-2
        at = found.rotation @ [twig.side * tau**twig.root, sum(c * tau**e for e, c in twig.terms)]
        parts = [float(value) * at[0] ** i * at[1] ** j for (i, j), value in terms]
        # With the first terms alone the largest monomials cancel up to a higher power of tau.
        assert abs(sum(parts)) <= 0.1 * max(abs(part) for part in parts) + 1e-20


def test_partners_are_the_two_halves_of_a_curve() -> None:
    found = of((y - x**2) * (y + x + x**2), turn=0.7)
    for twig in found.twigs:
        side, root, terms = partner(twig)
        others = [other for other in found.twigs if other.side == side and alike(other.terms, terms)]
        assert len(others) == 1 and root == 1


def test_separation_is_the_first_power_that_differs() -> None:
    found = of((y - x**2) * (y - x**2 - 3 * x**4))
    first, second = (twig for twig in found.twigs if twig.side == 1)
    assert separation(first, second) == 4


def test_what_the_degree_does_not_decide_is_said() -> None:
    assert not of(y**2).decided and [twig.count for twig in of(y**2).twigs] == [2, 2]
    assert not of(y**2 - x**8, degree=6).decided and of(y**2 - x**8, degree=8).decided
    assert not germ(np.zeros((4, 4))).decided
    assert germ(np.eye(3)).degree == 0  # not zero at the origin


def test_coefficients_below_the_tolerance_are_zero() -> None:
    assert len(of(y**2 - x**4 + sp.Float(1e-11) * x**2).twigs) == 4
    assert len(of(y**2 - x**4 + sp.Float(1e-6) * x**2).twigs) == 0
