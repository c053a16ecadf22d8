"""Periodic motions against closed forms and independent computations."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from scipy.special import ellipk

import zwang as zw
from zwang.errors import DeclarationError, StateError


def table():
    """A ball on a table that shakes."""
    (y,), (v,) = zw.coordinates("y")
    w, A, e, g = zw.parameters("w A e g")
    floor = zw.Unilateral(y - A * sp.sin(w * zw.t), restitution=e, name="table")
    return zw.System(name="ball", kinetic=v**2 / 2, potential=g * y, constraints=[floor])


def bouncing(strength, n, e, w=10.0, g=9.81):
    """Return parameters with A w^2/g = strength, and a state of the cycle with one impact in n periods.

    Flights last n T, so the ball leaves with g n T/2 and comes with minus that, and the cosine of the phase is
    n pi (1 - e)/(1 + e)/strength. The state is that of the middle of the flight.
    """
    A = strength * g / w**2
    phase = np.arccos(min(n * np.pi * (1 - e) / (1 + e) / strength, 1.0))
    flight = n * 2 * np.pi / w
    top = A * np.sin(phase) + g * (flight / 2) ** 2 / 2
    return {"w": w, "A": A, "e": e, "g": g}, {"y": top, "v_y": 0.0, "t": phase / w + flight / 2}


@pytest.mark.parametrize(("n", "e"), [(n, e) for n in (1, 2, 3) for e in (0.3, 0.5, 0.8)])
def test_ball_on_a_shaking_table_has_its_window_of_stable_cycles(n, e):
    # Stable for n pi (1-e)/(1+e) < A w^2/g < sqrt((n pi (1-e)/(1+e))^2 + (2 (1+e^2)/(1+e)^2)^2); product e^2.
    low = n * np.pi * (1 - e) / (1 + e)
    high = np.hypot(low, 2 * (1 + e**2) / (1 + e) ** 2)
    system = table()
    for strength, stable in ((0.5 * (low + high), True), (high * (1 + 1e-3), False)):
        params, state = bouncing(strength, n, e)
        shaken = {**state, "y": state["y"] * 1.001}
        found = zw.periodic(system, shaken, params, period=n * 2 * np.pi / params["w"])
        assert found.status.name == "CLOSED" and found.residual <= 1e-10, found
        assert found.state["y"] == pytest.approx(state["y"], abs=1e-9)
        assert np.prod(found.multipliers) == pytest.approx(e**2, rel=1e-7)
        assert found.stable is stable and found.ones == 0
    params, state = bouncing(high, n, e)
    flip = zw.periodic(system, state, params, period=f"2*pi*{n}/w")
    assert min(flip.multipliers.real) == pytest.approx(-1.0, abs=1e-6)
    params, state = bouncing(low * (1 + 1e-6), n, e)
    fold = zw.periodic(system, state, params, period=n * 2 * np.pi / params["w"])
    # The multiplier approaches 1 like the root of the distance to the fold.
    assert max(fold.multipliers.real) == pytest.approx(1.0, abs=0.03)


def belt():
    """A block on a belt, with more friction at rest."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, g, k, mu, rest, speed = zw.parameters("m g k mu rest speed")
    law = zw.Coulomb(mu, slip=vx - speed, static=rest)
    floor = zw.Unilateral(y, friction=law, restitution=0, name="belt")
    return zw.System(
        name="stick-slip", kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y + k * x**2 / 2, constraints=[floor]
    )


def test_stick_slip_has_its_period_and_the_multiplier_of_sticking():
    # Slip from x = mu_s N/k until the belt's speed is reached again: omega tau/2 = pi - arctan(D omega/v), with
    # D = (mu_s - mu) N/k; then it sticks for 2 D/v.
    m, g, k, mu, rest, speed = 1.5, 9.81, 40.0, 0.3, 0.5, 0.2
    params = {"m": m, "g": g, "k": k, "mu": mu, "rest": rest, "speed": speed}
    D, omega = (rest - mu) * m * g / k, np.sqrt(k / m)
    period = 2 * (np.pi - np.arctan(D * omega / speed)) / omega + 2 * D / speed
    start = {"x": 0.0, "y": 0, "v_x": 0.0, "v_y": 0}
    found = zw.periodic(belt(), start, params)
    assert found.status.name == "CLOSED" and found.period == pytest.approx(period, rel=1e-10)
    assert np.sort(np.abs(found.multipliers)) == pytest.approx([0, 1], abs=1e-8)
    assert found.stable and found.ones == 1
    swing = np.hypot(D, speed / omega)
    assert found.motion.at(np.linspace(*found.motion.t[[0, -1]], 4001))["x"].max() == pytest.approx(
        mu * m * g / k + swing, rel=1e-6
    )
    settled = zw.simulate(belt(), {**start, "x": 0.02}, params, until=4 * period, impact="newton").cycle()
    assert settled.period == pytest.approx(period, rel=1e-10)


