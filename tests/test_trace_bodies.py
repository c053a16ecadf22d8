"""Configuration spaces of bodies in Cartesian coordinates are those of their joint angles: e and -e are one turn."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._numerics.identified import between, distinct, nearest_image
from zwang._trace.surface_shades import SurfaceAxes

INERTIA = (0.1, 0.1, 0.1)


def planar_loop(seed: int, unit: float = 1.0) -> tuple[zw.Bodies, list[float]]:
    """Return a four-bar in an oblique plane whose ground has the length D, and the lengths at which it can be flat."""
    source = np.random.default_rng(seed)
    normal = source.normal(size=3)
    normal /= np.linalg.norm(normal)
    u = np.cross(normal, [1, 0, 0])
    u /= np.linalg.norm(u)
    w = np.cross(normal, u)
    lengths = source.uniform(0.6, 2.2, size=3) * unit
    places = [np.zeros(3)]
    for length, angle in zip(lengths, source.uniform(0, 2 * np.pi, size=3), strict=True):
        places.append(places[-1] + length * (np.cos(angle) * u + np.sin(angle) * w))
    loop = zw.Bodies("loop")
    for i in range(3):
        loop.body(f"b{i}", mass=1, inertia=INERTIA, at=(places[i] + places[i + 1]) / 2)
    for i in range(3):
        loop.revolute(f"j{i}", "ground" if i == 0 else f"b{i - 1}", f"b{i}", at=places[i], axis=normal)
    end, D = (places[3] - places[2]) / 2, sp.Symbol("D")
    loop.close("revolute", "pin", "b2", "ground", at=(end, [D * item for item in u]), axis=(normal, normal))
    flat = {abs(float(np.dot(signs, lengths))) for signs in product((1, -1), repeat=3)}
    return loop, sorted(flat)


def spherical_loop(arcs: Any) -> zw.Bodies:
    """Return four hinges through one point, three links of these angles between them; the ground's is phi."""
    loop, phi, at = zw.Bodies("sphere"), sp.Symbol("phi"), np.cumsum([0.0, *arcs])
    axes = [(np.cos(angle), np.sin(angle), 0.0) for angle in at]
    for i in range(3):
        loop.body(f"b{i}", mass=1, inertia=INERTIA)
        loop.revolute(f"j{i}", "ground" if i == 0 else f"b{i - 1}", f"b{i}", at=(0, 0, 0), axis=axes[i])
    pair = (axes[3], (sp.cos(phi), sp.sin(phi), 0))
    return loop.close("revolute", "pin", "b2", "ground", at=((0, 0, 0), (0, 0, 0)), axis=pair)


def values(found: Any) -> list[float]:
    return [item.value for item in found]


def same_critical_values(seed: int) -> None:
    loop, flat = planar_loop(seed)
    expected = [value for value in flat if 0.3 < value < 4]
    found = [
        zw.critical(loop.system(coordinates=name), vary="D", within=(0.3, 4.0), compare=False)
        for name in ("joint", "cartesian")
    ]
    for one in found:
        assert values(one) == pytest.approx(expected, abs=1e-9)
    assert [[item.kind, len(item.points)] for item in found[0]] == [[item.kind, len(item.points)] for item in found[1]]


def same_space(seed: int, most: int = 9) -> None:
    loop, flat = planar_loop(seed)
    for D in [0.5 * (a + b) for a, b in pairwise(flat) if b - a > 0.1][:most]:
        one, other = (zw.trace(loop.system(coordinates=name), {"D": D}) for name in ("joint", "cartesian"))
        assert (one.components, len(one.branches)) == (other.components, len(other.branches))
        assert len(other.singular_points) == 0


@pytest.mark.nightly
def test_rows_of_a_loop_in_an_oblique_plane_that_are_rounding_are_left_out() -> None:
    # A planar loop has two rows to say, wherever its plane lies; the others are 1e-17 times something.
    counts = [len(planar_loop(seed)[0].system().constraints) for seed in range(1)]
    assert max(counts) <= 3
    loop, flat = planar_loop(0)
    assert zw.trace(loop.system(), {"D": flat[-1] - 0.1}).status.name == "TRACED"


@pytest.mark.nightly
def test_critical_lengths_of_a_four_bar_of_bodies_are_those_at_which_it_can_be_flat() -> None:
    same_critical_values(2)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 22))
def test_critical_lengths_of_bodies_are_those_of_their_joint_angles(seed: int) -> None:
    same_critical_values(seed)
    same_space(seed)


