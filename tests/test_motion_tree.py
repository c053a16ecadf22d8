"""Every continuation: Painleve's rod, singular points, a cradle with its laws; what a tree lists and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from zwang._results.motion_pictures import film_of_tree
from zwang.cli.group import main
from zwang.errors import DeclarationError
from zwang.results import MotionTree

(x, y), (vx, vy) = zw.coordinates("x y")


def on_curve(expr) -> zw.System:
    """Return a unit mass on a curve."""
    return zw.System(name="curve", kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr, name="curve")])


def cradle() -> zw.System:
    """Return three balls in a row."""
    (a, b, c), (va, vb, vc) = zw.coordinates("a b c")
    gaps = [zw.Unilateral(b - a, restitution=1, name="ab"), zw.Unilateral(c - b, restitution=1, name="bc")]
    return zw.System(name="cradle", kinetic=(va**2 + vb**2 + vc**2) / 2, constraints=gaps)


ROW = {"a": -1.0, "b": 0.0, "c": 0.0, "v_a": 1.0, "v_b": 0.0, "v_c": 0.0}


@pytest.fixture(scope="module")
def rod() -> MotionTree:
    """Return the tree of the rod from a state in which it may slip on or lift off."""
    entry = zw.gallery.get("painleve_rod")
    params = {**entry.params, "mu": 1.4}
    guess = {**entry.state, "theta": 1.1, "v_theta": 5.0}
    start = zw.hold(entry.system, guess, params, ["tip"], fixed=["theta"], slips={"tip": -1.0})
    return zw.simulate(entry.system, {k: float(v) for k, v in start.items()}, params, until=0.3, at_choice="every")


def test_the_rod_goes_both_its_ways(rod: MotionTree) -> None:
    assert rod.status.name == "REACHED" and len(rod.motions) == 3 and rod.count == 2
    lifted, slipping = rod.leaves
    assert lifted.taken.startswith("tip open") and slipping.taken.startswith("tip slip-")
    assert [leaf.parent for leaf in rod.leaves] == [0, 0] and rod.motions[0].parent is None
    assert rod.parted(lifted, slipping) == 0.0 == rod.parted(1, 2)
    assert lifted.a[0] == pytest.approx([0, -9.81, 0])
    assert {leaf.status.name for leaf in rod.leaves} == {"REACHED"}
    assert rod.motions[0].status.name == "CHOICE"
    # Another way is open as long as it slips: until the tip leaves the floor.
    ((start, end),) = slipping.could_leave
    assert start == 0.0 and end == pytest.approx(slipping.events.of("lift-off")[0].time, rel=1e-6)
    assert lifted.could_leave == ()


def test_a_tree_agrees_with_the_callable_that_takes_its_ways(rod: MotionTree) -> None:
    entry = zw.gallery.get("painleve_rod")
    for index, leaf in enumerate(rod.leaves):
        alone = zw.simulate(
            entry.system, rod.motions[0].end, leaf.params, until=0.3, at_choice=lambda found, index=index: index
        )
        assert leaf.end == pytest.approx(alone.end, rel=1e-9)


def test_a_tree_is_saved_drawn_and_printed(rod: MotionTree, tmp_path) -> None:
    again = zw.load_result(rod.save(tmp_path / "tree.npz"))
    assert repr(again) == repr(rod) and again.leaves[1].could_leave == rod.leaves[1].could_leave
    assert again.path(2)[0].t[-1] == 0.0
    assert len(rod.plot().texts) == 2
    assert len(rod.plot("y").lines) == 3
    assert "3 motions, 2 leaves: 2 REACHED" in repr(rod)


@pytest.mark.parametrize(("expr", "start", "ways"), [
    (x * y, {"x": -0.5, "y": 0.0, "v_x": 1.0, "v_y": 0.0}, 4),
    (y**2 - x**4, {"x": -0.5, "y": 0.25, "v_x": 1.0, "v_y": -1.0}, 4),
])  # fmt: skip
def test_a_singular_point_has_a_leaf_for_each_of_its_half_branches(expr, start, ways: int) -> None:
    tree = zw.simulate(on_curve(expr), start, until=1.2, at_singular="every")
    assert tree.status.name == "REACHED" and tree.count == ways
    ends = np.array([leaf.q[-1] for leaf in tree.leaves])
    assert all(np.linalg.norm(a - b) > 0.1 for i, a in enumerate(ends) for b in ends[:i])
    energy = [leaf.energy["total"][-1] for leaf in tree.leaves]
    assert energy == pytest.approx([tree.motions[0].energy["total"][0]] * ways, rel=1e-9)
    assert len({tree.parted(0, k) for k in range(1, ways + 1)}) == 1
    assert all(leaf.t[0] == tree.motions[0].t[-1] for leaf in tree.leaves)


def test_a_cradle_has_a_leaf_for_each_law() -> None:
    tree = zw.simulate(cradle(), ROW, until=2.0, at_choice="every")
    assert tree.count == 2 and tree.parted(*tree.leaves) == pytest.approx(1.0, abs=1e-12)
    laws, singly = tree.leaves
    assert laws.taken.startswith("newton, poisson") and singly.taken.startswith("single impacts")
    assert laws.v[-1] == pytest.approx([-1 / 3, 2 / 3, 2 / 3]) and singly.v[-1] == pytest.approx([0, 0, 1], abs=1e-12)
    assert [leaf.events[0].kind for leaf in tree.leaves] == ["impact", "impact"]


def test_most_ends_a_tree_and_says_what_was_left() -> None:
    tree = zw.simulate(cradle(), ROW, until=2.0, at_choice="every", most=2)
    assert tree.status.name == "UNFINISHED" and len(tree) == 2
    assert "1 continuations were not followed: most= 2" in tree.reason


def test_a_budget_that_ends_the_first_motion_leaves_the_tree_unfinished() -> None:
    ball = zw.gallery.get("bouncing_ball")
    for steps in (1, 5):
        found = zw.simulate(
            ball.system, ball.state, ball.params, until=50.0, at_choice="every", budget={"steps": steps}
        )
        assert found.status.name == "UNFINISHED"
        assert "budget" in found.reason


def test_a_motion_without_any_choice_is_a_tree_of_one() -> None:
    ball = zw.gallery.get("bouncing_ball")
    tree = zw.simulate(ball.system, ball.state, ball.params, until=1.0, at_choice="every", at_singular="every")
    alone = zw.simulate(ball.system, ball.state, ball.params, until=1.0)
    assert len(tree) == 1 and tree.leaves[0].end == alone.end


def test_a_paradox_goes_on_by_impact_and_by_springs() -> None:
    entry = zw.gallery.get("painleve_rod")
    params = {**entry.params, "mu": 1.4}
    tree = zw.simulate(entry.system, entry.state, params, until=0.05, at_paradox="every", impact="energetic")
    assert tree.motions[0].status.name == "PARADOX" and tree.count == 2
    first, second = tree.leaves
    assert first.taken == "impact without collision" and "springs" in second.taken
    assert [item.sentence for item in tree.motions[0].continuations] == [first.taken, second.taken]
    assert first.events.of("impact")


def test_sweeps_keep_the_number_of_leaves() -> None:
    study = zw.sweep("simulate", cradle(), ROW, over={"v_a": [1.0, 2.0]}, until=2.0, at_choice="every",
                     keep=("status", "count"))  # fmt: skip
    assert study.values["count"].tolist() == [2, 2] and study.values["status"].tolist() == ["REACHED"] * 2


def test_the_command_line_shows_a_tree(tmp_path) -> None:
    cradle().save(tmp_path / "cradle.toml", state=ROW)
    arguments = ["simulate", str(tmp_path / "cradle.toml"), "--until", "2", "--at-choice", "every"]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0 and "3 motions, 2 leaves" in shown.output
    plain = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert [one["parent"] for one in plain["motions"]] == [None, 0, 0]
    refused = CliRunner().invoke(main, [*arguments, "--film", str(tmp_path / "a.html")])
    assert refused.exit_code != 0 and "--film shows one motion" in refused.output


def test_mistakes_are_named(rod: MotionTree, tmp_path) -> None:
    with pytest.raises(DeclarationError, match="'every' continuation is followed from one state"):
        zw.simulate(cradle(), {**ROW, "v_a": np.array([1.0, 2.0])}, until=1.0, at_choice="every")
    with pytest.raises(DeclarationError, match="'every' continuation is followed from one state"):
        zw.simulate(cradle(), ROW, until=1.0, at_choice="every", out=tmp_path / "a.npz")
    with pytest.raises(DeclarationError, match="most= must be a whole number at least 1"):
        zw.simulate(cradle(), ROW, until=1.0, at_choice="every", most=0)
    with pytest.raises(DeclarationError, match="at_choice= was given 'every', but time stepping"):
        zw.simulate(cradle(), ROW, until=1.0, at_choice="every", method="timestepping")
    with pytest.raises(DeclarationError, match="parted needs two motions"):
        rod.parted(1, 1)
    with pytest.raises(DeclarationError, match="a motion of this tree or its number, 0 to 2"):
        rod.path(7)


@pytest.mark.parametrize("drawn", [False, True])
def test_a_film_of_a_tree_shows_its_leaves_over_each_other(drawn: bool, tmp_path: Path) -> None:
    (a, b, c), (va, vb, vc) = zw.coordinates("a b c")
    drawing = zw.Drawing(points={"A": (a, 0), "B": (b, 0), "C": (c, 0)}, bars=[("A", "B")], traces=["A"])
    cradle = zw.System(
        name="cradle",
        kinetic=(va**2 + vb**2 + vc**2) / 2,
        constraints=[
            zw.Unilateral(b - a, restitution=1, name="ab"),
            zw.Unilateral(c - b, restitution=1, name="bc"),
        ],
        drawing=drawing if drawn else None,
    )
    start = {"a": -1, "b": 0, "c": 0, "v_a": 1, "v_b": 0, "v_c": 0}
    tree = zw.simulate(cradle, start, until=2.0, at_choice="every")
    film = film_of_tree(tree, frames=5)
    assert film.times.tolist() == [0, 0.5, 1, 1.5, 2] and film.scene.places.shape == (5, 6, 2)
    first, second = film.scene.places[:, :3], film.scene.places[:, 3:]
    assert np.abs(first - second)[:3].max() < 1e-12 < np.abs(first - second)[3:].max()
    if drawn:
        assert first[-1, :, 0] == pytest.approx([-1 / 3, 2 / 3, 2 / 3]) and second[-1, :, 0] == pytest.approx([0, 0, 1])
        assert film.scene.bars == ((0, 1), (3, 4)) and film.scene.traces == (0, 3)
    tree.animate(tmp_path / "cradle.html", frames=4)
    assert "cradle: 2 continuations" in (tmp_path / "cradle.html").read_text(encoding="utf-8")
