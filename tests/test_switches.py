"""Constraints that switch, velocities that are reset: against closed forms, in every verb, and what is refused."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import DeclarationError

(x, y), (vx, vy) = zw.coordinates("x y")
m, g, length = zw.parameters("m g l")
FALL = 9.81


def hook(m1: float = 3.0, m2: float = 1.0) -> zw.System:
    """Return a mass that runs into another one and is caught by a hook."""
    return zw.System(
        name="hook",
        kinetic=m1 * vx**2 / 2 + m2 * vy**2 / 2,
        constraints=[zw.Bilateral(x - y, name="hook", starts="off")],
        events=[zw.Event(x - y, direction=1, then=zw.Switch(on="hook"), name="catch")],
    )


def pendulum(*events: zw.Event) -> zw.System:
    """Return a weight on a bar."""
    bar = zw.Bilateral(sp.sqrt(x**2 + y**2) - length, name="bar")
    return zw.System(
        name="pendulum", kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y, constraints=[bar], events=events
    )


BREAKS = zw.Event(-zw.reaction("bar") - 50, direction=1, then=zw.Switch(off="bar"), name="breaks")
LEVEL = {"x": 1.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}
MOVING = {"x": -1.0, "y": 0.0, "v_x": 2.0, "v_y": 0.0}


@pytest.mark.parametrize(("m1", "m2", "speed"), [(3.0, 1.0, 2.0), (0.2, 5.0, 7.0), (1e-3, 1e-3, 1e-3)])
def test_a_hook_loses_the_energy_of_a_plastic_impact(m1: float, m2: float, speed: float) -> None:
    start = {"x": -speed, "y": 0.0, "v_x": speed, "v_y": 0.0}
    motion = zw.simulate(hook(m1, m2), start, until=2.0)
    lost = m1 * m2 * speed**2 / (2 * (m1 + m2))
    assert [event.kind for event in motion.events] == ["switch"]
    assert motion.events[0].time == pytest.approx(1.0, abs=1e-11)
    assert motion.events[0].energy == pytest.approx(lost, rel=1e-12)
    assert motion.work["catch"][-1] == pytest.approx(-lost, rel=1e-12)
    total = motion.energy["total"]
    assert total[-1] - total[0] == pytest.approx(sum(work[-1] for work in motion.work.values()), rel=1e-12)
    assert motion.v[-1] == pytest.approx([m1 * speed / (m1 + m2)] * 2, rel=1e-12)
    assert motion.at(0.5)["on"] == () and motion.at(1.5)["on"] == ("hook",)


def test_a_clutch_leaves_the_common_rate() -> None:
    _, (wa, wb) = zw.coordinates("a b", angles=True)
    one, two = zw.parameters("J1 J2")
    system = zw.System(
        kinetic=one * wa**2 / 2 + two * wb**2 / 2,
        constraints=[zw.Bilateral(wa - wb, name="clutch", starts="off")],
        events=[zw.Event(zw.t - 1, then=zw.Switch(on="clutch"), name="engage")],
    )
    start = {"a": 0.0, "b": 0.0, "v_a": 2.0, "v_b": -1.0}
    motion = zw.simulate(system, start, {"J1": 3.0, "J2": 2.0}, until=2.0)
    assert motion.v[-1] == pytest.approx([(3 * 2 - 2) / 5] * 2, rel=1e-13)
    assert motion.events[0].energy == pytest.approx(0.5 * 3 * 2 / 5 * 3**2, rel=1e-12)


@pytest.mark.parametrize("mass", [1.71, 2.0, 5.0])
def test_a_bar_breaks_where_its_force_reaches_the_bound_and_a_parabola_follows(mass: float) -> None:
    motion = zw.simulate(pendulum(BREAKS), LEVEL, {"m": mass, "g": FALL, "l": 1.0}, until=1.0, tol=1e-12)
    (event,) = motion.events
    at = motion.at(event.time)
    assert -at["y"] == pytest.approx(50 / (3 * mass * FALL), rel=1e-10)  # tension 3 m g sin(phi)
    assert math.hypot(at["v_x"], at["v_y"]) == pytest.approx(math.sqrt(2 * FALL * -at["y"]), rel=1e-10)
    left = 1.0 - event.time
    assert motion.end["x"] == pytest.approx(at["x"] + left * at["v_x"], rel=1e-10)
    assert motion.end["y"] == pytest.approx(at["y"] + left * at["v_y"] - FALL * left**2 / 2, rel=1e-10)
    assert motion.end["on"] == ()
    assert motion.modes[-1]["bar"] == "off"
    assert motion.drift < 1e-9


def test_a_light_weight_breaks_nothing() -> None:
    motion = zw.simulate(pendulum(BREAKS), LEVEL, {"m": 1.69, "g": FALL, "l": 1.0}, until=1.0)
    assert not motion.events and motion.end["on"] == ("bar",)  # 3 m g = 49.7 N


def test_events_of_a_call_switch_too_and_states_carry_what_is_on() -> None:
    values = {"m": 2.0, "g": FALL, "l": 1.0}
    plain = pendulum()
    motion = zw.simulate(plain, LEVEL, values, until=0.8, events=[BREAKS])
    assert motion.events.of("switch")[0].name == "breaks"
    after = zw.reactions(plain, motion.at(0.8), values)
    assert after.solutions[0].acceleration == pytest.approx([0, -FALL]) and not after.contacts
    before = zw.reactions(plain, motion.at(0.2), values)
    assert before.contacts == ("bar",)
    further = zw.simulate(plain, motion.end, values, until=1.0)
    whole = zw.simulate(plain, LEVEL, values, until=1.0, events=[BREAKS])
    assert further.end["on"] == whole.end["on"] == ()
    assert further.q[-1] == pytest.approx(whole.q[-1], rel=1e-9)
    carried = zw.simulate(motion, until=1.0)
    assert carried.end["on"] == () and carried.end["y"] == pytest.approx(further.end["y"], rel=1e-12)


def test_a_door_latches_holds_and_is_released() -> None:
    (th,), (w,) = zw.coordinates("theta")
    push, inertia = zw.parameters("push J")
    door = zw.System(
        kinetic=inertia * w**2 / 2,
        forces={th: sp.Piecewise((-push, zw.t < 2.5), (push, True))},
        constraints=[zw.Unilateral(th, restitution=0.5, name="frame"), zw.Bilateral(th, name="latch", starts="off")],
        events=[
            zw.Event(th, direction=-1, then=zw.Switch(on="latch"), name="catches"),
            zw.Event(zw.t - 3, then=zw.Switch(off="latch"), name="released"),
        ],
    )
    motion = zw.simulate(door, {"theta": 1.0, "v_theta": 0.0}, {"push": 1.0, "J": 2.0}, until=4.0)
    catches, released = motion.events.of("switch")
    assert catches.time == pytest.approx(2.0, abs=1e-11)
    assert catches.energy == pytest.approx(1.0, rel=1e-11)  # J w^2 / 2 with w = push t / J = 1
    assert motion.at(2.9)["theta"] == pytest.approx(0.0, abs=1e-12)
    assert released.time == pytest.approx(3.0, abs=1e-13)
    assert motion.end["theta"] == pytest.approx(0.25, rel=1e-9)  # push t^2 / (2 J)


def test_a_launcher_lets_go_where_its_force_vanishes() -> None:
    stiffness, plate = zw.parameters("k mp")
    launcher = zw.System(
        kinetic=m * vx**2 / 2 + plate * vy**2 / 2,
        potential=stiffness * y**2 / 2,
        constraints=[zw.Bilateral(x - y, name="plate")],
        events=[zw.Event(zw.reaction("plate"), direction=-1, then=zw.Switch(off="plate"), name="lets go")],
    )
    values = {"m": 2.0, "mp": 0.5, "k": 100.0}
    motion = zw.simulate(launcher, {"x": -0.1, "y": -0.1, "v_x": 0.0, "v_y": 0.0}, values, until=1.0)
    omega = math.sqrt(100 / 2.5)
    assert motion.events[0].time == pytest.approx(math.pi / 2 / omega, rel=1e-10)
    assert motion.end["v_x"] == pytest.approx(0.1 * omega, rel=1e-10)
    assert motion.energy["total"][-1] == pytest.approx(0.5, rel=1e-10)


def test_a_ball_loses_its_shell_at_its_third_impact() -> None:
    (a, b), (va, vb) = zw.coordinates("a b")
    shell = zw.parameters("s")
    ball = zw.System(
        kinetic=m * va**2 / 2 + shell * vb**2 / 2,
        potential=g * (m * a + shell * b),
        constraints=[zw.Unilateral(a, restitution=0.8, name="floor"), zw.Bilateral(a - b, name="shell")],
        events=[zw.Event("impact", of="floor", count=3, then=zw.Switch(off="shell"), name="loses")],
    )
    values = {"m": 2.0, "s": 1.0, "g": FALL}
    motion = zw.simulate(ball, {"a": 1.0, "b": 1.0, "v_a": 0.0, "v_b": 0.0}, values, until=2.3)
    kinds = [event.kind for event in motion.events]
    assert kinds[:4] == ["impact", "impact", "impact", "switch"]
    third = math.sqrt(2 / FALL) * (1 + 2 * 0.8 + 2 * 0.8**2)
    assert motion.events[3].time == pytest.approx(third, rel=1e-10)
    up = 0.8**3 * math.sqrt(2 * FALL)
    left = 2.3 - third
    assert motion.end["b"] == pytest.approx(up * left - FALL * left**2 / 2, rel=1e-9)
    total = motion.energy["total"]
    assert total[-1] - total[0] == pytest.approx(sum(work[-1] for work in motion.work.values()), rel=1e-11)


def test_an_escapement_settles_into_its_beat() -> None:
    loss, gain, stiffness = zw.parameters("c e k")
    kick = zw.Reset({vx: sp.sign(vx) * sp.sqrt(vx**2 * (1 - loss) + gain)})
    clock = zw.System(
        kinetic=vx**2 / 2,
        potential=stiffness * x**2 / 2,
        coordinates=(x,),
        events=[zw.Event(x, then=kick, name="beat")],
    )
    values = {"c": 0.1, "e": 0.02, "k": math.pi**2}
    motion = zw.simulate(clock, {"x": 0.5, "v_x": 0.0}, values, until=120.0)
    beats = motion.events.of("switch")
    assert len(beats) == 120
    assert [event.time for event in beats] == pytest.approx(np.arange(120) + 0.5, abs=1e-8)
    # v^2 -> v^2 (1 - c) + e: what is left of the first swing after n beats
    speed = 0.1 + (math.pi**2 / 8 - 0.1) * 0.9**120
    assert motion.energy["total"][-1] == pytest.approx(speed, rel=1e-8)


@pytest.mark.nightly
def test_an_escapement_over_a_thousand_beats() -> None:
    kick = zw.Reset({vx: sp.sign(vx) * sp.sqrt(vx**2 * sp.Rational(9, 10) + sp.Rational(1, 50))})
    system = zw.System(
        kinetic=vx**2 / 2, potential=x**2 / 2, coordinates=(x,), events=[zw.Event(x, then=kick, name="beat")]
    )
    motion = zw.simulate(system, {"x": 1.0, "v_x": 0.0}, until=1000.5 * math.pi)
    beats = motion.events.of("switch")
    assert len(beats) == 1000
    assert beats[-1].time == pytest.approx(999.5 * math.pi, rel=1e-9)


def test_an_event_happens_by_a_jump_too() -> None:
    ball = zw.gallery.get("bouncing_ball")
    (height,), (speed,) = ball.system.coordinates, ball.system.velocities
    turn = zw.Event(speed, direction=1, name="turns")
    motion = zw.simulate(ball.system, {height: 1.0, speed: 0.0}, ball.params, until=1.0, events=[turn])
    (impact,), (user,) = motion.events.of("impact"), motion.events.of("user")
    assert user.time == impact.time and user.name == "turns"


def test_a_reset_against_a_closed_floor_is_an_impact() -> None:
    system = zw.System(
        kinetic=vy**2 / 2, potential=g * y, coordinates=(y,),
        constraints=[zw.Unilateral(y, restitution=0.5, name="floor")],
        events=[zw.Event(zw.t - 1, then=zw.Reset({vy: -2}), name="struck")],
    )  # fmt: skip
    motion = zw.simulate(system, {"y": 0.0, "v_y": 0.0}, {"g": FALL}, until=1.1)
    assert [event.kind for event in motion.events][:2] == ["switch", "impact"]
    assert motion.events[1].details["after"] == pytest.approx([1.0])


def test_a_one_sided_constraint_switched_on_is_an_ordinary_impact() -> None:
    system = zw.System(
        kinetic=vy**2 / 2, potential=y, coordinates=(y,),
        constraints=[zw.Unilateral(y, restitution=1, name="net", starts="off")],
        events=[zw.Event(y, direction=-1, count=1, then=zw.Switch(on="net"), name="spread")],
    )  # fmt: skip
    motion = zw.simulate(system, {"y": 1.0, "v_y": 0.0}, until=4.0)
    assert [event.kind for event in motion.events] == ["switch", "impact"]
    assert motion.end["y"] == pytest.approx(1 - (4 - 2 * math.sqrt(2)) ** 2 / 2, rel=1e-9)


def test_what_can_not_be_switched_on_stops_with_its_figure() -> None:
    system = hook().replace(events=[zw.Event(zw.t - 0.25, then=zw.Switch(on="hook"), name="early")])
    motion = zw.simulate(system, MOVING, until=1.0)
    assert motion.status.name == "CHOICE" and motion.t[-1] == pytest.approx(0.25)
    assert "'hook' on where its expression is -0.5" in motion.reason and "Event(the expression" in motion.reason


def test_a_reset_that_violates_what_holds_stops() -> None:
    event = zw.Event(zw.t - 0.1, then=zw.Reset({vx: 1}), name="kick")
    motion = zw.simulate(pendulum(event), LEVEL, {"m": 1.0, "g": FALL, "l": 1.0}, until=1.0)
    assert motion.status.name == "CHOICE"
    assert "Reset of event 'kick' violates constraint 'bar'" in motion.reason and "Switch(off='bar')" in motion.reason
    freed = zw.Event(zw.t - 0.1, then=[zw.Reset({vx: 1}), zw.Switch(off="bar")], name="kick")
    motion = zw.simulate(pendulum(freed), LEVEL, {"m": 1.0, "g": FALL, "l": 1.0}, until=0.2)
    assert motion.end["v_x"] == pytest.approx(1.0)


def test_loops_of_switches_chatter_with_their_list() -> None:
    events = [
        zw.Event(x - y, direction=1, then=zw.Switch(on="hook"), name="A"),
        zw.Event("switch", of="A", then=zw.Switch(off="hook"), name="B"),
        zw.Event("switch", of="B", then=zw.Switch(on="hook"), name="A"),
    ]
    motion = zw.simulate(hook().replace(events=events), MOVING, until=1.0)
    assert motion.status.name == "CHATTER"
    assert "'A', 'B', 'A'" in motion.reason and "count=" in motion.reason


def test_a_bar_that_breaks_and_mends_at_once_chatters() -> None:
    mends = zw.Event(-zw.reaction("bar") - 10, direction=-1, then=zw.Switch(on="bar"), name="mends")
    motion = zw.simulate(pendulum(BREAKS, mends), LEVEL, {"m": 3.0, "g": FALL, "l": 1.0}, until=1.0)
    assert motion.status.name == "CHATTER" and "'breaks', 'mends'" in motion.reason


def test_an_undetermined_reaction_is_a_choice() -> None:
    twice = zw.Bilateral((x**2 + y**2 - length**2) / (2 * length), name="twin")
    system = pendulum().replace(constraints=[*pendulum().constraints, twice], events=[BREAKS])
    motion = zw.simulate(system, LEVEL, {"m": 3.0, "g": FALL, "l": 1.0}, until=1.0)
    assert motion.status.name == "CHOICE" and "reaction of 'bar' is undetermined" in motion.reason


def test_what_is_past_zero_at_the_start_is_named() -> None:
    below = {"x": 0.0, "y": -1.0, "v_x": 5.0, "v_y": 0.0}
    motion = zw.simulate(pendulum(BREAKS), below, {"m": 3.0, "g": FALL, "l": 1.0}, until=0.05)
    assert not motion.events and "'breaks' is past zero at the start" in motion.reason


def test_files_digests_pickles_and_other_coordinates_know_switches(tmp_path) -> None:
    system = pendulum(BREAKS, zw.Event("y - 2*h", stop=True), zw.Event("contact", then=zw.Reset({"v_x": "v_x/2"})))
    system.save(tmp_path / "m.toml", state={**LEVEL, "on": ("bar",)})
    again = zw.load(tmp_path / "m.toml")
    assert again == system and again.digest != pendulum().digest
    assert again.events[0].then == BREAKS.then and "h" in [item.name for item in again.parameters]
    assert pickle.loads(pickle.dumps(system)) == system
    moved = hook().transformed({x: 2 * x})
    assert moved.events[0].expr == 2 * x - y
    motion = zw.simulate(pendulum(BREAKS), LEVEL, {"m": 2.0, "g": FALL, "l": 1.0}, until=0.6)
    loaded = zw.load_result(motion.save(tmp_path / "motion.npz"))
    assert loaded.at(0.59)["on"] == () and loaded.at(0.1)["on"] == ("bar",)
    assert zw.simulate(loaded, until=0.7).end["on"] == ()
    streamed = zw.simulate(
        pendulum(BREAKS), LEVEL, {"m": 2.0, "g": FALL, "l": 1.0}, until=0.6, out=tmp_path / "long.npz"
    )
    assert streamed.end == motion.end
    assert zw.load_result(tmp_path / "long.npz").modes[-1]["bar"] == "off"


def test_a_file_without_lists_is_read(tmp_path) -> None:
    text = """schema = 2
