"""Files of robots, URDF and MJCF, compiled by MuJoCo: what stands in them, with what can't be read told apart.

MuJoCo reads a URDF's geometry too, and refuses the file where a mesh is missing. Only what moves matters here: visuals
go, and meshes go unless the inertia of a link has to come from them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from zwang._bodies.fixed_links import LeftOut, joined
from zwang.errors import DeclarationError

PACKAGE = "package://"
FLOATING = "zwang_world"


def mujoco() -> Any:
    """Return the package that reads robots; it must not write a log into the working folder."""
    try:
        import mujoco as found
    except ImportError:
        raise DeclarationError(
            "load_robot needs mujoco-core. Install it with: pip install 'zwang[robots]' (there are no wheels for macOS "
            "on Intel and Windows on ARM)."
        ) from None
    if found.get_mju_user_warning() is None:
        found.set_mju_user_warning(_quiet)
    return found


def _quiet(message: Any) -> None:
    """Take a warning of MuJoCo that would otherwise go to a file."""


def compiled(path: Path, floating: bool | None) -> tuple[Any, Any, list[LeftOut]]:
    """Return the specification, the compiled model, and what was left out of the file."""
    library = mujoco()
    if not path.is_file():
        raise DeclarationError(f"{path}: no such file. Give the path of a URDF or MJCF file.")
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path}: not XML: {error}. Give a URDF or MJCF file.") from None
    left: list[LeftOut] = []
    if root.tag == "robot":
        text = _prepared(root, path, floating, left)
        spec = _guarded(path, lambda: library.MjSpec.from_string(text))
    elif root.tag == "mujoco":
        spec = _guarded(path, lambda: library.MjSpec.from_file(str(path)))
        if floating is not None:
            _float(spec, floating)
    else:
        raise DeclarationError(f"{path}: its root is <{root.tag}>; a URDF has <robot>, an MJCF file <mujoco>.")
    left += [("tendon", item.name, "strings over bodies are not read") for item in spec.tendons]
    left += [("actuator", item.name, "give motor(joint, u) instead") for item in spec.actuators]
    left += [("flex", item.name, "bodies are rigid here") for item in spec.flexes]
    model = _guarded(path, spec.compile, spec.meshes)
    return spec, model, left


def _guarded(path: Path, make: Any, meshes: Any = ()) -> Any:
    try:
        return make()
    except (ValueError, RuntimeError) as error:
        for item in meshes:
            if item.file and f"'{item.file}'" in str(error):
                raise DeclarationError(
                    f"{path}: the file '{item.file}' of the mesh '{item.name}' can't be read. Put it where the file "
                    "says, or take the mesh and its geoms out and give their body an <inertial>."
                ) from None
        words = " ".join(str(error).split()).removeprefix("Error: ")
        raise DeclarationError(f"{path}: {words} Correct the file there.") from None


def _float(spec: Any, floating: bool) -> None:
    """Free the bodies that stand on the world of an MJCF file, or fix them there."""
    for body in spec.worldbody.bodies:
        free = [joint for joint in body.joints if int(joint.type) == 0]
        if floating and not body.joints:
            body.add_freejoint()
        elif not floating and free:
            spec.delete(free[0])


def _prepared(root: Any, path: Path, floating: bool | None, left: list[LeftOut]) -> str:
    """Return the text of a URDF without visuals, and without meshes that are not needed."""
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for collision in link.findall("collision"):
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            name = link.get("name", "")
            if link.find("inertial") is not None:
                link.remove(collision)
                left.append(("mesh", name, "forms of meshes are not read; its inertia is given"))
                continue
            mesh.set("filename", str(_resolved(mesh.get("filename", ""), path, name)))
    joined(root, path, left, floating=bool(floating))
    own = root.find("mujoco")
    if own is None:
        own = ElementTree.SubElement(root, "mujoco")
    compiler = own.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(own, "compiler")
    compiler.set("strippath", "false")
    if floating:
        children = {joint.find("child").get("link") for joint in root.iter("joint")}
        base = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
        ElementTree.SubElement(root, "link", name=FLOATING)
        joint = ElementTree.SubElement(root, "joint", name=f"{base}_floats", type="floating")
        ElementTree.SubElement(joint, "parent", link=FLOATING)
        ElementTree.SubElement(joint, "child", link=base)
    return ElementTree.tostring(root, encoding="unicode")


def _resolved(name: str, path: Path, link: str) -> Path:
    """Return the file of a mesh; a package is looked for in the folders above the file."""
    bare = name.removeprefix(PACKAGE).removeprefix("file://")
    parts = Path(bare).parts
    tries = [path.parent / bare]
    if name.startswith(PACKAGE):
        for folder in path.resolve().parents:
            tries += [folder / bare, folder.joinpath(*parts[1:])]
    for item in tries:
        if item.is_file():
            return item.resolve()
    raise DeclarationError(
        f"{path}: link '{link}' has no <inertial>, and the mesh '{name}' that would give it is missing. Give the link "
        "an <inertial>, or put the mesh where the path says."
    )


def take_out_disabled(model: Any) -> None:
    """Take out of a model what its file disables by flags of its option."""
    flags = mujoco().mjtDisableBit
    off = int(model.opt.disableflags)
    kinds = {
        flags.mjDSBL_GRAVITY: (model.opt.gravity,),
        flags.mjDSBL_SPRING: (model.jnt_stiffness,),
        flags.mjDSBL_DAMPER: (model.dof_damping,),
        flags.mjDSBL_LIMIT: (model.jnt_limited,),
        flags.mjDSBL_FRICTIONLOSS: (model.dof_frictionloss,),
        flags.mjDSBL_EQUALITY: (model.eq_active0,),
        flags.mjDSBL_CONTACT: (model.geom_contype, model.geom_conaffinity),
    }
    constrained = (flags.mjDSBL_LIMIT, flags.mjDSBL_FRICTIONLOSS, flags.mjDSBL_EQUALITY, flags.mjDSBL_CONTACT)
    for flag, arrays in kinds.items():
        if off & int(flag) or (flag in constrained and off & int(flags.mjDSBL_CONSTRAINT)):
            for array in arrays:
                array[:] = 0
