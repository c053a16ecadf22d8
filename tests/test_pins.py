"""Rough pins: friction of the resultant of two constraints, against closed forms and independent computations."""

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._numerics.contact.pin_roots import all_roots
from zwang._numerics.contact.pin_sets import BearingForm, flatness, halves, orthants, resting_set


def on_a_pin(name="pendulum"):
    """A body on one pin: centre of mass at l, moment of inertia J about it; the pin has the friction circle c r."""
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    m, J, l, g, c, r, M = zw.parameters("m J l g c r M")
    return zw.System(
        name=name,
        kinetic=m * (vx**2 + vy**2) / 2 + J * w**2 / 2,
        potential=m * g * y,
        forces={th: M},
        constraints=[
            zw.Bilateral(x - l * sp.sin(th), name="pin x"),
            zw.Bilateral(y + l * sp.cos(th), name="pin y"),
            zw.Friction(c, slip=r * w, of=("pin x", "pin y"), name="pin"),
        ],
    )


BODY = {"m": 2.0, "J": 0.1, "l": 0.5, "g": 9.81, "c": 0.3, "r": 0.2, "M": 0.0}


def turned(theta, spin, l=0.5):
    return {
        "x": l * math.sin(theta),
        "y": -l * math.cos(theta),
        "theta": theta,
        "v_x": l * math.cos(theta) * spin,
        "v_y": l * math.sin(theta) * spin,
        "v_theta": spin,
    }


@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_lever_on_a_journal_holds_up_to_the_friction_circle(excess):
    # At rest the bearing force is m g; a moment M holds while |M - m g l sin(theta)| <= c r m g.
    theta = 0.4
    weight = BODY["m"] * BODY["g"]
    limit = weight * (0.5 * math.sin(theta) + BODY["c"] * BODY["r"])
    found = zw.reactions(on_a_pin(), turned(theta, 0), {**BODY, "M": limit * (1 + excess)})
    assert found.status.name == "UNIQUE" and found.complete
    assert found.solutions[0].modes["pin"] == ("stick" if excess < 0 else "slip+")


@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_weight_on_a_journal_rests_where_the_sine_is_below_the_friction_circle(excess):
    theta = math.asin(BODY["c"] * BODY["r"] / BODY["l"]) + excess
    found = zw.reactions(on_a_pin(), turned(theta, 0), BODY)
    assert found.solutions[0].modes["pin"] == ("stick" if excess < 0 else "slip-")


def independent_acceleration(theta, spin, sign, p):
    """Angular acceleration of the body while it slips: the balance of moments with |F| from F itself, by bisection."""
    inertia = p["J"] + p["m"] * p["l"] ** 2

    def forced(size):
        return (-p["m"] * p["g"] * p["l"] * math.sin(theta) - p["c"] * p["r"] * sign * size) / inertia

    def bearing(size):
        a = forced(size)
        ax = p["l"] * (math.cos(theta) * a - math.sin(theta) * spin**2)
        ay = p["l"] * (math.sin(theta) * a + math.cos(theta) * spin**2)
        return p["m"] * math.hypot(ax, ay + p["g"])

    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if bearing(middle) > middle else (low, middle)
    return forced(low)


def test_pendulum_on_a_rough_journal_stops_after_the_swings_of_an_independent_integration():
    motion = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=6.0)
    assert [event.kind for event in motion.events] == ["reversal", "reversal", "reversal", "stick"]
    theta, start, sign = 1.2, 0.0, -1
    for event in motion.events:
        still = lambda t, y: y[1]  # noqa: E731
        still.terminal, still.direction = True, -sign
        rate = lambda t, y, s=sign: [y[1], independent_acceleration(y[0], y[1], s, BODY)]  # noqa: E731
        swing = solve_ivp(rate, (start, 20), [theta, sign * 1e-12], events=still, rtol=1e-10, atol=1e-12)
        start, theta, sign = swing.t_events[0][0], swing.y_events[0][0][0], -sign
        assert event.time == pytest.approx(start, abs=1e-7)
    # It rests for good inside the friction circle.
    assert abs(math.sin(theta)) <= BODY["c"] * BODY["r"] / BODY["l"]
    assert motion.at(6.0)["theta"] == pytest.approx(theta, abs=1e-7)
    assert motion.residual < 1e-12
    lost = motion.energy["total"][-1] - motion.energy["total"][0]
    assert lost == pytest.approx(motion.work["pin"][-1], rel=1e-9)


