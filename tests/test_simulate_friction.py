"""Motion with friction: exact stiction, stick and slip, reversal, spatial friction, redundant supports."""

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


def test_block_below_the_friction_angle_does_not_move_at_all() -> None:
    entry = zw.gallery.get("incline_block")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=100.0)
    assert np.all(motion.q == 0.0)
    assert np.all(motion.v == 0.0)
    assert motion.events == ()
    assert motion.reactions["slope"] == pytest.approx(entry.facts["normal_force"].value, abs=1e-12)
    assert motion.friction["slope"] == pytest.approx(entry.facts["friction"].value, abs=1e-12)


def test_block_thrown_up_an_incline_stops_and_stays() -> None:
    entry = zw.gallery.get("incline_block")
    p = entry.params
    speed = 2.0
    motion = zw.simulate(entry.system, {**entry.state, "v_x": -speed}, p, until=2.0, tol=TIGHT)
    # Up the slope: a = g (sin + mu cos).
    decay = p["g"] * (math.sin(p["slope"]) + p["mu"] * math.cos(p["slope"]))
    assert [(e.kind, e.constraint) for e in motion.events] == [("stick", "slope")]
    assert motion.events[0].time == pytest.approx(speed / decay, abs=1e-12)
    assert motion.end["x"] == pytest.approx(-(speed**2) / (2 * decay), abs=1e-12)
    assert motion.end["v_x"] == 0.0
    assert balance(motion) < 1e-12
    # Nothing happens any more: the place where it stopped is kept to the last digit.
    assert np.ptp(motion.q[motion.t >= motion.events[0].time], axis=0).max() == 0.0


def test_block_thrown_up_a_slippery_incline_turns_round() -> None:
    entry = zw.gallery.get("incline_block")
    p = {**entry.params, "mu": 0.1}
    motion = zw.simulate(entry.system, {**entry.state, "v_x": -2.0}, p, until=2.0, tol=TIGHT)
    up, down = (p["g"] * (math.sin(p["slope"]) + s * 0.1 * math.cos(p["slope"])) for s in (1, -1))
    turn = 2.0 / up
    assert [e.kind for e in motion.events] == ["reversal"]
    assert motion.events[0].time == pytest.approx(turn, abs=1e-12)
    assert motion.end["x"] == pytest.approx(-(2.0**2) / (2 * up) + down * (2 - turn) ** 2 / 2, abs=1e-11)
    assert [span["slope"] for span in motion.modes] == ["slip-", "slip+"]
    assert balance(motion) < 1e-11


def test_block_on_a_belt_sticks_and_slips_when_closed_form_says() -> None:
    entry = zw.gallery.get("belt_block")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0, tol=TIGHT)
    times = [entry.facts[name].value for name in ("stick_time", "slip_time")]
    assert [e.kind for e in motion.events[:2]] == ["stick", "slip"]
    assert [e.time for e in motion.events[:2]] == pytest.approx(times, abs=1e-11)
    assert motion.at(motion.events[0].time)["x"] == pytest.approx(entry.facts["stick_place"].value, abs=1e-11)
    assert motion.at(motion.events[1].time)["x"] == pytest.approx(entry.facts["slip_place"].value, abs=1e-11)
    assert balance(motion) < 1e-11
    # While it sticks it moves with the belt exactly.
    inside = motion.at(np.linspace(motion.events[0].time, motion.events[1].time, 20))
    assert inside["v_x"] == pytest.approx(entry.params["belt_speed"], abs=1e-14)


def declared_stick_slip() -> tuple[zw.System, dict[str, float]]:
    """Return a block on a belt whose friction falls when it slides: mu_s at rest, a force drop by a second law."""
    (x,), (vx,) = zw.coordinates("x")
    k, u, R, drop = zw.parameters("k u R drop")
    # The drop acts against friction when the block slides back relative to the belt, growing with the slip.
    system = zw.System(
        kinetic=vx**2 / 2,
        potential=k * x**2 / 2,
        forces={x: drop * (vx - u)},
        constraints=[zw.Friction(R, slip=vx - u, name="belt")],
    )
    return system, {"k": 4.0, "u": 0.5, "R": 2.0, "drop": 0.6}