@pytest.mark.nightly
def test_a_four_bar_of_bodies_has_as_many_components_as_its_angles_say() -> None:
    same_space(1, most=1)


def test_a_curve_closes_where_quaternions_have_come_back_with_the_other_sign() -> None:
    # A crank turns once round: its quaternion is -e then, and the curve is closed.
    crank = zw.Bodies("crank").body("b", mass=1, inertia=INERTIA, at=(1, 0, 0))
    crank.revolute("j", "ground", "b", at=(0, 0, 0), axis=(0, 0, 1))
    space = zw.trace(crank.system(coordinates="cartesian"))
    assert (space.components, len(space.branches)) == (1, 1)
    (arc,) = space.branches
    first, last = arc.position(0.0), arc.pieces[-1].sum(axis=0)  # Chebyshev polynomials are 1 at the end
    np.testing.assert_allclose(first[:3], last[:3], atol=1e-9)
    np.testing.assert_allclose(first[3:], -last[3:], atol=1e-9)
    # x = (cos a, sin a), e = (cos a/2, 0, 0, sin a/2): the length of a turn is 2 pi sqrt(1 + 1/4).
    assert arc.length == pytest.approx(2 * np.pi * np.sqrt(1.25), rel=1e-9)


def test_singular_points_of_bodies_are_counted_once_and_joined_by_arcs() -> None:
    # A parallelogram lies flat twice; its joint angles have the same two crossings and four arcs.
    bars = zw.Bodies("bars")
    for name, at in (("left", (0, 0, 0.5)), ("coupler", (1, 0, 1)), ("right", (2, 0, 0.5))):
        bars.body(name, mass=1, inertia=INERTIA, at=at)
    y = (0, 1, 0)
    bars.revolute("l", "ground", "left", at=(0, 0, 0), axis=y).revolute("c", "left", "coupler", at=(0, 0, 1), axis=y)
    bars.revolute("r", "coupler", "right", at=(2, 0, 1), axis=y)
    bars.close("revolute", "pin", "right", "ground", at=(2, 0, 0), axis=y)
    one, other = (zw.trace(bars.system(coordinates=name)) for name in ("joint", "cartesian"))
    assert [point.kind for point in other.singular_points] == [point.kind for point in one.singular_points]
    assert (len(other.branches), len(other.curves), other.components) == (
        len(one.branches),
        len(one.curves),
        one.components,
    )


@pytest.mark.parametrize("name", by_day(["joint", "cartesian"], ["joint"]))
def test_spherical_loops_are_critical_where_their_axes_can_lie_in_one_plane(name: str) -> None:
    arcs = (0.5, 1.1, 0.9)
    expected = sorted(
        value for signs in product((1, -1), repeat=3) if 0.2 < (value := abs(float(np.dot(signs, arcs)))) < 2.7
    )
    loop = spherical_loop(arcs)
    found = zw.critical(loop.system(coordinates=name), vary="phi", within=(0.2, 2.7), compare=False)
    assert values(found) == pytest.approx(sorted(set(expected)), abs=1e-9)


def test_a_relation_that_tells_signs_apart_keeps_both_of_them() -> None:
    # e0 = 1/2 is a turn of 120 degrees, e0 = -1/2 is not asked for: the sign of e matters then.
    ball = zw.Bodies("ball").body("b", mass=1, inertia=INERTIA)
    ball.spherical("s", "ground", "b", at=(0, 0, 0))
    ball.relation("turned", "e0_s - 1/2").relation("flat", "e3_s").relation("level", "e2_s")
    space = zw.trace(ball.system())
    assert sorted(round(state["e1_s"], 9) for state in space.points) == [-0.866025404, 0.866025404]


def test_a_box_says_which_sign_of_a_quaternion_is_meant() -> None:
    crank = zw.Bodies("crank").body("b", mass=1, inertia=INERTIA, at=(1, 0, 0))
    crank.revolute("j", "ground", "b", at=(0, 0, 0), axis=(0, 0, 1))
    space = zw.trace(crank.system(coordinates="cartesian"), box={"e0_b": (0.5, 1.0)})
    (arc,) = space.branches
    assert {end.kind for end in arc.ends} == {"box"}


