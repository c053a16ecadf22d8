"""Systems of sympy.physics.mechanics with generalized speeds that are no derivatives of coordinates."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.physics import mechanics as me

m, g, l, r = sp.symbols("m g l r")
A, B, C = sp.symbols("A B C")
clock = me.dynamicsymbols._t
x, y, phi = me.dynamicsymbols("x y phi")
q1, q2, q3, q4, q5 = me.dynamicsymbols("q1:6")
u1, u2, u3, u4, u5, u6 = me.dynamicsymbols("u1:7")


def turned(order: tuple[tuple[Any, str], ...]) -> tuple[Any, list[Any]]:
    """The inertial frame, and the frames that turn one after the other by an angle about an axis."""
    frames = [me.ReferenceFrame("N")]
    for number, (angle, axis) in enumerate(order):
        frames.append(frames[-1].orientnew(f"F{number}", "Axis", [angle, getattr(frames[-1], axis)]))
    return frames[0], frames[1:]


def solved_for_rates(equations: list[Any], q: list[Any]) -> list[Any]:
    """The same kinematics, as dq/dt - (what it is) = 0."""
    found = sp.solve(equations, [item.diff() for item in q], dict=True)[0]
    return [item.diff() - sp.trigsimp(found[item.diff()]) for item in q]


def disc(kind: str) -> Any:
    """A rolling disc: yaw q1, lean q2, spin q3; the speeds are its angular velocity in the frame that leans with it."""
    fixed, (yawed, leaned, spun) = turned(((q1, "z"), (q2, "x"), (q3, "y")))
    turning = spun.ang_vel_in(fixed)
    spun.set_ang_vel(fixed, u1 * leaned.x + u2 * leaned.y + u3 * leaned.z)
    kinematics = [(spun.ang_vel_in(fixed) - turning).dot(axis) for axis in leaned]
    contact = me.Point("contact")
    contact.set_vel(fixed, 0)
    q, more = [q1, q2, q3], {}
    if kind == "explicit":
        kinematics = solved_for_rates(kinematics, q)
    if kind == "contact coordinates":
        q += [q4, q5]
        kinematics += [q4.diff() - r * q3.diff() * sp.cos(q1), q5.diff() - r * q3.diff() * sp.sin(q1)]
    if kind == "explicit contact coordinates":
        q += [q4, q5]
        kinematics += [q4.diff() - r * q3.diff() * sp.cos(q1), q5.diff() - r * q3.diff() * sp.sin(q1)]
        kinematics = solved_for_rates(kinematics, q)
    if kind == "velocity constraints":
        contact.set_vel(fixed, u4 * yawed.x + u5 * yawed.y + u6 * yawed.z)
        more = {"u_dependent": [u4, u5, u6], "velocity_constraints": [u4, u5, u6]}
    if kind == "velocities of the centre":
        q += [x, y]
        kinematics += [x.diff() - u4, y.diff() - u5]
    centre = contact.locatenew("centre", r * leaned.z)
    if kind == "velocities of the centre":
        # Two of the three: the height of the centre follows from the lean.
        centre.set_vel(fixed, u4 * fixed.x + u5 * fixed.y - r * sp.sin(q2) * u1 * fixed.z)
        touching = (centre.vel(fixed) + spun.ang_vel_in(fixed).cross(-r * leaned.z)).to_matrix(fixed)
        more = {"u_dependent": [u4, u5], "velocity_constraints": list(touching[:2])}
    else:
        centre.v2pt_theory(contact, fixed, spun)
    inertia = me.inertia(leaned, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    body = me.RigidBody("disc", centre, spun, m, (inertia, centre))
    method = me.KanesMethod(fixed, q_ind=q, u_ind=[u1, u2, u3], kd_eqs=kinematics, **more)
    method.kanes_equations([body], [(centre, -m * g * fixed.z)])
    return method


def free_body(explicit: bool = False, more: Any = None) -> Any:
    """A rigid body without torques: angles about z, y, x; the speeds are its angular velocity in its own frame."""
    fixed, (_, _, own) = turned(((q1, "z"), (q2, "y"), (q3, "x")))
    turning = own.ang_vel_in(fixed)
    own.set_ang_vel(fixed, u1 * own.x + u2 * own.y + u3 * own.z)
    kinematics = [(own.ang_vel_in(fixed) - turning).dot(axis) for axis in own]
    if explicit:
        kinematics = solved_for_rates(kinematics, [q1, q2, q3])
    centre = me.Point("centre")
    centre.set_vel(fixed, 0)
    body = me.RigidBody("body", centre, own, m, (me.inertia(own, A, B, C), centre))
    independent = [u1, u2] if more else [u1, u2, u3]
    method = me.KanesMethod(fixed, [q1, q2, q3], independent, kinematics, **(more or {}))
    method.kanes_equations([body])
    return method


def double_pendulum(kinematics: list[Any]) -> Any:
    fixed, (first, second) = turned(((q1, "z"), (q2, "z")))
    hinge = me.Point("hinge")
    hinge.set_vel(fixed, 0)
    elbow = hinge.locatenew("elbow", l * first.x)
    end = elbow.locatenew("end", l * second.x)
    elbow.v2pt_theory(hinge, fixed, first)
    end.v2pt_theory(elbow, fixed, second)
    method = me.KanesMethod(fixed, [q1, q2], [u1, u2], kinematics)
    bodies = [me.Particle("one", elbow, m), me.Particle("two", end, 2 * m)]
    pulls = [(elbow, m * g * fixed.x), (end, 2 * m * g * fixed.x - u1 * fixed.y), (second, q1.diff() * fixed.z)]
    method.kanes_equations(bodies, pulls)
    return method


def swapped_and_scaled() -> Any:
    return double_pendulum([u1 - 3 * q2.diff() + q1.diff(), u2 + q2.diff() / 2 - q1.diff() / r])


def driven_kinematics() -> Any:
    """Speeds with time in the matrix and beside it."""
    first = u1 - (2 + sp.cos(clock)) * q1.diff() - sp.sin(clock) * q2 - clock**2
    return double_pendulum([first, u2 - (q2.diff() + sp.sin(q1) * u1) * sp.exp(q2 / 3) + sp.cos(q1 * clock)])


def skates(kind: str = "one") -> Any:
    """A skate in coordinates x, y, phi with the speed along its blade and the rate of turn: two speeds for three."""
    fixed = me.ReferenceFrame("N")
    place = me.Point("skate")
    own = fixed.orientnew("S", "Axis", [phi, fixed.z])
    own.set_ang_vel(fixed, u2 * fixed.z)
    place.set_vel(fixed, u1 * own.x)
    body = me.RigidBody("skate", place, own, m, (me.inertia(own, 0, 0, A), place))
    kinematics = [x.diff() - u1 * sp.cos(phi), y.diff() - u1 * sp.sin(phi), phi.diff() - u2]
    q, u, bodies, loads = [x, y, phi], [u1, u2], [body], [(place, m * g * fixed.x)]
    if kind == "two":
        other = me.Point("other")
        other.set_vel(fixed, u3 * (sp.cos(q3) * fixed.x + sp.sin(q3) * fixed.y) + 0 * fixed.z)
        kinematics += [q1.diff() - u3 * sp.cos(q3), q2.diff() - u3 * sp.sin(q3), q3.diff() - u4]
        wheel = me.ReferenceFrame("W")
        wheel.orient_axis(fixed, fixed.z, q3)
        wheel.set_ang_vel(fixed, u4 * fixed.z)
        q, u = [*q, q1, q2, q3], [*u, u3, u4]
        bodies = [*bodies, me.RigidBody("other", other, wheel, m, (me.inertia(wheel, 0, 0, B), other))]
        loads += [(other, (x - q1) * fixed.x), (place, (q1 - x) * fixed.x)]
    method = me.KanesMethod(fixed, q, u, kinematics)
    method.kanes_equations(bodies, loads)
    return method


def pendulum_in_polar_speeds(dependent: bool) -> Any:
    """A point on a circle in x, y: the speed along it, with or without the one across."""
    fixed, point = me.ReferenceFrame("N"), me.Point("P")
    more: dict[str, Any] = {"u_dependent": [u2], "velocity_constraints": [u2]} if dependent else {}
    across = u2 if dependent else 0
    vx, vy = (across * x - u1 * y) / l, (across * y + u1 * x) / l
    point.set_vel(fixed, vx * fixed.x + vy * fixed.y)
    method = me.KanesMethod(
        fixed,
        q_ind=[x],
        q_dependent=[y],
        u_ind=[u1],
        kd_eqs=[x.diff() - vx, y.diff() - vy],
        configuration_constraints=[x**2 + y**2 - l**2],
        **more,
    )
    method.kanes_equations([me.Particle("body", point, m)], [(point, -m * g * fixed.y)])
    return method
