"""Equilibria where constraints repeat each other, and where a coordinate has no mass of its own."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw


def test_equilibria_of_redundant_constraints_are_those_without_the_superfluous_ones() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    circle = x**2 + y**2 - 1
    told = {"kinetic": (vx**2 + vy**2) / 2, "potential": y + x / 2}
    twice = zw.System(**told, constraints=[zw.Bilateral(circle, name="a"), zw.Bilateral((3 + x) * circle, name="b")])
    found, right = zw.equilibria(twice), zw.equilibria(zw.System(**told, constraints=[zw.Bilateral(circle, name="a")]))
    assert found.status is right.status and found.notes == ()
    for one, other in zip(found.points, right.points, strict=True):
        assert [one.state[name] for name in "xy"] == pytest.approx([other.state[name] for name in "xy"], abs=1e-9)
        assert (one.holds, one.stability) == (other.holds, other.stability)
        assert np.isnan(one.reactions["a"]) and np.isnan(one.reactions["b"])  # not determined


def test_a_massless_coordinate_that_a_constraint_ties_to_a_mass_has_equilibria() -> None:
    (p, r), (vp, _) = zw.coordinates("p r")
    geared = zw.System(
        kinetic=vp**2 / 2, potential=2 * r**2 - 3 * r, constraints=[zw.Bilateral(p - 2 * r, name="gear")]
    )
    (point,) = zw.equilibria(geared).points
    assert (point.state["p"], point.state["r"]) == pytest.approx((1.5, 0.75), abs=1e-12) and point.holds == "must"
