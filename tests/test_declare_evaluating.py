"""Expressions at numbers, and the search for forces that jump with the velocity, which looks at them."""

from __future__ import annotations

import time

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._declare.numeric_values import Evaluator

(x, y), (vx, vy) = zw.coordinates("x y")
k, c = zw.parameters("k c")

EXPRESSIONS = [
    x**2 * y - sp.Rational(1, 3) + sp.pi,
    sp.sqrt(x**2 + y**2) / (1 + sp.exp(-x)),
    sp.atan2(y, x) + sp.tan(x) * sp.acosh(2 + x**2),
    sp.Max(x, y, 0) - sp.Min(x, -y) + sp.sign(x) * sp.Abs(y),
    sp.Piecewise((sp.log(x), x > 0), (y, (x < -1) | sp.Ne(y, 0)), (0, True)),
    sp.Heaviside(x - y) + sp.cot(x),
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_expressions_have_the_values_that_sympy_gives_them(expr: sp.Expr) -> None:
    value = Evaluator(expr)
    for a, b in np.random.default_rng(1).uniform(-2, 2, (20, 2)):
        expected = expr.subs({x: a, y: b}).evalf()
        assert value({x: a, y: b}) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("expr", [sp.log(x), 1 / (x + 1), sp.sqrt(x), sp.exp(-1000 * x), sp.asin(2 * x)], ids=str)
def test_what_is_not_real_or_not_finite_is_none(expr: sp.Expr) -> None:
    assert Evaluator(expr)({x: -1.0}) is None


def test_a_piece_that_is_not_taken_may_have_no_value() -> None:
    value = Evaluator(sp.Piecewise((sp.sqrt(x), x > 0), (-1, True)))
    assert value({x: -4.0}) == -1.0
    assert Evaluator(sp.Piecewise((1, x > 0)))({x: -1.0}) is None


@pytest.mark.parametrize("strength", [1e3, 1e5, 1e8, 1e12])
def test_a_steep_force_is_not_taken_for_a_jump(strength: float) -> None:
    across = vy * sp.cos(x) - vx * sp.sin(x) - sp.Rational(1, 3)
    force = sp.Piecewise((-strength * across, across < 0), (0, True))
    assert zw.System(kinetic=vx**2 + vy**2, forces={x: force}).forces[x] == force


@pytest.mark.parametrize("strength", [0, 1e3, 1e5])
def test_a_jump_is_seen_beside_a_steep_force(strength: float) -> None:
    with pytest.raises(zw.DeclarationError, match="jumps with the velocity"):
        zw.System(kinetic=vx**2, forces={x: -strength * vx - sp.Piecewise((1, vx > 1), (0, True))})


def test_large_conditions_are_checked_within_a_second() -> None:
    gap = sp.sqrt(sum((x - sp.cos(i * y)) ** 2 for i in range(6))) - 1
    drag = -c * zw.rate(gap) * sp.sqrt(k / (1 + sp.diff(gap, y) ** 2))
    force = sp.Piecewise((drag, drag > k * gap), (k * gap, True))
    start = time.perf_counter()
    zw.System(kinetic=vx**2 + vy**2, forces={x: force})
    assert time.perf_counter() - start < 1.0
