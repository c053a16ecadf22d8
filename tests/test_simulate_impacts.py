"""Impacts, accumulation, paradoxes and choices on the way of a motion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

TIGHT = 1e-12


def balance(motion: Any) -> float:
    total = motion.energy["total"]
    return float(np.abs(total - total[0] - sum(motion.work.values())).max())


def test_bouncing_ball_comes_to_rest_when_its_impacts_accumulate() -> None:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=6.0)
    assert motion.status.name == "REACHED"
    assert motion.events[0].kind == "impact"
    assert motion.events[0].time == pytest.approx(entry.facts["first_impact"].value, abs=1e-12)
    (ended,) = motion.events.of("accumulation")
    assert (ended.constraint, ended.time) == ("floor", pytest.approx(entry.facts["rest_time"].value, abs=1e-9))
    assert motion.events[-1].kind == "contact"
    assert motion.end["v_y"] == 0.0
    assert motion.drift < 1e-14
    assert balance(motion) < 1e-11
    # The ball rises to e^2 of its height in the middle of the first flight.
    first, second = motion.events[0].time, motion.events[1].time
    assert motion.at((first + second) / 2)["y"] == pytest.approx(entry.facts["second_height"].value, abs=1e-11)


def test_impact_gives_two_rows_of_equal_time() -> None:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0)
    (impact,) = motion.events
    before, after = np.flatnonzero(motion.t == impact.time)
    assert motion.v[after, 0] == pytest.approx(-0.8 * motion.v[before, 0], abs=1e-12)
    assert motion.at(impact.time)["v_y"] == motion.v[after, 0]
    assert impact.details["impulses"]["floor"] == pytest.approx(1.8 * -motion.v[before, 0], abs=1e-12)
    drop = impact.details["energy_change"]
    assert drop == pytest.approx(motion.energy["total"][after] - motion.energy["total"][before], abs=1e-12)


def test_impact_without_a_declared_restitution_is_a_choice() -> None:
    (y,), (vy,) = zw.coordinates("y")
    ball = zw.System(name="ball", kinetic=vy**2 / 2, potential=y, constraints=[zw.Unilateral(y, name="floor")])
    motion = zw.simulate(ball, {"y": 1, "v_y": 0}, {}, until=3.0)
    assert motion.status.name == "CHOICE"
    assert [event.kind for event in motion.events] == ["choice"]
    assert motion.t[-1] == pytest.approx(math.sqrt(2), abs=1e-11)
    assert "no restitution was declared" in motion.reason


def test_impact_that_is_due_at_the_start_happens_there() -> None:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, {"y": 0.0, "v_y": -1.0}, entry.params, until=0.1)
    assert (motion.events[0].kind, motion.events[0].time) == ("impact", 0.0)
    assert list(motion.t[:2]) == [0.0, 0.0]
    assert list(motion.v[:2, 0]) == [-1.0, pytest.approx(0.8)]
    assert balance(motion) < 1e-12


def test_falling_rod_with_friction_needs_a_law_of_impact() -> None:
    rod = zw.gallery.get("painleve_rod")
    start = {"y": 1.0, "v_x": 0.2}  # the slip turns round during the impact
    params = {**rod.params, "mu": 0.3, "e": 0.5}
    stopped = zw.simulate(rod.system, {**rod.state, **start}, params, until=0.5)
    assert stopped.status.name == "CHOICE"
    assert "none was named" in stopped.reason
    assert len(stopped.continuations) >= 2
    speeds = set()
    for law in ("newton", "poisson", "energetic"):
        motion = zw.simulate(rod.system, {**rod.state, **start}, params, until=0.2, impact=law)
        assert motion.events[0].details["law"] == law
        speeds.add(round(float(motion.events[0].details["after"][1]), 6))
        assert balance(motion) < 1e-9
    assert len(speeds) >= 2


# Normal impulses of the impact without collision at 60 degrees, mu = 1.4, tip speed 1, uniform rod of unit mass and
# half length: momentum balance for the plastic one, (sqrt(3)/4) and 7/16; independent integration for the other two.
@pytest.mark.parametrize(
    ("law", "e", "normal", "tangential"),
    [
        ("newton", 0.0, 0.3247595264, 7 / 16),
        ("energetic", 0.5, 0.3620834731, None),
        ("poisson", 0.5, 0.4871392896, None),
    ],
)
def test_painleve_rod_goes_on_through_an_impact_without_collision(
    law: str, e: float, normal: float, tangential: float | None
) -> None:
    rod = zw.gallery.get("painleve_rod")
    params = {**rod.params, "mu": 1.4, "e": e}
    motion = zw.simulate(rod.system, rod.state, params, until=0.05, impact=law, at_paradox="impact")
    assert [event.kind for event in motion.events[:2]] == ["paradox", "impact"]
    details = motion.events[1].details
    assert details["impulses"]["tip"] == pytest.approx(normal, abs=1e-9)
    if tangential is not None:
        assert details["friction_impulses"]["tip"] == pytest.approx([tangential], abs=1e-9)
    assert details["energy_change"] < 0
    assert balance(motion) < 1e-9


def test_painleve_rod_stops_in_the_paradox_and_says_why() -> None:
    rod = zw.gallery.get("painleve_rod")
    motion = zw.simulate(rod.system, rod.state, {**rod.params, "mu": 1.4}, until=1.0)
    assert motion.status.name == "PARADOX"
    assert [(event.kind, event.constraint) for event in motion.events] == [("paradox", "tip")]
    assert motion.t.tolist() == [0.0]
    assert np.isnan(motion.reactions["tip"]).all()
    assert "No reaction" in repr(motion)


def spinning() -> dict[str, float]:
    """The rod that turns with 4 rad/s about its sliding tip: two answers at mu = 1.4."""
    rod = zw.gallery.get("painleve_rod")
    theta, w = math.pi / 3, 4.0
    return {**rod.state, "v_x": -1.0 - w * math.sin(theta), "v_y": w * math.cos(theta), "v_theta": w}


def test_painleve_rod_with_two_answers_stops_with_both_continuations() -> None:
    rod = zw.gallery.get("painleve_rod")
    motion = zw.simulate(rod.system, spinning(), {**rod.params, "mu": 1.4}, until=0.1)
    assert motion.status.name == "CHOICE"
    assert [item.labels["tip"] for item in motion.continuations] == ["open", "slip-"]
    assert motion.continuations[0].acceleration == pytest.approx([0.0, -9.81, 0.0])


def test_callable_takes_one_of_two_answers() -> None:
    rod = zw.gallery.get("painleve_rod")

    def open_contact(found: Any) -> int:
        return next(i for i, one in enumerate(found.solutions) if one.modes["tip"] == "open")

    params = {**rod.params, "mu": 1.4}
    motion = zw.simulate(rod.system, spinning(), params, until=0.05, at_choice=open_contact)
    assert motion.status.name == "REACHED"
    assert motion.modes[0]["tip"] == "open"
    assert motion.a[0] == pytest.approx([0.0, -9.81, 0.0], abs=1e-12)
    with pytest.raises(zw.DeclarationError, match="at_choice= returned 7; needed the index of one of 2 solutions"):
        zw.simulate(rod.system, spinning(), params, until=0.05, at_choice=lambda found: 7)


def test_sliding_rod_lifts_off_where_its_normal_force_vanishes() -> None:
    # Below the paradox (mu = 0.3) the rod that turns fast is thrown off: N falls to zero when l w^2 sin(theta) = g.
    rod = zw.gallery.get("painleve_rod")
    params = {**rod.params, "mu": 0.3}
    theta, w = math.pi / 3, 3.3
    start = {**rod.state, "v_x": -1.0 - w * math.sin(theta), "v_y": w * math.cos(theta), "v_theta": w}
    motion = zw.simulate(rod.system, start, params, until=0.3, tol=TIGHT)
    assert "lift-off" in [event.kind for event in motion.events]
    lift = motion.events.of("lift-off")[0].time
    at = motion.at(lift)
    assert at["v_theta"] ** 2 * math.sin(at["theta"]) == pytest.approx(9.81, abs=1e-8)
    after = motion.at(np.linspace(lift, min(lift + 0.05, 0.3), 10))
    assert np.all(after["y"] - np.sin(after["theta"]) >= -1e-13)
    assert balance(motion) < 1e-9


def test_block_on_a_floor_that_falls_away_lifts_off_and_lands() -> None:
    # The floor z = sin(t) accelerates by -sin(t): with g = 1/2 the block leaves it at sin(t) = 1/2.
    (y,), (vy,) = zw.coordinates("y")
    floor = zw.Unilateral(y - sp.sin(zw.t), restitution=0, name="floor")
    system = zw.System(kinetic=vy**2 / 2, potential=y / 2, constraints=[floor])
    motion = zw.simulate(system, {"y": 0, "v_y": 1}, {}, until=8.0, tol=TIGHT)
    leave = math.pi / 6
    assert motion.events[0].kind == "lift-off"
    assert motion.events[0].time == pytest.approx(leave, abs=1e-10)
    from scipy.optimize import brentq

    def gap(t: float) -> float:
        s = t - leave
        return math.sin(leave) + math.cos(leave) * s - s**2 / 4 - math.sin(t)

    land = brentq(gap, leave + 1.0, 8.0, xtol=1e-14)
    assert [event.kind for event in motion.events[1:3]] == ["impact", "contact"]
    assert motion.events[1].time == pytest.approx(land, abs=1e-10)
    assert motion.work["floor"][-1] != 0.0
    assert balance(motion) < 1e-10


def test_rocking_block_comes_to_rest_after_impacts_that_alternate_between_its_corners() -> None:
    # A square block of side 1 on a rough floor, tilted by 0.05 about its left corner. At each impact about the other
    # corner the angular velocity falls by Housner's factor r = 1 - 3/2 sin^2(45 degrees) = 1/4, for plastic impacts.
    entry, tilt = zw.gallery.stack(1), 0.05
    x, y = 0.5 * (math.cos(tilt) - math.sin(tilt)), 0.5 * (math.sin(tilt) + math.cos(tilt))
    state = {**entry.state, "x1": x - 0.5, "y1": y, "theta1": tilt}
    motion = zw.simulate(entry.system, state, {**entry.params, "mu": 2.0}, until=2.0, impact="newton")
    assert motion.status.name == "REACHED"
    impacts = motion.events.of("impact")
    assert [e.constraint for e in impacts[:4]] == ["block1 right", "block1 left"] * 2
    for event in impacts[:4]:
        before, after = (event.details[when][2] for when in ("before", "after"))
        assert after / before == pytest.approx(0.25, abs=1e-9)
    ends = motion.events.of("accumulation")
    assert {e.constraint for e in ends} == {"block1 left", "block1 right"}
    assert motion.end["theta1"] == pytest.approx(0.0, abs=1e-9)
    assert motion.end["v_theta1"] == 0.0
    assert balance(motion) < 1e-9


def test_two_contacts_that_close_together_need_a_law() -> None:
    (y, phi), (vy, w) = zw.coordinates("y phi")
    feet = [zw.Unilateral(y + s * phi, restitution=sp.Rational(1, 2), name=name) for name, s in (("a", 1), ("b", -1))]
    plank = zw.System(name="plank", kinetic=vy**2 / 2 + w**2 / 4, potential=y, constraints=feet)
    start = {"y": 1, "phi": 0, "v_y": 0, "v_phi": 0}
    stopped = zw.simulate(plank, start, {}, until=2.0)
    if stopped.status.name == "CHOICE":  # the laws may agree where everything is symmetric
        assert "impact=" in stopped.reason
    motion = zw.simulate(plank, start, {}, until=1.6, impact="newton")
    (struck,) = motion.events  # one jump of the velocity, one event
    assert (struck.kind, struck.constraint, struck.details["constraints"]) == ("impact", None, ("a", "b"))
    assert motion.events.of("impact", "b") == motion.events
    assert repr(struck).startswith("impact of 'a', 'b' at t = 1.41")
    assert motion.end["v_phi"] == pytest.approx(0.0, abs=1e-12)
    assert balance(motion) < 1e-12


def test_grazing_contact_is_not_logged() -> None:
    # A parabola that touches the floor from above: gap (t - 1)^2.
    (y,), (vy,) = zw.coordinates("y")
    system = zw.System(kinetic=vy**2 / 2, forces={y: 2}, constraints=[zw.Unilateral(y, restitution=0, name="floor")])
    motion = zw.simulate(system, {"y": 1, "v_y": -2}, {}, until=2.0)
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events if event.kind in ("contact", "lift-off")] == []
    assert motion.end["y"] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("mu", "omega"), [(1.5, 0.0), (1.6, 1.5)])
def test_sliding_rod_that_nears_the_point_of_genot_and_brogliato_stops_there(mu: float, omega: float) -> None:
    # The denominator 1 + 3 cos^2 - 3 mu sin cos of the uniform rod vanishes where tan(theta) is
    # (3 mu - sqrt(9 mu^2 - 16))/2, the numerator g - w^2 sin(theta) at the angular velocity sqrt(g/sin(theta)).
    rod = zw.gallery.get("painleve_rod")
    critical = math.atan((3 * mu - math.sqrt(9 * mu**2 - 16)) / 2)
    theta = critical - math.radians(1.0)
    start = {"x": math.cos(theta), "y": math.sin(theta), "theta": theta}
    start |= {"v_x": -30.0 - omega * math.sin(theta), "v_y": omega * math.cos(theta), "v_theta": omega}
    motion = zw.simulate(rod.system, start, {**rod.params, "mu": mu}, until=0.5)
    assert motion.status.name == "SINGULAR"
    assert [event.kind for event in motion.events] == ["singular"]
    assert motion.end["theta"] == pytest.approx(critical, abs=1e-4)
    assert motion.end["v_theta"] == pytest.approx(math.sqrt(9.81 / math.sin(critical)), abs=1e-2)
    assert "wedges" in motion.reason


def cradle(e: Any) -> Any:
    q, v = zw.coordinates("a b c")
    gaps = [zw.Unilateral(q[i + 1] - q[i] - 1, restitution=e, name=name) for i, name in enumerate(("ab", "bc"))]
    return zw.System(name="cradle", kinetic=sum(u**2 for u in v) / 2, constraints=gaps)


def test_cradle_at_rest_in_contact_is_a_choice_whose_continuations_can_be_taken() -> None:
    start = {"a": -1, "b": 1, "c": 2, "v_a": 1, "v_b": 0, "v_c": 0}
    motion = zw.simulate(cradle(1), start, {}, until=3.0)
    assert motion.status.name == "CHOICE"
    assert motion.t[-1] == pytest.approx(1.0, abs=1e-12)
    assert "single impacts in every order differ" in motion.reason and "impact='newton' or 'poisson'" in motion.reason
    ends = []
    for way in motion.continuations:
        on = zw.simulate(cradle(1), way.state, {}, until=3.0)
        assert on.status.name == "REACHED" and on.t[0] == motion.t[-1]
        ends.append([on.end[name] for name in ("v_a", "v_b", "v_c")])
    assert ends[0] == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-12)
    assert ends[1] == pytest.approx([0, 0, 1], abs=1e-12)
    assert "newton, poisson:" in repr(motion.continuations[0])
    assert "single impacts at 'ab', 'bc':" in repr(motion.continuations[1])


def test_plastic_cradle_goes_on_since_all_laws_and_orders_agree() -> None:
    start = {"a": -1, "b": 1, "c": 2, "v_a": 1, "v_b": 0, "v_c": 0}
    motion = zw.simulate(cradle(0), start, {}, until=3.0)
    assert motion.status.name == "REACHED"
    assert motion.v[-1] == pytest.approx([1 / 3] * 3, abs=1e-12)


def test_plastic_rocking_block_needs_no_law_of_impact() -> None:
    entry, tilt = zw.gallery.stack(1), 0.05
    x, y = 0.5 * (math.cos(tilt) - math.sin(tilt)), 0.5 * (math.sin(tilt) + math.cos(tilt))
    state = {**entry.state, "x1": x - 0.5, "y1": y, "theta1": tilt}
    without, newton = (
        zw.simulate(entry.system, state, {**entry.params, "mu": 2.0}, until=0.5, impact=law) for law in (None, "newton")
    )
    assert without.status.name == "REACHED"
    assert [event.time for event in without.events] == [event.time for event in newton.events]


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_a_box_that_falls_flat_on_a_rough_floor_stays(unit: float) -> None:
    """The slips have no speed of their own before the impact: what rounding leaves of them after it is rest."""
    box = zw.Bodies("box", gravity=(0, 0, -10 * unit))
    box.body("b", mass=1, inertia=(unit**2, unit**2, unit**2))
    box.free("f", "ground", "b")
    box.shape("s", on="b", form=zw.shapes.Box(0.2 * unit, 0.4 * unit, 0.6 * unit))
    box.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    box.contact("s", "floor", friction=0.5, restitution=0, name="step")
    start = box.place("b", at=(0, 0, 0.5 * unit))
    motion = zw.simulate(box.system(), start, until=0.5, impact="newton")
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["impact"] + ["contact"] * 4
    assert motion.events[0].time == pytest.approx(0.2, rel=1e-9) and not motion.v[-1].any()
