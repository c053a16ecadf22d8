"""Spaces of dimension two and more, and of dimension zero: strata of the rank, local types at given points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._results.configuration import TraceStatus
from zwang._results.configuration_strata import LocalType

(X, Y, Z), V = zw.coordinates("x y z")
ORIGIN = {"x": 0.0, "y": 0.0, "z": 0.0}
BOX = dict.fromkeys("xyz", (-2.0, 2.0))


def surface(*equations: Any) -> zw.System:
    held = [zw.Bilateral(item, name=f"f{k}") for k, item in enumerate(equations)]
    return zw.System(kinetic=sum(v**2 for v in V) / 2, constraints=held, coordinates=(X, Y, Z))


def local(*equations: Any, at: Any = ORIGIN) -> LocalType:
    (found,) = zw.trace(surface(*equations), {}, box=BOX, at=at, resolution=0.5).local_types
    return found


def test_the_cone_is_a_surface_with_one_singular_point() -> None:
    entry = zw.gallery.get("surface_cone")
    space = zw.trace(entry.system, {}, at=[ORIGIN, {"x": 1.0, "y": 0.0, "z": 1.0}])
    assert (space.status.name, space.dimension) == ("TRACED", 2)
    assert [(item.rank, item.dimension) for item in space.strata] == [(1, 2), (0, 0)]
    assert space.strata[1].points == pytest.approx(np.zeros((1, 3)), abs=1e-7)
    apex, side = space.local_types
    assert (apex.kind, apex.signature, apex.singular_dimension) == ("cone", (2, 1, 0), 0)
    assert (apex.rank, apex.generic_rank) == (0, 1)
    assert (side.kind, side.signature) == ("regular", ())
    assert "at (0, 0, 0) cone" in repr(space)


def test_whitneys_umbrella_has_a_pinch_a_crossing_and_a_handle() -> None:
    entry = zw.gallery.get("surface_umbrella")
    places = [ORIGIN, {**ORIGIN, "z": 1.0}, {**ORIGIN, "z": -1.0}]
    space = zw.trace(entry.system, {}, at=places, resolution=0.5)
    assert [item.kind for item in space.local_types] == ["umbrella", "crossing", "curve"]
    assert [item.signature for item in space.local_types] == [(1, 0, 2), (1, 1, 1), (2, 0, 1)]
    assert all(item.singular_dimension == 1 for item in space.local_types)
    # The singular set is the z axis.
    assert [(item.rank, item.dimension) for item in space.strata] == [(1, 2), (0, 1)]
    assert np.abs(space.strata[1].points[:, :2]).max() < 1e-4


@pytest.mark.nightly
def test_the_types_don_t_depend_on_the_coordinates() -> None:
    # A change of coordinates that is curved to second order, so that the cubic terms have their corrections.
    u, v, w = X + Y / 2 + Z**2, Y - Z / 3 + X * Z, Z + X / 5 - Y**2
    assert local(u**2 - v**2 * w).kind == "umbrella"
    assert local(u**2 + v**2 - w**2).kind == "cone"
    assert local(u * v).kind == "crossing"


# Arnold's list: D_5 and D_infinity have the same cubic; A_2, D_4 and three planes are none of the named types.
@pytest.mark.parametrize(
    ("equation", "kind"),
    [
        (X**2 - Y**2 * Z + Z**4, "higher"),
        (X**2 + Y**2 - Z**3, "higher"),
        (X**2 - Y**3 - Z**3, "higher"),
        (X * Y * Z, "higher"),
        pytest.param(X * (X - Y**2 - Z**2), "higher", marks=pytest.mark.nightly),
        (X * Y + X**3, "crossing"),
    ],
)
def test_degenerate_points_are_not_mistaken_for_named_types(equation: Any, kind: str) -> None:
    assert local(equation).kind == kind


def test_a_second_equation_does_not_change_the_type() -> None:
    # In four coordinates, with w = x y as the second equation, the cone x^2 + y^2 = z^2 + w.
    (x, y, z, w), velocities = zw.coordinates("x y z w")
    held = [zw.Bilateral(x**2 + y**2 - z**2 + w, name="cone"), zw.Bilateral(w - x * y, name="graph")]
    system = zw.System(kinetic=sum(v**2 for v in velocities) / 2, constraints=held)
    space = zw.trace(system, {}, box=dict.fromkeys("xyzw", (-2.0, 2.0)), at={**ORIGIN, "w": 0.0})
    (found,) = space.local_types
    assert space.dimension == 2
    # On the kernel w = 0: x^2 + x y + y^2 - z^2, two squares and one.
    assert (found.kind, found.signature, found.rank) == ("cone", (2, 1, 0), 1)


def test_a_free_five_bar_is_singular_where_all_bars_lie_on_one_line() -> None:
    # Two cranks and two couplers over a base: a closed chain of five bars, two degrees of freedom.
    (a, b, c), velocities = zw.coordinates("a b c", angles="a b c")
    reach = sp.Matrix([sp.cos(a) + sp.cos(b) + sp.cos(c) - 2, sp.sin(a) + sp.sin(b) + sp.sin(c)])
    system = zw.System(
        kinetic=sum(v**2 for v in velocities) / 2, constraints=[zw.Bilateral(reach.dot(reach) - 1, name="last bar")]
    )
    flat = {"a": 0.0, "b": 0.0, "c": 0.0}
    space = zw.trace(system, {}, at=flat)
    assert space.dimension == 2
    (found,) = space.local_types
    # The distance of the end from its pivot is 3 - 2 = 1 there; second-order terms by hand.
    hessian = sp.hessian(reach.dot(reach) - 1, (a, b, c)).subs({a: 0, b: 0, c: 0})
    signs = [float(value) for value, times in hessian.eigenvals().items() for _ in range(times)]
    plus, minus = sum(value > 0 for value in signs), sum(value < 0 for value in signs)
    assert found.signature == (max(plus, minus), min(plus, minus), 0)
    assert found.kind == "cone"


def test_types_are_told_on_curves_too() -> None:
    entry = zw.gallery.get("curve_cusp")
    space = zw.trace(entry.system, {}, box={"x": (-2, 2), "y": (-2, 2)}, at={"x": 0, "y": 0})
    assert [item.kind for item in space.local_types] == ["cusp"]


def test_assemblies_of_dimension_zero_are_listed() -> None:
    space = zw.trace(surface(X**2 + Y**2 + Z**2 - 3, X - Y, Y - Z), {}, box=BOX)
    assert (space.status.name, space.dimension, space.components) == ("POINTS", 0, 2)
    assert sorted(point["x"] for point in space.points) == pytest.approx([-1.0, 1.0])


def test_a_sum_of_squares_is_a_list_of_points() -> None:
    one = zw.trace(surface(X**2 + Y**2 + Z**2), {}, box=BOX, at=ORIGIN)
    assert (one.status.name, one.dimension, one.components) == ("POINTS", 0, 1)
    assert [point.kind for point in one.singular_points] == ["isolated"]
    assert (one.local_types[0].kind, one.local_types[0].signature) == ("isolated", (3, 0, 0))
    two = zw.trace(surface((X**2 + Y**2 + Z**2) * (X**2 + Y**2 + (Z - 1) ** 2)), {}, box=BOX)
    assert sorted(point.state["z"] for point in two.singular_points) == pytest.approx([0.0, 1.0], abs=1e-9)


def test_strata_and_types_survive_their_file(tmp_path: Path) -> None:
    entry = zw.gallery.get("surface_cone")
    space = zw.trace(entry.system, {}, at=ORIGIN)
    again: Any = zw.load_result(space.save(tmp_path / "cone.npz"))
    assert again.local_types[0].kind == "cone"
    assert again.strata[0].points == pytest.approx(space.strata[0].points)


def test_mistakes_in_the_states_are_answered_with_the_cure() -> None:
    cone = zw.gallery.get("surface_cone").system
    with pytest.raises(zw.StateError, match=r"the state of at= is off constraint 'surface' by 1\.0e\+00"):
        zw.trace(cone, {}, at={"x": 1.0, "y": 0.0, "z": 0.0})
    with pytest.raises(zw.DeclarationError, match=r"at= has no value for 'z'"):
        zw.trace(cone, {}, at={"x": 1.0, "y": 0.0})
    with pytest.raises(zw.DeclarationError, match=r"at= takes a state .* it was given 3"):
        zw.trace(cone, {}, at=[3])


def edge_uses(space: zw.ConfigurationSpace) -> list[int]:
    """Return how many edges of the mesh have 0, 1, 2, ... triangles."""
    sides = np.sort(space.surface.triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    return np.bincount(np.unique(sides, axis=0, return_counts=True)[1]).tolist()


@pytest.mark.parametrize("coordinates", by_day(["joint", "cartesian"], ["joint"]))
def test_a_rhombus_beside_a_free_crank_is_three_tori_that_cross(coordinates: str, tmp_path: Path) -> None:
    bars = zw.Linkage("rhombus").ground("A", 0, 0).ground("D", 1, 0).points("B C", mass=1)
    bars = bars.bar("A", "B", length=1).bar("B", "C", length=1).bar("C", "D", length=1).system(coordinates=coordinates)
    (crank,), (turning,) = zw.coordinates("crank", angles="crank")
    system = bars.replace(coordinates=(*bars.coordinates, crank), kinetic=bars.kinetic + turning**2 / 2)
    space = zw.trace(system, {}, resolution=0.4)
    assert (space.status.name, space.components, len(space.singular_points)) == ("TRACED", 1, 0)
    assert [(curve.kind, curve.closed) for curve in space.singular_curves] == 3 * [("crossing", True)]
    # The crank goes round once; the rhombus stands still.
    assert [curve.length for curve in space.singular_curves] == pytest.approx(3 * [2 * np.pi], rel=1e-9)
    (piece,) = space.pieces
    assert (piece.euler, piece.smooth_euler, piece.orientable, piece.curves) == (0, 0, True, (0, 1, 2))
    # Every edge has two triangles, those on the curves four.
    uses = edge_uses(space)
    assert uses[:4] == [0, 0, uses[2], 0]
    assert uses[4] == sum(len(curve.points) for curve in space.singular_curves)
    again: Any = zw.load_result(space.save(tmp_path / "tori.npz"))
    assert again.singular_curves[1].kind == "crossing"
    assert again.singular_curves[1].points == pytest.approx(space.singular_curves[1].points)


def test_the_umbrella_is_a_crossing_and_a_bare_line_that_meet_in_a_higher_point() -> None:
    space = zw.trace(surface(X**2 - Y**2 * Z), {}, box=BOX, resolution=0.25)
    assert space.status.name == "TRACED"
    assert sorted(curve.kind for curve in space.singular_curves) == ["crossing", "isolated"]
    (point,) = space.singular_points
    assert point.kind == "higher"
    assert [point.state[name] for name in "xyz"] == pytest.approx([0, 0, 0], abs=1e-9)
    for curve in space.singular_curves:
        assert sorted(end.kind for end in curve.ends) == ["box", "singular"]
        assert np.abs(curve.points[:, :2]).max() < 1e-12
        assert curve.length == pytest.approx(2.0, abs=1e-9)
    # The bare line belongs to the component, as a piece of dimension one; the surface can be drawn together to a point.
    assert space.components == 1
    assert [(piece.dimension, piece.component) for piece in space.pieces] == [(2, 0), (1, 0)]
    assert (space.pieces[0].euler, space.pieces[0].smooth_euler) == (1, 2)


# Curved so that neither coordinates nor planes are special: u = 0, v = 0 along the line.
U, W = X - Y * Z / 3 + Z**2 / 5, Y + sp.sin(Z) / 3


@pytest.mark.parametrize(
    ("equation", "kind", "sheets"),
    [
        (U**2 - W**3, "cusp", 2),
        pytest.param(U * (U - W**2), "tangency", 4, marks=pytest.mark.nightly),
        (U * (U + 2 * W), "crossing", 4),
    ],
)
def test_the_kind_of_a_curve_is_that_of_the_point_a_plane_cuts_out(equation: Any, kind: str, sheets: int) -> None:
    space = zw.trace(surface(equation), {}, box=dict.fromkeys("xyz", (-1.0, 1.0)), resolution=0.25)
    assert space.status.name == "TRACED"
    (curve,) = space.singular_curves
    assert (curve.kind, [end.kind for end in curve.ends]) == (kind, ["box", "box"])
    x, y, z = curve.points.T
    assert np.abs([x - y * z / 3 + z**2 / 5, y + np.sin(z) / 3]).max() < 1e-8
    (piece,) = space.pieces
    assert (piece.euler, piece.smooth_euler) == (1, sheets)
    uses = edge_uses(space)
    assert sum(uses[3:]) == (len(curve.points) - 1 if sheets == 4 else 0)


def test_three_planes_have_a_node_of_six_lines() -> None:
    space = zw.trace(surface(X * Y * Z), {}, box=BOX, resolution=0.4)
    assert [curve.kind for curve in space.singular_curves] == 6 * ["crossing"]
    assert [point.kind for point in space.singular_points] == ["higher"]
    assert (space.pieces[0].euler, space.pieces[0].smooth_euler, len(space.pieces[0].boundaries)) == (1, 12, 3)
    assert space.pieces[0].area == pytest.approx(48, rel=1e-3)


def test_two_spheres_that_cross_have_the_sum_of_their_euler_characteristics() -> None:
    space = zw.trace(surface((X**2 + Y**2 + Z**2 - 1) * ((X - 1) ** 2 + Y**2 + Z**2 - 1)), {}, resolution=0.2)
    (curve,) = space.singular_curves
    assert curve.closed
    assert curve.length == pytest.approx(np.pi * np.sqrt(3), rel=1e-2)
    assert np.abs(curve.points[:, 0] - 0.5).max() < 1e-12
    assert (space.pieces[0].euler, space.pieces[0].smooth_euler) == (4, 4)
    assert "line of kind crossing, closed" in repr(space)
    # Onto y and z each sphere has its equator as a fold; no sheet leads across the line where the spheres cross.
    assert len(space.sheets(("y", "z"))) == 6


def test_a_contact_ends_a_singular_curve() -> None:
    held = [zw.Bilateral(X * Y, name="planes"), zw.Unilateral(1 - Z, name="ceiling")]
    system = zw.System(kinetic=sum(v**2 for v in V) / 2, constraints=held, coordinates=(X, Y, Z))
    (curve,) = zw.trace(system, {}, box=BOX, resolution=0.4).singular_curves
    assert sorted((end.kind, end.name) for end in curve.ends) == [("box", "z"), ("contact", "ceiling")]
    assert curve.length == pytest.approx(3.0, abs=1e-9)


def test_a_surface_that_hangs_on_a_part_with_more_dimensions_is_not_covered_and_says_why() -> None:
    """With couplers of half a rod the slider at the height of the hinges leaves both rods free."""
    entry = zw.gallery.get("flyball_governor")
    found = zw.trace(entry.system, entry.params)
    assert found.status is TraceStatus.UNFINISHED
    assert [(item.rank, item.dimension) for item in found.strata] == [(2, 2), (1, 3)]
    assert "where the rank of its constraints is 1 it has dimension 3" in found.reason
    kept = zw.trace(entry.system, entry.params, box={"s": (0.05, 0.95)})  # below: both rods inward or outward
    assert kept.status is TraceStatus.TRACED
    assert kept.components == 4
    assert [piece.euler for piece in kept.pieces] == [0] * 4