def test_time_stepping_agrees_with_the_motion_of_a_rough_pendulum():
    events = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=1.0)
    errors = []
    for step in (2e-3, 1e-3):
        steps = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=1.0, method="timestepping", step=step)
        errors.append(abs(steps.at(1.0)["theta"] - events.at(1.0)["theta"]))
    assert errors[1] < 5e-4 and errors[1] < 0.7 * errors[0]


def test_body_on_one_pin_has_one_solution_below_the_bound_and_none_or_two_above():
    # c r l < l^2 + k^2 with l = 1/2, k^2 = 1/20: c r < 0.6.
    rng = np.random.default_rng(4)
    counts = {0.599: set(), 0.601: set()}
    for _ in range(60):
        theta, spin, M = rng.uniform(-3, 3), rng.normal() * 3, rng.normal() * 30
        for circle, seen in counts.items():
            found = zw.reactions(on_a_pin(), turned(theta, spin), {**BODY, "c": 1.0, "r": circle, "M": M})
            assert found.complete and (not found.solutions or found.residual < 1e-9)
            seen.add(len(found.accelerations))
    assert counts == {0.599: {1}, 0.601: {0, 2}}


def test_pin_at_rest_always_has_a_solution():
    rng = np.random.default_rng(5)
    for _ in range(60):
        params = {**BODY, "c": 1.0, "r": rng.uniform(0, 2), "M": rng.normal() * 30}
        found = zw.reactions(on_a_pin(), turned(rng.uniform(-3, 3), 0), params)
        assert found.complete and found.solutions and len(found.solutions) % 2 == 1


def test_jammed_pin_says_so_and_stops_the_motion():
    params = {**BODY, "c": 1.0, "r": 1.0}
    found = zw.reactions(on_a_pin(), turned(0.5, 3.0), params)
    assert found.status.name == "NONE" and "It jams: 'pin'" in found.note
    motion = zw.simulate(on_a_pin(), turned(0.5, 3.0), params, until=1.0)
    assert motion.status.name == "PARADOX"


def test_springs_in_place_of_a_jammed_pin_stop_the_body_within_their_own_time():
    # c r l > l^2 + k^2: the ideal pin has no answer; stiff springs stop the turning in a time like N^-1/2.
    params = {**BODY, "c": 1.0, "r": 1.0}
    soft = zw.realize(on_a_pin(), ["pin x", "pin y"], by=zw.Stiffness("N"))
    assert soft.constraints["pin"].of == ()
    times = []
    for N in (1e6, 1e8):
        motion = zw.simulate(soft, turned(0.5, 3.0), {**params, "N": N}, until=0.02)
        times.append(next(event.time for event in motion.events if event.kind in ("stick", "reversal")))
    assert times[1] < 0.2 * times[0] < 0.004


def test_partly_realized_pin_is_refused_by_name():
    with pytest.raises(zw.DeclarationError, match=r"Realize all of them: realize\(system, \['pin x', 'pin y'\]"):
        zw.realize(on_a_pin(), "pin x", by=zw.Stiffness(1e4))


# --- several pins ----------------------------------------------------------------------------------------------------


def roots_from_many_starts(given, share, rng):
    k, found = len(given), []
    for _ in range(100 * k):
        R = 10 ** rng.uniform(-2, 2.5, k)
        for _ in range(60):
            loads = [A + B @ R for A, B in zip(given, share, strict=True)]
            off = R**2 - [load @ load for load in loads]
            slopes = 2 * (np.diag(R) - [load @ B for load, B in zip(loads, share, strict=True)])
            if abs(np.linalg.det(slopes)) < 1e-300:
                break
            step = np.linalg.solve(slopes, off)
            R = R - step
            if not np.abs(R).max() < 1e6:
                break
            if np.abs(step).max() < 1e-12 * max(1, np.abs(R).max()):
                if (R > -1e-9).all() and all(np.abs(R - one).max() > 1e-6 * max(1, R.max()) for one in found):
                    found.append(R)
                break
    return found


