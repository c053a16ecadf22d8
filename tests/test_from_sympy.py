"""Systems from sympy.physics.mechanics: the same accelerations, and multipliers, as SymPy's own equations."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me

import zwang as zw
from zwang._kernels.interpreted import ReferenceBackend

m, g, l, k, c, r = sp.symbols("m g l k c r")
clock = me.dynamicsymbols._t


def values_of(system: zw.System, seed: int = 5) -> dict[str, float]:
    source = random.Random(seed)
    names = [item.name for item in (*system.coordinates, *system.velocities, *system.parameters)]
    return {name: source.uniform(0.5, 1.5) for name in names} | {"t": 0.7}


def ours(system: zw.System, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    def column(symbols: Any) -> np.ndarray:
        return np.array([[values[item.name]] for item in symbols]).reshape(-1, 1)

    kernels = ReferenceBackend().build(system)
    found = kernels.solve(
        np.array([values["t"]]),
        column(system.coordinates),
        column(system.velocities),
        column(system.parameters),
        range(len(system.constraints)),
    )
    return found.accelerations[:, 0], found.multipliers[:, 0]


def numbers(expr: Any, q: Any, u: Any, values: dict[str, float]) -> np.ndarray:
    """The values of SymPy's own expressions."""
    replaced: dict[Any, Any] = {clock: values["t"]}
    for position, speed in zip(q, u, strict=True):
        name = position.func.__name__
        replaced |= {position: values[name], position.diff(): values[f"v_{name}"], speed: values[f"v_{name}"]}
    matrix = sp.Matrix([expr]) if isinstance(expr, sp.Expr) else sp.Matrix(expr)
    plain = me.msubs(matrix, {key: value for key, value in replaced.items() if key != clock})
    plain = plain.subs({symbol: values[symbol.name] for symbol in plain.free_symbols})
    return np.array(plain.evalf().tolist(), dtype=float)


def agree_with_lagrange(method: Any, system: zw.System) -> None:
    """SymPy's equations of motion vanish at our accelerations and minus our multipliers."""
    equations = method.form_lagranges_equations()
    values = values_of(system)
    accelerations, multipliers = ours(system, values)
    second = dict(zip(method.q.diff().diff(), accelerations, strict=True))
    second |= dict(zip(method.lam_vec, -multipliers, strict=True))
    left = numbers(me.msubs(equations, second), method.q, method.q.diff(), values)
    assert np.abs(left).max() < 1e-12 * max(1.0, np.abs(accelerations).max(), np.abs(multipliers).max(initial=0))
    if method.coneqs:
        held = numbers(me.msubs(method.coneqs.diff(clock), second), method.q, method.q.diff(), values)
        assert np.abs(held).max() < 1e-12 * max(1.0, np.abs(accelerations).max())


def agree_with_kane(method: Any, system: zw.System) -> None:
    values = values_of(system)
    by_name = {item.name: value for item, value in zip(system.coordinates, ours(system, values)[0], strict=True)}
    mass = numbers(method.mass_matrix, method.q, in_order(method), values)
    force = numbers(method.forcing, method.q, in_order(method), values)
    theirs = np.linalg.solve(mass, force)[:, 0]
    speed_of = {speed: position.func.__name__ for position, speed in zip(method.q, in_order(method), strict=True)}
    assert theirs == pytest.approx([by_name[speed_of[speed]] for speed in method.u], rel=1e-9)


def in_order(method: Any) -> list[Any]:
    """The speeds in the order of their coordinates."""
    return [method.kindiffdict()[position.diff()] for position in method.q]


# --- Lagrange --------------------------------------------------------------------------------------------------------


def pendulum_in_the_plane() -> Any:
    x, y = me.dynamicsymbols("x y")
    lagrangian = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    return me.LagrangesMethod(lagrangian, [x, y], hol_coneqs=[x**2 + y**2 - l**2])


def rolling_disc() -> Any:
    """A vertical disc that rolls without slipping: two nonholonomic constraints."""
    x, y, phi, psi = me.dynamicsymbols("x y phi psi")
    kinetic = m * (x.diff() ** 2 + y.diff() ** 2) / 2 + m * r**2 * (phi.diff() ** 2 / 4 + psi.diff() ** 2 / 8)
    rolling = [x.diff() - r * phi.diff() * sp.cos(psi), y.diff() - r * phi.diff() * sp.sin(psi)]
    return me.LagrangesMethod(kinetic - m * g * x / 3, [x, y, phi, psi], nonhol_coneqs=rolling)