def woodpecker():
    """Glocker's woodpecker toy."""
    (y, a, b), (vy, va, vb) = zw.coordinates("y a b")
    values = {"rO": 0.0025, "rM": 0.0031, "hM": 0.0058, "lM": 0.010, "lG": 0.015, "hS": 0.02, "lS": 0.0201}
    values |= {"mM": 0.0003, "mS": 0.0045, "JM": 5e-9, "JS": 7e-7, "c": 0.0056, "mu": 0.3, "g": 9.81}
    rO, rM, hM, lM, lG, hS, lS, mM, mS, JM, JS, c, mu, g = (zw.parameters(name) for name in values)
    kinetic = mM * vy**2 / 2 + JM * va**2 / 2 + mS * (vy + lM * va + lG * vb) ** 2 / 2 + JS * vb**2 / 2
    potential = mM * g * y + mS * g * (y + lM * a + lG * b) + c * (a - b) ** 2 / 2
    sleeve = zw.Coulomb(mu, slip=vy + rM * va)
    touching = [
        zw.Unilateral(
            lM + lG - lS - rO - hS * b,
            friction=zw.Coulomb(mu, slip=vy + lM * va + (lG - lS) * vb),
            restitution=sp.Rational(1, 2),
            name="beak",
        ),
        zw.Unilateral(rM - rO + hM * a, friction=sleeve, restitution=0, name="lower"),
        zw.Unilateral(rM - rO - hM * a, friction=sleeve, restitution=0, name="upper"),
    ]
    system = zw.System(name="woodpecker", kinetic=kinetic, potential=potential, constraints=touching)
    start = {"y": 0, "a": -6 / 58, "b": -0.2788, "v_y": -0.3411, "v_a": 0, "v_b": -7.4583}
    return system, start, values


def test_woodpecker_has_the_period_in_print_and_one_negative_multiplier(tmp_path):
    system, start, values = woodpecker()
    found = zw.periodic(system, start, values, period=0.146, steady="y", impact="newton")
    assert found.status.name == "CLOSED" and found.residual <= 1e-10
    assert found.period == pytest.approx(0.14598, abs=5e-6)  # Glocker 1995
    fell = found.motion.q[-1, 0] - found.motion.q[0, 0]
    assert fell == pytest.approx(-0.0194, abs=1e-4)
    ones = [value for value in found.multipliers if abs(value - 1) < 1e-6]
    assert len(ones) == 2 == found.ones and found.stable  # time and sinking
    rest = [value for value in found.multipliers if abs(value - 1) >= 1e-6]
    assert rest[0].real == pytest.approx(-0.84, abs=0.01) and abs(rest[1]) < 1e-8
    # No two contacts close together: Poisson's law gives the same impacts, and so the same cycle.
    poisson = zw.periodic(system, start, values, period=0.146, steady="y", impact="poisson")
    assert poisson.period == pytest.approx(found.period, rel=1e-10)
    assert poisson.multipliers == pytest.approx(found.multipliers, abs=1e-7)
    again = zw.load_result(found.save(tmp_path / "cycle.npz"))
    assert again.period == found.period and again.multipliers == pytest.approx(found.multipliers)
    assert "multipliers 1, 1, -0.839156, 0: stable" in repr(found)
    assert found.plot("multipliers").get_xlabel() == "real part" and found.plot("b") is not None


@pytest.mark.nightly
def test_branch_of_the_woodpecker_over_friction_ends_where_two_impacts_come_together():
    system, start, values = woodpecker()
    one = zw.periodic(system, start, {**values, "mu": 0.29}, period=0.146, steady="y", impact="newton")
    found = zw.cycles(system, one, vary="mu", within=(0.286, 0.293), switch=False)
    branch = found.branches[0]
    assert branch.values[-1] == pytest.approx(0.293) and "a change" in branch.reasons[0]
    assert "impact beak and impact upper come together there" in branch.reason
    beak, upper = (one.time for one in branch.cycles[0].motion.events.of("impact")[1:3])
    assert 0 < upper - beak < 1e-5 * branch.periods[0]
    (flip,) = found.flips  # the negative multiplier leaves the circle before that
    assert branch.values[0] < flip.value < 0.3 and min(flip.cycle.multipliers.real) == pytest.approx(-1, abs=1e-6)
    assert (branch.stable == (branch.values > flip.value)).all()


