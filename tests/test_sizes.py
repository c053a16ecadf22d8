"""Units of length, mass and time change nothing but the units of the answer: tolerances are relative to sizes."""

import numpy as np
import pytest
import scipy.optimize
import sympy as sp

import zwang as zw
from unit_changes import DIMENSIONS, Units, in_units, sizes_of
from zwang.gallery.pendulum_on_ellipse import place

FACTORS = (1e-9, 1e-3, 1e3, 1e9)
ILL_CONDITIONED = {"ellipse_pendulum_friction", "ellipse_pendulum_string"}
"""They come to rest, or to a singular point, at an instant that rounding moves."""
UNTIL = {"bouncing_ball": 3.0, "belt_block": 3.0, "painleve_rod": 0.3, "ellipse_pendulum": 1.5, "freewheel": 4.0}


def changes(seed):
    """Return a change of each unit, and one of all three, differing from system to system."""
    rng = np.random.default_rng(seed)
    factors = rng.permutation(FACTORS)
    alone = [Units(length=factors[0]), Units(mass=factors[1]), Units(time=factors[2])]
    return [*alone, Units(*rng.choice((1e-3, 1e3), 3))]


def moved(name, units, **options):
    """Return what a motion is, in the units that it had: status, events, numbers."""
    system, state, params = in_units(name, units)
    until = UNTIL.get(name, 1.0) * units.time
    step = {"step": until / 200} if options.get("method") == "timestepping" else {}
    motion = zw.simulate(system, state, params, until=until, impact="newton", **options, **step)
    sizes = sizes_of(system, units)
    events = [(event.kind, event.constraint) for event in motion.events]
    instants = [event.time / units.time for event in motion.events]
    return motion.status.name, events, [*instants, *(motion.end[key] / sizes[key] for key in motion.end)]


@pytest.mark.parametrize("method", ["events", "timestepping"])
@pytest.mark.parametrize("name", sorted(set(DIMENSIONS) - ILL_CONDITIONED))
def test_motions_are_the_same_in_other_units(name, method):
    status, events, numbers = moved(name, Units(), method=method)
    for units in changes(sorted(DIMENSIONS).index(name)):
        found = moved(name, units, method=method)
        assert found[:2] == (status, events), units
        assert found[2] == pytest.approx(numbers, rel=1e-6, abs=1e-6), units


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["events", "timestepping"])
@pytest.mark.parametrize("name", sorted(set(DIMENSIONS) - ILL_CONDITIONED))
def test_motions_are_the_same_in_all_units(name, method):
    status, events, numbers = moved(name, Units(), method=method)
    for factor in FACTORS:
        for units in (Units(length=factor), Units(mass=factor), Units(time=factor)):
            found = moved(name, units, method=method)
            assert found[:2] == (status, events), units
            assert found[2] == pytest.approx(numbers, rel=1e-6, abs=1e-6), units


@pytest.mark.parametrize("name", ["bouncing_ball", "four_bar_crank_rocker", "freewheel", "stack"])
def test_default_steps_are_the_same_in_other_units(name):
    def steps(units):
        system, state, params = in_units(name, units)
        return len(zw.simulate(system, state, params, until=0.3 * units.time, method="timestepping").t)

    for units in changes(0):
        assert abs(steps(units) - steps(Units())) <= 1, units


def reacting(name, units):
    system, state, params = in_units(name, units)
    found = zw.reactions(system, state, params)
    return found.status.name, [[mode.removesuffix(" (N<0)") for mode in one.modes] for one in found.solutions]


@pytest.mark.parametrize("name", sorted(DIMENSIONS))
def test_reactions_are_the_same_in_other_units(name):
    expected = reacting(name, Units())
    for factor in FACTORS:
        for units in (Units(length=factor), Units(mass=factor), Units(time=factor)):
            assert reacting(name, units) == expected, units


