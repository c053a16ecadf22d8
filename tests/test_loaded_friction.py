"""Friction that goes with the forces of other constraints: several laws on one normal force, and resultants of pins."""

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from loaded_brute_force import Part, solutions


def wheel(**changes):
    """A disc on a slope: sliding, and rolling resistance with the lever f, both on one normal force."""
    (x, y, _), (vx, vy, w) = zw.coordinates("x y a")
    m, R, mu, f, g, beta = zw.parameters("m R mu f g beta")
    contact = zw.Unilateral(y - R, friction=zw.Coulomb(mu, slip=vx - R * w), restitution=0, name="wheel")
    rolling = zw.Friction(f, slip=w, of="wheel", name="rolling")
    declared = {
        "kinetic": m * (vx**2 + vy**2) / 2 + m * R**2 * w**2 / 4,
        "potential": m * g * (y * sp.cos(beta) - x * sp.sin(beta)),
        "constraints": [contact, rolling],
        "name": "wheel",
    }
    return zw.System(**(declared | changes))


def test_friction_of_another_constraint_is_kept_by_files_and_copies(tmp_path):
    system = wheel()
    assert system.constraints["rolling"].of == ("wheel",)
    system.save(tmp_path / "wheel.toml")
    again = zw.load(tmp_path / "wheel.toml")
    assert again == system and again.constraints["rolling"].of == ("wheel",)
    assert system.replace(name="wheel").constraints["rolling"].of == ("wheel",)
    without = [system.constraints["wheel"], zw.Friction("f", slip="v_a", name="rolling")]
    assert system.replace(constraints=without).digest != system.digest
    assert "times the force of wheel" in repr(system)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("wheels", "is of 'wheels', which isn't there. Did you mean 'wheel'?"),
        ("brake", "which is Friction itself and presses nothing together"),
        (("wheel", "wheel"), "of= names 'wheel' twice"),
        (3, "of= must be the name of a constraint, or a tuple of names; it was given 3"),
    ],
)
def test_what_loads_a_friction_is_named_where_it_is_wrong(of, words):
    system, brake = wheel(), zw.Friction(1, slip="v_x", name="brake")

    def declare():
        rolling = zw.Friction("f", slip="v_a", of=of, name="rolling")
        system.replace(constraints=[system.constraints["wheel"], brake, rolling])

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


def test_two_laws_along_one_slip_on_one_force_are_refused():
    system = wheel()
    twice = zw.Friction("f", slip="v_x - R*v_a", of="wheel", name="twice")
    with pytest.raises(zw.DeclarationError, match="'wheel' and 'twice' are two laws of friction along the slip"):
        system.replace(constraints=[system.constraints["wheel"], twice])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"of": "a"}, "of is 'a', needed the number of a contact"),
        ({"of": (0, 0)}, "of names a contact twice"),
        ({"of": 0, "normal_force": 1.0}, "of goes with the forces of other contacts, and a normal_force is given too"),
        ({"of": 0, "static_friction": 0.5}, "of and static_friction are both given"),
        ({"of": 7}, "has of=(7,), and there are 2 contacts, 0 to 1"),
        ({"of": 1}, "contacts[1] has no normal and presses nothing"),
    ],
)
def test_arrays_say_what_is_wrong_with_a_load(arguments, words):
    def declare():
        rolling = zw.Contact(None, tangent=[0, 0, 1], friction=0.1, **arguments)
        zw.ContactProblem(np.eye(3), [0, -1, 0], [zw.Contact([0, 1, 0]), rolling])

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


def test_a_file_says_what_is_wrong_with_a_load(tmp_path):
    wheel().save(tmp_path / "wheel.toml")
    text = (tmp_path / "wheel.toml").read_text().replace('of = ["wheel"]', "of = 3")
    (tmp_path / "wheel.toml").write_text(text)
    with pytest.raises(zw.DeclarationError, match="'of' must be the name of a constraint, or a list of names"):
        zw.load(tmp_path / "wheel.toml")


