"""Kane's generalized speeds that are no derivatives: SymPy's own rhs at random states, and motions that conserve."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me

import zwang as zw
from kane_examples import (
    A,
    B,
    C,
    clock,
    disc,
    double_pendulum,
    driven_kinematics,
    free_body,
    g,
    l,
    m,
    pendulum_in_polar_speeds,
    q1,
    q2,
    q3,
    r,
    skates,
    swapped_and_scaled,
    turned,
    u1,
    u2,
    u3,
    u4,
    u5,
    x,
    y,
)
from night import by_day

PARAMETERS = {"m": 1.3, "g": 9.81, "l": 0.8, "r": 0.4, "A": 0.3, "B": 0.7, "C": 0.5}


def value(expr: Any, known: dict[Any, float]) -> Any:
    """The number that an expression in dynamic symbols has."""
    plain = me.msubs(sp.Matrix([expr]), known)
    numbers = PARAMETERS | {"t": known[clock]}
    found = plain.xreplace({symbol: sp.Float(numbers[symbol.name], 30) for symbol in plain.free_symbols})
    return np.array(found.evalf(30).tolist(), dtype=float)


def their_motion(method: Any, seed: int, at: dict[str, float]) -> dict[str, float]:
    """A random state of SymPy's equations: coordinates, velocities and accelerations by zwang's names."""
    source = random.Random(seed)
    known: dict[Any, float] = {clock: 0.7}
    known |= {item: source.uniform(-1.2, 1.2) for item in (*method.q, *method.u)}
    known |= {item: at[item.func.__name__] for item in (*method.q, *method.u) if item.func.__name__ in at}
    if method._udep:
        matrix, rest = value(method._k_nh, known), value(method._f_nh, known)[:, 0]
        free = len(method.u) - len(method._udep)
        chosen = np.array([known[speed] for speed in method.u[:free]])
        found_speeds = np.linalg.solve(matrix[:, free:], -rest - matrix[:, :free] @ chosen)
        known |= dict(zip(method._udep, found_speeds, strict=True))
    changes = np.linalg.solve(value(method.mass_matrix, known), value(method.forcing, known))[:, 0]
    known |= dict(zip(method.u.diff(clock), changes, strict=True))
    kinematics = method.kindiffdict()
    rates = {item.diff(): float(value(kinematics[item.diff()], known)[0, 0]) for item in method.q}
    found = {"t": 0.7}
    for item in method.q:
        second = value(kinematics[item.diff()].diff(clock), known | rates)[0, 0]
        name = item.func.__name__
        found |= {name: known[item], f"v_{name}": rates[item.diff()], f"a_{name}": float(second)}
    for speed, change in zip(method.u, changes, strict=True):
        name = f"q_{speed.func.__name__}"
        found |= {name: source.uniform(-1, 1), f"v_{name}": known[speed], f"a_{name}": float(change)}
    return found


def agree(method: Any, system: zw.System, seeds: int = 2, **at: Any) -> None:
    """Our accelerations are SymPy's at random states, some numbers of which may be given."""
    for seed in range(seeds):
        theirs = their_motion(method, seed, at)
        wanted = np.array([theirs[f"a_{item.name}"] for item in system.coordinates])
        found = zw.reactions(system, given(system, theirs), used(system)).accelerations[0]
        assert np.abs(found - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max())


def given(system: zw.System, known: dict[str, float]) -> dict[str, float]:
    return {name: known[name] for name in ("t", *(item.name for item in (*system.coordinates, *system.velocities)))}


def used(system: zw.System) -> dict[str, float]:
    return {item.name: PARAMETERS[item.name] for item in system.parameters}


KINDS = (
    "plain",
    "explicit",
    "contact coordinates",
    "explicit contact coordinates",
    "velocity constraints",
    "velocities of the centre",
)


# --- accelerations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", by_day(KINDS, KINDS[:3]))
def test_the_rolling_disc_accelerates_as_in_sympy(kind: str) -> None:
    method = disc(kind)
    agree(method, zw.from_sympy(method, name="rolling disc", angles="q1 q2 q3"))


MAKERS = {
    "free body": free_body,
    "free body, solved for rates": lambda: free_body(explicit=True),
    "swapped and scaled": swapped_and_scaled,
    "driven": driven_kinematics,
    "skate": skates,
    "two skates": lambda: skates("two"),
}


@pytest.mark.parametrize("which", MAKERS)
def test_general_speeds_accelerate_as_in_sympy(which: str) -> None:
    method = MAKERS[which]()
    agree(method, zw.from_sympy(method))


