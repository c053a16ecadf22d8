"""Builders of what rubs: pins, bars and guides of linkages, joints of bodies, against closed forms."""

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from test_pins import BODY, on_a_pin, turned

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


@pytest.mark.nightly
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


def link_in_space(length, coordinates):
    arm = zw.Bodies("arm", gravity=(0, 0, "-g"))
    arm.body("link", mass="m", inertia=("J", "J", "J"), at=(0, 0, "-l"))
    bearing = {"friction": "mu", "radius": "r"} | ({} if length is None else {"length": length})
    arm.revolute("hinge", "ground", "link", at=(0, 0, 0), axis=(0, 1, 0), **bearing)
    return arm, arm.system(coordinates=coordinates)


@pytest.mark.parametrize("coordinates", ["joint", "cartesian"])
@pytest.mark.parametrize("length", [None, "d"])
def test_rough_revolute_joint_of_bodies_rubs_as_a_pin_in_the_plane(length, coordinates):
    arm, system = link_in_space(length, coordinates)
    mu = 0.3
    c = math.sin(math.atan(mu))
    params = {**{name: BODY[name] for name in ("m", "J", "l", "g", "r")}, "mu": mu}
    params |= {} if length is None else {"d": 0.3}
    edge = math.asin(c * BODY["r"] / BODY["l"])
    for theta, spin in ((edge - 1e-6, 0.0), (edge + 1e-6, 0.0), (0.5, 1.3), (-0.8, 2.0)):
        place = BODY["l"] * np.array([-math.sin(theta), 0, -math.cos(theta)])
        speed = np.cross([0, spin, 0], place)
        state = arm.place("link", at=tuple(place), turned=((0, 1, 0), theta), velocity=tuple(speed), spin=(0, spin, 0))
        found = zw.reactions(system, state, params)
        assert found.complete and found.residual < 1e-9 and len(found.accelerations) == 1
        # The same body on a pin in the plane, which turns the other way round.
        flat = zw.reactions(on_a_pin(), turned(-theta, -spin), {**BODY, "c": c})
        at = {item.name: i for i, item in enumerate(system.coordinates)}
        there = [found.accelerations[0][at["x_link"]], found.accelerations[0][at["z_link"]]]
        assert there == pytest.approx(list(flat.accelerations[0][:2]), abs=1e-9)


@pytest.mark.parametrize("excess", [-1e-3, 1e-3])
def test_drawer_of_bodies_jams_where_the_guides_of_its_prismatic_joint_do(excess):
    drawer = zw.Bodies("drawer").body("box", mass=2, inertia=(1, 1, 1), at=(0, 0, 0))
    drawer.prismatic("slide", "ground", "box", at=(0, 0, 0), axis=(1, 0, 0), friction="mu", length="d")
    drawer.point("knob", on="box", at=(0, "e", 0)).force("knob", ("-F", 0, 0))
    system = drawer.system()
    mu, d = 0.4, 0.5
    params = {"mu": mu, "d": d, "e": d / (2 * mu) * (1 + excess), "F": 10.0}
    found = zw.reactions(system, drawer.place("box", at=(0, 0, 0)), params)
    assert found.complete
    assert [bool(np.abs(w).max() > 1e-9) for w in found.accelerations] == [excess < 0]


def test_rough_joint_of_bodies_moves_and_is_kept_by_files(tmp_path):
    arm, system = link_in_space("d", "joint")
    system.save(tmp_path / "arm.toml")
    assert zw.load(tmp_path / "arm.toml") == system
    state = arm.place("link", at=(-0.5 * math.sin(1.2), 0, -0.5 * math.cos(1.2)), turned=((0, 1, 0), 1.2))
    params = {**{name: BODY[name] for name in ("m", "J", "l", "g", "r")}, "mu": math.tan(math.asin(0.3)), "d": 0.3}
    motion = zw.simulate(system, state, params, until=1.0)
    flat = zw.simulate(on_a_pin(), turned(-1.2, 0), BODY, until=1.0)
    assert motion.status.name == "REACHED"
    assert motion.events[0].time == pytest.approx(flat.events[0].time, abs=1e-8)
    assert motion.at(1.0)["x_link"] == pytest.approx(flat.at(1.0)["x"], abs=1e-8)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("revolute", {"length": 1, "friction": 0.1}, "length= needs the radius at which its journals rub"),
        ("revolute", {"radius": 0.1}, "radius= and length= need a coefficient of friction"),
        ("revolute", {"radius": 0, "friction": 0.1}, "radius"),
        ("prismatic", {"radius": 0.1, "friction": 0.1}, "goes with its length alone"),
        ("cylindrical", {"radius": 0.1, "friction": (0.1, 0.1)}, "belong to revolute and prismatic joints"),
    ],
)
def test_rough_joints_of_bodies_say_what_is_wrong(kind, given, words):
    arm = zw.Bodies("arm").body("link", mass=1, inertia=(1, 1, 1))
    with pytest.raises(zw.DeclarationError) as caught:
        getattr(arm, kind)("hinge", "ground", "link", at=(0, 0, 0), axis=(0, 0, 1), **given)
    assert words in str(caught.value)