def test_what_stands_for_one_configuration_is_found_nearest() -> None:
    identified = np.array([2 * np.pi, -1, -1, -1, -1, 0.0, -2, -2, -2, -2])
    source = np.random.default_rng(5)
    for _ in range(20):
        a, b = source.normal(size=(2, 10)) * 3
        image = np.empty(10)
        nearest_image(a, b, identified, image)
        np.testing.assert_allclose(between(a, b, identified), image - a, atol=1e-12)
        others = [
            np.concatenate([[b[0] + 2 * np.pi * k], i * b[1:5], b[5:6], j * b[6:]])
            for k, i, j in product(range(-3, 4), (1, -1), (1, -1))
        ]
        nearest = min(float(np.linalg.norm(other - a)) for other in others)
        assert float(np.linalg.norm(image - a)) == pytest.approx(nearest)
        assert len(distinct(np.array([b, *others]), identified, 1e-9)) == 1


def written_four_bar(unit: sp.Rational, *, box: float | None = None) -> Any:
    """Return the space of a four-bar of points, crank 1, coupler 3, rocker 5/2, ground 3, its lengths typed in."""
    (x, y, u, w), (vx, vy, vu, vw) = zw.coordinates("x y u w")
    rows = [
        x**2 + y**2 - unit**2,
        (x - u) ** 2 + (y - w) ** 2 - 9 * unit**2,
        (u - 3 * unit) ** 2 + w**2 - sp.Rational(25, 4) * unit**2,
    ]
    held = [zw.Bilateral(row, name=f"bar {k}") for k, row in enumerate(rows)]
    bars = zw.System(kinetic=(vx**2 + vy**2 + vu**2 + vw**2) / 2, constraints=held)
    reach = None if box is None else {name: (-box * float(unit), box * float(unit)) for name in ("x", "y", "u", "w")}
    return zw.trace(bars, {}, reach)


@pytest.mark.parametrize("power", [-9, -5, 5, 9])
@pytest.mark.parametrize("box", [None, 7.0])
def test_lengths_that_are_typed_in_may_have_any_unit(power: int, box: float | None) -> None:
    plain, other = (written_four_bar(sp.Rational(10) ** k, box=box) for k in (0, power))
    assert (other.status, other.components, len(other.branches)) == (plain.status, plain.components, 2)
    lengths = [sorted(arc.length for arc in space.branches) for space in (plain, other)]
    np.testing.assert_allclose(np.array(lengths[1]) / 10.0**power, lengths[0], rtol=1e-9)


