"""Motions through singular points: when they are met, which way is straight on, and what is said where none is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang._simulate import stretch
from zwang.gallery import pendulum_on_ellipse

TOUCHING = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
"""Two circles of configurations that touch (k = r1/r2^2 = 1, r1 > 1)."""


def start(name: str, params: dict, label: int = 1, phi: float = -0.3, rate: float = 0.42) -> dict[str, float]:
    system = zw.gallery.get(name).system
    everything = pendulum_on_ellipse.place(params, phi, rate, label)
    return {item.name: everything[item.name] for item in (*system.coordinates, *system.velocities)}


def label_of(state: dict[str, float]) -> int:
    """The sign of the angle CAB of the pendulum in Cartesian coordinates."""
    return int(np.sign(state["x_C"] * state["y_B"] - state["y_C"] * state["x_B"]))


def test_chain_of_four_bars_goes_straight_through_its_horizontal_position():
    # Published reference of the benchmark N-four-bar (N = 2, t = 10): B0 and its velocity.
    entry = zw.gallery.get("n_four_bar")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=10.0, at_singular="straight")
    end = np.array([motion.end[name] for name in ("x_B0", "y_B0", "v_x_B0", "v_y_B0")])
    expected = [0.3284581115408154, 0.944518538178601, 1.423051470206944, -0.494868845487043]
    assert np.abs(end - expected).max() < 2e-9
    assert motion.status.name == "REACHED"
    first = motion.events.of("singular")[0]
    assert first.time == pytest.approx(0.714355529292960, abs=1e-11)
    assert np.ptp(motion.energy["total"]) < 1e-8


def test_singular_instant_does_not_depend_on_the_steps():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    times = [
        zw.simulate(entry.system, entry.state, entry.params, until=2.0, tol=tol).events[0].time
        for tol in (1e-4, 1e-8, 1e-12)  # order 8: steps from about ten times larger to smaller
    ]
    assert times[1] == pytest.approx(times[2], abs=1e-9)
    sharp = zw.simulate(entry.system, entry.state, entry.params, until=2.0, tol=1e-13).events[0].time
    assert times[2] == pytest.approx(sharp, abs=1e-11)


@pytest.mark.parametrize("name", ["ellipse_pendulum", "ellipse_pendulum_cartesian"])
def test_point_where_a_motion_stops_is_the_singular_point_itself(name):
    entry = zw.gallery.get(name)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=5.0)
    assert motion.status.name == "SINGULAR"
    # Closed form: the pendulum is folded there, C at the vertex (1, 0) and B at (2, 0).
    folded = {"phi": 0.0, "psi": np.pi, "x_B": 2.0, "y_B": 0.0, "x_C": 1.0, "y_C": 0.0}
    for coordinate in motion.coordinates:
        assert motion.end[coordinate] == pytest.approx(folded[coordinate], abs=1e-13)
    assert len(motion.continuations) == 3
    assert [event.kind for event in motion.events] == ["singular"]


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_label_changes_where_branches_cross(label, tilt):
    # Errata of Burian 2017: the smooth branches of the transversal case are those on which the label changes.
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, "tilt": tilt}
    state = start(entry.name, params, label)
    motion = zw.simulate(entry.system, state, params, until=1.5, at_singular="straight")
    passed = motion.events.of("singular")
    assert len(passed) == 1
    before, after = (label_of(motion.at(passed[0].time + shift)) for shift in (-0.2, 0.2))
    assert (before, after) == (label, -label)
    assert np.ptp(motion.energy["total"]) < 1e-11
    assert motion.drift < 1e-11


@pytest.mark.parametrize("name", ["ellipse_pendulum", "ellipse_pendulum_cartesian"])
@pytest.mark.parametrize("label", [1, -1])
def test_tangency_stops_and_names_both_continuations(name, label):
    entry = zw.gallery.get(name)
    params = {**entry.params, **TOUCHING}
    motion = zw.simulate(entry.system, start(name, params, label), params, until=5.0, at_singular="straight")
    assert motion.status.name == "SINGULAR"
    assert "tangency" in motion.reason
    assert len(motion.continuations) == 2
    one, other = (np.array([way.state[v] for v in motion.velocities]) for way in motion.continuations)
    assert one == pytest.approx(other, abs=1e-9)
    assert one == pytest.approx([motion.end[v] for v in motion.velocities], abs=1e-9)


def test_a_continuation_is_a_state_to_go_on_from():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=5.0)
    labels = set()
    for way in motion.continuations:
        further = zw.simulate(entry.system, way.state, entry.params, until=1.2)
        assert further.status.name == "REACHED"
        assert np.ptp(further.energy["total"]) < 1e-11
        assert further.energy["total"][0] == pytest.approx(motion.energy["total"][0], abs=1e-11)
        labels.add((label_of(further.end), round(np.sign(further.end["y_C"]))))
    assert len(labels) == 3


def test_rule_that_chooses_a_branch_is_followed_with_the_speed_kept():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    seen = []

    def other_curve(ways):
        seen.append(len(ways))
        directions = [np.array([way.state[f"v_{c}"] for c in ("x_B", "y_B", "x_C", "y_C")]) for way in ways]
        forward = [k for k, v in enumerate(directions) if v[1] > 0]
        return max(forward, key=lambda k: directions[k][1])

    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.2, at_singular=other_curve)
    assert seen == [4]
    assert motion.status.name == "REACHED"
    assert label_of(motion.end) == 1  # it kept its label: the kinked way
    assert np.ptp(motion.energy["total"]) < 1e-11
    twice = np.flatnonzero(np.diff(motion.t) == 0)
    assert len(twice) == 1  # the velocity jumped at the point


def test_rule_that_returns_nonsense_is_told_what_it_gets():
    entry = zw.gallery.get("ellipse_pendulum")
    with pytest.raises(zw.DeclarationError, match="gets 4 continuations and returns one of them"):
        zw.simulate(entry.system, entry.state, entry.params, until=2.0, at_singular=lambda ways: 17)
    stopped = zw.simulate(entry.system, entry.state, entry.params, until=2.0, at_singular=lambda ways: None)
    assert stopped.status.name == "SINGULAR"


def test_start_at_rest_at_a_singular_point_stops_at_once():
    entry = zw.gallery.get("ellipse_pendulum")
    state = {"phi": 0.0, "psi": np.pi, "v_phi": 0.0, "v_psi": 0.0}
    motion = zw.simulate(entry.system, state, entry.params, until=1.0, at_singular="straight")
    assert motion.status.name == "SINGULAR"
    assert "no half-branch leaves it along the velocity" in motion.reason
    assert len(motion.continuations) == 4


def test_a_motion_that_turns_back_before_the_point_goes_on():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    # Gravity pulls C away from the vertex: too slow a start turns before it. (The x axis points down.)
    params = {**entry.params, "g": -1.0}
    state = start(entry.name, params, 1, phi=-0.05, rate=0.01)
    motion = zw.simulate(entry.system, state, params, until=1.0, at_singular="straight")
    assert motion.status.name == "REACHED"
    assert not motion.events.of("singular")
    assert motion.end["y_C"] < state["y_C"]
    assert np.ptp(motion.energy["total"]) < 1e-10


def test_user_events_are_seen_next_to_the_point():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    y = entry.system.coordinates[3]
    near = zw.Event(y - 0.001, name="just beyond")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, at_singular="straight", events=[near])
    kinds = [event.kind for event in motion.events]
    assert kinds == ["singular", "user"]
    assert motion.at(motion.events[1].time)["y_C"] == pytest.approx(0.001, abs=1e-13)
    stop = zw.Event(y - 0.001, name="just beyond", stop=True)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, at_singular="straight", events=[stop])
    assert motion.end["y_C"] == pytest.approx(0.001, abs=1e-13)


def test_dense_output_is_sharp_inside_the_passage():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.2, at_singular="straight")
    model = zw.compile(entry.system)
    for time in np.linspace(0.6, 0.7, 7):
        assert model.check(motion.at(time), entry.params) < 1e-9


@pytest.mark.parametrize("label", [1, -1])
def test_steps_that_crawl_in_front_of_a_crossing_are_led_through_it(label: int) -> None:
    # On one of the two branches the steps shrink without ever failing, and projecting takes the speed away.
    entry = zw.gallery.get("ellipse_pendulum")
    everything = zw.gallery.pendulum_on_ellipse.place(entry.params, -0.3, 0.42, label)
    state = {name: everything[name] for name in entry.state}
    motion = zw.simulate(entry.system, state, entry.params, until=1.2, at_singular="straight")
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["singular"]
    assert len(motion.t) < 200
    total = motion.energy["total"]
    assert np.abs(total - total[0] - sum(motion.work.values())).max() < 1e-8


@pytest.mark.parametrize("chunk", [5, 40, 41, 43])
def test_passages_do_not_depend_on_where_stretches_end(
    chunk: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A stretch that ends in front of the point leaves steps without any length; a dip may begin in the one before.
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    options = {"until": 5.0, "at_singular": "straight"}
    expected = zw.simulate(entry.system, entry.state, entry.params, **options)
    monkeypatch.setattr(stretch, "CHUNK", chunk)
    motion = zw.simulate(entry.system, entry.state, entry.params, **options)
    assert motion.status.name == "REACHED"
    assert [event.time for event in motion.events] == pytest.approx([event.time for event in expected.events], abs=1e-9)
    assert motion.q[-1] == pytest.approx(expected.q[-1], abs=1e-7)
    zw.simulate(entry.system, entry.state, entry.params, **options, out=tmp_path / "motion.npz")
    again = zw.load_result(tmp_path / "motion.npz")
    assert again.t.tolist() == motion.t.tolist() and again.q.tolist() == motion.q.tolist()
    assert [event.time for event in again.events] == [event.time for event in motion.events]


@pytest.mark.parametrize("tol", [1e-10, 1e-12, 1e-13, 1e-14])
def test_a_tangency_is_found_at_every_tolerance(tol: float) -> None:
    # Rounding grows with the multipliers: at sharp tolerances steps crawl long before the branches meet.
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, "r1": 1.5625, "r2": 1.25, "a": -0.5625}
    guess = {"x_C": 0.9557, "y_C": -0.2956, "x_B": 1.9214, "y_B": -0.5550}
    speeds = {"v_x_C": 0.1223, "v_y_C": 0.402, "v_x_B": 0.2043, "v_y_B": 0.7074}
    state = zw.compile(entry.system).project({**guess, **speeds}, params)
    motion = zw.simulate(entry.system, state, params, until=1.2, tol=tol)
    assert motion.status.name == "SINGULAR" and len(motion.t) < 500
    assert motion.t[-1] == pytest.approx(0.680412436808, abs=1e-11)  # the same instant at all tolerances


@pytest.mark.parametrize("tol", [1e-3, 1e-4, 1e-6])
def test_coarse_motions_stop_at_the_singular_point_and_not_before_it(tol: float) -> None:
    entry = zw.gallery.n_four_bar(2)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0, tol=tol)
    (event,) = motion.events
    assert event.kind == "singular" and len(motion.continuations) >= 5
    assert event.time == pytest.approx(entry.facts["first_singular_instant"].value, abs=10 * tol)
    # The cranks lie on the line of pivots.
    assert max(abs(motion.end[f"y_B{i}"]) for i in range(3)) < 1e-12