def drawn(rng):
    """A random problem: one or two contacts, and one or two frictions that they load; rows are independent."""
    rubs = rng.random(int(rng.integers(1, 3))) < 0.6
    loads = rng.integers(len(rubs), size=int(rng.integers(1, 3)))
    n = len(rubs) + int(rubs.sum()) + len(loads) + int(rng.integers(0, 2))
    root, slips = rng.normal(size=(n, n)), iter(rng.choice([0.0, 0.0, 1.0, -1.0], size=len(rubs) + len(loads)))
    parts = [
        Part(
            rng.normal(size=n),
            rng.normal(size=n) if own else None,
            rng.uniform(0, 2),
            bool(rng.random() < 0.4),
            next(slips),
        )
        for own in rubs
    ]
    parts += [Part(None, rng.normal(size=n), rng.uniform(0, 1.5), slip=next(slips), of=int(master)) for master in loads]
    return root @ root.T + 0.3 * np.eye(n), 3 * rng.normal(size=n), parts


def problem_of(mass, force, parts):
    contacts = [
        zw.Contact(
            part.normal,
            tangent=part.tangent,
            friction=part.mu if part.tangent is not None else 0.0,
            bilateral=part.bilateral,
            slip=part.slip if part.tangent is not None and part.slip else None,
            of=part.of,
        )
        for part in parts
    ]
    return zw.ContactProblem(mass, force, contacts)


def compare_with_brute_force(seed, count):
    rng, counts = np.random.default_rng(seed), set()
    for _ in range(count):
        mass, force, parts = drawn(rng)
        found = zw.reactions(problem_of(mass, force, parts))
        expected = solutions(mass, force, parts)
        assert found.complete and len(found.solutions) == len(expected)
        # Up to the rounding of small linear systems.
        assert not expected or found.residual < 1e-9
        counts.add(len(expected))
    return counts


def test_several_laws_on_one_force_have_the_solutions_of_all_modes():
    assert compare_with_brute_force(1, 250) >= {0, 1, 2, 3}


@pytest.mark.nightly
def test_several_laws_on_one_force_have_the_solutions_of_all_modes_at_length():
    print("seed 2, 20000 problems")
    assert compare_with_brute_force(2, 20_000) >= {0, 1, 2, 3, 4}


WHEEL = {"m": 1.3, "R": 0.5, "mu": 0.3, "f": 0.05, "g": 9.81}
AT_REST = {"x": 0, "y": 0.5, "a": 0, "v_x": 0, "v_y": 0, "v_a": 0}


@pytest.mark.parametrize(
    ("mu", "f", "beta", "modes"),
    [
        # It rests for tan(beta) <= min(mu, f/R): tan(0.0997) < 0.1 = f/R < tan(0.0998).
        (0.3, 0.05, 0.0996, ("stick", "stick")),
        (0.3, 0.05, 0.0998, ("stick", "slip+")),
        # It slides without rolling where mu < f/R.
        (0.05, 0.05, 0.0501, ("slip+", "stick")),
        (0.05, 0.05, 0.0499, ("stick", "stick")),
        # Rolling without sliding asks for T = m g (sin + 2 f/R cos)/3 <= mu N: tan(beta) <= 3 mu - 2 f/R = 0.7.
        (0.3, 0.05, np.arctan(0.699), ("stick", "slip+")),
        (0.3, 0.05, np.arctan(0.701), ("slip+", "slip+")),
    ],
)
def test_wheel_on_a_slope_rests_rolls_and_slides_by_its_closed_form(mu, f, beta, modes):
    found = zw.reactions(wheel(), AT_REST, {**WHEEL, "mu": mu, "f": f, "beta": beta})
    assert found.status.name == "UNIQUE"
    assert tuple(found.solutions[0].modes) == modes


def test_map_over_slopes_knows_several_laws():
    slopes = np.array([0.05, 0.15, 0.65])
    found = zw.reactions(wheel(), AT_REST, {**WHEEL, "beta": slopes})
    assert [status.name for status in np.ravel(found.status)] == ["UNIQUE"] * 3


