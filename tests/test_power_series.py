"""Truncated power series: arithmetic and elementary functions against SymPy's Taylor series."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

from zwang._numerics.power_series import FUNCTIONS, power, ring

DEGREE = 6
# Function -> a point inside its domain.
FUNCTIONS_AND_PLACES = {
    "sin": 0.7, "cos": 0.7, "tan": 0.4, "sinh": 0.3, "cosh": 0.3, "tanh": 0.3, "exp": 0.2, "log": 1.7, "sqrt": 2.3,
    "arcsin": 0.3, "arccos": 0.3, "arctan": 0.8, "arcsinh": 0.6, "arccosh": 1.9, "arctanh": 0.4,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS_AND_PLACES)
def test_functions_have_their_taylor_coefficients(name: str) -> None:
    place = FUNCTIONS_AND_PLACES[name]
    x = sp.Symbol("x")
    exact = getattr(sp, name.replace("arc", "a"))(x)
    wanted = [float(sp.diff(exact, x, k).subs(x, place) / sp.factorial(k)) for k in range(DEGREE + 1)]
    found = getattr(FUNCTIONS, name)(ring(1, DEGREE).variable(0, place))
    assert found.c == pytest.approx(wanted, rel=1e-12, abs=1e-13)
    assert getattr(FUNCTIONS, name)(place) == pytest.approx(wanted[0], rel=1e-14)


def test_two_variables_agree_with_derivatives() -> None:
    x, y = sp.symbols("x y")
    R = ring(2, 5)
    u, v = R.variable(0, 0.3), R.variable(1, -0.4)
    expr = sp.sin(x * y + x) / (2 + y) + sp.sqrt(1 + x**2) * sp.atan2(y, 1 + x)
    f = FUNCTIONS
    found = f.sin(u * v + u) / (2 + v) + f.sqrt(1 + u * u) * f.arctan2(v, 1 + u)
    for place, (i, j) in enumerate(R.exponents):
        wanted = sp.diff(expr, x, int(i), y, int(j)).subs({x: 0.3, y: -0.4}) / (math.factorial(i) * math.factorial(j))
        assert found.c[place] == pytest.approx(float(wanted), rel=1e-10, abs=1e-12)


def test_powers_and_division() -> None:
    x = ring(1, 5).variable(0, 2.0)
    assert (x**3).c.tolist() == [8.0, 12.0, 6.0, 1.0, 0.0, 0.0]
    assert ((1 / x) * x).c == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-16)
    assert power(x, -0.5).c == pytest.approx((1 / FUNCTIONS.sqrt(x)).c, rel=1e-14)
    assert power(3.0, 2) == 9.0
    assert (5 - x).c[:2].tolist() == [3.0, -1.0]
    exponential = FUNCTIONS.power(x, ring(1, 5).variable(0, 1.0))  # (2 + s)^(1 + s)
    assert exponential.c[1] == pytest.approx(2 * math.log(2) + 1, rel=1e-14)


def test_signs_and_absolute_values_away_from_zero() -> None:
    x = ring(1, 2).variable(0, -2.0)
    assert FUNCTIONS.abs(x).c.tolist() == [2.0, -1.0, 0.0] and FUNCTIONS.sign(x) == -1.0
    assert FUNCTIONS.abs(-3.0) == 3.0


def test_numbers_of_mpmath_work_too() -> None:
    with mpmath.workdps(40):
        R = ring(1, 4)
        x = R.constant(mpmath.mpf(1) / 3)
        c = np.array(x.c)
        c[1] = mpmath.mpf(1)
        found = FUNCTIONS.sin(type(x)(R, c)) * type(x)(R, c)
        wanted = mpmath.taylor(lambda s: mpmath.sin(s) * s, mpmath.mpf(1) / 3, 4)
        assert max(abs(a - b) for a, b in zip(found.c, wanted, strict=True)) < mpmath.mpf(10) ** -30