def ball_with(*relations: Any) -> zw.System:
    """Return a ball on a spherical joint whose rotation matrix satisfies relations, given as functions of it."""
    e0, e1, e2, e3 = (sp.Symbol(f"e{k}_s") for k in range(4))
    turned = sp.Matrix(
        [
            [e0**2 + e1**2 - e2**2 - e3**2, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
            [2 * (e1 * e2 + e0 * e3), e0**2 - e1**2 + e2**2 - e3**2, 2 * (e2 * e3 - e0 * e1)],
            [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0**2 - e1**2 - e2**2 + e3**2],
        ]
    )
    ball = zw.Bodies("ball").body("b", mass=1, inertia=INERTIA)
    ball.spherical("s", "ground", "b", at=(0, 0, 0))
    for k, relation in enumerate(relations):
        ball.relation(f"relation {k}", str(relation(turned)) if callable(relation) else relation)
    return ball.system()


def test_an_exhaustive_search_counts_quaternions_of_either_sign_once() -> None:
    # A hinge: once round is half of the circle of its quaternions, e1 = e2 = 0.
    hinge = zw.trace(ball_with("e1_s", "e2_s"), search="exhaustive")
    assert (hinge.complete, len(hinge.branches), hinge.components) == (True, 1, 1)
    assert hinge.branches[0].length == pytest.approx(np.pi, rel=1e-9)
    assert "quaternions of either sign are one turn" in hinge.notes[-1]
    # Two axes along given ones, either way: four placements of eight quaternions.
    rests = zw.trace(ball_with(lambda R: R[0, 2], lambda R: R[1, 2], lambda R: R[0, 1]), search="exhaustive")
    assert (rests.complete, len(rests.points)) == (True, 4)
    # A quaternion whose box says what sign is meant, and one whose relation does, keep theirs.
    half = zw.trace(ball_with("e1_s", "e2_s"), {}, {"e0_s": (0.5, 1)}, search="exhaustive")
    assert (half.complete, [end.kind for end in half.branches[0].ends]) == (True, ["box", "box"])
    told = zw.trace(ball_with("e0_s - 1/2", "e3_s", "e2_s"), search="exhaustive")
    assert (told.complete, len(told.points)) == (True, 2)


def test_an_exhaustive_search_of_quaternions_agrees_with_that_of_angles() -> None:
    # The body's x has height 1/2 and its z reaches out by 1/3; in yaw a, pitch -pi/6 and roll b two angles are left.
    space = zw.trace(ball_with(lambda R: R[2, 0] - sp.Rational(1, 2), lambda R: R[0, 2] - sp.Rational(1, 3)),
                     search="exhaustive")  # fmt: skip
    (a, b), (va, vb) = zw.coordinates("a b", angles="a b")
    row = -sp.cos(a) * sp.cos(b) / 2 + sp.sin(a) * sp.sin(b) - sp.Rational(1, 3)
    angles = zw.System(kinetic=(va**2 + vb**2) / 2, constraints=[zw.Bilateral(row, name="out")])
    reference = zw.trace(angles, {}, search="exhaustive")
    assert (space.complete, reference.complete) == (True, True)
    assert (len(space.branches), space.components) == (len(reference.branches), reference.components)


@pytest.mark.parametrize(
    ("relation", "euler", "orientable", "area"),
    [
        # Half turns about any axis are a projective plane, e0 = 0; turns by 120 degrees about any axis are a sphere.
        ("e0_s", 1, False, 2 * np.pi),
        ("e0_s**2 - 1/4", 2, True, 3 * np.pi),
        # An axis of the body at 60 degrees to the vertical: a torus, e0^2 + e3^2 = 3/4, of half the area.
        (lambda R: R[2, 2] - sp.Rational(1, 2), 0, True, np.pi**2 * np.sqrt(3) / 2),
    ],
)
def test_a_surface_of_quaternions_has_either_sign_once(
    relation: Any, euler: int, orientable: bool, area: float
) -> None:
    space = zw.trace(ball_with(relation), resolution=0.3)
    (piece,) = space.pieces
    assert (space.components, piece.euler, piece.orientable) == (1, euler, orientable)
    assert piece.area == pytest.approx(area, rel=0.04)  # triangles are inscribed
    points = space.surface.points
    near = between(points[:, None], points[None], np.full(4, -1.0))
    assert np.linalg.norm(near, axis=2)[np.triu_indices(len(points), 1)].min() > 0.02


def test_sheets_of_quaternions_meet_in_curves_that_close_with_the_other_sign() -> None:
    # Two projective planes, e0 = 0 and e1 = 0, cross in a circle of half turns about axes across x, of length pi.
    space = zw.trace(ball_with("e0_s*e1_s"), resolution=0.4)
    (piece,), (curve,) = space.pieces, space.singular_curves
    assert (space.components, piece.euler, piece.smooth_euler) == (1, 2, 2)
    assert (curve.kind, curve.ends[0].kind) == ("crossing", "closed")
    assert curve.length == pytest.approx(np.pi, rel=0.01)


def test_paths_folds_and_pictures_of_a_surface_of_quaternions() -> None:
    # Half turns about u: e = (0, u). The shortest way between axes that nearly are opposite leads through -u.
    space = zw.trace(ball_with("e0_s"), resolution=0.3)

    def state(u: Any) -> dict[str, float]:
        return dict(zip(space.coordinates, [0.0, *(np.array(u) / np.linalg.norm(u))], strict=True))

    way = space.path(state([1, 0.2, 0.1]), state([-1, 0.2, 0.3]))
    assert way.status.name == "FOUND"
    assert way.s[-1] < 0.7
    assert np.abs(np.diff(way.points, axis=0)).max() < 0.1
    # x' = (2 u1^2 - 1, 2 u1 u2, 2 u1 u3): over (y, z) it folds where u1^2 = 1/2, and where u1 = 0 it is one point.
    folds = space.folds(("2*e1_s*e2_s - 2*e0_s*e3_s", "2*e1_s*e3_s + 2*e0_s*e2_s"))
    halves = [np.abs(fold.points[:, 1] ** 2 - 0.5).max() < 1e-6 for fold in folds]
    assert any(halves)
    with pytest.raises(zw.DeclarationError, match=r"e1_s of onto= changes with the sign.*box=\{'e0_s': \(0, 1\)\}"):
        space.folds(("e1_s", "e2_s"))
    # In pictures no triangle leads from a quaternion to one near its opposite.
    corners = SurfaceAxes(space, ["e1_s", "e2_s", "e3_s"]).corners(space.surface)
    assert np.ptp(corners, axis=1).max() < 0.8