def driven_oscillator() -> Any:
    """A point on a moving support, with a damper in the list of forces, and time in the Lagrangian."""
    q = me.dynamicsymbols("q")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, (q.diff() + sp.cos(clock)) * frame.x)
    lagrangian = m * (q.diff() + sp.cos(clock)) ** 2 / 2 - k * q**2 / 2
    return me.LagrangesMethod(lagrangian, [q], forcelist=[(point, -c * q.diff() * frame.x)], frame=frame)


def turned_by_a_torque() -> Any:
    theta = me.dynamicsymbols("theta")
    fixed, turning = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    turning.orient_axis(fixed, fixed.z, theta)
    torque = [(turning, -c * theta.diff() * fixed.z)]
    lagrangian = m * l**2 * theta.diff() ** 2 / 2 + m * g * l * sp.cos(theta)
    return me.LagrangesMethod(lagrangian, [theta], forcelist=torque, frame=fixed)


@pytest.mark.parametrize("make", [pendulum_in_the_plane, rolling_disc, driven_oscillator, turned_by_a_torque])
def test_lagranges_equations_of_sympy_hold_at_our_accelerations(make: Callable[[], Any]) -> None:
    method = make()
    agree_with_lagrange(method, zw.from_sympy(method, name="taken over"))


def test_a_lagrangian_gives_energies_and_constraints_of_both_levels() -> None:
    pendulum = zw.from_sympy(pendulum_in_the_plane())
    assert pendulum.potential == g * m * pendulum.coordinates[1]
    assert pendulum.constraints["holonomic1"].level == "position"
    disc = zw.from_sympy(rolling_disc(), angles="phi psi")
    assert [item.level for item in disc.constraints] == ["velocity", "velocity"]
    assert disc.constraints.names == ("nonholonomic1", "nonholonomic2")
    assert [item.angle for item in disc.coordinates] == [False, False, True, True]


def test_explicit_time_becomes_the_time_of_zwang() -> None:
    assert zw.t in zw.from_sympy(driven_oscillator()).kinetic.free_symbols


# --- Kane ------------------------------------------------------------------------------------------------------------


def oscillator_of_kane() -> Any:
    q, u = me.dynamicsymbols("q u")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, u * frame.x)
    method = me.KanesMethod(frame, q_ind=[q], u_ind=[u], kd_eqs=[q.diff() - u])
    method.kanes_equations([me.Particle("body", point, m)], [(point, (-k * q - c * u + sp.sin(clock)) * frame.x)])
    return method


def pendulum_of_kane() -> Any:
    """A point on a circle with one dependent coordinate and one dependent speed; the speeds in another order."""
    x, y, ux, uy = me.dynamicsymbols("x y ux uy")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, ux * frame.x + uy * frame.y)
    method = me.KanesMethod(
        frame,
        q_ind=[x],
        q_dependent=[y],
        u_ind=[uy],
        u_dependent=[ux],
        kd_eqs=[x.diff() - ux, y.diff() - uy],
        configuration_constraints=[x**2 + y**2 - l**2],
        velocity_constraints=[x * ux + y * uy],
    )
    method.kanes_equations([me.Particle("body", point, m)], [(point, -m * g * frame.y)])
    return method


def skate_of_kane() -> Any:
    """A skate: a body that can't move across its blade."""
    x, y, phi, ux, uy, w = me.dynamicsymbols("x y phi ux uy w")
    frame, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    body.orient_axis(frame, frame.z, phi)
    body.set_ang_vel(frame, w * frame.z)
    centre = me.Point("C")
    centre.set_vel(frame, ux * frame.x + uy * frame.y)
    disc = me.RigidBody("disc", centre, body, m, (me.inertia(body, 0, 0, m * r**2), centre))
    method = me.KanesMethod(
        frame,
        q_ind=[x, y, phi],
        u_ind=[ux, w],
        u_dependent=[uy],
        kd_eqs=[x.diff() - ux, y.diff() - uy, phi.diff() - w],
        velocity_constraints=[-ux * sp.sin(phi) + uy * sp.cos(phi)],
    )
    method.kanes_equations([disc], [(centre, m * g * frame.x)])
    return method


@pytest.mark.parametrize("make", [oscillator_of_kane, pendulum_of_kane, skate_of_kane])
def test_kanes_equations_of_sympy_give_our_accelerations(make: Callable[[], Any]) -> None:
    method = make()
    agree_with_kane(method, zw.from_sympy(method, name="taken over"))


def test_velocity_constraints_that_repeat_holonomic_ones_are_left_out() -> None:
    assert zw.from_sympy(pendulum_of_kane()).constraints.names == ("holonomic1",)
    assert zw.from_sympy(skate_of_kane()).constraints.names == ("nonholonomic1",)