@pytest.mark.nightly
def test_branch_of_the_woodpecker_goes_on_where_a_bounce_shrinks_to_nothing():
    system, start, values = woodpecker()
    one = zw.periodic(system, start, values, period=0.146, steady="y", impact="newton")
    found = zw.cycles(system, one, vary="mu", within=(0.3, 0.45), switch=False)
    (branch,) = found.branches
    assert branch.values[[0, -1]] == pytest.approx([0.3, 0.45]) and not found.grazings
    (change,) = found.changes
    assert "impact lower and the next one come together there" in change.reason
    # The second impact of the sleeve is gone beyond, and the time to it vanishes there.
    hits = [[hit.time for hit in one.motion.events.of("impact") if hit.constraint == "lower"] for one in branch.cycles]
    assert [len(times) for times in hits] == [2 if value < change.value else 1 for value in branch.values]
    near = [(value, times[1] - times[0]) for value, times in zip(branch.values, hits, strict=True) if len(times) == 2]
    before, apart = np.array([item for item in near if 2.5e-6 < item[1] < 2e-4]).T
    _, slope, rest = np.polyfit(apart, before, 2)
    assert slope < 0 and rest == pytest.approx(change.value, abs=5e-6)
    # A cycle that is found by itself beyond lies on the branch.
    own = zw.periodic(system, start, {**values, "mu": 0.42}, period=0.126, steady="y", impact="newton")
    beyond = branch.values > change.value
    period = np.interp(0.42, branch.values[beyond], branch.periods[beyond])
    assert own.period == pytest.approx(period, rel=1e-5)
    least = branch.multipliers[beyond].real.min(axis=1)
    assert own.multipliers.real.min() == pytest.approx(np.interp(0.42, branch.values[beyond], least), abs=1e-3)


def rocking(beta, p=2.0, alpha=0.2, w=9.0, r=0.9):
    """Return half a period of Housner's block from a hit in closed form, and its symmetric cycle's first hit and speed.

    theta'' = p^2 (theta - alpha sign(theta) + beta cos(w t)), and at theta = 0 the speed falls to r of it.
    """

    def half(t, t0, speed):
        B = -beta * p**2 / (w**2 + p**2)
        c = -alpha - B * np.cos(w * t0)
        s = (speed + B * w * np.sin(w * t0)) / p
        x = p * (t - t0)
        theta = alpha + B * np.cos(w * t) + c * np.cosh(x) + s * np.sinh(x)
        return theta, -B * w * np.sin(w * t) + p * (c * np.sinh(x) + s * np.cosh(x))

    def closes(unknown):
        t0, speed = unknown
        theta, omega = half(t0 + np.pi / w, t0, speed)
        return [theta, r * omega + speed]

    t0, speed = fsolve(closes, [0.1, 0.8], xtol=1e-14)
    assert closes([t0, speed]) == pytest.approx([0, 0], abs=1e-10) and speed > 0
    return half, t0, speed


