"""Every singular point on the way of a motion is an event, whatever the size of the system and the way of computing."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from c_backend import on_a_device
from night import by_day
from zwang._derive.motion_modes import ActiveSet
from zwang._numerics.motion.chebyshev import NODES, collocate
from zwang._simulate.nearness import troughs
from zwang.gallery.chain_of_four_bars import n_four_bar


def curve(expr_of, name="curve"):
    """Return a particle of unit mass in the plane on a curve."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    return zw.System(name=name, kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr_of(x, y), name="curve")])


def on_parabola(x0, scale=1.0):
    """Return a state of unit speed on y = x^2/scale."""
    slope = 2 * x0 / scale
    speed = 1.0 / np.hypot(1.0, slope)
    return {"x": x0, "y": x0**2 / scale, "v_x": speed, "v_y": slope * speed}


def length_of_parabola(x0):
    """Return the length of y = x^2 from x0 < 0 to 0, in closed form."""
    a = 2 * abs(x0)
    return (a * np.hypot(1, a) + np.arcsinh(a)) / 4


# Kinds of like parts are those of the ends, of their neighbours and so on: chains of thirteen loops and more have one
# text of kernels, each shorter one has its own, which takes seconds to compile.
@pytest.mark.nightly
@pytest.mark.parametrize("n", [4, 5])
def test_chain_of_more_loops_stops_where_its_bars_lie_on_one_line(n):
    entry = n_four_bar(n)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=3.0)
    assert motion.status.name == "SINGULAR"
    # The closed form of the parallel motion (Jacobi's functions).
    assert motion.events[0].time == pytest.approx(entry.facts["first_singular_instant"].value, abs=1e-9)
    assert motion.q[-1] == pytest.approx(np.ravel([[i + 1.0, 0.0] for i in range(n + 1)]), abs=1e-9)
    # Among the ways on is the one on which all cranks stay parallel.
    ahead = [[way.state[f"v_y_B{i}"] for i in range(n + 1)] for way in motion.continuations]
    assert any(np.ptp(part) < 1e-6 and part[0] < 0 for part in ahead)


@pytest.mark.parametrize("n", by_day([3, 5, 13], [5]))
def test_chain_of_more_loops_goes_straight_on_with_every_passage_an_event(n):
    entry = n_four_bar(n)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=10.0, at_singular="straight")
    assert motion.status.name == "REACHED"
    assert motion.q[-1][:2] == pytest.approx(entry.facts["place_at_10"].value, abs=1e-8)
    # eta = +-90 degrees modulo 360 happens wherever cos(eta) = y_B0 changes its sign.
    heights = np.array([motion.at(time)["y_B0"] for time in np.linspace(0.0, 10.0, 4001)])
    assert len(motion.events) == np.count_nonzero(heights[1:] * heights[:-1] < 0)
    assert all(event.kind == "singular" for event in motion.events)


@pytest.mark.parametrize("tol", by_day([1e-9, 1e-6], [1e-6]))
def test_no_passage_of_forty_loops_is_silent(tol):
    entry = n_four_bar(40)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, at_singular="straight", tol=tol)
    assert [event.kind for event in motion.events] == ["singular"] * 2
    assert motion.events[0].time == pytest.approx(entry.facts["first_singular_instant"].value, abs=1e3 * tol)


@pytest.mark.nightly
def test_chain_of_forty_loops_ends_at_the_published_place():
    entry = n_four_bar(40)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=20.0, at_singular="straight")
    # Closed form at t = 20, as published with the benchmark.
    assert motion.q[-1][:2] == pytest.approx((0.4109011537629452, 0.9116799009719807), abs=1e-8)
    assert len(motion.events) == 20


NIGHTLY = pytest.mark.nightly
CASES = [(speed, tol) for speed in (0.4, 0.55, 0.83, 1.3, 1.7, 2.2, 3.1) for tol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)]


@pytest.mark.parametrize(
    ("speed", "tol"), [(0.83, 1e-10), (3.1, 1e-6), *(pytest.param(*c, marks=NIGHTLY) for c in CASES)]
)
def test_no_speed_and_no_tolerance_carries_five_loops_past_the_point_in_silence(speed, tol):
    entry = n_four_bar(5)
    state = {name: value * speed for name, value in entry.state.items() if name.startswith("v_")}
    motion = zw.simulate(entry.system, {**entry.state, **state}, entry.params, until=4.0, tol=tol)
    assert motion.status.name == "SINGULAR"
    assert motion.q[-1][1::2] == pytest.approx(np.zeros(6), abs=max(1e-6, 100 * tol))  # coarse ones stop before it


