"""`zwang reactions`: one state, maps, and states that follow a constraint while a coordinate is varied."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import zwang as zw
from zwang._reactions.holding import hold, slips_of
from zwang._results.loading import load_result
from zwang.cli import main

# The numbers for the uniform rod: m = l = 1, g = 9.81, 60 degrees, tip velocity -1.
ONE_SOLUTION = 51.3198048696
SPINNING_NORMAL, SPINNING_GAP = 58.9396814800, 4.0464064606


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["reactions", *arguments])


def read(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# --- one state -------------------------------------------------------------------------------------------------------


def test_one_solution_is_printed_as_a_table() -> None:
    result = run("painleve_rod")
    assert result.exit_code == 0
    assert result.stdout.startswith("Reactions of 'painleve_rod': UNIQUE.")
    assert "tip slip-   force 51.3198" in result.stdout
    assert result.stderr == ""


def test_the_paradox_has_no_answer_and_the_report_says_why() -> None:
    result = run("painleve_rod", "--param", "mu=1.4")
    assert result.exit_code == 1
    assert "NONE. No reaction satisfies the laws at this state." in result.stdout
    assert "rejected: pulls" in result.stdout and "rejected: penetrates" in result.stdout


def test_the_paradox_as_json_is_valid_and_has_code_1() -> None:
    result = run("painleve_rod", "--param", "mu=1.4", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["status"] == "NONE" and found["solutions"] == [] and found["complete"] is True
    assert {item["reason"] for item in found["rejected"]} == {"pulls", "penetrates"}
    assert found["residual"] is None  # nothing was found whose error could be told


def test_json_has_the_numbers_of_the_solutions() -> None:
    found = read("painleve_rod")
    (solution,) = found["solutions"]
    assert solution["normal"] == pytest.approx([ONE_SOLUTION])
    assert solution["modes"] == {"tip": "slip-"}
    assert found["digest"] == zw.gallery.get("painleve_rod").system.digest


def test_two_solutions_of_the_spinning_rod() -> None:
    spin = 4.0
    s, c = math.sin(math.pi / 3), math.cos(math.pi / 3)
    state = (f"v_x={-1 - s * spin!r}", f"v_y={c * spin!r}", f"v_theta={spin}")
    found = read("painleve_rod", "--param", "mu=1.4", "--state", *state)
    assert found["status"] == "MULTIPLE"
    assert max(item["normal"][0] for item in found["solutions"]) == pytest.approx(SPINNING_NORMAL)
    assert max(item["gap_acceleration"][0] for item in found["solutions"]) == pytest.approx(SPINNING_GAP)


def test_the_same_state_is_reached_by_holding_the_tip() -> None:
    arguments = ("--hold", "tip", "--follow", "x", "--follow", "y", "--slip", "tip=-1", "--state", "v_theta=4")
    found = read("painleve_rod", *arguments, "--param", "mu=1.4")
    assert max(item["normal"][0] for item in found["solutions"]) == pytest.approx(SPINNING_NORMAL)
    assert found["state"]["v_theta"] == 4


def test_an_inadmissible_state_has_code_1() -> None:
    result = run("painleve_rod", "--state", "v_y=-1")
    assert result.exit_code == 1
    assert "an impact is due" in result.stderr
    assert result.stdout == ""


def test_angles_may_be_in_degrees() -> None:
    plain = read("painleve_rod", "--state", "theta=pi/3")
    degrees = read("painleve_rod", "--degrees", "--state", "theta=60")
    assert degrees["state"]["theta"] == pytest.approx(plain["state"]["theta"], rel=1e-15)


def test_a_result_is_saved_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, picture = tmp_path / "rod.npz", tmp_path / "rod.png"
    result = run("painleve_rod", "--out", str(out), "--plot", str(picture))
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [f"wrote {out}", f"wrote {picture}"]
    assert load_result(out).solutions[0].normal == pytest.approx([ONE_SOLUTION])
    assert picture.read_bytes().startswith(b"\x89PNG")


# --- maps ------------------------------------------------------------------------------------------------------------

MAP = ("painleve_rod", "--hold", "tip", "--degrees", "--map", "mu=0:3:31", "theta=1:89:23")


def expected_counts(mu: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """The closed form: one solution where (k + cos^2) > mu sin cos (k = 1/3), else none (no spin, so g > 0)."""
    s, c = np.sin(theta), np.cos(theta)
    return np.where(1 / 3 + c**2 - mu * s * c > 0, 1, 0)


def test_a_map_over_friction_and_angle_is_that_of_the_closed_form() -> None:
    found = read(*MAP)
    mu, theta = np.array(found["values"]["mu"]), np.array(found["values"]["theta"])
    assert found["axes"] == ["mu", "theta"]
    assert theta[[0, -1]] == pytest.approx(np.radians([1, 89]))
    np.testing.assert_array_equal(found["counts"], expected_counts(mu[:, None], theta))
    assert found["statuses"][found["codes"][0][0]] == "UNIQUE"
    assert sum(found["shares"].values()) == 31 * 23


def test_ranges_after_one_option_or_each_after_its_own_are_the_same() -> None:
    again = read("painleve_rod", "--hold", "tip", "--degrees", "--map", "mu=0:3:31", "--map=theta=1:89:23")
    assert again["counts"] == read(*MAP)["counts"]


def test_a_map_is_summed_up_saved_and_drawn_in_degrees(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, picture = tmp_path / "map.npz", tmp_path / "map.svg"
    result = run(*MAP, "--out", str(out), "--plot", str(picture))
    assert result.exit_code == 0
    assert "713 states of shape (31, 23)" in result.stdout
    saved = zw.load_result(out)
    assert "mu" in saved.axes[0] and "theta" in saved.axes[1]
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_map_with_spin_and_a_given_slip_shows_none_one_and_two() -> None:
    found = read(*MAP, "--slip", "tip=-1", "--state", "v_theta=3.3")
    assert {0, 1, 2} == set(np.unique(found["counts"]))


def test_a_map_over_a_velocity_keeps_the_constraint_and_frees_the_slip() -> None:
    found = read("painleve_rod", "--hold", "tip", "--map", "v_x=-2:2:9", "--param", "mu=1.4")
    # sliding one way is the paradox of 60 degrees (mu > 7/(3 sqrt 3) = 1.347), the other way and at rest it is not
    assert found["counts"] == [0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_states_off_their_constraint_are_counted_and_the_cure_is_named() -> None:
    result = run("painleve_rod", "--map", "theta=0:pi/2:10")
    assert result.exit_code == 0
    assert (
        "3 of 10 states violate a constraint; --hold keeps one closed along the map (constraints: tip)" in result.stderr
    )


def test_a_map_without_any_admissible_state_has_code_1() -> None:
    result = run("painleve_rod", "--map", "theta=1.2:1.5:4")
    assert result.exit_code == 1
    assert "INADMISSIBLE" in result.stdout


def test_three_ranges_are_counted_but_not_drawn(tmp_path: Path) -> None:
    ranges = ("--map", "mu=0:1:2", "m=1:2:3", "g=1:2:2")
    assert np.shape(read("painleve_rod", *ranges)["counts"]) == (2, 3, 2)
    pytest.importorskip("matplotlib")
    result = run("painleve_rod", *ranges, "--plot", str(tmp_path / "map.png"))
    assert result.exit_code == 2
    assert "a picture needs one or two axes" in result.stderr


# --- holding ---------------------------------------------------------------------------------------------------------


def test_held_states_are_on_their_constraint_with_the_slip_that_was_asked() -> None:
    rod = zw.gallery.get("painleve_rod")
    model = zw.compile(rod.system, "reference")
    theta = np.linspace(0.1, 1.5, 40)
    start = {**rod.state, "theta": theta, "v_theta": 2.0}
    found = hold(model, start, rod.params, ["tip"], fixed=["theta"], slips={"tip": -1.5})
    at = model.evaluate(found, rod.params)
    assert np.abs(at.gaps["tip"]).max() < 1e-12 and np.abs(at.gap_rates["tip"]).max() < 1e-12
    assert at.slips["tip"] == pytest.approx(np.full((1, 40), -1.5))
    np.testing.assert_array_equal(found["theta"], theta)
    np.testing.assert_array_equal(found["v_theta"], np.full(40, 2.0))
    assert slips_of(model, rod.state, rod.params, ["tip"]) == {"tip": -1.0}


def test_two_held_constraints_make_two_coordinates_follow() -> None:
    ladder = zw.gallery.get("ladder")
    model = zw.compile(ladder.system, "reference")
    theta = np.linspace(1.7, 2.8, 7)
    found = hold(model, {**ladder.state, "theta": theta}, ladder.params, ["floor", "wall"], fixed=["theta"])
    length = 2 * ladder.params["l"]
    assert found["x"] == pytest.approx(-length * np.cos(theta)) and found["y"] == pytest.approx(0, abs=1e-12)


def test_the_least_change_is_that_of_the_kinetic_metric() -> None:
    """Two masses on a line that must meet: each moves in inverse proportion to its mass."""
    (a, b), (va, vb) = zw.coordinates("a b")
    system = zw.System(kinetic=(va**2 + 3 * vb**2) / 2, constraints=[zw.Bilateral(a - b, name="glue")])
    state = {"a": 0.0, "b": 4.0, "v_a": 4.0, "v_b": 0.0}
    found = hold(zw.compile(system, "reference"), state, {}, ["glue"])
    assert [float(found[name]) for name in ("a", "b", "v_a", "v_b")] == pytest.approx([3.0, 3.0, 1.0, 1.0])


def test_states_from_which_no_closed_one_is_reached_stay_as_they_were() -> None:
    (x,), (vx,) = zw.coordinates("x")
    c = zw.parameters("c")
    system = zw.System(kinetic=vx**2 / 2, constraints=[zw.Bilateral(x**2 - c, name="curve")])
    model = zw.compile(system, "reference")
    found = hold(model, {"x": 1.0, "v_x": 0.5}, {"c": np.array([4.0, -1.0])}, ["curve"])
    assert found["x"] == pytest.approx([2.0, 1.0])
    assert found["v_x"] == pytest.approx([0.0, 0.5])


def test_a_batch_moves_as_many_states_as_it_must() -> None:
    """Friction is in no held constraint, so the states of a map over it don't depend on it."""
    rod = zw.gallery.get("painleve_rod")
    params = {**rod.params, "mu": np.linspace(0, 1, 50)[:, None]}
    found = hold(
        zw.compile(rod.system, "reference"), {**rod.state, "theta": np.ones(3)}, params, ["tip"], fixed=["theta"]
    )
    assert found["y"].shape == (3,)


def test_slips_in_planes_can_not_be_given() -> None:
    plane = zw.gallery.get("two_particles")
    model = zw.compile(plane.system, "reference")
    with pytest.raises(zw.DeclarationError, match="'particle1' can't be held: it is no constraint with a normal"):
        hold(model, plane.state, plane.params, ["particle1"])
