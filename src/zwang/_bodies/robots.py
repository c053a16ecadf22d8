"""`load_robot`: robots from URDF and MJCF files as `Bodies`.

A coordinate is the displacement from MuJoCo's reference pose (qpos0), in which everything is placed. Several joints of
one body become a chain of massless bodies. The quaternion of a free body is MuJoCo's own; that of a ball joint is
turned into the axes of the ground.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._bodies.builder import Bodies
from zwang._bodies.fixed_links import LeftOut
from zwang._bodies.robot_file import compiled, mujoco, take_out_disabled
from zwang._declare import shapes
from zwang._declare.body_tree import GROUND
from zwang._declare.system import System
from zwang._outputs import as_path
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
FREE, BALL, SLIDE, HINGE = range(4)
NEAR = 1e-6
"""By how much a weld may miss the reference configuration: files have some six digits."""
LOOKS = 4
"""Configurations at which it is looked whether a geom moves against the ground."""
STILL = 1e-9
"""By how much its height [m] and its slopes may differ there, where no joint moves it."""
PLANE, SPHERE, CAPSULE, CYLINDER, BOX = 0, 2, 3, 5, 6
CONNECT, WELD, JOINT = 0, 1, 2
MODELS = {file.stem: file for file in sorted((Path(__file__).parent / "models").iterdir())}
ALONG_X = ((0, 0, -1), (0, 1, 0), (1, 0, 0))
"""Turns the x axis, along which a Capsule lies here, to the z axis of MuJoCo's."""


def load_robot(path: str | Path, *, floating: bool | None = None) -> Robot:
    """Read a robot from a URDF or MJCF file.

    Parameters
    ----------
    path : path, or one of the names 'arm', 'hopper', 'linkage'
        The file; meshes are looked for beside it and, for ``package://``, in the folders above. The names are small
        robots that come with the package.
    floating : bool, optional
        Whether the base is free (True) or fixed to the ground (False); by default as the file says.

    Returns
    -------
    Robot
        Its `bodies`, `system`, `params`, home `state`, and what was `left_out`.

    Examples
    --------
    >>> import zwang as zw
    >>> robot = zw.load_robot("hopper")
    >>> robot
    Robot 'hopper': 9 freedoms, 1 things left out
    >>> robot.left_out
    (('actuator', 'push', 'give motor(joint, u) instead'),)
    >>> robot.names["hip x"], robot.system.constraints.names
    ('hip_x', ('unit_trunk', 'telescope low', 'telescope high', 'foot on floor'))
    """
    file = MODELS.get(str(path), as_path(path))
    spec, model, left = compiled(file, floating)
    return _RobotReader(spec, model, left, file).robot()


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot that was read from a file.

    Attributes
    ----------
    bodies : Bodies
    params : mapping
        Values of its parameters: none, since the file has numbers.
    state : mapping
        Its home: the key frame 'home' of the file, or the first one, or the reference pose; at rest.
    left_out : tuple of (kind, name, why)
        What stands in the file and is not read.
    names : mapping
        Name in the file -> name here.
    """

    bodies: Bodies
    params: Mapping[str, float]
    state: Mapping[str, float]
    left_out: tuple[LeftOut, ...]
    names: Mapping[str, str]
    _joints: tuple[_Coordinate, ...] = field(repr=False)
    _sizes: tuple[int, int] = field(repr=False)

    @cached_property
    def system(self) -> System:
        """In joint coordinates."""
        return self.bodies.system()

    def to_mujoco(self, state: Mapping[Any, Any]) -> tuple[Array, Array]:
        """Return MuJoCo's (qpos, qvel) of a state."""
        given = {str(key): float(value) for key, value in state.items() if str(key) != "on"}
        qpos, qvel = np.zeros(self._sizes[0]), np.zeros(self._sizes[1])
        for joint in self._joints:
            joint.write(given, qpos, qvel)
        return qpos, qvel

    def from_mujoco(self, qpos: Any, qvel: Any = None) -> dict[str, float]:
        """Return the state of MuJoCo's qpos and qvel (at rest without it)."""
        q = np.asarray(qpos, dtype=float)
        v = np.zeros(self._sizes[1]) if qvel is None else np.asarray(qvel, dtype=float)
        if q.shape != (self._sizes[0],) or v.shape != (self._sizes[1],):
            raise DeclarationError(
                f"{self.bodies.name}: from_mujoco needs {self._sizes[0]} numbers of qpos and {self._sizes[1]} of qvel; "
                f"it was given {q.shape} and {v.shape}."
            )
        return {key: value for joint in self._joints for key, value in joint.read(q, v).items()}

    def __repr__(self) -> str:
        left = f", {len(self.left_out)} things left out" if self.left_out else ""
        return f"Robot '{self.bodies.name}': {self._sizes[1]} freedoms{left}"


