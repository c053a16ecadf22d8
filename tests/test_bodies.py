"""Bodies in space: equations by recursion against SymPy's Lagrangian and MuJoCo, both kinds of coordinates, files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import sympy as sp

import zwang as zw


def double_arm() -> zw.Bodies:
    """Two bodies on a revolute and a universal joint, with everything that a joint can have."""
    arm = zw.Bodies("arm", gravity=(0, 0, "-g"))
    arm.body("link", mass="m", inertia=("J", "J", 0), at=(0, 0, "-l/2"))
    arm.body(
        "fore", mass=1.5, inertia=(0.1, 0.2, 0.15, 0.01, 0.02, 0.03), at=(0, 0.1, "-3*l/2"), turned=((0, 1, 0), 0.3)
    )
    arm.revolute("hinge", "ground", "link", at=(0, 0, 0), axis=(0, 1, 0), damping="c", limits=(-2, 2), armature=0.2)
    arm.universal("u", "link", "fore", at=(0, 0, "-l"), axes=((1, 0, 0), (0, 1, 0)), stiffness=(0, 2.0))
    arm.point("tip", on="fore", at=(0, 0, -0.5)).point("hook", on="ground", at=(1, 0, 0))
    arm.spring("tip", "hook", stiffness=3, length=0.4, damping=0.2).force("tip", (0, "F*cos(t)", 0))
    return arm.motor("hinge", "2*sin(t)")


VALUES = {"m": 3.0, "l": 1.0, "J": 0.25, "g": 10.0, "c": 0.1, "F": 0.7}
STATE = {"hinge": 0.4, "v_hinge": 0.3, "u_1": 0.5, "u_2": -0.4, "v_u_1": 1.0, "v_u_2": 2.0, "t": 0.3}


def test_recursion_gives_the_mass_and_forces_of_the_lagrangian() -> None:
    system = double_arm().system()
    equations = zw.derive(system)
    put = {item: STATE[item.name] for item in (*system.coordinates, *system.velocities)}
    put |= {item: VALUES[item.name] for item in system.parameters} | {zw.t: STATE["t"]}
    terms: Any = zw.compile(system).terms(STATE, VALUES)
    np.testing.assert_allclose(terms.mass[:, :, 0], np.array(equations.mass.subs(put)).astype(float), atol=1e-13)
    np.testing.assert_allclose(terms.force[:, 0], np.array(equations.force.subs(put)).astype(float).ravel(), atol=1e-12)
    energies = np.array(equations.energies.subs(put)).astype(float).ravel()
    np.testing.assert_allclose(terms.energies[:, 0], energies, atol=1e-12)


def test_file_pickle_and_digest_keep_a_tree(tmp_path: Any) -> None:
    for kind in ("joint", "cartesian"):
        system = double_arm().system(coordinates=kind)
        system.save(tmp_path / "arm.toml")
        assert zw.load(tmp_path / "arm.toml") == system
        assert pickle.loads(pickle.dumps(system)) == system
        less = system.replace(constraints=[item for item in system.constraints if item.name != "hinge low"])
        less.save(tmp_path / "less.toml")
        assert zw.load(tmp_path / "less.toml") == less != system
        assert double_arm().system(coordinates=kind).digest == system.digest


def test_joint_and_cartesian_coordinates_move_alike() -> None:
    arm = double_arm()
    joint, cartesian = arm.system(), arm.system(coordinates="cartesian")
    placed: dict[str, float] = {"hinge": STATE["hinge"], "v_hinge": STATE["v_hinge"]}
    placed |= {"u_2": STATE["u_2"], "v_u_2": STATE["v_u_2"], "t": STATE["t"]}
    for body in ("link", "fore"):
        pose = arm.pose(body, STATE, VALUES)
        placed |= arm.place(body, at=pose.position, turned=pose.rotation, velocity=pose.velocity, spin=pose.spin)
    state = zw.compile(cartesian).project(placed, VALUES)
    assert zw.compile(cartesian).check(state, VALUES) < 1e-9
    first = zw.simulate(joint, STATE, VALUES, until=0.6)
    second = zw.simulate(cartesian, state, VALUES, until=0.6)
    assert first.status == second.status == zw.results.MotionStatus.REACHED
    for body in ("link", "fore"):
        a, b = (arm.pose(body, motion.at(0.6), VALUES) for motion in (first, second))
        # Both motions are good to 1e-10 of the integrator's tolerance, accumulated.
        np.testing.assert_allclose(a.position, b.position, atol=1e-8)
        np.testing.assert_allclose(a.spin, b.spin, atol=1e-7)
    for motion in (first, second):
        gained = motion.energy["total"][-1] - motion.energy["total"][0]
        assert abs(gained - sum(item[-1] for item in motion.work.values())) < 1e-8
    names = [item.name for item in cartesian.coordinates]
    quaternion = second.q[:, names.index("e0_link") : names.index("e3_link") + 1]
    assert np.abs(np.linalg.norm(quaternion, axis=1) - 1).max() < 1e-14


def test_kinetic_energy_is_written_out_only_when_asked() -> None:
    system = double_arm().system()
    assert "kinetic" not in system.tree.__dict__
    assert sp.diff(system.kinetic, system.velocities[0], 2) != 0
    assert "kinetic" in system.tree.__dict__


def test_a_name_that_drives_a_joint_is_an_input() -> None:
    wheel = zw.Bodies("wheel").body("rotor", mass=1, inertia=(1, 1, 2), at=(0, 0, 0))
    wheel.revolute("turn", "ground", "rotor", axis=(0, 0, 1)).motor("turn", "u")
    system = wheel.system()
    assert [item.name for item in system.inputs] == ["u"]
    motion = zw.simulate(system, {"turn": 0, "v_turn": 0}, until=1.0, inputs={"u": sp.sin(zw.t)})
    assert abs(motion.v[-1, 0] - (1 - np.cos(1)) / 2) < 1e-9
    closed = wheel.system(coordinates="cartesian")
    state = wheel.place("rotor")
    motion = zw.simulate(closed, state, until=1.0, inputs={"u": zw.t})
    assert abs(wheel.pose("rotor", motion.at(1.0)).spin[2] - 0.25) < 1e-9
