"""Events that lie close together: each has its own instant, down to what doubles can tell, whatever the units."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day

UNITS = [1.0, 1e-6, 1e6]
L, eps, e, A, g = sp.symbols("L eps e A g")
APART = sp.Symbol("apart")


def _log(motion):
    return [(event.kind, event.constraint) for event in motion.events]


# Two blocks whose friction is used up one shortly after the other.
def two_blocks(spring):
    (x, y), (u, w) = zw.coordinates("x y")
    return zw.System(
        name="two blocks", coordinates=[x, y], kinetic=(u**2 + w**2) / 2, potential=spring * (x - y) ** 2 / 2,
        forces={x: L * zw.t, y: L * zw.t / (1 + APART)},
        constraints=[zw.Friction(L, slip=u, name="a"), zw.Friction(L, slip=w, name="b")],
    )  # fmt: skip


@pytest.mark.parametrize("spring", [0, 3])
@pytest.mark.parametrize("unit", UNITS)
def test_two_slips_shortly_after_each_other_start_at_their_own_instants(spring, unit):
    system, state = two_blocks(spring), {"x": 0, "y": 0, "v_x": 0, "v_y": 0}
    for apart in [1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5]:
        motion = zw.simulate(system, state, {L: unit, APART: apart}, until=1.5)
        assert motion.status.name == "REACHED" and _log(motion) == [("slip", "a"), ("slip", "b")], apart
        # The forces L t and L t / (1 + apart) reach L at 1 and 1 + apart; before that nothing moves to stretch a spring
        # by more than apart^3. Below 1e-11 of its force a block is not told from one that slips.
        first, second = (event.time for event in motion.events)
        assert first == pytest.approx(1.0, abs=1e-15)
        assert second == pytest.approx(1 + apart, abs=2e-11 if apart < 2e-11 else 1e-15 + 1e-6 * apart)
        # From there on v' = t - 1 without a spring.
        if not spring:
            assert motion.v[-1] == pytest.approx([unit / 8, unit / 8], rel=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_events_of_every_kind_shortly_after_each_other_happen_at_their_own_instants(seed):
    """Blocks whose friction is used up or that come to rest, masses that lift off or land, each by itself."""
    random = np.random.default_rng(seed)
    unit = 10.0 ** random.choice([-6, -3, 0, 3, 6])
    n, begin = int(random.integers(2, 4)), random.uniform(0.5, 3)
    q, v = zw.coordinates(" ".join(f"q{i}" for i in range(n)))
    state = dict.fromkeys([*q, *v], 0.0)
    laws, forces, kinetic, instants = [], {}, 0, []
    for i in range(n):
        mass, bound = random.uniform(0.5, 2), random.uniform(0.5, 3) * unit
        kinetic += mass * v[i] ** 2 / 2
        at = begin + (0 if i == 0 else float(10 ** random.uniform(-13, -4)))
        what = random.choice(["slip", "stop", "lift", "land"])
        if what == "slip":
            forces[q[i]] = bound * zw.t / at
        elif what == "stop":
            state[v[i]] = bound * at / mass
        elif what == "lift":
            forces[q[i]] = bound * (zw.t / at - 1)
        else:
            forces[q[i]], state[q[i]] = -bound, bound * at**2 / (2 * mass)
        if what in ("slip", "stop"):
            laws.append(zw.Friction(bound, slip=v[i], name=f"c{i}"))
        else:
            laws.append(zw.Unilateral(q[i], restitution=float(random.choice([0, 0.5, 1])), name=f"c{i}"))
        instants.append(at)
    system = zw.System(name="side by side", coordinates=q, kinetic=kinetic, forces=forces, constraints=laws)
    motion = zw.simulate(system, state, {}, until=1.1 * begin, impact="newton")
    assert motion.status.name == "REACHED", motion.reason
    for i, at in enumerate(instants):
        first = next(event for event in motion.events if event.concerns(f"c{i}"))
        # What lies within 1e-10 of a force, or of a path, is told apart by no more.
        assert first.time == pytest.approx(at, rel=1e-9)


@pytest.mark.parametrize("apart", [1e-4, 1e-7, 1e-8, 1e-10])
def test_slips_in_planes_shortly_after_each_other_start_at_their_own_instants(apart):
    (x, y, z, w), (vx, vy, vz, vw) = zw.coordinates("x y z w")
    laws = [zw.Friction(1, slip=(vx, vy), name="a"), zw.Friction(1 + APART, slip=(vz, vw), name="b")]
    push = {x: zw.t, y: zw.t**2 / 10, z: zw.t, w: zw.t**2 / 10}
    system = zw.System(
        name="two", kinetic=(vx**2 + vy**2 + vz**2 + vw**2) / 2, potential=(x - y) ** 2 / 2, forces=push,
        constraints=laws,
    )  # fmt: skip
    motion = zw.simulate(system, dict.fromkeys(system.coordinates + system.velocities, 0), {APART: apart}, until=1.1)
    assert motion.status.name == "REACHED" and _log(motion) == [("slip", "a"), ("slip", "b")]
    # |(t, t^2/10)| = 1 and 1 + apart: with u = t^2, u + u^2/100 = (1 + apart)^2.
    starts = [np.sqrt(50 * (np.sqrt(1 + bound**2 / 25) - 1)) for bound in (1, 1 + apart)]
    assert [event.time for event in motion.events] == pytest.approx(starts, rel=1e-12)


# What ends before it shows.
def on_a_table(unit, early):
    """A plastic ball that lands on a table 2 sin t a little before the table falls less than the ball would."""
    (y,), (w,) = zw.coordinates("y")
    floor = zw.Unilateral(y - A * sp.sin(zw.t), restitution=e, name="floor")
    system = zw.System(name="ball on a table", kinetic=w**2 / 2, potential=g * y, constraints=[floor])
    settled = np.pi - np.arcsin(0.5)  # 2 sin t = g = 1
    lands, fall, speed = settled - early, 0.2, -2.0
    height = 2 * np.sin(lands) - speed * fall + fall**2 / 2
    state = {"y": height * unit, "v_y": speed * unit, "t": lands - fall}
    return settled, zw.simulate(system, state, {A: 2 * unit, g: unit, e: 0}, until=settled + 0.5)


@pytest.mark.parametrize("unit", UNITS)
def test_bounces_shorter_than_their_gap_can_tell_are_followed(unit):
    # The ball leaves at once, with 2 sin t - g = sqrt(3) (early - s), s the time since then, to leading order: the gap
    # sqrt(3) (early s^2/2 - s^3/6) is zero again after three times `early`.
    for early in [1e-10, 1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 1e-4, 3e-4, 1e-3]:
        settled, motion = on_a_table(unit, early)
        assert motion.status.name == "REACHED", early
        assert _log(motion)[0] == ("impact", "floor") and _log(motion)[-1] == ("contact", "floor")
        assert motion.events[0].time - settled == pytest.approx(-early, abs=1e-13)
        assert motion.events[-1].time - settled == pytest.approx(2 * early, abs=3e-13, rel=1e-5 + 3 * early)
        # The second impact takes the speed sqrt(3) 3/2 early^2; below 1e-10 of the speeds it is none.
        jump = sum((one.details["after"] - one.details["before"])[0] for one in motion.events[1:-1])
        assert jump == pytest.approx(unit * np.sqrt(3) * 1.5 * early**2, rel=1e-2, abs=1e-9 * unit)
        assert motion.residual < 1e-9


@pytest.mark.parametrize("unit", by_day(UNITS, [1e-6]))
def test_contact_lost_for_a_moment_is_found_again(unit):
    # The force L (eps - (t - 1)^2) lifts for 1 - r < t < 1 + r, r = sqrt(eps); the double integral from there on,
    # r s^2 - s^3/3 + ..., vanishes at t = 1 + 3 r; a slip or a one-sided velocity after the single one, at 1 + 2 r.
    (x, _), (u, w) = zw.coordinates("x y")
    force = L * (eps - (zw.t - 1) ** 2)
    moves = {"kinetic": (u**2 + w**2) / 2}
    lifted = zw.System(name="up", forces={x: force}, **moves, constraints=[zw.Unilateral(x - L, restitution=0)])
    carried = zw.System(name="on", forces={x: force}, **moves, constraints=[zw.Unilateral(u - L / 3)])
    pushed = zw.System(name="by", forces={x: force + L}, **moves, constraints=[zw.Friction(L, slip=u, name="rough")])
    speeds = {lifted: 0, carried: unit / 3, pushed: 0}
    for system, back, words in [
        (lifted, 3, ("lift-off", "contact")),
        (carried, 2, ("release", "capture")),
        (pushed, 2, ("slip", "stick")),
    ]:
        for size in [1e-14, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4]:
            state = {"x": unit, "v_x": speeds[system], "y": 0, "v_y": 2 * unit}
            motion = zw.simulate(system, state, {L: unit, eps: size}, until=2.0)
            assert motion.status.name == "REACHED", (system.name, size, motion.reason)
            kinds = [event.kind for event in motion.events if event.kind != "impact"]
            assert kinds in ([], list(words)) and (kinds or size < 1e-9)  # less than that of a force is none
            if kinds:
                first, last = motion.events[0].time, motion.events[-1].time
                assert first == pytest.approx(1 - np.sqrt(size), abs=1e-10)
                assert last == pytest.approx(1 + back * np.sqrt(size), abs=1e-3 * np.sqrt(size))