@dataclass(frozen=True, eq=False)
class _Coordinate:
    """A joint of MuJoCo and its coordinates here: where it is in qpos and qvel, and how the two differ."""

    kind: int
    name: str
    place: int
    rate: int
    start: float
    turn: Array
    arm: Array

    def read(self, q: Array, v: Array) -> dict[str, float]:
        if self.kind in (SLIDE, HINGE):
            return {self.name: float(q[self.place] - self.start), f"v_{self.name}": float(v[self.rate])}
        first = self.place + (3 if self.kind == FREE else 0)
        e = q[first : first + 4] / np.linalg.norm(q[first : first + 4])
        w = v[self.rate + (3 if self.kind == FREE else 0) :][:3]
        found: dict[str, float] = {}
        if self.kind == FREE:
            R = rotation(e)
            position = q[self.place : self.place + 3] + R @ self.arm
            velocity = v[self.rate : self.rate + 3] + R @ np.cross(w, self.arm)
            for axis, x, u in zip("xyz", position, velocity, strict=True):
                found |= {f"{axis}_{self.name}": float(x), f"v_{axis}_{self.name}": float(u)}
        else:
            e, w = np.array([e[0], *(self.turn @ e[1:])]), self.turn @ w
        rates = 0.5 * np.array([-(e[1:] @ w), *(e[0] * w + np.cross(e[1:], w))])
        for k in range(4):
            found |= {f"e{k}_{self.name}": float(e[k]), f"v_e{k}_{self.name}": float(rates[k])}
        return found

    def write(self, given: Mapping[str, float], q: Array, v: Array) -> None:
        if self.kind in (SLIDE, HINGE):
            q[self.place], v[self.rate] = given[self.name] + self.start, given.get(f"v_{self.name}", 0.0)
            return
        e = np.array([given[f"e{k}_{self.name}"] for k in range(4)])
        rates = np.array([given.get(f"v_e{k}_{self.name}", 0.0) for k in range(4)])
        w = 2 * (e[0] * rates[1:] - rates[0] * e[1:] - np.cross(e[1:], rates[1:]))
        if self.kind == BALL:
            q[self.place : self.place + 4] = [e[0], *(self.turn.T @ e[1:])]
            v[self.rate : self.rate + 3] = self.turn.T @ w
            return
        R = rotation(e)
        x = np.array([given[f"{axis}_{self.name}"] for axis in "xyz"])
        u = np.array([given.get(f"v_{axis}_{self.name}", 0.0) for axis in "xyz"])
        q[self.place : self.place + 7] = [*(x - R @ self.arm), *e]
        v[self.rate : self.rate + 6] = [*(u - R @ np.cross(w, self.arm)), *w]


def rotation(e: Array) -> Array:
    """Return the matrix of a unit quaternion, scalar first."""
    a, u = e[0], e[1:]
    skew = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    found: Array = np.eye(3) + 2 * a * skew + 2 * skew @ skew
    return found