def test_rocking_block_has_the_symmetric_cycle_of_its_piecewise_linear_equations():
    (th,), (om,) = zw.coordinates("theta")
    p, alpha, beta, w, r = zw.parameters("p alpha beta w r")
    hit = zw.Event(th, name="hit", then=[zw.Reset({om: r * om})])
    force = p**2 * (th - alpha * sp.sign(th) + beta * sp.cos(w * zw.t))
    block = zw.System(name="block", kinetic=om**2 / 2, forces={th: force}, events=[hit])
    values = {"p": 2.0, "alpha": 0.2, "beta": 1.0, "w": 9.0, "r": 0.9}
    half, t0, speed = rocking(1.0)
    middle = t0 + np.pi / 9 / 2
    theta, omega = half(middle, t0, speed)
    found = zw.periodic(block, {"theta": theta * 1.001, "v_theta": omega, "t": middle}, values)
    assert found.status.name == "CLOSED" and found.period == pytest.approx(2 * np.pi / 9)
    assert [found.state["theta"], found.state["v_theta"]] == pytest.approx([theta, omega], abs=1e-9)
    # The flow between hits keeps areas, and each hit takes r of the speed twice: once in its own, once through time.
    assert np.prod(found.multipliers) == pytest.approx(0.9**4, rel=1e-7)
    # The same block on two plastic corners: p^2 = m g h/j, alpha = b/h, beta = A/g, r = 1 - 2 m b^2/j, with the moment
    # of inertia j about a corner.
    (y, th), (vy, om) = zw.coordinates("y theta")
    b, g = sp.Rational(1, 5), sp.Rational(16, 5)
    j = sp.Rational(4, 5)  # 2 b^2/(1 - r), m = h = 1
    corners = [zw.Unilateral(y + b * th, restitution=0, name="left"),
               zw.Unilateral(y - b * th, restitution=0, name="right")]  # fmt: skip
    block = zw.System(
        name="corners", kinetic=vy**2 / 2 + (j - b**2) * om**2 / 2, potential=g * (y - th**2 / 2),
        forces={th: g * sp.cos(9 * zw.t)}, constraints=corners,
    )  # fmt: skip
    start = {"y": 0.2 * theta, "theta": theta, "v_y": 0.2 * omega, "v_theta": omega, "t": middle}
    again = zw.periodic(block, start, {})
    assert again.status.name == "CLOSED" and again.state["theta"] == pytest.approx(theta, abs=1e-9)
    assert again.multipliers == pytest.approx(found.multipliers, abs=1e-8)
    assert {(event.kind, event.constraint) for event in again.motion.events} == {
        (kind, corner) for kind in ("impact", "contact", "lift-off") for corner in ("left", "right")
    }


def sleigh():
    """The one-sided sleigh in velocities of its own frame: along the blade, across it, turning.

    Its centre of mass is a ahead of the blade; all velocities are dragged, and a torque turns it to and fro.
    """
    (s, n, phi), (u, w, om) = zw.coordinates("s n phi")
    m, J, a, d, D, T, W = zw.parameters("m J a d D T W")
    mass = [[m, 0, 0], [0, m, m * a], [0, m * a, J + m * a**2]]
    force = [m * om * (w + a * om) - d * u, -m * om * u - d * w, -m * a * om * u - D * om + T * sp.cos(W * zw.t)]
    blade = zw.Unilateral(w, name="blade")
    return zw.System(name="sleigh", mass=mass, force=force, coordinates=(s, n, phi), constraints=[blade])


def sleigh_round(u, om, t0, m=1.0, J=0.5, a=0.5, d=0.3, D=0.3, T=2.0, W=2.0):
    """Return (u, omega) one period later and the times of release and capture, from a start on the blade."""
    mass = np.array([[m, 0, 0], [0, m, m * a], [0, m * a, J + m * a**2]])

    def force(t, z):
        u, w, om = z
        return np.array([
            m * om * (w + a * om) - d * u, -m * om * u - d * w, -m * a * om * u - D * om + T * np.cos(W * t)
        ])  # fmt: skip

    def held(t, z):
        b = force(t, z)
        return np.array([b[0] / m, 0.0, b[2] / mass[2, 2]])

    def pull(t, z):  # what the blade must do to keep w at zero
        return float(mass[1] @ held(t, z) - force(t, z)[1])

    def across(t, z):
        return float(z[1]) if t > released + 1e-6 else 1.0

    pull.terminal, pull.direction, across.terminal, across.direction = True, -1, True, -1
    sharp = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    end = t0 + 2 * np.pi / W
    first = solve_ivp(held, (t0, end), [u, 0.0, om], events=pull, **sharp)
    released = float(first.t[-1])
    free = solve_ivp(lambda t, z: np.linalg.solve(mass, force(t, z)), (released, end), first.y[:, -1], events=across,
                     **sharp)  # fmt: skip
    caught = float(free.t[-1])
    last = solve_ivp(held, (caught, end), free.y[:, -1] * [1, 0, 1], **sharp)
    return last.y[[0, 2], -1], released, caught


