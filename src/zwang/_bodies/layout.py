"""Which joints make the tree, in which order, and what coordinates there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import sympy as sp

from zwang import _expressions
from zwang._bodies.parts import KINDS, JointPart, Told
from zwang._declare.body_tree import GROUND, Slide, TreeJoint, Turn
from zwang._declare.symbols import Coordinate, coordinates
from zwang._declare.vectors import Vector
from zwang.errors import DeclarationError

E = ("e0", "e1", "e2", "e3")


class Layout(NamedTuple):
    """The joints of the tree, and those that constraints make, some with coordinates of their own."""

    joints: tuple[TreeJoint, ...]
    closures: tuple[JointPart, ...]
    loose: dict[str, Coordinate]


class OutwardJoint(NamedTuple):
    """A joint on the way outwards from the ground; `backwards` where its second body is the nearer one."""

    part: JointPart
    backwards: bool


def joint_layout(told: Told, where: str) -> Layout:
    """Return the tree that the plain joints make; what is joined to nothing, or floats together, is free."""
    branches = _spanning(told, where)
    closures = tuple(part for part in told.joints.values() if part.closes or part.rough)
    return _layout(told, branches, closures, where)


def cartesian_layout(told: Told, where: str) -> Layout:
    """Return every body free, and every joint as constraints."""
    _spanning(told, where)  # loops of plain joints are a mistake in either kind of coordinates
    branches = [OutwardJoint(free_part(name), False) for name in told.bodies]
    return _layout(told, branches, tuple(part for part in told.joints.values() if part.kind != "free"), where)


def free_part(body: str) -> JointPart:
    """Return the joint of a body that nothing holds."""
    zero = (sp.Integer(0),) * 3
    return JointPart("free", body, GROUND, body, (zero, zero), ((), ()), None, ())


def _spanning(told: Told, where: str) -> list[OutwardJoint]:
    """Return the plain joints in the order in which they reach the bodies from the ground."""
    plain = [part for part in told.joints.values() if not part.closes]
    _refuse_loops(told, plain, where)
    touching: dict[str, list[JointPart]] = {name: [] for name in (GROUND, *told.bodies)}
    for part in (part for part in plain if not part.rough):  # what rubs by its own force is made by constraints
        touching[part.first].append(part)
        touching[part.second].append(part)
    found: list[OutwardJoint] = []
    reached = {GROUND}
    queue = deque([GROUND])

    def follow() -> None:
        while queue:
            near = queue.popleft()
            for part in touching[near]:
                far = part.second if part.first == near else part.first
                if far not in reached:
                    found.append(OutwardJoint(part, part.second == near))
                    reached.add(far)
                    queue.append(far)

    follow()
    for body in told.bodies:
        if body not in reached:
            found.append(OutwardJoint(free_part(body), False))
            reached.add(body)
            queue.append(body)
            follow()
    return found


def _refuse_loops(told: Told, plain: Iterable[JointPart], where: str) -> None:
    group = {name: name for name in (GROUND, *told.bodies)}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for part in plain:
        first, second = root(part.first), root(part.second)
        if first == second:
            raise DeclarationError(
                f"{where}: the joint '{part.name}' closes a loop: '{part.first}' and '{part.second}' are joined. "
                f"Write close('{part.kind}', '{part.name}', ...) for one joint of each loop."
            )
        group[first] = second


def _layout(told: Told, branches: Iterable[OutwardJoint], closures: tuple[JointPart, ...], where: str) -> Layout:
    branches = list(branches)
    names: list[str] = []
    angles: list[str] = []
    for branch in branches:
        own, turning = _coordinate_names(branch.part)
        names += own
        angles += turning
    for part in closures:
        for label, what, given in zip(part.labels, KINDS[part.kind], part.options, strict=True):
            if _needs_coordinate(what, given):
                names.append(label)
                angles += [label] if what == "turn" and given.get("limits") is None else []
    if not names:
        raise DeclarationError(f"{where}: nothing can move. Add a body and a joint, or leave a body free.")
    doubled = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if doubled is not None:
        raise DeclarationError(f"{where}: two coordinates would be called '{doubled}'. Rename a joint or a body.")
    # What stands in an equation of its own counts turns: it is no angle.
    counted = {name for _, text in told.relations for name in _expressions.names(text, where=where)}
    turning = [name for name in angles if name not in counted]
    symbols = {q.name: q for q in coordinates(names, angles=turning)[0]}
    joints = tuple(_tree_joint(branch, symbols, where) for branch in branches)
    taken = {q.name for joint in joints for q in joint.coordinates}
    return Layout(joints, closures, {name: q for name, q in symbols.items() if name not in taken})


def _needs_coordinate(what: str, given: Mapping[str, Any]) -> bool:
    """Whether a joint that constraints make needs a coordinate: for what depends on it, not on its rate alone."""
    return what == "screw" or given.get("limits") is not None or given["stiffness"] != 0 or given["armature"] != 0


def _coordinate_names(part: JointPart) -> tuple[list[str], list[str]]:
    """Return the names of the coordinates of a joint, and of those that are angles."""
    if part.kind == "free":
        return [f"{item}_{part.second}" for item in ("x", "y", "z", *E)], []
    if part.kind == "spherical":
        return [f"{item}_{part.name}" for item in E], []
    turning = [
        label
        for label, what, given in zip(part.labels, KINDS[part.kind], part.options, strict=True)
        if what == "turn" and given.get("limits") is None
    ]
    return list(part.labels), turning


def _tree_joint(branch: OutwardJoint, symbols: Mapping[str, Coordinate], where: str) -> TreeJoint:
    part, backwards = branch
    q = tuple(symbols[name] for name in _coordinate_names(part)[0])
    slides, turns = moves(part)
    if backwards:
        if part.kind in ("planar", "spherical"):
            raise DeclarationError(
                f"{where}: the {part.kind} joint '{part.name}' must be told outwards: '{part.second}' is nearer to the "
                f"ground than '{part.first}'. Write {part.kind}('{part.name}', '{part.second}', '{part.first}', ...)."
            )
        slides = tuple(slide._replace(factor=-slide.factor) for slide in slides)
        turns = tuple(turn._replace(axis=_minus(turn.axis)) for turn in reversed(turns))
        part = replace(part, first=part.second, second=part.first)
    armature = tuple(given["armature"] for given in part.options) or (sp.Integer(0),) * len(q)
    return TreeJoint(part.name, part.kind, part.first, part.second, part.at[0], slides, turns, q, armature)


def moves(part: JointPart) -> tuple[tuple[Slide, ...], tuple[Turn, ...]]:
    """Return slides and turns of a joint, along the axes that its first body carries."""
    axes, one = part.axes[0], sp.Integer(1)
    if part.kind in ("revolute", "screw"):
        slides = (Slide(axes[0], part.pitch, 0),) if part.kind == "screw" else ()
        return slides, (Turn(axes[0], 0),)
    if part.kind == "prismatic":
        return (Slide(axes[0], one, 0),), ()
    if part.kind == "cylindrical":
        return (Slide(axes[0], one, 1),), (Turn(axes[0], 0),)
    if part.kind == "universal":
        return (), (Turn(axes[0], 0), Turn(axes[1], 1))
    if part.kind == "planar":
        first, second = across(axes[0])
        return (Slide(first, one, 0), Slide(second, one, 1)), (Turn(axes[0], 2),)
    return (), ()


def across(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that complete an axis to a right-handed triad.

    The first is the next axis of the frame (x for z, y for x, z for y) made perpendicular, that of the component of the
    axis which is the largest; where the axis has symbols, the last one that is not zero counts as the largest.
    """
    if all(item.is_number for item in axis):
        sizes = [abs(float(item)) for item in axis]
        main = max(range(3), key=lambda i: (sizes[i], i))
    else:
        main = max(i for i in range(3) if axis[i] != 0)
    start = [sp.Integer(0)] * 3
    start[(main + 1) % 3] = sp.Integer(1)
    along = sp.Add(*(a * b for a, b in zip(axis, start, strict=True)))
    first = [a - along * b for a, b in zip(start, axis, strict=True)]
    length = sp.sqrt(sp.trigsimp(1 - along**2))
    x, y, z = (item / length for item in first)
    u, v, w = axis
    return (x, y, z), (v * z - w * y, w * x - u * z, u * y - v * x)


def _minus(axis: Vector) -> Vector:
    return -axis[0], -axis[1], -axis[2]
