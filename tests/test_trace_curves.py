"""Plane curves given directly: kinds of singular points, orders, multiplicities, boxes, contacts; and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from zwang._results.configuration import ConfigurationSpace
from zwang.cli import main
from zwang.errors import DeclarationError, StateError

(x, y), (vx, vy) = zw.coordinates("x y")
BOX = {x: (-1.5, 1.5), y: (-1.5, 1.5)}


def plane(*held: Any, gaps: tuple[Any, ...] = (), slow: tuple[Any, ...] = ()) -> zw.System:
    constraints = [zw.Bilateral(expr, name=f"f{k}") for k, expr in enumerate(held)]
    constraints += [zw.Unilateral(expr, name=f"gap{k}") for k, expr in enumerate(gaps)]
    constraints += [zw.Bilateral(expr, name=f"slow{k}") for k, expr in enumerate(slow)]
    return zw.System(name="plane", kinetic=(vx**2 + vy**2) / 2, constraints=constraints)


def curve(expr: Any, **options: Any) -> ConfigurationSpace:
    return zw.trace(plane(expr), {}, **{"box": BOX, **options})


def test_cusp() -> None:
    space = curve(y**2 - x**3)
    (point,) = space.singular_points
    assert point.kind == "cusp" and point.order is None and len(point.branches) == 2
    assert point.tangents == pytest.approx(np.array([[1, 0]]), abs=1e-12)
    assert (len(space.branches), len(space.curves), space.components) == (2, 2, 1)
    arc = space.branches[0]
    # The length of y^2 = x^3 from 0 to x is (8/27) ((1 + 9x/4)^(3/2) - 1).
    q = arc.position(arc.length if arc.ends[0].kind == "singular" else 0.0)
    assert arc.length == pytest.approx(8 / 27 * ((1 + 9 * q[0] / 4) ** 1.5 - 1), rel=1e-12)
    assert np.isnan(arc.curvature(0.0 if arc.ends[0].kind == "singular" else arc.length))


def test_node() -> None:
    space = curve(y**2 - x**2 * (x + 1))
    (point,) = space.singular_points
    assert point.kind == "crossing" and point.order == 0
    assert (len(space.branches), len(space.curves), space.components) == (3, 1, 1)
    assert sorted(row[1] / row[0] for row in point.tangents) == pytest.approx([-1, 1], abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_order_of_tangency(k: int) -> None:
    # y^2 = x^(2k) are the curves y = +-x^k, whose derivatives agree up to order k - 1.
    space = curve(y**2 - x ** (2 * k))
    (point,) = space.singular_points
    assert point.kind == "tangency" and point.order == k - 1
    assert (len(space.branches), len(space.curves), space.components) == (4, 2, 1)
    assert [point.state["x"], point.state["y"]] == pytest.approx([0, 0], abs=1e-12)


def test_tangency_off_the_origin_and_tilted() -> None:
    u, w = x - sp.Rational(1, 3) + y / 2, y + sp.Rational(1, 5) - x / 7
    space = curve((w - u**2) * (w - u**2 - 2 * u**3 - u**4))
    (point,) = space.singular_points
    assert point.kind == "tangency" and point.order == 2
    # u = w = 0.
    at = np.linalg.solve([[1, 0.5], [-1 / 7, 1]], [1 / 3, -1 / 5])
    assert [point.state["x"], point.state["y"]] == pytest.approx(list(at), abs=1e-12)


def test_isolated_points() -> None:
    for expr in (x**2 + y**2, y**2 + x**4, x**2 + y**2 * (1 + x)):
        space = curve(expr)
        (point,) = space.singular_points
        assert (point.kind, len(point.branches), space.components, space.dimension) == ("isolated", 0, 1, 0)
    both = curve(y**2 + x**2 * (1 - x))  # a point and a curve
    assert [point.kind for point in both.singular_points] == ["isolated"]
    assert (both.components, both.dimension, len(both.branches)) == (2, 1, 1)


def test_three_lines_through_a_point() -> None:
    space = curve(x * (x - y) * (x + y))
    (point,) = space.singular_points
    assert point.kind == "crossing" and len(point.tangents) == 3 and len(point.branches) == 6
    assert point.order.shape == (3, 3)
    assert (point.order[~np.eye(3, dtype=bool)] == 0).all() and np.isinf(np.diag(point.order)).all()
    assert (len(space.branches), len(space.curves), space.components) == (6, 3, 1)


def test_matrix_of_orders_of_three_curves() -> None:
    space = curve(y * (y - x**2) * (y - x**2 - x**3))
    point = next(p for p in space.singular_points if abs(p.state["x"]) < 1e-9)
    assert point.kind == "tangency"
    assert sorted(point.order[np.triu_indices(3, 1)].tolist()) == [1, 1, 2]


def test_heart_has_two_cusps_and_two_points_where_only_the_rank_drops() -> None:
    # (x^2 + y^2 - 1)^3 = x^2 y^3: next to (+-1, 0) it is u^3 = y^3 (1 + ...) with one real, smooth branch.
    space = curve((x**2 + y**2 - 1) ** 3 - x**2 * y**3)
    kinds = {(round(p.state["x"]), round(p.state["y"])): p.kind for p in space.singular_points}
    assert kinds == {(-1, 0): "higher", (1, 0): "higher", (0, -1): "cusp", (0, 1): "cusp"}
    assert (len(space.branches), space.components) == (4, 1)


def test_multiple_components_are_not_singular() -> None:
    circle = x**2 + y**2 - 1
    for power in (2, 3):
        space = curve(sp.expand(circle**power))
        assert [arc.multiplicity for arc in space.branches] == [power]
        assert not space.singular_points and space.branches[0].length == pytest.approx(2 * np.pi, rel=1e-12)
    mixed = curve(circle**2 * (x - y))
    assert sorted(arc.multiplicity for arc in mixed.branches) == [1, 1, 1, 2, 2]
    assert [point.kind for point in mixed.singular_points] == ["crossing", "crossing"]
    assert "multiplicity 2" in repr(mixed)


def test_redundant_equations_are_not_singular() -> None:
    circle = x**2 + y**2 - 1
    for system in (plane(circle, 3 * circle), plane(circle, circle * (2 + x)), plane(circle, sp.exp(circle) - 1)):
        space = zw.trace(system, {})
        assert (len(space.branches), space.dimension, len(space.singular_points)) == (1, 1, 0)
        assert space.branches[0].closed


def test_one_coordinate_without_constraints_is_a_line_or_a_circle() -> None:
    (_,), (vs,) = zw.coordinates("s")
    line = zw.trace(zw.System(kinetic=vs**2 / 2), {}, box={"s": (-1, 2)})
    assert [arc.length for arc in line.branches] == pytest.approx([3.0], abs=1e-12)
    (_,), (w,) = zw.coordinates("phi", angles="phi")
    circle = zw.trace(zw.System(kinetic=w**2 / 2), {})
    assert [arc.closed for arc in circle.branches] == [True]
    assert circle.branches[0].length == pytest.approx(2 * np.pi, abs=1e-12)


def test_units_do_not_matter() -> None:
    # The same pendulum in millimetres and in kilometres.
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    for unit in (1e-3, 1e3):
        sizes = {"l1": 2.0, "l2": 1.0, "r1": 1.5625, "r2": 1.25, "a": -0.5625}
        space = zw.trace(entry.system, {**entry.params, **{name: unit * value for name, value in sizes.items()}})
        assert [(point.kind, point.order) for point in space.singular_points] == [("tangency", 1)]
        assert (len(space.branches), len(space.curves), space.components) == (2, 2, 1)


def test_box_cuts_arcs() -> None:
    space = zw.trace(plane(x**2 + y**2 - 1), {}, box={"x": (0, 2)})
    (arc,) = space.branches
    assert [(end.kind, end.name) for end in arc.ends] == [("box", "x"), ("box", "x")]
    assert arc.length == pytest.approx(np.pi, abs=1e-11)
    quarter = zw.trace(plane(x**2 + y**2 - 1), {}, box={"x": (0, 2), "y": (0, 2)})
    assert [arc.length for arc in quarter.branches] == pytest.approx([np.pi / 2], abs=1e-11)


def test_box_of_an_angle_cuts_too() -> None:
    entry = zw.gallery.get("four_bar")
    space = zw.trace(entry.system, entry.params, box={"alpha": (-1, 1)})
    assert {end.kind for arc in space.branches for end in arc.ends} == {"singular", "box"}
    assert all(arc.position(np.linspace(0, arc.length, 9))[:, 0].min() >= -1 - 1e-9 for arc in space.branches)
    whole = zw.trace(entry.system, entry.params, box={"alpha": (-4, 4)})  # more than a turn: nothing is cut
    assert len(whole.branches) == 6


def test_one_sided_constraints_cut_arcs_at_contacts() -> None:
    space = zw.trace(plane(x**2 + y**2 - 1, gaps=(y - sp.Rational(1, 2),)), {})
    (arc,) = space.branches
    assert [(end.kind, end.name) for end in arc.ends] == [("contact", "gap0")] * 2
    assert arc.position(0.0)[1] == pytest.approx(0.5, abs=1e-12)
    assert arc.length == pytest.approx(2 * np.pi / 3, abs=1e-11)


def test_constraints_on_velocities_are_ignored_and_named() -> None:
    space = zw.trace(plane(x**2 + y**2 - 1, slow=(vx - vy,)), {})
    assert space.ignored == ("slow0",) and len(space.branches) == 1
    assert "Constraints on velocities don't restrict positions: slow0." in space.notes


def test_explicit_time_needs_an_instant() -> None:
    system = plane(x**2 + y**2 - (1 + zw.t) ** 2)
    with pytest.raises(DeclarationError, match="depend on time explicitly.*Give t="):
        zw.trace(system, {})
    space = zw.trace(system, {}, t=0.5)
    assert space.branches[0].length == pytest.approx(3 * np.pi, abs=1e-10)
    assert space.branches[0].state(at=0.1)["t"] == 0.5


def test_empty_spaces_say_why() -> None:
    circle = x**2 + y**2
    alone = zw.trace(plane(circle + 1), {})
    assert alone.status.name == "EMPTY" and "'f0' by itself" in repr(alone)
    together = zw.trace(plane(circle - 1, circle - 2), {})
    assert together.status.name == "EMPTY" and "Each constraint can be satisfied by itself" in repr(together)
    boxed = zw.trace(plane(circle - 1), {}, box={"x": (2, 3)})
    assert boxed.status.name == "EMPTY" and "none within the box 2 <= x <= 3" in repr(boxed)
    gapped = zw.trace(plane(circle - 1, gaps=(y - 2,)), {})
    assert gapped.status.name == "EMPTY" and "none within the one-sided constraints" in repr(gapped)


def test_a_negative_length_leaves_nothing_and_the_constraint_is_named() -> None:
    l = zw.parameters("l")
    rod = zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - l, name="rod")])
    space = zw.trace(rod, {"l": -1.0})
    assert space.status.name == "EMPTY"
    assert "No configuration was found that satisfies 'rod' by itself: look at the parameters in it." in space.notes


def test_kinked_constraints_are_refused_with_a_cure() -> None:
    with pytest.raises(DeclarationError, match=r"constraint 'f0' is not smooth: it has Abs\(x\).*one-sided constraint"):
        zw.trace(plane(y - sp.Abs(x)), {})
    a = zw.parameters("a")
    kept = zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(x**2 + y**2 - sp.Abs(a))])
    assert len(zw.trace(kept, {"a": -1}).branches) == 1  # of a parameter it is smooth


def test_isolated_assemblies_and_surfaces_are_told_apart_from_curves() -> None:
    points = zw.trace(plane(x**2 + y**2 - 1, x - y), {})
    assert (points.status.name, points.dimension, len(points.points), points.components) == ("POINTS", 0, 2, 2)
    surface = zw.trace(plane(gaps=(x,)), {})
    assert (surface.status.name, surface.dimension) == ("TRACED", 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"box": {"z": (0, 1)}}, "box= has 'z', which is no coordinate"),
        ({"box": {"x": (1, 0)}}, "needs finite low < high"),
        ({"box": {"x": 3}}, r"needs \(low, high\) for 'x'"),
        ({"search": "lucky"}, "search= must be 'sampled' or 'exhaustive'; it was given 'lucky'"),
        ({"starts": 0}, "starts= must be a whole number at least 1"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        zw.trace(plane(x**2 + y**2 - 1), {}, **options)


def test_other_mistakes() -> None:
    with pytest.raises(DeclarationError, match="trace needs a System or a Model"):
        zw.trace("four_bar", {})
    entry = zw.gallery.get("four_bar")
    with pytest.raises(DeclarationError, match="Use sweep for many"):
        zw.trace(entry.system, {**entry.params, "l1": np.array([1.0, 2.0])})
    with pytest.raises(StateError, match="at= must lie between 0 and its length"):
        zw.trace(plane(x**2 + y**2 - 1), {}, box={"x": (0, 2)}).branches[0].state(at=9.0)


def test_saved_and_loaded_again(tmp_path: Path) -> None:
    space = curve(x * (x - y) * (x + y))
    again = zw.load_result(space.save(tmp_path / "space.npz"))
    assert isinstance(again, ConfigurationSpace)
    assert repr(again) == repr(space)
    at = space.branches[2].length / 3
    assert again.branches[2].state(at=at, speed=1.0) == space.branches[2].state(at=at, speed=1.0)


def test_picture_marks_singular_points(tmp_path: Path) -> None:
    from zwang._plot import new_figure

    entry = zw.gallery.get("four_bar")
    space = zw.trace(entry.system, entry.params)
    ax = space.plot(ax=new_figure()[1], colour="curve")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    # A point on the edge of the unrolled torus stands at several places, and the legend says so.
    assert labels[0] == "crossing" and all(text.startswith("crossing; one point, at") for text in labels[1:])
    assert len(ax.lines) > 6
    assert "pi" not in ax.get_xlabel() and ax.get_xlabel() == r"$\alpha$ [rad]"
    with pytest.raises(DeclarationError, match="there is no coordinate 'beta'"):
        space.plot("beta")
    with pytest.raises(DeclarationError, match="there is no colour= 'length'"):
        space.plot(colour="length")


def test_mechanism_at_a_pose_and_as_a_film(tmp_path: Path) -> None:
    from zwang._plot import new_figure

    entry = zw.gallery.get("ellipse_pendulum")
    space = zw.trace(entry.system, entry.params)
    ax = space.plot_pose(arc=1, at=2.0, ax=new_figure()[1])
    assert {text.get_text() for text in ax.texts} >= {"A", "B", "C"}
    path = space.animate(tmp_path / "arc.html", arc=1, frames=12)
    assert path.exists() and "arc length" in path.read_text()
    assert "film of" in repr(space.animate(drawing=entry.drawing, frames=5))
    with pytest.raises(DeclarationError, match="there is no arc 7; it has 2"):
        space.animate(arc=7)
    with pytest.raises(DeclarationError, match=r"drawing= must be a zw\.Drawing"):
        space.plot_pose("rod")
    plain = zw.trace(entry.system.replace(drawing=None), entry.params)
    with pytest.raises(DeclarationError, match="the system has no drawing, so there is nothing to show"):
        plain.plot_pose()


def test_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    shown = run(main, ["trace", "four_bar"])
    assert shown.exit_code == 0 and "6 arcs in 3 smooth curves" in shown.stdout
    picture, file = tmp_path / "space.png", tmp_path / "space.npz"
    options = ["--param", "l0=2", "l2=2", "--plot", str(picture), "--out", str(file), "--json"]
    told = run(main, ["trace", "four_bar", *options])
    assert told.exit_code == 0 and picture.exists() and file.exists()
    facts = json.loads(told.stdout)
    assert (facts["arcs"], facts["curves"], facts["components"]) == (4, 2, 1)
    assert run(main, ["trace", "four_bar", "--param", "l0=9"]).exit_code == 1
    assert run(main, ["trace", "four_bar", "--box", "alpha=1"]).exit_code == 2
    boxed = run(main, ["trace", "four_bar", "--box", "alpha=-1:1", "gamma=-1:1"])
    assert boxed.exit_code == 0 and "1 singular point" in boxed.stdout


def test_nearest_place_is_found_where_the_arc_bends_towards_the_state() -> None:
    # x^4 - y^2 = 0.0081: the two ends of the waist, (+-0.3, 0), are nearest to the origin; the curvature there times
    # the distance exceeds one, so that plain steps along the tangent run away.
    entry = zw.gallery.get("tangency")
    space = zw.trace(entry.system, {**entry.params, "eps": -0.0081}, box={"x": (-1, 1), "y": (-1, 1)})
    found = sorted(float(arc.position(arc.nearest({"x": 0.0, "y": 0.0}))[0]) for arc in space.branches)
    assert found == pytest.approx([-0.3, 0.3], abs=1e-12)
