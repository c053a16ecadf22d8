"""Contacts that stand alone are decided in compiled code: the same log as that of `reactions`, the same numbers."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._simulate import decide
from zwang._simulate.lone import lone_labels

G = sp.Rational(981, 100)


def block():
    """A block whose directions are coupled by its inertia, shaken on a rough floor that holds more at rest."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, mu, more, e, p, r, w = zw.parameters("m mu more e p r w")
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx, static=mu + more), restitution=e, name="floor")
    return zw.System(
        name="block",
        kinetic=(vx**2 + 2 * m * vx * vy + 2 * vy**2) / 2,
        potential=2 * G * y + x**2 / 2,
        forces={x: p * sp.cos(w * zw.t), y: r * sp.sin(2 * zw.t) - vy / 2},
        constraints=[floor],
    )


def pair():
    """Two blocks on two floors, one of which moves, that don't feel each other's contact."""
    (x, y, u, z), (vx, vy, vu, vz) = zw.coordinates("x y u z")
    m, mu, more, e, p, r, w = zw.parameters("m mu more e p r w")
    floors = [
        zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=e, name="floor"),
        zw.Unilateral(z, friction=zw.Coulomb(mu + more, slip=vu - sp.Rational(1, 2)), restitution=0, name="belt"),
        zw.Unilateral(3 - x + u, restitution=sp.Rational(1, 2), name="between"),
    ]
    return zw.System(
        name="pair",
        kinetic=(vx**2 + vy**2 + (1 + m) * (vu**2 + vz**2)) / 2,
        potential=G * (y + (1 + m) * z) + (x - u) ** 2 / 2 + x**2,
        forces={x: p * sp.cos(w * zw.t), y: r * sp.sin(2 * zw.t), u: vu / 10},
        constraints=floors,
    )


def dry():
    """Two masses with friction of given bounds, on the ground and between them, a wall and a limit of speed."""
    (x, u), (vx, vu) = zw.coordinates("x u")
    m, mu, more, e, p, r, w = zw.parameters("m mu more e p r w")
    rubbing = [
        zw.Friction(mu, slip=vx, name="ground"),
        zw.Friction(mu + more, slip=vu - vx, name="between"),
        zw.Unilateral(2 - x, restitution=e, name="wall"),
        zw.Unilateral(1 + r / 10 - vu, name="limit"),
    ]
    return zw.System(
        name="dry",
        kinetic=((1 + m) * vx**2 + vu**2) / 2,
        potential=x**2 / 2 + (u - x) ** 2,
        forces={x: p * sp.cos(w * zw.t), u: sp.sin(zw.t)},
        constraints=rubbing,
    )


def pendulum():
    """A mass on a rod, held by a constraint, with friction in its hinge, over a rough floor."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, mu, more, e, p, r, w = zw.parameters("m mu more e p r w")
    constraints = [
        zw.Bilateral(x**2 + y**2 - 1, name="rod"),
        zw.Friction(more, slip=x * vy - y * vx, name="hinge"),
        zw.Unilateral(y + sp.Rational(4, 5), friction=zw.Coulomb(mu / 4, slip=vx), restitution=e, name="floor"),
    ]
    return zw.System(
        name="pendulum",
        kinetic=(1 + m) * (vx**2 + vy**2) / 2,
        potential=G * y / 3,
        forces={x: 2 * p * sp.cos(w * zw.t) + r * y / 5},
        constraints=constraints,
    )


def smooth():
    """A block on a belt whose friction falls with the speed; without any, and with friction of a given bound, too."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, mu, more, e, p, r, w = zw.parameters("m mu more e p r w")
    slip = vx - sp.Rational(1, 2)
    belt = zw.Coulomb(mu * (1 + 1 / (1 + 3 * slip**2)), slip=slip)
    return zw.System(
        name="smooth",
        kinetic=(1 + m) * (vx**2 + vy**2) / 2,
        potential=G * y + x**2,
        forces={x: p * sp.cos(w * zw.t) / 2, y: r * sp.sin(2 * zw.t)},
        constraints=[
            zw.Unilateral(y, friction=belt, restitution=e, name="belt"),
            zw.Friction(more - sp.Rational(1, 20), slip=vx, name="air"),
        ],
    )


FAMILIES = {
    "smooth": (smooth, {"x": 0.1, "y": 0.0, "v_x": 0.0, "v_y": 0.0}),
    "block": (block, {"x": 0.1, "y": 0.0, "v_x": 0.0, "v_y": 0.0}),
    "pair": (pair, {"x": 0.1, "y": 0.0, "u": 0.0, "z": 0.0, "v_x": 0.3, "v_y": 0.0, "v_u": 0.5, "v_z": 0.0}),
    "dry": (dry, {"x": 0.3, "u": 0.2, "v_x": 0.0, "v_u": 0.0}),
    "pendulum": (pendulum, {"x": 1.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}),
}
MODELS = {}