name = "hook"
coordinates = ["x", "y"]
kinetic = "v_x**2/2 + v_y**2/2"
[[constraint]]
kind = "bilateral"
name = "hook"
expr = "x - y"
starts = "off"
[[event]]
expr = "x - y"
direction = 1
then = { on = "hook" }
"""
    (tmp_path / "hook.toml").write_text(text)
    motion = zw.simulate(zw.load(tmp_path / "hook.toml"), MOVING, until=1.0)
    assert motion.v[-1] == pytest.approx([1.0, 1.0])


def test_ensembles_and_sweeps_switch() -> None:
    speeds = np.array([1.0, 2.0, 4.0])
    found = zw.simulate(hook(), {**MOVING, "v_x": speeds}, until=2.0)
    assert [motion.v[-1, 0] for motion in found] == pytest.approx(0.75 * speeds)
    assert found.end["v_x"] == pytest.approx(0.75 * speeds) and "on" not in found.end
    study = zw.sweep("simulate", hook(), MOVING, over={"v_x": speeds}, until=2.0, keep={"end": "v[-1][0]"})
    assert study.values["end"].tolist() == pytest.approx((0.75 * speeds).tolist())
    held = zw.sweep("simulate", hook(), {**MOVING, "x": 0.0, "v_y": 2.0, "on": ("hook",)}, over={"y": [0.0]}, until=1.0,
                    keep={"end": "v[-1][0]"})  # fmt: skip
    assert held.values["end"].tolist() == pytest.approx([2.0])


def test_verbs_without_a_state_take_what_starts_on() -> None:
    system = pendulum().replace(constraints=[*pendulum().constraints, zw.Bilateral(y, name="shelf", starts="off")])
    assert zw.trace(system, {"m": 1, "g": 1, "l": 1}).dimension == 1
    model = zw.compile(system)
    assert list(model.multipliers(LEVEL, {"m": 1, "g": 1, "l": 1})) == ["bar"]
    assert model.project({**LEVEL, "y": 0.3}, {"m": 1, "g": 1, "l": 1})["y"] > 0.2


def test_spatial_systems_with_friction_switch() -> None:
    mu = zw.parameters("mu")
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=0, name="floor")
    anchor = zw.Bilateral(vx, name="anchor", starts="off")
    system = zw.System(
        kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y, constraints=[floor, anchor],
        events=[zw.Event(x - 1, then=zw.Switch(on="anchor"), name="bites")],
    )  # fmt: skip
    start = {"x": 0.0, "y": 0.0, "v_x": 3.0, "v_y": 0.0}
    motion = zw.simulate(system, start, {"m": 2.0, "g": FALL, "mu": 0.2}, until=1.0, impact="newton")
    lost = 0.5 * 2 * (9 - 2 * 0.2 * FALL)
    assert motion.events.of("switch")[0].energy == pytest.approx(lost, rel=1e-9)
    assert motion.end["x"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (zw.Switch, "Switch: it switches nothing"),
        (lambda: zw.Switch(on="a", off="a"), "'a' is switched on and off at once"),
        (lambda: zw.Switch(on=3), "Switch: on names constraints"),
        (lambda: zw.Reset({}), "Reset needs a mapping"),
        (lambda: zw.Reset({x: 1}), "'x' is a coordinate, and bodies don't jump. Reset its velocity 'v_x'"),
        (lambda: zw.Reset({3: 1}), "3 is no velocity"),
        (lambda: zw.reaction(3), "reaction needs the name"),
        (lambda: zw.Event(x, then=3), "then= holds Switch"),
        (lambda: zw.Event(x, then="bar"), "then= holds Switch"),
        (lambda: zw.Event(x, count=0), "count= must be a whole number at least 1"),
        (lambda: zw.Event(x, of="bar"), "of='bar' goes with a kind of event"),
        (lambda: zw.Event("impact", direction=1), "'impact' has no direction"),
        (lambda: zw.Event("paradox"), "'paradox' ends a motion"),
        (lambda: zw.Event("impact", of=3), "of= must be a name"),
        (lambda: zw.Event(x, name=3), "name= must be a text"),
        (lambda: zw.Bilateral(x, starts="maybe"), "starts= must be 'on' or 'off'; it was given 'maybe'"),
        (lambda: zw.Friction(1, slip=vx, starts=0), "Friction: starts= must be 'on' or 'off'"),
        (lambda: pendulum(zw.Event(x, then=zw.Switch(off="bat"))), "there is no constraint 'bat'. Did you mean 'bar'"),
        (lambda: pendulum(zw.Event(zw.reaction("bat"))), "reaction: there is no constraint 'bat'"),
        (lambda: pendulum(zw.Event("impact", of="bat")), "of=: there is no constraint 'bat'"),
        (lambda: pendulum(zw.Event(x, then=zw.Reset({"x": 1}))), "Reset: 'x' is a coordinate"),
        (lambda: pendulum(zw.Event(x, then=zw.Reset({"v_z": 1}))), "Reset: 'v_z' is no velocity"),
        (lambda: pendulum(zw.Event(x, then=zw.Reset({vx: 1, "v_x": 2}))), "'v_x' is named twice"),
        (lambda: pendulum(3), "events= holds Event"),
        (lambda: zw.realize(pendulum(BREAKS), "bar", by=zw.Stiffness(1e3)), "'bar' is switched on and off"),
        (lambda: zw.simulate(pendulum(), {**LEVEL, "on": "bat"}, {}, until=1), "'on' names the constraints that act"),
        (lambda: zw.simulate(pendulum(BREAKS), LEVEL, {"m": 1, "g": 1, "l": 1}, until=1, method="timestepping"),
         "the system has events, but time stepping locates no events"),
        (lambda: zw.limit(pendulum(BREAKS), "bar", LEVEL, {"m": 1, "g": 1, "l": 1}, by=zw.Stiffness, until=1),
         "event 'breaks' switches or resets"),
        (lambda: hook().transformed({x: 2 * x}).replace(
            events=[zw.Event(x, then=zw.Reset({vx: 1}))]).transformed({x: 3 * x}), "event 'x' resets 'v_x'"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_cure(make, words: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(words)):
        make()


def test_the_unit_length_of_a_quaternion_is_not_switched() -> None:
    (e0, e1, e2, e3), rates = zw.coordinates("e0_b e1_b e2_b e3_b")
    unit = zw.Bilateral(e0**2 + e1**2 + e2**2 + e3**2 - 1, name="unit_b")
    with pytest.raises(DeclarationError, match="'unit_b' keeps a quaternion at unit length"):
        zw.System(
            kinetic=sum(rate**2 for rate in rates),
            constraints=[unit],
            events=[zw.Event(e0, then=zw.Switch(off="unit_b"))],
        )


def test_a_part_without_mass_can_not_lose_what_carries_it() -> None:
    system = zw.System(
        kinetic=m * vx**2 / 2, constraints=[zw.Bilateral(x - y, name="tie")], coordinates=(x, y),
        events=[zw.Event(x - 1, then=zw.Switch(off="tie"), name="cut")],
    )  # fmt: skip
    with pytest.raises(DeclarationError, match="moves without a mass of its own"):
        zw.simulate(system, {"x": 0.0, "y": 0.0, "v_x": 1.0, "v_y": 1.0}, {"m": 1.0}, until=2.0)


def test_files_say_what_is_wrong_with_an_event(tmp_path) -> None:
    head = 'schema = 2\nname = "s"\ncoordinates = ["x"]\nkinetic = "v_x**2/2"\n[[event]]\n'
    for text, words in [
        ("name = 'e'", "lacks the key 'expr'"),
        ("expr = 'x'\ndirection = 'up'", "'direction' must be a whole number"),
        ("expr = 'x'\nstop = 1", "'stop' must be true or false"),
        ("expr = 'x'\nthen = 3", "'then' must be a list of tables"),
        ("expr = 'x'\nthen = [{}]", "then must be a table with on and off, or one with reset"),
        ("expr = 'x'\nwhen = 3", "unknown key 'when'"),
        ("expr = 'reaction(\"bar)'", "reaction"),
    ]:
        (tmp_path / "s.toml").write_text(head + text)
        with pytest.raises(DeclarationError, match=words):
            zw.load(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_text(head.replace("schema = 2", "schema = 1") + "expr = 'x'")
    with pytest.raises(DeclarationError, match="'event' belongs to schema 2"):
        zw.load(tmp_path / "s.toml")


@pytest.mark.parametrize("direction", [0, 1])
def test_what_is_held_at_zero_does_not_happen_again_by_rounding(direction: int) -> None:
    bowl = zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        potential=(x - y) ** 2 / 2 + y**2,
        constraints=[zw.Bilateral(x**2 - y, name="groove", starts="off")],
        events=[zw.Event(y - x**2, direction=direction, then=zw.Switch(on="groove"), name="falls in")],
    )
    motion = zw.simulate(bowl, {"x": 1.0, "y": 0.0, "v_x": 1.0, "v_y": 3.0}, until=10.0)
    assert len(motion.events) == 1 and motion.drift < 1e-9


def test_a_motion_that_stops_at_a_switch_ends_with_what_is_on_then() -> None:
    rail = zw.System(
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral(y, name="rail")],
        events=[zw.Event(x - 1, stop=True, then=zw.Switch(off="rail"), name="end of the rail")],
    )
    motion = zw.simulate(rail, {"x": 0.0, "y": 0.0, "v_x": 1.0, "v_y": 0.0}, until=2.0)
    assert motion.status.name == "REACHED" and motion.end["on"] == () == motion.at(motion.t[-1])["on"]
    assert motion.at(0.5)["on"] == ("rail",)


def test_a_switch_has_its_saltation_matrix() -> None:
    found = zw.sensitivity(hook(), MOVING, until=2.0, wrt=["v_x"])
    # After the catch at 1/v both run with 3 v/4: the ends are 3 v (2 - 1/v)/4.
    assert found.derivative["end"]["v_x"] == pytest.approx([1.5, 1.5, 0.75, 0.75], rel=1e-7)
    values = {"m": 2.0, "g": FALL, "l": 1.0}
    slope = zw.sensitivity(pendulum(BREAKS), LEVEL, values, until=0.8, wrt=["g"]).derivative["end"]["g"]
    ends = [
        zw.simulate(pendulum(BREAKS), LEVEL, {**values, "g": FALL + h}, until=0.8, tol=1e-12) for h in (1e-4, -1e-4)
    ]
    states = [np.concatenate([one.q[-1], one.v[-1]]) for one in ends]
    assert slope == pytest.approx((states[0] - states[1]) / 2e-4, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e3, 1e9])
def test_units_of_length_change_nothing(unit: float) -> None:
    start = {"x": -unit, "y": 0.0, "v_x": 2 * unit, "v_y": 0.0}
    motion = zw.simulate(hook(), start, until=2.0)
    assert [event.kind for event in motion.events] == ["switch"] and motion.v[-1] == pytest.approx([1.5 * unit] * 2)
    early = hook().replace(events=[zw.Event(zw.t - 0.25, then=zw.Switch(on="hook"), name="early")])
    assert zw.simulate(early, start, until=2.0).status.name == "CHOICE"


def test_a_motion_that_switches_is_drawn_and_put_into_tables(tmp_path) -> None:
    drawing = zw.Drawing(points={"A": (x, 0), "B": (y, 0)}, bars=[("A", "B")])
    motion = zw.simulate(hook().replace(drawing=drawing), MOVING, until=1.0)
    assert motion.animate(tmp_path / "hook.html").stat().st_size > 1000
    assert "switch" in [text.get_text().split()[0] for text in motion.plot().texts]
    assert "work_catch" in motion.to_pandas().columns
