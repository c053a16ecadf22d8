"""Facts of the gallery's systems with friction, checked against their equations alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog, minimize_scalar

import zwang as zw
from gallery_states import Numbers, numbers
from zwang._derive import derive

get = zw.gallery.get


def compliance(found: Numbers) -> tuple[float, float]:
    """(M^-1 n, n) and (M^-1 n, t) of the first contact."""
    carried = np.linalg.solve(found.mass, found.rows[0])
    return float(found.rows[0] @ carried), float(found.slip_rows[0] @ carried)


def bound_of_uniqueness(found: Numbers) -> float:
    """The friction at which the sliding contact has no stiffness left in one direction."""
    own, across = compliance(found)
    return own / abs(across)


# --- Painlevé's rod --------------------------------------------------------------------------------------------------


def test_painleve_rod_slides_with_the_normal_force_in_closed_form() -> None:
    rod = get("painleve_rod")
    found = numbers(rod)
    assert found.slip == pytest.approx([-1.0])
    _, force = found.sliding([-1])
    assert force == pytest.approx([rod.facts["normal_force"].value], rel=1e-12)
    assert force == pytest.approx([51.3198048696], rel=1e-11)  # the figure that is asked of `reactions`


def test_painleve_rod_has_its_smallest_paradox_friction_at_the_angle_whose_tangent_is_two() -> None:
    rod = get("painleve_rod")
    l = rod.params["l"]

    def bound(theta: float) -> float:
        place = {"theta": theta, "x": l * math.cos(theta), "y": l * math.sin(theta)}
        return bound_of_uniqueness(numbers(rod, place))

    least = minimize_scalar(bound, bounds=(0.9, 1.3), method="bounded", options={"xatol": 1e-9})
    assert least.fun == pytest.approx(4 / 3, rel=1e-12)
    assert least.fun == pytest.approx(rod.facts["smallest_paradox_friction"].value, rel=1e-12)
    assert rod.facts["angle_of_smallest_paradox_friction"].value == pytest.approx(math.atan(2), rel=1e-14)
    assert least.x == pytest.approx(math.atan(2), abs=1e-6)  # a minimum is only located to the square root
    assert bound(math.pi / 3) == pytest.approx(rod.facts["paradox_friction"].value, rel=1e-12)


def test_a_spinning_painleve_rod_has_two_answers() -> None:
    rod = get("painleve_rod")
    l, theta, spin = rod.params["l"], rod.state["theta"], 4.0
    # The tip moves with -1 along the floor and 0 across it.
    moving = {"v_theta": spin, "v_x": -1 - l * math.sin(theta) * spin, "v_y": l * math.cos(theta) * spin}
    found = numbers(rod, moving, {"mu": 1.4})
    assert found.slip == pytest.approx([-1.0])
    assert found.rate == pytest.approx([0.0], abs=1e-15)
    assert found.sliding([-1])[1] == pytest.approx([rod.facts["normal_force_spinning"].value], rel=1e-12)
    free = np.linalg.solve(found.mass, found.force)
    gap = float(found.rows[0] @ free - found.gamma[0])
    assert gap == pytest.approx(rod.facts["gap_acceleration_spinning"].value, rel=1e-12)
    assert gap > 0


def test_the_plastic_impulse_of_painleve_rod_stops_its_tip() -> None:
    rod = get("painleve_rod")
    found = numbers(rod)
    directions = np.vstack([found.rows, found.slip_rows])
    jump = np.linalg.solve(found.mass, directions.T @ np.array(rod.facts["plastic_impulse"].value))
    assert directions @ jump == pytest.approx([0.0, 1.0], abs=1e-12)
    assert rod.facts["plastic_impulse"].value == pytest.approx((0.3247595264, 7 / 16), rel=1e-9)


# --- Ivanov's examples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["painleve_rod_tip", "ladder"])
def test_the_rod_in_the_coordinates_of_its_foot_has_ivanovs_matrix_and_its_inverse(name: str) -> None:
    entry = get(name)
    unit = {symbol: 1 for symbol in entry.system.parameters if symbol.name in ("m", "J")}
    mass = derive(entry.system).mass.subs(unit)
    assert sp.simplify(mass - entry.facts["mass"].formula) == sp.zeros(3)
    assert sp.simplify(mass * entry.facts["inverse_mass"].formula - sp.eye(3)) == sp.zeros(3)


def test_the_rod_slides_with_the_normal_force_of_example_5() -> None:
    rod = get("painleve_rod_tip")
    found = numbers(rod)
    assert found.sliding([1])[1] == pytest.approx([rod.facts["normal_force"].value], rel=1e-12)
    assert bound_of_uniqueness(found) == pytest.approx(rod.facts["paradox_friction"].value, rel=1e-12)


def test_the_ladder_has_the_normals_and_tangents_of_example_6() -> None:
    ladder = get("ladder")
    equations = derive(ladder.system)
    assert (equations.rows - ladder.facts["normals"].formula).expand() == sp.zeros(2, 3)
    assert (equations.slip_rows - ladder.facts["tangents"].formula).expand() == sp.zeros(2, 3)
    n, t = ladder.facts["normals"].formula, ladder.facts["tangents"].formula
    a, h = t[1, 2] / 2, -n[1, 2] / 2
    s, s_wall = sp.symbols("s s_wall")
    # (4.8), unsymmetrized, with friction s t_1 and s_wall t_2: the four entries that are printed after (4.16).
    omega = (n + sp.diag(s, s_wall) * t) * ladder.facts["inverse_mass"].formula * n.T
    printed = sp.Matrix(
        [[1 + a**2 - s * a * h, a * h + s * (1 - h**2)], [a * h + s_wall * (1 - a**2), 1 + h**2 - s_wall * a * h]]
    )
    assert (omega - printed).expand() == sp.zeros(2)


def test_the_floor_of_a_ladder_at_rest_carries_anything_in_an_interval() -> None:
    ladder = get("ladder")
    found = numbers(ladder)
    # Unknown N1, N2, T1, T2 >= 0 or free, in equilibrium, within both friction cones.
    equilibrium = np.vstack([found.rows, found.slip_rows]).T
    mu = found.bounds
    cones = np.array([[-mu[0], 0, 1, 0], [-mu[0], 0, -1, 0], [0, -mu[1], 0, 1], [0, -mu[1], 0, -1]])
    ends = []
    for sign in (1, -1):
        best = linprog(
            [sign, 0, 0, 0],
            A_ub=cones,
            b_ub=np.zeros(4),
            A_eq=equilibrium,
            b_eq=-found.force,
            bounds=[(0, None), (0, None), (None, None), (None, None)],
        )
        ends.append(sign * best.fun)
    assert ends == pytest.approx(ladder.facts["floor_force_range"].value, rel=1e-9)
    # For unit gravity this is the interval [0.9262, 1.0408] of the independent check of the paper.
    assert np.array(ends) / ladder.params["g"] == pytest.approx([0.9262, 1.0408], abs=5e-5)


def test_a_ladder_jams_by_forces_along_the_rod() -> None:
    ladder = get("ladder")
    found = numbers(ladder)
    mu, mu_wall = ladder.facts["wedging_frictions"].value
    # Unit normal force of the floor with friction towards the wall, balanced by the wall: T1 = mu N1, T2 = -mu_wall N2.
    wall = mu
    total = found.rows[0] - mu * found.slip_rows[0] + wall * (found.rows[1] - mu_wall * found.slip_rows[1])
    assert total == pytest.approx(np.zeros(3), abs=1e-12)


def test_the_bounds_of_the_ladders_contacts_are_those_of_each_contact_alone() -> None:
    ladder = get("ladder")
    found = numbers(ladder)
    for j, name in enumerate(("paradox_friction", "paradox_friction_wall")):
        carried = np.linalg.solve(found.mass, found.rows[j])
        bound = found.rows[j] @ carried / abs(found.slip_rows[j] @ carried)
        assert bound == pytest.approx(ladder.facts[name].value, rel=1e-12)


def test_an_accelerating_floor_enters_the_bias_of_its_contact() -> None:
    found = numbers(get("ladder"), params={"floor_acceleration": 0.5, "wall_acceleration": -0.25})
    assert found.gamma == pytest.approx([0.5, -0.25])


def test_atwoods_weights_start_to_slip_with_the_corrected_sign_of_friction() -> None:
    machine = get("atwood")
    found = numbers(machine)
    acceleration, tension = found.sliding([-1])
    facts = machine.facts
    assert tension == pytest.approx([facts["tension"].value], rel=1e-12)
    assert acceleration == pytest.approx(facts["acceleration"].value * np.array([1, -1]), rel=1e-12)
    assert found.slip_rows[0] @ acceleration < 0  # the slip that the friction opposes
    assert found.bounds[0] * tension[0] == pytest.approx(facts["friction"].value, rel=1e-12)
    # The example m = (1, 3), 2 mu = 1/4 of the independent check: w1 = -2/7 g, where the paper's formula gives -5/7.
    assert facts["acceleration"].value / machine.params["g"] == pytest.approx(-2 / 7, rel=1e-12)


def test_atwoods_weights_are_held_by_enough_friction() -> None:
    machine = get("atwood")
    found = numbers(machine)
    reactions = np.linalg.solve(np.vstack([found.rows, found.slip_rows]).T, -found.force)
    assert reactions[0] == pytest.approx(machine.facts["tension_held"].value, rel=1e-12)
    assert abs(reactions[1]) / (2 * reactions[0]) == pytest.approx(machine.facts["holding_friction"].value, rel=1e-12)


def test_the_string_of_changing_length_has_the_tension_of_example_1() -> None:
    machine = get("atwood_changing_length")
    acceleration, tension = numbers(machine).solve()
    assert tension == pytest.approx([machine.facts["tension"].value], rel=1e-12)
    assert acceleration[0] == pytest.approx(machine.facts["acceleration"].value, rel=1e-12)
    slack = numbers(machine, params={"gamma": machine.facts["slack"].value}).solve()[1]
    assert slack == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("prefix", ["", "second_"])
def test_the_pyramid_obeys_the_laws_with_the_accelerations_and_forces_of_example_2(prefix: str) -> None:
    pile = get("pyramid")
    pushes = {f"P{i + 1}": push for i, push in enumerate(pile.facts["second_pushes"].value)} if prefix else {}
    found = numbers(pile, params=pushes)
    acceleration = np.array(pile.facts[f"{prefix}acceleration"].value)
    friction = np.array(pile.facts[f"{prefix}friction"].value)
    assert found.mass @ acceleration == pytest.approx(found.force + found.slip_rows.T @ friction, abs=1e-12)
    slip = found.slip_rows @ acceleration
    sliding = np.abs(slip) > 1e-9
    assert friction[sliding] == pytest.approx(-found.bounds[sliding] * np.sign(slip[sliding]))
    assert (np.abs(friction) <= found.bounds + 1e-12).all()


def test_the_pyramid_has_ivanovs_matrix_and_a_tridiagonal_inverse() -> None:
    pile = get("pyramid")
    mass = derive(pile.system).mass
    assert (mass - pile.facts["mass"].formula).expand() == sp.zeros(3)
    assert sp.simplify(mass * pile.facts["inverse_mass"].formula) == sp.eye(3)
    inverse = np.linalg.inv(numbers(zw.gallery.pyramid(6)).mass)
    assert np.abs(np.triu(inverse, 2)).max() < 1e-12


def test_two_particles_turn_about_the_first_one_between_the_two_limits() -> None:
    pair = get("two_particles")
    found = numbers(pair)
    acceleration = np.array(pair.facts["acceleration"].value)
    # A = diag(2 m, m, m) at the start, and the second particle rubs against its acceleration with mu m g = 1.
    assert found.mass == pytest.approx(np.diag([2.0, 1.0, 1.0]))
    assert found.bounds == pytest.approx([1.0, 1.0])
    carried = found.mass @ acceleration - found.force - found.slip_rows[2:].T @ np.array([0.0, -1.0])
    first = np.linalg.lstsq(found.slip_rows[:2].T, carried, rcond=None)[0]
    assert found.slip_rows[:2].T @ first == pytest.approx(carried, abs=1e-12)
    assert np.hypot(*first) < 1.0
    assert pair.facts["rest_limit"].value < pair.params["S"] < pair.facts["turning_limit"].value


def test_two_particles_reach_their_limits_where_friction_is_exhausted() -> None:
    pair = get("two_particles")
    rest = numbers(pair, params={"S": pair.facts["rest_limit"].value}).force
    assert abs(rest[2]) == pytest.approx(1.0, rel=1e-12)
    turning = numbers(pair, params={"S": pair.facts["turning_limit"].value}).force
    assert np.hypot(turning[0], turning[1]) == pytest.approx(1.0, rel=1e-12)
    assert turning[0] == pytest.approx(pair.facts["direction_at_turning_limit"].value, rel=1e-12)
    assert pair.facts["direction_at_turning_limit"].value == pytest.approx(math.sqrt(4 / 7), rel=1e-12)
    far = numbers(pair, params={"S": 1e9})
    free = np.linalg.solve(far.mass, far.force)
    slips = (far.slip_rows @ free).reshape(2, 2)
    assert slips[:, 0] / np.hypot(*slips.T) == pytest.approx(pair.facts["directions_for_large_force"].value, rel=1e-9)
    assert pair.facts["directions_for_large_force"].value == pytest.approx((0.5, math.sqrt(3 / 28)), rel=1e-12)


# --- blocks ----------------------------------------------------------------------------------------------------------


def test_the_block_on_the_incline_is_held_by_less_than_the_bound() -> None:
    block = get("incline_block")
    found = numbers(block)
    normal, friction = np.linalg.solve(np.vstack([found.rows, found.slip_rows]).T, -found.force)
    assert normal == pytest.approx(block.facts["normal_force"].value, rel=1e-12)
    assert friction == pytest.approx(block.facts["friction"].value, rel=1e-12)
    assert abs(friction) < found.bounds[0] * normal
    down = numbers(block, {"v_x": 1.0}).sliding([1])[0]
    assert down[0] == pytest.approx(block.facts["sliding_acceleration"].value, rel=1e-12)
    steep = numbers(block, {"v_x": 1.0}, {"slope": block.facts["friction_angle"].value}).sliding([1])[0]
    assert steep[0] == pytest.approx(0.0, abs=1e-14)


def test_the_block_on_the_belt_sticks_and_is_torn_off_at_the_times_in_closed_form() -> None:
    block = get("belt_block")
    m, g, mu, k, belt = (block.params[name] for name in ("m", "g", "mu", "k", "belt_speed"))
    w, s = math.sqrt(k / m), mu * m * g / k
    times = np.linspace(0, block.facts["stick_time"].value, 4)
    for time in times:  # x = s (1 - cos(w t)) solves the equations while the belt is faster
        here = {"x": s * (1 - math.cos(w * time)), "v_x": s * w * math.sin(w * time)}
        assert numbers(block, here).sliding([-1])[0][0] == pytest.approx(s * w**2 * math.cos(w * time), abs=1e-12)
    assert here["v_x"] == pytest.approx(belt, rel=1e-12)
    assert here["x"] == pytest.approx(block.facts["stick_place"].value, rel=1e-12)
    # Carried along, it is torn off where the spring needs all the friction there is.
    at_end = numbers(block, {"x": block.facts["slip_place"].value, "v_x": belt})
    normal, friction = np.linalg.solve(np.vstack([at_end.rows, at_end.slip_rows]).T, -at_end.force)
    assert friction == pytest.approx(at_end.bounds[0] * normal, rel=1e-12)
    carried = block.facts["slip_time"].value - block.facts["stick_time"].value
    assert here["x"] + belt * carried == pytest.approx(block.facts["slip_place"].value, rel=1e-12)
    assert belt == pytest.approx(block.facts["amplitude"].value * w, rel=1e-12)


@pytest.mark.parametrize("n", [1, 3])
def test_a_tower_carries_its_weight_evenly(n: int) -> None:
    tower = zw.gallery.stack(n)
    acceleration, forces = numbers(tower).solve()
    assert acceleration == pytest.approx(np.zeros(3 * n), abs=1e-12)
    assert forces.reshape(n, 2).sum(axis=1) == pytest.approx(tower.facts["pair_forces"].value, rel=1e-12)
    share = forces.reshape(n, 2)[:, 0] / forces.reshape(n, 2).sum(axis=1)
    assert share == pytest.approx(np.full(n, tower.facts["corner_share"].value), rel=1e-12)


def test_the_contacts_of_a_tilted_tower_are_seen_from_the_block_below() -> None:
    # Both blocks turned about the origin together: every gap stays closed and nothing slips while they turn as one.
    tower = zw.gallery.stack(2)
    angle, spin = 0.2, 0.7
    state = {}
    for i, height in ((1, 0.5), (2, 1.5)):
        x, y = -height * math.sin(angle), height * math.cos(angle)
        state |= {f"x{i}": x, f"y{i}": y, f"theta{i}": angle}
        state |= {f"v_x{i}": -spin * y, f"v_y{i}": spin * x, f"v_theta{i}": spin}
    found = numbers(tower, state)
    assert found.value[2:] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert found.slip[2:] == pytest.approx([0.0, 0.0], abs=1e-15)
