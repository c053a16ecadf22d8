"""Numbers in declarations: zero is zero in every form and place, and a number has one form and one digest."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._expressions import in_doubles, number, parse, to_text

(x, y), (vx, vy) = zw.coordinates("x y")
ZEROS = [
    0,
    0.0,
    -0.0,
    "0",
    "0.0",
    "-0.0",
    "0e5",
    "1.5 - 1.5",
    np.float64(0.0),
    np.float32(-0.0),
    np.int64(0),
    np.array(0.0),
    sp.Float(0),
    sp.Float("0", 40),
    sp.Integer(0),
    Fraction(0),
    Decimal("0.0"),
]


def declared(zero: Any) -> zw.System:
    """A system with the number in every place of a declaration that may be zero."""
    return zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        potential=zero,
        forces={x: zero, "y": zero},
        constraints=[
            zw.Unilateral(y, friction=zw.Coulomb(zero, slip=vx), restitution=zero, name="floor"),
            zw.Bilateral(x, friction=zw.Coulomb(zero, slip=[vy], scale=1.0), name="wall"),
            zw.Friction(zero, slip=vy, name="brake"),
        ],
        name="zeros",
    )


@pytest.mark.parametrize("zero", ZEROS, ids=repr)
def test_zero_is_zero_in_every_form_and_place(zero: Any, tmp_path) -> None:
    system = declared(zero)
    assert system == declared(0) and system.digest == declared(0).digest
    assert all(expr == 0 for where, expr in system.expressions().items() if where.startswith(("potential", "forces")))
    system.save(tmp_path / "zeros.toml")
    assert zw.load(tmp_path / "zeros.toml") == system


@pytest.mark.parametrize("mass", [np.eye(2), np.eye(2, dtype=np.float32), sp.Matrix([[1.0, 0.0], [0.0, 1.0]])], ids=str)
def test_a_mass_matrix_may_be_an_array_of_floats(mass: Any) -> None:
    system = zw.System(mass=mass, force=np.zeros(2), coordinates=(x, y))
    start = {"x": 0, "y": 0, "v_x": 1, "v_y": 0}
    assert zw.compile(system, "reference").accelerations(start).tolist() == [0.0, 0.0]
    assert len(system.digest) == 64


def test_a_moving_ball_lands_with_a_restitution_of_zero_point_zero() -> None:
    ball = zw.System(kinetic=vy**2 / 2, potential=9.81 * y, constraints=[zw.Unilateral(y, restitution=0.0)])
    motion = zw.simulate(ball, {"y": 1.0, "v_y": 0.0}, until=1.0)
    # y = 1 - g t^2/2 vanishes at t = sqrt(2/g), and the ball stays there
    assert motion.events[0].time == pytest.approx(math.sqrt(2 / 9.81), abs=1e-9)
    assert motion.end["y"] == pytest.approx(0, abs=1e-9)


def test_numbers_have_one_form() -> None:
    assert number(np.int32(3)) == sp.Integer(3) and number(Fraction(1, 3)) == sp.Rational(1, 3)
    assert number(np.float64(0.1)) == sp.Float(0.1) == in_doubles(sp.Float("0.1", 50))
    assert number(np.float64(0.1))._prec == 53
    assert number(True) is None and number(np.bool_(True)) is None and number(1j) is None and number("1") is None


@pytest.mark.parametrize("wrong", [[1.0], np.ones(2), np.ones((2, 2))], ids=repr)
def test_a_list_is_a_coefficient_only_as_a_pair_for_a_pair_of_slips(wrong: Any) -> None:
    with pytest.raises(zw.DeclarationError, match="Coulomb: mu"):
        zw.Coulomb(wrong, slip=vx)


@pytest.mark.parametrize("wrong", [True, np.bool_(False), 1j, np.complex128(1), None], ids=repr)
def test_what_is_no_number_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(zw.DeclarationError, match="Coulomb: mu: an expression, a number or a text is needed"):
        zw.Coulomb(wrong, slip=vx)


def test_zeros_inside_expressions_are_zero_too() -> None:
    kink = sp.Piecewise((sp.Float(0.0), x < sp.Float(0.0)), (x, True))
    assert in_doubles(kink) == sp.Piecewise((0, x < 0), (x, True))
    assert in_doubles(x ** sp.Float(0.0)) == 1
    assert in_doubles(sp.Float("1e-400") * x) == sp.Float("1e-400") * x  # no double: the printer says so
    with pytest.raises(zw.DeclarationError, match="Numbers lie within the range of a double"):
        to_text(sp.Float("1e-400"))


def test_random_numbers_come_back_from_their_text() -> None:
    source = random.Random(12)
    for _ in range(300):
        value = source.choice(
            [source.gauss(0, 1), source.uniform(-1, 1) * 10.0 ** source.randint(-300, 300), 0.0, -0.0]
        )
        given = source.choice([value, np.float64(value), sp.Float(value), sp.Float(value, 40), repr(value)])
        found = zw.Friction(given, slip=vx).bound
        read = parse(given, {}) if isinstance(given, str) else found
        assert float(read) == value and parse(to_text(read), {}) == read
