"""Motion with one-sided constraints on velocities: skates, ratchets, freewheels, speed limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

TIGHT = 1e-12


def run(name: str, until: float, *, state: dict[str, float] | None = None, **options: Any) -> Any:
    entry = zw.gallery.get(name)
    params = {**entry.params, **options.pop("params", {})}
    return zw.simulate(entry.system, {**entry.state, **(state or {})}, params, until=until, tol=TIGHT, **options)


def balance(motion: Any) -> float:
    total = motion.energy["total"]
    return float(np.abs(total - total[0] - sum(motion.work.values())).max())


def sleigh_start(delta: float, omega: float) -> dict[str, float]:
    """Blade along x, velocity 1 at an angle delta to the left of it."""
    return {"phi": 0.0, "v_x": math.cos(delta), "v_y": math.sin(delta), "v_phi": omega}


def gripping(t: np.ndarray, delta: float, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity on the circle after the capture: closed form, Salnikova et al. (2023), section 4, errata 9."""
    start, along = (delta / omega, 1.0) if omega > 0 else ((math.pi - delta) / -omega, -1.0)
    phi, phi0 = omega * t, omega * start
    x = start * math.cos(delta) + along / omega * (np.sin(phi) - math.sin(phi0))
    y = start * math.sin(delta) - along / omega * (np.cos(phi) - math.cos(phi0))
    return np.array([x, y]), along * np.array([np.cos(phi), np.sin(phi)])


@pytest.mark.parametrize(("delta", "omega"), [(1.0, 1.0), (1.0, -1.0), (2.5, 0.7), (0.3, -2.0)])
def test_sleigh_is_captured_when_closed_form_says_and_then_runs_on_its_circle(delta: float, omega: float) -> None:
    motion = run("sleigh", 6.0, state=sleigh_start(delta, omega))
    expected = delta / omega if omega > 0 else (math.pi - delta) / -omega
    assert [(event.kind, event.constraint) for event in motion.events] == [("capture", "blade")]
    assert motion.events[0].time == pytest.approx(expected, abs=1e-11)
    times = np.linspace(expected, 6.0, 50)
    state = motion.at(times)
    place, velocity = gripping(times, delta, omega)
    assert np.abs([state["x"], state["y"]] - place).max() < 1e-10
    assert np.abs([state["v_x"], state["v_y"]] - velocity).max() < 1e-10
    # The force is m V |omega| for both signs (errata 8), with m = V = 1.
    assert motion.reactions["blade"][-1] == pytest.approx(abs(omega), abs=1e-10)
    assert motion.reactions["blade"][0] == 0.0
    assert balance(motion) < 1e-11
    assert motion.drift < 1e-14


def test_sleigh_that_starts_on_its_boundary_grips_at_once_without_an_event() -> None:
    motion = run("sleigh", 2.0, state=sleigh_start(0.0, 1.0))
    assert motion.events == ()
    assert motion.modes[0]["blade"] == "closed"
    place, _ = gripping(np.array(2.0), 0.0, 1.0)
    assert [motion.end["x"], motion.end["y"]] == pytest.approx(place, abs=1e-10)


def test_sleigh_on_its_boundary_that_turns_away_flies_half_a_turn() -> None:
    motion = run("sleigh", 4.0, state=sleigh_start(0.0, -1.0))
    assert [event.kind for event in motion.events] == ["capture"]
    assert motion.events[0].time == pytest.approx(math.pi, abs=1e-11)


@pytest.mark.parametrize("delta", [0.0, 0.8])
def test_sleigh_that_does_not_turn_goes_straight_for_ever(delta: float) -> None:
    motion = run("sleigh", 5.0, state=sleigh_start(delta, 0.0))
    assert motion.events == ()
    assert motion.end["x"] == pytest.approx(5 * math.cos(delta), abs=1e-12)
    assert motion.end["y"] == pytest.approx(5 * math.sin(delta), abs=1e-12)


def test_sleigh_that_slips_to_the_forbidden_side_is_refused() -> None:
    with pytest.raises(zw.StateError, match=r"sleigh: the state violates constraint 'blade' by 4.8e-01 .*not negative"):
        run("sleigh", 1.0, state=sleigh_start(-0.5, 1.0))


def test_sleigh_ahead_is_released_in_time_and_state_of_the_closed_form() -> None:
    entry = zw.gallery.get("sleigh_ahead")
    motion = run("sleigh_ahead", 3.0)
    assert [event.kind for event in motion.events] == ["release"]
    time = motion.events[0].time
    assert time == pytest.approx(entry.facts["release_time"].value, abs=1e-10)
    state = motion.at(time)
    assert state["v_phi"] == pytest.approx(entry.facts["release_spin"].value, abs=1e-10)
    assert motion.reactions["blade"][0] == pytest.approx(entry.facts["blade_force"].value, abs=1e-12)
    # The blade stands still then: u = 0, and the centre moves across it with c omega.
    c = entry.params["c"]
    along = state["v_x"] * math.cos(state["phi"]) + state["v_y"] * math.sin(state["phi"])
    assert along == pytest.approx(0.0, abs=1e-10)
    across = state["v_y"] * math.cos(state["phi"]) - state["v_x"] * math.sin(state["phi"])
    assert across == pytest.approx(c * state["v_phi"], abs=1e-11)
    assert balance(motion) < 1e-11