def test_one_sided_sleigh_is_released_and_caught_in_each_period_of_a_torque():
    values = {"m": 1.0, "J": 0.5, "a": 0.5, "d": 0.3, "D": 0.3, "T": 2.0, "W": 2.0}
    guess = {"s": 0, "n": 0, "phi": 0, "v_s": 0.0, "v_n": 0.0, "v_phi": 1.3, "t": 60.0}
    found = zw.periodic(sleigh(), guess, values, steady=("s", "n", "phi"))
    assert found.status.name == "CLOSED" and found.residual <= 1e-10
    assert [(event.kind, event.constraint) for event in found.motion.events] == [
        ("release", "blade"), ("capture", "blade"),
    ]  # fmt: skip
    start = np.array([found.state["v_s"], found.state["v_phi"]])
    end, *times = sleigh_round(*start, found.state["t"])
    assert end == pytest.approx(start, abs=1e-9)
    assert [event.time for event in found.motion.events] == pytest.approx(times, abs=1e-8)
    step = 1e-4
    pairs = [[sleigh_round(*(start + by * one), found.state["t"])[0] for by in (step, -step)] for one in np.eye(2)]
    columns = [(ahead - behind) / (2 * step) for ahead, behind in pairs]
    own = np.sort(np.linalg.eigvals(np.array(columns).T).real)[::-1]
    # Three ones of the coordinates that nothing depends on; the start is on the blade, so that sticking adds no zero.
    assert found.multipliers == pytest.approx([1, 1, 1, *own], abs=1e-6) and found.stable
    # Viscous blades: one more multiplier, which vanishes, and the others come to those of the ideal blade like 1/rho.
    off, extra = [], []
    for rho in (3.0, 100.0, 300.0, 1000.0):
        viscous = zw.realize(sleigh(), "blade", by=zw.Viscosity(rho))
        near = zw.periodic(viscous, found.state, values, steady=("s", "n", "phi"))
        assert near.status.name == "CLOSED" and len(near.multipliers) == 6
        off.append(np.abs(near.multipliers[3:5] - found.multipliers[3:]))
        extra.append(abs(near.multipliers[5]))
    assert extra[0] > 1e-9 > 1e3 * max(extra[1:])
    slopes = np.polyfit(np.log([100.0, 300.0, 1000.0]), np.log(off[1:]), 1)[0]
    assert slopes == pytest.approx([-1, -1], abs=0.05)


def test_cycles_start_on_sections_and_at_impacts():
    params, state = bouncing(1.3, 1, 0.5)
    speed = 9.81 * np.pi / 10  # it leaves with g T/2
    own = zw.periodic(table(), state, params)
    struck = zw.periodic(table(), state, params, section="table")
    (v,) = table().velocities
    for found in (struck, zw.periodic(table(), state, params, section=v - 1)):
        assert found.status.name == "CLOSED" and found.residual <= 1e-10
        assert found.multipliers == pytest.approx(own.multipliers, abs=1e-8)
    assert struck.state["v_y"] == pytest.approx(speed, abs=1e-9) and found.state["v_y"] == pytest.approx(1, abs=1e-12)
    assert struck.state["y"] == pytest.approx(params["A"] * np.sin(10 * struck.state["t"]), abs=1e-10)
    system, start, values = woodpecker()
    beak = zw.periodic(system, start, values, period=0.146, steady="y", impact="newton", section="beak")
    assert beak.status.name == "CLOSED" and beak.motion.events[-1].constraint == "beak"
    assert abs(beak.multipliers[2] + 0.839156) < 1e-5 and np.abs(beak.multipliers[3:]).max() < 1e-6
    (x,), (v,) = zw.coordinates("x")
    spring = zw.System(name="spring", kinetic=v**2 / 2, potential=x**2 / 2)
    down = zw.periodic(spring, {x: 1, v: 0}, {}, section=x, direction=-1)
    assert down.state["x"] == pytest.approx(0, abs=1e-12) and down.state["v_x"] == pytest.approx(-1)
    with pytest.raises(DeclarationError, match=r"section= \(x \+ 3/10\)\*\*2 is tangent to the cycle at t = "):
        zw.periodic(spring, {x: 1, v: 0}, {}, section=(x + sp.Rational(3, 10)) ** 2)
    with pytest.raises(DeclarationError, match="section= 'lower' asks for impacts of that constraint, and the cycle"):
        zw.periodic(stopped(), {"x": 1, "v_x": 0}, {}, section="lower")
    with pytest.raises(DeclarationError, match="'z', which is no coordinate, velocity or constraint"):
        zw.periodic(spring, {x: 1, v: 0}, {}, section="z")