@pytest.mark.parametrize("x0", [-1.0, -0.7, -0.5, -0.31])
def test_tangency_is_met_at_unit_speed(x0):
    motion = zw.simulate(curve(lambda x, y: y**2 - x**4), on_parabola(x0), {}, until=3.0)
    assert motion.status.name == "SINGULAR"
    assert motion.t[-1] == pytest.approx(length_of_parabola(x0), abs=1e-8)
    assert len(motion.continuations) == 2


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_units_do_not_matter_for_what_is_seen(factor):
    # y^2 = x^4 in other units of length and with an equation of other size.
    system = curve(lambda x, y: factor * (y**2 * factor**2 - x**4))
    motion = zw.simulate(system, on_parabola(-0.5 * factor, factor), {}, until=0.8 * factor)
    assert motion.status.name == "SINGULAR"
    assert motion.t[-1] == pytest.approx(factor * length_of_parabola(0.5), rel=1e-7)


def planes(expr_of):
    """Return a free particle in space on a surface."""
    (x, y, z), (u, v, w) = zw.coordinates("x y z")
    kinetic = (u**2 + v**2 + w**2) / 2
    return zw.System(name="planes", kinetic=kinetic, constraints=[zw.Bilateral(expr_of(x, y, z), name="planes")])


@pytest.mark.parametrize("seed", range(6))
def test_sheets_that_cross_are_passed_straight_on_a_surface(seed):
    # Two planes through a line: a particle on one of them moves straight on whatever it meets.
    rng = np.random.default_rng(seed)
    a, b = np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :2].T
    b = b + rng.uniform(-0.8, 0.8) * a
    system = planes(lambda *q: sp.expand(sum(a * np.array(q)) * sum(b * np.array(q))))
    along = np.cross(a, b)
    across = np.cross(a, along)
    across /= abs(across @ b)
    q0, v0 = -across * np.sign(across @ b), (across * np.sign(across @ b) + 0.3 * along)
    state = dict(zip(("x", "y", "z", "v_x", "v_y", "v_z"), [*q0, *v0], strict=True))
    stopped = zw.simulate(system, state, {}, until=2.5)
    assert stopped.status.name == "SINGULAR"
    assert stopped.t[-1] == pytest.approx(1.0, abs=1e-9)  # b.q runs from -1 to 0 at unit rate
    straight = zw.simulate(system, state, {}, until=2.5, at_singular="straight")
    assert straight.status.name == "REACHED" and len(straight.events) == 1
    assert straight.q[-1] == pytest.approx(q0 + 2.5 * v0, abs=1e-9)
    again = zw.simulate(system, stopped.continuations[0].state, {}, until=2.5)
    assert again.q[-1] == pytest.approx(q0 + 2.5 * v0, abs=1e-9)


def test_sheets_that_touch_stop_a_motion_on_a_surface():
    system = planes(lambda x, y, z: y**2 - x**4)
    motion = zw.simulate(system, {**on_parabola(-0.6), "z": 0.0, "v_z": 0.2}, {}, until=3.0, at_singular="straight")
    assert motion.status.name == "SINGULAR"
    assert motion.t[-1] == pytest.approx(length_of_parabola(0.6), abs=1e-3)
    assert "second derivatives" in motion.reason or "no smooth way" in motion.reason


@pytest.mark.parametrize("gap", [1e-2, 1e-3])
def test_a_point_passed_at_a_distance_is_no_event(gap):
    # x^2 - y^2 = gap^2: the motion turns round within a distance `gap` of where the lines cross.
    system = curve(lambda x, y: x**2 - y**2 - gap**2)
    y0 = -0.5
    x0 = np.hypot(y0, gap)
    state = {"x": x0, "y": y0, "v_x": y0 / x0, "v_y": 1.0}
    motion = zw.simulate(system, state, {}, until=1.2)
    assert motion.status.name == "REACHED" and not motion.events
    assert motion.q[-1][1] > 0.1 and motion.q[-1][0] > 0


