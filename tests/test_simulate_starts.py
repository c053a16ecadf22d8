"""Slips with two components that start: direction, instant, and what follows."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from night import by_day

R = sp.Rational
(x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
(px, py), (ux, uy) = zw.coordinates("x y")
AT_REST = {"x": 0, "y": 0, "v_x": 0, "v_y": 0}


def on_support(slip):
    """A unit mass on a plane, g = 9.81, mu = 2/5."""
    floor = zw.Unilateral(z, friction=zw.Coulomb(R(2, 5), slip=slip), restitution=0, name="floor")
    weight = sp.Float(9.81) * z
    return zw.System(name="mass", kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=weight, constraints=[floor])


def under_bound(kinetic, forces, *slips):
    laws = [zw.Friction(bound, slip=slip, name=f"f{k}") for k, (bound, slip) in enumerate(slips)]
    return zw.System(name="pushed", kinetic=kinetic, forces=forces, constraints=laws)


def slid(mass, force, start, until, *, width, bound=1.0):
    """An independent integration: v' = M^-1 (F - bound v/sqrt(v^2 + width^2)), implicit steps."""
    inverse = np.linalg.inv(mass)

    def right(t, state):
        v = state[2:]
        return np.concatenate([v, inverse @ (force(t) - bound * v / np.sqrt(v @ v + width**2))])

    found = solve_ivp(right, (start, until), np.zeros(4), method="Radau", rtol=1e-10, atol=1e-14)
    return found.y[:, -1]


def test_mass_on_a_support_that_gathers_speed_slips_once_and_goes_on():
    system = on_support((vx - zw.t**2 / 2, vy - zw.t**3 / 5))
    state = {"x": 0, "y": 0, "z": 0, "v_x": 0, "v_y": 0, "v_z": 0}
    motion = zw.simulate(system, state, {}, until=4.0)
    # It rests until the acceleration (t, 3 t^2/5) of the support exceeds mu g.
    exact = np.sqrt((-1 + np.sqrt(1 + 4 * 9 / 25 * (0.4 * 9.81) ** 2)) / (2 * 9 / 25))
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["slip"]
    assert abs(motion.events[0].time - exact) < 1e-9
    assert len(motion.t) < 200  # an explicit method follows the turning slip with thousands of steps


def test_slip_leaves_against_the_sticking_force_like_the_square_of_time():
    mass = (ux**2 + R(8, 5) * ux * uy + 2 * uy**2) / 2
    system = under_bound(mass, {px: zw.t, py: sp.sin(3 * zw.t)}, (1, (ux, uy)))
    motion = zw.simulate(system, AT_REST, {}, until=2.5)
    start = motion.events[0].time
    assert abs(start**2 + np.sin(3 * start) ** 2 - 1) < 1e-12  # |F| = 1
    force = np.array([start, np.sin(3 * start)])
    # Along d = F: 2 rho d M d = d . dF/dt, since the slip is rho (t - t*)^2 d and M v' = F - friction.
    m = np.array([[1, 0.8], [0.8, 2.0]])
    rho = force @ [1.0, 3 * np.cos(3 * start)] / (2 * force @ m @ force)
    for later in (1e-3, 1e-4):
        state = motion.at(start + later)
        slip = np.array([state["v_x"], state["v_y"]])
        assert np.linalg.norm(slip / (rho * later**2) - force) < 30 * later  # the next order
    regular = [slid(m, lambda t: np.array([t, np.sin(3 * t)]), 0.3, 2.5, width=w) for w in (1e-7, 1e-8)]
    errors = [np.abs(end - np.concatenate([motion.q[-1], motion.v[-1]])).max() for end in regular]
    assert errors[1] < 2e-6 and errors[1] < 0.25 * errors[0]  # they tend to the sharp law like width log(width)


def test_mass_on_a_turntable_whose_rate_grows():
    slip = (ux + zw.t / 3 * py, uy - zw.t / 3 * px)
    system = under_bound((ux**2 + uy**2) / 2, {}, (R(3, 2), slip))
    motion = zw.simulate(system, {"x": 1, "y": 0, "v_x": 0, "v_y": 0}, {}, until=6.0)
    # Carried round with w = t/3: accelerations w^2 and dw/dt at radius 1.
    assert [event.kind for event in motion.events] == ["slip"]
    assert abs(motion.events[0].time - 3 * (2.25 - 1 / 9) ** 0.25) < 1e-9
    assert len(motion.t) < 300
    _agrees_with_steps(system, {"x": 1, "y": 0, "v_x": 0, "v_y": 0}, motion, 6.0)