@pytest.mark.parametrize("k", [2, 3])
def test_all_sizes_of_several_slipping_pins_are_found(k):
    rng, counts = np.random.default_rng(k), set()
    for _ in range(24 // k):
        strength = rng.uniform(0.2, 1.5) / math.sqrt(k)
        given = [rng.normal(size=2) for _ in range(k)]
        share = [strength * rng.normal(size=(2, k)) for _ in range(k)]
        found = all_roots(given, share)
        assert not found.undecided
        expected = roots_from_many_starts(given, share, rng)
        assert len(found.found) == len(expected)
        for R in found.found:
            assert min(np.abs(R - one).max() for one in expected) < 1e-6 * max(1, R.max())
        counts.add(len(expected))
    assert {0, 1} <= counts


def test_cones_of_directions_cover_and_bound_lengths():
    rng = np.random.default_rng(6)
    for j in (2, 3):
        cones = orthants(j)
        for _ in range(3):
            cones = [half for cone in cones for half in halves(cone)]
        for _ in range(50):
            force = rng.normal(size=j)
            inside = [cone for cone in cones if (np.linalg.solve(cone.T, force) >= -1e-12).all()]
            assert inside
            total = np.linalg.solve(inside[0].T, force).sum()
            assert flatness(inside[0]) * total <= np.linalg.norm(force) * (1 + 1e-12) <= total * (1 + 2e-12)


def test_undetermined_forces_of_a_resting_pin_are_decided_as_by_sampling():
    # F = (x, y) free, T = 1 and c = 1/2: |F| >= 2 is needed; x + y <= d leaves none of the disc's outside in x, y >= 0
    # where d < 2 (on the axes |F| = d).
    load = np.array([[1.0, 0, 0], [0, 1.0, 0]])
    pin = BearingForm(load, np.array([0, 0, 1.0]), (0.5, 0.5))
    for d, exists in ((1.99, False), (2.01, True)):
        linear = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, -1.0, d]])
        found = resting_set(linear, [pin], 1e-9, ranges=True)
        assert found.decided and (found.point is not None) is exists
        if exists:
            assert np.linalg.norm(found.point) >= 2 - 1e-9


# --- builders --------------------------------------------------------------------------------------------------------


def four_bar(coordinates="cartesian"):
    bars = zw.Linkage("four bar", gravity=(0, "-g"))
    bars.ground("O", 0, 0).ground("C", 4, 0).points("A B")
    for ends, length, mass in (("OA", 1, 1), ("AB", 4, 4), ("BC", 3, 3)):
        bars.bar(*ends, length, mass=mass, friction="mu", radius="r")
    return bars.torque(("O", "A"), "M").system(coordinates=coordinates)


PINS = ("O-A at O", "O-A at A", "A-B at B", "B-C at C")


def posed(system, phi, spin):
    """A state of the four-bar at a crank angle, for either kind of coordinates."""
    A, C = np.array([math.cos(phi), math.sin(phi)]), np.array([4.0, 0.0])
    reach = C - A
    d = np.linalg.norm(reach)
    along = (16 - 9 + d * d) / (2 * d)
    B = A + (along * reach + math.sqrt(16 - along**2) * np.array([-reach[1], reach[0]])) / d
    quarter = lambda e: np.array([-e[1], e[0]])  # noqa: E731
    spins = np.linalg.solve(np.column_stack([quarter(B - A), -quarter(B - C)]), -spin * quarter(A))
    vA, vB = spin * quarter(A), spins[1] * quarter(B - C)
    places = {"O_OA": (0 * A, 0 * A), "A": (A, vA), "A_OA": (A, vA), "B": (B, vB), "B_AB": (B, vB), "C_BC": (C, 0 * C)}
    angles = {"theta_A_OA": (A, spin), "theta_B": (C - B, spins[1]), "theta_C_BC": (C - B, spins[1])}
    state = {}
    for name, (place, speed) in places.items():
        for axis, x, v in zip("xy", place, speed, strict=True):
            state[f"{axis}_{name}"], state[f"v_{axis}_{name}"] = x, v
    for name, (arm, turning) in angles.items():
        state[name], state[f"v_{name}"] = math.atan2(arm[1], arm[0]), turning
    wanted = {item.name for item in (*system.coordinates, *system.velocities)}
    return {name: float(value) for name, value in state.items() if name in wanted}