def drawn(rng):
    low = {"m": 0.0, "mu": 0.1, "more": 0.05, "e": 0.0, "p": 4.0, "r": 0.0, "w": 0.5}
    high = {"m": 0.6, "mu": 0.8, "more": 0.4, "e": 0.9, "p": 12.0, "r": 30.0, "w": 3.0}
    values = {name: float(rng.uniform(low[name], high[name])) for name in low}
    return {**values, "e": values["e"] if rng.uniform() < 0.5 else 0.0}


def both(family, values, until, monkeypatch):
    """Return a motion with contacts decided alone, one without, and how many were decided so."""
    system, state = FAMILIES[family]
    model = MODELS.setdefault(family, zw.compile(system(), tier="compiled"))
    decided = []

    def counted(*given):
        found = lone_labels(*given)
        decided.append(found is not None)
        return found

    monkeypatch.setattr(decide, "lone_labels", counted)
    fast = zw.simulate(model, state, values, until=until, impact="newton")
    monkeypatch.setattr(decide, "lone_labels", lambda *_: None)
    return fast, zw.simulate(model, state, values, until=until, impact="newton"), decided


def compare(fast, slow):
    log = [[(event.kind, event.constraint, event.time) for event in motion.events] for motion in (fast, slow)]
    assert log[0] == log[1]
    assert (fast.status, fast.reason) == (slow.status, slow.reason)
    assert [piece.labels for piece in fast.pieces] == [piece.labels for piece in slow.pieces]
    # The same modes from the same states: the same steps, to the last bit.
    assert np.array_equal(fast.t, slow.t) and np.array_equal(fast.q, slow.q) and np.array_equal(fast.v, slow.v)


@pytest.mark.parametrize("family", FAMILIES)
def test_contacts_that_stand_alone_have_the_log_that_reactions_gives(family, monkeypatch):
    alone = 0
    for seed in range(3):
        fast, slow, decided = both(family, drawn(np.random.default_rng(seed)), 6.0, monkeypatch)
        compare(fast, slow)
        alone += sum(decided)
    assert alone > 8


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_many_contacts_that_stand_alone_have_the_log_that_reactions_gives(family, monkeypatch):
    events = alone = 0
    for seed in range(3, 60):
        fast, slow, decided = both(family, drawn(np.random.default_rng(seed)), 20.0, monkeypatch)
        compare(fast, slow)
        events, alone = events + len(decided), alone + sum(decided)
    print(f"{family}: {alone} of {events} modes decided alone, seeds 3 to 59")
    assert alone > events / 2


@pytest.mark.parametrize("family", ["smooth", "pair", "dry"])
def test_contacts_without_friction_neither_stick_nor_slip(family, monkeypatch):
    values = {"m": 0.0, "mu": 0.0, "more": 0.05, "e": 0.0, "p": 4.0, "r": 12.0, "w": 1.0}
    fast, slow, _ = both(family, values, 3.0, monkeypatch)
    compare(fast, slow)
    assert "closed" in {label for piece in fast.pieces for label in piece.labels}


def painleve():
    """A rod that slides on its tip: with much friction no reaction, or several, satisfy the laws."""
    (_, y, a), (vx, vy, w) = zw.coordinates("x y a")
    mu = zw.parameters("mu")
    slip = vx + sp.sin(a) * w
    tip = zw.Unilateral(y - sp.sin(a), friction=zw.Coulomb(mu, slip=slip), restitution=0, name="tip")
    return zw.System(name="rod", kinetic=(vx**2 + vy**2 + w**2 / 3) / 2, potential=G * y, constraints=[tip])


def test_where_several_accelerations_may_be_reactions_is_asked(monkeypatch):
    # J = 1/3, a = 1: g_nn = 1 + 3 cos^2 = 1.88, g_nt = -3 sin cos = -1.36: mu = 2 makes g_nn - mu abs(g_nt) < 0.
    asked = []

    def spied(*given):
        asked.append(lone_labels(*given))
        return asked[-1]

    monkeypatch.setattr(decide, "lone_labels", spied)
    angle = 1.0
    for mu, plain in ((0.3, True), (2.0, False)):
        asked.clear()
        state = {"x": 0.0, "y": np.sin(angle), "a": angle, "v_x": 1.0, "v_y": 0.0, "v_a": 0.0}
        zw.simulate(zw.compile(painleve(), tier="compiled"), state, {"mu": mu}, until=0.01)
        assert (asked[0] is not None) == plain