def bowling_ball(e=0):
    (x, y, _), (vx, vy, w) = zw.coordinates("x y a")
    m, R, mu, f, g = zw.parameters("m R mu f g")
    return zw.System(
        name="ball",
        kinetic=m * (vx**2 + vy**2) / 2 + m * R**2 * w**2 / 5,
        potential=m * g * y,
        coordinates=(x, y, _),
        constraints=[
            zw.Unilateral(y - R, friction=zw.Coulomb(mu, slip=vx - R * w), restitution=e, name="lane"),
            zw.Friction(f, slip=w, of="lane", name="rolling"),
        ],
    )


BALL = {"m": 7.0, "R": 0.11, "mu": 0.2, "f": 0.002, "g": 9.81}
THROWN = {"x": 0, "y": 0.11, "a": 0, "v_x": 8.0, "v_y": 0, "v_a": 0}


@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_bowling_ball_rolls_from_its_closed_form_on(method):
    step = {} if method == "events" else {"step": 1e-3}
    until = 50.0 if method == "events" else 3.0
    motion = zw.simulate(bowling_ball(), THROWN, BALL, until=until, method=method, **step)
    # Slip v - R w starts with v_0 and falls by g (7 mu - 5 f/R)/2; rolling slows by 5 g f/(7 R).
    rolls = 2 * 8.0 / (9.81 * (7 * 0.2 - 5 * 0.002 / 0.11))
    slows = 5 * 9.81 * 0.002 / (7 * 0.11)
    (stick, *later) = motion.events
    assert (stick.kind, stick.constraint) == ("stick", "lane")
    assert stick.time == pytest.approx(rolls, abs=1e-9 if method == "events" else 1e-3)
    assert motion.at(2.0)["v_x"] - motion.at(3.0)["v_x"] == pytest.approx(slows, abs=1e-9)
    assert motion.residual < 1e-9
    if method == "events":
        assert later[0].time == pytest.approx(rolls + motion.at(rolls)["v_x"] / slows, rel=1e-9)
        lost = motion.energy["total"][-1] - motion.energy["total"][0]
        assert lost == pytest.approx(sum(work[-1] for work in motion.work.values()), rel=1e-12)


def test_ball_that_drops_loses_spin_to_rolling_resistance_in_its_impact():
    dropped = {**THROWN, "y": 0.3, "v_x": 1.0}
    motion = zw.simulate(bowling_ball(sp.Rational(1, 2)), dropped, BALL, until=0.25, impact="newton")
    impact = next(event for event in motion.events if event.kind == "impact")
    P = BALL["m"] * 1.5 * np.sqrt(2 * 9.81 * 0.19)
    assert impact.details["impulses"]["lane"] == pytest.approx(P, rel=1e-9)
    # The impact spins it up from rest, so that rolling resistance takes f P.
    assert impact.details["friction_impulses"]["rolling"] == pytest.approx(-BALL["f"] * P, rel=1e-9)
    stopped = zw.simulate(bowling_ball(sp.Rational(1, 2)), dropped, BALL, until=0.25, impact="energetic")
    assert stopped.status.name == "CHOICE" and "loads the friction 'rolling'" in stopped.reason


def test_rolling_resistance_is_open_in_flight_and_comes_back_with_the_contact():
    motion = zw.simulate(bowling_ball(), {**THROWN, "y": 0.2, "v_a": 5.0}, BALL, until=0.5)
    labels = [dict(zip(("lane", "rolling"), piece.modes, strict=True)) for piece in motion.pieces]
    assert labels[0]["rolling"].word == "open"
    assert {event.kind for event in motion.events if event.constraint == "rolling"} <= {"stick", "slip", "reversal"}
    assert motion.at(0.05)["v_a"] == pytest.approx(5.0, rel=1e-12)


def coin():
    """A coin that spins on its face: pivoting friction of its own lever, beside sliding in a plane."""
    (x, y, z, psi), (vx, _, _, w) = zw.coordinates("x y z psi")
    return zw.System(
        name="coin",
        coordinates=(x, y, z, psi),
        kinetic="m*(v_x**2 + v_y**2 + v_z**2)/2 + J*v_psi**2/2",
        potential="m*g*z",
        constraints=[
            zw.Unilateral(z, friction=zw.Coulomb("mu", slip=vx), restitution=0, name="table"),
            zw.Friction("lever*mu", slip=w, of="table", name="spin"),
        ],
    )