def test_stick_slip_cycle_of_a_belt_with_negative_damping_repeats_with_the_period_of_its_closed_form() -> None:
    from scipy.optimize import brentq

    system, p = declared_stick_slip()
    motion = zw.simulate(system, {"x": 0, "v_x": p["u"]}, p, until=30.0, tol=TIGHT)
    # Stick ends where the spring reaches R: x = R/k. Then x'' = -k x + drop (x' - u) + R (slip is negative), from
    # (R/k, u): a growing oscillation about x0 = (R - drop u)/k until the speed is u again.
    h, x0 = p["drop"] / 2, (p["R"] - p["drop"] * p["u"]) / p["k"]
    w = math.sqrt(p["k"] - h**2)
    a, b = p["R"] / p["k"] - x0, (p["u"] - h * (p["R"] / p["k"] - x0)) / w

    def place(t: float) -> float:
        return x0 + math.exp(h * t) * (a * math.cos(w * t) + b * math.sin(w * t))

    def speed(t: float) -> float:
        return math.exp(h * t) * ((h * a + w * b) * math.cos(w * t) + (h * b - w * a) * math.sin(w * t))

    sliding = brentq(lambda t: speed(t) - p["u"], math.pi / w, 2 * math.pi / w, xtol=1e-15)
    sticking = (p["R"] / p["k"] - place(sliding)) / p["u"]
    first = p["R"] / p["k"] / p["u"]
    expected = []
    for cycle in range(20):
        expected += [("slip", first + cycle * (sliding + sticking))]
        expected += [("stick", first + cycle * (sliding + sticking) + sliding)]
    expected = [(kind, time) for kind, time in expected if time < 30.0]
    assert len(expected) > 10
    assert [(e.kind) for e in motion.events] == [kind for kind, _ in expected]
    assert [e.time for e in motion.events] == pytest.approx([time for _, time in expected], abs=1e-9)
    assert balance(motion) < 1e-9


@pytest.mark.parametrize("n", [2, pytest.param(10, marks=pytest.mark.nightly)])
def test_tower_of_blocks_stands_without_penetration_or_drift(n: int) -> None:
    entry = zw.gallery.stack(n)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=10.0)
    assert motion.status.name == "REACHED"
    assert motion.drift < 1e-12
    assert np.abs(motion.q - motion.q[0]).max() == 0.0
    assert motion.events == ()


def test_block_that_slides_on_another_stops_while_the_lower_one_stands() -> None:
    entry = zw.gallery.stack(2)
    motion = zw.simulate(entry.system, {**entry.state, "v_x2": 1.0}, entry.params, until=1.0, tol=TIGHT)
    # Coulomb: it slows down by mu g, and the friction at the floor holds twice the weight.
    decay = entry.params["mu"] * entry.params["g"]
    assert [(e.kind, e.constraint) for e in motion.events] == [("stick", "block2 left"), ("stick", "block2 right")]
    assert [e.time for e in motion.events] == pytest.approx([1 / decay] * 2, abs=1e-11)
    assert motion.end["x2"] == pytest.approx(1 / (2 * decay), abs=1e-11)
    assert np.abs(motion.q[:, 0]).max() < 1e-12  # the lower block
    assert balance(motion) < 1e-11


def test_friction_that_two_corners_share_is_undetermined_while_their_loads_are_not() -> None:
    entry = zw.gallery.stack(1)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0)
    weight = entry.params["m"] * entry.params["g"]
    for corner in ("block1 left", "block1 right"):
        assert motion.reactions[corner] == pytest.approx(weight / 2, abs=1e-9)
        assert np.isnan(motion.friction[corner]).all()