def stopped():
    """A spring with a stop that it does not reach."""
    (x,), (v,) = zw.coordinates("x")
    stop = zw.Unilateral(x + 2, restitution=1, name="lower")
    return zw.System(name="spring", kinetic=v**2 / 2, potential=x**2 / 2, constraints=[stop])


def test_smooth_cycles_and_families():
    (x,), (v,) = zw.coordinates("x")
    van = zw.System(name="van der Pol", kinetic=v**2 / 2, forces={x: (1 - x**2) * v - x})
    found = zw.periodic(van, {x: 1.5, v: 0.5}, {})
    assert found.period == pytest.approx(6.6632868593, abs=1e-9)  # high-precision computations in print
    assert found.multipliers[1] == pytest.approx(np.exp(-7.0588), rel=2e-3) and found.stable
    on = zw.periodic(van, {x: 1.5, v: 0.5}, {}, section=v, period=6.7)
    assert on.state["v_x"] == pytest.approx(0, abs=1e-12) and abs(on.state["x"]) == pytest.approx(2.00862, abs=1e-5)
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    pendulum = zw.System(name="pendulum", kinetic=w**2 / 2, potential=-sp.cos(phi))
    swing = zw.periodic(pendulum, {phi: 1.2, w: 0}, {})
    assert swing.families == 1 and swing.multipliers == pytest.approx([1, 1], abs=1e-5)
    highest = np.abs(swing.motion.q).max()
    assert swing.period == pytest.approx(4 * ellipk(np.sin(highest / 2) ** 2), rel=1e-6)
    over = zw.periodic(pendulum, {phi: 0, w: 3.0}, {})  # it goes round: the angle returns modulo its turn
    assert over.status.name == "CLOSED" and over.motion.q[-1] - over.motion.q[0] == pytest.approx([2 * np.pi])


def test_accumulation_inside_a_period_closes_without_multipliers():
    params = {"w": 10.0, "A": 1.3 * 9.81 / 100, "e": 0.2, "g": 9.81}
    motion = zw.simulate(table(), {"y": 0.3, "v_y": 0.0}, params, until=6.0)
    assert motion.events.of("accumulation") and motion.events.of("lift-off")
    found = motion.cycle()
    assert found.status.name == "NOT_DIFFERENTIABLE" and "accumulate" in found.reason
    assert found.residual <= 1e-10 and found.multipliers is None and found.stable is None
    with pytest.raises(DeclarationError, match="no multipliers"):
        found.plot("multipliers")


def test_a_motion_that_closes_is_linearized_to_its_cycle():
    params, state = bouncing(1.3, 1, 0.5)
    cycle = zw.periodic(table(), state, params)
    motion = zw.simulate(table(), cycle.state, params, until=cycle.state["t"] + cycle.period, tol=1e-12)
    found = zw.linearize(table(), motion, params)
    assert found.status.name == "CLOSED" and found.multipliers == pytest.approx(cycle.multipliers, abs=1e-8)
    assert zw.linearize(table(), cycle, params) is cycle


def test_sections_of_a_motion():
    params, state = bouncing(1.3, 1, 0.5)
    motion = zw.simulate(table(), state, params, until=10.0, section="table", transient=8.0)
    assert len(motion.section) == 2
    # It leaves with g T/2 and comes with minus that.
    speed = 9.81 * np.pi / 10
    assert motion.section.v == pytest.approx(np.full((len(motion.section), 1), speed), abs=1e-6)
    assert motion.section.before == pytest.approx(np.full((len(motion.section), 1), -speed), abs=1e-6)
    (v,) = table().velocities
    down = zw.simulate(table(), state, params, until=3.0, section=v - 1, direction=-1)
    both = zw.simulate(table(), state, params, until=3.0, section=zw.Event(v - 1, direction=-1))
    assert down.section.v == pytest.approx(np.ones((len(down.section), 1))) and len(down.section) == 4
    assert np.array_equal(down.section.t, both.section.t)
    with pytest.raises(DeclarationError, match="section= uses 'z', which is no coordinate, velocity or constraint"):
        zw.simulate(table(), state, params, until=1.0, section="z - 1")
    with pytest.raises(DeclarationError, match="section= goes with one motion"):
        zw.simulate(table(), {**state, "y": np.array([1.0, 1.1])}, params, until=1.0, section="table")