def test_coin_spins_down_in_the_time_of_its_lever():
    params = {"m": 0.005, "J": 1.8e-7, "g": 9.81, "mu": 0.2, "lever": 0.008}
    start = dict.fromkeys(("x", "y", "z", "psi", "v_x", "v_y", "v_z"), 0.0) | {"v_psi": 40.0}
    motion = zw.simulate(coin(), start, params, until=2.0)
    stops = 40.0 * params["J"] / (0.008 * 0.2 * 0.005 * 9.81)
    assert [event.kind for event in motion.events] == ["stick"]
    assert motion.events[0].time == pytest.approx(stops, rel=1e-10)


def test_realized_contact_keeps_the_friction_that_it_loads():
    system = zw.realize(bowling_ball(), "lane", by=zw.Stiffness("N"))
    rolling = system.constraints["rolling"]
    assert rolling.of == () and {symbol.name for symbol in rolling.bound.free_symbols} >= {"N", "f", "y"}


def test_asymptotics_refuses_friction_of_another_constraint_by_name():
    node = zw.gallery.get("ellipse_pendulum")
    name = next(item.name for item in node.system.constraints)
    slip = node.system.velocities[0]
    more = [*node.system.constraints, zw.Friction(sp.Rational(1, 10), slip=slip, of=name, name="rub")]
    touching = node.params
    space = zw.trace(node.system, touching)
    with pytest.raises(zw.DeclarationError, match="the friction 'rub' goes with the force of"):
        zw.asymptotics(node.system.replace(constraints=more), touching, at=space.singular_points[0])


@pytest.mark.parametrize(
    ("push", "modes"),
    [(0.04, ("stick", "stick", "stick")), (0.3, ("stick", "slip", "stick")), (2.5, ("slip", "slip", "stick"))],
)
def test_ball_in_space_rests_rolls_and_slides_with_three_laws_on_one_force(push, modes):
    # Unit mass, radius and weight, J = 2/5: it rests for push <= f = 0.05, and slides beyond (7 mu - 5 f)/2 = 1.625.
    floor = zw.Contact([0, 0, 1, 0, 0, 0], tangent=[[1, 0, 0, 0, -1, 0], [0, 1, 0, 1, 0, 0]], friction=0.5)
    roll = zw.Contact(None, tangent=[[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]], friction=0.05, of=0)
    spin = zw.Contact(None, tangent=[0, 0, 0, 0, 0, 1], friction=0.02, of=0)
    force = np.array([0.6 * push, 0.8 * push, -1, 0, 0, 0])
    found = zw.reactions(zw.ContactProblem(np.diag([1, 1, 1, 0.4, 0.4, 0.4]), force, [floor, roll, spin]))
    assert found.status.name == "FOUND" and found.residual < 1e-9 and "bounds that follow the forces" in found.note
    assert tuple(found.solutions[0].modes) == modes
    if modes[:2] == ("stick", "slip"):
        # Rolling: (m + J) a = F - f, along the push.
        a = (push - 0.05) / 1.4
        assert found.solutions[0].acceleration[:2] == pytest.approx([0.6 * a, 0.8 * a], rel=1e-9)


def caster():
    """A wheel behind a swivel that is drawn along x with the speed V; trail d, four laws on the one force of the floor.

    Across the wheel it slides or not, along it too; it resists rolling and turning on its spot.
    """
    (z, th, _), (vz, w, spin) = zw.coordinates("z theta psi", angles="theta psi")
    m, g, inertia, J, d, R, V = zw.parameters("m g K J d R V")
    mu, f, h = zw.parameters("mu f h")
    floor = zw.Unilateral(z, friction=zw.Coulomb(mu, slip=V * sp.sin(th) + d * w), restitution=0, name="floor")
    return zw.System(
        name="caster",
        kinetic=m * vz**2 / 2 + inertia * w**2 / 2 + J * spin**2 / 2,
        potential=m * g * z,
        constraints=[
            floor,
            zw.Friction(mu, slip=V * sp.cos(th) - R * spin, of="floor", name="along"),
            zw.Friction(h, slip=spin, of="floor", name="rolling"),
            zw.Friction(f, slip=w, of="floor", name="turning"),
        ],
    )