FOUR = {"g": 9.81, "mu": 0.3, "r": 0.2, "M": 10.0}


@pytest.mark.parametrize("spin", [2.0, -1.5])
def test_four_rough_pins_in_motion_have_one_solution_in_both_kinds_of_coordinates(spin):
    forces = []
    for coordinates in ("cartesian", "joint"):
        system = four_bar(coordinates)
        found = zw.reactions(system, posed(system, 1.0, spin), FOUR)
        assert found.status.name == "UNIQUE" and found.residual < 1e-12
        forces.append([float(found.solutions[0].tangential[found.contacts.index(name)]) for name in PINS])
    assert np.allclose(*forces, rtol=1e-9)


def test_four_bar_holds_by_its_pins_between_two_torques_and_its_forces_are_a_set():
    system = four_bar()
    held = {M: zw.reactions(system, posed(system, 1.0, 0.0), {**FOUR, "M": M}) for M in (5.0, 15.0, 30.0)}
    assert [found.status.name for found in held.values()] == ["UNIQUE", "UNIQUE_MOTION", "UNIQUE"]
    (solution,) = held[15.0].solutions
    assert solution.dimension == 3 and {solution.modes[name] for name in PINS} == {"stick"}
    c = 0.3 / math.sqrt(1.09)
    for name in PINS:
        x, y, own = (held[15.0].contacts.index(f"{name}{tail}") for tail in (" x", " y", ""))
        assert abs(solution.tangential[own]) <= c * math.hypot(solution.normal[x], solution.normal[y]) + 1e-9
        low, high = solution.ranges.tangential[own]
        assert low - 1e-9 <= solution.tangential[own] <= high + 1e-9
    assert [found.solutions[0].modes["O-A at O"] for found in held.values()] == ["slip-", "stick", "slip+"]


def test_four_bar_with_rough_pins_comes_to_rest_within_its_holding_torques():
    motions = []
    for coordinates in ("cartesian", "joint"):
        system = four_bar(coordinates)
        motion = zw.simulate(system, posed(system, 1.0, 3.0), {**FOUR, "M": 0.0}, until=8.0)
        assert motion.status.name == "REACHED" and motion.residual < 1e-9
        motions.append([(event.kind, event.constraint, event.time) for event in motion.events])
    assert [event[:2] for event in motions[0]] == [event[:2] for event in motions[1]]
    assert np.allclose([event[2] for event in motions[0]], [event[2] for event in motions[1]], atol=1e-8)
    assert motions[0][-1][0] == "stick"


def test_line_of_force_of_a_massless_bar_is_tangent_to_both_friction_circles():
    crank = zw.Linkage("press", gravity=(0, 0))
    crank.ground("O", 0, 0).points("A").point("P", mass="m").bar("O", "A", 1, mass=1)
    crank.bar("A", "P", 3, friction="mu", radius="r").slider("P", direction=(1, 0))
    system = crank.force("P", ("-F", 0)).torque(("O", "A"), "M").system()
    phi, spin = 0.7, 1.3
    A, vA = np.array([math.cos(phi), math.sin(phi)]), spin * np.array([-math.sin(phi), math.cos(phi)])
    P = np.array([A[0] + math.sqrt(9 - A[1] ** 2), 0.0])
    turning = -vA[1] / (P - A)[0]
    vP = np.array([vA[0] - turning * (P - A)[1], 0.0])
    state = {}
    for item in system.coordinates:
        place, speed = (A, vA) if item.name.split("_")[1] == "A" else (P, vP)
        at = 0 if item.name.startswith("x") else 1
        state[item.name], state[f"v_{item.name}"] = place[at], speed[at]
    mu, r = 0.2, 0.15
    found = zw.reactions(system, state, {"m": 2.0, "mu": mu, "r": r, "F": 40.0, "M": 30.0})
    assert found.status.name == "UNIQUE"
    solution, at = found.solutions[0], found.contacts.index
    F = np.array([solution.normal[at("A-P at A x")], solution.normal[at("A-P at A y")]])
    other = np.array([solution.normal[at("A-P at P x")], solution.normal[at("A-P at P y")]])
    assert np.allclose(F, -other, rtol=1e-10)
    moments = [float(solution.tangential[at(f"A-P at {end}")]) * r for end in "AP"]
    # Friction circle of a dry journal: r sin(arctan(mu)).
    circle = r * math.sin(math.atan(mu))
    assert [abs(M) / np.linalg.norm(F) for M in moments] == pytest.approx([circle, circle], rel=1e-10)
    # The line of force passes both centres at these distances: moments about A of all that acts on the bar vanish.
    lever = (P - A)[0] * other[1] - (P - A)[1] * other[0]
    assert abs(sum(moments) + lever) < 1e-10 * np.linalg.norm(F)
    along = abs(float(solution.normal[at("A-P")]))
    transverse = sum(moments) / 3
    assert math.hypot(along, transverse) == pytest.approx(np.linalg.norm(F), rel=1e-10)


