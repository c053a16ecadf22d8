"""Robots from files against MuJoCo, which reads them too; random trees and loops likewise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from night import by_day

mujoco = pytest.importorskip("mujoco", reason="needs the extra `robots`")

FOLDER = os.environ.get("ZWANG_ROBOTS", "")
"""A folder of robot descriptions to compare with MuJoCo; none of them belongs to the package."""


def accelerations(robot: Any, model: Any, qpos: Any, qvel: Any) -> tuple[Any, Any]:
    """Return qacc here and there, without constraints: contacts, limits and friction stay out of both."""
    data = mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    system = robot.system
    units = [name for name in system.constraints.names if name.startswith("unit_")]
    state = robot.from_mujoco(qpos, qvel)
    found = zw.compile(system).evaluate(state, robot.params, active=units).accelerations
    # The accelerations of a quaternion differ from MuJoCo's angular ones by what a rate does: the map is affine in the
    # accelerations, so that two states of which one has them added to the velocities tell them without rounding.
    names = [item.name for item in system.coordinates]
    moved = {**state, **{f"v_{name}": state[f"v_{name}"] + a for name, a in zip(names, found, strict=True)}}
    own = robot.to_mujoco(moved)[1] - robot.to_mujoco(state)[1]
    own += angular_corrections(robot, model, qvel)
    return own, np.array(data.qacc)


def angular_corrections(robot: Any, model: Any, qvel: Any) -> Any:
    """Return what the velocity of a free body's origin gains beside the change of its rates: w x (w x arm), turned."""
    extra = np.zeros(model.nv)
    for joint in robot._joints:
        if joint.kind == 0:
            w = qvel[joint.rate + 3 : joint.rate + 6]
            extra[joint.rate : joint.rate + 3] -= ROTATIONS[id(robot)] @ np.cross(w, np.cross(w, joint.arm))
    return extra


ROTATIONS: dict[int, Any] = {}


def random_state(robot: Any, model: Any, source: Any) -> tuple[Any, Any]:
    qpos, _ = robot.to_mujoco(robot.state)
    for joint in range(model.njnt):
        place, kind = model.jnt_qposadr[joint], model.jnt_type[joint]
        if kind < 2:
            place += 3 if kind == 0 else 0
            e = source.normal(size=4)
            qpos[place : place + 4] = e / np.linalg.norm(e)
            if kind == 0:
                matrix = np.zeros(9)
                mujoco.mju_quat2Mat(matrix, qpos[place : place + 4])
                ROTATIONS[id(robot)] = matrix.reshape(3, 3)
        else:
            qpos[place] += 0.3 * source.normal()
    return qpos, source.normal(size=model.nv)


def compared(path: Any, seed: int, floating: bool | None = None) -> float:
    """Return by how much accelerations differ from MuJoCo's, relative to their size."""
    from zwang._bodies.robot_file import compiled
    from zwang._bodies.robots import MODELS

    robot = zw.load_robot(path, floating=floating)
    _, model, _ = compiled(MODELS.get(str(path), Path(path)), floating)
    source = np.random.default_rng(seed)
    qpos, qvel = random_state(robot, model, source)
    again = robot.to_mujoco(robot.from_mujoco(qpos, qvel))
    np.testing.assert_allclose(again[0], qpos, atol=1e-14)
    np.testing.assert_allclose(again[1], qvel, atol=1e-13)
    own, theirs = accelerations(robot, model, qpos, qvel)
    # A robot whose joints feel nothing (rotors on a fixed frame) has accelerations of zero: then 1 is the size.
    found = float(np.abs(own - theirs).max() / max(1.0, np.abs(theirs).max()))
    if all(joint.kind > BALL for joint in robot._joints):
        found = max(found, *(mass_and_bias(robot, model, qpos, v) for v in (qvel, 0 * qvel)))
    return found


BALL = 1
"""MuJoCo's number of a ball joint; a free one is 0, and those above have one coordinate."""