def two_feet(slope: float) -> tuple[zw.System, dict[str, float]]:
    """Return a block on two rough feet on an incline: x down the slope, y away from it."""
    (x, y, phi), (vx, vy, w) = zw.coordinates("x y phi", angles="phi")
    feet = []
    for name, arm in (("upper", -1), ("lower", 1)):
        foot = sp.Matrix([x + arm * sp.cos(phi) + sp.sin(phi) / 2, y + arm * sp.sin(phi) - sp.cos(phi) / 2])
        law = zw.Coulomb(sp.Rational(1, 2), slip=zw.rate(foot[0]))
        feet.append(zw.Unilateral(foot[1], friction=law, restitution=0, name=name))
    pull, load = sp.Float(10 * math.sin(slope)), sp.Float(10 * math.cos(slope))
    kinetic = (vx**2 + vy**2 + w**2) / 2
    system = zw.System(name="feet", kinetic=kinetic, potential=load * y - pull * x, constraints=feet)
    return system, {"x": 0.0, "y": 0.5, "phi": 0.0, "v_x": 0.0, "v_y": 0.0, "v_phi": 0.0}


def test_block_on_two_feet_holds_up_to_the_friction_angle_and_slides_beyond_it() -> None:
    # Both feet together hold tan(slope) <= mu = 1/2, though neither could alone.
    system, state = two_feet(0.44)
    motion = zw.simulate(system, state, {}, until=2.0)
    assert motion.status.name == "REACHED"
    assert motion.events == ()
    assert np.all(motion.q == motion.q[0])
    system, state = two_feet(0.50)
    motion = zw.simulate(system, state, {}, until=1.0, tol=TIGHT)
    assert motion.end["x"] == pytest.approx(10 * (math.sin(0.5) - 0.5 * math.cos(0.5)) / 2, abs=1e-10)
    assert balance(motion) < 1e-10


def three_supports() -> tuple[zw.System, dict[str, float]]:
    """Return a beam on three supports without friction, its weight over the middle one."""
    (y, phi), (vy, w) = zw.coordinates("y phi")
    places = {"left": -1, "middle": 0, "right": 1}
    supports = [zw.Unilateral(y + place * phi, restitution=0, name=name) for name, place in places.items()]
    system = zw.System(name="beam", kinetic=(vy**2 + w**2) / 2, potential=6 * y, constraints=supports)
    return system, dict.fromkeys(("y", "phi", "v_y", "v_phi"), 0.0)


def test_loads_of_three_supports_are_nan_with_their_ranges() -> None:
    system, state = three_supports()
    motion = zw.simulate(system, state, {}, until=1.0)
    # N1 = N3 and N1 + N2 + N3 = 6.
    assert all(np.isnan(motion.reactions[name]).all() for name in ("left", "middle", "right"))
    assert motion.reaction_range["left"][-1] == pytest.approx([0.0, 3.0], abs=1e-9)
    assert motion.reaction_range["middle"][-1] == pytest.approx([0.0, 6.0], abs=1e-9)
    assert np.all(motion.q == 0.0)
    least = zw.simulate(system, state, {}, until=1.0, redundant="minimum norm")
    assert [least.reactions[name][-1] for name in ("left", "middle", "right")] == pytest.approx([2.0, 2.0, 2.0])


def spatial_block() -> zw.System:
    """A block on a plane with friction in both directions."""
    (x, _, z), (vx, vy, vz) = zw.coordinates("x y z")
    m, g, mu, fx = zw.parameters("m g mu fx")
    floor = zw.Unilateral(z, friction=zw.Coulomb(mu, slip=(vx, vy)), restitution=0, name="floor")
    return zw.System(
        name="sled", kinetic=m * (vx**2 + vy**2 + vz**2) / 2, potential=m * g * z, forces={x: fx}, constraints=[floor]
    )