def test_sweep_keeps_sections():
    params, state = bouncing(1.3, 1, 0.5)
    study = zw.sweep(
        "simulate", table(), state, params, over={"e": [0.5, 0.55]}, keep="section", until=6.0, section="table",
        transient=4.0, workers=1,
    )  # fmt: skip
    assert study.status.name == "COMPLETE", study.failures
    assert study.dataset["section.v"].shape[0] == 2 and "section.t" in study.dataset


def test_mistakes_of_periodic():
    params, state = bouncing(1.3, 1, 0.5)
    with pytest.raises(DeclarationError, match=r"period= 0.7 is no multiple of .* 0.628318530.*1 times it"):
        zw.periodic(table(), state, params, period=0.7)
    with pytest.raises(DeclarationError, match="'q', which is no coordinate"):
        zw.periodic(table(), state, params, steady="q")
    with pytest.raises(DeclarationError, match="period= must be above zero"):
        zw.periodic(table(), state, params, period=-1)
    with pytest.raises(DeclarationError, match="expression of the parameters"):
        zw.periodic(table(), state, params, period="y")
    (x,), (v,) = zw.coordinates("x")
    pushed = zw.System(name="pushed", kinetic=v**2 / 2, forces={x: sp.exp(-zw.t) - x})
    with pytest.raises(DeclarationError, match="give period="):
        zw.periodic(pushed, {x: 1, v: 0}, {})
    with pytest.raises(DeclarationError, match="equations are others after period= 2"):
        zw.periodic(pushed, {x: 1, v: 0}, {}, period=2.0)
    spring = zw.System(name="spring", kinetic=v**2 / 2, potential=x**2 / 2)
    with pytest.raises(StateError, match=r"at rest and stays so.*linearize"):
        zw.periodic(spring, {x: 0, v: 0}, {})
    with pytest.raises(DeclarationError, match="section= x - 5 is not crossed by the cycle: it comes down to 4"):
        zw.periodic(spring, {x: 1, v: 0}, {}, section="x - 5")
    falls = zw.System(name="falls", kinetic=v**2 / 2, potential=x)
    away = zw.periodic(falls, {x: 1, v: 0.5}, {})
    assert away.status.name == "NOT_CLOSED" and "does not return to it: the nearest it came" in away.reason
    with pytest.raises(StateError, match="has not settled to a cycle"):
        zw.simulate(falls, {x: 1, v: 0.5}, {}, until=3.0).cycle()
    few = zw.periodic(spring, {x: 1, v: 0}, {}, budget={"steps": 20})
    assert few.status.name == "UNFINISHED" and "budget of 20 steps" in few.reason


def test_driven_angles_turn_once_in_a_period_and_held_inputs_have_no_derivatives():
    (a, y), (va, vy) = zw.coordinates("a y", angles="a")
    w, u = zw.parameters("w"), zw.inputs("u")
    motor = zw.Bilateral(a - w * zw.t - sp.sin(w * zw.t) / 4, name="motor")
    kinetic, potential = va**2 / 2 + vy**2 / 2, 3 * (y - sp.cos(a)) ** 2 / 2 + y**2 / 2
    crank = zw.System(name="crank", kinetic=kinetic, potential=potential, forces={y: u - vy / 5}, constraints=[motor])
    start = {a: 0, y: 0, va: 2.5, vy: 0}
    found = zw.periodic(crank, start, {w: 2}, inputs={u: 0})
    assert found.status.name == "CLOSED" and found.period == pytest.approx(np.pi)
    # y'' + y'/5 + 4 y = 3 cos(a(t)): the multipliers are those of the equation without its right side
    own = np.exp(np.roots([1, 0.2, 4]) * np.pi)
    assert found.multipliers == pytest.approx(own[np.argsort(-own.imag)], abs=1e-8)
    held = {u: zw.Held(lambda state: -state["y"], every=0.1)}
    words = "'u' is a Held function of the state, of which none are known. Declare it as an expression"
    for ask in (
        lambda: zw.periodic(crank, start, {w: 2}, inputs=held),
        lambda: zw.cycles(crank, found, vary=w, within=(1, 3), inputs=held),
        lambda: zw.lyapunov(crank, start, {w: 2}, inputs=held, until=2),
        lambda: zw.sensitivity(crank, start, {w: 2}, inputs=held, until=2, wrt=[w], of="y"),
        lambda: zw.fit(crank, {y: ([1.0], [0.5])}, state=start, params={w: 2}, free=("w",), inputs=held),
    ):
        with pytest.raises(DeclarationError, match=words):
            ask()