def test_where_the_force_jumps_the_slip_leaves_along_its_acceleration():
    mass = (ux**2 + R(8, 5) * ux * uy + 2 * uy**2) / 2
    push = {px: sp.Piecewise((R(1, 2), zw.t < 1), (3, True)), py: sp.Piecewise((R(1, 2), zw.t < 1), (-2, True))}
    system = under_bound(mass, push, (1, (ux, uy)))
    motion = zw.simulate(system, AT_REST, {}, until=2.0)
    assert [(event.kind, event.time) for event in motion.events] == [("slip", 1.0)]
    # With constant force the slip keeps the direction d of M d a = F - d.
    state = motion.at(1.5)
    slip, end = np.array([state["v_x"], state["v_y"]]), motion.v[-1]
    d = end / np.linalg.norm(end)
    assert abs(np.cross(slip / np.linalg.norm(slip), d)) < 1e-9
    assert np.abs(np.array([[1, 0.8], [0.8, 2.0]]) @ end - (np.array([3.0, -2.0]) - d)).max() < 1e-9


def test_coupled_contacts_that_start_together():
    (a, b, c, d), (va, vb, vc, vd) = zw.coordinates("a b c d")
    kinetic = (va**2 + vb**2 + vc**2 + vd**2 + va * vc + vb * vd / 2) / 2
    push = {a: zw.t, b: zw.t**2 / 2, c: zw.t, d: -(zw.t**2) / 2}
    system = under_bound(kinetic, push, (1, (va, vb)), (1, (vc, vd)))
    state = dict.fromkeys(("a", "b", "c", "d", "v_a", "v_b", "v_c", "v_d"), 0)
    motion = zw.simulate(system, state, {}, until=2.5)
    start = np.sqrt(2 * (np.sqrt(2) - 1))  # t^2 + t^4/4 = 1
    assert [(event.kind, event.constraint) for event in motion.events] == [("slip", "f0"), ("slip", "f1")]
    assert all(abs(event.time - start) < 1e-9 for event in motion.events)
    _agrees_with_steps(system, state, motion, 2.5)


@pytest.mark.parametrize("seed", by_day([7, 22, 27, 35], (7, 27)))
def test_random_pushes_on_contacts_in_space_agree_with_time_stepping(seed):
    system, state = pushed_at_random(seed)
    motion = zw.simulate(system, state, {}, until=2.0)
    assert motion.status.name == "REACHED"
    assert any(event.kind == "slip" for event in motion.events) and len(motion.events) < 10
    _agrees_with_steps(system, state, motion, 2.0)


def test_a_slip_that_starts_from_rest_at_the_origin_comes_to_rest_again():
    # Nothing has a size at the start: speeds are those that the motion has had since.
    system, state = pushed_at_random(235)
    motion = zw.simulate(system, state, {}, until=0.3)
    assert motion.status.name == "REACHED"
    assert [(event.kind, event.constraint) for event in motion.events] == [("stick", "f0"), ("slip", "f1")]
    _agrees_with_steps(system, state, motion, 0.3)