class _RobotReader:
    def __init__(self, spec: Any, model: Any, left: list[LeftOut], path: Path) -> None:
        self.spec, self.model, self.left, self.path = spec, model, left, path
        library = mujoco()
        take_out_disabled(model)
        self.data = library.MjData(model)
        self.data.qpos[:] = model.qpos0
        library.mj_kinematics(model, self.data)
        self.names: dict[str, str] = {}
        self.taken = {GROUND}
        name = re.sub(r"[^\x20-\x7e]", "?", spec.modelname or path.stem) or "robot"
        self.bodies = Bodies(name, gravity=[float(item) for item in model.opt.gravity])
        self.joints: list[_Coordinate] = []
        self.own: dict[int, str] = {0: GROUND}

    def named(self, name: str, kind: str) -> str:
        """Return an identifier for a name of the file; clashes are numbered."""
        plain = re.sub(r"\W", "_", name, flags=re.ASCII) or kind
        plain = plain if plain[0].isalpha() else f"{kind}_{plain.lstrip('_')}"
        plain, number = plain[:48], 1
        found = plain
        while found in self.taken:
            number += 1
            found = f"{plain}_{number}"
        self.taken.add(found)
        if name:
            self.names.setdefault(name, found)
        return found

    def robot(self) -> Robot:
        for body in range(1, self.model.nbody):
            self._body(body)
        for place in range(self.model.neq):
            self._equality(place)
        self._contacts()
        self._what_is_left()
        made = Robot(
            self.bodies,
            {},
            {},
            tuple(self.left),
            dict(self.names),
            tuple(self.joints),
            (self.model.nq, self.model.nv),
        )
        keys = [self.model.key(i).name for i in range(self.model.nkey)]
        home = self.model.key_qpos[keys.index("home") if "home" in keys else 0] if keys else self.model.qpos0
        object.__setattr__(made, "state", made.from_mujoco(home))
        return made

    # --- bodies and joints -------------------------------------------------------------------------------------------

    def _body(self, body: int) -> None:
        model, data = self.model, self.data
        name = self.named(model.body(body).name, "body")
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        turned = data.xmat[body].reshape(3, 3)
        inside = rotation(model.body_iquat[body])
        inertia = inside @ np.diag(model.body_inertia[body]) @ inside.T
        parent = self.own[int(model.body_parentid[body])]
        for k in range(count - 1):
            between = self.named(f"{name}_{k + 1}", "body")
            self.bodies.body(between, mass=0, inertia=(0, 0, 0), at=_numbers(data.xipos[body]))
            self._joint(first + k, parent, between, body)
            parent = between
        self.bodies.body(
            name,
            mass=float(model.body_mass[body]),
            inertia=_six(inertia),
            at=_numbers(data.xipos[body]),
            turned=[_numbers(row) for row in turned],
        )
        self.own[body] = name
        if count:
            self._joint(first + count - 1, parent, name, body)
        else:
            self.bodies.fixed(self.named(f"{name}_fixed", "joint"), parent, name, at=_numbers(data.xpos[body]))

    def _joint(self, joint: int, parent: str, child: str, body: int) -> None:
        model, data = self.model, self.data
        kind, place, rate = (int(item[joint]) for item in (model.jnt_type, model.jnt_qposadr, model.jnt_dofadr))
        turned = data.xmat[body].reshape(3, 3)
        label = model.joint(joint).name
        name = self.named(label or f"{child}_joint", "joint")
        at = _numbers(data.xpos[body] + turned @ model.jnt_pos[joint])
        if kind == FREE:
            self.names[label] = child
            self.bodies.free(child)
            arm = np.array(model.body_ipos[body])
            self.joints.append(_Coordinate(kind, child, place, rate, 0.0, np.eye(3), arm))
        elif kind == BALL:
            self.bodies.spherical(name, parent, child, at=at)
            self.joints.append(_Coordinate(kind, name, place, rate, 0.0, turned.copy(), np.zeros(3)))
            for what in ("dof_damping", "dof_armature", "dof_frictionloss"):
                if getattr(model, what)[rate]:
                    self.left.append((what.removeprefix("dof_"), name, "a ball joint has none here"))
            if model.jnt_limited[joint] or np.any(model.jnt_stiffness[joint]):
                self.left.append(("limit or stiffness", name, "a ball joint has none here"))
        else:
            start = float(model.qpos0[place])
            given = self._options(joint, rate, start, name)
            method = self.bodies.revolute if kind == HINGE else self.bodies.prismatic
            method(name, parent, child, at=at, axis=_numbers(turned @ model.jnt_axis[joint]), **given)
            self.joints.append(_Coordinate(kind, name, place, rate, start, np.eye(3), np.zeros(3)))

    def _options(self, joint: int, rate: int, start: float, name: str) -> dict[str, Any]:
        model = self.model
        given: dict[str, Any] = {
            "damping": _first(model.dof_damping[rate]),
            "armature": float(model.dof_armature[rate]),
            "friction": float(model.dof_frictionloss[rate]),
            "stiffness": _first(model.jnt_stiffness[joint]),
        }
        if given["stiffness"]:
            given["rest"] = float(model.qpos_spring[model.jnt_qposadr[joint]]) - start
        if model.jnt_limited[joint]:
            low, high = (float(item) - start for item in model.jnt_range[joint])
            given |= {"limits": (low, high)}
        for what in ("dof_damping", "jnt_stiffness"):
            values = np.ravel(getattr(model, f"{what}poly", np.zeros(0)))
            if values.size and np.any(values.reshape(len(getattr(model, what)), -1)[rate if "dof" in what else joint]):
                self.left.append((f"{what} polynomial", name, "springs and dampers are linear here"))
        return {key: value for key, value in given.items() if not isinstance(value, float) or value}

    # --- loops and contacts ------------------------------------------------------------------------------------------

    def _equality(self, place: int) -> None:
        model = self.model
        kind = int(model.eq_type[place])
        name = self.named(model.equality(place).name or f"equality_{place + 1}", "equality")
        if not model.eq_active0[place]:
            self.left.append(("equality", name, "it is not active"))
        elif kind == JOINT:
            self._coupled(place, name)
        elif kind in (CONNECT, WELD):
            self._closed(place, name, kind)
        else:
            self.left.append(("equality", name, "only connect, weld and joint are read"))

    def _coupled(self, place: int, name: str) -> None:
        """Tie a joint to a polynomial of another, or to a number."""
        model = self.model
        by_joint = {int(model.jnt_qposadr[i]): i for i in range(model.njnt)}
        places = {by_joint[joint.place]: joint.name for joint in self.joints}
        first, second = int(model.eq_obj1id[place]), int(model.eq_obj2id[place])
        factors = model.eq_data[place][:5]
        if second < 0:
            self.bodies.relation(name, f"{places[first]} - ({float(factors[0])!r})")
            return
        terms = [f"({float(c)!r})*{places[second]}**{k}" for k, c in enumerate(factors) if c and k]
        constant = f"({float(factors[0])!r})"
        self.bodies.relation(name, f"{places[first]} - ({' + '.join([constant, *terms])})")

    def _closed(self, place: int, name: str, kind: int) -> None:
        model, data = self.model, self.data
        by_site = int(model.eq_objtype[place]) == int(mujoco().mjtObj.mjOBJ_SITE)
        objects = int(model.eq_obj1id[place]), int(model.eq_obj2id[place])
        owners = [int(model.site_bodyid[item]) if by_site else item for item in objects]
        if kind == WELD:
            if not self._as_it_stands(place, by_site, objects):
                why = "a weld is read where the reference configuration has its pose already"
                self.left.append(("equality", name, why))
                return
            self.bodies.close("fixed", name, *(self.own[item] for item in owners), at=_numbers(data.xipos[owners[1]]))
            return
        if by_site:
            anchors = [np.array(model.site_pos[item]) for item in objects]
        else:
            anchors = [np.array(model.eq_data[place][:3]), np.array(model.eq_data[place][3:6])]
        locals_ = []
        for owner, anchor in zip(owners, anchors, strict=True):
            locals_.append(_numbers(anchor - (model.body_ipos[owner] if owner else 0.0)))
        self.bodies.close("spherical", name, *(self.own[item] for item in owners), at=tuple(locals_))

    def _as_it_stands(self, place: int, by_site: bool, objects: tuple[int, int]) -> bool:
        """Whether a weld keeps the pose that its bodies, or sites, have in the reference configuration."""
        model, data = self.model, self.data
        where, axes = (data.site_xpos, data.site_xmat) if by_site else (data.xpos, data.xmat)
        first, second = (axes[item].reshape(3, 3) for item in objects)
        position, turn = first.T @ (where[objects[1]] - where[objects[0]]), first.T @ second
        if by_site:
            wanted, turned = np.zeros(3), np.eye(3)
        else:
            turned = rotation(model.eq_data[place][6:10])
            wanted = np.array(model.eq_data[place][3:6]) - turned @ model.eq_data[place][:3]
        return bool(np.abs(turn - turned).max() < NEAR and np.abs(position - wanted).max() < NEAR)

    def _contacts(self) -> None:
        model = self.model
        floors = [g for g in range(model.ngeom) if model.geom_type[g] == PLANE and model.geom_bodyid[g] == 0]
        others = 0
        made: dict[int, str] = {}
        held = self._held_against(floors)
        for g in range(model.ngeom):
            if model.geom_bodyid[g] == 0 or not (model.geom_contype[g] or model.geom_conaffinity[g]):
                continue
            others += 1
            for floor in floors:
                if not self._meet(g, floor):
                    continue
                if held[floor][g]:
                    name = model.geom(g).name or f"geom {g}"
                    self.left.append(("geom", name, "no joint moves it against the ground"))
                    break
                form = self._form(g)
                if form is None:
                    name = model.geom(g).name or f"geom {g}"
                    self.left.append(("geom", name, "only spheres, capsules, cylinders and boxes touch the ground"))
                    break
                self._touch(g, floor, form, made)
        if others > 1:
            self.left.append(("contact", "between bodies", "only what touches a plane of the world is read"))

    def _held_against(self, floors: list[int]) -> dict[int, NDArray[np.bool_]]:
        """Return for each plane which geoms keep their height and inclination to it, whatever the joints do."""
        model, data = self.model, mujoco().MjData(self.model)
        source, normals = (
            np.random.default_rng(0),
            self.data.geom_xmat.reshape(-1, 3, 3)[np.array(floors, dtype=int), :, 2],
        )
        looks = []
        for _ in range(LOOKS):
            data.qpos[:] = model.qpos0 + source.uniform(-1.0, 1.0, size=model.nq)
            mujoco().mj_kinematics(model, data)
            axes = data.geom_xmat.reshape(-1, 3, 3).transpose(0, 2, 1)
            looks.append(np.concatenate([(data.geom_xpos @ normals.T)[:, None], axes @ normals.T], axis=1))
        apart = np.ptp(looks, axis=0)  # (geoms, height and three slopes, planes)
        apart[np.isin(model.geom_type, (SPHERE, CAPSULE, CYLINDER)), 1:3] = 0.0  # they are round
        apart[model.geom_type == SPHERE, 3] = 0.0
        still: NDArray[np.bool_] = np.less(apart.max(axis=1), STILL)
        return {floor: still[:, k] for k, floor in enumerate(floors)}

    def _meet(self, first: int, second: int) -> bool:
        types, partners = self.model.geom_contype, self.model.geom_conaffinity
        return bool((types[first] & partners[second]) or (types[second] & partners[first]))

    def _form(self, g: int) -> Any:
        size = [float(item) for item in self.model.geom_size[g]]
        kind = int(self.model.geom_type[g])
        makers: dict[int, Any] = {
            SPHERE: lambda: shapes.Sphere(size[0]),
            CAPSULE: lambda: shapes.Capsule(size[0], 2 * size[1]),
            CYLINDER: lambda: shapes.Cylinder(size[0], 2 * size[1]),
            BOX: lambda: shapes.Box(*(2 * item for item in size)),
        }
        return makers[kind]() if kind in makers else None

    def _shape(self, g: int, form: Any, made: dict[int, str]) -> str:
        """Put a form on its body, once."""
        if g in made:
            return made[g]
        model = self.model
        body = int(model.geom_bodyid[g])
        made[g] = self.named(model.geom(g).name or f"geom_{g}", "geom")
        turned = rotation(model.geom_quat[g])
        if isinstance(form, shapes.Capsule):
            turned = turned @ np.array(ALONG_X, dtype=float)
        place = model.geom_pos[g] - (model.body_ipos[body] if body else 0.0)
        rows = [_numbers(row) for row in turned]
        self.bodies.shape(made[g], on=self.own[body], form=form, at=_numbers(place), turned=rows)
        return made[g]

    def _touch(self, g: int, floor: int, form: Any, made: dict[int, str]) -> None:
        model = self.model
        ground = self._shape(floor, shapes.HalfSpace((0, 0, 1)), made)
        friction = model.geom_friction[g], model.geom_friction[floor]
        higher = model.geom_priority[g] - model.geom_priority[floor]
        mu = friction[0] if higher > 0 else friction[1] if higher < 0 else np.maximum(*friction)
        shape = self._shape(g, form, made)
        slides = max(int(model.geom_condim[g]), int(model.geom_condim[floor])) > 1
        self.bodies.contact(shape, ground, friction=float(mu[0]) if slides and mu[0] else None)
        if max(int(model.geom_condim[g]), int(model.geom_condim[floor])) > 3:
            self.left.append(("friction", shape, "coefficients of spin and rolling friction are not read"))

    def _what_is_left(self) -> None:
        model = self.model
        for body in range(1, model.nbody):
            if model.body_gravcomp[body]:
                self.left.append(("gravcomp", self.own[body], "weights are whole here"))
        if model.opt.density or model.opt.viscosity:
            self.left.append(("fluid", "option", "there is no fluid round the bodies"))


def _numbers(values: Any) -> list[float]:
    return [float(item) for item in values]


def _first(value: Any) -> float:
    """Return the linear coefficient, which stands first where there are several."""
    return float(np.ravel(value)[0])


def _six(matrix: Array) -> list[float]:
    """Return Ixx, Iyy, Izz, Ixy, Ixz, Iyz."""
    return [float(matrix[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
