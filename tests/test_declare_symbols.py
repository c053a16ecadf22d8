"""Symbols that know their role: equality, places, rates."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp

import zwang as zw
from zwang._declare.symbols import Coordinate, Velocity


def test_coordinates_always_returns_two_tuples() -> None:
    positions, velocities = zw.coordinates("x")
    assert [item.name for item in positions] == ["x"]
    assert [item.name for item in velocities] == ["v_x"]
    assert isinstance(positions[0], Coordinate) and isinstance(velocities[0], Velocity)


def test_ranges_of_names_expand_as_in_sympy() -> None:
    positions, _ = zw.coordinates("q1:4")
    assert [item.name for item in positions] == ["q1", "q2", "q3"]


def test_a_coordinate_and_its_velocity_find_each_other() -> None:
    (x, theta), (vx, omega) = zw.coordinates("x theta", angles="theta")
    assert x.velocity == vx and omega.coordinate == theta
    assert theta.angle and not x.angle and omega.angle


def test_the_same_declaration_gives_equal_symbols() -> None:
    assert zw.coordinates("x y") == zw.coordinates(["x", "y"])
    assert hash(zw.coordinates("x y")[0][1]) == hash(zw.coordinates("x y")[0][1])


def test_one_name_with_and_without_angle_is_two_symbols_without_conflict() -> None:
    (plain,), _ = zw.coordinates("phi")
    (angle,), _ = zw.coordinates("phi", angles="phi")
    assert plain != angle
    assert sp.sin(plain) != sp.sin(angle)


def test_place_in_the_call_is_part_of_equality() -> None:
    assert zw.coordinates("x y")[0][0] != zw.coordinates("y x")[0][1]


def test_symbols_survive_pickling() -> None:
    for symbol in (*zw.coordinates("x theta", angles="theta")[0], *zw.coordinates("x y")[1], zw.t):
        assert pickle.loads(pickle.dumps(symbol)) == symbol


def test_parameters_are_one_symbol_or_a_tuple_as_in_sympy() -> None:
    assert zw.parameters("m") == sp.Symbol("m", real=True)
    assert zw.parameters("m,") == (sp.Symbol("m", real=True),)
    assert [item.name for item in zw.parameters("m g")] == ["m", "g"]


def test_a_velocity_prints_as_a_dot_in_latex() -> None:
    _, (omega,) = zw.coordinates("theta", angles="theta")
    assert sp.latex(omega**2) == r"\dot{\theta}^{2}"


def test_rate_is_the_total_derivative_with_explicit_time() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    assert zw.rate(x**2 * y * zw.t) == 2 * x * y * zw.t * vx + x**2 * zw.t * vy + x**2 * y


def test_rate_of_a_matrix_is_taken_entry_by_entry() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    assert zw.rate(sp.Matrix([x, x * y])) == sp.Matrix([vx, vx * y + x * vy])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zw.coordinates(""), "No name was given"),
        (lambda: zw.coordinates("x x"), "'x' is declared twice"),
        (lambda: zw.coordinates("x v_x"), "'v_x' is declared twice"),
        (lambda: zw.coordinates("1x"), "must start with a letter"),
        (lambda: zw.coordinates("__class__"), "must start with a letter"),
        (lambda: zw.coordinates("x; import os"), "are not all names"),
        (lambda: zw.coordinates("lambda"), "no keyword"),
        (lambda: zw.coordinates("t"), "already has a meaning"),
        (lambda: zw.parameters("pi"), "already has a meaning"),
        (lambda: zw.coordinates("x y", angles="z"), "angles= names 'z', which is not declared"),
        (lambda: zw.rate(zw.coordinates("x")[1][0]), "already has the velocity 'v_x'"),
        (lambda: zw.rate("x"), "rate needs an expression"),
    ],
)
def test_bad_names_are_refused_with_a_cure(call, message: str) -> None:
    with pytest.raises(zw.DeclarationError, match=message.replace("(", r"\(")):
        call()