@pytest.mark.parametrize("excess", [-1e-3, 1e-3])
def test_drawer_jams_where_twice_mu_times_the_distance_of_the_pull_reaches_its_length(excess):
    mu, length = 0.4, 0.5
    drawer = zw.Linkage("drawer").points("A B").bar("A", "B", 1, mass=2)
    drawer.point("P", on=("A", "B"), fraction="1/2").point("H", on=("A", "B"), fraction=0, offset="e")
    drawer.slider("P", direction=(1, 0), friction="mu", length="length").force("H", ("-F", 0))
    system = drawer.system()
    assert [name for name in system.constraints.names if "slider" in name] == ["P slider 1", "P slider 2"]
    state = dict.fromkeys((*(f"{a}_{p}" for a in "xy" for p in "AB"), *(f"v_{a}_{p}" for a in "xy" for p in "AB")), 0.0)
    params = {"mu": mu, "length": length, "e": length / (2 * mu) * (1 + excess), "F": 10.0}
    found = zw.reactions(system, {**state, "x_B": 1.0}, params)
    moving = [bool(np.abs(w).max() > 1e-9) for w in found.accelerations]
    assert moving == [excess < 0]


def test_slider_with_a_length_presses_evenly_where_no_bar_is_fixed_to_it():
    def crank(**more):
        made = (
            zw.Linkage("crank").ground("O", 0, 0).points("A").point("P", mass=1).chain("O A P", lengths=(1, 2), mass=1)
        )
        return made.slider("P", direction=(1, 0), friction=0.1, **more).system()

    assert crank() == crank(length="d")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda l: l.pin("A", "B", friction=0.1), "friction= needs the radius at which the pin rubs"),
        (lambda l: l.pin("A", "B", radius=0.1), "radius= is given and no friction="),
        (lambda l: l.pin("A", "B", friction=0.1, radius=0), "radius"),
        (lambda l: l.pin("A", "B", friction=-0.1, radius=1), "friction"),
        (lambda l: l.pin("A", "B", between=("O-A", "B-D")), "between= goes with friction="),
        (lambda l: l.pin("A", "B", friction=0.1, radius=1, between="O-A"), "between= must be two names"),
        (lambda l: l.pin("A", "B", friction=0.1, radius=1, between=("O-A", "B-E")), "'B-E', which is no bar"),
        (lambda l: l.pin("A", "B", friction=0.1, radius=1, between=("O-A", "O-A")), "don't turn on each other"),
        (lambda l: l.point("E").bar("B", "E", 1, mass=1).pin("A", "B", friction=0.1, radius=1), "B-D, B-E meet in 'B'"),
        (lambda l: l.pin("A", "E", friction=0.1, radius=1), "there is no point 'E'"),
        (lambda l: l.slider("A", along=("B", "D"), friction=0.1, length=1), "length= goes with a line of the ground"),
        (lambda l: l.slider("A", direction=(1, 0), friction=0.1, length=0), "length"),
    ],
)
def test_rough_pins_and_guides_say_what_is_wrong(build, words):
    def declare():
        bars = zw.Linkage("bars").ground("O", 0, 0).points("A B D", mass=1).bar("O", "A", 1).bar("B", "D", 1)
        build(bars).system()

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda l: l.points("B C", mass=1).bar("A", "B", 1, friction=0.1, radius=0.1).bar("A", "C", 1),
            "bar 'A-B' is rough and meets O-A, A-C in 'A'",
        ),
        (
            lambda l: l.points("B C", mass=1).bar("B", "C", 1, friction=0.1, radius=0.1).pin("A", "B"),
            "neither of its ends meets another bar, a slider or the ground",
        ),
        (lambda l: l.point("B", mass=1).bar("A", "B", 1, friction=1), "friction= needs the radius"),
    ],
)
def test_rough_bars_say_what_is_wrong(build, words):
    def declare():
        build(zw.Linkage("bars").ground("O", 0, 0).points("A", mass=1).bar("O", "A", 1)).system()

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