def mass_and_bias(robot: Any, model: Any, qpos: Any, qvel: Any) -> float:
    """Return by how much M and the forces without acceleration (at rest: gravity) differ, relative to their size."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    names = [item.name for item in robot.system.coordinates]
    place = {joint.name: joint.rate for joint in robot._joints}
    order = [place[name] for name in names]
    terms: Any = zw.compile(robot.system).terms(robot.from_mujoco(qpos, qvel), robot.params)
    theirs = mass[np.ix_(order, order)]
    bias = (data.qfrc_bias - data.qfrc_passive)[order]
    return max(
        float(np.abs(terms.mass[:, :, 0] - theirs).max() / np.abs(theirs).max()),
        float(np.abs(terms.force[:, 0] + bias).max() / max(1.0, np.abs(bias).max())),
    )


@pytest.mark.parametrize("name", ["arm", "hopper", "linkage"])
def test_shipped_robots_accelerate_as_mujoco_says(name: str) -> None:
    assert compared(name, 3) < 1e-9


def test_a_floating_arm_accelerates_as_mujoco_says() -> None:
    # Its base has no mass of its own in the file, so the turret carries it: MuJoCo refuses a massless moving link.
    with pytest.raises(zw.DeclarationError, match="base"):
        zw.load_robot("arm", floating=True)


@pytest.mark.skipif(not FOLDER, reason="ZWANG_ROBOTS names no folder of robots")
def test_robots_of_a_folder_accelerate_as_mujoco_says() -> None:
    files = [*sorted(Path(FOLDER).rglob("*.urdf")), *sorted(Path(FOLDER).rglob("*.xml"))]
    compared_files = 0
    for file in files:
        try:
            robot = zw.load_robot(file)
        except zw.DeclarationError:
            continue  # MuJoCo refuses it, with its own words
        if not robot._joints or len(robot._joints) > 60:
            continue
        assert compared(file, 5) < 1e-9, file
        compared_files += 1
    assert compared_files


def test_closed_chain_closes_and_moves_with_its_gear() -> None:
    robot = zw.load_robot("linkage")
    model = zw.compile(robot.system)
    start = model.project({**robot.state, "v_drive": 1.0}, robot.params)
    motion = zw.simulate(model, start, robot.params, until=0.2)
    assert motion.status == zw.results.MotionStatus.REACHED
    names = [item.name for item in robot.system.coordinates]
    wheel, drive = (motion.q[:, names.index(name)] for name in ("wheel", "drive"))
    np.testing.assert_allclose(wheel, -2 * drive, atol=1e-10)


URDF = """<robot name="r"><link name="base"/><link name="arm">{inertial}{more}</link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""
INERTIAL = """<inertial><mass value="{m}"/><inertia ixx="{a}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
MESH = """<collision><geometry><mesh filename="package://lost/arm.stl"/></geometry></collision>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (URDF.format(inertial=INERTIAL.format(m=0, a=1), more=""), "arm"),
        (URDF.format(inertial=INERTIAL.format(m=1, a=9), more=""), "arm"),
        (URDF.format(inertial="", more=MESH), "link 'arm' has no <inertial>.*missing"),
        ("<robot", "not XML"),
        ("<house/>", "root is <house>"),
    ],
)
def test_bad_files_are_refused_with_the_part_and_the_cure(tmp_path: Any, text: str, words: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(zw.DeclarationError, match=words):
        zw.load_robot(path)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_a_mesh_that_no_inertia_needs_is_left_out_by_name(tmp_path: Any) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.format(inertial=INERTIAL.format(m=1, a=1), more=MESH))
    assert zw.load_robot(path).left_out == (("mesh", "arm", "forms of meshes are not read; its inertia is given"),)
    with pytest.raises(zw.DeclarationError, match="no such file"):
        zw.load_robot(tmp_path / "nothing.urdf")


