"""Four-bars, slider-cranks, chains and loops: components by the classical rules, singular poses where bars align."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang._results.configuration import ConfigurationSpace


@functools.cache
def four_bar(*lengths: float) -> ConfigurationSpace:
    entry = zw.gallery.get("four_bar")
    return zw.trace(entry.system, {**entry.params, **dict(zip(("l0", "l1", "l2", "l3"), lengths, strict=True))})


def counts(space: ConfigurationSpace) -> tuple[int, int, int, int]:
    return len(space.branches), len(space.curves), space.components, len(space.singular_points)


def test_rhombus_is_three_circles_that_meet_pairwise() -> None:
    space = four_bar(1, 1, 1, 1)
    assert counts(space) == (6, 3, 1, 3)
    assert [len(path) for path in space.paths] == [2, 2, 2]
    found = [(p.state["alpha"], p.state["gamma"]) for p in space.singular_points]
    # The gallery's fact: all bars on one line.
    expected = sorted(zw.gallery.get("four_bar").facts["singular_poses"].value)
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12)
    assert all(point.kind == "crossing" and point.order == 0 for point in space.singular_points)


@pytest.mark.parametrize("sides", [(2, 1), (1, 2), (3.3, 0.7)])
def test_parallelogram_is_two_circles_that_meet_twice(sides: tuple[float, float]) -> None:
    # Parallel motion alpha = gamma, and the antiparallelogram; they meet in the two poses on a line.
    a, b = sides
    space = four_bar(a, b, a, b)
    assert counts(space) == (4, 2, 1, 2)
    parallel = [path for path in space.curves if all(_equal_angles(arc) for arc in path)]
    assert len(parallel) == 1


def _equal_angles(arc: Any) -> bool:
    alpha, gamma = arc.position(np.linspace(0, arc.length, 9)).T
    return bool(np.abs(np.sin((alpha - gamma) / 2)).max() < 1e-9)


@pytest.mark.parametrize("sides", [(1, 1, 2, 2), (2, 2, 1, 1), (2, 1.3, 1.3, 2)])
def test_kite_can_fold_onto_itself(sides: tuple[float, ...]) -> None:
    # In the folded motion two neighbouring bars lie on each other and turn together: a circle beside the kite's own.
    assert counts(four_bar(*sides)) == (4, 2, 1, 2)


def expected_components(lengths: tuple[float, ...]) -> int:
    """Grashof: longer than the others together: none; shortest + longest < the other two: two; else one."""
    s, p, q, l = sorted(lengths)
    if l > s + p + q:
        return 0
    return 2 if s + l < p + q else 1


def random_lengths(count: int) -> list[tuple[float, ...]]:
    source = np.random.default_rng(11)
    found = []
    while len(found) < count:
        lengths = source.uniform(0.3, 3.0, size=4)
        s, p, q, l = sorted(lengths)
        if min(abs(s + l - p - q), abs(l - s - p - q), abs(s + q - p - l)) > 0.02:
            found.append(tuple(float(round(value, 3)) for value in lengths))
    return found


def test_random_four_bars_have_the_components_of_grashof() -> None:
    for lengths in random_lengths(40):
        space = four_bar(*lengths)
        assert space.components == len(space.branches) == expected_components(lengths), lengths
        assert not space.singular_points
        assert all(arc.closed for arc in space.branches)


def test_random_change_points_are_singular_where_all_bars_align() -> None:
    source = np.random.default_rng(4)
    for _ in range(8):
        s, p, q = np.sort(source.uniform(0.5, 2.0, size=3))
        lengths = source.permutation([s, p, q, p + q - s])  # shortest + longest = the other two
        space = four_bar(*(float(value) for value in lengths))
        assert counts(space) == (2, 1, 1, 1)
        (point,) = space.singular_points
        assert point.kind == "crossing"
        assert abs(math.sin(point.state["alpha"])) < 1e-12 and abs(math.sin(point.state["gamma"])) < 1e-12


def test_bars_that_do_not_reach_leave_nothing() -> None:
    space = four_bar(10, 1, 1, 1)
    assert space.status.name == "EMPTY" and space.dimension == -1 and space.components == 0
    assert not space.branches and not space.singular_points
    assert "EMPTY. No configuration satisfies the constraints." in repr(space)


def test_slider_crank_has_two_assemblies() -> None:
    entry = zw.gallery.get("slider_crank")
    assert counts(zw.trace(entry.system, entry.params)) == (2, 2, 2, 0)
    # A crank longer than its rod can't turn round: the two assemblies are one circle, on each side.
    swapped = zw.trace(entry.system, {**entry.params, "r": 1.5, "l": 0.5})
    assert swapped.components == 2


def test_slider_crank_with_equal_lengths_branches_where_the_slider_is_over_the_pivot() -> None:
    entry = zw.gallery.get("slider_crank")
    space = zw.trace(entry.system, {**entry.params, "r": 1.0, "l": 1.0})
    assert counts(space) == (4, 2, 1, 2)
    for point in space.singular_points:
        # Slider at r (cos alpha + cos beta) = 0 with sin alpha = -sin beta: beta = -alpha and beta = alpha + pi meet.
        slopes = sorted(float(row[1] / row[0]) for row in point.tangents)
        assert slopes == pytest.approx([-1, 1], abs=1e-12)
        assert abs(math.cos(point.state["alpha"])) < 1e-12


def test_cartesian_four_bar_is_the_same_space() -> None:
    chain = zw.gallery.n_four_bar(1)  # one loop of equal bars, in the coordinates of its two moving points
    assert counts(zw.trace(chain.system, chain.params)) == (6, 3, 1, 3)


def viviani() -> zw.System:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    sphere = zw.Bilateral(x**2 + y**2 + z**2 - 4, name="sphere")
    tube = zw.Bilateral((x - 1) ** 2 + y**2 - 1, name="tube")
    return zw.System(kinetic=(vx**2 + vy**2 + vz**2) / 2, constraints=[sphere, tube])


def test_vivianis_window_is_one_smooth_curve_through_one_node() -> None:
    space = zw.trace(viviani(), {})
    assert counts(space) == (2, 1, 1, 1)
    (point,) = space.singular_points
    # Its tangents at (2, 0, 0) are (0, 1, +-1): from x = 1 + cos t, y = sin t, z = 2 sin(t/2) at t = 0 and 2 pi.
    assert np.abs(point.tangents) == pytest.approx(np.array([[0, 1, 1], [0, 1, 1]]) / math.sqrt(2), abs=1e-12)


def test_overconstrained_parallelogram_moves_all_the_same() -> None:
    # Three equal parallel cranks on one coupler: one constraint too many, rank 1 on the moving component.
    (a, b, c), (va, vb, vc) = zw.coordinates("a b c", angles=True)
    import sympy as sp

    def tip(angle: Any, x: float) -> Any:
        return sp.Matrix([x + sp.cos(angle), sp.sin(angle)])

    def bar(u: Any, v: Any, length: float, name: str) -> Any:
        d = tip(*v) - tip(*u)
        return zw.Bilateral((d.dot(d) - length**2) / 2, name=name)

    first, second, third = (a, 0.0), (b, 2.0), (c, 5.0)
    bars = [bar(first, second, 2.0, "ab"), bar(second, third, 3.0, "bc"), bar(first, third, 5.0, "ac")]
    system = zw.System(name="cranks", kinetic=(va**2 + vb**2 + vc**2) / 2, constraints=bars)
    space = zw.trace(system, {})
    assert space.dimension == 1
    moving = [arc for arc in space.branches if np.ptp(arc.position(np.linspace(0, arc.length, 9))[:, 0]) > 1]
    assert moving
    for arc in moving:
        q = arc.position(np.linspace(0, arc.length, 9))
        assert np.abs(np.sin((q[:, 0] - q[:, 1]) / 2)).max() < 1e-9
    assert space.residual < 1e-12


def test_a_parameter_that_is_no_length_does_not_hide_the_space() -> None:
    # y^2 - x^2 = eps is a hyperbola at the distance sqrt(eps), far beyond eps itself.
    entry = zw.gallery.get("crossing")
    for eps in (0.01, -0.01, 1e-4):
        space = zw.trace(entry.system, {**entry.params, "eps": eps})
        assert space.status.name == "TRACED"
        assert (len(space.branches), space.components) == (2, 2)
