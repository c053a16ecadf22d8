"""Facts of the gallery's mechanisms in space: known singularities of platforms and robots, tables, wedges, discs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import zwang as zw
from gallery_states import numbers

get = zw.gallery.get
PLACER = zw.Bodies("placer").body("platform", mass=1, inertia=(1, 1, 1))
RANK = 1e-10
"""Of the largest singular value: rows are formulas in doubles of lengths about 1."""


def rows_at(entry: Any, params: Any = None, at: Any = (0, 0, 1), turn: Any = None) -> dict[str, np.ndarray]:
    """The rows of a platform's constraints by name, along three displacements and three turns of it."""
    state = PLACER.place("platform", at=at, turned=turn)
    found = numbers(entry, state, params)
    basis = np.zeros((7, 6))
    basis[:3, :3] = np.eye(3)
    for k in range(3):
        spinning = PLACER.place("platform", at=at, turned=turn, spin=np.eye(3)[k])
        basis[3:, 3 + k] = [spinning[f"v_e{i}_platform"] for i in range(4)]
    names = [item.name for item in entry.system.constraints]
    return dict(zip(names, found.rows @ basis, strict=True))


def rank(rows: list[np.ndarray]) -> int:
    values = np.linalg.svd(np.array(rows))[1]
    return int((values > RANK * values[0]).sum())


def legs(rows: dict[str, np.ndarray], word: str = "leg") -> list[np.ndarray]:
    return [row for name, row in rows.items() if name.startswith(word)]


@pytest.mark.parametrize("name", ["gough_stewart", "stewart_triangle", "three_upu"])
def test_the_legs_of_a_level_platform_share_its_weight(name: str) -> None:
    entry = get(name)
    found = zw.reactions(entry.system, entry.state, entry.params)
    force = entry.facts["leg_force"].value
    # The legs come first; rows of torsion carry nothing.
    count = sum(item.name.startswith("leg") for item in entry.system.constraints)
    normal = found.solutions[0].normal
    assert normal == pytest.approx([*[force] * count, *[0] * (len(normal) - count)], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["gough_stewart", "stewart_triangle"])
def test_a_platform_without_tilt_is_shaky_at_fichters_yaws_wherever_it_is(name: str) -> None:
    entry, source = get(name), np.random.default_rng(4)
    for yaw in entry.facts["singular_yaws"].value:
        for _ in range(3):
            at = source.normal(size=3) + np.array([0, 0, 2])
            assert rank(legs(rows_at(entry, at=at, turn=((0, 0, 1), yaw)))) == 5
            assert rank(legs(rows_at(entry, at=at, turn=((0, 0, 1), yaw - 0.3)))) == 6
    assert name == "stewart_triangle" or entry.facts["rank_at_singular_yaws"].value == 5


def test_hexagons_that_are_similar_make_a_platform_shaky_everywhere() -> None:
    entry, source = get("gough_stewart"), np.random.default_rng(5)
    alike = {"beta": entry.params["alpha"]}
    for _ in range(3):
        at, yaw = source.normal(size=3) + np.array([0, 0, 2]), source.uniform(-1, 1)
        # Similar hexagons, corresponding corners joined, the platform in any pose: tilted too.
        turn = (tuple(source.normal(size=3)), float(yaw))
        assert rank(legs(rows_at(entry, alike, at, turn))) == 5
        assert rank(legs(rows_at(entry, None, at, turn))) == 6


def test_the_triangle_is_shaky_where_its_plane_contains_both_legs_of_a_corner() -> None:
    entry = get("stewart_triangle")
    height, pitch = entry.state["z_platform"], entry.facts["singular_pitch"].value
    rows = legs(rows_at(entry, at=(0, 0, height), turn=((0, 1, 0), pitch)))
    assert rank(rows) == 5
    # It turns about the line through its other two corners, which lies at x = -r/2 of its own axes.
    twist = np.linalg.svd(np.array(rows))[2][-1]
    assert twist[3:] / np.linalg.norm(twist[3:]) == pytest.approx([0, np.sign(twist[4]), 0], abs=1e-9)
    assert rank(legs(rows_at(entry, at=(0, 0, height), turn=((0, 1, 0), pitch - 0.2)))) == 6


