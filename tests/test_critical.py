"""Critical values of parameters: closed forms for linkages and the ellipse pendulum, and what changes at them."""

from __future__ import annotations

import functools
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from night import by_day
from zwang._results.critical import CriticalValue
from zwang.cli import main


@functools.cache
def found(
    name: str, vary: str, within: tuple[float, float], changes: tuple[tuple[str, float], ...] = (), compare: bool = True
) -> list[CriticalValue]:
    entry = zw.gallery.get(name)
    return zw.critical(entry.system, {**entry.params, **dict(changes)}, vary=vary, within=within, compare=compare)


def values(items: list[CriticalValue]) -> list[float]:
    return [item.value for item in items]


@pytest.mark.parametrize("vary", ["l0", "l1", "l2", "l3"])
def test_a_four_bar_is_singular_where_its_bars_can_lie_on_one_line(vary: str) -> None:
    entry = zw.gallery.get("four_bar_crank_rocker")
    others = [entry.params[name] for name in ("l0", "l1", "l2", "l3") if name != vary]
    sums = {
        abs(sum(sign * length for sign, length in zip(signs, others, strict=True)))
        for signs in product((1, -1), repeat=3)
    }
    expected = sorted(value for value in sums if 0.3 < value < 12)
    assert values(found("four_bar_crank_rocker", vary, (0.3, 12.0), compare=False)) == pytest.approx(
        expected, abs=1e-12
    )


def test_the_components_of_a_four_bar_change_as_grashof_says() -> None:
    # l0, l2, l3 = 4, 3, 3.5: Grashof below 2.5 and between 3.5 and 4.5; no assembly above 10.5.
    items = found("four_bar_crank_rocker", "l1", (0.5, 12.0))
    assert values(items) == pytest.approx([2.5, 3.5, 4.5, 10.5], abs=1e-12)
    assert [item.status.name for item in items] == ["JOIN", "SPLIT", "JOIN", "VANISH"]
    assert [item.kind for item in items] == ["crossing", "crossing", "crossing", "isolated"]
    assert [(item.before.components, item.after.components) for item in items] == [(2, 1), (1, 2), (2, 1), (1, 0)]
    assert all(item.at.components == 1 for item in items)
    assert items[0].change == (
        "Components of the configuration space join: 2 components, 2 arcs below, 1 component, 1 arc above."
    )


def test_three_singular_points_of_the_rhombus_belong_to_one_value() -> None:
    (item,) = found("four_bar", "l1", (0.5, 2.0))
    assert item.value == pytest.approx(1.0, abs=1e-12)
    poses = sorted((abs(point["alpha"]), abs(point["gamma"])) for point in item.points)
    assert poses == [pytest.approx(pose, abs=1e-9) for pose in ((0, 0), (0, math.pi), (math.pi, math.pi))]
    assert item.at.arcs == 6


def test_the_pendulum_on_a_circle_is_singular_where_it_reaches_the_folded_or_stretched_rods() -> None:
    # A circle of radius 1.5 round (a, 0) has its nearest and farthest points at |1.5 +- |a||; the rods allow 1 and 3.
    items = found("ellipse_pendulum", "a", (-5.0, 5.0), compare=False)
    assert values(items) == pytest.approx([-4.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 4.5], abs=1e-12)
    assert all(item.status.name == "FOUND" and item.before is None for item in items)


def test_a_flatter_ellipse_is_critical_off_its_axis_too() -> None:
    # |AC|^2 is stationary off the axis at x = -a k/(1 - k), k = (r2/r1)^2, with the value r2^2 - a^2 k/(1 - k) = 1.
    k = (1.2 / 1.5) ** 2
    off = math.sqrt((1.2**2 - 1) * (1 - k) / k)
    items = found("ellipse_pendulum", "a", (-0.8, 0.8), (("r2", 1.2),), compare=False)
    assert values(items) == pytest.approx([-0.5, -off, off, 0.5], abs=1e-11)
    assert [len(item.points) for item in items] == [1, 2, 2, 1]  # mirror images