@pytest.mark.parametrize("dependent", [False, True])
def test_speeds_along_a_circle_repeat_its_holonomic_constraint(dependent: bool) -> None:
    method = pendulum_in_polar_speeds(dependent)
    system = zw.from_sympy(method)
    assert system.constraints.names == ("holonomic1",)
    agree(method, system, x=0.8 * np.cos(0.7), y=0.8 * np.sin(0.7))


def random_kinematics(seed: int) -> list[Any]:
    """Speeds u = Y(q, t) dq/dt + z(q, t), or dq/dt = B(q, t) u + b(q, t)."""
    source = random.Random(seed)
    shapes = [sp.sin(q1), sp.cos(q2), sp.sin(q1 + clock), q1 * q2 / 5, sp.cos(2 * clock), sp.exp(-(q2**2))]

    def entry(size: float) -> Any:
        return sp.Rational(source.randint(-9, 9), 10) * size * source.choice(shapes)

    matrix = sp.Matrix(2, 2, lambda i, j: entry(sp.Rational(1, 2)) + (2 if i == j else 0))
    rest = sp.Matrix([entry(1), entry(1)])
    speeds, rates = sp.Matrix([u1, u2]), sp.Matrix([q1.diff(), q2.diff()])
    return list(speeds - matrix * rates - rest if seed % 2 else rates - matrix * speeds - rest)


@pytest.mark.parametrize("seed", by_day(range(8), range(2)))
def test_random_kinematics_do_not_change_the_motion(seed: int) -> None:
    method = double_pendulum(random_kinematics(seed))
    agree(method, zw.from_sympy(method), seeds=1)


# --- what the constraints are ----------------------------------------------------------------------------------------


def test_coordinates_beyond_the_speeds_become_constraints() -> None:
    system = zw.from_sympy(disc("contact coordinates"))
    yaw, _, spin, along, across = system.coordinates
    radius = next(item for item in system.parameters if item.name == "r")
    assert system.constraints.names == ("nonholonomic1", "nonholonomic2")
    first, second = (item.expr for item in system.constraints)
    assert sp.simplify(first - (along.velocity - radius * spin.velocity * sp.cos(yaw))) == 0
    assert sp.simplify(second - (across.velocity - radius * spin.velocity * sp.sin(yaw))) == 0


def test_speeds_without_a_coordinate_get_one_and_their_constraints_hold_the_disc() -> None:
    system = zw.from_sympy(disc("velocity constraints"))
    assert [item.name for item in system.coordinates] == ["q1", "q2", "q3", "q_u4", "q_u5", "q_u6"]
    # Rolling upright and straight on, the ground carries the weight and does nothing else.
    state = dict.fromkeys((item.name for item in (*system.coordinates, *system.velocities)), 0.0) | {"v_q3": 3.0}
    found = zw.reactions(system, state, used(system))
    assert found.solutions[0].normal == pytest.approx([0, 0, 1.3 * 9.81], abs=1e-12)


def test_the_coordinate_of_a_speed_takes_no_name_that_is_there() -> None:
    taken = me.dynamicsymbols("q_u2")
    fixed, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(fixed, u1 * fixed.x + u2 * fixed.y)
    method = me.KanesMethod(fixed, [taken], [u1, u2], [taken.diff() - u1])
    method.kanes_equations([me.Particle("body", point, m)])
    system = zw.from_sympy(method, angles=True)
    assert [(item.name, item.angle) for item in system.coordinates] == [("q_u2", True), ("q_u2_", False)]


@pytest.mark.parametrize("angle", [0.0, np.pi / 2])
def test_no_division_by_what_vanishes_at_some_places_only(angle: float) -> None:
    # Solved for the rates, the first pivots of the kinematics are sin q3 and cos q3, where it is regular.
    state = {"q1": 0.3, "q2": 0.2, "q3": angle, "v_q1": 0.4, "v_q2": -0.8, "v_q3": 1.1}
    systems = [zw.from_sympy(free_body(explicit)) for explicit in (False, True)]
    first, second = (zw.reactions(system, state, used(system)).accelerations[0] for system in systems)
    assert np.abs(first).max() > 0.1
    assert np.abs(first - second).max() < 1e-12


def test_velocity_constraints_in_rates_come_back_without_quotients() -> None:
    # SymPy writes them in speeds, with sin q2 and cos q3 in denominators, though nothing is singular there.
    method = free_body(more={"u_dependent": [u3], "velocity_constraints": [q1.diff() * sp.cos(q2) + q3.diff() - 1]})
    system = zw.from_sympy(method)
    q, v = system.coordinates, system.velocities
    assert sp.expand(system.constraints["nonholonomic1"].expr - (v[0] * sp.cos(q[1]) + v[2] - 1)) == 0
    agree(method, system)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi])