def test_spatial_block_slides_straight_and_stops_in_the_time_of_coulomb() -> None:
    params = {"m": 2.0, "g": 9.81, "mu": 0.3, "fx": 0.0}
    start = {"x": 0, "y": 0, "z": 0, "v_x": 3.0, "v_y": 4.0, "v_z": 0}
    motion = zw.simulate(spatial_block(), start, params, until=4.0, tol=TIGHT)
    decay = params["mu"] * params["g"]
    assert [e.kind for e in motion.events] == ["stick"]
    assert motion.events[0].time == pytest.approx(5.0 / decay, abs=1e-8)
    way = 25.0 / (2 * decay)
    assert motion.end["x"] == pytest.approx(0.6 * way, abs=1e-8)
    assert motion.end["y"] == pytest.approx(0.8 * way, abs=1e-8)
    assert motion.end["v_x"] == 0.0
    assert motion.friction["floor"][0] == pytest.approx([-0.6 * 0.3 * 2 * 9.81, -0.8 * 0.3 * 2 * 9.81], abs=1e-12)
    assert balance(motion) < 1e-8


def test_spatial_block_at_rest_is_moved_by_what_exceeds_friction() -> None:
    weight = 2.0 * 9.81
    params = {"m": 2.0, "g": 9.81, "mu": 0.3, "fx": 0.29 * weight}
    start = dict.fromkeys(("x", "y", "z", "v_x", "v_y", "v_z"), 0.0)
    assert np.all(zw.simulate(spatial_block(), start, params, until=1.0).q == 0.0)
    motion = zw.simulate(spatial_block(), start, {**params, "fx": 0.5 * weight}, until=1.0, tol=TIGHT)
    assert motion.end["x"] == pytest.approx(0.2 * 9.81 / 2, abs=1e-10)
    assert motion.modes[0]["floor"] == "slip"


def test_friction_with_a_given_bound_sticks_exactly() -> None:
    (x,), (vx,) = zw.coordinates("x")
    system = zw.System(
        kinetic=vx**2 / 2, forces={x: 2 * sp.sin(zw.t)}, constraints=[zw.Friction(1, slip=vx, name="brake")]
    )
    motion = zw.simulate(system, {"x": 0, "v_x": 0}, {}, until=3.0, tol=TIGHT)
    assert [(e.kind, e.constraint) for e in motion.events] == [("slip", "brake"), ("stick", "brake")][
        : len(motion.events)
    ]
    assert motion.events[0].time == pytest.approx(math.asin(0.5), abs=1e-10)  # 2 sin(t) = 1
    start = motion.events[0].time
    times = np.linspace(start, 2.9, 10)
    expected = 2 * (math.cos(start) - np.cos(times)) - (times - start)
    assert motion.at(times)["v_x"] == pytest.approx(expected, abs=1e-10)
    assert np.all(motion.at(np.linspace(0, start, 5))["x"] == 0.0)
    assert balance(motion) < 1e-10


def test_bilateral_contact_with_friction_changes_from_pushing_to_pulling() -> None:
    # A bead on a straight rail y = 0 under a load that turns round: friction is mu |N|.
    (_, y), (vx, vy) = zw.coordinates("x y")
    rail = zw.Bilateral(y, friction=zw.Coulomb(sp.Rational(1, 4), slip=vx), name="rail")
    system = zw.System(kinetic=(vx**2 + vy**2) / 2, forces={y: zw.t - 1}, constraints=[rail])
    motion = zw.simulate(system, {"x": 0, "y": 0, "v_x": 3.0, "v_y": 0}, {}, until=2.0, tol=TIGHT)
    # N = 1 - t; x'' = -|1 - t|/4 and the speed falls by 1/4 in two seconds.
    assert motion.end["v_x"] == pytest.approx(3.0 - 0.25, abs=1e-11)
    assert motion.reactions["rail"][0] == pytest.approx(1.0)
    assert motion.reactions["rail"][-1] == pytest.approx(-1.0)
    assert [span["rail"] for span in motion.modes] == ["slip+", "slip+ (N<0)"]
    assert balance(motion) < 1e-11