def incline_reference(until: float, start: dict[str, float]) -> list[tuple[str, float]]:
    """Return capture and release times of the sleigh on an incline by the closed forms of both modes.

    phi = phi0 + omega t. Gripping: u' = -g sin(s) sin(phi), force m (u omega + g sin(s) cos(phi)). Free: v_y falls with
    g sin(s).
    """
    pull = zw.gallery.get("sleigh_incline").facts["speed_amplitude"].value  # g sin(s) over the angular velocity 1
    omega, vx, vy = start["v_phi"], start["v_x"], start["v_y"]
    found, t, u, held = [], 0.0, 0.0, False

    def turn(s: float) -> float:
        return start["phi"] + omega * s

    def speed(s: float) -> float:
        return u + pull / omega * (math.cos(turn(s)) - math.cos(turn(t)))

    def force(s: float) -> float:
        return speed(s) * omega + pull * math.cos(turn(s))

    def across(s: float) -> float:
        return (vy - pull * (s - t)) * math.cos(turn(s)) - vx * math.sin(turn(s))

    while True:
        s = _first_sign_change(force if held else across, t, until)
        if s >= until:
            return found
        found.append(("release" if held else "capture", s))
        if held:
            u = speed(s)
            vx, vy = u * math.cos(turn(s)), u * math.sin(turn(s))
        else:
            vy -= pull * (s - t)
            u = vx * math.cos(turn(s)) + vy * math.sin(turn(s))
        t, held = s, not held


def _first_sign_change(function: Any, start: float, end: float) -> float:
    from scipy.optimize import brentq

    grid = np.linspace(start, end, 2001)[1:]
    values = [function(float(s)) for s in grid]
    for a, b, f, g in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True):
        if f > 0 >= g:
            return float(brentq(function, a, b, xtol=1e-15))
    return end


def test_sleigh_on_an_incline_switches_again_and_again_at_the_instants_of_the_closed_forms() -> None:
    start = {"phi": 1.0, "v_x": 0.0, "v_y": 0.9, "v_phi": 2.5}
    motion = run("sleigh_incline", 20.0, state=start)
    expected = incline_reference(20.0, start)
    assert len(expected) >= 15
    assert [(event.kind) for event in motion.events] == [kind for kind, _ in expected]
    assert [event.time for event in motion.events] == pytest.approx([time for _, time in expected], abs=2e-9)
    assert balance(motion) < 1e-9


def test_ratchet_holds_and_lets_go_when_closed_form_says() -> None:
    entry = zw.gallery.get("ratchet")
    motion = run("ratchet", 4.0)
    assert [event.kind for event in motion.events] == ["capture", "release"]
    assert motion.events[0].time == pytest.approx(entry.facts["capture_time"].value, abs=1e-11)
    assert motion.events[1].time == pytest.approx(entry.facts["release_time"].value, abs=1e-11)
    held = motion.at(2.0)
    assert held["theta"] == pytest.approx(entry.facts["angle_held"].value, abs=1e-11)
    assert held["v_theta"] == 0.0
    assert balance(motion) < 1e-11
    assert motion.work["pawl"] == pytest.approx(0.0, abs=1e-15)


def test_freewheel_catches_without_a_shock() -> None:
    entry = zw.gallery.get("freewheel")
    motion = run("freewheel", 30.0)
    assert [event.kind for event in motion.events] == ["capture"]
    assert motion.events[0].time == pytest.approx(entry.facts["capture_time"].value, abs=1e-11)
    assert len(np.unique(motion.t)) == len(motion.t)  # no jump
    # J1 w' = M - lam and J2 w' = -c w + lam: both tend to M/c with the rate c/(J1 + J2).
    p = entry.params
    time = entry.facts["capture_time"].value
    caught, final = p["M"] / p["J1"] * time, p["M"] / p["c"]
    speed = final + (caught - final) * math.exp(-p["c"] / (p["J1"] + p["J2"]) * (30.0 - time))
    assert motion.end["v_theta1"] == pytest.approx(speed, abs=1e-10)
    assert motion.end["v_theta2"] == pytest.approx(speed, abs=1e-10)
    assert balance(motion) < 1e-9


def test_speed_limit_that_falls_suddenly_takes_impulse_and_energy() -> None:
    entry = zw.gallery.get("speed_limit")
    motion = run("speed_limit", 2.0)
    (event,) = motion.events
    assert (event.kind, event.constraint) == ("impact", "limit")
    assert event.time == pytest.approx(entry.params["drop_time"], abs=1e-12)
    assert event.details["impulses"]["limit"] == pytest.approx(entry.facts["impulse"].value, abs=1e-12)
    assert event.details["energy_change"] == pytest.approx(-entry.facts["energy_loss"].value, abs=1e-12)
    assert motion.end["x"] == pytest.approx(entry.facts["place_at_2"].value, abs=1e-11)
    assert np.count_nonzero(motion.t == event.time) == 2
    assert motion.reactions["limit"][-1] == pytest.approx(entry.facts["reaction"].value, abs=1e-12)
    assert balance(motion) < 1e-12
    assert motion.drift < 1e-14