def test_three_upu_legs_hold_the_platforms_turn_unless_their_axes_are_radial_or_the_radii_equal() -> None:
    entry, source = get("three_upu"), np.random.default_rng(6)
    facts, height = entry.facts, entry.state["z_platform"]
    for at in ((0, 0, height), (0, 0, 2 * height)):
        assert rank(legs(rows_at(entry, at=at), "torsion")) == facts["rank_tangential"].value
        assert rank(legs(rows_at(entry, {"delta": 0.0}, at), "torsion")) == facts["rank_radial"].value
        equal = {"r": entry.params["R"]}
        assert rank(legs(rows_at(entry, equal, at), "torsion")) == facts["rank_equal_radii"].value
    # Their rows are the moments n = l - (u . l) u, wherever the platform slides.
    at = source.normal(size=3)
    rows = legs(rows_at(entry, at=at), "torsion")
    for k, row in enumerate(rows):
        angle = 2 * np.pi * k / 3
        out, u = np.array([math.cos(angle), math.sin(angle), 0]), np.array([-math.sin(angle), math.cos(angle), 0])
        leg = at + (entry.params["r"] - entry.params["R"]) * out
        assert row == pytest.approx([0, 0, 0, *(u * (u @ leg) - leg)], abs=1e-12)


def delta_pose(theta: float) -> dict[str, float]:
    p = get("delta").params
    reach = p["R"] - p["r"] + p["a"] * math.cos(theta)
    z = -p["a"] * math.sin(theta) - math.sqrt(max(p["l"] ** 2 - reach**2, 0.0))
    return {"x": 0.0, "y": 0.0, "z": z, **{f"theta{k}": theta for k in (1, 2, 3)}}


def test_the_delta_robot_falls_as_its_closed_form_and_is_singular_flat_and_stretched() -> None:
    robot = get("delta")
    assert robot.state["z"] == robot.facts["height"].value
    accelerations = numbers(robot).solve()[0]
    assert accelerations == pytest.approx(
        [0, 0, accelerations[2], *[robot.facts["arm_acceleration"].value] * 3], rel=1e-10, abs=1e-10
    )
    flat = numbers(robot, delta_pose(robot.facts["flat_angle"].value))
    assert np.abs(flat.value).max() < 1e-15
    assert np.abs(flat.rows[:, 2]).max() < 1e-7  # the square root of what is rounded in the height
    assert rank(list(numbers(robot).rows[:, :3])) == 3
    stretched = numbers(robot, delta_pose(robot.facts["stretched_angle"].value))
    assert np.abs(stretched.value).max() < 1e-15
    assert np.abs(stretched.rows[:, 3:]).max() < 1e-14


def test_the_planar_platform_is_shaky_where_its_rods_meet_in_a_point() -> None:
    platform = get("three_rrr")
    turning = np.array([0, 0, platform.facts["transmission"].value, 1, 1, 1])
    assert numbers(platform).rows @ turning == pytest.approx(np.zeros(3), abs=1e-14)
    alpha, phi = platform.facts["concurrent_pose"].value
    turns = {f"alpha{k + 1}": alpha + 2 * math.pi * k / 3 for k in range(3)}
    found = numbers(platform, {"x": 0.0, "y": 0.0, "phi": phi, **turns})
    assert np.abs(found.value).max() < 1e-15
    assert rank(list(found.rows[:, :3])) == 2
    assert np.abs(found.rows[:, 2]).max() < 1e-15
    assert rank(list(numbers(platform).rows[:, :3])) == 3
    # A corner at the distance a + b of its pivot: that crank has no part in its rod's row.
    p, far = platform.params, platform.facts["stretched_distance"].value
    out = {"x": p["R"] + far - p["r"], "y": 0.0, "phi": 0.0, "alpha1": 0.0}
    stretched = numbers(platform, out)
    assert abs(stretched.value[0]) < 1e-15
    assert abs(stretched.rows[0, 3]) < 1e-15