@pytest.mark.parametrize("apart", [1e-3, 1e-5, 1e-9])
def test_slips_that_start_almost_together_start_one_after_the_other(apart):
    # Unit masses that a push t carries to their bounds, 1 and 1 + apart, pulled across by springs that turn the slip.
    (x, y, z, w), (vx, vy, vz, vw) = zw.coordinates("x y z w")
    laws = [zw.Friction(1, slip=(vx, vy), name="a"), zw.Friction(1 + R(apart), slip=(vz, vw), name="b")]
    system = zw.System(
        name="two", kinetic=(vx**2 + vy**2 + vz**2 + vw**2) / 2 + vx * vz / 10, potential=(x - y) ** 2 / 2,
        forces={x: zw.t, y: zw.t**2 / 10, z: zw.t, w: zw.t**2 / 10}, constraints=laws,
    )  # fmt: skip
    state = dict.fromkeys([*(one.name for one in system.coordinates), *(one.name for one in system.velocities)], 0)
    motion = zw.simulate(system, state, {}, until=1.2)
    # |(t, t^2/10)| = 1 at the first start, and nothing couples the bodies before it.
    first = np.sqrt((np.sqrt(1.04) - 1) / 0.02)
    assert motion.status.name == "REACHED" and motion.events[0].constraint == "a"
    assert motion.events[0].time == pytest.approx(first, abs=1e-9)
    assert {event.kind for event in motion.events if event.time < first + 2 * apart + 1e-9} == {"slip"}
    _agrees_with_steps(system, state, motion, 1.2)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_pushes_agree_with_time_stepping(seed):
    system, state = pushed_at_random(seed)
    motion = zw.simulate(system, state, {}, until=2.0)
    assert motion.status.name == "REACHED"
    _agrees_with_steps(system, state, motion, 2.0)


