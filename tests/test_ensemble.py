"""Large ensembles of smooth motions through the verb: ends side by side, each motion as a whole when asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from c_backend import on_a_device
from night import by_day
from zwang._kernels import Service
from zwang._numerics.pace import portions
from zwang._results.ensemble import Ensemble, LaterMotions
from zwang._simulate import ensemble_run
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 9.81}


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "lanes_from", 0)
    monkeypatch.setattr(ensemble_run, "MANY", 4)


def states(count: int) -> dict[str, np.ndarray]:
    found = [place(PARAMS, float(angle), 0.42) for angle in np.linspace(-0.5, -0.1, count)]
    return {name: np.array([item[name] for item in found]) for name in ENTRY.state}


def moved(count: int = 6, **more: object) -> Ensemble:
    found = zw.simulate(ENTRY.system, states(count), PARAMS, until=1.0, **more)
    assert isinstance(found.motions, LaterMotions)
    return found


def test_ends_agree_with_the_motions_that_are_computed_when_asked_for() -> None:
    found = moved(tol=1e-11)
    assert found.statuses.tolist() == ["REACHED"] * 6
    assert set(found.motions.known) == {0}  # the first one shows which mode it is
    assert found.end["t"].tolist() == [1.0] * 6
    motion = found[4]
    assert set(found.motions.known) == {0, 4}
    assert found[4] is motion
    for name in (*motion.coordinates, *motion.velocities):
        assert found.end[name][4] == pytest.approx(motion.end[name], abs=1e-11)
        assert found.at(0.37)[name][4] == pytest.approx(motion.at(0.37)[name], abs=1e-10)
    assert np.ptp(motion.energy["total"]) < 1e-10
    assert np.isnan(found.at(1.5)["x_B"]).all()
    assert repr(found) == "Ensemble of 'ellipse_pendulum_cartesian': 6 motions of shape (6,) (6 REACHED), 0 events"


def test_motions_that_meet_a_singular_point_are_computed_by_themselves() -> None:
    # The parameters of the gallery are critical: there the pendulum folds before 2 s.
    a = np.array([[-0.4, -0.4, ENTRY.params["a"]], [-0.41, -0.42, -0.43]])
    rows = [place({**PARAMS, "a": value}, -0.3, 0.42) for value in a.flat]
    state = {name: np.array([row[name] for row in rows]).reshape(2, 3) for name in ENTRY.state}
    found = zw.simulate(ENTRY.system, state, {**PARAMS, "a": a}, until=2.0)
    assert isinstance(found.motions, LaterMotions)
    assert found.shape == (2, 3)
    assert found.statuses.tolist() == [["REACHED", "REACHED", "SINGULAR"], ["REACHED"] * 3]
    assert found.status.name == "MIXED"
    assert found[0, 2].events[0].kind == "singular"
    assert found.end["t"][0, 2] == found[0, 2].t[-1] < 2.0
    assert np.isnan(found.at(1.9)["x_B"]).tolist() == [[False, False, True], [False] * 3]
    straight = zw.simulate(ENTRY.system, state, {**PARAMS, "a": a}, until=2.0, at_singular="straight")
    assert straight.statuses[0, 2] == "REACHED"
    assert straight[0, 2].events[0].kind == "singular"


def test_inadmissible_entry_is_named() -> None:
    state = states(6)
    state["x_B"][3] += 0.1
    with pytest.raises(zw.StateError, match=r"off constraint .*\(entry \[3\] of the arrays\)"):
        zw.simulate(ENTRY.system, state, PARAMS, until=1.0)


def test_events_that_stop_nothing_leave_the_motions_side_by_side() -> None:
    y = ENTRY.system.coordinates[3]
    found = moved(4, events=[zw.Event(y + 0.08, name="level")])
    assert found.end["t"].tolist() == [1.0] * 4
    assert len(found[2].events) > 0
    assert repr(found).endswith("2 events in the 2 that are computed whole")


def test_events_that_change_something_go_one_by_one() -> None:
    y, v = ENTRY.system.coordinates[3], ENTRY.system.velocities[3]
    event = zw.Event(y + 20, name="never", then=zw.Reset({v: 0}))
    found = zw.simulate(ENTRY.system, states(4), PARAMS, until=0.2, events=[event])
    assert isinstance(found.motions, tuple)


def oscillator() -> zw.System:
    (x,), (v,) = zw.coordinates("x")
    return zw.System(name="oscillator", coordinates=[x], kinetic=v**2 / 2, potential=x**2 / 2)


def crossing(x: float, v: float, level: float, direction: int) -> float:
    """Return when an oscillator is first at a level, in closed form; inf if never."""
    size, phase = float(np.hypot(x, v)), float(np.arctan2(v, x))
    if size <= abs(level):
        return float("inf")
    at = float(np.arccos(level / size))
    ways = [(phase + at, -1), (phase - at, 1)]
    times = [(time + 2 * np.pi * k, way) for time, way in ways for k in range(-2, 4)]
    return min(time for time, way in times if time > 1e-12 and direction in (0, way))


DEVICES = ["native", "lanes in c", "cuda"]


# Numba takes eight seconds for the lanes of each direction, of the same text as in C.
@pytest.mark.parametrize(
    ("device", "direction"),
    by_day(
        [(device, direction) for device in DEVICES for direction in (0, 1, -1)],
        [(device, direction) for device in DEVICES[1:] for direction in (0, 1, -1)],
    ),
)
def test_an_event_stops_motions_side_by_side_where_it_does_in_closed_form(device: str, direction: int) -> None:
    model = zw.compile(oscillator(), device if device == "native" else on_a_device(device))
    rng = np.random.default_rng(5)
    x, v = rng.uniform(-1, 1, 200), rng.uniform(-1, 1, 200)
    x[3], v[3] = 0.3, -0.4  # at the level
    x[4], v[4] = 1e-6, 2e-6  # small
    x[5], v[5] = 0.3 + 1e-4, 0.0  # turns right behind it
    place = oscillator().coordinates[0]
    found = zw.simulate(
        model, {"x": x, "v_x": v}, until=9.0, tol=1e-12, events=[zw.Event(place - 0.3, direction=direction, stop=True)]
    )
    assert isinstance(found.motions, LaterMotions)
    assert len(found.motions.known) < 20  # few are in doubt
    expected = np.array([min(9.0, crossing(a, b, 0.3, direction)) for a, b in zip(x, v, strict=True)])
    assert found.end["t"] == pytest.approx(expected, abs=1e-10)
    stopped = expected < 9.0
    assert found.end["x"][stopped] == pytest.approx(0.3, abs=1e-11)
    later = found.at([0.5, 5.0])["x"]
    assert np.isnan(later).tolist() == [(expected < time).tolist() for time in (0.5, 5.0)]
    assert found[7].end["t"] == pytest.approx(found.end["t"][7], abs=1e-10)


@pytest.mark.parametrize("device", by_day(DEVICES, DEVICES[1:]))
def test_the_first_of_several_events_stops_a_motion_on_constraints(device: str) -> None:
    model = zw.compile(ENTRY.system, device if device == "native" else on_a_device(device))
    x, y = ENTRY.system.coordinates[2:4]
    events = [zw.Event(y + 0.06, direction=1, stop=True), zw.Event(x - 1.09, stop=True), zw.Event(x - y - 2)]
    found = zw.simulate(model, states(40), PARAMS, until=1.0, events=events)
    assert isinstance(found.motions, LaterMotions)
    assert 1.0 > found.end["t"].min() > 0.0
    for k in range(0, 40, 7):
        alone = zw.simulate(ENTRY.system, {name: row[k] for name, row in states(40).items()}, PARAMS, until=1.0,
                            events=events)  # fmt: skip
        assert found.end["t"][k] == pytest.approx(alone.end["t"], abs=1e-9)
        assert found.end["x_B"][k] == pytest.approx(alone.end["x_B"], abs=1e-8)


@pytest.mark.parametrize(
    ("device", "rate"),
    by_day(
        [(device, rate) for device in DEVICES for rate in (30.0, 400.0)], [("lanes in c", 30.0), ("lanes in c", 400.0)]
    ),
)
def test_a_fast_event_is_not_passed_over_between_samples(device: str, rate: float) -> None:
    time, (place,) = zw.t, oscillator().coordinates
    event = zw.Event(sp.cos(rate * time) - sp.Rational(1, 2) + 0 * place, stop=True)
    x = np.linspace(0.1, 1.0, 40)
    model = zw.compile(oscillator(), device if device == "native" else on_a_device(device))
    found = zw.simulate(model, {"x": x, "v_x": 0.0}, until=2.0, events=[event])
    assert found.end["t"] == pytest.approx(np.pi / 3 / rate, abs=1e-9)


@pytest.mark.parametrize("device", by_day(DEVICES, DEVICES[1:]))
def test_lanes_keep_small_motions_as_accurate_as_large_ones(device: str) -> None:
    x = np.geomspace(1e-9, 1e9, 37)
    model = zw.compile(oscillator(), device if device == "native" else on_a_device(device))
    found = zw.simulate(model, {"x": x, "v_x": 0.0}, until=3.0)
    assert isinstance(found.motions, LaterMotions)
    assert set(found.motions.known) == {0}
    assert found.end["x"] / x == pytest.approx(np.cos(3.0), abs=1e-9)


def test_saved_ensemble_holds_every_motion(tmp_path: Path) -> None:
    found = moved(4)
    again = zw.load_result(found.save(tmp_path / "many.npz"))
    assert isinstance(again.motions, tuple)
    assert again.end["x_B"] == pytest.approx(found.end["x_B"], abs=1e-9)
    assert again.residual.max() < 1e-9


def test_interrupted_ensemble_keeps_what_was_computed() -> None:
    def interrupt(_: float) -> None:
        calls.append(1)
        if len(calls) == 10:
            raise KeyboardInterrupt

    calls: list[int] = []
    with portions(lambda: 5):
        found = zw.simulate(ENTRY.system, states(60), PARAMS, until=1.0, progress=interrupt)
    assert 0 < len(found) < 60
    assert found.status.name == "MIXED"
    assert set(found.statuses) == {"REACHED"}
    assert found.end["t"].tolist() == [1.0] * len(found)


def test_arrays_give_an_ensemble_by_time_stepping_too() -> None:
    ball = zw.gallery.get("bouncing_ball")
    heights = np.array([[0.5, 1.0], [2.0, 4.0], [0.3, 0.1]])
    options = {"until": 0.5, "method": "timestepping", "step": 1e-3}
    found = zw.simulate(ball.system, {"y": heights, "v_y": 0.0}, ball.params, **options)
    assert isinstance(found, Ensemble) and found.shape == (3, 2) and found.status.name == "REACHED"
    for place_in, height in np.ndenumerate(heights):
        alone = zw.simulate(ball.system, {"y": height, "v_y": 0.0}, ball.params, **options)
        assert np.array_equal(found[place_in].q, alone.q) and np.array_equal(found[place_in].v, alone.v)
    with pytest.raises(zw.StateError, match=r"violates constraint 'floor'.*\(entry \[1\] of the arrays\)"):
        zw.simulate(ball.system, {"y": [1.0, -1.0], "v_y": 0.0}, ball.params, **options)


def test_an_ensemble_by_time_stepping_has_one_budget() -> None:
    ball = zw.gallery.get("bouncing_ball")
    options = {"until": 0.5, "method": "timestepping", "step": 1e-3, "budget": {"steps": 1200}}
    found = zw.simulate(ball.system, {"y": np.arange(1.0, 7.0), "v_y": 0.0}, ball.params, **options)
    # Each takes 500 steps: the third finds 200 of them.
    assert found.statuses.tolist() == ["REACHED", "REACHED", "UNFINISHED"]
    assert "1,200 steps" in found.reason


def test_states_at_many_times_have_the_axis_of_times_first() -> None:
    found = moved(tol=1e-11)
    times = [0.75, 0.0, 0.25, 1.5]
    several = found.at(times)
    assert several["x_B"].shape == (4, 6)
    assert several["t"][:, 0].tolist() == times
    assert np.isnan(several["x_B"][3]).all()
    for k in (0, 1, 2):
        alone = found.at(times[k])
        assert several["v_y_C"][k] == pytest.approx(alone["v_y_C"], abs=1e-10)
        assert alone["v_y_C"] == pytest.approx([motion.at(times[k])["v_y_C"] for motion in found], abs=1e-10)


def test_times_that_are_none_are_refused() -> None:
    with pytest.raises(zw.StateError, match="at takes a time or a list of times"):
        moved().at([0.1, np.nan])
