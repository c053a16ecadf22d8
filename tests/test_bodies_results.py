"""What results say of bodies in space: unit rows, wrenches of joints, shapes on a half-space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from redundant_mechanisms import overconstrained


def rolling_ball() -> zw.Bodies:
    ball = zw.Bodies("ball", gravity=(0, 0, -10)).body("ball", mass=1, inertia=(0.4, 0.4, 0.4), at=(0, 0, 1))
    ball.shape("skin", on="ball", form=zw.shapes.Sphere(1))
    ball.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    return ball.contact("skin", "floor", friction=0.4, restitution=0, name="touch")


def test_rows_that_keep_quaternions_at_unit_length_are_in_no_result(tmp_path: Any) -> None:
    ball = rolling_ball()
    system, state = ball.system(), ball.place("ball", velocity=(7, 0, 0), spin=(0, 0.1, 0.2))
    assert "unit_ball" in system.constraints.names
    found = zw.reactions(system, state)
    (solution,) = found.solutions
    assert found.contacts == solution.names == solution.ranges.names == ("touch",)
    assert solution.modes["touch"] == "slip"
    assert solution.vertices.normal.shape == (1, 1)
    assert solution.gap_acceleration.shape == solution.directions.shape == (1,)
    assert found.rejected.names == ("touch",)
    assert list(found.rejected) == [("open",)]
    assert "unit_ball" not in repr(found)
    found.save(tmp_path / "found.npz")
    assert zw.load_result(tmp_path / "found.npz").contacts == ("touch",)
    several = zw.reactions(system, {**state, "v_x_ball": np.array([0.0, 7.0])})
    assert several.contacts == ("touch",)
    assert several.normal.shape == (1, 2)
    assert "unit_ball" not in zw.compile(system).evaluate(state, {}).multipliers
    motion = zw.simulate(system, state, until=0.1)
    motion.save(tmp_path / "motion.npz")
    for shown in (motion, zw.load_result(tmp_path / "motion.npz")):
        assert shown.modes[0].names == ("touch",)
        assert "unit_ball" not in repr(shown.modes)
        shown.to_csv(tmp_path / "motion.csv")
        names = (tmp_path / "motion.csv").read_text(encoding="utf-8")
        assert "mode_touch" in names
        assert "unit" not in names
    assert "unit_ball" not in zw.simulate(system, state, until=0.1, method="timestepping", step=0.01).reaction_range
    with pytest.raises(zw.DeclarationError, match="'unit_ball' keeps a quaternion at unit length.*made by no force"):
        zw.realize(system, "unit_ball", by=zw.Stiffness(1))


def test_self_stresses_are_told_without_unit_rows() -> None:
    loop = overconstrained()
    system = loop.system(coordinates="cartesian")
    state: dict[str, float] = {item.name: 0.0 for item in system.velocities}
    for body in ("b0", "b1", "b2"):
        state |= loop.place(body)
    found = zw.reactions(system, state)
    stress = found.redundancy.stress_normal
    assert stress.shape == (3, len(found.contacts))
    assert not any("unit_" in sentence for sentence in (*found.redundancy.sentences, *found.redundancy.determined))
    assert np.linalg.matrix_rank(stress) == 3


def driven_arm() -> zw.Bodies:
    """A motor, a damper, a spherical joint, a foot that slides on a wall."""
    arm = zw.Bodies("arm", gravity=(0, 0, -10))
    arm.body("a", mass=1, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0)).body(
        "b", mass=2, inertia=(0.1, 0.2, 0.1), at=(1.5, 0, 0)
    )
    arm.revolute("h", "ground", "a", at=(0, 0, 0), axis=(0, 1, 0), damping=0.3).motor("h", "u")
    arm.spherical("s", "a", "b", at=(1, 0, 0))
    arm.shape("foot", on="b", form=zw.shapes.Sphere(0.1), at=(0.5, 0, 0))
    arm.shape("wall", on="ground", form=zw.shapes.HalfSpace((0, 0, 1), offset=-0.1))
    return arm.contact("foot", "wall", friction=0.3, restitution=0, name="rub")


@pytest.mark.parametrize("given", [2.0, "3*cos(t)"])
def test_wrench_of_a_solution_is_that_of_the_motion_in_both_kinds_of_coordinates(given: Any) -> None:
    arm = driven_arm()
    joint, cartesian = arm.system(), arm.system(coordinates="cartesian")
    state = {item.name: 0.0 for item in (*joint.coordinates, *joint.velocities)} | {
        "e0_s": 1.0,
        "v_e3_s": 0.4,
        "t": 0.2,
    }
    placed: dict[str, float] = {"t": 0.2}
    for body in ("a", "b"):
        pose = arm.pose(body, state)
        placed |= arm.place(body, at=pose.position, turned=pose.rotation, velocity=pose.velocity, spin=pose.spin)
    inputs = {"u": given}
    found = zw.reactions(joint, state, inputs=inputs)
    other = zw.reactions(cartesian, placed, inputs=inputs)
    assert found.solutions[0].modes["rub"] == other.solutions[0].modes["rub"] == "slip"
    motion = zw.simulate(joint, state, until=0.21, inputs=inputs)
    for name in ("h", "s"):
        wrench = found.solutions[0].wrench(name)
        assert wrench.shape == (6,)
        np.testing.assert_allclose(wrench, motion.wrench(name)[0], atol=1e-9)
        np.testing.assert_allclose(wrench, other.solutions[0].wrench(name), atol=1e-9)
    # A ball joint carries no moment; the motor's torque less nothing (the hinge is at rest) is that of the hinge.
    assert np.abs(found.solutions[0].wrench("s")[3:]).max() < 1e-9
    assert abs(found.solutions[0].wrench("h")[4] - (given if given == 2.0 else 3 * np.cos(0.2))) < 1e-9
    with pytest.raises(zw.DeclarationError, match="no joint 'k'"):
        found.solutions[0].wrench("k")


def test_wrench_is_nan_where_it_is_not_determined() -> None:
    # A beam on two hinges along y: the forces along x between them are free, the weight is not.
    beam = zw.Bodies("beam", gravity=(0, 0, -10)).body("b", mass=2, inertia=(1, 1, 1), at=(1, 0, 0))
    beam.revolute("left", "ground", "b", at=(0, 0, 0), axis=(0, 1, 0))
    beam.close("revolute", "right", "b", "ground", at=(2, 0, 0), axis=(0, 1, 0))
    (solution,) = zw.reactions(beam.system(), {"left": 0, "v_left": 0}).solutions
    assert solution.dimension
    wrench = solution.wrench("left")
    assert np.isnan(wrench[0])
    np.testing.assert_allclose(wrench[2], 10.0, atol=1e-9)
    held = zw.reactions(beam.system(coordinates="cartesian"), beam.place("b")).solutions[0].wrench("left")
    np.testing.assert_allclose(held[2], 10.0, atol=1e-9)
    problem = zw.ContactProblem(np.eye(1), [0.0], [zw.Contact([1.0], name="c")])
    with pytest.raises(zw.DeclarationError, match="zw.Bodies made the system"):
        zw.reactions(problem).solutions[0].wrench("c")


def test_wrench_where_friction_is_not_determined_in_planes() -> None:
    # Two balls welded together: their friction may pull the weld apart, the weight may not.
    pair = zw.Bodies("pair", gravity=(0, 0, -10))
    for name, x in (("a", -1), ("b", 1)):
        pair.body(name, mass=1, inertia=(0.4, 0.4, 0.4), at=(x, 0, 1)).shape(
            f"{name}s", on=name, form=zw.shapes.Sphere(1)
        )
    pair.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1))).fixed("weld", "a", "b", at=(0, 0, 1))
    pair.contact("as", "floor", friction=0.5, name="first").contact("bs", "floor", friction=0.5, name="second")
    (solution,) = zw.reactions(pair.system(), pair.place("a")).solutions
    assert solution.dimension
    wrench = solution.wrench("weld")
    assert np.isnan(wrench[0])
    np.testing.assert_allclose(wrench[[1, 2, 3]], 0, atol=1e-9)


CORNERS = ((0.5, 0, -0.3), (-0.3, 0.4, -0.3), (-0.3, -0.4, -0.3), (0, 0, 0.6))
FORMS = {
    "capsule": zw.shapes.Capsule(0.2, 1.0),
    "hull": zw.shapes.Hull(CORNERS),
    "cylinder": zw.shapes.Cylinder(0.4, 1.0),
}
LYING: dict[str, dict[str, Any]] = {
    "capsule": {"at": (0, 0, 0.2)},
    "hull": {"at": (0, 0, 0.3)},
    "cylinder": {"at": (0, 0, 0.4), "turned": ((1, 0, 0), np.pi / 2)},
}


def stone(form: str) -> zw.Bodies:
    thing = zw.Bodies("stone", gravity=(0, 0, -10)).body("stone", mass=1, inertia=(0.12, 0.12, 0.08), at=(0, 0, 1))
    thing.shape("skin", on="stone", form=FORMS[form])
    thing.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    return thing.contact("skin", "floor", friction=0.3, restitution=0, name="touch")


def lowest(form: str, rotation: Any) -> float:
    """The height of the lowest place of a form below its centre, by its support function."""
    if form == "hull":
        return float(min(rotation[2] @ np.array(corner) for corner in CORNERS))
    if form == "capsule":
        return float(-abs(rotation[2, 0]) / 2 - 0.2)
    return float(-abs(rotation[2, 2]) / 2 - 0.4 * np.sqrt(1 - min(rotation[2, 2] ** 2, 1)))


@pytest.mark.parametrize("form", FORMS)
def test_forms_rest_and_land_on_a_half_space_and_never_overlap_it(form: str) -> None:
    thing = stone(form)
    system = thing.system()
    found = zw.reactions(system, thing.place("stone", **LYING[form]))
    assert abs(found.accelerations).max() < 1e-12
    assert abs(sum(found.solutions[0].normal) - 10) < 1e-9
    still = zw.simulate(system, thing.place("stone", **LYING[form]), until=0.1)
    assert (still.status, len(still.events)) == (zw.results.MotionStatus.REACHED, 0)
    state = thing.place("stone", at=(0, 0, 0.9), turned=((1, 2, 0.5), 0.7), spin=(0.2, 0.3, 1), velocity=(0.5, 0, 0))
    motion = zw.simulate(system, state, until=0.8, impact="newton", method="auto")
    assert motion.status == zw.results.MotionStatus.REACHED
    assert "impact" in {event.kind for event in motion.events}
    poses = [thing.pose("stone", motion.at(t)) for t in (*motion.t, *np.linspace(0, 0.8, 200))]
    gaps = [pose.position[2] + lowest(form, pose.rotation) for pose in poses]
    # 6e-12 by events; where a hull rocks on two corners that stick, steps of time go on, to 6e-9.
    assert min(gaps) > -5e-8
    assert gaps[-1] < 0.3


def test_a_cylinder_slides_until_it_rolls_at_two_thirds_of_its_speed() -> None:
    thing = stone("cylinder")
    motion = zw.simulate(thing.system(), thing.place("stone", **LYING["cylinder"], velocity=(1, 0, 0)), until=0.2)
    assert [event.kind for event in motion.events] == ["stick", "stick"]
    assert abs(motion.events[0].time - 1 / 9) < 1e-9
    np.testing.assert_allclose(motion.values("v_x_stone")[-1], 2 / 3, atol=1e-9)


def test_a_cylinder_on_its_face_is_refused_with_a_cure() -> None:
    thing = stone("cylinder")
    with pytest.raises(zw.StateError, match="'touch 1' is not finite.*face of the Cylinder 'skin'.*tilt.*Hull"):
        zw.reactions(thing.system(), thing.place("stone", at=(0, 0, 0.5)))


@pytest.mark.nightly
def test_a_quaternion_and_its_opposite_are_one_equilibrium() -> None:
    # A body on a ball joint between springs: along each of them it can point to its hook or away from it.
    held = zw.Bodies("held").body("b", mass=1, inertia=(1, 2, 3)).spherical("eye", "ground", "b", at=(0, 0, 0))
    for name, at in (("p", (1, 0, 0)), ("q", (0, 1, 0))):
        held.point(name, on="b", at=at).point(f"{name}_hook", on="ground", at=tuple(3 * x for x in at))
        held.spring(name, f"{name}_hook", stiffness=2 if name == "p" else 1)
    found = zw.equilibria(held.system(), {}, seed=1)
    quaternions = np.array([[point.state[f"e{k}_eye"] for k in range(4)] for point in found.points])
    near = np.abs(quaternions @ quaternions.T) - np.eye(len(quaternions))
    assert len(quaternions) >= 2
    assert near.max() < 1 - 1e-6
    # V = -k1 3 R11 - k2 3 R22: the pose of the hooks is the one that is stable.
    assert sum(abs(e[0]) > 1 - 1e-9 for e in quaternions) == 1