def pushed_at_random(seed):
    """Return a system with springs, one or two contacts with friction in planes on moving supports, and pushes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 7))
    q, v = zw.coordinates(" ".join(f"q{i}" for i in range(n)))
    speeds = sp.Matrix(v)
    root = random.integers(-2, 3, (n, n))
    mass = sp.Matrix((root @ root.T + 2 * n * np.eye(n, dtype=int)).tolist()) / n
    pairs = [sp.eye(n)[:2, :], sp.eye(n)[2:4, :]]
    twist = sp.Matrix(random.integers(-1, 2, (4, n)).tolist()) / 4
    laws = []
    for k in range(int(random.integers(1, 3))):
        drift = [R(int(random.integers(-3, 4)), 4) * zw.t**2, R(int(random.integers(-3, 4)), 5) * zw.t**3]
        slip = tuple((pairs[k] + twist[2 * k : 2 * k + 2, :]) * speeds - sp.Matrix(drift))
        if k == 0 and random.random() < 0.6:
            law = zw.Coulomb(R(1, 2), slip=slip)
            laws.append(zw.Unilateral(q[n - 1], friction=law, restitution=0, name="c"))
        else:
            laws.append(zw.Friction(R(int(random.integers(2, 6)), 3), slip=slip, name=f"f{k}"))
    thirds = random.integers(-4, 5, (n, 3))
    push = {
        q[i]: R(int(one), 3) * zw.t + R(int(two), 3) * zw.t**2 + R(int(three), 3) * sp.sin(2 * zw.t)
        for i, (one, two, three) in enumerate(thirds)
    }
    push[q[n - 1]] -= 6
    kinetic = sp.expand((speeds.T * mass * speeds)[0] / 2)
    springs = sum(one**2 for one in q) / 2
    system = zw.System(name="random", kinetic=kinetic, potential=springs, forces=push, constraints=laws)
    return system, {**{one.name: 0 for one in q}, **{one.name: 0 for one in v}}


def _agrees_with_steps(system, state, motion, until):
    """Time stepping has an error of first order: halving its step halves the distance, which is small."""
    apart = []
    for step in (2e-3, 1e-3):
        other = zw.simulate(system, state, {}, until=until, method="timestepping", step=step)
        apart.append(max(abs(other.end[name] - motion.end[name]) for name in motion.end))
    assert apart[1] < 3e-3
    assert apart[1] < 0.62 * apart[0] or apart[1] < 1e-6


def test_block_between_two_belts_that_move_apart_keeps_to_the_stronger_one():
    (_s,), (v,) = zw.coordinates("s")
    belts = [zw.Friction(1, slip=v - zw.t**2 / 2, name="a"), zw.Friction(2, slip=v + zw.t**3 / 3, name="b")]
    motion = zw.simulate(zw.System(name="belts", kinetic=v**2 / 2, constraints=belts), {"s": 0, "v_s": 0}, {}, until=2)
    # It goes with b, whose friction must carry t^2 + 1 <= 2; both pull it on from t = 1, with 1 - 2 = -1.
    assert [(e.kind, e.constraint) for e in motion.events] == [("slip", "b")]
    assert abs(motion.events[0].time - 1.0) < 1e-9
    assert abs(motion.v[-1, 0] - (-1 / 3 - 1)) < 1e-9


def test_contacts_in_planes_between_supports_that_move_apart_are_left_to_time_stepping():
    laws = [(1, (ux - zw.t**2 / 2, uy)), (2, (ux + zw.t**3 / 3, uy - zw.t**2))]
    motion = zw.simulate(under_bound((ux**2 + uy**2) / 2, {}, *laws), AT_REST, {}, until=0.5)
    assert motion.status.name == "UNFINISHED"
    assert "supports move apart" in motion.reason and "method='auto' or 'timestepping'" in motion.reason


def _pushed_blocks(count: int) -> zw.System:
    """Blocks on a plane, pushed in turning directions with forces that pass their friction `d` s after each other."""
    length, d = zw.parameters("length d")
    q, v = zw.coordinates(" ".join(f"x{i} y{i} z{i}" for i in range(count)))
    floors, forces = [], {}
    for i in range(count):
        slip = (v[3 * i], v[3 * i + 1])
        law = zw.Coulomb(sp.Rational(1, 2), slip=slip)
        floors.append(zw.Unilateral(q[3 * i + 2], name=f"floor {i}", restitution=0, friction=law))
        push, turn = length * (zw.t - i * d), sp.Rational(7 * i, 10) + i * (zw.t - 1) / 3
        forces |= {q[3 * i]: push * sp.cos(turn), q[3 * i + 1]: push * sp.sin(turn), q[3 * i + 2]: -2 * length}
    kinetic = sum(one**2 for one in v) / 2
    return zw.System(name="blocks", kinetic=kinetic, coordinates=q, forces=forces, constraints=floors)


@pytest.mark.parametrize("length", by_day([1e-9, 1.0, 1e9], [1e-9]))
def test_slips_in_planes_that_start_one_after_the_other_have_their_own_instants_at_every_length(length: float) -> None:
    blocks = _pushed_blocks(3)
    rest = dict.fromkeys((*blocks.coordinates, *blocks.velocities), 0.0)
    for apart in (0.0, 1e-9, 1e-6):
        motion = zw.simulate(blocks, rest, {"length": length, "d": apart}, until=1.2)
        slips = [(event.constraint, event.time) for event in motion.events]
        assert motion.status.name == "REACHED" and [name for name, _ in slips] == ["floor 0", "floor 1", "floor 2"]
        # Instants are good to tol = 1e-10; slips as close as that are told apart by rounding and go one way or another.
        np.testing.assert_allclose([time for _, time in slips], 1 + apart * np.arange(3), rtol=0, atol=1e-10)


def test_a_table_that_slides_from_rest_at_the_origin_keeps_its_four_feet() -> None:
    # Where everything is zero nothing has a size but what moves: rounding of 1e-37 is no parting of the feet.
    q, v = zw.coordinates("x y z a b c")
    (_, _, up, roll, pitch, _), (v_x, v_y, _, w_x, w_y, w_z) = q, v
    half, height, feet = R(1, 2), R(2, 5), []
    for i, (along, across) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        slip = (v_x - across * half * w_z - height * w_y, v_y + along * half * w_z + height * w_x)
        law = zw.Coulomb(R(1, 2), slip=slip)
        feet.append(
            zw.Unilateral(up + half * (across * roll - along * pitch), name=f"foot {i}", friction=law, restitution=0)
        )
    kinetic = (v_x**2 + v_y**2 + v[2] ** 2) / 2 + (w_x**2 + w_y**2 + w_z**2) / 6
    table = zw.System(
        name="table",
        kinetic=kinetic,
        coordinates=q,
        forces={q[0]: sp.Float(9.81 * np.sin(0.6)), up: -sp.Float(9.81 * np.cos(0.6))},
        constraints=feet,
    )
    motion = zw.simulate(table, dict.fromkeys((*q, *v), 0.0), until=0.5)
    assert motion.status.name == "REACHED" and len(motion.events) == 0
    assert motion.end["x"] == pytest.approx(9.81 * (np.sin(0.6) - 0.5 * np.cos(0.6)) * 0.125, rel=1e-12)