@pytest.mark.parametrize("amplitude", [1e-9, 1e-6, 1.0, 1e9])
def test_dry_oscillator_of_any_size_stops_where_it_should(amplitude):
    # Each half swing loses 2 F/k: 1 - 6 (19/120) = 1/20 after three of them, on the other side.
    (x,), (v,) = zw.coordinates("x")
    friction = zw.Friction(19 * amplitude / 120, slip=v, name="rub")
    system = zw.System(name="dry", kinetic=v**2 / 2, potential=x**2 / 2, constraints=[friction])
    motion = zw.simulate(system, {"x": amplitude, "v_x": 0.0}, {}, until=12.0)
    assert motion.end["x"] / amplitude == pytest.approx(-0.05, abs=1e-8)
    assert motion.events.of("stick")[-1].time == pytest.approx(3 * np.pi, rel=1e-8)


@pytest.mark.parametrize("height", [1e-9, 1e-6, 1.0, 1e9])
def test_ball_dropped_from_any_height_logs_its_impacts(height):
    ball = zw.gallery.get("bouncing_ball")
    fall = np.sqrt(2 * height / 9.81)
    motion = zw.simulate(ball.system, {"y": height, "v_y": 0.0}, ball.params, until=5 * fall)
    wanted = fall * np.cumsum([1.0, *(2 * 0.8**k for k in range(1, 4))])
    assert [event.time for event in motion.events.of("impact")] == pytest.approx(wanted[wanted < 5 * fall], rel=1e-9)


def test_a_state_of_rounding_size_moves():
    # Nothing but a force gives a size here.
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="pushed", kinetic=v**2 / 2, forces={x: sp.cos(zw.t)})
    for start in (0.0, 1e-17, 1e-300):
        motion = zw.simulate(system, {"x": start, "v_x": 0.0}, {}, until=1.0)
        assert motion.status.name == "REACHED"
        assert motion.end["x"] == pytest.approx(1 - np.cos(1.0), rel=1e-9)


def test_a_rod_that_comes_to_rest_on_both_ends_does_so_in_any_length():
    # What rounding of a length is has nothing to do with the angle beside it.
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    m, J, l, g, mu = zw.parameters("m J l g mu")
    tips = [sp.Matrix([x + side * l * sp.cos(th), y + side * l * sp.sin(th)]) for side in (-1, 1)]
    law = {"restitution": sp.Rational(1, 2)}
    ends = [
        zw.Unilateral(tip[1], friction=zw.Coulomb(mu, slip=zw.rate(tip[0])), **law, name=name)
        for tip, name in zip(tips, "ab", strict=True)
    ]
    kinetic = m * (vx**2 + vy**2) / 2 + J * w**2 / 2
    rod = zw.System(name="rod", kinetic=kinetic, potential=m * g * y, constraints=ends)
    found = []
    for size in (1.0, 2.0**30):
        params = {"m": 1.3, "J": 0.1 * size**2, "l": 0.5 * size, "g": 9.81 * size, "mu": 0.3}
        start = {"x": 0.0, "y": 0.25 * size, "theta": 0.4, "v_x": 0.0, "v_y": -size, "v_theta": 0.0}
        motion = zw.simulate(rod, start, params, until=0.7, impact="newton")
        assert motion.status.name == "REACHED"
        assert abs(motion.end["theta"]) < 1e-10
        found.append([(event.kind, event.constraint, round(event.time, 9)) for event in motion.events])
    assert found[0] == found[1]


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_a_force_switches_where_it_should_in_any_unit_of_time(unit):
    # From x = 1 + d towards the kink at 1: x'' = 2 - 3 x beyond it, -x before; in units of w = 1/unit.
    (x,), (v,) = zw.coordinates("x")
    w = zw.parameters("w")
    system = zw.System(name="kink", kinetic=v**2 / 2, forces={x: -(w**2) * (x + 2 * sp.Max(0, x - 1))})
    motion = zw.simulate(system, {"x": 1.001, "v_x": -0.7 / unit}, {"w": 1 / unit}, until=0.5 * unit)
    root, d, speed = np.sqrt(3.0), 1.001 - 2.0 / 3.0, -0.7
    meets = scipy.optimize.brentq(lambda t: d * np.cos(root * t) + speed / root * np.sin(root * t) - 1 / 3, 0, 0.01)
    rate = -root * d * np.sin(root * meets) + speed * np.cos(root * meets)
    left = 0.5 - meets
    assert motion.end["x"] == pytest.approx(np.cos(left) + rate * np.sin(left), rel=1e-9)
    assert motion.a[0, 0] * unit**2 == pytest.approx(-1.003, rel=1e-9)