def test_skates_are_regular_whichever_way_they_point(angle: float) -> None:
    method = skates("two")
    system = zw.from_sympy(method)
    assert system.constraints.names == ("nonholonomic1", "nonholonomic2")
    agree(method, system, phi=angle, q3=np.pi / 2 - angle, seeds=1)


def test_a_driven_coordinate_without_any_speed_is_a_constraint() -> None:
    fixed, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(fixed, (u1 + x.diff()) * fixed.x)
    method = me.KanesMethod(fixed, [x, y], [u1], [x.diff() - sp.sin(clock), y.diff() - u1])
    method.kanes_equations([me.Particle("body", point, m)])
    system = zw.from_sympy(method)
    assert len(system.constraints) == 1
    state = {"t": 0.3, "x": 0.0, "y": 0.0, "v_x": np.sin(0.3), "v_y": 0.4}
    assert zw.reactions(system, state, used(system)).accelerations[0] == pytest.approx([np.cos(0.3), -np.cos(0.3)])


def test_velocity_constraints_that_follow_on_the_circle_alone_are_left_out() -> None:
    # Off the circle x dx/dt + y dy/dt (x^2 + y^2)/l^2 is no multiple of the rate of x^2 + y^2 - l^2; on it, it is.
    fixed, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(fixed, u1 * fixed.x + u2 * fixed.y)
    method = me.KanesMethod(
        fixed,
        q_ind=[x],
        q_dependent=[y],
        u_ind=[u1],
        u_dependent=[u2],
        kd_eqs=[x.diff() - u1, y.diff() - u2],
        configuration_constraints=[x**2 + y**2 - l**2],
        velocity_constraints=[x * u1 + y * u2 * (x**2 + y**2) / l**2],
    )
    method.kanes_equations([me.Particle("body", point, m)])
    assert zw.from_sympy(method).constraints.names == ("holonomic1",)


def test_entries_of_the_mass_matrix_that_cancel_are_zero() -> None:
    # The partial velocities are orthogonal, which sines and cosines of two frames hide.
    fixed, (_, _, own) = turned(((q1, "z"), (q2, "y"), (q3, "x")))
    point = me.Point("P")
    turned_by_all = own.x.express(fixed), own.y.express(fixed)
    point.set_vel(fixed, u1 * turned_by_all[0] + u2 * turned_by_all[1])
    held = me.RigidBody("held", point, own, m, (me.inertia(own, A, B, C), point))
    method = me.KanesMethod(fixed, [q1, q2, q3], [u1, u2, u3, u4, u5], [q1.diff() - u3, q2.diff() - u4, q3.diff() - u5])
    method.kanes_equations([held])
    mass = zw.from_sympy(method).mass
    assert mass[3, 4] == mass[4, 3] == 0
    assert mass == mass.T


# --- motions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "contact coordinates", "velocity constraints"])
def test_the_rolling_disc_keeps_its_energy(kind: str) -> None:
    system = zw.from_sympy(disc(kind), angles="q1 q2 q3")
    start = {"q2": 0.3, "v_q1": 0.8, "v_q2": -0.2, "v_q3": 6.0}
    if kind == "contact coordinates":
        start |= {"v_q4": 0.4 * 6.0, "v_q5": 0.0}
    state = dict.fromkeys((item.name for item in (*system.coordinates, *system.velocities)), 0.0) | start
    motion = zw.simulate(system, state, used(system), until=2.0)
    assert motion.status.name == "REACHED"
    lean, (yawing, leaning, spinning) = motion.q[:, 1], motion.v[:, :3].T
    w = np.array([leaning, spinning + yawing * np.sin(lean), yawing * np.cos(lean)])
    mass, radius = PARAMETERS["m"], PARAMETERS["r"]
    turning = mass * radius**2 / 8 * (w[0] ** 2 + 2 * w[1] ** 2 + w[2] ** 2)
    energy = turning + mass * radius**2 / 2 * (w[0] ** 2 + w[1] ** 2) + mass * 9.81 * radius * np.cos(lean)
    assert np.ptp(lean) > 0.1
    assert np.abs(energy - energy[0]).max() < 1e-8 * energy[0]


