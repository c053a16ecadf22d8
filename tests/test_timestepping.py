"""Time stepping: exact rest, convergence to closed forms and to the event-driven path, the laws in each step."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._compile import compile
from zwang._compile.given_values import resolve
from zwang._simulate.active_set import admit
from zwang._simulate.ground import Ground
from zwang._simulate.timestepping import Walk
from zwang.errors import DeclarationError
from zwang.gallery.chain_of_four_bars import n_four_bar
from zwang.gallery.tower_of_blocks import stack

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_simulate_stack import cubes_in_space


def stepped(entry, until, step, **changes):
    state = {**entry.state, **changes}
    return zw.simulate(entry.system, state, entry.params, until=until, method="timestepping", step=step)


def walked(entry, until, step, **changes):
    """The steps themselves, every one computed."""
    model = compile(entry.system)
    inputs = resolve(model.system, {**entry.state, **changes}, entry.params)
    ground = Ground.of(model, inputs)
    walk = Walk(ground, admit(ground, inputs), until, step, shortcut=False)
    return ground, walk, *walk.run()


def block_on_floor(**options):
    """A particle (x, y, z) on the floor z = 0 with friction in two directions, pushed by the force (p, 0)."""
    (x, _, z), (vx, vy, _) = zw.coordinates("x y z")
    m, g, mu, p = zw.parameters("m g mu p")
    floor = zw.Unilateral(z, friction=zw.Coulomb(mu, slip=(vx, vy)), name="floor", **options)
    return zw.System(
        name="block",
        kinetic=m * (vx**2 + vy**2 + zw.rate(z) ** 2) / 2,
        potential=m * g * z,
        forces={x: p},
        constraints=[floor],
    )


AT_REST = dict.fromkeys(("x", "y", "z", "v_x", "v_y", "v_z"), 0.0)
BLOCK = {"m": 2.0, "g": 9.81, "mu": 0.5, "p": 0.0}


# Rest


def test_block_on_an_incline_below_the_friction_angle_moves_exactly_nothing():
    motion = stepped(zw.gallery.get("incline_block"), 1.0, 1e-3)
    assert not motion.v.any()
    assert (motion.q == motion.q[0]).all()


@pytest.mark.nightly
def test_tower_of_ten_blocks_stands_for_ten_seconds_without_any_drift():
    entry = stack(10)
    motion = stepped(entry, 10.0, 1e-3)
    assert len(motion.t) == 10_001
    assert not motion.v.any()
    assert (motion.q == motion.q[0]).all()
    assert motion.drift == 0.0
    assert motion.residual < 1e-12
    for i, weight in enumerate(entry.facts["pair_forces"].value):
        pair = motion.reactions[f"block{i + 1} left"] + motion.reactions[f"block{i + 1} right"]
        assert pair == pytest.approx(np.full(10_001, weight), rel=1e-11)


def test_steps_at_rest_are_the_same_whether_computed_or_copied():
    _, _, steps, _ = walked(stack(4), 0.05, 1e-3)
    motion = stepped(stack(4), 0.05, 1e-3)
    assert not steps.v.any()
    assert (motion.q == steps.q).all()


def test_a_tower_that_was_pushed_comes_to_rest_exactly():
    motion = stepped(stack(2), 1.0, 1e-3, v_x2=0.3)
    assert not motion.v[-1].any()
    assert motion.events.of("stick")
    # It slides v^2 / (2 mu g) on the block below, which it does not take along.
    end = dict(zip(motion.coordinates, motion.q[-1], strict=True))
    assert end["x2"] - end["x1"] == pytest.approx(0.09 / (2 * 0.5 * 9.81), abs=1e-3)
    assert (np.diff(motion.energy["total"]) < 1e-6).all()


# Closed forms


def test_bouncing_ball_converges_with_first_order():
    entry = zw.gallery.get("bouncing_ball")
    g, e, first = 9.81, 0.8, entry.facts["first_impact"].value
    exact = e * g * first * (1 - first) - g / 2 * (1 - first) ** 2  # free flight between the first two impacts
    errors = [abs(stepped(entry, 1.0, h).q[-1, 0] - exact) for h in (4e-3, 1e-3, 2.5e-4)]
    assert errors[-1] < 2e-3
    assert errors[-1] < errors[0] / 4


def test_accumulating_impacts_end_at_rest():
    entry = zw.gallery.get("bouncing_ball")
    motion = stepped(entry, 1.5 * entry.facts["rest_time"].value, 1e-3)
    assert motion.v[-1].tolist() == [0.0]
    assert abs(motion.q[-1, 0]) < 1e-9
    assert (np.diff(motion.energy["total"]) < 1e-9 * 9.81 + 9.81 * 1e-3).all()
    settled = motion.t[np.flatnonzero(np.abs(motion.v[:, 0]) > 0)[-1]]
    assert settled == pytest.approx(entry.facts["rest_time"].value, abs=0.05)


def test_block_slides_to_rest_along_a_line_in_the_plane():
    start = {**AT_REST, "v_x": 0.6, "v_y": 0.8}
    motion = zw.simulate(block_on_floor(), start, BLOCK, until=0.5, method="timestepping", step=1e-3)
    # Stops after 1 / (mu g) s, v^2 / (2 mu g) from the start, in the direction of the velocity; is not lifted.
    distance = 1 / (2 * 0.5 * 9.81)
    assert motion.q[-1] == pytest.approx([0.6 * distance, 0.8 * distance, 0.0], abs=1e-5)
    assert np.abs(motion.q[:, 2]).max() < 1e-14
    assert motion.v[-1].tolist() == [0.0, 0.0, 0.0]
    (stop,) = motion.events
    assert (stop.kind, stop.constraint) == ("stick", "floor")
    assert stop.time == pytest.approx(1 / (0.5 * 9.81), abs=2e-3)
    assert motion.work["floor"][-1] == pytest.approx(-0.5 * 2.0, rel=1e-9)


def feet_on_floor(count: int) -> zw.System:
    """Return tables in space with four feet each, beside each other on one floor: as many islands."""
    names = [f"{letter}{i}" for i in range(count) for letter in "xyzabc"]
    q, v = zw.coordinates(names)
    kinetic, feet, weight = [], [], []
    for i in range(0, 6 * count, 6):
        x, y, z, a, b, c = q[i : i + 6]
        vx, vy, vz, va, vb, vc = v[i : i + 6]
        kinetic.append((vx**2 + vy**2 + vz**2) / 2 + (va**2 + vb**2 + 2 * vc**2) / 6)
        weight.append(9.81 * z)
        for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)):  # for small angles a, b
            at = (x + sp.cos(c) * sx - sp.sin(c) * sy, y + sp.sin(c) * sx + sp.cos(c) * sy, z + sy * a - sx * b - 0.2)
            slip = (zw.rate(at[0]) - 0.2 * vb, zw.rate(at[1]) + 0.2 * va)
            law = zw.Coulomb(0.5, slip=slip)
            feet.append(zw.Unilateral(at[2], friction=law, restitution=0, name=f"foot {len(feet)}"))
    return zw.System(name="feet", kinetic=sp.Add(*kinetic), potential=sp.Add(*weight), constraints=feet)


def test_feet_that_slide_straight_stop_where_friction_says_and_what_stands_beside_them_stays():
    system = feet_on_floor(3)
    state = dict.fromkeys([item.name for item in (*system.coordinates, *system.velocities)], 0.0)
    state |= {"z0": 0.2, "z1": 0.2, "z2": 0.2, "v_x1": 1.0, "v_x2": -0.5}
    motion = zw.simulate(system, state, {}, until=0.4, method="timestepping", step=1e-3)
    assert motion.status.name == "REACHED" and motion.residual <= 1e-10
    q = dict(zip(motion.coordinates, motion.q[-1], strict=True))
    assert q["x1"] == pytest.approx(1 / (2 * 0.5 * 9.81), abs=1e-4)  # v^2/(2 mu g)
    assert q["x2"] == pytest.approx(-0.25 / (2 * 0.5 * 9.81), abs=1e-4)
    assert not motion.q[:, :2].any() and not motion.q[:, 3:6].any()  # the first table has not felt anything
    assert not motion.v[-1].any()


@pytest.mark.parametrize("seed", range(3))
def test_feet_that_slide_and_turn_obey_the_laws_at_every_step(seed):
    random = np.random.default_rng(seed)
    system = feet_on_floor(2)
    state = dict.fromkeys([item.name for item in (*system.coordinates, *system.velocities)], 0.0)
    state |= {"z0": 0.2, "z1": 0.2}
    state |= {name: float(random.uniform(-1, 1)) for name in ("v_x0", "v_y0", "v_c0", "v_x1", "v_y1", "v_c1")}
    motion = zw.simulate(system, state, {}, until=0.5, method="timestepping", step=1e-3)
    assert motion.status.name == "REACHED" and motion.residual <= 1e-10 and not motion.v[-1].any()
    assert (np.diff(motion.energy["total"]) <= 1e-12).all()
    for name in motion.constraints:
        load, rub = motion.reactions[name], np.linalg.norm(motion.friction[name], axis=1)
        assert load.min() >= 0 and (rub <= 0.5 * load + 1e-7 * load.max()).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_tower_whose_top_slides_and_turns_comes_to_rest_without_another_solver(seed):
    # Four feet that stop turning contradict each other by the square of the step, and friction of the cubes below is
    # not determined: both went on to sweeps and other solvers.
    random = np.random.default_rng(seed)
    system, state, params = cubes_in_space(3)
    state |= {name: float(random.uniform(-1, 1)) for name in ("v_x3", "v_y3", "v_c3")}
    inputs = resolve(system, state, params)
    ground = Ground.of(compile(system), inputs)
    steps, stop = Walk(ground, admit(ground, inputs), 0.3, 1e-3, shortcut=False).run()
    assert stop.status.name == "REACHED" and steps.residual <= 1e-10 and steps.asked == 0
    assert not steps.v[-1].any()
    assert np.abs(steps.q[:, :12] - steps.q[0, :12]).max() <= 1e-9  # residual times speed times time
    speed = np.hypot(steps.v[:, 12], steps.v[:, 13])
    assert (np.diff(speed) <= 1e-9).all() and (np.diff(np.abs(steps.v[:, 17])) <= 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
def test_friction_between_supports_that_move_apart_follows_the_stronger_one(seed):
    # Two supports under one body, each with a speed of its own: the stronger one carries it, at every step.
    random = np.random.default_rng(seed)
    strong, weak = random.uniform(2, 4), random.uniform(0.5, 1)
    a, b, c, d = (round(float(value), 3) for value in random.uniform(-1, 1, 4))
    t = zw.t
    (x, y), (vx, vy) = zw.coordinates("x y")
    laws = [
        zw.Friction(weak, slip=(vx - a * t**2, vy - b * t**3), name="weak"),
        zw.Friction(strong, slip=(vx - c * t**2, vy - d * t**2), name="strong"),
    ]
    system = zw.System(name="apart", kinetic=(vx**2 + vy**2) / 2, constraints=laws, coordinates=(x, y))
    state = {"x": 0, "y": 0, "v_x": 0, "v_y": 0}
    motion = zw.simulate(system, state, {}, until=0.2, method="timestepping", step=1e-3)
    assert motion.status.name == "REACHED" and motion.residual <= 1e-10
    # At the end of a step of length h from the middle on: s(t) = c t^2 is met as c (t^2 - h^2/4).
    expected = np.outer(motion.t[1:] ** 2 - 1e-6 / 4, [c, d])
    assert motion.v[1:] == pytest.approx(expected, abs=1e-11)


@pytest.mark.nightly
def test_a_heap_of_balls_that_a_ball_hits_obeys_the_laws_at_every_step():
    """Four balls with one on top, all touching: of their 13 contacts most depend on each other."""
    r, centres = (
        0.5,
        [(0, 0, 0.5), (1, 0, 0.5), (0, 1, 0.5), (1, 1, 0.5), (0.5, 0.5, 0.5 + np.sqrt(0.5)), (-1.2, 0.3, 0.5)],
    )
    names = [f"{letter}{i}" for i in range(6) for letter in "xyzabc"]
    q, v = zw.coordinates(names)
    spins = [sp.Matrix(v[6 * i + 3 : 6 * i + 6]) for i in range(6)]
    places, speeds = ([sp.Matrix(part[6 * i : 6 * i + 3]) for i in range(6)] for part in (q, v))
    kinetic = sp.Add(*(speeds[i].dot(speeds[i]) / 2 + spins[i].dot(spins[i]) * r**2 / 5 for i in range(6)))
    contacts = []
    for i in range(6):
        slip = speeds[i] + spins[i].cross(sp.Matrix([0, 0, -r]))
        law = zw.Coulomb(0.5, slip=(slip[0], slip[1]))
        contacts.append(zw.Unilateral(places[i][2] - r, friction=law, restitution=0, name=f"floor {i}"))
        for j in range(i):
            if np.linalg.norm(np.subtract(centres[i], centres[j])) > 1.1 and i < 5:
                continue
            between = places[i] - places[j]
            length = sp.sqrt(between.dot(between))
            slip = speeds[i] - speeds[j] - r * (spins[i] + spins[j]).cross(between / length)
            side = sp.Matrix([0, 0, 1] if centres[i][2] == centres[j][2] else [0, 1, 0]).cross(between)
            along = side / sp.sqrt(side.dot(side))
            law = zw.Coulomb(0.5, slip=(along.dot(slip), (between / length).cross(along).dot(slip)))
            contacts.append(zw.Unilateral(length - 2 * r, friction=law, restitution=0, name=f"balls {i} {j}"))
    potential = 9.81 * sp.Add(*(place[2] for place in places))
    system = zw.System(name="heap", kinetic=kinetic, potential=potential, constraints=contacts)
    state = dict.fromkeys([*names, *(f"v_{name}" for name in names)], 0.0) | {"v_x5": 6.0}
    state |= {f"{letter}{i}": float(centre[k]) for i, centre in enumerate(centres) for k, letter in enumerate("xyz")}
    motion = zw.simulate(system, state, {}, until=0.25, method="timestepping", step=1e-3)
    assert motion.status.name == "REACHED" and motion.residual <= 1e-10 and np.isfinite(motion.v).all()
    assert np.abs(motion.v[-1].reshape(6, 6)[:5, :3]).max() > 0.1  # it was hit
    assert (np.diff(motion.energy["total"]) <= 1e-5 * motion.energy["total"][0]).all()  # a step turns rows: its square


def test_push_below_the_bound_moves_nothing_and_shows_its_friction():
    motion = zw.simulate(block_on_floor(), AT_REST, {**BLOCK, "p": 9.0}, until=0.1, method="timestepping", step=1e-3)
    assert not motion.v.any()
    assert motion.friction["floor"][-1] == pytest.approx([-9.0, 0.0], abs=1e-9)
    assert motion.reactions["floor"][-1] == pytest.approx(2 * 9.81)


def test_pendulum_keeps_its_length_and_its_energy():
    (x, y), (vx, vy) = zw.coordinates("x y")
    pendulum = zw.System(
        name="pendulum",
        kinetic=(vx**2 + vy**2) / 2,
        potential=sp.Rational(981, 100) * y,
        constraints=[zw.Bilateral((x**2 + y**2 - 1) / 2, name="rod")],
    )
    start = {"x": 1.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}
    errors = []
    for h in (2e-3, 1e-3):
        motion = zw.simulate(pendulum, start, {}, until=10.0, method="timestepping", step=h)
        assert motion.drift < 1e-12
        errors.append(np.abs(motion.energy["total"]).max())
    assert errors[1] < 2e-3
    assert errors[1] < 0.3 * errors[0]  # of second order: nothing switches
    # Quarter period of the pendulum released horizontally: K(1/2) sqrt(l/g)
    period = 1.8540746773013719 / math.sqrt(9.81)
    crossing = motion.t[np.flatnonzero(motion.q[:, 0] < 0)[0]]
    assert crossing == pytest.approx(period, abs=5e-3)


def test_moving_floor_carries_what_lies_on_it():
    (y,), (vy,) = zw.coordinates("y")
    lift = zw.System(
        name="lift", kinetic=vy**2 / 2, potential=10 * y, constraints=[zw.Unilateral(y - zw.t**2 / 2, name="floor")]
    )
    motion = zw.simulate(lift, {"y": 0.0, "v_y": 0.0}, {}, until=1.0, method="timestepping", step=1e-3)
    assert motion.q[-1] == pytest.approx([0.5], abs=2e-3)
    assert motion.reactions["floor"][500] == pytest.approx(11.0, rel=1e-2)  # weight and inertia


# Beside the event-driven path


@pytest.mark.parametrize(
    ("name", "until", "kind"),
    [("sleigh_ahead", 3.0, "release"), ("ratchet", 2.0, "capture"), ("belt_block", 1.5, "stick")],
)
def test_converges_to_the_event_driven_path(name, until, kind):
    entry = zw.gallery.get(name)
    ideal = zw.simulate(entry.system, entry.state, entry.params, until=until, tol=1e-12)
    motions = [stepped(entry, until, h) for h in (1e-2, 5e-3, 2.5e-3, 1.25e-3)]
    errors = [np.abs(motion.q[-1] - ideal.q[-1]).max() for motion in motions]
    assert errors[-1] < 0.01
    assert math.log2(errors[0] / errors[-1]) / 3 > 0.8  # first order at least, over three halvings
    first, ideal_first = motions[-1].events.of(kind)[0], ideal.events.of(kind)[0]
    assert first.constraint == ideal_first.constraint
    assert first.time == pytest.approx(ideal_first.time, abs=5e-3)


# The laws, step by step


def test_every_step_of_a_rocking_tower_obeys_the_laws():
    ground, walk, steps, stop = walked(stack(4), 0.3, 1e-3, v_x4=0.5, v_x2=-0.3)
    assert stop.status.name == "REACHED"
    assert steps.residual < 1e-9
    size = np.abs(steps.impulses).max()
    for c in range(len(ground.table.places)):
        a = int(walk.layout.first[c])
        push, rub = steps.impulses[:, a], steps.impulses[:, a + 1]
        rate, slip = steps.rates[:, a], steps.rates[:, a + 1]
        carries = push > 0
        assert push.min() >= 0
        assert (np.abs(rub) <= 0.5 * push + 1e-9 * size).all()
        assert rate[carries].max() < 1e-9  # restitution 0
        slides = carries & (np.abs(slip) > 1e-8)
        assert rub[slides] == pytest.approx(-0.5 * push[slides] * np.sign(slip[slides]), abs=1e-8 * size)


def test_motion_reads_like_any_other(tmp_path):
    entry = zw.gallery.get("bouncing_ball")
    motion = stepped(entry, 1.0, 1e-3)
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["impact"]
    assert motion.at(0.2)["y"] == pytest.approx(1 - 9.81 * 0.04 / 2, abs=1e-9)
    lost = motion.energy["total"][-1] - motion.energy["total"][0]
    assert lost == pytest.approx(motion.work["floor"][-1], abs=0.03)
    again = zw.simulate(motion, until=1.1, method="timestepping", step=1e-3)
    assert again.t[0] == 1.0
    assert zw.load_result(motion.save(tmp_path / "ball.npz")).q == pytest.approx(motion.q)


# What stops, and mistakes


def test_an_impact_without_restitution_is_a_choice():
    motion = zw.simulate(block_on_floor(), {**AT_REST, "z": 0.1}, BLOCK, until=1.0, method="timestepping", step=1e-3)
    assert motion.status.name == "CHOICE"
    assert "'floor'" in motion.reason
    assert motion.t[-1] == pytest.approx(math.sqrt(0.2 / 9.81), abs=2e-3)


def test_a_motion_that_blows_up_says_when():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="flight", kinetic=v**2 / 2, forces={x: v**2})
    motion = zw.simulate(system, {"x": 0.0, "v_x": 1.0}, {}, until=2.0, method="timestepping", step=1e-3)
    # x = -log(1 - t)
    assert motion.status.name == "BLOW_UP"
    assert 0.9 < motion.t[-1] < 1.3


def test_mistakes_are_named():
    entry = zw.gallery.get("bouncing_ball")
    for step in (0, -1.0, "1 ms", math.nan):
        with pytest.raises(DeclarationError, match="step= must be a finite number greater than 0"):
            stepped(entry, 1.0, step)
    with pytest.raises(DeclarationError, match="time stepping has Newton's restitution"):
        zw.simulate(entry.system, entry.state, entry.params, until=1.0, method="timestepping", impact="poisson")
    with pytest.raises(DeclarationError, match="time stepping locates no events"):
        zw.simulate(
            entry.system, entry.state, entry.params, until=1.0, method="timestepping", events=[zw.Event("y - 1/2")]
        )


def test_a_motion_without_constraints_goes_to_a_file_too(tmp_path) -> None:
    entry = zw.gallery.get("flyball_governor_springs")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.01, method="timestepping", step=1e-3)
    again = zw.load_result(motion.save(tmp_path / "governor.npz"))
    np.testing.assert_array_equal(again.q, motion.q)
    assert again.reaction_range == {}


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("at_singular", "realize", "at_singular= was given 'realize', but time stepping knows no branches"),
        ("at_singular", lambda ways: 0, "at_singular= was given a rule, but time stepping knows no branches"),
        ("at_choice", "keep mode", "at_choice= was given 'keep mode', but time stepping takes the impulses"),
        ("at_choice", lambda found: 0, "at_choice= was given a rule, but time stepping takes the impulses"),
        ("at_paradox", "impact", "at_paradox= was given 'impact', but time stepping takes the impulses"),
        ("at_paradox", "realize", "at_paradox= was given 'realize', but time stepping takes the impulses"),
    ],
)
def test_rules_that_time_stepping_cannot_follow_are_refused_with_the_cure(argument, value, words):
    entry = zw.gallery.get("bouncing_ball")
    with pytest.raises(DeclarationError, match=words) as caught:
        zw.simulate(entry.system, entry.state, entry.params, until=1.0, method="timestepping", **{argument: value})
    assert "method='events'" in str(caught.value)


@pytest.mark.parametrize("n", by_day([1, 2, 4, 5], [1, 5]))
def test_time_stepping_stops_at_a_singular_point_to_within_a_step(n):
    entry = n_four_bar(n)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.5, method="timestepping", step=2e-3)
    assert motion.status.name == "SINGULAR"
    # The closed form of the parallel motion; the scheme is of second order between events.
    assert motion.t[-1] == pytest.approx(entry.facts["first_singular_instant"].value, abs=6e-3)


def test_time_stepping_goes_straight_on_and_logs_each_passage():
    entry = n_four_bar(2)
    motion = zw.simulate(
        entry.system, entry.state, entry.params, until=3.0, method="timestepping", step=1e-3, at_singular="straight"
    )
    located = zw.simulate(entry.system, entry.state, entry.params, until=3.0, at_singular="straight")
    assert motion.status.name == "REACHED"
    assert [e.time for e in motion.events] == pytest.approx([e.time for e in located.events], abs=5e-3)


def test_time_stepping_past_a_point_at_a_distance_logs_nothing():
    (x, y), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        name="hyperbola", kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(x**2 - y**2 - 0.01, name="curve")]
    )
    x0 = math.hypot(0.5, 0.1)
    state = {"x": x0, "y": -0.5, "v_x": -0.5 / x0, "v_y": 1.0}
    motion = zw.simulate(system, state, {}, until=1.0, method="timestepping", step=1e-3)
    assert motion.status.name == "REACHED" and not motion.events
