"""What a joint exerts on its second body, along a motion: found where every joint is made of constraints.

The motion's states are carried over to Cartesian coordinates of all bodies. There the multipliers of contacts, limits
and closed loops are known forces, and those of the joints in the tree, and of what ties a joint's own coordinate to its
bodies, follow from M a = Q + W^T lam with W a = gamma. The generalized force of a joint's rows and of what drives it,
on the coordinates of its second body, is force and moment: power = f . r' + m . w with e' = (0, w) e / 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._bodies import rebuilt
from zwang._bodies.closures import JointSides
from zwang._bodies.placing import quaternion
from zwang._compile import compile
from zwang._compile.driving import driven
from zwang._declare.constraints import Friction
from zwang._declare.system import System
from zwang._declare.tree import GROUND
from zwang._graph.evaluate import evaluate
from zwang._numerics.linear.kkt import solve_kkt
from zwang._results.motion import Motion
from zwang._simulate.ground import measured_in
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]


def wrench(system: System, motion: Motion, joint: str) -> Array:
    """Return (rows, 6): force and moment on the second body, axes of the ground, at the joint."""
    if system.tree is None:
        raise DeclarationError(f"{system.name}: wrench is asked of systems that zw.Bodies made.")
    bodies = rebuilt(system)
    told = bodies._told.joints
    if joint not in told:
        raise DeclarationError(f"{system.name}: there is no joint '{joint}'. {nearest(joint, told)}")
    found_inputs = driven(bodies.system(coordinates="cartesian"), motion.inputs)
    reader = _CartesianJoint(bodies, found_inputs.system, joint)
    found = np.full((len(motion.t), 6), np.nan)
    names = (*motion.coordinates, *motion.velocities)
    for row in range(len(motion.t)):
        numbers = [*motion.q[row], *motion.v[row]]
        state = {name: float(value) for name, value in zip(names, numbers, strict=True)} | {"t": float(motion.t[row])}
        forces = {name: float(values[row]) for name, values in motion.reactions.items() if np.ndim(values[row]) == 0}
        friction = {name: np.atleast_1d(values[row]) for name, values in motion.friction.items()}
        values = {**motion.params, **found_inputs.values_at({"t": state["t"]})}
        found[row] = reader.at(state, values, forces, friction)
    return found


class _CartesianJoint:
    """One joint in Cartesian coordinates: its rows, its loads, its second body."""

    def __init__(self, bodies: Any, system: System, joint: str) -> None:
        self.bodies, self.system = bodies, system
        self.params: Mapping[str, float] = {}
        self.part = bodies._told.joints[joint]
        self.model = compile(system)
        relations = [item for item in system.constraints if not isinstance(item, Friction)]
        self.names = [str(item.name) for item in relations]
        labels = (joint, *self.part.labels)
        own = tuple(f"{label} " for label in labels)
        limits = tuple(f"{label} {side}" for label in labels for side in ("low", "high"))
        self.own = [i for i, name in enumerate(self.names) if name.startswith(own) and name not in limits]
        tree = [part for part in bodies._told.joints.values() if not part.closes]
        heads = tuple(f"{label} " for part in tree for label in (part.name, *part.labels))
        ends = (" low", " high")
        self.held = [
            i
            for i, name in enumerate(self.names)
            if name in system.bookkeeping or (name.startswith(heads) and not name.endswith(ends))
        ]
        self.held += [
            i for i, name in enumerate(self.names) if name.endswith((" angle", " slide")) and i not in self.held
        ]
        slips = [(str(item.name), len(item.slip)) for item in system.constraints if item.slip]
        self.slips = [(name, k) for name, count in slips for k in range(count)]
        assert system.tree is not None
        self.loads = [load for load in system.tree.loads if load.name.startswith(own)]

    def at(
        self,
        state: Mapping[str, float],
        params: Mapping[str, float],
        forces: Mapping[str, float],
        friction: Mapping[str, Array],
    ) -> Array:
        """Return the wrench at a state, where multipliers and friction forces have these values."""
        self.params = params
        placed = self._placed(state)
        terms: Any = self.model.terms(placed, self.params)
        mass, rows = terms.mass[:, :, 0], terms.rows[:, :, 0]
        lam = np.array([forces.get(name, 0.0) for name in self.names])
        push = np.array([friction[name][k] if name in friction else 0.0 for name, k in self.slips])
        applied = terms.slip_rows[:, :, 0].T @ push if len(push) else np.zeros(len(mass))
        known = [i for i in range(len(lam)) if i not in self.held]
        force = terms.force[:, 0] + applied + rows[known].T @ lam[known]
        if self.held and np.isfinite(force).all():
            lam[self.held] = solve_kkt(mass, rows[self.held], force, terms.gamma[self.held, 0]).multipliers
        elif self.held:
            lam[self.held] = np.nan
        acting = rows[self.own].T @ lam[self.own] + self._pushes(placed)
        own = [k for k, (name, _) in enumerate(self.slips) if name.startswith(tuple(f"{x} " for x in self.part.labels))]
        if own:
            acting = acting + terms.slip_rows[own, :, 0].T @ push[own]
        return self._on_second(acting, placed)

    def _placed(self, state: Mapping[str, float]) -> dict[str, float]:
        """Return the state in Cartesian coordinates, those of joints kept where they are there too."""
        names = [item.name for item in (*self.system.coordinates, *self.system.velocities)]
        found = {name: float(state[name]) for name in names if name in state} | {"t": float(state.get("t", 0.0))}
        for body in self.bodies._told.bodies:
            pose = self.bodies.pose(body, state, self.params)
            e = quaternion(pose.rotation)
            w = pose.spin
            rates = 0.5 * np.array([-(e[1:] @ w), *(e[0] * w + np.cross(e[1:], w))])
            for axis, x, u in zip("xyz", pose.position, pose.velocity, strict=True):
                found |= {f"{axis}_{body}": float(x), f"v_{axis}_{body}": float(u)}
            found |= {f"e{k}_{body}": float(e[k]) for k in range(4)}
            found |= {f"v_e{k}_{body}": float(rates[k]) for k in range(4)}
        return found

    def _pushes(self, placed: Mapping[str, float]) -> Array:
        """Return the generalized force of motors and dampers of the joint."""
        total = np.zeros(len(self.system.coordinates))
        for load in self.loads:
            for force, along in load.pairs:
                measured = measured_in(self.system, (force, along))
                n = len(self.system.coordinates)
                g = measured.graph
                slopes = g.gradient(measured.values[1], measured.inputs[n + 1 : 2 * n + 1])
                symbols = [*self.system.coordinates, *self.system.velocities]
                numbers = [placed["t"], *(placed[item.name] for item in symbols)]
                numbers += [float(self.params[item.name]) for item in self.system.parameters]
                given = dict(zip(measured.inputs, numbers, strict=True))
                size, *slope = evaluate(g, [measured.values[0], *slopes], given, np)
                total += float(size) * np.array([float(item) for item in slope])
        return total

    def _on_second(self, acting: Array, placed: Mapping[str, float]) -> Array:
        """Return force and moment at the joint of a generalized force, on the second body."""
        part = self.part
        body, sign = (part.second, 1.0) if part.second != GROUND else (part.first, -1.0)
        places = {item.name: i for i, item in enumerate(self.system.coordinates)}
        force = acting[[places[f"{axis}_{body}"] for axis in "xyz"]]
        on_e = acting[[places[f"e{k}_{body}"] for k in range(4)]]
        e = np.array([placed[f"e{k}_{body}"] for k in range(4)])
        moment = 0.5 * np.array([on_e @ np.array([-e[1 + k], *_turned(k, e)]) for k in range(3)])
        arm = np.array([placed[f"{axis}_{body}"] for axis in "xyz"]) - self._point(placed)
        return sign * np.concatenate([force, moment + np.cross(arm, force)])

    def _point(self, placed: Mapping[str, float]) -> Array:
        """Return where the joint is: the place of it that its first body carries."""
        part, body = self.part, self.part.first
        if body == GROUND:
            exprs: Any = part.at[0]
        else:
            tree = self.system.tree
            assert tree is not None
            exprs = JointSides(tree, part).points[0]
        measured = measured_in(self.system, tuple(exprs))
        symbols = [*self.system.coordinates, *self.system.velocities]
        numbers = [placed["t"], *(placed[item.name] for item in symbols)]
        numbers += [float(self.params[item.name]) for item in self.system.parameters]
        given = dict(zip(measured.inputs, numbers, strict=True))
        return np.array([float(item) for item in evaluate(measured.graph, measured.values, given, np)])


def _turned(k: int, e: Array) -> Array:
    """Return the vector part of the product of a unit vector and a quaternion."""
    unit = np.zeros(3)
    unit[k] = 1.0
    found: Array = e[0] * unit + np.cross(unit, e[1:])
    return found