def test_motion_that_goes_to_a_file_meets_the_point_too(tmp_path):
    entry = n_four_bar(5)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, out=tmp_path / "motion.npz")
    assert motion.status.name == "SINGULAR" and len(motion.events) == 1


@pytest.mark.nightly
def test_ensemble_of_a_large_system_meets_the_point_in_each_motion():
    entry = n_four_bar(5)
    speeds = np.array([0.8, 1.0, 1.3])
    state = {name: (value * speeds if name.startswith("v_") else value) for name, value in entry.state.items()}
    ensemble = zw.simulate(entry.system, state, entry.params, until=2.0)
    assert [motion.status.name for motion in ensemble.motions] == ["SINGULAR"] * 3


@pytest.mark.parametrize("device", by_day(["native", "lanes in c"], ["lanes in c"]))
def test_lanes_give_back_a_motion_whose_step_spans_the_point(device):
    # x^2 = y^2, a straight line: steps are as long as the way, and the crossing lies between two stages of one.
    model = zw.compile(curve(lambda x, y: x**2 - y**2), device if device == "native" else on_a_device(device))
    lanes = model.kernels.lanes(ActiveSet(held=(0,)))
    starts = np.linspace(-1.0, -0.2, 24)
    q = np.stack([starts, starts])
    found = lanes.run(np.zeros(24), q, np.ones((2, 24)), np.zeros((0, 1)), np.full(24, 1.5), 1e-10)
    assert not found.reached.any()


def test_user_events_on_the_way_through_a_large_systems_point_are_logged_and_stop():
    entry = n_four_bar(5)
    height = next(item for item in entry.system.coordinates if item.name == "y_B0")
    events = [zw.Event(height, name="level"), zw.Event(height + 0.05, stop=True, name="below")]
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, events=events, at_singular="straight")
    assert [event.kind for event in motion.events] == ["user", "singular", "user"] or [
        event.kind for event in motion.events
    ] == ["singular", "user", "user"]
    assert motion.q[-1][1] == pytest.approx(-0.05, abs=1e-10)


def test_rule_may_send_a_large_system_back():
    entry = n_four_bar(16)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.2, at_singular=lambda ways: len(ways) - 1)
    singular = motion.events[0].time
    # Reversed at the point, it retraces its way: the same places at the same distances in time.
    for step in (0.05, 0.2, 0.4):
        assert motion.at(singular + step)["x_B0"] == pytest.approx(motion.at(singular - step)["x_B0"], abs=1e-8)


def test_spring_rule_of_a_large_system_is_named_as_what_it_cannot_do():
    entry = n_four_bar(16)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0, at_singular="realize")
    assert motion.status.name == "SINGULAR" and "springs are asked" in motion.reason


def testtroughs_are_told_by_their_depth():
    t = np.linspace(0.0, 4.0, 400)
    values = np.log(np.abs(np.sin(np.pi * t / 2)) + 1e-12)
    assert [round(float(t[20 + k]), 1) for _, k, passed in troughs(values[20:-20]) if passed] == [2.0]
    assert troughs(0.2 * np.sin(t)) == []


def test_collocation_passes_a_place_where_nothing_can_be_evaluated():
    # x'' = -x, which `land` refuses to evaluate within 1e-3 of the middle.
    def land(t, q, v):
        return None if abs(t - 1.0) < 1e-3 else (q, v, -q)

    start = np.array([np.cos(0.7)]), np.array([-np.sin(0.7)])
    arc, off = collocate(1.0, 0.3, *start, np.zeros((len(NODES), 1)), land)
    assert off == 0.0
    assert arc.at(1.0)[0] == pytest.approx(np.cos([1.0]), abs=1e-14)
    assert collocate(1.0, 0.3, *start, np.zeros((len(NODES), 1)), lambda t, q, v: None) is None


def test_motion_that_comes_back_to_the_point_it_has_passed_meets_it_again():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=5.0, at_singular="straight")
    # The instants of the joint coordinates, in which the mechanism has two coordinates and one equation.
    assert [event.time for event in motion.events] == pytest.approx([0.648179438, 4.854588879], abs=1e-8)
    assert motion.status.name == "REACHED"
