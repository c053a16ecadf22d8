"""Configuration spaces of dimension two: meshes without holes, their topology, cuts and singular points."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from night import by_day
from zwang.cli import main

TYPES = {
    "empty": (1, 1, 1, 1, 5),
    "sphere": (5, 2, 2, 2, 2),
    "torus": (6, 3, 3, 2, 1),
    "genus 2": (5, 4, 3, 2, 1),
    "genus 3": (3, 3, 2, 2, 1),
    "genus 4": (1, 1, 1, 1, 1),
    "two tori": (5, 5, 5, 1, 1),
}


@cache
def chain(coordinates: str) -> zw.System:
    """Return the closed chain of five bars, the last one on the ground."""
    linkage = zw.Linkage("chain").ground("A", 0, 0).ground("E", "l5", 0).points("B C D", mass=1)
    for k, (a, b) in enumerate(itertools.pairwise("ABCDE")):
        linkage = linkage.bar(a, b, length=f"l{k + 1}")
    return linkage.system(coordinates=coordinates)


def lengths(*bars: float) -> dict[str, float]:
    return {f"l{k + 1}": float(bar) for k, bar in enumerate(bars)}


def betti(bars: Any) -> tuple[int, int]:
    """Return b_0 and b_1 of the space: sets with the longest bar that are shorter than half (Farber, Schuetz)."""
    longest, *others = sorted(bars, reverse=True)
    short = [
        sum(longest + sum(chosen) < sum(bars) / 2 for chosen in itertools.combinations(others, k)) for k in range(3)
    ]
    return short[0] + short[2], 2 * short[1]


def shape(space: zw.ConfigurationSpace) -> tuple[int, int, int]:
    """Return b_0 and b_1 of closed orientable pieces, and the number of edges without two triangles."""
    assert all(piece.orientable and not piece.boundaries for piece in space.pieces)
    return space.components, sum(2 * piece.genus for piece in space.pieces), loose(space)


def loose(space: zw.ConfigurationSpace) -> int:
    if space.surface is None:
        return 0
    sides = np.sort(space.surface.triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    return int((np.unique(sides, axis=0, return_counts=True)[1] != 2).sum())


def surface(names: str, *equations: Any, angles: str = "", gaps: Any = ()) -> zw.System:
    q, v = zw.coordinates(names, angles=angles)
    symbols = dict(zip(names.split(), q, strict=True))
    held = [zw.Bilateral(item(symbols), name=f"f{k}") for k, item in enumerate(equations)]
    held += [zw.Unilateral(item(symbols), name=f"h{k}") for k, item in enumerate(gaps)]
    return zw.System(name="surface", kinetic=sum(item**2 for item in v) / 2, constraints=held, coordinates=q)


def sphere(s: Any) -> Any:
    return s["x"] ** 2 + s["y"] ** 2 + s["z"] ** 2 - 1


def held_by_legs(count: int) -> zw.System:
    """Return a point held by legs of two unit bars, hips on a circle of radius 3/2."""
    names = ["x", "y", *(f"a{k}" for k in range(count))]
    q, v = zw.coordinates(names, angles=names[2:])
    legs = []
    for k in range(count):
        turn = 2 * sp.pi * k / count
        hip = sp.Rational(3, 2) * sp.Matrix([sp.cos(turn), sp.sin(turn)])
        bar = sp.Matrix(q[:2]) - hip - sp.Matrix([sp.cos(q[2 + k]), sp.sin(q[2 + k])])
        legs.append(zw.Bilateral(bar.dot(bar) - 1, name=f"leg {k}"))
    return zw.System(name="legs", kinetic=sum(item**2 for item in v) / 2, constraints=legs, coordinates=q)


@pytest.mark.parametrize("coordinates", ["joint", "cartesian"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_chain_of_five_bars_has_one_of_seven_spaces(kind: str, coordinates: str) -> None:
    bars = TYPES[kind]
    space = zw.trace(chain(coordinates), lengths(*bars), resolution=0.1 * max(bars) if coordinates != "joint" else 0.4)
    assert shape(space) == (*betti(bars), 0)
    if kind == "empty":
        assert space.status.name == "EMPTY"
        return
    assert space.status.name == "TRACED"
    assert space.dimension == 2
    assert space.residual < 1e-10
    assert 0 < space.surface.chord < 0.3


def test_the_order_of_the_bars_changes_nothing() -> None:
    source = np.random.default_rng(3)
    for _ in range(4):
        bars = source.permutation([5.0, 4.0, 3.0, 2.0, 1.0])
        assert shape(zw.trace(chain("joint"), lengths(*bars), resolution=0.5)) == (1, 4, 0)


def _random_bars(source: np.random.Generator, thin: bool) -> np.ndarray:
    while True:
        bars = source.uniform(0.1, 1.0, size=5)
        if thin:
            bars[source.integers(5)] = 0.05 * bars.max()
        # A set of bars that is nearly half of the sum leaves a neck that is narrower than any of these tubes.
        signs = np.array(list(itertools.product((1, -1), repeat=5)))
        if np.abs(signs @ bars).min() > 0.02:
            return bars


@pytest.mark.parametrize("coordinates", ["joint", "cartesian"])
def test_random_chains_agree_with_the_count_of_short_sets(coordinates: str) -> None:
    source = np.random.default_rng(11)
    for _ in range(3):
        bars = _random_bars(source, thin=False)
        assert shape(zw.trace(chain(coordinates), lengths(*bars))) == (*betti(bars), 0), bars


@pytest.mark.nightly
@pytest.mark.parametrize("coordinates", ["joint", "cartesian"])
@pytest.mark.parametrize("kind", TYPES)
def test_random_chains_of_every_type_agree_with_the_count_of_short_sets(kind: str, coordinates: str) -> None:
    source, wanted = np.random.default_rng(12), betti(TYPES[kind])
    for k in range(8):
        bars = _random_bars(source, thin=k % 4 == 3)
        while betti(bars) != wanted:
            bars = _random_bars(source, thin=k % 4 == 3 and kind != "empty")
        assert shape(zw.trace(chain(coordinates), lengths(*bars))) == (*wanted, 0), bars


def test_thin_tubes_are_closed() -> None:
    # A crank a twentieth as long as the others turns all the way round.
    bars = (1.0, 0.8, 0.9, 0.7, 0.05)
    assert shape(zw.trace(chain("joint"), lengths(*bars))) == (*betti(bars), 0)


# Genus 1 + 2^(n-3) (n-4): the point's region is a polygon of n arcs, over which 2^n sheets are glued along its sides.
@pytest.mark.parametrize(("count", "genus"), by_day([(3, 0), (4, 1), (5, 5)], [(3, 0), (4, 1)]))
def test_a_point_held_by_legs_has_the_genus_of_its_glued_polygons(count: int, genus: int) -> None:
    space = zw.trace(held_by_legs(count), {}, resolution=0.25)
    assert [piece.genus for piece in space.pieces] == [genus]
    assert loose(space) == 0


@pytest.mark.nightly
def test_a_point_held_by_six_legs_has_genus_seventeen() -> None:
    assert [piece.genus for piece in zw.trace(held_by_legs(6), {}).pieces] == [17]


def test_a_system_without_constraints_is_a_torus() -> None:
    q, v = zw.coordinates("a b", angles="a b")
    space = zw.trace(zw.System(name="double pendulum", kinetic=(v[0] ** 2 + v[1] ** 2) / 2, coordinates=q), {})
    (piece,) = space.pieces
    assert (space.status.name, piece.euler, piece.genus, piece.orientable) == ("TRACED", 0, 1, True)
    assert piece.area == pytest.approx(4 * np.pi**2, rel=1e-9)  # flat: triangles have no chord error


def test_a_pendulum_in_a_plane_that_turns_half_as_fast_is_a_klein_bottle() -> None:
    half = surface(
        "c u w z",
        lambda s: s["w"] * (1 + sp.cos(s["c"])) - s["u"] * sp.sin(s["c"]),
        lambda s: s["w"] * sp.sin(s["c"]) - s["u"] * (1 - sp.cos(s["c"])),
        lambda s: s["u"] ** 2 + s["w"] ** 2 + s["z"] ** 2 - 1,
        angles="c",
    )
    space = zw.trace(half, {})
    (piece,) = space.pieces
    assert (piece.euler, piece.orientable, piece.genus) == (0, False, 2)
    assert loose(space) == 0
    assert "Klein bottle" in repr(space)


def test_the_area_of_a_sphere_and_the_chord_shrink_with_the_resolution() -> None:
    ball = surface("x y z", sphere)
    coarse, fine = (zw.trace(ball, {}, resolution=r) for r in (0.2, 0.1))
    # Flat triangles miss a part of the area of order of the square of their edges.
    assert fine.pieces[0].area == pytest.approx(4 * np.pi, rel=4e-3)
    assert fine.surface.chord < 0.4 * coarse.surface.chord
    sides = fine.surface.points[fine.surface.triangles[:, [1, 2, 0]]] - fine.surface.points[fine.surface.triangles]
    assert np.linalg.norm(sides, axis=2).max() < 2 * 0.1


def test_a_box_and_one_sided_constraints_leave_boundary_loops() -> None:
    ball = surface("x y z", sphere)
    (belt,) = zw.trace(ball, {}, box={"z": (-0.5, 0.5)}, resolution=0.15).pieces
    assert (belt.euler, belt.genus, len(belt.boundaries)) == (0, 0, 2)
    assert belt.area == pytest.approx(2 * np.pi, rel=1e-2)  # Archimedes: 2 pi times the height
    space = zw.trace(surface("x y z", sphere, gaps=[lambda s: s["z"] - s["x"] ** 2 / 4]), {}, resolution=0.15)
    (cap,) = space.pieces
    assert (cap.euler, len(cap.boundaries)) == (1, 1)
    x, _, z = space.surface.points[cap.boundaries[0]].T
    assert np.abs(z - x**2 / 4).max() < 1e-10


def test_as_many_cones_as_ways_of_lying_in_a_line() -> None:
    for coordinates, resolution in (("joint", 0.3), ("cartesian", 0.2)):
        space = zw.trace(chain(coordinates), lengths(2, 1, 1, 1, 1), resolution=resolution)
        (piece,) = space.pieces
        assert [(point.kind, point.signature) for point in space.singular_points] == 4 * [("cone", (2, 1))]
        assert (piece.euler, piece.smooth_euler, len(piece.singular), space.components) == (-2, -6, 4, 1)


def test_two_tori_that_touch_are_one_piece() -> None:
    space = zw.trace(chain("joint"), lengths(10, 9, 9, 5, 3), resolution=0.3)
    (piece,) = space.pieces
    assert (piece.euler, piece.smooth_euler, piece.genus, space.components) == (-1, -2, 2, 1)


def test_one_bar_against_four_is_a_single_point() -> None:
    space = zw.trace(chain("joint"), lengths(4, 1, 1, 1, 1))
    assert (space.status.name, space.components) == ("POINTS", 1)
    assert [(point.kind, point.signature) for point in space.singular_points] == [("isolated", (3, 0))]


@pytest.mark.nightly
def test_critical_lengths_tell_the_euler_characteristic() -> None:
    params = {name: value for name, value in lengths(1, 9, 9, 5, 3).items() if name != "l1"}
    (found,) = zw.critical(chain("joint"), params, vary="l1", within=(9.5, 10.5))
    assert found.value == pytest.approx(10, abs=1e-9)
    assert found.kinds == ("cone",)
    assert [(side.components, side.euler) for side in (found.before, found.at, found.after)] == [
        (2, 0),
        (1, -1),
        (1, -2),
    ]
    assert found.surgeries == ("cone: two discs below, an annulus above",)


@pytest.mark.nightly
def test_surgeries_that_cancel_are_listed_one_by_one() -> None:
    # At l5 = 3 both 5.5 = l5 + 2.5 = 3 + 1 + 1.5 and 2.5 + 3 = 1 + 1.5 + l5: the first pair becomes the longer side as
    # l5 grows, the second the shorter one.
    params = {name: value for name, value in lengths(2.5, 3, 1, 1.5, 3).items() if name != "l5"}
    (found,) = zw.critical(chain("joint"), params, vary="l5", within=(2.7, 3.3))
    assert found.value == pytest.approx(3, abs=1e-9)
    assert [side.euler for side in (found.before, found.at, found.after)] == [-2, -2, -2]
    assert sorted(found.surgeries) == [
        "cone: an annulus below, two discs above",
        "cone: two discs below, an annulus above",
    ]
    (pair,) = [k for k, surgery in enumerate(found.surgeries) if surgery.endswith("two discs above")]
    b, d = (found.points[pair][f"theta_{name}"] for name in "BD")
    # Bars 1 and 5 (the ground) lie along each other, against the other three.
    assert np.cos(b) == pytest.approx(-1, abs=1e-6)
    assert np.cos(d) == pytest.approx(1, abs=1e-6)


def test_a_surface_comes_back_from_a_file(tmp_path: Path) -> None:
    space = zw.trace(chain("joint"), lengths(2, 1, 1, 1, 1), resolution=0.4)
    back = zw.load_result(space.save(tmp_path / "space.npz"))
    assert np.array_equal(back.surface.triangles, space.surface.triangles)
    assert [piece.euler for piece in back.pieces] == [-2]
    assert len(back.pieces[0].singular) == 4


def test_the_same_call_gives_the_same_mesh() -> None:
    one, two = (zw.trace(chain("joint"), lengths(5, 4, 3, 2, 1), resolution=0.5) for _ in range(2))
    assert np.array_equal(one.surface.points, two.surface.points)
    assert np.array_equal(one.surface.triangles, two.surface.triangles)


def test_a_resolution_beyond_the_budget_is_told_with_both_figures() -> None:
    space = zw.trace(surface("x y z", sphere), {}, resolution=1e-4)
    assert space.status.name == "UNFINISHED"
    assert "bytes of memory, and the budget leaves" in space.reason
    small = zw.trace(chain("joint"), lengths(1, 1.1, 1.2, 1, 1), resolution=0.05, budget={"memory": 3_000_000})
    assert small.status.name == "UNFINISHED"
    assert "bytes of memory, and the budget leaves" in small.reason


@pytest.mark.parametrize("wrong", [0.0, -1.0])
def test_a_resolution_that_is_not_positive_is_refused(wrong: float) -> None:
    with pytest.raises(zw.DeclarationError, match=r"resolution= .* must be above zero"):
        zw.trace(surface("x y z", sphere), {}, resolution=wrong)


def test_dimension_three_says_what_can_be_asked() -> None:
    q, v = zw.coordinates("a b c", angles="a b c")
    space = zw.trace(zw.System(name="free", kinetic=sum(item**2 for item in v) / 2, coordinates=q), {})
    assert (space.status.name, space.dimension) == ("SURFACE", 3)
    assert "critical" in space.status.value
    assert space.status.value in repr(space)


def test_curves_have_pieces_too() -> None:
    entry = zw.gallery.get("four_bar")
    (piece,) = zw.trace(entry.system, entry.params).pieces
    assert (piece.dimension, piece.multiplicity, piece.euler, len(piece.singular)) == (1, 1, None, 3)


def test_the_command_meshes_a_surface_at_a_resolution_and_draws_it(tmp_path: Path) -> None:
    picture = tmp_path / "cone.png"
    asked = ["trace", "surface_cone", "--resolution", "0.6", "--plot", str(picture), "--axes", "z,x,y", "--json"]
    asked += [text for name in "xyz" for text in ("--box", f"{name}=-2:2")]
    made = CliRunner().invoke(main, asked)
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert found["pieces"][0]["euler"] == 1
    assert 50 < found["triangles"] < 2000
    assert picture.stat().st_size > 10_000
    wrong = CliRunner().invoke(main, ["trace", "surface_cone", "--resolution", "0"])
    assert wrong.exit_code != 0
    assert "resolution= is the longest edge" in wrong.output
    three = CliRunner().invoke(main, ["trace", "four_bar", "--plot", str(picture), "--axes", "a,b,c"])
    assert "three are for surfaces" in three.output


def test_every_length_at_which_five_bars_lie_in_a_line_is_critical() -> None:
    params = {name: value for name, value in lengths(4, 3, 1, 2, 1).items() if name != "l3"}
    found = zw.critical(chain("joint"), params, vary="l3", within=(0.3, 9), compare=False)
    assert [item.value for item in found] == pytest.approx([2, 4, 6, 8], abs=1e-9)
    assert [len(item.points) for item in found] == [2, 2, 1, 1]  # of the sums of signed lengths


def test_a_squared_sphere_counts_twice() -> None:
    squared = zw.trace(
        surface("x y z", lambda s: sphere(s) ** 2 * (s["x"] - 3)),
        {},
        resolution=0.4,
        box={"x": (-4, 4), "y": (-2, 2), "z": (-2, 2)},
    )
    assert sorted((piece.dimension, piece.multiplicity, piece.euler) for piece in squared.pieces) == [
        (2, 1, 1),
        (2, 2, 2),
    ]


def test_a_surface_that_leaves_the_searched_region_says_so() -> None:
    space = zw.trace(surface("x y z", lambda s: s["x"] ** 2 + s["y"] ** 2 - 1), {})
    assert len(space.pieces[0].boundaries) == 2
    assert any("leaves the region that was searched along z" in note for note in space.notes)