def test_the_command_line_reads_robots(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from zwang.cli import main

    path = tmp_path / "robot.urdf"
    path.write_text(URDF.format(inertial=INERTIAL.format(m=1, a=1), more=""))
    found = CliRunner().invoke(main, ["check", str(path)])
    assert found.exit_code == 0, found.stderr
    assert "j" in found.stdout
    lost = CliRunner().invoke(main, ["check", str(tmp_path / "lost.urdf")])
    assert lost.exit_code == 2
    assert "no such file" in lost.stderr


KINDS = ("revolute", "prismatic", "spherical", "universal", "cylindrical")


def unit(source: Any, size: int) -> Any:
    found = source.normal(size=size)
    return found / np.linalg.norm(found)


@pytest.mark.parametrize("seed", by_day(range(20), (0, 12)))
def test_random_trees_have_the_mass_and_bias_of_mujoco(seed: int) -> None:
    source = np.random.default_rng(seed)
    gravity = source.normal(size=3)
    here, spec = zw.Bodies("tree", gravity=gravity), mujoco.MjSpec()
    spec.option.gravity = gravity
    hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
    there: dict[str, Any] = {"ground": (spec.worldbody, np.zeros(3))}
    # Balls are compared by accelerations above; here the mass matrices are those of the same coordinates.
    for i in range(int(source.integers(1, 8))):
        parent = str(source.choice(list(there)))
        kind = str(source.choice([item for item in KINDS if item != "spherical"]))
        at, place, turned = source.normal(size=3), source.normal(size=3), unit(source, 4)
        moments = 1 + source.uniform(size=3)
        mass, axis = 0.5 + source.uniform(), unit(source, 3)
        other = unit(source, 3)
        here.body(f"b{i}", mass=mass, inertia=moments, at=at, turned=turned)
        body = there[parent][0].add_body(name=f"b{i}", pos=place - there[parent][1])
        body.mass, body.ipos, body.iquat, body.inertia, body.explicitinertial = mass, at - place, turned, moments, 1
        there[f"b{i}"] = body, place
        bodies = (f"j{i}", parent, f"b{i}")
        if kind == "universal":
            here.universal(*bodies, at=place, axes=(axis, other))
            body.add_joint(name=f"j{i}_1", type=hinge, axis=axis)
            body.add_joint(name=f"j{i}_2", type=hinge, axis=other)
        elif kind == "cylindrical":
            here.cylindrical(*bodies, at=place, axis=axis, armature=(0.1, 0.2))
            body.add_joint(name=f"j{i}_2", type=slide, axis=axis).armature = 0.2
            body.add_joint(name=f"j{i}_1", type=hinge, axis=axis).armature = 0.1
        else:
            getattr(here, kind)(*bodies, at=place, axis=axis)
            body.add_joint(name=f"j{i}", type=hinge if kind == "revolute" else slide, axis=axis)
    system, model = here.system(), spec.compile()
    names = [item.name for item in system.coordinates]
    state = {name: float(source.normal()) for name in (*names, *(f"v_{name}" for name in names))}
    data = mujoco.MjData(model)
    order = [model.joint(name).id for name in names]
    for name, joint in zip(names, order, strict=True):
        data.qpos[joint], data.qvel[joint] = state[name], state[f"v_{name}"]
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    terms: Any = zw.compile(system).terms(state, {})
    # Both recursions round some 1e3 operations: 1e-12 of the size.
    np.testing.assert_allclose(terms.mass[:, :, 0], mass[np.ix_(order, order)], atol=1e-11 * np.abs(mass).max())
    bias = data.qfrc_bias[order]
    np.testing.assert_allclose(-terms.force[:, 0], bias, atol=1e-11 * max(1.0, np.abs(bias).max()))


def fixed_together(camera: str, base: str = "1e-6", mass: float = 1e-6) -> str:
    """Return a URDF: an empty base carries a trunk, turned, which carries a camera; a leg hangs at the base."""
    ones = " ".join(f'{entry}="{base}"' for entry in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    solid = '<inertial><origin xyz="{}"/><mass value="{}"/><inertia {}/></inertial>'.format
    diagonal = 'ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"'.format
    return f"""<robot name="fixed">
      <link name="base">{solid("0 0 0", mass, ones)}</link>
      <link name="trunk">{solid("0.1 0 0", 2, diagonal(0.02, 0.03, 0.04))}</link>
      <link name="camera">{solid("0 0 0.05", 0.5, camera)}
        <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="leg">{solid("0 0 -0.2", 1, diagonal(0.01, 0.01, 0.002))}</link>
      <joint name="a" type="fixed"><origin xyz="0 0.3 0" rpy="0 0 1.5707963267948966"/>
        <parent link="base"/><child link="trunk"/></joint>
      <joint name="b" type="fixed"><origin xyz="0.2 0 0" rpy="1.5707963267948966 0 0"/>
        <parent link="trunk"/><child link="camera"/></joint>
      <joint name="hip" type="continuous"><axis xyz="0 1 0"/><parent link="base"/><child link="leg"/></joint>
    </robot>"""


def test_links_that_are_fixed_together_count_as_one_body(tmp_path: Path) -> None:
    """A base of placeholders and a camera without inertia are read with the trunk between them, and told."""
    from zwang._bodies.robot_file import compiled

    file = tmp_path / "fixed.urdf"
    file.write_text(fixed_together('ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'))
    _, model, left = compiled(file, True)
    assert [item[:2] for item in left] == [("inertia", "base"), ("inertia", "camera")]
    # In the base: trunk at (0, 0.3 + 0.1, 0), its x axis along y; camera 0.05 along its z, which is -x of the ground's
    # turned by a quarter: (0.05, 0.5, 0). Parallel axes by hand.
    masses, places = [1e-6, 2.0, 0.5], np.array([[0, 0, 0], [0, 0.4, 0], [0.05, 0.5, 0]])
    centre = np.average(places, axis=0, weights=masses)
    inertia = np.diag([0.03, 0.02, 0.04]) + 1e-6 * np.ones((3, 3))
    for m, place in zip(masses, places, strict=True):
        arm = place - centre
        inertia += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "base")
    assert model.body_mass[number] == pytest.approx(2.500001, rel=1e-12)
    assert model.body_ipos[number] == pytest.approx(centre, abs=1e-12)
    assert np.sort(model.body_inertia[number]) == pytest.approx(np.linalg.eigvalsh(inertia), rel=1e-9)
    assert model.geom_pos[0] == pytest.approx([0.2, 0.5, 0.0], abs=1e-12)  # the ball of the camera, 0.2 along its z
    robot = zw.load_robot(file)  # the base stands on the ground: its inertia doesn't matter
    assert [item.name for item in robot.system.coordinates] == ["hip"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"', r"link 'camera' has the principal moments 1, 1, 5 kg m2"),
        ('ixx="1" iyy="1" izz="-5" ixy="0" ixz="0" iyz="0"', r"link 'camera' .* -5, 1, 1 .*Correct its <inertia>"),
        ('ixx="one" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"', "can't be read: .*'one'"),
    ],
)
def test_an_inertia_that_no_body_has_names_the_link_and_its_moments(tmp_path: Path, given: str, said: str) -> None:
    file = tmp_path / "fixed.urdf"
    file.write_text(fixed_together(given))
    with pytest.raises(zw.DeclarationError, match=said):
        zw.load_robot(file, floating=True)