def test_the_multiplier_of_a_pendulum_of_kane_is_the_pull_of_its_rod() -> None:
    # Hanging at rest at (0, -l): the gradient of x^2 + y^2 - l^2 is (0, -2 l), and -2 l lam = m g holds the weight.
    system = zw.from_sympy(pendulum_of_kane())
    values = {"x": 0.0, "y": -2.0, "v_x": 0.0, "v_y": 0.0, "m": 3.0, "g": 9.81, "l": 2.0, "t": 0.0}
    assert ours(system, values)[1] == pytest.approx([-3 * 9.81 / (2 * 2.0)])


# --- SymPy's System --------------------------------------------------------------------------------------------------


def crank_and_rod() -> Any:
    """Two bodies on pin joints, the far end of the second kept at a height by a holonomic constraint."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1:3 u1:3")
    ground = me.RigidBody("ground")
    bodies = [me.RigidBody(f"link{i}", mass=m) for i in (1, 2)]
    system = me.System.from_newtonian(ground)
    for number, parent, child, q, u in ((1, ground, bodies[0], q1, u1), (2, *bodies, q2, u2)):
        at = None if number == 1 else l * parent.frame.x / 2
        arm = -l * child.frame.x / 2
        system.add_joints(
            me.PinJoint(f"J{number}", parent, child, q, u, parent_point=at, child_point=arm, joint_axis=ground.frame.z)
        )
    system.apply_uniform_gravity(-g * ground.frame.y)
    system.q_ind, system.q_dep, system.u_ind, system.u_dep = [q1], [q2], [u1], [u2]
    system.add_holonomic_constraints(l * sp.sin(q1) + l * sp.sin(q1 + q2) - r)
    return system


def test_a_system_of_sympy_is_taken_over_with_its_joints_and_constraints() -> None:
    theirs = crank_and_rod()
    theirs.form_eoms()
    taken = zw.from_sympy(theirs, name="slider-crank", angles=True)
    assert taken.constraints.names == ("holonomic1",)
    agree_with_kane(theirs.eom_method, taken)


def test_a_system_whose_equations_are_lagranges_is_taken_over_with_its_energies() -> None:
    q = me.dynamicsymbols("q")
    wall, bob = me.RigidBody("wall"), me.Particle("bob", mass=m)
    bob.potential_energy = k * q**2 / 2
    theirs = me.System.from_newtonian(wall)
    theirs.add_joints(me.PrismaticJoint("J", wall, bob, q, q.diff()))
    theirs.add_loads((bob.masscenter, -c * q.diff() * theirs.x))
    with pytest.raises(zw.DeclarationError, match=r"'bob' has a potential energy, which Kane's method would not see"):
        zw.from_sympy(theirs)
    theirs.form_eoms(me.LagrangesMethod)
    taken = zw.from_sympy(theirs)
    assert taken.potential == k * taken.coordinates[0] ** 2 / 2
    agree_with_lagrange(theirs.eom_method, taken)


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_a_kanes_method_without_bodies_or_kinematics_is_refused() -> None:
    q, u = me.dynamicsymbols("q u")
    frame = me.ReferenceFrame("N")
    with pytest.raises(zw.DeclarationError, match="has no bodies"):
        zw.from_sympy(me.KanesMethod(frame, [q], [u], [q.diff() - u]))
    body = me.Particle("body", me.Point("P"), m)
    with pytest.raises(zw.DeclarationError, match="no kinematical equations"):
        zw.from_sympy(me.KanesMethod(frame, [q], [u], bodies=[body]))


def test_auxiliary_speeds_are_refused() -> None:
    q, u, extra = me.dynamicsymbols("q u extra")
    method = me.KanesMethod(me.ReferenceFrame("N"), [q], [u], [q.diff() - u], u_auxiliary=[extra])
    with pytest.raises(zw.DeclarationError, match=r"auxiliary speeds \(extra\(t\)\)"):
        zw.from_sympy(method)


def test_an_unknown_function_of_time_is_refused() -> None:
    q, drive = me.dynamicsymbols("q drive")
    method = me.LagrangesMethod(m * q.diff() ** 2 / 2 + q * drive, [q])
    with pytest.raises(zw.DeclarationError, match=r"the Lagrangian has 'drive\(t\)', which is neither a coordinate"):
        zw.from_sympy(method)


def test_anything_else_is_refused() -> None:
    with pytest.raises(zw.DeclarationError, match="takes a LagrangesMethod, KanesMethod or System"):
        zw.from_sympy("m*x")