# --- self-locking ----------------------------------------------------------------------------------------------------


def slider_crank():
    crank = zw.Linkage("slider crank").ground("O", 0, 0).points("A").point("P", mass="m")
    crank.bar("O", "A", 1, mass=1, friction="mu", radius="r").bar("A", "P", 3, mass=1, friction="mu", radius="r")
    return crank.slider("P", direction=(1, 0)).force("P", ("-F", 0)).system(coordinates="joint")


CRANK = {"m": 1.0, "mu": 0.3, "r": 0.2, "F": 10.0}
STAYS = {"x_O_OA": 0.0, "y_O_OA": 0.0, "y_P": 0.0}


def cranked(phi):
    A = np.array([math.cos(phi), math.sin(phi)])
    x = A[0] + math.sqrt(9 - A[1] ** 2)
    state = {"x_A": A[0], "y_A": A[1], "x_P": x, "theta_A_OA": phi, "theta_P_AP": math.atan2(-A[1], x - A[0])}
    return state | {"x_O_OA": 0.0, "y_O_OA": 0.0, "y_P": 0.0}


def least_altitude(phi):
    state = cranked(phi)
    sides = 1.0, 3.0, state["x_P"]
    return state["x_P"] * abs(state["y_A"]) / max(sides)


def edge_of_locking():
    """The crank angle up to which the crank is locked.

    The force that rod and crank carry goes along one line, within the friction circles of all three pins: it exists
    while the least altitude of the triangle of the pins is at most twice their radius.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if least_altitude(middle) <= 2 * 0.2 * 0.3 / math.sqrt(1.09) else (low, middle)
    return low


def test_slider_crank_locks_itself_near_its_dead_centre_as_a_line_through_three_friction_circles_says():
    edge = edge_of_locking()
    assert edge == pytest.approx(0.1151937477, abs=1e-9)
    at = edge * np.array([-1.02, -0.98, 0.4, 0.98, 1.02, 3.0])
    states = [cranked(float(phi)) for phi in at]
    batch = {name: np.array([state[name] for state in states]) for name in states[0]}
    found = zw.reactions(slider_crank(), batch | {f"v_{name}": 0.0 for name in batch}, CRANK)
    assert found.still.tolist() == [False, True, True, True, False, False]
    assert set(found.counts.tolist()) == {1}


@pytest.mark.parametrize(("part", "claim", "status"), [(0.99, "can hold", "PROVED"), (1.01, "can hold", "REFUTED"),
                                                       (0.05, "must hold", "PROVED")])  # fmt: skip
def test_guarantee_knows_where_a_slider_crank_locks_itself(part, claim, status):
    edge = part * edge_of_locking()
    box = {"theta_A_OA": (-edge, edge), "theta_P_AP": (-0.5, 0.5), "x_A": (-2, 2), "y_A": (-2, 2), "x_P": (0, 5)}
    found = zw.guarantee(claim, slider_crank(), box, {**CRANK, **STAYS})
    assert found.status.name == status
    if status == "REFUTED":
        assert abs(found.witness.state["theta_A_OA"]) > edge_of_locking()


def test_four_bar_locks_itself_where_its_crank_and_coupler_are_nearly_in_line():
    # A torque on the rocker alone: the coupler's line of force meets the circles of O, A and B.
    bars = zw.Linkage("four bar").ground("O", 0, 0).ground("C", 4, 0).points("A B")
    for ends, length, mass in (("OA", 1, 1), ("AB", 4, 4), ("BC", 3, 3)):
        bars.bar(*ends, length, mass=mass, friction="mu", radius="r")
    system = bars.torque(("C", "B"), "M").system()
    circle = 0.2 * 0.3 / math.sqrt(1.09)
    for phi in (0.3, 0.6, 1.2, 3.0, 3.45, 3.6, 4.0):
        state = posed(system, phi, 0.0)
        A, B = np.array([math.cos(phi), math.sin(phi)]), np.array([state["x_B"], state["y_B"]])
        altitude = abs(A[0] * B[1] - A[1] * B[0]) / max(1.0, 4.0, float(np.linalg.norm(B)))
        found = zw.reactions(system, state, {"mu": 0.3, "r": 0.2, "M": 5.0})
        rests = np.abs(found.accelerations).max() < 1e-9
        assert found.complete and len(found.accelerations) == 1 and rests == (altitude <= 2 * circle), phi
