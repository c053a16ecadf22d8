"""Impacts that the compiled loop passes by itself, beside the ones that are looked at: the same log, to rounding."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._simulate import machine
from zwang._simulate.lone_bounces import advance_bouncing


def ball():
    (y,), (v,) = zw.coordinates("y")
    w, A, e, g = zw.parameters("w A e g")
    floor = zw.Unilateral(y - A * sp.sin(w * zw.t), restitution=e, name="table")
    return zw.System(name="ball", kinetic=v**2 / 2, potential=g * y, constraints=[floor])


def box():
    """A particle between four walls, one of which leans, in a force that turns it."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    walls = [("left", x + 1), ("right", 1 - x), ("bottom", y + 1 - x / 5), ("top", 1 - y)]
    return zw.System(
        name="box",
        kinetic=(vx**2 + 2 * vy**2) / 2,
        forces={x: vy - x / 3, y: -vx - sp.Rational(1, 2)},
        constraints=[zw.Unilateral(wall, restitution=sp.Rational(9, 10), name=name) for name, wall in walls],
    )


def pendulum():
    """A mass on a rod, held by a constraint, that swings against two walls."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    constraints = [
        zw.Bilateral(x**2 + y**2 - 1, name="rod"),
        zw.Unilateral(sp.Rational(1, 2) - x, restitution=sp.Rational(4, 5), name="right"),
        zw.Unilateral(x + sp.Rational(1, 4), restitution=1, name="left"),
    ]
    return zw.System(
        name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=sp.Rational(981, 100) * y, constraints=constraints
    )


def rod():
    """A rod that falls on a rough floor with both of its ends, and turns."""
    (_, y, a), (vx, vy, w) = zw.coordinates("x y a")
    mu, e = zw.parameters("mu e")
    ends = []
    for name, s in (("one", 1), ("other", -1)):
        slip = vx - s * sp.sin(a) * w / 2
        ends.append(zw.Unilateral(y + s * sp.sin(a) / 2, friction=zw.Coulomb(mu, slip=slip), restitution=e, name=name))
    return zw.System(
        name="rod", kinetic=(vx**2 + vy**2 + w**2 / 12) / 2, potential=sp.Rational(981, 100) * y, constraints=ends
    )


def rubbing():
    """An oscillator on a belt, with friction of a given bound, and a wall."""
    (x,), (v,) = zw.coordinates("x")
    friction = zw.Friction(sp.Rational(1, 10), slip=v - 5, name="dry")
    wall = zw.Unilateral(1 - x, restitution=sp.Rational(7, 10), name="wall")
    return zw.System(
        name="rubbing",
        kinetic=v**2 / 2,
        potential=x**2 / 2,
        forces={x: 2 * sp.cos(sp.Rational(7, 10) * zw.t)},
        constraints=[friction, wall],
    )


def limited():
    """A ball that must not rise faster than some speed, over a floor."""
    (y,), (v,) = zw.coordinates("y")
    floor = zw.Unilateral(y, restitution=sp.Rational(9, 10), name="floor")
    limit = zw.Unilateral(4 - v, name="limit")
    return zw.System(name="limited", kinetic=v**2 / 2, potential=10 * y, constraints=[floor, limit])


CASES = {
    "ball": (ball, {"y": 0.3, "v_y": 0.1}, {"w": 10.0, "A": 0.05, "e": 0.8, "g": 9.81}, 6.0, {}),
    "settling ball": (ball, {"y": 0.3, "v_y": 0.1}, {"w": 3.0, "A": 0.02, "e": 0.6, "g": 9.81}, 3.0, {}),
    "box": (box, {"x": 0.1, "y": 0.2, "v_x": 1.0, "v_y": 0.7}, {}, 15.0, {}),
    "pendulum": (pendulum, {"x": 0.0, "y": -1.0, "v_x": 3.0, "v_y": 0.0}, {}, 5.0, {}),
    "rod": (
        rod,
        {"x": 0, "y": 1.0, "a": 0.3, "v_x": 0.4, "v_y": 0, "v_a": 1.0},
        {"mu": 0.2, "e": 0.7},
        1.5,
        {"impact": "newton"},
    ),
    "rubbing": (rubbing, {"x": 0.0, "v_x": 0.3}, {}, 40.0, {}),
    "limited": (limited, {"y": 0.5, "v_y": 0.0}, {}, 4.0, {}),
}


def both(monkeypatch, system, state, params, until, **options):
    """Return a motion, the same one with every impact looked at, and how many impacts needed no thought."""
    passed = []

    def counting(*given):
        found = advance_bouncing(*given)
        passed.append(0 if found is None else len(found))
        return found

    monkeypatch.setattr(machine, "advance_bouncing", counting)
    quick = zw.simulate(system, state, params, until=until, **options)
    monkeypatch.setattr(machine, "advance_bouncing", lambda *_: None)
    return quick, zw.simulate(system, state, params, until=until, **options), sum(passed)


def same(one, other, tol):
    """Compare what was logged of two motions; `tol` for what rounding has grown to."""
    assert one.status is other.status
    log = [[(event.kind, event.constraint, event.name) for event in motion.events] for motion in (one, other)]
    assert log[0] == log[1]
    assert [event.time for event in one.events] == pytest.approx([event.time for event in other.events], abs=tol)
    for a, b in zip(one.events, other.events, strict=True):
        assert list(a.details) == list(b.details)
        for key, value in a.details.items():
            if isinstance(value, dict):
                assert list(value) == list(b.details[key])
                assert all(value[name] == pytest.approx(b.details[key][name], abs=tol) for name in value)
            elif isinstance(value, (str, tuple)):
                assert value == b.details[key]
            else:
                assert value == pytest.approx(b.details[key], abs=tol)
    assert [piece.labels for piece in one.pieces] == [piece.labels for piece in other.pieces]
    assert [len(piece.jumps) for piece in one.pieces] == [len(piece.jumps) for piece in other.pieces]
    t = np.linspace(float(one.t[0]), min(float(one.t[-1]), float(other.t[-1])), 97)
    a, b = one.at(t), other.at(t)
    for name in one.coordinates:
        assert a[name] == pytest.approx(b[name], abs=10 * tol)


@pytest.mark.parametrize("case", CASES)
def test_impacts_that_need_no_thought_are_logged_like_those_that_are_looked_at(case, monkeypatch):
    make, state, params, until, options = CASES[case]
    quick, slow, passed = both(monkeypatch, make(), state, params, until, **options)
    assert passed > 0.4 * len(quick.events.of("impact")) > 1
    same(quick, slow, 1e-7)


def random_walls(rng):
    """Return a particle with a mass of its own, held on a curve or not, among moving walls with friction or without."""
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    q, v = (x, y, z), (vx, vy, vz)
    L = np.tril(rng.uniform(-0.4, 0.4, (3, 3))) + np.eye(3)
    mass = sp.Matrix((L @ L.T).round(3))
    kinetic = (sp.Matrix([v]) * mass * sp.Matrix(v))[0] / 2 + (x**2 + 1) * vx**2 / 4
    walls = []
    rough = rng.random() < 0.5
    for k in range(int(rng.integers(1, 5))):
        normal = [round(float(c), 3) for c in rng.normal(size=3)]
        across = [round(float(c), 3) for c in rng.normal(size=3)]
        beat = round(float(rng.uniform(0, 0.1)), 3) * sp.sin(float(rng.integers(1, 6)) * zw.t)
        slip = sum(c * one for c, one in zip(across, v, strict=True))
        law = zw.Coulomb(round(float(rng.uniform(0, 0.4)), 2), slip=slip) if rough else None
        gap = 1 + sum(c * one for c, one in zip(normal, q, strict=True)) + beat
        e = round(float(rng.uniform(0.3, 1.0)), 2)
        walls.append(zw.Unilateral(gap, restitution=e, friction=law, name=f"wall {k}"))
    if rng.random() < 0.4:
        walls.append(zw.Bilateral(z - x * y / 4, name="sheet"))
    spring = 2 * (x**2 + y**2 + z**2) + x * y / 3
    return zw.System(name="walls", kinetic=kinetic, potential=spring, constraints=walls)


@pytest.mark.parametrize("seed", range(8))
def test_random_walls_have_one_log(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    state = {"x": 0, "y": 0, "z": 0, "v_x": rng.normal(), "v_y": 2 * rng.normal(), "v_z": 0}
    quick, slow, passed = both(monkeypatch, random_walls(rng), state, {}, 8.0, impact="newton")
    assert passed <= len(quick.events.of("impact"))
    same(quick, slow, 1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_walls_have_one_log(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    state = {"x": 0, "y": 0, "z": 0, "v_x": rng.normal(), "v_y": 2 * rng.normal(), "v_z": 0}
    quick, slow, _ = both(monkeypatch, random_walls(rng), state, {}, 8.0, impact="newton")
    same(quick, slow, 1e-5)


def test_a_budget_ends_a_motion_of_many_impacts():
    values = {"w": 1.0, "A": 0.0, "e": 1.0, "g": 9.81}
    found = zw.simulate(ball(), {"y": 1.0, "v_y": 0.0}, values, until=1e5, budget={"steps": 600})
    assert found.status.name == "UNFINISHED" and "steps" in found.reason
    # Five steps or so lead to the next impact, which counts for four, wherever the compiled loop pauses.
    assert 30 <= len(found.events) <= 100
    more = zw.simulate(ball(), {"y": 1.0, "v_y": 0.0}, values, until=1e5, budget={"steps": 20_000})
    assert len(more.events) / len(found.events) == pytest.approx(
        20_000 / 600, rel=0.15
    )  # the last portion of steps may be too long


def test_progress_is_told_of_a_motion_of_many_impacts():
    heard = []
    values = {"w": 1.0, "A": 0.0, "e": 1.0, "g": 9.81}
    zw.simulate(ball(), {"y": 1.0, "v_y": 0.0}, values, until=100.0, progress=heard.append)
    assert heard and heard[-1] <= 100.0
