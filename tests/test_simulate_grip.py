"""Bodies that stick together with undetermined forces while they move: how long, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from night import by_day

GRAVITY = 9.81


def feet(height: str, half: str = "a") -> zw.shapes.Hull:
    return zw.shapes.Hull([(x, y, f"-{height}") for x in (half, f"-{half}") for y in (f"-{half}", half)])


def started(bodies: zw.Bodies, free: tuple[str, ...], params: dict[str, float], until: float, **options: object):
    """Return the motion from rest, with every body where it was declared."""
    system = bodies.system()
    state = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    for body in free:
        state |= {key: float(value) for key, value in bodies.place(body, params=params).items()}
    return zw.simulate(system, {**state, **options.pop("state", {})}, params, until=until, **options)


def wedge(push: str = "k*t") -> zw.Bodies:
    """A box of half height h on the slope of a wedge that is pushed along x; the slope falls with x."""
    made = zw.Bodies("pushed_wedge", gravity=(0, 0, "-g"))
    made.body("wedge", mass="M", inertia=(1, 1, 1))
    at = ("h*sin(beta)", 0, "h*cos(beta)")
    made.body("box", mass="m", inertia=(0.01, 0.02, 0.02), at=at, turned=((0, 1, 0), "beta"))
    made.prismatic("slide", "ground", "wedge", at=(0, 0, 0), axis=(1, 0, 0))
    made.shape("block", on="box", form=feet("h"))
    made.shape("slope", on="wedge", form=zw.shapes.HalfSpace(("sin(beta)", 0, "cos(beta)")))
    return made.contact("block", "slope", friction="mu", restitution=0, name="corner").motor("slide", push)


WEDGE = {"M": 3.0, "m": 1.0, "g": GRAVITY, "beta": 0.4, "mu": 0.5, "a": 0.2, "h": 0.1, "k": 30.0}


def test_box_that_sticks_on_free_wedge_rides_along():
    # tan(0.4) = 0.42 < mu, and nothing pushes: box and wedge keep their velocity.
    box = wedge().place("box", velocity=(0.7, 0, 0), params=WEDGE)
    state = {"v_slide": 0.7, **{key: float(value) for key, value in box.items()}}
    motion = started(wedge("0"), ("box",), {key: WEDGE[key] for key in WEDGE if key != "k"}, 2.0, state=state)
    assert motion.status.name == "REACHED" and not motion.events
    assert motion.q[-1][:2] - motion.q[0][:2] == pytest.approx([1.4, 1.4], abs=1e-12)


def test_box_slips_on_pushed_wedge_where_acceleration_exceeds_closed_form():
    """The box stays behind from the acceleration g (s + mu c)/(c - mu s) on; then everything is linear in time."""
    motion = started(wedge(), ("box",), WEDGE, 1.7)
    big, m, g, mu, k = (WEDGE[key] for key in ("M", "m", "g", "mu", "k"))
    s, c = math.sin(WEDGE["beta"]), math.cos(WEDGE["beta"])
    instant = g * (s + mu * c) / (c - mu * s) * (big + m) / k
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["slip"] * 4
    assert [event.time for event in motion.events] == pytest.approx([instant] * 4, rel=1e-10)
    # Box across the slope: m A s = N - m g c; wedge: M A = k t - N (s + mu c); along it: u = g s + mu N/m - A c.
    whole = big + m * s * (s + mu * c)
    rate, first = k / whole, -m * g * c * (s + mu * c) / whole  # A = rate t + first
    t, t0 = 1.7, instant
    v0, x0 = k * t0**2 / 2 / (big + m), k * t0**3 / 6 / (big + m)
    wedge_at = x0 + v0 * (t - t0) + rate * ((t**3 - t0**3) / 6 - t0**2 * (t - t0) / 2) + first * (t - t0) ** 2 / 2
    assert motion.q[-1][0] == pytest.approx(wedge_at, rel=1e-9)
    slope, offset = rate * (mu * s - c), g * s + mu * g * c + first * (mu * s - c)  # u = slope t + offset
    back = slope * ((t**3 - t0**3) / 6 - t0**2 * (t - t0) / 2) + offset * (t - t0) ** 2 / 2
    assert motion.q[-1][1] - WEDGE["h"] * s == pytest.approx(wedge_at + back * c, rel=1e-9)


@pytest.mark.parametrize("seed", by_day(range(4), [0, 1]))
def test_random_boxes_let_go_at_the_closed_form_or_tip(seed: int):
    """On a level plate the acceleration mu g makes a box slip, g a/h makes it tip: whichever is less."""
    random = np.random.default_rng(seed)
    mu, ratio = random.uniform(0.1, 0.9), random.uniform(0.2, 0.9)
    half = float(random.uniform(0.1, 0.3))
    params = {**WEDGE, "beta": 0.0, "mu": mu, "a": half * ratio, "h": half, "m": float(random.uniform(0.3, 3.0))}
    instant = min(mu, ratio) * GRAVITY * (params["M"] + params["m"]) / params["k"]
    motion = started(wedge(), ("box",), params, 1.02 * instant)
    assert motion.status.name == "REACHED"
    kinds = {event.kind for event in motion.events}
    assert kinds == ({"slip"} if mu < ratio else {"lift-off"}), f"mu {mu}, ratio {ratio}"
    assert len(motion.events) == (4 if mu < ratio else 2)
    assert motion.events[0].time == pytest.approx(instant, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize(("low", "high"), by_day([(0.3, 0.5), (0.5, 0.3)], [(0.5, 0.3)]))
def test_two_boxes_on_a_moving_plate_slip_where_friction_is_less(low: float, high: float):
    # All three accelerate with k t/(M + 2 m); the contact with the lesser mu lets go at mu g.
    made = zw.Bodies("stack", gravity=(0, 0, "-g"))
    made.body("plate", mass="M", inertia=(1, 1, 1))
    made.body("low", mass="m", inertia=(0.01, 0.01, 0.01), at=(0, 0, "h"))
    made.body("high", mass="m", inertia=(0.01, 0.01, 0.01), at=(0, 0, "3*h"))
    made.prismatic("x", "ground", "plate", at=(0, 0, 0), axis=(1, 0, 0))
    made.shape("below", on="low", form=feet("h")).shape("above", on="high", form=feet("h"))
    made.shape("top", on="plate", form=zw.shapes.HalfSpace((0, 0, 1)))
    made.shape("lid", on="low", form=zw.shapes.HalfSpace((0, 0, 1)), at=(0, 0, "h"))
    made.contact("below", "top", friction="mu_low", restitution=0, name="low")
    made.contact("above", "lid", friction="mu_high", restitution=0, name="high").motor("x", "k*t")
    params = {"M": 2.0, "m": 1.0, "g": GRAVITY, "a": 0.2, "h": 0.1, "mu_low": low, "mu_high": high, "k": 10.0}
    instant = min(low, high) * GRAVITY * 4 / 10
    motion = started(made, ("low", "high"), params, 1.1 * instant)
    assert motion.status.name == "REACHED"
    slipping = "low" if low < high else "high"
    assert [(event.kind, event.constraint[:-2]) for event in motion.events] == [("slip", slipping)] * 4
    assert [event.time for event in motion.events] == pytest.approx([instant] * 4, rel=1e-9)


def turntable(off: float) -> zw.Bodies:
    """Return a table on a plate that a torque k t turns, its centre of mass beside the axis."""
    made = zw.Bodies("turntable", gravity=(0, 0, "-g"))
    made.body("plate", mass=1, inertia=(1, 1, "I"))
    made.body("table", mass="m", inertia=("J", "J", "Jz"), at=(off, 0, "h"))
    made.revolute("spin", "ground", "plate", at=(0, 0, 0), axis=(0, 0, 1))
    made.shape("legs", on="table", form=feet("h")).shape("top", on="plate", form=zw.shapes.HalfSpace((0, 0, 1)))
    return made.contact("legs", "top", friction="mu", restitution=0, name="foot").motor("spin", "k*t")


TURNTABLE = {"I": 2.0, "m": 10.0, "J": 0.8, "Jz": 1.2, "g": GRAVITY, "h": 0.5, "a": 0.6, "mu": 0.1, "k": 5.0}


def test_table_turns_with_its_turntable_until_friction_is_spent():
    # Whatever the feet carry, friction turns the table with at most mu m g a sqrt(2) = Jz alpha.
    most = 0.1 * 10 * GRAVITY * 0.6 * math.sqrt(2)
    instant = most / 1.2 * (2.0 + 1.2) / 5.0
    until = 1.1 * instant
    motion = started(turntable(0.0), ("table",), TURNTABLE, until)
    assert [event.kind for event in motion.events] == ["slip"] * 4 and motion.status.name == "REACHED"
    assert [event.time for event in motion.events] == pytest.approx([instant] * 4, rel=1e-9)
    # Then friction drives the table with that moment, and holds the plate back: 2 w' = k t - most.
    before = 5.0 * instant**2 / 2 / 3.2
    assert motion.v[-1][0] == pytest.approx(before + (5.0 * (until**2 - instant**2) / 2 - most * (until - instant)) / 2)


def least_norm_table(start: np.ndarray, t0: float, until: float) -> np.ndarray:
    """Return (phi, x, y, psi) and rates of plate and table: normal forces of least norm, by SciPy, in the plane."""
    from scipy.integrate import solve_ivp

    m, h, a, mu = (TURNTABLE[name] for name in ("m", "h", "a", "mu"))
    corners = a * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])

    def change(t: float, state: np.ndarray) -> np.ndarray:
        (x, y, psi), (w, u, v, r) = state[1:4], state[4:]
        arms = corners @ np.array([[np.cos(psi), np.sin(psi)], [-np.sin(psi), np.cos(psi)]])
        places = arms + np.array([x, y])
        slips = [u, v] + r * arms[:, ::-1] * [-1, 1] - w * places[:, ::-1] * [-1, 1]
        ways = slips / np.linalg.norm(slips, axis=1, keepdims=True)
        balance = np.vstack([np.ones(4), (arms - h * mu * ways).T])  # moments about the centre of mass
        normal = np.linalg.pinv(balance) @ [m * GRAVITY, 0, 0]
        friction = -mu * normal[:, None] * ways

        def moment(at: np.ndarray) -> float:
            return float((at[:, 0] * friction[:, 1] - at[:, 1] * friction[:, 0]).sum())

        torque = TURNTABLE["k"] * t - moment(places)
        rates = [torque / TURNTABLE["I"], *friction.sum(axis=0) / m, moment(arms) / TURNTABLE["Jz"]]
        return np.array([*state[4:], *rates])

    return solve_ivp(change, (t0, until), start, rtol=1e-11, atol=1e-13, method="DOP853").y[:, -1]


@pytest.mark.parametrize(("off", "until"), [(0.3, 2.0), (0.5, 2.2)])
def test_table_beside_the_axis_starts_to_turn_and_slide_with_normal_forces_of_least_norm(off: float, until: float):
    stops = started(turntable(off), ("table",), TURNTABLE, until)
    assert stops.status.name == "CHOICE" and "continuum" in stops.reason
    motion = started(turntable(off), ("table",), TURNTABLE, until, redundant="minimum norm")
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["choice", *["slip"] * 4]
    later = motion.events[0].time + 0.01  # where slips have directions of their own

    def flat(t: float) -> np.ndarray:
        at = motion.at(t)
        half, rate = (np.array([at[f"{name}_table"] for name in (one + "0", one + "3")]) for one in ("e", "v_e"))
        turn = 2 * (half[0] * rate[1] - half[1] * rate[0])
        placed = [at["spin"], at["x_table"], at["y_table"], 2 * math.atan2(half[1], half[0])]
        return np.array([*placed, at["v_spin"], at["v_x_table"], at["v_y_table"], turn])

    reached = least_norm_table(flat(later), later, until)
    assert flat(until) == pytest.approx(reached, rel=1e-6, abs=1e-7)


def test_table_at_rest_lets_go_where_a_load_that_oscillates_exceeds_friction():
    # m A sin(w t)^3 = mu m g: nothing moves until then, so that no step of the motion shows how fast the load changes.
    made = zw.Bodies("shaken", gravity=(0, 0, "-g"))
    made.body("table", mass="m", inertia=("J", "J", "J"), at=(0, 0, "h"))
    made.shape("legs", on="table", form=feet("h")).shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    made.contact("legs", "floor", friction="mu", restitution=0, name="foot").force("table", ("m*A*sin(w*t)**3", 0, 0))
    params = {"m": 10.0, "J": 0.8, "g": GRAVITY, "a": 0.6, "h": 0.1, "mu": 0.3, "A": 3.0, "w": 40.0}
    instant = math.asin((0.3 * GRAVITY / 3.0) ** (1 / 3)) / 40
    motion = started(made, ("table",), params, 1.001 * instant)
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["slip"] * 4
    assert motion.events[0].time == pytest.approx(instant, rel=1e-8)
