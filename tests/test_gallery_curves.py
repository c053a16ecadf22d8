"""Facts of the gallery's plane curves, surfaces, four-bars and governors, checked against their equations alone."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from gallery_states import numbers

CURVES = tuple(name for name in zw.gallery.names() if name.startswith(("curve_", "touching_", "surface_")))


def equation(name: str) -> tuple[sp.Expr, tuple[sp.Symbol, ...]]:
    system = zw.gallery.get(name).system
    return system.constraints[0].expr, system.coordinates


@pytest.mark.parametrize("name", CURVES)
def test_the_origin_is_on_every_curve_and_surface_and_its_gradient_vanishes_there(name: str) -> None:
    f, q = equation(name)
    origin = dict.fromkeys(q, 0)
    assert f.subs(origin) == 0
    assert all(f.diff(item).subs(origin) == 0 for item in q)


@pytest.mark.parametrize("name", ["curve_node", "curve_three_lines"])
def test_the_slopes_are_the_roots_of_the_tangent_cone(name: str) -> None:
    f, (x, y) = equation(name)
    slope, s = sp.symbols("slope s")
    lowest = sp.Poly(sp.expand(f.subs({x: s, y: slope * s})), s).terms()[-1][1]
    roots = sorted(float(root) for root in sp.roots(lowest, slope))
    assert roots == pytest.approx(zw.gallery.get(name).facts["slopes"].value, rel=1e-15)


def test_the_ends_of_the_curves_are_where_their_right_sides_vanish() -> None:
    f, (x, y) = equation("curve_node")
    assert f.subs({x: zw.gallery.get("curve_node").facts["loop_end"].value, y: 0}) == 0
    f, (x, y) = equation("curve_isolated_point")
    start = zw.gallery.get("curve_isolated_point").facts["branch_start"].value
    assert f.subs({x: start, y: 0}) == 0
    assert f.subs({x: 0.5, y: 0}) > 0  # y^2 = x^3 - x^2 has no solution between the point and the branch


def test_the_half_branches_of_the_cusp_have_one_direction() -> None:
    f, (x, y) = equation("curve_cusp")
    s = sp.Symbol("s", positive=True)
    assert all(f.subs({x: s**2, y: sign * s**3}) == 0 for sign in (1, -1))
    assert float(sp.limit(s**3 / s**2, s, 0)) == zw.gallery.get("curve_cusp").facts["tangent"].value[1]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_touching_curves_agree_up_to_their_order(k: int) -> None:
    entry = zw.gallery.touching_curves(k)
    (x, y) = entry.system.coordinates
    f = entry.system.constraints["curve"].expr
    assert f.subs(y, x**k).expand() == f.subs(y, -(x**k)).expand() == 0
    difference = 2 * x**k
    order = next(p for p in range(20) if difference.diff(x, p + 1).subs(x, 0) != 0)
    assert entry.facts["order"].value == order
    assert entry.facts["derivative"].value == float((x**k).diff(x).subs(x, 1))


def test_touching_curves_need_a_whole_number() -> None:
    with pytest.raises(zw.DeclarationError, match=r"gallery.touching_curves needs a number of at least 1.* given 0"):
        zw.gallery.touching_curves(0)


def test_the_squared_curve_is_the_square_of_a_smooth_one() -> None:
    f, (x, y) = equation("curve_squared")
    (factor, multiplicity), *more = sp.factor_list(f)[1]
    facts = zw.gallery.get("curve_squared").facts
    assert not more
    assert float(multiplicity) == facts["multiplicity"].value
    assert float(abs(sp.solve(factor, y)[0].diff(x, 2).subs(x, 0))) == facts["curvature"].value


def test_the_cone_has_the_signature_and_the_angle_of_its_facts() -> None:
    f, q = equation("surface_cone")
    facts = zw.gallery.get("surface_cone").facts
    eigenvalues = np.linalg.eigvalsh(np.array(sp.hessian(f, q), dtype=float))
    assert ((eigenvalues > 0).sum(), (eigenvalues < 0).sum()) == facts["signature"].value
    radius = sp.solve(f.subs({q[1]: 0, q[2]: 1}), q[0])[-1]
    assert math.atan(float(radius)) == pytest.approx(facts["half_angle"].value, rel=1e-15)


def test_the_umbrella_is_singular_along_its_axis_and_its_sheets_cross_there() -> None:
    f, (x, y, z) = equation("surface_umbrella")
    axis = {x: 0, y: 0}
    assert all(sp.expand(f.diff(item).subs(axis)) == 0 for item in (x, y, z))
    slope = sp.Symbol("slope")
    roots = sorted(float(root) for root in sp.solve(f.subs({x: slope, y: 1, z: 1}), slope))
    assert roots == list(zw.gallery.get("surface_umbrella").facts["crossing_slopes"].value)


@pytest.mark.parametrize("name", ["parallelogram", "kite", "crank_rocker", "triple_rocker"])
def test_four_bars_have_the_singular_poses_and_the_components_of_their_lengths(name: str) -> None:
    entry = zw.gallery.get(f"four_bar_{name}")
    lengths = [entry.params[f"l{i}"] for i in range(4)]
    flat = [signs for signs in product((1, -1), repeat=3) if lengths[0] == np.dot(signs, lengths[1:])]
    poses = entry.facts["singular_poses"].value if "singular_poses" in entry.facts else ()
    assert len(poses) == len(flat)
    for alpha, gamma in poses:
        found = numbers(entry, {"alpha": alpha, "gamma": gamma})
        assert np.abs(found.value).max() < 1e-15
        assert np.abs(found.rows).max() < 1e-15
    if not flat:
        shortest, *middle, longest = sorted(lengths)
        grashof = shortest + longest < sum(middle)
        assert entry.facts["components"].value == (2 if grashof else 1)


def test_the_governor_has_the_spin_inertia_and_the_acceleration_of_its_facts() -> None:
    entry = zw.gallery.get("flyball_governor")
    found = numbers(entry)
    accelerations, _ = found.solve()
    assert found.mass[0, 0] == pytest.approx(entry.facts["spin_inertia"].value, rel=1e-14)
    assert accelerations[2:] == pytest.approx([entry.facts["rod_acceleration"].value] * 2, rel=1e-12)
    # s = h - l sin(alpha), differentiated twice at rest.
    assert accelerations[1] == pytest.approx(-math.cos(math.pi / 6) * accelerations[2], rel=1e-12)
    spin = entry.facts["steady_spin"].value
    steady, _ = numbers(entry, {"v_phi": spin}).solve()
    assert steady == pytest.approx(np.zeros(4), abs=1e-12)


def test_the_governors_masses_are_those_of_the_benchmark() -> None:
    # IFToMM A05: prisms of density 3000, rods and shaft 1 x 0.01 x 0.01 m, slider a cube of 0.1 m.
    params = zw.gallery.get("flyball_governor_springs").params
    assert (params["m"], params["m_s"], params["M"]) == pytest.approx((0.3, 3.0, 5.0), rel=1e-15)
    assert (params["k"], params["c"], params["d"]) == (8e5, 4e4, 0.5)


def test_the_governor_with_springs_is_the_realization_of_the_one_with_rigid_couplers() -> None:
    rigid, springs = zw.gallery.get("flyball_governor"), zw.gallery.get("flyball_governor_springs")
    soft = zw.realize(rigid.system, ["coupler1", "coupler2"], by=zw.Stiffness(8e5, damping=4e4))
    state = {**springs.state, "alpha1": 0.5, "alpha2": 0.6, "s": 0.49, "v_s": 0.3, "v_alpha1": -0.2, "v_alpha2": 0.7}
    ours = zw.compile(springs.system, backend="reference").accelerations(state, springs.params)
    theirs = zw.compile(soft, backend="reference").accelerations(state, rigid.params)
    assert ours == pytest.approx(theirs, rel=1e-10)
    start = zw.compile(springs.system, backend="reference").accelerations(springs.state, springs.params)
    assert start[1] == pytest.approx(-springs.params["g"], rel=1e-9)  # the springs are relaxed: the slider falls freely
