"""Where a motion by events can't go on: blow-ups with exponents, chattering with its list, and `method="auto"`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._numerics.blow_up import growth
from zwang._results.motion import MotionStatus
from zwang._simulate import bridge, machine
from zwang._simulate.moment import Stop
from zwang._simulate.step_passages import Looked
from zwang.errors import DeclarationError

(x,), (v,) = zw.coordinates("x")
(px, py), (ux, uy) = zw.coordinates("x y")
AT_REST = {"x": 0, "y": 0, "v_x": 0, "v_y": 0}


def exponent(reason: str) -> tuple[float, float, float]:
    """Return p, its error and t* as a reason says them."""
    found = re.search(r"p = ([\d.]+) \+- ([\d.e-]+) over two decades, t\* = ([\d.]+)", reason)
    assert found is not None, reason
    return tuple(float(item.rstrip(".")) for item in found.groups())  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("force", "start", "p", "end"),
    [
        (6 * x**2, (1, 2), 3.0, 1.0),  # x = (1 - t)^-2
        (v**2, (0, 1), 1.0, 1.0),  # v = 1/(1 - t)
        (v**4, (0, 1), 1 / 3, 1 / 3),  # v = (1 - 3 t)^(-1/3), as the slip of Euler's disc
        (-1 / x**2, (1, 0), 1 / 3, np.pi / np.sqrt(8)),  # a fall into the centre: half of Kepler's period
    ],
)
def test_blow_up_says_how_it_grows_and_when(force: Any, start: tuple[float, float], p: float, end: float) -> None:
    system = zw.System(name="burst", kinetic=v**2 / 2, forces={x: force})
    motion = zw.simulate(system, {"x": start[0], "v_x": start[1]}, {}, until=2.0)
    assert motion.status.name == "BLOW_UP"
    found, error, instant = exponent(motion.reason)
    assert abs(found - p) <= max(3 * error, 1e-4)
    assert instant == pytest.approx(end, abs=1e-9)
    assert "'v_x' grows like" in motion.reason


def test_blow_up_of_a_slip_names_the_constraint() -> None:
    brake = zw.Friction(sp.Rational(1, 10), slip=3 * v, name="brake")
    system = zw.System(name="burst", kinetic=v**2 / 2, forces={x: v**4}, constraints=[brake])
    motion = zw.simulate(system, {"x": 0, "v_x": 1}, {}, until=2.0)
    assert motion.status.name == "BLOW_UP"
    assert "the slip of 'brake' grows like" in motion.reason
    assert exponent(motion.reason)[0] == pytest.approx(1 / 3, abs=1e-3)


@pytest.mark.parametrize("force", [1 / (1 - zw.t), 1 / sp.sqrt(1 - zw.t)])
def test_forces_without_bound_that_leave_the_velocity_without_a_power_law_are_no_blow_up(force: Any) -> None:
    system = zw.System(name="pushed", kinetic=v**2 / 2, forces={x: force})
    motion = zw.simulate(system, {"x": 0, "v_x": 0}, {}, until=2.0, tol=1e-8)
    assert motion.status.name == "UNFINISHED"
    assert "nothing grows like a power of the time that is left" in motion.reason
    assert "Look at the forces near this state" in motion.reason


@pytest.mark.parametrize("options", [{}, {"method": "timestepping", "step": 0.1}])
def test_exponential_growth_has_no_finite_instant(options: dict[str, Any]) -> None:
    system = zw.System(name="exponential", kinetic=v**2 / 2, forces={x: v})
    motion = zw.simulate(system, {"x": 0, "v_x": 1}, {}, until=2000.0, **options)
    assert motion.status.name == "UNFINISHED"
    assert "like a power of the time" in motion.reason


def test_time_stepping_says_the_exponent_too() -> None:
    system = zw.System(name="burst", kinetic=v**2 / 2, forces={x: v**4})
    motion = zw.simulate(system, {"x": 0, "v_x": 1}, {}, until=2.0, method="timestepping", step=1e-4)
    assert motion.status.name == "BLOW_UP"
    assert exponent(motion.reason)[0] == pytest.approx(1 / 3, abs=5e-3)


def test_reaction_that_grows_while_velocities_stay_bounded_is_singular_with_its_exponent() -> None:
    # Driven with v_y = sqrt(1 - t): the reaction is its derivative, -(1 - t)^(-1/2)/2.
    drive = zw.Bilateral(uy - sp.sqrt(1 - zw.t), name="drive")
    system = zw.System(name="driven", kinetic=(ux**2 + uy**2) / 2, constraints=[drive])
    motion = zw.simulate(system, {**AT_REST, "v_y": 1}, {}, until=2.0, tol=1e-8)
    assert motion.status.name == "SINGULAR"
    assert "the velocities stay bounded, but the reaction of 'drive' grows like" in motion.reason
    assert exponent(motion.reason)[0] == pytest.approx(0.5, abs=0.02)
    assert motion.events[-1].kind == "singular"


def test_growth_is_told_from_logarithms_exponentials_and_noise() -> None:
    left = np.geomspace(1.0, 1e-8, 200)
    t = 1.0 - left
    for p in (0.2, 0.5, 2.0):
        law = growth(t, left**-p, p * left ** (-p - 1))
        assert law is not None and law.exponent == pytest.approx(p, abs=1e-6)
    assert growth(t, -np.log(left), 1 / left) is None
    assert growth(t, np.exp(t), np.exp(t)) is None
    assert growth(t, np.ones(200), np.zeros(200)) is None
    assert growth(t, np.cos(30 * t), -30 * np.sin(30 * t)) is None
    assert growth(t[:4], left[:4] ** -1.0, left[:4] ** -2.0) is None


def belt() -> tuple[Any, dict[str, float], dict[str, float]]:
    entry = zw.gallery.get("belt_block")
    return entry.system, entry.state, entry.params


def test_chattering_lists_its_events_and_is_unfinished_where_time_stepping_goes_on(monkeypatch: Any) -> None:
    monkeypatch.setattr(machine, "STANDSTILL", 0)  # every event counts as too many
    motion = zw.simulate(*belt(), until=1.0)
    assert motion.status.name == "UNFINISHED"
    assert "1 events at t = 0.1355" in motion.reason and "slip of 'belt' stops" in motion.reason
    assert "use method='auto'" in motion.reason and "halving its step" in motion.reason


def test_chattering_that_time_stepping_does_not_pass_is_chatter_with_its_list(monkeypatch: Any) -> None:
    monkeypatch.setattr(machine, "STANDSTILL", 0)
    monkeypatch.setattr("zwang._simulate.bridge.bridge_from", lambda *_: None)
    motion = zw.simulate(*belt(), until=1.0)
    assert motion.status.name == "CHATTER"
    assert "slip of 'belt' stops" in motion.reason


def test_auto_steps_over_what_events_cannot_follow_and_comes_back(monkeypatch: Any) -> None:
    whole = zw.simulate(*belt(), until=1.0)
    monkeypatch.setattr(machine, "STANDSTILL", 0)
    motion = zw.simulate(*belt(), until=1.0, method="auto")
    assert motion.status.name == "REACHED"
    ends = motion.events.of("method")
    assert [event.details["method"] for event in ends] == ["timestepping", "events"] * (len(ends) // 2)
    assert len(ends) >= 2
    for start, end in zip(ends[::2], ends[1::2], strict=True):
        assert end.time > start.time and 0 <= end.details["error"] < 1e-3 and end.details["step"] > 0
        assert "1 events at t" in start.details["reason"]
    assert repr(ends[0]).startswith("method 'timestepping' at t = 0.1355")
    worst = max(event.details["error"] for event in ends[1::2])
    for name, value in whole.end.items():
        assert motion.end[name] == pytest.approx(value, abs=100 * worst + 1e-9)
    assert np.all(np.diff(motion.t) >= 0)


def test_auto_carries_a_body_between_supports_that_move_apart() -> None:
    laws = [
        zw.Friction(1, slip=(ux - zw.t**2 / 2, uy), name="a"),
        zw.Friction(2, slip=(ux + zw.t**3 / 3, uy - zw.t**2), name="b"),
    ]
    system = zw.System(name="supports", kinetic=(ux**2 + uy**2) / 2, constraints=laws)
    motion = zw.simulate(system, AT_REST, {}, until=1.0, method="auto")
    steps = zw.simulate(system, AT_REST, {}, until=1.0, method="timestepping", step=2.5e-4)
    assert motion.status.name == "REACHED"
    assert [event.time for event in motion.events.of("method")] == [0.0, 0.01]
    assert motion.residual < 1e-5
    assert max(abs(motion.end[name] - steps.end[name]) for name in motion.end) < 1e-5
    (slip,) = motion.events.of("slip", "b")
    assert slip.time == pytest.approx(steps.events.of("slip", "b")[0].time, abs=5e-4)


def test_auto_never_decides_what_the_laws_leave_open() -> None:
    rod = zw.gallery.get("painleve_rod")
    assert (
        zw.simulate(rod.system, rod.state, {**rod.params, "mu": 1.4}, until=0.1, method="auto").status.name == "PARADOX"
    )
    ball = zw.System(kinetic=v**2 / 2, potential=x, constraints=[zw.Unilateral(x, name="floor")])
    assert zw.simulate(ball, {"x": 1, "v_x": 0}, {}, until=3.0, method="auto").status.name == "CHOICE"
    pendulum = zw.gallery.get("ellipse_pendulum_cartesian")
    motion = zw.simulate(pendulum.system, pendulum.state, pendulum.params, until=5.0, method="auto")
    assert motion.status.name == "SINGULAR" and not motion.events.of("method")


def test_auto_refuses_a_stretch_with_a_singular_point(monkeypatch: Any) -> None:
    block, state, params = belt()
    monkeypatch.setattr(machine, "STANDSTILL", 0)
    near = Stop(MotionStatus.SINGULAR, "the rank drops")
    monkeypatch.setattr(bridge, "look_over", lambda ground, steps, *_: Looked(steps, near, ()))
    motion = zw.simulate(block, state, params, until=1.0, method="auto")
    assert motion.status.name == "UNFINISHED"
    assert "would pass a singular point near t = 0.13" in motion.reason


def test_auto_writes_its_motion_to_a_file_too(tmp_path: Path) -> None:
    motion = zw.simulate(between(), AT_REST, {}, until=0.4, method="auto")
    shown = zw.simulate(between(), AT_REST, {}, until=0.4, method="auto", out=tmp_path / "between.npz")
    again = zw.load_result(tmp_path / "between.npz")
    assert repr(motion.events) == repr(shown.events) == repr(again.events) and motion.events.of("method")
    for found in (shown, again):
        assert found.t.tolist() == motion.t.tolist() and found.q.tolist() == motion.q.tolist()
        assert [piece.labels for piece in found.pieces] == [piece.labels for piece in motion.pieces]
    with pytest.raises(DeclarationError, match="out= goes with one motion, method='events' or 'auto'"):
        zw.simulate(*belt(), until=1.0, method="timestepping", out=tmp_path / "motion.npz")


def test_a_step_that_would_have_no_effect_is_refused() -> None:
    for method in ("events", "auto"):
        with pytest.raises(
            DeclarationError, match="step= 0.01 was given with method='.*', which chooses its own steps"
        ):
            zw.simulate(*belt(), until=1.0, method=method, step=0.01)
    with pytest.raises(DeclarationError, match="method= must be one of 'events', 'timestepping', 'auto'"):
        zw.simulate(*belt(), until=1.0, method="both")


def test_a_file_ends_where_memory_does_if_a_stretch_was_taken_back(tmp_path: Path) -> None:
    motion = zw.simulate(between(), AT_REST, {}, until=0.4)
    zw.simulate(between(), AT_REST, {}, until=0.4, out=tmp_path / "between.npz")
    again = zw.load_result(tmp_path / "between.npz")
    assert again.status is motion.status and again.reason == motion.reason
    assert again.t.tolist() == motion.t.tolist() and again.q.tolist() == motion.q.tolist()


def between() -> zw.System:
    apart = [
        zw.Friction(1, slip=(ux - zw.t**2 / 2, uy), name="a"),
        zw.Friction(2, slip=(ux, uy - zw.t**2), name="b"),
    ]
    return zw.System(name="between", kinetic=(ux**2 + uy**2) / 2, constraints=apart, coordinates=(px, py))


def test_events_of_the_user_are_seen_on_a_stretch_of_time_stepping_too() -> None:
    asked = [zw.Event("t - 1/500", name="early"), zw.Event("1/500 - t", direction=1, name="never"), zw.Event("t - 1/5")]
    motion = zw.simulate(between(), AT_REST, {}, until=0.4, method="auto", events=asked)
    first, last = (event.time for event in motion.events.of("method"))
    assert first < 0.002 < last  # by the system: it starts by time stepping
    assert [event.time for event in motion.events.of("user")] == pytest.approx([0.002, 0.2], abs=1e-12)
    asked = [zw.Event("t - 1/500", name="early", stop=True)]
    motion = zw.simulate(between(), AT_REST, {}, until=0.4, method="auto", events=asked)
    assert motion.status is MotionStatus.REACHED and "Stopped at the event 'early'" in motion.reason
    assert motion.t[-1] == pytest.approx(0.002, abs=1e-4)
    assert [event.name for event in motion.events.of("user")] == ["early"]


def test_no_stretch_is_stepped_over_by_another_law_of_impact(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = bridge.walked

    def with_an_impact(*args: Any) -> Any:
        walk, steps = walked(*args)
        return walk, replace(steps, closing=np.ones_like(steps.closing))

    monkeypatch.setattr(bridge, "walked", with_an_impact)
    motion = zw.simulate(between(), AT_REST, {}, until=0.4, method="auto", impact="poisson")
    assert motion.status is MotionStatus.UNFINISHED
    assert "would take Newton's restitution for the impacts on its way, not impact='poisson'" in motion.reason


@pytest.mark.parametrize(("balls", "impact"), [(3, None), (2, None), (3, "newton")])
def test_without_a_law_no_impact_is_stepped_over_on_which_laws_differ(
    balls: int, impact: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Newton's cradle: with two balls all laws of impact agree, with three they don't.
    q, v = zw.coordinates(" ".join(f"x{i}" for i in range(balls)))
    gaps = [zw.Unilateral(q[i + 1] - q[i] - 1, restitution=1, name=f"gap{i}") for i in range(balls - 1)]
    system = zw.System(name="cradle", kinetic=sum(u**2 for u in v) / 2, constraints=gaps)
    state = {f"v_x{i}": 0.0 for i in range(balls)} | {f"x{i}": float(i) for i in range(balls)}
    state |= {"x0": -0.4503, "v_x0": 1.0}
    monkeypatch.setattr(machine, "STANDSTILL", 0)  # every event counts as too many, the user's too
    monkeypatch.setattr(machine, "all", lambda _: False, raising=False)
    monkeypatch.setattr(bridge, "bridge_from", lambda *_: bridge.Bridge(0.0045, 5e-5, 1e-6))
    early = zw.Event("t - 9/20", name="early")
    motion = zw.simulate(system, state, {}, until=0.46, method="auto", impact=impact, events=[early])
    assert motion.events.of("user")
    if balls == 3 and impact is None:
        assert motion.status is MotionStatus.UNFINISHED and not motion.events.of("method")
        assert "would decide an impact near t = 0.4503" in motion.reason and "impact=" in motion.reason
        assert motion.t[-1] == pytest.approx(0.45, abs=1e-12)
    else:
        assert [event.kind for event in motion.events][:3] == ["user", "method", "impact"]
        assert len(motion.events.of("method")) == 2
