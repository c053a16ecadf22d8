"""Bodies in space: equations by recursion against SymPy's Lagrangian and MuJoCo, both kinds of coordinates, files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import zwang as zw
from redundant_mechanisms import overconstrained


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


@pytest.mark.nightly
def test_recursion_gives_the_mass_and_forces_of_the_lagrangian() -> None:
    system = double_arm().system()
    terms: Any = zw.compile(system).terms(STATE, VALUES)
    # The reference is differentiated by SymPy from the energies written out.
    oracle: Any = zw.compile(system, "reference").terms(STATE, VALUES)
    for name in ("mass", "force", "energies", "value", "rows"):
        np.testing.assert_allclose(getattr(terms, name), getattr(oracle, name), atol=1e-12)


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


@pytest.mark.nightly
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


def test_values_of_a_motion_are_expressions_points_and_bodies() -> None:
    top = zw.Bodies("stone", gravity=(0, 0, "-g")).body("stone", mass=1, inertia=(1, 2, 2.5), at=(0, 0, 1))
    top.point("tip", on="stone", at=(0, 0, 0.5))
    system = top.system()
    motion = zw.simulate(system, top.place("stone", velocity=(1, 0, 2), spin=(0, 0, 3)), {"g": 10.0}, until=0.3)
    np.testing.assert_allclose(motion.values("stone", at=0.3), [0.3, 0, 1 + 0.6 - 0.45], atol=1e-10)
    np.testing.assert_allclose(motion.values("tip", at=[0.0, 0.3])[:, 2], [1.5, 1.65], atol=1e-10)
    np.testing.assert_allclose(motion.values("z_stone - R33_stone")[-1], 0.15, atol=1e-10)
    assert motion.values("v_x_stone").shape == motion.t.shape
    assert "unit_stone" not in motion.reactions
    assert "unit_stone" not in motion.work
    with pytest.raises(zw.DeclarationError, match="no symbol of the system"):
        motion.values("height")
    again = motion.values("tip", at=0.1)
    assert again.shape == (3,)


def test_a_stone_that_spins_about_its_middle_axis_turns_over_and_keeps_energy_and_momentum() -> None:
    # Dzhanibekov: the middle axis is unstable; T and L = R I w are constant.
    moments = np.array([1.0, 2.0, 2.6])
    stone = zw.Bodies("stone").body("stone", mass=1, inertia=moments)
    motion = zw.simulate(stone.system(), stone.place("stone", spin=(0.01, 2, 0.0)), until=12.0)
    poses = [stone.pose("stone", motion.at(t)) for t in np.linspace(0, 12, 41)]
    momentum = np.array([pose.rotation @ (moments * pose.spin) for pose in poses])
    assert min(pose.spin[1] for pose in poses) < -1.5
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8)
    np.testing.assert_allclose(motion.energy["total"], motion.energy["total"][0], atol=1e-8)


@pytest.mark.nightly
def test_a_stone_keeps_energy_and_momentum_over_a_thousand_turns() -> None:
    moments, end = np.array([1.0, 2.0, 2.6]), 1000 * np.pi
    stone = zw.Bodies("stone").body("stone", mass=1, inertia=moments)
    motion = zw.simulate(stone.system(), stone.place("stone", spin=(0.01, 2, 0.0)), until=end, tol=1e-13)
    assert motion.status == zw.results.MotionStatus.REACHED
    poses = [stone.pose("stone", motion.at(t)) for t in np.linspace(0, end, 101)]
    momentum = np.array([pose.rotation @ (moments * pose.spin) for pose in poses])
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-9)
    np.testing.assert_allclose(motion.energy["total"], motion.energy["total"][0], rtol=1e-9)


def test_a_heavy_top_precesses_at_the_closed_form() -> None:
    # Steady precession at inclination th: (I1 cos th) W^2 - I3 w3 W + m g l = 0 with w3 = spin about the axis.
    m, g, l, inner, outer, th, fast = 1.0, 9.81, 0.3, 0.02, 0.05, 0.5, 80.0
    about = outer + m * l**2
    a, b, c = about * np.cos(th), -inner * fast, m * g * l
    slow = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    top = zw.Bodies("top", gravity=(0, 0, -g)).body("top", mass=m, inertia=(outer, outer, inner), at=(0, 0, l))
    system = top.spherical("foot", "ground", "top", at=(0, 0, 0)).system()
    e = np.array([np.cos(th / 2), np.sin(th / 2), 0.0, 0.0])
    # Angular velocity in ground axes: W about z, and about the own axis so that its part along the axis is w3.
    axis = np.array([0, -np.sin(th), np.cos(th)])
    w = np.array([0, 0, slow]) + (fast - slow * np.cos(th)) * axis
    rates = 0.5 * np.array([-(e[1:] @ w), *(e[0] * w - np.cross(e[1:], w))])
    state = {f"e{k}_foot": e[k] for k in range(4)} | {f"v_e{k}_foot": rates[k] for k in range(4)}
    motion = zw.simulate(system, state, until=1.0)
    pose = top.pose("top", motion.at(1.0))
    direction = pose.rotation[:, 2]
    expected = [np.sin(th) * np.sin(slow), -np.sin(th) * np.cos(slow), np.cos(th)]
    np.testing.assert_allclose(direction, expected, atol=1e-8)


@pytest.mark.parametrize("kind", ["joint", "cartesian"])
def test_bennett_loop_has_one_freedom_and_three_self_stresses(kind: str) -> None:
    bennett = overconstrained()
    system = bennett.system(coordinates=kind)
    state: dict[str, float] = {q.name: 0.0 for q in (*system.coordinates, *system.velocities)}
    if kind == "cartesian":
        for body in ("b0", "b1", "b2"):
            state |= bennett.place(body)
    found = zw.reactions(system, state)
    assert found.status == zw.results.ReactionsStatus.UNIQUE_MOTION
    assert len(found.redundancy.stress_normal) == 3


def test_spheres_and_boxes_rest_on_a_half_space_with_their_weight() -> None:
    table = zw.Bodies("box", gravity=(0, 0, -10)).body("box", mass=3, inertia=(1, 1, 1), at=(0, 0, 0.5))
    table.shape("hull", on="box", form=zw.shapes.Box(2, 2, 1))
    table.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    table.contact("hull", "floor", friction=0.5, restitution=0, name="foot")
    system = table.system()
    assert [name for name in system.constraints.names if name.startswith("foot")] == [f"foot {i}" for i in range(1, 9)]
    terms: Any = zw.compile(system).terms(table.place("box"), {})
    normals = [item.name for item in system.constraints]
    gaps = dict(zip(normals, terms.value[:, 0], strict=True))
    assert sorted(round(gap, 12) for name, gap in gaps.items() if name.startswith("foot")) == [0] * 4 + [1] * 4
    ball = zw.Bodies("ball", gravity=(0, 0, -10)).body("ball", mass=1, inertia=(0.4, 0.4, 0.4), at=(0, 0, 1))
    ball.shape("skin", on="ball", form=zw.shapes.Sphere(1)).shape(
        "floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1))
    )
    rolling = ball.contact("skin", "floor", friction=0.4, restitution=0, name="touch").system()
    # Slides without spin: a = -mu g, and the spin grows by (5/2) mu g / r until it rolls at 5/7 of the speed.
    motion = zw.simulate(rolling, ball.place("ball", velocity=(7, 0, 0)), until=1.0)
    assert [event.kind for event in motion.events] == ["stick"]
    assert abs(motion.events[0].time - 2 * 7 / (7 * 4.0)) < 1e-9
    np.testing.assert_allclose(motion.values("v_x_ball")[-1], 5.0, atol=1e-8)


def test_a_point_may_stand_on_a_parameter_that_no_equation_has() -> None:
    arm = double_arm().point("mark", on="fore", at=(0, 0, "far")).point("peg", on="ground", at=("far", 0, 0))
    system = arm.system()
    # It is left out of the picture, which has values for the system's own parameters alone.
    assert "far" not in {item.name for item in system.parameters}
    assert {"mark", "peg"}.isdisjoint(system.drawing.points) and "tip" in system.drawing.points
    assert (
        system
        == double_arm().point("mark", on="fore", at=(0, 0, "far")).point("peg", on="ground", at=("far", 0, 0)).system()
    )


def refused(words: str, tell: Any) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        tell(zw.Bodies("arm").body("a", mass=1, inertia=(1, 1, 1)).body("b", mass=1, inertia=(1, 1, 1)))


def test_bad_input_names_the_part_and_the_cure() -> None:
    refused("body 'c': inertia.*sum of the other two", lambda arm: arm.body("c", mass=1, inertia=(1, 1, 9)))
    refused("never negative", lambda arm: arm.body("c", mass=1, inertia=(1, 1, -1)))
    refused("not symmetric", lambda arm: arm.body("c", mass=1, inertia=((1, 1, 0), (0, 1, 0), (0, 0, 1))))
    refused("3 principal moments", lambda arm: arm.body("c", mass=1, inertia=(1, 1)))
    refused("must not be less than 0", lambda arm: arm.body("c", mass=-1, inertia=(1, 1, 1)))
    refused("length 2", lambda arm: arm.body("c", mass=1, inertia=(1, 1, 1), turned=(2, 0, 0, 0)))
    refused("no turn", lambda arm: arm.body("c", mass=1, inertia=(1, 1, 1), turned=np.diag([1, 1, 2])))
    refused("it mirrors", lambda arm: arm.body("c", mass=1, inertia=(1, 1, 1), turned=np.diag([1, 1, -1])))
    refused("'a' is the name of a body already", lambda arm: arm.point("a", on="b", at=(0, 0, 0)))
    refused("the name of the ground", lambda arm: arm.body("ground", mass=1, inertia=(1, 1, 1)))
    refused("joins 'a' with itself", lambda arm: arm.revolute("j", "a", "a", axis=(0, 0, 1)))
    refused("no body 'c'", lambda arm: arm.revolute("j", "a", "c", axis=(0, 0, 1)))
    refused("length zero", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 0)))
    refused("lacks axis=", lambda arm: arm.revolute("j", "a", "b"))
    refused("lacks pitch=", lambda arm: arm.screw("j", "a", "b", axis=(0, 0, 1)))
    refused("takes no 'limit'.*limits", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1), limit=1))
    refused("not below the upper", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1), limits=(2, 1)))
    refused("a pair", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1), limits=3))
    refused("needs 2 items", lambda arm: arm.cylindrical("j", "a", "b", axis=(0, 0, 1), damping=(1, 2, 3)))
    refused("parallel", lambda arm: arm.universal("j", "a", "b", axes=((0, 0, 1), (0, 0, 2))))
    refused("two directions", lambda arm: arm.universal("j", "a", "b", axes=(0, 0, 1)))
    refused("radius=", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1), radius=0.1))
    refused("unknown kind of joint 'hinge'", lambda arm: arm.close("hinge", "j", "a", "b"))
    refused("are pairs only", lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1), at=((0, 0, 0), (0, 0, 0))))
    refused("against the ground", lambda arm: arm.free("a", "b", "a"))
    refused("no point 'tip'", lambda arm: arm.force("tip", (0, 0, 1)))
    refused("three components", lambda arm: arm.force("a", (0, 0)))
    refused("'ground' or 'body'", lambda arm: arm.force("a", (0, 0, 1), axes="own"))
    refused("force 'force at a': a finite real number.* nan", lambda arm: arm.force("a", (0, 0, float("nan"))))
    refused("spring 'a to a' joins 'a' with itself", lambda arm: arm.spring("a", "a", stiffness=1))
    refused("no joint has a coordinate 'j'", lambda arm: arm.motor("j", "u"))
    refused("one of zw.shapes", lambda arm: arm.shape("s", on="a", form="ball"))
    refused("there is no shape 'floor'", lambda arm: arm.contact("floor", "floor"))
    refused("unknown coordinates='polar'", lambda arm: arm.system(coordinates="polar"))
    refused("three components are needed; 2", lambda arm: arm.point("p", on="a", at=(0, 0)))
    refused("isn't known", lambda arm: arm.place("a", at=("l", 0, 0)))
    refused("the state lacks", lambda arm: arm.pose("a", {"x_a": 1}))


def test_an_inertia_turned_in_doubles_is_symmetric_but_for_rounding() -> None:
    source = np.random.default_rng(3)
    for size in (1e-9, 1.0, 1e6):
        turns = [np.linalg.qr(source.normal(size=(3, 3)))[0] for _ in range(10)]
        turned = [turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T * size for turn in turns]
        assert any(np.any(one != one.T) for one in turned)
        for one in turned:
            zw.Bodies("stone").body("stone", mass=1, inertia=one)
        wrong = turned[0] + np.array([[0, 1e-6, 0], [0, 0, 0], [0, 0, 0]]) * size
        with pytest.raises(zw.DeclarationError, match="not symmetric: entries .0, 1. and .1, 0."):
            zw.Bodies("stone").body("stone", mass=1, inertia=wrong)
    refused("not symmetric", lambda arm: arm.body("c", mass=1, inertia=((1, "u", 0), (0, 1, 0), (0, 0, 1))))
    refused("not symmetric", lambda arm: arm.body("c", mass=1, inertia=(("J", 1e-12, 0), (0, "J", 0), (0, 0, "J"))))


def test_a_plain_joint_that_closes_a_loop_says_so() -> None:
    refused(
        "closes a loop.*close\\('revolute', 'k'",
        lambda arm: arm.revolute("j", "a", "b", axis=(0, 0, 1)).revolute("k", "b", "a", axis=(0, 0, 1)).system(),
    )


def test_a_pair_that_cannot_touch_says_which_can() -> None:
    def both(arm: zw.Bodies) -> None:
        arm.shape("s", on="a", form=zw.shapes.Cylinder(1, 1)).shape("r", on="b", form=zw.shapes.Box(1, 1, 1))
        arm.contact("s", "r").system()

    refused("a Cylinder with a Box is not supported. Supported are", both)


def test_wrench_of_a_joint_is_the_same_in_both_coordinates_and_carries_the_weight() -> None:
    arm = zw.Bodies("arm", gravity=(0, 0, -10))
    arm.body("a", mass=1, inertia=(0.1, 0.12, 0.15), at=(0.5, 0, 0))
    arm.body("b", mass=2, inertia=(0.2, 0.12, 0.15), at=(1.5, 0, 0.1))
    arm.revolute("h", "ground", "a", at=(0, 0, 0), axis=(0, 1, 0)).motor("h", "3*cos(t)")
    arm.universal("u", "a", "b", at=(1, 0, 0), axes=((0, 0, 1), (1, 0, 0)), damping=(0.1, 0.2))
    state = {"h": 0.3, "u_1": 0.2, "u_2": 0.5, "v_h": 0.1, "v_u_1": 0.7, "v_u_2": -0.3}
    placed: dict[str, float] = {}
    for body in ("a", "b"):
        pose = arm.pose(body, state)
        placed |= arm.place(body, at=pose.position, turned=pose.rotation, velocity=pose.velocity, spin=pose.spin)
    joint = zw.simulate(arm.system(), state, until=0.05)
    cartesian = zw.simulate(arm.system(coordinates="cartesian"), placed, until=0.05)
    for name in ("h", "u"):
        first, second = joint.wrench(name), cartesian.wrench(name)
        np.testing.assert_allclose(first[0], second[0], atol=1e-9)
        np.testing.assert_allclose(first[-1], second[-1], atol=1e-6)
    # Newton and Euler: what the hinge exerts is the rate of momentum less the weight; about its axis, the motor.
    assert abs(joint.wrench("h")[0] @ [0, 0, 0, 0, 1, 0] - 3.0) < 1e-9
    h = 1e-4
    momenta = [sum(m * arm.pose(body, joint.at(t)).velocity for body, m in (("a", 1), ("b", 2))) for t in (0, h, 2 * h)]
    rate = (-3 * momenta[0] + 4 * momenta[1] - momenta[2]) / (2 * h)
    np.testing.assert_allclose(joint.wrench("h")[0, :3], rate + np.array([0, 0, 30]), atol=1e-4)
    with pytest.raises(zw.DeclarationError, match="no joint 'k'"):
        joint.wrench("k")


def test_a_law_given_as_a_function_is_kept_in_files(tmp_path: Any) -> None:
    ball = zw.Bodies("ball").body("ball", mass=1, inertia=(1, 1, 1), at=(0, 0, 1))
    ball.shape("skin", on="ball", form=zw.shapes.Sphere(1))
    ball.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    ball.contact("skin", "floor", friction=lambda slip: zw.Coulomb(0.2, slip=slip, static=0.3), name="touch")
    system = ball.system()
    system.save(tmp_path / "ball.toml")
    assert zw.load(tmp_path / "ball.toml") == system


JOINTS: dict[str, dict[str, Any]] = {
    "revolute": {"axis": (1, 2, 0.5), "stiffness": 2, "damping": 0.1, "armature": 0.05},
    "prismatic": {"axis": (1, 2, 0.5), "stiffness": 2, "damping": 0.1},
    "cylindrical": {"axis": (1, 2, 0.5), "stiffness": (1, 2), "damping": (0.1, 0.2)},
    "screw": {"axis": (1, 2, 0.5), "pitch": 0.1, "damping": 0.1},
    "universal": {"axes": ((1, 0, 0.2), (0, 1, 0.3)), "stiffness": (1, 0), "damping": (0.1, 0.2)},
    "planar": {"normal": (0.2, 0.1, 1), "damping": (0.1, 0.2, 0.3), "stiffness": (1, 0, 0)},
    "spherical": {},
    "fixed": {},
}


OFTEN = ("revolute", "universal", "spherical")
"""Joints of every run; the others are looked at every night."""


@pytest.mark.parametrize(
    "kind", [kind if kind in OFTEN else pytest.param(kind, marks=pytest.mark.nightly) for kind in JOINTS]
)
def test_every_joint_does_the_same_as_coordinates_and_as_constraints(kind: str) -> None:
    source = np.random.default_rng(4)
    arm = zw.Bodies("arm", gravity=(0, 0, -9.81))
    arm.body("a", mass=1, inertia=(0.3, 0.4, 0.5), at=(0.3, 0.1, 0), turned=((1, 1, 0), 0.4))
    arm.body("b", mass=2, inertia=(0.2, 0.3, 0.25), at=(1, 0.2, 0.1), turned=((0, 1, 1), -0.7))
    arm.revolute("h", "ground", "a", at=(0, 0, 0), axis=(0, 1, 0))
    getattr(arm, kind)("j", "a", "b", at=(0.6, 0.1, 0.05), **JOINTS[kind])
    joint, cartesian = arm.system(), arm.system(coordinates="cartesian")
    state = {item.name: 0.3 * source.normal() for item in joint.coordinates}
    state |= {item.name: source.normal() for item in joint.velocities}
    if kind == "spherical":
        e, rates = (np.array([state[f"{head}{k}_j"] for k in range(4)]) for head in ("e", "v_e"))
        e /= np.linalg.norm(e)
        rates -= e * (e @ rates)
        state |= {f"e{k}_j": e[k] for k in range(4)} | {f"v_e{k}_j": rates[k] for k in range(4)}
    placed = dict(state)
    for body in ("a", "b"):
        pose = arm.pose(body, state)
        placed |= arm.place(body, at=pose.position, turned=pose.rotation, velocity=pose.velocity, spin=pose.spin)
    known = {item.name for item in (*cartesian.coordinates, *cartesian.velocities)}
    placed = {name: value for name, value in placed.items() if name in known}
    assert zw.compile(cartesian).check(placed, {}) < 1e-13
    motions = [zw.simulate(joint, state, until=0.02), zw.simulate(cartesian, placed, until=0.02)]
    for body in ("a", "b"):
        first, second = (arm.pose(body, motion.at(0.02)) for motion in motions)
        np.testing.assert_allclose(first.position, second.position, atol=1e-10)
        np.testing.assert_allclose(first.spin, second.spin, atol=1e-9)
    np.testing.assert_allclose(motions[0].wrench("j")[0], motions[1].wrench("j")[0], atol=1e-9)


def denavit(links: Any, angles: Any) -> tuple[list[Any], list[Any], Any]:
    """Return places and axes of the hinges of a ring of links (length, twist), and its last frame."""
    places, axes, frame = [], [], np.eye(4)
    for (length, twist), angle in zip(links, angles, strict=True):
        places.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        rows = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
        frame = frame @ np.array(rows)
    return places, axes, frame


def ring(links: Any, angles: Any) -> zw.Bodies:
    """Return a ring of hinges that closes at these angles."""
    places, axes, frame = denavit(links, angles)
    np.testing.assert_allclose(frame, np.eye(4), atol=1e-12)
    loop, last = zw.Bodies("ring"), len(links) - 1
    for i in range(last):
        loop.body(f"b{i}", mass=1, inertia=(0.1, 0.1, 0.1), at=(places[i] + places[i + 1]) / 2)
        loop.revolute(f"j{i}", "ground" if i == 0 else f"b{i - 1}", f"b{i}", at=places[i], axis=axes[i])
    return loop.close("revolute", "pin", f"b{last - 1}", "ground", at=places[last], axis=axes[last])


def stresses(loop: zw.Bodies) -> int:
    system = loop.system()
    found = zw.reactions(system, {item.name: 0.0 for item in (*system.coordinates, *system.velocities)})
    return 0 if found.redundancy is None else len(found.redundancy.stress_normal)


def closed(links: Any, guess: Any, held: float) -> Any:
    """Return angles that close a ring, the first of them held."""
    from scipy.optimize import least_squares

    def miss(rest: Any) -> Any:
        return (denavit(links, [held, *rest])[2] - np.eye(4))[:3].ravel()

    found = least_squares(miss, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return [held, *found.x]


@pytest.mark.nightly
def test_bricard_and_sarrus_have_one_self_stress_and_a_general_ring_has_none() -> None:
    # Bricard's trihedral case: equal lengths, twists of 90 and 270 degrees in turn (Bricard 1897).
    quarter = np.pi / 2
    links = [(1.0, quarter if k % 2 == 0 else -quarter) for k in range(6)]
    angles = closed(links, [quarter, -quarter, quarter, -quarter, quarter], -1.2)
    assert stresses(ring(links, angles)) == 1
    # Sarrus (1853): two pairs of plates, hinges along x in one chain and along y in the other.
    lift = zw.Bodies("sarrus")
    places = {"a1": (0, 1.2, 0.4), "a2": (0, 1.2, 1.2), "top": (0, 0, 1.6), "b2": (1.2, 0, 1.2), "b1": (1.2, 0, 0.4)}
    for name, at in places.items():
        lift.body(name, mass=1, inertia=(0.1, 0.1, 0.1), at=at)
    lift.revolute("j1", "ground", "a1", at=(0, 1, 0), axis=(1, 0, 0))
    lift.revolute("j2", "a1", "a2", at=(0, 1.4, 0.8), axis=(1, 0, 0))
    lift.revolute("j3", "a2", "top", at=(0, 1, 1.6), axis=(1, 0, 0))
    lift.revolute("j4", "top", "b2", at=(1, 0, 1.6), axis=(0, 1, 0))
    lift.revolute("j5", "b2", "b1", at=(1.4, 0, 0.8), axis=(0, 1, 0))
    assert stresses(lift.close("revolute", "j6", "b1", "ground", at=(1, 0, 0), axis=(0, 1, 0))) == 1
    # A ring of seven hinges has a freedom by counting, and no self-stress.
    source = np.random.default_rng(2)
    links = [(1.0, twist) for twist in source.uniform(0.5, 1.5, size=7)]
    angles = closed(links, source.uniform(-2, 2, size=6), 0.4)
    assert stresses(ring(links, angles)) == 0


def test_a_loop_at_zero_angles_with_one_short_row_is_regular() -> None:
    # Sarrus' plates at an angle of their own and tilted: two of the rows are nearly one, and the size of their terms
    # does not show where all coordinates are zero. It was called a singular point.
    def turned(place: Any) -> Any:
        return Rotation.random(random_state=155).apply(np.array(place, dtype=float))

    h, e, f, d, angle = (
        0.6557399139408255,
        0.5322348099177718,
        0.3447580964865533,
        1.1217694041470572,
        0.9944608983447014,
    )
    u, n = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
    up = np.array([0, 0, h])
    plates = [("a1", (0, 1 + e / 2, h / 2)), ("a2", (0, 1 + e / 2, 1.5 * h)), ("top", 2 * up)]
    plates += [("b2", u * (d + f / 2) + 1.5 * up), ("b1", u * (d + f / 2) + up / 2)]
    hinges = [((0, 1, 0), (1, 0, 0)), ((0, 1 + e, 1.15 * h), (1, 0, 0)), ((0, 1, 2 * h), (1, 0, 0))]
    hinges += [(u * d + 2 * up, n), (u * (d + f) + 0.8 * up, n)]
    lift, before = zw.Bodies("lift"), "ground"
    for (name, at), (place, axis) in zip(plates, hinges, strict=True):
        lift.body(name, mass=1, inertia=(0.1, 0.1, 0.1), at=turned(at))
        lift.revolute(f"to_{name}", before, name, at=turned(place), axis=turned(axis))
        before = name
    system = lift.close("revolute", "last", "b1", "ground", at=turned(u * d), axis=turned(n)).system()
    found = zw.reactions(system, {item.name: 0.0 for item in (*system.coordinates, *system.velocities)})
    assert found.status.name == "UNIQUE_MOTION" and len(found.redundancy.stress_normal) == 1


def test_a_loop_whose_reference_configuration_is_open_is_closed_by_pairs() -> None:
    # A parallelogram of cranks 1 and coupler 2; the coupler starts turned, so that its end misses the second crank.
    bars = zw.Bodies("bars", gravity=(0, 0, -9.81))
    for name, at in (("left", (0, 0, 0.5)), ("right", (2, 0, 0.5)), ("coupler", (0, 0, 2))):
        bars.body(name, mass=1, inertia=(0.1, 0.1, 0.1), at=at)
    bars.revolute("l", "ground", "left", at=(0, 0, 0), axis=(0, 1, 0))
    bars.revolute("r", "ground", "right", at=(2, 0, 0), axis=(0, 1, 0))
    bars.revolute("c", "left", "coupler", at=(0, 0, 1), axis=(0, 1, 0))
    pairs = {"at": ((0, 0, 1), (0, 0, 0.5)), "axis": ((0, 1, 0), (0, 1, 0))}
    system = bars.close("revolute", "pin", "coupler", "right", **pairs).system()
    # Rows across the plane hold whatever the joints do, and are left out; where they never hold the loop is refused.
    assert system.constraints.names == ("pin x", "pin z")
    aside = {"at": ((0, 0.1, 1), (0, 0, 0.5)), "axis": ((0, 1, 0), (0, 1, 0))}
    with pytest.raises(zw.DeclarationError, match="'off y' stays at -0.1, whatever joints do"):
        bars.close("revolute", "off", "coupler", "right", **aside).system()
    model = zw.compile(system)
    rest = {item.name: 0.0 for item in system.velocities}
    with pytest.raises(zw.StateError, match="pin"):
        model.check({"l": 0.2, "r": 0.2, "c": 1.0, **rest}, {})
    state = model.project({"l": 0.3, "r": 0.3, "c": 1.2, **rest}, {})
    assert abs(state["l"] - state["r"]) < 1e-9
    assert abs(state["l"] + state["c"] - np.pi / 2) < 1e-9