def test_two_rough_bars_in_one_point_need_one_friction():
    bars = zw.Linkage("bars").ground("O", 0, 0).points("A B", mass=1).bar("O", "A", 1, friction=0.1, radius=0.1)
    with pytest.raises(zw.DeclarationError, match=r"'O-A' and 'A-B' meet in 'A' with friction 0.1"):
        bars.bar("A", "B", 1, friction=0.2, radius=0.1).system()


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic", None])
def test_impact_through_a_rough_pin_obeys_the_law_of_its_resultant(law):
    system = on_a_pin().replace(
        constraints=[*on_a_pin().constraints, zw.Unilateral("x", restitution=sp.Rational(1, 2), name="wall")]
    )
    motion = zw.simulate(system, turned(0.6, 0.0), BODY, until=1.0, impact=law)
    if law == "energetic":
        assert motion.status.name == "CHOICE" and "loads the friction 'pin'" in motion.reason
        return
    impact = next(event for event in motion.events if event.kind in ("impact", "choice"))
    if law is None and impact.kind == "choice":
        return
    P = math.hypot(*(impact.details["impulses"][f"pin {axis}"] for axis in "xy"))
    rub = float(impact.details["friction_impulses"]["pin"][0])
    spin = impact.details["after"][2]
    # The wall throws the body back at half its speed, so that the pin turns forwards after it. Newton's impulse rubs
    # against that; Poisson's compression ends at rest, where the pin sticks, and its expansion alone rubs fully.
    assert spin > 0 and -BODY["c"] * P * (1 + 1e-9) <= rub < 0
    if law == "newton":
        assert rub == pytest.approx(-BODY["c"] * P, rel=1e-9)
    assert impact.details["energy_change"] < 0


def test_pins_that_share_what_holds_a_mechanism_let_go_together_at_the_limit_of_reactions():
    bars = zw.Linkage("four bar", gravity=(0, "-g")).ground("O", 0, 0).ground("C", 4, 0).points("A B")
    for ends, length, mass in (("OA", 1, 1), ("AB", 4, 4), ("BC", 3, 3)):
        bars.bar(*ends, length, mass=mass, friction="mu", radius="r")
    system = bars.torque(("O", "A"), "15 + 20*t").system()
    params = {name: FOUR[name] for name in ("g", "mu", "r")}
    motion = zw.simulate(system, posed(system, 1.0, 0.0), params, until=0.1)
    assert [(event.kind, event.constraint) for event in motion.events] == [("slip", name) for name in PINS]
    (t,) = {event.time for event in motion.events}
    still, moves = (
        zw.reactions(four_bar(), posed(four_bar(), 1.0, 0.0), {**FOUR, "M": 15 + 20 * (t + step)})
        for step in (-1e-6, 1e-6)
    )
    assert still.solutions[0].modes["O-A at O"] == "stick" and moves.solutions[0].modes["O-A at O"] == "slip+"
    steps = zw.simulate(system, posed(system, 1.0, 0.0), params, until=0.1, method="timestepping", step=1e-3)
    assert steps.status.name == "REACHED"
    assert steps.at(0.1)["x_A"] == pytest.approx(motion.at(0.1)["x_A"], abs=1e-5)