def test_speed_limit_that_falls_below_a_slower_particle_does_nothing() -> None:
    motion = run("speed_limit", 2.0, state={"v_x": 0.1}, params={"F": 0.0})
    assert motion.events == ()
    assert motion.end["x"] == pytest.approx(0.2, abs=1e-13)


def test_continuous_speed_limit_is_entered_and_left_without_a_shock() -> None:
    (x,), (vx,) = zw.coordinates("x")
    c = 1 + sp.sin(zw.t)
    system = zw.System(kinetic=vx**2 / 2, forces={x: 1}, constraints=[zw.Unilateral(c - vx, name="limit")])
    motion = zw.simulate(system, {"x": 0, "v_x": 0}, {}, until=3.0, tol=TIGHT)
    # Free: v = t, which meets 1 + sin(t) at t1. Held: the reaction 1 - cos(t) stays positive.
    from scipy.optimize import brentq

    meets = brentq(lambda t: t - 1 - math.sin(t), 1.0, 3.0, xtol=1e-15)
    assert [(event.kind, event.time) for event in motion.events] == [("capture", pytest.approx(meets, abs=1e-11))]
    assert motion.end["v_x"] == pytest.approx(1 + math.sin(3.0), abs=1e-11)
    assert motion.reactions["limit"][-1] == pytest.approx(1 - math.cos(3.0), abs=1e-11)
    assert motion.work["limit"][-1] < -0.1  # a moving limit takes energy
    assert balance(motion) < 1e-11


def test_beam_on_two_skates_runs_along_itself_until_the_torque_lifts_one() -> None:
    entry = zw.gallery.get("two_skates")
    motion = run("two_skates", 2.0)
    front, rear = entry.facts["reactions"].value
    assert motion.reactions["front"] == pytest.approx(front, abs=1e-12)
    assert motion.reactions["rear"] == pytest.approx(rear, abs=1e-12)
    assert motion.end["x"] == pytest.approx(2.0, abs=1e-12)
    turned = run("two_skates", 1.0, params={"M": 1.1})
    assert (turned.modes[0]["front"], turned.modes[0]["rear"]) == ("open", "closed")
    assert balance(turned) < 1e-11
    assert turned.drift < 1e-14


def test_active_set_of_two_skates_is_that_of_the_complementarity_problem_not_sign_by_sign() -> None:
    # G = W M^-1 W^T couples the skates: alone each would have to push, together one must let go (errata 6).
    (x, y), (vx, vy) = zw.coordinates("x y")
    rows = [vx, -sp.Rational(9, 10) * vx + sp.sqrt(1 - sp.Rational(81, 100)) * vy]
    system = zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        forces={x: -1, y: 0.2},
        constraints=[zw.Unilateral(row, name=f"row{i}") for i, row in enumerate(rows)],
    )
    motion = zw.simulate(system, {"x": 0, "y": 0, "v_x": 0, "v_y": 0}, {}, until=1.0)
    found = zw.reactions(system, {"x": 0, "y": 0, "v_x": 0, "v_y": 0}, {})
    assert motion.a[0] == pytest.approx(found.accelerations[0], abs=1e-12)
    assert motion.a[0] @ [-0.9, math.sqrt(0.19)] >= -1e-12
    assert motion.a[0][0] >= -1e-12


def test_one_sided_and_bilateral_constraints_on_velocities_together() -> None:
    # A skate that may not turn (bilateral) and a ratchet along it: x' >= 0 under a force that turns round at t = 1.
    (x, _, phi), (vx, vy, w) = zw.coordinates("x y phi", angles="phi")
    system = zw.System(
        kinetic=(vx**2 + vy**2 + w**2) / 2,
        forces={x: 1 - zw.t},
        constraints=[
            zw.Bilateral(vy * sp.cos(phi) - vx * sp.sin(phi), name="skate"),
            zw.Unilateral(vx * sp.cos(phi) + vy * sp.sin(phi), name="pawl"),
        ],
    )
    start = dict.fromkeys(("x", "y", "phi", "v_x", "v_y", "v_phi"), 0.0)
    motion = zw.simulate(system, start, {}, until=3.0, tol=TIGHT)
    # v = t - t^2/2 vanishes at t = 2; it is held from there.
    assert [(e.kind, e.constraint, e.time) for e in motion.events] == [
        ("capture", "pawl", pytest.approx(2.0, abs=1e-11))
    ]
    assert motion.end["x"] == pytest.approx(2.0**2 / 2 - 2.0**3 / 6, abs=1e-11)
    assert motion.reactions["pawl"][-1] == pytest.approx(2.0, abs=1e-10)
    assert balance(motion) < 1e-11