def test_the_spatial_four_bar_has_two_branches_that_cross_where_the_crank_meets_the_rockers_axis() -> None:
    bars = get("rssr")
    space = zw.trace(bars.system, bars.params)
    found = sorted((point.state["alpha"], point.state["gamma"]) for point in space.singular_points)
    expected = bars.facts["singular_poses"].value
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-8)
    assert space.components == 1
    assert {point.kind for point in space.singular_points} == {"crossing"}
    k, slope = bars.facts["half_tangent"].value, bars.facts["crossing_slope"].value
    assert slope == -2 * k
    for gamma in np.linspace(0, 2 * np.pi, 9):
        for alpha in (0.0, 2 * math.atan(k * math.cos(gamma))):
            assert abs(numbers(bars, {"alpha": alpha, "gamma": gamma}).value[0]) < 1e-15


def test_the_forces_of_the_table_have_the_ranges_of_the_closed_form() -> None:
    table = get("incline_table")
    found = zw.reactions(table.system, table.state, table.params)
    (solution,) = found.solutions
    down, up = table.facts["downhill"].value, table.facts["uphill"].value
    # Cone programs close their gap to 1e-8 of the load of 94 N.
    assert solution.ranges.normal == pytest.approx(np.array([down, down, up, up]), abs=1e-6)
    assert solution.dimension == table.facts["dimension"].value
    assert set(solution.modes) == {"stick"}
    for slope, mode in ((-1e-3, "stick"), (1e-3, "slip")):
        steep = {**table.params, "beta": table.facts["slides_above"].value + slope}
        state = {**table.state, "z_table": table.params["h"], "v_x_table": 0.0 if slope < 0 else 1e-3}
        assert set(zw.reactions(table.system, state, steep).solutions[0].modes) == {mode}
    high = {**table.params, "mu": 5.0, "beta": table.facts["tips_above"].value - 1e-3}
    tips = zw.reactions(table.system, table.state, high).solutions[0]
    assert tips.ranges.normal[2, 1] == pytest.approx(0, abs=0.1)


def test_the_box_pushes_the_wedge_as_the_closed_form_says() -> None:
    wedge = get("wedge_box")
    names = [item.name for item in wedge.system.coordinates]
    for mu, fact in ((wedge.params["mu"], "wedge_acceleration"), (0.0, "smooth_wedge_acceleration")):
        found = zw.reactions(wedge.system, wedge.state, {**wedge.params, "mu": mu})
        assert found.accelerations[0, names.index("slide")] == pytest.approx(wedge.facts[fact].value, rel=1e-9)
    sliding = zw.reactions(wedge.system, wedge.state, wedge.params)
    assert sliding.solutions[0].normal.sum() == pytest.approx(wedge.facts["normal_force"].value, rel=1e-9)
    assert wedge.facts["friction_that_holds"].value == math.tan(wedge.params["beta"])
    resting = {key: 0.0 if key.startswith("v_") else value for key, value in wedge.state.items()}
    rough = {**wedge.params, "mu": wedge.facts["friction_that_holds"].value + 0.05}
    held = zw.reactions(wedge.system, resting, rough)
    assert np.abs(held.accelerations).max() < 1e-12
    assert {mode for solution in held.solutions for mode in solution.modes} == {"stick"}


def test_the_disc_goes_round_steadily_without_friction_and_lies_down_in_the_end() -> None:
    disc = get("euler_disc")
    smooth = {**disc.params, "M_c": 0.0}
    assert numbers(disc, params=smooth).solve()[0] == pytest.approx(np.zeros(5), abs=1e-9)
    theta, end, power = disc.state["theta"], disc.facts["end"].value, disc.facts["exponent"].value
    assert disc.state["v_psi"] == disc.facts["around"].value
    motion = zw.simulate(disc.system, disc.state, disc.params, until=0.6 * end)
    for part in (0.3, 0.6):
        # Its law is that of small inclinations, and it nods by some percent.
        assert motion.at(part * end)["theta"] == pytest.approx(theta * (1 - part) ** power, rel=0.05)
