"""Critical values of parameters: closed forms for linkages and the ellipse pendulum, and what changes at them."""

from __future__ import annotations

import functools
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

import zwang as zw
from zwang._results.critical import CriticalValue


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
    with pytest.raises(
        zw.DeclarationError, match=r"vary= must be one of its parameters; it was given 'r3'\. Known: 'a'"
    ):
        ask(vary="r3", within=(0, 1))
    with pytest.raises(
        zw.DeclarationError, match=r"no constraint on positions depends on 'g'.*They depend on: 'a', 'l1'"
    ):
        ask(vary="g", within=(0, 1))
    with pytest.raises(zw.DeclarationError, match=r"within= needs finite low < high; it was given \(1, 0\)"):
        ask(vary="a", within=(1, 0))
    with pytest.raises(zw.DeclarationError, match=r"within= needs \(low, high\); it was given 3"):
        ask(vary="a", within=3)