def test_a_mesh_that_is_missing_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    body = '<body><freejoint/><geom type="mesh" mesh="shell"/></body>'
    file.write_text(
        f'<mujoco><asset><mesh name="shell" file="gone.stl"/></asset><worldbody>{body}</worldbody></mujoco>'
    )
    with pytest.raises(zw.DeclarationError, match=r"'gone.stl' of the mesh 'shell' can't be read\. Put it where"):
        zw.load_robot(file)


def test_what_no_joint_moves_against_the_ground_is_left_out_by_name(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="cart" pos="0 0 .05"><joint name="rail" type="slide" axis="1 0 0"/>
        <geom name="hull" type="box" size=".2 .1 .1"/>
        <body name="wheel"><joint name="axle" axis="0 1 0"/><geom name="tyre" type="cylinder" size=".05 .02"
          euler="90 0 0"/></body>
        <body name="pole" pos="0 0 .3"><joint name="hinge" axis="0 1 0"/>
          <geom name="rod" type="capsule" fromto="0 0 0 0 0 .6" size=".02"/></body></body></worldbody></mujoco>"""
    (tmp_path / "cart.xml").write_text(text)
    robot = zw.load_robot(tmp_path / "cart.xml")
    kept = [item for item in robot.left_out if item[2] == "no joint moves it against the ground"]
    assert [item[1] for item in kept] == ["hull", "tyre"]
    # The end of the pole at its hinge keeps its height; the other one can fall to the ground.
    assert [name for name in robot.system.constraints.names if "floor" in name] == ["rod on floor"]
    assert compared(tmp_path / "cart.xml", 2) < 1e-9


def test_what_a_file_disables_does_not_act(tmp_path: Path) -> None:
    text = """<mujoco><option><flag gravity="disable" spring="disable" limit="disable" frictionloss="disable"
      contact="disable"/></option><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 1"><joint name="hinge" axis="0 1 0" stiffness="3" damping=".2" frictionloss=".1" limited="true"
        range="-10 10"/><geom type="capsule" fromto="0 0 0 0 0 .6" size=".02"/></body></worldbody></mujoco>"""
    (tmp_path / "swing.xml").write_text(text)
    robot = zw.load_robot(tmp_path / "swing.xml")
    assert not robot.system.constraints
    # The damper alone acts.
    assert compared(tmp_path / "swing.xml", 4) < 1e-9
    found = zw.reactions(robot.system, {**robot.state, "hinge": 0.3}, robot.params)
    assert found.accelerations[0] == pytest.approx([0.0])