def resting(name, units):
    system, _, params = in_units(name, units)
    found = zw.equilibria(system, params)
    sizes = sizes_of(system, units)
    names = [item.name for item in system.coordinates]
    return found.status.name, sorted([point.state[name] / sizes[name] for name in names] for point in found.points)


@pytest.mark.parametrize("name", ["four_bar_crank_rocker", "slider_crank"])
def test_equilibria_are_the_same_in_other_units(name):
    status, places = resting(name, Units())
    for units in (Units(length=1e-9), Units(time=1e-9), Units(1e3, 1e-3, 1e3)):
        found, there = resting(name, units)
        assert found == status, units
        assert np.array(there) == pytest.approx(np.array(places), abs=1e-7), units


TRACED = ["ellipse_pendulum", "four_bar", "slider_crank", "circle_particle"]
MORE_TRACED = ["ellipse_pendulum_cartesian", "four_bar_crank_rocker", "four_bar_kite", "n_four_bar"]


@pytest.mark.parametrize("name", [*TRACED, *(pytest.param(name, marks=pytest.mark.nightly) for name in MORE_TRACED)])
def test_configuration_spaces_are_the_same_in_other_units(name):
    def traced(units):
        system, _, params = in_units(name, units)
        space = zw.trace(system, params)
        kinds = sorted(point.kind for point in space.singular_points)
        return space.status.name, space.dimension, len(space.branches), space.components, kinds

    expected = traced(Units())
    for factor in FACTORS:
        assert traced(Units(length=factor)) == expected, factor


def test_critical_lengths_are_the_same_in_other_units():
    for unit in (1.0, 1e-9, 1e9):
        system, _, params = in_units("slider_crank", Units(length=unit))
        found = zw.critical(system, params, vary="l", within=(0.2 * unit, unit))
        assert [value.value / unit for value in found] == pytest.approx([0.5], rel=1e-9), unit  # the crank


def test_limits_are_the_same_in_other_units():
    for units in (Units(), Units(length=1e-9), Units(time=1e-9), Units(mass=1e9)):
        system, state, params = in_units("circle_particle", units)
        study = zw.limit(system, "circle", state, params, by=zw.Stiffness, until=0.3 * units.time, workers=1)
        assert study.status.name == "CONVERGES", units
        assert study.orders["position"].value == pytest.approx(-1.0, abs=0.02), units


def dropped(height, **options):
    """Return a ball let go above the floor."""
    ball = zw.gallery.get("bouncing_ball")
    return zw.simulate(ball.system, {"y": height, "v_y": 0.0}, ball.params, until=1e-3, **options)


def told(motion):
    return {name: size for name, size in motion.provenance.tolerances.items() if name.startswith("size of")}


def test_sizes_that_are_given_stand_in_place_of_those_of_the_start():
    own, given = dropped(1e-12), dropped(1e-12, scales={"y": 1.0})
    assert own.events[0].kind == "impact"
    assert own.events[0].time == pytest.approx(np.sqrt(2e-12 / 9.81), rel=1e-9)
    assert len(given.events) == 0  # a picometre is nothing beside a metre: the ball lies on the floor
    assert told(own)["size of lengths"] == 1e-12
    assert told(given) == {**told(own), "size of lengths": 1.0}


@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_speeds_have_sizes_of_their_own(method):
    motion = dropped(1.0, scales={sp.Symbol("v_y", real=True): 7.0}, method=method)
    assert told(motion) == {"size of lengths": 1.0, "size of speeds": 7.0, "size of spins": 0.0}


def test_motions_side_by_side_have_the_sizes_that_are_given(monkeypatch):
    from zwang._kernels.service import Service

    monkeypatch.setattr(Service, "lanes_from", 0)
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, "a": -0.4}
    one = {name: place(params, -0.3, 0.42)[name] for name in entry.state}
    state = {name: np.full(40, value) for name, value in one.items()}
    fine = zw.simulate(entry.system, state, params, until=20, tol=1e-6)
    coarse = zw.simulate(entry.system, state, params, until=20, tol=1e-6, scales={"x_B": 1e4, "v_x_B": 1e4})
    sharp = zw.simulate(entry.system, one, params, until=20, tol=1e-12).end["y_C"]
    assert abs(fine.end["y_C"][7] - sharp) < 1e-6 < abs(coarse.end["y_C"][7] - sharp)


