"""Smooth motion: mechanisms, dense output, works, user events, files, continuing, interrupting."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

TIGHT = 1e-12


def balance(motion: Any) -> float:
    total = motion.energy["total"]
    return float(np.abs(total - total[0] - sum(motion.work.values())).max())


def spring() -> zw.System:
    (x,), (vx,) = zw.coordinates("x")
    return zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2)


def pendulum() -> zw.System:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral(sp.sqrt(x**2 + y**2) - 1, name="rod")
    return zw.System(name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=y, constraints=[rod])


def test_andrews_mechanism_ends_where_the_published_solution_does() -> None:
    entry = zw.gallery.get("andrews")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.03, tol=1e-12)
    published = np.array(entry.facts["solution"].value)
    assert np.abs(motion.q[-1] / published - 1).max() < 1e-8
    multipliers = np.array([motion.reactions[name][-1] for name in motion.constraints])
    # The published angles are those of this motion 1e-12 s later, to 1e-12; the published multipliers are off by up to
    # 1.3e-6 from what Lagrange's equations give there: two derivations of ours agree on those to 1e-10.
    assert multipliers == pytest.approx(np.array(entry.facts["multipliers_at_end"].value), rel=2e-6)
    oracle = zw.compile(entry.system, backend="reference").multipliers(motion.end, entry.params)
    assert multipliers == pytest.approx([float(oracle[name]) for name in motion.constraints], rel=1e-10)
    assert motion.t[-1] == 0.03
    assert motion.drift < 1e-13
    assert motion.residual < 1e-12
    assert balance(motion) < 1e-9


def test_oscillator_follows_its_closed_form_between_the_steps() -> None:
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=20.0, tol=TIGHT)
    times = np.linspace(0.0, 20.0, 1001)
    state = motion.at(times)
    assert np.abs(state["x"] - np.cos(times)).max() < 1e-9
    assert np.abs(state["v_x"] + np.sin(times)).max() < 1e-9
    assert motion.at(1.0)["x"] == pytest.approx(math.cos(1.0), abs=1e-10)
    assert motion.at(20.0)["x"] == motion.q[-1, 0]
    assert np.abs(motion.a[:, 0] + motion.q[:, 0]).max() < 1e-14


def test_pendulum_keeps_its_rod_and_its_energy() -> None:
    motion = zw.simulate(pendulum(), {"x": 1, "y": 0, "v_x": 0, "v_y": 0}, {}, until=30.0)
    assert motion.status.name == "REACHED"
    assert motion.drift < 1e-14
    assert balance(motion) < 1e-8
    # The pull of the rod is 3 sin(angle below the horizontal) for a release from the horizontal, g = l = m = 1.
    assert motion.reactions["rod"] == pytest.approx(3 * motion.q[:, 1], abs=1e-7)
    assert np.abs(motion.work["rod"]).max() < 1e-15


def test_works_of_forces_and_of_explicit_time_balance_the_energy() -> None:
    # A mass on a spring whose other end moves: V depends on time; damping and a drive do work.
    (x,), (vx,) = zw.coordinates("x")
    system = zw.System(
        kinetic=(vx + sp.cos(zw.t)) ** 2 / 2,  # velocity relative to a moving frame: T1 and T0 are there too
        potential=(x - sp.sin(2 * zw.t)) ** 2,
        forces={x: -vx / 5 + sp.sin(3 * zw.t)},
    )
    motion = zw.simulate(system, {"x": 0.3, "v_x": 0}, {}, until=5.0, tol=TIGHT)
    assert set(motion.work) == {"x", "time"}
    assert abs(motion.work["time"][-1]) > 0.1
    assert balance(motion) < 1e-10


def test_angles_are_unwrapped() -> None:
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    wheel = zw.System(kinetic=w**2 / 2, coordinates=(phi,))
    motion = zw.simulate(wheel, {"phi": 0, "v_phi": 5}, {}, until=10.0)
    assert motion.end["phi"] == pytest.approx(50.0, abs=1e-9)


def test_user_events_are_located_and_filtered_by_direction() -> None:
    (x,), (vx,) = spring().coordinates, spring().velocities
    events = [
        zw.Event(x, name="any"),
        zw.Event(x, direction=1, name="up"),
        zw.Event(x, direction=-1, name="down"),
        zw.Event(vx - 2, name="never"),
    ]
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=10.0, tol=TIGHT, events=events)
    found = {name: [e.time for e in motion.events if e.name == name] for name in ("any", "up", "down", "never")}
    assert found["any"] == pytest.approx([math.pi / 2, 3 * math.pi / 2, 5 * math.pi / 2], abs=1e-11)
    assert found["up"] == pytest.approx([3 * math.pi / 2], abs=1e-11)
    assert found["down"] == pytest.approx([math.pi / 2, 5 * math.pi / 2], abs=1e-11)
    assert found["never"] == []
    assert all(event.kind == "user" for event in motion.events)


@pytest.mark.parametrize("seed", range(3))
def test_turning_points_where_all_velocities_vanish_are_events_once(seed: int) -> None:
    # x = A exp(-c t/2) cos(w t + b): nothing at a turning point says how large rounding of the velocity is.
    rng = np.random.default_rng(seed)
    k, c, unit = rng.uniform(4, 20), rng.uniform(0, 0.6), 10.0 ** rng.integers(-4, 5)
    (x,), (vx,) = zw.coordinates("x")
    K, C = zw.parameters("k c")
    system = zw.System(name="damped", kinetic=vx**2 / 2, potential=K * x**2 / 2, forces={x: -C * vx})
    w, until = np.sqrt(k - c * c / 4), 25.0
    for start in (0.0, 0.3):
        first = np.arctan2(start * w, k + start * c / 2) / w if start else np.pi / w
        wanted = np.arange(first, until, np.pi / w)
        for event in (zw.Event(vx, name="turn"), zw.Event(vx * x, direction=-1, name="far")):
            motion = zw.simulate(
                system, {"x": unit, "v_x": start * unit}, {"k": k, "c": c}, until=until, events=[event],
                budget={"steps": 60_000},
            )  # fmt: skip
            assert [one.time for one in motion.events] == pytest.approx(wanted, rel=1e-8)


def test_stopping_event_ends_the_motion_there() -> None:
    (x,) = spring().coordinates
    events = [zw.Event(x - sp.Rational(1, 2), stop=True, name="half")]
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=10.0, tol=TIGHT, events=events)
    assert motion.status.name == "REACHED"
    assert motion.t[-1] == pytest.approx(math.pi / 3, abs=1e-11)
    assert "'half'" in motion.reason
    assert repr(motion.events) == "user 'half' at t = 1.047197551197"


def test_piecewise_force_is_crossed_without_loss_of_order() -> None:
    # A one-sided spring: half a period with stiffness 1, then free flight.
    (x,), (vx,) = zw.coordinates("x")
    system = zw.System(kinetic=vx**2 / 2, forces={x: sp.Max(-x, 0)})
    motion = zw.simulate(system, {"x": 1, "v_x": -1}, {}, until=6.0, tol=TIGHT)
    # Free until t = 1 at x = 0, in the spring (x < 0) for pi, then out with speed 1.
    assert motion.end["x"] == pytest.approx(6.0 - 1.0 - math.pi, abs=1e-10)
    assert balance(motion) < 1e-10


def test_motion_goes_on_from_its_end() -> None:
    first = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=3.0, tol=TIGHT)
    second = zw.simulate(first, until=7.0, tol=TIGHT)
    assert second.t[0] == 3.0
    assert second.end["x"] == pytest.approx(math.cos(7.0), abs=1e-10)
    with pytest.raises(zw.DeclarationError, match="goes on from its own end"):
        zw.simulate(first, {"x": 1, "v_x": 0}, until=7.0)


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_saved_motion_comes_back_whole_and_goes_on(tmp_path: Path, ending: str) -> None:
    if ending == ".nc":
        pytest.importorskip("h5netcdf")
    entry = zw.gallery.get("sleigh_ahead")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0)
    again = zw.load_result(motion.save(tmp_path / f"motion{ending}"))
    assert again.status is motion.status
    assert np.array_equal(again.q, motion.q)
    times = np.linspace(0, 2, 33)
    assert np.array_equal(again.at(times)["phi"], motion.at(times)["phi"])
    assert np.array_equal(again.reactions["blade"], motion.reactions["blade"])
    assert repr(again) == repr(motion)
    assert again.residual == motion.residual
    further, same = zw.simulate(again, until=2.5), zw.simulate(motion, until=2.5)
    assert further.end == same.end


def test_interrupted_motion_keeps_what_was_computed() -> None:
    def progress(time: float) -> None:
        if time > 7.0:  # after the second event, and at the third
            raise KeyboardInterrupt

    (x,) = spring().coordinates
    events = [zw.Event(x, name="zero")]
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=100.0, events=events, progress=progress)
    assert motion.status.name == "INTERRUPTED"
    assert motion.t[-1] == pytest.approx(5 * math.pi / 2, abs=1e-6)
    assert "until 100" in motion.reason
    assert motion.end["x"] == pytest.approx(0.0, abs=1e-6)


def test_redundant_bilateral_constraint_leaves_the_motion_as_it_is() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rods = [zw.Bilateral(x**2 + y**2 - 1, name="rod"), zw.Bilateral(2 * x**2 + 2 * y**2 - 2, name="twin")]
    double = zw.System(name="double", kinetic=(vx**2 + vy**2) / 2, potential=y, constraints=rods)
    start = {"x": 1, "y": 0, "v_x": 0, "v_y": 0}
    motion = zw.simulate(double, start, {}, until=3.0, tol=TIGHT)
    single = zw.simulate(pendulum(), start, {}, until=3.0, tol=TIGHT)
    assert motion.status.name == "REACHED"
    assert motion.end["x"] == pytest.approx(single.end["x"], abs=1e-9)
    assert np.isnan(motion.reactions["rod"][-1])
    assert motion.drift < 1e-12


def test_motion_that_blows_up_says_when() -> None:
    # x'' = 6 x^2 with x = 1/(1 - t)^2: it reaches infinity at t = 1.
    (x,), (vx,) = zw.coordinates("x")
    system = zw.System(name="burst", kinetic=vx**2 / 2, forces={x: 6 * x**2})
    motion = zw.simulate(system, {"x": 1, "v_x": 2}, {}, until=2.0)
    assert motion.status.name == "BLOW_UP"
    assert motion.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert np.isfinite(motion.q).all()


def test_until_at_the_start_is_a_motion_of_one_row() -> None:
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0, "t": 2.0}, {}, until=2.0)
    assert motion.t.tolist() == [2.0]
    assert motion.end == {"x": 1.0, "v_x": 0.0, "t": 2.0}


def test_long_motion_goes_to_its_file_while_it_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zwang._results import motion_stream
    from zwang._simulate import record, stretch

    monkeypatch.setattr(record, "KEPT", 50)
    monkeypatch.setattr(stretch, "CHUNK", 20)
    path = tmp_path / "long.npz"
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=100.0, out=path)
    assert motion.t[0] > 50.0
    assert len(motion.t) <= 100
    assert "is in long.npz only" in motion.reason
    whole = zw.load_result(path)
    assert (whole.t[0], whole.t[-1]) == (0.0, 100.0)
    assert len(whole.t) > 200
    assert np.all(np.diff(whole.t) > 0)
    times = np.linspace(0, 100, 500)
    assert np.abs(whole.at(times)["x"] - np.cos(times)).max() < 1e-6
    assert len(whole.energy["total"]) == len(whole.t)
    assert whole.energy["total"] == pytest.approx(0.5, abs=1e-6)
    monkeypatch.setattr(motion_stream, "MOST_BYTES", 1000)
    zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=100.0, out=path)
    with pytest.raises(zw.DeclarationError, match="without its reactions, energies and works"):
        _ = zw.load_result(path).energy
    with pytest.raises(zw.DeclarationError, match="out= needs a path that ends in .npz"):
        zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=1.0, out=tmp_path / "long.txt")
