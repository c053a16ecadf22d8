"""Configuration spaces that nobody planned for: points of high multiplicity, other mechanisms, odd arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._results.configuration import ConfigurationSpace

(x, y), (vx, vy) = zw.coordinates("x y")
BOX = {"x": (-3.0, 3.0), "y": (-3.0, 3.0)}


def curve(expr: Any) -> zw.System:
    return zw.System(name="curve", kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr, name="curve")])


def counts(space: ConfigurationSpace) -> tuple[int, int, int]:
    return len(space.branches), len(space.curves), space.components


def line(a: int, b: int) -> Any:
    """A line through (1/3, -1/7)."""
    return a * (x - sp.Rational(1, 3)) + b * (y + sp.Rational(1, 7))


SLOPES = ((1, 0), (0, 1), (1, -1), (1, 2), (3, -1), (2, 5), (5, 1))


@pytest.mark.parametrize("k", [4, 5, 6, 7])
def test_any_number_of_lines_through_a_point_is_a_crossing(k: int) -> None:
    """k lines are k curves and 2 k arcs; their equation has no terms below degree k."""
    space = zw.trace(curve(sp.prod([line(*slope) for slope in SLOPES[:k]])), box=BOX)
    assert [point.kind for point in space.singular_points] == ["crossing"]
    assert counts(space) == (2 * k, k, 1)
    np.testing.assert_allclose([space.singular_points[0].state[c] for c in "xy"], [1 / 3, -1 / 7], atol=1e-12)


@pytest.mark.parametrize(("p", "q"), [(3, 7), (3, 8), (4, 5), (5, 6)])
def test_steep_parametrizations_are_followed_out_of_the_point(p: int, q: int) -> None:
    """y^p = x^q is x = t^p, y = t^q: one curve, two arcs, smooth apart from the origin."""
    space = zw.trace(curve(y**p - x**q), box=BOX)
    assert space.status.name == "TRACED"
    assert [point.kind for point in space.singular_points] == ["higher"]
    assert (len(space.branches), space.components) == (2, 1)
    for arc in space.branches:
        state = arc.state(at=0.3 * arc.length)
        assert abs(state["y"] ** p - state["x"] ** q) < 1e-12


@pytest.mark.parametrize(
    ("expr", "kinds", "expected"),
    [
        # Lawrence, A catalog of special plane curves (1972): the singular points and the loops of each.
        ((x**2 + y**2) ** 2 - 2 * (x**2 - y**2), ["crossing"], (2, 1, 1)),  # lemniscate
        (x * (x**2 + y**2) - 2 * y**2, ["cusp"], (2, 2, 1)),  # cissoid
        ((x**2 + y**2) ** 2 - (x**3 - 3 * x * y**2), ["crossing"], (3, 1, 1)),  # trifolium
        ((x**2 + y**2 - 1) ** 3 + 27 * x**2 * y**2, ["cusp"] * 4, (4, 4, 1)),  # astroid
        (x**2 * y - y**5, ["tangency"], (6, 3, 1)),  # D6: a line across two parabolas that touch
    ],
)
def test_curves_of_the_catalogues(expr: Any, kinds: list[str], expected: tuple[int, int, int]) -> None:
    space = zw.trace(curve(expr), box=BOX)
    assert [point.kind for point in space.singular_points] == kinds
    assert counts(space) == expected


def test_platform_of_three_equal_parallel_legs_moves_in_a_circle() -> None:
    """A planar platform congruent to its base on three legs of one length: a circular translation, radius 1."""
    (u, w, p), (vu, vw, vp) = zw.coordinates("u w p", angles="p")
    legs = []
    for k, (a, b) in enumerate(((0, 0), (2, 0), (1, sp.Rational(3, 2)))):
        along = (u + a * sp.cos(p) - b * sp.sin(p) - a) ** 2
        legs.append(zw.Bilateral(along + (w + a * sp.sin(p) + b * sp.cos(p) - b) ** 2 - 1, name=f"leg{k}"))
    space = zw.trace(zw.System(name="platform", kinetic=(vu**2 + vw**2 + vp**2) / 2, constraints=legs))
    assert [arc.closed for arc in space.branches] == [True]
    assert space.branches[0].length == pytest.approx(2 * np.pi, abs=1e-10)
    # The three circles of the pivots meet at most six times (Hunt 1983): besides the circle only isolated assemblies.
    assert space.components == 1 + len(space.points)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"box": [(0, 1)]}, "box= must be a mapping"),
        ({"seed": "a"}, "seed= must be"),
        ({"seed": -1}, "seed= must be"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        zw.trace(curve(x - y), **options)
