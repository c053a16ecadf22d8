"""Folds of surfaces over two quantities, cusps, sheets, all assemblies, and paths that avoid folds."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._plot.surface import _alike
from zwang._trace.surface_shades import shade_of

A2, A3 = (15.91, 0.0), (0.0, 10.0)
SIDES = (17.04, 16.54, 20.84)
HELD = 14.98
SIX = (15.38, 12.0)


@cache
def platform() -> tuple[zw.ConfigurationSpace, tuple[Any, Any]]:
    """Return the 3-RPR of Innocenti and Parenti-Castelli with leg 1 held, and the lengths of legs 2 and 3."""
    (a, p), (va, vp) = zw.coordinates("a p", angles="a p")
    first, second, third = SIDES
    corner = sp.acos((first**2 + third**2 - second**2) / (2 * first * third))
    foot = HELD * sp.Matrix([sp.cos(a), sp.sin(a)])
    tip2 = foot + first * sp.Matrix([sp.cos(p), sp.sin(p)])
    tip3 = foot + third * sp.Matrix([sp.cos(p + corner), sp.sin(p + corner)])
    legs = tuple(sp.sqrt((tip[0] - x) ** 2 + (tip[1] - y) ** 2) for tip, (x, y) in ((tip2, A2), (tip3, A3)))
    system = zw.System(name="platform", kinetic=(va**2 + vp**2) / 2, coordinates=(a, p))
    return zw.trace(system, {}), legs


def assemblies_by_elimination(second: float, third: float) -> int:
    """Return the number of real assemblies: leg 1 on its circle, the platform's turn a root of one equation.

    With the turn p fixed, the feet of legs 2 and 3 seen from B1 leave two linear equations for B1 once the circle of
    leg 1 is subtracted; put into that circle they give one trigonometric polynomial of p, whose sign changes count.
    """
    first, other, last = SIDES
    corner = np.arccos((first**2 + last**2 - other**2) / (2 * first * last))
    p = np.linspace(-np.pi, np.pi, 200_001)
    u = np.array([first * np.cos(p) - A2[0], first * np.sin(p) - A2[1]])
    w = np.array([last * np.cos(p + corner) - A3[0], last * np.sin(p + corner) - A3[1]])
    # |B1 + u|^2 = l2^2 and |B1|^2 = l1^2: 2 u . B1 = l2^2 - l1^2 - |u|^2, and the same with w.
    r = (second**2 - HELD**2 - (u**2).sum(axis=0)) / 2
    s = (third**2 - HELD**2 - (w**2).sum(axis=0)) / 2
    det = u[0] * w[1] - u[1] * w[0]
    circle = (r * w[1] - s * u[1]) ** 2 + (u[0] * s - w[0] * r) ** 2 - HELD**2 * det**2
    return int((np.sign(circle[1:]) != np.sign(circle[:-1])).sum())


def test_the_platform_has_one_fold_with_six_cusps_and_two_sheets() -> None:
    space, legs = platform()
    (fold,) = space.folds(legs)
    assert fold.closed
    assert not fold.collapsed
    assert len(fold.cusps) == 6
    # The literature's cusp (Zein, Wenger, Chablat).
    assert min(np.abs(np.subtract(cusp.values, (13.85146, 6.26010))).max() for cusp in fold.cusps) < 1e-5
    assert len(fold.kinks) == 4  # legs of length zero
    assert not fold.crossings
    sheets = space.sheets(legs)
    assert sorted(sheet.euler for sheet in sheets) == [-1, 1]  # a torus with a hole and a disc
    assert sum(sheet.area for sheet in sheets) == pytest.approx(4 * np.pi**2, rel=1e-6)


def test_cusps_are_solved_for() -> None:
    # At a cusp the quantities have a triple root along the surface: the determinant of the projection, its derivative
    # along the kernel, both zero; here by central differences of closed forms.
    space, legs = platform()
    a, p = (symbol for symbol in sorted(legs[0].free_symbols, key=str))
    J = sp.Matrix(legs).jacobian([a, p])
    det = J.det()
    slope = sp.diff(det, a) * (-J[0, 1]) + sp.diff(det, p) * J[0, 0]
    value = sp.lambdify([a, p], [det, slope], "numpy")
    for cusp in space.folds(legs)[0].cusps:
        assert np.abs(value(cusp.state["a"], cusp.state["p"])).max() < 1e-8


def test_six_assemblies_three_on_each_sheet() -> None:
    space, legs = platform()
    found = space.over(legs, SIX)
    assert len(found) == assemblies_by_elimination(*SIX) == 6
    assert sorted(item.sheet for item in found) == [0, 0, 0, 1, 1, 1]
    for item in found:
        assert space.sheets(legs).of(item.state).number == item.sheet


def test_assemblies_agree_with_elimination_on_random_inputs() -> None:
    space, legs = platform()
    source = np.random.default_rng(5)
    for values in source.uniform((1, 1), (32, 32), size=(12, 2)):
        assert len(space.over(legs, values)) == assemblies_by_elimination(*values), values


@pytest.mark.nightly
def test_two_hundred_random_inputs_agree_with_elimination() -> None:
    space, legs = platform()
    source = np.random.default_rng(6)
    every = np.concatenate([source.uniform((1, 1), (32, 32), size=(160, 2)), SIX + source.uniform(-0.3, 0.3, (40, 2))])
    for values in every:
        assert len(space.over(legs, values)) == assemblies_by_elimination(*values), values


def test_a_path_joins_assemblies_of_one_sheet_without_a_fold(tmp_path: Path) -> None:
    space, legs = platform()
    found, folds = space.over(legs, SIX), space.folds(legs)
    one, two = (item for item in found if item.sheet == 0), (item for item in found if item.sheet == 1)
    first, second, other = next(one), next(one), next(two)
    way = space.path(first.state, second.state, avoid=folds)
    assert (way.status.name, way.residual < 1e-10) == ("FOUND", True)
    assert [way.states[k]["a"] for k in (0, -1)] == pytest.approx([first.state["a"], way.points[-1, 0]], abs=1e-9)
    a, p = (symbol for symbol in sorted(legs[0].free_symbols, key=str))
    determinant = sp.lambdify([a, p], sp.Matrix(legs).jacobian([a, p]).det(), "numpy")
    assert len(set(np.sign(determinant(*way.points.T)))) == 1
    assert space.path(first.state, other.state, avoid=folds).status.name == "NONE"
    assert space.path(first.state, other.state).status.name == "FOUND"
    back = zw.load_result(way.save(tmp_path / "path.npz"))
    assert np.array_equal(back.points, way.points)
    assert np.abs(way.spline()(way.s) - way.points).max() < 1e-12


@cache
def robot(*bars: float) -> zw.ConfigurationSpace:
    linkage = zw.Linkage("robot").ground("A", 0, 0).ground("E", "l5", 0).points("B C D", mass=1)
    for k, (a, b) in enumerate(itertools.pairwise("ABCDE")):
        linkage = linkage.bar(a, b, length=f"l{k + 1}")
    values = {f"l{k + 1}": bar for k, bar in enumerate(bars)}
    return zw.trace(linkage.system(coordinates="joint"), values, resolution=0.25)


CRANKS = ("theta_B", "theta_D")
TOOL = ("l1*cos(theta_B) + l2*cos(theta_C)", "l1*sin(theta_B) + l2*sin(theta_C)")


def test_the_cranks_of_a_five_bar_lose_control_where_the_outer_bars_lie_in_one_line() -> None:
    space = robot(1.0, 1.5, 1.3, 0.9, 0.8)
    folds = space.folds(CRANKS)
    assert all(curve.closed and not curve.cusps and not curve.collapsed for curve in folds)
    for curve in folds:
        for state in curve.states[::20]:
            b, c, d = (state[f"theta_{name}"] for name in "BCD")
            tip = np.array([0.8 - 0.9 * np.cos(d), -0.9 * np.sin(d)])  # of the other crank, turned from its end
            bar = tip - [np.cos(b) + 1.5 * np.cos(c), np.sin(b) + 1.5 * np.sin(c)]
            assert abs(np.cos(c) * bar[1] - np.sin(c) * bar[0]) < 1e-9
    assert len(space.sheets(CRANKS)) == 2


def test_the_tool_of_a_five_bar_has_four_sheets_and_folds_that_cross() -> None:
    space = robot(1.0, 1.5, 1.3, 0.9, 0.8)
    folds = space.folds(TOOL)
    assert not any(curve.cusps for curve in folds)
    assert any(curve.crossings for curve in folds)
    assert len(space.sheets(TOOL)) == 4
    # Four working modes at a place that both legs reach.
    assert sorted(item.sheet for item in space.over(TOOL, (0.4, 1.5))) == [0, 1, 2, 3]


def test_equal_outer_bars_fold_onto_each_other_along_collapsed_curves() -> None:
    space = robot(1.0, 1.3, 1.3, 1.0, 0.7)
    collapsed = [curve for curve in space.folds(CRANKS) if curve.collapsed]
    assert len(collapsed) == 2
    assert not any(curve.cusps for curve in collapsed)
    # The ends of the cranks meet over the middle of the ground.
    crank = np.arccos(0.35)
    found = space.over(CRANKS, (crank, -crank))
    assert [item.curve is not None for item in found] == [True]
    assert len(space.sheets(CRANKS)) == 2


def test_exhaustive_search_finds_the_same_assemblies() -> None:
    space = robot(1.0, 1.5, 1.3, 0.9, 0.8)
    sampled = space.over(CRANKS, (0.7, 2.0))
    proved = space.over(CRANKS, (0.7, 2.0), search="exhaustive")
    assert len(sampled) == len(proved) == 2
    assert (sampled.complete, proved.complete) == (False, True)
    assert "boxes of interval arithmetic" in proved.notes[0]


@pytest.mark.parametrize(
    ("onto", "message"),
    [
        (("theta_B",), "takes two quantities"),
        (("theta_B", "theta_C", "theta_D"), "it was given 3"),
        (("theta_B", "theta_Q"), "theta_Q"),
        (("theta_B", "2*theta_B"), "depend on each other on the surface, as at"),
        (("theta_B", "1"), r"\(piece 0\), 1 being constant there"),
        (("theta_B", 3), "takes names and expressions"),
    ],
)
def test_bad_quantities_are_refused_with_a_cure(onto: Any, message: str) -> None:
    with pytest.raises(zw.DeclarationError, match=message):
        robot(1.0, 1.5, 1.3, 0.9, 0.8).folds(onto)


def test_a_start_off_the_constraints_is_refused_with_the_figure() -> None:
    space = robot(1.0, 1.5, 1.3, 0.9, 0.8)
    good = space.over(CRANKS, (0.7, 2.0))[0].state
    with pytest.raises(zw.StateError, match="end is off the constraints by"):
        space.path(good, {**good, "theta_B": good["theta_B"] + 0.1})
    with pytest.raises(zw.DeclarationError, match="avoid= takes what folds returns"):
        space.path(good, good, avoid="theta_B")
    with pytest.raises(zw.DeclarationError, match="start must map coordinates to numbers"):
        space.path(3, good)
    with pytest.raises(zw.DeclarationError, match=r"end\['theta_B'\]= must be a finite number"):
        space.path(good, {**good, "theta_B": float("nan")})
    with pytest.raises(zw.DeclarationError, match="over needs two values"):
        space.over(CRANKS, 1.0)


def test_curves_have_no_folds() -> None:
    entry = zw.gallery.get("four_bar")
    with pytest.raises(zw.DeclarationError, match="folds belong to configuration spaces of dimension two"):
        zw.trace(entry.system, entry.params).folds(("a", "b"))


def test_a_surface_and_its_inputs_can_be_drawn() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    space = robot(1.0, 1.5, 1.3, 0.9, 0.8)
    shown = space.plot("theta_D", "theta_B", "theta_C")
    assert shown.name == "3d"
    assert len(shown.collections[0].get_facecolor()) > 3000
    plane = space.plot(onto=CRANKS)
    assert len(plane.lines) == len(space.folds(CRANKS))
    # Two configurations over every place that can be reached, but for cells that a fold cuts.
    counts = np.asarray(plane.collections[0].get_array().compressed())
    assert (counts == 2).mean() > 0.995
    with pytest.raises(zw.DeclarationError, match="one number for each of the"):
        space.plot(colour=[1.0, 2.0])
    with pytest.raises(zw.DeclarationError, match="theta_X"):
        space.plot("theta_X")
    pyplot.close("all")


@pytest.mark.parametrize(
    "bars", [(1.06, 1.7, 0.76, 1.81, 1.32), (1.91, 1.27, 1.96, 0.62, 1.41), (1.0, 2.0, 2.0, 1.0, 0.5)]
)
def test_folds_go_straight_through_their_crossings(bars: tuple[float, ...]) -> None:
    # A leg that is straight or folded leads the tool along a circle round its hip; four sheets meet at a crossing.
    space = robot(*bars)
    folds = space.folds(TOOL)
    for curve in folds:
        tips = np.array(curve.values)
        legs = [np.linalg.norm(tips - hip, axis=1) for hip in ((0.0, 0.0), (bars[4], 0.0))]
        assert min(np.ptp(leg) for leg in legs) < 1e-8
        assert curve.closed
        for point in curve.crossings:
            assert min(np.abs(tips - point.values).max(axis=1)) < 1e-12
    assert len(folds) == 4
    assert sum(len(curve.crossings) for curve in folds) == 2 * 4  # each belongs to two folds
    assert len(space.sheets(TOOL)) == 4


def test_points_of_folds_lie_on_them_next_to_places_without_derivatives() -> None:
    # Where a leg has length zero Newton's method has nothing to go by.
    space, legs = platform()
    (fold,) = space.folds(legs)
    a, p = (symbol for symbol in sorted(legs[0].free_symbols, key=str))
    feet = [sp.lambdify([a, p], expr**2, "numpy") for expr in legs]
    J = sp.Matrix([expr**2 for expr in legs]).jacobian([a, p])  # of squares, which have derivatives everywhere
    determinant = sp.lambdify([a, p], J.det(), "numpy")
    rows = fold.points
    near = min(float(foot(*rows.T).min()) for foot in feet)
    assert near < 0.1
    assert np.abs(determinant(*rows.T)).max() < 1e-4 * np.abs(determinant(*space.surface.points.T)).max()
    steps = np.angle(np.exp(1j * np.diff(rows, axis=0)))
    assert np.linalg.norm(steps, axis=1).max() < 0.3


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"colour": "sheet", "folds": CRANKS}, ""),
        ({"colour": "distance", "folds": CRANKS}, "distance to the next fold"),
        ({"colour": "C-D"}, "multiplier of C-D"),
        ({"colour": "cos(theta_B)"}, "cos(theta_B)"),
        ({"x": TOOL[0], "y": TOOL[1], "z": "theta_B", "colour": "component"}, ""),
        ({"wrapped": True, "folds": TOOL}, ""),
    ],
)
def test_a_surface_is_drawn_over_chosen_quantities_and_coloured_by_others(options: Any, label: str) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = robot(1.0, 1.5, 1.3, 0.9, 0.8).plot(**options)
    assert ax.name == "3d"
    assert len(ax.collections[0].get_facecolor()) >= len(robot(1.0, 1.5, 1.3, 0.9, 0.8).surface.triangles)
    bars = [other.get_ylabel() for other in ax.figure.axes if other is not ax]
    assert bars == ([label] if label else [])
    words = [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]
    assert ("fold" in words) == ("folds" in options)
    assert ("sheet 1" in words) == (options.get("colour") == "sheet")
    pyplot.close("all")


def test_polygons_in_space_have_equally_many_corners_and_no_numbers_of_nobody() -> None:
    ragged = [np.full((3, 3), 1.0), np.arange(15.0).reshape(5, 3), np.full((4, 3), 2.0)]
    found = _alike(ragged)
    assert found.shape == (3, 5, 3)
    for item, row in zip(ragged, found, strict=True):
        assert (row[: len(item)] == item).all() and (row[len(item) :] == item[-1]).all()


def test_a_torus_is_drawn_unrolled_without_gaps_at_its_seams() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    space, legs = platform()
    ax = space.plot(folds=legs)
    faces = [path.vertices[:-1] for path in ax.collections[0].get_paths()]
    areas = [abs(np.dot(v[:, 0], np.roll(v[:, 1], 1)) - np.dot(v[:, 1], np.roll(v[:, 0], 1))) / 2 for v in faces]
    assert sum(areas) == pytest.approx(4 * np.pi**2, rel=1e-9)
    assert max(np.abs(v).max() for v in faces) < np.pi + 1e-9
    ring = space.plot(folds=legs, wrapped=True)
    assert ring.name == "3d"
    pyplot.close("all")


def test_the_distance_to_the_next_fold_is_that_along_the_surface() -> None:
    # x^2 + y^2 + z^2 = 1 over x, y: the fold is the equator, and the distance from it the latitude.
    (x, y, z), v = zw.coordinates("x y z")
    ball = zw.System(
        name="ball", kinetic=sum(w**2 for w in v) / 2, constraints=[zw.Bilateral(x**2 + y**2 + z**2 - 1, name="f")]
    )
    space = zw.trace(ball, {}, resolution=0.15)
    found = shade_of(space, "distance", (x, y)).values
    latitude = np.arcsin(np.clip(np.abs(space.surface.points[:, 2]), 0, 1))
    assert (found > latitude - 0.02).all()
    assert np.abs(found - latitude).max() < 0.2  # ways along edges are a little longer


def test_multipliers_colour_a_surface_by_the_forces_of_a_mechanism_let_go() -> None:
    # A unit mass on the unit sphere under gravity g: at rest the multiplier of (r^2 - 1)/2 is g z.
    (x, y, z), v = zw.coordinates("x y z")
    ball = zw.System(
        name="ball", kinetic=sum(w**2 for w in v) / 2, potential=2 * z,
        constraints=[zw.Bilateral((x**2 + y**2 + z**2 - 1) / 2, name="shell")],
    )  # fmt: skip
    space = zw.trace(ball, {}, resolution=0.3)
    assert shade_of(space, "shell", None).values == pytest.approx(2 * space.surface.points[:, 2], abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "sheet"}, "colour='sheet' belongs to folds"),
        ({"colour": "shed"}, "nothing to colour by that is called 'shed'"),
        ({"colour": [1.0]}, "one number for each of the"),
        ({"wrapped": True, "x": "cos(theta_B)"}, r"'cos\(theta_B\)' is none"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_refused_with_a_cure(options: Any, message: str) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(zw.DeclarationError, match=message):
        robot(1.0, 1.5, 1.3, 0.9, 0.8).plot(**options)


def test_folds_belong_to_pictures_of_surfaces_and_need_room() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    entry = zw.gallery.get("four_bar")
    with pytest.raises(zw.DeclarationError, match="folds= and wrapped= belong to pictures of surfaces"):
        zw.trace(entry.system, entry.params).plot(wrapped=True)
    with pytest.raises(zw.DeclarationError, match="needs an ax= with three dimensions"):
        robot(1.0, 1.5, 1.3, 0.9, 0.8).plot(ax=pyplot.figure().add_subplot())
    (x, y), v = zw.coordinates("x y")
    plane = zw.trace(
        zw.System(name="p", kinetic=sum(w**2 for w in v) / 2, coordinates=(x, y)), {}, box={x: (0, 1), y: (0, 1)}
    )
    with pytest.raises(zw.DeclarationError, match="there are no folds onto x and y"):
        plane.plot(colour="distance", folds=(x, y))
    pyplot.close("all")


@pytest.mark.parametrize("unit", by_day([1e-5, 1e5], [1e-5]))
def test_folds_and_assemblies_do_not_depend_on_the_unit_of_length(unit: float) -> None:
    linkage = zw.Linkage("robot").ground("A", 0, 0).ground("E", "l5", 0).points("B C D", mass=1)
    for k, (a, b) in enumerate(itertools.pairwise("ABCDE")):
        linkage = linkage.bar(a, b, length=f"l{k + 1}")
    bars = {f"l{k + 1}": bar * unit for k, bar in enumerate((1.0, 1.5, 1.3, 0.9, 0.8))}
    space = zw.trace(linkage.system(coordinates="cartesian"), bars, resolution=0.3 * unit)
    tool = ("x_C", "y_C")
    assert [(curve.closed, len(curve.crossings), len(curve.cusps)) for curve in space.folds(tool)] == 4 * [(True, 2, 0)]
    assert sorted(item.sheet for item in space.over(tool, (0.4 * unit, 1.5 * unit))) == [0, 1, 2, 3]
