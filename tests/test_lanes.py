"""Motions side by side, against the loop of one motion and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from c_backend import on_a_device
from night import by_day
from zwang._compile.given_values import resolve
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.lane_kernels import SideBySide
from zwang._kernels.mode_motion import moving
from zwang._numerics.pace import portions
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 9.81}
HELD = ActiveSet((0, 1, 2))


@pytest.fixture(scope="module", params=by_day(["native", "lanes in c", "cuda"], ["lanes in c", "cuda"]))
def lanes(request: pytest.FixtureRequest) -> SideBySide:
    backend = request.param if request.param == "native" else on_a_device(request.param)
    found = zw.compile(ENTRY.system, backend).kernels.lanes(HELD)
    assert found is not None
    return found


def starts(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and parameters from different angles."""
    angles = np.linspace(-0.5, -0.1, count)
    found = [place(PARAMS, float(angle), 0.42) for angle in angles]
    inputs = [resolve(ENTRY.system, {name: item[name] for name in ENTRY.state}, PARAMS) for item in found]
    return np.hstack([item.q for item in inputs]), np.hstack([item.v for item in inputs]), inputs[0].params


def test_lanes_end_where_single_motions_end(lanes: SideBySide) -> None:
    # 19 motions of different lengths in 8 lanes: lanes are refilled, some stay empty at the end.
    q, v, params = starts(19)
    until = np.linspace(0.0, 3.0, 19)
    found = lanes.run(np.zeros(19), q, v, params, until, 1e-12)
    assert found.reached.all()
    assert np.array_equal(found.t, until)
    flow = moving(zw.compile(ENTRY.system), HELD, compiled=False)
    for k in range(0, 19, 3):
        alone = flow.advance(0.0, q[:, k], v[:, k], params[:, 0], until[k], 1e-12, np.zeros(0))
        assert found.q[:, k] == pytest.approx(alone.q[-1], abs=2e-11)
        assert found.v[:, k] == pytest.approx(alone.v[-1], abs=2e-11)
        assert abs(int(found.steps[k]) - (len(alone.t) - 1)) <= 2
    assert found.drift.max() < 1e-11


def test_a_lane_does_not_depend_on_its_neighbours(lanes: SideBySide) -> None:
    q, v, params = starts(11)
    together = lanes.run(np.zeros(11), q, v, params, np.full(11, 1.0), 1e-10)
    alone = lanes.run(np.zeros(1), q[:, [7]], v[:, [7]], params, np.full(1, 1.0), 1e-10)
    assert np.array_equal(together.q[:, 7], alone.q[:, 0])
    assert together.steps[7] == alone.steps[0]


def test_motions_with_their_own_parameters(lanes: SideBySide) -> None:
    q, _, params = starts(1)
    own = np.repeat(params, 3, axis=1)
    names = [item.name for item in ENTRY.system.parameters]
    own[names.index("g")] = [1.0, 4.0, 9.81]
    both = np.repeat(q, 3, axis=1), np.zeros((4, 3))
    found = lanes.run(np.zeros(3), *both, own, np.array([2.0, 1.0, 0.5]), 1e-12)
    # From rest, gravity four times as strong does the same in half the time.
    assert found.reached.all()
    assert found.q[:, 0] == pytest.approx(found.q[:, 1], abs=1e-11)
    assert found.v[:, 0] == pytest.approx(found.v[:, 1] / 2, abs=1e-10)


def test_state_that_is_not_finite_is_given_back(lanes: SideBySide) -> None:
    q, v, params = starts(3)
    v[0, 1] = np.nan
    found = lanes.run(np.zeros(3), q, v, params, np.full(3, 0.1), 1e-10)
    assert found.reached.tolist() == [True, False, True]


def test_motion_towards_a_singular_point_is_given_back(lanes: SideBySide) -> None:
    # With the parameters of the gallery the pendulum folds at its singular point within 5 s, from -0.4 it doesn't.
    inputs, (q, v, params) = resolve(ENTRY.system, ENTRY.state, ENTRY.params), starts(1)
    both = np.hstack([inputs.q, q]), np.hstack([inputs.v, v])
    ends = lanes.run(np.zeros(2), *both, np.hstack([inputs.params, params]), np.full(2, 5.0), 1e-10)
    assert ends.reached.tolist() == [False, True]
    assert ends.t[0] < 5.0


def test_states_at_instants_are_those_of_motions_that_end_there(lanes: SideBySide) -> None:
    q, v, params = starts(5)
    begin, instants = np.array([0.0, 0.0, 0.3, 0.0, 2.0]), np.array([0.0, 0.25, 0.7, 1.0])
    found = lanes.sampled(begin, q, v, params, instants, 1e-12)
    assert found.shape == (4, 8, 5)
    for row, instant in zip(found, instants, strict=True):
        there = begin <= instant
        assert np.isnan(row[:, ~there]).all()
        ends = lanes.run(begin[there], q[:, there], v[:, there], params, np.full(there.sum(), instant), 1e-12)
        assert row[:, there] == pytest.approx(np.concatenate([ends.q, ends.v]), abs=2e-11)


def test_motions_end_when_the_steps_of_a_budget_are_spent(lanes: SideBySide) -> None:
    q, v, params = starts(6)
    found = lanes.run(np.zeros(6), q, v, params, np.full(6, 50.0), 1e-12, most=8)
    assert not found.reached.any()
    assert found.interrupted >= 0


def driven() -> zw.System:
    (x,), (vx,) = zw.coordinates("x")
    return zw.System(kinetic=vx**2 / 2, forces={x: -sp.sin(zw.t) + sp.Symbol("k")})


@pytest.mark.parametrize("backend", by_day(["native", "lanes in c", "cuda"], ["lanes in c", "cuda"]))
def test_motions_without_constraints_with_forces_of_time(backend: str) -> None:
    # x'' = -sin(t) + k has x = sin(t) + k t^2/2 for x(0) = 0, v(0) = 1.
    name = backend if backend == "native" else on_a_device(backend)
    found = zw.compile(driven(), name).kernels.lanes(ActiveSet(()))
    assert found is not None
    pulls = np.linspace(-1.0, 1.0, 9)
    ends = found.run(np.zeros(9), np.zeros((1, 9)), np.ones((1, 9)), pulls[None], np.full(9, 2.0), 1e-13)
    assert ends.reached.all()
    assert ends.q[0] == pytest.approx(np.sin(2.0) + pulls * 2.0, abs=1e-11)


def test_friction_one_sided_constraints_and_switching_forces_have_no_lanes() -> None:
    assert zw.compile(zw.gallery.get("bouncing_ball").system).kernels.lanes(ActiveSet(())) is None
    (x,), (vx,) = zw.coordinates("x")
    switching = zw.System(kinetic=vx**2 / 2, forces={x: -sp.Max(x, 0)})
    assert zw.compile(switching).kernels.lanes(ActiveSet(())) is None


def test_ends_do_not_depend_on_where_the_loop_pauses(lanes: SideBySide) -> None:
    q, v, params = starts(19)
    until = np.linspace(0.2, 1.0, 19)
    whole = lanes.run(np.zeros(19), q, v, params, until, 1e-11)
    for size in (1, 7):
        with portions(lambda size=size: size):
            again = lanes.run(np.zeros(19), q, v, params, until, 1e-11)
        for name in ("t", "q", "v", "reached", "steps", "attempts", "drift"):
            assert getattr(again, name).tobytes() == getattr(whole, name).tobytes()
