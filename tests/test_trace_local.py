"""Local analysis of singular points: refinement, kinds, series of half-branches, tangent cones of several loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._trace.local import LocalStructure, analyse
from zwang._trace.local_cones import _common_zeros, real_lines
from zwang._trace.local_reduction import frame, reduce
from zwang._trace.local_refinement import _valley
from zwang._trace.space_equations import SpacePlace, equations_of, parameter_vector

(x, y), (vx, vy) = zw.coordinates("x y")


def placed(system: zw.System, params: Any = None) -> SpacePlace:
    equations = equations_of(system)
    values = parameter_vector(system, params)
    return SpacePlace(equations, values, 0.0, np.ones(equations.n), np.ones(equations.m))


def plane(expr: Any) -> SpacePlace:
    return placed(zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr)]))


def found(place: SpacePlace, near: Any) -> LocalStructure:
    local = analyse(place, np.asarray(near, dtype=float))
    assert local is not None
    return local


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_degenerate_points_are_refined_to_rounding(k: int) -> None:
    # The gradient vanishes like the (2k - 1)-th power: plain Newton would stop at 1e-16^(1/(2k - 1)).
    local = found(plane((y - 0.3 - x) ** 2 - (x + 0.2) ** (2 * k)), [-0.17, 0.12])
    assert local.q == pytest.approx([-0.2, 0.1], abs=1e-13)
    assert (local.kind, local.order) == ("tangency", k - 1)


def test_rounding_in_the_parameters_does_not_move_a_tangency() -> None:
    # A term 1e-16 x would move the zero of the gradient by (1e-16)^(1/3) = 5e-6.
    local = found(plane(y**2 - x**4 + sp.Float(1e-16) * x), [0.01, 0.02])
    assert np.abs(local.q).max() < 1e-12 and local.order == 1


def test_points_that_are_not_singular_are_none() -> None:
    assert analyse(plane(x**2 + y**2 - 1), np.array([1.0, 0.0])) is None
    assert analyse(plane(y**2 - x**2 - sp.Rational(1, 1000)), np.array([0.01, 0.02])) is None


def test_half_branches_satisfy_the_constraints_to_rounding() -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    for r1, r2, a in ((1.5, 1.5, -0.5), (1.5625, 1.25, -0.5625)):
        place = placed(entry.system, {**entry.params, "r1": r1, "r2": r2, "a": a})
        local = found(place, [2, 0.01, 1, 0.02])
        assert (
            len(local.half_branches) == 4
            and len(local.place.weights) - local.rank == 1
            and local.kernel.shape == (4, 2)
        )
        for half in local.half_branches:
            assert half.length > 0.1
            for s in np.linspace(0, half.length, 12):
                q = half.point(s)
                assert np.abs(place.values(q)[0]).max() < 1e-14
            assert half.point(0.0) == pytest.approx(local.q, abs=1e-15)
            # Stepping out a little gives the tangent.
            assert (half.point(1e-6) - local.q) / 1e-6 == pytest.approx(half.tangent, abs=1e-5)


def test_one_series_gives_both_halves_of_a_smooth_curve() -> None:
    local = found(plane((y - x**2) * (y + x - x**3)), [0.01, 0.0])
    for half in local.half_branches:
        other = local.half_branches[half.partner]
        assert other.curve == half.curve and other.partner != half.partner
        assert half.at(-0.05) == pytest.approx(other.at(0.05), abs=1e-14)
        through = half.through()
        assert through.point(through.total) == pytest.approx(half.at(half.reach), abs=1e-13)
        assert through.point(0.0) == pytest.approx(half.at(-half.reach), abs=1e-13)


def test_cusps_are_series_in_the_root() -> None:
    local = found(plane(y**2 - x**3), [0.01, 0.01])
    for half in local.half_branches:
        assert half.root == 2
        q = half.at(0.1)
        assert q[0] == pytest.approx(0.01, abs=1e-15) and abs(q[1]) == pytest.approx(0.001, abs=1e-15)


def test_isolated_assembly_with_dependent_equations() -> None:
    local = found(placed(zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(y), zw.Bilateral(y + x**2)])),
                  [0.01, 0.0])  # fmt: skip
    assert local.kind == "isolated" and local.rank == 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_chain_of_loops_crosses_where_its_bars_align(n: int) -> None:
    # With heights y_i of the tops the second-order equations are y_i (y_i - y_(i+1)) = 0: the lines are those where the
    # first tops stay and the others move together, n + 1 of them.
    chain = zw.gallery.n_four_bar(n)
    pose = np.array([value for i in range(n + 1) for value in (i + 1.003, 0.002 * (i + 1))])
    local = found(placed(chain.system, chain.params), pose)
    assert local.kind == "crossing" and len(local.tangents) == n + 1
    heights = np.abs(local.tangents[:, 1::2])
    heights = heights[np.argsort((heights > 1e-3).sum(axis=1))]
    for moving, row in enumerate(heights, start=1):
        assert row == pytest.approx([0.0] * (n + 1 - moving) + [moving**-0.5] * moving, abs=1e-6)


def test_lines_of_quadratic_forms() -> None:
    lines, simple, told = real_lines(np.array([np.diag([1.0, 1.0, -1.0]), np.diag([1.0, -1.0, 0.0])]))
    assert len(lines) == 4 and simple.all()
    assert np.abs(lines) == pytest.approx(np.tile([0.5, 0.5, 0.5**0.5], (4, 1)), abs=1e-9)
    assert told
    none, _, _ = real_lines(np.array([np.diag([1.0, 1.0, 1.0]), np.diag([1.0, -1.0, 0.0])]))
    assert not len(none)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_all_common_lines_of_products_of_planes_are_told(k: int) -> None:
    # Each form is a product of two random planes: one line for every choice of one plane from each, 2^(k - 1) of them.
    source = np.random.default_rng(k)
    for _ in range(3):
        planes = source.normal(size=(k - 1, 2, k))
        forms = np.array([(np.outer(a, b) + np.outer(b, a)) / 2 for a, b in planes])
        alone = _common_zeros(forms, source)
        assert alone is not None and len(alone) == 2 ** (k - 1)
        assert np.abs(np.einsum("cij,bi,bj->bc", forms, alone, alone)).max() < 1e-8
        lines, simple, told = real_lines(forms)
        assert (len(lines), told) == (2 ** (k - 1), True) and simple.all()


def test_forms_with_planes_in_common_or_too_few_are_not_told() -> None:
    source = np.random.default_rng(1)
    shared = np.array([np.diag([1.0, -1.0, 0.0]), np.diag([2.0, -2.0, 0.0])])
    assert _common_zeros(shared, source) is None
    assert _common_zeros(np.diag([1.0, -1.0, 0.0])[None], source) is None


def test_a_point_next_to_which_a_series_overflows_is_no_singular_one() -> None:
    # The derivatives of x^(5/2) at 1e-120 grow beyond any double from the fifth on.
    at = frame(plane(y**2 - x ** sp.Rational(5, 2)), np.array([1e-120, 0.0]), 0)
    with np.errstate(all="ignore"):
        h, _ = _valley(reduce(at, 8))
    assert not h.any()


def test_ranks_that_tolerances_decide_come_with_the_singular_values_on_both_sides():
    (x, y), (v_x, v_y) = zw.coordinates("x y")
    own = zw.Bilateral(x**2 + y**2 - 1, name="circle")
    again = zw.Bilateral((x**2 + y**2 - 1) * (3 + x), name="again")
    system = zw.System(kinetic=(v_x**2 + v_y**2) / 2, constraints=[own, again])
    space = zw.trace(system, {})
    assert space.gap[0] > 0.1 and 0 < space.gap[1] < 1e-8
    assert any("Of the 2 constraints 1 are independent on it, to tolerance" in note for note in space.notes)
    alone = zw.trace(system.replace(constraints=[own]), {})
    assert alone.gap[0] > 0.1 and alone.gap[1] == 0.0 and alone.notes == ()
    node = zw.gallery.get("ellipse_pendulum_cartesian")
    above, below = zw.trace(node.system, node.params).singular_points[0].gap
    assert above > 0.1 and below < 1e-12
