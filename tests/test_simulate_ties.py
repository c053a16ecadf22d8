"""Ties and simultaneous events: what the accelerations of one instant leave open."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy as sp

import zwang as zw

START = {"x": 0.0, "y": 0.0, "v_x": 1.0, "v_y": 0.0}


def beside_a_wall(force: Any, **options: Any) -> Any:
    """Return the motion of a particle that slides along a wall y >= 0 under a force across it."""
    (_, y), (vx, vy) = zw.coordinates("x y")
    wall = zw.Unilateral(y, restitution=0, name="wall")
    system = zw.System(name="wall", kinetic=(vx**2 + vy**2) / 2, forces={y: force}, constraints=[wall])
    return zw.simulate(system, START, {}, until=2.0, **options)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_contact_without_force_opens_if_the_next_derivative_pulls(power: int) -> None:
    motion = beside_a_wall(zw.t**power)
    assert motion.modes[0]["wall"] == "open"
    assert motion.events == ()
    # y'' = t^p
    assert motion.end["y"] == pytest.approx(2.0 ** (power + 2) / ((power + 1) * (power + 2)), abs=1e-9)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_contact_without_force_closes_if_the_next_derivative_pushes(power: int) -> None:
    motion = beside_a_wall(-(zw.t**power))
    assert motion.modes[0]["wall"] == "closed"
    assert motion.end["y"] == 0.0
    assert motion.reactions["wall"][-1] == pytest.approx(2.0**power, abs=1e-9)


def test_contact_without_any_force_stays_as_it_is() -> None:
    motion = beside_a_wall(0)
    assert motion.status.name == "REACHED"
    assert motion.events == ()
    assert (motion.end["x"], motion.end["y"]) == (pytest.approx(2.0, abs=1e-12), 0.0)


def test_two_captures_at_one_instant_are_both_logged() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    pawls = [zw.Unilateral(vx, name="a"), zw.Unilateral(vy, name="b")]
    system = zw.System(kinetic=(vx**2 + vy**2) / 2, forces={x: -1, y: -1}, constraints=pawls)
    motion = zw.simulate(system, {**START, "v_y": 1.0}, {}, until=2.0)
    assert [(e.kind, e.constraint) for e in motion.events] == [("capture", "a"), ("capture", "b")]
    assert [e.time for e in motion.events] == pytest.approx([1.0, 1.0], abs=1e-11)
    assert (motion.end["x"], motion.end["y"]) == pytest.approx((0.5, 0.5), abs=1e-11)


def test_force_that_jumps_in_time_lifts_a_sliding_block_off() -> None:
    (_, y), (vx, vy) = zw.coordinates("x y")
    floor = zw.Unilateral(y, friction=zw.Coulomb(sp.Rational(1, 2), slip=vx), restitution=0, name="floor")
    lift = sp.Piecewise((-1, zw.t < 1), (1, True))
    system = zw.System(kinetic=(vx**2 + vy**2) / 2, forces={y: lift}, constraints=[floor])
    motion = zw.simulate(system, {**START, "v_x": 2.0}, {}, until=2.0)
    assert [(e.kind, e.time) for e in motion.events] == [("lift-off", pytest.approx(1.0, abs=1e-12))]
    # One second of friction 1/2, then a second of flight with acceleration 1.
    assert motion.end["x"] == pytest.approx(2 - 0.25 + 1.5, abs=1e-11)
    assert motion.end["y"] == pytest.approx(0.5, abs=1e-11)


@pytest.mark.parametrize("time", [1e-5, 1.0, 1e3])
def test_a_tip_that_no_force_but_reactions_pulls_along_starts_to_slip(time: float) -> None:
    # Its tangent meets no applied force and no acceleration: what is rounding there shows in the reactions alone.
    q, v = zw.coordinates("x1 y1 x2 y2 x3 y3")
    start, masses, ends = [0.7, 0.5, 1.4, -0.1, 2.7, 0.5], [1.5, 2.0, 2.5], [(0, 0), q[:2], q[2:4], q[4:]]
    bars = []
    for k, ((a, b), (c, d)) in enumerate(itertools.pairwise(ends)):
        square = (c - a) ** 2 + (d - b) ** 2
        length = sp.sqrt(square.subs(dict(zip(q, start, strict=True))))
        bars.append(zw.Bilateral((square - length**2) / (2 * length), name=f"bar {k + 1}"))
    floor = zw.Unilateral(q[5] - 0.35, name="floor", friction=zw.Coulomb(0.6, slip=v[4]), restitution=0)
    system = zw.System(
        name="chain",
        coordinates=list(q),
        kinetic=sum(m * (v[2 * k] ** 2 + v[2 * k + 1] ** 2) / 2 for k, m in enumerate(masses)),
        potential=sum(m * 9.81 / time**2 * q[2 * k + 1] for k, m in enumerate(masses)),
        constraints=[*bars, floor],
    )
    state = dict(zip(q, start, strict=True)) | dict.fromkeys(v, 0.0)
    motion = zw.simulate(system, state, {}, until=0.6 * time, impact="newton")
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["impact", "contact", "slip"]
    assert motion.events[2].time / time == pytest.approx(0.385439408, abs=1e-8)