@pytest.mark.parametrize("name", ["ellipse_pendulum", "ellipse_pendulum_cartesian"])
def test_two_circles_join_at_the_critical_pendulum_in_either_coordinates(name: str) -> None:
    (item,) = found(name, "a", (-0.8, -0.2))
    assert item.value == pytest.approx(-0.5, abs=1e-12)
    assert item.residual < 1e-11
    assert (item.kind, item.before.components, item.after.components) == ("crossing", 1, 2)
    entry = zw.gallery.get(name)
    zw.compile(entry.system).check(item.point, {**entry.params, "a": item.value}, tol=1e-12)


def test_a_tangency_is_found_to_the_same_precision() -> None:
    (item,) = found("ellipse_pendulum", "a", (-0.8, -0.3), (("r1", 1.5625), ("r2", 1.25)))
    assert item.value == pytest.approx(-0.5625, abs=1e-12)
    assert item.kinds == ("tangency",)


def test_where_the_space_stays_singular_the_change_of_kind_is_critical() -> None:
    # With a + r1 = 1 the folded pose is singular for every r2; its branches touch at r2 = sqrt(r1).
    (item,) = found("ellipse_pendulum", "r2", (1.0, 1.5))
    assert item.value == pytest.approx(math.sqrt(1.5), abs=1e-11)
    assert item.kind == "tangency"
    assert (item.before.kinds, item.after.kinds) == (("isolated",), ("crossing",))


def planar(*factors: sp.Expr) -> zw.System:
    """A point on a plane curve that is the union of several."""
    return zw.System(name="curves", kinetic=(VX**2 + VY**2) / 2, constraints=[zw.Bilateral(sp.prod(factors), name="f")])


(X, Y), (VX, VY) = zw.coordinates("x y")
C = zw.parameters("c")


def test_where_a_space_stays_singular_only_meetings_of_its_singular_points_are_critical() -> None:
    # The line x = c meets the unit circle in two points for |c| < 1, and touches it at its ends.
    found = zw.critical(planar(X**2 + Y**2 - 1, X - C), {}, vary=C, within=(-2, 2), box={"x": (-2, 2), "y": (-2, 2)})
    assert values(found) == pytest.approx([-1.0, 1.0], abs=1e-12)
    assert [item.kind for item in found] == ["tangency", "tangency"]
    assert [(item.before.components, item.after.components) for item in found] == [(2, 1), (1, 2)]
    (lasting,) = found.lasting
    assert (lasting.low, lasting.high) == pytest.approx((-1.0, 1.0), abs=1e-12)
    assert lasting.kind == "crossing"
    assert lasting.point["x"] == pytest.approx(lasting.value, abs=1e-11)
    assert str(lasting).startswith("singular from -1 to 1: crossing, at ")


@pytest.mark.parametrize("seed", by_day(range(6), [0, 1]))
def test_two_circles_are_critical_where_they_touch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second, off = float(rng.uniform(0.7, 1.5)), float(rng.uniform(0.2, 0.6)), float(rng.uniform(-0.2, 0.2))
    size = 10.0 ** float(rng.uniform(-4, 4))
    system = planar(X**2 + Y**2 - (first * size) ** 2, (X - C) ** 2 + (Y - off * size) ** 2 - (second * size) ** 2)
    touch = [math.sqrt(reach**2 - off**2) * size for reach in (first - second, first + second)]
    found = zw.critical(system, {}, vary=C, within=(0.1 * size, 2.5 * size), compare=False, seed=seed)
    assert values(found) == pytest.approx(touch, rel=1e-10)
    assert sorted((item.low, item.high) for item in found.lasting) == [pytest.approx(touch, rel=1e-10)]


def test_a_range_without_a_change_has_no_critical_value() -> None:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    R = zw.parameters("R")
    torus = (x**2 + y**2 + z**2 + R**2 - 1) ** 2 - 4 * R**2 * (x**2 + y**2)
    system = zw.System(kinetic=(vx**2 + vy**2 + vz**2) / 2, constraints=[zw.Bilateral(torus, name="torus")])
    still = zw.critical(system, {}, vary=R, within=(0.3, 0.8), compare=False)
    assert list(still) == []
    # Both points in which a spindle torus meets its axis, z = +-sqrt(1 - R^2).
    assert [(item.low, item.high, item.kind) for item in still.lasting] == [(0.3, 0.8, "cone")] * 2
    assert all(abs(item.point["z"]) == pytest.approx(math.sqrt(1 - item.value**2), abs=1e-9) for item in still.lasting)
    (horn,) = zw.critical(system, {}, vary=R, within=(0.5, 2.0), compare=False)
    assert horn.value == pytest.approx(1.0, abs=1e-11)