BAD_SCALES = {
    "unknown": ({"z": 1.0}, "scales= has 'z', which is no coordinate or velocity"),
    "negative": ({"x": -1.0}, r"scales\['x'\]= must be a finite number greater than 0; it was given -1"),
    "a list": ([1.0], "scales= must be a mapping from coordinates or velocities to sizes"),
    "an angle": ({"theta": 2.0}, "has the angle 'theta', and angles have size 1.*'v_theta'"),
}


@pytest.mark.parametrize("case", BAD_SCALES)
def test_sizes_that_make_no_sense_are_refused(case):
    scales, words = BAD_SCALES[case]
    rod = zw.gallery.get("painleve_rod")
    with pytest.raises(zw.DeclarationError, match=words):
        zw.simulate(rod.system, rod.state, rod.params, until=0.1, scales=scales)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e5, 1e9])
def test_a_crossing_is_singular_in_any_length(size):
    # l1 + l4 = l2 + l3: all bars in one line, where the row vanishes; the multiplier there grows like 1/s.
    (a, b), (va, vb) = zw.coordinates("a b", angles="a b")
    l1, l2, l3, l4, g = zw.parameters("l1 l2 l3 l4 g")
    across = l1 * sp.cos(a) - l4 - l3 * sp.cos(b), l1 * sp.sin(a) - l3 * sp.sin(b)
    coupler = zw.Bilateral(across[0] ** 2 + across[1] ** 2 - l2**2, name="coupler")
    kinetic, potential = l1**2 * va**2 / 2 + l3**2 * vb**2 / 2, g * (l1 * sp.sin(a) + 2 * l3 * sp.sin(b))
    system = zw.System(name="four bars", kinetic=kinetic, potential=potential, constraints=[coupler])
    params = {"l1": size, "l2": 2 * size, "l3": 1.5 * size, "l4": 2.5 * size, "g": 9.81 * size}
    point = {"a": np.pi, "b": np.pi, "v_a": 0.0, "v_b": 0.0}
    assert zw.reactions(system, point, params).status.name == "SINGULAR"
    rows = zw.asymptotics(system, params, at=point).rows
    assert [row.exponent for row in rows] == pytest.approx([-1.0] * 4, abs=1e-6)


@pytest.mark.parametrize("units", [Units(mass=1e-9, time=1e9), Units(length=1e-9), Units(length=1e9, time=1e-9)])
def test_redundancy_is_told_in_any_unit(units):
    # A beam on three supports in a line: the middle one carries what both ends give up, and frictions are exchanged.
    (_, y, turn), (vx, vy, w) = zw.coordinates("x y turn")
    m, J, l, g = zw.parameters("m J l g")
    supports = [
        zw.Unilateral(y + side * l * turn, friction=zw.Coulomb(0.3, slip=vx), name=f"s{side + 1}")
        for side in (-1, 0, 1)
    ]
    kinetic = m * (vx**2 + vy**2) / 2 + J * w**2 / 2
    beam = zw.System(name="beam", kinetic=kinetic, potential=m * g * y, constraints=supports)
    rest = dict.fromkeys(("x", "y", "turn", "v_x", "v_y", "v_turn"), 0.0)

    def told(units):
        sizes = {"m": (0, 1, 0), "J": (2, 1, 0), "l": (1, 0, 0), "g": (1, 0, -2)}
        given = {"m": 2.0, "J": 0.3, "l": 0.7, "g": 10.0}
        found = zw.reactions(beam, rest, {key: given[key] * units.of(size) for key, size in sizes.items()})
        return found.redundancy.sentences

    assert told(Units())[0] == "The constraints 's0', 's1' and 's2' depend on each other: 0.5 s0 - s1 + 0.5 s2 = 0."
    assert told(units) == told(Units())
