"""Periodic motions that are settled to, whose inputs are tables, and whose constraints are switched."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang.errors import DeclarationError


@pytest.mark.nightly
def test_tables_drive_cycles_from_wherever_they_start():
    # A table through a cosine: Newton's method goes wrong from rest, and the motion settles from period to period.
    (x,), (v,) = zw.coordinates("x")
    u = zw.inputs("u")
    wall = zw.Unilateral(1 - x, restitution=sp.Rational(4, 5), name="wall")
    system = zw.System(name="driven", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: u - v / 5}, constraints=[wall])
    turn = 2 * np.pi / 0.6
    times = turn * np.linspace(0, 2, 81)
    table_of = {size: zw.Table(times, size * np.cos(0.6 * times), kind="cubic") for size in (0.6, 0.7)}
    for size, start in ((0.6, {x: 0.0, v: 0.0}), (0.7, {x: 1.0, v: 0.5}), (0.7, {x: 0.3, v: 0.2, "t": 3.0})):
        exact = zw.periodic(system, start, {}, inputs={u: size * sp.cos(sp.Rational(3, 5) * zw.t)})
        found = zw.periodic(system, start, {}, inputs={u: table_of[size]}, period=turn)
        assert found.status.name == "CLOSED" and found.residual <= 1e-10
        assert found.multipliers == pytest.approx(exact.multipliers, abs=1e-4)
        again = zw.simulate(system, found.state, {}, until=found.state["t"] + turn, inputs={u: table_of[size]})
        assert [again.end["x"], again.end["v_x"]] == pytest.approx([found.state["x"], found.state["v_x"]], abs=1e-8)
    with pytest.raises(DeclarationError, match="equations are others after period= 5"):
        zw.periodic(system, {x: 0, v: 0}, {}, inputs={u: table_of[0.6]}, period=5.0)


def latched():
    """A driven oscillator that is caught at x = 1 on the way up, and let go where cos(13 t/10) falls through zero."""
    (x,), (v,) = zw.coordinates("x")
    f, wave = zw.parameters("f"), sp.Rational(13, 10) * zw.t
    switches = [
        zw.Event(x - 1, direction=1, name="catch", then=[zw.Switch(on=("latch",))]),
        zw.Event(sp.cos(wave), direction=-1, name="let go", then=[zw.Switch(off=("latch",))]),
    ]
    force = f * sp.sin(wave) - v / 5
    latch = zw.Bilateral(x - 1, name="latch", starts="off")
    return zw.System(
        name="latched", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: force}, constraints=[latch], events=switches
    )


@pytest.mark.parametrize("parts", by_day([[0.3, 2.0], [2.0]], [[2.0]]))  # away from the latch, and on it
def test_what_is_switched_on_returns_too(parts):
    system, turn = latched(), 2 * np.pi / 1.3
    motion = zw.simulate(system, {"x": 0, "v_x": 0}, {"f": 2.0}, until=30 * turn)
    for part in parts:  # states of one cycle
        state = motion.at(28 * turn + part)
        found = zw.periodic(system, state, {"f": 2.0}, period=2 * turn)
        assert found.status.name == "CLOSED" and found.state["on"] == state["on"] == found.motion.end["on"]
        assert len(found.multipliers) == (0 if state["on"] else 2) and np.abs(found.multipliers).max(initial=0) < 1e-9
        down = zw.periodic(system, state, {"f": 2.0}, period=2 * turn, section="x", direction=-1)
        assert down.status.name == "CLOSED" and down.state["on"] == () and down.state["v_x"] == pytest.approx(-2.33731)
    half = zw.periodic(system, state, {"f": 2.0}, period=turn)
    assert half.status.name == "NOT_CLOSED" and "does not return: latch is on at the" in half.reason
    if len(parts) < 2:
        return
    (branch,) = zw.cycles(system, found, vary="f", within=(1.9, 2.1)).branches
    assert branch.values[[0, -1]] == pytest.approx([1.9, 2.1]) and branch.stable.all()


def test_cycles_are_settled_to_from_far_away_with_their_least_period():
    (x,), (v,) = zw.coordinates("x")
    # Weakly nonlinear: gaps relative to the size grow towards rest, to which Newton's method would go.
    weak = zw.System(name="weak", kinetic=v**2 / 2, forces={x: (1 - x**2) * v / 20 - x})
    period = 2 * np.pi * (1 + 0.05**2 / 16)
    found = zw.periodic(weak, {x: 0.5, v: 0}, {})
    assert found.status.name == "CLOSED" and found.stable and found.period == pytest.approx(period, abs=1e-6)
    # A large transient counts for nothing where it is long past.
    late = zw.simulate(weak, {x: 30, v: 0}, {}, until=400).cycle()
    assert late.period == pytest.approx(found.period, abs=1e-10) and late.residual <= 1e-10
    # A rotor comes round once in its period, not eight times; units change nothing.
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    pull, length = sp.Rational(3, 2), 1e-12
    rotor = zw.System(name="rotor", kinetic=w**2 / 2, potential=-sp.cos(phi), forces={phi: pull - w / 2})
    turned = zw.simulate(rotor, {phi: 0, w: 0}, {}, until=60).cycle()
    assert turned.motion.q[-1] - turned.motion.q[0] == pytest.approx([2 * np.pi])
    valve = zw.System(name="valve", kinetic=v**2 / 2, forces={x: (1 - (x / length) ** 2) * v - x})
    tiny = zw.periodic(valve, {x: 0.01 * length, v: 0}, {})
    assert tiny.period == pytest.approx(6.6632868593, abs=1e-9)
    # What never returns says how near it came, as a number too.
    falls = zw.System(name="falls", kinetic=v**2 / 2, potential=x)
    away = zw.periodic(falls, {x: 1, v: 0.5}, {})
    assert away.status.name == "NOT_CLOSED" and 0 < away.residual < 1 and f"{away.residual:.2g}" in away.reason


def test_multipliers_of_a_fast_direction_that_the_motion_does_not_take():
    # y stays zero, so that steps are as long as x allows; its multipliers are those of y'' + y'/50 + k^2 y = 0.
    (x, y), (vx, vy) = zw.coordinates("x y")
    k = zw.parameters("k")
    system = zw.System(
        name="beside", kinetic=(vx**2 + vy**2) / 2, potential=(x**2 + k**2 * y**2) / 2,
        forces={x: sp.cos(zw.t / 2) - vx / 5, y: -vy / 50},
    )  # fmt: skip
    for value in (4.3, 101.3):
        found = zw.periodic(system, {x: 1, y: 0, vx: 0, vy: 0}, {k: value})
        fast = np.exp((-0.01 + 1j * np.sqrt(value**2 - 1e-4)) * 4 * np.pi)
        wanted = [fast.real + 1j * abs(fast.imag), fast.real - 1j * abs(fast.imag)]
        assert found.status.name == "CLOSED" and found.multipliers[:2] == pytest.approx(wanted, abs=1e-6)