CASTER = {"m": 2.0, "g": 9.81, "K": 0.02, "J": 0.003, "d": 0.1, "R": 0.05, "V": 0.8, "mu": 0.6, "f": 0.01, "h": 0.002}


def test_caster_follows_its_swivel_along_a_tractrix_and_its_forces_are_those_of_the_closed_form():
    start, rate = 1.2, 0.8 / 0.1  # no slip across the wheel: theta' = -(V/d) sin(theta)
    state = {"z": 0, "theta": start, "psi": 0, "v_z": 0, "v_theta": -rate * math.sin(start)}
    motion = zw.simulate(caster(), {**state, "v_psi": 0.8 * math.cos(start) / 0.05}, CASTER, until=0.6)
    assert motion.status.name == "REACHED" and not motion.events
    N = 2.0 * 9.81
    for t in (0.1, 0.3, 0.6):
        theta = 2 * math.atan(math.tan(start / 2) * math.exp(-rate * t))
        assert motion.at(t)["theta"] == pytest.approx(theta, abs=1e-9)
        assert motion.at(t)["v_psi"] == pytest.approx(0.8 * math.cos(theta) / 0.05, abs=1e-7)
        now = zw.reactions(caster(), motion.at(t), CASTER).solutions[0]
        # K theta'' = d T - f N sign(theta'), J psi'' = -R S - h N
        across = (0.02 * rate**2 * math.sin(theta) * math.cos(theta) - 0.01 * N) / 0.1
        along = -(0.003 * 0.8 * rate * math.sin(theta) ** 2 / 0.05 + 0.002 * N) / 0.05
        assert now.tangential[:2] == pytest.approx([across, along], abs=1e-6)
        assert [now.modes[name] for name in ("floor", "along", "rolling", "turning")] == [
            "stick",
            "stick",
            "slip+",
            "slip-",
        ]


def test_caster_on_a_slippery_floor_slides_across_and_one_that_turns_hard_stays_askew():
    slow = {"z": 0, "theta": 0.3, "psi": 0, "v_z": 0, "v_theta": 0, "v_psi": 0.8 * math.cos(0.3) / 0.05}
    # Slides across from the start, and its turning is held while mu d < f.
    for f, modes in ((0.07, "stick"), (0.05, "slip-")):
        found = zw.reactions(caster(), slow, {**CASTER, "f": f})
        assert found.status.name == "UNIQUE" and found.solutions[0].modes["floor"] == "slip+"
        assert found.solutions[0].modes["turning"] == modes


@pytest.mark.parametrize("powers", [(1, 0), (-2, 0), (1, -1)])
def test_multipliers_in_different_units_make_no_resultant(powers):
    (x, y, turn), (vx, vy, w) = zw.coordinates("x y turn", angles="turn")
    a, l = zw.parameters("a l")
    across, down = x - l * sp.sin(turn), y + l * sp.cos(turn)
    scale = a ** powers[0] * l ** powers[1]

    def hung(first, second, **options):
        pin = zw.Friction(0.3, slip=w, of=("pin x", "pin y"), name="pin")
        rows = [zw.Bilateral(first, name="pin x"), zw.Bilateral(second, name="pin y"), pin]
        return zw.System(name="hung", kinetic=(vx**2 + vy**2 + w**2) / 2, constraints=rows, **options)

    with pytest.raises(zw.DeclarationError, match="no forces in one unit"):
        hung(scale * across, down)
    with pytest.raises(zw.DeclarationError, match="'pin x' has 1"):
        hung(a * sp.cos(turn) * across, down, units={"x": "m", "y": "m", "l": "m", "a": "1/m"})
    both = hung(scale * across, scale * down)
    turned = hung(across * sp.cos(a) + down * sp.sin(a), down * sp.cos(a) - across * sp.sin(a))
    assert both.constraints.names == turned.constraints.names