def test_a_rhombus_folds_up_in_one_way_more_than_a_parallelogram() -> None:
    (a, b, d), (va, vb, vd) = zw.coordinates("a b d", angles="a b d")
    across, up = (C * f(a) + f(b) - C * f(d) - f(0) for f in (sp.cos, sp.sin))
    held = [zw.Bilateral(across, name="across"), zw.Bilateral(up, name="up")]
    system = zw.System(kinetic=(va**2 + vb**2 + vd**2) / 2, constraints=held)
    found = zw.critical(system, {}, vary=C, within=(0.4, 2.2), compare=False)
    assert values(found) == pytest.approx([1.0], abs=1e-11)
    assert [(item.low, item.high) for item in found.lasting] == [(0.4, 2.2)] * 2


def test_the_command_line_tells_ranges_in_which_a_space_stays_singular(tmp_path: Path) -> None:
    file = tmp_path / "curves.toml"
    planar(X**2 + Y**2 - 1, X - C).save(file)
    result = CliRunner().invoke(main, ["critical", str(file), "--vary", "c", "--within", "-0.5:0.5"])
    assert result.exit_code == 0, result.output
    assert "no critical value of c was found" in result.output
    assert "c: singular from -0.5 to 0.5: crossing, at " in result.output


def test_fold_points_of_isolated_assemblies_are_critical() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    c = zw.parameters("c")
    system = zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral(x**2 + y**2 - 1, name="circle"), zw.Bilateral(y - c, name="line")],
    )
    items = zw.critical(system, {}, vary=c, within=(-3, 3))
    assert values(items) == pytest.approx([-1.0, 1.0], abs=1e-12)
    assert [(item.before.components, item.after.components) for item in items] == [(0, 2), (2, 0)]


def test_constraints_that_repeat_others_don_t_make_every_value_critical() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    c = zw.parameters("c")
    f = x**2 - y**2 + c + x**4
    system = zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral(f, name="f"), zw.Bilateral(f * (2 + sp.sin(x)), name="again")],
    )
    items = zw.critical(system, {}, vary="c", within=(-1, 1), compare=False)
    assert values(items) == pytest.approx([0.0], abs=1e-11)


def test_a_box_leaves_out_points_outside_it() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    box = {"phi": (-1.0, 1.0)}
    items = zw.critical(entry.system, entry.params, vary="a", within=(-1.6, -0.2), box=box, compare=False)
    # -1.5 is singular at phi = pi.
    assert values(items) == pytest.approx([-0.5], abs=1e-12)


def test_an_interval_without_critical_values_gives_an_empty_list() -> None:
    assert found("ellipse_pendulum", "a", (-0.45, -0.1)) == []


def test_the_result_reads_as_a_sentence_and_survives_its_file(tmp_path: Path) -> None:
    (item,) = found("ellipse_pendulum", "a", (-0.8, -0.2))
    assert repr(item).startswith("<a = -0.5: crossing at phi = 0, psi = 3.14159. A component of the")
    again: Any = zw.load_result(item.save(tmp_path / "critical.npz"))
    assert (again.value, again.status, again.before, again.point) == (item.value, item.status, item.before, item.point)


def test_mistakes_are_answered_with_the_cure() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    ask = functools.partial(zw.critical, entry.system, entry.params)
    with pytest.raises(zw.DeclarationError, match=r"vary= has 'r3', which is no parameter\. Known: 'a'"):
        ask(vary="r3", within=(0, 1))
    with pytest.raises(
        zw.DeclarationError, match=r"no constraint on positions depends on 'g'.*They depend on: 'a', 'l1'"
    ):
        ask(vary="g", within=(0, 1))
    with pytest.raises(zw.DeclarationError, match=r"within= needs low < high; it was given \(1, 0\)"):
        ask(vary="a", within=(1, 0))
    with pytest.raises(zw.DeclarationError, match=r"within= needs \(low, high\); it was given 3"):
        ask(vary="a", within=3)