def test_a_free_body_keeps_energy_and_angular_momentum() -> None:
    system = zw.from_sympy(free_body(explicit=True), angles=True)
    state = {"q1": 0.1, "q2": 0.2, "q3": 0.0, "v_q1": 0.4, "v_q2": 0.1, "v_q3": 0.9}
    motion = zw.simulate(system, state, used(system), until=3.0)
    assert motion.status.name == "REACHED"
    fixed, (_, _, own) = turned(((q1, "z"), (q2, "y"), (q3, "x")))
    speed = own.ang_vel_in(fixed).to_matrix(own)
    inertia = sp.diag(*(PARAMETERS[name] for name in "ABC"))
    inputs = [q1.diff(), q2.diff(), q3.diff(), q1, q2, q3]
    energy = sp.lambdify(inputs, (speed.T * inertia * speed)[0] / 2)
    momentum = sp.lambdify(inputs, fixed.dcm(own) * inertia * speed)
    rows = [*motion.v.T, *motion.q.T]
    energies, momenta = energy(*rows), momentum(*rows)[:, 0]
    assert np.ptp(rows[5]) > 1
    assert np.abs(energies - energies[0]).max() < 1e-9
    assert np.abs(momenta - momenta[:, :1]).max() < 1e-9


# --- SymPy's System --------------------------------------------------------------------------------------------------


def test_a_system_with_a_spherical_joint_is_taken_over() -> None:
    """Its speeds are the angular velocity in the body, SymPy's own choice for this joint."""
    ground, top = me.RigidBody("ground"), me.RigidBody("top", mass=m)
    top.central_inertia = me.inertia(top.frame, A, A, C)
    theirs = me.System.from_newtonian(ground)
    arm = -l * top.frame.z
    theirs.add_joints(me.SphericalJoint("J", ground, top, [q1, q2, q3], [u1, u2, u3], child_point=arm, rot_order="ZXZ"))
    theirs.apply_uniform_gravity(-g * ground.frame.z)
    theirs.form_eoms()
    taken = zw.from_sympy(theirs, name="top", angles=True)
    agree(theirs.eom_method, taken)


def test_joints_whose_speeds_are_derivatives_are_taken_over() -> None:
    wall, slider, arm = me.RigidBody("wall"), me.Particle("slider", mass=m), me.RigidBody("arm", mass=m)
    theirs = me.System.from_newtonian(wall)
    theirs.add_joints(
        me.PrismaticJoint("P", wall, slider, x, x.diff()),
        me.PinJoint("J", wall, arm, q1, u1, child_point=-l * arm.frame.x),
    )
    theirs.add_loads(me.Force(slider.masscenter, -r * x.diff() * theirs.x))
    system = zw.from_sympy(theirs)
    state = {"x": 0.2, "q1": 0.3, "v_x": 2.0, "v_q1": 0.0}
    values = {item.name: PARAMETERS.get(item.name, 0.2) for item in system.parameters}
    assert zw.reactions(system, state, values).accelerations[0] == pytest.approx([-0.4 * 2.0 / 1.3, 0])


# --- mistakes --------------------------------------------------------------------------------------------------------


def moving_in_a_plane(kinematics: list[Any], speeds: list[Any]) -> Any:
    fixed, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(fixed, x.diff() * fixed.x + y.diff() * fixed.y)
    method = me.KanesMethod(fixed, [x, y], speeds, kinematics)
    method.kanes_equations([me.Particle("body", point, m)])
    return method


def test_speeds_that_the_kinematics_does_not_determine_are_refused() -> None:
    method = moving_in_a_plane([x.diff() - u1 - u2, y.diff() - 2 * u1 - 2 * u2], [u1, u2])
    message = (
        r"do not determine the speeds 'u1\(t\)', 'u2\(t\)'.*rank 1 everywhere, and 2 are needed. Choose independent"
    )
    with pytest.raises(zw.DeclarationError, match=message):
        zw.from_sympy(method)


def test_rates_that_the_kinematics_does_not_determine_are_refused() -> None:
    hidden = sp.cos(x) ** 2 + sp.sin(x) ** 2
    method = moving_in_a_plane([u1 - x.diff() - y.diff(), u2 - x.diff() - hidden * y.diff()], [u1, u2])
    with pytest.raises(
        zw.DeclarationError, match=r"derivatives of 'x\(t\)', 'y\(t\)'.*rank 1 everywhere. Give 2 independent"
    ):
        zw.from_sympy(method)


def test_kinematics_that_is_not_finite_is_refused() -> None:
    method = moving_in_a_plane([u1 - x.diff(), u2 - y.diff() + sp.zoo], [u1, u2])
    with pytest.raises(zw.DeclarationError, match=r"entries that are not finite. Write them as u - "):
        zw.from_sympy(method)


def test_auxiliary_speeds_of_a_system_are_refused() -> None:
    theirs = me.System.from_newtonian(me.RigidBody("ground"))
    theirs.add_auxiliary_speeds(u4)
    with pytest.raises(zw.DeclarationError, match=r"the System has auxiliary speeds \(u4\(t\)\)"):
        zw.from_sympy(theirs)
